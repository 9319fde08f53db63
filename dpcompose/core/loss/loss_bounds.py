"""The loss of a mechanism for one change, from its stated guarantees, as curves that are composed.

Theory, section 4 ("Cost of a change") gives how many steps of which relation cover the change; here
they become parts of a composition. Along a path the sensitivities of noise add, which is sharper
than group privacy of the notion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Pairs
from dpcompose.core.loss.compositions import at_order
from dpcompose.core.loss.cost import (
    amount_by,
    counted_as,
    least_amount,
    needed,
    pure_paths,
    shifts,
    summed_over_path,
)
from dpcompose.core.loss.pair_cost import in_any_order, pair_steps, paths
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import (
    Concentrated,
    Curve,
    Grouped,
    Points,
    Renyi,
    Response,
    curve_of,
)
from dpcompose.curves.families import least_of
from dpcompose.curves.rounding import MAX_EXPONENT, ZERO, geometric_up

#: The loss of a mechanism that reveals nothing.
NO_LOSS = curve_of(None)
#: The most (ε, δ) that are options by themselves; all together they are one curve.
MOST_SINGLE_PAIRS = 3
MOST_SINGLE_POINTS = 20


def known_losses(placed: Sequence[Placed], state: State) -> list[Curve]:
    """Returns every known bound on the loss of one copy of a mechanism, apart from curves along
    paths.

    `placed`: its stated guarantees; `state`: the change of the dataset that it reads. Empty if no
    finite bound is known.
    """
    usable = [each for each in placed if each.usable]
    stated = [each for each in usable if not each.statement.implied]
    found = [
        *_noises(stated, state),
        *_numbers([_as_pure(each) for each in stated], state),
        *_pairs(stated, state),
        *_curves(stated, state),
    ]
    if not found and len({each.statement.guarantee.notion for each in usable}) > 1:
        found.extend(_mixed(usable, state))
    return list(dict.fromkeys(found))


def _as_pure(each: Placed) -> Placed:
    """Returns a guarantee of (ε, 0) as the one of pure DP that it is; others as they are."""
    guarantee = each.statement.guarantee
    if guarantee.notion is not Notion.APPROX or guarantee.delta:
        return each
    pure = guarantee._replace(notion=Notion.PURE)
    return each._replace(statement=each.statement._replace(guarantee=pure))


def _noises(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the loss of each concrete mechanism stated, at its shift along the path."""
    for mechanism, shift in shifts(placed, state):
        if not shift:
            yield NO_LOSS
            continue
        for loss in mechanism.bounds(shift):
            yield _as_one(loss)


def _as_one(loss: Curve) -> Curve:
    """Returns a composition as the loss of one mechanism."""
    if not loss.parts:
        return curve_of(None, loss.gaussian, loss.no_failure)
    ((part, count), *others) = loss.parts
    if others or count > 1:
        return curve_of(Grouped(loss, 1))
    return curve_of(part, loss.gaussian, loss.no_failure)


def _numbers(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in ε, ρ and μ, each in its own notion."""
    for notion in (Notion.PURE, Notion.GDP, Notion.ZCDP):
        native = [each for each in placed if each.statement.guarantee.notion is notion]
        if all(each.statement.guarantee.noise is not None for each in native):
            continue
        if notion is Notion.PURE:
            yield from _pure(native, state)
            continue
        amount = amount_by(native, state, notion, (notion,))
        if not isinstance(amount, float):
            yield _curve_of_amount(notion, amount)


def _pure(native: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees of pure DP (`native`) taking turns, or by one along the whole
    path."""
    amount = amount_by(native, state, Notion.PURE, (Notion.PURE,))
    if isinstance(amount, float):
        return
    if not amount:
        yield NO_LOSS
        return
    paths = ((e.statement.guarantee.value, n) for e, n in pure_paths(native, state))
    for part in least_of(Fraction(amount), paths):
        yield curve_of(part)


def _curve_of_amount(notion: Notion, amount: Fraction) -> Curve:
    """Returns the loss that an amount ε, ρ or μ² of a notion stands for."""
    if not amount:
        return NO_LOSS
    amount = Fraction(amount)  # without the steps that prove it
    if notion is Notion.PURE:
        return curve_of(Response(amount))
    if notion is Notion.GDP:
        return curve_of(None, amount)
    return curve_of(Concentrated(amount))


def _pairs(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in ε and (ε, δ): single pairs, and all pairs as one curve."""
    if not any(each.statement.guarantee.notion is Notion.APPROX for each in placed):
        return
    frontier = Pairs().charge(placed, state)
    for epsilon, delta in frontier[:MOST_SINGLE_PAIRS]:
        if delta < 1:
            yield _pair(epsilon, delta)
    if len(frontier) > 1:
        yield curve_of(Points(tuple(pair for pair in frontier if pair[1] < 1)))


def path_curves(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
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
        orders = (in_any_order(way) for way in paths(stated, state))
        yield from pair_steps(steps for steps in orders if steps is not None)


def _pair(epsilon: Fraction, delta: Fraction) -> Curve:
    """Returns the dominating pair of an (ε, δ)-DP mechanism: it gives all away with chance δ, and
    answers by randomized response of loss ε otherwise."""
    part = Response(epsilon) if epsilon else None
    return curve_of(part, ZERO, 1 - delta)


def _curves(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees that are profiles or Rényi curves, at the group distance of
    the change."""
    for each in placed:
        guarantee = each.statement.guarantee
        if guarantee.notion not in (Notion.PROFILE, Notion.RDP):
            continue
        amount = summed_over_path([counted_as(each, Fraction(1))], state)
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


def _mixed(placed: Sequence[Placed], state: State) -> Iterator[Curve]:
    """Yields the losses by guarantees in different notions that take turns along the path."""
    for notion in (Notion.PURE, Notion.GDP, Notion.ZCDP):
        amount = least_amount(placed, state, notion)
        if not isinstance(amount, float):
            yield _curve_of_amount(notion, amount)


def over_several_steps(
    placed: Sequence[Placed], state: State
) -> tuple[tuple[Curve, ...], int] | None:
    """Returns the known bounds of each step of a change that takes several, and how many steps.

    None unless at least two guarantees share one relation and dataset, none of them is that of
    concrete noise, and the change takes at least two steps.
    """
    said = [each for each in placed if each.usable and not each.statement.implied]
    alike = {(each.statement.relation, *each[1:]) for each in said}
    if len(said) < 2 or len(alike) > 1:
        return None
    kind = said[0].statement.relation.kind
    noise = any(each.statement.guarantee.noise is not None for each in said)
    if noise or kind in (RelationKind.FREE_LUNCH, RelationKind.EUCLIDEAN):
        return None
    taken = 0
    for item, times in state:
        for steps, count in needed(said[0], item):
            if steps is None:
                return None
            taken += steps * count * times
    if taken < 2:
        return None
    # The bounds for one step: as if it were any change.
    once = Relation(RelationKind.FREE_LUNCH)
    one = [each._replace(statement=each.statement._replace(relation=once)) for each in said]
    return tuple(known_losses(one, state)), taken
