"""The bound of a theorem for a whole release: its own function, on the losses of the parts.

Each function takes the setting and the bound of the theorem, and returns a loss of the setting's
algebra.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from heapq import nlargest
from itertools import pairwise
from typing import Any

from dpcompose.core.change.drawn_rows import any_drawn, how_many_of
from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.amplification import mixed
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Pair
from dpcompose.core.theorem import Refused
from dpcompose.core.theorems.predicates import protected_row
from dpcompose.core.theorems.setting import Setting

Bound = Callable[..., Any]


def whole_release(setting: Setting, bound: Bound) -> Loss:
    """Returns the certified loss, if `bound` of all mechanisms at the worst change is no larger.

    The bound of many losses at once is rounded less than the sum of the search, so that the larger
    value is the certified one. Raises Refused where the bound is larger.
    """
    algebra = setting.algebra
    parts = [
        part
        for answer in setting.answers
        for part in (*answer.own, *(choice.loss for choice in answer.choices))
    ]
    if isinstance(algebra, Scalars):
        if bound(parts) > setting.loss:
            raise Refused("the losses of the parts add up to more")
    elif all(parts) and setting.loss:
        for end in (0, -1):  # the pairs with the least ε, and those with the least δ
            epsilon, delta = bound([_plain(algebra, part[end]) for part in parts])
            most_epsilon, most_delta = _plain(algebra, setting.loss[end])
            # Chances that nothing is given away multiply, which is never more than the sum.
            if epsilon > most_epsilon or (delta > most_delta and not algebra.survival):
                raise Refused("the losses of the parts add up to more")
    return setting.loss


def _plain(algebra: Pairs, pair: tuple[Fraction, Any]) -> Pair:
    return pair[0], algebra.plain(pair[1])


def worst_block(setting: Setting, bound: Bound) -> Loss:
    """Returns `bound` of the losses of all blocks, each for the protected row."""
    losses = setting.of_blocks(protected_row(setting))
    if isinstance(setting.algebra, Pairs):
        return (bound([loss[0] for loss in losses]),)
    return math.inf if math.inf in losses else bound(losses)


def every_block(setting: Setting, bound: Bound) -> Loss:
    """Returns `bound` of the losses of all blocks, each for one row added or removed."""
    losses = setting.of_blocks(Kind.SINGLE)
    return math.inf if math.inf in losses else bound(losses)


def two_blocks(setting: Setting, bound: Bound) -> Loss:
    """Returns `bound` of the losses of the two worst blocks, which one replaced row may reach."""
    algebra = setting.algebra
    losses = setting.of_blocks(Kind.SINGLE)
    if isinstance(algebra, Scalars):
        two = nlargest(2, losses)
        return math.inf if math.inf in two else bound(two)
    pairs: list[Pair] = [loss[0] for loss in losses]
    # The two with the largest ε are one change, the two with the largest δ may be another.
    return algebra.worst_case((bound(nlargest(2, pairs, key=lambda p: p[i])),) for i in (0, 1))


# ---------------------------------------------------------------------------------------------
# One mechanism


def _as_loss(setting: Setting, found: Any) -> Loss:
    """Returns the result of a theorem's function as a loss; None stands for no finite bound."""
    if isinstance(setting.algebra, Scalars):
        return math.inf if found is None else found
    return () if found is None else (found,)


def at_distance(setting: Setting, bound: Bound) -> Loss:
    """Returns `bound` of the one guarantee at the protected distance."""
    _, statement = setting.only_statement()
    guarantee = statement.guarantee
    pairs = isinstance(setting.algebra, Pairs)
    stated = (guarantee.value, guarantee.delta) if pairs else guarantee.amount
    return _as_loss(setting, bound(stated, setting.goal.distance))


def by_steps(setting: Setting, bound: Bound) -> Loss:
    """Returns `bound` of the one guarantee for the number of its steps in the change."""
    _, statement = setting.only_statement()
    steps = setting.steps()
    return math.inf if steps is None else bound(statement.guarantee.amount, steps)


def by_each_map(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the one guarantee times `bound` of the sensitivities of the maps.

    A map's sensitivity is the ratio of the units of the worst change after it and before it.
    """
    place, statement = setting.only_statement()
    steps = setting.steps()
    if steps is None:
        return math.inf
    counts = [_units(setting, place.up(up)) for up in range(place.depth, 0, -1)] + [steps]
    factors = [after / before if before else Fraction(0) for before, after in pairwise(counts)]
    return statement.guarantee.amount * counts[0] * bound(factors)


def _units(setting: Setting, place: Place) -> Fraction:
    """Returns the number of units of the worst change at a dataset."""
    visit = setting.visit(place)
    if visit is None:
        return Fraction(0)
    return Fraction(all_leaves(visit.state).total() * visit.distance)


# ---------------------------------------------------------------------------------------------
# One mechanism behind a sample


def through_sample(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the release, `bound` amplifying the loss of the sample for one row.

    Several rows are charged as that many steps of the amplified loss; the rows of one user also as
    one step, in which some of them are drawn. Repeated draws compose.
    """
    algebra = setting.algebra
    place, sample = setting.first_sample()
    units = setting.at_sample()
    if sample.size is not None:
        inside = _loss_of_one_unit(setting, place, Kind.PAIR)
        row = _apply_bound(setting, bound, inside, sample.size, sample.of)
        [*counts] = units.values()
        if len(counts) > 1 or counts[0] == 1 or sample.of is None:
            return _release_loss(setting, place, [(row, n) for n in counts])
        known = [
            (chance, algebra.chain([(inside, n)]))
            for n, chance in how_many_of(counts[0], sample.size, sample.of)
        ]
        rows = mixed(algebra, known, rising=True)
        return _release_loss(setting, place, [(algebra.none if rows is None else rows, 1)])
    row = _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.SINGLE), sample.rate)
    rows = {Kind.SINGLE: 1, Kind.PAIR: 2}
    each: list[tuple[Loss, int]] = []
    for leaf, n in units.items():
        size = rows.get(leaf.kind) or int(leaf.size or 0)
        ways = [algebra.chain([(row, size)])]
        if leaf.kind is Kind.USER:
            some = any_drawn(size, sample.rate)
            ways.append(
                _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.USER), some)
            )
        each.append((algebra.best(ways), n))
    return _release_loss(setting, place, each)


def replaced_through_sample(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the release, by `bound` of one row's and a replaced row's there."""
    place, sample = setting.first_sample()
    once = _loss_of_one_unit(setting, place, Kind.SINGLE)
    both = _loss_of_one_unit(setting, place, Kind.PAIR)
    row = bound(None if once == math.inf else once, both, sample.rate)
    return _release_loss(setting, place, [(row, n) for n in setting.at_sample().values()])


def through_limit(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of a row added above a random limit; `bound` is for one that displaces."""
    place = setting.random_limit()
    comes = _loss_of_one_unit(setting, place, Kind.SINGLE)
    displaces = _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.PAIR))
    return _release_loss(setting, place, [(setting.algebra.worst_case([comes, displaces]), 1)])


def _loss_of_one_unit(setting: Setting, place: Place, kind: Kind) -> Loss:
    """Returns the loss of one unit of a kind at a place; raises `Refused` if it is not known."""
    found = setting.of_one_unit(kind).get(id(place))
    if found is None:
        raise Refused("the loss at the sample is not one for single rows")
    return found


def _apply_bound(setting: Setting, bound: Bound, loss: Loss, *rate: Any) -> Loss:
    """Returns `bound` of a loss, (ε, δ) pairs one by one; `rate`: its further arguments."""
    algebra = setting.algebra
    if isinstance(algebra, Pairs):
        pairs = [bound(_plain(algebra, pair), *rate) for pair in loss]
        return algebra.frontier((epsilon, algebra.delta(delta)) for epsilon, delta in pairs)
    return math.inf if loss == math.inf else bound((loss, Fraction(0)), *rate)[0]


def _release_loss(setting: Setting, place: Place, units: Sequence[tuple[Loss, int]]) -> Loss:
    """Returns the loss of the release, given that of each unit of change above the sample."""
    assert place.edge is not None
    algebra = setting.algebra
    above = setting.visit(place.edge.parent)
    if above is None:
        return algebra.zero
    each = [(algebra.times(loss, place.edge.rounds), n * above.distance) for loss, n in units]
    return each[0][0] if [n for _, n in each] == [1] else algebra.chain(each)
