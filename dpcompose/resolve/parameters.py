"""Parameters of mechanisms: one number, or one for each block."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import islice

from dpcompose.core.mechanisms.family import NUMBER, Need
from dpcompose.errors import Path, nearest, quoted
from dpcompose.faults import Faults, listing
from dpcompose.resolve.constants import Numbers
from dpcompose.resolve.forest import SpecPlace, no_block
from dpcompose.resolve.statements import Block, Parameter

_BLOCKS_LISTED = 10


class Parameters:
    """Reads the parameters of mechanisms."""

    def __init__(self, numbers: Numbers, faults: Faults) -> None:
        self.numbers = numbers
        self._faults = faults

    def read(
        self,
        given: str | dict[str, str],
        path: Path,
        place: SpecPlace | None,
        need: Need = NUMBER,
    ) -> Parameter | None:
        """The parameter at `path`, of what reads `place`; None if it is faulty (reported)."""
        if isinstance(given, str):
            return self.numbers.parameter(given, path, need)
        values = {
            name: self.numbers.parameter(text, (*path, name), need) for name, text in given.items()
        }
        if place is None or not self._covers(values, path, place):
            return None
        assert place.scope is not None
        by_block: dict[Block, Fraction] = {}
        for name, value in values.items():
            block = place.scope.blocks.find(name)
            if value is None or block is None:
                return None
            by_block[block] = value
        return by_block

    def _covers(self, given: Collection[str], path: Path, place: SpecPlace) -> bool:
        """Whether a mapping by block names exactly the blocks; what is wrong is reported."""
        split = place.scope
        if split is None:
            message = f"{quoted(place.name)} is one dataset, without a copy for each block"
            hint = "write one number; a mapping by block goes with `reads: name.*`"
            self._faults.add("DPC127", path, message, hint)
            return False
        blocks = split.blocks
        unknown = [name for name in given if blocks.find(name) is None]
        for name in unknown:
            no_block(split, name, (*path, name), self._faults, key=True)
        misspelt = (
            set() if isinstance(blocks.names, range) else _meant(unknown, blocks.names, given)
        )
        there = {*given, *misspelt}
        missing = len(blocks) - (len(given) - len(unknown)) - len(misspelt)
        if missing:
            first = list(islice((x for x in blocks.names if str(x) not in there), _BLOCKS_LISTED))
            more = f" and {missing - len(first)} more" if missing > len(first) else ""
            what = "the block" if missing == 1 else "the blocks"
            message = f"no value for {what} {listing(first)}{more} of {quoted(split.name)}"
            entries = ", ".join(f"{each}: …" for each in first[:3])
            hint = f"give every block a value: `{{…, {entries}}}`"
            self._faults.add("DPC126", path, message, hint, key=True)
        return not unknown and not missing


def _meant(unknown: Sequence[str], names: Iterable[Block], given: Collection[str]) -> set[str]:
    """The blocks that names of no block were probably meant to be."""
    left = [str(name) for name in names if name not in given] if unknown else []
    found = (nearest(name, left) for name in unknown[:_BLOCKS_LISTED])
    return {name for name in found if name is not None}
