"""The audit of a report by settings: adds findings, sets levels, and applies comments."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.errors import LEVELS, Diagnostic, in_order, nearest, quoted
from dpcompose.policy.accepted import Accepted
from dpcompose.policy.codes import BECAUSE, CEILING, DELTA, FORBIDDEN, POPULATION, RELATION
from dpcompose.policy.ignores import apply_ignores
from dpcompose.policy.kinds import declarations
from dpcompose.policy.settings import Settings
from dpcompose.report import Report
from dpcompose.report.wording import number
from dpcompose.source import Source


def audit(
    source: Source,
    report: Report,
    settings: Settings,
    accepted: Accepted | None = None,
    document: int = 1,
) -> Report:
    """Returns the report of a valid spec with the findings that settings ask for.

    Its bound and verdict stay as they are. `accepted`: the only claims that the spec may make;
    `document`: the number of the spec in its file.
    """
    found = [*report.findings, *_relation(source, report, settings)]
    found += _delta(report, settings)
    found += _ceilings(report, settings)
    found += of_population(source, report.population, settings)
    if settings.because or settings.forbid:
        found += _declaration_findings(source, settings)
    if accepted is not None:
        found += accepted.findings(source, report, document)
    kept, ignored = apply_ignores(
        found, source, lambda each: settings.failing_setting(each.code, each.level)
    )
    levelled = [each for finding in kept for each in _at_level(finding, settings)]
    if levelled == list(report.findings) and not ignored:
        return report
    return replace(report, findings=in_order(levelled), ignored=tuple(ignored))


def _at_level(finding: Diagnostic, settings: Settings) -> Iterator[Diagnostic]:
    """Yields the finding at the level that settings give it; nothing if they turn it off."""
    level = settings.level(finding.code, finding.level)
    if level == finding.level:
        yield finding
    elif level in LEVELS:
        yield finding._replace(level=level)


def _relation(source: Source, report: Report, settings: Settings) -> Iterator[Diagnostic]:
    """Yields the finding that a spec protects none of the required relations."""
    if report.goal is None:
        return
    # Columns that a replacement keeps are not protected: that is another, weaker relation.
    found = str(report.goal.relation)
    wanted = next((each for each in settings.relations if found not in each), None)
    if wanted is not None:
        says = f"{quoted(found)} neighbours are protected, where {' or '.join(wanted)} is required"
        yield Diagnostic(
            RELATION, says, source.span(("protect",)), _by("require-relation", settings)
        )


def _ceilings(report: Report, settings: Settings) -> Iterator[Diagnostic]:
    """Yields a finding for each ceiling that the bound is not known to meet."""
    for verdict in report.ceilings:
        if verdict.ok:
            continue
        limit = ", ".join(
            f"{LIMITS[key]} = {number(value)}" for key, value in verdict.limit.parameters
        )
        if verdict.slack is None:
            says = f"the bound cannot be compared with the ceiling {limit}: {verdict.why}"
        else:
            main, most = verdict.limit.parameters[0]
            spent = f"{LIMITS[main]} = {number(most - verdict.slack)}"
            says = f"the bound is above the ceiling {limit}: {verdict.why or spent}"
        yield Diagnostic(CEILING, says, report.place, _by("max-budget", settings))


def of_population(
    source: Source, population: str | None, settings: Settings
) -> Iterator[Diagnostic]:
    """Yields the finding that the population of a spec is not listed, or not named."""
    listed = settings.populations
    if population is None:
        if listed or settings.require_population:
            says = "no population is named: nothing adds this release up with others"
            key = "require-population" if settings.require_population else "populations"
            yield Diagnostic(POPULATION, says, source.span(()), _by(key, settings))
        return
    for known in listed:
        if population not in known:
            near = nearest(population, known)
            offer = f"; did you mean {quoted(near)}?" if near else ""
            says = f"the population {quoted(population)} is none of those that are listed{offer}"
            hint = _by("populations", settings)
            yield Diagnostic(POPULATION, says, source.span(("population",)), hint)
            return


def _delta(report: Report, settings: Settings) -> Iterator[Diagnostic]:
    """Yields the finding that the budget or the bound has a δ above the required one."""
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


def _declaration_findings(source: Source, settings: Settings) -> Iterator[Diagnostic]:
    """Yields findings for what is declared and forbidden, or lacks a reason."""
    for each in declarations(source):
        kind = each.is_of(settings.forbid)
        if kind is not None:
            says = f"{quoted(each.name)} is forbidden: {kind}"
            yield Diagnostic(FORBIDDEN, says, source.span(each.path, True), _by("forbid", settings))
        kind = each.is_of(settings.because)
        if kind is not None and not says_something(each.because or ""):
            says = f"{quoted(each.name)} ({kind}) needs a `because:` that says why it is so"
            if each.because is not None:
                says += f", in {FEWEST} words or more: {quoted(each.because)} does not"
            hint = _by("require-because", settings)
            yield Diagnostic(BECAUSE, says, source.span(each.path, True), hint)


def _by(key: str, settings: Settings) -> str:
    """Returns the hint that names the setting."""
    return f"required by `{key}` of {settings.origin(key)}"


#: So many different words are the fewest of a reason.
FEWEST = 3
_LETTERS = re.compile(r"[^\W\d_]+")
#: What is written where a reason is still missing, or is refused.
_PLACEHOLDERS = frozenset(
    "todo tbd tba tbc fixme xxx wip hack placeholder reason because none null nil na nope "
    "lorem ipsum dolor foo bar baz qux asdf".split()
)
#: Scripts without spaces between words, by the first word of the names of their letters.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})


def says_something(reason: str) -> bool:
    """Returns whether a reason has three different words of two letters, other than placeholders.

    Where words have no spaces between them, two letters count as one.
    """
    text = unicodedata.normalize("NFKC", reason).casefold()
    words = {word for run in _LETTERS.findall(text) for word in _words(run)}
    return len({word for word in words if len(set(word)) > 1} - _PLACEHOLDERS) >= FEWEST


def _words(run: str) -> list[str]:
    """Returns the words in a run of letters."""
    if unicodedata.name(run[0], "").partition(" ")[0] in _UNSPACED:
        return [run[i : i + 2] for i in range(0, len(run) - 1, 2)]
    return [run]
