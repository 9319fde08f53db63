"""Reports of the three possible results of an analysis: a bound, a profile, or no finite bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.model.protected import initial
from dpcompose.core.notions.guarantee import Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.core.theorem import Role
from dpcompose.errors import Diagnostic, in_order
from dpcompose.report import (
    Alternative,
    At,
    Bound,
    Extent,
    PipelineNode,
    Report,
    Status,
    Verdict,
    WorstChange,
    wording,
)
from dpcompose.report.assumptions import assumptions
from dpcompose.report.because import assumed
from dpcompose.report.findings import (
    AskedNumbers,
    findings,
    nonsense,
    of_record,
    other_units,
)
from dpcompose.report.verdict import verdict
from dpcompose.resolve import Resolved
from dpcompose.source import Source

if TYPE_CHECKING:
    from dpcompose.core.theorems.select import Compared


class Case(NamedTuple):
    """One spec under analysis: its text, its meaning, its name, the budget to use, and its solver.

    `against`: the budget against the adversary.
    """

    source: Source
    resolved: Resolved
    name: str
    asked: Budget | None
    solver: Solver
    against: Budget | None = None

    @property
    def problem(self) -> Problem:
        """Returns the problem that the spec poses."""
        return self.resolved.problem


def _outset(case: Case, status: Status, extent: Extent = "all") -> Report:
    """Returns the report's first fields, which do not depend on the result."""
    goal = case.problem.goal
    report = Report(
        file=case.name,
        title=case.resolved.title,
        status=status,
        relation=goal.relation.name or goal.relation.kind.value,
        keeps=tuple(sorted(goal.relation.keeps)),
        changes=tuple(sorted(goal.relation.changes or ())),
        distance=goal.distance,
        lines=case.source.lines,
    )
    if extent == "bound":
        return report
    return replace(
        report,
        protects=_protects(case.problem, case.solver),
        assumptions=assumed(
            case.source, assumptions(case.problem, case.solver.tops, case.resolved.ledger)
        ),
    )


def _protects(problem: Problem, solver: Solver) -> str:
    """Returns the protected change in words: `1 row replaced`."""
    goal = problem.goal
    units = list(dict.fromkeys(root.unit for root in problem.roots if root.unit is not None))
    if goal.relation.kind is RelationKind.USER and units:
        times = "one" if goal.distance == 1 else wording.count_text(goal.distance)
        return f"{times} `{'` or `'.join(units)}`: all its rows added or removed"
    states = [initial(root, top, goal) for root, top in solver.tops]
    changes = dict.fromkeys(wording.change(state) for state in states if state)
    says = " or ".join(changes)
    if goal.relation.leaves_nulls:
        says = says.replace("added or removed", "made null")
    if goal.relation.keeps:
        says += f", {wording.listing(sorted(goal.relation.keeps))} kept"
    if goal.relation.changes is not None:
        says += f", in {wording.listing(sorted(goal.relation.changes))} alone"
    return says


def with_bound(case: Case, solution: Solution, bound: Bound) -> Report:
    """Returns a report of a bound that another module has found, without its reasoning."""
    return replace(_outset(case, "ok"), bound=bound, findings=_remarks(case, solution, bound))


def without_bound(case: Case, why: Iterable[str], solution: Solution | None = None) -> Report:
    """Returns a report without a finite bound, for reasons that another module has found."""
    return replace(
        _outset(case, "no-guarantee"),
        reasons=tuple(why),
        findings=_remarks(case, solution),
        pipeline=_pipeline_alone(case),
    )


def _pipeline_alone(case: Case) -> tuple[PipelineNode, ...]:
    """Returns the pipeline of a spec without a finite bound."""
    from dpcompose.report.pipeline_graph import without_change

    return without_change(case.problem, case.source.span)


def certified(
    case: Case,
    finite: list[Solution],
    points: tuple[At, ...] = (),
    extent: Extent = "all",
) -> Report:
    """Returns the report of a finite bound, with worst change, costs and proof up to the extent.

    `finite`: the solutions with a finite bound, strongest notion first; `points`: the numbers at
    the chosen δ's and ε's.
    """
    solution = finite[0]
    bounds = [bound_of(quantity) for quantity in solution.quantities]
    others = [bound_of(quantity) for each in finite[1:] for quantity in each.quantities]
    chosen = 0
    decision = None
    if case.asked is not None and not case.asked.of_risk:
        fitting = [verdict(case.asked, [bound]).ok for bound in bounds]
        chosen = fitting.index(True) if any(fitting) else 0
        decision = verdict(case.asked, [bounds[chosen], *others])
    solution.quantities = (
        solution.quantities[chosen],
        *solution.quantities[:chosen],
        *solution.quantities[chosen + 1 :],
    )
    report = replace(
        _outset(case, "ok", extent),
        bound=bounds[chosen],
        findings=_remarks(case, solution, bounds[chosen], points),
        verdict=decision,
    )
    if extent == "bound":
        return report
    from dpcompose.report import explanation, shares

    report = replace(
        report,
        worst=explanation.worst_change(solution, case.source.span),
        shares=shares.of_solution(solution, case.source.span),
    )
    if extent == "costs":
        return report
    from dpcompose.core.search.proof import prove
    from dpcompose.core.theorems.select import select
    from dpcompose.report import pipeline_graph, proof_tree

    cited, compared = select(case.solver, solution)
    proof = prove(case.solver, solution, cited)
    return replace(
        report,
        tree=proof_tree.of_solution(proof, points, case.source.span),
        theorem=cited,
        chain=explanation.chain(proof, case.source.span),
        alternatives=_alternatives(
            solution, compared, [*bounds[:chosen], *bounds[chosen + 1 :]], others
        ),
        shares=shares.without_each(case.solver, report.shares, next(iter(points), None)),
        pipeline=pipeline_graph.of_solution(proof, report.shares, case.source.span),
    )


def profile(case: Case, found: tuple[At, ...], extent: Extent = "all") -> Report:
    """Returns the report of a profile: finite at a δ, with no bound in one notion."""
    from dpcompose.core.theorems.book import behind, in_role

    shown = next(at for at in found if at.value is not None)
    report = replace(
        _outset(case, "ok", extent),
        theorem=(behind(shown.rule) or in_role(Role.PROFILES)).id,
        worst=WorstChange(shown.worst, shown.datasets, ()),
        findings=_remarks(case, None, None, found),
        verdict=None if case.asked is None or case.asked.of_risk else verdict(case.asked, []),
    )
    if extent == "bound":
        return report
    from dpcompose.report import explanation, pipeline_graph, proof_tree, shares

    report = replace(report, shares=shares.of_profile(case.solver, shown, case.source.span))
    if extent == "costs":
        return report
    example = case.solver.example_change()
    return replace(
        report,
        tree=proof_tree.of_profile(case.problem, example, found, case.source.span),
        pipeline=pipeline_graph.of_profile(case.problem, example, shown, case.source.span),
        chain=explanation.profile_chain(shown),
        shares=shares.without_each(case.solver, report.shares, shown),
    )


def _alternatives(
    solution: Solution, compared: Iterable[Compared], undominated: list[Bound], others: list[Bound]
) -> tuple[Alternative, ...]:
    """Returns the bounds and theorems that were compared with the one that is cited."""

    found = [
        Alternative(None, bound, "another pair that holds as well: neither is better in both")
        for bound in undominated
    ]
    found += [Alternative(None, bound, "the same release in another notion") for bound in others]
    for each in compared:
        quantity = None if each.loss is None else solution.quantity(each.loss)
        bound = None if quantity is None else bound_of(quantity)
        found.append(Alternative(each.theorem, bound, each.why))
    return tuple(found)


def no_guarantee(
    case: Case,
    solutions: list[Solution],
    found: tuple[At, ...] = (),
    chosen: bool = False,
    extent: Extent = "all",
) -> Report:
    """Returns the report of a spec without a finite bound, with the reasons.

    `found`: the numbers at the chosen δ's and ε's; `chosen`: whether any was chosen.
    """
    # Imported here: most specs have a bound.
    from dpcompose.report.findings.reasons import why_none

    why = why_none(case.problem, case.solver.tops, solutions, found, chosen)
    alternatives: list[Alternative] = []
    remarks: tuple[Diagnostic, ...] = ()
    if solutions:
        solution = solutions[0]
        alternatives = [] if extent == "bound" else _unusable(case, solution)
        remarks = _remarks(case, solution)
    decision = None
    if case.asked is not None:
        decision = Verdict(case.asked, False, None, "there is no finite bound")
    return replace(
        _outset(case, "no-guarantee"),
        alternatives=tuple(alternatives),
        reasons=tuple(why),
        findings=remarks,
        verdict=decision,
        pipeline=_pipeline_alone(case) if extent == "all" else (),
    )


def _unusable(case: Case, solution: Solution) -> list[Alternative]:
    """Returns the theorems that do not apply, each with the hypothesis that fails."""
    from dpcompose.core.theorems.book import in_role
    from dpcompose.core.theorems.select import select

    _, compared = select(case.solver, solution)
    found = [Alternative(each.theorem, None, each.why) for each in compared if each.loss is None]
    if case.problem.goal.relation.kind.value == "bounded":
        found.append(
            Alternative(
                in_role(Role.CONVERSE).id,
                None,
                "a composition is private only if each mechanism is, as a function of the whole "
                "table; a bounded guarantee on a part does not say so (Example II.9)",
            )
        )
    return found


def _numbers(case: Case, bound: Bound | None, points: tuple[At, ...]) -> AskedNumbers:
    """Returns the δ's that the spec asks for, and the ε found: at such a δ, or else the bound's."""
    resolved = case.resolved
    budget = dict(resolved.budget.parameters) if resolved.budget is not None else {}
    deltas = [(value, ("budget", "delta")) for name, value in budget.items() if name == "delta"]
    asked = [value for value, _ in deltas]
    deltas += [(each, ("report", "delta")) for each in resolved.deltas if each not in asked]
    found = [at.value for at in points if at.wanted == "delta" and at.value is not None]
    if not found and bound is not None and bound.notion in (Notion.PURE, Notion.APPROX):
        found = [bound.value]
    return AskedNumbers(deltas, [(min(found), ("protect",))] if found else [])


def _remarks(
    case: Case,
    solution: Solution | None,
    bound: Bound | None = None,
    points: tuple[At, ...] = (),
) -> tuple[Diagnostic, ...]:
    """Returns all remarks on the spec, in the order of their positions."""
    resolved = case.resolved
    found = [
        Diagnostic(each.code, each.message, case.source.span(each.path), each.hint, each.level)
        for each in (
            *findings(case.problem, case.solver.tops, solution),
            *other_units(case.problem),
            *(of_record(case.problem, case.asked, resolved.filter) if resolved.ledger else ()),
            *nonsense(case.problem, case.solver.tops, solution, _numbers(case, bound, points)),
        )
    ]
    return in_order(found)
