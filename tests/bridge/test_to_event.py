"""Specs as DpEvents: what they say is what the spec says, and there and back is no change."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from asked import spec
from command import run

import dpcompose
from dpcompose.bridge import Unconvertible, from_event, to_event

pytestmark = pytest.mark.usefixtures("home")

SPECS = Path(__file__).parents[2] / "specs"
HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets:\n  rows: {}\n"


def epsilon(text: str) -> Fraction:
    value = dpcompose.analyze(text, deltas=["1e-6"]).at_delta[0].value
    assert value is not None
    return value


def event_of(*mechanisms: str, **more: str) -> Any:
    return to_event(spec(*mechanisms, **more))["dp_event"]


FAMILIES = [
    ("mechanism: gaussian, sigma: 3, sensitivity: 1.5", "Gaussian", {"noise_multiplier": 2.0}),
    ("mechanism: laplace, scale: 3, sensitivity: 2", "Laplace", {"noise_multiplier": 1.5}),
    ("mechanism: geometric, scale: 4, sensitivity: 3", "DiscreteLaplace",
     {"noise_parameter": 0.25, "sensitivity": 3}),
    ("mechanism: discrete-gaussian, sigma: 4, sensitivity: {l2: 3}", "DiscreteGaussian",
     {"sigma": 4.0, "sensitivity": 3.0, "dimension": None}),
    ("mechanism: exponential, epsilon: 1/2, sensitivity: 1", "ExponentialMechanism",
     {"epsilon": 0.5}),
    ("mechanism: noisy-max, noise: gumbel, epsilon: 1/2", "ExponentialMechanism",
     {"epsilon": 0.5}),
    ("mechanism: permute-and-flip, epsilon: 1/2", "PermuteAndFlip", {"epsilon": 0.5}),
    ("mechanism: tree, steps: 9, sigma: 5, sensitivity: 2", "SingleEpochTreeAggregation",
     {"noise_multiplier": 2.5, "step_counts": 9}),
    ("mechanism: tree, steps: 9, sigma: 5, sensitivity: 2, restarts: 2",
     "SingleEpochTreeAggregation", {"noise_multiplier": 2.5, "step_counts": [9, 9, 9]}),
    ("notion: pure, epsilon: 1/2", "EpsilonDelta", {"epsilon": 0.5, "delta": 0.0}),
    ("notion: approx, epsilon: 1/2, delta: 1e-7", "EpsilonDelta", {"epsilon": 0.5, "delta": 1e-7}),
    ("notion: zcdp, rho: 1/2", "ZC", {"rho": 0.5, "xi": 0.0}),
    ("notion: gdp, mu: 1/2", "Gaussian", {"noise_multiplier": 2.0}),
    ("mechanism: gaussian, sigma: 3, sensitivity: 0", "NoOp", {}),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "kind", "fields"), FAMILIES)
def test_each_family_has_its_event(mechanism: str, kind: str, fields: dict[str, Any]) -> None:
    found = event_of(f"reads: rows, {mechanism}")
    assert found == {
        "module_name": "dp_accounting.dp_event",
        "class_name": f"{kind}DpEvent",
        **fields,
    }


def test_randomized_response_has_its_lie() -> None:
    answers = "reads: rows, mechanism: randomized-response, k: 4, lie: 1/3"
    found = event_of(answers, protect="bounded")
    assert found["num_buckets"] == 4
    assert 1 / 3 - 1e-9 < found["noise_parameter"] <= 1 / 3


ALL = spec(
    "reads: rows, mechanism: laplace, scale: 3, sensitivity: 1.5, count: 3",
    "reads: drawn, mechanism: gaussian, sigma: 1.3, sensitivity: 1, count: 30",
    "reads: drawn, mechanism: gaussian, sigma: 2.3, sensitivity: 1, count: 10",
    "reads: once, mechanism: geometric, scale: 7, sensitivity: 2, count: 2",
    "reads: every, notion: zcdp, rho: 1/30",
    "reads: rows, notion: approx, epsilon: 1/3, delta: 1e-9",
    "reads: rows, mechanism: tree, steps: 9, sigma: 9, sensitivity: 1",
    "reads: rows, mechanism: permute-and-flip, epsilon: 0.2",
    "reads: rows, mechanism: select, of: {mechanism: gaussian, sigma: 9, sensitivity: 1}, "
    "runs: {geometric: 4}",
    protect="zero-out",
    root="{domain: fixed-size-table}",
    datasets="  drawn: {from: rows, map: {kind: sample, poisson: 1/30}}\n"
    "  once: {from: rows, map: {kind: sample, poisson: 0.3, draws: one}}\n"
    "  every: {from: rows, map: {kind: sample, poisson: 1}}\n",
)


def test_there_and_back() -> None:
    event = to_event(ALL)
    assert event["neighboring_relation"] == "REPLACE_SPECIAL"
    before, again = epsilon(ALL), epsilon(from_event(json.loads(json.dumps(event))))
    assert before <= again < before * (1 + Fraction(1, 10**9))


def test_copies_of_one_draw_and_of_many() -> None:
    """Copy i of each mechanism reads the i-th draw: 10 draws for two, 20 more for one."""
    events = to_event(ALL)["dp_event"]["events"]
    drawn = [each for each in events if each["class_name"] == "SelfComposedDpEvent"][1:]
    assert [(each["count"], each["event"]["event"]["class_name"]) for each in drawn] == [
        (10, "ComposedDpEvent"), (20, "GaussianDpEvent"),
    ]  # fmt: skip


def test_the_library_composes_what_is_written() -> None:
    pytest.importorskip("dp_accounting")
    import dp_accounting

    event = to_event(dpcompose.example("dp-sgd"))["dp_event"]

    def live(found: Any) -> Any:
        if isinstance(found, dict):
            fields = {key: live(value) for key, value in found.items() if key[-5:] != "_name"}
            return getattr(dp_accounting, found["class_name"])(**fields)
        return found

    accountant = dp_accounting.pld.PLDAccountant()
    accountant.compose(live(event))
    assert accountant.get_epsilon(1e-5) == pytest.approx(2.3816, abs=1e-3)


def test_numbers_are_rounded_to_the_safe_side() -> None:
    third = event_of("reads: rows, mechanism: gaussian, sigma: 1/3, sensitivity: 1")
    assert Fraction(repr(third["noise_multiplier"])) <= Fraction(1, 3)
    loss = event_of("reads: rows, notion: pure, epsilon: 1/3")
    assert Fraction(repr(loss["epsilon"])) >= Fraction(1, 3)


GAUSS = "reads: rows, mechanism: gaussian, sigma: 1, sensitivity: {unbounded: 1, bounded: 2}"
REFUSED = [
    (spec("reads: b.*, notion: pure, epsilon: 1",
          datasets="  b: {from: rows, partition: {by: value, blocks: 3}}\n"), "no partitions"),
    (spec("reads: b, notion: pure, epsilon: 1", datasets="  b: {from: rows, map: filter}\n"),
     "a filter"),
    (spec("reads: b, notion: pure, epsilon: 1", root="{unit: u}", protect="user",
          datasets="  b: {from: rows, map: {kind: cap, rows: 3, keep: random}}\n"), "`user` neigh"),
    (spec(GAUSS, protect="{relation: unbounded, distance: 2}"), "no word for `unbounded`"),
    (spec(GAUSS, datasets="  other: {}\n"), "several roots"),
    (spec(GAUSS, protect="bounded"), "accountants of dp_accounting disagree"),
    (spec(GAUSS.replace("reads: rows", "reads: s"), protect="bounded",
          datasets="  s: {from: rows, map: {kind: sample, poisson: 0.5}}\n"), "Poisson samples"),
    (spec(GAUSS.replace("reads: rows", "reads: t"),
          datasets="  s: {from: rows, map: {kind: sample, poisson: 0.5}}\n"
          "  t: {from: s, map: {kind: sample, poisson: 0.5}}\n"), "made from this sample"),
    (spec(GAUSS.replace("reads: rows", "reads: s"),
          datasets="  s: {from: rows, map: {kind: sample, poisson: 0.5, cycle: 4}}\n"), "this map"),
    (spec("reads: rows, notion: rdp, alpha: 2, epsilon: 1"), "guarantee in Rényi"),
    (spec("reads: rows, notion: pure, epsilon: 1, relation: bounded"), "not for one step"),
    (spec("reads: rows, mechanism: top-k, k: 3, epsilon: 1, noise: gumbel"), "no word for this"),
    (spec("reads: rows, mechanism: tree, steps: 9, participations: 2, sigma: 1, sensitivity: 1"),
     "no word for this: tree"),
    (spec("reads: rows, notion: pure, epsilon: 1")
     + "adaptivity: parameters\nbudget: {epsilon: 1}\n", "chosen on the way"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_what_events_cannot_say_is_refused(text: str, says: str) -> None:
    assert dpcompose.analyze(text).status != "invalid"
    with pytest.raises(Unconvertible, match=says):
        to_event(text)


@pytest.mark.slow
def test_every_example_is_written_or_refused() -> None:
    for path in sorted(SPECS.rglob("*.yaml")):
        try:
            found = to_event(path.read_text(), path.name)
        except Unconvertible as error:
            assert str(error)
        else:
            assert set(found) == {"neighboring_relation", "dp_event"}


# --- the command ----------------------------------------------------------------------------------


def test_the_format_is_a_line_for_each_spec() -> None:
    result = run(
        "analyze", "-", "--format", "event", "--delta", "1e-6", stdin=f"{ALL}---\n{REFUSED[0][0]}"
    )
    first, second = map(json.loads, result.stdout.splitlines())
    assert first == {"file": "<stdin>", **to_event(ALL)}
    assert second["refused"] == "b: events have no partitions" and "flat" in second["hint"]
    assert result.exit_code == 0


def test_what_is_written_is_imported() -> None:
    Path("dp-sgd.yaml").write_text(dpcompose.example("dp-sgd"), encoding="utf-8")
    assert run("analyze", "dp-sgd.yaml", "--format", "event", "-o", "event.json").exit_code == 0
    assert run("import", "event.json", "-o", "again.dp.yaml", "--delta", "1e-5").exit_code == 0
    quiet = run("analyze", "-q", "again.dp.yaml")
    assert quiet.stdout.startswith("epsilon=2.381") and quiet.exit_code == 0


def test_an_invalid_spec_is_told_on_standard_error() -> None:
    result = run("analyze", "-", "--format", "event", stdin=f"{HEAD}mechanisms: [{{nam: x}}]\n")
    assert json.loads(result.stdout)["refused"] == "the spec is invalid"
    assert result.exit_code == 3 and "error[DPC102]: a mechanism needs" in result.stderr
