"""Sums in the prose of an entry: totals of lists, totals at the end of a text, equations.

The amounts of ε and ρ are read in their usual forms, and no further: where a text is not clear
about what it adds, it claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple


class Printed(NamedTuple):
    """A number as it is printed; `step`: one unit of its last digit."""

    text: str
    value: Fraction
    step: Fraction


class SumClaim(NamedTuple):
    """What a text says of a sum: that `parts`, `factor` times, are `total`.

    `name`: of the parameter, empty for an equation of numbers. `piece`: the line in which the total
    stands, with its start and its end there; None where it is a parameter of the entry.
    `is_sure`: the text itself names the total.
    """

    name: str
    total: Printed
    parts: tuple[Printed, ...]
    factor: int = 1
    piece: tuple[str, int, int] | None = None
    is_sure: bool = True

    @property
    def value(self) -> Fraction:
        """Returns what the parts add up to."""
        return sum((each.value for each in self.parts), Fraction(0)) * self.factor

    @property
    def slack(self) -> Fraction:
        """Returns how far a sum of rounded numbers may be from a rounded total."""
        return (self.total.step + sum(each.step for each in self.parts) * self.factor) / 2


def printed(text: str, value: Fraction | None = None) -> Printed:
    """Returns a decimal with the size of its last digit; `value`: its value, if it is known."""
    digits, _, exponent = text.casefold().partition("e")
    power = int(exponent) if re.fullmatch(r"[-+]?\d{1,4}", exponent) else 0
    step = Fraction(10) ** (power - len(digits.partition(".")[2]))
    return Printed(text, Fraction(text) if value is None else value, step)


_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
_END = r"(?![\w^/]|\.\d)"
#: An amount such as `\\(\epsilon\\) = 0.44`, `ε=4` or `\\(\rho_1 = 0.5\\)`.
_AMOUNT = re.compile(
    r"(?:\\?\b(?:var)?(?P<name>epsilon|rho)|(?P<sign>[ερ]))(?:_\{?\w{1,9}\}?)?'{0,3} {0,3}"
    rf"(?:\\\\\)|\$)? {{0,3}}= {{0,3}}(?:\\\\\(|\$)? {{0,3}}(?P<number>{_NUMBER}){_END}"
)
_SIGNS = {"ε": "epsilon", "ρ": "rho"}
_EQUATION = re.compile(
    rf"(?<![\w.^/*×+·−-])(?<![*×+·/−^-] )({_NUMBER}(?: {{0,3}}[*×+·] {{0,3}}{_NUMBER}){{1,50}})"
    rf" {{0,3}}= {{0,3}}({_NUMBER}){_END}(?! {{0,3}}[*×+·/−^-])"
)
_BULLET = re.compile(r"(\s*)([-*•]\s|\d{1,3}[.)]\s)?")
#: Words of a text whose amounts are not added.
_NOT_A_SUM = re.compile(r"\b(?:each|maximum|max|parallel|respectively|either|instead)\b", re.I)
_FACTOR = re.compile(r"\bfactor (?:of )?(\d{1,6})\b|\b(?:doubled?|twice)\b", re.I)
_LONGEST_LINE = 5_000


@dataclass
class _Line:
    """A line of a text with its amounts, and those below it; `level`: its margin, and whether it
    is an item of a list."""

    text: str
    level: tuple[int, bool]
    below: list[_Line] = field(default_factory=list)

    def amounts(self, name: str) -> list[re.Match[str]]:
        """Returns the amounts of the parameter `name` (ε or ρ) in the line."""
        found = _AMOUNT.finditer(self.text)
        return [each for each in found if (each["name"] or _SIGNS[each["sign"]]) == name]

    def amount(self, name: str) -> re.Match[str] | None:
        """Returns the amount of the parameter `name` that the line states: its only one, or the one
        after the word `total`; None if there is no such one."""
        told = self.amounts(name)
        if len(told) > 1:
            after = self.text.casefold().rfind("total")
            told = [each for each in told if each.start() > after >= 0]
        return told[0] if len(told) == 1 else None

    @property
    def items(self) -> list[_Line]:
        """Returns the items of the list below."""
        return [each for each in self.below if each.level[1]]


def claims(text: str, parameters: dict[str, Printed], is_whole: bool) -> Iterator[SumClaim]:
    """Yields what a text says of sums.

    `parameters`: those of the entry; `is_whole`: whether a list at the top is about all of them.
    """
    root = _Line("", (-1, False))
    above, lines = [root], list[_Line]()
    for each in text.split("\n"):
        found = _BULLET.match(each)
        if not each.strip() or len(each) > _LONGEST_LINE or found is None:
            continue
        made = _Line(each, (len(found[1]), found[2] is not None))
        while above[-1].level >= made.level:
            above.pop()
        above[-1].below.append(made)
        above.append(made)
        lines.append(made)
    for line in lines:
        yield from _equations(line.text)
        for name in ("epsilon", "rho"):
            total = line.amount(name)
            parts = _parts(line.items, name)
            if total and len(parts) > 1 and not _NOT_A_SUM.search(line.text):
                piece = (line.text, *total.span("number"))
                yield SumClaim(name, printed(total["number"]), parts, 1, piece)
    tops = [item for line in root.below for item in ([line] if line.level[1] else line.items)]
    for name in ("epsilon", "rho"):
        if name in parameters and not _NOT_A_SUM.search(text):
            total_of_all, parts = parameters[name], _parts(tops, name)
            named = any(each.value == total_of_all.value for each in parts)
            if is_whole and len(parts) > 1 and not named:
                yield SumClaim(name, total_of_all, parts, is_sure=False)
            elif not any(line.level[1] for line in lines):
                yield from _at_the_end(text, lines, name, total_of_all)


def _parts(items: list[_Line], name: str) -> tuple[Printed, ...]:
    """Returns the ε or ρ of each item of a list in prose; nothing if one has no single number."""
    told = [each for each in items if each.amounts(name)]
    found = [each.amount(name) for each in told]
    return tuple(printed(each["number"]) for each in found if each) if all(found) else ()


def _equations(text: str) -> Iterator[SumClaim]:
    """Yields the equations of a line, such as `0.11 * 2 + 0.22 = 0.44`."""
    for found in _EQUATION.finditer(text):
        value = Fraction(0)
        for term in found[1].split("+"):
            product = Fraction(1)
            for factor in re.split("[*×·]", term):
                product *= Fraction(factor.strip())
            value += product
        parts = (Printed(found[1], value, Fraction(0)),)
        yield SumClaim("", printed(found[2]), parts, 1, (text, *found.span()))


def _at_the_end(text: str, lines: list[_Line], name: str, total: Printed) -> Iterator[SumClaim]:
    """Yields the claim of a text that names amounts, perhaps a factor, and at last their sum."""
    *parts, last = [each["number"] for line in lines for each in line.amounts(name)] or [""]
    if len(parts) > 1 and Fraction(last) == total.value:
        found = _FACTOR.search(text)
        factor = 1 if found is None else int(found[1] or 2)
        yield SumClaim(name, total, tuple(map(printed, parts)), factor, is_sure=False)
