"""The result of `fit` for people: the numbers that were changed, and how much is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import chance, decimal_up
from dpcompose.planning.edits import Edit, KeyEdit
from dpcompose.planning.fitting import Fitted
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import TextTable
from dpcompose.render.words.numbers import decimal_text, equation
from dpcompose.report.wording import number, plural
from dpcompose.source import Source

#: So many changed parameters are listed.
_MOST_CHANGED = 20
_SIGNS = {**SIGNS, "sigma": "σ"}


def _constants(source: Source) -> dict[str, Fraction]:
    """Returns the values of the constants of a valid spec by name, but for those whose expression
    uses a constant that comes later."""
    tree, found = source.value, dict[str, Fraction]()
    constants = tree.get("constants") if isinstance(tree, dict) else None
    for name, text in constants.items() if isinstance(constants, dict) else ():
        with suppress(ExpressionError):  # one that is used above where it stands
            found[name] = parse(str(text), found)
    return found


def table_of_changes(
    changed: Sequence[tuple[Edit, KeyEdit]], old: Source, new: Source, style: Style
) -> TextTable:
    """Returns changed numbers as rows: `gradients`, `σ 1.1 → 1.2253`.

    `old` and `new`: the spec before and now.
    """
    rows, before, after = [], _constants(old), _constants(new)
    for each, key in changed:
        last = key.name.rpartition(".")[2]
        values = f"{_six_digits(key.old, before)} → {_six_digits(key.new, after)}"
        change = f"{_SIGNS.get(last, last)} {values}"
        rows.append((each.name or "budget", change.strip()))
    more = len(rows) - _MOST_CHANGED
    if more > 0:
        rows = [*rows[:_MOST_CHANGED], (f"and {more} more", "")]
    return TextTable(rows, style)


def _six_digits(text: str | None, constants: Mapping[str, Fraction]) -> str:
    """Returns a number with six digits, rounded up; another text as it is."""
    try:
        return decimal_up(parse(text or "", dict(constants)), 6)
    except ExpressionError:
        return text or "nothing"


def scale_in_words(fitted: Fitted, origin: str) -> str:
    """Returns the sentence on what is spent of the budget, and the scale that was found."""
    main, most = fitted.limit.parameters[0]
    at = "".join(
        f" at {LIMITS[name]} = {chance(number(value))}"
        for name, value in fitted.limit.parameters[1:]
    )
    spent = number(fitted.spent) if fitted.exact else decimal_text(fitted.spent)
    scale = fitted.scale
    factor = number(scale) if scale.denominator < 100 else f"{float(scale):.6g}"
    end = "" if fitted.exact else ", within a few millionths of the largest scale"
    return f"{equation(main, spent)}{at}, of {equation(main, number(most))}{origin}: " + (
        f"losses of {plural(len(fitted.scaled), 'mechanism')} scaled by {factor}{end}"
        if fitted.scaled
        else "no other mechanism is scaled"
    )
