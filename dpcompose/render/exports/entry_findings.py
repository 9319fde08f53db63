"""What was found about entries of the registry: for people, and as JSON.

A report of an entry has findings alone; its status is `invalid`, and `unreadable` where the entry
does not fit the schema of the registry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dpcompose.errors import LEVELS
from dpcompose.faults import plural
from dpcompose.render.json import dumped
from dpcompose.render.json.schemas import ENTRIES
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import printed
from dpcompose.render.parts.diagnostics import findings_of
from dpcompose.report import Report


def text(reports: Iterable[Report], style: Style) -> Iterator[str]:
    """Yields the findings about each entry, then how many of which level there are."""
    for number, report in enumerate(reports):
        count = Counter(each.level for each in report.findings)
        words = [plural(count[level], level) for level in reversed(LEVELS) if count[level]]
        says = ", ".join(words) or style.paint("no findings", "good")
        if not fits(report):
            says = f"{style.paint('no valid entry', 'bad')}, {says}"
        found = printed(findings_of(report, style), style) if words else ""
        gap = "\n" if found and number else ""
        yield f"{gap}{found}{style.plain(report.label)}: {says}\n"


def json(reports: Iterable[Report]) -> Iterator[str]:
    """Yields one document with the findings about all entries."""
    yield dumped(ENTRIES.write({"entries": reports}), indent=2)


def fits(report: Report) -> bool:
    """Returns whether an entry fits the schema of the registry."""
    return report.status != "unreadable"
