"""Which patterns are at least as bad as others at every δ (theory, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.packing import Pure, as_pure, least_epsilon, packs
from dpcompose.core.loss.pattern import Atom, Known, Pattern
from dpcompose.core.loss.pure_steps import equal_steps
from dpcompose.core.numbers.exact import ONE, ZERO
from dpcompose.core.profile.parts import (
    Composition,
    Concentrated,
    Exchanged,
    MechanismLoss,
    Part,
    Response,
    Sampled,
)


def family(part: Part) -> tuple[object, Fraction] | None:
    """The family in which a part with parameter a+b dominates those with a and b together.

    Noise with monotone likelihood ratios is one: the shifts along a path of tables add, without
    loss, to one shift. Pure losses are packed apart.
    """
    match part:
        case MechanismLoss():
            shift = part.line()
            return None if shift is None else (part.moved(ZERO), shift)
        case _:
            return None


class _AtomSum(NamedTuple):
    """Atoms added up: pure losses, and with one option bins by family, Gaussian μ², ρ, and the
    chance to stay."""

    pure: dict[Pure, int]
    bins: dict[object, dict[Fraction, int]]
    gaussian: Fraction
    rho: Fraction
    stay: Survival
    others: dict[Atom, int]


def _summed(atoms: Iterable[tuple[Atom, int]]) -> _AtomSum:
    pure: dict[Pure, int] = {}
    bins: dict[object, dict[Fraction, int]] = {}
    others: dict[Atom, int] = {}
    gaussian, rho, stay = ZERO, ZERO, Survival(ONE)
    for atom, n in atoms:
        stated = as_pure(atom)
        if stated is None and len(atom.options) > 1:
            others[atom] = n
            continue
        known = atom.options[0]
        kin = None if known.part is None else family(known.part)
        if stated is not None:
            pure[stated] = pure.get(stated, 0) + n
        elif isinstance(known.part, Concentrated):
            rho += known.part.rho * n
        elif kin is not None:
            row = bins.setdefault(kin[0], {})
            row[kin[1]] = row.get(kin[1], 0) + n
        elif known.part is not None:
            others[atom] = n
            continue
        gaussian += known.gaussian * n
        if known.stay != 1:
            stay = stay + Survival(known.stay) * n
    return _AtomSum(pure, bins, gaussian, rho, stay, others)


def dominates(first: Pattern, second: Pattern) -> bool:
    """Whether `first` is known to be at least as bad at every δ (theory, section 5).

    Sound, not complete: `second` must arise by lowering losses, by splitting one into a sum, or by
    lowering the mass of δ.
    """
    left, right = dict(first.atoms), dict(second.atoms)
    if len(right) > 4 * len(left) + 64:
        return False
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
    if under.gaussian > over.gaussian or under.rho > over.rho or over.stay < under.stay:
        return False
    if not all(_packs(over.bins.get(key, {}), bins) for key, bins in under.bins.items()):
        return False
    if not _pure_packs(over.pure, under.pure):
        return False
    return _matched(over.others, under.others)


def _pure_packs(over: dict[Pure, int], under: dict[Pure, int]) -> bool:
    if all(len(pure) == 1 and pure[0][1] == 1 for side in (over, under) for pure in side):
        return _packs(_wholes(over), _wholes(under))
    return packs(over, under)


def _wholes(losses: dict[Pure, int]) -> dict[Fraction, int]:
    """The ε of each loss as a whole, with how many there are."""
    found: dict[Fraction, int] = {}
    for pure, n in losses.items():
        epsilon = least_epsilon(pure)
        found[epsilon] = found.get(epsilon, 0) + n
    return found


def _packs(bins: dict[Fraction, int], items: dict[Fraction, int]) -> bool:
    """Whether the items fit into the bins, the largest first, each into the fullest that fits."""
    free = dict(bins)
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
    free[capacity] -= many
    if not free[capacity]:
        del free[capacity]
    if rest > 0:
        free[rest] = free.get(rest, 0) + many


def _matched(over: dict[Atom, int], under: dict[Atom, int]) -> bool:
    """Whether each atom with several options finds one of its own that is at least as bad."""
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


def _covers(over: Atom, under: Atom) -> bool:
    """Each option of `over` is at least as bad as some option of `under`."""
    return all(any(_worse(a, b) for b in under.options) for a in over.options)


def _worse(a: Known, b: Known) -> bool:
    if a.stay > b.stay or a.gaussian < b.gaussian:
        return False
    if b.part is None or a.part == b.part:
        return True
    if a.part is None:
        return False
    ours, theirs = as_pure(Atom((Known(a.part),))), as_pure(Atom((Known(b.part),)))
    if ours is not None and theirs is not None:
        return packs({ours: 1}, {theirs: 1})
    mine, other = family(a.part), family(b.part)
    if mine is not None and other is not None:
        return mine[0] == other[0] and mine[1] >= other[1]
    match a.part, b.part:
        case Concentrated(x), Concentrated(y):
            return x >= y
        case MechanismLoss(), MechanismLoss():
            return a.part.dominates(b.part)
        case Exchanged(rate, once, both), Sampled(other_rate, base, False):
            # The other row may change nothing, as if it were not there.
            same = rate == other_rate and base == once
            return same and (both is None or dominates(_pattern(both), _pattern(once)))
    return False


def _pattern(composition: Composition) -> Pattern:
    atoms = {Atom((Known(part),)): n for part, n in composition.parts}
    if composition.gaussian:
        atoms[Atom((Known(None, composition.gaussian),))] = 1
    if composition.stay != 1:
        atoms[Atom((Known(None, ZERO, composition.stay),))] = 1
    return Pattern(atoms)


def cover(first: Pattern, second: Pattern) -> Pattern:
    """A pattern that dominates both: in each family the larger of the i-th largest losses."""
    if first.atoms == second.atoms:
        return first
    over, under = _summed(first.atoms.items()), _summed(second.atoms.items())
    atoms: dict[Atom, int] = dict(over.others)
    for atom, n in under.others.items():
        atoms[atom] = max(n, atoms.get(atom, 0))
    for part, n in _cover_pure(over.pure, under.pure):
        atom = Atom((Known(part),))
        atoms[atom] = atoms.get(atom, 0) + n
    for key in {**over.bins, **under.bins}:
        for value, n in _larger(over.bins.get(key, {}), under.bins.get(key, {})):
            atom = Atom((Known(of_family(key, value)),))
            atoms[atom] = atoms.get(atom, 0) + n
    gaussian, rho = max(over.gaussian, under.gaussian), max(over.rho, under.rho)
    stay = max(over.stay, under.stay).stay
    if gaussian:
        atoms[Atom((Known(None, gaussian),))] = 1
    if rho:
        atoms[Atom((Known(Concentrated(rho)),))] = 1
    if stay != 1:
        atoms[Atom((Known(None, ZERO, stay),))] = 1
    return Pattern(atoms, True, False, first.trace)


def _cover_pure(first: dict[Pure, int], second: dict[Pure, int]) -> Iterator[tuple[Part, int]]:
    """As steps of one ε where all are, else as responses."""
    every = {epsilon for pure in (*first, *second) for epsilon, _ in pure}
    each = every.pop() if len(every) == 1 else None
    for epsilon, n in _larger(_wholes(first), _wholes(second)):
        yield Response(epsilon) if each is None else equal_steps(each, int(epsilon / each)), n


def of_family(key: object, value: Fraction) -> Part:
    match key:
        case MechanismLoss():
            return key.moved(value)
    raise AssertionError(key)


def _larger(
    first: dict[Fraction, int], second: dict[Fraction, int]
) -> Iterator[tuple[Fraction, int]]:
    """The elementwise maximum of two multisets, each sorted downwards, with counts."""
    runs = [sorted(each.items(), reverse=True) for each in (first, second)]
    at = [0, 0]
    left = [each[0][1] if each else 0 for each in runs]
    while any(at[i] < len(runs[i]) for i in (0, 1)):
        heads = [runs[i][at[i]][0] if at[i] < len(runs[i]) else ZERO for i in (0, 1)]
        many = min(left[i] for i in (0, 1) if at[i] < len(runs[i]))
        yield max(heads), many
        for i in (0, 1):
            if at[i] < len(runs[i]):
                left[i] -= many
                if not left[i]:
                    at[i] += 1
                    left[i] = runs[i][at[i]][1] if at[i] < len(runs[i]) else 0
