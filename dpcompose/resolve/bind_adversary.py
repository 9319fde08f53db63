"""The two hypotheses of an adversary: what they say of the blocks of one partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from dpcompose.core.change.maps.kind import Gives
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.partitions.whereabouts import InSets, InSome
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Exactly, Part, equal
from dpcompose.core.model.problem import Dataset, Goal, Partition, Path, Problem
from dpcompose.core.notions.notion import CONVERTS, Notion
from dpcompose.core.numbers.form_keys import NUMBER
from dpcompose.errors import quoted
from dpcompose.faults import Faults, listing, plural
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec.asked import Adversary as Written
from dpcompose.spec.asked import Hypothesis, Sets

_AT: Path = ("adversary",)
_HYPOTHESES: Path = ("adversary", "hypotheses")


@dataclass(frozen=True, slots=True)
class Opponent:
    """An adversary with two hypotheses about one person, each a distribution (belief) over the sets
    of blocks of `partition` that hold data of the person.

    `classes`: for each class of blocks that the beliefs distinguish, the index of its class in the
    partition and its number of blocks. `where`: the datasets from the root down to the one that is
    partitioned. `first`, `second`: the hypotheses in words.
    """

    partition: Partition
    where: tuple[Dataset, ...]
    classes: tuple[tuple[int, int], ...]
    beliefs: tuple[Belief, Belief]
    words: tuple[str, str]


def resolve_adversary(
    written: Written, problem: Problem, numbers: Numbers, faults: Faults
) -> Opponent | None:
    """Returns the adversary that a spec declares; None after an error, which is reported."""
    fine = _protects_rows(problem.goal, faults)
    fine = _has_stated_guarantees(problem, faults) and fine
    found = _partition(problem, faults)
    if found is None or not fine:
        return None
    partition, way = found
    if isinstance(written.hypotheses, str):
        pair: list[Hypothesis] = ["none", "uniform"]
        paths = [_HYPOTHESES, _HYPOTHESES]
    else:
        pair = list(written.hypotheses)
        paths = [(*_HYPOTHESES, i) for i in range(len(pair))]
    if len(pair) != 2:
        message = f"there are {len(pair)} hypotheses, not two"
        hint = "an adversary tells two hypotheses apart: `[none, {at_least: 2}]`"
        faults.add("DPC163", _HYPOTHESES, message, hint, key=True)
        return None
    hypotheses = Hypotheses(partition, numbers, faults)
    one, other = (hypotheses.belief(each, at) for each, at in zip(pair, paths, strict=True))
    if one is None or other is None:
        return None
    if equal(one[0], other[0], partition.size):
        message = f"the two hypotheses are the same ({one[1]}): nothing is told apart, at no cost"
        hint = "an adversary is given two hypotheses that differ: `[none, uniform]`"
        faults.add("DPC166", _HYPOTHESES, message, hint)
        return None
    classes = tuple(hypotheses.classes())
    return Opponent(partition, way, classes, (one[0], other[0]), (one[1], other[1]))


def _protects_rows(goal: Goal, faults: Faults) -> bool:
    """Returns whether one row added or removed is protected, as hypotheses need it; else reports an
    error."""
    if goal.relation.kind is RelationKind.UNBOUNDED and goal.distance == 1:
        return True
    shown = str(goal.relation) if goal.distance == 1 else f"{goal.distance} steps"
    faults.add(
        "DPC160",
        _AT,
        f"hypotheses are about one row added or removed, and {quoted(shown)} is protected",
        "write `protect: unbounded`, or remove `adversary`",
        key=True,
    )
    return False


def _has_stated_guarantees(problem: Problem, faults: Faults) -> bool:
    """Returns whether every mechanism has a pure or an approximate guarantee; if not, reports an
    error."""
    for mechanism in problem.mechanisms():
        notions = mechanism.stated_in
        if not any({Notion.PURE, Notion.APPROX} & set(CONVERTS[each]) for each in notions):
            faults.add(
                "DPC162",
                mechanism.path,
                f"{quoted(mechanism.name)} is neither pure nor approximate: no bound against an "
                "adversary with hypotheses is known for it",
                "state a guarantee with `epsilon`, or with `epsilon` and `delta`",
            )
            return False
    return True


def _partition(problem: Problem, faults: Faults) -> tuple[Partition, tuple[Dataset, ...]] | None:
    """Returns the partition that hypotheses are about, and the datasets from its root down to it.

    None after an error: they need the one partition whose blocks may contain data of one person
    together.
    """
    found = [
        (partition, way)
        for way in _ways(problem)
        for partition in way[-1].partitions
        if partition.kind.where(()).overlap
    ]
    if len(found) != 1:
        message = "there are no blocks that one person may be in several of"
        hint = "hypotheses are about a partition `by: membership` or `by: kinds`"
        if found:
            names = listing([partition.name for partition, _ in found])
            message = f"it is not clear which blocks are meant: of {names}"
            hint = "keep one partition by membership or kinds"
        faults.add("DPC161", _AT, message, hint, key=True)
        return None
    partition, way = found[0]
    for each in way[1:]:
        if each.made_by is None or each.made_by.conduct().gives is not Gives.ONE:
            message = (
                f"one person is not one row where {quoted(partition.name)} is made: "
                f"{quoted(each.name)} lies between"
            )
            hint = "between the root and the partition there may be filters and row maps"
            faults.add("DPC161", _AT, message, hint, key=True)
            return None
    return partition, way


def _ways(problem: Problem) -> Iterator[tuple[Dataset, ...]]:
    """Yields for each dataset the path of datasets from its root down to it."""
    stack: list[tuple[Dataset, ...]] = [(root.dataset,) for root in reversed(problem.roots)]
    while stack:
        way = stack.pop()
        yield way
        stack.extend((*way, each) for each in way[-1].derived)
        for partition in way[-1].partitions:
            stack.extend((*way, each.dataset) for each in partition.classes)


# --- one hypothesis -------------------------------------------------------------------------------

_SIZES = ("exactly", "at_least", "at_most")
#: The empty set of blocks: nothing else sees the person either.
_ABSENT = "not in the data at all"


class Hypotheses:
    """Reads the hypotheses of an adversary about one partition; the blocks that they name or tell
    apart are collected in `classes`."""

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
        """Returns a hypothesis of the adversary as a distribution over the sets of blocks that hold
        data of the person, with its text; None after an error.

        `written`: the hypothesis in the spec, at `path`.
        """
        if written == "none":
            return NONE, _ABSENT
        if isinstance(written, list):
            return self._mixture(written, path)
        if isinstance(written, Sets) and written.weight is not None:
            hint = "weights belong to the entries of a list"
            message = "`weight` stands outside of a list"
            self._faults.add("DPC105", (*path, "weight"), message, hint, key=True)
            return None
        uniform = self._between(1, self._most)
        part = self._part(written, path) if isinstance(written, Sets) else uniform
        found = None if part is None else self._weighted(part[0], Fraction(1), path)
        return None if part is None or found is None else (Belief(tuple(found)), part[1])

    def _weighted(
        self, parts: list[Part], weight: Fraction, path: Path
    ) -> list[tuple[Part, Fraction]] | None:
        """Returns the parts, each with an equal share of a weight; None, after an error, if there
        are none."""
        if not parts:
            message = f"no kind of row is in so many blocks of {quoted(self._partition.name)}"
            self._faults.add("DPC163", path, message, "give the sets by `blocks`")
            return None
        return [(each, weight / len(parts)) for each in parts if weight]

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
        weights = [
            Fraction(1, len(written))
            if each.weight is None
            else self._numbers.parameter(each.weight, (*path, i, "weight"), NUMBER)
            for i, each in enumerate(written)
        ]
        parts = [self._part(each, (*path, i)) for i, each in enumerate(written)]
        found: list[tuple[Part, Fraction]] = []
        words: list[str] = []
        for weight, part in zip(weights, parts, strict=True):
            if weight is None or part is None:
                return None
            shares = self._weighted(part[0], weight, path)
            if shares is None:
                return None
            found += shares
            if weight:
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
            words = "in just " + listing(written.blocks) if members else _ABSENT
            return [Exactly(members)], words
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
        """Returns the parts that cover all sets of `low` to `high` blocks that can hold data of one
        person, with their text."""
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
