"""`diff`: of two versions of a spec, and of two files."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import command
import jsonschema
import pytest
from conftest import LIBRARY, Golden
from contracts import checked
from typer.testing import Result
from volume import thinned

from dpcompose.core.notions.guarantee import Budget
from dpcompose.pipeline import analyze
from dpcompose.planning.comparison import Change, SameTerms, Version, change
from dpcompose.planning.what_if import epsilon_at
from dpcompose.render.json.plan_documents import diff_json
from dpcompose.render.layout import Style
from dpcompose.render.parts.inline import code, plain
from dpcompose.render.plans import diff_views
from dpcompose.render.plans.diff_views import headline, markdown
from dpcompose.render.words.headlines import requested_number

BASE = """\
dpcompose: 1
protect: bounded
constants: {share: 1/2}
datasets:
  rides: {}
  district: {from: rides, partition: {by: value, blocks: [north, south, east]}}
mechanisms:
  - {name: north, reads: district.north, notion: pure, epsilon: share, stated_on: rides}
  - {name: south, reads: district.south, notion: pure, epsilon: 0.7, stated_on: rides}
  - {name: east, reads: district.east, notion: pure, epsilon: 1, stated_on: rides}
"""


SARIF = jsonschema.Draft7Validator(
    json.loads(
        (Path(__file__).parents[1] / "schemas" / "sarif-2.1.0-reduced.json").read_text("utf-8")
    )
)


def run(*arguments: str, stdin: str | None = None, **environment: str) -> Result:
    return command.run("diff", *arguments, stdin=stdin, **environment)


def changed(old: str, new: str, terms: SameTerms | None = None) -> Change:
    found = change(Version("old", old.encode()), Version("new", new.encode()), terms)
    assert isinstance(found, Change), found
    return found


# --- what a change does --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", [*LIBRARY.values()][::4], ids=lambda path: path.stem)
def test_equal_files_change_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = changed(text, text)
    assert (found.direction, found.edits, found.moved, found.because) == ("same", (), (), ())
    assert not found.raises


HOUSE = """\
dpcompose: 1
protect: house
relations: {house: {within: user, distance: 2}}
datasets: {a: {unit: person}, b: {unit: device}}
mechanisms:
  - {name: q, reads: a, notion: pure, epsilon: 1, relation: user}
  - {name: r, reads: b, notion: pure, epsilon: 1, relation: user}
"""


@pytest.mark.parametrize(
    ("old", "new", "was", "now"),
    [
        ("house", "home", "house (at most 2 user steps)", "home (at most 2 user steps)"),
        ("protect: house", "protect: {relation: house, distance: 2}", "steps) neighbours", "at d"),
        (
            "distance: 2",
            "distance: 3",
            "all rows of each of 2 units",
            "all rows of each of 3 units",
        ),
        ("within: user", "within: unbounded", "2 units", "2 rows added or removed"),
        ("unit: device", "unit: person", "one `person` or `device`", "one `person`"),
        (
            "a: {unit: person}, b: {unit: device}",
            "a: {unit: device}, b: {unit: person}",
            "one `person` or `device`",
            "one `device` or `person`",
        ),
        (
            "a: {unit: person}, b: {unit: device}}",
            "b: {unit: person}, a: {unit: device}}",
            "one `person` in `a`, one `device` in `b`",
            "one `device` in `a`, one `person` in `b`",
        ),
    ],
)
def test_what_is_protected_is_compared_wholly(old: str, new: str, was: str, now: str) -> None:
    """A declared relation keeps its name when its unit, or what it is made of, changes below it."""
    found = changed(HOUSE, HOUSE.replace(old, new))
    assert found.direction == "incomparable" and found.raises
    assert found.why is not None
    before, _, after = found.why.removeprefix("what is protected changed from ").partition(" to ")
    assert was in before and now in after, found.why


def test_a_further_root_with_the_same_unit_leaves_what_is_protected() -> None:
    more = HOUSE.replace("b: {unit: device}", "b: {unit: device}, c: {unit: person}")
    assert changed(HOUSE, more).direction == "same"


TWO = """\
dpcompose: 1
protect: unbounded
datasets: {t: {columns: [race, age]}, d: {from: t, map: {kind: columns, only: [race]}}}
mechanisms:
  - {name: q, reads: t, guarantees: [{notion: pure, epsilon: 1}, {notion: zcdp, rho: 1/20}]}
  - {name: r, reads: d, notion: pure, epsilon: 0}
report: {questions: [{name: age, changes: [age]}]}
"""
BLOCKS = """\
dpcompose: 1
protect: unbounded
datasets: {t: {}, d: {from: t, partition: {by: value, blocks: [a, b]}}}
mechanisms:
  - {name: q, reads: d.a, notion: zcdp, rho: 1/2}
  - {name: r, reads: d.b, notion: approx, epsilon: 1/2, delta: 1e-7}
report: {delta: 1e-5}
"""


@pytest.mark.parametrize(
    ("spec", "old", "new", "number"),
    thinned(
        [
            (BLOCKS, "delta: 1e-7", "delta: 9e-6", "ε at δ = 1e-6"),
            (TWO, ", {notion: zcdp, rho: 1/20}]", "]", "ε at δ = 0.001"),
            (TWO, "rho: 1/20", "rho: 1/10", "ε at δ = 0.001"),
        ]
    ),
)
def test_a_bound_that_grows_elsewhere_is_not_the_same(
    spec: str, old: str, new: str, number: str
) -> None:
    """Its headline stays where it was; the way back is no increase."""
    weaker = spec.replace(old, new)
    found = changed(spec, weaker)
    assert (found.direction, found.raises) == ("increased", True)
    assert number in headline(found)
    assert all(each.old != each.new for each in found.numbers if each.direction == "increased")
    assert changed(weaker, spec).direction == "same"
    told = "".join(diff_views.text([found], Style()))
    assert ("the bound itself is as before: ε = 1" in told) == (spec is TWO)


@pytest.mark.slow
def test_what_is_learnt_of_columns_may_grow_below_the_same_bound() -> None:
    old = TWO.replace("reads: t", "reads: d").replace("reads: d, notion", "reads: t, notion")
    found = changed(old, TWO)
    assert found.direction == "increased"
    assert "about `age`" in headline(found)


def test_the_bound_against_an_adversary_may_grow_below_the_same_bound() -> None:
    spec = LIBRARY["subsidiaries"].read_text(encoding="utf-8")
    found = changed(spec, spec.replace("south: 0.5", "south: 0.9"))
    assert found.direction == "increased"
    assert "against the adversary" in headline(found)


def test_a_block_that_stays_below_the_worst_one_changes_nothing() -> None:
    old = BLOCKS.replace("notion: approx, epsilon: 1/2, delta: 1e-7", "notion: zcdp, rho: 1/10")
    assert changed(old, old.replace("1/10", "2/5")).direction == "same"


def test_a_budget_against_the_adversary_is_raised_also_below_a_default() -> None:
    """The verdict is then on the default budget, which both versions meet."""
    spec = LIBRARY["subsidiaries"].read_text(encoding="utf-8")
    default = Budget((("epsilon", Fraction(9)), ("delta", Fraction(1, 10**5))))
    terms = SameTerms(default=(default,))
    old, new = (spec.replace("epsilon: 0.75", f"epsilon: {amount}") for amount in (1, 2))
    found = changed(old, new, terms)
    assert found.old is not None and found.old.verdict is not None and found.old.verdict.ok
    assert found.events == ("budget-raised",)
    assert changed(new, old, terms).events == ()


# --- the command ---------------------------------------------------------------------------------


def test_markdown_lets_no_name_out_of_its_cell() -> None:
    assert plain("a|b <img> @all *x* [l](u)\n") == (
        "<code>a&#124;b &#60;img&#62; &#64;all &#42;x&#42; &#91;l&#93;&#40;u&#41;&#92;n</code>"
    )
    assert code("a`|b") == "<code>a&#96;&#124;b</code>"
    assert plain("one ` alone") == "<code>one &#96; alone</code>"
    assert plain("`a` adds 1 (epsilon: 1 → 2)") == "<code>a</code> adds 1 (epsilon: 1 → 2)"
    assert plain("`a` @all `b` is new") == (
        "<code>a</code> <code>&#64;all</code> <code>b</code> is new"
    )
    assert plain("see https://x.org or WWW.x.org") == (
        "<code>see https&#58;//x.org or www&#46;x.org</code>"
    )


def test_a_spec_that_is_gone_is_a_decrease_whatever_was_wrong_with_it() -> None:
    for text, words in (
        (BASE, "it had ε = 1.7 (bounded neighbours)"),
        (BASE.replace(", stated_on: rides", ""), "it had no finite bound (bounded neighbours)"),
        ("x: 1", "it was invalid"),
    ):
        found = change(Version("old@HEAD", text, path="old"), None)
        assert isinstance(found, Change) and (found.direction, found.raises) == ("decreased", False)
        assert headline(found) == f"removed spec: {words}"
        assert (found.label, found.source_to_show, found.new) == ("old", found.old, None)
        shown = {
            "text": "".join(diff_views.text([found], Style())),
            "md": "".join(markdown([found])),
        }
        assert (
            words in " ".join(shown["text"].split())
            and f"▼ <code>old</code>: removed spec: {words}\n" in shown["md"]
        )
        document = checked("diff", "".join(diff_json([found])))["changes"][0]
        assert (document["old_file"], document["new_file"], document["new"]) == ("old", None, None)
        assert document["old"]["file"] == "old@HEAD"


def test_a_review_tells_what_is_no_longer_assumed_even_by_itself() -> None:
    """As the text does; a spec of which there is nothing to tell has no details."""
    found = change(Version("a.yaml", BASE), Version("a.yaml", BASE))
    assert isinstance(found, Change) and diff_views.is_unchanged(found)
    assert "".join(markdown([found])).count("\n") == 1
    fewer = replace(found, no_longer_assumed=("`a` is as it is declared",))
    told = "".join(markdown([fewer]))
    assert "**Assumed, not checked**\n\n" in told and "| - | " in told
    assert "**Settings**\n\n- " in "".join(markdown([replace(found, settings=("fail-on: note",))]))


def test_both_names_of_a_renamed_spec_are_told() -> None:
    old = Version("a|b.yaml@HEAD", BASE.encode(), path="a|b.yaml")
    found = change(old, Version("c.yaml", BASE.encode(), 0, 2, "c.yaml"))
    assert isinstance(found, Change) and found.label == "a|b.yaml → c.yaml (document 2)"
    assert code(found.label) in "".join(markdown([found]))
    invalid = change(old, Version("c.yaml", b"x: 1", 0, None, "c.yaml"))
    for each in checked("diff", "".join(diff_json([found, invalid])))["changes"]:
        names = each["file"], each["old_file"], each["new_file"]
        assert names == ("c.yaml", "a|b.yaml", "c.yaml")


def test_the_log_of_a_change_is_valid_sarif(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(BASE)
    new.write_text(BASE.replace("epsilon: 1,", "epsilon: 1.5,"))
    SARIF.validate(json.loads(run(str(old), str(new), "--format", "sarif").stdout))


# --- budgets -------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", ["1e-7", "1/3000000"])
def test_the_number_at_the_delta_of_the_budget_leads(tmp_path: Path, delta: str) -> None:
    """Whatever other δ the spec asks for before, and however many digits it has."""
    old, new = tmp_path / "old", tmp_path / "new"
    one = "dpcompose: 1\nprotect: unbounded\ndatasets: {r: {}}\nmechanisms:\n"
    one += "  - {name: a, reads: r, notion: zcdp, rho: 1/10}\nreport: {delta: 1e-5}\n"
    one += f"budget: {{epsilon: 9, delta: {delta}}}\n"
    old.write_text(one)
    new.write_text(one.replace("1/10", "1/5"))
    report = analyze(new.read_bytes(), str(new))
    first = requested_number(report)
    assert first is not None and first.given == Fraction(delta)
    head = run(str(old), str(new), "--width", "300").stdout.splitlines()[0]
    assert f"{epsilon_at(Fraction(delta))}  " in head, head


# --- screens -------------------------------------------------------------------------------------


SHOP = """\
dpcompose: 1
protect: user
datasets:
  orders: {unit: customer}
  capped: {from: orders, map: {kind: cap, rows: 20, keep: random}}
  by_country:
    from: capped
    partition: {by: value, uses: [country], blocks: 40, max_blocks_per_unit: 5}
mechanisms:
  - {name: revenue, reads: capped, mechanism: gaussian, sigma: 4000, sensitivity: 200}
  - {name: orders by country, reads: by_country.*, mechanism: gaussian, sigma: 40, sensitivity: 1}
  - {name: noted, reads: orders, notion: zcdp, rho: 0.02}
budget: {epsilon: 3, delta: 1e-6}
"""


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("detail", ["", "--brief", "--full"])
def test_screens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, width: int, detail: str
) -> None:
    """The number of the budget leads, then what changed in the spec, then what that does."""
    new = SHOP.replace("rows: 20", "rows: 30").replace("sigma: 40,", "sigma: 30,")
    new = new.replace("  - {name: noted, reads: orders, notion: zcdp, rho: 0.02}\n", "")
    for name, text in (("old.yaml", SHOP), ("new.yaml", new)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = run("old.yaml", "new.yaml", "--width", str(width), *filter(None, [detail])).stdout
    golden(f"screens/diff{detail}-{width}.txt", found)
