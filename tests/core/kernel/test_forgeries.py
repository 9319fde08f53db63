"""Forged certificates: each is one that holds, with one thing changed, and none passes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpcompose.core.change.units import TracedUnit
from dpcompose.core.kernel.certificate import Certificate, recheck
from dpcompose.core.kernel.claims import Charge, Claim
from dpcompose.core.loss.algebras import Loss
from dpcompose.core.loss.walk import How
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solver
from dpcompose.core.theorem import Refused

from .conftest import Proved

pytestmark = pytest.mark.slow

#: Rules of which one may prove, from the same premises, what another proves.
PROVE_THE_SAME = ("best", "units", "everywhere", "all in each block", "every way", "so many rows")


def refused(certificate: Certificate, problem: Problem, why: str = "") -> None:
    with pytest.raises(Refused, match=why or None):
        recheck(certificate, problem)


def changed(certificate: Certificate, old: Claim, new: Claim) -> Certificate:
    """The certificate with one claim replaced wherever it is used."""
    made: dict[int, Claim] = {id(old): new}
    for each in certificate.claims():
        if each is old:
            continue
        premises = tuple(made.get(id(premise), premise) for premise in each.premises)
        if any(a is not b for a, b in zip(premises, each.premises, strict=True)):
            made[id(each)] = replace(each, premises=premises)
    return replace(certificate, roots=tuple(made.get(id(root), root) for root in certificate.roots))


def forged(proved: list[Proved], forge: Callable[[Claim], Iterator[Claim]]) -> int:
    """Check that no certificate passes in which one claim is forged; how many were tried."""
    tried = 0
    for _, solver, _, certificate in proved:
        for claim in certificate.claims():
            for each in forge(claim):
                refused(changed(certificate, claim, each), solver.problem)
                tried += 1
    return tried


def less(loss: Loss) -> Loss | None:
    """A loss that is smaller by as little as can be written in it."""
    least = Fraction(1, 10**60)
    if isinstance(loss, Fraction):
        return loss - least if loss else None
    if isinstance(loss, tuple) and loss and isinstance(loss[0][0], Fraction):
        (epsilon, delta), *others = loss
        return ((epsilon - least, delta), *others) if epsilon else None
    return None


def test_certificates_hold(proved: list[Proved], long: bool) -> None:
    assert len(proved) > (150 if long else 30)
    for _, solver, _, certificate in proved:
        assert recheck(certificate, solver.problem) == len(certificate.claims())


def test_no_claim_is_smaller_than_what_follows(proved: list[Proved], long: bool) -> None:
    def smaller(claim: Claim) -> Iterator[Claim]:
        loss = less(claim.loss)
        if loss is not None:
            yield replace(claim, loss=loss)

    assert forged(proved, smaller) > (300 if long else 100)


def test_no_bound_is_smaller_than_what_follows(proved: list[Proved], long: bool) -> None:
    tried = 0
    for _, solver, _, certificate in proved:
        for i, bound in enumerate(certificate.bounds):
            for name in ("amount", "delta"):
                if not getattr(bound, name):
                    continue
                smaller = bound._replace(**{name: getattr(bound, name) - Fraction(1, 10**60)})
                bounds = (*certificate.bounds[:i], smaller, *certificate.bounds[i + 1 :])
                refused(replace(certificate, bounds=bounds), solver.problem, "does not follow")
                tried += 1
    assert tried > (100 if long else 30)


def test_no_premise_is_missing_swapped_or_there_twice(proved: list[Proved], long: bool) -> None:
    def other_premises(claim: Claim) -> Iterator[Claim]:
        premises = claim.premises
        for i in range(len(premises)):
            yield replace(claim, premises=(*premises[:i], *premises[i + 1 :]))
            yield replace(claim, premises=(*premises[: i + 1], *premises[i:]))
        if len(premises) > 1:
            yield replace(claim, premises=premises[::-1])
            yield replace(claim, premises=(premises[0], premises[0], *premises[2:]))

    assert forged(proved, other_premises) > (500 if long else 300)


def test_no_alternative_is_left_out(proved: list[Proved]) -> None:
    """One of several outcomes of a map, or of several places in a partition, with its claim."""

    def without(claim: Claim) -> Iterator[Claim]:
        for how in claim.hows:
            if len(claim.premises) > 1 and how.rule in ("listed", "one row", "every way"):
                for i in range(len(claim.premises)):
                    rest = (*claim.premises[:i], *claim.premises[i + 1 :])
                    yield replace(claim, premises=rest)
        for i in range(len(claim.hows)):
            yield replace(claim, hows=(*claim.hows[:i], *claim.hows[i + 1 :]))

    assert forged(proved, without) > 200


def test_no_rule_is_used_where_it_does_not_apply(proved: list[Proved]) -> None:
    names = (
        "listed", "extremes", "unchanged", "sample", "units", "release", "best", "everywhere",
        "one row", "one unit's rows", "all in each block", "every way", "so many rows", "", "magic",
    )  # fmt: skip

    tried = 0
    for _, solver, _, certificate in proved:
        for claim in certificate.claims():
            for i, how in enumerate(claim.hows):
                for name in names:
                    for of in ((), how.of, (how,), (How("listed"),)):
                        other = How(name, of)
                        if other == how:
                            continue
                        hows = (*claim.hows[:i], other, *claim.hows[i + 1 :])
                        forgery = changed(certificate, claim, replace(claim, hows=hows))
                        try:
                            recheck(forgery, solver.problem)
                        except Refused:
                            tried += 1
                        else:  # another rule that proves the same, from the same premises
                            assert other.rule != how.rule or other.of
                            assert name in PROVE_THE_SAME
    assert tried > 1000


def test_no_copy_is_lost_and_no_statement_made_up(proved: list[Proved]) -> None:
    def other_charges(claim: Claim) -> Iterator[Claim]:
        for i, charge in enumerate(claim.charges):
            others: list[Charge] = [
                charge._replace(statements=(*charge.statements, ("mechanisms", 99))),
                charge._replace(mechanism=charge.mechanism + "'"),
                charge._replace(copies=charge.copies + 1),
            ]
            if charge.copies > 1:
                others.append(charge._replace(copies=charge.copies - 1))
            loss = less(charge.loss)
            if loss is not None:
                others.append(charge._replace(loss=loss))
            for other in others:
                yield replace(claim, charges=(*claim.charges[:i], other, *claim.charges[i + 1 :]))
            yield replace(claim, charges=(*claim.charges[:i], *claim.charges[i + 1 :]))

    assert forged(proved, other_charges) > 1000


def test_no_claim_is_about_another_dataset_or_change(proved: list[Proved]) -> None:
    def elsewhere(claim: Claim) -> Iterator[Claim]:
        for number in (claim.place + 1, claim.place - 1, -1, 10**9):
            yield replace(claim, place=number)
        if claim.state:
            yield replace(claim, state=())
            item, count = claim.state[0]
            yield replace(claim, state=((item, count + 1), *claim.state[1:]))

    assert forged(proved, elsewhere) > 500


def test_no_claim_is_about_the_other_way_round(proved: list[Proved]) -> None:
    """A row that is added in place of one that is removed, which may lose less."""

    def other_way(claim: Claim) -> Iterator[Claim]:
        for (leaf, below), count in claim.state:
            if leaf.directed:
                other = leaf._replace(sign=1 - leaf.sign)
                yield replace(claim, state=((TracedUnit(other, below), count),))
                yield replace(
                    claim, state=((TracedUnit(leaf._replace(directed=False), below), count),)
                )

    assert forged(proved, other_way) >= 8


def test_the_change_that_is_shown_is_the_worst(proved: list[Proved], long: bool) -> None:
    tried = 0
    for _, solver, _, certificate in proved:
        worst = certificate.worst
        others: list[Any] = [worst[:-1], worst[::-1] if len(worst) > 1 else (), (*worst, worst[-1])]
        others.append((worst[0]._replace(copies=worst[0].copies + 1), *worst[1:]))
        known = {(each.place, each.state): each.charges for each in certificate.claims()}
        for i, each in enumerate(worst):
            for (place, state), charges in known.items():
                if place == each.place and state and state != each.state:
                    other = each._replace(state=state, charges=charges)
                    others.append((*worst[:i], other, *worst[i + 1 :]))
        for other in others:
            refused(replace(certificate, worst=tuple(other)), solver.problem)
            tried += 1
    assert tried > (500 if long else 150)


def test_a_certificate_is_one_of_its_problem(proved: list[Proved]) -> None:
    """Of another spec, of other roots, in another notion."""
    for each, another in zip(proved, proved[7:], strict=False):
        one, other, problem = each.certificate, another.certificate, another.problem
        if one.worst != other.worst or one.bounds != other.bounds:
            refused(one, problem)
        refused(replace(other, roots=other.roots[:-1]), problem)
        refused(replace(other, roots=(*other.roots, other.roots[-1])), problem)
        for notion in set(Notion) - {other.notion}:
            refused(replace(other, notion=notion), problem)


def test_nothing_is_searched_for(proved: list[Proved], monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*given: Any) -> None:
        raise AssertionError("the search runs")

    for searching in (Accountant, Solver):
        monkeypatch.setattr(searching, "__init__", search)
    monkeypatch.setattr(Accountant, "answer", search)
    for each in proved:
        assert recheck(each.certificate, each.problem)


def test_no_bound_is_called_exact_that_is_rounded(proved: list[Proved]) -> None:
    seen = set()
    for _, solver, _, certificate in proved:
        for i, bound in enumerate(certificate.bounds):
            other = bound._replace(exact=not bound.exact)
            bounds = (*certificate.bounds[:i], other, *certificate.bounds[i + 1 :])
            refused(replace(certificate, bounds=bounds), solver.problem, "called the other")
            seen.add(bound.exact)
    assert seen == {True, False}


def test_what_is_no_claim_is_refused(proved: list[Proved]) -> None:
    """Whatever stands in a field of a claim, or of the certificate."""
    nonsense = (None, -1, 10**9, math.nan, -math.inf, "x", (), ((1,),), (("x", None),), object())
    for _, solver, _, certificate in proved[::5]:
        (claim, *_) = certificate.claims()
        for each, value in product(fields(claim), nonsense):
            if value != getattr(claim, each.name):
                forgery = changed(certificate, claim, replace(claim, **{each.name: value}))
                refused(forgery, solver.problem)
        for each, value in product(fields(certificate), nonsense):
            if each.name != "survival" and value != getattr(certificate, each.name):
                refused(replace(certificate, **{each.name: value}), solver.problem)
