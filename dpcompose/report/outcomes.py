"""Reports of the three possible results of an analysis: a bound, a profile, or no finite bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Path, Problem
from dpcompose.core.model.protected import initial
from dpcompose.core.notions.guarantee import AskedRisk, Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.core.theorem import Role
from dpcompose.errors import Diagnostic, in_order
from dpcompose.report import (
    Alternative,
    Assumption,
    At,
    Bound,
    Extent,
    Recheck,
    Report,
    Status,
    WorstChange,
    number_of_budget,
    wording,
)
from dpcompose.report.assumptions import assumed, assumptions, meanwhile
from dpcompose.report.certify import CertifiedRelease
from dpcompose.report.findings import (
    findings,
    nonsense,
    of_record,
    other_units,
)
from dpcompose.report.verdict import deltas_of, verdict
from dpcompose.resolve import Resolved
from dpcompose.source import Source


@dataclass(frozen=True, slots=True)
class Case:
    """One spec under analysis, and what is asked of it.

    `text`: that of the spec; `name`: what it is called in messages. `limits`: the budgets for
    differential privacy, the verdict being on the first that is not met; `ceilings`: what is
    allowed at most beside them; `against`: the budget against the adversary. `deltas`, `epsilons`:
    the points at which numbers are stated; `risk`: the rates at which an attacker's gain is.
    `certificate`: whether the report carries one, and `recheck`, whether the checker goes through
    it. `extent`, `drawn`: as in `analyze`.
    """

    source: Source
    resolved: Resolved
    name: str
    text: bytes
    solver: Solver
    limits: tuple[Budget, ...] = ()
    ceilings: tuple[Budget, ...] = ()
    against: Budget | None = None
    deltas: tuple[Fraction, ...] = ()
    epsilons: tuple[Fraction, ...] = ()
    risk: AskedRisk | None = None
    certificate: bool = False
    recheck: bool = False
    extent: Extent = "all"
    drawn: bool = False

    @property
    def problem(self) -> Problem:
        """Returns the problem that the spec poses."""
        return self.resolved.problem

    @property
    def budget(self) -> Budget | None:
        """Returns the first budget."""
        return self.limits[0] if self.limits else None

    def certified(
        self, solutions: Sequence[Solution], points: Iterable[At] = ()
    ) -> tuple[tuple[str, ...], Recheck | None]:
        """Returns the certificate of finite solutions (empty if not wanted), a line of JSON each,
        and the result of the checker on it (None if not wanted); raises Unproved where the checker
        refuses it.

        `points`: numbers at a chosen δ that the certificate proves too.
        """
        if not (self.certificate or self.recheck):
            return (), None
        from dpcompose.report.recheck import certificate_lines, recheck

        digest = sha256(self.text).hexdigest()
        found = certificate_lines(self.solver, solutions, digest, points)
        rechecked = recheck(found, self.text) if self.recheck else None
        return (found if self.certificate else ()), rechecked


def outset(
    case: Case, status: Status, extent: Extent = "all", found: CertifiedRelease | None = None
) -> Report:
    """Returns a report with the fields that are the same for all results.

    `found`: what is certified, for the verdict, the numbers at chosen points, the risk and the
    certificate; None where another module fills these in.
    """
    goal, tree = case.problem.goal, case.source.value
    key = "budget" if isinstance(tree, dict) and "budget" in tree else "protect"
    everything = extent != "bound"
    facts: Iterable[Assumption] = meanwhile(case.problem)
    if everything:
        facts = assumptions(case.problem, case.solver.tops, case.resolved.ledger)
    report = Report(
        file=case.name,
        title=case.resolved.title,
        status=status,
        goal=goal,
        units=_units(case.problem),
        limits=case.limits,
        against=case.against,
        protects=_protects(case.problem, case.solver) if everything else "",
        assumptions=assumed(case.source, facts, everything),
        place=case.source.span((key,)),
        population=case.resolved.population,
        digest=sha256(case.text).hexdigest(),
        lines=case.source.lines,
    )
    if found is None:
        return report
    verdicts = list(map(found.held, case.limits))
    first = next((each for each in verdicts if not each.ok), next(iter(verdicts), None))
    if status != "ok":
        return replace(report, verdict=first)
    certificate, rechecked = case.certified(found.solutions, found.at_delta)
    return replace(
        report,
        verdict=first,
        ceilings=tuple(map(found.held, case.ceilings)),
        at_delta=found.at_delta,
        at_epsilon=found.at_epsilon,
        risk=found.risk,
        drawn=found.drawn,
        certificate=certificate,
        rechecked=rechecked,
    )


def _units(problem: Problem) -> tuple[tuple[str, str], ...]:
    """Returns each root with the column of its privacy unit, where units are protected."""
    relation = problem.goal.relation
    if (relation.within or relation).kind is not RelationKind.USER:
        return ()
    return tuple((root.dataset.name, root.unit) for root in problem.roots if root.unit is not None)


def _protects(problem: Problem, solver: Solver) -> str:
    """Returns the protected change in words: `1 row replaced`."""
    goal = problem.goal
    named = dict.fromkeys(unit for _, unit in _units(problem))
    units = " or ".join(f"`{unit}`" for unit in named)
    if goal.relation.kind is RelationKind.USER and units:
        times = "one" if goal.distance == 1 else wording.count_text(goal.distance)
        return f"{times} {units}: all its rows added or removed"
    states = [initial(root, top, goal) for root, top in solver.tops]
    changes = dict.fromkeys(wording.change(state) for state in states if state)
    says = " or ".join(changes)
    if units:
        says += f", a unit being one {units}"
    if goal.relation.leaves_nulls:
        says = says.replace("added or removed", "made null")
    if goal.relation.keeps:
        says += f", {wording.listing(sorted(goal.relation.keeps))} kept"
    if goal.relation.changes is not None:
        says += f", in {wording.listing(sorted(goal.relation.changes))} alone"
    return says


def with_bound(case: Case, solution: Solution, bound: Bound) -> Report:
    """Returns a report of a bound that another module has found, without its reasoning."""
    return replace(outset(case, "ok"), bound=bound, findings=_remarks(case, solution, bound))


def without_bound(
    case: Case,
    why: Iterable[str],
    solution: Solution | None = None,
    found: CertifiedRelease | None = None,
) -> Report:
    """Returns the report of a spec whose privacy loss has no finite bound (status `no-guarantee`).

    `why`: the reasons; `found`: as in `outset`.
    """
    from dpcompose.report.pipeline_graph import without_change

    return replace(
        outset(case, "no-guarantee", found=found),
        reasons=tuple(why),
        findings=_remarks(case, solution),
        pipeline=without_change(case.problem, case.source.span) if case.extent == "all" else (),
    )


def of_bound(case: Case, found: CertifiedRelease) -> Report:
    """Returns the report of a finite bound, with worst change, costs and proof up to the extent.

    The bound is the first that meets the budget, of the undominated ones in the strongest notion.
    """
    solution, *weaker = found.solutions
    span, budget = case.source.span, case.budget
    if budget is not None and not budget.of_risk:
        fitting = (each for each in solution.quantities if verdict(budget, [bound_of(each)]).ok)
        first = next(fitting, solution.quantities[0])
        rest = (each for each in solution.quantities if each is not first)
        solution.quantities = (first, *rest)
    bounds = [bound_of(quantity) for quantity in solution.quantities]
    others = [bound_of(quantity) for each in weaker for quantity in each.quantities]
    report = replace(
        outset(case, "ok", case.extent, found),
        bound=bounds[0],
        findings=_remarks(case, solution, bounds[0], found.points),
    )
    if case.extent == "bound":
        return report
    from dpcompose.report import explanation, shares

    report = replace(
        report,
        worst=explanation.worst_change(solution, span),
        shares=shares.of_solution(solution, span),
    )
    if case.extent == "costs":
        return report
    from dpcompose.core.search.select import compare
    from dpcompose.report import derivation, pipeline_graph
    from dpcompose.report.proof_steps import proof_of

    led = number_of_budget(report.verdict, found.points)
    proof = proof_of(case.solver, solution, found.points, led, span)
    compared = compare(case.solver, solution, proof.of_bound)
    if not {*proof.of_bound} & {*proof.theorems}:
        why = "the bound without a δ"
        compared = [Alternative(each, bounds[0], why) for each in proof.of_bound[:1]] + compared
    steps = derivation.of_solution(case.solver, solution, proof)
    return replace(
        report,
        tree=derivation.tree(steps, found.points, span),
        theorem=next(iter(proof.theorems), None),
        proof=proof,
        chain=derivation.chain(steps, span),
        alternatives=(*_further(bounds[1:], others), *compared),
        shares=shares.without_each(case.solver, report.shares, next(iter(found.points), None)),
        pipeline=pipeline_graph.of_solution(case.problem, solution, steps, report.shares, span),
    )


def of_profile(case: Case, found: CertifiedRelease) -> Report:
    """Returns the report of a profile: finite at a δ, with no bound in one notion."""
    from dpcompose.report.proof_steps import proof_of

    points = found.points
    shown = next(at for at in points if at.value is not None)
    report = outset(case, "ok", case.extent, found.without_worst(shown.worst))
    led = number_of_budget(report.verdict, points) or shown
    span = case.source.span
    proof = proof_of(case.solver, None, points, led if led.value is not None else shown, span)
    report = replace(
        report,
        theorem=next(iter(proof.theorems), None),
        proof=proof,
        worst=WorstChange(shown.worst, shown.datasets, ()),
        findings=_remarks(case, None, None, points),
    )
    if case.extent == "bound":
        return report
    from dpcompose.report import derivation, pipeline_graph, shares

    span = case.source.span
    report = replace(report, shares=shares.of_profile(case.solver, shown, span))
    if case.extent == "costs":
        return report
    visits, charges = case.solver.profile.example_change()
    steps = derivation.of_profile(case.problem, visits, charges, shown, proof)
    return replace(
        report,
        tree=derivation.tree(steps, points, span, shown),
        pipeline=pipeline_graph.of_profile(case.problem, steps, charges, shown, span),
        chain=derivation.profile_chain(shown),
        shares=shares.without_each(case.solver, report.shares, shown),
    )


def _further(undominated: Iterable[Bound], others: Iterable[Bound]) -> Iterator[Alternative]:
    """Yields the further bounds of a release: other pairs (ε, δ), and those in other notions."""
    for bound in undominated:
        why = "another pair that holds as well: neither is better in both"
        yield Alternative(None, bound, why)
    for bound in others:
        yield Alternative(None, bound, "the same release in another notion")


def without_guarantee(case: Case, found: CertifiedRelease) -> Report:
    """Returns the report of a spec without a finite bound, with the reasons."""
    # Imported here: most specs have a bound.
    from dpcompose.report.findings.reasons import why_none

    report = without_bound(case, why_none(found), next(iter(found.solved), None), found)
    if not found.solved:
        report = replace(report, findings=())
    elif case.extent != "bound":
        report = replace(report, alternatives=tuple(_unusable(case, found.solved[0])))
    return report


def _unusable(case: Case, solution: Solution) -> list[Alternative]:
    """Returns the theorems that do not apply, each with the hypothesis that fails."""
    from dpcompose.core.search.select import compare
    from dpcompose.core.theorems.book import in_role

    compared = compare(case.solver, solution, ())
    found = [each for each in compared if each.bound is None]
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


def _remarks(
    case: Case,
    solution: Solution | None,
    bound: Bound | None = None,
    points: Sequence[At] = (),
) -> tuple[Diagnostic, ...]:
    """Returns all remarks on the spec, in the order of their positions.

    Among them are those on the δ's that it asks for, and on the ε found: at such a δ, or else the
    bound's.
    """
    resolved, problem, tops = case.resolved, case.problem, case.solver.tops
    asked = deltas_of(resolved.budget)
    deltas: list[tuple[Fraction, Path]] = [(each, ("budget", "delta")) for each in asked]
    deltas += [(each, ("report", "delta")) for each in resolved.deltas if each not in asked]
    known = [at.value for at in points if at.wanted == "delta" and at.value is not None]
    if not known and bound is not None and bound.notion in (Notion.PURE, Notion.APPROX):
        known = [bound.value]
    found = (
        *findings(problem, tops, solution),
        *other_units(problem),
        *(of_record(problem, case.budget, resolved.filter) if resolved.ledger else ()),
        *nonsense(problem, tops, solution, deltas, min(known, default=None)),
    )
    return in_order(each.at(case.source) for each in found)
