"""Walks of the search driven by hand: each loss that a rule asks for is given by the test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asked import written

from dpcompose.core.change.units import ChangeUnit, State, leaf_item, single_units, state_of
from dpcompose.core.loss.algebra import Loss, Walk
from dpcompose.core.model.problem import Problem
from dpcompose.core.model.tree import Place, lay_out
from dpcompose.resolve import resolve
from dpcompose.source import load


def problem_of(
    datasets: str, mechanisms: str, protect: str = "unbounded", more: str = ""
) -> Problem:
    """The problem of a spec, whose entries are written on one line each."""
    text = written(datasets, *mechanisms.strip().splitlines(), protect=protect, more=more)
    return resolve(load(text, "spec.yaml")).problem


def top_of(problem: Problem) -> Place:
    """The place of the only root."""
    ((_, top),) = lay_out(problem)
    return top


def of(leaf: ChangeUnit, count: int = 1) -> State:
    """A change of so many units of one kind."""
    return state_of([(leaf_item(leaf), count)])


def kinds(state: State) -> dict[str, int]:
    """The units of a change by their kinds."""
    return {str(unit[0][0].leaf.kind): count for unit, count in single_units(state)}


def driven(
    walk: Walk, answer: Callable[[Place, State], Loss]
) -> tuple[Any, list[tuple[str, State]]]:
    """What a walk gives, and what it asked for, by the names of datasets."""
    asked: list[tuple[str, State]] = []
    try:
        place, state = next(walk)
        while True:
            asked.append((place.dataset.name, state))
            place, state = walk.send(answer(place, state))
    except StopIteration as stop:
        return stop.value, asked
