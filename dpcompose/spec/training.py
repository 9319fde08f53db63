"""What libraries for training call things, and other words whose value changes with the key."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import NamedTuple

from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import Path, Replacement, folded
from dpcompose.source import Source, Value
from dpcompose.source.rewriting import Rewrite, is_plain, renamed, rewritten, with_entry
from dpcompose.spec.datasets import map_model
from dpcompose.spec.fields import Model
from dpcompose.spec.mechanisms import Concrete, ReadingEntry
from dpcompose.spec.synonyms import norms

_CLIPS = (
    "sensitivity", "l2_norm_clip", "max_grad_norm", "clip_norm", "clipping_norm", "l2_clip", "clip",
    "clipping", "max_norm",
)  # fmt: skip
_SQUARES = frozenset({"variance", "var", "sigma²", "σ²", "sigma^2", "sigma2", "sigma-squared"})
_RATES = ("sampling_rate", "sample_rate", "sampling_probability", "sampling_prob", "rate", "q")
_FOLDED_RATES = frozenset(map(folded, _RATES))
_PASSES = frozenset({"epochs", "num-epochs"})
_BATCHES = frozenset({"batch-size", "batch", "lot-size", "microbatches", "num-microbatches"})


class InOtherWords(NamedTuple):
    """The correction for a key of training libraries: label, hint, fix, and whether the fix is
    certain.

    `explains`: the missing keys that it stands for, which need no report of their own.
    """

    label: str
    hint: str
    fix: Rewrite | None = None
    certain: bool = True
    explains: tuple[str, ...] = ()


def in_other_words(
    model: type[Model], key: str, entry: Mapping[str, Value], path: Path
) -> InOtherWords | None:
    """Returns the correction for a key of training libraries, in a mechanism or a sample; else
    None."""
    name = folded(key)
    value = entry.get(key)
    text = value if isinstance(value, str) else ""
    if model is map_model("sample") and name in _FOLDED_RATES | {"p", "probability"}:
        hint = (
            "`poisson: q` where each row is drawn by itself with chance q; `size: m, of: n` where "
            "m of n rows are drawn"
        )
        return InOtherWords("write `poisson`", hint, (renamed, path, "poisson"), False)
    if not issubclass(model, ReadingEntry):
        return None
    if issubclass(model, Concrete):
        in_other_norm = _norm(name, model.form.name, path)
        if in_other_norm is not None:
            return in_other_norm
    gaussian = issubclass(model, Concrete) and "sigma" in model.model_fields
    if gaussian and name == "noise-multiplier":
        return _multiplier(text, entry, path)
    if gaussian and name in _SQUARES:
        return _square(text, path)
    if name in _FOLDED_RATES:
        return _sampled(text, entry)
    if name in _PASSES:
        return _passes(text, entry)
    if name in _BATCHES:
        hint = (
            "what a step reads is a dataset of its own: `map: {kind: sample, poisson: q}` where "
            "each row is drawn with chance q, `{kind: sample, size: m, of: n}` for m of n rows"
        )
        return InOtherWords("belongs to a sample", hint)
    return None


def _norm(name: str, noise: str, path: Path) -> InOtherWords | None:
    """Returns the correction for a sensitivity in another norm than that of the noise; else
    None."""
    if name not in norms() or noise in norms()[name]:
        return None
    told = ("sensitivity",)
    if name.startswith("l1"):
        hint = f"the sensitivity of {noise} noise is in L2, which is never more than in L1"
        fix = (renamed, path, "sensitivity")
        return InOtherWords("write `sensitivity`", hint, fix, False, told)
    hint = f"the sensitivity of {noise} noise is in L1: of n numbers up to √n times that in L2"
    return InOtherWords("is in L2", hint, None, False, told)


def _multiplier(text: str, entry: Mapping[str, Value], path: Path) -> InOtherWords:
    """Returns the correction for a noise multiplier, which is σ divided by the sensitivity."""
    clip = next((each for each in _CLIPS if each in entry), None)
    given = entry.get(clip) if clip else "1"
    norm = given if isinstance(given, str) else ""
    hint = "σ is the noise multiplier times the sensitivity, the norm that gradients are clipped to"
    explains = ("sigma",) if clip else ("sigma", "sensitivity")
    simple = _number(text) is not None and _number(norm) is not None
    if not simple or "sigma" in entry or "-" in text + norm or "+" in text + norm:
        return InOtherWords("write `sigma`", hint, None, False, explains)
    if clip is None:
        hint += "; in units of which it is 1"
    sigma = text if norm == "1" else f"{text} * {norm}"

    fix = (_as_sigma, path, sigma, "" if clip else "sensitivity: 1")
    return InOtherWords("write `sigma`", hint, fix, True, explains)


def _square(text: str, path: Path) -> InOtherWords:
    """Returns the correction for a variance, the square of σ."""
    value, says = _number(text), "`sigma` is the standard deviation, the root of the variance"
    root = None if value is None or value <= 0 else _root(value)
    if root is None:
        return InOtherWords("write `sigma`", says, None, False, ("sigma",))
    if root**2 != value:
        says += f": {decimal_up(root, 7)}, rounded"
        return InOtherWords("write `sigma`", says, None, False, ("sigma",))
    exact = decimal_up(root, 12)
    sigma = exact if Fraction(exact) == root else str(root)
    fix = (_as_sigma, path, sigma, "")
    return InOtherWords("write `sigma`", f"{says}: {sigma}", fix, True, ("sigma",))


def _as_sigma(source: Source, path: Path, sigma: str, more: str) -> tuple[Replacement, ...]:
    """Returns the replacements that make σ of the entry at `path`, and add an entry `more`."""
    changed = (*renamed(source, path, "sigma"), *rewritten(source, path, sigma))
    if not more:
        return changed
    # A mapping may end with the value that is rewritten: then both are one replacement.
    added = with_entry(source, path[:-1], more)
    if len(changed) != 2 or len(added) != 1:
        return ()
    end = changed[1].span
    if (added[0].span.line, added[0].span.column) == (end.end_line, end.end_column):
        return changed[0], Replacement(end, sigma + added[0].text)
    return (*changed, *added)


def _root(value: Fraction) -> Fraction:
    """Returns the square root of a number, exact if it is rational, else rounded."""
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top**2 == value.numerator and bottom**2 == value.denominator:
        return Fraction(top, bottom)
    scale = 10**20
    return Fraction(isqrt(value.numerator * scale**2 // value.denominator), scale)


def _sampled(text: str, entry: Mapping[str, Value]) -> InOtherWords:
    """Returns the correction for a sampling rate at a mechanism, which belongs to a map
    `sample`."""
    reads = entry.get("reads")
    table = reads if isinstance(reads, str) and is_plain(reads) else "people"
    rate = text if text and _number(text) is not None else "q"
    hint = (
        "a sample is a dataset of its own, which the mechanism then reads: "
        f"`batch: {{from: {table}, map: {{kind: sample, poisson: {rate}}}}}` if each row is drawn "
        "by itself with this chance"
    )
    return InOtherWords("belongs to a sample", hint)


def _passes(text: str, entry: Mapping[str, Value]) -> InOtherWords:
    """Returns the correction for a number of epochs: `count` is the number of steps."""
    hint = "say `count: n`, the number of steps: epochs × rows / rows of a batch"
    rate = next((entry[each] for each in _RATES if each in entry), None)
    many, chance = _number(text), _number(rate) if isinstance(rate, str) else None
    if many is not None and chance:
        steps = many / chance
        if steps.denominator == 1:
            hint += f", here {many} / {rate} = {steps}"
    return InOtherWords("write `count`", hint)


def _number(text: str) -> Fraction | None:
    """Returns the value of a number without constants; None for any other text."""
    try:
        return parse(text, {})
    except ExpressionError:
        return None
