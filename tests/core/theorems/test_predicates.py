"""Every hypothesis that is checked: a spec where it fails, with its sentence, and one where not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE, leaf_item
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Block, Exactly, Found, Question
from dpcompose.core.mechanisms.exponential import Exponential
from dpcompose.core.mechanisms.family import Family
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.mechanisms.randomized_response import RandomizedResponse
from dpcompose.core.mechanisms.skellam import Skellam
from dpcompose.core.mechanisms.sparse_vector import SparseVector
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Statement
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver
from dpcompose.core.theorem import Hypothesis, Subject
from dpcompose.core.theorems.book import BOOK
from dpcompose.core.theorems.questions import Asked
from dpcompose.core.theorems.select import setting_of
from dpcompose.core.theorems.touches import ChargedStep
from dpcompose.resolve import resolve
from dpcompose.source.loading import load

from .test_select import BLOCKS, LOSSES, PURE, on_blocks, setting, spec

F = Fraction
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


#: Theorem, hypothesis, a spec where it fails, the sentence, a spec where it holds.
RELEASES: list[tuple[str, str, str, str, str]] = [
    (
        "V.2",
        "pure DP",
        in_notion_of(Notion.ZCDP),
        "it is about pure DP, and the losses are those of zCDP",
        ALONE,
    ),
    (
        "VI.4",
        "approximate DP",
        in_notion_of(Notion.GDP),
        "it is about approximate DP, and the losses are those of Gaussian DP",
        in_notion_of(Notion.APPROX),
    ),
    (
        "VI.13",
        "zCDP",
        ALONE,
        "it is about zCDP, and the losses are those of pure DP",
        in_notion_of(Notion.ZCDP),
    ),
    (
        "VI.21",
        "Gaussian DP",
        in_notion_of(Notion.APPROX),
        "it is about Gaussian DP, and the losses are those of approximate DP",
        in_notion_of(Notion.GDP),
    ),
    (
        "IV.1",
        "independent",
        ALONE,
        "mechanisms may use the outputs of others; `independent` is not declared",
        spec("t", PURE, adaptivity="independent"),
    ),
    (
        "V.2",
        "a loss for each input",
        spec("t", PURE + ", relation: bounded"),
        "some mechanism has no finite bound by itself",
        ALONE,
    ),
    ("V.3", "one dataset", ON_BLOCKS, "not every mechanism reads `t` itself", ALONE),
    (
        "V.5",
        "common domain",
        ON_BLOCKS,
        "it needs every guarantee stated on the whole table `t`",
        ON_TABLE,
    ),
    (
        "V.4",
        "one block each",
        ALONE,
        "not every mechanism reads a block of one partition",
        ON_BLOCKS,
    ),
    (
        "V.4",
        "one step stays one step",
        on_blocks(Notion.PURE, TWO_STEPS, "value", ""),
        "it is stated for one step, and 2 are protected",
        ON_BLOCKS,
    ),
    (
        "IV.13",
        "one step",
        on_blocks(Notion.PURE, "{relation: bounded, distance: 2}", "value", ", stated_on: t"),
        "it is stated for one step, and 2 are protected",
        ON_TABLE,
    ),
    (
        "V.4",
        "compatible partition",
        on_blocks(Notion.PURE, "bounded", "value", ""),
        "the partition `b` is not compatible with bounded neighbours: a replaced row can leave one "
        "block and enter another",
        ON_BLOCKS,
    ),
    (
        "V.4",
        "stated on the input",
        ON_TABLE,
        "it needs every guarantee stated on the block that its mechanism reads",
        ON_BLOCKS,
    ),
    (
        "V.4",
        "same relation",
        on_blocks(Notion.PURE, "unbounded", "value", ", relation: bounded"),
        "it needs every guarantee stated for unbounded neighbours, one is for bounded neighbours",
        ON_BLOCKS,
    ),
    (
        "VI.6",
        "one pair each",
        TWO_PAIRS,
        "it is stated for one (ε, δ) for each block",
        on_blocks(Notion.APPROX, "unbounded", "value", ""),
    ),
    (
        "VI.7",
        "one pair each",
        TWO_PAIRS,
        "it is stated for one (ε, δ) for each block",
        on_blocks(Notion.APPROX, "bounded", "value", ", stated_on: t"),
    ),
    (
        "IV.13",
        "one row replaced",
        ON_BLOCKS,
        "it is about bounded neighbours, not unbounded ones",
        ON_TABLE,
    ),
    (
        "IV.13",
        "blocks by value",
        on_blocks(Notion.PURE, "bounded", "position", ", stated_on: t"),
        "the blocks of `b` are no disjoint sets of row values",
        ON_TABLE,
    ),
    (
        "III.3",
        "one mechanism",
        spec("t", PURE, PURE),
        "it is about one guarantee of one mechanism, released once",
        ALONE,
    ),
    (
        "III.6",
        "one mechanism",
        spec("t", PURE + ", count: 2"),
        "it is about one guarantee of one mechanism, released once",
        ALONE,
    ),
    (
        "III.3",
        "the notion asked for",
        spec("t", "notion: pure, epsilon: 1"),
        "the losses are those of zCDP, and the guarantee is another one",
        ALONE,
    ),
    (
        "III.3",
        "on the table",
        spec("f", PURE, datasets=MAPS),
        "the mechanism does not read `t` itself",
        ALONE,
    ),
    (
        "III.3",
        "the relation protected",
        spec("t", PURE + ", relation: unbounded", protect="bounded"),
        "it needs every guarantee stated for bounded neighbours, one is for unbounded neighbours",
        ALONE,
    ),
    (
        "III.3",
        "several steps",
        ALONE,
        "one step is protected, not several",
        spec("t", PURE, protect=TWO_STEPS),
    ),
    (
        "A.3",
        "another relation",
        ALONE,
        "the guarantee is for the relation that is protected",
        spec("t", PURE + ", relation: unbounded", protect="bounded"),
    ),
    (
        "A.3",
        "finite distance",
        spec("t", PURE + ", relation: bounded"),
        "no number of stated steps covers the change",
        ALONE,
    ),
    (
        "III.6",
        "on what is read",
        spec("f", PURE + ", stated_on: t", datasets=MAPS),
        "the guarantee is not stated on the dataset that the mechanism reads",
        spec("f", PURE, datasets=MAPS),
    ),
    (
        "III.6",
        "nothing drawn",
        spec("s", PURE, datasets=DRAWN),
        "the mechanism reads what is drawn at random",
        spec("f", PURE, datasets=MAPS),
    ),
    (
        "III.6",
        "finite sensitivity",
        spec("o", PURE, datasets="o: {from: t, map: opaque}"),
        "no number of stated steps covers the change",
        spec("f", PURE, datasets=MAPS),
    ),
    (
        "III.6",
        "one map",
        spec("g", PURE, datasets=MAPS),
        "the mechanism does not read what one map makes of the table",
        spec("f", PURE, datasets=MAPS),
    ),
    (
        "III.8",
        "chain of maps",
        spec("f", PURE, datasets=MAPS),
        "the mechanism does not read what several maps make of the table",
        spec("g", PURE, datasets=MAPS),
    ),
    (
        "poisson-sample",
        "amplified once",
        spec("s", PURE, PURE, datasets=DRAWN),
        "it is about one guarantee of one mechanism, released once",
        spec("s", PURE, datasets=DRAWN),
    ),
    (
        "poisson-sample",
        "stated on the sample",
        spec("s", PURE + ", stated_on: t", datasets=DRAWN),
        "the guarantee is not stated on the dataset that the mechanism reads",
        spec("s", PURE, datasets=DRAWN),
    ),
    (
        "poisson-sample",
        "Poisson sampling",
        spec("s", PURE, protect="bounded", datasets=SIZED, domain="fixed-size-table"),
        "the sample is drawn without replacement",
        spec("s", PURE, datasets=DRAWN),
    ),
    (
        "poisson-sample",
        "one row added or removed",
        spec("s", PURE, protect="bounded", datasets=DRAWN),
        "a row is replaced, for which pure DP has a sharper bound",
        spec("s", PURE, datasets=DRAWN),
    ),
    (
        "poisson-sample",
        "an amplified loss",
        in_notion_of(Notion.ZCDP),
        "there is no amplified ρ or μ",
        spec("s", PURE, datasets=DRAWN),
    ),
    (
        "random-limit",
        "one row of each key",
        spec("s", PURE, datasets=DRAWN),
        "no map on the way draws one row of each key",
        spec("s", PURE, datasets=LIMITED),
    ),
    (
        "random-limit",
        "one row added or removed",
        spec("s", PURE, protect="bounded", datasets=LIMITED),
        "the change at the limit is not one row added or removed",
        spec("s", PURE, datasets=LIMITED),
    ),
    (
        "sample-without-replacement",
        "public size",
        spec("s", PURE, datasets=DRAWN),
        "the sample has no public size",
        spec("s", PURE, protect="bounded", datasets=SIZED, domain="fixed-size-table"),
    ),
    (
        "sample-without-replacement",
        "one row replaced",
        spec("s", PURE, datasets=DRAWN),
        "the change at the sample is not one of replaced rows",
        spec("s", PURE, protect="bounded", datasets=SIZED, domain="fixed-size-table"),
    ),
    (
        "poisson-sample-replaced",
        "u and b",
        spec("s", PURE, datasets=DRAWN),
        "the loss for one replaced row in the sample is not known",
        spec("s", PURE + ", relation: unbounded", protect="bounded", datasets=DRAWN),
    ),
]

#: Sentences of a hypothesis that has several.
OTHERS: list[tuple[str, str, str, str]] = [
    (
        "V.4",
        "one block each",
        spec("f", PURE, datasets=MAPS),
        "some mechanism reads a dataset made from `t` by a map, not a block of it",
    ),
    (
        "V.4",
        "one block each",
        spec("c", PURE, datasets=f"{BLOCKS}; c: {{from: b.x, map: filter}}"),
        "some mechanism reads a dataset made from a block, not the block itself",
    ),
    (
        "V.4",
        "one block each",
        spec("b.x", PURE, datasets=f"{BLOCKS}; {OTHER_BLOCKS}")
        + "  - {name: other, reads: d.v, notion: pure, epsilon: 1}\n",
        "the mechanisms read more than one partition",
    ),
    (
        "V.4",
        "compatible partition",
        on_blocks(Notion.PURE, "unbounded", "position", ""),
        "an added row shifts the positions of all rows after it",
    ),
    (
        "V.4",
        "compatible partition",
        on_blocks(Notion.PURE, "unbounded", "membership", "").replace(
            "by: membership", "by: membership, max_blocks: 2"
        ),
        "one row may be in several blocks of `b`",
    ),
    (
        "V.4",
        "compatible partition",
        on_blocks(Notion.PURE, "free-lunch", "value", ""),
        "blocks are not known to be compatible with free-lunch neighbours",
    ),
    (
        "V.3",
        "one dataset",
        spec("t", PURE, datasets="u: {}") + "  - {name: n, reads: u, notion: pure, epsilon: 1}\n",
        "there is more than one table",
    ),
    (
        "VI.4",
        "a loss for each input",
        spec("t", "notion: approx, epsilon: 1, delta: 1e-6, relation: bounded"),
        "some mechanism has no finite bound by itself, or all δ's together reach 1",
    ),
    (
        "III.6",
        "one map",
        ON_BLOCKS.partition("  - {name: my")[0],
        "the mechanism reads a block of a partition",
    ),
    (
        "poisson-sample",
        "Poisson sampling",
        ALONE,
        "there is no sample on the way to the mechanism",
    ),
]


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
@pytest.mark.parametrize(("theorem", "name", "text", "why", "holds"), RELEASES)
def test_a_hypothesis_on_a_release(
    theorem: str, name: str, text: str, why: str, holds: str
) -> None:
    checked = hypothesis(theorem, name)
    subject: Any = setting(text)
    if name == "the notion asked for":
        # A pure guarantee is solved in its own notion first: here in another one.
        solver = Solver(subject.problem)
        subject = setting_of(solver, solver.solve(Notion.ZCDP))
    assert checked.refusal(subject) == why
    assert checked.refusal(setting(holds)) is None


@pytest.mark.parametrize(("theorem", "name", "text", "why"), OTHERS)
def test_a_hypothesis_says_which_way_it_fails(theorem: str, name: str, text: str, why: str) -> None:
    assert hypothesis(theorem, name).refusal(setting(text)) == why


# --- one step of a derivation --------------------------------------------------------------------


def touch(
    notion: Notion = Notion.PURE,
    stated: Notion = Notion.PURE,
    relation: RelationKind = RelationKind.UNBOUNDED,
    up: int = 0,
    padded: bool = False,
    steps: int | None = 1,
    leaf: Any = SINGLE,
    noise: Family | None = None,
) -> ChargedStep:
    guarantee = Guarantee(stated, F(1), noise=noise)
    statement = Statement(Relation(relation), up, guarantee, ("mechanisms", 0))
    return ChargedStep(
        notion, (Placed(statement, 0, Traits(), padded),), (steps,), ((leaf_item(leaf), 1),)
    )


TOUCHES: list[tuple[str, str, ChargedStep, str, ChargedStep]] = [
    *(
        (
            identifier,
            name,
            touch(noise=Gaussian(F(1))),
            f"the mechanism is not known to be {type(noise).__name__}",
            touch(noise=noise),
        )
        for identifier, name, noise in (
            ("laplace-zcdp", "Laplace noise", Laplace(F(1))),
            ("geometric-gdp", "geometric noise", Geometric(F(1))),
            ("exponential-zcdp", "bounded range", Exponential(F(1))),
            ("randomized-response-gdp", "the odds", RandomizedResponse(2, F(1))),
            ("skellam-zcdp", "Skellam noise", Skellam(F(4))),
            (
                "sparse-vector",
                "noise of sparse vector",
                SparseVector(F(1), F(1), F(0), 1, False),
            ),
        )
    ),
    (
        "pure-to-zcdp",
        "pure DP",
        touch(),
        "a guarantee of pure is read as one of pure",
        touch(Notion.ZCDP),
    ),
    (
        "gdp-to-zcdp",
        "Gaussian DP",
        touch(Notion.ZCDP),
        "a guarantee of pure is read as one of zcdp",
        touch(Notion.ZCDP, Notion.GDP),
    ),
    (
        "IV.10",
        "stated above",
        touch(),
        "the guarantee is stated on the dataset that the mechanism reads",
        touch(up=1),
    ),
    (
        "IV.15",
        "bounded statement",
        touch(up=1),
        "the guarantee is not for replaced rows",
        touch(up=1, relation=RelationKind.BOUNDED),
    ),
    (
        "IV.15",
        "rows picked by value",
        touch(up=1),
        "what is read is not the rows with certain values, others being dropped",
        touch(up=1, padded=True),
    ),
    (
        "IV.15",
        "rows come or go",
        touch(up=1, leaf=PAIR),
        "all rows that change are replaced ones",
        touch(up=1),
    ),
    (
        "III.6",
        "per distance",
        touch(),
        "the guarantee is for one step, not for a unit of distance",
        touch(relation=RelationKind.EUCLIDEAN),
    ),
    ("III.3", "the notion of the loss", touch(Notion.ZCDP), "the loss is one of zcdp", touch()),
    (
        "III.3",
        "more than a step",
        touch(),
        "the change is one step of the guarantee",
        touch(steps=3),
    ),
]


@pytest.mark.parametrize(("theorem", "name", "fails", "why", "holds"), TOUCHES)
def test_a_hypothesis_on_a_step(
    theorem: str, name: str, fails: ChargedStep, why: str, holds: ChargedStep
) -> None:
    checked = hypothesis(theorem, name, "touch")
    assert checked.refusal(fails) == why
    assert checked.refusal(holds) is None


# --- two hypotheses of an adversary --------------------------------------------------------------

_TWO = (Block(F(1)), Block(F(3)))
_EVERYONE = Belief(((Between(1, 2), F(1)),))
_FIRST = Belief(((Exactly(frozenset({0})), F(1)),))


def asked(
    first: Belief = NONE,
    second: Belief = _EVERYONE,
    blocks: tuple[Block, ...] = _TWO,
    delta: int | Fraction = 0,
    protect: str = "unbounded",
) -> Asked:
    problem = resolve(load(spec("t", PURE, protect=protect), "spec")).problem
    return Asked(problem, Question(blocks, first, second), Found("point mass", F(1), F(delta)))


QUESTIONS: list[tuple[str, str, Asked, str, Asked]] = [
    (
        "HBW.1",
        "the person is a row",
        asked(protect="bounded"),
        "the hypotheses are about one row added or removed, which is not protected",
        asked(),
    ),
    (
        "HBW.6",
        "nobody first",
        asked(first=_FIRST),
        "neither hypothesis is that the person is in no block",
        asked(),
    ),
    (
        "HBW.mixture",
        "a point mass",
        asked(first=_EVERYONE),
        "both hypotheses hold several sets of blocks possible",
        asked(),
    ),
    (
        "HBW.6",
        "the uniform hypothesis",
        asked(second=_FIRST),
        "not all sets of blocks but the empty one are held possible, equally",
        asked(),
    ),
    (
        "HBW.7",
        "equal blocks",
        asked(),
        "the blocks do not all lose the same",
        asked(blocks=(Block(F(1), F(0), 2),)),
    ),
    ("HBW.likelihoods", "pure blocks", asked(delta=F(1, 10)), "some block has a δ", asked()),
    (
        "optimal-composition",
        "approximate DP",
        asked(blocks=(Block(F(1), F(1)),)),
        "some block may give everything away",
        asked(),
    ),
    (
        "optimal-composition",
        "one change",
        asked(protect="bounded"),
        "the hypotheses are about one row added or removed, which is not protected",
        asked(),
    ),
    (
        "HBW.A3",
        "two weighted lists",
        asked(second=Belief(((Between(1, 2), F(1, 2)),))),
        "the weights of a hypothesis are not positive numbers that sum to 1",
        asked(),
    ),
]


@pytest.mark.parametrize(("theorem", "name", "fails", "why", "holds"), QUESTIONS)
def test_a_hypothesis_on_a_question(
    theorem: str, name: str, fails: Asked, why: str, holds: Asked
) -> None:
    checked = hypothesis(theorem, name, "question")
    assert checked.refusal(fails) == why
    assert checked.refusal(holds) is None


# --- none is left out ----------------------------------------------------------------------------


def test_every_checked_hypothesis_fails_somewhere_and_holds_somewhere() -> None:
    shown = {
        (on, each[1])
        for on, table in (("release", RELEASES), ("touch", TOUCHES), ("question", QUESTIONS))
        for each in table
    }
    checked = {
        (use.on, each.name)
        for entry in BOOK.values()
        for use in entry.uses
        if use.on is not None
        for each in entry.checks(use)
    }
    assert checked == shown
