"""The least ε at δ, and the least δ at ε, of a composition; certified upper bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from dpcompose.curves.backends.closed_forms import alone
from dpcompose.curves.backends.closed_forms.gaussian_profile import gaussian_delta, gaussian_epsilon
from dpcompose.curves.backends.closed_forms.max_loss import greatest_sum
from dpcompose.curves.backends.closed_forms.responses import equal_delta, equal_epsilon
from dpcompose.curves.backends.lattice.fewer_losses import is_merged, merged
from dpcompose.curves.backends.renyi import renyi_curves as renyi
from dpcompose.curves.curve import (
    BEST,
    ROUGH,
    Certified,
    Curve,
    EvaluationEffort,
    Grouped,
    MechanismLoss,
    Part,
    Points,
    Response,
    Sampled,
    is_tight,
)
from dpcompose.curves.rounding.doubles import (
    BEYOND_DOUBLES,
    MARGIN,
    WORKING_DIGITS,
    exact_of,
    float_of,
    log_of,
    shorten,
)
from dpcompose.curves.rounding.exact import MAX_BITS, MAX_EXPONENT, ONE, ZERO

#: A sum of losses below this is not composed: δ is at most half of it.
_MINUTE = Fraction(1, 10**60)
#: A Gaussian with μ below this share of every ε is answered for apart, with this share of δ.
_APART = Fraction(1, 10**8)


def epsilon_at(
    composition: Curve, delta: Fraction, effort: EvaluationEffort = BEST
) -> Certified | None:
    """Returns the least certified ε ≥ 0 at which the composition is (ε, δ)-DP, where `delta` is δ;
    None where no finite one is known.

    `effort`: how much work may be done for it.
    """
    if delta >= 1:
        return Certified(ZERO, ZERO)
    composition = _settled(composition)
    left = _left(composition, delta)
    if left is None:
        return None
    parts = _gathered(composition.parts)
    bound = greatest_sum(parts.all_parts(composition.gaussian))
    if left == 0:
        return None if bound is None else Certified(bound, bound if not parts.others else None)
    if left >= 1 or (bound is not None and bound <= left):
        # δ(0) ≤ tanh(bound/2).
        return Certified(ZERO, ZERO)
    found = _epsilon(parts, composition.gaussian, left, bound, effort)
    if bound is not None and (found is None or found.upper >= bound):
        found = Certified(bound, found.lower if found else None, found.exact if found else False)
    return found


def delta_at(composition: Curve, epsilon: Fraction, effort: EvaluationEffort = BEST) -> Certified:
    """Returns the least certified δ at which the composition is (ε, δ)-DP, where `epsilon` ≥ 0 is
    ε.

    `effort`: how much work may be done for it.
    """
    composition = _settled(composition)
    parts = _gathered(composition.parts)
    bound = greatest_sum(parts.all_parts(composition.gaussian))
    if bound is not None and epsilon >= bound:
        rest = Certified(ZERO, ZERO)
    elif bound is not None and bound < _MINUTE:
        # δ(0) ≤ tanh(bound/2).
        rest = Certified(shorten(bound / 2, up=True), None, False)
    else:
        rest = _delta(parts, composition.gaussian, epsilon, effort)
    no_failure = composition.no_failure
    upper = shorten(1 - no_failure + no_failure * min(ONE, rest.upper), up=True)
    lower = (
        None if rest.lower is None else shorten(1 - no_failure + no_failure * rest.lower, up=False)
    )
    return rest._replace(upper=min(ONE, upper), lower=lower)


def _settled(composition: Curve) -> Curve:
    """Returns an equal composition in which the chance that stated (ε, δ) points give everything
    away has moved from the parts to `no_failure`.

    A part whose points (ε, δ) all have δ ≥ d gives everything away with chance d, and else has the
    points (ε, (δ-d)/(1-d)): the same in both orders of the tables.
    """
    parts: list[tuple[Part, int]] = []
    no_failure = composition.no_failure
    for part, count in composition.parts:
        if isinstance(part, Points) and count > 0:
            least = min((delta for _, delta in part.points), default=ONE)
            if 0 < least < 1 and least.denominator.bit_length() * count <= MAX_BITS:
                no_failure *= (1 - least) ** count
                rest = tuple((e, (delta - least) / (1 - least)) for e, delta in part.points)
                part = Points(rest)
            if len(part.points) == 1 and part.points[0][1] == 0:
                part = Response(part.points[0][0])
        parts.append((part, count))
    return replace(composition, parts=tuple(parts), no_failure=no_failure)


class _Gathered(NamedTuple):
    """The parts of a composition, sorted: how many randomized responses there are of each ε, and
    all other parts with their counts."""

    responses: dict[Fraction, int]
    others: tuple[tuple[Part, int], ...]

    def all_parts(self, gaussian: Fraction = ZERO) -> Curve:
        """Returns all parts as one curve; `gaussian`: Σμ² of the Gaussian parts, which is added."""
        responses = tuple((Response(epsilon), n) for epsilon, n in self.responses.items())
        return Curve(responses + self.others, gaussian)


def _gathered(parts: Iterable[tuple[Part, int]]) -> _Gathered:
    """Returns the parts, each with its count, sorted into responses and others; equal parts are
    counted together."""
    responses: dict[Fraction, int] = {}
    others: dict[Part, int] = {}
    for part, count in parts:
        if count <= 0:
            continue
        if isinstance(part, Response):
            if part.epsilon:
                responses[part.epsilon] = responses.get(part.epsilon, 0) + count
        else:
            others[part] = others.get(part, 0) + count
    return _Gathered(responses, tuple(others.items()))


def _fewer(parts: _Gathered) -> tuple[_Gathered, bool]:
    """Returns fewer parts that dominate the given ones where these are very many, else the given
    ones; and whether anything was replaced."""
    whole = parts.all_parts().parts
    return (_gathered(merged(whole)), True) if is_merged(whole) else (parts, False)


def _left(composition: Curve, delta: Fraction) -> Fraction | None:
    """Returns what the chances of total failure leave of δ for the finite losses; None where they
    exceed δ."""
    left = composition.left(delta)
    return left if left >= 0 else None


def _epsilon(
    parts: _Gathered,
    gaussian: Fraction,
    delta: Fraction,
    bound: Fraction | None,
    effort: EvaluationEffort = BEST,
) -> Certified | None:
    """Returns the least ε at δ by the first method that can give one: a closed form, the vertical
    line, or a grid.

    `gaussian`: Σμ² of the Gaussian parts; `bound`: an ε that is known to hold, None for none.
    """
    only = _only(parts, gaussian)
    if isinstance(only, MechanismLoss) and (known := only.least_epsilon(delta)) is not None:
        return known
    if parts.others and not isinstance(only, Sampled | Grouped):
        # numpy is needed here.
        from dpcompose.curves.backends.vertical_line.contour import epsilon_on_line

        most = math.inf if bound is None else float_of(bound)
        on_line = epsilon_on_line(parts.all_parts(gaussian), _log_below(delta), most)
        if on_line is not None:
            return Certified(Fraction(on_line))
    parts, rounded = _fewer(parts)
    found = _epsilon_of_few(parts, gaussian, delta, bound, effort)
    return found._replace(lower=None, exact=False) if found and rounded else found


def _log_below(delta: Fraction) -> float:
    """Returns ln δ, rounded down."""
    log_delta = log_of(delta)
    return log_delta - 4e-16 * abs(log_delta) - 1e-300


def _epsilon_of_few(
    parts: _Gathered,
    gaussian: Fraction,
    delta: Fraction,
    bound: Fraction | None,
    effort: EvaluationEffort,
) -> Certified | None:
    """Returns the least ε at δ of so few parts that a grid can hold them; the parameters are those
    of `_epsilon`."""
    if not parts.others:
        if not parts.responses:
            return gaussian_epsilon(gaussian, delta)
        if not gaussian and len(parts.responses) == 1:
            [(epsilon, count)] = parts.responses.items()
            if (known := equal_epsilon(epsilon, count, delta)) is not None:
                return known
        if 0 < gaussian < (_APART * min(parts.responses)) ** 2:
            # Basic composition of the two, at shares of δ.
            rest = _epsilon(
                parts, ZERO, delta * (1 - _APART), bound=greatest_sum(parts.all_parts())
            )
            little = gaussian_epsilon(gaussian, delta * _APART)
            if rest is not None and little is not None:
                return Certified(rest.upper + little.upper, None, False, rest.grid)
    single = _only(parts, gaussian)
    if isinstance(single, Sampled):
        return alone.sampled_epsilon(single, delta, partial(_epsilon_by_any_way, effort=effort))
    if isinstance(single, Grouped):
        if single.steps > alone.MOST_STEPS:
            return alone.grouped_epsilon(single, delta, epsilon_at)
        curve = _epsilon_on_grid(parts, gaussian, delta, bound, effort)
        if not alone.is_plain(single.base):
            return curve
        # By the formula as well, which needs no grid.
        known = alone.grouped_epsilon(single, delta, epsilon_at)
        found = [each for each in (curve, known) if each is not None]
        return min(found, key=lambda each: each.upper, default=None)
    return _epsilon_on_grid(parts, gaussian, delta, bound, effort)


def _epsilon_by_any_way(
    composition: Curve, delta: Fraction, effort: EvaluationEffort
) -> Certified | None:
    """Returns `epsilon_at`, or the ε by Rényi divergences where that is less: it can be where the
    curve of a part is larger than that of any mechanism it stands for."""
    found = epsilon_at(composition, delta, _alone(effort))
    if not all(is_tight(part) for part, _ in composition.parts):
        with suppress(*BEYOND_DOUBLES):
            other = renyi.epsilon_at(composition, delta)
            if other is not None and (found is None or other < found.upper):
                return Certified(other, None, False)
    return found


def _alone(effort: EvaluationEffort) -> EvaluationEffort:
    """Returns the same effort for a composition that is asked about once, so that no grid need be
    kept for further questions."""
    return ROUGH if effort.rough else BEST


def _delta_by_any_way(composition: Curve, epsilon: Fraction, effort: EvaluationEffort) -> Certified:
    """Returns `delta_at`, or the δ by Rényi divergences where that is less: it can be where the
    curve of a part is larger than that of any mechanism it stands for."""
    found = delta_at(composition, epsilon, _alone(effort))
    if not all(is_tight(part) for part, _ in composition.parts):
        with suppress(*BEYOND_DOUBLES):
            other = renyi.delta_at(composition, epsilon)
            if other < found.upper:
                return Certified(other, None, False)
    return found


def _epsilon_on_grid(
    parts: _Gathered,
    gaussian: Fraction,
    delta: Fraction,
    bound: Fraction | None,
    effort: EvaluationEffort,
) -> Certified | None:
    """Returns the least ε at δ by loss distributions on a grid; the parameters are those of
    `_epsilon`."""
    # numpy is needed from here on only.
    from dpcompose.curves.backends.lattice.engine import (
        least_epsilon,
        rough_ensemble,
        shared_ensemble,
        tail_bound,
    )
    from dpcompose.curves.backends.lattice.grids import GridQuestion, epsilon_on_grid
    from dpcompose.curves.backends.lattice.loss_distribution import masses

    log_delta = _log_below(delta)
    most = math.inf if bound is None else float_of(bound)
    if parts.others:
        asked = GridQuestion(parts.responses, parts.others, gaussian, masses, effort)
        found = epsilon_on_grid(asked, log_delta, most)
    else:
        told = (
            shared_ensemble(tuple(parts.responses.items()), gaussian)
            if effort.shared
            else (None, None)
        )
        found = least_epsilon(parts.responses, (), gaussian, log_delta, most, *told)
        if found is None:
            rough = rough_ensemble(parts.responses, (), gaussian)
            bounded = tail_bound(rough, log_delta)
            return Certified(Fraction(bounded), None, False) if bounded < math.inf else None
    if found is None:
        return None
    lower = None if found.lower is None else Fraction(found.lower)
    return Certified(Fraction(found.upper), lower, found.grid is None, found.grid)


def _only(parts: _Gathered, gaussian: Fraction) -> Part | None:
    """Returns the only part of a composition, if it has just one part, once and without Gaussian;
    else None."""
    if gaussian or parts.responses or len(parts.others) != 1:
        return None
    [(part, count)] = parts.others
    return part if count == 1 else None


def _delta(
    parts: _Gathered, gaussian: Fraction, epsilon: Fraction, effort: EvaluationEffort = BEST
) -> Certified:
    """Returns the least δ at ε by the first method that can give one: a closed form, the vertical
    line, or a grid.

    `gaussian`: Σμ² of the Gaussian parts.
    """
    only = _only(parts, gaussian)
    if isinstance(only, MechanismLoss) and (known := only.least_delta(epsilon)) is not None:
        return known
    if parts.others and not isinstance(only, Sampled | Grouped):
        from dpcompose.curves.backends.vertical_line.contour import log_delta_on_line

        on_line = log_delta_on_line(parts.all_parts(gaussian), epsilon, effort.side)
        if on_line is not None:
            return Certified(_exp(on_line, up=True))
    parts, rounded = _fewer(parts)
    found = _delta_of_few(parts, gaussian, epsilon, effort)
    return found._replace(lower=None, exact=False) if rounded else found


def _delta_of_few(
    parts: _Gathered, gaussian: Fraction, epsilon: Fraction, effort: EvaluationEffort
) -> Certified:
    """Returns the least δ at ε of so few parts that a grid can hold them; `gaussian`: Σμ² of the
    Gaussian parts."""
    if not parts.others:
        if not parts.responses:
            return gaussian_delta(gaussian, epsilon)
        if not gaussian and len(parts.responses) == 1:
            [(loss, count)] = parts.responses.items()
            if (found := equal_delta(loss, count, epsilon)) is not None:
                return found
    single = _only(parts, gaussian)
    if isinstance(single, Sampled) and effort.side in (None, single.side):
        # What is known of the order ((1-q)Q+qP, Q) holds for both, and is exact for that one.
        inner = effort._replace(side=None)
        return alone.sampled_delta(single, epsilon, partial(_delta_by_any_way, effort=inner))
    if isinstance(single, Grouped):
        if single.steps > alone.MOST_STEPS:
            return alone.grouped_delta(single, epsilon, delta_at)
        # numpy is needed here.
        from dpcompose.curves.backends.lattice.loss_distribution import base_law
        from dpcompose.curves.backends.lattice.several_rows import delta_of_steps

        below = math.nextafter(float_of(epsilon), 0.0)
        curve = Certified(Fraction(delta_of_steps(single, below, base_law)), None, False)
        if not alone.is_plain(single.base):
            return curve
        known = alone.grouped_delta(single, epsilon, delta_at)
        return min(curve, known, key=lambda each: each.upper)
    return _delta_on_grid(parts, gaussian, epsilon, effort)


def _delta_on_grid(
    parts: _Gathered, gaussian: Fraction, epsilon: Fraction, effort: EvaluationEffort
) -> Certified:
    """Returns the least δ at ε by loss distributions on a grid; `gaussian`: Σμ² of the Gaussian
    parts."""
    from dpcompose.curves.backends.lattice.engine import (
        Result,
        least_log_delta,
        rough_ensemble,
        shared_ensemble,
        tail_log_delta,
    )
    from dpcompose.curves.backends.lattice.grids import GridQuestion, log_delta_on_grid
    from dpcompose.curves.backends.lattice.loss_distribution import masses

    if parts.others:
        asked = GridQuestion(parts.responses, parts.others, gaussian, masses, effort)
        result = log_delta_on_grid(asked, epsilon)
    else:
        told = (
            shared_ensemble(tuple(parts.responses.items()), gaussian)
            if effort.shared
            else (None, None)
        )
        result = least_log_delta(parts.responses, (), gaussian, epsilon, *told)
    if result is None and not parts.others:
        rough = rough_ensemble(parts.responses, (), gaussian)
        result = Result(tail_log_delta(rough, float_of(epsilon)), None, None)
        return Certified(_exp(result.upper, up=True), None, False)
    if result is None:
        return Certified(ONE, None, False)
    lower = None if result.lower is None else _exp(result.lower, up=False)
    return Certified(_exp(result.upper, up=True), lower, result.grid is None, result.grid)


def _exp(log: float, *, up: bool) -> Fraction:
    """Returns e^log for log ≤ 0, rounded up where `up`, else down."""
    if log == -math.inf:
        return ZERO
    if log < -MAX_EXPONENT and not up:
        return ZERO
    from mpmath import mp

    with mp.workdps(WORKING_DIGITS):
        value = exact_of(mp.exp(max(log, -MAX_EXPONENT)))
    return min(ONE, shorten(value * (1 + MARGIN if up else 1 - MARGIN), up=up))
