"""The parts of two hypotheses: equal beliefs and rounded intervals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pytest

from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Exactly, equal
from dpcompose.core.hypotheses.interval import exactly, exponential, logarithm_up

F = Fraction


def sets(*named: tuple[int, ...]) -> Belief:
    """Each of these sets equally likely."""
    weight = F(1, len(named))
    return Belief(tuple((Exactly(frozenset(each)), weight) for each in named))


def test_the_same_belief_written_otherwise() -> None:
    every_one = Belief(((Between(1, 1), F(1)),))
    assert equal(every_one, sets((0,), (1,), (2,)), 3)
    assert not equal(every_one, sets((0,), (1,)), 3)
    assert not equal(every_one, sets((0,), (1,), (2,)), 4)
    # All sets of up to two of two blocks: nobody 1/4, one block 1/2, both 1/4.
    all_sets = Belief(((Between(0, 2), F(1)),))
    parts = ((Exactly(frozenset()), F(1, 4)), (Between(1, 1), F(1, 2)), (Between(2, 2), F(1, 4)))
    assert equal(all_sets, Belief(parts), 2) and equal(NONE, sets(()), 2)
    assert not equal(all_sets, every_one, 2)


def test_intervals_hold_what_they_stand_for() -> None:
    third, power = exactly(F(1, 3)), exactly(F(1, 3)).power(5)
    assert third.low <= F(1, 3) <= third.high and power.low <= F(1, 243) <= power.high
    e = exponential(F(1))
    exact = Decimal("2.71828182845904523536028747135266249775724709369995")
    assert e.low <= exact <= e.high and e.high - e.low < Decimal("1e-30")
    assert float(e.less_one().high) == pytest.approx(math.e - 1, abs=1e-15)
    assert exactly(F(1, 2)).less_one().low == 0
    up = logarithm_up(e)
    assert 1 <= up < 1 + F(1, 10**20)
    assert exactly(F(1)).at_least(exactly(F(2))).low >= 2
