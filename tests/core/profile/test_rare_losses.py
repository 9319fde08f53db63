"""Losses that are hardly ever large, told apart; held against sums on fine grids made by scipy."""

from __future__ import annotations

import math
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import norm

from dpcompose.core.profile import rare_losses, solve, tails
from dpcompose.core.profile.engine import least_epsilon
from dpcompose.core.profile.loss_distribution import laws
from dpcompose.core.profile.masses import Masses
from dpcompose.core.profile.parts import Composition, Part, Sampled


def sampled(rate: str, sigma: str, side: str = "removed") -> Sampled:
    return Sampled(F(rate), Composition(gaussian=1 / F(sigma) ** 2), side=side)


def close(loss: np.ndarray, chances: np.ndarray, count: int, epsilons: list[float]) -> list[float]:
    """About δ: each loss is shared between two places of a grid so that its mean stays, and the sum
    is made by one transform."""
    width, reach = 2.0**-14, 1 << 19
    places = np.floor(loss / width)
    share = loss / width - places
    folded = np.bincount(places.astype(np.int64) % reach, chances * (1 - share), reach)
    folded += np.bincount((places.astype(np.int64) + 1) % reach, chances * share, reach)
    total = np.maximum(np.fft.irfft(np.fft.rfft(folded) ** count, reach), 0)
    at = np.arange(reach)
    losses = (at - reach * (at > reach // 2)) * width
    return [float((total * np.maximum(-np.expm1(e - losses), 0)).sum()) for e in epsilons]


@pytest.mark.slow
@pytest.mark.parametrize("side", ["removed", "added"])
@pytest.mark.parametrize(
    ("rate", "sigma", "count"), [("1e-4", "1", 1000), ("1e-4", "1/2", 100), ("1e-5", "1/3", 2000)]
)
def test_told_apart_they_are_above_the_truth_and_next_to_it(
    rate: str, sigma: str, count: int, side: str
) -> None:
    """On a grid far wider than nearly all losses are."""
    part, step = sampled(rate, sigma, side), F(1, 256)
    assert rare_losses.apart(part, count, step, "removed") is not None
    q, mu = float(F(rate)), 1 / float(F(sigma))
    x = np.linspace(-9.0, mu + 9.0, 1_000_001)
    odds = q * np.expm1(mu * x - mu * mu / 2)
    chances = norm.pdf(x) * (x[1] - x[0]) * (1 + odds if side == "removed" else 1)
    loss = np.log1p(odds) * (1 if side == "removed" else -1)
    epsilons = [0.01, 0.05, 0.5, 2.0]
    for epsilon, delta in zip(epsilons, close(loss, chances, count, epsilons), strict=True):
        if delta < 1e-11:
            continue
        laws_of = laws(part, count, step, "removed")
        at = least_epsilon({}, laws_of, F(0), math.log(delta), math.inf)
        assert at is not None
        # Near 0 a chord between two places is all there is.
        assert epsilon - 1e-5 <= at.upper <= epsilon + (float(step) / 3 if epsilon < 0.1 else 1e-3)


@pytest.mark.slow
def test_the_line_agrees_where_it_is_known() -> None:
    """By another method: an integral over the transform, without any grid."""
    from dpcompose.core.profile.contour import epsilon_on_line
    from dpcompose.core.profile.grids import GridQuestion, epsilon_on_grid

    for many in (
        ((sampled("1e-3", "1/2"), 3000),),
        ((sampled("1e-4", "1"), 10**5),),
        ((sampled("1e-4", "1", "added"), 10**5),),
    ):
        parts: tuple[tuple[Part, int], ...] = many
        log = math.log(1e-6)
        line = epsilon_on_line(Composition(parts), log, math.inf)
        grid = epsilon_on_grid(GridQuestion({}, parts, F(0), laws), log, math.inf)
        assert line is not None and grid is not None
        assert line * (1 - 1e-9) <= grid.upper <= line * (1 + 3e-5)


def test_what_is_not_told_apart() -> None:
    step = F(1, 64)
    assert rare_losses.apart(sampled("1e-4", "1"), 4, step, "removed") is None
    assert rare_losses.apart(sampled("1e-4", "1", "both"), 400, step, "removed") is None
    assert rare_losses.apart(sampled("1/2", "1"), 400, step, "removed") is None
    assert rare_losses.apart(sampled("1e-4", "1/50"), 400, step, "removed") is None
    assert rare_losses.apart(sampled("1e-4", "1"), 400, F(2), "removed") is None


@pytest.mark.slow
def test_tiny_rates_at_a_tiny_delta() -> None:
    """Known by a grid of a million places and more, or by Rényi's divergences, they were more."""
    three = (sampled("1e-5", "1/2"), sampled("2e-6", "0.7"), sampled("3e-4", "1.1"))
    found = solve.epsilon_at(Composition(tuple((each, 1000) for each in three)), F(1, 10**30))
    assert found is not None and 12.2649 < found.upper < 12.26499
    found = solve.epsilon_at(Composition(((sampled("1e-5", "1/2"), 10**5),)), F(1, 10**30))
    assert found is not None and 13.1442 < found.upper < 13.14425


@pytest.mark.slow
def test_a_power_of_one_transform_is_above_the_sum_and_next_to_it() -> None:
    """Both tails, in relative terms; multiplied out in the same chances without any transform."""
    at = np.arange(2201)
    p = np.exp(-np.abs(at - 900) / 40.0) + 1e-9 * np.exp(-(((at - 1900) / 90.0) ** 2))
    law = Masses(F(1, 512), -1000, p / p.sum(), 1e-20)
    true = law.p
    for _ in range(6):
        true = np.convolve(true, true)
    found = tails.power(law, 64, True)
    first = found.first + 64 * 1000
    same = true[first : first + len(found.p)]
    assert (found.p >= same * (1 - 1e-9))[same > 1e-62].all()
    seen = (same > 1e-28) & (np.arange(len(same)) > 0)
    assert (found.p[seen] <= same[seen] * (1 + 1e-5)).all()
    middle = same > 1e-4 * same.max()
    assert (found.p[middle] <= same[middle] * (1 + 1e-8)).all()
    assert 64e-20 <= found.infinite <= 65e-20
    assert float(true[: max(first, 0)].sum()) <= 1e-60


@pytest.mark.slow
def test_two_rows_replaced_through_a_sample() -> None:
    """Above what noise does that moves by one for each row drawn, up for one table and down for the
    other."""
    from dpcompose import analyze

    q, sigma, count = 0.01, 1.1, 1000
    x = np.linspace(-14.0, 14.0, 400_001)
    weights = [(1 - q) ** 2, 2 * q * (1 - q), q * q]
    up = sum((w * norm.pdf(x, n, sigma) for n, w in enumerate(weights)), np.zeros(1))
    down = sum((w * norm.pdf(x, -n, sigma) for n, w in enumerate(weights)), np.zeros(1))
    [true] = close(np.log(up / down), up * (x[1] - x[0]), count, [4.0])
    report = analyze(
        "dpcompose: 1\nprotect: {relation: bounded, distance: 2}\ndatasets:\n  r: {}\n"
        "  s: {from: r, map: {kind: sample, poisson: 0.01}}\nmechanisms:\n"
        "  - {name: m, reads: s, count: 1000, mechanism: gaussian, sigma: 1.1,\n"
        "     sensitivity: {unbounded: 1, bounded: 2}}\n"
        f"report: {{delta: {true:.12g}}}\n"
    )
    found = report.at_delta[0].value
    assert found is not None and 4.0 <= found < 6.0
