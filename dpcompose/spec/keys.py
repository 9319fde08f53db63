"""Keys that are missing, and examples of those that a kind needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from dpcompose.core.change.kind_form import Form
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms.family import REQUIRED, Sort
from dpcompose.curves.rounding import listing as named_all
from dpcompose.errors import Path
from dpcompose.faults import Faults, listing
from dpcompose.spec.models import Model
from dpcompose.spec.phrases import as_hint, keys_of, model_at

_MOST_NAMES = 20  # of datasets, for one that is missing
#: What stands at a required key of each sort in an example.
_EXAMPLES = {
    Sort.WHOLE: "5",
    Sort.NAME: "city",
    Sort.COLUMN: "city",
    Sort.COLUMNS: "[city]",
    Sort.FLAG: "true",
    Sort.NUMBER: "1",
    Sort.MOVES: "1",
    Sort.BLOCKS: "4",
    Sort.FEEDS: "{free: [common], paid: [common, extra]}",
}


def example_of(form: Form[Any]) -> str:
    """Returns an example of the required keys of a kind, as text; "" if it requires none."""
    return entries_of(form, required(form))


def required(form: Form[Any]) -> list[str]:
    """Returns the keys of a kind that must be given."""
    return [each.name for each in form.keys if each.default is REQUIRED]


def entries_of(form: Form[Any], keys: Iterable[str]) -> str:
    """Returns an example of the given keys of a kind, as text: `rows: 5, keep: random`."""
    by_name = {each.name: each for each in form.keys}
    examples = (
        (
            name,
            by_name[name].choices[-1] if by_name[name].choices else _EXAMPLES[by_name[name].sort],
        )
        for name in keys
    )
    return ", ".join(f"{name}: {text}" for name, text in examples)


# --- missing keys --------------------------------------------------------------------------------


def missing_keys(errors: Iterable[tuple[Mapping[str, Any], Path]], faults: Faults) -> None:
    """Reports missing keys, those of one mapping together."""
    groups: dict[Path, tuple[type[Model], list[str]]] = {}
    for error, path in errors:
        model = model_at(error["loc"])
        groups.setdefault(path[:-1], (model, []))[1].append(str(path[-1]))
    for path, (model, keys) in groups.items():
        if faults.full:
            faults.skip()
            continue
        legal = keys_of(model)
        told = [f"`{each}: …`, {as_hint(legal[each]) or 'its value'}" for each in keys]
        hint = f"add {'; and '.join(told)}"
        if len(keys) > 2:
            hint = f"add {', '.join(f'`{each}: …`' for each in keys)}"
        names = named_all(keys)
        if keys == ["reads"] or keys == ["from"]:
            tree = faults.at(("datasets",))
            datasets = tree if isinstance(tree, dict) else {}
            names_there = [each for each in islice(datasets, _MOST_NAMES) if each not in path]
            if len(names_there) == 1:
                hint = f"add `{keys[0]}: {names_there[0]}`"
            elif names_there:
                hint = f"add `{keys[0]}: …`, one of the datasets {listing(names_there)}"
        if keys == ["dpcompose"]:
            hint = "a spec starts with `dpcompose: 1`, the version of its language"
        form = _form(path, faults)
        if form is not None:
            example = entries_of(form, required(form))
            tag = "kind" if path[-1] == "map" else "by"
            hint += f"; for example `{path[-1]}: {{{tag}: {form.name}, {example}}}`"
        at, key = _head(path, faults)
        verb = "is" if len(keys) == 1 else "are"
        label = f"{names} {verb} missing"
        message = f"{model.what} needs {names}"
        faults.add("DPC102", at, message, hint, key=key, label=label)


def _form(path: Path, faults: Faults) -> Form[Any] | None:
    """Returns the form of the kind of the map or partition at a path; None if its kind is
    unknown."""
    if not path or path[0] != "datasets" or path[-1] not in {"map", "partition"}:
        return None
    given = faults.at(path)
    forms: Mapping[str, Form[Any]] = MAPS if path[-1] == "map" else PARTITIONS
    tag = "kind" if path[-1] == "map" else "by"
    kind = given.get(tag) if isinstance(given, dict) else given
    return forms.get(kind) if isinstance(kind, str) else None


def _head(path: Path, faults: Faults) -> tuple[Path, bool]:
    """Returns the path at which a mapping is marked, and whether the key is marked instead of its
    value.

    A mapping in a list is marked at its name.
    """
    tree = faults.at(path)
    if path and isinstance(path[-1], int) and isinstance(tree, dict):
        first = "name" if "name" in tree else next(iter(tree), None)
        if first is not None:
            return (*path, first), first != "name"
    return path, True
