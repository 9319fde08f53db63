"""What one hypothesis says of the blocks of a partition: sets of blocks, with weights."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from dpcompose.core.change.partitions.whereabouts import InSets, InSome
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Exactly, Part
from dpcompose.core.mechanisms.family import NUMBER
from dpcompose.core.model.problem import Partition, Path
from dpcompose.errors import quoted
from dpcompose.faults import Faults, listing, plural
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec.asked import Hypothesis, Sets

_SIZES = ("exactly", "at_least", "at_most")
#: The empty set of blocks: nothing else sees the person either.
_ABSENT = "not in the data at all"


class Hypotheses:
    """Reads hypotheses about one partition, and collects in `classes` the blocks that they
    distinguish."""

    def __init__(self, partition: Partition, numbers: Numbers, faults: Faults) -> None:
        self._partition = partition
        self._numbers = numbers
        self._faults = faults
        #: Blocks named in some set: each becomes a class of its own.
        self._named: dict[str | int, int] = {}
        where = partition.kind.where(())
        self._most = min(partition.size, where.most_blocks)
        self._kinds: list[frozenset[int]] | None = None
        if isinstance(where, InSets):
            for index, each in enumerate(partition.classes):
                self._named[each.names[0]] = index
            sets = dict.fromkeys(map(frozenset, where.fed))
            self._kinds = [each for each in sets if each]

    def classes(self) -> Iterator[tuple[int, int]]:
        """Yields (index of a class of the partition, number of its blocks) for each class of the
        beliefs.

        First the named blocks, one by one in the order of their indices; then the other blocks of
        each class.
        """
        taken: dict[int, int] = {}
        for name in self._named:
            index = self._class_of(name)
            assert index is not None
            taken[index] = taken.get(index, 0) + 1
            yield index, 1
        for index, each in enumerate(self._partition.classes):
            left = each.multiplicity - taken.get(index, 0)
            if left:
                yield index, left

    def _class_of(self, name: str | int) -> int | None:
        """Returns the index of the class that contains a block; None if there is no such block."""
        larger = None
        for index, each in enumerate(self._partition.classes):
            if each.multiplicity == 1:
                if each.names[0] == name:
                    return index
            elif isinstance(each.names, tuple):
                if name in each.names:
                    return index
            elif isinstance(name, int) and 0 <= name < self._partition.size:
                larger = index  # numbered blocks: those that are not alone
        return larger

    def _block(self, text: str) -> str | int | None:
        """Returns the name of a block as the partition has it; None if there is no such block."""
        number = text.isascii() and text.isdigit() and len(text) <= 10 and text == str(int(text))
        names: list[str | int] = [text, int(text)] if number else [text]
        return next((name for name in names if self._class_of(name) is not None), None)

    # one hypothesis

    def belief(self, written: Hypothesis, path: Path) -> tuple[Belief, str] | None:
        """Returns a hypothesis as a distribution over sets of blocks, with its text; None after an
        error."""
        if written == "none":
            return NONE, _ABSENT
        if written == "uniform":
            return self._only(self._between(1, self._most), path)
        if isinstance(written, Sets):
            if written.weight is not None:
                hint = "weights belong to the entries of a list"
                message = "`weight` stands outside of a list"
                self._faults.add("DPC105", (*path, "weight"), message, hint, key=True)
                return None
            part = self._part(written, path)
            return None if part is None else self._only(part, path)
        assert isinstance(written, list)
        return self._mixture(written, path)

    def _only(self, part: tuple[list[Part], str], path: Path) -> tuple[Belief, str] | None:
        """Returns the belief in which all parts have equal weights, with its text; None after an
        error."""
        parts, words = part
        if not parts:
            self._no_kind(path)
            return None
        weight = Fraction(1, len(parts))
        return Belief(tuple((each, weight) for each in parts)), words

    def _no_kind(self, path: Path) -> None:
        message = f"no kind of row is in so many blocks of {quoted(self._partition.name)}"
        self._faults.add("DPC163", path, message, "give the sets by `blocks`")

    def _mixture(self, written: list[Sets], path: Path) -> tuple[Belief, str] | None:
        """Returns the belief that weighted sets of blocks declare, with its text; None after an
        error.

        Weights default to equal ones, and must sum to 1. An entry that is several parts gives each
        of them an equal share.
        """
        given = [each.weight is not None for each in written]
        if any(given) and not all(given):
            at = (*path, given.index(False))
            hint = "give every entry a weight, or none for equal weights"
            self._faults.add("DPC164", at, "this entry has no `weight`, and others have", hint)
            return None
        weights: list[Fraction | None] = []
        for i, each in enumerate(written):
            if each.weight is None:
                weights.append(Fraction(1, len(written)))
            else:
                at = (*path, i, "weight")
                weights.append(self._numbers.parameter(each.weight, at, NUMBER))
        parts = [self._part(each, (*path, i)) for i, each in enumerate(written)]
        found: list[tuple[Part, Fraction]] = []
        words: list[str] = []
        for weight, part in zip(weights, parts, strict=True):
            if weight is None or part is None:
                return None
            if not part[0]:
                self._no_kind(path)
                return None
            if weight:
                found += [(each, weight / len(part[0])) for each in part[0]]
                words.append(f"{part[1]} ({weight})")
        total = sum((weight for _, weight in found), Fraction(0))
        if total != 1:
            message = f"the weights sum to {total}, not to 1"
            hint = "they are the chances of the sets; left out, all are equal"
            self._faults.add("DPC164", path, message, hint)
            return None
        shown = words if len(words) <= 4 else [*words[:3], f"{len(words) - 3} more"]
        return Belief(tuple(found)), "one of: " + "; ".join(shown)

    def _part(self, written: Sets, path: Path) -> tuple[list[Part], str] | None:
        """Returns the parts that one written set of blocks, or of sizes, declares, with its text;
        None after an error.

        The list is empty if no possible row is in so many blocks.
        """
        keys = [key for key in ("blocks", *_SIZES) if getattr(written, key) is not None]
        if len(keys) != 1:
            hint = "one of `blocks`, `exactly`, `at_least`, `at_most`"
            if keys:
                message = f"{quoted(keys[0])} and {quoted(keys[1])} exclude each other"
                self._faults.add("DPC105", (*path, keys[1]), message, hint, key=True)
            else:
                message = "a hypothesis says which blocks, or how many"
                self._faults.add("DPC102", path, message, hint, key=True)
            return None
        if written.blocks is not None:
            members = self._members(written.blocks, (*path, "blocks"))
            if members is None:
                return None
            if not members:
                return [Exactly(members)], _ABSENT
            return [Exactly(members)], "in just " + listing(written.blocks)
        number = getattr(written, keys[0])
        if number > self._most:
            self._too_many(number, (*path, keys[0]))
            return None
        low = number if written.at_most is None else 0
        high = number if written.at_least is None else self._most
        return self._between(low, high)

    def _too_many(self, number: int, path: Path) -> None:
        """Reports a set of more blocks than the data of one person can be in."""
        partition = self._partition
        message = (
            f"nobody is in {plural(number, 'block')} of {quoted(partition.name)}: "
            f"at most in {self._most}"
        )
        limited = partition.kind.where(()) == InSome(self._most)
        hint = "`max_blocks` says so" if limited else None
        self._faults.add("DPC163", path, message, hint)

    def _between(self, low: int, high: int) -> tuple[list[Part], str]:
        """Returns the parts that cover all sets of `low` to `high` blocks a row may be in, with
        their text."""
        if self._kinds is not None:
            sets = [each for each in self._kinds if low <= len(each) <= high]
            nobody: list[frozenset[int]] = [] if low else [frozenset()]
            parts: list[Part] = [Exactly(each) for each in (*nobody, *sets)]
            sizes = _sizes(low, high)
            words = f"in one of the {plural(len(sets), 'set')} of {sizes} that kinds of rows feed"
            return parts, words + ("" if low else f", or {_ABSENT}") + ", all equally likely"
        size, name = self._partition.size, self._partition.name
        words = f"in {_sizes(low, high)} of the {size} of `{name}`"
        words += "" if low else f", or {_ABSENT}"
        return [Between(low, high)], words + ", all sets equally likely"

    def _members(self, names: list[str], path: Path) -> frozenset[int] | None:
        """Returns the indices of the named blocks; None after an error.

        Errors: an unknown block, a block named twice, or a set of blocks that no row can be in.
        """
        found: list[int] = []
        for i, text in enumerate(names):
            name = self._block(text)
            if name is None:
                legal = [n for each in self._partition.classes for n in islice(each.names, 1000)]
                message = f"unknown block {quoted(text)} of {quoted(self._partition.name)}"
                self._faults.add("DPC122", (*path, i), message, wrong=text, legal=legal)
                return None
            index = self._named.setdefault(name, len(self._named))
            if index in found:
                message = f"{quoted(text)} is named twice"
                self._faults.add("DPC120", (*path, i), message, "a set has each block once")
                return None
            found.append(index)
        members = frozenset(found)
        if self._kinds is not None:
            if members and members not in self._kinds:
                message = f"no kind of row is in just {listing(names)}"
                hint = f"the kinds are those of {quoted(self._partition.name)}"
                self._faults.add("DPC163", path, message, hint)
                return None
        elif len(members) > self._most:
            self._too_many(len(members), path)
            return None
        return members


def _sizes(low: int, high: int) -> str:
    """Returns a range of numbers of blocks in words: `2 blocks`, `1 to 4 blocks`, `at most 3
    blocks`."""
    if low == high:
        return plural(low, "block")
    return f"at most {plural(high, 'block')}" if low == 0 else f"{low} to {high} blocks"
