"""The renderers: golden outputs of hand-made reports, and the laws that every output obeys."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal

import pytest
from conftest import Golden
from handmade import (
    AT_BILLIONTH,
    AT_MILLIONTH,
    AT_ONE,
    AT_ZERO,
    CHOSEN,
    HOSTILE,
    INVALID,
    PROFILE,
    REPORTS,
    RIDES,
    limit,
    pure,
    route,
)
from hypothesis import given
from hypothesis import strategies as st
from tables import tables

import dpcompose
from dpcompose.commands.analysis import Tally
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Theorem
from dpcompose.errors import printable
from dpcompose.errors import width as cells
from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.help.pages import theorem_page
from dpcompose.render.json import result
from dpcompose.render.layout import Style, transliterated
from dpcompose.render.parts.console import TextTable, literal, printed
from dpcompose.render.text import quiet
from dpcompose.render.words.headlines import judged, ranges
from dpcompose.render.words.numbers import (
    amount_text,
    amounts_text,
    bound_text,
    excess_over,
    found_text,
    given_text,
    left_text,
    number_down,
    number_up,
    percent,
)
from dpcompose.render.words.problems import counted
from dpcompose.report import At, Bound, LeftOut, Report, Verdict

TABLES = tables(__file__)

ESCAPE = "\x1b"
POSITIVE = st.fractions(min_value=0, max_value=10**6, max_denominator=10**9)


def shown(form: str, *reports: Report, style: Style | None = None) -> str:
    render = renderer("text", True) if form == "check" else renderer(form)
    return "".join(render(reports, style or Style()))


def uncoloured(text: str) -> str:
    """A text without colours, nor the blanks at ends of lines that colours would hide."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "".join(f"{line.rstrip()}\n" for line in plain.splitlines())


def flat(text: str) -> str:
    """A text without the breaks and lines of its layout."""
    return " ".join(text.replace("│", " ").split())


# --- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REPORTS)
def test_text_is_golden(name: str, golden: Golden) -> None:
    golden(f"handmade/{name}.text.txt", shown("text", REPORTS[name]))
    assert shown("check", REPORTS[name]) == shown("text", REPORTS[name])


@pytest.mark.parametrize("detail", ["brief", "full"])
def test_more_and_less_of_it_are_golden(detail: Literal["brief", "full"], golden: Golden) -> None:
    text = shown("text", RIDES, style=Style(detail=detail))
    golden(f"handmade/rides.{detail}.txt", text)


@pytest.mark.parametrize("name", REPORTS)
def test_json_is_golden(name: str, golden: Golden) -> None:
    golden(f"handmade/{name}.json", json.dumps(result(REPORTS[name]), indent=2) + "\n")


def test_all_reports_together_are_golden(golden: Golden) -> None:
    golden("handmade/all.txt", shown("text", *REPORTS.values()))
    golden("handmade/all.check.txt", shown("check", *REPORTS.values()))
    golden("handmade/all.quiet.txt", "".join(quiet.render(REPORTS.values(), Style(), True)))


# --- text ----------------------------------------------------------------------------------------


def test_brief_is_the_panel_alone_and_full_says_it_in_sentences_too() -> None:
    usual, brief, full = (
        shown("text", RIDES, style=Style(detail=detail)) for detail in ("usual", "brief", "full")
    )
    assert usual.startswith(brief) and len(brief.splitlines()) == 8
    assert "In sentences" in full and "as stated → ε = 7/10 (0.7) [line 14]" in flat(full)
    assert "In sentences" not in usual


@pytest.mark.parametrize("form", ["text", "check"])
def test_no_escape_codes_without_colour(form: str) -> None:
    assert ESCAPE not in shown(form, *REPORTS.values())


@pytest.mark.parametrize("form", ["text", "check"])
def test_colour_changes_nothing_but_colour(form: str) -> None:
    coloured = shown(form, *REPORTS.values(), style=Style(colour=True))
    assert ESCAPE in coloured
    assert uncoloured(coloured) == shown(form, *REPORTS.values())


@pytest.mark.parametrize("form", ["text", "check"])
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_poor_encodings_can_carry_everything(form: str, encoding: str) -> None:
    style = Style(encoding=encoding)
    shown(form, *REPORTS.values(), style=style).encode(encoding)
    assert "eps = 17/10 (1.7) pure DP" in shown("text", RIDES, style=style)


def test_names_are_text_not_markup_and_control_characters_are_visible() -> None:
    text = shown("text", HOSTILE)
    assert "[red]not markup[/red]" in text
    assert all(printable(line) == line for line in text.splitlines())


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_prose_is_wrapped_and_machine_lines_are_not(width: int) -> None:
    lines = shown("text", RIDES, style=Style(width=width)).splitlines()
    long = [line for line in lines if cells(line) > width]
    assert all(line.startswith("specs/rides.yaml:") or " | " in line for line in long[:-1])


def test_a_report_without_a_budget_says_nothing_of_one() -> None:
    assert "budget" not in shown("check", replace(RIDES, verdict=None))


def test_long_lists_are_cut_on_a_terminal_but_not_in_json() -> None:
    shares = tuple(RIDES.shares[0]._replace(mechanism=f"count {n}") for n in range(100))
    alike = [RIDES.tree[2]._replace(number=n, name=f"count {n}") for n in range(3, 103)]
    unlike = [node._replace(says=f"{node.number}-DP") for node in alike]
    many = replace(RIDES, shares=shares, tree=(*RIDES.tree[:2], *alike, RIDES.tree[-1]))
    assert "97 more, each as 5" in shown("text", many)
    assert "97 more" in flat(shown("text", many).partition("each mechanism costs")[2])
    many = replace(many, tree=(*RIDES.tree[:2], *unlike, RIDES.tree[-1]))
    assert "90 more mechanisms; --full lists them" in flat(shown("text", many))
    assert len(shown("text", many).splitlines()) <= 55
    full = shown("text", many, style=Style(detail="full"))
    assert full.count("count 57") == 2 and "--full" not in full
    assert len(result(many)["shares"]) == 100


# --- quiet ---------------------------------------------------------------------------------------


def test_quiet_names_the_files_where_there_are_several() -> None:
    assert list(quiet.render([RIDES], Style(), True)) == ["specs/rides.yaml: epsilon=1.7\n"]
    assert list(quiet.render([RIDES], Style(), False)) == ["epsilon=1.7\n"]


# --- json ----------------------------------------------------------------------------------------

KEYS = {
    "file", "title", "status", "headline", "protect", "guarantee", "at_delta",
    "worst_case", "proof", "alternatives", "findings", "budget", "assumptions",
    "reasons", "shares",
    "advice",
}  # fmt: skip


def strictly_loaded(text: str) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_is_one_document_and_jsonl_one_result_a_line() -> None:
    document = strictly_loaded(shown("json", *REPORTS.values()))
    assert list(document) == ["dpcompose", "schema_version", "results"]
    assert document["dpcompose"] == dpcompose.__version__
    assert document["schema_version"] == 2
    lines = [strictly_loaded(each) for each in shown("jsonl", *REPORTS.values()).splitlines()]
    assert [line.pop("schema_version") for line in lines] == [2] * len(REPORTS)
    assert lines == document["results"]
    assert all(set(each) == KEYS for each in lines)


def test_json_of_no_files_is_still_a_document() -> None:
    assert strictly_loaded(shown("json"))["results"] == []
    assert shown("jsonl") == ""


def test_json_is_ascii_and_survives_lone_surrogates() -> None:
    text = shown("json", HOSTILE)
    assert text.isascii()
    assert strictly_loaded(text)["results"][0]["title"] == HOSTILE.title


@pytest.mark.parametrize(
    ("spent", "limit", "words"),
    [
        ("2.0000000000000000001", "2", "ε = 2.0000000000000000001 of ε = 2 spent, 1e-19 too much"),
        ("2", "1.9999999999", "ε = 2 of ε = 1.9999999999 spent, 1e-10 too much"),
        ("2.5", "2", "ε = 5/2 (2.5) of ε = 2 spent, 0.5 too much"),
        (f"{2 + Fraction(1, 10**90)}", "2", "ε ≤ 2.00001 of ε = 2 spent, 1e-90 too much"),
    ],
)
def test_digits_show_what_is_too_much(spent: str, limit: str, words: str) -> None:
    text = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\nmechanisms:\n"
    text += (
        f"  - {{name: q, reads: t, notion: pure, epsilon: {spent}}}\nbudget: {{epsilon: {limit}}}\n"
    )
    report = analyze(text)
    assert report.verdict is not None
    assert judged(report, report.verdict)[1].startswith(f"{words} (")


def test_a_budget_that_is_spent_and_none() -> None:
    spent_all = replace(RIDES, verdict=Verdict(limit(epsilon="17/10"), True, Fraction(0)))
    assert result(spent_all)["budget"]["slack"] == 0
    assert result(replace(RIDES, verdict=None))["budget"] is None


def test_a_number_beyond_every_double_is_null_but_exact() -> None:
    huge = replace(RIDES, bound=pure("1e400"))
    guarantee = result(huge)["guarantee"]
    assert guarantee["epsilon"] is None
    assert Fraction(guarantee["exact"]["epsilon"]) == 10**400
    assert "1e400" in shown("text", huge).splitlines()[1]


def test_a_fraction_of_thousands_of_digits_is_left_out() -> None:
    odd = Fraction(3**20000, 2**32000)
    long = replace(RIDES, bound=Bound(Notion.PURE, odd))
    assert "exact" in result(long)["guarantee"]
    assert shown("text", long).splitlines()[1].count("ε ≤") <= 1
    shown("json", long)
    quiet.line(long)


# --- at a chosen δ or ε --------------------------------------------------------------------------


@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("form", ["text", "json"])
def test_numbers_at_a_choice_are_golden(name: str, form: str, golden: Golden) -> None:
    report = CHOSEN[name]
    if form == "json":
        golden(f"handmade/chosen/{name}.json", json.dumps(result(report), indent=2) + "\n")
    else:
        golden(f"handmade/chosen/{name}.{form}.txt", shown(form, report))
        assert shown("check", report) == shown(form, report)


def test_the_number_that_was_asked_for_leads() -> None:
    text, before = shown("text", CHOSEN["one"]), shown("text", RIDES)
    assert before[before.index("Why") : before.index("Compared")] in text


@pytest.mark.parametrize("width", [40, 80, 100])
@pytest.mark.parametrize("name", CHOSEN)
def test_choices_keep_the_width(name: str, width: int) -> None:
    report = replace(CHOSEN[name], findings=())
    for form in ("text", "check"):
        lines = shown(form, report, style=Style(width=width)).splitlines()
        assert all(cells(line) <= width for line in lines[1:])


@pytest.mark.parametrize("name", CHOSEN)
def test_choices_need_neither_colour_nor_greek(name: str) -> None:
    for form in ("text", "check"):
        plain = shown(form, CHOSEN[name])
        coloured = shown(form, CHOSEN[name], style=Style(colour=True))
        assert ESCAPE not in plain
        assert uncoloured(coloured) == plain
        assert shown(form, CHOSEN[name], style=Style(encoding="ascii")).isascii()


def test_hostile_words_of_a_route_stay_words() -> None:
    nasty = "[bold]x[/bold]\x1b[31m\n\u202e" + "long " * 40
    others = (route(nasty, "7", nasty),)
    at = AT_BILLIONTH._replace(
        rule=nasty, says=nasty, others=others, worst=(nasty,), chain=(nasty,)
    )
    for found in ((at,), (at, at)):
        report = replace(PROFILE, at_delta=found, at_epsilon=(AT_ONE._replace(rule=nasty),))
        spent = replace(report, verdict=Verdict(limit(epsilon="1"), False, Fraction(-6), at=at))
        for text in (shown("text", report), shown("check", spent)):
            assert all(printable(line) == line for line in text.splitlines())
        strictly_loaded(shown("json", spent))


def test_long_lists_of_routes_and_steps_are_cut_but_not_in_json() -> None:
    routes = tuple(route(f"route {number}", "7") for number in range(100))
    at = AT_MILLIONTH._replace(others=routes, chain=("a step",) * 100)
    report = replace(RIDES, at_delta=(at,))
    text = shown("text", report)
    assert "97 more routes: --full lists them" in flat(text)
    assert "route 57" in shown("text", report, style=Style(detail="full"))
    assert len(text.splitlines()) < len(shown("text", RIDES).splitlines()) + 30
    entry = result(report)["at_delta"][0]
    assert len(entry["others"]) == len(entry["steps"]) == 100


def test_the_winner_is_no_runner_up() -> None:
    at = AT_MILLIONTH._replace(others=(route("optimal composition", "4.8"), *AT_MILLIONTH.others))
    assert shown("text", replace(RIDES, at_delta=(at,))) == shown("text", CHOSEN["one"])


def test_a_profile_has_its_first_number_in_the_panel() -> None:
    first = flat(shown("text", PROFILE).splitlines()[1])
    assert first == "bound ε ≤ 4.77457 at δ = 1e-6"
    later = replace(PROFILE, at_delta=(AT_ZERO, AT_BILLIONTH))
    assert "bound ε ≤ 6.2 at δ = 1e-9" in flat(shown("text", later).splitlines()[1])
    assert "no finite guarantee" not in shown("text", replace(PROFILE, at_delta=()))
    assert result(PROFILE)["guarantee"] == {"notion": "profile"}


def test_a_profile_is_counted_as_certified() -> None:
    tally = Tally(False)
    list(tally.counted([RIDES, PROFILE]))
    assert tally.line() == "2 specs: 1 within budget, 1 certified"
    list(tally.counted([counted(LeftOut(unread=1, skipped=3), False)]))
    assert tally.line() == (
        "2 specs: 1 within budget, 1 certified; 1 file without a result; 3 other YAML files skipped"
    )


@pytest.mark.slow
@given(POSITIVE, POSITIVE, POSITIVE)
def test_no_number_at_a_choice_promises_more_than_was_certified(
    given_: Fraction, value: Fraction, lower: Fraction
) -> None:
    at = At("delta", given_, value, lower, "rule", "")
    (entry,) = result(replace(RIDES, at_delta=(at,)))["at_delta"]
    assert Fraction(repr(entry["epsilon"])) >= value
    assert Fraction(repr(entry["epsilon_lower"])) <= lower
    assert Fraction(repr(entry["delta"])) >= given_
    assert abs(Fraction(entry["delta"]) - given_) <= given_ / 10**9
    assert Fraction(found_text(at).split()[-1]) >= value
    assert Fraction(given_text(at).split()[-1]) >= given_


@pytest.mark.parametrize(("value", "least", "says"), TABLES["how much larger reads well"])
def test_how_much_larger_reads_well(value: str, least: str, says: str) -> None:
    assert excess_over(Fraction(value), Fraction(least)) == says


def test_quiet_has_one_number_for_each_one_asked_for() -> None:
    several, trap = CHOSEN["several"], REPORTS["trap"]
    billionth, other, one = Fraction("1e-9"), Fraction("1e-3"), Fraction(1)
    assert quiet.line(several) == "epsilon=6.2 delta=1e-9", "what a spec asks for leads"
    assert quiet.line(several, [billionth]) == "epsilon=6.2 delta=1e-9"
    assert quiet.line(several, [billionth, billionth]).count("epsilon=6.2 delta=1e-9") == 2
    assert quiet.line(several, [Fraction(0), billionth], [one]) == (
        "epsilon=inf delta=0 epsilon=6.2 delta=1e-9 delta=3.14159265e-7 at_epsilon=1"
    )
    assert quiet.line(several, [other], [Fraction(2)]) == (
        "epsilon=inf delta=0.001 delta=1 at_epsilon=2"
    )
    assert quiet.line(trap, [other, billionth], [one]) == (
        "epsilon=inf delta=0.001 epsilon=inf delta=1e-9 delta=1 at_epsilon=1"
    )
    assert quiet.line(INVALID, [billionth]) == "invalid"
    assert quiet.line(PROFILE) == "epsilon=4.77456758811001 delta=1e-6"
    assert quiet.line(CHOSEN["profile-nowhere"]) == "inf"


# --- numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "text"), TABLES["amounts read well"])
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
    assert (
        Fraction(left_text(value))
        <= value
        <= Fraction(quiet.line(replaced(value)).removeprefix("epsilon="))
    )
    printed = amount_text(value).rpartition("≤ ")[2].partition(" (")[0].rstrip(")")
    assert Fraction(printed) >= value


def replaced(value: Fraction) -> Report:
    return replace(RIDES, bound=Bound(Notion.PURE, value))


# --- layout --------------------------------------------------------------------------------------


@given(st.text(max_size=200), st.integers(40, 100))
def test_literal_text_loses_no_word_and_keeps_the_width(text: str, width: int) -> None:
    style = Style(width=width)
    lines = printed(literal(text, style), style).splitlines()
    assert "".join(lines).split() == printable(text).split() or "".join(
        "".join(lines).split()
    ) == "".join(printable(text).split())
    assert all(cells(line) <= width for line in lines)


@given(st.text(), st.sampled_from(["ascii", "latin-1", "cp1252", "utf-8"]))
def test_any_text_can_be_carried_by_any_encoding(text: str, encoding: str) -> None:
    transliterated(text, encoding).encode(encoding)


def test_wide_characters_are_aligned() -> None:
    text = printed(TextTable([("病院", "1"), ("a", "2")], Style()), Style())
    assert text == "病院  1\na     2\n"


def test_a_grid_of_nothing_is_nothing() -> None:
    assert printed(TextTable([], Style()), Style()).strip() == ""


def test_runs_of_numbers_are_joined() -> None:
    assert ranges([3, 1, 2, 9, 9]) == "1-3, 9"
    assert ranges([]) == ""


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
    golden("handmade/explain.txt", printed(theorem_page(entry, Style()), Style()))


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("notion: pure, epsilon: 1", "whether one row is in the data: a guess from 1 in 2 is right "
         "at most 73.2 % of the time"),  # e/(1 + e) = 0.73106
        ("notion: approx, epsilon: 1, delta: 0.01", "at most 73.4 % of the time"),
        ("notion: pure, epsilon: 8", "may be right nearly always"),
        ("notion: zcdp, rho: 1", "at a δ of your choice: --delta 1e-6"),
    ],
)  # fmt: skip
def test_the_panel_says_in_words_what_a_guess_gains(says: str, words: str) -> None:
    head = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\nmechanisms: "
    report = dpcompose.analyze(f"{head}[{{name: m, reads: t, {says}}}]", "s")
    assert words in flat(shown("text", report, style=Style(width=120)))


def test_shares_of_any_size_are_told() -> None:
    told = {Fraction(0): "0 %", Fraction(888, 1000): "89 %", Fraction(1417, 100): "1417 %"}
    assert {each: percent(each) for each in told} == told
    assert percent(Fraction(10) ** 5000) == "1e5002 %"  # whose digits Python does not write out


@pytest.mark.parametrize(
    ("guarantee", "delta", "says"),
    [
        # Less than 1 by 1.4e-30, and than 1e-80 by 2e-90.
        ("notion: pure, epsilon: 1", "1e-30", "ε ≤ 1 at δ = 1e-30"),
        ("notion: pure, epsilon: 1e-80", "1e-90", "ε ≤ 1e-80 at δ = 1e-90"),
        ("notion: pure, epsilon: ln(1 + 1e-130)", "1e-100", "ε ≤ 1.00001e-80 at δ = 1e-100"),
        ("notion: approx, epsilon: 1, delta: 1e-6", "1e-6", "ε = 1 at δ = 1e-6"),
        ("notion: pure, epsilon: 1e-8", "1e-6", "ε = 0 at δ = 1e-6"),
    ],
)
def test_what_is_rounded_up_is_no_equation(guarantee: str, delta: str, says: str) -> None:
    report = dpcompose.analyze(
        "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\n"
        f"mechanisms: [{{name: m, reads: t, {guarantee}}}]\nreport: {{delta: {delta}}}\n"
    )
    assert f"bound {says}" in flat(shown("text", report).splitlines()[1])
    least = report.at_delta[0].lower
    assert least is not None and (least == report.at_delta[0].value) is (
        "=" in says.split(" at ")[0]
    )
