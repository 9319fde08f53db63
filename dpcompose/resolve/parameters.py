"""Parameters of mechanisms: one number, or one for each block."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import islice

from dpcompose.core.mechanisms.family import NUMBER, Need
from dpcompose.errors import Path, quoted
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
        missing = len(blocks) - (len(given) - len(unknown))
        if missing:
            first = list(islice((x for x in blocks.names if str(x) not in given), _BLOCKS_LISTED))
            more = f" and {missing - len(first)} more" if missing > len(first) else ""
            what = "the block" if missing == 1 else "the blocks"
            message = f"no value for {what} {listing(first)}{more} of {quoted(split.name)}"
            self._faults.add("DPC126", path, message, "give every block a value", key=True)
        return not unknown and not missing
