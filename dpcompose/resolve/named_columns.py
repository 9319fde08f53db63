"""Columns by name: which rows of a dataset have, and what is said of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dpcompose.core.change.maps import form_of
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.family import FormKey, Sort
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults
from dpcompose.resolve.forest import SpecPlace


def columns_missing(
    keys: Iterable[FormKey], given: object, path: Path, place: SpecPlace, faults: Faults
) -> bool:
    """Returns whether a map or partition names columns that its dataset lacks, which is reported.

    Every name is legal if the root does not name its columns. Below a map that makes new columns a
    name may be one of these, except for columns that must be known to be unchanged.
    """
    fine = True
    for key in keys:
        value = getattr(given, key.name, None)
        if key.sort is Sort.COLUMN and value is not None:
            fine &= has_column(value, (*path, key.name), place, faults)
        elif key.sort is Sort.COLUMNS and value is not None:
            if not value and key.name == "only":
                hint = "name at least one column"
                faults.add("DPC108", (*path, key.name), "no column is selected", hint)
                fine = False
            for i, name in enumerate(value):
                at = (*path, key.name, i)
                fine &= has_column(name, at, place, faults, as_it_is=key.name == "uses")
    return not fine


def has_column(
    name: str, at: Path, place: SpecPlace, faults: Faults, *, as_it_is: bool = False
) -> bool:
    """Returns whether rows of a dataset may have a column; if not, reports an error.

    `as_it_is`: the column must be unchanged from the root, unless it is a new one with a new name.
    """
    traits, sound = place.facts.traits, place.facts.sound
    if not sound or traits.columns is None or name in traits.columns:
        return True
    lost_by = _lost_by(name, place)
    if traits.others and (lost_by is None or not as_it_is):
        return True
    if lost_by is None:
        message = f"{quoted(name)} is no column of {quoted(place.name)}"
        faults.add("DPC131", at, message, wrong=name, legal=sorted(traits.columns))
        return False
    by = quoted(lost_by.name)
    made_by = lost_by.made_by
    assert made_by is not None
    message = f"{quoted(name)} is not there any more: {by} does not keep it"
    hint = f"use it above {by}"
    if isinstance(made_by, Columns):
        hint = f"list it in `only` of {by}, or use it above {by}"
    elif form_of(made_by).has("keeps"):
        hint = (
            f"let {by} list it in `keeps`, if it leaves it as it is; "
            "a column that a map makes anew needs a name of its own"
        )
    faults.add("DPC131", at, message, hint, related=((lost_by.path, True, "here"),))
    return False


def named_by_roots(
    names: Sequence[str], at: Path, roots: Sequence[SpecPlace], changes: bool, faults: Faults
) -> bool:
    """Returns whether each name is a column of a root; if not, reports an error.

    `changes`: only these columns change, so that some root has to name all of its own. A root that
    names no columns may have any.
    """
    tables = [root for root in roots if root.facts.traits.shape is Shape.TABLE]
    if not names:
        return True
    known = [root.facts.traits.columns for root in tables]
    named = [each for each in known if each is not None]
    if changes and tables and not named:
        name = quoted(tables[0].name)
        message = f"all other columns are kept, and {name} does not say which these are"
        hint = f"list all of its columns: `{tables[0].name}: {{columns: […]}}`"
        faults.add("DPC159", at, message, hint, related=((tables[0].path, True, "here"),))
        return False
    if not named or (not changes and len(named) < len(known)):
        return True
    legal = sorted(frozenset().union(*named))
    fine = True
    for i, name in enumerate(names):
        if name not in legal:
            whose = f"{quoted(tables[0].name)}" if len(tables) == 1 else "a root"
            message = f"{quoted(name)} is no column of {whose}"
            faults.add("DPC131", (*at, i), message, wrong=name, legal=legal)
            fine = False
    return fine


def _lost_by(name: str, place: SpecPlace) -> SpecPlace | None:
    """Returns the dataset that first lacks a column of the root; None if the root has no such
    column."""
    below, at = place, place.parent
    while at is not None:
        columns = at.facts.traits.columns
        if columns is not None and name in columns:
            return below
        below, at = at, at.parent
    return None
