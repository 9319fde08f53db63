"""Dominance: which patterns are at least as bad as others at every δ (theory, section 5).

By packing: ε-DP dominates every composition that is ε-DP; t steps of ε-DP dominate every
composition that takes t such steps, one after the other, each step ε-DP for the whole composition;
and noise at a shift dominates the same noise at several shifts that add up to it (see `family`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.pattern import (
    LossMultiset,
    MechanismLossOptions,
    in_both_orders,
)
from dpcompose.curves import (
    Concentrated,
    Curve,
    Grouped,
    MechanismLoss,
    Part,
    PoissonReplaceOne,
    Response,
    Sampled,
    curve_of,
)
from dpcompose.curves.families import PureSteps, equal_steps
from dpcompose.curves.rounding import ONE, ZERO

#: The family of pure losses, among those whose sizes add.
PURE = "pure DP"
#: The size of a loss by bounds that all hold: (ε of a step, number of steps); a response is one
#: step, and so is noise at a shift.
Steps = tuple[tuple[Fraction, int], ...]
#: What of such a loss is not yet used to cover others: for each bound (ε, steps left, False), or
#: (ε, ε left, True).
_Room = tuple[tuple[Fraction, Fraction, bool], ...]


def as_pure(atom: MechanismLossOptions) -> Steps | None:
    """Returns the bounds in pure DP of a loss, as (ε of a step, number of steps); None for any
    other loss.

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
    """Returns a factor in pure DP as (ε of a step, number of steps); None for any other one."""
    match part:
        case Response(epsilon) if epsilon:
            return epsilon, 1
        case PureSteps(shift, scale):
            return 1 / scale, shift
        case _:
            return None


def least_size(loss: Steps) -> Fraction:
    """Returns the least ε known of a pure loss: of ε times steps over all its bounds; or a
    shift."""
    return min(epsilon * steps for epsilon, steps in loss)


def packs(over: Mapping[Steps, int], under: Mapping[Steps, int]) -> bool:
    """Returns whether the losses `over` are known to dominate the losses `under` of one family, by
    packing.

    Both have counts. The losses `under` are packed like items into the losses `over`: the largest
    loss is placed first, each where it leaves the least room. Each loss must fit into every bound
    of a loss `over`, for which it may be read in the way that fits best. Sound, not complete.

    If all counts are multiples of a number, a part of each side is packed first, which is then
    packed so many times: compositions of losses that dominate others dominate their compositions.
    """
    copies = math.gcd(*over.values(), *under.values())
    if copies > 1 and packs(_parted(over, copies), _parted(under, copies)):
        return True
    free: dict[_Room, int] = {}
    for pure, count in over.items():
        room = tuple(
            (epsilon, epsilon if steps == 1 else Fraction(steps), steps == 1)
            for epsilon, steps in pure
        )
        free[room] = free.get(room, 0) + count
    for pure in sorted(under, key=least_size, reverse=True):
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


def _parted(losses: Mapping[Steps, int], copies: int) -> dict[Steps, int]:
    """Returns losses with their counts divided by a number of copies."""
    return {loss: n // copies for loss, n in losses.items()}


def _needs(room: _Room, pure: Steps) -> tuple[Fraction, ...] | None:
    """Returns the amount that a pure loss takes of each bound of `room`; None if it does not fit.

    The amount is an ε where the bound is a single step, else a number of steps.
    """
    needs: list[Fraction] = []
    for epsilon, amount, plain in room:
        if plain:
            need = least_size(pure)
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
    """Returns the room that is left after `times` losses that take the amounts `needs`."""
    return tuple(
        (epsilon, amount - need * times, plain)
        for (epsilon, amount, plain), need in zip(room, needs, strict=True)
    )


def family(part: Part) -> tuple[object, Fraction] | None:
    """Returns the family of noise and the shift of a loss whose shifts add, None for any other
    loss.

    In such a family the loss with shift a+b dominates those with a and b composed. Noise with
    monotone likelihood ratios is one: the shifts along a path of tables add, without loss, to one
    shift. Steps losses are handled by packing (`packs`).
    """
    match part:
        case MechanismLoss():
            shift = part.line()
            return None if shift is None else (part.with_shift(ZERO), shift)
        case _:
            return None


class Summary(NamedTuple):
    """The sizes by which a loss is compared, where it has some.

    `family`: `PURE`, a family of noise whose shifts add (see `family`), or None; `steps`: the size
    of a loss of that family; a shift counts as one step. `gaussian`: μ²; `no_failure`: the chance
    1-δ, None if it is 1.
    """

    family: object
    steps: Steps
    gaussian: Fraction
    rho: Fraction
    no_failure: Survival | None


@lru_cache(maxsize=1 << 14)  # few atoms make many patterns
def _summary(atom: MechanismLossOptions) -> Summary | None:
    """Returns the sizes of an atom; None if it can only be compared as a whole."""
    pure, known = as_pure(atom), atom.options[0]
    if pure is None and len(atom.options) > 1:
        return None
    key: object = None
    steps: Steps = ()
    rho = ZERO
    if pure is not None:
        key, steps = PURE, pure
    elif isinstance(known.part, Concentrated):
        rho = known.part.rho
    elif known.part is not None:
        found = family(known.part)
        if found is None or not found[1]:
            return None
        key, steps = found[0], ((found[1], 1),)
    no_failure = None if known.no_failure == 1 else Survival(known.no_failure)
    return Summary(key, steps, known.gaussian, rho, no_failure)


class _AtomSum(NamedTuple):
    """A pattern split into scalar sums, losses that others may cover, and the rest.

    `packed`: the losses of each family, with their counts; the sums of Gaussian μ² and of ρ; the
    chance that no failure happens; and all other atoms.
    """

    packed: dict[object, dict[Steps, int]]
    gaussian: Fraction
    rho: Fraction
    no_failure: Survival
    others: dict[MechanismLossOptions, int]


def _summed(atoms: Mapping[MechanismLossOptions, int]) -> _AtomSum:
    """Returns the atoms of a pattern, given with their counts, by kind."""
    packed: dict[object, dict[Steps, int]] = {}
    others: dict[MechanismLossOptions, int] = {}
    gaussian, rho, no_failure = ZERO, ZERO, Survival(ONE)
    for atom, n in atoms.items():
        found = _summary(atom)
        if found is None:
            others[atom] = n
            continue
        if found.family is not None:
            alike = packed.setdefault(found.family, {})
            alike[found.steps] = alike.get(found.steps, 0) + n
        if found.rho:
            rho += found.rho * n
        if found.gaussian:
            gaussian += found.gaussian * n
        if found.no_failure is not None:
            no_failure = no_failure + found.no_failure * n
    return _AtomSum(packed, gaussian, rho, no_failure, others)


def dominates(first: LossMultiset, second: LossMultiset) -> bool:
    """Returns whether `first` is known to be at least as bad as `second` at every δ.

    Sound, not complete (theory, section 5): `second` must arise from `first` by lowering losses, by
    splitting a loss into a sum, or by lowering the mass of δ.
    """
    if len(second.atoms) > 4 * len(first.atoms) + 64:
        return False
    left, right = dict(first.atoms), dict(second.atoms)
    for atom in list(right if len(right) < len(left) else left):
        shared = min(left.get(atom, 0), right.get(atom, 0))
        if shared:
            for side in (left, right):
                if side[atom] == shared:
                    del side[atom]
                else:
                    side[atom] -= shared
    if not right:
        return True
    over, under = _summed(left), _summed(right)
    if under.gaussian > over.gaussian or under.rho > over.rho or over.no_failure < under.no_failure:
        return False
    packed = (packs(over.packed.get(key, {}), losses) for key, losses in under.packed.items())
    return all(packed) and _matched(over.others, under.others)


def _matched(over: dict[MechanismLossOptions, int], under: dict[MechanismLossOptions, int]) -> bool:
    """Returns whether each atom `under` can be assigned an atom `over` that is at least as bad."""
    free = dict(over)
    for atom, n in under.items():
        left = n
        for other in list(free):
            if left and _covers(other, atom):
                used = min(left, free[other])
                left -= used
                free[other] -= used
                if not free[other]:
                    del free[other]
        if left:
            return False
    return True


@lru_cache(maxsize=1 << 12)  # few atoms make many patterns
def _covers(over: MechanismLossOptions, under: MechanismLossOptions) -> bool:
    """Returns whether each option of the atom `over` is at least as bad as some option of
    `under`."""
    return all(any(_worse(a, b) for b in under.options) for a in over.options)


def _worse(a: Curve, b: Curve) -> bool:
    """Returns whether the loss `a` is known to be at least as bad as the loss `b` at every δ."""
    if a.no_failure > b.no_failure or a.gaussian < b.gaussian:
        return False
    if b.part is None or a.part == b.part:
        return True
    if a.part is None:
        return False
    ours, theirs = pure_way(a.part), pure_way(b.part)
    if ours is not None and theirs is not None:
        return packs({(ours,): 1}, {(theirs,): 1})
    mine, other = family(a.part), family(b.part)
    if mine is not None and other is not None:
        return mine[0] == other[0] and mine[1] >= other[1]
    match a.part, b.part:
        case Concentrated(x), Concentrated(y):
            return x >= y
        case MechanismLoss(), MechanismLoss():
            return a.part.dominates(b.part)
        case PoissonReplaceOne(rate, once, both), Sampled(other_rate, base, False):
            # The other row may change nothing, as if it were not there.
            same = rate == other_rate and base == once
            return same and (both is None or dominates(_pattern(both), _pattern(once)))
        case Grouped(composition, 1), Sampled(_, base):
            # A sample makes nothing worse.
            return dominates(_pattern(composition), _pattern(base))
    return False


def _pattern(composition: Curve) -> LossMultiset:
    """Returns a composition as a pattern whose atoms have one option each."""
    atoms = {MechanismLossOptions((curve_of(part),)): n for part, n in composition.parts}
    if composition.gaussian:
        atoms[MechanismLossOptions((curve_of(None, composition.gaussian),))] = 1
    if composition.no_failure != 1:
        atoms[MechanismLossOptions((curve_of(None, ZERO, composition.no_failure),))] = 1
    return LossMultiset(atoms)


def covering(patterns: Sequence[LossMultiset]) -> LossMultiset:
    """Returns a pattern that dominates all of `patterns`; it is loose unless all are equal.

    In each family of noise its i-th largest loss is the largest of the i-th largest losses of the
    patterns.
    """
    first = patterns[0]
    others = [each for each in patterns[1:] if each.atoms != first.atoms]
    if not others:
        return first
    sums = [_summed(each.atoms) for each in (first, *others)]
    pures = {pure for each in sums for pure in each.packed.get(PURE, ())}
    one = _one_epsilon(pures)
    if len(others) > 1 and one is None and not all(map(_is_one_step, pures)):
        # All pure losses of a half may be steps of one ε.
        most = 1 + (len(others) + 1) // 2
        return covering([covering([first, *others][:most]), covering([first, *others][most:])])
    atoms = _most_of_each([each.others for each in sums])
    for key in dict.fromkeys(key for each in sums for key in each.packed):
        for value, n in _elementwise_maximum([each.packed.get(key, {}) for each in sums]):
            part = equal_steps(one, int(value / one)) if key is PURE and one else None
            atom = MechanismLossOptions((curve_of(part or of_family(key, value)),))
            atoms[atom] = atoms.get(atom, 0) + n
    gaussian, rho = max(each.gaussian for each in sums), max(each.rho for each in sums)
    no_failure = max(each.no_failure for each in sums).no_failure
    if gaussian:
        atoms[MechanismLossOptions((curve_of(None, gaussian),))] = 1
    if rho:
        atoms[MechanismLossOptions((curve_of(Concentrated(rho)),))] = 1
    if no_failure != 1:
        atoms[MechanismLossOptions((curve_of(None, ZERO, no_failure),))] = 1
    return LossMultiset(atoms, True, False, first.trace)


def _most_of_each(
    others: Sequence[dict[MechanismLossOptions, int]],
) -> dict[MechanismLossOptions, int]:
    """Returns each atom with its largest count in any of `others`, atoms with their counts.

    Atoms that differ only by the order of the two tables (one-sided samples) are counted together,
    and are replaced by an atom that dominates both orders.
    """
    orders: dict[MechanismLossOptions, dict[MechanismLossOptions, None]] = {}
    for each in others:
        for atom in each:
            orders.setdefault(in_both_orders(atom), {})[atom] = None
    found: dict[MechanismLossOptions, int] = {}
    for whole, several in orders.items():
        atom = whole if len(several) > 1 else next(iter(several))
        found[atom] = max(sum(each.get(one, 0) for one in several) for each in others)
    return found


def _is_one_step(pure: Steps) -> bool:
    """Returns whether a pure loss has one bound only, a single step of one ε."""
    return len(pure) == 1 and pure[0][1] == 1


def _one_epsilon(losses: Iterable[Steps]) -> Fraction | None:
    """Returns the ε of a step if all steps of all pure losses have the same ε, else None."""
    sizes = {epsilon for each in losses for epsilon, _ in each}
    return sizes.pop() if len(sizes) == 1 else None


def of_family(key: object, value: Fraction) -> Part:
    """Returns the loss of a family, `key`, of the size `value`: an ε, a shift, or a number of pure
    steps."""
    match key:
        case str():
            return Response(value)
        case PureSteps():
            return key.along(int(value))
        case MechanismLoss():
            return key.with_shift(value)
    raise AssertionError(key)


def _elementwise_maximum(losses: Sequence[Mapping[Steps, int]]) -> Iterator[tuple[Fraction, int]]:
    """Yields the elementwise maximum of the sizes in multisets, each sorted downwards, with counts.

    For every x it has as many elements of at least x as the multiset that has most of them.
    """
    listed = [
        (least_size(steps), i, n) for i, each in enumerate(losses) for steps, n in each.items()
    ]
    listed.sort(reverse=True)
    counts = [0] * len(losses)
    told = most = 0
    for value, group in groupby(listed, key=itemgetter(0)):
        for _, i, n in group:
            counts[i] += n
        most = max(counts)
        if most > told:
            yield value, most - told
            told = most
