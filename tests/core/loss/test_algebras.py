"""How losses combine in each notion, and what a sample makes of them, worked out by hand."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from reference.events import Step, largest_gain
from volume import seeds

from dpcompose.core.loss.algebras import (
    Pairs,
    Scalars,
    Survival,
    algebra_of,
)
from dpcompose.core.loss.amplification import mixed
from dpcompose.core.loss.pair_cost import MOST_PAIRS, frontier, walk_pairs
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion

F = Fraction
NONE = F(0)
PURE, ZCDP, PAIRS = Scalars(Notion.PURE), Scalars(Notion.ZCDP), Pairs()
#: Either a δ of 1/10, or an ε of 1.
EITHER = ((NONE, F(1, 10)), (F(1), NONE))


def test_losses_in_one_number() -> None:
    assert PURE.add([F(1), F(1, 2), NONE]) == F(3, 2) and PURE.add([]) == 0
    assert PURE.add([F(1), math.inf]) == math.inf
    assert PURE.times(F(1, 2), 3) == F(3, 2) and PURE.times(NONE, 3) == 0
    assert PURE.worst_case([F(1), F(2)]) == 2 and PURE.worst_case([]) == 0
    assert PURE.best([F(1), F(2)]) == 1 and PURE.best([]) == math.inf
    assert PURE.chain([(F(2), 3)]) == 6 and ZCDP.chain([(F(2), 3)]) == 18


def test_only_undominated_pairs_are_kept() -> None:
    pairs = [(F(2), F(1, 10)), (F(1), F(1, 10)), (F(1), F(2, 10)), (F(3), NONE), (F(4), NONE)]
    assert frontier(pairs) == ((F(1), F(1, 10)), (F(3), NONE))
    # The better δ of an ε is no better than that of a smaller ε.
    again = [(F(1), F(1, 10)), (F(2), F(2, 10)), (F(2), F(1, 10))]
    assert frontier(again) == ((F(1), F(1, 10)),)
    many = frontier((F(n), F(1, n)) for n in range(1, 100))
    assert len(many) == MOST_PAIRS and many[0] == (F(1), F(1)) and many[-1] == (F(99), F(1, 99))


def test_pairs_combine() -> None:
    # Of each of two mechanisms the one or the other.
    both = ((NONE, F(1, 5)), (F(1), F(1, 10)), (F(2), NONE))
    assert PAIRS.add([EITHER, EITHER]) == PAIRS.times(EITHER, 2) == both
    assert PAIRS.times(EITHER, 3)[1] == (F(1), F(1, 5))
    assert PAIRS.add([EITHER, ()]) == () and PAIRS.times((), 2) == ()
    assert PAIRS.add([((F(1), F(1, 10)),), EITHER]) == ((F(1), F(1, 5)), (F(2), F(1, 10)))
    other = ((F(1, 2), F(1, 20)),)
    assert PAIRS.worst_case([EITHER, other]) == ((F(1, 2), F(1, 10)), (F(1), F(1, 20)))
    assert PAIRS.worst_case([EITHER, ()]) == () and PAIRS.worst_case([]) == PAIRS.zero
    assert PAIRS.best([EITHER, other, ()]) == (EITHER[0], other[0], EITHER[1])
    assert PAIRS.key(EITHER) == (0, F(1, 10)) and PAIRS.key(()) == (math.inf, math.inf)


def test_the_chance_that_nothing_is_given_away_multiplies() -> None:
    half = Survival(F(1, 2))
    assert (half + half).no_failure == F(1, 4) and (half * 3).no_failure == F(1, 8)
    assert Survival(F(3, 4)) < half and half <= half and hash(half) == hash(Survival(F(1, 2)))
    kept = Pairs(survival=True)
    once = ((F(1), kept.delta(F(3, 5))),)
    (bound,) = kept.bounds(kept.times(once, 2))  # 3/5 + 3/5 is above 1, 1 - (2/5)² is not
    assert bound == Quantity(Notion.APPROX, F(2), F(21, 25))
    # Too long to write out: (1 - 10^-6)^(10^6), rounded down, is just below 1/e.
    no_failure = (Survival(1 - F(1, 10**6)) * 10**6).no_failure
    assert float(no_failure) == pytest.approx(math.exp(10**6 * math.log1p(-1e-6)), rel=1e-9)


def test_a_path_goes_the_better_way() -> None:
    # The δ first, before all that has an ε; where the order is not known, last.
    steps = [((F(1), NONE), 2), ((NONE, F(1, 100)), 1)]
    assert walk_pairs(steps, free=True) == (F(2), F(1, 100))
    found = walk_pairs(steps)
    assert found is not None and found[0] == 2
    assert float(found[1]) == pytest.approx(math.exp(2) / 100, rel=1e-15)
    assert walk_pairs([((NONE, F(1, 2)), 2)]) is None


def test_no_order_of_a_path_is_better_or_worse() -> None:
    rng = Random(5)
    for _ in range(100):
        steps = [(F(rng.randint(0, 9), 10), F(rng.randint(0, 9), 1000)) for _ in range(4)]
        every = []
        for order in permutations(steps):
            total, before = 0.0, 0.0
            for epsilon, delta in order:
                total += math.exp(before) * float(delta)
                before += float(epsilon)
            every.append(total)
        for free, wanted in ((True, min(every)), (False, max(every))):
            found = walk_pairs([(step, 1) for step in steps], free)
            assert found is not None and found[0] == sum(step[0] for step in steps)
            assert float(found[1]) == pytest.approx(wanted, rel=1e-14)


def test_bounds_of_a_loss() -> None:
    assert algebra_of(Notion.GDP) == Scalars(Notion.GDP) and algebra_of(Notion.APPROX) == PAIRS
    assert list(PURE.bounds(F(2))) == [Quantity(Notion.PURE, F(2))]
    assert list(PURE.bounds(math.inf)) == []
    pairs = ((NONE, F(1)), (F(1), F(1, 2)))
    assert list(PAIRS.bounds(pairs)) == [Quantity(Notion.APPROX, F(1), F(1, 2))]


# --- samples -------------------------------------------------------------------------------------

HALF = F(1, 2)
#: ln(1 + (e-1)/2)
AMPLIFIED = math.log((1 + math.e) / 2)


def test_a_sample_amplifies_epsilon_and_delta() -> None:
    assert float(PURE.amplified(F(1), HALF) or 0) == pytest.approx(AMPLIFIED, rel=1e-15)
    assert PURE.amplified(math.inf, HALF) == ZCDP.amplified(F(1), HALF) == math.inf
    pairs = PAIRS.amplified(((F(1), F(1, 10)),), HALF)
    assert pairs is not None
    ((epsilon, delta),) = pairs
    assert float(epsilon) == pytest.approx(AMPLIFIED, rel=1e-15) and delta == F(1, 20)


def test_a_row_drawn_into_both_samples_or_none_keeps_epsilon() -> None:
    assert PAIRS.coupled([(HALF, ((F(1), F(1, 10)),))]) == ((F(1), F(1, 20)),)
    kept = Pairs(survival=True)
    ((_, delta),) = kept.coupled([(HALF, ((F(1), Survival(F(9, 10))),))])
    assert delta.no_failure == F(19, 20)
    assert PURE.coupled([(HALF, F(1))]) == 1


def test_where_nothing_is_known_of_a_sample() -> None:
    assert PURE.unamplified(F(1)) == 1 and ZCDP.unamplified(NONE) == 0
    assert ZCDP.unamplified(F(1)) == math.inf and PAIRS.unamplified(EITHER) == EITHER


def test_a_replaced_row() -> None:
    # ln[(1/2 + e/2)/(1/2 + 1/2e)] = 1: less than twice the amplified ε, and than the pair's ε of 2.
    found = PURE.exchanged(F(1), F(2), HALF, 3)
    assert found is not None and 3 <= found <= 3 * (1 + F(1, 10**40))
    assert ZCDP.exchanged(F(1), F(2), HALF, 1) == math.inf
    assert PURE.exchanged(math.inf, math.inf, HALF, 1) == math.inf
    pairs = PAIRS.exchanged(((F(1), NONE),), ((F(1), F(1, 10)),), HALF, 1)
    assert pairs is not None and len(pairs) == 2
    # With b = 1 as well: ln[(1 + e)/2], of which the share (e-1)/(e+1) is by rows replaced.
    assert float(pairs[0][0]) == pytest.approx(AMPLIFIED, rel=1e-15)
    assert float(pairs[0][1]) == pytest.approx((1 + math.e) / 2 / math.e / 20, rel=1e-15)
    assert float(pairs[1][0]) == pytest.approx(1, rel=1e-15) and pairs[1][1] == 0
    thrice = PAIRS.exchanged(((F(1), NONE),), ((F(1), F(1, 10)),), HALF, 3)
    assert thrice == PAIRS.times(pairs, 3) != pairs
    # In two steps of (1, 0.1) it would be (1.240, 0.143).
    alone = PAIRS.exchanged(((F(1), F(1, 10)),), (), HALF, 1)
    assert alone is not None
    ((epsilon, delta),) = alone
    assert float(epsilon) == pytest.approx(1, rel=1e-15) and float(delta) == pytest.approx(0.1)
    # Nothing more than δ = 1, where it is kept as a chance of staying.
    kept = Pairs(survival=True)
    given = kept.exchanged(((F(1), Survival(F(1, 50))),), (), F(1), 1)
    assert given is not None and given[0][1].no_failure == 0


@pytest.mark.parametrize("seed", seeds(60, range(60), quick=20))
def test_a_replaced_row_against_linear_programs(seed: int) -> None:
    """The worst chances of one event for the laws without either row, and with one of them."""
    rng = random.Random(seed)
    for _ in range(10):
        q = rng.choice([F(1, 100), F(1, 10), F(1, 3), HALF, F(9, 10), F(1)])
        u, told = F(rng.randint(0, 40), 10), rng.choice([NONE, F(1, 10**6), F(1, 100), F(1, 10)])
        b, other = u * F(rng.randint(0, 30), 10), rng.choice([NONE, F(1, 10**6), F(1, 100)])
        once, both = ((u, told),), ((b, other),)
        stated: list[Step] = [(0, 1, u, told), (0, 2, u, told)]
        for epsilon, delta in PAIRS.exchanged(once, PAIRS.chain([(once, 2)]), q, 1) or ():
            assert _worst(epsilon, q, stated) <= float(delta) + 1e-8
        stated.append((1, 2, b, other))
        found = PAIRS.exchanged(once, both, q, 1)
        assert found
        for epsilon, delta in found:
            assert _worst(epsilon, q, stated) <= float(delta) + 1e-8
        # No more than two steps of the amplified loss, and than a row in both samples or none.
        steps = PAIRS.chain([(PAIRS.amplified(once, q), 2)])
        for e, d in (*steps, *PAIRS.coupled([(q, both)])):
            slack = 1 + F(1, 10**40)
            assert any(x <= e * slack and y <= d * slack for x, y in found)


def _worst(epsilon: F, rate: F, stated: list[Step]) -> float:
    """The δ at an ε of a row replaced below a sample; without either row is table 0."""
    q = float(rate)
    return largest_gain({0: 1 - q, 1: q}, {0: 1 - q, 2: q}, stated, epsilon)


def test_copies_of_a_pair_add_up_their_delta() -> None:
    once = ((F(1, 2), F(1, 100)),)
    assert PAIRS.times(once, 7) == PAIRS.add([once] * 7) == ((F(7, 2), F(7, 100)),)


def test_parts_that_a_sample_draws_one_at_a_time_weigh_their_deltas() -> None:
    # With chance 1/4 the first part is drawn, with 1/2 the second: Σ w·δ at the larger ε, and at
    # each ε from there on the δ that each part has by then.
    first = ((F(1), F(1, 10)), (F(2), F(1, 50)))
    second = ((F(1, 2), F(1, 5)), (F(3), NONE))
    found = PAIRS.coupled([(F(1, 4), first), (F(1, 2), second)])
    expected = {F(1): F(1, 8), F(2): F(21, 200), F(3): F(1, 200)}
    assert [epsilon for epsilon, _ in found] == list(expected)
    for epsilon, delta in found:
        assert expected[epsilon] <= delta <= expected[epsilon] * (1 + F(1, 10**9))


def test_what_a_sample_may_hold_of_two_tables() -> None:
    # Against no row drawn: e^1 and 1/10 with chance 1/4; of the other table e^½ and 1/20 with 1/2.
    nothing = (F(3, 4), ((NONE, NONE),)), (F(1, 2), ((NONE, NONE),))
    more = [nothing[0], (F(1, 4), ((F(1), F(1, 10)),))]
    fewer = [nothing[1], (F(1, 2), ((F(1, 2), F(1, 20)),))]
    found = mixed(PAIRS, more, fewer)
    assert found is not None and len(found) == 1
    epsilon, delta = found[0]
    up, down = 0.75 + 0.25 * math.e, 0.5 + 0.5 * math.exp(-0.5)
    assert float(epsilon) == pytest.approx(math.log(up / down), rel=1e-12)
    lacking = 0.5 * math.exp(-0.5) * 0.05
    assert float(delta) == pytest.approx(0.25 * 0.1 + up / down * lacking, rel=1e-12)
    # One row more and none fewer: ln(1 + q(e^ε - 1)) and qδ.
    found = mixed(PAIRS, more)
    assert found is not None and len(found) == 1
    epsilon, delta = found[0]
    assert float(epsilon) == pytest.approx(math.log(up)) and delta == F(1, 40)
