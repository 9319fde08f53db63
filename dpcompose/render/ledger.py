"""The text of `check`: what was allowed, what each mechanism takes of it, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from dpcompose.core.notions.notion import SIGNS
from dpcompose.render import adversary_text, chosen_points
from dpcompose.render.layout import Style, columns, wrapped
from dpcompose.render.numbers import (
    amounts_text,
    bound_text,
    excess_text,
    found_text,
    given_text,
    left_text,
    named,
    parameters,
)
from dpcompose.render.terminal import (
    budget_text,
    findings,
    happening,
    invalid,
    neighbours,
    not_comparable,
    place,
    profile_text,
    rechecked,
    section,
    separated,
    title,
)
from dpcompose.render.theorem_text import book
from dpcompose.report import Report, Verdict

_MOST_SHARES = 40  # listed on a terminal; JSON has them all


def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
    """A ledger for each report; without a budget (complained about elsewhere) one line."""
    return separated(reports, style, text)


def outcome(report: Report) -> str:
    """How a check came out, for a count."""
    if report.status == "invalid":
        return "invalid"
    if report.verdict is None:
        return "without a budget"
    if not_comparable(report):
        return "not comparable"
    return "within budget" if report.verdict.ok else "over budget"


def text(report: Report, style: Style) -> str:
    """One ledger."""
    verdict = report.verdict
    if report.status == "invalid":
        return invalid(report, style)
    if verdict is None:
        return style.plain(f"{report.label}: no budget to check against") + "\n"
    reasons = report.reasons if report.status != "ok" else [verdict.why] if verdict.why else []
    why = [line for each in reasons for line in wrapped(each, style, "  - ")]
    worst = happening(report.worst, style) if report.worst else []
    sections = (
        [headline(report, verdict, style), *title(report, style)],
        section("Why", why, style),
        section("Worst change", worst, style),
        section(
            style.plain(f"What each mechanism adds there{_unit(report)}"),
            _shares(report, style),
            style,
        ),
        section("Budget", _balance(report, verdict, style), style),
        *chosen_points.tables(report, style),
        *adversary_text.sections(report, style, steps=False),
        rechecked(report, style),
        _rests(report, style),
        section("Findings", findings(report, style), style),
    )
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def headline(report: Report, verdict: Verdict, style: Style) -> str:
    """The verdict, what was spent of what, and what is left, on one line however long."""
    word, rest = judged(report, verdict)
    painted = style.paint(word, "good" if verdict.ok else "bad")
    return f"{style.plain(report.label)}: {painted}: {style.plain(rest)}"


def judged(report: Report, verdict: Verdict) -> tuple[str, str]:
    """The verdict in a word or two, then what was spent of what."""
    limit, around = budget_text(verdict, report), neighbours(report)
    word = "within budget" if verdict.ok else "over budget"
    if report.status != "ok":
        return word, f"no finite guarantee (budget {limit}; {around})"
    if not_comparable(report):
        word, rest = "not comparable", f"{_held(report)} against budget {limit}"
    elif verdict.slack is None:
        rest = f"{_spent(report, verdict)} against budget {limit}"
    else:
        spent = _spent(report, verdict)
        rest = f"{spent} of {limit} spent, {_remaining(verdict, verdict.slack)}"
    return word, f"{rest} ({_terms(report, verdict)}{around})"


def _held(report: Report) -> str:
    return profile_text(report) if report.bound is None else bound_text(report.bound)


def _terms(report: Report, verdict: Verdict) -> str:
    """What the number that was spent is: the winning route, or the notion of the bound."""
    if verdict.of_adversary:
        return "against the adversary alone, weaker than differential privacy, "
    if verdict.at is not None:
        return f"by {verdict.at.rule}, " if verdict.at.rule else ""
    return "" if report.bound is None else f"{report.bound.notion.facts.words}, "


def _spent(report: Report, verdict: Verdict) -> str:
    """What was held against the budget, in the parameter of the budget."""
    bound = verdict.by or report.bound
    if verdict.at is not None:
        at = verdict.at
        return found_text(at) if at.value is not None else f"{found_text(at)} at {given_text(at)}"
    if bound is None:
        return profile_text(report)
    main, limit = verdict.limit.parameters[0]
    if verdict.slack is None or bound.notion.facts.symbol == main:
        return bound_text(bound)
    return named(main, limit - verdict.slack, exact=False)


def _remaining(verdict: Verdict, slack: Fraction) -> str:
    if slack < 0:
        return f"{excess_text(-slack)} too much"
    return f"{left_text(slack)} left" if verdict.ok else "δ is too large"


def _unit(report: Report) -> str:
    """`, in ε`: the parameters that the shares are given in."""
    if report.bound is None:
        return ""
    return ", in " + " and ".join(SIGNS[name] for name, _, _ in parameters(report.bound))


def _shares(report: Report, style: Style) -> list[str]:
    shown = report.shares[:_MOST_SHARES]
    amounts = amounts_text if report.bound is not None else bound_text
    rows = [(each.mechanism, amounts(each.bound), place([each.span])) for each in shown]
    lines = columns(rows, style)
    if len(report.shares) > len(shown):
        lines.append(style.plain(f"  … and {len(report.shares) - len(shown)} more"))
    if len(report.shares) > 1 and report.bound and report.bound.notion.facts.adding:
        lines += wrapped(report.bound.notion.facts.adding, style, "  ")
    return lines


def _balance(report: Report, verdict: Verdict, style: Style) -> list[str]:
    if report.status != "ok":
        return []
    rows = [("spent", _account(report, verdict))]
    if (verdict.at is not None or verdict.of_adversary) and report.bound is not None:
        rows.append(("the bound", f"{bound_text(report.bound)} {report.bound.notion.facts.words}"))
    if verdict.at is not None and verdict.at.worst:
        rows.append(
            ("worst change", f"{'; '.join(verdict.at.worst)} (at {given_text(verdict.at)})")
        )
    rows += [("allowed", ", ".join(named(*each) for each in verdict.limit.parameters))]
    if verdict.ok and verdict.slack is not None:
        rows.append(("left", left_text(verdict.slack)))
    elif verdict.slack is not None and verdict.slack < 0:
        rows.append(("too much", excess_text(-verdict.slack)))
    return columns(rows, style)


def _account(report: Report, verdict: Verdict) -> str:
    """What was spent, and where the number comes from."""
    at, bound = verdict.at, verdict.by or report.bound
    spent = _spent(report, verdict)
    if at is not None:
        words = f"{found_text(at)} at {given_text(at)}"
        return f"{words} by {at.rule}" if at.rule and at.value is not None else words
    if bound is None:
        return spent
    if spent != bound_text(bound):
        spent += f", from {bound_text(bound)}"
    if verdict.of_adversary:
        return f"{spent} against the adversary alone"
    if verdict.by is not None:
        return f"{spent}, computed in {verdict.by.notion.facts.words}"
    entry = book().get(report.theorem or "")
    return spent if entry is None else f"{spent} by {entry.place} ({entry.source})"


def _rests(report: Report, style: Style) -> list[str]:
    """A pointer to what the verdict rests on: a ledger must not look more certain than it is."""
    count = len(report.assumptions)
    if not count or report.status != "ok":
        return []
    many = "an assumption" if count == 1 else f"{count} assumptions"
    return wrapped(
        f"This rests on {many} that cannot be checked from the spec: `dpcompose analyze` "
        "lists them, with the theorem and the reasoning.",
        style,
    )
