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
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion, Pair
from dpcompose.core.theorem import Role

#: A privacy loss: a number under `Scalars`, (ε, δ) pairs under `Pairs`, multisets under `Patterns`.
Loss = Any
#: A bound under way: a generator that yields requests for losses, each a pair (place, change of its
#: dataset) or a `PureNeed`, is sent these losses, and returns the bound that follows from them.
Walk = Generator[Any, Loss, Any]
#: Asks for the loss of a part of a change, each unit of which becomes what a function says.
Ask = Callable[[State, Callable[[ChangeUnit], ChangeUnit]], Walk]
#: A chance, and the loss in that case.
Chance = tuple[Fraction, Loss]


class LossAlgebra(ABC):
    """The operations on privacy losses in one notion: composition, worst case, group privacy,
    sampling.

    What a loss is depends on the subclass (see the module); callers never look inside. "Change"
    means a difference of two neighbouring tables, a `State`. `zero`: the loss of what reveals
    nothing; `none`: no finite bound is known. `survival`: whether a δ is stored as the chance 1-δ.
    `most_ways`: the most ways of distributing the steps of a protected change over several roots
    that are compared. `traces`: whether a loss says which mechanisms it is of, so that those of
    equal blocks differ.
    """

    __slots__ = ()
    notion: Notion
    zero: Any
    none: Any
    survival: Any = False
    most_ways: ClassVar[int] = 1_000
    traces: ClassVar[bool] = False

    # -- composition ---------------------------------------------------------------------------

    @abstractmethod
    def add(self, losses: Iterable[Loss], role: Role = Role.GENERAL) -> Loss:
        """Returns the composition of losses of several mechanisms on the same change; `role`: of
        the theorem by which they add up."""

    @abstractmethod
    def times(self, loss: Loss, copies: int, role: Role = Role.SEQUENTIAL) -> Loss:
        """Returns the composition of `copies` independent mechanisms with this loss on the same
        change; `role`: of the theorem by which they add up."""

    @abstractmethod
    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least known loss that bounds each of these, the losses of several possible
        changes."""

    @abstractmethod
    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the loss that follows from several bounds on one change, all of which hold;
        `none` without any."""

    @abstractmethod
    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        """Returns the loss between the ends of a path of neighbouring tables, as in group privacy.

        `parts`: (loss of a step, number of such steps). `free`: the steps may be taken in any
        order.
        """

    @abstractmethod
    def key(self, loss: Loss) -> Any:
        """Returns a sort key for losses, the smallest loss first."""

    def from_above(self, loss: Loss) -> Loss:
        """Returns the loss marked as an upper bound that perhaps no change attains."""
        return loss

    def traced(self, loss: Loss, origin: Any) -> Loss:
        """Returns the loss with its origin (`TracedCharge`) noted, where the algebra keeps
        mechanisms apart."""
        return loss

    # -- single losses -------------------------------------------------------------------------

    @abstractmethod
    def charge(self, placed: Sequence[Placed], state: State) -> Loss:
        """Returns the loss of one copy of a mechanism for the change `state` of the dataset that it
        reads, by its stated guarantees `placed`."""

    @abstractmethod
    def of_epsilon(self, epsilon: Fraction, noise: Any = None) -> Loss:
        """Returns the loss of an ε-DP mechanism, ε > 0; with `noise`, of that noise at the shift
        that has this ε."""

    @abstractmethod
    def all_lost(self) -> Loss:
        """Returns the loss of a mechanism that reveals everything.

        It is a δ of 1 where the notion has a δ, so that a sample that seldom holds the change may
        make it small; else `none`.
        """

    def pairs(self, loss: Loss) -> Sequence[Pair]:
        """Returns the (ε, δ) that a loss stands for; empty if no ε is known."""
        return ()

    def bounds(self, loss: Loss) -> Iterator[Quantity]:
        """Yields the certified bounds that a loss stands for; nothing if it is not finite."""
        yield from ()

    # -- blocks --------------------------------------------------------------------------------

    def worst_blocks(
        self, rule: Any, once: Sequence[Loss], both: Sequence[Loss], new: Sequence[Loss] | None
    ) -> tuple[Loss, tuple[Any, ...]]:
        """Returns the worst total loss over the blocks of a partition when one row changes, and
        those blocks.

        The sequences have one loss for each class of equal blocks. `rule`: the blocks that one row
        can be in (`placements.SpreadRule`). `once`: the loss of a block in which a row is added or
        removed; `both`: in which a row is replaced. `new`: if given, the loss of a block that the
        new row of a replacement enters; `once` is then for a block that the old row leaves. The
        blocks (`Hit`s) are empty where no single way of being in them is the worst.
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
        """Returns what `worst_blocks` does, where every block that the row can reach has a finite
        loss.

        Parameters: see `worst_blocks`.
        """

    def spread_rows(self, rows: Any) -> Walk:
        """Bounds the loss of several changed rows over the blocks of a partition.

        `rows`: the rows and blocks (`blocks_touched.RowsOverBlocks`).
        """
        return (yield from rows.by_single_rows(self))

    # -- secret samples ------------------------------------------------------------------------

    @abstractmethod
    def amplified(
        self,
        loss: Loss,
        rate: Fraction,
        replace: bool = False,
        side: str = "both",
        role: Role | None = None,
    ) -> Loss:
        """Returns the loss of what reads a secret sample that contains each row with chance `rate`
        (q).

        `loss`: that of the change in the sample. ε becomes ln(1+q(e^ε-1)), δ becomes qδ: the whole
        profile is amplified (Balle et al. 2018). Poisson samples: for one row added or removed;
        without replacement (`replace`): for one row replaced. `side`: the row is "removed" or
        "added" from the first table to the second; "both": the bound holds for either direction.
        `role`: of the theorem, where it is not the one of samples.
        """

    @abstractmethod
    def unamplified(self, loss: Loss) -> Loss:
        """Returns the loss of what reads a sample, as if it were public which rows are drawn."""

    @abstractmethod
    def exchanged(self, once: Loss, both: Loss, rate: Fraction, rounds: int) -> Loss:
        """Returns the loss of one replaced row of the table, read through `rounds` Poisson samples
        of rate `rate`.

        `once`: the loss in the sample for the old or the new row being present or not; `both`: for
        the old row replaced by the new one. Either both samples hold their row or none does, which
        leaves ε and multiplies δ by the rate; or each row is weighed against the rest of the
        sample. The better bound counts.
        """

    @abstractmethod
    def coupled(self, ways: Sequence[Chance]) -> Loss:
        """Returns the loss where the samples of both tables hold the same part of the change, or
        none of it.

        `ways`: the chance that each part is drawn, and the loss of that part.
        """

    @abstractmethod
    def mixture(self, ways: Sequence[Chance], whole: Loss) -> Loss:
        """Returns the loss where one of several things happens, with given chances, in both tables
        alike.

        `ways`: the chance and the loss of each; `whole`: a bound on the loss whatever happens.
        """

    def allocated(self, loss: Loss, steps: int, side: str = "both") -> Loss:
        """Returns the loss of a row that takes part in one of `steps` steps, drawn uniformly.

        `loss`: that in its step; `side`: see `amplified`. The step may as well be public (profiles
        are jointly convex, Rényi divergences jointly quasi-convex); only Gaussian noise at a chosen
        δ hides which one it is.
        """
        return loss

    def allocated_instead(self, one_end: Loss, both: Loss, steps: int) -> Loss:
        """Returns the loss of a replaced row that takes part in one of `steps` steps, drawn
        uniformly; `none` where no more is known than of two rows.

        `one_end`: the loss in its step of one row there or not there; `both`: that of one row
        replaced by another.
        """
        return self.none

    def coupled_draws(
        self, draws: Sequence[tuple[State, Fraction]], state: State, loss: Loss, ask: Ask
    ) -> Walk:
        """Bounds the loss of the change `state` where a sample holds a part of it, and that part is
        public.

        `draws`: each part that may be drawn, with its chance; `loss`: that of the whole change;
        `ask`: requests the loss of a part (`Ask`).
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
        """Bounds the loss of several changed rows, `state`, under `rounds` Poisson samples of rate
        `rate`.

        By the mixture over the rows that are drawn. `one_sided`: all rows are in the same one of
        the two tables, the one of `side` (see `amplified`). `ask`: requests the loss of a part of
        the change.
        """

    def rows_of_size(self, state: State, chances: Sequence[tuple[int, Fraction]], ask: Ask) -> Walk:
        """Bounds the loss of replaced rows, `state`, in one sample of fixed size, by how many are
        drawn.

        `chances`: pairs of a number of rows, from 0 up, and the chance that so many are drawn;
        numbers that are left out count as the next one. `ask`: requests the loss of a part of the
        change.
        """
        losses: list[Loss] = []
        for some, _ in chances[1:]:
            # Any other row may be drawn in place of one, which keeps no column.
            losses.append((yield from self.part_drawn(with_alike(state, some), ask, become(PAIR))))
        return self.number_drawn([chance for _, chance in chances], losses)

    @abstractmethod
    def number_drawn(self, chances: Sequence[Fraction], losses: Sequence[Loss]) -> Loss:
        """Returns the loss of several rows replaced together, read through a sample of fixed size
        that draws a random number of them.

        `chances`: of the numbers, the first of which is 0; `losses`: those of the other numbers of
        rows.
        """

    @abstractmethod
    def numbers_drawn(self, size: int, rate: Fraction) -> Iterable[int]:
        """Returns the numbers below `size` that are told apart of how often a sample of so many
        draws takes one row, each with the chance `rate`.

        Each other number counts as the next larger one of these.
        """

    def part_drawn(
        self, part: State, ask: Ask, become: Callable[[ChangeUnit], ChangeUnit] = as_it_is
    ) -> Walk:
        """Bounds the loss of a part of the change that a sample may hold, each unit changed by
        `become`.

        `ask`: requests the loss of a part (`Ask`). The result is a δ of 1 where the part has no
        finite bound, but each of its single rows or users has.
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
