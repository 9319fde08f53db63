"""Laplace noise: its least ρ and μ against 50 digits, and where they are used."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from asked import bound, report, spec
from mpmath import mp
from reference import orders

import dpcompose
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.curves.families.laplace_loss import LaplaceLoss

SHIFTS = [Fraction(x) for x in ("0.0001", "0.01", "0.5", "1", "3", "20")]


@pytest.mark.parametrize("shift", SHIFTS)
def test_rho_is_the_largest_divergence_over_order(shift: Fraction) -> None:
    with mp.workdps(orders.DIGITS):
        a = orders.number(shift)

        def log_moment(order: Any) -> Any:
            ends = order * mp.exp((order - 1) * a) + (order - 1) * mp.exp(-order * a)
            return mp.log(ends / (2 * order - 1))

        truth = orders.largest_ratio(log_moment)
        assert 0 <= orders.excess(LaplaceLoss(shift).rho(), truth) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("shift", SHIFTS)
def test_mu_lies_below_every_threshold(shift: Fraction) -> None:
    with mp.workdps(orders.DIGITS):
        a = orders.number(shift)
        cuts = [a * n / 100 for n in range(101)]
        truth = orders.largest_mu((mp.exp(-x) / 2, mp.exp(x - a) / 2) for x in cuts)
        assert 0 <= orders.excess(LaplaceLoss(shift).mu(), truth) < 1e-30


def test_extreme_shifts() -> None:
    for shift in (Fraction(1, 10**300), Fraction(10**6)):
        loss = LaplaceLoss(shift)
        assert 0 < loss.rho() <= min(shift, shift * shift / 2)
        assert 0 < loss.mu() <= Fraction("1.2534") * shift
    assert Laplace(Fraction(1)).rho(Fraction(0)) == Laplace(Fraction(1)).mu(Fraction(0)) == 0


def with_another(other: str, budget: str, protect: str = "unbounded") -> str:
    """Laplace noise of scale 1 beside another mechanism, in the notion of a budget."""
    noise = "mechanism: laplace, scale: 1, sensitivity: 1"
    return spec(noise, other, protect=protect, more=f"budget: {{{budget}}}")


def test_a_budget_in_rho_is_met() -> None:
    text = with_another("notion: zcdp, rho: 0.1", "rho: 0.5")
    assert float(bound(text)) == pytest.approx(0.1 + 0.36787944117144233, abs=1e-12)
    assert dpcompose.check(text) and not report(text).bound.exact  # type: ignore[union-attr]


def test_shifts_add_up_along_a_path() -> None:
    # Two steps of ρ = 0.1 are 0.4; a shift of 2 is 1 + e^-2, less than 4/e.
    two = "{relation: unbounded, distance: 2}"
    found = bound(with_another("notion: zcdp, rho: 0.1", "rho: 2", two))
    assert float(found) == pytest.approx(0.4 + 1.1353352832366127, abs=1e-12)


def test_mu_is_the_own_one() -> None:
    found = bound(with_another("notion: gdp, mu: 1", "mu: 1.44"))
    assert float(found) == pytest.approx((1 + 1.0300617**2) ** 0.5, abs=1e-5)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("delta", ["0.9", "0.01", "1e-6", "1e-50"])
def test_one_alone(shift: Fraction, delta: str) -> None:
    """δ is the integral of what has a loss above ε, both ways."""
    loss, wanted = LaplaceLoss(shift), Fraction(delta)
    found = loss.least_epsilon(wanted)
    assert found.lower is not None and 0 <= found.lower <= found.upper < shift
    with mp.workdps(140):
        a, epsilon = orders.number(shift), orders.number(found.upper)
        # The density of x is above e^ε times that moved for x < (a-ε)/2.
        true = 1 - mp.exp((epsilon - a) / 2)
        if found.upper:
            assert 1 - mp.mpf(10) ** -35 <= true / orders.number(wanted) <= 1
        else:
            assert true <= orders.number(wanted)
        back = loss.least_delta(found.upper)
        assert back.lower is not None
        assert orders.number(back.lower) <= true <= orders.number(back.upper)
        assert back.upper <= back.lower * (1 + Fraction(1, 10**30))
