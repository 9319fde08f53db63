"""The engine against 50-digit sums written independently: every outcome of small compositions."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from mpmath import mp, mpf
from reference import curves, lattice
from volume import seeds

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.curve import Certified, Curve, Response
from dpcompose.curves.families.laplace_loss import LaplaceLoss

F = Fraction
ZERO, ONE = F(0), F(1)
MILLIONTH = F(1, 10**6)


# --- the truth -----------------------------------------------------------------------------------


def truth(epsilons: list[Fraction], square: Fraction, no_failure: Fraction) -> curves.Profile:
    """δ(ε) by definition: of every loss of the composed responses with its chance."""
    law = lattice.Law(infinite=1 - no_failure)
    for each in epsilons:
        law = law * lattice.response(each)
    return curves.mixed(law, curves.gaussian(square)) if square else law.delta


def composition(
    epsilons: list[Fraction], square: Fraction = ZERO, no_failure: Fraction = ONE
) -> Curve:
    return Curve(tuple((Response(e), 1) for e in epsilons), square, no_failure)


def holds(
    epsilons: list[Fraction],
    square: Fraction,
    no_failure: Fraction,
    delta: Fraction,
    found: Certified | None,
    excess: Fraction = MILLIONTH,
) -> None:
    """The ε found is enough at δ, and less by the allowed excess is not."""
    assert found is not None
    true = truth(epsilons, square, no_failure)
    with mp.workdps(70):
        wanted = lattice.exact(delta)
        assert true(found.upper) <= wanted * (1 + mpf(10) ** -60)
        if found.upper:
            assert true(found.upper / (1 + excess)) > wanted
        if found.lower:
            assert found.lower <= found.upper
            assert true(found.lower) >= wanted * (1 - mpf(10) ** -60)


DELTAS = [F(1, 2), F(1, 10), F(1, 10**3), F(1, 10**6), F(1, 10**9), F(1, 10**15), F(1, 10**30)]


def drawn(rng: Random) -> list[Fraction]:
    size = rng.choice([F(1, 1000), F(1, 10), F(1, 2), F(2), F(30), F(200)])
    digits = rng.choice([10, 100, 10**12, 30, 7])
    count = rng.randint(1, 7)
    epsilons = [size * F(rng.randint(1, digits), digits) for _ in range(rng.randint(1, count))]
    return [rng.choice(epsilons) for _ in range(count)]


@pytest.mark.parametrize("seed", range(60))
def test_random_responses(seed: int) -> None:
    rng = Random(seed)
    epsilons, delta = drawn(rng), rng.choice(DELTAS)
    no_failure = rng.choice([F(1), 1 - delta / 3])
    found = epsilon_at(composition(epsilons, F(0), no_failure), delta)
    holds(epsilons, F(0), no_failure, delta, found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(40, range(60)))
def test_random_responses_with_a_gaussian(seed: int) -> None:
    rng = Random(1000 + seed)
    epsilons, delta = drawn(rng), rng.choice(DELTAS)
    square = max(epsilons) ** 2 * rng.choice([F(1, 10**6), F(1, 100), F(1), F(100)])
    found = epsilon_at(composition(epsilons, square), delta)
    holds(epsilons, square, F(1), delta, found)


@pytest.mark.parametrize("seed", range(40))
def test_random_delta(seed: int) -> None:
    rng = Random(2000 + seed)
    epsilons = drawn(rng)
    square = rng.choice([F(0), max(epsilons) ** 2])
    at = sum(epsilons) * F(rng.randint(0, 99), 100)
    found = delta_at(composition(epsilons, square), at)
    with mp.workdps(60):
        true = truth(epsilons, square, F(1))(at)
        assert true <= lattice.exact(found.upper) <= true * (1 + mpf(10) ** -6)
        assert found.lower is None or lattice.exact(found.lower) <= true


# --- printed numbers -----------------------------------------------------------------------------


def repeated(
    *parts: tuple[Fraction, int], square: Fraction = ZERO, no_failure: Fraction = ONE
) -> Any:
    return Curve(tuple((Response(e), n) for e, n in parts), square, no_failure)


TENTHS = [(F(i, 100), 1) for i in range(1, 11)]
THOUSANDTH = 1 - F(1, 1000)
PRINTED = [
    (repeated((F(1, 20), 20)), F(1, 1000), "0.497986408125"),
    (repeated((F(1, 10), 100)), MILLIONTH, "4.77456758810798615"),
    (repeated((F(1, 10), 1)), MILLIONTH, "0.0999980951607677589"),
    (repeated((F(1, 10), 10)), MILLIONTH, "0.999370905721758725"),
    (repeated((F(1, 10), 1000)), MILLIONTH, "19.3446714479930437"),
    (repeated((F(1, 10), 10000)), MILLIONTH, "96.5718400331302032"),
    (repeated((F(1), 30), no_failure=THOUSANDTH**30), F(6, 100), "21.7096126245282"),
    (repeated((F(1), 30), no_failure=THOUSANDTH**30), F(1, 10), "19.8173791700521"),
    (repeated((F(1), 2)), F(1, 10), "1.79284123779635"),
    (
        repeated((F(1, 10), 1000), no_failure=(1 - F(1, 10**9)) ** 1000),
        MILLIONTH,
        "26.8191437897306618",
    ),
    (repeated(*((e, 10) for e, _ in TENTHS)), MILLIONTH, "2.76692928173938239"),
    (repeated(*((e, 100) for e, _ in TENTHS)), MILLIONTH, "10.6910196302554884"),
    (Curve(gaussian=F(1, 4)), MILLIONTH, "2.25408465021974"),
    (Curve(gaussian=F(1, 100)), MILLIONTH, "0.396857377644083590"),
    (Curve(gaussian=F(1)), MILLIONTH, "4.88655411746221200"),
    (Curve(gaussian=F(100)), MILLIONTH, "96.7172719638676989"),
    (repeated((F(1, 100), 365)), MILLIONTH, "0.790112738285889"),
    (repeated((F(1, 100), 5000)), MILLIONTH, "3.30637827278498"),
]


@pytest.mark.parametrize(("asked", "delta", "printed"), PRINTED)
def test_printed_numbers(asked: Curve, delta: Fraction, printed: str) -> None:
    found = epsilon_at(asked, delta)
    assert found is not None and found.exact
    assert abs(found.upper / F(printed) - 1) < F(1, 10**11)


LAPLACE = [
    (1, "0.0999979999989999993"),
    (10, "0.998978089447219839"),
    (100, "4.69266741468018899"),
    (1000, "18.9502873675395582"),
]


@pytest.mark.parametrize(("count", "printed"), LAPLACE)
def test_laplace(count: int, printed: str) -> None:
    found = epsilon_at(Curve(((LaplaceLoss(F(1, 10)), count),)), MILLIONTH)
    assert found is not None
    assert F(printed) * (1 - F(1, 10**15)) <= found.upper <= F(printed) * (1 + F(1, 10**6))


# --- laws and limits -----------------------------------------------------------------------------


def test_no_finite_epsilon() -> None:
    assert epsilon_at(Curve(gaussian=F(1)), ZERO) is None
    assert epsilon_at(repeated((F(1), 1), no_failure=1 - MILLIONTH), F(1, 10**7)) is None
    found = epsilon_at(repeated((F(1), 2), (F(1, 3), 4)), ZERO)
    assert found is not None and found.upper == F(10, 3)


def test_off_grid_stays_near_the_grid() -> None:
    # ε that are moved by one part in 10^12 change the answer by about as much.
    shifted = [(e + F(i * i * i + 1, 10**15 + 37), 100) for i, (e, _) in enumerate(TENTHS)]
    found = epsilon_at(repeated(*shifted), MILLIONTH)
    exact = F("10.6910196302554884")
    assert found is not None and found.grid is not None and not found.exact
    assert exact <= found.upper <= exact * (1 + MILLIONTH)


HOSTILE = [
    repeated((F(10**6), 2), (F(1), 5)),
    repeated((F(1, 10**300), 2), (F(1), 5)),
    repeated((F(10**2000 + 1, 3 * 10**2000 + 7), 9), (F(1), 5)),
    repeated((F(1, 10**8), 10**15), (F(3, 10**8), 10**15)),
    repeated((F(1, 10**5), 10**10)),
    pytest.param(repeated((F(1, 10**5), 10**12)), marks=pytest.mark.long),
    repeated((F(1), 10), square=F(1, 10**100)),
    repeated((F(1), 10), square=F(10**10)),
    repeated(*((F(i, 10**6), 1) for i in range(1, 701))),
    pytest.param(repeated(*((F(i, 10**6), 1) for i in range(1, 10_001))), marks=pytest.mark.long),
    Curve(gaussian=F(10**400)),
    Curve(gaussian=F(1, 10**400)),
    Curve(((LaplaceLoss(F(1, 10**300)), 10),)),
    Curve(((LaplaceLoss(F(10**6)), 10),)),
]


def basic(asked: Curve) -> Fraction:
    """The sum of all ε."""
    total = ZERO
    for part, count in asked.parts:
        if isinstance(part, Response):
            total += part.epsilon * count
        elif isinstance(part, LaplaceLoss):
            total += part.shift * count
    return total


@pytest.mark.slow
@pytest.mark.parametrize("asked", HOSTILE)
def test_hostile_sizes_have_an_answer(asked: Curve) -> None:
    for delta in (F(1, 2), MILLIONTH, F(1, 10**30)):
        found = epsilon_at(asked, delta)
        assert found is not None and found.upper >= 0
        if not asked.gaussian:
            assert found.upper <= F(1001, 1000) * basic(asked)
        back = delta_at(asked, found.upper)
        assert 0 <= back.upper <= 1
