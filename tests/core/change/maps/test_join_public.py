"""Joins with a public table, from the spec to the bound: by hand, and against the enumeration."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import yaml
from oracle.truth import search

from dpcompose.core.change.effects import MapOutcome, TooMany
from dpcompose.core.change.maps.join_public import JoinPublic
from dpcompose.core.change.maps.kind import fates
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE, ChangeUnit, Kind
from dpcompose.core.model.problem import Dataset
from dpcompose.pipeline import analyze
from dpcompose.report import Report
from dpcompose.resolve import resolve
from dpcompose.source import load

KEEPING = "{relation: bounded, keeps: [c]}"
UNBOUNDED = "epsilon: 1, relation: unbounded"


def both(bounded: str) -> str:
    """A guarantee of 1 for a row that comes or goes, and one for a row replaced."""
    return (
        f"guarantees: [{{notion: pure, {UNBOUNDED}}}, "
        f"{{notion: pure, epsilon: {bounded}, relation: bounded}}]"
    )


def text(protect: str, join: str, says: str, root: str = "", more: str = "", of: str = "j") -> str:
    return (
        f"dpcompose: 1\nprotect: {protect}\n"
        f"datasets:\n  r: {{{root}}}\n  j: {{from: r, map: {{kind: join-public, {join}}}}}\n"
        f"{more}mechanisms:\n  - {{name: m, reads: {of}, {says}}}\n"
    )


def certified(spec: str) -> float:
    report = _analyzed(spec)
    return math.inf if report.bound is None else float(report.bound.value)


def _analyzed(spec: str) -> Report:
    report = analyze(spec)
    assert report.status != "invalid", [each.message for each in report.findings]
    return report


def faults(spec: str) -> list[str]:
    report = analyze(spec)
    assert report.status == "invalid"
    return [f"{each.code} {each.message}" for each in report.findings]


def test_as_it_is_written() -> None:
    spec = text("unbounded", "column: c, max_rows: 3, exact: true", "notion: pure, epsilon: 1")
    more = "  k: {from: r, map: {kind: join-public, max_rows: 2, drops: true}}\nmechanisms"
    found = resolve(load(spec.replace("mechanisms", more), "spec.yaml")).problem
    datasets: list[Dataset] = list(found.datasets())
    assert [each.made_by for each in datasets] == [
        None,
        JoinPublic(3, frozenset({"c"}), exact=True),
        JoinPublic(2, drops=True),
    ]


#: What one change costs, by hand: u = 1 for a row that comes or goes, b for a row replaced.
BY_HAND = [
    # Two rows come, or go.
    ("unbounded", "max_rows: 2", "1.5", 2),
    ("unbounded", "max_rows: 2, exact: true", "1.5", 2),
    # (2, 0) costs 2, (1, 1) costs 1 + b, (0, 2) costs 2b.
    ("bounded", "max_rows: 2", "1.5", 3),
    ("bounded", "max_rows: 2", "0.2", 2),
    ("bounded", "max_rows: 3", "0.2", 3),
    # All rows give exactly two: (0, 2).
    ("bounded", "max_rows: 2, exact: true", "0.2", 0.4),
    ("bounded", "max_rows: 3, exact: true", "0.2", 0.6),
    # As many rows before and after, for the column that decides is kept: (0, 2).
    (KEEPING, "max_rows: 2, column: c", "0.2", 0.4),
    # Another column decides, or the whole row.
    (KEEPING, "max_rows: 2, column: d", "0.2", 2),
    (KEEPING, "max_rows: 2", "0.2", 2),
    ("bounded", "max_rows: 2, column: c", "0.2", 2),
]
BY_KEY = "  b: {from: j, partition: {by: key, column: c, blocks: 2}}\n"
BY_VALUE = "  b: {from: j, partition: {by: value, blocks: 2}}\n"


@pytest.mark.parametrize(("protect", "join", "bounded", "expected"), BY_HAND)
def test_bounds_by_hand(protect: str, join: str, bounded: str, expected: float) -> None:
    spec = text(protect, join, both(bounded))
    assert certified(spec) == pytest.approx(expected)
    assert float(search(yaml.safe_load(spec))[0]) == pytest.approx(expected)


@pytest.mark.parametrize(("protect", "join", "bounded", "_"), BY_HAND)
@pytest.mark.parametrize("split", [BY_KEY, BY_VALUE])
def test_bounds_on_blocks_are_the_truth(
    protect: str, join: str, bounded: str, _: float, split: str
) -> None:
    spec = text(protect, join, both(bounded), more=split, of="b.*")
    assert certified(spec) == pytest.approx(float(search(yaml.safe_load(spec))[0]))


@pytest.mark.parametrize(
    ("join", "split", "expected"),
    [
        # The new rows keep `c`, so that replaced rows stay in their block: 2 · 0.2.
        ("max_rows: 2, column: c", BY_KEY, 0.4),
        ("max_rows: 2, exact: true", BY_KEY, 0.4),
        # Two rows leave one block and come to the other.
        ("max_rows: 2, column: c", BY_VALUE, 4),
    ],
)
def test_columns_are_kept(join: str, split: str, expected: float) -> None:
    spec = text(KEEPING, join, both("0.2"), more=split, of="b.*")
    assert certified(spec) == pytest.approx(expected)


def test_only_bounded_guarantees_need_as_many_rows_before_and_after() -> None:
    alone = "notion: pure, epsilon: 0.2, relation: bounded"
    assert certified(text("bounded", "max_rows: 2, exact: true", alone)) == pytest.approx(0.4)
    assert certified(text("bounded", "max_rows: 2", alone)) == math.inf


@pytest.mark.parametrize(
    ("join", "expected"), [("max_rows: 2, drops: true", 0.6), ("max_rows: 2", math.inf)]
)
def test_statements_above_are_padded_where_some_row_gives_nothing(
    join: str, expected: float
) -> None:
    stated = "notion: pure, epsilon: 0.6, relation: bounded, stated_on: r"
    assert certified(text("unbounded", join, stated)) == pytest.approx(expected)


def test_a_public_size_is_multiplied() -> None:
    exact, at_most = "max_rows: 2, exact: true", "max_rows: 2"
    sample = "  s: {from: j, map: {kind: sample, size: 4, of: %d}}\n"
    root, says = "domain: fixed-size-table, size: 10", "notion: pure, epsilon: 1, relation: bounded"
    assert certified(text("bounded", exact, says, root, sample % 20, "s")) < 1.5
    assert faults(text("bounded", exact, says, root, sample % 21, "s")) == [
        "DPC155 `of` is 21, and `j` has 20 rows"
    ]
    assert faults(text("bounded", at_most, says, root, sample % 20, "s")) == [
        "DPC155 `of` must be a public number of rows, and that of `j` is not public"
    ]


def test_no_row_comes_or_goes_where_the_size_is_public() -> None:
    root, says = "domain: fixed-size-table", f"notion: pure, {UNBOUNDED}"
    (fault,) = faults(text("bounded", "max_rows: 2, exact: true", says, root))
    assert fault.startswith("DPC140 ")
    assert certified(text("bounded", "max_rows: 2", says, root)) == 4


def test_positions_are_multiplied() -> None:
    split = "  b: {from: j, partition: {by: position, blocks: 2}}\n"
    says, root = "notion: pure, epsilon: 0.2, relation: bounded", "domain: ordered-table"
    exact = text("bounded", "max_rows: 2, exact: true", says, root, split, "b.*")
    assert certified(exact) == pytest.approx(float(search(yaml.safe_load(exact))[0]))
    # A row that gives fewer rows moves all that come after it.
    assert certified(text("bounded", "max_rows: 2", says, root, split, "b.*")) == math.inf


@pytest.mark.parametrize(
    ("more", "of", "says", "expected"),
    [
        # All rows of a unit stay its own, and are one step.
        ("", "j", "notion: pure, epsilon: 0.3, relation: user", 0.3),
        ("  c: {from: j, map: {kind: cap, rows: 5, keep: first}}\n", "c", UNBOUNDED, 5),
        ("", "j", UNBOUNDED, math.inf),
    ],
)
def test_rows_of_a_unit_stay_its_own(more: str, of: str, says: str, expected: float) -> None:
    says = says if "notion" in says else f"notion: pure, {says}"
    spec = text("user", "max_rows: 2", says, "unit: id", more, of)
    assert certified(spec) == pytest.approx(expected)


def test_what_it_is_and_what_it_assumes() -> None:
    report = _analyzed(text(KEEPING, "max_rows: 3, column: c", both("0.2")))
    assert any(
        "`j` is a join with at most 3 rows of a public table for each row of `r`" in each.says
        for each in report.chain
    )
    says = [each.says for each in report.assumptions]
    assert says[-3:] == [
        "`j` joins each row with at most 3 rows of a public table",
        "which rows `j` joins a row with depends on its `c` alone",
        "`j` leaves the columns and the order of rows as they are",
    ]


def test_many_rows_of_a_replaced_one_keep_their_columns() -> None:
    pair = PAIR._replace(kept=("d",))
    assert fates(JoinPublic(25), pair, Traits()) == TooMany(((pair, 25), (SINGLE, 25)))
    assert fates(JoinPublic(25, frozenset({"d"})), pair, Traits()) == [MapOutcome(((pair, 25),))]
    spec = text("bounded", "max_rows: 40", both("0.2"))
    assert certified(spec) == 40


def test_what_is_known_of_its_rows() -> None:
    rows = Traits(unit="id", rows_are_units=True, ordered=True, fixed=True, size=7, most=7)
    assert JoinPublic(3, exact=True).traits_after(rows) == Traits(
        unit="id", ordered=True, fixed=True, size=21, most=21
    )
    assert JoinPublic(3).traits_after(rows) == Traits(unit="id", ordered=True, most=21)
    assert JoinPublic(3).traits_after(Traits(edge_rows=True, degree=2)) == Traits()
    assert JoinPublic(2).becomes(ChangeUnit(Kind.USER, size=3), Traits(unit="id")) == [
        MapOutcome(((ChangeUnit(Kind.USER, size=6), 1),))
    ]
    assert JoinPublic(2, exact=True).rows_needed(5) == 3
    assert JoinPublic(2).rows_needed(5) == 0


def test_bounds_are_exact() -> None:
    alone = "notion: pure, epsilon: 0.2, relation: unbounded"
    report = _analyzed(text("unbounded", "max_rows: 2", alone))
    assert report.bound is not None
    assert report.bound.exact
    assert (report.bound.value, report.theorem) == (Fraction(2, 5), "III.6")
