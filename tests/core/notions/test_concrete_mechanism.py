"""What follows of a concrete mechanism from its ε alone, or from equal losses."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pytest

from dpcompose.core.notions.concrete_mechanism import EqualLosses, Family
from dpcompose.curves import Curve
from dpcompose.curves.families import LaplaceLoss

F = Fraction


@dataclass(frozen=True)
class KnownEpsilon(Family):
    """A mechanism of which an ε is known, and nothing else."""

    def loss(self, shift: Fraction) -> Curve:
        raise NotImplementedError

    def describe(self, shift: Fraction) -> str:
        return "known by its ε"

    def epsilon(self, shift: Fraction) -> Fraction:
        return shift


@dataclass(frozen=True)
class Twice(EqualLosses):
    """Two draws of Laplace noise of scale 1."""

    def part(self, shift: Fraction) -> LaplaceLoss:
        return LaplaceLoss(shift)

    def times(self, shift: Fraction) -> int:
        return 2

    def describe(self, shift: Fraction) -> str:
        return "two draws"


def test_an_epsilon_gives_rho_and_mu() -> None:
    known = KnownEpsilon()
    # ε tanh(ε/2) and 2 Φ⁻¹(e^ε/(1 + e^ε)), both rounded up.
    assert known.rho(F(1)) == pytest.approx(0.4621171572600097, abs=1e-15)
    assert known.mu(F(1)) == pytest.approx(1.232035385344901, abs=1e-12)
    assert known.mu_squared(F(1)) == known.mu(F(1)) ** 2  # type: ignore[operator]
    assert known.pair() is None


def test_equal_losses_add_up() -> None:
    one, two = LaplaceLoss(F(1)), Twice()
    assert two.epsilon(F(1)) == 2
    assert two.rho(F(1)) == 2 * one.rho() and two.rho(F(0)) == 0
    mu = one.mu()
    assert mu is not None and two.mu(F(1)) == pytest.approx(2**0.5 * mu)
