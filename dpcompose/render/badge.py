"""The format `badge`: a small picture of the bound for a README, in the style of shields.io."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dpcompose.render.headlines import in_few_words, is_bounded, not_comparable
from dpcompose.render.layout import Style
from dpcompose.render.pipeline_words import heading
from dpcompose.render.svg import CssRule, Panel, box, number, pictures, text_at, text_width
from dpcompose.report import Report

_HEIGHT, _SIZE, _PADDING = 20.0, 11.0, 7.0
_SUBJECT = "privacy"
_RULES = (
    CssRule("text", 'font:11px Verdana,"DejaVu Sans",Geneva,sans-serif;fill:#ffffff'),
    CssRule(".subject", "fill:#444d56"),
    CssRule(".bound", "fill:#0b5cad"),
    CssRule(".met", "fill:#1a7f37"),
    CssRule(".failed", "fill:#b42318"),
)


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one picture with a badge for each report, all of it at the end."""
    panels: list[Panel] = []
    for report in reports:
        panels.append(_badge(report, checking))
        yield ""
    yield pictures("dpc-badge", "privacy badges", panels, _RULES)


def _badge(report: Report, checking: bool) -> Panel:
    """Returns the badge of one report; in red without a bound, or over a budget that decides."""
    words = in_few_words(report)
    message = words.replace(" at δ = ", " at ").replace(", δ = ", " at ").replace(", δ ≤ ", " at ")
    look, verdict = "bound" if is_bounded(report) else "failed", report.verdict
    told = f"{_SUBJECT}: {words}"
    if checking and is_bounded(report) and verdict is not None:
        look = "met" if verdict.ok else "failed"
        unmet = "not comparable with budget" if not_comparable(report) else "over budget"
        told += ", within budget" if verdict.ok else f", {unmet}"
        message += "" if verdict.ok else f", {unmet}"
    subject = text_width(_SUBJECT, _SIZE) + 2 * _PADDING
    across = subject + text_width(message, _SIZE) + 2 * _PADDING
    body = box(0, 0, across, _HEIGHT, look, 4)
    # The left part has round corners on its left alone.
    body += (
        f'<path class="subject" d="M4 0H{number(subject)}V20H4A4 4 0 0 1 0 16V4A4 4 0 0 1 4 0z"/>\n'
    )
    body += text_at(subject / 2, 14, _SUBJECT, "left", "middle")
    body += text_at((subject + across) / 2, 14, message, "right", "middle")
    return Panel((across, _HEIGHT), told, f"{told} ({heading(report)})", body)
