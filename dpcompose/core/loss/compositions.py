"""Patterns (multisets of losses with alternative bounds) as compositions, and their sums in one
notion."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from operator import itemgetter

from dpcompose.core.loss.algebras import Survival
from dpcompose.core.loss.pattern import LossMultiset
from dpcompose.core.notions.notion import Notion, convert
from dpcompose.curves import (
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    Part,
    Renyi,
    Response,
    curve_of,
    rank,
)
from dpcompose.curves.families import PureSteps, as_responses
from dpcompose.curves.rounding import MOST_LAWS, ONE, ZERO, summed

#: All choices of options of a pattern are tried if there are at most this many.
MOST_CHOICES = 8
#: The most pairs of an order and a curve when Rényi curves are added; orders are thinned evenly.
MOST_PAIRS = 20_000


def compositions(pattern: LossMultiset) -> Iterator[Curve]:
    """Yields compositions that each bound the pattern, with different options taken of its
    atoms."""
    options = [atom.options for atom in pattern.atoms]
    ways: Iterable[Sequence[Curve]]
    if math.prod(map(len, options)) <= MOST_CHOICES:
        ways = product(*options)
    else:
        # The i-th option of every atom, or its last one.
        most = max(map(len, options))
        ways = ([each[min(i, len(each) - 1)] for each in options] for i in range(most))
    seen: set[Curve] = set()
    for way in ways:
        made = _composition(zip(way, pattern.atoms.values(), strict=True))
        if made not in seen:
            seen.add(made)
            yield made


def _composition(known: Iterable[tuple[Curve, int]]) -> Curve:
    """Returns the composition of these losses, each with its count.

    Gaussian μ², ρ, Rényi curves and δ are each joined into one number or part.
    """
    parts: dict[Part, int] = {}
    gaussians: list[Fraction] = []
    rhos: list[Fraction] = []
    no_failure = Survival(ONE)
    renyi: list[tuple[Renyi, int]] = []
    for option, n in _written_out(known):
        if option.gaussian:
            gaussians.append(option.gaussian * n)
        if option.no_failure != 1:
            no_failure = no_failure + Survival(option.no_failure) * n
        match option.part:
            case None:
                continue
            case Concentrated(value):
                rhos.append(value * n)
            case Renyi() as curve:
                renyi.append((curve, n))
            case Response(epsilon) if not epsilon:
                continue
            case part:
                parts[part] = parts.get(part, 0) + n
    rho = summed(rhos)
    if renyi:
        parts[_add_renyi_curves(renyi, rho)] = 1
    elif rho:
        parts[Concentrated(rho)] = 1
    order = sorted(parts.items(), key=rank)
    made = Curve(tuple(order), summed(gaussians), no_failure.no_failure)
    if sum(isinstance(part, PureSteps) for part in parts) > MOST_LAWS:
        made = as_responses(made)
    return made


def _written_out(known: Iterable[tuple[Curve, int]]) -> Iterator[tuple[Curve, int]]:
    """Yields the losses with their counts, where one that is itself a composition is replaced by
    its parts."""
    for option, n in known:
        match option.part:
            case Grouped(base, 1):
                yield (
                    curve_of(
                        None,
                        option.gaussian + base.gaussian,
                        option.no_failure * base.no_failure,
                    ),
                    n,
                )
                for inner, times in base.parts:
                    yield curve_of(inner), times * n
            case _:
                yield option, n


def _add_renyi_curves(curves: Sequence[tuple[Renyi, int]], rho: Fraction) -> Renyi:
    """Returns the composition of Rényi curves, each with its count, and of a zCDP loss `rho`.

    The curves add order by order; at an order between two points of a curve its chord is used.
    """
    rho += sum((curve.rho * n for curve, n in curves), ZERO)
    if len(curves) == 1:
        curve, n = curves[0]
        return Renyi(tuple((a, e * n) for a, e in curve.points), rho)
    highest = min(curve.points[-1][0] for curve, _ in curves)
    orders = sorted({a for curve, _ in curves for a, _ in curve.points if a <= highest})
    apart = -(-len(orders) * len(curves) // MOST_PAIRS)
    orders = [*orders[:-1:apart], orders[-1]]
    points = tuple(
        (a, sum((at_order(curve.points, a) * n for curve, n in curves), ZERO)) for a in orders
    )
    return Renyi(points, rho)


def at_order(points: Sequence[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """Returns an upper bound of a Rényi curve at the order `alpha`, not above that of its last
    point.

    `points`: pairs (α, ε_α), sorted. ε_α does not fall with α, and (α-1)·ε_α is convex in α. Raises
    ValueError for a higher order.
    """
    place = bisect_left(points, alpha, key=itemgetter(0))
    if place == len(points):
        raise ValueError("no order so high")
    order, epsilon = points[place]
    if order == alpha or not place:
        return epsilon
    before = points[place - 1]
    share = (alpha - before[0]) / (order - before[0])
    chord = (1 - share) * (before[0] - 1) * before[1] + share * (order - 1) * epsilon
    return min(epsilon, chord / (alpha - 1))


def in_notion(known: Curve, notion: Notion) -> Fraction | None:
    """Returns the least amount (ε, ρ or μ²) of `notion` known of a loss; None if none is known.

    None also for a loss with a δ.
    """
    if known.no_failure != 1:
        return None
    part = known.part
    if isinstance(part, Maximum):
        found = _greatest(part.options, notion)
        rest = in_notion(curve_of(None, known.gaussian), notion)
        return None if found is None or rest is None else found + rest
    pure = _pure(part)
    if notion is Notion.PURE:
        return None if known.gaussian else pure
    if notion is Notion.GDP:
        if isinstance(part, MechanismLoss):
            mu = part.mu()
            return None if mu is None else known.gaussian + mu * mu
        if pure is None:
            return None
        return known.gaussian + Fraction(convert(pure, Notion.PURE, Notion.GDP))
    ways: list[Fraction] = []
    if pure is not None:
        ways.append(Fraction(convert(pure, Notion.PURE, Notion.ZCDP)))
    match part:
        case MechanismLoss():
            ways.append(part.rho())
        case Concentrated(rho):
            ways.append(rho)
    return min(ways) + known.gaussian / 2 if ways else None


def _pure(part: Part | None) -> Fraction | None:
    """Returns the ε of one factor of a dominating pair in pure DP, None if it has none."""
    match part:
        case None:
            return ZERO
        case Response(epsilon):
            return epsilon
        case MechanismLoss():
            return part.greatest()
        case _:
            return None


def _greatest(options: Sequence[Curve], notion: Notion) -> Fraction | None:
    """Returns the largest sum of amounts (basic composition) of several compositions; None if one
    has none."""
    found = [_total(each, notion) for each in options]
    known = [amount for amount in found if amount is not None]
    return max(known) if len(known) == len(found) else None


def _total(composition: Curve, notion: Notion) -> Fraction | None:
    """Returns the sum of amounts in a notion of a composition, as `total` does of a pattern."""
    rest = in_notion(curve_of(None, composition.gaussian, composition.no_failure), notion)
    amounts = [(in_notion(curve_of(part), notion), n) for part, n in composition.parts]
    if rest is None or any(amount is None for amount, _ in amounts):
        return None
    return rest + sum((amount * n for amount, n in amounts if amount is not None), ZERO)


def total(pattern: LossMultiset, notion: Notion) -> Fraction | None:
    """Returns the sum of the amounts of a pattern in one notion; None if some atom has no
    amount."""
    amount = ZERO
    for atom, n in pattern.atoms.items():
        found = [x for x in (in_notion(option, notion) for option in atom.options) if x is not None]
        if not found:
            return None
        amount += min(found) * n
    return amount


def worst_total(loss: Sequence[LossMultiset], notion: Notion) -> Fraction | None:
    """Returns the largest `total` of several patterns; None if one has none."""
    found = [total(pattern, notion) for pattern in loss]
    known = [amount for amount in found if amount is not None]
    return max(known) if known and len(known) == len(found) else None


def total_pair(pattern: LossMultiset) -> tuple[Fraction, Fraction] | None:
    """Returns (Σ ε, 1-Π(1-δ_i)) over the losses of a pattern; None if some atom has no ε."""
    epsilon, no_failure = ZERO, Survival(ONE)
    for atom, n in pattern.atoms.items():
        for option in atom.options:
            pure = in_notion(replace(option, no_failure=ONE), Notion.PURE)
            if pure is not None:
                epsilon += pure * n
                if option.no_failure != 1:
                    no_failure = no_failure + Survival(option.no_failure) * n
                break
        else:
            return None
    return epsilon, 1 - no_failure.no_failure
