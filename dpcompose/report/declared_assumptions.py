"""What the entries of a spec declare without proof (guarantees, disjoint blocks, caps, rates), in a
form in which two revisions of the spec are compared.

Everything that an entry declares is part of its claim: what a mechanism guarantees, on which data,
how far one row moves it, what is dropped or kept, how often it is drawn. Numbers are compared by
value, with constants put in; where a value is not rational, by the bounds between which it is
certified to lie. Which values are numbers, and which change of one claims less, the models of the
spec say. The reason (`because`), the position and the title of the spec are not part of a claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from dpcompose.core.numbers.expressions import Bounds
from dpcompose.errors import Path, printable, quoted
from dpcompose.resolve import Resolved
from dpcompose.resolve.parameters import Numbers
from dpcompose.source import Value
from dpcompose.spec.mechanisms import ReadingEntry
from dpcompose.spec.parts import UNKNOWN, WHOLE, Part

#: Keys of a spec that declare nothing of the data: what it is called, asks and allows, and the
#: numbers that stand for others.
NO_CLAIMS = frozenset(
    {"dpcompose", "title", "because", "constants", "budget", "report"}
)  # fmt: skip
#: The parts of a spec whose entries each have a claim, with what an entry is called.
_ENTRIES = {"relations": "relation", "datasets": "dataset", "mechanisms": "mechanism"}
#: A parameter, which is no claim: how often a mechanism runs.
_COUNT = "count"


#: The marker for the value of an absent key.
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Vouched:
    """The claim of one entry of a spec: its name, what it declares, and its path in the spec.

    The path is empty for a claim that was read from a file.
    """

    of: str
    content: dict[str, Any]
    path: Path

    @property
    def part(self) -> Part:
        """Returns what the models say of its content; nothing for a claim without a path."""
        section, *entry = self.path or ("",)
        if section not in (*_ENTRIES, "protect"):  # a key at the top, with its value
            return WHOLE if self.path else UNKNOWN
        about = WHOLE.below(section, self.content)
        return about.below(entry[0], self.content) if entry else about


def claims(resolved: Resolved) -> list[Vouched]:
    """Returns the claims of all entries of a spec that declare something, in fixed order.

    Raises InvalidSpec for a number without a value.
    """
    tree = resolved.source.value
    assert isinstance(tree, dict)  # true of every spec that was read
    return [each for each in _claims(tree, resolved.numbers) if each.content]


def _claims(tree: dict[str, Value], numbers: Numbers) -> Iterator[Vouched]:
    """Yields the claim of every entry: settings, `protect`, relations, datasets, mechanisms."""
    for key in WHOLE.keys:
        if key in tree and key not in NO_CLAIMS and key not in (*_ENTRIES, "protect"):
            content = {key: _declared(tree[key], WHOLE.below(key, tree[key]), (key,), numbers)}
            yield Vouched(key, content, (key,))
    protect = tree["protect"]
    protected = _declared(protect, WHOLE.below("protect", protect), ("protect",), numbers)
    if isinstance(protected, dict) and (protected.get("keeps") or protected.get("changes")):
        yield Vouched("protect", protected, ("protect",))
    for section, noun in _ENTRIES.items():
        entries = tree.get(section)
        about = WHOLE.below(section, entries)
        for step, entry in _steps(entries):
            content = _declared(entry, about.below(step, entry), (section, step), numbers)
            name = content.pop("name", "") if section == "mechanisms" else step
            # A guarantee without a relation is one for what the spec protects.
            if "reads" in content and section == "mechanisms":
                content["protect"] = protected
            yield Vouched(f"{noun} {name}", content, (section, step))


def _steps(value: Value) -> Iterator[tuple[str | int, Value]]:
    """Yields what stands in a mapping or a list, each with its key or its index."""
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _declared(value: Value, part: Part, path: Path, numbers: Numbers) -> Any:
    """Returns what a value declares: its numbers evaluated, without the reasons (`because`) inside.

    A mapping whose keys are numbers becomes a list of pairs. Raises InvalidSpec.
    """
    if isinstance(value, dict):
        below = {
            key: _declared(each, part.below(key, each), (*path, key), numbers)
            for key, each in value.items()
            if key != "because" or part.model is None
        }
        if not part.number_keys:
            return below
        pairs = ((numbers.value(key, (*path, key)), each) for key, each in below.items())
        return [[_text(value), each] for value, each in sorted(pairs)]
    if isinstance(value, list):
        return [
            _declared(each, part.below(at, each), (*path, at), numbers)
            for at, each in enumerate(value)
        ]
    if value is None or isinstance(value, bool):
        return value
    return _text(numbers.value(value, path)) if part.is_number else str(value)


# --- numbers --------------------------------------------------------------------------------------

#: Digits of the bounds of a value that is not rational: fewer than those to which it is evaluated,
#: so that two expressions of one value have the same bounds.
_DIGITS = 30
_DOWN, _UP = (Context(_DIGITS, each) for each in (ROUND_FLOOR, ROUND_CEILING))
#: How bounds stand in a text: `1.41 to 1.42`.
_TO = " to "
_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+))?|-?[0-9]+(?:\.[0-9]+)?(?:E[-+][0-9]{1,5})?")


def _text(value: Bounds) -> str:
    """Returns a number as an exact text, or two bounds of it."""
    if value.exact:
        return _exact_text(value.low)
    return f"{_rounded(value.low, _DOWN)}{_TO}{_rounded(value.high, _UP)}"


def _exact_text(value: Fraction) -> str:
    """Returns a fraction, of any length, as a text."""
    # Python refuses to write long integers in digits, and decimals of the same value not.
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    return f"{top}" if value.denominator == 1 else f"{top}/{bottom}"


def _rounded(value: Fraction, context: Context) -> str:
    """Returns a fraction as a decimal that is rounded as the context says."""
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def _bounds(text: str) -> Bounds | None:
    """Returns the bounds that a text states; None if it states none."""
    low, _, high = text.partition(_TO)
    ends = [_fraction(low), _fraction(high or low)]
    return None if None in ends else Bounds(*ends)  # type: ignore[arg-type]


def _fraction(text: str) -> Fraction | None:
    """Returns the value of a fraction or a decimal; None for another text."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    if found[2] is not None:
        bottom = int(Decimal(found[2]))
        return Fraction(int(Decimal(found[1])), bottom) if bottom else None
    return Fraction(Decimal(text))


# --- what follows from what -----------------------------------------------------------------------


def is_new(claim: Vouched, known: Vouched | None) -> bool:
    """Returns whether a claim says more than the known one of its entry, if there is one."""
    return known is None or not _follows(claim.content, known.content, claim.part)


def _follows(new: Any, old: Any, part: Part) -> bool:
    """Returns whether the `new` declaration follows from the `old` one; `part`: what the models say
    of the place at which both stand."""
    if new == old:
        return True
    if isinstance(new, dict) and isinstance(old, dict):
        return next(_stronger_keys(new, old, part), None) is None
    if isinstance(new, list) and isinstance(old, list):
        pairs = enumerate(zip(new, old, strict=False))
        return len(new) == len(old) and all(
            _follows(one, other, part.below(at, one)) for at, (one, other) in pairs
        )
    if part.is_number and isinstance(new, str) and isinstance(old, str):
        return _weaker_number(new, old, part)
    return False


def _weaker_number(new: str, old: str, part: Part) -> bool:
    """Returns whether a number claims no more than another one at its place.

    Both bounds must be as far, or further: a bound of a loss is computed from one of them.
    """
    now, was = _bounds(new), _bounds(old)
    if now is None or was is None:
        return False
    if "larger" in part.weaker:
        return now.low >= was.low and now.high >= was.high
    return "smaller" in part.weaker and now.low <= was.low and now.high <= was.high


def _stronger_keys(new: dict[str, Any], old: dict[str, Any], part: Part) -> Iterator[str]:
    """Yields the keys at which a mapping declares what does not follow from the old one."""
    model = part.model
    runs = model is not None and issubclass(model, ReadingEntry)
    counts = {_COUNT} if runs and new.keys() ^ old.keys() <= {_COUNT} else set()
    for name in dict.fromkeys((*new, *old)):
        now, was = _value_at(new, name), _value_at(old, name)
        if name in counts or now == was:
            continue
        below = part.below(name, was if now is _ABSENT else now)
        if now is _ABSENT:
            if model is None or "absent" not in below.weaker:
                yield name
        elif model is not None and name == "max_rows" and new.get("exact") is True:
            yield name  # with `exact` no other number follows
        elif was is _ABSENT or not _follows(now, was, below):
            yield name


# --- in words ------------------------------------------------------------------------------------


def difference(claim: Vouched, known: Vouched | None, gone: bool = False) -> tuple[str, Path]:
    """Returns what a claim declares beyond the known one of the same entry, and where, in words.

    It is told at the first key that declares what does not follow; if all follows, at the first
    that differs. `gone`: the claim is the former one, and the known one that of now.
    """
    name = quoted(claim.of)
    if known is None:
        return f"{name}: {_value_in_words(_shortly(claim.content, claim.part))}", claim.path
    keys: list[str | int] = []
    new, old, part = claim.content, known.content, claim.part
    while (step := _differing_step(new, old, part)) is not None:
        keys.append(step)
        new, old = (
            each[step] if isinstance(each, list) else _value_at(each, str(step))
            for each in (new, old)
        )
        part = part.below(step, old if new is _ABSENT else new)
    path: Path = (*claim.path, *keys[claim.path == (keys[0],) :])
    if keys[0] == "protect" and claim.path[0] == "mechanisms":
        path = tuple(keys)
    shown = [_shortly(each, part) for each in (new, old)]
    if shown[0] == shown[1]:  # they differ in digits that are not shown
        shown = [new, old]
    now, was = map(_value_in_words, shown)
    says = f"{'.'.join(printable(str(key)) for key in keys)} {'was' if gone else 'is'} {now}"
    says += f" and {'is' if gone else 'was'} {was}"
    return f"{name}: {says}", path


def _differing_step(new: Any, old: Any, part: Part) -> str | int | None:
    """Returns the first key or index at which a value declares what does not follow from the old
    one, or else the first at which they differ; None where they are told as a whole."""
    if isinstance(new, dict) and isinstance(old, dict):
        differing = (key for key in [*new, *old] if _value_at(new, key) != _value_at(old, key))
        return next(_stronger_keys(new, old, part), None) or next(differing)
    if not isinstance(new, list) or not isinstance(old, list) or len(new) != len(old):
        return None
    pairs = [*enumerate(zip(new, old, strict=True))]
    stronger = (at for at, pair in pairs if not _follows(*pair, part.below(at, pair[0])))
    found = next(stronger, next((at for at, (one, other) in pairs if one != other), None))
    inside = found is not None and all(isinstance(each, dict | list) for each in pairs[found][1])
    return found if inside else None  # names are told with those around them


def _value_at(content: dict[str, Any], key: str) -> Any:
    """Returns the value of a key, or a marker if it is absent."""
    return content.get(key, _ABSENT)


#: Digits that readers see of a number whose text is longer than so many characters.
_SHOWN, _LONG = Context(12), 24


def _shortly(value: Any, part: Part) -> Any:
    """Returns a declared value with a few digits of each number that has many."""
    if isinstance(value, dict):
        return {key: _shortly(each, part.below(key, each)) for key, each in value.items()}
    if isinstance(value, list):
        return [_shortly(each, part.below(at, each)) for at, each in enumerate(value)]
    if not part.is_number or not isinstance(value, str) or len(value) <= _LONG:
        return value
    found = _bounds(value)
    if found is None:
        return value
    text = _rounded(found.low, _SHOWN)
    return text if _bounds(text) == found else f"{text}…"


def _value_in_words(value: Any) -> str:
    """Returns a declared value as quoted text, or `not there`."""
    if value is _ABSENT:
        return "not there"
    if isinstance(value, dict):
        return quoted(flow(value)[1:-1])
    return quoted(flow(value))


def flow(value: Any) -> str:
    """Returns a declared value as text in the flow style of YAML."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {flow(each)}' for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return value if isinstance(value, str) else str(value).lower()
