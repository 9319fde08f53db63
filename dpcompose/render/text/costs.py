"""The tables of what each mechanism costs, what noise does to answers, and who learns what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial

from rich.text import Text

from dpcompose.core.notions.notion import SIGNS
from dpcompose.curves.rounding import decimal_up, summed
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Part, Section, TextTable, literal, share_bar
from dpcompose.render.parts.inline import code, markdown_of
from dpcompose.render.words.numbers import (
    decimal_text,
    given_text,
    per_cent,
    short_amounts,
)
from dpcompose.report import Learnt, Report, Share

#: Of more equal shares only the first are listed, unless everything is asked for.
_MOST_ALIKE = 3
_MOST_SHARES, _MOST_ON_A_PAGE = 12, 150
_BAR = 12


def costs(report: Report, style: Style) -> Iterator[Section]:
    """Yields the table of what each mechanism adds at the worst change; nothing without costs."""
    if not report.shares:
        return
    table = cost_table(report.shares, style, are_alone(report), report.group_shares)
    yield Section("What each mechanism costs", [table], style, _where(report), anchor="costs")


def are_alone(report: Report) -> bool:
    """Returns whether the costs of a report are those of each mechanism alone, at a δ."""
    return report.bound is None and report.record is None


def cost_table(
    shares: Sequence[Share],
    style: Style,
    alone: bool = False,
    groups: Sequence[tuple[str, Fraction]] = (),
) -> TextTable:
    """Returns the table of what mechanisms add, and of the share of the whole that it is; where
    known also the ε without each.

    `alone`: the costs are those of each mechanism alone, at a δ. `groups`: groups of mechanisms,
    each with its share of the whole.
    """
    without = any(each.without is not None for each in shares)
    signs = (SIGNS[name] for name, _, _ in shares[0].bound.parameters)
    unit = "ε alone" if alone else ", ".join(signs)
    heads = ["mechanism", unit, f"share of {added_unit(shares, alone)}"]
    rows: list[list[str | Text]] = []
    for each, more in _folded(shares, style):
        name = literal(f"{len(more)} more", style, "weak") if more else each.mechanism
        amount = decimal_text(each.bound.value) if alone else short_amounts(each.bound)
        bound = amount if _have_equal_bounds([each, *more]) else ""
        parts = [share.of_whole for share in more or [each] if share.of_whole is not None]
        rows.append([name, bound, share_bar(summed(parts) if parts else None, _BAR, style)])
        if without:
            unknown = more or each.without is None
            rows[-1].append("" if unknown else decimal_text(each.without or Fraction(0)))
        rows[-1].append("" if more else _place(each))
    if groups:
        rows.append([""])
    rows += [
        [literal(f"group {name}", style), "", share_bar(part, _BAR, style)] for name, part in groups
    ]
    place = "line name" if shares[0].file else "line"
    columns = ["wide mechanism name", "right", "fixed", *["right"] * without, place]
    return TextTable(rows, style, columns, [*heads, *["ε without it"] * without, "line"])


def _place(share: Share) -> str:
    """Returns the line of a mechanism, after its spec where the name does not begin with that."""
    if share.span is None:
        return ""
    named = share.mechanism.startswith(f"{share.file}: ")
    return f"{'' if named else share.file}:{share.span.line}"


def accuracy(report: Report, style: Style) -> Iterator[Section]:
    """Yields the table of what noise does to the answers of each mechanism, where asked for."""
    if not report.accuracy:
        return
    level = f"{decimal_up(100 * report.accuracy[0].level, 12)} %"
    heads = ("mechanism", "noise", "standard deviation", f"{level} within ±", "line")
    columns = ("wide mechanism", "part", "fixed", "fixed", "line")
    rows = [
        (
            each.mechanism,
            each.noise or "not known",
            "–" if each.deviation is None else decimal_up(each.deviation, 4),
            "–" if each.within is None else decimal_up(each.within, 4),
            f":{each.span.line}" if each.span else "",
        )
        for each in report.accuracy
    ]
    says = "what the noise does to each number of an answer, in its units"
    table = TextTable(rows, style, columns, heads)
    yield Section("Accuracy", [table], style, says, anchor="accuracy")


def _folded(shares: Sequence[Share], style: Style) -> Iterator[tuple[Share, list[Share]]]:
    """Yields the shares to list, each with the shares that its row stands for (empty: itself only).

    Of many equal ones the first are listed, and of many in all the largest.
    """
    left = list(shares)
    if style.detail == "full":
        yield from ((each, []) for each in left)
        return
    told, most = 0, _MOST_ON_A_PAGE if style.detail == "page" else _MOST_SHARES
    while left and told < most:
        run = next(
            (n for n, each in enumerate(left) if not _have_equal_bounds([left[0], each])), len(left)
        )
        shown = run if run <= _MOST_ALIKE + 1 else _MOST_ALIKE
        shown = min(shown, most - told)
        yield from ((each, []) for each in left[:shown])
        if run > shown and run > _MOST_ALIKE + 1:
            yield left[0], left[shown:run]
            shown = run
        told += min(shown, _MOST_ALIKE + 1)
        left = left[shown:]
    if left:
        yield left[0], left


def _have_equal_bounds(shares: Sequence[Share]) -> bool:
    """Returns whether all shares have the same bound."""
    return all(each.bound == shares[0].bound for each in shares)


def _where(report: Report) -> str:
    """Returns `at δ = 1e-6` where the costs depend on a δ, else nothing."""
    if report.bound is None or any(each.without is not None for each in report.shares):
        at = next(iter(report.at_delta), None)
        return "" if at is None else f"at {given_text(at)}"
    return ""


def added_unit(shares: Sequence[Share], alone: bool) -> str:
    """Returns what the column of shares in the table of costs is a share of: `ε`, `ρ` or `μ²`, or
    `the sum` where `alone` (see `cost_table`)."""
    return "the sum" if alone else shares[0].bound.notion.facts.unit.split(" ")[0]


# --- who learns what -----------------------------------------------------------------------------

_NAMES = 3  # mechanisms in a cell
#: The explanation of a column "from 10 % to".
_FROM = (
    "From … to: how often a value is guessed right with other values in these columns, and with "
    "those that were read."
)


def who_learns(report: Report, style: Style) -> Iterator[Section]:
    """Yields a table with a row for each question about columns, and why answers are missing."""
    if report.attributes:
        says = "a row changes in these columns alone, the rest is known"
        yield Section("Who learns what", [*_answers(report, style)], style, says, anchor="learnt")


def _answers(report: Report, style: Style) -> Iterator[Part]:
    """Yields the tables of answers to questions about columns, and remarks on them."""
    head, rows = questions(report, style.detail == "full")
    for n, columns in enumerate(_tables(head, style)):
        if n:
            yield ""
        protected, *asked = [[row[i] for i in columns] for row in rows]
        shown: list[Sequence[str | Text]] = [*asked]
        if any(protected[1:]):
            shown.insert(0, [literal(each, style, "weak") for each in protected])
        heads = [head[i] for i in columns]
        yield TextTable(shown, style, [_WORDS.get(each, "right fixed") for each in heads], heads)
    if any(each.startswith("from ") for each in head):
        yield literal(_FROM, style, "weak")
    for says in dict.fromkeys(why for each in report.attributes for why in each.reasons):
        yield literal(says, style)


#: The headings of columns with words; the others have numbers, which never wrap.
_WORDS = {"question": "rest3", "columns": "rest2", "told by": "rest2"}


def _tables(head: Sequence[str], style: Style) -> list[list[int]]:
    """Returns the columns of each table: one for all, or on a narrow page one for each kind."""
    if style.wide:
        return [[*range(len(head))]]
    words = [i for i, each in enumerate(head) if each in ("columns", "told by")]
    risks = [i for i, each in enumerate(head) if each.startswith("from ")]
    numbers = [i for i in range(1, len(head)) if i not in words and i not in risks]
    return [[0, *some] for some in (numbers, risks, words) if some]


def in_markdown(report: Report) -> str:
    """Returns the table of questions about columns as Markdown; empty without questions."""
    if not report.attributes:
        return ""
    style = Style()
    head, [first, *others] = questions(report)
    rows: list[Sequence[str | Text]] = [[literal(each, style) for each in first], *others]
    parts: list[Part] = [TextTable(rows, style, ["name" * (e in _WORDS) for e in head], head)]
    if any(each.startswith("from ") for each in head):
        parts.append(literal(_FROM, style))
    return f"\n#### Who learns what: {code(report.label)}\n\n{markdown_of(parts)}"


def questions(report: Report, full: bool = False) -> tuple[list[str], list[list[str]]]:
    """Returns the headings, and the cells of each row, of the table of questions about columns; the
    first row is the protected change. `full`: with all names."""
    asked = report.attributes
    named: list[tuple[str, Learnt | Report]] = [(each.name, each) for each in asked]
    named.insert(0, (f"protected: {sentence(report.protects)}", report))
    bounds = [each.bound for _, each in named if each.bound is not None]
    points = [at for _, each in named for at in each.at_delta]
    risk = next((each.risk for each in asked if each.risk is not None), None)
    columns: list[tuple[str, Callable[[Learnt | Report], str]]] = []
    if any(each.changes != (each.name,) for each in asked):
        listed = ", ".join if full else _few
        columns.append(("columns", lambda each: listed(each.changes if each is not report else ())))
    if bounds or not points:
        signs = {", ".join(SIGNS[name] for name, *_ in each.parameters) for each in bounds}
        unit = signs.pop() if len(signs) == 1 else "bound"
        columns.append((unit, lambda each: short_amounts(each.bound) if each.bound else "none"))
    if points:
        columns.append((f"ε at {given_text(points[0])}", _first_number))
    for n, (given, _) in enumerate(() if risk is None else risk.success):
        columns.append((f"from {per_cent(given)} to", partial(_success, n)))
    columns.append(
        ("told by", lambda each: _few(each.mechanisms) if isinstance(each, Learnt) else "")
    )
    rows = [[name, *(cell(each) for _, cell in columns)] for name, each in named]
    return ["question", *(head for head, _ in columns)], rows


def _first_number(found: Learnt | Report) -> str:
    """Returns the first number at a chosen δ, or `none`; empty if no δ was chosen."""
    values = [at.value for at in found.at_delta[:1]]
    return "".join("none" if value is None else decimal_text(value) for value in values)


def _success(which: int, found: Learnt | Report) -> str:
    """Returns the attack success at the baseline number `which`, in per cent."""
    rates = () if found.risk is None else found.risk.success[which : which + 1]
    return "".join(f"≤ {per_cent(success)}" for _, success in rates)


def _few(names: Sequence[str]) -> str:
    """Returns the first names, and how many more there are."""
    more = len(names) - _NAMES
    return ", ".join(names[:_NAMES]) + (f" and {more} more" if more > 0 else "")
