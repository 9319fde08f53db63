"""The format `html`: one page without network or scripts, for all who decide about budgets."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.style import Style as Look
from rich.text import Text

from dpcompose.core.theorem import Theorem
from dpcompose.errors import Diagnostic, printable
from dpcompose.handbook import whole_book
from dpcompose.places import version
from dpcompose.planning.ledger.totals import Sum, Total
from dpcompose.render.help.pages import theorem_page
from dpcompose.render.html import pictures
from dpcompose.render.html.markup import Where, html_of
from dpcompose.render.html.templates import environment
from dpcompose.render.json import dumped, result
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Frame, Headline, Part, Section, literal
from dpcompose.render.pictures.graph_svg import LOOKS, NAME
from dpcompose.render.pictures.svg import rules
from dpcompose.render.plans import total_views
from dpcompose.render.text import terminal
from dpcompose.render.text.overview import overview_table, row_of
from dpcompose.render.words.headlines import STANDING_SIGNS, in_few_words, outcome, standing
from dpcompose.report import Report, Share

_STYLE = Style(width=120, detail="page", site="#", hyperlinks=True)
#: A spec of more lines is quoted only around the lines that the page speaks of.
_MOST_LINES, _AROUND = 150, 2
#: The parts of the JSON result that the page holds for machines: exact numbers, said once.
_EXACT = ("status", "protect", "headline", "guarantee", "at_delta", "at_epsilon", "budget")


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
    shown = [
        (each, _article_of_report(each, f"s{n}-" if many else "", checking))
        for n, each in enumerate(reports, 1)
    ]
    shown.sort(key=lambda each: list(STANDING_SIGNS).index(each[1].kind))
    articles = [article for _, article in shown]
    rows = [row_of(each, checking) for each, _ in shown]
    links = [f"#{each.id}top" for each in articles]
    return _page_of(
        title=articles[0].name if len(shown) == 1 else f"Privacy budgets: {len(shown)} specs",
        articles=articles,
        overview=many or not shown,
        counts=Counter(each.outcome for each in rows),
        table=html_of([overview_table(rows, _STYLE, links=links)], Where()) if many else "",
        theorems=_theorems(reports),
    )


def page_of_totals(found: Sum) -> str:
    """Returns the page of what several releases cost together, a part for each population."""
    left_out = total_views.sentence_on_left_out(found)
    return _page_of(
        title="Privacy budgets: what several releases cost together",
        heading="What several releases cost together",
        articles=[_article_of_total(each, n) for n, each in enumerate(found.totals, 1)],
        more=html_of([literal(left_out, _STYLE)], Where()),
    )


def _page_of(title: str, articles: Sequence[Article], **more: object) -> str:
    """Returns a page of articles; `more`: what stands above and below them."""
    sheet = _stylesheet()
    digest = base64.b64encode(hashlib.sha256(str(sheet).encode()).digest()).decode()
    values = {
        "title": title,
        "articles": articles,
        "overview": False,
        "table": "",
        "heading": "",
        "theorems": (),
        "more": "",
        "stylesheet": sheet,
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'",  # nothing is loaded or run
        "version": version(),
    }
    values |= more
    return environment().get_template("result.html").render(**values)


@cache
def _stylesheet() -> Any:
    """Returns the style sheet as markup, without blanks at the start of lines."""
    text = environment().get_template("style.css").render() + rules(NAME, LOOKS)
    return Markup("\n".join(each.strip() for each in text.splitlines()))


class Article(NamedTuple):
    """One result on a page, in HTML.

    `id`: the start of its anchors; `kind`: how it ends, for a sign; `name`: that of its spec;
    `sections`: the anchors of its sections with their names; `machine`: its exact numbers as JSON.
    """

    id: str
    kind: str
    name: str
    heading: str
    head: Markup
    body: Markup
    sections: Sequence[tuple[str, str]] = ()
    machine: Markup = Markup()


def _article_of_total(total: Total, number: int) -> Article:
    """Returns a total: what it comes to, a picture of what was spent over time, and its tables."""
    kind = "good" if total_views.is_fine(total) else "bad"
    frame = total_views.frame(total, _STYLE)
    ends = "certified" if kind == "good" else "no number"
    if total.verdict is not None:
        ends = "within budget" if kind == "good" else "over budget"
    (_, first), *rows = frame.rows
    parts: list[Part] = [_headline(kind, f"{ends}: {first}"), replace(frame, rows=rows)]
    where = Where(f"t{number}-", within=f"t{number}-top")
    sections = total_views.sections(total, _STYLE)
    picture = pictures.spent(total)
    body = picture + html_of(sections, where, 3)
    return Article(where.prefix, kind, frame.name, frame.name, html_of(parts, where), body)


def _headline(kind: str, says: str) -> Headline:
    """Returns the line that an article starts with: a sign and what it comes to."""
    text = literal(f"{STANDING_SIGNS[kind]} ", _STYLE, kind)
    return Headline(text.append_text(literal(sentence(says), _STYLE, kind)))


def _article_of_report(report: Report, prefix: str, checking: bool) -> Article:
    """Returns a report: the parts that a terminal shows, with pictures, and the lines of the spec;
    `prefix`: that of its anchors."""
    kind, says = standing(report, checking), outcome(report, checking)
    lines = _quoted_lines(report)
    within = f"{prefix}top" if prefix else ""
    where = Where(prefix, {number for number, _ in lines}, within)
    of = f" of {report.label}" if prefix else ""
    title = " ".join(report.title.split())
    valid = report.status in ("ok", "no-guarantee")
    if report.status == "ok":
        says += f": {in_few_words(report)}"
    frame, sections = _frame_and_sections(report, prefix, of)
    name = ("title", title) if prefix else ("spec", report.label)
    rows = [(name[0], literal(name[1], _STYLE))] if title else []
    rows += [] if frame is None else frame.rows
    rows += _further_rows(report, prefix, {each.anchor for each in sections})
    head: list[Part] = [
        _headline(kind, says),
        Frame(report.label, title, rows, kind == "bad", _STYLE),
    ]
    body = html_of(sections, where, 3 if prefix else 2)
    quoted = [(number, printable(text)) for number, text in lines]
    named = [(each.anchor, _IN_SHORT.get(each.anchor, each.name)) for each in sections]
    if quoted:
        body += pictures.spec(quoted, where, of, 3 if prefix else 2)
        named.append(("spec", "The spec"))
    return Article(
        prefix,
        kind,
        report.label,
        report.label if prefix else title or report.label,
        html_of(head, where),
        body,
        named if valid else (),
        _for_machines(report),
    )


#: Shorter names of sections, for the list of them.
_IN_SHORT = {"adversary": "Against an adversary"}


def _frame_and_sections(report: Report, prefix: str, of: str) -> tuple[Frame | None, list[Section]]:
    """Returns the panel and the sections of a report, with pictures in them; `of`: the end of the
    names of pictures that stand for themselves."""
    drawn = report.drawn if report.status == "ok" else None
    report = replace(report, risk=drawn or report.risk)
    if all(each.deviation is None for each in report.accuracy):
        report = replace(report, accuracy=())
    frame, found, others = None, [], list[Part]()
    for part in terminal.parts(report, _STYLE):
        if isinstance(part, Frame):
            frame = part
        elif isinstance(part, Section):
            found.append(part)
        else:
            others.append(part)
    if frame is None:
        return None, [Section("What is wrong", others[:1], _STYLE, anchor="findings")]
    graph = pictures.graph(report, prefix, of)
    above: dict[str, Part] = {
        "risk": pictures.attackers(report),
        "costs": pictures.costs(report),
        "why": graph,
    }
    below: dict[str, Part] = {
        "risk": pictures.curves(report, prefix),
        "assumed": literal(_NOT_COVERED, _STYLE, "weak"),
    }
    sections = [
        replace(
            each,
            parts=[above.get(each.anchor, ""), *each.parts, below.get(each.anchor, "")],
        )
        for each in found
    ]
    if graph and not report.tree:
        sections.insert(0, Section("Pipeline", [graph], _STYLE, anchor="pipeline"))
    if others:
        sections.append(Section("Checked again", others, _STYLE, anchor="rechecked"))
    return frame, sections


_NOT_COVERED = (
    "Not covered: who may see the data before it is released, how outputs and their times are "
    "observed, floating-point noise, and other releases about the same people."
)


def _further_rows(
    report: Report, prefix: str, anchors: Collection[str]
) -> Iterator[tuple[str, Text]]:
    """Yields the rows on what can be done about a budget that is not kept, and where assumptions
    and findings are."""

    def leading(text: str, anchor: str) -> Text:
        """Returns a text that leads to a section."""
        found = literal(text, _STYLE)
        found.stylize(Look(link=f"#{prefix}{anchor}"))
        return found

    if report.status == "ok" and report.verdict is not None and not report.verdict.ok:
        says = f"`dpcompose fit {report.label}` scales the noise until the budget is kept"
        text = literal(says, _STYLE)
        if "advice" in anchors:
            text.append("; or see ").append_text(leading("what would make it less", "advice"))
        yield "way out", text
    if report.status in ("ok", "no-guarantee"):
        text = literal("nothing", _STYLE)
        if "assumed" in anchors:
            text = leading("what is assumed", "assumed").append(", for which the author vouches")
        yield "not checked", text
    count = str(len(report.findings))
    yield "findings", leading(count, "findings") if report.findings else literal("none", _STYLE)


def _theorems(reports: Sequence[Report]) -> list[tuple[Theorem, Markup]]:
    """Returns the theorems that the reports cite, each once, with the page of each."""
    cited = {node.theorem: None for each in reports for node in each.tree if node.theorem}
    cited |= {each.theorem: None for each in reports if each.theorem}
    entries = [entry for name in cited if (entry := whole_book().get(name)) is not None]
    found = []
    for each in entries:
        name = f"theorem-{each.id}-"
        where = Where(name, within=f"{name}name")
        found.append((each, html_of(theorem_page(each, _STYLE).parts[1:], where, 3)))
    return found


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
