"""Losses that know the step of the proof which bounds them.

A loss of one number, or of pairs (ε, δ), is that number together with a `Inference`: the theorem by
which it follows, from which losses and given values, and the formula. Only the operations of the
algebras (`core.loss.algebras`) make such losses, so that a proof consists of nothing else. Losses
are exact fractions and tuples as before; what computes with them otherwise loses the step, not the
number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcompose.core.notions.notion import READINGS, Notion, convert
from dpcompose.core.theorem import Role

if TYPE_CHECKING:
    from dpcompose.core.change.units import State
    from dpcompose.core.model.placed import Placed
    from dpcompose.core.model.tree import Place


class Charged(NamedTuple):
    """The guarantees of one mechanism by which it covers a change: `state`, of the dataset read."""

    used: tuple[Placed, ...]
    state: State


class PairOf(NamedTuple):
    """One of the pairs (ε, δ) of a loss, by its number, as the premise of a step."""

    loss: tuple[Any, ...]
    number: int

    @property
    def pair(self) -> tuple[Fraction, Any]:
        """Returns the pair itself."""
        found: tuple[Fraction, Any] = self.loss[self.number]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Inference:
    """How a loss follows.

    `role`: that of the theorem; None for a statement that is used as it stands, and for the largest
    over several changes. `formula`: of the value, in the names of `given`; `formula_delta`: of the
    δ of a pair, in which `d…` is the δ of the premise `x…`; both None where the value comes by a
    `method`. `given`: by name a number, a loss that is proved, or a list of those. `notion`: that
    of the value, where it is not that of the algebra. `charged`: the guarantees of a mechanism.
    `at`: the dataset that changes, and its change.
    """

    role: Role | None
    formula: str | None
    given: Mapping[str, Any]
    formula_delta: str | None = None
    method: str | None = None
    notion: Notion | None = None
    charged: Charged | None = None
    at: tuple[Place, State] | None = None


#: An (ε, δ) with the step that gives it.
ProvedPair = tuple[Fraction, Any, Inference]
#: How a number is found that no formula gives.
SPREAD, ORDERS = "greedy spread", "Rényi orders"


class ProvedNumber(Fraction):
    """A loss of one number, with the step that gives it."""

    __slots__ = ("step",)
    step: Inference

    def __new__(cls, value: Fraction, step: Inference) -> ProvedNumber:
        made = super().__new__(cls, value)
        made.step = step
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how pickle makes the loss again: as the plain fraction, without its step."""
        return Fraction, (self.numerator, self.denominator)

    def __copy__(self) -> ProvedNumber:
        return self

    def __deepcopy__(self, memo: Any) -> ProvedNumber:
        return self


class ProvedPairs(tuple[Any, ...]):
    """A loss of undominated pairs (ε, δ), with the step that gives each."""

    steps: Sequence[Inference]

    def __new__(cls, pairs: Sequence[Any], steps: Sequence[Inference]) -> ProvedPairs:
        made = super().__new__(cls, pairs)
        made.steps = steps
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Returns how pickle makes the loss again: as the plain pairs, without their steps."""
        return tuple, (tuple(self),)


def number(
    value: Any, role: Role | None, formula: str | None, given: Mapping[str, Any], **more: Any
) -> Any:
    """Returns a loss of one number as proved by a step; zero and infinity as they are.

    `more`: what else the step says (see `Inference`).
    """
    if not value or isinstance(value, float):
        return value
    return ProvedNumber(value, Inference(role, formula, given, **more))


def read(loss: Any, source: Notion, target: Notion) -> Any:
    """Returns a loss of one number in another notion, by the conversion that needs no δ."""
    if source is target:
        return loss
    value = convert(loss, source, target)
    return number(value, Role.CONVERSION, READINGS.get((source, target), "x"), {"x": loss})


def path(parts: Sequence[tuple[Any, int]], notion: Notion) -> tuple[str, dict[str, Any]]:
    """Returns the formula of a path of neighbouring tables in a notion of one number, and what it
    is given.

    `parts`: (loss of a step, number of such steps), none of which is zero.
    """
    linear = notion.facts.power == 1
    if len({loss for loss, _ in parts}) == 1:
        steps = sum(count for _, count in parts)
        if steps == 1:
            return "x", {"x": parts[0][0]}
        return "k * x" if linear else "k ** 2 * x", {"k": steps, "x": parts[0][0]}
    given = {"k": [count for _, count in parts], "x": [loss for loss, _ in parts]}
    return "dot(k, x)" if linear else "dot(k, sqrt(x)) ** 2", given


def part(loss: Any, which: int) -> Any:
    """Returns a pair of a loss as a premise; a loss of one number is the premise itself."""
    return PairOf(loss, which) if isinstance(loss, tuple) else loss


def step_of(loss: tuple[Any, ...], which: int) -> Inference:
    """Returns the step that gives a pair of a loss; of a pair without one, the pair itself."""
    if isinstance(loss, ProvedPairs):
        return loss.steps[which]
    return Inference(None, "x", {"x": PairOf(loss, which)}, "d")


def at(loss: Any, place: Place, state: State) -> Any:
    """Returns a loss with the dataset and the change that it is for, where it has none."""
    if isinstance(loss, ProvedNumber) and loss.step.at is None:
        return ProvedNumber(loss, replace(loss.step, at=(place, state)))
    if isinstance(loss, ProvedPairs) and any(each.at is None for each in loss.steps):
        steps = [replace(each, at=each.at or (place, state)) for each in loss.steps]
        return ProvedPairs(loss, steps)
    return loss


#: The names of the δ of premises, by those of their ε.
_DELTAS = {"x": "d", "y": "e"}


def delta_name(name: str) -> str:
    """Returns the name of the δ of a premise, by the one of its ε: `d2` for `x2`."""
    return _DELTAS[name[0]] + name[1:] if name[0] in _DELTAS else f"d{name}"


def of_delta(formula: str) -> str:
    """Returns a formula of ε as that of δ: each premise is named as its δ there."""
    return re.sub(r"\b[xy]\d*\b", lambda found: delta_name(found[0]), formula)
