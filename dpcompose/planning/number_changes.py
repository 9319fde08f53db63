"""The comparison of two reports: which numbers increased or decreased, and which are comparable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from dpcompose.core.notions.notion import CONVERTS, SIGNS, convert
from dpcompose.planning.what_if import delta_at, epsilon_at
from dpcompose.report import At, Bound, Report
from dpcompose.report.wording import neighbours_text

Direction = Literal["same", "decreased", "increased", "incomparable"]
#: Numbers at a δ are found by search: a smaller relative difference counts as unchanged.
NEARLY = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class NumberChange:
    """One number before and after a change; None where it is not finite, or there is no spec.

    `name`: `ε`, `δ`, `ρ`, `μ`, or `ε at δ = 1e-6`.
    """

    name: str
    old: Fraction | None
    new: Fraction | None
    direction: Direction


def alone(report: Report, gone: bool = False) -> tuple[NumberChange, ...]:
    """Returns the numbers of a spec that is new, each as an increase from nothing, or of one that
    is `gone`, as a decrease to nothing."""
    named = [] if report.bound is None else named_parameters(report.bound)
    numbers = [*named, *((epsilon_at(at.given), at.value) for at in report.at_delta)]
    if gone:
        return tuple(NumberChange(name, value, None, "decreased") for name, value in numbers)
    return tuple(NumberChange(name, None, value, "increased") for name, value in numbers)


def compared(old: Report, new: Report) -> tuple[Direction, tuple[NumberChange, ...], str | None]:
    """Returns the direction in which the bound moved, each number's change, and a reason.

    The reason says why two bounds are "incomparable"; for the other directions it is None.
    """
    numbers = [*_of_bounds(old, new), *_of_records(old, new)]
    numbers += [*_at_points(_points(old), _points(new)), *_against_adversary(old, new)]
    protected = _protected(old, new)
    if protected is not None:
        why = f"what is protected changed from {protected[0]} to {protected[1]}"
        apart = tuple(replace(each, direction="incomparable") for each in numbers)
        return "incomparable", apart, why
    if old.record and new.record and old.record.notion is not new.record.notion:
        why = (
            f"the budget was counted in {old.record.notion.facts.sign} and is in "
            f"{new.record.notion.facts.sign}: a filter is chosen before the first output"
        )
        return "incomparable", tuple(numbers), why
    if old.status != new.status:
        return ("increased" if new.status == "no-guarantee" else "decreased"), tuple(numbers), None
    directions = {each.direction for each in numbers}
    if old.bound is not None and new.bound is not None and old.bound.notion != new.bound.notion:
        directions.add(_across(old.bound, new.bound))
    if old.status == "ok" and not directions:
        directions.add("incomparable")
    if "increased" in directions:
        return "increased", tuple(numbers), None
    if "incomparable" in directions:
        at_deltas = {each.direction for each in numbers if " at " in each.name}
        # Comparable ε's at a δ decide where the bounds are not comparable.
        if not at_deltas or "incomparable" in at_deltas:
            return "incomparable", tuple(numbers), _no_comparison(old, new)
    return ("decreased" if "decreased" in directions else "same"), tuple(numbers), None


def _no_comparison(old: Report, new: Report) -> str:
    """Returns the sentence on why two bounds cannot be compared, with the way out."""
    terms = ["a profile", "a profile"]
    for i, bound in enumerate((old.bound, new.bound)):
        if bound is not None:
            symbols = " and ".join(name for name, _ in named_parameters(bound))
            terms[i] = f"{symbols} ({bound.notion.value})"
    if terms[0] == terms[1]:
        return "one of ε and δ increased, the other one decreased; --delta compares ε at one δ"
    return f"the bound was in {terms[0]} and is in {terms[1]}; --delta compares ε at one δ"


def _of_records(old: Report, new: Report) -> Iterator[NumberChange]:
    """Yields the changes of what two records spend of one budget, where counted in one notion."""
    was, now = old.record, new.record
    if was is None or now is None or was.notion is not now.notion:
        return
    for (name, before), (_, after) in zip(was.spent or (), now.spent or (), strict=False):
        yield NumberChange(f"{SIGNS[name]} spent", before, after, _way(before, after))


def _protected(old: Report, new: Report) -> tuple[str, str] | None:
    """Returns what each of two reports protects, in words that differ; None where it is the same.

    It is the same if the relation and its distance are, and if the privacy units are of the same
    columns, also in each root that both have.
    """
    assert old.goal is not None and new.goal is not None
    was, now = dict(old.units), dict(new.units)
    apart = [root for root in was if root in now and was[root] != now[root]]
    if (
        (old.goal.relation, old.goal.distance) == (new.goal.relation, new.goal.distance)
        and {*was.values()} == {*now.values()}
        and not apart
    ):
        return None
    alike = str(old.goal.relation) == str(new.goal.relation) and old.distance == new.distance
    if alike and old.protects != new.protects:
        return old.protects, new.protects
    neighbours = neighbours_text(old.goal), neighbours_text(new.goal)
    if neighbours[0] != neighbours[1]:
        return neighbours
    by_root = [
        ", ".join(f"one `{units[root]}` in `{root}`" for root in apart) for units in (was, now)
    ]
    return by_root[0], by_root[1]


def named_parameters(bound: Bound) -> list[tuple[str, Fraction]]:
    """Returns the parameters of a bound as pairs of symbol and value, such as `("ε", 1/2)`."""
    return [(SIGNS[name], value) for name, value, _ in bound.parameters]


def _of_bounds(old: Report, new: Report) -> Iterator[NumberChange]:
    """Yields the changes of the bounds' parameters, if both are in one notion or one is missing."""
    if old.bound is None or new.bound is None:
        known = old.bound or new.bound
        if known is not None and old.status != new.status:
            for name, value in named_parameters(known):
                was = value if old.bound is not None else None
                now = value if new.bound is not None else None
                yield NumberChange(name, was, now, _way(was, now))
        return
    if old.bound.notion is not new.bound.notion:
        return
    pairs = zip(named_parameters(old.bound), named_parameters(new.bound), strict=True)
    found = [NumberChange(name, was, now, _way(was, now)) for (name, was), (_, now) in pairs]
    mixed = {each.direction for each in found} >= {"increased", "decreased"}
    for each in found:
        yield replace(each, direction="incomparable") if mixed else each


def _across(old: Bound, new: Bound) -> Direction:
    """Returns the direction between bounds in different notions, where a conversion decides it."""
    if old.delta is not None or new.delta is not None:
        return _with_delta(old, new)
    if old.notion in CONVERTS[new.notion]:
        if convert(_amount(new), new.notion, old.notion) <= _amount(old):
            return "decreased"
    elif new.notion in CONVERTS[old.notion] and (
        convert(_amount(old), old.notion, new.notion) <= _amount(new)
    ):
        return "increased"
    return "incomparable"


def _with_delta(old: Bound, new: Bound) -> Direction:
    """Returns the direction between two bounds of which at least one has a δ."""
    epsilons = {"pure", "approx"}
    if old.notion.value in epsilons and new.notion.value in epsilons:
        if old.delta is None and new.value >= old.value:
            return "increased"
        if new.delta is None and new.value <= old.value:
            return "decreased"
    return "incomparable"


def _amount(bound: Bound) -> Fraction:
    """Returns a bound in the unit in which its notion adds up: μ² for GDP, else its parameter."""
    return bound.value**2 if bound.notion.value == "gdp" else bound.value


def _way(old: Fraction | None, new: Fraction | None, slack: Fraction = Fraction(0)) -> Direction:
    """Returns in which direction a number moved; None counts as larger than every number, and a
    difference of at most `slack` as none."""
    if old is None or new is None:
        return "same" if old is new else "increased" if new is None else "decreased"
    if abs(new - old) <= slack * old:
        return "same"
    return "increased" if new > old else "decreased"


def _at_points(
    old: Iterable[At], new: Iterable[At], of: str = "", slack: Fraction = NEARLY
) -> Iterator[NumberChange]:
    """Yields the changes of the numbers at the δ's and ε's that are in both lists; `of`: the end of
    their names."""
    before = {(at.wanted, at.given): at for at in old}
    for at in new:
        was = before.get((at.wanted, at.given))
        if was is not None:
            name = epsilon_at(at.given) if at.wanted == "delta" else delta_at(at.given)
            way = _way(was.value, at.value, slack)
            yield NumberChange(name + of, was.value, at.value, way)


def _against_adversary(old: Report, new: Report) -> Iterator[NumberChange]:
    """Yields how the ε against the hypotheses of an adversary differs between two reports, where
    both specs name an adversary."""
    if old.adversary is None or new.adversary is None:
        return
    bounds = [each.adversary.bound for each in (old, new) if each.adversary is not None]
    if len({bound.delta for bound in bounds if bound is not None}) < 2:
        was, now = (None if bound is None else bound.value for bound in bounds)
        yield NumberChange(f"ε{_OF_ADVERSARY}", was, now, _way(was, now, NEARLY))


_OF_ADVERSARY = " against the adversary"


def _points(report: Report) -> tuple[At, ...]:
    """Returns the numbers of a report at chosen δ's and ε's."""
    return (*report.at_delta, *report.at_epsilon)
