"""The worst loss of several row changes over the blocks of a partition, so many at most in each
block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpcompose.core.change.partitions.whereabouts import InOne
from dpcompose.core.change.units import State
from dpcompose.core.loss import proved
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.loss.walk import Branch, Choice
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Amount
from dpcompose.core.partitions import allocation
from dpcompose.core.partitions.pattern_spread import spreads
from dpcompose.core.partitions.placements import SpreadRule
from dpcompose.core.theorem import Role

#: Ways of spreading patterns are listed up to this many rows.
MOST_ROWS = 24
#: The most work of the dynamic program for numbers; beyond it a greedy bound is used.
WORK = 300_000

#: Returns for each class of blocks the change of this many rows in one of them, and its loss.
Holding = Callable[[int], Walk]


class RowsOverBlocks(NamedTuple):
    """Several row changes over blocks: `hits` in all, at most `per_block` in one block, in `most`
    blocks.

    `blocks`: a place for each class of equal blocks; `sizes`: how many blocks the class has;
    `holding`: requests the losses of a number of changed rows in a block. Each method bounds the
    worst distribution, in an algebra that has what it needs (`LossAlgebra.spread_rows`).
    """

    blocks: Sequence[Place]
    sizes: Sequence[int]
    holding: Holding
    hits: int
    per_block: int
    most: int

    def by_single_rows(self, algebra: LossAlgebra) -> Walk:
        """Bounds the loss by a path of `hits` single rows in the worst block."""
        each: list[tuple[State, Loss]] = yield from self.holding(1)
        once = [loss for _, loss in each]
        rule = SpreadRule(InOne(), False, self.sizes)
        worst, chosen = algebra.worst_blocks(rule, once, once, None)
        shown = tuple(Branch(self.blocks[h.where], each[h.where][0], h.blocks) for h in chosen)
        return Choice(algebra.chain([(worst, self.hits)]), shown, True)

    def by_numbers(self, algebra: LossAlgebra) -> Walk:
        """Bounds losses that are one number each: exactly if there are few rows, else greedily."""
        each: list[tuple[State, Amount]] = yield from self.holding(1)
        once = [loss for _, loss in each]
        power = algebra.notion.facts.power
        assert power is not None
        loss, filled = allocation.fill(
            once, self.sizes, self.hits, self.per_block, self.most, power
        )
        greedy = loss
        work = self.hits * self.per_block * self.most
        work *= sum(min(n, self.most, self.hits) for n in self.sizes)
        if work <= WORK and loss != math.inf:
            columns = [[Fraction(0), *losses] for losses in (yield from self._columns())]
            exact = allocation.worst_distribution(columns, self.sizes, self.hits, self.most)
            loss = min(loss, exact)
        branches: list[Branch] = []
        attained = algebra.zero
        for index, many, size in filled:
            found = yield from self.holding(size)
            branches.append(Branch(self.blocks[index], found[index][0], many))
            attained = algebra.add([attained, algebra.times(found[index][1], many)])
        bounded = attained != loss
        return Choice(self._told(loss, greedy, once, power), tuple(branches), bounded)

    def _told(self, loss: Amount, greedy: Amount, once: Sequence[Amount], power: int) -> Loss:
        """Returns the loss as proved: by the formula of blocks that are filled one after the other,
        if that gives it (`greedy`)."""
        most = max(1, min(self.per_block, self.hits))
        full = min(self.hits // most, self.most)
        left = self.hits - full * most if full < self.most else 0
        given: dict[str, Any] = {"x": list(once), "n": list(self.sizes)}
        if loss != greedy or self.hits // most >= sum(self.sizes):
            return proved.number(loss, Role.GENERAL, None, given, method=proved.SPREAD)
        grown = "{}" if power == 1 else "{} ** 2"
        formula = f"{grown.format('t')} * largest(x, m, n)"
        given |= {"m": full, "t": most}
        if left:
            given["r"] = left
            rest = "(largest(x, m + 1, n) - largest(x, m, n))"
            formula += f" + {grown.format('r')} * {rest}"
        return proved.number(loss, Role.GENERAL, formula, given)

    def by_patterns(self, algebra: LossAlgebra) -> Walk:
        """Bounds the loss by all ways of distributing the rows, or by a path of rows if they are
        too many."""
        yield from self.holding(1)
        if self.hits <= MOST_ROWS:
            few = self._replace(per_block=min(self.per_block, self.hits))
            columns = yield from few._columns()
            ways = spreads(self.sizes, self.hits, few.per_block, self.most)
            if ways is not None:
                loss = algebra.worst_case(
                    algebra.add(algebra.times(columns[i][size - 1], n) for (i, size), n in way)
                    for way in ways
                )
                return Choice(loss, ())
        return (yield from self.by_single_rows(algebra))

    def _columns(self) -> Walk:
        """Returns, for each class of blocks, the losses of 1, 2, … changed rows in one of them."""
        columns: list[list[Loss]] = [[] for _ in self.sizes]
        for size in range(1, self.per_block + 1):
            found = yield from self.holding(size)
            for column, (_, loss) in zip(columns, found, strict=True):
                column.append(loss)
        return columns
