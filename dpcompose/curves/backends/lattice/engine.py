"""Choice of the exponential tilt and the grid; ε and δ from the composed distribution."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from dpcompose.curves.backends.lattice.components import (
    Ensemble,
    chernoff,
    ensemble,
    lower_chance,
    moments,
    tilt_for_delta,
    tilt_for_epsilon,
)
from dpcompose.curves.backends.lattice.lattice import lattice_law, window
from dpcompose.curves.backends.lattice.law import Law, LogDelta, delta_of, epsilon_of, lower_epsilon
from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.lattice.tuning import KEPT, MAX_POINTS, NATS, TOLERANCE
from dpcompose.curves.rounding.doubles import LEAST, MAX_BITS, float_of


@dataclass(frozen=True, slots=True)
class LatticeBound:
    """An ε or a ln δ in doubles, from which `answers` makes a `Certified`: as ln δ, since δ may be
    below every double.

    `upper`: certified; `lower`: surely too small, None where not known; `grid`: the width of the
    pessimistic grid, if one was used.
    """

    upper: float
    lower: float | None
    grid: Fraction | None


Tilted = tuple[Law | None, Fraction | None]


class Shared:
    """The composed laws that were used last, to answer further questions; the key is the width of
    the grid, the tilt, and the loss around which the law was made."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Fraction, float, float], Tilted] = {}

    def get(self, key: tuple[Fraction, float, float], make: Callable[[], Tilted]) -> Tilted:
        """Returns the law kept under a key, or else what `make` returns, which is then kept."""
        if key not in self._kept:
            if len(self._kept) == KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = make()
        return self._kept[key]


Responses = Mapping[Fraction, int]
Laws = tuple[tuple[Masses, int], ...]


def least_epsilon(
    responses: Responses,
    laws: Laws,
    gaussian: Fraction,
    log_delta: float,
    most: float,
    rough: Ensemble | None = None,
    shared: Shared | None = None,
) -> LatticeBound | None:
    """Returns the least ε with ln δ(ε) ≤ `log_delta`; None if this method finds none.

    `responses`: count by ε; `laws`: further losses on one grid, with counts; `gaussian`: μ² of the
    Gaussian; `most`: an ε that is known to hold. `rough`: the same parts on a coarse grid, by which
    the tilt is chosen; None: it is chosen by `laws`. `shared`: composed laws kept for other
    questions about the same parts.
    """
    parts = rough or rough_ensemble(responses, laws, gaussian)
    theta = tilt_for_delta(parts, log_delta)
    best: LatticeBound | None = None
    for tries in range(3):
        theta = theta if shared is None else _rung(parts, theta)
        there = moments(parts, theta)
        center = min(max(there.mean, 0.0), most)

        law, grid = _law(parts, responses, laws, gaussian, theta, center, shared)
        if rough is not None and laws and _is_unlike(rough, law):
            return least_epsilon(responses, laws, gaussian, log_delta, most, None, shared)
        if law is None:
            break
        epsilon = epsilon_of(partial(_curve, law), log_delta, center, most, law.end())
        if epsilon is None:
            break
        if best is None or epsilon < best.upper:
            lower = lower_epsilon(law, log_delta, epsilon) if grid is None and not laws else None
            best = LatticeBound(epsilon, lower, grid)
        if abs(epsilon - there.mean) <= 2 * math.sqrt(there.variance):
            break
        # Of a few losses the saddle point says little: once more, tilted to the answer; of a rare
        # large loss no tilt shows the others, so that at last there is none.
        theta = tilt_for_epsilon(parts, epsilon) if tries == 0 else 0.0
    return best


def _is_unlike(rough: Ensemble, law: Law | None) -> bool:
    """Returns whether a tilt that was chosen on a coarse grid makes other losses likely on the
    finer one of a law, because the coarse one has not the rare large losses to which it leads: so
    it is where the two means of e^(θ·loss) differ by more than a factor of e, or where there is no
    law, since it would be too wide."""
    if law is None:
        return True
    here = law.log_mass + law.theta * float_of(law.ref)
    return not abs(here - moments(rough, law.theta, gaussian=False).cumulant) <= 1


def _curve(law: Law, epsilon: float) -> LogDelta:
    """Returns ln δ at ε with its slope, by the composed law."""
    return delta_of(law, Fraction(epsilon))


def _rung(rough: Ensemble, theta: float) -> float:
    """Returns `theta` rounded to one of few tilts, so that composed laws kept for other questions
    are found again; δ is about as sharp there."""
    spread = math.sqrt(moments(rough, theta).variance)
    if not 0 < spread < math.inf:
        return theta
    # Between neighbours the mean moves by one or two standard deviations.
    apart = 2.0 ** math.floor(math.log2(2 / spread))
    return round(theta / apart) * apart if theta < apart * 2**40 else theta


def least_log_delta(
    responses: Responses,
    laws: Laws,
    gaussian: Fraction,
    epsilon: Fraction,
    rough: Ensemble | None = None,
    shared: Shared | None = None,
) -> LatticeBound | None:
    """Returns ln of the least δ at `epsilon` ≥ 0; None if this method finds none. The other
    parameters are those of `least_epsilon`."""
    parts = rough or rough_ensemble(responses, laws, gaussian)
    at = float_of(epsilon)
    theta = tilt_for_epsilon(parts, at)
    if shared is not None:
        theta = _rung(parts, theta)
        at = max(moments(parts, theta).mean, 0.0)

    law, grid = _law(parts, responses, laws, gaussian, theta, at, shared)
    if rough is not None and laws and _is_unlike(rough, law):
        return least_log_delta(responses, laws, gaussian, epsilon, None, shared)
    if law is None:
        return None
    value = delta_of(law, epsilon)
    return LatticeBound(
        value.log_upper, value.log_lower if grid is None and not laws else None, grid
    )


@lru_cache(maxsize=1)
def shared_ensemble(
    responses: tuple[tuple[Fraction, int], ...], gaussian: Fraction
) -> tuple[Ensemble, Shared]:
    """Returns the rough ensemble of some responses, and the store of their composed laws, both kept
    for further questions about the same responses; `gaussian`: μ²."""
    return rough_ensemble(dict(responses), (), gaussian), Shared()


def rough_ensemble(responses: Responses, laws: Laws, gaussian: Fraction) -> Ensemble:
    """Returns the parts with each ε rounded up to 60 bits: good for choosing the tilt, and for
    pessimistic grids."""
    greatest = max(responses, default=Fraction(1))
    return ensemble(responses, laws, gaussian, dyadic(greatest / 2**58))


def dyadic(x: Fraction) -> Fraction:
    """Returns the least power of two that is at least `x` > 0."""
    exponent = x.numerator.bit_length() - x.denominator.bit_length() - 1
    while True:
        power = Fraction(2) ** exponent
        if power >= x:
            return power
        exponent += 1


def _law(
    rough: Ensemble,
    responses: Responses,
    laws: Laws,
    gaussian: Fraction,
    theta: float,
    center: float,
    shared: Shared | None,
) -> Tilted:
    """Returns the privacy loss distribution of the whole composition, tilted by `theta` around the
    loss `center`, and the width of its grid if that rounds losses up, None if it is exact; (None,
    …) where no grid is fine enough.

    `shared`: composed laws, of which this one is taken if it is there, and kept if not.
    """
    compose = partial(_composed_law, rough, responses, laws, gaussian, theta, center)
    if shared is None:
        return compose()
    step = laws[0][0].step if laws else Fraction(0)
    return shared.get((step, theta, center), compose)


def _composed_law(
    rough: Ensemble,
    responses: Responses,
    laws: Laws,
    gaussian: Fraction,
    theta: float,
    center: float,
) -> Tilted:
    """Returns what `_law` does, composed anew."""
    at = Fraction(center)
    shifts = chernoff(rough, theta, NATS)
    if laws:
        step = laws[0][0].step
        parts = ensemble(responses, laws, gaussian, unit_on(responses, step))
        return lattice_law(parts, theta, step, at, shifts), step
    bottom, top = window(rough, theta, shifts)
    span = top - bottom
    common = common_step(responses)
    points = span / float_of(common) if common is not None else math.inf
    if common is not None and points <= MAX_POINTS // 2 and _fits(responses, common):
        parts = ensemble(responses, (), gaussian, common)
        return lattice_law(parts, theta, common, at, shifts), None
    # Splitting adds to the variance at most step²/4 for each lesser loss; ε grows by (1+θ)/2 of
    # what is added.
    moved = float((rough.num * lower_chance(rough.eps, theta)).sum())
    fine = math.sqrt(8 * TOLERANCE * max(center, 1e-6 * span) / ((1 + theta) * max(moved, 1e-9)))
    fine = min(max(fine, span / (MAX_POINTS - 64)), span / 256)
    units = max(1, int(fine / float_of(rough.unit)))
    if units >= 1 << 61:
        return None, None
    step = units * rough.unit
    return lattice_law(rough, theta, step, at, shifts), step


def unit_on(responses: Responses, step: Fraction) -> Fraction:
    """Returns the unit in which the ε of responses are counted on a grid: its step, divided by a
    power of two as large as the whole numbers allow."""
    if all((2 * epsilon / step).denominator == 1 for epsilon in responses):
        return step
    bits = max(0, 58 - math.ceil(2 * max(responses) / step).bit_length())
    return step / (1 << bits)


def _fits(responses: Responses, step: Fraction) -> bool:
    """Returns whether every ε can be counted in this step without an overflow."""
    return 2 * max(responses) / step < 2**60


def common_step(responses: Responses) -> Fraction | None:
    """Returns the greatest number of which every 2ε is a whole multiple; None if it is too small to
    be a grid."""
    bottom, top = 1, 0
    for epsilon in responses:
        twice = 2 * epsilon
        bottom = math.lcm(bottom, twice.denominator)
        if bottom.bit_length() > MAX_BITS:
            return None
    for epsilon in responses:
        twice = 2 * epsilon
        top = math.gcd(top, twice.numerator * (bottom // twice.denominator))
    common = Fraction(top, bottom)
    return common if common > LEAST else None
