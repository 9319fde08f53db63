"""The format `junit`: JUnit XML with a test suite for each spec, a test case for each requirement.

A valid spec must have a finite bound and, where the budget decides, meet it; an invalid one has a
case with an error for each fault. The text is ASCII, so that it is the same in every encoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dpcompose.errors import Diagnostic, printable
from dpcompose.render.layout import Style
from dpcompose.render.text import concise
from dpcompose.render.words.problems import BROKEN, NO_BOUND, UNREADABLE, VERDICT_CODES, problems
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one XML document, each test suite as soon as its report is ready; `checking`: whether
    an unmet budget is an error, as in the command `check`."""
    yield '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="dpcompose">\n'
    for report in reports:
        yield _suite(report, checking)
    yield "</testsuites>\n"


def _suite(report: Report, checking: bool) -> str:
    """Returns the test suite of one report."""
    if report.status == "left-out":
        return _left_out(report)
    found = [each for each in problems(report, checking) if each.level == "error"]
    invalid = report.status in BROKEN
    cases: list[tuple[str, Diagnostic | None]] = [*zip(_told_apart(found), found, strict=True)]
    if not invalid and not any(each.code == NO_BOUND for each in found):
        cases.insert(0, ("finite bound", None))
    if not invalid and checking and not any(each.code in VERDICT_CODES for each in found):
        cases.append(("budget", None))
    counts = {"failures": 0 if invalid else len(found), "errors": len(found) if invalid else 0}
    suite = _element(None, "testsuite", name=report.label, tests=len(cases), **counts, skipped=0)
    for name, problem in cases:
        case = _element(suite, "testcase", name=name, classname=report.label, file=report.file)
        span = problem.span if problem else report.place
        if span is not None:
            case.set("line", str(span.line))
        if problem is not None:
            kind, says = "error" if invalid else "failure", problem.message
            _element(case, kind, message=says, type=problem.code).text = _body(problem, report)
    _element(suite, "system-out").text = "".join(concise.render([report], Style(), checking))
    return _written(suite)


def _left_out(report: Report) -> str:
    """Returns the suite for what has no result: a skipped case, or an error if it is one."""
    (found,) = report.findings
    errors, name = int(found.level == "error"), "nothing left out"
    counts = {"tests": 1, "failures": 0, "errors": errors, "skipped": 1 - errors}
    suite = _element(None, "testsuite", name=name, **counts)
    case = _element(suite, "testcase", name=name, classname="dpcompose")
    kind = {"type": found.code} if errors else {}
    _element(case, "error" if errors else "skipped", message=found.message, **kind)
    return _written(suite)


def _element(parent: Element | None, tag: str, /, **attributes: str | int) -> Element:
    """Returns an element with printable attributes, at the end of another one."""
    shown = {key: printable(str(value)) for key, value in attributes.items()}
    return Element(tag, shown) if parent is None else SubElement(parent, tag, shown)


def _written(suite: Element) -> str:
    """Returns a test suite as text, free of commands of a log (see `logs`)."""
    indent(suite, level=1)
    text = tostring(suite, "us-ascii").decode("ascii").replace(" />", "/>")
    return f"  {text}\n".replace("##", "#&#35;")


def _told_apart(found: Sequence[Diagnostic]) -> Iterator[str]:
    """Yields the names of cases, numbered where several would be the same."""
    seen: Counter[str] = Counter()
    for each in found:
        name = _name(each)
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


def _name(problem: Diagnostic) -> str:
    """Returns the name of a problem's case, which stays the same when the case passes."""
    if problem.code == NO_BOUND:
        return "finite bound"
    if problem.code == UNREADABLE:
        return "readable"
    if problem.code in VERDICT_CODES:
        return "budget"
    place = f" at {problem.span.line}:{problem.span.column}" if problem.span else ""
    return f"{problem.code}{place}"


def _body(problem: Diagnostic, report: Report) -> str:
    """Returns the text of a failure: position, message, code and hint."""
    span = problem.span
    place = f"{report.file}:{span.line}:{span.column}" if span else report.file
    lines = [f"{printable(place)}: {printable(problem.message)} [{problem.code}]"]
    if problem.hint:
        lines.append(f"hint: {printable(problem.hint)}")
    return "\n".join(lines)
