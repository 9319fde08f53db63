"""ε at a δ, and δ at an ε, of compositions whose losses all have known moment generating functions.

No loss is put on a grid: the numbers come from sums over a vertical line in the complex plane
(`line_sum`), one for each order of the tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from dpcompose.curves.backends.lattice.grids import sides
from dpcompose.curves.backends.lattice.law import epsilon_of
from dpcompose.curves.backends.lattice.sizes import natural_step
from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.backends.renyi.cumulants import not_below
from dpcompose.curves.backends.vertical_line.line_sum import LineMoments, VerticalLine, flat
from dpcompose.curves.backends.vertical_line.sampled_transforms import (
    AddedGaussians,
    SampledGaussians,
)
from dpcompose.curves.backends.vertical_line.transforms import (
    ResponseTransforms,
    Transforms,
)
from dpcompose.curves.curve import Curve, MechanismLoss, Part, Response, Sampled
from dpcompose.curves.rounding.doubles import float_of
from dpcompose.curves.rounding.exact import FURTHEST, MAX_EXPONENT

#: So many different losses without a common grid are asked for on a line, if it can be smoothed.
_MANY = 32


def epsilon_on_line(asked: Curve, log_delta: float, most: float) -> float | None:
    """Returns an ε with ln δ(ε) ≤ `log_delta`, close to the least, for both orders of the tables;
    None where some part has no transform, or the sum cannot be cut off anywhere.

    `most`: an ε that is known to hold.
    """
    return _greatest(_epsilon(line, log_delta, most) for line in _lines(asked))


def log_delta_on_line(asked: Curve, epsilon: Fraction, side: str | None = None) -> float | None:
    """Returns ln of a δ at `epsilon` ≥ 0, close to the least; None as for `epsilon_on_line`.
    `side`: the one order of the tables that is asked for; None: both."""
    # The next double below, so that no ε is taken as a greater one.
    at = math.nextafter(float_of(epsilon), -math.inf)
    return _greatest(_log_delta(line, at) for line in _lines(asked, side))


def _greatest(found: Iterator[float | None]) -> float | None:
    """Returns the greatest of some numbers, None if one of them is None, after which no more are
    computed, or if there are none."""
    greatest: float | None = None
    for each in found:
        if each is None:
            return None
        greatest = each if greatest is None else max(greatest, each)
    return greatest


def _epsilon(line: VerticalLine, log_delta: float, most: float) -> float | None:
    """Returns the ε for one order of the tables; the parameters are those of `epsilon_on_line`."""

    def much(theta: float, here: LineMoments) -> float:
        """Returns ln δ at the mean of the loss under the tilt `theta`, less `log_delta`."""
        return here.cumulant - theta * here.mean + flat(theta, here.variance) - log_delta

    theta, aimed = line.tilt(much), None
    for _ in range(3):
        if theta is None:
            return None
        found, centre = line.near_tilt(theta, aimed)
        if found is None:
            return None
        epsilon = epsilon_of(found.log_delta, log_delta, centre, most, centre + 8 / theta)
        if epsilon is None:
            return None
        if epsilon == 0 or found.log_delta(epsilon).log_lower > -math.inf:
            return epsilon
        aimed = epsilon
        theta = line.tilt(partial(_short_of, aimed))
    return None


def _short_of(at: float, _: float, here: LineMoments) -> float:
    """Returns by how much the mean of the tilted loss is below `at`."""
    return at - here.mean


def _log_delta(line: VerticalLine, at: float) -> float | None:
    """Returns ln δ at ε = `at` for one order of the tables; None where the sum would be too long or
    too inaccurate."""
    theta = line.tilt(partial(_short_of, at))
    found = None if theta is None else line.near_tilt(theta, at)[0]
    value = None if found is None else found.log_delta(at)
    return None if value is None or value.log_lower == -math.inf else value.log_upper


def _lines(asked: Curve, only: str | None = None) -> list[VerticalLine]:
    """Returns the transforms of all parts, once for each order of the tables that differs; an empty
    list where some part has no transform, or the sum could not be cut off. `only`: the one order to
    take."""
    lines: list[VerticalLine] = []
    for side in sides(asked.parts, only):
        line = line_of(asked, side)
        if line is None or not (line.smooth or _are_unlike(asked)):
            return []
        lines.append(line)
    return lines


def _are_unlike(asked: Curve) -> bool:
    """Returns whether there are many different losses without a common grid, of which the lattice
    takes a transform for each: the line takes next to nothing of a Gaussian beside them.

    Of responses more are quick on the lattice, which knows more of their sum.
    """
    responses = [part for part, _ in asked.parts if isinstance(part, Response)]
    laws = [part for part, _ in asked.parts if isinstance(part, MechanismLoss)]
    if len(laws) >= _MANY and any(natural_step(part) is None for part in laws):
        return True
    return len(responses) > FEW


def line_of(asked: Curve, side: str) -> VerticalLine | None:
    """Returns the transforms of all parts for one order of the tables; None where some part has
    none."""
    kinds: dict[type[Transforms], list[tuple[Part, int]]] = {}
    if asked.gaussian > FURTHEST:
        return None
    for part, count in asked.parts:
        kind = _kind(part, side)
        if kind is None or count > FURTHEST:
            return None
        kinds.setdefault(kind, []).append((part, count))
    found = [kind([p for p, _ in some], [n for _, n in some]) for kind, some in kinds.items()]
    return VerticalLine(found, not_below(asked.gaussian) if asked.gaussian else 0.0)


def _kind(part: Part, side: str) -> type[Transforms] | None:
    """Returns the class of the transforms of `part` for an order of the tables; None where there is
    none."""
    match part:
        case Response(epsilon) if epsilon < MAX_EXPONENT:
            return ResponseTransforms
        case MechanismLoss():
            greatest = part.greatest()
            known = greatest is None or greatest < MAX_EXPONENT
            return part.transforms() if known else None
        case Sampled(rate, base, False, own) if (
            own != "both" and 0 < rate < 1 and base.no_failure == 1 and not base.parts
        ):
            if 0 < base.gaussian < FURTHEST:
                added = (own == "added") != (side == "added")
                return AddedGaussians if added else SampledGaussians
    return None
