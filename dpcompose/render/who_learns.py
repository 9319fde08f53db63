"""The table on who learns what: the bound for changes of some columns, beside the whole bound."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table

from dpcompose.core.notions.notion import SIGNS
from dpcompose.render.console import literal, ruled
from dpcompose.render.inline import code, plain
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import given_text, route_text, short_amounts
from dpcompose.render.risk_text import per_cent
from dpcompose.report import At, Bound, Learnt, Report, Risk

_NAMES = 3  # mechanisms in a cell
#: The explanation of a column "from 10 % to".
_FROM = (
    "From … to: how often a value is guessed right with other values in these columns, and with "
    "those that were read."
)


def who_learns(report: Report, style: Style) -> Iterator[RenderableType]:
    """Yields a table with a row for each question about columns, and why answers are missing."""
    if not report.attributes:
        return
    yield ruled("Who learns what", style, "a row changes in these columns alone, the rest is known")
    head, rows = questions(report, style.detail == "full")
    for n, columns in enumerate(_tables(head, style)):
        if n:
            yield ""
        yield _table([head[i] for i in columns], [[row[i] for i in columns] for row in rows], style)
    if any(each.startswith("from ") for each in head):
        yield literal(_FROM, style, "weak")
    for says in dict.fromkeys(why for each in report.attributes for why in each.reasons):
        yield literal(says, style)


#: The headings of columns with words; the others have numbers, which never wrap.
_WORDS = ("question", "columns", "told by")


def _tables(head: Sequence[str], style: Style) -> list[list[int]]:
    """Returns the columns of each table: one for all, or on a narrow page one for each kind."""
    if style.wide:
        return [[*range(len(head))]]
    words = [i for i, each in enumerate(head) if each in _WORDS[1:]]
    risks = [i for i, each in enumerate(head) if each.startswith("from ")]
    numbers = [i for i in range(1, len(head)) if i not in words and i not in risks]
    return [[0, *some] for some in (numbers, risks, words) if some]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], style: Style) -> Table:
    """Returns one table; the first row is the protected change."""
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="weak", expand=True)
    for i, each in enumerate(head):
        named = each in _WORDS
        table.add_column(
            literal(each, style, "weak"),
            justify="left" if named else "right",
            ratio=(3 if i == 0 else 2) if named else None,
            no_wrap=not named,
        )
    for n, row in enumerate(rows):
        if n or any(row[1:]):
            table.add_row(*(literal(each, style, "" if n else "weak") for each in row))
    return table


def in_markdown(report: Report) -> str:
    """Returns the table of questions about columns as Markdown; empty without questions."""
    if not report.attributes:
        return ""
    head, rows = questions(report)
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for n, row in enumerate(rows):
        name, *rest = row
        cells = [code(name) if n else plain(name)]
        cells += [_quoted(*each) for each in zip(rest, head[1:], strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    told = "\n".join(lines)
    if any(each.startswith("from ") for each in head):
        told += f"\n\n{_FROM}"
    return f"\n#### Who learns what: {code(report.label)}\n\n{told}\n"


def _quoted(cell: str, head: str) -> str:
    """Returns a cell as code where its column holds names of a spec."""
    return code(cell) if head in ("columns", "told by") and cell else cell


def questions(report: Report, full: bool = False) -> tuple[list[str], list[list[str]]]:
    """Returns the headings, and the cells of each row; the first row is the protected change."""
    asked = report.attributes
    columns = any(each.changes != (each.name,) for each in asked)
    bounds = [each.bound for each in asked if each.bound is not None]
    points = [*report.at_delta, *(at for each in asked for at in each.at_delta)]
    at = points[0] if points else None
    unit = "" if at is not None and not (report.bound or bounds) else _unit([report.bound, *bounds])
    risk = next((each.risk for each in asked if each.risk is not None), None)
    baselines = [] if risk is None else [given for given, _ in risk.success]
    head = ["question", *(["columns"] if columns else []), *([unit] if unit else [])]
    head += [f"ε at {given_text(at)}"] if at is not None else []
    head += [f"from {per_cent(each)} to" for each in baselines]
    head += ["told by"]

    def cells(name: str, changes: str, found: Learnt | Report, told_by: str) -> list[str]:
        """Returns the cells of one row."""
        row = [name, *([changes] if columns else [])]
        row += [_bound(found.bound)] if unit else []
        row += [_at(found.at_delta)] if at is not None else []
        row += [_success(found.risk, n) for n in range(len(baselines))]
        return [*row, told_by]

    rows = [cells(f"protected: {sentence(report.protects)}", "", report, "")]
    for each in asked:
        changes = ", ".join(each.changes) if full else _few(each.changes)
        rows.append(cells(each.name, changes, each, _few(each.mechanisms)))
    return head, rows


def _unit(bounds: Sequence[Bound | None]) -> str:
    """Returns the symbols that all bounds share as a heading; `bound` if they differ."""
    units = dict.fromkeys(
        ", ".join(SIGNS[name] for name, _, _ in each.parameters) for each in bounds if each
    )
    return next(iter(units)) if len(units) == 1 else "bound"


def _bound(bound: Bound | None) -> str:
    """Returns the numbers of a bound, or `none`."""
    return "none" if bound is None else short_amounts(bound)


def _at(found: Sequence[At]) -> str:
    """Returns the first number at a chosen δ, or `none`; empty if no δ was chosen."""
    if not found:
        return ""
    value = found[0].value
    return "none" if value is None else route_text(value)


def _success(risk: Risk | None, which: int) -> str:
    """Returns the attack success at the baseline with the given index, in per cent."""
    if risk is None or which >= len(risk.success):
        return ""
    return f"≤ {per_cent(risk.success[which][1])}"


def _few(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
