"""A concrete mechanism: its privacy loss, and the bounds that are known of it in each notion.

It is known by more than an ε: by the distribution of its privacy loss. Along a path of neighbouring
tables sensitivities add, which is sharper than group privacy.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.notions.notion import READINGS, Notion, convert
from dpcompose.curves import Curve, MechanismLoss
from dpcompose.curves.families import GeometricLoss, equal_steps
from dpcompose.curves.rounding import ZERO, gaussian_mean_up, sqrt_up


class Family(ABC):
    """A concrete mechanism with its parameters.

    Its methods return bounds for a `shift` of at least 0: the sum of the sensitivities along a path
    of tables, in the unit of the sensitivities. A family says its loss, and which bounds are known
    of it beside those that follow from its ε. `stays_open`: what it is called, where later outputs
    of one run rest on noise that was drawn before earlier ones; else None. `FORMULAS`: the least
    ε, ρ or μ² at a shift, by notion, as formulas in the names of `parameters`.
    """

    __slots__ = ()
    stays_open: ClassVar[str | None] = None
    FORMULAS: ClassVar[dict[Notion, str]] = {}

    @abstractmethod
    def loss(self, shift: Fraction) -> Curve:
        """Returns the curve of a dominating pair: the law of the privacy loss at a shift above
        0."""

    def bounds(self, shift: Fraction) -> Iterator[Curve]:
        """Yields curves each of which bounds the privacy loss at a shift above 0, `loss` first."""
        yield self.loss(shift)

    def for_replaced_row(self) -> Family | None:
        """Returns the mechanism, stated for rows added or removed, as it is stated for rows
        replaced; None where that is two such steps."""
        return None

    @abstractmethod
    def describe(self, shift: Fraction) -> str:
        """Returns the mechanism as text: `Laplace noise of scale 2, sensitivity 1`."""

    def epsilon(self, shift: Fraction) -> Fraction | None:
        """Returns the least ε at δ = 0, None if there is none."""
        return None

    def rho(self, shift: Fraction) -> Fraction | None:
        """Returns the least ρ of zCDP that is known, rounded up; None if none is."""
        epsilon = self.epsilon(shift)
        return None if epsilon is None else Fraction(convert(epsilon, Notion.PURE, Notion.ZCDP))

    def mu(self, shift: Fraction) -> Fraction | None:
        """Returns the least μ of Gaussian DP that is known, rounded up; None if none is."""
        epsilon = self.epsilon(shift)
        return None if epsilon is None else gaussian_mean_up(epsilon)

    def mu_squared(self, shift: Fraction) -> Fraction | None:
        """Returns the square of the least μ, which adds up; None if no μ is known.

        Exact where the square is rational and μ is not.
        """
        mu = self.mu(shift)
        return None if mu is None else mu * mu

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the formula of the least ε, ρ or μ² (by `notion`) at a shift, and what it is
        given, by the names there; None where no short formula gives it."""
        formula, pure = self.FORMULAS.get(notion), self.FORMULAS.get(Notion.PURE)
        if formula is None and pure is not None and (Notion.PURE, notion) in READINGS:
            formula = re.sub(r"\bx\b", f"({pure})", READINGS[Notion.PURE, notion])
        named = set(re.findall(r"[a-z_]\w*", formula or ""))
        given = {"s": shift, "c": math.ceil(shift), **self.parameters(shift)}
        return formula, {name: value for name, value in given.items() if name in named}

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        """Returns the numbers in the formulas, by the names there, at a shift; `s` is the shift
        itself, and `c` the shift rounded up to whole steps."""
        return {}

    def pair(self) -> tuple[Fraction, Fraction] | None:
        """Returns an (ε, δ) of the mechanism for one step of its relation, or None if it is not
        stated in (ε, δ)."""
        return None


class EqualLosses(Family):
    """A mechanism whose loss is one of a concrete mechanism, or several that are equal: all bounds
    of it are theirs."""

    __slots__ = ()

    @abstractmethod
    def part(self, shift: Fraction) -> MechanismLoss:
        """Returns one of the equal losses, that of a concrete mechanism, at a shift."""

    def times(self, shift: Fraction) -> int:
        """Returns how many such losses compose at a shift."""
        return 1

    def epsilon(self, shift: Fraction) -> Fraction | None:
        greatest = self.part(shift).greatest()
        return None if greatest is None else greatest * self.times(shift)

    def rho(self, shift: Fraction) -> Fraction:
        if not shift or self.epsilon(shift) == 0:
            return ZERO
        return self.part(shift).rho() * self.times(shift)

    def mu(self, shift: Fraction) -> Fraction | None:
        mu = self.part(shift).mu()
        return None if mu is None else mu * sqrt_up(Fraction(self.times(shift)))

    def loss(self, shift: Fraction) -> Curve:
        return Curve(((self.part(shift), self.times(shift)),))


class OverSteps(EqualLosses):
    """A mechanism that is stated for one step of the relation: a shift is a number of steps.

    Where only pure DP is known of it, its loss over several steps is that of geometric noise (Dong,
    Roth and Su 2022, Theorem 2.14).
    """

    __slots__ = ()

    def loss(self, shift: Fraction) -> Curve:
        part, times = self.part(shift), self.times(shift)
        if isinstance(part, GeometricLoss):
            return Curve(((equal_steps(1 / part.scale, part.shift), times),))
        return Curve(((part, times),))
