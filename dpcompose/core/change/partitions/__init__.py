"""The kinds of partitions, one file each."""

from __future__ import annotations

from dpcompose.core.change.kind_form import Forms
from dpcompose.core.change.partitions.partition_kind import PartitionKind

#: Every kind by its name in a spec.
PARTITIONS: Forms[PartitionKind] = Forms(
    f"{__name__}.by_", "value", "key", "position", "membership", "kinds"
)


def overlapping(blocks: int) -> PartitionKind:
    """Returns the kind of a partition in which a row may be in all of so many blocks at once."""
    return PARTITIONS["membership"].made(blocks)
