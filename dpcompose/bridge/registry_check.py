"""Findings about entries of the registry: parameters that do not fit, sums that do not add up.

The prose of an entry is read for lists and sums of ε and ρ in their usual forms, and no further:
where a text is not clear about what it adds, it claims nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from typing import NamedTuple

from dpcompose.bridge.registry_entries import OURS, TODO, reads_as_number
from dpcompose.core.notions.notion import CONVERTS, SIGNS, Notion, convert
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import chance, decimal_up
from dpcompose.errors import Diagnostic, Level, Path, Span, quoted
from dpcompose.report import Report
from dpcompose.source import Source


class Printed(NamedTuple):
    """A number as it is printed; `step`: one unit of its last digit."""

    text: str
    value: Fraction
    step: Fraction


class SumClaim(NamedTuple):
    """The claim of a text that the sum of `parts`, times `factor`, is `total`.

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
    """Yields the claims of a text that some numbers add up to another one.

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
    """Yields the claim in a registry entry's text that the amounts of ε or ρ which it names, times
    a factor if it names one, add up to the amount that it names last."""
    *parts, last = [each["number"] for line in lines for each in line.amounts(name)] or [""]
    if len(parts) > 1 and Fraction(last) == total.value:
        found = _FACTOR.search(text)
        factor = 1 if found is None else int(found[1] or 2)
        yield SumClaim(name, total, tuple(map(printed, parts)), factor, is_sure=False)


VARIANT, RANGE, SUM, BELOW = "DPC401", "DPC402", "DPC403", "DPC404"
PARALLEL, NO_UNIT, DIFFERS, UNFINISHED = "DPC405", "DPC406", "DPC407", "DPC408"
#: The codes of findings about entries with their meanings.
ENTRY_CODES = {
    VARIANT: "The variant of an entry does not fit its parameters.",
    RANGE: "A parameter of an entry is no number, or out of its range.",
    SUM: "Numbers in a text of an entry do not add up.",
    BELOW: "A parameter of an entry is below what it stands for: it was rounded down.",
    PARALLEL: "An entry composes in parallel, and nothing bounds what one unit contributes.",
    NO_UNIT: "An entry has privacy parameters and no privacy unit.",
    DIFFERS: "An entry and a spec of it say different things.",
    UNFINISHED: "Something of an entry is still to be written.",
}

_LOSS: Path = ("deployment", "privacy_loss")
_PARAMETERS: Path = (*_LOSS, "privacy_parameters")
_DETAILS: Path = (*_LOSS, "privacy_parameters_details")
_UNIT: Path = (*_LOSS, "privacy_unit")
_UNIT_DETAILS: Path = (*_LOSS, "privacy_unit_details")
_VARIANT: Path = ("deployment", "dp_variant", "variant_name")
_COMPOSITION: Path = ("deployment", "accounting", "composition")
_TUNING: Path = ("deployment", "implementation", "preprocessing_and_hyperparameter_tuning")
_MECHANISMS: Path = ("deployment", "implementation", "mechanisms")
_DOMAIN: Path = ("deployment", "dp_variant", "data_domain")
#: Where an entry may say what one unit contributes at most.
_BOUNDING = (_COMPOSITION, _TUNING, _UNIT_DETAILS, _DETAILS, _DOMAIN, _MECHANISMS)
#: So many characters of a text are read.
_MOST_READ = 50_000
#: So many sums of a text are looked at, and so many placeholders listed.
_MOST_SUMS = 1_000
_MOST_TODO = 100
_TODO = re.compile(rf"^(?!#).*?\b({TODO})\b", re.MULTILINE)


@dataclass
class RegistryEntry:
    """An entry, the numbers of its parameters by name, and what was found about it."""

    source: Source
    numbers: dict[str, Printed] = field(default_factory=dict)
    found: list[Diagnostic] = field(default_factory=list)
    _numbers_of_lines: dict[Path, dict[str, int]] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """Returns the text at a path; empty where there is none."""
        value = self.source.at(path)
        return value[:_MOST_READ] if isinstance(value, str) else ""

    def place(self, path: Path, line: str, start: int, end: int) -> Path | Span:
        """Returns the span of the columns `start` to `end` of a line of the text at a path; the
        path itself where the line does not stand in the file as it is."""
        span, lines = self.source.span(path), self.source.lines
        if path not in self._numbers_of_lines:
            last = min(span.end_line, span.line + _MOST_READ)
            numbers = range(last, span.line - 1, -1)
            self._numbers_of_lines[path] = {lines[each - 1].strip(): each for each in numbers}
        number = self._numbers_of_lines[path].get(line.strip(), span.line)
        at = lines[number - 1].find(line)
        return path if at < 0 else Span(number, at + start + 1, number, at + end + 1)

    def add(
        self, code: str, level: Level, place: Path | Span, says: str, hint: str | None = None
    ) -> None:
        """Adds a finding at the value of a field, or at a span."""
        span = place if isinstance(place, Span) else self.source.span(place)
        self.found.append(Diagnostic(code, says, span, hint, level))


def check_entry(source: Source) -> RegistryEntry:
    """Returns an entry that fits the schema, with findings about it alone, without a spec to
    compare."""
    entry = RegistryEntry(source)
    _check_numbers(entry)
    _check_variant(entry)
    if entry.numbers and not entry.text(_UNIT).strip():
        hint = "say whose data the parameters are about: `privacy_unit: User-level`"
        entry.add(NO_UNIT, "error", _PARAMETERS, "privacy parameters without a privacy unit", hint)
    for path in (_DETAILS, _COMPOSITION):
        _check_sums(entry, path)
    _check_parallel(entry)
    _check_unfinished(entry)
    return entry


# --- parameters ----------------------------------------------------------------------------------


def _check_numbers(entry: RegistryEntry) -> None:
    """Reads the parameters, and adds findings about those that are no numbers in their range."""
    given = entry.source.at(_PARAMETERS)
    for name, value in given.items() if isinstance(given, dict) else ():
        at = (*_PARAMETERS, name)
        text, sign = str(value), SIGNS[name]
        hint = "write a number with a point before its exponent, such as 1.0e-7"
        try:
            number = parse(text, {})
        except ExpressionError:
            entry.add(RANGE, "error", at, f"{sign} = {quoted(text)} is no number", hint)
            continue
        if number < 0 or (name == "delta" and number >= 1):
            end = "at least 0 and below 1" if name == "delta" else "at least 0"
            entry.add(RANGE, "error", at, f"{sign} = {quoted(text)} must be {end}")
            continue
        if not reads_as_number(value):
            says = f"{sign} = {quoted(text)} is a text for the registry's reader"
            entry.add(RANGE, "warning", at, says, hint)
        entry.numbers[name] = printed(text, number)


#: For each variant: the parameters that it needs, and those that it may have beside them.
_NEEDS = {
    "Pure DP": (("epsilon",), ()),
    "Approximate DP": (("epsilon", "delta"), ()),
    "Zero-concentrated DP": (("rho",), ("epsilon", "delta")),
    "Renyi DP": ((), ("epsilon", "delta", "rho")),
    "Custom": ((), ("epsilon", "delta", "rho")),
}
_VARIANT_OF = {frozenset(needs): variant for variant, (needs, _) in _NEEDS.items() if needs}


def _check_variant(entry: RegistryEntry) -> None:
    """Adds findings about parameters that the variant lacks, or has no room for."""
    variant = entry.text(_VARIANT)
    tree = entry.source.at(_PARAMETERS)
    zero = {name for name, each in entry.numbers.items() if name == "delta" and not each.value}
    given = (tree.keys() if isinstance(tree, dict) else set()) - zero
    if not given:
        return
    meant = _VARIANT_OF.get(frozenset(given))
    hint = f"these are the parameters of {meant}" if meant and meant != variant else None
    if variant not in _NEEDS:
        entry.add(VARIANT, "error", _PARAMETERS, "privacy parameters of no variant", hint)
        return
    needs, may = _NEEDS[variant]
    says = [f"needs {SIGNS[each]}" for each in needs if each not in given]
    says += [f"has no {SIGNS[each]}" for each in sorted(given - {*needs, *may})]
    if may and "epsilon" in given and "delta" not in given and variant != "Custom":
        says.append("has an ε only at a δ")
    if variant == "Custom" and not entry.text(_UNIT_DETAILS).strip():
        says.append("needs its relation in `privacy_unit_details`")
    if says:
        entry.add(VARIANT, "error", _VARIANT, f"{variant} {' and '.join(says)}", hint)


# --- numbers in texts ----------------------------------------------------------------------------


def _check_sums(entry: RegistryEntry, path: Path) -> None:
    """Adds a finding for each sum in the text at a path that is another number."""
    told = entry.text(path).partition(OURS)[0]  # what stands below it was computed
    for each in islice(claims(told, entry.numbers, path == _DETAILS), _MOST_SUMS):
        same = all(part.value == each.total.value for part in each.parts)
        if same and each.name:  # amounts of one release in several words
            continue
        place: Path | Span = path
        if each.piece is not None:
            place = entry.place(path, *each.piece)
        elif each.factor == 1:
            place = (*_PARAMETERS, each.name)
        sign = f"{SIGNS[each.name]} = " if each.name else ""
        times = "" if each.factor == 1 else f", {each.factor} times,"
        added = " + ".join(part.text for part in each.parts)
        if abs(each.value - each.total.value) > each.slack:
            says = f"{added}{times} is {_short(each.value)}, not {sign}{each.total.text}"
            hint = "say what the number covers, and list each part of it" if each.name else None
            entry.add(SUM, "error" if each.is_sure else "warning", place, says, hint)
        elif each.value > each.total.value and not each.is_sure:
            says = f"{sign}{each.total.text} is below {added}{times}: it was rounded down"
            entry.add(BELOW, "warning", place, says, _round_up(each.value, each.total))


def _short(value: Fraction) -> str:
    """Returns a number with six digits, rounded up; a small one in its usual form."""
    return chance(decimal_up(value, 6))


def _round_up(value: Fraction, like: Printed) -> str:
    """Returns the advice to round a number up to the last digit of another one."""
    return f"round up: {_short(-(-value // like.step) * like.step)}"


# --- what the texts say --------------------------------------------------------------------------

_IN_PARALLEL = re.compile(
    r"\bparallel\b|\bin disjoint\b|\bdisjoint (?:parts|partitions|blocks|groups|subsets)\b"
    r"|\b(?:is|take|takes|taking) the maximum\b|\bmaximum of the\b",
    re.I,
)
_BOUND = re.compile(
    r"\b(?:at most|up to|no more than|capp?(?:ed|s|ing)?|truncat\w+|contribution bound\w*"
    r"|bound(?:ed)? (?:to|by|on|each|the number)|limit(?:ed|s)? (?:to|by|on|of|each|the number)"
    r"|exactly one|only one|one and only|not overlap\w*|no overlap\w*|once (?:per|in|every|each)"
    r"|belongs? to (?:one|a single)|contributes? (?:one|once|a single))\b",
    re.I,
)
#: Units of which each is in one part: what is recorded once.
_ONE_RECORD = re.compile(
    r"\b(?:event|record|row|tuple|trip|view|visit|transaction|birth|document|aggregate)", re.I
)


def _check_parallel(entry: RegistryEntry) -> None:
    """Adds a finding where amounts are not added, and no text bounds what a unit contributes."""
    text = entry.text(_COMPOSITION)
    found = _IN_PARALLEL.search(text)
    unit = entry.text(_UNIT).strip()
    bounded = any(_BOUND.search(entry.text(each)) for each in _BOUNDING)
    if found is None or bounded or _ONE_RECORD.search(unit):
        return
    start = text.rfind("\n", 0, found.start()) + 1
    line = text[start:].partition("\n")[0]
    place = entry.place(_COMPOSITION, line, found.start() - start, found.end() - start)
    of = f" of {quoted(unit)} privacy" if unit else ""
    says = f"composition in parallel, and no text says in how many parts one unit{of} can be"
    hint = "a unit in k parts pays k times: say what bounds k, or add the parts up (theorem IV.13)"
    entry.add(PARALLEL, "warning", place, says, hint)


def _check_unfinished(entry: RegistryEntry) -> None:
    """Adds a finding for each line with a placeholder, be it in a comment; a note in a draft."""
    level: Level = "note" if entry.source.at(("status",)) == "Draft" else "warning"
    for found in islice(_TODO.finditer(entry.source.lines.text), _MOST_TODO):
        span = entry.source.lines.span(*found.span(1))
        entry.add(UNFINISHED, level, span, "this is still to be written")


# --- against a spec ------------------------------------------------------------------------------

_RELATIONS = {
    "bounded": re.compile(
        r"\b(?:bounded|change.one|chang(?:e|es|ed|ing)|replac\w+|substitut\w+|swap\w*|modif\w+)\b",
        re.I,
    ),
    "unbounded": re.compile(
        r"\b(?:unbounded|add(?:ed|s|ing|ition)?|remov\w+|delet\w+|symmetric distance)\b", re.I
    ),
}
_DISTANCE_ONE = re.compile(r"\bmaximum distance\b[^.]{0,200}?\bis (?:one|1)\b", re.I)


def compare(entry: RegistryEntry, report: Report, spec: str) -> None:
    """Adds what an entry says and the report of its spec does not: numbers, relation, distance."""
    if report.status != "ok":
        says = f"{spec} has no finite guarantee, so that no number of the entry holds for it"
        entry.add(BELOW, "error", _PARAMETERS, says, next(iter(report.reasons), None))
        return
    for name in ("epsilon", "rho"):
        if name in entry.numbers:
            _compare_number(entry, report, spec, name)
    text = entry.text(_UNIT_DETAILS)
    said = [name for name, words in _RELATIONS.items() if words.search(text)]
    ours = {"user": "unbounded"}.get(str(report.relation), report.relation)
    if len(said) == 1 and ours in ("bounded", "unbounded") and said != [ours]:
        says = f"the entry has {said[0]} neighbours, and {spec} protects {report.relation} ones"
        entry.add(DIFFERS, "warning", _UNIT_DETAILS, says, f"the change there: {report.protects}")
    if report.distance > 1 and _DISTANCE_ONE.search(text):
        says = f"the entry says distance one, and {spec} protects {report.distance} steps"
        entry.add(DIFFERS, "warning", _UNIT_DETAILS, says)
    if report.relation == "user" and _ONE_RECORD.search(entry.text(_UNIT)):
        says = f"the entry protects one record, and {spec} all rows of a user"
        entry.add(DIFFERS, "warning", _UNIT, says)


def _compare_number(entry: RegistryEntry, report: Report, spec: str, name: str) -> None:
    """Adds a finding where the parameter `name` of an entry is not the certified one, rounded up to
    its last digit; `spec`: the name of the spec."""
    told, at = entry.numbers[name], ""
    place = (*_PARAMETERS, name)
    delta = entry.numbers.get("delta")
    if name == "epsilon" and delta is not None and delta.value:
        certified = _epsilon_at(report, delta.value)
        at = missing = f" at δ = {delta.text}"
    else:
        certified = _bound_in(report, Notion.PURE if name == "epsilon" else Notion.ZCDP)
        missing = " without a δ" if name == "epsilon" else ""
    sign = SIGNS[name]
    if certified is None:
        says = f"{spec} certifies no finite {sign}{missing}"
        entry.add(BELOW, "error", place, says, f"it certifies: {report.in_short}")
        return
    number = f"{sign} = {told.text}{at}"
    if told.value < certified:
        close = certified - told.value < told.step
        how = ": it was rounded down" if close else ""
        says = f"{number} is below the {_short(certified)} that {spec} certifies{how}"
        entry.add(BELOW, "error", place, says, _round_up(certified, told))
    elif told.value - certified >= told.step:
        says = f"{number} is more than the {_short(certified)} that {spec} certifies"
        hint = "both hold where the spec is right: does the entry cover more releases?"
        entry.add(DIFFERS, "warning", place, says, hint)


def _epsilon_at(report: Report, delta: Fraction) -> Fraction | None:
    """Returns the ε that is certified at a δ: asked for, or that of a bound with no larger δ."""
    found = [at.value for at in report.at_delta if at.given == delta and at.value is not None]
    bound = report.bound
    if bound is not None and bound.notion in (Notion.PURE, Notion.APPROX):
        found += [bound.value] if (bound.delta or 0) <= delta else []
    return min(found, default=None)


def _bound_in(report: Report, notion: Notion) -> Fraction | None:
    """Returns the least bound in a notion, converted from another one where that needs no δ."""
    bounds = [report.bound, *(each.bound for each in report.alternatives if each.theorem is None)]
    found = []
    for each in bounds:
        if (
            each is not None
            and each.delta is None
            and notion in (each.notion, *CONVERTS[each.notion])
        ):
            amount = convert(each.notion.amount_of(each.value), each.notion, notion)
            found.append(notion.value_of(Fraction(amount))[0])
    return min(found, default=None)


def asked_deltas(entries: Sequence[RegistryEntry]) -> Iterator[Fraction]:
    """Yields the δ's at which the entries state an ε."""
    for entry in entries:
        delta = entry.numbers.get("delta")
        if delta is not None and "epsilon" in entry.numbers and 0 < delta.value < 1:
            yield delta.value
