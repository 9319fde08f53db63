"""Losses that are numbers, one or pairs of them, and what secret samples make of them (theory,
section 7).

Whatever is drawn, two tables with coupled samples differ in the sample by the whole change, by a
part of it, or not at all: a mixture is never worse than its worst part, so the unamplified loss
always holds. For zCDP and GDP nothing better is known in their own terms: they are amplified as
profiles, and pure losses as pure DP (`AlongMap.as_pure`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, islice, product
from typing import Any, ClassVar

from dpcompose.core.change.drawn_rows import draws_of, shared_out
from dpcompose.core.change.propagation import as_it_is, become
from dpcompose.core.change.units import SINGLE, Kind, State, all_leaves, single_units
from dpcompose.core.loss import proved
from dpcompose.core.loss.algebra import AMPLIFIED, Ask, Chance, Loss, LossAlgebra, Walk
from dpcompose.core.loss.proved import Inference, ProvedPair
from dpcompose.core.notions.guarantee import Guarantee, Quantity
from dpcompose.core.notions.notion import Pair
from dpcompose.core.theorem import Refused, Role
from dpcompose.curves.rounding import (
    MAX_EXPONENT,
    ONE,
    ZERO,
    added_share_up,
    amplified_added_up,
    amplified_up,
    bits_up,
    capped,
    exp_up,
    log1p_up,
)

#: The most choices of one (ε, δ) for each loss that are tried.
MOST_WAYS = 64
#: So many numbers of times at which a row is drawn are told apart.
_MOST_TIMES = 257
#: Significant bits of a δ.
_BITS = 160


class NumberAlgebra(LossAlgebra):
    """The operations on losses that are a number, or pairs (ε, δ).

    Through a sample a pure ε is the pair (ε, 0). A ρ or a μ² is no pair, so that `none` results.
    """

    __slots__ = ()
    #: The orders in which values are compared: by amount, or by ε and by δ.
    orders: ClassVar[tuple[Callable[[Any], Any], ...]]

    def values(self, loss: Loss) -> Sequence[Any]:
        """Returns a loss in the form that the functions of theorems take: one amount, or each (ε,
        δ).

        Empty if it is not finite.
        """
        return self.pairs(loss)

    def of_values(self, values: Iterable[Any]) -> Loss:
        """Returns the loss for which all these amounts, or (ε, δ), hold; `none` without any."""
        return self.of_pairs(values)

    @abstractmethod
    def value_of(self, bound: Guarantee | Quantity) -> Any:
        """Returns the amount, or the (ε, δ), of a stated guarantee or a certified bound in the
        notion."""

    @abstractmethod
    def exceeds(self, value: Any, other: Any) -> bool:
        """Returns whether `value`, a sum of amounts or of (ε, δ), is larger than `other`."""

    @abstractmethod
    def of_pairs(self, pairs: Iterable[Pair]) -> Loss:
        """Returns the loss for which all these (ε, δ) hold; `none` without any."""

    @abstractmethod
    def of_steps(self, found: Iterable[ProvedPair]) -> Loss:
        """Returns the loss for which all these (ε, δ) hold, each proved by its step; `none` without
        any."""

    def amplified(
        self,
        loss: Loss,
        rate: Fraction,
        replace: bool = False,
        side: str = "both",
        role: Role | None = None,
    ) -> Loss:
        """Returns the loss of what reads a secret sample: see `LossAlgebra.amplified`.

        For an added row it is smaller, by theorem `poisson-sample-added`: with P the law with the
        row in the sample, Q that without, u the ε and q the `rate`, Q - a·((1-q)Q + q·P) is
        (1-a(1-q))·(Q - e^u·P) for a = 1/(1-q+q·e^-u), and 1-a(1-q) = qa·e^-u.
        """
        added = side == "added"
        formula = "-ln(1 - q + q * exp(-x))" if added else "ln(1 + q * (exp(x) - 1))"
        of_delta = "q * exp(epsilon - x) * d" if added else "q * d"
        known = Role.SAMPLE_ADDED if added else Role.SAMPLE_OF_SIZE if replace else Role.SAMPLE
        found: list[ProvedPair] = []
        for number, (epsilon, delta) in enumerate(self.pairs(loss)):
            given = {"q": rate, "x": proved.part(loss, number)}
            step = Inference(role or known, formula, given, of_delta)
            if not added:
                found.append((amplified_up(epsilon, rate), rate * delta, step))
                continue
            share = bits_up(added_share_up(epsilon, rate) * delta, _BITS) if delta else delta
            found.append((amplified_added_up(epsilon, rate), share, step))
        return self.of_steps(found)

    def unamplified(self, loss: Loss) -> Loss:
        """Returns the loss as if the sample were public.

        For zCDP and GDP the result is infinite unless the loss is 0: a ρ or a μ that ignores the
        sample is not given, since only the profile of the result is amplified.
        """
        kept = self.of_pairs(self.pairs(loss))
        return loss if kept == loss else kept

    def coupled(self, ways: Sequence[Chance]) -> Loss:
        """Returns the loss where both samples hold the same part of the change: the undominated (ε,
        Σ w·δ(ε)) over the parts, each drawn with its chance w, δ(ε) being the δ of a part at ε.

        `ways`: (w, loss) of each part.
        """
        parts = [(chance, self.pairs(loss)) for chance, loss in ways]
        if not all(pairs for _, pairs in parts):
            return self.none
        least = max(pairs[0][0] for _, pairs in parts)
        found: list[ProvedPair] = []
        for epsilon in {each for _, pairs in parts for each, _ in pairs if each >= least}:
            delta, taken = ZERO, []
            for (chance, pairs), (_, loss) in zip(parts, ways, strict=True):
                last = max(n for n, (other, _) in enumerate(pairs) if other <= epsilon)
                delta += chance * pairs[last][1]
                taken.append(proved.part(loss, last))
            delta = delta if len(parts) == 1 else bits_up(delta, _BITS)
            if delta < 1:
                given = {"w": [chance for chance, _ in parts], "x": taken}
                step = Inference(Role.SAMPLE, "max(x)", given, "dot(w, d)")
                found.append((epsilon, delta, step))
        return self.of_steps(found)

    def mixture(self, ways: Sequence[Chance], whole: Loss) -> Loss:
        """Returns the loss where one of several things happens, in both tables alike: see
        `LossAlgebra.mixture`.

        The chances given may add up to more than 1, so that `whole` may be less.
        """
        return self.best([self.coupled(ways), self.unamplified(whole)])

    def several_rows(
        self, state: State, rate: Fraction, one_sided: bool, side: str, rounds: int, ask: Ask
    ) -> Walk:
        """Bounds the loss of several rows under `rounds` Poisson samples, by those that are drawn.

        Parameters: see `LossAlgebra.several_rows`. By mixtures over the parts of the change, or
        over the numbers of rows that are replaced together.
        """
        together: Loss = yield from self._replaced_alike(state, rate, ask)
        try:
            some = yield from self._some_drawn(state, rate, one_sided, ask)
            together = self.best([together, some])
        except Refused:
            if together == self.none:
                raise
        return self.times(together, rounds)

    def _replaced_alike(self, state: State, rate: Fraction, ask: Ask) -> Walk:
        """Bounds the loss of several replaced rows in one Poisson sample, which holds some of them.

        Of each row the old one and the new one are both drawn, or neither.
        """
        yield from ()
        return self.none

    def _some_drawn(self, state: State, rate: Fraction, one_sided: bool, ask: Ask) -> Walk:
        """Bounds the loss of several changed rows in one sample, by mixtures over the rows that are
        drawn.

        `one_sided`: all of them are in one of the two tables. Raises `Refused` where a path of
        single units, or of the rows of one, gives the same.
        """
        if self.notion not in AMPLIFIED:
            raise Refused("it is about an ε, or (ε, δ)")
        units = all_leaves(state)
        if not all(
            leaf.kind in (Kind.SINGLE, Kind.PAIR)
            or (leaf.kind is Kind.USER and leaf.size is not None)
            for leaf in units
        ):
            raise Refused("it is for a known number of rows")
        if units.total() == 1 and all(leaf.kind is not Kind.USER for leaf in units):
            raise Refused("it is for several rows")
        whole = yield from ask(state, as_it_is)
        path: list[tuple[Loss, int]] = []
        for unit, count in single_units(state):
            path.append(((yield from ask(unit, as_it_is)), count))
        if units.total() == 1:
            [leaf] = units
            path = [((yield from ask(state, become(SINGLE))), int(leaf.size or 1))]
        if whole == self.chain(path) and whole != self.none:
            raise Refused("a path says the same")
        ways = [(state, ()), ((), state)] if one_sided else shared_out(state)
        if ways is None:
            raise Refused("there are too many ways of sharing out the rows")
        known: dict[State, list[Chance]] = {}
        for part in dict.fromkeys(part for way in ways for part in way):
            listed = draws_of(part, rate)
            if listed is None:
                raise Refused("there is too much that may be drawn")
            known[part] = []
            for some, chance in listed:
                loss = (yield from self.part_drawn(some, ask)) if some else self.zero
                known[part].append((chance, loss))
        found = [mixed(self, known[more], known[fewer]) for more, fewer in ways]
        if self.none in found:
            raise Refused("some part of the change loses too much")
        # It also loses no more than all rows that change.
        return self.best([self.worst_case(found), whole])

    def number_drawn(self, chances: Sequence[Fraction], losses: Sequence[Loss]) -> Loss:
        return mixed(self, list(zip(chances, [self.zero, *losses], strict=True)), rising=True)

    def numbers_drawn(self, size: int, rate: Fraction) -> Iterable[int]:
        return range(1, min(size, _MOST_TIMES))


def weighed(
    once: Sequence[Pair],
    both: Sequence[Pair],
    rate: Fraction,
    premises: tuple[Loss, Loss] | None = None,
) -> Iterator[ProvedPair]:
    """Yields the (ε, δ) of one replaced row of the table, read through a Poisson sample of rate q
    (`rate`).

    `once`: pairs (u, δ) in the sample for the old or the new row being present or not; `both`:
    pairs (b, δ₂) for the old row replaced by the new one. `premises`: the losses of these pairs,
    if they are proved.

    Given the rest of the sample let μ₀ be the law of the output without either row, μ with the old
    row, μ' with the new one; P and Q are the laws on the two tables. Then P - a·Q = q·μ -
    (1-q)(a-1)·μ₀ - qa·μ'. With μ' ≥ e^-u·(μ₀-δ) and μ ≤ e^u·μ₀ + δ this is at most qδ(1 + a·e^-u)
    for a = (1-q+q·e^u)/(1-q+q·e^-u). With μ ≤ e^b·μ' + δ₂ in place of the first, on a share of μ,
    it is at most (1-q)(a-1)e^-u·δ + qa·e^-b·δ₂ for a = (1-q+q·e^u)/(1-q+q·e^(u-b)). Both hold on
    every event, and so for the mixture over the rest of the sample; the result is ε = ln a with
    that δ. The first is never more than two steps of the amplified loss.
    """

    without, with_both = premises or (tuple(once), tuple(both))
    top = "1 - q + q * exp(u)"
    two = f"ln(({top}) / (1 - q + q * exp(-u)))", "q * du * (1 + exp(epsilon - u))"
    one = (
        f"ln(({top}) / (1 - q + q * exp(u - b)))",
        "(1 - q) * (exp(epsilon) - 1) * exp(-u) * du + q * exp(epsilon - b) * db",
    )

    def pair(
        grown: Fraction, delta: Fraction, formulas: tuple[str, str], **given: Any
    ) -> ProvedPair:
        step = Inference(Role.SAMPLE_REPLACED, formulas[0], {"q": rate, **given}, formulas[1])
        return log1p_up(grown - 1), min(ONE, bits_up(delta, _BITS)), step

    for n, (u, delta) in enumerate(once):
        if u > MAX_EXPONENT:
            continue
        rise, fall = exp_up(u), exp_up(-u)
        grown = (1 - rate + rate * rise) / (1 - rate + rate / rise)
        yield pair(grown, rate * delta * (1 + grown * fall), two, u=proved.part(without, n))
    for (n, (u, delta)), (m, (b, other)) in product(enumerate(once), enumerate(both)):
        if max(u, b) > MAX_EXPONENT:
            continue
        rise, fall = exp_up(u), exp_up(-u)
        grown = (1 - rate + rate * rise) / (1 - rate + rate / exp_up(b - u))
        share = (1 - rate) * (grown - 1) * fall * delta + rate * grown * exp_up(-b) * other
        yield pair(grown, share, one, u=proved.part(without, n), b=proved.part(with_both, m))


def mixed(
    algebra: NumberAlgebra,
    more: Sequence[Chance],
    fewer: Sequence[Chance] = (),
    rising: bool = False,
) -> Loss:
    """Returns the loss of the first table against the second, whose samples each hold a random part
    of the change.

    `more`: for each part that may be drawn of the rows that only the first table has, its chance w
    and its loss (ε, δ), against a sample with none of these rows; the chances sum to 1. `fewer`:
    the same for the rows that only the second table has, v and (ε', δ'). `rising`: each ε is raised
    to the largest one before it, as a fixed-size sample needs (`several_rows.replaced_rows`).

    Given the rest of the sample let μ₀ be the law of the output with none of these rows. The law
    with a part is between e^-ε·(μ₀ - δ) and e^ε·μ₀ + δ, so that the first table is (ln(Σ w·e^ε / Σ
    v·e^-ε'), Σ w·δ + Σ w·e^ε · Σ v·e^-ε'·δ' / Σ v·e^-ε')-DP to the second. Returns `algebra.none`
    where some part has too large a loss, or every δ reaches 1.
    """
    losses = [loss for _, loss in (*more, *fewer)]
    ways = islice(_ways([len(algebra.pairs(loss)) for loss in losses]), MOST_WAYS)
    chances = [chance for chance, _ in (*more, *fewer)]
    found: list[ProvedPair] = []
    for numbers in ways:
        way = [algebra.pairs(loss)[n] for loss, n in zip(losses, numbers, strict=True)]
        premises = [proved.part(loss, n) for loss, n in zip(losses, numbers, strict=True)]
        if any(epsilon > MAX_EXPONENT for epsilon, _ in way):
            continue
        parts = [(w, *pair) for w, pair in zip(chances, way, strict=True)]
        if rising:
            largest = accumulate((epsilon for _, epsilon, _ in parts), max)
            parts = [(w, e, delta) for e, (w, _, delta) in zip(largest, parts, strict=True)]
        up, down = parts[: len(more)], parts[len(more) :]
        grown = sum((w * (exp_up(epsilon) - 1) for w, epsilon, _ in up), ZERO)
        lost = sum((w * (1 - 1 / exp_up(epsilon)) for w, epsilon, _ in down), ZERO)
        epsilon = log1p_up((grown + lost) / (1 - lost))
        given = sum((w * delta for w, _, delta in up), ZERO)
        other = sum((w * exp_up(-epsilon) * delta for w, epsilon, delta in down), ZERO)
        delta = capped(given + (1 + grown) * other / (1 - lost))
        if delta < 1:
            found.append((epsilon, delta, _mixed_step(chances, premises, len(more), rising)))
    return algebra.of_steps(found)


def _mixed_step(
    chances: Sequence[Fraction], premises: Sequence[Any], more: int, rising: bool
) -> Inference:
    """Returns the step of `mixed`: the chances and losses of the parts, `more` of them of the rows
    that only the first table has."""
    given: dict[str, Any] = {"w": list(chances[:more]), "x": list(premises[:more])}
    grown = "dot(w, exp(rising(x)))" if rising else "dot(w, exp(x))"
    if more == len(chances):
        return Inference(Role.DRAWN_AGAIN, f"ln({grown})", given, "dot(w, d)")
    given |= {"v": list(chances[more:]), "y": list(premises[more:])}
    of_delta = f"dot(w, d) + {grown} * dot(v, exp(-y) * e) / dot(v, exp(-y))"
    return Inference(Role.SAMPLE, f"ln({grown} / dot(v, exp(-y)))", given, of_delta)


def _ways(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yields ways of taking one (ε, δ) of each loss, by their numbers: all first ones, all second
    ones, …, then every way.

    `numbers`: of the (ε, δ) of each loss. Yields nothing if some loss has no finite bound.
    """
    if not all(numbers):
        return
    for n in range(max(numbers)):
        yield [min(n, many - 1) for many in numbers]
    if any(many > 1 for many in numbers):
        yield from product(*map(range, numbers))
