"""The format `junit`: JUnit XML with a test suite for each spec, a test case for each requirement.

A valid spec must have a finite bound and, where the budget decides, meet it; an invalid one has a
case with an error for each fault. The text is ASCII, so that it is the same in every encoding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dpcompose.errors import Diagnostic, printable
from dpcompose.render import concise
from dpcompose.render.layout import Style
from dpcompose.render.problems import BROKEN, NO_BOUND, UNREADABLE, VERDICT_CODES, problems
from dpcompose.render.xml import escaped
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one XML document; each suite is yielded as soon as its report is ready."""
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
    cases = [
        _case(name, report, each) for name, each in zip(_told_apart(found), found, strict=True)
    ]
    if not invalid and not any(each.code == NO_BOUND for each in found):
        cases.insert(0, _case("finite bound", report))
    if not invalid and checking and not any(each.code in VERDICT_CODES for each in found):
        cases.append(_case("budget", report))
    counts = {
        "tests": len(cases),
        "failures": 0 if invalid else len(found),
        "errors": len(found) if invalid else 0,
        "skipped": 0,
    }
    head = _tag("testsuite", {"name": report.label, **{k: str(v) for k, v in counts.items()}})
    said = "".join(concise.render([report], Style(), checking))
    out = f"    <system-out>{escaped(said)}</system-out>\n"
    return f"  {head}>\n{''.join(cases)}{out}  </testsuite>\n"


def _left_out(report: Report) -> str:
    """Returns the suite for what has no result: a skipped case, or an error if it is one."""
    (found,) = report.findings
    error = found.level == "error"
    counts = {"tests": "1", "failures": "0", "errors": str(int(error)), "skipped": str(1 - error)}
    name = "nothing left out"
    kind = "error" if error else "skipped"
    said = _tag(kind, {"message": found.message, **({"type": found.code} if error else {})})
    case = _tag("testcase", {"name": name, "classname": "dpcompose"})
    head = _tag("testsuite", {"name": name, **counts})
    return f"  {head}>\n    {case}>\n      {said}/>\n    </testcase>\n  </testsuite>\n"


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


def _case(name: str, report: Report, problem: Diagnostic | None = None) -> str:
    """Returns a test case: passed without a problem, else with a failure or error."""
    case = {"name": name, "classname": report.label, "file": report.file}
    span = problem.span if problem else report.place
    if span is not None:
        case["line"] = str(span.line)
    head = f"    {_tag('testcase', case)}"
    if problem is None:
        return f"{head}/>\n"
    kind = "error" if report.status in BROKEN else "failure"
    opened = _tag(kind, {"message": problem.message, "type": problem.code})
    return f"{head}>\n      {opened}>{escaped(_body(problem, report))}</{kind}>\n    </testcase>\n"


def _body(problem: Diagnostic, report: Report) -> str:
    """Returns the text of a failure: position, message, code and hint."""
    span = problem.span
    place = f"{report.file}:{span.line}:{span.column}" if span else report.file
    lines = [f"{printable(place)}: {printable(problem.message)} [{problem.code}]"]
    if problem.hint:
        lines.append(f"hint: {printable(problem.hint)}")
    return "\n".join(lines)


def _tag(name: str, attributes: dict[str, str]) -> str:
    """Returns the start of an element, without its closing bracket."""
    pairs = [f'{key}="{escaped(printable(value))}"' for key, value in attributes.items()]
    return f"<{' '.join([name, *pairs])}"
