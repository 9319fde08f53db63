"""The bounds of the theorems that are data of the handbook, by which their examples are checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpcompose.core.notions.notion import Amount, Notion, Pair, at_distance
from dpcompose.core.theorems.composition import total
from dpcompose.core.theorems.composition_profile import rounded
from dpcompose.core.theorems.disjoint import largest
from dpcompose.core.theorems.filtering import approx_filter
from dpcompose.curves.rounding import ONE, ZERO, exp_up


def sequential_equal(epsilon: Fraction, times: int) -> Fraction:
    return epsilon * times


def sequential_independent(epsilons: Sequence[Fraction]) -> Fraction:
    return total(epsilons)


def sequential_adaptive(epsilons: Sequence[Fraction]) -> Fraction:
    return total(epsilons)


def parallel(epsilons: Sequence[Fraction]) -> Fraction:
    return largest(epsilons)


def parallel_trap(epsilons: Sequence[Fraction]) -> Fraction | None:
    return None


def no_neighbours() -> Fraction | None:
    return None


def over_blocks(mus_squared: Sequence[Fraction], distances: Sequence[int]) -> Fraction:
    """Returns the μ² of mechanisms on blocks at distances d_i: Σ μ_i²·d_i²."""
    moved: list[Amount] = [
        at_distance(mu_squared, Notion.GDP, distance)
        for mu_squared, distance in zip(mus_squared, distances, strict=True)
    ]
    return total(Fraction(each) for each in moved)


def gaussian_blocks(mus_squared: Sequence[Fraction], distances: Sequence[int]) -> Fraction:
    return over_blocks(mus_squared, distances)


def gaussian_spread(distances: Sequence[int]) -> Fraction:
    return over_blocks([Fraction(1)] * len(distances), distances)


def adaptive_converse(loss: Fraction) -> Fraction:
    return loss


def trade_off(pairs: Sequence[Sequence[Fraction]], rate: Fraction) -> Fraction:
    found = (_by_pair(epsilon, delta, rate) for epsilon, delta in pairs)
    return rounded(max(rate, min((ONE, *found))))


def _by_pair(epsilon: Fraction, delta: Fraction, rate: Fraction) -> Fraction:
    factor = exp_up(epsilon)
    return min(delta + factor * rate, 1 - (1 - delta - rate) / factor)


def advantage(pairs: Iterable[Sequence[Fraction]]) -> Fraction:
    found = []
    for epsilon, delta in pairs:
        factor = exp_up(epsilon)
        found.append(1 - 2 * (1 - delta) / (factor + 1))
    return rounded(max(ZERO, min((ONE, *found))))


def success(pairs: Sequence[Sequence[Fraction]], baseline: Fraction) -> Fraction:
    return trade_off(pairs, baseline)


def profile_on_disjoint(profiles: Sequence[Sequence[Pair]]) -> tuple[Pair, ...]:
    at = sorted({epsilon for points in profiles for epsilon, _ in points})
    found: list[Pair] = []
    for epsilon in at:
        worst = max(
            min((delta for e, delta in points if e <= epsilon), default=ONE) for points in profiles
        )
        if worst < (found[-1][1] if found else ONE):
            found.append((epsilon, worst))
    return tuple(found)


def bounded_range(eta: Fraction) -> Fraction:
    return eta * eta / 8


def zcdp_filter_aside(losses: Sequence[Pair], limit: Pair) -> Pair | None:
    return approx_filter(losses, limit)


#: The bound of each theorem, by its id.
BOUNDS: Mapping[str, Callable[..., Any]] = {
    "II.5": sequential_equal,
    "II.6": sequential_independent,
    "II.7": sequential_adaptive,
    "II.8": parallel,
    "II.9": parallel_trap,
    "III.4": no_neighbours,
    "VI.24": gaussian_blocks,
    "VI.25": gaussian_spread,
    "VII.3": adaptive_converse,
    "trade-off": trade_off,
    "total-variation": advantage,
    "success-from-baseline": success,
    "profile-on-disjoint": profile_on_disjoint,
    "bounded-range": bounded_range,
    "zcdp-filter-aside": zcdp_filter_aside,
}
