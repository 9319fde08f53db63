"""The format `sarif` (SARIF 2.1.0, OASIS 2020): a result for each problem, with the derivation.

`analyze` gives the certified bound as a result too, of level `none`; `check` only what is wrong,
since code scanning shows every result as an alert, whatever its kind. The rules are codes of
findings and theorems, as far as results and derivations cite them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import fsencode
from typing import Any
from urllib.parse import quote

from dpcompose.errors import Diagnostic, Span, printable
from dpcompose.places import version
from dpcompose.render.help.code_text import rule
from dpcompose.render.json import dumped, indented, result
from dpcompose.render.layout import Style, sentence
from dpcompose.render.words.headlines import headline
from dpcompose.render.words.numbers import amounts_text, bound_text
from dpcompose.render.words.problems import (
    BOUND,
    NO_BOUND,
    NOT_COMPARABLE,
    OVER_BUDGET,
    from_root,
    problems,
)
from dpcompose.report import Line, Report, Touch

Shape = dict[str, Any]

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# problems that the derivation explains
_FLOWING = frozenset({OVER_BUDGET, NOT_COMPARABLE, NO_BOUND})
_MOST_PLACES = 20  # positions of one step
_MOST_TOUCHES = 100
_TOP = Span(1, 1, 1, 1)

#: The keys of the JSON shape that a result repeats as its properties.
_KEPT = (
    "title", "status", "protect", "guarantee", "at_delta", "at_epsilon", "risk", "adversary",
    "theorem", "assumptions", "budget",
)  # fmt: skip


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one SARIF log with one run: each result as it is ready, the rules at the end;
    `checking`: whether an unmet budget is an error, as in the command `check`."""
    rules: dict[str, int] = {}
    first = True
    head = {"$schema": _SCHEMA, "version": "2.1.0"}
    yield dumped(head, indent=2).removesuffix("\n}\n") + ',\n  "runs": [\n    {\n'
    yield '      "columnKind": "unicodeCodePoints",\n      "results": ['
    told: Shape = {}
    for report in reports:
        if report.left_out is not None:
            told = _left_out(report)
            continue
        pieces = []
        for each in _results(report, checking, rules):
            pieces.append(("\n" if first else ",\n") + indented(each, 8))
            first = False
        yield "".join(pieces)
    driver = {
        "name": "dpcompose",
        "version": version(),
        "rules": [
            rule(each) | ({"helpUri": address} if (address := style.address(each)) else {})
            for each in rules
        ],
    }
    yield "],\n" if first else "\n      ],\n"
    if told:
        yield f'      "invocations": {indented([told], 6).lstrip()},\n'
    yield f'      "tool": {indented({"driver": driver}, 6).lstrip()}\n    }}\n  ]\n}}\n'


def _index(rules: dict[str, int], identifier: str) -> int:
    """Returns the index of a rule among those cited so far, to which it is added if it is new."""
    return rules.setdefault(identifier, len(rules))


def _left_out(report: Report) -> Shape:
    """Returns a notification about the run, for counts that belong to no file."""
    (found,) = report.findings
    return {
        "executionSuccessful": found.level != "error",
        "toolExecutionNotifications": [
            {
                "descriptor": {"id": found.code},
                "level": found.level,
                "message": _message(_problem_text(found)),
            }
        ],
    }


def _results(report: Report, checking: bool, rules: dict[str, int]) -> Iterator[Shape]:
    """Yields the results of a report: problems, ignored findings, and for `analyze` its bound."""
    for each in problems(report, checking):
        index = _index(rules, each.code)
        told = _details(report, rules) if each.code in _FLOWING else {}
        yield {
            "ruleId": each.code,
            "ruleIndex": index,
            "kind": "fail",
            "level": each.level,
            "message": _message(_problem_text(each)),
            "locations": [{"physicalLocation": _place(report, each.span)}],
            **told,
            **_fixes(report, each),
        }
    for ignored in report.ignored:
        finding = ignored.finding
        yield {
            "ruleId": finding.code,
            "ruleIndex": _index(rules, finding.code),
            "kind": "fail",
            "level": finding.level,
            "message": _message(_problem_text(finding)),
            "locations": [{"physicalLocation": _place(report, finding.span)}],
            "suppressions": [{"kind": "inSource", "justification": printable(ignored.reason)}],
        }
    if report.status == "ok" and not checking:
        identifier = report.theorem or BOUND
        met = report.verdict is not None and report.verdict.ok
        yield {
            "ruleId": identifier,
            "ruleIndex": _index(rules, identifier),
            "kind": "pass" if met else "informational",
            "level": "none",
            "message": _message(headline(report, Style()).partition(": ")[2]),
            "locations": [{"physicalLocation": _place(report, report.place)}],
            **_details(report, rules),
        }


def _fixes(report: Report, problem: Diagnostic) -> Shape:
    """Returns the correction of a problem if it is certain: others are not for machines (§3.55)."""
    fix = problem.fix
    if fix is None or not fix.certain:
        return {}
    replacements = [
        {"deletedRegion": _region(each.span), "insertedContent": {"text": each.text}}
        for each in fix.replacements
    ]
    change = {"artifactLocation": _artifact(report.file), "replacements": replacements}
    says = printable(problem.hint or problem.message)
    return {"fixes": [{"description": _message(says), "artifactChanges": [change]}]}


def _problem_text(problem: Diagnostic) -> str:
    """Returns the message of a problem with its hint."""
    hint = f"\nhint: {printable(problem.hint)}" if problem.hint else ""
    return printable(problem.message) + hint


def _details(report: Report, rules: dict[str, int]) -> Shape:
    """Returns the members of a result in SARIF: `codeFlows` (the derivation), `relatedLocations`
    (mechanisms that the worst change reaches) and `properties` (numbers); theorems that are cited
    are added to `rules`."""
    shape = result(report)
    details: Shape = {}
    if report.chain:
        steps = [_step(each, report, rules) for each in report.chain]
        details["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if report.worst is not None and report.worst.touches:
        details["relatedLocations"] = [
            _related(number, each, report)
            for number, each in enumerate(report.worst.touches[:_MOST_TOUCHES], 1)
        ]
    if report.theorem is not None:
        _index(rules, report.theorem)
    details["properties"] = {key: shape[key] for key in _KEPT if key in shape}
    return details


def _step(line: Line, report: Report, rules: dict[str, int]) -> Shape:
    """Returns a step of the code flow for one sentence of the reasoning."""
    if line.theorem is not None:
        _index(rules, line.theorem)
    bound = f" → {bound_text(line.bound)}" if line.bound else ""
    where, *further = tuple(dict.fromkeys(line.spans))[:_MOST_PLACES] or (report.place,)
    location: Shape = {
        "physicalLocation": _place(report, where),
        "message": _message(printable(sentence(line.says) + bound)),
    }
    if further:
        location["annotations"] = [_region(each) for each in further if each is not None]
    return {
        "location": location,
        "executionOrder": line.number,
        "importance": "essential" if line.theorem else "important",
        "properties": {"theorem": line.theorem, "inputs": list(line.inputs)},
    }


def _related(number: int, touch: Touch, report: Report) -> Shape:
    """Returns the related location of a mechanism that the worst change reaches."""
    says = f"`{touch.mechanism}` adds {amounts_text(touch.total)}; it reads {touch.dataset}"
    return {
        "id": number,
        "physicalLocation": _place(report, touch.span),
        "message": _message(printable(says)),
    }


def _message(text: str) -> Shape:
    """Returns a SARIF message without placeholders (§3.11.5) or embedded links (§3.11.6)."""
    plain = text.replace("{", "{{").replace("}", "}}").replace("](", "] (")
    return {"text": plain}


def _place(report: Report, span: Span | None) -> Shape:
    """Returns the physical location of a span; the start of the file without one."""
    return {"artifactLocation": _artifact(report.file), "region": _region(span or _TOP)}


def _region(span: Span) -> Shape:
    """Returns the SARIF region of a span."""
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(file: str) -> Shape:
    """Returns the location of a file: relative to the root of the sources, or absolute."""
    file = from_root(file)
    try:
        name = fsencode(file)
    except UnicodeEncodeError:
        name = file.encode("utf-8", "backslashreplace")
    path = quote(name.replace(b"\\", b"/") if ":\\" in file[:3] else name)
    if file.startswith("/"):
        return {"uri": f"file://{path}"}
    return {"uri": path, "uriBaseId": "%SRCROOT%"}
