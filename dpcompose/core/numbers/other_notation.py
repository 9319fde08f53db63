"""What was probably meant by a text that is a number only elsewhere, or no number at all."""

import re
from functools import reduce

from dpcompose.core.numbers.literal import cut, shown

_INFINITE = frozenset({"inf", "infinity"})
_BOOLEANS = frozenset({"true", "false", "yes", "no", "on", "off"})
RESERVED = _INFINITE | _BOOLEANS | {"nan", "null", "none"}
"""Words that cannot name a constant, in whatever case of letters; here in lower case."""

BOOLEAN_HINT = "write 1 or 0 if a number is meant"
_PREFIXED = re.compile("0([xob])([0-9a-f]+)", re.IGNORECASE)
_BASES = {"x": ("a hexadecimal", 16), "o": ("an octal", 8), "b": ("a binary", 2)}
_CLOCK = re.compile(r"[0-9]+(?::[0-9]{1,2})+")
_GROUPED = re.compile("[0-9]{1,3}(?:,[0-9]{3})+")

CHARACTERS = {
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\uff0d", "write the minus sign as `-`"),
    **dict.fromkeys("\u00d7\u00b7\u2217\u22c5", "write the multiplication sign as `*`"),
    **dict.fromkeys("\u00f7\u2044\u2215", "write the division sign as `/`"),
    "%": "write a decimal instead of a percentage: 10% is 0.1",
    ",": "write decimals with a point: 1.5",
    "^": "there are no powers: write x*x",
    "\u221e": "write a finite number",
}


def other_notation(number: str, word: str) -> tuple[str, str | None] | None:
    """Message and hint for a ``word`` that starts with ``number`` but goes on; None if unclear."""
    said, tail = shown(word), word[len(number) :]
    if prefixed := _PREFIXED.fullmatch(word):
        return _other_base(word, prefixed[1].lower(), prefixed[2])
    if tail.startswith("_"):
        return f"{said} has underscores", f"write {cut(word.replace('_', ''))}"
    if _CLOCK.fullmatch(word):
        meant = reduce(lambda total, part: total * 60 + int(part), word.split(":"), 0)
        hint = f"write {cut(str(meant))} if that is meant, or a fraction with `/`"
        return f"{said} is a number to base 60 in YAML 1.1", hint
    if tail == "%":
        return f"{said} is a percentage", f"write {cut(_hundredth(number))}"
    if "," in tail:
        return f"{said} has a comma", f"write {_without_commas(word)}"
    missing = f"the exponent of {said} has no digits", "write for example 1e-6"
    return missing if tail in {"e", "E"} else None


def _without_commas(word: str) -> str:
    if _GROUPED.fullmatch(word):
        return f"{cut(word.replace(',', ''))}, or a decimal point if that is meant"
    return cut(word.replace(",", ".", 1))


def _other_base(word: str, letter: str, digits: str) -> tuple[str, str | None]:
    kind, base = _BASES[letter]
    try:
        hint = f"write {cut(str(int(digits, base)))}"
    except ValueError:
        hint = None
    return f"{shown(word)} is {kind} number", hint


def _hundredth(number: str) -> str:
    mantissa, _, exponent = number.lower().partition("e")
    if exponent:
        return f"{mantissa}e{int(exponent) - 2}"
    whole, _, part = mantissa.partition(".")
    digits = whole.zfill(3)
    return f"{digits[:-2].lstrip('0') or '0'}.{digits[-2:]}{part}".rstrip("0").rstrip(".")


def reserved(word: str) -> tuple[str, str] | None:
    """Message and hint for a word that stands for something other than a number."""
    plain = word.removeprefix(".").lower()
    if plain in _INFINITE:
        return "an infinite value is no guarantee", "write a finite number"
    if plain in _BOOLEANS:
        return f"{shown(word)} is a boolean, not a number", BOOLEAN_HINT
    if plain in RESERVED:
        return f"{shown(word)} is not a number", "write a number"
    return None
