"""An attacker's greatest gain for people, in natural frequencies ("10 of 1 000")."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from textwrap import wrap

from rich.text import Text

from dpcompose.curves.rounding import decimal_up
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import Part, Section, TextTable, literal
from dpcompose.render.words.headlines import neighbours
from dpcompose.render.words.numbers import decimal_text, equation, parameter_text, per_cent
from dpcompose.report import Report, Risk

#: Rates are stated out of so many people, or of more where fewer than `_FEWEST` would be counted.
_PEOPLE, _FEWEST = 1000, 10
#: What a relation protects, in the plural.
_UNITS = {"bounded": "records", "edge": "edges", "node": "vertices", "node-rewired": "vertices"}
#: The question that an attacker answers, and the words for a hit, by relation.
_THERE = "Whether somebody is in the data", "found in the data"
_WHICH = "Which of two neighbouring tables it was", "told from another"
_QUESTIONS = {
    "unbounded": _THERE,
    "user": _THERE,
    "bounded": ("Which of two records is in the data", "told from another"),
    "edge": ("Whether an edge is there", "found to be there"),
    "node": ("Whether a vertex is there", "found to be there"),
}
#: The words for the two tables: the baseline's, and the one that was read.
_ABSENT = "without their data", "with them"
_TABLES = {
    "unbounded": _ABSENT,
    "user": _ABSENT,
    "bounded": ("with another record in its place", "with it"),
    "edge": ("without the edge", "with it"),
    "node": ("without the vertex", "with it"),
    "node-rewired": ("with other edges of the vertex", "with its own"),
}
_NEIGHBOURS = "with a neighbouring table in its place", "with it"
#: The same for a replacement in some columns only.
_COLUMNS = "with other values in these columns", "with its own"


def tables(report: Report) -> tuple[str, str]:
    """Returns the words for the baseline's table and the one read: `without them`, `with them`."""
    return _COLUMNS if report.changes else _TABLES.get(str(report.relation), _NEIGHBOURS)


def attacked(report: Report, style: Style) -> Iterator[Section]:
    """Yields a table of an attacker's gain from each baseline, and sentences on its meaning."""
    if report.risk is not None:
        parts = [*_gains(report.risk, report, style)]
        yield Section(
            "What an attacker gains", parts, style, "at most, whoever it is", anchor="risk"
        )


def _gains(risk: Risk, report: Report, style: Style) -> Iterator[Part]:
    """Yields the sentence, the table and the remarks on what an attacker gains."""
    for rate, found in sorted(risk.success)[:1]:
        yield literal(in_words(rate, found, report), style, "strong")
    yield _table(risk, report, style)
    if risk.success:
        yield literal(_VALUES, style)
    yield literal(told_apart(risk, report), style)
    yield literal(about(report), style, "weak")


#: The explanation of the rows on success.
_VALUES = (
    "A value guessed right is an attribute, or a whole record: from 1/2 a value that half of such "
    "records have. To be told apart is another question: there both candidates are known."
)


def _question(report: Report) -> tuple[str, str]:
    """Returns the question that an attacker answers about membership, and the words for a hit."""
    return _WHICH if report.changes else _QUESTIONS.get(str(report.relation), _WHICH)


def in_words(rate: Fraction, found: Fraction, report: Report) -> str:
    """Returns a chance of success, `found` where the baseline is `rate`, as a sentence in counts of
    people or records."""
    of, (other, own) = _people(rate), tables(report)
    units = _UNITS.get(str(report.relation), "people")
    return (
        f"Of {_count(of)} {units} like this one, an attacker who would guess "
        f"{_share(rate, of)} right {other} guesses at most {_rate_in_words(found, of)} right {own}."
    )


def in_brief(report: Report) -> str:
    """Returns the risk in one line: `at most 9.24 % found at 1 % false alarms; advantage ≤ 0.4`."""
    risk, said = report.risk, []
    if risk is None:
        return ""
    verb = "found" if _question(report)[1].startswith("found") else "told apart"
    for rate, found in risk.hits[:1]:
        said.append(f"at most {per_cent(found)} {verb} at {per_cent(rate)} false alarms")
        if risk.from_point is not None and risk.point is not None:
            alone = per_cent(risk.from_point.hits[0][1])
            said[-1] += f" ({alone} by {point_text(risk)} alone)"
    said.append(equation("advantage", decimal_text(risk.advantage)))
    return "; ".join(said)


def point_text(risk: Risk) -> str:
    """Returns the (ε, δ) compared with the whole curve: `ε = 4.77, δ = 1e-6`, or `ε = 1`."""
    assert risk.point is not None
    epsilon, delta = risk.point
    text = equation("epsilon", decimal_text(epsilon))
    return f"{text}, {parameter_text('delta', delta)}" if delta else text


def _table(risk: Risk, report: Report, style: Style) -> TextTable:
    """Returns the table of baselines, false alarms, successes and hits."""
    other, own = tables(report)
    # A long heading is on two lines.
    heads = [wrap(each, 20) for each in ("", other, own, "odds")]
    alone = risk.from_point
    if alone is not None:
        first, _, second = f"by {point_text(risk)} alone".partition(", ")
        heads.append([f"{first},", second] if second else [first])
    rows: list[list[str | Text]] = []
    for name, found, others in (
        ("a value guessed right", risk.success, alone.success if alone else ()),
        (_question(report)[1], risk.hits, alone.hits if alone else ()),
    ):
        for index, (rate, most) in enumerate(found):
            of = _people(rate)
            cells: list[str | Text] = [
                name if index == 0 else "",
                f"{_share(rate, of)} of {_count(of)}",
                literal(f"≤ {_rate_in_words(most, of)}", style, "number"),
                odds(most) if found is risk.success else "",
            ]
            if others:
                cells.append(literal(f"≤ {_rate_in_words(others[index][1], of)}", style, "weak"))
            rows.append(cells)
    lines = [Text("\n").join(literal(line, style, "weak") for line in head) for head in heads]
    return TextTable(rows, style, ["left", *["right"] * (len(heads) - 1)], lines)


def told_apart(risk: Risk, report: Report) -> str:
    """Returns the sentence on how often membership is guessed right, and on the advantage."""
    question, right, of = _question(report)[0], risk.membership, _people(Fraction(1, 2))
    text = (
        f"{question}, which a coin tells right {of // 2} times of "
        f"{_count(of)}, is told right at most {_rate_in_words(right, of)} times: "
        f"{equation('advantage', decimal_text(risk.advantage))}"
    )
    if risk.from_point is not None:
        alone = equation("", decimal_text(risk.from_point.advantage)).strip()
        text += f" ({alone} by {point_text(risk)} alone)"
    return text + "."


def about(report: Report) -> str:
    """Returns what is compared with what, and what the risk does not cover."""
    text = f"What differs is {report.protects} ({neighbours(report)}), all else known."
    rows = "other rows of the same person, " if report.relation in ("unbounded", "bounded") else ""
    text += (
        f" Not covered: {rows}what the release tells of people in general, which may tell of this "
        "one too, and other releases."
    )
    if report.adversary is not None:
        text += (
            " This follows from the guarantee of differential privacy, not from the weaker one "
            "against an adversary with two hypotheses."
        )
    return text


def _people(rate: Fraction) -> int:
    """Returns the number of people out of which a rate is stated: a power of ten."""
    of = _PEOPLE
    while rate * of < _FEWEST and of < 10**30:
        of *= 10
    return of


def _count(of: int) -> str:
    """Returns a whole number with blanks between groups: `1 000`, `100 000`."""
    return f"{of:,}".replace(",", " ")


def _share(rate: Fraction, of: int) -> str:
    """Returns a rate as a count out of so many people, to four digits."""
    value = rate * of
    return _count(value.numerator) if value.denominator == 1 else decimal_up(value, 4)


def _rate_in_words(rate: Fraction, of: int) -> str:
    """Returns a rate as a whole count out of so many people, rounded up."""
    return _count(min(of, math.ceil(rate * of)))


def odds(rate: Fraction) -> str:
    """Returns a rate as odds, `1 : 9.8` or `5.4 : 1`, rounded up."""
    if rate >= 1:
        return "certain"
    if 2 * rate >= 1:
        return f"{decimal_up(rate / (1 - rate), 3)} : 1"
    # Rounded down, to one part in a thousand, which makes the odds larger.
    against = (1 - rate) / rate
    digits = 10 ** max(0, 3 - len(str(int(against))))
    return f"1 : {decimal_up(Fraction(math.floor(against * digits), digits), 12)}"
