"""The worst change as a path: what each mechanism on it loses."""

from __future__ import annotations

from fractions import Fraction

from walks import problem_of

from dpcompose.core.loss.visits import Visit
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solver, charges_of


def test_a_charge_knows_where_its_mechanism_reads() -> None:
    """Mechanisms that lose nothing are left out, as are blocks that the change does not reach."""
    problem = problem_of(
        "people: {}\nparts: {from: people, partition: {by: value, blocks: [x, y]}}",
        "name: a, reads: parts.x, notion: pure, epsilon: 1\n"
        "name: b, reads: parts.y, notion: pure, epsilon: 3\n"
        "name: beside, reads: people, notion: pure, epsilon: 1/2",
    )
    solution = Solver(problem).solve(Notion.PURE)
    charges = list(charges_of(solution.visits, solution.algebra))
    assert [(each.mechanism.name, each.loss) for each in charges] == [
        ("beside", Fraction(1, 2)),
        ("b", Fraction(3)),
    ]
    assert all(isinstance(each.visit, Visit) for each in charges)
    assert [each.place.dataset.name for each in charges] == ["people", "parts.y"]
    assert all(each.state == each.visit.state for each in charges)
    assert charges[1].visit.above is charges[0].visit
