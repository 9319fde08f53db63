"""The problem that a spec would state if some values of its tree were others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dpcompose.core.model.problem import Problem
from dpcompose.errors import Path
from dpcompose.resolve import resolve
from dpcompose.source import Source, Value


class Put(NamedTuple):
    """A value at a place in the tree, where nothing or another one stands; None removes it."""

    path: Path
    value: Value

    def into(self, tree: Value) -> None:
        """Changes a tree, in which everything above the place exists."""
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
    """Returns a copy of a tree, without shared parts, with values put into it."""
    copy = _copy(tree)
    for put in puts:
        put.into(copy)
    return copy


def _copy(value: Value) -> Value:
    """Returns a copy of a tree; it is no deeper than a source may be nested."""
    if isinstance(value, dict):
        return {key: _copy(each) for key, each in value.items()}
    return [_copy(each) for each in value] if isinstance(value, list) else value


def what_if(source: Source, puts: Iterable[Put]) -> Problem:
    """Returns the problem of a spec with values put into its tree; places stay those of the spec.

    Raises InvalidSpec if the changed spec is invalid.
    """
    return resolve(replace(source, value=edited(source.value, puts))).problem
