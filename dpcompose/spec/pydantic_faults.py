"""What pydantic found wrong, as faults with a path, in the words of the spec language."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.curves.rounding import listing as named_all
from dpcompose.errors import Path, meant
from dpcompose.faults import Faults, listing
from dpcompose.source import Number
from dpcompose.source.rewriting import Rewrite, as_list, as_mapping, is_plain, rewritten, wrapped
from dpcompose.spec import synonyms
from dpcompose.spec.fields import Model
from dpcompose.spec.model import Spec, located
from dpcompose.spec.phrases import (
    KINDS,
    as_hint,
    example_of,
    form_of_kind,
    keys_of,
    name_of,
    value_text,
)
from dpcompose.spec.unions import no_member
from dpcompose.spec.unknown_keys import unknown_keys

_MOST_NAMES = 20  # of datasets, for one that is missing
#: What is expected where a union has no member for the value at all.
_SHAPES = {
    "map": "a kind such as `filter`, or a mapping with `kind`",
    "partition": "a mapping such as `{by: value, blocks: 4}`",
    "protect": "a relation, or a mapping such as `{relation: bounded, distance: 3}`",
    "relation": "a relation, or a mapping such as `{relation: bounded, keeps: [user_id]}`",
    "mechanisms": "a mapping such as `{name: count, reads: people, notion: pure, epsilon: 1}`",
    "guarantees": "a mapping such as `{notion: pure, epsilon: 1}`",
    "of": "a mapping such as `{mechanism: gaussian, sigma: 1, sensitivity: 1}`, or a list of such",
    "points": "a list of pairs, such as `[[2, 0.1], [4, 0.3]]`",
    "point": "a pair of numbers such as `[2, 0.1]`",
    "budget": "a mapping such as `{epsilon: 1}`",
    "report": "a mapping such as `{delta: 1e-6}`",
    "hypotheses": "`none-vs-uniform`, or a list of two hypotheses such as `[none, uniform]`",
    "hypothesis": "`none`, `uniform`, a mapping such as `{at_least: 2}`, or a list of such",
    "datasets": "a mapping: `{}` for a root, or `from` with `map` or `partition`",
}
_TYPES = {
    "string_type": "a text",
    "bool_type": "`true` or `false`",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


class _Found(NamedTuple):
    """An error of pydantic in a mapping with a model, at a path of the spec."""

    error: Mapping[str, Any]
    model: type[Model]
    path: Path


def report(errors: Iterable[Mapping[str, Any]], faults: Faults) -> set[Path]:
    """Reports the errors of pydantic as faults, while there is room for them; returns the paths of
    all of them."""
    found = [_Found(error, *located(error["loc"])) for error in errors]
    unknown = (each[1:] for each in found if each.error["type"] == "extra_forbidden")
    told = unknown_keys(unknown, faults) | _one_too_deep(faults)
    left = [each for each in found if each.path not in told]
    _missing_keys((each for each in left if each.error["type"] == "missing"), faults)
    for each in left:
        if each.error["type"] in ("extra_forbidden", "missing"):
            continue
        if faults.full:
            faults.skip()
        else:
            _HANDLERS.get(each.error["type"], _wrong_type)(each, faults)
    return {each.path for each in found}


def _one_too_deep(faults: Faults) -> set[Path]:
    """Reports `mechanisms` that is indented below `datasets`; returns the paths that need no
    further report."""
    path: Path = ("datasets", "mechanisms")
    if not isinstance(faults.at(("datasets",)), dict) or not isinstance(faults.at(path), list):
        return set()
    hint = "indent it like `datasets`"
    faults.add("DPC105", path, "`mechanisms` stands inside `datasets`", hint, key=True)
    return {path, ("mechanisms",)}


# --- missing keys --------------------------------------------------------------------------------


def _missing_keys(errors: Iterable[_Found], faults: Faults) -> None:
    """Reports missing keys, those of one mapping together."""
    groups: dict[Path, tuple[type[Model], list[str]]] = {}
    for _, model, path in errors:
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
        noun = str(path[-1]) if path and path[0] == "datasets" else ""
        form = form_of_kind(noun, faults.at(path)) if noun in KINDS else None
        if form is not None:
            tag = KINDS[noun][0]
            hint += f"; for example `{noun}: {{{tag}: {form.name}, {example_of(form)}}}`"
        at, key = _head(path, faults)
        verb = "is" if len(keys) == 1 else "are"
        label = f"{names} {verb} missing"
        message = f"{model.what} needs {names}"
        faults.add("DPC102", at, message, hint, key=key, label=label)


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


# --- values --------------------------------------------------------------------------------------


def _wrong_type(found: _Found, faults: Faults) -> None:
    """Reports a value of a wrong type, with a hint and a fix where one is known."""
    error, _, path = found
    value, context = error["input"], error.get("ctx", {})
    what = context.get("what") or _TYPES.get(error["type"], "something else")
    if path == ("report",):
        what = _SHAPES["report"]
    hint, write = context.get("hint"), context.get("write")
    fix: Rewrite | None = None if write is None else (rewritten, path, write)
    certain = True
    if error["type"] == "bool_type" and isinstance(value, str):
        said = _SAID.get(value.casefold())
        hint = f"write `{said}`" if said else "write one of the two"
        fix = None if said is None else (rewritten, path, said)
    elif path[-1] == "alpha" and isinstance(value, list):
        hint = "several orders are points: `points: [[2, 0.1], [4, 0.3]]`, each with its ε"
    elif path[-1] == "runs":
        given = f"fixed: {value}" if isinstance(value, Number) else "geometric: 10"
        hint = f"the law of the number of runs, such as `runs: {{{given}}}`"
    elif error["type"] == "list_type":
        hint, fix, certain = _list_due(value, path)
    elif error["type"] == "dict_type" and isinstance(value, list):
        hint = "each dataset stands under its name: `people: {}`"
        fix = (as_mapping, path, "name") if path == ("datasets",) else None
        hint = hint if path == ("datasets",) else None
    elif error["type"] == "string_type" and isinstance(value, list):
        hint, fix = _one_due(value, path)
    code = context.get("code", "DPC103")
    message = f"{name_of(path)} must be {what}, not {value_text(value)}"
    faults.add(code, path, message, hint, fix=fix, certain=certain)


#: Other spellings of the booleans.
_SAID = {
    **dict.fromkeys(("yes", "on", "y", "true"), "true"),
    **dict.fromkeys(("no", "off", "n", "false"), "false"),
}


def _list_due(value: object, path: Path) -> tuple[str | None, Rewrite | None, bool]:
    """Returns (hint, fix, whether the fix is certain) for a value that should be a list and is
    none."""
    in_brackets = (wrapped, path, "[", "]")
    if path == ("mechanisms",) and value is None:
        return "say what is released: `- {name: count, reads: people, …}`", None, True
    if isinstance(value, dict) and next(iter(value), "").startswith("-"):
        return f"a blank stands after the `-` of an item: `- {next(iter(value))[1:]}`", None, True
    if path == ("mechanisms",) and isinstance(value, dict):
        hint = "each mechanism is an item of a list: `- {name: count, reads: people, …}`"
        return hint, (as_list, path, "name"), True
    if isinstance(value, dict) and path[-1] == "guarantees":
        return "one guarantee is a list of one", in_brackets, True
    if isinstance(value, str) and value and is_plain(value):
        return f"a list stands in brackets: `[{value}]`", in_brackets, True
    if isinstance(value, str) and "," in value:
        items = [each.strip() for each in value.split(",")]
        if all(map(is_plain, items)):
            hint = f"a list stands in brackets: `[{', '.join(items)}]`"
            return hint, in_brackets, False
    return None, None, True


def _one_due(value: list[object], path: Path) -> tuple[str | None, Rewrite | None]:
    """Returns the hint and the fix (each may be None) for a list where one text should be."""
    one = value[0] if len(value) == 1 else None
    if isinstance(one, str) and is_plain(one):
        return f"write `{one}`, without brackets", (rewritten, path, one)
    if path[-1] == "reads":
        return "a mechanism reads one dataset: give each dataset a mechanism of its own", None
    return None, None


def _no_value(found: _Found, faults: Faults) -> None:
    message = f"{name_of(found.path)} has no value"
    faults.add("DPC103", found.path, message, "give it a value, or remove the key", key=True)


def _choice(found: _Found, faults: Faults) -> None:
    """Reports a value that is none of the allowed words, with the nearest one as a fix."""
    error, model, path = found
    value, expected = error["input"], error["ctx"]["expected"]
    hint = as_hint(keys_of(model).get(str(path[-1]), ""))
    legal = _CHOICES.findall(expected)
    best = meant(value, legal, closed=True) if isinstance(value, str) else None
    table = _OTHER_WORDS.get(path)
    if best is None and table is not None and isinstance(value, str):
        word = synonyms.meaning(table, value)
        best = word.write if word is not None and word.write in legal else None
    fix = None if best is None else (rewritten, path, best)
    message = f"{name_of(path)} must be {expected.replace(chr(39), '`')}, not {value_text(value)}"
    faults.add("DPC104", path, message, hint, fix=fix)


#: The table of the synonyms of the words at a key.
_OTHER_WORDS: Mapping[Path, str] = {("adaptivity",): "adaptivity", ("filter",): "notions"}
_CHOICES = re.compile("'([^']*)'")


def _empty(found: _Found, faults: Faults) -> None:
    message = f"{name_of(found.path)} must not be empty"
    faults.add("DPC108", found.path, message, "name at least one")


def _long(found: _Found, faults: Faults) -> None:
    """Reports a list or a mapping with too many entries."""
    context, path = found.error["ctx"], found.path
    many, most = context["actual_length"], context["max_length"]
    message = f"{name_of(path)} has {many} entries, more than {most}"
    faults.add("DPC117", path, message, "leave some out", key=True)


def _shape(found: _Found, faults: Faults) -> None:
    """Reports a value of another type where a mapping is due."""
    value, path, hint, fix = found.error["input"], found.path, None, None
    field = next(str(step) for step in reversed(path) if isinstance(step, str))
    if field == "points" and path[-1] != field:
        field = "point"
    if field == "hypotheses" and path[-1] != field:
        field = "hypothesis"
    if field == "protect":
        hint = as_hint(keys_of(Spec)["protect"])
    if len(path) == 2 and path[0] == "datasets":
        field = "datasets"
        if value is None:
            hint = f"write `{path[1]}: {{}}` for a root"
            fix = (rewritten, path, "{}")
    if field in {"protect", "relation"} and isinstance(value, list):
        hint, fix = _one_due(value, path)
    if field == "partition" and isinstance(value, str) and value in PARTITIONS:
        hint = f"`partition: {{by: {value}, {example_of(PARTITIONS[value])}}}`"
    if field == "budget" and isinstance(value, str):
        hint = (
            f"say in which notion: `{{epsilon: {value}}}`, `{{rho: {value}}}` or `{{mu: {value}}}`"
        )
    if field == "report" and isinstance(value, str):
        hint = f"at a δ: `{{delta: {value}}}`"
    message = f"{name_of(path)} must be {_SHAPES[field]}, not {value_text(value)}"
    faults.add("DPC103", path, message, hint, fix=fix)


_HANDLERS: dict[str, Callable[[_Found, Faults], None]] = {
    "no_value": _no_value,
    "literal_error": _choice,
    "too_short": _empty,
    "too_long": _long,
    "union_tag_not_found": _shape,
    "union_tag_invalid": lambda found, faults: no_member(found.error, found.path, faults),
}
