"""The oracle of random maps against truths worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
import yaml

import dpcompose

from .features import FEATURES, features, never
from .judge import Claim, judge, universes
from .matrix import pairs
from .pipeline import read
from .polytope import Side, as_pure, power
from .shapes import draft
from .universe import Universe, sample

HALF = Fraction(1, 2)
#: A claim that nothing is above.
HUGE = Claim("pure", Fraction(100))


def spec(text: str) -> dict[str, Any]:
    made: dict[str, Any] = yaml.safe_load(text)
    for number, mechanism in enumerate(made["mechanisms"]):
        mechanism.setdefault("name", f"m{number}")
        for said in mechanism.get("guarantees", [mechanism]):
            said.setdefault("notion", "pure")
    return made


def loss(text: str, pairs: int = 6) -> float:
    """The largest loss that is found."""
    return max(judge(spec(text), [HUGE], seed, (2, pairs)).attained for seed in range(3))


def leak(text: str, epsilon: str, counts: tuple[int, int] = (2, 6)) -> float:
    """The largest δ at ε that is found."""
    claim = Claim("approx", Fraction(epsilon), Fraction(999, 1000))
    return max(judge(spec(text), [claim], seed, counts).attained for seed in range(3))


NESTED = """
protect: unbounded
datasets:
  rows: {}
  s: {from: rows, map: {kind: sample, poisson: "0.1"}}
  t: {from: s, map: {kind: sample, poisson: "0.1"}}
"""


class TestOneMechanism:
    """The linear program decides the truth of a universe."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("protect", "relation", "expected"),
        [("unbounded", "unbounded", 1), ("bounded", "unbounded", 2), ("bounded", "bounded", 1)],
    )
    def test_a_table(self, protect: str, relation: str, expected: float) -> None:
        text = f"""
            protect: {protect}
            datasets: {{rows: {{}}}}
            mechanisms: [{{reads: rows, epsilon: 1, relation: {relation}}}]
            """
        assert loss(text) == pytest.approx(expected)

    def test_bounded_statements_know_nothing_of_sizes(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}}
            mechanisms: [{reads: rows, epsilon: 1, relation: bounded}]
            """
        assert judge(spec(text), [HUGE], 0).breach is not None

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("stated_on", "expected"),
        [
            ("rows", 1),
            ("s", math.log1p(0.1 * math.expm1(1))),
            ("t", math.log1p(0.01 * math.expm1(1))),
        ],
    )
    def test_a_statement_is_amplified_by_the_samples_above_it_only(
        self, stated_on: str, expected: float
    ) -> None:
        text = f"{NESTED}mechanisms: [{{reads: t, epsilon: 1, stated_on: {stated_on}}}]"
        assert loss(text) == pytest.approx(expected)

    def test_the_worst_mechanism_tells_whether_the_sample_is_empty(self) -> None:
        text = f"{NESTED}mechanisms: [{{reads: t, epsilon: 1, stated_on: rows}}]"
        breach = judge(spec(text), [Claim("pure", Fraction("0.16"))], 0).breach
        assert breach is not None and breach.attained == pytest.approx(1)
        assert sorted(len(table) for side in breach.roots for _, table in side) == [0, 1]

    def test_a_replaced_row_of_a_sample(self) -> None:
        text = """
            protect: bounded
            datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: "1/2"}}}
            mechanisms: [{reads: s, epsilon: 1, relation: unbounded}]
            """
        expected = math.log((1 + math.e) / (1 + 1 / math.e))
        assert loss(text) == pytest.approx(expected)

    def test_a_sample_without_replacement(self) -> None:
        text = """
            protect: bounded
            datasets:
              rows: {domain: fixed-size-table, size: 2}
              s: {from: rows, map: {kind: sample, size: 1, of: 2}}
            mechanisms: [{reads: s, epsilon: 1, relation: bounded}]
            """
        assert loss(text) == pytest.approx(math.log1p(math.expm1(1) / 2))

    def test_a_delta_at_distance_two(self) -> None:
        text = """
            protect: {relation: unbounded, distance: 2}
            datasets: {rows: {}}
            mechanisms: [{reads: rows, notion: approx, epsilon: 1, delta: 0.01}]
            """
        assert leak(text, "2") == pytest.approx(0.01 * (1 + math.e))

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", ["0.2", "0.5", "0.9"])
    @pytest.mark.parametrize(("u", "b"), [("0", "0"), ("0.1", "0.01"), ("0.01", "0.1")])
    def test_unlike_steps(self, u: str, b: str, epsilon: str) -> None:
        """One group of rows replaced, and one that comes or goes: in the best of both orders."""
        text = f"""
            protect: bounded
            datasets: {{rows: {{}}, days: {{from: rows, map: {{kind: group, by: c}}}}}}
            mechanisms:
              - name: m
                reads: days
                guarantees:
                  - {{notion: approx, epsilon: 0.5, delta: {u}, relation: unbounded}}
                  - {{notion: approx, epsilon: 0.4, delta: {b}, relation: bounded}}
            """.replace("notion: approx, epsilon: 0.5, delta: 0,", "epsilon: 0.5,").replace(
            "notion: approx, epsilon: 0.4, delta: 0,", "epsilon: 0.4,"
        )
        told = "dpcompose: 1" + dedent(text).replace("{epsilon", "{notion: pure, epsilon")
        (bound,) = dpcompose.analyze(told, epsilons=[Fraction(epsilon)]).at_epsilon
        assert bound.value is not None
        truth = leak(text, epsilon, (8, 6))
        assert truth <= float(bound.value) * (1 + 1e-9) + 1e-9
        if b != "0.1":
            assert float(bound.value) == pytest.approx(truth, rel=1e-8, abs=1e-9)

    def test_a_delta_below_a_sample(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: "1/4"}}}
            mechanisms: [{reads: s, notion: approx, epsilon: 1, delta: 0.01}]
            """
        assert leak(text, str(math.log1p(math.expm1(1) / 4))) == pytest.approx(0.0025, rel=1e-6)

    def test_a_declared_relation_covers_only_itself(self) -> None:
        text = """
            protect: house
            relations: {house: {within: unbounded, distance: 2}}
            datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: "0.1"}}}
            mechanisms: [{reads: s, epsilon: 1, relation: house, stated_on: rows}]
            """
        assert loss(text) == pytest.approx(1)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("target", "stated", "degree", "expected"),
        [("node", "edge", 2, 2), ("node-rewired", "edge", 1, 2), ("edge", "node", 2, 2)],
    )
    def test_graphs(self, target: str, stated: str, degree: int, expected: float) -> None:
        text = f"""
            protect: {target}
            datasets: {{g: {{domain: graph, max_degree: {degree}}}}}
            mechanisms: [{{reads: g, epsilon: 1, relation: {stated}}}]
            """
        assert loss(text) == pytest.approx(expected)

    def test_users(self) -> None:
        text = """
            protect: user
            datasets:
              visits: {unit: user}
              few: {from: visits, map: {kind: cap, rows: 1, keep: random}}
            mechanisms: [{reads: few, epsilon: 1, relation: unbounded}]
            """
        assert loss(text) == pytest.approx(1)

    @pytest.mark.parametrize("distance", [1, 2])
    @pytest.mark.parametrize(
        "again",
        [
            "kind: group, by: user",
            "kind: limit, per: user, rows: 1, keep: first",
            "kind: cap, rows: 2, keep: random",
        ],
    )
    def test_one_row_for_each_user(self, again: str, distance: int) -> None:
        """What follows finds one row of each user, and one that comes or goes is alone."""
        text = f"""
            protect: {{relation: user, distance: {distance}}}
            datasets:
              visits: {{unit: user}}
              users: {{from: visits, map: {{kind: group, by: user}}}}
              again: {{from: users, map: {{{again}}}}}
            mechanisms: [{{name: m, reads: again, notion: pure, epsilon: 1, relation: unbounded}}]
            """
        report = dpcompose.analyze("dpcompose: 1" + dedent(text), deltas=[Fraction(0)])
        assert report.at_delta[0].value == distance
        assert loss(text) == pytest.approx(distance)

    def test_a_point(self) -> None:
        text = """
            protect: bounded
            datasets: {rows: {}, sum: {from: rows, map: {kind: value, sensitivity: 1}}}
            mechanisms: [{reads: sum, epsilon: 0.5, relation: euclidean}]
            """
        assert loss(text) == pytest.approx(0.5)


class TestSeveral:
    """Mechanisms that share a draw are improved in turn."""

    @pytest.mark.slow
    @pytest.mark.parametrize(("draws", "expected"), [("one", 0.494029), ("each", 2 * 0.158565)])
    def test_two_copies_on_a_sample(self, draws: str, expected: float) -> None:
        text = f"""
            protect: unbounded
            datasets:
              rows: {{}}
              s: {{from: rows, map: {{kind: sample, poisson: "0.1", draws: {draws}}}}}
            mechanisms: [{{reads: s, epsilon: 1, count: 2}}]
            """
        assert loss(text) == pytest.approx(expected, abs=1e-6)

    @pytest.mark.slow
    def test_one_draw_below_a_fresh_one_is_one_draw_of_both(self) -> None:
        once = NESTED.replace('"0.1"}}\n', '"0.1", draws: one}}\n')
        text = f"{once}mechanisms: [{{reads: t, epsilon: 1, count: 3}}]"
        assert loss(text) == pytest.approx(0.17467, abs=1e-5)

    @pytest.mark.slow
    def test_statements_above_one_draw_do_not_compose(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: "0.1"}}}
            mechanisms:
              - {reads: s, epsilon: 1, stated_on: rows}
              - {reads: s, epsilon: 1, stated_on: rows}
            """
        assert loss(text) > 3

    @pytest.mark.slow
    @pytest.mark.parametrize(("roots", "expected"), [("", 3), ("roots: disjoint", 2)])
    def test_two_roots(self, roots: str, expected: float) -> None:
        text = f"""
            protect: unbounded
            {roots}
            datasets: {{a: {{}}, b: {{}}}}
            mechanisms: [{{reads: a, epsilon: 1}}, {{reads: b, epsilon: 2}}]
            """
        assert loss(text) == pytest.approx(expected)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("protect", "stated", "expected"),
        [
            ("house", "", 2),  # both in one of the roots
            ("house", "house", 3),  # one in each
            ("{relation: unbounded, distance: 2}", "", 2),
        ],
    )
    def test_steps_shared_out_among_two_roots(
        self, protect: str, stated: str, expected: int
    ) -> None:
        also = "- {name: m, reads: b, notion: pure, epsilon: 1.5, relation: house}"
        text = f"""
            protect: {protect}
            relations: {{house: {{within: unbounded, distance: 2}}}}
            roots: disjoint
            datasets: {{a: {{}}, b: {{}}}}
            mechanisms:
              - {{name: k, reads: a, notion: pure, epsilon: 1, relation: unbounded}}
              - {{name: l, reads: b, notion: pure, epsilon: 0.5, relation: unbounded}}
              {also if stated else ""}
            """
        report = dpcompose.analyze("dpcompose: 1" + dedent(text), deltas=[Fraction(0)])
        assert report.at_delta[0].value == expected
        assert loss(text, 12) == pytest.approx(expected)


class TestExactness:
    """What is reported is exact, and the universes are what they are said to be."""

    def universe(self, text: str, seed: int = 0) -> Universe:
        return next(universes(read(spec(text)), Random(seed), 1))

    def test_one_outcome_scaled_down_is_a_mechanism(self) -> None:
        universe = self.universe(
            "protect: unbounded\ndatasets: {rows: {}}\nmechanisms: [{reads: rows, epsilon: 1}]"
        )
        side = Side(universe, universe.pipeline.copies[0], {})
        v = [Fraction(0)] * len(side.values)
        for table, n in side.values.items():
            v[n] = Fraction("0.37") ** len(table)
        assert side.keeps_to(v, both=False)
        # "Not y" never happens on the empty table, and on all others.
        assert not side.keeps_to(v, both=True)
        share = 1 - 1 / power(Fraction(1), up=False)
        assert side.keeps_to([share * x for x in v], both=True)

    def test_what_breaks_a_statement_is_no_mechanism(self) -> None:
        universe = self.universe(
            "protect: unbounded\ndatasets: {rows: {}}\nmechanisms: [{reads: rows, epsilon: 1}]"
        )
        side = Side(universe, universe.pipeline.copies[0], {})
        v = [Fraction("0.36") ** len(table) for table in side.values]
        assert not side.keeps_to(v, both=False)
        assert side.rational(np.array([float(x) for x in v]), both=False) is None

    def test_laws_add_up(self) -> None:
        for seed in range(20):
            specs = draft(seed, ("random limit",))
            if not specs:
                continue
            for universe in universes(read(specs[0]), Random(seed), 1):
                for node in universe.pipeline.nodes:
                    if node.made_by is None or node not in universe.rows:
                        continue
                    for table in universe.domain(node.made_by.parent)[:10]:
                        law = universe.law(node.made_by, node.index, table)
                        assert sum(law.values()) == 1

    def test_a_random_limit(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}, d: {from: rows, map: {kind: limit, per: c, rows: 1, keep: random}}}
            mechanisms: [{reads: d, epsilon: 1}]
            """
        universe = self.universe(text)
        root, d = universe.pipeline.nodes
        assert d.made_by is not None
        rows = [row for row in universe.rows[root] if universe.column(row, "c") == 1]
        others = [row for row in universe.rows[root] if row not in rows]
        [*two] = (rows if len(rows) > 1 else others)[:2]
        law = universe.law(d.made_by, 0, tuple(sorted(two)))
        assert law == {(two[0],): HALF, (two[1],): HALF}

    def test_poisson_draws(self) -> None:
        op = self.universe(f"{NESTED}mechanisms: [{{reads: s, epsilon: 1}}]").pipeline.nodes[1]
        assert op.made_by is not None
        chances = dict(sample(op.made_by, (7, 8)))
        tenth = Fraction(1, 10)
        assert chances[7, 8] == tenth**2 and chances[(7,)] == tenth * (1 - tenth)

    def test_pure_mechanisms_of_other_notions(self) -> None:
        epsilon = float(as_pure("zcdp", Fraction(1, 2)))
        assert epsilon * math.tanh(epsilon / 2) == pytest.approx(0.5)
        epsilon = float(as_pure("gdp", Fraction(1)))
        assert math.erf(0.5 / 2**0.5) == pytest.approx(math.tanh(epsilon / 2))

    def test_powers_are_brackets(self) -> None:
        low, high = power(Fraction(1), False), power(Fraction(1), True)
        assert low < Fraction("2.71828182845904523536028747135266249775724709") < high
        assert high - low < Fraction(1, 10**30)


class TestShapes:
    """The random specs, and the matrix of their features."""

    def test_seeds_are_stable(self) -> None:
        assert [draft(seed) for seed in range(20)] == [draft(seed) for seed in range(20)]

    @pytest.mark.parametrize("pair", [pair for n, pair in enumerate(pairs()) if n % 37 == 0])
    def test_what_is_asked_for_is_there(self, pair: tuple[str, str]) -> None:
        made = [each for seed in range(6) for each in [draft(seed, pair)] if each]
        assert made
        for specs in made:
            both = frozenset().union(*map(features, specs)) | {"total"}
            assert both >= set(pair)

    def test_impossible_pairs_are_named(self) -> None:
        assert never("protect user", "without replacement")
        assert never("edges", "poisson") is None
        assert len(pairs()) > len(FEATURES) * (len(FEATURES) - 1) * 0.45
