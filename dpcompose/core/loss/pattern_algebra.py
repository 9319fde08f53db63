"""The algebra of patterns: losses of a change as the patterns that may be the worst at some δ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, combinations_with_replacement, islice, pairwise, product

from dpcompose.core.loss.algebras import Loss, Pairs, Scalars, Survival, walk_pairs
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.loss.dominance import covering, dominates, family, of_family, weighed
from dpcompose.core.loss.pair_steps import pair_steps
from dpcompose.core.loss.pattern import (
    NOTHING,
    Atom,
    Known,
    Pattern,
    one,
    size,
    together,
    written_out,
)
from dpcompose.core.loss.pattern_totals import in_notion, total_pair, worst_total
from dpcompose.core.loss.pure_steps import PureSteps, least_of
from dpcompose.core.notions.notion import Amount, Notion, chain
from dpcompose.core.numbers.exact import ONE, ZERO, amplified_up
from dpcompose.core.numbers.order import rank
from dpcompose.core.profile.parts import (
    AnyOf,
    Composition,
    Concentrated,
    Drawn,
    Exchanged,
    Grouped,
    MechanismLoss,
    Part,
    ReplacedRows,
    Response,
    Sampled,
    SampledRows,
    just_so,
)

#: A set of undominated patterns, the worst by size first; empty: no finite bound is known.
Patterned = tuple[Pattern, ...]

#: At most so many are carried; what exceeds them is covered, group by group, by worse patterns.
MOST_PATTERNS = 400
#: And so many ways of joining two sets of patterns are looked at.
MOST_JOINED = 2_000
#: Losses are joined in all ways while all patterns that are made have so many atoms.
MOST_ATOMS = 50_000
#: Else the losses of longer patterns than this are covered, unless those have so many atoms.
MOST_ATOMS_OF_SHORT, MOST_COVERED = 2, 200_000
#: Of all others so many sorts of losses are told apart, each any of some patterns, of so many parts
#: in all; one of a composition, which takes long to put on a grid, counts so often.
MOST_SORTS, MOST_PARTS, _COMPOSED = 32, 1_000, 20
#: Of a choice among many losses so many ranks are told apart, each any of so many of the losses.
MOST_RANKS, MOST_BEHIND = 16, 8
#: By how much losses of one sort may differ in size, the least that gives few sorts.
_LIKENESS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0, math.inf)
#: After so many comparisons of atoms patterns are no longer held against each other.
MOST_COMPARED = 100_000
#: What sizes, which are floats, may be off by.
NEARLY = 1 - 1e-9
#: Samples are followed along a path of so many steps; their curves take long.
MOST_STEPS = 64
#: Parts of which few are followed along a path.
_SLOW = (Sampled, Exchanged, SampledRows, ReplacedRows, Grouped)
#: Ways of reading the losses of one row there or not, and of one replaced, that are tried.
_MOST_PAIRS = 4


@dataclass(frozen=True, slots=True)
class Patterns:
    """Losses as sets of patterns, with the operations of `loss.Scalars`.

    `curves`: whether (ε, δ) over several steps are read as power functions too; such losses are not
    known to dominate others. `given_up`: how many patterns losses had that were too many together.
    `hopeless`: the same of a problem that this one differs from in little; they are not tried.
    """

    curves: bool = False
    hopeless: frozenset[tuple[int, ...]] = field(default=frozenset(), compare=False, repr=False)
    given_up: set[tuple[int, ...]] = field(default_factory=set, compare=False, repr=False)
    zero: Patterned = (NOTHING,)
    none: Patterned = ()
    notion: Notion = Notion.PROFILE

    def add(self, losses: Iterable[Patterned]) -> Patterned:
        """All of the losses, each at any of its patterns."""
        single: list[Pattern] = []
        several: list[Patterned] = []
        for loss in losses:
            if not loss:
                return ()
            if len(loss) == 1:
                single.append(loss[0])
            else:
                several.append(loss)
        total: Patterned = (together(single),)
        work, sizes = 0, tuple(sorted(map(len, several)))
        for loss in several:
            if sizes in self.hopeless:
                break
            work += len(total) * len(loss) * (_longest(total) + _longest(loss))
            if len(total) * len(loss) > MOST_JOINED or work > MOST_ATOMS:
                break
            pairs = product(map(weighed, total), map(weighed, loss))
            total = tuple(self._undominated(together(pair) for pair in pairs))
            if len(total) > MOST_PATTERNS:
                break
        else:
            return total
        self.given_up.add(sizes)
        sorts = self._sorts([(loss, 1) for loss in several])
        short = all(_longest(loss) <= MOST_ATOMS_OF_SHORT for loss, _ in sorts)
        if not short or sum(_parts_of(loss) for loss, _ in sorts) > MOST_PARTS:
            covered = self._covered((together(single),), several)
            if covered is not None:
                return covered
        share = MOST_PARTS // len(sorts)
        return (together([*single, *(_any_of(loss, share).times(n) for loss, n in sorts)]),)

    def _covered(self, total: Patterned, several: Iterable[Patterned]) -> Patterned | None:
        """The losses one after the other, some patterns of each covered together; None where that
        is long."""
        work = 0
        for loss in several:
            if len(total) * len(loss) > MOST_JOINED:
                few = max(1, math.isqrt(MOST_JOINED))
                total, loss = grouped(total, few), grouped(loss, few)
            work += len(total) * len(loss) * (_longest(total) + _longest(loss))
            if work > MOST_COVERED:
                return None
            pairs = product(map(weighed, total), map(weighed, loss))
            total = self.undominated(together(pair) for pair in pairs)
        return total

    def _sorts(self, losses: Sequence[tuple[Patterned, int]]) -> list[tuple[Patterned, int]]:
        """Few sorts of losses, each with how many there are, that dominate very many.

        Losses of about the same size are taken as one sort, any of whose patterns it may be.
        """
        order = sorted(losses, key=lambda each: self.key(each[0]), reverse=True)
        starts = _alike(order, MOST_SORTS)
        return [
            (
                self.undominated(each for loss, _ in order[start:end] for each in loss),
                sum(n for _, n in order[start:end]),
            )
            for start, end in pairwise([*starts, len(order)])
        ]

    def behind(
        self, ordered: Sequence[tuple[Patterned, int]], most: int
    ) -> list[tuple[Pattern, int]]:
        """Patterns, with how many of each, of which the i-th dominates the i-th loss and all after
        it, for the `most` first; losses are given with how many there are of each, the largest
        first."""
        if is_one_loss(covering([each for loss, _ in ordered for each in loss])):
            return _covers_behind(ordered)
        places = list(accumulate((n for _, n in ordered), initial=0))
        reached = [each for each, place in zip(ordered, places[:-1], strict=True) if place < most]
        starts = _alike(reached, MOST_RANKS)
        found: list[tuple[Pattern, int]] = []
        behind: Patterned = ()
        for start, end in reversed(list(pairwise([*starts, len(ordered)]))):
            some = sorted((each for loss, _ in ordered[start:end] for each in loss), key=size)
            few = _largest_and_rest(some[::-1], MOST_PATTERNS)
            behind = _largest_and_rest(self._undominated([*few, *behind]), MOST_BEHIND)
            found.append((_any_of(behind, MOST_PARTS), places[end] - places[start]))
        return found[::-1]

    def times(self, loss: Patterned, copies: int) -> Patterned:
        """So many copies, each at any of the patterns."""
        if copies == 1 or not loss:
            return loss
        if len(loss) == 1:
            return (loss[0].times(copies),)
        if math.comb(copies + len(loss) - 1, copies) > MOST_PATTERNS:
            fits = _longest(loss) <= MOST_ATOMS_OF_SHORT and _parts_of(loss) <= MOST_PARTS
            return ((_any_of(loss, MOST_PARTS) if fits else covering(loss)).times(copies),)
        return self.undominated(
            together(chosen) for chosen in combinations_with_replacement(loss, copies)
        )

    def worst(self, losses: Iterable[Patterned]) -> Patterned:
        """Any of several changes may happen."""
        found: list[Pattern] = []
        for loss in losses:
            if not loss:
                return ()
            found.extend(loss)
        return self.undominated(found)

    def best(self, losses: Iterable[Patterned]) -> Patterned:
        """What several bounds that all hold say together.

        One that some change attains is taken; of bounds from above each may be used, as long as
        each is one pattern; else the one that looks smaller is taken.
        """
        finite = [loss for loss in losses if loss]
        attained = [loss for loss in finite if not any(each.loose for each in loss)]
        if not attained and all(len(loss) == 1 for loss in finite):
            return either([loss[0] for loss in finite])
        return min(attained or finite, key=self.key, default=())

    def chain(self, parts: Sequence[tuple[Patterned, int]], free: bool = False) -> Patterned:
        """Along a path of neighbouring tables; steps may hit different mechanisms."""
        steps: list[tuple[Patterned, int]] = []
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
        options = tuple(dict.fromkeys(_chained(steps, self.curves, free)))
        if not options:
            return ()
        traces = tuple((loss[0].trace, count) for loss, count in steps)
        return (Pattern({Atom(options): 1}, True, False, traces),)

    def group(self, loss: Patterned, steps: int) -> Patterned:
        """Group privacy of a composed loss."""
        return self.chain([(loss, steps)])

    def key(self, loss: Patterned) -> tuple[float, float]:
        """A number to sort by."""
        return max((size(each) for each in loss), default=(math.inf, math.inf))

    def amplified(self, loss: Patterned, rate: Fraction, replace: bool, side: str) -> Patterned:
        """A composition read through a secret sample (theory, section 7)."""
        return self.undominated(_amplified(pattern, rate, replace, side) for pattern in loss)

    def from_above(self, loss: Patterned) -> Patterned:
        """The same as a bound that perhaps no change attains."""
        return tuple(_from_above(each) for each in loss)

    def coupled(self, ways: Sequence[tuple[Fraction, Patterned]]) -> Patterned:
        """A sample that holds some part of a change in both tables, or none of it: see `Drawn`."""
        if len(ways) == 1:
            ((rate, loss),) = ways
            return tuple(_drawn([(rate, pattern)]) for pattern in loss)
        if not all(loss for _, loss in ways):
            return ()
        return (_drawn([(rate, covering(loss)) for rate, loss in ways]),)

    def exchanged(self, once: Patterned, both: Patterned, rate: Fraction, rounds: int) -> Patterned:
        """One row of many replaced, each drawn with chance `rate`: see `profile.exchange`."""
        if not once:
            return self.times(self.coupled([(rate, both)]), rounds)
        told = (both or once)[0].trace
        end, whole = covering(once), covering(both) if both else None
        if not end.atoms or (whole is not None and not whole.atoms):
            return self.zero
        options = [
            Known(Exchanged(rate, *pair))
            for pair in islice(
                product(compositions(end), [None] if whole is None else compositions(whole)),
                _MOST_PAIRS,
            )
        ]
        options.extend(() if whole is None else _unsampled(whole, True))
        pattern = Pattern({Atom(tuple(dict.fromkeys(options))): 1}, True, False, told)
        return self.times((pattern,), rounds)

    def sampled_rows(
        self,
        once: Sequence[Patterned],
        replaced: Sequence[Patterned],
        rate: Fraction,
        one_sided: bool,
    ) -> Patterned:
        """Several rows through one Poisson sample: see `profile.sampled_rows`.

        `once`: the losses of one row more in the sample, of two, …; `replaced`: of one row replaced
        there, of two, … where so many are.
        """
        if not all(once):
            return ()
        ends = [covering(loss) for loss in once]
        if not any(end.atoms for end in ends):
            return self.zero
        alike = [covering(loss) for loss in replaced] if all(replaced) else []
        options = (
            Known(SampledRows(rate, way[: len(ends)], len(replaced), way[len(ends) :], one_sided))
            for way in _read_together([*ends, *alike])
        )
        atom = Atom(tuple(dict.fromkeys(options)))
        return (Pattern({atom: 1}, True, False, once[-1][0].trace),)

    def replaced_rows(self, chances: Sequence[Fraction], once: Sequence[Patterned]) -> Patterned:
        """Several rows replaced above a sample of one size: see `profile.replaced_rows`.

        `chances` that none of them is drawn, one, …; `once`: the losses of one row, of two, ….
        """
        if not all(once):
            return ()
        ends = [covering(loss) for loss in once]
        if not any(end.atoms for end in ends):
            return self.zero
        options = (Known(ReplacedRows(tuple(chances), way)) for way in _read_together(ends))
        atom = Atom(tuple(dict.fromkeys(options)))
        return (Pattern({atom: 1}, True, False, once[-1][0].trace),)

    def pure(self, loss: Patterned) -> Fraction | None:
        """An ε that holds without a δ, None if none is known."""
        return worst_total(loss, Notion.PURE)

    def one_epsilon(self, epsilon: Amount, rounds: int, like: Patterned) -> Patterned:
        """`rounds` losses of one ε each, told like another loss; none if it is infinite."""
        if isinstance(epsilon, float):
            return ()
        known = Known(Response(epsilon)) if epsilon else Known(None)
        return (Pattern({Atom((known,)): rounds}, True, False, like[0].trace),)

    def undominated(self, patterns: Iterable[Pattern]) -> Patterned:
        """Those that no other one dominates; if too many, groups of them are covered."""
        return grouped(self._undominated(patterns))

    def _undominated(self, patterns: Iterable[Pattern]) -> Sequence[Pattern]:
        listed = list(patterns)
        if len(listed) == 1:
            return listed
        order = sorted(((size(each), each) for each in listed), key=lambda e: e[0], reverse=True)
        kept: list[tuple[float, Pattern]] = []
        work = 0
        for (_, epsilon), pattern in order:
            # What is too long to hold against the others is kept.
            work += len(kept) * len(pattern.atoms)
            if work > MOST_COMPARED or not any(
                e >= epsilon * NEARLY and dominates(p, pattern) for e, p in kept
            ):
                kept.append((epsilon, pattern))
            if len(kept) >= 2 * MOST_PATTERNS:
                kept = [(size(each)[1], each) for each in grouped([p for _, p in kept])]
        return [pattern for _, pattern in kept]


def _alike(ordered: Sequence[tuple[Patterned, int]], most: int) -> list[int]:
    """Where each of at most so many runs of losses of about one size starts; the largest first."""
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


def _longest(loss: Patterned) -> int:
    """How many sorts of atoms the pattern has that has most."""
    return max(len(pattern.atoms) for pattern in loss)


def _parts_of(loss: Patterned) -> int:
    """How long it takes to put all patterns on a grid, in parts."""
    return sum(map(_parts, loss))


def _parts(pattern: Pattern) -> int:
    sorts = len(pattern.atoms)
    return sorts if sorts < 2 else sorts * _COMPOSED


def _any_of(loss: Patterned, most: int) -> Pattern:
    """One loss, any of several patterns, as one that dominates them all: see `AnyOf`.

    `most`: so many parts are put on a grid; the smallest patterns are taken together.
    """
    loss = _largest_and_rest(loss, most)
    if len(loss) == 1:
        return loss[0]
    options = [Known(AnyOf(tuple(dict.fromkeys(way)))) for way in _read_together(loss)]
    return Pattern({Atom(tuple(dict.fromkeys(options))): 1}, True, False, loss[0].trace)


def _read_together(patterns: Sequence[Pattern]) -> Iterator[tuple[Composition, ...]]:
    """Several patterns as compositions, all by their first options, then by the next ones."""
    ways = [list(islice(compositions(pattern), _MOST_PAIRS)) for pattern in patterns]
    for i in range(max(map(len, ways))):
        yield tuple(each[min(i, len(each) - 1)] for each in ways)


def _largest_and_rest(loss: Sequence[Pattern], most: int) -> Patterned:
    """The first patterns, of so many parts in all, and one that dominates all others: what covers
    them, where that is one loss and a δ."""
    fitting = sum(cost <= most for cost in accumulate(map(_parts, loss)))
    if fitting == len(loss):
        return tuple(loss)
    rest = covering(loss[fitting:])
    return (*loss[:fitting], rest if is_one_loss(rest) else _concentrated(loss[fitting:]))


def is_one_loss(pattern: Pattern) -> bool:
    """Whether there is at most one loss, of one sort, beside a δ."""
    known = [option for atom in pattern.atoms for option in atom.options]
    losses = sum(option != Known(None, ZERO, option.stay) for option in known)
    return losses <= 1 and not any(isinstance(option.part, AnyOf) for option in known)


def _covers_behind(ordered: Sequence[tuple[Patterned, int]]) -> list[tuple[Pattern, int]]:
    found: list[tuple[Pattern, int]] = []
    after: Patterned = ()
    for loss, n in reversed(ordered):
        after = (covering([*loss, *after]),)
        found.append((after[0], n))
    return found[::-1]


def _concentrated(patterns: Sequence[Pattern]) -> Pattern:
    """What dominates all of several patterns: the largest ρ with all δ; else what covers them."""
    rho, stay = ZERO, Survival(ONE)
    for pattern in patterns:
        known = _rho_and_stay(pattern)
        if known is None:
            return covering(patterns)
        rho, stay = max(rho, known[0]), max(stay, known[1])
    return Pattern({Atom((Known(Concentrated(rho), ZERO, stay.stay),)): 1}, True, False)


def _rho_and_stay(pattern: Pattern) -> tuple[Fraction, Survival] | None:
    """Basic composition of a pattern in ρ and δ; None if some atom has no ρ."""
    rho, stay = ZERO, Survival(ONE)
    for atom, n in pattern.atoms.items():
        ways = [(in_notion(each._replace(stay=ONE), Notion.ZCDP), each) for each in atom.options]
        known = [(amount, each.stay) for amount, each in ways if amount is not None]
        if not known:
            return None
        least = min(known)
        rho += least[0] * n
        stay = stay + Survival(least[1]) * n
    return rho, stay


def grouped(patterns: Sequence[Pattern], most: int = MOST_PATTERNS) -> Patterned:
    """At most so many patterns that dominate all of these, which are ordered by size."""
    if len(patterns) <= most:
        return tuple(patterns)
    width = -(-len(patterns) // most)
    return tuple(covering(patterns[i : i + width]) for i in range(0, len(patterns), width))


def either(patterns: Sequence[Pattern]) -> Patterned:
    """Several bounds on one loss as one atom, any of whose options may be used."""
    if len(patterns) <= 1:
        return tuple(patterns)
    if any(not pattern.atoms for pattern in patterns):
        return (NOTHING,)
    options: list[Known] = []
    for pattern in patterns:
        if sum(pattern.atoms.values()) == 1:
            options.extend(next(iter(pattern.atoms)).options)
        else:
            options.extend(Known(Grouped(each, 1)) for each in compositions(pattern))
    return (Pattern({Atom(tuple(dict.fromkeys(options))): 1}, True, False, patterns[0].trace),)


# ---------------------------------------------------------------------------------------------
# Chains and samples


def _chained(steps: Sequence[tuple[Patterned, int]], curves: bool, free: bool) -> Iterator[Known]:
    """What is known of a path as a whole."""
    shift = _one_family(steps)
    any_known = shift is not None
    if shift is not None:
        yield Known(shift)
    for notion in (Notion.PURE, Notion.ZCDP, Notion.GDP):
        parts: list[tuple[Fraction, int]] = []
        for loss, count in steps:
            amount = worst_total(loss, notion)
            if amount is None:
                break
            parts.append((amount, count))
        else:
            amount = Fraction(chain(parts, notion))
            any_known = True
            if notion is Notion.PURE:
                if not isinstance(shift, PureSteps) or amount < shift.greatest():
                    path = max(each for each, _ in parts), sum(count for _, count in parts)
                    yield from map(Known, least_of(amount, [path]))
            elif notion is Notion.ZCDP:
                yield Known(Concentrated(amount))
            elif notion is Notion.GDP:
                yield Known(None, amount)
    pairs = [([total_pair(pattern) for pattern in loss], count) for loss, count in steps]
    if all(pair is not None for found, _ in pairs for pair in found):
        worst = [
            ((max(p[0] for p in found if p), max(p[1] for p in found if p)), count)
            for found, count in pairs
        ]
        joint = walk_pairs(worst, free)
        if joint is not None and joint[1]:
            any_known = True
            yield Known(Response(joint[0]), ZERO, 1 - joint[1])
        if curves:
            each = max(pair[0] for pair, _ in worst), max(pair[1] for pair, _ in worst)
            ways = [worst] if free else []
            yield from pair_steps([*ways, [(each, sum(count for _, count in worst))]])
    if not any_known or (len(steps) == 1 and len(steps[0][0]) == 1):
        # Each step loses no more than what covers all of them.
        worst_of_all = Patterns().undominated(pattern for loss, _ in steps for pattern in loss)
        pattern = covering(worst_of_all)
        count = sum(count for _, count in steps)
        for composition in islice(compositions(pattern), 2):
            sampled = any(isinstance(part, _SLOW) for part, _ in composition.parts)
            if not sampled or count <= MOST_STEPS:
                yield Known(Grouped(composition, count))


def _one_family(steps: Sequence[tuple[Patterned, int]]) -> Part | None:
    """The sum of the shifts, where every step hits one loss of one and the same mechanism."""
    key: object = None
    shift = ZERO
    for loss, count in steps:
        largest = ZERO
        for pattern in loss:
            if sum(pattern.atoms.values()) != 1:
                return None
            (atom,) = pattern.atoms
            known = atom.options[0]
            found = family(known.part) if isinstance(known.part, MechanismLoss) else None
            if found is None or known.gaussian or known.stay != 1 or key not in (None, found[0]):
                return None
            key = found[0]
            largest = max(largest, found[1])
        shift += largest * count
    return of_family(key, shift)


def _from_above(pattern: Pattern) -> Pattern:
    return Pattern(pattern.atoms, True, False, pattern.trace)


def _unsampled(pattern: Pattern, always: bool = False) -> Iterator[Known]:
    """The same without the sample, where parts lose by being composed: read so they may lose less.

    What is known of them in other ways, their Rényi divergences, is not known through a sample.
    `always`: any parts, where the sample is known on a grid alone.
    """
    for composition in compositions(pattern):
        if always or not all(
            just_so(part) or isinstance(part, PureSteps) for part, _ in composition.parts
        ):
            yield Known(Grouped(composition, 1))


def _drawn(ways: Sequence[tuple[Fraction, Pattern]]) -> Pattern:
    """The loss where parts of the change are drawn with these chances, all of it last."""
    rate, whole = ways[-1]
    parts = [(q, pattern) for q, pattern in ways if pattern.atoms]
    if rate == 1 or not parts:
        return _from_above(whole)
    options: list[Known] = []
    for way in _read_together([pattern for _, pattern in parts]):
        chances: dict[Composition, Fraction] = {}
        for (q, _), composition in zip(parts, way, strict=True):
            chances[composition] = chances.get(composition, ZERO) + q
        alike = sorted(chances.items(), key=rank)
        options.append(Known(Drawn(tuple((q, composition) for composition, q in alike))))
    stated = [(q, total_pair(pattern)) for q, pattern in parts]
    known = [(q, *pair) for q, pair in stated if pair is not None]
    if len(known) == len(stated):
        epsilon = max(each for _, each, _ in known)
        delta = sum((q * each for q, _, each in known), ZERO)
        options.append(Known(Response(epsilon) if epsilon else None, ZERO, 1 - delta))
    options.extend(_unsampled(whole, len(ways) > 1))  # by itself often known without a grid
    return Pattern({Atom(tuple(dict.fromkeys(options))): 1}, True, False, whole.trace)


def _amplified(pattern: Pattern, rate: Fraction, replace: bool, side: str) -> Pattern:
    if not pattern.atoms:
        return pattern
    options = [
        Known(Sampled(rate, composition, replace, side)) for composition in compositions(pattern)
    ]
    stated = total_pair(pattern)
    if stated is not None:
        part = Response(amplified_up(stated[0], rate)) if stated[0] else None
        options.append(Known(part, ZERO, 1 - rate * stated[1]))
    options.extend(_unsampled(pattern))
    atom = Atom(tuple(dict.fromkeys(options)))
    return Pattern({atom: 1}, pattern.loose, False, pattern.trace)


def single(options: Sequence[Known], attained: bool) -> Patterned:
    """The loss of one mechanism, in several ways that all hold; several losses if they are told
    by these alone."""
    if len(options) == 1 and (several := written_out(options[0])) is not None:
        atoms = {Atom((known,)): n for known, n in several}
        return (Pattern(atoms, attained=attained),)
    return (one(*options, attained=attained),)


#: The algebra of a notion, or of patterns.
Algebra = Scalars | Pairs | Patterns


def all_lost(algebra: Algebra) -> Loss:
    """Of what gives everything away: (0, 1), which a sample may make rare."""
    match algebra:
        case Patterns():
            return (one(Known(None, ZERO, ZERO), attained=False),)
        case Pairs():
            return ((ZERO, algebra.delta(ONE)),)
        case Scalars():
            return algebra.none
