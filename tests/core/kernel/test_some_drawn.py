"""Users and rows through a Poisson sample: bounds without a δ against linear programs.

The worst mechanism gives one event a chance for each part of the change that may be drawn; its
statements bound these chances by one another, and the chances of the event on the two tables are
their means. That is all that the statements say, so that the optimum is the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest
from reference.events import largest_gain
from walks import driven, problem_of

import dpcompose
from dpcompose.core.change.propagation import one_below
from dpcompose.core.change.units import (
    ANY,
    PAIR,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    all_leaves,
    leaf_item,
    state_of,
)
from dpcompose.core.loss.algebra import Walk
from dpcompose.core.loss.algebras import Scalars
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.core.theorem import Refused
from dpcompose.report.proof_steps import proof_of
from dpcompose.report.recheck import certificate_lines, recheck

F = Fraction
#: How many rows of each user are drawn.
Part = tuple[int, ...]
#: A relation, ε and δ.
Said = tuple[str, float, float]


def solved(
    said: Sequence[Said], cap: int, users: int, rate: F, below: str = ""
) -> tuple[Solution, tuple[str, ...]]:
    """The bound of one mechanism on a sample of capped rows, and the theorems cited."""
    stated = ", ".join(
        f"{{notion: approx, relation: {name}, epsilon: {epsilon}, delta: {delta}}}"
        if delta
        else f"{{notion: pure, relation: {name}, epsilon: {epsilon}}}"
        for name, epsilon, delta in said
    )
    datasets = f"""people: {{unit: person}}
        capped: {{from: people, map: {{kind: cap, rows: {cap}, keep: first, order: day}}}}
        day: {{from: capped, map: {{kind: sample, poisson: {rate}}}}}"""
    if below:
        datasets += f"\nlast: {{from: day, map: {below}}}"
    reads = "last" if below else "day"
    problem = problem_of(
        datasets,
        f"name: m, reads: {reads}, guarantees: [{stated}]",
        f"{{relation: user, distance: {users}}}",
    )
    solver = Solver(problem)
    notion = Notion.APPROX if any(delta for *_, delta in said) else Notion.PURE
    solution = solver.solve(notion)
    cited = proof_of(solver, solution).theorems
    assert recheck(certificate_lines(solver, [solution])).claims
    return solution, cited


def chance(part: Part, owners: Sequence[int], cap: int, rate: float) -> float:
    """That so many rows of each user are drawn of a table that has those of these users."""
    found = 1.0
    for user, n in enumerate(part):
        if user in owners:
            found *= math.comb(cap, n) * rate**n * (1 - rate) ** (cap - n)
        else:
            found *= n == 0
    return found


def steps(said: Sequence[Said], make: Callable[[int], int]) -> Callable[[Part, Part], list[Said]]:
    """By which statements one step leads from one part to another."""

    def found(a: Part, b: Part) -> list[Said]:
        apart = [abs(make(x) - make(y)) for x, y in zip(a, b, strict=True)]
        changed = sum(n > 0 for n in apart)
        return [
            each
            for each in said
            if (changed <= 1 if each[0] == "user" else sum(apart) <= 1) and a != b
        ]

    return found


def truth(
    epsilon: float,
    said: Sequence[Said],
    cap: int,
    users: int,
    rate: float,
    make: Callable[[int], int] = lambda n: n,
) -> float:
    """The largest P(E) - e^ε·Q(E), for all ways of sharing out the users."""
    parts = list(product(range(cap + 1), repeat=users))
    step = steps(said, make)
    known = [(a, b, e, d) for a, b in combinations(parts, 2) for _, e, d in step(a, b)]
    worst = 0.0
    for first in range(users + 1):
        p = {part: chance(part, range(first), cap, rate) for part in parts}
        q = {part: chance(part, range(first, users), cap, rate) for part in parts}
        worst = max(worst, largest_gain(p, q, known, epsilon))
    return worst


PURE: list[tuple[list[Said], int, int, F]] = [
    ([("user", 0.5, 0)], 3, 1, F(1, 10)),
    ([("user", 0.5, 0)], 6, 1, F(1, 3)),
    ([("user", 0.5, 0)], 2, 2, F(9, 10)),
    ([("user", 0.8, 0)], 2, 3, F(1, 2)),
    ([("unbounded", 0.3, 0)], 4, 1, F(1, 5)),
    ([("user", 0.5, 0), ("unbounded", 0.2, 0)], 4, 1, F(2, 5)),
    ([("user", 0.5, 0), ("unbounded", 0.3, 0)], 2, 2, F(3, 5)),
]


@pytest.mark.parametrize(("said", "cap", "users", "rate"), PURE)
def test_pure_losses_are_those_of_the_worst_mechanism(
    said: list[Said], cap: int, users: int, rate: F
) -> None:
    solution, _ = solved(said, cap, users, rate)
    bound = float(solution.loss)
    # The least ε at which nothing is left: just below it something is.
    assert truth(bound + 1e-9, said, cap, users, float(rate)) < 1e-11
    assert truth(bound * 0.999, said, cap, users, float(rate)) > 1e-9


@pytest.mark.parametrize(
    ("said", "cap", "users", "rate"),
    [
        ([("user", 0.5, 0.01)], 3, 1, F(1, 10)),
        ([("user", 0.5, 0.01)], 3, 1, F(9, 10)),
        ([("user", 0.5, 0.01)], 2, 2, F(3, 10)),
        ([("user", 0.5, 0.01), ("unbounded", 0.2, 0.001)], 4, 1, F(2, 5)),
        ([("user", 0.9, 0.001), ("unbounded", 0.5, 0.01)], 3, 1, F(4, 5)),
    ],
)
def test_pairs_are_above_the_worst_mechanism(
    said: list[Said], cap: int, users: int, rate: F
) -> None:
    solution, _ = solved(said, cap, users, rate)
    assert solution.quantities
    for each in solution.quantities:
        worst = truth(float(each.amount), said, cap, users, float(rate))
        assert worst <= float(each.delta) * (1 + 1e-6) + 1e-9
        if len(said) == 1:
            assert float(each.delta) <= worst * (1 + 1e-6) + 1e-9


def test_one_row_of_each_user_below_the_sample() -> None:
    # Grouped by the unit there is one row for each user of whom some row is drawn.
    said: list[Said] = [("unbounded", 0.5, 0)]
    solution, _ = solved(said, 3, 1, F(1, 10), "{kind: group, by: person}")
    assert float(solution.loss) == pytest.approx(math.log1p(0.271 * math.expm1(0.5)), rel=1e-12)
    bound = float(solution.loss)
    assert truth(bound - 1e-4, said, 3, 1, 0.1, lambda n: min(n, 1)) > 1e-9
    # A limit of two rows: the second one and the first are drawn, or one of them.
    limit = "{kind: limit, per: person, rows: 2, keep: first, order: day}"
    bound = float(solved(said, 3, 1, F(2, 5), limit)[0].loss)
    assert truth(bound + 1e-9, said, 3, 1, 0.4, lambda n: min(n, 2)) < 1e-11
    assert truth(bound * 0.999, said, 3, 1, 0.4, lambda n: min(n, 2)) > 1e-9


def test_poisson_sampling_is_cited_for_users() -> None:
    for said in ([("user", 0.5, 0.0)], [("user", 0.5, 1e-6)], [("unbounded", 0.3, 0.0)]):
        for users in (1, 2):
            assert solved(said, 3, users, F(1, 10))[1][-1] == "poisson-sample"
    # More than what one step of a whole user says.
    mixed = [("user", 0.5, 0.0), ("unbounded", 0.2, 0.0)]
    assert solved(mixed, 4, 1, F(2, 5))[1][-1] == "poisson-sample"


@pytest.mark.slow
def test_any_number_of_rows() -> None:
    # Rows that come and go together take one step, however many: with 10^9 of them some are drawn.
    for rows in (50, 1_000, 10**9):
        bound = float(solved([("user", 0.5, 0)], rows, 1, F(1, 1000))[0].loss)
        some = -math.expm1(rows * math.log1p(-0.001))
        assert bound == pytest.approx(math.log1p(some * math.expm1(0.5)), rel=1e-12)
    # ρ is not amplified, nor is it added up over rows.
    problem = problem_of(
        """people: {unit: person}
        capped: {from: people, map: {kind: cap, rows: 3, keep: first, order: day}}
        day: {from: capped, map: {kind: sample, poisson: 0.1}}""",
        "name: m, reads: day, notion: zcdp, rho: 0.5, relation: user",
        "user",
    )
    assert not Solver(problem).solve(Notion.ZCDP).finite


def test_it_is_for_several_rows_or_a_user_and_for_an_epsilon() -> None:
    def asked(part: State, become: Callable[[ChangeUnit], ChangeUnit]) -> Walk:
        ways = all_leaves(one_below(part, False, become))
        return F(sum(min(n * int(leaf.size or 1), 2) for leaf, n in ways.items()))
        yield

    def found(algebra: Scalars, *leaves: tuple[ChangeUnit, int], one_sided: bool = True) -> float:
        state = state_of((leaf_item(leaf), n) for leaf, n in leaves)
        walk = algebra.several_rows(state, F(1, 2), one_sided, "both", 1, asked)
        return float(driven(walk, lambda *_: F(0))[0])

    pure, user = Scalars(Notion.PURE), ChangeUnit(Kind.USER, size=3)
    # Of three rows any two lose as much as all: ln((1 + 3e + 4e²)/8).
    three = math.log((1 + 3 * math.e + 4 * math.e**2) / 8)
    assert found(pure, (SINGLE, 3)) == pytest.approx(three, rel=1e-12)
    assert found(pure, (user, 1)) == pytest.approx(three, rel=1e-12)
    # One of the three may be in the other table.
    one, two = (1 + 1 / math.e) / 2, (1 + 2 * math.e + math.e**2) / 4
    assert found(pure, (SINGLE, 3), one_sided=False) == pytest.approx(
        max(three, min(2, math.log(two / one)))
    )
    for leaves, why in (
        ([(SINGLE, 1)], "several rows"),
        ([(PAIR, 1)], "several rows"),
        ([(SINGLE, 2)], "a path says the same"),
        ([(ChangeUnit(Kind.USER), 1)], "known number"),
        ([(ANY, 1)], "known number"),
    ):
        with pytest.raises(Refused, match=why):
            found(pure, *leaves)
    with pytest.raises(Refused, match="about an ε"):
        found(Scalars(Notion.ZCDP), (user, 1))


def any_change(notion: str, size: int, rate: str = "0.1", relation: str = "unbounded") -> str:
    return f"""
dpcompose: 1
protect: free-lunch
datasets:
  rows: {{domain: fixed-size-table, size: {size}}}
  drawn: {{from: rows, map: {{kind: sample, poisson: {rate}}}}}
mechanisms:
  - {{name: m, reads: drawn, {notion}, relation: {relation}}}
"""


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_any_change_through_a_sample_replaces_all_rows(size: int, rate: float) -> None:
    """An event whose chance grows by e with each old row drawn, and falls by e with each new one,
    attains the bound: rows are drawn by themselves, so that the means are powers."""
    report = dpcompose.analyze(any_change("notion: pure, epsilon: 1", size, str(rate)), "spec")
    assert report.bound is not None
    truth = size * math.log((1 + rate * math.expm1(1)) / (1 + rate * math.expm1(-1)))
    assert float(report.bound.value) == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("relation", ["unbounded", "bounded", "free-lunch"])
def test_any_change_loses_as_much_in_every_notion(relation: str) -> None:
    pure = dpcompose.analyze(
        any_change("notion: pure, epsilon: 1", 3, relation=relation), "spec", deltas=["1e-12"]
    )
    assert pure.bound is not None and pure.at_delta[0].value is not None
    assert pure.at_delta[0].value <= pure.bound.value + Fraction(1, 10**9)
    beside = any_change("notion: pure, epsilon: 1", 3, relation=relation)
    beside += "  - {name: g, reads: rows, notion: zcdp, rho: 1, relation: bounded}\n"
    rho = dpcompose.analyze(beside, "spec").bound
    assert rho is not None
    epsilon = float(pure.bound.value)
    # The ρ of every pure mechanism with this ε, beside that of three rows replaced.
    assert float(rho.value) <= 9 + epsilon * math.tanh(epsilon / 2) + 1e-9
    assert float(rho.value) >= 9
