"""The chances of how many rows a Poisson sample draws: exact, or rounded up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

from dpcompose.curves.rounding.doubles import LEAST, PRODUCT_ROUNDING
from dpcompose.curves.rounding.exact import MANY, MOST_LAWS, ONE, ZERO

#: Above this expected number of drawn rows their number is bounded by Chernoff's inequality.
_MOST_EXPECTED = 10_000


def chances(rows: int, rate: Fraction, numbers: Sequence[int]) -> list[Fraction]:
    """Returns the chances that the number of drawn rows is 0, from 1 to `numbers[0]`, above that up
    to `numbers[1]`, and so on.

    `rows`: how many there are; `rate`: the chance of each; `numbers` rise to `rows`. The chances
    are 1 in all; those of very many rows are rounded up.
    """
    ends = [0, *numbers]
    if rows <= MANY:
        yes, no = rate.numerator, rate.denominator - rate.numerator
        ways = [math.comb(rows, n) * yes**n * no ** (rows - n) for n in range(rows + 1)]
        whole = rate.denominator**rows
        starts = [0, *(end + 1 for end in ends)]
        return [Fraction(sum(ways[start:end]), whole) for start, end in pairwise(starts)]
    more = [ONE, *(_more_than(rows, rate, end) for end in ends[:-1]), ZERO]
    return [here - after for here, after in pairwise(accumulate(more, min))]


def truncated(
    rows: int, rate: Fraction, at_most: int
) -> tuple[tuple[Fraction, Fraction], Fraction]:
    """Returns bounds (lower, upper) of the chance that at least `at_most` of `rows` - 1 other rows
    are drawn; and, given that, the chance that one row is drawn and kept, rounded up.

    Where more than `at_most` rows are drawn, so many of them are kept, uniformly. The second chance
    is the mean of rate·at_most/(N+1) over the number N of the others drawn, and the mean of
    rate/(N+1) where N ≥ at_most is the chance that more than `at_most` of all are drawn, over
    `rows`.
    """
    full, cut = _at_least(rows - 1, rate, at_most), _at_least(rows, rate, at_most + 1)
    least = rate * at_most / (at_most + 1)
    return full, min(least, cut[1] * at_most / (full[0] * rows)) if full[0] else least


def _at_least(rows: int, rate: Fraction, number: int) -> tuple[Fraction, Fraction]:
    """Returns a lower and an upper bound of the chance that at least `number` of `rows` rows are
    drawn."""
    if number > rows:
        return ZERO, ZERO
    if rows <= MANY:
        exact = chances(rows, rate, [number - 1, rows] if number > 1 else [rows])[-1]
        return exact, exact
    most = _more_than(rows, rate, number - 1)
    if rate * rows > _MOST_EXPECTED:
        return ZERO, most
    return max(ZERO, most * (1 - Fraction(2 * PRODUCT_ROUNDING)) - Fraction(100 * LEAST)), most


def distinct_numbers(rows: int, rate: Fraction, all_at_once: bool) -> list[int]:
    """Returns a short list of numbers of drawn rows, ascending; every other number of drawn rows is
    to count as the next greater one of the list.

    The list depends on the rows and on the rate only by its last number, which is all rows, and by
    what is hardly ever drawn, so that what is made of it grows with both. `all_at_once`: there are
    always `rows` rows; else there may be fewer.
    """
    every = list(_numbers(rows))
    below = list(accumulate(chances(rows, rate, every)))[1:]
    hardly = Fraction(100 * LEAST)
    first = 0
    if all_at_once:
        first = next(i for i, chance in enumerate(below) if chance > hardly)
    last = next(i for i, chance in enumerate(below) if 1 - chance < hardly)
    found = every[first : last + 1]
    return found if found[-1] == rows else [*found, rows]


def _numbers(rows: int) -> Iterator[int]:
    number = 1
    while number < rows:
        yield number
        number += max(1, number // MOST_LAWS)
    yield rows


def _more_than(rows: int, rate: Fraction, number: int) -> Fraction:
    """Returns the chance that more than `number` rows are drawn, rounded up."""
    mean = rate * rows
    if mean > _MOST_EXPECTED:
        # e^(-d²·mean/(2+d)) for 1+d times the mean (Chernoff).
        beyond = float(min(Fraction(number + 1) / mean - 1, Fraction(10**6)))
        if beyond <= 0:
            return ONE
        nats = beyond**2 / (2 + beyond) * float(min(mean, Fraction(10**300)))
        return Fraction(math.exp(-min(nats * (1 - PRODUCT_ROUNDING), 700.0)))
    first, tail = _tail(rows, rate)
    if number < first:
        return ONE
    return tail[min(number - first, len(tail) - 1)]


@lru_cache(maxsize=64)
def _tail(rows: int, rate: Fraction) -> tuple[int, list[Fraction]]:
    """Returns a number, and the chances that more rows are drawn than this number, than the next
    one, …, rounded up.

    By the quotients of neighbouring chances, from the most likely number on; the last chance holds
    for all greater numbers.
    """
    mode = min(int((rows + 1) * rate), rows)
    odds = float(rate / (1 - rate)) if rate < 1 else math.inf
    above, below = [1.0], [1.0]
    for n in range(mode, rows):
        if above[-1] < LEAST:
            break
        above.append(above[-1] * odds * ((rows - n) / (n + 1)))
    for n in range(mode, 0, -1):
        if below[-1] < LEAST:
            break
        below.append(below[-1] * n / (odds * (rows - n + 1)))
    sizes = [*below[:0:-1], *above]
    whole = math.fsum(sizes)
    # Quotients fall, and are below 0.95 where so few are expected and so large a number is so rare.
    rest = 20 * LEAST if sizes[-1] < LEAST else 0.0
    sums = list(accumulate([rest, *sizes[:0:-1]]))[::-1]
    most = [Fraction(min(each / whole * (1 + PRODUCT_ROUNDING), 1.0)) for each in sums]
    return mode - len(below) + 1, most
