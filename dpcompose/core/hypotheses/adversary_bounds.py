"""Bounds for telling two beliefs apart (HBW22, section V-B, corrected).

One set of blocks against a belief. With d_b the loss between the two cases when b is true, and the
weights w_b: an outcome is under the belief at most Σ w_b e^(d_b) times as likely, and at least Σ
w_b e^(-d_b) times. The first factor is the farther one from 1, since 1/Σ w_b e^(-d_b) ≤ Σ w_b
e^(d_b). With δ_b for each b: P_b(S) ≤ e^(d_b) P(S) + δ_b adds up to δ = Σ w_b δ_b in one direction;
in the other P(S) ≤ e^(d_b) P_b(S) + δ_b gives, multiplied by w_b e^(-d_b) and added up, δ = Σ w_b
e^(-d_b) δ_b / Σ w_b e^(-d_b). The paper has only the first.

Two beliefs that both hold several sets possible. The formula of the paper, ln of the mean of e^ε
over matched pairs, is not sound here. Sound are: any coupling with the greatest ε and the mean δ of
its pairs; and for the ε of mechanisms that are pure, the likelihoods themselves. With L_i the
likelihood ratio of block i's output with the person against without, between e^-ε_i and e^ε_i, an
outcome has under a belief the likelihood Σ_b w_b Π_{i∈b} L_i times a factor that both beliefs
share. The ratio of two such sums is monotone in each L_i by itself, so that it is greatest at a
corner. If all sets are given by size, and all sizes of the first belief are below those of the
second, the ratio grows in every L_i (the distribution of |b| grows in likelihood ratio), so that
two corners suffice. The mechanisms outside the blocks, of ε_0 in all, read the person's row under
every set but the empty one. The row may be another one under each set, so that an outcome has the
likelihood Σ_b w_b M_b Π_{i∈b} L_i with an M_b of its own, the same under both beliefs, between
e^-ε_0 and e^ε_0, and 1 for the empty set. A ratio of two such sums is greatest where M_b is largest
on the sets of which the first belief holds the larger share compared with the second, up to some
share, and least on the others. Where some δ is positive, a failure of any block has chance at most
Σδ_i whatever the hypothesis (Kairouz, Oh and Viswanath 2015), so that the same ε holds with that δ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dpcompose.core.hypotheses.beliefs import (
    Belief,
    Between,
    Block,
    Exactly,
    Found,
    Question,
    Rule,
    delta_of,
    epsilon_of,
    largest,
    sets_of,
    split_up,
)
from dpcompose.core.hypotheses.interval import ZERO as NIL
from dpcompose.core.hypotheses.interval import Interval, exactly, exponential, logarithm_up
from dpcompose.core.hypotheses.sums import MOST_BLOCKS, Sums, Term, how_many, subset_sums
from dpcompose.curves.rounding import ZERO

#: The largest loss that is averaged; of larger ones the maximum over all cases is the bound.
MOST_LOSS = Fraction(10**9)
#: The most blocks whose sets are counted.
MOST_COUNTED = 10**6
#: A δ whose denominator needs more bits than this is rounded up.
MAX_BITS = 512
#: A share of sets whose denominator has more bits than this is rounded up.
MOST_BITS = 20_000


def means(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int], sign: int) -> Sums:
    """Returns the means over a belief's sets b of e^(sign·d_b) and of e^(sign·d_b)·δ_b (`marked`).

    (d_b, δ_b) is the loss between the person being in the blocks b and in the blocks `away`. The
    mean with δ_b is an upper bound where `away` meets sets that are given by their size.
    """
    loss, marked = NIL, NIL
    for part, weight in belief.parts:
        if isinstance(part, Exactly):
            apart = [blocks[i] for i in part.blocks ^ away]
            one = exactly(weight) * exponential(sign * epsilon_of(apart))
            loss = loss + one
            marked = marked + one * exactly(delta_of(apart))
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
        factor = factor * exponential(sign * epsilon_of(near))
        sums = subset_sums(terms, part.low, part.high)
        loss = loss + factor * sums.total
        # A block in both `away` and b would not count; counting it is an upper bound.
        near_delta = exactly(delta_of(near))
        marked = marked + factor * (sums.marked + sums.total * near_delta)
    return Sums(loss, marked)


def mean_delta(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int]) -> Fraction:
    """Returns the mean over a belief's sets b of δ_b, the δ between b and `away`.

    Exact, or an upper bound where `away` meets sets given by their size.
    """
    size = sum(block.count for block in blocks)
    total = ZERO
    for part, weight in belief.parts:
        if isinstance(part, Exactly):
            total += weight * delta_of(blocks[i] for i in part.blocks ^ away)
            continue
        others = delta_of(block for i, block in enumerate(blocks) if i not in away)
        # The chance that one given block is among them, rounded up where it is very long.
        some = how_many(size - 1, max(part.low, 1) - 1, part.high - 1) if part.high else 0
        whole = how_many(size, part.low, part.high)
        if whole.bit_length() > MOST_BITS:
            share = (exactly(some) / exactly(whole)).ceiling
        else:
            share = Fraction(some, whole)
        total += weight * (share * others + delta_of(blocks[i] for i in away))
    return total


def _countable(question: Question, belief: Belief) -> bool:
    """Returns whether there are few enough blocks to compute sums over the sets of a belief."""
    size = question.size
    if size <= MOST_BLOCKS:
        return True
    ranges = [part for part, _ in belief.parts if isinstance(part, Between)]
    return size <= MOST_COUNTED and all(p.low <= 1 and p.high >= size for p in ranges)


def farthest(blocks: tuple[Block, ...], belief: Belief, away: frozenset[int]) -> Fraction:
    """Returns an upper bound of the largest d_b, the ε between a set b of the belief and `away`."""
    found = ZERO
    rest = [block for i, block in enumerate(blocks) if i not in away]
    for part, _ in belief.parts:
        if isinstance(part, Exactly):
            found = max(found, epsilon_of(blocks[i] for i in part.blocks ^ away))
        elif isinstance(part, Between):
            found = max(found, largest(rest, part.high) + epsilon_of(blocks[i] for i in away))
    return found


def beside(question: Question) -> tuple[Fraction, Fraction]:
    """Returns the (ε, δ) of the mechanisms outside the blocks, for telling the two beliefs apart.

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
    """Returns the bound for two beliefs of which one is a single set; None if neither is, or if δ
    reaches 1."""
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
        rare = delta_of(blocks)
    delta = rare + add_delta
    if delta.denominator.bit_length() > MAX_BITS:
        delta = exactly(delta).ceiling
    if delta >= 1:
        return None
    attained = attained and not (add_epsilon or delta)
    return Found(rule, epsilon + add_epsilon, delta, attained)


# ---------------------------------------------------------------------------------------------
# Two beliefs of several sets


NOBODY: frozenset[int] = frozenset()
#: The most pairs of sets for the best coupling, sets that are listed, and corners.
MOST_PAIRS = 900
MOST_SETS = 400
MOST_CORNERS = 1 << 10

Sets = Mapping[frozenset[int], Fraction]


def tell_apart(question: Question) -> list[Found]:
    """Returns every known (ε, δ) for telling two beliefs apart, the least ε first; none if every δ
    reaches 1."""
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
    """Returns the bounds on what an adversary learns that follow from the likelihood ratios of all
    outcomes, with the sum of the δ of all blocks as their δ; an empty list if they do not apply."""
    if question.beside[1] or any(block.epsilon > MOST_LOSS for block in question.blocks):
        # A δ outside the blocks may reveal the row, not only one bit.
        return []
    more, _ = beside(question)
    delta = delta_of(question.blocks)
    exact = not (delta or more)
    sizes = _by_size(question)
    found = [] if sizes is None else [Found("by size", sizes + more, delta, exact)]
    if not found or more:
        corners = _corners(question)
        found += [] if corners is None else [Found("every outcome", corners, delta, exact)]
    if found:
        return found
    return [Found("through nobody", _through_nobody(question) + more, delta)]


def _ratio(first: Interval, second: Interval) -> Fraction:
    """Returns |ln(first/second)| at its largest over two intervals, rounded up."""
    return max(logarithm_up(first / second), logarithm_up(second / first))


def _corners(question: Question) -> Fraction | None:
    """Returns ln of the greatest likelihood ratio of the beliefs over all corners, mechanisms
    outside the blocks included (see the module).

    None if they are too many.
    """
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
    more, flat = question.beside[0], ZERO
    if more and 2 * len(sets) * (len(sets) + 1) << len(groups) > MOST_CORNERS * 16:
        more, flat = ZERO, beside(question)[0]  # too many ways: it is added
    ways = _outside(sets, first, second, more)
    for signs in product((True, False), repeat=len(groups)):
        values = [high[g] if up else low[g] for g, up in enumerate(signs)]
        likely = [exactly(1)] * len(sets)
        for s, inside in enumerate(member):
            for g in inside:
                likely[s] = likely[s] * values[g]
        for outside in ways:
            one, other = NIL, NIL
            for (here, there), inner, outer in zip(weights, likely, outside, strict=True):
                one, other = one + here * inner * outer, other + there * inner * outer
            greatest = max(greatest, _ratio(one, other))
    return greatest + flat


def _outside(
    sets: Sequence[frozenset[int]], first: Sets, second: Sets, epsilon: Fraction
) -> list[list[Interval]]:
    """Returns the factors of the sets by mechanisms outside the blocks, of `epsilon` in all, in
    each way that may be the worst: large on the sets with the largest shares, or the reverse."""
    if not epsilon:
        return [[exactly(1)] * len(sets)]
    high, low = exponential(epsilon), exponential(-epsilon)
    order = sorted(
        (s for s, each in enumerate(sets) if each),
        key=lambda s: (
            first.get(sets[s], ZERO) / (first.get(sets[s], ZERO) + second.get(sets[s], ZERO))
        ),
    )
    ways: list[list[Interval]] = []
    for many in range(len(order) + 1):
        for up, down in ((high, low), (low, high)):
            factors = [exactly(1)] * len(sets)
            for place, s in enumerate(order):
                factors[s] = up if place < many else down
            ways.append(factors)
    return ways


def _by_size(question: Question) -> Fraction | None:
    """Returns ln of the greatest likelihood ratio of two beliefs uniform over sets of given sizes.

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
    """Returns the ε by way of the empty set: of each belief against it, in both directions, added
    up."""
    sides = (question.first, question.second)
    up = [means(question.blocks, side, NOBODY, 1).total for side in sides]
    down = [means(question.blocks, side, NOBODY, -1).total for side in sides]
    return max(logarithm_up(up[0] / down[1]), logarithm_up(up[1] / down[0]))


# --- couplings -----------------------------------------------------------------------------------


def _couplings(question: Question) -> list[Found]:
    """Returns the bound by a coupling of the sets of both beliefs, as a list of one; of set sizes
    if too many.

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
        """Returns the ε and δ between the i-th set of one hypothesis and the j-th of the other."""
        one, other = order[0][i], order[1][j]
        apart = [blocks[index] for index in one ^ other]
        epsilon, delta = epsilon_of(apart), delta_of(apart)
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
    """Returns the bound by a coupling of set sizes, matched in order; None if it does not apply.

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
    total = delta_of(question.blocks)

    def cost(i: int, j: int) -> tuple[Fraction, Fraction]:
        """Returns the ε and δ between the i-th set size of one and the j-th of the other."""
        apart = abs(sizes[0][i][0] - sizes[1][j][0])
        if not apart:
            return ZERO, ZERO
        return (
            largest(question.blocks, apart) + add_epsilon,
            total * Fraction(apart, question.size) + add_delta,
        )

    coupling = in_order([w for _, w in sizes[0]], [w for _, w in sizes[1]], cost)
    return Found("nested sets", coupling.loss, coupling.delta, pairs=len(coupling.pairs))


# ---------------------------------------------------------------------------------------------
# Couplings of two weighted lists


#: Returns the (loss, δ) between an item of the first list and one of the second, by index.
Cost = Callable[[int, int], tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class Coupling:
    """A coupling: pairs (i, j, weight matched), with their greatest loss and their mean δ."""

    pairs: tuple[tuple[int, int, Fraction], ...]
    loss: Fraction
    delta: Fraction


def coupled(pairs: Sequence[tuple[int, int, Fraction]], cost: Cost) -> Coupling:
    """Returns the coupling of the pairs with a positive weight, with its loss and δ."""
    used = [(i, j, weight) for i, j, weight in pairs if weight]
    loss = max((cost(i, j)[0] for i, j, _ in used), default=ZERO)
    delta = sum((weight * cost(i, j)[1] for i, j, weight in used), ZERO)
    return Coupling(tuple(used), loss, delta)


def in_order(first: Sequence[Fraction], second: Sequence[Fraction], cost: Cost) -> Coupling:
    """Returns the coupling of two lists of weights, `first` and `second`, by Algorithm 3 of HBW22.

    `cost`: returns the (ε, δ) between two items. It matches the next items of both lists, and
    splits the heavier one. The weights of both lists must have one sum.
    """
    pairs: list[tuple[int, int, Fraction]] = []
    i = j = 0
    left, right = first[0], second[0]
    while True:
        taken = min(left, right)
        pairs.append((i, j, taken))
        left, right = left - taken, right - taken
        if not left:
            i += 1
            if i == len(first):
                break
            left = first[i]
        if not right:
            j += 1
            if j == len(second):
                break
            right = second[j]
    return coupled(pairs, cost)


def best(first: Sequence[Fraction], second: Sequence[Fraction], cost: Cost) -> Coupling:
    """Returns the coupling of two lists of weights with the least greatest ε and, of those, the
    least mean δ.

    `first`, `second`: the lists; `cost`: returns the (ε, δ) between two items. A coupling is a
    transport problem. Whether a greatest loss is feasible is a maximum flow along the pairs within
    it; the least mean δ is then a flow of minimum cost, by shortest augmenting paths in whole
    numbers.
    """
    known = {(i, j): cost(i, j) for i in range(len(first)) for j in range(len(second))}
    losses = sorted({loss for loss, _ in known.values()})
    unit = math.lcm(*(weight.denominator for weight in (*first, *second)))
    price = math.lcm(*(delta.denominator for _, delta in known.values()))
    left, right = ([int(weight * unit) for weight in each] for each in (first, second))
    low, high = 0, len(losses) - 1
    while low < high:
        middle = (low + high) // 2
        within = {pair: 0 for pair, each in known.items() if each[0] <= losses[middle]}
        if _flow(left, right, within) is None:
            low = middle + 1
        else:
            high = middle
    within = {pair: int(each[1] * price) for pair, each in known.items() if each[0] <= losses[low]}
    found = _flow(left, right, within)
    assert found is not None  # the greatest loss of all pairs is always enough
    return coupled([(i, j, Fraction(amount, unit)) for (i, j), amount in found.items()], cost)


def _flow(
    first: Sequence[int], second: Sequence[int], cost: dict[tuple[int, int], int]
) -> dict[tuple[int, int], int] | None:
    """Returns a flow of least cost from the items `first` to the items `second`; None if none moves
    all mass.

    `cost`: of each pair along which mass may move.
    """
    left, right = list(first), list(second)
    moved = dict.fromkeys(cost, 0)
    while any(left):
        path = _cheapest(left, right, cost, moved)
        if path is None:
            return None
        start, end = path[0][0], path[-1][1]
        amount = min(left[start], right[end])
        for step, (i, j) in enumerate(path):
            if step % 2:
                amount = min(amount, moved[i, j])
        for step, (i, j) in enumerate(path):
            moved[i, j] += -amount if step % 2 else amount
        left[start] -= amount
        right[end] -= amount
    return moved


def _cheapest(
    left: Sequence[int],
    right: Sequence[int],
    cost: dict[tuple[int, int], int],
    moved: dict[tuple[int, int], int],
) -> list[tuple[int, int]] | None:
    """Returns the cheapest augmenting path of a flow, None if there is none.

    It leads from an item with mass in `left` to one with room in `right`. Pairs alternate: mass is
    added to the first, third, … and taken back from the others, where it has `moved`. `cost`: of
    each pair.
    """
    at: dict[tuple[bool, int], int] = {(True, i): 0 for i, each in enumerate(left) if each}
    came: dict[tuple[bool, int], tuple[int, int]] = {}
    changed = True
    while changed:
        changed = False
        for (i, j), price in cost.items():
            here, there = at.get((True, i)), at.get((False, j))
            if here is not None and (there is None or here + price < there):
                at[False, j], came[False, j] = here + price, (i, j)
                there, changed = here + price, True
            if moved[i, j] and there is not None and (here is None or there - price < here):
                at[True, i], came[True, i] = there - price, (i, j)
                changed = True
    ends = [(at[False, j], j) for j, room in enumerate(right) if room and (False, j) in at]
    if not ends:
        return None
    node: tuple[bool, int] = (False, min(ends)[1])
    path: list[tuple[int, int]] = []
    while node in came:
        pair = came[node]
        path.append(pair)
        node = (True, pair[0]) if not node[0] else (False, pair[1])
    return path[::-1]
