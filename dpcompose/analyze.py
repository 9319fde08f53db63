"""The pipeline: bytes in, a report out. Prints nothing; a bad spec gives a report as well."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.guarantee import Notion
from dpcompose.errors import InvalidSpec, Span
from dpcompose.report import At, Limit, Report

if TYPE_CHECKING:
    from dpcompose.core.answer import Solution, Solver
    from dpcompose.outcomes import Case
    from dpcompose.resolve import Resolved
    from dpcompose.source import Source


def analyze(
    data: bytes | str,
    name: str = "<spec>",
    limit: Limit | None = None,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    *,
    default: Limit | None = None,
    audit: Callable[[Source, Report], Report] | None = None,
    lines_above: int = 0,
) -> Report:
    """Certify one spec.

    `data` is the text of the spec, `name` what to call it in messages, `limit` a budget to use in
    place of the spec's own. `deltas`, each in [0, 1), asks for the least ε at each of them, and
    `epsilons`, each ≥ 0, for the least δ, beside what the spec asks for. `default` is the budget
    of a spec that has none, and `audit` has the last word on the report of a valid spec.
    `lines_above` counts the lines above the spec in a stream. The report's status says whether
    there is a bound.
    """
    from dpcompose.source import load

    try:
        source = load(data, name, lines_above)
        from dpcompose.resolve import resolve

        resolved = resolve(source)
    except InvalidSpec as invalid:
        return Report(
            file=name,
            title="",
            status="invalid",
            findings=invalid.diagnostics,
            lines=invalid.lines,
        )
    asked = limit if limit is not None else resolved.limit
    if asked is None and resolved.adversary_limit is None:
        asked = default
    report = _report(source, resolved, name, asked, deltas, epsilons)
    report = replace(report, place=_place(source))
    return report if audit is None else audit(source, report)


def check(data: bytes | str, name: str = "<spec>", limit: Limit | None = None) -> bool:
    """Whether a spec is valid, has a bound, and meets `limit` (default: its own budget).

    Raises ValueError where there is no budget to check against.
    """
    report = analyze(data, name, limit)
    if report.verdict is None:
        if report.status == "invalid":
            return False
        raise ValueError("the spec has no budget, and none was given")
    return report.verdict.ok


def _report(
    source: Source,
    resolved: Resolved,
    name: str,
    asked: Limit | None,
    deltas: Sequence[Fraction],
    epsilons: Sequence[Fraction],
) -> Report:
    from dpcompose.budget import deltas_of, sharper
    from dpcompose.core.answer import Solver, notions
    from dpcompose.outcomes import Case, certified, no_guarantee, profile

    problem = resolved.problem
    solver = Solver(problem)
    several = _several_notions(solver)
    solutions: list[Solution] = []
    for notion in notions(problem):
        first = next((solution.notion for solution in solutions if solution.finite), None)
        if first is None or several or _asked_in(asked, notion, first):
            solutions.append(solver.solve(notion))
    finite = [solution for solution in solutions if solution.finite]
    budgets = (asked, resolved.adversary_limit)
    all_deltas = [*deltas, *resolved.deltas, *(d for b in budgets for d in deltas_of(b))]
    all_epsilons = [*epsilons, *resolved.epsilons]
    chosen = bool(all_deltas or all_epsilons)
    at_delta: tuple[At, ...] = ()
    at_epsilon: tuple[At, ...] = ()
    if chosen:
        from dpcompose.points import at_points, told_apart

        told = finite[0] if finite else None
        at_delta, at_epsilon = at_points(solver, all_deltas, all_epsilons, told)
    case = Case(source, resolved, name, asked, solver)
    if finite:
        report = certified(case, finite)
    elif any(at.value is not None for at in (*at_delta, *at_epsilon)):
        report = profile(case, (*at_delta, *at_epsilon))
        assert report.worst is not None
        at_delta, at_epsilon = (
            told_apart(ats, report.worst.says) for ats in (at_delta, at_epsilon)
        )
    else:
        report = no_guarantee(case, solutions, (*at_delta, *at_epsilon), chosen)
        return _with_adversary(report, case, finite)
    decision = sharper(report.verdict, asked, at_delta)
    report = replace(report, at_delta=at_delta, at_epsilon=at_epsilon, verdict=decision)
    return _with_adversary(report, case, finite)


def _with_adversary(report: Report, case: Case, finite: list[Solution]) -> Report:
    """The report, with its part on the adversary where the spec has one."""
    if case.resolved.adversary is None:
        return report
    from dpcompose.adversary import with_adversary

    return with_adversary(report, case, finite)


def _place(source: Source) -> Span | None:
    """The budget, or else what is protected."""
    if not isinstance(source.value, dict):
        return None
    key = next((key for key in ("budget", "protect") if key in source.value), None)
    return None if key is None else source.span((key,))


def _asked_in(asked: Limit | None, notion: Notion, first: Notion) -> bool:
    """Whether a budget may be met in `notion` where it is not in the strongest one, `first`."""
    if asked is None:
        return False
    names = {name for name, _ in asked.parameters}
    return notion is not first and notion.symbol in names - {"epsilon"}


def _several_notions(solver: Solver) -> bool:
    """Whether some mechanism is stated in more than one notion, so that others may be worth it."""
    return any(
        len({statement.guarantee.notion for statement in mechanism.statements}) > 1
        for mechanism in solver.problem.mechanisms()
    )
