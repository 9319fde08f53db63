"""Losses with several bounds that all hold, as the options of one atom: for samples, paths,
mixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, islice

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.compositions import compositions, in_notion, total_pair, worst_total
from dpcompose.core.loss.dominance import covering, family, of_family
from dpcompose.core.loss.pair_cost import pair_steps, walk_pairs
from dpcompose.core.loss.pattern import (
    LossMultiset,
    MechanismLossOptions,
    UndominatedLosses,
    of_options,
    one,
)
from dpcompose.core.notions.notion import Notion, chain
from dpcompose.curves import (
    Allocated,
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    PoissonGroup,
    PoissonReplaceOne,
    ReplacedRows,
    Response,
    Sampled,
    curve_of,
    is_tight,
    rank,
)
from dpcompose.curves.families import PureSteps, least_of
from dpcompose.curves.rounding import ONE, ZERO, amplified_up

#: The most compositions of a pattern that are used,
MOST_WAYS = 4
#: and the most that are computed to find its last one.
_MOST_READ = 16
#: The factor in cost of a pattern of several atoms, which takes long to put on a grid.
_COMPOSED = 20


def longest(loss: UndominatedLosses) -> int:
    """Returns the largest number of different atoms in any pattern of a loss."""
    return max(len(pattern.atoms) for pattern in loss)


def parts_of(loss: UndominatedLosses) -> int:
    """Returns the estimated cost of evaluating all patterns of a loss on a grid, in single
    losses."""
    return sum(map(_parts, loss))


def _parts(pattern: LossMultiset) -> int:
    """Returns the estimated cost of evaluating one pattern on a grid, in single losses."""
    sorts = len(pattern.atoms)
    return sorts if sorts < 2 else sorts * _COMPOSED


def any_of(loss: UndominatedLosses, most: int) -> LossMultiset:
    """Returns one pattern (multiset of losses) that dominates each pattern of `loss`: see
    `Maximum`.

    `most`: the largest cost (`parts_of`) of evaluation; the smallest patterns beyond it are covered
    by one pattern together.
    """
    loss = largest_and_rest(loss, most)
    if len(loss) == 1:
        return loss[0]
    options = [curve_of(Maximum(tuple(dict.fromkeys(way)))) for way in read_together(loss)]
    return of_options(options, loss[0].trace)


def read_together(patterns: Sequence[LossMultiset]) -> Iterator[tuple[Curve, ...]]:
    """Yields compositions of patterns, each of which takes one of the alternative bounds of every
    loss.

    Each way is one composition for each pattern. The i-th way has the i-th composition of each, or
    its last one if it has fewer; the last way has the last composition of each, which may be the
    one that combines all alternatives.
    """
    ways = [list(islice(compositions(pattern), _MOST_READ)) for pattern in patterns]
    for i in range(min(MOST_WAYS, max(map(len, ways)))):
        yield tuple(each[min(i, len(each) - 1)] for each in ways)
    if any(len(each) > MOST_WAYS for each in ways):
        yield tuple(each[-1] for each in ways)


def largest_and_rest(loss: Sequence[LossMultiset], most: int) -> UndominatedLosses:
    """Returns the first patterns of `loss`, and one pattern that dominates all others.

    `most`: the largest cost (`parts_of`) of the first ones. The others are covered by family of
    noise if that gives one loss and a δ, else by their largest ρ.
    """
    fitting = sum(cost <= most for cost in accumulate(map(_parts, loss)))
    if fitting == len(loss):
        return tuple(loss)
    rest = covering(loss[fitting:])
    return (*loss[:fitting], rest if is_one_loss(rest) else _concentrated(loss[fitting:]))


def is_one_loss(pattern: LossMultiset) -> bool:
    """Returns whether a pattern has at most one loss, with one option, apart from a δ."""
    known = [option for atom in pattern.atoms for option in atom.options]
    losses = sum(option != curve_of(None, ZERO, option.no_failure) for option in known)
    return losses <= 1 and not any(isinstance(option.part, Maximum) for option in known)


def _concentrated(patterns: Sequence[LossMultiset]) -> LossMultiset:
    """Returns a pattern that dominates all of these: the largest ρ with the largest δ.

    If some pattern has no finite ρ, the pattern that covers them by family of noise.
    """
    rho, no_failure = ZERO, Survival(ONE)
    for pattern in patterns:
        known = _rho_and_stay(pattern)
        if known is None:
            return covering(patterns)
        rho, no_failure = max(rho, known[0]), max(no_failure, known[1])
    return LossMultiset(
        {MechanismLossOptions((curve_of(Concentrated(rho), ZERO, no_failure.no_failure),)): 1},
        True,
        False,
    )


def _rho_and_stay(pattern: LossMultiset) -> tuple[Fraction, Survival] | None:
    """Returns the sum of the ρ of a pattern's losses, and the chance that none fails; None if some
    has no ρ."""
    rho, no_failure = ZERO, Survival(ONE)
    for atom, n in pattern.atoms.items():
        ways = [
            (in_notion(replace(each, no_failure=ONE), Notion.ZCDP), each) for each in atom.options
        ]
        known = [(amount, each.no_failure) for amount, each in ways if amount is not None]
        if not known:
            return None
        least = min(known)
        rho += least[0] * n
        no_failure = no_failure + Survival(least[1]) * n
    return rho, no_failure


def from_above(pattern: LossMultiset) -> LossMultiset:
    """Returns the pattern marked as a bound from above, which perhaps no single change attains."""
    return LossMultiset(pattern.atoms, True, False, pattern.trace)


def unsampled(pattern: LossMultiset, always: bool = False) -> Iterator[Curve]:
    """Yields compositions that bound the pattern as if the sample were public, where they may be
    better.

    They may be where a part is not tight: other bounds on it, such as Rényi divergences, are not
    available through a sample. `always`: for any parts, where the loss through the sample is
    computed on a grid only.
    """
    for composition in compositions(pattern):
        if always or not all(
            is_tight(part) or isinstance(part, PureSteps) for part, _ in composition.parts
        ):
            yield curve_of(Grouped(composition, 1))


def mixture_of_draws(ways: Sequence[tuple[Fraction, LossMultiset]]) -> LossMultiset:
    """Returns the loss where coupled samples of both tables hold the same, random part of the
    change.

    `ways`: the chance and the loss of each part; the last one is the whole change.
    """
    rate, whole = ways[-1]
    parts = [(q, pattern) for q, pattern in ways if pattern.atoms]
    if rate == 1 or not parts:
        return from_above(whole)
    # Without the sample it is often known without a grid.
    return of_options([*_ways_mixed(parts), *unsampled(whole, len(ways) > 1)], whole.trace)


def mixture(ways: Sequence[tuple[Fraction, LossMultiset]], whole: LossMultiset) -> LossMultiset:
    """Returns the loss where one of several things happens, with given chances, in both tables
    alike.

    `ways`: the chance and the loss of each; `whole`: a pattern whose origins (`trace`) the result
    gets.
    """
    parts = [(q, pattern) for q, pattern in ways if pattern.atoms]
    return of_options(_ways_mixed(parts), whole.trace) if parts else whole


def _ways_mixed(parts: Sequence[tuple[Fraction, LossMultiset]]) -> Iterator[Curve]:
    """Yields bounds on a mixture; `parts`: the chance of each thing that may happen, and its
    loss."""
    for way in read_together([pattern for _, pattern in parts]):
        chances: dict[Curve, Fraction] = {}
        for (q, _), composition in zip(parts, way, strict=True):
            chances[composition] = chances.get(composition, ZERO) + q
        alike = sorted(chances.items(), key=rank)
        yield curve_of(MixtureOfDraws(tuple((q, composition) for composition, q in alike)))
    stated = [(q, total_pair(pattern)) for q, pattern in parts]
    known = [(q, *pair) for q, pair in stated if pair is not None]
    if len(known) == len(stated):
        epsilon = max(each for _, each, _ in known)
        delta = sum((q * each for q, _, each in known), ZERO)
        yield curve_of(Response(epsilon) if epsilon else None, ZERO, 1 - delta)


def allocated(pattern: LossMultiset, steps: int, side: str) -> LossMultiset:
    """Returns the loss of a row that takes part in one of `steps` steps, drawn uniformly.

    `pattern`: the loss in its step; the result is the same, or less where it is Gaussian. `side`:
    see `LossAlgebra.amplified`.
    """
    options = [curve_of(Allocated(steps, gaussian, side)) for gaussian in _gaussians(pattern)]
    return of_options(options, pattern.trace) if options and steps > 1 else from_above(pattern)


def allocated_instead(one_end: LossMultiset, both: LossMultiset | None) -> LossMultiset | None:
    """Returns the loss of a replaced row that takes part in one of two or more steps; None where it
    is not Gaussian in its step.

    By theorem `random-allocation` the worst two rows move opposite ways, which over two steps is a
    Gaussian of twice the μ² of one end, and over more is no worse. `one_end`: the loss in the step
    of one row there or not there; `both`: that of the row replaced, where there are just two steps:
    if it is twice as far, there are such rows.
    """
    options = _gaussians(one_end)
    if not options:
        return None
    twice = [curve_of(None, 2 * gaussian) for gaussian in options]
    opposite = (
        both is not None
        and len(options) == 1
        and _gaussians(both) == [4 * options[0]]
        and all(each.attained and not each.loose for each in (one_end, both))
    )
    return one(twice[0]) if opposite else of_options(twice, one_end.trace)


def _gaussians(pattern: LossMultiset) -> list[Fraction]:
    """Returns the μ² of each composition of a pattern that is a Gaussian alone."""
    return [
        composition.gaussian
        for composition in compositions(pattern)
        if not composition.parts and composition.gaussian and composition.no_failure == 1
    ]


def amplified(pattern: LossMultiset, rate: Fraction, replace: bool, side: str) -> LossMultiset:
    """Returns the loss of what reads a secret sample of rate `rate`; `pattern`: the loss in the
    sample.

    `replace`: sampling without replacement, for a replaced row; else Poisson sampling. `side`:
    which table has the row, or "both" (see `LossAlgebra.amplified`).
    """
    if not pattern.atoms:
        return pattern
    options = [
        curve_of(Sampled(rate, composition, replace, side)) for composition in compositions(pattern)
    ]
    stated = total_pair(pattern)
    if stated is not None:
        part = Response(amplified_up(stated[0], rate)) if stated[0] else None
        options.append(curve_of(part, ZERO, 1 - rate * stated[1]))
    options.extend(unsampled(pattern))
    found = of_options(options, pattern.trace, loose=pattern.loose)
    if replace and len(options) == 1 and _gaussians(pattern):
        # Rows that are far from all others attain it, at least at each ε for itself.
        return LossMultiset(found.atoms, found.loose, pattern.attained, found.trace)
    return found


#: The most steps of a path along which curves of samples are composed, which is slow.
MOST_STEPS = 64
#: Parts whose curves are slow to compose.
_SLOW = (Sampled, Allocated, PoissonReplaceOne, PoissonGroup, ReplacedRows, Grouped)


def chained(
    steps: Sequence[tuple[UndominatedLosses, int]],
    undominated: Callable[[Iterable[LossMultiset]], UndominatedLosses],
    curves: bool,
    free: bool,
) -> Iterator[Curve]:
    """Yields bounds on the loss along a whole path of neighbouring tables, as options of one atom.

    `steps`: the loss of a step and the number of such steps. `undominated`: drops the patterns that
    others dominate. `curves`: whether power functions of (ε, δ) are wanted; `free`: whether the
    steps may come in any order.
    """
    shift = _one_family(steps)
    any_known = shift is not None
    if shift is not None:
        yield curve_of(shift)
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
                    yield from map(curve_of, least_of(amount, [path]))
            elif notion is Notion.ZCDP:
                yield curve_of(Concentrated(amount))
            elif notion is Notion.GDP:
                yield curve_of(None, amount)
    pairs = [([total_pair(pattern) for pattern in loss], count) for loss, count in steps]
    if all(pair is not None for found, _ in pairs for pair in found):
        worst = [
            ((max(p[0] for p in found if p), max(p[1] for p in found if p)), count)
            for found, count in pairs
        ]
        joint = walk_pairs(worst, free)
        if joint is not None and joint[1]:
            any_known = True
            yield curve_of(Response(joint[0]), ZERO, 1 - joint[1])
        if curves:
            each = max(pair[0] for pair, _ in worst), max(pair[1] for pair, _ in worst)
            ways = [worst] if free else []
            yield from pair_steps([*ways, [(each, sum(count for _, count in worst))]])
    if not any_known or (len(steps) == 1 and len(steps[0][0]) == 1):
        # Each step loses no more than what covers all of them.
        worst_of_all = undominated(pattern for loss, _ in steps for pattern in loss)
        pattern = covering(worst_of_all)
        count = sum(count for _, count in steps)
        for composition in islice(compositions(pattern), 2):
            sampled = any(isinstance(part, _SLOW) for part, _ in composition.parts)
            if not sampled or count <= MOST_STEPS:
                yield curve_of(Grouped(composition, count))


def _one_family(steps: Sequence[tuple[UndominatedLosses, int]]) -> Part | None:
    """Returns the loss of a whole path at the sum of the shifts, if every step charges one loss of
    one family.

    None if the steps charge different mechanisms, or losses whose shifts do not add.
    """
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
            if (
                found is None
                or known.gaussian
                or known.no_failure != 1
                or key not in (None, found[0])
            ):
                return None
            key = found[0]
            largest = max(largest, found[1])
        shift += largest * count
    return of_family(key, shift)
