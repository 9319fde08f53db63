"""Samples and group distances against every outcome written out, in both orders of the tables."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from mpmath import mp, mpf
from reference import curves, lattice
from volume import seeds

from dpcompose import curves as curve_door
from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.curve import (
    Curve,
    EvaluationEffort,
    Grouped,
    Part,
    Points,
    Response,
    Sampled,
)
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse

F = Fraction
ONE, MILLIONTH = F(1), F(1, 10**6)
#: Losses with their chances under P, and the chance of an infinite loss.
Outcomes = tuple[list[tuple[Any, Any]], Any]


def pure(epsilon: Fraction, count: int = 1, no_failure: Fraction = ONE) -> Curve:
    return Curve(((Response(epsilon), count),), no_failure=no_failure)


def once(part: Part) -> Curve:
    return Curve(((part, 1),))


# --- every outcome -------------------------------------------------------------------------------


def outcomes(law: lattice.Law) -> Outcomes:
    """The law's atoms with their own chances."""
    infinite = lattice.exact(law.infinite)
    return [
        (lattice.exact(loss), (1 - infinite) * mass / lattice.ONE)
        for loss, mass in law.atoms.items()
    ], infinite


def joined(one: Outcomes, other: Outcomes) -> Outcomes:
    sums = [(a + b, p * q) for a, p in one[0] for b, q in other[0]]
    return sums, 1 - (1 - one[1]) * (1 - other[1])


def sampled(base: Outcomes, rate: Fraction, added: bool) -> Outcomes:
    """((1-q)Q+qP, Q) or, `added`, (P, (1-q)P+qQ), for a symmetric base."""
    q, (atoms, infinite) = lattice.exact(rate), base
    if added:
        moved = [(-mp.log(1 - q + q * mp.exp(-loss)), p) for loss, p in atoms]
        return [*moved, (-mp.log(1 - q), infinite)], mpf(0)
    moved = [
        (mp.log(1 - q + q * mp.exp(loss)), (1 - q) * p * mp.exp(-loss) + q * p) for loss, p in atoms
    ]
    return [*moved, (mp.log(1 - q), (1 - q) * infinite)], q * infinite


def worst(laws: list[Outcomes]) -> Callable[[Fraction], Any]:
    def delta(epsilon: Fraction) -> Any:
        at = lattice.exact(epsilon)
        return max(
            infinite + mp.fsum(-p * mp.expm1(at - loss) for loss, p in atoms if loss > at)
            for atoms, infinite in laws
        )

    return delta


def drawn(rng: random.Random) -> tuple[Curve, list[Outcomes]]:
    """Few samples and responses, and their laws in both orders."""
    parts: list[tuple[Part, int]] = []
    laws: list[Outcomes] = [([(mpf(0), mpf(1))], mpf(0))] * 2
    for _ in range(rng.randint(1, 3)):
        epsilon, count = F(rng.randint(1, 300), 100), rng.randint(1, 2)
        k, leak = rng.randint(2, 9), rng.choice([F(0), F(1, 10**4)])
        part: Part = KaryResponse(k, epsilon)
        both = [outcomes(lattice.kary(k, epsilon))] * 2
        if rng.random() < 0.7:
            rate, side = F(rng.choice([1, 30, 400]), 1000), rng.choice(["removed", "added"])
            part = Sampled(rate, pure(epsilon, no_failure=1 - leak), False, side)
            law = outcomes(lattice.response(epsilon, leak))
            both = [sampled(law, rate, (side == "added") != flipped) for flipped in (False, True)]
        parts.append((part, count))
        for _ in range(count):
            laws = [joined(law, more) for law, more in zip(laws, both, strict=True)]
    return Curve(tuple(parts)), laws


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12, range(40)))
def test_few_samples(seed: int) -> None:
    rng = random.Random(seed)
    with mp.workdps(60):
        asked, laws = drawn(rng)
        delta = F(1, 10 ** rng.choice([1, 3, 6, 9, 15, 20, 25]))
        truth, slack = worst(laws), 1 + mpf(10) ** -40
        found = epsilon_at(asked, delta)
        if found is None:
            assert max(infinite for _, infinite in laws) > 0.999 * float(delta)
        else:
            assert truth(found.upper) <= lattice.exact(delta) * slack
            if found.upper > F(1, 10**9):
                assert truth(found.upper * (1 - 10 * MILLIONTH)) >= lattice.exact(delta)
        epsilon = F(rng.randint(0, 40), 10)
        back = lattice.exact(delta_at(asked, epsilon).upper)
        assert truth(epsilon) <= back * slack
        assert back <= truth(epsilon) * (1 + mpf(10) ** -4) + mpf(10) ** -30


# --- one sample ----------------------------------------------------------------------------------


@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("side", ["removed", "added", "both"])
@pytest.mark.parametrize("delta", ["0.05", "1e-6", "1e-20", "0"])
def test_one_sample_is_exact(delta: str, side: str, replace: bool) -> None:
    part = Sampled(F(1, 10), pure(F(1), 3), replace, side)
    found = epsilon_at(once(part), F(delta))
    assert found is not None and found.exact
    truth = curves.amplified(lattice.responses(F(1), 3), F(1, 10))
    with mp.workdps(60):
        assert truth(found.upper) <= lattice.exact(F(delta)) * (1 + mpf(10) ** -25)
        if found.lower is not None:
            assert found.lower <= found.upper <= found.lower * (1 + F(1, 10**20))
        assert (found.lower is None) == (delta == "0")
        back = delta_at(once(part), F(1, 7)).upper
        exact = truth(F(1, 7))
        assert exact <= lattice.exact(back) <= exact * (1 + mpf(10) ** -20)


def test_all_of_the_delta_goes_to_the_leak() -> None:
    leak = F(1, 10**5)
    part = Sampled(F(1, 10), pure(F(1), no_failure=1 - leak))
    found = epsilon_at(once(part), leak / 10)
    assert found is not None
    assert float(found.upper) == pytest.approx(float(mp.log1p(mp.expm1(1) / 10)), rel=1e-12)
    assert epsilon_at(once(part), leak / 10 - F(1, 10**30)) is None


def test_a_greatest_loss_is_amplified() -> None:
    found = epsilon_at(Curve(((Sampled(F(1, 10), pure(F(2)), False, "removed"), 5),)), F(0))
    assert found is not None
    assert float(found.upper) == pytest.approx(5 * float(mp.log1p(mp.expm1(2) / 10)), rel=1e-12)


# --- group distance ------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [2, 3, 20])
@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-20"])
def test_one_group_distance(delta: str, steps: int) -> None:
    """Gaussian noise, step by step, is Gaussian noise moved by the sum."""
    square = F(1, 16)
    part = once(Grouped(Curve((), square), steps))
    found, whole = (
        epsilon_at(part, F(delta)),
        epsilon_at(Curve((), square * steps**2), F(delta)),
    )
    assert found is not None and whole is not None
    # So far out the curve is known at few points.
    slack = F(1, 10**5) if F(delta) > F(1, 10**12) else F(1, 50)
    assert whole.upper <= found.upper <= whole.upper * (1 + slack)
    least = delta_at(Curve((), square * steps**2), F(1)).upper
    assert least <= delta_at(part, F(1)).upper <= least * (1 + F(1, 10**4))


@pytest.mark.parametrize("delta", ["1e-3", "1e-9", "1e-20"])
def test_one_far_group_distance(delta: str) -> None:
    square, steps = F(1, 10**8), 2000
    found = epsilon_at(once(Grouped(Curve((), square), steps)), F(delta))
    assert found is not None
    base = curves.gaussian(square)

    def grown(epsilon: Fraction) -> Any:
        e = lattice.exact(epsilon)
        return base(epsilon) * mp.expm1(steps * e) / mp.expm1(e)

    with mp.workdps(60):
        each, wanted = found.upper / steps, lattice.exact(F(delta))
        assert grown(each) <= wanted
        assert grown(each * (1 - MILLIONTH)) > wanted
        back = lattice.exact(delta_at(once(Grouped(Curve((), square), steps)), F(1)).upper)
        truth = min(mpf(1), grown(F(1) / steps))
        assert truth <= back <= truth * (1 + mpf(10) ** -5)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [3, 100])
def test_delta_falls_with_epsilon_at_a_group_distance(steps: int) -> None:
    sample = Curve(((Sampled(F(1, 10), Curve((), F(1)), False, "removed"), 1),))
    part = once(Grouped(sample, steps))
    found = [delta_at(part, F(n, 2)).upper for n in range(0, 24)]
    assert all(b <= a * (1 + MILLIONTH) for a, b in pairwise(found))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "delta", "excess"),
    [
        (50, F(1, 100), F(2, 100)),
        pytest.param(400, F(1, 10**5), F(1, 100), marks=pytest.mark.long),
    ],
)
def test_many_samples_at_a_group_distance(count: int, delta: F, excess: F) -> None:
    sample = Sampled(F(1, 100), Curve((), F(100, 121)), False, "removed")
    dp_sgd = Curve(((sample, count),))
    alone, single = epsilon_at(once(Grouped(dp_sgd, 2)), delta), epsilon_at(dp_sgd, delta)
    assert alone is not None and single is not None and alone.upper > 2 * single.upper
    # With next to nothing beside it, by points of the curve: above, by little.
    little = (LaplaceLoss(F(1, 10**9)), 1)
    beside = epsilon_at(Curve(((Grouped(dp_sgd, 2), 1), little)), delta)
    assert beside is not None and alone.upper * (1 - MILLIONTH) <= beside.upper
    assert beside.upper <= alone.upper * (1 + excess)


# --- points --------------------------------------------------------------------------------------

POINTS = Points(((F(1, 2), F(1, 1000)), (F(1), MILLIONTH), (F(2), F(1, 10**9))))


def test_points_at_their_own_delta() -> None:
    for epsilon, delta in POINTS.points:
        found = epsilon_at(once(POINTS), delta)
        assert found is not None
        assert epsilon <= found.upper <= epsilon * (1 + F(1, 10**9))
        back = delta_at(once(POINTS), epsilon).upper
        assert delta <= back <= delta * (1 + F(1, 10**9))


def test_one_point_is_a_stated_guarantee() -> None:
    parts = ((Points(((F(1), MILLIONTH),)), 5),)
    for delta in (1 - (1 - MILLIONTH) ** 5, F(1, 10**5), F(1, 100)):
        stated = epsilon_at(pure(F(1), 5, (1 - MILLIONTH) ** 5), delta)
        assert stated is not None and epsilon_at(Curve(parts), delta) == stated
    assert epsilon_at(Curve(parts), 4 * MILLIONTH) is None


# --- ends of laws --------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [F(3, 2), F(1, 10), F(7)])
@pytest.mark.parametrize("delta", ["0.1", "1e-3", "1e-12"])
def test_one_laplace(shift: Fraction, delta: str) -> None:
    found = epsilon_at(once(LaplaceLoss(shift)), F(delta))
    assert found is not None
    with mp.workdps(80):
        truth = lattice.exact(shift) + 2 * mp.log1p(-lattice.exact(F(delta)))
        assert max(truth, 0) <= lattice.exact(found.upper) <= max(truth, 0) * (1 + mpf(10) ** -6)


# --- a part that is used once --------------------------------------------------------------------

FAMILIES = {
    "gaussian": curve_door.gaussian(1),
    "quiet": curve_door.gaussian(300_000),
    "laplace": curve_door.laplace(2),
    "geometric": curve_door.geometric(2),
    "discrete gaussian": curve_door.discrete_gaussian(2),
    "skellam": curve_door.skellam(12),
    "bounded range": curve_door.exponential("0.5"),
    "responses": curve_door.randomized_response(1, 5),
    "stated": curve_door.approx(1, "1e-9"),
    "points": curve_door.profile([(1, "1e-3"), (2, "1e-6")]),
    "several": curve_door.maximum(curve_door.gaussian(2), curve_door.laplace(1)),
    "epoch": curve_door.gaussian("1.1").allocate(20),
}


@pytest.mark.slow
@pytest.mark.parametrize("steps", [1, 2, pytest.param(3, marks=pytest.mark.long), 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_an_epsilon_does_not_grow_with_delta_nor_a_delta_with_epsilon(
    family: str, steps: int
) -> None:
    """At any rate and distance, and never more than a rounding."""
    for rate in ("1e-9", "1e-3", "0.2", "1"):
        curve = FAMILIES[family] if rate == "1" else FAMILIES[family].sample(poisson=rate)
        curve = curve.at_distance(steps)
        epsilons = [curve.epsilon(delta=F(1, 10**n)) for n in range(1, 13, 2)]
        for one, two in pairwise(epsilons):
            assert two is None or one is not None
            assert two is None or one is None or one.upper <= two.upper * (1 + F(1, 10**9))
        deltas = [curve.delta(epsilon=F(n, 8) ** 3).upper for n in range(12)]
        for before, after in pairwise(deltas):
            assert after <= before * (1 + F(1, 10**9))


@pytest.mark.parametrize("sigma", [1, 300_000])
@pytest.mark.parametrize("rate", ["1e-6", "0.002"])
def test_rare_rows_a_few_steps_apart(sigma: int, rate: str) -> None:
    """Above the mixture of none, one or two rows drawn, and no more than twice one row; no draw at
    all is nearly always the case, where losses are 0."""
    found = curve_door.gaussian(sigma).sample(poisson=rate).at_distance(2)
    with mp.workdps(40):
        q = mpf(rate)
        one, two = (mp.erf(mpf(n) / sigma / mp.sqrt(8)) for n in (1, 2))
        truth = 2 * q * (1 - q) * one + q * q * two
        at_zero = lattice.exact(found.delta(epsilon=0).upper)
        assert truth <= at_zero <= 2 * q * one * (1 + mpf(10) ** -3) + mpf(10) ** -12


@pytest.mark.parametrize("rate", [F(1, 10**9), F(1, 50), F(9, 10)])
@pytest.mark.parametrize("side", ["removed", "added"])
def test_one_sample_in_the_order_that_is_asked_for(rate: Fraction, side: str) -> None:
    """Exactly the sum over the outcomes of that order."""
    base = pure(F(3, 2), no_failure=1 - F(1, 1000))
    with mp.workdps(60):
        for asked in ("removed", "added"):
            added = (side == "added") != (asked == "added")
            truth = worst([sampled(outcomes(lattice.response(F(3, 2), F(1, 1000))), rate, added)])
            for epsilon in (F(0), F(1, 100), F(1, 10), F(1)):
                part = once(Sampled(rate, base, False, side))
                found = delta_at(part, epsilon, EvaluationEffort(side=asked)).upper
                above = lattice.exact(found) - truth(epsilon)
                assert (
                    0 <= above + mpf(10) ** -50 <= truth(epsilon) * mpf(10) ** -9 + mpf(10) ** -45
                )


@pytest.mark.slow
def test_a_law_that_does_not_fit_the_fine_grid_is_taken_from_the_coarse_one() -> None:
    """Rare losses far beyond all others: what reveals all is all that is left above them."""
    stated = Curve(((Points(((F("0.000951"), F("3.5e-8")),)), 1),))
    inner = Curve(((Sampled(F("0.256231"), stated, False, "removed"), 1),))
    twice = Curve(((Sampled(F("9e-5"), inner, True), 2),))
    lost = 2 * F("9e-5") * F("0.256231") * F("3.5e-8")
    assert lost * (1 - MILLIONTH) <= delta_at(twice, F(1, 1000)).upper <= lost * (1 + MILLIONTH)
