"""Statements whose parameters may still depend on the block that a mechanism reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.change.neighbouring import Relation
from dpcompose.core.model.problem import Mechanism, Path, Statement
from dpcompose.core.notions.guarantee import Guarantee

#: The name of a block, or its number.
Block = str | int
#: A parameter as it stands: one number, or one for each block.
Parameter = Fraction | dict[Block, Fraction]


class Draft(NamedTuple):
    """A statement whose parameters may depend on the block; `make` builds its guarantee from their
    values."""

    relation: Relation
    up: int
    parameters: tuple[Parameter, ...]
    make: Callable[..., Guarantee]
    path: Path
    relation_given: bool
    implied: bool = False

    def on(self, block: Block | None) -> Statement:
        """Returns the statement for one block; None: no parameter depends on the block."""
        values = [
            each if isinstance(each, Fraction) else each[_required_block(block)]
            for each in self.parameters
        ]
        return Statement(
            self.relation,
            self.up,
            self.make(*values),
            self.path,
            self.relation_given,
            self.implied,
        )


def _required_block(block: Block | None) -> Block:
    """Returns the block, which must be given where parameters depend on it."""
    assert block is not None
    return block


def varying(drafts: list[Draft]) -> list[dict[Block, Fraction]]:
    """Returns the parameters that depend on the block, each as a mapping from blocks to values."""
    given = (each for draft in drafts for each in draft.parameters)
    return [each for each in given if isinstance(each, dict)]


@dataclass(slots=True, eq=False)
class Varied:
    """A mechanism whose parameters depend on the block of a partition."""

    name: str
    drafts: list[Draft]
    count: int
    path: Path
    group: str | None = None
    interactive: bool = False

    @property
    def parameters(self) -> list[dict[Block, Fraction]]:
        """Returns the parameters that depend on the block, each as a mapping from blocks to
        values."""
        return varying(self.drafts)

    def on(self, block: Block) -> Mechanism:
        """Returns the mechanism on one block, with the parameters of that block."""
        statements = tuple(draft.on(block) for draft in self.drafts)
        of_spec = self.path, self.group, self.interactive
        return Mechanism(self.name, statements, self.count, *of_spec)
