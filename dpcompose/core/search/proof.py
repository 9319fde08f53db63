"""The derivation behind an answer, and its certificate.

Leaves are the stated guarantees of the mechanisms that the worst change reaches. Above each is its
cost for what reaches the dataset read, then the sum of the costs, then the theorem that is cited.
It is for readers. What proves the bound is the certificate (`core.kernel.certificate`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.kind import fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import State, all_leaves
from dpcompose.core.kernel import joint_distance
from dpcompose.core.kernel.certificate import Certificate, certificate
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs
from dpcompose.core.loss.cost import Coster
from dpcompose.core.loss.walk import How
from dpcompose.core.model.derivation import Step
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import ChangeCharge, Solution, Solver, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import general, in_role
from dpcompose.core.theorems.select import for_touch
from dpcompose.core.theorems.touches import ChargedStep
from dpcompose.curves.rounding import watch_rounding

#: So many mechanisms are written out; the others are one step together.
MOST = 200


def prove(solver: Solver, solution: Solution, cited: str) -> Step:
    """Returns the derivation of a solution's first bound, citing a theorem of the book."""
    changes = [_change(visit) for visit in solution.visits]
    costs = [_cost(solution, each) for each in solution.felt[:MOST]]
    if len(solution.felt) > MOST:
        costs.append(_other_charges(solution, solution.felt[MOST:]))
    composed = general(solution.notion, solver.problem.adaptive).id
    total = solution.quantities[0]
    costless = in_role(Role.POST_PROCESSING).id
    free = [
        Step("post", costless, (), None, {"post": each}, (each.path,))
        for each in solver.problem.post_processing[:MOST]
    ]
    added = in_role(Role.SAMPLE_ADDED).id
    facts = {
        "bounded": solution.bounded,
        "sampled": solution.sampled,
        "displaced": any(each.theorem == in_role(Role.DISPLACED).id for each in changes),
        "directed": any(each.theorem == added for each in changes),
    }
    free += interactive_steps(solver.problem, solution.notion)
    together = Step(
        "compose", composed, (*changes, *_unchanged_steps(solution), *costs, *free), total, facts
    )
    return Step("cite", cited, (together,), total)


def interactive_steps(problem: Problem, notion: Notion) -> list[Step]:
    """Returns the step on mechanisms that are open at the same time; none if all answer once."""
    found = problem.interactive
    if not found:
        return []
    theorem = in_role(Role.CONCURRENT, notion).id
    return [Step("interactive", theorem, (), None, {"names": tuple(found)}, tuple(found.values()))]


def _change(visit: Visit) -> Step:
    """Returns the derivation step on what the change becomes in one dataset."""
    edge = visit.place.edge
    theorem = amplifying(visit) if visit.place.above is None else None  # else part of one release
    if edge is not None and edge.made_by is not None and not isinstance(edge.made_by, Sample):
        how = How("") if visit.via is None else visit.via.how
        displaced = in_role(Role.DISPLACED).id if how.uses("displaced") else None
        joint = in_role(Role.JOINT).id if how == joint_distance.RULE else None
        theorem = displaced or joint or in_role(Role.MAP, Notion.PURE).id
    rule = "root" if edge is None else "map" if edge.made_by is not None else "block"
    return Step(rule, theorem, (), None, {"visit": visit}, (visit.place.dataset.path,))


def _unchanged_steps(solution: Solution) -> Iterator[Step]:
    """Yields steps for datasets that do not change, since they depend on columns that a replaced
    row keeps."""
    theorem = in_role(Role.KEPT).id
    found: set[int] = set()
    for visit in solution.visits:
        units = list(all_leaves(visit.state))
        for below in visit.place.derived if visit.state else ():
            edge = below.edge
            assert edge is not None and edge.made_by is not None
            ways = [fates(edge.made_by, unit, visit.place.traits) for unit in units]
            if (
                below.read
                and id(below) not in found
                and all(way == [MapOutcome(())] for way in ways)
            ):
                found.add(id(below))
                yield Step(
                    "kept", theorem, (), None, {"place": below, "visit": visit},
                    (below.dataset.path,),
                )  # fmt: skip
                if len(found) == MOST:
                    return


def amplifying(visit: Visit) -> str | None:
    """Returns the id of the amplification theorem, if the dataset is a sample that amplifies; else
    None."""
    sample = None if visit.place.edge is None else visit.place.edge.made_by
    if not isinstance(sample, Sample):
        return None
    if isinstance(sample, Allocate):
        return in_role(Role.ALLOCATED).id
    if sample.at_most is not None:
        return in_role(Role.CUT_OFF).id
    if sample.size is not None:
        return in_role(Role.DRAWN_AGAIN if sample.replacement else Role.SAMPLE_OF_SIZE).id
    added = all(leaf.directed and leaf.sign for leaf in all_leaves(change_at(visit)))
    return in_role(Role.SAMPLE_ADDED if added else Role.SAMPLE).id


def change_at(visit: Visit) -> State:
    """Returns the change that a dataset meets; for one row and a sample, the change of the row
    above it."""
    edge = visit.place.edge
    if visit.above is None or edge is None or not isinstance(edge.made_by, Sample):
        return visit.state
    found = all_leaves(visit.above.state)
    alone = found.total() == 1 and all(leaf.directed for leaf in found)
    return visit.above.state if alone else visit.state


def used_statements(solution: Solution, felt: ChangeCharge) -> tuple[Placed, ...]:
    """Returns the statement that alone gives a mechanism's loss, or all statements if none does.

    Also all of them where they are very many, such as the points of a profile.
    """
    if 1 < len(felt.placed) <= MOST:
        coster = Coster(solution.algebra)
        for each in felt.placed:
            if coster.cost_of(felt.mechanism.count, (each,), felt.visit.state) == felt.loss:
                return (each,)
    return felt.placed


def _cost(solution: Solution, felt: ChangeCharge) -> Step:
    """Returns the derivation step that bounds the loss of a mechanism from its stated
    guarantees."""
    used = used_statements(solution, felt)
    coster = Coster(solution.algebra)
    givens = tuple(
        Step(
            "given",
            None,
            (),
            Quantity(
                each.statement.guarantee.notion,
                each.statement.guarantee.amount,
                each.statement.guarantee.delta,
            ),
            {"mechanism": felt.mechanism, "placed": each, "visit": felt.visit},
            (each.statement.path,),
        )
        for each in used
    )
    taken = [
        needed
        for each in used
        for item, count in felt.visit.state
        for needed, times in coster.needed(each, item)
        for _ in range(min(2, count * times))
    ]
    with watch_rounding() as watch:
        coster.cost(felt.mechanism, felt.placed, felt.visit.state)
    quantity = solution.quantity(felt.loss)
    if quantity is not None:
        quantity = quantity._replace(exact=not watch.rounded)
    facts = {
        "felt": felt,
        "steps": sum(
            (needed or 0) * times * count
            for each in used[:1]
            for item, count in felt.visit.state
            for needed, times in coster.needed(each, item)
        ),
    }
    return Step(
        "cost",
        for_touch(ChargedStep(solution.notion, used, taken, felt.visit.state)),
        givens,
        quantity,
        facts,
        (felt.mechanism.path,),
    )


def _other_charges(solution: Solution, felt: Sequence[ChangeCharge]) -> Step:
    """Returns the step for further charges, whose losses are composed in one bound; `count`: their
    number."""
    together = solution.quantity(solution.added_up(felt))
    return Step("rest", None, (), together, {"count": len(felt)})


def certificate_of(solver: Solver, solution: Solution) -> Certificate:
    """Returns the certificate of a finite solution, made from the answers of the search."""
    loss: Loss = solution.quantities[0].amount
    if isinstance(solution.algebra, Pairs):
        loss = tuple((each.amount, each.delta) for each in solution.quantities)
    accountant = solution.accountant
    pure = accountant.pure.answers()
    return certificate(
        solver.problem, solver.tops, accountant.answers(), pure, solution.algebra, loss
    )


def certificate_at_delta(solver: Solver) -> Certificate | None:
    """Returns the certificate of losses that are kept apart for a δ.

    None where there are none.
    """
    patterned = solver.patterns()
    accountant, loss = solver.patterned_by, solver.patterned_loss
    if not loss or loss != patterned:
        return None
    assert accountant is not None
    pure = accountant.pure.answers()
    return certificate(
        solver.problem, solver.tops, accountant.answers(), pure, accountant.algebra, loss
    )
