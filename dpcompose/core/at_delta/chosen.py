"""The least ε certified at a chosen δ, and the least δ at a chosen ε.

The worst change at a δ is searched over all undominated patterns (theory, section 5, "the worst
case depends on δ"): for each pattern the least bound of all routes, and of these the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.loss.compositions import compositions
from dpcompose.core.loss.pattern import (
    LossMultiset,
    MechanismLossOptions,
    UndominatedLosses,
    mirrored,
    size,
)
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import (
    Certified,
    Concentrated,
    Curve,
    Point,
    RouteName,
    RouteNumbers,
    attained_by_samples,
    basic_bound,
    compared_routes,
    least_first,
    least_route,
    main_routes,
    not_exact,
    pure_instead,
    quick_bound,
    realised,
    rough_bound,
    upper_of,
)

#: The most patterns over which basic composition is compared.
MOST_COMPARED = 500
#: From so many patterns on, rough bounds of all are computed first, to start with the greatest.
FEW = 3
#: A rough bound exceeds the least bound by less than this share.
ROUGHLY = Fraction(1, 4)


class Evaluated(NamedTuple):
    """The bounds on one pattern (multiset of losses) at a point, an ε for a given δ or the reverse.

    `composition`: the one that gives the best bound; `found`: the numbers by all routes, least
    first.
    """

    pattern: LossMultiset
    composition: Curve
    found: RouteNumbers

    @property
    def value(self) -> Fraction | None:
        """The least ε (or δ) over all routes; None if no route gives a bound."""
        return upper_of(next(iter(self.found.values())))


class Chosen(NamedTuple):
    """The certified bound at a point: an ε at a chosen δ, or a δ at a chosen ε.

    `worst`: the pattern with the largest bound, with every route. `lower`: no smaller value holds
    for every mechanism with these guarantees; None if not known. `patterns`: how many patterns
    there were.
    """

    point: Point
    worst: Evaluated
    lower: Fraction | None
    patterns: int

    @property
    def value(self) -> Fraction | None:
        """The certified ε (or δ); None if there is none."""
        return self.worst.value


def choose(
    patterned: UndominatedLosses,
    point: Point,
    bounds: Sequence[Quantity] = (),
    compared: bool = True,
) -> Chosen:
    """Returns the certified ε at a chosen δ, or δ at a chosen ε (`point`): the largest over all
    patterns.

    `patterned`: the patterns of a problem, at least one. `bounds`: bounds in one notion, certified
    for every change, that may be used instead. `compared`: whether routes that serve for comparison
    only are evaluated too.
    """
    worst = _deciding_pattern(_unlike(patterned), point)
    worst = _basic_of_all(worst, patterned, point)
    found = dict(worst.found)
    if compared:
        found.update(compared_routes(worst.composition, point))
    found = dict(least_first(found))
    if len(patterned) > 1:
        # Another pattern may be the worst by a route for comparison only, which so cannot win.
        first = next(iter(worst.found))
        found = {first: found.pop(first), **found}
    sharper = _sharper(worst, point, bounds)
    best = next(iter(found.values()))
    if sharper is not None and (best is None or sharper[1].upper < best.upper):
        route, number = sharper
        found.pop(route, None)
        found = {route: number, **found}
    complete = Evaluated(worst.pattern, worst.composition, found)
    return Chosen(point, complete, _lower(complete, point), len(patterned))


def _deciding_pattern(patterns: Sequence[LossMultiset], point: Point) -> Evaluated:
    """Returns the pattern with the largest ε (or δ) at the point, with its bounds; the first of
    equal ones."""
    worst = evaluate(patterns[0], point)
    left = [each for each in patterns[1:] if not _surely_below(each, point, worst)]
    if len(left) >= FEW and not point.many:
        # With the greatest first, most are soon excluded by a worse one.
        known = {id(each): _rough(each, point, worst) for each in left}
        left.sort(key=lambda each: _key(known[id(each)]), reverse=True)
    else:
        known = {}
    for pattern in left:
        if worst.value is None:
            break
        about = known.get(id(pattern))
        if about is not None and about <= worst.value:
            break
        if not _surely_below(pattern, point, worst):
            found = evaluate(pattern, point)
            worst = found if _key(found.value) > _key(worst.value) else worst
    return worst


def _rough(pattern: LossMultiset, point: Point, worst: Evaluated) -> Fraction | None:
    """Returns an upper bound of a pattern's value at the point that is quicker than the best one.

    A value that is not above that of `worst` excludes the pattern.
    """
    first, *others = compositions(pattern)
    best = rough_bound(first, point)
    for composition in others:
        if _key(best) <= _key(worst.value):
            break
        if not pure_instead(composition, first):
            best = min(best, rough_bound(composition, point), key=_key)
    return best


def _unlike(patterned: UndominatedLosses) -> list[LossMultiset]:
    """Returns the patterns, largest first, without mirror images (the two tables exchanged)."""
    if len(patterned) == 1:
        return list(patterned)
    kept: list[LossMultiset] = []
    seen: set[frozenset[tuple[MechanismLossOptions, int]]] = set()
    for pattern in sorted(patterned, key=size, reverse=True):
        if frozenset(pattern.atoms.items()) not in seen:
            kept.append(pattern)
            seen.add(frozenset(mirrored(pattern).atoms.items()))
    return kept


def _sharper(
    worst: Evaluated, point: Point, bounds: Sequence[Quantity]
) -> tuple[RouteName, Certified] | None:
    """Returns the route and the least number at the point that follows from `bounds` by conversion;
    None if there is none.

    If the pattern is exact, only bounds of pure and approximate DP are used.
    """
    usable = [
        of_bound(bound, point)
        for bound in bounds
        if worst.pattern.loose or bound.notion in (Notion.PURE, Notion.APPROX)
    ]
    known = [(route, number) for route, number in usable if number is not None]
    return min(known, key=lambda item: item[1].upper, default=None)


def _basic_of_all(worst: Evaluated, patterned: UndominatedLosses, point: Point) -> Evaluated:
    """Returns `worst`, with the bound by basic composition replaced by its largest value over all
    patterns.

    Basic composition has its own worst change, which may be a different one.
    """
    if len(patterned) == 1 and all(len(atom.options) == 1 for atom in worst.pattern.atoms):
        return worst
    _, *others = worst.found
    if RouteName.BASIC not in others or len(patterned) > MOST_COMPARED:
        return worst
    values = [basic_bound(next(iter(compositions(pattern))), point) for pattern in patterned]
    known = [value for value in values if value is not None]
    whole = max(known) if known and len(known) == len(values) else None
    return worst._replace(found={**worst.found, RouteName.BASIC: not_exact(whole)})


def _key(value: Fraction | None) -> tuple[bool, Fraction]:
    """Returns a key to sort values by; None, which means no bound, comes last."""
    return (value is None, value or Fraction(0))


def evaluate(pattern: LossMultiset, point: Point) -> Evaluated:
    """Returns the least bound on a pattern at a point, over the options of its atoms and all
    routes."""
    ways = list(compositions(pattern))
    if len(ways) >= FEW and not point.many and point.delta is not None:
        # The value of one composition excludes others by their rough bounds.
        about = {each: _key(rough_bound(each, point)) for each in ways}
        first = min(ways, key=about.__getitem__)
        _, known = least_route(main_routes(first, point))
        if known is not None:
            about[first] = _key(known.upper)
            most = _key(known.upper * (1 + ROUGHLY))
            ways = [each for each in ways if about[each] <= most or about[each] == _key(None)]
    best: Evaluated | None = None
    for composition in ways:
        if best is not None and _no_less(composition, best, point):
            continue
        found = least_first(main_routes(composition, point))
        here = Evaluated(pattern, composition, found)
        if best is None or _key(here.value) < _key(best.value):
            best = here
    assert best is not None
    return best


def _no_less(composition: Curve, best: Evaluated, point: Point) -> bool:
    """Returns whether a composition is known to give no better bound at the point than `best`.

    It must have pure guarantees in place of sharper losses, so that its exact value is no smaller,
    and its rough bound must be larger, so that rounding does not make it smaller either.
    """
    if not pure_instead(composition, best.composition):
        return False
    return _key(rough_bound(composition, point)) > _key(best.value)


def _surely_below(pattern: LossMultiset, point: Point, worst: Evaluated) -> bool:
    """Returns whether a quick upper bound shows that a pattern loses no more than `worst` at the
    point."""
    quick = quick_bound(next(iter(compositions(pattern))), point)
    return quick is not None and worst.value is not None and quick <= worst.value


def _lower(worst: Evaluated, point: Point) -> Fraction | None:
    """Returns a lower bound of the least value that holds; None if no mechanisms are known to
    attain it."""
    exact = worst.pattern.attained and not worst.pattern.loose
    if not exact or any(len(atom.options) > 1 for atom in worst.pattern.atoms):
        return None
    if not realised(worst.composition):
        if worst.value is None:
            return None
        below = attained_by_samples(worst.composition, point, worst.value)
        return None if below is None else min(below, worst.value)
    numbers = [each for each in worst.found.values() if each is not None]
    # Only the route by the profile itself has one.
    lower = next((each.lower for each in numbers if each.lower is not None), None)
    if lower is None or worst.value is None:
        return None
    return min(lower, worst.value)


def of_bound(bound: Quantity, point: Point) -> tuple[RouteName, Certified | None]:
    """Returns the ε or δ at the point that follows from a bound in one notion, after the name of
    its route."""
    amount = Fraction(bound.amount)
    if bound.notion in (Notion.PURE, Notion.APPROX):
        delta = Fraction(bound.delta)
        if point.delta is not None:
            return RouteName.BASIC, not_exact(amount if delta <= point.delta else None)
        fits = point.epsilon is not None and amount <= point.epsilon
        return RouteName.BASIC, not_exact(delta if fits else None)
    if bound.notion is Notion.GDP:
        return least_route(main_routes(Curve((), amount), point))
    return least_route(main_routes(Curve(((Concentrated(amount), 1),)), point))
