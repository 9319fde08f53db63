"""What is known of a dataset by the way it is made: enough to tell what has a meaning there."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from dpcompose.core.change.maps import form_of
from dpcompose.core.change.maps.kind import Map
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.model.problem import Domain, traits_of_root
from dpcompose.errors import quoted
from dpcompose.source.rewriting import is_plain


class LostUnit(NamedTuple):
    """The dataset that lost the privacy unit, the unit's column, and whether `keeps` could list
    it."""

    by: str
    column: str
    keepable: bool


class Facts(NamedTuple):
    """The facts about a dataset that follow from the spec, and the datasets that lost some of them.

    `root`: the name of its root; `on_graph`: the root is a graph. `unordered_by`: the dataset that
    lost the order, or the root that had none. `lost_unit`: where the privacy unit was lost, if it
    was. `sound`: no error above; else errors of what is below are not reported.
    """

    root: str
    traits: Traits
    on_graph: bool = False
    unordered_by: str | None = None
    lost_unit: LostUnit | None = None
    sound: bool = True


def facts_of_root(
    name: str,
    domain: Domain,
    unit: str | None,
    size: int | None,
    columns: Collection[str] | None,
    nulls: bool,
) -> Facts:
    """Returns the facts of a root; `size` is its public number of rows, `columns` are all that
    it has."""
    traits = traits_of_root(domain, unit, None, size, columns, nulls)
    return Facts(name, traits, domain is Domain.GRAPH, None if traits.ordered else name)


def facts_after_map(name: str, made_by: Map, facts: Facts) -> Facts:
    """Returns the facts of the dataset `name`, made by a map from one with `facts`."""
    before, after = facts.traits, made_by.traits_after(facts.traits)
    lost_by, lost_unit = facts.unordered_by, facts.lost_unit
    if before.ordered and not after.ordered:
        lost_by = name
    if before.unit is not None and after.unit is None:
        lost_unit = LostUnit(name, before.unit, form_of(made_by).has("keeps"))
    return facts._replace(traits=after, unordered_by=lost_by, lost_unit=lost_unit)


def facts_of_blocks(kind: PartitionKind, blocks: int, facts: Facts) -> Facts:
    """Returns the facts of each of so many blocks of a partition of a dataset with `facts`."""
    return facts._replace(traits=kind.traits_of_blocks(blocks, facts.traits))


def no_positions(facts: Facts, name: str) -> tuple[str, str]:
    """Returns why the rows of the dataset `name` have no positions, and a hint."""
    lost_by = str(facts.unordered_by)
    by = "" if lost_by == name else f": {quoted(lost_by)} has none"
    why = f"rows of {quoted(name)} have no positions{by}"
    if lost_by == facts.root:
        return why, f"write `domain: ordered-table` at {quoted(lost_by)}, or partition by value"
    return why, f"partition above {quoted(lost_by)}, which forgets the order of rows"


def no_unit(facts: Facts) -> tuple[str, str]:
    """Returns why the rows have no privacy unit, and a hint."""
    if facts.on_graph:
        return "a graph has no privacy unit", "on graphs: `edge`, `node` or `node-rewired`"
    if facts.lost_unit is None:
        why = f"the root {quoted(facts.root)} names no privacy unit"
        example = (
            f"`{facts.root}: {{unit: user_id}}`" if is_plain(facts.root) else "`unit: user_id`"
        )
        return why, f"name the column that says whose row it is, for example {example}"
    lost_by, column = quoted(facts.lost_unit.by), quoted(facts.lost_unit.column)
    why = f"the rows of {lost_by} do not tell whose they are"
    if facts.lost_unit.keepable:
        return why, f"let {lost_by} list {column} in `keeps`, if it leaves that as it is"
    return why, f"only maps above {lost_by} still know {column}"
