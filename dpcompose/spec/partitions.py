"""Partitions as they are written: a model for each kind, made of its keys."""

from typing import TYPE_CHECKING

from pydantic import Field

from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.spec.fields import Because, Optional, Whole
from dpcompose.spec.kind_models import model_of, union_of
from dpcompose.spec.models import Model


class AnyPartition(Model):
    __doc__ = "What every partition says; each kind has a model of its own."

    what = "any `partition`"

    drops: bool = Field(
        default=False, description="Declares that some row is in none of the blocks that are read."
    )
    max_blocks_per_unit: Optional[Whole] = Field(
        default=None, description="How many blocks the rows of one privacy unit touch at most."
    )
    max_rows_per_block: Optional[Whole] = Field(
        default=None, description="How many rows of one privacy unit are in one block at most."
    )
    because: Because
    by: str = Field(description="What rows are assigned to blocks by.")


#: The model of each kind by its name.
PARTITION_KINDS: dict[str, type[AnyPartition]] = {
    name: model_of(form, AnyPartition, f"By{name.title()}", f"a partition by {name}", tag="by")
    for name, form in PARTITIONS.items()
}


if TYPE_CHECKING:
    Partition = AnyPartition
else:
    Partition = union_of(PARTITION_KINDS, "by", prefix="by ")
