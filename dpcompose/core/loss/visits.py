"""The worst change as a path of the datasets that it reaches."""

from __future__ import annotations

from dataclasses import dataclass

from dpcompose.core.change.units import State
from dpcompose.core.loss.walk import Answer, Choice
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
