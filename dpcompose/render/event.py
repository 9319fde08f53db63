"""The format `event`: the DpEvents of each spec in JSON, on one line, as dp_accounting has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.bridge import Unconvertible, to_event
from dpcompose.errors import InvalidSpec
from dpcompose.render.json import dumped
from dpcompose.render.layout import Style
from dpcompose.report import Report


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields a line for each report: `neighboring_relation` and `dp_event`, or `refused`."""
    for report in reports:
        found: dict[str, object] = {"file": report.file}
        try:
            found |= to_event("\n".join(report.lines), report.file)
        except Unconvertible as error:
            found |= {"refused": ": ".join((error.where, error.message)), "hint": error.hint}
        except InvalidSpec:
            found |= {"refused": "the spec is invalid", "hint": "`dpcompose analyze` says why"}
        yield dumped(found)
