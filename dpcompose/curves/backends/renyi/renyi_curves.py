"""The Rényi route: divergences of all orders add over the parts, then one conversion.

A divergence of at most R(α) at order α gives, for every real ε, δ(ε) ≤ e^((α-1)(R(α)-ε))/(α-1) ·
(1-1/α)^α (Canonne, Kamath and Steinke 2020, Corollary 13 and Proposition 12). Every order gives a
valid bound: the best is searched in doubles, and only its evaluation is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from dpcompose.curves import curve as parts
from dpcompose.curves.backends.lattice.fewer_losses import merged
from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.backends.renyi.cumulants import (
    NOTHING,
    Cumulant,
    cumulant,
    quadratic,
)
from dpcompose.curves.backends.renyi.valley import LOG_ORDERS, valley
from dpcompose.curves.rounding.doubles import MARGIN, ROUNDING
from dpcompose.curves.rounding.exact import capped, exp_up, float_up, tanh_up

#: Enough digits that ln(1+s) has thirty at the least s = α-1 that is evaluated, some 10^-57.
_CONTEXT = Context(prec=90, Emax=MAX_EMAX, Emin=MIN_EMIN)


class _OrderSum(NamedTuple):
    """K(s) = s·R(1+s) of a whole composition: `rho`·s·(1+s), and the cumulants of the parts with
    counts."""

    rho: Fraction
    rest: tuple[tuple[Cumulant, int], ...]
    rough_rho: float

    @property
    def largest_order(self) -> float:
        """Returns the largest s at which K is known."""
        return min((each.most for each, _ in self.rest), default=math.inf)

    def other(self, s: float) -> float:
        """Returns K(s) - rho·s·(1+s), rounded up."""
        if not self.rest:
            return 0.0
        return math.fsum(count * each.of(s) for each, count in self.rest) * (1 + ROUNDING)

    def rough(self, s: float) -> float:
        """Returns K(s), up to rounding."""
        return self.rough_rho * s * (1 + s) + self.other(s)

    def kinks(self, s: float) -> Iterator[float]:
        """Yields the s where the slope of K jumps: the listed ones, and the whole numbers next to
        `s`."""
        for each, _ in self.rest:
            yield from each.kinks
            if each.whole:
                yield from (max(1.0, math.floor(s)), math.ceil(s))


def _sum(composition: parts.Curve) -> _OrderSum | None:
    """Returns K of a composition as the sum over its parts; None if the divergence of some part has
    no bound."""
    rho, rest = composition.gaussian / 2, []
    every = composition.parts
    for part, count in every if len(every) <= FEW else merged(every):
        known = cumulant(part)
        if known is None:
            return None
        rho += quadratic(part) * count
        if known is not NOTHING:
            rest.append((known, count))
    try:
        return _OrderSum(rho, tuple(rest), float_up(rho))
    except OverflowError:
        return None


def curve(composition: parts.Curve, alpha: Fraction | float) -> float:
    """Returns an upper bound of the Rényi divergence of order `alpha` > 1 of all parts together, in
    nats; infinite where none is known.

    The chance of total failure (`no_failure`) is not in it.
    """
    total, s = _sum(composition), float_up(Fraction(alpha) - 1)
    if total is None or s > total.largest_order:
        return math.inf
    value = total.other(s) / s + total.rough_rho * (1 + s)
    return value * (1 + ROUNDING)


def epsilon_at(composition: parts.Curve, delta: Fraction) -> Fraction | None:
    """Returns the least ε at `delta` by Rényi divergences, rounded up; None if they give none."""
    left = composition.left(delta)
    total = _sum(composition)
    if left <= 0 or total is None:
        return None
    if left >= 1 or not (total.rho or total.rest):
        return Fraction(0)
    log_inverse = _CONTEXT.ln(_decimal(left)).copy_negate()
    s = _best_order(total, float(log_inverse))
    return None if s is None else _evaluate_epsilon(total, s, log_inverse)


def _best_order(total: _OrderSum, rough_log: float) -> float | None:
    """Returns the s = α-1 at which the ε by one order is about least; None where none is found.
    `rough_log`: ln(1/δ), roughly."""

    def bound(s: float) -> float:
        return (total.rough(s) + rough_log - math.log1p(s)) / s - math.log1p(1 / s)

    s = _best(bound, total, math.sqrt(rough_log / max(total.rough(1.0) / 2, 1e-200)))
    if not total.rest:
        s = _polished(
            s,
            lambda s: (
                (s * s * total.rough_rho + math.log1p(s) - rough_log)
                / (2 * s * total.rough_rho + 1 / (1 + s))
            ),
        )
    return s if math.isfinite(bound(s)) else None


def _evaluate_epsilon(total: _OrderSum, s: float, log_inverse: Decimal) -> Fraction:
    """Returns the ε by the order α = 1+s, rounded up; `log_inverse`: ln(1/δ)."""
    with_s, log_s, log_alpha, gains = _terms(total, s)
    value, size = Decimal(0), Decimal(0)
    # The sign operator would round to the digits of the thread's own context.
    for term in (gains, log_inverse, log_alpha.copy_negate()):
        term = _CONTEXT.divide(term, with_s)
        value, size = _CONTEXT.add(value, term), _CONTEXT.add(size, term.copy_abs())
    for term in (log_s, log_alpha.copy_negate()):
        value, size = _CONTEXT.add(value, term), _CONTEXT.add(size, term.copy_abs())
    return max(_surely_above(value, size), Fraction(0))


def delta_at(composition: parts.Curve, epsilon: Fraction) -> Fraction:
    """Returns the least δ at `epsilon` ≥ 0 by Rényi divergences, rounded up; 1 if they give
    none."""
    total, no_failure = _sum(composition), composition.no_failure
    if total is None:
        return Fraction(1)
    if not (total.rho or total.rest):
        return capped(1 - no_failure)
    try:
        rough_epsilon = float_up(epsilon)
    except OverflowError:
        rough_epsilon = 1e300

    def bound(s: float) -> float:
        return total.rough(s) - s * (rough_epsilon + math.log1p(1 / s)) - math.log1p(s)

    s = _best(bound, total, max(rough_epsilon, 1e-3) / max(total.rough(1.0), 1e-200))
    if not total.rest:
        s = _polished(
            s,
            lambda s: (
                ((1 + 2 * s) * total.rough_rho - rough_epsilon - math.log1p(1 / s))
                / (2 * total.rough_rho + 1 / (s * (1 + s)))
            ),
        )
    if not math.isfinite(bound(s)):
        return Fraction(1)
    with_s, log_s, log_alpha, gains = _terms(total, s)
    value, size = Decimal(0), Decimal(0)
    for term in (
        gains,
        _CONTEXT.multiply(with_s, _decimal(epsilon)).copy_negate(),
        _CONTEXT.multiply(with_s, log_s),
        _CONTEXT.multiply(with_s, log_alpha).copy_negate(),
        log_alpha.copy_negate(),
    ):
        value, size = _CONTEXT.add(value, term), _CONTEXT.add(size, term.copy_abs())
    exponent = _surely_above(value, size)
    if exponent >= 0:
        return Fraction(1)
    tail = min(exp_up(exponent), Fraction(1))
    return min(Fraction(1), capped(1 - no_failure + no_failure * tail))


def _terms(total: _OrderSum, s: float) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Returns s, ln s, ln(1+s), and K(s) rounded up, in ninety digits."""
    exact = Decimal(s)
    alpha = _CONTEXT.add(exact, 1)
    gains = _CONTEXT.multiply(_CONTEXT.multiply(exact, alpha), _decimal(total.rho))
    gains = _CONTEXT.add(gains, Decimal(total.other(s)))
    return exact, _CONTEXT.ln(exact), _CONTEXT.ln(alpha), gains


def _decimal(x: Fraction) -> Decimal:
    return _CONTEXT.divide(Decimal(x.numerator), Decimal(x.denominator))


def _surely_above(value: Decimal, size: Decimal) -> Fraction:
    """Returns a number that is no less than what `value` stands for: a few terms that sum to `size`
    without their signs, each within some 10^-90/s of itself and of 1."""
    return Fraction(value) + Fraction(size) * MARGIN


def _best(bound: Callable[[float], float], total: _OrderSum, guess: float) -> float:
    """Returns about the s at which a bound with one valley is least; `guess`: where to start."""
    highest = min(LOG_ORDERS, math.log(total.largest_order))

    def of(u: float) -> float:
        return bound(min(math.exp(u), total.largest_order))

    start = min(math.log(max(guess, 1e-50)), highest)
    best = min(math.exp(valley(of, start, -LOG_ORDERS, highest)), total.largest_order)
    candidates = [best, *(s for s in total.kinks(best) if s <= total.largest_order)]
    return min(candidates, key=bound)


def _polished(s: float, step: Callable[[float], float]) -> float:
    """Returns the result of a few of Newton's steps from `s`, near a root, so that the bound there
    has all its digits, which are the same on all machines."""
    for _ in range(4):
        nearer = s - step(s)
        if not 0.5 * s < nearer < 2 * s:
            break
        s = nearer
    return s


def zcdp_of(part: parts.Part) -> Fraction | None:
    """Returns the least ρ known for a part, rounded up; None if it is not known to be zCDP."""
    match part:
        case parts.Response(epsilon):
            return epsilon * tanh_up(epsilon / 2)
        case parts.MechanismLoss():
            return part.rho()
        case parts.Points(points):
            pure = [epsilon for epsilon, delta in points if delta == 0]
            return min(pure) * tanh_up(min(pure) / 2) if pure else None
        case parts.Concentrated(rho):
            return rho
        case _:
            return None
