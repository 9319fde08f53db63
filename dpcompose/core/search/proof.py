"""Which theorem stands behind each step of the worst change, and the certificate of a solution.

The worst change is a path through the answers of the search, and a certificate lists the same
answers as claims, with what each of them rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dpcompose.core.change.effects import MapOutcome
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.kind import fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import State, all_leaves
from dpcompose.core.kernel import joint_distance
from dpcompose.core.kernel.certificate import Certificate, certificate
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.cost import needed
from dpcompose.core.loss.visits import Visit
from dpcompose.core.loss.walk import How
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import ChangeCharge, Solution, Solver
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.applicable import for_touch
from dpcompose.core.theorems.book import in_role
from dpcompose.core.theorems.setting import ChargedStep

#: The points of a profile are not tried one by one if they are more.
_MOST_TRIED = 200


class Cost(NamedTuple):
    """Why one mechanism loses no more than its charge, the loss at the worst change.

    `used`: the guarantees that give the loss; `steps`: how many steps of the first one's relation
    the change takes; `theorem`: the one by which it covers these. `bound`: the loss of all copies
    on one block, None if it is not finite.
    """

    used: tuple[Placed, ...]
    steps: int
    theorem: str | None
    bound: Quantity | None


def theorem_of_change(visit: Visit) -> str | None:
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


def unchanged_places(visit: Visit) -> Iterator[Place]:
    """Yields the datasets made of a visited one that do not change: they are made of columns that
    a replaced row keeps."""
    units = list(all_leaves(visit.state))
    for below in visit.place.derived if visit.state else ():
        edge = below.edge
        assert edge is not None and edge.made_by is not None
        ways = [fates(edge.made_by, unit, visit.place.traits) for unit in units]
        if below.read and all(way == [MapOutcome(())] for way in ways):
            yield below


def amplifying(visit: Visit) -> str | None:
    """Returns the id of the theorem by which a dataset amplifies, if it is a sample that does; else
    None."""
    sample = None if visit.place.edge is None else visit.place.edge.made_by
    if not isinstance(sample, Sample):
        return None
    role = role_of_sample(sample)
    if role is Role.SAMPLE and all(
        leaf.directed and leaf.sign for leaf in all_leaves(change_at(visit))
    ):
        role = Role.SAMPLE_ADDED
    return in_role(role).id


def role_of_sample(sample: Sample) -> Role:
    """Returns the role of the theorem by which a sample amplifies, by how it is drawn."""
    if isinstance(sample, Allocate):
        return Role.ALLOCATED
    if sample.at_most is not None:
        return Role.CUT_OFF
    if sample.size is not None:
        return Role.DRAWN_AGAIN if sample.replacement else Role.SAMPLE_OF_SIZE
    return Role.SAMPLE


def change_at(visit: Visit) -> State:
    """Returns the change of a visited dataset; of a sample, for one row, that of the table
    sampled."""
    edge = visit.place.edge
    if visit.above is None or edge is None or not isinstance(edge.made_by, Sample):
        return visit.state
    found = all_leaves(visit.above.state)
    alone = found.total() == 1 and all(leaf.directed for leaf in found)
    return visit.above.state if alone else visit.state


def used_statements(solution: Solution, charge: ChangeCharge) -> tuple[Placed, ...]:
    """Returns the guarantee that alone gives a mechanism's loss, or all guarantees if none does.

    Also all of them where they are very many, such as the points of a profile.
    """
    algebra, count = solution.algebra, charge.mechanism.count
    if 1 < len(charge.placed) <= _MOST_TRIED:
        for each in charge.placed:
            if algebra.times(algebra.charge((each,), charge.state), count) == charge.loss:
                return (each,)
    return charge.placed


def cost_of(solution: Solution, charge: ChangeCharge) -> Cost:
    """Returns why a mechanism loses no more than its charge, from its stated guarantees."""
    used, state = used_statements(solution, charge), charge.state
    steps = [
        [(taken, times * count) for item, count in state for taken, times in needed(each, item)]
        for each in used
    ]
    some = [taken for each in steps for taken, times in each for _ in range(min(2, times))]
    bound = solution.quantity(charge.loss)
    rounded = solution.accountant.rounded(charge.mechanism, charge.placed, state)
    return Cost(
        used,
        sum((taken or 0) * times for taken, times in steps[0]),
        for_touch(ChargedStep(solution.notion, used, some, state)),
        None if bound is None else bound._replace(exact=not rounded),
    )


def certificate_of(solver: Solver, solution: Solution) -> Certificate:
    """Returns the certificate of a finite solution, made from the losses that the search found."""
    algebra = solution.algebra
    loss = algebra.of_values(map(algebra.value_of, solution.quantities))
    return _certificate(solver, solution.accountant, loss)


def certificate_at_delta(solver: Solver) -> Certificate | None:
    """Returns the certificate of the patterns for bounds at a δ; None if there are none, or if
    curves of paths were added."""
    found = solver.profile
    if not found.loss or found.loss != solver.patterns:
        return None
    return _certificate(solver, found.accountant, found.loss)


def _certificate(solver: Solver, accountant: Accountant, loss: Loss) -> Certificate:
    """Returns the certificate of a loss, by the answers of the accountant that found it."""
    answers, pure = accountant.answers(), accountant.pure.answers()
    return certificate(solver.problem, solver.tops, answers, pure, accountant.algebra, loss)
