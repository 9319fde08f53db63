"""The formulas of theorems by themselves: small cases by hand, and by a second way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from core.theorems.for_readers import likelihoods, mixture
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.select import setting_of
from dpcompose.core.search.solver import Solver
from dpcompose.core.theorem import Refused
from dpcompose.core.theorems import composition
from dpcompose.core.theorems.book import BOOK
from dpcompose.core.theorems.one_mechanism import chained, preprocessing
from dpcompose.core.theorems.setting import Setting, finite
from dpcompose.resolve import resolve
from dpcompose.source import load

F = Fraction
LOSSES = (F(1, 2), F(2), F(1, 3))
ADDED = "IV.1 IV.3 IV.11 V.2 V.3 V.5 VI.13 VI.14 VI.15 VI.21 VI.22 VI.23"
LARGEST = "IV.6 IV.12 V.4 V.6 VI.16 A.15 VI.26 A.17"


def test_losses_add_up_or_the_largest_counts() -> None:
    whole = F(17, 6)
    adaptive = [BOOK[each].bound for each in ADDED.split()]
    for adding in adaptive:
        assert adding is not None and adding(LOSSES) == whole
    best = [BOOK[each].bound for each in LARGEST.split()]
    for largest in best:
        assert largest is not None and largest(LOSSES) == 2


def test_distances_multiply() -> None:
    assert preprocessing(F(1, 2), F(3)) == F(3, 2) and chained(LOSSES) == F(1, 3)
    change_of_relation = BOOK["A.3"].bound
    assert change_of_relation is not None and change_of_relation(F(1, 2), 4) == 2


# --- two hypotheses ------------------------------------------------------------------------------


def test_a_mixture_by_its_formula() -> None:
    """e^-ε is Σ w·e^-ε_b, for δ = 0, or the sum from above, which is larger."""
    cases = [(F(1, 4), F(1), F(0)), (F(3, 4), F(2), F(0))]
    epsilon, delta = mixture(cases)
    either = (
        -math.log(0.25 * math.exp(-1) + 0.75 * math.exp(-2)),
        math.log(0.25 * math.exp(1) + 0.75 * math.exp(2)),
    )
    assert float(epsilon) == pytest.approx(max(either), abs=1e-9) and delta == 0


def test_likelihoods_of_one_block() -> None:
    """Nobody against the person in the block, or against that with chance 1/2.

    What the block gave is between e^-1 and e times as likely with the person as without: mixed
    with as much of what is without, at most (1 + e)/2 times.
    """
    sure = likelihoods([F(1)], [((), F(1))], [((0,), F(1))])
    assert 1 <= float(sure) <= 1 + 1e-9
    true = math.log((1 + math.e) / 2)
    even = likelihoods([F(1)], [((), F(1))], [((), F(1, 2)), ((0,), F(1, 2))])
    assert true - 1e-15 <= float(even) <= true + 1e-9


# --- what runs on a release ----------------------------------------------------------------------


BLOCKS = """\
dpcompose: 1
protect: {protect}
datasets:
  people: {{}}
  parts: {{from: people, partition: {{by: value, blocks: [x, y, z]}}}}
mechanisms:
  - {{name: a, reads: parts.x, notion: pure, epsilon: 1, relation: unbounded}}
  - {{name: b, reads: parts.y, notion: pure, epsilon: 2, relation: unbounded}}
  - {{name: c, reads: parts.z, notion: pure, epsilon: 4, relation: unbounded}}
"""


def setting(protect: str):  # type: ignore[no-untyped-def]
    problem = resolve(load(BLOCKS.format(protect=protect), "spec.yaml")).problem
    solver = Solver(problem)
    return setting_of(solver, solver.solve(Notion.PURE))


def refused(one: Setting) -> set[str]:
    """The names of the hypotheses on blocks that do not hold of a release."""
    blocks = (*composition.BLOCKS, *composition.BOUNDED_BLOCKS)
    return {each.name for each in blocks if each.refusal(one)}


def test_what_a_bound_is_applied_to() -> None:
    added, replaced = setting("unbounded"), setting("bounded")
    assert composition.worst_block(added, max) == 4 and composition.every_block(added, sum) == 7
    assert refused(added) == {"one row replaced", "common domain"}
    assert refused(replaced) == {"compatible partition", "same relation", "common domain"}


def test_finite_losses() -> None:
    finite(Scalars(Notion.PURE), F(1))
    with pytest.raises(Refused):
        finite(Scalars(Notion.PURE), math.inf)
    with pytest.raises(Refused):
        finite(Pairs(), ())
