"""What theorems are asked about: a release, the charge of one mechanism, or two hypotheses.

The losses are those that a search found, or those that the kernel has checked.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcompose.core.change.maps.kind import RowSelection
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import ChangeUnit, Kind, State, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.amplification import NumberAlgebra
from dpcompose.core.loss.cost import least_amount
from dpcompose.core.loss.visits import Visit
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Goal, Partition, Problem, Root, Statement
from dpcompose.core.model.tree import Edge, Place
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused

if TYPE_CHECKING:
    from dpcompose.core.hypotheses.beliefs import Found, Question

#: The function of a theorem.
Bound = Callable[..., Any]


def finite(algebra: NumberAlgebra, loss: Loss) -> None:
    """Raises `Refused` for a loss that is not finite."""
    if loss == algebra.none or loss == math.inf:
        why = "some mechanism has no finite bound by itself"
        if algebra.notion is Notion.APPROX:
            why += ", or all δ's together reach 1"
        raise Refused(why)


class ChargedStep(NamedTuple):
    """The charge of one mechanism for the change of the dataset that it reads.

    `notion`: that of the loss. `used`: the guarantees that give the loss; `steps`: for each unit of
    the change, the number of their steps (None: no number of them). `state`: the change.
    """

    notion: Notion
    used: Sequence[Placed]
    steps: Sequence[int | None]
    state: State

    @property
    def first(self) -> Placed:
        """Returns the first of the guarantees that give the loss, which the derivation cites; there
        must be one."""
        return self.used[0]

    @property
    def guarantee(self) -> Guarantee:
        """Returns the guarantee that gives the loss: the first of them."""
        return self.first.statement.guarantee

    @property
    def taken(self) -> int:
        """Returns the number of steps that the change takes, of those that are known."""
        return sum(each or 0 for each in self.steps)


class Asked(NamedTuple):
    """A bound against an adversary, with the problem and the two hypotheses that it is for."""

    problem: Problem
    question: Question
    found: Found

    def protects_a_row(self) -> None:
        """Raises `Refused` unless the spec protects tables that differ by one row added or
        removed."""
        goal = self.problem.goal
        if goal.relation.kind is not RelationKind.UNBOUNDED or goal.distance != 1:
            raise Refused(
                "the hypotheses are about one row added or removed, which is not protected"
            )


class Setting(NamedTuple):
    """A problem with its losses in one notion, as theorems are asked about it.

    `tops`: the roots with their trees; `loss`: the certified loss of the protected change, in the
    algebra; `visits`: the datasets that the worst change reaches, from the roots down.
    `of_one_unit`: returns the loss for one unit of change of a kind, by the identity of the
    dataset's place; datasets that no such unit reaches are left out. `on_roots`: each mechanism is
    taken together with the maps before it, as one that reads a root.
    """

    problem: Problem
    tops: Sequence[tuple[Root, Place]]
    algebra: NumberAlgebra
    loss: Loss
    visits: Sequence[Visit]
    of_one_unit: Callable[[Kind], dict[int, Loss]]
    on_roots: bool = False

    @property
    def notion(self) -> Notion:
        """Returns the notion of the losses."""
        return self.algebra.notion

    @property
    def goal(self) -> Goal:
        """Returns the protected relation and distance."""
        return self.problem.goal

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Returns the loss in each root, for the worst change."""
        return tuple(each.answer for each in self.visits if each.via is None)

    @property
    def top(self) -> Place:
        """Returns the place of the one root of the problem. Raises Refused if there are several."""
        if len(self.tops) != 1:
            raise Refused("there is more than one table")
        return self.tops[0][1]

    def statements(self) -> Iterator[tuple[Place, Statement]]:
        """Yields every stated guarantee, after the place of the dataset that its mechanism
        reads."""
        stack = [self.top]
        while stack:
            place = stack.pop()
            for mechanism, _ in place.mechanisms:
                for statement in mechanism.statements:
                    yield place, statement
            stack.extend(place.derived)
            for blocks in place.blocks:
                stack.extend(blocks)

    # -- blocks --------------------------------------------------------------------------------

    def only_partition(self) -> tuple[Partition, list[Place]]:
        """Returns the one partition whose blocks all mechanisms read, and the places of its blocks.

        Raises `Refused` if there is none. Partitions and maps that no mechanism reads are ignored.
        """
        top = self.top
        if top.mechanisms:
            raise Refused("not every mechanism reads a block of one partition")
        if any(place.read for place in top.derived):
            raise Refused(
                f"some mechanism reads a dataset made from `{top.dataset.name}` by a map, "
                "not a block of it"
            )
        read = [
            (partition, blocks)
            for partition, blocks in zip(top.dataset.partitions, top.blocks, strict=True)
            if any(block.read for block in blocks)
        ]
        if len(read) != 1:
            raise Refused("the mechanisms read more than one partition")
        partition, blocks = read[0]
        if any(below.read for block in blocks for below in block.below):
            raise Refused("some mechanism reads a dataset made from a block, not the block itself")
        return partition, blocks

    def of_blocks(self, kind: Kind) -> list[Loss]:
        """Returns the loss of every block for one unit of change of a kind; of equal blocks at most
        two."""
        partition, blocks = self.only_partition()
        known = self.of_one_unit(kind)
        found: list[Loss] = []
        for block, alike in zip(blocks, partition.classes, strict=True):
            found += [known.get(id(block), self.algebra.zero)] * min(alike.multiplicity, 2)
        return found

    # -- one mechanism -------------------------------------------------------------------------

    def only_statement(self) -> tuple[Place, Statement]:
        """Returns the one guarantee of the one mechanism, released once, with the place of the
        dataset it reads.

        Raises `Refused` if there is more.
        """
        found = list(self.statements())
        if len(found) != 1 or sum(each.count for each, _ in found[0][0].mechanisms) != 1:
            raise Refused("it is about one guarantee of one mechanism, released once")
        return found[0]

    def edges(self) -> list[Edge]:
        """Returns the edges of the tree from the root to the one mechanism, all maps; `Refused` if
        it reads a block."""
        place, _ = self.only_statement()
        edges = place.ancestors(place.depth)
        if any(edge.made_by is None for edge in edges):
            raise Refused("the mechanism reads a block of a partition")
        return edges

    def visit(self, place: Place) -> Visit | None:
        """Returns the worst change of the dataset of a place; None if it does not reach it."""
        return next((each for each in self.visits if each.place is place), None)

    def first_sample(self) -> tuple[Place, Sample]:
        """Returns the place of the first sample, from the root down, and the sample; `Refused` if
        there is none."""
        for place, edge in self._way():
            if isinstance(edge.made_by, Sample):
                return place, edge.made_by
        raise Refused("there is no sample on the way to the mechanism")

    def random_limit(self) -> Place:
        """Returns the place that the first random limit of one row makes; `Refused` if there is
        none."""
        for place, edge in self._way():
            if edge.conduct is not None and edge.conduct.picks is RowSelection.ONE:
                return place
        raise Refused("no map on the way draws one row of each key")

    def _way(self) -> Iterator[tuple[Place, Edge]]:
        """Yields the places from the root to the one mechanism, each with the map that made its
        dataset.

        Raises `Refused` if the mechanism reads a block.
        """
        edges = self.edges()
        last, _ = self.only_statement()
        for number, edge in enumerate(edges, start=1):
            yield last.up(len(edges) - number), edge

    def at_sample(self) -> Counter[ChangeUnit]:
        """Returns the units, with counts, of the worst change of the dataset that is first
        sampled."""
        place, _ = self.first_sample()
        assert place.edge is not None
        above = self.visit(place.edge.parent)
        return Counter() if above is None else all_leaves(above.state)

    def steps(self) -> Fraction | None:
        """Returns the number of the guarantee's steps in the worst change; 0 if that does not reach
        it.

        None if no number of steps covers the change.
        """
        place, _ = self.only_statement()
        visit = self.visit(place)
        if visit is None:
            return Fraction(0)
        ((_, placed),) = place.mechanisms
        one = Guarantee(Notion.PURE, Fraction(1))
        unit = tuple(p._replace(statement=p.statement._replace(guarantee=one)) for p in placed)
        found = least_amount(unit, visit.state, Notion.PURE)
        return None if isinstance(found, float) else found * visit.distance
