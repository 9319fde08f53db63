"""The handbook: what a reader should know about codes, words and printed examples, as data.

What a code or a word means in one sentence stands where the program gives it. The files beside this
one are for readers alone, and each is read when one asks: `codes.yaml` (`CodeEntry` by code),
`words.yaml` (`Topic` by heading), `printed.yaml` (`PrintedExample` by number), `theorems.yaml`
(`Theorem` by id) and `sources.yaml` (the full reference by short name).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal

from dpcompose.core.theorem import Example, Hypothesis, Theorem
from dpcompose.core.theorems.book import BOOK
from dpcompose.source.events import parsed


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """One code: `why` it matters, an `example` that gives it, and what to write `instead`.

    Both are lines of a spec, or with the command `registry` of `deployment` in an entry; of the
    four keys that every spec has, those that they leave out are as in `DEFAULTS`. `level`: the one
    that it has by default; `but`: where it has another one. `command`: what finds it. `times`: how
    often the last line of the example stands, where one would be too few. `saved`: the encoding of
    the example. `settings`: a line of `dpcompose.toml` that both need; `accepted`: the spec that
    `accept` was given before. `mended`: the settings to write instead, where they are what is
    wrong. `theorems`: ids of the theorem book that say why.
    """

    why: str
    example: str
    instead: str
    level: Literal["none", "note", "warning", "error"] = "error"
    but: str = ""
    command: Literal["analyze", "check", "python", "registry"] = "analyze"
    times: int = 1
    saved: str = "UTF-8"
    settings: str = ""
    accepted: str = ""
    mended: str = ""
    theorems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Topic:
    """Words of the spec language that belong together, and what to know beside their meanings.

    The first word names it. `about`: what a reader should know; `example`: lines of a spec, as
    those of a code; `theorems`: ids of the theorem book that it rests on, beside those that the
    example leads to; `see`: words of other topics.
    """

    words: tuple[str, ...]
    about: str
    example: str
    theorems: tuple[str, ...] = ()
    see: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PrintedSpec:
    """A spec of an example that the paper prints: its `heading`, its `bound` and its `lines`."""

    heading: str
    bound: str
    lines: str


@dataclass(frozen=True, slots=True)
class PrintedExample:
    """An example that the paper prints: what it is about, with its numbers, and specs of it.

    `theorems`: ids of the theorem book that the paper applies there.
    """

    title: str
    about: str
    specs: tuple[PrintedSpec, ...]
    theorems: tuple[str, ...]


#: The keys that every spec has, as examples have them that leave them out.
DEFAULTS = {
    "dpcompose": "dpcompose: 1\n",
    "protect": "protect: unbounded\n",
    "datasets": "datasets: {trips: {}}\n",
    "mechanisms": "mechanisms: [{name: total, reads: trips, notion: pure, epsilon: 1}]\n",
}


@cache
def code_entries() -> Mapping[str, CodeEntry]:
    """Returns every code of a finding with what there is to know about it."""
    return {code: CodeEntry(**_fields(entry)) for code, entry in _data("codes").items()}


@cache
def topics() -> Mapping[str, tuple[Topic, ...]]:
    """Returns the topics of the spec language by heading, in the order in which a spec is
    written."""
    data = _data("words").items()
    return {heading: tuple(Topic(**_fields(each)) for each in rows) for heading, rows in data}


def topics_of(word: str) -> tuple[Topic, ...]:
    """Returns the topics that a word belongs to, those named by it first."""
    found = [each for rows in topics().values() for each in rows if word in each.words]
    return tuple(sorted(found, key=lambda each: each.words[0] != word))


@cache
def printed_examples() -> Mapping[str, PrintedExample]:
    """Returns the examples that the paper prints by number, without those in the theorem book."""
    found = {}
    for number, entry in _data("printed").items():
        specs = tuple(PrintedSpec(**each) for each in entry.pop("specs"))
        found[number] = PrintedExample(**_fields(entry), specs=specs)
    return found


@cache
def whole_book() -> Mapping[str, Theorem]:
    """Returns every theorem by id with what readers are told of it, in the order of the paper.

    Raises KeyError for a hypothesis that neither the code nor the handbook has words for.
    """
    data = _data("theorems")
    known = {each.name: each for entry in BOOK.values() for each in _in_code(entry)}
    for name, says in data.pop("declared").items():
        in_code = known.get(name, Hypothesis(name, says, "declared"))
        known[name] = in_code._replace(says=says)
    return {identifier: _theorem(identifier, entry, known) for identifier, entry in data.items()}


def _theorem(identifier: str, data: dict[str, Any], known: Mapping[str, Hypothesis]) -> Theorem:
    """Returns the `Theorem` with this id, with the texts of its entry in `theorems.yaml` (`data`).

    `known`: all hypotheses by name.
    """
    own = BOOK.get(identifier)
    worded = () if own is None else (each for each in own.hypotheses if each.says)
    known = {**known, **{each.name: each for each in worded}}
    hypotheses = tuple(
        known[each] if isinstance(each, str) else Hypothesis(**each)
        for each in data.pop("hypotheses", ())
    )
    example = data.pop("example")
    numbers = {key: _exact(example.pop(key)) for key in ("arguments", "result")}
    texts = {**_fields(data), "hypotheses": hypotheses, "example": Example(**example, **numbers)}
    return Theorem(identifier, **texts) if own is None else own._replace(**texts)


def _in_code(entry: Theorem) -> Iterator[Hypothesis]:
    """Yields the hypotheses that the code has of a theorem, also those of its uses."""
    for use in entry.uses:
        yield from use.hypotheses
    yield from entry.hypotheses


@cache
def sources() -> Mapping[str, str]:
    """Returns the full reference for the short name of each source."""
    return _data("sources")


def _exact(value: Any) -> Any:
    """Returns the numbers of a worked example: texts as fractions, lists as tuples."""
    if isinstance(value, list):
        return tuple(map(_exact, value))
    return Fraction(value) if isinstance(value, str) else value


def full_spec(lines: str) -> str:
    """Returns the text of a spec from the lines of an example, with `DEFAULTS` for keys it leaves
    out.

    Lines without any key are no spec and stay as they are.
    """
    keys = set(re.findall(r"^(\w+):", lines, re.MULTILINE))
    return "".join(DEFAULTS[key] for key in DEFAULTS if keys and key not in keys) + f"{lines}\n"


def _data(name: str) -> dict[str, Any]:
    """Returns the content of one file of the handbook."""
    text = Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8")
    return dict(parsed(text))


def _fields(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a value object from a mapping of the file, with tuples for lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
