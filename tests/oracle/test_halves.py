"""Mechanisms with statements on several datasets, of which one path may use several in turn.

What is lost between two tables is at most the length of the shortest path between what is read of
them, where each statement joins what is read of any two neighbours of its dataset. Only tables that
come about are on the paths: the bound may not need others.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import islice, pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
import yaml
from scipy.optimize import linprog
from volume import seeds

from dpcompose.core.loss import cost, pair_cost
from dpcompose.pipeline import analyze

from . import columned
from .columned import MARGIN, MOST, Spec, Table, Universe

COLUMNS = ["k", "v", "w"]
GROUPED = """
dpcompose: 1
protect: {relation: bounded, keeps: [v]}
datasets:
  rows: {columns: [k, v, w]}
  groups: {from: rows, map: {kind: group, by: w}}
mechanisms:
  - name: m
    reads: groups
    guarantees:
      - {stated_on: rows, relation: unbounded, notion: pure, epsilon: "0.3"}
      - {relation: bounded, notion: pure, epsilon: "0.2"}
"""


def random_spec(rng: Random, notion: str = "pure") -> dict[str, Any]:
    """A spec with one mechanism, below two or three maps or partitions, with several statements."""
    datasets: dict[str, Any] = {"t": {"columns": COLUMNS}}
    path, here = ["t"], set(COLUMNS)
    for n in range(rng.randint(1, 3)):
        kinds = ["filter", "flatten", "value", "key", "row", *("limit", "group") * 3]
        if any("max_rows" in each.get("map", {}) for each in datasets.values()):
            kinds.remove("flatten")  # tables would be too large
        kind = rng.choice(kinds if here else ["filter", "row", "value"])
        keeps = sorted(rng.sample(sorted(here), rng.randint(min(1, len(here)), len(here))))
        name, block = f"d{n}", ""
        how: dict[str, Any] = {"kind": kind}
        match kind:
            case "row" | "flatten":
                how["keeps"], here = keeps, set(keeps)
                if kind == "flatten":
                    how["max_rows"] = 2
            case "value":
                how, block = {"by": "value", "blocks": 2}, ".0"
            case "key":
                how, block = {"by": "key", "column": keeps[0], "blocks": 2}, ".0"
            case "limit":
                how |= {"per": keeps[0], "rows": rng.randint(1, 2), "keep": "first"}
            case "group":
                how["by"], here = keeps[0], {keeps[0]}
        made_by = "partition" if kind in ("value", "key") else "map"
        datasets[name] = {"from": path[-1], made_by: how}
        path.append(name + block)
    reads = path[-1]
    said = [_statement(rng, "t", reads, notion, "unbounded")]
    for _ in range(rng.randint(1, 3)):
        said.append(_statement(rng, rng.choice(path[1:]), reads, notion))
    protect: dict[str, Any] = {
        "relation": "bounded",
        "keeps": rng.sample(COLUMNS, rng.randint(0, 2)),
    }
    if rng.random() < 0.2:
        protect["distance"] = 2
    return {
        "dpcompose": 1,
        "protect": protect,
        "datasets": datasets,
        "mechanisms": [{"name": "m", "reads": reads, "guarantees": said}],
    }


def _statement(
    rng: Random, on: str, reads: str, notion: str, relation: str | None = None
) -> dict[str, Any]:
    relation = relation or rng.choice(["unbounded", "bounded", "bounded"])
    said: dict[str, Any] = {"notion": notion, "relation": relation}
    said["epsilon"] = rng.choice([1, 2, 3, 5, 8])
    if notion == "approx":
        said["epsilon"] = rng.choice(["0.1", "0.2", "0.5", "0.8"])
        said["delta"] = rng.choice(["0.001", "0.01", "0.02", "0.05"])
    return said if on == reads else {**said, "stated_on": on}


class Realised(Universe):
    """A universe in which datasets with few rows of each key have such tables alone."""

    def __init__(self, spec: Spec, seed: int) -> None:
        super().__init__(spec, seed)
        self._realised: dict[str, frozenset[Table]] = {}
        self._far: dict[tuple[Table, Table], Any] = {}

    def realised(self, name: str) -> frozenset[Table]:
        if name not in self._realised:
            self._realised[name] = self._realise(name)
        return self._realised[name]

    def _realise(self, name: str) -> frozenset[Table]:
        """The tables of a dataset: all of its rows, but of each key no more than it may have, and
        below such a dataset what its tables give."""
        how = self.datasets[name.partition(".")[0]]
        how = how.get("map") or how.get("partition") or {}
        key = how.get("per") if how.get("kind") == "limit" else how.get("by")
        above = [
            self.datasets[n.partition(".")[0]].get("map", {}).get("kind") for n in self.path(name)
        ]
        # What is made of two rows, and one row more.
        every = self.tables(name, 2 * MOST if "flatten" in above else MOST + MARGIN)
        if how.get("kind") in ("limit", "group"):
            most = how.get("rows", 1)
            return frozenset(
                table
                for table in every
                if max(Counter(dict(row)[str(key)] for row in table).values(), default=0) <= most
            )
        if {*above[:-1]} & {"limit", "group"}:
            return frozenset(self.made(name, each) for each in self.realised(self.path(name)[-2]))
        return frozenset(every)

    def meant(self) -> bool:
        """Whether it is as the report assumes: each block by value leaves out some possible row.

        The padding lemma needs that row: a statement for replaced rows on a table all of whose
        possible rows are in the block says nothing of tables with a row less there.
        """
        (mechanism,) = self.spec["mechanisms"]
        path = self.path(mechanism["reads"])
        return all(
            any(not self.made(name, (row,)) for row in self.row_type(above))
            for above, name in pairwise(path)
            if self.datasets[name.partition(".")[0]].get("partition", {}).get("by") == "value"
        )

    def edges(self, mechanism: Spec) -> Iterator[tuple[Table, Table, Mapping[str, Any]]]:
        """What is read of neighbours, each with the statement about them."""
        reads = mechanism["reads"]
        for said in mechanism["guarantees"]:
            on = said.get("stated_on", reads)
            names = self.path(reads)
            names = names[names.index(on) :]
            known = self.realised(on)
            most = max(map(len, known))
            for one, other in self.near(on, said["relation"], most):
                if one in known and other in known:
                    here, there = self.along(names, one), self.along(names, other)
                    if here != there:
                        yield here, there, said

    def near(self, name: str, relation: Any, most: int) -> Iterator[tuple[Table, Table]]:
        """Neighbours among the tables that come about."""
        for table in self.realised(name):
            for n in range(len(table)):
                rest = (*table[:n], *table[n + 1 :])
                if relation == "unbounded":
                    yield rest, table
                    continue
                for row in self.row_type(name):
                    yield table, tuple(sorted((*rest, row)))

    def _lost(self, mechanism: Spec, one: Table, other: Table) -> Any:
        names = self.path(mechanism["reads"])
        ends = self.along(names, one), self.along(names, other)
        if ends not in self._far:
            self._far[ends] = self.distance(*ends)
        return self._far[ends]

    @cached_property
    def graph(self) -> dict[Table, dict[Table, Any]]:
        (mechanism,) = self.spec["mechanisms"]
        found: dict[Table, dict[Table, Any]] = {}
        for one, other, said in self.edges(mechanism):
            for a, b in ((one, other), (other, one)):
                to = found.setdefault(a, {})
                to[b] = min(said["epsilon"], to.get(b, math.inf))
        return found

    def distance(self, start: Table, goal: Table) -> Any:
        waiting: list[tuple[Any, Table]] = [(0, start)]
        settled: set[Table] = set()
        while waiting:
            far, table = heappop(waiting)
            if table == goal:
                return far
            if table not in settled:
                settled.add(table)
                for other, more in self.graph.get(table, {}).items():
                    heappush(waiting, (far + more, other))
        return None

    def worst_delta(self, epsilon: float) -> float:
        """The largest δ at an ε of any event, by a linear program for each two roots."""
        (mechanism,) = self.spec["mechanisms"]
        names = self.path(mechanism["reads"])
        edges = list(
            dict.fromkeys(
                (a, b, float(s["epsilon"]), float(s["delta"])) for a, b, s in self.edges(mechanism)
            )
        )
        seen = {a for a, *_ in edges} | {b for _, b, *_ in edges}
        pairs = {
            (self.along(names, a), self.along(names, b))
            for a, b in self._pairs(self.spec["protect"])
        }
        pairs |= {(b, a) for a, b in pairs}
        at = {
            table: n for n, table in enumerate(sorted(seen | {x for pair in pairs for x in pair}))
        }
        rows, most = [], []
        for a, b, e, d in edges:
            for x, y in ((at[a], at[b]), (at[b], at[a])):
                row = np.zeros(len(at))
                row[x], row[y] = 1, -math.exp(e)
                rows.append(row)
                most.append(d)
                rows.append(-row)  # 1 - v[x] <= e^e (1 - v[y]) + d
                most.append(math.exp(e) - 1 + d)
        worst = 0.0
        for a, b in pairs:
            if a != b:
                aim = np.zeros(len(at))
                aim[at[a]], aim[at[b]] = -1, math.exp(epsilon)
                found = linprog(aim, A_ub=np.array(rows), b_ub=most, bounds=(0, 1))
                worst = max(worst, -found.fun)
        return worst


def bound_of(spec: Any) -> Any:
    report = analyze(spec if isinstance(spec, str) else yaml.safe_dump(spec))
    assert report.status != "invalid", (report.findings, spec)
    return report.bound


def no_halves(*_: Any) -> None:
    return None


def test_a_step_by_one_statement_and_a_step_by_another() -> None:
    """One group goes, by the rows, and another is replaced, by the groups: 0.3 + 0.2."""
    assert bound_of(GROUPED).value == Fraction(1, 2)
    spec = yaml.safe_load(GROUPED)
    for said, epsilon in zip(spec["mechanisms"][0]["guarantees"], (3, 2), strict=True):
        said["epsilon"] = epsilon
    assert max(Realised(spec, draw).worst(spec["protect"]) or 0 for draw in range(12)) == 5


#: Some rows of block 0 of `d0` are in block 1 of `d1`: such a row can stand in for one that goes.
BLOCKS = """
dpcompose: 1
protect: {relation: bounded, keeps: [w]}
datasets:
  t: {columns: [k, v, w]}
  d0: {from: t, partition: {by: value, blocks: 2}}
  d1: {from: d0.0, partition: {by: value, blocks: 2}}
  d2: {from: d1.0, map: {kind: group, by: v}}
mechanisms:
  - name: m
    reads: d2
    guarantees:
      - {stated_on: t, relation: unbounded, notion: pure, epsilon: 8}
      - {relation: bounded, notion: pure, epsilon: 5}
      - {stated_on: d0.0, relation: bounded, notion: pure, epsilon: 1}
"""


def test_a_block_that_leaves_out_no_row_is_not_what_the_report_assumes() -> None:
    """There a row that goes costs 8, where 1 is right with a row of `d1.1` in its place."""
    report = analyze(BLOCKS)
    assert report.bound is not None and report.bound.value == 1
    assert any("leaves out some possible row of `d0.0`" in each.says for each in report.assumptions)
    spec = yaml.safe_load(BLOCKS)
    other, *meant = (Realised(spec, draw) for draw in range(3))
    assert not other.meant() and other.worst(spec["protect"]) == 8
    assert all(each.meant() and each.worst(spec["protect"]) == 1 for each in meant)


def judged(seed: str, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Whether a random spec has a smaller bound by halves, and whether that is attained."""
    spec = random_spec(Random(seed))
    bound = bound_of(spec)
    if bound is None:
        return False, False
    with monkeypatch.context() as patched:
        for module in (cost, pair_cost):
            patched.setattr(module, "halves", no_halves)
        before = bound_of(spec)
    worst = Fraction(0)
    meant = (each for draw in range(12) if (each := Realised(spec, draw)).meant())
    for universe in islice(meant, 4):
        found = universe.worst(spec["protect"])
        draw = universe.seed
        assert found is not None and found <= bound.value, (yaml.safe_dump(spec), draw, found)
        worst = max(worst, found)
    assert bound.value <= before.value
    return bound.value < before.value, worst == bound.value


#: Statements beside `{stated_on: rows, unbounded, 3}`, what lies between, and what is lost.
BY_HAND = [
    ("bounded: 2", "group", 5),
    ("bounded: 4", "group", 6),
    ("unbounded: 1, bounded: 2", "group", 4),  # two groups replaced, each 2
    ("unbounded: 2, bounded: 4", "group", 6),
    ("bounded: 2", "limit", 5),
]


@pytest.mark.parametrize(("said", "kind", "lost"), BY_HAND)
def test_variants_by_hand(said: str, kind: str, lost: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columned, "MOST", 3)  # the row that moves, and one in each group
    spec = yaml.safe_load(GROUPED)
    if kind == "limit":
        made = {"kind": "limit", "per": "w", "rows": 1, "keep": "first"}
        spec["datasets"]["groups"]["map"] = made
    (mechanism,) = spec["mechanisms"]
    mechanism["guarantees"] = [
        {"stated_on": "rows", "relation": "unbounded", "notion": "pure", "epsilon": 3},
        *(
            {"relation": relation, "notion": "pure", "epsilon": epsilon}
            for relation, epsilon in yaml.safe_load(f"{{{said}}}").items()
        ),
    ]
    assert bound_of(spec).value == lost
    assert max(Realised(spec, draw).worst(spec["protect"]) or 0 for draw in range(12)) == lost


@pytest.mark.slow
@pytest.mark.parametrize("part", seeds(4, range(20), quick=1))
def test_random_specs(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [judged(f"{part} {n}", monkeypatch) for n in range(40)]
    assert any(attained for _, attained in found)


def test_steps_of_two_statements_in_other_notions() -> None:
    """ρ: (0.3 + 0.2)²; μ: 0.3 + 0.2."""
    for notion, key, (one, other), both in (
        ("zcdp", "rho", ("0.09", "0.04"), Fraction(1, 4)),
        ("gdp", "mu", ("0.3", "0.2"), Fraction(1, 2)),
    ):
        spec = yaml.safe_load(GROUPED)
        for said, value in zip(spec["mechanisms"][0]["guarantees"], (one, other), strict=True):
            said.pop("epsilon")
            said |= {"notion": notion, key: value}
        assert bound_of(spec).value == both


@pytest.mark.parametrize("deltas", [("0.001", "0.05"), ("0.05", "0.001")])
def test_no_event_is_likelier_than_by_the_order_of_steps(deltas: tuple[str, str]) -> None:
    """Pairs (ε, δ): the worst order of a step on the rows and a step on the groups."""
    spec = yaml.safe_load(GROUPED)
    for said, delta in zip(spec["mechanisms"][0]["guarantees"], deltas, strict=True):
        said |= {"notion": "approx", "delta": delta}
    found = bound_of(spec)
    assert found.value == Fraction(1, 2)
    truth = max(Realised(spec, draw).worst_delta(0.5) for draw in range(2))
    assert truth <= found.delta * (1 + Fraction(1, 10**6))
    assert found.delta <= 0.05 * math.exp(0.3) + 0.001 + 1e-9
