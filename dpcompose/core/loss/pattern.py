"""The loss of one change over all mechanisms together: a multiset of privacy losses, called a
pattern.

At a chosen δ the worst neighbouring change cannot be found from sums (theory, section 5, "the worst
case depends on δ"), so that the losses of a change are stored separately, as a pattern. A pattern
stands for the composition of its atoms, each the loss of one mechanism; a pattern may be dropped
when another one dominates it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

from dpcompose.curves import (
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
    curve_of,
    leans,
    rank,
)
from dpcompose.curves.families import PureSteps


class MechanismLossOptions:
    """An atom of patterns: the loss of one mechanism for one change, as bounds each of which holds.

    There is one object for each tuple of options, so that patterns are compared by the identity of
    their atoms. `about` caches what `size` computes from the options.
    """

    __slots__ = ("__weakref__", "about", "options")
    _known: ClassVar[WeakValueDictionary[tuple[Curve, ...], MechanismLossOptions]] = (
        WeakValueDictionary()
    )

    options: tuple[Curve, ...]
    about: tuple[float, float] | None

    def __new__(cls, options: tuple[Curve, ...]) -> MechanismLossOptions:
        """Returns the unique object with these options."""
        known = cls._known.get(options)
        if known is None:
            known = super().__new__(cls)
            known.options, known.about = options, None
            cls._known[options] = known
        return known

    def __repr__(self) -> str:
        return f"MechanismLossOptions({self.options!r})"


class TracedCharge(NamedTuple):
    """The mechanism, the dataset that it reads and the change there that an atom stands for: for
    reports alone."""

    mechanism: str
    dataset: str
    state: Any


#: Charges (`TracedCharge`) or nested traces, each with its count.
Trace = tuple[tuple[Any, int], ...]


def written_out(known: Curve) -> list[tuple[Curve, int]] | None:
    """Returns the losses that a composition consists of, each with its count; None for a single
    loss."""
    match known.part:
        case Grouped(base, 1):
            inner = [(curve_of(part), n) for part, n in base.parts]
            gaussian, no_failure = (
                known.gaussian + base.gaussian,
                known.no_failure * base.no_failure,
            )
            return (
                [*inner, (curve_of(None, gaussian, no_failure), 1)]
                if gaussian or no_failure != 1
                else inner
            )
    return None


def is_noise(known: Curve) -> bool:
    """Returns whether a bound is the loss of one concrete mechanism, which attains it.

    False for a bound over many mechanisms, such as a stated ε, and for one with a δ.
    """
    part = known.part
    several = written_out(known)
    if several is not None:
        return all(is_noise(each) for each, _ in several)
    if isinstance(part, MechanismLoss):
        noise = part.line() is not None and part.attained()
    else:
        noise = part is None
    return known.no_failure == 1 and noise


@dataclass(frozen=True, slots=True)
class LossMultiset:
    """A pattern: the multiset of the losses (atoms) of all mechanisms for one change, to be
    composed.

    `loose`: bounds a set of changes from above, so that perhaps no single change attains the loss.
    `attained`: some mechanisms with these guarantees lose exactly this; not known where a guarantee
    is used over several steps. `trace`: the mechanisms that are charged; for display only.
    """

    atoms: dict[MechanismLossOptions, int]
    loose: bool = field(default=False, compare=False)
    attained: bool = field(default=True, compare=False)
    trace: Trace = field(default=(), compare=False, repr=False)

    def times(self, copies: int) -> LossMultiset:
        """Returns the composition of `copies` independent copies of the pattern."""
        if copies == 1 or not self.atoms:
            return self
        atoms = {atom: n * copies for atom, n in self.atoms.items()}
        return LossMultiset(atoms, self.loose, self.attained, ((self.trace, copies),))


NOTHING = LossMultiset({})


#: A set of undominated patterns, the worst by size first; empty: no finite bound is known.
UndominatedLosses = tuple[LossMultiset, ...]


def of_options(
    options: Iterable[Curve], trace: Trace = (), copies: int = 1, loose: bool = True
) -> LossMultiset:
    """Returns a pattern with one atom, whose options are bounds on one loss each of which holds.

    `copies`: how often that loss occurs; `trace`, `loose`: see `LossMultiset`.
    """
    atom = MechanismLossOptions(tuple(dict.fromkeys(options)))
    return LossMultiset({atom: copies}, loose, False, trace)


def together(patterns: Iterable[LossMultiset]) -> LossMultiset:
    """Returns the composition of several patterns on the same change."""
    listed = list(patterns)
    atoms: dict[MechanismLossOptions, int] = dict(listed[0].atoms) if listed else {}
    loose, attained, traces = False, True, []
    for number, pattern in enumerate(listed):
        loose = loose or pattern.loose
        attained = attained and pattern.attained
        if pattern.trace:
            traces.append((pattern.trace, 1))
        for atom, n in pattern.atoms.items() if number else ():
            atoms[atom] = atoms.get(atom, 0) + n
    trace = traces[0][0] if len(traces) == 1 else tuple(traces)
    return LossMultiset(atoms, loose, attained, trace)


def one(option: Curve, *others: Curve, attained: bool = True) -> LossMultiset:
    """Returns the pattern of a single loss, of which each option is a bound; `attained`: see
    `LossMultiset`."""
    return LossMultiset({MechanismLossOptions((option, *others)): 1}, attained=attained)


# ---------------------------------------------------------------------------------------------
# Size, for ordering


def double(x: Fraction | int) -> float:
    """Returns a number as a float, infinite if it is too large for one."""
    try:
        return float(x)
    except OverflowError:
        return math.inf


def response_epsilon(known: Curve) -> float:
    """Returns the ε in pure DP of a bound on a loss, infinite if it has none; used for sorting
    only."""
    if known.gaussian or known.no_failure != 1:
        return math.inf
    match known.part:
        case None:
            return 0.0
        case Response(epsilon):
            return double(epsilon)
        case MechanismLoss() if (greatest := known.part.greatest()) is not None:
            return double(greatest)
        case Maximum(options):
            return max(map(_epsilon_of, options))
        case _:
            return math.inf


def _epsilon_of(composition: Curve) -> float:
    """Returns the ε in pure DP of a whole composition, as `response_epsilon` does of one bound."""
    rest = response_epsilon(curve_of(None, composition.gaussian, composition.no_failure))
    return rest + sum(response_epsilon(curve_of(part)) * n for part, n in composition.parts)


def _rho(known: Curve) -> float:
    """Returns an estimate of the ρ of a bound on a loss; used for sorting only, never as a
    bound."""
    rho = double(known.gaussian) / 2
    match known.part:
        case None:
            return rho
        case Response(epsilon):
            return rho + double(epsilon) * math.tanh(min(double(epsilon), 1e3) / 2)
        case PureSteps():
            return rho + known.part.about_rho()
        case MechanismLoss():
            return rho + double(known.part.rho())
        case Concentrated(value):
            return rho + double(value)
        case Renyi(points, extra):
            return rho + double(extra) + min(double(e / a) for a, e in points)
        case Points(points):
            return rho + min((double(e) for e, _ in points), default=0.0)
        case PoissonGroup() | ReplacedRows():  # preferred to a path of single rows
            return rho + 0.5
        case Maximum(options):
            return rho + max(map(_rho_of, options))
        case PoissonReplaceOne():  # ordered before one of its ends alone
            return rho + 2.0
        case _:
            return rho + 1.0


def _rho_of(composition: Curve) -> float:
    """Returns an estimate of the ρ of a whole composition, as `_rho` does of one bound."""
    rest = double(composition.gaussian) / 2
    return rest + sum(_rho(curve_of(part)) * n for part, n in composition.parts)


def size(pattern: LossMultiset) -> tuple[float, float]:
    """Returns an estimate (ρ, ε) of the composition of a pattern: a guess at which is worse, never
    a bound."""
    rho = epsilon = 0.0
    for atom, n in pattern.atoms.items():
        about = atom.about
        if about is None:
            about = atom.about = (
                min(_rho(option) for option in atom.options),
                min(response_epsilon(option) for option in atom.options),
            )
        rho += n * about[0]
        epsilon += n * about[1]
    return rho, epsilon


_OTHER_SIDE = {"removed": "added", "added": "removed"}


def mirrored(pattern: LossMultiset) -> LossMultiset:
    """Returns the pattern with the two tables exchanged: a row added becomes one removed.

    The pattern itself if the exchange changes nothing: what holds for both orders of the tables
    holds for both patterns.
    """
    atoms: dict[MechanismLossOptions, int] = {}
    for atom, n in pattern.atoms.items():
        turned = [_turned(known.part) for known in atom.options]
        if any(part is not known.part for part, known in zip(turned, atom.options, strict=True)):
            ways = zip(turned, atom.options, strict=True)
            atom = MechanismLossOptions(
                tuple(curve_of(part, known.gaussian, known.no_failure) for part, known in ways)
            )
        atoms[atom] = atoms.get(atom, 0) + n
    return pattern if atoms == pattern.atoms else replace(pattern, atoms=atoms)


def _turned(part: Part | None) -> Part | None:
    """Returns a factor of a loss with the tables exchanged in one-sided samples, nested ones too.

    Every other factor holds for both orders of the tables, and is returned itself.
    """
    match part:
        case PoissonGroup() | Allocated() if part.side != "both":
            return replace(part, side=_OTHER_SIDE[part.side])
        case MixtureOfDraws(ways) if leans(part):
            return replace(part, ways=tuple((q, _turned_whole(base)) for q, base in ways))
        case Sampled():
            base, side = _turned_whole(part.base), _OTHER_SIDE.get(part.side, part.side)
            same = base is part.base and side == part.side
            return part if same else replace(part, base=base, side=side)
        case Grouped():
            base = _turned_whole(part.base)
            return part if base is part.base else replace(part, base=base)
    return part


def _turned_whole(base: Curve) -> Curve:
    """Returns a composition with the two tables exchanged in all its one-sided samples."""
    turned = tuple((_turned(part) or part, n) for part, n in base.parts)
    if all(new is old for (new, _), (old, _) in zip(turned, base.parts, strict=True)):
        return base
    return replace(base, parts=tuple(sorted(turned, key=rank)))


def in_both_orders(atom: MechanismLossOptions) -> MechanismLossOptions:
    """Returns an atom that dominates this one, whichever of the two tables has the additional row.

    The atom itself if none of its options is a one-sided sample.
    """
    if all(_of_both_sides(known.part) == known.part for known in atom.options):
        return atom
    return MechanismLossOptions(
        tuple(
            curve_of(_of_both_sides(known.part), known.gaussian, known.no_failure)
            for known in atom.options
        )
    )


def _of_both_sides(part: Part | None) -> Part | None:
    """Returns a factor that holds whichever table has the row, where the given one is a one-sided
    sample."""
    match part:
        case Sampled() | PoissonGroup() | Allocated():
            return replace(part, side="both")
        case MixtureOfDraws(ways) if leans(part):
            return replace(part, ways=tuple((q, _whole_of_both_sides(base)) for q, base in ways))
    return part


def _whole_of_both_sides(base: Curve) -> Curve:
    """Returns a composition in which each one-sided sample is one that holds whichever table has
    the row."""
    parts = ((_of_both_sides(part) or part, n) for part, n in base.parts)
    return replace(base, parts=tuple(sorted(parts, key=rank)))
