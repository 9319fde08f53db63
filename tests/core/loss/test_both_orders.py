"""Losses seen from the other table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpcompose.core.at_delta.chosen import evaluate
from dpcompose.core.loss.pattern import LossMultiset, mirrored, one, together
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Curve, Grouped, Part, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.routes import Point

F = Fraction
POINTS = (Point(delta=F(1, 10**6)), Point(delta=F(1, 100)), Point(epsilon=F(1, 5)))


def _sampled(rate: Fraction, base: Curve, side: str) -> LossMultiset:
    return one(curve_of(Sampled(rate, base, side=side)))


def _gaussian(square: int) -> Curve:
    return Curve(gaussian=F(square))


def _of(*parts: Part) -> Curve:
    return Curve(tuple((part, 1) for part in parts))


MOVED = together(
    [_sampled(F(1, 2), _gaussian(1), "removed"), _sampled(F(1, 9), _gaussian(3), "added")]
)


def test_each_side_is_turned() -> None:
    turned = together(
        [_sampled(F(1, 2), _gaussian(1), "added"), _sampled(F(1, 9), _gaussian(3), "removed")]
    )
    assert mirrored(MOVED) == turned
    assert mirrored(turned) == MOVED


def test_what_holds_either_way_stays() -> None:
    either = together([one(curve_of(LaplaceLoss(F(1)))), _sampled(F(1, 3), _gaussian(1), "both")])
    assert mirrored(either) is either


def test_a_sample_inside_is_turned() -> None:
    def nested(outer: str, inner: str) -> LossMultiset:
        below = Sampled(F(1, 3), _of(LaplaceLoss(F(1))), side=inner)
        above = Sampled(F(1, 2), _of(below), side=outer)
        return one(curve_of(Grouped(_of(LaplaceLoss(F(2)), above), 1)))

    assert mirrored(nested("removed", "added")) == nested("added", "removed")


def test_two_that_become_one_are_counted() -> None:
    mixed = LossMultiset(
        {
            **_sampled(F(1, 2), _gaussian(1), "removed").atoms,
            **_sampled(F(1, 2), _gaussian(1), "added").atoms,
        }
    )
    assert mirrored(mixed) == mixed


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS)
def test_both_have_one_bound(point: Point) -> None:
    assert evaluate(MOVED, point).value == evaluate(mirrored(MOVED), point).value
