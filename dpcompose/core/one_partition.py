"""The theorems on the blocks of one partition: whether they hold of a problem, and their bounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from dpcompose.core.answer import Solution
from dpcompose.core.change import Kind, all_leaves
from dpcompose.core.guarantee import Notion
from dpcompose.core.layout import Place
from dpcompose.core.loss import Loss, Pairs, Scalars
from dpcompose.core.problem import Goal, Partition, PartitionKind, Statement
from dpcompose.core.relation import RelationKind
from dpcompose.core.theorem import BOOK
from dpcompose.values import dataclass

P, A, G, Z = Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP

#: The same theorem for each notion: guarantees stated on the blocks, or on the whole table.
BEST_OWN = {P: "V.4", A: "VI.6", Z: "VI.16", G: "VI.26"}
BEST_COMMON = {P: "V.6", A: "A.13", Z: "A.15", G: "A.17"}
TWO_LARGEST = {P: "IV.13", A: "VI.7", Z: "VI.14", G: "A.18"}


class Refused(Exception):
    """A hypothesis does not hold; the message says which and why."""


@dataclass(slots=True)
class Setting:
    """What the theorems ask about a problem."""

    solution: Solution
    top: Place
    goal: Goal

    @property
    def notion(self) -> Notion:
        """The notion of the solution."""
        return self.solution.notion

    def statements(self) -> Iterator[tuple[Place, Statement]]:
        """Every statement with the place where its mechanism reads."""
        stack = [self.top]
        while stack:
            place = stack.pop()
            for mechanism, _ in place.mechanisms:
                for statement in mechanism.statements:
                    yield place, statement
            stack.extend(place.derived)
            for blocks in place.blocks:
                stack.extend(blocks)

    def only_partition(self) -> tuple[Partition, list[Place]]:
        """The one partition whose blocks all mechanisms read; what none reads does not count."""
        if self.top.mechanisms:
            raise Refused("not every mechanism reads a block of one partition")
        if any(place.read for place in self.top.derived):
            raise Refused(
                f"some mechanism reads a dataset made from `{self.top.dataset.name}` by a map, "
                "not a block of it"
            )
        read = [
            (partition, blocks)
            for partition, blocks in zip(self.top.dataset.partitions, self.top.blocks, strict=True)
            if any(block.read for block in blocks)
        ]
        if len(read) != 1:
            raise Refused("the mechanisms read more than one partition")
        partition, blocks = read[0]
        if any(below.read for block in blocks for below in block.below):
            raise Refused("some mechanism reads a dataset made from a block, not the block itself")
        return partition, blocks


def _one_step(setting: Setting) -> None:
    if setting.goal.distance != 1:
        raise Refused(f"it is stated for one step, and {setting.goal.distance} are protected")


def _stated(setting: Setting, up: int, where: str) -> None:
    for place, statement in setting.statements():
        if place.depth != 1 or statement.up != up:
            raise Refused(f"it needs every guarantee stated on {where}")
        if statement.relation != setting.goal.relation:
            raise Refused(
                f"it needs every guarantee stated for {setting.goal.relation} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


def _compatible(setting: Setting, partition: Partition) -> None:
    """Whether one protected step changes at most one block, by at most one step there."""
    relation = setting.goal.relation
    kind = partition.kind
    if relation.kind is RelationKind.UNBOUNDED:
        if kind in (PartitionKind.VALUE, PartitionKind.KEY):
            return
        if kind is PartitionKind.MEMBERSHIP and (partition.max_blocks or 1) == 1:
            return
        if (
            kind is PartitionKind.KINDS
            and partition.kinds is not None
            and all(len(fed) <= 1 for fed in partition.kinds.values())
        ):
            return
        if kind is PartitionKind.POSITION:
            raise Refused("an added row shifts the positions of all rows after it")
        raise Refused(f"one row may be in several blocks of `{partition.name}`")
    if relation.kind is RelationKind.BOUNDED:
        if kind is PartitionKind.POSITION:
            return
        if kind is PartitionKind.KEY and partition.column in relation.keeps:
            return
        raise Refused(
            f"the partition `{partition.name}` is not compatible with bounded neighbours: "
            "a replaced row can leave one block and enter another"
        )
    raise Refused(f"blocks are not known to be compatible with {relation} neighbours")


def _block_losses(setting: Setting, blocks: list[Place], both: bool) -> list[tuple[Loss, int]]:
    """The composed loss of every class of blocks for one row in it, with the class's size."""
    wanted = Kind.PAIR if both else Kind.SINGLE
    found: dict[int, Loss] = {}
    for (place_id, seen), known in setting.solution.accountant.known().items():
        leaves = all_leaves(seen)
        if sum(leaves.values()) == 1 and next(iter(leaves)).kind is wanted:
            found[place_id] = known.loss
    out = []
    for block in blocks:
        edge = block.edge
        assert edge is not None and edge.partition is not None
        size = edge.partition.classes[edge.block].multiplicity
        out.append((found.get(id(block), setting.solution.algebra.zero), size))
    return out


def _pairs(algebra: Pairs, losses: list[tuple[Loss, int]]) -> list[tuple[Any, Any]]:
    """The (ε, δ) of the blocks, those of a large class twice."""
    if algebra.survival or any(len(loss) != 1 for loss, _ in losses):
        raise Refused("it is stated for one (ε, δ) for each block")
    return [loss[0] for loss, size in losses for _ in range(min(size, 2))]


def _from_book(setting: Setting, identifier: str, losses: list[tuple[Loss, int]]) -> Loss:
    """The bound of a theorem of the book on the losses of the blocks."""
    bound: Callable[..., Any] = BOOK[identifier].bound
    algebra = setting.solution.algebra
    if isinstance(algebra, Scalars):
        numbers = [loss for loss, size in losses for _ in range(min(size, 2))]
        if math.inf in numbers:
            return math.inf
        return bound(numbers)
    assert isinstance(algebra, Pairs)
    return (bound(_pairs(algebra, losses)),)


def best_own(setting: Setting) -> Loss:
    """The bound of the worst block, from guarantees stated on the blocks.

    Like the other bounds here it raises `Refused` where a hypothesis does not hold.
    """
    return _best(setting, BEST_OWN, 0, "the block that its mechanism reads")


def best_common(setting: Setting) -> Loss:
    """The bound of the worst block, from guarantees stated on the whole table."""
    return _best(setting, BEST_COMMON, 1, f"the whole table `{setting.top.dataset.name}`")


def _best(setting: Setting, book: dict[Notion, str], up: int, where: str) -> Loss:
    partition, blocks = setting.only_partition()
    _one_step(setting)
    _compatible(setting, partition)
    _stated(setting, up, where)
    both = setting.goal.relation.kind is RelationKind.BOUNDED
    return _from_book(setting, book[setting.notion], _block_losses(setting, blocks, both))


def two_largest(setting: Setting) -> Loss:
    """The bound of the two worst blocks together, between which a replaced row moves."""
    partition, blocks = setting.only_partition()
    _one_step(setting)
    if setting.goal.relation.kind is not RelationKind.BOUNDED:
        raise Refused(f"it is about bounded neighbours, not {setting.goal.relation} ones")
    if partition.kind is not PartitionKind.VALUE or partition.size < 2:
        raise Refused("it needs two or more disjoint blocks by value")
    _stated(setting, 1, f"the whole table `{setting.top.dataset.name}`")
    losses = _block_losses(setting, blocks, both=False)
    algebra = setting.solution.algebra
    if isinstance(algebra, Pairs):
        each = _pairs(algebra, losses)
        epsilon, delta = (
            sum(sorted((pair[i] for pair in each), reverse=True)[:2], Fraction(0)) for i in (0, 1)
        )
        return ((epsilon, delta),)
    return _from_book(setting, "A.18" if setting.notion is G else "IV.13", losses)
