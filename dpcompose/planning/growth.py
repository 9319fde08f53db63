"""What a changed spec gives away more than before, wherever that is: at other δ's and ε's, in other
notions, about some columns, to an attacker, and against the adversary.

A bound that is less where it is stated may be more elsewhere: of two mechanisms half may be gone
and the δ of the rest larger. All numbers of both versions are computed by the same routes here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from dpcompose.core.loss.compositions import compositions
from dpcompose.core.loss.pattern import UndominatedLosses
from dpcompose.core.model.problem import ColumnQuestion, Problem
from dpcompose.core.notions.guarantee import AskedRisk, Quantity, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.partitions.pattern_spread import covers
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.planning.number_changes import NumberChange
from dpcompose.planning.what_if import delta_at, epsilon_at
from dpcompose.report import AgainstAdversary, Report, Risk
from dpcompose.report.adversary_told import with_adversary
from dpcompose.report.at_points import MOST_APART, at_points
from dpcompose.report.certify import certify
from dpcompose.report.learnt import MOST_ASKED
from dpcompose.report.outcomes import Case
from dpcompose.report.risk import curve_of, risk_of
from dpcompose.report.wording import number
from dpcompose.resolve import Resolved, resolve
from dpcompose.source import Source, Value

#: The δ's at which both versions are compared, beside those that either names.
DELTAS = tuple(Fraction(1, 10**power) for power in (3, 6, 9, 12))
#: A δ, and the ε at which the δ is the greatest advantage: they take longest, and are asked last.
LAST = Fraction(1, 10), Fraction(0)
#: A smaller relative increase is one of rounding.
_CLEARLY = Fraction(1, 10**6)
#: Where a number is told that grew, those that grew so many times as much are told as well.
_FAR, _MANY = 2, 10**9
#: So many pairs of patterns are held against each other at most, to see that nothing grew.
_MOST_PAIRS = 10_000


@dataclass(frozen=True, slots=True)
class ComparedAt:
    """The points at which two versions of a release are compared.

    `named`: whether the old version, or whoever compares, names a δ. `grown`: whether the bound is
    known to have grown, so that only what has no finite bound any more is of interest.
    """

    deltas: tuple[Fraction, ...]
    epsilons: tuple[Fraction, ...]
    risk: AskedRisk | None
    named: bool
    grown: bool


@dataclass(frozen=True)
class Side:
    """One of two versions: its report, what it means, and what is certified of it."""

    report: Report
    resolved: Resolved

    @cached_property
    def solver(self) -> Solver:
        """Returns the solver of the problem that the spec poses."""
        return Solver(self.resolved.problem)

    def asking(self, columns: Sequence[str]) -> Solver | None:
        """Returns the solver of the same release where a row is replaced in some columns alone;
        None where something else than rows is protected."""
        problem = self.resolved.problem
        goal = ColumnQuestion("", tuple(columns)).goal(problem.goal)
        return None if goal is None else Solver(replace(problem, goal=goal), like=self.solver)


def growth(
    old: Report, new: Report, was: Source, now: Source, grown: bool = False
) -> Iterator[NumberChange]:
    """Yields the numbers of a spec that are larger now, those that are not finite any more first.

    `old` and `new`: reports of both versions, which protect the same; `was` and `now`: their
    sources. `grown`: whether the bound is known to have grown. Once something has, no number is
    computed that takes long. Of releases whose parameters are chosen along the way nothing is
    yielded: what they spend of their budget is all that is known of them.
    """
    if old.record is not None or new.record is not None:
        return
    sides = Side(old, resolve(was)), Side(new, resolve(now))
    if any(each.resolved.ledger for each in sides):
        return
    asked = _points_to_compare(sides, grown)
    found = [*_of_release(sides[0].solver, sides[1].solver, asked, "")]
    if not (grown or found):
        found += _against_adversary(sides, asked)
    for before, after in _questions(sides):
        if grown or found:
            break
        one, other = sides[0].asking(before.changes), sides[1].asking(after.changes)
        if one is not None and other is not None:
            about = replace(asked, risk=None)
            found += _of_release(one, other, about, f" about `{after.name}`")
    yield from sorted(found, key=_is_to_infinity, reverse=True)


def _is_to_infinity(each: NumberChange) -> bool:
    """Returns whether a number that grew is not finite any more."""
    return each.new is None


def beyond(told: Iterable[NumberChange], grown: Iterable[NumberChange]) -> Iterator[NumberChange]:
    """Yields the numbers that grew, without those that `told` has; where some of these grew, only
    those that grew by far more."""
    names = {each.name: each for each in told}
    most = max(
        (_times(each) for each in names.values() if each.direction == "increased"), default=0
    )
    for each in grown:
        if each.name not in names and _times(each) > _FAR * most:
            yield each


def _times(each: NumberChange) -> float:
    """Returns how many times as large a number is as before, infinitely many where it is not
    finite."""
    if each.new is None or not each.old:
        return math.inf
    times = each.new / each.old
    return float(times) if times < _MANY else math.inf


def _points_to_compare(sides: Sequence[Side], grown: bool) -> ComparedAt:
    """Returns the points that either version names, and those of the grid."""
    deltas = [at.given for side in sides for at in side.report.at_delta]
    epsilons = [at.given for side in sides for at in side.report.at_epsilon]
    risks = [side.resolved.risk for side in sides if side.resolved.risk is not None]
    baselines = [each for risk in risks for each in risk.baselines]
    rates = [each for risk in risks for each in risk.false_alarms]
    limits = [limit for side in sides for limit in side.report.limits if limit.of_risk]
    baselines += [
        value for limit in limits for name, value in limit.parameters if name == "baseline"
    ]
    usual = AskedRisk()
    return ComparedAt(
        tuple(dict.fromkeys((*deltas, *DELTAS))),
        tuple(dict.fromkeys(epsilons)),
        AskedRisk(
            tuple(dict.fromkeys((*baselines, *usual.baselines))),
            tuple(dict.fromkeys((*rates, *usual.false_alarms))),
        )
        if risks or limits
        else None,
        bool(sides[0].report.at_delta),
        grown,
    )


# ---------------------------------------------------------------------------------------------
# Two versions of a release, for one protected change


class _Number(NamedTuple):
    """A number with its name; None where nothing finite is known."""

    name: str
    value: Fraction | None


def _of_release(old: Solver, new: Solver, asked: ComparedAt, of: str) -> Iterator[NumberChange]:
    """Yields the numbers that grew for one protected change; `of`: the end of their names.

    Where the old losses are at least as bad as the new ones whatever is asked of them, no number
    but the bounds in one notion is computed.
    """
    one, other = (
        (each, [*filter(_is_finite, map(each.solve, notions(each.problem)))]) for each in (old, new)
    )
    # A notion may have no bound any more: if some δ is named, the ε's there decide.
    decided = asked.named and bool(new.patterns)
    before, after = ({bound.name: bound for bound in _bounds(each[1], of)} for each in (one, other))
    bounds = [
        *_grown((e for name, e in before.items() if name in after or not decided), after.values())
    ]
    told = [each for each in bounds if each.name == f"{Notion.PURE.facts.sign}{of}"]
    if old.patterns and not _is_covered(old.patterns, new.patterns):
        if not (asked.grown or told):
            deltas = _with_pairs(asked, (one, other))
            told += _points_that_grew(one, other, deltas, asked.epsilons, None, of)
        told += beyond(told, _failure_that_grew(old, new, of))
        if not (asked.grown or told):
            told += _points_that_grew(one, other, LAST[:1], LAST[1:], asked.risk, of)
    yield from (*told, *beyond(told, bounds))


def _is_finite(solution: Solution) -> bool:
    """Returns whether a solution has a finite bound."""
    return solution.finite


def _bounds(solved: Iterable[Solution], of: str) -> Iterator[_Number]:
    """Yields the bounds without a δ, one in each notion."""
    for solution in solved:
        bound = bound_of(solution.quantities[0])
        if bound.delta is None:
            yield _Number(f"{bound.notion.facts.sign}{of}", bound.value)


def _grown(old: Iterable[_Number], new: Iterable[_Number]) -> Iterator[NumberChange]:
    """Yields the numbers that are larger in `new`; one that is missing there is infinite."""
    after = dict(new)
    for name, was in old:
        now = after.get(name)
        if was is not None and (now is None or now > was * (1 + _CLEARLY)):
            yield NumberChange(name, was, now, "increased")


def _is_covered(old: UndominatedLosses, new: UndominatedLosses) -> bool:
    """Returns whether each of the new losses is known to be dominated by one of the old ones, so
    that no number that follows from them has grown."""
    return bool(new) and len(old) * len(new) <= _MOST_PAIRS and covers(old, new)


def _failure_that_grew(old: Solver, new: Solver, of: str) -> Iterator[NumberChange]:
    """Yields the chance that all is given away, if it grew."""
    name = f"chance that all is given away{of}"
    chances = ([_Number(name, _failure(each.patterns))] for each in (old, new) if each.patterns)
    yield from _grown(*chances) if new.patterns else ()


def _failure(patterned: UndominatedLosses) -> Fraction:
    """Returns the greatest chance with which stated δ's give everything away: no ε is finite at a
    smaller δ."""
    return max(min(1 - way.no_failure for way in compositions(each)) for each in patterned)


#: A solver with its finite solutions.
_Solved = tuple[Solver, Sequence[Solution]]


def _with_pairs(asked: ComparedAt, both: Iterable[_Solved]) -> tuple[Fraction, ...]:
    """Returns the δ's asked for, with those of pairs (ε, δ) that are certified, as far as each
    number still has a grid of its own."""
    quantities = (each for _, solved in both for one in solved for each in one.quantities)
    pairs = dict.fromkeys(Fraction(each.delta) for each in quantities if 0 < each.delta < 1)
    room = MOST_APART - len(asked.deltas)
    further = sorted(pairs.keys() - {*asked.deltas})
    step = max(1, -(-len(further) // max(1, room)))
    return (*asked.deltas, *further[::step][: max(0, room)])


def _points_that_grew(
    old: _Solved,
    new: _Solved,
    deltas: Sequence[Fraction],
    epsilons: Sequence[Fraction],
    risk: AskedRisk | None,
    of: str,
) -> Iterator[NumberChange]:
    """Yields the numbers at some points that grew."""
    yield from _grown(*(_at_all(*each, deltas, epsilons, risk, of) for each in (old, new)))


def _at_all(
    solver: Solver,
    solved: Sequence[Solution],
    deltas: Sequence[Fraction],
    epsilons: Sequence[Fraction],
    asked: AskedRisk | None,
    of: str,
) -> Iterator[_Number]:
    """Yields the numbers of a release at some points, and an attacker's gain where that is
    asked."""
    first = next(iter(solved), None)
    points = at_points(solver, deltas, epsilons, first, compared=False)
    for at in (*points[0], *points[1]):
        name = epsilon_at(at.given) if at.wanted == "delta" else delta_at(at.given)
        yield _Number(f"{name}{of}", at.value)
    curve = None if asked is None else curve_of(solver, first)
    if asked is not None and curve is not None:
        bounds: Sequence[Quantity] = () if first is None else first.quantities
        yield from _of_risk(risk_of(curve, asked, points[0], bounds))


def _of_risk(risk: Risk) -> Iterator[_Number]:
    """Yields an attacker's gain: the advantage, and the chances at each rate."""
    yield _Number("advantage", risk.advantage)
    for rate, chance in risk.hits:
        yield _Number(f"hits at {number(rate)} false alarms", chance)
    for baseline, chance in risk.success:
        yield _Number(f"success from a baseline of {number(baseline)}", chance)


# ---------------------------------------------------------------------------------------------
# The adversary, and columns


def _against_adversary(sides: Sequence[Side], asked: ComparedAt) -> Iterator[NumberChange]:
    """Yields what grew against the adversary, where both versions name one."""
    if any(side.resolved.adversary is None for side in sides):
        return
    before, after = (_adversary(side, asked) for side in sides)
    if before is not None and after is not None:
        yield from _grown(_of_adversary(before), _of_adversary(after))


def _adversary(side: Side, asked: ComparedAt) -> AgainstAdversary | None:
    """Returns what is known of the adversary of one version, at all points."""
    found = certify(side.resolved.problem, deltas=asked.deltas, solver=side.solver, compared=False)
    case = Case(side.resolved.source, side.resolved, side.report.file, b"", side.solver)
    report = replace(side.report, at_delta=found.at_delta)
    return with_adversary(report, case, found.solutions).adversary


def _of_adversary(found: AgainstAdversary) -> Iterator[_Number]:
    """Yields the ε against an adversary: without a δ, and at each δ."""
    if found.bound is not None and found.bound.delta is None:
        yield _Number("ε against the adversary", found.bound.value)
    for at in found.at_delta:
        yield _Number(f"{epsilon_at(at.given)} against the adversary", at.value)


def _questions(sides: Sequence[Side]) -> Iterator[tuple[ColumnQuestion, ColumnQuestion]]:
    """Yields the questions that either version asks about columns, and one for each column, those
    of a kind once; each as it is asked of the old version and of the new one."""
    names = _same_columns(sides)
    back = {now: was for was, now in names.items()}
    asked: dict[frozenset[str], ColumnQuestion] = {}
    for question in sides[0].resolved.questions:
        changes = tuple(names.get(each, each) for each in question.changes)
        asked[frozenset(changes)] = question._replace(changes=changes)
    asked.update((frozenset(each.changes), each) for each in sides[1].resolved.questions)
    for column in _unlike_columns(sides, names):
        asked.setdefault(frozenset((column,)), ColumnQuestion(column, (column,)))
    known = [_columns(side.resolved.problem) for side in sides]
    for question in asked.values():
        before = question._replace(changes=tuple(back.get(e, e) for e in question.changes))
        # What one of them says to have no such column is no column of both.
        if all(
            not there or {*each.changes} <= there.keys()
            for there, each in zip(known, (before, question), strict=True)
        ):
            yield before, question


def _same_columns(sides: Sequence[Side]) -> dict[str, str]:
    """Returns the name in the new version of each column of the old one: its own, or where both
    list as many columns of a root, that in its place."""
    roots = [side.resolved.problem.roots for side in sides]
    known = [_columns(side.resolved.problem) for side in sides]
    names = {column: column for column in known[0] if column in known[1] or not known[1]}
    for was, now in zip(*roots, strict=False):
        if len(was.columns or ()) == len(now.columns or ()):
            for old, new in zip(was.columns or (), now.columns or (), strict=True):
                if old not in known[1] and new not in known[0]:
                    names.setdefault(old, new)
    return names


def _unlike_columns(sides: Sequence[Side], names: Mapping[str, str]) -> list[str]:
    """Returns columns that both versions have, by their new names, at most `MOST_ASKED`; of those
    that no other key of either version mentions, and that the same roots list, one.

    `names`: as of `_same_columns`.
    """
    text = "\n".join(word for side in sides for word in _words(side.resolved.source.value))
    listed = [_columns(side.resolved.problem) for side in sides]
    kept: dict[object, str] = {}
    for was, now in names.items():
        alike = listed[0].get(was), listed[1].get(now)
        kept.setdefault(now if was in text or now in text else alike, now)
    return list(kept.values())[:MOST_ASKED]


def _columns(problem: Problem) -> dict[str, tuple[str, ...]]:
    """Returns the columns that the roots of a problem list, each with the names of these roots."""
    found: dict[str, tuple[str, ...]] = {}
    for root in problem.roots:
        for column in root.columns or ():
            found[column] = (*found.get(column, ()), root.dataset.name)
    return found


def _words(tree: Value) -> Iterator[str]:
    """Yields the texts of a spec but for the lists of the columns of its datasets."""
    stack: list[Value] = [tree]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            listed = value.get("columns")
            stack += [
                *value,
                *(e for e in value.values() if e is not listed or isinstance(e, dict)),
            ]
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            yield value
