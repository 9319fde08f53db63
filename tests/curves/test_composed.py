"""Composed losses: against sums of binomial terms, scipy's normal law, and moments by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.closed_forms.behind_sample import (
    amplified,
    delta_behind,
    epsilon_behind,
)
from dpcompose.curves.backends.closed_forms.gaussian_profile import (
    gaussian_delta,
    gaussian_epsilon,
)
from dpcompose.curves.backends.closed_forms.responses import equal_delta, equal_epsilon, log_term
from dpcompose.curves.backends.lattice import components, engine, grids, normal
from dpcompose.curves.backends.lattice.fewer_losses import (
    is_merged,
    merged,
    rounded,
)
from dpcompose.curves.backends.lattice.lattice import composed, lattice_law
from dpcompose.curves.backends.lattice.law import Law, delta_of, epsilon_of, lower_epsilon
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import Masses
from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.backends.renyi.cumulants import (
    cumulant,
    gap,
    not_below,
    of_response,
    quadratic,
    softplus,
)
from dpcompose.curves.backends.renyi.largest import largest_ratio
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    Points,
    Renyi,
    Response,
    Sampled,
)
from dpcompose.curves.families.geometric_loss import GeometricLoss

F = Fraction
TENTH = F(1, 10)


def true_delta(size: float, copies: int, epsilon: float) -> float:
    """Of so many responses: Σ P(l)·(1 - e^(ε-l)) over the losses l above ε."""
    chance = math.exp(size) / (1 + math.exp(size))
    found = 0.0
    for minus in range(copies + 1):
        loss = (copies - 2 * minus) * size
        if loss > epsilon:
            found += binom.pmf(minus, copies, 1 - chance) * -math.expm1(epsilon - loss)
    return float(found)


def true_epsilon(size: float, copies: int, delta: float) -> float:
    return float(
        brentq(lambda e: true_delta(size, copies, e) - delta, 0, size * copies, xtol=1e-14)
    )


# --- equal responses -----------------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 7, 60])
@pytest.mark.parametrize("delta", [1e-2, 1e-5])
def test_equal_responses(copies: int, delta: float) -> None:
    found = equal_epsilon(TENTH, copies, F(delta))
    assert found is not None and found.lower is not None
    assert float(found.upper) == pytest.approx(true_epsilon(0.1, copies, delta), abs=1e-9)
    assert found.lower <= found.upper
    back = equal_delta(TENTH, copies, found.upper)
    assert back is not None and float(back.upper) <= delta * (1 + 1e-12)
    assert log_term(TENTH, copies, 0) == pytest.approx(
        copies * math.log(math.exp(0.1) / (1 + math.exp(0.1))), rel=1e-4
    )


def test_no_delta_leaves_the_sum_and_a_delta_of_one_nothing() -> None:
    sure, nothing = equal_epsilon(TENTH, 5, F(0)), equal_epsilon(TENTH, 5, F(1))
    assert sure is not None and sure.upper == F(1, 2)
    assert nothing is not None and nothing.upper == 0


# --- components ----------------------------------------------------------------------------------


def test_cumulants_of_a_whole_by_hand() -> None:
    """K(θ) = Σ n·ln(p·e^(θε) + (1-p)·e^(-θε)) + μ²θ(θ+1)/2, with its mean and its variance."""
    parts = components.ensemble({F(1): 3, F(1, 2): 2}, (), F(1, 4), F(1, 1024))
    assert parts.greatest() == 4

    def k(theta: float) -> float:
        total = 0.25 * theta * (theta + 1) / 2
        for size, n in ((1.0, 3), (0.5, 2)):
            p = math.exp(size) / (1 + math.exp(size))
            total += n * math.log(p * math.exp(theta * size) + (1 - p) * math.exp(-theta * size))
        return total

    for theta in (0.0, 0.7, 3.0):
        found, h = components.moments(parts, theta), 1e-5
        assert found.cumulant == pytest.approx(k(theta), abs=1e-9)
        mean = (k(theta + h) - k(theta - h)) / (2 * h)
        assert found.mean == pytest.approx(mean, abs=1e-6)
        second = (k(theta + 1e-3) - 2 * k(theta) + k(theta - 1e-3)) / 1e-6
        assert found.variance == pytest.approx(second, rel=1e-3)
    theta = components.tilt_for_epsilon(parts, 3.0)
    assert components.moments(parts, theta).mean == pytest.approx(3.0, abs=0.01)
    assert components.tilt_for_delta(parts, math.log(1e-6)) > components.tilt_for_delta(
        parts, math.log(1e-2)
    )


def test_chernoff_leaves_as_little_as_it_says() -> None:
    parts = components.ensemble({F(1): 40}, (), F(0), F(1))
    above, below = components.chernoff(parts, 0.0, 20.0)
    low, high = components.reach(parts, 0.0, 20.0, (above, below))
    p = math.e / (1 + math.e)
    outside = sum(binom.pmf(m, 40, 1 - p) for m in range(41) if not low <= 40 - 2 * m <= high)
    assert outside <= 2 * math.exp(-20)


def test_the_tilted_chance_of_the_lesser_loss() -> None:
    sizes = np.array([0.3, 2.0])
    tilted = np.exp(-1.5 * sizes) / (np.exp(0.5 * sizes) + np.exp(-1.5 * sizes))
    # e^(θl) times the chances e^(±ε/2)/(…) at θ = 1/2.
    assert components.lower_chance(sizes, 0.5) == pytest.approx(tilted / 1.0, rel=1e-9)
    rest = np.log(1 / (1 + np.exp(-sizes)) + np.exp(-sizes) / (1 + np.exp(-sizes)) * np.exp(-sizes))
    assert components.log_rest(sizes, 0.5) == pytest.approx(rest, rel=1e-9)


# --- laws and engine -----------------------------------------------------------------------------


def test_a_law_on_a_lattice_gives_the_deltas_of_its_sum() -> None:
    parts = components.ensemble({TENTH: 30}, (), F(0), F(1, 5))
    theta = components.tilt_for_epsilon(parts, 1.0)
    law = lattice_law(parts, theta, F(1, 5), F(1))
    assert law is not None
    for epsilon in (0.83, 1.0, 1.19):
        found = delta_of(law, F(epsilon))
        true = math.log(true_delta(0.1, 30, epsilon))
        assert found.log_lower <= true <= found.log_upper <= true + 1e-6
    wanted = math.log(1e-3)
    least = epsilon_of(lambda at: delta_of(law, F(at)), wanted, 1.0, 3.0, law.end())
    assert least is not None and least == pytest.approx(true_epsilon(0.1, 30, 1e-3), rel=1e-6)
    under = lower_epsilon(law, wanted, least)
    assert under is not None and under <= true_epsilon(0.1, 30, 1e-3) <= least


def sums(parts: Sequence[tuple[dict[int, mpf], int]]) -> dict[int, mpf]:
    """The chance of each sum of independent losses, as whole numbers, in 60 digits."""
    found = {0: mpf(1)}
    for law, count in parts:
        for _ in range(count):
            longer: dict[int, mpf] = {}
            for here, chance in found.items():
                for more, share in law.items():
                    longer[here + more] = longer.get(here + more, mpf(0)) + chance * share
            found = longer
    return found


def in_places(places: int, step: F) -> dict[int, mpf]:
    """The chances of a response with ε = places·step."""
    rise = mp.exp(places * mpf(step.numerator) / step.denominator)
    return {places: rise / (1 + rise), -places: 1 / (1 + rise)}


@pytest.mark.parametrize(("delta", "theta"), [("1e-3", 0.0), ("1e-3", 2.0), ("1e-12", 6.0)])
def test_unlike_parts_in_one_transform_are_what_mpmath_adds_up(delta: str, theta: float) -> None:
    step = F(1, 16)
    responses = {F(3, 16): 7, F(1, 2): 3, F(11, 16): 2}
    law = Masses(step, -4, np.array([0.125, 0.0, 0.125, 0.25, 0.0, 0.0, 0.5]), 0.0)
    with mp.workdps(60):
        dense = {law.first + i: mpf(float(p)) for i, p in enumerate(law.p)}
        parts = [(in_places(int(e / step), step), n) for e, n in responses.items()]
        every = sums([*parts, (dense, 5)])
        width = mpf(1) / 16

        def log_true(epsilon: float) -> float:
            above = [(k * width, p) for k, p in every.items() if k * width > epsilon]
            return float(mp.log(sum(p * -mp.expm1(epsilon - loss) for loss, p in above)))

        parts_of = components.ensemble(responses, ((law, 5),), F(0), step)
        found = lattice_law(parts_of, theta, step, F(1))
        assert found is not None
        for epsilon in (0.3, 1.0, 1.77, 2.5):
            bound = delta_of(found, F(epsilon))
            assert bound.log_lower <= log_true(epsilon) <= bound.log_upper
        wanted = math.log(float(delta))
        least = epsilon_of(lambda at: delta_of(found, F(at)), wanted, 1.0, 60.0, found.end())
        if least is not None:
            assert log_true(least) <= wanted


@pytest.mark.parametrize("count", [1, 2])
def test_a_smooth_law_whose_frequencies_are_faint(count: int) -> None:
    step = F(1, 16)
    law = masses(Sampled(F(1), Curve((), F(1))), step)
    parts = components.ensemble({}, ((law, count),), F(0), step)
    with mp.workdps(40):
        one = {law.first + i: mpf(float(p)) for i, p in enumerate(law.p) if p > 1e-30}
        every = sums([(one, count)])
        for epsilon in (F(0), F(1), F(5)):
            theta = components.tilt_for_epsilon(parts, float(epsilon))
            found = lattice_law(parts, theta, step, epsilon)
            assert found is not None
            above = [(k * mpf(1) / 16, p) for k, p in every.items() if F(k, 16) > epsilon]
            true = sum(p * -mp.expm1(float(epsilon) - loss) for loss, p in above)
            bound = delta_of(found, epsilon)
            assert (
                mp.exp(bound.log_lower) <= true <= mp.exp(bound.log_upper) <= true * (1 + mpf(1e-9))
            )


def test_a_sum_says_what_is_below_its_window() -> None:
    step, count = F(1, 4), 400
    with mp.workdps(60):
        one = in_places(1, step)
        law = Masses(step, -1, np.array([float(one[-1]), 0.0, float(one[1])]), 0.0)
        found = composed(((law, count),))
        low = mpf(float(law.p[0]))
        high = mpf(float(law.p[2]))
        chance = {
            2 * k - count: mp.binomial(count, k) * high**k * low ** (count - k)
            for k in range(count + 1)
        }
        assert found.first > -count
        assert mpf(float(found.p[0])) >= sum(p for k, p in chance.items() if k <= found.first)
        for i, p in enumerate(found.p):
            assert mpf(float(p)) >= chance.get(found.first + i, mpf(0))
        beyond = sum(p for k, p in chance.items() if k >= found.first + len(found.p))
        assert found.infinite >= beyond


def test_a_law_by_hand() -> None:
    """Losses -1 and 1 with the chances of a response, not tilted."""
    p = math.e / (1 + math.e)
    law = Law(F(0), np.array([-1.0, 1.0]), np.array([1 - p, p]), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert delta_of(law, F(0)).log_upper == pytest.approx(math.log(p * (1 - 1 / math.e)), abs=1e-9)


@pytest.mark.parametrize(("responses", "gaussian"), [({TENTH: 50}, 0.0), ({F(1): 4}, 0.25)])
def test_the_engine_is_above_the_truth_and_close(
    responses: dict[Fraction, int], gaussian: float
) -> None:
    ((size, copies),) = responses.items()
    mu = math.sqrt(gaussian)

    def true(epsilon: float) -> float:
        """Responses, and a Gaussian whose profile stands for each of their losses."""
        p = math.exp(size) / (1 + math.exp(size))
        if not mu:
            return true_delta(float(size), copies, epsilon)
        total = 0.0
        for m in range(copies + 1):
            e = epsilon - (copies - 2 * m) * float(size)
            law = norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu)
            total += binom.pmf(m, copies, 1 - p) * law
        return total

    found = engine.least_log_delta(responses, (), F(gaussian), F(1))
    assert found is not None
    assert math.log(true(1.0)) <= found.upper <= math.log(true(1.0)) + 1e-4
    wanted = 1e-5
    epsilon = engine.least_epsilon(responses, (), F(gaussian), math.log(wanted), 60.0)
    assert epsilon is not None and wanted * (1 - 1e-3) <= true(epsilon.upper) <= wanted
    assert engine.dyadic(F(3, 10)) == F(1, 2) and engine.common_step({F(1, 2): 1, F(1, 3): 1})


def test_other_losses_on_a_grid_of_their_own() -> None:
    """One stated pair, ten times: above the composition of responses with their δ."""
    part = Points(((F(1, 10), F(0)),))
    asked = grids.GridQuestion({}, ((part, 10),), F(0), masses)
    found = grids.log_delta_on_grid(asked, F(1, 2))
    true = math.log(true_delta(0.1, 10, 0.5))
    assert found is not None and true <= found.upper <= true + 0.05
    epsilon = grids.epsilon_on_grid(asked, math.log(1e-3), 1.0)
    assert epsilon is not None and true_epsilon(0.1, 10, 1e-3) <= epsilon.upper <= 1
    assert len(grids.sides(((Sampled(F(1, 2), Curve(((part, 1),))), 1),))) in (1, 2)


# --- Gaussian and normal -------------------------------------------------------------------------


@pytest.mark.parametrize("mu", [0.3, 1.0, 4.0])
def test_one_gaussian(mu: float) -> None:
    for epsilon in (0.0, 0.5, 2.0):
        true = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(
            -mu / 2 - epsilon / mu
        )
        found = gaussian_delta(F(mu) ** 2, F(epsilon))
        assert float(found.upper) == pytest.approx(true, rel=1e-9)
    inverse = gaussian_epsilon(F(mu) ** 2, gaussian_delta(F(mu) ** 2, F(1, 2)).upper)
    assert inverse is not None and float(inverse.upper) == pytest.approx(0.5, abs=1e-9)
    assert gaussian_epsilon(F(1), F(0)) is None


@pytest.mark.parametrize("mu", ["1e-20", "1e-6", "0.01", "1", "30", "1e7"])
@pytest.mark.parametrize("delta", ["0.3", "1e-3", "1e-9", "1e-100"])
def test_the_epsilon_of_a_gaussian_is_between_its_bounds(mu: str, delta: str) -> None:
    """By the formula in 400 digits: at most δ at the upper bound, at least δ at the lower one."""
    found = gaussian_epsilon(F(mu) ** 2, F(delta))
    assert found is not None and found.lower is not None and found.lower <= found.upper

    def true(epsilon: F) -> mpf:
        m, e = mpf(F(mu).numerator) / F(mu).denominator, mpf(epsilon.numerator)
        e /= epsilon.denominator
        return mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m)

    with mp.workdps(400):
        wanted = mpf(F(delta).numerator) / F(delta).denominator
        assert true(found.upper) <= wanted
        assert not found.lower or true(found.lower) >= wanted
        assert found.upper <= max(found.lower, F(1, 10**30)) * (1 + F(1, 10**20))


def test_the_normal_law_for_numbers_and_arrays() -> None:
    z = np.array([0.0, 0.5, 3.0, 30.0])
    assert normal.mills(z) == pytest.approx(np.exp(norm.logsf(z) - norm.logpdf(z)), rel=1e-12)
    assert normal.tail(-z) == pytest.approx(norm.sf(-z), rel=1e-12)
    assert normal.dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])) == 11.0


# --- cumulants and ρ -----------------------------------------------------------------------------


def test_the_divergence_of_a_response_and_its_rho() -> None:
    """K(s) = ln(p^(1+s)·(1-p)^-s + …), and ρ = ε·tanh(ε/2) is the largest K(s)/(s(1+s))."""
    size = 1.5
    p = math.exp(size) / (1 + math.exp(size))
    of = of_response(2, size)
    for s in (1e-3, 0.5, 3.0, 40.0):
        true = math.log(p ** (1 + s) * (1 - p) ** -s + (1 - p) ** (1 + s) * p**-s)
        assert of(s) == pytest.approx(true, rel=1e-9)
    rho = largest_ratio(of, lambda ratio: size / ratio)
    assert size * math.tanh(size / 2) <= float(rho) <= size * math.tanh(size / 2) * (1 + 1e-6)
    assert softplus(2.0) == pytest.approx(math.log(1 + math.exp(2))) and softplus(800) == 800
    assert gap(1e-12) == pytest.approx(1e-12, rel=1e-9) and not_below(F(1, 3)) >= 1 / 3
    assert not_below(F(10) ** 400) == math.inf


def test_cumulants_of_parts() -> None:
    assert quadratic(Concentrated(F(1, 3))) == F(1, 3) and quadratic(Response(F(1))) == 0
    nothing = cumulant(Concentrated(F(1, 3)))
    assert nothing is not None and nothing.of(2.0) == 0
    # (α, ε) = (3, 1/2) is K(2) = 1; below it the chord from 0.
    chord = cumulant(Renyi(((F(3), F(1, 2)),)))
    assert chord is not None and chord.of(1.0) == pytest.approx(0.5) and chord.most == 2
    assert cumulant(Points(((F(1), F(1, 10)),))) is None


# --- one part alone ------------------------------------------------------------------------------


def test_a_sample_of_one_composition() -> None:
    base = Curve(((Response(F(1)), 1),))
    sample = Sampled(F(1, 4), base, side="removed")
    found = epsilon_behind(sample, F(1, 100), epsilon_at)
    inner = epsilon_at(base, F(1, 25))
    assert found is not None and inner is not None
    true = math.log1p((math.exp(inner.upper) - 1) / 4)
    assert float(found.upper) == pytest.approx(true, abs=1e-12)
    delta = delta_behind(sample, F(1, 10), False, delta_at)
    within = math.log1p((math.exp(0.1) - 1) * 4)
    assert float(delta.upper) == pytest.approx(true_delta(1.0, 1, within) / 4, abs=1e-12)
    assert amplified(F(1), F(1)) == 1 and amplified(F(1), F(0)) == 0


def test_a_group_of_one_response_is_geometric_noise() -> None:
    """Moved by as many steps, geometric noise has just the power of ε-DP over them."""
    group, noise = (
        Curve(((Grouped(Curve(((Response(F(1)), 1),)), 2), 1),)),
        Curve(((GeometricLoss(2, F(1)), 1),)),
    )
    for epsilon in (F(0), F(1, 2), F(1), F(3, 2)):
        found, least = delta_at(group, epsilon).upper, delta_at(noise, epsilon).upper
        assert least * (1 - F(1, 10**9)) <= found <= least * (1 + F(1, 10**6))
    for delta in (F(1, 10), F(1, 100), F(1, 10**6)):
        at, back = epsilon_at(noise, delta), epsilon_at(group, delta)
        assert at is not None and back is not None
        assert at.upper * (1 - F(1, 10**9)) <= back.upper <= at.upper * (1 + F(1, 10**5))


# --- fewer losses --------------------------------------------------------------------------------


def test_very_many_losses_become_fewer_that_dominate() -> None:
    few = [(Response(F(n, 7)), 2) for n in range(1, 40)]
    assert sorted(merged(few), key=str) == sorted(few, key=str) and not is_merged(few)
    third = Response(F(1, 3))
    up = rounded(third, 4)
    assert isinstance(up, Response) and F(1, 3) <= up.epsilon <= F(1, 3) * F(9, 8)
    many = [(Response(F(1) + F(n, 10**6)), 1) for n in range(FEW + 1)]
    found = merged(many)
    assert is_merged(many) and len(found) <= FEW
    assert sum(count for _, count in found) == len(many)
    before = sum(part.epsilon for part, _ in many)
    after = sum(part.epsilon * count for part, count in found if isinstance(part, Response))
    assert before <= after <= before * F(1001, 1000)
