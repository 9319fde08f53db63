"""Compositions near one that is known: against those that are composed anew, and by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpcompose.core.mechanisms.exponential import BoundedRange
from dpcompose.core.mechanisms.laplace import LaplaceLoss
from dpcompose.core.profile import nearby, renyi
from dpcompose.core.profile.changed_law import ChangedLaws
from dpcompose.core.profile.changed_line import ChangedLines
from dpcompose.core.profile.components import ensemble
from dpcompose.core.profile.lattice import pieces_of
from dpcompose.core.profile.law import LogDelta
from dpcompose.core.profile.log_products import factors, plus, spared
from dpcompose.core.profile.moved_losses import mixed, moves
from dpcompose.core.profile.nearby import Nearby
from dpcompose.core.profile.parts import Composition, Part, Response
from dpcompose.core.profile.solve import epsilon_at
from dpcompose.core.profile.variants import Variant, apart

F = Fraction
ZERO = F(0)
DELTA = F(1, 10**6)
LOG_DELTA = math.log(1e-6)


def composed(parts: dict[Part, int], gaussian: Fraction = ZERO) -> Composition:
    return Composition(tuple(parts.items()), gaussian)


def pure(i: int) -> Part:
    return Response(F(100 + i, 1003))


def laplace(i: int) -> Part:
    return LaplaceLoss(F(7, 10 + i))


def exponential(i: int) -> Part:
    return BoundedRange(F(1000 + i, 10003))


def direct(composition: Composition, delta: Fraction = DELTA) -> float:
    found = epsilon_at(composition, delta)
    assert found is not None
    return float(found.upper)


# --- what differs ---------------------------------------------------------------------------------


def test_apart_tells_what_either_has_more() -> None:
    whole = composed({pure(0): 3, pure(1): 1, laplace(0): 2})
    asked = composed({pure(0): 1, pure(2): 1, laplace(0): 2})
    less, more = apart(whole, asked)
    assert dict(less.parts) == {pure(0): 2, pure(1): 1}
    assert dict(more.parts) == {pure(2): 1}
    assert apart(whole, whole) == (Composition(), Composition())


# --- products of transforms -----------------------------------------------------------------------


def test_a_factor_that_is_taken_out_leaves_the_others() -> None:
    responses = {F(10 + i, 50): 1 + i % 2 for i in range(8)}
    step, points, theta = F(1, 50), 1024, 1.5
    whole = pieces_of(ensemble(responses, (), F(0), step), theta, step)
    logs, noise = spared(whole, points, 0.0)
    assert noise == 0
    [gone] = list(responses)[3:4]
    old = pieces_of(ensemble({gone: responses[gone]}, (), F(0), step), theta, step)
    [factor] = factors(old)
    left = plus(logs, factor(logs.k, points)[0], -1)
    others = {epsilon: n for epsilon, n in responses.items() if epsilon != gone}
    rest = pieces_of(ensemble(others, (), F(0), step), theta, step)
    known, _ = spared(rest, points, 0.0)
    places = np.searchsorted(logs.k, known.k[np.isin(known.k, logs.k)])
    same = np.isin(known.k, logs.k)
    # No frequency at which more than next to nothing is left of the others is missing.
    assert float(known.log[~same].max(initial=-math.inf)) < -35
    turn = np.exp(1j * (left.phase[places] - known.phase[same]))
    bright = known.log[same] > -30
    np.testing.assert_allclose(left.log[places][bright], known.log[same][bright], atol=1e-12)
    np.testing.assert_allclose(turn[bright], 1, atol=1e-12)


# --- losses of few values -------------------------------------------------------------------------


def test_few_values_move_what_is_asked_for() -> None:
    moved, rest = moves(composed({Response(F(1, 2)): 2, laplace(0): 1}))
    assert rest == composed({laplace(0): 1})
    chance = math.exp(0.5) / (1 + math.exp(0.5))
    expected = {F(1): chance**2, F(0): 2 * chance * (1 - chance), F(-1): (1 - chance) ** 2}
    assert {loss for loss, _ in moved} == set(expected)
    for loss, log in moved:
        assert expected[loss] <= math.exp(log) <= expected[loss] * (1 + 1e-13)


def test_mixed_bounds_add_up_by_chance() -> None:
    one, other = LogDelta(math.log(0.3), -math.inf, 2.0), LogDelta(math.log(0.1), -math.inf, 4.0)
    found = mixed([(math.log(0.25), one), (math.log(0.75), other)])
    assert math.exp(found.log_upper) == pytest.approx(0.15, rel=1e-13)
    assert math.exp(found.log_upper) >= 0.15 * (1 - 1e-16)
    assert found.slope == pytest.approx((0.25 * 0.3 * 2 + 0.75 * 0.1 * 4) / 0.15)
    assert mixed([(0.0, one)]) is one


# --- exchanged ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lines_tell_what_is_exchanged_on_them() -> None:
    parts: dict[Part, int] = {laplace(i): 1 + i % 2 for i in range(40)}
    whole = composed(parts)
    lines = ChangedLines.of(whole, LOG_DELTA, math.inf)
    assert lines is not None
    for gone, come in (
        (laplace(3), laplace(50)),
        (laplace(39), pure(0)),
        (laplace(0), laplace(90)),
    ):
        changed = dict(parts)
        changed[come] = changed.pop(gone)
        asked = composed(changed)
        found = lines.epsilon(Variant.beside(whole, asked, LOG_DELTA, math.inf))
        assert found == pytest.approx(direct(asked), rel=1e-8)  # by what is smoothed
    # Of several that are gone it is not said, nor of a loss that has no transform.
    fewer = composed({part: n for part, n in parts.items() if part not in (laplace(1), laplace(2))})
    assert lines.epsilon(Variant.beside(whole, fewer, LOG_DELTA, math.inf)) is None
    other = composed({**parts, exponential(0): 1})
    assert lines.epsilon(Variant.beside(whole, other, LOG_DELTA, math.inf)) is None


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [F(0), F(1, 40)])
@pytest.mark.parametrize("each", [pure, exponential])
def test_laws_tell_what_is_exchanged_on_them(each: object, gaussian: Fraction) -> None:
    assert callable(each)
    parts: dict[Part, int] = {each(i): 1 + i % 2 for i in range(20)}
    whole = composed(parts, gaussian)
    known = epsilon_at(whole, DELTA)
    assert known is not None
    laws = ChangedLaws.of(whole, LOG_DELTA, known)
    assert laws is not None
    for gone, come in ((each(3), each(50)), (each(19), pure(70)), (each(0), each(1))):
        changed = dict(parts)
        changed[come] = changed.get(come, 0) + changed.pop(gone)
        asked = composed(changed, gaussian * F(9, 10))
        found = laws.epsilon(Variant.beside(whole, asked, LOG_DELTA, math.inf))
        assert found == pytest.approx(direct(asked), rel=1e-9 if each is pure else 2e-6)


def test_what_changes_too_much_is_not_told() -> None:
    parts: dict[Part, int] = {pure(i): 1 for i in range(20)}
    whole = composed({**parts, Response(F(9)): 1})
    known = epsilon_at(whole, DELTA)
    assert known is not None
    laws = ChangedLaws.of(whole, LOG_DELTA, known)
    assert laws is not None
    asked = composed({**parts, pure(40): 1})
    assert laws.epsilon(Variant.beside(whole, asked, LOG_DELTA, math.inf)) is None
    gone = composed({**parts, Response(F(9)): 1}, F(1))
    gaussian = ChangedLaws.of(gone, LOG_DELTA, epsilon_at(gone, DELTA) or known)
    assert gaussian is not None
    less = composed({**parts, Response(F(9)): 1}, F(1, 10**4))
    assert gaussian.epsilon(Variant.beside(gone, less, LOG_DELTA, math.inf)) is None


# --- nearby ---------------------------------------------------------------------------------------


def test_only_a_composition_near_a_known_one_is_told() -> None:
    near = Nearby()
    parts: dict[Part, int] = {pure(i): 1 for i in range(20)}
    whole = composed(parts)
    assert near.epsilon(whole, LOG_DELTA, math.inf) is None
    found = epsilon_at(whole, DELTA)
    assert found is not None
    near.learn(whole, found)
    # The same at the same δ or a larger one; at a smaller one that is not known to hold.
    assert near.epsilon(whole, LOG_DELTA, math.inf) == pytest.approx(float(found.upper))
    smaller = near.epsilon(whole, LOG_DELTA - 0.05, math.inf)
    assert smaller is not None and smaller > float(found.upper) * (1 + 1e-4)
    assert smaller == pytest.approx(direct(whole, F(math.exp(LOG_DELTA - 0.05))), rel=1e-9)
    assert near.epsilon(whole, LOG_DELTA - 1, math.inf) is None
    # Few are composed anew.
    few = composed({pure(i): 1 for i in range(nearby._FEW - 1)})
    assert near.epsilon(few, LOG_DELTA, math.inf) is None


def test_an_answer_by_what_differs_is_never_below_the_truth() -> None:
    """Twelve responses and more of them, against all outcomes: by twos, as there are so many."""
    near = Nearby()
    every = [F(50 + 3 * i, 101) for i in range(13)]
    whole = composed({Response(epsilon): 1 for epsilon in every})
    first = epsilon_at(whole, DELTA, near=near)
    assert first is not None
    for place in range(13):
        changed = [*every[:place], every[place] / 2, *every[place + 1 :]]
        found = epsilon_at(
            composed({Response(epsilon): 1 for epsilon in changed}), DELTA, near=near
        )
        assert found is not None
        sizes = np.array([float(epsilon) for epsilon in changed])
        signs = np.array(np.meshgrid(*[[1.0, -1.0]] * 13)).reshape(13, -1)
        losses = sizes @ signs
        chances = np.prod(1 / (1 + np.exp(-signs * sizes[:, None])), axis=0)
        at = float(found.upper)
        above = losses > at
        delta = float((chances[above] * -np.expm1(at - losses[above])).sum())
        assert delta <= 1e-6 * (1 + 1e-12)
        assert delta >= 1e-6 * (1 - 1e-6)


def test_the_order_that_says_most_is_that_which_is_found_anew() -> None:
    near, parts = Nearby(), {exponential(i): 1 for i in range(20)}
    whole = composed({**parts})
    assert near.order(whole, DELTA, F(1)) is None
    for i in (0, 19):
        left = {part: n for part, n in parts.items() if part != exponential(i)}
        asked = composed({**left, BoundedRange(F(1000 + i, 20006)): 1})
        anew = renyi.epsilon_at(asked, DELTA)
        assert anew is not None
        order = near.order(asked, DELTA, anew)
        assert order is not None and order < math.inf
        found = renyi.epsilon_at(asked, DELTA, order)
        assert found is not None
        assert float(found) == pytest.approx(float(anew), rel=1e-10)
        # Where another way says less by far, no divergences are asked.
        assert near.order(asked, DELTA, anew * F(9, 10)) == math.inf
    # Nor where all losses are known.
    assert near.order(composed({pure(0): 1}), DELTA, F(1)) == math.inf
