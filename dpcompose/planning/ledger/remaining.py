"""What one more mechanism may have beside releases that are there: the largest ε, ρ and μ."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.model.problem import Mechanism, Statement
from dpcompose.core.notions.guarantee import Budget, Guarantee
from dpcompose.core.notions.notion import CONVERTS, Notion, at_distance, convert, convert_over_steps
from dpcompose.curves.rounding import sqrt_down
from dpcompose.planning.ledger.merging import Merged, MergedSolver
from dpcompose.planning.scaling import largest
from dpcompose.report.certify import certify
from dpcompose.report.ledger import Counted

#: The notions in which one more mechanism may be stated.
STATED = (Notion.PURE, Notion.ZCDP, Notion.GDP)

#: The largest ε, ρ and μ of one more mechanism, by their names; None: none at all.
Remaining = tuple[tuple[str, Fraction | None], ...]


def remaining_of_filters(held: Sequence[Counted], steps: int) -> Remaining:
    """Returns the largest ε, ρ and μ of one more mechanism that every filter admits.

    That mechanism reads the whole table: it adds to the largest sum, whichever change attains that.
    `steps`: how many of its neighbours' steps are protected together. An entry is None where a
    filter counts no mechanism that is stated so.
    """
    amounts: list[tuple[Notion, Fraction]] = []
    for each in held:
        limit, spent = each.filter, each.spent
        left = Fraction(limit.amount - spent.amount) if spent.delta <= limit.delta else Fraction(0)
        amounts.append((limit.notion, max(left, Fraction(0))))
    found: dict[str, Fraction | None] = {}
    for notion in STATED:
        values = [_largest_parameter(notion, *each, steps) for each in amounts]
        known = [value for value in values if value is not None]
        found[notion.facts.symbol] = min(known) if len(known) == len(values) else None
    return tuple(found.items())


def _largest_parameter(
    notion: Notion, counted: Notion, amount: Fraction, steps: int
) -> Fraction | None:
    """Returns the largest parameter in `notion` of a mechanism that counts as at most `amount` in
    the notion `counted`; None if there is none.

    `steps`: how many of its neighbours' steps are protected together.
    """
    if counted not in CONVERTS[notion]:
        return None
    if counted is notion:
        value = sqrt_down(amount) if notion is Notion.GDP else amount
        return value / (steps**2 if notion is Notion.ZCDP else steps)

    def holds(value: Fraction) -> bool:
        """Returns whether `value` in the notion implies `amount` in the counted notion."""
        if notion is Notion.PURE and counted in (Notion.ZCDP, Notion.GDP):
            return convert_over_steps(value, steps, counted) <= amount
        grouped = at_distance(notion.amount_of(value), notion, steps)
        return convert(grouped, notion, counted) <= amount

    return largest(holds, max(Fraction(1), 4 * amount))


def remaining_if_fixed(merged: Merged, limits: Sequence[Budget]) -> Remaining:
    """Returns about the largest ε, ρ and μ, each by itself, of one more mechanism under which all
    limits hold if all parameters are fixed in advance.

    0 for all where a limit is exceeded already, None where no number fits. The total with such a
    mechanism is certified for each number that is tried.
    """

    def fits(tried: Merged) -> bool:
        """Returns whether every limit holds for these merged releases."""
        solver = MergedSolver(tried)
        found = certify(tried.problem, limits, solver=solver, compared=False)
        return all(found.held(each).ok for each in limits)

    if not fits(merged):
        return tuple((each.facts.symbol, Fraction(0)) for each in STATED)
    values = [value for limit in limits for name, value in limit.parameters if name != "delta"]
    most, roots = 4 * max([Fraction(1), *values]), _met_by_all(merged)
    found: list[tuple[str, Fraction | None]] = []
    for notion in STATED:

        def holds(value: Fraction, notion: Notion = notion) -> bool:
            return fits(_with_one_more(merged, roots, Guarantee(notion, value)))

        # What loses nothing does not fit where nothing that is stated so does.
        value = largest(holds, most) if holds(Fraction(0)) else None
        found.append((notion.facts.symbol, value))
    return tuple(found)


def _with_one_more(merged: Merged, on: Collection[int], stated: Guarantee) -> Merged:
    """Returns the merged problem with one more mechanism, on all roots numbered in `on`."""
    problem = merged.problem
    names = {each.name for each in problem.mechanisms()}
    name = "one more"
    while name in names:
        name += "*"
    one = Mechanism(name, (Statement(problem.goal.relation, 0, stated, ()),), 1, ())
    roots = {
        id(root): replace(
            root, dataset=replace(root.dataset, mechanisms=[*root.dataset.mechanisms, one])
        )
        if i in on
        else root
        for i, root in enumerate(problem.roots)
    }
    islands = tuple(
        replace(each, roots=[roots[id(root)] for root in each.roots]) for each in merged.islands
    )
    return replace(merged, problem=replace(problem, roots=[*roots.values()]), islands=islands)


def _met_by_all(merged: Merged) -> set[int]:
    """Returns the numbers of a set of roots of which every protected step changes exactly one.

    The first root that always changes, or a group of roots of which nobody is in two.
    """
    numbers = {id(root): i for i, root in enumerate(merged.problem.roots)}
    groups: list[set[int]] = []
    for island in merged.islands:
        apart = {i for each in island.apart for i in each}
        alone = [root for i, root in enumerate(island.roots) if i not in apart]
        if alone:
            return {numbers[id(alone[0])]}
        groups += [{numbers[id(island.roots[i])] for i in each} for each in island.apart]
    return groups[0]
