"""A report held against settings: findings of policy added, levels set, comments heeded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from dpcompose.errors import LEVELS, Diagnostic, quoted
from dpcompose.policy.codes import BECAUSE, DELTA, FORBIDDEN, RELATION
from dpcompose.policy.ignores import ignoring
from dpcompose.policy.kinds import declared
from dpcompose.policy.settings import Settings
from dpcompose.report import Report
from dpcompose.source import Source
from dpcompose.wording import number


def audit(source: Source, report: Report, settings: Settings) -> Report:
    """The report of a valid spec as `settings` want it. Its bound and verdict stay as they are."""
    found = [*report.findings, *_relation(source, report, settings)]
    found += _delta(report, settings)
    if settings.because or settings.forbid:
        found += _declared(source, settings)
    kept, ignored = ignoring(found, source)
    levelled = [each for finding in kept for each in _levelled(finding, settings)]
    if levelled == list(report.findings) and not ignored:
        return report
    return replace(report, findings=tuple(sorted(levelled, key=_place)), ignored=tuple(ignored))


def _place(finding: Diagnostic) -> tuple[int, int, str]:
    span = finding.span
    return (span.line, span.column, finding.code) if span else (sys.maxsize, 0, finding.code)


def _levelled(finding: Diagnostic, settings: Settings) -> Iterator[Diagnostic]:
    level = settings.severity.get(finding.code, finding.level)
    if level == finding.level:
        yield finding
    elif level in LEVELS:
        yield Diagnostic(finding.code, finding.message, finding.span, finding.hint, level)


def _relation(source: Source, report: Report, settings: Settings) -> Iterator[Diagnostic]:
    wanted = settings.relations
    if not wanted or report.relation is None:
        return
    # Columns that a replacement keeps are not protected: that is another, weaker relation.
    found = report.relation
    if report.keeps:
        found += f" keeping {', '.join(report.keeps)}"
    if found not in wanted:
        says = f"{quoted(found)} neighbours are protected, where {' or '.join(wanted)} is required"
        yield Diagnostic(
            RELATION, says, source.span(("protect",)), _by("require-relation", settings)
        )


def _delta(report: Report, settings: Settings) -> Iterator[Diagnostic]:
    """That the budget or the bound has a δ above the required one."""
    most = settings.delta
    if most is None:
        return
    hint = _by("require-delta", settings)
    limit = dict(report.verdict.limit.parameters) if report.verdict else {}
    asked = limit.get("delta")
    if asked is not None and asked > most:
        says = f"the budget has δ = {number(asked)}, above the required {number(most)}"
        yield Diagnostic(DELTA, says, report.place, hint)
    bound = report.bound
    stated = next((at for at in report.at_delta if at.given == most), None)
    if bound is not None and bound.delta is not None and bound.delta > most:
        says = f"the bound has δ = {number(bound.delta)}, above the required {number(most)}"
        yield Diagnostic(DELTA, says, report.place, hint)
    elif report.status == "ok" and (stated is None or stated.value is None):
        says = f"no ε is certified at the required δ = {number(most)}"
        yield Diagnostic(DELTA, says, report.place, hint)


def _declared(source: Source, settings: Settings) -> Iterator[Diagnostic]:
    for each in declared(source):
        kind = each.is_of(settings.forbid)
        if kind is not None:
            says = f"{quoted(each.name)} is forbidden: {kind}"
            yield Diagnostic(FORBIDDEN, says, source.span(each.path, True), _by("forbid", settings))
        kind = each.is_of(settings.because)
        if kind is not None and each.because is None:
            says = f"{quoted(each.name)} ({kind}) needs a `because:` that says why it is so"
            hint = _by("require-because", settings)
            yield Diagnostic(BECAUSE, says, source.span(each.path, True), hint)


def _by(key: str, settings: Settings) -> str:
    return f"required by `{key}` of {settings.origins.get(key, 'the settings')}"
