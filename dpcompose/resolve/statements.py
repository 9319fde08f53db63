"""Statements whose parameters may still depend on the block that a mechanism reads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.guarantee import Guarantee, Notion
from dpcompose.core.problem import Mechanism, Path, Statement
from dpcompose.core.relation import Relation

#: The name of a block, or its number.
Block = str | int
#: A parameter as it stands: one number, or one for each block.
Parameter = Fraction | dict[Block, Fraction]


class Draft(NamedTuple):
    """A statement whose parameters may still depend on the block."""

    relation: Relation
    up: int
    notion: Notion
    value: Parameter
    delta: Parameter
    path: Path
    relation_given: bool

    def guarantee(self, block: Block | None) -> Guarantee:
        """The guarantee on one block; without one, the parameters are numbers."""
        value, delta = self.value, self.delta
        return Guarantee(
            self.notion,
            value if isinstance(value, Fraction) else value[_some(block)],
            delta if isinstance(delta, Fraction) else delta[_some(block)],
        )

    def on(self, block: Block | None) -> Statement:
        """The statement on one block."""
        return Statement(
            self.relation, self.up, self.guarantee(block), self.path, self.relation_given
        )


def _some(block: Block | None) -> Block:
    assert block is not None
    return block


@dataclass(slots=True, eq=False)
class Varied:
    """A mechanism that is another one for each block of a partition."""

    name: str
    drafts: list[Draft]
    count: int
    path: Path

    @property
    def parameters(self) -> list[dict[Block, Fraction]]:
        """The parameters that vary."""
        given = [each for draft in self.drafts for each in (draft.value, draft.delta)]
        return [each for each in given if isinstance(each, dict)]

    def on(self, block: Block) -> Mechanism:
        """The mechanism on one block."""
        statements = tuple(draft.on(block) for draft in self.drafts)
        return Mechanism(self.name, statements, self.count, self.path)
