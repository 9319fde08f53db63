"""How a kind of map or of partition is written in a spec: its keys, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey


class Refusal(NamedTuple):
    """Why something has no meaning where it stands: the code, at which of its keys, a way out."""

    code: str
    at: tuple[str, ...]
    says: str
    hint: str


class Contradiction(Exception):
    """Keys that contradict each other, or are not enough: see `Refusal`.

    `of_key`: it is about the key itself, not about its value.
    """

    def __init__(self, why: Refusal, of_key: bool = True) -> None:
        super().__init__(why.says)
        self.why = why
        self.of_key = of_key


#: A sentence on what the author declares, and the key that declares it.
Declared = tuple[str, tuple[str, ...]]

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class Form(Generic[Made]):
    """How a kind is written in a spec.

    `about`: what it is, in a sentence. `reads`: what it can read. `made`: what stands for it, from
    what stands at each key, in their order (a number as a fraction, names as a set, moves as two
    numbers, what kinds feed by the numbers of blocks; blocks are not handed on); it may raise
    `Contradiction`. `elsewhere`: keys of other kinds that are easily taken for one of this kind,
    with why they are none. `other`: another class of what stands for it, where there are two.
    """

    name: str
    kind: type[Made]
    about: str
    reads: Shape
    keys: tuple[FormKey, ...]
    made: Callable[..., Made]
    elsewhere: tuple[tuple[str, str], ...] = ()
    other: type[Made] | None = None

    def has(self, key: str) -> bool:
        """Whether it has a key."""
        return any(each.name == key for each in self.keys)
