"""What the entries of a spec declare without proof (guarantees, disjoint blocks, caps, rates), in a
form in which two revisions of the spec are compared.

Everything that an entry declares is part of its claim: what a mechanism guarantees, on which data,
how far one row moves it, what is dropped or kept, how often it is drawn. Numbers are compared by
value, with constants put in. The reason (`because`), the position and the title of the spec are not
part of a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Path, printable, quoted
from dpcompose.source import Source, Value

#: Keys whose values are numbers or expressions. A larger number makes a claim weaker at the first
#: ones, a smaller number at the second ones (noise).
_WEAKER_IF_LARGER = frozenset(
    {
        "epsilon", "delta", "rho", "mu", "sensitivity", "unbounded", "bounded", "diameter",
        "l1", "stability", "max_rows", "max_blocks", "max_blocks_per_unit", "max_rows_per_block",
        "max_rows_per_unit", "max_degree",
    }
) | {key.name for form in FORMS.values() for key in form.numbers if not key.noise}  # fmt: skip
_WEAKER_IF_SMALLER = frozenset(
    key.name for form in FORMS.values() for key in form.numbers if key.noise
)
_NUMBERS = _WEAKER_IF_LARGER | _WEAKER_IF_SMALLER | {"alpha", "points", "poisson", "weight"}
#: Keys whose values contain names, never numbers.
_NAMES = frozenset(
    {
        "kinds", "blocks", "keeps", "changes", "uses", "only", "columns", "post_processes", "unit",
        "column", "datasets",
    }
)  # fmt: skip
#: Parameters, which are no claims: how often a mechanism runs.
_PARAMETERS = frozenset({"count"})


#: The marker for the value of an absent key.
_ABSENT = object()
#: Keys that add an assumption: without one of them less is assumed, and a claim is not stronger.
_MORE = frozenset(
    {
        "drops",
        "max_blocks_per_unit",
        "max_rows_per_block",
        "max_degree",
        "diameter",
        "uses",
        "joint",
        "max_rows_per_unit",
    }
)


@dataclass(frozen=True, slots=True)
class Vouched:
    """The claim of one entry of a spec: its name, what it declares, and its path in the spec."""

    of: str
    content: dict[str, Any]
    path: Path


def claims(source: Source) -> list[Vouched]:
    """Returns the claims of all entries of a valid spec that declare something, in fixed order."""
    tree = source.value
    assert isinstance(tree, dict)  # true of every spec that was read
    return [each for each in _claims(tree) if each.content]


def _claims(tree: dict[str, Value]) -> Iterator[Vouched]:
    """Yields the claim of every entry: settings, `protect`, relations, datasets, mechanisms."""
    constants = _constants(tree.get("constants"))
    for key in ("population", "adaptivity", "filter", "roots", "adversary"):
        if key in tree:
            yield Vouched(key, {key: _plain(tree[key], constants)}, (key,))
    protect = tree.get("protect")
    if isinstance(protect, dict) and (protect.get("keeps") or protect.get("changes")):
        yield Vouched("protect", _entry(protect, constants), ("protect",))
    for section, noun in (("relations", "relation"), ("datasets", "dataset")):
        entries = tree.get(section)
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            yield Vouched(f"{noun} {name}", _entry(entry, constants), (section, name))
    mechanisms = tree.get("mechanisms")
    for number, entry in enumerate(mechanisms if isinstance(mechanisms, list) else ()):
        content = _entry(entry, constants)
        name = content.pop("name", "")
        # A guarantee without a relation is one for what the spec protects.
        if "reads" in content:
            content["protect"] = _plain(protect, constants)
        yield Vouched(f"mechanism {name}", content, ("mechanisms", number))


def _constants(written: Value) -> dict[str, Fraction]:
    """Returns the values of the constants that a spec defines."""
    found: dict[str, Fraction] = {}
    for name, text in written.items() if isinstance(written, dict) else ():
        if isinstance(text, str):
            with suppress(ExpressionError):  # one that is not exact
                found[name] = parse(text, found)
    return found


def _entry(entry: Value, constants: Mapping[str, Fraction]) -> dict[str, Any]:
    """Returns what one entry declares, with numbers evaluated; empty if it is no mapping."""
    found = _plain(entry, constants)
    return found if isinstance(found, dict) else {}


def _plain(
    value: Value, constants: Mapping[str, Fraction], numbers: bool = False, names: bool = False
) -> Any:
    """Returns a value with its numbers evaluated, and without the reasons (`because`) inside.

    `numbers`: the texts in it are numbers; `names`: nothing in it is a number.
    """
    if isinstance(value, dict):
        return {
            str(key): _plain(
                each,
                constants,
                not names and (numbers or key in _NUMBERS),
                names or key in _NAMES,
            )
            for key, each in value.items()
            if key != "because" or numbers or names
        }
    if isinstance(value, list):
        return [_plain(each, constants, numbers, names) for each in value]
    if value is None or isinstance(value, bool):
        return value
    if numbers:
        try:
            return str(parse(value, constants))
        except ExpressionError:
            return str(value)
    return str(value)


def is_new(claim: Vouched, known: Vouched | None) -> bool:
    """Returns whether a claim says more than the known one of its entry, if there is one."""
    return known is None or not _follows(claim.content, known.content)


def _follows(new: Any, old: Any, key: str = "") -> bool:
    """Returns whether the `new` declaration follows from the `old` one; `key`: the key at which
    both stand."""
    if isinstance(new, dict) and isinstance(old, dict):
        return next(_stronger_keys(new, old, key), None) is None
    if isinstance(new, list) and isinstance(old, list) and key != "points":
        pairs = zip(new, old, strict=False)
        return len(new) == len(old) and all(_follows(one, other, key) for one, other in pairs)
    if new == old:
        return True
    if isinstance(new, str) and isinstance(old, str):
        if key in _WEAKER_IF_LARGER:
            return Fraction(new) >= Fraction(old)
        if key in _WEAKER_IF_SMALLER:
            return Fraction(new) <= Fraction(old)
    return False


def _stronger_keys(new: dict[str, Any], old: dict[str, Any], key: str) -> Iterator[str]:
    """Yields the keys at which a mapping declares what does not follow from the old one."""
    parameters = _PARAMETERS if key == "" and new.keys() ^ old.keys() <= _PARAMETERS else set()
    inner = key if key in _NUMBERS else None
    for name in dict.fromkeys((*new, *old)):
        if name in parameters or _value_at(new, name) == _value_at(old, name):
            continue
        if name == "sensitivity" and new.get("mechanism") == "exponential":
            yield name  # it sets the weights of the exponential mechanism
        elif name == "max_rows" and new.get("exact") is True:
            yield name  # with `exact` no other number follows
        elif name not in new:
            if name not in _MORE:
                yield name
        elif name not in old or not _follows(new[name], old[name], inner or name):
            yield name


# --- in words ------------------------------------------------------------------------------------


def difference(claim: Vouched, known: Vouched | None, gone: bool = False) -> tuple[str, Path]:
    """Returns what a claim declares beyond the known one of the same entry, and where, in words.

    It is told at the first key that declares what does not follow; if all follows, at the first
    that differs. `gone`: the claim is the former one, and the known one that of now.
    """
    name = quoted(claim.of)
    if known is None:
        return f"{name}: {_value_in_words(claim.content)}", claim.path
    keys: list[str] = []
    of = ""
    new, old = claim.content, known.content
    while isinstance(new, dict) and isinstance(old, dict):
        differing = (key for key in [*new, *old] if _value_at(new, key) != _value_at(old, key))
        keys.append(next(_stronger_keys(new, old, of), None) or next(differing))
        of = of if of in _NUMBERS else keys[-1]
        new, old = _value_at(new, keys[-1]), _value_at(old, keys[-1])
    path: Path = (*claim.path, *keys[keys[0] in claim.path :])
    if keys[0] == "protect" and claim.path[0] == "mechanisms":
        path = tuple(keys)
    says = f"{'.'.join(map(printable, keys))} {'was' if gone else 'is'} {_value_in_words(new)}"
    says += f" and {'is' if gone else 'was'} {_value_in_words(old)}"
    return f"{name}: {says}", path


def _value_at(content: dict[str, Any], key: str) -> Any:
    """Returns the value of a key, or a marker if it is absent."""
    return content.get(key, _ABSENT)


def _value_in_words(value: Any) -> str:
    """Returns a declared value as quoted text, or `not there`."""
    if value is _ABSENT:
        return "not there"
    if isinstance(value, dict):
        return quoted(flow(value)[1:-1])
    return quoted(flow(value))


def flow(value: Any) -> str:
    """Returns a declared value as text in the flow style of YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return value if isinstance(value, str) else str(value).lower()
