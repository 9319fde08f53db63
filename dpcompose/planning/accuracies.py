"""Noise that has a wanted accuracy: the most with which answers are so near to the true ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.mechanisms import form_of
from dpcompose.core.mechanisms.accuracy import HIGHEST, accuracy_of
from dpcompose.core.mechanisms.family import Family
from dpcompose.core.model.problem import Problem
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import nearest, quoted
from dpcompose.planning.fitting import Unfit
from dpcompose.planning.scaling import rounded_down, scaled
from dpcompose.resolve import resolve
from dpcompose.source import Source, load

_FORM = re.compile(
    r"(?P<name>.+?)\s*(?:±|\+/?-)\s*(?P<within>[^ ]+)(?:\s+at\s+(?P<level>[^ ]+(?: %)?))?"
)
#: The chance where none is named, and the digits of a parameter that is found.
_USUAL, _DIGITS = Fraction(95, 100), 10
_DUE = "`NAME ± 50`, or `NAME ± 50 at 99%`, is due"


class WantedAccuracy(NamedTuple):
    """A mechanism whose noise is to be at most `within`, in units of its answers, with the chance
    `level`."""

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
    """Returns the noise of a mechanism, which is the same in all blocks that it reads. Raises
    Unfit."""
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

    low, high = wanted.within / 10**6, wanted.within
    while is_within(high):
        low, high = high, 2 * high
        if high > 10**30 * wanted.within:
            break
    if not is_within(low):
        raise Unfit(f"--accuracy: no noise of {quoted(wanted.mechanism)} is within the half-width")
    while high - low > low / 10**12:
        middle = (low + high) / 2
        low, high = (middle, high) if is_within(middle) else (low, middle)
    return rounded_down(low, _DIGITS)
