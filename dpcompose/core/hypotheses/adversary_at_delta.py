"""The least ε against an adversary at a chosen δ, by optimal composition of the blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import product

from dpcompose.core.hypotheses.beliefs import (
    NONE,
    Belief,
    Between,
    Block,
    Exactly,
    Found,
    Question,
    Rule,
    epsilon_of,
)
from dpcompose.core.hypotheses.interval import ONE, exactly, exponential, logarithm_up
from dpcompose.core.hypotheses.sums import MOST_BLOCKS, how_many
from dpcompose.curves import Curve, Response, Sampled

#: The most kinds of blocks of which samples are composed: more take long.
MOST_KINDS = 200


def at_delta(
    question: Question, delta: Fraction, known: list[Found], by_dp: Fraction | None
) -> list[Found]:
    """Returns every known bound at `delta` for telling two beliefs apart, as (ε, δ), the least ε
    first.

    `known`: bounds with a δ of their own. `by_dp`: the ε of differential privacy at `delta`, which
    covers every hypothesis against the empty set (HBW22, Theorem 1).
    """
    found = [
        Found(each.rule, each.epsilon, delta, pairs=each.pairs)
        for each in known
        if each.delta <= delta
    ]
    if not _someone(question):
        if by_dp is not None:
            found.append(Found("differential privacy", by_dp, delta))
        most = min((each.epsilon for each in found), default=None)
        found += _composed(question, delta, most)
    return sorted(found, key=lambda each: each.epsilon)


def sharper(question: Question, found: Found) -> Found | None:
    """Returns the bound with the ε of `found` and the least δ for it; None if unknown or no better.

    It is known where one of the two beliefs is that of an absent person.
    """
    if found.rule != "point mass" or not found.delta or _someone(question):
        return None
    every = outcomes(question.blocks, _belief(question))
    if every is None:
        return None
    more, spent = question.beside
    delta = Fraction(every.delta(exactly(found.epsilon - more).low)) + spent
    return Found("every outcome", found.epsilon, delta) if delta < found.delta else None


def _someone(question: Question) -> bool:
    """Returns whether both beliefs allow that the person is in some block."""
    return question.first.present and question.second.present


def _belief(question: Question) -> Belief:
    """Returns the belief of the two that is not that of an absent person."""
    return question.second if not question.first.present else question.first


def _composed(question: Question, delta: Fraction, most: Fraction | None) -> list[Found]:
    """Returns the bound at `delta` of an absent person against a belief, by optimal composition of
    the blocks.

    `most`: the least ε known so far. Empty if no bound is found or it takes too long.
    """
    belief = _belief(question)
    more, spent = question.beside
    left = delta - spent
    if left <= 0 or belief == NONE:
        return []
    rule: Rule = "every outcome"
    every = outcomes(question.blocks, belief)
    if every is not None:
        epsilon = least_epsilon(every, left)
    elif (
        most is not None
        and [part for part, _ in belief.parts] == [Between(1, question.size)]
        and len(question.blocks) <= MOST_KINDS
        and question.size <= MOST_BLOCKS
    ):
        rule, epsilon = "samples of one half", by_halves(question.blocks, left, most)
    else:
        return []
    return [] if epsilon is None else [Found(rule, epsilon + more, delta)]


# ---------------------------------------------------------------------------------------------
# All kinds of outcomes


#: The most kinds of outcomes that are listed, and the most terms of their likelihoods.
MOST_OUTCOMES = 3_000
MOST_TERMS = 2_000_000
_DIGITS_60 = Context(prec=60, rounding=ROUND_HALF_EVEN, Emax=10**12, Emin=-(10**12))
#: A margin above the rounding errors of all sums, whose terms are at most 1.
_MARGIN = Decimal("1e-40")
#: Larger losses are left to other bounds: their products would need more digits.
_MOST_EXPANDED = 60
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
        with localcontext(_DIGITS_60):
            factor = epsilon.exp()
            more, less = self.given_away, _ZERO
            for chance, ratio in self.known:
                if ratio > factor:
                    more += chance * (ratio - factor)
                elif ratio * factor < 1:
                    less += chance * (1 - ratio * factor)
            return max(more, less) + _MARGIN


def outcomes(blocks: tuple[Block, ...], belief: Belief) -> Outcomes | None:
    """Returns all kinds of outcomes of the blocks, for an absent person and a belief; None if too
    many.

    A block that is (ε_i, δ_i)-private is at worst a randomized response that with chance δ_i
    reveals its bit (Kairouz, Oh and Viswanath 2015; whatever the order of the questions, Lyu 2022).
    For equal blocks only the number of blocks with each answer matters, so that there are few kinds
    of outcomes where there are few kinds of blocks. A block of a set that is given by its indices
    must have `count` 1.
    """
    kinds = 1
    for block in blocks:
        kinds *= math.comb(block.count + (2 if block.delta else 1), 2 if block.delta else 1)
        if kinds > MOST_OUTCOMES:
            return None
    terms = sum(block.count + 1 for block in blocks) ** 2
    if kinds * terms > MOST_TERMS or epsilon_of(blocks) > _MOST_EXPANDED:
        return None
    with localcontext(_DIGITS_60):
        mean = _mean_over(belief, sum(block.count for block in blocks))
        known = []
        for kind in product(*(list(_answers(block)) for block in blocks)):
            chance = math.prod((each for each, _ in kind), start=_ONE)
            known.append((chance, mean([sizes for _, sizes in kind])))
        # The chance that no block reveals its bit is Σ w_b Π_{i∈b} (1 - δ_i).
        kept = [_power_coefficients(1 - _decimal(each.delta), each.count) for each in blocks]
        return Outcomes(tuple(known), max(_ZERO, 1 - mean(kept)))


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _mean_over(belief: Belief, size: int) -> Callable[[Sequence[Sequence[Decimal]]], Decimal]:
    """Returns the function that gives the mean, over the sets of blocks of a belief, of a product
    over blocks.

    Its argument: for each kind of blocks, the sums of the products over its sets of 0, 1, … blocks.
    `size`: the number of blocks.
    """
    parts = [
        (
            part,
            _decimal(weight),
            1 if isinstance(part, Exactly) else how_many(size, part.low, part.high),
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
                    likely *= row[1] if len(row) > 1 else _ZERO
            else:
                sizes = _merge_rows(rows) if sizes is None else sizes
                likely = sum(sizes[part.low : part.high + 1], _ZERO) / Decimal(number)
            result += weight * likely
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
    up = _decimal(block.epsilon).exp()
    down = 1 / up
    delta = _decimal(block.delta)
    # With chance 1/(1+e^ε) a block without the person answers "present".
    wrong = (1 - delta) / (1 + up)
    right = wrong * up
    for shown in range(n + 1 if delta else 1):
        for plus in range(n - shown + 1):
            minus = n - shown - plus
            chance = Decimal(math.comb(n, shown) * math.comb(n - shown, plus))
            for base, times in ((delta, shown), (wrong, plus), (right, minus)):
                for _ in range(times):
                    chance *= base
            yield (
                chance,
                _merge_rows([_power_coefficients(up, plus), _power_coefficients(down, minus)]),
            )


def _power_coefficients(x: Decimal, n: int) -> tuple[Decimal, ...]:
    """Returns the coefficients of (1 + x·t)^n."""
    out, power = [], _ONE
    for j in range(n + 1):
        out.append(math.comb(n, j) * power)
        power *= x
    return tuple(out)


def _merge_rows(rows: Sequence[Sequence[Decimal]]) -> list[Decimal]:
    """Returns the coefficients of the product of polynomials."""
    result = [_ONE]
    for row in rows:
        out = [_ZERO] * (len(result) + len(row) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(row):
                out[i + j] += a * b
        result = out
    return result


def least_epsilon(found: Outcomes, delta: Fraction) -> Fraction | None:
    """Returns the least ε at `delta` of these outcomes, at most about 10^-13 too large; None if
    none is finite."""
    with localcontext(_DIGITS_60):
        wanted = _decimal(delta) - _MARGIN
        if found.delta(_ZERO) <= wanted:
            return Fraction(0)
        ratios = [ratio for _, ratio in found.known]
        smallest = min((ratio for ratio in ratios if ratio), default=_ONE)
        low, high = _ZERO, max(max(*ratios, _ONE).ln(), -min(smallest, _ONE).ln())
        high += Decimal("1e-30")
        if found.delta(high) > wanted:
            return None
        while high - low >= Decimal("1e-13"):
            middle = (low + high) / 2
            low, high = (low, middle) if found.delta(middle) <= wanted else (middle, high)
        return Fraction(high)


# ---------------------------------------------------------------------------------------------
# Samples of one half


def by_halves(blocks: tuple[Block, ...], delta: Fraction, most: Fraction) -> Fraction | None:
    """Returns an ε at `delta` of an absent person against the uniform belief, in both directions;
    None if none up to `most` is found.

    HBW22, Theorem 3. Under the uniform belief over all sets, the empty one too, each block has the
    person independently with chance 1/2: its output is that of a Poisson sample of rate 1/2. Let R
    be that law and P that of an absent person; the belief over the N = 2^k - 1 other sets is
    Q = (2^k·R - P)/N. So, with δ_XY(ε) the least δ in X(S) ≤ e^ε Y(S) + δ,
        δ_QP(ε) = 2^k/N · δ_RP(ln c),        c = (1 + N·e^ε)/2^k,
        δ_PQ(ε) = (1 + e^ε/N) · δ_PR(ln c'), c' = 2^k·e^ε/(N + e^ε).
    Both are exact, and both right-hand sides are compositions of sampled blocks.
    """
    size = sum(block.count for block in blocks)
    whole, others = exactly(2**size), exactly(2**size - 1)
    there = _sampled(blocks, "removed", delta * Fraction(2**size - 1, 2**size))
    left = exactly(delta) / (ONE + exponential(most) / others)
    back = _sampled(blocks, "added", Fraction(left.low))
    if there is None or back is None:
        return None
    first = logarithm_up((exponential(there) * whole).less_one() / others)
    rest = (whole / exponential(back)).less_one()
    if rest.low <= 0:
        return None
    found = max(first, logarithm_up(others / rest))
    return found if found <= most else None


def _sampled(blocks: tuple[Block, ...], side: str, delta: Fraction) -> Fraction | None:
    """Returns the ε at `delta` of all blocks, each read through a sample of rate 1/2; None if none
    is finite.

    `side`: whether the row is "removed" or "added" from the first table to the second.
    """
    parts = tuple(
        (
            Sampled(
                Fraction(1, 2),
                Curve(((Response(block.epsilon), 1),), no_failure=1 - block.delta),
                side=side,
            ),
            block.count,
        )
        for block in blocks
        if block.epsilon or block.delta
    )
    bracket = Curve(parts).epsilon(delta=delta)
    return None if bracket is None else bracket.upper
