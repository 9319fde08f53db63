"""Specs from strangers that ask for an ε at a δ: an answer, a refusal or an error, and soon."""

from __future__ import annotations

import json
import time
from fractions import Fraction

import pytest
from asked import written
from volume import thinned

from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.layout import Style
from dpcompose.report import Report

MANY = 1_000_000_000
MOST_SECONDS = 60  # of the processor, on a machine that may be busy
LAPLACE = "mechanism: laplace, scale: 1, sensitivity: {unbounded: 1, bounded: 1}"
GAUSSIAN = "mechanism: gaussian, sigma: 2, sensitivity: {unbounded: 1, bounded: 1}"
PURE = "notion: pure, epsilon: 0.1"
SAMPLE = "r: {}\ns: {from: r, map: {kind: sample, poisson: 1/100}}"


def spec(*mechanisms: str, protect: str = "unbounded", datasets: str = "r: {}") -> str:
    """Mechanisms in YAML, each of which says what it reads."""
    return written(datasets, *mechanisms, protect=protect)


def examined(text: str, delta: str = "1e-6") -> Report:
    """The report, after checking what must hold of any: it is soon there and prints no nonsense."""
    start = time.process_time()
    report = analyze(text, deltas=[Fraction(delta)], epsilons=[Fraction(1)])
    assert time.process_time() - start < MOST_SECONDS
    assert "".join(renderer("text")([report], Style()))

    def nonsense(constant: str) -> None:
        raise AssertionError(f"{constant} in the JSON")

    json.loads("".join(renderer("json")([report], Style())), parse_constant=nonsense)
    for at in (*report.at_delta, *report.at_epsilon):
        assert at.value is None or at.value >= 0
    return report


def epsilon(report: Report) -> Fraction:
    (at,) = report.at_delta
    assert at.value is not None
    return Fraction(at.value)


# --- an answer that is known ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "finite"),
    [("1e-400", False), ("0", False), ("1e-300", False), ("1e-15", False), ("0.999999", True)],
)
@pytest.mark.parametrize("protect", ["unbounded", "bounded"])
def test_any_delta(protect: str, delta: str, finite: bool) -> None:
    """A stated δ of 1e-7 leaves no finite ε at a smaller one; near 1 nothing is told."""
    stated = "reads: r, notion: approx, epsilon: 0.1, delta: 1e-7"
    text = spec(f"reads: r, {LAPLACE}", f"reads: r, {GAUSSIAN}", stated, protect=protect)
    report = examined(text, delta)
    if finite:
        assert epsilon(report) == 0
    else:
        assert all(at.value is None for at in report.at_delta)


@pytest.mark.parametrize("size", ["1e9", "1e-300", "1e-400", "0"])
def test_any_epsilon(size: str) -> None:
    report = examined(spec(f"reads: r, notion: pure, epsilon: {size}", f"reads: r, {PURE}"))
    most = Fraction(size) + Fraction(1, 10)
    assert most - Fraction(1, 10**5) <= epsilon(report) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "least", "most"),
    [
        # ε = N(e^ε - 1)/(e^ε + 1) is lost on the average, and 5 standard deviations more.
        (PURE, 4995837, 5010850),
        ("notion: pure, epsilon: 1e-12", 0, 1e-3),
        ("notion: zcdp, rho: 1e-12", 0, 1),
        (GAUSSIAN, 10**9 / 8, 10**9 / 8 + 10**6),
        ("mechanism: discrete-gaussian, sigma: 100000, sensitivity: 1", 0.05, 2),
    ],
)
def test_a_billion_copies(mechanism: str, least: float, most: float) -> None:
    found = epsilon(examined(spec(f"reads: r, count: {MANY}, {mechanism}")))
    assert least <= found <= most


@pytest.mark.parametrize("mechanism", [LAPLACE, PURE])
def test_samples_that_nobody_is_in(mechanism: str) -> None:
    """A rate of 1e-30 in a billion samples: the chance to be in any is far below δ."""
    text = spec(f"reads: s, count: {MANY}, {mechanism}", datasets=sampled("1e-30"))
    report = examined(text)
    assert epsilon(report) < Fraction(1, 10**6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "least", "most"),
    [
        ("mechanism: gaussian, sigma: 1e-12", 0.5e24, 0.51e24),
        pytest.param("mechanism: gaussian, sigma: 1e12", 0, 0),
        ("mechanism: discrete-gaussian, sigma: 1e-12", 0, 0.51e24),
        ("mechanism: discrete-gaussian, sigma: 1e12", 0, 0),
    ],
)
def test_any_noise(mechanism: str, least: float, most: float) -> None:
    found = epsilon(examined(spec(f"reads: r, {mechanism}, sensitivity: 1")))
    assert least <= found <= most


@pytest.mark.parametrize("kind", ["laplace", "geometric"])
@pytest.mark.parametrize(
    ("scale", "most"), thinned([("1e-12", 1e12 + 6), ("1e12", 5), ("1e300", 5)])
)
def test_any_scale_beside_a_gaussian(kind: str, scale: str, most: float) -> None:
    noise = f"reads: r, mechanism: {kind}, scale: {scale}, sensitivity: 1"
    gaussian = "reads: r, mechanism: gaussian, sigma: 1, sensitivity: 1"
    found = epsilon(examined(spec(noise, gaussian)))
    assert max(1 / Fraction(scale), Fraction(4886, 1000)) - 1 <= found <= most


@pytest.mark.parametrize(
    ("alpha", "most"),
    thinned([("1e9", 0.1), ("1.0000001", 1.4e8), ("1.000000000000000000000000000001", 1.4e31)]),
)
def test_any_order_of_a_renyi_curve(alpha: str, most: float) -> None:
    report = examined(spec(f"reads: r, notion: rdp, points: [[{alpha}, 0.1]]"))
    assert 0 < epsilon(report) <= most


@pytest.mark.parametrize("distance", [3, 1000, MANY])
@pytest.mark.parametrize("relation", ["unbounded", "bounded"])
def test_any_group_over_a_gaussian_and_laplace_noise(relation: str, distance: int) -> None:
    sensitivity = "sensitivity: {unbounded: 1, bounded: 1}"
    text = spec(
        f"reads: r, mechanism: gaussian, sigma: 2e9, {sensitivity}",
        f"reads: r, mechanism: laplace, scale: 1e9, {sensitivity}",
        protect=f"{{relation: {relation}, distance: {distance}}}",
    )
    found = epsilon(examined(text))
    # At the largest distance μ = 1/2 and ε = 1.
    assert found <= 4 if distance == MANY else found < Fraction(1, 100)
    assert distance < MANY or found > 1


def test_answers_out_of_a_billion() -> None:
    response = f"mechanism: randomized-response, epsilon: 1, k: {MANY}, count: 100"
    assert epsilon(examined(spec(f"reads: r, {response}", protect="bounded"))) <= 100


def test_a_profile_of_a_thousand_points_is_used() -> None:
    points = ", ".join(f"[{i}/100, 1/{(2 + i) ** 3}]" for i in range(1000))
    found = epsilon(examined(spec(f"reads: r, notion: profile, points: [{points}]")))
    assert found <= Fraction(98, 100) + Fraction(1, 10**4)  # 1/100³ is its δ there


# --- whatever the answer, it comes soon ----------------------------------------------------------


def sampled(rate: str) -> str:
    return f"r: {{}}\ns: {{from: r, map: {{kind: sample, poisson: {rate}}}}}"


def nested(depth: int) -> str:
    rows = "\n".join(
        f"s{i}: {{from: {f's{i - 1}' if i else 'r'}, map: {{kind: sample, poisson: 0.5}}}}"
        for i in range(depth)
    )
    return f"r: {{}}\n{rows}"


def alone(noise: str, count: int = 1, reads: str = "r") -> str:
    return f"reads: {reads}, count: {count}, mechanism: {noise}, sensitivity: 1"


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            spec(*(f"reads: s{i}, {GAUSSIAN}" for i in range(5)), datasets=nested(5)),
            id="samples in samples",
        ),
        pytest.param(
            spec(*(f"reads: s{i}, {GAUSSIAN}" for i in range(10)), datasets=nested(10)),
            id="more samples in samples",
            marks=pytest.mark.long,
        ),
        pytest.param(
            spec(f"reads: s, {GAUSSIAN}", protect=f"{{relation: unbounded, distance: {MANY}}}",
                 datasets=SAMPLE),
            id="a billion rows in a sample",
        ),
        pytest.param(
            spec("reads: r, mechanism: geometric, scale: 1e9, sensitivity: 1e9",
                 f"reads: r, {GAUSSIAN}"),
            id="geometric noise of sensitivity a billion",
        ),
    ],
)  # fmt: skip
def test_large_numbers_end_soon(text: str) -> None:
    examined(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            spec(f"reads: s, {GAUSSIAN}, count: {MANY}", datasets=sampled("1e-400")),
            id="samples at a rate below any double",
        ),
        pytest.param(
            spec(alone("gaussian, sigma: 1e-12", 1000, "s"), datasets=SAMPLE),
            id="little noise on a sample",
        ),
        *(
            pytest.param(
                spec(alone(f"{noise}: 1e-300"), f"reads: r, {GAUSSIAN}"),
                id=f"tiny {noise}",
            )
            for noise in (
                "gaussian, sigma",
                "discrete-gaussian, sigma",
                "laplace, scale",
                "geometric, scale",
            )
        ),
        pytest.param(
            spec(alone("discrete-gaussian, sigma: 1e300")),
            id="huge discrete noise",
        ),
        pytest.param(
            spec(
                "reads: r, notion: rdp, points: [[1e300, 0.1], [2, 0.5]]",
                f"reads: r, {GAUSSIAN}",
                f"reads: r, {LAPLACE}",
            ),
            id="a huge order",
        ),
    ],
)
def test_numbers_beyond_doubles_are_no_fault(text: str) -> None:
    examined(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("blocks", "most"), [(300, 40), pytest.param(5000, 365, marks=pytest.mark.long)]
)
def test_many_blocks_with_an_epsilon_of_their_own_end_soon(blocks: int, most: int) -> None:
    text = spec(
        *(f"reads: p.{i}, {PURE}{i + 1:04}, relation: unbounded" for i in range(blocks)),
        protect="bounded",
        datasets="r: {}\np: {from: r, partition: "
        f"{{by: membership, blocks: {blocks}, max_blocks: {most}}}}}",
    )
    assert epsilon(examined(text)) > 1
