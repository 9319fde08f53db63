"""The protected change at a root, and draws of samples."""

from __future__ import annotations

import pytest
from walks import kinds, problem_of, top_of

from dpcompose.core.change.units import single_units
from dpcompose.core.model.draws import MOST_DRAWS, Releases, draws
from dpcompose.core.model.problem import Dataset, Problem
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import lay_out

PURE = "name: a, reads: {}, notion: pure, epsilon: 1"


def change(
    protect: str, table: str = "{}", reads: str = "people", more: str = ""
) -> dict[str, int]:
    """What one protected step does to the only root."""
    problem = problem_of(f"people: {table}", PURE.format("people"), protect)
    ((root, top),) = lay_out(problem)
    return kinds(initial(root, top, problem.goal))


@pytest.mark.parametrize(
    ("protect", "table", "found"),
    [
        ("unbounded", "{}", {"single": 1}),
        ("{relation: unbounded, distance: 3}", "{}", {"single": 3}),
        ("bounded", "{}", {"pair": 1}),
        ("user", "{unit: person}", {"user": 1}),
    ],
)
def test_what_one_protected_step_changes(protect: str, table: str, found: dict[str, int]) -> None:
    assert change(protect, table) == found


def test_a_graph_changes_by_edges_and_by_vertices() -> None:
    for protect, kind in (("edge", "edge"), ("node", "node"), ("node-rewired", "node-rewired")):
        problem = problem_of(
            "friends: {domain: graph, max_degree: 4}",
            "name: a, reads: friends, notion: pure, epsilon: 1, relation: edge",
            protect,
        )
        ((root, top),) = lay_out(problem)
        assert kinds(initial(root, top, problem.goal)) == {kind: 1}


def test_what_a_replacement_keeps_is_known() -> None:
    problem = problem_of(
        "people: {}", PURE.format("people"), "{relation: bounded, keeps: [town, age]}"
    )
    ((root, top),) = lay_out(problem)
    ((unit, _),) = single_units(initial(root, top, problem.goal))
    assert unit[0][0].leaf.kept == ("age", "town")


# --- draws ---------------------------------------------------------------------------------------


def sampled(*counts: int, shared: bool = False, stated: str = "") -> Problem:
    how = "kind: sample, poisson: 1/2" + (", draws: one" if shared else "")
    rows = "\n".join(
        f"name: m{i}, reads: drawn, notion: pure, epsilon: 1, count: {n}{stated}"
        for i, n in enumerate(counts)
    )
    return problem_of(f"people: {{}}\ndrawn: {{from: people, map: {{{how}}}}}", rows)


def child(problem: Problem) -> Dataset:
    return problem.roots[0].dataset.derived[0]


def test_copies_read_draws_of_their_own() -> None:
    """Draws 1 and 2 are read by both, 3 to 5 by the one with five copies."""
    assert draws(child(sampled(2, 5)), None) == [(2, 2), (5, 3)]
    assert draws(child(sampled(4, 4)), None) == [(4, 4)]
    assert draws(child(sampled(2, 5, shared=True)), None) == [(None, 1)]
    assert draws(child(sampled(2, 5)), 3) == [(3, 1)]  # with the sample above it
    many = draws(child(sampled(*range(1, 4 * MOST_DRAWS))), None)
    assert len(many) <= MOST_DRAWS + 1 and sum(alike for _, alike in many) == 4 * MOST_DRAWS - 1


def test_one_release_alone_depends_on_a_draw() -> None:
    above = ", stated_on: people"
    assert Releases().read_once(child(sampled(1, stated=above)), 1)
    assert not Releases().read_once(child(sampled(1)), 1)  # nothing is stated above it
    assert not Releases().read_once(child(sampled(1, 1, stated=above)), 1)
    assert Releases().read_once(child(sampled(3, stated=above)), 1)  # one copy for each draw
    assert not Releases().read_once(child(sampled(3, shared=True, stated=above)), None)


def test_the_place_of_a_sample_knows_its_draws() -> None:
    top = top_of(sampled(2, 5))
    assert [place.edge.rounds for place in top.derived if place.edge is not None] == [2, 3]
    assert [place.round for place in top.derived] == [2, 5]
    assert len(list(top.subtree())) == 3 and next(iter(top.subtree())) is top
