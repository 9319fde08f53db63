"""Keys of training libraries (Opacus, TensorFlow Privacy), and others whose value is converted when
they are replaced by a key of the spec language."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import Path, Replacement, folded
from dpcompose.faults import Faults
from dpcompose.source import Source
from dpcompose.source.rewriting import Rewrite, is_plain, renamed, rewritten, with_entry
from dpcompose.spec.datasets import map_model
from dpcompose.spec.mechanisms import Concrete, ReadingEntry
from dpcompose.spec.phrases import UnknownKey
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


def in_other_words(at: UnknownKey, faults: Faults) -> set[Path] | None:
    """Reports a key of training libraries, in a mechanism or a sample; returns the paths of the
    missing keys that it stands for, None if it is no such key."""
    name, value = folded(at.name), at.siblings.get(at.name)
    text = value if isinstance(value, str) else ""
    if at.model is map_model("sample") and name in _FOLDED_RATES | {"p", "probability"}:
        hint = (
            "`poisson: q` where each row is drawn by itself with chance q; `size: m, of: n` where "
            "m of n rows are drawn"
        )
        return _tell(at, faults, "write `poisson`", hint, (renamed, at.path, "poisson"), False)
    if not issubclass(at.model, ReadingEntry):
        return None
    if issubclass(at.model, Concrete):
        noise = at.model.form.name
        if name in norms() and noise not in norms()[name]:
            return _in_other_norm(at, faults, name, noise)
        if "sigma" in at.model.model_fields and name == "noise-multiplier":
            return _multiplier(at, faults, text)
        if "sigma" in at.model.model_fields and name in _SQUARES:
            return _square(at, faults, text)
    if name in _FOLDED_RATES:
        return _sampled(at, faults, text)
    if name in _PASSES:
        return _passes(at, faults, text)
    if name in _BATCHES:
        hint = (
            "what a step reads is a dataset of its own: `map: {kind: sample, poisson: q}` where "
            "each row is drawn with chance q, `{kind: sample, size: m, of: n}` for m of n rows"
        )
        return _tell(at, faults, "belongs to a sample", hint)
    return None


def _tell(
    at: UnknownKey,
    faults: Faults,
    label: str,
    hint: str,
    fix: Rewrite | None = None,
    certain: bool = True,
    explains: tuple[str, ...] = (),
) -> set[Path]:
    """Reports the key with its correction; returns the paths of the keys beside it that it
    `explains`."""
    faults.add("DPC101", at.path, at.unknown, hint, key=True, label=label, fix=fix, certain=certain)
    return set(map(at.beside, explains))


def _in_other_norm(at: UnknownKey, faults: Faults, name: str, noise: str) -> set[Path]:
    """Reports a sensitivity in another norm than that of the noise, and returns the paths of the
    keys that it explains."""
    told = ("sensitivity",)
    if name.startswith("l1"):
        hint = f"the sensitivity of {noise} noise is in L2, which is never more than in L1"
        fix = (renamed, at.path, "sensitivity")
        return _tell(at, faults, "write `sensitivity`", hint, fix, False, told)
    hint = f"the sensitivity of {noise} noise is in L1: of n numbers up to √n times that in L2"
    return _tell(at, faults, "is in L2", hint, None, False, told)


def _multiplier(at: UnknownKey, faults: Faults, text: str) -> set[Path]:
    """Reports the key `noise_multiplier` of libraries for DP-SGD as a fault, with the `sigma` to
    write instead: the multiplier times the clipping norm. Returns the paths of the keys whose
    absence that explains."""
    entry = at.siblings
    clip = next((each for each in _CLIPS if each in entry), None)
    given = entry.get(clip) if clip else "1"
    norm = given if isinstance(given, str) else ""
    hint = "σ is the noise multiplier times the sensitivity, the norm that gradients are clipped to"
    explains = ("sigma",) if clip else ("sigma", "sensitivity")
    simple = _number(text) is not None and _number(norm) is not None
    if not simple or "sigma" in entry or "-" in text + norm or "+" in text + norm:
        return _tell(at, faults, "write `sigma`", hint, None, False, explains)
    if clip is None:
        hint += "; in units of which it is 1"
    sigma = text if norm == "1" else f"{text} * {norm}"
    fix = (_as_sigma, at.path, sigma, "" if clip else "sensitivity: 1")
    return _tell(at, faults, "write `sigma`", hint, fix, True, explains)


def _square(at: UnknownKey, faults: Faults, text: str) -> set[Path]:
    """Reports a variance, the square of σ; returns the path of σ, which it explains."""
    value, says = _number(text), "`sigma` is the standard deviation, the root of the variance"
    root = None if value is None or value <= 0 else _root(value)
    fix: Rewrite | None = None
    if root is not None and root**2 != value:
        says += f": {decimal_up(root, 7)}, rounded"
    elif root is not None:
        exact = decimal_up(root, 12)
        sigma = exact if Fraction(exact) == root else str(root)
        says += f": {sigma}"
        fix = (_as_sigma, at.path, sigma, "")
    return _tell(at, faults, "write `sigma`", says, fix, fix is not None, ("sigma",))


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


def _sampled(at: UnknownKey, faults: Faults, text: str) -> set[Path]:
    """Reports a sampling rate at a mechanism, which belongs to a map `sample`; it explains no other
    key."""
    reads = at.siblings.get("reads")
    table = reads if isinstance(reads, str) and is_plain(reads) else "people"
    rate = text if text and _number(text) is not None else "q"
    hint = (
        "a sample is a dataset of its own, which the mechanism then reads: "
        f"`batch: {{from: {table}, map: {{kind: sample, poisson: {rate}}}}}` if each row is drawn "
        "by itself with this chance"
    )
    return _tell(at, faults, "belongs to a sample", hint)


def _passes(at: UnknownKey, faults: Faults, text: str) -> set[Path]:
    """Reports a number of epochs, where `count` is the number of steps; it explains no other
    key."""
    hint = "say `count: n`, the number of steps: epochs × rows / rows of a batch"
    rate = next((at.siblings[each] for each in _RATES if each in at.siblings), None)
    many, chance = _number(text), _number(rate) if isinstance(rate, str) else None
    if many is not None and chance:
        steps = many / chance
        if steps.denominator == 1:
            hint += f", here {many} / {rate} = {steps}"
    return _tell(at, faults, "write `count`", hint)


def _number(text: str) -> Fraction | None:
    """Returns the value of a number without constants; None for any other text."""
    try:
        return parse(text, {})
    except ExpressionError:
        return None
