"""The least ε, ρ or μ² of one mechanism for one change (theory, section 4, "Cost of a change").

Every guarantee is stated on a dataset; a change is covered by as many steps of the guarantee's
neighbouring relation as the change needs on that dataset. Only the part of the change that reaches
the dataset read is charged (GMPS24 IV.10).

Guarantees on different datasets are alternatives for each unit of the change, and for each of the
two ends of a replaced row that act apart (`halves`); guarantees on the same dataset may take turns
along the path. The (ε, δ) of a change are in `pair_cost`, its curves
in `loss_bounds`; both count steps by `needed`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import (
    BOTH,
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
from dpcompose.core.loss import proved
from dpcompose.core.loss.proved import Charged
from dpcompose.core.mechanisms.one_hot import least_known
from dpcompose.core.model.distances import steps
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import (
    CONVERTS,
    Amount,
    Notion,
    at_distance,
    chain,
    convert_over_steps,
    told_over_steps,
)
from dpcompose.core.theorem import Role
from dpcompose.curves.rounding import ZERO

if TYPE_CHECKING:
    from dpcompose.core.notions.concrete_mechanism import Family

#: Steps along a path: (amount of a step, number of such steps, the guarantee).
_Steps = list[tuple[Amount, int, Placed]]


# ---------------------------------------------------------------------------------------------
# Steps


def units_at(item: TracedUnit, level: int) -> list[tuple[TracedUnit, int]]:
    """Returns what `item` became `level` levels below it: units of change, each with its count."""
    found = [(item, 1)]
    for _ in range(level):
        found = [(inner, n * times) for outer, n in found for inner, times in outer.below]
    return found


def needed(each: Placed, item: TracedUnit) -> list[tuple[int | None, int]]:
    """Returns how many steps of the relation of the guarantee `each` cover the units inside `item`.

    Pairs of (steps, number of such units), for the units of the dataset on which it is stated;
    steps is None where the relation cannot cover the unit.
    """
    return [(steps(each, inner), count) for inner, count in units_at(item, each.level)]


def halves(placed: Sequence[Placed], item: TracedUnit) -> tuple[TracedUnit, TracedUnit] | None:
    """Returns the replaced row `item` as a row removed and a row added, each with what it became;
    None if they cannot be told apart.

    With the row r in the table D and r' in its place in D', the two are the steps from D to D - r
    and from D - r to D' (THEORY.md, section 4, has the proof). A guarantee for added and removed
    rows, with `Placed.halves`, says that D - r is a table of its dataset. Units that come from both
    ends are no part of either step.
    """
    if item.leaf.kind is not Kind.PAIR or not any(
        each.halves and not each.level and each.statement.relation.kind is RelationKind.UNBOUNDED
        for each in placed
    ):
        return None
    of: tuple[list[tuple[TracedUnit, int]], ...] = ([], [])
    for inner, count in item.below:
        side, *others = set(inner.leaf.ends)
        if others or side == BOTH:
            return None
        tags = (0,) * len(inner.leaf.ends)
        of[side].append((inner._replace(leaf=inner.leaf._replace(ends=tags)), count))
    if not all(of):
        return None
    removed, added = (state_of(each) for each in of)
    return TracedUnit(SINGLE, removed), TracedUnit(SINGLE._replace(sign=1), added)


def len_levels(state: State) -> int:
    """Returns the number of levels of ancestors above the dataset read, whose units the change
    records."""
    depth, below = 0, state
    while below and below[0][0].below:
        depth, below = depth + 1, below[0][0].below
    return depth


@lru_cache(maxsize=4096)  # many mechanisms meet one change
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


def join_rows(placed: Sequence[Placed], state: State) -> tuple[list[Placed], State] | None:
    """Returns the guarantees stated on the dataset read, and the change there with rows paired.

    None if no removed row can be paired with an added one, or if no guarantee is on that dataset.
    """
    joined = rejoined(state)
    if joined is None:
        return None
    depth = len_levels(state)
    own = [p._replace(level=0) for p in placed if p.level == depth]
    return (own, joined) if own else None


# ---------------------------------------------------------------------------------------------
# Amounts


def amount_of(mechanism: Family, shift: Fraction, notion: Notion) -> Amount:
    """Returns the least ε, ρ or μ² (by `notion`) known of a noise mechanism whose answer moves by
    `shift`; infinite if none is known.

    `shift`: the sum of its sensitivities along a path of neighbouring tables.
    """
    if not shift:
        return ZERO
    match notion:
        case Notion.PURE:
            found = mechanism.epsilon(shift)
        case Notion.ZCDP:
            found = mechanism.rho(shift)
        case Notion.GDP:
            found = mechanism.mu_squared(shift)
        case _:
            found = None
    return math.inf if found is None else found


def of_noise(
    mechanism: Family, shift: Fraction, notion: Notion, charged: Charged | None = None
) -> Amount:
    """Returns the least ε, ρ or μ² (by `notion`) known of a noise mechanism at a shift, as a step
    of a proof; infinite if none is known."""
    formula, given = mechanism.told(shift, notion)
    method = None if formula else proved.ORDERS
    found: Amount = proved.number(
        amount_of(mechanism, shift, notion),
        Role.FAMILY,
        formula,
        given,
        method=method,
        charged=charged,
    )
    return found


def least_amount(placed: Sequence[Placed], state: State, target: Notion) -> Amount:
    """Returns the least ε, ρ or μ² (`target`) known of a mechanism for the change `state`, by its
    guarantees `placed`.

    Takes the minimum over guarantees in each notion converted, over guarantees of several notions
    taking turns, over concrete noise at its total shift, and over paths of pure DP steps. Infinite
    if no finite bound is known.
    """
    stated = {each.statement.guarantee.notion for each in placed}
    usable = tuple(source for source in stated if target in CONVERTS[source])
    found = [
        proved.read(amount_by(placed, state, source, (source,)), source, target)
        for source in usable
    ]
    if len(usable) > 1:
        found.append(amount_by(placed, state, target, usable))
    drawn = [each for each in placed if each.usable]
    for mechanism, shift in shifts(drawn, state):
        noisy = [each for each in drawn if each.statement.guarantee.noise is not None]
        by = [each for each in noisy if each.statement.guarantee.noise == mechanism] or noisy
        found.append(of_noise(mechanism, shift, target, Charged(tuple(by), state)))
    if target in (Notion.ZCDP, Notion.GDP):
        for each, count in pure_paths(drawn, state):
            epsilon = each.statement.guarantee.value
            found.append(over_steps(epsilon, count, target, Charged((each,), state)))
    return min(found, default=math.inf)


def over_steps(
    epsilon: Fraction,
    count: int,
    notion: Notion,
    charged: Charged | None = None,
    parts: int = 1,
) -> Amount:
    """Returns the least ρ or μ² between two tables `count` steps apart, of a mechanism that is
    ε-DP for one step, as proved by the conversion; ε > 0.

    `parts`: the ε of the step is one of so many equal parts of `epsilon`.
    """
    one = Fraction(epsilon) / parts
    formula, given = told_over_steps(one, count, notion)
    if parts > 1:
        formula, given["n"] = re.sub(r"\bx\b", "(x / n)", formula), parts
    value, given["x"] = convert_over_steps(one, count, notion), epsilon
    found: Amount = proved.number(value, Role.CONVERSION, formula, given, charged=charged)
    return found


def amount_by(
    placed: Sequence[Placed], state: State, notion: Notion, sources: tuple[Notion, ...]
) -> Amount:
    """Returns the least loss in `notion` by usable guarantees stated in one of the notions
    `sources`."""
    chosen = [p for p in placed if p.usable and p.statement.guarantee.notion in sources]
    least = of_any_change(chosen, state, notion)
    if (joined := join_rows(chosen, state)) is not None:
        least = min(least, _along_path(*joined, notion))
    return min(least, _along_path(chosen, state, notion))


def _along_path(placed: Sequence[Placed], state: State, notion: Notion) -> Amount:
    """Returns the least ε, ρ or μ² (by `notion`) of group privacy along a path of neighbouring
    tables that covers the change `state`, each unit, or each of its `halves`, by guarantees stated
    on one dataset; infinite if no path does."""
    levels = [[p for p in placed if p.level == n] for n in {each.level for each in placed}]
    parts: _Steps = []
    for item, count in state:
        ways = _ways(levels, item, notion)
        if len(levels) > 1 and (split := halves(placed, item)) is not None:
            both = [_ways(levels, half, notion) for half in split]
            ways += [first + second for first, second in product(*both)]
        if not ways:
            return math.inf
        cheapest = ways[0] if len(ways) == 1 else min(ways, key=lambda way: _total(way, notion))
        parts.extend((amount, n * count, each) for amount, n, each in cheapest)
    total, told = _total(parts, notion), [(x, n) for x, n, _ in parts if x and n]
    if isinstance(total, float) or not told:
        return total
    used = tuple({id(each): each for x, n, each in parts if x and n}.values())
    formula, given = proved.path(told, notion)
    found: Amount = proved.number(
        total, None, formula, given, notion=notion, charged=Charged(used, state)
    )
    return found


def _total(parts: _Steps, notion: Notion) -> Amount:
    """Returns the loss between the ends of a path of these steps."""
    return chain([(amount, count) for amount, count, _ in parts], notion)


def _ways(levels: Sequence[Sequence[Placed]], item: TracedUnit, notion: Notion) -> list[_Steps]:
    """Returns for each level whose guarantees cover every unit inside `item` the cheapest steps."""
    found = (_cheapest_steps(here, item, notion) for here in levels)
    return [steps for steps in found if steps is not None]


def _cheapest_steps(placed: Sequence[Placed], item: TracedUnit, notion: Notion) -> _Steps | None:
    """Returns the cheapest steps that cover every unit of change, at one level, inside `item`; None
    if some unit cannot be covered.

    All guarantees in `placed` are stated on the same dataset.
    """
    columns = [needed(each, item) for each in placed]
    amounts = [_loss_of_step(each.statement.guarantee, notion) for each in placed]
    found: _Steps = []
    for row in zip(*columns, strict=True):
        options = [
            (at_distance(amount, notion, taken), amount, taken, each)
            for each, amount, (taken, _) in zip(placed, amounts, row, strict=True)
            if taken is not None
        ]
        if not options:
            return None
        _, amount, taken, each = min(options, key=lambda option: option[:3])
        found.append((amount, taken * row[0][1], each))
    return found


def _loss_of_step(guarantee: Guarantee, notion: Notion) -> Amount:
    """Returns the loss in `notion` of one step of the relation that a guarantee is for.

    It is the guarantee's amount converted; infinite if no conversion is known.
    """
    if guarantee.notion is notion:
        return guarantee.amount
    amount: Amount = proved.read(guarantee.amount, guarantee.notion, notion)
    if guarantee.noise is None:
        return amount
    return min(amount, of_noise(guarantee.noise, guarantee.shift, notion))


def of_any_change(placed: Sequence[Placed], state: State, notion: Notion) -> Amount:
    """Returns the least loss in `notion` by guarantees that cover a change of any size at once.

    A free-lunch guarantee covers every change in one step; a Euclidean one is charged for the
    distance that the value moves, summed over all units, but never more than the diameter. Infinite
    if there is none of these.
    """
    least: Amount = math.inf
    for each in placed:
        kind = each.statement.relation.kind
        guarantee = each.statement.guarantee
        charged = Charged((each,), state)
        if kind is RelationKind.FREE_LUNCH and guarantee.notion is not Notion.APPROX:
            whole = _loss_of_step(guarantee, notion)
            told = proved.number(whole, None, "x", {"x": whole}, notion=notion, charged=charged)
            least = min(least, told)
        elif kind is RelationKind.EUCLIDEAN:
            distance = distance_moved(state, each.traits.diameter)
            if distance is not None:
                moved = proved.number(
                    guarantee.amount * distance,
                    None,
                    "d * x",
                    {"d": distance, "x": guarantee.amount},
                    notion=guarantee.notion,
                    charged=charged,
                )
                least = min(least, proved.read(moved, guarantee.notion, notion))
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


# ---------------------------------------------------------------------------------------------
# Along a path, as sums


def counted_as(each: Placed, amount: Fraction) -> Placed:
    """Returns the guarantee `each` in place of which one of pure DP loses `amount` a step.

    Its amounts then add up along a path.
    """
    plain = Guarantee(Notion.PURE, amount)
    return each._replace(statement=each.statement._replace(guarantee=plain))


def summed_over_path(placed: Sequence[Placed], state: State) -> Fraction | None:
    """Returns the least sum of ε along a path that covers the change; None if no path does."""
    amount = amount_by(placed, state, Notion.PURE, (Notion.PURE,))
    return None if isinstance(amount, float) else Fraction(amount)


def shifts(placed: Sequence[Placed], state: State) -> Iterator[tuple[Family, Fraction]]:
    """Yields each concrete mechanism stated, with its shift: the sum of its sensitivities along a
    path.

    Where several describe one loss, those that another one is known to bound better are left out.
    """
    groups: dict[Family, list[Placed]] = {}
    for each in placed:
        guarantee = each.statement.guarantee
        if guarantee.noise is not None:
            groups.setdefault(guarantee.noise, []).append(counted_as(each, guarantee.shift))
    moved = {noise: summed_over_path(group, state) for noise, group in groups.items()}
    yield from least_known({noise: shift for noise, shift in moved.items() if shift is not None})


def pure_paths(placed: Sequence[Placed], state: State) -> Iterator[tuple[Placed, int]]:
    """Yields each guarantee of pure DP that covers the change in several steps, with their
    number."""
    for each in placed:
        guarantee, kind = each.statement.guarantee, each.statement.relation.kind
        # A distance is not a number of steps: there need not be a value between two others.
        if guarantee.notion is not Notion.PURE or kind is RelationKind.EUCLIDEAN:
            continue
        steps = summed_over_path([counted_as(each, Fraction(1))], state)
        if guarantee.value and steps is not None and steps > 1:
            yield each, math.ceil(steps)
