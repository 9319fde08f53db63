"""What is known of a dataset by the way it is made: enough to tell what has a meaning there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, assert_never

from dpcompose.core.problem import (
    Cap,
    Domain,
    Edges,
    Filter,
    Flatten,
    Group,
    Limit,
    Map,
    Nodes,
    Opaque,
    PartitionKind,
    RowMap,
    Sample,
    Stable,
    Value,
)
from dpcompose.errors import quoted


class Shape(StrEnum):
    """What a dataset is."""

    TABLE = "a table"
    GRAPH = "a graph"
    VALUE = "a point in a metric space"


class LostUnit(NamedTuple):
    """Where the privacy unit was lost: by which dataset, its column, if `keeps` could list it."""

    by: str
    column: str
    keepable: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a dataset.

    `root`: the name of its root. `ordered`: rows have positions. `fixed`: the number of rows is
    public; `size`: that number, where the spec says it; `most`: no more rows than these, where what
    is public says so. `unit`: the column of the privacy unit,
    while rows still have one (after grouping by it, rows are units); `lost_unit`: where it was
    lost, if it was. `edge_rows`: the rows are the edges of a graph; `on_graph`: the root is one.
    `unordered_by`: the dataset that lost the order, or the root that had none.
    `sound`: nothing is wrong above; else nothing is said of what comes below.
    """

    root: str
    shape: Shape = Shape.TABLE
    ordered: bool = False
    fixed: bool = False
    size: int | None = None
    most: int | None = None
    unit: str | None = None
    edge_rows: bool = False
    on_graph: bool = False
    unordered_by: str | None = None
    lost_unit: LostUnit | None = None
    sound: bool = True


def facts_of_root(name: str, domain: Domain, unit: str | None, size: int | None) -> Facts:
    """The facts of a root; `size` is its public number of rows."""
    graph = domain is Domain.GRAPH
    return Facts(
        root=name,
        shape=Shape.GRAPH if graph else Shape.TABLE,
        ordered=domain is Domain.ORDERED,
        fixed=domain is Domain.FIXED_SIZE or size is not None,
        size=size,
        most=size,
        unit=unit,
        on_graph=graph,
        unordered_by=None if domain is Domain.ORDERED else name,
    )


def facts_after_map(name: str, made_by: Map, facts: Facts) -> Facts:
    """The facts of the dataset `name`, made by a map from one with `facts`."""
    match made_by:
        case Filter():
            return replace(facts, fixed=False, size=None)
        case Sample():
            # Of a public size only if it is drawn without replacement.
            if made_by.size is None:
                return replace(facts, fixed=False, size=None)
            return replace(facts, fixed=True, size=made_by.size, most=made_by.size)
        case RowMap(keeps):
            return _unit_if(facts.unit in keeps, name, replace(facts, edge_rows=False), True)
        case Flatten(max_rows=rows, exact=exact, keeps=keeps):
            size = None if facts.size is None or not exact else facts.size * rows
            most = None if facts.most is None else facts.most * rows
            fixed = facts.fixed and exact
            after = replace(facts, fixed=fixed, size=size, most=most, edge_rows=False)
            return _unit_if(facts.unit in keeps, name, after, True)
        case Group(by):
            return _unit_if(by == facts.unit, name, _shuffled(name, facts))
        case Limit() | Cap():
            return _shuffled(name, facts)
        case Stable() | Opaque():
            return _unit_if(False, name, replace(_shuffled(name, facts), most=None))
        case Value():
            after = replace(_shuffled(name, facts), shape=Shape.VALUE, most=None)
            return _unit_if(False, name, after)
        case Edges():
            return replace(_shuffled(name, facts), shape=Shape.TABLE, edge_rows=True)
        case Nodes():
            # One row for each vertex, and the vertices are public.
            return replace(_shuffled(name, facts), shape=Shape.TABLE, fixed=True)
        case _:
            assert_never(made_by)


def facts_of_blocks(kind: PartitionKind, blocks: int, facts: Facts) -> Facts:
    """The facts of each of so many blocks of a partition of a dataset with `facts`."""
    if kind is not PartitionKind.POSITION:
        return replace(facts, fixed=False, size=None)
    # Every position is in one block, and every block has some row.
    most = None if facts.most is None else max(1, facts.most - (blocks - 1))
    return replace(facts, size=facts.size if blocks == 1 else None, most=most)


def no_unit(facts: Facts) -> tuple[str, str]:
    """Why there is no privacy unit, and what to do about it."""
    if facts.on_graph:
        return "a graph has no privacy unit", "on graphs: `edge`, `node` or `node-rewired`"
    if facts.lost_unit is None:
        why = f"the root {quoted(facts.root)} names no privacy unit"
        return why, f"give {quoted(facts.root)} a `unit`: the column that says whose row it is"
    lost_by, column = quoted(facts.lost_unit.by), quoted(facts.lost_unit.column)
    why = f"the rows of {lost_by} do not tell whose they are"
    if facts.lost_unit.keepable:
        return why, f"let {lost_by} list {column} in `keeps`, if it leaves that as it is"
    return why, f"only maps above {lost_by} still know {column}"


def _unit_if(lives: bool, name: str, facts: Facts, keepable: bool = False) -> Facts:
    if lives or facts.unit is None:
        return facts
    return replace(facts, unit=None, lost_unit=LostUnit(name, facts.unit, keepable))


def _shuffled(name: str, facts: Facts) -> Facts:
    """With neither order, nor a public size, nor edges as rows."""
    lost_by = name if facts.ordered else facts.unordered_by
    return replace(
        facts, ordered=False, fixed=False, size=None, edge_rows=False, unordered_by=lost_by
    )
