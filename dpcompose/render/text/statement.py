"""The format `statement`: one paragraph on a release, for a paper or a model card."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.curves.rounding import plural
from dpcompose.handbook import sources
from dpcompose.places import version
from dpcompose.render.layout import Style
from dpcompose.render.words.headlines import (
    assumed,
    finite_number,
    in_few_words,
    is_bounded,
    short_hash,
    spending,
)
from dpcompose.render.words.numbers import per_cent, short_text
from dpcompose.render.words.pipeline_words import heading, protected, quoted_names
from dpcompose.render.words.theorem_text import book, entry_of
from dpcompose.report import Report

_NOT_COVERED = (
    "what the release tells of people in general, which may tell of this one too",
    "other releases on the same people",
    "faults of the programs that compute the release",
)


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields a paragraph for each report, on one line, with an empty line between two; `checking`
    makes no difference."""
    gap = ""
    for report in reports:
        says = " ".join(each.strip() for each in _sentences(report))
        yield f"{gap}{style.plain(' '.join(says.split()))}\n"
        gap = "\n"


def _sentences(report: Report) -> Iterator[str]:
    """Yields the sentences of the paragraph."""
    tool = f"dpcompose {version()}"
    if report.status not in ("ok", "no-guarantee"):
        errors = sum(each.level == "error" for each in report.findings)
        count = f" ({plural(errors, 'error')})" if errors else ""
        yield f"Nothing can be stated about the privacy of {report.label}:"
        yield f"for {tool} it is no valid specification{count}."
        return
    change = protected(report)
    people = f" (data of “{report.population}”)" if report.population else ""
    name = f"“{heading(report)}”{people}"
    if not is_bounded(report):
        yield f"No finite privacy bound is known for {name}."
        yield f"For {change}, {tool} certifies no bound, and nothing limits what an attacker"
        yield "learns."
        for each in map(quoted_names, report.reasons[:2]):
            yield each[:1].upper() + each[1:] + ("" if each.endswith(".") else ".")
        more = len(report.reasons) - 2
        if more > 0:
            yield f"There {'is 1 more reason' if more == 1 else f'are {more} more reasons'}."
    else:
        yield f"As its specification describes it, the release {name} is differentially private"
        yield f"with {in_few_words(report)}"
        yield f"{_origin_of_number(report)}for {change}."
        yield _certified(report, tool)
        yield from _further(report)
        yield from _assumptions(report)
        yield from _not_covered(report)
    if report.adversary is not None:
        yield "Bounds against an adversary with two hypotheses are weaker, and not stated here."
    yield from _spec(report)


def _origin_of_number(report: Report) -> str:
    """Returns the bound that a number at a δ stands beside, in parentheses."""
    at, bound = finite_number(report), report.bound
    if bound is None:
        return ""
    words = bound.notion.facts.words
    if at is not None:
        return f"({words} with {short_text(bound)}) "
    return f"({words}) "


def _certified(report: Report, tool: str) -> str:
    """Returns the sentence on who certifies the number, by which theorem."""
    entry = entry_of(report.theorem)
    by = ""
    if entry is not None:
        source = "" if entry.source == "dpcompose" else f" of {entry.source}"
        by = f" by {entry.place}{source} ({entry.title})"
    at, route = finite_number(report), ""
    if at is not None and at.rule:
        number = "ε at that δ" if at.wanted == "delta" else "δ at that ε"
        route = f", and reads the {number} by {at.rule}"
    return f"{tool} certifies this{by}{route}; numbers are rounded up."


def _further(report: Report) -> Iterator[str]:
    """Yields sentences on what else holds: a filter's record, the risk, and what the checker
    confirmed."""
    if report.record is not None:
        yield "The bound is the budget of a privacy filter, for releases whose parameters were"
        yield f"chosen along the way: {spending(report.record)}."
    risk = report.risk
    for rate, found in () if risk is None else risk.hits[:1]:
        yield f"At {per_cent(rate)} false alarms no test for the change has more than"
        yield f"{per_cent(found)} hits."
    again = report.rechecked
    if again is not None and not again.unchecked and not report.not_rechecked:
        yield "A stand-alone checker confirmed the certificate of the bound."


def _assumptions(report: Report) -> Iterator[str]:
    """Yields the sentence on what is assumed, numbered."""
    found = [quoted_names(each).rstrip(".") for each in assumed(report)]
    if not found:
        return
    listed = "; ".join(f"({number}) {each}" for number, each in enumerate(found, start=1))
    yield f"Assumed, and not checked by any program: {listed}."


def _not_covered(report: Report) -> Iterator[str]:
    """Yields one sentence on what differential privacy of this relation does not cover, such as
    other rows of the same person."""
    rows = ["other rows of the same person"] if report.relation in ("unbounded", "bounded") else []
    *first, last = [*rows, *_NOT_COVERED]
    yield f"Not covered: {', '.join(first)}, and {last}."


def _spec(report: Report) -> Iterator[str]:
    """Yields where the specification is, its hash, and the full name of the source."""
    digest = f", SHA-256 {short_hash(report)}…" if report.digest else ""
    yield f"Specification: {report.label}{digest}."
    entry = book().get(report.theorem) if report.theorem and is_bounded(report) else None
    if entry is not None and entry.source in sources():
        yield f"{entry.source}: {sources()[entry.source]}."
