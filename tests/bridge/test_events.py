"""DpEvents and Opacus histories as specs: their bounds to the digit, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

import dpcompose
from bridge import record
from dpcompose.bridge import Unconvertible, from_event, from_opacus, spec_of_text
from dpcompose.source import load

RECORDED = record.RECORDED


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"class_name": f"{kind}DpEvent", **fields}


GAUSS = event("Gaussian", noise_multiplier=1.0)
LAPLACE = event("Laplace", noise_multiplier=1.0)
ANSWERS = event("RandomizedResponse", noise_parameter=0.5, num_buckets=2)
MOVED = {"sensitivity": "1"}


def without_replacement(of: int, size: int) -> dict[str, Any]:
    return event("SampledWithoutReplacement", source_dataset_size=of, sample_size=size, event=GAUSS)


def poisson(rate: object, inner: object) -> dict[str, Any]:
    return event("PoissonSampled", sampling_probability=rate, event=inner)


def copies(inner: object, count: object) -> dict[str, Any]:
    return event("SelfComposed", event=inner, count=count)


def composed(*events: object) -> dict[str, Any]:
    return event("Composed", events=list(events))


def epsilon(spec: str, delta: float | str = "1e-6") -> Fraction:
    report = dpcompose.analyze(spec, deltas=[delta])
    value = report.at_delta[0].value
    assert report.status == "ok" and value is not None
    return value


def tree(spec: str) -> Any:
    return load(spec, "spec").value


def shown(value: Fraction) -> str:
    """Six digits, rounded up, as screens show them."""
    return (
        f"{math.ceil(value * 10**4) / 10**4:.4f}"
        if value >= 10
        else (f"{math.ceil(value * 10**5) / 10**5:.5f}")
    )


# --- the cases of the contract --------------------------------------------------------------------

#: File, δ, ε as it is shown, and what dp_accounting's PLD (Opacus' PRV) says.
CASES = [
    ("training.opacus.json", "1e-5", "6.76879", 6.768787374),
    ("pld-two.event.json", "1e-6", "2.87578", 2.8757777),
    ("pld-six.event.json", "1e-6", "14.0901", 14.0900762),
    ("dpsgd.event.json", "1e-6", "1.01522", 1.0152154),
    ("answers.event.json", "1e-6", "18.8387", None),
    ("phases.opacus.json", "1e-5", "4.79412", 4.7941212),
]


@pytest.mark.parametrize(("file", "delta", "expected", "theirs"), CASES, ids=[c[0] for c in CASES])
def test_recorded_files_have_these_bounds(
    file: str, delta: str, expected: str, theirs: float | None
) -> None:
    found = epsilon(spec_of_text((RECORDED / file).read_text()), delta)
    assert shown(found) == expected
    assert theirs is None or float(found) <= theirs + 1e-6


@pytest.mark.parametrize("name", ["pld-two", "pld-six", "dpsgd", "answers"])
def test_fields_by_name_and_by_place_say_the_same(name: str) -> None:
    by_place, by_name = ((RECORDED / f"{name}.{end}.json") for end in ("event", "fields"))
    assert spec_of_text(by_place.read_text()) == spec_of_text(by_name.read_text())


def test_answers_are_counted_where_the_pld_of_dp_accounting_forgets_them() -> None:
    spec = spec_of_text((RECORDED / "answers.event.json").read_text())
    bound = dpcompose.analyze(spec).bound
    assert bound is not None and float(bound.value) == pytest.approx(20, abs=1e-12)
    assert tree(spec)["mechanisms"][0]["count"] == "20"


def test_the_library_writes_what_is_recorded() -> None:
    pytest.importorskip("dp_accounting")
    for name, live in record.events().items():
        text = (RECORDED / f"{name}.fields.json").read_text()
        assert record.as_mapping(live.to_named_tuple()) == json.loads(text)
        assert from_event(live) == from_event(live.to_named_tuple()) == spec_of_text(text)


@pytest.mark.slow
def test_pld_of_the_library_is_no_tighter() -> None:
    pld = pytest.importorskip("dp_accounting.pld.pld_privacy_accountant")
    for name, live in record.events().items():
        if name == "answers":
            continue  # it counts one of them
        accountant = pld.PLDAccountant()
        accountant.compose(live)
        theirs = accountant.get_epsilon(1e-6)
        assert theirs - 2e-4 < float(epsilon(from_event(live))) < theirs + 1e-7


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["ADD_OR_REMOVE_ONE", "REPLACE_ONE", "REPLACE_SPECIAL"])
@pytest.mark.parametrize("seed", range(4))
def test_random_trees_have_the_epsilon_of_the_library(relation: str, seed: int) -> None:
    d = pytest.importorskip("dp_accounting")
    random = Random(f"{relation} {seed}")

    def leaf() -> Any:
        noise = round(random.uniform(0.8, 5), 2)
        made = [d.GaussianDpEvent(noise), *(
            [d.LaplaceDpEvent(noise), d.dp_event.DiscreteLaplaceDpEvent(1 / noise, 2)]
            if relation != "REPLACE_ONE" else []
        )]  # fmt: skip
        drawn = d.PoissonSampledDpEvent(round(random.uniform(0.01, 0.5), 2), made[0])
        return random.choice([*made, d.SelfComposedDpEvent(drawn, random.randint(1, 30))])

    tree = d.ComposedDpEvent([leaf() for _ in range(random.randint(1, 3))])
    accountant = d.pld.PLDAccountant(d.NeighboringRelation[relation])
    accountant.compose(tree)
    theirs = accountant.get_epsilon(1e-6)
    mine = float(epsilon(from_event(tree, relation)))
    assert theirs - 2e-3 < mine < theirs + (0.02 if relation == "REPLACE_ONE" else 1e-6)


# --- each class -----------------------------------------------------------------------------------

#: Event, relation, and the mechanism that it becomes.
CLASSES: list[Any] = [
    (GAUSS, None, {"mechanism": "gaussian", "sigma": "1.0", "sensitivity": "1"}),
    (
        GAUSS,
        "REPLACE_ONE",
        {"mechanism": "gaussian", "sensitivity": {"unbounded": "1", "bounded": "2"}},
    ),
    (GAUSS, "REPLACE_SPECIAL", {"mechanism": "gaussian", "sensitivity": "1"}),
    (LAPLACE, None, {"mechanism": "laplace", "scale": "1.0", "sensitivity": "1"}),
    (
        event("DiscreteLaplace", noise_parameter=0.1, sensitivity=3),
        None,
        {"mechanism": "geometric", "scale": "1/0.1", "sensitivity": "3"},
    ),
    (
        event("DiscreteGaussian", sigma=2.5, sensitivity=2, dimension=3),
        None,
        {"mechanism": "discrete-gaussian", "sensitivity": {"l2": "2", "dimension": "3"}},
    ),
    (
        event("DiscreteGaussian", sigma=2.5, sensitivity=2, dimension=None),
        "bounded",
        {"sensitivity": {"unbounded": {"l2": "2"}, "bounded": {"l2": "4"}}},
    ),
    (event("EpsilonDelta", epsilon=0.5, delta=0), None, {"notion": "pure", "epsilon": "0.5"}),
    (event("EpsilonDelta", epsilon=0.5, delta=1e-9), None, {"notion": "approx", "delta": "1e-09"}),
    (event("ZC", rho=0.5), None, {"notion": "zcdp", "rho": "0.5"}),
    (event("ZC", rho=0.5, xi=0), "bounded", {"notion": "zcdp", "rho": "0.5"}),
    (event("ExponentialMechanism", epsilon=1), None, {"mechanism": "exponential", "epsilon": "1"}),
    (event("PermuteAndFlip", epsilon=1), None, {"mechanism": "permute-and-flip", "epsilon": "1"}),
    (
        event("SingleEpochTreeAggregation", noise_multiplier=2, step_counts=[3, 9, 4]),
        None,
        {"mechanism": "tree", "steps": "9", "sigma": "2", "sensitivity": "1"},
    ),
    (
        event("RepeatAndSelect", event=copies(GAUSS, 2), mean=20, shape=1),
        None,
        {"mechanism": "select", "runs": {"geometric": "20"}},
    ),
    pytest.param(
        event("RepeatAndSelect", event=LAPLACE, mean=20, shape=math.inf),
        None,
        {"runs": {"poisson": "20"}, "of": {"mechanism": "laplace", "scale": "1.0"} | MOVED},
        marks=pytest.mark.slow,
    ),
    (
        event("RepeatAndSelect", event=LAPLACE, mean=20, shape=0.0),
        None,
        {"runs": {"logarithmic": "20"}},
    ),
    (
        event("RepeatAndSelect", event=LAPLACE, mean=20, shape=0.5),
        None,
        {"runs": {"negative_binomial": {"shape": "0.5", "mean": "20"}}},
    ),
    (
        event("RandomizedResponse", noise_parameter=0.5, num_buckets=3),
        None,
        {"mechanism": "randomized-response", "k": "3", "lie": "0.5"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given", "relation", "expected"), CLASSES)
def test_each_class_has_its_word(
    given: dict[str, Any], relation: str | None, expected: dict[str, Any]
) -> None:
    spec = from_event(given, relation)
    (mechanism,) = tree(spec)["mechanisms"]
    assert {key: mechanism[key] for key in expected} == expected
    assert dpcompose.analyze(spec, deltas=["1e-6"]).status == "ok"


def test_cut_samples_and_samples_with_replacement() -> None:
    cut = event(
        "TruncatedSubsampledGaussian", dataset_size=1000, sampling_probability=0.1,
        truncated_batch_size=120, noise_multiplier=1,
    )  # fmt: skip
    spec = from_event(cut)
    assert "protect: zero-out" in spec and "poisson: 0.1, at_most: 120, of: 1000" in spec
    assert dpcompose.analyze(spec).status != "invalid"
    again = event("SampledWithReplacement", source_dataset_size=100, sample_size=10, event=LAPLACE)
    spec = from_event(again)
    assert "size: 10, of: 100, replacement: true" in spec and "protect: bounded" in spec
    assert dpcompose.analyze(spec).status == "ok"
    assert from_event(copies(cut, 3)).count("count: 3") == 1


#: Event, relation, what protects which number, without and with a loss at δ 1e-6.
BOUNDS = [
    (poisson(0.1, LAPLACE), None, "0.158566"),
    (LAPLACE, "REPLACE_ONE", "2"),
    (LAPLACE, None, "1"),
    (event("ExponentialMechanism", epsilon=2), "bounded", "2"),
    (event("SampledWithoutReplacement", source_dataset_size=100, sample_size=10, event=LAPLACE),
     None, str(math.log1p(0.1 * math.expm1(2)))),
]  # fmt: skip


@pytest.mark.parametrize(("given", "relation", "expected"), BOUNDS)
def test_pure_bounds_are_those_of_closed_forms(
    given: dict[str, Any], relation: str | None, expected: str
) -> None:
    bound = dpcompose.analyze(from_event(given, relation)).bound
    assert bound is not None and float(bound.value) == pytest.approx(float(expected), abs=2e-6)


def test_every_line_says_where_it_comes_from() -> None:
    for text in (from_event(composed(GAUSS, poisson(0.5, LAPLACE))), from_opacus(history())):
        lines = [each for each in text.splitlines() if each and not each.endswith(":")]
        assert all("  # " in each for each in lines if not each.startswith("title:"))
    assert "# from events[1].event: LaplaceDpEvent\n" in from_event(
        composed(GAUSS, poisson(0.5, LAPLACE))
    )


# --- composition and samples ----------------------------------------------------------------------


def test_counts_multiply_and_equal_parts_add_up() -> None:
    spec = from_event(composed(copies(copies(GAUSS, 3), 5), GAUSS, event("NoOp"), copies(GAUSS, 0)))
    assert [each["count"] for each in tree(spec)["mechanisms"]] == ["16"]


def test_what_is_composed_on_one_sample_reads_one_sample() -> None:
    """Two Gaussians of σ = 2 on one sample are one of σ = √2 on it, not two fresh samples."""
    two = event("Gaussian", noise_multiplier=2)
    other = event("Gaussian", noise_multiplier=2.0)
    one = event("Gaussian", noise_multiplier=1.4142135623730951)
    together = epsilon(from_event(copies(poisson(0.1, composed(two, other)), 100)))
    assert together == epsilon(from_event(copies(poisson(0.1, copies(two, 2)), 100)))
    assert float(together) == pytest.approx(
        float(epsilon(from_event(copies(poisson(0.1, one), 100))))
    )
    apart = epsilon(from_event(copies(composed(poisson(0.1, two), poisson(0.1, other)), 100)))
    assert float(apart) < 0.9 * float(together)


def test_several_copies_on_one_draw() -> None:
    """k copies on a sample that is drawn once are one Gaussian of σ/√k on it."""
    many = from_event(poisson(0.25, copies(event("Gaussian", noise_multiplier=20), 400)))
    assert tree(many)["datasets"]["sample"]["map"]["draws"] == "one"
    assert epsilon(many) == epsilon(from_event(poisson(0.25, GAUSS)))


def test_samples_of_samples_multiply_their_rates() -> None:
    nested = from_event(copies(poisson(0.5, poisson(0.25, GAUSS)), 10))
    one = epsilon(from_event(copies(poisson(0.125, GAUSS), 10)))
    # Two laws on two grids, both above the truth, which is between 4.09514 and 4.09564.
    assert abs(epsilon(nested) - one) < one * Fraction(1, 10**6)
    assert Fraction("4.0951397") < min(one, epsilon(nested))


def test_rates_of_one_and_of_none() -> None:
    assert epsilon(from_event(poisson(1, GAUSS))) == epsilon(from_event(GAUSS))
    with pytest.raises(Unconvertible, match="nothing is released"):
        from_event(poisson(0, GAUSS))


def test_equal_rates_of_different_noise_are_different_samples() -> None:
    spec = from_opacus({"history": [(1.0, 0.1, 10), (2.0, 0.1, 10), (1.0, 0.1, 5), (9.0, 0.1, 0)]})
    datasets = tree(spec)["datasets"]
    assert list(datasets) == ["rows", "batch", "batch_2"]
    assert [each["count"] for each in tree(spec)["mechanisms"]] == ["15", "10"]


# --- relations ------------------------------------------------------------------------------------


class Relation(NamedTuple):
    name: str


@dataclass
class Plan:
    """As the plan of jax_privacy has them."""

    dp_event: object
    neighboring_relation: object


@pytest.mark.parametrize(
    ("said", "given", "protect"),
    [
        (None, None, "unbounded"),
        ("REPLACE_SPECIAL", None, "zero-out"),
        (Relation("REPLACE_ONE"), None, "bounded"),
        (2, "bounded", "bounded"),
        (None, "ADD_OR_REMOVE_ONE", "unbounded"),
    ],
)
def test_the_relation_is_that_of_the_plan_or_the_call(
    said: object, given: str | None, protect: str
) -> None:
    spec = tree(from_event(Plan(GAUSS, said), given))
    assert spec["protect"] == protect
    assert ("because" in spec["datasets"]["rows"]) == (said is None and given is None)


def test_events_name_the_relation_that_they_are_for() -> None:
    grown = event("SingleEpochTreeAggregation", noise_multiplier=1, step_counts=4)
    assert tree(from_event(ANSWERS))["protect"] == "bounded"
    assert tree(from_event(grown))["protect"] == "zero-out"
    with pytest.raises(Unconvertible, match="different relations"):
        from_event(composed(ANSWERS, grown))


# --- what is refused ------------------------------------------------------------------------------

HUGE = copies(poisson(0.5, copies(GAUSS, 101)), 2)
DEEP = GAUSS
for _ in range(120):
    DEEP = copies(DEEP, 1)
#: What is given, the call's relation, and parts of the message.
REFUSED: list[tuple[Any, str | None, str]] = [
    (composed(GAUSS, event("NonPrivate")), None, r"events\[1\]: NonPrivateDpEvent .* no privacy"),
    (copies(event("NonPrivate"), 0), None, "NonPrivateDpEvent"),
    (poisson(0, event("NonPrivate")), None, "NonPrivateDpEvent"),
    (event("Unsupported"), None, "UnsupportedDpEvent"),
    (event("MixtureOfGaussians"), None, "mixture of Gaussians"),
    (event("TruncatedSubsampledGaussian"), None, "dataset_size"),
    (event("Gausian", noise_multiplier=1), None, "did you mean GaussianDpEvent"),
    (event("Gaussian", noise_multiplier=0), None, "noise_multiplier: it is 0"),
    (event("Gaussian", noise_multiplier=-1), None, "at least 0"),
    (event("Gaussian", noise_multiplier=math.nan), None, "finite"),
    (event("Gaussian", noise_multiplier=math.inf), None, "finite"),
    (event("Gaussian", noise_multiplier="1"), None, "a number is due, not the text"),
    (event("Gaussian", noise_multiplier=True), None, "not true"),
    (event("Gaussian", noise_multiplier=None), None, "not null"),
    (event("Gaussian"), None, "`noise_multiplier` is missing"),
    (event("Gaussian", noise_multiplier=1, bias=2), None, "has `bias`, which is not known"),
    (SimpleNamespace(class_name="GaussianDpEvent", _fields=("noise_multiplier", "bias")), None,
     "has `bias`"),
    (copies(GAUSS, -2), None, "count: a number of at least 0"),
    (copies(GAUSS, 2.5), None, "count: a whole number"),
    (poisson(1.5, GAUSS), None, "sampling_probability: a chance of at most 1"),
    (event("Composed", events=GAUSS), None, "events: a list is due, not a mapping"),
    (composed(GAUSS, 3), None, r"events\[1\]: an event is due"),
    (event("ZC", rho=1, xi=0.1), None, "ξ = 0.1"),
    (event("EpsilonDelta", epsilon=1, delta=1), None, "the spec language refuses this"),
    (ANSWERS, "unbounded", "one row replaced"),
    (event("RandomizedResponse", noise_parameter=0, num_buckets=2), None, "it is 0"),
    (without_replacement(9, 3), "zero-out", "one row replaced"),
    (without_replacement(9, 30), None, "more than the 9"),
    (composed(without_replacement(8, 1), without_replacement(9, 1)), None, "8 and 9 rows"),
    (event("RepeatAndSelect", event=poisson(0.5, GAUSS), mean=2, shape=1), None, "of its own"),
    (GAUSS, "edge", "`edge` is no relation"),
    ({"dp_event": GAUSS, "neighboring_relation": "REPLACE_ONE"}, "unbounded", "and the call"),
    ({"dp_event": GAUSS, "neighboring_relation": "OTHER"}, None, "`OTHER` is no relation"),
    (HUGE, None, "101 copies on each of 2 samples"),
    (DEEP, None, "nested deeper than 100"),
    (["m", "GaussianDpEvent", 1, 2], None, "has 1 fields, and here are 2"),
    (event("SingleEpochTreeAggregation", noise_multiplier=1, step_counts=["x"]), None,
     r"step_counts\[0\]: a number"),
    (poisson(0.5, event("SingleEpochTreeAggregation", noise_multiplier=1, step_counts=2)), None,
     "one sample for all of its steps"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "relation", "says"), REFUSED)
def test_what_has_no_word_is_refused(given: Any, relation: str | None, says: str) -> None:
    with pytest.raises(Unconvertible, match=says):
        from_event(given, relation)


def test_a_cycle_of_objects_is_refused() -> None:
    cycle = copies(None, 2)
    cycle["event"] = cycle
    with pytest.raises(Unconvertible, match="contains itself"):
        from_event(cycle)


@pytest.mark.slow
def test_a_bomb_of_shared_objects_is_refused() -> None:
    bomb = LAPLACE
    for rate in range(1, 30):
        bomb = composed(poisson(rate / 100, bomb), poisson(rate / 101, bomb))
    with pytest.raises(Unconvertible, match="more than 100000 events"):
        from_event(bomb)


# --- Opacus ---------------------------------------------------------------------------------------


def history(*steps: object) -> dict[str, Any]:
    return {"history": list(steps) or [[1.0, 0.1, 10]], "mechanism": "prv"}


def test_opacus_says_what_it_assumes() -> None:
    spec = from_opacus({**history(), "mechanism": "gdp"})
    assert "poisson_sampling=False" in tree(spec)["datasets"]["batch"]["because"]
    assert "below the truth" in spec
    assert "below the truth" not in from_opacus(history())
    report = dpcompose.analyze(spec)
    assert any("poisson_sampling" in str(each) for each in report.assumptions)


def test_opacus_objects_are_read() -> None:
    accountant = SimpleNamespace(history=[(1.0, 0.1, 10)])
    assert from_opacus(accountant) == from_opacus({"history": [[1.0, 0.1, 10]]})


def test_a_full_batch_is_no_sample() -> None:
    assert list(tree(from_opacus(history([1, 1, 4])))["datasets"]) == ["rows"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"mechanism": "rdp"}, "`history` is missing"),
        (history([1, 0.1]), r"history\[0\]: an entry is"),
        (history([1, 0.1, 1, 1]), r"history\[0\]: an entry is"),
        (history([0, 0.1, 1]), r"history\[0\]\[0\]: it is 0"),
        (history([1, 0, 1]), r"history\[0\]\[1\]: it is 0"),
        (history([1, 2, 1]), r"history\[0\]\[1\]: a chance"),
        (history([1, 0.1, 1.5]), r"history\[0\]\[2\]: a whole number"),
        (history([1, 0.1, -1]), r"history\[0\]\[2\]: a number of at least 0"),
        (history([1, math.nan, 1]), "finite"),
        ({"history": 3}, "history: a list is due"),
        ({"history": []}, "nothing is released"),
        (history([1, 0.1, 10**19]), "the spec language refuses this"),
    ],
)
def test_bad_histories_are_refused(given: Any, says: str) -> None:
    with pytest.raises(Unconvertible, match=says):
        from_opacus(given)


def test_opacus_protects_rows_that_come_and_go() -> None:
    with pytest.raises(Unconvertible, match="no relation here: unbounded"):
        from_opacus(history(), relation="bounded")


def test_the_recorded_files_are_all_read() -> None:
    for path in sorted(Path(RECORDED).glob("*.opacus.json")):
        assert spec_of_text(path.read_text()).startswith("dpcompose: 1")
