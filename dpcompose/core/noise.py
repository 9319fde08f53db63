"""Concrete mechanisms: what is drawn, and how far one row moves it.

A concrete mechanism is known by more than an ε: by the distribution of its privacy loss. Along a
path of neighbouring tables sensitivities add, which is sharper than group privacy.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.values import dataclass


@dataclass(frozen=True, slots=True)
class Laplace:
    """Adds Laplace noise of density e^(-|x|/scale)/(2·scale); sensitivities in L1."""

    scale: Fraction


@dataclass(frozen=True, slots=True)
class Gaussian:
    """Adds normal noise of standard deviation `sigma`; sensitivities in L2."""

    sigma: Fraction


@dataclass(frozen=True, slots=True)
class Geometric:
    """Adds to whole numbers noise of mass proportional to e^(-|n|/scale); sensitivities in L1."""

    scale: Fraction


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Adds to whole numbers noise of mass proportional to e^(-n²/(2·sigma²)).

    Sensitivities in L1 (the number of unit steps), so that one coordinate stands for all.
    """

    sigma: Fraction


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Keeps one of `k` values with odds e^ε to 1 against each other one; per replaced row."""

    k: int
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Exponential:
    """Chooses with weights e^(ε·u/(2Δ)): the log odds of any two tables have a range of ε.

    Sensitivities are in units of Δ: a shift of 1 is a range of `epsilon`.
    """

    epsilon: Fraction


#: The distribution from which a concrete mechanism draws.
Noise = Laplace | Gaussian | Geometric | DiscreteGaussian | RandomizedResponse | Exponential
