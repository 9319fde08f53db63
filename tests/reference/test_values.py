"""The reference values: their form, their recipes, and what dpcompose answers to each."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from volume import thinned

from dpcompose.pipeline import analyze
from dpcompose.report import Report

from . import recipes
from .recipes import Value, f

#: What share above the upper end an answer may be, by the beginning of the id; else the last one.
NEAR = {
    "sampled/": 1e-5,
    "cyclic/": 1e-5,
    "allocated/": 1.5e-4,
    # A power function that is certified at finitely many points, and a grid of its losses.
    "selection/gdp-1:4-poisson": 1e-3,
    "selection/gdp": 5e-5,
    "shuffled/": 1e-4,
    # The product form of the theorem, and not the largest over the number of new keys.
    "thresholds/gaussian-5-30-keys-1-delta": 0.2,
    "thresholds/": 1e-4,
    "": 1e-6,
}
NOTIONS = ("pure", "approx", "zcdp", "gdp")
#: Quick enough to be computed again in every run; the others by hand or with the slow tests.
QUICK = {
    "normal",
    "Laplace divergence",
    "bounded range",
    "correlated",
    "batches",
    "keys kept",
    "sampled once",
}
VALUES = recipes.load()
#: What dpcompose has no question for.
UNASKED = {value["id"] for value in VALUES if value["asked"] == "kept"}

#: More than half a second each.
SLOW = ("selection/gdp", "risk/advantage-of-dp-sgd", "allocated/", "trees/steps-1000-restarted")
values = pytest.mark.parametrize(
    "value",
    [
        pytest.param(each, marks=[pytest.mark.slow] if each["id"].startswith(SLOW) else [])
        for each in VALUES
    ],
    ids=lambda value: value["id"],
)


def mechanism(entry: Value, protect: str) -> Value:
    """A mechanism of a spec for one of a value."""
    kind = entry["mechanism"]
    if kind in NOTIONS:
        found = {"notion" if key == "mechanism" else key: each for key, each in entry.items()}
    elif kind == "select":
        runs = entry["runs"]
        if "stop" in runs:
            runs = {"until_threshold": {"stop": runs["stop"]}}
        elif "mean" in runs:
            runs = {"negative_binomial": runs}
        found = {"mechanism": "select", "of": mechanism(entry["of"], protect), "runs": runs}
    else:
        found = dict(entry)
    if kind == "exponential":
        found["sensitivity"] = 1
    if kind == "discrete-gaussian":
        found["sensitivity"] = {"l1": found["sensitivity"]}
    if "sensitivity" in found and protect == "bounded":
        found["sensitivity"] = {"bounded": found["sensitivity"]}
    return found


def spec_of(value: Value) -> dict[str, Any]:
    """The spec that asks dpcompose for a value."""
    people: dict[str, Any] = {}
    if value["protect"] == "zero-out":
        people["domain"] = "fixed-size-table"
    datasets: dict[str, Any] = {"people": people}
    entries = [mechanism(entry, value["protect"]) for entry in value["mechanisms"]]
    read = "people"
    if "sample" in value:
        read = "drawn"
        datasets[read] = {"from": "people", "map": {"kind": "sample", **value["sample"]}}
    if "allocation" in value:
        read = "bins"
        datasets[read] = {"from": "people", "map": {"kind": "allocate", **value["allocation"]}}
    if "epochs" in value:
        read = "batch"
        datasets[read] = {"from": "people", "map": {"kind": "batches", "epochs": value["epochs"]}}
    if "reports" in value:
        read = "reports"
        datasets[read] = {
            "from": "people",
            "map": {"kind": "shuffle", "reports": value["reports"]},
        }
        entries = [
            {**each, "local": True} if each.get("notion") == "pure" else each for each in entries
        ]
    return {
        "dpcompose": 1,
        "protect": {"relation": value["protect"], "distance": value.get("distance", 1)},
        **({"adaptivity": "parameters"} if "filter" in value else {}),
        "datasets": datasets,
        "mechanisms": [{"name": f"m{n}", "reads": read, **each} for n, each in enumerate(entries)],
    }


def asked(value: Value, **more: Any) -> Report:
    spec = spec_of(value)
    if value["asked"] == "hits":
        spec["report"] = {"risk": {"false_alarms": [value["at"]["false_alarms"]]}}
    elif value["asked"] == "advantage":
        spec["report"] = {"risk": {}}
    found = analyze(json.dumps(spec), **more)
    assert found.status in ("ok", "no-guarantee"), [each.message for each in found.findings]
    return found


def answer(value: Value) -> Fraction:
    """What dpcompose says."""
    at = value.get("at", {})
    if value["asked"] in ("rho", "mu"):
        found = asked(value, limit={value["asked"]: 10**6}).verdict
        assert found is not None and found.slack is not None
        return 10**6 - found.slack
    if value["asked"] in ("advantage", "hits"):
        risk = asked(value).risk
        assert risk is not None
        if value["asked"] == "advantage":
            return risk.advantage
        return dict(risk.hits)[f(at["false_alarms"])]
    if at.get("delta") == "0":
        bound = asked(value).bound
        assert bound is not None and not bound.delta
        return bound.value
    if "delta" in at:
        [point] = asked(value, deltas=[at["delta"]]).at_delta
    else:
        [point] = asked(value, epsilons=[at["epsilon"]]).at_epsilon
    assert point.value is not None
    return point.value


@values
def test_an_answer_is_within_both_ends(value: Value) -> None:
    """Never below what is attained, and not above what is proved beyond a stated share."""
    if value["id"] in UNASKED:
        pytest.skip("dpcompose has no question for it")
    lower, upper = f(value["lower"]), f(value["upper"])
    near = next(share for start, share in NEAR.items() if value["id"].startswith(start))
    upper *= 1 + Fraction(near)
    if "filter" in value:
        # A filter has no number of its own: a budget of the upper end lets all through, and none
        # below the lower one does.
        for epsilon, fits in ((upper, True), (lower * (1 - Fraction(near)), False)):
            budget = {"epsilon": epsilon, "delta": value["at"]["delta"]}
            verdict = asked(value, limit=budget).verdict
            assert verdict is not None and verdict.ok == fits
        return
    assert lower <= answer(value) <= upper


@pytest.mark.parametrize(
    "value",
    thinned(each for each in VALUES if each["recipe"] in QUICK),
    ids=lambda each: each["id"],
)
def test_a_value_is_what_its_recipe_gives(value: Value) -> None:
    assert recipes.ends(value) == (value["lower"], value["upper"])


@pytest.mark.long  # it tests the values alone
@pytest.mark.parametrize(
    "value", [each for each in VALUES if each["recipe"] not in QUICK], ids=lambda each: each["id"]
)
def test_a_value_is_what_its_recipe_gives_in_time(value: Value) -> None:
    # Transforms in doubles differ in their last digits from one machine to another.
    found = [float(each) for each in recipes.ends(value)]
    near = 1e-7 if value["recipe"] == "grid" else 1e-14
    assert found == pytest.approx([float(value["lower"]), float(value["upper"])], rel=near)


def test_the_values_keep_to_their_schema() -> None:
    document = json.loads(recipes.VALUES.read_text(encoding="utf-8"))
    schema = recipes.VALUES.with_name(document["$schema"])
    jsonschema.validate(document, json.loads(schema.read_text(encoding="utf-8")))
    names = [value["id"] for value in VALUES]
    assert len(set(names)) == len(names) >= 200
    assert all(f(value["lower"]) <= f(value["upper"]) for value in VALUES)
    assert {value["recipe"] for value in VALUES} == set(recipes.RECIPES)


def test_the_recipes_owe_nothing_to_dpcompose() -> None:
    folder = recipes.VALUES.parent
    for name in ("recipes", "curves", "lattice", "orders", "powers"):
        assert "from dpcompose" not in (folder / f"{name}.py").read_text(encoding="utf-8")


def test_every_recipe_every_key_and_every_library_is_told() -> None:
    page = recipes.VALUES.with_name("README.md").read_text(encoding="utf-8")
    entries = [entry for value in VALUES for entry in value["mechanisms"]]
    words = {key for value in VALUES for key in value} | {key for each in entries for key in each}
    words |= {entry["mechanism"] for entry in entries} | {value["asked"] for value in VALUES}
    words |= set(recipes.RECIPES)
    assert not [word for word in sorted(words) if f"`{word}`" not in page]
