"""Constants, and exact numbers out of the texts of a spec."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from dpcompose.core.mechanisms.family import NUMBER, Need
from dpcompose.core.numbers.expressions import RESERVED, ExpressionError, Meter, parse
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.source.rewriting import writing
from dpcompose.spec.phrases import name_of

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_CONSTANT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_SEARCH = 30


DELTA = Need(
    "below 1",
    "DPC112",
    "a δ of 1 guarantees nothing: it is a small number such as 1e-6",
    lambda value: value < 1,
)
ORDER = Need(
    "above 1",
    "DPC114",
    "Rényi divergences are used at orders above 1",
    lambda value: value > 1,
)


class Numbers:
    """Evaluates parameters; every text is worked out once, and its faults told at every use."""

    def __init__(self, written: Mapping[str, str], unread: Collection[str], faults: Faults) -> None:
        """`written`: the constants. `unread`: those whose faults are reported already."""
        self._faults = faults
        self._meter = Meter()
        self._known: dict[str, Fraction] = {}
        self._broken = set(unread)
        self._values: dict[str, Fraction | ExpressionError | None] = {}
        self._fine: dict[tuple[str, Need], Fraction] = {}
        for name, text in written.items():
            self._define(name, text, written)
        self._values.clear()  # a text may have meant less while constants were being defined

    def _define(self, name: str, text: str, written: Mapping[str, str]) -> None:
        path = ("constants", name)
        if not _CONSTANT.fullmatch(name) or name.lower() in RESERVED:
            message = f"{quoted(name)} cannot be the name of a constant"
            hint = "it takes letters, digits and `_`, the first no digit, and no reserved word"
            plain = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
            if plain != name and _CONSTANT.fullmatch(plain):
                hint = f"write {quoted(plain)}: letters, digits and `_`, the first no digit"
            self._faults.add("DPC109", path, message, hint, key=True)
            self._broken.add(name)
            return
        if name in self._broken:  # in a cycle that is reported
            return
        later = [word for word in _words(text) if word in written and word not in self._known]
        if any(word in self._broken for word in later):
            self._broken.add(name)
            return
        if later:
            self._refuse_later(name, later[0], written)
            self._broken.add(name)
            return
        value = self._evaluated(text, path)
        if value is None:
            self._broken.add(name)
        else:
            self._known[name] = value

    def _refuse_later(self, name: str, word: str, written: Mapping[str, str]) -> None:
        path = ("constants", name)
        cycle = _cycle(name, written)
        if cycle:
            around = " uses ".join(map(quoted, [*cycle, cycle[0]]))
            message = f"{quoted(name)} is defined by itself: {around}"
            self._faults.add("DPC124", path, message, "give one of them a number of its own")
            self._broken.update(cycle)
            return
        message = f"{quoted(name)} uses {quoted(word)}, which is defined later"
        self._faults.add("DPC113", path, message, f"move {quoted(word)} above {quoted(name)}")

    def _evaluated(self, text: str, path: Path, key: bool = False) -> Fraction | None:
        """The value of `text`; None if it has none, which is then reported."""
        found = self._values.get(text)
        if found is None and text not in self._values:
            found = self._values[text] = self._parsed(text)
        if isinstance(found, ExpressionError):
            offset = None if key else found.offset
            fix = None if found.meant is None or key else writing(path, found.meant)
            message, hint = found.message, found.hint
            self._faults.add("DPC110", path, message, hint, key=key, offset=offset, fix=fix)
            return None
        return found

    def _parsed(self, text: str) -> Fraction | ExpressionError | None:
        try:
            return parse(text, self._known, self._meter)
        except ExpressionError as error:
            return None if any(word in self._broken for word in _words(text)) else error

    def parameter(
        self,
        text: str,
        path: Path,
        need: Need = NUMBER,
        name: str | None = None,
        key: bool = False,
    ) -> Fraction | None:
        """A number ≥ 0 that fits `need`; None if it does not, which is then reported.

        `name`: what messages call it, by default what it is in the spec. `key`: it is a key.
        """
        value = self._fine.get((text, need))
        if value is not None:
            return value
        value = self._evaluated(text, path, key)
        if value is None:
            return None
        name = name or name_of(path)
        if value < 0:
            hint = "a loss cannot be negative" if _LOSSES.intersection(map(str, path)) else None
            message = f"{name} is negative: {_said(text, value)}"
            self._faults.add("DPC111", path, message, hint, key=key)
            return None
        if not need.fits(value):
            message = f"{name} must be {need.says}, not {_said(text, value)}"
            self._faults.add(need.code, path, message, need.hint, key=key)
            return None
        self._fine[text, need] = value
        return value


_LOSSES = {"epsilon", "rho", "mu"}


def _said(text: str, value: Fraction) -> str:
    """The text, and its value where that is not plain to see."""
    try:
        plain = Fraction(text) == value
    except (ValueError, ZeroDivisionError):
        plain = False
    shown = str(value)
    return quoted(text) if plain or len(shown) > 40 else f"{quoted(text)}, which is {shown}"


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _cycle(name: str, written: Mapping[str, str]) -> list[str] | None:
    """Constants that use one another from `name` back to it; None if there is no short cycle."""
    came_from: dict[str, str] = {}
    todo = [name]
    for each in todo:
        if len(came_from) > _LONGEST_SEARCH:
            return None
        for word in _used(each, written):
            if word == name:
                cycle = [each]
                while cycle[-1] != name:
                    cycle.append(came_from[cycle[-1]])
                return cycle[::-1]
            if word not in came_from:
                came_from[word] = each
                todo.append(word)
    return None


def _used(name: str, written: Mapping[str, str]) -> Iterable[str]:
    return (word for word in _words(written[name]) if word in written)
