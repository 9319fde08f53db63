"""Dataclasses with slots, as `dataclasses` makes them, at a tenth of the time; values in order.

`dataclasses` writes and compiles up to six functions for each class, and for all classes of this
package that takes longer than everything else before the first spec is read. Here it collects the
fields alone. Of the methods only `__init__` needs compiling, once for all classes that have as many
fields, with defaults of the same sorts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from functools import cache
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

_Fields = tuple[dataclasses.Field[Any], ...]

#: The default of a field that has a new value of its own each time.
_ABSENT = object()

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, slots: bool, frozen: bool = False, eq: bool = True) -> Callable[[type], type]:
        """`dataclasses.dataclass` with the same arguments, for classes with slots.

        All fields are positional; a method that the class writes itself stays.

        Raises:
            ValueError: without slots.
        """
        if not slots:
            raise ValueError("only dataclasses with slots are made here")
        return lambda cls: _made(cls, frozen, eq)


def _made(cls: type, frozen: bool, eq: bool) -> Any:
    cls.__doc__ = cls.__doc__ or cls.__name__  # or a signature is made up for it
    written = dict(cls.__dict__)  # what a class says itself stays
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    fields = dataclasses.fields(cls)
    names = [field.name for field in fields]
    space: dict[str, Any] = {"__repr__": _repr(fields)}
    if "__init__" not in written:
        space["__init__"] = _init(cls, fields, frozen)
    if eq:
        space["__eq__"], space["__hash__"] = _eq_and_hash(fields)
        if not frozen:
            space["__hash__"] = None
    if frozen:
        space |= {"__setattr__": _refuse, "__delattr__": _refuse}
        space["__getstate__"], space["__setstate__"] = _state_of(names)
    space |= {name: value for name, value in cls.__dict__.items() if name not in names}
    for name in ("__dict__", "__weakref__"):
        space.pop(name, None)
    inherited = {name for base in cls.__mro__[1:-1] for name in getattr(base, "__slots__", ())}
    space["__slots__"] = tuple(name for name in names if name not in inherited)
    slotted = type(cls)(cls.__name__, cls.__bases__, space)
    slotted.__qualname__ = cls.__qualname__
    return slotted


def _init(cls: Any, fields: _Fields, frozen: bool) -> FunctionType:
    """`__init__`, with the names of the fields as parameters."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_absent": _ABSENT}
    parameters, lines, defaults = ["self"], [], []
    for n, field in enumerate(fields):
        name = value = f"_{n}"
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            known[f"_new{n}"], default = field.default_factory, _ABSENT
            value = f"_new{n}() if {name} is _absent else {name}" if field.init else f"_new{n}()"
        elif not field.init:
            known[f"_default{n}"], value = default, f"_default{n}"
        if field.init:
            parameters.append(name)
            if default is not dataclasses.MISSING:
                defaults.append(default)
            elif defaults:
                raise TypeError(f"{cls.__name__}.{field.name} needs a default")
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    code = _compiled(", ".join(parameters), "\n  ".join(lines or ["pass"]))
    named = {f"_{n}": field.name for n, field in enumerate(fields)}
    code = code.replace(
        co_varnames=tuple(named.get(each, each) for each in code.co_varnames),
        co_names=tuple(named.get(each, each) for each in code.co_names),
        co_consts=tuple(named.get(each, each) for each in code.co_consts),
    )
    init = FunctionType(code, known, "__init__", tuple(defaults))
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@cache
def _compiled(parameters: str, body: str) -> CodeType:
    """The code of all classes that have fields alike: fields are numbered here, and named there."""
    known: dict[str, Any] = {}
    exec(f"def __init__({parameters}):\n  {body}", known)
    code: CodeType = known["__init__"].__code__
    return code


def _repr(fields: _Fields) -> Callable[[Any], str]:
    names = [field.name for field in fields if field.repr]

    @recursive_repr()
    def __repr__(self: Any) -> str:
        said = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({said})"

    return __repr__


def _eq_and_hash(fields: _Fields) -> tuple[Any, Any]:
    compared = [field.name for field in fields if field.compare]
    get: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda _value: ()

    def __eq__(self: Any, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(get(self))

    return __eq__, __hash__


def rank(value: Any) -> tuple[Any, ...]:
    """A key by which values of any kinds are sorted, the same in every run; never a text of them,
    since numbers may be too long for one.

    For None, numbers, texts and names of an enumeration, and tuples and dataclasses of these.
    """
    match value:
        case None:
            return (0,)
        case int() | Fraction():
            return (1, value.numerator, value.denominator)
        case str():
            return (2, str(value))
        case Enum():
            return (2, value.name)
        case tuple():
            return (3, *map(rank, value))
        case _:
            fields = dataclasses.fields(value)
            return (4, type(value).__name__, *(rank(getattr(value, f.name)) for f in fields))


def _refuse(self: Any, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"{type(self).__name__}.{name} is fixed")


def _state_of(names: list[str]) -> tuple[Any, Any]:
    """How a value that is fixed is sent to another process, which happens thousands of times."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return __getstate__, __setstate__
