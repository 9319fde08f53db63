"""Dominance: which patterns are at least as bad as others at every δ (theory, section 5).

Among pure losses by packing: ε-DP dominates every composition that is ε-DP; t steps of ε-DP
dominate every composition that takes t such steps, one after the other, each step ε-DP for the
whole composition.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.pattern import (
    LossMultiset,
    Masses,
    MechanismLossOptions,
    double,
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

#: A pure loss by bounds that all hold: (ε of a step, number of steps); a response is one step.
Pure = tuple[tuple[Fraction, int], ...]
#: What is left of it: for each bound (ε, remaining steps, False), or (ε, remaining ε, True).
_Room = tuple[tuple[Fraction, Fraction, bool], ...]


def as_pure(atom: MechanismLossOptions) -> Pure | None:
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


def least_epsilon(pure: Pure) -> Fraction:
    """Returns the least ε known of a pure loss: of ε times steps over all its bounds."""
    return min(epsilon * steps for epsilon, steps in pure)


def packs(over: Mapping[Pure, int], under: Mapping[Pure, int]) -> bool:
    """Returns whether the pure losses `over` are known to dominate the losses `under`, by packing.

    Both have counts. The losses `under` are packed like items into the losses `over`: the largest
    loss is placed first, each where it leaves the least room. Each loss must fit into every bound
    of a loss `over`, for which it may be read in the way that fits best. Sound, not complete.
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
    """Returns the amount that a pure loss takes of each bound of `room`; None if it does not fit.

    The amount is an ε where the bound is a single step, else a number of steps.
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
    shift. Pure losses are handled by packing (`packs`).
    """
    match part:
        case MechanismLoss():
            shift = part.line()
            return None if shift is None else (part.with_shift(ZERO), shift)
        case _:
            return None


def weighed(pattern: LossMultiset) -> LossMultiset:
    """Returns the pattern with its masses computed; they are stored in the pattern itself.

    Masses serve to exclude dominance quickly: a pattern has at least the mass, of each sort, of
    every pattern that it dominates, since the latter arises by lowering losses and by splitting
    them. The sorts are pure ε, Gaussian μ², ρ, δ, two sums of the shifts of all families weighted
    by a hash of the family, and the number of all other losses.
    """
    if pattern.masses is not None:
        return pattern
    whole = [0.0] * _SORTS
    for atom, n in pattern.atoms.items():
        for sort, mass in enumerate(_summary(atom).masses):
            if mass:
                whole[sort] += n * mass
    object.__setattr__(pattern, "masses", tuple(whole))
    return pattern


_SORTS = 7
#: The rounding error allowed in sums of masses, which are floats.
_NEARLY = 1 + 1e-9


#: A number as a double, which is quick to compare, and exactly.
Amount = tuple[float, Fraction]


class Sorted(NamedTuple):
    """The summary of an atom; exactly one kind: `pure`, or `kin` with its shift, or `other`.

    `amount`: the total ε of a pure loss, or the shift, as a double and exactly. `gaussian`: μ².
    `no_failure`: the chance 1-δ, None if it is 1. `masses`: numbers of which a pattern has at least
    as much as one that it dominates.
    """

    pure: Pure | None
    kin: Kin | None
    amount: Amount
    gaussian: Fraction
    rho: Fraction
    no_failure: Survival | None
    other: bool
    masses: Masses


class Kin:
    """A family of noise whose shifts add; families with equal keys are one object, as atoms are."""

    __slots__ = ("__weakref__", "key")
    _known: ClassVar[WeakValueDictionary[object, Kin]] = WeakValueDictionary()

    key: object

    def __new__(cls, key: object) -> Kin:
        """Returns the unique object with this key."""
        known = cls._known.get(key)
        if known is None:
            known = super().__new__(cls)
            known.key = key
            cls._known[key] = known
        return known


def _summary(atom: MechanismLossOptions) -> Sorted:
    """Returns the summary of an atom, stored in the atom."""
    found: Sorted | None = atom.sorted
    if found is None:
        found = atom.sorted = _summarise(atom)
    return found


def _summarise(atom: MechanismLossOptions) -> Sorted:
    """Computes the summary of an atom from its options."""
    pure, known = as_pure(atom), atom.options[0]
    kin = None if pure is not None or known.part is None else family(known.part)
    rho = known.part.rho if isinstance(known.part, Concentrated) else None
    unknown = known.part is not None and kin is None and rho is None
    if pure is None and (len(atom.options) > 1 or unknown):
        none = (0.0, ZERO)
        return Sorted(None, None, none, ZERO, ZERO, None, True, (0, 0, 0, 0, 0, 0, 1))
    leak = double(1 - known.no_failure)
    epsilon = ZERO if pure is None else least_epsilon(pure)
    key, shift = (None, ZERO) if kin is None else (Kin(kin[0]), kin[1])
    weight = 0 if kin is None else hash(kin[0])
    masses = (
        double(epsilon),
        double(known.gaussian),
        double(rho or ZERO),
        -math.log1p(-leak) if leak < 1 else math.inf,
        double(shift) * (1 + weight % 1021),
        double(shift) * (1 + weight % 4093),
        0.0,
    )
    no_failure = None if known.no_failure == 1 else Survival(known.no_failure)
    amount = epsilon or shift
    return Sorted(
        pure,
        key,
        (double(amount), amount),
        known.gaussian,
        rho or ZERO,
        no_failure,
        False,
        masses,
    )


def _surely_not(over: LossMultiset, under: LossMultiset) -> bool:
    """Returns whether the masses show that `over` does not dominate `under`."""
    first, second = weighed(over).masses, weighed(under).masses
    assert first is not None and second is not None
    return any(less > more * _NEARLY for more, less in zip(first, second, strict=True))


class _AtomSum(NamedTuple):
    """The atoms of a pattern by kind, with their sums.

    Pure losses and their counts; shifts by family (`bins`); the sums of Gaussian μ² and of ρ; the
    chance that no failure happens; and all other atoms.
    """

    pure: list[tuple[Sorted, int]]
    bins: dict[Kin, list[tuple[Amount, int]]]
    gaussian: Fraction
    rho: Fraction
    no_failure: Survival
    others: dict[MechanismLossOptions, int]


def _summed(atoms: Iterable[tuple[MechanismLossOptions, int]]) -> _AtomSum:
    """Returns the atoms of a pattern summed by kind."""
    pure: list[tuple[Sorted, int]] = []
    bins: dict[Kin, list[tuple[Amount, int]]] = {}
    others: dict[MechanismLossOptions, int] = {}
    gaussian, rho, no_failure = ZERO, ZERO, Survival(ONE)
    for atom, n in atoms:
        found: Sorted = atom.sorted or _summary(atom)
        if found.other:
            others[atom] = n
            continue
        if found.pure is not None:
            pure.append((found, n))
        elif found.kin is not None:
            bins.setdefault(found.kin, []).append((found.amount, n))
        elif found.rho:
            rho += found.rho * n
        if found.gaussian:
            gaussian += found.gaussian * n
        if found.no_failure is not None:
            no_failure = no_failure + found.no_failure * n
    return _AtomSum(pure, bins, gaussian, rho, no_failure, others)


def dominates(first: LossMultiset, second: LossMultiset) -> bool:
    """Returns whether `first` is known to be at least as bad as `second` at every δ.

    Sound, not complete (theory, section 5): `second` must arise from `first` by lowering losses, by
    splitting a loss into a sum, or by lowering the mass of δ.
    """
    if len(second.atoms) > 4 * len(first.atoms) + 64 or _surely_not(first, second):
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
    over, under = _summed(left.items()), _summed(right.items())
    if under.gaussian > over.gaussian or under.rho > over.rho or over.no_failure < under.no_failure:
        return False
    if not all(_packs(over.bins.get(key, []), bins) for key, bins in under.bins.items()):
        return False
    if not _pure_packs(over.pure, under.pure):
        return False
    return _matched(over.others, under.others)


def _pure_packs(over: list[tuple[Sorted, int]], under: list[tuple[Sorted, int]]) -> bool:
    """Returns whether the pure losses `over` are known to dominate the losses `under`, by
    packing."""
    if all(_plain(each.pure) for side in (over, under) for each, _ in side):
        return _packs(_wholes(over), _wholes(under))
    return packs(_gathered((e.pure, n) for e, n in over), _gathered((e.pure, n) for e, n in under))


def _plain(pure: Pure | None) -> bool:
    """Returns whether a pure loss is known in one way only, as a single step of one ε."""
    return pure is not None and len(pure) == 1 and pure[0][1] == 1


def _wholes(losses: list[tuple[Sorted, int]]) -> list[tuple[Amount, int]]:
    """Returns the total ε of each pure loss with its count."""
    return [(each.amount, n) for each, n in losses]


def _gathered(counted: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    """Returns the total count of each distinct item."""
    found: dict[Any, int] = {}
    for each, n in counted:
        found[each] = found.get(each, 0) + n
    return found


def _packs(bins: list[tuple[Amount, int]], into: list[tuple[Amount, int]]) -> bool:
    """Returns whether the items `into` fit into the bins `bins`, both as (size, count): sound, not
    complete.

    The largest item first, each into the bin with the least room that suffices.
    """
    free, items = (_gathered((x, n) for (_, x), n in losses) for losses in (bins, into))
    for item in sorted(items, reverse=True):
        left = items[item]
        while left:
            fitting = [capacity for capacity in free if capacity >= item]
            if not fitting:
                return False
            capacity = min(fitting)
            each = max(1, capacity // item) if item else left
            full = min(free[capacity], left // each)
            if full:
                _take(free, capacity, full, capacity - item * each)
                left -= full * each
            else:
                _take(free, capacity, 1, capacity - item * left)
                left = 0
    return True


def _take(free: dict[Fraction, int], capacity: Fraction, many: int, rest: Fraction) -> None:
    """Replaces `many` bins of the size `capacity` in `free` by as many of the size `rest`."""
    free[capacity] -= many
    if not free[capacity]:
        del free[capacity]
    if rest > 0:
        free[rest] = free.get(rest, 0) + many


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
    sums = [_summed(each.atoms.items()) for each in (first, *others)]
    pures = [pure for each in sums for pure, _ in each.pure]
    one = _one_epsilon(pures)
    if len(others) > 1 and one is None and not all(_plain(each.pure) for each in pures):
        # All pure losses of a half may be steps of one ε.
        most = 1 + (len(others) + 1) // 2
        return covering([covering([first, *others][:most]), covering([first, *others][most:])])
    atoms = _most_of_each([each.others for each in sums])
    for epsilon, n in _largest([_wholes(each.pure) for each in sums]):
        steps = None if one is None else equal_steps(one, int(epsilon / one))
        atom = MechanismLossOptions((curve_of(steps or Response(epsilon)),))
        atoms[atom] = atoms.get(atom, 0) + n
    for key in dict.fromkeys(key for each in sums for key in each.bins):
        for value, n in _largest([each.bins.get(key, []) for each in sums]):
            atom = MechanismLossOptions((curve_of(of_family(key.key, value)),))
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


def _one_epsilon(losses: Sequence[Sorted]) -> Fraction | None:
    """Returns the ε of a step if all steps of all pure losses have the same ε, else None."""
    one: Fraction | None = None
    for each in losses:
        for epsilon, _ in each.pure or ():
            if one is None:
                one = epsilon
            elif one is not epsilon and one != epsilon:
                return None
    return one


def of_family(key: object, value: Fraction) -> Part:
    """Returns the loss of a family of noise, `key`, at the shift `value` (for pure steps: their
    number)."""
    match key:
        case PureSteps():
            return key.along(int(value))
        case MechanismLoss():
            return key.with_shift(value)
    raise AssertionError(key)


def _largest(losses: Sequence[list[tuple[Amount, int]]]) -> Iterator[tuple[Fraction, int]]:
    """Yields the elementwise maximum of multisets, each sorted downwards, with counts.

    For every x it has as many elements of at least x as the multiset that has most of them.
    """
    listed = [(*amount, i, n) for i, each in enumerate(losses) for amount, n in each]
    listed.sort(reverse=True)
    counts = [0] * len(losses)
    told = most = 0
    for place, (_, value, i, n) in enumerate(listed):
        counts[i] += n
        most = max(most, counts[i])
        last = place + 1 == len(listed) or listed[place + 1][1] != value
        if last and most > told:
            yield value, most - told
            told = most
