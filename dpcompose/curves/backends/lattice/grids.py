"""Choice of the grid for parts other than randomized responses, and the answers on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial

from dpcompose.curves.backends.closed_forms.max_loss import greatest_loss
from dpcompose.curves.backends.lattice.closed_laws import response
from dpcompose.curves.backends.lattice.components import (
    Ensemble,
    moments,
    tilt_for_delta,
    tilt_for_epsilon,
)
from dpcompose.curves.backends.lattice.engine import (
    LatticeBound,
    Laws,
    Responses,
    Shared,
    common_step,
    dyadic,
    least_epsilon,
    least_log_delta,
    rough_ensemble,
)
from dpcompose.curves.backends.lattice.lattice import window
from dpcompose.curves.backends.lattice.loss_distribution import base_law
from dpcompose.curves.backends.lattice.masses import Losses, Masses
from dpcompose.curves.backends.lattice.rare_losses import BySize, Other
from dpcompose.curves.backends.lattice.sampled_gaussian import sampled_gaussian
from dpcompose.curves.backends.lattice.samples import losses_behind
from dpcompose.curves.backends.lattice.sizes import far, natural_step, scale
from dpcompose.curves.backends.lattice.tuning import (
    FEW,
    FINE,
    KEPT,
    MAX_POINTS,
    MOST_LOG,
    MOST_POINTS,
    TOLERANCE,
)
from dpcompose.curves.curve import (
    BEST,
    SHARED,
    EvaluationEffort,
    Grouped,
    MechanismLoss,
    Part,
    PoissonGroup,
    PoissonReplaceOne,
    ReplacedRows,
    Sampled,
    leans,
)
from dpcompose.curves.rounding.doubles import LEAST, float_of

#: Steps within the deviation of the least loss.
_FINE = 32
#: Parts whose losses add up to less than this share of the deviation of the whole are ignored when
#: the step of a grid is chosen.
_NOTHING = 1e-2
Others = Sequence[tuple[Part, int]]
#: Puts a part on a grid, with the tables in one order.
LawOf = Callable[[Part, Fraction, str], Masses]


@dataclass(frozen=True, slots=True)
class GridQuestion:
    """A composition to put on a grid: the responses (count by ε), the other parts with counts, μ²
    of the Gaussian.

    `law_of`: makes the distribution of a part on a grid; `effort`: how much work may be done.
    """

    responses: Responses
    others: Others
    gaussian: Fraction
    law_of: LawOf
    effort: EvaluationEffort = BEST


def epsilon_on_grid(asked: GridQuestion, log_delta: float, most: float) -> LatticeBound | None:
    """Returns the least ε at ln δ = `log_delta`, the greater of the two orders of the tables; None
    if none is found. `most`: an ε that is known to hold."""

    def answer(laws: Laws, rough: Ensemble, shared: Shared | None = None) -> LatticeBound | None:
        return least_epsilon(asked.responses, laws, asked.gaussian, log_delta, most, rough, shared)

    by_size = _worse_by_size(asked, lambda whole, enough: whole.epsilon(log_delta, most, enough))
    method = _Method(answer, lambda parts: tilt_for_delta(parts, log_delta))
    return by_size or _worse_order(asked, method)


def log_delta_on_grid(asked: GridQuestion, epsilon: Fraction) -> LatticeBound | None:
    """Returns ln of the least δ at `epsilon`, the greater of the two orders of the tables; None if
    none is found."""

    def answer(laws: Laws, rough: Ensemble, shared: Shared | None = None) -> LatticeBound | None:
        return least_log_delta(asked.responses, laws, asked.gaussian, epsilon, rough, shared)

    at = float_of(epsilon)
    by_size = _worse_by_size(asked, lambda whole, enough: whole.log_delta(at, enough))
    method = _Method(answer, lambda parts: tilt_for_epsilon(parts, at))
    return by_size or _worse_order(asked, method)


def _worse_by_size(
    asked: GridQuestion, answer: Callable[[BySize, float], LatticeBound | None]
) -> LatticeBound | None:
    """Returns the greater result of the two orders of the tables for a composition with samples of
    rare large losses, which are split by size; None if there is none, or no result."""
    if asked.effort.rough or asked.effort.shared or not any(is_rare(p) for p, _ in asked.others):
        return None
    worst: LatticeBound | None = None
    for side in sides(asked.others, asked.effort.side):
        found = answer(_by_size(asked, side), -math.inf if worst is None else worst.upper)
        if found is None:
            return None
        worst = found if worst is None else max(found, worst, key=_upper)
    return worst


def is_rare(part: Part) -> bool:
    """Returns whether a part is a Poisson sample some of whose losses are so rare and large beside
    all others that no even grid holds both."""
    if not isinstance(part, Sampled) or part.replace or part.side == "both":
        return False
    return bool(part.rate and far(part) > FEW * scale(part))


def _by_size(asked: GridQuestion, side: str) -> BySize:
    """Returns the losses of a question, for one order of the tables: of samples of rare large
    losses as they are, and all else as laws on any grid."""
    draws = []
    every: list[tuple[Callable[[Fraction], Masses], float, int]] = []
    for part, count in asked.others:
        if isinstance(part, Sampled) and is_rare(part):
            draws.append((losses_behind(part, side, base_law), count))
        else:
            width = max(scale(part) / _FINE, far(part) / FINE)
            every.append((partial(_law_of, asked.law_of, part, side), width, count))
    for epsilon, count in asked.responses.items():
        every.append((partial(response, epsilon), float_of(epsilon) / 2, count))
    if asked.gaussian:
        width = math.sqrt(float_of(asked.gaussian)) / _FINE
        normal = partial(sampled_gaussian, asked.gaussian, Fraction(1), added=False)
        every.append((normal, width, 1))
    others = []
    for on_grid, width, count in every:
        law = on_grid(dyadic(Fraction(max(width, LEAST))))
        others.append(Other(on_grid, Losses(law.losses(), law.p, law.infinite), count))
    return BySize(draws, others)


@dataclass(frozen=True, slots=True)
class _Method:
    """How a question is answered by laws on a grid (`answer`), and the tilt by which the grid is
    chosen."""

    answer: Callable[[Laws, Ensemble, Shared | None], LatticeBound | None]
    tilt: Callable[[Ensemble], float]


def _worse_order(asked: GridQuestion, method: _Method) -> LatticeBound | None:
    """Returns the greater result of the two orders of the tables; an order whose bound on the
    coarse grid is below the result of the other is not put on a fine grid."""
    grids = [_grid(asked, side) for side in sides(asked.others, asked.effort.side)]
    if len(grids) == 1 and not asked.effort.rough:
        return grids[0].best(method)
    answers = [(method.answer(*grid.coarse, grid.shared_coarse), grid) for grid in grids]
    answers.sort(key=lambda pair: _upper(pair[0]), reverse=True)
    if asked.effort.rough:
        return answers[0][0]
    (_, likely), (bound, other) = answers
    worst = likely.best(method)
    if worst is None or _upper(bound) <= worst.upper:
        return worst
    found = other.best(method)
    return max(found, worst, key=_upper)


def _upper(result: LatticeBound | None) -> float:
    return math.inf if result is None else result.upper


def sides(others: Others, asked: str | None = None) -> tuple[str, ...]:
    """Returns the orders of the tables to try: the one asked for, else both where the loss of some
    part depends on the order."""
    if asked is not None:
        return (asked,)
    return ("removed", "added") if any(leans(part) for part, _ in others) else ("removed",)


def _grid(asked: GridQuestion, side: str) -> Grid:
    """Returns the grids of a question for one order of the tables; kept ones where many questions
    are asked about the same parts."""
    if not asked.effort.shared:
        return Grid(asked, side)
    responses, others = tuple(asked.responses.items()), tuple(asked.others)
    return _kept_grid(responses, others, asked.gaussian, asked.law_of, side)


@lru_cache(maxsize=8)
def _kept_grid(
    responses: tuple[tuple[Fraction, int], ...],
    others: tuple[tuple[Part, int], ...],
    gaussian: Fraction,
    law_of: LawOf,
    side: str,
) -> Grid:
    return Grid(GridQuestion(dict(responses), others, gaussian, law_of, SHARED), side)


@lru_cache(maxsize=128)  # the same parts are composed with many others
def _coarse_law(law_of: LawOf, part: Part, step: Fraction, side: str) -> Masses:
    return law_of(part, step, side)


def _law_of(law_of: LawOf, part: Part, side: str, step: Fraction) -> Masses:
    """Returns the law of a part on a grid, with the step as the last argument."""
    return law_of(part, step, side)


class Grid:
    """The distributions of all parts for one order of the tables, on a coarse and on a fine
    grid."""

    def __init__(self, asked: GridQuestion, side: str) -> None:
        self.asked, self.side = asked, side
        sizes = [(min(scale(part), 1e6), count) for part, count in asked.others]
        self.spread = math.sqrt(
            sum(count * size**2 for size, count in sizes)
            + sum(count * min(float_of(e), 1.3) ** 2 for e, count in asked.responses.items())
            + float_of(asked.gaussian)
        )
        # What adds next to nothing needs no grid of its own.
        seen = (size for size, count in sizes if count * size > _NOTHING * self.spread)
        self.least = min(seen, default=self.spread)
        self.natural = _natural(asked)
        shares = asked.effort.shared
        self.shared = Shared() if shares else None
        self.shared_coarse = Shared() if shares else None
        self._fine: dict[Fraction, Laws] = {}

    @cached_property
    def longest(self) -> float:
        """Returns about the greatest loss of one part that has a noticeable chance."""
        return max(far(part) for part, _ in self.asked.others)

    @cached_property
    def coarse(self) -> tuple[Laws, Ensemble]:
        """Returns the laws on the coarse grid with their ensemble: good for choosing the tilt, and
        a bound as well."""
        step = self.natural
        if step is None or 40 * self.spread / float_of(step) > 2 * FINE:
            fine = max(self.least / 16, self.spread / FINE, self.longest / (2 * FINE), LEAST)
            step = dyadic(Fraction(fine))
        laws = self._coarse_on(step)
        short = FEW // max(len(law.p) for law, _ in laws)
        if self.asked.effort.rough and step != self.natural and short > 1:
            # Bounded losses end sooner than others of their deviation.
            laws = self._coarse_on(step / 2 ** short.bit_length())
        return laws, rough_ensemble(self.asked.responses, laws, self.asked.gaussian)

    def _coarse_on(self, step: Fraction) -> Laws:
        of, others = self.asked.law_of, self.asked.others
        return tuple((_coarse_law(of, part, step, self.side), count) for part, count in others)

    def best(self, method: _Method) -> LatticeBound | None:
        """Returns the result on a grid as fine as the tolerance asks, or as is possible."""
        laws, rough = self.coarse
        natural, theta = self.natural, method.tilt(rough)
        bottom, top = window(rough, theta)
        span = max(top - bottom, self.least)
        if natural is not None:
            if laws[0][0].step != natural and span / float_of(natural) <= MAX_POINTS // 2:
                laws = self._on(natural)
            if laws[0][0].step == natural:
                found = method.answer(laws, rough, self.shared)
                return None if found is None else replace(found, grid=None)
        here = moments(rough, theta)
        center = max(here.mean, 1e-3 * self.spread)
        pieces = sum(n for _, n in self.asked.others) + sum(self.asked.responses.values())
        # Splitting adds at most step²/4 to the variance of each loss, and that grows ε by
        # (1+θ)/2 of it, if the sum is smooth; for one that is not, steps are short beside each.
        # Laws take longer than responses, so that ε may grow by ten times the tolerance.
        step = math.sqrt(40 * TOLERANCE * center / ((1 + theta) * pieces))
        slow = any(isinstance(part, Grouped) for part, _ in self.asked.others)
        most = MAX_POINTS // 4 if self.shared is None and not slow else MOST_POINTS
        # Neither the window nor the law of any part has too many points there; no answer depends on
        # how far beyond doubles e to a loss is.
        least = max(span / most, min(self.longest, MOST_LOG) / MAX_POINTS)
        step = max(min(step, self.least / _FINE, self.longest / FINE), least)
        if self.shared is not None:
            step = float(dyadic(Fraction(step)) / 2)
        # A window that is wider there than on the coarse grid may have too many points.
        found = method.answer(self._on(_anchored(self.asked, step)), rough, self.shared)
        while found is None and (step := 4 * step) < laws[0][0].step:
            found = method.answer(self._on(_anchored(self.asked, step)), rough, self.shared)
        return found or method.answer(laws, rough, self.shared)

    def _on(self, step: Fraction) -> Laws:
        """Returns the laws on one grid, kept where many questions are asked about the same
        parts."""
        if step not in self._fine:
            if len(self._fine) == KEPT:
                self._fine.clear()
            asked = self.asked
            self._fine[step] = tuple(
                (asked.law_of(part, step, self.side), count) for part, count in asked.others
            )
        return self._fine[step]


def _natural(asked: GridQuestion) -> Fraction | None:
    """Returns the widest grid on which all losses of the question lie, if there is one that is not
    too fine."""
    steps = [natural_step(part) for part, _ in asked.others]
    if any(step is None for step in steps):
        return None
    halves = {step / 2: 1 for step in steps if step}
    return common_step({**halves, **dict.fromkeys(asked.responses, 1)})


def _anchored(asked: GridQuestion, fine: float) -> Fraction:
    """Returns a step of at most `fine` on whose grid the single losses with a chance above 0 lie,
    as far as possible."""
    anchors: dict[Fraction, int] = {}
    for part, _ in asked.others:
        match part:
            case MechanismLoss():
                if (anchor := part.anchor()) is not None:
                    anchors[anchor / 2] = 1
            case Sampled() | PoissonReplaceOne() | PoissonGroup() | ReplacedRows() | Grouped() if (
                greatest := greatest_loss(part)
            ) is not None:
                anchors[greatest / 2] = 1
            case _:
                if (step := natural_step(part)) is not None:
                    anchors[step / 2] = 1
    common = common_step({**anchors, **dict.fromkeys(asked.responses, 1)})
    if common is None or float_of(common) < fine:
        common = common_step(anchors)
    if common is None or float_of(common) < fine:
        power = dyadic(Fraction(fine)) / 64
        return power * int(Fraction(fine) / power)
    return common / math.ceil(float_of(common) / fine)
