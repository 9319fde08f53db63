"""Sums over all sets of blocks of certain sizes, without enumerating the sets.

Σ over lo ≤ |b| ≤ hi of Π_{i∈b} x_i is a sum of elementary symmetric functions. With odds x_i·t each
block is in b independently with chance x_i·t/(1+x_i·t); so the sum is Π(1+x_i·t) times the mean of
t^-|b| over the sizes wanted, and t is chosen so that the wanted sizes are the likely ones. The
distribution of |b| is computed by multiplying polynomials in fixed-point whole numbers that are
rounded down; its difference from the known total bounds the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from dpcompose.core.hypotheses.interval import ONE, ZERO, Interval, exactly, exponential, power

#: Chances are kept in units of 2^-_BITS.
_BITS = 128
_UNIT = 1 << _BITS
_IN_UNITS = exactly(_UNIT)
#: Products of fewer coefficients than this are computed term by term.
_FEW = 6
#: The most blocks for which sets are distinguished by size.
MOST_BLOCKS = 100_000


@dataclass(frozen=True, slots=True)
class Term:
    """`count` equal blocks with x = e^`log`, and a `mark` of at least 0 each.

    The marks of the blocks of a set are added.
    """

    log: Fraction
    count: int = 1
    mark: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Sums:
    """Two sums over the wanted sets b of blocks.

    `total` = Σ_b Π x_i, and `marked` = Σ_b (Σ_{i∈b} mark_i)·Π x_i.
    """

    total: Interval
    marked: Interval


def how_many(size: int, low: int, high: int) -> int:
    """Returns the number of sets of `low` to `high` blocks out of `size`."""
    inside = range(low, high + 1)
    outside = [*range(low), *range(high + 1, size + 1)] if 2 * len(inside) > size else None
    counted = _binomials(size, inside if outside is None else outside)
    return counted if outside is None else 2**size - counted


def _binomials(size: int, wanted: Sequence[int]) -> int:
    """Returns the sum of the binomial coefficients (size choose j) over the wanted j."""
    total, last, value = 0, -2, 1
    for j in wanted:
        value = value * (size - j + 1) // j if j == last + 1 and j else math.comb(size, j)
        total, last = total + value, j
    return total


def subset_sums(terms: Sequence[Term], low: int, high: int) -> Sums:
    """Returns Σ Π x_i, and its marked sum (`Sums`), over all sets of `low` to `high` blocks.

    `terms`: the blocks. Raises OverflowError if there are too many blocks to distinguish sets by
    size.
    """
    terms = [term for term in terms if term.count]
    size = sum(term.count for term in terms)
    odds = [exponential(term.log) for term in terms]
    if low <= 1 and high >= size:
        found = _all(terms, odds, low)
        if low == 0 or size > MOST_BLOCKS or found.total.low >= 1:
            return found
    if size > MOST_BLOCKS:
        raise OverflowError("too many blocks to tell their numbers apart")
    return _of_sizes(terms, odds, low, min(high, size))


def _all(terms: Sequence[Term], odds: Sequence[Interval], low: int) -> Sums:
    """Returns the sums over all sets of blocks, without the empty set for `low` 1.

    Π(1+x_i), less 1 for `low` 1, and Π(1+x_i)·Σ mark_i·x_i/(1+x_i). `odds`: the x_i of each term.
    """
    product, marks, least = ONE, ZERO, ZERO
    for term, x in zip(terms, odds, strict=True):
        product = product * (ONE + x).power(term.count)
        marks = marks + exactly(term.mark * term.count) * (x / (ONE + x))
        least = least + exactly(term.count) * x
    total = product if low == 0 else product.less_one().at_least(least)
    return Sums(total, product * marks)


# --- by size -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _SizeLaw:
    """The distribution of |b| for sizes from `start` on, in units of 2^-128, rounded down.

    `chances`: of each size; `marks`: for each size the sum over its sets of chance times total
    mark.
    """

    start: int
    chances: tuple[int, ...]
    marks: tuple[int, ...]


def _of_sizes(terms: Sequence[Term], odds: Sequence[Interval], low: int, high: int) -> Sums:
    """Returns the sums over the sets of `low` to `high` blocks, from the distribution of |b|.

    `odds`: the x_i of each term.
    """
    size = sum(term.count for term in terms)
    tilt = _tilt(terms, low, high, size)
    scale = max((term.mark for term in terms), default=Fraction(0)) or Fraction(1)
    product, marked, leaves = ONE, ZERO, []
    for term, x in zip(terms, odds, strict=True):
        tilted = x * tilt
        whole = ONE + tilted
        product = product * whole.power(term.count)
        chance = tilted / whole
        mark = chance * exactly(term.mark / scale) if term.mark else ZERO
        marked = marked + exactly(term.count) * mark
        leaf = _SizeLaw(0, (_units(ONE / whole), _units(chance)), (0, _units(mark)))
        leaves.append(power(leaf, term.count, _times))
    law = _product(leaves)
    missing = _UNIT - sum(law.chances)
    unmarked = math.ceil(marked.ceiling * _UNIT) - sum(law.marks)
    back = ONE / tilt
    weight = back.power(low)
    most = max(weight, back.power(high), key=lambda each: each.high)
    total, marks = ZERO, ZERO
    for index in range(max(0, low - law.start), len(law.chances)):
        j = law.start + index
        if j > high:
            break
        if j > low:
            weight = weight * back if j != max(low, law.start) else back.power(j)
        total = total + exactly(law.chances[index]) * weight
        marks = marks + exactly(law.marks[index]) * weight
    unit = exactly(Fraction(1, _UNIT))
    slack = Interval(Decimal(0), (exactly(missing) * most).high)
    mark_slack = Interval(Decimal(0), (exactly(max(0, unmarked)) * most).high)
    return Sums(
        product * (total + slack) * unit, exactly(scale) * product * (marks + mark_slack) * unit
    )


def _tilt(terms: Sequence[Term], low: int, high: int, size: int) -> Interval:
    """Returns a t > 0 for which the mean of |b| is about from `low` to `high`; any t > 0 is sound.

    `size`: the number of blocks.
    """
    sizes: dict[int, int] = {}
    for term in terms:
        x = round(10 * float(term.log))  # a tenth is near enough
        sizes[x] = sizes.get(x, 0) + term.count
    logs = [(x / 10, n) for x, n in sizes.items()]

    def mean(shift: float) -> float:
        return sum(n / (1 + math.exp(min(700.0, -(x + shift)))) for x, n in logs)

    natural = mean(0.0)
    target = min(max(natural, low), high)
    if abs(target - natural) < 0.5:
        return ONE
    target = min(max(target, 0.01), size - 0.01)
    below = -60.0 - max(abs(x) for x, _ in logs)
    above = -below
    for _ in range(50):
        middle = (below + above) / 2
        if mean(middle) < target:
            below = middle
        else:
            above = middle
    # Few digits, so that t itself is exact.
    t = exponential(Fraction(round(above * 1000), 1000)).low.normalize()
    short = Decimal((0, t.as_tuple().digits[:12], t.adjusted() - len(t.as_tuple().digits[:12]) + 1))
    return Interval(short, short)


def _units(x: Interval) -> int:
    """Returns the lower end of an interval in units of 2^-128, rounded down."""
    return int((x * _IN_UNITS).low)


def _product(laws: list[_SizeLaw]) -> _SizeLaw:
    """Returns the distribution of |b| for all blocks, multiplying the shortest ones first."""
    while len(laws) > 1:
        laws.sort(key=lambda law: len(law.chances))
        pairs = [_times(laws[i], laws[i + 1]) for i in range(0, len(laws) - 1, 2)]
        laws = pairs + (laws[-1:] if len(laws) % 2 else [])
    return laws[0]


def _times(first: _SizeLaw, second: _SizeLaw) -> _SizeLaw:
    """Returns the distribution of the size |b| of a random set b of blocks out of two disjoint
    groups, by convolution of those of the groups; each chance is rounded down."""
    chances = [each >> _BITS for each in _convolved(first.chances, second.chances)]
    if any(first.marks) or any(second.marks):
        left = _convolved(first.marks, second.chances)
        right = _convolved(first.chances, second.marks)
        marks = [(a + b) >> _BITS for a, b in zip(left, right, strict=True)]
    else:
        marks = [0] * len(chances)
    start, end = 0, len(chances)
    while end - start > 1 and not (chances[start] or marks[start]):
        start += 1
    while end - start > 1 and not (chances[end - 1] or marks[end - 1]):
        end -= 1
    return _SizeLaw(
        first.start + second.start + start, tuple(chances[start:end]), tuple(marks[start:end])
    )


def _convolved(first: Sequence[int], second: Sequence[int]) -> list[int]:
    """Returns the coefficients of the product of two polynomials; none may be negative."""
    if min(len(first), len(second)) <= _FEW:
        out = [0] * (len(first) + len(second) - 1)
        for i, a in enumerate(first):
            if a:
                for j, b in enumerate(second):
                    out[i + j] += a * b
        return out
    # Kronecker substitution: one product of two whole numbers.
    bits = max(max(first).bit_length(), 1) + max(max(second).bit_length(), 1)
    width = (bits + min(len(first), len(second)).bit_length() + 7) // 8
    one, other = (
        int.from_bytes(b"".join(each.to_bytes(width, "little") for each in values), "little")
        for values in (first, second)
    )
    length = len(first) + len(second) - 1
    raw = (one * other).to_bytes(length * width + 1, "little")
    return [int.from_bytes(raw[i * width : (i + 1) * width], "little") for i in range(length)]
