"""Joint bounds in L1 from a spec to a bound, against splits of the bound looked at one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpcompose.functions import total
from dpcompose.pipeline import analyze
from dpcompose.report import Report

LETTERS = "abcd"


def spec(
    values: Sequence[tuple[str, ...]],
    l1: str = "6",
    *,
    own: dict[int, str] | None = None,
    protect: str = "unbounded",
    unit: str = "",
    joint: bool = True,
    report: str = "",
) -> str:
    """Returns a spec with a value for each entry, read by the mechanisms that it lists."""
    names = ", ".join(LETTERS[: len(values)])
    keys = [unit, f"joint: {{datasets: [{names}], l1: {l1}}}" if joint else ""]
    lines = ["dpcompose: 1", f"protect: {protect}", "datasets:"]
    lines.append(f"  t: {{{', '.join(filter(None, keys))}}}")
    for i, _ in enumerate(values):
        more = (own or {}).get(i, "" if joint else f", sensitivity: {l1}")
        lines.append(f"  {LETTERS[i]}: {{from: t, map: {{kind: value, metric: l1{more}}}}}")
    lines.append("mechanisms:")
    for i, read in enumerate(values):
        for j, says in enumerate(read):
            lines.append(
                f"  - {{name: {LETTERS[i]}{j}, reads: {LETTERS[i]}, relation: l1, {says}}}"
            )
    return "\n".join([*lines, report])


def laplace(scale: str, count: int = 1) -> str:
    return f"mechanism: laplace, scale: {scale}, sensitivity: 1, count: {count}"


def stated(epsilon: str) -> str:
    return f"notion: pure, epsilon: {epsilon}"


def result(text: str, **options: Any) -> Report:
    report = analyze(text.encode(), "joint.yaml", recheck=True, **options)
    assert report.status == "ok", report.findings
    return report


def bound(text: str) -> Fraction:
    report = result(text)
    assert report.bound is not None and report.bound.notion == "pure"
    return Fraction(report.bound.value)


#: What reads each value as ε for a unit of distance, and the most that it moves by itself.
SHAPES: list[tuple[list[list[Fraction]], dict[int, int]]] = [
    ([[Fraction(1, 3)], [Fraction(1, 3)], [Fraction(1, 3)]], {}),
    ([[Fraction(1, 3)], [Fraction(1, 4), Fraction(1, 4)], [Fraction(1, 2)]], {}),
    ([[Fraction(2)], [Fraction(1)], [Fraction(1, 2)]], {0: 2, 1: 3}),
    ([[Fraction(2)], [Fraction(1)], [Fraction(1, 2)]], {0: 2, 1: 3, 2: 0}),
    ([[Fraction(1)], [Fraction(1)]], {0: 2, 1: 2}),
]


@pytest.mark.parametrize("values, own", SHAPES)
@pytest.mark.parametrize("noisy", [True, False])
def test_the_bound_is_that_of_the_worst_split(
    values: list[list[Fraction]], own: dict[int, int], noisy: bool
) -> None:
    l1 = 6
    most = [own.get(i, l1) for i in range(len(values))]
    worst = max(
        sum(sum(costs) * v for costs, v in zip(values, split, strict=True))
        for split in product(*(range(each + 1) for each in most))
        if sum(split) <= l1
    )
    read = [
        tuple(laplace(str(1 / e)) if noisy else stated(str(e)) for e in costs) for costs in values
    ]
    moves = {i: f", sensitivity: {each}" for i, each in own.items()}
    assert bound(spec(read, own=moves)) == worst


@pytest.mark.parametrize(
    "protect, unit, times",
    [
        ("unbounded", "", 1),
        ("bounded", "", 2),
        ("zero-out", "", 1),
        ("user", "unit: u", 1),
        ("unbounded", "unit: u", 2),
        ("bounded", "unit: u", 4),
        ("{relation: bounded, keeps: [u]}", "unit: u", 2),
        ("{relation: user, distance: 3}", "unit: u", 3),
        ("{relation: unbounded, distance: 2}", "", 2),
    ],
)
def test_steps_of_the_bound(protect: str, unit: str, times: int) -> None:
    read = [(laplace("3"),), (laplace("4"),)]
    assert bound(spec(read, protect=protect, unit=unit)) == 2 * times


def test_a_diameter_bounds_all_steps_together() -> None:
    read = [(stated("1"),), (stated("1/10"),)]
    text = spec(read, own={0: ", diameter: 2"}, protect="{relation: unbounded, distance: 3}")
    # 18 units of distance, of which the first value moves 2.
    assert bound(text) == 2 + Fraction(16, 10)


def test_what_is_not_stated_per_unit_is_charged_in_full() -> None:
    text = spec([(stated("1/2"),), (stated("1/4"),)])
    text += "\n  - {name: other, reads: b, notion: zcdp, rho: 1, stated_on: t}"
    report = result(text)
    # No joint bound covers `b`: both values cost what they do by themselves.
    apart = text.replace("joint: {datasets: [a, b], l1: 6}", "").replace(
        "metric: l1", "metric: l1, sensitivity: 6"
    )
    assert report.bound is not None and report.bound == result(apart).bound


def delta_of_laplace(a: float, epsilon: float) -> float:
    """The profile of Laplace noise moved by `a` scales."""
    if epsilon >= a:
        return 0.0
    return -math.expm1((epsilon - a) / 2) if epsilon > -a else -math.expm1(epsilon)


def delta_of_split(a: float, b: float, epsilon: float, cells: int = 4000) -> float:
    """The profile of two numbers with Laplace noise, moved by a and b scales."""
    total = delta_of_laplace(b, epsilon - a) / 2
    total += math.exp(-a) / 2 * delta_of_laplace(b, epsilon + a)
    for i in range(cells):
        x = (i + 0.5) * a / cells
        total += a / cells * math.exp(-x) / 2 * delta_of_laplace(b, epsilon - (a - 2 * x))
    return total


@pytest.mark.parametrize("scales", [("3", "3"), ("3", "4"), ("2", "6")])
def test_every_split_of_laplace_noise_is_below_the_number_at_a_delta(
    scales: tuple[str, str],
) -> None:
    text = spec([(laplace(scales[0]),), (laplace(scales[1]),)])
    report = result(text, deltas=("1/10", "1/1000"))
    first, second = map(int, scales)
    for at in report.at_delta:
        assert at.value is not None
        epsilon, delta = float(at.value), float(at.given)
        for v in range(7):
            assert delta_of_split(v / first, (6 - v) / second, epsilon) <= delta * (1 + 1e-6)
        # One value with the least noise attains it.
        assert delta_of_split(6 / first, 0.0, epsilon) == pytest.approx(delta, rel=1e-3)


def test_unlike_values_with_bounds_of_their_own_are_below_either_bound_at_a_delta() -> None:
    read = [(laplace("10"),), (stated("1/20"),), (stated("1/50"),)]
    own = dict.fromkeys(range(3), ", sensitivity: 5")
    deltas = ("1/2", "1/10", "1/1000", "1e-9")
    found = result(spec(read, own=own), deltas=deltas).at_delta
    apart = result(spec(read, own=own, joint=False), deltas=deltas).at_delta
    for at, other in zip(found, apart, strict=True):
        assert at.value is not None and other.value is not None
        assert at.value <= other.value
        assert at.value <= Fraction(11, 20) + Fraction(1, 10**9)  # 5/10 + 1/20, pure
    assert found[-1].value < apart[-1].value  # type: ignore[operator]


@pytest.mark.slow
def test_values_released_alike_cost_as_one_of_them_in_every_notion() -> None:
    read = (laplace("30", 20), stated("1/100"))
    together = result(spec([read] * 3), deltas=("1e-6",))
    alone = result(spec([read], joint=False), deltas=("1e-6",))
    assert together.bound == alone.bound
    [found], [other] = together.at_delta, alone.at_delta
    assert found.value == other.value and found.value is not None
    assert together.bound is not None and together.bound.value is not None
    assert found.value < together.bound.value


def test_several_specs_keep_to_their_own_bounds() -> None:
    text = spec([(laplace("6"),), (laplace("6"),)])
    text = text.replace("dpcompose: 1", "dpcompose: 1\npopulation: p\nadaptivity: adaptive")
    text = text.replace("adaptivity: adaptive", "adaptivity: adaptive\nbecause: planned")
    assert bound(text) == 1
    found = total([text, text.replace("protect:", "title: another\nprotect:")], fixed="planned")
    assert [each.value for each in found.bounds][:1] == [2]


def test_the_report_names_the_theorem_and_the_assumption() -> None:
    report = result(spec([(laplace("3"),), (laplace("3"),)]))
    assert "joint-l1" in {each.theorem for each in report.chain}
    says = [each.says for each in report.assumptions]
    assert "one row of `t` moves `a` and `b` together by at most 6, in L1" in says


def test_a_distance_in_l1_is_of_values_with_that_metric() -> None:
    text = spec([(stated("1"),), (stated("1"),)]).replace("metric: l1", "metric: euclidean")
    report = analyze(text.encode(), "joint.yaml")
    assert report.status == "invalid"
    assert {each.code for each in report.findings} == {"DPC149"}
    # A Euclidean distance is no more than that in L1.
    assert bound(text.replace("relation: l1", "relation: euclidean")) == 6
