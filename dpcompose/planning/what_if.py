"""The problem that a spec would state if some values of its tree were others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.model.problem import Problem
from dpcompose.curves.rounding import chance
from dpcompose.errors import Path
from dpcompose.report.wording import number
from dpcompose.resolve import resolve
from dpcompose.source import Source, Value


class Put(NamedTuple):
    """A value to set at a path of a tree, whether or not the path has one; None removes it."""

    path: Path
    value: Value

    def into(self, tree: Value) -> None:
        """Sets the value in a tree, in which every ancestor of the path must exist."""
        *above, last = self.path
        for step in above:
            tree = tree[str(step)] if isinstance(tree, dict) else _items(tree)[int(step)]
        if isinstance(tree, dict) and self.value is None:
            del tree[str(last)]
        elif isinstance(tree, dict):
            tree[str(last)] = self.value
        else:
            _items(tree)[int(last)] = self.value


def _items(tree: Value) -> list[Value]:
    assert isinstance(tree, list)
    return tree


def edited(tree: Value, puts: Iterable[Put]) -> Value:
    """Returns a deep copy of a tree with values set in it."""
    copy = _copy(tree)
    for put in puts:
        put.into(copy)
    return copy


def _copy(value: Value) -> Value:
    """Returns a copy of a tree; it is no deeper than a source may be nested."""
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def epsilon_at(delta: Fraction) -> str:
    """Returns what plans call the ε at a δ: `ε at δ = 1e-6`."""
    return f"ε at δ = {chance(number(delta))}"


def delta_at(epsilon: Fraction) -> str:
    """Returns what plans call the δ at an ε: `δ at ε = 1`."""
    return f"δ at ε = {number(epsilon)}"


def what_if(source: Source, puts: Iterable[Put]) -> Problem:
    """Returns the problem of a spec with values set in its tree; positions stay those of the spec.

    Raises InvalidSpec if the changed spec is invalid.
    """
    return resolve(replace(source, value=edited(source.value, puts))).problem
