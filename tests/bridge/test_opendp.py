"""Measurements and tables of OpenDP as specs: bounds to the digit, and what is refused."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

import dpcompose
from bridge import record
from dpcompose.bridge import Unconvertible, from_opendp, from_summary, spec_of_text
from dpcompose.bridge.opendp import _snake
from dpcompose.source import load

RECORDED = record.RECORDED


def read(name: str) -> str:
    return (RECORDED / name).read_text()


def tree(spec: str) -> Any:
    return load(spec, "spec").value


def bound(spec: str) -> Fraction:
    report = dpcompose.analyze(spec)
    assert report.status == "ok" and report.bound is not None
    return report.bound.value


def made(function: str, **kwargs: Any) -> dict[str, Any]:
    return {"__function__": function, "__kwargs__": kwargs, "__version__": "0.16.0"}


SYMMETRIC = made("symmetric_distance")
ROWS = made("vector_domain", atom_domain=made("atom_domain", T="i32", bounds=None), size=None)
SIZED = made("vector_domain", atom_domain=made("atom_domain", T="i32", bounds=None), size=50)
COUNT = made("make_count", input_domain=ROWS, input_metric=SYMMETRIC, TO="i32")


def clamp(low: float, high: float) -> dict[str, Any]:
    bounds = {"__tuple__": [low, high]}
    return made("make_clamp", input_domain=ROWS, input_metric=SYMMETRIC, bounds=bounds)


def total(of: str = "i32") -> dict[str, Any]:
    domain = made("vector_domain", atom_domain=made("atom_domain", T=of), size=None)
    return made("make_sum", input_domain=domain, input_metric=SYMMETRIC)


def noise(function: str = "make_laplace", scale: object = 5.0, **more: Any) -> dict[str, Any]:
    return made(function, scale=scale, k=None, MO="MaxDivergence", **more)


def chain(*steps: dict[str, Any]) -> dict[str, Any]:
    *before, measurement = steps
    first, *rest = before
    for each in rest:
        first = made("make_chain_tt", transformation0=first, transformation1=each)
    return made("make_chain_mt", transformation0=first, measurement1=measurement)


# --- the cases of the contract --------------------------------------------------------------------


def test_a_composition_costs_what_its_map_says() -> None:
    spec = spec_of_text(read("composition.opendp.json"))
    assert bound(spec) == 3
    assert dpcompose.analyze(spec).at_delta[0].given == Fraction(1, 10**6)  # a usual one
    assert "# from measurements[1].measurement1: make_clamp, make_sum, make_laplace\n" in spec


def test_contributions_of_a_unit() -> None:
    spec = spec_of_text(read("essential.summary.csv"), contributions=36)
    assert bound(spec) == Fraction(1, 5)
    assert tree(spec)["protect"] == "user"


def test_a_gaussian_behind_casts_is_kept() -> None:
    report = dpcompose.analyze(spec_of_text(read("casting.opendp.json"), deltas=["1e-6"]))
    (at,) = report.at_delta
    assert at.value is not None and report.bound is not None
    assert float(at.value) == pytest.approx(10.9971512, abs=5e-8)
    assert report.bound.value == 2  # μ


def test_randomized_response() -> None:
    found = bound(spec_of_text(read("response.opendp.json")))
    assert float(found) == pytest.approx(1.0986122886681098, abs=1e-15)


@pytest.mark.parametrize("name", ["composition", "casting", "response", "amplified", "budgets"])
def test_live_objects_give_the_spec_of_their_json(name: str) -> None:
    pytest.importorskip("opendp")
    live, text = record.measurements()[name], read(f"{name}.opendp.json")
    mine, theirs = (tree(from_opendp(each)) for each in (live, text))
    assert mine["mechanisms"] == theirs["mechanisms"] and mine["protect"] == theirs["protect"]


def test_the_library_writes_what_is_recorded() -> None:
    dp = pytest.importorskip("opendp.prelude")
    for name, live in record.measurements().items():
        assert json.loads(dp.serialize(live)) == json.loads(read(f"{name}.opendp.json"))


def test_pure_bounds_are_those_of_live_maps() -> None:
    pytest.importorskip("opendp")
    for name in ("composition", "response", "amplified", "budgets", "mean"):
        live = record.measurements()[name]
        assert float(bound(from_opendp(live))) == pytest.approx(live.map(1), rel=1e-12)


# --- aggregates and noise -------------------------------------------------------------------------

#: What is measured, the mechanism that it becomes, and its pure bound.
AGGREGATES = [
    (chain(COUNT, noise()), {"mechanism": "geometric", "scale": "5.0"}, "1/5"),
    (chain(COUNT, noise("make_geometric", bounds=None)), {"mechanism": "geometric"}, "1/5"),
    (chain(COUNT | {"__kwargs__": {**COUNT["__kwargs__"], "TO": "f64"}}, noise()),
     {"mechanism": "laplace"}, "1/5"),
    (chain(clamp(0, 10), total(), noise()), {"sensitivity": "10"}, "2"),
    (chain(clamp(-20, 10), total(), noise()), {"sensitivity": "20"}, "4"),
    (chain(clamp(3, 10), made("make_drop_null"), total(), noise()), {"sensitivity": "10"}, "2"),
    (chain(made("make_cast_default", input_domain=ROWS, input_metric=SYMMETRIC, TOA="i32"),
           clamp(0, 2), total(), noise()), {"sensitivity": "2"}, "2/5"),
    (chain(made("make_count_by_categories", input_domain=ROWS, input_metric=SYMMETRIC,
                categories=[1, 2], TOA="i32", MO="L1Distance<i32>"), noise()),
     {"sensitivity": {"one_hot": "1"}}, "1/5"),
    (made("make_pureDP_to_zCDP", measurement=chain(COUNT, noise())), {}, "1/5"),
    (made("make_chain_pm", postprocess1=None, measurement0=chain(COUNT, noise())), {}, "1/5"),
    (made("make_chain_mt", transformation0=clamp(0, 10), measurement1=made(
        "make_composition", measurements=[chain(total(), noise()), chain(total(), noise())])),
     {"sensitivity": "10"}, "4"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "expected", "epsilon"), AGGREGATES)
def test_sensitivities_are_those_of_aggregates(
    given: dict[str, Any], expected: dict[str, Any], epsilon: str
) -> None:
    spec = from_opendp(json.dumps(given))
    mechanism = tree(spec)["mechanisms"][0]
    assert {key: mechanism[key] for key in expected} == expected
    assert bound(spec) == Fraction(epsilon)


def test_tables_of_public_size_protect_replaced_rows() -> None:
    first = clamp(-20, 10)
    first["__kwargs__"]["input_domain"] = SIZED
    spec = from_opendp(chain(first, total(), noise()))
    assert tree(spec)["protect"] == "bounded"
    assert tree(spec)["datasets"]["rows"] == {"domain": "fixed-size-table", "size": "50"}
    assert bound(spec) == 6  # 10 + 20
    dropped = from_opendp(chain(first, made("make_drop_null"), clamp(15, 20), total(), noise()))
    assert bound(dropped) == 4  # a row that passes, or not


def resize(constant: int) -> dict[str, Any]:
    return made("make_resize", size=50, constant=constant, MO="SymmetricDistance")


def test_a_row_more_replaces_one_of_a_resized_table() -> None:
    spec = from_opendp(chain(clamp(5, 15), resize(5), total(), noise()))
    assert bound(spec) == 2  # 15 - 5, where without resize() it is 15
    with pytest.raises(Unconvertible, match="not known here"):
        from_opendp(chain(clamp(5, 15), resize(99), total(), noise()))
    categories = made("make_count_by_categories", categories=[1], TOA="i32")
    with pytest.raises(Unconvertible, match="not known here"):
        from_opendp(chain(clamp(5, 15), resize(5), categories, noise()))


def test_contributions_multiply_what_is_stated_for_one_row() -> None:
    scores = live("make_scores", 1, input_domain=ROWS, input_metric=SYMMETRIC)
    best = made("make_noisy_max", scale=2.0, output_measure=made("max_divergence"))
    given = live("make_chain_mt", 1.0, transformation0=scores, measurement1=best)
    assert bound(from_opendp(given)) == 1
    assert bound(from_opendp(given, contributions=4)) == 4
    assert bound(from_opendp(live("make_user_measurement", 0.5), contributions=4)) == 2
    counts = made("make_count_by", input_domain=ROWS, input_metric=SYMMETRIC, TV="i32")
    keys = chain(counts, noise("make_laplace_threshold", 8.0, threshold=500))
    assert bound(from_opendp(keys, contributions=4)) == Fraction(1, 2)
    histogram = made("make_count_by_categories", input_domain=ROWS, input_metric=SYMMETRIC,
                     categories=[1], TOA="i32")  # fmt: skip
    assert bound(from_opendp(chain(histogram, noise(scale=8)), contributions=4)) == Fraction(1, 2)


def test_only_all_that_is_measured_is_amplified() -> None:
    amplified = json.loads(read("amplified.opendp.json"))
    with pytest.raises(Unconvertible, match=r"measurements\[0\]: a sample of all"):
        from_opendp(made("make_composition", measurements=[amplified]))


def test_gaussian_noise_is_whole_or_not() -> None:
    whole = from_opendp(chain(COUNT, noise("make_gaussian")))
    assert tree(whole)["mechanisms"][0]["mechanism"] == "discrete-gaussian"
    assert tree(spec_of_text(read("casting.opendp.json")))["mechanisms"][0]["sigma"] == "0.5"


def test_thresholds_on_the_counts_of_unknown_keys() -> None:
    counts = made("make_count_by", input_domain=ROWS, input_metric=SYMMETRIC, TV="i32")
    spec = from_opendp(chain(counts, noise("make_laplace_threshold", 2.0, threshold=50)))
    report = dpcompose.analyze(spec)
    assert report.bound is not None and report.bound.value == Fraction(1, 2)
    # P(1 + noise ≥ 50) of geometric noise; OpenDP 0.16.0 says P(1 + noise > 50).
    tail = math.exp(-49 / 2) / (1 + math.exp(-1 / 2))
    assert float(report.bound.delta or 0) == pytest.approx(tail, rel=1e-6)
    assert tail * math.exp(-1 / 2) == pytest.approx(8.644751581243781e-12, rel=1e-9)


def test_amplified_measurements_read_a_sample() -> None:
    spec = spec_of_text(read("amplified.opendp.json"))
    expected = math.log1p(0.1 * math.expm1(0.5))
    assert float(bound(spec)) == pytest.approx(expected, rel=1e-12)


# --- live objects by duck typing ------------------------------------------------------------------


def live(function: str, mapped: object = None, **kwargs: Any) -> Any:
    found = SimpleNamespace(
        __opendp_dict__={"__function__": function, "__kwargs__": kwargs},
        input_metric="SymmetricDistance()",
        input_domain="VectorDomain(AtomDomain(T=i32))",
        output_measure="MaxDivergence",
    )
    if mapped is not None:
        found.map = mapped if callable(mapped) else lambda d_in: mapped
    return found


def test_an_unknown_live_measurement_is_stated_by_its_map() -> None:
    spec = from_opendp(live("make_user_measurement", 0.7))
    assert bound(spec) == Fraction(7, 10)
    assert "because" in tree(spec)["mechanisms"][0]
    for measure, found, notion in (
        ("ZeroConcentratedDivergence", 0.5, "zcdp"),
        ("Approximate(MaxDivergence)", (0.5, 1e-9), "approx"),
        ("SmoothedMaxDivergence", SimpleNamespace(epsilon=lambda delta: 2 * delta), "profile"),
    ):
        given = live("make_user_measurement", lambda d_in, found=found: found)
        given.output_measure = measure
        assert tree(from_opendp(given, deltas=["1e-6"]))["mechanisms"][0]["notion"] == notion


def test_many_unknown_measurements_are_each_stated() -> None:
    unknown = [live("make_chain_mt", 0.25, transformation0=COUNT, measurement1=noise("make_own"))]
    spec = from_opendp(made("make_composition", measurements=unknown * 150))
    assert bound(spec) == Fraction(150, 4)


def test_a_number_is_taken_to_move_by_one() -> None:
    given = live("make_canonical_noise", 0.5)
    given.input_metric = "AbsoluteDistance(f64)"
    assert "moves by 1" in tree(from_opendp(given))["datasets"]["rows"]["because"]
    given.input_metric = "SymmetricIdDistance(identifier=id)"
    with pytest.raises(Unconvertible, match="summarize"):
        from_opendp(given)


def test_tables_of_public_size_have_no_neighbours_at_distance_one() -> None:
    """A mean of a sized table has map(1) = 0, which bounds nothing: two tables differ by 2."""
    given = live("make_user_measurement", lambda d_in: 0.25 * (d_in // 2))
    given.input_domain = "VectorDomain(AtomDomain(T=f64), size=10)"
    spec = from_opendp(given)
    assert bound(spec) == Fraction(1, 4) and tree(spec)["protect"] == "bounded"


def test_a_live_transformation_says_what_is_not_known_of_it() -> None:
    mean = live("make_mean", lambda d_in: 0.125 * d_in, input_domain=ROWS, input_metric=SYMMETRIC)
    laplace = live("make_laplace", 3.0, scale=0.5, input_domain="AtomDomain(T=f64)")
    whole = live("make_chain_mt", 3.0, transformation0=mean, measurement1=laplace)
    assert bound(from_opendp(whole)) == Fraction(1, 4)


def test_a_live_map_above_the_sensitivity_is_believed() -> None:
    count = live("make_count", 2, **COUNT["__kwargs__"])
    whole = live("make_chain_mt", 0.4, transformation0=count, measurement1=noise())
    spec = from_opendp(whole)
    assert tree(spec)["mechanisms"][0]["notion"] == "pure" and bound(spec) == Fraction(2, 5)
    whole.map = None
    with pytest.raises(Unconvertible, match="is 2, and 1 was expected"):
        from_opendp(whole)


def test_metrics_are_named_as_they_are_printed() -> None:
    assert _snake("SymmetricDistance()") == "symmetric_distance"
    assert _snake("AbsoluteDistance(f64)") == "absolute_distance"


# --- tables ---------------------------------------------------------------------------------------


def test_thresholds_and_sums_of_a_table() -> None:
    spec = spec_of_text(read("groups.summary.json"), contributions=36, sensitivities={"age": "100"})
    report = dpcompose.analyze(spec)
    assert report.bound is not None and report.bound.delta is not None
    assert float(report.bound.value) == pytest.approx(0.2, abs=1e-12)
    assert 0 < report.bound.delta < 1e-7
    assert [each["mechanism"] for each in tree(spec)["mechanisms"]] == [
        "noisy-histogram", "geometric",
    ]  # fmt: skip


def test_a_data_frame_is_read_by_its_rows() -> None:
    rows = [
        {"column": "a", "aggregate": "Length", "distribution": "Float Gaussian", "scale": 2.0},
        {"column": "a", "aggregate": "Length", "distribution": "Float Laplace", "scale": 2},
        {"column": "a", "aggregate": "Length", "distribution": "Integer Gaussian", "scale": 2},
    ]
    frame = SimpleNamespace(to_dicts=lambda: rows)
    assert from_summary(frame) == from_summary(rows)
    found = [each["mechanism"] for each in tree(from_summary(frame))["mechanisms"]]
    assert found == ["gaussian", "laplace", "discrete-gaussian"]


# --- what is refused ------------------------------------------------------------------------------

DEEP: dict[str, Any] = COUNT
for _ in range(150):
    DEEP = made("make_chain_tt", transformation0=DEEP, transformation1=COUNT)
CASTS = chain(COUNT, noise())
for _ in range(150):
    CASTS = made("make_approximate", measurement=CASTS)
REFUSED: list[tuple[Any, str]] = [
    ({}, "made by a constructor of OpenDP"),
    (3, "made by a constructor of OpenDP"),
    (made("make_nothing"), "`input_metric` is missing"),
    (made("make_lapace", input_domain=ROWS, input_metric=SYMMETRIC, scale=1), "`make_lapace`"),
    (chain(COUNT, made("make_private_quantile", scale=1.0)), "no word in specs"),
    (chain(COUNT, noise(scale=0)), "measurement1.scale: it is 0"),
    (chain(COUNT, noise(scale=-1)), "measurement1.scale: a number of at least 0"),
    (chain(COUNT, noise(scale="1")), "measurement1.scale: a number is due"),
    (chain(COUNT, noise() | {"__kwargs__": {"scale": 1.0, "k": 3}}), "coarser grid"),
    (chain(total("f64"), noise()), "how far one row moves"),
    (chain(clamp(0, 1), total("f64"), noise()), "not known here"),
    (chain(total(), noise()), "not known here"),
    (chain(clamp(0, 10), made("make_cast", TOA="i32"), total(), noise()), "not known here"),
    (chain(made("make_user_transformation", input_domain=ROWS, input_metric=SYMMETRIC), COUNT,
           noise()), "not known here"),
    (chain(clamp(3, 1), total(), noise()), "the lower one first"),
    (chain(COUNT | {"__kwargs__": {**COUNT["__kwargs__"], "input_metric": made("frame_distance")}},
           noise()), "`frame_distance` is no change of rows"),
    (made("make_composition", measurements=[chain(COUNT, noise()),
                                            made("make_randomized_response_bool", prob=0.75)]),
     "different input metrics"),
    (made("make_composition", measurements=3), "measurements: a list is due"),
    (made("make_composition", measurements=[]), "nothing is released"),
    (made("make_randomized_response_bool", prob=1.5), "at most 1"),
    (made("make_randomized_response_bool", prob=1), "the spec language refuses this"),
    (chain(COUNT, made("make_randomized_response_bool", prob=0.75)), "it has transformations"),
    (made("make_adaptive_composition", input_domain=ROWS, input_metric=SYMMETRIC, d_in=36,
          output_measure=made("max_divergence"), d_mids=[1]), "d_in: queries"),
    (made("make_adaptive_composition", input_domain=ROWS, input_metric=SYMMETRIC, d_in=1,
          output_measure=made("renyi_divergence"), d_mids=[1]), "`renyi_divergence`"),
    (made("make_population_amplification", measurement=chain(COUNT, noise()),
          population_size=100), "size of the sample"),
    (made("make_fully_adaptive_composition", input_domain=ROWS, input_metric=SYMMETRIC), "no word"),
    (made("make_chain_mt", transformation0=DEEP, measurement1=noise()), "nested deeper"),
    (CASTS, "nested deeper"),
    ({"__function__": 3}, "__function__: a text is due"),
    ({"__function__": "make_composition", "__kwargs__": 3}, "`measurements` is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "says"), REFUSED)
def test_what_has_no_word_is_refused(given: Any, says: str) -> None:
    with pytest.raises(Unconvertible, match=says):
        from_opendp(given)


def test_a_mean_needs_the_live_object() -> None:
    with pytest.raises(Unconvertible, match="measurement1: how far one row moves") as refused:
        spec_of_text(read("mean.opendp.json"))
    assert "map(1)" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"distribution": "GumbelMin"}, "`GumbelMin` is not known"),
        ({"aggregate": "Sum"}, "--sensitivity age"),
        ({"scale": None}, "scale: a number is due, not null"),
        ({"distribution": "Integer Gaussian", "threshold": 9}, "threshold"),
        ({"column": 3}, "column: a text is due"),
    ],
)
def test_bad_rows_are_refused(row: dict[str, Any], says: str) -> None:
    usual = {"column": "age", "aggregate": "Length", "distribution": "Integer Laplace", "scale": 2}
    with pytest.raises(Unconvertible, match=says):
        from_summary([{**usual, **row}])


def test_contributions_are_of_rows_that_come_and_go() -> None:
    with pytest.raises(Unconvertible, match="rows come and go"):
        from_opendp(read("response.opendp.json"), contributions=3)
    spec = from_opendp(chain(COUNT, noise(scale=180)), contributions=36)
    assert bound(spec) == Fraction(1, 5)
