"""The table of many specs: problems first, then specs near their budget, with what each spends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from types import MappingProxyType

from rich.style import Style as Look
from rich.text import Text

from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.faults import plural
from dpcompose.render.layout import Style, clipped
from dpcompose.render.parts.console import Part, Section, TextTable, bar, literal, printed
from dpcompose.render.parts.diagnostics import findings_of
from dpcompose.render.text.panel import used_of
from dpcompose.render.words.headlines import (
    STANDING_SIGNS,
    meanwhile_lines,
    outcome,
    requested_number,
    standing,
)
from dpcompose.render.words.numbers import (
    decimal_text,
    found_text,
    given_text,
    percent,
    share_text,
    short_text,
)
from dpcompose.report import Report

#: Cells of a bar, where there is room.
_BAR = 10
#: The kinds of rows in the order in which they are listed, each with its sign.
_SIGNS = {"invalid": STANDING_SIGNS["bad"], **STANDING_SIGNS}
#: So many columns a name has at least.
_LEAST_OF_A_NAME = 16
#: So many rows of a kind are listed, unless all are asked for.
_MOST = 20


@dataclass(frozen=True, slots=True)
class Row:
    """The row of one spec in a table of many; it replaces the report, which is not kept."""

    kind: str
    outcome: str
    label: str
    number: str
    at: str
    of: str
    used: Fraction | None
    costs: str
    wrong: bool
    findings: int
    meanwhile: tuple[str, ...] = ()


def overview(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields an empty piece for each report read, to show progress; then the table, the counts and
    the findings.

    `checking`: whether an unmet budget is an error, as in the command `check`.
    """
    rows: list[Row] = []
    told: list[Report] = []
    for report in reports:
        yield ""
        if report.left_out is not None:
            continue
        rows.append(row_of(report, checking))
        serious = tuple(each for each in report.findings if each.level != "note")
        if serious:
            shown = report.findings if report.status == "invalid" else serious
            # Only what is needed to show findings is kept.
            slim = Report(report.file, report.title, report.status, findings=shown)
            told.append(replace(slim, lines=report.lines, document=report.document))
    yield printed(_parts(rows, told, style), style)


def row_of(report: Report, checking: bool) -> Row:
    """Returns the table's row of one report."""
    verdict, at = report.verdict, requested_number(report)
    kind = "invalid" if report.status == "invalid" else standing(report, checking)
    number = {"ok": _number(report), "invalid": "invalid"}.get(report.status, "no finite bound")
    limit = ""
    if verdict is not None:
        main, value = verdict.limit.parameters[0]
        limit = f"{LIMITS[main]} {decimal_text(value).removeprefix('≤ ')}"
    return Row(
        kind,
        outcome(report, checking),
        report.label,
        number,
        "" if at is None or report.status != "ok" else given_text(at).removeprefix("δ = "),
        limit,
        used_of(report),
        _costs(report),
        report.status != "ok",
        sum(each.level != "note" for each in report.findings),
        report.meanwhile,
    )


def _number(report: Report) -> str:
    """Returns the number of a report for its row: at the chosen δ, or else the bound."""
    at = requested_number(report)
    if at is not None:
        return found_text(at)
    if report.bound is None:
        return "a profile"
    return short_text(report.bound)


def _costs(report: Report) -> str:
    """Returns why a spec fails, or the mechanism that costs most in a valid one."""
    if report.status == "invalid":
        first = report.findings[0] if report.findings else None
        if first is None:
            return ""
        line = f":{first.span.line} " if first.span else ""
        return f"{line}{first.message}"
    if report.status != "ok":
        why = report.reasons[0] if report.reasons else ""
        return why.partition(" Way out: ")[2] or why
    if not report.shares:
        return ""
    most = report.shares[0]
    if len(report.shares) == 1:
        return most.mechanism
    part = "" if most.of_whole is None else f"  {share_text(most.of_whole)}"
    return f"{most.mechanism}{part}"


def _parts(rows: list[Row], told: list[Report], style: Style) -> Iterator[Part]:
    """Yields the table, the counts and the findings."""
    folder = _common_folder([row.label for row in rows])
    rows = [replace(row, label=row.label.removeprefix(folder)) for row in rows]
    shown = list(_rows_to_list(rows, style))
    if folder and shown:
        yield literal(f"in {folder}", style, "weak")
    if shown:
        yield overview_table([row for row, _ in shown], style, dict(shown))
    # Such as `40 specs  1 invalid  19 over budget  7 findings`.
    words = [f"{len(rows)} specs"]
    words += [f"{count} {name}" for name, count in Counter(row.outcome for row in rows).items()]
    if found := sum(row.findings for row in rows if row.kind != "invalid"):
        words.append(plural(found, "finding"))
    yield literal("  ".join(words), style, "strong")
    for says in meanwhile_lines([row.meanwhile for row in rows]):
        yield literal(says, style, "weak")
    if told:
        listed = [part for each in told for part in ("", findings_of(each, style))]
        yield Section("Findings", listed[1:], style)


def _common_folder(labels: list[str]) -> str:
    """Returns the folder of all files, with a slash at its end; empty where there is none."""
    folders = zip(*(each.split("/")[:-1] for each in labels), strict=False)
    same = [each[0] for each in takewhile(lambda step: len(set(step)) == 1, folders)]
    return "".join(f"{each}/" for each in same) if len(labels) > 1 else ""


def _rows_to_list(rows: list[Row], style: Style) -> Iterator[tuple[Row, int]]:
    """Yields the rows to list; the last one of each kind with the number of rows left out (others:
    0).

    Problems come first; if there are any, specs without problems are left out.
    """
    wrong = any(row.kind != "good" for row in rows)
    for kind in _SIGNS:
        of_kind = [row for row in rows if row.kind == kind]
        most = len(of_kind) if style.whole else 0 if kind == "good" and wrong else _MOST
        for row in of_kind[:most]:
            last = row is of_kind[:most][-1]
            yield row, len(of_kind) - most if last else 0


def overview_table(
    rows: Sequence[Row],
    style: Style,
    more: Mapping[Row, int] = MappingProxyType({}),
    links: Sequence[str] = (),
) -> TextTable:
    """Returns the table of specs; a column is left out where no row has content for it.

    `more`: how many specs like that of a row are left out below it. `links`: where the name of each
    spec leads on a page, which says in words how it ends.
    """
    paged, first = style.detail == "page", _is_names_first(rows, style)
    given = list(dict.fromkeys(row.at for row in rows if row.at))
    same = len(given) == 1 and all(row.at or row.wrong for row in rows)
    head = f"bound at {given[0]}" if same else "bound"
    further: list[tuple[str, int]] = []  # heads and widths of the columns of numbers
    if given and not same:
        further.append(("at δ", max(len(row.at) for row in rows)))
    limits = any(row.of for row in rows)
    if limits:
        further.append(("budget", max(len("budget"), *(len(row.of) for row in rows))))
        further.append(("used", (_BAR if style.wide else 0) + len("1417 %")))
    names = _wide(rows)
    if not paged:
        taken = 2 + max(len(head), *(len(row.number) for row in rows))
        taken += sum(1 + width for _, width in further)
        room = style.width - taken - 1 if first else style.width // 3
        names = min(names, max(room, _LEAST_OF_A_NAME))
    columns = [("outcome" if paged else "", "fixed min1"), ("spec", f"fixed name min{names}")]
    columns.append((head, "cut"))
    columns += [(name, f"fixed min{width}") for name, width in further]
    if not first:
        wrong = {row.wrong for row in rows if row.costs}
        last = "costs most, or wrong" if True in wrong else "costs most there"
        columns.append(("what is wrong" if wrong == {True} else last, "cut rest min12"))
    listed: list[Sequence[str | Text]] = []
    for number, row in enumerate(rows):
        cells = _cells(row, names, bool(given) and not same, limits, style)[: len(columns)]
        if paged:
            cells[0].append(f" {row.outcome}")
        if links:
            cells[1].stylize(Look(link=links[number]))
        listed.append(cells)
        if more.get(row, 0) > 0:
            listed.append(("…", literal(f"{more[row]} more {row.outcome}", style, "weak")))
    heads, looks = zip(*columns, strict=True)
    return TextTable(listed, style, looks, heads, gap=1)


def _wide(rows: Sequence[Row]) -> int:
    """Returns the length of the longest name of a spec."""
    return max(len(row.label) for row in rows)


def _is_names_first(rows: Sequence[Row], style: Style) -> bool:
    """Returns whether whole names take the place of what costs most: names cut in their middle may
    be equal."""
    return not (style.wide or all(row.wrong for row in rows) or _wide(rows) <= style.width // 3)


def _cells(row: Row, names: int, at: bool, limits: bool, style: Style) -> list[Text]:
    """Returns the cells of one row; `names`: the columns for the name of the spec, `at`: whether
    numbers are with their δ, `limits`: whether there is a column of budgets."""
    how = "bad" if row.kind == "invalid" else row.kind
    cells: list[Text] = [
        literal(_SIGNS[row.kind], style, how),
        literal(clipped(row.label, names), style),
        literal(row.number, style, "bad" if row.kind == "invalid" else ""),
    ]
    if at:
        cells.append(literal(row.at, style))
    if limits:
        cells.append(literal(row.of, style))
        width = _BAR if style.wide else 0
        share = Fraction(0) if row.used is None else row.used
        used = bar(min(share, Fraction(1)), width, style, how)
        used.append_text(literal(f"{' ' if width else ''}{percent(share)}", style))
        cells.append(Text() if row.used is None else used)
    return [*cells, literal(row.costs, style, "weak")]
