"""What releases say of what they protect, spend and fix in advance, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.notions.guarantee import LIMITS, Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import listing, number
from dpcompose.report.wording import neighbours_text
from dpcompose.resolve import Resolved

#: So many specs are told of where they differ.
_MOST_SAID = 4


@dataclass(frozen=True, slots=True)
class Release:
    """A valid spec with its label in sums.

    `limits`: the budgets of all releases on its population together, unless the call names one.
    `deltas`: where to state ε, beside where the spec asks for it. `came`: when it was added to the
    record, in words. `new`: it is not in the record yet. `file`: the identity of its file, which
    does not depend on the revision.
    """

    label: str
    resolved: Resolved
    limits: tuple[Budget, ...] = ()
    deltas: tuple[Fraction, ...] = ()
    came: str = ""
    new: bool = False
    file: str = ""


def protected(release: Release) -> str:
    """Returns the protected neighbours in words: `bounded neighbours at distance 2`."""
    return neighbours_text(release.resolved.problem.goal)


def disagreement(
    releases: Sequence[Release],
    *,
    budgets: bool,
    fixed: str | None,
    counted_in: Notion | None,
    usual: Sequence[Notion],
) -> str | None:
    """Returns the sentence on why releases cannot be added up; None if they can.

    `budgets`: whether their total budgets must agree. `fixed`, `counted_in`: as in `TotalAsked`;
    `usual`: the notions in which budgets are counted where no notion is named.
    """
    return (
        _clash(releases)
        or _other_units(releases)
        or (_other_budgets(releases) if budgets else None)
        or _other_ways(releases, fixed, counted_in, usual)
    )


def goal_of(release: Release) -> tuple[Relation, int]:
    """Returns the protected relation and the number of its steps (distance)."""
    goal = release.resolved.problem.goal
    return goal.relation, goal.distance


def _units(release: Release) -> Iterator[str]:
    """Yields the columns of the privacy units of all roots that have one."""
    for root in release.resolved.problem.roots:
        if root.unit is not None:
            yield root.unit


def by_protection(releases: Sequence[Release]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns pairs (what is protected, labels), the largest first; () for one alone."""
    found: dict[str, list[str]] = {}
    for each in releases:
        units = sorted(set(_units(each)))
        of = f" of {listing(units)}" if units and "user" in protected(each) else ""
        found.setdefault(protected(each) + of, []).append(each.label)
    if len(found) < 2:
        return ()
    ordered = sorted(found.items(), key=lambda each: -len(each[1]))
    return tuple((protects, tuple(files)) for protects, files in ordered)


def _clash(releases: Sequence[Release]) -> str | None:
    """Returns the sentence that two releases protect different relations, or None."""
    first = releases[0]
    for each in releases:
        if goal_of(each) != goal_of(first):
            return (
                f"in {first.label} {protected(first)} are protected, in {each.label} "
                f"{protected(each)}: a bound for the one says nothing of the other"
            )
    return None


def _other_units(releases: Sequence[Release]) -> str | None:
    """Returns the sentence that two releases protect units of other names, or None."""
    kind = releases[0].resolved.problem.goal.relation
    if (kind.within or kind).kind is not RelationKind.USER:
        return None
    first: tuple[str, str] | None = None
    for each in releases:
        for unit in _units(each):
            if first is not None and unit != first[0]:
                return (
                    f"in {first[1]} all rows of one `{first[0]}` are protected, in {each.label} "
                    f"all of one `{unit}`: a bound for the one says nothing of the other, and if "
                    "they are the same unit the columns need the same name in the specs"
                )
            first = first or (unit, each.label)
    return None


def _other_budgets(releases: Sequence[Release]) -> str | None:
    """Returns the sentence that two releases name different total budgets; None if they do not."""
    given = [each for each in releases if each.limits]
    for each in given[1:]:
        if each.limits != given[0].limits:
            return (
                f"the total budget of {given[0].label} is {amounts(given[0].limits)}, and that of "
                f"{each.label} is {amounts(each.limits)}: --epsilon, --rho or --mu gives one for "
                "all"
            )
    return None


def _other_ways(
    releases: Sequence[Release],
    fixed: str | None,
    counted_in: Notion | None,
    usual: Sequence[Notion],
) -> str | None:
    """Returns the sentence that specs and options contradict each other on adaptivity; None if they
    do not.

    The specs say whether parameters were fixed in advance or chosen along the way, and in which
    notion.
    """
    ledgers = [each.label for each in releases if each.resolved.ledger]
    if fixed is not None and ledgers:
        return (
            f"--fixed says that all parameters were fixed before the first output, and "
            f"{listing(ledgers)} that they are chosen along the way (`adaptivity: parameters`)"
        )
    named = {"--filter": counted_in} if counted_in is not None else {}
    by_default: list[str] = []
    for each in releases:
        if each.resolved.filter is not None:
            named[each.label] = each.resolved.filter
        elif counted_in is None and usual:
            by_default.append(each.label)
    if named and len({*named.values(), *(usual if by_default else ())}) > 1:
        # A name that comes later would count again, in another notion, what was released before.
        said = [f"{place} {notion.value}" for place, notion in named.items()]
        said += [f"{place} {' or '.join(usual)}, as it names none" for place in by_default]
        return (
            "a budget is counted in one notion, chosen before the first output: "
            f"{', '.join(said[:_MOST_SAID])}. Name it in every spec, or by --filter for all"
        )
    return None


def amounts(limits: Sequence[Budget]) -> str:
    """Returns budgets in words: `ε = 2, δ = 1e-6`, several with `and` between them."""
    each = [
        ", ".join(f"{LIMITS[name]} = {number(value)}" for name, value in limit.parameters)
        for limit in limits
    ]
    return " and ".join(each)
