"""The largest scale of a spec's parameters that keeps a budget.

Every candidate has the numbers that would be written, and its certified value decides: the search
only chooses where to look, so that no result is ever above the budget.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.mechanisms import form_of
from dpcompose.core.mechanisms.accuracy import HIGHEST, accuracy_of
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves import COMPARED
from dpcompose.curves.rounding import sqrt_up
from dpcompose.errors import DpcomposeError, nearest, quoted
from dpcompose.faults import listing
from dpcompose.planning.scaling import (
    Parameter,
    largest,
    parameters,
    rounded_down,
    scaled,
    scaled_values,
)
from dpcompose.planning.what_if import Put, what_if
from dpcompose.report.assumptions import meanwhile
from dpcompose.report.certify import certify
from dpcompose.report.wording import number
from dpcompose.resolve import Resolved, resolve
from dpcompose.source import Source, load

#: Scales are tried from the first to the second, also relative to the one that is tried first.
SMALLEST, LARGEST = Fraction(1, 10**9), Fraction(10**9)
#: The most candidates; each is analysed.
MOST_TRIED = 80
#: Digits of the scale that is found: the next such number is over the budget.
_DIGITS = 7
#: The factor from one candidate to the next while only one side of the answer is known.
_FAR = Fraction(16)
#: After so many candidates interpolation has failed, and every other one halves what is left.
_SMOOTH = 12
#: Guesses are not further apart than by the power of e to this.
_MOST = 700.0
_SHORT = 64  # bits of a scale that can be written exactly


class Unfit(DpcomposeError):
    """No scale meets the budget; the message says why.

    `over`: too much is spent at every scale, or there is no finite bound; else the call is wrong.
    """

    def __init__(self, message: str, over: bool = False) -> None:
        super().__init__(message)
        self.over = over


@dataclass(frozen=True, slots=True)
class Fitted:
    """A spec whose parameters are scaled so that it meets a budget.

    `scale`: the common factor; each mechanism is scaled by that times its weight. `spent`: the
    value compared with `limit`. `exact`: it equals the limit, so that no larger scale would do.
    `doubtful`: mechanisms with several guarantees, which were scaled separately. `meanwhile`: what
    is assumed of the data between outputs.
    """

    text: str
    scale: Fraction
    spent: Fraction
    limit: Budget
    exact: bool
    scaled: tuple[str, ...]
    doubtful: tuple[str, ...]
    meanwhile: tuple[str, ...] = ()


def fit(
    source: Source,
    limit: Budget | None,
    free: Mapping[str, Fraction],
    default: Budget | None = None,
    step: Callable[[], None] = lambda: None,
    fixed: Collection[str] = (),
) -> Fitted:
    """Returns the largest scale for the mechanisms of `free`, with their weights; empty: for all
    but those that are `fixed`.

    `limit`: None for the spec's own budget. `default`: the budget of a spec that has none. `step`
    is called after each spec that was tried. Raises InvalidSpec, Unfit and scaling.Unscalable.
    """
    resolved = resolve(source)
    if resolved.ledger:
        raise Unfit(
            "`fit` plans parameters before the first output, and these are chosen along the way: "
            "`dpcompose total --remaining` says what one more release may spend"
        )
    asked = limit or resolved.budget
    if asked is None and resolved.adversary_budget is not None:
        raise Unfit(
            "its budget is against the adversary alone, and `fit` keeps one of differential "
            "privacy: pass --epsilon, --rho or --mu"
        )
    asked = asked or default
    if asked is None:
        raise Unfit(
            "there is no budget to fit: give the spec a `budget:`, or pass --epsilon, --rho or --mu"
        )
    known = parameters(source)
    weights = _weights({name: known[name] for name in known if free or name not in fixed}, free)
    scaled(source, weights)  # raises Unscalable before any search
    search = _Search(source, asked, weights, step)
    told = tuple(each.says for each in meanwhile(resolved.problem))
    if not weights and fixed:
        spent = search.value(Fraction(1))
        if spent is None or not search.fits(Fraction(1)):
            amount = "" if spent is None else f", {number(spent)} of {number(search.limit_amount)}"
            raise Unfit(f"too much is spent{amount}, and no other mechanism is scaled", over=True)
        return Fitted(scaled(source, {}), Fraction(1), spent, asked, False, (), (), told)
    scale, exact = search.run(resolved)
    spent, _ = search.tried[scale]
    assert spent is not None
    text = scaled(source, search.factors(scale))
    doubtful = tuple(name for name in weights if _several(source, known[name][0]))
    return Fitted(text, scale, spent, asked, exact, tuple(weights), doubtful, told)


def _weights(
    known: Mapping[str, tuple[Parameter, ...]], free: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Returns the weights of the mechanisms to scale: all with parameters if none is named."""
    for name in free:
        if name not in known:
            raise Unfit(f"--free {name}: no mechanism that reads data has this name")
        if not known[name]:
            raise Unfit(f"--free {name}: it has no parameter")
    return dict(free) if free else {name: Fraction(1) for name, found in known.items() if found}


def _several(source: Source, parameter: Parameter) -> bool:
    """Returns whether the mechanism of a parameter has several guarantees."""
    tree = source.value
    assert isinstance(tree, dict) and isinstance(tree["mechanisms"], list)
    entry = tree["mechanisms"][int(parameter.path[1])]
    several = entry.get("guarantees") if isinstance(entry, dict) else None
    return isinstance(several, list) and len(several) > 1


@dataclass(slots=True)
class _Search:
    """A search for the largest scale; `tried`: each scale with its value and whether it fits.

    `step` is called after each. `compared`: whether numbers at a δ may come from routes used for
    comparison only. `away`: how far the next candidate is beyond the last guess, if guesses stay on
    one side.
    """

    source: Source
    limit: Budget
    weights: dict[str, Fraction]
    step: Callable[[], None]
    tried: dict[Fraction, tuple[Fraction | None, bool]] = field(default_factory=dict)
    compared: bool = True
    away: int = 1

    @property
    def limit_amount(self) -> Fraction:
        """Returns the budget in its main parameter."""
        return self.limit.parameters[0][1]

    @property
    def low(self) -> Fraction | None:
        """Returns the largest scale known to meet the budget; None if there is none yet."""
        return max((scale for scale, (_, fits) in self.tried.items() if fits), default=None)

    @property
    def high(self) -> Fraction | None:
        """Returns the least larger scale known not to meet the budget; None for none yet."""
        low = self.low or 0
        return min((scale for scale in self.tried if scale > low), default=None)

    def factors(self, scale: Fraction) -> dict[str, Fraction]:
        """Returns the factor of each mechanism at a scale: the scale times its weight."""
        return {name: scale * weight for name, weight in self.weights.items()}

    def fits(self, scale: Fraction) -> bool:
        """Returns whether the spec at this scale meets the budget."""
        if scale not in self.tried:
            values = scaled_values(self.source, self.factors(scale))
            problem = what_if(self.source, (Put(each.path, new) for _, each, new in values))
            found = certify(problem, [self.limit], compared=self.compared, judged=True)
            self.compared = any(each.rule in COMPARED for each in found.at_delta)
            verdict = found.held(self.limit)
            value = None if verdict.slack is None else self.limit_amount - verdict.slack
            self.tried[scale] = value, verdict.ok
            self.step()
        return self.tried[scale][1]

    def value(self, scale: Fraction) -> Fraction | None:
        """Returns what is spent at this scale, in the budget's main parameter, if finite."""
        self.fits(scale)
        return self.tried[scale][0]

    def run(self, resolved: Resolved) -> tuple[Fraction, bool]:
        """Returns the largest scale found, and whether it spends exactly the budget."""
        one = Fraction(1)
        if not self.fits(one) and self.value(one) is None:
            why = certify(resolved.problem, [self.limit]).held(self.limit).why
            raise Unfit(why or "there is no finite bound", over=True)
        spent = self.value(one)
        if spent and self.limit_amount and self._spends_all(self.limit_amount / spent):
            return self.limit_amount / spent, True
        start = self.limit_amount / spent if spent and self.limit_amount else one
        smallest, largest = min(SMALLEST, start * SMALLEST), max(LARGEST, start * LARGEST)
        while len(self.tried) < MOST_TRIED:
            low, high = self.low, self.high
            if low is None and high is not None and high <= smallest:
                raise Unfit(self._too_much(high), over=True)
            if high is None and low is not None and low > largest:
                raise Unfit(
                    "the parameters may grow without end: they are in no worst change, "
                    "or every bound of the rest covers them"
                )
            if low is not None and high is not None:
                if _next(low) >= high:
                    break
                line = self._line(low, high)
                if line is not None and self._spends_all(line):
                    return line, True
            self.fits(self._candidate(low, high))
        if self.low is None:
            raise Unfit(self._too_much(min(self.tried)), over=True)
        return self.low, False

    def _spends_all(self, scale: Fraction) -> bool:
        """Returns whether a scale spends exactly the budget; False for one of many digits."""
        bits = scale.numerator.bit_length() + scale.denominator.bit_length()
        if bits > _SHORT or not self.weights or scale <= 0:
            return False
        return self.fits(scale) and self.value(scale) == self.limit_amount

    def _too_much(self, scale: Fraction) -> str:
        """Returns the message that the budget is exceeded even at this smallest scale."""
        value = self.value(scale)
        names = listing(list(self.weights))
        spent = (
            "" if value is None else f": {number(value)} of {number(self.limit_amount)} is spent"
        )
        if not self.limit_amount:
            return f"no scale of {names} keeps a budget of 0"
        return f"no scale of {names} keeps the budget; the rest alone is too much{spent}"

    def _candidate(self, low: Fraction | None, high: Fraction | None) -> Fraction:
        """Returns a scale to try next, between the largest that fits (`low`) and the least larger
        one that fails (`high`)."""
        guess = self._guess()
        if guess is not None:
            if low is not None and guess <= low:
                guess = self._scale_beyond(low, 1)
            elif high is not None and guess >= high:
                guess = self._scale_beyond(high, -1)
            else:
                self.away = 1
        if low is None or high is None:
            known = low or high
            assert known is not None
            far = known * (_FAR if low else 1 / _FAR)
            if guess is None or len(self.tried) == 1:
                return guess or far
            return min(max(guess, known / _FAR), known * _FAR)
        # Where the value jumps, or bends, halving is what is sure to end.
        halved = len(self.tried) > _SMOOTH and len(self.tried) % 2
        if guess is None or halved or not low < guess < high:
            middle = sqrt_up(low * high) if high > 4 * low else (low + high) / 2
            guess = rounded_down(middle, _DIGITS)
        return guess if low < guess < high else _next(low)

    def _scale_beyond(self, scale: Fraction, side: int) -> Fraction:
        """Returns a scale above (`side` 1) or below (-1) another, further away at each call."""
        self.away *= 4
        return rounded_down(scale + side * self.away * (_next(scale) - scale) / 4, _DIGITS)

    def _guess(self) -> Fraction | None:
        """Returns the scale at which the budget is spent if the value is nearly a power of the
        scale, or None.

        Interpolates by the logarithms of the two or three scales that are nearest to the limit.
        """
        points: dict[float, Fraction] = {}
        for scale, (value, _) in self.tried.items():
            if value and self.limit_amount:
                points.setdefault(_log(value / self.limit_amount), scale)
        near = sorted(points, key=abs)[:3]
        if not near:
            return None
        if len(near) == 1:
            away = -near[0]
        else:
            # Scales relative to the nearest one, as a polynomial of the values, at the budget.
            away = 0.0
            for y in near[1:]:
                others = [x for x in near if x != y]
                weight = math.prod(-x / (y - x) for x in others)
                away += weight * _log(points[y] / points[near[0]])
        return rounded_down(
            points[near[0]] * Fraction(math.exp(min(max(away, -_MOST), _MOST))), _DIGITS
        )

    def _line(self, low: Fraction, high: Fraction) -> Fraction | None:
        """Returns the scale at which the budget is spent if the value is linear between two scales;
        None if that is of no use."""
        below, above = self.value(low), self.value(high)
        if below is None or above is None or above <= below:
            return None
        guess = low + (self.limit_amount - below) * (high - low) / (above - below)
        return guess if low <= guess <= high else None


def _next(scale: Fraction) -> Fraction:
    """Returns the next larger number with as many digits as scales have."""
    down = rounded_down(scale, _DIGITS)
    size = Fraction(10) ** (len(str(int(down))) if down >= 1 else 0)
    while size > down:
        size /= 10
    return down + size / Fraction(10) ** (_DIGITS - 1)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


# ---------------------------------------------------------------------------------------------
# Noise that has a wanted accuracy: the most with which answers are so near to the true ones


_FORM = re.compile(
    r"(?P<name>.+?)\s*(?:±|\+/?-)\s*(?P<within>[^ ]+)(?:\s+at\s+(?P<level>[^ ]+(?: %)?))?"
)
#: The chance where none is named, and the digits of a parameter that is found.
_USUAL, _LONG = Fraction(95, 100), 10
_DUE = "`NAME ± 50`, or `NAME ± 50 at 99%`, is due"


class WantedAccuracy(NamedTuple):
    """A mechanism whose noise is at most `within`, in its units, with the chance `level`."""

    mechanism: str
    within: Fraction
    level: Fraction


def wanted_accuracy(text: str) -> WantedAccuracy:
    """Returns what `NAME ± 50 at 99%` asks for. Raises Unfit."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise Unfit(f"--accuracy {text}: {_DUE}")
    level = found["level"]
    share = 1 if level is None or not level.endswith("%") else 100
    try:
        within = parse(found["within"], {})
        chance = _USUAL if level is None else parse(level.removesuffix("%").strip(), {}) / share
    except ExpressionError as error:
        raise Unfit(f"--accuracy {text}: {error.message}; {_DUE}") from error
    if within <= 0 or not 0 < chance <= HIGHEST:
        raise Unfit(f"--accuracy {text}: a half-width above 0, at a chance below 1; {_DUE}")
    return WantedAccuracy(found["name"], within, chance)


def with_accuracy(source: Source, wanted: Iterable[WantedAccuracy]) -> Source:
    """Returns a valid spec with the most noise that has the wanted accuracies. Raises Unfit, and
    Unscalable where the noise cannot be changed in the text."""
    for each in wanted:
        noise = _noise_of(resolve(source).problem, each.mechanism)
        key = form_of(noise).key.name
        factor = getattr(noise, key) / _largest(noise, key, each)
        source = load(scaled(source, {each.mechanism: factor}), source.name)
    return source


def _noise_of(problem: Problem, name: str) -> Family:
    """Returns the noise of a mechanism, the same in all blocks that it reads. Raises Unfit."""
    names = dict.fromkeys(each.name for each in problem.mechanisms())
    if name not in names:
        near = nearest(name, list(names))
        meant = f"; did you mean {quoted(near)}?" if near else ""
        raise Unfit(f"--accuracy: no mechanism that reads data is called {quoted(name)}{meant}")
    noises = {
        getattr(statement.guarantee.noise, "noise", statement.guarantee.noise)
        for each in problem.mechanisms()
        if each.name == name
        for statement in each.statements
    } - {None}
    found = next(iter(noises), None)
    if found is None or accuracy_of(found, _USUAL) is None:
        raise Unfit(f"--accuracy: {quoted(name)} adds no noise to a number that is known here")
    if len(noises) > 1:
        raise Unfit(f"--accuracy: {quoted(name)} has other noise on other blocks: name one by one")
    return found


def _largest(noise: Family, key: str, wanted: WantedAccuracy) -> Fraction:
    """Returns the largest parameter of noise, of ten digits, that has an accuracy. Raises Unfit."""

    def is_within(value: Fraction) -> bool:
        changed: Family = replace(noise, **{key: value})  # type: ignore[type-var]
        found = accuracy_of(changed, wanted.level)
        return found is not None and found.within <= wanted.within

    most = wanted.within
    while is_within(most) and most <= 10**30 * wanted.within:
        most *= 2
    found = largest(is_within, most, Fraction(1, 10**12))
    if not found:
        raise Unfit(f"--accuracy: no noise of {quoted(wanted.mechanism)} is within the half-width")
    return rounded_down(found, _LONG)
