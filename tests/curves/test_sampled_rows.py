"""Several rows through one Poisson sample: against the truth for noise, and for any mechanism."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from reference.events import largest_gain
from reference.finite_laws import normal, points, stick, weights, worse
from volume import seeds

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.curve import Curve, PoissonGroup, Response
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss

F = Fraction
EPSILONS = [0.0, 0.01, 0.3, 0.8, 1.5, 2.5, 4.0]
Law = Callable[[float], np.ndarray]


def chances(rate: float, rows: int) -> list[float]:
    return [math.comb(rows, n) * rate**n * (1 - rate) ** (rows - n) for n in range(rows + 1)]


def drawn(law: Law, rate: float, rows: int, way: int) -> np.ndarray:
    """So many rows that each move the law by `way`, each drawn with the same chance."""
    parts = [w * law(way * n) for n, w in enumerate(chances(rate, rows))]
    found: np.ndarray = np.sum(parts, axis=0)
    return found


def laplace(at: float) -> np.ndarray:
    x, width = np.linspace(-60, 60, 480_001, retstep=True)
    found: np.ndarray = np.exp(-np.abs(x - at)) / 2 * width
    return found


def geometric(at: float) -> np.ndarray:
    found: np.ndarray = np.exp(-np.abs(np.arange(-60, 61) - at) * 0.7) * math.tanh(0.35)
    return found


def gaussian_base(n: int) -> Curve:
    return Curve((), F(n * n))


def laplace_base(n: int) -> Curve:
    return Curve(((LaplaceLoss(F(n)), 1),))


def geometric_base(n: int) -> Curve:
    return Curve(((GeometricLoss(n, F(10, 7)), 1),))


NOISE = {
    "gaussian": (normal, gaussian_base),
    "laplace": (laplace, laplace_base),
    "geometric": (geometric, geometric_base),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("rate", [F(1, 50), F(7, 10), F(99, 100)])
@pytest.mark.parametrize("rows", [pytest.param(2, marks=pytest.mark.long), 3])
def test_noise_has_just_the_loss_of_the_mixtures(kind: str, rate: F, rows: int) -> None:
    law, base = NOISE[kind]
    once = tuple(base(n) for n in range(1, rows + 1))
    q, step = float(rate), F(1, 2048)
    one_sided = masses(PoissonGroup(rate, once, one_sided=True), step)
    either = masses(PoissonGroup(rate, once), step)
    replaced = masses(PoissonGroup(rate, once, rows), step)
    several, none = drawn(law, q, rows, 1), law(0)
    for epsilon in EPSILONS:
        truth = worse(several, none, epsilon)
        assert truth * (1 - 1e-6) - 1e-13 <= profile(one_sided, epsilon)
        assert profile(one_sided, epsilon) <= truth * (1 + 1e-3) + 1e-11
        for some in range(rows + 1):
            p, q_ = drawn(law, q, some, 1), drawn(law, q, rows - some, -1)
            truth = max(truth, stick(p, q_, epsilon))
        assert truth * (1 - 1e-6) - 1e-13 <= profile(either, epsilon)
        assert profile(either, epsilon) <= truth * (1 + 1e-3) + 1e-11
        truth = stick(several, drawn(law, q, rows, -1), epsilon)
        assert truth * (1 - 1e-6) - 1e-13 <= profile(replaced, epsilon)
        assert profile(replaced, epsilon) <= truth * (1 + 5e-3) + 1e-11


@pytest.mark.parametrize("rate", [F(1, 50), F(7, 10)])
def test_each_order_of_the_tables_has_its_own_loss(rate: F) -> None:
    once = tuple(gaussian_base(n) for n in range(1, 4))
    part = PoissonGroup(rate, once, one_sided=True, side="removed")
    several, none = drawn(normal, float(rate), 3, 1), normal(0)
    for side, p, q in (("removed", several, none), ("added", none, several)):
        law = masses(part, F(1, 2048), side)
        turned = masses(replace(part, side="added"), F(1, 2048), OTHER[side])
        assert np.array_equal(law.p, turned.p) and law.infinite == turned.infinite
        for epsilon in (-2.0, -0.3, *EPSILONS):
            truth = stick(p, q, epsilon)
            assert truth * (1 - 1e-6) - 1e-13 <= profile(law, epsilon)
            assert profile(law, epsilon) <= truth * (1 + 1e-3) + 1e-10


OTHER = {"removed": "added", "added": "removed"}


def test_numbers_that_are_told_together_count_as_the_largest() -> None:
    every = tuple(gaussian_base(n) for n in range(1, 7))
    some = PoissonGroup(F(1, 5), every[1::2], one_sided=True, numbers=(2, 4, 6))
    exact = masses(PoissonGroup(F(1, 5), every, one_sided=True), F(1, 256))
    told = masses(some, F(1, 256))
    for epsilon in EPSILONS:
        assert profile(exact, epsilon) <= profile(told, epsilon) * (1 + 1e-9)
    assert some.chances(3) == [F(64, 125), F(60, 125), F(1, 125)]
    # What is very rare is given away.
    far = PoissonGroup(F(1, 10**9), every, one_sided=True, numbers=(1, 2, 3, 4, 5, 1000))
    assert 0 < masses(far, F(1, 256)).infinite < 1e-30


def test_it_may_be_worse_that_some_rows_come_and_others_go() -> None:
    rate, once = F(7, 10), tuple(Curve(((GeometricLoss(n, F(1)), 1),)) for n in (1, 2))
    found = {
        one_sided: profile(masses(PoissonGroup(rate, once, one_sided=one_sided), F(1, 64)), 0.75)
        for one_sided in (True, False)
    }
    assert found[False] > 1.01 * found[True]


# --- any mechanism that is ε-DP ------------------------------------------------------------------


@pytest.mark.parametrize("rate", [F(1, 10), F(1, 2), F(9, 10)])
def test_pure_losses_against_linear_programs(rate: F) -> None:
    """The worst chances of one event, for any number of rows drawn: all that a statement says."""
    epsilon, rows = F(3, 5), 3
    base = tuple(
        Curve(((GeometricLoss(n, 1 / epsilon), 1),)) if n > 1 else response(epsilon)
        for n in range(1, rows + 1)
    )
    law = masses(PoissonGroup(rate, base, one_sided=True), F(1, 1000))
    steps = [(n, n + 1, float(epsilon), 0) for n in range(rows)]
    drawn = dict(enumerate(chances(float(rate), rows)))
    for at in (0.0, 0.25, 0.6, 0.9, 1.3):
        worst = max(largest_gain(drawn, {0: 1}, steps, at), largest_gain({0: 1}, drawn, steps, at))
        assert worst - 1e-8 <= profile(law, at) <= worst * 1.02 + 1e-8
        # Exactly, at any ε by itself.
        alone = Curve(((PoissonGroup(rate, base, one_sided=True), 1),))
        assert float(delta_at(alone, F(at)).upper) == pytest.approx(worst, abs=1e-5)


def response(epsilon: F) -> Curve:
    return Curve(((Response(epsilon), 1),))


@pytest.mark.parametrize("seed", seeds(40, range(40), quick=15))
def test_random_laws(seed: int) -> None:
    """Two rows come and go, or are replaced by two others: any laws of what is released."""
    rng = random.Random(seed)
    near = rng.choice([1.0, 0.5, 0.1])
    names = ["", "a", "b", "ab", "c", "d", "cd"]
    none = weights(rng)
    law = {name: (1 - near) * none + near * weights(rng) if name else none for name in names}
    rate = F(rng.choice(["1/50", "1/7", "1/2", "4/5", "1"]))
    q = float(rate)
    w = [(1 - q) ** 2, q * (1 - q), q * (1 - q), q * q]
    first: np.ndarray
    second: np.ndarray
    first, second = (
        np.sum([x * law[name] for x, name in zip(w, ("", *rows), strict=True)], axis=0)
        for rows in (("a", "b", "ab"), ("c", "d", "cd"))
    )
    once = (
        points(*((none, law[name]) for name in "abcd")),
        points((none, law["ab"]), (none, law["cd"])),
    )
    both = (
        points(*((law[x], law[y]) for x, y in (("a", "c"), ("b", "d")))),
        points((law["ab"], law["cd"])),
    )
    one, other = (1 - q) * none + q * law["a"], (1 - q) * none + q * law["c"]
    cases = [
        (PoissonGroup(rate, once, one_sided=True), first, none),
        (PoissonGroup(rate, once), first, none),
        (PoissonGroup(rate, once), one, other),
        (PoissonGroup(rate, once, 2), first, second),
        (PoissonGroup(rate, once, 2, both), first, second),
    ]
    for part, p, q_ in cases:
        found = masses(part, F(1, 256))
        for epsilon in EPSILONS:
            truth = worse(p, q_, epsilon)
            assert profile(found, epsilon) >= truth * (1 - 1e-9) - 1e-13


# --- what it is made for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "replaced", "truth"), [(3, 0, 5.1023969002), (3, 3, 8.6079022996)]
)
def test_three_rows_through_a_sample(rows: int, replaced: int, truth: float) -> None:
    once = tuple(gaussian_base(n) for n in range(1, rows + 1))
    part = PoissonGroup(F(7, 10), once, replaced)
    found = epsilon_at(Curve(((part, 1),)), F(1, 10))
    assert found is not None
    assert truth * (1 - 1e-9) <= found.upper <= truth * (1 + 1e-6)


def test_extremes() -> None:
    once = tuple(gaussian_base(n) for n in (1, 2))
    tiny = masses(PoissonGroup(F(1, 10**70), once), F(1, 64))
    assert profile(tiny, 0.0) <= 1e-12
    whole = masses(PoissonGroup(F(1), once, one_sided=True), F(1, 1024))
    truth = stick(normal(2), normal(0), 0.5)
    assert truth * (1 - 1e-6) <= profile(whole, 0.5) <= truth * (1 + 1e-4)
    nothing = PoissonGroup(F(1, 3), (Curve(), Curve()))
    assert profile(masses(nothing, F(1, 64)), 0.0) <= 1e-9
    lost = PoissonGroup(F(1, 3), (Curve((), no_failure=F(0)),) * 2)
    assert profile(masses(lost, F(1, 64)), 0.0) == pytest.approx(5 / 9, rel=1e-6)
    far = PoissonGroup(F(1, 3), (response(F(10**7)), response(F(2 * 10**7))))
    assert profile(masses(far, F(1, 64)), 1.0) >= 5 / 9 * (1 - 1e-9)


def test_the_greatest_loss_is_that_of_the_best_event() -> None:
    once = tuple(response(F(n)) for n in (1, 2))
    rate, up, down = F(1, 4), 0.75 + math.e / 4, 0.75 + math.exp(-1) / 4
    for part, ratio in (
        (PoissonGroup(rate, once, one_sided=True), up**2),
        (PoissonGroup(rate, once), up**2),
        (PoissonGroup(rate, once, 2), (up / down) ** 2),
        (PoissonGroup(rate, once, 1), up**2 / down),
    ):
        found = greatest_loss(part)
        assert found is not None and float(found) == pytest.approx(math.log(ratio), rel=1e-12)
    assert greatest_loss(PoissonGroup(rate, (gaussian_base(1), gaussian_base(2)))) is None


def test_rows_are_shared_out_in_all_ways() -> None:
    once = (Curve(),) * 3
    assert PoissonGroup(F(1, 2), once).splits() == [(2, 1), (3, 0)]
    assert PoissonGroup(F(1, 2), once, 3).splits() == [(3, 3)]
    assert PoissonGroup(F(1, 2), once, 1).splits() == [(2, 2), (3, 1)]
    assert PoissonGroup(F(1, 2), once, one_sided=True).splits() == [(3, 0)]
    every = {tuple(sorted(split)) for split in PoissonGroup(F(1, 2), (*once, once[0])).splits()}
    assert every == {(n, m) for n, m in combinations(range(5), 2) if n + m == 4} | {(2, 2)}
