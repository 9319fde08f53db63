"""Constants and parameters: the numbers of a spec, exact or rounded to the safe side."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from dpcompose.core.numbers.expressions import (
    RESERVED,
    Bounds,
    ExpressionError,
    Meter,
    bounds,
    not_short,
)
from dpcompose.core.numbers.form_keys import NUMBER, Need, Safe
from dpcompose.errors import Path, nearest, quoted
from dpcompose.faults import Faults, listing
from dpcompose.resolve.bind_relations import Relations
from dpcompose.resolve.forest import Block, Names, SpecPlace, no_block
from dpcompose.source.rewriting import rewritten
from dpcompose.spec.phrases import name_of

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_CONSTANT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_SEARCH = 30
_BLOCKS_LISTED = 10


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


ADVANTAGE = Need(
    "below 1",
    "DPC114",
    "with an advantage of 1 an attacker is always right",
    lambda value: value < 1,
)
CHANCE = Need(
    "above 0 and below 1",
    "DPC114",
    "a chance between the two, such as 1/10",
    lambda value: 0 < value < 1,
)


class Numbers:
    """Evaluates the numbers of a spec, which may use its constants; each text is evaluated once,
    and its errors reported at every use."""

    def __init__(self, written: Mapping[str, str], unread: Iterable[str], faults: Faults) -> None:
        """Evaluates the constants `written`; those in `unread` have errors that are reported
        already."""
        self._faults = faults
        self._meter = Meter()
        self._known: dict[str, Bounds] = {}
        self._broken = set(unread)
        self._values: dict[str, Bounds | ExpressionError | None] = {}
        for name, text in written.items():
            self._define(name, text, written)
        self._values.clear()  # a text may have meant less while constants were being defined

    def value(self, text: str, path: Path) -> Bounds:
        """Returns bounds of the value of a text at a place of a spec. Raises InvalidSpec, with what
        is wrong there, if it has none."""
        found = self._evaluated(text, path)
        self._faults.raise_if_any()
        assert found is not None  # else a fault was reported, here or when it was first met
        return found

    def _define(self, name: str, text: str, written: Mapping[str, str]) -> None:
        """Evaluates a constant and stores it in `_known`; after an error its name is stored in
        `_broken`."""
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
        """Reports a constant that uses one defined later, or that is defined by itself."""
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

    def _evaluated(self, text: str, path: Path, key: bool = False) -> Bounds | None:
        """Returns bounds of the value of a text; None after an error."""
        found = self._values.get(text)
        if found is None and text not in self._values:
            try:
                found = bounds(text, self._known, self._meter)
            except ExpressionError as error:  # of a faulty constant nothing more is said
                faulty = any(word in self._broken for word in _words(text))
                found = None if faulty else error
            self._values[text] = found
        if isinstance(found, ExpressionError):
            offset = None if key else found.offset
            fix = None if found.meant is None or key else (rewritten, path, found.meant)
            message, hint = found.message, found.hint
            self._faults.add("DPC110", path, message, hint, key=key, offset=offset, fix=fix)
            return None
        return found

    def parameter(
        self,
        text: str,
        path: Path,
        need: Need = NUMBER,
        name: str | None = None,
        key: bool = False,
        safe: Safe | None = None,
    ) -> Fraction | None:
        """Returns a number that satisfies `need`, ≥ 0 unless `need` is signed; None after an error.

        `name`: what messages call it, by default the key at `path`. `key`: the text stands as a
        key. `safe`: the direction in which a value that is not rational is rounded; None where it
        must be exact.
        """
        found = self._evaluated(text, path, key)
        if found is None:
            return None
        value = found.low if safe == "down" else found.high
        if not found.exact:
            value = not_short(value, down=safe == "down")
        usable, negative = found.exact or safe is not None, value < 0 and not need.signed
        if usable and not negative and (need.fits is None or need.fits(value)):
            return value
        called, code, hint = name or name_of(path), need.code, need.hint
        message = f"{called} must be {need.says}, not {_text_with_value(text, value)}"
        if not usable:
            code, message = "DPC110", f"{called} must be exact, and {quoted(text)} is not"
            hint = "neither side is known to be safe: write a decimal or a fraction"
        elif negative:
            code, message = "DPC111", f"{called} is negative: {_text_with_value(text, value)}"
            hint = "a loss cannot be negative" if _LOSSES.intersection(map(str, path)) else None
        self._faults.add(code, path, message, hint, key=key)
        return None


_LOSSES = {"epsilon", "rho", "mu"}


class Context(NamedTuple):
    """What a mechanism is read with: the names, the relations and the numbers of the spec, and its
    faults.

    `block`: where parameters differ between blocks, the block for which they are read. None: they
    are checked for all blocks, and those of the first one are read.
    """

    names: Names
    relations: Relations
    numbers: Numbers
    faults: Faults
    block: Block | None = None

    def read(
        self,
        given: str | dict[str, str],
        path: Path,
        place: SpecPlace | None,
        need: Need = NUMBER,
        safe: Safe | None = "up",
    ) -> Fraction | None:
        """Returns the parameter at `path` of a mechanism that reads `place`; None after an error.

        `given`: its text, or a text for each block; `need`: the requirement on it; `safe`: see
        `Numbers.parameter`.
        """
        number = self.numbers.parameter
        if isinstance(given, str):
            return number(given, path, need, safe=safe)
        if self.block is not None:
            name = str(self.block)
            return number(given[name], (*path, name), need, safe=safe)
        values = [number(text, (*path, name), need, safe=safe) for name, text in given.items()]
        if place is None or not self._covers(given, path, place) or None in values:
            return None
        return values[0]

    def _covers(self, given: Collection[str], path: Path, place: SpecPlace) -> bool:
        """Returns whether a mapping by block names has exactly the blocks of a place; if not,
        reports an error."""
        split = place.scope
        if split is None:
            message = f"{quoted(place.name)} is one dataset, without a copy for each block"
            hint = "write one number; a mapping by block goes with `reads: name.*`"
            self.faults.add("DPC127", path, message, hint)
            return False
        blocks = split.blocks
        unknown = [name for name in given if split.find(name) is None]
        for name in unknown:
            no_block(split, name, (*path, name), self.faults, key=True)
        misspelt = set() if isinstance(blocks, range) else _meant(unknown, blocks, given)
        there = {*given, *misspelt}
        missing = len(blocks) - (len(given) - len(unknown)) - len(misspelt)
        if missing:
            first = list(islice((x for x in blocks if str(x) not in there), _BLOCKS_LISTED))
            more = f" and {missing - len(first)} more" if missing > len(first) else ""
            what = "the block" if missing == 1 else "the blocks"
            message = f"no value for {what} {listing(first)}{more} of {quoted(split.name)}"
            entries = ", ".join(f"{each}: …" for each in first[:3])
            hint = f"give every block a value: `{{…, {entries}}}`"
            self.faults.add("DPC126", path, message, hint, key=True)
        return not unknown and not missing


def _text_with_value(text: str, value: Fraction) -> str:
    """Returns the text of a number, followed by its value unless the text shows it."""
    try:
        plain = Fraction(text) == value
    except (ValueError, ZeroDivisionError):
        plain = False
    shown = str(value)
    return quoted(text) if plain or len(shown) > 40 else f"{quoted(text)}, which is {shown}"


def _words(text: str) -> list[str]:
    """Returns the names that occur in an expression."""
    return _WORD.findall(text)


def _cycle(name: str, written: Mapping[str, str]) -> list[str] | None:
    """Returns the constants of a cycle that starts and ends at `name`; None if there is no
    short one."""
    came_from: dict[str, str] = {}
    todo = [name]
    for each in todo:
        if len(came_from) > _LONGEST_SEARCH:
            return None
        for word in _constants_used(each, written):
            if word == name:
                cycle = [each]
                while cycle[-1] != name:
                    cycle.append(came_from[cycle[-1]])
                return cycle[::-1]
            if word not in came_from:
                came_from[word] = each
                todo.append(word)
    return None


def _constants_used(name: str, written: Mapping[str, str]) -> Iterable[str]:
    """Yields the constants of the spec that the definition of a constant uses."""
    return (word for word in _words(written[name]) if word in written)


def _meant(unknown: Sequence[str], names: Iterable[Block], given: Collection[str]) -> set[str]:
    """Returns the names of the blocks that are nearest to unknown block names, without those in
    `given`."""
    left = [str(name) for name in names if name not in given] if unknown else []
    found = (nearest(name, left) for name in unknown[:_BLOCKS_LISTED])
    return {name for name in found if name is not None}
