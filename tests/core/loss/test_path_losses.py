"""What is known of a path whose steps hit mechanisms, and of a loss read through a sample."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpcompose.core.loss.pattern import one
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.pattern_options import amplified, chained, mixture_of_draws
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Concentrated, MixtureOfDraws, Response, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.families.pure_steps import PureSteps

F = Fraction
ONE = one(curve_of(Response(F(1))))
UNDOMINATED = Patterns().undominated


def test_steps_of_one_epsilon_add_up_and_are_a_power_function() -> None:
    found = list(chained([((ONE,), 3)], UNDOMINATED, False, False))
    paths = [known.part for known in found if isinstance(known.part, PureSteps)]
    assert paths and all(path.shift == 3 and path.greatest() == 3 for path in paths)


def test_steps_of_one_noise_are_moved_as_far_in_all() -> None:
    laplace = one(curve_of(LaplaceLoss(F(1, 2))))
    found = list(chained([((laplace,), 4)], UNDOMINATED, False, False))
    assert found[0].part == LaplaceLoss(F(2))


def test_rho_grows_with_the_square_of_the_steps() -> None:
    found = list(
        chained([((one(curve_of(Concentrated(F(1, 10)))),), 3)], UNDOMINATED, False, False)
    )
    assert curve_of(Concentrated(F(9, 10))) in found


@pytest.mark.parametrize("rate", [F(1, 100), F(3, 10), F(99, 100)])
def test_an_epsilon_through_a_sample(rate: Fraction) -> None:
    (atom,) = amplified(ONE, rate, False, "both").atoms
    assert any(isinstance(known.part, Sampled) for known in atom.options)
    [stated] = [k.part.epsilon for k in atom.options if isinstance(k.part, Response)]
    truth = math.log1p(float(rate) * math.expm1(1))
    assert truth * (1 - 1e-15) <= float(stated) <= truth * (1 + 1e-12)


def test_parts_of_a_change_are_drawn_with_their_chances() -> None:
    two = one(curve_of(Response(F(2))))
    (atom,) = mixture_of_draws([(F(1, 4), ONE), (F(1, 2), two), (F(1, 8), two)]).atoms
    [part] = [known.part for known in atom.options if isinstance(known.part, MixtureOfDraws)]
    assert sorted(chance for chance, _ in part.ways) == [F(1, 4), F(5, 8)]
