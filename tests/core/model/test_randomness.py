"""Statements above what is random besides the noise: samples, random limits and caps, shared draws.

Every truth is worked out by hand from one mechanism that keeps to the statement.
"""

from __future__ import annotations

import math

import pytest

from dpcompose import analyze
from dpcompose.core.model.tree import alone, lay_out
from dpcompose.report import Report
from dpcompose.resolve import resolve
from dpcompose.source import load

NESTED = "rows: {}, s: {from: rows, map: %s}, t: {from: s, map: %s}"
POISSON = "{kind: sample, poisson: 0.1}"
ONCE = "{kind: sample, poisson: 0.1, draws: one}"
PURE = "notion: pure, epsilon: 1"


def written(protect: str, datasets: str, *mechanisms: str, more: str = "") -> str:
    listed = "".join(f"  - {{name: m{i}, {each}}}\n" for i, each in enumerate(mechanisms))
    return (
        f"dpcompose: 1\nprotect: {protect}\n{more}datasets: {{{datasets}}}\nmechanisms:\n{listed}"
    )


def report(protect: str, datasets: str, *mechanisms: str, more: str = "") -> Report:
    return analyze(written(protect, datasets, *mechanisms, more=more))


def epsilon(found: Report) -> float:
    assert found.bound is not None, found.reasons
    return float(found.bound.value)


BETWEEN = [
    "t: {from: s, map: %s}",
    "f: {from: s, map: filter}, t: {from: f, map: %s}",
    "f: {from: s, map: {kind: row, keeps: [c]}}, t: {from: f, map: %s}",
    "p: {from: s, partition: {by: value, blocks: 2}}, t: {from: p.0, map: %s}",
    "p: {from: s, partition: {by: membership, blocks: 3, max_blocks: 2}}, t: {from: p.0, map: %s}",
    "p: {from: s, partition: {by: kinds, kinds: {x: [a, b], y: [a]}}}, t: {from: p.b, map: %s}",
    "f: {from: s, map: {kind: limit, per: c, rows: 2, keep: random}}, t: {from: f, map: %s}",
    "f: {from: s, map: {kind: limit, per: c, rows: 2, keep: first}}, t: {from: f, map: %s}",
]


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("inner", [POISSON, ONCE.replace("0.1", "0.7")])
def test_no_sample_below_a_statement_amplifies_it(between: str, inner: str) -> None:
    # Randomized response on "t is not empty", of a ratio that makes it 1-DP as a function of rows.
    outer = ONCE if "one" in inner else POISSON
    datasets = f"rows: {{}}, s: {{from: rows, map: {outer}}}, {between % inner}"
    assert epsilon(report("unbounded", datasets, f"reads: t, {PURE}, stated_on: rows")) == 1
    for relation, steps in (("bounded", 2), ("unbounded", 1)):
        stated = f"reads: t, {PURE}, relation: unbounded, stated_on: rows"
        assert epsilon(report(relation, datasets, stated)) == steps


@pytest.mark.parametrize("protect", ["unbounded", "bounded", "{relation: unbounded, distance: 2}"])
def test_many_samples_in_a_row_are_one_of_the_product_of_their_rates(protect: str) -> None:
    names = [f"s{i}" for i in range(1, 41)]
    rates = [f"{50 + i}/100" for i in range(1, 41)]
    datasets = ["rows: {}"]
    for above, name, rate in zip(["rows", *names], names, rates, strict=False):
        datasets.append(f"{name}: {{from: {above}, map: {{kind: sample, poisson: {rate}}}}}")
    release = "notion: approx, epsilon: 1, delta: 1e-7, relation: unbounded"
    halfway, last = f"reads: s20, {release}", f"reads: s40, {release}"
    found = report(protect, ", ".join(datasets), halfway, last)
    products = (math.prod(range(51, 71)), math.prod(range(71, 91)))
    two = [f"{{kind: sample, poisson: {top}/{100**20}}}" for top in products]
    same = report(protect, NESTED % tuple(two), f"reads: s, {release}", f"reads: t, {release}")
    assert found.bound is not None and same.bound is not None
    assert found.bound == same.bound
    told = " ".join(each.says for each in found.assumptions)
    assert all(f"`{name}`" in told for name in names)


@pytest.mark.parametrize("protect", ["unbounded", "bounded", "{relation: bounded, distance: 2}"])
@pytest.mark.parametrize("more", ["", ", exact: true", ", keeps: [c]"])
def test_many_flattens_in_a_row_are_one_to_the_product_of_their_rows(
    protect: str, more: str
) -> None:
    rows = [2, 3, 5, 7]
    flattens = [f"{{kind: flatten, max_rows: {n}{more}}}" for n in (*rows, math.prod(rows))]
    names = ["rows", "a", "b", "c", "d"]
    row = [
        f"{y}: {{from: {x}, map: {f}}}" for x, y, f in zip(names, names[1:], flattens, strict=False)
    ]
    release = "notion: approx, epsilon: 1/1000, delta: 1e-12, relation: unbounded"
    found = report(protect, ", ".join(["rows: {}", *row]), f"reads: d, {release}")
    same = report(
        protect, f"rows: {{}}, a: {{from: rows, map: {flattens[4]}}}", f"reads: a, {release}"
    )
    assert found.bound is not None and same.bound is not None
    assert found.bound == same.bound


def test_a_bound_beyond_doubles_is_told_at_a_delta() -> None:
    row = ["rows: {}"]
    for i in range(1100):
        above = f"f{i - 1}" if i else "rows"
        row.append(f"f{i}: {{from: {above}, map: {{kind: flatten, max_rows: 2}}}}")
    found = report(
        "bounded",
        ", ".join(row),
        f"reads: f1099, {PURE}, relation: unbounded",
        more="report: {delta: 1e-6}\n",
    )
    assert found.bound is not None and found.bound.value == 2**1101
    [at] = found.at_delta
    assert at.value is not None and 0 <= 1 - at.value / 2**1101 < 0.01


def test_a_statement_between_samples_is_amplified_by_those_above_it() -> None:
    datasets = f"{NESTED % (POISSON, POISSON)}, u: {{from: t, map: {POISSON}}}"
    expected = {
        "rows": 1,
        "s": math.log1p(0.1 * math.expm1(1)),
        "t": math.log1p(0.01 * math.expm1(1)),
        "u": math.log1p(0.001 * math.expm1(1)),
    }
    for where, value in expected.items():
        found = report("unbounded", datasets, f"reads: u, {PURE}, stated_on: {where}")
        assert epsilon(found) == pytest.approx(value, rel=1e-12)


def test_fixed_samples_below_a_statement() -> None:
    datasets = (
        "rows: {domain: fixed-size-table, size: 20}, "
        "s: {from: rows, map: {kind: sample, size: 10, of: 20}}, "
        "t: {from: s, map: {kind: sample, size: 1, of: 10}}"
    )
    assert epsilon(report("bounded", datasets, f"reads: t, {PURE}, stated_on: rows")) == 1
    approx = "notion: approx, epsilon: 1, delta: 0.25"
    found = report("bounded", datasets, f"reads: t, {approx}, stated_on: rows")
    assert found.bound is not None and found.bound.delta is not None
    assert (float(found.bound.value), float(found.bound.delta)) == (1, 0.25)


@pytest.mark.parametrize("other", ["s", "t"])
def test_a_statement_above_a_draw_that_another_release_reads_is_refused(other: str) -> None:
    datasets = NESTED % (POISSON, POISSON)
    above = f"reads: t, {PURE}, stated_on: rows"
    found = report("unbounded", datasets, above, f"reads: {other}, {PURE}")
    assert found.bound is None
    assert found.reasons == (
        "`m0` reads `t`, where the worst change is: 1 row added or removed; its guarantee is for "
        "unbounded neighbours of `rows` (the sample `s` lies between, and more than one release "
        "depends on what is drawn). Way out: state its guarantee on what is drawn "
        "(`stated_on: s`).",
    )
    # Stated on the sample that they share, it holds given what is drawn.
    found = report("unbounded", datasets, f"reads: t, {PURE}, stated_on: s", f"reads: s, {PURE}")
    assert epsilon(found) == pytest.approx(math.log1p(0.1 * math.expm1(2)), rel=1e-12)


HOUSE = "relations: {house: {within: unbounded, distance: 4}}\n"
HOUSES = f"reads: s, {PURE}, relation: house, stated_on: rows"
RANDOM = [POISSON, "{kind: limit, per: c, rows: 2, keep: random}"]


@pytest.mark.parametrize("made_by", RANDOM)
def test_declared_relations_obey_the_same_rule(made_by: str) -> None:
    datasets = f"rows: {{}}, s: {{from: rows, map: {made_by}}}"
    assert epsilon(report("house", datasets, HOUSES, more=HOUSE)) == 1
    assert report("house", datasets, HOUSES, HOUSES, more=HOUSE).bound is None
    assert report("house", datasets, f"{HOUSES}, count: 2", more=HOUSE).bound is None or (
        "sample" in made_by  # each copy has a draw of its own
    )
    assert epsilon(report("{relation: house, distance: 3}", datasets, HOUSES, more=HOUSE)) == 3


def test_copies_that_share_a_draw_are_several_releases() -> None:
    stated = f"reads: s, {PURE}, stated_on: rows, count: 3"
    fresh, once = (f"rows: {{}}, s: {{from: rows, map: {each}}}" for each in (POISSON, ONCE))
    assert epsilon(report("unbounded", fresh, stated)) == 3
    assert report("unbounded", once, stated).bound is None
    # Copies that read the draw directly share it: 3 is amplified once.
    nested = NESTED % (ONCE, ONCE)
    shared = report("unbounded", nested, f"reads: t, {PURE}, count: 3")
    assert epsilon(shared) == pytest.approx(math.log1p(0.01 * math.expm1(3)), rel=1e-12)


@pytest.mark.parametrize(
    ("above", "made_by", "steps"),
    [
        ("", POISSON, None),
        ("few: {from: rows, map: {kind: cap, rows: 3, keep: first}}, ", POISSON, 3),
        ("few: {from: rows, map: {kind: cap, rows: 3, keep: random}}, ", POISSON, 3),
        ("f: {from: rows, map: {kind: flatten, max_rows: 2, keeps: [id]}}, ", None, None),
        ("", None, 2),
    ],
)
def test_rows_of_a_unit_that_a_random_map_loses_count(
    above: str, made_by: str | None, steps: int | None
) -> None:
    """A statement above a sample counts the rows of a unit that may be drawn, not those drawn."""
    where = above.partition(":")[0] or "rows"
    drawn = f"s: {{from: {where}, map: {made_by}}}, " if made_by else ""
    cap = f"c: {{from: {'s' if made_by else where}, map: {{kind: cap, rows: 2, keep: random}}}}"
    datasets = f"rows: {{unit: id}}, {above}{drawn}{cap}"
    for relation in ("unbounded",) if made_by else ("unbounded", "user"):
        stated = f"reads: c, {PURE}, relation: {relation}, stated_on: rows"
        found = report("user", datasets, stated)
        if relation == "user":
            assert epsilon(found) == 1
        elif steps is None:
            assert found.bound is None
            assert "all rows of the unit there count" in found.reasons[0]
        else:
            assert epsilon(found) == steps


@pytest.mark.parametrize(
    ("made_by", "found"),
    [
        ("few few few", (3, True)),
        ("wide few filter", (3, True)),
        ("wide few few", (2, False)),
        ("few wide few", (3, True)),
        ("wide filter two few", (2, False)),
        ("wide any", (2, True)),
        ("sample wide few few", (0, False)),
    ],
)
def test_what_gives_the_same_alone(made_by: str, found: tuple[int, bool]) -> None:
    """Of several results of a row another one may come first once a rival is gone."""
    maps = {
        "few": "{kind: limit, per: c, rows: 1, keep: first}",
        "any": "{kind: limit, per: c, rows: 1, keep: random}",
        "two": "{kind: limit, per: c, rows: 2, keep: random}",
        "wide": "{kind: flatten, max_rows: 2, keeps: [c]}",
        "filter": "filter",
        "sample": POISSON,
    }
    made = [
        f"d{n}: {{from: d{n - 1}, map: {maps[each]}}}" for n, each in enumerate(made_by.split(), 1)
    ]
    stated = f"reads: d{len(made)}, {PURE}, stated_on: d0"  # so that no two maps are one
    text = written("unbounded", ", ".join(["d0: {}", *made]), stated)
    ((_, place),) = lay_out(resolve(load(text, "spec")).problem)
    while place.derived:
        place = place.derived[0]
    assert alone(place.ancestors(place.depth)) == found


def test_one_release_below_a_random_limit_has_what_is_stated_above() -> None:
    few = "few: {from: rows, map: {kind: cap, rows: 2, keep: random}}"
    datasets = f"rows: {{unit: id}}, {few}, p: {{from: few, partition: {{by: value, blocks: 2}}}}"
    stated = f"{PURE}, relation: user, stated_on: rows"
    assert epsilon(report("user", datasets, f"reads: p.0, {stated}")) == 1
    assert report("user", datasets, f"reads: p.*, {stated}").bound is None


def test_a_part_of_which_nothing_is_known_is_told_as_such() -> None:
    """Below a secret sample a release is not always read: the whole is finite, the part is not."""
    found = analyze(
        """dpcompose: 1
protect: edge
datasets:
  g: {domain: graph, max_degree: 1}
  v: {from: g, map: nodes}
  s: {from: v, map: {kind: sample, poisson: 0.1}}
  l: {from: s, map: {kind: limit, per: c, rows: 2, keep: random}}
mechanisms:
  - {name: m, reads: l, notion: approx, relation: unbounded, epsilon: 1, delta: 0.1}
"""
    )
    assert found.bound is not None and found.bound.delta is not None and found.bound.delta < 1
    assert found.worst is not None
    [touch], [share] = found.worst.touches, found.shares
    for told in (touch.each, touch.total, share.bound):
        assert told.value == 0 and told.delta == 1
