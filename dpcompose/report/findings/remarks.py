"""Remarks on a valid spec that save people: what is asked for but costs, misleads or does nothing.

Every finding is a `Finding` with the place in the spec that it speaks of; positions come later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from dpcompose.core.change.effects import MapOutcome, TooMany
from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.kind import Gives, fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.change.units import PAIR, ChangeUnit, Kind, all_leaves
from dpcompose.core.loss.algebras import Loss
from dpcompose.core.loss.cost import Coster
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Dataset, Domain, Goal, Mechanism, Path, Problem, Root
from dpcompose.core.model.tree import Edge, Place
from dpcompose.core.search.solver import ChangeCharge, Solution, Visit
from dpcompose.errors import Level
from dpcompose.report.wording import count_text, listing

#: The codes of this module with their meanings.
FINDING_CODES = {
    "DPC201": "A guarantee for bounded neighbours does not survive the filter above its dataset.",
    "DPC202": "A mechanism's neighbours were not stated, and the default matters here.",
    "DPC203": "No mechanism reads any block of a partition.",
    "DPC204": "A mechanism adds nothing in the worst case.",
    "DPC205": "A statement on an ancestor is looser than it needs to be.",
    "DPC206": "Every copy of a mechanism reads a fresh sample of its own.",
    "DPC207": "A sample lowers no ε: what reads it is not stated for what the sample hides.",
    "DPC230": "What is learnt of columns is asked, and nothing tells one from another.",
}


class Finding(NamedTuple):
    """A remark with its place."""

    code: str
    level: Level
    message: str
    path: Path
    hint: str | None = None


def findings(
    problem: Problem, tops: list[tuple[Root, Place]], solution: Solution | None
) -> list[Finding]:
    """Returns all remarks on a problem and its worst case (None: there is none in one notion)."""
    found: dict[tuple[str, Path], Finding] = {}
    for each in _all(problem, tops, solution):
        found.setdefault((each.code, each.path), each)
    return list(found.values())


def _all(
    problem: Problem, tops: list[tuple[Root, Place]], solution: Solution | None
) -> Iterator[Finding]:
    goal = problem.goal
    rows: Rows = {}
    capped: set[int] = set()
    for root, top in tops:
        yield from _fresh(root.dataset)
        for place in top.subtree():
            yield from _unread(place)
            if goal.relation.kind is RelationKind.USER and _is_capped(place, capped):
                capped.add(id(place))
                for mechanism, placed in place.mechanisms:
                    yield from _taken_for_users(place, mechanism, placed)
            if goal.relation.kind is not RelationKind.BOUNDED:
                continue
            rows[id(place)] = _replaced(goal, place, rows)
            for mechanism, placed in place.mechanisms:
                yield from _bounded_below_filter(place, mechanism, placed, rows)
                yield from _defaulted(root, place, mechanism, placed, rows)
    if solution is None:
        return
    yield from _idle(tops, solution)
    for visit in solution.visits:
        yield from _not_amplified(problem.goal, solution, visit)
    for felt in solution.felt:
        yield from _looser(solution, felt)


def _unread(place: Place) -> Iterator[Finding]:
    for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
        if not any(block.read for block in blocks):
            yield Finding(
                "DPC203",
                "note",
                f"no mechanism reads any block of `{partition.name}`",
                partition.path,
                "remove it, or let a mechanism read `" + partition.name + ".*`",
            )


def _bounded_below_filter(
    place: Place, mechanism: Mechanism, placed: tuple[Placed, ...], rows: Rows
) -> Iterator[Finding]:
    """Only bounded guarantees, on a dataset that a replaced row may enter or leave."""
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
                "warning",
                f"`{mechanism.name}` states only a bounded guarantee on `{name}`, below the filter "
                f"`{place.dataset.name}`: a replaced row may pass it before and not after",
                placed[0].statement.path,
                f"state the guarantee on the table before the filter (`stated_on: {top}`), or give "
                "its unbounded guarantee",
            )
            return
        edge = edge.parent.edge


def _filters(edge: Edge) -> bool:
    """Whether a map lets a row pass or not, by itself."""
    if edge.made_by is None:
        return False
    conduct = edge.made_by.conduct()
    return conduct.gives is Gives.ONE and conduct.may_drop


#: A replaced row of the root as it is at each place, by identity; None: it is no change there.
Rows = dict[int, ChangeUnit | None]


def _splits(edge: Edge, rows: Rows) -> bool:
    """Whether one end of a replaced row may pass a filter and not the other."""
    row = rows[id(edge.parent)]
    if row is None or edge.made_by is None:
        return False
    listed = fates(edge.made_by, row, edge.parent.traits)
    return isinstance(listed, TooMany) or _ends(listed)


def _ends(listed: list[MapOutcome]) -> bool:
    return any(unit.kind is Kind.SINGLE for fate in listed for unit, _ in fate.units)


def _replaced(goal: Goal, place: Place, rows: Rows) -> ChangeUnit | None:
    """Returns a replaced row of the root at a place, from what it is above; None: it is no
    change."""
    edge = place.edge
    if edge is None:
        return PAIR._replace(
            kept=tuple(sorted(goal.relation.required_columns(place.traits.columns) or ()))
        )
    row = rows[id(edge.parent)]
    # A graph has no rows that are replaced: those of a table made of one may be any.
    if row is None or edge.made_by is None or edge.parent.traits.shape is Shape.GRAPH:
        return row
    listed = fates(edge.made_by, row, edge.parent.traits)
    if listed == [MapOutcome(())]:
        return None
    found = [] if isinstance(listed, TooMany) else [u for each in listed for u, _ in each.units]
    kept = [set(unit.kept) for unit in found if unit.kind is Kind.PAIR]
    return PAIR._replace(kept=tuple(sorted(set.intersection(*kept))) if kept else ())


def _as_part(place: Place, up: int) -> bool:
    """Whether a statement so far up holds since the sample between is part of one release."""
    for _ in range(up):
        if place.whole is not None:
            return True
        assert place.edge is not None
        place = place.edge.parent
    return False


def _defaulted(
    root: Root,
    place: Place,
    mechanism: Mechanism,
    placed: tuple[Placed, ...],
    rows: Rows,
) -> Iterator[Finding]:
    """The relation was left out on a dataset where bounded and unbounded differ in meaning."""
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
            "warning",
            f"`{mechanism.name}` does not say for which neighbours it holds; bounded is assumed, "
            f"which covers only replaced rows of `{place.dataset.name}`",
            statement.path,
            "add `relation: unbounded` or `relation: bounded`, whichever was proved",
        )


def _is_capped(place: Place, capped: Collection[int]) -> bool:
    """Whether a place has only so many rows of each unit, as those of `capped`."""
    above = place.edge is not None and id(place.edge.parent) in capped
    return above or isinstance(place.dataset.made_by, Cap)


def _taken_for_users(
    place: Place, mechanism: Mechanism, placed: tuple[Placed, ...]
) -> Iterator[Finding]:
    """The relation was left out where rows are counted by the unit, as guarantees for rows want."""
    unit = place.traits.unit
    for each in placed:
        statement = each.statement
        if statement.relation_given or statement.up or unit is None or place.traits.rows_are_units:
            continue
        yield Finding(
            "DPC202",
            "warning",
            f"`{mechanism.name}` does not say for which neighbours it holds; user is assumed, by "
            f"which all rows of one `{unit}` that the cap leaves are one step",
            statement.path,
            f"add `relation: unbounded` where it was proved for one row, `relation: user` where "
            f"for all rows of one `{unit}`",
        )


def _stays_bounded(place: Place, rows: Rows) -> bool:
    """Whether replaced rows of the root can only be replaced rows here."""
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
    """Mechanisms that the worst change does not touch."""
    if not solution.finite:
        return
    touched = {felt.mechanism.name for felt in solution.felt}
    idle: dict[str, Mechanism] = {}
    for _, top in tops:
        for place in top.subtree():
            for mechanism, _ in place.mechanisms:
                if mechanism.name not in touched:
                    idle.setdefault(mechanism.name, mechanism)
    if not idle:
        return
    first = next(iter(idle.values()))
    verb = "adds" if len(idle) == 1 else "add"
    yield Finding(
        "DPC204",
        "note",
        f"{listing(idle)} {verb} nothing in the worst case: the bound stays the same without "
        + ("it" if len(idle) == 1 else "them"),
        first.path,
    )


def _looser(solution: Solution, felt: ChangeCharge) -> Iterator[Finding]:
    """A statement on an ancestor that another statement of the mechanism beats.

    What one entry of the spec says, such as all points of a profile, is looked at as a whole.
    """
    if not 1 < len(felt.placed) <= 20:
        return
    coster = Coster(solution.algebra)

    def cost(placed: tuple[Placed, ...]) -> Loss:
        return coster.cost_of(felt.mechanism.count, placed, felt.visit.state)

    for each in felt.placed:
        if not each.statement.up or each.statement.implied:
            continue
        own = tuple(o for o in felt.placed if o.statement.path == each.statement.path)
        others = tuple(o for o in felt.placed if o.statement.path != each.statement.path)
        if others and cost(others) == felt.loss and cost(own) != felt.loss:
            where = felt.visit.place.stated_on(each.statement)
            yield Finding(
                "DPC205",
                "note",
                f"the statement of `{felt.mechanism.name}` on `{where.dataset.name}` is not used: "
                "its other statements give less",
                each.statement.path,
            )


# ---------------------------------------------------------------------------------------------
# Samples


def _fresh(root: Dataset) -> Iterator[Finding]:
    """Mechanisms whose copies each read their own draw of a sample, together for each sample."""
    copies: dict[str, dict[str, Mechanism]] = {}
    stack: list[tuple[Dataset, Dataset | None]] = [(root, None)]
    while stack:
        dataset, drawn = stack.pop()
        if drawn is None and isinstance(dataset.made_by, Sample) and not dataset.made_by.shared:
            drawn = dataset
        for mechanism in dataset.mechanisms:
            if drawn is not None and mechanism.count > 1:
                copies.setdefault(drawn.name, {}).setdefault(mechanism.name, mechanism)
        below = list(dataset.derived)
        for partition in dataset.partitions:
            below.extend(each.dataset for each in partition.classes)
        stack.extend((each, drawn) for each in reversed(below))
    for sample, named in copies.items():
        first, *others = named.values()
        each = (
            f"copy i of {listing(named)} reads the i-th fresh sample `{sample}`"
            if others
            else f"each of the {count_text(first.count)} copies of `{first.name}` reads its own "
            f"fresh sample `{sample}`"
        )
        hint = f"for one sample that all of them read write `draws: one` at `{sample}`"
        if others:
            hint += "; for mechanisms that run one after the other give each a sample of its own"
        yield Finding("DPC206", "note", each, first.path, hint)


def _not_amplified(goal: Goal, solution: Solution, visit: Visit) -> Iterator[Finding]:
    """A Poisson sample on the way of the worst change that does not lower any ε."""
    place = visit.place
    sample = place.dataset.made_by
    if not isinstance(sample, Sample) or sample.size is not None:
        return
    if place.above is not None or not solution.finite:
        return
    kinds = {leaf.kind for leaf in all_leaves(visit.state)}
    assert visit.via is not None and place.edge is not None
    public = solution.algebra.times(visit.answer.loss, place.edge.rounds)
    if kinds - {Kind.SINGLE, Kind.PAIR} and visit.via.loss == public != solution.algebra.zero:
        yield Finding(
            "DPC207",
            "note",
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
    usable = [each.statement for each in placed if each.usable]
    if usable and all(each.relation.kind is RelationKind.BOUNDED for each in usable):
        yield Finding(
            "DPC207",
            "note",
            f"`{mechanism.name}` is stated for replaced rows alone, so that the Poisson sample "
            f"`{sampled.dataset.name}` lowers no ε of what reads it: both rows may be drawn",
            usable[0].path,
            "give its unbounded guarantee (`relation: unbounded`), or sample a fixed number of "
            "rows (`size`, `of`)",
        )
