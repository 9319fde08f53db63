"""The proof tree and the costs of mechanisms: what they say, and the laws of all specs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from conftest import LIBRARY
from oracle.generate import random_spec
from volume import seeds, thinned

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorems.book import BOOK
from dpcompose.pipeline import analyze
from dpcompose.report import Report

SPECS = [*LIBRARY.values()]
SHOP = """\
dpcompose: 1
protect: user
datasets:
  orders: {unit: customer}
  capped: {from: orders, map: {kind: cap, rows: 10, keep: random}}
  by_country:
    from: capped
    partition:
      {by: key, column: country, blocks: 240, max_blocks_per_unit: 5, max_rows_per_block: 2}
mechanisms:
  - {name: by country, reads: by_country.*, mechanism: gaussian, sigma: 20, sensitivity: 1}
  - {name: revenue, reads: capped, mechanism: gaussian, sigma: 4000, sensitivity: 200}
  - {name: orders, reads: capped, mechanism: gaussian, sigma: 40, sensitivity: 1}
report: {delta: [1e-6]}
"""


def lines(report: Report) -> list[str]:
    """The tree as text: depth, kind, name, what is said, theorem, line."""
    return [
        " | ".join(
            (
                "  " * node.depth + node.kind,
                node.name,
                node.says,
                node.theorem or "",
                ", ".join(str(span.line) for span in node.spans),
            )
        )
        for node in report.tree
    ]


def test_the_tree_of_a_capped_pipeline() -> None:
    report = analyze(SHOP)
    assert lines(report) == [
        "dataset | orders | all rows of one unit |  | 4",
        "  dataset | capped | at most 10 rows | III.6 | 5",
        "    mechanism | revenue | 10 × 0.05-GDP (σ 4000, Δ 200) | VI.20 | 12",
        "    mechanism | orders | 10 × 0.025-GDP (σ 40, Δ 1) | VI.20 | 13",
        "    partition | by_country | at most 2 rows in 5 of 240 blocks |  | 7",
        "      mechanism | by country | 5 blocks of 2 × 0.05-GDP (σ 20, Δ 1) | VI.20 | 11",
        "sum |  | the squares of μ add up: 0.25 + 0.0625 + 0.05 = 0.3625 | VI.23 | ",
        "reading |  | exact Gaussian at δ = 1e-6 | gaussian-curve | ",
    ]
    assert [node.number for node in report.tree] == list(range(1, 9))
    last = report.tree[-1].bound
    assert last is not None and (last.notion, last.value) == (
        Notion.APPROX,
        report.at_delta[0].value,
    )


def test_what_holds_without_a_mechanism_is_what_the_spec_without_it_says() -> None:
    report = analyze(SHOP)
    for share in report.shares:
        text = "".join(
            line
            for line in SHOP.splitlines(keepends=True)
            if f"name: {share.mechanism}," not in line
        )
        assert share.without == analyze(text).at_delta[0].value, share.mechanism
    assert sum(share.of_whole or 0 for share in report.shares) == 1
    assert [share.of_whole for share in report.shares] == [
        Fraction(20, 29),
        Fraction(5, 29),
        Fraction(4, 29),
    ]


def test_the_tree_of_a_sample() -> None:
    path = next(each for each in SPECS if each.stem == "dp-sgd")
    report = analyze(path.read_bytes(), path.name)
    kinds = [node.kind for node in report.tree]
    assert kinds == ["dataset", "dataset", "mechanism", "sum", "reading"]
    assert report.tree[1].theorem == "poisson-sample"
    assert "14062 draws: 10/11-GDP (σ 1.1, Δ 1)" in report.tree[2].says
    assert report.tree[-1].bound is not None
    assert report.tree[-1].bound.value == report.at_delta[0].value
    (share,) = report.shares
    assert share.bound.value == report.at_delta[0].value
    assert share.without == Fraction(0) and share.of_whole == Fraction(1)


def test_the_tree_of_a_row_that_moves_between_sampled_blocks() -> None:
    """Which way it goes is told, by which theorem, and of the costlier end alone what it is for."""
    text = """\
dpcompose: 1
protect: bounded
datasets:
  people: {}
  part: {from: people, partition: {by: value, blocks: [a, b]}}
  drawn: {from: part.*, map: {kind: sample, poisson: 1/4}}
mechanisms:
  - name: x
    reads: drawn
    guarantees: [{notion: pure, epsilon: 1}, {notion: pure, epsilon: 1, relation: unbounded}]
"""
    report = analyze(text)
    assert report.tree[1].says == "the row moves from one block to another: `a` and `b`"
    drawn = [(node.says, node.theorem) for node in report.tree if node.name == "drawn"]
    sample = "a Poisson sample of rate 0.25"
    assert drawn == [
        (f"{sample}: 1 row removed", "poisson-sample"),
        (f"{sample}: 1 row added", "poisson-sample-added"),
    ]
    assert [each.code for each in report.findings].count("DPC210") == 1
    told = [line.says for line in report.chain if line.theorem == "poisson-sample-added"]
    assert told == ["`drawn` is a Poisson sample of rate 0.25 of `part.*`: at worst 1 row added"]
    assert report.tree[-1].says.startswith("ε: the largest of 0.3573741 + 0.1720111; ")


def test_a_change_that_is_only_known_by_what_feels_it() -> None:
    text = """\
dpcompose: 1
protect: bounded
datasets:
  people: {}
  p: {from: people, partition: {by: value, blocks: [a, b, c]}}
mechanisms:
  - {name: x, reads: p.a, notion: pure, epsilon: 1, stated_on: people}
  - {name: y, reads: p.b, notion: gdp, mu: 1, stated_on: people}
  - {name: z, reads: p.c, notion: approx, epsilon: 0.5, delta: 1e-9, stated_on: people}
report: {delta: [1e-6]}
"""
    report = analyze(text)
    assert report.bound is None and report.tree[-1].kind == "reading"
    felt = {node.name for node in report.tree if node.kind == "mechanism"}
    assert felt == {each.mechanism for each in report.at_delta[0].touched} == {"x", "y"}
    assert {share.mechanism for share in report.shares} == felt
    assert all(share.bound.delta == Fraction("1e-6") for share in report.shares)


def checked(report: Report) -> None:
    """The laws of every tree and of every share."""
    assert bool(report.tree) == (report.status == "ok")
    assert [node.number for node in report.tree] == list(range(1, len(report.tree) + 1))
    depth = -1
    for node in report.tree:
        assert 0 <= node.depth <= depth + 1
        depth = node.depth
        assert node.theorem is None or node.theorem in BOOK
        assert node.bound is None or node.bound.value >= 0
    if report.bound is not None:
        assert report.shares or not any(node.kind == "mechanism" for node in report.tree)
        total = [node.bound for node in report.tree if node.kind == "sum"][-1]
        if report.record is None:
            assert total == report.bound
        else:  # the sum is what is spent, and the guarantee the budget
            assert total is not None and total.notion is report.record.notion
            final = [node.bound for node in report.tree if node.kind == "theorem"]
            assert final[-1] == report.bound
    asked = [at for at in (*report.at_delta, *report.at_epsilon) if at.value is not None]
    readings = [node for node in report.tree if node.kind == "reading"]
    assert len(readings) == len(asked)
    for node, at in zip(readings, asked, strict=True):
        assert node.bound is not None
        assert at.value in (node.bound.value, node.bound.delta)
    for share in report.shares:
        assert share.of_whole is None or 0 <= share.of_whole <= 1
        if share.without is not None:
            assert report.at_delta[0].value is not None
            assert 0 <= share.without <= report.at_delta[0].value
    if report.shares and all(share.of_whole is not None for share in report.shares):
        assert sum(share.of_whole or 0 for share in report.shares) == 1


@pytest.mark.parametrize("path", thinned(SPECS), ids=lambda path: path.stem)
def test_laws_of_kept_specs(path: Path) -> None:
    checked(analyze(path.read_bytes(), path.name))


@pytest.mark.parametrize("seed", seeds(30, range(60), quick=10))
def test_laws_of_random_specs(seed: int) -> None:
    checked(analyze(json.dumps({**random_spec(seed), "report": {"delta": [1e-6]}})))
