"""Mappings that belong to no member of a union: of which kind they are is missing or unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.notion import SIGNS
from dpcompose.errors import Path, folded, meant, nearest, quoted
from dpcompose.faults import Faults, listing
from dpcompose.source.rewriting import renamed, rewritten, with_entry, with_name_inside
from dpcompose.spec import synonyms
from dpcompose.spec.datasets import DOMAINS
from dpcompose.spec.guarantees import NOTIONS
from dpcompose.spec.mechanisms import NOISE_KEYS, noise_keys
from dpcompose.spec.phrases import (
    BUDGET_FORMS,
    KINDS,
    NOISE_PARAMETERS,
    PARAMETERS,
    as_hint,
    example_of,
    value_text,
)
from dpcompose.spec.synonyms import Word

_MOST_KEYS = 50
#: Keys that people write for that of a concrete mechanism or of a notion: the value tells which.
_TYPES = frozenset({"type", "kind", "method", "noise", "noise-type", "algorithm", "distribution"})


#: Keys that say in what a budget is.
_BUDGET_KEYS = ("epsilon", "rho", "mu", "advantage", "success")


def no_member(error: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Reports a mapping that no model of a union fits, by the tag that the union gave it."""
    value = error["input"]
    match error["ctx"]["tag"]:
        case "?kind":
            _kind(value, path, faults, "map")
        case "?by":
            _kind(value, path, faults, "partition")
        case "?domain":
            name = value["domain"]
            message = f"unknown domain {quoted(name)}"
            at = (*path, "domain")
            faults.add("DPC104", at, message, wrong=name, legal=DOMAINS, closed=True)
        case "?both":
            message = "`map` and `partition` exclude each other"
            related = (((*path, "map"), True, ""),)
            hint = "make two datasets of it, the second one `from` the first"
            faults.add("DPC105", (*path, "partition"), message, hint, key=True, related=related)
        case "?neither":
            _made_by_nothing(value, path, faults)
        case "?budget":
            if not _misspelt(value, path, faults, _BUDGET_KEYS, "a budget"):
                faults.add("DPC102", path, f"a budget needs one of {BUDGET_FORMS}", key=True)
        case "?mechanism":
            _concrete(value, path, faults)
        case _:
            _notion(value, path, faults)


def _first(value: Mapping[str, Any]) -> Iterator[str]:
    """Returns the first keys of a mapping, which may have very many."""
    return islice(value, _MOST_KEYS)


def _made_by_nothing(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Reports a dataset with `from` that has neither `map` nor `partition`."""
    if _misspelt(value, path, faults, ("map", "partition"), "a derived dataset"):
        return
    kind = next(
        (each for each in _first(value) if each in MAPS or synonyms.meaning("maps", each)), None
    )
    if kind is not None:
        word = Word(kind) if kind in MAPS else synonyms.meaning("maps", kind)
        assert word is not None
        message = f"unknown key {quoted(kind)} in a derived dataset"
        hint = f"a kind of map is said with `map`; {word.says}"
        if word.write is not None:
            example = example_of(MAPS[word.write])
            written = f"{{kind: {word.write}, {example}}}" if example else word.write
            hint = f"a kind of map is said with `map`: `map: {written}`"
        if folded(kind) in ("group-by", "groupby"):
            column = value[kind] if isinstance(value[kind], str) else "column"
            hint = (
                f"one block for each group: `partition: {{by: value, uses: [{column}], blocks: "
                f"N}}`; one row for each: `map: {{kind: group, by: {column}}}`"
            )
        faults.add("DPC101", (*path, kind), message, hint, key=True, label="is a kind of map")
        return
    by = next((each for each in _first(value) if each in PARTITIONS), None)
    hint = "a filter is `map: filter`; blocks are `partition: {by: value, blocks: 4}`"
    if "blocks" in value or by is not None:
        hint = "blocks belong to a partition: `partition: {by: value, blocks: 4}`"
    elif isinstance(kind := value.get("kind"), str) and kind in MAPS:
        hint = f"a kind and what it needs belong to a map: `map: {{kind: {kind}, …}}`"
    message = "a dataset with `from` needs `map` or `partition`"
    faults.add("DPC102", path, message, hint, key=True)


def _misspelt(
    value: Mapping[str, Any], path: Path, faults: Faults, wanted: Collection[str], what: str
) -> bool:
    """Returns whether a key of a mapping is a misspelling of one of `wanted`, which is then
    reported.

    `what`: what messages call the mapping.
    """
    for given in _first(value):
        best = synonyms.key(given, wanted, top=False)
        if best is not None:
            _unknown(given, best, path, faults, what)
            return True
    return False


def _unknown(given: str, best: str, path: Path, faults: Faults, what: str) -> None:
    """Reports the unknown key `given`, with the key `best` that it probably stands for as a fix;
    `what`: what messages call the mapping."""
    at, message = (*path, given), f"unknown key {quoted(given)} in {what}"
    label, fix = f"write `{best}`", (renamed, at, best)
    faults.add("DPC101", at, message, key=True, label=label, fix=fix)


def _kind(value: Mapping[str, Any], path: Path, faults: Faults, noun: str) -> None:
    """Reports a missing, unknown or wrongly typed kind of map or partition; `noun`: which of the
    two."""
    key, forms = KINDS[noun]
    kind = value.get(key)
    # A map can be its kind alone; then there is no key, and `path` leads to it.
    at = path if isinstance(faults.at(path), str) else (*path, key)
    if key not in value:
        if not _kind_elsewhere(value, path, faults, noun):
            hint = f"one of {listing(forms, 20)}"
            faults.add("DPC102", path, f"a {noun} needs `{key}`", hint, key=True)
    elif not isinstance(kind, str):
        faults.add("DPC103", at, f"`{key}` must be a kind of {noun}, not {value_text(kind)}")
    elif noun == "partition" and not (synonyms.meaning("partitions", kind) or nearest(kind, forms)):
        hint = f"blocks by the values of a column are `by: value, uses: [{kind}]`"
        faults.add("DPC104", at, f"unknown kind of {noun} {quoted(kind)}", hint)
    else:
        message = f"unknown kind of {noun} {quoted(kind)}"
        about = {name: form.about for name, form in forms.items()}
        unknown_word(kind, at, faults, "DPC104", message, about, f"{noun}s")


def _kind_elsewhere(value: Mapping[str, Any], path: Path, faults: Faults, noun: str) -> bool:
    """Returns whether a map or partition has its kind under another key (`type: filter`) or as a
    key (`filter: …`), which is then reported.

    `noun`: `map` or `partition`.
    """
    key, forms = KINDS[noun]
    for given in _first(value):
        stands = value[given]
        if isinstance(stands, str) and stands in forms:
            _unknown(given, key, path, faults, f"a {noun}")
            return True
        if given in forms:
            written = ", ".join(filter(None, [f"{key}: {given}", example_of(forms[given])]))
            hint = f"the kind stands at `{key}`: `{noun}: {{{written}}}`"
            message = f"unknown key {quoted(given)} in a {noun}"
            label = f"is a kind of {noun}"
            faults.add("DPC101", (*path, given), message, hint, key=True, label=label)
            return True
    return False


def unknown_word(
    word: str,
    path: Path,
    faults: Faults,
    code: str,
    message: str,
    about: Mapping[str, str],
    table: str,
    closed: bool = True,
) -> None:
    """Reports an unknown word, with the word that it probably stands for as a fix.

    `about`: all legal words with their meanings; `table`: that of their synonyms. `closed`: they
    are words of the language alone.
    """
    found = None if meant(word, about, closed=True) else synonyms.meaning(table, word)
    if found is None or (found.write is not None and found.write not in about):
        faults.add(code, path, message, wrong=word, legal=about, closed=closed)
    elif found.write is None:
        faults.add(code, path, message, found.says)
    else:
        label, fix = f"write `{found.write}`", (rewritten, path, found.write)
        says = as_hint(about[found.write])
        hint = f"{quoted(found.write)}: {says}" if says else None
        faults.add(code, path, message, hint, label=label, fix=fix)


def _concrete(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Reports an unknown or wrongly typed concrete mechanism."""
    kind, at = value["mechanism"], (*path, "mechanism")
    if not isinstance(kind, str):
        message = f"`mechanism` must be a concrete mechanism, not {value_text(kind)}"
        hint = _beside("mechanism", kind, FORMS) or f"one of {listing(FORMS)}"
        faults.add("DPC103", at, message, hint)
        return
    if kind == "select":
        message = "a run of `select` is no selection itself"
        hint = "one selection over all runs is `select` of the mechanism that is run"
        faults.add("DPC104", at, message, hint)
        return
    message = f"unknown concrete mechanism {quoted(kind)}"
    if kind in NOTIONS and "notion" not in value:
        hint = f"{quoted(kind)} is a notion: what is stated has `notion`, and no `mechanism`"
        fix = (renamed, at, "notion")
        faults.add("DPC104", at, message, hint, label="is a notion", fix=fix)
        return
    about = {name: form.about for name, form in FORMS.items()}
    unknown_word(kind, at, faults, "DPC104", message, about, "mechanisms")


def _notion(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Reports a missing, unknown or wrongly typed notion."""
    notion = value.get("notion")
    at = (*path, "notion")
    if "notion" not in value:
        _no_notion(value, path, faults)
    elif not isinstance(notion, str):
        hint = _beside("notion", notion, NOTIONS) or f"one of {listing(NOTIONS)}"
        faults.add("DPC103", at, f"`notion` must be a notion, not {value_text(notion)}", hint)
    elif (noise := _noise(notion)) is not None and "guarantees" not in path:
        message = f"unknown notion {quoted(notion)}"
        stated = listing(f"notion: {each}" for each in _stated_by(value) or ("pure",))
        own = listing(noise_keys(noise))
        hint = f"noise is `mechanism: {noise}` with {own}; what is stated is {stated}"
        fix = None if NOISE_KEYS.isdisjoint(value) else (renamed, at, "mechanism")
        faults.add("DPC104", at, message, hint, label="is a mechanism", fix=fix)
    else:
        message = f"unknown notion {quoted(notion)}"
        about = {name: str(model.__doc__) for name, model in NOTIONS.items()}
        unknown_word(notion, at, faults, "DPC104", message, about, "notions")


def _beside(key: str, given: object, legal: Collection[str]) -> str | None:
    """Returns the hint for a mapping where a word is due, if it contains a legal word; else
    None."""
    if not isinstance(given, dict):
        return None
    for each in _first(given):
        value = given[each]
        word = each if each in legal else value if isinstance(value, str) else None
        if word is not None and word in legal:
            return f"what it needs stands beside it: `{key}: {word}, …`"
    return None


def _noise(word: str) -> str | None:
    """Returns the concrete mechanism that a word is the name or a synonym of; None if it is a
    notion or unknown."""
    if word in FORMS:
        return word
    found = synonyms.meaning("mechanisms", word)
    return None if found is None or synonyms.meaning("notions", word) else found.write


def _stated_by(value: Mapping[str, Any]) -> list[str]:
    """Returns the names of the notions whose parameters are all given."""
    return [each for each, keys in PARAMETERS.items() if keys and all(key in value for key in keys)]


def _no_notion(value: Mapping[str, Any], path: Path, faults: Faults) -> None:
    """Reports a mechanism or guarantee without `notion`, by the likeliest cause."""
    inside = "guarantees" in path
    if not inside and len(value) == 1 and isinstance(next(iter(value.values())), dict):
        name = next(iter(value))
        message = (
            f"a mechanism is one mapping, with its name in it, not {quoted(name)} of a mapping"
        )
        hint = f"write `- {{name: {name}, reads: …, …}}`"
        fix = (with_name_inside, path, "name")
        faults.add("DPC103", (*path, name), message, hint, key=True, fix=fix)
        return
    what = "a guarantee" if inside else "a mechanism"
    if _type_elsewhere(value, path, faults, what, inside):
        return
    keys = ("notion",) if inside else ("notion", "mechanism", "guarantees", "post_processes")
    if _misspelt(value, path, faults, keys, what):
        return
    hint = f"notions: {listing(NOTIONS)}"
    best = _meant(value, "notion", PARAMETERS)
    needs = "a guarantee needs `notion`"
    if "of" in path:
        needs = "a run needs `mechanism` or `notion`"
        hint = f"{hint}; concrete mechanisms: {listing(FORMS)}"
    elif not inside:
        needs = "a mechanism needs `notion`, `mechanism`, `guarantees` or `post_processes`"
        if not best and (best := _meant(value, "mechanism", NOISE_PARAMETERS)):
            hint = f"concrete mechanisms: {listing(FORMS)}"
    elif "mechanism" in value:
        needs = "a guarantee needs `notion`, and a concrete mechanism is no guarantee"
        hint = "give `mechanism` an entry of its own under `mechanisms`"
    at, key = ((*path, "name"), False) if "name" in value else (path, True)
    added = (with_entry, path, best) if best else None
    offer = f"did you mean `{best}`? {hint}" if best else hint
    faults.add("DPC102", at, needs, offer, key=key, fix=added, certain=False)


def _type_elsewhere(
    value: Mapping[str, Any], path: Path, faults: Faults, what: str, inside: bool
) -> bool:
    """Returns whether a notion or a concrete mechanism stands at a key such as `type`, which is
    then reported.

    `what`: what messages call the mapping; `inside`: it is in the list `guarantees` of a mechanism.
    """
    for given in _first(value):
        stands = value[given]
        if not isinstance(stands, str) or folded(given) not in _TYPES:
            continue
        best = "notion" if stands in NOTIONS else "mechanism" if stands in FORMS else None
        stated = [each for each in SIGNS if each in value]
        if best == "mechanism" and stated and NOISE_KEYS.isdisjoint({*value} - {"sensitivity"}):
            message = f"unknown key {quoted(given)} in {what}"
            hint = (
                f"`mechanism: {stands}` with {listing(noise_keys(stands))}, from which the loss "
                f"follows; what is known to lose {listing(stated)} is stated, with a `notion`"
            )
            faults.add("DPC101", (*path, given), message, hint, key=True)
            return True
        if best is not None and not (inside and best == "mechanism"):
            _unknown(given, best, path, faults, what)
            return True
    return False


def _meant(value: Mapping[str, Any], key: str, parameters: Mapping[str, tuple[str, ...]]) -> str:
    """Returns the entry, such as `notion: pure`, with the most parameters among those whose
    parameters are all in `value`; "" if there is none."""
    given = [each for each, keys in parameters.items() if all(key in value for key in keys)]
    best = max(given, key=lambda each: len(parameters[each]), default=None)
    return "" if best is None else f"{key}: {best}"
