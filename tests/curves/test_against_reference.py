"""ε at a δ against the definition in 50 digits, and against dp-accounting's loss distributions.

A certified ε is checked by the true profile: δ(ε) is within δ, and a little below ε it is not.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
import yaml
from mpmath import mp, mpf
from reference import blocks, curves, lattice, powers
from volume import seeds

import dpcompose
from dpcompose.curves import answers as solve
from dpcompose.curves.curve import Curve, Part, Response, Sampled
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.geometric_loss import GeometricLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.randomized_response_loss import KaryResponse

#: How far above the least ε a result may be: stated and Gaussian, and loss distributions.
STATED, DISTRIBUTION = 1e-6, 1e-3
#: Where dp-accounting is at its best, so must this be.
AS_CLOSE = 1e-6
#: As good as no loss.
_ZERO = Fraction(1, 10**20)

Profile = Callable[[Any], Any]


def f(text: str) -> Fraction:
    return Fraction(text)


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(50):
        yield


def check(composition: Curve, profile: Profile, delta: Fraction, near: float) -> None:
    """ε is an upper bound, and at most the given share above the least one."""
    found = solve.epsilon_at(composition, delta)
    assert found is not None
    wanted = lattice.exact(delta)
    assert profile(found.upper) <= wanted, "below the truth"
    if found.upper > _ZERO:
        assert profile(found.upper * (1 - Fraction(near))) >= wanted, "too far above the truth"
    if found.lower is not None and found.lower > _ZERO:
        assert found.lower <= found.upper
        assert profile(found.lower) >= wanted, "the lower bound is above the truth"


def check_converse(composition: Curve, profile: Profile, epsilon: Fraction) -> None:
    """δ is an upper bound, and not far above."""
    found = solve.delta_at(composition, epsilon)
    with mp.workdps(lattice.DIGITS):
        truth, upper = profile(epsilon), lattice.exact(found.upper)
        assert upper >= truth - lattice.ROUNDING, "below the truth"
        assert upper <= truth * (1 + mpf(10) ** -4) + mpf(10) ** -100, "too far above the truth"
        if found.lower is not None:
            assert lattice.exact(found.lower) <= truth + lattice.ROUNDING


class TestReference:
    """The reference itself, by second ways; the engine has the numbers that others have printed."""

    def test_laplace_in_pieces_is_the_integral(self) -> None:
        exact, a, b = curves.laplaces([f("0.7"), f("0.4")]), mpf("0.7"), mpf("0.4")
        one = curves.laplaces([f("0.4")])
        with mp.workdps(25):
            at = mpf("0.15")
            # Kinks where at - (a - 2x) is b or -b.
            cuts = [0, (a - at - b) / 2, (a - at + b) / 2, a]
            inside = mp.quad(lambda x: mp.exp(-x) / 2 * one(at - a + 2 * x), sorted(cuts))
            whole = one(at - a) / 2 + mp.exp(-a) / 2 * one(at + a) + inside
            assert abs(exact(at) - whole) < mpf(10) ** -20

    def test_samples(self) -> None:
        # Two pure 1 on one Poisson sample of a tenth, not twice one.
        inner = lattice.responses(f("1"), 2)
        assert float(curves.epsilon_of(curves.amplified(inner, f("0.1")), f("1e-30"))) == (
            pytest.approx(math.log1p(0.1 * math.expm1(2)), abs=1e-12)
        )
        # One step of a pure mechanism: both descriptions of it agree.
        steps = curves.sampled_responses(f("0.1"), f("1"), 1, True)
        once = curves.amplified(lattice.response(f("1")), f("0.1"))
        assert abs(steps(mpf("0.05")) - once(mpf("0.05"))) < mpf(10) ** -60
        one = curves.sampled_gaussian(f("1"), f("0.5"), True)
        back = curves.sampled_gaussian(f("1"), f("0.5"), False)
        assert abs(one(mpf(1)) - curves.gaussian(f("0.25"))(mpf(1))) < mpf(10) ** -60
        assert abs(one(mpf(1)) - back(mpf(1))) < mpf(10) ** -60

    def test_power_functions(self) -> None:
        step = powers.step(f("0.3"))
        for n in range(1, 6):
            path, noise = powers.path([step] * n).law(), lattice.geometric(n, 1 / f("0.3"))
            assert set(path.atoms) == set(noise.atoms)
            assert all(abs(path.atoms[at] - noise.atoms[at]) < 1 << 60 for at in path.atoms)
        assert powers.least(step, powers.step(f("0.4"))) == step
        # Along a path no δ is below that of group privacy's closed form, at its ε the same.
        once = powers.step(f("0.3"), f("0.01"))
        with mp.workdps(lattice.DIGITS):
            twice = mpf("0.01") * (1 + mp.exp(mpf("0.3")))
            law = powers.path([once] * 2).law()
            assert abs(law.delta(f("0.6")) - twice) < mpf(10) ** -100
        # The tables of every order exist.
        other = powers.step(f("0.5"), f("0.001"))
        orders = [powers.path(order) for order in ([once, other], [other, once])]
        best = powers.any_order([once, other])
        for x in (mpf(n) / 100 for n in range(1, 100)):
            assert abs(best(x) - min(each(x) for each in orders)) < mpf(10) ** -45

    def test_patterns(self) -> None:
        equal = [([f("0.1")], [f("0.2")])] * 4
        assert blocks.worst_epsilon(equal, 2, True, f("1e-9"))[1].count(2) == 2
        # Hit once or twice sums to 0.8 either way; few large ones are worse at a δ.
        large, hits = blocks.worst_epsilon([([f("0.2")], [f("0.4")])] * 4, 2, True, f("0.05"))
        assert hits.count(2) == 2
        assert large == (lattice.geometric(2, f("5")) ** 2).epsilon(f("0.05"))
        # A replaced row costs no more than a removed one: spread out.
        _, hits = blocks.worst_epsilon([([f("0.3")], [f("0.3")])] * 4, 2, True, f("0.05"))
        assert hits == (1, 1, 1, 1)


DELTAS = ["0.3", "1e-3", "1e-6", "1e-9", "1e-15", "1e-20"]


@dataclass
class Mixture:
    """A composition and its true law."""

    composition: Curve
    profile: Profile
    leak: Fraction


def stated_mixture(rng: random.Random, most: int) -> Mixture:
    """Responses on a grid that is not too fine, some with δ, and maybe a Gaussian."""
    unit = rng.choice([f("0.05"), f("0.1"), f("1/30"), f("0.123"), f("0.7")])
    parts: list[tuple[Part, int]] = []
    law, no_failure = lattice.Law(), Fraction(1)
    for times in rng.sample(range(1, 12), rng.randint(1, 4)):
        count = rng.randint(1, max(1, most // times))
        parts.append((Response(times * unit), count))
        law = law * lattice.responses(times * unit, count)
        if rng.random() < 0.3:
            no_failure *= (1 - f("1e-22")) ** count
    law.infinite = 1 - no_failure
    square = rng.choice([f("0"), f("0"), f("0.01"), f("0.3"), f("4")])
    profile = curves.mixed(law, curves.gaussian(square)) if square else law.delta
    return Mixture(Curve(tuple(parts), square, no_failure), profile, 1 - no_failure)


class TestStated:
    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(16, range(60)))
    def test_mixtures(self, seed: int) -> None:
        rng = random.Random(seed)
        mixture = stated_mixture(rng, rng.choice([3, 20, 60]))
        delta = f(rng.choice(DELTAS))
        check(mixture.composition, mixture.profile, delta, STATED)
        total = sum(
            (
                part.epsilon * count
                for part, count in mixture.composition.parts
                if isinstance(part, Response)
            ),
            Fraction(0),
        )
        check_converse(mixture.composition, mixture.profile, total * rng.randint(0, 12) / 10)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(7, range(20)))
    def test_many(self, seed: int) -> None:
        rng = random.Random(100 + seed)
        epsilon = Fraction(rng.randint(1, 999), rng.choice([1000, 7000, 10**12]))
        count = rng.randint(200, 2000)
        law = lattice.responses(epsilon, count)
        composition = Curve(((Response(epsilon), count),))
        check(composition, law.delta, f(rng.choice(DELTAS)), STATED)

    def test_no_slack(self) -> None:
        composition = Curve(((Response(f("0.1")), 10),), no_failure=(1 - f("1e-8")) ** 10)
        assert solve.epsilon_at(composition, f("1e-8")) is None
        leak = 1 - (1 - f("1e-8")) ** 10
        found = solve.epsilon_at(composition, leak)
        assert found is not None
        assert found.upper == pytest.approx(1, rel=1e-12)
        assert found.upper >= 1

    def test_off_any_grid(self) -> None:
        parts = [f("0.004987541511"), f("1/30"), f("0.00123"), f("0.1")]
        counts = [3, 5, 4, 6]
        law = lattice.Law()
        for epsilon, count in zip(parts, counts, strict=True):
            law = law * lattice.responses(epsilon, count)
        composition = Curve(
            tuple((Response(each), count) for each, count in zip(parts, counts, strict=True))
        )
        for delta in DELTAS:
            check(composition, law.delta, f(delta), STATED)


class TestDistributions:
    @pytest.mark.slow
    @pytest.mark.parametrize("delta", DELTAS)
    @pytest.mark.parametrize(
        ("shift", "count"), [("0.1", 1), ("1.5", 1), ("0.4", 3), ("2", 2), ("0.05", 9)]
    )
    def test_equal_laplaces(self, shift: str, count: int, delta: str) -> None:
        composition = Curve(((LaplaceLoss(f(shift)), count),))
        check(composition, curves.laplaces([f(shift)] * count), f(delta), 2 * AS_CLOSE)

    @pytest.mark.parametrize("seed", range(6))
    def test_unequal_laplaces(self, seed: int) -> None:
        rng = random.Random(seed)
        shifts = [Fraction(rng.randint(1, 300), 100) for _ in range(rng.randint(2, 4))]
        composition = Curve(tuple((LaplaceLoss(shift), 1) for shift in shifts))
        check(composition, curves.laplaces(shifts), f(rng.choice(DELTAS)), 2 * AS_CLOSE)

    @pytest.mark.parametrize("seed", range(6))
    def test_laplaces_and_responses(self, seed: int) -> None:
        rng = random.Random(seed)
        shift, epsilon = Fraction(rng.randint(1, 30), 20), Fraction(rng.randint(1, 9), 10)
        count = rng.randint(1, 8)
        composition = Curve(((LaplaceLoss(shift), 3), (Response(epsilon), count)))
        profile = curves.mixed(lattice.responses(epsilon, count), curves.laplaces([shift] * 3))
        check(composition, profile, f(rng.choice(DELTAS)), 2 * AS_CLOSE)

    @pytest.mark.slow
    @pytest.mark.parametrize("delta", DELTAS)
    @pytest.mark.parametrize(
        ("part", "law"),
        [
            (KaryResponse(5, f("0.8")), lattice.kary(5, f("0.8"))),
            (GeometricLoss(3, f("4")), lattice.geometric(3, f("4"))),
            (GeometricLoss(1, f("0.5")), lattice.geometric(1, f("0.5"))),
            (DiscreteGaussianLoss(1, f("9")), lattice.discrete_gaussian(1, f("9"))),
            (DiscreteGaussianLoss(2, f("2.5")), lattice.discrete_gaussian(2, f("2.5"))),
        ],
    )
    def test_finite_laws(self, part: Part, law: lattice.Law, delta: str) -> None:
        for count in (1, 7):
            composition = Curve(((part, count),))
            check(composition, (law**count).delta, f(delta), 2 * AS_CLOSE)

    @pytest.mark.parametrize("delta", ["1e-6", "1e-15"])
    @pytest.mark.parametrize(("rate", "mu"), [("0.01", "1"), ("0.2", "0.5")])
    def test_sampled_gaussian(self, rate: str, mu: str, delta: str) -> None:
        profiles = [curves.sampled_gaussian(f(rate), f(mu), removed) for removed in (True, False)]
        part = Sampled(f(rate), Curve(gaussian=f(mu) ** 2), side="removed")
        check(
            Curve(((part, 1),)),
            lambda epsilon: max(each(epsilon) for each in profiles),
            f(delta),
            DISTRIBUTION,
        )

    @pytest.mark.slow
    def test_two_sampled_gaussians(self) -> None:
        profiles = [curves.twice_sampled_gaussian(f("0.1"), f("1"), side) for side in (True, False)]
        part = Sampled(f("0.1"), Curve(gaussian=f("1")), side="removed")
        found = solve.epsilon_at(Curve(((part, 2),)), f("1e-6"))
        assert found is not None
        upper = lattice.exact(found.upper)
        assert max(each(upper) for each in profiles) <= mpf("1e-6")
        assert max(each(upper * (1 - mpf(DISTRIBUTION))) for each in profiles) >= mpf("1e-6")

    @pytest.mark.parametrize("delta", ["1e-3", "1e-6", "1e-12"])
    def test_sampled_responses(self, delta: str) -> None:
        profiles = [curves.sampled_responses(f("0.1"), f("1"), 20, side) for side in (True, False)]
        base = Curve(((Response(f("1")), 1),))
        part = Sampled(f("0.1"), base, side="removed")
        check(
            Curve(((part, 20),)),
            lambda epsilon: max(each(epsilon) for each in profiles),
            f(delta),
            DISTRIBUTION,
        )

    def test_one_sample_is_amplified_once(self) -> None:
        base = Curve(((Response(f("1")), 2),))
        composition = Curve(((Sampled(f("0.1"), base, side="removed"), 1),))
        profile = curves.amplified(lattice.responses(f("1"), 2), f("0.1"))
        for delta in ("0.01", "1e-4", "1e-9"):
            check(composition, profile, f(delta), DISTRIBUTION)


class TestPatterns:
    """Which blocks one row hits, once or twice, depends on δ: against trying all of them."""

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(8, range(24)))
    def test_membership(self, seed: int) -> None:
        rng = random.Random(seed)
        # Where a replaced row costs as much as one more or less, or as both together, one of the
        # two curves is the least everywhere. Else the engine takes either as a whole, never both.
        factors = ["1", "2"] if seed % 2 else ["1", "1.5", "2"]
        bounded, most_blocks = rng.random() < 0.6, rng.randint(1, 2)
        contents: list[blocks.Block] = []
        for _ in range(rng.randint(1, 4)):
            number = rng.randint(1, 2)
            once = [Fraction(rng.randint(1, 12), 10) for _ in range(number)]
            twice = [each * f(rng.choice(factors)) for each in once]
            contents.append((once, twice))
        names = [f"b{n}" for n in range(len(contents))]
        mechanisms = [
            {
                "name": f"m{n}.{i}",
                "reads": f"d.{names[n]}",
                "guarantees": [
                    {"notion": "pure", "epsilon": str(u), "relation": "unbounded"},
                    {"notion": "pure", "epsilon": str(b), "relation": "bounded"},
                ],
            }
            for n, (once, twice) in enumerate(contents)
            for i, (u, b) in enumerate(zip(once, twice, strict=True))
        ]
        partition = {
            "by": "membership",
            "blocks": names,
            "max_blocks": min(most_blocks, len(names)),
        }
        spec = {
            "dpcompose": 1,
            "protect": "bounded" if bounded else "unbounded",
            "datasets": {"r": {}, "d": {"from": "r", "partition": partition}},
            "mechanisms": mechanisms,
        }
        deltas = [f(each) for each in ("0.3", "0.05", "1e-3", "1e-9")]
        report = dpcompose.analyze(yaml.safe_dump(spec, sort_keys=False), deltas=deltas)
        assert report.status == "ok", report.findings
        for delta, at in zip(deltas, report.at_delta, strict=True):
            truth, _ = blocks.worst_epsilon(contents, most_blocks, bounded, delta)
            assert at.value is not None
            assert lattice.exact(at.value) >= truth
            most = truth
            if seed % 2 == 0:
                most, _ = blocks.worst_epsilon(contents, most_blocks, bounded, delta, plain=True)
            assert lattice.exact(at.value) <= most * (1 + mpf(STATED)) + mpf(10) ** -20


# dp-accounting, where it is installed.


def theirs(composition: Curve, delta: Fraction, interval: float) -> float:
    """The same with its loss-distribution primitives."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    common = pytest.importorskip("dp_accounting.pld.common")
    total = pld.identity(value_discretization_interval=interval)
    for part, count in composition.parts:
        match part:
            case Response(epsilon):
                stated = common.DifferentialPrivacyParameters(float(epsilon), 0.0)
                one = pld.from_privacy_parameters(stated, interval)
            case LaplaceLoss(shift):
                one = pld.from_laplace_mechanism(
                    1 / float(shift), value_discretization_interval=interval
                )
            case GeometricLoss(shift, scale):
                one = pld.from_discrete_laplace_mechanism(
                    1 / float(scale), shift, value_discretization_interval=interval
                )
            case DiscreteGaussianLoss(shift, variance):
                one = pld.from_discrete_gaussian_mechanism(
                    math.sqrt(variance), shift, value_discretization_interval=interval
                )
            case _:
                raise ValueError(part)
        total = total.compose(one.self_compose(count))
    if composition.gaussian:
        sigma = 1 / math.sqrt(composition.gaussian)
        total = total.compose(
            pld.from_gaussian_mechanism(sigma, value_discretization_interval=interval)
        )
    if composition.no_failure < 1:
        leak = common.DifferentialPrivacyParameters(0.0, float(1 - composition.no_failure))
        total = total.compose(pld.from_privacy_parameters(leak, interval))
    return float(total.get_epsilon_for_delta(float(delta)))


def random_mixture(rng: random.Random) -> Curve:
    """Anything that both can compose, up to 200 mechanisms."""
    size, parts = rng.choice([4, 30, 200]), []
    kinds = rng.sample(["stated", "laplace", "geometric", "discrete"], rng.randint(1, 4))
    for kind in kinds:
        count = rng.randint(1, max(1, size // len(kinds)))
        scale = rng.choice([1, 3]) * math.isqrt(count)
        part: Part
        if kind == "stated":
            part = Response(Fraction(rng.randint(1, 200), 100 * scale))
        elif kind == "laplace":
            part = LaplaceLoss(Fraction(rng.randint(1, 200), 100 * scale))
        elif kind == "geometric":
            part = GeometricLoss(rng.randint(1, 3), Fraction(rng.randint(1, 9) * scale))
        else:
            part = DiscreteGaussianLoss(1, Fraction(rng.randint(1, 9) * scale * scale))
        parts.append((part, count))
    square = rng.choice([f("0"), f("0.04"), f("1")])
    no_failure = rng.choice([f("1"), 1 - f("1e-10")])
    return Curve(tuple(parts), square, no_failure)


@pytest.mark.parametrize("seed", seeds(16, range(24)))
def test_never_looser_than_dp_accounting(seed: int) -> None:
    rng = random.Random(1000 + seed)
    composition = random_mixture(rng)
    delta = f(rng.choice(["1e-3", "1e-5", "1e-6", "1e-8", "1e-9"]))
    other = theirs(composition, delta, 1e-4)
    found = solve.epsilon_at(composition, delta)
    assert found is not None
    assert float(found.upper) <= other * (1 + AS_CLOSE)
    # Its round-off takes it below the truth by no more than this.
    assert found.lower is None or float(found.lower) <= other * (1 + 1e-6)
