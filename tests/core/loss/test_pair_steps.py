"""(ε, δ) over several steps, against power functions put into one another in 120 digits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp, mpf
from reference import lattice, powers

import dpcompose
from dpcompose.core.loss.pair_steps import pair_steps
from dpcompose.core.profile.parts import Composition, Points
from dpcompose.core.profile.solve import delta_at

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
    (known,) = pair_steps(F(epsilon), F(delta), steps)
    assert isinstance(known.part, Points) and known.stay == 1 and not known.gaussian
    truth = powers.path([powers.step(F(epsilon), F(delta))] * steps).law()
    with mp.workdps(lattice.DIGITS):
        for loss, found in known.part.points:
            at = truth.delta(loss)
            assert at <= lattice.exact(found) <= at * (1 + mpf(10) ** -20)
        one = Composition(((known.part, 1),))
        for at in (F(epsilon) * steps * n / 7 for n in range(8)):
            found = delta_at(one, at).upper
            assert truth.delta(at) <= lattice.exact(found) <= truth.delta(at) * (1 + mpf(10) ** -9)


def test_where_nothing_is_known_beside_the_sum() -> None:
    assert not list(pair_steps(F(1), F(1, 10), 1))
    assert not list(pair_steps(F(0), F(1, 10), 2))
    assert not list(pair_steps(F(1), F(1, 10), 65))
    assert not list(pair_steps(F(150), F(1, 10), 2))
    assert not list(pair_steps(F(1), F(9, 10), 40))


@pytest.mark.parametrize("protect", ["bounded", "{relation: unbounded, distance: 2}"])
@pytest.mark.parametrize("count", [1, 12])
def test_two_steps_at_a_delta(protect: str, count: int) -> None:
    spec = (
        f"dpcompose: 1\nprotect: {protect}\ndatasets: {{t: {{}}}}\nmechanisms:\n"
        "  - {name: a, reads: t, notion: approx, epsilon: 0.2, delta: 1e-7, relation: unbounded, "
        f"count: {count}}}\n"
    )
    deltas = [F("1e-5"), F("0.01"), F("0.2")]
    law = powers.path([powers.step(F("0.2"), F("1e-7"))] * 2).law() ** count
    whole = lattice.response(F("0.4"), F("1e-7") * F(22214028, 10**7)) ** count
    for delta, at in zip(deltas, dpcompose.analyze(spec, deltas=deltas).at_delta, strict=True):
        assert at.value is not None
        with mp.workdps(lattice.DIGITS):
            truth = law.epsilon(delta)
            assert truth <= lattice.exact(at.value) <= truth * (1 + mpf(10) ** -8)
            assert truth <= whole.epsilon(delta)
            assert count == 1 or truth < whole.epsilon(delta)
