"""Laws of what is read through a secret sample (theory, section 7): of one row that is there or
not, and of one replaced.

Where a row is replaced behind a Poisson sample: given the rest of the sample let μ₀ be the law of
what is released without either row, μ and μ' the laws with the old and with the new one. The two
tables give P = (1-q)μ₀+qμ and Q = (1-q)μ₀+qμ', and for a = e^ε ≥ 1

    P - aQ = q·μ - A·μ₀ - B·μ',   A = (1-q)(a-1),  B = qa.

For every s ≥ 0, since -B·μ' = -Bs·μ₀ + B(s·μ₀-μ'), with δ₁ the profile for one row there or not,

    δ(ε) ≤ q·δ₁(ln((A+Bs)/q)) + Bs·δ₁(ln(1/s)),

and for every t in [0, 1], with δ₂ the profile for one row replaced in the sample,

    δ(ε) ≤ tq·δ₁(ln(A/(tq))) + (1-t)q·δ₂(ln(B/((1-t)q))).

A mixture over the rest of the sample is no worse than its worst part. The first holds two steps of
the amplified loss (some s), with s = 0 it has one end alone, and the second holds a row that is in
both samples or in none (t = 0); for pure DP the best s gives the exact formula of
`poisson-sample-replaced` with b = 2u, and the best t the one with b.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats, Losses, Masses, scatter
from dpcompose.curves.backends.lattice.powers import Power, ProfileBound, symmetric, symmetric_at
from dpcompose.curves.backends.lattice.profiles import greatest, mirrored, upward
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.sizes import (
    composed_far,
    composed_scale,
    natural_step,
    scale,
)
from dpcompose.curves.backends.lattice.tuning import (
    FEW,
    FINE,
    MAX_POINTS,
    MOST_LOG,
    MOST_POINTS,
)
from dpcompose.curves.curve import Curve, MixtureOfDraws, PoissonReplaceOne, Sampled, leans
from dpcompose.curves.rounding.doubles import EPS, LEAST, SUM_ROUNDING
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
    """Returns the privacy loss distributions of a Poisson sample, one for each of `orders` (True:
    the row is added); `side`: the order of the tables for `base_law`."""
    base = part.base
    if not base.parts and base.no_failure == 1:
        return [sampled_gaussian(base.gaussian, part.rate, step, added) for added in orders]
    law = base_law(base, _base_step(part, step), side)
    q = min(float_up(part.rate), 1.0)
    every = [_amplified_law(law, q, added) for added in orders]
    return [scatter(each.losses, each.p, step, each.infinite) for each in every]


def losses_behind(part: Sampled, side: str, base_law: BaseLaw) -> Losses:
    """Returns the privacy loss distribution behind a Poisson sample for a row that is in one of the
    tables, off any grid; the parameters are those of `sampled`."""
    base = part.base
    law = base_law(base, base_grid(base, composed_scale(base) / FEW), side)
    added = (part.side == "added") != (side == "added")
    return _amplified_law(law, min(float_up(part.rate), 1.0), added)


def _amplified_law(law: Masses, q: float, added: bool) -> Losses:
    """Returns the privacy loss distribution behind a Poisson sample of rate q, from `law`, that of
    the pair (P, Q) without the sample: for ((1-q)Q+qP, Q) a loss l becomes ln(1-q+q·e^l); where
    `added`, for (P, (1-q)P+qQ), it becomes -ln(1-q+q·e^(-l))."""
    losses = law.losses()
    if added:
        # What only P gives has the greatest loss; what only Q gives is not seen under P.
        moved = -_amplified(q, -losses)
        if q == 1:
            return Losses(moved, law.p, law.infinite)
        edge = -math.log1p(-q) * (1 + 4 * EPS)
        return Losses(np.append(moved, edge), np.append(law.p, law.infinite), 0.0)
    moved = _amplified(q, losses)
    # No loss has more than all of Q; far below, where P has nothing, e^(-l) is left out.
    odds = np.where(law.p > 0, np.exp(np.minimum(-losses, 700.0)), 0.0)
    other = np.minimum(odds * (1 + (4 + np.abs(losses)) * EPS) * law.p, 1.0)
    only_q = max(0.0, 1 - float(other.sum())) + SUM_ROUNDING
    p = q * law.p + (1 - q) * (1 + EPS) * other
    if q < 1:
        moved = np.append(moved, math.log1p(-q) * (1 - 4 * EPS))
        p = np.append(p, (1 - q) * only_q)
    return Losses(moved, p * (1 + 8 * EPS), q * law.infinite * (1 + 4 * EPS))


def _amplified(q: float, losses: Floats) -> Floats:
    """Returns ln(1-q+q·e^l) for each loss l, to a few roundings."""
    with np.errstate(over="ignore"):
        near = np.log1p(q * np.expm1(losses))
    far = np.maximum(losses, MOST_LOG)
    result: Floats = np.where(
        losses < MOST_LOG, near, far + math.log(q) + np.log1p((1 - q) / q * np.exp(-far))
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
        return Masses(step, 0, np.full(1, 1 - infinite + SUM_ROUNDING), infinite)
    other = np.exp(-losses) * (1 + (4 + losses) * EPS) * p
    half = scatter(
        _amplified(q, losses), (q * p + (1 - q) * (1 + EPS) * other) * (1 + 8 * EPS), step
    )
    if half.first > MAX_POINTS:
        # Too far out to hold 0 too: all the rest moves up.
        half.p[0] += max(0.0, 1 - float(half.p.sum())) + SUM_ROUNDING
        return half
    positive = np.concatenate([np.zeros(max(half.first, 0)), half.p])
    images = positive * np.exp(-np.arange(len(positive)) * float(step))
    taken = (positive[1:].sum() + images[1:].sum()) + infinite
    return mirrored(step, positive, infinite, max(0.0, 1 - float(taken)) + SUM_ROUNDING)


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


#: ln(1/s) is tried up to so many standard deviations of the loss of one end, so many for each.
_DEVIATIONS, _PER_DEVIATION = 10, 4
#: And so many t inside of (0, 1).
_SHARES = 15


@lru_cache(maxsize=128)  # one question is answered on several grids
def curve_of(base: Curve, base_law: BaseLaw) -> Power:
    """Returns the power function of tests of a composition, for both orders of the tables: of one
    that is read through a sample, or that is one of several steps of a path."""
    if (part := _only_sample(base)) is not None:
        return _behind_sample(part, curve_of(part.base, base_law))
    step = base_grid(base, max(composed_scale(base) / FEW, LEAST))
    laws = [base_law(base, step, side) for side in both_orders(base, "removed")]
    whole = max(2, *(law.first + len(law.p) for law in laws))
    heights = np.maximum.reduce([upward(law, min(whole, MAX_POINTS)) for law in laws])
    # Of a longer curve only what it comes down to is known beyond.
    end = max(law.infinite for law in laws) if whole <= MAX_POINTS else heights[-1]
    return symmetric(float(step), np.append(heights, end))


def _only_sample(base: Curve) -> Sampled | None:
    """Returns the sample that a composition is, with a rate above 0; None if it is anything
    else."""
    if base.gaussian or base.no_failure != 1 or len(base.parts) != 1:
        return None
    [(part, count)] = base.parts
    return part if isinstance(part, Sampled) and part.rate and count == 1 else None


def _behind_sample(part: Sampled, base: Power) -> Power:
    """Returns the power function behind a sample of the rate q from that of what is sampled, for
    both orders of the tables.

    Each (ε, δ) with ε ≥ 0 becomes (ln(1+q(e^ε-1)), q·δ) in both orders, as in
    `closed_forms.behind_sample`. So the curve needs no grid, on which the rare large losses of a
    small rate would lie beside many losses of about 0: e^ε is mapped to a number in proportion,
    so that what is a chord between two lines stays one.
    """
    q, here = min(float_up(part.rate), 1.0), base.losses >= 0
    # The loss 0 is exact, and others may be less than they are.
    losses = np.where(base.losses > 0, base.losses + base.slack, 0.0)[here]
    return symmetric_at(_amplified(q, losses) * (1 + 256 * EPS), q * base.up[here] * (1 + 2 * EPS))


@lru_cache(maxsize=8)  # one question is answered on several grids
def exchanged(part: PoissonReplaceOne, base_law: BaseLaw) -> ProfileBound:
    """Returns the profile bound of a composition read through a Poisson sample, for one row
    replaced; `base_law`: makes the distribution of what is sampled."""
    once = curve_of(part.once, base_law)
    both = None if part.both is None else curve_of(part.both, base_law)
    return _Exchanged(part.rate, once, both, composed_scale(part.once))


@dataclass(frozen=True, slots=True, eq=False)
class _Exchanged:
    """The least of the bounds of the module's text.

    `once`: δ₁, `both`: δ₂, None where not known; `deviation`: about the size of a loss.
    """

    rate: Fraction
    once: Power
    both: Power | None
    deviation: float

    @property
    def top(self) -> float:
        """Returns the ε from which on neither the bound with s = 0 nor that with t = 0 falls."""
        ends = [] if self.both is None else [self.both.top]
        if self.rate < 1:
            # (1-q)(a-1)/q = e^top
            q = min(float_up(self.rate), 1.0)
            far = self.once.top + math.log(q) - math.log1p(-q)
            ends.append(float(np.logaddexp(0.0, far)) * (1 + 1e-12) + 1e-12)
        return max(ends, default=2 * self.once.top)

    def at(self, losses: Floats) -> Floats:
        """Returns the least bound by any of some s and t at each ε ≥ 0 of `losses`."""
        q = min(float_up(self.rate), 1.0)
        odds = math.log(float(1 - self.rate) / q) if self.rate < 1 else -math.inf
        with np.errstate(divide="ignore"):
            rise = np.maximum(np.log(-np.expm1(-losses)), -MOST_LOG)
        # ln(A/q), no greater than it is.
        away = losses + rise + odds
        away -= 8 * EPS * (1 + losses - rise + abs(odds))

        once, both = self.once, self.both
        crossings = _crossings(once, self.deviation)
        # Raised, so that no factor beyond doubles is needed: e^700 times this is more than 1.
        rests = once.at(crossings)
        rests[rests > 0] = np.maximum(rests[rests > 0], 1e-300)

        bounds = [once.at(away)]
        for u, rest in zip(crossings, rests, strict=True):
            slack = (16 + 8 * (losses + u)) * EPS
            nearer = once.at(np.logaddexp(away, losses - u) - slack)
            bounds.append(nearer + np.exp(np.minimum(losses - u, 700.0)) * rest * (1 + slack))
        if both is not None:
            bounds.append(both.at(losses))
            for i in range(1, _SHARES + 1):
                t = i / (_SHARES + 1)
                mixed = both.at(losses - math.log1p(-t))
                bounds.append(t * once.at(away - math.log(t)) + (1 - t) * mixed)
        best = np.minimum.reduce(bounds)
        result: Floats = q * best * (1 + 32 * EPS)
        return result


def _crossings(once: Power, deviation: float) -> Floats:
    """Returns candidate values of ln(1/s), where s is the free parameter of the module's first
    bound, up to some times `deviation`, about the size of a loss."""
    some = deviation / _PER_DEVIATION * np.arange(_DEVIATIONS * _PER_DEVIATION + 1)
    return np.append(some[some < once.top], once.top)
