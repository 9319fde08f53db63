"""Interactive mechanisms from a spec to a bound: the same numbers, the theorem, and refusals."""

from __future__ import annotations

import pytest

from dpcompose.pipeline import analyze

HEAD = """\
dpcompose: 1
protect: unbounded
datasets:
  t: {}
  s: {from: t, partition: {by: value, blocks: [x, y]}}
  p: {from: t, map: {kind: sample, poisson: 1/4}}
  r: {from: t, map: {kind: shuffle, reports: 9}}
mechanisms:
"""
BY_NOTION = [
    ("notion: pure, epsilon: 1", "concurrent-pure"),
    ("notion: approx, epsilon: 1, delta: 1e-6", "concurrent-approx"),
    ("notion: zcdp, rho: 1/10", "concurrent-zcdp"),
    ("notion: gdp, mu: 1/2", "concurrent"),
    ("notion: profile, points: [[0.1, 1e-3], [0.5, 1e-6]]", "concurrent-approx"),
]


@pytest.mark.parametrize("says, theorem", BY_NOTION)
@pytest.mark.parametrize("reads", ["t", "s.*"])
def test_the_bound_is_the_same_and_the_theorem_is_named(
    says: str, theorem: str, reads: str
) -> None:
    text = HEAD + "".join(
        f"  - {{name: {name}, reads: {where}, {says}OPEN}}\n"
        for name, where in (("a", "t"), ("b", reads))
    )
    plain, opened = (
        analyze(text.replace("OPEN", more), "t", deltas=("1e-4",), recheck=True)
        for more in ("", ", interactive: true")
    )
    assert plain.bound == opened.bound
    assert [each.value for each in plain.at_delta] == [each.value for each in opened.at_delta]
    assert [each.theorem for each in opened.tree].count(theorem) == 1
    assert theorem not in [each.theorem for each in plain.tree]
    assert any(
        each.says.startswith("what `a` and `b` guarantee holds") for each in opened.assumptions
    )


def test_a_number_at_a_delta_alone_rests_on_trade_off_functions() -> None:
    text = HEAD + "  - {name: a, reads: t, notion: gdp, mu: 1, interactive: true}\n"
    text += "  - {name: b, reads: t, notion: approx, epsilon: 1, delta: 1e-6}\n"
    report = analyze(text, "t", deltas=("1e-4",))
    assert report.bound is None and report.at_delta[0].value is not None
    assert "concurrent" in [each.theorem for each in report.tree]


def test_a_sample_that_is_asked_again_and_again_is_amplified_once() -> None:
    text = HEAD + "  - {name: a, reads: p, notion: pure, epsilon: 1, interactive: true}\n"
    plain = analyze(text.replace(", interactive: true", ""), "t")
    assert analyze(text, "t").bound == plain.bound


def test_a_filter_counts_what_is_opened_unless_rows_are_drawn() -> None:
    text = "adaptivity: parameters\nbudget: {epsilon: 2}\n" + HEAD
    text += "  - {name: a, reads: t, notion: pure, epsilon: 1, interactive: true}\n"
    text = text.replace("  p: {from: t, map: {kind: sample, poisson: 1/4}}\n", "")
    text = text.replace("  r: {from: t, map: {kind: shuffle, reports: 9}}\n", "")
    report = analyze(text, "t")
    assert report.status == "ok" and report.chain[-1].theorem == "concurrent-filter"
    drawn = text.replace(
        "mechanisms:", "  p: {from: t, map: {kind: sample, poisson: 1/4}}\nmechanisms:"
    )
    drawn = drawn.replace("reads: t,", "reads: p,")
    report = analyze(drawn, "t")
    assert report.status == "no-guarantee" and "no filter is known" in report.reasons[0]
