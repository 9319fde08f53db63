"""Bounds of small specs that are known by hand: one rule of the calculus each, at its worst."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from walks import problem_of

from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.report.certify import certify

TABLE = "people: {}"
OF_UNITS = "people: {unit: id}"
OF_TEN = "people: {domain: fixed-size-table, size: 10}"
ORDERED = "people: {domain: ordered-table}"
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


CAP = made("{kind: cap, rows: 3, keep: first}")
ADDED, REPLACED, USER = "unbounded", "bounded", "user"

CASES: dict[str, tuple[str, str, str, float]] = {
    # maps
    "a group by the unit under added rows": (
        f"{OF_UNITS}\n{made('{kind: group, by: id}')}",
        pure("m"),
        ADDED,
        2,
    ),
    "a group by the unit under users": (
        f"{OF_UNITS}\n{made('{kind: group, by: id}')}",
        pure("m"),
        USER,
        1,
    ),
    "rows that are units, limited by another column": (
        f"{OF_UNITS}\n{made('{kind: group, by: id}')}\n"
        + made("{kind: limit, per: c, rows: 1, keep: first}", "m", "l"),
        pure("l"),
        USER,
        2,
    ),
    "rows of a user limited by another column": (
        f"{OF_UNITS}\n{CAP}\n" + made("{kind: limit, per: c, rows: 1, keep: first}", "m", "l"),
        pure("l"),
        USER,
        6,
    ),
    "a statement above a group by the unit": (
        f"{OF_UNITS}\n{CAP}\n" + made("{kind: group, by: id}", "m", "g"),
        pure("g", "relation: unbounded, stated_on: m"),
        USER,
        3,
    ),
    "three flattens": (
        f"{TABLE}\n{made('{kind: flatten, max_rows: 2}')}\n"
        + made("{kind: flatten, max_rows: 3}", "m", "n")
        + "\n"
        + made("{kind: flatten, max_rows: 5}", "n", "o"),
        pure("o"),
        ADDED,
        30,
    ),
    "three samples": (
        f"{TABLE}\n{made('{kind: sample, poisson: 1/2}')}\n"
        + made("{kind: sample, poisson: 1/2}", "m", "n")
        + "\n"
        + made("{kind: sample, poisson: 1/2}", "n", "o"),
        pure("o"),
        ADDED,
        sampled(1, 1 / 8),
    ),
    # samples, by how many mechanisms read
    "a Poisson sample": (f"{TABLE}\n{POISSON}", pure("s"), ADDED, sampled(1, 0.25)),
    "one sample for all": (
        f"{TABLE}\ns: {{from: people, map: {{kind: sample, poisson: 1/4, draws: one}}}}",
        pure("s", "relation: unbounded, count: 3"),
        ADDED,
        sampled(3, 0.25),
    ),
    "a statement above a sample": (
        f"{TABLE}\n{POISSON}",
        pure("s", "relation: unbounded, stated_on: people"),
        ADDED,
        1,
    ),
    "a sample of fixed size": (
        f"{OF_TEN}\n{made('{kind: sample, size: 2, of: 10}')}",
        pure("m", "relation: bounded"),
        REPLACED,
        sampled(1, 0.2),
    ),
    "a replaced row through a Poisson sample": (
        f"{TABLE}\n{POISSON}",
        pure("s"),
        REPLACED,
        math.log((0.75 + 0.25 * math.e) / (0.75 + 0.25 / math.e)),
    ),
    "a sample of an ordered table keeps the order": (
        "people: {domain: ordered-table, size: 10}\n" + made("{kind: sample, size: 2, of: 10}"),
        pure("m", "relation: bounded"),
        REPLACED,
        1,
    ),
    "two rows in one table and one in the other": (
        f"{TABLE}\n{POISSON}",
        pure("s", "relation: free-lunch"),
        "{relation: unbounded, distance: 3}",
        math.log((1 + (1 - 0.75**2) * math.expm1(1)) / (1 + 0.25 * math.expm1(-1))),
    ),
    "a user's rows through a sample, stated for users": (
        f"{OF_UNITS}\n{CAP}\n" + made("{kind: sample, poisson: 1/4}", "m", "s"),
        pure("s", "relation: user"),
        USER,
        sampled(1, 1 - 0.75**3),
    ),
    # partitions
    "free-lunch statements on nine blocks by position": (
        f"{ORDERED}\np: {{from: people, partition: {{by: position, blocks: 9}}}}",
        pure("p.*", "relation: free-lunch"),
        ADDED,
        9,
    ),
    "free-lunch statements on unlike blocks by position": (
        f"{ORDERED}\np: {{from: people, partition: {{by: position, blocks: [v, w, x, y, z]}}}}",
        "\n".join(
            pure(f"p.{name}", "relation: free-lunch", str(n)) for n, name in enumerate("vwxyz", 1)
        ),
        ADDED,
        15,
    ),
    "two rows in equal blocks, for statements about anything": (
        f"{TABLE}\np: {{from: people, partition: {{by: value, blocks: 4}}}}",
        pure("p.*", "relation: free-lunch"),
        "{relation: bounded, distance: 2}",
        4,
    ),
    "a row in three of many blocks": (
        f"{TABLE}\np: {{from: people, partition: {{by: membership, blocks: 9, max_blocks: 3}}}}",
        pure("p.*"),
        ADDED,
        3,
    ),
    "a replaced row in three of many blocks": (
        f"{TABLE}\np: {{from: people, partition: {{by: membership, blocks: 9, max_blocks: 3}}}}",
        pure("p.*"),
        REPLACED,
        6,
    ),
    "rows of a user in overlapping blocks": (
        f"{OF_UNITS}\n{made('{kind: cap, rows: 2, keep: first}')}\n"
        "p: {from: m, partition: {by: membership, blocks: 9, max_blocks: 3}}",
        pure("p.*"),
        USER,
        6,
    ),
    "users stated on five blocks": (
        f"{OF_UNITS}\np: {{from: people, partition: {{by: value, blocks: 5}}}}",
        pure("p.*", "relation: user"),
        USER,
        5,
    ),
    "a user's rows in blocks by the unit": (
        f"{OF_UNITS}\np: {{from: people, partition: {{by: key, column: id, blocks: 5}}}}",
        pure("p.*", "relation: user"),
        USER,
        1,
    ),
    "a user's rows in blocks by another key": (
        f"{OF_UNITS}\np: {{from: people, partition: {{by: key, column: city, blocks: 5}}}}",
        pure("p.*", "relation: user"),
        USER,
        5,
    ),
    "rows in a block of those that a user fills": (
        f"{OF_UNITS}\n{made('{kind: cap, rows: 7, keep: first}')}\n"
        "p: {from: m, partition: {by: value, blocks: 5, max_rows_per_block: 2, "
        "max_blocks_per_unit: 3}}",
        pure("p.*"),
        USER,
        6,
    ),
    "kinds that feed several blocks": (
        f"{TABLE}\np: {{from: people, partition: {{by: kinds, kinds: "
        "{one: [x, y], two: [y, z], three: [z], other: []}}}",
        "\n".join([pure("p.x"), pure("p.y", epsilon="2"), pure("p.z", epsilon="4")]),
        REPLACED,
        12,
    ),
    # copies, and several that are read
    "many copies": (TABLE, pure("people", "relation: unbounded, count: 250"), ADDED, 250),
    "many copies on blocks": (
        f"{TABLE}\n{BLOCKS}",
        pure("p.x", "relation: unbounded, count: 250"),
        ADDED,
        250,
    ),
    "a parameter for each block, several copies": (
        f"{TABLE}\n{BLOCKS}",
        "name: a, reads: p.*, notion: pure, epsilon: {x: 1, y: 2, z: 4}, count: 3, "
        "relation: unbounded",
        REPLACED,
        24,
    ),
    "a table and what is made of it": (
        f"{TABLE}\n{made('{kind: row}')}\n{made('{kind: filter}', name='f')}\n{BLOCKS}",
        "\n".join(pure(each) for each in ("people", "m", "f", "p.x", "p.y")),
        ADDED,
        4,
    ),
    "two roots": (
        "one: {}\ntwo: {}",
        f"{pure('one')}\n{pure('two', epsilon='2')}",
        ADDED,
        3,
    ),
    "two steps": (TABLE, pure("people"), "{relation: unbounded, distance: 2}", 2),
    # statements
    "added rows for a replaced one": (TABLE, pure("people"), REPLACED, 2),
    "users for a row": (OF_UNITS, pure("people", "relation: user"), ADDED, 2),
    "users for a replaced row": (OF_UNITS, pure("people", "relation: user"), REPLACED, 4),
    "users for a replaced row that keeps its unit": (
        OF_UNITS,
        pure("people", "relation: user"),
        "{relation: bounded, keeps: [id]}",
        2,
    ),
    "replaced rows for one filtered out": (
        f"{TABLE}\n{made('{kind: filter}')}",
        pure("m", "relation: bounded"),
        REPLACED,
        math.inf,
    ),
    "two statements that take turns": (
        f"{TABLE}\n{made('{kind: flatten, max_rows: 2}')}",
        "name: a, reads: m, guarantees: [{notion: pure, epsilon: 2, relation: unbounded}, "
        "{notion: pure, epsilon: 3, relation: bounded}]",
        REPLACED,
        6,
    ),
    "a value that moves": (
        f"{TABLE}\n{made('{kind: value, sensitivity: 3, diameter: 100}')}",
        pure("m", "relation: euclidean"),
        REPLACED,
        6,
    ),
    "a value that moves by several rows": (
        f"{TABLE}\n{made('{kind: value, sensitivity: 3, diameter: 100}')}",
        pure("m", "relation: euclidean"),
        "{relation: unbounded, distance: 4}",
        12,
    ),
    "replaced rows above blocks by key for one added": (
        f"{TABLE}\np: {{from: people, partition: {{by: key, column: c, blocks: [x, y]}}}}\n"
        + made("{kind: filter, drops: true}", "p.x"),
        pure("m", "relation: bounded, stated_on: people"),
        ADDED,
        math.inf,
    ),
    "a value that moves no further than its diameter": (
        f"{TABLE}\n{made('{kind: value, diameter: 5}')}",
        pure("m", "relation: euclidean"),
        REPLACED,
        5,
    ),
    "edges for a vertex": (
        "people: {domain: graph, max_degree: 4}",
        pure("people", "relation: edge"),
        "node",
        4,
    ),
    "edges for a rewired vertex": (
        "people: {domain: graph, max_degree: 4}",
        pure("people", "relation: edge"),
        "node-rewired",
        8,
    ),
    # concrete mechanisms
    "a sensitivity for added rows alone": (
        TABLE,
        "name: a, reads: people, mechanism: laplace, scale: 1, sensitivity: {unbounded: 1}",
        REPLACED,
        2,
    ),
    "a histogram's noise for a row replaced": (
        TABLE,
        "name: a, reads: people, mechanism: laplace, scale: 1, sensitivity: {one_hot: 1}",
        REPLACED,
        2,
    ),
    "Laplace noise in L1 by L2 and the dimension": (
        TABLE,
        "name: a, reads: people, mechanism: laplace, scale: 1, sensitivity: "
        "{unbounded: {l2: 1, dimension: 9}}",
        ADDED,
        3,
    ),
    "geometric noise by squares and the dimension": (
        TABLE,
        "name: a, reads: people, mechanism: geometric, scale: 1, sensitivity: "
        "{unbounded: {l2_squared: 4, dimension: 4}}",
        ADDED,
        4,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_pure(case: str) -> None:
    *spec, expected = CASES[case]
    assert bound(*spec) == pytest.approx(expected, rel=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "case", [name for name, (*_, value) in CASES.items() if "count" not in CASES[name][1]]
)
def test_copies_cost_as_often(case: str) -> None:
    """Fresh copies are independent, whatever they read through."""
    datasets, mechanisms, protect, expected = CASES[case]
    several = "\n".join(f"{line}, count: 3" for line in mechanisms.splitlines())
    assert bound(datasets, several, protect) == pytest.approx(3 * expected, rel=1e-9)


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


RHO = {
    "many equal rows in overlapping blocks": (
        f"{TABLE}\np: {{from: people, partition: {{by: membership, blocks: 3, max_blocks: 3}}}}",
        "name: a, reads: p.*, notion: zcdp, rho: 1, relation: unbounded",
        "{relation: unbounded, distance: 50}",
        7500,
    ),
    "many rows that fill blocks": (
        f"{OF_UNITS}\n{made('{kind: cap, rows: 2800, keep: first}')}\n"
        "p: {from: m, partition: {by: value, blocks: 50, max_rows_per_block: 100}}",
        "name: a, reads: p.*, notion: zcdp, rho: 1, relation: unbounded",
        USER,
        280_000,
    ),
    "many rows that fill blocks and one in part": (
        f"{OF_UNITS}\n{made('{kind: cap, rows: 2850, keep: first}')}\n"
        "p: {from: m, partition: {by: value, blocks: 50, max_rows_per_block: 100}}",
        "name: a, reads: p.*, notion: zcdp, rho: 1, relation: unbounded",
        USER,
        282_500,
    ),
    "unlike steps along a path": (
        f"{TABLE}\n{made('{kind: flatten, max_rows: 3}')}",
        "name: a, reads: m, guarantees: [{notion: zcdp, rho: 4, relation: unbounded}, "
        "{notion: zcdp, rho: 9, relation: bounded}]",
        REPLACED,
        81,
    ),
    "group privacy": (
        TABLE,
        "name: a, reads: people, notion: zcdp, rho: 1, relation: unbounded",
        "{relation: unbounded, distance: 7}",
        49,
    ),
    "a squared norm that has no root": (
        TABLE,
        "name: a, reads: people, mechanism: gaussian, sigma: 1, "
        "sensitivity: {unbounded: {l2_squared: 2}}",
        ADDED,
        1,
    ),
    "norms in different units": (
        TABLE,
        "name: a, reads: people, mechanism: gaussian, sigma: 1, sensitivity: "
        "{unbounded: {l2_squared: 2}, bounded: {l2_squared: 6}}",
        REPLACED,
        3,
    ),
    "norms in different units along one path": (
        f"{TABLE}\n{made('{kind: group, by: c}')}",
        "name: a, reads: m, mechanism: gaussian, sigma: 1, sensitivity: "
        "{unbounded: {l2_squared: 6}, bounded: {l2_squared: 2}}",
        REPLACED,
        (math.sqrt(2) + math.sqrt(6)) ** 2 / 2,
    ),
    "whole steps in L2": (
        TABLE,
        "name: a, reads: people, mechanism: discrete-gaussian, sigma: 1, "
        "sensitivity: {unbounded: {l2_squared: 5}}",
        ADDED,
        2.5,
    ),
}


@pytest.mark.parametrize("case", RHO)
def test_rho(case: str) -> None:
    datasets, mechanisms, protect, expected = RHO[case]
    problem = problem_of(datasets, mechanisms, protect)
    [quantity] = Solver(problem).solve(Notion.ZCDP).quantities
    assert float(quantity.amount) == pytest.approx(expected, rel=1e-9)


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
