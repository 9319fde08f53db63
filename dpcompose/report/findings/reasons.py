"""The reasons why a problem has no finite bound: what is missing, and the way out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.model.problem import Problem, Root
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solution, Visit
from dpcompose.report import At
from dpcompose.report.findings.uncovered import (
    Reason,
    Touched,
    in_public_sample,
    uncovered,
    upwards,
)
from dpcompose.report.wording import listing, number

_CHOOSE = "write `report: {delta: 1e-6}` in the spec, or `--delta 1e-6` on the command line"


def why_none(
    problem: Problem,
    tops: Sequence[tuple[Root, Place]],
    solutions: Sequence[Solution],
    found: Sequence[At] = (),
    asked: bool = False,
) -> list[str]:
    """Returns the reasons why there is no finite bound, those with one way out in one text.

    `solutions`: the worst cases in the notions that were tried; `found`: the numbers at the points
    asked for, none of them finite; `asked`: whether any point was asked for.
    """
    told: list[Reason] = []
    if asked or not solutions:
        told.extend(_at_any_point(problem, tops))
    if not told and asked:
        told.extend(_beyond(found))
    if not told and solutions:
        told.extend(reasons(solutions[0], asked))
    causes: dict[str, dict[str, None]] = {}
    for says, way_out, _ in told:
        causes.setdefault(way_out, {})[f"{says[:1].upper()}{says[1:]}."] = None
    why = [f"{' '.join(says)} Way out: {way_out}." for way_out, says in causes.items()]
    if not solutions and not asked:
        why.append(missing_notion(problem))
    return why or ["no finite bound is known for the worst change"]


def reasons(solution: Solution, asked: bool = False) -> Iterator[Reason]:
    """Yields a reason for each sample and mechanism that has no finite loss at the worst change.

    `asked`: a δ was asked for, so that choosing one is no way out.
    """
    none = solution.algebra.none
    for visit in solution.visits:
        yield from _sampled(solution, visit, asked)
        yield from _in_steps(solution, visit)
    yield from uncovered(
        Touched(felt.mechanism, felt.placed, felt.visit.place, felt.visit.state)
        for felt in solution.felt
        if felt.loss == none
    )


# ---------------------------------------------------------------------------------------------
# Samples


def _sampled(solution: Solution, visit: Visit, asked: bool) -> Iterator[Reason]:
    """Yields the reason why a sample on the path of the worst change has no finite loss, if so."""
    dataset, sample, none = visit.place.dataset, visit.place.dataset.made_by, solution.algebra.none
    if not isinstance(sample, Sample) or visit.via is None or visit.via.loss != none:
        return
    path = (*dataset.path, "map")
    if sample.size is not None and in_public_sample(visit.place, visit.state):
        yield _only_replaced(visit.place), _REPLACE, path
    elif solution.notion in (Notion.GDP, Notion.ZCDP) and visit.answer.loss != none and not asked:
        names = dict.fromkeys(
            felt.mechanism.name
            for felt in solution.felt
            if any(each.dataset is dataset for each in upwards(felt.visit.place))
        )
        verb = "reads" if len(names) == 1 else "read"
        symbol = solution.notion.facts.sign
        says = (
            f"{listing(names)} {verb} the sample `{dataset.name}`, which amplifies an ε and a δ, "
            f"not a {symbol}: the number is known only at a chosen δ"
        )
        yield says, _CHOOSE, path


def _in_steps(solution: Solution, visit: Visit) -> Iterator[Reason]:
    """Yields the reason why batches or steps on the path of the worst change have no finite loss,
    if so: any number of them may change."""
    dataset, none = visit.place.dataset, solution.algebra.none
    if visit.via is None or visit.via.loss != none or visit.answer.loss == none:
        return
    if isinstance(dataset.made_by, Batches | Allocate):
        batches = isinstance(dataset.made_by, Batches)
        one, all_ = ("batch", "batches") if batches else ("step", "steps")
        says = f"the worst change may reach all {all_} of `{dataset.name}`"
        hint = f"protect a change of known rows: a guarantee of one {one} says nothing of all"
        yield says, hint, (*dataset.path, "map")


_REPLACE = "protect `bounded` neighbours, or draw each row by chance (`poisson: q`)"


def _only_replaced(place: Place) -> str:
    """Returns the message that a sample of fixed size is private for one replaced row only."""
    return (
        f"the sample `{place.dataset.name}` has a fixed size, and hides one replaced row; nothing "
        "is known for another change of what is sampled"
    )


# ---------------------------------------------------------------------------------------------
# Numbers at a chosen δ


def _at_any_point(problem: Problem, tops: Sequence[tuple[Root, Place]]) -> Iterator[Reason]:
    """Yields a reason for each mechanism that has no finite loss at any δ, and for each sample that
    causes it."""
    accountant = Accountant(Patterns())
    none = accountant.algebra.none
    reached: list[Touched] = []
    for root, top in tops:
        stack = [(top, initial(root, top, problem.goal))]
        while stack:
            place, state = stack.pop()
            answer = accountant.answer(place, state)
            if not state or answer.loss != none:
                continue
            for (mechanism, placed), loss in zip(place.mechanisms, answer.own, strict=True):
                if loss == none:
                    reached.append(Touched(mechanism, placed, place, state))
            below = []
            for choice in answer.choices:
                for branch in choice.branches if choice.loss == none else ():
                    if in_public_sample(branch.place, branch.state):
                        yield _only_replaced(branch.place), _REPLACE, branch.place.dataset.path
                    below.append((branch.place, branch.state))
            stack.extend(reversed(below))
    yield from uncovered(reached)


def _beyond(found: Sequence[At]) -> Iterator[Reason]:
    """Yields the reason for each point without a number: the δ is too small, or the ε is."""
    for at in found:
        if at.value is not None:
            continue
        given = number(at.given)
        if at.wanted == "epsilon":
            yield f"at ε = {given} no δ below 1 holds", "choose a larger ε", ()
        elif not at.given:
            says = "at δ = 0 no ε is finite: something of what is composed has a δ or is known by "
            yield f"{says}a ρ, a μ or a curve", "choose a δ above 0", ()
        else:
            says = f"at δ = {given} no ε is finite: what is composed gives all away with a greater"
            yield f"{says} chance", "choose a larger δ, or state smaller δ's", ()


def missing_notion(problem: Problem) -> str:
    """Returns why the mechanisms of a spec have no notion in common, and the way out."""
    seen: dict[str, str] = {}
    for mechanism in problem.mechanisms():
        stated = " or ".join(sorted(each.value for each in mechanism.stated_in))
        seen.setdefault(stated, mechanism.name)
    parts = [f"`{name}` is stated as {stated}" for stated, name in list(seen.items())[:4]]
    if len(seen) == 1:
        return f"{parts[0]}, which is a number only at a chosen δ. Way out: {_CHOOSE}"
    return (
        f"{' and '.join(parts)}: these have no notion in common without choosing a δ. "
        "pure converts to approx, to zcdp and to gdp, and gdp to zcdp; nothing else converts "
        f"without a δ. Way out: {_CHOOSE}; or state all of them in one notion"
    )
