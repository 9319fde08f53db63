"""Equal randomized responses composed, exactly: sums of binomial terms in whole numbers.

k copies have the loss l_i = (k-2i)·ε with chance C(k,i)·p^(k-i)·(1-p)^i, p = e^ε/(1+e^ε). With A
the chance and B' that weighted by e^(l_j - l) of all losses above l_j, δ(x) = A - e^(x-l_j)·B'
between two neighbouring losses: solved there exactly (Kairouz, Oh and Viswanath 2015, Theorem 3.3,
at every real ε and not only at its grid).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from dpcompose.curves.curve import Certified
from dpcompose.curves.rounding.doubles import MARGIN, digits_of, down, exact_of, log_of, mpf_of, up
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ZERO, exp_up

#: More copies than this are left to other bounds: the sum has about as many terms as their root.
MOST_COPIES = 10**10
#: A term is kept to this many bits below the δ that is looked for; e^-ε to as many in all.
_BITS = 400
#: What lies above the first term is at most e to this power of the δ that is looked for.
_NEGLIGIBLE = -100.0


class _Sums(NamedTuple):
    """The sums of the module's text at one loss l_j = `loss`, the least that is counted: `above` is
    A, the chance of all greater losses, and `weighted` is B'."""

    above: Fraction
    weighted: Fraction
    loss: Fraction


def equal_epsilon(epsilon: Fraction, copies: int, delta: Fraction) -> Certified | None:
    """Returns the least ε' ≥ 0 at `delta` of `copies` independent randomized responses with the
    loss `epsilon`; None where there are too many to sum up exactly."""
    whole = epsilon * copies
    if whole == 0 or delta >= 1:
        return Certified(ZERO, ZERO)
    if delta <= 0:
        return Certified(whole, whole)
    if copies > MOST_COPIES:
        return None
    # So near to 1 the weights would need more bits; a smaller δ only makes ε' larger.
    wanted = min(delta, 1 - Fraction(1, 10**12))
    sums = _walk(epsilon, copies, log_of(wanted), wanted, None)
    from mpmath import mp

    with mp.workdps(60 + max(0, digits_of(whole))):
        upper, lower = sums.above * (1 + MARGIN), sums.above * (1 - MARGIN)
        high = _end(sums, upper - wanted, sums.weighted * (1 - MARGIN), 1)
        low = _end(sums, lower - wanted, sums.weighted * (1 + MARGIN), -1)
    return Certified(min(high, whole), max(ZERO, min(low, whole)) if wanted == delta else None)


def _end(sums: _Sums, top: Fraction, bottom: Fraction, side: int) -> Fraction:
    """Returns the ε' with e^(ε'-l) = top/bottom, l the loss of `sums`; rounded up (`side` 1) or
    down (-1)."""
    from mpmath import mp

    if top <= 0:
        return ZERO
    offset = exact_of(mp.log(mpf_of(top / bottom)))
    # Both the logarithm and its rounding stay below this share of the numbers added.
    margin = Fraction(1, 10**45) * (abs(offset) + 1)
    value = sums.loss + offset + side * margin
    if value <= 0:
        return ZERO
    return up(mpf_of(value), MARGIN) if side > 0 else down(mpf_of(value), MARGIN)


def equal_delta(epsilon: Fraction, copies: int, at: Fraction) -> Certified | None:
    """Returns the least δ at ε' = `at` ≥ 0 of `copies` independent randomized responses with the
    loss `epsilon`; None where there are too many to sum up exactly."""
    whole = epsilon * copies
    if at >= whole:
        return Certified(ZERO, ZERO)
    if copies > MOST_COPIES:
        return None
    if epsilon > MAX_EXPONENT:
        # All come out as +ε but for a chance that is less than any rounding.
        near = whole - at <= MAX_EXPONENT
        return Certified(1 - 1 / exp_up(whole - at) if near else Fraction(1))
    last = math.ceil((whole - at) / (2 * epsilon)) - 1
    scale = min(0.0, log_term(epsilon, copies, min(last, int(copies * _share(epsilon)))))
    sums = _walk(epsilon, copies, scale, None, at)
    from mpmath import mp

    with mp.workdps(60 + max(0, digits_of(whole))):
        gap = at - sums.loss
        factor = exact_of(mp.exp(mpf_of(gap)))
        upper = sums.above * (1 + MARGIN) - sums.weighted * factor * (1 - 2 * MARGIN)
        lower = sums.above * (1 - MARGIN) - sums.weighted * factor * (1 + 2 * MARGIN)
        return Certified(
            min(Fraction(1), up(mpf_of(upper), MARGIN)), down(mpf_of(max(ZERO, lower)), MARGIN)
        )


def _share(epsilon: Fraction) -> float:
    """Returns 1-p, the chance of the loss -ε."""
    x = float(min(epsilon, Fraction(700)))
    return math.exp(-x) / (1 + math.exp(-x))


def log_term(epsilon: Fraction, copies: int, minus: int) -> float:
    """Returns ln of the chance that `minus` of the copies have the loss -ε, to a few digits."""
    x = float(min(epsilon, Fraction(10**12)))
    return (
        math.lgamma(copies + 1)
        - math.lgamma(minus + 1)
        - math.lgamma(copies - minus + 1)
        - copies * math.log1p(math.exp(-x))
        - minus * x
    )


def _first(epsilon: Fraction, copies: int, scale: float) -> int:
    """Returns the greatest number i of losses -ε such that the chances of i or fewer sum to less
    than e^(scale + _NEGLIGIBLE), so that they may be left out.

    Up to the mode the terms grow, and their logarithm is concave: the terms before i sum to at most
    i·term(i). The slack in `_NEGLIGIBLE` covers the rounding of the logarithms of gamma.
    """
    low, high = 0, int(copies * _share(epsilon))
    while low < high:
        middle = (low + high + 1) // 2
        if log_term(epsilon, copies, middle) + math.log(middle) < scale + 1.2 * _NEGLIGIBLE:
            low = middle
        else:
            high = middle - 1
    return low


def _walk(
    epsilon: Fraction, copies: int, scale: float, wanted: Fraction | None, at: Fraction | None
) -> _Sums:
    """Returns the sums of `copies` responses after adding the terms from the greatest loss down,
    until δ reaches `wanted`, or up to the last loss above `at`; one of the two is None.

    `scale`: ln of the size that matters, by which negligible terms are left out.
    """
    start = _first(epsilon, copies, scale)
    shift = _BITS - math.floor(scale / math.log(2))
    term, (decay, places) = _start_term(epsilon, copies, start, shift), _exp_minus(epsilon)
    double, double_places = decay * decay, 2 * places
    target = None if wanted is None else math.floor(wanted * (1 << shift))
    # Where the losses end for good: the last i with a loss above `at` or, solving, above 0.
    end = math.ceil((epsilon * copies - (at or ZERO)) / (2 * epsilon)) - 1
    end = min(end, copies)
    # At most 2^40 steps, each of a few units in 2^-200 of the δ looked for, and what lies above the
    # start are less than the margin.
    above, weighted, index = 0, 0, start
    while True:
        above += term
        weighted += term
        if index >= end:
            break
        after = (weighted * double) >> double_places
        if target is not None and above - after >= target:
            break
        weighted = after
        term = (term * (copies - index) * decay >> places) // (index + 1)
        index += 1
    unit = Fraction(1, 1 << shift)
    return _Sums(above * unit, weighted * unit, (copies - 2 * index) * epsilon)


def _exp_minus(epsilon: Fraction) -> tuple[int, int]:
    """Returns e^-ε as (n, b), which stands for n/2^b, where n has about `_BITS` bits."""
    from mpmath import mp

    with mp.workprec(_BITS + 60 + max(0, 4 * digits_of(epsilon))):
        _, mantissa, exponent, bits = mp.exp(-mpf_of(epsilon))._mpf_
    cut = max(0, int(bits) - _BITS)
    return int(mantissa) >> cut, -(int(exponent) + cut)


def _start_term(epsilon: Fraction, copies: int, minus: int, shift: int) -> int:
    """Returns the chance that `minus` of the copies have the loss -ε, in units of 2^-shift."""
    from mpmath import mp

    digits = len(str(copies)) + max(0, digits_of(epsilon))
    with mp.workdps(80 + 2 * digits):
        x: Any = mpf_of(epsilon)
        value = mp.exp(-copies * mp.log1p(mp.exp(-x)) - minus * x)
        if minus:
            value *= mp.binomial(copies, minus)
        return int(mp.floor(mp.ldexp(value, shift)))
