"""Numbers and expressions: exact values, and every other notation refused with a hint."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction as F

import pytest
from tables import tables

from dpcompose.core.numbers import expressions
from dpcompose.core.numbers.expressions import (
    Bounds,
    ExpressionError,
    Meter,
    bounds,
    not_short,
    number_hint,
    parse,
)

TABLES = tables(__file__)

NAMES = {"rho_total": F(293764, 114921), "state": F(1440, 4099), "_x1": F(1, 3)}


def refused(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *TABLES["values"],
        ("1e-400", F(1, 10**400)),
        ("1e1000", F(10**1000)),
        ("(" * 50 + "1" + ")" * 50, F(1)),
        ("-" * 999 + "1", F(-1)),
    ],
)
def test_values(text: str, value: str | F) -> None:
    assert parse(text, NAMES) == F(value)


@pytest.mark.parametrize(
    ("text", "message", "hint", "offset"),
    [
        *TABLES["refusals"],
        ("(" * 51 + "1" + ")" * 51, "nested more than 50 deep", None, 50),
        ("1" * 1001, "longer than 1000 characters", None, 0),
    ],
)
def test_refusals(text: str, message: str, hint: str | None, offset: int) -> None:
    error = refused(text)
    assert message in error.message
    assert error.offset == offset
    if hint is None:
        assert error.hint is None
    else:
        assert error.hint is not None
        assert hint in error.hint


@pytest.mark.parametrize(("text", "meant"), TABLES["other notations with one reading"])
def test_other_notations_with_one_reading(text: str, meant: str | None) -> None:
    try:
        parse(text, {})
    except ExpressionError as error:
        assert error.meant == meant
    else:
        assert meant is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        # values of mpmath, to 50 digits
        ("ln(3)", "1.0986122886681096913952452369225257046474905578227"),
        ("exp(-12)", "0.0000061442123533282097586823081788055323112239893148882"),
        ("sqrt(2)", "1.4142135623730950488016887242096980785696718753769"),
        ("1 - 2 * -ln(3) / 4", "1.5493061443340548456976226184612628523237452789114"),
        ("exp(ln(7))", "7"),
        ("-sqrt(2) / -sqrt(two)", "1"),
        ("1 / (1 - exp(1))", "-0.58197670686932642438500200510901155854686930107540"),
    ],
)
def test_functions_are_bounded_on_both_sides(text: str, value: str) -> None:
    found = bounds(text, {"two": Bounds(F(2), F(2))})
    assert found.low <= F(value) <= found.high
    assert 0 < found.high - found.low < F(1, 10**35)


@pytest.mark.parametrize(
    ("text", "value"), [("sqrt(9/4)", "3/2"), ("ln(1)", "0"), ("exp(2 - 2)", "1"), ("sqrt(0)", "0")]
)
def test_functions_with_rational_values_are_exact(text: str, value: str) -> None:
    assert parse(text, {}) == F(value)


@pytest.mark.parametrize("text", ["ln(3) - ln(3)", "ln(1 + 1e-130)", "2*exp(1)/exp(1) - 2"])
def test_a_bound_of_what_is_not_exact_is_no_short_decimal(text: str) -> None:
    found = bounds(text, {})
    for down, bound in ((False, found.high), (True, found.low)):
        moved = not_short(bound, down)
        assert len(str(Decimal(moved.numerator) / Decimal(moved.denominator))) > 20
        assert (moved <= bound) if down else (moved >= bound)
        assert abs(moved - bound) <= abs(bound) / 10**37


def test_a_bound_of_many_digits_stays_as_it_is() -> None:
    found = bounds("ln(3)", {})
    assert (not_short(found.low, True), not_short(found.high)) == (found.low, found.high)
    assert not_short(F(0)) == 0


def test_a_function_of_a_constant_keeps_its_bounds() -> None:
    once = bounds("ln(2)", {})
    twice = bounds("x - x", {"x": once})
    assert twice.low < 0 < twice.high


@pytest.mark.parametrize("word", sorted(expressions.RESERVED))
def test_reserved_words_are_no_constants(word: str) -> None:
    for each in (word, word.upper(), word.capitalize()):
        with pytest.raises(ExpressionError):
            parse(each, {each: F(1)})


def test_unknown_names_without_constants() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("x", {})
    assert caught.value.hint == "no constants are declared under `constants:`"


def test_long_lists_of_constants_are_cut() -> None:
    with pytest.raises(ExpressionError) as caught:
        parse("zzz", {f"c{i}": F(i) for i in range(100_000)})
    assert caught.value.hint is not None
    assert len(caught.value.hint) < 200


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (True, "write 1 or 0 if a number is meant"),
        (None, "write a number"),
        (["1"], "write one number, a fraction such as 104/4099, or an expression"),
        ("yes", "write 1 or 0 if a number is meant"),
        ("10%", "write `0.1`"),
        ("0.1", None),
    ],
)
def test_number_hint(value: object, hint: str | None) -> None:
    assert number_hint(value) == hint


def test_decimals_are_exact() -> None:
    rng = random.Random(3)
    for _ in range(2000):
        digits = str(rng.randrange(10 ** rng.randrange(1, 30)))
        text = digits + rng.choice(["", ".", f".{rng.randrange(10**9):09}"])
        text += rng.choice(["", f"e{rng.randrange(-300, 300)}", f"E+{rng.randrange(99):02}"])
        assert parse(text, {}) == F(Decimal(text))
        assert parse("-" + text, {}) == -F(Decimal(text))


def random_expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.2:
        return str(rng.choice([rng.randrange(1, 100), "state", "_x1", "0.25", "1e-3"]))
    left, right = (random_expression(rng, depth - 1) for _ in range(2))
    operator = rng.choice("+-*/")
    kind = rng.random()
    if kind < 0.4:
        return f"({left}{operator}{right})"
    if kind < 0.5:
        return f"-{left}"
    return f"{left} {operator} {right}"


def test_expressions_agree_with_python() -> None:
    rng = random.Random(29)
    names = {"F": F, **NAMES}
    for _ in range(500):
        text = random_expression(rng, 4)
        python = "".join(
            f"F('{part}')" if part[0].isdigit() else part for part in exact_tokens(text)
        )
        try:
            expected = eval(python, {"__builtins__": {}}, names)
        except ZeroDivisionError:
            assert "division by zero" in refused(text).message
        else:
            assert parse(text, NAMES) == expected


def exact_tokens(text: str) -> list[str]:
    return re.findall(r"[0-9][0-9.]*(?:e-[0-9]+)?|[a-z_0-9]+|\S", text)


def test_random_texts_are_parsed_or_refused() -> None:
    rng = random.Random(31)
    pieces = [*"0123456789.eE+-*/()_:,%x \t\n~^&\x00é−", "state", "_x1", "inf", "1e", "0x", "**"]
    for _ in range(20_000):
        text = "".join(rng.choices(pieces, k=rng.randrange(12)))
        try:
            assert isinstance(parse(text, NAMES), F)
        except ExpressionError as error:
            assert 0 <= error.offset <= len(text)
            assert error.message.isprintable()
            assert error.hint is None or error.hint.isprintable()


@pytest.mark.parametrize(
    "text", ["1e99999999", "1e-99999999", "1e" + "9" * 900, "9" * 1000, "1:1" * 300, "-(" * 450]
)
def test_texts_made_to_take_long(text: str) -> None:
    with suppress(ExpressionError):
        parse(text, {})


def test_a_meter_bounds_the_work_of_all_expressions() -> None:
    names = {"a": F(2**19_000 + 1, 3**11_000)}
    text = "+".join(["a"] * 500)
    meter = Meter(Meter().work // 10)
    with pytest.raises(ExpressionError, match="too much work"):
        for _ in range(10_000):
            parse(text, names, meter)
    parse("0.1", {}, meter)  # plain numbers are free


def test_a_meter_bounds_the_search_for_constants() -> None:
    names = {f"constant_{i}": F(i) for i in range(500)}
    meter = Meter(hints=3)
    hints = []
    for _ in range(5):
        with pytest.raises(ExpressionError) as caught:
            parse("constant_x", names, meter)
        hints.append("did you mean" in (caught.value.hint or ""))
    assert hints == [True, True, True, False, False]
