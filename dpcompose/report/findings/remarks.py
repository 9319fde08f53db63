"""Remarks on a valid spec: declarations that cost more than needed, mislead, or change nothing.

Every remark is a `Finding` with its path in the spec; positions in the text come later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dpcompose.core.change.effects import MapOutcome, TooMany
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.kind import Gives, fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.maps.value import Value
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.change.units import PAIR, ChangeUnit, Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.visits import Visit
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.private_selection import Selected
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Dataset, Domain, Goal, Mechanism, Path, Problem, Root
from dpcompose.core.model.tree import Edge, Place
from dpcompose.core.search.solver import ChangeCharge, Solution
from dpcompose.errors import Diagnostic, Level
from dpcompose.report.wording import count_text, listing
from dpcompose.source import Source

#: The codes of this module with their meanings.
FINDING_CODES = {
    "DPC201": "A guarantee for bounded neighbours does not survive the filter above its dataset.",
    "DPC202": "A mechanism's neighbours were not stated, and the default matters here.",
    "DPC203": "No mechanism reads a dataset, or any block of a partition.",
    "DPC204": "A mechanism adds nothing in the worst case.",
    "DPC205": "A statement on an ancestor is looser than it needs to be.",
    "DPC206": "Every copy of a mechanism reads a fresh sample of its own.",
    "DPC207": "A sample lowers no ε: what reads it is not stated for what the sample hides.",
    "DPC215": "Rows belong to units, and one row is protected.",
    "DPC216": "A mechanism looks like the best of several runs, and how many is not said.",
    "DPC217": "A sample looks like the batches of a training, which most loaders do not draw so.",
    "DPC230": "What is learnt of columns is asked, and nothing tells one from another.",
}


#: The codes of warnings; the others are notes.
_WARNINGS = frozenset({"DPC201", "DPC202", "DPC208", "DPC211", "DPC221", "DPC222"})


class Finding(NamedTuple):
    """A remark: code, message, path in the spec, and a hint."""

    code: str
    message: str
    path: Path
    hint: str | None = None

    def at(self, source: Source) -> Diagnostic:
        """Returns the remark with its position in a spec."""
        level: Level = "warning" if self.code in _WARNINGS else "note"
        return Diagnostic(self.code, self.message, source.span(self.path), self.hint, level)


def findings(
    problem: Problem, tops: list[tuple[Root, Place]], solution: Solution | None
) -> list[Finding]:
    """Returns all remarks on a problem and its worst change, at most one for each code and path.

    `solution`: the worst case; None if there is none in one notion.
    """
    found: dict[tuple[str, Path], Finding] = {}
    for each in _all(problem, tops, solution):
        found.setdefault((each.code, each.path), each)
    return list(found.values())


def _all(
    problem: Problem, tops: list[tuple[Root, Place]], solution: Solution | None
) -> Iterator[Finding]:
    """Yields the notes and warnings on a valid spec in the order found: those on its declarations,
    then those on its worst change, if there is one."""
    goal = problem.goal
    rows: Rows = {}
    capped: set[int] = set()
    for root, top in tops:
        yield from _fresh(root.dataset)
        yield from _units_unprotected(problem.goal, root)
        for place in top.subtree():
            yield from _unread(place)
            yield from _tuned(place.dataset)
            if goal.relation.kind is RelationKind.USER and (
                isinstance(place.dataset.made_by, Cap)
                or (place.edge is not None and id(place.edge.parent) in capped)
            ):
                capped.add(id(place))
                for _, placed in place.mechanisms:
                    yield from _taken_for_users(place, placed)
            if goal.relation.kind is not RelationKind.BOUNDED:
                continue
            rows[id(place)] = _replaced(goal, place, rows)
            for _, placed in place.mechanisms:
                yield from _bounded_below_filter(place, placed, rows)
                yield from _defaulted(root, place, placed, rows)
    if solution is None:
        return
    yield from _idle(tops, solution)
    for visit in solution.visits:
        yield from _not_amplified(problem.goal, solution, visit)
    for charge in solution.charges:
        yield from _looser(solution, charge)


def _units_unprotected(goal: Goal, root: Root) -> Iterator[Finding]:
    """Yields a remark (DPC215) where rows are protected one by one, and belong to units."""
    one_row = goal.relation.kind in (RelationKind.UNBOUNDED, RelationKind.BOUNDED)
    if root.unit is not None and one_row and goal.distance == 1:
        yield Finding(
            "DPC215",
            f"one row is protected, not all rows of one `{root.unit}`",
            root.dataset.path,
            f"write `protect: user` to protect everything that one `{root.unit}` has",
        )


#: What people call a release whose settings were chosen by runs on the same data.
_TUNED = re.compile(
    r"(?i)\b(tuned|tuning|hyper[- ]?param\w*|grid[- ]search\w*|sweep|best (run|model))\b"
)


def _tuned(dataset: Dataset) -> Iterator[Finding]:
    """Yields a remark (DPC216) for a mechanism that is called tuned and is one single run."""
    for each in dataset.mechanisms:
        word = _TUNED.search(each.name.replace("_", " "))
        chosen = any(isinstance(said.guarantee.noise, Selected) for said in each.statements)
        if word is not None and each.count == 1 and not chosen:
            yield Finding(
                "DPC216",
                f"`{each.name}` is charged as one run: settings that were chosen on the same data "
                "cost more",
                each.path,
                "the best of several runs is `mechanism: select` with the law of their number; "
                "where all runs are released write `count: n`",
            )


def _unread(place: Place) -> Iterator[Finding]:
    """Yields a remark (DPC203) for a dataset, or a partition, below which nothing is read."""
    edge = place.edge
    if not place.read and edge is not None and edge.partition is None and edge.parent.read:
        name = place.dataset.name
        yield Finding(
            "DPC203",
            f"no mechanism reads `{name}`, nor anything made of it",
            place.dataset.path,
            f"remove it, or let a mechanism read `{name}`",
        )
    for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
        if place.read and not any(block.read for block in blocks):
            yield Finding(
                "DPC203",
                f"no mechanism reads any block of `{partition.name}`",
                partition.path,
                "remove it, or let a mechanism read `" + partition.name + ".*`",
            )


def _bounded_below_filter(
    place: Place, placed: tuple[Placed, ...], rows: Rows
) -> Iterator[Finding]:
    """Yields a remark (DPC201) for a bounded-only guarantee on a dataset below a filter.

    A replaced row may pass the filter before and not after, which is no replacement there.
    """
    if any(each.statement.relation.kind is not RelationKind.BOUNDED for each in placed):
        return
    if any(
        each.statement.up and (each.usable or _as_part(place, each.statement.up)) for each in placed
    ):
        return
    edge = place.edge
    while edge is not None:
        if _filters(edge) and _splits(edge, rows):
            name = place.dataset.name
            while place.edge is not edge:
                assert place.edge is not None
                place = place.edge.parent
            top = edge.parent.dataset.name
            yield Finding(
                "DPC201",
                f"only a bounded guarantee is stated on `{name}`, below the filter "
                f"`{place.dataset.name}`: a replaced row may pass it before and not after",
                placed[0].statement.path,
                f"state the guarantee on the table before the filter (`stated_on: {top}`), or give "
                "its unbounded guarantee",
            )
            return
        edge = edge.parent.edge


def _filters(edge: Edge) -> bool:
    """Returns whether an edge is a filter: a map that keeps or drops each row by itself."""
    if edge.made_by is None:
        return False
    conduct = edge.made_by.conduct()
    return conduct.gives is Gives.ONE and conduct.may_drop


#: What a replaced row of the root is at each place, by the place's identity; None: unchanged there.
Rows = dict[int, ChangeUnit | None]


def _splits(edge: Edge, rows: Rows) -> bool:
    """Returns whether an edge may keep one end of a replaced row and drop the other."""
    row = rows[id(edge.parent)]
    if row is None or edge.made_by is None:
        return False
    listed = fates(edge.made_by, row, edge.parent.traits)
    return isinstance(listed, TooMany) or any(
        unit.kind is Kind.SINGLE for fate in listed for unit, _ in fate.units
    )


def _replaced(goal: Goal, place: Place, rows: Rows) -> ChangeUnit | None:
    """Returns what a replaced row of the root is at a place; None if nothing changes there.

    It is computed from what the row is at the place above, in `rows`.
    """
    edge = place.edge
    if edge is None:
        return PAIR._replace(
            kept=tuple(sorted(goal.relation.required_columns(place.traits.columns) or ()))
        )
    row = rows[id(edge.parent)]
    # A graph has no replaced rows; in a table made from it any row may be replaced.
    if row is None or edge.made_by is None or edge.parent.traits.shape is Shape.GRAPH:
        return row
    listed = fates(edge.made_by, row, edge.parent.traits)
    if listed == [MapOutcome(())]:
        return None
    found = [] if isinstance(listed, TooMany) else [u for each in listed for u, _ in each.units]
    kept = [set(unit.kept) for unit in found if unit.kind is Kind.PAIR]
    return PAIR._replace(kept=tuple(sorted(set.intersection(*kept))) if kept else ())


def _as_part(place: Place, up: int) -> bool:
    """Returns whether a statement `up` edges above a place holds there: a sample between then
    counts as part of the release."""
    for _ in range(up):
        if place.whole is not None:
            return True
        assert place.edge is not None
        place = place.edge.parent
    return False


def _defaulted(
    root: Root,
    place: Place,
    placed: tuple[Placed, ...],
    rows: Rows,
) -> Iterator[Finding]:
    """Yields a remark (DPC202) where the default relation, bounded, does not cover added rows."""
    if root.domain is Domain.FIXED_SIZE:
        return
    for each in placed:
        statement = each.statement
        if statement.relation_given or statement.up or place.edge is None:
            continue
        if _stays_bounded(place, rows):
            continue
        yield Finding(
            "DPC202",
            "this guarantee does not say for which neighbours it holds; bounded is assumed, which "
            f"covers only replaced rows of `{place.dataset.name}`",
            statement.path,
            "add `relation: unbounded` or `relation: bounded`, whichever was proved",
        )


def _taken_for_users(place: Place, placed: tuple[Placed, ...]) -> Iterator[Finding]:
    """Yields a remark (DPC202) where the default relation is user, but one row may be meant."""
    unit = place.traits.unit
    for each in placed:
        statement = each.statement
        if statement.relation_given or statement.up or unit is None or place.traits.rows_are_units:
            continue
        yield Finding(
            "DPC202",
            "this guarantee does not say for which neighbours it holds; user is assumed, by "
            f"which all rows of one `{unit}` that the cap leaves are one step",
            statement.path,
            f"add `relation: unbounded` where it was proved for one row, `relation: user` where "
            f"for all rows of one `{unit}`",
        )


def _stays_bounded(place: Place, rows: Rows) -> bool:
    """Returns whether a replaced row of the root is at a place always a replaced row, never one
    added or removed."""
    while place.edge is not None:
        edge = place.edge
        if edge.partition is not None:
            row = rows[id(edge.parent)]
            if row is None:
                return True
            if not edge.partition.kind.where(row.kept).stays:
                return False
        elif _filters(edge) and _splits(edge, rows):
            return False
        place = edge.parent
    return True


def _idle(tops: list[tuple[Root, Place]], solution: Solution) -> Iterator[Finding]:
    """Yields a remark (DPC204) on the mechanisms that the worst change does not reach, if any."""
    if not solution.finite:
        return
    touched = {charge.mechanism.name for charge in solution.charges}
    idle: dict[str, Mechanism] = {}
    for _, top in tops:
        for place in top.subtree():
            if isinstance(place.dataset.made_by, Value) and place.dataset.made_by.joint:
                continue  # all may go to another value as well
            for mechanism, _ in place.mechanisms:
                if mechanism.name not in touched:
                    idle.setdefault(mechanism.name, mechanism)
    if not idle:
        return
    first = next(iter(idle.values()))
    verb = "adds" if len(idle) == 1 else "add"
    yield Finding(
        "DPC204",
        f"{listing(idle)} {verb} nothing in the worst case: the bound stays the same without "
        + ("it" if len(idle) == 1 else "them"),
        first.path,
    )


def _looser(solution: Solution, charge: ChangeCharge) -> Iterator[Finding]:
    """Yields a remark (DPC205) for a statement on an ancestor that the mechanism's others beat.

    All points that one entry of the spec states, such as a profile, are compared as a whole.
    """
    if not 1 < len(charge.placed) <= 20:
        return
    algebra = solution.algebra

    def cost(placed: tuple[Placed, ...]) -> Loss:
        """Returns the loss of the mechanism for the change, by the statements `placed` alone."""
        return algebra.times(algebra.charge(placed, charge.state), charge.mechanism.count)

    for each in charge.placed:
        if not each.statement.up or each.statement.implied:
            continue
        own = tuple(o for o in charge.placed if o.statement.path == each.statement.path)
        others = tuple(o for o in charge.placed if o.statement.path != each.statement.path)
        if others and cost(others) == charge.loss and cost(own) != charge.loss:
            where = charge.place.stated_on(each.statement)
            yield Finding(
                "DPC205",
                f"the statement of `{charge.mechanism.name}` on `{where.dataset.name}` is not "
                "used: its other statements give less",
                each.statement.path,
            )


# ---------------------------------------------------------------------------------------------
# Samples


def _fresh(root: Dataset) -> Iterator[Finding]:
    """Yields a remark for each sample below a root that is drawn afresh for each copy of a
    mechanism: DPC217 where it looks like the batches of a training, else DPC206."""
    copies: dict[str, dict[str, Mechanism]] = {}
    by_chance: dict[str, Path] = {}
    stack: list[tuple[Dataset, Dataset | None]] = [(root, None)]
    while stack:
        dataset, drawn = stack.pop()
        sample = dataset.made_by
        afresh = isinstance(sample, Sample) and not sample.shared and sample.cycle == 1
        if drawn is None and afresh and not isinstance(sample, Allocate):
            drawn = dataset
            if isinstance(sample, Sample) and sample.size is None and sample.plain:
                by_chance[dataset.name] = (*dataset.path, "map")
        for mechanism in dataset.mechanisms:
            if drawn is not None and mechanism.count > 1:
                copies.setdefault(drawn.name, {}).setdefault(mechanism.name, mechanism)
        below = list(dataset.derived)
        for partition in dataset.partitions:
            below.extend(each.dataset for each in partition.classes)
        stack.extend((each, drawn) for each in reversed(below))
    for name, named in copies.items():
        first, *others = named.values()
        gaussian = (
            each
            for each in named.values()
            if any(isinstance(said.guarantee.noise, Gaussian) for said in each.statements)
        )
        steps = next((each for each in gaussian if each.count >= _MANY_STEPS), None)
        if steps is not None and name in by_chance:
            count = count_text(steps.count)
            says = f"each of the {count} steps of `{steps.name}` draws `{name}` anew by Poisson "
            says += "sampling, each row by chance: most data loaders shuffle instead"
            hint = (
                "batches of a loader that shuffles are `map: {kind: batches, epochs: …}`, and cost "
            )
            yield Finding("DPC217", says, by_chance[name], f"{hint}more")
            continue
        each = (
            f"copy i of {listing(named)} reads the i-th fresh sample `{name}`"
            if others
            else f"each of the {count_text(first.count)} copies of `{first.name}` reads its own "
            f"fresh sample `{name}`"
        )
        hint = f"for one sample that all of them read write `draws: one` at `{name}`"
        if others:
            hint += "; for mechanisms that run one after the other give each a sample of its own"
        yield Finding("DPC206", each, first.path, hint)


#: So many Gaussian sums look like the steps of a training.
_MANY_STEPS = 100


def _not_amplified(goal: Goal, solution: Solution, visit: Visit) -> Iterator[Finding]:
    """Yields a remark (DPC207) if a Poisson sample on the worst change's path lowers no ε."""
    place = visit.place
    sample = place.dataset.made_by
    if not isinstance(sample, Sample) or sample.size is not None or not sample.plain:
        return
    if place.above is not None or not solution.finite:
        return
    kinds = {leaf.kind for leaf in all_leaves(visit.state)}
    assert visit.via is not None and place.edge is not None
    public = solution.algebra.times(visit.answer.loss, place.edge.rounds)
    if kinds - {Kind.SINGLE, Kind.PAIR} and visit.via.loss == public != solution.algebra.zero:
        yield Finding(
            "DPC207",
            f"the sample `{place.dataset.name}` lowers no loss for {goal.relation} neighbours: it "
            "hides one row added, removed or replaced",
            (*place.dataset.path, "map"),
            "sample a table in which the protected change is one row"
            + (", such as one grouped by the unit" if Kind.USER in kinds else ""),
        )
    elif Kind.PAIR in kinds:
        for below in place.subtree():
            for mechanism, placed in below.mechanisms:
                yield from _bounded_alone(place, mechanism, placed)


def _bounded_alone(
    sampled: Place, mechanism: Mechanism, placed: tuple[Placed, ...]
) -> Iterator[Finding]:
    """Yields a remark (DPC207) for a bounded-only mechanism below a Poisson sample."""
    usable = [each.statement for each in placed if each.usable]
    if usable and all(each.relation.kind is RelationKind.BOUNDED for each in usable):
        yield Finding(
            "DPC207",
            f"`{mechanism.name}` is stated for replaced rows alone, so that the Poisson sample "
            f"`{sampled.dataset.name}` lowers no ε of what reads it: both rows may be drawn",
            usable[0].path,
            "give its unbounded guarantee (`relation: unbounded`), or sample a fixed number of "
            "rows (`size`, `of`)",
        )
