"""Several releases on the same people, composed as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dpcompose.core.at_delta.filters import default_notion
from dpcompose.core.model.problem import Path
from dpcompose.core.notions.guarantee import Budget, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role
from dpcompose.errors import Diagnostic, Span, printable
from dpcompose.planning.ledger.merging import (
    Merged,
    MergedSolver,
    drawn_apart,
    merge,
    name_assumptions,
)
from dpcompose.planning.ledger.releases import Release, by_protection, disagreement, protected
from dpcompose.planning.ledger.remaining import Remaining, remaining_if_fixed, remaining_of_filters
from dpcompose.planning.ledger.rewrites import RecordCheck
from dpcompose.report import At, Bound, FilterRecord, Share, Verdict
from dpcompose.report.assumptions import OF_FILTERS, meanwhile
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.explanation import worst_change
from dpcompose.report.findings.reasons import why_none
from dpcompose.report.ledger import NoFilter, count, decision, guarantee, passed, read
from dpcompose.report.proof_steps import proof_of
from dpcompose.report.shares import of_solution as shares_of
from dpcompose.report.verdict import deltas_of
from dpcompose.report.wording import listing


@dataclass(frozen=True, slots=True)
class RecordStep:
    """A record of releases after one more of them: when it came, and what was spent and left.

    `record`: None where no filter counts it.
    """

    label: str
    came: str
    record: FilterRecord | None


@dataclass(frozen=True, slots=True)
class Total:
    """The total loss of all releases on one population.

    `population`: None for specs that name none, added up because that was asked for. `alone`: the
    bound of each release by itself. `refused`: why the releases cannot be added up; there is then
    no number, and `groups` are the releases by what they protect, where they differ in that.
    `reasons`: why there is no finite bound. `assumed`: what follows from equal names only.
    `planned`: why all parameters are fixed in advance; None where they may be chosen along the way,
    so that the bound is the budget, `record` what a filter has counted, and `realised` what has
    been spent where no budget makes a guarantee of it. `remaining`: the largest ε, ρ and μ of one
    more mechanism, where asked for. `before`: the record without the releases that are new.
    `steps`: the record after each release, where asked for. `checked`: what became of the releases
    that a revision had, where asked for.
    """

    population: str | None
    files: tuple[str, ...]
    relation: str
    bounds: tuple[Bound, ...] = ()
    at_delta: tuple[At, ...] = ()
    alone: tuple[tuple[str, Bound | None], ...] = ()
    theorem: str | None = None
    worst: tuple[str, ...] = ()
    shares: tuple[Share, ...] = ()
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
    checked: RecordCheck | None = None

    @property
    def finite(self) -> bool:
        """Returns whether a finite number is certified: a bound, or an ε at some δ."""
        return bool(self.bounds) or any(at.value is not None for at in self.at_delta)


@dataclass(frozen=True, slots=True)
class Sum:
    """The totals of all populations, and the specs that were not added up.

    `findings`: what was found of a record beside what it costs, each with the file that it is about
    and its lines.
    """

    totals: tuple[Total, ...]
    unnamed: tuple[str, ...]
    findings: tuple[tuple[str, Sequence[str], Diagnostic], ...] = ()


@dataclass(frozen=True, slots=True)
class TotalAsked:
    """The options of adding up the losses of several releases: a budget, the δ at which ε is
    stated, and what the specs share.

    `apart`: equal names in two specs do not mean the same.
    `limit`: None for the one that the releases name. `fixed`: why all parameters were fixed before
    the first output; None: they may have been chosen along the way, but where every spec says that
    they were not. `filter`: the notion in which the budget is then counted, None for the usual one.
    `rest`: whether to say what one more mechanism may have. `over_time`: whether to give the record
    after each release, in their order. `part`: of a ledger that is added up, of which the record
    alone matters. `since`: a revision whose releases are held against those of now. `reached`: is
    told which release of a record over time is next.
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
    since: str | None = None
    reached: Callable[[str], None] | None = None


def add_up(releases: Sequence[Release], asked: TotalAsked) -> Sum:
    """Returns the total of each population, in the order of the specs."""
    groups: dict[str | None, list[Release]] = {}
    for each in _with_labels(releases):
        groups.setdefault(
            None if asked.everything else each.resolved.population or None, []
        ).append(each)
    unnamed = () if asked.everything else tuple(each.label for each in groups.pop(None, ()))
    return Sum(tuple(_total(*group, asked) for group in groups.items()), unnamed)


def _with_labels(releases: Sequence[Release]) -> Iterator[Release]:
    """Yields the releases with distinct labels: the second release of one name gets a number after
    it."""
    seen: Counter[str] = Counter()
    for each in releases:
        seen[each.label] += 1
        times = seen[each.label]
        yield each if times == 1 else replace(each, label=f"{each.label} ({times})")


def _total(population: str | None, releases: Sequence[Release], asked: TotalAsked) -> Total:
    """Returns the total of the releases on one population, or why they cannot be added up."""
    files = tuple(each.label for each in releases)
    total = Total(population, files, protected(releases[0]))
    # A release of a ledger without a total budget has its own budget as the limit.
    releases = [
        replace(each, limits=(each.resolved.budget,))
        if each.resolved.ledger and each.resolved.budget is not None and not each.limits
        else each
        for each in releases
    ]
    limits = next((each.limits for each in releases if each.limits), ())
    if asked.limit is not None:
        limits = (asked.limit,)
    planned = _reason_for_fixed(releases, asked)
    why = disagreement(
        releases,
        budgets=asked.limit is None,
        fixed=asked.fixed,
        counted_in=asked.filter,
        usual=tuple(dict.fromkeys(map(default_notion, limits))),
    )
    if why is not None:
        return replace(total, refused=why, groups=by_protection(releases))
    deltas = [*asked.deltas]
    for each in releases:
        own = each.resolved
        deltas += [*each.deltas, *own.deltas, *deltas_of(own.budget)]

    def certified(merged: Merged) -> tuple[MergedSolver, CertifiedRelease]:
        """Returns a solver of the merged problem and its certified bounds."""
        solver = MergedSolver(merged)
        return solver, certify(merged.problem, limits, deltas, solver=solver)

    world = not asked.apart
    merged = merge(releases, world)
    twice = drawn_apart(merged) if world and population is not None else None
    if twice is not None:
        name, parts = twice
        why = (
            f"{listing(releases[part].label for part in parts)} say that `{name}` is drawn once "
            "(`draws: one`), but not the same of what it is drawn from, or how: write it alike in "
            "all of them and below nothing random, or under different names where they are "
            "different draws"
        )
        return replace(total, refused=why)
    # Each release with its own word for its own roots costs what it costs alone.
    others = merge(releases, False) if merged.contested else None
    if planned is None:
        whole = _ledger(total, releases, asked, limits, deltas, merged, others)
        return _over_time(whole, releases, asked, limits)
    solver, found = certified(merged)
    if others is not None:
        alone = certified(others)
        if _comparison_key(alone[1]) < _comparison_key(found):
            merged, (solver, found) = others, alone
    verdicts = [found.held(each) for each in limits]
    total = replace(
        total,
        bounds=found.bounds,
        at_delta=found.at_delta,
        alone=tuple(_alone(releases)),
        # On the first limit that is not met, or else on the first one.
        verdict=next((each for each in verdicts if not each.ok), next(iter(verdicts), None)),
        assumed=(
            "maps, blocks, parameters and their number were fixed before the first output",
            *(each.says for each in meanwhile(merged.problem)),
            *name_assumptions(merged, files, world and population is not None),
        ),
        planned=planned,
        remaining=remaining_if_fixed(merged, limits) if asked.rest and limits else None,
    )
    return _total_with_reasoning(total, found, solver, releases)


def _reason_for_fixed(releases: Sequence[Release], asked: TotalAsked) -> str | None:
    """Returns why all parameters were fixed in advance; None unless all releases say so."""
    if asked.fixed is not None or asked.part:
        return asked.fixed
    reasons = [each.resolved.planned for each in releases]
    said = [each for each in reasons if each is not None]
    return "; ".join(dict.fromkeys(said)) if len(said) == len(reasons) else None


def _ledger(
    total: Total,
    releases: Sequence[Release],
    asked: TotalAsked,
    limits: Sequence[Budget],
    deltas: Sequence[Fraction],
    merged: Merged,
    apart: Merged | None,
) -> Total:
    """Returns the total of releases whose parameters may have been chosen along the way.

    `merged`: the problem with shared names; `apart`: the one in which equal names mean different
    things, None if its sum is no smaller. The sum of each bounds the loss for every pair of
    neighbours, so that the smaller one is used.
    """
    wanted = asked.filter or next(
        (each.resolved.filter for each in releases if each.resolved.filter is not None), None
    )
    points = dict.fromkeys([*(delta for each in limits for delta in deltas_of(each)), *deltas])
    found, solution = _counted(total, merged, asked, limits, wanted, [*points])
    if apart is not None:
        other, other_solution = _counted(total, apart, asked, limits, wanted, [*points])
        if _spent(other) < _spent(found):
            found, solution, merged = other, other_solution, apart
    if asked.part:
        return found
    world = not asked.apart and total.population is not None
    notion = None if solution is None else solution.notion
    found = replace(
        found,
        alone=tuple(_alone(releases, notion)),
        assumed=(
            *(each.says for each in OF_FILTERS),
            *(each.says for each in meanwhile(merged.problem)),
            _record_assumption(asked),
            *name_assumptions(merged, total.files, world),
        ),
    )
    if solution is None:
        return found
    theorem = in_role(Role.FILTER, solution.notion).id if found.bounds else None
    added = _with_additions(found, solution, MergedSolver(merged), releases)
    return replace(added, theorem=theorem)


def _record_assumption(asked: TotalAsked) -> str:
    """Returns the assumption that recorded releases were not changed or removed later."""
    if asked.since is None:
        return (
            "each release stands here as it was made: none was changed or taken out afterwards "
            "(`check --ledger FOLDER --changed-since REV`, and for a folder `total --over-time`, "
            "look that up in git)"
        )
    when = "came into the history of " if asked.over_time else "stood in "
    return (
        f"each release {when}{printable(asked.since)} as it was made: what was changed or taken "
        "out before cannot be seen there"
    )


def _over_time(
    found: Total,
    releases: Sequence[Release],
    asked: TotalAsked,
    limits: Sequence[Budget],
) -> Total:
    """Returns the total with the record before the new releases, and over time if asked."""
    if found.record is None:
        return found
    alone = replace(asked, rest=False, over_time=False, part=True, filter=found.record.notion)
    if asked.limit is None and limits:
        alone = replace(alone, limit=limits[0])

    def record(some: Sequence[int]) -> FilterRecord | None:
        """Returns the filter record of some of the releases, by index; None for none."""
        if not some:
            return None
        part = [replace(releases[i], new=False) for i in some]
        return _total(found.population, part, alone).record

    known = [i for i, each in enumerate(releases) if not each.new]
    before = record(known) if len(known) < len(releases) else None
    if len(known) < len(releases) and not found.finite:
        new = listing(each.label for each in releases if each.new)
        found = replace(found, reasons=(f"{new} may not be released. {found.reasons[0]}",))
    steps: tuple[RecordStep, ...] = ()
    if asked.over_time:
        for i, each in enumerate(releases):
            if asked.reached is not None:
                asked.reached(f"{each.label}, release {i + 1} of {len(releases)},")
            steps = (*steps, RecordStep(each.label, each.came, record(range(i + 1))))
    return replace(found, before=before, steps=steps)


def _spent(found: Total) -> Fraction:
    """Returns the share of the limit that is spent, by which sums of the same releases are
    compared."""
    if found.record is not None:
        return found.record.share
    return Fraction(10**9) if found.realised is None else found.realised.value


def _comparison_key(found: CertifiedRelease) -> tuple[int, Fraction]:
    """Returns the key by which bounds of the same releases are compared; the least is the best."""
    if found.bounds:
        return 0, found.bounds[0].value
    values = [at.value for at in found.at_delta]
    known = [value for value in values if value is not None]
    return 1 + len(values) - len(known), sum(known, Fraction(0))


def _alone(
    releases: Sequence[Release], notion: Notion | None = None
) -> Iterator[tuple[str, Bound | None]]:
    """Yields each release's label with its own bound, None if not finite.

    `notion`: where given, the loss that a filter in this notion counts is meant instead of the
    bound.
    """
    for each in releases:
        problem = each.resolved.problem
        if notion is None:
            bounds = certify(problem).bounds
        else:
            bounds = tuple(map(bound_of, Solver(problem).summed(notion).quantities))
        yield each.label, bounds[0] if bounds else None


def _total_with_reasoning(
    total: Total,
    found: CertifiedRelease,
    solver: MergedSolver,
    releases: Sequence[Release],
) -> Total:
    """Returns the total with its theorem, its worst change and what each mechanism adds, or with
    the reasons why there is no bound."""
    if found.solutions:
        solution = found.solutions[0]
        theorem = next(iter(proof_of(solver, solution).theorems), None)
        return replace(_with_additions(total, solution, solver, releases), theorem=theorem)
    if total.finite:
        shown = next(at for at in total.at_delta if at.value is not None)
        return replace(total, worst=shown.worst)
    return replace(total, reasons=tuple(why_none(found)))


def _with_additions(
    total: Total,
    solution: Solution,
    solver: MergedSolver,
    releases: Sequence[Release],
) -> Total:
    """Returns the total with its worst change, and what each mechanism adds to the bound there."""

    def span(path: Path) -> Span:
        """Returns the position of a merged path in the spec of its release."""
        return releases[int(path[0])].resolved.source.span(path[1:])

    home = {name: i for i, names in enumerate(solver.names) for name in names}
    shares = tuple(
        each._replace(file=releases[home[each.mechanism]].label)
        for each in shares_of(solution, span)
    )
    return replace(total, worst=worst_change(solution, span).says, shares=shares)


# ---------------------------------------------------------------------------------------------
# Ledgers of several specs: what a filter counts of them


#: What is said where there is no budget.
NO_BUDGET = (
    "no budget is given, and a later release may have been decided on after seeing an earlier one: "
    "the realised sum is no guarantee. Way out: a budget that was fixed before the first output "
    "(`--epsilon 1 --delta 1e-6`, --rho or --mu, or `total-budget` in the settings); or, if all "
    "was planned together before the first output, `--fixed REASON`"
)


def _counted(
    total: Total,
    merged: Merged,
    asked: TotalAsked,
    limits: Sequence[Budget],
    wanted: Notion | None,
    points: Sequence[Fraction],
) -> tuple[Total, Solution | None]:
    """Returns the total of a record of releases compared with budgets, each of which is a separate
    filter, and its worst change where one is known.

    `wanted`: the notion of the filters, None for the default one.
    """
    problem = merged.problem
    if not limits:
        solver = MergedSolver(merged)
        found = next((each for each in map(solver.summed, notions(problem)) if each.finite), None)
        realised = None if found is None else bound_of(found.quantities[0])
        return replace(total, realised=realised, reasons=(NO_BUDGET,)), found
    try:
        held = [count(problem, MergedSolver(merged), each, wanted) for each in limits]
    except NoFilter as none:
        verdict = Verdict(limits[0], False, None, none.held)
        return replace(total, reasons=(str(none),), verdict=verdict), None
    decisions = [decision(*each) for each in zip(limits, held, strict=True)]
    verdict = next((each for each in decisions if not each.ok), decisions[0])
    counted = held[decisions.index(verdict)]
    if asked.part:
        record = counted.record((), (), None)
    else:
        fixed = certify(problem, limits, points, solver=MergedSolver(merged), compared=False)
        record = counted.record(points, fixed.at_delta, next(iter(points), None))
    total = replace(
        total,
        record=record,
        verdict=verdict,
        remaining=remaining_of_filters(held, problem.goal.distance) if asked.rest else None,
    )
    if not verdict.ok:
        return replace(total, reasons=(passed(record),)), counted.solution
    own = {delta for each in limits for name, delta in each.parameters if name == "delta"}
    at_delta, _ = read(counted.filter, [each for each in points if each not in own], [])
    bounds = tuple(guarantee(*each) for each in zip(limits, (c.filter for c in held), strict=True))
    return replace(total, bounds=bounds, at_delta=at_delta), counted.solution
