"""The formats of JSON: `json` and `jsonl` in the shape of `result_schema`, `event`, `certificate`.

Everything is ASCII, so that any text from a spec can be printed anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from dpcompose.errors import InvalidSpec
from dpcompose.render.json.result_schema import LEFT_OUT, RESULT
from dpcompose.render.json.shapes import RESULTS_VERSION, document
from dpcompose.render.layout import Style
from dpcompose.render.words.problems import NO_BUDGET, problems
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one JSON document with all results, each as soon as it is ready; `checking`: an unmet
    or missing budget is an error, as in the command `check`."""
    head = document("The versions.", schema_version=RESULTS_VERSION).write(None)
    yield dumped(head, indent=2).removesuffix("\n}\n") + ',\n  "results": ['
    first, out = True, ""
    for report in reports:
        if report.left_out is not None:
            out = ',\n  "left_out": ' + indented(LEFT_OUT.write(report.left_out), 2).lstrip()
            continue
        yield ("\n" if first else ",\n") + indented(result(report, checking), 4)
        first = False
    yield ("]" if first else "\n  ]") + out + "\n}\n"


def render_lines(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields each result as a line of JSON; the last line counts what was left out of the run.
    `checking` as in `render`."""
    waiting: dict[str, Any] | None = None
    for report in reports:
        if report.left_out is not None:
            if waiting is not None:
                waiting["left_out"] = LEFT_OUT.write(report.left_out)
            continue
        yield "" if waiting is None else dumped(waiting)
        waiting = {"schema_version": RESULTS_VERSION.schema["const"], **result(report, checking)}
    if waiting is not None:
        yield dumped(waiting)


def render_certificates(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the certificates of bounds, a line of JSON each, for the stand-alone checker;
    `checking` makes no difference."""
    for report in reports:
        yield "".join(f"{line}\n" for line in report.certificate)


def render_events(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields for each report one line of JSON with the DpEvents of its spec, as dp_accounting has
    them: `neighboring_relation` and `dp_event`, or `refused`. `checking` makes no difference."""
    from dpcompose.bridge import Unconvertible, to_event

    for report in reports:
        found: dict[str, object] = {"file": report.file}
        try:
            found |= to_event("\n".join(report.lines), report.file)
        except Unconvertible as error:
            found |= {"refused": ": ".join((error.where, error.message)), "hint": error.hint}
        except InvalidSpec:
            found |= {"refused": "the spec is invalid", "hint": "`dpcompose analyze` says why"}
        yield dumped(found)


def dumped(value: object, indent: int | None = None) -> str:
    """Returns a value as JSON text and a newline, free of commands of a log (see `logs`)."""
    return json.dumps(value, indent=indent, allow_nan=False).replace("##", "#\\u0023") + "\n"


def indented(value: object, spaces: int) -> str:
    """Returns a value as JSON text, indented by so many spaces, without a newline at the end."""
    margin = " " * spaces
    return margin + dumped(value, indent=2).rstrip("\n").replace("\n", "\n" + margin)


def result(report: Report, checking: bool = False) -> dict[str, Any]:
    """Returns one report as a JSON object; with `checking`, a missing budget is a finding."""
    missing = [each for each in problems(report, checking) if each.code == NO_BUDGET]
    if missing:
        report = replace(report, findings=(*missing, *report.findings))
    found: dict[str, Any] = RESULT.write(report)
    return found
