"""A report's result in one line or a few words, for all formats without room for more.

The headline number of a report is the one that its panel, the frame at the top of the printed
report, shows first: an ε at a chosen δ, or the bound.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Literal

from dpcompose.errors import Level, Span
from dpcompose.faults import plural
from dpcompose.render.layout import Style
from dpcompose.render.words.numbers import (
    at_text,
    bound_text,
    chance_text,
    decimal_text,
    digits_of_excess,
    equation,
    excess_text,
    found_text,
    left_text,
    parameter_text,
    short_text,
)
from dpcompose.report import (
    At,
    FilterRecord,
    Report,
    Verdict,
    number_of_budget,
)


def outcome(report: Report, checking: bool) -> str:
    """Returns in a word or two how a spec ends, as in counts such as `2 over budget`; `checking`: a
    spec needs a budget."""
    if report.status == "ok":
        if report.verdict is not None:
            return judged(report, report.verdict)[0]
        return "without a budget" if checking else "certified"
    return {
        "no-guarantee": "without a finite bound",
        "invalid": "invalid",
        "unreadable": "not read",
        "left-out": "left out",
    }[report.status]


def standing(report: Report, checking: bool) -> Literal["bad", "warn", "good"]:
    """Returns `bad` for a spec that is invalid, has no finite bound or is over budget, `warn` for
    one with warnings, else `good`; `checking`: as in `outcome`."""
    verdict = report.verdict
    if report.status != "ok" or (checking if verdict is None else not verdict.ok):
        return "bad"
    return "warn" if any(each.level != "note" for each in report.findings) else "good"


#: The signs of how specs end, those that need attention first.
STANDING_SIGNS = {"bad": "✗", "warn": "!", "good": "✓"}


def verdict_of_invalid(report: Report, style: Style) -> str:
    """Returns the line of an invalid spec: `bad.yaml: invalid spec, 2 errors`."""
    count = Counter(each.level for each in report.findings)
    levels: tuple[Level, ...] = ("error", "warning", "note")
    words = [plural(count[level], level) for level in levels if count[level]]
    verdict = style.paint("invalid spec", "bad")
    return f"{style.plain(report.label)}: {verdict}, {', '.join(words)}"


def headline(report: Report, style: Style) -> str:
    """Returns the bound, the notion, the relation and the verdict in one line, never wrapped."""
    if report.status == "no-guarantee":
        bound = style.paint("no finite guarantee", "bad")
    elif report.bound is None:
        bound = style.paint(style.plain(profile_text(report)), "strong")
    else:
        bound = f"{bound_text(report.bound)} {report.bound.notion.facts.words}"
        at = requested_number(report)
        if at is not None and at.wanted == "delta":
            bound = f"{at_text(at)}, from {bound}"
        bound = style.paint(style.plain(bound), "strong")
    line = f"{style.plain(report.label)}: {bound}, {style.plain(neighbours(report))}"
    if report.verdict is None:
        return line
    words = style.plain(verdict_words(report))
    return f"{line}  [{style.paint(words, 'good' if report.verdict.ok else 'bad')}]"


def checked(report: Report, verdict: Verdict, style: Style) -> str:
    """Returns the verdict, the amount spent and what is left in one line, never wrapped."""
    word, rest = judged(report, verdict)
    painted = style.paint(word, "good" if verdict.ok else "bad")
    return f"{style.plain(report.label)}: {painted}: {style.plain(rest)}"


def neighbours(report: Report) -> str:
    """Returns the protected relation: `bounded neighbours`, `3 steps of unbounded neighbours`."""
    if report.goal is None:
        return "neighbours"
    words = report.goal.relation.neighbours
    return words if report.distance == 1 else f"{report.distance} steps of {words}"


def requested_number(report: Report) -> At | None:
    """Returns the number at the budget's δ, else the first number at a chosen δ or ε; None without
    any."""
    return number_of_budget(report.verdict, (*report.at_delta, *report.at_epsilon))


def in_few_words(report: Report) -> str:
    """Returns the headline number: `ε ≤ 2.3905 at δ = 1e-5`, or `no bound`.

    It is rounded up to six digits. For an invalid spec the words say that.
    """
    if report.status not in ("ok", "no-guarantee"):
        return "invalid spec"
    at = finite_number(report)
    if at is not None:
        return at_text(at)
    return "no bound" if report.bound is None else short_text(report.bound)


def finite_number(report: Report) -> At | None:
    """Returns the headline number where it is one at a chosen δ or ε; None where it is the bound
    itself, or nothing is finite.

    That is the requested number (see `requested_number`) if it is a finite ε, else the first finite
    ε at a δ of the report; only where there is no bound either, the first finite δ at an ε.
    """
    if report.status != "ok":
        return None
    first = requested_number(report)
    listed = (*([] if first is None else [first]), *report.at_delta)
    found = [each for each in listed if each.value is not None and each.wanted == "delta"]
    if not found and report.bound is None:
        found = [each for each in report.at_epsilon if each.value is not None]
    return found[0] if found else None


def is_bounded(report: Report) -> bool:
    """Returns whether a valid report has a finite number: a bound, or one at a chosen δ or ε."""
    return report.status == "ok" and (report.bound is not None or finite_number(report) is not None)


def profile_text(report: Report) -> str:
    """Returns the first ε at a δ of a profile: `ε ≤ 2.3905 at δ = 1e-5`."""
    for each in report.at_delta:
        if each.value is not None:
            return at_text(each)
    return "a privacy profile, with an ε only at a δ"


def verdict_words(report: Report) -> str:
    """Returns the verdict in words: `within budget ε = 2, 0.3 left`, `over budget ρ = 1 by 0.2`.

    "" for a report without a verdict.
    """
    verdict = report.verdict
    if verdict is None:
        return ""
    budget = budget_text(verdict)
    if verdict.of_adversary:
        budget += " against the adversary alone"
    if verdict.ok:
        left = "" if verdict.slack is None else f", {left_text(verdict.slack)} left"
        return f"within budget {budget}{left}"
    if not_comparable(report):
        return f"not comparable with budget {budget}"
    if verdict.slack is None or verdict.slack >= 0:
        return f"over budget {budget}"
    return f"over budget {budget} by {excess_text(-verdict.slack)}"


def budget_text(verdict: Verdict) -> str:
    """Returns the budget: `ρ = 2` or `ε = 2, δ = 1e-6`."""
    return ", ".join(parameter_text(*each) for each in verdict.limit.parameters)


def not_comparable(report: Report) -> bool:
    """Returns whether there is a guarantee, but none that can be compared with the budget."""
    verdict = report.verdict
    if verdict is None or verdict.ok or report.status != "ok" or verdict.of_adversary:
        return False
    return verdict.slack is None and verdict.at is None


def judged(report: Report, verdict: Verdict) -> tuple[str, str]:
    """Returns the verdict in a word or two, and a sentence on what was spent of which budget."""
    limit, around = budget_text(verdict), neighbours(report)
    word = "within budget" if verdict.ok else "over budget"
    if report.record is not None:
        return word, f"{spending(report.record)} (budget {limit}; {around})"
    if report.status != "ok":
        return word, f"no finite guarantee (budget {limit}; {around})"
    if not_comparable(report):
        held = profile_text(report) if report.bound is None else bound_text(report.bound)
        word, rest = "not comparable", f"{held} against budget {limit}"
    elif verdict.slack is None:
        rest = f"{_spent(report, verdict)} against budget {limit}"
    else:
        left = f"{left_text(verdict.slack)} left" if verdict.ok else "δ is too large"
        spent = _spent(report, verdict)
        if verdict.slack < 0:
            left = f"{excess_text(-verdict.slack)} too much"
            spent, limit = _told_apart(verdict, -verdict.slack, spent, limit)
        rest = f"{spent} of {limit} spent, {left}"
    return word, f"{rest} ({_terms(report, verdict)}{around})"


def _told_apart(verdict: Verdict, excess: Fraction, spent: str, limit: str) -> tuple[str, str]:
    """Returns what was spent and the limit, with more digits where these are needed to tell the two
    apart: `ε = 2` and `ε = 1.9999999999`."""
    (main, most), *others = verdict.limit.parameters
    digits = digits_of_excess(most, excess)
    if digits is None:
        return spent, limit
    both = [decimal_text(each, digits=digits) for each in (most + excess, most)]
    spent, limit = (equation(main, each) for each in both)
    return spent, ", ".join([limit, *(parameter_text(*each) for each in others)])


def spending(record: FilterRecord) -> str:
    """Returns what a record has spent: `ρ = 0.3 of 0.5 spent, 0.2 left`; of an (ε, δ) both.

    The ε that is spent stands first, where the budget has a δ.
    """
    parts = []
    for (name, spent), (_, limit), (_, left) in zip(
        record.spent or (), record.limit, record.left, strict=False
    ):
        rest = f"{left_text(left)} left" if spent <= limit else "passed"
        parts.append(
            f"{parameter_text(name, spent, record.exact)} of {left_text(limit)} spent, {rest}"
        )
    if record.cost is None:
        return "; ".join(parts)
    delta, spent, _ = record.cost
    at = f"δ = {chance_text(delta)}"
    return f"{parameter_text('epsilon', spent, False)} at {at} spent ({'; '.join(parts)})"


def _terms(report: Report, verdict: Verdict) -> str:
    """Returns the words on where the spent number comes from: the winning route, or the bound's
    notion."""
    if verdict.of_adversary:
        return "against the adversary alone, weaker than differential privacy, "
    if verdict.at is not None:
        return f"by {verdict.at.rule}, " if verdict.at.rule else ""
    if verdict.limit.of_risk:
        return "by the trade-off curve, "
    return "" if report.bound is None else f"{report.bound.notion.facts.words}, "


def _spent(report: Report, verdict: Verdict) -> str:
    """Returns the number that was compared with the budget, in the budget's parameter."""
    bound = verdict.by or report.bound
    if verdict.at is not None:
        at = verdict.at
        return found_text(at) if at.value is not None else at_text(at)
    main, limit = verdict.limit.parameters[0]
    if verdict.limit.of_risk and verdict.slack is not None:
        return parameter_text(main, limit - verdict.slack, exact=False)
    if bound is None:
        return profile_text(report)
    if verdict.slack is None or bound.notion.facts.symbol == main:
        return bound_text(bound)
    return parameter_text(main, limit - verdict.slack, exact=False)


def place(spans: Iterable[Span]) -> str:
    """Returns `line 14` or `lines 9, 14-16`; empty without spans."""
    lines = {span.line for span in spans}
    return f"line{'s' if len(lines) > 1 else ''} {ranges(lines)}" if lines else ""


def ranges(numbers: Iterable[int]) -> str:
    """Returns numbers with runs abbreviated: `1, 4-6, 9`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in runs)


def assumed(report: Report) -> list[str]:
    """Returns what is assumed and not checked, in few words each, as a report lists it."""
    found = [each.says if each.shortly is None else each.shortly for each in report.assumptions]
    found = [each for each in found if each]
    if report.assumed_relations:
        count = plural(len(report.assumed_relations), "statement")
        found.append(f"{count} without a relation hold for the relation that was filled in")
    return found


def meanwhile_lines(found: Sequence[Sequence[str]]) -> list[str]:
    """Returns what is assumed of the data between outputs as a sentence each, with how many of
    several specs it is assumed of.

    `found`: the sentences of each spec.
    """
    counts = Counter(says for told in found for says in told)
    return [
        f"Assumed, not checked{_of_some(count, len(found))}: {says}"
        for says, count in counts.items()
    ]


def _of_some(count: int, whole: int) -> str:
    """Returns how many of several there are: ` of 2 of 3 specs`; nothing where it is all."""
    return "" if count == whole else f" of {count} of {plural(whole, 'spec')}"


_HASH_DIGITS = 12


def short_hash(report: Report) -> str:
    """Returns the start of the SHA-256 of the spec; empty where it is not known."""
    return report.digest[:_HASH_DIGITS]
