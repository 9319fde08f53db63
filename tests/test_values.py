"""Dataclasses made here are those that `dataclasses` makes."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import Any

import pytest

import dpcompose
from dpcompose import values


def _fixed(make: Callable[..., Any]) -> Any:
    @make(frozen=True, slots=True)
    class Fixed:
        first: int
        second: tuple[int, ...] = ()
        third: str = field(default="three", repr=False, compare=False)
        fourth: list[int] = field(default_factory=list, compare=False)

        def total(self) -> int:
            return self.first + sum(self.second)

    return Fixed


def _open(make: Callable[..., Any]) -> Any:
    @make(slots=True)
    class Open:
        first: int
        seen: set[int] = field(default_factory=set, init=False)
        count: int = field(default=7, init=False)

        def __post_init__(self) -> None:
            self.count += self.first

    return Open


def _written(make: Callable[..., Any]) -> Any:
    @make(slots=True, eq=False)
    class Written:
        first: int
        other: int

        def __init__(self, both: int) -> None:
            self.first = self.other = both

        def __repr__(self) -> str:
            return f"<{self.first}>"

    return Written


#: The same classes, by the library and by this package.
PAIRS = [(make(dataclasses.dataclass), make(values.dataclass)) for make in (_fixed, _open)]


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_fields_are_those_of_the_library(theirs: Any, ours: Any) -> None:
    assert [(f.name, f.type, f.init) for f in fields(ours)] == [
        (f.name, f.type, f.init) for f in fields(theirs)
    ]
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__slots__ == theirs.__slots__


@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
@pytest.mark.parametrize("arguments", [(), (1,), (1, (2, 3)), (1, (2,), "x", [4]), (1, 2, 3, 4, 5)])
def test_calls_do_the_same(theirs: Any, ours: Any, arguments: tuple[Any, ...]) -> None:
    try:
        expected = theirs(*arguments)
    except TypeError as error:
        with pytest.raises(TypeError) as found:
            ours(*arguments)
        assert str(found.value) == str(error)
        return
    made = ours(*arguments)
    assert repr(made).partition(".<locals>.")[2] == repr(expected).partition(".<locals>.")[2]
    assert [getattr(made, f.name) for f in fields(made)] == [
        getattr(expected, f.name) for f in fields(expected)
    ]


def test_values_are_compared_by_their_compared_fields() -> None:
    fixed = _fixed(values.dataclass)
    one, same, other = fixed(1, (2,)), fixed(1, (2,), "x", [9]), fixed(1, (3,))
    assert one == same and hash(one) == hash(same) and one != other
    assert one != _fixed(values.dataclass)(1, (2,)), "of another class"
    assert one.__eq__(1) is NotImplemented
    opened = _open(values.dataclass)
    assert opened(1) == opened(1) != opened(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(opened(1))


def test_each_value_has_defaults_of_its_own() -> None:
    fixed = _fixed(values.dataclass)
    assert fixed(1).fourth is not fixed(1).fourth


def test_fixed_values_cannot_be_changed_but_replaced() -> None:
    fixed = _fixed(values.dataclass)(1, (2,))
    with pytest.raises(FrozenInstanceError):
        fixed.first = 2
    with pytest.raises(FrozenInstanceError):
        del fixed.first
    assert replace(fixed, first=5).total() == 7


def test_what_a_class_writes_itself_stays() -> None:
    written = _written(values.dataclass)
    assert repr(written(3)) == "<3>" and written(3).other == 3
    assert written(3) != written(3), "compared by identity"


def test_fields_are_given_by_name() -> None:
    fixed = _fixed(values.dataclass)
    assert fixed(second=(1,), first=2) == fixed(2, (1,))
    with pytest.raises(TypeError, match=r"unexpected keyword argument '_0'"):
        fixed(_0=1)


def test_a_field_without_a_default_does_not_follow_one_with_it() -> None:
    with pytest.raises(TypeError, match=r"Wrong\.second needs a default"):

        @values.dataclass(slots=True)
        class Wrong:
            first: int = 0
            second: int  # type: ignore[misc]


def test_a_class_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="slots"):
        values.dataclass(slots=False)


@values.dataclass(frozen=True, slots=True)
class Sent:
    number: int
    inner: tuple[int, ...] = ()


@values.dataclass(slots=True)
class Box:
    number: int


def test_values_are_sent_and_copied() -> None:
    for each in (Sent(1, (2,)), Box(3)):
        for sent in (pickle.loads(pickle.dumps(each)), copy.copy(each), copy.deepcopy(each)):
            assert sent == each and type(sent) is type(each)


def test_a_value_in_itself_has_a_text() -> None:
    box = Box(0)
    box.number = box  # type: ignore[assignment]
    assert repr(box) == "Box(number=...)"


def test_every_dataclass_of_the_package_is_made_here() -> None:
    package = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(dpcompose.__path__, "dpcompose.")
        if not each.name.endswith("__main__")
    ]
    classes = {
        each
        for module in package
        for each in vars(module).values()
        if isinstance(each, type) and dataclasses.is_dataclass(each)
        if each.__module__.startswith("dpcompose")
    }
    assert len(classes) > 100
    for each in classes:
        signature = [f.name for f in fields(each) if f.init]
        init = each.__init__.__code__
        written = init.co_filename != "<string>"
        assert written or list(init.co_varnames[1 : init.co_argcount]) == signature
        assert each.__dataclass_params__.init is False  # type: ignore[attr-defined]
