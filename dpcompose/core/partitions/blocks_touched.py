"""What blocks lose in all, at worst, where only some of them can be hit, or only so often."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

from dpcompose.core.change.partitions.whereabouts import InOne
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Loss, Pairs, Scalars, Survival
from dpcompose.core.loss.pattern_algebra import Algebra, Patterns
from dpcompose.core.loss.walk import Branch, Choice, Walk
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Amount
from dpcompose.core.partitions import allocation
from dpcompose.core.partitions.allocation import Hit
from dpcompose.core.partitions.pattern_spread import spread, spreads
from dpcompose.core.partitions.placements import SpreadRule
from dpcompose.curves.rounding import exp_up, log_inverse_up

#: Patterns of row changes are listed up to so many rows.
MOST_ROWS = 24
#: Numbers are spread by dynamic programming up to this much work, else bounded greedily.
WORK = 300_000

#: Gives for each class of blocks the change in one of them that so many rows make, and its loss.
Holding = Callable[[int], Walk]


#: All ways of choosing pairs for blocks are tried if they are not more.
_MOST_CHOICES = 64


class Limits(NamedTuple):
    """How many rows change: `hits` in all, at most `per_block` in one block, in `most` blocks."""

    hits: int
    per_block: int
    most: int


def worst_hits(
    algebra: Algebra,
    rule: SpreadRule,
    once: Sequence[Loss],
    both: Sequence[Loss],
    new: Sequence[Loss] | None = None,
) -> tuple[Loss, tuple[Hit, ...]]:
    """Returns the worst total by a rule, from the losses of blocks hit once and by both ends of a
    row.

    `new`: of blocks that the row is put in, where `once` is for those that it leaves.

    On pairs the rule is applied to ε and to δ apart. Taking the largest of each coordinate covers
    every change. Where blocks have several undominated pairs, every way of choosing one for each is
    tried if these are few, else that of either end of the frontiers.
    """
    if isinstance(algebra, Scalars):
        return rule(once, both, new)
    told = [once, both] if new is None else [once, both, new]
    if any(not loss for losses in told for loss in losses):
        # Some block has no finite bound: find out whether it can be hit.
        marks = ([Fraction(0) if loss else math.inf for loss in losses] for losses in told)
        amount, hits = rule(*marks)
        if amount == math.inf:
            return algebra.none, hits
    if isinstance(algebra, Patterns):
        return spread(algebra, rule, once, both, new), ()
    pairs: list[tuple[Fraction, Any]] = []
    shown: tuple[Hit, ...] = ()
    ends = zip(once, once if new is None else new, strict=True)
    ways = [_of_ends(algebra, *each) for each in ends]
    whole = [[(each, each) for each in loss or algebra.zero] for loss in both]
    for chosen in _choices([*ways, *whole]):
        one, two = chosen[: len(once)], chosen[len(once) :]
        taken = [[pair for pair, _ in one], [pair for pair, _ in two]]
        if new is not None:
            taken.append([pair for _, pair in one])
        epsilon, hits = rule(*([x for x, _ in each] for each in taken))
        shown = shown or hits
        delta, _ = rule(*([_plain(algebra, x) for _, x in each] for each in taken))
        pairs.append((Fraction(epsilon), _wrapped(algebra, Fraction(delta))))
    return algebra.frontier(pairs), shown


def _of_ends(algebra: Pairs, once: Loss, new: Loss) -> list[tuple[Any, Any]]:
    """Ways of choosing a pair for a row that leaves a block, and one for a row that enters it.

    As many of either are those of the same guarantees.
    """
    left, entered = once or algebra.zero, new or algebra.zero
    alike = len(left) == len(entered)
    return list(zip(left, entered, strict=True) if alike else product(left, entered))


def _choices(losses: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Ways of choosing one from each loss: all if these are few, else the first and the last."""
    if math.prod(map(len, losses)) <= _MOST_CHOICES:
        yield from product(*losses)
    else:
        yield tuple(loss[0] for loss in losses)
        yield tuple(loss[-1] for loss in losses)


def spread_rows(
    algebra: Algebra, blocks: Sequence[Place], sizes: Sequence[int], holding: Holding, rows: Limits
) -> Walk:
    """The worst spread of row changes over blocks: exact where small, else filled greedily.

    `blocks`: a place for each class of blocks; `sizes`: how many blocks the class has.
    """
    hits, per_block, most = rows
    each: list[tuple[State, Loss]] = yield from holding(1)
    once = [loss for _, loss in each]
    if isinstance(algebra, Patterns):
        listed = yield from _listed_rows(algebra, sizes, holding, rows)
        if listed is not None:
            return Choice(listed, ())
    if not isinstance(algebra, Scalars):
        worst, chosen = worst_hits(algebra, SpreadRule(InOne(), False, sizes), once, once)
        shown = tuple(Branch(blocks[h.where], each[h.where][0], h.blocks) for h in chosen)
        return Choice(algebra.chain([(worst, hits)]), shown, True)
    power = algebra.notion.facts.power
    assert power is not None
    loss, filled = allocation.fill(once, sizes, hits, per_block, most, power)
    work = hits * per_block * most * sum(min(n, most, hits) for n in sizes)
    if work <= WORK and loss != math.inf:
        columns: list[list[Amount]] = [[Fraction(0)] for _ in blocks]
        for size in range(1, per_block + 1):
            found = yield from holding(size)
            for column, (_, amount) in zip(columns, found, strict=True):
                column.append(amount)
        loss = min(loss, allocation.spread(columns, sizes, hits, most))
    branches: list[Branch] = []
    attained = algebra.zero
    for index, many, size in filled:
        found = yield from holding(size)
        branches.append(Branch(blocks[index], found[index][0], many))
        attained = algebra.add([attained, algebra.times(found[index][1], many)])
    return Choice(loss, tuple(branches), attained != loss)


def _listed_rows(algebra: Patterns, sizes: Sequence[int], holding: Holding, rows: Limits) -> Walk:
    """The worst of all full spreads of row changes over the blocks; None if there are many."""
    hits, per_block, most = rows
    if hits > MOST_ROWS:
        return None
    per_block = min(per_block, hits)
    columns: list[list[Loss]] = [[] for _ in sizes]
    for size in range(1, per_block + 1):
        found = yield from holding(size)
        for column, (_, loss) in zip(columns, found, strict=True):
            column.append(loss)
    ways = spreads(sizes, hits, per_block, most)
    if ways is None:
        return None
    return algebra.worst_case(
        algebra.add(algebra.times(columns[i][size - 1], n) for (i, size), n in way) for way in ways
    )


def _plain(algebra: Pairs, delta: Any) -> Fraction:
    """δ as a number that adds up: itself, or -ln(1-δ) rounded up."""
    if not algebra.survival:
        return Fraction(delta)
    return log_inverse_up(delta.no_failure)


def _wrapped(algebra: Pairs, number: Fraction) -> Any:
    if not algebra.survival:
        return number
    return Survival(1 / exp_up(number)) if number else Survival(Fraction(1))
