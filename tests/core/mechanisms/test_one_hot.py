"""Noise on vectors of which each row moves one coordinate.

`tests/resolve/test_norms.py` holds whole specs against the exact laws.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import pytest
from mpmath import mp
from reference import curves

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.one_hot import OneHot, least_known
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.curves.answers import delta_at
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss

F = Fraction


def test_two_coordinates_are_two_losses() -> None:
    """And dominate the same moves in more coordinates, or in one."""
    hot = OneHot(Laplace(F(2)))
    for at in (F(0), F(1, 3), F(1), F(5, 3)):
        told = delta_at(hot.loss(F(4)), at).upper
        with mp.workdps(30):
            wanted = curves.laplaces([F(1), F(1)])(at)
            assert wanted <= mp.mpf(told.numerator) / told.denominator <= wanted * (1 + 1e-6)
            for moved in (["1", "1/2", "1/2"], ["1/2"] * 4, ["3/4", "1/4", "1"], ["1"]):
                assert curves.laplaces([F(each) for each in moved])(at) <= wanted
    assert hot.epsilon(F(4)) == 2
    assert float(hot.rho(F(4)) or 0) == 2 * float(Laplace(F(2)).rho(F(2)))
    assert (
        hot.describe(F(4)) == "Laplace noise of scale 2, sensitivity 2 in each of two coordinates"
    )


@pytest.mark.parametrize(
    ("noise", "chance"),
    [(Laplace(F(1)), math.exp(-0.5) / 2), (Geometric(F(1)), 1 / (1 + math.e))],
)
def test_two_coordinates_in_mu_are_two_losses(noise: Family, chance: float) -> None:
    """Each the best μ of one; and never more than one coordinate moved by the sum."""
    one, found = -2 * NormalDist().inv_cdf(chance), OneHot(noise).mu(F(2))
    assert found is not None and math.isclose(found, math.sqrt(2) * one, rel_tol=1e-9)
    for shift in (2, 4, 6, 20, 100):
        square, whole = OneHot(noise).mu_squared(F(shift)), noise.mu_squared(F(shift))
        assert square is not None and whole is not None and square <= whole
    odd = replace(OneHot(noise, F(1)), less=F(1))
    alone = noise.mu_squared(F(1))
    assert alone is not None and odd.mu_squared(F(2)) == alone


def test_one_row_beside_replaced_ones() -> None:
    """Of three rows in all two are on one side; of other numbers one side is not told less."""
    noise, row = DiscreteGaussian(F(3)), F(1)
    hot = OneHot(noise, row)
    [(told, shift)] = least_known({noise: F(3), hot: F(4), DiscreteGaussian(F(3), "L2"): F(9)})
    assert told.rho(shift) == (4 + 1) * F(1, 18)
    assert Counter(dict(told.loss(shift).parts)) == {
        DiscreteGaussianLoss(2, F(9)): 1,
        DiscreteGaussianLoss(1, F(9)): 1,
    }
    assert list(least_known({noise: F(1), hot: F(2)})) == [(noise, F(1))]
    assert list(least_known({noise: F(2), hot: F(2)})) == [(hot, F(2))]
    assert len(list(least_known({noise: F(4), hot: F(6)}))) == 2
    # Where rows replaced are told apart from rows that come or go, nothing is known of the sides.
    assert len(list(least_known({noise: F(3), OneHot(noise): F(4)}))) == 2
