"""What the blocks lose, and what all beside them loses, as the search found it."""

from __future__ import annotations

from fractions import Fraction

from walks import problem_of

from dpcompose.core.hypotheses.beliefs import NONE, Belief, Block, Exactly
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.block_losses import questions
from dpcompose.core.search.solver import Solver

F = Fraction


def test_what_each_block_and_all_beside_them_lose() -> None:
    problem = problem_of(
        "people: {}\n"
        "parts: {from: people, partition: {by: membership, blocks: [x, y], max_blocks: 2}}",
        "name: a, reads: parts.x, notion: pure, epsilon: 1\n"
        "name: b, reads: parts.y, notion: pure, epsilon: 3\n"
        "name: beside, reads: people, notion: pure, epsilon: 1/2",
    )
    solver = Solver(problem)
    root = problem.roots[0].dataset
    either = Belief(((Exactly(frozenset({0})), F(1, 2)), (Exactly(frozenset({1})), F(1, 2))))
    beliefs = (NONE, either)
    classes = [(0, 1), (1, 1)]
    solution = solver.solve(Notion.PURE)
    (found,) = questions(solver, solution, (root,), root.partitions[0], classes, beliefs)
    assert found.blocks == (Block(F(1)), Block(F(3))) and found.beside == (F(1, 2), F(0))
    assert (found.first, found.second) == beliefs
