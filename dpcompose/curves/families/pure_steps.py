"""Pure DP over a path of several tables: less than one step of the sum of its ε."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.curves.backends.lattice.tuning import MOST_POINTS
from dpcompose.curves.curve import Curve, Part, Response
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.order import rank
from dpcompose.curves.rounding.doubles import LEAST
from dpcompose.curves.rounding.exact import MAX_EXPONENT
from dpcompose.curves.rounding.words import count_text, number


@dataclass(frozen=True, slots=True)
class PureSteps(GeometricLoss):
    """The worst loss of a (1/scale)-DP mechanism over tables that are `shift` steps apart.

    The power of a test of level x is at most β(x) = min(1, e^ε·x, 1 - e^-ε·(1-x)) at the next
    table, and so at most β(β(…(x))) at the last one (Dong, Roth and Su 2022, Theorem 2.14). All
    that this takes are the tables between, as ε times the number of steps does. Geometric noise
    moved by as many steps has just this power: with r = e^-ε it is at least n ≥ 1 with chance
    r^n/(1+r), at most -n as well, and β takes each of these chances to the next one and is linear
    between them. As it is ε-DP at each step, no smaller curve holds for all mechanisms.
    """

    def with_shift(self, shift: Fraction) -> PureSteps:
        return PureSteps(int(shift), self.scale)

    def along(self, steps: int) -> Part:
        """Returns the loss over tables `steps` times as many steps apart; see `equal_steps`."""
        return (
            self.with_shift(Fraction(steps))
            if steps <= MOST_POINTS
            else Response(steps / self.scale)
        )

    def attained(self) -> bool:
        return False

    def describe(self) -> str:
        return f"{number(1 / self.scale)}-DP over {count_text(self.shift)} steps"

    def about_rho(self) -> float:
        """Returns about the least ρ, quickly."""
        rate = float(1 / self.scale)
        inside = 2 * math.exp(-rate) * math.expm1(-rate * self.shift) / math.expm1(-2 * rate)
        return rate * (self.shift - inside)

    def advantage(self) -> float:
        """Returns about δ at ε = 0."""
        rate, half = float(1 / self.scale), (self.shift + 1) // 2
        ends = math.exp(-rate * half) + math.exp(-rate * (self.shift + 1 - half))
        return 1 - ends / (1 + math.exp(-rate))


def equal_steps(epsilon: Fraction, steps: int) -> Part:
    """Returns the worst loss of an ε-DP mechanism for tables that are `steps` steps apart, ε > 0;
    for an ε or a number of steps beyond all use that of a (`steps`·ε)-DP mechanism, which is
    larger."""
    if not 1 < steps <= MOST_POINTS or not LEAST < epsilon <= MAX_EXPONENT:
        return Response(epsilon * steps)
    return PureSteps(steps, 1 / epsilon)


def as_responses(composition: Curve) -> Curve:
    """Returns the curve with each path of several steps replaced by randomized response of the
    whole ε, which is no smaller; the same curve if there is no path."""
    if not any(isinstance(part, PureSteps) for part, _ in composition.parts):
        return composition
    parts: dict[Part, int] = {}
    for part, n in composition.parts:
        one = Response(part.greatest()) if isinstance(part, PureSteps) else part
        parts[one] = parts.get(one, 0) + n
    return replace(composition, parts=tuple(sorted(parts.items(), key=rank)))


def least_of(epsilon: Fraction, paths: Iterable[tuple[Fraction, int]]) -> Iterator[Part]:
    """Yields losses of which none is the least at all δ: of an ε-DP mechanism, and of paths of
    equal steps.

    `epsilon`: the least ε known; `paths`: the (ε of a step, number of steps).
    """
    kept: list[tuple[Fraction, int]] = []
    for each, steps in sorted(set(paths)):
        if all(steps < other for _, other in kept):
            kept.append((each, steps))
    whole = True
    for each, steps in kept:
        part = equal_steps(each, steps)
        if isinstance(part, PureSteps) and not _surely_least(epsilon, part):
            whole = whole and epsilon < part.greatest()
            yield part
    if whole:
        yield Response(epsilon)


def _surely_least(epsilon: Fraction, part: PureSteps) -> bool:
    """Returns whether ε-DP loses no more than the path `part` at any δ, so that it is the better
    bound: the one bend of its power function lies below that of the path."""
    return (
        epsilon < part.greatest()
        and math.tanh(float(min(epsilon, Fraction(40))) / 2) <= part.advantage()
    )
