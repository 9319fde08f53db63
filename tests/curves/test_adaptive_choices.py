"""Copies whose pair of outputs is chosen anew after each: against games played out exactly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import pytest
from volume import thinned

from dpcompose import curves
from dpcompose.curves import Curve, TwoAnswersPoints
from dpcompose.curves.backends.lattice.adaptive_choices import (
    MOST_COPIES,
    of_bounded_range,
    of_two_answers,
)
from dpcompose.curves.families import BoundedRange
from dpcompose.curves.rounding import log_inverse_up

F = Fraction
#: The outcomes of a pair, each by its chances for the two tables.
Pair = Sequence[tuple[Fraction, Fraction]]


def played(pairs: Sequence[Pair], copies: int, odds: Fraction) -> Fraction:
    """The greatest δ at e^ε = `odds`, in fractions: each copy has whichever pair is the worst after
    all that came out."""

    @cache
    def value(left: int, at: Fraction) -> Fraction:
        if not left:
            return max(1 - at, F(0))
        return max(sum((p * value(left - 1, at * q / p) for p, q in pair), F(0)) for pair in pairs)

    return value(copies, odds)


def of_answers(high: str, low: str) -> list[Pair]:
    p, q = F(high), F(low)
    return [[(p, q), (1 - p, 1 - q)], [(q, p), (1 - q, 1 - p)]]


def answers(high: str, low: str, copies: int) -> Curve:
    p, q = F(high), F(low)
    odds = max(log_inverse_up(q / p), log_inverse_up((1 - p) / (1 - q)))
    points = ((F(0), p - q), (odds, F(0)))
    return Curve(((TwoAnswersPoints(points, p, q), copies),))


@pytest.mark.parametrize(("high", "low"), [("3/4", "1/2"), ("9/10", "1/5"), ("1/2", "1/50")])
@pytest.mark.parametrize("copies", [2, 5, 12])
def test_two_answers(high: str, low: str, copies: int) -> None:
    for odds in (F(1), F(3, 2), F(4), F(30)):
        truth = played(of_answers(high, low), copies, odds)
        found = answers(high, low, copies).delta(epsilon=str(math.log(odds)))
        assert truth <= found.upper * (1 + F(1, 10**12))  # of the logarithm
        assert float(found.upper) <= float(truth) * (1 + 1e-4) + 1e-12


def test_two_answers_at_a_delta() -> None:
    ten = answers("3/4", "1/2", 10)
    for delta, truth in (("1e-3", 5.8213), ("0.5", 0.5768)):
        found = float(ten.epsilon(delta=delta) or 0)
        assert found == pytest.approx(truth, abs=6e-5)
        assert played(of_answers("3/4", "1/2"), 10, F(math.exp(found))) <= F(delta)
        before = F(math.exp(found * (1 - 1e-4)))
        assert played(of_answers("3/4", "1/2"), 10, before) > F(delta)
    # Neither the same direction in all copies nor the one half and the other is as bad.
    [one, other] = of_answers("3/4", "1/2")
    for pair in (one, other):
        assert played([pair], 10, F(3, 2)) < played([one, other], 10, F(3, 2))


def of_range(eta: float, turns: int) -> list[Pair]:
    """Some pairs of range `eta`: losses t and t-η."""
    found: list[Pair] = []
    for i in range(turns + 1):
        t = eta * i / turns
        p = F(math.expm1(t - eta) / math.expm1(-eta))
        up, down = F(math.exp(-t)), F(math.exp(eta - t))
        if 0 < p < 1:
            found.append([(p, p * up), (1 - p, (1 - p) * down)])
    return found


def in_doubles(pairs: Sequence[Pair], copies: int, odds: float) -> float:
    known = [[(float(p), float(q / p)) for p, q in pair] for pair in pairs]

    def value(left: int, at: float) -> float:
        if not left:
            return max(1 - at, 0.0)
        return max(sum(p * value(left - 1, at * r) for p, r in pair) for pair in known)

    return value(copies, odds)


@pytest.mark.parametrize("eta", ["1/10", "1", "3"])
@pytest.mark.parametrize("copies", thinned([2, 3]))
def test_bounded_range(eta: str, copies: int) -> None:
    for share in (0.0, 0.3, 0.8):
        epsilon = share * float(F(eta)) * copies
        truth = in_doubles(
            of_range(float(F(eta)), 160 if copies == 2 else 40), copies, math.exp(epsilon)
        )
        found = float(curves.exponential(eta).repeat(copies).delta(epsilon=str(epsilon)))
        assert truth * (1 - 1e-12) <= found <= truth * (1.01 if copies == 2 else 1.05)


@pytest.mark.parametrize(
    ("eta", "delta", "truth"),
    [("0.1", "1e-6", 0.9320), ("0.1", "0.01", 0.3144), ("0.5", "1e-6", 5.4241),
     ("0.5", "0.01", 2.7224)],
)  # fmt: skip
def test_twenty_exponential_mechanisms(eta: str, delta: str, truth: float) -> None:
    found = float(curves.exponential(eta).repeat(20).epsilon(delta=delta) or 0)
    assert truth <= found <= truth * 1.001


@pytest.mark.slow
def test_laws() -> None:
    """More copies, a greater range, a smaller δ: never less, also where other ways take over."""
    numbers = (1, 2, 3, 20, 21, MOST_COPIES, MOST_COPIES + 1)
    ranged = [curves.exponential("0.2").repeat(n) for n in numbers]
    for copies in (ranged, [answers("0.6", "0.3", n) for n in numbers]):
        for delta in ("1e-8", "0.01"):
            found = [float(each.epsilon(delta=delta) or 0) for each in copies]
            assert all(a <= b for a, b in itertools.pairwise(found)), (delta, found)
    wider = [
        float(curves.exponential(eta).repeat(9).epsilon(delta="1e-5") or 0)
        for eta in ("0.1", "0.11", "0.5", "2", "20", "29.9", "31")
    ]
    assert wider == sorted(wider)


def test_out_of_range() -> None:
    assert of_bounded_range(F(1, 10), MOST_COPIES + 1) is None
    assert of_bounded_range(F(31), 2) is None and of_bounded_range(F(1, 10**9), 2) is None
    assert of_two_answers(F(1, 2), F(1, 2) - F(1, 10**9), 2) is None
    assert of_two_answers(F(1) - F(1, 10**400), F(1, 2), 2) is None
    assert Curve(((BoundedRange(F(31)), 2),)).epsilon(delta="1e-6") is not None


@pytest.mark.slow
def test_others_beside_them_do_not_lower_a_bound() -> None:
    alone = curves.exponential("0.1").repeat(20)
    for other in (curves.pure("0.0001"), curves.gdp("0.001"), curves.exponential("0.0001")):
        for delta in ("1e-6", "0.01"):
            more, less = alone.compose(other).epsilon(delta=delta), alone.epsilon(delta=delta)
            assert more is not None and less is not None and less.upper <= more.upper
