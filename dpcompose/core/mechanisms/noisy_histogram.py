"""Histograms over unknown keys: noisy values above a threshold, and the selection of keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.core.mechanisms.family import (
    ONE_DIRECTION,
    FamilyForm,
    Why,
    drawn_by,
    family_theorem,
    noise_key,
)
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NOISE, FormKey, Need, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves import Curve, Grouped, Response, curve_of
from dpcompose.curves.families import GeometricLoss, HistogramLoss, LaplaceLoss
from dpcompose.curves.rounding import MAX_EXPONENT, ZERO, exp_up, number, plural, power_down

_ONE = Fraction(1)
#: Up to so many units all numbers of them that share a key are tried.
_MOST_UNITS = 100


class _ByKey(Family):
    """A release over keys that are not known beforehand.

    A shift is a number of privacy units that come or go; δ is above 0.
    """

    __slots__ = ()

    def epsilon(self, shift: Fraction) -> Fraction | None:
        return None if shift else ZERO


@dataclass(frozen=True, slots=True)
class NoisyHistogram(_ByKey):
    """A histogram over unknown keys: the noisy values, of keys present, that reach a threshold.

    `law`: the name of the noise; `scale`: its scale or σ. A privacy unit has at most `max_keys`
    keys and moves the value of each by at most `max_per_key`. `replaced`: a shift is a number of
    units each of which takes the place of another one.
    """

    law: str
    scale: Fraction
    threshold: Fraction
    max_keys: int
    max_per_key: Fraction
    replaced: bool = False

    def loss(self, shift: Fraction) -> Curve:
        units = math.ceil(shift)
        keys, each = self._all_keys, Fraction(units)
        if units > 1 and self.law != "gaussian":
            # The units' keys may coincide: all of their sensitivity in one key is the worst.
            keys, each = 1, self._all_keys * each
        noise = self._one_key(each).repeat(keys)
        return Curve(noise.parts, noise.gaussian, 1 - self._failure(units))

    def bounds(self, shift: Fraction) -> Iterator[Curve]:
        yield self.loss(shift)
        new = self._released(1)
        if shift <= 1 and new < 1:
            one = HistogramLoss(self._one_key(_ONE), self.max_keys, new, self.replaced)
            yield curve_of(one, ZERO, 1 - self._failure(1))

    def for_replaced_row(self) -> Family:
        return replace(self, replaced=True)

    def _one_key(self, units: Fraction) -> Curve:
        """Returns the curve of the noise of a key that is moved by what so many units add."""
        match self.law:
            case "gaussian":
                return Curve((), (units * self.max_per_key / self.scale) ** 2)
            case "geometric":
                steps = int(units) * math.ceil(self.max_per_key)
                return curve_of(GeometricLoss(steps, self.scale))
        return curve_of(LaplaceLoss(units * self.max_per_key / self.scale))

    def pair(self) -> tuple[Fraction, Fraction]:
        failure = self._failure(1)
        if self.law != "gaussian":
            whole = self.max_per_key if self.law == "laplace" else math.ceil(self.max_per_key)
            return self._all_keys * whole / self.scale, failure
        # Gaussian noise has no ε of its own: that at which it needs as much δ as the threshold.
        found = Curve((), self.loss(_ONE).gaussian).epsilon(delta=failure)
        return (ZERO, _ONE) if found is None else (found.upper, unknown_keys(failure, failure, 1))

    def describe(self, shift: Fraction) -> str:
        name = "σ" if self.law == "gaussian" else "scale"
        noise = f"{self.law} noise of {name} {number(self.scale)}"
        keys = f"{plural(self.max_keys, 'key')} a unit"
        return f"{noise}, threshold {number(self.threshold)}, {keys}"

    @property
    def _all_keys(self) -> int:
        """Returns how many keys one step of the relation moves at most."""
        return 2 * self.max_keys if self.replaced else self.max_keys

    def _failure(self, units: int) -> Fraction:
        """Returns the chance that some key of `units` privacy units alone is released, rounded up.

        A key that n of the units have counts as n of their keys.
        """
        if units == 1:
            return unknown_keys(self._released(1), ZERO, self.max_keys)
        if units > _MOST_UNITS:
            worst = self._released(units)
        else:
            worst = max(self._released(each) / each for each in range(1, units + 1))
        return min(_ONE, units * self.max_keys * worst)

    def _released(self, units: int) -> Fraction:
        """Returns the chance that one key that only `units` privacy units have is released, rounded
        up."""
        room = self.threshold - units * self.max_per_key
        if room <= 0:
            return _ONE
        match self.law:
            case "gaussian":
                # P(|Z| ≤ z) is the δ at ε = 0 of a Gaussian mechanism with μ = 2z.
                inside = Curve((), 4 * (room / self.scale) ** 2).delta(epsilon=0).lower
                return _ONE if inside is None else (1 - inside) / 2
            case "geometric":
                steps = math.ceil(self.threshold) - units * math.ceil(self.max_per_key)
                ratio = 1 / exp_up(1 / self.scale) if self.scale * MAX_EXPONENT >= 1 else ZERO
                return min(_ONE, exp_up(-max(steps, 0) / self.scale) / (1 + ratio))
        return exp_up(-room / self.scale) / 2


@dataclass(frozen=True, slots=True)
class KeySelection(_ByKey):
    """Releases keys without their values; each key is kept with the largest chance that (ε, δ)-DP
    allows.

    The chance depends on the number of privacy units that have the key. `each_epsilon`,
    `each_delta`: of one key.
    """

    each_epsilon: Fraction
    each_delta: Fraction
    max_keys: int

    def loss(self, shift: Fraction) -> Curve:
        units = math.ceil(shift)
        failure = self.pair()[1]
        once = Curve(((Response(self.each_epsilon), self.max_keys),), ZERO, 1 - failure)
        return once if units == 1 else curve_of(Grouped(once, units))

    def pair(self) -> tuple[Fraction, Fraction]:
        failure = unknown_keys(self.each_delta, ZERO, self.max_keys)
        return self.max_keys * self.each_epsilon, failure

    def describe(self, shift: Fraction) -> str:
        each = f"ε = {number(self.each_epsilon)}, δ = {number(self.each_delta)} each"
        return f"selection of keys, {each}, {plural(self.max_keys, 'key')} a unit"


@family_theorem(
    "unknown-keys",
    title="Histograms over unknown keys, and the selection of keys",
    formula="δ(ε) ≤ 1 - (1-δ₁)^L·(1-δ'(ε))",
    notion=Notion.APPROX,
    given=drawn_by("noise of each key present", NoisyHistogram, KeySelection),
)
def unknown_keys(new: Fraction, noise: Fraction, keys: Fraction | int) -> Fraction:
    """Returns the δ at some ε of a histogram over unknown keys.

    `new`: the chance that a key of one privacy unit alone is released; `noise`: the δ of the noise
    at this ε; `keys`: how many keys a unit has at most.
    """
    return 1 - power_down(1 - new, int(keys)) * (1 - noise)


def _refusal(values: Mapping[str, object], relation: str) -> Why | None:
    """Returns why a histogram mechanism cannot be used for a neighbouring relation, or with these
    parameters.

    `values`: those of its keys in the spec; `relation`: its name there. As (key, message, hint);
    None if it can.
    """
    law, threshold, most = values.get("noise"), values.get("threshold"), values.get("max_per_key")
    if relation not in ONE_DIRECTION:
        return (
            "mechanism",
            f"keys of one unit that comes or goes do not go with `relation: {relation}`",
            "a unit replaced is one that goes and one that comes: state the mechanism for these, "
            "with `relation: unbounded`",
        )
    if law is not None:
        key, other = ("sigma", "scale") if law == "gaussian" else ("scale", "sigma")
        if values[other] != ZERO:
            return other, f"`noise: {law}` has `{key}`, not `{other}`", f"write `{key}`"
        if values[key] == ZERO:
            return (
                "mechanism",
                f"`noise: {law}` needs `{key}`",
                "without noise nothing is protected",
            )
    if isinstance(threshold, Fraction) and isinstance(most, Fraction) and threshold <= most:
        return (
            "threshold",
            f"a threshold of {number(threshold)} is no more than one unit adds to a key: "
            f"{number(most)}",
            "a key of one person alone would be released half of the time or more often: raise it "
            "well above `max_per_key`",
        )
    return None


_MAX_KEYS = FormKey("max_keys", Sort.WHOLE, "How many keys one unit is in at most.")
_DELTA = Need("from 0 to below 1", "DPC111", "δ is a chance", lambda value: value < 1)

FORM = FamilyForm(
    name="noisy-histogram",
    family=NoisyHistogram,
    about="Noisy values of the keys that are present, where they reach a threshold.",
    keys=(
        noise_key(
            "scale", "Of laplace or geometric noise on each key.", default=None, exactly=True
        ),
        noise_key(
            "sigma",
            "The standard deviation of gaussian noise on each key.",
            default=None,
            exactly=True,
        ),
        FormKey(
            "noise",
            Sort.CHOICE,
            "The noise on each key.",
            "laplace",
            choices=("laplace", "gaussian", "geometric"),
        ),
        FormKey("threshold", Sort.NUMBER, "The least noisy value that is released.", noise=True),
        _MAX_KEYS,
        FormKey(
            "max_per_key",
            Sort.NUMBER,
            "How far one unit moves the value of a key at most.",
            fact=True,
        ),
    ),
    states=("approx",),
    trusted=Assumption(
        "{}: keys have the noise stated, and a unit's keys and its part in each are limited",
        shortly="noise as stated, keys of a unit limited",
    ),
    by_steps=True,
    make=lambda scale, sigma, noise, threshold, max_keys, max_per_key: NoisyHistogram(
        noise, scale or sigma, threshold, max_keys, max_per_key
    ),
    refusal=_refusal,
)
KEY_SELECTION = FORM._replace(
    name="key-selection",
    family=KeySelection,
    about="The keys that enough units have, without values, as many as (ε, δ)-DP allows.",
    keys=(
        FormKey("epsilon", Sort.NUMBER, "Of the choice of one key.", need=NOISE),
        FormKey("delta", Sort.NUMBER, "Of the choice of one key.", need=_DELTA, fact=True),
        _MAX_KEYS,
    ),
    trusted=Assumption(
        "{}: a unit's keys are limited as stated", shortly="keys of a unit limited as stated"
    ),
    make=None,
)
