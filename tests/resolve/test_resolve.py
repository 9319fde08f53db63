"""From specs to problems: names, blocks, statements, and what must not cost anything."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from tables import tables

import dpcompose
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.filter import Filter
from dpcompose.core.change.maps.flatten import Flatten
from dpcompose.core.change.maps.row import RowMap
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.maps.value import Value
from dpcompose.core.change.neighbouring import BOUNDED, UNBOUNDED, Relation, RelationKind
from dpcompose.core.change.partitions.by_key import ByKey
from dpcompose.core.change.partitions.by_kinds import ByKinds
from dpcompose.core.change.partitions.by_membership import ByMembership
from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.model.problem import (
    BlockClass,
    Dataset,
    Domain,
    Mechanism,
    Partition,
    Problem,
    Statement,
)
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import InvalidSpec
from dpcompose.resolve import Resolved, resolve
from dpcompose.resolve.blocks import Rest
from dpcompose.source import load

TABLES = tables(__file__)


def resolved(text: str) -> Resolved:
    return resolve(load(text, "spec.yaml"))


def spec(datasets: str, mechanisms: str, protect: str = "unbounded", more: str = "") -> str:
    """A spec with these datasets and mechanisms, one a line."""

    def lines(text: str, dash: str = "") -> str:
        return "".join(f"  {dash}{line.strip()}\n" for line in text.strip().splitlines())

    return (
        f"dpcompose: 1\nprotect: {protect}\n{more}\n"
        f"datasets:\n{lines(datasets)}mechanisms:\n{lines(mechanisms, '- ')}"
    )


def problem(datasets: str, mechanisms: str, protect: str = "unbounded", more: str = "") -> Problem:
    return resolved(spec(datasets, mechanisms, protect, more)).problem


def root(of: Problem) -> Dataset:
    (only,) = of.roots
    return only.dataset


def classes(partition: Partition) -> list[tuple[list[str | int], list[str]]]:
    """The names of the blocks of each class, and the mechanisms there."""
    return [
        (list(each.names), [mechanism.name for mechanism in each.dataset.mechanisms])
        for each in partition.classes
    ]


def tree(dataset: Dataset) -> Any:
    """A dataset with all below it, as plain nested tuples, whatever things are called."""
    return (
        dataset.made_by,
        sorted(
            repr((each.count, [(s.relation, s.up, s.guarantee) for s in each.statements]))
            for each in dataset.mechanisms
        ),
        sorted(map(repr, map(tree, dataset.derived))),
        sorted(repr(shape(each)) for each in dataset.partitions),
    )


def shape(partition: Partition) -> Any:
    blocks = sorted((repr(tree(each.dataset)), each.multiplicity) for each in partition.classes)
    return (partition.kind, partition.drops, blocks)


# --- the parts of a problem ----------------------------------------------------------------------


def test_title_budget_and_flags() -> None:
    found = resolved(
        "dpcompose: 1\ntitle: A title\nprotect: {relation: bounded, distance: 3, keeps: [id]}\n"
        "adaptivity: independent\nroots: disjoint\nconstants: {third: 1/3, ninth: third * third}\n"
        "datasets: {people: {}, others: {domain: ordered-table, unit: id}}\n"
        "mechanisms: [{name: q, reads: people, notion: zcdp, rho: ninth / 2, count: 4}]\n"
        "budget: {epsilon: 1e-2, delta: ninth}\n"
    )
    assert found.title == "A title"
    assert found.budget is not None
    assert found.budget.parameters == (("epsilon", Fraction(1, 100)), ("delta", Fraction(1, 9)))
    assert found.adversary_budget is None
    goal = found.problem.goal
    assert goal.relation == Relation(RelationKind.BOUNDED, keeps=frozenset({"id"}))
    assert goal.distance == 3
    assert not found.problem.adaptive
    assert found.problem.roots_disjoint
    people, others = found.problem.roots
    assert (people.domain, people.unit) == (Domain.TABLE, None)
    assert (others.domain, others.unit) == (Domain.ORDERED, "id")
    (mechanism,) = people.dataset.mechanisms
    (statement,) = mechanism.statements
    assert mechanism.count == 4
    assert statement.guarantee == Guarantee(Notion.ZCDP, Fraction(1, 18))
    assert (statement.relation, statement.relation_given) == (goal.relation, False)


def test_numbers_are_exact() -> None:
    found = problem("a: {}", "{name: q, reads: a, notion: approx, epsilon: 0.1, delta: 1e-400}")
    (mechanism,) = root(found).mechanisms
    guarantee = mechanism.statements[0].guarantee
    assert guarantee == Guarantee(Notion.APPROX, Fraction(1, 10), Fraction(1, 10**400))


@pytest.mark.parametrize(
    ("written", "budget"),
    [
        ("{epsilon: 1}", {"epsilon": 1}),
        ("{epsilon: 0, delta: 0}", {"epsilon": 0, "delta": 0}),
        ("{rho: 1/2}", {"rho": Fraction(1, 2)}),
        ("{mu: 3}", {"mu": 3}),
    ],
)
def test_budgets(written: str, budget: dict[str, Fraction]) -> None:
    found = resolved(
        spec("a: {}", "{name: q, reads: a, notion: pure, epsilon: 1}", more=f"budget: {written}")
    )
    assert found.budget is not None
    assert dict(found.budget.parameters) == budget


def test_maps() -> None:
    found = problem(
        """visits: {unit: id}
           adults: {from: visits, map: {kind: filter, drops: true}}
           clean: {from: adults, map: {kind: row, keeps: [id, city]}}
           words: {from: clean, map: {kind: flatten, max_rows: 3, keeps: [id]}}
           capped: {from: words, map: {kind: cap, rows: 6, keep: first}}
           mean: {from: capped, map: {kind: value, sensitivity: 1/2, diameter: 3}}
           place: {from: capped, map: {kind: value, sensitivity: {unbounded: 2, bounded: 5/2}}}""",
        "{name: q, reads: mean, notion: pure, epsilon: 1, relation: euclidean}",
    )
    made = [dataset.made_by for dataset in found.datasets()]
    assert made == [
        None,
        Filter(drops=True),
        RowMap(frozenset({"id", "city"})),
        Flatten(3, keeps=frozenset({"id"})),
        Cap(6, "first"),
        Value(unbounded=Fraction(1, 2), diameter=Fraction(3)),
        Value(unbounded=Fraction(2), bounded=Fraction(5, 2)),
    ]


def test_declared_relations() -> None:
    found = problem(
        "people: {}",
        "{name: q, reads: people, notion: pure, epsilon: 1}",
        protect="{relation: household, distance: 2}",
        more="relations: {household: {within: unbounded, distance: 6}}",
    )
    relation = found.goal.relation
    assert (relation.kind, relation.name) == (RelationKind.DECLARED, "household")
    assert (relation.within, relation.distance, found.goal.distance) == (UNBOUNDED, 6, 2)
    (mechanism,) = root(found).mechanisms
    assert mechanism.statements[0].relation == relation


def test_an_explicit_bounded_is_any_replacement() -> None:
    found = problem(
        "people: {}",
        """{name: a, reads: people, notion: pure, epsilon: 1, relation: bounded}
           {name: b, reads: people, notion: pure, epsilon: 1}
           {name: c, reads: people, notion: pure, epsilon: 1,
              relation: {relation: bounded, keeps: [city]}}""".replace(",\n", ","),
        protect="{relation: bounded, keeps: [id]}",
    )
    statements = [mechanism.statements[0] for mechanism in root(found).mechanisms]
    keeps = [frozenset(), frozenset({"id"}), frozenset({"city"})]
    assert [s.relation for s in statements] == [
        Relation(RelationKind.BOUNDED, keeps=columns) for columns in keeps
    ]
    assert [s.relation_given for s in statements] == [True, False, True]


def test_several_guarantees_and_paths() -> None:
    found = problem(
        "people: {}\nadults: {from: people, map: filter}",
        """{name: p, reads: people, notion: pure, epsilon: 1}
           {name: q, reads: adults, guarantees: [{notion: pure, epsilon: 1},
             {notion: pure, epsilon: 2, relation: bounded, stated_on: people},
             {notion: pure, epsilon: 3}]}""".replace(",\n", ","),
    )
    (adults,) = root(found).derived
    (mechanism,) = adults.mechanisms
    assert adults.path == ("datasets", "adults")
    assert mechanism.path == ("mechanisms", 1)
    assert [s.path for s in mechanism.statements] == [
        ("mechanisms", 1, "guarantees", i) for i in range(3)
    ]
    assert [s.up for s in mechanism.statements] == [0, 1, 0]
    (other,) = root(found).mechanisms
    assert other.statements[0].path == ("mechanisms", 0)


def test_post_processing() -> None:
    found = problem(
        "people: {}",
        """{name: smooth, post_processes: [q, round]}
           {name: q, reads: people, notion: pure, epsilon: 1}
           {name: round, post_processes: [q, q]}""",
    )
    assert [(each.name, each.inputs) for each in found.post_processing] == [
        ("smooth", ("q", "round")),
        ("round", ("q", "q")),
    ]


def test_names_may_hold_blanks_and_be_numbers() -> None:
    found = problem(
        "all people: {}\n2026: {from: all people, partition: {by: value, blocks: [a b, 7, x.y]}}",
        """{name: 1, reads: all people, notion: pure, epsilon: 1}
           {name: by age, reads: 2026.a b, notion: pure, epsilon: 1, stated_on: all people}
           {name: seven, reads: 2026.7, notion: pure, epsilon: 1}
           {name: dotted, reads: 2026.x.y, notion: pure, epsilon: 1}""",
    )
    (partition,) = root(found).partitions
    assert classes(partition) == [(["a b"], ["by age"]), (["7"], ["seven"]), (["x.y"], ["dotted"])]
    assert [each.dataset.name for each in partition.classes] == ["2026.a b", "2026.7", "2026.x.y"]


# --- blocks --------------------------------------------------------------------------------------

PEOPLE = "people: {}\ndistrict: {from: people, partition: {by: value, blocks: [n, s, e]}}\n"


def districts(mechanisms: str, datasets: str = "", protect: str = "unbounded") -> Partition:
    (partition,) = root(problem(PEOPLE + datasets, mechanisms, protect)).partitions
    return partition


def test_equal_blocks_are_one_class() -> None:
    partition = districts("{name: q, reads: district.*, notion: pure, epsilon: 1}")
    assert classes(partition) == [(["n", "s", "e"], ["q"])]
    assert partition.classes[0].dataset.name == "district.*"
    assert partition.classes[0].dataset.made_by is None


def test_a_block_read_alone_is_a_class_of_its_own() -> None:
    partition = districts(
        """{name: a, reads: district.s, notion: pure, epsilon: 1}
           {name: b, reads: district.*, notion: pure, epsilon: 1}
           {name: c, reads: district.s, notion: pure, epsilon: 1}"""
    )
    assert classes(partition) == [(["n", "e"], ["b"]), (["s"], ["a", "b", "c"])]
    assert [each.dataset.name for each in partition.classes] == ["district.*", "district.s"]


def test_blocks_that_nothing_reads_are_a_class() -> None:
    partition = districts("{name: a, reads: district.n, notion: pure, epsilon: 1}")
    assert classes(partition) == [(["n"], ["a"]), (["s", "e"], [])]


def test_parameters_by_block_decide_which_blocks_are_equal() -> None:
    partition = districts(
        """{name: a, reads: district.*, notion: pure, epsilon: {n: 0.5, s: 1, e: 1/2}}
           {name: b, reads: district.*, notion: approx, epsilon: 1, delta: {e: 0, n: 0.0, s: 0}}"""
    )
    assert classes(partition) == [(["n", "e"], ["a", "b"]), (["s"], ["a", "b"])]
    values = [each.dataset.mechanisms[0].statements[0].guarantee for each in partition.classes]
    assert [each.value for each in values] == [Fraction(1, 2), Fraction(1)]


def test_derived_datasets_exist_for_every_block() -> None:
    partition = districts(
        """{name: a, reads: near, notion: pure, epsilon: {n: 1, s: 1, e: 2}}
           {name: b, reads: far, notion: pure, epsilon: 1}
           {name: c, reads: near, notion: pure, epsilon: 1}""",
        "near: {from: district.*, map: filter}\nfar: {from: district.s, map: filter}",
    )
    found = [
        (list(each.names), [(d.name, [m.name for m in d.mechanisms]) for d in each.dataset.derived])
        for each in partition.classes
    ]
    near = ("near", ["a", "c"])
    assert found == [(["n"], [near]), (["s"], [near, ("far", ["b"])]), (["e"], [near])]


def test_nested_partitions() -> None:
    partition = districts(
        """{name: a, reads: age.*, notion: pure, epsilon: {0: 1, 1: 1, 2: 2, 3: 2}}
           {name: b, reads: age.3, notion: pure, epsilon: {n: 1, s: 5, e: 1}, stated_on: people}
           {name: c, reads: age.0, notion: pure, epsilon: 1, stated_on: district.*}
           {name: d, reads: age.*, notion: pure, epsilon: 1, stated_on: district}
           {name: e, reads: age.*, notion: pure, epsilon: 1, stated_on: age}""",
        "age: {from: district.*, partition: {by: value, blocks: 4}}",
    )
    assert [list(each.names) for each in partition.classes] == [["n", "e"], ["s"]]
    for each in partition.classes:
        (age,) = each.dataset.partitions
        assert classes(age) == [
            ([0], ["a", "c", "d", "e"]),
            ([1], ["a", "d", "e"]),
            ([2], ["a", "d", "e"]),
            ([3], ["a", "b", "d", "e"]),
        ]
        ups = {m.name: m.statements[0].up for c in age.classes for m in c.dataset.mechanisms}
        assert ups == {"a": 0, "b": 2, "c": 1, "d": 1, "e": 0}
    values = [
        each.dataset.partitions[0].classes[3].dataset.mechanisms[1].statements[0].guarantee.value
        for each in partition.classes
    ]
    assert values == [Fraction(1), Fraction(5)]


def test_a_dataset_below_one_block() -> None:
    partition = districts(
        """{name: a, reads: small, notion: pure, epsilon: 1, stated_on: district.n}
           {name: b, reads: small, notion: pure, epsilon: 1, stated_on: district}""",
        "small: {from: district.n, map: filter}",
    )
    (north, rest) = partition.classes
    assert (list(north.names), list(rest.names)) == (["n"], ["s", "e"])
    (small,) = north.dataset.derived
    assert [mechanism.statements[0].up for mechanism in small.mechanisms] == [1, 1]


def test_kinds_keep_their_blocks_apart() -> None:
    found = problem(
        """users: {}
           f: {from: users, partition: {by: kinds, kinds: {x: [a, b], y: [b, c], other: []}}}""",
        "{name: q, reads: f.*, notion: pure, epsilon: 1}",
    )
    (partition,) = root(found).partitions
    assert partition.kind == ByKinds({"x": (0, 1), "y": (1, 2), "other": ()})
    assert classes(partition) == [(["a"], ["q"]), (["b"], ["q"]), (["c"], ["q"])]
    assert [each.dataset.name for each in partition.classes] == ["f.a", "f.b", "f.c"]


def test_fields_of_partitions() -> None:
    found = problem(
        """v: {unit: id}
           k: {from: v, partition: {by: key, column: id, blocks: 3, drops: true}}
           m: {from: v, partition: {by: membership, blocks: 3, max_blocks: 5,
                max_blocks_per_unit: 2, max_rows_per_block: 7}}""".replace(",\n", ","),
        "{name: q, reads: k.*, notion: pure, epsilon: 1}",
    )
    key, membership = root(found).partitions
    assert (key.kind, key.drops, key.size) == (ByKey("id"), True, 3)
    assert (membership.kind, membership.drops) == (ByMembership(5), False)
    assert (membership.max_blocks_per_unit, membership.max_rows_per_block) == (2, 7)


@pytest.mark.parametrize("out", [[], [0], [9], [0, 1], [3, 4, 8], [0, 5, 9], list(range(9))])
def test_the_rest_of_numbered_blocks(out: list[int]) -> None:
    rest = Rest(range(10), out)
    expected = [number for number in range(10) if number not in out]
    assert list(rest) == expected
    assert len(rest) == len(expected)
    assert [rest[i] for i in range(len(rest))] == expected
    assert rest[-1] == expected[-1]
    assert list(rest[1:3]) == expected[1:3]
    with pytest.raises(IndexError):
        rest[len(expected)]


# --- concrete mechanisms -------------------------------------------------------------------------

HALF = Fraction(1, 2)


def stated(
    mechanism: str, protect: str = "unbounded", datasets: str = "people: {unit: id}", more: str = ""
) -> tuple[Statement, ...]:
    """The statements of one mechanism that reads the first dataset."""
    reads = datasets.partition(":")[0]
    found = problem(datasets, f"{{name: q, reads: {reads}, {mechanism}}}", protect, more)
    (only,) = found.mechanisms()
    return only.statements


def said(statements: Sequence[Statement]) -> list[tuple[str, bool]]:
    """The relations, and if the spec names them."""
    return [(str(each.relation), each.relation_given) for each in statements]


@pytest.mark.parametrize(
    ("mechanism", "guarantees"),
    [
        (
            "mechanism: laplace, scale: 4, sensitivity: 2",
            [Guarantee(Notion.PURE, HALF, noise=Laplace(Fraction(4)), shift=Fraction(2))],
        ),
        (
            "mechanism: geometric, scale: 4, sensitivity: 2",
            [Guarantee(Notion.PURE, HALF, noise=Geometric(Fraction(4)), shift=Fraction(2))],
        ),
        (
            "mechanism: gaussian, sigma: 2, sensitivity: 0.5",
            [Guarantee(Notion.GDP, HALF / 2, noise=Gaussian(Fraction(2)), shift=HALF)],
        ),
        (
            "mechanism: discrete-gaussian, sigma: 2, sensitivity: 3",
            [
                Guarantee(
                    Notion.ZCDP,
                    Fraction(9, 8),
                    noise=DiscreteGaussian(Fraction(2), "L2", most=Fraction(3)),
                    shift=Fraction(3),
                )
            ],
        ),
        (
            "mechanism: exponential, epsilon: 0.5, sensitivity: 7",
            [
                Guarantee(Notion.PURE, HALF, noise=Exponential(HALF), shift=Fraction(1)),
            ],
        ),
    ],
)
def test_guarantees_of_noise(mechanism: str, guarantees: list[Guarantee]) -> None:
    found = stated(mechanism)
    assert [each.guarantee for each in found] == guarantees
    assert {(each.relation, each.up) for each in found} == {(UNBOUNDED, 0)}


def test_a_sensitivity_for_each_relation() -> None:
    found = stated("mechanism: gaussian, sigma: 2, sensitivity: {bounded: 3, unbounded: 1}")
    assert said(found) == [("unbounded", True), ("bounded", True)]
    assert [each.guarantee.value for each in found] == [HALF, Fraction(3, 2)]
    assert [each.guarantee.shift for each in found] == [1, 3]


def test_the_smaller_sensitivity_of_a_choice_is_the_one_in_its_weights() -> None:
    kind = "mechanism: exponential, epsilon: 1, sensitivity: {unbounded: 2, bounded: 3}"
    found = stated(kind)
    assert {each.guarantee.notion for each in found} == {Notion.PURE}
    assert [each.guarantee.value for each in found] == [1, Fraction(3, 2)]
    assert [each.guarantee.shift for each in found] == [1, Fraction(3, 2)]
    noise = found[0].guarantee.noise
    assert noise is not None and noise == Exponential(Fraction(1))
    assert noise.rho(Fraction(1)) < Fraction(1, 8) and noise.rho(Fraction(3, 2)) < Fraction(9, 32)
    swapped = "mechanism: exponential, epsilon: 1, sensitivity: {unbounded: 3, bounded: 2}"
    assert [each.guarantee.value for each in stated(swapped)] == [Fraction(3, 2), 1]


FIXED = "people: {domain: fixed-size-table}"
GRAPH = "friends: {domain: graph, max_degree: 5}"


@pytest.mark.parametrize(
    ("datasets", "protect", "relation", "expected"),
    [
        # Where rows come and go: one row added or removed, whatever is protected.
        ("people: {unit: id}", "unbounded", "", ("unbounded", True)),
        ("people: {unit: id}", "bounded", "", ("unbounded", True)),
        ("people: {unit: id}", "user", "", ("unbounded", True)),
        ("people: {unit: id}", "free-lunch", "", ("unbounded", True)),
        # On a graph: what is protected.
        (GRAPH, "edge", "", ("edge", False)),
        (GRAPH, "node", "", ("node", False)),
        # As the spec says.
        ("people: {unit: id}", "bounded", "bounded", ("bounded", True)),
        ("people: {unit: id}", "user", "user", ("user", True)),
        (GRAPH, "node", "edge", ("edge", True)),
        (GRAPH, "free-lunch", "edge", ("edge", True)),
        (FIXED, "bounded", "bounded", ("bounded", True)),
    ],
)
def test_what_a_plain_sensitivity_is_for(
    datasets: str, protect: str, relation: str, expected: tuple[str, bool]
) -> None:
    more = f", relation: {relation}" if relation else ""
    found = stated(f"mechanism: laplace, scale: 1, sensitivity: 1{more}", protect, datasets)
    assert said(found) == [expected]


def test_a_choice_by_distance_has_no_divergence() -> None:
    found = problem(
        "people: {}\nmean: {from: people, map: {kind: value, sensitivity: 1}}",
        """{name: a, reads: mean, mechanism: laplace, scale: 2, sensitivity: 1, relation: euclidean}
           {name: b, reads: mean, mechanism: exponential, epsilon: 2, sensitivity: 1,
            relation: euclidean}""".replace(",\n", ","),
    )
    assert [
        [(str(s.relation), s.guarantee.notion, s.guarantee.value) for s in each.statements]
        for each in found.mechanisms()
    ] == [[("euclidean", "pure", HALF)], [("euclidean", "pure", 2)]]


def test_randomized_response() -> None:
    kind = "mechanism: randomized-response, epsilon: 1/2"
    (two,) = stated(kind, "bounded")
    expected = RandomizedResponse(2, HALF)
    assert two.guarantee == Guarantee(Notion.PURE, HALF, noise=expected, shift=Fraction(1))
    assert (two.relation, two.relation_given) == (BOUNDED, True)
    (four,) = stated(f"{kind}, k: 4", "{relation: bounded, keeps: [id]}", FIXED)
    assert four.guarantee.noise == RandomizedResponse(4, HALF)
    assert four.relation == BOUNDED


def test_noise_by_block() -> None:
    partition = districts(
        """{name: a, reads: district.*, mechanism: laplace, scale: {n: 1, s: 2, e: 1},
            sensitivity: 1, count: 3}
           {name: b, reads: district.*, mechanism: geometric, scale: 1,
            sensitivity: {unbounded: {n: 1, s: 1, e: 2}, bounded: 2}}
           {name: c, reads: district.*, mechanism: randomized-response,
            epsilon: {n: 1, s: 1, e: 1}}""".replace(",\n", ","),
        protect="bounded",
    )
    assert [list(each.names) for each in partition.classes] == [["n"], ["s"], ["e"]]
    values = [
        [[s.guarantee.value for s in m.statements] for m in each.dataset.mechanisms]
        for each in partition.classes
    ]
    assert values == [[[1], [1, 2], [1]], [[HALF], [1, 2], [1]], [[1], [2, 2], [1]]]
    assert partition.classes[0].dataset.mechanisms[0].count == 3


def test_numbers_of_noise_may_use_constants() -> None:
    more = "constants: {clip: 3, noise: 2 * clip}"
    (found,) = stated("mechanism: gaussian, sigma: noise, sensitivity: clip", more=more)
    assert found.guarantee.value == HALF


# --- guarantees with several numbers -------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "points: [[4, 0.2], [2, 0.1]]",
        "points: [{alpha: 2, epsilon: 1/10}, [4, 0.2]]",
        "points: {4: 0.2, 2.0: 0.1}",
    ],
)
def test_points_of_rdp_are_sorted(written: str) -> None:
    (found,) = stated(f"notion: rdp, {written}")
    points = ((Fraction(2), Fraction(1, 10)), (Fraction(4), Fraction(1, 5)))
    assert found.guarantee == Guarantee(Notion.RDP, Fraction(0), points=points)


def test_rdp_at_one_order() -> None:
    (found,) = stated("notion: rdp, alpha: 3/2, epsilon: 0.5, relation: bounded")
    assert found.guarantee.points == ((Fraction(3, 2), HALF),)
    assert said([found]) == [("bounded", True)]
    partition = districts(
        "{name: a, reads: district.*, notion: rdp, alpha: 2, epsilon: {n: 1, s: 2, e: 1}}"
    )
    assert [list(each.names) for each in partition.classes] == [["n", "e"], ["s"]]
    (south,) = partition.classes[1].dataset.mechanisms
    assert south.statements[0].guarantee.points == ((Fraction(2), Fraction(2)),)


def test_a_profile_says_each_of_its_points() -> None:
    profile, *implied = stated(
        "notion: profile, points: [[1, 0], [0.5, 0.1], [0, 0.2], [2, 0], [0.7, 0.1], "
        "{epsilon: 0.5, delta: 0.3}]"
    )
    tenth, fifth = Fraction(1, 10), Fraction(1, 5)
    points = ((Fraction(0), fifth), (HALF, tenth), (Fraction(1), Fraction(0)))
    assert profile.guarantee == Guarantee(Notion.PROFILE, Fraction(0), points=points)
    assert not profile.implied
    assert [each.guarantee for each in implied] == [
        Guarantee(Notion.APPROX, Fraction(0), fifth),
        Guarantee(Notion.APPROX, HALF, tenth),
        Guarantee(Notion.PURE, Fraction(1)),
    ]
    assert all(each.implied for each in implied)


def test_profiles_and_rdp_among_several_guarantees() -> None:
    found = problem(
        "people: {}\nadults: {from: people, map: filter}",
        """{name: q, reads: adults, guarantees: [{notion: pure, epsilon: 1},
             {notion: profile, points: [[1, 0.1]], stated_on: people},
             {notion: rdp, points: {2: 1}, relation: bounded}]}""".replace(",\n", ","),
    )
    (mechanism,) = found.mechanisms()
    assert [
        (s.guarantee.notion, s.up, s.path[-1], s.implied, str(s.relation))
        for s in mechanism.statements
    ] == [
        ("pure", 0, 0, False, "unbounded"),
        ("profile", 1, 1, False, "unbounded"),
        ("approx", 1, 1, True, "unbounded"),
        ("rdp", 0, 2, False, "bounded"),
    ]


# --- samples and reports -------------------------------------------------------------------------


def test_samples() -> None:
    found = problem(
        """people: {domain: fixed-size-table, size: 100}
           a: {from: people, map: {kind: sample, poisson: 1/10}}
           b: {from: people, map: {kind: sample, size: 20, of: 80, draws: one}}
           c: {from: people, map: {kind: flatten, max_rows: 2, exact: true}}
           d: {from: c, map: {kind: sample, size: 200, of: 200}}
           e: {from: b, map: {kind: sample, size: 1, of: 20, draws: each}}""",
        """{name: q, reads: a, notion: pure, epsilon: 1, relation: unbounded, count: 7}
           {name: r, reads: e, notion: pure, epsilon: 1}""",
        "bounded",
    )
    made = {each.name: each.made_by for each in found.datasets()}
    assert made["a"] == Sample(Fraction(1, 10))
    assert made["b"] == Sample(Fraction(1, 4), 20, 80, shared=True)
    assert made["d"] == Sample(Fraction(1), 200, 200)
    assert made["e"] == Sample(Fraction(1, 20), 1, 20)


@pytest.mark.parametrize(
    ("datasets", "fine"), TABLES["where rows can be drawn without replacement"]
)
def test_where_rows_can_be_drawn_without_replacement(datasets: str, fine: bool) -> None:
    text = spec(
        f"people: {{domain: fixed-size-table, size: 50}}\n{datasets}\n"
        "s: {from: c, map: {kind: sample, size: 3, of: 12}}",
        "{name: q, reads: s, notion: pure, epsilon: 1}",
        "bounded",
    )
    if fine:
        resolved(text)
        return
    with pytest.raises(InvalidSpec, match="DPC155") as caught:
        resolved(text)
    assert len(caught.value.diagnostics) == 1


def test_positions_survive_a_sample_and_the_unit_does() -> None:
    problem(
        """visits: {domain: ordered-table, unit: id}
           s: {from: visits, map: {kind: sample, poisson: 0.1}}
           c: {from: s, map: {kind: cap, rows: 2, keep: random}}
           p: {from: s, partition: {by: position, blocks: 2}}""",
        "{name: q, reads: c, notion: pure, epsilon: 1}",
        "user",
    )


@pytest.mark.parametrize(
    ("report", "deltas", "epsilons"),
    [
        ("", (), ()),
        ("report: {delta: 1e-6}", (Fraction(1, 10**6),), ()),
        ("report: {delta: [1/2, 0, 0.5, tiny]}", (HALF, Fraction(0), Fraction(1, 10**400)), ()),
        ("report: {epsilon: [2, 0]}", (), (2, 0)),
        ("report: {epsilon: 2, delta: [tiny]}", (Fraction(1, 10**400),), (2,)),
    ],
)
def test_reports(report: str, deltas: tuple[Fraction, ...], epsilons: tuple[Fraction, ...]) -> None:
    more = f"constants: {{tiny: 1e-400}}\n{report}"
    mechanism = "{name: q, reads: a, notion: pure, epsilon: 1}"
    found = resolved(spec("a: {}", mechanism, more=more))
    assert (found.deltas, found.epsilons) == (deltas, epsilons)


# --- the units of privacy, order, sizes ----------------------------------------------------------

FINE = TABLES["fine"]


@pytest.mark.parametrize(("datasets", "mechanisms", "protect"), FINE)
def test_what_has_a_meaning(datasets: str, mechanisms: str, protect: str) -> None:
    problem(datasets, mechanisms, protect)


# --- laws ----------------------------------------------------------------------------------------

LAW_DATASETS = [
    "people: {unit: id}",
    "district: {from: people, partition: {by: value, blocks: [n, s, e, w]}}",
    "age: {from: district.*, partition: {by: value, blocks: 3}}",
    "near: {from: district.*, map: filter}",
    "north: {from: district.n, map: {kind: flatten, max_rows: 2}}",
]
LAW_MECHANISMS = [
    "{name: q1, reads: people, notion: pure, epsilon: 1}",
    "{name: q2, reads: district.*, notion: pure, epsilon: {n: 1, s: 2, e: 1, w: 1}}",
    "{name: q3, reads: age.2, notion: zcdp, rho: 1, stated_on: district}",
    "{name: q4, reads: near, notion: pure, epsilon: 1, stated_on: people, relation: bounded}",
    "{name: q5, reads: north, notion: pure, epsilon: 1}",
    "{name: q6, reads: age.*, notion: pure, epsilon: {0: 1, 1: 1, 2: 1}, count: 2}",
]


def law(datasets: Sequence[str], mechanisms: Sequence[str]) -> Any:
    return tree(root(problem("\n".join(datasets), "\n".join(mechanisms))))


def permutations(items: Sequence[str]) -> Iterator[Sequence[str]]:
    return itertools.islice(itertools.permutations(items), 0, None, 17)


def test_the_order_of_the_spec_does_not_matter() -> None:
    expected = law(LAW_DATASETS, LAW_MECHANISMS)
    for datasets in permutations(LAW_DATASETS):
        assert law(datasets, LAW_MECHANISMS) == expected
    for mechanisms in permutations(LAW_MECHANISMS):
        assert law(LAW_DATASETS, mechanisms) == expected


def test_names_do_not_matter() -> None:
    names = ["people", "district", "age", "near", "north", "n", "s", "e", "w"]
    names += [f"q{i}" for i in range(1, 7)]
    others = {name: f"x{i}" for i, name in enumerate(reversed(names))}
    pattern = re.compile(rf"\b(?:{'|'.join(names)})\b")

    def renamed(lines: Sequence[str]) -> list[str]:
        return [pattern.sub(lambda match: others[match[0]], line) for line in lines]

    assert law(renamed(LAW_DATASETS), renamed(LAW_MECHANISMS)) == law(LAW_DATASETS, LAW_MECHANISMS)


def expanded(dataset: Dataset) -> Counter[tuple[Any, ...]]:
    """How often each mechanism is run, blocks written out."""
    found: Counter[tuple[Any, ...]] = Counter()
    stack = [(dataset, 1)]
    while stack:
        at, copies = stack.pop()
        for each in at.mechanisms:
            found[each.name, *(s.guarantee for s in each.statements)] += copies * each.count
        stack += [(below, copies) for below in at.derived]
        stack += [(c.dataset, copies * c.multiplicity) for p in at.partitions for c in p.classes]
    return found


def test_classes_lose_no_copy() -> None:
    found = expanded(root(problem("\n".join(LAW_DATASETS), "\n".join(LAW_MECHANISMS))))
    totals: Counter[str] = Counter()
    for (name, *_), copies in found.items():
        totals[str(name)] += copies
    assert totals == {"q1": 1, "q2": 4, "q3": 4, "q4": 4, "q5": 1, "q6": 24}


def test_mechanisms_keep_the_order_of_the_spec() -> None:
    reads = ["district.s", "district.*", "district.s", "district.*"]
    lines = [f"{{name: q{i}, reads: {r}, notion: pure, epsilon: 1}}" for i, r in enumerate(reads)]
    south = districts("\n".join(lines)).classes[1]
    assert list(south.names) == ["s"]
    assert [each.name for each in south.dataset.mechanisms] == ["q0", "q1", "q2", "q3"]


# --- what must not cost anything -----------------------------------------------------------------


def test_a_billion_blocks_cost_nothing() -> None:
    found = problem(
        "r: {}\np: {from: r, partition: {by: value, blocks: 1000000000}}",
        """{name: a, reads: p.*, notion: pure, epsilon: 1, count: 1000000000}
           {name: b, reads: p.123456, notion: pure, epsilon: 1}
           {name: c, reads: p.0, notion: pure, epsilon: 1}""",
    )
    (partition,) = root(found).partitions
    assert [each.multiplicity for each in partition.classes] == [1, 10**9 - 2, 1]
    assert [each.names[0] for each in partition.classes] == [0, 1, 123456]
    assert partition.size == 10**9


@pytest.mark.slow
def test_a_chain_of_ten_thousand_datasets() -> None:
    chain = "\n".join(f"d{i}: {{from: d{i - 1}, map: filter}}" for i in range(1, 10_000))
    reads = "\n".join(
        f"{{name: q{i}, reads: d{i}, notion: pure, epsilon: 1, stated_on: d0}}"
        for i in range(0, 10_000, 3)
    )
    found = problem(f"d0: {{}}\n{chain}", reads)
    assert sum(1 for _ in found.datasets()) == 10_000
    assert max(m.statements[0].up for m in found.mechanisms()) == 9_999


def test_partitions_nested_deep() -> None:
    nested = "\n".join(
        f"p{i}: {{from: {f'p{i - 1}.*' if i else 'r'}, partition: {{by: value, blocks: [a, b]}}}}"
        for i in range(500)
    )
    found = problem(
        f"r: {{}}\n{nested}",
        """{name: q, reads: p499.*, notion: pure, epsilon: {a: 1, b: 2}, stated_on: p0}
           {name: s, reads: p3.a, notion: pure, epsilon: 1, stated_on: r}""",
    )
    assert {m.name: m.statements[0].up for m in found.mechanisms()} == {"q": 499, "s": 4}


def test_blocks_that_multiply_are_refused_at_once() -> None:
    nested = "\n".join(
        f"p{i}: {{from: {f'p{i - 1}.*' if i else 'r'}, partition: {{by: value, blocks: [a, b]}}}}"
        for i in range(100)
    )
    reads = "\n".join(
        f"{{name: q{i}, reads: p{i}.*, notion: pure, epsilon: {{a: 1, b: 2}}}}" for i in range(100)
    )
    with pytest.raises(InvalidSpec, match="DPC191"):
        resolved(spec(f"r: {{}}\n{nested}", reads))


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1000, pytest.param(5000, marks=pytest.mark.long)])
def test_twenty_thousand_mechanisms_or_more_on_many_blocks(blocks: int) -> None:
    lines = "\n".join(
        f"{{name: q{i}, reads: p.{i % blocks}, notion: approx, epsilon: 0.{i % 89 + 1}, "
        "delta: 1e-6, stated_on: r}"
        for i in range(20 * blocks)
    )
    found = problem(f"r: {{}}\np: {{from: r, partition: {{by: value, blocks: {blocks}}}}}", lines)
    (partition,) = root(found).partitions
    assert len(partition.classes) == blocks
    assert all(len(each.dataset.mechanisms) == 20 for each in partition.classes)


def test_a_parameter_for_each_of_many_blocks() -> None:
    values = ", ".join(f"{i}: {i % 7 + 1}" for i in range(20_000))
    found = problem(
        "r: {}\np: {from: r, partition: {by: value, blocks: 20000}}",
        f"{{name: q, reads: p.*, notion: pure, epsilon: {{{values}}}}}",
    )
    (partition,) = root(found).partitions
    assert sorted(each.multiplicity for each in partition.classes) == [2857] * 6 + [2858]
    assert isinstance(partition.classes[0], BlockClass)
    assert isinstance(partition.classes[0].dataset.mechanisms[0], Mechanism)


@pytest.mark.slow
def test_many_huge_constants_stop_with_a_diagnostic() -> None:
    numerator, denominator = (
        "*".join(f"({digit}e999+{7 * i + 1})" for i in range(5)) for digit in (9, 7)
    )
    sums = "".join(f"  c{i}: {'+'.join(['h'] * 400)}-{i}\n" for i in range(300))
    constants = f"constants:\n  h: {numerator}/({denominator})\n{sums}"
    mechanisms = "{name: q, reads: r, notion: pure, epsilon: %s}"
    with pytest.raises(InvalidSpec) as caught:
        resolved(spec("r: {}", mechanisms % "c299", more=constants))
    first, last = caught.value.diagnostics[0], caught.value.diagnostics[-1]
    assert (first.code, first.message) == (
        "DPC110",
        "the expressions of this spec take too much work",
    )
    assert last.code == "DPC017"
    # Plain numbers are free, and the next spec has work of its own.
    problem("r: {}", mechanisms % "h/h", more=constants.partition("  c0")[0])


def test_the_same_spec_gives_the_same_problem() -> None:
    text = spec("\n".join(LAW_DATASETS), "\n".join(LAW_MECHANISMS), protect="bounded")
    first, second = resolved(text).problem, resolved(text).problem
    assert [repr(each) for each in first.mechanisms()] == [
        repr(each) for each in second.mechanisms()
    ]
    assert first.goal.relation == BOUNDED


@pytest.mark.parametrize(
    ("mechanism", "lower", "upper"),
    [
        ("notion: pure, epsilon: ln(3)", 3, "1e-38"),
        ("notion: pure, epsilon: 4 - ln(3)", 4, "1e-38"),
        ("mechanism: laplace, scale: 1/ln(3), sensitivity: 1", 3, "1e-37"),
        ("mechanism: laplace, scale: 1, sensitivity: ln(3)", 3, "1e-38"),
        (
            "mechanism: randomized-response, k: 2, lie: 2*exp(-1)/(1+exp(-1)), relation: bounded",
            1,
            "1e-37",
        ),
    ],
)
def test_values_that_are_not_rational_are_rounded_to_the_safe_side(
    mechanism: str, lower: int, upper: str
) -> None:
    """The exact ε is ln 3, 4 - ln 3, or 1."""
    ln3 = Fraction("1.0986122886681096913952452369225257046474905578227494517346943336374942932186")
    exact = {3: ln3, 4: 4 - ln3, 1: Fraction(1)}[lower]
    protect = "bounded" if "bounded" in mechanism else "unbounded"
    mechanism = mechanism.removesuffix(", relation: bounded")
    text = spec("people: {}", f"{{name: a, reads: people, {mechanism}}}", protect)
    found = dpcompose.analyze(text).epsilon(0).exact
    assert exact <= found <= exact + Fraction(upper)


def test_limits_of_a_budget_are_rounded_down() -> None:
    text = spec("people: {}", "{name: a, reads: people, notion: pure, epsilon: 1}")
    budget = resolved(text + "budget: {epsilon: ln(3)}\n").budget
    assert budget is not None
    [(_, value)] = budget.parameters
    assert value < Fraction("1.09861228866810969139524523692252570464749056")
