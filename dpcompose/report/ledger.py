"""Reports of ledgers: releases whose parameters are chosen along the way (theory, section 10).

A filter bounds the sum of their losses by a budget that is fixed in advance. What has been spent is
a fact about the record of releases. The guarantee is the budget, as long as the record stays within
it; without a budget there is no guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.at_delta import worst_trade_off
from dpcompose.core.at_delta.filters import FILTERS, PrivacyFilter
from dpcompose.core.notions.guarantee import AskedRisk, Budget, Quantity, bound_of
from dpcompose.core.notions.notion import SIGNS, Notion
from dpcompose.core.search.proof import prove
from dpcompose.core.search.solver import Solver
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.core.theorems.select import select
from dpcompose.curves import Point
from dpcompose.curves.rounding import chance, number, number_below
from dpcompose.report import (
    Alternative,
    At,
    Bound,
    FilterRecord,
    Line,
    Node,
    Report,
    Verdict,
    explanation,
    outcomes,
    pipeline_graph,
    proof_tree,
    shares,
)
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.counted import Counted, NoFilter, count
from dpcompose.report.outcomes import Case
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
    """Returns the report of a spec whose parameters are chosen along the way.

    Each budget is a filter of its own; the first is the guarantee.
    """
    problem, asked = case.problem, case.asked
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
    if counted.within:
        report = _with_guarantee(report, case, counted.filter, bound)
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
        ceilings=tuple(_ceiling_verdict(each, counted.filter, bound) for each in case.ceilings),
        certificate=certificate,
        rechecked=rechecked,
    )


def _with_guarantee(report: Report, case: Case, limit: PrivacyFilter, bound: Bound) -> Report:
    """Returns the report of a record within its budget, with the guarantee read at the points that
    are asked for, and an attacker's greatest gain from all releases that the filter admits."""
    at_delta, at_epsilon = read(limit, case.deltas, case.epsilons)
    tree = report.tree
    if tree:
        tree = proof_tree.with_readings(tree, (*at_delta, *at_epsilon), case.source.span)
    report = replace(report, at_delta=at_delta, at_epsilon=at_epsilon, tree=tree)
    if case.risk is None and not case.drawn:
        return report
    curve = worst_trade_off.of_quantity(limit.total_loss)
    bounds = [Quantity(bound.notion, bound.value, bound.delta or Fraction(0))]
    return replace(
        report,
        risk=None if case.risk is None else risk_of(curve, case.risk, (), bounds),
        drawn=drawn_of(curve, case.risk or AskedRisk(), (), bounds) if case.drawn else None,
    )


def _ceiling_verdict(ceiling: Budget, counted: PrivacyFilter, bound: Bound) -> Verdict:
    """Returns the verdict of the guarantee on a ceiling, the most that settings allow."""
    if ceiling.of_risk:
        return of_risk(ceiling, worst_trade_off.of_quantity(counted.total_loss))
    return verdict(ceiling, [bound, bound_of(counted.total_loss)])


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
        problem = case.problem
        return decision(limit, count(problem, Solver(problem), limit, case.resolved.filter))
    except NoFilter as none:
        return Verdict(limit, False, None, str(none))


def read(
    limit: PrivacyFilter, deltas: Sequence[Fraction], epsilons: Sequence[Fraction]
) -> tuple[tuple[At, ...], tuple[At, ...]]:
    """Returns the guarantee as the ε at each δ, and as the δ at each ε, both by the filter's
    limit."""
    says = f"all that the filter admits has {_amounts(limit.limit, down=True)}, read at this point"
    at_delta: list[At] = []
    for delta in dict.fromkeys(deltas):
        read = limit.at(Point(delta=delta))
        at_delta.append(At("delta", delta, read.value, None, str(read.rule), says))
    at_epsilon: list[At] = []
    for epsilon in dict.fromkeys(epsilons):
        read = limit.at(Point(epsilon=epsilon))
        value = None if read.value is None or read.value >= 1 else read.value
        at_epsilon.append(At("epsilon", epsilon, value, None, str(read.rule), says))
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
    solution, entry = counted.solution, in_role(Role.FILTER, counted.filter.notion)
    span = case.source.span
    if counted.within:
        report, theorem = outcomes.with_bound(case, solution, bound), entry.id
    else:
        report, theorem = outcomes.without_bound(case, [passed(record)], solution), None
    report = replace(report, record=record)
    if fixed is None:
        return report
    cited, _ = select(case.solver, solution)
    proof = prove(case.solver, solution, cited)
    tree = proof_tree.of_solution(proof, (), span)
    chain = explanation.chain(proof, span)
    limits = f"{_amounts(record.limit, down=True)} may be spent: {_origin(counted, case.asked)}"
    within = f"the whole interaction has the budget, by {entry.title[:1].lower()}{entry.title[1:]}"
    if counted.within:
        opened = case.problem.interactive
        if opened:
            within += ", for interactive mechanisms too"
            entry = in_role(Role.CONCURRENT_FILTER)
        last = len(tree)
        tree = (*tree, Node(last + 1, 0, "theorem", "", limits, None, None))
        tree = (*tree, Node(last + 2, 0, "theorem", "", within, bound, entry.id))
        number_ = len(chain)
        chain = (*chain, Line(number_ + 1, None, limits, (number_,), None, ()))
        chain = (*chain, Line(number_ + 2, entry.id, within, (number_ + 1,), bound, ()))
    costs = shares.of_solution(solution, span)
    return replace(
        report,
        tree=tree,
        chain=chain,
        theorem=theorem,
        worst=explanation.worst_change(solution, span),
        alternatives=tuple(_alternatives(case, counted, fixed)),
        pipeline=pipeline_graph.of_solution(proof, costs, span),
        shares=costs,
    )


def passed(record: FilterRecord) -> str:
    """Returns the sentence that a record exceeds its budget, with the way out."""
    return (
        f"The record passes the budget: {_amounts(record.spent or ())} is spent of "
        f"{_amounts(record.limit, down=True)}. The release that passes it had to be refused. "
        "Way out: take it out of the record if it has not been released; if it has, no guarantee "
        "is known, since a budget that is raised afterwards was not fixed before the first output."
    )


def _origin(counted: Counted, budget: Budget | None) -> str:
    """Returns the words on where a filter's limit comes from: the budget itself, or a conversion of
    it."""
    if counted.filter.stated or budget is None:
        return "the budget itself, fixed before the first output"
    symbol = counted.filter.notion.facts.sign
    return f"the largest {symbol} that gives the budget, found before the first output"


def _alternatives(case: Case, counted: Counted, fixed: CertifiedRelease) -> Iterator[Alternative]:
    """Yields the bounds that need fixed parameters, and the sums that other filters would have
    counted."""
    for at in fixed.at_delta:
        if at.value is None:
            continue
        entry = behind(at.rule)
        says = f"ε = {number(at.value)} at δ = {chance(number(at.given))} by {at.rule}, {_FIXED}"
        yield Alternative(None if entry is None else entry.id, None, says)
    assert case.asked is not None
    for notion in FILTERS:
        if notion is counted.filter.notion:
            continue
        try:
            other = count(case.problem, Solver(case.problem), case.asked, notion)
        except NoFilter:
            continue
        spent = _amounts([(name, value) for name, value, _ in bound_of(other.spent).parameters])
        says = (
            f"`filter: {notion.value}` would count {spent} of "
            f"{_amounts(other.filter.limit, down=True)}, if "
            "it had been chosen before the first output"
        )
        yield Alternative(in_role(Role.FILTER, notion).id, None, says)
