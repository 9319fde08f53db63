"""Skellam noise against Bessel functions in 40 digits: ρ, divergences and profile; and in specs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from asked import bound, spec
from mpmath import mp
from reference import orders

from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import Curve
from dpcompose.curves.families.skellam_loss import SkellamLoss, skellam_rho

CASES = [(1, "1"), (1, "0.01"), (3, "0.5"), (1, "10"), (5, "4"), (4, "100")]


def law(shift: int, variance: str) -> list[tuple[Any, Any]]:
    """(P, Q) at every outcome that matters."""
    v = orders.number(Fraction(variance))
    reach = int(14 * math.sqrt(float(variance))) + 40
    mass = [mp.exp(-v) * mp.besseli(n, v) for n in range(reach + 2 * shift + 1)]
    return [(mass[abs(n)], mass[abs(n - shift)]) for n in range(-reach, reach + shift + 1)]


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "variance"), CASES)
def test_rho_is_the_largest_divergence_over_order(shift: int, variance: str) -> None:
    with mp.workdps(40):
        pairs = law(shift, variance)
        # The limit as α → 1, and some orders; the least ρ is at least all of these.
        truth = mp.fsum(p * mp.log(p / q) for p, q in pairs)
        for s in (mp.mpf("0.1"), 1, 3, 10):
            moment = mp.fsum(p * mp.exp(s * mp.log(p / q)) for p, q in pairs)
            truth = max(truth, mp.log(moment) / (s * (1 + s)))
        found = SkellamLoss(shift, Fraction(variance)).rho()
        assert 0 <= orders.excess(found, truth) < 2e-5


@pytest.mark.slow
@pytest.mark.parametrize(("shift", "variance"), CASES)
@pytest.mark.parametrize("s", [1e-6, 0.3, 1, 4, 30])
def test_the_cumulant_lies_just_above_the_truth(shift: int, variance: str, s: float) -> None:
    with mp.workdps(60):
        pairs = law(shift, variance)
        truth = mp.log(mp.fsum(p * mp.exp(s * mp.log(p / q)) for p, q in pairs))
        found = SkellamLoss(shift, Fraction(variance)).cumulant().of(s)
        assert 0 <= found / truth - 1 < 1e-7


@pytest.mark.parametrize(("shift", "variance"), CASES)
def test_the_law_has_a_profile_just_above_the_truth(shift: int, variance: str) -> None:
    with mp.workdps(40):
        pairs = law(shift, variance)
        part = SkellamLoss(shift, Fraction(variance))
        masses = part.masses(Fraction(1, 2000))
        for epsilon in (-1.0, 0.0, 0.5, 1.7, 4.0):
            odds = mp.exp(epsilon)
            truth = mp.fsum(max(p - odds * q, 0) for p, q in pairs)
            assert truth <= profile(masses, epsilon) + 1e-15
            assert profile(masses, epsilon) < truth * (1 + 1e-5) + 1e-6
        whole = mp.fsum(max(p - mp.exp(1) * q, 0) for p, q in pairs)
        found = delta_at(Curve(((part, 1),)), Fraction(1)).upper
        assert whole <= orders.number(found) < whole * (1 + 1e-3) + mp.mpf("1e-9")


@pytest.mark.slow
def test_more_noise_loses_less_and_a_larger_shift_more() -> None:
    one = [skellam_rho(1, Fraction(v)) for v in (1, 10, 10**6, 10**9)]
    assert one == sorted(one, reverse=True) and one[2] == one[3]
    moved = [skellam_rho(s, Fraction(9)) for s in (1, 2, 5, 40, 10**6)]
    assert moved == sorted(moved)
    assert skellam_rho(10**6, Fraction(9)) == 10**12 * moved[0]
    # Far beyond the noise a path of single steps is the better bound.
    far = skellam_rho(5000, Fraction(10**6))
    assert Fraction(5000**2, 2 * 10**6) < far <= 5000**2 * one[2]
    assert Skellam(Fraction(1)).rho(Fraction(0)) == 0


def test_sensitivities_add_up_along_a_path() -> None:
    sums = "mechanism: skellam, variance: 100, sensitivity: "
    far = spec(f"{sums}1", protect="{relation: unbounded, distance: 4}")
    assert bound(far) == bound(spec(f"{sums}4")) == skellam_rho(4, Fraction(100))
