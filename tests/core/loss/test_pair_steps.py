"""(ε, δ) over several steps, against power functions put into one another in 120 digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from asked import spec
from mpmath import mp, mpf
from reference import lattice, powers

import dpcompose
from dpcompose.core.loss.pair_cost import pair_steps
from dpcompose.curves.answers import delta_at
from dpcompose.curves.curve import Curve, Points

F = Fraction


@pytest.mark.parametrize(
    ("epsilon", "delta", "steps"),
    [
        ("0.3", "0.01", 2),
        ("1", "1e-6", 3),
        ("0.5", "1e-20", 7),
        ("0.1", "0.1", 6),
        ("2", "0.05", 2),
        ("0.01", "1e-9", 64),
    ],
)
def test_the_curve_is_the_iterated_power_function(epsilon: str, delta: str, steps: int) -> None:
    (known,) = pair_steps([[((F(epsilon), F(delta)), steps)]])
    assert isinstance(known.part, Points) and known.no_failure == 1 and not known.gaussian
    truth = powers.path([powers.step(F(epsilon), F(delta))] * steps).law()
    with mp.workdps(lattice.DIGITS):
        for loss, found in known.part.points:
            assert truth.delta(loss) <= lattice.exact(found)
        one = Curve(((known.part, 1),))
        for at in (F(epsilon) * steps * n / 7 for n in range(8)):
            found = delta_at(one, at).upper
            assert truth.delta(at) <= lattice.exact(found) <= truth.delta(at) * (1 + mpf(10) ** -9)


@pytest.mark.parametrize(
    "steps",
    [
        [("0.5", "0", 1), ("0.4", "0", 1)],
        [("0.5", "0", 2), ("0.4", "1e-6", 1)],
        [("1", "0.01", 2), ("0.3", "1e-9", 2)],
        [("0", "0.05", 1), ("0.7", "0.1", 2)],
        [("0.2", "0.05", 2), ("0.9", "0.01", 1), ("1.7", "0", 1)],
    ],
)
def test_unlike_steps_are_the_least_of_all_orders(steps: list[tuple[str, str, int]]) -> None:
    way = [((F(epsilon), F(delta)), count) for epsilon, delta, count in steps]
    (known,) = pair_steps([way])
    assert isinstance(known.part, Points)
    one = Curve(((known.part, 1),))
    whole = sum((pair[0] * count for pair, count in way), F(0))
    with mp.workdps(lattice.DIGITS):
        each = [powers.step(*pair) for pair, count in way for _ in range(count)]
        truth = powers.any_order(each).law()
        for at in (whole * n / 7 for n in range(9)):
            found, least = delta_at(one, at).upper, truth.delta(at)
            assert least <= lattice.exact(found) <= least * (1 + mpf(10) ** -9) + mpf(10) ** -90


def test_of_several_ways_all_hold() -> None:
    # A replaced row: two steps of u, or one of b.
    u, b = (F("0.5"), F("0.01")), (F("0.7"), F("0.1"))
    (known,) = pair_steps([[(u, 2)], [(b, 1)]])
    one = Curve(((known.part, 1),)) if known.part else Curve()
    with mp.workdps(lattice.DIGITS):
        path = powers.path([powers.step(*u)] * 2)
        truth = powers.least(path, powers.step(*b)).law()
        for at in (F(n, 8) for n in range(9)):
            found, least = delta_at(one, at).upper, truth.delta(at)
            assert least <= lattice.exact(found) <= least * (1 + mpf(10) ** -9)


def test_where_nothing_is_known_beside_the_sum() -> None:
    def alone(epsilon: F, delta: F, steps: int) -> bool:
        return not list(pair_steps([[((epsilon, delta), steps)]]))

    assert alone(F(1), F(1, 10), 1)
    assert alone(F(1), F(0), 3)
    assert alone(F(0), F(0), 3)
    assert alone(F(1), F(1, 10), 65)
    assert alone(F(150), F(1, 10), 2)
    assert alone(F(1), F(9, 10), 40)
    assert not list(pair_steps([]))


@pytest.mark.parametrize("protect", ["bounded", "{relation: unbounded, distance: 2}"])
@pytest.mark.parametrize("count", [1, 12])
def test_two_steps_at_a_delta(protect: str, count: int) -> None:
    said = f"notion: approx, epsilon: 0.2, delta: 1e-7, relation: unbounded, count: {count}"
    text = spec(said, protect=protect)
    deltas = [F("1e-5"), F("0.01"), F("0.2")]
    law = powers.path([powers.step(F("0.2"), F("1e-7"))] * 2).law() ** count
    whole = lattice.response(F("0.4"), F("1e-7") * F(22214028, 10**7)) ** count
    for delta, at in zip(deltas, dpcompose.analyze(text, deltas=deltas).at_delta, strict=True):
        assert at.value is not None
        with mp.workdps(lattice.DIGITS):
            truth = law.epsilon(delta)
            assert truth <= lattice.exact(at.value) <= truth * (1 + mpf(10) ** -8)
            assert truth <= whole.epsilon(delta)
            assert count == 1 or truth < whole.epsilon(delta)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_no_chance_of_giving_all_away_is_pure(count: int, steps: int) -> None:
    """(0.5, 0) in several steps is 0.5 in several steps, and costs no more than with a δ."""
    protect = f"{{relation: unbounded, distance: {steps}}}"
    deltas = [F("1e-6"), F("0.01"), F("0.1")]

    def asked(said: str) -> list[F]:
        text = spec(f"relation: unbounded, {said}, count: {count}", protect=protect)
        report = dpcompose.analyze(text, deltas=deltas, epsilons=[F("0.3")])
        numbers = [at.value for at in (*report.at_delta, *report.at_epsilon)]
        return [number for number in numbers if number is not None]

    pure = asked("notion: pure, epsilon: 0.5")
    assert asked("notion: approx, epsilon: 0.5, delta: 0") == pure
    with_delta = asked("notion: approx, epsilon: 0.5, delta: 1e-9")
    assert all(one <= other for one, other in zip(pure, with_delta, strict=True))


def test_the_worst_of_several_patterns_each_by_its_curve() -> None:
    """A row that moves between two of many blocks, or is replaced within one."""
    said = "delta: 1e-8, relation: unbounded, count: 10"
    text = spec(
        f"reads: h.*, notion: approx, epsilon: 0.5, {said}",
        f"reads: rows, notion: approx, epsilon: 0.1, {said}",
        protect="bounded",
        datasets="h: {from: rows, partition: {by: value, blocks: 5000}}",
    )
    once, twice = (powers.path([powers.step(F("0.5"), F("1e-8"))] * n).law() for n in (1, 2))
    whole = powers.path([powers.step(F("0.1"), F("1e-8"))] * 2).law() ** 10
    deltas = [F("1e-6"), F("0.01"), F("0.2")]
    for delta, at in zip(deltas, dpcompose.analyze(text, deltas=deltas).at_delta, strict=True):
        assert at.value is not None
        with mp.workdps(lattice.DIGITS):
            worst = max((each * whole).epsilon(delta) for each in (once**20, twice**10))
            assert worst <= lattice.exact(at.value) <= worst * (1 + mpf(10) ** -6)
