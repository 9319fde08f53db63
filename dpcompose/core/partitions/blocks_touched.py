"""The worst total loss of blocks, if a change reaches only some of them, or each only so often."""

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

#: Ways of spreading patterns are listed up to this many rows.
MOST_ROWS = 24
#: The most work of the dynamic program for numbers; beyond it a greedy bound is used.
WORK = 300_000

#: Returns for each class of blocks the change of this many rows in one of them, and its loss.
Holding = Callable[[int], Walk]


#: All ways of choosing pairs for blocks are tried if there are at most this many.
_MOST_CHOICES = 64


class Limits(NamedTuple):
    """Limits of row changes: `hits` in all, at most `per_block` in one block, in `most` blocks."""

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
    """Returns the worst total by a rule, with the blocks that attain it (none for patterns).

    `once`: the losses of blocks changed by one end of a row; `both`: by both ends. `new`: of blocks
    that the row enters, where `once` is for those that it leaves.

    On pairs the rule is applied to ε and to δ separately: the largest of each coordinate covers
    every change. If blocks have several undominated pairs, every choice of one for each is tried if
    these are few, else only the first pairs and the last pairs.
    """
    if isinstance(algebra, Scalars):
        return rule(once, both, new)
    told = [once, both] if new is None else [once, both, new]
    if any(not loss for losses in told for loss in losses):
        # Some block has no finite bound: can the change reach it?
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
        delta, _ = rule(*([_as_sum(algebra, x) for _, x in each] for each in taken))
        pairs.append((Fraction(epsilon), _as_delta(algebra, Fraction(delta))))
    return algebra.frontier(pairs), shown


def _of_ends(algebra: Pairs, once: Loss, new: Loss) -> list[tuple[Any, Any]]:
    """Returns ways of choosing a pair for a block that is left, and one for a block that is
    entered.

    Frontiers of equal length are of the same guarantees, which are chosen together.
    """
    left, entered = once or algebra.zero, new or algebra.zero
    alike = len(left) == len(entered)
    return list(zip(left, entered, strict=True) if alike else product(left, entered))


def _choices(losses: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields choices of one pair for each loss: all if few, else all first and all last pairs."""
    if math.prod(map(len, losses)) <= _MOST_CHOICES:
        yield from product(*losses)
    else:
        yield tuple(loss[0] for loss in losses)
        yield tuple(loss[-1] for loss in losses)


def spread_rows(
    algebra: Algebra, blocks: Sequence[Place], sizes: Sequence[int], holding: Holding, rows: Limits
) -> Walk:
    """Returns the worst spread of row changes over blocks: exact if small, else a greedy bound.

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
    """Returns the worst loss of all full spreads of row changes over blocks; None if too many."""
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


def _as_sum(algebra: Pairs, delta: Any) -> Fraction:
    """Returns δ as a number that adds up: itself, or -ln(1-δ) rounded up under `survival`."""
    if not algebra.survival:
        return Fraction(delta)
    return log_inverse_up(delta.no_failure)


def _as_delta(algebra: Pairs, number: Fraction) -> Any:
    """Returns a sum of the numbers of `_as_sum` as a δ in the representation of the algebra."""
    if not algebra.survival:
        return number
    return Survival(1 / exp_up(number)) if number else Survival(Fraction(1))
