"""The enumeration against truths worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
import yaml
from volume import seeds

from . import generate
from . import truth as truth_module
from .exact import doubts, exact
from .generate import random_spec
from .tree import Unsupported, read
from .truth import search, truth


def spec(text: str) -> dict[str, Any]:
    """A spec from YAML, with what every test shares filled in."""
    made: dict[str, Any] = yaml.safe_load(text)
    for number, mechanism in enumerate(made["mechanisms"]):
        mechanism.setdefault("name", f"m{number}")
        if not {"notion", "guarantees"} & set(mechanism):
            mechanism["notion"] = "pure"
        for said in mechanism.get("guarantees", ()):
            said.setdefault("notion", "pure")
    return made


def check(text: str, **expected: object) -> None:
    """Compare the truth of a spec with what it must be."""
    found = truth(spec(text))
    assert set(found) == set(expected)
    for notion, value in expected.items():
        if notion == "pure" and value != math.inf:
            assert found[notion] == Fraction(str(value))
        else:
            assert found[notion] == pytest.approx(value)


DISTRICTS = """
datasets:
  people: {}
  district: {from: people, partition: {by: value, blocks: [n, s, e]}}
"""


class TestNamedTheorems:
    """Specs whose truth is a named theorem, or one of its well-known traps."""

    def test_sequential(self) -> None:
        check(
            """
            protect: unbounded
            datasets: {people: {}}
            mechanisms:
              - {reads: people, epsilon: 0.1}
              - {reads: people, epsilon: 0.2}
              - {reads: people, epsilon: 0.3}
              - {name: smoothed, post_processes: [m0]}
            """,
            pure="0.6",
        )

    def test_sequential_gdp(self) -> None:
        check(
            """
            protect: unbounded
            datasets: {rows: {}}
            mechanisms:
              - {reads: rows, notion: gdp, mu: 0.3}
              - {reads: rows, notion: gdp, mu: 0.4}
            """,
            gdp=0.5,
        )

    def test_parallel(self) -> None:
        check(
            f"""
            protect: unbounded
            {DISTRICTS.replace(chr(10), chr(10) + " " * 12)}
            mechanisms:
              - {{reads: district.*, epsilon: {{n: 0.5, s: 0.7, e: 1.0}}}}
            """,
            pure="1",
        )

    @pytest.mark.parametrize(
        ("relation", "extra", "expected"),
        [
            # A row moves from s to e: both statements on the whole table are used once.
            ("bounded", "stated_on: people", "1.7"),
            # The blocks change their sizes, and nothing is said about that.
            ("bounded", "relation: bounded", math.inf),
            # Replaced within e: one row less and one more, 2 * 1.0; from s to e: 1.7.
            ("bounded", "relation: unbounded", "2"),
            ("unbounded", "relation: bounded", math.inf),
        ],
    )
    def test_disjoint(self, relation: str, extra: str, expected: object) -> None:
        check(
            f"""
            protect: {relation}
            {DISTRICTS.replace(chr(10), chr(10) + " " * 12)}
            mechanisms:
              - {{reads: district.*, epsilon: {{n: 0.5, s: 0.7, e: 1.0}}, {extra}}}
            """,
            pure=expected,
        )

    def test_counts_do_not_change_within_a_block(self) -> None:
        check(
            f"""
            protect: bounded
            {DISTRICTS.replace(chr(10), chr(10) + " " * 12)}
            mechanisms:
              - reads: district.*
                guarantees:
                  - {{epsilon: {{n: 0.5, s: 0.7, e: 1.0}}, relation: unbounded}}
                  - {{epsilon: 0, relation: bounded}}
            """,
            pure="1.7",
        )

    @pytest.mark.parametrize("extra", ["", ", stated_on: people"])
    def test_position(self, extra: str) -> None:
        # A replaced row stays at its position: one block changes, by one row.
        check(
            f"""
            protect: bounded
            datasets:
              people: {{domain: ordered-table}}
              fold: {{from: people, partition: {{by: position, blocks: [a, b, c]}}}}
            mechanisms:
              - {{reads: fold.*, epsilon: {{a: 0.5, b: 0.7, c: 1.0}}{extra}}}
            """,
            pure="1",
        )

    @pytest.mark.parametrize(
        ("relation", "stated", "expected"),
        [("bounded", "unbounded", "0.8"), ("unbounded", "bounded", math.inf)],
    )
    def test_change_of_relation(self, relation: str, stated: str, expected: object) -> None:
        check(
            f"""
            protect: {relation}
            datasets: {{rows: {{}}}}
            mechanisms: [{{reads: rows, epsilon: 0.4, relation: {stated}}}]
            """,
            pure=expected,
        )

    @pytest.mark.parametrize(("extra", "expected"), [("", math.inf), (", stated_on: r", "0.4")])
    def test_filter_then_bounded(self, extra: str, expected: object) -> None:
        check(
            f"""
            protect: bounded
            datasets: {{r: {{}}, adults: {{from: r, map: filter}}}}
            mechanisms: [{{reads: adults, epsilon: 0.4{extra}}}]
            """,
            pure=expected,
        )

    def test_losses_add_inside_a_block(self) -> None:
        check(
            """
            protect: unbounded
            datasets: {r: {}, block: {from: r, partition: {by: value, blocks: [a, b]}}}
            mechanisms:
              - {reads: block.*, epsilon: {a: 0.5, b: 0.1}}
              - {reads: block.*, epsilon: {a: 0.1, b: 0.5}}
            """,
            pure="0.6",
        )

    def test_two_partitions_and_a_total(self) -> None:
        check(
            """
            protect: unbounded
            datasets:
              r: {}
              district: {from: r, partition: {by: value, blocks: 4}}
              age: {from: r, partition: {by: value, blocks: 10}}
            mechanisms:
              - {reads: r, epsilon: 0.1}
              - {reads: district.*, epsilon: 0.2}
              - {reads: age.*, epsilon: 0.3}
            """,
            pure="0.6",
        )

    @pytest.mark.parametrize(
        ("relation", "extra", "expected"),
        # Unbounded: a paid row, 0.5 + 0.4.  Bounded, common domain: free to paid touches all.
        [("unbounded", "", "0.9"), ("bounded", ", stated_on: users", "1.2")],
    )
    def test_kinds(self, relation: str, extra: str, expected: object) -> None:
        check(
            f"""
            protect: {relation}
            datasets:
              users: {{}}
              feature:
                from: users
                partition: {{by: kinds, kinds: {{free: [common, ads], paid: [common, premium]}}}}
            mechanisms:
              - {{reads: feature.*, epsilon: {{common: 0.5, ads: 0.3, premium: 0.4}}{extra}}}
            """,
            pure=expected,
        )

    def test_membership_unbounded(self) -> None:
        check(
            """
            protect: unbounded
            datasets:
              r: {}
              hospital: {from: r, partition: {by: membership, blocks: 12, max_blocks: 3}}
            mechanisms: [{reads: hospital.*, epsilon: 1}]
            """,
            pure="3",
        )

    def test_stabilities_multiply(self) -> None:
        text = """
            protect: unbounded
            datasets:
              docs: {}
              words: {from: docs, map: {kind: flatten, max_rows: 3}}
              more: {from: words, map: {kind: stable, stability: 2}}
            mechanisms: [{reads: more, %s}]
            """
        check(text % "epsilon: 0.1", pure="0.6")
        check(text % "notion: zcdp, rho: 0.01", zcdp=0.36)

    def test_disjoint_in_other_notions(self) -> None:
        text = """
            protect: %s
            datasets: {r: {}, block: {from: r, partition: {by: value, blocks: [a, b, c]}}}
            mechanisms: [{reads: block.*, %s}]
            """
        rho = "notion: zcdp, rho: {a: 0.1, b: 0.25, c: 0.2}"
        check(text % ("unbounded", rho), zcdp=0.25)
        check(text % ("bounded", rho + ", stated_on: r"), zcdp=0.45)
        mu = "notion: gdp, mu: {a: 0.3, b: 0.4, c: 0.1}, stated_on: r"
        check(text % ("bounded", mu), gdp=0.5)


BOTH = "guarantees: [{epsilon: 1, relation: unbounded}, {epsilon: %s, relation: bounded}]"


class TestSingleMaps:
    """One map, with both statements on its own result: what one step becomes there."""

    @pytest.mark.parametrize(
        ("relation", "kind", "bounded", "expected"),
        [
            # Filter, replaced row: one that passes for one that does not (1), or (0, 1).
            ("bounded", "filter", "1.5", "1.5"),
            ("bounded", "filter", "0", "1"),
            # A replaced row costs no more than two steps of one row.
            ("bounded", "row", "7", "2"),
            # Flatten: a + r <= 2.  (2, 0) costs 2, (1, 1) costs 2.5, (0, 2) costs 3.
            ("bounded", "{kind: flatten, max_rows: 2}", "1.5", "3"),
            ("bounded", "{kind: flatten, max_rows: 2}", "0", "2"),
            # All rows give exactly two: the number of rows does not change.
            ("bounded", "{kind: flatten, max_rows: 2, exact: true}", "0", "0"),
            ("bounded", "{kind: flatten, max_rows: 2, exact: true}", "0.4", "0.8"),
            # Group: a row that comes changes a group (1.5) or makes one (1).  A replaced row
            # leaves one group and joins another, and both stay: (0, 2); or both are alone: 2.
            ("unbounded", "{kind: group, by: c}", "1.5", "1.5"),
            ("unbounded", "{kind: group, by: c}", "0.2", "1"),
            ("bounded", "{kind: group, by: c}", "1.5", "3"),
            # Cheap replacements: the worst is a row that leaves a group that vanishes and joins
            # one that stays, (1, 1).
            ("bounded", "{kind: group, by: c}", "0.2", "1.2"),
            # Limit to one row per key: the same cases.
            ("unbounded", "{kind: limit, per: c, rows: 1, keep: first}", "1.5", "1.5"),
            ("bounded", "{kind: limit, per: c, rows: 1, keep: first}", "1.5", "3"),
            ("bounded", "{kind: limit, per: c, rows: 1, keep: first}", "0.2", "1.2"),
            # Stable: two steps of one row for each row; four for a replaced one, and they may
            # all be additions.
            ("unbounded", "{kind: stable, stability: 2}", "0.2", "2"),
            ("bounded", "{kind: stable, stability: 2}", "0.2", "4"),
        ],
    )
    def test_own_domain(self, relation: str, kind: str, bounded: str, expected: str) -> None:
        check(
            f"""
            protect: {relation}
            datasets: {{r: {{}}, d: {{from: r, map: {kind}}}}}
            mechanisms: [{{reads: d, {BOTH % bounded}}}]
            """,
            pure=expected,
        )

    def test_square_roots(self) -> None:
        # (0, 2) at rho = 2.25 a step: (1.5 + 1.5)^2; (1, 1): (1 + 1.5)^2; (2, 0): 4.
        check(
            """
            protect: bounded
            datasets: {r: {}, d: {from: r, map: {kind: flatten, max_rows: 2}}}
            mechanisms:
              - reads: d
                guarantees:
                  - {notion: zcdp, rho: 1, relation: unbounded}
                  - {notion: zcdp, rho: 2.25, relation: bounded}
            """,
            zcdp=9,
        )

    @pytest.mark.parametrize(
        ("kind", "bounded", "expected"),
        # On the filtered table the statement must say something about its size.
        [("filter", "0.5", "1"), ("row", "0.5", "0.5")],
    )
    def test_fixed_size(self, kind: str, bounded: str, expected: str) -> None:
        said = BOTH % bounded if kind == "filter" else f"epsilon: {bounded}"
        check(
            f"""
            protect: bounded
            datasets: {{r: {{domain: fixed-size-table}}, d: {{from: r, map: {kind}}}}}
            mechanisms: [{{reads: d, {said}}}]
            """,
            pure=expected,
        )

    def test_groups_of_two_rows(self) -> None:
        # Two replaced rows, each at 1.5; in zCDP (1.5 + 1.5)^2.
        text = """
            protect: {relation: bounded, distance: 2}
            datasets: {r: {}}
            mechanisms: [{reads: r, %s}]
            """
        check(text % "epsilon: 1.5, count: 3", pure="9")
        check(text % "notion: zcdp, rho: 2.25", zcdp=9)

    def test_groups_of_two_rows_and_blocks(self) -> None:
        # Two added rows, both in b: 2 * 0.7.
        check(
            """
            protect: {relation: unbounded, distance: 2}
            datasets: {r: {}, block: {from: r, partition: {by: value, blocks: [a, b]}}}
            mechanisms: [{reads: block.*, epsilon: {a: 0.5, b: 0.7}}]
            """,
            pure="1.4",
        )


class TestCommonDomain:
    """Statements on an ancestor, and rows that leave no trace."""

    @pytest.mark.parametrize(
        ("derived", "reads", "expected"),
        [
            # One table with a row and one without: as far as the filter can see they might be
            # two tables of one size, if some row does not pass.  That must be said.
            ("map: filter", "d", math.inf),
            ("map: {kind: filter, drops: true}", "d", "0.4"),
            # Rows of the other block leave no trace in p.
            ("partition: {by: value, blocks: [p, q]}", "d.p", "0.4"),
            ("partition: {by: value, blocks: [p]}", "d.p", math.inf),
            ("partition: {by: value, blocks: [p], drops: true}", "d.p", "0.4"),
            # All rows might be members of p.
            ("partition: {by: membership, blocks: [p, q], max_blocks: 2}", "d.p", math.inf),
            (
                "partition: {by: membership, blocks: [p, q], max_blocks: 2, drops: true}",
                "d.*",
                "0.8",
            ),
            # Rows of kind y leave no trace in p, but all rows leave one in q.
            ("partition: {by: kinds, kinds: {x: [p, q], y: [q]}}", "d.p", "0.4"),
            ("partition: {by: kinds, kinds: {x: [p, q], y: [q]}}", "d.q", math.inf),
            # A row that gives nothing stands in for one that gives two.
            ("map: {kind: flatten, max_rows: 2, drops: true}", "d", "0.4"),
            ("map: {kind: flatten, max_rows: 2}", "d", math.inf),
            # A group that is there does not hide whether a row came to another group.
            ("map: {kind: group, by: c}", "d", math.inf),
            ("map: {kind: limit, per: c, rows: 1, keep: first}", "d", math.inf),
            # Keys act like values as long as a replacement may change them.
            ("partition: {by: key, column: c, blocks: [p, q]}", "d.p", "0.4"),
        ],
    )
    def test_bounded_statement_on_the_root(
        self, derived: str, reads: str, expected: object
    ) -> None:
        check(
            f"""
            protect: unbounded
            datasets: {{r: {{}}, d: {{from: r, {derived}}}}}
            mechanisms: [{{reads: {reads}, epsilon: 0.4, relation: bounded, stated_on: r}}]
            """,
            pure=expected,
        )

    def test_flatten_into_blocks(self) -> None:
        # A document may give rows to both blocks, and nothing says that some document gives
        # none to p: the bounded statement does not help, and each block costs one step.
        check(
            """
            protect: unbounded
            datasets:
              r: {}
              words: {from: r, map: {kind: flatten, max_rows: 2}}
              block: {from: words, partition: {by: value, blocks: [p, q]}}
            mechanisms:
              - reads: block.*
                stated_on: r
                guarantees: [{epsilon: 1, relation: unbounded}, {epsilon: 0.4, relation: bounded}]
            """,
            pure="2",
        )

    def test_an_added_row_can_replace_one(self) -> None:
        # One row per key, and the key is kept.  Tables {x} and {x'} with x before x' read the
        # same as {x, x'} and {x'}: one removed row covers a replaced one.
        text = """
            protect: {relation: bounded, keeps: [c]}
            datasets: {r: {}, d: {from: r, map: {kind: limit, per: c, rows: %s, keep: first}}}
            mechanisms: [{reads: d, epsilon: 1, relation: unbounded, stated_on: r}]
            """
        check(text % 1, pure="1")
        check(text % 2, pure="2")

    @pytest.mark.parametrize("blocks", ["[p]", "[p, q]"])
    def test_position_and_removed_rows(self, blocks: str) -> None:
        # A replaced row is one row less and one more: 2 * 0.5.  (If two blocks take turns, one
        # row put in before would do, the rows of the other block being free; but blocks may lie
        # otherwise, say all positions but the first in p.)
        check(
            f"""
            protect: bounded
            datasets:
              r: {{domain: ordered-table}}
              d: {{from: r, partition: {{by: position, blocks: {blocks}}}}}
            mechanisms: [{{reads: d.p, epsilon: 0.5, relation: unbounded, stated_on: r}}]
            """,
            pure="1",
        )

    def test_rows_without_trace_before_a_group(self) -> None:
        # Rows that do not pass the filter stand in for added ones; what is done with the rows
        # that pass does not matter.
        text = """
            protect: unbounded
            datasets:
              r: {}
              some: {from: r, map: %s}
              g: {from: some, map: {kind: group, by: c}}
            mechanisms: [{reads: g, epsilon: 0.4, relation: bounded, stated_on: r}]
            """
        check(text % "{kind: filter, drops: true}", pure="0.4")
        check(text % "filter", pure=math.inf)

    def test_dropped_words_are_not_dropped_documents(self) -> None:
        # Some word is dropped, but every document may have a word that is not.
        text = """
            protect: unbounded
            datasets:
              r: {}
              words: {from: r, map: {kind: flatten, max_rows: 2%s}}
              some: {from: words, map: {kind: filter, drops: true}}
            mechanisms: [{reads: some, epsilon: 0.4, relation: bounded, stated_on: r}]
            """
        check(text % "", pure=math.inf)
        check(text % ", drops: true", pure="0.4")

    def test_two_datasets_in_turn(self) -> None:
        # From one word to two that pass: own 1 + 2.  On the words a replaced one costs 1.2, but
        # there their number changes.  One step of each: 1 + 1.2; two replaced words: 2.4.
        one = spec(
            """
            protect: bounded
            datasets:
              r: {}
              words: {from: r, map: {kind: flatten, max_rows: 2}}
              some: {from: words, map: filter}
            mechanisms:
              - reads: some
                guarantees:
                  - {epsilon: 1, relation: unbounded}
                  - {epsilon: 1.2, relation: bounded, stated_on: words}
            """
        )
        assert search(one)[0] == 3
        assert search(one, mixed=True)[0] == Fraction("2.4")
        assert not exact(one)

    def test_least_of_several_datasets(self) -> None:
        # Own: removed 1, replaced 2.  On the root: 1.2 for any replaced row.
        check(
            """
            protect: bounded
            datasets: {r: {}, d: {from: r, map: filter}}
            mechanisms:
              - reads: d
                guarantees:
                  - {epsilon: 1, relation: unbounded}
                  - {epsilon: 1.2, relation: bounded, stated_on: r}
            """,
            pure="1.2",
        )


class TestPartitions:
    """Blocks that share rows, blocks within blocks, and maps before partitions."""

    @pytest.mark.parametrize(
        ("blocks", "most", "bounded", "expected"),
        [
            # One block: a row comes (1) or is replaced (1.2).
            ("[p]", 1, "1.2", "1.2"),
            # From p to q: 2 beats 1.2.
            ("[p, q]", 1, "1.2", "2"),
            # In both blocks before and after: 2.4 beats 2.
            ("[p, q]", 2, "1.2", "2.4"),
            # Capacity 4: p twice and q, s once each.
            ("[p, q, s]", 2, "1.2", "3.2"),
            ("[p, q, s]", 2, "0", "3"),
        ],
    )
    def test_membership_bounded(self, blocks: str, most: int, bounded: str, expected: str) -> None:
        check(
            f"""
            protect: bounded
            datasets:
              r: {{}}
              d: {{from: r, partition: {{by: membership, blocks: {blocks}, max_blocks: {most}}}}}
            mechanisms: [{{reads: d.*, {BOTH % bounded}}}]
            """,
            pure=expected,
        )

    def test_membership_with_unequal_blocks(self) -> None:
        # a replaced costs 1.5, a and then b or c: 1.4, 1.3.
        check(
            """
            protect: bounded
            datasets:
              r: {}
              d: {from: r, partition: {by: membership, blocks: [a, b, c], max_blocks: 1}}
            mechanisms:
              - reads: d.*
                guarantees:
                  - {epsilon: {a: 1.0, b: 0.4, c: 0.3}, relation: unbounded}
                  - {epsilon: {a: 1.5, b: 0.5, c: 0.3}, relation: bounded}
            """,
            pure="1.5",
        )

    def test_membership_in_squares(self) -> None:
        # rho = 1 for a row: a replaced row costs 4 in its block, more than 1 + 1 in two.
        check(
            """
            protect: bounded
            datasets:
              r: {}
              d: {from: r, partition: {by: membership, blocks: [a, b, c], max_blocks: 2}}
            mechanisms: [{reads: d.*, notion: zcdp, rho: 1, relation: unbounded}]
            """,
            zcdp=8,
        )

    @pytest.mark.parametrize(
        ("before", "keeps", "expected"),
        [
            # A replacement keeps the key, so a row stays in its block.
            ("r", True, "0.7"),
            # Otherwise it may move, and the sizes of two blocks change.
            ("r", False, math.inf),
            # The row map may write another key, unless it says that it does not.
            ("loose", True, math.inf),
            ("strict", True, "0.7"),
            # A filter shows or hides the row, so the size of the block changes.
            ("some", True, math.inf),
        ],
    )
    def test_key(self, before: str, keeps: bool, expected: object) -> None:
        protect = "{relation: bounded, keeps: [c]}" if keeps else "bounded"
        check(
            f"""
            protect: {protect}
            datasets:
              r: {{}}
              loose: {{from: r, map: row}}
              strict: {{from: r, map: {{kind: row, keeps: [c]}}}}
              some: {{from: r, map: filter}}
              d: {{from: {before}, partition: {{by: key, column: c, blocks: [p, q]}}}}
            mechanisms: [{{reads: d.*, epsilon: {{p: 0.5, q: 0.7}}, relation: bounded}}]
            """,
            pure=expected,
        )

    def test_group_by_a_kept_key(self) -> None:
        # The group of the key changes, and stays in the block of the key.
        check(
            """
            protect: {relation: bounded, keeps: [c]}
            datasets:
              r: {}
              g: {from: r, map: {kind: group, by: c}}
              d: {from: g, partition: {by: key, column: c, blocks: [p, q]}}
            mechanisms: [{reads: d.*, epsilon: {p: 0.5, q: 0.7}, relation: bounded}]
            """,
            pure="0.7",
        )

    def test_limit_by_another_key(self) -> None:
        # Two rows are replaced by rows of any key c: four ends, each in q at 0.7.
        check(
            """
            protect: {relation: bounded, keeps: [c]}
            datasets:
              r: {}
              few: {from: r, map: {kind: limit, per: d, rows: 1, keep: first}}
              d: {from: few, partition: {by: key, column: c, blocks: [p, q]}}
            mechanisms: [{reads: d.*, epsilon: {p: 0.5, q: 0.7}, relation: unbounded}]
            """,
            pure="2.8",
        )

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("blocks", "extra", "expected"),
        [
            # The filter hides a row and all rows behind it move: every block changes, by any
            # number of rows.
            ("[p, q]", "", math.inf),
            # A statement on the root covers each block at one replaced row.
            ("[p, q]", ", stated_on: r", "1"),
            ("[p, q, s]", ", stated_on: r", "1.5"),
            # One block holds all rows: nothing moves anywhere else.
            ("[p]", ", relation: unbounded", "1"),
        ],
    )
    def test_filter_before_position(self, blocks: str, extra: str, expected: object) -> None:
        check(
            f"""
            protect: bounded
            datasets:
              r: {{domain: ordered-table}}
              some: {{from: r, map: filter}}
              d: {{from: some, partition: {{by: position, blocks: {blocks}}}}}
            mechanisms: [{{reads: d.*, epsilon: 0.5{extra}}}]
            """,
            pure=expected,
        )

    def test_exact_flatten_before_position(self) -> None:
        # The two rows of one row are neighbours in the order: any two blocks change.
        check(
            """
            protect: bounded
            datasets:
              r: {domain: ordered-table}
              two: {from: r, map: {kind: flatten, max_rows: 2, exact: true}}
              d: {from: two, partition: {by: position, blocks: [p, q, s]}}
            mechanisms: [{reads: d.*, epsilon: {p: 0.2, q: 0.7, s: 0.5}}]
            """,
            pure="1.2",
        )

    def test_nested(self) -> None:
        # Within p a row moves from a to b: 0.3 + 0.4, and the total of p changes: 0.1.
        # From p.b to q: 0.1 and 0.4 in p, 0.6 in q: more.
        check(
            """
            protect: bounded
            datasets:
              r: {}
              outer: {from: r, partition: {by: value, blocks: [p, q]}}
              inner: {from: outer.p, partition: {by: value, blocks: [a, b]}}
            mechanisms:
              - {reads: outer.p, epsilon: 0.1, stated_on: r}
              - {reads: outer.q, epsilon: 0.6, stated_on: r}
              - {reads: inner.*, epsilon: {a: 0.3, b: 0.4}, stated_on: r}
            """,
            pure="1.1",
        )

    def test_map_in_every_block(self) -> None:
        # Each block has its filter.  A row passes in p, its replacement passes in q.
        check(
            """
            protect: bounded
            datasets:
              r: {}
              outer: {from: r, partition: {by: value, blocks: [p, q]}}
              some: {from: outer.*, map: filter}
            mechanisms:
              - reads: some
                guarantees:
                  - {epsilon: {p: 0.3, q: 0.4}, relation: unbounded}
                  - {epsilon: 0, relation: bounded}
              - {reads: outer.*, epsilon: 0.1, stated_on: r}
            """,
            pure="0.9",
        )

    def test_kinds_with_none(self) -> None:
        # From x to no kind: 0.5 + 0.3.  Replaced within x: 0.6 + 0.
        check(
            """
            protect: bounded
            datasets:
              r: {}
              d: {from: r, partition: {by: kinds, kinds: {x: [p, q], other: []}}}
            mechanisms:
              - reads: d.*
                guarantees:
                  - {epsilon: {p: 0.5, q: 0.3}, relation: unbounded}
                  - {epsilon: {p: 0.6, q: 0}, relation: bounded}
            """,
            pure="0.8",
        )


class TestUsers:
    """All rows of one user come or go."""

    def test_cap(self) -> None:
        check(
            """
            protect: user
            datasets:
              visits: {unit: user_id}
              capped: {from: visits, map: {kind: cap, rows: 5, keep: first}}
            mechanisms: [{reads: capped, notion: gdp, mu: 0.1, relation: unbounded}]
            """,
            gdp=0.5,
        )

    @pytest.mark.parametrize(
        ("limits", "expected"),
        [
            # Three rows in q and three in r.
            ("max_blocks_per_unit: 2, max_rows_per_block: 3", "1.5"),
            # All six in r.
            ("max_blocks_per_unit: 2", "1.8"),
            # Two in each.
            ("max_rows_per_block: 2", "1.2"),
        ],
    )
    def test_places(self, limits: str, expected: str) -> None:
        check(
            f"""
            protect: user
            datasets:
              visits: {{unit: user_id}}
              capped: {{from: visits, map: {{kind: cap, rows: 6, keep: first}}}}
              place: {{from: capped, partition: {{by: value, blocks: [p, q, r], {limits}}}}}
            mechanisms:
              - {{reads: place.*, epsilon: {{p: 0.1, q: 0.2, r: 0.3}}, relation: unbounded}}
            """,
            pure=expected,
        )

    def test_rows_spread_over_blocks(self) -> None:
        # A user has one row in each grouped block, made of one to four rows: one in p, one in q.
        check(
            """
            protect: user
            datasets:
              visits: {unit: user_id}
              capped: {from: visits, map: {kind: cap, rows: 4, keep: first}}
              place: {from: capped, partition: {by: value, blocks: [p, q]}}
              who: {from: place.*, map: {kind: group, by: user_id}}
            mechanisms:
              - {reads: who, epsilon: 1.5, relation: unbounded}
            """,
            pure="3",
        )

    def test_one_row_for_each_user(self) -> None:
        check(
            """
            protect: user
            datasets:
              visits: {unit: user_id}
              users: {from: visits, map: {kind: group, by: user_id}}
            mechanisms: [{reads: users, epsilon: 0.1, relation: unbounded}]
            """,
            pure="0.1",
        )

    def test_without_a_cap(self) -> None:
        with pytest.raises(Unsupported):
            read(
                spec(
                    """
                    protect: user
                    datasets: {visits: {unit: user_id}}
                    mechanisms: [{reads: visits, epsilon: 1, relation: unbounded}]
                    """
                )
            )


def agree(first: Fraction | float, second: Fraction | float) -> bool:
    """Whether two results are the same up to the rounding of square roots."""
    return first == second or math.isclose(first, second, rel_tol=1e-9)


def scaled(body: Any, factor: int) -> Any:
    """A spec with all its parameters multiplied."""
    if isinstance(body, Mapping):
        return {
            key: _times(value, factor) if key in ("epsilon", "rho", "mu") else scaled(value, factor)
            for key, value in body.items()
        }
    return [scaled(each, factor) for each in body] if isinstance(body, list) else body


def _times(value: Any, factor: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _times(each, factor) for key, each in value.items()}
    return str(Fraction(str(value)) * factor)


class TestRandomSpecs:
    """The enumeration on random specs: it must not depend on how it is done."""

    def test_seeds_are_stable(self) -> None:
        once = [random_spec(seed) for seed in range(20)]
        generate._first_small.cache_clear()
        assert once == [random_spec(seed) for seed in range(20)]

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(0, 40, 2))
    def test_parameters_scale(self, seed: int) -> None:
        one = random_spec(seed)
        ((notion, value),) = truth(one).items()
        assert agree(truth(scaled(one, 4))[notion], 4 * value)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(10, range(1, 40, 2)))
    def test_whole_spaces_agree(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small spaces between two tables give the same as one space of all tables."""
        one = random_spec(seed)
        value, _ = search(one)
        monkeypatch.setattr(truth_module, "ALWAYS_WHOLE", True)
        monkeypatch.setattr(truth_module, "MOST_TABLES", 3000)
        whole, notes = search(one)
        assert agree(value, whole) or (notes.cut and whole < value)

    @pytest.mark.slow
    def test_doubts(self) -> None:
        one = spec(
            """
            protect: unbounded
            datasets: {r: {}, d: {from: r, map: {kind: stable, stability: 2}}}
            mechanisms: [{reads: d, epsilon: 1, stated_on: r}]
            """
        )
        assert doubts(one) == ["a statement above a map of which only the stability is known"]

    @pytest.mark.parametrize(
        "body",
        [
            "protect: node\ndatasets: {r: {}}\nmechanisms: [{reads: r, epsilon: 1}]",
            "protect: bounded\ndatasets: {r: {}, d: {from: r, map: opaque}}\n"
            "mechanisms: [{reads: d, epsilon: 1}]",
            "protect: unbounded\ndatasets: {r: {domain: fixed-size-table}}\n"
            "mechanisms: [{reads: r, epsilon: 1}]",
        ],
    )
    def test_unsupported(self, body: str) -> None:
        with pytest.raises(Unsupported):
            read(spec(body))
