"""The loss of a mechanism for one change, from its stated guarantees, as curves that are composed.

Theory, section 4 ("Cost of a change") gives how many steps of which relation cover the change; here
they become parts of a composition. Along a path the sensitivities of noise add, which is sharper
than group privacy of the notion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.compositions import at_order
from dpcompose.core.loss.pair_cost import in_any_order, pair_steps
from dpcompose.core.mechanisms.family import Family
from dpcompose.core.mechanisms.one_hot import least_known
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Concentrated, Curve, Grouped, Points, Renyi, Response, curve_of
from dpcompose.curves.families import least_of
from dpcompose.curves.rounding import MAX_EXPONENT, ZERO, geometric_up

if TYPE_CHECKING:
    from dpcompose.core.loss.cost import Coster

#: The loss of a mechanism that reveals nothing.
NO_LOSS = curve_of(None)
#: The most (ε, δ) that are options by themselves; all together they are one curve.
MOST_SINGLE_PAIRS = 3
MOST_SINGLE_POINTS = 20


def known_losses(costs: Coster, placed: Sequence[Placed], state: State) -> list[Curve]:
    """Returns every known bound on the loss of one copy of a mechanism, apart from curves along
    paths.

    `costs`: counts the steps that cover the change `state`; `placed`: the stated guarantees. Empty
    if no finite bound is known.
    """
    usable = [each for each in placed if each.usable]
    stated = [each for each in usable if not each.statement.implied]
    found = [
        *_noises(costs, stated, state),
        *_numbers(costs, stated, state),
        *_pairs(costs, stated, state),
        *_curves(costs, stated, state),
    ]
    if not found and len({each.statement.guarantee.notion for each in usable}) > 1:
        found.extend(_mixed(costs, usable, state))
    return list(dict.fromkeys(found))


def _as_steps(each: Placed, amount: Fraction) -> Placed:
    """Returns the guarantee `each` in place of which one of pure DP loses `amount` a step.

    Its amounts then add up along a path.
    """
    plain = Guarantee(Notion.PURE, amount)
    return each._replace(statement=each.statement._replace(guarantee=plain))


def _summed(costs: Coster, placed: Sequence[Placed], state: State) -> Fraction | None:
    """Returns the least sum of ε along a path that covers the change; None if no path does."""
    amount = costs.native(placed, state, Notion.PURE, (Notion.PURE,))
    return None if isinstance(amount, float) else amount


def shifts(
    costs: Coster, placed: Sequence[Placed], state: State
) -> Iterator[tuple[Family, Fraction]]:
    """Yields each concrete mechanism stated, with its shift: the sum of its sensitivities along a
    path.

    Where several describe one loss, those that another one is known to bound better are left out.
    """
    groups: dict[Family, list[Placed]] = {}
    for each in placed:
        guarantee = each.statement.guarantee
        if guarantee.noise is not None:
            groups.setdefault(guarantee.noise, []).append(_as_steps(each, guarantee.shift))
    moved = {noise: _summed(costs, group, state) for noise, group in groups.items()}
    yield from least_known({noise: shift for noise, shift in moved.items() if shift is not None})


def _noises(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the loss of each concrete mechanism stated, at its shift along the path."""
    for mechanism, shift in shifts(costs, placed, state):
        yield _noise(mechanism, shift) if shift else NO_LOSS


def _noise(noise: Family, shift: Fraction) -> Curve:
    """Returns the loss of a concrete mechanism at a shift as one curve."""
    loss = noise.loss(shift)
    if not loss.parts:
        return curve_of(None, loss.gaussian, loss.no_failure)
    ((part, count), *others) = loss.parts
    if others or count > 1:
        return curve_of(Grouped(loss, 1))
    return curve_of(part, loss.gaussian, loss.no_failure)


def _numbers(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in ε, ρ and μ, each in its own notion."""
    for notion in (Notion.PURE, Notion.GDP, Notion.ZCDP):
        native = [each for each in placed if each.statement.guarantee.notion is notion]
        if all(each.statement.guarantee.noise is not None for each in native):
            continue
        if notion is Notion.PURE:
            yield from _pure(costs, native, state)
            continue
        amount = costs.native(native, state, notion, (notion,))
        if not isinstance(amount, float):
            yield _curve_of_amount(notion, amount)


def _pure(costs: Coster, native: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees of pure DP (`native`) taking turns, or by one along the whole
    path."""
    amount = costs.native(native, state, Notion.PURE, (Notion.PURE,))
    if isinstance(amount, float):
        return
    if not amount:
        yield NO_LOSS
        return
    for part in least_of(amount, pure_paths(costs, native, state)):
        yield curve_of(part)


def pure_paths(
    costs: Coster, placed: Sequence[Placed], state: State
) -> Iterator[tuple[Fraction, int]]:
    """Yields (ε, steps) of each guarantee of pure DP that covers the change in several steps."""
    for each in placed:
        guarantee, kind = each.statement.guarantee, each.statement.relation.kind
        # A distance is not a number of steps: there need not be a value between two others.
        if guarantee.notion is not Notion.PURE or kind is RelationKind.EUCLIDEAN:
            continue
        steps = _summed(costs, [_as_steps(each, Fraction(1))], state)
        if guarantee.value and steps is not None and steps > 1:
            yield guarantee.value, math.ceil(steps)


def _curve_of_amount(notion: Notion, amount: Fraction) -> Curve:
    """Returns the loss that an amount ε, ρ or μ² of a notion stands for."""
    if not amount:
        return NO_LOSS
    if notion is Notion.PURE:
        return curve_of(Response(amount))
    if notion is Notion.GDP:
        return curve_of(None, amount)
    return curve_of(Concentrated(amount))


def _pairs(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in ε and (ε, δ): single pairs, and all pairs as one curve."""
    if not any(each.statement.guarantee.notion is Notion.APPROX for each in placed):
        return
    frontier = costs.pairs(placed, state, Pairs())
    for epsilon, delta in frontier[:MOST_SINGLE_PAIRS]:
        if delta < 1:
            yield _pair(epsilon, delta)
    if len(frontier) > 1:
        yield curve_of(Points(tuple(pair for pair in frontier if pair[1] < 1)))


def path_curves(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields curves of paths whose steps are (ε, δ), or of different ε, and may be taken in any
    order."""
    stated = [
        each
        for each in placed
        if each.usable and not each.statement.implied and each.statement.guarantee.noise is None
    ]
    known = {
        (each.statement.guarantee.value, each.statement.guarantee.delta)
        for each in stated
        if each.statement.guarantee.notion in (Notion.PURE, Notion.APPROX)
    }
    if len(known) > 1 or any(delta for _, delta in known):
        orders = (in_any_order(way) for way in costs.ways(stated, state))
        yield from pair_steps(steps for steps in orders if steps is not None)


def _pair(epsilon: Fraction, delta: Fraction) -> Curve:
    """Returns the dominating pair of an (ε, δ)-DP mechanism: it gives all away with chance δ, and
    answers by randomized response of loss ε otherwise."""
    part = Response(epsilon) if epsilon else None
    return curve_of(part, ZERO, 1 - delta)


def _curves(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees that are profiles or Rényi curves, at the group distance of
    the change."""
    for each in placed:
        guarantee = each.statement.guarantee
        if guarantee.notion not in (Notion.PROFILE, Notion.RDP):
            continue
        amount = _summed(costs, [_as_steps(each, Fraction(1))], state)
        if amount is None:
            continue
        steps = math.ceil(amount)
        if not steps:
            yield NO_LOSS
        elif guarantee.notion is Notion.PROFILE:
            points = tuple(_grouped(guarantee.points, steps))
            if len(points) > 1:
                yield curve_of(Points(points))
            # A single point is exact; the curve of all points is computed on a grid.
            yield from (_pair(*point) for point in points[:MOST_SINGLE_POINTS])
        else:
            curve = tuple(_renyi_grouped(guarantee.points, steps))
            if curve:
                yield curve_of(Renyi(curve))
            if steps > 1:
                # Its power function composed with itself is finite for any orders.
                once = Curve(((Renyi(tuple(guarantee.points)), 1),))
                yield curve_of(Grouped(once, steps))


def _grouped(
    points: Sequence[tuple[Fraction, Fraction]], steps: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields the (ε, δ) of a profile for two tables `steps` steps apart (GMPS24 VI.3); `points`:
    for one step."""
    for epsilon, delta in points:
        if steps > 1 and epsilon * steps > MAX_EXPONENT:
            continue
        worse = delta * geometric_up(epsilon, steps) if delta else delta
        if worse < 1:
            yield epsilon * steps, worse


def _renyi_grouped(
    points: Sequence[tuple[Fraction, Fraction]], steps: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields the (α, ε) of a Rényi curve for two tables `steps` steps apart, at most 2^c, by c
    doublings.

    `points`: those for one step. Each doubling uses the weak triangle inequality D_α(P‖Q) ≤
    (α-1/2)/(α-1)·D_2α(P‖R) + D_(2α-1)(R‖Q) (Mironov 2017, Proposition 11).
    """
    curve = list(points)
    for _ in range((steps - 1).bit_length()):
        doubled = []
        for order, epsilon in curve:
            alpha = order / 2
            if alpha > 1:
                first = (alpha - Fraction(1, 2)) / (alpha - 1) * epsilon
                doubled.append((alpha, first + at_order(curve, order - 1)))
        curve = doubled
    yield from curve


def _mixed(costs: Coster, placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in different notions that take turns along the path."""
    for notion in (Notion.PURE, Notion.GDP, Notion.ZCDP):
        amount = costs.scalar(placed, state, Scalars(notion))
        if not isinstance(amount, float):
            yield _curve_of_amount(notion, amount)
