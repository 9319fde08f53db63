"""Dataclasses with slots, as `dataclasses` makes them, at a tenth of the time.

`dataclasses` writes and compiles up to six functions for each class, and for all classes of this
package that takes longer than everything else before the first spec is read. Here it collects the
fields alone; of the methods only `__init__` is compiled, since no other depends on more than which
fields there are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[type], type]:
        """`dataclasses.dataclass` with the same arguments, for classes with slots.

        All fields are positional, and no hash or comparison is written by hand.

        Raises:
            ValueError: without slots.
        """
        if not slots:
            raise ValueError("only dataclasses with slots are made here")
        return lambda cls: _made(cls, frozen, eq)


def _made(cls: type, frozen: bool, eq: bool) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # or a signature is made up for it
    written = cls.__dict__.keys()  # what a class says itself stays
    slotted: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    given: dict[str, Any] = {"__repr__": _repr(slotted)}
    if "__init__" not in written:
        given["__init__"] = _init(slotted, frozen)
    if eq:
        given["__eq__"], given["__hash__"] = _eq_and_hash(slotted)
        if not frozen:
            given["__hash__"] = None
    if frozen:
        given |= {"__setattr__": _refuse, "__delattr__": _refuse}
        given |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in given.items():
        if name not in written:
            setattr(slotted, name, method)
    return slotted


def _init(cls: Any, frozen: bool) -> Any:
    """The one method that is compiled: its signature is that of the class."""
    known: dict[str, Any] = {"_set": object.__setattr__}
    parameters, lines = [], []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default is not dataclasses.MISSING:
            known[f"_default_{name}"] = field.default
            default = f"_default_{name}"
            value = name if field.init else default
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_new_{name}"], known["_absent"] = field.default_factory, _ABSENT
            default = "_absent"
            value = f"_new_{name}()"
            if field.init:
                value += f" if {name} is _absent else {name}"
        else:
            default = ""
        if field.init:
            parameters.append(f"{name}={default}" if default else name)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n  ".join(lines or ["pass"])
    exec(f"def __init__({', '.join(['self', *parameters])}):\n  {body}", known)
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


_ABSENT = object()


def _repr(cls: Any) -> Callable[[Any], str]:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({said})"

    return __repr__


def _eq_and_hash(cls: Any) -> tuple[Any, Any]:
    compared = [field.name for field in dataclasses.fields(cls) if field.compare]
    get: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _value: ()

    def __eq__(self: Any, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(get(self))

    return __eq__, __hash__


def _refuse(self: Any, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} is fixed")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
