"""δ and ε by a sum over a vertical line: against mpmath, and numbers found elsewhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpc, mpf
from reference import curves

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.vertical_line import contour, sampled_transforms, transforms
from dpcompose.curves.backends.vertical_line.line_sum import VerticalLine
from dpcompose.curves.backends.vertical_line.transforms import Transforms
from dpcompose.curves.curve import Curve, Part, Response, Sampled
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss

F = Fraction
MILLIONTH = F(1, 10**6)

Moment = Callable[[Any], Any]


def sampled(rate: str, sigma: str, side: str = "removed") -> Sampled:
    return Sampled(F(rate), Curve(gaussian=1 / F(sigma) ** 2), side=side)


def sampled_laplace(rate: str, shift: str, side: str = "removed") -> Sampled:
    return Sampled(F(rate), Curve(((LaplaceLoss(F(shift)), 1),)), side=side)


# --- moment generating functions in 30 digits ----------------------------------------------------


def of_gaussian(part: Sampled, added: bool) -> Moment:
    """By the plain trapezoidal rule, far finer than needed."""
    mu, q = (
        mp.sqrt(mpf(part.base.gaussian.numerator) / part.base.gaussian.denominator),
        number(part),
    )
    width = mpf(1) / 16
    nodes = []
    for k in range(-224, 480):
        x = k * width
        odds = mp.log1p(q * mp.expm1(mu * x - mu * mu / 2))
        nodes.append((width * mp.npdf(x), odds))
    return lambda s: mp.fsum(w * mp.exp((-s if added else 1 + s) * odds) for w, odds in nodes)


def of_plain_laplace(part: LaplaceLoss) -> Moment:
    a = mpf(part.shift.numerator) / part.shift.denominator
    return lambda s: ((1 + s) * mp.exp(s * a) + s * mp.exp(-(1 + s) * a)) / (1 + 2 * s)


def of_response(part: Response) -> Moment:
    e = mpf(part.epsilon.numerator) / part.epsilon.denominator
    return lambda s: (mp.exp((1 + s) * e) + mp.exp(-s * e)) / (1 + mp.exp(e))


def of_atoms(part: GeometricLoss | DiscreteGaussianLoss) -> Moment:
    """By all whole numbers, or as good as all."""
    if isinstance(part, GeometricLoss):
        rate = 1 / (mpf(part.scale.numerator) / part.scale.denominator)
        if part.shift == 1:
            return of_response(Response(1 / part.scale))
        r, m = mp.exp(-rate), part.shift
        middle = [((1 - r) / (1 + r) * r**x, (m - 2 * x) * rate) for x in range(1, m)]
        ends = [(1 / (1 + r), m * rate), (r**m / (1 + r), -m * rate)]
        return lambda s: mp.fsum(weight * mp.exp(s * loss) for weight, loss in ends + middle)
    variance, shift = mpf(part.variance.numerator) / part.variance.denominator, part.shift
    reach = int(16 * mp.sqrt(variance)) + 30 * shift
    atoms = [
        (mp.exp(-(mpf(n) ** 2) / (2 * variance)), (shift * shift - 2 * shift * n) / (2 * variance))
        for n in range(-reach, reach + 1)
    ]
    whole = mp.fsum(weight for weight, _ in atoms)
    return lambda s: mp.fsum(weight * mp.exp(s * loss) for weight, loss in atoms) / whole


def number(part: Sampled | Fraction) -> Any:
    value = part.rate if isinstance(part, Sampled) else part
    return mpf(value.numerator) / value.denominator


KINDS: list[tuple[type[Transforms], list[Part], Callable[[Any], Moment]]] = [
    (
        sampled_transforms.SampledGaussians,
        [sampled("0.01", "1.1"), sampled("0.3", "2")],
        lambda part: of_gaussian(part, False),
    ),
    (
        sampled_transforms.AddedGaussians,
        [sampled("0.01", "0.5"), sampled("0.3", "1")],
        lambda part: of_gaussian(part, True),
    ),
    (
        transforms.LaplaceTransforms,
        [LaplaceLoss(F("1/10")), LaplaceLoss(F("1e-5")), LaplaceLoss(F(4))],
        of_plain_laplace,
    ),
    (
        transforms.ResponseTransforms,
        [Response(F("1/10")), Response(F("1e-5")), Response(F(4))],
        of_response,
    ),
    (
        transforms.ResponseTransforms,
        [GeometricLoss(1, F(7)), GeometricLoss(1, F(1, 3))],
        of_atoms,
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "losses", "moment"), KINDS, ids=lambda x: getattr(x, "__name__", "")
)
@pytest.mark.parametrize("theta", [0.3, 14.0])
def test_transforms(
    kind: type[Transforms], losses: list[Part], moment: Callable[[Any], Moment], theta: float
) -> None:
    """Within the error that is told, and that is a matter of roundings."""
    t = np.array([0.0, 1e-3, 0.7, 5.0, 31.0])
    found = kind(losses, [1] * len(losses)).on_line(theta, t)
    assert found is not None
    with mp.workdps(30):
        for i, loss in enumerate(losses):
            of = moment(loss)
            whole = of(mpf(theta))
            assert abs(found.logs[i] - mp.log(whole)) <= found.lost[i] + 1e-300
            assert found.lost[i] <= 1e-12 * (1 + found.logs[i])
            for j, place in enumerate(t):
                wanted = of(mpc(theta, place)) / whole - 1
                assert abs(wanted - mpc(complex(found.more[i, j]))) <= found.error[i, j] + 1e-300
                assert found.error[i, j] <= 1e-11 * (place + 1e-6) + 1e-13


@pytest.mark.parametrize(
    ("kind", "losses", "moment"), KINDS, ids=lambda x: getattr(x, "__name__", "")
)
def test_beyond_is_above(
    kind: type[Transforms], losses: list[Part], moment: Callable[[Any], Moment]
) -> None:
    """What bounds |M(θ+iu)/M(θ)| up to the next place does so everywhere in between."""
    of, theta = kind(losses, [1] * len(losses)), 1.7
    places = 2.0 ** (np.arange(-6, 16) / 3)
    bounds = np.exp(of.beyond(theta, places))
    between = np.sort(np.concatenate([places * factor for factor in (1, 1.05, 1.12, 1.2, 1.25)]))
    found = of.on_line(theta, between)
    assert found is not None
    sizes = np.abs(1 + found.more)
    at = np.searchsorted(places, between, side="right") - 1
    assert (sizes <= bounds[:, at] + 1e-12).all()
    # From the last place on for good.
    far = of.on_line(theta, places[-1] * np.array([1.3, 2.0, 4.0]))
    assert far is not None
    assert (np.abs(1 + far.more) <= bounds[:, -1:] + 1e-12).all()


# --- ε ------------------------------------------------------------------------------------------


def true_delta(
    moments: Sequence[tuple[Moment, int]], square: Any, theta: Any, epsilon: Any, most: Any
) -> Any:
    """δ(ε) by the same integral in 30 digits, with steps that are far finer than needed."""

    def part(t: Any) -> Any:
        s = mpc(theta, t)
        log = square * s * (s + 1) / 2 - s * epsilon
        log += mp.fsum(count * mp.log(moment(s)) for moment, count in moments)
        return (mp.exp(log) / (s * (s + 1))).real

    step = mpf(most) / 60
    return step / mp.pi * (part(mpf(0)) / 2 + mp.fsum(part(step * k) for k in range(1, 61)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "square", "theta", "most"),
    [
        ([(sampled("0.01", "1.1"), 10**6)], "0", "0.4", "0.8"),
        pytest.param([(sampled("0.001", "1"), 10**6)], "0", "3.3", "7", marks=pytest.mark.long),
        ([(sampled("0.02", "1"), 3000), (sampled("0.01", "2"), 500)], "0", "3", "8"),
        ([(LaplaceLoss(F("1/10")), 40), (Response(F("1/7")), 30)], "1/2", "4", "12"),
        ([(sampled("0.02", "1"), 1000), (LaplaceLoss(F("1/20")), 7)], "1/50", "3", "12"),
    ],
)
def test_epsilon(parts: list[tuple[Any, int]], square: str, theta: str, most: str) -> None:
    """δ at the ε that is found is the one asked for, to ten digits, and not more."""
    found = epsilon_at(Curve(tuple(parts), F(square)), MILLIONTH)
    assert found is not None and found.exact and found.grid is None
    orders = (False, True) if any(isinstance(part, Sampled) for part, _ in parts) else (False,)
    with mp.workdps(30):
        worst = mpf(0)
        for added in orders:
            moments = []
            for part, count in parts:
                match part:
                    case Sampled():
                        moments.append((of_gaussian(part, added), count))
                    case LaplaceLoss():
                        moments.append((of_plain_laplace(part), count))
                    case _:
                        moments.append((of_response(part), count))
            at = mpf(found.upper.numerator) / found.upper.denominator
            mu2 = mpf(F(square).numerator) / F(square).denominator
            worst = max(worst, true_delta(moments, mu2, mpf(theta), at, mpf(most)))
        assert 1 - mpf(10) ** -9 <= worst * 10**6 <= 1


SMOOTH = [
    Curve(((sampled("0.01", "1"), 3000),)),
    Curve(((sampled("0.05", "2", "added"), 300), (sampled("0.01", "1"), 100))),
    Curve(((LaplaceLoss(F("1/10")), 5000),)),
    Curve(((LaplaceLoss(F("1/10")), 5), (Response(F(1)), 2)), F(1)),
]


@pytest.mark.parametrize("asked", SMOOTH)
@pytest.mark.parametrize("delta", ["0.01", "1e-6", "1e-30"])
def test_both_questions_agree(asked: Curve, delta: str) -> None:
    log = math.log(float(delta))
    epsilon = contour.epsilon_on_line(asked, log, math.inf)
    assert epsilon is not None
    back = contour.log_delta_on_line(asked, F(epsilon))
    assert back is not None and back == pytest.approx(log, abs=1e-7)


@pytest.mark.parametrize(
    "asked",
    [
        Curve(tuple((LaplaceLoss(F(i, 10)), 10) for i in range(1, 6))),
        Curve(((Response(F("1/10")), 5000),)),
        Curve(((sampled("0.01", "1"), 1),)),
        Curve(((sampled("0.01", "1", "both"), 1000),)),
        Curve(((sampled_laplace("0.01", "1"), 1000),)),
        Curve(((LaplaceLoss(F(10**10)), 5000),)),
        Curve(((sampled("0.01", "1"), 10**400),)),
    ],
)
def test_what_is_not_smooth_is_left_to_grids(asked: Curve) -> None:
    assert contour.epsilon_on_line(asked, math.log(1e-6), math.inf) is None
    assert contour.log_delta_on_line(asked, F(1)) is None


LAPLACES = [
    ["1/10"] * 5,
    ["1/10"] * 16,
    ["1"] * 9 + ["1/3"] * 4,
    ["1/7", "3"],
    ["1/100"] * 20,
]


@pytest.mark.slow
@pytest.mark.parametrize("shifts", LAPLACES, ids=len)
def test_a_few_laplace_losses(shifts: list[str]) -> None:
    """Against the exact curve, by inclusion and exclusion in 120 digits."""
    true = curves.laplaces([F(a) for a in shifts])
    asked = Curve(tuple((LaplaceLoss(F(a)), n) for a, n in Counter(shifts).items()))
    for delta in (F(1, 10), F(1, 1000), MILLIONTH):
        found = epsilon_at(asked, delta)
        assert found is not None
        if found.upper:
            least = found.upper * (1 - F(1, 10**6))
            assert true(found.upper) <= number(delta) <= true(least)
    for at in (F(0), F(1, 50), F(1, 2), F(3)):
        told, wanted = delta_at(asked, at).upper, true(at)
        assert wanted <= number(told) <= wanted * (1 + mpf(10) ** -5)


@pytest.mark.parametrize("epsilon", ["0", "0.3", "2", "6"])
def test_responses_beside_laplaces(epsilon: str) -> None:
    """δ of both is the mean of that of the Laplace losses, moved by each sum of responses."""
    laplaces, size = [(LaplaceLoss(F("1/4")), 10)], F("1/3")
    true, e = curves.laplaces([F("1/4")] * 10), F(epsilon)
    asked = Curve((*laplaces, (Response(size), 3)))
    with mp.workdps(40):
        high = 1 / (1 + mp.exp(-mpf(1) / 3))
        wanted = mp.fsum(
            mp.binomial(3, k) * high ** (3 - k) * (1 - high) ** k * true(e - (3 - 2 * k) * size)
            for k in range(4)
        )
    told = number(delta_at(asked, e).upper)
    assert wanted <= told <= wanted * (1 + mpf(10) ** -6)


@pytest.mark.slow
def test_unlike_noise() -> None:
    """As many kinds as that are hardly above what was found without a grid."""
    discrete = [(DiscreteGaussianLoss(1, F((20 + i) ** 2)), 1) for i in range(100)]
    laplaces = [(LaplaceLoss(F(1, 20 + i)), 1) for i in range(100)]
    steps = [(GeometricLoss(1 + i % 4, F(20 + i)), 1) for i in range(100)]
    for losses, before in (
        (discrete, 0.8661383283),
        (laplaces, 0.8310921013),
        (steps, 2.3371768769),
    ):
        found = epsilon_at(Curve(tuple(losses)), MILLIONTH)
        assert found is not None
        assert before * (1 - 1e-6) <= found.upper <= before * (1 + 1e-6)


@pytest.mark.slow
def test_phases_of_training() -> None:
    """However many unlike ones there are, a sum of few places needs no grid (of 3.87469611)."""
    phases = [
        (Sampled(F(i + 1, 3000), Curve(gaussian=F(9, 10 + i) ** 2), side="removed"), 100 + i)
        for i in range(300)
    ]
    found = epsilon_at(Curve(tuple(phases)), MILLIONTH)
    assert found is not None and found.grid is None
    assert 3.6138 < found.upper < 3.6138033615


def test_periods_of_a_sum() -> None:
    """A longer one is no further from the truth, and one beyond all numbers has no sum."""
    line = VerticalLine([transforms.ResponseTransforms([Response(F(1, 10))], [40])], 0.5)
    short, long = line.sum(1.0, 40.0, 0.0), line.sum(1.0, 80.0, 0.0)
    assert short is not None and long is not None
    for epsilon in (0.5, 1.0, 3.0):
        one, other = short.log_delta(epsilon), long.log_delta(epsilon)
        assert other.log_upper <= one.log_upper + 1e-9
        assert one.log_lower <= other.log_upper
    assert line.sum(1.0, math.inf, 0.0) is None
