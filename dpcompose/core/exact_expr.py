"""Numbers as people write them in a spec, made exact fractions: never a float, never `eval`.

Texts may come from a stranger: length, nesting, exponents and the size of results are bounded.
"""

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import islice
from typing import NamedTuple, NoReturn

MAX_LENGTH = 1000  # characters of an expression
MAX_EXPONENT = 1000  # of ten, either way
MAX_BITS = 20_000  # of the numerator or the denominator of a result
MAX_NESTING = 50  # of parentheses

_INFINITE = frozenset({"inf", "infinity"})
_BOOLEANS = frozenset({"true", "false", "yes", "no", "on", "off"})
RESERVED = _INFINITE | _BOOLEANS | {"nan", "null", "none"}
"""Words that cannot name a constant, in whatever case of letters; here in lower case."""


class ExpressionError(ValueError):
    """A text is no number; ``offset`` is the place of the fault in it, from 0."""

    def __init__(self, message: str, hint: str | None = None, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.offset = offset


class Meter:
    """What the expressions of one spec may still cost together; the default is some seconds.

    One hostile expression takes a quarter of a second, and a file has room for thousands of them.
    """

    __slots__ = ("hints", "work")

    def __init__(self, work: int = 2 * 10**9, hints: int = 100) -> None:
        self.work = work
        self.hints = hints  # searches for the constant that was probably meant

    def spend_work(self, bits: int) -> bool:
        """Note an operation on so many bits; False where too much was done."""
        self.work -= (bits // 64) ** 2 + 1
        return self.work >= 0

    def spend_hint(self) -> bool:
        """Note a search; False where too many were made."""
        self.hints -= 1
        return self.hints >= 0


def parse(text: str, names: Mapping[str, Fraction], meter: Meter | None = None) -> Fraction:
    """The exact value of a decimal, a fraction, or an expression with + - * / ( ) and ``names``.

    Give all expressions of a spec the same ``meter``, so that no spec takes for ever.
    Raises ExpressionError, with a hint where it can be told what was probably meant.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters")
    if _NUMBER.fullmatch(text):
        return _literal(text)
    return _Parser(text, names, meter or Meter()).parse()


def number_hint(value: object) -> str | None:
    """What to write instead of a value that is no number; None where that is not clear."""
    if isinstance(value, bool):
        return _BOOLEAN_HINT
    if value is None:
        return "write a number"
    if not isinstance(value, str):
        return "write one number, a fraction such as 104/4099, or an expression"
    try:
        parse(value, {})
    except ExpressionError as error:
        return error.hint
    return None


# --- literals ------------------------------------------------------------------------------------

_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@lru_cache(maxsize=4096)
def _literal(text: str) -> Fraction:
    """The value of a decimal without a sign. Offsets in faults count from its start."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    if len(whole) > 1 and whole[0] == "0":
        _refuse_leading_zero(text, whole)
    power = int(exponent or 0)
    if abs(power) > MAX_EXPONENT:
        message = f"the exponent {_cut(exponent)} is beyond {MAX_EXPONENT}"
        raise ExpressionError(message, f"exponents go from -{MAX_EXPONENT} to {MAX_EXPONENT}")
    shift = power - len(part)
    digits = int(whole + part)
    return Fraction(digits * 10**shift) if shift >= 0 else Fraction(digits, 10**-shift)


def _refuse_leading_zero(text: str, whole: str) -> NoReturn:
    meant = (whole.lstrip("0") or "0") + text[len(whole) :]
    message, hint = f"{_shown(text)} has a leading zero", f"write {_cut(meant)}"
    if _OCTAL.fullmatch(text):
        octal = str(int(text, 8))
        message += ", which YAML 1.1 takes for octal"
        hint += f", or {_cut(octal)} if that is meant" if octal != meant else ""
    raise ExpressionError(message, hint)


_OCTAL = re.compile("0[0-7]+")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _shown(text: str) -> str:
    text = _cut(text)  # it may hold what a terminal acts upon
    return f"`{text if text.isprintable() else text.encode('unicode_escape').decode()}`"


_SHOWN = 40

# --- what was probably meant ---------------------------------------------------------------------

_BOOLEAN_HINT = "write 1 or 0 if a number is meant"
_MOST_COMPARED = 500
_MOST_LISTED = 10
_FRACTION_HINT = "write the value as a fraction or a decimal, a cost rounded up"
_TAIL = re.compile(r"[0-9A-Za-z_.:,%']+")
_PREFIXED = re.compile("0([xob])([0-9a-f]+)", re.IGNORECASE)
_BASES = {"x": ("a hexadecimal", 16), "o": ("an octal", 8), "b": ("a binary", 2)}
_CLOCK = re.compile(r"[0-9]+(?::[0-9]{1,2})+")
_GROUPED = re.compile("[0-9]{1,3}(?:,[0-9]{3})+")

_CHARACTERS = {
    **dict.fromkeys("\u2212\u2010\u2011\u2012\u2013\u2014\uff0d", "write the minus sign as `-`"),
    **dict.fromkeys("\u00d7\u00b7\u2217\u22c5", "write the multiplication sign as `*`"),
    **dict.fromkeys("\u00f7\u2044\u2215", "write the division sign as `/`"),
    "%": "write a decimal instead of a percentage: 10% is 0.1",
    ",": "write decimals with a point: 1.5",
    "^": "there are no powers: write x*x",
    "\u221e": "write a finite number",
}


def _other_notation(number: str, word: str) -> tuple[str, str | None] | None:
    """Message and hint for a ``word`` that starts with ``number`` but goes on; None if unclear."""
    shown, tail = _shown(word), word[len(number) :]
    if prefixed := _PREFIXED.fullmatch(word):
        return _other_base(word, prefixed[1].lower(), prefixed[2])
    if tail.startswith("_"):
        return f"{shown} has underscores", f"write {_cut(word.replace('_', ''))}"
    if _CLOCK.fullmatch(word):
        meant = reduce(lambda total, part: total * 60 + int(part), word.split(":"), 0)
        hint = f"write {_cut(str(meant))} if that is meant, or a fraction with `/`"
        return f"{shown} is a number to base 60 in YAML 1.1", hint
    if tail == "%":
        return f"{shown} is a percentage", f"write {_cut(_hundredth(number))}"
    if "," in tail:
        return f"{shown} has a comma", f"write {_without_commas(word)}"
    missing = f"the exponent of {shown} has no digits", "write for example 1e-6"
    return missing if tail in {"e", "E"} else None


def _without_commas(word: str) -> str:
    if _GROUPED.fullmatch(word):
        return f"{_cut(word.replace(',', ''))}, or a decimal point if that is meant"
    return _cut(word.replace(",", ".", 1))


def _other_base(word: str, letter: str, digits: str) -> tuple[str, str | None]:
    kind, base = _BASES[letter]
    try:
        hint = f"write {_cut(str(int(digits, base)))}"
    except ValueError:
        hint = None
    return f"{_shown(word)} is {kind} number", hint


def _hundredth(number: str) -> str:
    mantissa, _, exponent = number.lower().partition("e")
    if exponent:
        return f"{mantissa}e{int(exponent) - 2}"
    whole, _, part = mantissa.partition(".")
    digits = whole.zfill(3)
    return f"{digits[:-2].lstrip('0') or '0'}.{digits[-2:]}{part}".rstrip("0").rstrip(".")


def _reserved(word: str) -> tuple[str, str] | None:
    """Message and hint for a word that stands for something other than a number."""
    plain = word.removeprefix(".").lower()
    if plain in _INFINITE:
        return "an infinite value is no guarantee", "write a finite number"
    if plain in _BOOLEANS:
        return f"{_shown(word)} is a boolean, not a number", _BOOLEAN_HINT
    if plain in RESERVED:
        return f"{_shown(word)} is not a number", "write a number"
    return None


# --- expressions ---------------------------------------------------------------------------------

_TOKEN = re.compile(
    rf"[ \t\n]*(?:(?P<number>{_NUMBER.pattern})"
    r"|(?P<name>\.?[A-Za-z_][A-Za-z0-9_]*)|(?P<operator>[-+*/()])|(?P<end>\Z))"
)


class _Token(NamedTuple):
    kind: str
    text: str
    offset: int


class _Parser:
    """Recursive descent over one expression, no deeper than its parentheses may be nested."""

    def __init__(self, text: str, names: Mapping[str, Fraction], meter: Meter) -> None:
        self._text = text
        self._names = names
        self._meter = meter
        self._token = self._read(0)

    def parse(self) -> Fraction:
        if self._token.kind == "end":
            raise ExpressionError("a number is missing", "write a number")
        value = self._sum(0)
        token = self._token
        if token.text == ")":
            raise ExpressionError("this parenthesis was never opened", None, token.offset)
        if token.kind != "end":
            message = f"an operator is missing before {_shown(token.text)}"
            raise ExpressionError(message, "write one of + - * /", token.offset)
        return value

    def _read(self, offset: int) -> _Token:
        match = _TOKEN.match(self._text, offset)
        if match is None:
            self._refuse_character(offset)
        kind = str(match.lastgroup)
        token = _Token(kind, match[kind], match.start(kind))
        tail = _TAIL.match(self._text, match.end()) if kind == "number" else None
        if tail:
            self._refuse_tail(token, tail[0])
        return token

    def _refuse_tail(self, number: _Token, tail: str) -> NoReturn:
        known = _other_notation(number.text, number.text + tail)
        if known is not None:
            raise ExpressionError(*known, number.offset)
        message = f"{_shown(tail)} cannot follow the number {_shown(number.text)}"
        raise ExpressionError(message, None, number.offset + len(number.text))

    def _refuse_character(self, offset: int) -> NoReturn:
        rest = self._text[offset:].lstrip(" \t\n")
        char, at = rest[0], len(self._text) - len(rest)
        hint = _CHARACTERS.get(char)
        if hint is None and char.isdigit():
            hint = "write digits as 0 to 9"
        raise ExpressionError(f"unexpected {_shown(char)}", hint, at)

    def _take(self) -> _Token:
        token = self._token
        self._token = self._read(token.offset + len(token.text))
        return token

    def _sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while self._token.text in {"+", "-"}:
            sign = self._take()
            value = self._apply(sign, value, self._product(depth))
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._operand(depth)
        while self._token.text in {"*", "/"}:
            sign = self._take()
            if self._token.text == sign.text:
                hint = _CHARACTERS["^"] if sign.text == "*" else "write a single `/`"
                raise ExpressionError(f"`{sign.text * 2}` is unknown", hint, sign.offset)
            value = self._apply(sign, value, self._operand(depth))
        return value

    def _apply(self, sign: _Token, left: Fraction, right: Fraction) -> Fraction:
        if not self._meter.spend_work(_bits(left) + _bits(right)):
            message = "the expressions of this spec take too much work"
            raise ExpressionError(message, None, sign.offset)
        if sign.text == "/" and right == 0:
            raise ExpressionError("division by zero", None, sign.offset)
        value = _OPERATIONS[sign.text](left, right)
        if _bits(value) > MAX_BITS:
            message = f"the value needs more than {MAX_BITS} bits to write exactly"
            hint = "round it to fewer digits, a cost upwards"
            raise ExpressionError(message, hint, sign.offset)
        return value

    def _operand(self, depth: int) -> Fraction:
        negative = False
        while self._token.text in {"+", "-"}:
            negative ^= self._take().text == "-"
        value = self._positive(depth)
        return -value if negative else value

    def _positive(self, depth: int) -> Fraction:
        token = self._token
        if token.text == "(":
            return self._parenthesis(depth)
        if token.kind == "number":
            self._take()
            return self._number(token)
        if token.kind == "name":
            self._take()
            return self._constant(token)
        found = _shown(token.text) if token.text else "the end"
        raise ExpressionError(f"a number is missing before {found}", None, token.offset)

    def _parenthesis(self, depth: int) -> Fraction:
        opening = self._take()
        if depth >= MAX_NESTING:
            message = f"parentheses are nested more than {MAX_NESTING} deep"
            raise ExpressionError(message, None, opening.offset)
        value = self._sum(depth + 1)
        if self._token.text != ")":
            if self._token.kind == "end":
                raise ExpressionError("this parenthesis is never closed", None, opening.offset)
            message = f"an operator is missing before {_shown(self._token.text)}"
            raise ExpressionError(message, "write one of + - * /", self._token.offset)
        self._take()
        return value

    def _number(self, token: _Token) -> Fraction:
        try:
            return _literal(token.text)
        except ExpressionError as error:
            offset = token.offset + error.offset
            raise ExpressionError(error.message, error.hint, offset) from None

    def _constant(self, token: _Token) -> Fraction:
        word = token.text
        if self._token.text == "(":
            message = f"{_shown(word)} is a function, and functions are not evaluated"
            raise ExpressionError(message, _FRACTION_HINT, token.offset)
        if reserved := _reserved(word):
            raise ExpressionError(*reserved, token.offset)
        value = self._names.get(word)
        if value is None:
            message = f"{_shown(word)} is no known constant"
            raise ExpressionError(message, self._legal(word), token.offset)
        return value

    def _legal(self, word: str) -> str:
        names = self._names
        if not names:
            return "no constants are declared under `constants:`"
        few = list(islice(names, _MOST_COMPARED))
        meant = ""
        if len(word) <= 2 * _SHOWN and self._meter.spend_hint():
            near = difflib.get_close_matches(word, few, n=1)
            meant = f"did you mean {_shown(near[0])}? " if near else ""
        listed = ", ".join(map(_shown, sorted(few)[:_MOST_LISTED]))
        return f"{meant}declared: {listed}" + (", ..." if len(names) > _MOST_LISTED else "")


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
