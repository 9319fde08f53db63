"""Several roots that lean: each combination of directions is a composition of its own."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import dpcompose

HEAD = """\
dpcompose: 1
protect: {protect}
datasets:
"""
STEP = 2e-4
Root = tuple[float, float, int]


def spec(roots: list[Root], more: str = "", protect: str = "unbounded", unread: int = 0) -> str:
    """One root for each (rate, σ, steps) with a Poisson-sampled Gaussian, and some unread ones."""
    unit = "{unit: who}" if protect == "user" else "{}"
    lines, read = HEAD.format(protect=protect), "mechanisms:\n"
    for i, (rate, sigma, steps) in enumerate(roots):
        above = f"r{i}"
        lines += f"  r{i}: {unit}\n"
        if protect == "user":
            lines += f"  c{i}: {{from: r{i}, map: {{kind: cap, rows: 1, keep: random}}}}\n"
            above = f"c{i}"
        lines += f"  s{i}: {{from: {above}, map: {{kind: sample, poisson: {rate}, draws: each}}}}\n"
        read += f"  - {{name: m{i}, reads: s{i}, mechanism: gaussian, sigma: {sigma}, "
        read += f"sensitivity: 1, count: {steps}}}\n"
    lines += "".join(f"  u{i}: {unit}\n" for i in range(unread))
    return f"{lines}{read}{more}report: {{delta: 1e-5}}\n"


def bound(text: str) -> float:
    report = dpcompose.analyze(text, extent="bound")
    value = report.at_delta[0].value
    assert value is not None
    return float(value)


@cache
def losses(root: Root, added: bool) -> np.ndarray:
    """P-masses of the loss of one step on multiples of STEP, rounded to the nearest; by scipy."""
    rate, sigma, _ = root
    x = np.linspace(-12 * sigma, 12 * sigma + 1, 100_001)
    odds = np.log1p(rate * np.expm1((2 * x - 1) / (2 * sigma**2)))
    plain = norm.pdf(x, scale=sigma)
    density, loss = (plain, -odds) if added else (plain * np.exp(odds), odds)
    places = np.rint(loss / STEP).astype(int)
    size = 1 << 17
    return np.bincount(places % size, density * (x[1] - x[0]), size)


def truth(roots: list[Root], delta: float = 1e-5) -> float:
    """The least ε of all combinations of directions, by transforms on a fine grid."""
    worst = 0.0
    for signs in product((False, True), repeat=len(roots)):
        whole: np.ndarray = np.ones(1)
        for root, added in zip(roots, signs, strict=True):
            whole = whole * np.fft.rfft(losses(root, added)) ** root[2]
        masses = np.fft.irfft(whole)
        at = STEP * np.fft.fftshift(np.fft.fftfreq(len(masses), 1 / len(masses)))
        masses = np.fft.fftshift(masses)
        low, high = 0.0, 20.0
        for _ in range(40):
            middle = (low + high) / 2
            gain = -np.expm1(np.minimum(middle - at, 0.0))
            low, high = (middle, high) if float(gain @ masses) > delta else (low, middle)
        worst = max(worst, high)
    return worst


ONE: Root = (0.1, 1.0, 10)
#: Removed this one is worse, like the first; together with it added neither order is the worse one.
TWO: Root = (0.3, 2.0, 20)


@pytest.mark.parametrize(
    "roots",
    [
        [ONE, TWO],
        pytest.param([ONE], marks=pytest.mark.slow),
        pytest.param([ONE, ONE], marks=pytest.mark.slow),
        pytest.param([ONE, TWO, (0.05, 0.8, 4)], marks=pytest.mark.slow),
    ],
)
def test_the_bound_is_that_of_the_worst_combination(roots: list[Root]) -> None:
    assert bound(spec(roots)) == pytest.approx(truth(roots), rel=3e-4)


@pytest.mark.parametrize("protect", ["unbounded", "user"])
def test_a_root_that_nothing_reads_costs_nothing(protect: str) -> None:
    plain = bound(spec([ONE, TWO], protect=protect))
    assert bound(spec([ONE, TWO], protect=protect, unread=3)) == plain


def test_roots_that_are_apart_cost_what_the_dearer_one_costs() -> None:
    apart = bound(spec([ONE, TWO], "roots: disjoint\n"))
    assert apart == max(bound(spec([ONE])), bound(spec([TWO])))


def test_a_composed_bound_is_at_most_the_sum_of_the_parts() -> None:
    """A pure release on a second root adds at most its ε, and never makes the whole less."""
    alone = bound(spec([ONE]))
    more = "  - {name: n, reads: u0, mechanism: laplace, scale: 20, sensitivity: 1}\n"
    both = bound(spec([ONE], more, unread=1))
    assert alone <= both <= alone + 0.05


@pytest.mark.slow
def test_more_roots_than_are_combined_keep_a_bound() -> None:
    """Beyond the limit the worse direction counts at every step: no less than any combination."""
    small: list[Root] = [(0.1, 2.0 + i / 10, 3) for i in range(8)]
    many = bound(spec(small))
    assert many >= bound(spec(small[:6])) and math.isfinite(many)


@pytest.mark.parametrize("apart", ["", "roots: disjoint\n"])
def test_any_change_may_be_one_of_all_roots(apart: str) -> None:
    # Nobody is in two roots, but every table may be exchanged for any other.
    text = HEAD.format(protect="free-lunch") + "  a: {}\n  b: {}\nmechanisms:\n"
    for place, epsilon in (("a", 1), ("b", 2)):
        text += f"  - {{name: on {place}, reads: {place}, notion: pure, epsilon: {epsilon}}}\n"
    found = dpcompose.analyze(text + apart).bound
    assert found is not None and found.value == 3
