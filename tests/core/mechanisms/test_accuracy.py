"""What noise does to answers, against laws that are summed and tables of the normal law."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from conftest import LIBRARY
from typer.testing import CliRunner

import dpcompose
from dpcompose.cli import app
from dpcompose.core.mechanisms.accuracy import HIGHEST, accuracy_of
from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.core.notions.concrete_mechanism import Family

RESTS = ["0.9", "0.05", "0.001", "1e-6"]


def within(noise: Family, rest: str) -> Fraction:
    found = accuracy_of(noise, 1 - Fraction(rest))
    assert found is not None
    return found.within


def least(mass: Callable[[int], float], rest: str) -> int:
    """The least w beyond which the law has at most the mass `rest`, by adding it up."""
    found, inside = 0, mass(0)
    while 1 - inside > mpmath.mpf(rest):
        found += 1
        inside += 2 * mass(found)
    return found


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("scale", ["0.1", "0.5", "2", "30"])
def test_geometric_noise_has_the_least_half_width(scale: str, rest: str) -> None:
    with mpmath.workdps(40):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale))
        wanted = least(lambda n: (1 - ratio) / (1 + ratio) * ratio**n, rest)
        deviation = mpmath.sqrt(2 * ratio) / (1 - ratio)
    found = accuracy_of(Geometric(Fraction(scale)), 1 - Fraction(rest))
    assert found is not None
    assert found.within == wanted
    assert 0 <= float(found.deviation) - float(deviation) < 1e-8 * float(deviation)


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("variance", ["0.01", "1", "9", "100", "2500"])
def test_skellam_noise_has_the_least_half_width(variance: str, rest: str) -> None:
    with mpmath.workdps(40):
        mean = mpmath.mpf(variance)
        wanted = least(lambda n: mpmath.exp(-mean) * mpmath.besseli(n, mean), rest)
    assert within(Skellam(Fraction(variance)), rest) == wanted


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("sigma", ["0.3", "1", "3", "40"])
def test_discrete_gaussian_noise_is_at_most_one_wider_than_it_must_be(
    sigma: str, rest: str
) -> None:
    with mpmath.workdps(40):
        twice = 2 * mpmath.mpf(sigma) ** 2
        whole = 1 + 2 * sum(mpmath.exp(-n * n / twice) for n in range(1, 800))
        wanted = least(lambda n: mpmath.exp(-n * n / twice) / whole, rest)
    assert wanted <= within(DiscreteGaussian(Fraction(sigma)), rest) <= wanted + 1


def test_tables_of_the_normal_and_the_laplace_law() -> None:
    for rest, quantile in (("0.05", 1.959963985), ("0.01", 2.575829304), ("1e-6", 4.891638475)):
        assert 0 <= float(within(Gaussian(Fraction(3)), rest)) - 3 * quantile + 2e-9 < 1e-7
    assert float(within(Laplace(Fraction(2)), "0.05")) == pytest.approx(2 * 2.995732274)
    found = accuracy_of(Laplace(Fraction(2)), Fraction(1, 2))
    assert found is not None
    assert found.deviation**2 >= 8
    assert float(found.deviation) == pytest.approx(2 * 2**0.5)


@pytest.mark.parametrize("size", ["1e-30", "1e-3", "1", "1e9", "1e30"])
def test_noise_of_any_size_has_an_answer_that_grows_with_the_level(size: str) -> None:
    amount = Fraction(size)
    for noise in (
        Laplace(amount), Gaussian(amount), DiscreteGaussian(amount), Geometric(amount),
        Skellam(amount),
    ):  # fmt: skip
        found = [accuracy_of(noise, level) for level in (Fraction(1, 10**30), HIGHEST)]
        assert found[0] is not None and found[1] is not None
        assert 0 <= found[0].within <= found[1].within


def test_small_levels_and_large_variances_are_rounded_up() -> None:
    for level in (Fraction(1, 10**30), Fraction(1, 10**12), Fraction(1, 10**9)):
        found = accuracy_of(Gaussian(Fraction(1)), level)
        assert found is not None
        with mpmath.workdps(60):
            true = mpmath.sqrt(2) * mpmath.erfinv(mpmath.mpf(level.numerator) / level.denominator)
            assert true <= mpmath.mpf(found.within.numerator) / found.within.denominator
            assert float(found.within) <= float(true) * (1 + 1e-8)
    assert within(Skellam(Fraction(10**6)), "2e-9") == 5998


def test_what_chooses_has_no_accuracy() -> None:
    assert accuracy_of(Exponential(Fraction(1)), Fraction(1, 2)) is None


def test_a_report_states_it_where_it_is_asked_for() -> None:
    spec = LIBRARY["noisy-sums"]
    assert not dpcompose.analyze(spec).accuracy
    first, second, *others = dpcompose.analyze(spec, accuracy=0.95).accuracy
    assert (first.mechanism, first.noise) == ("sum of incomes", "laplace, scale 100000")
    assert second.within is not None
    assert float(second.within) == pytest.approx(2 * 1.959963985)
    assert [each.within for each in others] == [None, None]
    for level in (0, 1, 2, "100%", "-5%", "nan", ""):
        with pytest.raises(ValueError, match="accuracy: "):
            dpcompose.analyze(spec, accuracy=level)


def test_the_option_prints_a_section_and_a_key_of_the_json() -> None:
    spec, run = str(LIBRARY["noisy-sums"]), CliRunner(env={"NO_COLOR": "1"})
    text = run.invoke(app, ["analyze", "--accuracy", "99%", spec]).stdout
    assert "99 % within ±" in text
    assert "gaussian, sigma 2" in text
    result = json.loads(
        run.invoke(app, ["analyze", "--accuracy", "0.99", "--format", "json", spec]).stdout
    )
    (found,) = result["results"]
    assert [each["line"] for each in found["accuracy"]] == [18, 19, 20, 21]
    bad = run.invoke(app, ["analyze", "--accuracy", "95", spec])
    assert bad.exit_code == 2
    assert "such as 0.95" in bad.stderr
