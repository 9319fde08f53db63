"""A composition beside one that is known, from which it differs in little."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpcompose.core.profile.grids import sides
from dpcompose.core.profile.parts import Composition, Part


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A composition that is asked for its least ε with ln δ(ε) ≤ `log_delta`.

    It has not what the known one has in `less`, and has what is in `more`. `most`: the sum of the
    greatest losses.
    """

    asked: Composition
    less: Composition
    more: Composition
    log_delta: float
    most: float

    @classmethod
    def beside(
        cls, whole: Composition, asked: Composition, log_delta: float, most: float
    ) -> Variant:
        """What is asked, beside the whole."""
        return cls(asked, *apart(whole, asked), log_delta, most)

    def worst(
        self, whole: Composition, orders: Iterable[Callable[[Variant], float | None]]
    ) -> float | None:
        """The greatest answer of all orders of the tables; None where this is not the way to it."""
        if len(self.less.parts) > 1 or sides(self.asked.parts) != sides(whole.parts):
            return None
        answers = [tell(self) for tell in orders]
        found = [each for each in answers if each is not None]
        return float(max(found)) if len(found) == len(answers) else None


def apart(whole: Composition, asked: Composition) -> tuple[Composition, Composition]:
    """The parts that a composition has more than another one, and that this one has more."""
    less, more = dict(whole.parts), dict[Part, int]()
    for part, count in asked.parts:
        left = less.pop(part, 0) - count
        if left:
            (less if left > 0 else more)[part] = abs(left)
    return Composition(tuple(less.items())), Composition(tuple(more.items()))
