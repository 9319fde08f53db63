"""Laws of what is read through a secret sample (theory, section 7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Masses, scatter
from dpcompose.curves.backends.lattice.profiles import SUM, greatest, mirrored
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.settings import FINE, MAX_POINTS, MOST_POINTS
from dpcompose.curves.backends.lattice.sizes import (
    composed_far,
    composed_scale,
    natural_step,
    scale,
)
from dpcompose.curves.curve import Curve, MixtureOfDraws, Sampled, leans
from dpcompose.curves.rounding.doubles import EPS
from dpcompose.curves.rounding.exact import ZERO, float_up

#: The law of what is read through a sample, on a grid, with the tables in one order.
BaseLaw = Callable[[Curve, Fraction, str], Masses]


def sampled(part: Sampled, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns the privacy loss distribution of a composition behind a secret sample.

    `side`: the order of the tables, "removed" or "added"; `base_law`: makes the distribution of
    what is sampled.
    """
    if not part.rate or not (part.base.parts or part.base.gaussian or part.base.no_failure < 1):
        return Masses(step, 0, np.ones(1), 0.0)
    orders = both_orders(part.base, side)
    if part.replace:
        laws = [_without_replacement(part, step, each, base_law) for each in orders]
        return laws[0] if len(laws) == 1 else greatest(*laws)
    if part.side == "both":
        return greatest(
            *(law for each in orders for law in _poisson(part, step, each, (False, True), base_law))
        )
    order = (part.side == "added") != (side == "added")
    return _poisson(part, step, side, [order], base_law)[0]


def _poisson(
    part: Sampled, step: Fraction, side: str, orders: Sequence[bool], base_law: BaseLaw
) -> list[Masses]:
    """Returns the laws of a Poisson sample for each order of `orders` (True: the row is added)."""
    base = part.base
    if not base.parts and base.no_failure == 1:
        return [sampled_gaussian(base.gaussian, part.rate, step, added) for added in orders]
    law = base_law(base, _base_step(part, step), side)
    return [_amplify_law(law, min(float_up(part.rate), 1.0), step, added) for added in orders]


def _amplify_law(law: Masses, q: float, step: Fraction, added: bool) -> Masses:
    """Returns the distribution behind a Poisson sample of rate q, from `law` of the pair (P, Q):
    for ((1-q)Q+qP, Q) a loss l becomes ln(1-q+q·e^l); where `added`, for (P, (1-q)P+qQ), it becomes
    -ln(1-q+q·e^(-l))."""
    losses = law.losses()
    if added:
        # What only P gives has the greatest loss; what only Q gives is not seen under P.
        moved = -_amplified(q, -losses)
        if q == 1:
            return scatter(moved, law.p, step, law.infinite)
        edge = -math.log1p(-q) * (1 + 4 * EPS)
        return scatter(np.append(moved, edge), np.append(law.p, law.infinite), step)
    moved = _amplified(q, losses)
    # No loss has more than all of Q; far below, where P has nothing, e^(-l) is left out.
    odds = np.where(law.p > 0, np.exp(np.minimum(-losses, 700.0)), 0.0)
    other = np.minimum(odds * (1 + (4 + np.abs(losses)) * EPS) * law.p, 1.0)
    only_q = max(0.0, 1 - float(other.sum())) + SUM
    p = q * law.p + (1 - q) * (1 + EPS) * other
    if q < 1:
        moved = np.append(moved, math.log1p(-q) * (1 - 4 * EPS))
        p = np.append(p, (1 - q) * only_q)
    return scatter(moved, p * (1 + 8 * EPS), step, q * law.infinite * (1 + 4 * EPS))


def _amplified(q: float, losses: Floats) -> Floats:
    """Returns ln(1-q+q·e^l) for each loss l, to a few roundings."""
    with np.errstate(over="ignore"):
        small = np.log1p(q * np.expm1(losses))
    far = np.maximum(losses, 30.0)
    result: Floats = np.where(
        losses < 30, small, far + math.log(q) + np.log1p((1 - q) / q * np.exp(-far))
    )
    return result


def _without_replacement(part: Sampled, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns the privacy loss distribution behind a sample of fixed size without replacement.

    δ'(ln(1+q(e^ε-1))) = q·δ(ε) for ε ≥ 0, and the mirror image of this below 0 (Balle, Barthe and
    Gaboardi 2018, Theorem 9): the upper half of the Poisson law, and its reflection.
    """
    law = base_law(part.base, _base_step(part, step), side)
    q = min(float_up(part.rate), 1.0)
    losses = law.losses()
    upper = losses > 0
    losses, p = losses[upper], law.p[upper]
    infinite = q * law.infinite * (1 + 4 * EPS)
    if not len(p):
        return Masses(step, 0, np.full(1, 1 - infinite + SUM), infinite)
    other = np.exp(-losses) * (1 + (4 + losses) * EPS) * p
    half = scatter(
        _amplified(q, losses), (q * p + (1 - q) * (1 + EPS) * other) * (1 + 8 * EPS), step
    )
    if half.first > MAX_POINTS:
        # Too far out to hold 0 too: all the rest moves up.
        half.p[0] += max(0.0, 1 - float(half.p.sum())) + SUM
        return half
    positive = np.concatenate([np.zeros(max(half.first, 0)), half.p])
    images = positive * np.exp(-np.arange(len(positive)) * float(step))
    taken = (positive[1:].sum() + images[1:].sum()) + infinite
    return mirrored(step, positive, infinite, max(0.0, 1 - float(taken)) + SUM)


def law_of_draws(part: MixtureOfDraws, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns the mixture of the privacy loss distributions of all ways in which a sample can hold
    part of the change, each with its chance, and of no loss where it holds nothing."""
    laws = [(min(float_up(q), 1.0), base_law(base, step, side)) for q, base in part.ways]
    first = min((law.first for _, law in laws), default=0)
    first, end = min(first, 0), max((law.first + len(law.p) for _, law in laws), default=1)
    p = np.zeros(max(end, 1) - first)
    infinite = 0.0
    for q, law in laws:
        place = law.first - first
        p[place : place + len(law.p)] += q * law.p * (1 + 4 * EPS)
        infinite += q * law.infinite
    nothing = 1 - sum((q for q, _ in part.ways), ZERO)
    rise = 1 + (len(laws) + 4) * EPS
    p[-first] += float_up(max(nothing, ZERO)) + 4 * EPS
    return Masses(step, first, p * rise, min(1.0, infinite * rise * (1 + 4 * EPS)))


def both_orders(base: Curve, side: str) -> tuple[str, ...]:
    """Returns the orders of the tables for which the laws of `base` differ, `side` first."""
    other = "added" if side == "removed" else "removed"
    return (side, other) if any(leans(part) for part, _ in base.parts) else (side,)


def _base_step(part: Sampled, step: Fraction) -> Fraction:
    """Returns the step of a grid that is as fine for what is sampled as `step` is for the amplified
    loss."""
    finest = composed_scale(part.base)
    wanted = max(finest * min(0.5 * float(step) / max(scale(part), 1e-300), 0.1), 1e-300)
    # In the tail the amplified loss moves as far as the base's.
    return base_grid(part.base, min(wanted, max(float(step), finest / FINE)))


def base_grid(base: Curve, wanted: float) -> Fraction:
    """Returns the step of a grid of about the width `wanted`, or of one on which all losses lie,
    with not too many points."""
    wanted = max(wanted, composed_far(base) / (2 * MOST_POINTS))
    mantissa, exponent = math.frexp(wanted)
    width = Fraction(math.ceil(mantissa * 8), 8) * Fraction(2) ** exponent
    naturals = [natural_step(each) for each, _ in base.parts]
    if base.gaussian or not all(naturals):
        return width
    every = [natural for natural in naturals if natural]
    shared = math.lcm(*(natural.denominator for natural in every))
    unit = Fraction(math.gcd(*(int(natural * shared) for natural in every)), shared)
    total = sum(count for _, count in base.parts) * composed_scale(base)
    return unit if total < MOST_POINTS * unit or unit > width else width
