"""`total`: laws of adding up releases, and what is the same in several specs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from command import run
from conftest import LIBRARY, Golden
from oracle.generate import random_spec, random_user_spec
from volume import rare, seeds

from dpcompose.core.notions.guarantee import Budget
from dpcompose.pipeline import analyze
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import Total, TotalAsked, add_up
from dpcompose.resolve import resolve
from dpcompose.source import Number, Value, load

SPECS = [*LIBRARY.values()]
HEAD = "dpcompose: 1\npopulation: p\nprotect: unbounded\n"
WARDS = (
    HEAD
    + """\
datasets:
  patients: {}
  ward: {from: patients, partition: {by: value, blocks: [a, b, c]}}
mechanisms:
"""
)


def wards(a: str, b: str, c: str) -> str:
    by_block = f"{{a: {a}, b: {b}, c: {c}}}"
    return f"{WARDS}  - {{name: count, reads: ward.*, notion: pure, epsilon: {by_block}}}\n"


#: Said where it matters that parameters do not depend on outputs.
PLANNED = "planned together before the first output"


def total(*texts: str, everything: bool = False, **asked: object) -> Total:
    """The total of specs whose parameters are fixed, but where `fixed` is None."""
    along = any("adaptivity" in text and "parameters" in text for text in texts)
    asked.setdefault("fixed", None if along else PLANNED)
    releases = [
        Release(f"{index}.yaml", resolve(load(text, f"{index}.yaml")))
        for index, text in enumerate(texts)
    ]
    found = add_up(releases, TotalAsked(everything=everything, **asked))  # type: ignore[arg-type]
    assert len(found.totals) == 1, found
    return found.totals[0]


def epsilon(found: Total) -> Fraction:
    return found.bounds[0].value


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_total_of_one_spec_is_its_bound(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    report, found = analyze(text), total(text, everything=True)
    assert found.finite == (report.status == "ok")
    if report.bound is not None:
        assert report.bound in found.bounds
    if "adversary:" not in text:  # whose budget may name a δ of its own
        known = [(at.given, at.value) for at in report.at_delta]
        assert [(at.given, at.value) for at in found.at_delta] == known


@pytest.mark.slow
@pytest.mark.parametrize("path", rare(SPECS, 2), ids=lambda path: path.stem)
def test_twice_the_same_spec_costs_at_least_as_much_and_at_most_twice(path: Path) -> None:
    text = written({**tree(path), "population": "p", "report": {"delta": Number("1e-5")}})
    one, two = total(text), total(text, text)
    if one.record is not None:
        pytest.skip("a ledger, whose bound is its budget")
    # Two uses of one draw of a sample cost more than twice one use: 1 + q(e^2ε - 1) is more than
    # (1 + q(e^ε - 1))².
    one_draw = "draws: one" in path.read_text(encoding="utf-8")
    for once, twice in zip(one.bounds, two.bounds, strict=True):
        assert once.value <= twice.value
        assert one_draw or twice.value <= 2 * once.value
    for at, other in zip(one.at_delta, two.at_delta, strict=True):
        if other.value is not None:
            assert at.value is not None and at.value <= other.value


@pytest.mark.slow
@pytest.mark.parametrize("path", rare(SPECS, 2), ids=lambda path: path.stem)
def test_a_spec_in_two_parts_costs_what_it_costs_in_one(path: Path) -> None:
    whole = {**tree(path), "population": "p"}
    text = path.read_text(encoding="utf-8")
    mechanisms = whole["mechanisms"]
    random = any(word in text for word in ("kind: sample", "keep: random", "by: position"))
    if random or "post_processes" in text or not isinstance(mechanisms, list):
        pytest.skip("draws at random, or uses its own outputs")
    if "joint:" in text:
        pytest.skip("each spec keeps to its own joint bound: nothing says that they share it")
    if len(mechanisms) < 2:
        pytest.skip("one mechanism")
    parts = [written({**whole, "mechanisms": mechanisms[i::2]}) for i in range(2)]
    report, found = analyze(text), total(*parts)
    if report.bound is None or "kind: opaque" in text or "kind: stable" in text:
        assert found.finite == (report.status == "ok")
    else:
        assert report.bound in found.bounds, found.assumed


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(15, range(30)))
def test_a_random_spec_in_two_parts_costs_no_less(seed: int) -> None:
    spec = (random_spec if seed % 3 else random_user_spec)(seed)
    report = analyze(json.dumps(spec))
    parts = [{**spec, "population": "p", "mechanisms": spec["mechanisms"][i::2]} for i in range(2)]
    if report.bound is None or not all(part["mechanisms"] for part in parts):
        pytest.skip("no bound, or one mechanism")
    found = total(*(json.dumps(part) for part in parts))
    assert found.bounds[0].value >= report.bound.value
    if not any(word in str(spec) for word in ("position", "stable", "random")):
        assert found.bounds[0] == report.bound


def tree(path: Path) -> dict[str, Value]:
    value = load(path.read_bytes(), path.name).value
    assert isinstance(value, dict)
    return value


def written(value: Value) -> str:
    """A tree as YAML in flow style, its numbers as they were."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {written(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(written, value)) + "]"
    return str(value) if isinstance(value, Number) else json.dumps(value)


# --- what is the same ----------------------------------------------------------------------------


def test_structure_is_kept_where_names_and_declarations_are_the_same() -> None:
    one, two = wards("1", "0.5", "0.5"), wards("0.5", "1", "0.7")
    found = total(one, two)
    assert epsilon(found) == Fraction(3, 2)
    assert [each.mechanism for each in found.shares] == ["0.yaml: count", "1.yaml: count"]
    lines = [(each.file, each.span and each.span.line) for each in found.shares]
    assert lines == [("0.yaml", 8), ("1.yaml", 8)]
    assert "`ward` is one and the same in `0.yaml` and `1.yaml`" in found.assumed
    assert epsilon(total(one, two, apart=True)) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  ward:", "  area:"),
        ("blocks: [a, b, c]", "blocks: [a, b, c, d]"),
        ("blocks: [a, b, c]", "blocks: [a, b, c], drops: true"),
        ("by: value", "by: key, column: id"),
        ("patients: {}", "patients: {unit: id}"),
        ("population: p", "population: q"),
    ],
)
def test_anything_else_is_not_the_same(old: str, new: str) -> None:
    one, two = wards("1", "0.5", "0.5"), wards("0.5", "1", "0.7").replace(old, new)
    two = two.replace("reads: ward", "reads: area") if "area" in new else two
    two = two.replace("c: 0.7}", "c: 0.7, d: 0}") if ", d]" in new else two
    assert epsilon(total(one, two, everything=True)) == 2


def test_many_blocks_are_not_listed() -> None:
    text = HEAD + (
        "datasets: {people: {}, cell: {from: people, partition: {by: value, blocks: 1000000000}}}\n"
        "mechanisms: [{name: m, reads: cell.*, notion: pure, epsilon: 1}]\n"
    )
    assert epsilon(total(text, text)) == 2
    other = text.replace(
        "mechanisms: [", "mechanisms: [{name: n, reads: cell.7, notion: pure, epsilon: 1}, "
    )
    assert epsilon(total(text, other)) == 3


def test_blocks_of_kinds_keep_their_order() -> None:
    text = HEAD + (
        "datasets:\n  people: {}\n"
        "  app: {from: people, partition: {by: kinds, kinds: {x: [c, a], y: [c, b]}}}\n"
        "mechanisms:\n"
    )
    one = text + "  - {name: m, reads: app.*, notion: pure, epsilon: {c: 1, a: 2, b: 4}}\n"
    two = text + "  - {name: n, reads: app.*, notion: pure, epsilon: {c: 1, a: 8, b: 5}}\n"
    assert epsilon(total(one, two)) == 12  # kind x: 2 · 1 + 2 + 8; kind y: 2 · 1 + 4 + 5


NORTH = "{name: m, reads: g.north, notion: pure, epsilon: 1}"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        # A user's first row by date may be in the north, and the first by amount in the south.
        (
            "c: {from: t, map: {kind: cap, rows: 1, keep: first, order: date}}",
            "c: {from: t, map: {kind: cap, rows: 1, keep: first, order: amount}}",
        ),
        (
            "c: {from: t, map: {kind: limit, per: u, rows: 1, keep: first, order: date}}",
            "c: {from: t, map: {kind: limit, per: u, rows: 1, keep: first}}",
        ),
    ],
)
def test_rows_that_are_first_in_unlike_orders_are_not_the_same(one: str, two: str) -> None:
    text = (
        "dpcompose: 1\npopulation: p\nprotect: user\ndatasets:\n  t: {unit: u}\n  CAPPED\n"
        "  g: {from: c, partition: {by: value, blocks: [north, south]}}\nmechanisms: [READS]\n"
    ).replace("READS", NORTH)
    north, other = text.replace("CAPPED", one), text.replace("CAPPED", two)
    assert epsilon(total(north, text.replace("CAPPED", one).replace("g.north", "g.south"))) == 1
    assert epsilon(total(north, other.replace("g.north", "g.south"))) == 2


@pytest.mark.parametrize(
    ("kinds", "both"),
    [
        ("{free: [south], paid: [north]}", 2),
        ("{free: [north, south], paid: [south]}", 2),
        ("{paid: [south], free: [north]}", 1),
    ],
)
def test_kinds_that_feed_other_blocks_are_not_the_same(kinds: str, both: int) -> None:
    text = (
        f"{HEAD}datasets:\n  t: {{}}\n"
        "  g: {from: t, partition: {by: kinds, kinds: {free: [north], paid: [south]}}}\n"
        f"mechanisms: [{NORTH}]\n"
    )
    other = text.replace("{free: [north], paid: [south]}", kinds).replace("g.north", "g.south")
    assert epsilon(total(text, other)) == both


def test_samples_are_drawn_by_each_release() -> None:
    text = HEAD + (
        "datasets: {people: {}, some: {from: people, map: {kind: sample, poisson: 0.5}}}\n"
        "mechanisms: [{name: m, reads: some, notion: pure, epsilon: 1}]\n"
    )
    once = epsilon(total(text))
    assert epsilon(total(text, text)) == 2 * once


def test_roots_that_are_not_known_to_be_disjoint_change_together() -> None:
    def spec(roots: str, *names: str) -> str:
        listed = ", ".join(f"{name}: {{}}" for name in names)
        each = "".join(
            f"  - {{name: {name}, reads: {name}, notion: pure, epsilon: 1}}\n" for name in names
        )
        return f"{HEAD}{roots}datasets: {{{listed}}}\nmechanisms:\n{each}"

    disjoint = "roots: disjoint\n"
    assert epsilon(total(spec(disjoint, "a", "b"))) == 1
    assert epsilon(total(spec(disjoint, "a", "b"), spec("", "a"))) == 2
    assert epsilon(total(spec("", "a"), spec(disjoint, "a", "b"))) == 2
    assert epsilon(total(spec(disjoint, "a", "b"), spec("", "c"))) == 2
    # The word of each spec counts for what it releases itself, and for no other.
    assert epsilon(total(spec(disjoint, "a", "b"), spec(disjoint, "b", "c"))) == 2
    assert epsilon(total(spec(disjoint, "a", "b"), spec("", "a", "b"))) == 3
    assert epsilon(total(spec(disjoint, "a", "b"), spec(disjoint, "a", "b"))) == 2
    assert epsilon(total(spec(disjoint, "a", "b"), spec("", "a"), spec("", "b"))) == 3
    assert epsilon(total(spec(disjoint, "a", "b"), spec(disjoint, "c", "d"))) == 2
    assert epsilon(total(spec(disjoint, "a", "b"), spec(disjoint, "a", "b"), apart=True)) == 2


def test_who_says_that_nobody_is_in_two_roots_is_told() -> None:
    one = (
        HEAD
        + "datasets: {a: {}, b: {}}\nmechanisms:\n"
        + "".join(
            f"  - {{name: {name}, reads: {name}, notion: pure, epsilon: 1}}\n" for name in "ab"
        )
    )
    sure = one.replace("protect", "roots: disjoint\nprotect")
    both, mixed = total(sure, sure), total(sure, one)
    assert both.assumed[1:3] == (
        "all of these specs are about the same people, each of whom may be in every root but for "
        "what the specs say:",
        "nobody is in two of `a` and `b` (`roots: disjoint` in `0.yaml` and `1.yaml`)",
    )
    assert "each of whom may be in every root but" in mixed.assumed[1]
    assert mixed.assumed[2] == "nobody is in two of `a` and `b` (`roots: disjoint` in `0.yaml`)"
    assert mixed.shares[0].bound.value == 1


def test_units_of_other_names_are_not_added_up() -> None:
    def spec(unit: str, protect: str) -> str:
        return (
            f"dpcompose: 1\npopulation: p\nprotect: {protect}\n"
            f"datasets: {{visits: {{unit: {unit}}}}}\n"
            "mechanisms: [{name: a, reads: visits, notion: pure, epsilon: 1}]\n"
        )

    found = total(spec("patient", "user"), spec("hospital", "user"))
    assert not found.finite and found.refused == (
        "in 0.yaml all rows of one `patient` are protected, in 1.yaml all of one `hospital`: "
        "a bound for the one says nothing of the other, and if they are the same unit the columns "
        "need the same name in the specs"
    )
    assert epsilon(total(spec("patient", "user"), spec("patient", "user"))) == 2
    assert epsilon(total(spec("patient", "unbounded"), spec("hospital", "unbounded"))) == 2


def test_different_relations_are_refused() -> None:
    found = total(wards("1", "1", "1"), wards("1", "1", "1").replace("unbounded", "bounded"))
    assert not found.finite and found.refused is not None
    assert (
        "unbounded neighbours" in found.refused and "in 1.yaml bounded neighbours" in found.refused
    )


def test_a_budget_with_a_delta_is_held_against_the_composition() -> None:
    gauss = HEAD + (
        "datasets: {people: {}}\n"
        "mechanisms: [{name: g, reads: people, mechanism: gaussian, sigma: 4, sensitivity: 1}]\n"
    )
    laplace = gauss.replace("gaussian, sigma: 4", "laplace, scale: 4")
    limit = Budget((("epsilon", Fraction(2)), ("delta", Fraction(1, 10**6))))
    found = total(gauss, laplace, limit=limit)
    whole = HEAD + (
        "datasets: {people: {}}\nmechanisms:\n"
        "  - {name: g, reads: people, mechanism: gaussian, sigma: 4, sensitivity: 1}\n"
        "  - {name: l, reads: people, mechanism: laplace, scale: 4, sensitivity: 1}\n"
    )
    report = analyze(whole, "", limit)
    assert found.verdict is not None and report.verdict is not None
    assert (found.verdict.ok, found.verdict.slack) == (report.verdict.ok, report.verdict.slack)


# --- the command (the rest of it: tests/sessions/total.session) ----------------------------------


def test_a_sample_drawn_once_is_one_draw_in_all_specs() -> None:
    def spec(name: str, drawn: str, stated: str = "") -> str:
        return HEAD + (
            f"datasets: {{r: {{}}, s: {{from: r, map: {drawn}}}}}\n"
            f"mechanisms: [{{name: {name}, reads: s, notion: pure, epsilon: 1{stated}}}]\n"
        )

    once = "{kind: sample, poisson: 0.5, draws: one}"
    fresh = "{kind: sample, poisson: 0.5}"
    few = "{kind: limit, per: c, rows: 1, keep: random}"
    shared = total(spec("a", once), spec("b", once))
    assert float(epsilon(shared)) == pytest.approx(1.4337808304830, rel=1e-12)
    assert "`s` is one and the same in `0.yaml` and `1.yaml`" in shared.assumed
    apart = total(spec("a", fresh), spec("b", fresh))
    assert float(epsilon(apart)) == pytest.approx(2 * 0.6201145069582775, rel=1e-12)
    for other in ("{kind: sample, poisson: 0.25, draws: one}", once.replace("0.5", "1/2")):
        both = total(spec("a", once), spec("b", other))
        assert (both.refused is None) == ("1/2" in other)
    below = f"l: {{from: r, map: {few}}}, s: {{from: l, map: {once}}}"
    random = spec("a", once).replace(f"s: {{from: r, map: {once}}}", below)
    refused = total(random, random.replace("name: a", "name: b")).refused
    assert refused == (
        "`0.yaml` and `1.yaml` say that `s` is drawn once (`draws: one`), but not the same of what "
        "it is drawn from, or how: write it alike in all of them and below nothing random, or "
        "under different names where they are different draws"
    )
    elsewhere = spec("b", once).replace("{r: {}", "{q: {}").replace("from: r", "from: q")
    assert total(spec("a", once), elsewhere).refused is not None
    above = ", stated_on: r"
    assert not total(spec("a", once, above), spec("b", once, above)).finite
    assert epsilon(total(spec("a", few, above), spec("b", few, above))) == 2


@pytest.mark.parametrize("width", [80, 120])
def test_screens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, width: int
) -> None:
    """A panel, a bar for each release and mechanism, equal datasets once."""
    monkeypatch.chdir(tmp_path)
    for month, sigma in (("january", 8000), ("february", 9000), ("march", 8000)):
        (tmp_path / f"{month}.yaml").write_text(
            "dpcompose: 1\npopulation: customers\nprotect: user\ndatasets:\n"
            "  orders: {unit: customer}\n"
            "  capped: {from: orders, map: {kind: cap, rows: 20, keep: random}}\n"
            "mechanisms:\n  - {name: revenue, reads: capped, mechanism: gaussian, "
            f"sigma: {sigma}, sensitivity: 200}}\n",
            encoding="utf-8",
        )
    budget = ("--epsilon", "6", "--delta", "1e-6", "--width", str(width))
    files = [f"{month}.yaml" for month in ("january", "february", "march")]
    found = run("total", *files, "--fixed", PLANNED, *budget)
    golden(f"screens/total-{width}.txt", found.stdout)
