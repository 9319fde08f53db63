"""Several steps of a declared relation: against all ways in which their rows can be.

A step of `household` is made of at most so many steps of a built-in relation, and which ones are of
one household nobody knows. A guarantee for households counts those that reach a table, each once.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

import pytest
from volume import thinned
from walks import problem_of

from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.report.recheck import certificate_lines, recheck

F = Fraction


class Said(NamedTuple):
    """An ε for one row added or removed, for one replaced, and for one household, if stated."""

    single: F | None
    replaced: F | None
    household: F | None

    def written(self, above: str) -> str:
        """The guarantees, with the table on which that for households is stated."""
        names = ("unbounded", "bounded", f"household{above}")
        return ", ".join(
            f"{{notion: pure, epsilon: {amount}, relation: {name}}}"
            for name, amount in zip(names, self, strict=True)
            if amount is not None
        )

    def costs(self, singles: int, pairs: int) -> float:
        """The least path for what one household changes."""
        ways: list[float] = [] if singles or pairs else [0]
        if self.single is not None:
            pair = 2 * self.single if self.replaced is None else min(2 * self.single, self.replaced)
            ways.append(float(singles * self.single + pairs * pair))
        elif self.replaced is not None and not singles:
            ways.append(float(pairs * self.replaced))
        if self.household is not None:
            ways.append(float(self.household))
        return min(ways, default=math.inf)


def bound(problem: Problem) -> float:
    solver = Solver(problem)
    solution = solver.solve(Notion.PURE)
    if solution.finite:
        assert recheck(certificate_lines(solver, [solution])).claims
    return float(solution.loss)


def some(rng: random.Random, *others: None) -> F | None:
    return rng.choice([F(1, 4), F(1, 2), F(3, 4), F(1), F(3, 2), F(2), *others])


# --- over blocks ---------------------------------------------------------------------------------


def over_blocks(blocks: Sequence[Said], within: str, rows: int, distance: int) -> Problem:
    names = [f"b{n}" for n in range(len(blocks))]
    reading = "\n".join(
        f"name: m{n}, reads: blocks.b{n}, guarantees: [{each.written(', stated_on: people')}]"
        for n, each in enumerate(blocks)
    )
    return problem_of(
        f"people: {{}}\nblocks: {{from: people, partition: {{by: value, blocks: {names}}}}}",
        reading,
        f"{{relation: household, distance: {distance}}}",
        f"relations: {{household: {{within: {within}, distance: {rows}}}}}\n",
    )


def worst_over_blocks(blocks: Sequence[Said], within: str, rows: int, distance: int) -> float:
    places: list[int | None] = [*range(len(blocks)), None]
    ends = list(product(places, repeat=1 if within == "unbounded" else 2))
    households = list(combinations_with_replacement(ends, rows))
    # What one household costs each block adds up over households.
    return distance * max(
        sum(said.costs(*_in_block(n, household)) for n, said in enumerate(blocks))
        for household in households
    )


def _in_block(block: int, household: Sequence[tuple[int | None, ...]]) -> tuple[int, int]:
    inside = [sum(end == block for end in row) for row in household]
    return inside.count(1), inside.count(2)


@pytest.mark.parametrize("seed", thinned(range(30)))
def test_households_over_value_blocks(seed: int) -> None:
    rng = random.Random(seed)
    within = rng.choice(["unbounded", "bounded"])
    blocks = []
    for _ in range(3):
        single = some(rng, None)
        pair = some(rng, None) if within == "bounded" else None
        blocks.append(Said(single, pair, some(rng, None) if single else some(rng)))
    distance = rng.randint(1, 3)
    found = bound(over_blocks(blocks, within, 2, distance))
    assert found == pytest.approx(worst_over_blocks(blocks, within, 2, distance))


def test_each_household_reaches_each_block_once() -> None:
    quarter = [Said(None, None, F(1, 4))] * 3
    assert bound(over_blocks(quarter, "bounded", 2, 1)) == 0.75
    assert bound(over_blocks(quarter, "bounded", 2, 2)) == 1.5
    # Added and removed rows: two blocks for each of two households.
    half = [Said(None, None, F(1, 2))] * 3
    assert bound(over_blocks(half, "unbounded", 2, 2)) == 2


def test_two_households_may_have_one_row_each_in_a_block() -> None:
    """What is certified is attained: each block counts its households, with geometric noise."""
    rows = list(product("AB", "xyz"))  # (household, block)
    tables = [frozenset(row for row, n in zip(rows, bits, strict=True) if n) for bits in
              product((0, 1), repeat=len(rows))]  # fmt: skip

    def count(table: frozenset[tuple[str, str]], block: str) -> int:
        return len({household for household, where in table if where == block})

    for one, other in product(tables, repeat=2):
        changed = one ^ other
        if len(changed) <= 2 and len({household for household, _ in changed}) == 1:
            assert all(abs(count(one, b) - count(other, b)) <= 1 for b in "xyz")
    worst = max(
        sum(abs(count(one, b) - count(other, b)) for b in "xyz")
        for one, other in product(tables, repeat=2)
        if all(sum(row[0] == h for row in one ^ other) <= 2 for h in "AB")
    )
    half = [Said(None, None, F(1, 2))] * 3
    assert worst / 2 == bound(over_blocks(half, "unbounded", 2, 2)) == 2


# --- in roots of which nobody is in two ----------------------------------------------------------


def apart(roots: Sequence[Said], rows: int, distance: int) -> Problem:
    names = "abc"[: len(roots)]
    return problem_of(
        "\n".join(f"{name}: {{}}" for name in names),
        "\n".join(
            f"name: m{name}, reads: {name}, guarantees: [{said.written('')}]"
            for name, said in zip(names, roots, strict=True)
        ),
        f"{{relation: household, distance: {distance}}}",
        f"roots: disjoint\nrelations: {{household: {{within: unbounded, distance: {rows}}}}}\n",
    )


def worst_apart(roots: Sequence[Said], rows: int, distance: int) -> float:
    """Each household has its rows in the roots in the way that is worst."""
    shares = [each for each in product(range(rows + 1), repeat=len(roots)) if sum(each) <= rows]
    return distance * max(
        sum(said.costs(n, 0) for said, n in zip(roots, share, strict=True)) for share in shares
    )


@pytest.mark.parametrize("seed", range(12))
def test_the_rows_of_each_household_are_shared_out(seed: int) -> None:
    rng = random.Random(seed)
    roots = []
    for _ in range(rng.randint(2, 3)):
        single = some(rng, None)
        roots.append(Said(single, None, some(rng, None) if single else some(rng)))
    rows, distance = rng.randint(1, 4), rng.randint(1, 3)
    assert bound(apart(roots, rows, distance)) == worst_apart(roots, rows, distance)


def test_two_households_of_six() -> None:
    # Ten rows of 0.5, and one of each household where households are counted.
    roots = [Said(F(1, 2), None, None), Said(None, None, F(3, 5))]
    assert bound(apart(roots, 6, 1)) == pytest.approx(3.1)
    assert bound(apart(roots, 6, 2)) == pytest.approx(6.2)
    # (ε, δ), and at a chosen δ.
    problem = apart(roots, 6, 2)
    pairs = Solver(problem).solve(Notion.APPROX)
    assert [(each.amount, each.delta) for each in pairs.quantities] == [(F(31, 5), 0)]
    patterns = Solver(problem).patterns
    assert 0 < len(patterns) < 20


def test_too_many_ways_of_sharing_out_are_charged_to_each_root() -> None:
    roots = [Said(F(1, 2), None, None), Said(None, None, F(3, 5))]
    assert bound(apart(roots, 40, 2)) == pytest.approx(80 / 2 + 2 * 3 / 5)
