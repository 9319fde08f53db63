"""δ of small compositions against the sum over all outcomes, in both orders of the tables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.lattice.lattice import composed
from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.renyi import renyi_curves as renyi
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MixtureOfDraws,
    Part,
    PoissonGroup,
    Response,
    Sampled,
)
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse

F = Fraction
ONE, HALF = F(1), F(1, 2)


class Pair(NamedTuple):
    """The chances of each outcome on two tables."""

    p: tuple[float, ...]
    q: tuple[float, ...]


def both(*pairs: Pair) -> Pair:
    """Independent pairs together."""
    found = Pair((1.0,), (1.0,))
    for each in pairs:
        found = Pair(
            tuple(a * b for a, b in product(found.p, each.p)),
            tuple(a * b for a, b in product(found.q, each.q)),
        )
    return found


def response(epsilon: float) -> Pair:
    high = 1 / (1 + math.exp(-epsilon))
    return Pair((high, 1 - high), (1 - high, high))


def kary(k: int, epsilon: float) -> Pair:
    whole = math.exp(epsilon) + k - 1
    rest = (1 / whole,) * (k - 2)
    return Pair(
        (math.exp(epsilon) / whole, 1 / whole, *rest), (1 / whole, math.exp(epsilon) / whole, *rest)
    )


def geometric(shift: int, scale: float) -> Pair:
    ratio = math.exp(-1 / scale)
    places = range(-60, 61 + shift)
    mass = [(1 - ratio) / (1 + ratio) * ratio ** abs(n) for n in places]
    other = [(1 - ratio) / (1 + ratio) * ratio ** abs(n - shift) for n in places]
    return Pair(tuple(mass), tuple(other))


def sampled(pair: Pair, rate: float) -> Pair:
    """The table with a row, which is drawn by chance, against the one without."""
    return Pair(tuple(rate * a + (1 - rate) * b for a, b in zip(*pair, strict=True)), pair.q)


def turned(pair: Pair) -> Pair:
    return Pair(pair.q, pair.p)


def leaking(pair: Pair, no_failure: float) -> Pair:
    """With what is left of 1 everything is given away."""
    p, q = (tuple(no_failure * each for each in side) for side in pair)
    return Pair((*p, 1 - no_failure, 0.0), (*q, 0.0, 1 - no_failure))


def delta(pair: Pair, epsilon: float) -> float:
    return sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(*pair, strict=True))


def of(*parts: tuple[Part, int], no_failure: Fraction = ONE) -> Curve:
    return Curve(tuple(parts), F(0), no_failure)


R1, R2 = response(1), response(0.5)
BASE = of((Response(ONE), 2))
LEAKY = of((Response(ONE), 2), no_failure=F(9, 10))
S = sampled(both(R1, R1), 0.25)
#: A sample of a sample, with the inner tables in either order.
SS, ST = sampled(S, 0.5), sampled(turned(S), 0.5)
#: A composition, pairs of tables that it must cover, and whether it is the worst of just these.
CASES: dict[str, tuple[Curve, list[Pair], bool]] = {
    "responses": (of((Response(ONE), 3), (Response(HALF), 2)), [both(R1, R1, R1, R2, R2)], True),
    "values": (of((KaryResponse(4, ONE), 3)), [both(*[kary(4, 1)] * 3)], True),
    "one geometric": (of((GeometricLoss(3, ONE), 1)), [geometric(3, 1)], True),
    "two geometric": (of((GeometricLoss(2, F(2)), 2)), [both(*[geometric(2, 2)] * 2)], True),
    "unlike": (
        of((GeometricLoss(3, ONE), 1), (KaryResponse(3, HALF), 2), (Response(ONE), 1)),
        [both(geometric(3, 1), kary(3, 0.5), kary(3, 0.5), R1)],
        True,
    ),
    "a leak": (LEAKY, [leaking(both(R1, R1), 0.9)], True),
    "a sample": (of((Sampled(F(1, 4), BASE), 1)), [S, turned(S)], True),
    "a removed row": (of((Sampled(F(1, 4), BASE, False, "removed"), 1)), [S], False),
    "three samples": (
        of((Sampled(F(1, 4), BASE, False, "removed"), 3)),
        [both(S, S, S), turned(both(S, S, S))],
        False,
    ),
    "samples of added rows": (
        of((Sampled(F(1, 4), BASE, False, "added"), 3)),
        [turned(both(S, S, S))],
        False,
    ),
    "samples and noise": (
        of((Sampled(F(1, 4), BASE), 2), (GeometricLoss(1, ONE), 1)),
        [both(S, S, geometric(1, 1)), both(turned(S), turned(S), geometric(1, 1))],
        False,
    ),
    "samples of what leaks": (
        of((Sampled(F(1, 4), LEAKY), 3)),
        [both(*[sampled(leaking(both(R1, R1), 0.9), 0.25)] * 3)],
        False,
    ),
    "samples of one size": (of((Sampled(F(1, 4), BASE, True), 3)), [both(S, S, S)], False),
    "samples of samples": (
        of((Sampled(HALF, of((Sampled(F(1, 4), BASE, False, "removed"), 1))), 3)),
        [both(SS, SS, turned(ST)), both(ST, ST, turned(SS)), both(SS, ST, turned(SS))],
        False,
    ),
    "what is drawn": (
        of((MixtureOfDraws(((F(1, 4), of((Response(ONE), 1))), (F(1, 2), BASE))), 2)),
        [
            both(
                *[
                    Pair(
                        (*(0.25 * x for x in R1.p), *(0.5 * x for x in both(R1, R1).p), 0.25),
                        (*(0.25 * x for x in R1.q), *(0.5 * x for x in both(R1, R1).q), 0.25),
                    )
                ]
                * 2
            )
        ],
        False,
    ),
    "any of two": (
        of((Maximum((of((Response(ONE), 3)), of((KaryResponse(9, F(3)), 1)))), 1)),
        [both(R1, R1, R1), kary(9, 3)],
        True,
    ),
    "three steps": (of((Grouped(of((GeometricLoss(1, ONE), 1)), 3), 1)), [geometric(3, 1)], False),
    "five steps": (of((Grouped(of((GeometricLoss(1, ONE), 1)), 5), 1)), [geometric(5, 1)], False),
    "two drawn rows": (
        of((PoissonGroup(F(1, 4), (of((Response(ONE), 1)), BASE), 0, (), True), 1)),
        [
            Pair(
                tuple(
                    9 / 16 * c + 6 / 16 * b + 1 / 16 * a
                    for a, b, c in zip(
                        both(R1, R1).p,
                        both(R1, turned(R1)).p,
                        both(turned(R1), turned(R1)).p,
                        strict=True,
                    )
                ),
                both(turned(R1), turned(R1)).p,
            )
        ],
        False,
    ),
}
#: At these ε.
PLACES = ("0", "0.1", "0.7", "1.3", "2.1")


@pytest.mark.parametrize("case", CASES)
def test_no_delta_is_below_that_of_all_outcomes(case: str) -> None:
    composition, pairs, tight = CASES[case]
    for place in PLACES:
        worst = max(delta(each, float(place)) for each in pairs)
        found = float(delta_at(composition, F(place)).upper)
        assert found >= worst * (1 - 1e-9) - 1e-15, place
        assert not tight or found <= worst * (1 + 1e-3) + 1e-12, place


@pytest.mark.parametrize("case", CASES)
def test_no_epsilon_is_below_that_of_all_outcomes(case: str) -> None:
    composition, pairs, _ = CASES[case]
    for place in ("0.3", "0.05", "0.001"):
        found = epsilon_at(composition, F(place))
        assert found is None or max(delta(each, float(found.upper)) for each in pairs) <= float(
            place
        ) * (1 + 1e-9)


def gaussian_delta(mu: float, epsilon: float) -> float:
    def tail(x: float) -> float:
        return math.erfc(x / math.sqrt(2)) / 2

    return tail(epsilon / mu - mu / 2) - math.exp(epsilon) * tail(epsilon / mu + mu / 2)


def test_conversions_of_divergences_by_their_formula() -> None:
    """δ = e^((α-1)(αρ-ε))·(1-1/α)^α/(α-1) at its least, and never below the Gaussian of that ρ."""
    for parts, gaussian, rho in (
        (((Concentrated(HALF), 3),), F(0), 1.5),
        (((Concentrated(HALF), 1),), F(2), 1.5),
        ((), F(3), 1.5),
    ):
        composition = Curve(parts, gaussian, F(99, 100))
        for epsilon in (1.0, 3.0, 6.0):
            found = float(renyi.delta_at(composition, F(epsilon)))
            least = min(
                math.exp((a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a)) / (a - 1)
                for a in (1 + 0.0005 * 1.003**n for n in range(3200))
            )
            assert found == pytest.approx(0.01 + 0.99 * min(1.0, least), rel=1e-4)
            assert found >= 0.01 + 0.99 * gaussian_delta(math.sqrt(2 * rho), epsilon)


@pytest.mark.parametrize(("size", "count"), [(5, 2), (5, 3), (40, 7), (30_001, 5)])
def test_sums_of_equal_losses(size: int, count: int) -> None:
    """Every chance is at least that of the exact sum."""
    p = np.exp(-np.abs(np.arange(size) - size // 3) / (size / 10))
    p *= 0.99 / p.sum()
    law = Masses(F(1, 4096), -(size // 2), p, 0.01)
    found = composed([(law, count)])
    exact = p
    for _ in range(count - 1):
        length = len(exact) + size - 1
        exact = np.fft.irfft(np.fft.rfft(exact, length) * np.fft.rfft(p, length), length)
    places = np.arange(len(exact)) - count * (size // 2)
    inside = (places >= found.first) & (places < found.first + len(found.p))
    assert np.all(found.p[places[inside] - found.first] >= exact[inside] - 1e-15)
    assert found.infinite >= (1 - 0.99**count) * (1 - 1e-12)
    assert float(found.p.sum()) == pytest.approx(0.99**count, rel=1e-6)
    assert found.infinite <= 1 - 0.99**count + 1e-12
