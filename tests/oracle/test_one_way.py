"""All rows of a user, or one row, that go from several samples at once: by listing all outcomes.

What is released of a table with the rows, and without them, are independent mixtures over what is
drawn from each block; rows of a user may be in the blocks in any way. Noise for which it matters
only whether a row is there is the worst of all guarantees for users, and geometric noise for rows.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from asked import report, spec

from dpcompose.core.change.maps.flatten import Flatten
from dpcompose.core.change.maps.group import Group
from dpcompose.core.change.maps.stable import Stable
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import ChangeUnit, Kind


@cache
def told(text: str, recheck: bool = True) -> list[float]:
    """The δ at each ε, or the ε at each δ."""
    found = report(text, recheck=recheck)
    values: list[Any] = [each.value for each in (*found.at_epsilon, *found.at_delta)]
    return [float(value) for value in values]


def in_blocks(cap: int, rate: str, epsilon: float, blocks: int, at: list[float]) -> str:
    """Each block of capped rows has a sample, and a guarantee for all rows of a user."""
    datasets = [
        f"few: {{from: rows, map: {{kind: cap, rows: {cap}, keep: first, order: day}}}}",
        f"part: {{from: few, partition: {{by: value, blocks: {blocks}}}}}",
    ]
    released = []
    for i in range(blocks):
        datasets.append(f"s{i}: {{from: part.{i}, map: {{kind: sample, poisson: {rate}}}}}")
        released.append(f"reads: s{i}, notion: pure, epsilon: {epsilon}, relation: user")
    return of_users("\n".join(datasets), *released, asks=f"epsilon: [{', '.join(map(str, at))}]")


def of_users(datasets: str, *released: str, asks: str, protect: str = "user") -> str:
    """Returns a spec about people."""
    more, root = f"report: {{{asks}}}", "{unit: person}"
    return spec(*released, protect=protect, root=root, datasets=datasets, more=more)


def truth(cap: int, rate: float, epsilon: float, blocks: int, at: float) -> float:
    """The largest δ of both orders, for all ways of putting the rows into blocks."""
    with_it, without = np.array([math.exp(epsilon), 1.0]), np.array([1.0, math.exp(epsilon)])
    with_it, without = with_it / with_it.sum(), without / without.sum()
    worst = 0.0
    for split in product(range(cap + 1), repeat=blocks):
        if sum(split) > cap:
            continue
        first = second = np.ones(1)
        for rows in split:
            if rows:
                none = (1 - rate) ** rows
                drawn = none * without + (1 - none) * with_it
                first = np.outer(first, drawn).ravel()
                second = np.outer(second, without).ravel()
        grown = math.exp(at)
        for p, q in ((first, second), (second, first)):
            worst = max(worst, float(np.maximum(p - grown * q, 0).sum()))
    return worst


@pytest.mark.parametrize(
    ("cap", "rate", "epsilon", "blocks"),
    [
        (3, "0.1", 0.5, 2),
        (3, "0.5", 0.5, 2),
        (2, "0.3", 1, 2),
        (4, "0.2", 0.5, 3),
        (1, "0.3", 1, 2),
    ],
)
def test_a_user_goes_from_all_sampled_blocks(
    cap: int, rate: str, epsilon: float, blocks: int
) -> None:
    at = [0.1, 0.3, 0.6]
    for where, found in zip(at, told(in_blocks(cap, rate, epsilon, blocks, at)), strict=True):
        true = truth(cap, float(rate), epsilon, blocks, where)
        assert true - 1e-9 <= found <= true * (1 + 1e-6) + 1e-9


ROWS = [
    "one: {from: rows, map: {kind: group, by: person}}",
    "one: {from: rows, map: {kind: cap, rows: 1, keep: first, order: day}}",
    "one: {from: rows, map: {kind: cap, rows: 1, keep: random}}",
]


@pytest.mark.parametrize("made", ROWS)
def test_training_that_draws_users_is_training_that_draws_rows(made: str) -> None:
    steps = "mechanism: gaussian, sigma: 1, sensitivity: 1, count: 1000"
    sampled, asks = "s: {from: %s, map: {kind: sample, poisson: 0.01}}", "delta: [1e-6]"
    drawn_users = of_users(f"{made}\n{sampled % 'one'}", steps, asks=asks)
    drawn_rows = of_users(sampled % "rows", steps, asks=asks, protect="unbounded")
    [users], [rows] = (told(each, recheck=False) for each in (drawn_users, drawn_rows))
    assert users == pytest.approx(rows, rel=1e-9)
    assert users == pytest.approx(2.1245151712, rel=1e-6)


def test_a_map_that_says_nothing_of_directions_drops_them() -> None:
    traits = Traits(unit="person")
    user = ChangeUnit(Kind.USER, size=2, directed=True)
    for leaf in (user, ChangeUnit(Kind.SINGLE, directed=True)):
        [fate] = Stable(3).becomes(leaf, traits)
        assert not any(each.directed for each, _ in fate.units)
    # Rows that each row gives go with it, and so does the one row of a user.
    fates = Flatten(2).becomes(user, traits)
    assert isinstance(fates, list) and all(each.directed for each, _ in fates[0].units)
    [fate] = Group("person").becomes(user, traits)
    assert [(each.kind, each.directed) for each, _ in fate.units] == [(Kind.SINGLE, True)]
    # Of another key's rows some may take their places.
    for fate in Group("day").becomes(user, traits):
        assert not any(each.directed for each, _ in fate.units)
