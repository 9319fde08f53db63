"""What one change does to all mechanisms together: a multiset of privacy losses.

At a chosen δ the worst neighbouring change cannot be told from sums (theory, section 5, "the worst
case depends on δ"), so that the losses of a change are kept apart as a pattern. A pattern stands
for the composition of its atoms, and one may be dropped when another one dominates it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

from dpcompose.curves import (
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    Renyi,
    ReplacedRows,
    Response,
    curve_of,
)
from dpcompose.curves.families import PureSteps


class MechanismLossOptions:
    """The loss of one mechanism for one change, in ways that all hold: any of them may be used.

    Equal ones are one object, since patterns are compared by their atoms over and over. `about`,
    `sorted`: what `size` and `dominance` make of it, once that is asked.
    """

    __slots__ = ("__weakref__", "about", "options", "sorted")
    _known: ClassVar[WeakValueDictionary[tuple[Curve, ...], MechanismLossOptions]] = (
        WeakValueDictionary()
    )

    options: tuple[Curve, ...]
    about: tuple[float, float] | None
    sorted: Any

    def __new__(cls, options: tuple[Curve, ...]) -> MechanismLossOptions:
        """Returns the one with these options."""
        known = cls._known.get(options)
        if known is None:
            known = super().__new__(cls)
            known.options, known.about, known.sorted = options, None, None
            cls._known[options] = known
        return known

    def __repr__(self) -> str:
        return f"Atom({self.options!r})"


class TracedCharge(NamedTuple):
    """Where an atom comes from: a mechanism, the dataset it reads, and the change there."""

    mechanism: str
    dataset: str
    state: Any


#: Numbers of atoms that add up.
Masses = tuple[float, ...]
#: Nested: a `TracedCharge`, or how often what is inside occurs.
Trace = tuple[tuple[Any, int], ...]


def written_out(known: Curve) -> list[tuple[Curve, int]] | None:
    """Returns the losses of a composition that is an option, with their counts; None for one
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
    """Whether an option is the loss of one concrete mechanism, not the worst of many."""
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
    """Atoms with how often each occurs.

    `loose`: bounds a set of changes from above, so that perhaps no single change attains it.
    `attained`: some mechanisms with these guarantees lose just this; not known where a guarantee is
    used over several steps. `trace`: which mechanisms feel it; for the reader only. `masses`: the
    sum of those of the atoms, where it is known.
    """

    atoms: dict[MechanismLossOptions, int]
    loose: bool = field(default=False, compare=False)
    attained: bool = field(default=True, compare=False)
    trace: Trace = field(default=(), compare=False, repr=False)
    masses: Masses | None = field(default=None, compare=False, repr=False)

    def times(self, copies: int) -> LossMultiset:
        """Returns the multiset of `copies` independent copies."""
        if copies == 1 or not self.atoms:
            return self
        atoms = {atom: n * copies for atom, n in self.atoms.items()}
        return LossMultiset(atoms, self.loose, self.attained, ((self.trace, copies),))


NOTHING = LossMultiset({})


#: A set of undominated patterns, the worst by size first; empty: no finite bound is known.
UndominatedLosses = tuple[LossMultiset, ...]


def together(patterns: Iterable[LossMultiset]) -> LossMultiset:
    """Returns the sum of several multisets."""
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
    masses = [pattern.masses for pattern in listed if pattern.masses is not None]
    known = masses and len(masses) == len(listed)
    whole = tuple(map(sum, zip(*masses, strict=True))) if known else None
    return LossMultiset(atoms, loose, attained, trace, whole)


def one(option: Curve, *others: Curve, attained: bool = True) -> LossMultiset:
    """Returns the pattern of a single loss."""
    return LossMultiset({MechanismLossOptions((option, *others)): 1}, attained=attained)


# ---------------------------------------------------------------------------------------------
# Size, for ordering


def double(x: Fraction | int) -> float:
    """Returns a number as a double, infinite where it is too large."""
    try:
        return float(x)
    except OverflowError:
        return math.inf


def response_epsilon(known: Curve) -> float:
    """Pure ε of an option, infinite if it has none; for ordering alone."""
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
    """Returns `response_epsilon` of a whole composition."""
    rest = response_epsilon(curve_of(None, composition.gaussian, composition.no_failure))
    return rest + sum(response_epsilon(curve_of(part)) * n for part, n in composition.parts)


def _rho(known: Curve) -> float:
    """About the ρ of an option, infinite if unknown; for ordering alone."""
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
        case PoissonGroup() | ReplacedRows():  # looked at before a path of single rows
            return rho + 0.5
        case Maximum(options):
            return rho + max(map(_rho_of, options))
        case PoissonReplaceOne():  # looked at before one of its ends alone
            return rho + 2.0
        case _:
            return rho + 1.0


def _rho_of(composition: Curve) -> float:
    """Returns `_rho` of a whole composition."""
    rest = double(composition.gaussian) / 2
    return rest + sum(_rho(curve_of(part)) * n for part, n in composition.parts)


def size(pattern: LossMultiset) -> tuple[float, float]:
    """About (ρ, ε) of a pattern: a guess at which is worse, never a proof."""
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
