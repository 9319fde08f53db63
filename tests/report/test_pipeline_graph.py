"""The pipeline of a report: its nodes, and what of them the worst change reaches."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.pipeline import analyze
from dpcompose.report import At, PipelineNode, TouchCount
from dpcompose.report.pipeline_graph import of_profile
from dpcompose.resolve import resolve
from dpcompose.source import load

HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets:\n"
TWO = f"""{HEAD}  t: {{}}
  f: {{from: t, map: {{kind: filter}}}}
  p: {{from: t, partition: {{by: value, blocks: [a, b]}}}}
mechanisms:
  - {{name: one, reads: f, notion: pure, epsilon: 1}}
  - {{name: two, reads: p.a, notion: zcdp, rho: 1}}
"""


def nodes(text: str) -> dict[str, PipelineNode]:
    return {each.name: each for each in analyze(text, "x.yaml").pipeline}


def test_maps_that_are_followed_as_one_are_all_on_the_path() -> None:
    flatten = "map: {kind: flatten, max_rows: 2}"
    maps = "".join(f"  f{n}: {{from: f{n - 1}, {flatten}}}\n" for n in range(1, 9))
    mechanism = "mechanisms: [{name: m, reads: f8, notion: pure, epsilon: 1}]\n"
    found = nodes(f"{HEAD}  f0: {{}}\n{maps}{mechanism}")
    assert all(each.reached and each.change for each in found.values() if each.kind == "dataset")
    assert found["f8"].change == "256 rows added or removed"
    assert found["f4"].change == "followed together with the maps below"


def test_all_draws_of_a_sample_cost_together() -> None:
    report = analyze(
        f"{HEAD}  t: {{}}\n  s: {{from: t, map: {{kind: sample, poisson: 0.01}}}}\n"
        "mechanisms:\n  - {name: m, reads: s, notion: pure, epsilon: 1, count: 5}\n"
        "  - {name: n, reads: s, notion: pure, epsilon: 1, count: 3}\n",
        "x.yaml",
    )
    found = {each.name: each for each in report.pipeline}
    assert found["s"].via == "a Poisson sample of rate 0.01"
    assert found["s"].change == "1 row added or removed"
    told = {each.mechanism: each.bound.value for each in report.shares}
    assert {each.name: each.cost.value for each in found.values() if each.cost} == told


@pytest.mark.parametrize(("count", "drawn"), [(12, 12), (13, 13), (14, 12), (40, 12)])
def test_a_single_child_is_not_left_out(count: int, drawn: int) -> None:
    listed = "".join(
        f"  - {{name: m{n}, reads: t, notion: pure, epsilon: {n + 1}}}\n" for n in range(count)
    )
    found = nodes(f"{HEAD}  t: {{}}\nmechanisms:\n{listed}")
    assert sum(each.kind == "mechanism" for each in found.values()) == drawn
    assert f"m{count - 1}" in found  # what costs most is drawn
    assert (f"{count - drawn} more mechanisms" in found) == (count > drawn)


def test_only_names_are_marked_where_another_change_is_the_worst() -> None:
    source = load(TWO, "x.yaml")
    problem = resolve(source).problem
    touched = (TouchCount("two", "p.a", "1 row added", 1),)
    at = At("delta", Fraction(1, 10**6), Fraction(1), None, "", "", touched=touched)
    found = {each.name: each for each in of_profile(problem, (), (), at, source.span)}
    assert [name for name, each in found.items() if each.reached] == ["t", "p", "a", "two"]
    assert found["a"].change == "1 row added" and found["t"].change == ""
    assert found["two"].cost is None and found["two"].says == "1-zCDP"


def test_the_pipeline_is_there_for_whole_reports_alone() -> None:
    assert analyze(TWO, "x.yaml").pipeline
    assert not analyze(TWO, "x.yaml", extent="costs").pipeline
    assert not analyze("nothing", "x.yaml").pipeline


def test_blocks_are_named_or_counted() -> None:
    found = nodes(
        f"{HEAD}  t: {{}}\n  p: {{from: t, partition: {{by: value, blocks: [a, b, c, d]}}}}\n"
        "  q: {from: t, partition: {by: value, blocks: 1000000000}}\n"
        "mechanisms:\n  - {name: m, reads: p.a, notion: pure, epsilon: 1}\n"
        "  - {name: n, reads: q.*, notion: pure, epsilon: 1}\n"
    )
    assert found["b, c, d"].says == "read by no mechanism" and not found["b, c, d"].reached
    assert found["a"].reached and found["1000000000 alike"].reached


def test_what_is_public_about_a_root_is_told() -> None:
    found = nodes(
        "dpcompose: 1\nprotect: edge\ndatasets: {g: {domain: graph, max_degree: 5}}\n"
        "mechanisms: [{name: m, reads: g, notion: pure, epsilon: 1}]\n"
    )
    assert found["g"].says == "a graph, at most 5 edges a vertex"
