"""The worst change as a path: the datasets that it reaches, and what each mechanism there loses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpcompose.core.change.units import State
from dpcompose.core.loss.algebra import Loss, LossAlgebra
from dpcompose.core.loss.walk import Answer, Choice
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Mechanism
from dpcompose.core.model.tree import Place


@dataclass(frozen=True, slots=True, eq=False)
class Visit:
    """A dataset that the worst change reaches, `copies` times (equal blocks).

    `distance`: the number of equal changes of which one is shown; the loss below is bounded by
    group privacy at that distance. `via`: the choice of the place above by which the change comes
    here, and `above` the visit of that place; both None at a root.
    """

    place: Place
    state: State
    copies: int
    distance: int
    answer: Answer
    via: Choice | None
    above: Visit | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ChangeCharge:
    """The loss of one mechanism on one dataset that the worst change reaches.

    `placed`: its guarantees; `loss`: of all `count` copies of the mechanism, on one of the equal
    blocks.
    """

    mechanism: Mechanism
    placed: tuple[Placed, ...]
    visit: Visit
    loss: Loss

    @property
    def place(self) -> Place:
        """Returns the place of the dataset that the mechanism reads."""
        return self.visit.place

    @property
    def state(self) -> State:
        """Returns the change of the dataset that the mechanism reads."""
        return self.visit.state


def charges_of(visits: Sequence[Visit], algebra: LossAlgebra) -> Iterator[ChangeCharge]:
    """Yields the charge of each mechanism that reads a visited dataset and loses anything."""
    for visit in visits:
        for (mechanism, placed), loss in zip(visit.place.mechanisms, visit.answer.own, strict=True):
            if loss != algebra.zero and visit.state:
                yield ChangeCharge(mechanism, placed, visit, loss)
