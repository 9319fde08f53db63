"""The least ε of an absent person against a belief at a chosen δ, from all kinds of outcomes.

A block that is (ε_i, δ_i)-private is at worst a randomized response that with chance δ_i reveals
its bit (Kairouz, Oh and Viswanath 2015; whatever the order of the questions, Lyu 2022). For equal
blocks only the number of blocks with each answer matters, so that there are few kinds of outcomes
where there are few kinds of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import product

from dpcompose.core.hypotheses.beliefs import Belief, Block, Exactly
from dpcompose.core.hypotheses.sums import how_many

#: The most kinds of outcomes that are listed, and the most terms of their likelihoods.
MOST_OUTCOMES = 3_000
MOST_TERMS = 2_000_000
_DIGITS = 60
_C = Context(prec=_DIGITS, rounding=ROUND_HALF_EVEN, Emax=10**12, Emin=-(10**12))
#: A margin above the rounding errors of all sums, whose terms are at most 1.
_MARGIN = Decimal("1e-40")
#: Larger losses are left to other bounds: their products would need more digits.
_MOST_LOSS = 60
_ONE = Decimal(1)
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The chances of all kinds of outcomes of the blocks.

    `known`: for each kind its chance if the person is absent, and its likelihood ratio under the
    belief. `given_away`: the chance under the belief that some block reveals its bit.
    """

    known: tuple[tuple[Decimal, Decimal], ...]
    given_away: Decimal

    def delta(self, epsilon: Decimal) -> Decimal:
        """Returns the least δ at ε ≥ 0, rounded up."""
        factor = _C.exp(epsilon)
        more, less = self.given_away, _ZERO
        for chance, ratio in self.known:
            if ratio > factor:
                more = _C.add(more, _C.multiply(chance, _C.subtract(ratio, factor)))
            elif _C.multiply(ratio, factor) < 1:
                less = _C.add(
                    less, _C.multiply(chance, _C.subtract(_ONE, _C.multiply(ratio, factor)))
                )
        return _C.add(max(more, less), _MARGIN)


def outcomes(blocks: tuple[Block, ...], belief: Belief) -> Outcomes | None:
    """Returns the outcomes of all blocks, for an absent person and a belief; None if too many.

    A block of a set that is given by its indices must have `count` 1.
    """
    kinds = 1
    for block in blocks:
        kinds *= math.comb(block.count + (2 if block.delta else 1), 2 if block.delta else 1)
        if kinds > MOST_OUTCOMES:
            return None
    terms = sum(block.count + 1 for block in blocks) ** 2
    if kinds * terms > MOST_TERMS or _loss(blocks) > _MOST_LOSS:
        return None
    known = tuple(_weighted_losses(blocks, belief))
    return Outcomes(known, _given_away(blocks, belief))


def _loss(blocks: tuple[Block, ...]) -> Fraction:
    """Returns the total ε of all blocks."""
    return sum((block.epsilon * block.count for block in blocks), Fraction(0))


def _decimal(x: Fraction) -> Decimal:
    return _C.divide(Decimal(x.numerator), Decimal(x.denominator))


def _weighted_losses(
    blocks: tuple[Block, ...], belief: Belief
) -> Iterator[tuple[Decimal, Decimal]]:
    """Yields for each kind of outcome its chance without the person, and the likelihood ratio."""
    mean = _mean_over(belief, sum(block.count for block in blocks))
    for kind in product(*(list(_answers(block)) for block in blocks)):
        chance = _ONE
        for each, _ in kind:
            chance = _C.multiply(chance, each)
        yield chance, mean([sizes for _, sizes in kind])


def _mean_over(belief: Belief, size: int) -> Callable[[Sequence[Sequence[Decimal]]], Decimal]:
    """Returns the function that gives the mean of a product over the sets of a belief.

    Its argument: for each kind of blocks, the sums of the products over its sets of 0, 1, … blocks.
    """
    parts = [
        (
            part,
            _decimal(weight),
            _ONE if isinstance(part, Exactly) else Decimal(how_many(size, part.low, part.high)),
        )
        for part, weight in belief.parts
    ]

    def mean(rows: Sequence[Sequence[Decimal]]) -> Decimal:
        """Returns the mean of the products over the sets of the belief, given `rows`."""
        sizes: list[Decimal] | None = None
        result = _ZERO
        for part, weight, number in parts:
            if isinstance(part, Exactly):
                likely = _ONE
                for index in part.blocks:
                    row = rows[index]
                    likely = _C.multiply(likely, row[1] if len(row) > 1 else _ZERO)
            else:
                sizes = _merge_rows(rows) if sizes is None else sizes
                likely = _C.divide(_total(sizes[part.low : part.high + 1]), number)
            result = _C.add(result, _C.multiply(weight, likely))
        return result

    return mean


def _answers(block: Block) -> Iterator[tuple[Decimal, list[Decimal]]]:
    """Yields the combinations of answers of equal blocks: each with its chance and likelihoods.

    The chance is that without the person; the j-th likelihood is the sum, over the sets of j of the
    blocks, of the likelihood ratio if the person is in exactly these. `plus` blocks answer that the
    person is present, `minus` that the person is absent, and `shown` ones reveal that the person is
    absent.
    """
    n = block.count
    up = _C.exp(_decimal(block.epsilon))
    down = _C.divide(_ONE, up)
    delta = _decimal(block.delta)
    no_failure = _C.subtract(_ONE, delta)
    # With chance 1/(1+e^ε) a block without the person answers "present".
    wrong = _C.divide(no_failure, _C.add(_ONE, up))
    right = _C.multiply(wrong, up)
    for shown in range(n + 1 if delta else 1):
        for plus in range(n - shown + 1):
            minus = n - shown - plus
            ways = math.comb(n, shown) * math.comb(n - shown, plus)
            chance = Decimal(ways)
            for base, times in ((delta, shown), (wrong, plus), (right, minus)):
                for _ in range(times):
                    chance = _C.multiply(chance, base)
            yield (
                chance,
                _merge_rows([_power_coefficients(up, plus), _power_coefficients(down, minus)]),
            )


def _power_coefficients(x: Decimal, n: int) -> tuple[Decimal, ...]:
    """Returns the coefficients of (1 + x·t)^n."""
    out, power = [], _ONE
    for j in range(n + 1):
        out.append(_C.multiply(Decimal(math.comb(n, j)), power))
        power = _C.multiply(power, x)
    return tuple(out)


def _total(numbers: list[Decimal]) -> Decimal:
    """Returns the sum of decimals at this module's precision, unlike `sum`."""
    return reduce(_C.add, numbers, _ZERO)


def _merge_rows(rows: Sequence[Sequence[Decimal]]) -> list[Decimal]:
    """Returns the coefficients of the product of polynomials."""
    result = [_ONE]
    for row in rows:
        out = [_ZERO] * (len(result) + len(row) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(row):
                out[i + j] = _C.add(out[i + j], _C.multiply(a, b))
        result = out
    return result


def _given_away(blocks: tuple[Block, ...], belief: Belief) -> Decimal:
    """Returns the chance under the belief that some block reveals its bit.

    1 - Σ w_b Π_{i∈b} (1 - δ_i).
    """
    rows = [
        _power_coefficients(_C.subtract(_ONE, _decimal(block.delta)), block.count)
        for block in blocks
    ]
    mean = _mean_over(belief, sum(block.count for block in blocks))
    return max(_ZERO, _C.subtract(_ONE, mean(rows)))


def least_epsilon(found: Outcomes, delta: Fraction) -> Fraction | None:
    """Returns the least ε at `delta`, at most about 10^-13 too large; None if none is finite."""
    wanted = _C.divide(Decimal(delta.numerator), Decimal(delta.denominator))
    wanted = _C.subtract(wanted, _MARGIN)
    if found.delta(_ZERO) <= wanted:
        return Fraction(0)
    ratios = [ratio for _, ratio in found.known]
    greatest = _C.ln(max(max(ratios), _ONE))
    smallest = min((ratio for ratio in ratios if ratio), default=_ONE)
    high = _C.add(max(greatest, _C.minus(_C.ln(min(smallest, _ONE)))), Decimal("1e-30"))
    if found.delta(high) > wanted:
        return None
    low = _ZERO
    for _ in range(60):
        middle = _C.divide(_C.add(low, high), Decimal(2))
        if found.delta(middle) <= wanted:
            high = middle
        else:
            low = middle
        if _C.subtract(high, low) < Decimal("1e-13"):
            break
    return Fraction(high)
