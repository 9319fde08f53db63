"""Curves in a terminal: as wide as the page, in characters that it can carry, nowhere below."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import pytest
from conftest import LIBRARY
from typer.testing import CliRunner
from volume import thinned

from dpcompose import analyze
from dpcompose.cli import app
from dpcompose.errors import width
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import printed
from dpcompose.render.text.plot import plots
from dpcompose.report import Report


@cache
def drawn(name: str) -> Report:
    return analyze(LIBRARY[name], drawn=True)


def plot(name: str, style: Style) -> str:
    return printed(plots(drawn(name), style), style)


@pytest.mark.parametrize("columns", thinned([80, 60, 140, 100]))
@pytest.mark.parametrize("encoding", thinned(["utf-8", "ascii", "iso-8859-1"]))
def test_no_line_is_wider_than_the_page_and_all_can_be_printed(columns: int, encoding: str) -> None:
    for name in ("dp-sgd", "visits-cap-and-places", "ledger-year"):
        text = plot(name, Style(width=columns, encoding=encoding))
        text.encode(encoding)
        assert "\\u" not in text
        lines = text.splitlines()
        assert max(map(width, lines)) <= columns
        assert sum("100 %" in each for each in lines) == 2
        beside = columns >= 100
        assert len(lines) < 25 if beside else len(lines) > 30


@pytest.mark.parametrize(
    "name", thinned(["visits-cap-and-places", "noisy-sums", "dp-sgd", "survey"], 4)
)
def test_no_point_of_a_curve_is_below_what_is_certified_there(name: str) -> None:
    report = drawn(name)
    assert report.drawn is not None
    for epsilon, delta in report.drawn.profile[1::6]:
        assert delta >= report.delta(epsilon).exact * (1 - Fraction(1, 10**9))
    for rate, hits in report.drawn.trade_off[::9]:
        assert hits >= report.trade_off(str(rate)).exact * (1 - Fraction(1, 10**9))
    deltas = [delta for _, delta in report.drawn.profile]
    assert deltas == sorted(deltas, reverse=True)
    rates = [hits for _, hits in report.drawn.trade_off]
    assert rates == sorted(rates)
    assert rates[-1] <= 1


def test_the_numbers_that_were_asked_for_are_marked() -> None:
    text = plot("dp-sgd", Style(width=100))
    assert "● ε ≤ 2.3816 at δ = 1e-5" in text
    assert "● 1 %: 4.03 %; 5 %: 14.3 %" in text
    assert text.count("●") == 5


def test_without_a_bound_there_is_a_sentence() -> None:
    assert "no curve to show" in plot("parallel-trap", Style())


def test_the_option_draws_in_a_pipe_and_changes_no_other_section() -> None:
    spec = str(LIBRARY["visits-cap-and-places"])
    runner = CliRunner(env={"NO_COLOR": "1", "COLUMNS": "80"})
    plain = runner.invoke(app, ["analyze", spec])
    drawn = runner.invoke(app, ["analyze", "--plot", spec])
    assert drawn.exit_code == plain.exit_code == 0
    assert "\x1b" not in drawn.stdout
    assert {*plain.stdout.splitlines()} <= {*drawn.stdout.splitlines()}
    assert "Curves" in drawn.stdout
