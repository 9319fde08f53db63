"""A loss that may be at any of several patterns, as one pattern that dominates them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, islice

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.compositions import compositions, in_notion
from dpcompose.core.loss.dominance import covering
from dpcompose.core.loss.pattern import LossMultiset, MechanismLossOptions, UndominatedLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import Concentrated, Curve, Maximum, curve_of
from dpcompose.curves.rounding import ONE, ZERO

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
    """Returns the estimated cost, in parts, of putting all patterns of a loss on a grid."""
    return sum(map(_parts, loss))


def _parts(pattern: LossMultiset) -> int:
    """Returns the estimated cost, in parts, of putting one pattern on a grid."""
    sorts = len(pattern.atoms)
    return sorts if sorts < 2 else sorts * _COMPOSED


def any_of(loss: UndominatedLosses, most: int) -> LossMultiset:
    """Returns one pattern that dominates all patterns of a loss: see `Maximum`.

    `most`: the number of parts that may be put on a grid; the smallest patterns beyond it are
    covered by one pattern.
    """
    loss = largest_and_rest(loss, most)
    if len(loss) == 1:
        return loss[0]
    options = [curve_of(Maximum(tuple(dict.fromkeys(way)))) for way in read_together(loss)]
    return LossMultiset(
        {MechanismLossOptions(tuple(dict.fromkeys(options))): 1}, True, False, loss[0].trace
    )


def read_together(patterns: Sequence[LossMultiset]) -> Iterator[tuple[Curve, ...]]:
    """Yields several patterns as compositions: all by their first options, then by their second, ….

    Last, each by its last option, which may be the one that combines all others.
    """
    ways = [list(islice(compositions(pattern), _MOST_READ)) for pattern in patterns]
    for i in range(min(MOST_WAYS, max(map(len, ways)))):
        yield tuple(each[min(i, len(each) - 1)] for each in ways)
    if any(len(each) > MOST_WAYS for each in ways):
        yield tuple(each[-1] for each in ways)


def largest_and_rest(loss: Sequence[LossMultiset], most: int) -> UndominatedLosses:
    """Returns the first patterns, with at most `most` parts, and one that dominates all others.

    The others are covered by family if that gives one loss and a δ, else by their largest ρ.
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
    """Returns the largest ρ with the largest δ, which dominates all of several patterns.

    If some pattern has no finite ρ, the pattern that covers them by family.
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
    """Returns the basic composition of a pattern in ρ, and the chance of no failure.

    None if some atom has no ρ.
    """
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
