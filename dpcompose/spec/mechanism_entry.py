"""What the entries under `mechanisms` share, as it is written."""

from pydantic import Field

from dpcompose.spec.fields import Because, Name, Optional, Reference, Whole
from dpcompose.spec.models import Model


class ReadingEntry(Model):
    __doc__ = "What every mechanism that reads a dataset has."

    what = "a mechanism"
    name: Name = Field(description="A name of its own.")
    reads: Reference = Field(
        description="A dataset, a block `name.block`, or `name.*`: a copy on each."
    )
    count: Whole = Field(default=1, description="How many independent copies are released.")
    because: Because
    group: Optional[Name] = Field(
        default=None, description="What it is part of: reports sum the costs of a group."
    )
    tags: Optional[Name] = Field(default=None, description="Another word for `group`.")
    interactive: bool = Field(
        default=False,
        description="It answers questions that are chosen on the way, while others are open; its "
        "guarantee holds against such an analyst.",
    )
    uses: Optional[list[Name]] = Field(
        default=None,
        description="The columns of what it reads on which it depends alone: as if it read "
        "`map: {kind: columns, only: [...]}` of it.",
    )
