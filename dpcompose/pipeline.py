"""The pipeline: bytes in, a report out. Prints nothing; a bad spec gives a report as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from dpcompose.core.notions.guarantee import AskedRisk, Budget
from dpcompose.errors import Diagnostic, InvalidSpec, Span, in_order, quoted
from dpcompose.report import Extent, Report
from dpcompose.report.verdict import sharper
from dpcompose.resolve import Resolved, resolve
from dpcompose.source import Source, load

if TYPE_CHECKING:
    from dpcompose.core.search.solver import Solution, Solver
    from dpcompose.report.outcomes import Case


@dataclass(frozen=True, slots=True)
class Terms:
    """What a bound is held against.

    `limits`: the budgets for differential privacy, the verdict being on the first that is not met.
    `ceilings`: what is allowed at most beside them. `against`: the budget against the adversary.
    """

    limits: tuple[Budget, ...]
    ceilings: tuple[Budget, ...]
    against: Budget | None


def analyze(
    data: bytes | str,
    name: str = "<spec>",
    limit: Budget | None = None,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    *,
    risk: AskedRisk | None = None,
    default: Sequence[Budget] = (),
    ceilings: Sequence[Budget] = (),
    audit: Callable[[Source, Report], Report] | None = None,
    lines_above: int = 0,
    recheck: bool = False,
    extent: Extent = "all",
    by_attribute: bool = False,
) -> Report:
    """Certify one spec.

    `data` is the text of the spec, `name` what to call it in messages, `limit` a budget to use in
    place of the spec's own. `deltas`, each in [0, 1), asks for the least ε at each of them, and
    `epsilons`, each ≥ 0, for the least δ, beside what the spec asks for. `risk`: where to state
    what an attacker gains, for a spec that does not say. `default` are the budgets of a spec that
    has none for differential privacy, all of which hold; `ceilings` are held against the bound
    whatever budget there is. `audit` has the last word on the report of a valid
    spec. `lines_above` counts the lines above the spec in a stream. The report's status says
    whether there is a bound. `recheck` has the kernel check the bounds again, without the search;
    if one does not pass, which is a fault of dpcompose, there is no report. `extent`: how much the
    report says.
    `by_attribute`: whether to say what is learnt of each column that a root lists, by itself.

    Raises Unproved where a recheck fails.
    """
    try:
        source = load(data, name, lines_above)

        resolved = resolve(source)
    except InvalidSpec as invalid:
        return Report(
            file=name,
            title="",
            status="invalid",
            findings=_of_a_path(data) or invalid.diagnostics,
            lines=invalid.lines,
        )
    asked = limit if limit is not None else resolved.budget
    limits = tuple(default) if asked is None else (asked,)
    against = resolved.adversary_budget if limit is None else None
    terms = Terms(limits, tuple(ceilings), against)
    extent = "all" if recheck else extent  # what is cited is rechecked as well
    report = _report(source, resolved, name, terms, deltas, epsilons, risk, recheck, extent)
    if extent == "all" and (resolved.questions or by_attribute):
        report = _with_attributes(
            report, source, resolved, terms, deltas, risk, recheck, by_attribute
        )
    report = replace(report, place=_place(source), population=resolved.population)
    return report if audit is None else audit(source, report)


def _of_a_path(data: bytes | str) -> tuple[Diagnostic, ...]:
    """What is wrong where a text is no spec but the path of one; nothing for any other text."""
    if not isinstance(data, str) or not _PATH.fullmatch(data):
        return ()
    says = f"a spec is due, and {quoted(data)} is the path of one"
    hint = "`dpcompose.analyze_file` takes a path, `dpcompose.analyze` the text"
    return (Diagnostic("DPC103", says, None, hint),)


_PATH = re.compile(r"[^\n:#{}]{1,500}\.(yaml|yml)", re.IGNORECASE)


def analyze_file(
    path: str | PathLike[str],
    limit: Budget | None = None,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    *,
    recheck: bool = False,
    by_attribute: bool = False,
) -> Report:
    """Certify the spec in a file; the rest is that of `analyze`.

    Raises OSError where the file cannot be read, and Unproved where a recheck fails.
    """
    data = Path(path).read_bytes()
    return analyze(
        data, str(path), limit, deltas, epsilons, recheck=recheck, by_attribute=by_attribute
    )


def check(
    data: bytes | str,
    name: str = "<spec>",
    limit: Budget | None = None,
    *,
    recheck: bool = False,
) -> bool:
    """Whether a spec is valid, has a bound, and meets `limit` (default: its own budget).

    `recheck` has the kernel check the bounds again. Raises ValueError where there is no budget to
    check against, and Unproved where a recheck fails.
    """
    report = analyze(data, name, limit, recheck=recheck, extent="bound")
    if report.verdict is None:
        if report.status == "invalid":
            return False
        raise ValueError("the spec has no budget, and none was given")
    return report.verdict.ok


def _report(
    source: Source,
    resolved: Resolved,
    name: str,
    terms: Terms,
    deltas: Sequence[Fraction],
    epsilons: Sequence[Fraction],
    risk: AskedRisk | None,
    recheck: bool,
    extent: Extent,
) -> Report:
    if resolved.ledger:
        from dpcompose.report.ledger import of_ledger

        return of_ledger(
            source,
            resolved,
            name,
            terms.limits,
            terms.ceilings,
            deltas,
            epsilons,
            resolved.risk or risk,
            recheck,
            extent,
        )
    from dpcompose.report.certify import certify
    from dpcompose.report.outcomes import Case, certified, no_guarantee, profile

    asked = terms.limits[0] if terms.limits else None
    of_adversary = () if resolved.adversary_budget is None else (resolved.adversary_budget,)
    found = certify(
        resolved.problem,
        (*terms.limits, *terms.ceilings, *of_adversary),
        [*deltas, *resolved.deltas],
        [*epsilons, *resolved.epsilons],
        resolved.risk or risk,
    )
    finite, at_delta, at_epsilon = list(found.solutions), found.at_delta, found.at_epsilon
    case = Case(source, resolved, name, asked, found.solver, terms.against)
    if finite:
        report = certified(case, finite, (*at_delta, *at_epsilon), extent)
    elif any(at.value is not None for at in (*at_delta, *at_epsilon)):
        from dpcompose.report.at_points import told_apart

        report = profile(case, (*at_delta, *at_epsilon), extent)
        assert report.worst is not None
        at_delta, at_epsilon = (
            told_apart(ats, report.worst.says) for ats in (at_delta, at_epsilon)
        )
    else:
        points = (*at_delta, *at_epsilon)
        report = no_guarantee(case, list(found.solved), points, found.chosen, extent)
        return _with_adversary(report, case, finite)
    decisions = [
        found.held(asked)
        if asked is not None and asked.of_risk
        else sharper(report.verdict, asked, at_delta),
        *map(found.held, terms.limits[1:]),
    ]
    report = replace(
        report,
        at_delta=at_delta,
        at_epsilon=at_epsilon,
        risk=found.risk,
        verdict=next((each for each in decisions if each and not each.ok), decisions[0]),
        ceilings=tuple(map(found.held, terms.ceilings)),
        rechecked=_rechecked(found.solver, finite, report) if recheck else None,
    )
    if report.verdict is not None and report.verdict.limit.of_risk:
        report = _with_point_told(report, source, finite)
    return _with_adversary(report, case, finite)


def _with_point_told(report: Report, source: Source, finite: list[Solution]) -> Report:
    """The report, with a remark where a budget in risk is met by the whole curve alone."""
    from dpcompose.report.risk import met_by_curve_alone

    assert report.verdict is not None
    bounds = finite[0].quantities if finite else ()
    found = met_by_curve_alone(report.verdict, report.at_delta, bounds)
    if found is None:
        return report
    message, hint = found
    remark = Diagnostic("DPC213", message, _place(source), hint, "note")
    return replace(report, findings=in_order((*report.findings, remark)))


def _with_attributes(
    report: Report,
    source: Source,
    resolved: Resolved,
    terms: Terms,
    deltas: Sequence[Fraction],
    risk: AskedRisk | None,
    recheck: bool,
    by_attribute: bool,
) -> Report:
    """The report, with the answers to the questions of the spec and about each of its columns."""
    from dpcompose.report.learnt import along_the_way, columns_of, learnt, unanswered

    problem = resolved.problem
    questions = [*resolved.questions, *(columns_of(problem) if by_attribute else ())]
    wanted = [*deltas, *resolved.deltas]
    if resolved.ledger:
        return replace(report, attributes=tuple(map(along_the_way, questions)))
    risk = resolved.risk or risk
    found, claims = learnt(problem, questions, terms.limits, wanted, risk, recheck)
    rechecked = None if report.rechecked is None else report.rechecked + claims
    remarks = [
        Diagnostic(each.code, each.message, source.span(each.path), each.hint, each.level)
        for each in unanswered(problem, questions)
    ]
    findings = in_order((*report.findings, *remarks))
    return replace(report, attributes=found, rechecked=rechecked, findings=findings)


def _rechecked(solver: Solver, finite: list[Solution], report: Report) -> int:
    """How many claims prove the bounds of a report; none where it is a profile."""
    from dpcompose.core.search.proof import rechecked

    cited = {finite[0].notion: report.theorem} if finite else {}
    return sum(rechecked(solver, each, cited.get(each.notion)) for each in finite)


def _with_adversary(report: Report, case: Case, finite: list[Solution]) -> Report:
    """The report, with its part on the adversary where the spec has one."""
    if case.resolved.adversary is None:
        return report
    from dpcompose.report.adversary_told import with_adversary

    return with_adversary(report, case, finite)


def _place(source: Source) -> Span | None:
    """The budget, or else what is protected."""
    if not isinstance(source.value, dict):
        return None
    key = next((key for key in ("budget", "protect") if key in source.value), None)
    return None if key is None else source.span((key,))
