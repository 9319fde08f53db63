"""What would make a bound less: each is what an analysis of the changed text says."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest
from asked import written
from command import run
from conftest import LIBRARY
from contracts import checked
from tables import tables

from dpcompose.pipeline import analyze
from dpcompose.planning import advising
from dpcompose.report import Advice

TABLES = tables(__file__)

pytestmark = pytest.mark.slow


def advised(text: str, everything: bool = False) -> tuple[Advice, ...]:
    return advising.advised(analyze(text, "spec"), text, "spec", everything=everything).advice


def only(text: str, key: str) -> Advice:
    [found] = [each for each in advised(text, True) if each.key == key]
    return found


def number(text: str) -> Fraction:
    """The ε at the first δ that is asked for, or the bound."""
    report = analyze(text, "spec")
    if report.at_delta:
        value = report.at_delta[0].value
        assert value is not None
        return value
    assert report.bound is not None
    return report.bound.value


def spec(datasets: str, *mechanisms: str, protect: str = "bounded", more: str = "") -> str:
    return written(datasets, *mechanisms, protect=protect, more=f"{more}report: {{delta: 1e-6}}")


PEOPLE = "  people: {}\n"
#: What is advised, the spec, the text that is replaced, and what stands in its place.
CHANGES = TABLES["changes"]
#: What is written elsewhere as well.
BESIDE = {
    "partition": (
        ("  people: {}\n", "  people: {}\n  h_cells: {from: people, "
         "partition: {by: value, blocks: 7}}\n"),
        ("reads: people", "reads: h_cells.*"),
    ),
    "samples": (
        ("mechanisms:\n", "  some_b: {from: people, map: {kind: sample, poisson: 0.01}}\n"
         "mechanisms:\n"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("key", CHANGES)
def test_what_is_advised_is_certified_of_the_text_that_says_so(key: str) -> None:
    before, old, new = CHANGES[key]
    after = before.replace(old, new)
    for was, now in BESIDE.get(key, ()):
        assert was in after
        after = after.replace(was, now)
    found = only(before, key)
    assert found.after == number(after)
    if found.before is not None:
        assert found.before == number(before) and found.saves == found.before - found.after > 0
    assert all(each.write in new or key in BESIDE for each in found.places)
    assert key not in {each.key for each in advised(after, True)}


def test_what_is_not_true_of_the_number_is_not_advised() -> None:
    assert advised(spec(PEOPLE, "name: a, reads: people, notion: pure, epsilon: 1")) == ()
    sound = LIBRARY["ambulances-districts-bounded"]
    assert advised(sound.read_text(encoding="utf-8"), True) == ()


def test_the_largest_saving_comes_first_and_five_are_told() -> None:
    entries = [
        f"name: m{i}, reads: people, mechanism: laplace, scale: {i + 2}, sensitivity: 1"
        for i in range(3)
    ]
    text = spec(
        PEOPLE + "  others: {}\n",
        *entries,
        "name: o, reads: others, mechanism: gaussian, sigma: 3, sensitivity: 1",
        "name: p, reads: others, notion: pure, epsilon: 1",
        "name: z, reads: others, notion: zcdp, rho: 1/9",
    )
    few, every = advised(text), advised(text, True)
    assert len(few) == advising.MOST_TOLD < len(every) and few == every[: len(few)]
    after = [each.after for each in every]
    assert after == sorted(after) and len({(each.key, each.after) for each in every}) == len(every)


def test_a_large_spec_is_looked_at_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    text = CHANGES["bounded"][0]
    monkeypatch.setattr(advising, "EFFORT", 2)
    assert advised(text) == () and advised(text, True)


# --- the command ---------------------------------------------------------------------------------


def test_the_json_of_advice_is_rounded_to_the_safe_side() -> None:
    text = CHANGES["bounded"][0]
    output = run("analyze", "-", "--format", "json", stdin=text).stdout
    [result] = checked("result", output)["results"]
    first, found = result["advice"][0], advised(text)[0]
    assert found.saves is not None
    assert Fraction(str(first["after"])) >= found.after
    assert 0 < Fraction(str(first["saves"])) <= found.saves


@pytest.mark.parametrize("path", [*LIBRARY.values()], ids=lambda path: path.stem)
def test_advice_on_the_examples_keeps_its_word(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for each in advised(text):
        assert each.condition and each.places
        assert each.before is None or each.after < each.before


def test_what_is_advised_is_less_at_the_delta_that_is_asked_for() -> None:
    text = spec(
        "people: {}\nwards: {from: people, partition: {by: membership, blocks: 3, max_blocks: 3}}",
        "name: a, reads: people, notion: gdp, mu: 1",
        "name: b, reads: wards.*, notion: gdp, mu: 1",
        protect="unbounded",
        more="budget: {epsilon: 14, delta: 1e-6}\n",
    )
    found = run("analyze", "--delta", "0.01", "--format", "json", "-", stdin=text)
    told, level = json.loads(found.stdout)["results"][0]["advice"]
    assert level["key"] == "level" and level["write"][0]["says"] == "reads: people"
    assert told["number"] == "ε at δ = 0.01"
    # Two Gaussians of μ = 1: δ(ε) of μ = √2.
    normal, mu, epsilon = NormalDist(), 2**0.5, told["after"]
    delta = normal.cdf(mu / 2 - epsilon / mu)
    delta -= math.exp(epsilon) * normal.cdf(-mu / 2 - epsilon / mu)
    assert delta == pytest.approx(0.01, rel=1e-6)
