"""What the models say of each value of a spec: which values are numbers, and what would claim less.

Nothing here knows a key by its name, so that a new key, or a kind of rows that is called like one,
is read as what its model says.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, get_args, get_origin

from dpcompose.core.numbers.form_keys import Weaker
from dpcompose.spec.fields import KeysAreNumbers, Model, OneOf, ReadNumber, WeakerIf
from dpcompose.spec.model import Spec, keys_of


class Part(NamedTuple):
    """What the models say of one value of a valid spec.

    `held`: the model of a mapping with fixed keys, or the type of any other value; None where
    nothing is known. `is_number`: it is the text of a number or an expression; `number_keys`: so
    are its keys. `weaker`: the changes of the value after which the spec claims no more.
    """

    held: Any = None
    is_number: bool = False
    number_keys: bool = False
    weaker: tuple[Weaker, ...] = ()

    @property
    def model(self) -> type[Model] | None:
        """Returns the model of a mapping with fixed keys; None for any other value."""
        return self.held if isinstance(self.held, type) and issubclass(self.held, Model) else None

    @property
    def keys(self) -> tuple[str, ...]:
        """Returns the keys that may stand in a mapping with fixed keys; none for other values."""
        return () if self.model is None else tuple(map(str, keys_of(self.model)))

    def below(self, step: str | int, value: object) -> Part:
        """Returns what is said of the value at a key or an index of this one."""
        inherited = tuple(way for way in self.weaker if way != "absent")
        if self.model is not None:
            return part(keys_of(self.model).get(step), value, inherited)
        items = get_args(self.held)
        if get_origin(self.held) is tuple:
            return part(items[int(step)], value, inherited)
        return part(items[-1] if items else None, value, inherited)


def part(held: Any, value: object, inherited: tuple[Weaker, ...] = ()) -> Part:
    """Returns what the models say of a value, where a value of the type `held` stands.

    `inherited`: what is said of the value around it.
    """
    number = keys = False
    weaker: list[Weaker] = []
    while held is not None:
        if get_origin(held) is Annotated:
            choice: OneOf | None = None
            for mark in held.__metadata__:
                number |= isinstance(mark, ReadNumber)
                keys |= isinstance(mark, KeysAreNumbers)
                weaker += mark.ways if isinstance(mark, WeakerIf) else ()
                choice = mark if isinstance(mark, OneOf) else choice
            held = held.__origin__
            if choice is not None:  # None: a short form, such as the name of a kind of map
                held = choice.chosen(held, value)
        elif type(None) in get_args(held):  # a key that may be left out
            held = get_args(held)[0]
        else:
            break
    return Part(held, number, keys, tuple(weaker) or inherited)


#: What is said of a whole spec, and of a value of which nothing is known.
WHOLE, UNKNOWN = Part(Spec), Part()
