"""The search: accountant, solver and derivation, on trees small enough by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from walks import driven, of, problem_of, top_of

from dpcompose.core.change.units import ANY, PAIR, SINGLE, State, leaf_item, state_of
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebras import Scalars
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.walk import Effort
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Bound, Quantity, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.proof import certificate_of, cost_of, used_statements
from dpcompose.core.search.select import compare
from dpcompose.core.search.solver import Solver, notions, pure_alone
from dpcompose.report.derivation import of_solution
from dpcompose.report.proof_steps import proof_of

F = Fraction
PURE = Scalars(Notion.PURE)
#: Three blocks with an ε each.
BLOCKS = {"x": F(1), "y": F(2), "z": F(4)}


def in_blocks(
    partition: str, protect: str = "unbounded", losses: Mapping[str, Fraction] = BLOCKS
) -> Problem:
    return problem_of(
        f"people: {{}}\nparts: {{from: people, partition: {partition}}}",
        "\n".join(
            f"name: on {name}, reads: parts.{name}, notion: pure, epsilon: {epsilon}, "
            "relation: unbounded"
            for name, epsilon in losses.items()
        ),
        protect,
    )


VALUE = "{by: value, blocks: [x, y, z]}"


# --- accountant ---------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_the_worst_rows_are_found_by_following_them(rows: int) -> None:
    top = top_of(in_blocks(VALUE))
    found = Accountant(PURE).answer(top, of(SINGLE, rows))
    assert found.loss == max(sum(BLOCKS[each] for each in w) for w in product("xyz", repeat=rows))
    assert found.own == () and len(found.choices) == 1
    assert Accountant(PURE).answer(top, of(PAIR)).loss == 8  # out of `z` and into it
    assert Accountant(PURE).answer(top, ()).loss == 0


def test_all_blocks_can_be_charged_with_the_same_costs() -> None:
    solver = Solver(in_blocks(VALUE))
    assert solver.solve(Notion.PURE).loss == 4
    assert solver.with_rows_in_all_blocks().solve(Notion.PURE).loss == 7
    assert solver.solve(Notion.PURE).loss == 4


def test_answers_are_kept() -> None:
    top = top_of(in_blocks(VALUE))
    accountant = Accountant(PURE)
    first = accountant.answer(top, of(SINGLE))
    assert accountant.answer(top, of(SINGLE)) is first


def test_answers_are_kept_by_all_units_of_a_change() -> None:
    problem = problem_of(
        "people: {}\nsome: {from: people, map: {kind: filter}}",
        "name: a, reads: some, notion: pure, epsilon: 1, relation: unbounded",
    )
    accountant, top = Accountant(PURE), top_of(problem)
    changes = [state_of([(leaf_item(SINGLE), 1)]), state_of([(leaf_item(PAIR), 1)])]
    both = state_of([(leaf_item(SINGLE), 1), (leaf_item(PAIR), 1)])
    assert [accountant.answer(top, each).loss for each in [*changes, both]] == [1, 2, 3]


def test_costs_are_kept_by_how_a_mechanism_is_seen() -> None:
    """Two statements of one mechanism, each from where it is seen."""
    problem = problem_of("people: {}", "name: a, reads: people, notion: pure, epsilon: 1")
    ((mechanism, (seen,)),) = top_of(problem).mechanisms
    half = seen.statement.guarantee._replace(value=F(1, 2))
    stated = seen.statement._replace(guarantee=half)
    accountant = Accountant(PURE)
    for placed, loss in (((seen,), 1), ((seen._replace(statement=stated),), F(1, 2))):
        for _ in range(2):
            assert accountant._cost(mechanism, placed, of(SINGLE))[2] == loss


def test_costs_with_curves_are_kept_beside_those_without() -> None:
    solver = Solver(in_blocks(VALUE))
    found = [solver._solve(Patterns(curves=each)) for each in (False, True, False)]
    plain, curved, again = (each.accountant.costs for each in found)
    assert plain is not curved and again is plain


def test_where_effort_ends_several_rows_are_a_path() -> None:
    """A path of two rows, each in the worst block: what two rows at once can do as well."""
    problem = in_blocks("{by: membership, blocks: [x, y, z], max_blocks: 1}")
    top = top_of(problem)
    rules = OverBlocks(PURE, top, top.dataset.partitions[0], top.blocks[0])
    accountant = Accountant(PURE)

    def cost(place: object, state: State) -> object:
        return accountant.answer(place, state).loss  # type: ignore[arg-type]

    for effort in (Effort(), Effort(0)):
        searching = Accountant(PURE)
        searching.effort = effort
        found, _ = driven(searching._over_blocks(rules, of(SINGLE, 2)), cost)
        assert found.loss == 8
    found, _ = driven(Accountant(PURE)._over_blocks(rules, of(ANY)), cost)
    assert found.loss == Scalars(Notion.PURE).none


# --- solver --------------------------------------------------------------------------------------


def test_a_solution_tells_what_each_mechanism_adds() -> None:
    problem = problem_of(
        "people: {}",
        "name: once, reads: people, notion: pure, epsilon: 1/2\n"
        "name: often, reads: people, notion: pure, epsilon: 1/4, count: 3",
        "{relation: unbounded, distance: 2}",
    )
    solver = Solver(problem)
    assert notions(problem) == [Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP]
    solution = solver.solve(Notion.PURE)
    once, often = solution.charges
    assert solution.loss == F(5, 2) and solution.finite and not solution.sampled
    assert solution.share(once) == Quantity(Notion.PURE, F(1))
    assert solution.share(often) == Quantity(Notion.PURE, F(3, 2))
    assert solution.one_copy(often) == Quantity(Notion.PURE, F(1, 2))
    assert solution.added_up() == F(5, 2) and solution.added_up([often]) == F(3, 2)
    assert bound_of(solution.quantities[0]) == Bound(Notion.PURE, F(5, 2))


def test_the_best_notion_that_all_have_is_the_strongest() -> None:
    mixed = problem_of(
        "people: {}",
        "name: a, reads: people, notion: gdp, mu: 3\n"
        "name: b, reads: people, notion: pure, epsilon: 1",
    )
    assert notions(mixed) == [Notion.GDP, Notion.ZCDP]
    # μ² = 9 and that of ε = 1, which is below ε²: 2Φ⁻¹(e/(1+e)) = 1.232…, below 1.24.
    gdp = Solver(mixed).solve(Notion.GDP)
    assert 9 + F(123, 100) ** 2 < gdp.loss < 9 + F(124, 100) ** 2
    assert not notions(
        problem_of("people: {}", "name: a, reads: people, notion: rdp, alpha: 2, epsilon: 1")
    )


def test_two_roots_are_both_changed_unless_they_are_apart() -> None:
    mechanisms = (
        "name: a, reads: one, notion: pure, epsilon: 1\n"
        "name: b, reads: other, notion: pure, epsilon: 2"
    )
    both = problem_of("one: {}\nother: {}", mechanisms)
    apart = problem_of("one: {}\nother: {}", mechanisms, more="roots: disjoint\n")
    assert Solver(both).solve(Notion.PURE).loss == 3
    assert Solver(apart).solve(Notion.PURE).loss == 2


def test_delta_that_reaches_one_is_kept_as_a_chance() -> None:
    problem = problem_of(
        "people: {}", "name: a, reads: people, notion: approx, epsilon: 1, delta: 1/2, count: 3"
    )
    solution = Solver(problem).solve(Notion.APPROX)
    (found,) = [each for each in solution.quantities if each.amount == 3]
    assert found.delta == 1 - F(1, 2) ** 3


# --- derivation ----------------------------------------------------------------------------------


def test_a_derivation_ends_in_the_bound_and_starts_from_statements() -> None:
    problem = in_blocks(VALUE)
    solver = Solver(problem)
    solution = solver.solve(Notion.PURE)
    proof = proof_of(solver, solution)
    steps = of_solution(solver, solution, proof)
    kinds = ["dataset", "partition", "block", "mechanism", "sum"]
    assert [each.kind for each in steps] == kinds
    assert (steps[-1].theorem,) == proof.theorems
    (charge,) = solution.charges  # of `z` alone: the worst row is there
    assert charge.mechanism.name == "on z" and steps[3].charge is charge
    assert [each.statement.guarantee.amount for each in cost_of(solution, charge).used] == [4]
    claims = certificate_of(solver, solution)
    assert claims.loss == claims.claims[claims.roots[0]].answer.loss == 4


def test_the_statement_that_gives_the_loss_is_told_alone() -> None:
    problem = problem_of(
        "people: {}\nadults: {from: people, map: filter}",
        "name: a, reads: adults, guarantees: "
        "[{notion: pure, epsilon: 1}, {notion: pure, epsilon: 3, stated_on: people}]",
    )
    solution = Solver(problem).solve(Notion.PURE)
    (charge,) = solution.charges
    assert len(charge.placed) == 2
    (used,) = used_statements(solution, charge)
    assert used.statement.guarantee.value == 1 == charge.loss


def test_a_solver_like_another_one_finds_the_same() -> None:
    """One mechanism is changed; what the others lose is known, unless they are seen otherwise."""
    problem = in_blocks(VALUE)
    first = Solver(problem)
    assert first.patterns
    first.solve(Notion.PURE)
    for changed in (
        in_blocks(VALUE, losses={**BLOCKS, "y": F(1)}),
        replace(problem, goal=in_blocks(VALUE, "bounded").goal),
    ):
        like, alone = Solver(changed, first), Solver(changed)
        assert like.patterns == alone.patterns
        assert like.solve(Notion.PURE).loss == alone.solve(Notion.PURE).loss


# --- no finite bound ------------------------------------------------------------------------------

UNCOVERED = {
    "blocks": ("p: {from: t, partition: {by: value, blocks: [x, y]}}", "p.x"),
    "a filter": (
        "f: {from: t, map: filter}\np: {from: f, partition: {by: value, blocks: 3}}",
        "p.*",
    ),
    "overlapping blocks": (
        "p: {from: t, partition: {by: membership, blocks: 4, max_blocks: 2}}",
        "p.*",
    ),
    "a row map": ("m: {from: t, map: row}\np: {from: m, partition: {by: value, blocks: 2}}", "p.0"),
}


@pytest.mark.parametrize("case", UNCOVERED)
def test_without_a_bound_in_pure_dp_no_other_notion_has_one(case: str) -> None:
    below, reads = UNCOVERED[case]
    mechanism = f"name: q, reads: {reads}, notion: pure, epsilon: 1, relation: bounded"
    problem = problem_of(f"t: {{}}\n{below}", mechanism, "bounded")
    assert pure_alone(problem)
    assert [Solver(problem).solve(each).finite for each in notions(problem)] == [False] * 4


def test_a_sample_may_have_a_bound_where_pure_dp_has_none() -> None:
    below = "s: {from: t, map: {kind: sample, poisson: 1/10}}"
    mechanism = "name: q, reads: s, notion: pure, epsilon: 1, relation: bounded"
    problem = problem_of(f"t: {{}}\n{below}", mechanism, "unbounded")
    assert not pure_alone(problem)


def test_the_sum_over_every_block_is_compared_where_it_is_looser() -> None:
    problem = in_blocks(VALUE)
    solver = Solver(problem)
    solution = solver.solve(Notion.PURE)
    compared = {each.theorem: each for each in compare(solver, solution, ("V.4",))}
    assert "V.4" not in compared
    looser = compared["V.3"]
    assert looser.bound is not None and looser.bound.value > solution.loss
    assert "every block" in looser.why
