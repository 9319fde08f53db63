"""From maps as written to those of a problem."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.change.kind_form import Contradiction
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.maps.kind import Map
from dpcompose.core.mechanisms.family import FormKey, Need, Sort
from dpcompose.errors import Path
from dpcompose.faults import Faults
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec.datasets import AnyMap, Sensitivity


class _Faulty(Exception):
    """Raised where a value of a map is no number; the error is already reported."""


class Maps:
    """Reads the maps of a spec."""

    def __init__(self, numbers: Numbers, faults: Faults) -> None:
        self._numbers = numbers
        self._faults = faults

    def made(self, given: AnyMap, path: Path) -> Map | None:
        """Returns the map at `path`; None after an error."""
        form = MAPS[given.kind]
        try:
            return form.made(*(self._at(key, given, path) for key in form.keys))
        except _Faulty:
            return None
        except Contradiction as found:
            why = found.why
            at = (*path, *why.at)
            self._faults.add(why.code, at, why.says, why.hint, key=found.of_key)
            return None

    def bound(self, text: str, path: Path) -> Fraction | None:
        """Returns the number at `path`, which bounds something from above; None after an error."""
        return self._numbers.parameter(text, path, safe="up")

    def _at(self, key: FormKey, given: AnyMap, path: Path) -> object:
        """Returns the value at a key of a map, with numbers evaluated and column names as a set."""
        value, at = getattr(given, key.name), (*path, key.name)
        match key.sort:
            case Sort.COLUMNS:
                return None if value is None else frozenset(value)
            case Sort.NUMBER:
                return self._number(value, at, key.need)
            case Sort.MOVES if isinstance(value, Sensitivity):
                return (
                    self._number(value.unbounded, (*at, "unbounded"), key.need),
                    self._number(value.bounded, (*at, "bounded"), key.need),
                )
            case Sort.MOVES:
                return None if value is None else (self._number(value, at, key.need), None)
            case _:
                return value

    def _number(self, text: str | None, at: Path, need: Need) -> Fraction | None:
        """Returns the number at `at`, None if it is left out; raises `_Faulty` after an error."""
        if text is None:
            return None
        value = self._numbers.parameter(text, at, need, safe="up")
        if value is None:
            raise _Faulty
        return value
