"""What the noise of each mechanism does to its answers, for the report."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcompose.core.mechanisms import form_of
from dpcompose.core.mechanisms.accuracy import accuracy_of
from dpcompose.core.model.problem import Mechanism, Path, Problem
from dpcompose.curves.rounding import number
from dpcompose.errors import Span
from dpcompose.report import AnswerNoise


def noise_of_answers(
    problem: Problem, level: Fraction, span: Callable[[Path], Span]
) -> tuple[AnswerNoise, ...]:
    """Returns what noise does to the answers of each mechanism, in the order of the spec; one that
    has other noise on other blocks has an entry for each."""
    found: dict[tuple[str, str], AnswerNoise] = {}
    for mechanism in problem.mechanisms():
        each = _of_mechanism(mechanism, level, span)
        found.setdefault((each.mechanism, each.noise), each)
    known = sorted(found.values(), key=lambda each: each.span.line if each.span else 0)
    return tuple(known)


def _of_mechanism(
    mechanism: Mechanism, level: Fraction, span: Callable[[Path], Span]
) -> AnswerNoise:
    """Returns what noise does to the answers of one mechanism."""
    place = span(mechanism.path)
    noises = [each.guarantee.noise for each in mechanism.statements]
    noise = next((each for each in noises if each is not None), None)
    found = None if noise is None else accuracy_of(noise, level)
    if noise is None:
        return AnswerNoise(mechanism.name, "", None, None, level, place)
    alone = getattr(noise, "noise", noise)
    form = form_of(alone)
    if found is None:
        return AnswerNoise(mechanism.name, form.name, None, None, level, place)
    words = f"{form.name}, {form.key.name} {number(getattr(alone, form.key.name))}"
    return AnswerNoise(mechanism.name, words, *found, level, place)
