"""Two beliefs that both hold several sets possible (HBW22, section V-B, corrected).

The formula of the paper, ln of the mean of e^ε over matched pairs, is not sound here. Sound are:
any coupling with the greatest ε and the mean δ of its pairs; and for the ε of mechanisms that are
pure, the likelihoods themselves. With L_i the likelihood ratio of block i's output with the person
against without, between e^-ε_i and e^ε_i, an outcome has under a belief the likelihood Σ_b w_b
Π_{i∈b} L_i times a factor that both beliefs share. The ratio of two such sums is monotone in each
L_i by itself, so that it is greatest at a corner. If all sets are given by size, and all sizes of
the first belief are below those of the second, the ratio grows in every L_i (the distribution of
|b| grows in likelihood ratio), so that two corners suffice. Where some δ is positive, a failure of
any block has chance at most Σδ_i whatever the hypothesis (Kairouz, Oh and Viswanath 2015), so that
the same ε holds with that δ.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product

from dpcompose.core.hypotheses.beliefs import (
    Between,
    Block,
    Exactly,
    Found,
    Question,
    Rule,
    largest,
    sets_of,
    split_up,
)
from dpcompose.core.hypotheses.interval import ZERO as NOTHING
from dpcompose.core.hypotheses.interval import Interval, exactly, exponential, logarithm_up
from dpcompose.core.hypotheses.point import MOST_LOSS, against_point, beside, means
from dpcompose.core.hypotheses.sums import MOST_BLOCKS, how_many
from dpcompose.core.hypotheses.transport import best, in_order
from dpcompose.curves.rounding import ZERO

NOBODY: frozenset[int] = frozenset()
#: The most pairs of sets for the best coupling, sets that are listed, and corners.
MOST_PAIRS = 900
MOST_SETS = 400
MOST_CORNERS = 1 << 10

Sets = Mapping[frozenset[int], Fraction]


def tell_apart(question: Question) -> list[Found]:
    """Returns every known bound for two beliefs, the least ε first; none if every δ reaches 1."""
    point = against_point(question)
    if question.first.point is not None or question.second.point is not None:
        return [] if point is None else [point]
    if question.size > MOST_BLOCKS:
        return [each for each in [_all_apart(question)] if each.delta < 1]
    question = split_up(question, 64)
    found = [*_likelihoods(question), *_couplings(question)]
    kept = [each for each in found or [_all_apart(question)] if each.delta < 1]
    return sorted(kept, key=lambda each: (each.epsilon, each.delta))


def _all_apart(question: Question) -> Found:
    """Returns the bound by differential privacy for the blocks in which two sets can differ.

    Two sets differ in at most as many blocks as both have together.
    """
    both = sum(
        max(part.high for part, _ in belief.parts) for belief in (question.first, question.second)
    )
    many = min(question.size, both)
    more, add_delta = beside(question)
    by_delta = [Block(block.delta, ZERO, block.count) for block in question.blocks]
    delta = largest(by_delta, many) + add_delta
    return Found("differential privacy", largest(question.blocks, many) + more, delta)


# --- likelihoods ---------------------------------------------------------------------------------


def _likelihoods(question: Question) -> list[Found]:
    """Returns the bounds by likelihoods of outcomes, with δ = Σδ_i; none if they do not apply."""
    if question.beside[1] or any(block.epsilon > MOST_LOSS for block in question.blocks):
        # A δ outside the blocks may reveal the row, not only one bit.
        return []
    more, _ = beside(question)
    delta = sum((block.delta * block.count for block in question.blocks), ZERO)
    exact = not (delta or more)
    sizes = _by_size(question)
    if sizes is not None:
        return [Found("by size", sizes + more, delta, exact)]
    corners = _corners(question)
    if corners is not None:
        return [Found("every outcome", corners + more, delta, exact)]
    return [Found("through nobody", _through_nobody(question) + more, delta)]


def _ratio(first: Interval, second: Interval) -> Fraction:
    """Returns the larger |ln| of a ratio of two intervals in either direction, rounded up."""
    return max(logarithm_up(first / second), logarithm_up(second / first))


def _corners(question: Question) -> Fraction | None:
    """Returns ln of the greatest likelihood ratio over all corners; None if they are too many."""
    first = sets_of(question, question.first, MOST_SETS)
    second = sets_of(question, question.second, MOST_SETS)
    if first is None or second is None:
        return None
    # Blocks that are in the same sets throughout act as one.
    groups: dict[tuple[bool, ...], Fraction] = {}
    sets = list({**first, **second})
    for index, block in enumerate(question.blocks):
        key = tuple(index in each for each in sets)
        if any(key):
            groups[key] = groups.get(key, ZERO) + block.epsilon
    if len(sets) << len(groups) > MOST_CORNERS * 16 or 1 << len(groups) > MOST_CORNERS:
        return None
    high = [exponential(epsilon) for epsilon in groups.values()]
    low = [exponential(-epsilon) for epsilon in groups.values()]
    member = [[g for g, key in enumerate(groups) if key[s]] for s in range(len(sets))]
    greatest = ZERO
    weights = [(exactly(first.get(each, ZERO)), exactly(second.get(each, ZERO))) for each in sets]
    for signs in product((True, False), repeat=len(groups)):
        values = [high[g] if up else low[g] for g, up in enumerate(signs)]
        one, other = NOTHING, NOTHING
        for s, (here, there) in enumerate(weights):
            likely = exactly(1)
            for g in member[s]:
                likely = likely * values[g]
            one, other = one + here * likely, other + there * likely
        greatest = max(greatest, _ratio(one, other))
    return greatest


def _by_size(question: Question) -> Fraction | None:
    """Returns ln of the greatest likelihood ratio of two beliefs uniform over sets by size.

    None unless all sizes of one are below those of the other.
    """
    parts = [belief.parts for belief in (question.first, question.second)]
    ranges: list[Between] = []
    for each in parts:
        if len(each) != 1 or not isinstance(each[0][0], Between):
            return None
        ranges.append(each[0][0])
    ranges.sort(key=lambda each: each.low)
    if ranges[0].high >= ranges[1].low:
        return None
    sides = (question.first, question.second)
    greatest = ZERO
    for sign in (1, -1):
        one, other = (means(question.blocks, side, NOBODY, sign).total for side in sides)
        greatest = max(greatest, _ratio(one, other))
    return greatest


def _through_nobody(question: Question) -> Fraction:
    """Returns the ε by the ratio of each belief to the empty set, for both directions."""
    sides = (question.first, question.second)
    up = [means(question.blocks, side, NOBODY, 1).total for side in sides]
    down = [means(question.blocks, side, NOBODY, -1).total for side in sides]
    return max(logarithm_up(up[0] / down[1]), logarithm_up(up[1] / down[0]))


# --- couplings -----------------------------------------------------------------------------------


def _couplings(question: Question) -> list[Found]:
    """Returns the bound by a coupling of the sets of both beliefs, as a list of one; by size if too
    many.

    Empty if that does not apply either.
    """
    first = sets_of(question, question.first, MOST_SETS)
    second = sets_of(question, question.second, MOST_SETS)
    if first is None or second is None:
        nested = _nested(question)
        return [] if nested is None else [nested]
    blocks = question.blocks
    add_epsilon, add_delta = beside(question)
    once_epsilon, once_delta = question.beside
    order = [_sorted(question, each) for each in (first, second)]

    def cost(i: int, j: int) -> tuple[Fraction, Fraction]:
        """Returns the ε and δ between the i-th set of blocks of one hypothesis and the j-th of the
        other."""
        one, other = order[0][i], order[1][j]
        apart = [blocks[index] for index in one ^ other]
        epsilon = sum((block.epsilon for block in apart), ZERO)
        delta = sum((block.delta for block in apart), ZERO)
        if one and other and one != other:
            return epsilon + add_epsilon, delta + add_delta
        if one != other:
            return epsilon + once_epsilon, delta + once_delta
        return ZERO, ZERO

    weights = [
        [sets[each] for each in listed] for sets, listed in zip((first, second), order, strict=True)
    ]
    rule: Rule = "exact transport" if len(first) * len(second) <= MOST_PAIRS else "Algorithm 3"
    match = best if rule == "exact transport" else in_order
    coupling = match(weights[0], weights[1], cost)
    return [Found(rule, coupling.loss, coupling.delta, pairs=len(coupling.pairs))]


def _sorted(question: Question, sets: Sets) -> list[frozenset[int]]:
    """Returns the sets by their total ε, so that matching in order pairs similar sets."""

    def key(each: frozenset[int]) -> tuple[Fraction, list[int]]:
        return sum((question.blocks[i].epsilon for i in each), ZERO), sorted(each)

    return sorted(sets, key=key)


def _nested(question: Question) -> Found | None:
    """Returns the bound by a coupling of sizes, matched in order; None if it does not apply.

    The smaller set of each pair is a subset of the larger one, uniform given both sizes.
    """
    parts = [part for belief in (question.first, question.second) for part, _ in belief.parts]
    if sum(part.high - part.low + 1 for part in parts if isinstance(part, Between)) > MOST_SETS:
        return None
    sizes: list[list[tuple[int, Fraction]]] = []
    for belief in (question.first, question.second):
        found: dict[int, Fraction] = {}
        for part, weight in belief.parts:
            if isinstance(part, Exactly):
                return None
            number = how_many(question.size, part.low, part.high)
            for size in range(part.low, part.high + 1):
                share = Fraction(how_many(question.size, size, size), number)
                found[size] = found.get(size, ZERO) + weight * share
        sizes.append(sorted(found.items()))
    add_epsilon, add_delta = beside(question)
    # With every pair nested, one given block is in the difference of |j - j'| of all blocks.
    total = sum((block.delta * block.count for block in question.blocks), ZERO)

    def cost(i: int, j: int) -> tuple[Fraction, Fraction]:
        """Returns the ε and δ between the i-th set size of one hypothesis and the j-th of the
        other."""
        apart = abs(sizes[0][i][0] - sizes[1][j][0])
        if not apart:
            return ZERO, ZERO
        return (
            largest(question.blocks, apart) + add_epsilon,
            total * Fraction(apart, question.size) + add_delta,
        )

    coupling = in_order([w for _, w in sizes[0]], [w for _, w in sizes[1]], cost)
    return Found("nested sets", coupling.loss, coupling.delta, pairs=len(coupling.pairs))
