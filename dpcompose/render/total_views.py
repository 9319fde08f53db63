"""What several releases cost together (`total`): for people, as Markdown, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from rich.text import Text

from dpcompose.core.notions.notion import SIGNS, Notion
from dpcompose.planning.rewrites import RecordCheck
from dpcompose.planning.totals import Sum, Total
from dpcompose.render.console import grid, literal, printed, ruled
from dpcompose.render.diagnostics import print_findings
from dpcompose.render.headlines import budget_text, spending
from dpcompose.render.inline import code, plain
from dpcompose.render.json import dumped
from dpcompose.render.layout import Style, sentence
from dpcompose.render.numbers import (
    at_text,
    bound_text,
    equation,
    found_text,
    given_text,
    left_text,
    route_text,
    short_text,
)
from dpcompose.render.panel import (
    adaptivity_cost,
    bar,
    framed,
    record_rows,
    share_text,
    spent,
)
from dpcompose.render.schemas import TOTALS
from dpcompose.render.theorem_text import book
from dpcompose.report import At, Bound
from dpcompose.report.wording import listing, plural

#: So many mechanisms are listed; JSON has them all.
_MOST = 20
#: The cells of a bar.
_BAR = 14


def text(found: Sum, style: Style) -> Iterator[str]:
    """Yields a section for each population, the findings, and the specs that were left out."""
    for index, total in enumerate(found.totals):
        rows = panel_rows(total, style)
        parts = [framed(name_of(total), "", rows, not is_fine(total), style)]
        for name, cells in sections(total, style):
            parts += [ruled(name, style), grid(cells, style)]
        yield ("\n" if index else "") + printed(parts, style)
    for file, lines, each in found.findings:
        yield "\n" + printed(print_findings([each], file, lines, style), style)
    left_out = sentence_on_left_out(found)
    if left_out:
        yield ("\n" if found.totals else "") + printed(literal(left_out, style), style)


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


def sections(total: Total, style: Style) -> list[tuple[str, Sequence[Sequence[str | Text]]]]:
    """Returns the sections below the panel that have content: their names and rows."""
    why = [total.refused] if total.refused else total.reasons
    worst = [e if n == 1 else f"{e}, {n} times" for e, n in Counter(total.worst).items()]
    # What releases protect is named once for a group.
    groups = [
        ("" if file != files[0] else protects, file)
        for protects, files in total.groups
        for file in files
    ]
    found: tuple[tuple[str, Sequence[Sequence[str | Text]]], ...] = (
        ("Why", [(sentence(each),) for each in why]),
        ("What they protect", groups),
        ("Releases, each by itself", _releases(total, style)),
        ("Worst change", [(sentence(each),) for each in worst]),
        ("What each mechanism costs there", _entries(total, style)),
        ("At a chosen δ", _at(total)),
        ("One more mechanism may have", _remaining(total)),
        ("Over time", _steps(total)),
        ("Assumed, not checked", [(sentence(each),) for each in total.assumed]),
    )
    return [(name, rows) for name, rows in found if rows]


def panel_rows(total: Total, style: Style) -> Iterator[tuple[str, Text]]:
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
    if total.record is not None:
        return None
    if total.verdict is not None and total.verdict.at is not None:
        return total.verdict.at
    return next((at for at in total.at_delta if at.value is not None), None)


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


def sentence_of_total(total: Total) -> str:
    """Returns a total in one sentence: `ε = 2 in 2 releases (pure DP, unbounded neighbours)`."""
    releases = plural(len(total.files), "release")
    if total.refused is not None:
        return f"{releases} that cannot be added up"
    if not total.finite:
        return f"{_none(total)} of {releases} ({total.relation})"
    if total.bounds:
        terms = f"{total.bounds[0].notion.facts.words}, {total.relation}"
        value = bound_text(total.bounds[0])
    else:
        shown = next(at for at in total.at_delta if at.value is not None)
        value, terms = at_text(shown), total.relation
    return f"{value} in {releases} ({terms}){_verdict(total)}"


def _none(total: Total) -> str:
    """Returns the words for a missing number.

    Parameters chosen along the way may have a finite sum, which is no guarantee.
    """
    return "no finite bound" if total.planned is not None else "no guarantee"


def _verdict(total: Total) -> str:
    """Returns how a total compares with its budget, as the end of a sentence; empty without one."""
    verdict = total.verdict
    if verdict is None:
        return ""
    limit = budget_text(verdict)
    if total.record is not None:
        word = "within" if verdict.ok else "over"
        return f", {word} the budget {limit}: {spending(total.record)}"
    if verdict.slack is None:
        return f", not comparable with the budget {limit}: {verdict.why}"
    word = "within" if verdict.ok else "over"
    held = ""
    if verdict.at is not None:
        held = f" by {at_text(verdict.at)}"
    left = f", {left_text(verdict.slack)} left" if verdict.ok else ""
    return f", {word} the budget {limit}{held}{left}"


def _alone(bound: Bound | None) -> str:
    """Returns a bound in words, or that there is none."""
    return "no finite bound" if bound is None else short_text(bound)


def _releases(total: Total, style: Style) -> list[tuple[str | Text, ...]]:
    """Returns each release with its own bound, and a bar of its share of their sum."""
    shares = _shares([bound for _, bound in total.alone])
    return [
        (label, _alone(bound), _bar(share, style))
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


def _bar(part: Fraction | None, style: Style) -> Text:
    """Returns a share as a bar with per cent; nothing where there is none."""
    if part is None:
        return Text()
    return bar(part, _BAR, style, "strong").append_text(literal(f" {share_text(part):>5}", style))


def _entries(total: Total, style: Style) -> list[tuple[str | Text, ...]]:
    """Returns what each mechanism costs, with a bar of its share and its position; only the first
    ones of many."""
    shares = _shares([each.bound for each in total.entries])
    rows: list[tuple[str | Text, ...]] = []
    for each, share in zip(total.entries[:_MOST], shares, strict=False):
        place = f"{each.file}:{each.line}".removeprefix(each.mechanism.partition(": ")[0])
        rows.append((each.mechanism, short_text(each.bound), _bar(share, style), place))
    more = len(total.entries) - len(rows)
    return [*rows, (f"and {more} more", "", "", "")] if more else rows


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


def _steps(total: Total) -> list[tuple[str, ...]]:
    """Returns a heading and a row for each release: when it came, its name, what was spent and left
    then.

    Empty if the record over time was not asked for.
    """
    rows: list[tuple[str, ...]] = [("came", "release", "spent", "left")] if total.steps else []
    for each in total.steps:
        if each.record is None or each.record.spent is None:
            rows.append((each.came, each.label, "not counted", ""))
            continue
        spent = ", ".join(equation(name, route_text(value)) for name, value in each.record.spent)
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


def markdown(found: Sum) -> Iterator[str]:
    """Yields a table of the populations, then the releases and numbers of each."""
    yield "| population | releases | total | |\n|---|---|---|---|\n"
    for total in found.totals:
        name = code(total.population) if total.population is not None else "all specs"
        yield f"| {name} | {len(total.files)} | {plain(_value(total))} | {_word(total)} |\n"
    for total in found.totals:
        name = "all specs" if total.population is None else f"population {code(total.population)}"
        yield f"\n**{name}**: {plain(sentence_of_total(total))}\n\n"
        if total.refused is not None:
            yield f"- {plain(total.refused)}\n"
            for protects, files in total.groups:
                yield f"- {plain(protects)}: {', '.join(map(code, files))}\n"
        yield from (f"- {plain(each)}\n" for each in total.reasons)
        yield from (f"- {code(label)}: {plain(_alone(bound))}\n" for label, bound in total.alone)
        record = total.record
        cost = record.cost if record else None
        told = (
            ("record", _checked(total.checked) if total.checked else None),
            ("before", spending(total.before) if total.before else None),
            ("spent", spending(record) if record else None),
            ("adaptive", adaptivity_cost(cost) if cost else None),
            ("spent, without a guarantee", bound_text(total.realised) if total.realised else None),
            ("fixed before the first output", total.planned),
        )
        yield from (f"- {name}: {plain(says)}\n" for name, says in told if says is not None)
        yield from (
            f"- one more mechanism may have {plain(value)} ({how})\n"
            for value, how in _remaining(total)
        )
        if total.steps:
            yield "\n| came | release | spent | left |\n|---|---|---|---|\n"
            for came, label, spent, left in _steps(total)[1:]:
                yield f"| {plain(came)} | {code(label)} | {plain(spent)} | {plain(left)} |\n"
            yield "\n"
        yield from (f"- worst change: {plain(each)}\n" for each in total.worst)
        yield from (f"- assumed: {plain(each)}\n" for each in total.assumed)
    if found.findings:
        yield "\n"
    for file, _, each in found.findings:
        place = file if each.span is None else f"{file}:{each.span.line}"
        yield f"- **{each.level}** {code(place)}: {plain(each.message)} ({each.code})\n"
    if found.unnamed:
        yield f"\n{plain(sentence_on_left_out(found))}\n"


def _value(total: Total) -> str:
    """Returns the number of a total: its bound, or else the numbers at the chosen δ's."""
    if total.bounds:
        return bound_text(total.bounds[0])
    return "; ".join(at_text(at) for at in total.at_delta) or "none"


def _word(total: Total) -> str:
    """Returns the verdict on a total in a word or two, bold where it fails."""
    if total.refused is not None:
        return "**not added up**"
    if not total.finite:
        return f"**{_none(total)}**"
    if total.verdict is None:
        return ""
    return "within budget" if total.verdict.ok else "**over budget**"


def json(found: Sum) -> Iterator[str]:
    """Yields the totals as one JSON document."""
    yield dumped(TOTALS.write(found), indent=2)
