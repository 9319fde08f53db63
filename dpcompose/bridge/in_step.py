"""Whether a committed spec still says what SQL says: both compared by names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dpcompose.bridge.open_spec import COUNTED
from dpcompose.bridge.sql_project import WrittenSpec
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Path
from dpcompose.source import Source, load
from dpcompose.spec.reading import OPEN

#: What may differ.
_FREE = ("group", "because", "name", "tags")


class Difference(NamedTuple):
    """Something that SQL and the spec say differently. `where`: the place in SQL, or in the spec
    alone; `line`: that of the spec, None where it has none; `note`: whether it is no fault."""

    where: str
    says: str
    line: int | None = None
    note: bool = False


def differences(written: WrittenSpec, spec: Source) -> list[Difference]:
    """Returns the differences between what SQL says and a committed spec."""
    new = load(written.text, "<import>")
    return list(_compared(new, spec, written.places, written.exact))


def _compared(
    new: Source, old: Source, places: Mapping[Path, str], exact: Mapping[str, str]
) -> Iterator[Difference]:
    """Yields the differences of two specs. `exact`: what SQL says of models whose exact aggregates
    are not counted, for which a spec has no mechanism."""
    mine, theirs = _parts(new), _parts(old)
    for key, (path, value) in mine.items():
        kind, _, name = key.partition(" ")
        where = places.get(path, "")
        if key not in theirs:
            yield Difference(where, f"SQL gives the {kind} {name}, the spec {old.name} does not")
            continue
        at, other = theirs[key]
        yield from _fields(value, other, where, key, old, at)
    for key, (at, _) in theirs.items():
        if key in mine:
            continue
        kind, _, name = key.partition(" ")
        line = old.span(at).line
        place = f"{old.name}:{line}"
        plain = next((each for each in exact if f"{name} ".startswith(f"{each} ")), None)
        if kind == "mechanism" and plain is not None:
            says = f"{exact[plain]}, but {place} has its mechanism {name}"
            yield Difference("", says, line)
        elif kind == "mechanism":
            yield Difference(
                place, f"only the spec has the mechanism {name}: it stays charged", line, True
            )
        elif kind == "dataset" and any(
            name == str(each[1].get("from", "")).partition(".")[0]
            or name == str(each[1].get("reads", "")).partition(".")[0]
            for each in theirs.values()
            if isinstance(each[1], dict)
        ):
            yield Difference(place, f"only the spec has the dataset {name}", line, True)
        else:
            yield Difference(place, f"only the spec has the {key}", line, kind != "key")


def _parts(source: Source) -> dict[str, tuple[Path, Any]]:
    """Returns the parts of a spec that are compared, by their names."""
    tree = source.value if isinstance(source.value, dict) else {}
    found: dict[str, tuple[Path, Any]] = {}
    for key, value in tree.items():
        if key == "datasets" and isinstance(value, dict):
            found |= {
                f"dataset {name}": (("datasets", name), each or {}) for name, each in value.items()
            }
        elif key == "mechanisms" and isinstance(value, list):
            found |= {
                f"mechanism {each.get('name')}": (("mechanisms", at), each)
                for at, each in enumerate(value)
                if isinstance(each, dict)
            }
        elif key not in ("title", "report", "dpcompose"):
            found[f"key {key}"] = ((key,), value)
    return found


def _fields(
    mine: Any, theirs: Any, where: str, name: str, old: Source, at: Path
) -> Iterator[Difference]:
    """Yields the differences of two values; `name`: what they are of."""
    line = old.span(at).line
    place = f"{old.name}:{line}"
    if theirs == OPEN:
        yield Difference(where or place, f"{name}: the spec is open too: {place} says {OPEN}", line)
    elif isinstance(mine, dict) and isinstance(theirs, dict):
        for key in dict.fromkeys((*mine, *theirs)):
            if key in _FREE and not _says_what_counts(key, mine, theirs):
                continue
            if key not in theirs:
                yield Difference(
                    where, f"SQL says {key} {_in_words(mine[key])}, {place} does not", line
                )
            elif key not in mine:
                own = old.span((*at, key)).line
                hint = "" if name.startswith("key") else "; put it in the answers"
                yield Difference(
                    where,
                    f"SQL says no {key}, {old.name}:{own} says {_in_words(theirs[key])}{hint}",
                    own,
                )
            else:
                yield from _fields(
                    mine[key],
                    theirs[key],
                    where,
                    f"{name} {key}" if name.count(" ") < 2 else name,
                    old,
                    (*at, key),
                )
    elif mine != OPEN and not _same(mine, theirs):
        word = str(at[-1]) if at else name
        yield Difference(
            where, f"SQL says {word} {_in_words(mine)}, {place} says {_in_words(theirs)}", line
        )


def _says_what_counts(key: str, mine: Any, theirs: Any) -> bool:
    """Returns whether a reason is not one's own, but says on both sides what a count counts."""
    texts = (str(each.get(key, "")) for each in (mine, theirs))
    return key == "because" and all(each.startswith(COUNTED) for each in texts)


def _in_words(value: Any) -> str:
    """Returns a value as a message has it."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_in_words(each)}' for key, each in value.items())}}}"
    return (
        f"[{', '.join(map(_in_words, value))}]"
        if isinstance(value, list)
        else str(value).lower()
        if isinstance(value, bool)
        else str(value)
    )


def _same(one: Any, two: Any) -> bool:
    """Returns whether two values are equal, numbers exactly."""
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_same, one, two))
    if isinstance(one, str) and isinstance(two, str):
        try:
            return one == two or parse(one, {}) == parse(two, {})
        except ExpressionError:
            return False
    return bool(one == two)
