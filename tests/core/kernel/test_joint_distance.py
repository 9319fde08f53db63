"""The rule for joint bounds: which values it covers, and that its parts add up."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.kernel.joint_distance import groups, joint_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.resolve import resolve
from dpcompose.source import load

TEXT = """\
dpcompose: 1
protect: unbounded
datasets:
  t: {joint: {datasets: [a, b, c], l1: 5}}
  a: {from: t, map: {kind: value, metric: l1, sensitivity: 2}}
  b: {from: t, map: {kind: value, metric: l1}}
  c: {from: t, map: {kind: value, metric: l1}}
mechanisms:
  - {name: a, reads: a, relation: l1, notion: pure, epsilon: 2}
  - {name: b, reads: b, relation: l1, mechanism: laplace, scale: 1, sensitivity: 1}
"""


def test_values_that_are_read_per_unit_of_distance_are_covered_together() -> None:
    solver = Solver(resolve(load(TEXT.encode(), "t")).problem)
    [(_, top)] = solver.tops
    a, b, c = top.derived
    joint = joint_of(a)
    assert joint is not None and joint is joint_of(b) and joint.l1 == 5
    assert joint_of(c) is None and list(groups(top)) == [(0, 1)]


@pytest.mark.parametrize("notion", [Notion.PURE, Notion.ZCDP, Notion.GDP, Notion.APPROX])
def test_the_parts_add_up_to_the_loss(notion: Notion) -> None:
    solver = Solver(resolve(load(TEXT.encode(), "t")).problem)
    solution = solver.solve(notion)
    parts = [each.answer.choices for each in solution.visits if each.place.derived]
    losses = [choice.loss for choice in parts[0]]
    assert solution.algebra.add(losses) == solution.loss
    if notion is Notion.PURE:
        assert losses == [4, 3, 0] and solution.loss == Fraction(7)
