"""Specs from strangers: every one ends with a right answer or a clear refusal, and soon."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.layout import Style

HEAD = "dpcompose: 1\nprotect: bounded\n"
MANY = 1_000_000_000


def chain(length: int) -> str:
    derived = "".join(f"  d{i}: {{from: d{i - 1}, map: filter}}\n" for i in range(1, length + 1))
    return (
        f"{HEAD}datasets:\n  d0: {{}}\n{derived}mechanisms:\n"
        f"  - {{name: a, reads: d{length}, notion: pure, epsilon: 1, relation: unbounded}}\n"
        f"  - {{name: b, reads: d{length // 2}, notion: pure, epsilon: 1, stated_on: d0}}\n"
    )


def nested_partitions(depth: int) -> str:
    derived = "  p1: {from: p0, partition: {by: value, blocks: [a, b]}}\n" + "".join(
        f"  p{i}: {{from: p{i - 1}.a, partition: {{by: value, blocks: [a, b]}}}}\n"
        for i in range(2, depth + 1)
    )
    return (
        f"{HEAD}datasets:\n  p0: {{}}\n{derived}mechanisms:\n"
        f"  - {{name: q, reads: p{depth}.a, notion: pure, epsilon: 1, stated_on: p0}}\n"
    )


def huge(partition: str) -> str:
    return (
        f"dpcompose: 1\nprotect: {{relation: bounded, distance: {MANY}}}\ndatasets:\n  r: {{}}\n"
        f"  f: {{from: r, map: {{kind: flatten, max_rows: {MANY}}}}}\n"
        f"  p: {{from: f, partition: {{{partition}}}}}\nmechanisms:\n"
        f"  - {{name: a, reads: p.*, count: {MANY}, notion: zcdp, rho: 0.1, relation: unbounded}}\n"
    )


def many_guarantees(number: int) -> str:
    said = "".join(
        f"      - {{notion: approx, epsilon: 1 + {i}/1000, delta: 1/{(i + 2) ** 2}, stated_on: r, "
        f"relation: {'unbounded' if i % 2 else 'bounded'}}}\n"
        for i in range(number)
    )
    return (
        f"{HEAD}datasets:\n  r: {{}}\n  p: {{from: r, partition: {{by: value, blocks: 3}}}}\n"
        f"mechanisms:\n  - name: a\n    reads: p.*\n    guarantees:\n{said}"
    )


def many_ancestors(number: int) -> str:
    derived = "".join(f"  d{i}: {{from: d{i - 1}, map: filter}}\n" for i in range(1, number + 1))
    said = "".join(
        f"      - {{notion: pure, epsilon: 1, relation: unbounded, stated_on: d{i}}}\n"
        for i in range(number)
    )
    return (
        f"{HEAD}datasets:\n  d0: {{}}\n{derived}mechanisms:\n  - name: a\n    reads: d{number}\n"
        f"    guarantees:\n{said}"
    )


def odd_denominators(number: int) -> str:
    rows = "".join(
        f"  - {{name: m{i}, reads: r, notion: approx, epsilon: 1/{2 * i + 10007}, "
        f"delta: 1/{(2 * i + 10007) ** 3}}}\n"
        for i in range(number)
    )
    return f"{HEAD}datasets: {{r: {{}}}}\nmechanisms:\n{rows}"


def tangled(distance: int) -> str:
    maps = [
        "filter",
        "{kind: group, by: a}",
        "{kind: limit, per: b, rows: 2, keep: first}",
        "{kind: flatten, max_rows: 3}",
        "row",
    ]
    derived = "".join(f"  d{i}: {{from: d{i - 1}, map: {maps[i % 5]}}}\n" for i in range(1, 9))
    return (
        f"dpcompose: 1\nprotect: {{relation: bounded, distance: {distance}}}\ndatasets:\n"
        f"  d0: {{}}\n{derived}"
        "  p: {from: d8, partition: {by: membership, blocks: [a, b, c, d], max_blocks: 2}}\n"
        "mechanisms:\n  - name: z\n    reads: p.*\n    guarantees:\n"
        "      - {notion: zcdp, rho: 0.3, relation: unbounded}\n"
        "      - {notion: zcdp, rho: 0.2, relation: bounded, stated_on: d0}\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(chain(2_500), 3, id="2 500 filters"),
        pytest.param(chain(10_000), 3, id="10 000 filters", marks=pytest.mark.long),
        pytest.param(nested_partitions(400), 1, id="400 partitions in each other"),
        pytest.param(huge(f"by: value, blocks: {MANY}"), 4 * 10**44, id="value"),
        pytest.param(huge(f"by: key, column: c, blocks: {MANY}"), 4 * 10**44, id="key"),
        pytest.param(
            huge(f"by: membership, blocks: {MANY}, max_blocks: {MANY}"), 4 * 10**53, id="membership"
        ),
        pytest.param(many_ancestors(120), 2, id="statements on 120 ancestors"),
    ],
)
def test_large_structures_get_a_right_answer(text: str, value: int) -> None:
    report = analyze(text)
    assert report.bound is not None and report.bound.value == value


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(many_guarantees(2_000), id="2 000 guarantees of one mechanism"),
        pytest.param(odd_denominators(3_000), id="3 000 different denominators"),
        pytest.param(tangled(20), id="many ways for many units"),
    ],
)
def test_large_searches_end(text: str) -> None:
    assert analyze(text).status == "ok"


@pytest.mark.slow
def test_numbers_of_thousands_of_digits_are_told() -> None:
    maps = "".join(
        f"  d{i}: {{from: d{i - 1}, map: {{kind: flatten, max_rows: {MANY}, exact: true}}}}\n"
        for i in range(1, 600)
    )
    report = analyze(
        f"{HEAD}datasets:\n  d0: {{}}\n{maps}mechanisms:\n"
        "  - {name: a, reads: d599, notion: pure, epsilon: 1, relation: unbounded}\n"
    )
    assert report.bound is not None and report.bound.value == 2 * 10 ** (9 * 599)
    for form in ("text", "json"):
        assert "".join(renderer(form)([report], Style()))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: "[" * 100_000, id="nesting"),
        pytest.param(lambda: "\n" * 10_000_000, id="blank lines"),
        pytest.param(lambda: "a" * 10_000_000, id="one long word"),
        pytest.param(
            lambda: (
                "a0: &a0 [x]\n"
                + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
            ),
            id="aliases",
        ),
        pytest.param(
            lambda: (
                HEAD
                + "datasets: {t: {}}\nmechanisms:\n"
                + "  - {name: a, reads: t, notion: pure, epsilon: 1e99999999}\n"
            ),
            id="an exponent",
        ),
    ],
)
def test_bombs_are_refused(make: Callable[[], str]) -> None:
    report = analyze(make())
    assert report.status == "invalid" and report.findings


@pytest.mark.slow
def test_names_never_act_on_a_terminal(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        HEAD + "datasets: {'[red]x': {}}\nmechanisms:\n"
        '  - {name: "[bold]\\e[31m::error::\\u202e", reads: "[red]x", notion: pure, epsilon: 1}\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "dpcompose", "analyze", str(spec)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert done.returncode == 0
    assert "[red]x" in done.stdout and "[bold]" in done.stdout
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout


def test_numbers_too_long_for_a_text_decide_no_order() -> None:
    big = "*".join(["1e1000"] * 5)
    text = (
        f"dpcompose: 1\nprotect: bounded\nconstants: {{big: {big}}}\ndatasets:\n  p: {{}}\n"
        "  w: {from: p, map: {kind: flatten, max_rows: 2}}\n"
        "  x: {from: w, map: {kind: value, sensitivity: big, diameter: big*7}}\n"
        "mechanisms:\n"
        "  - {name: b, reads: x, notion: pure, epsilon: 1, relation: euclidean}\n"
    )
    report = analyze(text)
    assert report.status == "ok" and report.bound is not None
