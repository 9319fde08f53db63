"""The recipes of `values.json`: each computes both ends of a value again, in mpmath alone.

    python -m reference.recipes [--write]      (in the folder tests; --write fills in both ends)

Nothing here imports dpcompose. A recipe returns what is attained and what is proved, which are the
same number where the least one is known; `ends` rounds them outward.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from math import comb
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from mpmath import mp, mpf

from . import curves, lattice, powers
from .curves import Profile, tail
from .lattice import Law, exact
from .orders import largest_mu, largest_ratio, quantile

VALUES = Path(__file__).parent / "values.json"
#: Significant digits of an end.
DIGITS = 15
#: What transforms in doubles may add, after a tilt: a share of δ.
DOUBLES = 1e-8

Value = dict[str, Any]
Both = tuple[Any, Any]


def f(given: Any) -> Fraction:
    return Fraction(str(given))


# --- questions -----------------------------------------------------------------------------------


def asked_of(profile: Profile, value: Value) -> Any:
    """What is asked, of a profile that is known at every ε ≥ 0 and is the same in both orders."""
    at = {key: f(each) for key, each in value.get("at", {}).items()}
    match value["asked"]:
        case "epsilon":
            return curves.epsilon_of(profile, at["delta"])
        case "delta":
            return profile(at["epsilon"])
        case "advantage":
            return profile(Fraction(0))
        case "hits":
            return hits(profile, at["false_alarms"])
    raise ValueError(value["asked"])


def hits(profile: Profile, alarms: Fraction) -> Any:
    """The least of δ(ε) + e^ε·α, which is convex in e^ε, and of 1 - e^-ε·(1 - δ(ε) - α)."""

    def at(epsilon: Any) -> Any:
        delta = profile(epsilon)
        return min(
            delta + mp.exp(epsilon) * exact(alarms),
            1 - mp.exp(-epsilon) * (1 - delta - exact(alarms)),
        )

    points = [mpf(n) / 8 for n in range(320)]
    best = min(range(len(points)), key=lambda n: at(points[n]))
    low, high = points[max(best - 1, 0)], points[best + 1]
    third = (3 - mp.sqrt(5)) / 2
    for _ in range(90):
        left, right = low + third * (high - low), high - third * (high - low)
        low, high = (low, right) if at(left) <= at(right) else (left, high)
    return at((low + high) / 2)


def about(found: Any, width: Any) -> Both:
    """Both ends around a number that was found by quadrature."""
    return found * (1 - width), found * (1 + width)


def same(found: Any) -> Both:
    return found, found


# --- laws with finitely many losses --------------------------------------------------------------


def law_of(entry: Value, distance: int) -> Law:
    """The worst law of one mechanism, at a distance."""
    kind, count = entry["mechanism"], int(entry.get("count", 1))
    epsilon = f(entry.get("epsilon", 0))
    if kind in ("pure", "approx"):
        delta = f(entry.get("delta", 0))
        if distance > 1:
            one = powers.path([powers.step(epsilon, delta)] * distance).law()
        elif delta:
            return Law(lattice.responses(epsilon, count).atoms, 1 - (1 - delta) ** count)
        else:
            return lattice.responses(epsilon, count)
    elif kind == "randomized-response":
        one = lattice.kary(int(entry["k"]), epsilon)
    elif kind == "geometric":
        one = lattice.geometric(int(entry["sensitivity"]) * distance, f(entry["scale"]))
    elif kind == "discrete-gaussian":
        one = lattice.discrete_gaussian(
            int(entry["sensitivity"]) * distance, f(entry["sigma"]) ** 2
        )
    else:
        raise ValueError(kind)
    return one**count


def finite_law(value: Value) -> Both:
    """Products of laws, in whole numbers."""
    law = Law()
    for entry in value["mechanisms"]:
        law = law * law_of(entry, value.get("distance", 1))
    if value["asked"] == "epsilon":
        return same(law.epsilon(f(value["at"]["delta"])))
    if value["asked"] == "hits":
        left, found = exact(f(value["at"]["false_alarms"])), exact(law.infinite)
        share = 1 - found
        for loss in sorted(law.atoms, reverse=True):
            p = share * law.atoms[loss] / lattice.ONE
            part = min(mpf(1), left / (p * mp.exp(-exact(loss))))
            left, found = left - part * p * mp.exp(-exact(loss)), found + part * p
            if part < 1:
                break
        return same(found)
    return same(asked_of(law.delta, value))


# --- closed forms --------------------------------------------------------------------------------


def mu_squared(value: Value) -> Fraction:
    """μ² of Gaussian mechanisms at a distance."""
    found = Fraction(0)
    for entry in value["mechanisms"]:
        mu = f(entry["mu"]) if "mu" in entry else f(entry["sensitivity"]) / f(entry["sigma"])
        found += int(entry.get("count", 1)) * (mu * value.get("distance", 1)) ** 2
    return found


def normal(value: Value) -> Both:
    """The Gaussian profile (Balle and Wang 2018; Dong, Roth and Su 2022)."""
    square = mu_squared(value)
    if value["asked"] == "rho":
        return same(exact(square) / 2)
    if value["asked"] == "hits":
        alarms = exact(f(value["at"]["false_alarms"]))
        return same(tail(quantile(alarms) - mp.sqrt(exact(square))))
    return same(asked_of(curves.gaussian(square), value))


def shifts(value: Value) -> list[Fraction]:
    return [
        f(entry["sensitivity"]) / f(entry["scale"]) * value.get("distance", 1)
        for entry in value["mechanisms"]
        for _ in range(int(entry.get("count", 1)))
    ]


def laplace_pieces(value: Value) -> Both:
    """The exact profile of a few Laplace mechanisms, by inclusion and exclusion."""
    return same(asked_of(curves.laplaces(shifts(value)), value))


def laplace_rho(value: Value) -> Both:
    """ρ of one Laplace mechanism is its KL divergence, ε + e^-ε - 1: the order α -> 1."""
    [epsilon] = (exact(each) for each in shifts(value))
    return same(epsilon + mp.exp(-epsilon) - 1)


def of_pure(value: Value) -> Both:
    """ρ and μ of all ε-DP mechanisms, by their law at a distance, over a dense set of orders."""
    [entry] = value["mechanisms"]
    steps = value.get("distance", 1)
    law = lattice.geometric(steps, 1 / f(entry["epsilon"]))
    masses = [(exact(loss), mpf(mass) / lattice.ONE) for loss, mass in law.atoms.items()]
    if value["asked"] == "rho":

        def log_moment(order: Any) -> Any:
            return mp.log(mp.fsum(p * mp.exp((order - 1) * loss) for loss, p in masses))

        found = largest_ratio(log_moment)
        return found, found * (1 + mpf("1e-6"))
    corners, p, q = [], mpf(0), mpf(0)
    for loss, mass in sorted(masses, reverse=True)[:-1]:
        p, q = p + mass, q + mass * mp.exp(-loss)
        corners.append((q, 1 - p))
    return same(largest_mu(corners))


def bounded_range(value: Value) -> Both:
    """One mechanism of bounded range: the worst of the laws with losses t and t - η."""
    [entry] = value["mechanisms"]
    eta = f(entry["epsilon"])
    if value["asked"] == "rho":
        half = exact(eta) / 2
        return same(
            int(entry.get("k", 1)) * (mp.log(mp.sinh(half) / half) + half * mp.coth(half) - 1)
        )

    def profile(epsilon: Any) -> Any:
        # p·(1 - e^(ε-t)) with p = (e^η - e^t)/(e^η - 1) is largest where t = (ε + η)/2.
        at, whole = lattice.number(epsilon), exact(eta)
        t = (at + whole) / 2
        if t >= whole:
            return mpf(0)
        return (mp.exp(whole) - mp.exp(t)) / mp.expm1(whole) * -mp.expm1(at - t)

    return same(asked_of(profile, value))


def sampled_once(value: Value) -> Both:
    """One step below one Poisson sample, in both orders."""
    [entry] = value["mechanisms"]
    rate = f(value["sample"]["poisson"])
    if entry["mechanism"] == "gaussian":
        mu = f(entry["sensitivity"]) / f(entry["sigma"])
        orders = [curves.sampled_gaussian(rate, mu, removed) for removed in (True, False)]
        return same(max(asked_of(each, value) for each in orders))
    inner = (
        curves.laplaces(shifts(value))
        if entry["mechanism"] == "laplace"
        else law_of(entry, 1).delta
    )
    if value["asked"] == "epsilon" and value["at"]["delta"] == "0":
        return same(mp.log1p(exact(rate) * mp.expm1(exact(f(entry["epsilon"])))))

    def profile(epsilon: Any) -> Any:
        with mp.workdps(60):
            return exact(rate) * inner(mp.log1p(mp.expm1(lattice.number(epsilon)) / exact(rate)))

    return same(asked_of(profile, value))


def concentrated(value: Value) -> Both:
    """Attained by Gaussian noise; proved by Canonne, Kamath and Steinke (2020), Proposition 12."""
    rho = sum(f(entry["rho"]) * int(entry.get("count", 1)) for entry in value["mechanisms"])
    delta = f(value["at"]["delta"])
    attained = curves.epsilon_of(curves.gaussian(2 * Fraction(rho)), delta)
    return attained, curves.zcdp(Fraction(rho))(delta)


def zcdp_filter(value: Value) -> Both:
    """Attained with parameters fixed in advance; proved by the filter of ρ (Feldman and Zrnic)."""
    delta, rho = f(value["at"]["delta"]), mpf(0)
    for entry in value["mechanisms"]:
        epsilon = exact(f(entry["epsilon"]))
        rho += int(entry.get("count", 1)) * epsilon * mp.tanh(epsilon / 2)
    shown = Fraction(int(mp.ceil(rho * mpf(10) ** 40)), 10**40)
    return finite_law(value)[0], curves.zcdp(shown)(delta)


# --- transforms along a line ---------------------------------------------------------------------

Moments = Callable[[np.ndarray], np.ndarray]


def transform(entry: Value, sample: Value | None, removed: bool, finer: int) -> Moments:
    """z -> ln E e^(z·loss) of one mechanism."""
    if entry["mechanism"] == "pure":
        epsilon = float(f(entry["epsilon"]))
        weights, losses = np.array([1.0, np.exp(-epsilon)]), np.array([epsilon, -epsilon])
        return lambda z: np.log(np.exp(np.outer(z, losses)) @ (weights / weights.sum()))
    if entry["mechanism"] == "laplace":
        a = float(f(entry["sensitivity"]) / f(entry["scale"]))
        return lambda z: np.log(
            (np.exp(z * a) + np.exp(-(z + 1) * a)) / 2
            + np.exp(-a / 2) * np.sinh((z + 0.5) * a) / (2 * z + 1)
        )
    mu = float(f(entry["sensitivity"]) / f(entry["sigma"]))
    if sample is None:
        return lambda z: (z + z * z) * mu * mu / 2
    q = float(f(sample["poisson"]))
    # An analytic integrand on the whole line: even nodes are as good as an integral.
    x = np.arange(-10, 10 + 40 * mu, min(1.0, 1 / mu) / (8 * finer))
    chances = np.log((x[1] - x[0]) / np.sqrt(2 * np.pi)) - x * x / 2
    ratios = np.log1p(q * np.expm1(mu * x - mu * mu / 2))
    return lambda z: np.log(
        np.exp(np.outer(1 + z if removed else -z, ratios) + chances).sum(axis=1)
    )


def line_profile(value: Value, removed: bool, finer: int) -> Callable[[float], float]:
    """δ(ε) as the integral of e^(-zε)·E e^(zL)/(2πi·z(z+1)) over z = c + it."""
    parts = [
        (transform(entry, value.get("sample"), removed, finer), int(entry.get("count", 1)))
        for entry in value["mechanisms"]
    ]

    def log_moment(z: np.ndarray) -> Any:
        return np.sum([count * part(z) for part, count in parts], axis=0)

    delta = float(f(value["at"]["delta"])) if value["asked"] == "epsilon" else 1e-3
    lines = 2.0 ** np.arange(-2, 5, 0.5)
    c = lines[np.argmin((log_moment(lines) - np.log(delta * lines * (lines + 1))) / lines)]
    # What the other periods add is below e^-(c·2π/step), and far in the tail of the loss.
    step = c * np.pi / 50 / finer
    [top] = log_moment(np.array([c]))
    z = c + 1j * step * np.arange(0)
    moments = np.array([], dtype=complex)
    while not len(z) or moments[-1000:].real.max() - 2 * np.log(abs(z[-1]) / c) > top - 32:
        more = c + 1j * step * np.arange(len(z), len(z) + 1000)
        z, moments = np.append(z, more), np.append(moments, log_moment(more))

    def profile(epsilon: float) -> float:
        terms = (np.exp(moments - z * epsilon) / (z * (z + 1))).real
        return float((terms.sum() - terms[0] / 2) * step / np.pi)

    return profile


def line(value: Value) -> Both:
    """Compositions by transforms of their losses, in doubles, on finer lines until two agree."""
    sides = (True, False) if "sample" in value else (True,)
    found: list[float] = []
    for finer in (1, 2, 4, 8, 16, 32):
        profiles = [line_profile(value, side, finer) for side in sides]
        if value["asked"] != "epsilon":
            at = float(f(value.get("at", {}).get("epsilon", 0)))
            found.append(max(profile(at) for profile in profiles))
        else:
            low, high = 0.0, 1000.0
            for _ in range(60):
                middle = (low + high) / 2
                over = max(profile(middle) for profile in profiles) > float(f(value["at"]["delta"]))
                low, high = (middle, high) if over else (low, middle)
            found.append(high)
        if finer > 1 and abs(found[-1] / found[-2] - 1) < DOUBLES / 100:
            return about(mpf(found[-1]), DOUBLES / 10)
    raise ArithmeticError(f"{value['id']}: {found}")


# --- grids ---------------------------------------------------------------------------------------


def laplace_cells(value: Value, upper: bool, width: float) -> tuple[int, np.ndarray]:
    """Masses of one Laplace mechanism's loss on a grid, from its lowest point on.

    Above: what is between two points goes to both of them, so that both chances stay what they
    are, which is a dominating pair. Below: outcomes within half a width of a point are told apart
    no more; their loss is that point. With a sample, the losses are those of the mixture, and what
    is between two points goes to the lower one.
    """
    [entry] = value["mechanisms"]
    a = float(f(entry["sensitivity"]) / f(entry["scale"]))
    rate = float(f(value["sample"]["poisson"])) if "sample" in value else 1.0
    low, high = (np.log1p(rate * np.expm1(each)) for each in (-a, a))
    first, last = int(np.floor(low / width)), int(np.ceil(high / width))
    masses = np.zeros(last - first + 1)

    def plain(loss: np.ndarray) -> Any:
        return np.clip(np.log1p(np.expm1(loss) / rate), -a, a)

    def between(start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The chances of losses between two, of both tables; without the atoms at both ends."""
        s, e = plain(start), plain(end)
        p = np.exp((s - a) / 2) * np.expm1((e - s) / 2) / 2
        q = -np.exp(-(s + a) / 2) * np.expm1((s - e) / 2) / 2
        return (1 - rate) * q + rate * p, q

    edges = width * np.arange(first, last + 1)
    p, q = between(edges[:-1], edges[1:])
    atoms = [(a, 0.5, np.exp(-a) / 2), (-a, np.exp(-a) / 2, 0.5)]
    if rate == 1 and not upper:
        p, _ = between(edges - width / 2, edges + width / 2)
        # Half a cell at each end has a loss just inside of the end.
        masses += p
        masses[-2] += masses[-1]
        masses[-1] = 0
    else:
        share = (
            (p * np.exp(-edges[:-1]) - q) / (np.exp(-edges[:-1]) * -np.expm1(-width))
            if upper
            else np.zeros_like(p)
        )
        share = np.clip(share, 0, p)
        masses[1:] += share
        masses[:-1] += p - share
    for loss, one, other in atoms:
        place = np.log1p(rate * np.expm1(loss)) / width - first
        n = int(np.ceil(place - 1e-6) if upper else np.floor(place + 1e-6))
        masses[n] += (1 - rate) * other + rate * one
    return first, masses


def grid_profile(value: Value, upper: bool, width: float) -> Callable[[float], float]:
    [entry] = value["mechanisms"]
    count = int(entry.get("count", 1))
    first, masses = laplace_cells(value, upper, width)
    losses = width * (first + np.arange(len(masses)))
    delta = float(f(value["at"]["delta"]))
    tilts = [2.0 ** (n / 2) for n in range(-4, 12)]
    moments = [float(np.log(masses @ np.exp(t * losses))) for t in tilts]
    tilt, moment = min(
        zip(tilts, moments, strict=True),
        key=lambda each: (count * each[1] - np.log(delta * each[0] * (each[0] + 1))) / each[0],
    )
    tilted = masses * np.exp(tilt * losses - moment)
    size = count * (len(masses) - 1) + 1
    length = 1 << (size - 1).bit_length()
    sums = np.fft.irfft(np.fft.rfft(tilted, length) ** count, length)[:size]
    places = width * (count * first + np.arange(size))
    sums, places = sums[places > 0], places[places > 0]
    sums *= np.exp(count * moment - tilt * places)

    def profile(epsilon: float) -> float:
        start = int(np.searchsorted(places, epsilon, side="right"))
        return float(sums[start:] @ -np.expm1(epsilon - places[start:]))

    return profile


def grid(value: Value) -> Both:
    """Certified from both sides on a grid of losses."""
    ends = []
    for upper in (False, True):
        profile = grid_profile(value, upper, float(value["width"]))
        wanted = float(f(value["at"]["delta"])) * (1 - DOUBLES if upper else 1 + DOUBLES)
        low, high = 0.0, 1000.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if profile(middle) > wanted else (low, middle)
        ends.append(mpf(high if upper else low))
    return ends[0], ends[1]


# --- selection -----------------------------------------------------------------------------------


class Runs(NamedTuple):
    """The law of a number of runs: its mean, and the derivative of its generating function."""

    mean: Any
    slope: Callable[[Any], Any]


def runs_of(given: Value) -> Runs:
    """The truncated negative binomial law of shape η, by its mean or by γ, or a Poisson law."""
    if "poisson" in given:
        m = exact(f(given["poisson"]))
        return Runs(m, lambda z: m * mp.exp(m * (z - 1)))
    eta = exact(f(given["shape"]))

    def mean_of(gamma: Any) -> Any:
        if eta == 0:
            return (1 - gamma) / (gamma * mp.log(1 / gamma))
        return eta * (1 - gamma) / (gamma * (1 - gamma**eta))

    if "stop" in given:
        gamma = exact(f(given["stop"]))
    else:
        # The mean falls as γ grows.
        low, high = mpf(0), mpf(1)
        for _ in range(170):
            gamma = (low + high) / 2
            low, high = (gamma, high) if mean_of(gamma) > exact(f(given["mean"])) else (low, gamma)
    mean = mean_of(gamma)
    return Runs(mean, lambda z: mean * ((1 - (1 - gamma) * z) / gamma) ** (-eta - 1))


def selected_constant(runs: Runs, power: Callable[[Any], Any], corners: list[Any]) -> Any:
    """sup of ln φ'(1-x)/φ'(1-β(x)), over corners or by refinement around the best point."""

    def at(x: Any) -> Any:
        return mp.log(runs.slope(1 - x) / runs.slope(1 - power(x)))

    if corners:
        return max(at(x) for x in corners)
    low, high, best = mpf(-14), mpf(14), mpf(0)
    for _ in range(12):
        points = [low + (high - low) * n / 60 for n in range(61)]
        best = max(points, key=lambda u: at(tail(u)))
        low, high = best - (high - low) / 30, best + (high - low) / 30
    return at(tail(best))


def selection(value: Value) -> Both:
    """The best of a random number of runs: δ(ε + c) ≤ m·δ(ε) of one run, with c by its tests.

    Attained: for pure runs in the limit of one rare outcome; for Gaussian runs where the score is
    the output, or its negative, by quadrature in both orders.
    """
    [entry] = value["mechanisms"]
    runs, one = runs_of(entry["runs"]), entry["of"]
    if "mu" not in one:
        epsilon, delta = exact(f(one["epsilon"])), exact(f(one.get("delta", 0)))
        steps = value.get("distance", 1)
        step = powers.step(f(one["epsilon"]), f(one.get("delta", 0)))
        power = powers.path([step] * steps)
        c = selected_constant(runs, power, [at for at, _ in power.corners()])
        found = steps * epsilon + c
        pure = powers.path([powers.step(f(one["epsilon"]))] * steps)
        least = steps * epsilon + selected_constant(runs, pure, [at for at, _ in pure.corners()])
        return (least, least) if not delta else (mpf(0), found)
    mu = exact(f(one["mu"]))
    c = selected_constant(runs, lambda x: tail(quantile(x) - mu), [])
    share = f(value["at"]["delta"]) / Fraction(str(mp.nstr(runs.mean, 40)))
    profile = curves.gaussian(f(one["mu"]) ** 2)
    proved = c + curves.epsilon_of(profile, share)
    if "poisson" in entry["runs"]:
        proved = min(proved, among_the_highest(profile, mu, runs.mean, f(value["at"]["delta"])))
    return gaussian_best(mu, runs, f(value["at"]["delta"])) * (1 - mpf("1e-9")), proved


def among_the_highest(profile: Profile, mu: Any, mean: Any, delta: Fraction) -> Any:
    """Of a Poisson number of Gaussian runs the best is in a share a of the highest scores, but for
    a chance of e^(-mean·a): c is for that share alone. The best a."""
    best = mp.inf
    for share in (mpf(n) / 100 for n in range(1, 100)):
        a = -mp.log(exact(delta) * share) / mean
        if a < 1:
            x = min(a, tail(mu / 2))
            c = mean * (tail(quantile(x) - mu) - x)
            left = exact(delta) * (1 - share) / mean
            best = min(best, c + curves.epsilon_of(profile, Fraction(mp.nstr(left, 40))))
    return best


def gaussian_best(mu: Any, runs: Runs, delta: Fraction) -> Any:
    """ε of the best of runs that each give a normal number, and score by it or its negative."""
    with mp.workdps(20):
        grid = [mpf(n) / 40 for n in range(-400, 401)]
        best = mpf(0)
        for sign in (1, -1):
            one, other = (
                [mp.npdf(x - at) * runs.slope(tail(-sign * (x - at))) / 40 for x in grid]
                for at in (mpf(0), mu)
            )
            for masses in (list(zip(one, other, strict=True)), list(zip(other, one, strict=True))):

                def profile(epsilon: Any, masses: list[Any] = masses) -> Any:
                    factor = mp.exp(lattice.number(epsilon))
                    return mp.fsum(max(p - factor * q, 0) for p, q in masses)

                best = max(best, curves.epsilon_of(profile, delta, 8))
        return best


# --- shuffled reports ----------------------------------------------------------------------------

#: A chance that is counted for what gives all away.
NEGLIGIBLE = mpf(10) ** -32


def clones(value: Value) -> Both:
    """Clones (Feldman, McMillan and Talwar 2021), as a finite sum: others give a report of both
    inputs with chance c each, c = e^-ε₀/2 in general and 1/(e^ε₀+k-1) for k-ary answers.

    Attained: by binary randomized response where the others are equal.
    """
    [entry] = value["mechanisms"]
    n, epsilon = int(value["reports"]), exact(f(entry["epsilon"]))
    general = entry["mechanism"] == "pure"
    clone = mp.exp(-epsilon) if general else 2 / (mp.exp(epsilon) + 1)
    p = mp.exp(epsilon) / (1 + mp.exp(epsilon))
    pairs: list[tuple[Any, Any]] = []
    rest, chance = mpf(1), (1 - clone) ** (n - 1)
    for c in range(n):
        half = chance / mpf(2) ** c
        if chance > NEGLIGIBLE:
            others = [0, *(half * comb(c, a) for a in range(c + 1)), 0]
            # a tokens of one kind among c + 1: the own token is one of them, or of the other kind.
            ones = [p * left + (1 - p) * right for left, right in pairwise(others)]
            for one, other in zip(ones, reversed(ones), strict=True):
                if one > NEGLIGIBLE:
                    pairs.append((one, other))
                    rest -= one
        chance = chance * (n - 1 - c) / (c + 1) * clone / (1 - clone)
    proved = of_pairs([*pairs, (rest, mpf(0))], value)
    attained = max(of_pairs(counts, value) for counts in binary_counts(n, p))
    return (attained, proved) if n <= 50 else (about(attained, 1e-11)[0], about(proved, 1e-11)[1])


def binary_counts(n: int, p: Any) -> Iterator[list[tuple[Any, Any]]]:
    """How many of n binary answers are 1, where one true value is 1 or 0 and the others are 0, or
    half of them are 1 (for few)."""
    for ones in {0, n // 2 if n <= 50 else 0}:
        law = [mpf(0)] * n
        for i, one in enumerate(binomial(ones, p)):
            for j, other in enumerate(binomial(n - 1 - ones, 1 - p)):
                law[i + j] += one * other
        law = [mpf(0), *law, mpf(0)]
        yield [
            (law[j] * p + law[j + 1] * (1 - p), law[j] * (1 - p) + law[j + 1] * p)
            for j in range(n + 1)
        ]


def binomial(n: int, p: Any) -> list[Any]:
    """The chances of 0 to n successes."""
    return [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]


def long_double(x: Any) -> np.longdouble:
    """A number as the sum of two doubles, which have more digits than it."""
    return np.longdouble(float(x)) + np.longdouble(float(x - float(x)))


def of_pairs(pairs: list[tuple[Any, Any]], value: Value) -> Any:
    """What is asked of a law with these chances under both tables; of many in long doubles."""
    if len(pairs) > 2000:
        chances = np.array([[long_double(x) for x in one] for one in pairs])
    else:
        chances = np.array(pairs, dtype=object)

    def profile(epsilon: Any) -> Any:
        factor = mp.exp(lattice.number(epsilon))
        if chances.dtype != object:
            factor = long_double(factor)
        gaps = [chances[:, n] - factor * chances[:, 1 - n] for n in (0, 1)]
        found = max(each[each > 0].sum() for each in gaps)
        return mpf(str(found)) if isinstance(found, np.longdouble) else found

    return asked_of(profile, value)


# --- sparse vector, unknown keys, noisy max ------------------------------------------------------


def sparse_vector(value: Value) -> Both:
    """Attained: a million queries that stay below, moved up, then c that are above, moved down.

    The chance is an integral over the noise of the threshold; in units of the sensitivity.
    """
    [entry] = value["mechanisms"]
    first, second = f(entry["threshold_epsilon"]), f(entry["answer_epsilon"])
    third, c = f(entry.get("value_epsilon", 0)), int(entry["positives"])
    many = 10**6
    factor = 1 if entry.get("monotone") else 2
    own, rate = float(first), float(second) / (factor * c)
    z = np.arange(-100, 1000, 0.001)

    def below(x: np.ndarray) -> Any:
        small = np.exp(-rate * np.abs(x)) / 2
        return np.where(x >= 0, 1 - small, small)

    def chance(queries: float, last: float) -> float:
        """The chance of these answers where the queries, and those above, have these values."""
        laws = below(z - queries) ** many * (1 - below(z - last)) ** c
        return float((np.exp(-own * np.abs(z)) * laws).sum())

    if entry.get("monotone"):
        pairs = [(chance(0, 1), chance(0, 0)), (chance(0, 0), chance(1, 1))]
        pairs += [(chance(1, 1), chance(0, 0)), (chance(0, 0), chance(1, 0))]
    else:
        pairs = [(chance(0, 0), chance(1, -1))]
    attained = max(np.log(p / q) for p, q in pairs) + float(third)
    return mpf(attained) * (1 - mpf("1e-8")), exact(first + second + third)


def noise_profile(entry: Value, keys: int) -> Callable[[Any], Any]:
    """Of the noise on so many keys, at any real ε."""
    moved = f(entry["max_per_key"])
    if not keys:
        return lambda epsilon: max(mpf(0), 1 - mp.exp(lattice.number(epsilon)))
    if "sigma" in entry:
        return curves.gaussian(keys * (moved / f(entry["sigma"])) ** 2)
    return curves.laplaces([moved / f(entry["scale"])] * keys)


def threshold(value: Value) -> Both:
    """A histogram over unknown keys: j of them new, the others moved, in both directions."""
    [entry] = value["mechanisms"]
    keys, above = int(entry["max_keys"]), f(entry["threshold"]) - f(entry["max_per_key"])
    if "sigma" in entry:
        once = tail(exact(above / f(entry["sigma"])))
    else:
        once = mp.exp(-exact(above / f(entry["scale"]))) / 2
    kappa = -mp.log1p(-once)

    def profile(epsilon: Any) -> Any:
        at = lattice.number(epsilon)
        with mp.workdps(60):
            return max(
                max(
                    -mp.expm1(-j * kappa)
                    + mp.exp(-j * kappa) * noise_profile(entry, keys - j)(at + j * kappa),
                    noise_profile(entry, keys - j)(at - j * kappa),
                )
                for j in range(keys + 1)
            )

    return same(asked_of(profile, value))


def kept(value: Value) -> Both:
    """The largest chance to keep a key of n units: one more unit is one step (Desfontaines)."""
    [entry] = value["mechanisms"]
    epsilon, delta = exact(f(entry["epsilon"])), exact(f(entry["delta"]))
    found = mpf(0)
    for _ in range(int(value["at"]["units"])):
        found = min(
            mp.exp(epsilon) * found + delta, 1 - mp.exp(-epsilon) * (1 - found - delta), mpf(1)
        )
    return same(found)


def laplace_pair(value: Value) -> Both:
    """Noisy max: the Laplace pair of ε for each pick.

    Attained for one pick by two candidates with exponential noise: the difference of their scores
    has Laplace noise, and who wins is a test of its pair, of any level.
    """
    [entry] = value["mechanisms"]
    epsilon = f(entry["epsilon"])
    if value["asked"] != "rho":
        once, all_picks = (
            asked_of(curves.laplaces([epsilon] * count), value)
            for count in (1, int(entry.get("count", 1)))
        )
        return once, all_picks
    loss, best = exact(epsilon), mpf(0)
    for gap in (loss * n / 100 for n in range(101)):
        p, q = mp.exp(-gap) / 2, 1 - mp.exp(gap - loss) / 2
        best = max(best, p * mp.log(p / q) + (1 - p) * mp.log((1 - p) / (1 - q)))
    return best, loss + mp.exp(-loss) - 1


# --- steps of training ---------------------------------------------------------------------------


def nodes_of(step: int, steps: int) -> Iterator[tuple[int, int]]:
    """The nodes of a binary tree over a leaf whose intervals end by the last step."""
    size = 1
    while (start := step // size * size) + size <= steps:
        yield size, start
        size *= 2


@cache
def tree_square(steps: int, most: int, apart: int) -> int:
    """The largest sum of squared counts of nodes, over all patterns of participation."""
    best = 0
    for pattern in combinations(range(steps), most):
        if all(b - a >= apart for a, b in pairwise(pattern)):
            counts: dict[tuple[int, int], int] = {}
            for step in pattern:
                for node in nodes_of(step, steps):
                    counts[node] = counts.get(node, 0) + 1
            best = max(best, sum(n * n for n in counts.values()))
    return best


def correlated(value: Value) -> Both:
    """Trees and matrices as one Gaussian: the squared sensitivity is counted over all patterns."""
    [entry] = value["mechanisms"]
    most, apart = int(entry.get("participations", 1)), int(entry.get("min_separation", 1))
    if entry["mechanism"] == "tree":
        steps = int(entry["steps"])
        # Apart by a whole tree, a row meets the first leaf of several; it is in the most nodes.
        alone = most == 1 or apart >= steps
        square = Fraction(
            most * len(list(nodes_of(0, steps))) if alone else tree_square(steps, most, apart)
        )
    elif apart >= int(entry["bands"]):
        square = most * f(entry["column_norm"]) ** 2
    else:
        square = (most * f(entry["column_norm"])) ** 2
    square *= (f(entry.get("sensitivity", 1)) / f(entry["sigma"])) ** 2
    if value["asked"] == "mu":
        return same(mp.sqrt(exact(square)))
    return same(asked_of(curves.gaussian(square), value))


def batches(value: Value) -> Both:
    """Each row in one batch an epoch: Gaussian noise once an epoch."""
    return normal(
        {
            **value,
            "mechanisms": [
                {**entry, "count": int(value["epochs"])} for entry in value["mechanisms"]
            ],
        }
    )


def cyclic(value: Value) -> Both:
    """Cyclic Poisson samples: a row meets every b-th step, each one sampled."""
    [entry] = value["mechanisms"]
    rounds = int(entry["participations"])
    step = {
        "mechanism": "gaussian",
        "sigma": str(f(entry["sigma"]) / f(entry["column_norm"])),
        "sensitivity": "1",
        "count": rounds,
    }
    return (sampled_once if rounds == 1 else line)({**value, "mechanisms": [step]})


def allocated(value: Value) -> Both:
    """One of two steps for each row: an integral over the noise of the first step.

    The mean of both likelihood ratios against e^ε, in both orders.
    """
    [entry] = value["mechanisms"]
    a = f(entry["sensitivity"]) / f(entry["sigma"])
    shift, at = exact(a), exact(f(value["at"]["epsilon"]))

    def ratio(x: Any) -> Any:
        return mp.exp(shift * x - shift * shift / 2)

    def inner(x: Any, factor: Any, above: bool) -> Any:
        """E of (ratio(x) + ratio(y) - 2·factor) over y where that is above, or below, zero."""
        rest = 2 * factor - ratio(x)
        edge = (mp.log(rest) + shift * shift / 2) / shift if rest > 0 else mpf(-60)
        if above:
            return tail(edge - shift) - rest * tail(edge)
        return rest * tail(-edge) - tail(shift - edge)

    with mp.workdps(25):
        found = []
        for above, factor in ((True, mp.exp(at)), (False, mp.exp(-at))):
            edge = (mp.log(2 * factor) + shift * shift / 2) / shift
            integral = mp.quad(
                lambda x, factor=factor, above=above: mp.npdf(x) * inner(x, factor, above) / 2,
                [*mp.linspace(-16, edge, 12), *mp.linspace(edge, edge + 16, 8)[1:]],
                maxdegree=8,
            )
            found.append(integral if above else integral / factor)
        return about(max(found), mpf("1e-11"))


RECIPES: dict[str, Callable[[Value], Both]] = {
    "finite law": finite_law,
    "normal": normal,
    "Laplace pieces": laplace_pieces,
    "Laplace divergence": laplace_rho,
    "pure in other notions": of_pure,
    "bounded range": bounded_range,
    "sampled once": sampled_once,
    "concentrated": concentrated,
    "filter": zcdp_filter,
    "line": line,
    "grid": grid,
    "selection": selection,
    "clones": clones,
    "sparse vector": sparse_vector,
    "threshold": threshold,
    "keys kept": kept,
    "Laplace pair": laplace_pair,
    "correlated": correlated,
    "batches": batches,
    "cyclic": cyclic,
    "allocated": allocated,
}


def rounded(x: Any, up: bool) -> str:
    """To so many significant digits, to one side."""
    if not x:
        return "0"
    exponent = int(mp.floor(mp.log10(abs(x)))) + 1 - DIGITS
    scaled = x / mpf(10) ** exponent
    # A number that has no more digits than that is itself, whatever the last bits say.
    whole = int(mp.nint(scaled))
    if abs(scaled - whole) > mpf(10) ** -20:
        whole = int(mp.ceil(scaled) if up else mp.floor(scaled))
    with mp.workdps(DIGITS + 5):
        text = str(mp.nstr(mpf(whole) * mpf(10) ** exponent, DIGITS, strip_zeros=True))
        return text.removesuffix(".0")


def ends(value: Value) -> tuple[str, str]:
    """Both ends of a value, rounded outward."""
    with mp.workdps(50):
        attained, proved = RECIPES[value["recipe"]](value)
        return rounded(attained, False), rounded(proved, True)


def load() -> list[Value]:
    found: list[Value] = json.loads(VALUES.read_text(encoding="utf-8"))["values"]
    return found


def main() -> int:
    """Computes all values again and says which differ, or fills them in."""
    document = json.loads(VALUES.read_text(encoding="utf-8"))
    differ = 0
    for value in document["values"]:
        lower, upper = ends(value)
        if (lower, upper) != (value.get("lower"), value.get("upper")):
            differ += 1
            print(f"{value['id']}: {lower} … {upper}", flush=True)
            value["lower"], value["upper"] = lower, upper
    if "--write" in sys.argv:
        lines = ",\n".join(
            "  " + json.dumps(each, ensure_ascii=False) for each in document.pop("values")
        )
        head = json.dumps(document, ensure_ascii=False, indent=1)[:-2]
        VALUES.write_text(f'{head},\n "values": [\n{lines}\n ]\n}}\n', encoding="utf-8")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
