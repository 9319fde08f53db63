"""How large the loss of a part typically is, and the grid on which it lies exactly, if any."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcompose.curves.backends.lattice.tuning import MOST_POINTS, NORMAL_TAIL
from dpcompose.curves.curve import (
    Allocated,
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    Renyi,
    ReplacedRows,
    Response,
    Sampled,
)
from dpcompose.curves.rounding.doubles import LEAST

#: A standard deviation that no bounded loss of one mechanism exceeds by much, however large it is.
WIDEST = 1.7


def natural_step(part: Part) -> Fraction | None:
    """Returns the step of the widest grid through 0 on which all losses of `part` lie; None if
    there is none, or none of a reasonable number of points."""
    match part:
        case Response(epsilon):
            return epsilon
        case MechanismLoss():
            return part.natural_step()
        case Points(points):
            return _step_of_points(points)
        case MixtureOfDraws(ways):
            return _step_of_ways([base for _, base in ways])
    return None


def _step_of_ways(ways: Sequence[Curve]) -> Fraction | None:
    """Returns the natural step of several compositions of one part each; None if there is none."""
    inner = [base.parts[0][0] for base in ways if base.parts]
    if any(base.gaussian or sum(n for _, n in base.parts) > 1 for base in ways) or not inner:
        return None
    steps = [step for part in inner if (step := natural_step(part))]
    if len(steps) < len(inner):
        return None
    top = math.lcm(*(each.denominator for each in steps))
    step = Fraction(math.gcd(*(int(each * top) for each in steps)), top)
    return step if max(steps) < step * MOST_POINTS else None


def _step_of_points(points: tuple[tuple[Fraction, Fraction], ...]) -> Fraction | None:
    """Returns the natural step of the losses that belong to some (ε, δ); None if there is none."""
    from dpcompose.curves.backends.lattice.from_points import atoms

    losses = [loss for loss, p in atoms(points)[0] if p]
    top = math.lcm(*(loss.denominator for loss in losses))
    step = Fraction(math.gcd(*(int(loss * top) for loss in losses)), top)
    return step if max(losses, default=0) < step * MOST_POINTS else None


def even(shift: int, unit: Fraction) -> Fraction:
    """Returns the step of the grid on which all losses (shift - 2n)·unit lie."""
    return unit if shift % 2 else 2 * unit


def scale(part: Part) -> float:
    """Returns about the standard deviation of the loss; for choosing a grid, not for a bound."""
    match part:
        case Response(epsilon):
            return double_of(epsilon, WIDEST)
        case MechanismLoss():
            return part.spread()
        case Points(points):
            return double_of(next((epsilon for epsilon, _ in points if epsilon), 1), WIDEST)
        case Concentrated(rho):
            return math.sqrt(double_of(2 * rho, 1e300))
        case Renyi(points, rho):
            lowest = min((epsilon / order for order, epsilon in points), default=Fraction(0))
            return math.sqrt(double_of(2 * (lowest + rho), 1e300))
        case Sampled(rate, base):
            return _sampled(double_of(rate, 1), composed_scale(base))
        case Allocated(steps, gaussian):
            # The mean of log-normal numbers.
            return math.sqrt(math.log1p(math.expm1(double_of(gaussian, 300)) / steps))
        case MixtureOfDraws(ways):
            return math.sqrt(
                sum(double_of(q, 1) * _square(composed_scale(base)) for q, base in ways)
            )
        case PoissonReplaceOne(rate, once, both):
            moved = 2 * composed_scale(once) if both is None else composed_scale(both)
            return _sampled(double_of(rate, 1), moved)
        case PoissonGroup(rate, once, replaced):
            return _sampled(double_of(rate, 1), composed_scale(once[-1]) * (2 if replaced else 1))
        case ReplacedRows(chances, once):
            return _sampled(double_of(1 - chances[0], 1), composed_scale(once[-1]))
        case Grouped(base, steps):
            return min(steps, 1e100) * composed_scale(base)
        case Maximum(options):
            return max(map(composed_scale, options))


def far(part: Part) -> float:
    """Returns about how large a loss is that hardly ever occurs, for choosing a grid, not for a
    bound: the greatest loss of what is bounded, else that of a normal law."""
    match part:
        case Response(epsilon):
            return double_of(epsilon, 1e100)
        case MechanismLoss() if (greatest := part.greatest()) is not None:
            return double_of(greatest, 1e100)
        case Points(points):
            return double_of(max((epsilon for epsilon, _ in points), default=Fraction(0)), 1e100)
        case Sampled(rate, base):
            most = composed_far(base)
        case PoissonReplaceOne(rate, once, both):
            most = max(composed_far(once, 2), composed_far(both) if both else 0.0)
        case PoissonGroup(rate, once, replaced):
            most = composed_far(once[-1], 2 if replaced else 1)
        case ReplacedRows(chances, once):
            most, rate = composed_far(once[-1]), 1 - chances[0]
        case Allocated(steps, gaussian):
            most, rate = _normal_far(math.sqrt(double_of(gaussian, 1e100))), Fraction(1, steps)
        case Grouped(base, steps):
            return composed_far(base, steps)
        case MixtureOfDraws(ways):
            return max((composed_far(base) for _, base in ways), default=0.0)
        case Maximum(options):
            return max(map(composed_far, options))
        case _:
            return _normal_far(scale(part))
    # ln(1+q(e^most-1)), of which next to nothing is left where q·e^most is.
    log_odds = math.log(max(double_of(rate, 1), LEAST)) + most
    return max(log_odds, 0.0) + math.log1p(math.exp(-abs(log_odds))) + scale(part)


def composed_far(composition: Curve, steps: int = 1) -> float:
    """Returns for a composition what `far` does for a part, of tables so many steps apart."""
    apart = min(steps, 1e100)
    each = [(far(part), min(count, 1e100)) for part, count in composition.parts]
    most = math.inf if composition.gaussian else apart * sum(loss * n for loss, n in each)
    normal = _normal_far(apart * composed_scale(composition))
    return max([min(normal, most), *(apart * loss for loss, _ in each)])


def _normal_far(deviation: float) -> float:
    """Returns about how far a privacy loss reaches that is normal with this standard deviation d,
    and so has the mean d²/2."""
    deviation = min(deviation, 1e100)
    return NORMAL_TAIL * deviation + deviation**2 / 2


def composed_scale(composition: Curve) -> float:
    """Returns for a composition what `scale` does for a part."""
    square = double_of(composition.gaussian, 1e300)
    for part, count in composition.parts:
        square += scale(part) ** 2 * min(count, 1e100)
    return math.sqrt(square)


def _square(x: float) -> float:
    return x * x  # infinite where it is too large


def double_of(x: Fraction | int, most: float) -> float:
    """Returns `x` as a double, at most `most`."""
    return float(x) if x < most else most


def _sampled(q: float, mu: float) -> float:
    """Returns the standard deviation of ln(1+q(e^z-1)), the loss behind a sample of rate `q` whose
    inner loss z is normal with the deviation `mu`."""
    if not mu or mu > 30:
        return min(mu, 30.0)
    squares = total = 0.0
    for i in range(-160, 161):
        x = i / 20
        z = mu * x - mu * mu / 2
        weight = math.exp(-x * x / 2)
        loss = math.log1p(q * math.expm1(z)) if z > -700 and q < 1 else z
        total += weight
        squares += weight * loss * loss
    return math.sqrt(squares / total)
