"""A problem without some of its mechanisms."""

from __future__ import annotations

from dpcompose.core.model.problem import Problem
from dpcompose.resolve import resolve
from dpcompose.source import load

SPEC = """
dpcompose: 1
protect: unbounded
roots: disjoint
datasets: {a: {}, b: {}, c: {}}
mechanisms:
  - {name: x, reads: a, notion: pure, epsilon: 1}
  - {name: y, reads: b, notion: pure, epsilon: 2}
  - {name: z, reads: c, notion: pure, epsilon: 3}
"""


def named(problem: Problem) -> list[str]:
    return [each.name for each in problem.mechanisms()]


def test_roots_that_nothing_reads_go_and_the_others_stay_apart() -> None:
    problem = resolve(load(SPEC, "s.yaml")).problem
    rest = problem.without({"a", "x"})
    assert named(rest) == ["y", "z"] and named(problem) == ["x", "y", "z"]
    assert [root.dataset.name for root in rest.roots] == ["b", "c"]
    assert rest.apart == (frozenset({0, 1}),) and rest.roots_disjoint
    assert problem.without({"x", "y", "z"}).roots == []
