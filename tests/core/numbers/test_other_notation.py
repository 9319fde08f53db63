"""Numbers as they are written and told, and one order for values of any kinds."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.expressions import ExpressionError, literal
from dpcompose.core.numbers.other_notation import cut, other_notation, quote, reserved
from dpcompose.curves.order import rank
from dpcompose.curves.rounding.words import count_text, listing, number, plural

F = Fraction


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (F(1, 10), "0.1"),
        (F(1, 3), "1/3"),
        (F(1, 30_001), "0.00003333223"),  # 0.0000333322222…
        (F(10**100), "1e100"),
        (F(2**70, 3), "3.935306e20"),  # 393530540239137101141.3…
    ],
)
def test_a_fraction_in_a_sentence(value: Fraction, said: str) -> None:
    assert number(value) == said


def test_counts_in_a_sentence() -> None:
    assert [plural(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert count_text(2**64 - 1) == "18446744073709551615" and count_text(2**64) == "1.845e19"


def test_lists_in_a_sentence() -> None:
    assert [listing("abc"[:n]) for n in range(4)] == ["", "`a`", "`a` and `b`", "`a`, `b` and `c`"]
    assert listing("abcd", 2) == "`a`, `b` and 2 more"


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.125", F(1, 8)), (".5", F(1, 2)), ("5.", F(5)), ("12e-3", F(3, 250)), ("1.5E3", F(1500))],
)
def test_a_decimal_is_exact(text: str, value: Fraction) -> None:
    assert literal(text) == value


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("010", "`010` has a leading zero, which YAML 1.1 takes for octal",
         "write 10, or 8 if that is meant"),
        ("007", "`007` has a leading zero, which YAML 1.1 takes for octal", "write 7"),
        ("00.5", "`00.5` has a leading zero", "write 0.5"),
        ("1e1001", "the exponent 1001 is beyond 1000", "exponents go from -1000 to 1000"),
    ],
)  # fmt: skip
def test_a_decimal_that_is_refused(text: str, message: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as fault:
        literal(text)
    assert (fault.value.message, fault.value.hint) == (message, hint)


def test_texts_are_shown_short_and_harmless() -> None:
    assert cut("9" * 40) == "9" * 40 and cut("9" * 41) == "9" * 37 + "..."
    assert quote("a\x1b[1m") == "`a\\x1b[1m`"


@pytest.mark.parametrize(
    ("start", "word", "meant"),
    [
        ("0", "0x1F", ("`0x1F` is a hexadecimal number", "write 31")),
        ("0", "0b102", ("`0b102` is a binary number", None)),
        ("1", "1_000", ("`1_000` has underscores", "write 1000")),
        ("1", "1:30:00", ("`1:30:00` is a number to base 60 in YAML 1.1",
                          "write 5400 if that is meant, or a fraction with `/`")),
        ("2.5", "2.5%", ("`2.5%` is a percentage", "write 0.025")),
        ("5", "5%", ("`5%` is a percentage", "write 0.05")),
        ("1", "1,234", ("`1,234` has a comma", "write 1234, or a decimal point if that is meant")),
        ("1", "1,5", ("`1,5` has a comma", "write 1.5")),
        ("1", "1e", ("the exponent of `1e` has no digits", "write for example 1e-6")),
        ("1", "1kg", None),
    ],
)  # fmt: skip
def test_other_notations_are_understood(
    start: str, word: str, meant: tuple[str, str | None] | None
) -> None:
    assert other_notation(start, word) == meant


def test_words_that_are_no_names() -> None:
    assert reserved(".Inf") == ("an infinite value is no guarantee", "write a finite number")
    assert reserved("YES") == ("`YES` is a boolean, not a number",
                               "write 1 or 0 if a number is meant")  # fmt: skip
    assert reserved("scale") is None


def test_values_of_any_kinds_have_one_order() -> None:
    budget = Budget((("epsilon", F(1)),))
    ordered = [None, F(1, 2), 2, "a", Notion.PURE, ("b",), ("b", 1), budget]
    assert sorted([*ordered[1::2], *ordered[::2]], key=rank) == ordered
    assert rank(F(2)) == rank(2) and rank(Budget(())) < rank(budget)
