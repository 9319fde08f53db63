"""No risk is below what an attack reaches: the best tests of random specs, run by sampling.

A spec is made of mechanisms on one table or on the blocks of it, and for each change the worst
tables are known: the attacker tests by the likelihood ratio of everything that is released. Its
false alarms and hits are counted on samples of their own, so that each is known within a
confidence interval.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import beta
from volume import seeds

import dpcompose
from dpcompose.core.notions.guarantee import AskedRisk

SAMPLES = 200_000
#: So seldom a true rate lies outside of an interval.
DOUBT = 1e-9
RATES = (Fraction(1, 100), Fraction(5, 100), Fraction(3, 10))
Draw = Callable[[np.random.Generator, bool, int], np.ndarray]


@dataclass(frozen=True)
class Noise:
    """A mechanism: its text in a spec, and log likelihood ratios of its outputs.

    `draw`: of so many outputs, with the row in the data or not. `worst`: whether no mechanism with
    what the spec says tells more.
    """

    text: str
    draw: Draw
    worst: bool = True


def response(epsilon: float) -> Noise:
    likely = 1 / (1 + math.exp(-epsilon))

    def draw(rng: np.random.Generator, there: bool, count: int) -> np.ndarray:
        return np.where(rng.random(count) < (likely if there else 1 - likely), epsilon, -epsilon)

    return Noise(f"notion: pure, epsilon: {epsilon}", draw)


def leaking(epsilon: float, delta: float) -> Noise:
    """With chance δ it says which table it is, else it is a randomized response."""
    inner = response(epsilon).draw

    def draw(rng: np.random.Generator, there: bool, count: int) -> np.ndarray:
        told = rng.random(count) < delta
        return np.where(told, math.inf if there else -math.inf, inner(rng, there, count))

    return Noise(f"notion: approx, epsilon: {epsilon}, delta: {delta}", draw)


def normal(mu: float, text: str, worst: bool = True) -> Noise:
    def draw(rng: np.random.Generator, there: bool, count: int) -> np.ndarray:
        return mu * (rng.standard_normal(count) + mu * there) - mu * mu / 2

    return Noise(text, draw, worst)


def laplace(scale: float) -> Noise:
    def draw(rng: np.random.Generator, there: bool, count: int) -> np.ndarray:
        x = rng.laplace(size=count) * scale + there
        return (np.abs(x) - np.abs(x - 1)) / scale

    return Noise(f"mechanism: laplace, scale: {scale}, sensitivity: 1", draw)


def any_noise(rng: random.Random) -> Noise:
    size = rng.choice([0.2, 0.4, 0.7, 1.1, 1.6])
    match rng.randrange(7):
        case 0:
            return response(size)
        case 1:
            return leaking(size, rng.choice([0.01, 0.002, 0.05]))
        case 2:
            return normal(size, f"notion: gdp, mu: {size}")
        case 3:
            return normal(1 / (2 * size), f"mechanism: gaussian, sigma: {2 * size}, sensitivity: 1")
        case 4:
            return laplace(1 / size)
        case 5:
            # Gaussian noise is not the worst of all that is ρ-zCDP.
            return normal(size, f"notion: zcdp, rho: {size}*{size}/2", worst=False)
        case _:
            return response(rng.choice([0.05, 0.15]))


def spec_of(protect: str, blocks: list[list[Noise]], whole: list[Noise]) -> str:
    """A spec of a table and a partition of it by value."""
    names = [f"b{i}" for i in range(len(blocks))]
    lines = ["dpcompose: 1", f"protect: {protect}", "datasets:", "  rows: {}"]
    if names:
        partition = f"{{by: value, blocks: [{', '.join(names)}]}}"
        lines.append(f"  block: {{from: rows, partition: {partition}}}")
    lines.append("mechanisms:")
    for n, (reads, noise) in enumerate(
        [("rows", each) for each in whole]
        + [(f"block.{name}", each) for name, own in zip(names, blocks, strict=True) for each in own]
    ):
        # What is stated is stated for one row added or removed, whatever is protected.
        stated = "relation: unbounded, " if "notion" in noise.text else ""
        text = noise.text.replace("sensitivity: 1", "sensitivity: {unbounded: 1}")
        lines.append(f"  - {{name: m{n}, reads: {reads}, {stated}{text}}}")
    return "\n".join(lines) + "\n"


Ends = tuple[list[Noise], list[Noise]]


@dataclass(frozen=True)
class Case:
    """A spec, and the changes of it: what feels that a row is there, and that another is not."""

    text: str
    changes: list[Ends]
    worst: bool

    @property
    def single(self) -> bool:
        return len(self.changes) == 1


def case(seed: int) -> Case:
    rng = random.Random(seed)
    whole = [any_noise(rng) for _ in range(rng.randint(1, 4))]
    if seed % 4 < 2:
        return Case(spec_of("unbounded", [], whole), [(whole, [])], all(e.worst for e in whole))
    blocks = [[any_noise(rng) for _ in range(rng.randint(1, 3))] for _ in range(3)]
    if seed % 4 == 2:
        changes: list[Ends] = [([*whole, *own], []) for own in blocks]
        return Case(spec_of("unbounded", blocks, whole), changes, False)
    # A replaced row leaves one block and enters another one; nothing else feels it.
    changes = [(one, other) for one, other in combinations(blocks, 2)]
    return Case(spec_of("bounded", blocks, []), changes, False)


def ratios(ends: Ends, there: bool, rng: np.random.Generator) -> np.ndarray:
    """Log likelihood ratios of all that is released, for the row that is there."""
    total = np.zeros(SAMPLES)
    for each in ends[0]:
        total = total + each.draw(rng, there, SAMPLES)
    for each in ends[1]:
        total = total - each.draw(rng, not there, SAMPLES)
    return total


def interval(hits: int, of: int = SAMPLES) -> tuple[float, float]:
    """Clopper and Pearson's interval of a rate."""
    least = beta.ppf(DOUBT / 2, hits, of - hits + 1) if hits else 0.0
    most = beta.ppf(1 - DOUBT / 2, hits + 1, of - hits) if hits < of else 1.0
    return float(least), float(most)


def attacks(ends: Ends, seed: int) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Intervals of false alarms and hits of the test at each rate, in both orders of the tables."""
    rng = np.random.default_rng(seed)
    for order in (True, False):
        sign = 1 if order else -1
        guide, without, with_ = (
            sign * ratios(ends, there, rng) for there in (not order, not order, order)
        )
        for rate in RATES:
            least = float(np.quantile(guide, 1 - float(rate)))
            above, at = float(np.mean(guide > least)), float(np.mean(guide == least))
            share = min(1.0, max(0.0, (float(rate) - above) / at)) if at else 0.0

            def counted(
                found: np.ndarray, least: float = least, share: float = share
            ) -> tuple[float, float]:
                tied = rng.random(SAMPLES) < share
                return interval(int(np.sum((found > least) | ((found == least) & tied))))

            yield counted(without), counted(with_)


def hits_of(text: str, rates: list[float]) -> tuple[list[Fraction], Fraction]:
    """The bounds at so many rates of false alarms, and the advantage."""
    asked = [Fraction(min(max(each, 1e-9), 1 - 1e-9)) for each in rates]
    report = dpcompose.analyze(text, risk=AskedRisk((), tuple(asked)))
    assert report.status == "ok" and report.risk is not None
    return [found for _, found in report.risk.hits], report.risk.advantage


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(10, range(20)))
def test_no_risk_is_below_an_attack(seed: int) -> None:
    made = case(seed)
    found = [
        each
        for place, ends in enumerate(made.changes)
        for each in attacks(ends, 100 * seed + place)
    ]
    several = len(RATES)
    # Whatever the rates of false alarms are within their intervals, the bound holds at their ends.
    ends = [max(alarms[1] for alarms, _ in found[at::several]) for at in range(several)]
    bounds, advantage = hits_of(made.text, ends)
    for at, (alarms, hits) in enumerate(found):
        assert hits[0] <= bounds[at % several]
        assert hits[0] - alarms[1] <= advantage
    if made.worst and made.single:
        # The mechanisms are the worst ones there are: the bound is reached.
        starts = [min(alarms[0] for alarms, _ in found[at::several]) for at in range(several)]
        for at, bound in enumerate(hits_of(made.text, starts)[0]):
            assert bound <= max(hits[1] for _, hits in found[at::several]) * (1 + 1e-4)


def test_the_attacks_are_of_several_kinds_and_some_are_the_worst() -> None:
    made = [case(seed) for seed in range(20)]
    assert sum(each.worst and each.single for each in made) >= 5
    assert sum(not each.single for each in made) >= 8


@pytest.mark.parametrize("mu", [0.5, 2.0])
@pytest.mark.parametrize("values", [2, 10])
def test_no_guess_of_a_secret_is_better(mu: float, values: int) -> None:
    """Gaussian noise on counts of each value: the guess is the value with the largest count."""
    rng = np.random.default_rng(7)
    secret = rng.integers(values, size=SAMPLES)
    released = rng.standard_normal((SAMPLES, values))
    released[np.arange(SAMPLES), secret] += mu
    right = interval(int(np.sum(released.argmax(axis=1) == secret)))
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {rows: {}}\n"
        f"mechanisms: [{{name: counts, reads: rows, notion: gdp, mu: {mu}}}]\n"
    )
    report = dpcompose.analyze(text, risk=AskedRisk((Fraction(1, values),), ()))
    assert report.risk is not None
    [(_, bound)] = report.risk.success
    assert right[0] <= bound


def test_two_opposite_values_are_guessed_as_often_as_is_said() -> None:
    """A row that adds or takes away: of two values the guess by the sign reaches the bound."""
    rng = np.random.default_rng(8)
    secret = rng.integers(2, size=SAMPLES) * 2 - 1
    right = interval(int(np.sum((rng.standard_normal(SAMPLES) + secret) * secret > 0)))
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {rows: {}}\n"
        "mechanisms:\n  - {name: sum, reads: rows, mechanism: gaussian, sigma: 2, "
        "sensitivity: {unbounded: 2}}\n"
    )
    report = dpcompose.analyze(text, risk=AskedRisk((Fraction(1, 2),), ()))
    assert report.risk is not None
    [(_, bound)] = report.risk.success
    assert right[0] <= bound <= right[1]


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2)])
def test_one_step_of_training_is_attacked_as_well_as_is_said(rate: Fraction) -> None:
    """A Poisson sample of Gaussian noise; the row is found by the ratio of a mixture."""
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets:\n  rows: {}\n"
        "  batch: {from: rows, map: {kind: sample, poisson: 0.3}}\nmechanisms:\n"
        "  - {name: steps, reads: batch, mechanism: gaussian, sigma: 0.8, sensitivity: 1, "
        "count: 5}\n"
    )
    rng, q, mu, steps = np.random.default_rng(9), 0.3, 1.25, 5

    def ratio(there: bool) -> np.ndarray:
        drawn = (rng.random((SAMPLES, steps)) < q) & there
        x = rng.standard_normal((SAMPLES, steps)) + mu * drawn
        found: np.ndarray = np.log(1 - q + q * np.exp(mu * x - mu * mu / 2)).sum(axis=1)
        return found

    guide, without, with_ = ratio(False), ratio(False), ratio(True)
    least = np.quantile(guide, 1 - float(rate))
    alarms = interval(int(np.sum(without > least)))
    hits = interval(int(np.sum(with_ > least)))
    asked = AskedRisk((), (Fraction(alarms[0]), Fraction(alarms[1])))
    report = dpcompose.analyze(text, risk=asked)
    assert report.risk is not None
    (_, low), (_, high) = report.risk.hits
    assert hits[0] <= high
    if rate < Fraction(1, 10):
        # At larger rates the worse of the two orders of the tables is bounded, the other one.
        assert low <= hits[1] * (1 + 1e-3)


@pytest.mark.parametrize(
    ("sample", "chance", "unit"),
    [
        ("poisson: 1/1000", 1 - 0.999**2, "unbounded"),
        ("size: 1, of: 10000, replacement: true", 2e-4, "bounded"),
    ],
)
def test_two_rows_replaced_where_losses_are_large(sample: str, chance: float, unit: str) -> None:
    """Both rows of one table move the sum by 1, those of the other one by nothing."""
    text = (
        "dpcompose: 1\nprotect: {relation: bounded, distance: 2}\ndatasets:\n"
        "  t: {domain: fixed-size-table}\n"
        f"  s: {{from: t, map: {{kind: sample, {sample}, draws: one}}}}\nmechanisms:\n"
        f"  - {{name: m, reads: s, mechanism: gaussian, sigma: 0.8, sensitivity: {{{unit}: 1}}, "
        "count: 10}\n"
    )
    mu = math.sqrt(10) / 0.8
    report = dpcompose.analyze(text)
    for delta in (1e-6, 1e-9, 1e-12):
        epsilon = report.epsilon(delta=delta)
        if epsilon is None or epsilon > 300:
            continue
        at = math.log1p(math.expm1(epsilon) / chance) / mu + mu / 2
        above = chance * upper_tail(at - mu) + (1 - chance) * upper_tail(at)
        assert above - math.exp(epsilon) * upper_tail(at) <= delta


def upper_tail(x: float) -> float:
    """Returns the chance that a standard normal number is above x."""
    return math.erfc(x / math.sqrt(2)) / 2
