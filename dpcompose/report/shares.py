"""What each mechanism costs: its share of the sum, and the ε at a δ of the release without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from operator import attrgetter

from dpcompose.core.at_delta.chosen import choose
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.mechanisms import form_of
from dpcompose.core.mechanisms.accuracy import accuracy_of
from dpcompose.core.model.problem import Mechanism, Problem
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.curves import (
    Concentrated,
    MechanismLoss,
    Point,
    Points,
    Response,
    quick_bound,
)
from dpcompose.curves.families import PureSteps
from dpcompose.curves.rounding import capped, number, summed
from dpcompose.report import AnswerNoise, At, Bound, Share, SpanOf

#: The ε without a mechanism is computed for so many, those that cost most; where losses take long
#: to compose, only so many are composed alone by all routes.
_MOST, _MOST_SLOW = 12, 4
#: A loss at a distance of several steps takes as long to compose as so many single losses.
_PATH = 3
#: The cost of one mechanism alone is computed for so many mechanisms.
_MOST_ALONE = 100
#: With more mechanisms than this the ε without one of them, which composes the others again, is
#: not computed.
_VERY_MANY = 1_000


def of_solution(solution: Solution, span: SpanOf) -> tuple[Share, ...]:
    """Returns what every mechanism adds to the bound at the worst change, the largest first."""
    totals: dict[str, Quantity] = {}
    mechanisms: dict[str, Mechanism] = {}
    for charge in solution.charges:
        name, added = charge.mechanism.name, solution.share(charge)
        mechanisms[name] = charge.mechanism
        old = totals.get(name)
        totals[name] = added if old is None else old.plus(added)
    whole = capped(summed(map(attrgetter("amount"), totals.values())))
    order = sorted(totals.items(), key=lambda each: (-each[1].amount, each[0]))
    return tuple(
        Share(
            name,
            bound_of(quantity),
            span(mechanisms[name].path),
            Fraction(quantity.amount) / whole if whole else None,
            group=mechanisms[name].group,
        )
        for name, quantity in order
    )


def of_profile(solver: Solver, at: At, span: SpanOf) -> tuple[Share, ...]:
    """Returns what each mechanism of the worst change at a point costs alone, the largest first.

    That is its ε at a δ; shares of the whole are taken of the sum of these. A single mechanism
    costs the whole. Empty where there is no number at the point.
    """
    problem = solver.problem
    mechanisms = {each.name: each for each in problem.mechanisms()}
    names = list(dict.fromkeys(each.mechanism for each in at.touched))
    if at.value is None:
        return ()
    total, delta = (at.value, at.given) if at.wanted == "delta" else (at.given, at.value)
    found: list[tuple[str, Fraction]] = [(names[0], total)] if len(names) == 1 else []
    if not found:
        slow = _slow(solver)
        for name in names[:_MOST_ALONE]:
            others = {each for each in mechanisms if each != name}
            value = _epsilon(solver, others, delta, slow and len(names) > _MOST_SLOW)
            if value is not None:
                found.append((name, min(value, total)))
    found.sort(key=lambda each: (-each[1], each[0]))
    whole = summed(value for _, value in found)
    shares = tuple(
        Share(
            name,
            Bound(Notion.APPROX, value, delta, False, True),
            span(mechanisms[name].path),
            value / whole if whole else None,
            group=mechanisms[name].group,
        )
        for name, value in found
    )
    if at.wanted != "delta" or len(shares) != 2 or mechanisms.keys() != {name for name, _ in found}:
        return shares
    # Of two mechanisms, what remains without one of them is the other alone.
    one, other = shares
    return one._replace(without=other.bound.value), other._replace(without=one.bound.value)


def without_each(solver: Solver, shares: Sequence[Share], at: At | None) -> tuple[Share, ...]:
    """Returns the shares, each of the largest ones with the ε of the release without that
    mechanism.

    `at`: the chosen δ; the shares are unchanged where there is no ε at it, or where it takes long.
    """
    if at is None or at.value is None or at.wanted != "delta":
        return tuple(shares)
    problem = solver.problem
    if len(shares) == 1:
        only = shares[0]
        rest = problem.without({only.mechanism})
        feels = any(True for _ in rest.mechanisms())
        if not feels:
            return (only._replace(without=Fraction(0)),)
    if _slow(solver):
        return tuple(shares)
    told = []
    for each in shares[:_MOST]:
        value = _epsilon(solver, {each.mechanism}, at.given)
        told.append(each if value is None else each._replace(without=min(value, at.value)))
    return (*told, *shares[_MOST:])


def _slow(solver: Solver) -> bool:
    """Returns whether the release takes long to compose: samples, or many or very unlike losses."""
    if len({each.name for each in solver.problem.mechanisms()}) > _VERY_MANY:
        return True
    unlike, quick = 0, Response | MechanismLoss | Concentrated | Points
    for pattern in solver.patterns:
        for composition in list(compositions(pattern))[:1]:
            if not all(isinstance(part, quick) for part, _ in composition.parts):
                return True
            paths = sum(isinstance(part, PureSteps) for part, _ in composition.parts)
            unlike = max(unlike, len(composition.parts) + (_PATH - 1) * paths)
    return unlike > _MOST


def _epsilon(
    solver: Solver, without: Collection[str], delta: Fraction, roughly: bool = False
) -> Fraction | None:
    """Returns the least ε of a problem at a δ without the mechanisms of some names, or None where
    none is known.

    `roughly`: tries only the routes that take little time.
    """
    point = Point(delta=delta)
    patterned = Solver(solver.problem.without(without), solver).patterns
    if not patterned:
        return None
    if not roughly:
        return choose(patterned, point, compared=False).value
    values = [quick_bound(next(iter(compositions(each))), point) for each in patterned]
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


# ---------------------------------------------------------------------------------------------
# What the noise of each mechanism does to its answers, for the report


def noise_of_answers(problem: Problem, level: Fraction, span: SpanOf) -> tuple[AnswerNoise, ...]:
    """Returns what noise does to the answers of each mechanism, in the order of the spec; one that
    has other noise on other blocks has an entry for each.

    `level`: the chance with which the noise is in the interval stated; `span`: gives the position
    of a path.
    """
    found: dict[tuple[str, str], AnswerNoise] = {}
    for mechanism in problem.mechanisms():
        each = _of_mechanism(mechanism, level, span)
        found.setdefault((each.mechanism, each.noise), each)
    known = sorted(found.values(), key=lambda each: each.span.line if each.span else 0)
    return tuple(known)


def _of_mechanism(mechanism: Mechanism, level: Fraction, span: SpanOf) -> AnswerNoise:
    """Returns what noise does to the answers of one mechanism."""
    place = span(mechanism.path)
    noises = [each.guarantee.noise for each in mechanism.statements]
    noise = next((each for each in noises if each is not None), None)
    found = None if noise is None else accuracy_of(noise, level)
    if noise is None:
        return AnswerNoise(mechanism.name, "", None, None, level, place)
    alone = getattr(noise, "noise", noise)
    form = form_of(alone)
    if found is None:
        return AnswerNoise(mechanism.name, form.name, None, None, level, place)
    words = f"{form.name}, {form.key.name} {number(getattr(alone, form.key.name))}"
    return AnswerNoise(mechanism.name, words, *found, level, place)
