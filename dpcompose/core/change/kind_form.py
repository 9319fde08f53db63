"""The form of a kind of map or partition in a spec: its keys, and what is built from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey


class Refusal(NamedTuple):
    """An error in a spec: its code, the keys that it is about, a message and a hint."""

    code: str
    at: tuple[str, ...]
    says: str
    hint: str


class Contradiction(Exception):
    """Raised for keys that contradict each other or are incomplete.

    `of_key`: the error is about the key itself, not about its value.
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
    """The form of a kind in a spec.

    `about`: a description in a sentence. `reads`: the shape of dataset that it reads. `made`:
    builds its object from the values of the keys, in their order (a number as a Fraction, names as
    a set, moves as two numbers, what kinds feed by the numbers of blocks; blocks are not passed);
    it may raise `Contradiction`. `elsewhere`: keys of other kinds that are easily taken for one of
    this kind, with an explanation. `other`: a second class that `made` may return.
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
        """Returns whether the form has a key of this name."""
        return any(each.name == key for each in self.keys)
