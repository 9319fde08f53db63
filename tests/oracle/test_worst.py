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
from tables import filled, tables, value
from volume import seeds

import dpcompose

from .features import FEATURES, features, never
from .judge import Claim, judge, universes
from .matrix import pairs
from .pipeline import read
from .polytope import Side, as_pure, power
from .shapes import draft
from .universe import Universe, sample

TABLES = tables(__file__)
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


class TestLosses:
    """The linear program decides the truth of a universe, also of what shares a draw."""

    @pytest.mark.parametrize(("text", "row"), filled(TABLES["losses"]))
    def test_by_formulas(self, text: str, row: dict[str, Any]) -> None:
        assert loss(text) == pytest.approx(value(row["loss"]), abs=row.get("within"))

    @pytest.mark.parametrize(("text", "row"), filled(TABLES["reported"]))
    def test_as_reported(self, text: str, row: dict[str, Any]) -> None:
        report = dpcompose.analyze(f"dpcompose: 1\n{text}", deltas=[Fraction(0)])
        assert report.at_delta[0].value == row["loss"]
        assert loss(text, row.get("pairs", 6)) == pytest.approx(row["loss"])

    def test_bounded_statements_know_nothing_of_sizes(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}}
            mechanisms: [{reads: rows, epsilon: 1, relation: bounded}]
            """
        assert judge(spec(text), [HUGE], 0).breach is not None

    def test_the_worst_mechanism_tells_whether_the_sample_is_empty(self) -> None:
        text = f"{NESTED}mechanisms: [{{reads: t, epsilon: 1, stated_on: rows}}]"
        breach = judge(spec(text), [Claim("pure", Fraction("0.16"))], 0).breach
        assert breach is not None and breach.attained == pytest.approx(1)
        assert sorted(len(table) for side in breach.roots for _, table in side) == [0, 1]

    def test_a_delta_at_distance_two(self) -> None:
        text = """
            protect: {relation: unbounded, distance: 2}
            datasets: {rows: {}}
            mechanisms: [{reads: rows, notion: approx, epsilon: 1, delta: 0.01}]
            """
        assert leak(text, "2") == pytest.approx(0.01 * (1 + math.e))

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", seeds(1, ["0.5", "0.2", "0.9"]))
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

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "made", ["", "b: {from: rows, partition: {by: value, blocks: [x, y]}}"]
    )
    def test_each_step_by_a_statement_of_its_own(self, made: str) -> None:
        """A row goes by one statement and comes by the other, within a block or between two."""
        said = "{{notion: approx, relation: unbounded, epsilon: {}, delta: {}}}".format
        text = f"""
            protect: bounded
            datasets: {{rows: {{}}, {made}}}
            mechanisms:
              - name: m
                reads: {"b.*" if made else "rows"}
                guarantees: [{said("1", "0.001")}, {said("0.5", "0.01")}]
            """
        truth = leak(text, "1.5")
        assert truth == pytest.approx(0.01 + 0.001 * math.exp(0.5))
        # The pair is met as a budget, and nothing below it is.
        for delta, ok in ((truth * (1 + 1e-9), True), (truth * (1 - 1e-6), False)):
            budget = f"budget: {{epsilon: 1.5, delta: {delta!r}}}\n"
            verdict = dpcompose.analyze("dpcompose: 1" + dedent(text) + budget).verdict
            assert verdict is not None and verdict.ok is ok

    def test_a_delta_below_a_sample(self) -> None:
        text = """
            protect: unbounded
            datasets: {rows: {}, s: {from: rows, map: {kind: sample, poisson: "1/4"}}}
            mechanisms: [{reads: s, notion: approx, epsilon: 1, delta: 0.01}]
            """
        assert leak(text, str(math.log1p(math.expm1(1) / 4))) == pytest.approx(0.0025, rel=1e-6)

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
