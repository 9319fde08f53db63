"""A record of releases compared with a budget, by a filter's sum (theory, section 10).

The sum for a pair of neighbours is the structural one: only mechanisms that the change reaches
count. Bounds that need parameters fixed in advance are refused, with the way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.at_delta.chosen import of_bound
from dpcompose.core.at_delta.filters import FILTERS, PrivacyFilter, default_notion, filter_of
from dpcompose.core.change.maps.kind import RowSelection
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.loss.algebras import Pairs
from dpcompose.core.model.problem import Dataset, Problem
from dpcompose.core.notions.guarantee import Budget, Quantity, bound_of
from dpcompose.core.notions.notion import CONVERTS, Notion
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.curves import Point
from dpcompose.curves.rounding import listing, number
from dpcompose.report import At, FilterRecord
from dpcompose.report.findings.reasons import missing_notion, reasons


class NoFilter(Exception):
    """The reason why no filter can count a record, as a sentence with the way out.

    `held`: why nothing can be compared with the budget; None where it is certainly exceeded.
    """

    def __init__(self, says: str, held: str | None = "there is no sum to hold against it") -> None:
        super().__init__(says)
        self.held = held


@dataclass(frozen=True, slots=True)
class Counted:
    """A record of releases compared with a budget.

    `solution`: the worst change in the notion of the filter; `spent`: its loss; `named`: whether
    the spec names the filter.
    """

    filter: PrivacyFilter
    named: bool
    solution: Solution
    spent: Quantity

    @property
    def within(self) -> bool:
        """Returns whether the record stays within the budget."""
        return self.filter.admits(self.spent)

    def record(
        self, deltas: Sequence[Fraction], fixed: Sequence[At], at: Fraction | None
    ) -> FilterRecord:
        """Returns the counted sum as data for the report.

        `fixed`: the ε's that hold if parameters are fixed in advance; `at`: the δ to compare them
        at.
        """
        found = self.filter
        spent = bound_of(self.spent)
        read = ((delta, found.at(Point(delta=delta)).value) for delta in deltas)
        return FilterRecord(
            found.notion,
            self.named,
            found.limit,
            tuple((name, value) for name, value, _ in spent.parameters),
            found.left(self.spent),
            spent.exact and spent.delta_exact,
            tuple((delta, epsilon) for delta, epsilon in read if epsilon is not None),
            None if at is None else self._cost(at, fixed),
        )

    def _cost(
        self, delta: Fraction, fixed: Sequence[At]
    ) -> tuple[Fraction, Fraction, Fraction] | None:
        """Returns a δ, the ε of what is spent, and the ε of the same releases planned in
        advance."""
        spent = of_bound(self.spent, Point(delta=delta)).value
        if spent is None:
            return None
        planned = next((at.value for at in fixed if at.given == delta), None)
        # A bound for parameters chosen along the way holds for fixed ones too.
        return delta, spent, spent if planned is None else min(spent, planned)


def count(
    problem: Problem,
    solver: Solver,
    budget: Budget,
    wanted: Notion | None = None,
) -> Counted:
    """Returns a record compared with a budget, in the notion `wanted` or else the usual one.

    The sum for a pair of neighbours counts what the change reaches, by sums alone. Raises NoFilter.
    """
    notion = wanted or default_notion(budget)
    found = filter_of(budget, notion)
    if found is None:
        amounts = ", ".join(f"{name}: {number(value)}" for name, value in budget.parameters)
        usable = [each.value for each in FILTERS if filter_of(budget, each) is not None]
        raise NoFilter(
            f"No sum in {notion.facts.sign} gives the budget {{{amounts}}}. "
            f"Way out: `filter: {' | '.join(usable)}` for this budget."
        )
    if notion not in notions(problem):
        raise NoFilter(_uncounted(problem, notion))
    _refuse_interactive(problem)
    if notion is not Notion.PURE:
        _refuse_shared_outcomes(problem, notion)
    solution = solver.summed(notion)
    if notion in (Notion.ZCDP, Notion.GDP):
        _refuse_shared_draws(solver, solution)
    if not solution.finite:
        why = next((f"{says}. Way out: {way}" for says, way, _ in reasons(solution, True)), "")
        if not why:
            _refuse_what_promises_nothing(solution, found)
        why = why[:1].upper() + why[1:] if why else "No finite sum is known for the worst change"
        raise NoFilter(f"{why}{_other_filters(problem, solver, budget, notion)}.")
    if isinstance(solution.algebra, Pairs):
        _refuse_choices(solver, solution)
    fitting = [each for each in solution.quantities if found.admits(each)]
    return Counted(found, wanted is not None, solution, (*fitting, *solution.quantities)[0])


def _uncounted(problem: Problem, notion: Notion) -> str:
    """Returns why a filter cannot count some mechanism, with the way out."""
    for mechanism in problem.mechanisms():
        stated = mechanism.stated_in
        if any(notion in CONVERTS[each] for each in stated):
            continue
        words = " or ".join(sorted(each.value for each in stated))
        says = (
            f"The filter counts {notion.facts.sign}, and `{mechanism.name}` is stated as {words}, "
            f"of which no {notion.facts.sign} is known without choosing a δ"
        )
        if Notion.APPROX in stated:
            says += "; a part of δ that is set aside for it is not supported"
        way = "state a guarantee that can be counted"
        if notion is not Notion.APPROX:
            way = f"`filter: approx`, with an (ε, δ) for every release, chosen before it; or {way}"
        return f"{says}. Way out: {way}."
    return missing_notion(problem)


def _other_filters(problem: Problem, solver: Solver, budget: Budget, notion: Notion) -> str:
    """Returns a hint at the filters in which there is a finite sum; empty without any."""
    possible = notions(problem)
    others = [
        f"`filter: {each.value}`"
        for each in FILTERS
        if each is not notion
        and each in possible
        and filter_of(budget, each) is not None
        and solver.summed(each).finite
    ]
    return f"; or {' or '.join(others)}, chosen before the first output" if others else ""


def _refuse_interactive(problem: Problem) -> None:
    """Raises NoFilter for interactive mechanisms beside random choices of rows."""
    drawn = next(
        (
            each
            for each in problem.datasets()
            if each.made_by is not None and each.made_by.conduct().random is not None
        ),
        None,
    )
    if problem.interactive and drawn is not None:
        raise NoFilter(
            f"{listing(problem.interactive)} may be asked between other releases, and "
            f"`{drawn.name}` is drawn at random: no filter is known to hold for both. Way out: "
            "leave `interactive` out where all is answered at once, or fix all parameters before "
            "the first output (`adaptivity: adaptive`)."
        )


def _refuse_shared_outcomes(problem: Problem, notion: Notion) -> None:
    """Raises NoFilter for a bound that needs all other releases to ignore a random outcome.

    A later release may depend on it. Path by path, as for pure ε, it would not matter.
    """
    stack: list[tuple[Dataset, int, int | None]] = [
        (root.dataset, 0, None) for root in problem.roots
    ]
    while stack:
        dataset, depth, drawn = stack.pop()
        made_by = dataset.made_by
        conduct = None if made_by is None else made_by.conduct()
        if conduct is not None and conduct.random is not None:
            drawn = depth
            if conduct.picks in (RowSelection.SAMPLE, RowSelection.ONE) and notion is Notion.APPROX:
                _refuse_shared_sample(dataset, conduct.random)
        for mechanism in dataset.mechanisms:
            for each in mechanism.statements:
                if drawn is not None and depth - each.up < drawn:
                    raise NoFilter(
                        f"`{mechanism.name}` has a guarantee stated above something random, which "
                        "counts only while no other release depends on what is drawn, and a later "
                        "one may. Way out: state what it guarantees on the dataset that it reads, "
                        "or `filter: pure`."
                    )
        stack.extend((each, depth + 1, drawn) for each in dataset.derived)
        for partition in dataset.partitions:
            stack.extend((each.dataset, depth + 1, drawn) for each in partition.classes)


def _refuse_shared_draws(solver: Solver, solution: Solution) -> None:
    """Raises NoFilter for several releases on one sample, unless one row is drawn or not.

    Given what else is drawn, and the past, the next of them is pure with what ln(1 + q(e^E - 1))
    grows by, E being their sum. As ε·tanh(ε/2) and μ² grow faster than ε, these add up to no more
    than the ρ or the μ² of all together, whichever run. Of more that may be drawn no such growth is
    known.
    """
    met: dict[int, list[State]] = {}
    for each in (solution.accountant, solution.accountant.pure):
        for at, state in each.answers():
            met.setdefault(at, []).append(state)
    for place in (place for _, top in solver.tops for place in top.subtree()):
        sample, edge = place.dataset.made_by, place.edge
        if edge is None or not isinstance(sample, Sample) or place.above is not None:
            continue
        names, releases, _ = _on_sample(place.dataset)
        one = (Kind.SINGLE,) if sample.size is None else (Kind.SINGLE, Kind.PAIR)
        units = [all_leaves(state) for state in met.get(id(edge.parent), ())]
        # A row that is drawn again for its key is a further draw.
        again = any(
            each.edge and each.edge.conduct and each.edge.conduct.picks is RowSelection.ONE
            for each in place.subtree()
        )
        if releases > 1 and (
            again
            or not sample.plain
            or any(
                found.total() > 1 or any(leaf.kind not in one for leaf in found) for found in units
            )
        ):
            raise NoFilter(
                f"{listing(names)} share the sample `{place.dataset.name}`, and what they add up "
                f"to in {solution.notion.facts.sign} is known only of one row that is drawn or "
                "not. Way out: a sample for each release, or `filter: pure`."
            )


def _on_sample(sample: Dataset) -> tuple[list[str], int, bool]:
    """Returns the mechanisms on a sample's draw: names, number of releases, whether some have a
    δ."""
    releases, leaks = 0, False
    shared = not isinstance(sample.made_by, Sample) or sample.made_by.shared
    names: dict[str, None] = {}
    stack: list[tuple[Dataset, int]] = [(sample, 1)]
    while stack:
        dataset, copies = stack.pop()
        for mechanism in dataset.mechanisms:
            # Copies share nothing of a sample that is drawn afresh for each copy.
            releases += copies * (mechanism.count if shared else 1)
            names[mechanism.name] = None
            leaks = leaks or any(each.guarantee.delta for each in mechanism.statements)
        stack.extend((each, copies) for each in dataset.derived)
        for partition in dataset.partitions:
            stack.extend((each.dataset, copies * each.multiplicity) for each in partition.classes)
    return list(names), releases, leaks


def _refuse_shared_sample(sample: Dataset, what: str) -> None:
    """Raises NoFilter for several releases with a δ on one draw: which run may depend on it."""
    names, releases, leaks = _on_sample(sample)
    if releases > 1 and leaks:
        raise NoFilter(
            f"{listing(names)} share the {what} `{sample.name}`, and what is known of their "
            f"(ε, δ) together on one {what} needs parameters that are fixed in advance. Way out: a "
            f"{what} for each release, or pure guarantees on this one."
        )


def _refuse_what_promises_nothing(solution: Solution, limit: PrivacyFilter) -> None:
    """Raises NoFilter where the δ of the worst change add up to 1 or more, so that none holds."""
    if not isinstance(solution.algebra, Pairs) or not solution.loss:
        return
    least = min(solution.algebra.plain(delta) for _, delta in solution.loss)
    raise NoFilter(
        f"The record passes the budget: the δ of the worst change add up to {number(least)} of "
        f"{number(limit.delta)}, and from 1 on nothing is promised. The release that passes it had "
        "to be refused. Way out: take it out of the record if it has not been released; if it has, "
        "no guarantee is known.",
        held=None,
    )


def _refuse_choices(solver: Solver, solution: Solution) -> None:
    """Raises NoFilter for mechanisms with several (ε, δ) for one change: a filter counts one."""
    at = {id(place): place for _, top in solver.tops for place in top.subtree()}
    for (key, _), answer in solution.accountant.answers().items():
        for (mechanism, _), own in zip(at[key].mechanisms, answer.own, strict=True):
            if len(own) > 1:
                raise NoFilter(
                    f"`{mechanism.name}` has several (ε, δ) for one change, and a filter counts "
                    "one that is chosen before the release. Way out: state the one that is meant."
                )
