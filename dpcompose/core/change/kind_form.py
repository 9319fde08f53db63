"""The form of a kind of map or partition in a spec: its keys, and what is built from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar

from dpcompose.core.change.row_facts import Shape
from dpcompose.core.numbers.form_keys import FormKey, Weaker


class Refusal(NamedTuple):
    """An error in the use of a map, a partition or a mechanism: its code, keys, message and
    hint."""

    code: str
    at: tuple[str, ...]
    says: str
    hint: str


class Contradiction(Exception):
    """Raised for keys that contradict each other or are incomplete.

    `at`: the key that it is about, None for the whole. `of_key`: the error is about the key itself,
    not about its value.
    """

    def __init__(
        self, code: str, at: str | None, says: str, hint: str, of_key: bool = True
    ) -> None:
        super().__init__(says)
        self.why = Refusal(code, () if at is None else (at,), says, hint)
        self.of_key = of_key


def excluded(one: str, other: str, at: str, hint: str) -> Contradiction:
    """Returns the error that the keys `one` and `other` exclude each other, to be reported `at` one
    of them."""
    return Contradiction("DPC105", at, f"`{one}` and `{other}` exclude each other", hint)


#: A sentence on what the author declares, and the key that declares it.
Declared = tuple[str, tuple[str, ...]]

Made = TypeVar("Made", covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class Form(Generic[Made]):
    """The form of a kind in a spec.

    `about`: a description in a sentence. `build`: builds its object from the values of the keys,
    where `kind` itself does not; it may raise `Contradiction`. `reads`: the shape of dataset that
    it reads. `elsewhere`: keys of other kinds that are easily taken for one of this kind, with an
    explanation. `other`: a second class that `build` may return.
    """

    name: str
    kind: type[Made]
    about: str
    keys: tuple[FormKey, ...] = ()
    build: Callable[..., Made] | None = None
    reads: Shape = Shape.TABLE
    elsewhere: tuple[tuple[str, str], ...] = ()
    other: type[Made] | None = None

    def made(self, *values: Any) -> Made:
        """Returns the map or partition with these values of the form's keys, in their order.

        A number is a Fraction, names are a set, moves two numbers, what kinds feed the numbers of
        blocks; blocks are not passed. Raises Contradiction.
        """
        build: Callable[..., Made] = self.build or self.kind
        return build(*values)

    def weaker(self, key: FormKey) -> tuple[Weaker, ...]:
        """Returns the changes of the value of a key that claim no more than it does."""
        return key.weaker

    def has(self, key: str) -> bool:
        """Returns whether the form has a key of this name."""
        return any(each.name == key for each in self.keys)


class Forms(Mapping[str, Form[Made]]):
    """The forms of all kinds by their names in a spec; the file of a kind is loaded when its form
    is asked for: a spec has few of them.

    `room`: the folder of their files, and how the names of these begin.
    """

    def __init__(self, room: str, *names: str) -> None:
        self._room = room
        self._names = names

    def __getitem__(self, name: str) -> Form[Made]:
        if name not in self._names:
            raise KeyError(name)
        form: Form[Made] = import_module(self._room + name.replace("-", "_")).FORM
        return form

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
