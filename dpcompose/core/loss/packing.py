"""Dominance among pure losses: whether some are worse than others composed, by packing.

ε-DP dominates every composition that is ε-DP; t steps of ε-DP dominate every composition that takes
t such steps, one after the other, each step ε-DP for the whole composition.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpcompose.core.loss.pattern import MechanismLossOptions
from dpcompose.curves import Part, Response, curve_of
from dpcompose.curves.families import PureSteps

#: A pure loss in ways that all hold: (ε of a step, number of steps); a response is one step.
Pure = tuple[tuple[Fraction, int], ...]
#: What is left of it: for each way (ε, remaining steps, False), or (ε, remaining ε, True).
_Room = tuple[tuple[Fraction, Fraction, bool], ...]


def as_pure(atom: MechanismLossOptions) -> Pure | None:
    """Returns the ways in which a loss is known by pure guarantees; None for any other loss.

    A single option may also have a Gaussian μ² and a δ, which are ignored here.
    """
    found: list[tuple[Fraction, int]] = []
    for known in atom.options:
        way = pure_way(known.part)
        if way is None or (len(atom.options) > 1 and known != curve_of(known.part)):
            return None
        found.append(way)
    return tuple(found)


def pure_way(part: Part | None) -> tuple[Fraction, int] | None:
    """Returns a pure loss as (ε of a step, number of steps); None for any other loss."""
    match part:
        case Response(epsilon) if epsilon:
            return epsilon, 1
        case PureSteps(shift, scale):
            return 1 / scale, shift
        case _:
            return None


def least_epsilon(pure: Pure) -> Fraction:
    """Returns the ε of the whole path: the least of ε times steps over all ways."""
    return min(epsilon * steps for epsilon, steps in pure)


def packs(over: Mapping[Pure, int], under: Mapping[Pure, int]) -> bool:
    """Returns whether the losses `under` fit into the losses `over`: sound, not complete.

    The largest loss is placed first, each where it leaves the least room. Each loss must fit into
    every way of a loss `over`, for which it may be read in the way that fits best.
    """
    free: dict[_Room, int] = {}
    for pure, count in over.items():
        room = tuple(
            (epsilon, epsilon if steps == 1 else Fraction(steps), steps == 1)
            for epsilon, steps in pure
        )
        free[room] = free.get(room, 0) + count
    for pure in sorted(under, key=least_epsilon, reverse=True):
        left = under[pure]
        while left:
            best: tuple[Fraction, _Room, tuple[Fraction, ...]] | None = None
            for room in free:
                needs = _needs(room, pure)
                if needs is not None:
                    rest = _rest(room, needs, 1)
                    size = min(
                        (amount if plain else amount * epsilon for epsilon, amount, plain in rest),
                        default=Fraction(0),
                    )
                    if best is None or size < best[0]:
                        best = size, room, needs
            if best is None:
                return False
            _, room, needs = best
            each = min(
                int(amount // need) for (_, amount, _), need in zip(room, needs, strict=True)
            )
            full = min(free[room], left // each)
            many, inside = (full, each) if full else (1, left)
            free[room] -= many
            if not free[room]:
                del free[room]
            rest = _rest(room, needs, inside)
            if all(amount for _, amount, _ in rest):
                free[rest] = free.get(rest, 0) + many
            left -= many * inside
    return True


def _needs(room: _Room, pure: Pure) -> tuple[Fraction, ...] | None:
    """Returns the amount that a loss takes of each way of a room; None if it does not fit.

    The amount is an ε where the way is a single step, else a number of steps.
    """
    needs: list[Fraction] = []
    for epsilon, amount, plain in room:
        if plain:
            need = least_epsilon(pure)
        else:
            # Several steps of a smaller ε make one step of this ε.
            ways = [-(-steps // int(epsilon // each)) for each, steps in pure if each <= epsilon]
            if not ways:
                return None
            need = Fraction(min(ways))
        if need > amount:
            return None
        needs.append(need)
    return tuple(needs)


def _rest(room: _Room, needs: tuple[Fraction, ...], times: int) -> _Room:
    """Returns the room that is left after `times` losses with these needs."""
    return tuple(
        (epsilon, amount - need * times, plain)
        for (epsilon, amount, plain), need in zip(room, needs, strict=True)
    )
