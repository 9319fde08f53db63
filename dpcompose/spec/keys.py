"""Keys that are missing or unknown: what was meant by them, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dpcompose.core.change.kind_form import REQUIRED, Form, Sort
from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.numbers.words import listing as named_all
from dpcompose.errors import Path, Replacement, quoted
from dpcompose.faults import Faults, listing
from dpcompose.source import Source, Value
from dpcompose.source.rewriting import Rewrite, moved_in, renamed, renaming, rewritten, writing
from dpcompose.spec.concrete import CONCRETE, NOISE_KEYS, Concrete, Sensitivities
from dpcompose.spec.datasets import Mapped, Split
from dpcompose.spec.guarantees import NOTIONS, Stated
from dpcompose.spec.misplaced import misplaced
from dpcompose.spec.model import Spec
from dpcompose.spec.models import Model
from dpcompose.spec.phrases import NOISE_PARAMETERS, PARAMETERS, as_hint, keys_of, model_at
from dpcompose.spec.synonyms import key as meant_key
from dpcompose.spec.training import in_other_words

#: What stands at a required key of each sort in an example.
_EXAMPLES = {
    Sort.WHOLE: "5",
    Sort.NAME: "city",
    Sort.NAMES: "[city]",
    Sort.FLAG: "true",
    Sort.NUMBER: "1",
    Sort.MOVES: "1",
    Sort.BLOCKS: "4",
    Sort.FEEDS: "{free: [common], paid: [common, extra]}",
}


def unknown_keys(errors: Iterable[tuple[Mapping[str, Any], Path]], faults: Faults) -> set[Path]:
    """Report keys that are unknown where they stand; the paths of missing keys that this tells."""
    told: set[Path] = set()
    for error, path in errors:
        if path not in told:
            told |= _unknown(model_at(error["loc"]), path, faults)
    return told


def _unknown(model: type[Model], path: Path, faults: Faults) -> set[Path]:
    key, above = str(path[-1]), path[:-1]
    inside = _belongs_inside(model, path, faults)
    if inside is not None:
        return inside
    siblings = faults.at(above)
    siblings = siblings if isinstance(siblings, dict) else {}
    other = in_other_words(model, key, siblings, path)
    if other is not None:
        faults.add(
            "DPC101",
            path,
            f"unknown key {quoted(key)} in {model.what}",
            other.hint,
            key=True,
            label=other.label,
            fix=other.fix,
            certain=other.certain,
        )
        return {(*above, each) for each in other.explains}
    stated = _stated_instead(model, key, above, siblings, faults)
    if stated:
        return stated
    elsewhere = misplaced(model, key)
    if elsewhere is not None:
        fix = _of_another_notion(model, path, siblings)
        faults.add("DPC105", path, *elsewhere, key=True, fix=fix, certain=False)
        own = next((each for each, base in NOTIONS.items() if issubclass(model, base)), "")
        return {(*above, each) for each in PARAMETERS.get(own, ())} if key in SIGNS else set()
    legal = keys_of(model)
    start, colon, rest = key.partition(":")
    if colon and start in legal and siblings.get(key, key) is None:
        faults.add(
            "DPC101",
            path,
            f"a blank is missing after {quoted(start + colon)}",
            f"without it {quoted(key)} is one word",
            key=True,
            fix=renaming(path, f"{start}: {rest}"),
        )
        return {(*above, start)}
    noise = next((each for each, own in CONCRETE.items() if model is own), None)
    best = meant_key(key, list(legal), model is Spec, noise)
    message = f"unknown key {quoted(key)} in {model.what}"
    if best is None:
        hint = "by block: `{unbounded: {north: 1, …}}`" if model is Sensitivities else None
        faults.add(
            "DPC101", path, message, hint, key=True, wrong=key, legal=list(legal), closed=True
        )
        return set()
    if best in siblings:
        hint = f"{quoted(best)} is given too: keep one of them"
        related = (((*above, best), True, ""),)
        faults.add("DPC101", path, message, hint, key=True, related=related)
        return set()
    says = as_hint(legal[best])
    hint = f"{quoted(best)}: {says}" if says else f"write {quoted(best)}"
    fix = renaming(path, best)
    faults.add("DPC101", path, message, hint, key=True, label=f"write `{best}`", fix=fix)
    return {(*above, best)}


def _of_another_notion(
    model: type[Model], path: Path, siblings: Mapping[str, Value]
) -> Rewrite | None:
    """What makes the notion that which has just the parameters that are given."""
    if not issubclass(model, Stated):
        return None
    given = {each for each in siblings if each in SIGNS}
    notion = next((each for each, keys in PARAMETERS.items() if given == set(keys)), None)
    return None if notion is None else writing((*path[:-1], "notion"), notion)


def _stated_instead(
    model: type[Model], key: str, above: Path, siblings: Mapping[str, Value], faults: Faults
) -> set[Path]:
    """Report what is stated of noise whose own parameters are all missing; what that tells."""
    given = [each for each in siblings if each in SIGNS]
    if not issubclass(model, Concrete) or key not in given or not NOISE_KEYS.isdisjoint(siblings):
        return set()
    kind = next(name for name, own in CONCRETE.items() if model is own)
    own = (*NOISE_PARAMETERS[kind], "sensitivity")
    notion = next((each for each, keys in PARAMETERS.items() if set(given) == set(keys)), None)
    hint = f"noise has {listing(own)}, from which the loss follows"
    fix = None
    if notion is not None:
        hint += f"; what is known to lose {listing(given)} is stated, with `notion: {notion}`"
        at = (*above, "mechanism")

        def fix(source: Source) -> tuple[Replacement, ...]:
            return (*renamed(source, at, "notion"), *rewritten(source, at, str(notion)))

    named = named_all(given)
    verb = "does" if len(given) == 1 else "do"
    message = f"{named} {verb} not belong to `mechanism: {kind}`"
    related = tuple(((*above, each), True, "") for each in given if each != key)
    faults.add(
        "DPC105", (*above, key), message, hint, key=True, fix=fix, certain=False, related=related
    )
    return {(*above, each) for each in (*own, *given)}


# --- options beside what they are options of -----------------------------------------------------


def _belongs_inside(model: type[Model], path: Path, faults: Faults) -> set[Path] | None:
    """Report a key of a dataset that belongs inside its map or partition; None if it does not."""
    if model is not Mapped and model is not Split:
        return None
    where, tag, forms = _room(model)
    above, target = path[:-1], (*path[:-1], where)
    given = faults.at(target)
    kind = given.get(tag) if isinstance(given, dict) else given
    form = forms.get(kind) if isinstance(kind, str) else None
    dataset = faults.at(above)
    inner = {each.name for each in form.keys} if form else {"kind", "by", "blocks", "kinds"}
    key = str(path[-1])
    if key not in inner or not isinstance(dataset, dict):
        return None
    keys = [each for each in dataset if each in inner and each not in keys_of(model)]
    if key != keys[0]:  # told with the first of them
        return set()
    more, hint, certain = "", f"options of a {where} stand in braces", True
    present = {*keys, *(given if isinstance(given, dict) else ())}
    missing = [] if form is None else [each for each in required(form) if each not in present]
    if form is not None and missing:
        more, certain = entries_of(form, missing), False
        hint += f", and a {form.name} also needs {listing(missing)}, for example `{more}`"
    named = named_all(keys)
    verb = "stands" if len(keys) == 1 else "stand"
    paths = tuple((*above, each) for each in keys)
    faults.add(
        "DPC105",
        path,
        f"{named} {verb} outside of `{where}`",
        hint,
        key=True,
        label=f"belongs inside `{where}`",
        fix=lambda source: moved_in(source, paths, target, tag, more),
        certain=certain and form is not None,
        related=((target, False, ""),),
    )
    return {(*target, each) for each in (*keys, *missing)} | set(paths)


def _room(model: type[Model]) -> tuple[str, str, Mapping[str, Form[Any]]]:
    """Where the options of a dataset belong, what names the kind there, and all kinds."""
    return ("map", "kind", MAPS) if model is Mapped else ("partition", "by", PARTITIONS)


def example_of(form: Form[Any]) -> str:
    """An example of the keys that a kind needs; empty where it needs none."""
    return entries_of(form, required(form))


def required(form: Form[Any]) -> list[str]:
    """The keys of a kind that must be given."""
    return [each.name for each in form.keys if each.default is REQUIRED]


def entries_of(form: Form[Any], keys: Iterable[str]) -> str:
    """An example of such keys of a kind: `rows: 5, keep: random`."""
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
    """Report keys that are missing, those of one mapping together."""
    groups: dict[Path, tuple[type[Model], list[str]]] = {}
    for error, path in errors:
        model = model_at(error["loc"])
        groups.setdefault(path[:-1], (model, []))[1].append(str(path[-1]))
    for path, (model, keys) in groups.items():
        legal = keys_of(model)
        told = [f"`{each}: …`, {as_hint(legal[each]) or 'its value'}" for each in keys]
        hint = f"add {'; and '.join(told)}"
        if len(keys) > 2:
            hint = f"add {', '.join(f'`{each}: …`' for each in keys)}"
        names = named_all(keys)
        if keys == ["reads"] or keys == ["from"]:
            datasets = faults.at(("datasets",))
            if isinstance(datasets, dict) and datasets:
                hint = f"add `{keys[0]}: …`, one of the datasets {listing(datasets)}"
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
    """The kind of the map or of the partition at a path."""
    if not path or path[0] != "datasets" or path[-1] not in {"map", "partition"}:
        return None
    given = faults.at(path)
    forms: Mapping[str, Form[Any]] = MAPS if path[-1] == "map" else PARTITIONS
    tag = "kind" if path[-1] == "map" else "by"
    kind = given.get(tag) if isinstance(given, dict) else given
    return forms.get(kind) if isinstance(kind, str) else None


def _head(path: Path, faults: Faults) -> tuple[Path, bool]:
    """Where a mapping is pointed at, which may be long: at its key, or at its name in a list."""
    tree = faults.at(path)
    if path and isinstance(path[-1], int) and isinstance(tree, dict):
        first = "name" if "name" in tree else next(iter(tree), None)
        if first is not None:
            return (*path, first), first != "name"
    return path, True
