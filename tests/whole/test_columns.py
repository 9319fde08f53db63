"""Columns from a spec to a bound: what maps use, what changes alone, and the laws of both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcompose.pipeline import analyze
from dpcompose.report import Report

Spec = dict[str, Any]
COLUMNS = ["a", "b", "c", "d"]


def bound(report: Report) -> Fraction | None:
    assert report.status != "invalid", report.findings
    return None if report.bound is None else report.bound.value


def spec(changes: Sequence[str] | None, below: str, reads: str, stated: str = "") -> str:
    protect = "bounded" if changes is None else f"{{relation: bounded, changes: {list(changes)}}}"
    return (
        f"dpcompose: 1\nprotect: {protect}\n"
        f"datasets:\n  t: {{columns: [a, b, c, d]}}\n{below}"
        f"mechanisms:\n  - {{name: m, reads: {reads}, notion: pure, epsilon: 1{stated}}}\n"
    )


ANY = ", relation: bounded"
BOTH = ", relation: unbounded"
#: What is made of a table, what is read, its guarantee; its cost by which columns change (u = 1).
BY_HAND: list[tuple[str, str, str, dict[str, int | None]]] = [
    # A filter drops one end, unless it sees neither.
    ("  f: {from: t, map: filter}\n", "f", ANY, {"a": None, "b": None}),
    ("  f: {from: t, map: {kind: filter, uses: [a]}}\n", "f", ANY, {"a": None, "b": 1, "bc": 1}),
    ("  f: {from: t, map: {kind: filter, uses: []}}\n", "f", ANY, {"abcd": 1}),
    # What is made of columns that stay does not change.
    ("  f: {from: t, map: {kind: columns, only: [a, b]}}\n", "f", ANY, {"ac": 1, "cd": 0, "b": 1}),
    ("  f: {from: t, map: {kind: row, uses: [a, b]}}\n", "f", BOTH, {"a": 2, "c": 0}),
    ("  f: {from: t, map: {kind: row, uses: [a], keeps: [b]}}\n", "f", BOTH, {"b": 2, "cd": 0}),
    ("  f: {from: t, map: {kind: row, uses: []}}\n", "f", BOTH, {"abcd": 0}),
    # As many rows, or the same ones.
    ("  f: {from: t, map: {kind: flatten, max_rows: 3}}\n", "f", ANY, {"a": None}),
    ("  f: {from: t, map: {kind: flatten, max_rows: 3, uses: [a], keeps: [b]}}\n", "f", ANY,
     {"a": None, "b": 3, "c": 0}),
    ("  g: {from: t, map: {kind: flatten, max_rows: 2, exact: true, keeps: [b, c]}}\n"
     "  f: {from: g, partition: {by: key, column: c, blocks: 3}}\n", "f.*", ANY,
     {"a": 2, "ab": 2, "c": None}),
    ("  g: {from: t, map: {kind: flatten, max_rows: 2, keeps: [b, c]}}\n"
     "  f: {from: g, partition: {by: key, column: c, blocks: 3}}\n", "f.*", BOTH,
     {"a": 4, "c": 4}),
    ("  f: {from: t, map: {kind: join-public, max_rows: 3, uses: [a, b]}}\n", "f", ANY,
     {"a": None, "c": 3}),
    # The row stays in its block.
    ("  f: {from: t, partition: {by: value, blocks: 3, uses: [a, b]}}\n", "f.*", BOTH,
     {"a": 2, "c": 2, "cd": 2}),
    ("  f: {from: t, partition: {by: value, blocks: 3, uses: [a, b]}}\n", "f.*", ANY,
     {"a": None, "c": 1}),
    ("  f: {from: t, partition: {by: key, blocks: 3, column: a}}\n", "f.*", ANY,
     {"ab": None, "c": 1}),
    # What a map keeps can be used below it; what it makes anew cannot.
    ("  g: {from: t, map: {kind: row, keeps: [a]}}\n"
     "  f: {from: g, map: {kind: filter, uses: [a]}}\n",
     "f", ANY, {"a": None, "b": 1}),
    ("  g: {from: t, map: {kind: row, keeps: [a]}}\n"
     "  f: {from: g, map: {kind: filter, uses: [e]}}\n",
     "f", ANY, {"a": None, "b": None}),
    ("  g: {from: t, map: {kind: limit, per: a, rows: 2, keep: first}}\n"
     "  f: {from: g, partition: {by: value, blocks: 3, uses: [a]}}\n", "f.*", ANY, {"b": 1}),
    ("  g: {from: t, map: {kind: limit, per: a, rows: 2, keep: first}}\n"
     "  f: {from: g, partition: {by: value, blocks: 3, uses: [b]}}\n", "f.*", ANY, {"c": None}),
    ("  g: {from: t, map: {kind: group, by: a}}\n  f: {from: g, map: {kind: columns, only: [a]}}\n",
     "f", ANY, {"b": 0, "a": None}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("below", "reads", "stated", "changes", "cost"),
    [(*case[:3], changes, cost) for case in BY_HAND for changes, cost in case[3].items()],
)
def test_by_hand(below: str, reads: str, stated: str, changes: str, cost: int | None) -> None:
    report = analyze(spec(list(changes), below, reads, stated), recheck=True)
    assert bound(report) == cost


def test_some_columns_may_change_in_several_rows() -> None:
    below = "  f: {from: t, map: {kind: columns, only: [a]}}\n"
    text = spec(["a"], below, "f", ANY).replace("['a']", "[a], distance: 3")
    assert bound(analyze(text, recheck=True)) == 3
    assert bound(analyze(text.replace("[a], distance", "[b], distance"))) == 0


def test_a_guarantee_without_a_relation_speaks_of_the_columns_that_change() -> None:
    below = "  f: {from: t, map: {kind: columns, only: [a, b]}}\n"
    for reads in ("t", "f"):
        assert bound(analyze(spec(["a"], below, reads))) == 1
    # Agreeing in a column that is not there is no condition.
    wider = ", relation: {relation: bounded, keeps: [b, c]}"
    assert bound(analyze(spec(["a"], below, "f", wider))) == 1
    assert bound(analyze(spec(["b"], below, "f", wider))) is None
    assert bound(analyze(spec(["c"], below, "f", wider))) == 0
    assert bound(analyze(spec(["c"], below, "t", wider))) is None
    report = analyze(spec(["b"], below, "f", wider))
    assert "give its guarantee for any row replaced (`relation: bounded`)" in report.reasons[0]
    assert "Example II.9" not in report.reasons[0]


# --- several roots -------------------------------------------------------------------------------

ROOTS = """\
dpcompose: 1
protect: {relation: bounded, changes: [race]}
datasets:
  people: {columns: [state, race]}
  visits: {columns: [state, place]}
  other: {}
mechanisms:
  - {name: p, reads: people, notion: pure, epsilon: 1}
  - {name: v, reads: visits, notion: pure, epsilon: 2}
  - {name: o, reads: other, notion: pure, epsilon: 4}
"""


def test_a_root_without_the_column_does_not_change_and_one_without_a_list_may_do_anything() -> None:
    assert bound(analyze(ROOTS, recheck=True)) == 5
    place = ROOTS.replace("[race]}", "[place]}", 1)
    assert bound(analyze(place, recheck=True)) == 6
    assert bound(analyze(ROOTS.replace("[race]}", "[state]}", 1), recheck=True)) == 7
    disjoint = ROOTS.replace("datasets", "roots: disjoint\ndatasets")
    assert bound(analyze(disjoint, recheck=True)) == 4
    assert bound(analyze(disjoint.replace("other: {}", "other: {columns: [x]}"))) == 1


# --- laws (theory, section 12) ------------------------------------------------------------------

MAPS = st.sampled_from(
    [
        {"kind": "filter", "uses": ["a"]},
        {"kind": "filter", "uses": ["b", "c"]},
        {"kind": "filter"},
        {"kind": "columns", "only": ["a", "b", "c"]},
        {"kind": "row", "keeps": ["a", "b", "c"], "uses": ["a"]},
        {"kind": "row", "keeps": ["a", "b", "c"], "uses": ["a", "b"]},
        {"kind": "flatten", "keeps": ["a", "b", "c"], "max_rows": 2, "uses": ["b"]},
        {"kind": "join-public", "max_rows": 2, "uses": ["c"]},
        {"kind": "limit", "per": "a", "rows": 1, "keep": "first"},
        {"by": "value", "blocks": 3, "uses": ["a", "b"]},
        {"by": "value", "blocks": 3},
        {"by": "key", "blocks": 3, "column": "c"},
    ]
)
ROWS = st.lists(st.tuples(MAPS, st.integers(0, 3), st.integers(1, 5)), min_size=1, max_size=5)


def grown(rows: list[tuple[dict[str, Any], int, int]], notion: str, parameter: str) -> Spec:
    """A spec whose datasets are made one of another, each read by a mechanism."""
    names = ["t"]
    datasets: dict[str, Any] = {"t": {"columns": COLUMNS}}
    mechanisms: list[dict[str, Any]] = []
    for n, (how, parent, size) in enumerate(rows):
        part = "map" if "kind" in how else "partition"
        datasets[f"d{n}"] = {"from": names[parent % len(names)], part: how}
        names.append(f"d{n}.*" if part == "partition" else f"d{n}")
        mechanism: dict[str, Any] = {"name": f"m{n}", "reads": names[-1], "notion": notion}
        relation = "bounded" if size == 5 else "unbounded"
        mechanisms.append({**mechanism, parameter: size, "relation": relation})
    return {"dpcompose": 1, "datasets": datasets, "mechanisms": mechanisms}


def asked(made: Spec, protect: Any) -> Fraction:
    """The bound; a large number where there is none."""
    found = bound(analyze(yaml.safe_dump({**made, "protect": protect}), extent="bound"))
    return Fraction(10**9) if found is None else found


@pytest.mark.slow
@given(
    ROWS,
    st.sampled_from([("pure", "epsilon"), ("zcdp", "rho"), ("gdp", "mu")]),
    st.sets(st.sampled_from(COLUMNS), min_size=1),
    st.sets(st.sampled_from(COLUMNS)),
)
@settings(max_examples=60, deadline=None)
def test_more_columns_cost_no_less_and_all_of_them_what_any_row_does(
    rows: list[tuple[dict[str, Any], int, int]],
    notion: tuple[str, str],
    few: set[str],
    more: set[str],
) -> None:
    made = grown(rows, *notion)

    def changing(columns: set[str]) -> Fraction:
        return asked(made, {"relation": "bounded", "changes": sorted(columns)})

    assert changing(few) <= changing(few | more) <= changing(set(COLUMNS))
    assert changing(set(COLUMNS)) == asked(made, "bounded")


@pytest.mark.parametrize("kept", ["ab", "a", "abc"])
def test_an_invariant_is_harmless_for_changes_that_keep_it_and_for_no_others(kept: str) -> None:
    """What is published exactly about some columns has no guarantee but against free lunch."""
    exact = f"  f: {{from: t, map: {{kind: columns, only: {list(kept)}}}}}\n"
    for columns in ("a", "b", "c", "d", "cd", "bd"):
        text = spec(list(columns), exact, "f", ", relation: bounded")
        # Nothing is stated for the table itself: the guarantee is for what does not matter there.
        text = text.replace(
            "relation: bounded}\n", "relation: {relation: bounded, keeps: [a, b, c, d]}}\n"
        )
        harmless = not set(columns) & set(kept)
        assert bound(analyze(text)) == (0 if harmless else None), columns


def test_a_key_is_the_case_of_one_column() -> None:
    for changes in ("a", "b", "bc"):
        by_key = "  f: {from: t, partition: {by: key, column: a, blocks: 4}}\n"
        by_value = "  f: {from: t, partition: {by: value, uses: [a], blocks: 4}}\n"
        for stated in (ANY, BOTH):
            one, other = (spec(list(changes), each, "f.*", stated) for each in (by_key, by_value))
            assert bound(analyze(one)) == bound(analyze(other))


def test_names_are_free_where_a_root_does_not_list_its_columns() -> None:
    text = (
        "dpcompose: 1\nprotect: {relation: bounded, keeps: [city]}\ndatasets:\n  t: {}\n"
        "  f: {from: t, map: {kind: filter, uses: [city]}}\nmechanisms:\n"
        "  - {name: m, reads: f, notion: pure, epsilon: 1, relation: bounded}\n"
    )
    assert bound(analyze(text)) == 1
    assert bound(analyze(text.replace("uses: [city]", "uses: [country]"))) is None


def test_what_is_said_of_columns_is_among_the_assumptions() -> None:
    below = "  f: {from: t, map: {kind: filter, uses: [a, c]}}\n"
    says = [each.says for each in analyze(spec(["b"], below, "f", ANY)).assumptions]
    assert "which rows pass the filter `f` depends on `a` and `c` alone" in says
    assert "a row of `t` has no columns but `a`, `b`, `c` and `d`" in says
    assert "a replacement changes `b` alone: all other columns are taken as known" in says


def test_the_acceptance_spec_is_as_the_census_bureau_counts() -> None:
    text = (Path(__file__).parents[1] / "acceptance" / "columns-question.yaml").read_text("utf-8")
    report = analyze(text, recheck=True)
    assert bound(report) == Fraction(16157020, 157020393)


def test_the_proof_tells_what_does_not_change_and_why() -> None:
    below = (
        "  f: {from: t, map: {kind: columns, only: [a, c]}}\n"
        "  g: {from: t, map: {kind: row, uses: [d]}}\n"
        "  h: {from: t, map: {kind: row, uses: [b]}}\n"
    )
    text = spec(["b"], below, "f", ANY) + "".join(
        f"  - {{name: {name}, reads: {name}, notion: pure, epsilon: 1, relation: bounded}}\n"
        for name in "gh"
    )
    report = analyze(text, recheck=True)
    told = {each.name: (each.says, each.theorem) for each in report.tree if each.depth == 1}
    assert told["f"] == ("nothing changes in the columns `a` and `c`", "kept-columns")
    assert told["g"] == ("nothing changes in a row-by-row transform of `d`", "kept-columns")
    assert told["h"][1] == "III.6"
    lines = [each.says for each in report.chain if each.theorem == "kept-columns"]
    assert lines[0] == "`f`: nothing changes in the columns `a` and `c`"
    assert bound(report) == 1


POISSON = "  s: {from: t, map: {kind: sample, poisson: 0.1}}\n"


@pytest.mark.parametrize("sample", [POISSON, "  s: {from: t, map: filter}\n"])
def test_below_a_sample_nothing_changes_either_where_nothing_depends_on_it(sample: str) -> None:
    """Couple the samples: both have the row, or neither. A filter without `uses` may split it."""
    below = sample + "  f: {from: s, map: {kind: columns, only: [a]}}\n"
    found = bound(analyze(spec(["b"], below, "f", ANY), recheck=True))
    assert found == (0 if sample == POISSON else None)


def test_a_row_replaced_in_its_block_of_a_sample_is_amplified_as_one() -> None:
    """ε' = ln((1 - q + q·e) / (1 - q + q/e)) for a row in the sample or not, by itself."""
    below = POISSON + "  f: {from: s, partition: {by: value, blocks: 3, uses: [a]}}\n"
    found = bound(analyze(spec(["b"], below, "f.*", BOTH), recheck=True))
    exact = math.log((0.9 + 0.1 * math.e) / (0.9 + 0.1 / math.e))
    assert found is not None and exact <= found <= exact * (1 + 1e-9)


USED = """\
dpcompose: 1
protect: {protect}
datasets:
  t: {{columns: [a, b, c]}}
  s: {{from: t, partition: {{by: value, blocks: [x, y], uses: [a]}}}}
  p: {{from: t, map: {{kind: sample, poisson: 1/4}}}}
{maps}mechanisms:
  - {{name: one, reads: {one}, notion: pure, epsilon: 1, relation: unbounded}}
  - {{name: two, reads: {two}, mechanism: laplace, scale: 2, sensitivity: 1}}
  - {{name: three, reads: {three}, notion: pure, epsilon: 1/8, relation: unbounded}}
"""
MAPS_OF = """\
  of_s: {from: s.*, map: {kind: columns, only: [a, b]}}
  of_t: {from: t, map: {kind: columns, only: [b]}}
  of_p: {from: p, map: {kind: columns, only: [c]}}
"""


@pytest.mark.parametrize("changes", [None, *("abc"), "ab", "bc"])
def test_what_a_mechanism_uses_is_a_map_of_these_columns(changes: str | None) -> None:
    protect = "bounded"
    if changes is not None:
        protect = f"{{relation: bounded, changes: [{', '.join(changes)}]}}"
    spelled = {"one": "of_s", "two": "of_t", "three": "of_p"}
    used = {"one": "s.*, uses: [a, b]", "two": "t, uses: [b]", "three": "p, uses: [c]"}
    found = [
        analyze(
            USED.format(protect=protect, maps=maps, **reads), "t", deltas=("1e-3",), recheck=True
        )
        for maps, reads in ((MAPS_OF, spelled), ("", used))
    ]
    assert bound(found[0]) == bound(found[1]) is not None
    assert found[0].at_delta[0].value == found[1].at_delta[0].value
    says = [each.says for each in found[1].assumptions]
    assert "`two` depends on `b` of each row alone" in says


def test_columns_that_mechanisms_use_alike_are_one_dataset() -> None:
    text = (
        spec("a", "", "t, uses: [b]")
        + "  - {name: n, reads: t, uses: [b], notion: pure, epsilon: 1}\n"
    )
    assert bound(analyze(text, "t")) == 0
    text = text.replace("uses: [b]", "uses: [b, a]")
    assert bound(analyze(text, "t")) == 2
