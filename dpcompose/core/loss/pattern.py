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
from typing import Any, NamedTuple

from dpcompose.core.loss.pure_steps import PureSteps
from dpcompose.core.numbers.exact import ONE, ZERO
from dpcompose.core.profile.parts import (
    Concentrated,
    Exchanged,
    MechanismLoss,
    Part,
    Points,
    Renyi,
    Response,
    SampledRows,
)


class Known(NamedTuple):
    """What is known of one loss: a part or a Gaussian's μ², and the chance `stay` = 1-δ."""

    part: Part | None
    gaussian: Fraction = ZERO
    stay: Fraction = ONE


class Atom(NamedTuple):
    """The loss of one mechanism for one change, in ways that all hold: any of them may be used."""

    options: tuple[Known, ...]


class Felt(NamedTuple):
    """Where an atom comes from: a mechanism, the dataset it reads, and the change there."""

    mechanism: str
    dataset: str
    state: Any


#: Nested: a `Felt`, or how often what is inside occurs.
Trace = tuple[tuple[Any, int], ...]


def is_noise(known: Known) -> bool:
    """Whether an option is the loss of one concrete mechanism, not the worst of many."""
    part = known.part
    if isinstance(part, MechanismLoss):
        noise = part.line() is not None and part.attained()
    else:
        noise = part is None
    return known.stay == 1 and noise


@dataclass(frozen=True, slots=True)
class Pattern:
    """Atoms with how often each occurs.

    `loose`: bounds a set of changes from above, so that perhaps no single change attains it.
    `attained`: some mechanisms with these guarantees lose just this; not known where a guarantee is
    used over several steps. `trace`: which mechanisms feel it; for the reader only.
    """

    atoms: dict[Atom, int]
    loose: bool = field(default=False, compare=False)
    attained: bool = field(default=True, compare=False)
    trace: Trace = field(default=(), compare=False, repr=False)

    def times(self, copies: int) -> Pattern:
        """So many independent copies."""
        if copies == 1 or not self.atoms:
            return self
        atoms = {atom: n * copies for atom, n in self.atoms.items()}
        return Pattern(atoms, self.loose, self.attained, ((self.trace, copies),))


NOTHING = Pattern({})


def together(patterns: Iterable[Pattern]) -> Pattern:
    """All of several patterns at once."""
    atoms: dict[Atom, int] = {}
    loose, attained, traces = False, True, []
    for pattern in patterns:
        loose = loose or pattern.loose
        attained = attained and pattern.attained
        if pattern.trace:
            traces.append((pattern.trace, 1))
        for atom, n in pattern.atoms.items():
            atoms[atom] = atoms.get(atom, 0) + n
    trace = traces[0][0] if len(traces) == 1 else tuple(traces)
    return Pattern(atoms, loose, attained, trace)


def one(option: Known, *others: Known, attained: bool = True) -> Pattern:
    """The pattern of a single loss."""
    return Pattern({Atom((option, *others)): 1}, attained=attained)


# ---------------------------------------------------------------------------------------------
# Size, for ordering


def _double(x: Fraction | int) -> float:
    """A number as a double, infinite where it is too large."""
    try:
        return float(x)
    except OverflowError:
        return math.inf


def response_epsilon(known: Known) -> float:
    """Pure ε of an option, infinite if it has none; for ordering alone."""
    if known.gaussian or known.stay != 1:
        return math.inf
    match known.part:
        case None:
            return 0.0
        case Response(epsilon):
            return _double(epsilon)
        case MechanismLoss() if (greatest := known.part.greatest()) is not None:
            return _double(greatest)
        case _:
            return math.inf


def _rho(known: Known) -> float:
    """About the ρ of an option, infinite if unknown; for ordering alone."""
    rho = _double(known.gaussian) / 2
    match known.part:
        case None:
            return rho
        case Response(epsilon):
            return rho + _double(epsilon) * math.tanh(min(_double(epsilon), 1e3) / 2)
        case PureSteps():
            return rho + known.part.about_rho()
        case MechanismLoss():
            return rho + _double(known.part.rho())
        case Concentrated(value):
            return rho + _double(value)
        case Renyi(points, extra):
            return rho + _double(extra) + min(_double(e / a) for a, e in points)
        case Points(points):
            return rho + min((_double(e) for e, _ in points), default=0.0)
        case SampledRows():  # looked at before a path of single rows
            return rho + 0.5
        case Exchanged():  # looked at before one of its ends alone
            return rho + 2.0
        case _:
            return rho + 1.0


def size(pattern: Pattern) -> tuple[float, float]:
    """About (ρ, ε) of a pattern: a guess at which is worse, never a proof."""
    rho = epsilon = 0.0
    for atom, n in pattern.atoms.items():
        rho += n * min(_rho(option) for option in atom.options)
        epsilon += n * min(response_epsilon(option) for option in atom.options)
    return rho, epsilon
