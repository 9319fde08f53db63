"""What Python programs see: names, errors of callers, and reports where values are shown."""

from __future__ import annotations

import doctest
import io
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from conftest import LIBRARY
from rich.console import Console

import dpcompose
from dpcompose import functions
from dpcompose.errors import InvalidSpec
from dpcompose.render.views import as_svg

ROOT = Path(__file__).parents[2]
SPEC = LIBRARY["ambulances-districts-bounded"]


def shown(report: object, width: int = 80, colour: bool = False) -> str:
    stream = io.StringIO()
    Console(
        file=stream,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
    ).print(report)
    return stream.getvalue()


def test_what_there_is_to_use_is_listed() -> None:
    assert dir(dpcompose) == sorted(dpcompose.__all__)
    assert {"analyze", "analyze_file", "check", "Report"} <= set(dir(dpcompose))
    for name in dir(dpcompose):
        assert getattr(dpcompose, name)
    with pytest.raises(AttributeError):
        dpcompose.analyse  # noqa: B018


@pytest.mark.slow
def test_the_examples_of_public_functions_are_true() -> None:
    for module, least in ((functions, 8), (dpcompose.report, 6)):
        found = doctest.testmod(module)
        assert found.attempted >= least
        assert not found.failed


@pytest.mark.slow
def test_a_report_answers_questions_with_floats_that_are_not_below() -> None:
    report = dpcompose.analyze(dpcompose.example("helpdesk-hundred-counts"))
    asked = dpcompose.analyze(
        dpcompose.example("helpdesk-hundred-counts"), deltas=[1e-6], epsilons=["3.5"]
    )
    for found, at in (
        (report.epsilon(delta=1e-6), asked.at_delta[0]),
        (report.epsilon(delta="1e-6"), asked.at_delta[0]),
        (report.delta(epsilon=3.5), asked.at_epsilon[0]),
        (report.delta(Fraction(7, 2)), asked.at_epsilon[0]),
    ):
        assert found.exact == at.value
        assert Fraction(float(found)) >= found.exact
    curve = report.curve()
    assert curve[0][1] > curve[-1][1]
    for epsilon, delta in curve[::12]:
        assert delta >= report.delta(epsilon) * (1 - 1e-9)
    assert 0.05 < report.trade_off(0.01) < report.trade_off("0.05") < 1
    assert report.to_dict()["status"] == "ok"
    assert report.to_html().count("<article") == 1


def test_questions_without_an_answer_say_why() -> None:
    trap = dpcompose.analyze(dpcompose.example("parallel-trap"))
    with pytest.raises(ValueError, match="no finite epsilon is certified at 1e-06"):
        trap.epsilon(1e-6)
    for ask in (trap.curve, lambda: trap.trade_off(0.01)):
        with pytest.raises(ValueError, match="no finite bound"):
            ask()
    with pytest.raises(ValueError, match="invalid, 2 errors"):
        dpcompose.analyze("dpcompose: 1\nprotekt: bounded\n").epsilon(1e-6)
    report = dpcompose.analyze(dpcompose.example("dp-sgd"))
    for delta in (2, -1, "x"):
        with pytest.raises(ValueError, match="deltas: "):
            report.epsilon(delta)
    for rate in (0, 1, 1.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            report.trade_off(rate)


def test_functions_of_commands_take_texts_and_paths() -> None:
    text = SPEC.read_text(encoding="utf-8")
    assert dpcompose.diff(SPEC, text).direction == "same"
    with pytest.raises(InvalidSpec, match="protekt"):
        dpcompose.diff(text, text.replace("protect", "protekt"))
    both = dpcompose.total([SPEC, text], {"epsilon": 10}, fixed="in January")
    one = dpcompose.analyze(text).bound
    assert one is not None
    assert both.bounds[0].value == 2 * one.value
    assert both.verdict is not None and both.verdict.ok
    fitted = dpcompose.fit(SPEC, {"epsilon": 1})
    assert dpcompose.check(fitted.text, limit={"epsilon": 1})
    with pytest.raises(ValueError, match="no example 'dp-sdg'"):
        dpcompose.example("dp-sdg")


def test_a_file_is_analysed_as_its_text_is() -> None:
    for path in (SPEC, str(SPEC)):
        found = dpcompose.analyze_file(path), dpcompose.analyze(SPEC.read_bytes(), str(SPEC))
        one, other = (replace(report, lines=()) for report in found)
        assert one == other and one.file == str(path)
    with pytest.raises(FileNotFoundError):
        dpcompose.analyze_file("missing.yaml")


def test_the_path_of_a_file_is_told_apart_from_its_text() -> None:
    for data in ("shop.yaml", "specs/shop.dp.YML"):
        report = dpcompose.analyze(data)
        assert report.status == "invalid"
        (finding,) = report.findings
        assert f"`{data}` is the path of one" in finding.message
        assert finding.hint is not None and "analyze_file" in finding.hint
    for text in ("a: shop.yaml", "shop", "shop.yaml\n", b"shop.yaml"):
        (finding, *_) = dpcompose.analyze(text).findings
        assert "is the path of one" not in finding.message


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ambulances-districts-bounded", "ε = 17/10 (pure DP, bounded)"),
        (
            "ambulances-approximate",
            "ε ≤ 5.99974 at δ = 0.0001, ε = 6, δ = 0.00006 (approximate DP, bounded)",
        ),
        ("visits-gaussian-cap", "μ = 1/2 (Gaussian DP, user)"),
        ("parallel-trap", "no guarantee"),
    ],
)
def test_a_report_is_told_in_a_line(name: str, says: str) -> None:
    report = dpcompose.analyze(LIBRARY[name].read_bytes(), "a.yaml")
    assert repr(report) == f"<Report a.yaml: {says}>"


def test_a_line_about_any_report_is_one_line_and_no_bound_is_rounded_down() -> None:
    assert repr(dpcompose.analyze("a: 1", "a\n\x1b[1m.yaml")).isprintable()
    third = dpcompose.analyze(SPEC.read_text().replace("0.7", "7/10 + 1/3000000000"), "a")
    assert repr(third) == "<Report a: ε ≤ 1.70001 (pure DP, bounded)>"
    asked = dpcompose.analyze_file(SPEC, deltas=[Fraction(1, 10**6)])
    assert "at δ = 1e-6, ε = 17/10 (pure DP, bounded)" in repr(asked)
    sampled = dpcompose.analyze_file(LIBRARY["dp-sgd"])
    assert " at δ = " in repr(sampled) and "(unbounded)" in repr(sampled)


def test_a_console_of_rich_shows_the_report() -> None:
    report = dpcompose.analyze_file(SPEC)
    wide, narrow, coloured = shown(report, 100), shown(report, 60), shown(report, colour=True)
    for text in (wide, narrow):
        assert "IV.13" in text and "\x1b" not in text
    assert max(map(len, narrow.splitlines())) <= 60
    assert "\x1b[" in coloured


def test_a_notebook_shows_the_report_and_nothing_in_it_is_html() -> None:
    text = SPEC.read_text(encoding="utf-8").replace("title: ", "title: <script>[red]")
    html = dpcompose.analyze(text)._repr_html_()
    assert html is not None and html.startswith("<iframe srcdoc=") and "IV.13" in html
    assert html.count("<") == 2
    assert "&lt;script&gt;[red]" in unescape(html)


def test_a_picture_is_the_same_each_time() -> None:
    report = dpcompose.analyze(SPEC.read_bytes(), "<b>.yaml")
    first, second = (as_svg(report, "dpcompose", 80) for _ in range(2))
    assert first == second and first.startswith("<svg") and "&lt;b&gt;.yaml" in first


def test_rich_is_imported_only_where_a_report_is_shown() -> None:
    code = (
        "import sys, dpcompose\n"
        f"report = dpcompose.analyze_file({str(SPEC)!r})\n"
        "repr(report)\n"
        "assert 'rich' not in sys.modules\n"
        "report._repr_html_()\n"
        "assert 'rich' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_check_takes_a_path_object_and_refuses_a_path_as_text(tmp_path: Path) -> None:
    limit = {"epsilon": "1.7"}
    assert dpcompose.check(SPEC, limit=limit) and dpcompose.check(SPEC.read_text(), limit=limit)
    assert not dpcompose.check(SPEC, limit={"epsilon": 1.6})
    plain = tmp_path / "spec"
    plain.write_bytes(SPEC.read_bytes())
    for path in ("shop.dp.yaml", str(SPEC), str(plain)):
        with pytest.raises(ValueError, match="is a path"):
            dpcompose.check(path, limit=limit)
        assert dpcompose.analyze(path).status == "invalid"
    with pytest.raises(FileNotFoundError):
        dpcompose.check(tmp_path / "missing.yaml", limit=limit)


@pytest.mark.parametrize("given", [1e-5, "1e-5", Decimal("1e-5"), Fraction(1, 100000), "1/100000"])
def test_numbers_are_taken_as_they_are_written(given: Any) -> None:
    report = dpcompose.analyze_file(SPEC, deltas=[given], epsilons=[1])
    assert [at.given for at in report.at_delta] == [Fraction(1, 100000)]
    assert [at.given for at in report.at_epsilon] == [1]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"deltas": 1e-5}, TypeError),
        ({"deltas": "1e-5"}, TypeError),
        ({"deltas": [None]}, TypeError),
        ({"deltas": [True]}, TypeError),
        ({"deltas": [1]}, ValueError),
        ({"deltas": [-1e-5]}, ValueError),
        ({"deltas": ["a little"]}, ValueError),
        ({"epsilons": [float("nan")]}, ValueError),
        ({"epsilons": [float("inf")]}, ValueError),
        ({"limit": 1}, TypeError),
        ({"limit": {"delta": 1e-6}}, ValueError),
        ({"limit": {"epsilon": -1}}, ValueError),
        ({"limit": {"success": 0.1, "baseline": 0.2}}, ValueError),
        ({"data": None}, TypeError),
        ({"data": {"dpcompose": 1}}, TypeError),
    ],
)
def test_what_is_no_argument_is_said(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        dpcompose.analyze(**{"data": SPEC, **arguments})


@pytest.mark.slow
def test_python_without_docstrings_says_the_same() -> None:
    code = (
        "import sys; from dpcompose.cli import app\n"
        "for words in (['explain', 'IV.13'], ['explain', 'pure'], ['schema'],\n"
        f"              ['check', '--recheck', '--epsilon', '1', {str(SPEC)!r}]):\n"
        "    print(app(words, standalone_mode=False), flush=True)"
    )
    plain, bare = (
        subprocess.run([sys.executable, *option, "-c", code], capture_output=True, check=False)
        for option in ((), ("-OO",))
    )
    assert plain.stdout == bare.stdout and plain.stderr == bare.stderr
    assert "✗".encode() in plain.stdout
