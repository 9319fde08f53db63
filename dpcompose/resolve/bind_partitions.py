"""From partitions as written to their kinds and blocks."""

from __future__ import annotations

from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.change.partitions.partition_kind import PartitionKind
from dpcompose.core.mechanisms.family import Sort
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.resolve.forest import Blocks
from dpcompose.spec.datasets import AnyPartition


def partition_made(
    given: AnyPartition, path: Path, faults: Faults
) -> tuple[PartitionKind, Blocks] | None:
    """Returns the kind and the blocks of a partition; None after an error in the blocks."""
    form = PARTITIONS[given.by]
    blocks: Blocks | None = None
    made: list[object] = []
    for key in form.keys:
        value, at = getattr(given, key.name), (*path, key.name)
        match key.sort:
            case Sort.BLOCKS:
                blocks = _blocks(value, at, faults)
            case Sort.FEEDS:
                blocks = _blocks_of_kinds(value, at, faults)
                made.append({} if blocks is None else _numbers(value, blocks))
            case Sort.COLUMNS:
                made.append(None if value is None else frozenset(value))
                if value == []:
                    hint = "name the columns that decide in which block a row is"
                    faults.add("DPC108", at, "nothing decides in which block a row is", hint)
            case _:
                made.append(value)
    return None if blocks is None else (form.made(*made), blocks)


def _blocks(given: int | list[str], path: Path, faults: Faults) -> Blocks | None:
    """Returns the blocks by their names, or by their number; None after an error."""
    if isinstance(given, int):
        return Blocks(range(given))
    return Blocks(tuple(given)) if _distinct(given, path, faults) else None


def _blocks_of_kinds(kinds: dict[str, list[str]], path: Path, faults: Faults) -> Blocks | None:
    """Returns all blocks that some kind of rows feeds; None after an error."""
    fine = [_distinct(fed, (*path, kind), faults) for kind, fed in kinds.items()]
    names = tuple(dict.fromkeys(name for fed in kinds.values() for name in fed))
    if not names:
        faults.add("DPC108", path, "no kind feeds a block", "name at least one block")
        return None
    return Blocks(names) if all(fine) else None


def _numbers(kinds: dict[str, list[str]], blocks: Blocks) -> dict[str, tuple[int, ...]]:
    """Returns for each kind of rows the indices of the blocks that it feeds."""
    number = {block: i for i, block in enumerate(blocks.names)}
    return {kind: tuple(number[name] for name in fed) for kind, fed in kinds.items()}


def _distinct(names: list[str], path: Path, faults: Faults) -> bool:
    """Returns whether names of blocks are legal and differ from each other; if not, reports an
    error."""
    first: dict[str, int] = {}
    fine = True
    for i, name in enumerate(names):
        if not name.strip() or name == "*":
            message = f"{quoted(name)} cannot be the name of a block"
            faults.add("DPC109", (*path, i), message, "`*` stands for every block")
        elif first.setdefault(name, i) != i:
            message = f"the block {quoted(name)} is named twice"
            faults.add("DPC120", (*path, i), message, "remove one of them")
        else:
            continue
        fine = False
    return fine
