"""Several releases on the same people, composed as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebras import Loss
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.problem import Path, Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import LIMITS, Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role
from dpcompose.core.theorems.select import select
from dpcompose.errors import Span
from dpcompose.planning.ledgers import LedgerSum, Remaining, left_if_fixed, summed
from dpcompose.planning.merging import Merged, Part, drawn_apart, merge
from dpcompose.report import At, Bound, FilterRecord, Verdict
from dpcompose.report.assumptions import OF_FILTERS
from dpcompose.report.certify import Certified, certify
from dpcompose.report.explanation import worst_change
from dpcompose.report.findings.reasons import why_none
from dpcompose.report.shares import of_solution as shares_of
from dpcompose.report.verdict import deltas_of
from dpcompose.report.wording import listing, number
from dpcompose.resolve import Resolved


@dataclass(frozen=True, slots=True)
class Release:
    """A valid spec, and what to call it.

    `limits`: what may be spent on its population, all of them, where that is not asked otherwise.
    `deltas`: where to state ε, beside where the spec asks for it. `came`: when it was added to the
    record, in words. `new`: it is not in the record yet.
    """

    label: str
    resolved: Resolved
    limits: tuple[Budget, ...] = ()
    deltas: tuple[Fraction, ...] = ()
    came: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True)
class RecordStep:
    """A record of releases after one more of them: when it came, and what was spent and left.

    `record`: None where no filter counts it.
    """

    label: str
    came: str
    record: FilterRecord | None


@dataclass(frozen=True, slots=True)
class Addition:
    """What a mechanism adds at the worst change of all: its name, its spec and its line there."""

    mechanism: str
    file: str
    line: int
    bound: Bound


@dataclass(frozen=True, slots=True)
class Total:
    """What all releases on one population cost together.

    `population`: None for specs that name none, added up because that was asked for. `alone`: each
    release by itself. `refused`: why they cannot be added up; there is then no number,
    and `groups` are the releases by what they protect, where they differ in that.
    `reasons`: why there is no finite bound. `assumed`: what only the names say.
    `planned`: why all parameters are fixed in advance; None where they may be chosen along the way,
    so that the bound is the budget, `record` what a filter has counted, and `realised` what has
    been spent where no budget makes a guarantee of it. `remaining`: the largest ε, ρ and μ of one
    more mechanism, where that is asked for. `before`: the record without the releases that are new.
    `steps`: the record after each release, where that is asked for.
    """

    population: str | None
    files: tuple[str, ...]
    relation: str
    bounds: tuple[Bound, ...] = ()
    at_delta: tuple[At, ...] = ()
    alone: tuple[tuple[str, Bound | None], ...] = ()
    theorem: str | None = None
    worst: tuple[str, ...] = ()
    entries: tuple[Addition, ...] = ()
    verdict: Verdict | None = None
    assumed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    refused: str | None = None
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()
    planned: str | None = None
    record: FilterRecord | None = None
    realised: Bound | None = None
    remaining: Remaining | None = None
    before: FilterRecord | None = None
    steps: tuple[RecordStep, ...] = ()

    @property
    def finite(self) -> bool:
        """Whether there is any number."""
        return bool(self.bounds) or any(at.value is not None for at in self.at_delta)


@dataclass(frozen=True, slots=True)
class Sum:
    """The totals of all populations, and the specs that were not added up."""

    totals: tuple[Total, ...]
    unnamed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TotalAsked:
    """What is asked of a total: a budget, and where to state ε. `apart`: names mean nothing.

    `limit`: None for the one that the releases name. `fixed`: why all parameters were fixed before
    the first output; None: they may have been chosen along the way, but where every spec says that
    they were not. `filter`: the notion in which the budget is then counted, None for the usual one.
    `rest`: whether to say what one more mechanism may have. `over_time`: whether to tell the record
    after each release, in their order. `part`: of a ledger that is added up, of which the record
    alone matters.
    """

    limit: Budget | None = None
    deltas: tuple[Fraction, ...] = field(default=())
    everything: bool = False
    apart: bool = False
    fixed: str | None = None
    filter: Notion | None = None
    rest: bool = False
    over_time: bool = False
    part: bool = False


def add_up(releases: Sequence[Release], asked: TotalAsked) -> Sum:
    """The total of each population, in the order of the specs."""
    labels = _labels(releases)
    groups: dict[str | None, list[int]] = {}
    for index, each in enumerate(releases):
        groups.setdefault(None if asked.everything else _population(each), []).append(index)
    unnamed: tuple[str, ...] = ()
    if not asked.everything:
        unnamed = tuple(labels[index] for index in groups.pop(None, []))
    totals = tuple(
        _total(population, [releases[i] for i in group], [labels[i] for i in group], asked)
        for population, group in groups.items()
    )
    return Sum(totals, unnamed)


def _population(release: Release) -> str | None:
    return release.resolved.population or None


def _labels(releases: Sequence[Release]) -> list[str]:
    """What each spec is called; one that is given again gets a number."""
    seen: dict[str, int] = {}
    labels: list[str] = []
    for each in releases:
        seen[each.label] = seen.get(each.label, 0) + 1
        times = seen[each.label]
        labels.append(each.label if times == 1 else f"{each.label} ({times})")
    return labels


def _total(
    population: str | None, releases: Sequence[Release], labels: Sequence[str], asked: TotalAsked
) -> Total:
    relation, files = _protected(releases[0]), tuple(labels)
    releases = [_with_own_budget(each) for each in releases]
    limits = next((each.limits for each in releases if each.limits), ())
    if asked.limit is not None:
        limits = (asked.limit,)
    planned = _planned(releases, asked)
    why = (
        _clash(releases, labels)
        or _other_units(releases, labels)
        or (_unlike(releases, labels) if asked.limit is None else None)
        or _other_ways(releases, labels, asked)
    )
    if why is not None:
        return Total(population, files, relation, refused=why, groups=_groups(releases, labels))
    deltas = [*asked.deltas, *(delta for each in releases for delta in _deltas(each))]

    def together(world: bool) -> Merged:
        return merge(
            [
                Part(label, each.resolved.problem, _population(each) if world else None)
                for label, each in zip(labels, releases, strict=True)
            ]
        )

    def certified(merged: Merged) -> tuple[_Together, Certified]:
        solver = _Together(merged)
        return solver, certify(merged.problem, limits, deltas, solver=solver)

    world = not asked.apart
    merged = together(world)
    twice = drawn_apart(merged) if world and population is not None else None
    if twice is not None:
        name, parts = twice
        why = (
            f"{listing(labels[part] for part in parts)} say that `{name}` is drawn once "
            "(`draws: one`), but not the same of what it is drawn from, or how: write it alike in "
            "all of them and below nothing random, or under different names where they are "
            "different draws"
        )
        return Total(population, files, relation, refused=why)
    if planned is None:
        whole = _ledger(
            population, releases, labels, asked, limits, deltas, merged, together(False)
        )
        return _over_time(whole, releases, labels, asked, limits)
    solver, found = certified(merged)
    if merged.contested:
        # Each release with its own word for its own roots costs what it costs alone.
        others = together(False)
        alone = certified(others)
        if _least(alone[1]) < _least(found):
            merged, (solver, found) = others, alone
    total = Total(
        population,
        files,
        relation,
        found.bounds,
        found.at_delta,
        tuple(_alone(labels, releases)),
        verdict=_verdict(found, limits),
        assumed=(
            "maps, blocks, parameters and their number were fixed before the first output",
            *_assumed(merged, labels, world and population is not None),
        ),
        planned=planned,
        remaining=_left_if_fixed(merged, limits) if asked.rest and limits else None,
    )
    return _told(total, found, solver, releases, labels)


def _with_own_budget(release: Release) -> Release:
    """A release of a ledger: its own budget is that of the ledger, where none is named for all."""
    own = release.resolved.budget
    if release.limits or own is None or not release.resolved.ledger:
        return release
    return replace(release, limits=(own,))


def _planned(releases: Sequence[Release], asked: TotalAsked) -> str | None:
    """Why all parameters were fixed before the first output, where somebody says so."""
    if asked.fixed is not None or asked.part:
        return asked.fixed
    reasons = [each.resolved.planned for each in releases]
    said = [each for each in reasons if each is not None]
    return "; ".join(dict.fromkeys(said)) if len(said) == len(reasons) else None


def _other_ways(
    releases: Sequence[Release], labels: Sequence[str], asked: TotalAsked
) -> str | None:
    """That specs and options say different things of how parameters were chosen, if they do."""
    ledgers = [label for label, r in zip(labels, releases, strict=True) if r.resolved.ledger]
    if asked.fixed is not None and ledgers:
        return (
            f"--fixed says that all parameters were fixed before the first output, and "
            f"{listing(ledgers)} that they are chosen along the way (`adaptivity: parameters`)"
        )
    named = {"--filter": asked.filter} if asked.filter is not None else {}
    for label, each in zip(labels, releases, strict=True):
        if each.resolved.filter is not None:
            named[label] = each.resolved.filter
    if len(set(named.values())) > 1:
        said = " and ".join(f"{place} {notion.value}" for place, notion in named.items())
        return f"a budget is counted in one notion, chosen before the first output: {said}"
    return None


def _ledger(
    population: str | None,
    releases: Sequence[Release],
    labels: Sequence[str],
    asked: TotalAsked,
    limits: Sequence[Budget],
    deltas: Sequence[Fraction],
    merged: Merged,
    apart: Merged,
) -> Total:
    """The total of releases whose parameters may have been chosen along the way.

    `apart`: the same where names mean nothing. Each gives a sum that is large enough for every pair
    of neighbours.
    """
    wanted = asked.filter or next(
        (each.resolved.filter for each in releases if each.resolved.filter is not None), None
    )
    points = [*(delta for each in limits for delta in deltas_of(each)), *deltas]

    def counted(merged: Merged) -> LedgerSum:
        def solver() -> Solver:
            return _Together(merged)

        return summed(merged.problem, solver, limits, wanted, points, asked.rest, asked.part)

    found, used = counted(merged), merged
    if merged.contested:
        other = counted(apart)
        if _spent(other) < _spent(found):
            found, used = other, apart
    notion = None if found.solution is None else found.solution.notion
    world = not asked.apart and population is not None
    assumed = [*(each.says for each in OF_FILTERS), *_assumed(used, labels, world)]
    if notion is Notion.GDP and wanted is None and found.record is not None:
        assumed.append(
            "the budget is counted in μ, since every statement is Gaussian (name it: `--filter "
            "gdp`; a release that is not could not follow)"
        )
    total = Total(
        population,
        tuple(labels),
        _protected(releases[0]),
        found.bounds,
        found.at_delta,
        tuple(_alone(labels, releases, notion)),
        verdict=found.verdict,
        assumed=tuple(assumed),
        reasons=found.reasons,
        record=found.record,
        realised=found.realised,
        remaining=found.remaining,
    )
    if found.solution is None:
        return total
    theorem = in_role(Role.FILTER, found.solution.notion).id if found.bounds else None
    added = _added(total, found.solution, _Together(used), releases, labels)
    return replace(added, theorem=theorem)


def _over_time(
    found: Total,
    releases: Sequence[Release],
    labels: Sequence[str],
    asked: TotalAsked,
    limits: Sequence[Budget],
) -> Total:
    """The total with the record before what is new, and after each release if that is asked."""
    if found.record is None:
        return found
    alone = replace(asked, rest=False, over_time=False, part=True, filter=found.record.notion)
    if asked.limit is None and limits:
        alone = replace(alone, limit=limits[0])

    def record(some: Sequence[int]) -> FilterRecord | None:
        if not some:
            return None
        part = [replace(releases[i], new=False) for i in some]
        return _total(found.population, part, [labels[i] for i in some], alone).record

    known = [i for i, each in enumerate(releases) if not each.new]
    before = record(known) if len(known) < len(releases) else None
    if len(known) < len(releases) and not found.finite:
        new = listing([labels[i] for i, each in enumerate(releases) if each.new])
        found = replace(found, reasons=(f"{new} may not be released. {found.reasons[0]}",))
    steps: tuple[RecordStep, ...] = ()
    if asked.over_time:
        steps = tuple(
            RecordStep(labels[i], releases[i].came, record(range(i + 1)))
            for i in range(len(releases))
        )
    return replace(found, before=before, steps=steps)


def _spent(found: LedgerSum) -> Fraction:
    """Something to compare sums of the same releases by."""
    if found.record is not None:
        return found.record.share
    return Fraction(10**9) if found.realised is None else found.realised.value


def _left_if_fixed(merged: Merged, limits: Sequence[Budget]) -> Remaining:
    """What one more mechanism may have, if all parameters are fixed in advance."""

    def solver(problem: Problem) -> Solver:
        roots = dict(zip(map(id, merged.problem.roots), problem.roots, strict=True))
        islands = tuple(
            replace(each, roots=[roots[id(root)] for root in each.roots]) for each in merged.islands
        )
        return _Together(replace(merged, problem=problem, islands=islands))

    return left_if_fixed(merged.problem, _met_by_all(merged), solver, limits)


def _met_by_all(merged: Merged) -> set[int]:
    """Roots of which every protected step changes one: the first that always changes, or a group
    of which nobody is in two."""
    numbers = {id(root): i for i, root in enumerate(merged.problem.roots)}
    groups: list[set[int]] = []
    for island in merged.islands:
        apart = {i for each in island.apart for i in each}
        alone = [root for i, root in enumerate(island.roots) if i not in apart]
        if alone:
            return {numbers[id(alone[0])]}
        groups += [{numbers[id(island.roots[i])] for i in each} for each in island.apart]
    return groups[0]


def _least(found: Certified) -> tuple[int, Fraction]:
    """Something to compare bounds of the same releases by."""
    if found.bounds:
        return 0, found.bounds[0].value
    values = [at.value for at in found.at_delta]
    known = [value for value in values if value is not None]
    return 1 + len(values) - len(known), sum(known, Fraction(0))


def _other_units(releases: Sequence[Release], labels: Sequence[str]) -> str | None:
    """That two releases protect different units, by the names of their columns, if they do."""
    kind = releases[0].resolved.problem.goal.relation
    if (kind.within or kind).kind is not RelationKind.USER:
        return None
    first: tuple[str, str] | None = None
    for label, each in zip(labels, releases, strict=True):
        for unit in _units(each):
            if first is not None and unit != first[0]:
                return (
                    f"in {first[1]} all rows of one `{first[0]}` are protected, in {label} all of "
                    f"one `{unit}`: a bound for the one says nothing of the other, and if they are "
                    "the same unit the columns need the same name in the specs"
                )
            first = first or (unit, label)
    return None


def _units(release: Release) -> Iterator[str]:
    for root in release.resolved.problem.roots:
        if root.unit is not None:
            yield root.unit


def _verdict(found: Certified, limits: Sequence[Budget]) -> Verdict | None:
    """On the first limit that is not met, or else on the first one."""
    verdicts = [found.held(each) for each in limits]
    return next((each for each in verdicts if not each.ok), verdicts[0] if verdicts else None)


def _groups(
    releases: Sequence[Release], labels: Sequence[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The releases by what they protect, those that are most first; none where all are alike."""
    found: dict[str, list[str]] = {}
    for label, each in zip(labels, releases, strict=True):
        units = sorted(set(_units(each)))
        of = f" of {listing(units)}" if units and "user" in _protected(each) else ""
        found.setdefault(_protected(each) + of, []).append(label)
    if len(found) < 2:
        return ()
    ordered = sorted(found.items(), key=lambda each: -len(each[1]))
    return tuple((protects, tuple(files)) for protects, files in ordered)


def _clash(releases: Sequence[Release], labels: Sequence[str]) -> str | None:
    """That two releases protect different things, if they do."""
    first = releases[0]
    for label, each in zip(labels, releases, strict=True):
        if _goal(each) != _goal(first):
            return (
                f"in {labels[0]} {_protected(first)} are protected, in {label} "
                f"{_protected(each)}: a bound for the one says nothing of the other"
            )
    return None


def _unlike(releases: Sequence[Release], labels: Sequence[str]) -> str | None:
    """That two releases name different budgets for their total, if they do."""
    named = [(label, each.limits) for label, each in zip(labels, releases, strict=True)]
    given = [(label, limits) for label, limits in named if limits]
    for label, limits in given[1:]:
        if limits != given[0][1]:
            return (
                f"the total budget of {given[0][0]} is {_amounts(given[0][1])}, and that of "
                f"{label} is {_amounts(limits)}: --epsilon, --rho or --mu gives one for all"
            )
    return None


def _amounts(limits: Sequence[Budget]) -> str:
    each = [
        ", ".join(f"{LIMITS[name]} = {number(value)}" for name, value in limit.parameters)
        for limit in limits
    ]
    return " and ".join(each)


def _deltas(release: Release) -> Iterator[Fraction]:
    """Where ε is asked for: by settings, by the spec, by its budget."""
    yield from release.deltas
    yield from release.resolved.deltas
    yield from deltas_of(release.resolved.budget)


def _goal(release: Release) -> tuple[Relation, int]:
    goal = release.resolved.problem.goal
    return goal.relation, goal.distance


def _protected(release: Release) -> str:
    goal = release.resolved.problem.goal
    relation = goal.relation
    within = ""
    if relation.within is not None:
        within = f" (at most {relation.distance} {relation.within} steps)"
    distance = f" at distance {goal.distance}" if goal.distance > 1 else ""
    return f"{relation}{within} neighbours{distance}"


def _alone(
    labels: Sequence[str], releases: Sequence[Release], notion: Notion | None = None
) -> Iterator[tuple[str, Bound | None]]:
    """Each release by itself; `notion`: by the sum that a filter counts."""
    for label, each in zip(labels, releases, strict=True):
        problem = each.resolved.problem
        if notion is None:
            bounds = certify(problem).bounds
        else:
            bounds = tuple(map(bound_of, Solver(problem).summed(notion).quantities))
        yield label, bounds[0] if bounds else None


def _assumed(merged: Merged, labels: Sequence[str], world: bool) -> Iterator[str]:
    """What only the names say; `world`: whether they mean the same in all specs."""
    if len(labels) < 2:
        return
    about = "all of these specs are about the same people"
    if not merged.apart:
        yield f"{about}, each of whom may be in every root"
    else:
        yield f"{about}, each of whom may be in every root but for what the specs say:"
    told: dict[tuple[str, ...], list[str]] = {}
    for part, names in merged.apart:
        told.setdefault(names, []).append(labels[part])
    for names, said in told.items():
        yield f"nobody is in two of {listing(names)} (`roots: disjoint` in {listing(said)})"
    for part in merged.contested:
        yield (
            f"that nobody is in two roots of {labels[part]} is used for it alone, if at all: "
            "another spec reads some of these roots and does not say so"
        )
    fresh = (
        "each release draws fresh noise, and samples, random limits and caps of its own, whatever "
        "they are called"
    )
    once = "; but a sample with `draws: one` is one draw wherever it has the same name"
    yield fresh + once if world else fresh
    for name, parts in merged.same:
        yield f"`{name}` is one and the same in {listing(labels[part] for part in parts)}"


def _told(
    total: Total,
    found: Certified,
    solver: _Together,
    releases: Sequence[Release],
    labels: Sequence[str],
) -> Total:
    """The total with its worst change, or with the reasons why there is no bound."""
    if found.solutions:
        solution = found.solutions[0]
        theorem, _ = select(solver, solution)
        return replace(_added(total, solution, solver, releases, labels), theorem=theorem)
    if total.finite:
        shown = next(at for at in total.at_delta if at.value is not None)
        return replace(total, worst=shown.worst)
    tried = [solver.solve(notion) for notion in notions(solver.problem)]
    chosen = bool(total.at_delta)
    why = why_none(solver.problem, solver.tops, tried, total.at_delta, chosen)
    return replace(total, reasons=tuple(why))


def _added(
    total: Total,
    solution: Solution,
    solver: _Together,
    releases: Sequence[Release],
    labels: Sequence[str],
) -> Total:
    """The total with its worst change, and what each mechanism adds there."""

    def span(path: Path) -> Span:
        return releases[int(path[0])].resolved.source.span(path[1:])

    home = {name: i for i, names in enumerate(solver.names) for name in names}
    entries = tuple(
        Addition(
            each.mechanism,
            labels[home[each.mechanism]],
            each.span.line if each.span else 0,
            each.bound,
        )
        for each in shares_of(solution, span)
    )
    return replace(total, worst=worst_change(solution, span).says, entries=entries)


class _Together(Solver):
    """Solves a merged problem: the losses of its islands add up."""

    def __init__(self, merged: Merged) -> None:
        super().__init__(merged.problem)
        self.names = [list(names.values()) for names in merged.names]
        self._islands: list[Solver] = []
        tops = {id(root): (root, top) for root, top in self.tops}
        for problem in merged.islands:
            island = Solver.__new__(Solver)
            island.problem = problem
            island.tops = [tops[id(root)] for root in problem.roots]
            self._islands.append(island)

    def _joint(self, accountant: Accountant) -> tuple[Loss, list[tuple[Place, State, Answer]]]:
        found = [island._joint(accountant) for island in self._islands]
        loss = accountant.algebra.add(each for each, _ in found)
        return loss, [answer for _, answers in found for answer in answers]
