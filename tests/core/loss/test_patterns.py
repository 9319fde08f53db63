"""Patterns of losses: what is counted together, and the compositions that they stand for."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest
from volume import thinned

from dpcompose.core.at_delta.chosen import evaluate
from dpcompose.core.loss.compositions import MOST_CHOICES, at_order, compositions, total
from dpcompose.core.loss.dominance import dominates
from dpcompose.core.loss.pattern import (
    NOTHING,
    LossMultiset,
    UndominatedLosses,
    is_noise,
    one,
    response_epsilon,
    size,
    together,
)
from dpcompose.core.loss.pattern_algebra import MOST_PARTS, MOST_SORTS, Patterns
from dpcompose.core.loss.pattern_options import any_of
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import curve_of
from dpcompose.curves.curve import (
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    Renyi,
    Response,
)
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.routes import Point

F = Fraction
ONE = curve_of(Response(F(1)))
GAUSSIAN = curve_of(None, F(1, 4))


def test_equal_losses_are_counted() -> None:
    pattern = together([one(ONE), one(ONE).times(2), one(GAUSSIAN), NOTHING])
    assert sorted(pattern.atoms.values()) == [1, 3]
    assert pattern == together([one(GAUSSIAN), one(ONE).times(3)])
    assert NOTHING.times(5) is NOTHING


def test_what_is_loose_or_not_attained_stays_so() -> None:
    loose = LossMultiset(one(ONE).atoms, loose=True)
    sum_ = together([loose, one(GAUSSIAN, attained=False)])
    assert sum_.loose and not sum_.attained
    assert not together([one(ONE)]).loose and together([one(ONE)]).attained


def test_what_is_the_loss_of_one_mechanism() -> None:
    assert is_noise(GAUSSIAN) and is_noise(curve_of(LaplaceLoss(F(1))))
    assert not is_noise(ONE) and not is_noise(curve_of(None, F(1), F(9, 10)))


def test_sizes_are_for_ordering() -> None:
    assert response_epsilon(ONE) == 1 and response_epsilon(GAUSSIAN) == float("inf")
    rho, epsilon = size(one(curve_of(Concentrated(F(1, 2)))).times(3))
    assert (rho, epsilon) == (1.5, float("inf"))
    assert size(one(curve_of(Response(F(10**400))))) == (float("inf"), float("inf"))
    assert size(one(GAUSSIAN, curve_of(None, F(1)))) == (0.125, float("inf"))


def test_losses_of_one_kind_are_joined() -> None:
    pattern = together(
        [
            one(ONE).times(2),
            one(GAUSSIAN).times(3),
            one(curve_of(Concentrated(F(1, 8)))).times(4),
            one(curve_of(Response(F(0)), no_failure=F(1, 2))).times(2),
        ]
    )
    (made,) = compositions(pattern)
    assert set(made.parts) == {(Response(F(1)), 2), (Concentrated(F(1, 2)), 1)}
    assert (made.gaussian, made.no_failure) == (F(3, 4), F(1, 4))


def test_a_group_of_one_is_its_parts() -> None:
    base = Curve(((Response(F(1)), 2),), F(1, 4), F(1, 2))
    (made,) = compositions(one(curve_of(Grouped(base, 1))).times(3))
    assert made == Curve(((Response(F(1)), 6),), F(3, 4), F(1, 8))


def test_every_option_is_tried_where_they_are_few() -> None:
    pattern = one(ONE, GAUSSIAN)
    assert list(compositions(pattern)) == [
        Curve(((Response(F(1)), 1),)),
        Curve((), F(1, 4)),
    ]
    several = together(one(curve_of(Response(F(n))), curve_of(None, F(n))) for n in range(1, 5))
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
    pattern = together(one(curve_of(Renyi(each, F(0)))) for each in (CURVE, other))
    (made,) = compositions(pattern)
    ((curve, count),) = made.parts
    assert count == 1 and isinstance(curve, Renyi)
    assert curve.points == ((F(2), F(6)), (F(3), F(27, 4)))


def any_block(n: int, seed: int) -> UndominatedLosses:
    """What one row may do to `n` blocks of a partition, each with a mechanism of its own kind."""
    rng = random.Random(seed)
    blocks = (
        one(
            (
                curve_of(LaplaceLoss(F(rng.randrange(1, 99), 100))),
                curve_of(None, F(rng.randrange(1, 99), 300)),
                curve_of(Concentrated(F(rng.randrange(1, 99), 400))),
                curve_of(Response(F(rng.randrange(1, 99), 100)), F(0), 1 - F(1, 10**9)),
            )[i % 4]
        )
        for i in range(n)
    )
    return Patterns().undominated(blocks)


@pytest.mark.slow
def test_many_losses_together_are_never_below_one_choice_of_each() -> None:
    """At a δ, against picks at random, and the worst pick in ρ."""
    losses = [any_block(8, seed) for seed in range(12)]
    [whole] = Patterns().add(losses)
    point = Point(delta=F(1, 10**6))
    bound = evaluate(whole, point).value
    rng = random.Random(1)
    picks = [[loss[0] for loss in losses], *([rng.choice(x) for x in losses] for _ in range(4))]
    found = [evaluate(together(pick), point).value for pick in picks]
    values = [value for value in found if value is not None]
    assert bound is not None and len(values) == len(picks)
    assert max(values) <= bound <= values[0] * F(4, 3)


def test_few_losses_are_joined_in_all_ways() -> None:
    losses = [any_block(4, seed) for seed in range(3)]
    joined = Patterns().add(losses)
    ways = {frozenset(together(pick).atoms.items()) for pick in product(*losses)}
    assert {frozenset(each.atoms.items()) for each in joined} <= ways
    assert all(any(dominates(a, together(pick)) for a in joined) for pick in product(*losses))


@pytest.mark.parametrize("number", thinned([120, 30, 480]))
def test_what_many_losses_are_made_of_does_not_grow_with_their_number(number: int) -> None:
    [whole] = Patterns().add([any_block(8, seed) for seed in range(number)])
    assert sum(whole.atoms.values()) == number
    assert len(whole.atoms) <= MOST_SORTS
    parts = [option.part for atom in whole.atoms for option in atom.options]
    options = [len(part.options) for part in parts if isinstance(part, Maximum)]
    assert len(options) == len(parts) and sum(options) <= MOST_PARTS + MOST_SORTS


def test_long_patterns_are_known_by_their_rho() -> None:
    """The largest of compositions that would take long to put on a grid, and the ρ of others."""

    def length(up: int) -> LossMultiset:
        shifts = [*(100 + up * (i + 1) for i in range(5)), *(200 + i - 4 * up for i in range(5))]
        return together([one(curve_of(LaplaceLoss(F(shift, 99)))) for shift in shifts])

    long = [length(up) for up in range(1, 16)]
    loss = Patterns().undominated([*long, one(curve_of(None, F(1, 9)))])
    assert len(loss) == 16
    covered = together([any_of(loss, 700)]).times(500)
    [(atom, number)] = covered.atoms.items()
    part = atom.options[0].part
    assert number == 500 and isinstance(part, Maximum)
    assert [len(each.parts) for each in part.options] == [10, 10, 10, 1]
    kept = [next(iter(compositions(each))) for each in loss[:3]]
    assert list(part.options[:3]) == kept
    [(rest, _)] = part.options[3].parts
    known = [total(each, Notion.ZCDP) for each in loss[3:]]
    assert rest == Concentrated(max(rho for rho in known if rho is not None))
