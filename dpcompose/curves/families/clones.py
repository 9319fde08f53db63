"""The privacy profile of shuffled reports, by the number of clones: reports of others that look
like one's own (Feldman, McMillan and Talwar 2021)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.tuning import MOST_LOG, MOST_POINTS, PLACES
from dpcompose.curves.rounding.doubles import OUTSIDE, PRODUCT_ROUNDING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Numbers of clones within this share above the smallest of them are treated as the smallest, which
#: is worse.
_ALIKE = 1e-4
#: The most reports of two answers that are counted one by one, and the greatest ε of one report, so
#: that the chance of a lie is far above the least double.
MOST_COUNTED, MOST_TOLD = 300, 30


def profile_of_clones(
    each: Fraction, reports: int, by_response: bool
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields points (ε, δ) that hold for shuffled reports, for one report replaced; none where
    shuffling is of no use.

    `each`: the ε of every report alone; `reports`: their number; `by_response`: each is randomized
    response, of which others are clones more often. δ is rounded up, after a chance of `OUTSIDE` is
    set aside.
    """
    import numpy as np

    # Less than the margin hides nothing, and more has no clones.
    if not PRODUCT_ROUNDING < each <= MOST_LOG:
        return
    epsilon = float(each)
    chance, rest = math.exp(-epsilon), -math.expm1(-epsilon)
    if by_response:
        chance, rest = 2 / (math.exp(epsilon) + 1), math.tanh(epsilon / 2)
    one, other = _atoms(epsilon, reports, chance, rest)
    ratios = other / one
    ones, others = np.cumsum(one), np.cumsum(other)

    def delta(at: float) -> float:
        end = int(np.searchsorted(ratios, math.exp(-at)))
        if not end:
            return 0.0
        top, bottom = float(ones[end - 1]), float(others[end - 1])
        return max(0.0, top - math.exp(at) * bottom) + PRODUCT_ROUNDING * top

    yield from _points(each, delta)


def _points(
    greatest: Fraction, delta: Callable[[float], float]
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields points (ε, δ) of a profile that is 0 from `greatest` on: evenly, as far as δ is above
    `OUTSIDE`."""
    low, high = 0.0, float(greatest)
    while high - low > high / PLACES:
        middle = (low + high) / 2
        low, high = (low, middle) if delta(middle) < OUTSIDE else (middle, high)
    steps = math.ceil(PLACES * greatest / Fraction(high))
    for i in range(min(steps, PLACES + 1)):
        at = greatest * i / steps
        yield at, Fraction(delta(float(at)))
    if steps <= MOST_POINTS:  # else a grid on which all points lie would be too long
        yield greatest, Fraction(0)


def profile_of_two_answers(
    each: Fraction, reports: int, rows: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Yields points (ε, δ) that hold for shuffled randomized response over two values, where `rows`
    rows are replaced; none where there is too much to compute.

    What is released is how often the one answer was given, a sum of independent answers, of which T
    have the chance p = e^ε₀/(1+e^ε₀) and the others 1-p. With rows replaced T changes by at most so
    many; a change by less is no worse, since likelihood ratios are monotone in T: tests are
    thresholds, and what is above one grows with T. The greatest δ over all T is exact. With more
    reports there are rows that both tables share, whose answers may be added afterwards, so that
    more than `MOST_COUNTED` reports are taken for so many.
    """
    import numpy as np

    if not PRODUCT_ROUNDING < each <= MOST_TOLD or rows > MOST_COUNTED:
        return
    reports = max(rows, min(reports, MOST_COUNTED))
    rare = 1 / (1 + math.exp(float(each)))
    one, other = [np.ones(1)], [np.ones(1)]
    for _ in range(reports):
        one.append(np.convolve(one[-1], [rare, 1 - rare]))
        other.append(np.convolve(other[-1], [1 - rare, rare]))
    laws = np.stack([np.convolve(one[n], other[reports - n]) for n in range(reports + 1)])
    here, there = laws[rows:], laws[: reports + 1 - rows]

    def delta(at: float) -> float:
        gaps = here - math.exp(at) * there
        top = np.where(gaps > 0, here, 0.0).sum(axis=1)
        return float((np.maximum(gaps, 0.0).sum(axis=1) + PRODUCT_ROUNDING * top).max())

    yield from _points(each * rows, delta)


def _binomial(trials: int, chance: float, rest: float) -> tuple[int, Floats]:
    """Returns the first of a range of numbers of successes and their chances, which add up to 1;
    all other numbers have a chance of at most `OUTSIDE` together.

    `rest`: 1 - `chance`.
    """
    import numpy as np

    mode = min(trials, int((trials + 1) * chance))
    width = int(12 * math.sqrt(trials * chance * rest)) + 50
    first, last = max(0, mode - width), min(trials, mode + width)
    above = np.arange(mode, last, dtype=float)
    below = np.arange(mode, first, -1, dtype=float)
    with np.errstate(under="ignore"):
        up = np.cumprod((trials - above) / (above + 1) * (chance / rest)) if rest else above
        down = np.cumprod(below / (trials - below + 1) * (rest / chance))
    law = np.concatenate([down[::-1], [1.0], up])
    return first, law / math.fsum(law)


def _numbers_of_clones(reports: int, chance: float, rest: float) -> Iterator[tuple[int, float]]:
    """Yields numbers of clones (reports that look like one's own) with their chances; each stands
    for those a little above it.

    Fewer clones are worse: to add one is to add a report that is a fair coin.
    """
    first, law = _binomial(reports - 1, chance, rest)
    step = max(1, int(first * _ALIKE))
    for start in range(0, len(law), step):
        yield first + start, float(law[start : start + step].sum())


def _atoms(epsilon: float, reports: int, chance: float, rest: float) -> tuple[Floats, Floats]:
    """Returns the chances of all outcomes in both tables, by falling likelihood ratio.

    `chance`: that a report is a clone, `rest`: 1 - `chance`. An outcome is the number of clones C
    and how many of the C + 1 tokens are of the first kind. Outcomes with a ratio below 1 are left
    out, as the pair is symmetric.
    """
    import numpy as np

    likely = 1 / (1 + math.exp(-epsilon))
    rare = 1 / (1 + math.exp(epsilon))
    ones: list[Floats] = []
    others: list[Floats] = []
    for clones, share in _numbers_of_clones(reports, chance, rest):
        first, law = _binomial(clones, 0.5, 0.5)
        own = np.concatenate([[0.0], law])  # the own token is of the first kind
        not_own = np.concatenate([law, [0.0]])
        counts = np.arange(first, first + len(own))
        half = 2 * counts >= clones + 1
        ones.append(share * (likely * own + rare * not_own)[half])
        others.append(share * (rare * own + likely * not_own)[half])
    one, other = np.concatenate(ones), np.concatenate(others)
    some = one > 0
    one, other = one[some], other[some]
    order = np.argsort(other / one, kind="stable")
    return one[order], other[order]
