"""Hints for texts that are numbers in another notation, or no numbers at all."""

import re
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

SHOWN = 40  # characters of a text that a message shows

_INFINITE = frozenset({"inf", "infinity"})
_BOOLEANS = frozenset({"true", "false", "yes", "no", "on", "off"})
RESERVED = _INFINITE | _BOOLEANS | {"nan", "null", "none"}
"""Words that cannot name a constant, in whatever case of letters; here in lower case."""

BOOLEAN_HINT = "write 1 or 0 if a number is meant"
_PREFIXED = re.compile("0([xob])([0-9a-f]+)", re.IGNORECASE)
_BASES = {"x": ("a hexadecimal", 16), "o": ("an octal", 8), "b": ("a binary", 2)}
_CLOCK = re.compile(r"[0-9]+(?::[0-9]{1,2})+")
_GROUPED = re.compile("[0-9]{1,3}(?:,[0-9]{3})+")

#: What people write for the signs of arithmetic.
_SIGNS = {
    "-": "\u2212\u2010\u2011\u2012\u2013\u2014\uff0d",
    "*": "\u00d7\u00b7\u2217\u22c5",
    "/": "\u00f7\u2044\u2215",
}

CHARACTERS = {
    **{char: f"write `{sign}`" for sign, chars in _SIGNS.items() for char in chars},
    "%": "write a decimal instead of a percentage: 10% is 0.1",
    ",": "write decimals with a point: 1.5",
    "^": "there are no powers: write x*x",
    "\u221e": "write a finite number",
}


def other_notation(number: str, word: str) -> tuple[str, str | None] | None:
    """Returns message and hint for a ``word`` that goes on after ``number``; None if unclear."""
    said, tail = quote(word), word[len(number) :]
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
    """Returns what to write for a number with commas: without them, or with a decimal point."""
    if _GROUPED.fullmatch(word):
        return f"{cut(word.replace(',', ''))}, or a decimal point if that is meant"
    return cut(word.replace(",", ".", 1))


def _other_base(word: str, letter: str, digits: str) -> tuple[str, str | None]:
    """Returns the message and the hint for a number in base 2, 8 or 16, such as `0x1F`."""
    kind, base = _BASES[letter]
    try:
        hint = f"write {cut(str(int(digits, base)))}"
    except ValueError:
        hint = None
    return f"{quote(word)} is {kind} number", hint


def _hundredth(number: str) -> str:
    """Returns the text of a decimal divided by 100."""
    mantissa, _, exponent = number.lower().partition("e")
    if exponent:
        return f"{mantissa}e{int(exponent) - 2}"
    whole, _, part = mantissa.partition(".")
    digits = whole.zfill(3)
    return f"{digits[:-2].lstrip('0') or '0'}.{digits[-2:]}{part}".rstrip("0").rstrip(".")


def reserved(word: str) -> tuple[str, str] | None:
    """Returns message and hint for a word that is reserved or infinite, not a number; else None."""
    plain = word.removeprefix(".").lower()
    if plain in _INFINITE:
        return "an infinite value is no guarantee", "write a finite number"
    if plain in _BOOLEANS:
        return f"{quote(word)} is a boolean, not a number", BOOLEAN_HINT
    if plain in RESERVED:
        return f"{quote(word)} is not a number", "write a number"
    return None


# --- the same number as it is written here -------------------------------------------------------


class Rewritten(NamedTuple):
    """A text in the notation of specs, with a message on the first other notation in it."""

    text: str
    message: str
    offset: int


_MOST_BITS = 200  # of a power that is written out
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_DIGITS = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_POWER = r"\s*(?:\^|\*\*)\s*(?:\(\s*(?P<a>[-+]?[0-9]{1,4})\s*\)|(?P<b>[-+]?[0-9]{1,4}))"


def in_our_notation(text: str) -> Rewritten | None:
    """Returns the text with powers, percentages and the like as plain numbers; None without any.

    Only where one reading is possible: `1,500` could be two numbers.
    """
    message, offset = "", len(text)
    for pattern, says, write in _NOTATIONS:
        found = re.search(pattern, text)
        if found is None:
            continue
        written = re.sub(pattern, write, text)
        if written == text:
            continue
        if found.start() < offset:
            message, offset = f"{quote(found[0].strip())} is {says}", found.start()
        text = written
    return Rewritten(text.strip(), message, offset) if message else None


def _exponent(found: re.Match[str]) -> int:
    return int(found["a"] or found["b"])


def _ten(found: re.Match[str]) -> str:
    return f"{found['m'] or '1'}e{_exponent(found)}"


def _power(found: re.Match[str]) -> str:
    """Returns a power as a plain number, `1e6` for base 10; the matched text if it would be too
    long."""
    base, power = int(found["base"]), _exponent(found)
    if base == 10:
        return f"1e{power}"
    if power < 0 or base.bit_length() * power > _MOST_BITS:
        return found[0]
    return str(base**power)


def _comma(found: re.Match[str]) -> str:
    """Returns a number with its decimal comma as a point; the matched text if it may be a
    thousand."""
    # Before a group of three digits a zero is no thousands.
    return (
        found[0] if _GROUPED.fullmatch(found[0]) and found[1] != "0" else f"{found[1]}.{found[2]}"
    )


_Write = Callable[[re.Match[str]], str]
#: Other notations: pattern, name for messages, and how to rewrite a match. The patterns are
#: compiled only where a number is wrong.
_NOTATIONS: tuple[tuple[str, str, _Write], ...] = (
    (
        rf"({_DIGITS})([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)",
        "a power",
        lambda found: f"{found[1]}^{found[2].translate(_SUPERSCRIPTS)}",
    ),
    *(
        (f"[{signs}]", f"not the sign `{sign}`", lambda _, sign=sign: sign)
        for sign, signs in _SIGNS.items()
    ),
    (
        rf"(?<![\w.])(?P<m>{_DIGITS})\s*[*xX]\s*10{_POWER}(?![\w.^])",
        "a power of ten",
        _ten,
    ),
    (rf"(?<![\w.])(?P<base>[0-9]{{1,9}}){_POWER}(?![\w.^])", "a power", _power),
    (
        r"(?<![\w.,])([0-9]+),([0-9]+)(?![\w.,%])",
        "a number with a comma",
        _comma,
    ),
    (
        r"(?<![\w.,])[1-9][0-9]{0,2}(?:_[0-9]{3})+(?![\w.,])",
        "a number with underscores",
        lambda found: found[0].replace("_", ""),
    ),
    (
        rf"(?<![\w.,])({_DIGITS}(?:[eE][-+]?[0-9]+)?)\s*%(?!\w)",
        "a percentage",
        lambda found: _hundredth(found[1]),
    ),
    (
        rf"(?<![\w.])({_DIGITS})\s*[eE]\s*([-+]?)\s*([0-9]+)(?![\w.])",
        "a number with blanks",
        lambda found: f"{found[1]}e{found[2]}{found[3]}",
    ),
    (
        r"(?<![\w.])0[xX][0-9a-fA-F]{1,16}(?![\w.])",
        "a hexadecimal number",
        lambda found: str(int(found[0], 16)),
    ),
)


def cut(text: str) -> str:
    """Returns a text as a message shows it, no longer than `SHOWN`."""
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def quote(text: str) -> str:
    """Returns the text in quotes, cut, and escaped if it has unprintable characters."""
    text = cut(text)
    return f"`{text if text.isprintable() else text.encode('unicode_escape').decode()}`"
