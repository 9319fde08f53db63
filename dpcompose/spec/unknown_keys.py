"""Diagnosis of unknown keys: what was meant by them.

Each function reports a key if it knows what was meant, and then returns the paths whose errors its
message explains as well: of missing keys, of other unknown ones, and of what they belong to. It
returns None if it does not know the key.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import islice, pairwise, takewhile

from dpcompose.core.change.maps import MAPS
from dpcompose.core.change.partitions import PARTITIONS
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.guarantee import RISKS
from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.core.numbers.other_notation import in_our_notation
from dpcompose.curves.rounding import decimal_up, sqrt_up
from dpcompose.curves.rounding import listing as named_all
from dpcompose.errors import Path, folded, quoted
from dpcompose.faults import Faults, listing
from dpcompose.source import Number
from dpcompose.source.rewriting import decimal_point, moved_in, renamed, wrapped
from dpcompose.spec.asked import DP_BUDGETS, LongRelation
from dpcompose.spec.datasets import AnyMap, AnyPartition, Graph, Mapped, Split, Table
from dpcompose.spec.fields import Model
from dpcompose.spec.guarantees import NOTIONS, Stated
from dpcompose.spec.mechanisms import (
    NOISE_KEYS,
    ByRows,
    BySteps,
    Concrete,
    PostProcessing,
    ReadingEntry,
    Sensitivities,
    SeveralMechanism,
    kind_of,
    noise_keys,
)
from dpcompose.spec.model import Spec
from dpcompose.spec.phrases import (
    BUDGET_FORMS,
    KINDS,
    PARAMETERS,
    UnknownKey,
    as_hint,
    entries_of,
    form_of_kind,
    required,
)
from dpcompose.spec.synonyms import key as meant_key
from dpcompose.spec.training import in_other_words

_LONGEST_SAID = 120  # of the meaning of a key that is only renamed
_SIMPLE = re.compile(r"[\w.+/-]+")  # a value that needs no quotation marks
#: What a cap is called elsewhere, where it belongs to the table.
_CAPS = frozenset(
    map(folded, ("max_rows", "rows", "cap", "limit", "max_contributions", "max_rows_per_user"))
)
_MOST_BESIDE = 50  # further keys of a mapping that are looked at


def unknown_keys(found: Iterable[tuple[type[Model], Path]], faults: Faults) -> set[Path]:
    """Reports the unknown keys of mappings with a model; returns the paths of all further errors
    that these reports explain."""
    told: set[Path] = set()
    for model, path in found:
        if faults.full:
            faults.skip()
        elif path not in told:
            above = faults.at(path[:-1])
            siblings = above if isinstance(above, dict) else {}
            key = UnknownKey(model, path, siblings)
            said = (each(key, faults) for each in _MEANINGS)
            told |= next((each for each in said if each is not None), set())
    return told


def _by_block(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a sensitivity by block without `unbounded` or `bounded`; returns the paths explained,
    or None."""
    if at.model is not Sensitivities or not at.siblings.keys().isdisjoint(at.legal):
        return None
    message = "a sensitivity by block stands under `unbounded` or `bounded`"
    hint = "for which change it is: one row added or removed, or one row replaced"
    fix = (wrapped, at.above, "{unbounded: ", "}")
    faults.add("DPC101", at.path, message, hint, key=True, fix=fix, certain=False)
    return set(map(at.beside, at.siblings))


#: The parameter of noise that has a stated loss, by the kind of noise and the loss: its key, and
#: what it is for a sensitivity and that loss, rounded up.
_NOISE_OF_LOSS: Mapping[tuple[str, str], tuple[str, Callable[[Fraction, Fraction], Fraction]]] = {
    ("laplace", "epsilon"): ("scale", lambda shift, loss: shift / loss),
    ("geometric", "epsilon"): ("scale", lambda shift, loss: shift / loss),
    ("gaussian", "mu"): ("sigma", lambda shift, loss: shift / loss),
    ("gaussian", "rho"): ("sigma", lambda shift, loss: sqrt_up(shift * shift / (2 * loss))),
    ("discrete-gaussian", "rho"): (
        "sigma",
        lambda shift, loss: sqrt_up(shift * shift / (2 * loss)),
    ),
}


def _noise_of_loss(at: UnknownKey) -> tuple[str, str] | None:
    """Returns the key and the value of the noise with the stated loss; None if that is no plain
    number."""
    key, parameter = _NOISE_OF_LOSS.get((at.noise or "", at.name), ("", None))
    if parameter is None or key in at.siblings:
        return None
    given = at.siblings.get(at.name), at.siblings.get("sensitivity")
    try:
        loss, shift = (parse(each, {}) for each in given if isinstance(each, str))
    except (ExpressionError, ValueError):
        return None
    return (key, decimal_up(parameter(shift, loss), 6)) if loss else None


def _elsewhere(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a key that is legal elsewhere; returns the paths explained, None if it is legal
    nowhere."""
    says = _misplaced(at.model, at.name)
    if says is None:
        return None
    noise = _noise_of_loss(at)
    if noise is not None:
        write = f"`{noise[0]}: {noise[1]}`"
        says = says[0], f"write {write} in its place, which has this {SIGNS[at.name]}"
    legal = at.legal
    near = islice(at.siblings, _MOST_BESIDE)
    others = [each for each in near if each != at.name and each not in legal]
    told = [(each, _misplaced(at.model, each)) for each in others]
    alike = [at.beside(each) for each, other in told if other and other[1] == says[1]]
    related = tuple((each, True, "") for each in alike)
    faults.add("DPC105", at.path, *says, key=True, related=related)
    own = next((each for each, base in NOTIONS.items() if issubclass(at.model, base)), None)
    if own is not None and at.name in SIGNS:
        alike += map(at.beside, PARAMETERS[own])
    return {*alike, *([at.beside(noise[0])] if noise is not None else [])}


def _without_blank(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a missing blank after a colon; returns the path explained, None if there is none
    missing."""
    start, colon, rest = at.name.partition(":")
    if not colon or start not in at.legal or at.siblings.get(at.name, at.name) is not None:
        return None
    if start in at.siblings:
        return None
    message = f"a blank is missing after {quoted(start + colon)}"
    hint = f"without it {quoted(at.name)} is one word"
    value = rest.lstrip(":")
    fix = (renamed, at.path, f"{start}: {value}") if _SIMPLE.fullmatch(value) else None
    faults.add("DPC101", at.path, message, hint, key=True, fix=fix)
    return {at.beside(start)}


def _after_comma(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a decimal comma, after which braces take digits for a key; returns no paths, or
    None."""
    if not at.name.isdecimal() or at.siblings.get(at.name, at.name) is not None:
        return None
    if len(at.siblings) > _MOST_BESIDE:
        return None
    before = next((key for key, following in pairwise(at.siblings) if following == at.name), None)
    number = None if before is None else at.siblings[before]
    if before is None or not isinstance(number, Number):
        return None
    meant = in_our_notation(f"{number},{at.name}")
    hint = "write decimals with a point, and thousands without a comma"
    if meant is not None:
        hint = f"write {quoted(f'{before}: {meant.text}')}"
    message = f"a comma ends the number {quoted(number)} here"
    path = at.beside(before)
    fix = None if meant is None else (decimal_point, path, at.path)
    faults.add("DPC101", at.path, message, hint, key=True, fix=fix, related=((path, False, ""),))
    return set()


#: Keys whose value is a list of names.
_LISTS = frozenset({"columns", "keeps", "uses", "only", "changes", "blocks", "kinds"})


def _of_a_list(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a list without brackets, whose items braces take for keys; returns their paths,
    or None."""
    if at.siblings.get(at.name, at.name) is not None or len(at.siblings) > _MOST_BESIDE:
        return None
    keys = list(at.siblings)
    first = next((i for i in range(keys.index(at.name), -1, -1) if keys[i] in _LISTS), None)
    if first is None or not isinstance(at.siblings[keys[first]], str):
        return None
    items = list(takewhile(lambda key: at.siblings[key] is None, keys[first + 1 :]))
    if at.name not in items:
        return None
    listed = ", ".join([str(at.siblings[keys[first]]), *items])
    path = at.beside(keys[first])
    message = f"the list {quoted(keys[first])} has no brackets"
    faults.add("DPC103", path, message, f"write {quoted(f'{keys[first]}: [{listed}]')}", key=True)
    return {path, *map(at.beside, items)}


def _misspelt(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports an unknown key, with the legal key that it probably stands for, if any.

    Returns the paths explained; never None, so that every unknown key is reported.
    """
    legal = at.legal
    best = _meant(at, at.name)
    if best is None:
        hint = "by block: `{unbounded: {north: 1, …}}`" if at.model is Sensitivities else None
        if at.model is Table and folded(at.name) in _CAPS:
            cap = f"capped: {{from: {at.above[-1]}, map: {{kind: cap, rows: …, keep: first}}}}"
            hint = f"a cap is a map: `{cap}`"
        if "protect" in legal and at.name in ("delta", "epsilon", "rho", "mu"):
            asked = "`report: {delta: [1e-6]}` asks for an ε, " if at.name == "delta" else ""
            hint = f"{asked}`budget: {{{at.name}: …}}` is what may be spent at most"
        names = list(legal)
        faults.add(
            "DPC101", at.path, at.unknown, hint, key=True, wrong=at.name, legal=names, closed=True
        )
        return set()
    twin = best if best in at.siblings else _twin(at, best)
    if twin is not None:
        hint = f"{quoted(best)} is given too: keep one of them"
        if twin != best:
            hint = f"this and {quoted(twin)} both mean {quoted(best)}: keep one of them"
        related = ((at.beside(twin), True, ""),)
        faults.add("DPC101", at.path, at.unknown, hint, key=True, related=related)
        return set() if twin == best else {at.beside(best), at.beside(twin)}
    says = as_hint(legal[best])
    if says and len(says) > _LONGEST_SAID:
        says = says.partition(": ")[0]
    hint = f"{quoted(best)}: {says}" if says else f"write {quoted(best)}"
    label, fix = f"write `{best}`", (renamed, at.path, best)
    faults.add("DPC101", at.path, at.unknown, hint, key=True, label=label, fix=fix)
    return {at.beside(best)}


def _meant(at: UnknownKey, key: str) -> str | None:
    """Returns the legal key that an unknown key certainly stands for; None if that is not
    certain."""
    return meant_key(key, list(at.legal), at.model is Spec, at.noise, at.siblings.get(key))


def _twin(at: UnknownKey, best: str) -> str | None:
    """Returns another unknown key of the mapping that stands for `best`; None if there is none."""
    if len(at.siblings) > _MOST_BESIDE:
        return None
    legal = at.legal
    others = (each for each in at.siblings if each != at.name and each not in legal)
    return next((each for each in others if _meant(at, each) == best), None)


# --- parameters of the other sort ----------------------------------------------------------------


def _stated_instead(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports losses given in place of all parameters of noise; returns the paths explained, or
    None."""
    given = [each for each in SIGNS if each in at.siblings]
    kind = at.noise
    if kind is None or not issubclass(at.model, Concrete) or at.name not in given:
        return None
    own = noise_keys(kind)
    if not {*own, *NOISE_KEYS}.isdisjoint({*at.siblings} - {"sensitivity"}):
        return None
    if any(_noise_of_loss(at._replace(path=at.beside(each))) for each in given):
        return None
    notion = next((each for each, keys in PARAMETERS.items() if set(given) == set(keys)), None)
    hint = f"noise has {listing(own)}, from which the loss follows"
    if notion is not None:
        hint += f"; what is known to lose {listing(given)} is stated, with `notion: {notion}`"
    verb = "does" if len(given) == 1 else "do"
    message = f"{named_all(given)} {verb} not belong to `mechanism: {kind}`"
    related = tuple((at.beside(each), True, "") for each in given if each != at.name)
    faults.add("DPC105", at.path, message, hint, key=True, related=related)
    return {at.beside(each) for each in (*own, *given)}


def _belongs_inside(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports keys of a dataset that belong inside its map or partition; returns the paths
    explained, or None."""
    if at.model is not Mapped and at.model is not Split:
        return None
    where = "map" if at.model is Mapped else "partition"
    tag, target = KINDS[where][0], (*at.above, where)
    given = faults.at(target)
    form = form_of_kind(where, given)
    inner = [each.name for each in form.keys] if form else ["kind", "by", "blocks", "kinds"]
    if at.name not in inner:
        return None
    keys = [each for each in inner if each in at.siblings and each not in at.legal]
    more, hint, certain = "", f"options of a {where} stand in braces", True
    present = {*keys, *(given if isinstance(given, dict) else ())}
    missing = [] if form is None else [each for each in required(form) if each not in present]
    if form is not None and missing:
        more, certain = entries_of(form, missing), False
        hint += f", and a {form.name} also needs {listing(missing)}, for example `{more}`"
    if twice := [each for each in keys if isinstance(given, dict) and each in given]:
        message = f"{quoted(twice[0])} stands inside and outside of `{where}`"
        related = (((*target, twice[0]), True, ""),)
        hint, path = "keep the one inside", at.beside(twice[0])
        faults.add("DPC105", path, message, hint, key=True, related=related)
        return set(map(at.beside, keys))
    named = named_all(keys)
    verb = "stands" if len(keys) == 1 else "stand"
    paths = tuple(map(at.beside, keys))
    faults.add(
        "DPC105",
        at.path,
        f"{named} {verb} outside of `{where}`",
        hint,
        key=True,
        label=f"belongs inside `{where}`",
        fix=(moved_in, paths, target, tag, more),
        certain=certain and form is not None,
        related=((target, False, ""),),
    )
    return {(*target, each) for each in (*keys, *missing)} | {*paths, target}


_MEANINGS = (
    _belongs_inside,
    in_other_words,
    _stated_instead,
    _by_block,
    _elsewhere,
    _without_blank,
    _after_comma,
    _of_a_list,
    _misspelt,
)


# --- keys that are legal elsewhere ----------------------------------------------------------------

#: The parameters of a stated guarantee, and all that it says.
_PARAMETERS = frozenset(key for keys in PARAMETERS.values() for key in keys)
_STATEMENT = _PARAMETERS | {"notion", "relation", "stated_on"}


#: Which kinds have the key `drops`.
_KINDS = listing([each.name for each in MAPS.values() if each.has("drops")])
_DROPPING = f"only maps of the kinds {_KINDS}, and partitions, can drop rows"


def _misplaced(model: type[Model], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that is legal elsewhere; None if it is legal
    nowhere near."""
    name = quoted(key)
    if issubclass(model, PostProcessing) and key in _STATEMENT | NOISE_KEYS | {
        "reads",
        "guarantees",
        "count",
        "mechanism",
    }:
        return (
            f"{name} and `post_processes` exclude each other",
            "what post-processes uses released outputs only; give what reads data its own entry",
        )
    if issubclass(model, SeveralMechanism):
        if key in _STATEMENT:
            return f"{name} and `guarantees` exclude each other", f"put {name} into the list"
        if key in NOISE_KEYS | {"mechanism"}:
            hint = "a concrete mechanism has the guarantees of its noise: remove one of the two"
            return f"{name} and `guarantees` exclude each other", hint
    if issubclass(model, Stated):
        return _misplaced_in_guarantee(model, key)
    own = kind_of(model)
    if own is not None:
        return _misplaced_in_concrete(model, own, key)
    if model in DP_BUDGETS and key in {*_PARAMETERS, *RISKS}:
        return f"{name} does not fit {model.what}", f"a budget is {BUDGET_FORMS}"
    if model is LongRelation and key == "distance":
        return (
            "a guarantee is stated for one step of a relation, it has no `distance`",
            "declare a relation of this distance under `relations`",
        )
    return _misplaced_in_dataset(model, key)


def _misplaced_in_guarantee(model: type[Stated], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to another notion or mechanism; None
    for an unknown key."""
    name = quoted(key)
    own = next(each for each, base in NOTIONS.items() if issubclass(model, base))
    if key in _PARAMETERS:
        other = next(each for each, keys in PARAMETERS.items() if key in keys and each != own)
        mine = PARAMETERS[own]
        verb = "parameter is" if len(mine) == 1 else "parameters are"
        hint = f"its {verb} {listing(mine)}; {name} goes with `notion: {other}`"
        return f"{name} does not belong to `notion: {own}`", hint
    if key == "mechanism":
        hint = "a concrete mechanism has the guarantee of its noise: remove one of the two"
        return "`mechanism` and `notion` exclude each other", hint
    if key in NOISE_KEYS:
        hint = f"{name} goes with a concrete mechanism: {listing(_owners(key))}"
        return f"{name} does not belong to `notion: {own}`", hint
    return None


def _misplaced_in_concrete(model: type[Model], own: str, key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to a notion or another mechanism;
    None for an unknown key."""
    name = quoted(key)
    says = f"{name} does not belong to `mechanism: {own}`"
    if key == "notion":
        hint = "a concrete mechanism has the guarantee of its noise: remove one of the two"
        return "`notion` and `mechanism` exclude each other", hint
    if not issubclass(model, ReadingEntry) and key in ReadingEntry.model_fields:
        return f"a run of `select` has no {name} of its own", "it belongs to the selection"
    if own == "select" and key in NOISE_KEYS | _STATEMENT:
        return says, f"{name} belongs to the run: `of: {{…, {key}: …}}`"
    if key == "stated_on":
        hint = (
            "sensitivities speak of the dataset that is read; "
            "a guarantee stated on another one has a `notion`"
        )
        return says, hint
    if issubclass(model, ByRows) and key in {"sensitivity", "relation"}:
        return says, "each row answers by itself: its guarantee is for one row replaced"
    if issubclass(model, BySteps) and key == "sensitivity":
        return says, "its noise is scaled by it, and what is left is for one step of `relation`"
    if key == "delta":
        return says, "it is not stated: ask for ε at a δ by `report: {delta: 1e-6}`"
    if key not in NOISE_KEYS | _PARAMETERS:
        return None
    parameters = f"its parameters are {listing(noise_keys(own))}"
    if (own, key) == ("geometric", "alpha"):
        return says, f"{parameters}; a mass proportional to α^|n| has the scale 1/ln(1/α)"
    if key == "epsilon" and issubclass(model, Concrete):
        return says, f"{parameters}; ε follows from them"
    owners = _owners(key)
    return says, f"{parameters}; {name} goes with {listing(owners)}" if owners else parameters


def _owners(key: str) -> list[str]:
    """Returns the concrete mechanisms with this parameter."""
    return [f"mechanism: {kind}" for kind in FORMS if key in noise_keys(kind)]


def _misplaced_in_dataset(model: type[Model], key: str) -> tuple[str, str] | None:
    """Returns the message and the hint for a key that belongs to another kind of dataset, map or
    partition; None for an unknown key."""
    name = quoted(key)
    if model is Table and key == "max_degree":
        return f"{name} belongs to a graph", "write `domain: graph`"
    if model is Graph and key in {"unit", "size"}:
        return f"{name} does not belong to a graph", "a graph has vertices and edges, not rows"
    if issubclass(model, Mapped | Split) and key in {"domain", "unit", "size", "max_degree"}:
        return f"{name} does not belong to a derived dataset", f"give {name} to the root"
    says = f"{name} does not belong to {model.what}"
    if issubclass(model, AnyPartition):
        owner = next((each.name for each in PARTITIONS.values() if each.has(key)), None)
        hint = dict(model.form.elsewhere).get(key, owner and f"write `by: {owner}`")
    elif issubclass(model, AnyMap):
        hint = dict(model.form.elsewhere).get(key, _DROPPING if key == "drops" else None)
    else:
        return None
    return None if hint is None else (says, hint)
