"""What several releases cost together (`total`): for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.text import Text

from dpcompose.core.notions.notion import SIGNS, Notion
from dpcompose.planning.ledger.rewrites import RecordCheck
from dpcompose.planning.ledger.totals import Sum, Total
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import (
    Frame,
    Part,
    Section,
    TextTable,
    literal,
    printed,
    share_bar,
    texts_of,
)
from dpcompose.render.parts.diagnostics import Findings
from dpcompose.render.parts.inline import markdown_of
from dpcompose.render.text.costs import cost_table
from dpcompose.render.text.panel import record_rows, spent
from dpcompose.render.words.headlines import budget_text, spending
from dpcompose.render.words.numbers import (
    at_text,
    bound_text,
    decimal_text,
    equation,
    found_text,
    given_text,
    left_text,
    short_text,
)
from dpcompose.render.words.theorem_text import book
from dpcompose.report import At, Bound, number_of_budget
from dpcompose.report.wording import listing, plural

#: The cells of a bar.
_BAR = 14


def text(found: Sum, style: Style) -> Iterator[str]:
    """Yields each population, the findings, and the specs left out, as a terminal shows them."""
    return texts_of(_parts(found, style), lambda parts: printed(parts, style))


def markdown(found: Sum, style: Style) -> Iterator[str]:
    """Yields the same as Markdown."""
    return texts_of(_parts(found, style._replace(encoding="utf-8")), markdown_of)


def _parts(found: Sum, style: Style) -> Iterator[list[Part]]:
    """Yields the parts of each population, each finding, and the sentence on what is left out."""
    for total in found.totals:
        yield [frame(total, style), *sections(total, style)]
    for file, lines, each in found.findings:
        yield [Findings([each], file, lines, style)]
    if left_out := sentence_on_left_out(found):
        yield [literal(left_out, style)]


def frame(total: Total, style: Style) -> Frame:
    """Returns the panel of a total."""
    return Frame(name_of(total), "", [*_panel_rows(total, style)], not is_fine(total), style)


def sentence_on_left_out(found: Sum) -> str:
    """Returns the sentence on the specs that name no population; empty if all do."""
    if not found.unnamed:
        return ""
    return (
        f"Not added up, since no `population:` is named: {listing(found.unnamed, 20)}; with --all "
        "everything is added up."
    )


def is_fine(total: Total) -> bool:
    """Returns whether there is a number, within the budget if there is one, of a true record."""
    fine = total.finite and total.refused is None and (total.verdict is None or total.verdict.ok)
    return fine and not (total.checked and total.checked.rewritten)


def sections(total: Total, style: Style) -> list[Section]:
    """Returns the sections below the panel that have content."""
    why = [total.refused] if total.refused else total.reasons
    worst = [e if n == 1 else f"{e}, {n} times" for e, n in Counter(total.worst).items()]
    # What releases protect is named once for a group.
    groups = [
        ("" if file != files[0] else protects, file)
        for protects, files in total.groups
        for file in files
    ]

    def table(rows: Sequence[Sequence[str | Text]], *columns: str) -> TextTable | None:
        """Returns rows as a table, None without any."""
        return TextTable(rows, style, columns) if rows else None

    found = (
        ("Why", table([(sentence(each),) for each in why])),
        ("What they protect", table(groups, "part", "name fold")),
        ("Releases, each by itself", table(_releases(total, style), "name part")),
        ("Worst change", table([(sentence(each),) for each in worst])),
        (
            "What each mechanism costs there",
            cost_table(total.shares, style) if total.shares else None,
        ),
        ("At a chosen δ", table(_at(total))),
        ("One more mechanism may have", table(_remaining(total))),
        ("Over time", table(_steps(total), "part", "name part")),
        ("Assumed, not checked", table([(sentence(each),) for each in total.assumed])),
    )
    return [Section(name, [part], style) for name, part in found if part is not None]


def _panel_rows(total: Total, style: Style) -> Iterator[tuple[str, Text]]:
    """Yields the rows of the panel: the total, the budget, the record, what is protected."""
    releases = plural(len(total.files), "release")
    if total.refused is not None:
        yield "bound", literal(f"{releases} that cannot be added up", style, "bad")
    elif not total.finite:
        yield "bound", literal(f"{_none(total)} of {releases}", style, "bad")
    else:
        first = _first_number(total)
        words = f" {total.bounds[0].notion.facts.words}" if total.bounds else ""
        words += ", the budget," if total.record is not None else ""
        if first is None:
            text = literal(_value(total), style, "strong")
        else:
            text = literal(at_text(first), style, "strong")
            words = f"    and {short_text(total.bounds[0])}{words}" if total.bounds else ""
        yield "bound", text.append_text(literal(f"{words} in {releases}", style))
    verdict = total.verdict
    if verdict is not None:
        limit = budget_text(verdict)
        if verdict.slack is None and (total.record is not None or verdict.why is None):
            word = "within budget" if verdict.ok else "over budget"
            how = "good" if verdict.ok else "bad"
            yield "budget", literal(f"{limit}: ", style).append_text(literal(word, style, how))
        elif verdict.slack is not None:
            yield "budget", spent(verdict, verdict.slack, limit, style)
        else:
            yield "budget", literal(f"{limit}: not comparable; {verdict.why}", style, "bad")
    if total.checked is not None:
        yield (
            "record",
            literal(_checked(total.checked), style, "bad" if total.checked.rewritten else ""),
        )
    if total.before is not None:
        yield "before", literal(spending(total.before), style)
    if total.record is not None:
        yield from record_rows(total.record, style)
    if total.realised is not None:
        says = f"{bound_text(total.realised)} in all: a fact, and no guarantee"
        yield "spent", literal(says, style)
    yield "protects", literal(total.relation, style)
    if total.planned is not None:
        yield "fixed", literal(f"all parameters, before the first output: {total.planned}", style)
    if total.theorem is not None:
        entry = book()[total.theorem]
        yield "theorem", literal(f"{entry.id} {entry.title} ({entry.source})", style)


def _first_number(total: Total) -> At | None:
    """Returns the ε at the δ of the budget, else at the first chosen δ; None where the bound leads,
    as it does where it is the budget itself."""
    return None if total.record is not None else number_of_budget(total.verdict, total.at_delta)


def _checked(checked: RecordCheck) -> str:
    """Returns how the record compares with an earlier revision: `3 releases of main, as before`."""
    of = f"{plural(checked.releases, 'release')} of {checked.revision}"
    bad, more = len(checked.rewritten), len(checked.corrected)
    corrected = f"{more} corrected upwards ({listing(checked.corrected)})" if more else ""
    if bad:
        says = f"{of}, {bad} of them gone or changed, and counted as before"
        return f"{says}; {corrected}" if corrected else says
    if checked.releases == 0:
        return f"nothing was released in {checked.revision}"
    return f"{of}, {corrected or 'as before'}"


def name_of(total: Total) -> str:
    """Returns the population of a total, or `all specs`."""
    return "all specs" if total.population is None else f"population {total.population}"


def _none(total: Total) -> str:
    """Returns the words for a missing number.

    Parameters chosen along the way may have a finite sum, which is no guarantee.
    """
    return "no finite bound" if total.planned is not None else "no guarantee"


def _alone(bound: Bound | None) -> str:
    """Returns a bound in words, or that there is none."""
    return "no finite bound" if bound is None else short_text(bound)


def _releases(total: Total, style: Style) -> list[tuple[str | Text, ...]]:
    """Returns each release with its own bound, and a bar of its share of their sum."""
    shares = _shares([bound for _, bound in total.alone])
    return [
        (label, _alone(bound), share_bar(share, _BAR, style))
        for (label, bound), share in zip(total.alone, shares, strict=True)
    ]


def _shares(bounds: Sequence[Bound | None]) -> list[Fraction | None]:
    """Returns the part of their sum that each bound is, in the unit that adds up; None where they
    are in several notions, or not finite."""
    notions = {None if each is None else each.notion for each in bounds}
    power = 2 if notions == {Notion.GDP} else 1
    sizes = [Fraction(0) if each is None else each.value**power for each in bounds]
    whole = sum(sizes)
    if len(notions) != 1 or None in notions or not whole:
        return [None for _ in bounds]
    return [size / whole for size in sizes]


def _remaining(total: Total) -> list[tuple[str, str]]:
    """Returns what one more mechanism on the whole table may spend, in each notion."""
    how = "with all parameters fixed in advance" if total.planned is not None else "by the filter"
    return [
        (
            equation(name, left_text(value)) if value is not None else f"no {SIGNS[name]}",
            how if value is not None else "is counted here",
        )
        for name, value in total.remaining or ()
    ]


def _steps(total: Total) -> list[tuple[str | Text, ...]]:
    """Returns a heading and a row for each release: when it came, its name, what was spent and left
    then.

    Empty if the record over time was not asked for.
    """
    heads = tuple(map(Text, ("came", "release", "spent", "left")))
    rows: list[tuple[str | Text, ...]] = [heads] if total.steps else []
    for each in total.steps:
        if each.record is None or each.record.spent is None:
            rows.append((each.came, each.label, "not counted", ""))
            continue
        spent = ", ".join(equation(name, decimal_text(value)) for name, value in each.record.spent)
        left = ", ".join(equation(name, left_text(value)) for name, value in each.record.left)
        passed = each.record.share > 1
        rows.append((each.came, each.label, spent, "passed" if passed else left))
    return rows


def _at(total: Total) -> list[tuple[str, str]]:
    """Returns the ε at each chosen δ, with its route."""
    first = _first_number(total)
    return [
        (given_text(each), f"{found_text(each)} by {each.rule}")
        for each in total.at_delta
        if each != first
    ]


def _value(total: Total) -> str:
    """Returns the number of a total: its bound, or else the numbers at the chosen δ's."""
    if total.bounds:
        return bound_text(total.bounds[0])
    return "; ".join(at_text(at) for at in total.at_delta) or "none"
