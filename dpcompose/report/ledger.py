"""Reports of ledgers: releases whose parameters are chosen along the way (theory, section 10).

A filter bounds the sum of their losses by a budget that is fixed in advance. What has been spent is
a fact about the record of releases. The guarantee is the budget, as long as the record stays within
it; without a budget there is no guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.core.at_delta import worst_trade_off
from dpcompose.core.at_delta.chosen import of_bound
from dpcompose.core.at_delta.filters import FILTERS, PrivacyFilter, default_notion, filter_of
from dpcompose.core.change.maps.kind import RowSelection
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.model.problem import Dataset, Problem
from dpcompose.core.notions.guarantee import AskedRisk, Budget, Quantity, bound_of
from dpcompose.core.notions.notion import CONVERTS, SIGNS, Notion
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.curves import Point, upper_of
from dpcompose.curves.rounding import chance, listing, number, number_below
from dpcompose.report import (
    Alternative,
    At,
    Bound,
    FilterRecord,
    Report,
    Verdict,
    derivation,
    explanation,
    outcomes,
    pipeline_graph,
    shares,
)
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.derivation import Step
from dpcompose.report.findings.reasons import missing_notion, reasons
from dpcompose.report.outcomes import Case
from dpcompose.report.proof_steps import by_filter, proof_of
from dpcompose.report.risk import drawn_of, risk_of
from dpcompose.report.verdict import deltas_of, of_risk, verdict

#: The reason given for having no guarantee where there is no budget.
NO_BUDGET = (
    "Parameters are chosen along the way, and no budget is given: the realised sum is no "
    "guarantee, since what was released decided on how much more was. Way out: a budget that was "
    "fixed before the first output, such as `budget: {epsilon: 1, delta: 1e-6}`; or `adaptivity: "
    "adaptive`, where all parameters were fixed before the first output."
)
_FIXED = "only where all parameters are fixed before the first output"


def of_ledger(case: Case) -> Report:
    """Returns the report of a spec whose parameters are chosen along the way (adaptively).

    Each budget is a privacy filter of its own; the first is the guarantee.
    """
    problem, asked = case.problem, case.budget
    if asked is None:
        return outcomes.without_bound(case, [NO_BUDGET])
    try:
        counted = count(problem, case.solver, asked, case.resolved.filter)
    except NoFilter as none:
        refused = Verdict(asked, False, None, none.held)
        return replace(outcomes.without_bound(case, [str(none)]), verdict=refused)
    points = list(dict.fromkeys([*deltas_of(asked), *case.deltas]))
    fixed = None if case.extent == "bound" else certify(problem, [asked], points, compared=False)
    planned = () if fixed is None else fixed.at_delta
    bound = guarantee(asked, counted.filter)
    record = counted.record(points, planned, None if fixed is None else next(iter(points), None))
    report = _report_of_ledger(case, counted, record, bound, fixed)
    if counted.within and (case.risk is not None or case.drawn):
        report = _with_risk(report, case, counted.filter, bound)
    limit = counted.filter.total_loss
    decisions = [decision(asked, counted), *(_other(case, each) for each in case.limits[1:])]
    certificate, rechecked = case.certified([counted.solution])
    return replace(
        report,
        people=tuple(
            f"`{root.dataset.name}` by `{root.unit}`"
            for root in problem.roots
            if root.unit is not None
        ),
        verdict=next((each for each in decisions if not each.ok), decisions[0]),
        ceilings=tuple(
            of_risk(each, worst_trade_off.of_quantity(limit))
            if each.of_risk
            else verdict(each, [bound, bound_of(limit)])
            for each in case.ceilings
        ),
        certificate=certificate,
        rechecked=rechecked,
    )


def _with_risk(report: Report, case: Case, limit: PrivacyFilter, bound: Bound) -> Report:
    """Returns the report, with an attacker's greatest gain from all releases that the filter
    admits."""
    curve = worst_trade_off.of_quantity(limit.total_loss)
    bounds = [Quantity(bound.notion, bound.value, bound.delta or Fraction(0))]
    return replace(
        report,
        risk=None if case.risk is None else risk_of(curve, case.risk, (), bounds),
        drawn=drawn_of(curve, case.risk or AskedRisk(), (), bounds) if case.drawn else None,
    )


def guarantee(budget: Budget, limit: PrivacyFilter) -> Bound:
    """Returns the budget as a bound; for a budget in risk, the limit of the filter made from it."""
    given = dict(budget.parameters)
    if budget.of_risk:
        return bound_of(limit.total_loss._replace(exact=False))
    if "epsilon" in given:
        notion = Notion.APPROX if given.get("delta") else Notion.PURE
        return Bound(notion, given["epsilon"], given.get("delta") or None)
    notion = Notion.ZCDP if "rho" in given else Notion.GDP
    return Bound(notion, given[notion.facts.symbol])


def decision(limit: Budget, counted: Counted) -> Verdict:
    """Returns the verdict on a budget: whether the record stays within it.

    The slack is known where the filter's limit is the budget's own parameter, not a converted one.
    """
    slack = None
    if counted.filter.stated:
        value = counted.filter.notion.value_of(Fraction(counted.spent.amount))[0]
        slack = limit.parameters[0][1] - value
    why = None if counted.within else "the record passes the budget"
    return Verdict(limit, counted.within, slack, why)


def _other(case: Case, limit: Budget) -> Verdict:
    """Returns the verdict on a further budget, counted by a filter of its own."""
    try:
        return decision(limit, count(case.problem, case.solver, limit, case.resolved.filter))
    except NoFilter as none:
        return Verdict(limit, False, None, str(none))


def read(
    limit: PrivacyFilter, deltas: Sequence[Fraction], epsilons: Sequence[Fraction]
) -> tuple[tuple[At, ...], tuple[At, ...]]:
    """Returns the guarantee of a filter as the ε at each of `deltas` and the δ at each of
    `epsilons`."""
    says = f"all that the filter admits has {_amounts(limit.limit, down=True)}, read at this point"
    at_delta: list[At] = []
    for delta in dict.fromkeys(deltas):
        route, found = limit.at(Point(delta=delta))
        at_delta.append(At("delta", delta, upper_of(found), None, str(route), says))
    at_epsilon: list[At] = []
    for epsilon in dict.fromkeys(epsilons):
        route, found = limit.at(Point(epsilon=epsilon))
        value = None if found is None or found.upper >= 1 else found.upper
        at_epsilon.append(At("epsilon", epsilon, value, None, str(route), says))
    return tuple(at_delta), tuple(at_epsilon)


def _amounts(parameters: Sequence[tuple[str, Fraction]], down: bool = False) -> str:
    """Returns parameters in words, `ρ = 0.5`; `down`: rounded down, as for what may still be
    spent."""
    says = number_below if down else number
    return ", ".join(f"{SIGNS[name]} = {says(value)}" for name, value in parameters)


def _report_of_ledger(
    case: Case, counted: Counted, record: FilterRecord, bound: Bound, fixed: CertifiedRelease | None
) -> Report:
    """Returns the report of a record: its bound and reasoning, or why there is no guarantee any
    more.

    `fixed`: what would be certified if all parameters had been fixed before the first output; None
    where the reasoning is not asked for.
    """
    solution, limit, span = counted.solution, counted.filter, case.source.span
    at_delta: tuple[At, ...] = ()
    at_epsilon: tuple[At, ...] = ()
    if counted.within:
        at_delta, at_epsilon = read(limit, case.deltas, case.epsilons)
        report = replace(
            outcomes.with_bound(case, solution, bound),
            at_delta=at_delta,
            at_epsilon=at_epsilon,
            theorem=None if fixed is None else in_role(Role.FILTER, limit.notion).id,
        )
    else:
        report = outcomes.without_bound(case, [passed(record)], solution)
    report = replace(report, record=record)
    if fixed is None:
        return report
    proof = proof_of(case.solver, solution, span=span)
    steps = derivation.of_solution(case.solver, solution, proof)
    if counted.within:
        steps += _by_filter(case, counted, record, bound)
        proof = by_filter(proof, in_role(Role.FILTER, limit.notion).id)
    costs = shares.of_solution(solution, span)
    return replace(
        report,
        tree=derivation.tree(steps, (*at_delta, *at_epsilon), span),
        proof=proof if counted.within else None,
        chain=derivation.chain(steps, span),
        worst=explanation.worst_change(solution, span),
        alternatives=tuple(_alternatives(case, counted, fixed)),
        pipeline=pipeline_graph.of_solution(case.problem, solution, steps, costs, span),
        shares=costs,
    )


def _by_filter(case: Case, counted: Counted, record: FilterRecord, bound: Bound) -> list[Step]:
    """Returns the steps from the sum of what is spent to the guarantee: what may be spent, and the
    theorem by which the whole interaction has the budget."""
    limit = counted.filter
    entry = in_role(Role.FILTER, limit.notion)
    may_spend = f"{_amounts(record.limit, down=True)} may be spent: "
    if limit.stated:
        may_spend += "the budget itself, fixed before the first output"
    else:
        symbol = limit.notion.facts.sign
        may_spend += f"the largest {symbol} that gives the budget, found before the first output"
    within = f"the whole interaction has the budget, by {entry.title[:1].lower()}{entry.title[1:]}"
    if case.problem.interactive:
        within += ", for interactive mechanisms too"
        entry = in_role(Role.CONCURRENT_FILTER)
    return [
        Step("theorem", "", may_spend, may_spend),
        Step("theorem", "", within, within, entry.id, bound),
    ]


def passed(record: FilterRecord) -> str:
    """Returns the sentence that a record of releases exceeds its budget, with the way out."""
    return (
        f"The record passes the budget: {_amounts(record.spent or ())} is spent of "
        f"{_amounts(record.limit, down=True)}. The release that passes it had to be refused. "
        "Way out: take it out of the record if it has not been released; if it has, no guarantee "
        "is known, since a budget that is raised afterwards was not fixed before the first output."
    )


def _alternatives(case: Case, counted: Counted, fixed: CertifiedRelease) -> Iterator[Alternative]:
    """Yields the bounds that need fixed parameters, and the sums of the other filters."""
    for at in fixed.at_delta:
        if at.value is None:
            continue
        entry = behind(at.rule)
        says = f"ε = {number(at.value)} at δ = {chance(number(at.given))} by {at.rule}, {_FIXED}"
        yield Alternative(None if entry is None else entry.id, None, says)
    assert case.budget is not None
    for notion in FILTERS:
        if notion is counted.filter.notion:
            continue
        try:
            other = count(case.problem, case.solver, case.budget, notion)
        except NoFilter:
            continue
        spent = _amounts([(name, value) for name, value, _ in bound_of(other.spent).parameters])
        says = (
            f"`filter: {notion.value}` would count {spent} of "
            f"{_amounts(other.filter.limit, down=True)}, if "
            "it had been chosen before the first output"
        )
        yield Alternative(in_role(Role.FILTER, notion).id, None, says)


# ---------------------------------------------------------------------------------------------
# A record of releases compared with a budget, by a filter's sum (theory, section 10)
#
# The sum for a pair of neighbours is the structural one: only mechanisms that the change reaches
# count. Bounds that need parameters fixed in advance are refused, with the way out.


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

        `deltas`: where to state the ε of the limit; `fixed`: the ε's that hold if parameters are
        fixed in advance; `at`: the δ to compare them at.
        """
        found = self.filter
        spent = bound_of(self.spent)
        read = ((delta, upper_of(found.at(Point(delta=delta))[1])) for delta in deltas)
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
        """Returns a δ, the ε of what is spent, and that of the same releases planned ahead."""
        _, found = of_bound(self.spent, Point(delta=delta))
        if found is None:
            return None
        spent = found.upper
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
    """Returns a hint that names the notions in which a filter would have a finite sum; empty if
    there are none."""
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
    """Returns the names of the mechanisms that read a draw of the sample, how many releases they
    are, and whether some have a δ."""
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
    """Raises NoFilter where several releases read one draw of a sample and any of them has a δ: a
    filter would need parameters that do not depend on that draw."""
    names, releases, leaks = _on_sample(sample)
    if releases > 1 and leaks:
        raise NoFilter(
            f"{listing(names)} share the {what} `{sample.name}`, and what is known of their "
            f"(ε, δ) together on one {what} needs parameters that are fixed in advance. Way out: a "
            f"{what} for each release, or pure guarantees on this one."
        )


def _refuse_what_promises_nothing(solution: Solution, limit: PrivacyFilter) -> None:
    """Raises NoFilter where the δ of the worst change add up to 1 or more, so that none holds."""
    pairs = solution.algebra.pairs(solution.loss)
    if not pairs:
        return
    least = min(delta for _, delta in pairs)
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
            if len(solution.algebra.values(own)) > 1:
                raise NoFilter(
                    f"`{mechanism.name}` has several (ε, δ) for one change, and a filter counts "
                    "one that is chosen before the release. Way out: state the one that is meant."
                )
