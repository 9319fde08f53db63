"""What each parameter of a spec is worth: how far its bound falls where one mechanism is halved."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.curves import COMPARED
from dpcompose.curves.rounding import chance
from dpcompose.errors import DpcomposeError, Span
from dpcompose.planning.scaling import Parameter, parameters
from dpcompose.planning.what_if import Put, what_if
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.verdict import deltas_of
from dpcompose.report.wording import number
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
    """A number of a spec, named (`ε`, `ρ`, `ε at δ = 1e-6`), and what halving each entry saves."""

    name: str
    total: Fraction
    savings: tuple[Saving, ...]


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
    if delta is None:
        whole = certify(resolved.problem)
        if not whole.bounds:
            raise NoBound("there is no finite bound; with --delta there may be an ε")
    else:
        whole = certify(resolved.problem, (), [delta])
    total = _number(whole, delta)
    if total is None:
        raise NoBound(f"there is no finite {'bound' if delta is None else 'ε at this δ'}")
    known = parameters(source)
    shares: tuple[str, ...] | None = None  # the mechanisms of the worst change, if only they matter
    # Of (ε, δ) one change may have the largest ε, and another one the largest δ.
    if delta is None and whole.solutions[0].notion is not Notion.APPROX:
        shares = tuple(dict.fromkeys(felt.mechanism.name for felt in whole.solutions[0].felt))
    order = [*(shares or ()), *(name for name in known if not shares or name not in shares)]
    slack = Fraction(0) if delta is None else total * _NOTHING
    halved = _halves(source, known, whole, delta, step)
    found = list(_savings(source, known, order, shares, (total, slack), halved, most))
    found.sort(key=lambda each: -(each.saves if each.saves is not None else Fraction(-1)))
    name = (
        whole.bounds[0].notion.facts.sign if delta is None else f"ε at δ = {chance(number(delta))}"
    )
    return Savings(name, total, tuple(found))


def _halves(
    source: Source,
    known: Mapping[str, tuple[Parameter, ...]],
    whole: CertifiedRelease,
    delta: Fraction | None,
    step: Callable[[], None],
) -> Callable[[str], Fraction | None]:
    """Returns the function that gives the number with a mechanism halved; None: not finite.

    Mechanisms whose entries differ in their names alone have one number. Routes to an ε that are
    there for comparison are tried where one of them wins for the whole.
    """
    notion = next((each.notion for each in whole.solutions), Notion.APPROX)
    compared = any(each.rule in COMPARED for each in whole.at_delta)
    numbers: dict[str, Fraction | None] = {}

    def number_of(problem: Problem) -> Fraction | None:
        """Returns the bound of a problem in the notion, or its ε at the δ; None if there is
        none."""
        solver = Solver(problem, whole.solver)
        if delta is None and notion is not Notion.APPROX:
            # Halving leaves the notions in which there is a bound as they are.
            found = solver.least_bound(notion)
            return None if found is None else bound_of(found).value
        deltas = () if delta is None else [delta]
        return _number(certify(problem, (), deltas, solver=solver, compared=compared), delta)

    def halved(name: str) -> Fraction | None:
        """Returns the number with the costs of a mechanism halved, or its noise doubled; None if
        not finite."""
        entry = source.at(known[name][0].path[:2])
        assert isinstance(entry, dict)
        key = json.dumps({**entry, "name": None}, sort_keys=True)
        if key not in numbers:
            puts = [
                Put(each.path, f"({each.text}){'*' if each.noise else '/'}2")
                for each in known[name]
            ]
            numbers[key] = number_of(what_if(source, puts))
            step()
        return numbers[key]

    return halved


def _savings(
    source: Source,
    known: Mapping[str, tuple[Parameter, ...]],
    order: list[str],
    shares: tuple[str, ...] | None,
    total: tuple[Fraction, Fraction],
    halved: Callable[[str], Fraction | None],
    most: int,
) -> Iterator[Saving]:
    """Yields what halving each mechanism in `order` saves.

    `shares`: the mechanisms of the worst change, None if all matter. `total`: the number, and the
    largest saving that counts as none. At most `most` are tried.
    """
    tried = 0
    for name in order:
        if not known[name]:
            continue
        span = source.span(known[name][0].path[:2])
        if shares is not None and name not in shares:
            yield Saving(name, Fraction(0), span, "it is not in the worst change")
            continue
        tried += 1
        if tried > most:
            yield Saving(name, None, span, "not tried: see --most")
            continue
        now = halved(name)
        saves = Fraction(0) if now is None else max(Fraction(0), total[0] - now)
        if saves > total[1]:
            yield Saving(name, saves, span)
        else:
            why = "another change is as bad" if shares is not None else "it does not decide"
            yield Saving(name, Fraction(0), span, why)


def _number(found: CertifiedRelease, delta: Fraction | None) -> Fraction | None:
    """Returns the ε at a δ, or the first bound without a δ; None where it is not finite."""
    if delta is None:
        return found.bounds[0].value if found.bounds else None
    return found.at_delta[0].value if found.at_delta else None
