"""The renderers: golden outputs of hand-made reports, and the laws that every output obeys."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from conftest import Golden
from handmade import HOSTILE, INVALID, PURE_AGAINST_RHO, REPORTS, RIDES, limit, pure
from hypothesis import given
from hypothesis import strategies as st

import dpcompose
from dpcompose.core.guarantee import Notion
from dpcompose.core.theorem import Example, Hypothesis, Theorem
from dpcompose.errors import printable
from dpcompose.errors import width as cells
from dpcompose.render import RENDERERS, quiet
from dpcompose.render.json import result
from dpcompose.render.layout import Style, columns, transliterated, wrapped
from dpcompose.render.numbers import (
    amount_text,
    amounts_text,
    bound_text,
    left_text,
    number_down,
    number_up,
)
from dpcompose.render.terminal import listed
from dpcompose.render.theorem import explained
from dpcompose.report import Bound, Report, Verdict

ESCAPE = "\x1b"
POSITIVE = st.fractions(min_value=0, max_value=10**6, max_denominator=10**9)


def shown(form: str, *reports: Report, style: Style | None = None) -> str:
    return "".join(RENDERERS[form](reports, style or Style()))


# --- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("form", ["text", "check"])
def test_text_is_golden(name: str, form: str, golden: Golden) -> None:
    golden(f"handmade/{name}.{form}.txt", shown(form, REPORTS[name]))


@pytest.mark.parametrize("name", REPORTS)
def test_json_is_golden(name: str, golden: Golden) -> None:
    golden(f"handmade/{name}.json", json.dumps(result(REPORTS[name]), indent=2) + "\n")


def test_all_reports_together_are_golden(golden: Golden) -> None:
    golden("handmade/all.txt", shown("text", *REPORTS.values()))
    golden("handmade/all.check.txt", shown("check", *REPORTS.values()))
    golden("handmade/all.quiet.txt", "".join(quiet.render(REPORTS.values(), Style(), True)))


# --- text ----------------------------------------------------------------------------------------


def test_first_line_says_bound_notion_relation_and_verdict() -> None:
    first = shown("text", RIDES).splitlines()[0]
    assert first == (
        "specs/rides.yaml: ε = 17/10 (1.7) pure DP, bounded neighbours  [within budget 2, 0.3 left]"
    )


@pytest.mark.parametrize("form", ["text", "check"])
def test_no_escape_codes_without_colour(form: str) -> None:
    assert ESCAPE not in shown(form, *REPORTS.values())


@pytest.mark.parametrize("form", ["text", "check"])
def test_colour_changes_nothing_but_colour(form: str) -> None:
    coloured = shown(form, *REPORTS.values(), style=Style(colour=True))
    assert ESCAPE in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(form, *REPORTS.values())


@pytest.mark.parametrize("form", ["text", "check"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_poor_encodings_can_carry_everything(form: str, encoding: str) -> None:
    style = Style(encoding=encoding)
    shown(form, *REPORTS.values(), style=style).encode(encoding)
    assert "eps = 17/10 (1.7) pure DP" in shown("text", RIDES, style=style)


def test_names_are_text_not_markup_and_control_characters_are_visible() -> None:
    text = shown("text", HOSTILE)
    assert "[red]not markup[/red]" in text
    assert r"we\x1b[31mird \udc80.yaml" in text
    assert r"\u202e" in text
    assert all(printable(line) == line for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_prose_is_wrapped_and_machine_lines_are_not(width: int) -> None:
    lines = shown("text", RIDES, style=Style(width=width)).splitlines()
    long = [line for line in lines if cells(line) > width]
    assert all(line.startswith("specs/rides.yaml:") or " | " in line for line in long[:-1])


def test_an_invalid_spec_shows_its_faults_in_the_grammar_of_compilers() -> None:
    text = shown("text", INVALID)
    assert "bad.yaml:2:3: unknown key `epsilom` [DPC101]\n" in text
    assert text.endswith("bad.yaml: invalid spec, 2 errors\n")
    assert text == shown("check", INVALID)


def test_what_cannot_be_compared_says_so() -> None:
    assert "[not comparable with budget ρ = 1]" in shown("text", PURE_AGAINST_RHO)
    assert "give an ε and a δ" in shown("check", PURE_AGAINST_RHO)


def test_a_report_without_a_budget_has_one_line_in_a_ledger() -> None:
    bare = replace(RIDES, verdict=None)
    assert shown("check", bare) == "specs/rides.yaml: no budget to check against\n"
    assert "[" not in shown("text", bare).splitlines()[0]


def test_long_lists_are_cut_on_a_terminal_but_not_in_json() -> None:
    assert RIDES.worst is not None
    many = replace(
        RIDES,
        worst=replace(RIDES.worst, touches=RIDES.worst.touches * 50),
        shares=RIDES.shares * 50,
    )
    assert "… and 88 more" in shown("text", many)
    assert "… and 60 more" in shown("check", many)
    assert len(result(many)["worst_case"]["mechanisms"]) == len(result(many)["shares"]) == 100


# --- quiet ---------------------------------------------------------------------------------------


def test_quiet_prints_what_scripts_want() -> None:
    lines = {name: quiet.line(report) for name, report in REPORTS.items()}
    assert lines == {
        "rides": "1.7",
        "trap": "inf",
        "hostile": "6 0.00006",
        "census": "2.55622558105134",
        "gauss": "0.7071067812",
        "mixed": "1 1e-6",
        "invalid": "invalid",
    }


def test_quiet_names_the_files_where_there_are_several() -> None:
    assert list(quiet.render([RIDES], Style(), True)) == ["specs/rides.yaml: 1.7\n"]
    assert list(quiet.render([RIDES], Style(), False)) == ["1.7\n"]


# --- json ----------------------------------------------------------------------------------------

KEYS = {
    "file", "title", "status", "protect", "guarantee", "at_delta", "theorem", "worst_case",
    "derivation", "alternatives", "findings", "budget", "assumptions", "reasons", "shares",
}  # fmt: skip


def strictly_loaded(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_is_one_document_and_jsonl_one_result_a_line() -> None:
    document = strictly_loaded(shown("json", *REPORTS.values()))
    assert list(document) == ["dpcompose", "schema_version", "results"]
    assert document["dpcompose"] == dpcompose.__version__
    assert document["schema_version"] == 1
    lines = [strictly_loaded(each) for each in shown("jsonl", *REPORTS.values()).splitlines()]
    assert [line.pop("schema_version") for line in lines] == [1] * len(REPORTS)
    assert lines == document["results"]
    assert all(set(each) == KEYS for each in lines)


def test_json_of_no_files_is_still_a_document() -> None:
    assert strictly_loaded(shown("json"))["results"] == []
    assert shown("jsonl") == ""


def test_json_is_ascii_and_survives_lone_surrogates() -> None:
    text = shown("json", HOSTILE)
    assert text.isascii()
    assert strictly_loaded(text)["results"][0]["title"] == HOSTILE.title


def test_guarantee_is_as_the_contract_prints_it() -> None:
    assert result(RIDES)["guarantee"] == {
        "notion": "pure",
        "epsilon": 1.7,
        "exact": {"epsilon": "17/10"},
    }
    assert result(HOSTILE)["guarantee"] == {
        "notion": "approx",
        "epsilon": 6.0,
        "delta": 6e-05,
        "exact": {"epsilon": "6", "delta": "3/50000"},
    }
    assert result(REPORTS["gauss"])["guarantee"] == {
        "notion": "gdp",
        "mu": 0.7071067812,
        "exact": {},
    }
    assert [result(REPORTS[name])["guarantee"] for name in ("trap", "invalid")] == [None, None]


def test_budget_is_as_the_contract_prints_it() -> None:
    budget = result(RIDES)["budget"]
    assert budget["limit"] == {"epsilon": 2.0}
    assert (budget["ok"], budget["slack"]) == (True, 0.3)
    assert budget["exact"] == {"epsilon": "2", "slack": "3/10"}
    spent_all = replace(RIDES, verdict=Verdict(limit(epsilon="17/10"), True, Fraction(0)))
    assert result(spent_all)["budget"]["slack"] == 0
    converted = result(REPORTS["gauss"])["budget"]
    assert "slack" not in converted["exact"]
    assert result(replace(RIDES, verdict=None))["budget"] is None


def test_worst_case_names_blocks_and_mechanisms() -> None:
    text = json.dumps(result(RIDES)["worst_case"])
    assert all(name in text for name in ("south", "east", "count south", "count east"))


def test_a_number_beyond_every_double_is_null_but_exact() -> None:
    huge = replace(RIDES, bound=pure("1e400"))
    guarantee = result(huge)["guarantee"]
    assert guarantee["epsilon"] is None
    assert Fraction(guarantee["exact"]["epsilon"]) == 10**400
    assert "1e400" in shown("text", huge).splitlines()[0]


def test_a_fraction_of_thousands_of_digits_is_left_out() -> None:
    odd = Fraction(3**20000, 2**32000)
    long = replace(RIDES, bound=Bound(Notion.PURE, odd))
    assert "exact" in result(long)["guarantee"]
    assert shown("text", long).splitlines()[0].count("ε ≤") <= 1
    shown("json", long)
    quiet.line(long)


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("0", "0"),
        ("2", "2"),
        ("17/10", "17/10 (1.7)"),
        ("7/10", "7/10 (0.7)"),
        ("1/3", "1/3 (≤ 0.333334)"),
        ("1e-6", "1e-6"),
        ("3/50000", "0.00006"),
        ("293764/114921", "293764/114921 (≤ 2.55623)"),
        ("12345678901234567/98765432109876543210", "≤ 0.000125"),
        ("1e30", "1e30"),
    ],
)
def test_amounts_read_well(value: str, text: str) -> None:
    assert amount_text(Fraction(value)) == text


def test_a_rounded_bound_says_at_most() -> None:
    rounded = Bound(Notion.APPROX, Fraction(1), Fraction(1, 3 * 10**6), delta_exact=False)
    assert bound_text(rounded) == "ε = 1, δ ≤ 3.33334e-7"
    assert amounts_text(rounded) == "≤ (1, 3.33334e-7)"


@given(POSITIVE)
def test_no_printed_number_promises_more_than_was_certified(value: Fraction) -> None:
    up, down = number_up(value), number_down(value)
    assert up is not None and down is not None
    assert Fraction(repr(down)) <= value <= Fraction(repr(up))
    assert Fraction(repr(up)) <= value * (1 + Fraction(1, 10**15)) + Fraction(1, 10**300)
    assert Fraction(left_text(value)) <= value <= Fraction(quiet.line(replaced(value)))
    printed = amount_text(value).rpartition("≤ ")[2].partition(" (")[0].rstrip(")")
    assert Fraction(printed) >= value


def replaced(value: Fraction) -> Report:
    return replace(RIDES, bound=Bound(Notion.PURE, value))


# --- layout --------------------------------------------------------------------------------------


@given(st.text(max_size=200), st.integers(20, 100))
def test_wrapping_loses_no_word_and_keeps_the_width(text: str, width: int) -> None:
    style = Style(width=width)
    lines = wrapped(text, style, "  - ")
    assert " ".join(lines).split() == ["-", *printable(text).split()]
    assert all(cells(line) <= width or len(line.split()) <= 2 for line in lines)


@given(st.text(), st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8"]))
def test_any_text_can_be_carried_by_any_encoding(text: str, encoding: str) -> None:
    transliterated(text, encoding).encode(encoding)


def test_wide_characters_are_aligned() -> None:
    lines = columns([("病院", "1"), ("a", "2")], Style())
    assert lines == ["  病院  1", "  a     2"]


def test_columns_of_nothing_are_nothing() -> None:
    assert columns([], Style()) == []
    assert columns([("", "only")], Style()) == ["  only"]


def test_runs_of_numbers_are_joined() -> None:
    assert listed([3, 1, 2, 9, 9]) == "1-3, 9"
    assert listed([]) == ""


# --- theorems ------------------------------------------------------------------------------------


def test_an_entry_is_explained_in_full(golden: Golden) -> None:
    entry = Theorem(
        id="X.1",
        title="Composition of things [bold]",
        source="GMPS24",
        place="Theorem X.1",
        statement="If ε is so,\n    it is so.\n\n    And more.",
        formula="ε = Σ ε_i",
        hypotheses=(
            Hypothesis("disjoint", "the blocks share no row", "declared"),
            Hypothesis("bounded", "neighbours differ in one row"),
        ),
        bound=lambda: None,
        example=Example((1, 2), 3, "1 and 2 give 3."),
        spec="specs/rides.yaml",
        departs="It is printed the other way round.",
        specialises=("X.0",),
    )
    golden("handmade/explain.txt", explained(entry, Style()))
