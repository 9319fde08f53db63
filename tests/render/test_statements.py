"""Statements, labels and badges: the headline's number, nothing where there is none, any name."""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from conftest import LIBRARY
from handmade import CHOSEN, REPORTS, TRAP
from volume import thinned

import dpcompose
from dpcompose.core.change.neighbouring import UNBOUNDED
from dpcompose.core.model.problem import Goal
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import printable
from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.layout import Style
from dpcompose.render.pictures.label import SIZE, hits
from dpcompose.render.pictures.svg import text_width
from dpcompose.render.words.headlines import assumed, headline, in_few_words, is_bounded
from dpcompose.report import Report, Risk

SVG = "{http://www.w3.org/2000/svg}"
NAMES = (
    "ambulances-districts-bounded",
    "census-2020-redistricting-persons",
    "helpdesk-hundred-counts",
    "households-declared",
    "ledger-year",
    "noisy-sums",
    "social-graph-edge-to-node",
    "visits-gaussian-cap",
)
PICTURES = ("label", "badge")
NASTY = (
    "</title></text><script>alert(1)</script>",
    '" onload="x',
    "]]>&amp;&#60;b>##[error]::",
    "\x00\x1b[31m\u202e\ud800\nline",
    "W" * 200,
    "",
)


def shown(form: str, *reports: Report, checking: bool = False, style: Style | None = None) -> str:
    return "".join(renderer(form, checking)(reports, style or Style()))


@cache
def example(name: str) -> Report:
    return analyze(LIBRARY[name].read_bytes(), f"specs/{name}.yaml", drawn=True)


def words(svg: str) -> list[str]:
    """The lines of text of a picture."""
    return [each.text or "" for each in ElementTree.fromstring(svg).iter(f"{SVG}text")]


# --- the number ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", thinned(NAMES))
def test_the_number_is_that_of_the_headline(name: str) -> None:
    report = example(name)
    number = in_few_words(report)
    symbol = number.split()[0]
    digits = next(each for each in number.split() if each[0].isdigit()).rstrip(",")
    assert digits in headline(report, Style())
    assert is_bounded(report) and symbol in "ερμδ"
    assert f"differentially private with {number} " in shown("statement", report)
    assert number in words(shown("label", report))
    assert digits in words(shown("badge", report))[1]


@pytest.mark.parametrize("form", ["statement", *PICTURES])
def test_without_a_bound_there_is_no_number(form: str) -> None:
    invalid = analyze("dpcompose: 1\nprotect: x\n", "bad.yaml")
    unbounded = (
        TRAP,
        analyze(LIBRARY["parallel-trap"].read_bytes(), "trap.yaml", drawn=True),
    )
    for checking in (False, True):
        for report in unbounded:
            text = shown(form, report, checking=checking)
            assert "no bound" in text or "No finite privacy bound is known" in text
        text = shown(form, invalid, checking=checking)
        assert "invalid spec" in text or "no valid specification (" in text
        for report in (*unbounded, invalid):
            assert not set("ερμ&") & set(shown(form, report, checking=checking)) or form != "badge"
            said = words(shown(form, report)) if form in PICTURES else [shown(form, report)]
            assert not [each for each in said if "ε" in each or "%" in each or "ρ" in each]


def test_a_number_that_is_not_finite_is_no_bound() -> None:
    report = next(each for each in CHOSEN.values() if each.bound is None and not is_bounded(each))
    assert in_few_words(report) == "no bound"
    assert shown("statement", report).startswith("No finite privacy bound is known")


# --- statements ----------------------------------------------------------------------------------


def test_a_statement_says_who_is_protected_by_what_and_on_what_terms() -> None:
    text = shown("statement", example("ambulances-districts-bounded"))
    assert text.count("\n") == 1 and text.endswith("\n")
    digest = hashlib.sha256(LIBRARY["ambulances-districts-bounded"].read_bytes()).hexdigest()
    for part in (
        "ε = 1.7 (pure DP) for 1 row replaced (bounded neighbours).",
        f"dpcompose {dpcompose.__version__} certifies this by Corollary IV.13 of GMPS24",
        "(2) the blocks of “district” are disjoint sets of row values;",
        "(3) which rows there are does not depend on earlier outputs.",
        "Not covered: other rows of the same person, ",
        f"SHA-256 {digest[:12]}….",
        "CSF 2024, arXiv 2308.14649",
    ):
        assert part in text


def test_several_statements_are_paragraphs() -> None:
    text = shown("statement", *REPORTS.values())
    assert len(text.split("\n\n")) == len(REPORTS)
    assert all(printable(each) == each for each in text.splitlines())


def test_a_statement_says_that_a_bound_is_the_budget_of_a_filter() -> None:
    assert "the budget of a privacy filter" in shown("statement", example("ledger-year"))


# --- labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_label_has_its_size_and_holds_its_text(name: str) -> None:
    held(shown("label", example(name), style=Style(day="2026-11-24")))


def held(svg: str) -> None:
    """Asserts that a picture has the size of a label, and that its text stays inside."""
    root = ElementTree.fromstring(svg)
    assert (root.get("width"), root.get("height")) == ("360", "240")
    sizes = {"kind": 12, "small": 9.5, "s21": 21, "s17": 17, "s14": 14, "s13": 13, "s12": 12}
    last = 0.0
    for each in root.iter(f"{SVG}text"):
        looks = (each.get("class") or "").split()
        size = next((sizes[look] for look in reversed(looks) if look in sizes), 11)
        end = float(each.get("x", 0)) + text_width(each.text or "", size, "number" in looks)
        assert end <= SIZE[0] - 8, each.text
        y = float(each.get("y", 0))
        if "small" not in looks:
            last = max(last, y)
    assert last < 212


def test_hits_are_those_of_the_whole_curve() -> None:
    report = example("helpdesk-hundred-counts")
    assert report.risk is not None and report.drawn is not None
    assert report.drawn.hits == report.risk.hits
    assert any(
        "at most 9.15 % at 1 % false alarms" in each for each in words(shown("label", report))
    )
    alone = example("ambulances-districts-bounded")
    assert alone.risk is None and alone.drawn is not None
    share = decimal_up(dict(alone.drawn.hits)[Fraction(1, 100)] * 100, 3)
    assert f"at most {share} % at 1 % false alarms" in words(shown("label", alone))


def test_hits_at_another_rate_name_that_rate() -> None:
    risk = Risk(Fraction(1, 10), ((Fraction(1, 20), Fraction(1, 8)),))
    report = replace(REPORTS["rides"], risk=risk)
    assert hits(report) == (Fraction(1, 20), Fraction(1, 8))
    assert "at most 12.5 % at 5 % false alarms" in words(shown("label", report))


def test_a_label_counts_what_a_statement_lists_and_has_a_date_if_it_is_told_one() -> None:
    report = example("visits-gaussian-cap")
    count = len(assumed(report))
    assert any(each.startswith(f"{count} declaration") for each in words(shown("label", report)))
    assert f"({count}) " in shown("statement", report)
    assert "2026-11-24" in shown("label", report, style=Style(day="2026-11-24"))
    assert "2026" not in shown("label", report)


# --- badges --------------------------------------------------------------------------------------


def test_a_badge_is_green_or_red_where_a_budget_decides() -> None:
    def look(report: Report, checking: bool) -> str | None:
        root = ElementTree.fromstring(shown("badge", report, checking=checking))
        return next(root.iter(f"{SVG}rect")).get("class")

    rides, census = REPORTS["rides"], REPORTS["census"]
    assert (look(rides, False), look(rides, True)) == ("bound", "met")
    assert (look(census, False), look(census, True)) == ("bound", "failed")
    assert look(TRAP, False) == "failed"
    assert words(shown("badge", census, checking=True))[1].endswith(", over budget")


def test_a_badge_has_a_title_that_is_read_out() -> None:
    root = ElementTree.fromstring(shown("badge", example("noisy-sums")))
    assert root.get("aria-label") == "privacy: ε ≤ 4.66501 at δ = 1e-5"
    assert words(shown("badge", example("noisy-sums"))) == ["privacy", "ε ≤ 4.66501 at 1e-5"]
    assert root.get("height") == "20"


# --- several, and any name -----------------------------------------------------------------------


@pytest.mark.parametrize("form", PICTURES)
def test_several_specs_are_one_picture_below_each_other(form: str) -> None:
    for reports in ((), (TRAP,), tuple(REPORTS.values())):
        root = ElementTree.fromstring(shown(form, *reports))
        groups = list(root.iter(f"{SVG}g"))
        assert len(groups) == (len(reports) if len(reports) > 1 else 0)
    high = float(root.get("height", 0))
    each = 240 if form == "label" else 20
    assert high == len(reports) * (each + 6) - 6


@pytest.mark.parametrize("form", ["statement", *PICTURES])
@pytest.mark.parametrize("name", NASTY)
def test_names_are_text(form: str, name: str) -> None:
    for status in ("ok", "no-guarantee", "invalid"):
        report = replace(
            REPORTS["rides"],
            status=status,
            file=name,
            title=name,
            goal=Goal(UNBOUNDED._replace(name=name)),
            protects=name,
            population=name,
            reasons=(name,),
        )
        text = shown(form, report, style=Style(day="2026-11-24"))
        if form == "statement":
            assert printable(text[:-1]) == text[:-1]
            continue
        assert text.isascii() and "##" not in text
        root = ElementTree.fromstring(text)
        kinds = {each.tag.removeprefix(SVG) for each in root.iter()}
        assert kinds <= {"svg", "title", "desc", "style", "rect", "path", "text", "g"}
        assert not [key for each in root.iter() for key in each.attrib if key.startswith("on")]
        if form == "label":
            held(text)
