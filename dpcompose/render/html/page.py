"""The format `html`: one page without network or scripts, for all who decide about budgets."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from markupsafe import Markup

from dpcompose.core.theorem import Theorem
from dpcompose.errors import Diagnostic, Span
from dpcompose.handbook import whole_book
from dpcompose.places import version
from dpcompose.planning.ledger.totals import Sum, Total
from dpcompose.render.html.templates import environment
from dpcompose.render.json import dumped, result
from dpcompose.render.layout import Style, sentence
from dpcompose.render.pictures.graph_svg import LOOKS, NAME, graph_svg
from dpcompose.render.pictures.svg import rules
from dpcompose.render.plans import total_views
from dpcompose.render.text.costs import (
    accuracy_rows,
    added_unit,
    level_text,
    questions,
    unit_of_costs,
)
from dpcompose.render.text.panel import in_words, share_used
from dpcompose.render.text.panel import requested_text as headline
from dpcompose.render.text.proof_table import first_rows, merge_equal_nodes
from dpcompose.render.text.risk_text import about, point_text, told_apart
from dpcompose.render.text.risk_text import in_words as success_in_words
from dpcompose.render.text.sections import less, less_number, together, usable_rows
from dpcompose.render.words.headlines import in_few_words, judged, neighbours
from dpcompose.render.words.numbers import (
    at_text,
    per_cent,
    percent,
    route_text,
    share_text,
    short_amounts,
    short_text,
)
from dpcompose.render.words.theorem_text import entry_of, in_short
from dpcompose.report import Node, Report, Share

_PLAIN = Style(width=120)
#: A spec of more lines is quoted only around the lines that the page speaks of.
_MOST_LINES, _AROUND = 150, 2
#: Of more steps of a proof, the first ones of many mechanisms in one place are shown.
_MOST_STEPS = 150
#: So many figures stand for all attackers.
_FIGURES = 100
#: Narrower parts of the picture of costs have no text; its width is 1 000.
_NARROWEST, _WIDTH_OF_LETTER = 60, 9
#: The width and height of a picture of a curve.
_SIZE = 300
#: Of more releases the picture names none.
_MOST_LABELS = 8
#: The signs of outcomes, those that need attention first.
_SIGNS = {"bad": "✗", "warn": "!", "good": "✓"}
#: The parts of the JSON result that the page holds for machines: exact numbers, said once.
_EXACT = ("status", "protect", "headline", "guarantee", "at_delta", "at_epsilon", "budget")


class Cell(NamedTuple):
    """A part of the picture of costs: its level, its left end and width in thousandths of the
    whole, its name, the text that fits into it, and its share in per cent."""

    level: int
    left: float
    width: float
    name: str
    text: str
    share: str
    kind: str


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields the HTML page of all reports, after the last one was read: its overview comes first.

    `checking`: whether an unmet budget is an error, as in the command `check`.
    """
    found = []
    for report in reports:
        if report.left_out is None:
            found.append(report)
        yield ""
    yield page(found, checking)


def page(reports: Sequence[Report], checking: bool = False) -> str:
    """Returns the page of reports as HTML; several have an overview, the worst of them first."""
    many = len(reports) > 1
    specs = [
        _report_values(each, f"s{n}-" if many else "", checking)
        for n, each in enumerate(reports, 1)
    ]
    if many:
        specs.sort(key=lambda each: list(_SIGNS).index(str(each["kind"])))
    return _page_of(
        "report.html",
        title=specs[0]["name"] if len(specs) == 1 else f"Privacy budgets: {len(specs)} specs",
        specs=specs,
        many=many,
        counts=Counter(str(each["outcome"]) for each in specs),
        theorems=_theorems(reports),
    )


def page_of_totals(found: Sum) -> str:
    """Returns the page of what several releases cost together, a part for each population."""
    return _page_of(
        "total.html",
        title="Privacy budgets: what several releases cost together",
        totals=[_total_values(each) for each in found.totals],
        left_out=total_views.sentence_on_left_out(found),
    )


def _page_of(template: str, **values: object) -> str:
    """Returns a page by its template, with what all pages have."""
    sheet = _stylesheet()
    digest = base64.b64encode(hashlib.sha256(str(sheet).encode()).digest()).decode()
    values |= {
        "stylesheet": sheet,
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'",  # nothing is loaded or run
        "version": version(),
    }
    return str(environment().get_template(template).render(**values))


def _total_values(total: Total) -> dict[str, object]:
    """Returns what the template shows of a total."""
    kind = "good" if total_views.is_fine(total) else "bad"
    steps = [each for each in total.steps if each.record is not None]
    shares = [float(each.record.share) for each in steps if each.record is not None]
    top = max([1.0, *shares])
    labels = len(steps) <= _MOST_LABELS
    frame = total_views.frame(total, _PLAIN)
    says = "certified" if kind == "good" else "no number"
    if total.verdict is not None:
        says = "within budget" if kind == "good" else "over budget"
    return {
        "name": frame.name,
        "kind": kind,
        "sign": _SIGNS[kind],
        "says": f"{sentence(says)}: {frame.rows[0][1]}",
        "rows": frame.rows[1:],
        "limit": 200 - 200 / top,
        "steps": [
            {
                "x": round(700 * (n + 1) / len(steps), 1),
                "y": round(200 - 200 * share / top, 1),
                "words": percent(each.record.share) if each.record else "",
                "text": each.label.rpartition("/")[2] if labels else "",
            }
            for n, (each, share) in enumerate(zip(steps, shares, strict=True))
        ],
        "sections": total_views.sections(total, _PLAIN),
    }


@cache
def _stylesheet() -> Any:
    """Returns the style sheet as markup, without blanks at the start of lines."""
    text = environment().get_template("report.css").render() + rules(NAME, LOOKS)
    return Markup("\n".join(each.strip() for each in text.splitlines()))


def _report_values(report: Report, prefix: str, checking: bool) -> dict[str, object]:
    """Returns what the template shows of a report; `prefix`: that of its anchors."""
    kind, outcome = _outcome(report, checking)
    shown: dict[str, object] = {
        "id": prefix,
        "name": report.label,
        "title": " ".join(report.title.split()),
        "kind": kind,
        "sign": _SIGNS[kind],
        "outcome": outcome,
        "valid": report.status in ("ok", "no-guarantee"),
        "bound": headline(report, _PLAIN).plain if report.status == "ok" else outcome,
        "findings": report.findings,
        "lines": _quoted_lines(report),
        "machine": _for_machines(report),
    }
    if not shown["valid"]:
        return shown
    tree, entry = _tree(report), entry_of(report.theorem)
    return {
        **shown,
        "number": in_few_words(report),
        "protects": f"{report.protects} ({neighbours(report)})",
        "change": report.protects,
        "verdict": None if report.verdict is None else sentence(judged(report, report.verdict)[1]),
        "used": _used(report),
        "over": report.status == "ok" and report.verdict is not None and not report.verdict.ok,
        "assumed_relations": len(report.assumed_relations),
        "words": None if report.drawn else in_words(report),
        "reasons": [each.partition(" Way out: ")[::2] for each in report.reasons],
        "risk": _risk(report),
        "unit": unit_of_costs(report),
        "adds": added_unit(report),
        "without": any(each.without is not None for each in report.shares),
        "shares": _shares(report),
        "groups": [(name, share_text(part)) for name, part in report.group_shares],
        "curves": _curves(report),
        "accuracy": accuracy_rows(report),
        "level": level_text(report) if report.accuracy else "",
        "icicle": _icicle(report),
        "worst": () if report.worst is None else report.worst.says,
        "learnt": questions(report) if report.attributes else None,
        "tree": tree,
        "graph": Markup(graph_svg(report, styled=False)) if report.pipeline else "",
        "theorem": f"{entry.title} ({in_short(entry.id)})" if entry else "",
        "compared": [[each.plain for each in row] for row in usable_rows(report, _PLAIN)],
        "assumed": list(together(report.assumptions, True)),
        "advice": [
            (each.number, less_number(each), less(each), each.condition, each.places)
            for each in report.advice
        ],
    }


def _outcome(report: Report, checking: bool) -> tuple[str, str]:
    """Returns how a report ends: a kind of sign, and words."""
    if report.status in ("invalid", "unreadable"):
        return "bad", report.in_short
    if report.status == "no-guarantee":
        return "bad", "no finite guarantee"
    if report.verdict is not None:
        return ("good" if report.verdict.ok else "bad"), judged(report, report.verdict)[0]
    if checking:
        return "bad", "no budget"
    warned = any(each.level != "note" for each in report.findings)
    return ("warn", "certified, with warnings") if warned else ("good", "certified")


def _used(report: Report) -> dict[str, object] | None:
    """Returns how much of the budget is used: in words, and as a width of at most 1 000; None
    without a budget."""
    if report.verdict is None or report.verdict.slack is None or report.status != "ok":
        return None
    used = share_used(report.verdict)
    return {"words": percent(used), "width": float(min(used, Fraction(1)) * 1000)}


def _risk(report: Report) -> dict[str, object] | None:
    """Returns what an attacker gains: arrays of figures, and the numbers of a table."""
    risk = report.drawn or report.risk
    if risk is None or report.status != "ok":
        return None
    alone = dict(risk.from_point.success) if risk.from_point is not None else {}
    arrays = [
        {
            "before": _of_figures(before),
            "after": _of_figures(after),
            "alone": _of_figures(alone[before]) if before in alone else None,
            "says": success_in_words(before, after, report),
        }
        for before, after in risk.success
        if before * _FIGURES >= 1
    ]
    hits = dict(risk.from_point.hits) if risk.from_point is not None else {}
    return {
        "arrays": arrays[:2],
        "hits": [
            (per_cent(rate), per_cent(found), per_cent(hits[rate]) if rate in hits else "")
            for rate, found in risk.hits
        ],
        "point": point_text(risk) if risk.from_point is not None else "",
        "apart": told_apart(risk, report),
        "about": about(report),
    }


def _of_figures(rate: Fraction) -> int:
    """Returns how many of the figures in the picture stand for a rate, rounded up."""
    return min(_FIGURES, math.ceil(rate * _FIGURES))


def _curves(report: Report) -> dict[str, object] | None:
    """Returns the trade-off curve and the privacy profile as points of pictures of 300 × 300: from
    the left, and from above."""
    risk = report.drawn
    if risk is None or not risk.trade_off or report.status != "ok":
        return None
    size = _SIZE
    hits = [(float(rate) * size, size - float(found) * size) for rate, found in risk.trade_off]
    alone = []
    if risk.point is not None:
        epsilon, delta = map(float, risk.point)
        rise = math.exp(min(epsilon, 700))
        for k in range(101):
            rate = (k / 100) ** 2
            found = min(1, delta + rise * rate, 1 - (1 - delta - rate) / rise)
            alone.append((rate * size, size - found * size))
    end = float(risk.profile[-1][0])
    points = [(float(epsilon) / end * size, _height(delta)) for epsilon, delta in risk.profile]
    marks = [
        (float(at.value) / end * size, _height(at.given), at_text(at))
        for at in report.at_delta
        if at.value is not None and at.value <= risk.profile[-1][0] and at.given
    ]
    return {
        "size": size,
        "hits": _path([(0, size), *hits, (size, 0)]),
        "alone": _path(alone),
        "rates": [
            (float(rate) * size, size - float(found) * size, per_cent(rate), per_cent(found))
            for rate, found in risk.hits
        ],
        "profile": _path(points),
        "end": f"{end:g}",
        "decades": [(f"1e-{k}" if k else "1", _height(Fraction(1, 10**k))) for k in (0, 3, 6, 9)],
        "marks": marks,
        "point": point_text(risk) if risk.point is not None else "",
    }


def _height(delta: Fraction) -> float:
    """Returns the vertical position of a δ in the picture of the profile, whose foot is 10^-10."""
    exponent = max(-10.0, math.log10(delta)) if delta else -10.0
    return -exponent / 10 * _SIZE


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Returns points as the data of a path of lines."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _shares(report: Report) -> list[dict[str, object]]:
    """Returns the rows of the table of costs: each mechanism with its cost and its share;
    neighbours that show the same numbers are one row."""
    rows: list[dict[str, object]] = []
    alone = report.bound is None and report.record is None
    for each in report.shares:
        cost = short_amounts(each.bound, alone)
        without = "" if each.without is None else route_text(each.without)
        last = rows[-1] if rows else None
        if last is not None and (last["cost"], last["without"]) == (cost, without):
            last["names"].append((each.mechanism, _line(each.span)))  # type: ignore[attr-defined]
            last["part"] += each.of_whole or 0  # type: ignore[operator]
            continue
        rows.append(
            {
                "names": [(each.mechanism, _line(each.span))],
                "cost": cost,
                "part": each.of_whole or Fraction(0),
                "without": without,
            }
        )
    known = any(each.of_whole is not None for each in report.shares)
    for row in rows:
        part = row["part"]
        assert isinstance(part, Fraction)
        row["share"] = share_text(part) if known else ""
    return rows


def _line(span: Span | None) -> int | None:
    """Returns the line of a position."""
    return None if span is None else span.line


def _icicle(report: Report) -> list[Cell]:
    """Returns the picture of costs: below each dataset what is made from it, and the mechanisms
    that read it, as wide as their shares; empty where parts do not add up to the whole."""
    shares = {each.mechanism: each.of_whole for each in report.shares}
    if len(shares) < 2 or any(each is None for each in shares.values()):
        return []
    nodes = [each for each in report.tree if each.kind in ("dataset", "partition", "mechanism")]
    times = Counter(each.name for each in nodes if each.kind == "mechanism")
    left, cells = 0.0, []
    open_: list[tuple[Node, float]] = []  # the datasets above, each with its left end
    for node in [*nodes, None]:
        while open_ and (node is None or open_[-1][0].depth >= node.depth):
            above, start = open_.pop()
            if left > start:
                cells.append(_cell(above, start, left - start))
        if node is None:
            break
        if node.kind != "mechanism":
            open_.append((node, left))
            continue
        width = float((shares.get(node.name) or Fraction(0)) / times[node.name] * 1000)
        if width > 0:
            cells.append(_cell(node, left, width))
        left += width
    return cells


def _cell(node: Node, left: float, width: float) -> Cell:
    """Returns the part of the picture that stands for a dataset or a mechanism."""
    room = int(width / _WIDTH_OF_LETTER) - 1
    text = node.name if len(node.name) <= room else f"{node.name[: max(0, room - 1)]}…"
    text = text if width >= _NARROWEST else ""
    share = share_text(Fraction(width / 1000))
    return Cell(node.depth, round(left, 2), round(width, 2), node.name, text, share, node.kind)


def _tree(report: Report) -> list[dict[str, object]]:
    """Returns the lines of the proof: equal neighbours are merged as on a screen."""
    rows: list[dict[str, object]] = []
    found = merge_equal_nodes(report.tree)
    for shown in found if len(found) <= _MOST_STEPS else first_rows(found):
        node = shown.node
        bound = "" if shown.more or node.bound is None else short_text(node.bound)
        if bound and node.bound is not None and node.kind == "reading":
            bound = f"ε {route_text(node.bound.value)}"
        says = node.says if node.name else sentence(node.says)
        says = shown.more.partition(";")[0] or says
        rows.append(
            {
                "number": node.number,
                "depth": node.depth,
                "kind": node.kind,
                "name": "" if shown.more else node.name,
                "says": says,
                "bound": bound,
                "theorem": node.theorem or "",
                "cited": in_short(node.theorem) if node.theorem else "",
                "line": node.spans[0].line if node.spans and not shown.more else None,
            }
        )
    return rows


def _theorems(reports: Sequence[Report]) -> list[Theorem]:
    """Returns the theorems that the proofs cite, each once."""
    cited = {node.theorem: None for each in reports for node in each.tree if node.theorem}
    cited |= {each.theorem: None for each in reports if each.theorem}
    return [entry for name in cited if (entry := whole_book().get(name)) is not None]


def _quoted_lines(report: Report) -> list[tuple[int, str]]:
    """Returns the lines of the spec with their numbers; of a long one those around each line that
    the page speaks of."""
    last = len(report.lines) - (report.lines[-1:] in (("",), [""]))
    lines = list(enumerate(report.lines[:last], 1))
    if len(lines) <= _MOST_LINES:
        return lines
    spans = [span for node in report.tree for span in node.spans[:1]]
    found: list[Diagnostic | Share] = [*report.findings, *report.shares]
    spans += [each.span for each in found if each.span is not None]
    near = {span.line + k for span in spans for k in range(-_AROUND, _AROUND + 1)}
    return [(number, text) for number, text in lines if number in near][: 2 * _MOST_LINES]


def _for_machines(report: Report) -> Any:
    """Returns the exact numbers of a report as JSON that no markup can end."""
    found = result(report)
    kept = {"dpcompose": version(), "file": report.label}
    kept |= {name: found[name] for name in _EXACT if name in found}
    text = dumped(kept).strip()
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)
