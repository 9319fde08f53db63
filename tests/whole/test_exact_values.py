"""Bounds of small specs that are known by hand: one rule of the calculus each, at its worst."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from tables import tables, value
from walks import problem_of

from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.report.certify import certify

TABLES = tables(__file__)

TABLE = "people: {}"
OF_UNITS = "people: {unit: id}"
OF_TEN = "people: {domain: fixed-size-table, size: 10}"
POISSON = "s: {from: people, map: {kind: sample, poisson: 1/4}}"
BLOCKS = "p: {from: people, partition: {by: value, blocks: [x, y, z]}}"


def bound(datasets: str, mechanisms: str, protect: str, notion: Notion = Notion.PURE) -> float:
    """What adds up of the bound in a notion; infinite where there is none."""
    problem = problem_of(datasets, mechanisms, protect)
    found = [each for each in certify(problem).solved if each.notion is notion]
    amounts = [float(each.amount) for solved in found for each in solved.quantities]
    return min(amounts, default=math.inf)


def at_delta(datasets: str, mechanisms: str, protect: str, delta: str) -> float:
    """The least ε at a δ."""
    [found] = certify(problem_of(datasets, mechanisms, protect), (), [Fraction(delta)]).at_delta
    return math.inf if found.value is None else float(found.value)


def sampled(epsilon: float, rate: float) -> float:
    return math.log(1 + rate * math.expm1(epsilon))


def pure(reads: str, more: str = "relation: unbounded", epsilon: str = "1") -> str:
    return f"name: on {reads}, reads: {reads}, notion: pure, epsilon: {epsilon}, {more}"


def made(how: str, of: str = "people", name: str = "m") -> str:
    return f"{name}: {{from: {of}, map: {how}}}"


ADDED, USER = "unbounded", "user"

CASES = TABLES["pure DP"]


@pytest.mark.parametrize("case", CASES)
def test_pure(case: str) -> None:
    *spec, expected = CASES[case]
    assert bound(*spec) == pytest.approx(value(expected), rel=1e-9)


@pytest.mark.parametrize("case", [name for name in CASES if "count" not in CASES[name][1]])
def test_copies_cost_as_often(case: str) -> None:
    """Fresh copies are independent, whatever they read through."""
    datasets, mechanisms, protect, expected = CASES[case]
    several = "\n".join(f"{line}, count: 3" for line in mechanisms.splitlines())
    assert bound(datasets, several, protect) == pytest.approx(3 * value(expected), rel=1e-9)


@pytest.mark.slow
def test_copies_of_several_rows_through_a_sample_cost_as_often() -> None:
    protects = ["{relation: unbounded, distance: 3}", "{relation: bounded, distance: 2}"]
    of_ten = f"{OF_TEN}\n{made('{kind: sample, size: 2, of: 10}', name='s')}"
    for datasets, relation in ((f"{TABLE}\n{POISSON}", "unbounded"), (of_ten, "bounded")):
        for protect in protects[relation == "bounded" :]:
            one, three = (
                bound(datasets, pure("s", f"relation: {relation}, count: {n}"), protect)
                for n in (1, 3)
            )
            assert three == pytest.approx(3 * one, rel=1e-9) and 0 < one < 4
            told = [
                at_delta(datasets, pure("s", f"relation: {relation}, count: {n}"), protect, "0.01")
                for n in (1, 3)
            ]
            assert told[1] > 1.5 * told[0] > 0


def test_some_of_three_rows_at_a_delta() -> None:
    """One of them at least is drawn, which a statement about anything covers at once."""
    datasets = f"{TABLE}\n{made('{kind: flatten, max_rows: 3}')}\n"
    datasets += made("{kind: sample, poisson: 1/4}", "m", "s")
    found = at_delta(datasets, pure("s", "relation: free-lunch"), ADDED, "1e-12")
    assert found >= sampled(1, 1 - 0.75**3) * (1 - 1e-6)


RHO = TABLES["rho"]


@pytest.mark.parametrize("case", RHO)
def test_rho(case: str) -> None:
    datasets, mechanisms, protect, expected = RHO[case]
    problem = problem_of(datasets, mechanisms, protect)
    [quantity] = Solver(problem).solve(Notion.ZCDP).quantities
    assert float(quantity.amount) == pytest.approx(value(expected), rel=1e-9)


def test_pairs_of_a_users_rows_over_blocks() -> None:
    datasets = f"{OF_UNITS}\n{made('{kind: cap, rows: 50, keep: first}')}\n"
    datasets += "p: {from: m, partition: {by: value, blocks: [x, y, z]}}"
    approx = "name: a, reads: p.*, notion: approx, epsilon: 0.01, delta: 1e-9, relation: unbounded"
    found = certify(problem_of(datasets, approx, USER)).solutions[0].quantities
    assert min(float(each.amount) for each in found) == pytest.approx(0.5)
    # 1e-9·(1 + e^0.01 + … + e^0.49)
    least = 1e-9 * math.expm1(0.5) / math.expm1(0.01)
    assert min(float(each.delta) for each in found) >= least * (1 - 1e-9)


@pytest.mark.parametrize("keep", ["first", "random"])
@pytest.mark.parametrize("kind", ["cap", "limit, per: city"])
def test_a_row_that_displaces_another(kind: str, keep: str) -> None:
    """By chance the row that gives way is drawn half of the time; in an order it is known."""
    datasets = f"{OF_UNITS}\n{made(f'{{kind: {kind}, rows: 1, keep: {keep}}}')}"
    mechanisms = (
        "name: a, reads: m, guarantees: [{notion: pure, epsilon: 1, relation: unbounded}, "
        "{notion: pure, epsilon: 1, relation: bounded, stated_on: people}]"
    )
    least = 1 if keep == "first" else math.log((1 + math.exp(2)) / 2)
    assert least * (1 - 1e-9) <= bound(datasets, mechanisms, ADDED) <= 2


def test_a_drawn_row_that_gives_way_keeps_no_column() -> None:
    datasets = f"{OF_TEN}\n{made('{kind: sample, size: 2, of: 10}')}\n"
    datasets += "p: {from: m, partition: {by: key, column: c, blocks: [x, y]}}"
    protect = "{relation: bounded, keeps: [c]}"
    mechanisms = (
        "name: a, reads: p.*, guarantees: [{notion: pure, epsilon: 1, relation: unbounded}, "
        "{notion: pure, epsilon: 1, relation: bounded}]"
    )
    truth = math.log((0.8 + 0.2 * math.exp(2)) / (0.8 + 0.2 * math.e))
    assert truth * (1 - 1e-9) <= bound(datasets, mechanisms, protect) <= 1


def ways_of_rows(rows: int, blocks: int) -> Iterator[list[tuple[int, int]]]:
    """For each block how many rows leave and enter it, for all ways of replacing so many rows."""
    ends = range(blocks + 1)  # the last: none
    for chosen in product(product(ends, repeat=2), repeat=rows):
        hits = [[0, 0] for _ in ends]
        same = [0 for _ in ends]
        for before, after in chosen:
            hits[before][0] += 1
            hits[after][1] += 1
            same[before] += before == after
        yield [(out, come) for out, come in hits[:blocks]]


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("power", [1, 2])
def test_several_replaced_rows_against_every_way(rows: int, power: int) -> None:
    rng = random.Random(rows * power)
    notion, key = (Notion.PURE, "epsilon") if power == 1 else (Notion.ZCDP, "rho")
    for _ in range(4 if rows < 3 else 2):
        once = [rng.randint(1, 6) for _ in range(3)]
        both = [rng.randint(1, 2 * each) for each in once]
        mechanisms = "\n".join(
            f"name: m{name}, reads: p.{name}, guarantees: ["
            f"{{notion: {notion}, {key}: {u**power}, relation: unbounded}}, "
            f"{{notion: {notion}, {key}: {b**power}, relation: bounded}}]"
            for name, u, b in zip("xyz", once, both, strict=True)
        )
        truth = max(
            sum(
                (min(out, come) * b + abs(out - come) * u) ** power
                for (out, come), u, b in zip(way, once, both, strict=True)
            )
            for way in ways_of_rows(rows, 3)
        )
        protect = f"{{relation: bounded, distance: {rows}}}"
        found = bound(f"{TABLE}\n{BLOCKS}", mechanisms, protect, notion)
        assert found == pytest.approx(truth, rel=1e-9), (once, both)
