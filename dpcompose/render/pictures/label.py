"""The formats `label`, a picture of 360 x 240 with what is protected, how well, on what terms, and
`badge`, a small one of the bound for a README, in the style of shields.io."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from dpcompose.curves.rounding import plural
from dpcompose.places import version
from dpcompose.render.layout import Style
from dpcompose.render.pictures.svg import (
    FONT,
    CssRule,
    Panel,
    box,
    lines_at,
    number,
    pictures,
    text_at,
    text_width,
    wrapped,
)
from dpcompose.render.words.headlines import (
    assumed,
    in_few_words,
    is_bounded,
    meanwhile_lines,
    neighbours,
    not_comparable,
    short_hash,
)
from dpcompose.render.words.numbers import per_cent
from dpcompose.render.words.pipeline_words import heading, protected, quoted_names
from dpcompose.render.words.theorem_text import book, cited
from dpcompose.report import Report

SIZE = (360.0, 240.0)
_LEFT, _RIGHT, _COLUMN = 16.0, 344.0, 96.0  # the margins, and where the second column starts
_TEXT = 11.0
_SIZES = (21, 17, 13)  # of the number, whichever fits
_NOTHING = "–"
_FALSE_ALARMS = Fraction(1, 100)  # where the hits of a test are stated
_RULES = (
    CssRule("text", f"font:{_TEXT:.0f}px {FONT};fill:#1f2328", "fill:#e6edf3"),
    CssRule(
        ".paper", "fill:#ffffff;stroke:#1f2328;stroke-width:1.5", "fill:#0d1117;stroke:#8b949e"
    ),
    CssRule(".rule", "fill:#1f2328", "fill:#8b949e"),
    CssRule("text.kind", "font-size:10px;font-weight:600;letter-spacing:1px"),
    CssRule("text.what", "font-weight:600"),
    CssRule("text.number", "font-weight:700;fill:#0b5cad", "fill:#79b8ff"),
    CssRule("text.failed", "font-weight:700;fill:#b42318", "fill:#ff9b8f"),
    *(CssRule(f"text.s{size}", f"font-size:{size}px") for size in (*_SIZES, 14, 12, 10)),
    CssRule("text.weak", "fill:#59636e", "fill:#9198a1"),
    CssRule("text.small", "font-size:9.5px;fill:#59636e", "fill:#9198a1"),
)
_LONG = ("change", "theorem")  # rows of two lines
#: What is protected, by the relation.
_UNITS = {
    "unbounded": "one row",
    "bounded": "one row",
    "edge": "one edge",
    "node": "one vertex",
    "node-rewired": "one vertex",
}


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one SVG picture with a label for each report, all of it at the end; `checking` makes
    no difference."""
    panels = (_label(report, style) for report in reports)
    return _one_picture("dpc-label", "privacy labels", panels, _RULES)


def _one_picture(
    name: str, title: str, panels: Iterable[Panel], rules: Iterable[CssRule]
) -> Iterator[str]:
    """Yields an empty text for each panel as it is made, and at the end one picture of them all;
    the other parameters are those of `pictures`."""
    made: list[Panel] = []
    for panel in panels:
        made.append(panel)
        yield ""
    yield pictures(name, title, made, rules)


def _label(report: Report, style: Style) -> Panel:
    """Returns the label of one report."""
    number, rows = in_few_words(report), _rows(report)
    room = _RIGHT - _LEFT
    title_size = 14 if text_width(heading(report), 14, bold=True) <= room else 12
    what = wrapped(heading(report), title_size, room, 1, bold=True)
    body = box(1, 1, SIZE[0] - 2, SIZE[1] - 2, "paper", 6)
    body += text_at(_LEFT, 22, "DIFFERENTIAL PRIVACY", "kind")
    body += lines_at(_LEFT, 43, 16, what, f"what s{title_size}")
    body += box(_LEFT, 51, _RIGHT - _LEFT, 4, "rule")
    look = "number" if is_bounded(report) else "failed"
    # The number is never cut.
    size = next((each for each in _SIZES if text_width(number, each, bold=True) <= room), 10)
    lines = wrapped(number, size, room, 3, bold=True)
    first = 80 - 12 * (len(lines) - 1) / 2
    body += lines_at(_LEFT, first, 12, lines, f"{look} s{size}")
    body += box(_LEFT, 90, _RIGHT - _LEFT, 1, "rule")
    y = 107.0
    for name, value in rows:
        lines = wrapped(value, _TEXT, _RIGHT - _COLUMN, 2 if name in _LONG else 1)
        body += text_at(_LEFT, y, name, "weak") + lines_at(_COLUMN, y, 13, lines, "value")
        y += 13 * len(lines) + 4
    body += box(_LEFT, 214, _RIGHT - _LEFT, 1, "rule")
    body += text_at(_LEFT, 228, "  ·  ".join(_origin(report, style)), "small")
    title = f"Privacy label of {heading(report)}: {number}"
    told = [f"{name}: {value}" for name, value in rows]
    told += meanwhile_lines([report.meanwhile])
    return Panel(SIZE, title, ". ".join([title, *told, *_origin(report, style)]), body)


def _rows(report: Report) -> list[tuple[str, str]]:
    """Returns the rows below the number, each with its name."""
    if report.status not in ("ok", "no-guarantee"):
        return [(name, _NOTHING) for name in ("unit", "change", "hits", "assumed", "theorem")]
    unit, change = _protected(report)
    found = hits(report)
    says = _NOTHING
    if not is_bounded(report):
        says = "not bounded"
    elif found is not None:
        says = f"at most {per_cent(found[1])} at {per_cent(found[0])} false alarms"
    count = len(assumed(report))
    entry = book().get(report.theorem) if report.theorem and is_bounded(report) else None
    theorem = _NOTHING if entry is None else cited(entry)
    return [
        ("unit", unit),
        ("change", change),
        ("hits", says),
        ("assumed", f"{plural(count, 'declaration')}, not checked"),
        ("theorem", theorem),
    ]


def _protected(report: Report) -> tuple[str, str]:
    """Returns the unit that is protected, and what may change about it."""
    relation, change = str(report.relation), report.protects
    if relation == "user" and report.protects.startswith("one `"):
        unit, _, change = report.protects.partition(": ")
        return quoted_names(unit), f"{change} ({neighbours(report)})"
    unit = _UNITS.get(relation, f"one step of {relation}")
    if report.distance > 1:
        unit = f"{report.distance} × {unit}"
    return unit, protected(report)


def hits(report: Report) -> tuple[Fraction, Fraction] | None:
    """Returns a rate of false alarms, 1 % where it is known, and the highest hit rate of a test
    there; None without a risk."""
    risk = report.drawn or report.risk
    told = () if risk is None else risk.hits
    asked = [each for each in told if each[0] == _FALSE_ALARMS]
    return next(iter(asked or told), None)


def _origin(report: Report, style: Style) -> Iterator[str]:
    """Yields the date, the hash of the spec, and the version."""
    if style.day is not None:
        yield style.day
    if report.digest:
        yield f"spec SHA-256 {short_hash(report)}"
    yield f"dpcompose {version()}"


# --- badges --------------------------------------------------------------------------------------

_BADGE_HEIGHT, _BADGE_SIZE, _PADDING = 20.0, 11.0, 7.0
_SUBJECT = "privacy"
_BADGE_RULES = (
    CssRule("text", 'font:11px Verdana,"DejaVu Sans",Geneva,sans-serif;fill:#ffffff'),
    CssRule(".subject", "fill:#444d56"),
    CssRule(".bound", "fill:#0b5cad"),
    CssRule(".met", "fill:#1a7f37"),
    CssRule(".failed", "fill:#b42318"),
)


def render_badges(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one SVG picture with a badge for each report, all of it at the end; `checking`:
    whether an unmet budget is an error, as in the command `check`."""
    panels = (_badge(report, checking) for report in reports)
    return _one_picture("dpc-badge", "privacy badges", panels, _BADGE_RULES)


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
    subject = text_width(_SUBJECT, _BADGE_SIZE) + 2 * _PADDING
    across = subject + text_width(message, _BADGE_SIZE) + 2 * _PADDING
    body = box(0, 0, across, _BADGE_HEIGHT, look, 4)
    # The left part has round corners on its left alone.
    body += (
        f'<path class="subject" d="M4 0H{number(subject)}V20H4A4 4 0 0 1 0 16V4A4 4 0 0 1 4 0z"/>\n'
    )
    body += text_at(subject / 2, 14, _SUBJECT, "left", "middle")
    body += text_at((subject + across) / 2, 14, message, "right", "middle")
    described = [f"{told} ({heading(report)})", *meanwhile_lines([report.meanwhile])]
    return Panel((across, _BADGE_HEIGHT), told, ". ".join(described), body)
