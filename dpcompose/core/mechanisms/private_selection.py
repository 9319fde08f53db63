"""Private selection: the best of a random number of runs of a mechanism, as in tuning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from dpcompose import curves
from dpcompose.core.mechanisms.family import FamilyForm, drawn_by, family_theorem
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import FormKey, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves import (
    Curve,
    Grouped,
    Point,
    Points,
    Renyi,
    Response,
    curve_of,
    least_route,
    main_routes,
    upper_of,
)
from dpcompose.curves.families import equal_steps
from dpcompose.curves.rounding import ZERO, bits_up, exp_up, log1p_up, log_inverse_up, number

_ONE = Fraction(1)
#: The δ at which selections without a loss that is bounded are stated.
_STATED_DELTA = Fraction(1, 10**6)
#: Shares of the profile of a run, the first that it reaches being left to the δ of its last point.
_RESTS = (ZERO, Fraction(1, 10**15), _STATED_DELTA)
#: How many points a profile has.
_POINTS = 512
#: The Rényi divergence for a Poisson number of runs is told at so many orders in each octave of
#: λ - 1, of Gaussian runs and of others, and in so many octaves from the order where a run has
#: hardly any δ; with more ε than this, from that of this ε.
_ORDERS, _ORDERS_OF_OTHERS, _OCTAVES, _LARGE = 8, 4, 11, 6
#: Below minus this ε the δ of a run is taken to be 1.
_NO_ODDS = 100
#: Slopes of the power function that are nearer to each other than this share are not split.
_NEAR = Fraction(1, 1 << 30)
_BITS = 100
#: The least rest of a cut in digits, and how often the place of the best line is narrowed.
_MOST_DIGITS, _HALVINGS = 20, 30
#: Beyond this ε tests of a run are taken to have no errors: c hardly depends on it. A smaller δ
#: that is left there is a chance to fail, rounded up so far; a larger one is that of a large loss.
_MOST_TOP, _MOST_FAILURE, _ABOVE = 1000, Fraction(1, 100), 1 + Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Selected(Family):
    """Releases the best of a random number of runs of a mechanism. A shift is a number of steps of
    a relation.

    `law` is the law of that number: `negative_binomial` (truncated; `shape` η, 1 is geometric and 0
    logarithmic), `poisson`, `binomial` (`shape` trials), or `until_threshold`. `mean`: its mean, or
    the factor of δ. `stop`: γ. `of`: the guarantees of one run for one step; all of them together.
    """

    law: str
    mean: Fraction
    shape: Fraction
    stop: Fraction
    of: tuple[Guarantee, ...]

    def epsilon(self, shift: Fraction) -> Fraction | None:
        if not shift:
            return ZERO
        loss = ZERO
        for each in self.of:
            known = _run_epsilon(each, shift)
            if known is None:
                return None
            loss += known
        return 2 * loss if self._endless else loss + _cost(self, self._run(shift))

    def pair(self) -> tuple[Fraction, Fraction]:
        failure = self.mean * _failure(self._run(_ONE))
        delta = max(failure, _STATED_DELTA)
        found = self.loss(_ONE).epsilon(delta=delta) if delta < 1 else None
        return (ZERO, _ONE) if found is None else (found.upper, delta)

    def loss(self, shift: Fraction) -> Curve:
        if self._endless:
            epsilon = self.epsilon(shift)
            return Curve((), ZERO, ZERO) if epsilon is None else curves.pure(epsilon)
        return _profile(self, self._run(shift))

    @property
    def _endless(self) -> bool:
        """Returns whether runs never stop before one is good enough."""
        return self.law == "until_threshold" and not self.stop

    def describe(self, shift: Fraction) -> str:
        runs = " and ".join(
            each.notion.facts.describe(each)
            if each.noise is None
            else each.noise.describe(each.shift)
            for each in self.of
        )
        return f"the best of {self._number()} of {runs}"

    def _number(self) -> str:
        """Returns the number of runs in words."""
        if self.law == "until_threshold":
            return f"runs until a threshold, stopped with chance {number(self.stop)} each,"
        law = self.law.replace("_", " ")
        if self.law == "negative_binomial" and self.shape in (0, 1):
            law = "geometric" if self.shape else "logarithmic"
        return f"about {number(self.mean)} runs ({law})"

    def _run(self, shift: Fraction) -> Curve:
        """Returns the privacy loss of one run at a shift."""
        return Curve().compose(*(_run_loss(each, shift) for each in self.of))


def _run_epsilon(said: Guarantee, shift: Fraction) -> Fraction | None:
    """Returns the ε of one guarantee of a run at group distance `shift`; None if it has none at δ =
    0.

    `said`: the guarantee for one step of its relation.
    """
    if said.noise is not None:
        return said.noise.epsilon(said.shift * shift)
    return said.value * math.ceil(shift) if said.notion is Notion.PURE else None


def _run_loss(said: Guarantee, shift: Fraction) -> Curve:
    """Returns the privacy loss of one guarantee of a run at group distance `shift`; `said`: for one
    step."""
    if said.noise is not None:
        return said.noise.loss(said.shift * shift) if said.shift else Curve()
    steps = math.ceil(shift)
    match said.notion:
        case Notion.PURE:
            return curve_of(equal_steps(said.value, steps)) if said.value else Curve()
        case Notion.APPROX:
            once = curves.approx(said.value, said.delta)
        case Notion.ZCDP:
            return curves.zcdp(said.value * steps**2)
        case Notion.GDP:
            return curves.gdp(said.value * steps)
        case Notion.RDP:
            once = curves.rdp(said.points)
        case Notion.PROFILE:
            once = curves.profile(said.points)
    return once if steps == 1 or once == Curve() else curve_of(Grouped(once, steps))


# --- the theorem ----------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _cost(selected: Selected, run: Curve) -> Fraction:
    """Returns c, by which the ε of a selection is above that of one run, rounded up.

    `run`: the privacy loss of one run. Lines above the power function of the run are added where
    they make c smaller.
    """
    run = curves.by_points(run)
    if selected.law == "poisson":
        return selected.mean * run.delta(epsilon=0).upper
    top = _top(run)
    slopes = {at: run.delta(epsilon=at).upper for at in (ZERO, min(top, Fraction(_MOST_TOP)))}
    worst = _fall(selected, ZERO, _ONE)
    while top <= _MOST_TOP:
        worst, left, right = max(_corners(selected, slopes))
        middle = bits_up(abs(left + right) / 2, _BITS)
        if abs(left - right) <= top * _NEAR or middle in slopes:
            break
        slopes[middle] = run.delta(epsilon=middle).upper
    factor = selected.shape + 1 if selected.law == "negative_binomial" else _ONE
    if selected.law == "binomial":
        factor = selected.shape - 1
    return bits_up(factor * log1p_up(worst), _BITS)


def _corners(
    selected: Selected, slopes: dict[Fraction, Fraction]
) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """Yields for each corner of the least of the lines how far φ' falls there, as a ratio less 1.

    φ is the generating function of the number of runs. With it come the logarithms of the slopes of
    the lines at the two sides of the corner. `slopes`: ε's with the δ of the run. The ratio is
    monotone between corners.
    """
    lines = [(ZERO, _ONE, -max(slopes))]
    for epsilon, delta in slopes.items():
        steep = exp_up(epsilon)
        lines += [(steep, delta, epsilon), (1 / steep, 1 - (1 - delta) / steep, -epsilon)]
    lines.sort(key=lambda line: (-line[0], line[1]))
    hull: list[tuple[Fraction, Fraction, Fraction, Fraction]] = []  # with where each begins
    for slope, intercept, at in lines:
        begins = ZERO
        while hull:
            last, height, _, start = hull[-1]
            if last > slope:
                begins = (intercept - height) / (last - slope)
                if begins > start:
                    break
            elif height <= intercept:
                begins = _ONE
                break
            hull.pop()
        if begins < 1:
            hull.append((slope, intercept, at, max(begins, ZERO)))
    before = hull[0][2]
    for slope, intercept, at, x in hull:
        y = min(_ONE, intercept + slope * x)
        yield _fall(selected, x, max(x, y)), before, at
        before = at


def _fall(selected: Selected, x: Fraction, y: Fraction) -> Fraction:
    """Returns φ'(1-x)/φ'(1-y) - 1 for x ≤ y, φ the generating function of the number of runs.

    Without the power of the law, which is applied to the ratio later.
    """
    if selected.law == "binomial":
        chance = selected.mean / selected.shape
        return chance * (y - x) / (1 - chance * y)
    return (1 - selected.stop) * (y - x) / (selected.stop + (1 - selected.stop) * x)


def _top(run: Curve) -> Fraction:
    """Returns the ε beyond which the δ of one run is taken as constant."""
    failure = _failure(run)
    for rest in _RESTS:
        found = run.epsilon(delta=failure + (1 - failure) * rest)
        if found is not None:
            return max(bits_up(found.upper, _BITS), _NEAR)
    return _ONE


@lru_cache(maxsize=64)
def _failure(run: Curve) -> Fraction:
    """Returns the δ of a run that hardly any ε makes smaller.

    Two steps of what fails with some chance fail more often than `no_failure` says, and a profile
    may end with a δ.
    """
    known, last = 1 - run.no_failure, run.delta(epsilon=_MOST_TOP).upper
    return last * _ABOVE if known + _RESTS[1] < last < _MOST_FAILURE else known


@lru_cache(maxsize=64)
def _profile(selected: Selected, run: Curve) -> Curve:
    """Returns the privacy loss of a selection, as certified points (ε, δ) of its profile.

    `run`: the privacy loss of one run.
    """
    failure = selected.mean * (1 - run.no_failure)
    if failure >= 1:
        return Curve((), ZERO, ZERO)
    if not run.parts and not run.gaussian:
        return Curve((), ZERO, 1 - failure)
    other = _in_renyi_terms(selected, run) if selected.law == "poisson" else None
    # It is asked some hundred times.
    run = curves.by_points(run)
    cost = _cost(selected, run)
    if len(run.parts) == 1 and not run.gaussian and run.no_failure == 1 and other is None:
        [(part, count)] = run.parts
        if isinstance(part, Response) and count == 1:
            return curve_of(Response(part.epsilon + cost))
    cuts = _cuts(selected, run, cost)
    first = 0
    last = cost + _top(run)
    far = None if other is None else other.epsilon(delta=_RESTS[1])
    step = (last if far is None else min(last, far.upper)) / _POINTS
    found: list[tuple[Fraction, Fraction]] = []
    for epsilon in (*(i * step for i in range(_POINTS + 1)), last):
        delta = _ONE if other is None else _delta_of_many(other, epsilon)
        for n, cut in enumerate(cuts[first:], first):
            among = over_runs(_delta(run, epsilon - cut.cost), selected.mean)
            delta = min(delta, among + cut.rest)
            # Less rest makes it larger here, and where ε is smaller.
            if among >= cut.rest:
                first = max(n - 1, 0)
                break
        rest = bits_up(max(delta - failure, ZERO) / (1 - failure), _BITS)
        if rest < 1 and (not found or rest < found[-1][1]):
            found.append((epsilon, rest))
    return curve_of(Points(tuple(found)), ZERO, 1 - failure) if found else Curve((), ZERO, ZERO)


class _Cut(NamedTuple):
    """A set of the highest scores of a run. With a chance of at most `rest` the best run has a
    score outside of it; for scores in it the loss grows by `cost` (c).
    """

    rest: Fraction
    cost: Fraction


def _cuts(selected: Selected, run: Curve, cost: Fraction) -> list[_Cut]:
    """Returns sets of highest scores of one run to which the analysis of a selection is limited,
    larger and larger (`rest`, the chance outside, falls to 0 for the last one, all scores).

    Only a Poisson number of runs has further ones: its best run is far above most scores. `cost`: c
    for all scores.
    """
    found = []
    if selected.law == "poisson":
        for digits in range(1, _MOST_DIGITS + 1):
            # Where δ is a power of ten, as most are, this is near the best share of it.
            rest = Fraction(8, 10 ** (digits + 1))
            share = log_inverse_up(rest) / selected.mean
            if share >= 1:
                break
            c = selected.mean * _rise(run, share)
            if c < cost:
                found.append(_Cut(rest, c))
    return [*found, _Cut(ZERO, cost)]


def _rise(run: Curve, share: Fraction) -> Fraction:
    """Returns the largest β(x) - x for x up to `share`, β the power function of a run, by the best
    line above β."""
    low, high = ZERO, min(_top(run), Fraction(_MOST_TOP))

    def at(epsilon: Fraction) -> Fraction:
        return run.delta(epsilon=epsilon).upper + (exp_up(epsilon) - 1) * share

    best = at(ZERO)
    # It is convex in e^ε.
    for _ in range(_HALVINGS):
        left, right = (bits_up((2 * low + high) / 3, 60), bits_up((low + 2 * high) / 3, 60))
        below, above = at(left), at(right)
        best = min(best, below, above)
        low, high = (low, right) if below <= above else (left, high)
    return bits_up(best, _BITS)


def _in_renyi_terms(selected: Selected, run: Curve) -> Curve | None:
    """Returns the Rényi divergences of the best of a Poisson number of runs; None if those of a run
    are unknown.

    Up to the order λ with ln(λ/(λ-1)) = ε a run has no δ there: the first order is this one.
    """
    if run.no_failure < 1 or math.isinf(curves.renyi_divergence(run, 1 + _NEAR)):
        return None
    orders, points = _ORDERS_OF_OTHERS if run.parts else _ORDERS, curves.by_points(run)
    first = 1 / math.expm1(min(_top(points), Fraction(_LARGE))) * (1 - 1e-6)
    found: list[tuple[Fraction, Fraction]] = []
    for i in range(orders * _OCTAVES):
        more = Fraction(first * 2 ** (i / orders))
        at = log1p_up(1 / more) * (1 - _NEAR)
        divergence = curves.renyi_divergence(run, 1 + more)
        if math.isfinite(divergence):
            once = Fraction(divergence) + selected.mean * _delta(points, at)
            found.append((1 + more, poisson_divergence(once, selected.mean, more)))
    return curve_of(Renyi(tuple(found))) if found else None


def _delta_of_many(curve: Curve, epsilon: Fraction) -> Fraction:
    """Returns the least δ of a curve at an ε, one of many that are asked for."""
    found = upper_of(least_route(main_routes(curve, Point(epsilon=epsilon, many=True)))[1])
    return _ONE if found is None else found


def _delta(run: Curve, epsilon: Fraction) -> Fraction:
    """Returns the least δ of a run at any real ε, also below 0, for both orders of the tables."""
    if -epsilon > _NO_ODDS:
        return _ONE
    rest = replace(run, no_failure=_ONE).delta(epsilon=abs(epsilon)).upper
    at = 1 - run.no_failure * (1 - rest)
    return at if epsilon >= 0 else 1 - (1 - at) / exp_up(-epsilon)


@family_theorem(
    "private-selection",
    title="The best of a random number of runs",
    place="Theorem",
    formula="δ_A(ε+c) ≤ m·δ_Q(ε)",
    given=drawn_by("public law, private number", Selected),
)
def over_runs(once: Fraction, mean: Fraction) -> Fraction:
    """Returns the δ of a selection at ε + c.

    `once`: the δ of one run at ε; `mean`: the mean number of runs.
    """
    return min(_ONE, mean * once)


def poisson_divergence(once: Fraction, mean: Fraction, more: Fraction) -> Fraction:
    """Returns the Rényi divergence of order 1 + `more` of the best of a Poisson number of runs.

    `once`: D_λ(Q) + m·δ_Q(ln(λ/(λ-1))) of the theorem, Q a run, λ that order, m the `mean` number
    of runs.
    """
    most = mean + exp_up(-(mean + more * once))
    return bits_up(once + log1p_up(max(most - 1, ZERO)) / more, _BITS)


# --- laws -----------------------------------------------------------------------------------------


def stop_of(shape: Fraction, mean: Fraction) -> Fraction:
    """Returns γ of the truncated negative binomial law with η (`shape`) and this mean, rounded
    down.

    A smaller γ has a larger mean and a larger c, so that c is safe; the mean is as stated.
    """
    if shape == 1:
        return 1 / mean

    def runs(stop: float) -> float:
        if shape == 0:
            return (1 - stop) / (stop * -math.log(stop))
        eta = float(shape)
        return eta * (1 - stop) / (stop * -math.expm1(eta * math.log(stop)))

    low, high = 1e-300, 1.0
    for _ in range(2000):
        middle = math.sqrt(low * high)
        if not low < middle < high:
            break
        if runs(middle) > mean:
            low = middle
        else:
            high = middle
    # The mean is computed to a few ulps for every double below 1.
    return Fraction(low) * (1 - Fraction(1, 10**9))


FORM = FamilyForm(
    name="select",
    family=Selected,
    about="The best of a random number of runs of a mechanism, as in the tuning of a model.",
    keys=(
        FormKey("of", Sort.RUN, "One run: a mechanism without a name, or a list of them."),
        FormKey("runs", Sort.RUNS, "The law of the number of runs, with its mean."),
    ),
    states=("pure", "approx"),
    trusted=Assumption(
        "the number of runs of {} is drawn from the law stated and never revealed, scores are "
        "computed from the outputs of runs, and each run draws its settings anew",
        shortly="number of runs as stated, kept secret",
    ),
    by_steps=True,
)
