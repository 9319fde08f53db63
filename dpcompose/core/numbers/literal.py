"""Single numbers as people write them, made exact fractions, and why a text is none."""

import re
from fractions import Fraction
from functools import lru_cache
from typing import NoReturn

MAX_EXPONENT = 1000  # of ten, either way
SHOWN = 40  # characters of a text that a message shows


class ExpressionError(ValueError):
    """A text is no number; ``offset`` is the place of the fault in it, from 0.

    ``meant``: the whole text as it is written here, where it has one reading alone.
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


NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


@lru_cache(maxsize=4096)
def literal(text: str) -> Fraction:
    """The value of a decimal without a sign. Offsets in faults count from its start."""
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
    meant = (whole.lstrip("0") or "0") + text[len(whole) :]
    message, hint = f"{shown(text)} has a leading zero", f"write {cut(meant)}"
    if _OCTAL.fullmatch(text):
        octal = str(int(text, 8))
        message += ", which YAML 1.1 takes for octal"
        hint += f", or {cut(octal)} if that is meant" if octal != meant else ""
    raise ExpressionError(message, hint)


_OCTAL = re.compile("0[0-7]+")


def cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def shown(text: str) -> str:
    text = cut(text)  # it may hold what a terminal acts upon
    return f"`{text if text.isprintable() else text.encode('unicode_escape').decode()}`"
