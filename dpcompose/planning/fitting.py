"""The largest scale of a spec's parameters that keeps a budget.

Every candidate is a spec as it would be written, and its certified value decides: the search only
chooses where to look, so that no result is ever above the budget.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.notions.quantity import Budget
from dpcompose.core.numbers.exact import sqrt_up
from dpcompose.errors import DpcomposeError
from dpcompose.faults import listing
from dpcompose.planning.scaling import Parameter, parameters, rounded_down, scaled
from dpcompose.report.certify import certify
from dpcompose.report.wording import number
from dpcompose.resolve import Resolved, resolve
from dpcompose.source import Source, load

#: Scales are looked for in between, or so far from the one that proportion suggests.
SMALLEST, LARGEST = Fraction(1, 10**9), Fraction(10**9)
#: A scale so much larger than the one found is over the budget.
CLOSE = Fraction(1, 10**6)
#: The most candidates; each is analysed.
MOST_TRIED = 80
_DIGITS = 7
_SHORT = 64  # bits of a scale that can be written exactly


class Unfit(DpcomposeError):
    """No scale keeps the budget; the message says why.

    `over`: too much is spent at every scale, or there is no finite bound; else the call is wrong.
    """

    def __init__(self, message: str, over: bool = False) -> None:
        super().__init__(message)
        self.over = over


@dataclass(frozen=True, slots=True)
class Fitted:
    """A spec with scaled parameters that keeps a budget.

    `scale`: the common factor; each mechanism's is that times its weight. `spent`: the value held
    against `limit`. `exact`: it is the limit itself, so that no larger scale would do.
    `doubtful`: mechanisms whose several guarantees were scaled, each by itself.
    """

    text: str
    scale: Fraction
    spent: Fraction
    limit: Budget
    exact: bool
    scaled: tuple[str, ...]
    doubtful: tuple[str, ...]


def fit(
    source: Source,
    limit: Budget | None,
    free: Mapping[str, Fraction],
    default: Budget | None = None,
) -> Fitted:
    """The largest scale for the mechanisms of `free`, with their weights; empty: for all.

    `limit`: None for the spec's own budget. `default`: the budget of a spec that has none. Raises
    InvalidSpec, Unfit and scaling.Unscalable.
    """
    resolved = resolve(source)
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
    weights = _weights(known, free)
    search = _Search(source, asked, weights)
    scale, exact = search.run(resolved)
    text, spent, _ = search.tried[scale]
    assert spent is not None
    doubtful = tuple(name for name in weights if _several(source, known[name][0]))
    return Fitted(text, scale, spent, asked, exact, tuple(weights), doubtful)


def _weights(
    known: Mapping[str, tuple[Parameter, ...]], free: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    for name in free:
        if name not in known:
            raise Unfit(f"--free {name}: no mechanism that reads data has this name")
        if not known[name]:
            raise Unfit(f"--free {name}: it has no parameter")
    return dict(free) if free else {name: Fraction(1) for name, found in known.items() if found}


def _several(source: Source, parameter: Parameter) -> bool:
    """Whether a mechanism has several guarantees."""
    tree = source.value
    assert isinstance(tree, dict) and isinstance(tree["mechanisms"], list)
    entry = tree["mechanisms"][int(parameter.path[1])]
    several = entry.get("guarantees") if isinstance(entry, dict) else None
    return isinstance(several, list) and len(several) > 1


@dataclass(slots=True)
class _Search:
    """Looks for the largest scale; `tried`: each scale with its text, value and whether it fits."""

    source: Source
    limit: Budget
    weights: dict[str, Fraction]
    tried: dict[Fraction, tuple[str, Fraction | None, bool]]

    def __init__(self, source: Source, limit: Budget, weights: dict[str, Fraction]) -> None:
        self.source, self.limit, self.weights = source, limit, weights
        self.tried = {}

    @property
    def most(self) -> Fraction:
        """The budget in its main parameter."""
        return self.limit.parameters[0][1]

    def fits(self, scale: Fraction) -> bool:
        """Whether the spec at this scale keeps the budget."""
        if scale not in self.tried:
            factors = {name: scale * weight for name, weight in self.weights.items()}
            text = scaled(self.source, factors)
            resolved = resolve(load(text, self.source.name))
            verdict = certify(resolved.problem, [self.limit]).held(self.limit)
            value = None if verdict.slack is None else self.most - verdict.slack
            self.tried[scale] = text, value, verdict.ok
        return self.tried[scale][2]

    def value(self, scale: Fraction) -> Fraction | None:
        """What the spec at this scale spends; None if that is not finite."""
        self.fits(scale)
        return self.tried[scale][1]

    def run(self, resolved: Resolved) -> tuple[Fraction, bool]:
        """The largest scale found, and whether it spends exactly the budget."""
        one = Fraction(1)
        if not self.fits(one) and self.value(one) is None:
            why = certify(resolved.problem, [self.limit]).held(self.limit).why
            raise Unfit(why or "there is no finite bound", over=True)
        guess = self._proportional(one)
        if guess is not None and self._spends_all(guess):
            return guess, True
        low, high = self._bracket(one if guess is None else rounded_down(guess, _DIGITS))
        return self._narrow(low, high)

    def _proportional(self, scale: Fraction) -> Fraction | None:
        """The scale that would spend the budget if the value were proportional to it."""
        value = self.value(scale)
        if not value:
            return None
        return scale * self.most / value

    def _spends_all(self, scale: Fraction) -> bool:
        bits = scale.numerator.bit_length() + scale.denominator.bit_length()
        if bits > _SHORT or not self.weights or scale <= 0:
            return False
        return self.fits(scale) and self.value(scale) == self.most

    def _bracket(self, start: Fraction) -> tuple[Fraction, Fraction]:
        """A scale that fits and one that does not."""
        low = high = start if start > 0 else Fraction(1)
        smallest, largest = min(SMALLEST, low * SMALLEST), max(LARGEST, low * LARGEST)
        while not self.fits(low):
            if low == smallest:
                raise Unfit(self._too_much(low), over=True)
            low, high = max(low / 16, smallest), low
        while low == high:
            if self.fits(high * 16):
                if high > largest:
                    raise Unfit(
                        "the parameters may grow without end: they are in no worst change, "
                        "or every bound of the rest covers them"
                    )
                low = high = high * 16
            else:
                high *= 16
        return low, high

    def _too_much(self, scale: Fraction) -> str:
        value = self.value(scale)
        names = listing(list(self.weights))
        spent = "" if value is None else f": {number(value)} of {number(self.most)} is spent"
        if not self.most:
            return f"no scale of {names} keeps a budget of 0"
        return f"no scale of {names} keeps the budget; the rest alone is too much{spent}"

    def _narrow(self, low: Fraction, high: Fraction) -> tuple[Fraction, bool]:
        """Close in on the largest scale, by secants where they help and by halving."""
        while high > low * (1 + CLOSE) and len(self.tried) < MOST_TRIED:
            width = high / low
            guess = self._secant(low, high)
            if guess is not None:
                if self._spends_all(guess):
                    return guess, True
                for near in (guess, guess * (1 - CLOSE / 3), guess * (1 + CLOSE / 3)):
                    step = rounded_down(near, _DIGITS + 3)
                    if low < step < high:
                        low, high = (step, high) if self.fits(step) else (low, step)
            if high / low > (width + 1) / 2:
                middle = sqrt_up(low * high) if width > 4 else (low + high) / 2
                middle = rounded_down(middle, _DIGITS + 3)
                if low < middle < high:
                    low, high = (middle, high) if self.fits(middle) else (low, middle)
        short = rounded_down(low, _DIGITS)
        return (short, False) if self.fits(short) else (low, False)

    def _secant(self, low: Fraction, high: Fraction) -> Fraction | None:
        below, above = self.value(low), self.value(high)
        if below is None or above is None or above <= below:
            return None
        guess = low + (self.most - below) * (high - low) / (above - below)
        return guess if low <= guess <= high else None
