"""The kinds of partitions, one file each."""

from __future__ import annotations

from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.partitions import by_key, by_kinds, by_membership, by_position, by_value
from dpcompose.core.change.partitions.partition_kind import PartitionKind

#: Every kind by its name in a spec.
PARTITIONS: dict[str, Form[PartitionKind]] = {
    kind.FORM.name: kind.FORM for kind in (by_value, by_key, by_position, by_membership, by_kinds)
}


def overlapping(blocks: int) -> PartitionKind:
    """Returns the kind of a partition in which a row may be in all of so many blocks at once."""
    return by_membership.ByMembership(blocks)
