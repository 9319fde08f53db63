"""Losses that know the step by which they follow."""

from __future__ import annotations

import pickle
from fractions import Fraction as F

from dpcompose.core.loss import proved
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.proved import Inference, PairOf, ProvedNumber, ProvedPairs
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Role


def test_a_proved_number_is_the_number_with_its_step() -> None:
    total = Scalars(Notion.PURE).add([F(1, 2), F(1, 3)], Role.SEQUENTIAL)
    assert total == F(5, 6) and hash(total) == hash(F(5, 6))
    assert isinstance(total, ProvedNumber)
    assert (total.step.role, total.step.formula) == (Role.SEQUENTIAL, "sum(x)")
    assert total.step.given == {"x": [F(1, 2), F(1, 3)]}
    again = pickle.loads(pickle.dumps(total))
    assert type(again) is F and again == total


def test_what_adds_nothing_makes_no_step() -> None:
    pure = Scalars(Notion.PURE)
    one = pure.add([F(1, 2), F(1, 3)])
    assert pure.add([one, F(0)]) is one
    assert pure.times(one, 1) is one
    assert pure.worst_case([one, one]) is one
    assert pure.chain([(one, 1)]) is one


def test_pairs_know_the_pairs_that_they_are_sums_of() -> None:
    approx = Pairs()
    loss = ((F(1), F(2, 10)), (F(2), F(1, 10)))
    total = approx.add([loss, ((F(1), F(0)),)])
    assert total == ((F(2), F(1, 5)), (F(3), F(1, 10)))
    assert isinstance(total, ProvedPairs)
    first, second = (step.given["x"] for step in total.steps)
    assert [each.pair for each in first] == [(F(1), F(0)), loss[0]]
    assert [each.pair for each in second] == [(F(1), F(0)), loss[1]]
    assert type(pickle.loads(pickle.dumps(total))) is tuple


def test_the_copies_of_a_loss_of_several_pairs_are_counted() -> None:
    approx = Pairs()
    loss = ((F(1), F(2, 10)), (F(2), F(1, 10)))
    total = approx.times(loss, 3)
    assert isinstance(total, ProvedPairs)
    for (epsilon, delta), step in zip(total, total.steps, strict=True):
        counts = step.given["n"]
        assert sum(counts) == 3
        assert epsilon == sum(n * pair[0] for n, pair in zip(counts, loss, strict=True))
        assert delta == sum(n * pair[1] for n, pair in zip(counts, loss, strict=True))


def test_the_place_of_a_step_is_noted_once() -> None:
    step = Inference(Role.GENERAL, "x", {"x": PairOf(((F(1), F(0)),), 0)}, "d")
    loss = ProvedPairs(((F(1), F(0)),), [step])
    there = proved.at(loss, "place", ())  # type: ignore[arg-type]
    assert there.steps[0].at == ("place", ())
    assert proved.at(there, "elsewhere", ()).steps[0].at == ("place", ())  # type: ignore[arg-type]
