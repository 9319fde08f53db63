"""The parser of the numbers of a spec: exact fractions, or bounds of 40 digits, without floats and
without `eval`.

Texts are untrusted: length, nesting, exponents and the size of results are bounded.
"""

import difflib
import operator
import re
from collections.abc import Callable, Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, NoReturn

from dpcompose.core.numbers.other_notation import (
    BOOLEAN_HINT,
    CHARACTERS,
    RESERVED,
    SHOWN,
    cut,
    in_our_notation,
    other_notation,
    quote,
    reserved,
)
from dpcompose.curves.rounding import is_square, sqrt_up

__all__ = [
    "RESERVED",
    "Bounds",
    "ExpressionError",
    "Meter",
    "bounds",
    "not_short",
    "number_hint",
    "parse",
]

MAX_LENGTH = 1000  # characters of an expression
MAX_BITS = 20_000  # of the numerator or the denominator of a result
MAX_NESTING = 50  # of parentheses
MAX_EXPONENT = 1000  # of ten, and of e, either way


class ExpressionError(ValueError):
    """A text is no number; ``offset`` is the position of the fault in it, from 0.

    ``meant``: the whole text in the notation of specs, if only one reading is possible.
    """

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        offset: int = 0,
        meant: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.offset = offset
        self.meant = meant


class Meter:
    """The work that the expressions of one spec may still take together, by default some seconds.

    One hostile expression takes a quarter of a second, and a file has room for thousands of them.
    """

    __slots__ = ("hints", "work")

    def __init__(self, work: int = 2 * 10**9, hints: int = 100) -> None:
        self.work = work
        self.hints = hints  # searches for the constant that was probably meant

    def spend_work(self, bits: int) -> bool:
        """Counts an operation on so many bits, and returns whether work is left; False once it is
        used up."""
        self.work -= (bits // 64) ** 2 + 1
        return self.work >= 0

    def spend_hint(self) -> bool:
        """Counts a search for a hint, and returns whether it may be made; False once too many
        were."""
        self.hints -= 1
        return self.hints >= 0


class Bounds(NamedTuple):
    """Two numbers between which a value lies; the same number twice where the value is known."""

    low: Fraction
    high: Fraction

    @property
    def exact(self) -> bool:
        """Returns whether the value is known exactly."""
        return self.low == self.high


#: The values of constants by name: exact, or between two numbers.
Names = Mapping[str, Fraction] | Mapping[str, Bounds]


def parse(text: str, names: Names, meter: Meter | None = None) -> Fraction:
    """Returns the exact value of an expression; raises ExpressionError where it may be no single
    number.

    Parameters: see `bounds`.
    """
    found = bounds(text, names, meter)
    if not found.exact:
        message = f"{quote(text)} has no exact value, and none may be rounded here"
        raise ExpressionError(message, "write a decimal or a fraction")
    return found.low


def bounds(text: str, names: Names, meter: Meter | None = None) -> Bounds:
    """Returns two numbers between which the value of an expression lies; they are equal without
    functions.

    It is a decimal, a fraction, or an expression with + - * / ( ), ln, exp, sqrt and the constants
    ``names``. ``meter``: the same for all expressions of a spec, to bound their work together.
    Raises ExpressionError, with a hint if it is clear what was probably meant.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters")
    if NUMBER.fullmatch(text):
        return _exactly(literal(text))
    if _RATIO.fullmatch(text):  # by the thousand in a profile
        top, _, bottom = text.partition("/")
        return _exactly(Fraction(int(top), int(bottom)))
    try:
        return _Parser(text, names, meter or Meter()).parse()
    except ExpressionError as error:
        raise _rewritten(error, text, names) from None


def _exactly(value: Fraction) -> Bounds:
    return Bounds(value, value)


def _rewritten(error: ExpressionError, text: str, names: Names) -> ExpressionError:
    """Returns the error, with the text in the notation of specs if another notation was used."""
    known = in_our_notation(text) if len(text) <= 2 * SHOWN else None
    if known is None or not known.text.isprintable() or len(known.text) > SHOWN:
        return error
    try:
        _Parser(known.text, names, Meter()).parse()
    except ExpressionError:
        return error
    return ExpressionError(known.message, f"write {quote(known.text)}", known.offset, known.text)


#: A plain fraction of few digits.
_RATIO = re.compile(r"(?:0|[1-9][0-9]{0,30})/[1-9][0-9]{0,30}")


def number_hint(value: object) -> str | None:
    """Returns what to write instead of a value that is no number; None if that is not clear."""
    if isinstance(value, bool):
        return BOOLEAN_HINT
    if value is None:
        return "write a number"
    if not isinstance(value, str):
        return "write one number, a fraction such as 104/4099, or an expression"
    try:
        parse(value, {})
    except ExpressionError as error:
        return error.hint
    return None


# --- decimals ------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@lru_cache(maxsize=4096)
def literal(text: str) -> Fraction:
    """Returns the value of a decimal without a sign. Offsets in faults count from its start."""
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, part = mantissa.partition(".")
    if len(whole) > 1 and whole[0] == "0":
        _refuse_leading_zero(text, whole)
    power = int(exponent or 0)
    if abs(power) > MAX_EXPONENT:
        message = f"the exponent {cut(exponent)} is beyond {MAX_EXPONENT}"
        raise ExpressionError(message, f"exponents go from -{MAX_EXPONENT} to {MAX_EXPONENT}")
    shift = power - len(part)
    digits = int(whole + part)
    return Fraction(digits * 10**shift) if shift >= 0 else Fraction(digits, 10**-shift)


def _refuse_leading_zero(text: str, whole: str) -> NoReturn:
    """Raises ExpressionError for a number with a leading zero."""
    meant = (whole.lstrip("0") or "0") + text[len(whole) :]
    message, hint = f"{quote(text)} has a leading zero", f"write {cut(meant)}"
    if _OCTAL.fullmatch(text):
        octal = str(int(text, 8))
        message += ", which YAML 1.1 takes for octal"
        hint += f", or {cut(octal)} if that is meant" if octal != meant else ""
    raise ExpressionError(message, hint)


_OCTAL = re.compile("0[0-7]+")


# --- expressions ---------------------------------------------------------------------------------

_MOST_COMPARED = 500
_MOST_LISTED = 10
_TAIL = re.compile(r"[0-9A-Za-z_.:,%']+")
_TOKEN = re.compile(
    rf"[ \t\n]*(?:(?P<number>{NUMBER.pattern})"
    r"|(?P<name>\.?[A-Za-z_][A-Za-z0-9_]*)|(?P<operator>[-+*/()])|(?P<end>\Z))"
)


class _Token(NamedTuple):
    """A token of an expression: its kind, its text and its offset in the expression."""

    kind: str
    text: str
    offset: int


class _Parser:
    """A recursive descent parser of one expression, with bounded nesting.

    `depth` in its methods: the number of open parentheses.
    """

    def __init__(self, text: str, names: Names, meter: Meter) -> None:
        self._text = text
        self._names = names
        self._meter = meter
        self._token = self._read(0)

    def parse(self) -> Bounds:
        """Returns the value of the whole expression; `ExpressionError` if it is no valid one."""
        if self._token.kind == "end":
            raise ExpressionError("a number is missing", "write a number")
        value = self._sum(0)
        token = self._token
        if token.text == ")":
            raise ExpressionError("this parenthesis was never opened", None, token.offset)
        if token.kind != "end":
            message = f"an operator is missing before {quote(token.text)}"
            hint = "write one of + - * /"
            if token.kind == "name":
                hint = f"write the number alone, without {quote(token.text)}; or one of + - * /"
            raise ExpressionError(message, hint, token.offset)
        return value

    def _read(self, offset: int) -> _Token:
        """Returns the token at or after `offset`; `ExpressionError` if no token begins there."""
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
        """Raises ExpressionError for letters or digits that directly follow a number."""
        known = other_notation(number.text, number.text + tail)
        if known is not None:
            raise ExpressionError(*known, number.offset)
        message = f"{quote(tail)} cannot follow the number {quote(number.text)}"
        raise ExpressionError(message, None, number.offset + len(number.text))

    def _refuse_character(self, offset: int) -> NoReturn:
        """Raises ExpressionError for the first character at or after `offset` that is not a
        blank."""
        rest = self._text[offset:].lstrip(" \t\n")
        char, at = rest[0], len(self._text) - len(rest)
        hint = CHARACTERS.get(char)
        if hint is None and char.isdigit():
            hint = "write digits as 0 to 9"
        raise ExpressionError(f"unexpected {quote(char)}", hint, at)

    def _take(self) -> _Token:
        """Returns the current token, and reads the next one."""
        token = self._token
        self._token = self._read(token.offset + len(token.text))
        return token

    def _sum(self, depth: int) -> Bounds:
        """Returns the value of terms joined by `+` and `-`, and consumes them."""
        return self._chain("+-", self._product, depth)

    def _product(self, depth: int) -> Bounds:
        """Returns the value of factors joined by `*` and `/`, and consumes them."""
        return self._chain("*/", self._operand, depth)

    def _chain(self, signs: str, part: Callable[[int], Bounds], depth: int) -> Bounds:
        """Returns the value of parts joined by these signs, and consumes them; `part` parses one
        part."""
        value = part(depth)
        while self._token.kind == "operator" and self._token.text in signs:
            sign = self._take()
            if self._token.text == sign.text and sign.text in "*/":
                hint = CHARACTERS["^"] if sign.text == "*" else "write a single `/`"
                raise ExpressionError(f"`{sign.text * 2}` is unknown", hint, sign.offset)
            value = self._apply(sign, value, part(depth))
        return value

    def _apply(self, sign: _Token, left: Bounds, right: Bounds) -> Bounds:
        """Returns the result of an operation on two values; `ExpressionError` if it divides by
        zero or is too large."""
        if sign.text == "/" and right.low <= 0 <= right.high:
            raise ExpressionError("division by zero", None, sign.offset)
        apply = _OPERATIONS[sign.text]
        lefts, rights = dict.fromkeys(left), dict.fromkeys(right)
        values = [apply(x, y) for x in lefts for y in rights if self._spend(x, y, sign)]
        if any(_bits(value) > MAX_BITS for value in values):
            message = f"the value needs more than {MAX_BITS} bits to write exactly"
            hint = "round it to fewer digits, a cost upwards"
            raise ExpressionError(message, hint, sign.offset)
        return Bounds(min(values), max(values))

    def _spend(self, left: Fraction, right: Fraction, sign: _Token) -> bool:
        """Counts an operation (`sign`) on two numbers; `ExpressionError` once too much work is
        done."""
        if not self._meter.spend_work(_bits(left) + _bits(right)):
            message = "the expressions of this spec take too much work"
            raise ExpressionError(message, None, sign.offset)
        return True

    def _operand(self, depth: int) -> Bounds:
        """Returns the value of an operand with its signs, and consumes it."""
        negative = False
        while self._token.text in {"+", "-"}:
            negative ^= self._take().text == "-"
        value = self._positive(depth)
        return Bounds(-value.high, -value.low) if negative else value

    def _positive(self, depth: int) -> Bounds:
        """Returns the value of a number, a constant or a parenthesis, and consumes it."""
        token = self._token
        if token.text == "(":
            return self._parenthesis(depth)
        if token.kind == "number":
            self._take()
            try:
                return _exactly(literal(token.text))
            except ExpressionError as error:
                error.offset += token.offset
                raise
        if token.kind == "name":
            self._take()
            return self._constant(token, depth)
        found = quote(token.text) if token.text else "the end"
        raise ExpressionError(f"a number is missing before {found}", None, token.offset)

    def _parenthesis(self, depth: int) -> Bounds:
        """Returns the value of the expression in parentheses, and consumes both of them."""
        opening = self._take()
        if depth >= MAX_NESTING:
            message = f"parentheses are nested more than {MAX_NESTING} deep"
            raise ExpressionError(message, None, opening.offset)
        value = self._sum(depth + 1)
        if self._token.text != ")":
            if self._token.kind == "end":
                raise ExpressionError("this parenthesis is never closed", None, opening.offset)
            message = f"an operator is missing before {quote(self._token.text)}"
            raise ExpressionError(message, "write one of + - * /", self._token.offset)
        self._take()
        return value

    def _constant(self, token: _Token, depth: int) -> Bounds:
        """Returns the value of a named constant, or of a function of a number; `ExpressionError`
        if the name is none."""
        word = token.text
        if self._token.text == "(":
            return self._value_of(token, depth)
        if known := reserved(word):
            raise ExpressionError(*known, token.offset)
        value = self._names.get(word)
        if value is None:
            message = f"{quote(word)} is no known constant"
            raise ExpressionError(message, self._legal(word), token.offset)
        return value if isinstance(value, Bounds) else _exactly(value)

    def _value_of(self, function: _Token, depth: int) -> Bounds:
        """Returns bounds of the value of a function, and consumes its argument."""
        word = function.text
        known = _FUNCTIONS.get(word)
        if known is None:
            meant = "did you mean `ln`? " if word in _LOGARITHMS else ""
            message = f"{quote(word)} is no known function"
            raise ExpressionError(message, f"{meant}known: `ln`, `exp`, `sqrt`", function.offset)
        given = self._parenthesis(depth)
        self._spend(*given, function)
        if not known.fits(given):
            message = f"{quote(word)} is for {known.domain}"
            raise ExpressionError(message, None, function.offset)
        low, high = (_rounded_outward(known, x) for x in given)
        return Bounds(low.low, high.high)

    def _legal(self, word: str) -> str:
        """Returns a hint for an unknown name: the nearest constant, if similar, and the declared
        ones."""
        names = self._names
        if word.casefold() in ("l1", "l2", "linf"):
            return "a sensitivity is a number; its norm follows from the noise"
        if not names:
            return "no constants are declared under `constants:`"
        few = list(islice(names, _MOST_COMPARED))
        meant = ""
        if len(word) <= 2 * SHOWN and self._meter.spend_hint():
            near = difflib.get_close_matches(word, few, n=1)
            meant = f"did you mean {quote(near[0])}? " if near else ""
        listed = ", ".join(map(quote, sorted(few)[:_MOST_LISTED]))
        return f"{meant}declared: {listed}" + (", ..." if len(names) > _MOST_LISTED else "")


_LOGARITHMS = {"log", "log1p", "log2", "log10", "Log", "LN", "Ln"}
#: Digits of the value of a function, and of its argument.
_DIGITS, _GUARDED = 40, 100
#: Digits of a number that is printed as it is.
_READ = 12
_LEAST = Fraction(1, 10**80)


class _Function(NamedTuple):
    """An increasing function of one number, by decimals; `fits`: returns whether it is defined
    for all numbers between bounds, and `domain` says so. `exactly`: its value where that is
    rational."""

    value: Callable[[Context, Decimal], Decimal]
    fits: Callable[[Bounds], bool]
    domain: str
    exactly: Callable[[Fraction], Fraction | None]


_FUNCTIONS = {
    "ln": _Function(
        Context.ln,
        lambda x: x.low > 0,
        "numbers above 0",
        lambda x: Fraction(0) if x == 1 else None,
    ),
    "exp": _Function(
        Context.exp,
        lambda x: x.low >= -MAX_EXPONENT and x.high <= MAX_EXPONENT,
        f"numbers from -{MAX_EXPONENT} to {MAX_EXPONENT}",
        lambda x: Fraction(1) if x == 0 else None,
    ),
    "sqrt": _Function(
        Context.sqrt,
        lambda x: x.low >= 0,
        "numbers from 0 on",
        lambda x: sqrt_up(x) if is_square(x) else None,
    ),
}


def _rounded_outward(function: _Function, x: Fraction) -> Bounds:
    """Returns bounds of the value of a function, of so many digits."""
    exactly = function.exactly(x)
    if exactly is not None:
        return _exactly(exactly)
    context = Context(prec=_GUARDED, Emax=MAX_EMAX, Emin=MIN_EMIN)
    given = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    value = Fraction(function.value(context, given))
    # The argument's error, a share of 1e-99, is an error of as much in a logarithm, and of at most
    # 1000 times that share in the others.
    margin = abs(value) / 10**80 + (_LEAST if function.value is Context.ln else 0)
    return Bounds(_short(value - margin, ROUND_FLOOR), _short(value + margin, ROUND_CEILING))


def not_short(bound: Fraction, down: bool = False) -> Fraction:
    """Returns a bound of a number that has no exact value; where it is a decimal of few digits, one
    moved outward by a part in 10^38, since readers would take `1e-39` for the number itself.

    `down`: whether the bound is from below.
    """
    context = Context(prec=_READ, Emax=MAX_EMAX, Emin=MIN_EMIN)
    if Fraction(context.divide(Decimal(bound.numerator), Decimal(bound.denominator))) != bound:
        return bound
    return bound + (-abs(bound) if down else abs(bound)) / 10**38


def _short(value: Fraction, rounding: str) -> Fraction:
    context = Context(prec=_DIGITS, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
