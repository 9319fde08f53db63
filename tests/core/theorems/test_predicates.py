"""Every hypothesis that is checked: a spec where it fails, with its sentence, and one where not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tables import tables

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE, leaf_item
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Block, Exactly, Found, Question
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.matrix import Tree
from dpcompose.core.mechanisms.noisy_histogram import NoisyHistogram
from dpcompose.core.mechanisms.noisy_max import NoisyMax
from dpcompose.core.mechanisms.private_selection import Selected
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.mechanisms.shuffled_reports import ShuffledReports
from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.core.mechanisms.sparse_vector import SparseVector
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Statement
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.select import setting_of
from dpcompose.core.search.solver import Solver
from dpcompose.core.theorem import Hypothesis, Subject
from dpcompose.core.theorems.applicable import for_touch
from dpcompose.core.theorems.book import BOOK
from dpcompose.core.theorems.setting import Asked, ChargedStep
from dpcompose.resolve import resolve
from dpcompose.source import load

from .test_select import BLOCKS, LOSSES, PURE, on_blocks, setting, spec

F = Fraction
TABLES = tables(__file__)
TWO_STEPS = "{relation: unbounded, distance: 2}"
MAPS = (
    "f: {from: t, map: {kind: flatten, max_rows: 3}}; "
    "g: {from: f, map: {kind: stable, stability: 2}}"
)
DRAWN = "s: {from: t, map: {kind: sample, poisson: 0.1}}"
SIZED = "s: {from: t, map: {kind: sample, size: 10, of: 100}}"
LIMITED = "s: {from: t, map: {kind: limit, per: k, rows: 1, keep: random}}"
ON_BLOCKS = on_blocks(Notion.PURE, "unbounded", "value", "")
ON_TABLE = on_blocks(Notion.PURE, "bounded", "value", ", stated_on: t")
ALONE = spec("t", PURE)
OTHER_BLOCKS = "d: {from: t, partition: {by: value, blocks: [v]}}"
TWO_PAIRS = spec("b.x", "notion: pure, epsilon: 1", datasets=BLOCKS) + (
    "  - name: two\n    reads: b.y\n    guarantees:\n"
    "      - {notion: approx, epsilon: 1, delta: 1e-6}\n"
    "      - {notion: approx, epsilon: 2, delta: 1e-9}\n"
)


def in_notion_of(notion: Notion) -> str:
    return spec("t", f"notion: {notion.value}, {LOSSES[notion][0]}")


SPECS = {
    "zCDP": in_notion_of(Notion.ZCDP),
    "alone": ALONE,
    "Gaussian DP": in_notion_of(Notion.GDP),
    "approximate DP": in_notion_of(Notion.APPROX),
    "independent": spec("t", PURE, adaptivity="independent"),
    "stated for replaced rows": spec("t", PURE + ", relation: bounded"),
    "blocks": ON_BLOCKS,
    "blocks, stated on the table": ON_TABLE,
    "blocks, two steps": on_blocks(Notion.PURE, TWO_STEPS, "value", ""),
    "blocks, two rows replaced": on_blocks(
        Notion.PURE, "{relation: bounded, distance: 2}", "value", ", stated_on: t"
    ),
    "blocks, a row replaced": on_blocks(Notion.PURE, "bounded", "value", ""),
    "blocks, stated for replaced rows": on_blocks(
        Notion.PURE, "unbounded", "value", ", relation: bounded"
    ),
    "two pairs": TWO_PAIRS,
    "blocks, approximate DP": on_blocks(Notion.APPROX, "unbounded", "value", ""),
    "blocks, approximate DP on the table": on_blocks(
        Notion.APPROX, "bounded", "value", ", stated_on: t"
    ),
    "blocks by position, on the table": on_blocks(
        Notion.PURE, "bounded", "position", ", stated_on: t"
    ),
    "two mechanisms": spec("t", PURE, PURE),
    "two copies": spec("t", PURE + ", count: 2"),
    "alone, without a relation": spec("t", "notion: pure, epsilon: 1"),
    "one map": spec("f", PURE, datasets=MAPS),
    "added rows for a replaced one": spec("t", PURE + ", relation: unbounded", protect="bounded"),
    "two steps": spec("t", PURE, protect=TWO_STEPS),
    "stated above a map": spec("f", PURE + ", stated_on: t", datasets=MAPS),
    "Poisson": spec("s", PURE, datasets=DRAWN),
    "an opaque map": spec("o", PURE, datasets="o: {from: t, map: opaque}"),
    "two maps": spec("g", PURE, datasets=MAPS),
    "two on a sample": spec("s", PURE, PURE, datasets=DRAWN),
    "stated above a sample": spec("s", PURE + ", stated_on: t", datasets=DRAWN),
    "of one size": spec("s", PURE, protect="bounded", datasets=SIZED, domain="fixed-size-table"),
    "Poisson, a row replaced": spec("s", PURE, protect="bounded", datasets=DRAWN),
    "limit": spec("s", PURE, datasets=LIMITED),
    "limit, a row replaced": spec("s", PURE, protect="bounded", datasets=LIMITED),
    "Poisson, added rows for a replaced one": spec(
        "s", PURE + ", relation: unbounded", protect="bounded", datasets=DRAWN
    ),
    "a filter in a block": spec("c", PURE, datasets=f"{BLOCKS}; c: {{from: b.x, map: filter}}"),
    "two partitions": spec("b.x", PURE, datasets=f"{BLOCKS}; {OTHER_BLOCKS}")
    + "  - {name: other, reads: d.v, notion: pure, epsilon: 1}\n",
    "blocks by position": on_blocks(Notion.PURE, "unbounded", "position", ""),
    "overlapping blocks": on_blocks(Notion.PURE, "unbounded", "membership", "").replace(
        "by: membership", "by: membership, max_blocks: 2"
    ),
    "blocks, free lunch": on_blocks(Notion.PURE, "free-lunch", "value", ""),
    "two tables": spec("t", PURE, datasets="u: {}")
    + "  - {name: n, reads: u, notion: pure, epsilon: 1}\n",
    "approximate DP for replaced rows": spec(
        "t", "notion: approx, epsilon: 1, delta: 1e-6, relation: bounded"
    ),
    "one block": ON_BLOCKS.partition("  - {name: my")[0],
}


def hypothesis(theorem: str, name: str, on: Subject = "release") -> Hypothesis:
    entry = BOOK[theorem]
    return next(
        each
        for use in entry.uses
        if use.on == on
        for each in entry.checks(use)
        if each.name == name
    )


@pytest.mark.slow
@pytest.mark.parametrize(("theorem", "name", "fails", "why", "holds"), TABLES["releases"])
def test_a_hypothesis_on_a_release(
    theorem: str, name: str, fails: str, why: str, holds: str
) -> None:
    checked = hypothesis(theorem, name)
    subject: Any = setting(SPECS[fails])
    if name == "the notion asked for":
        # A pure guarantee is solved in its own notion first: here in another one.
        solver = Solver(subject.problem)
        subject = setting_of(solver, solver.solve(Notion.ZCDP))
    assert checked.refusal(subject) == why
    assert checked.refusal(setting(SPECS[holds])) is None


@pytest.mark.parametrize(("theorem", "name", "of", "why"), TABLES["more sentences"])
def test_a_hypothesis_says_which_way_it_fails(theorem: str, name: str, of: str, why: str) -> None:
    assert hypothesis(theorem, name).refusal(setting(SPECS[of])) == why


# --- one step of a derivation --------------------------------------------------------------------


def touch(
    notion: str = "pure",
    stated: str = "pure",
    relation: str = "unbounded",
    up: int = 0,
    padded: bool = False,
    steps: int | None = 1,
    leaf: str = "single",
    noise: Family | None = None,
) -> ChargedStep:
    guarantee = Guarantee(Notion(stated), F(1), noise=noise)
    statement = Statement(Relation(RelationKind(relation)), up, guarantee, ("mechanisms", 0))
    items = ((leaf_item(PAIR if leaf == "pair" else SINGLE), 1),)
    return ChargedStep(Notion(notion), (Placed(statement, 0, Traits(), padded),), (steps,), items)


NOISES = {
    "laplace-zcdp": ("Laplace noise", Laplace(F(1))),
    "geometric-gdp": ("geometric noise", Geometric(F(1))),
    "exponential-zcdp": ("bounded range", Exponential(F(1))),
    "randomized-response-gdp": ("the odds", RandomizedResponse(2, F(1))),
    "noisy-max": ("noise of noisy max", NoisyMax(F(1))),
    "private-selection": (
        "public law, private number",
        Selected("poisson", F(9), F(0), F(0), (Guarantee(Notion.PURE, F(1)),)),
    ),
    "shuffled-reports": ("one report of each row", ShuffledReports(F(1), 9, False)),
    "unknown-keys": ("noise of each key present", NoisyHistogram("laplace", F(1), F(9), 1, F(1))),
    "correlated-noise": ("noise over steps", Tree(F(3), 7)),
    "skellam-zcdp": ("Skellam noise", Skellam(F(4))),
    "sparse-vector": ("noise of sparse vector", SparseVector(F(1), F(1), F(0), 1, False)),
}


@pytest.mark.parametrize(("theorem", "name", "fails", "why", "holds"), TABLES["steps"])
def test_a_hypothesis_on_a_step(
    theorem: str, name: str, fails: dict[str, Any], why: str, holds: dict[str, Any]
) -> None:
    checked = hypothesis(theorem, name, "touch")
    assert checked.refusal(touch(**fails)) == why
    assert checked.refusal(touch(**holds)) is None


@pytest.mark.parametrize("theorem", NOISES)
def test_a_step_of_another_noise(theorem: str) -> None:
    name, noise = NOISES[theorem]
    checked = hypothesis(theorem, name, "touch")
    why = f"the mechanism is not known to be {type(noise).__name__}"
    assert checked.refusal(touch(noise=Gaussian(F(1)))) == why
    assert checked.refusal(touch(noise=noise)) is None


@pytest.mark.parametrize(
    ("charge", "cited"),
    [
        ({}, None),
        ({"relation": "bounded", "leaf": "pair"}, None),
        ({"steps": 3}, "III.3"),
        ({"relation": "euclidean"}, "III.6"),
        ({"notion": "zcdp"}, "pure-to-zcdp"),
        ({"notion": "zcdp", "noise": Laplace(F(1))}, "laplace-zcdp"),
        ({"relation": "bounded", "up": 1, "padded": True}, "IV.15"),
        ({"up": 1}, "IV.10"),
    ],
)
def test_the_theorem_by_which_a_guarantee_covers_a_change(
    charge: dict[str, Any], cited: str | None
) -> None:
    assert for_touch(touch(**charge)) == cited


# --- two hypotheses of an adversary --------------------------------------------------------------

BELIEFS = {
    "nobody": NONE,
    "everyone": Belief(((Between(1, 2), F(1)),)),
    "first block": Belief(((Exactly(frozenset({0})), F(1)),)),
    "half": Belief(((Between(1, 2), F(1, 2)),)),
}
ASKED = {
    "two": (Block(F(1)), Block(F(3))),
    "equal": (Block(F(1), F(0), 2),),
    "leaking": (Block(F(1), F(1)),),
}


def asked(
    first: str = "nobody",
    second: str = "everyone",
    blocks: str = "two",
    delta: int | str = 0,
    protect: str = "unbounded",
) -> Asked:
    problem = resolve(load(spec("t", PURE, protect=protect), "spec")).problem
    question = Question(ASKED[blocks], BELIEFS[first], BELIEFS[second])
    return Asked(problem, question, Found("point mass", F(1), F(delta)))


@pytest.mark.parametrize(("theorem", "name", "fails", "why", "holds"), TABLES["questions"])
def test_a_hypothesis_on_a_question(
    theorem: str, name: str, fails: dict[str, Any], why: str, holds: dict[str, Any]
) -> None:
    checked = hypothesis(theorem, name, "question")
    assert checked.refusal(asked(**fails)) == why
    assert checked.refusal(asked(**holds)) is None


# --- none is left out ----------------------------------------------------------------------------


def test_every_checked_hypothesis_fails_somewhere_and_holds_somewhere() -> None:
    tables_on = {"release": "releases", "touch": "steps", "question": "questions"}
    shown = {(on, each[1]) for on, table in tables_on.items() for each in TABLES[table]}
    shown |= {("touch", name) for name, _ in NOISES.values()}
    checked = {
        (use.on, each.name)
        for entry in BOOK.values()
        for use in entry.uses
        if use.on is not None
        for each in entry.checks(use)
    }
    assert checked == shown
