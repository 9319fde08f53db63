"""Filters: limits that are never too large, by another computation in many digits."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import pytest
from mpmath import mp
from volume import thinned

from dpcompose.core.at_delta.filters import (
    FILTERS,
    PrivacyFilter,
    default_notion,
    filter_of,
    largest_mu_squared,
    largest_rho,
)
from dpcompose.core.notions.guarantee import Budget, Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding.exact import sqrt_down, tanh_up
from dpcompose.curves.routes import Point

BUDGETS = [
    ("5.22", "1e-6"),
    ("2", "1e-6"),
    ("1", "1e-9"),
    ("0.1", "1e-5"),
    ("0.001", "1e-9"),
    ("20", "1e-12"),
    ("0", "1e-6"),
    ("1", "0.9"),
    ("1e-12", "1e-12"),
    ("1e4", "1e-30"),
]
budgets = pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)


def exact(value: Fraction) -> Any:
    return mp.mpf(value.numerator) / value.denominator


def conversion(rho: Any, epsilon: Any) -> Any:
    """Corollary 13 of Canonne, Kamath and Steinke 2020, over many orders in 60 digits."""

    def log_delta(s: Any) -> Any:
        return s * ((s + 1) * rho - epsilon) + s * mp.log(s / (s + 1)) - mp.log(s + 1)

    low, high = mp.mpf(10) ** -30, mp.mpf(10) ** 30
    for _ in range(800):  # one valley, in ln s
        third = mp.exp((mp.log(high) - mp.log(low)) / 3)
        if log_delta(low * third) < log_delta(high / third):
            high = high / third
        else:
            low = low * third
        if high / low < 1 + mp.mpf(10) ** -25:
            break
    return mp.exp(log_delta(mp.sqrt(low * high)))


def gaussian(square: Any, epsilon: Any) -> Any:
    mu = mp.sqrt(square)
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


@budgets
def test_the_largest_rho_gives_the_budget_and_hardly_more_would(epsilon: str, delta: str) -> None:
    found = largest_rho(Fraction(epsilon), Fraction(delta))
    with mp.workdps(60):
        wanted, at = exact(Fraction(delta)), exact(Fraction(epsilon))
        assert conversion(exact(found), at) <= wanted
        assert conversion(exact(found * (1 + Fraction(1, 10**9))), at) > wanted


@budgets
def test_the_largest_mu_gives_the_budget_and_hardly_more_would(epsilon: str, delta: str) -> None:
    found = largest_mu_squared(Fraction(epsilon), Fraction(delta))
    with mp.workdps(120):
        wanted, at = exact(Fraction(delta)), exact(Fraction(epsilon))
        assert gaussian(exact(found), at) <= wanted
        assert gaussian(exact(found * (1 + Fraction(1, 10**9))), at) > wanted


@budgets
def test_a_limit_in_mu_allows_as_much_as_one_in_rho(epsilon: str, delta: str) -> None:
    """What is μ-GDP is zCDP with μ²/2, so that the limit of the stronger notion is no smaller."""
    rho = largest_rho(Fraction(epsilon), Fraction(delta))
    assert largest_mu_squared(Fraction(epsilon), Fraction(delta)) / 2 >= rho


def test_a_hundred_releases_of_a_tenth() -> None:
    """Section 10 of the theory: 5.219075 by ε·tanh(ε/2), 5.756522 printed."""
    rho = 100 * Fraction("0.1") * tanh_up(Fraction("0.05"))
    spent = PrivacyFilter(Notion.ZCDP, rho).at(Point(delta=Fraction("1e-6")))[1]
    assert spent is not None and Fraction("5.219074") < spent.upper <= Fraction("5.2190754")
    for epsilon, admitted in (("5.2190754", True), ("5.219074", False)):
        budget = Budget((("epsilon", Fraction(epsilon)), ("delta", Fraction("1e-6"))))
        found = filter_of(budget, Notion.ZCDP)
        assert found is not None and found.admits(Quantity(Notion.ZCDP, rho)) is admitted


EXTREME = ["0", "1e-4000", "1e-300", "1e11", "1e12", "1e13", "1e400"]


@pytest.mark.parametrize("delta", thinned(["1e-4000", "1e-300", "1e-6", "0.999999"]))
@pytest.mark.parametrize("epsilon", EXTREME)
def test_limits_of_extreme_budgets_hold(epsilon: str, delta: str) -> None:
    wanted, at = Fraction(epsilon), Fraction(delta)
    rho, square = largest_rho(wanted, at), largest_mu_squared(wanted, at)
    for limit in (PrivacyFilter(Notion.ZCDP, rho), PrivacyFilter(Notion.GDP, square)):
        found = limit.at(Point(delta=at))[1]
        if found is None:  # of which no double can hold the divergence
            assert limit.notion is Notion.ZCDP and wanted > 10**300
            continue
        assert found.upper <= wanted * (1 + Fraction(1, 10**9))
    with mp.workdps(5000):  # ρ + 2·sqrt(ρ·ln(1/δ)) is never below the conversion
        size = exact(rho)
        closed = size + 2 * mp.sqrt(size * mp.log(1 / exact(at)))
        assert wanted <= 10**12 or closed <= exact(wanted)
    if wanted > 10**11:
        assert rho >= wanted * Fraction(99, 100)


def budget(**parameters: str) -> Budget:
    return Budget(tuple((name, Fraction(value)) for name, value in parameters.items()))


@pytest.mark.parametrize(
    ("asked", "usable", "first"),
    [
        (budget(epsilon="1"), {"pure", "approx"}, "pure"),
        (budget(epsilon="1", delta="0"), {"pure", "approx"}, "pure"),
        (budget(epsilon="1", delta="1e-6"), {"pure", "approx", "zcdp", "gdp"}, "zcdp"),
        (budget(rho="1"), {"zcdp", "gdp"}, "zcdp"),
        (budget(mu="1"), {"gdp"}, "gdp"),
        (budget(advantage="0.1"), {"pure", "zcdp", "gdp"}, "zcdp"),
        (budget(success="0.05", baseline="0.01"), {"pure", "zcdp", "gdp"}, "zcdp"),
    ],
)
def test_which_sums_give_a_budget(asked: Budget, usable: set[str], first: str) -> None:
    assert {each.value for each in FILTERS if filter_of(asked, each)} == usable
    assert default_notion(asked) == first


@pytest.mark.parametrize("advantage", ["0.001", "0.2", "0.9"])
def test_an_advantage_as_a_limit_is_the_closed_form(advantage: str) -> None:
    """Pure: tanh(ε/2); GDP: 2Φ(μ/2) - 1; Pinsker's ρ ≥ 2·advantage² is all but reached."""
    asked, most = budget(advantage=advantage), float(advantage)
    pure, zcdp, gdp = (filter_of(asked, Notion(name)) for name in ("pure", "zcdp", "gdp"))
    assert pure and zcdp and gdp
    assert most * (1 - 1e-8) < math.tanh(float(pure.amount) / 2) <= most * (1 + 1e-15)
    share = math.erf(math.sqrt(gdp.amount) / 2 / math.sqrt(2))
    assert most * (1 - 1e-8) < share <= most * (1 + 1e-15)
    assert 2 * most**2 * (1 - 1e-4) <= zcdp.amount <= 2 * math.atanh(most) ** 2


def test_a_success_as_a_limit_is_the_closed_form() -> None:
    """GDP: Φ(Φ⁻¹(κ) + μ); pure: the first piece e^ε·κ of the power."""
    asked, normal = budget(success="0.05", baseline="0.01"), NormalDist()
    gdp, pure = filter_of(asked, Notion.GDP), filter_of(asked, Notion.PURE)
    assert gdp and pure
    exact = normal.inv_cdf(0.05) - normal.inv_cdf(0.01)
    assert exact * (1 - 1e-6) < math.sqrt(gdp.amount) <= exact * (1 + 1e-12)
    assert math.log(5) * (1 - 1e-9) < pure.amount <= math.log(5) * (1 + 1e-15)


@pytest.mark.parametrize("x", ["2", "1e-200", "1e200", "0.25", "0", "3/7"])
def test_a_root_rounded_down_is_no_larger(x: str) -> None:
    value, found = Fraction(x), sqrt_down(Fraction(x))
    assert found**2 <= value <= (found * (1 + Fraction(1, 10**40))) ** 2


def test_what_is_left_is_rounded_down_and_never_negative() -> None:
    found = PrivacyFilter(Notion.GDP, Fraction(3))
    ((name, left),) = found.left(Quantity(Notion.GDP, Fraction(1)))
    assert name == "mu" and left**2 <= 2 and 1 + left**2 <= 3
    assert found.left(Quantity(Notion.GDP, Fraction(4))) == (("mu", Fraction(0)),)
    pair = PrivacyFilter(Notion.APPROX, Fraction(1), Fraction("1e-6"))
    assert not pair.admits(Quantity(Notion.APPROX, Fraction(0), Fraction("2e-6")))


@pytest.mark.parametrize(
    ("budget", "notion", "amount"),
    [
        ({"epsilon": "2"}, Notion.PURE, 2),
        ({"rho": "0.5"}, Notion.ZCDP, Fraction(1, 2)),
        # What is μ-GDP is zCDP with ρ = μ²/2.
        ({"rho": "0.5"}, Notion.GDP, 1),
        ({"mu": "3"}, Notion.GDP, 9),
    ],
)
def test_what_a_budget_admits(budget: dict[str, str], notion: Notion, amount: Fraction) -> None:
    asked = Budget(tuple((name, Fraction(value)) for name, value in budget.items()))
    found = filter_of(asked, notion)
    assert found is not None and found.amount == amount and found.delta == 0
