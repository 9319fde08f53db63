"""Histograms over unknown keys, and the selection of keys: against exact laws."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from asked import spec
from mpmath import mp
from volume import thinned

import dpcompose
from core.mechanisms.test_noisy_max import stick
from dpcompose.core.mechanisms.noisy_histogram import KeySelection, NoisyHistogram
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.profiles import curve

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
    assert wide.pair() == (F(1), 1 - wide.loss(F(1)).no_failure)
    assert KeySelection(F(1), F(1, 10**5), 3).pair()[0] == 3
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


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((1, 0), (0, 1)),  # a key vanishes, a key appears
        ((1, 40), (0, 41)),
        ((40, 41), (41, 40)),
        ((1, 1, 0, 0), (0, 0, 1, 1)),
        ((1, 41, 40, 0), (0, 40, 41, 1)),
        ((1, 1, 5, 7), (0, 0, 6, 8)),
    ],
)
@pytest.mark.parametrize("threshold", [2, 5])
def test_a_row_replaced_against_the_law_of_its_keys(
    before: tuple[int, ...], after: tuple[int, ...], threshold: int
) -> None:
    keys = len(before) // 2
    more = f"noise: geometric, scale: 1, threshold: {threshold}, max_keys: {keys}, max_per_key: 1"
    found = epsilons(f"mechanism: noisy-histogram, {more}, relation: unbounded", "bounded")
    laws = both_laws(before, after, threshold)
    for delta, bound in zip(DELTAS, found, strict=True):
        if bound < math.inf:
            assert stick(*laws, bound) <= float(F(delta)) + 1e-12


def both_laws(before: tuple[int, ...], after: tuple[int, ...], threshold: int) -> tuple[Law, Law]:
    """The laws of several keys in two tables; of a key, outcomes of one ratio are one outcome."""
    ends: list[list[Law]] = [[], []]
    for counts in zip(before, after, strict=True):
        laws = merged(*(law_of_key(each, 1.0, threshold) for each in counts))
        short: list[Law] = [{}, {}]
        for outcome in laws[0]:
            chances = [each[outcome] for each in laws]
            ratio = round(1e9 * math.atan2(*chances))
            for law, chance in zip(short, chances, strict=True):
                law[ratio,] = law.get((ratio,), 0.0) + chance
        for end, law in zip(ends, short, strict=True):
            end.append(law)
    return together(ends[0]), together(ends[1])


def exact_delta(
    law: str, scale: float, threshold: float, keys: int, epsilon: float, replaced: bool
) -> float:
    """δ of a noisy histogram by the formula of the theory, in mpmath and by sums over lattices of
    its own."""
    new = 1.0
    if law == "gaussian":
        new = float(mp.ncdf(-(mp.mpf(threshold) - 1) / scale))
    elif law == "laplace":
        new = float(mp.exp(-(mp.mpf(threshold) - 1) / scale) / 2)
    kappa = -math.log1p(-new)
    worst = 0.0
    for i, j in itertools.product(range(keys + 1), repeat=2):
        if not replaced and ((i and j) or i + j > keys):
            continue
        left = (2 * keys if replaced else keys) - i - j
        once = delta_of_noise(law, scale, left, epsilon + (i - j) * kappa)
        worst = max(worst, -math.expm1(-i * kappa) + math.exp(-i * kappa) * once)
    return worst


def delta_of_noise(law: str, scale: float, keys: int, epsilon: float) -> float:
    """δ of `keys` moves by 1 of Gaussian or Laplace noise at any real ε."""
    if not keys:
        return max(0.0, -math.expm1(epsilon))
    if law == "gaussian":
        mu = mp.sqrt(keys) / scale
        rest = mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
        return float(mp.ncdf(mu / 2 - epsilon / mu) - rest)
    # Atoms at both ends, and between them a density, by conditions on the number of each:
    # the rest is e^(l/2) times the law of a sum of uniform numbers.
    a, total = 1 / scale, 0.0
    for ups, downs in itertools.product(range(keys + 1), repeat=2):
        inner = keys - ups - downs
        if inner < 0:
            continue
        ways = math.factorial(keys) / (
            math.factorial(ups) * math.factorial(downs) * math.factorial(inner)
        )
        weight = ways * 0.5**ups * (0.5 * math.exp(-a)) ** downs
        at = (ups - downs) * a
        total += weight * part_above(inner, a, at, epsilon)
    return total


def part_above(inner: int, a: float, at: float, epsilon: float) -> float:
    """∫ (1 - e^(ε-l)) of the density of `at` plus `inner` numbers of density e^(-(a-l)/2)/4."""
    if not inner:
        return max(0.0, -math.expm1(epsilon - at))
    # The density of a sum of uniform numbers on [-a, a], times (a/2)^inner·e^((l-inner·a)/2).
    knots = [inner * a - 2 * a * k for k in range(inner + 1)]

    def density(x: float) -> float:
        u = (x / a + inner) / 2
        some = [
            (-1) ** k * math.comb(inner, k) * (u - k) ** (inner - 1)
            for k in range(inner + 1)
            if u > k
        ]
        hall = math.fsum(some) / math.factorial(inner - 1) / (2 * a)
        return hall * (a / 2) ** inner * math.exp((x - inner * a) / 2)

    low = max(epsilon - at, -inner * a)
    ends = sorted({low, inner * a, *(knot for knot in knots if low < knot < inner * a)})
    nodes, weights = np.polynomial.legendre.leggauss(40)
    total = 0.0
    for one, other in itertools.pairwise(ends):
        places = (one + other) / 2 + (other - one) / 2 * nodes
        values = [density(float(x)) * -math.expm1(epsilon - at - float(x)) for x in places]
        total += (other - one) / 2 * float(np.dot(weights, values))
    return total


CASES = [
    ("laplace", 1, "3/2", 1),
    ("laplace", 1, 15, 1),
    ("laplace", 2, 2, 2),
    ("gaussian", 1, "11/10", 1),
    ("gaussian", 5, 25, 3),
    ("gaussian", 2, 3, 4),
]


@pytest.mark.parametrize(("law", "scale", "threshold", "keys"), thinned(CASES))
@pytest.mark.parametrize("replaced", [False, True])
def test_the_curve_is_the_exact_worst_case(
    law: str, scale: int, threshold: str | int, keys: int, replaced: bool
) -> None:
    family = NoisyHistogram(law, F(scale), F(threshold), keys, F(1), replaced)
    rough, exact = family.bounds(F(1))
    for epsilon in (0.0, 0.125, 0.5, 1.0):
        true = exact_delta(law, scale, float(F(threshold)), keys, epsilon, replaced)
        found = float(exact.delta(epsilon=epsilon).upper)
        assert true * (1 - 1e-10) <= found <= true * (1 + 1e-6)
        assert found <= float(rough.delta(epsilon=epsilon).upper) * (1 + 1e-10)
        # Composed with nothing else it is the same, up to its grid.
        step = F(1, 1 << 10)
        [(part, _)] = exact.parts
        heights = curve(masses(part, step))
        first = masses(part, step).first
        failure = float(1 - exact.no_failure)
        on_grid = failure + (1 - failure) * heights[int(epsilon * 1024) - first]
        assert true * (1 - 1e-10) <= on_grid <= true + 1e-4
        if 1e-12 < found < 1:
            again = exact.epsilon(delta=found)
            assert again is not None and float(again.upper) <= epsilon + 1e-6


def test_exact_values_of_the_contract() -> None:
    """`theory-additions.md` 1, and `training-and-selection.md` 4."""

    def epsilon(family: NoisyHistogram, delta: str) -> float:
        found = list(family.bounds(F(1)))[-1].epsilon(delta=delta)
        return math.inf if found is None else float(found.upper)

    one = NoisyHistogram("laplace", F(1), F(15), 1, F(1), True)
    assert epsilon(one, "1e-6") == pytest.approx(1.999996, abs=1e-6)
    assert epsilon(one, "1e-8") == math.inf
    exact = list(one.bounds(F(1)))[-1]
    assert float(exact.delta(epsilon=1).upper) == pytest.approx(0.241836675359208, rel=1e-7)
    assert float(exact.delta(epsilon=3).upper) == pytest.approx(4.15764359551784e-7, rel=1e-10)
    four = NoisyHistogram("laplace", F(4), F(60), 4, F(1), True)
    assert epsilon(four, "1e-6") == pytest.approx(1.99974409823416, rel=1e-8)
    gaussian = NoisyHistogram("gaussian", F(5), F(30), 1, F(1), True)
    assert epsilon(gaussian, "1e-6") == pytest.approx(1.21196745273807, rel=1e-8)
    many = NoisyHistogram("gaussian", F(5), F(30), 4, F(1), True)
    assert epsilon(many, "1e-6") == pytest.approx(2.58227337761471, rel=1e-8)
    plain = list(NoisyHistogram("gaussian", F(5), F(30), 1, F(1)).bounds(F(1)))[-1]
    assert float(plain.delta(epsilon=1).upper) == pytest.approx(1.7546333319e-8, rel=1e-8)


@pytest.mark.slow
def test_a_larger_parameter_moves_the_bound_one_way() -> None:
    """Random pairs: more noise, a higher threshold or fewer keys never cost more."""
    draw = random.Random(45)
    for _ in range(12):
        law = draw.choice(["laplace", "gaussian", "geometric"])
        scale, keys = F(draw.randint(1, 40), 8), draw.randint(1, 10)
        threshold = 1 + F(draw.randint(1, 80), 8) * scale
        here = (law, scale, threshold, keys, F(1), draw.random() < 0.5)
        better = draw.choice(
            [
                (law, scale, threshold + F(draw.randint(1, 16), 4), *here[3:]),
                (law, scale, threshold, max(1, keys - draw.randint(1, 3)), *here[4:]),
            ]
        )
        at = F(draw.randint(0, 16), 8)
        for one, other in zip(
            NoisyHistogram(*here).bounds(F(1)), NoisyHistogram(*better).bounds(F(1)), strict=True
        ):
            worse, least = (each.delta(epsilon=at).upper for each in (one, other))
            assert least <= worse * (1 + F(1, 10**6))
        exact = list(NoisyHistogram(*here).bounds(F(1)))[-1]
        small, large = sorted(F(1, 10 ** draw.randint(1, 9)) for _ in range(2))
        ends = [exact.epsilon(delta=each) for each in (small, large)]
        if ends[0] is not None:
            assert ends[1] is not None and ends[1].upper <= ends[0].upper


@pytest.mark.slow
def test_many_keys_keep_to_the_product() -> None:
    """Beyond the numbers of keys that are told apart the rest is bounded, never left out."""
    for replaced in (False, True):
        family = NoisyHistogram("gaussian", F(3), F(4), 30, F(1), replaced)
        rough, exact = family.bounds(F(1))
        for epsilon in (0, 1, 3):
            true = exact_delta("gaussian", 3, 4, 30, epsilon, replaced)
            found = exact.delta(epsilon=epsilon).upper
            assert true * (1 - 1e-10) <= float(found)
            assert found <= rough.delta(epsilon=epsilon).upper * (1 + F(1, 10**9))


@pytest.mark.slow
def test_rows_replaced_are_less_than_two_steps() -> None:
    more = f"{STATED}, scale: 2, threshold: 30"
    replaced = epsilons(f"{more}, relation: unbounded", "bounded")
    two = epsilons(more, "{relation: unbounded, distance: 2}")
    assert all(each <= both for each, both in zip(replaced, two, strict=True))
    one = epsilons(more)
    assert all(each > least for each, least in zip(replaced[1:], one[1:], strict=True))
    assert epsilons(f"{more}, relation: unbounded", "{relation: bounded, distance: 2}") >= two
