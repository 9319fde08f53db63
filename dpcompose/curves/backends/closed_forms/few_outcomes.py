"""δ of randomized responses and one Gaussian with few outcomes in all: added up one by one.

Where the responses together come out with losses l_j at chances m_j, δ(ε) = Σ m_j·D(ε - l_j) with D
the curve of the Gaussian, or max(0, 1 - e^t) without one. In doubles, with every rounding covered,
and without the packages that transforms on a grid need, which take longer to load than this takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from dpcompose.curves.curve import Certified

#: So many outcomes are added up.
MOST_OUTCOMES = 2000
#: Losses and ε up to this, and a μ between these, stay within the range of doubles.
_FARTHEST = 300
_LEAST_MU, _MOST_MU = Fraction(1, 1000), 20
#: The common denominator of the losses has so many bits at most.
_MOST_BITS = 400
#: What a chance, a product or a sum may be off by, relatively: n roundings of 2^-52 for n outcomes.
_MARGIN = 1e-11
#: erfc is 0 in doubles from 28 on. Below it is off by less than 60 times what its argument is off
#: by, and the argument by less than this.
_STEEP, _ARGUMENT = 60, 2e-14
#: What chances that are too small for doubles come to, all together.
_LOST = 1e-280
#: Where roundings may add more than this share, nothing is told.
_TELLING = 1e-8


def delta_of_few(
    responses: Mapping[Fraction, int], gaussian: Fraction, at: Fraction
) -> Certified | None:
    """δ at `at` ≥ 0, rounded up; None where there is too much to add up, or too little left.

    `responses`: how many there are of each ε > 0. `gaussian`: Σμ².
    """
    if math.prod(count + 1 for count in responses.values()) > MOST_OUTCOMES:
        return None
    whole = sum((epsilon * count for epsilon, count in responses.items()), at)
    if whole > _FARTHEST or (gaussian and not _LEAST_MU**2 <= gaussian <= _MOST_MU**2):
        return None
    unit = math.lcm(*(epsilon.denominator for epsilon in responses))
    if unit.bit_length() > _MOST_BITS:
        return None
    mu = math.sqrt(gaussian)
    # Differences of losses are divided once, so that none is off by more than its last digit.
    above, below = at.numerator * unit, at.denominator * unit
    total = added = 0.0
    for loss, chance in _outcomes(tuple(responses.items()), unit):
        value, slack = _curve((above - loss * at.denominator) / below, mu)
        total += chance * (value + slack)
        added += chance * slack
    upper = total * (1 + _MARGIN) + _LOST
    if added > _TELLING * upper:
        return None
    return Certified(Fraction(min(1.0, upper)), None, False)


@lru_cache(maxsize=4)  # at one question many ε are asked for
def _outcomes(
    responses: tuple[tuple[Fraction, int], ...], unit: int
) -> tuple[tuple[int, float], ...]:
    """All losses, in units of 1/`unit`, with their chances."""
    found = [(0, 1.0)]
    for epsilon, count in responses:
        each = list(_of_equal(epsilon, count, unit))
        found = [(loss + other, m * p) for loss, m in found for other, p in each]
    return tuple(found)


def _of_equal(epsilon: Fraction, count: int, unit: int) -> list[tuple[int, float]]:
    size, step = float(epsilon), int(epsilon * unit)
    more = -math.log1p(math.exp(-size))
    return [
        (
            (count - 2 * minus) * step,
            math.exp(math.log(math.comb(count, minus)) + count * more - minus * size),
        )
        for minus in range(count + 1)
    ]


def _curve(t: float, mu: float) -> tuple[float, float]:
    """D(t) at any t, and what it may be below the true one."""
    if not mu:
        return max(0.0, -math.expm1(t)), 0.0
    near = math.erfc((t / mu - mu / 2) / math.sqrt(2)) / 2
    far = math.exp(t) * math.erfc((t / mu + mu / 2) / math.sqrt(2)) / 2
    return max(0.0, near - far), _STEEP * _ARGUMENT * (near + far)
