"""A mechanism that is added lowers no bound, in whichever notions it and the others are stated."""

from __future__ import annotations

import random
from fractions import Fraction as F

import pytest
from volume import seeds

from dpcompose.pipeline import analyze
from dpcompose.report import Report

STATED = [
    "notion: pure, epsilon: 0.01",
    "notion: pure, epsilon: 1",
    "notion: approx, epsilon: 0.3, delta: 0.001",
    "notion: zcdp, rho: 0.01",
    "notion: zcdp, rho: 0.1",
    "notion: zcdp, rho: 2",
    "notion: gdp, mu: 0.3",
    "notion: rdp, points: [[2, 0.3], [8, 1]]",
    "notion: rdp, alpha: 32, epsilon: 1",
    "notion: profile, points: [[0.1, 0.1], [1, 0.01]]",
    "mechanism: laplace, scale: 2, sensitivity: 1",
    "mechanism: gaussian, sigma: 3, sensitivity: 1",
    "mechanism: discrete-gaussian, sigma: 2, sensitivity: {l2: 3}",
    "mechanism: exponential, epsilon: 0.4, sensitivity: 1",
]


def _report(mechanisms: list[str], protect: str, more: str) -> Report:
    lines = "".join(f"  - {{name: m{n}, reads: t, {each}}}\n" for n, each in enumerate(mechanisms))
    text = f"dpcompose: 1\nprotect: {protect}\ndatasets: {{t: {{}}}}\nmechanisms:\n{lines}{more}"
    return analyze(text, "t", extent="bound")


#: Numbers that are composed on grids are rounded, each by its own grid.
GRIDS = 1 + 1e-6


@pytest.mark.parametrize("seed", seeds(6, range(6), quick=2))
@pytest.mark.parametrize("protect", ["bounded", "unbounded"])
def test_a_mechanism_that_is_added_lowers_no_number(seed: int, protect: str) -> None:
    draw = random.Random(seed)
    known = draw.sample(STATED, 1 + seed % 2)
    added = draw.choice(STATED)
    deltas = ("1/2", "0.45", "0.2", "0.05", "1e-3", "1e-6")
    more = f"report: {{delta: [{', '.join(deltas)}], epsilon: [0, 0.1, 0.7, 3]}}\n"
    before, after = (
        _report(
            [f"{each}, relation: unbounded" if "notion" in each else each for each in some],
            protect,
            more,
        )
        for some in (known, [*known, added])
    )
    for was, now in zip(
        (*before.at_delta, *before.at_epsilon), (*after.at_delta, *after.at_epsilon), strict=True
    ):
        assert was.given == now.given
        if now.value is not None:
            assert was.value is not None
            assert was.value <= now.value * F(GRIDS) + F(1, 10**9), (known, added, was.given)


def test_a_pure_mechanism_beside_zcdp_lowers_no_number() -> None:
    rho = "notion: zcdp, rho: 0.1, relation: unbounded"
    for pure in ("0.01", "1e-9"):
        found = [
            _report(some, "bounded", "report: {delta: 1/2}\n").at_delta[0].value
            for some in ([rho], [rho, f"notion: pure, epsilon: {pure}"])
        ]
        assert found == [0, 0]


def test_a_delta_that_is_not_bounded_is_one() -> None:
    noise = "mechanism: discrete-gaussian, sigma: 0.4, sensitivity: {l2: 5}, count: 3"
    for mechanism in (noise, "notion: rdp, alpha: 2, epsilon: 9", "notion: zcdp, rho: 500"):
        [found] = _report([mechanism], "unbounded", "report: {epsilon: 1/2}\n").at_epsilon
        assert found.value is not None and F(98, 100) <= found.value <= 1


BLOCKS = """\
dpcompose: 1
protect: {{relation: house, distance: 2}}
relations:
  house: {{within: node-rewired, distance: 2}}
datasets:
  rows: {{domain: graph, max_degree: 1}}
  d1: {{from: rows, map: nodes}}
  d2: {{from: d1, partition: {{by: value, blocks: {blocks}, drops: true}}}}
mechanisms:
- name: m0
  reads: d2.*
  guarantees:
  - {{notion: pure, stated_on: rows, relation: house, epsilon: '0.5'}}
"""


def test_many_rows_over_few_blocks_cost_no_more_than_any_change_of_them() -> None:
    """Each of a few blocks loses at most what is stated of the whole graph, 2 steps of 1/2."""
    for blocks in (2, 3, 20):
        found = analyze(BLOCKS.format(blocks=blocks), "t", recheck=True)
        assert found.bound is not None and found.rechecked is not None
        # In more blocks, twelve replaced rows cost less one by one.
        assert found.bound.value == min(blocks, 12)
        assert not found.rechecked.unchecked
