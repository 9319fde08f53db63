"""The algebra of patterns: a loss is the set of patterns that may be the worst at some δ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, islice, pairwise, product
from typing import Any, ClassVar

from dpcompose.core.change.drawn_rows import any_drawn
from dpcompose.core.change.propagation import as_it_is, become, one_below
from dpcompose.core.change.units import (
    OLD_END,
    SINGLE,
    Kind,
    State,
    all_leaves,
    rows_that_change_alike,
    with_alike,
)
from dpcompose.core.loss.algebra import Ask, Chance, LossAlgebra, Walk
from dpcompose.core.loss.compositions import compositions, worst_total
from dpcompose.core.loss.cost import needed
from dpcompose.core.loss.dominance import covering, dominates
from dpcompose.core.loss.loss_bounds import NO_LOSS, known_losses, over_several_steps, path_curves
from dpcompose.core.loss.pattern import (
    NOTHING,
    LossMultiset,
    MechanismLossOptions,
    UndominatedLosses,
    is_noise,
    of_options,
    one,
    size,
    together,
    written_out,
)
from dpcompose.core.loss.pattern_options import (
    MOST_WAYS,
    allocated,
    allocated_instead,
    amplified,
    any_of,
    chained,
    from_above,
    is_one_loss,
    largest_and_rest,
    longest,
    mixture,
    mixture_of_draws,
    parts_of,
    read_together,
    unsampled,
)
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Role
from dpcompose.curves import (
    Curve,
    Grouped,
    PoissonGroup,
    PoissonReplaceOne,
    ReplacedRows,
    Response,
    curve_of,
    least_curve,
    of_several_kinds,
    over_steps,
)
from dpcompose.curves.rounding import ZERO, chances, distinct_numbers, exchanged_up

#: The most patterns of a loss; if there are more, groups of them are covered by worse patterns.
MOST_PATTERNS = 400
#: The most combinations of two sets of patterns that are enumerated,
MOST_JOINED = 2_000
#: and the most atoms in all patterns made by such combinations.
MOST_ATOMS = 50_000
#: Losses of patterns with more atoms than this are covered, if that takes at most so many atoms.
MOST_ATOMS_OF_SHORT, MOST_COVERED = 2, 200_000
#: The most sorts into which all other losses are merged, and the most parts of their patterns.
MOST_SORTS, MOST_PARTS = 32, 1_000
#: The most ranks returned by `behind`, and the most patterns of which one is composed.
MOST_RANKS, MOST_BEHIND = 16, 8
#: Relative differences in size within a sort; the first that gives few sorts is used.
_LIKENESS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, math.inf)
#: The most comparisons of atoms to find dominated patterns.
MOST_COMPARED = 100_000
#: The most pointwise least curves of several guarantees that are computed.
MOST_CURVES = 20
#: The rounding error allowed in sizes, which are floats.
NEARLY = 1 - 1e-9


#: The most rows that change alike for which every number of drawn rows is considered.
MOST_ROWS = 20
#: The numbers of times that a row is drawn with replacement which are told apart; another number
#: counts as the next one of these, or as the size of the sample.
_TIMES = (*range(1, 15), 18, 23, 30, 40, 60)
#: What hardly ever happens: such a chance is left to the largest number.
_HARDLY = Fraction(1, 10**30)


@dataclass(frozen=True, slots=True)
class Patterns(LossAlgebra):
    """Algebra of losses that are sets of patterns: multisets of losses, one set for each worst
    change.

    A loss is the set of patterns that no other one dominates, each of which may be the worst at
    some δ. `curves`: whether (ε, δ) over several steps are also read as power functions; such
    losses are not known to dominate others. `_joined`: the least curves computed so far, by the
    bounds and the number of steps.
    """

    traces: ClassVar[bool] = True
    curves: bool = False
    zero: UndominatedLosses = field(default=(NOTHING,), init=False, compare=False, repr=False)
    none: UndominatedLosses = field(default=(), init=False, compare=False, repr=False)
    notion: Notion = field(default=Notion.PROFILE, init=False, repr=False)
    _joined: dict[tuple[tuple[Curve, ...], int], Curve | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def add(
        self, losses: Iterable[UndominatedLosses], role: Role = Role.GENERAL
    ) -> UndominatedLosses:
        """Returns the composition of losses on the same change, each at any of its patterns.

        If there are too many combinations, patterns are covered by worse ones.
        """
        single: list[LossMultiset] = []
        several: list[UndominatedLosses] = []
        for loss in losses:
            if not loss:
                return ()
            if len(loss) == 1:
                single.append(loss[0])
            else:
                several.append(loss)
        total: UndominatedLosses = (together(single),)
        work = 0
        for loss in several:
            work += len(total) * len(loss) * (longest(total) + longest(loss))
            if len(total) * len(loss) > MOST_JOINED or work > MOST_ATOMS:
                break
            pairs = product(total, loss)
            total = tuple(self._undominated(together(pair) for pair in pairs))
            if len(total) > MOST_PATTERNS:
                break
        else:
            return total
        sorts = self._sorts([(loss, 1) for loss in several])
        short = all(longest(loss) <= MOST_ATOMS_OF_SHORT for loss, _ in sorts)
        if not short or sum(parts_of(loss) for loss, _ in sorts) > MOST_PARTS:
            covered = self._covered((together(single),), several)
            if covered is not None:
                return covered
        share = MOST_PARTS // len(sorts)
        return (together([*single, *(any_of(loss, share).times(n) for loss, n in sorts)]),)

    def _covered(
        self, total: UndominatedLosses, several: Iterable[UndominatedLosses]
    ) -> UndominatedLosses | None:
        """Returns the composition of `total` and `several`, where groups of patterns are covered by
        worse ones.

        Each loss is reduced to few patterns before it is combined. None if that takes too long.
        """
        work = 0
        for loss in several:
            if len(total) * len(loss) > MOST_JOINED:
                few = max(1, math.isqrt(MOST_JOINED))
                total, loss = grouped(total, few), grouped(loss, few)
            work += len(total) * len(loss) * (longest(total) + longest(loss))
            if work > MOST_COVERED:
                return None
            pairs = product(total, loss)
            total = self.undominated(together(pair) for pair in pairs)
        return total

    def _sorts(
        self, losses: Sequence[tuple[UndominatedLosses, int]]
    ) -> list[tuple[UndominatedLosses, int]]:
        """Returns few losses, with counts, that together dominate these very many losses with
        counts.

        Losses of about the same size are merged into one, which may be at any of their patterns.
        """
        order = sorted(losses, key=lambda each: self.key(each[0]), reverse=True)
        starts = _run_starts(order, MOST_SORTS)
        return [
            (
                self.undominated(each for loss, _ in order[start:end] for each in loss),
                sum(n for _, n in order[start:end]),
            )
            for start, end in pairwise([*starts, len(order)])
        ]

    def behind(
        self, ordered: Sequence[tuple[UndominatedLosses, int]], most: int
    ) -> list[tuple[LossMultiset, int]]:
        """Returns patterns with counts, of which entry i dominates the losses from the i-th on.

        `ordered`: losses with their counts, the largest first; `most`: how many of the i are
        needed.
        """
        if is_one_loss(covering([each for loss, _ in ordered for each in loss])):
            return _covers_behind(ordered)
        places = list(accumulate((n for _, n in ordered), initial=0))
        reached = [each for each, place in zip(ordered, places[:-1], strict=True) if place < most]
        starts = _run_starts(reached, MOST_RANKS)
        found: list[tuple[LossMultiset, int]] = []
        behind: UndominatedLosses = ()
        for start, end in reversed(list(pairwise([*starts, len(ordered)]))):
            some = sorted((each for loss, _ in ordered[start:end] for each in loss), key=size)
            few = largest_and_rest(some[::-1], MOST_PATTERNS)
            behind = largest_and_rest(self._undominated([*few, *behind]), MOST_BEHIND)
            found.append((any_of(behind, MOST_PARTS), places[end] - places[start]))
        return found[::-1]

    def times(
        self, loss: UndominatedLosses, copies: int, role: Role = Role.SEQUENTIAL
    ) -> UndominatedLosses:
        """Returns the composition of `copies` copies, each at any of its patterns."""
        if copies == 1 or not loss:
            return loss
        if len(loss) == 1:
            return (loss[0].times(copies),)
        if math.comb(copies + len(loss) - 1, copies) > MOST_PATTERNS:
            fits = longest(loss) <= MOST_ATOMS_OF_SHORT and parts_of(loss) <= MOST_PARTS
            return ((any_of(loss, MOST_PARTS) if fits else covering(loss)).times(copies),)
        return self.undominated(
            together(chosen) for chosen in combinations_with_replacement(loss, copies)
        )

    def worst_case(self, losses: Iterable[UndominatedLosses]) -> UndominatedLosses:
        """Returns a loss that covers each of several possible changes: the union of their patterns.

        Empty if one of them has no finite bound.
        """
        found: list[LossMultiset] = []
        for loss in losses:
            if not loss:
                return ()
            found.extend(loss)
        return self.undominated(found)

    def best(self, losses: Iterable[UndominatedLosses]) -> UndominatedLosses:
        """Returns the loss that follows from several bounds on one change, all of which hold.

        A bound that some change attains is preferred. Upper bounds of one pattern each become
        options of one atom; otherwise the bound of the smallest estimated size is returned.
        """
        finite = [loss for loss in losses if loss]
        attained = [loss for loss in finite if not any(each.loose for each in loss)]
        if not attained and all(len(loss) == 1 for loss in finite):
            return either(tuple(loss[0] for loss in finite))
        return min(attained or finite, key=self.key, default=())

    def chain(
        self, parts: Sequence[tuple[UndominatedLosses, int]], free: bool = False
    ) -> UndominatedLosses:
        """Returns the loss along a path of neighbouring tables, whose steps may charge different
        mechanisms.

        `parts`: the loss of a step and the number of such steps; `free`: any order of steps is
        possible.
        """
        steps: list[tuple[UndominatedLosses, int]] = []
        for loss, count in parts:
            if not count:
                continue
            if not loss:
                return ()
            if any(pattern.atoms for pattern in loss):
                steps.append((loss, count))
        if not steps:
            return self.zero
        if len(steps) == 1 and steps[0][1] == 1:
            return steps[0][0]
        options = tuple(dict.fromkeys(chained(steps, self.undominated, self.curves, free)))
        if not options:
            return ()
        traces = tuple((loss[0].trace, count) for loss, count in steps)
        return (of_options(options, traces),)

    def key(self, loss: UndominatedLosses) -> tuple[float, float]:
        """Returns an estimated size (ρ, ε) to sort losses by; infinite if there is no bound."""
        return max((size(each) for each in loss), default=(math.inf, math.inf))

    def charge(self, placed: Sequence[Placed], state: State) -> UndominatedLosses:
        """Returns the loss of one copy of a mechanism as one pattern with one atom, whose options
        are all known bounds."""
        options = known_losses(placed, state)
        if NO_LOSS in options:
            return self.zero
        if not options:
            return ()
        # Noise attains its loss at any shift; a stated ε is attained over a single step only.
        attained = all(is_noise(each) for each in options) or _at_one_step(placed, state)
        joined = [self._least_curve(tuple(options), 1)]
        if self.curves:
            # These may be below the bounds by any one guarantee.
            joined += path_curves(placed, state)
            if (several := over_several_steps(placed, state)) is not None:
                joined.append(self._least_curve(*several))
        return single([*options, *(each for each in joined if each is not None)], attained)

    def _least_curve(self, options: tuple[Curve, ...], steps: int) -> Curve | None:
        """Returns the pointwise least curve of bounds that hold for each of so many steps, over all
        of them.

        None if they are of one kind, or if too many curves were computed already.
        """
        key = (options, steps)
        if key not in self._joined:
            if len(self._joined) >= MOST_CURVES or not of_several_kinds(options):
                return None
            curve = least_curve(options) if steps == 1 else over_steps(options, steps)
            self._joined[key] = curve
        return self._joined[key]

    def traced(self, loss: UndominatedLosses, origin: Any) -> UndominatedLosses:
        return tuple(replace(each, trace=origin) if each.atoms else each for each in loss)

    def of_epsilon(self, epsilon: Fraction, noise: Family | None = None) -> UndominatedLosses:
        """Returns the loss of an ε-DP mechanism; with `noise`, the whole curve of that noise with
        this ε."""
        curve = curve_of(Response(epsilon)) if noise is None else noise.loss(epsilon)
        return (of_options([curve]),)

    def all_lost(self) -> UndominatedLosses:
        return (one(curve_of(None, ZERO, ZERO), attained=False),)

    def from_above(self, loss: UndominatedLosses) -> UndominatedLosses:
        return tuple(from_above(each) for each in loss)

    unamplified = from_above

    def _worst_of_finite(
        self,
        rule: Any,
        once: Sequence[UndominatedLosses],
        both: Sequence[UndominatedLosses],
        new: Sequence[UndominatedLosses] | None,
    ) -> tuple[UndominatedLosses, tuple[Any, ...]]:
        return rule.of_patterns(self, once, both, new), ()

    def spread_rows(self, rows: Any) -> Walk:
        return (yield from rows.by_patterns(self))

    def amplified(
        self,
        loss: UndominatedLosses,
        rate: Fraction,
        replace: bool = False,
        side: str = "both",
        role: Role | None = None,
    ) -> UndominatedLosses:
        return self.undominated(amplified(pattern, rate, replace, side) for pattern in loss)

    def coupled(self, ways: Sequence[Chance]) -> UndominatedLosses:
        """Returns the loss where the samples of both tables hold the same part of a change, or
        none.

        `ways`: the chance and the loss of each part. See `MixtureOfDraws`.
        """
        if len(ways) == 1:
            ((rate, loss),) = ways
            return tuple(mixture_of_draws([(rate, pattern)]) for pattern in loss)
        if not all(loss for _, loss in ways):
            return ()
        return (mixture_of_draws([(rate, covering(loss)) for rate, loss in ways]),)

    def mixture(self, ways: Sequence[Chance], whole: UndominatedLosses) -> UndominatedLosses:
        if not all(loss for _, loss in ways):
            return ()
        return (mixture([(chance, covering(loss)) for chance, loss in ways], ways[0][1][0]),)

    def allocated(
        self, loss: UndominatedLosses, steps: int, side: str = "both"
    ) -> UndominatedLosses:
        return self.undominated(allocated(pattern, steps, side) for pattern in loss)

    def allocated_instead(
        self, one_end: UndominatedLosses, both: UndominatedLosses, steps: int
    ) -> UndominatedLosses:
        if steps < 2 or not one_end:
            return ()
        whole = both[0] if len(both) == len(one_end) == 1 and steps == 2 else None
        found = [allocated_instead(pattern, whole) for pattern in one_end]
        known = [pattern for pattern in found if pattern is not None]
        return self.undominated(known) if len(known) == len(found) else ()

    def exchanged(
        self, once: UndominatedLosses, both: UndominatedLosses, rate: Fraction, rounds: int
    ) -> UndominatedLosses:
        """Returns the loss of one replaced row under Poisson samples, by its curve and by its ε.

        Parameters: see `LossAlgebra.exchanged`.
        """
        ways = [self._exchanged_curves(once, both, rate, rounds)]
        ends = [worst_total(each, Notion.PURE) for each in (once, both)]
        epsilon = exchanged_up(ends[0], ends[1], rate)
        if epsilon is not None:
            known = curve_of(Response(epsilon)) if epsilon else curve_of(None)
            ways.append((of_options([known], (both or once)[0].trace, rounds),))
        return self.best(ways)

    def _exchanged_curves(
        self, once: UndominatedLosses, both: UndominatedLosses, rate: Fraction, rounds: int
    ) -> UndominatedLosses:
        """Returns the loss of one replaced row under Poisson samples as a curve: see
        `curves.backends.lattice.samples.exchanged`."""
        if not once:
            return self.times(self.coupled([(rate, both)]), rounds)
        end, whole = covering(once), covering(both) if both else None
        if not end.atoms or (whole is not None and not whole.atoms):
            return self.zero
        options = [
            curve_of(PoissonReplaceOne(rate, *pair))
            for pair in islice(
                product(compositions(end), [None] if whole is None else compositions(whole)),
                MOST_WAYS,
            )
        ]
        options.extend(() if whole is None else unsampled(whole, True))
        return self.times((of_options(options, (both or once)[0].trace),), rounds)

    def several_rows(
        self, state: State, rate: Fraction, one_sided: bool, side: str, rounds: int, ask: Ask
    ) -> Walk:
        """Bounds the loss of several rows under Poisson samples, by how many of them are drawn.

        Parameters: see `LossAlgebra.several_rows`. Either all rows are replaced, or none is.
        """
        of_rows, rows = rate, rows_that_change_alike(state) or 0
        pairs = any(leaf.kind is Kind.PAIR for leaf in all_leaves(state))
        [(leaf, units), *_] = all_leaves(state).items()
        if leaf.kind is Kind.USER and units > 1:
            # Either all rows of a user are drawn, or none is.
            rate = any_drawn(int(leaf.size or 0), rate)
        if rows < (1 if leaf.kind is Kind.USER else 2):
            raise Refused("it is for rows that change alike")
        numbers = distinct_numbers(rows, rate, one_sided)
        once: list[UndominatedLosses] = []
        both: list[UndominatedLosses] = []
        for some in (with_alike(state, n) for n in numbers):
            end = become(OLD_END) if pairs else as_it_is
            once.append((yield from self.part_drawn(some, ask, end)))
            if pairs:
                both.append((yield from self.part_drawn(some, ask)))
        side = side if one_sided else "both"
        if one_sided and not both and all(each == once[0] for each in once):
            # All numbers of drawn rows above 0 lose the same.
            loss = self.amplified(once[0], any_drawn(rows, rate), False, side)
        else:
            several = PoissonGroup(rate, (), rows if pairs else 0, (), one_sided, side, (*numbers,))
            loss = self._sampled_rows(several, once, both)
        total = self.times(loss, rounds)
        if leaf.kind is Kind.USER and units > 1 and loss != self.zero:
            # Another bound: all rows of all users are drawn independently.
            single = one_below(state, False, become(SINGLE))
            all_rows = with_alike(single, units * int(leaf.size or 0))
            other = yield from self.several_rows(all_rows, of_rows, False, side, rounds, ask)
            total = self.best([total, other])
        return total

    def _sampled_rows(
        self,
        like: PoissonGroup,
        once: Sequence[UndominatedLosses],
        replaced: Sequence[UndominatedLosses],
    ) -> UndominatedLosses:
        """Returns the loss of several rows through a Poisson sample: `several_rows.sampled_rows`.

        `like`: the sample, without its losses. `once`: the loss in the sample of each number of
        additional rows that `like` distinguishes; `replaced`: the losses of 1, 2, … rows replaced
        in the sample, where they are known.
        """
        if not all(once):
            return ()
        ends = [covering(loss) for loss in once]
        if not any(end.atoms for end in ends):
            return self.zero
        alike = [covering(loss) for loss in replaced] if all(replaced) else []
        options = [
            curve_of(replace(like, once=way[: len(ends)], both=way[len(ends) :]))
            for way in read_together([*ends, *alike])
        ]
        return (of_options(options, once[-1][0].trace),)

    def rows_of_size(self, state: State, chances: Sequence[tuple[int, Fraction]], ask: Ask) -> Walk:
        if len(chances) > MOST_ROWS + 1:
            raise Refused("it is for a few rows")
        return (yield from LossAlgebra.rows_of_size(self, state, chances, ask))

    def number_drawn(
        self, chances: Sequence[Fraction], losses: Sequence[UndominatedLosses]
    ) -> UndominatedLosses:
        """Returns the loss of replaced rows of which a sample holds some: see
        `curves.backends.lattice.several_rows.replaced_rows`.

        Parameters: see `LossAlgebra.number_drawn`.
        """
        if not all(losses):
            return ()
        ends = [covering(loss) for loss in losses]
        if not any(end.atoms for end in ends):
            return self.zero
        options = [curve_of(ReplacedRows(tuple(chances), way)) for way in read_together(ends)]
        return (of_options(options, losses[-1][0].trace),)

    def numbers_drawn(self, size: int, rate: Fraction) -> Iterable[int]:
        numbers = [n for n in _TIMES if n < size]
        beyond = accumulate(chances(size, rate, [*numbers, size])[::-1])
        # Where hardly any draw is beyond a number, it is the last one.
        some = sum(chance > _HARDLY for chance in beyond)
        return numbers[: some - 1]

    def undominated(self, patterns: Iterable[LossMultiset]) -> UndominatedLosses:
        """Returns the patterns that no other pattern dominates, the worst by size first.

        If there are too many, groups of neighbours are replaced by patterns that cover them.
        """
        return grouped(self._undominated(patterns))

    def _undominated(self, patterns: Iterable[LossMultiset]) -> Sequence[LossMultiset]:
        """Returns the undominated patterns without limiting their number to `MOST_PATTERNS`."""
        listed = list(patterns)
        if len(listed) == 1:
            return listed
        order = sorted(((size(each), each) for each in listed), key=lambda e: e[0], reverse=True)
        kept: list[tuple[float, LossMultiset]] = []
        work = 0
        for (_, epsilon), pattern in order:
            # Patterns that take too long to compare are kept.
            work += len(kept) * len(pattern.atoms)
            if work > MOST_COMPARED or not any(
                e >= epsilon * NEARLY and dominates(p, pattern) for e, p in kept
            ):
                kept.append((epsilon, pattern))
            if len(kept) >= 2 * MOST_PATTERNS:
                kept = [(size(each)[1], each) for each in grouped([p for _, p in kept])]
        return [pattern for _, pattern in kept]


def _run_starts(ordered: Sequence[tuple[UndominatedLosses, int]], most: int) -> list[int]:
    """Returns the first index of each run of losses of about one size, at most `most` runs.

    `ordered`: the losses with their counts, the largest first.
    """
    sizes = [Patterns().key(loss)[0] for loss, _ in ordered]
    starts: list[int] = []
    for likeness in _LIKENESS:
        starts = []
        for place, about in enumerate(sizes):
            if not starts or about * (1 + likeness) < sizes[starts[-1]]:
                starts.append(place)
        if len(starts) <= most:
            break
    return starts


def _covers_behind(
    ordered: Sequence[tuple[UndominatedLosses, int]],
) -> list[tuple[LossMultiset, int]]:
    """Returns for each loss a pattern that dominates it and all later losses, with its count.

    `ordered`: losses with their counts, the largest first.
    """
    found: list[tuple[LossMultiset, int]] = []
    after: UndominatedLosses = ()
    for loss, n in reversed(ordered):
        after = (covering([*loss, *after]),)
        found.append((after[0], n))
    return found[::-1]


def grouped(patterns: Sequence[LossMultiset], most: int = MOST_PATTERNS) -> UndominatedLosses:
    """Returns at most `most` patterns that dominate all of `patterns`, which must be sorted by
    size.

    If there are more, groups of neighbours are covered by one pattern.
    """
    if len(patterns) <= most:
        return tuple(patterns)
    width = -(-len(patterns) // most)
    return tuple(covering(patterns[i : i + width]) for i in range(0, len(patterns), width))


def either(patterns: UndominatedLosses) -> UndominatedLosses:
    """Returns one atom whose options are all these patterns, which are bounds on one and the same
    loss."""
    if len(patterns) <= 1:
        return patterns
    if any(not pattern.atoms for pattern in patterns):
        return (NOTHING,)
    options: list[Curve] = []
    for pattern in patterns:
        if sum(pattern.atoms.values()) == 1:
            options.extend(next(iter(pattern.atoms)).options)
        else:
            options.extend(curve_of(Grouped(each, 1)) for each in compositions(pattern))
    return (of_options(options, patterns[0].trace),)


def _at_one_step(placed: Sequence[Placed], state: State) -> bool:
    """Returns whether every guarantee covers the change in exactly one step of its relation."""
    if len(state) != 1 or state[0][1] != 1:
        return False
    return all(each.usable and needed(each, state[0][0]) == [(1, 1)] for each in placed)


def single(options: Sequence[Curve], attained: bool) -> UndominatedLosses:
    """Returns the loss of one mechanism, of which each option is a bound; `attained`: see
    `LossMultiset`.

    If its only option is a composition, each of the composed losses becomes an atom.
    """
    if len(options) == 1 and (several := written_out(options[0])) is not None:
        atoms = {MechanismLossOptions((known,)): n for known, n in several}
        return (LossMultiset(atoms, attained=attained),)
    return (one(*options, attained=attained),)
