"""What became of the releases of a record: those that are gone since, and those that say less.

A release has cost what it has cost. That its spec is corrected upwards is fine; one that would
spend less, or be counted elsewhere, makes room in the record that is not there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dpcompose.core.at_delta.filters import default_notion
from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import Path, quoted
from dpcompose.planning.ledger.releases import Release, amounts, goal_of, protected
from dpcompose.planning.pairing import names
from dpcompose.report.declared_assumptions import Vouched, claims, difference, is_new
from dpcompose.report.verdict import implies
from dpcompose.resolve import Resolved

#: Claims that are compared as a whole, or say nothing of what a release costs.
_OF_THE_SPEC = frozenset({"population", "protect", "adaptivity", "filter", "adversary"})


@dataclass(frozen=True, slots=True)
class Recorded:
    """A release of a record as it was (`old`), and as it is now (`new`; None: removed).

    `same`: it declares what it declared. `less`: what it declares no longer, in words, each with
    its path in the spec of now; if empty, it declares as much as before or more.
    """

    old: Release
    new: Release | None
    same: bool = False
    less: tuple[tuple[str, Path], ...] = ()

    @property
    def counted(self) -> Release:
        """Returns the release that counts: that of now, unless it is removed or says less."""
        return self.old if self.new is None or self.less else self.new


@dataclass(frozen=True, slots=True)
class RecordCheck:
    """The number of releases that a record had at a revision, and the labels of those that changed.

    `corrected`: those that declare more now. `rewritten`: those that are removed or declare less,
    which count as they were.
    """

    revision: str
    releases: int
    corrected: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


def since(
    old: Sequence[Release], new: Sequence[Release], limit: Budget | None = None
) -> list[Recorded]:
    """Returns for each release of an old record what became of it, among the releases of now.

    The same spec under another name, or in another order, is the same release. Of the others those
    in the same file are compared: those with the same names, then all in their order. One with
    another name and another content is a new release. `limit`: the budget, None for that of the
    releases.
    """
    left = dict(enumerate(new))
    found: dict[int, int] = {}

    def pair(wanted: Sequence[object], there: Sequence[object]) -> None:
        """Pairs each old release left with the first new one left of an equal key, in `found`."""
        places: dict[object, list[int]] = {}
        for at in reversed(left):
            places.setdefault(there[at], []).append(at)
        for number, key in enumerate(wanted):
            if number not in found and places.get(key):
                found[number] = places[key].pop()
                del left[found[number]]

    (was, files), (now, here) = (
        ([content(each) for each in some], [each.file for each in some]) for some in (old, new)
    )
    pair([*zip(was, files, strict=True)], [*zip(now, here, strict=True)])
    pair(was, now)
    same = set(found)
    called = [[names(each.resolved.source.value) for each in some] for some in (old, new)]
    pair([*zip(files, called[0], strict=True)], [*zip(here, called[1], strict=True)])
    pair(files, here)

    def became(number: int, before: Release) -> Recorded:
        """Returns what became of one release of the record, which is the `number`-th."""
        after = new[found[number]] if number in found else None
        if after is None or number in same:
            return Recorded(before, after, after is not None)
        return Recorded(before, after, False, tuple(less(before, after, limit)))

    return [became(number, each) for number, each in enumerate(old)]


def content(release: Release) -> str:
    """Returns a text that is equal for two specs if they release the same under the same budget."""
    resolved = release.resolved
    claimed = sorted(((each.of, each.content) for each in claims(resolved)), key=str)
    budget = resolved.budget if resolved.ledger else None
    whole = [protected(release), resolved.planned, str(budget), claimed]
    return json.dumps(whole, sort_keys=True)


def less(old: Release, new: Release, limit: Budget | None = None) -> Iterator[tuple[str, Path]]:
    """Yields the differences by which a release might cost less than before, as (sentence, path).

    A weaker guarantee or less noise is no such difference.
    """
    if goal_of(old) != goal_of(new):
        says = f"{protected(new)} are protected, and {protected(old)} were"
        if protected(new) == protected(old):
            says = "what a protected change keeps is not what it was"
        yield says, ("protect",)
        return  # every mechanism would say it again
    was, now = old.resolved, new.resolved
    yield from _of_the_spec(was, now)
    filters: list[str | None] = []  # the notions in which the budget is counted
    for each in (new, old):
        budget = limit or next(iter(each.limits), each.resolved.budget)
        usual = None if budget is None else default_notion(budget)
        notion = each.resolved.filter or usual
        filters.append(None if notion is None else notion.value)
    if filters[0] != filters[1]:
        yield f"`filter` is {_quoted(filters[0])}, and was {_quoted(filters[1])}", ("filter",)
    before, after = ({each.of: each for each in claims(one)} for one in (was, now))
    for of, told in before.items():
        if told.path[0] == "mechanisms" and "post_processes" not in told.content:
            if of not in after:
                yield f"{quoted(of)} is gone", ("mechanisms",)
            elif _times(after[of]) < _times(told):
                says = f"{quoted(of)} is released {_times(after[of])} times, and was "
                yield f"{says}{_times(told)} times", (*after[of].path, "count")
    declared = [one.source.at(("datasets",)) for one in (was, now)]
    there = set.intersection(*(set(each if isinstance(each, dict) else ()) for each in declared))
    for of in dict.fromkeys([*after, *(f"dataset {name}" for name in there)]):
        known: Vouched | None = before.get(of)
        claim: Vouched | None = after.get(of)
        if of.startswith("dataset ") and of.removeprefix("dataset ") in there:
            nothing = Vouched(of, {}, ("datasets", of.removeprefix("dataset ")))
            known, claim = known or nothing, claim or nothing
        if claim is None or claim.path[0] in _OF_THE_SPEC:
            continue
        # What was released depends on no entry that is new, but for what is said of all roots.
        of_roots = claim.path[0] == "roots"
        matters = of_roots if known is None else "post_processes" not in known.content
        if matters and is_new(claim, known):
            yield difference(claim, known or Vouched(of, {}, claim.path))
    roots = ({root.dataset.name for root in each.problem.roots} for each in (was, now))
    if "roots" in before and "roots" in after and next(roots) != next(roots):
        yield "`roots: disjoint` is said of other roots than before", ("roots",)


def _of_the_spec(was: Resolved, now: Resolved) -> Iterator[tuple[str, Path]]:
    """Yields such differences in the spec as a whole: population, adaptivity, budget."""
    if was.population != now.population:
        says = f"`population` is {_quoted(now.population)}, and was {_quoted(was.population)}"
        yield says, ("population",)
    # Nothing may depend on earlier outputs, the releases, or also their parameters.
    free = [2 if each.ledger else int(each.problem.adaptive) for each in (was, now)]
    if free[1] < free[0]:
        yield "less is said to depend on earlier outputs than before", ("adaptivity",)
    if now.planned is not None and now.planned != was.planned:
        yield f"`because` is {_quoted(now.planned)}, and was {_quoted(was.planned)}", ("because",)
    if was.ledger and was.budget is not None:
        raised = now.budget is None or not implies(now.budget, was.budget)
        if raised:
            told = "none" if now.budget is None else amounts([now.budget])
            yield f"the budget is {told}, and was {amounts([was.budget])}", ("budget",)


def _times(claim: Vouched) -> int:
    """Returns how many copies of a mechanism are released."""
    return int(claim.content.get("count", 1))


def _quoted(text: str | None) -> str:
    return "none" if text is None else quoted(text)
