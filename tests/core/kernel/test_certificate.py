"""Certificates: which answers of a search they hold, and how they are written."""

from __future__ import annotations

from fractions import Fraction

import pytest
from walks import problem_of

from dpcompose.core.kernel.certificate import VERSION, Certificate, certificate, lines, plain
from dpcompose.core.loss.algebras import Survival
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import certificate_of
from dpcompose.core.search.solver import Solver

SHARED = problem_of(
    """people: {}
    part: {from: people, partition: {by: value, blocks: [x, y]}}
    some: {from: people, map: filter}""",
    """name: a, reads: part.x, notion: pure, epsilon: 0.5, relation: unbounded
    name: b, reads: part.y, notion: pure, epsilon: 0.7, relation: unbounded
    name: c, reads: some, notion: pure, epsilon: 1, relation: unbounded, count: 2""",
    "bounded",
)


def proof() -> Certificate:
    solver = Solver(SHARED)
    return certificate_of(solver, solver.solve(Notion.PURE))


def test_premises_come_first_and_each_claim_once() -> None:
    found = proof()
    assert len({(claim.place, claim.state, claim.pure) for claim in found.claims}) == len(
        found.claims
    )
    for number, claim in enumerate(found.claims):
        assert all(each < number for each in claim.premises)
        assert list(claim.premises) == sorted(claim.premises)
    (root,) = found.roots
    assert root == len(found.claims) - 1
    # Both ends of the row are in the second block, and pass the filter.
    assert found.claims[root].answer.loss == Fraction("1.4") + 2 * 2 == found.loss


def test_every_answer_that_counts_is_there() -> None:
    """Each rule of each claim, and nothing that no rule asks for."""
    found = proof()
    needed = {each for claim in found.claims for each in claim.premises} | {*found.roots}
    assert needed == {*range(len(found.claims))}
    rules = [choice.how.rule for choice in found.claims[found.roots[0]].answer.choices]
    assert rules == ["listed", "one row"]


def test_a_claim_is_the_answer_that_the_worst_change_passes() -> None:
    solver = Solver(SHARED)
    solution = solver.solve(Notion.PURE)
    claimed = {id(claim.answer) for claim in certificate_of(solver, solution).claims}
    assert {id(visit.answer) for visit in solution.visits} <= claimed


def test_without_an_answer_there_is_no_certificate() -> None:
    solver = Solver(SHARED)
    solution = solver.solve(Notion.PURE)
    with pytest.raises(KeyError):
        certificate(SHARED, solver.tops, {}, {}, solution.algebra, solution.loss)


def test_the_lines_are_plain() -> None:
    written = list(lines(SHARED, "0" * 64, [proof()]))
    assert written[0] == {
        "line": "header", "version": VERSION, "spec": "0" * 64,
        "protect": {"kind": "bounded"}, "distance": 1, "apart": [],
    }  # fmt: skip
    assert written[-1]["loss"] == "27/5"
    assert {line["line"] for line in written} == {
        "header", "dataset", "partition", "proof", "claim", "bound",
    }  # fmt: skip
    mechanism = next(line for line in written if line.get("name") == "some")["mechanisms"][0]
    assert (mechanism["count"], mechanism["statements"][0]["value"]) == (2, "1")


def test_values_are_told_exactly() -> None:
    assert plain(Fraction(1, 3)) == "1/3" and plain(Fraction(4)) == "4"
    assert plain(float("inf")) is None and plain(None) is None
    assert plain(Survival(Fraction(3, 4))) == "1/4"
    assert plain(frozenset("ba")) == ["a", "b"]
    assert plain(((Fraction(1), Survival(Fraction(1))),)) == [["1", "0"]]
