"""ε at a chosen δ through the whole tool, against printed and independently computed numbers."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from asked import numbers, spec
from conftest import LIBRARY
from mpmath import mp, mpf
from tables import filled, tables
from volume import thinned

import dpcompose
from dpcompose.curves.answers import epsilon_at
from dpcompose.curves.curve import Curve
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.report import At, Report
from dpcompose.resolve import resolve
from dpcompose.source import load

TABLES = tables(__file__)


TABLE = "dpcompose: 1\nprotect: {protect}\ndatasets:\n  people: {{}}\n{datasets}mechanisms:\n"


def analyze(
    mechanisms: str, *deltas: str, protect: str = "unbounded", datasets: str = ""
) -> Report:
    """The report of mechanisms that read `people`, one a line, with ε at the δ's."""
    lines = "".join(
        f"  - {{name: m{i}, {line}}}\n" for i, line in enumerate(mechanisms.strip().splitlines())
    )
    text = TABLE.format(protect=protect, datasets=datasets) + lines
    return dpcompose.analyze(text, deltas=[Fraction(delta) for delta in deltas])


def epsilon(mechanisms: str, delta: str, protect: str = "unbounded", datasets: str = "") -> At:
    """The number at one δ."""
    (at,) = analyze(mechanisms, delta, protect=protect, datasets=datasets).at_delta
    return at


def close(at: At, expected: str, relative: float = 1e-9) -> None:
    """Not below the expected digits (the last may be rounded), and hardly above."""
    assert at.value is not None
    digits = len(expected.replace(".", "").lstrip("0"))
    shown = Fraction(expected)
    unit = Fraction(1, 10 ** len(expected.partition(".")[2]))
    assert at.value >= shown - unit / 2, (digits, float(at.value))
    assert at.value <= (shown + unit / 2) * (1 + Fraction(relative)), float(at.value)


PEOPLE = "reads: people, "


@pytest.mark.parametrize(("mechanism", "delta", "expected"), TABLES["one mechanism"])
def test_one_kind_of_mechanism(mechanism: str, delta: str, expected: str) -> None:
    # Laplace noise is put on a grid.
    within = 1e-6 if "laplace" in mechanism else 1e-9
    close(epsilon(PEOPLE + mechanism, delta), expected, within)


@pytest.mark.parametrize(("text", "row"), filled(TABLES["compositions"]))
def test_compositions(text: str, row: dict[str, Any]) -> None:
    protect, datasets = row.get("protect", "unbounded"), row.get("datasets", "")
    for delta, expected in row["at"].items():
        close(epsilon(text, delta, protect, datasets), expected, row.get("within", 1e-9))


def test_many_small_epsilons_are_never_looser_than_their_sum() -> None:
    at = epsilon(PEOPLE + "notion: pure, epsilon: 1e-5, count: 1000", "1e-6")
    assert at.value is not None and at.value <= Fraction(1, 100)


def test_no_slack_in_delta() -> None:
    # Four reports of (1.2, 1e-10): the budget of 4e-10 leaves next to nothing.
    at = epsilon(PEOPLE + "notion: approx, epsilon: 1.2, delta: 1e-10, count: 4", "4e-10")
    assert at.value is not None and Fraction("4.799999") < at.value <= Fraction("4.8")


def test_delta_below_the_stated_one_has_no_finite_epsilon() -> None:
    at = epsilon(PEOPLE + "notion: approx, epsilon: 1, delta: 1e-3, count: 2", "1e-3")
    assert at.value is None


def test_delta_zero_is_the_sum() -> None:
    assert epsilon(PEOPLE + "notion: pure, epsilon: 0.1, count: 10", "0").value == 1


SAMPLE = "  batch: {from: people, map: {kind: sample, poisson: %s}}\n"


def test_what_reads_one_sample_is_amplified_once() -> None:
    two = "reads: batch, notion: pure, epsilon: 1\nreads: batch, notion: pure, epsilon: 1"
    report = analyze(two, datasets=SAMPLE % "0.1")
    assert report.bound is not None
    assert report.bound.value == pytest.approx(0.4940287080, rel=1e-9)


def test_mean_of_a_sample_without_replacement() -> None:
    text = (
        "dpcompose: 1\nprotect: bounded\ndatasets:\n"
        "  people: {domain: fixed-size-table, size: 100}\n"
        "  few: {from: people, map: {kind: sample, size: 10, of: 100}}\n"
        "mechanisms:\n"
        "  - {name: mean, reads: few, mechanism: laplace, scale: 0.5, sensitivity: {bounded: 1}}\n"
    )
    report = dpcompose.analyze(text)
    assert report.bound is not None
    assert report.bound.value == pytest.approx(0.49402870804, rel=1e-9)


def test_sampled_customers() -> None:
    lines = "\n".join(
        [
            "reads: batch, notion: pure, epsilon: 0.1",
            "reads: batch, notion: pure, epsilon: 0.2",
            "reads: batch, notion: approx, epsilon: 4, delta: 4.08e-8",
            "reads: batch, notion: pure, epsilon: 1.25",
            "reads: batch, notion: pure, epsilon: 1.25",
        ]
    )
    report = analyze(lines, datasets=SAMPLE % "0.124")
    assert report.bound is not None and report.bound.delta is not None
    assert report.bound.value == pytest.approx(4.7203638, rel=1e-7)
    assert report.bound.delta == pytest.approx(5.0592e-9, rel=1e-7)


def test_the_worst_change_depends_on_delta() -> None:
    hospitals = (
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  patients: {}\n"
        "  hospital: {from: patients, "
        "partition: {by: membership, blocks: 5000, max_blocks: 365}}\n"
        "mechanisms:\n"
        "  - {name: s, reads: hospital.*, notion: pure, epsilon: 0.01, relation: unbounded}\n"
    )
    (at,) = dpcompose.analyze(hospitals, deltas=[Fraction("1e-6")]).at_delta
    # With randomized response of 0.02 in each of 365 blocks it would be 1.67233831930177.
    close(at, "1.667663163431724")
    assert any("365" in line for line in at.worst)


def test_a_distance_in_a_metric_is_no_number_of_steps() -> None:
    # All values may lie at two places that are 2 apart, with randomized response of 2 there.
    nearest = "  v: {from: people, map: {kind: value, metric: euclidean, diameter: 2}}\n"
    at = epsilon("reads: v, notion: pure, epsilon: 1, relation: euclidean", "0.1", datasets=nearest)
    close(at, str(round(math.log(math.exp(2) - 0.1 * (1 + math.exp(2))), 11)))


def census() -> list[Fraction]:
    """ρ of each of the 65 queries of the 2020 Census, as its production configuration has them."""
    text = LIBRARY["census-2020-redistricting-persons"].read_text(encoding="utf-8")
    problem = resolve(load(text, "census")).problem
    return [
        statement.guarantee.value
        for mechanism in problem.mechanisms()
        for statement in mechanism.statements
    ]


@pytest.mark.slow
def test_census_as_zcdp_and_as_discrete_gaussians() -> None:
    queries, delta = census(), Fraction("1e-10")
    assert len(queries) == 65
    assert sum(queries) == Fraction(293764, 114921)
    # A changed record moves by one in two cells, each with noise of variance 1/ρ.
    counts = Counter(DiscreteGaussianLoss(1, 1 / rho) for rho in queries)
    composition = Curve(tuple((part, 2 * n) for part, n in counts.items()))
    found = epsilon_at(composition, delta)
    assert found is not None
    assert 16.46399 < found.upper < 16.4667


def test_the_rows_of_a_capped_user_do_not_fill_all_blocks() -> None:
    text = (
        "dpcompose: 1\nprotect: user\ndatasets:\n  t: {unit: u}\n"
        "  c: {from: t, map: {kind: cap, rows: 3, keep: random}}\n"
        "  p: {from: c, partition: {by: value, blocks: [x, y], max_rows_per_block: 2}}\n"
        "mechanisms:\n"
        "  - {name: a, reads: p.x, notion: pure, epsilon: 1, relation: unbounded}\n"
        "  - {name: b, reads: p.y, notion: pure, epsilon: 1, relation: unbounded}\n"
    )
    # Three rows are two in one block and one in the other, never two in both.
    report = dpcompose.analyze(text, deltas=[Fraction(0), Fraction("0.1")], epsilons=[Fraction(3)])
    zero, large = report.at_delta
    assert zero.value == 3
    assert large.value is not None and large.value < 3
    # Where a statement is used over two steps, no mechanism is known to lose so much.
    assert large.lower is None
    assert report.at_epsilon[0].value == 0


def test_rows_that_answer_by_themselves_compose() -> None:
    answer = PEOPLE + "mechanism: randomized-response, epsilon: 0.3, k: 4"
    two_rows = epsilon(answer, "1e-3", protect="{relation: bounded, distance: 2}")
    two_copies = epsilon(answer + ", count: 2", "1e-3", protect="bounded")
    assert two_rows.value == two_copies.value


@pytest.mark.slow
def test_rdp_at_distance_two_by_the_weak_triangle_inequality() -> None:
    curve = PEOPLE + "notion: rdp, points: [[2, 0.5], [8, 2], [32, 9]]"
    at = epsilon(curve, "1e-5", protect="{relation: unbounded, distance: 2}")
    assert at.value is not None and 7 < at.value < 7.43


def renyi_over_steps(points: list[tuple[float, float]], steps: int, delta: float) -> float:
    """The ε of a Rényi curve over some steps: its profile's power function, put into itself."""
    orders = np.linspace(points[0][0], points[-1][0], 101 if len(points) > 1 else 1)
    chords = np.interp(orders, [a for a, _ in points], [(a - 1) * e for a, e in points])
    at = np.linspace(0, 45, 45_001)
    logs = chords - (orders - 1) * at[:, None] - np.log(orders - 1) + orders * np.log1p(-1 / orders)
    profile = np.minimum(1, np.exp(logs.min(axis=1)))
    start = levels = np.exp(np.linspace(-50, -1e-4, 600))
    for _ in range(steps):
        rows = [(profile + np.exp(at) * x).min() for x in levels]
        others = [(1 - np.exp(-at) * (1 - profile - x)).min() for x in levels]
        levels = np.minimum(1, np.minimum(rows, others))
    low, high = 0.0, 45.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        over = (levels - np.exp(middle) * start).max() > delta
        low, high = (middle, high) if over else (low, middle)
    return high


@pytest.mark.parametrize(
    ("points", "steps", "delta"),
    thinned(
        [
            ([(2, 0.1), (4, 0.2)], 3, "0.01"),
            ([(2, 0.1)], 2, "0.01"),
            ([(2, 0.1), (4, 0.2)], 2, "0.01"),
            ([(2, 0.1)], 2, "1e-3"),
        ],
        4,
    ),
)
def test_a_renyi_curve_over_steps_is_its_power_function(
    points: list[tuple[float, float]], steps: int, delta: str
) -> None:
    curve = f"{PEOPLE}notion: rdp, points: {[list(each) for each in points]}"
    at = epsilon(curve, delta, protect=f"{{relation: unbounded, distance: {steps}}}")
    expected = renyi_over_steps(points, steps, float(delta))
    # Fewer levels than all make the expected number no larger.
    assert at.value is not None and expected * (1 - 1e-6) <= at.value <= expected * (1 + 1e-3)


def test_a_bounded_statement_over_a_poisson_sample_thins_the_whole_profile() -> None:
    text = (
        "dpcompose: 1\nprotect: bounded\ndatasets:\n  t: {}\n"
        "  s: {from: t, map: {kind: sample, poisson: 0.2}}\n"
        "mechanisms:\n  - {name: a, reads: s, notion: pure, epsilon: 1}\n"
    )
    report = dpcompose.analyze(text, deltas=[Fraction("0.1")], epsilons=[Fraction("0.1")])
    # A fifth of δ = tanh(1/2) at ε = 0, and of (e - e^0.1)/(1 + e) at ε = 0.1.
    assert report.at_delta[0].value == 0
    value = report.at_epsilon[0].value
    exact = 0.2 * (math.e - math.exp(0.1)) / (1 + math.e)
    assert value is not None and exact <= value <= exact * (1 + 1e-9)


def two_rows_replaced(rate: float, epsilon: float) -> float:
    """δ of N(k, 1) with k of two rows in the sample, each row 1, against the same with -1."""

    def mixture(x: float, sign: int) -> float:
        chances = ((1 - rate) ** 2, 2 * rate * (1 - rate), rate * rate)
        return sum(p * math.exp(-((x - sign * k) ** 2) / 2) for k, p in enumerate(chances))

    width = 1e-3
    return sum(
        max(0.0, mixture(n * width, 1) - math.exp(epsilon) * mixture(n * width, -1))
        for n in range(-12_000, 14_000)
    ) * (width / math.sqrt(2 * math.pi))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protect", "above"),
    [
        ("{relation: bounded, distance: 2}", "filter"),
        ("bounded", "flatten, max_rows: 2"),
        ("bounded", "stable, stability: 2"),
    ],
)
def test_a_path_whose_steps_differ_has_a_bound_without_a_pure_loss(
    protect: str, above: str
) -> None:
    """A replaced row may be replaced below, or added, or removed."""
    datasets = (
        f"  made: {{from: people, map: {{kind: {above}}}}}\n"
        "  batch: {from: made, map: {kind: sample, poisson: 0.1}}\n"
    )
    line = "reads: batch, mechanism: gaussian, sigma: 1, sensitivity: 1"
    at = epsilon(line, "1e-6", protect, datasets)
    assert at.value is not None
    assert two_rows_replaced(0.1, float(at.value)) <= 1e-6
    assert at.value < 19


# --- several guarantees of one mechanism ---------------------------------------------------------


def below_both(delta: str) -> mpf:
    """The least ε of what is 1-DP and ½-GDP at a δ: below the chord from (e, 0) to the Gaussian.

    In y = e^ε a profile is convex, and at y = e it is 0; so it lies below the line through (e, 0)
    and any point of the Gaussian curve, and the lowest such line is the tangent.
    """

    def gaussian(y: mpf) -> mpf:
        epsilon, mu = mp.log(y), mpf("0.5")
        return mp.ncdf(mu / 2 - epsilon / mu) - y * mp.ncdf(-mu / 2 - epsilon / mu)

    def slope(y: mpf) -> mpf:
        return gaussian(y) / (mp.e - y)

    low, high = mpf(1), mp.e
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if slope(one) > slope(two) else (low, two)
    wanted = mpf(delta)
    if gaussian(low) <= wanted:
        return mp.log(mp.findroot(lambda y: gaussian(y) - wanted, mpf("1.5")))
    return mp.log(mp.e - wanted / slope(low))


TWO_GUARANTEES = """\
dpcompose: 1
protect: unbounded
datasets: {people: {}}
mechanisms:
  - name: m
    reads: people
    count: COUNT
    guarantees: [{notion: pure, epsilon: 1}, {notion: gdp, mu: 0.5}]
"""


@pytest.mark.parametrize("delta", thinned(["0.1", "0.05", "0.01", "1e-3", "1e-6"]))
def test_several_guarantees_of_one_mechanism_hold_together(delta: str) -> None:
    text = TWO_GUARANTEES.replace("COUNT", "1")
    (at,) = dpcompose.analyze(text, deltas=[Fraction(delta)]).at_delta
    truth = below_both(delta)
    assert at.value is not None
    assert truth <= mpf(at.value.numerator) / at.value.denominator <= truth * (1 + mpf("1e-4"))


@pytest.mark.parametrize("count", [2, 10, 100])
def test_together_they_are_never_looser_than_each_alone(count: int) -> None:
    text = TWO_GUARANTEES.replace("COUNT", str(count))
    pure = text.replace(", {notion: gdp, mu: 0.5}", "")
    gaussian = text.replace("{notion: pure, epsilon: 1}, ", "")
    deltas = [Fraction("1e-3"), Fraction("1e-8")]
    both, *alone = (
        dpcompose.analyze(each, deltas=deltas).at_delta for each in (text, pure, gaussian)
    )
    for together, *apart in zip(both, *alone, strict=True):
        values = [each.value for each in apart if each.value is not None]
        assert together.value is not None and together.value <= min(values)


# --- several rows through a sample ---------------------------------------------------------------

FIVE = """\
dpcompose: 1
protect: {relation: unbounded, distance: 5}
datasets:
  people: {}
  s: {from: people, map: {kind: sample, poisson: RATE}}
mechanisms:
  - {name: m, reads: SOURCE, mechanism: gaussian, sigma: 1, sensitivity: 1, count: 3}
"""


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["1", "0.9", "0.5", "0.01"])
def test_a_sample_never_makes_a_group_worse_than_no_sample(rate: str) -> None:
    deltas = [Fraction("1e-2"), Fraction("1e-6")]
    whole, sampled = (
        dpcompose.analyze(FIVE.replace("RATE", rate).replace("SOURCE", source), deltas=deltas)
        for source in ("people", "s")
    )
    for plain, amplified in zip(whole.at_delta, sampled.at_delta, strict=True):
        assert plain.value is not None and amplified.value is not None
        assert amplified.value <= plain.value
        if rate == "1":
            assert amplified.value == plain.value


@pytest.mark.slow
def test_the_derivation_counts_all_rows_of_a_group() -> None:
    """Where many rows are protected, only some numbers of drawn rows are told apart."""
    text = FIVE.replace("distance: 5", "distance: 400").replace("RATE", "1/200")
    report = dpcompose.analyze(text.replace("SOURCE", "s"), deltas=[Fraction("1e-6")])
    assert "400 rows through a sample" in str(report.to_dict())


@pytest.mark.parametrize("kinds", ["{a: [b]}", "{a: [b], c: [b]}", "{a: [b], c: [b, d]}"])
def test_a_block_that_every_kind_feeds_keeps_a_replaced_row(kinds: str) -> None:
    stated = "notion: pure, epsilon: 1"
    found = []
    for made in (f"partition: {{by: kinds, kinds: {kinds}}}", "map: {kind: row}"):
        below = "below.b" if "kinds" in made else "below"
        text = spec(
            f"reads: rows, {stated}",
            f"reads: {below}, {stated}",
            protect="bounded",
            datasets=f"below: {{from: rows, {made}}}",
            more="report: {delta: 0.1, epsilon: 0.5}",
        )
        found.append(numbers(text))
    assert found[0] == found[1]
    # Two randomized responses of ε = 1: losses 2, 0 and -2.
    p = math.e / (1 + math.e)
    assert float(found[0][1]) == pytest.approx(p**2 - math.exp(0.5) * (1 - p) ** 2, rel=1e-9)


@pytest.mark.slow
def test_a_way_of_which_little_is_known_roughly_is_kept() -> None:
    """Below a rare sample every rough bound is far above the bound of the first way."""
    report = dpcompose.analyze(
        "dpcompose: 1\nprotect: {relation: bounded, distance: 2}\ndatasets:\n  p: {}\n"
        "  s: {from: p, map: {kind: sample, poisson: 1e-6}}\nmechanisms:\n"
        "  - {name: m, reads: s, mechanism: discrete-gaussian, sigma: 2, sensitivity: {one_hot: 1},"
        " count: 2}\nreport: {delta: 1e-9}\n"
    )
    assert report.at_delta[0].value is not None
