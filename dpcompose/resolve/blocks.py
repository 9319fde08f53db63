"""From the forest to a problem: equal blocks together in classes, each with its own content."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from dpcompose.core.model.problem import BlockClass, Dataset, Mechanism, Partition
from dpcompose.faults import Faults
from dpcompose.resolve.forest import Block, BlocksAlike, SpecPlace, Splitting

#: The most datasets and mechanisms of a problem, block classes written out.
MOST = 1_000_000


class Rest(Sequence[int]):
    """The numbers of a range without some of them, as a sequence; only those left out are
    stored."""

    __slots__ = ("_out", "_range")

    def __init__(self, numbers: range, out: Sequence[int]) -> None:
        """Takes a range and the numbers `out` that it leaves out, sorted."""
        self._range = numbers
        self._out = tuple(out)

    def __len__(self) -> int:
        return len(self._range) - len(self._out)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(index)
        # The number is `at` plus the count of those left out below it.
        low, high = 0, len(self._out)
        while low < high:
            middle = (low + high) // 2
            if self._out[middle] - middle <= at:
                low = middle + 1
            else:
                high = middle
        return at + low

    def __iter__(self) -> Iterator[int]:
        start = 0
        for out in (*self._out, len(self._range)):
            yield from range(start, out)
            start = out + 1


#: Places, each with the block of its scope.
Content = tuple[tuple[SpecPlace, Block | None], ...]


def _classes(split: Splitting) -> list[BlocksAlike]:
    """Returns the blocks of a partition in classes of equal blocks, ordered by their first block.

    Blocks are equal if no mechanism or dataset reads one of them alone, and all mechanisms on them
    are the same. The blocks of `by: kinds` are classes of their own.
    """
    single = {
        block: place for block, place in split.named.items() if place.mechanisms or place.children
    }
    names = split.blocks
    if split.kind.where(()).whole:
        return [((block,), single.get(block)) for block in names]
    if not split.varied:
        return _classes_around(names, single)
    groups: dict[tuple[int, ...], list[Block]] = {}
    found: list[tuple[list[Block], SpecPlace | None]] = []
    for block in names:
        if block in single:
            found.append(([block], single[block]))
            continue
        key = tuple(id(each[block]) for each in split.varied)
        group = groups.get(key)
        if group is None:
            group = groups[key] = []
            found.append((group, None))
        group.append(block)
    return [(tuple(group), place) for group, place in found]


def _classes_around(names: Sequence[Block], single: dict[Block, SpecPlace]) -> list[BlocksAlike]:
    """Returns a class of blocks for each block in `single`, and one for all other blocks."""
    rest: Sequence[Block]
    if not single:
        return [(names, None)]
    if isinstance(names, range):
        alone: list[Block] = sorted(single, key=int)
        rest = Rest(names, [int(block) for block in alone])
    else:
        alone = [block for block in names if block in single]
        rest = tuple(block for block in names if block not in single)
    found: list[BlocksAlike] = [((block,), single[block]) for block in alone]
    if rest:
        # The single blocks before the first of the others are the first of all blocks.
        before = next((i for i, block in enumerate(alone) if names[i] != block), len(alone))
        found.insert(before, (rest, None))
    return found


def fits(order: Sequence[SpecPlace | Splitting], faults: Faults) -> bool:
    """Returns whether the problem is small enough to be built; if not, reports an error.

    `order`: all places and partitions of the forest, parents first; the partitions get their
    classes.
    """
    copies: dict[int, int] = {}
    total = 0
    for node in order:
        parent = node.parent
        many = 1 if parent is None else copies[id(parent)]
        if isinstance(node, SpecPlace):
            copies[id(node)] = many
            total += many * (1 + len(node.mechanisms))
        else:
            node.classes = _classes(node)
            alike = many * len(node.classes)
            copies[id(node.star)] = alike
            total += alike * (1 + len(node.star.mechanisms))
            for place in node.named.values():
                copies[id(place)] = many
                total += many * len(place.mechanisms)
        if total > MOST:
            message = f"blocks with different content multiply beyond {MOST} here"
            hint = "give blocks the same parameters, so that they are counted together"
            faults.add("DPC191", node.path, message, hint, key=True)
            return False
    return True


def fill(top: Dataset, root: SpecPlace) -> None:
    """Fills the dataset of a root with its mechanisms, derived datasets and partitions, and those
    of all that is below it."""
    tasks: list[tuple[Dataset, Content]] = [(top, ((root, None),))]
    while tasks:
        dataset, content = tasks.pop()
        # By their numbers in the spec, in whose order they stand in the problem.
        mechanisms: dict[int, Mechanism] = {}
        children: dict[int, tuple[SpecPlace | Splitting, Block | None]] = {}
        for place, block in content:
            for index, mechanism in place.mechanisms:
                if isinstance(mechanism, dict):
                    assert block is not None
                    mechanism = mechanism[block]
                mechanisms[index] = mechanism
            for each in place.children:
                children[each.index] = each, block
        dataset.mechanisms = [mechanisms[index] for index in sorted(mechanisms)]
        for index in sorted(children):
            child, block = children[index]
            if isinstance(child, SpecPlace):
                below = Dataset(child.name, child.path, child.made_by)
                dataset.derived.append(below)
                tasks.append((below, ((child, block),)))
                continue
            written = child.written
            partition = Partition(
                name=child.name,
                path=child.path,
                kind=child.kind,
                classes=[],
                drops=written.drops,
                max_blocks_per_unit=written.max_blocks_per_unit,
                max_rows_per_block=written.max_rows_per_block,
            )
            dataset.partitions.append(partition)
            for names, named in child.classes:
                name = f"{child.name}.{names[0]}" if len(names) == 1 else child.star.name
                below = Dataset(name, child.path)
                partition.classes.append(BlockClass(names, below))
                alone = ((named, block),) if named is not None else ()
                tasks.append((below, ((child.star, names[0]), *alone)))
