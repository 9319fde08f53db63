"""Patterns of losses: what is counted together, and the compositions that they stand for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.loss.compositions import MOST_CHOICES, at_order, compositions
from dpcompose.core.loss.pattern import (
    NOTHING,
    Known,
    Pattern,
    is_noise,
    one,
    response_epsilon,
    size,
    together,
)
from dpcompose.core.mechanisms.laplace import LaplaceLoss
from dpcompose.core.profile.parts import Composition, Concentrated, Grouped, Renyi, Response

F = Fraction
ONE = Known(Response(F(1)))
GAUSSIAN = Known(None, F(1, 4))


def test_equal_losses_are_counted() -> None:
    pattern = together([one(ONE), one(ONE).times(2), one(GAUSSIAN), NOTHING])
    assert sorted(pattern.atoms.values()) == [1, 3]
    assert pattern == together([one(GAUSSIAN), one(ONE).times(3)])
    assert NOTHING.times(5) is NOTHING


def test_what_is_loose_or_not_attained_stays_so() -> None:
    loose = Pattern(one(ONE).atoms, loose=True)
    sum_ = together([loose, one(GAUSSIAN, attained=False)])
    assert sum_.loose and not sum_.attained
    assert not together([one(ONE)]).loose and together([one(ONE)]).attained


def test_what_is_the_loss_of_one_mechanism() -> None:
    assert is_noise(GAUSSIAN) and is_noise(Known(LaplaceLoss(F(1))))
    assert not is_noise(ONE) and not is_noise(Known(None, F(1), F(9, 10)))


def test_sizes_are_for_ordering() -> None:
    assert response_epsilon(ONE) == 1 and response_epsilon(GAUSSIAN) == float("inf")
    rho, epsilon = size(one(Known(Concentrated(F(1, 2)))).times(3))
    assert (rho, epsilon) == (1.5, float("inf"))
    assert size(one(Known(Response(F(10**400))))) == (float("inf"), float("inf"))
    assert size(one(GAUSSIAN, Known(None, F(1)))) == (0.125, float("inf"))


def test_losses_of_one_kind_are_joined() -> None:
    pattern = together(
        [
            one(ONE).times(2),
            one(GAUSSIAN).times(3),
            one(Known(Concentrated(F(1, 8)))).times(4),
            one(Known(Response(F(0)), stay=F(1, 2))).times(2),
        ]
    )
    (made,) = compositions(pattern)
    assert set(made.parts) == {(Response(F(1)), 2), (Concentrated(F(1, 2)), 1)}
    assert (made.gaussian, made.stay) == (F(3, 4), F(1, 4))


def test_a_group_of_one_is_its_parts() -> None:
    base = Composition(((Response(F(1)), 2),), F(1, 4), F(1, 2))
    (made,) = compositions(one(Known(Grouped(base, 1))).times(3))
    assert made == Composition(((Response(F(1)), 6),), F(3, 4), F(1, 8))


def test_every_option_is_tried_where_they_are_few() -> None:
    pattern = one(ONE, GAUSSIAN)
    assert list(compositions(pattern)) == [
        Composition(((Response(F(1)), 1),)),
        Composition((), F(1, 4)),
    ]
    several = together(one(Known(Response(F(n))), Known(None, F(n))) for n in range(1, 5))
    assert MOST_CHOICES < 2**4
    # The same choice for all.
    assert [len(each.parts) for each in compositions(several)] == [4, 0]


CURVE = ((F(2), F(1)), (F(4), F(2)))


@pytest.mark.parametrize(
    ("alpha", "bound"),
    # At 3 the chord of (α-1)·ε: (1·1 + 3·2)/2, over α-1 = 2. Below the first order its ε.
    [("2", "1"), ("4", "2"), ("3", "7/4"), ("3/2", "1")],
)
def test_between_two_orders_the_chord_holds(alpha: str, bound: str) -> None:
    assert at_order(CURVE, F(alpha)) == F(bound)


def test_beyond_the_highest_order_nothing_is_known() -> None:
    with pytest.raises(ValueError, match="no order so high"):
        at_order(CURVE, F(5))


def test_curves_add_at_the_orders_that_both_have() -> None:
    other = ((F(3), F(5)),)
    pattern = together(one(Known(Renyi(each, F(0)))) for each in (CURVE, other))
    (made,) = compositions(pattern)
    ((curve, count),) = made.parts
    assert count == 1 and isinstance(curve, Renyi)
    assert curve.points == ((F(2), F(6)), (F(3), F(27, 4)))
