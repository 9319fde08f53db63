"""The privacy loss of one mechanism for one change (theory, section 4, "Cost of a change").

Every guarantee is stated on a dataset; a change is covered by as many steps of the guarantee's
neighbouring relation as the change needs on that dataset. Only the part of the change that reaches
the dataset read is charged (GMPS24 IV.10).

Guarantees on different datasets are alternatives for each unit of the change; guarantees on the
same dataset may take turns along the path.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import (
    PAIR,
    SINGLE,
    Kind,
    State,
    TracedUnit,
    all_leaves,
    leaf_item,
    leaves,
    state_of,
    top_level,
)
from dpcompose.core.loss.algebra import Loss, LossAlgebra
from dpcompose.core.loss.algebras import Frontier, Pairs, Scalars, amount_of
from dpcompose.core.loss.loss_bounds import (
    NO_LOSS,
    known_losses,
    path_curves,
    pure_paths,
    shifts,
)
from dpcompose.core.loss.pair_cost import Way, all_ways, pair_cost
from dpcompose.core.loss.pattern import UndominatedLosses, is_noise
from dpcompose.core.loss.pattern_algebra import Patterns, single
from dpcompose.core.model.distances import steps
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import (
    CONVERTS,
    Amount,
    Notion,
    at_distance,
    convert,
    convert_over_steps,
)
from dpcompose.curves import Curve, least_curve, of_several_kinds, over_steps
from dpcompose.curves.rounding import ZERO


def units_at(item: TracedUnit, level: int) -> list[tuple[TracedUnit, int]]:
    """Returns what `item` became `level` levels below it: units of change, each with its count."""
    found = [(item, 1)]
    for _ in range(level):
        found = [(inner, n * times) for outer, n in found for inner, times in outer.below]
    return found


def len_levels(state: State) -> int:
    """Returns the number of levels of ancestors above the dataset read, whose units the change
    records."""
    depth, below = 0, state
    while below and below[0][0].below:
        depth, below = depth + 1, below[0][0].below
    return depth


def rejoined(state: State) -> State | None:
    """Returns the change of the dataset read with removed and added rows paired as replaced rows.

    None if the change has no removed row or no added row, so that no pair can be formed.
    """
    found = all_leaves(state)
    removed = sum(n for leaf, n in found.items() if leaf.kind is Kind.SINGLE and not leaf.sign)
    added = sum(n for leaf, n in found.items() if leaf.kind is Kind.SINGLE and leaf.sign)
    if not removed or not added:
        return None
    pairs = min(removed, added)
    items = [(leaf_item(leaf), n) for leaf, n in found.items() if leaf.kind is not Kind.SINGLE]
    items.append((leaf_item(PAIR), pairs))
    if removed != added:
        items.append((leaf_item(SINGLE), max(removed, added) - pairs))
    return top_level(state_of(items))


#: Statements for these relations cover changes of any size at once.
_AT_ONCE = (RelationKind.FREE_LUNCH, RelationKind.EUCLIDEAN)
#: The most pointwise least curves of several guarantees that are computed.
_MOST_CURVES = 20


@dataclass(slots=True)
class Coster:
    """Computes the losses of mechanisms for changes of the datasets that they read, in one algebra.

    Stores the step counts of guarantees and the joined curves, which repeat often.
    """

    algebra: LossAlgebra
    _steps: dict[object, list[tuple[int | None, int]]]
    _curves: dict[tuple[tuple[Curve, ...], int], Curve | None]

    def __init__(self, algebra: LossAlgebra) -> None:
        self.algebra = algebra
        self._steps = {}
        self._curves = {}

    def cost_of(self, copies: int, placed: Sequence[Placed], state: State) -> Loss:
        """Returns the loss of `copies` copies of a mechanism for the change `state` of the dataset
        that it reads.

        `placed`: the stated guarantees of the mechanism.
        """
        return self.algebra.times(self.algebra.charge(self, placed, state), copies)

    # -- which steps ---------------------------------------------------------------------------

    def needed(self, each: Placed, item: TracedUnit) -> list[tuple[int | None, int]]:
        """Returns how many steps of the relation of the guarantee `each` cover the units inside
        `item`.

        Pairs of (steps, number of such units), for the units of the dataset on which it is stated;
        steps is None where the relation cannot cover the unit.
        """
        key = (each.statement.relation, *each[1:], item)
        known = self._steps.get(key)
        if known is None:
            known = [(steps(each, inner), count) for inner, count in units_at(item, each.level)]
            self._steps[key] = known
        return known

    # -- one number ----------------------------------------------------------------------------

    def scalar(self, placed: Sequence[Placed], state: State, algebra: Scalars) -> Amount:
        """Returns the least amount (ε, ρ or μ²) known for the change `state` in the algebra's
        notion.

        Takes the minimum over guarantees in each notion converted, over guarantees of several
        notions taking turns, over concrete noise at its total shift, and over paths of pure DP
        steps. Infinite if no finite bound is known.
        """
        target = algebra.notion
        sources = {each.statement.guarantee.notion for each in placed}
        found = [
            convert(self.native(placed, state, source, (source,)), source, target)
            for source in sources
            if target in CONVERTS[source]
        ]
        usable = tuple(source for source in sources if target in CONVERTS[source])
        if len(usable) > 1:
            found.append(self.native(placed, state, target, usable))
        drawn = [each for each in placed if each.usable]
        found.extend(
            amount_of(mechanism, shift, target) for mechanism, shift in shifts(self, drawn, state)
        )
        if target in (Notion.ZCDP, Notion.GDP):
            found.extend(
                convert_over_steps(epsilon, steps, target)
                for epsilon, steps in pure_paths(self, drawn, state)
            )
        return min(found, default=math.inf)

    def native(
        self, placed: Sequence[Placed], state: State, notion: Notion, sources: tuple[Notion, ...]
    ) -> Amount:
        """Returns the least loss in `notion` by usable guarantees stated in one of the notions
        `sources`."""
        chosen = [p for p in placed if p.usable and p.statement.guarantee.notion in sources]
        least: Amount = _cost_of_any_change(chosen, state, notion)
        scalars = Scalars(notion)
        rejoined_parts = self._rejoined(chosen, state, notion)
        if rejoined_parts is not None:
            least = min(least, scalars.chain(rejoined_parts))
        parts: list[tuple[Amount, int]] = []
        for item, count in state:
            best: tuple[Amount, list[tuple[Amount, int]]] | None = None
            for level in {each.level for each in chosen}:
                walk = self._walk([p for p in chosen if p.level == level], item, notion)
                if walk is not None:
                    total = scalars.chain(walk)
                    if best is None or total < best[0]:
                        best = (total, walk)
            if best is None:
                return least
            parts.extend((amount, n * count) for amount, n in best[1])
        along: Amount = scalars.chain(parts)
        return min(least, along)

    def _rejoined(
        self, placed: Sequence[Placed], state: State, notion: Notion
    ) -> list[tuple[Amount, int]] | None:
        """Returns the cheapest steps where removed and added rows are paired as replaced rows.

        Pairs of (amount of one step in `notion`, number of steps), by guarantees on the dataset
        read itself. None if the change has no such pair of rows, or if some unit cannot be covered.
        """
        joined = _join_rows(placed, state)
        if joined is None:
            return None
        own, units = joined
        parts: list[tuple[Amount, int]] = []
        for item, count in units:
            walk = self._walk(own, item, notion)
            if walk is None:
                return None
            parts.extend((amount, n * count) for amount, n in walk)
        return parts

    def _walk(
        self, placed: Sequence[Placed], item: TracedUnit, notion: Notion
    ) -> list[tuple[Amount, int]] | None:
        """Returns the cheapest steps that cover every unit of change, at one level, inside `item`.

        Pairs of (amount of one step in `notion`, number of steps); None if some unit cannot be
        covered. All guarantees in `placed` are stated on the same dataset.
        """
        if len(placed) == 1:
            each = placed[0]
            amount = _loss_of_step(each.statement.guarantee, notion)
            walk: list[tuple[Amount, int]] = []
            for needed, count in self.needed(each, item):
                if needed is None:
                    return None
                walk.append((amount, needed * count))
            return walk
        columns = [self.needed(each, item) for each in placed]
        amounts = [_loss_of_step(each.statement.guarantee, notion) for each in placed]
        walk = []
        for row in zip(*columns, strict=True):
            options = [
                (at_distance(amount, notion, needed), amount, needed)
                for amount, (needed, _) in zip(amounts, row, strict=True)
                if needed is not None
            ]
            if not options:
                return None
            _, amount, needed = min(options)
            walk.append((amount, needed * row[0][1]))
        return walk

    # -- patterns ------------------------------------------------------------------------------

    def pattern(
        self, placed: Sequence[Placed], state: State, curves: bool = False
    ) -> UndominatedLosses:
        """Returns the loss for one change as a single pattern with one atom, whose options are all
        known bounds.

        The pattern without atoms if nothing is lost; empty if no finite bound is known. `curves`:
        also use power functions along paths of tables.
        """
        options = known_losses(self, placed, state)
        if any(option == NO_LOSS for option in options):
            return Patterns().zero
        if not options:
            return ()
        # Noise attains its loss at any shift; a stated ε is attained over a single step only.
        noise = all(is_noise(option) for option in options)
        joined = [self._least_curve(tuple(options), 1)]
        if curves:
            # These may be below the bounds by any one guarantee.
            joined += [*path_curves(self, placed, state), self._over_steps(placed, state)]
        options = [*options, *(each for each in joined if each is not None)]
        return single(options, noise or self._at_one_step(placed, state))

    def _least_curve(self, options: tuple[Curve, ...], steps: int) -> Curve | None:
        """Returns the pointwise least curve of all bounds in `options`, if they are of several
        kinds.

        None if they are of one kind, or if too many curves were computed already. `steps`: the
        options hold for each of that many steps, and the curve is that of all steps.
        """
        key = (options, steps)
        if key not in self._curves:
            if len(self._curves) >= _MOST_CURVES or not of_several_kinds(options):
                return None
            curve = least_curve(options) if steps == 1 else over_steps(options, steps)
            self._curves[key] = curve
        return self._curves[key]

    def _over_steps(self, placed: Sequence[Placed], state: State) -> Curve | None:
        """Returns the curve of a change that takes several steps, each bounded by all guarantees.

        None unless at least two guarantees share one relation and dataset, none of them is that of
        concrete noise, and the change takes at least two steps.
        """
        said = [each for each in placed if each.usable and not each.statement.implied]
        alike = {(each.statement.relation, *each[1:]) for each in said}
        if len(said) < 2 or len(alike) > 1:
            return None
        kind = said[0].statement.relation.kind
        noise = any(each.statement.guarantee.noise is not None for each in said)
        if noise or kind in _AT_ONCE:
            return None
        taken = 0
        for item, times in state:
            for needed, count in self.needed(said[0], item):
                if needed is None:
                    return None
                taken += needed * count * times
        if taken < 2:
            return None
        # The bounds for one step: as if it were any change.
        once = Relation(RelationKind.FREE_LUNCH)
        one = [each._replace(statement=each.statement._replace(relation=once)) for each in said]
        return self._least_curve(tuple(known_losses(self, one, state)), taken)

    def _at_one_step(self, placed: Sequence[Placed], state: State) -> bool:
        """Returns whether every guarantee covers the change in exactly one step of its relation."""
        if len(state) != 1 or state[0][1] != 1:
            return False
        return all(each.usable and self.needed(each, state[0][0]) == [(1, 1)] for each in placed)

    # -- pairs ---------------------------------------------------------------------------------

    def pairs(self, placed: Sequence[Placed], state: State, algebra: Pairs) -> Frontier:
        """Returns the undominated (ε, δ) that one mechanism loses for the change `state`, by its
        stated guarantees `placed` of pure and approximate DP."""
        usable = _as_pairs(placed)
        said = [each.statement for each in usable]
        at_once = [
            (each.guarantee.value, each.guarantee.delta)
            for each in said
            if each.relation.kind is RelationKind.FREE_LUNCH
        ]
        pure = [p for p in usable if p.statement.guarantee.notion is Notion.PURE]
        whole = _cost_of_any_change(pure, state, Notion.PURE)
        if not isinstance(whole, float):
            at_once.append((whole, ZERO))
        return pair_cost(algebra, at_once, self.ways(placed, state))

    def ways(self, placed: Sequence[Placed], state: State) -> list[Way]:
        """Returns the paths of tables along which guarantees of pure and approximate DP cover a
        change."""
        usable = _as_pairs(placed)
        found = all_ways(usable, state, self.needed)
        joined = _join_rows(usable, state)
        return found if joined is None else [*found, *all_ways(*joined, self.needed)]


def _as_pairs(placed: Sequence[Placed]) -> list[Placed]:
    """Returns the usable guarantees of pure and of approximate DP."""
    notions = (Notion.PURE, Notion.APPROX)
    return [p for p in placed if p.usable and p.statement.guarantee.notion in notions]


def _join_rows(placed: Sequence[Placed], state: State) -> tuple[list[Placed], State] | None:
    """Returns the guarantees stated on the dataset read, and the change there with rows paired.

    None if no removed row can be paired with an added one, or if no guarantee is on that dataset.
    """
    joined = rejoined(state)
    if joined is None:
        return None
    depth = len_levels(state)
    own = [p._replace(level=0) for p in placed if p.level == depth]
    return (own, joined) if own else None


def _loss_of_step(guarantee: Guarantee, notion: Notion) -> Amount:
    """Returns the loss in `notion` of one step of the relation that a guarantee is for.

    It is the guarantee's amount converted; infinite if no conversion is known.
    """
    amount = convert(guarantee.amount, guarantee.notion, notion)
    if guarantee.noise is None or guarantee.notion is notion:
        return amount
    return min(amount, amount_of(guarantee.noise, guarantee.shift, notion))


def _cost_of_any_change(placed: Sequence[Placed], state: State, notion: Notion) -> Amount:
    """Returns the least loss in `notion` by guarantees that cover a change of any size at once.

    A free-lunch guarantee covers every change in one step; a Euclidean one is charged for the
    distance that the value moves, summed over all units, but never more than the diameter. Infinite
    if there is none of these.
    """
    least: Amount = math.inf
    for each in placed:
        kind = each.statement.relation.kind
        guarantee = each.statement.guarantee
        if kind is RelationKind.FREE_LUNCH and guarantee.notion is not Notion.APPROX:
            least = min(least, _loss_of_step(guarantee, notion))
        elif kind is RelationKind.EUCLIDEAN:
            distance = distance_moved(state, each.traits.diameter)
            if distance is not None:
                moved = guarantee.amount * distance
                least = min(least, convert(moved, guarantee.notion, notion))
    return least


def distance_moved(state: State, diameter: Fraction | None) -> Fraction | None:
    """Returns an upper bound of the distance by which all units of the change together move a
    value.

    `diameter`: the largest distance of two values, if any. None if nothing bounds the distance.
    """
    total = ZERO
    for item, count in state:
        for leaf, times in leaves(item):
            if leaf.kind is not Kind.METRIC or leaf.size is None:
                return diameter
            total += Fraction(leaf.size) * times * count
    return total if diameter is None else min(total, diameter)
