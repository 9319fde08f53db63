"""Several rows replaced above a sample of one public size: against any laws, and against noise."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from reference.finite_laws import normal, points, weights, worse
from scipy.optimize import brentq
from scipy.stats import binom, hypergeom, norm
from volume import thinned

from dpcompose.curves.answers import delta_at
from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss
from dpcompose.curves.backends.lattice.loss_distribution import bound_alone, masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import Curve, ReplacedRows, Response
from dpcompose.curves.rounding import chances as binomial_chances

F = Fraction
EPSILONS = [0.0, 0.01, 0.3, 0.8, 1.5, 2.5, 4.0]


def chances(rows: int, size: int, of: int) -> tuple[F, ...]:
    whole = math.comb(of, size)
    return tuple(
        F(math.comb(rows, n) * math.comb(of - rows, size - n), whole)
        for n in range(min(rows, size) + 1)
    )


@pytest.mark.parametrize("seed", range(40))
def test_random_laws(seed: int) -> None:
    """Any laws of what is released with so many of the old rows, or of the new ones."""
    rng = random.Random(seed)
    near, rows = rng.choice([1.0, 0.5, 0.1]), rng.choice([1, 2, 3])
    none = weights(rng)
    old = [none, *((1 - near) * none + near * weights(rng) for _ in range(rows))]
    new = [none, *((1 - near) * none + near * weights(rng) for _ in range(rows))]
    size = rng.randint(rows, 9)
    w = chances(rows, size, 10)
    first: np.ndarray = np.sum([float(x) * law for x, law in zip(w, old, strict=True)], axis=0)
    second: np.ndarray = np.sum([float(x) * law for x, law in zip(w, new, strict=True)], axis=0)
    once = tuple(
        points(*((a[j], b[i]) for a, b in ((old, new), (new, old)) for i in range(j + 1)))
        for j in range(1, rows + 1)
    )
    found = masses(ReplacedRows(w, once), F(1, 256))
    for epsilon in EPSILONS:
        truth = worse(first, second, epsilon)
        assert profile(found, epsilon) >= truth * (1 - 1e-9) - 1e-13


@pytest.mark.parametrize(("rows", "size", "of"), [(1, 5, 50), (2, 5, 50), (3, 20, 50), (2, 9, 10)])
def test_noise_that_the_new_rows_do_not_move(rows: int, size: int, of: int) -> None:
    w = chances(rows, size, of)
    law = hypergeom(of, rows, size).pmf(range(rows + 1))
    assert [float(x) for x in w] == pytest.approx(list(law), rel=1e-9)
    once = tuple(Curve((), F(n * n)) for n in range(1, rows + 1))
    found = masses(ReplacedRows(w, once), F(1, 2048))
    mixture: np.ndarray = np.sum([x * normal(n) for n, x in enumerate(law)], axis=0)
    for epsilon in EPSILONS:
        truth = worse(mixture, normal(0), epsilon)
        assert truth * (1 - 1e-6) - 1e-13 <= profile(found, epsilon)
        # Where several rows lose less than one, of a test at this level, more is not known.
        assert profile(found, epsilon) <= truth * 1.04 + 1e-11


def response(epsilon: F) -> Curve:
    return Curve(((Response(epsilon), 1),))


def test_one_row_is_the_theorem_for_one_row() -> None:
    part = ReplacedRows((F(9, 10), F(1, 10)), (response(F(1)),))
    for epsilon in (0.0, 0.05, 0.1):
        # q·δ(ln(1 + (e^ε - 1)/q)) with δ(x) = (e - e^x)/(1 + e).
        inner = 1 + math.expm1(epsilon) / 0.1
        truth = 0.1 * (math.e - inner) / (1 + math.e)
        found = delta_at(Curve(((part, 1),)), F(epsilon)).upper
        assert truth <= float(found) <= truth * (1 + 1e-4)
        law = masses(part, F(1, 4096))
        assert truth <= profile(law, epsilon) <= truth * (1 + 1e-2)


def test_extremes() -> None:
    known = greatest_loss(ReplacedRows((F(1, 2), F(1, 4), F(1, 4)), (response(F(1)),) * 2))
    assert known is not None
    assert float(known) == pytest.approx(math.log((1 + math.e) / 2), rel=1e-12)
    assert greatest_loss(ReplacedRows((F(1, 2), F(1, 2)), (Curve((), F(1)),))) is None
    nothing = ReplacedRows((F(1, 3), F(2, 3)), (Curve(),))
    assert profile(masses(nothing, F(1, 64)), 0.0) <= 1e-9
    lost = ReplacedRows((F(1, 3), F(1, 3), F(1, 3)), (Curve((), no_failure=F(0)),) * 2)
    assert profile(masses(lost, F(1, 64)), 0.0) == pytest.approx(2 / 3, rel=1e-6)
    # All rows of the sample are other ones: there is none without them.
    whole = masses(ReplacedRows((F(0), F(0), F(1)), (response(F(1)), response(F(2)))), F(1, 64))
    truth = (math.exp(2) - math.exp(0.5)) / (math.exp(2) + 1)
    assert truth <= profile(whole, 0.5) <= truth * (1 + 1e-3)
    far = ReplacedRows((F(1, 3), F(2, 3)), (response(F(10**7)),))
    assert profile(masses(far, F(1, 64)), 1.0) >= 2 / 3 * (1 - 1e-9)
    tiny = ReplacedRows((1 - F(1, 10**70), F(1, 10**70)), (response(F(1)),))
    assert profile(masses(tiny, F(1, 64)), 0.0) <= 1e-9


def with_replacement(
    size: int, of: int, sigma: float, most: int
) -> tuple[ReplacedRows, np.ndarray]:
    """One row replaced of which a sample of `size` draws with replacement holds any number; the
    part, and the chances of each number."""
    numbers = [*range(1, most), size]
    part = ReplacedRows(
        tuple(binomial_chances(size, F(1, of), numbers)),
        tuple(Curve((), F(n) ** 2 / F(sigma) ** 2) for n in numbers),
    )
    return part, binom(size, 1 / of).pmf(range(min(size, most + 20) + 1))


def mixture_above(
    weights: np.ndarray, up: np.ndarray, down: np.ndarray, sigma: float, epsilon: float
) -> float:
    """H(Σ w·N(up) ‖ Σ w·N(down)) at `epsilon`, by the one threshold of a monotone ratio."""

    def gap(x: float) -> float:
        here, there = (weights @ norm.pdf(x, at, sigma) for at in (up, down))
        return float(here - math.exp(epsilon) * there)

    x = brentq(gap, -40 * sigma, 60 * sigma) if gap(-40 * sigma) * gap(60 * sigma) < 0 else 0.0
    places = np.array([x, *np.linspace(-10 * sigma, 30 * sigma, 200)])[:, None]
    here, there = (norm.sf(places, at, sigma) @ weights for at in (up, down))
    return float((here - math.exp(epsilon) * there).max())


def free_bound(weights: np.ndarray, sigma: float, epsilon: float) -> float:
    """The bound of `theory-additions.md` 2, least over its free z."""
    k = np.arange(1, len(weights))
    w, none, grown = weights[1:], weights[0], math.exp(epsilon)

    def once(mu: np.ndarray, at: np.ndarray) -> np.ndarray:
        found: np.ndarray = norm.cdf(mu / 2 - at / mu) - np.exp(at) * norm.cdf(-mu / 2 - at / mu)
        return found

    best = 1.0
    places = np.linspace(-8 * sigma, 20 * sigma, 2000)[:, None]
    hits, alarms = norm.sf((places - k) / sigma), norm.sf(places[:, 0] / sigma)
    for z in np.linspace(-3 * sigma, 12 * sigma, 120):
        b = np.minimum(1.0, grown * np.exp(-(k * z / sigma**2 - k**2 / (2 * sigma**2))))
        first = float((hits @ ((1 - b) * w) - (grown - 1) * none * alarms).max())
        with np.errstate(divide="ignore", under="ignore"):
            second = float((b * w) @ once(k / sigma, epsilon - np.log(b)))
        best = min(best, max(first, 0.0) + second)
    return best


@pytest.mark.parametrize(
    ("size", "of", "sigma"),
    thinned([(10, 10, 1.0), (50, 1000, 2.0), (30, 10, 3.0), (100, 1000, 1.0)]),
)
def test_a_row_drawn_several_times(size: int, of: int, sigma: float) -> None:
    """Above what Gaussian noise attains, whichever the other rows are, and never above the theorem
    with one free parameter."""
    part, weights = with_replacement(size, of, sigma, 14 if size > 14 else size)
    bound = bound_alone(part, "removed")
    assert bound is not None
    k = np.arange(len(weights), dtype=float)
    for epsilon in (0.0, 0.1, 0.5, 1.0):
        found = float(bound.at(np.array([epsilon]))[0])
        for share in (0.0, 0.25, 0.5, 1.0):
            for one, other in ((share * k, (share - 1) * k), ((share - 1) * k, share * k)):
                truth = max(
                    mixture_above(weights, sign * one, sign * other, sigma, epsilon)
                    for sign in (1.0, -1.0)
                )
                assert found >= truth * (1 - 1e-9) - 1e-13
        assert found <= free_bound(weights, sigma, epsilon) * (1 + 2e-3) + 1e-12


def test_values_of_the_contract_with_replacement() -> None:
    """`theory-additions.md` 2: what is attained, and the least bound."""
    part, _ = with_replacement(100, 1000, 1.0, 14)
    bound = bound_alone(part, "removed")
    assert bound is not None
    found = bound.at(np.array([0.0, 0.1, 0.5, 1.0, 3.0, 4.396444896]))
    lower = [0.03787573413, 0.01879086159, 0.0029242000, 5.971460935e-4, 8.877173336e-6, 1e-6]
    upper = [0.03787573413, 0.01879343754, 0.0029242002, 5.971460935e-4, 8.877173336e-6, 1e-6]
    for each, least, most in zip(found, lower, upper, strict=True):
        assert least * (1 - 1e-8) <= each <= most * (1 + 1e-5)
