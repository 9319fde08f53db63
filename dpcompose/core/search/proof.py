"""The proof of an answer, for readers, and its certificate.

The worst change is a path through the claims of the search. A proof says which theorem of the book
stands behind each step of it. What a checker goes through is the certificate, made of the same
claims (`core.kernel.certificate`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.kind import fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import State, all_leaves
from dpcompose.core.kernel import joint_distance
from dpcompose.core.kernel.certificate import Certificate, certificate
from dpcompose.core.loss.cost import Coster
from dpcompose.core.loss.walk import How
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import ChangeCharge, Solution, Solver, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import general, in_role
from dpcompose.core.theorems.select import for_touch
from dpcompose.core.theorems.setting import ChargedStep
from dpcompose.curves.rounding import watch_rounding

#: So many mechanisms are written out; the others are counted together.
MOST = 200


@dataclass(frozen=True, slots=True, eq=False)
class Cost:
    """Why one mechanism loses no more than its charge, the loss at the worst change.

    `used`: the guarantees that give the loss; `steps`: how many steps of the first one's relation
    the change takes; `theorem`: the one by which it covers these. `bound`: the loss of all copies
    on one block, None if it is not finite.
    """

    charge: ChangeCharge
    used: tuple[Placed, ...]
    steps: int
    theorem: str | None
    bound: Quantity | None


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The worst change of a solution with the theorem behind each of its steps, for readers.

    `theorems`: for each visit, by its identity, the theorem by which the change comes there.
    `unchanged`: the datasets below a visit that are made of columns that a replaced row keeps.
    `costs`: those of the first `MOST` charges, by the identity of the charge; `rest`: the loss of
    all others together. `composed`: the theorem by which the costs add up; `cited`: the one that
    gives the same bound for the whole release.
    """

    problem: Problem
    solution: Solution
    theorems: Mapping[int, str | None]
    unchanged: Mapping[int, Sequence[Place]]
    costs: Mapping[int, Cost]
    rest: Quantity | None
    composed: str
    cited: str

    @property
    def left(self) -> int:
        """Returns how many mechanisms' charges are not among the costs."""
        return len(self.solution.felt) - len(self.costs)

    def cites(self, role: Role) -> bool:
        """Returns whether the worst change comes to some dataset by the theorem in a role."""
        return in_role(role).id in self.theorems.values()


def prove(solver: Solver, solution: Solution, cited: str) -> Proof:
    """Returns the proof, for readers, of a solution's first bound; `cited`: the theorem for the
    whole release."""
    rest = solution.felt[MOST:]
    return Proof(
        solver.problem,
        solution,
        {id(visit): _theorem_of_change(visit) for visit in solution.visits},
        _unchanged(solution),
        {id(each): _cost(solution, each) for each in solution.felt[:MOST]},
        solution.quantity(solution.added_up(rest)) if rest else None,
        general(solution.notion, solver.problem.adaptive).id,
        cited,
    )


def _theorem_of_change(visit: Visit) -> str | None:
    """Returns the theorem by which the worst change comes to a dataset; None for a root or a
    block."""
    edge = visit.place.edge
    if edge is not None and edge.made_by is not None and not isinstance(edge.made_by, Sample):
        how = How("") if visit.via is None else visit.via.how
        if how.uses("displaced"):
            return in_role(Role.DISPLACED).id
        joint = how == joint_distance.RULE
        return in_role(Role.JOINT).id if joint else in_role(Role.MAP, Notion.PURE).id
    return amplifying(visit) if visit.place.above is None else None  # else part of one release


def _unchanged(solution: Solution) -> dict[int, list[Place]]:
    """Returns, by visit, the datasets made there that do not change, each once and `MOST` at
    most."""
    places: dict[int, list[Place]] = {}
    found: set[int] = set()
    for visit in solution.visits:
        units = list(all_leaves(visit.state))
        for below in visit.place.derived if visit.state else ():
            edge = below.edge
            assert edge is not None and edge.made_by is not None
            ways = [fates(edge.made_by, unit, visit.place.traits) for unit in units]
            same = below.read and all(way == [MapOutcome(())] for way in ways)
            if same and id(below) not in found and len(found) < MOST:
                found.add(id(below))
                places.setdefault(id(visit), []).append(below)
    return places


def amplifying(visit: Visit) -> str | None:
    """Returns the id of the theorem by which a dataset amplifies, if it is a sample that does; else
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
    """Returns the change of a visited dataset; of a sample, for one row, that of the table
    sampled."""
    edge = visit.place.edge
    if visit.above is None or edge is None or not isinstance(edge.made_by, Sample):
        return visit.state
    found = all_leaves(visit.above.state)
    alone = found.total() == 1 and all(leaf.directed for leaf in found)
    return visit.above.state if alone else visit.state


def used_statements(solution: Solution, felt: ChangeCharge) -> tuple[Placed, ...]:
    """Returns the guarantee that alone gives a mechanism's loss, or all guarantees if none does.

    Also all of them where they are very many, such as the points of a profile.
    """
    if 1 < len(felt.placed) <= MOST:
        coster = Coster(solution.algebra)
        for each in felt.placed:
            if coster.cost_of(felt.mechanism.count, (each,), felt.visit.state) == felt.loss:
                return (each,)
    return felt.placed


def _cost(solution: Solution, charge: ChangeCharge) -> Cost:
    """Returns why a mechanism loses no more than its charge, from its stated guarantees."""
    used, state = used_statements(solution, charge), charge.visit.state
    coster = Coster(solution.algebra)
    needed = [
        [
            (steps, times * count)
            for item, count in state
            for steps, times in coster.needed(each, item)
        ]
        for each in used
    ]
    taken = [steps for each in needed for steps, times in each for _ in range(min(2, times))]
    with watch_rounding() as watch:
        coster.cost_of(charge.mechanism.count, charge.placed, state)
    bound = solution.quantity(charge.loss)
    return Cost(
        charge,
        used,
        sum((steps or 0) * times for steps, times in needed[0]),
        for_touch(ChargedStep(solution.notion, used, taken, state)),
        None if bound is None else bound._replace(exact=not watch.rounded),
    )


def certificate_of(solver: Solver, solution: Solution) -> Certificate:
    """Returns the certificate of a finite solution, made from the losses that the search found."""
    algebra, accountant = solution.algebra, solution.accountant
    loss = algebra.of_values(map(algebra.value_of, solution.quantities))
    pure = accountant.pure.answers()
    return certificate(solver.problem, solver.tops, accountant.answers(), pure, algebra, loss)


def certificate_at_delta(solver: Solver) -> Certificate | None:
    """Returns the certificate of the patterns for bounds at a δ; None if there are none, or if
    curves of paths were added."""
    patterned = solver.patterns()
    accountant, loss = solver.patterned_by, solver.patterned_loss
    if not loss or loss != patterned:
        return None
    assert accountant is not None
    pure = accountant.pure.answers()
    return certificate(
        solver.problem, solver.tops, accountant.answers(), pure, accountant.algebra, loss
    )
