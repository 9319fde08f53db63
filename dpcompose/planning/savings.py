"""What each parameter of a spec is worth: how far its bound falls where one mechanism is halved."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.notions.guarantee import Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.curves import COMPARED
from dpcompose.errors import DpcomposeError, Span
from dpcompose.planning.scaling import Parameter, parameters
from dpcompose.planning.what_if import Put, epsilon_at, what_if
from dpcompose.report.assumptions import meanwhile
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.verdict import deltas_of
from dpcompose.resolve import resolve
from dpcompose.source import Source


class NoBound(DpcomposeError):
    """There is no finite number of which a part could be saved; the message says which."""


@dataclass(frozen=True, slots=True)
class Saving:
    """What halving the parameters of a mechanism (doubling its noise) takes off a bound.

    `why`: a reason where it saves nothing, or could not be tried (`saves` is then None).
    """

    mechanism: str
    saves: Fraction | None
    span: Span
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Savings:
    """A number of a spec, named (`ε`, `ρ`, `ε at δ = 1e-6`), and what halving each entry saves.

    `meanwhile`: what is assumed of the data between outputs.
    """

    name: str
    total: Fraction
    savings: tuple[Saving, ...]
    meanwhile: tuple[str, ...] = ()


#: By less than this share of the whole nothing is saved at a δ.
_NOTHING = Fraction(1, 10**9)


def savings_of(
    source: Source,
    delta: Fraction | None,
    most: int,
    default: Budget | None = None,
    required: Fraction | None = None,
    step: Callable[[], None] = lambda: None,
) -> Savings:
    """Returns what halving each mechanism's parameters saves, the largest first; at most `most` are
    tried.

    `delta`: save on the ε there; None for the first δ asked for by the budget (`default`: that of a
    spec without one), by the spec, or by `required`; for the bound where there is none. `step` is
    called after each trial. Raises InvalidSpec, NoBound, Unscalable.
    """
    resolved = resolve(source)
    if resolved.ledger:
        raise NoBound(
            "parameters are chosen along the way, so that the budget is the guarantee whatever is "
            "spent: `dpcompose analyze` says what each mechanism has spent"
        )
    if delta is None:
        own = resolved.budget or resolved.adversary_budget
        wanted = [*deltas_of(own), *resolved.deltas, *(deltas_of(default) if own is None else ())]
        delta = next(iter(wanted), required)
    whole = certify(resolved.problem, (), () if delta is None else [delta])
    total = _number(whole, delta)
    if total is None and delta is None:
        raise NoBound("there is no finite bound; with --delta there may be an ε")
    if total is None:
        raise NoBound("there is no finite ε at this δ")
    known = parameters(source)
    shares: tuple[str, ...] | None = None  # the mechanisms of the worst change, if only they matter
    # Of (ε, δ) one change may have the largest ε, and another one the largest δ.
    if delta is None and whole.solutions[0].notion is not Notion.APPROX:
        shares = tuple(
            dict.fromkeys(charge.mechanism.name for charge in whole.solutions[0].charges)
        )
    order = [*(shares or ()), *(name for name in known if not shares or name not in shares)]
    numbers: dict[str, Fraction | None] = {}
    found: list[Saving] = []
    tried = 0
    for name in order:
        if not known[name]:
            continue
        path = known[name][0].path[:2]
        if shares is not None and name not in shares:
            why = "it is not in the worst change"
            found.append(Saving(name, Fraction(0), source.span(path), why))
            continue
        tried += 1
        if tried > most:
            found.append(Saving(name, None, source.span(path), "not tried: see --most"))
            continue
        # Mechanisms whose entries differ in their names alone have one number.
        entry = source.at(path)
        assert isinstance(entry, dict)
        key = json.dumps({**entry, "name": None}, sort_keys=True)
        if key not in numbers:
            numbers[key] = _halved(source, known[name], whole, delta)
            step()
        now = numbers[key]
        saves = Fraction(0) if now is None else max(Fraction(0), total - now)
        if saves > (0 if delta is None else total * _NOTHING):
            found.append(Saving(name, saves, source.span(path)))
        else:
            why = "another change is as bad" if shares is not None else "it does not decide"
            found.append(Saving(name, Fraction(0), source.span(path), why))
    found.sort(key=lambda each: -(each.saves if each.saves is not None else Fraction(-1)))
    at = "" if delta is None else epsilon_at(delta)
    name = at or whole.bounds[0].notion.facts.sign
    told = tuple(each.says for each in meanwhile(resolved.problem))
    return Savings(name, total, tuple(found), told)


def _halved(
    source: Source, halves: Sequence[Parameter], whole: CertifiedRelease, delta: Fraction | None
) -> Fraction | None:
    """Returns the number with parameters halved, noise doubled; None where it is not finite.

    Routes to an ε that are there for comparison are tried where one of them wins for the whole.
    """
    puts = [Put(each.path, f"({each.text}){'*' if each.noise else '/'}2") for each in halves]
    solver = Solver(what_if(source, puts), whole.solver)
    notion = next((each.notion for each in whole.solutions), Notion.APPROX)
    if delta is None and notion is not Notion.APPROX:
        # Halving leaves the notions in which there is a bound as they are.
        found = solver.least_bound(notion)
        return None if found is None else bound_of(found).value
    compared = any(each.rule in COMPARED for each in whole.at_delta)
    deltas = () if delta is None else [delta]
    return _number(certify(solver.problem, (), deltas, solver=solver, compared=compared), delta)


def _number(found: CertifiedRelease, delta: Fraction | None) -> Fraction | None:
    """Returns the ε at a δ, or the first bound without a δ; None where it is not finite."""
    if delta is None:
        return found.bounds[0].value if found.bounds else None
    return found.at_delta[0].value if found.at_delta else None
