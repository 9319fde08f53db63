"""Trees of datasets copied, and joined: what is the same in two of them is there once.

Two datasets are the same if their names and declarations are, and nothing about them is random,
but for a sample that is drawn once.
Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpcompose.core.model.problem import BlockClass, Dataset, Partition

#: Partitions of more blocks, where specs tell them apart, stay apart.
MOST_BLOCKS = 100_000
#: And those whose blocks fall into more classes.
MOST_CLASSES = 10_000

#: What the mechanisms of a tree are called, by the names that they had.
Names = dict[str, str]


def copied(top: Dataset, place: tuple[int, ...], names: Names | None, prefix: str) -> Dataset:
    """Returns a deep copy of a dataset with everything below it.

    `place` is put before every path, `prefix` before every name of a dataset; `names`: new names of
    mechanisms, None to keep them.
    """
    new = _copy_without_children(top, place, names, prefix)
    stack = [(top, new)]
    while stack:
        old, copy = stack.pop()
        for child in old.derived:
            below = _copy_without_children(child, place, names, prefix)
            copy.derived.append(below)
            stack.append((child, below))
        for partition in old.partitions:
            classes: list[BlockClass] = []
            for each in partition.classes:
                below = _copy_without_children(each.dataset, place, names, prefix)
                classes.append(BlockClass(each.names, below))
                stack.append((each.dataset, below))
            copy.partitions.append(_split(partition, classes, place, prefix))
    return new


def _copy_without_children(
    old: Dataset, place: tuple[int, ...], names: Names | None, prefix: str
) -> Dataset:
    """Returns a copy of a dataset with its mechanisms, without what is made from it."""
    mechanisms = [*old.mechanisms]
    if names is not None:
        mechanisms = [
            replace(
                each,
                name=names[each.name],
                statements=tuple(
                    said._replace(path=(*place, *said.path)) for said in each.statements
                ),
                path=(*place, *each.path),
            )
            for each in old.mechanisms
        ]
    return Dataset(prefix + old.name, (*place, *old.path), old.made_by, mechanisms)


def _split(
    old: Partition, classes: list[BlockClass], place: tuple[int, ...] = (), prefix: str = ""
) -> Partition:
    """Returns a partition with other classes of blocks."""
    return Partition(
        prefix + old.name,
        (*place, *old.path),
        old.kind,
        classes,
        old.drops,
        old.max_blocks_per_unit,
        old.max_rows_per_block,
    )


# ---------------------------------------------------------------------------------------------
# Joining


def join(known: Dataset, other: Dataset) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Moves everything below `other` to `known`, and yields the datasets that both have in common.

    Each is the name of a dataset with the numbers of the two parts that declare it.
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
            pairs = None if place is None else _common_refinement(into.partitions[place], partition)
            if place is None or pairs is None:
                into.partitions.append(partition)
                continue
            old = into.partitions[place]
            into.partitions[place] = _split(old, [each for each, _ in pairs])
            stack.extend((each.dataset, below) for each, below in pairs)


def _same_map(one: Dataset, other: Dataset) -> bool:
    """Returns whether two datasets have one name and are made by one map without randomness."""
    same = one.path[-1] == other.path[-1] and one.made_by == other.made_by
    return same and one.made_by is not None and one.made_by.conduct().determined


def _same_split(known: Sequence[Partition], other: Partition) -> int | None:
    """Returns the index of the partition with the same name and declaration as `other`; None if
    none has."""
    if not other.kind.assignment().determined:
        return None
    for place, each in enumerate(known):
        if _declaration(each) == _declaration(other) and each.size == other.size:
            return place
    return None


def _declaration(each: Partition) -> tuple[object, ...]:
    """Returns the name of a partition with all that a spec declares of it, for comparison."""
    return (
        each.path[-1],
        each.kind,
        each.drops,
        each.max_blocks_per_unit,
        each.max_rows_per_block,
    )


def _common_refinement(one: Partition, other: Partition) -> list[tuple[BlockClass, Dataset]] | None:
    """Returns the common refinement of the classes of blocks of two partitions.

    Each class comes with the content by `one`, and with the dataset of its content by `other`. None
    if the blocks differ, or are too many.
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
        content = copied(one.classes[i].dataset, (), None, "")
        block = f"{one.name}.{names[0]}" if len(names) == 1 else f"{one.name}.*"
        content.name = block
        below = copied(other.classes[j].dataset, (), None, "")
        found.append((BlockClass(tuple(names), content), below))
    return found
