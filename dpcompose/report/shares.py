"""What each mechanism costs: its part of what adds up, and the ε at a δ without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from operator import attrgetter

from dpcompose.core.at_delta.chosen import choose
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.model.problem import Path, Problem
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.curves import Concentrated, MechanismLoss, Part, Point, Response, quick_bound
from dpcompose.curves.families import PureSteps
from dpcompose.curves.rounding import capped, summed
from dpcompose.errors import Span
from dpcompose.report import At, Bound, Share

SpanOf = Callable[[Path], Span]
#: For so many mechanisms, of those that cost most, it is asked what holds without them; where
#: losses take long to compose only so many are looked at by themselves in full.
_MOST, _MOST_SLOW = 12, 4
#: A path of several steps takes as long as so many single losses.
_PATH = 3
#: Mechanisms beyond these are not looked at by themselves either.
_MOST_ALONE = 100
#: Of so many mechanisms it is not asked what holds without one, which reads all the others again.
_VERY_MANY = 1_000


def of_solution(solution: Solution, span: SpanOf) -> tuple[Share, ...]:
    """Returns what every mechanism adds at the worst change, the largest first."""
    totals: dict[str, Quantity] = {}
    paths: dict[str, Path] = {}
    for felt in solution.felt:
        name, added = felt.mechanism.name, solution.share(felt)
        paths[name] = felt.mechanism.path
        old = totals.get(name)
        totals[name] = added if old is None else old.plus(added)
    whole = capped(summed(map(attrgetter("amount"), totals.values())))
    order = sorted(totals.items(), key=lambda each: (-each[1].amount, each[0]))
    return tuple(
        Share(
            name,
            bound_of(quantity),
            span(paths[name]),
            Fraction(quantity.amount) / whole if whole else None,
        )
        for name, quantity in order
    )


def of_profile(solver: Solver, at: At, span: SpanOf) -> tuple[Share, ...]:
    """Returns what every mechanism of the worst change at a point costs there by itself, largest
    first.

    That is an ε at a δ; their parts are those of the sum of these. Where one mechanism is all there
    is, its cost is the whole.
    """
    problem = solver.problem
    paths = {each.name: each.path for each in problem.mechanisms()}
    names = list(dict.fromkeys(each.mechanism for each in at.touched))
    if at.value is None:
        return ()
    total, delta = (at.value, at.given) if at.wanted == "delta" else (at.given, at.value)
    found: list[tuple[str, Fraction]] = [(names[0], total)] if len(names) == 1 else []
    if not found:
        slow = _slow(solver)
        for name in names[:_MOST_ALONE]:
            others = {each for each in paths if each != name}
            value = _epsilon(problem.without(others), delta, slow and len(names) > _MOST_SLOW)
            if value is not None:
                found.append((name, min(value, total)))
    found.sort(key=lambda each: (-each[1], each[0]))
    whole = summed(value for _, value in found)
    shares = tuple(
        Share(
            name,
            Bound(Notion.APPROX, value, delta, False, True),
            span(paths[name]),
            value / whole if whole else None,
        )
        for name, value in found
    )
    return _each_other(problem, shares) if at.wanted == "delta" else shares


def without_each(solver: Solver, shares: Sequence[Share], at: At | None) -> tuple[Share, ...]:
    """Returns the shares with the ε at a chosen δ of the release without each of the largest
    ones."""
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
        value = _epsilon(problem.without({each.mechanism}), at.given)
        told.append(each if value is None else each._replace(without=min(value, at.value)))
    return (*told, *shares[_MOST:])


def _each_other(problem: Problem, shares: Sequence[Share]) -> tuple[Share, ...]:
    """Of two mechanisms alone what holds without the one is what the other costs by itself."""
    names = {each.mechanism for each in shares}
    if len(shares) != 2 or {each.name for each in problem.mechanisms()} != names:
        return tuple(shares)
    one, other = shares
    return one._replace(without=other.bound.value), other._replace(without=one.bound.value)


def _slow(solver: Solver) -> bool:
    """Whether what remains takes long to compose: losses below samples, many, or many unlike."""
    if len({each.name for each in solver.problem.mechanisms()}) > _VERY_MANY:
        return True
    unlike = 0
    for pattern in solver.patterns():
        for composition in list(compositions(pattern))[:1]:
            if any(not _quick(part) for part, _ in composition.parts):
                return True
            paths = sum(isinstance(part, PureSteps) for part, _ in composition.parts)
            unlike = max(unlike, len(composition.parts) + (_PATH - 1) * paths)
    return unlike > _MOST


def _quick(part: Part) -> bool:
    return isinstance(part, Response | MechanismLoss | Concentrated)


def _epsilon(problem: Problem, delta: Fraction, roughly: bool = False) -> Fraction | None:
    """Returns the least ε at a δ; None where none is known. `roughly`: by what takes little time
    alone."""
    point = Point(delta=delta)
    patterned = Solver(problem).patterns()
    if not patterned:
        return None
    if not roughly:
        return choose(patterned, point).value
    values = [quick_bound(next(iter(compositions(each))), point) for each in patterned]
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None
