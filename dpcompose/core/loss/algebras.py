"""Algebras of losses, one for each notion (GMPS24 IV.1, VI.4, VI.13, VI.21).

`Scalars` serves pure DP (ε), zCDP (ρ) and GDP (μ²): a loss is one exact number. `Pairs` serves
approximate DP: a loss is the set of undominated (ε, δ), sorted by ε; the empty set means that no
finite guarantee is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
from dpcompose.core.loss import proved
from dpcompose.core.loss.algebra import Ask, Loss, Walk
from dpcompose.core.loss.amplification import MOST_WAYS, NumberAlgebra, weighed
from dpcompose.core.loss.cost import least_amount, of_noise, over_steps
from dpcompose.core.loss.pair_cost import (
    MOST_PAIRS,
    Frontier,
    covering_pairs,
    frontier,
    path_step,
    walk_pairs,
)
from dpcompose.core.loss.proved import Inference, PairOf, ProvedNumber, ProvedPair, ProvedPairs
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee, Quantity
from dpcompose.core.notions.notion import (
    Amount,
    Notion,
    Pair,
    chain,
)
from dpcompose.core.theorem import Role
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

    def add(self, losses: Iterable[Loss], role: Role = Role.GENERAL) -> Loss:
        """Returns the composition of losses on the same change; long fractions are rounded up."""
        total: Amount = ZERO
        parts: list[Loss] = []
        for loss in losses:
            if loss:
                total = total + loss
                if isinstance(total, float):
                    return math.inf
                total = capped(total)
                parts.append(loss)
        if len(parts) < 2:
            return parts[0] if parts else ZERO
        return proved.number(total, role, "sum(x)", {"x": parts})

    def times(self, loss: Loss, copies: int, role: Role = Role.SEQUENTIAL) -> Loss:
        if copies == 1 or not loss:
            return loss or ZERO
        return proved.number(loss * copies, role, "n * x", {"n": copies, "x": loss})

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        listed = list(losses)
        worst = max(listed, default=ZERO)
        if all(loss == worst for loss in listed):
            return worst
        return proved.number(worst, None, "max(x)", {"x": listed})

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the least of several bounds on one change, all of which hold; infinite without
        any."""
        return min(losses, default=math.inf)

    def chain(self, parts: Sequence[tuple[Loss, int]], free: bool = False) -> Loss:
        total = chain(parts, self.notion)
        told = [(loss, count) for loss, count in parts if loss and count]
        if len(told) == 1 and told[0][1] == 1:
            return told[0][0]
        if isinstance(total, float) or not told:
            return total
        if len(told) == 1 and _is_worst_block(told[0][0]):
            return _at_distance(total, *told[0], self.notion)
        return proved.number(total, Role.GROUP, *proved.path(told, self.notion))

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
        least = over_steps(epsilon, 1, self.notion)
        return least if noise is None else min(least, of_noise(noise, epsilon, self.notion))

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

    def of_steps(self, found: Iterable[ProvedPair]) -> Loss:
        """Returns the least ε that holds with δ = 0, as proved by its step."""
        known = [(epsilon, step) for epsilon, delta, step in found if not delta]
        if not known:
            return math.inf
        epsilon, step = min(known, key=lambda each: each[0])
        return ProvedNumber(epsilon, step) if epsilon else ZERO

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
            yield Quantity(self.notion, Fraction(loss))

    def worst_blocks(
        self, rule: Any, once: Sequence[Loss], both: Sequence[Loss], new: Sequence[Loss] | None
    ) -> tuple[Loss, tuple[Any, ...]]:
        found: tuple[Loss, tuple[Any, ...]] = rule(once, both, new)
        loss, hits = found
        if not loss or isinstance(loss, float):
            return loss, hits
        role, formula, given = rule.told(once, both, new)
        method = None if formula else proved.SPREAD
        return proved.number(loss, role, formula, given, method=method), hits

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
        if epsilon is None:
            return self.none
        told = _exchanged_formula(once, both, rate)
        return self.times(proved.number(epsilon, Role.SAMPLE_REPLACED, *told), rounds)

    def allocated_instead(self, one_end: Loss, both: Loss, steps: int) -> Loss:
        """Returns twice the μ² of one end, by theorem `random-allocation`: the curve of a Gaussian
        of √2·μ is above that of the replaced row; `none` in other notions."""
        if self.notion is not Notion.GDP or steps < 2:
            return self.none
        return proved.number(2 * one_end, Role.ALLOCATED, "2 * x", {"x": one_end})

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
        if found is None:
            return self.none
        given = {"w": [w for w, _, _ in ways], "u": [u for _, u, _ in ways]}
        given["b"] = [b for _, _, b in ways]
        return proved.number(found, Role.SAMPLE_REPLACED, None, given, method=proved.SPREAD)


def _is_worst_block(loss: Loss) -> bool:
    """Returns whether a loss is that of the worst of several disjoint blocks."""
    return isinstance(loss, ProvedNumber) and loss.step.role is Role.WORST_BLOCK


def _at_distance(total: Amount, loss: ProvedNumber, steps: int, notion: Notion) -> Loss:
    """Returns the loss of several steps over disjoint blocks: the theorem gives it at every
    distance."""
    step = loss.step
    grown = f"{'k' if notion.facts.power == 1 else 'k ** 2'} * {step.formula}"
    return ProvedNumber(
        Fraction(total), replace(step, formula=grown, given={"k": steps, **step.given}, at=None)
    )


def _exchanged_formula(once: Loss, both: Loss, rate: Fraction) -> tuple[str, dict[str, Any]]:
    """Returns the formula of the ε of one replaced row behind a Poisson sample, with what it is
    given (see `exchanged_up`)."""
    if isinstance(once, float):
        return "b", {"b": both}
    given = {"q": rate, "u": once}
    whole = "2 * u" if isinstance(both, float) else "min(b, 2 * u)"
    if not isinstance(both, float):
        given["b"] = both
    top, bottom = "1 - q + q * exp(u)", f"1 - q + q * exp(u - {whole})"
    return f"min({whole}, ln(({top}) / ({bottom})))", given


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

    def of_steps(self, found: Iterable[ProvedPair]) -> Loss:
        known: dict[Pair, Inference] = {}
        for epsilon, delta, step in found:
            known.setdefault((epsilon, self.delta(delta)), step)
        return self._proved(known)

    def _proved(self, known: Mapping[Any, Inference]) -> Frontier:
        """Returns the undominated ones of these pairs as a loss, each with its step."""
        pairs = frontier(known)
        if all(not epsilon and not self.plain(delta) for epsilon, delta in pairs):
            return pairs
        return ProvedPairs(pairs, [known[each] for each in pairs])

    def _is_zero(self, loss: Loss) -> bool:
        """Returns whether a loss is that of a mechanism that reveals nothing."""
        return len(loss) == 1 and not loss[0][0] and not self.plain(loss[0][1])

    def add(self, losses: Iterable[Loss], role: Role = Role.GENERAL) -> Loss:
        """Returns the composition of losses on the same change: sums of ε and of δ."""
        epsilon, delta = ZERO, self.delta(ZERO)
        several: list[Frontier] = []
        parts: list[Loss] = []
        for loss in losses:
            if not loss:
                return ()
            if not self._is_zero(loss):
                parts.append(loss)
            if len(loss) == 1:
                epsilon = epsilon + loss[0][0]
                delta = delta + loss[0][1]
                if not self.survival:
                    delta = capped(delta)
            else:
                several.append(loss)
        if len(parts) < 2:
            return parts[0] if parts else self.zero
        single = tuple(PairOf(loss, 0) for loss in parts if len(loss) == 1)
        total: dict[Any, tuple[PairOf, ...]] = {(capped(epsilon), delta): single}
        for loss in several:
            sums: dict[Any, tuple[PairOf, ...]] = {}
            for (a, b), taken in total.items():
                for number, (c, d) in enumerate(loss):
                    sums.setdefault((a + c, b + d), (*taken, PairOf(loss, number)))
            total = {pair: sums[pair] for pair in frontier(sums)}
        added = "any(d)" if self.survival else "sum(d)"
        return self._proved(
            {
                pair: Inference(role, "sum(x)", {"x": list(taken)}, added)
                for pair, taken in total.items()
            }
        )

    def times(self, loss: Loss, copies: int, role: Role = Role.SEQUENTIAL) -> Loss:
        """Returns the composition of `copies` copies, each bounded by any of its pairs."""
        if copies == 1 or not loss:
            return loss
        if len(loss) == 1:
            delta = "1 - (1 - d) ** n" if self.survival else "n * d"
            step = Inference(role, "n * x", {"n": copies, "x": PairOf(loss, 0)}, delta)
            return self._proved({(loss[0][0] * copies, loss[0][1] * copies): step})
        # Different copies may be bounded by different pairs: square and multiply.
        unit = [tuple(int(i == j) for i in range(len(loss))) for j in range(len(loss))]
        result: dict[Any, tuple[int, ...]] = {self.zero[0]: (0,) * len(loss)}
        power: dict[Any, tuple[int, ...]] = dict(zip(loss, unit, strict=True))
        left = copies
        while left:
            if left & 1:
                result = _sums(result, power)
            left >>= 1
            if left:
                power = _sums(power, power)
        parts = [PairOf(loss, number) for number in range(len(loss))]
        delta = "1 - prod((1 - d) ** n)" if self.survival else "dot(n, d)"
        return self._proved(
            {
                pair: Inference(role, "dot(n, x)", {"n": list(counts), "x": parts}, delta)
                for pair, counts in result.items()
            }
        )

    def worst_case(self, losses: Iterable[Loss]) -> Loss:
        """Returns undominated (ε, δ) that hold for each of several possible changes; none if one
        has no bound."""
        listed = list(losses)
        if not all(listed):
            return ()
        if listed and all(loss == listed[0] for loss in listed):
            return listed[0]
        covered: dict[Any, tuple[PairOf, ...]] = {self.zero[0]: ()}
        for loss in listed:
            larger: dict[Any, tuple[PairOf, ...]] = {}
            for (a, b), taken in covered.items():
                for number, (c, d) in enumerate(loss):
                    larger.setdefault((max(a, c), max(b, d)), (*taken, PairOf(loss, number)))
            covered = {pair: larger[pair] for pair in frontier(larger)}
        return self._proved(
            {
                pair: Inference(None, "max(x)", {"x": list(taken)}, "max(d)")
                for pair, taken in covered.items()
            }
        )

    def best(self, losses: Iterable[Loss]) -> Loss:
        """Returns the undominated (ε, δ) of several bounds on one change, all of which hold."""
        known: dict[Any, Inference] = {}
        for loss in losses:
            for number, pair in enumerate(loss):
                known.setdefault(pair, proved.step_of(loss, number))
        return self._proved(known)

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
        choices: list[list[tuple[PairOf, int]]] = [[]]
        for loss, count in steps:
            ways = [PairOf(loss, number) for number in range(len(loss))]
            if count * len(ways) * len(choices) > 4 * MOST_PAIRS:
                ways = [ways[0], ways[-1]] if len(choices) <= MOST_PAIRS else ways[:1]
            choices = [[*before, (each, count)] for before in choices for each in ways]
        known: dict[Any, Inference] = {}
        for walk in choices:
            plain = [((each.pair[0], self.plain(each.pair[1])), n) for each, n in walk]
            found = walk_pairs(plain, free)
            if found is not None:
                step = path_step([(each, n) for each, n in walk], plain, free)
                known.setdefault((found[0], self.delta(found[1])), step)
        return self._proved(known)

    def key(self, loss: Frontier) -> Any:
        """Returns the (ε, δ) of the least ε, to sort losses by; infinite if there is no bound."""
        if not loss:
            return (math.inf, math.inf)
        return (loss[0][0], self.plain(loss[0][1]))

    def charge(self, placed: Sequence[Placed], state: State) -> Frontier:
        found: Frontier = self.of_steps(covering_pairs(placed, state))
        return found

    def of_epsilon(self, epsilon: Fraction, noise: Family | None = None) -> Frontier:
        """Returns the loss of an ε-DP mechanism, (ε, 0); that of `noise` with this ε is the
        same."""
        found: Frontier = self.of_steps(
            [(epsilon, ZERO, Inference(None, "x", {"x": epsilon}, "0"))]
        )
        return found

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
        known: dict[Any, Inference] = {}
        shown: tuple[Any, ...] = ()
        ends = zip(once, once if new is None else new, strict=True)
        tries = [(new is not None, [self._of_ends(*each) for each in ends])]
        if new is None and rule.pair and any(len(loss) > 1 for loss in once):
            apart = [
                list(product(parts, parts) if n > 1 else zip(parts, parts, strict=True))
                for parts, n in zip(map(self._parts, once), rule.sizes, strict=True)
            ]
            tries.append((True, apart))
        whole = [[(each, each) for each in self._parts(loss)] for loss in both]
        for directed, ways in tries:
            for chosen in _choices([*ways, *whole]):
                one, two = chosen[: len(once)], chosen[len(once) :]
                taken = [[part for part, _ in one], [part for part, _ in two]]
                if directed:
                    taken.append([part for _, part in one])
                epsilon, hits = rule(*([each.pair[0] for each in some] for some in taken))
                shown = shown or hits
                delta, _ = rule(*([self._as_sum(each.pair[1]) for each in some] for some in taken))
                role, formula, given = rule.told(*taken)
                method = None if formula else proved.SPREAD
                of_delta = None if formula is None else proved.of_delta(formula)
                if self.survival and formula != "max(x)":
                    of_delta, method = None, proved.SPREAD
                step = Inference(role, formula, given, of_delta, method)
                known.setdefault((Fraction(epsilon), self._of_sum(Fraction(delta))), step)
        return self._proved(known), shown

    def _parts(self, loss: Frontier) -> list[PairOf]:
        """Returns the pairs of a loss as premises; those of no loss where it has no bound, since no
        change reaches it."""
        kept = loss or self.zero
        return [PairOf(kept, number) for number in range(len(kept))]

    def _of_ends(self, once: Frontier, new: Frontier) -> list[tuple[PairOf, PairOf]]:
        """Returns ways of choosing a pair for a block that a row leaves (`once`) and one that it
        enters (`new`).

        Losses with equally many pairs come from the same guarantees, and their pairs are chosen
        together.
        """
        left, entered = self._parts(once), self._parts(new)
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
        found = islice(weighed(self.pairs(once), self.pairs(both), rate, (once, both)), MOST_WAYS)
        weighed_or_coupled = [self.of_steps(found), self.coupled([(rate, both)])]
        loss: Frontier = self.times(self.best(weighed_or_coupled), rounds)
        return loss


def _sums(some: Mapping[Any, Any], others: Mapping[Any, Any]) -> dict[Any, Any]:
    """Returns the undominated sums of a pair of each, with the counts of what they consist of."""
    found: dict[Any, Any] = {}
    for ((a, b), one), ((c, d), other) in product(some.items(), others.items()):
        counts = tuple(n + m for n, m in zip(one, other, strict=True))
        found.setdefault((a + c, b + d), counts)
    return {pair: found[pair] for pair in frontier(found)}


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
