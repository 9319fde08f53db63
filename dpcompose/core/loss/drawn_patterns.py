"""The loss of patterns read through a secret sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from dpcompose.core.loss.compositions import compositions, total_pair
from dpcompose.core.loss.pattern import LossMultiset, MechanismLossOptions
from dpcompose.core.loss.pattern_choices import read_together
from dpcompose.curves import (
    Allocated,
    Curve,
    Grouped,
    MixtureOfDraws,
    Response,
    Sampled,
    curve_of,
    is_tight,
    rank,
)
from dpcompose.curves.families import PureSteps
from dpcompose.curves.rounding import ZERO, amplified_up


def from_above(pattern: LossMultiset) -> LossMultiset:
    """Returns the pattern marked as an upper bound that perhaps no change attains."""
    return LossMultiset(pattern.atoms, True, False, pattern.trace)


def unsampled(pattern: LossMultiset, always: bool = False) -> Iterator[Curve]:
    """Yields compositions without the sample as options, if they may be better than with it.

    That is so where a part is not tight: other bounds on it, such as Rényi divergences, are not
    available through a sample. `always`: for any parts, where the loss through the sample is
    computed on a grid only.
    """
    for composition in compositions(pattern):
        if always or not all(
            is_tight(part) or isinstance(part, PureSteps) for part, _ in composition.parts
        ):
            yield curve_of(Grouped(composition, 1))


def mixture_of_draws(ways: Sequence[tuple[Fraction, LossMultiset]]) -> LossMultiset:
    """Returns the loss where one of several parts of the change is drawn, with given chances.

    `ways`: the chance and the loss of each part; the last one is the whole change.
    """
    rate, whole = ways[-1]
    parts = [(q, pattern) for q, pattern in ways if pattern.atoms]
    if rate == 1 or not parts:
        return from_above(whole)
    # Without the sample it is often known without a grid.
    return _of_options([*_ways_mixed(parts), *unsampled(whole, len(ways) > 1)], whole)


def mixture(ways: Sequence[tuple[Fraction, LossMultiset]], whole: LossMultiset) -> LossMultiset:
    """Returns the loss where one of several things happens, with given chances, in both tables
    alike; `whole`: as of what it is traced."""
    parts = [(q, pattern) for q, pattern in ways if pattern.atoms]
    return _of_options(list(_ways_mixed(parts)), whole) if parts else whole


def _of_options(options: Sequence[Curve], like: LossMultiset) -> LossMultiset:
    atom = MechanismLossOptions(tuple(dict.fromkeys(options)))
    return LossMultiset({atom: 1}, True, False, like.trace)


def _ways_mixed(parts: Sequence[tuple[Fraction, LossMultiset]]) -> Iterator[Curve]:
    """Yields bounds on a mixture of losses, each with its chance."""
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
    """Returns the pattern read in one of so many steps, drawn uniformly: that of one step, or less
    where it is Gaussian."""
    options = [
        curve_of(Allocated(steps, composition.gaussian, side))
        for composition in compositions(pattern)
        if not composition.parts and composition.gaussian and composition.no_failure == 1
    ]
    return _of_options(options, pattern) if options and steps > 1 else from_above(pattern)


def amplified(pattern: LossMultiset, rate: Fraction, replace: bool, side: str) -> LossMultiset:
    """Returns the pattern read through a secret sample of rate `rate`.

    `replace`: sampling without replacement, for a replaced row; else Poisson sampling. `side`:
    which table has the row, or "both" (see `amplification.amplified`).
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
    atom = MechanismLossOptions(tuple(dict.fromkeys(options)))
    return LossMultiset({atom: 1}, pattern.loose, False, pattern.trace)
