"""The problems of several specs made one: what is the same in all of them is there once.

Within a population names mean the same: a root with the same name and the same declaration in two
specs is one root, and so is what is made from it, where its name and declaration are the same and
nothing about it is random. All else is there once for each spec. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import count

from dpcompose.core.problem import (
    BlockClass,
    Cap,
    Dataset,
    Edges,
    Filter,
    Flatten,
    Group,
    Limit,
    Map,
    Mechanism,
    Nodes,
    Partition,
    PartitionKind,
    Problem,
    Root,
    RowMap,
    Statement,
)
from dpcompose.values import dataclass

#: Partitions of more blocks, where specs tell them apart, stay apart.
MOST_BLOCKS = 100_000
#: And those whose blocks fall into more classes.
MOST_CLASSES = 10_000

#: What the mechanisms of a part are called, by their names in its spec.
_Names = dict[str, str]


@dataclass(frozen=True, slots=True)
class Part:
    """A problem with what to call its spec.

    `world`: parts of one world call the same things by the same names; None: this one alone.
    """

    label: str
    problem: Problem
    world: str | None = None


@dataclass(slots=True, eq=False)
class Island:
    """Roots that specs share, so that facts about them hold together."""

    roots: list[Root] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    disjoint: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """One problem of all parts, in which every root may change at once, and its islands.

    Paths start with the number of the part. `names`: what the mechanisms of each part are called.
    `same`: the names of what several parts have in common, each with the numbers of the parts.
    """

    problem: Problem
    islands: tuple[Problem, ...]
    names: tuple[_Names, ...]
    same: tuple[tuple[str, tuple[int, ...]], ...]


def merge(parts: Sequence[Part]) -> Merged:
    """The problems of parts that protect the same (at least one), all about the same people."""
    names = _names(parts)
    shared: dict[tuple[str, tuple[int, ...]], None] = {}
    islands: list[Island] = []
    taken: set[str] = set()
    for index, part in enumerate(parts):
        here = Island(parts=[index], disjoint=part.problem.roots_disjoint)
        joined: list[Island] = []
        for root in part.problem.roots:
            copy = replace(root, dataset=_copy(root.dataset, (index,), names[index], ""))
            found = _same_root(root, part.world, islands, parts)
            if found is None:
                if root.dataset.name in taken:
                    prefix = f"{part.label}: "
                    copy = replace(
                        root, dataset=_copy(root.dataset, (index,), names[index], prefix)
                    )
                taken.add(copy.dataset.name)
                here.roots.append(copy)
                continue
            island, known = found
            shared.update(dict.fromkeys(_join(known.dataset, copy.dataset)))
            if island not in joined:
                joined.append(island)
        islands = [each for each in islands if each not in joined]
        islands.append(_one_island([*joined, here], [each.problem for each in parts]))
    goal = parts[0].problem.goal
    problem = Problem(goal, [root for each in islands for root in each.roots])
    return Merged(
        problem,
        tuple(Problem(goal, each.roots, True, each.disjoint) for each in islands),
        tuple(names),
        _told(shared),
    )


def _names(parts: Sequence[Part]) -> list[_Names]:
    """What the mechanisms are called: names that clash start with the name of their spec."""
    often: dict[str, int] = {}
    listed = [list(dict.fromkeys(m.name for m in part.problem.mechanisms())) for part in parts]
    for found in listed:
        for name in found:
            often[name] = often.get(name, 0) + 1
    taken = {name for name, times in often.items() if times == 1}
    result: list[_Names] = []
    for part, found in zip(parts, listed, strict=True):
        names: _Names = {}
        for name in found:
            new = name
            if often[name] > 1:
                tries = (f"{part.label}{_nth(n)}: {name}" for n in count(1))
                new = next(each for each in tries if each not in taken)
                taken.add(new)
            names[name] = new
        result.append(names)
    return result


def _nth(number: int) -> str:
    return "" if number == 1 else f" ({number})"


def _same_root(
    root: Root, world: str | None, islands: Sequence[Island], parts: Sequence[Part]
) -> tuple[Island, Root] | None:
    """The root of the same name and declaration in the same world, with its island."""
    if world is None:
        return None
    for island in islands:
        for known in island.roots:
            same = _declared(known) == _declared(root)
            if same and parts[int(known.dataset.path[0])].world == world:
                return island, known
    return None


def _declared(root: Root) -> tuple[object, ...]:
    return root.dataset.path[-1], root.domain, root.unit, root.max_degree, root.size


def _one_island(islands: Sequence[Island], problems: Sequence[Problem]) -> Island:
    """Islands that one spec joins. Nobody is in two roots if one spec says so of all of them."""
    whole = Island()
    for each in islands:
        whole.roots += each.roots
        whole.parts += each.parts
    wanted = {_declared(root) for root in whole.roots}
    whole.disjoint = any(
        problems[part].roots_disjoint
        and wanted == {_declared(root) for root in problems[part].roots}
        and len(wanted) == len(whole.roots)
        for part in whole.parts
    )
    return whole


# ---------------------------------------------------------------------------------------------
# Copies


def _copy(top: Dataset, place: tuple[int, ...], names: _Names | None, prefix: str) -> Dataset:
    """A dataset with all below it, on its own.

    `place` goes before every path, `prefix` before every name of a dataset; `names`: new names of
    mechanisms, None to keep them.
    """
    new = _bare(top, place, names, prefix)
    stack = [(top, new)]
    while stack:
        old, copy = stack.pop()
        for child in old.derived:
            below = _bare(child, place, names, prefix)
            copy.derived.append(below)
            stack.append((child, below))
        for partition in old.partitions:
            classes: list[BlockClass] = []
            for each in partition.classes:
                below = _bare(each.dataset, place, names, prefix)
                classes.append(BlockClass(each.names, below))
                stack.append((each.dataset, below))
            copy.partitions.append(_split(partition, classes, place, prefix))
    return new


def _bare(old: Dataset, place: tuple[int, ...], names: _Names | None, prefix: str) -> Dataset:
    mechanisms = [
        each if names is None else _renamed(each, place, names[each.name])
        for each in old.mechanisms
    ]
    return Dataset(prefix + old.name, (*place, *old.path), old.made_by, mechanisms)


def _renamed(old: Mechanism, place: tuple[int, ...], name: str) -> Mechanism:
    statements = tuple(_moved(each, place) for each in old.statements)
    return Mechanism(name, statements, old.count, (*place, *old.path))


def _moved(old: Statement, place: tuple[int, ...]) -> Statement:
    return replace(old, path=(*place, *old.path))


def _split(
    old: Partition, classes: list[BlockClass], place: tuple[int, ...] = (), prefix: str = ""
) -> Partition:
    return Partition(
        prefix + old.name,
        (*place, *old.path),
        old.kind,
        classes,
        old.column,
        old.max_blocks,
        old.kinds,
        old.drops,
        old.max_blocks_per_unit,
        old.max_rows_per_block,
    )


# ---------------------------------------------------------------------------------------------
# Joining


def _join(known: Dataset, other: Dataset) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Put all that hangs on `other` below `known`; yields what was found to be the same.

    That is told by its name and the two parts in which it stands.
    """
    stack = [(known, other)]
    while stack:
        into, new = stack.pop()
        if isinstance(into.path[-1], str) and len(into.path) == 3:
            yield str(into.path[-1]), (int(into.path[0]), int(new.path[0]))
        into.mechanisms.extend(new.mechanisms)
        for child in new.derived:
            same = next((each for each in into.derived if _same_map(each, child)), None)
            if same is None:
                into.derived.append(child)
            else:
                stack.append((same, child))
        for partition in new.partitions:
            place = _same_split(into.partitions, partition)
            pairs = None if place is None else _refined(into.partitions[place], partition)
            if place is None or pairs is None:
                into.partitions.append(partition)
                continue
            old = into.partitions[place]
            into.partitions[place] = _split(old, [each for each, _ in pairs])
            stack.extend((each.dataset, below) for each, below in pairs)


def _same_map(one: Dataset, other: Dataset) -> bool:
    same = one.path[-1] == other.path[-1] and one.made_by == other.made_by
    return same and one.made_by is not None and _fixed(one.made_by)


def _fixed(made_by: Map) -> bool:
    """Whether a map is known to give one result, by what its declaration says."""
    if isinstance(made_by, Limit | Cap):
        return made_by.keep == "first"
    return isinstance(made_by, Filter | RowMap | Flatten | Group | Edges | Nodes)


def _same_split(known: Sequence[Partition], other: Partition) -> int | None:
    """The place of the partition with the same name and declaration.

    Which positions make a block may be drawn at random, for each spec by itself.
    """
    if other.kind is PartitionKind.POSITION:
        return None
    for place, each in enumerate(known):
        if _declaration(each) == _declaration(other) and each.size == other.size:
            return place
    return None


def _declaration(each: Partition) -> tuple[object, ...]:
    return (
        each.path[-1],
        each.kind,
        each.column,
        each.max_blocks,
        each.kinds,
        each.drops,
        each.max_blocks_per_unit,
        each.max_rows_per_block,
    )


def _refined(one: Partition, other: Partition) -> list[tuple[BlockClass, Dataset]] | None:
    """The blocks in classes that both partitions keep: the content by the one, and by the other.

    None where they have other blocks, or too many of them.
    """
    if len(one.classes) == len(other.classes) == 1:
        known, new = one.classes[0], other.classes[0]
        if known.names == new.names:
            return [(known, new.dataset)]
    if one.size > MOST_BLOCKS:
        return None
    of_other = {name: i for i, each in enumerate(other.classes) for name in each.names}
    groups: dict[tuple[int, int], list[str | int]] = {}
    for i, each in enumerate(one.classes):
        for name in each.names:
            if name not in of_other:
                return None
            groups.setdefault((i, of_other[name]), []).append(name)
    if len(groups) > MOST_CLASSES:
        return None
    found: list[tuple[BlockClass, Dataset]] = []
    for (i, j), names in groups.items():
        content = _copy(one.classes[i].dataset, (), None, "")
        block = f"{one.name}.{names[0]}" if len(names) == 1 else f"{one.name}.*"
        content.name = block
        below = _copy(other.classes[j].dataset, (), None, "")
        found.append((BlockClass(tuple(names), content), below))
    return found


def _told(
    shared: dict[tuple[str, tuple[int, ...]], None],
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """What several parts have in common, each name once."""
    found: dict[str, dict[int, None]] = {}
    for name, parts in shared:
        found.setdefault(name, {}).update(dict.fromkeys(parts))
    return tuple((name, tuple(sorted(parts))) for name, parts in found.items())
