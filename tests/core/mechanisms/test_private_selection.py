"""The best of a random number of runs: against the contract's numbers and against exact laws."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from asked import bound, numbers, report, spec
from reference.finite_laws import worse
from scipy.optimize import brentq
from scipy.stats import norm
from volume import thinned

import dpcompose
from dpcompose import curves
from dpcompose.core.mechanisms import private_selection
from dpcompose.core.mechanisms.private_selection import Selected, stop_of
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Curve
from dpcompose.planning import scaling
from dpcompose.report import Bound
from dpcompose.source import load

F = Fraction
_DELTA = F(1, 10**6)


def best_of(of: str, runs: str, protect: str = "unbounded", more: str = "") -> str:
    """The best of some runs of a mechanism."""
    return spec(f"mechanism: select, of: {of}, runs: {runs}", protect=protect, more=more)


def selected(law: str, mean: float | Fraction, shape: Fraction, *of: Guarantee) -> Selected:
    stop = stop_of(shape, F(mean)) if law == "negative_binomial" else F(0)
    return Selected(law, F(mean), shape, stop, of)


def pure(epsilon: str) -> Guarantee:
    return Guarantee(Notion.PURE, F(epsilon))


# --- many unlike runs -----------------------------------------------------------------------------


def test_runs_of_unlike_mechanisms_are_composed_once() -> None:
    """One run is known by points of its profile: each of them holds, and no ε is much larger."""
    scales = (10, 20, 33, 41, 57)
    run = curves.compose(*(curves.laplace(scale) for scale in scales))
    points = curves.by_points(run)
    assert len(points.parts) == 1
    for epsilon in ("0", "0.03", "0.11", "0.19", "0.2222"):
        truth, found = (float(each.delta(epsilon=epsilon)) for each in (run, points))
        assert truth <= found * (1 + 1e-9)
        assert found <= truth * 1.001
    each = ", ".join(f"{{mechanism: laplace, scale: {s}, sensitivity: 1}}" for s in scales)
    text = best_of(f"[{each}]", "{geometric: 10}", more="report: {delta: 1e-6}")
    total = sum(1 / scale for scale in scales)
    [least] = map(float, numbers(text))
    assert total < least <= float(bound(text)) <= 3 * total


# --- numbers computed elsewhere, by the formulas at 25 digits -------------------------------------


@pytest.mark.parametrize(
    ("runs", "epsilon"),
    [
        ("{geometric: 10}", 2.59134407832),
        ("{geometric: 100}", 2.95370423426),
        ("{until_threshold: {stop: 0.1}}", 1.79567203916),
        ("{until_threshold: {stop: 0}}", 2),
        ("{logarithmic: 3.90865033712927}", 1.79567203916),
        ("{negative_binomial: {shape: 1/2, mean: 6.58113883008419}}", 2.19350805874),
        ("{poisson: 5}", 3.31058578630),
    ],
)
def test_the_best_of_pure_runs(runs: str, epsilon: float) -> None:
    found = bound(best_of("{notion: pure, epsilon: 1}", runs))
    assert float(found) == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.slow
def test_an_approximate_run() -> None:
    found = dpcompose.analyze(
        best_of("{notion: approx, epsilon: 1, delta: 1e-6}", "{geometric: 10}")
    )
    assert found.bound is not None and found.bound.delta == F(1, 10**5)
    assert float(found.bound.value) == pytest.approx(2.59134613229, abs=1e-9)


def test_two_steps_are_less_than_twice_one() -> None:
    """β∘β of ε = 1 has corners at 1/(e(1+e)) and 1/(1+e); the first one is the worst."""
    e = math.e
    x, y = 1 / (e * (1 + e)), e / (1 + e)
    cost = 2 * math.log((0.1 + 0.9 * y) / (0.1 + 0.9 * x))
    two = "{relation: unbounded, distance: 2}"
    found = bound(best_of("{notion: pure, epsilon: 1}", "{geometric: 10}", two))
    assert float(found) == pytest.approx(2 + cost, abs=1e-7)


# --- exact laws -----------------------------------------------------------------------------------

LAWS: dict[str, tuple[Callable[[float], float], Callable[[Guarantee], Selected]]] = {}


def _add(name: str, law: str, mean: Fraction, shape: str, phi: Callable[[float], float]) -> None:
    LAWS[name] = phi, lambda said: selected(law, mean, F(shape), said)


def _binomial(eta: float, stop: float) -> Callable[[float], float]:
    return lambda z: ((1 - (1 - stop) * z) ** -eta - 1) / (stop**-eta - 1)


for _stop in (0.5, 0.1, 0.01):
    _add(f"geometric {_stop}", "negative_binomial", 1 / F(_stop), "1", _binomial(1, _stop))
    _mean = F((1 - _stop) / (_stop * -math.log(_stop)))
    _add(
        f"logarithmic {_stop}",
        "negative_binomial",
        _mean,
        "0",
        lambda z, g=_stop: math.log(1 - (1 - g) * z) / math.log(g),  # type: ignore[misc]
    )
    for _eta in (0.5, 3.0):
        _mean = F(_eta * (1 - _stop) / (_stop * (1 - _stop**_eta)))
        name = f"negative binomial {_eta} {_stop}"
        _add(name, "negative_binomial", _mean, str(_eta), _binomial(_eta, _stop))
_add("poisson 60", "poisson", F(60), "0", lambda z: math.exp(60 * (z - 1)))
for _m in (0.5, 5.0):
    _add(f"poisson {_m}", "poisson", F(_m), "0", lambda z, m=_m: math.exp(m * (z - 1)))  # type: ignore[misc]
    _add(
        f"binomial {_m}",
        "binomial",
        F(_m),
        "8",
        lambda z, p=_m / 8: (1 - p + p * z) ** 8,  # type: ignore[misc]
    )


def _best(law: list[float], levels: list[int], phi: Callable[[float], float]) -> list[float]:
    """The law of the best output, ties at random; the last chance is that of no run."""
    found = [0.0] * len(law)
    below = 0.0
    for level in sorted(set(levels)):
        at = [i for i, each in enumerate(levels) if each == level]
        mass = sum(law[i] for i in at)
        for i in at:
            found[i] = law[i] / mass * (phi(min(1.0, below + mass)) - phi(below)) if mass else 0.0
        below += mass
    return [*found, phi(0.0)]


def _laws(rng: random.Random) -> tuple[list[float], list[float], list[int]]:
    size = rng.randint(2, 6)
    one = [rng.random() ** 3 + 1e-4 for _ in range(size)]
    other = [p * math.exp(rng.uniform(-1, 1)) for p in one]
    one, other = ([p / sum(law) for p in law] for law in (one, other))
    return one, other, [rng.randint(0, size) for _ in range(size)]


def _curve_of_profile(
    one: list[float], other: list[float]
) -> tuple[tuple[Fraction, Fraction], ...]:
    """Points of a profile at all of its corners, rounded up."""
    corners = {abs(math.log(p / q)) for p, q in zip(one, other, strict=True)} | {0.0}
    points: dict[Fraction, Fraction] = {}
    for epsilon in sorted(corners):
        delta = worse(one, other, epsilon)
        points[F(epsilon)] = F(delta * (1 + 1e-12)) if delta > 1e-14 else F(0)
    kept: list[tuple[Fraction, Fraction]] = []
    for point in sorted(points.items()):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return tuple(kept)


@pytest.mark.parametrize(
    "name",
    thinned([*LAWS], 4),
)
def test_no_bound_is_below_exact_laws(
    name: str, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Truth: the law of the best output, by the generating function; a run is known by its
    profile."""
    monkeypatch.setattr(private_selection, "_POINTS", 40)
    phi, make = LAWS[name]
    rng = random.Random(name)
    for _ in range(3 if long else 1):
        one, other, levels = _laws(rng)
        points = _curve_of_profile(one, other)
        curve = make(Guarantee(Notion.PROFILE, F(0), points=points)).loss(F(1))
        for epsilon in (F(0), F(1, 4), F(1, 2), F(1), F(3, 2), F(2)):
            truth = worse(_best(one, levels, phi), _best(other, levels, phi), float(epsilon))
            bound = float(curve.delta(epsilon=epsilon).upper)
            assert truth <= bound * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(("high", "levels"), thinned([(0.1, [1, 0, 0]), (0.01, [0, 1, 0])]))
def test_a_share_of_the_highest_scores_is_enough(
    high: float, levels: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty runs, a Poisson number, that are alike but for one output: near what they attain."""
    monkeypatch.setattr(private_selection, "_POINTS", 24)
    fewer = math.exp(-0.2)
    one = [1 - high - 1e-6, high, 1e-6]
    other = [1 - (high + 1e-6) * fewer, high * fewer, 1e-6 * fewer]
    run = Guarantee(Notion.PROFILE, F(0), points=_curve_of_profile(one, other))
    curve = selected("poisson", 60, F(0), run).loss(F(1))
    best = [_best(law, levels, lambda z: math.exp(60 * (z - 1))) for law in (one, other)]
    for epsilon in (F(1, 10), F(3, 10), F(3, 5), F(1)):
        truth = worse(best[0], best[1], float(epsilon))
        assert truth <= float(curve.delta(epsilon=epsilon).upper) * (1 + 1e-9) + 1e-12


def _divergence(one: list[float], other: list[float], order: float) -> float:
    """The greater of the two Rényi divergences."""
    found = []
    for a, b in ((one, other), (other, one)):
        logs = [order * math.log(p) + (1 - order) * math.log(q) for p, q in zip(a, b, strict=True)]
        rest = math.log(sum(math.exp(each - max(logs)) for each in logs))
        found.append((max(logs) + rest) / (order - 1))
    return max(found)


@pytest.mark.parametrize("mean", ["1/100", "1/2", "3", "100"])
def test_renyi_divergences_of_a_poisson_number_of_runs(mean: str) -> None:
    """Truth: all orders of exact laws, and the δ of one run where the theorem asks for it."""
    rng = random.Random(mean)
    m = float(F(mean))
    closest = 0.0
    for _ in range(100):
        one, other, levels = _laws(rng)
        best = [_best(law, levels, lambda z: math.exp(m * (z - 1))) for law in (one, other)]
        for order in (1.01, 1.5, 2, 5, 20):
            delta = worse(one, other, math.log(order / (order - 1)))
            once = F(_divergence(one, other, order) + m * delta)
            truth = _divergence(best[0], best[1], order)
            bound = private_selection.poisson_divergence(once, F(mean), F(order) - 1)
            assert truth <= float(bound) * (1 + 1e-9) + 1e-12
            closest = max(closest, truth / float(bound))
    assert closest > 0.3


def _lost_by_the_largest_value(mu: float, mean: int, delta: float) -> float:
    """The ε at δ of the largest of a Poisson number of normal values, by its density."""
    x, width = np.linspace(-9, 9, 9001, retstep=True)
    one, other = (norm.pdf(x - c) * np.exp(-mean * norm.cdf(c - x)) * mean * width for c in (0, mu))
    return float(brentq(lambda epsilon: worse(one, other, epsilon) - delta, 0, 20, xtol=1e-7))


@pytest.mark.parametrize(
    ("mu", "mean", "attained", "epsilon", "contract"),
    thinned(
        [
            ("1/4", 10, 1.181738, 2.0394, 2.17651),
            ("1/4", 100, 5.590116, 6.963473, 11.2403250198),
            ("1", 10, 5.349341, 8.9575, 9.17859463126),
        ]
    ),
)
def test_many_poisson_runs_are_bounded_in_renyi_terms(
    mu: str, mean: int, attained: float, epsilon: float, contract: float
) -> None:
    """`epsilon`: the least over all orders, by closed forms; `contract`: by the trade-off curve."""
    found = selected("poisson", mean, F(0), Guarantee(Notion.GDP, F(mu))).loss(F(1))
    bound = found.epsilon(delta=_DELTA)
    assert bound is not None
    assert epsilon * 0.9999 <= float(bound.upper) <= epsilon * 1.001 < contract
    truth = _lost_by_the_largest_value(float(F(mu)), mean, 1e-6)
    assert truth == pytest.approx(attained, rel=1e-5) and truth < float(bound.upper)


@pytest.mark.slow
def test_many_poisson_runs_of_a_pure_mechanism() -> None:
    """At δ = 0 as before; at δ > 0 what the order up to which a run has no δ says, or less."""
    one = selected("poisson", 100, F(0), pure("1/10"))
    assert float(one.epsilon(F(1)) or 0) == pytest.approx(0.1 + 100 * math.tanh(0.05))
    curve = one.loss(F(1))
    at_zero, at_delta = curve.epsilon(delta=0), curve.epsilon(delta=_DELTA)
    assert at_zero is not None and at_delta is not None
    assert float(at_zero.upper) == pytest.approx(float(one.epsilon(F(1)) or 0))
    more = 1 / math.expm1(0.1)
    law = [1 / (1 + math.exp(0.1)), 1 / (1 + math.exp(-0.1))]
    most = _divergence(law, law[::-1], 1 + more) + math.log(100) / more
    most += math.log1p(-1 / (1 + more)) - (math.log(1e-6) + math.log1p(more)) / more
    assert 1.5 < float(at_delta.upper) <= most * 1.0005 < 1.637


def test_randomized_response_attains_it() -> None:
    """Two outputs, the better one likelier by e^ε: the pure bound is met from many runs."""
    e, stop = math.e, 0.01
    one, other = [e / (1 + e), 1 / (1 + e)], [1 / (1 + e), e / (1 + e)]
    phi = _binomial(1, stop)
    best, worst = _best(one, [0, 1], phi), _best(other, [0, 1], phi)
    truth = max(abs(math.log(p / q)) for p, q in zip(best[:2], worst[:2], strict=True))
    bound = selected("negative_binomial", F(100), F(1), pure("1")).epsilon(F(1))
    assert bound is not None and truth <= float(bound) <= truth * 1.5


@pytest.mark.slow
def test_a_search_until_a_threshold(long: bool) -> None:
    """Exactly: the first output in a set, or nothing with chance γ after each failure."""
    rng = random.Random(5)
    for stop in (0.1, 0.5)[: 2 if long else 1]:
        one, other, levels = _laws(rng)
        points = _curve_of_profile(one, other)
        good = [each > 1 for each in levels]

        def law(run: list[float], good: list[bool] = good, stop: float = stop) -> list[float]:
            p = sum(q for q, each in zip(run, good, strict=True) if each)
            ends = stop + (1 - stop) * p
            found = [q / ends if each else 0.0 for q, each in zip(run, good, strict=True)]
            return [*found, stop * (1 - p) / ends]

        said = Guarantee(Notion.PROFILE, F(0), points=points)
        curve = Selected("until_threshold", 1 / F(stop), F(0), F(stop), (said,)).loss(F(1))
        for epsilon in (F(0), F(1, 2), F(1), F(2)):
            truth = worse(law(one), law(other), float(epsilon))
            assert truth <= float(curve.delta(epsilon=epsilon).upper) * (1 + 1e-9) + 1e-12


# --- laws of the tool -----------------------------------------------------------------------------


def test_the_mean_of_a_law_is_that_of_its_gamma() -> None:
    for shape in (F(0), F(1, 2), F(3)):
        for mean in (F(1), F(101, 100), F(7), F(10**6)):
            stop = float(stop_of(shape, mean))
            eta = float(shape)
            runs = (
                (1 - stop) / (stop * -math.log(stop))
                if not eta
                else eta * (1 - stop) / (stop * -math.expm1(eta * math.log(stop)))
            )
            assert float(mean) <= runs <= float(mean) * 1.0000001


def test_more_runs_cost_more_and_one_costs_as_one() -> None:
    costs = [
        selected("negative_binomial", mean, F(1), pure("1")).epsilon(F(1)) for mean in (1, 2, 9)
    ]
    assert costs[0] == 1 and costs == sorted(costs, key=lambda each: each or 0)
    assert selected("poisson", 3, F(0), pure("0")).loss(F(1)) == Curve()


@pytest.mark.parametrize("of", thinned(["pure, epsilon: 50000", "gdp, mu: 1e6", "zcdp, rho: 1e8"]))
@pytest.mark.parametrize(
    "runs", ["{geometric: 10}", "{poisson: 100}", "{binomial: {trials: 9, mean: 5}}"]
)
def test_extreme_losses_have_a_number(of: str, runs: str) -> None:
    found = bound(best_of(f"{{notion: {of}}}", runs))
    assert found >= 50000
    if of.startswith("pure") and "geometric" in runs:
        assert float(found) == pytest.approx(50000 + 2 * math.log(10), rel=1e-9)


@pytest.mark.parametrize("runs", ["{geometric: 10}", "{poisson: 10}"])
def test_a_loss_beyond_all_doubles_has_none(runs: str) -> None:
    found = dpcompose.analyze(best_of("{notion: gdp, mu: 1e200}", runs))
    assert found.status == "no-guarantee"


def test_a_fixed_number_is_composition() -> None:
    fixed = report(best_of("{mechanism: gaussian, sigma: 3, sensitivity: 1}", "{fixed: 9}"))
    assert fixed.bound == Bound(Notion.GDP, F(1))


TABLE = "  rows: {}\n"
SAMPLED = "  people: {}\n  rows: {from: people, map: {kind: sample, poisson: 1/10%s}}\n"


def test_a_fixed_number_of_runs_reads_one_draw_of_a_sample() -> None:
    text = best_of("{notion: pure, epsilon: 1}", "{fixed: 2}")
    afresh = dpcompose.analyze(text.replace(TABLE, SAMPLED % ""))
    (fault,) = [each for each in afresh.findings if each.level == "error"]
    assert fault.code == "DPC156" and "one draw of `rows`" in fault.message
    once = bound(text.replace(TABLE, SAMPLED % ", draws: one"))
    assert float(once) == pytest.approx(math.log1p(0.1 * math.expm1(2)), abs=1e-9)


def test_a_negative_shape_costs_less_than_a_logarithmic_law() -> None:
    bounds = []
    for shape in ("-0.9", "-1/2", "0", "1/2"):
        runs = f"{{negative_binomial: {{shape: {shape}, mean: 10}}}}"
        bounds.append(float(bound(best_of("{notion: pure, epsilon: 1}", runs))))
    assert bounds == sorted(bounds)
    # The mean at η = -1/2 is (1-γ)/(2γ(γ^-½-1)) = (γ^-½+1)/2 = 10, and c = ½·ln(…).
    gamma = 19**-2
    c = math.log((math.e + gamma) / (1 + gamma * math.e)) / 2
    assert bounds[1] == pytest.approx(1 + c, abs=1e-6)


def test_a_selection_of_approximate_runs_two_steps_apart() -> None:
    # β of (1, 1e-6) twice is all but that of ε = 1 twice: 4.7772659793 in the contract.
    one, two = "{notion: approx, epsilon: 1, delta: 1e-9}", "{relation: unbounded, distance: 2}"
    [found] = numbers(best_of(one, "{geometric: 10}", two, "report: {delta: 1e-6}"))
    assert 4.7772659793 <= float(found) <= 4.7774659793


def test_a_profile_that_ends_with_a_chance_is_stated_at_it() -> None:
    ends = dpcompose.analyze(
        best_of("{notion: profile, points: [[1, 1e-3], [0, 0.3]]}", "{geometric: 3}")
    )
    approx = dpcompose.analyze(
        best_of("{notion: approx, epsilon: 1, delta: 1e-3}", "{geometric: 3}")
    )
    assert ends.bound is not None and approx.bound is not None
    assert approx.bound.delta == F(3, 1000) and ends.bound.delta is not None
    assert F(3, 1000) < ends.bound.delta < F(3001, 10**6)
    assert 1 < ends.bound.value <= approx.bound.value * F(1001, 1000)


@pytest.mark.slow
def test_together_costs_no_less_than_either() -> None:
    pure, noise = "{notion: pure, epsilon: 1/2}", "{mechanism: gaussian, sigma: 3, sensitivity: 1}"
    one, other, both = (
        numbers(best_of(f"[{run}]", "{geometric: 4}", more="report: {delta: 1e-6}"))[0]
        for run in (pure, noise, f"{pure}, {noise}")
    )
    assert max(one, other) < both < one + other * 2


def test_a_sample_amplifies_a_selection() -> None:
    text = best_of("{notion: pure, epsilon: 1}", "{geometric: 10}").replace(TABLE, SAMPLED % "")
    amplified = math.log1p(0.1 * math.expm1(2.59134407832))
    assert float(bound(text)) == pytest.approx(amplified, abs=1e-6)


def test_parameters_of_runs_are_scaled() -> None:
    text = best_of("{mechanism: gaussian, sigma: 3, sensitivity: 1}", "{geometric: 4}")
    assert "sigma: 6" in scaling.scaled(load(text, "a.yaml"), {"m0": F(1, 2)})
