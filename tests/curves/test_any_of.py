"""One of several compositions, whichever: never below any of them, and no more than the worst."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from reference import curves

from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss
from dpcompose.curves.backends.lattice.loss_distribution import masses
from dpcompose.curves.backends.lattice.masses import profile
from dpcompose.curves.backends.renyi.renyi_curves import curve
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Maximum,
    Part,
    Points,
    Renyi,
    Response,
    Sampled,
)
from dpcompose.curves.families.laplace_loss import LaplaceLoss

F = Fraction
STEP = F(1, 1000)


def alone(*parts: Part, leak: str = "0") -> Curve:
    return Curve(tuple((part, 1) for part in parts), F(0), 1 - F(leak))


#: ε of 1/2 at most, but with chance 1/500 all; Laplace noise; a Gaussian.
OPTIONS = (
    alone(Response(F(1, 2)), leak="1/500"),
    alone(LaplaceLoss(F(7, 10))),
    Curve((), F(1, 4)),
)
ANY = Maximum(OPTIONS)


def truth(option: Curve, epsilon: float) -> float:
    """The profile of one of the options, from the references."""
    if option.gaussian:
        return float(curves.gaussian(option.gaussian)(F(epsilon)))
    [(part, _)] = option.parts
    if isinstance(part, LaplaceLoss):
        return float(curves.laplaces([F(7, 10)])(F(epsilon)))
    e = math.exp(0.5)
    return 0.002 + 0.998 * max(0.0, (e - math.exp(epsilon)) / (1 + e))


def test_the_law_has_at_each_epsilon_the_worst_profile() -> None:
    law = masses(ANY, STEP)
    for i in range(0, 1500, 7):
        epsilon = i / 1000
        worst = max(truth(each, epsilon) for each in OPTIONS)
        assert worst * (1 - 1e-12) <= profile(law, epsilon) <= worst + 1e-6
    # Each of them is the worst somewhere.
    worst_at = [max(range(3), key=lambda n: truth(OPTIONS[n], x)) for x in (1.6, 0.1, 0.72)]
    assert worst_at == [0, 1, 2]


def test_two_together_are_not_below_any_two_of_them() -> None:
    delta = F(1, 10)
    found = epsilon_at(Curve(((ANY, 2),)), delta)
    each = [
        epsilon_at(
            Curve(
                one.parts + two.parts,
                one.gaussian + two.gaussian,
                one.no_failure * two.no_failure,
            ),
            delta,
        )
        for one, two in product(OPTIONS, repeat=2)
    ]
    assert found is not None
    worst = max(one.upper for one in each if one is not None)
    assert worst <= found.upper <= worst * F(6, 5)


def test_alike_options_are_one() -> None:
    same = Maximum((OPTIONS[1], OPTIONS[1]))
    once = delta_at(alone(LaplaceLoss(F(7, 10)), LaplaceLoss(F(7, 10))), F(1, 2)).upper
    assert abs(delta_at(Curve(((same, 2),)), F(1, 2)).upper / once - 1) < F(1, 10**5)


def test_divergences_are_the_greatest_at_each_order() -> None:
    options = (alone(Renyi(((F(2), F(1, 10)), (F(9), F(9, 10))))), alone(Concentrated(F(1, 20))))
    for alpha in (F(3, 2), F(2), F(5), F(9)):
        worst = max(curve(each, alpha) for each in options)
        assert curve(alone(Maximum(options)), alpha) == pytest.approx(worst, rel=1e-9)
    assert math.isinf(curve(alone(ANY), 2))  # all may be given away
    assert math.isinf(curve(alone(Maximum(options)), 10))


def test_a_one_sided_sample_is_covered_in_both_orders() -> None:
    """The worse of the two, whichever table has the row."""
    base = alone(LaplaceLoss(F(3, 2)))
    sample = Sampled(F(1, 10), base, side="removed")
    law = masses(Maximum((alone(sample), alone(Response(F(1, 1000))))), STEP)
    for side in ("removed", "added"):
        one = masses(sample, STEP, side)
        for epsilon in np.linspace(0, 1.4, 57):
            assert profile(one, epsilon) <= profile(law, epsilon) * (1 + 1e-9) + 1e-15


def test_the_greatest_loss() -> None:
    pure = Maximum((alone(Response(F(1)), Response(F(2))), alone(LaplaceLoss(F(5, 2)))))
    assert greatest_loss(pure) == 3
    assert greatest_loss(ANY) is None
    assert greatest_loss(Maximum((alone(Points(((F(1), F(1, 10)),))),))) is None
