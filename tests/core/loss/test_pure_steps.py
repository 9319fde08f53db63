"""Pure guarantees over several equal steps: their curves, and which are worse than others."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from random import Random

import pytest
from mpmath import mp, mpf
from reference import lattice, powers

from dpcompose.core.loss.dominance import covering, dominates
from dpcompose.core.loss.pattern import LossMultiset, MechanismLossOptions, is_noise
from dpcompose.curves import curve_of
from dpcompose.curves.answers import delta_at, epsilon_at
from dpcompose.curves.backends.lattice.tuning import MOST_POINTS
from dpcompose.curves.curve import Curve, Part, Response
from dpcompose.curves.families.pure_steps import (
    PureSteps,
    as_responses,
    equal_steps,
    least_of,
)
from dpcompose.curves.routes import Point, least_route, main_routes

F = Fraction
DELTAS = [F(0), F(1, 10**6), F(1, 100), F(1, 5), F(1, 2)]


@pytest.fixture(autouse=True)
def digits() -> Iterator[None]:
    with mp.workdps(lattice.DIGITS):
        yield


def law(part: Part) -> lattice.Law:
    match part:
        case PureSteps(shift, scale):
            return powers.path([powers.step(1 / scale)] * shift).law()
        case Response(epsilon):
            return lattice.response(epsilon)
    raise AssertionError(part)


@pytest.mark.parametrize(("epsilon", "steps"), [("0.1", 2), ("1", 3), ("0.37", 7), ("3", 4)])
def test_the_curve_is_the_iterated_power_function(epsilon: str, steps: int) -> None:
    part = equal_steps(F(epsilon), steps)
    assert isinstance(part, PureSteps)
    one = Curve(((part, 1),))
    truth = law(part)
    for n in range(8):
        at = F(epsilon) * steps * n / 7
        found = delta_at(one, at).upper
        assert lattice.exact(found) >= truth.delta(at) - lattice.ROUNDING
        assert lattice.exact(found) <= truth.delta(at) * (1 + mpf(10) ** -9) + mpf(10) ** -100
        whole = delta_at(as_responses(one), at).upper
        assert found <= whole
    assert part.advantage() == pytest.approx(float(truth.delta(F(0))), rel=1e-12)
    assert part.about_rho() == pytest.approx(float(part.rho()), rel=1e-9)
    assert part.describe() == f"{epsilon}-DP over {steps} steps"
    assert not is_noise(curve_of(part))


def test_minute_or_very_many_steps_are_one_step_of_the_sum() -> None:
    assert equal_steps(F(1), 1) == Response(F(1))
    assert equal_steps(F(1, 10**151), 3) == Response(F(3, 10**151))
    assert equal_steps(F(1), MOST_POINTS + 1) == Response(F(MOST_POINTS + 1))
    assert equal_steps(F(10**400), 2) == Response(F(2 * 10**400))


def test_what_is_least_somewhere_is_kept() -> None:
    two = PureSteps(2, F(1))
    assert list(least_of(F(2), [(F(1), 2)])) == [two]
    assert list(least_of(F(1), [(F(1), 2)])) == [Response(F(1))]
    # e^-1 is 1 - 0.632, and tanh(0.75) is 0.635.
    assert list(least_of(F(3, 2), [(F(1), 2)])) == [two, Response(F(3, 2))]
    assert list(least_of(F(7, 5), [(F(1), 2)])) == [Response(F(7, 5))]
    assert list(least_of(F(2), [(F(1), 2), (F(2), 2), (F(1), 3)])) == [two]
    assert list(least_of(F(10**400), [(F(10**399), 10)])) == [Response(F(10**400))]


@pytest.mark.slow
def test_a_guarantee_that_is_left_out_is_nowhere_the_least() -> None:
    rng = Random(1)
    for _ in range(60):
        u, steps = F(rng.randint(1, 30), 10), rng.randint(2, 5)
        b = min(u * steps, u * F(rng.randint(10, 50), 10))
        kept = list(least_of(b, [(u, steps)]))
        path = powers.path([powers.step(u)] * steps)
        truth = powers.least(path, powers.step(b)).law()
        for at in (b * n / 6 for n in range(7)):
            least = min(law(part).delta(at) for part in kept)
            assert least >= truth.delta(at) - lattice.ROUNDING
            both = min(path.law().delta(at), lattice.response(b).delta(at))
            assert abs(least - both) <= lattice.ROUNDING


@pytest.mark.slow
@pytest.mark.parametrize(
    "parts",
    [
        ((PureSteps(2, F(10)), 30),),
        ((PureSteps(2, F(10**4)), 10**7),),  # as much is lost by rounding as is gained
        ((PureSteps(2, F(1, 99)), 3),),
        ((PureSteps(7, F(3)), 5), (PureSteps(2, F(10, 7)), 1), (Response(F(1, 9)), 4)),
    ],
)
@pytest.mark.parametrize("delta", [F(1, 10**9), F(1, 10**4), F(1, 5)])
def test_no_path_is_looser_than_the_sum_of_its_steps(
    parts: tuple[tuple[Part, int], ...], delta: Fraction
) -> None:
    one, point = Curve(parts), Point(delta=delta)
    found, whole = (main_routes(each, point) for each in (one, as_responses(one)))
    assert list(found) == list(whole)
    assert None not in found.values() and None not in whole.values()
    (_, best), (_, before) = least_route(found), least_route(whole)
    assert best is not None and before is not None
    assert best.upper <= before.upper * (1 + F(1, 10**10))


def atoms(rng: Random) -> dict[MechanismLossOptions, int]:
    found: dict[MechanismLossOptions, int] = {}
    for _ in range(rng.randint(1, 3)):
        u = F(rng.choice([2, 3, 4, 6, 8]), 10)
        options = [equal_steps(u, rng.choice([1, 1, 2, 2, 3, 4]))]
        if rng.random() < 0.3:
            options.append(Response(u * F(rng.randint(10, 20), 10)))
        atom = MechanismLossOptions(tuple(map(curve_of, options)))
        found[atom] = found.get(atom, 0) + rng.randint(1, 2)
    return found


def readings(pattern: LossMultiset) -> Iterator[lattice.Law]:
    """The laws of a pattern with each choice of options."""
    for chosen in product(*(atom.options for atom in pattern.atoms)):
        whole = lattice.Law()
        for known, n in zip(chosen, pattern.atoms.values(), strict=True):
            assert known.part is not None
            whole = whole * law(known.part) ** n
        yield whole


def worse(first: LossMultiset, second: LossMultiset) -> bool:
    """Whether what is computed of the first is not below what is true of the second."""
    under = list(readings(second))
    return all(
        over.epsilon(delta) >= min(each.epsilon(delta) for each in under) - mpf(10) ** -80
        for over in readings(first)
        for delta in DELTAS
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_what_dominates_is_worse_at_every_delta(seed: int) -> None:
    rng = Random(seed)
    seen = 0
    for _ in range(60):
        first, second = LossMultiset(atoms(rng)), LossMultiset(atoms(rng))
        if dominates(first, second):
            seen += 1
            assert worse(first, second), (first, second)
        both = covering([first, second])
        assert dominates(both, first) and dominates(both, second)
        assert worse(both, first) and worse(both, second)
    assert seen


@pytest.mark.parametrize("seed", range(20))
def test_several_are_covered_at_once_as_one_after_the_other(seed: int) -> None:
    rng = Random(seed)
    several = [LossMultiset(atoms(rng)) for _ in range(4)]
    at_once, one_by_one = covering(several), several[0]
    for each in several[1:]:
        one_by_one = covering([one_by_one, each])
    assert at_once.atoms == one_by_one.atoms
    assert all(dominates(at_once, each) for each in several)


def test_equal_atoms_are_one() -> None:
    assert MechanismLossOptions((curve_of(Response(F(1, 3))),)) is MechanismLossOptions(
        (curve_of(Response(F(2, 6))),)
    )
    assert MechanismLossOptions((curve_of(Response(F(1, 3))),)) != MechanismLossOptions(
        (curve_of(Response(F(1, 2))),)
    )


def pattern(*losses: Part) -> LossMultiset:
    found: dict[MechanismLossOptions, int] = {}
    for each in losses:
        atom = MechanismLossOptions((curve_of(each),))
        found[atom] = found.get(atom, 0) + 1
    return LossMultiset(found)


def test_paths_are_packed_into_paths() -> None:
    two = PureSteps(2, F(1))
    # Two rows of one block or one row of each of two.
    assert dominates(pattern(two), pattern(Response(F(1)), Response(F(4, 5))))
    assert dominates(pattern(two, two), pattern(two, Response(F(1)), Response(F(1, 2))))
    assert dominates(pattern(two), pattern(PureSteps(4, F(2))))
    assert dominates(pattern(Response(F(2))), pattern(two))
    assert not dominates(pattern(two), pattern(Response(F(3, 2))))
    assert not dominates(pattern(two), pattern(PureSteps(3, F(3, 2))))
    assert not dominates(pattern(two), pattern(Response(F(1)), Response(F(1)), Response(F(1, 9))))


def test_paths_of_one_epsilon_are_covered_by_longer_ones() -> None:
    two, three = PureSteps(2, F(1)), PureSteps(3, F(1))
    assert covering([pattern(two, two), pattern(three)]).atoms == pattern(three, two).atoms
    other = covering([pattern(two), pattern(Response(F(3)))])
    assert other.atoms == pattern(Response(F(3))).atoms


def test_no_more_than_the_sum_of_the_steps() -> None:
    one = Curve(((PureSteps(2, F(10)), 30),))
    found = epsilon_at(one, F(0))
    assert found is not None and found.upper == 6
