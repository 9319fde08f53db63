"""Algebras of losses, one for each notion (GMPS24 IV.1, VI.4, VI.13, VI.21).

`Scalars` serves pure DP (ε), zCDP (ρ) and GDP (μ²): a loss is one exact number. `Pairs` serves
approximate DP: a loss is the set of undominated (ε, δ), sorted by ε; the empty set means that no
finite guarantee is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from dpcompose.core.change.drawn_rows import draws_of
from dpcompose.core.change.propagation import as_it_is, become
from dpcompose.core.change.units import (
    OLD_END,
    Kind,
    State,
    all_leaves,
    rows_that_change_alike,
)
from dpcompose.core.loss.algebra import Ask, Loss, Walk
from dpcompose.core.loss.amplification import MOST_WAYS, NumberAlgebra, weighed
from dpcompose.core.loss.cost import amount_of, least_amount
from dpcompose.core.loss.pair_cost import (
    MOST_PAIRS,
    Frontier,
    covering_pairs,
    frontier,
    walk_pairs,
)
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee, Quantity
from dpcompose.core.notions.notion import (
    Amount,
    Notion,
    Pair,
    chain,
    convert_over_steps,
)
from dpcompose.curves.rounding import (
    ONE,
    ZERO,
    capped,
    capped_down,
    exchanged_up,
    exp_up,
    log_inverse_up,
    power_down,
    several_exchanged_up,
)

if TYPE_CHECKING:
    from dpcompose.core.notions.concrete_mechanism import Family


@dataclass(frozen=True, slots=True)
class Scalars(NumberAlgebra):
    """Algebra of losses that are one number, infinite where no finite bound is known."""

    notion: Notion
    zero: Fraction = field(default=ZERO, init=False, repr=False)
    none: float = field(default=math.inf, init=False, repr=False)
    most_ways: ClassVar[int] = 20_000
    orders: ClassVar[tuple[Callable[[Any], Any], ...]] = (lambda amount: amount,)

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
        return loss * copies if loss else ZERO

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        return max(losses, default=ZERO)

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least of several bounds on one change, all of which hold; infinite without
        any."""
        return min(losses, default=math.inf)

    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        return chain(parts, self.notion)

    def key(self, loss: Amount) -> Amount:
        """Returns a number to sort losses by: the loss itself."""
        return loss

    def charge(self, placed: Sequence[Placed], state: State) -> Amount:
        return least_amount(placed, state, self.notion)

    def of_epsilon(self, epsilon: Fraction, noise: Family | None = None) -> Amount:
        """Returns the least amount that holds for every ε-DP mechanism, or for `noise` at the shift
        with this ε."""
        if self.notion is Notion.PURE:
            return epsilon
        least = convert_over_steps(epsilon, 1, self.notion)
        return least if noise is None else min(least, amount_of(noise, epsilon, self.notion))

    def all_lost(self) -> Loss:
        """Returns infinity: there is no δ that a sample could make rare."""
        return self.none

    def pairs(self, loss: Loss) -> Sequence[Pair]:
        """Returns (ε, 0) for a finite ε, and for the zero of any notion."""
        known = not isinstance(loss, float) and (self.notion is Notion.PURE or not loss)
        return ((loss, ZERO),) if known else ()

    def of_pairs(self, pairs: Iterable[Pair]) -> Loss:
        """Returns the least ε that holds with δ = 0."""
        return min((epsilon for epsilon, delta in pairs if not delta), default=math.inf)

    def values(self, loss: Loss) -> Sequence[Amount]:
        return () if isinstance(loss, float) else (loss,)

    def of_values(self, values: Iterable[Amount]) -> Amount:
        return min(values, default=math.inf)

    def value_of(self, bound: Guarantee | Quantity) -> Amount:
        return bound.amount

    def exceeds(self, value: Amount, other: Amount) -> bool:
        return value > other

    def bounds(self, loss: Loss) -> Iterator[Quantity]:
        if not isinstance(loss, float):
            yield Quantity(self.notion, loss)

    def worst_blocks(
        self, rule: Any, once: Sequence[Loss], both: Sequence[Loss], new: Sequence[Loss] | None
    ) -> tuple[Loss, tuple[Any, ...]]:
        found: tuple[Loss, tuple[Any, ...]] = rule(once, both, new)
        return found

    _worst_of_finite = worst_blocks

    def spread_rows(self, rows: Any) -> Walk:
        """Bounds the loss of several changed rows over blocks, by how it grows with their number in
        a block."""
        return (yield from rows.by_numbers(self))

    def exchanged(self, once: Loss, both: Loss, rate: Fraction, rounds: int) -> Loss:
        """Returns the ε of one replaced row read through Poisson samples; `none` for zCDP and GDP.

        For one sample of rate q (`rate`) it is ln[(1-q+q·e^u)/(1-q+q·e^(u-b))], where u (`once`) is
        the ε in the sample for the old or the new row being present or not, and b (`both`) the ε
        for the old row replaced by the new one; `rounds` samples compose.
        """
        if self.notion is not Notion.PURE:
            return self.none
        ends = [None if isinstance(each, float) else each for each in (once, both)]
        epsilon = exchanged_up(ends[0], ends[1], rate)
        return self.none if epsilon is None else self.times(epsilon, rounds)

    def allocated_instead(self, one_end: Loss, both: Loss, steps: int) -> Loss:
        """Returns twice the μ² of one end, by theorem `random-allocation`: the curve of a Gaussian
        of √2·μ is above that of the replaced row; `none` in other notions."""
        return 2 * one_end if self.notion is Notion.GDP and steps > 1 else self.none

    def coupled_draws(
        self, draws: Sequence[tuple[State, Fraction]], state: State, loss: Loss, ask: Ask
    ) -> Walk:
        """Bounds the loss by that of the whole change: without a δ the chances of its parts do not
        matter."""
        yield from ()
        return self.unamplified(loss)

    def _replaced_alike(self, state: State, rate: Fraction, ask: Ask) -> Walk:
        """Bounds the ε of several replaced rows in one Poisson sample, which holds some of them.

        Of each row the old one and the new one are both drawn, or neither. The result is `none`
        where no bound is known.
        """
        ways: list[tuple[Fraction, Fraction, Fraction]] = []
        pairs = all(leaf.kind is Kind.PAIR for leaf in all_leaves(state))
        several = (rows_that_change_alike(state) or 0) > 1
        if self.notion is not Notion.PURE or not pairs or not several:
            return self.none
        for some, chance in draws_of(state, rate) or ():
            if some:
                once = yield from ask(some, become(OLD_END))
                both = yield from ask(some, as_it_is)
                if isinstance(once, float) or isinstance(both, float):
                    return self.none
                ways.append((chance, once, both))
        found = several_exchanged_up(ways)
        return self.none if found is None else found


class Survival:
    """A δ stored as the chance 1-δ that no failure happens; these chances multiply under
    composition.

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


@dataclass(frozen=True, slots=True)
class Pairs(NumberAlgebra):
    """The losses of approximate DP: sets of undominated (ε, δ), each of which holds.

    The empty set means that no finite bound is known. `survival`: whether δ is stored as the chance
    1-δ (see `Survival`).
    """

    survival: bool = False
    notion: Notion = field(default=Notion.APPROX, init=False, repr=False)
    none: Frontier = field(default=(), init=False, repr=False)
    orders: ClassVar[tuple[Callable[[Any], Any], ...]] = (itemgetter(0), itemgetter(1))

    @property
    def zero(self) -> Frontier:
        """Returns the loss of a mechanism that reveals nothing."""
        return ((ZERO, self.delta(ZERO)),)

    def delta(self, value: Fraction) -> Any:
        """Returns a δ in the form in which this algebra composes it: a fraction, or a
        `Survival`."""
        return Survival(1 - value) if self.survival else value

    def plain(self, delta: Any) -> Fraction:
        """Returns the δ as a fraction, whatever its representation."""
        return 1 - delta.no_failure if isinstance(delta, Survival) else Fraction(delta)

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
            total = frontier((a + c, b + d) for a, b in total for c, d in loss)
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
                power = frontier((a + c, b + d) for a, b in power for c, d in power)
        return result

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns undominated (ε, δ) that hold for each of several possible changes; none if one
        has no bound."""
        covered = self.zero
        for loss in losses:
            if not loss:
                return ()
            covered = frontier((max(a, c), max(b, d)) for a, b in covered for c, d in loss)
        return covered

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the undominated (ε, δ) of several bounds on one change, all of which hold."""
        return frontier(pair for loss in losses for pair in loss)

    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        """Returns the undominated (ε, δ) along a path of neighbouring tables.

        `parts`: (loss of a step, number of such steps). `free`: the steps may be taken in any
        order. If there are too many ways of choosing a pair for each step, only some of them are
        tried.
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
        return frontier((p[0], self.delta(p[1])) for p in found if p is not None)

    def key(self, loss: Frontier) -> Any:
        """Returns the (ε, δ) of the least ε, to sort losses by; infinite if there is no bound."""
        if not loss:
            return (math.inf, math.inf)
        return (loss[0][0], self.plain(loss[0][1]))

    def charge(self, placed: Sequence[Placed], state: State) -> Frontier:
        return self.of_pairs(covering_pairs(placed, state))

    def of_epsilon(self, epsilon: Fraction, noise: Family | None = None) -> Frontier:
        """Returns the loss of an ε-DP mechanism, (ε, 0); that of `noise` with this ε is the
        same."""
        return self.of_pairs([(epsilon, ZERO)])

    def all_lost(self) -> Frontier:
        return ((ZERO, self.delta(ONE)),)

    def pairs(self, loss: Frontier) -> Sequence[Pair]:
        return [(epsilon, self.plain(delta)) for epsilon, delta in loss]

    def of_pairs(self, pairs: Iterable[Pair]) -> Frontier:
        return frontier((epsilon, self.delta(delta)) for epsilon, delta in pairs)

    def value_of(self, bound: Guarantee | Quantity) -> Pair:
        return Fraction(bound.amount), Fraction(bound.delta)

    def exceeds(self, value: Pair, other: Pair) -> bool:
        """Returns whether a sum of (ε, δ), `value`, is above another one.

        The chances 1-δ multiply, which gives a δ never above the sum of the δ.
        """
        return value[0] > other[0] or (value[1] > other[1] and not self.survival)

    def bounds(self, loss: Frontier) -> Iterator[Quantity]:
        """Yields each (ε, δ) with δ below 1 as a bound."""
        for epsilon, delta in self.pairs(loss):
            if delta < 1:
                yield Quantity(Notion.APPROX, epsilon, delta)

    def _worst_of_finite(
        self,
        rule: Any,
        once: Sequence[Frontier],
        both: Sequence[Frontier],
        new: Sequence[Frontier] | None,
    ) -> tuple[Frontier, tuple[Any, ...]]:
        """Returns the worst (ε, δ) over the blocks that one row can be in, with the blocks of the
        least ε.

        Parameters: see `LossAlgebra.worst_blocks`. The rule is applied to ε and to δ separately:
        the largest of each coordinate covers every change. If blocks have several undominated
        pairs, every choice of one for each is tried if these are few, else only the first pairs and
        the last pairs. Where a replaced row may leave one of several equal blocks and enter
        another, any choice for the block that it leaves, with any for the one that it enters, holds
        for every such change.
        """
        pairs: list[tuple[Fraction, Any]] = []
        shown: tuple[Any, ...] = ()
        ends = zip(once, once if new is None else new, strict=True)
        tries = [(new is not None, [self._of_ends(*each) for each in ends])]
        if new is None and rule.pair and any(len(loss) > 1 for loss in once):
            equal = [n > 1 for n in rule.sizes]
            apart = [
                list(product(loss, loss) if several else zip(loss, loss, strict=True))
                for loss, several in zip((each or self.zero for each in once), equal, strict=True)
            ]
            tries.append((True, apart))
        whole = [[(each, each) for each in loss or self.zero] for loss in both]
        for directed, ways in tries:
            for chosen in _choices([*ways, *whole]):
                one, two = chosen[: len(once)], chosen[len(once) :]
                taken = [[pair for pair, _ in one], [pair for pair, _ in two]]
                if directed:
                    taken.append([pair for _, pair in one])
                epsilon, hits = rule(*([x for x, _ in each] for each in taken))
                shown = shown or hits
                delta, _ = rule(*([self._as_sum(x) for _, x in each] for each in taken))
                pairs.append((Fraction(epsilon), self._of_sum(Fraction(delta))))
        return frontier(pairs), shown

    def _of_ends(self, once: Frontier, new: Frontier) -> list[tuple[Any, Any]]:
        """Returns ways of choosing a pair for a block that a row leaves (`once`) and one that it
        enters (`new`).

        Losses with equally many pairs come from the same guarantees, and their pairs are chosen
        together.
        """
        left, entered = once or self.zero, new or self.zero
        alike = len(left) == len(entered)
        return list(zip(left, entered, strict=True) if alike else product(left, entered))

    def _as_sum(self, delta: Any) -> Fraction:
        """Returns δ as a number that adds up: itself, or -ln(1-δ) rounded up under `survival`."""
        return log_inverse_up(delta.no_failure) if self.survival else Fraction(delta)

    def _of_sum(self, number: Fraction) -> Any:
        """Returns a sum of numbers of `_as_sum` as a δ in the form of this algebra."""
        if not self.survival:
            return number
        return Survival(1 / exp_up(number)) if number else Survival(ONE)

    def exchanged(self, once: Frontier, both: Frontier, rate: Fraction, rounds: int) -> Frontier:
        """Returns the (ε, δ) of one replaced row read through `rounds` Poisson samples, by the
        better of two bounds.

        Parameters: see `LossAlgebra.exchanged`; the second bound is that of `weighed`.
        """
        found = islice(weighed(self.pairs(once), self.pairs(both), rate), MOST_WAYS)
        weighed_or_coupled = [self.of_pairs(found), self.coupled([(rate, both)])]
        loss: Frontier = self.times(self.best(weighed_or_coupled), rounds)
        return loss


def _choices(losses: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yields ways of taking one pair of each loss: all ways if few, else all first and all last
    pairs."""
    if math.prod(map(len, losses)) <= MOST_WAYS:
        yield from product(*losses)
    else:
        yield tuple(loss[0] for loss in losses)
        yield tuple(loss[-1] for loss in losses)


def algebra_of(notion: Notion, survival: bool = False) -> NumberAlgebra:
    """Returns the algebra in which losses of a notion compose; `survival`: with 1-δ multiplied (see
    `Survival`)."""
    return Pairs(survival) if notion is Notion.APPROX else Scalars(notion)
