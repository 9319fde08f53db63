"""One part by itself that reads a whole composition: its curve follows from that one's exactly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcompose.curves.curve import Certified, Curve, Grouped, Response, Sampled
from dpcompose.curves.rounding.doubles import MARGIN, down, mpf_of, shorten
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ONE, ZERO, amplified_up, geometric_up

#: ε or δ of a composition.
EpsilonAt = Callable[[Curve, Fraction], Certified | None]
DeltaAt = Callable[[Curve, Fraction], Certified]

#: The search for an ε at a group distance ends at this relative distance, or after so many tries.
_ENOUGH, _TRIES = Fraction(1, 10**8), 40
#: More steps at a group distance are not followed one by one.
MOST_STEPS = 1024
#: So many ε are looked at for one δ at a group distance.
_SHARES = 16


def sampled_epsilon(part: Sampled, delta: Fraction, epsilon_at: EpsilonAt) -> Certified | None:
    """Returns the least ε at δ of one composition behind a secret sample, for both orders of the
    tables; None where no finite one is known.

    `epsilon_at`: gives the least ε of what is sampled, at a δ. With δ(ε) the profile of that and q
    the rate, the sample has δ'(ln(1+q(e^ε-1))) = q·δ(ε) for ε ≥ 0 in the order ((1-q)Q+qP, Q). In
    the other one, P-e^ε'((1-q)P+qQ) = q(P-e^εQ) - q(1-q)(e^ε-1)(P-Q), which on the event where it
    is largest is at most q(P-e^εQ), as P ≥ Q there (Balle, Barthe and Gaboardi 2018, Theorems 8 and
    9).
    """
    if not part.rate or delta >= part.rate:
        return Certified(ZERO, ZERO)
    inner = epsilon_at(part.base, delta / part.rate)
    if inner is None:
        return None
    upper = amplified(inner.upper, part.rate)
    lower = inner.lower
    if lower is not None:
        lower = amplified(lower, part.rate) * (1 - MARGIN) if lower > _ENOUGH else ZERO
    return inner._replace(upper=upper, lower=lower)


def sampled_delta(part: Sampled, epsilon: Fraction, delta_at: DeltaAt) -> Certified:
    """Returns the least δ at ε of one composition behind a secret sample, by the formula of
    `sampled_epsilon`; `delta_at` gives the least δ of what is sampled, at an ε."""
    if not part.rate:
        return Certified(ZERO, ZERO)
    inner = delta_at(part.base, _below(epsilon, part.rate))
    # The ε was rounded, so that nothing is known from below.
    return inner._replace(upper=inner.upper * part.rate, lower=None)


def amplified(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns ln(1+q(e^ε-1)), the ε behind a sample of the rate q, rounded up and never above ε."""
    return min(epsilon, amplified_up(epsilon, rate)) if rate else ZERO


def _below(epsilon: Fraction, rate: Fraction) -> Fraction:
    """Returns the ε of what is sampled that a sample of this rate turns into `epsilon`, rounded
    down."""
    if rate == 1 or epsilon == 0 or epsilon > MAX_EXPONENT:
        return epsilon
    from mpmath import mp

    with mp.workdps(60):
        inner = mp.log1p(mp.expm1(mpf_of(epsilon)) / mpf_of(rate))
        return max(epsilon, down(inner, Fraction(1, 10**40)))


def is_plain(base: Curve) -> bool:
    """Returns whether the ε and δ of a composition are found without a grid."""
    responses = all(isinstance(part, Response) for part, _ in base.parts)
    return not base.parts or (responses and len(base.parts) == 1 and not base.gaussian)


def grouped_epsilon(part: Grouped, delta: Fraction, epsilon_at: EpsilonAt) -> Certified | None:
    """Returns an ε at δ for two tables that are n = `part.steps` steps apart: n times the least ε
    found with δ(ε)·(e^(nε)-1)/(e^ε-1) ≤ δ.

    Only an ε that was verified is returned. What follows from ε, the least ε' at δ/growth(ε), grows
    with ε, so that from 0 on it stays below the least fixed point; the secant goes faster.
    """

    def following(at: Fraction) -> Certified | None:
        """Returns the least ε' at δ/growth(ε), where `at` is ε."""
        if at * (part.steps - 1) > MAX_EXPONENT:
            return None
        return epsilon_at(part.base, shorten(delta / geometric_up(at, part.steps), up=False))

    low, high, best = ZERO, None, None
    here, before, bump = ZERO, None, 16 * _ENOUGH
    for _ in range(_TRIES):
        found = following(here)
        if found is None:
            if not here:
                return None
            # Too far for any ε: back towards the last that was too small.
            target = (low + here) / 2
        else:
            gap = found.upper - here
            if gap <= 0:
                high, best = here, found
            else:
                low = here
            if gap <= 0 and (-gap <= _ENOUGH * here or here - low <= _ENOUGH * here):
                break
            target = found.upper
            if before is not None and before[1] != gap:
                target = here - gap * (here - before[0]) / (gap - before[1])
            if gap > 0:
                target = max(target, found.upper)
                if gap <= _ENOUGH * here:
                    # Next to it: a little more, so as to land on the sure side.
                    target, bump = here * (1 + bump), 8 * bump
            before = (here, gap)
        if high is not None and not low < target < high:
            target = (low + high) / 2
        here = shorten(target, up=True)
    return (
        None if best is None or high is None else best._replace(upper=high * part.steps, lower=None)
    )


def grouped_delta(part: Grouped, epsilon: Fraction, delta_at: DeltaAt) -> Certified:
    """Returns a δ at ε for two tables that are n = `part.steps` steps apart: the least
    δ(ε'/n)·(e^ε'-1)/(e^(ε'/n)-1) found at some ε' ≤ ε, at most 1.

    What holds at a smaller ε' holds at ε, so that any may be taken.
    """
    best = Certified(ONE, None, False)
    for share in range(_SHARES, 0, -1):
        at = epsilon / part.steps * share / _SHARES
        if at * (part.steps - 1) > MAX_EXPONENT:
            continue
        inner = delta_at(part.base, at)
        upper = inner.upper * geometric_up(at, part.steps)
        if upper >= best.upper:
            break
        best = inner._replace(upper=upper, lower=None)
    return best
