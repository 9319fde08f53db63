"""From a plain tree to a spec, with the faults of all its parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from pydantic import ValidationError

from dpcompose.errors import Path
from dpcompose.faults import Faults
from dpcompose.source import Number, Source
from dpcompose.spec.model import Spec

#: What stands for a top-level key that is missing or faulty.
_STAND_INS: dict[str, Any] = {
    "dpcompose": Number("1"),
    "protect": "free-lunch",
    "datasets": {},
    "mechanisms": [],
}


class Reading(NamedTuple):
    """What could be read of a spec that may have errors.

    `broken`: the paths left out because of errors that are reported already: top-level keys, and
    single datasets, mechanisms, relations and constants. `positions`: the positions in the file of
    the mechanisms in `spec`.
    """

    spec: Spec
    broken: frozenset[Path]
    positions: range | list[int]


def read(source: Source, faults: Faults) -> Reading | None:
    """Returns the spec in `source` without its broken parts, which are reported; None if too little
    is left."""
    tree = source.value
    if not isinstance(tree, dict):
        from dpcompose.spec.phrases import value_text

        hint = "it starts with `dpcompose: 1`"
        faults.add("DPC103", (), f"a spec is a mapping, not {value_text(tree)}", hint)
        return None
    try:
        spec = Spec.model_validate(tree)
    except ValidationError as error:
        # All that words a fault is loaded where there is one.
        from dpcompose.spec.pydantic_faults import report

        found = error.errors(include_url=False)
        places = report(found, faults)
        return _without_broken(tree, {_part(place) for place in places})
    return Reading(spec, frozenset(), range(len(spec.mechanisms)))


def _part(place: Path) -> Path:
    """Returns the path of the named entry of `datasets`, `mechanisms`, `relations` or `constants`
    that holds `place`, else of its top-level key: the part that is left out if it has an error."""
    return place[: 2 if place[0] in {"datasets", "mechanisms", "relations", "constants"} else 1]


def _without_broken(tree: dict[str, Any], broken: Iterable[Path]) -> Reading | None:
    """Returns the spec without its broken entries, as a `Reading`; None if it is not valid even
    so."""
    broken = frozenset(broken)
    rest = dict(tree)
    for place in broken:
        if len(place) == 1:
            rest.pop(str(place[0]), None)
    for key in ("datasets", "relations", "constants"):
        if isinstance(rest.get(key), dict):
            rest[key] = {k: v for k, v in rest[key].items() if (key, k) not in broken}
    positions: range | list[int] = range(0)
    if "mechanisms" in rest:
        positions = [i for i in range(len(tree["mechanisms"])) if ("mechanisms", i) not in broken]
        rest["mechanisms"] = [tree["mechanisms"][i] for i in positions]
    for key, stand_in in _STAND_INS.items():
        rest.setdefault(key, stand_in)
    try:
        return Reading(Spec.model_validate(rest), broken, positions)
    except ValidationError:  # a fault that is not where it is reported
        return None
