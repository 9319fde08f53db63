"""Histograms over unknown keys, and the selection of keys: against exact laws."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest
from asked import spec
from volume import thinned

import dpcompose
from core.mechanisms.test_noisy_max import stick
from dpcompose.core.mechanisms.noisy_histogram import KeySelection, NoisyHistogram

F = Fraction

Law = dict[tuple[int, ...], float]
DELTAS = ("1/3", "1/10", "1/100", "1/1000", "1e-5")


AT = f"report: {{delta: [{', '.join(DELTAS)}]}}"


def epsilons(more: str, protect: str = "unbounded") -> list[float]:
    """ε at each of DELTAS; infinite where there is none."""
    found = dpcompose.analyze(spec(more, protect=protect, more=AT))
    assert found.status in {"ok", "no-guarantee"}
    values = [math.inf if each.value is None else float(each.value) for each in found.at_delta]
    return values or [math.inf] * len(DELTAS)


def law_of_key(count: int, scale: float, threshold: int) -> Law:
    """What geometric noise releases of one key: its noisy value; -1000 if nothing."""
    ratio = math.exp(-1 / scale)
    found: Law = {(-1000,): 1.0}
    if not count:
        return found
    for value in range(threshold, threshold + int(60 * scale)):  # e^-40 or less is beyond
        found[value,] = (1 - ratio) / (1 + ratio) * ratio ** abs(value - count)
        found[-1000,] -= found[value,]
    return found


def together(laws: list[Law]) -> Law:
    found: Law = {(): 1.0}
    for law in laws:
        found = {
            (*names, *more): chance * other
            for names, chance in found.items()
            for more, other in law.items()
        }
    return found


def merged(one: Law, other: Law) -> tuple[Law, Law]:
    return {k: one.get(k, 0.0) for k in {*one, *other}}, {
        k: other.get(k, 0.0) for k in {*one, *other}
    }


#: The counts of two keys without a unit, and what it adds to each.
COUNTS = [
    ((0, 0), (1, 1)),
    ((0, 3), (1, 1)),
    ((2, 2), (1, 1)),
    ((5, 9), (1, 1)),
    ((0, 7), (1, 0)),
    ((1, 0), (2, 2)),
]


@pytest.mark.parametrize(("counts", "adds"), thinned(COUNTS))
@pytest.mark.parametrize("threshold", [4, 7])
@pytest.mark.parametrize(("protect", "units"), [("unbounded", 1), ("bounded", 2)])
def test_a_histogram_against_the_law_of_its_keys(
    counts: tuple[int, ...], adds: tuple[int, ...], threshold: int, protect: str, units: int
) -> None:
    most = max(adds)
    more = f"noise: geometric, scale: 1, threshold: {threshold}, max_keys: 2, max_per_key: {most}"
    relation = "{relation: unbounded, distance: 2}" if units == 2 else "unbounded"
    found = epsilons(f"mechanism: noisy-histogram, {more}", relation)
    moved = tuple(count + units * add for count, add in zip(counts, adds, strict=True))
    laws = merged(
        *(together([law_of_key(each, 1.0, threshold) for each in some]) for some in (counts, moved))
    )
    for delta, bound in zip(DELTAS, found, strict=True):
        if bound < math.inf:
            assert stick(*laws, bound) <= float(F(delta)) + 1e-12


def test_one_key_attains_what_is_certified() -> None:
    """The new key is the worst at ε = 0, as δ₁; noise is where a δ is far above that."""
    more = "mechanism: noisy-histogram, noise: geometric, scale: 2, threshold: 9"
    found = epsilons(f"{more}, max_keys: 1, max_per_key: 1")
    laws = merged(law_of_key(30, 2.0, 9), law_of_key(31, 2.0, 9))
    for delta, bound in list(zip(DELTAS, found, strict=True))[1:3]:
        assert stick(*laws, bound - 1e-2) >= float(F(delta)) - 2 * F(1, 100)
    assert stick(*merged(law_of_key(0, 2.0, 9), law_of_key(1, 2.0, 9)), 0) == pytest.approx(
        float(1 - NoisyHistogram("geometric", F(2), F(9), 1, F(1)).loss(F(1)).no_failure), rel=1e-9
    )


def test_values_of_the_contract() -> None:
    laplace = NoisyHistogram("laplace", F(1), F(15), 1, F(1))
    assert float(1 - laplace.loss(F(1)).no_failure) == pytest.approx(4.15764359552e-7, rel=1e-11)
    wide = NoisyHistogram("laplace", F(4), F(60), 4, F(1))
    assert float(1 - wide.loss(F(1)).no_failure) == pytest.approx(7.85572477675e-7, rel=1e-11)
    assert wide.pair() == (F(1), 1 - wide.loss(F(1)).no_failure)
    gaussian = NoisyHistogram("gaussian", F(5), F(30), 1, F(1))
    assert float(1 - gaussian.loss(F(1)).no_failure) == pytest.approx(3.31574597833e-9, rel=1e-11)
    assert float(gaussian.loss(F(1)).delta(epsilon=1).upper) == pytest.approx(
        2.08620792391e-8, rel=1e-9
    )
    four = NoisyHistogram("gaussian", F(5), F(30), 4, F(1))
    assert float(four.loss(F(1)).delta(epsilon=1).upper) == pytest.approx(
        0.00129991137887, rel=1e-9
    )


@pytest.mark.parametrize("law", ["laplace", "gaussian", "geometric"])
@pytest.mark.parametrize("keys", [1, 5])
def test_the_stated_pair_holds_of_the_curve(law: str, keys: int) -> None:
    found = NoisyHistogram(law, F(3), F(20), keys, F(2))
    epsilon, delta = found.pair()
    assert found.loss(F(1)).delta(epsilon=epsilon).upper <= delta * (1 + F(1, 10**9))
    again = found.loss(F(3)).epsilon(delta=F(1, 5))
    assert again is not None and again.upper <= 3 * epsilon


@pytest.mark.parametrize("keys", [1, 2])
def test_key_selection_against_its_law(keys: int) -> None:
    epsilon, delta = 0.5, 0.01
    kept = [0.0]
    for _ in range(40):
        last = kept[-1]
        kept.append(
            min(math.exp(epsilon) * last + delta, 1 - math.exp(-epsilon) * (1 - last - delta), 1)
        )
    found = epsilons(f"mechanism: key-selection, epsilon: 0.5, delta: 0.01, max_keys: {keys}")
    for counts in itertools.product((0, 1, 4, 9), repeat=keys):
        laws = merged(
            *(
                together([{(0,): 1 - kept[each + add], (1,): kept[each + add]} for each in counts])
                for add in (0, 1)
            )
        )
        for text, bound in zip(DELTAS, found, strict=True):
            if bound < math.inf:
                assert stick(*laws, bound) <= float(F(text)) + 1e-12


def test_the_optimal_chances_are_those_of_the_contract() -> None:
    kept = 0.0
    values = []
    for _ in range(23):
        kept = min(math.e * kept + 1e-5, 1 - (1 - kept - 1e-5) / math.e, 1)
        values.append(kept)
    assert values[1] == pytest.approx(3.71828182846e-5)
    assert values[9] == pytest.approx(0.128183080505)
    assert values[14] == pytest.approx(0.988072117235)
    assert values[21] < 1 == values[22]
    assert KeySelection(F(1), F(1, 10**5), 3).pair()[0] == 3


def test_a_sample_of_rows_has_its_share_of_delta() -> None:
    """A row in no sample is in no key: the chance of a new key falls by the rate."""
    more = "mechanism: noisy-histogram, scale: 4, threshold: 40, max_keys: 2, max_per_key: 1"
    sampled = "s: {from: rows, map: {kind: sample, poisson: 1/10}}"
    found = dpcompose.analyze(spec(more, datasets=sampled, more=AT))
    whole = dpcompose.analyze(spec(more, more=AT))
    assert found.bound is not None and whole.bound is not None
    assert found.bound.delta is not None and whole.bound.delta is not None
    assert float(found.bound.delta) == pytest.approx(float(whole.bound.delta) / 10, rel=1e-9)
    for one, other in zip(found.at_delta, whole.at_delta, strict=True):
        assert one.value is not None
        assert other.value is None or one.value <= other.value


STATED = "mechanism: noisy-histogram, max_keys: 1, max_per_key: 1"


def test_rows_replaced_are_two_steps() -> None:
    more = f"{STATED}, scale: 2, threshold: 30"
    replaced = epsilons(f"{more}, relation: unbounded", "bounded")
    two = epsilons(more, "{relation: unbounded, distance: 2}")
    assert replaced == pytest.approx(two)
    assert all(each > one for each, one in zip(replaced[1:], epsilons(more)[1:], strict=True))
