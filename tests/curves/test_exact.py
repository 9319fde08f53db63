"""Irrational results: never below the truth in 60 digits, above it by next to nothing."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from mpmath import mp, mpf

from dpcompose.curves.rounding import exact

F = Fraction
#: What a rounded value may be above the true one, relatively.
NEAR = F(1, 10**40)


def above(found: Fraction, truth: Any) -> None:
    """Check that `found` is the truth, given in 60 digits, rounded up."""
    with mp.workdps(60):
        value = mpf(found.numerator) / found.denominator
        assert truth * (1 - mpf(10) ** -55) <= value <= truth * (1 + mpf(10) ** -40)


def test_a_rational_root_is_exact_and_no_other_is() -> None:
    with exact.RoundingWatch() as watch:
        assert exact.sqrt_up(F(9, 4)) == F(3, 2)
        assert exact.is_square(F(9, 4)) and not exact.is_square(F(9, 8))
        assert not watch.rounded
        root = exact.sqrt_up(F(2))
        assert watch.rounded
    assert 2 <= root * root < 2 * (1 + 2 * NEAR)


def test_powers_of_e() -> None:
    assert exact.exp_up(F(0)) == 1
    with mp.workdps(60):
        for x in (F(1), F(-3), F(700), F(-9000), F(1, 10**30)):
            above(exact.exp_up(x), mp.exp(mpf(x.numerator) / x.denominator))
    with pytest.raises(OverflowError):
        exact.exp_up(F(10_001))


def test_sums_of_powers_of_e() -> None:
    assert exact.geometric_up(F(0), 7) == 7 and exact.geometric_up(F(5), 1) == 1
    with mp.workdps(60):
        above(exact.geometric_up(F(1), 3), 1 + mp.e + mp.e**2)
        above(exact.geometric_up(F(1, 2), 40), mp.fsum(mp.exp(mpf(i) / 2) for i in range(40)))
    # 1 + e^x + … + e^(999x) = 1000 + (0 + 1 + … + 999)·x + …, where e^x - 1 cancels.
    tiny = F(1, 10**60)
    found = exact.geometric_up(tiny, 1000)
    assert 1000 + 499500 * tiny <= found <= (1000 + 499501 * tiny) * (1 + NEAR)
    with pytest.raises(OverflowError):
        exact.geometric_up(F(10), 1002)


def test_tanh() -> None:
    with mp.workdps(60):
        above(exact.tanh_up(F(1)), mp.tanh(1))
        above(exact.tanh_up(F(90)), mp.tanh(90))
    assert exact.tanh_up(F(0)) == 0 and exact.tanh_up(F(201)) == 1
    tiny = F(1, 10**60)
    assert tiny - tiny**3 <= exact.tanh_up(tiny) <= tiny


@pytest.mark.parametrize("epsilon", ["1/100", "1", "8", "30"])
def test_the_mu_of_a_pure_mechanism(epsilon: str) -> None:
    found = exact.gaussian_mean_up(F(epsilon))
    # Of the tail 1/(1+e^ε), since e^ε/(1+e^ε) is 1 in doubles.
    truth = -2 * NormalDist().inv_cdf(1 / (1 + math.exp(F(epsilon))))
    assert float(found) == pytest.approx(truth, rel=1e-7)


def test_the_mu_of_no_loss_and_of_a_huge_one() -> None:
    assert exact.gaussian_mean_up(F(0)) == 0
    # Beyond 10^15 it is 2√(2ε): here 2·√(4·10^20) = 4·10^10.
    assert exact.gaussian_mean_up(F(2 * 10**20)) == 4 * 10**10


def test_long_fractions_become_short_on_the_sure_side() -> None:
    long = F(2, 3**6000)
    up, down = exact.capped(long), exact.capped_down(long)
    assert down < long < up and up - down < long * F(1, 2**150)
    assert up.denominator & (up.denominator - 1) == 0  # a power of two
    assert exact.capped(F(1, 3)) == exact.capped_down(F(1, 3)) == F(1, 3)


def test_doubles_are_rounded_up() -> None:
    assert exact.float_up(F(1, 2)) == 0.5
    third = exact.float_up(F(1, 3))
    assert F(math.nextafter(third, 0)) < F(1, 3) < F(third)
    with pytest.raises(OverflowError):
        exact.float_up(F(10**400))


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (F(0), 3, "0"),
        (F(1, 3), 3, "0.334"),
        (F(1, 4), 3, "0.25"),
        (F(123_401), 4, "123500"),
        (F(99_995, 100), 4, "1000"),
        (F(1, 10**5), 3, "0.00001"),
        (F(1, 10**6), 3, "1e-6"),
        (F(10**16), 3, "1e16"),
        (F(2, 3 * 10**7), 2, "6.7e-8"),
    ],
)
def test_decimals_are_rounded_up(value: Fraction, digits: int, text: str) -> None:
    assert exact.decimal_up(value, digits) == text


def test_logarithms() -> None:
    assert exact.log_inverse_up(F(1)) == 0 and exact.log1p_up(F(0)) == 0
    with mp.workdps(60):
        above(exact.log_inverse_up(F(1, 2)), mp.log(2))
        above(exact.log_inverse_up(F(1, 10**300)), 300 * mp.log(10))
        above(exact.log1p_up(F(1)), mp.log(2))
        above(exact.log1p_up(F(1, 10**20)), mp.log1p(mpf(10) ** -20))
    tiny = F(1, 10**35)
    assert exact.log_inverse_up(1 - tiny) == tiny / (1 - tiny)
    assert exact.log1p_up(F(1, 10**300)) == F(1, 10**300)


def test_a_sample_of_one_row() -> None:
    assert exact.amplified_up(F(3), F(1)) == 3 and exact.amplified_up(F(0), F(1, 2)) == 0
    assert exact.amplified_up(F(10_001), F(1, 2)) == 10_001
    with mp.workdps(60):
        above(exact.amplified_up(F(1), F(1, 2)), mp.log((1 + mp.e) / 2))


def test_a_row_replaced_in_a_sample() -> None:
    assert exact.exchanged_up(None, F(3), F(1, 2)) == 3
    assert exact.exchanged_up(None, None, F(1, 2)) is None
    assert exact.exchanged_up(F(1), F(0), F(1, 2)) == 0
    with mp.workdps(60):
        # (1/2 + e/2) / (1/2 + 1/2e) = e, and with b = u: (1/2 + e/2) / 1.
        above(exact.exchanged_up(F(1), None, F(1, 2)) or F(0), mpf(1))
        above(exact.exchanged_up(F(1), F(1), F(1, 2)) or F(0), mp.log((1 + mp.e) / 2))
    assert exact.exchanged_up(F(1), F(2), F(1)) == 2
    assert exact.exchanged_up(F(2000), F(1), F(1, 2)) == 1


@pytest.mark.parametrize("number", [0, 1, 2, 3, 7, 100])
def test_sums_in_pairs_are_the_sums(number: int) -> None:
    terms = [Fraction(i - 3, 7 * i * i + 1) for i in range(number)]
    terms += terms[: number // 2]
    assert exact.summed(terms) == sum(terms, Fraction(0))


def test_sums_of_many_unlike_denominators_take_no_time_by_the_square_of_their_number() -> None:
    terms = [Fraction(1, (2 * i + 10_007) ** 5) for i in range(4_000)]
    start = time.process_time()
    found = exact.summed(terms)
    assert time.process_time() - start < 3  # 0.2 s; one after the other it takes 12 s
    assert math.isclose(found, math.fsum(map(float, terms)), rel_tol=1e-12)


def test_roots_are_rounded_down_as_well() -> None:
    for x in (F(2), F(1, 3), F(10**70 + 1), F(3, 10**91)):
        low, high = exact.sqrt_down(x), exact.sqrt_up(x)
        assert low * low < x < high * high and high - low <= high * F(1, 2**150)
    assert exact.sqrt_down(F(9, 4)) == F(3, 2)


def test_decimals_of_numbers_too_long_to_write_out() -> None:
    # Next above a decimal that is short enough, by less than anything that is written.
    for decimal, above_it in (("0.25", "0.251"), ("3e-40", "3.01e-40"), ("7e50", "7.01e50")):
        assert exact.decimal_up(F(decimal) * (1 + F(1, 3**6000)), 3) == above_it


def test_a_huge_loss_of_a_row_added_to_a_sample() -> None:
    with mp.workdps(60):
        # -ln(1-q+q·e^-ε), which no ε takes beyond -ln(1-q).
        for epsilon in (F(5), F(999), F(2000), F(10**30)):
            truth = -mp.log(mpf(3) / 4 + mp.exp(-mpf(int(epsilon))) / 4)
            above(exact.amplified_added_up(epsilon, F(1, 4)), truth)
        above(exact.added_share_up(F(1), F(1, 4)), mp.exp(-1) / (3 + mp.exp(-1)))


@pytest.mark.parametrize("bits", [1, 5, 160])
def test_few_bits_are_the_least_number_above(bits: int) -> None:
    for x in (F(1, 3), F(2**200 + 1), F(5**300, 7**100), F(3, 10**80), F(96)):
        found = exact.bits_up(x, bits)
        assert x <= found < x * (1 + F(2, 2**bits))
        # Their quotient has one bit more or less.
        size = found.numerator & -found.numerator
        assert (found.numerator // size).bit_length() <= bits + 1


def test_a_shortened_fraction_is_never_below() -> None:
    # 1/3 ends in a 3 that nearest rounds down, 2/3 in one that it rounds up.
    for value in (F(1, 3), F(2, 3), F(1, 7) ** 40):
        assert value <= exact._shorten(value) <= value * (1 + F(1, 10**49))
