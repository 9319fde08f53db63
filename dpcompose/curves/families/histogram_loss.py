"""The privacy loss of a noisy histogram over keys that are not known beforehand.

Each key present in the data has noise, and is released where its noisy value reaches a threshold. A
unit is in at most L keys. Let a key that it alone is in be released with chance 1 - e^-κ at most.
Keys are independent. One that others are in, too, is moved by the unit, and the threshold is
post-processing; a key that the unit alone is in is there in one table and certainly not released
from the other one. So if i keys are the first table's alone, j the second one's, and n others move,

    δ(ε) = 1 - e^(-iκ)·(1 - δ_n(ε + (i-j)κ)),

δ_n the profile of the noise of n keys: none of the i keys is released with the chance e^(-iκ), and
then this outcome has the loss (j-i)κ beside that of the noise. A unit that comes or goes has i = 0
or j = 0, and i + j + n = L; of two units, one in the place of the other, each has its own keys,
i ≤ L, j ≤ L and i + j + n = 2L. All such i and j occur, and the greatest δ holds in both orders.

With 1 - e^(-Lκ) every table gives a new key away. Apart from that chance, (i, j) has

    δ'(ε) = 1 - e^((L-i)κ)·(1 - δ_n(ε + (i-j)κ)) ≤ δ_(n+i+j)(ε).

For L - i keys more that only the first table has make the loss no smaller; then i = L ≥ j, where
δ_n(ε + (L-j)κ) ≤ δ_n(ε). So whatever is known of the noise of all keys holds of this loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dpcompose.curves.backends.lattice.sizes import composed_scale
from dpcompose.curves.backends.renyi.cumulants import Cumulant, cumulant, quadratic
from dpcompose.curves.curve import Certified, Curve, MechanismLoss
from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ZERO,
    bits_up,
    exp_up,
    log1p_up,
)
from dpcompose.curves.rounding.words import number, plural

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Floats, Masses
    from dpcompose.curves.backends.lattice.powers import Power

#: Up to so many keys that come or go each way of dividing them between the tables is looked at.
_MOST_APART = 8
#: An ε at which the noise would have a loss below 0 is looked for by so many halvings.
_HALVINGS = 24


@dataclass(frozen=True, slots=True)
class HistogramLoss(MechanismLoss):
    """A noisy histogram over unknown keys, apart from the chance that a key of one unit alone is
    released: δ' of the module's text.

    `noise`: the curve of one key; `keys`: L; `new`: 1 - e^-κ, below 1; `replaced`: a unit takes the
    place of another one, else one comes or goes.
    """

    noise: Curve
    keys: int
    new: Fraction
    replaced: bool = False

    @property
    def all_keys(self) -> int:
        """Returns n + i + j, of how many keys the noise is."""
        return 2 * self.keys if self.replaced else self.keys

    def masses(self, step: Fraction) -> Masses:
        from dpcompose.curves.backends.lattice.powers import law_above

        return law_above(_bound(self), step)

    def cumulant(self) -> Cumulant:
        # At most that of the noise of all keys, which is Gaussian or of one part.
        [*parts] = self.noise.parts
        if not parts:
            return Cumulant(lambda s: 0.0)
        [(part, count)] = parts
        found = cumulant(part)
        assert found is not None
        times = count * self.all_keys
        return found._replace(of=lambda s: times * found.of(s))

    def quadratic(self) -> Fraction:
        rho = sum((quadratic(part) * count for part, count in self.noise.parts), ZERO)
        return (rho + self.noise.gaussian / 2) * self.all_keys

    def greatest(self) -> Fraction | None:
        pure = None if self.noise.gaussian else self.noise.pure()
        return None if pure is None else pure.upper * self.all_keys

    def rho(self) -> Fraction:
        found = self.noise.repeat(self.all_keys).rho()
        assert found is not None
        return found.upper

    def mu(self) -> Fraction | None:
        found = self.noise.repeat(self.all_keys).mu()
        return None if found is None else found.upper

    def least_epsilon(self, delta: Fraction) -> Certified | None:
        worst = ZERO
        for apart, ways in self._ways():
            rest = self.noise.repeat(self.all_keys - apart)
            if apart and self._at_most(apart, worst) <= delta:
                break
            for first, second in ways:
                left = 1 - (1 - delta) * self._grown(self.keys - first)
                moved = self._shift_of_losses(first, second)
                if _real_delta(rest, worst + moved) <= left:
                    continue
                found = rest.epsilon(delta=left)
                if found is None:
                    return None
                if found.upper:
                    worst = max(worst, found.upper - moved)
                else:
                    worst = _least_below(rest, left, worst, moved)
        else:
            if self._at_most(_MOST_APART + 1, worst) > delta:
                fewer = self.noise.repeat(self.all_keys - _MOST_APART - 1).epsilon(delta=delta)
                every = self.noise.repeat(self.all_keys).epsilon(delta=delta)
                if fewer is None or every is None:
                    return None
                worst = max(worst, min(every.upper, fewer.upper + self.keys * self._far))
        return Certified(bits_up(worst, 200))

    def least_delta(self, epsilon: Fraction) -> Certified:
        worst = ZERO
        for apart, ways in self._ways():
            if apart and self._at_most(apart, epsilon) <= worst:
                break
            rest = self.noise.repeat(self.all_keys - apart)
            for first, second in ways:
                once = _real_delta(rest, epsilon + self._shift_of_losses(first, second))
                worst = max(worst, 1 - (1 - once) / self._grown(self.keys - first))
        else:
            worst = max(worst, self._at_most(_MOST_APART + 1, epsilon))
        return Certified(bits_up(worst, 200))

    def spread(self) -> float:
        return composed_scale(self.noise.repeat(self.all_keys))

    def with_shift(self, shift: Fraction) -> HistogramLoss:
        raise NotImplementedError("a noisy histogram has no shift")

    def coarse(self, bits: int) -> HistogramLoss:
        return replace(self, new=min(bits_up(self.new, bits), self.new + (1 - self.new) / 2))

    def describe(self) -> str:
        inside = [
            part.describe() for part, _ in self.noise.parts if isinstance(part, MechanismLoss)
        ]
        noise = inside[0] if inside else "Gaussian noise"
        return f"{plural(self.all_keys, 'key')} of {noise}, new ones with chance {number(self.new)}"

    # --- ways ------------------------------------------------------------------------------------

    @property
    def _near(self) -> Fraction:
        """Returns κ, rounded down."""
        return self.new if not self.new else self._far * (1 - Fraction(1, 10**30))

    @property
    def _far(self) -> Fraction:
        """Returns κ, rounded up."""
        return log1p_up(self.new / (1 - self.new))

    def _shift_of_losses(self, first: int, second: int) -> Fraction:
        """Returns (i-j)·κ, rounded down; `first` i, `second` j."""
        return (first - second) * (self._near if first > second else self._far)

    def _grown(self, keys: int) -> Fraction:
        """Returns e^(-κ·`keys`), rounded up."""
        return exp_up(-min(self._near * keys, Fraction(MAX_EXPONENT)))

    def _ways(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yields for each number of keys that one table alone has, up to `_MOST_APART`, the ways
        (i, j) of dividing them between the tables; ends sooner where there are no more."""
        for apart in range(min(_MOST_APART, self.all_keys) + 1):
            ways = [(first, apart - first) for first in range(apart + 1)]
            if self.replaced:
                ways = [way for way in ways if max(way) <= self.keys]
            else:
                ways = [way for way in ways if not min(way)]
            yield apart, ways

    def _at_most(self, apart: int, epsilon: Fraction) -> Fraction:
        """Returns what δ' is at most at ε where at least `apart` keys are in one table alone."""
        if apart > self.all_keys:
            return ZERO
        rest = self.noise.repeat(self.all_keys - apart)
        either = self.noise.repeat(self.all_keys).delta(epsilon=epsilon).upper
        return min(either, _real_delta(rest, epsilon - self.keys * self._far))


def _real_delta(curve: Curve, epsilon: Fraction) -> Fraction:
    """Returns the least δ of a symmetric curve at any real ε, rounded up."""
    if epsilon >= 0:
        return curve.delta(epsilon=epsilon).upper
    there = min(-epsilon, Fraction(MAX_EXPONENT))
    return 1 - (1 - curve.delta(epsilon=there).upper) / exp_up(there)


def _least_below(curve: Curve, delta: Fraction, low: Fraction, moved: Fraction) -> Fraction:
    """Returns the least ε from `low` on at which a symmetric curve is at most `delta` at ε +
    `moved`, for a curve that is so at 0; found by halving."""
    high = -moved
    for _ in range(_HALVINGS):
        middle = bits_up((low + high) / 2, 60)
        if _real_delta(curve, middle + moved) <= delta:
            high = middle
        else:
            low = middle
    return high


# --- on a grid -----------------------------------------------------------------------------------


@lru_cache(maxsize=8)  # one question is answered on several grids
def _bound(loss: HistogramLoss) -> _HistogramBound:
    return _HistogramBound(loss)


class _HistogramBound:
    """The greatest δ' of the module's text over the ways that keys come and go, for all ε at once;
    `top`: the ε from which on it no longer falls."""

    def __init__(self, loss: HistogramLoss) -> None:
        from dpcompose.curves.backends.lattice.loss_distribution import base_law
        from dpcompose.curves.backends.lattice.samples import curve_of
        from dpcompose.curves.rounding.doubles import EPS
        from dpcompose.curves.rounding.exact import float_up

        def of(keys: int) -> Power | None:
            return curve_of(loss.noise.repeat(keys), base_law) if keys else None

        #: The noise that is left, (i-j)κ rounded down, and e^((L-i)κ) - 1, rounded down.
        self.ways: list[tuple[Power | None, float, float]] = []
        for apart, ways in loss._ways():
            if ways:
                left = of(loss.all_keys - apart)
                for first, second in ways:
                    moved = -float_up(-loss._shift_of_losses(first, second))
                    grown = float(1 / loss._grown(loss.keys - first) - 1) * (1 - 2 * EPS)
                    self.ways.append((left, moved, max(grown, 0.0)))
        if loss.all_keys > _MOST_APART:
            far = -float_up(loss.keys * loss._far)
            self.ways.append((of(loss.all_keys - _MOST_APART - 1), far, 0.0))
        tops = [power.top - moved for power, moved, _ in self.ways if power is not None]
        self.top = max(max(tops, default=0.0), float_up(loss.keys * loss._far)) * (1 + 4 * EPS)

    def at(self, losses: Floats) -> Floats:
        """Returns δ' at each ε ≥ 0 of `losses`."""
        import numpy as np

        from dpcompose.curves.rounding.doubles import EPS

        found = np.zeros(len(losses))
        for power, moved, grown in self.ways:
            at = losses + moved - 4 * EPS * (np.abs(losses) + abs(moved))
            once = np.maximum(-np.expm1(at), 0.0) if power is None else power.at(at)
            found = np.maximum(found, once - grown * (1 - once))
        [(whole, *_), *_] = self.ways
        assert whole is not None
        result: Floats = np.minimum(found, whole.at(losses)) * (1 + 16 * EPS)
        return result
