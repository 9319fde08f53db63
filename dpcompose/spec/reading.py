"""From a plain tree to a spec, with the faults of all its parts."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from dpcompose.errors import Path
from dpcompose.faults import Faults
from dpcompose.source import Number, Source
from dpcompose.spec.model import Spec

#: What stands in a spec where a question of `dpcompose import` is open.
OPEN = "TODO"
#: What stands for a top-level key that is missing or faulty.
_STAND_INS: dict[str, Any] = {
    "dpcompose": Number("1"),
    "protect": "free-lunch",
    "datasets": {},
    "mechanisms": [],
}


#: The paths of parts left out of a spec because of errors that are reported already: top-level
#: keys, and single datasets, mechanisms, relations and constants.
Broken = frozenset[Path]


def read(source: Source, faults: Faults) -> tuple[Spec, Broken] | None:
    """Returns the spec in `source` without its broken parts, which are reported, and their paths;
    None if too little is left."""
    tree = source.value
    if not isinstance(tree, dict):
        from dpcompose.spec.phrases import value_text

        hint = "it starts with `dpcompose: 1`"
        faults.add("DPC103", (), f"a spec is a mapping, not {value_text(tree)}", hint)
        return None
    open_parts = frozenset(map(_part, _open_questions(source, faults)))
    if open_parts:
        tree = _without_broken(tree, open_parts)
    try:
        return Spec.model_validate(tree), open_parts
    except ValidationError as error:
        # All that words a fault is loaded where there is one.
        from dpcompose.spec.pydantic_faults import report

        found = error.errors(include_url=False)
        places = report(found, faults)
    broken = frozenset(map(_part, places)) | open_parts
    try:
        return Spec.model_validate(_without_broken(tree, broken)), broken
    except ValidationError:  # a fault that is not where it is reported
        return None


def _open_questions(source: Source, faults: Faults) -> list[Path]:
    """Reports each value of a spec that is an open question, a bare TODO, and returns their
    places."""
    found: list[Path] = []
    waiting: list[tuple[Path, Any]] = [((), source.value)] if OPEN in source.lines.text else []
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*place, key), each) for key, each in value.items()]
            waiting += [((*place, key), key) for key in value if key == OPEN]
        elif isinstance(value, list):
            waiting += [((*place, at), each) for at, each in enumerate(value)]
        elif value == OPEN and place:
            span = source.span(place, key=place[-1] == OPEN)
            if source.lines[span.line - 1][span.column - 1 : span.column] not in ("'", '"'):
                found.append(place)
                says = f"`{OPEN}` is an open question of `dpcompose import`"
                hint = "the comment of its line asks it; write the answer here"
                faults.add("DPC119", place, says, hint, key=place[-1] == OPEN)
    return found


def _part(place: Path) -> Path:
    """Returns the path of the named entry of `datasets`, `mechanisms`, `relations` or `constants`
    that holds `place`, else of its top-level key: the part that is left out if it has an error."""
    return place[: 2 if place[0] in {"datasets", "mechanisms", "relations", "constants"} else 1]


def _without_broken(tree: dict[str, Any], broken: Broken) -> dict[str, Any]:
    """Returns the tree of a spec without its broken parts, with a stand-in for each key that must
    be there."""
    rest = dict(tree)
    for place in broken:
        if len(place) == 1:
            rest.pop(str(place[0]), None)
    for key in ("datasets", "relations", "constants"):
        if isinstance(rest.get(key), dict):
            rest[key] = {k: v for k, v in rest[key].items() if (key, k) not in broken}
    if "mechanisms" in rest:
        listed = enumerate(rest["mechanisms"])
        rest["mechanisms"] = [each for i, each in listed if ("mechanisms", i) not in broken]
    return {**_STAND_INS, **rest}
