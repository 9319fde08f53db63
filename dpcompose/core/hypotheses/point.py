"""The bound of one set of blocks against a belief (HBW22, section V-B, with δ corrected).

With d_b the loss between the two cases when b is true, and the weights w_b: an outcome is under the
belief at most Σ w_b e^(d_b) times as likely, and at least Σ w_b e^(-d_b) times. The first factor is
the farther one from 1, since 1/Σ w_b e^(-d_b) ≤ Σ w_b e^(d_b). With δ_b for each b: P_b(S) ≤
e^(d_b) P(S) + δ_b adds up to δ = Σ w_b δ_b in one direction; in the other P(S) ≤ e^(d_b) P_b(S) +
δ_b gives, multiplied by w_b e^(-d_b) and added up, δ = Σ w_b e^(-d_b) δ_b / Σ w_b e^(-d_b). The
paper has only the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpcompose.core.hypotheses.beliefs import (
    Belief,
    Between,
    Block,
    Exactly,
    Found,
    Question,
    Rule,
    largest,
)
from dpcompose.core.hypotheses.interval import ZERO, exactly, exponential, logarithm_up
from dpcompose.core.hypotheses.sums import MOST_BLOCKS, Sums, Term, how_many, subset_sums

NOTHING = Fraction(0)
#: The largest loss that is averaged; of larger ones the maximum over all cases is the bound.
MOST_LOSS = Fraction(10**9)
#: The most blocks whose sets are counted.
MOST_COUNTED = 10**6
#: A δ whose denominator needs more bits than this is rounded up.
MAX_BITS = 512
#: A share of sets whose denominator has more bits than this is rounded up.
MOST_BITS = 20_000


def means(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int], sign: int) -> Sums:
    """Returns the means of e^(sign·d_b) and of e^(sign·d_b)·δ_b (`marked`) over a belief.

    (d_b, δ_b) is the loss between the sets b and `away`. The mean with δ_b is an upper bound where
    `away` meets sets that are given by their size.
    """
    loss, marked = ZERO, ZERO
    for part, weight in belief.parts:
        if isinstance(part, Exactly):
            apart = [blocks[i] for i in part.blocks ^ away]
            one = exactly(weight) * exponential(sign * _epsilon(apart))
            loss = loss + one
            marked = marked + one * exactly(_delta(apart))
            continue
        terms = [
            Term(-sign * block.epsilon, block.count)
            if i in away
            else Term(sign * block.epsilon, block.count, block.delta)
            for i, block in enumerate(blocks)
        ]
        near = [blocks[i] for i in away]
        size = sum(block.count for block in blocks)
        factor = exactly(weight / how_many(size, part.low, part.high))
        factor = factor * exponential(sign * _epsilon(near))
        sums = subset_sums(terms, part.low, part.high)
        loss = loss + factor * sums.total
        # A block in both `away` and b would not count; counting it is an upper bound.
        near_delta = exactly(_delta(near))
        marked = marked + factor * (sums.marked + sums.total * near_delta)
    return Sums(loss, marked)


def mean_delta(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int]) -> Fraction:
    """Returns E[δ_b]: exact, or an upper bound where `away` meets sets given by their size."""
    size = sum(block.count for block in blocks)
    total = NOTHING
    for part, weight in belief.parts:
        if isinstance(part, Exactly):
            total += weight * _delta(blocks[i] for i in part.blocks ^ away)
            continue
        others = _delta(block for i, block in enumerate(blocks) if i not in away)
        # The chance that one given block is among them, rounded up where it is very long.
        some = how_many(size - 1, max(part.low, 1) - 1, part.high - 1) if part.high else 0
        whole = how_many(size, part.low, part.high)
        if whole.bit_length() > MOST_BITS:
            share = (exactly(some) / exactly(whole)).ceiling
        else:
            share = Fraction(some, whole)
        total += weight * (share * others + _delta(blocks[i] for i in away))
    return total


def _epsilon(blocks: Iterable[Block]) -> Fraction:
    """Returns the total ε of blocks."""
    return sum((block.epsilon * block.count for block in blocks), NOTHING)


def _delta(blocks: Iterable[Block]) -> Fraction:
    """Returns the total δ of blocks."""
    return sum((block.delta * block.count for block in blocks), NOTHING)


def _countable(question: Question, belief: Belief) -> bool:
    """Returns whether there are few enough blocks for sums over the sets of a belief."""
    size = question.size
    if size <= MOST_BLOCKS:
        return True
    ranges = [part for part, _ in belief.parts if isinstance(part, Between)]
    return size <= MOST_COUNTED and all(p.low <= 1 and p.high >= size for p in ranges)


def farthest(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int]) -> Fraction:
    """Returns an upper bound of the largest d_b, the loss between the sets b and `away`."""
    found = NOTHING
    rest = [block for i, block in enumerate(blocks) if i not in away]
    for part, _ in belief.parts:
        if isinstance(part, Exactly):
            found = max(found, _epsilon(blocks[i] for i in part.blocks ^ away))
        elif isinstance(part, Between):
            found = max(found, largest(rest, part.high) + _epsilon(blocks[i] for i in away))
    return found


def beside(question: Question) -> tuple[Fraction, Fraction]:
    """Returns the (ε, δ) of the mechanisms outside the blocks, for the two beliefs.

    They count once if one belief is that of an absent person. Between two cases in which the person
    is present the row may differ: the row then counts as removed and added, two steps (GMPS24,
    VI.3).
    """
    epsilon, delta = question.beside
    alone = any(not each.present for each in (question.first, question.second))
    if alone:
        return epsilon, delta
    if not delta or epsilon > MOST_LOSS:
        return 2 * epsilon, Fraction(bool(delta))
    return 2 * epsilon, delta * (1 + exponential(epsilon).ceiling)


def against_point(question: Question) -> Found | None:
    """Returns the bound if one belief is a single set; None if neither is, or if δ reaches 1."""
    sides = [(question.first, question.second), (question.second, question.first)]
    # Of two points the empty set comes first: its products need no inversion.
    sides.sort(key=lambda side: side[0].point != frozenset())
    side, belief = next((each for each in sides if each[0].point is not None), sides[0])
    away = side.point
    if away is None:
        return None
    blocks = question.blocks
    add_epsilon, add_delta = beside(question)
    cap = farthest(blocks, belief, away)
    rule: Rule = "point mass"
    try:
        if any(block.epsilon > MOST_LOSS for block in blocks) or not _countable(question, belief):
            raise OverflowError("too large to be multiplied out")
        rare = mean_delta(blocks, belief, away)
        epsilon = min(cap, logarithm_up(means(blocks, belief, away, 1).total))
        attained = epsilon != cap or len(belief.parts) == 1
        # Of equal blocks d_b and δ_b grow together: weights e^(-d_b) only lower the mean δ_b.
        if rare and (away or len({(block.epsilon, block.delta) for block in blocks}) > 1):
            low = means(blocks, belief, away, -1)
            rare = max(rare, (low.marked / low.total).ceiling)
    except OverflowError:
        # Every single case holds with its own ε and δ.
        rule, epsilon, attained = "differential privacy", cap, False
        rare = sum((block.delta * block.count for block in blocks), NOTHING)
    delta = rare + add_delta
    if delta.denominator.bit_length() > MAX_BITS:
        delta = exactly(delta).ceiling
    if delta >= 1:
        return None
    attained = attained and not (add_epsilon or delta)
    return Found(rule, epsilon + add_epsilon, delta, attained)
