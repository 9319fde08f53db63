"""What can be done with a loss, whatever it is made of (theory, sections 4 to 7).

A loss is one number (`algebras.Scalars`), undominated pairs (ε, δ) (`algebras.Pairs`), or the
undominated multisets of curves that may be the worst at some δ (`pattern_algebra.Patterns`). The
rules of the kernel and the search compose losses by the operations below, and never ask which kind
they hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.change.propagation import as_it_is, become
from dpcompose.core.change.units import (
    PAIR,
    ChangeUnit,
    State,
    rows_that_change_alike,
    single_units,
    with_alike,
)
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion, Pair

#: A number under `Scalars`, pairs under `Pairs`, multisets under `Patterns`.
Loss = Any
#: Yields requests for losses of changes elsewhere, is sent these, and returns its own result.
Walk = Generator[Any, Loss, Any]
#: Asks for the loss of a part of a change, each unit of which becomes what a function says.
Ask = Callable[[State, Callable[[ChangeUnit], ChangeUnit]], Walk]
#: A chance, and the loss in that case.
Chance = tuple[Fraction, Loss]


class LossAlgebra(ABC):
    """The operations on losses in one notion.

    `zero`: the loss of what reveals nothing; `none`: no finite bound is known. `survival`: whether
    a δ is stored as the chance 1-δ. `most_ways`: the most ways of distributing steps over roots
    that are compared.
    """

    __slots__ = ()
    notion: Notion
    zero: Any
    none: Any
    survival: Any = False
    most_ways: ClassVar[int] = 1_000

    # -- composition ---------------------------------------------------------------------------

    @abstractmethod
    def add(self, losses: Iterable[Loss]) -> Loss:
        """Returns the composition of losses on the same change."""

    @abstractmethod
    def times(self, loss: Loss, copies: int) -> Loss:
        """Returns the composition of `copies` equal losses."""

    @abstractmethod
    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns a loss that covers each of several changes."""

    @abstractmethod
    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns what several bounds on one change give together; `none` if there is none."""

    @abstractmethod
    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        """Returns the loss along a path of tables: `count` steps of each loss.

        `free`: the steps may be taken in any order.
        """

    @abstractmethod
    def key(self, loss: Loss) -> Any:
        """Returns something to sort losses by, the smallest first."""

    def from_above(self, loss: Loss) -> Loss:
        """Returns the loss marked as an upper bound that perhaps no change attains."""
        return loss

    @abstractmethod
    def traced(self, loss: Loss, origin: Any) -> Loss:
        """Returns the loss with its origin, where the algebra keeps mechanisms apart."""

    # -- single losses -------------------------------------------------------------------------

    @abstractmethod
    def charge(self, coster: Any, placed: Sequence[Any], state: State) -> Loss:
        """Returns the loss of one copy of a mechanism, by the costs of a `Coster`."""

    @abstractmethod
    def of_epsilon(self, epsilon: Fraction, noise: Any = None) -> Loss:
        """Returns the loss of an ε > 0, or of noise whose shift by that much has this ε."""

    @abstractmethod
    def all_lost(self) -> Loss:
        """Returns the loss of what reveals everything: as a δ of 1, a sample may make it rare."""

    def pairs(self, loss: Loss) -> Sequence[Pair]:
        """Returns the (ε, δ) that a loss stands for; none if no ε is known."""
        return ()

    def bounds(self, loss: Loss) -> Iterator[Quantity]:
        """Yields the certified bounds that a loss stands for; nothing if it is not finite."""
        yield from ()

    # -- blocks --------------------------------------------------------------------------------

    def worst_blocks(
        self, rule: Any, once: Sequence[Loss], both: Sequence[Loss], new: Sequence[Loss] | None
    ) -> tuple[Loss, tuple[Any, ...]]:
        """Returns the worst total over the blocks that one row can be in, with these blocks.

        `rule`: the ways in which it can (`placements.SpreadRule`). `once`: the losses of blocks
        changed by one end of a row; `both`: by both ends. `new`: of blocks that the row enters,
        where `once` is for those that it leaves. No blocks where no single way is the worst.
        """
        told = [once, both] if new is None else [once, both, new]
        if any(not loss for losses in told for loss in losses):
            # Some block has no finite bound: can the change reach it?
            marks = ([Fraction(0) if loss else float("inf") for loss in losses] for losses in told)
            amount, hits = rule(*marks)
            if amount == float("inf"):
                return self.none, hits
        return self._worst_of_finite(rule, once, both, new)

    @abstractmethod
    def _worst_of_finite(
        self, rule: Any, once: Sequence[Loss], both: Sequence[Loss], new: Sequence[Loss] | None
    ) -> tuple[Loss, tuple[Any, ...]]:
        """Returns what `worst_blocks` does, where each block that may be reached has a bound."""

    def spread_rows(self, rows: Any) -> Walk:
        """Bounds the loss of several rows over blocks (`blocks_touched.RowsOverBlocks`)."""
        return (yield from rows.by_single_rows(self))

    # -- secret samples ------------------------------------------------------------------------

    @abstractmethod
    def amplified(
        self, loss: Loss, rate: Fraction, replace: bool = False, side: str = "both"
    ) -> Loss:
        """Returns the loss of what reads a secret sample that contains each row with chance `rate`.

        ε becomes ln(1+q(e^ε-1)), δ becomes qδ: the whole profile is amplified (Balle et al. 2018).
        Poisson samples: for one row added or removed; without replacement (`replace`): for one row
        replaced. `side`: the row is "removed" or "added" from the first table to the second;
        "both": the bound holds for either direction.
        """

    @abstractmethod
    def unamplified(self, loss: Loss) -> Loss:
        """Returns the loss as if the sample were public."""

    @abstractmethod
    def exchanged(self, once: Loss, both: Loss, rate: Fraction, rounds: int) -> Loss:
        """Returns the loss of a replaced row under `rounds` Poisson samples.

        `once`: the loss of one end of the row being present or not; `both`: the loss of the
        replacement. The row is in both samples or in none, which leaves ε and thins δ; or its ends
        are weighed against the rest of the sample.
        """

    @abstractmethod
    def coupled(self, ways: Sequence[Chance]) -> Loss:
        """Returns the loss where the same part of the change, or none, is drawn into both samples.

        `ways`: the chance and the loss of each part.
        """

    @abstractmethod
    def mixture(self, ways: Sequence[Chance], whole: Loss) -> Loss:
        """Returns the loss where one of several things happens, with given chances, in both tables
        alike; `whole`: what is lost at most, whatever happens."""

    def allocated(self, loss: Loss, steps: int, side: str = "both") -> Loss:
        """Returns the loss of a row that takes part in one of so many steps, drawn uniformly.

        `loss`: in one step. The step may as well be public (profiles are jointly convex, Rényi
        divergences jointly quasi-convex); only Gaussian noise at a chosen δ hides which one it is.
        """
        return loss

    def coupled_draws(
        self, draws: Sequence[tuple[State, Fraction]], state: State, loss: Loss, ask: Ask
    ) -> Walk:
        """Bounds the loss where the parts of a change are drawn with these chances, and public.

        `loss`: that of the whole change `state`.
        """
        chances = dict(draws)
        chances[state] = chances.pop(state, Fraction(0))  # all of it last
        ways = []
        for part, chance in chances.items():
            if part:
                ways.append((chance, (yield from self.part_drawn(part, ask))))
        return self.coupled(ways)

    @abstractmethod
    def several_rows(
        self, state: State, rate: Fraction, one_sided: bool, side: str, rounds: int, ask: Ask
    ) -> Walk:
        """Bounds the loss of several rows under `rounds` Poisson samples, by those that are drawn.

        `one_sided`: all rows are in the same one of the two tables, the one of `side`.
        """

    def rows_of_size(self, state: State, chances: Sequence[tuple[int, Fraction]], ask: Ask) -> Walk:
        """Bounds the loss of rows replaced, in one sample of fixed size, by how many are drawn.

        `chances`: that none is drawn, that at most so many are, …
        """
        losses: list[Loss] = []
        for some, _ in chances[1:]:
            # Any other row may be drawn in place of one, which keeps no column.
            losses.append((yield from self.part_drawn(with_alike(state, some), ask, become(PAIR))))
        return self.number_drawn([chance for _, chance in chances], losses)

    @abstractmethod
    def number_drawn(self, chances: Sequence[Fraction], losses: Sequence[Loss]) -> Loss:
        """Returns the loss of replaced rows of which a sample of fixed size holds some.

        `chances`: that none of the rows is drawn, one row, …; `losses`: of one row, of two, ….
        """

    @abstractmethod
    def numbers_drawn(self, size: int) -> Iterable[int]:
        """Returns the numbers of times below `size` at which a row may be drawn that are told
        apart; each other number counts as the next of these."""

    def part_drawn(
        self, part: State, ask: Ask, become: Callable[[ChangeUnit], ChangeUnit] = as_it_is
    ) -> Walk:
        """Bounds the loss of a part of the change that may be drawn.

        δ = 1 where the part is of several rows or users, each with a known loss, and their δ reach
        1.
        """
        loss: Loss = yield from ask(part, become)
        if loss != self.none:
            return loss
        units = single_units(part)
        if len(units) == 1 and units[0][1] == 1:
            if (rows_that_change_alike(part) or 1) == 1:
                return loss
            units = [(with_alike(part, 1), 1)]
        for unit, _ in units:
            if (yield from ask(unit, become)) == self.none:
                return loss
        return self.all_lost()


#: The notions in which the loss of what reads a sample is amplified; a ρ or a μ is not.
AMPLIFIED = (Notion.PURE, Notion.APPROX, Notion.PROFILE)
