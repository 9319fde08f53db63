"""The panel at the head of a report: bound, budget, what is protected, theorem."""

from __future__ import annotations

from fractions import Fraction

from rich.text import Text

from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import decimal_up, plural
from dpcompose.render.layout import Style, sentence
from dpcompose.render.parts.console import Frame, bar, leading_to, literal
from dpcompose.render.text.risk_text import in_brief
from dpcompose.render.words.headlines import (
    budget_text,
    neighbours,
    not_comparable,
    requested_number,
)
from dpcompose.render.words.numbers import (
    at_text,
    bound_text,
    chance_text,
    decimal_text,
    equation,
    excess_over,
    excess_text,
    left_text,
    percent,
)
from dpcompose.render.words.theorem_text import entry_of, rests_on
from dpcompose.report import FilterRecord, Report, Verdict
from dpcompose.report.risk import right_guess

_BAR, _SHORT_BAR = 24, 12  # cells of the budget's bar on wide and narrow pages
_MOST_REASONS = 3
_MOST_POINTS = 4  # further numbers at a chosen δ or ε


def panel(report: Report, style: Style) -> Frame:
    """Returns the panel of a valid spec; without a finite bound it shows the reasons."""
    failed = report.status != "ok" or (report.verdict is not None and not report.verdict.ok)
    return Frame(report.label, report.title, _rows(report, style), failed, style)


def _rows(report: Report, style: Style) -> list[tuple[str, Text]]:
    """Returns the rows of the panel."""
    rows = [("bound", requested_text(report, style))]
    rows += [("", each) for each in _further(report, style)]
    if report.risk is not None:
        rows.append(("risk", literal(in_brief(report), style)))
    elif report.status != "ok":
        rows.append(("in words", literal("nothing bounds what an attacker learns", style)))
    told = report.reasons if style.detail in ("page", "full") else report.reasons[:_MOST_REASONS]
    for each in told:
        why, _, way = each.partition(" Way out: ")
        if way:
            rows.append(("way out", literal(sentence(way), style)))
        rows.append(("why", literal(sentence(why), style)))
    if len(report.reasons) > len(told):
        more = f"and {len(report.reasons) - len(told)} more; --full lists them"
        rows.append(("", literal(more, style, "weak")))
    for verdict in [report.verdict, *report.ceilings]:
        if verdict is not None and (verdict is report.verdict or not verdict.ok):
            name = "budget" if verdict is report.verdict else "at most"
            rows.append((name, budget(report, verdict, style)))
    if report.record is not None:
        rows += record_rows(report.record, style)
    if report.assumed_relations:
        rows.append(("assumed", literal(_assumed_relations(report), style, "warning")))
    if report.protects:
        rows.append(("protects", literal(f"{report.protects} ({neighbours(report)})", style)))
    if style.detail == "brief":
        rows += [("assumed", literal(sentence(each), style)) for each in report.meanwhile]
    notion = None if report.bound is None else report.bound.notion
    if notion in (Notion.ZCDP, Notion.GDP) and requested_number(report) is None:
        rows.append(("ε", literal("at a δ of your choice: --delta 1e-6", style)))
    words = in_words(report)
    if words is not None and report.risk is None:
        rows.append(("in words", literal(words, style)))
    entry = entry_of(report.theorem)
    if entry is not None:
        text = f"{entry.id} {entry.title} ({entry.source}){rests_on(report)}"
        rows.append(("theorem", leading_to(entry.id, literal(text, style), style)))
    elif report.proof is not None and report.bound is not None:
        text = f"none is needed: the guarantee as stated covers the change{rests_on(report)}"
        rows.append(("theorem", literal(text, style)))
    return rows


#: What a guess is about, by the protected relation.
_GUESSED = {
    "unbounded": "whether one row is in the data",
    "user": "whether one unit is in the data",
    "bounded": "which of two rows is in the data",
    "edge": "whether one edge is in the graph",
    "node": "whether one node is in the graph",
}
#: Above this share of right guesses nothing is said.
_NEARLY_ALWAYS = Fraction(999, 1000)


def in_words(report: Report) -> str | None:
    """Returns what a guess between two neighbouring tables gains, as a row of the panel.

    None where there is no bound.
    """
    if report.status != "ok":
        return None
    first, bound = requested_number(report), report.bound
    held: list[tuple[Notion, Fraction, Fraction]] = []
    if first is not None and first.wanted == "delta" and first.value is not None:
        held.append((Notion.APPROX, first.value, first.given))
    if bound is not None:
        held.append((bound.notion, bound.value, bound.delta or Fraction(0)))
    if not held:
        return None
    what = _GUESSED.get(str(report.relation), "which of two neighbouring tables was read")
    if report.relation == "user" and report.protects.startswith("one `"):
        what = f"whether {report.protects.partition(':')[0]} is in the data"
    if report.distance > 1 or report.keeps or report.changes:
        what = "which of two neighbouring tables was read"
    right = right_guess(held)
    if right > _NEARLY_ALWAYS:
        return f"{what}: a guess from 1 in 2 may be right nearly always"
    share = decimal_up(100 * right, 3)
    return f"{what}: a guess from 1 in 2 is right at most {share} % of the time"


def _assumed_relations(report: Report) -> str:
    """Returns how many relations were assumed for the author, and what another reading gives."""
    count = plural(len(report.assumed_relations), "relation")
    text = f"{count} for you (DPC202)"
    if report.otherwise is None:
        return text
    name, value = report.otherwise
    words = f"no finite {name}"
    if value is not None:
        symbol, at, point = name.partition(" at ")
        words = f"{symbol} ≤ {decimal_up(value, 6)}{at}{point}"
    return f"{text}; if each statement holds for one row only: {words}"


def requested_text(report: Report, style: Style) -> Text:
    """Returns the number that was asked for, followed by the bound that it comes from."""
    if report.status == "no-guarantee":
        return literal("no finite guarantee", style, "bad")
    first = requested_number(report)
    bound = report.bound
    origin = None if bound is None else f"{bound_text(bound)} {bound.notion.facts.words}"
    if first is None:
        return literal(origin or "a privacy profile, with an ε only at a δ", style, "strong")
    text = literal(at_text(first), style, "strong")
    if bound is not None:
        word = "from" if first.rule in _FROM_BOUND.get(bound.notion.value, ()) else "and"
        text.append_text(literal(f"    {word} {origin}", style))
    return text


#: For each notion the routes that compute a number at a δ from the bound alone.
_FROM_BOUND = {
    "gdp": ("exact Gaussian", "zCDP conversion"),
    "zcdp": ("zCDP conversion",),
    "pure": ("optimal composition", "basic composition"),
    "approx": ("optimal composition", "basic composition"),
}


def _further(report: Report, style: Style) -> list[Text]:
    """Returns the other numbers at chosen points, only the first ones of many."""
    first = requested_number(report)
    others = [each for each in (*report.at_delta, *report.at_epsilon) if each != first]
    if report.status != "ok":
        others = [each for each in others if each.value is not None]
    shown = [literal(at_text(at), style) for at in others[:_MOST_POINTS]]
    more = len(others) - len(shown)
    return [*shown, literal(f"and {more} more", style, "weak")] if more > 0 else shown


def budget(report: Report, verdict: Verdict, style: Style) -> Text:
    """Returns the row of a budget: a bar, how much is spent, and what is left."""
    limit = budget_text(verdict)
    of = " against the adversary alone" if verdict.of_adversary else ""
    if report.status != "ok":
        return literal(f"{limit}{of}: ", style).append_text(literal("over budget", style, "bad"))
    if not_comparable(report) or verdict.slack is None:
        text = literal(f"{limit}{of}: ", style)
        over = "not comparable" if not_comparable(report) else "over budget"
        word = "within budget" if verdict.ok else over
        text.append_text(literal(word, style, "bad" if not verdict.ok else "good"))
        return text.append_text(literal(f"; {verdict.why}" if verdict.why else "", style))
    return spent(verdict, verdict.slack, f"{limit}{of}", style)


def spent(verdict: Verdict, slack: Fraction, limit: str, style: Style) -> Text:
    """Returns the bar of a budget that can be compared, and what is left of it."""
    used = share_used(verdict)
    how = "good" if verdict.ok else "bad"
    text = bar(used, _BAR if style.wide else _SHORT_BAR, style, how)
    text.append_text(literal(f" {percent(used)} of {limit}  ", style))
    if verdict.ok:
        return text.append_text(literal(f"✓ {left_text(slack)} left", style, how))
    if slack >= 0:
        return text.append_text(literal("✗ δ is too large", style, how))
    return text.append_text(literal(f"✗ over by {excess_text(-slack)}", style, how))


def record_rows(record: FilterRecord, style: Style) -> list[tuple[str, Text]]:
    """Returns the rows of a filter's record: what is spent, and the cost of adaptivity."""
    limit = ", ".join(equation(name, left_text(value)) for name, value in record.limit)
    within = record.share <= 1
    how = "good" if within else "bad"
    cells = _BAR if style.wide and record.cost is None else _SHORT_BAR
    text = bar(record.share, cells, style, how)
    left = ", ".join(equation(name, left_text(value)) for name, value in record.left)
    if record.cost is None:
        text.append_text(literal(f" {percent(record.share)} of {limit}  ", style))
        text.append_text(literal(f"✓ {left} left" if within else "✗ passed", style, how))
    else:
        delta, spent, _ = record.cost
        amount = f"{equation('epsilon', decimal_text(spent))} at δ = {chance_text(delta)}"
        text.append_text(literal(f" {percent(record.share)}  {amount}  ", style))
        left = ", ".join(left_text(value) for _, value in record.left)
        text.append_text(literal("✓" if within else "✗", style, how))
        rest = f" {left} left of {limit}" if within else f" past {limit}"
        text.append_text(literal(rest, style, "weak"))
    rows = [("spent", text)]
    if record.cost is not None:
        rows.append(("adaptive", literal(adaptivity_cost(record.cost), style)))
    return rows


def adaptivity_cost(cost: tuple[Fraction, Fraction, Fraction]) -> str:
    """Returns a line on what adaptive choice costs; `cost`: a δ, the ε of what is spent, and the ε
    if all parameters had been fixed."""
    delta, spent, fixed = cost
    at = f"at δ = {chance_text(delta)}"
    if spent == fixed:
        return f"costs nothing {at}: {equation('epsilon', decimal_text(spent))} either way"
    more = excess_over(spent, fixed)
    return f"{more} over {equation('epsilon', decimal_text(fixed))} {at}, had all been fixed before"


def used_of(report: Report) -> Fraction | None:
    """Returns the part of its budget that a release has spent, in the budget's first parameter;
    None where that is not known."""
    verdict = report.verdict
    if verdict is None or verdict.slack is None or report.status != "ok":
        return None
    return share_used(verdict)


def share_used(verdict: Verdict) -> Fraction:
    """Returns how much of the budget's first parameter is spent; above 1 where exceeded."""
    assert verdict.slack is not None
    limit = verdict.limit.parameters[0][1]
    if limit == 0:
        return Fraction(0) if verdict.ok else Fraction(2)
    return (limit - verdict.slack) / limit
