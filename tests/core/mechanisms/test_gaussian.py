"""Gaussian and discrete Gaussian noise, and what all families are asked."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest

from dpcompose.core.mechanisms import FORMS, form_of
from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian, worst_vectors
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NOISE, NUMBER, STEPS, Sort
from dpcompose.curves.curve import Concentrated, Curve, Maximum
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss

F = Fraction


def test_gaussian_noise_by_its_formulas() -> None:
    """μ = s/σ, ρ = μ²/2, and no ε without a δ."""
    noise: Family = Gaussian(F(2))
    assert (noise.mu(F(3)), noise.mu_squared(F(3)), noise.rho(F(3))) == (F(3, 2), F(9, 4), F(9, 8))
    assert noise.epsilon(F(3)) is None and noise.loss(F(3)) == Curve((), F(9, 4))
    assert noise.describe(F(3)) == "Gaussian noise of σ = 2, sensitivity 3"
    # A shift in units of √2.
    assert Gaussian(F(2), F(2)).rho(F(3)) == F(9, 4)


@pytest.mark.parametrize("shift", [1, 2])
def test_discrete_gaussian_noise_by_its_formulas(shift: int) -> None:
    """Its law is in tests/curves."""
    loss = DiscreteGaussianLoss(shift, F(9, 4))
    noise: Family = DiscreteGaussian(F(3, 2))
    assert noise.rho(F(shift)) == F(shift * shift) / (2 * F(9, 4)) == loss.rho()
    assert noise.epsilon(F(1)) is None and noise.mu(F(1)) is None
    assert noise.loss(F(shift)).parts == ((loss, 1),)


def test_a_whole_vector_of_a_norm_is_any_of_few() -> None:
    def by(*way: tuple[int, int]) -> Curve:
        return Curve(tuple((DiscreteGaussianLoss(moved, F(1)), n) for moved, n in way))

    noise = DiscreteGaussian(F(1), "L2", F(2))
    assert noise.loss(F(1)) == noise.loss(F(11, 10)) == by((1, 2))
    assert "in L2" in noise.describe(F(1))
    ways = (by((1, 8)), by((2, 1), (1, 4)), by((2, 2)))
    assert noise.loss(F(2)).parts == ((Maximum(ways), 1),)
    assert DiscreteGaussian(F(1), "L2").loss(F(1, 2)) == Curve()
    # Two such vectors together take at most four steps.
    assert replace(noise, most=F(2)).loss(F(2)) == by((2, 2))
    # Beyond so many steps there are too many, and ρ alone is used.
    assert noise.loss(F(3)).parts == ((Concentrated(F(9)), 1),)


@pytest.mark.parametrize(("steps", "squared"), [(3, 9), (4, 8), (5, 5), (6, 18), (7, 12), (4, 4)])
def test_every_vector_of_a_norm_is_within_one_that_is_told(steps: int, squared: int) -> None:
    """By sums of some coordinates and larger ones, all of which lose no less."""

    def within(one: tuple[int, ...], more: tuple[int, ...]) -> bool:
        places = product(range(len(more)), repeat=len(one))
        return any(
            all(sum(x for x, at in zip(one, way, strict=True) if at == n) <= m
                for n, m in enumerate(more))
            for way in places
        )  # fmt: skip

    told = worst_vectors(steps, squared)
    every = [
        way
        for size in range(1, steps + 1)
        for way in combinations_with_replacement(range(1, steps + 1), size)
        if sum(way) <= steps and sum(x * x for x in way) <= squared
    ]
    assert {tuple(sorted(each)) for each in told} <= {*every}
    for way in every:
        assert any(within(way, each) for each in told)
    assert not any(within(a, b) for a in told for b in told if a != b)


def test_what_numbers_must_be() -> None:
    assert NUMBER.fits is None  # nothing more than not negative
    assert NOISE.fits is not None and NOISE.fits(F(1, 9)) and not NOISE.fits(F(0))
    assert STEPS.fits is not None and STEPS.fits(F(3)) and not STEPS.fits(F(1, 2))


@pytest.mark.parametrize("form", [each for each in FORMS.values() if each.numbers])
def test_every_family_answers(form: FamilyForm) -> None:
    values = {
        Sort.NUMBER: F(1, 2),
        Sort.WHOLE: 1,
        Sort.SEVERAL: 3,
        Sort.FLAG: False,
        Sort.CHOICE: "laplace",
    }
    noise = form.made({key.name: values[key.sort] for key in form.keys})
    assert form_of(noise) is form
    rho = noise.rho(F(1))
    mu, epsilon = noise.mu_squared(F(1)), noise.epsilon(F(1))
    assert noise.loss(F(1)) is not None and noise.describe(F(1))
    if "approx" in form.states:
        assert rho is mu is epsilon is None
        pair = noise.pair()
        assert pair is not None and 0 < pair[1] <= 1
        return
    assert rho is not None and rho > 0
    # The least ρ is no larger than what pure and Gaussian DP give.
    assert mu is None or rho <= mu / 2 * (1 + F(1, 10**9))
    assert epsilon is None or float(rho) <= float(epsilon) * math.tanh(float(epsilon) / 2) + 1e-9


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        ("laplace", Guarantee(Notion.PURE, F(3, 4))),
        ("gaussian", Guarantee(Notion.ZCDP, F(1, 8))),
        ("discrete-gaussian", Guarantee(Notion.ZCDP, F(1, 18))),
    ],
)
def test_noise_that_gives_what_is_stated(name: str, stated: Guarantee) -> None:
    """Its guarantee at a sensitivity of 1 is the one that is asked for."""
    form = FORMS[name]
    assert form.giving is not None
    noise = form.made({form.key.name: form.giving(stated)})
    found = noise.epsilon(F(1)) if stated.notion is Notion.PURE else noise.rho(F(1))
    assert found == stated.value
