"""The least ε at δ, and the least δ at ε, of a composition: which backend is asked, and in which
order.

`BACKENDS` is the table. They compute the privacy profile itself, each within its own rounding: the
first that can is as good as any after it, and costs less. Rényi divergences only bound the profile,
which may be all that is known; `routes` asks for these as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.curves.backends.closed_forms import behind_sample
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
    Maximum,
    MechanismLoss,
    Part,
    Points,
    Response,
    Sampled,
    TwoAnswersPoints,
    is_tight,
)
from dpcompose.curves.families.exponential_loss import BoundedRange
from dpcompose.curves.rounding.doubles import (
    BEYOND_DOUBLES,
    LEAST,
    MARGIN,
    MAX_BITS,
    WORKING_DIGITS,
    exact_of,
    float_of,
    log_of,
    shorten,
)
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ONE, ZERO

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.adaptive_choices import ChoiceProfile
    from dpcompose.curves.backends.lattice.components import Ensemble
    from dpcompose.curves.backends.lattice.engine import Shared
    from dpcompose.curves.backends.lattice.powers import ProfileBound


class CurveQuestion(NamedTuple):
    """A normalised curve for the backends: equal parts are merged, and the chance of total failure
    is taken out.

    `greatest`: the greatest loss, None if unbounded or not known; `effort`: how much work may be
    done for the number.
    """

    curve: Curve
    greatest: Fraction | None = None
    effort: EvaluationEffort = BEST

    @property
    def only(self) -> Part | None:
        """Returns the only part, if it is there once and nothing else is; else None."""
        if self.curve.gaussian or len(self.curve.parts) != 1:
            return None
        [(part, count)] = self.curve.parts
        return part if count == 1 else None

    @property
    def greatest_as_double(self) -> float:
        """Returns the greatest loss as a double, infinite where it is not known."""
        return math.inf if self.greatest is None else float_of(self.greatest)


class Backend(NamedTuple):
    """One way in which a curve is evaluated.

    `can`: whether it may have numbers of a curve; `epsilon` and `delta`: the least ε at a δ and the
    least δ at an ε, None where it cannot answer, and the next backend is tried.
    """

    name: str
    can: Callable[[CurveQuestion], bool]
    epsilon: Callable[[CurveQuestion, Fraction], Certified | None]
    delta: Callable[[CurveQuestion, Fraction], Certified | None]


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
    left = composition.left(delta)
    if left < 0:
        return None
    question = _question(composition, effort)
    bound = question.greatest
    if left == 0:
        stated = all(isinstance(part, Response) for part, _ in question.curve.parts)
        return None if bound is None else Certified(bound, bound if stated else None)
    if left >= 1 or (bound is not None and bound <= left):
        # δ(0) ≤ tanh(bound/2).
        return Certified(ZERO, ZERO)
    found = _first(question, lambda backend: backend.epsilon(question, left))
    if bound is not None and (found is None or found.upper >= bound):
        found = Certified(bound, found.lower if found else None, found.exact if found else False)
    return found


def delta_at(composition: Curve, epsilon: Fraction, effort: EvaluationEffort = BEST) -> Certified:
    """Returns the least certified δ at which the composition is (ε, δ)-DP, where `epsilon` ≥ 0 is
    ε.

    `effort`: how much work may be done for it.
    """
    composition = _settled(composition)
    question = _question(composition, effort)
    bound = question.greatest
    if bound is not None and epsilon >= bound:
        rest = Certified(ZERO, ZERO)
    elif bound is not None and bound < LEAST:
        # Not composed: δ(0) ≤ tanh(bound/2).
        rest = Certified(shorten(bound / 2, up=True), None, False)
    else:
        found = _first(question, lambda backend: backend.delta(question, epsilon))
        rest = found or Certified(ONE, None, False)
    no_failure = composition.no_failure
    upper = shorten(1 - no_failure + no_failure * min(ONE, rest.upper), up=True)
    lower = (
        None if rest.lower is None else shorten(1 - no_failure + no_failure * rest.lower, up=False)
    )
    return rest._replace(upper=min(ONE, upper), lower=lower)


def _first(question: CurveQuestion, ask: Callable[[Backend], Certified | None]) -> Certified | None:
    """Returns the number by the first backend that has the profile of the question's curve."""
    for backend in BACKENDS:
        if backend.can(question):
            found = ask(backend)
            if found is not None:
                return found
    return None


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


def _question(composition: Curve, effort: EvaluationEffort) -> CurveQuestion:
    """Returns the question about a composition apart from its chance of total failure: randomized
    responses first, equal parts counted together, parts that lose nothing left out."""
    responses: dict[Part, int] = {}
    others: dict[Part, int] = {}
    for part, count in composition.parts:
        if count <= 0 or part == Response(ZERO):
            continue
        same = responses if isinstance(part, Response) else others
        same[part] = same.get(part, 0) + count
    curve = Curve((*responses.items(), *others.items()), composition.gaussian)
    return CurveQuestion(curve, greatest_sum(curve), effort)


def _split(curve: Curve) -> tuple[dict[Fraction, int], tuple[tuple[Part, int], ...]]:
    """Returns how many randomized responses there are of each ε, and all other parts with their
    counts."""
    responses = {part.epsilon: n for part, n in curve.parts if isinstance(part, Response)}
    return responses, curve.parts[len(responses) :]


# --- closed forms --------------------------------------------------------------------------------


def _has_formula(question: CurveQuestion) -> bool:
    """Returns whether the curve is of Gaussians, of equal responses, of one mechanism, or of one
    sample."""
    curve = question.curve
    equal = len(curve.parts) == 1 and isinstance(curve.parts[0][0], Response) and not curve.gaussian
    return not curve.parts or equal or isinstance(question.only, MechanismLoss | Sampled)


def _epsilon_by_formula(question: CurveQuestion, delta: Fraction) -> Certified | None:
    curve = question.curve
    if not curve.parts:
        return gaussian_epsilon(curve.gaussian, delta)
    [(part, count)] = curve.parts
    match part:
        case Response(epsilon):
            return equal_epsilon(epsilon, count, delta)
        case MechanismLoss():
            return part.least_epsilon(delta)
        case Sampled():
            effort = _for_once(question.effort)
            return behind_sample.epsilon_behind(
                part, delta, lambda base, at: _least_epsilon(base, at, effort)
            )
    return None


def _delta_by_formula(question: CurveQuestion, epsilon: Fraction) -> Certified | None:
    curve = question.curve
    if not curve.parts:
        return gaussian_delta(curve.gaussian, epsilon)
    [(part, count)] = curve.parts
    match part:
        case Response(loss):
            return equal_delta(loss, count, epsilon)
        case MechanismLoss():
            return part.least_delta(epsilon)
        case Sampled():
            effort, side = _for_once(question.effort), question.effort.side
            other = not part.replace and part.side != "both" and side not in (None, part.side)
            return behind_sample.delta_behind(
                part, epsilon, other, lambda base, at: _least_delta(base, at, effort)
            )
    return None


def _for_once(effort: EvaluationEffort) -> EvaluationEffort:
    """Returns the same effort for a composition that is asked about once, so that no grid need be
    kept for further questions."""
    return ROUGH if effort.rough else BEST


def _least_epsilon(
    composition: Curve, delta: Fraction, effort: EvaluationEffort
) -> Certified | None:
    """Returns `epsilon_at`, or the ε by Rényi divergences where that is less: it can be where the
    curve of a part is larger than that of any mechanism it stands for."""
    found = epsilon_at(composition, delta, effort)
    other = epsilon_by_divergences(composition, delta) if _divergences_help(composition) else None
    return other if found is None else _smaller(found, other)


def _least_delta(composition: Curve, epsilon: Fraction, effort: EvaluationEffort) -> Certified:
    """Returns `delta_at`, or the δ by Rényi divergences where that is less, as `_least_epsilon`."""
    found = delta_at(composition, epsilon, effort)
    other = delta_by_divergences(composition, epsilon) if _divergences_help(composition) else None
    return _smaller(found, other)


def _divergences_help(composition: Curve) -> bool:
    """Returns whether the number by Rényi divergences may be less than that by the profile."""
    return not all(is_tight(part) for part, _ in composition.parts)


def _smaller(found: Certified, other: Certified | None) -> Certified:
    """Returns the number with the lower upper bound."""
    return found if other is None or found.upper <= other.upper else other


# --- a part used once ----------------------------------------------------------------------------


def _is_one_part(question: CurveQuestion) -> bool:
    """Returns whether the curve is of one part that is used once. Not all of these have a profile
    of their own: that test needs numpy, and so is made when the question is answered."""
    return not isinstance(question.only, Sampled | None)


def _epsilon_of_part(question: CurveQuestion, delta: Fraction) -> Certified | None:
    """Returns the least ε at δ of a curve of one part that is used once, by the part's own privacy
    profile, for both orders of the tables; None where the part has none."""
    only, effort = question.only, _for_once(question.effort)
    if isinstance(only, Maximum):
        every = [_least_epsilon(each, delta, effort) for each in only.options]
        known = [each for each in every if each is not None]
        return _greatest(known) if len(known) == len(every) else None
    from dpcompose.curves.backends.lattice.powers import least_epsilon

    below = math.nextafter(float_of(delta), 0.0)
    found = [least_epsilon(bound, below) for bound in _bounds(question)]
    known_epsilons = [each for each in found if each is not None]
    if not found or len(known_epsilons) < len(found):
        return None
    return Certified(Fraction(max(known_epsilons)), exact=isinstance(only, Points | MechanismLoss))


def _delta_of_part(question: CurveQuestion, epsilon: Fraction) -> Certified | None:
    """Returns the least δ at ε of a curve of one part that is used once, by the part's own privacy
    profile, for both orders of the tables; None where the part has none."""
    only, effort = question.only, _for_once(question.effort)
    if isinstance(only, Maximum):
        return _greatest([_least_delta(each, epsilon, effort) for each in only.options])
    import numpy as np

    below = np.array([math.nextafter(float_of(epsilon), 0.0)])
    found = [float(bound.at(below)[0]) for bound in _bounds(question)]
    exact = isinstance(only, Points | MechanismLoss)
    return Certified(Fraction(max(found)), exact=exact) if found else None


def _bounds(question: CurveQuestion) -> list[ProfileBound]:
    """Returns the profiles of the question's only part for the orders of the tables that are asked
    for; none where it has none of its own."""
    from dpcompose.curves.backends.lattice.grids import sides
    from dpcompose.curves.backends.lattice.loss_distribution import bound_alone

    assert question.only is not None
    orders = sides(((question.only, 1),), question.effort.side)
    found = [bound_alone(question.only, side) for side in orders]
    known = [bound for bound in found if bound is not None]
    return known if len(known) == len(found) else []


def _greatest(found: list[Certified]) -> Certified:
    """Returns a certified bound of the greatest of several numbers (ε or δ of alternatives, of
    which any may hold): the greatest upper bound, with the greatest lower one."""
    lower = [each.lower for each in found if each.lower is not None]
    most = max(found, key=lambda each: each.upper)
    return most._replace(lower=max(lower, default=None))


# --- pairs chosen anew for each copy -------------------------------------------------------------


def _is_chosen_anew(question: CurveQuestion) -> bool:
    """Returns whether the curve is of several copies of one mechanism of which one pair dominates,
    and less is true: which of its pairs is played is decided before each copy."""
    curve = question.curve
    if curve.gaussian or len(curve.parts) != 1:
        return False
    [(part, count)] = curve.parts
    return count > 1 and isinstance(part, BoundedRange | TwoAnswersPoints)


def _choices(question: CurveQuestion) -> ChoiceProfile | None:
    """Returns the profile of the copies; None where they are too many."""
    from dpcompose.curves.backends.lattice.adaptive_choices import of_bounded_range, of_two_answers

    [(part, count)] = question.curve.parts
    if isinstance(part, TwoAnswersPoints):
        return of_two_answers(part.high, part.low, count)
    assert isinstance(part, BoundedRange)
    return of_bounded_range(part.epsilon, count)


def _epsilon_of_choices(question: CurveQuestion, delta: Fraction) -> Certified | None:
    found = _choices(question)
    if found is None:
        return None
    least = found.least_epsilon(math.nextafter(float_of(delta), 0.0))
    return Certified(Fraction(least), exact=False)


def _delta_of_choices(question: CurveQuestion, epsilon: Fraction) -> Certified | None:
    found = _choices(question)
    if found is None:
        return None
    least = found.least_delta(math.nextafter(float_of(epsilon), 0.0))
    return Certified(min(ONE, Fraction(least)), exact=False)


# --- the vertical line ---------------------------------------------------------------------------


def _may_have_transforms(question: CurveQuestion) -> bool:
    """Returns whether some part is no response, or responses are very many. Not all parts have
    transforms: that test needs numpy, which is slow to load, and so is made when the question is
    answered."""
    others = _split(question.curve)[1]
    return bool(others or is_merged(question.curve.parts)) and _may_need_grid(question)


def _epsilon_on_line(question: CurveQuestion, delta: Fraction) -> Certified | None:
    from dpcompose.curves.backends.vertical_line.contour import epsilon_on_line

    found = epsilon_on_line(question.curve, _log_below(delta), question.greatest_as_double)
    return None if found is None else Certified(Fraction(found))


def _delta_on_line(question: CurveQuestion, epsilon: Fraction) -> Certified | None:
    from dpcompose.curves.backends.vertical_line.contour import log_delta_on_line

    found = log_delta_on_line(question.curve, epsilon, question.effort.side)
    return None if found is None else Certified(_exp(found, up=True))


def _log_below(delta: Fraction) -> float:
    """Returns ln δ, rounded down."""
    log_delta = log_of(delta)
    return log_delta - 4e-16 * abs(log_delta) - 1e-300


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


# --- the lattice ---------------------------------------------------------------------------------


def _may_need_grid(question: CurveQuestion) -> bool:
    """Returns whether closed forms do not say all: they do of one sample."""
    return not isinstance(question.only, Sampled)


def _epsilon_on_grid(question: CurveQuestion, delta: Fraction) -> Certified | None:
    """Returns the least ε at δ by loss distributions on a grid; of very many different parts, by
    fewer that dominate them."""
    from dpcompose.curves.backends.lattice.engine import least_epsilon
    from dpcompose.curves.backends.lattice.grids import GridQuestion, epsilon_on_grid
    from dpcompose.curves.backends.lattice.loss_distribution import masses

    curve, rounded = _fewer(question.curve)
    responses, others = _split(curve)
    log_delta, most = _log_below(delta), question.greatest_as_double
    if others:
        asked = GridQuestion(responses, others, curve.gaussian, masses, question.effort)
        found = epsilon_on_grid(asked, log_delta, most)
    else:
        kept = _ensemble_and_store(responses, curve.gaussian, question.effort)
        found = least_epsilon(responses, (), curve.gaussian, log_delta, most, *kept)
    if found is None:
        return None
    lower = None if found.lower is None or rounded else Fraction(found.lower)
    exact = found.grid is None and not rounded
    return Certified(Fraction(found.upper), lower, exact, found.grid)


def _delta_on_grid(question: CurveQuestion, epsilon: Fraction) -> Certified | None:
    """Returns the least δ at ε by loss distributions on a grid, as `_epsilon_on_grid`."""
    from dpcompose.curves.backends.lattice.engine import least_log_delta
    from dpcompose.curves.backends.lattice.grids import GridQuestion, log_delta_on_grid
    from dpcompose.curves.backends.lattice.loss_distribution import masses

    curve, rounded = _fewer(question.curve)
    responses, others = _split(curve)
    if others:
        asked = GridQuestion(responses, others, curve.gaussian, masses, question.effort)
        found = log_delta_on_grid(asked, epsilon)
    else:
        kept = _ensemble_and_store(responses, curve.gaussian, question.effort)
        found = least_log_delta(responses, (), curve.gaussian, epsilon, *kept)
    if found is None:
        return None
    lower = None if found.lower is None or rounded else _exp(found.lower, up=False)
    exact = found.grid is None and not rounded
    return Certified(_exp(found.upper, up=True), lower, exact, found.grid)


def _ensemble_and_store(
    responses: dict[Fraction, int], gaussian: Fraction, effort: EvaluationEffort
) -> tuple[Ensemble, Shared] | tuple[None, None]:
    """Returns the rough ensemble of some responses and the store of their composed laws, where many
    questions are asked about them; else None for both."""
    from dpcompose.curves.backends.lattice.engine import shared_ensemble

    return shared_ensemble(tuple(responses.items()), gaussian) if effort.shared else (None, None)


def _fewer(curve: Curve) -> tuple[Curve, bool]:
    """Returns a curve of fewer parts that dominate the given ones where these are very many, else
    the curve itself; and whether anything was replaced."""
    if not is_merged(curve.parts):
        return curve, False
    return _question(replace(curve, parts=tuple(merged(curve.parts))), BEST).curve, True


# --- Rényi divergences ---------------------------------------------------------------------------


def epsilon_by_divergences(composition: Curve, delta: Fraction) -> Certified | None:
    """Returns a bound of the least ε at δ by Rényi divergences, from above only, which may be all
    that is known; None where they give none. It takes some hundred evaluations of a formula for
    each part."""
    found = None
    with suppress(*BEYOND_DOUBLES):
        found = renyi.epsilon_at(composition, delta)
    return None if found is None else Certified(found, None, False)


def delta_by_divergences(composition: Curve, epsilon: Fraction) -> Certified | None:
    """Returns a bound of the least δ at ε by Rényi divergences, as `epsilon_by_divergences`; None
    where it is 1."""
    found = ONE
    with suppress(*BEYOND_DOUBLES):
        found = renyi.delta_at(composition, epsilon)
    return Certified(found, None, False) if found < 1 else None


#: Those that have the profile itself, in the order of what they cost.
BACKENDS = (
    # Some evaluations in forty digits. From both sides, but for samples.
    Backend("closed forms", _has_formula, _epsilon_by_formula, _delta_by_formula),
    # Some evaluations of a sum or of lines. From above.
    Backend("one part by itself", _is_one_part, _epsilon_of_part, _delta_of_part),
    # Some hundred sums of rows of a grid. From above.
    Backend("pairs chosen anew", _is_chosen_anew, _epsilon_of_choices, _delta_of_choices),
    # One sum of some thousand terms, however many losses there are. From above, within 1e-7.
    Backend("vertical line", _may_have_transforms, _epsilon_on_line, _delta_on_line),
    # A transform for each different loss. From above; from both sides where no loss was rounded.
    Backend("lattice", _may_need_grid, _epsilon_on_grid, _delta_on_grid),
)
