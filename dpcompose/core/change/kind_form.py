"""How a kind of map or of partition is written in a spec: its keys, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import NUMBER, Need


class Sort(Enum):
    """What stands at a key."""

    WHOLE = "a whole number"
    NAME = "a name"
    COLUMN = "a column"
    COLUMNS = "a list of columns"
    FLAG = "true or false"
    CHOICE = "one of some words"
    NUMBER = "a number"
    MOVES = "a number, or one for rows added and one for rows replaced"
    BLOCKS = "a number of blocks, or their names"
    FEEDS = "for each kind of row the names of blocks"


#: The default of a key that must be given.
REQUIRED = object()


@dataclass(frozen=True, slots=True, eq=False)
class FormKey:
    """A key: its name, what stands there, what it means.

    `default`: REQUIRED, or what it is where it is left out. `choices`: the words of a choice.
    `need`: what numbers must be.
    """

    name: str
    sort: Sort
    says: str
    default: object = REQUIRED
    choices: tuple[str, ...] = ()
    need: Need = NUMBER


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
