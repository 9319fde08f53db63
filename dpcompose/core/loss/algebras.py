"""Algebras of losses, one for each notion (GMPS24 IV.1, VI.4, VI.13, VI.21).

`Scalars` serves pure DP (ε), zCDP (ρ) and GDP (μ²): a loss is one exact number. `Pairs` serves
approximate DP: a loss is the set of undominated (ε, δ), sorted by ε; the empty set means that no
finite guarantee is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Amount, Notion, Pair, at_distance, chain, chain_pairs
from dpcompose.curves.rounding import ZERO, capped, capped_down, power_down

Loss = Any  # Amount under Scalars, Frontier under Pairs
Frontier = tuple[tuple[Fraction, Any], ...]

#: The most undominated pairs of a loss; each is a bound by itself, so dropping some is sound.
MOST_PAIRS = 24


class Scalars(NamedTuple):
    """Algebra of losses that are one number, infinite where no finite bound is known.

    `add`, `times`: composition on the same change; `worst_case`: a loss that covers each of several
    changes; `best`: the least of several bounds on one change; `chain`: the loss along a path of
    neighbouring tables, `free` where its steps may be taken in any order; `key`: a number to sort
    losses by.
    """

    notion: Notion
    zero: Fraction = ZERO
    none: float = math.inf

    def add(self, losses: Iterable[Loss]) -> Loss:
        """Returns the composition of losses on the same change; long fractions are rounded up."""
        total: Amount = ZERO
        for loss in losses:
            if loss:
                total = total + loss
                if isinstance(total, float):
                    return math.inf
                total = capped(total)
        return total

    def times(self, loss: Loss, copies: int) -> Loss:
        """Returns the composition of `copies` equal losses."""
        return loss * copies if loss else ZERO

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns the largest loss, which covers each of several changes."""
        return max(losses, default=ZERO)

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least of several bounds that all hold; infinite if there is none."""
        return min(losses, default=math.inf)

    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        """Returns the loss along a path: `count` steps of each loss."""
        return chain(parts, self.notion)

    def group(self, loss: Loss, steps: int) -> Loss:
        """Returns the composed loss at group distance `steps` (group privacy)."""
        return at_distance(loss, self.notion, steps) if loss else ZERO

    def key(self, loss: Amount) -> Amount:
        """Returns a number to sort losses by: the loss itself."""
        return loss


class Survival:
    """A δ stored as the chance 1-δ that no failure happens, which multiplies under composition.

    Used when Σδ reaches 1, where 1-Π(1-δ) is still below 1. The chance is rounded down, so that δ
    is rounded up. A larger `Survival` is a worse δ.
    """

    __slots__ = ("no_failure",)

    def __init__(self, no_failure: Fraction) -> None:
        self.no_failure = no_failure

    def __add__(self, other: Survival) -> Survival:
        return Survival(capped_down(self.no_failure * other.no_failure))

    def __mul__(self, copies: int) -> Survival:
        return Survival(power_down(self.no_failure, copies))

    def __lt__(self, other: Survival) -> bool:
        return self.no_failure > other.no_failure

    def __le__(self, other: Survival) -> bool:
        return self.no_failure >= other.no_failure

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Survival) and self.no_failure == other.no_failure

    def __hash__(self) -> int:
        return hash(self.no_failure)


class Pairs(NamedTuple):
    """Algebra of sets of undominated (ε, δ), with the operations of `Scalars`.

    The empty set means that no finite bound is known. `survival`: whether δ is stored as the chance
    1-δ (see `Survival`).
    """

    survival: bool = False
    notion: Notion = Notion.APPROX
    none: Frontier = ()

    @property
    def zero(self) -> Frontier:
        """Returns the loss of a mechanism that reveals nothing."""
        return ((ZERO, self.delta(ZERO)),)

    def delta(self, value: Fraction) -> Any:
        """Returns a δ in the representation that this algebra composes."""
        return Survival(1 - value) if self.survival else value

    def plain(self, delta: Any) -> Fraction:
        """Returns the δ as a fraction, whatever its representation."""
        return 1 - delta.no_failure if isinstance(delta, Survival) else Fraction(delta)

    def frontier(self, pairs: Iterable[tuple[Fraction, Any]]) -> Frontier:
        """Returns the undominated pairs, sorted by ε; evenly thinned beyond `MOST_PAIRS`."""
        kept: list[tuple[Fraction, Any]] = []
        for epsilon, delta in sorted(pairs, key=lambda pair: pair[0]):
            if kept and kept[-1][0] == epsilon:
                if delta < kept[-1][1]:
                    kept[-1] = (epsilon, delta)
                    if len(kept) > 1 and not delta < kept[-2][1]:
                        kept.pop()
            elif not kept or delta < kept[-1][1]:
                kept.append((epsilon, delta))
        if len(kept) > MOST_PAIRS:
            last = len(kept) - 1
            kept = [kept[i * last // (MOST_PAIRS - 1)] for i in range(MOST_PAIRS)]
        return tuple(kept)

    def add(self, losses: Iterable[Loss]) -> Loss:
        """Returns the composition of losses on the same change: sums of ε and of δ."""
        epsilon, delta = ZERO, self.delta(ZERO)
        several: list[Frontier] = []
        for loss in losses:
            if not loss:
                return ()
            if len(loss) == 1:
                epsilon = epsilon + loss[0][0]
                delta = delta + loss[0][1]
                if not self.survival:
                    delta = capped(delta)
            else:
                several.append(loss)
        total: Frontier = ((capped(epsilon), delta),)
        for loss in several:
            total = self.frontier((a + c, b + d) for a, b in total for c, d in loss)
        return total

    def times(self, loss: Loss, copies: int) -> Loss:
        """Returns the composition of `copies` copies, each bounded by any of its pairs."""
        if copies == 1 or not loss:
            return loss
        if len(loss) == 1:
            return ((loss[0][0] * copies, loss[0][1] * copies),)
        # Different copies may be bounded by different pairs: square and multiply.
        result, power = self.zero, loss
        while copies:
            if copies & 1:
                result = self.add([result, power])
            copies >>= 1
            if copies:
                power = self.frontier((a + c, b + d) for a, b in power for c, d in power)
        return result

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns the pairs that cover each of several changes; none if one has no bound."""
        covered = self.zero
        for loss in losses:
            if not loss:
                return ()
            covered = self.frontier((max(a, c), max(b, d)) for a, b in covered for c, d in loss)
        return covered

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the undominated pairs of several bounds that all hold."""
        return self.frontier(pair for loss in losses for pair in loss)

    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        """Returns the undominated (ε, δ) along a path: `count` steps of each loss.

        `free`: the steps may be taken in any order. If there are too many ways of choosing a pair
        for each step, only some of them are tried.
        """
        steps = [(loss, count) for loss, count in parts if count]
        if any(not loss for loss, _ in steps):
            return ()
        if len(steps) == 1 and steps[0][1] == 1 and len(steps[0][0]) == 1:
            ((_, delta),) = steps[0][0]
            return steps[0][0] if self.plain(delta) < 1 else ()
        choices: list[list[tuple[Pair, int]]] = [[]]
        for loss, count in steps:
            plain = [(epsilon, self.plain(delta)) for epsilon, delta in loss]
            if count * len(plain) * len(choices) > 4 * MOST_PAIRS:
                plain = [plain[0], plain[-1]] if len(choices) <= MOST_PAIRS else plain[:1]
            choices = [[*before, (pair, count)] for before in choices for pair in plain]
        found = (walk_pairs(walk, free) for walk in choices)
        return self.frontier((p[0], self.delta(p[1])) for p in found if p is not None)

    def group(self, loss: Loss, steps: int) -> Loss:
        """Returns the composed loss at group distance `steps` (group privacy)."""
        return self.chain([(loss, steps)])

    def key(self, loss: Frontier) -> Any:
        """Returns the (ε, δ) of the least ε, to sort losses by; infinite if there is no bound."""
        if not loss:
            return (math.inf, math.inf)
        return (loss[0][0], self.plain(loss[0][1]))


def walk_pairs(walk: Sequence[tuple[Pair, int]], free: bool = False) -> Pair | None:
    """Returns (ε, δ) along a path of (pair, number of steps); None if δ reaches 1.

    `free`: the steps may be taken in any order.
    """
    merged: dict[Pair, int] = {}
    for pair, count in walk:
        if pair != (ZERO, ZERO):
            merged[pair] = merged.get(pair, 0) + count
    return chain_pairs(sorted(merged.items()), free)


def algebra_of(notion: Notion, survival: bool = False) -> Scalars | Pairs:
    """Returns the algebra in which losses of a notion compose."""
    return Pairs(survival) if notion is Notion.APPROX else Scalars(notion)


def bounds_of(algebra: Scalars | Pairs, loss: Loss) -> Iterator[Quantity]:
    """Yields the certified bounds that a loss stands for; nothing if it is not finite."""
    if isinstance(algebra, Scalars):
        if not isinstance(loss, float):
            yield Quantity(algebra.notion, loss)
        return
    for epsilon, delta in loss:
        plain = algebra.plain(delta)
        if plain < 1:
            yield Quantity(Notion.APPROX, epsilon, plain)
