"""Ledgers of several specs: what a filter counts of them, and what one more release may have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.core.model.problem import Mechanism, Problem, Statement
from dpcompose.core.notions.guarantee import Bound, Budget, Guarantee, bound_of
from dpcompose.core.notions.notion import CONVERTS, Notion, at_distance, convert, convert_over_steps
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.curves.rounding import sqrt_down
from dpcompose.planning.merging import Merged, MergedSolver
from dpcompose.report import At, FilterRecord, Verdict
from dpcompose.report.certify import certify
from dpcompose.report.counted import Counted, NoFilter, count
from dpcompose.report.ledger import decision, guarantee, passed, read

#: What is said where there is no budget.
NO_BUDGET = (
    "no budget is given, and a later release may have been decided on after seeing an earlier one: "
    "the realised sum is no guarantee. Way out: a budget that was fixed before the first output "
    "(`--epsilon 1 --delta 1e-6`, --rho or --mu, or `total-budget` in the settings); or, if all "
    "was planned together before the first output, `--fixed REASON`"
)
#: The notions in which one more mechanism may be stated.
STATED = (Notion.PURE, Notion.ZCDP, Notion.GDP)
#: How close to the largest number one is looked for, relatively, and at most how many are tried.
_CLOSE, _TRIES = Fraction(1, 10**9), 60

#: The largest ε, ρ and μ of one more mechanism, by their names; None: none at all.
Remaining = tuple[tuple[str, Fraction | None], ...]


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """The result for releases whose parameters are chosen along the way.

    `bounds`: the budget, as long as the record stays within it. `realised`: what has been spent,
    where no budget makes a guarantee of it. `solution`: the worst change, None where none is known.
    """

    bounds: tuple[Bound, ...] = ()
    at_delta: tuple[At, ...] = ()
    record: FilterRecord | None = None
    realised: Bound | None = None
    solution: Solution | None = None
    verdict: Verdict | None = None
    reasons: tuple[str, ...] = ()
    remaining: Remaining | None = None


def summed(
    problem: Problem,
    solver: Callable[[], Solver],
    limits: Sequence[Budget],
    wanted: Notion | None,
    deltas: Sequence[Fraction],
    rest: bool = False,
    part: bool = False,
) -> LedgerSum:
    """Returns the sum of a record of releases compared with budgets, each of which is a separate
    filter.

    `wanted`: the notion of the filters, None for the default one. `solver`: makes a solver of the
    problem. `rest`: whether to compute what one more release may spend. `part`: whether only the
    sum matters.
    """
    if not limits:
        found = next((each for each in map(solver().summed, notions(problem)) if each.finite), None)
        return LedgerSum(
            realised=None if found is None else bound_of(found.quantities[0]),
            solution=found,
            reasons=(NO_BUDGET,),
        )
    try:
        held = [count(problem, solver(), each, wanted) for each in limits]
    except NoFilter as none:
        verdict = Verdict(limits[0], False, None, none.held)
        return LedgerSum(reasons=(str(none),), verdict=verdict)
    decisions = [decision(*each) for each in zip(limits, held, strict=True)]
    verdict = next((each for each in decisions if not each.ok), decisions[0])
    counted = held[decisions.index(verdict)]
    steps = problem.goal.distance
    points = list(dict.fromkeys(deltas))
    if part:
        record = counted.record((), (), None)
    else:
        fixed = certify(problem, limits, points, solver=solver(), compared=False)
        record = counted.record(points, fixed.at_delta, next(iter(points), None))
    result = LedgerSum(
        record=record,
        solution=counted.solution,
        verdict=verdict,
        remaining=_remaining_of_all(held, steps) if rest else None,
    )
    if not verdict.ok:
        return replace(result, reasons=(passed(record),))
    own = {delta for each in limits for name, delta in each.parameters if name == "delta"}
    at_delta, _ = read(counted.filter, [each for each in points if each not in own], [])
    bounds = tuple(guarantee(*each) for each in zip(limits, (c.filter for c in held), strict=True))
    return replace(result, bounds=bounds, at_delta=at_delta)


# ---------------------------------------------------------------------------------------------
# What one more release may have


def _remaining_of_all(held: Sequence[Counted], steps: int) -> Remaining:
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
    """Returns the largest parameter in `notion` that is counted as at most `amount`."""
    if counted not in CONVERTS[notion]:
        return None
    if counted is notion:
        value = sqrt_down(amount) if notion is Notion.GDP else amount
        return value / (steps**2 if notion is Notion.ZCDP else steps)

    def holds(value: Fraction) -> bool:
        """Returns whether a bound of `value` in the notion implies one of `amount` in the counted
        notion."""
        if notion is Notion.PURE and counted in (Notion.ZCDP, Notion.GDP):
            return convert_over_steps(value, steps, counted) <= amount
        grouped = at_distance(notion.amount_of(value), notion, steps)
        return convert(grouped, notion, counted) <= amount

    return largest(holds, max(Fraction(1), 4 * amount))


def largest(holds: Callable[[Fraction], bool], most: Fraction) -> Fraction:
    """Returns nearly the largest number up to `most` for which `holds` is true; 0 if it is for
    none.

    `holds` must be true below each number for which it is true; it was tested at the number
    returned.
    """
    if holds(most):
        return most
    low, high = Fraction(0), most
    for _ in range(_TRIES):
        middle = (low + high) / 2 if low else high / 2**10
        if holds(middle):
            low = middle
        else:
            high = middle
        if high - low <= low * _CLOSE:
            break
    return low


def remaining_if_fixed(merged: Merged, limits: Sequence[Budget]) -> Remaining:
    """Returns the largest ε, ρ and μ of one more mechanism if all parameters are fixed in advance.

    The total with such a mechanism is certified for each number that is tried.
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
    """Returns the merged problem with one more mechanism, which reads all roots with numbers
    `on`."""
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
