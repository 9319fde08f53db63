"""Certificates that cite what does not give their bound: none passes, and the refusal says why."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dpcompose.core.kernel.certificate import recheck
from dpcompose.core.theorem import Refused
from dpcompose.core.theorems.apply import apply
from dpcompose.core.theorems.book import BOOK, uses_on
from dpcompose.core.theorems.runs import whole_release
from dpcompose.core.theorems.select import setting_of

from .conftest import Proved

BOUNDED = "ambulances-districts-bounded pure"
UNBOUNDED = "ambulances-districts-unbounded pure"
#: The theorems that are about a release as a whole, each once.
ON_RELEASE = tuple(dict.fromkeys(entry.id for entry, _ in uses_on("release")))


def refused(one: Proved, theorem: str, why: str) -> None:
    """Check that the certificate does not pass where it cites `theorem`, for just this reason."""
    with pytest.raises(Refused, match=f"^{re.escape(why)}$"):
        recheck(replace(one.certificate, theorem=theorem), one.problem)


@pytest.mark.slow
@pytest.mark.parametrize("theorem", ["", "nonsense", "IX.99", "v.2", "V.2 ", "V"])
def test_an_id_that_is_none(proved: list[Proved], theorem: str) -> None:
    for one in proved:
        refused(one, theorem, f"there is no theorem {theorem} in the book")


@pytest.mark.slow
def test_a_theorem_that_is_not_about_a_release(proved: list[Proved]) -> None:
    others = [BOOK[each] for each in BOOK if each not in ON_RELEASE]
    assert len(others) > 30
    for at, one in enumerate(proved):
        for entry in others[at % 4 :: 4]:
            why = f"{entry.place} ({entry.title}) is not one for a whole release"
            refused(one, entry.id, why)


@pytest.mark.slow
def test_a_theorem_whose_hypothesis_does_not_hold(proved: list[Proved], long: bool) -> None:
    """It passes just where it applies and gives the bound, and is refused by its hypothesis."""
    for at, one in enumerate(proved):
        setting = setting_of(one.solver, one.solution)
        found = {each: apply(each, setting) for each in ON_RELEASE}
        failing = {each: str(why) for each, why in found.items() if isinstance(why, Refused)}
        assert len(failing) > 20, one.name
        for theorem in list(failing) if long else list(failing)[at % 3 :: 3]:
            refused(one, theorem, failing[theorem])
        for theorem in set(ON_RELEASE) - set(failing):
            assert recheck(replace(one.certificate, theorem=theorem), one.problem)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "theorem", "why"),
    [
        (
            BOUNDED,
            "V.4",
            "the partition `district` is not compatible with bounded neighbours: a replaced row "
            "can leave one block and enter another",
        ),
        (BOUNDED, "VI.14", "it is not about pure DP"),
        (UNBOUNDED, "IV.13", "it is about bounded neighbours, not unbounded ones"),
        (
            UNBOUNDED,
            "IV.6",
            "mechanisms may use the outputs of others; `independent` is not declared",
        ),
    ],
)
def test_the_refusal_is_the_sentence_that_people_read(
    proved: list[Proved], name: str, theorem: str, why: str
) -> None:
    refused(next(one for one in proved if one.name == name), theorem, why)


def test_a_hypothesis_that_another_problem_does_not_meet(proved: list[Proved]) -> None:
    """All claims hold there; what they rest on does not."""
    one = next(each for each in proved if each.name == UNBOUNDED)
    independent = replace(one.problem, adaptive=False)
    certificate = replace(one.certificate, theorem="IV.6")
    assert recheck(certificate, independent) == len(certificate.claims())
    with pytest.raises(Refused, match="`independent` is not declared"):
        recheck(certificate, one.problem)


def more(found: Any) -> Any:
    """A bound that is larger by as little as can be written."""
    least = Fraction(1, 10**60)
    if isinstance(found, tuple):
        return (more(found[0]), *found[1:])
    return found + least


def test_a_theorem_with_another_bound(
    proved: list[Proved], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The function of the theorem that is cited computes the bound again."""
    for one in proved:
        cited = one.certificate.theorem
        entry = BOOK[cited]

        def larger(*given: Any, bound: Any = entry.bound) -> Any:
            return more(bound(*given))

        why = re.escape(f"the theorem {cited} applies, but its bound is not the one claimed")
        runs = {use.run for use in entry.uses if use.on == "release"}
        if runs == {whole_release}:
            why = "the losses of the parts add up to more"
        elif whole_release in runs:  # the refusal of its most special use is told
            why = ""
        with monkeypatch.context() as patched:
            patched.setitem(BOOK, cited, entry._replace(bound=larger))
            with pytest.raises(Refused, match=why or None):
                recheck(one.certificate, one.problem)
