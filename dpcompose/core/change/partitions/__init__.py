"""The kinds of partitions, one file each."""

from __future__ import annotations

from dpcompose.core.change.partitions import by_key, by_kinds, by_membership, by_position, by_value
from dpcompose.core.change.partitions.partition_kind import PartitionForm

#: Every kind by its name in a spec.
PARTITIONS: dict[str, PartitionForm] = {
    form.name: form
    for form in (by_value.FORM, by_key.FORM, by_position.FORM, by_membership.FORM, by_kinds.FORM)
}
