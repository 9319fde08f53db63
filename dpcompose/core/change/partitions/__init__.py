"""The kinds of partitions, one file each."""

from __future__ import annotations

from dpcompose.core.change.partitions import key, kinds, membership, position, value
from dpcompose.core.change.partitions.kind import PartitionForm

#: Every kind by its name in a spec.
PARTITIONS: dict[str, PartitionForm] = {
    form.name: form for form in (value.FORM, key.FORM, position.FORM, membership.FORM, kinds.FORM)
}
