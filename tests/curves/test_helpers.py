"""Rounding between numbers of different kinds, the valley of a function, the greatest loss."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from dpcompose.curves.backends.closed_forms.gaussian_profile import gaussian_delta
from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss, greatest_sum
from dpcompose.curves.backends.renyi.valley import valley
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    Points,
    PoissonReplaceOne,
    Response,
    Sampled,
)
from dpcompose.curves.rounding import doubles as rounding

F = Fraction


def test_fractions_of_160_bits_on_the_sure_side() -> None:
    third = F(1, 3)
    low, high = rounding.shorten(third, up=False), rounding.shorten(third, up=True)
    assert low < third < high and high - low < third / 2**158
    assert rounding.shorten(-third, up=True) == -low
    assert rounding.shorten(F(5, 8), up=True) == F(5, 8)
    long = F(2**300 + 1)
    assert rounding.shorten(long, up=False) == 2**300 < long < rounding.shorten(long, up=True)


def test_numbers_of_mpmath_are_exact_fractions() -> None:
    with mp.workdps(30):
        for value in (F(3, 8), F(-5), F(2**80), F(0)):
            assert rounding.exact_of(rounding.mpf_of(value)) == value
        assert rounding.up(mpf(3), F(1, 2**60)) == 3 * (1 + F(1, 2**60))
        assert rounding.down(mpf(3), F(1, 2)) == F(3, 2) and rounding.down(mpf(3), F(2)) == 0


def test_what_is_too_small_to_be_written_out_is_told_as_something_small() -> None:
    """e^-10^14 as a fraction would have some 10^14 digits."""
    with mp.workdps(30):
        tiny, less = mp.exp(mpf(-(10**14))), mp.exp(mpf(-20_790))
        assert rounding.down(tiny, F(1, 2)) == 0
        assert 0 < rounding.up(tiny, F(1, 2)) <= rounding.up(less, F(0)) < F(1, 10**9000)
        assert rounding.exact_of(less) < rounding.up(less, F(1, 10**9))
    for epsilon in (F(1, 2), F(1), F(5)):
        found = gaussian_delta(F(1, 10**14), epsilon)
        assert found.lower == 0 < found.upper < F(1, 10**9000)


def test_logarithms_of_any_size() -> None:
    assert rounding.log_of(F(10**400)) == pytest.approx(400 * math.log(10), rel=1e-15)
    assert rounding.log_of(1 + F(1, 10**20)) == pytest.approx(1e-20, rel=1e-15)
    assert rounding.float_of(F(1, 10**400)) == 0
    with pytest.raises(OverflowError):
        rounding.float_of(F(10**400))
    assert [rounding.digits_of(F(10) ** n) for n in (3, -3)] == [3, -3]


@pytest.mark.parametrize("start", [-30.0, 0.0, 2.5, 40.0])
def test_the_valley_is_found_from_anywhere(start: float) -> None:
    found = valley(lambda x: (x - 3) ** 2 + 1, start, -50.0, 50.0)
    assert found == pytest.approx(3, abs=1e-6)
    assert valley(lambda x: math.exp(x) - 2 * x, start, -50.0, 50.0) == pytest.approx(
        math.log(2), abs=1e-6
    )


def test_a_valley_at_an_end() -> None:
    assert valley(lambda x: x, 0.0, -8.0, 8.0) == pytest.approx(-8, abs=1e-6)
    assert valley(lambda x: -x, 0.0, -8.0, 8.0) == pytest.approx(8, abs=1e-6)


ONE = Curve(((Response(F(1)), 1),))
LEAK = Curve(((Response(F(1)), 1),), no_failure=F(1, 2))


def test_the_greatest_loss() -> None:
    assert greatest_sum(Curve(((Response(F(1)), 3), (Response(F(1, 2)), 2)))) == 4
    assert greatest_sum(Curve(gaussian=F(1))) is None
    assert greatest_loss(Concentrated(F(1))) is None
    assert greatest_loss(Grouped(ONE, 3)) == 3 and greatest_loss(Grouped(LEAK, 3)) is None
    points = ((F(1), F(1, 10)), (F(2), F(0)), (F(3), F(0)))
    assert greatest_loss(Points(points)) == 2 and greatest_loss(Points(points[:1])) is None


def test_the_greatest_loss_of_a_sample() -> None:
    found = greatest_loss(Sampled(F(1, 2), ONE))
    assert found is not None
    assert float(found) == pytest.approx(math.log((1 + math.e) / 2), rel=1e-15)
    assert greatest_loss(Sampled(F(1, 2), LEAK)) is None
    # ln[(1/2 + e/2)/(1/2 + 1/2e)] = 1, and no more than the loss of both ends.
    both = Curve(((Response(F(2)), 1),))
    found = greatest_loss(PoissonReplaceOne(F(1, 2), ONE, both))
    assert found is not None and 1 <= found <= 1 + F(1, 10**39)
    assert greatest_loss(PoissonReplaceOne(F(1, 2), LEAK, both)) == 2  # of one end nothing is known
