"""Faults of a spec, gathered in any order and listed by position.

Whoever finds a fault names a path, never a line. Spans and the nearest legal names cost time, so
they are worked out only for the faults that are listed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from itertools import islice
from typing import NamedTuple

from dpcompose.errors import (
    Diagnostic,
    Fix,
    InvalidSpec,
    Path,
    Replacement,
    Span,
    meant,
    nearest,
    quoted,
)
from dpcompose.source import MAX_FAULTS, Source, Value
from dpcompose.source.rewriting import Rewrite, is_plain, renamed, rewritten

#: The codes of what is wrong with a spec that is well-formed YAML.
SPEC_CODES = {
    "DPC101": "A key is unknown.",
    "DPC102": "A key is missing.",
    "DPC103": "A value is of the wrong type or form.",
    "DPC104": "A value is none of the legal ones.",
    "DPC105": "A key does not belong here, or contradicts another one.",
    "DPC106": "A whole number is out of range, or is not written as one.",
    "DPC107": "The version of the spec language is unknown.",
    "DPC108": "Something that needs entries is empty.",
    "DPC109": "A name cannot be used as one.",
    "DPC110": "A parameter is not a number that can be evaluated.",
    "DPC111": "A parameter is negative.",
    "DPC112": "A δ is 1 or more.",
    "DPC113": "A constant is used before it is defined.",
    "DPC114": "A number is out of its range.",
    "DPC115": "A sensitivity of noise on whole numbers is not a whole number.",
    "DPC116": "A guarantee has two points at the same place.",
    "DPC117": "A list is longer than the limit.",
    "DPC118": "The name of a population is empty, or reads as another one.",
    "DPC119": "A question of `dpcompose import` is open.",
    "DPC120": "A name is used twice.",
    "DPC121": "A dataset is unknown.",
    "DPC122": "A block is unknown.",
    "DPC123": "A partition is used where a dataset is due.",
    "DPC124": "Something is defined by itself.",
    "DPC125": "A dataset that is no partition is used as one.",
    "DPC126": "A parameter by block has no value for some block.",
    "DPC127": "A parameter by block is given where there is one dataset.",
    "DPC128": "A guarantee is stated on a dataset that its mechanism does not depend on.",
    "DPC129": "A neighbouring relation is unknown, or cannot be used here.",
    "DPC130": "A mechanism is unknown.",
    "DPC131": "A column is unknown, or is lost above.",
    "DPC132": "A joint bound names what is no value made straight from its root.",
    "DPC140": "Tables of one public size have no neighbours of this kind (Example III.4).",
    "DPC141": "A partition by position is one of rows without positions.",
    "DPC142": "A cap, or a bound per privacy unit, stands where there is no unit.",
    "DPC143": "Edges or nodes are taken of something that is no graph.",
    "DPC144": "A graph is read as if it were a table.",
    "DPC145": "A value is read as if it were a table.",
    "DPC146": "A relation between graphs is used where there is no graph.",
    "DPC147": "The relation `user` is used where there is no privacy unit.",
    "DPC148": "A relation between tables is used where there are no rows.",
    "DPC149": "The relation `euclidean` is used where there is no value.",
    "DPC150": "A guarantee per unit of distance is stated in a notion other than `pure`.",
    "DPC151": "A guarantee for a declared relation is stated below the root.",
    "DPC152": "`keeps` or `changes` is given for a relation that replaces nothing.",
    "DPC153": "A sensitivity does not say what change it is for.",
    "DPC158": "A sensitivity in a norm that says nothing of the one that the noise is for.",
    "DPC154": "Randomized response of every row reveals how many rows there are.",
    "DPC155": "A sample of fixed size is drawn where the number of rows is not public, or smaller.",
    "DPC156": "A sample is drawn once from one that is drawn afresh for each copy.",
    "DPC157": "Declarations contradict each other.",
    "DPC159": "Only some columns change of a table whose columns are not known.",
    "DPC160": "An adversary is given where no single row added or removed is protected.",
    "DPC161": "It is not clear which blocks the hypotheses of an adversary are about.",
    "DPC162": "An adversary is given with mechanisms that are neither pure nor approximate.",
    "DPC163": "A hypothesis cannot be true, or is not one of two.",
    "DPC164": "The weights of a hypothesis are missing, or do not sum to 1.",
    "DPC165": "A budget speaks of an adversary where there is none.",
    "DPC166": "The two hypotheses of an adversary are the same.",
    "DPC191": "A spec multiplies to more datasets than the limit.",
}

_WORD = re.compile(r"[\w.,:%']+|\S")
_MOST_KEPT = 10 * MAX_FAULTS
_NAMES_SHOWN = 12
_WORDS_SHOWN = 30  # of the language


class Fault(NamedTuple):
    """One fault at `path` (`key`: at the key there, not at its value).

    `wrong` and `legal`: a name that is not legal, and those that are; the hint then offers the
    nearest one and the list. `closed`: they are words of the language, not names of the author.
    `offset`: where in the text of the scalar the fault begins. `label`: a few words on what stands
    there. `fix`: what makes of the source what is meant, `certain` or as an example. `related`:
    further places, each a path, whether its key is meant, and a few words.
    """

    code: str
    path: Path
    message: str
    hint: str | None = None
    key: bool = False
    wrong: str | None = None
    legal: Collection[str | int] = ()
    offset: int | None = None
    closed: bool = False
    label: str | None = None
    fix: Rewrite | None = None
    certain: bool = True
    related: tuple[tuple[Path, bool, str], ...] = ()


class Faults:
    """The faults found in one source, kept until all are known."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._kept: list[Fault] = []
        self._dropped = 0

    def at(self, path: Path) -> Value:
        """Returns what stands at a path of the source."""
        return self._source.at(path)

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def full(self) -> bool:
        """Returns whether there are so many faults that further ones are only counted: see
        `skip`."""
        return len(self._kept) >= _MOST_KEPT

    def skip(self) -> None:
        """Counts a fault that is not looked into, since it would not be listed."""
        self._dropped += 1

    def add(
        self,
        code: str,
        path: Path,
        message: str,
        hint: str | None = None,
        *,
        key: bool = False,
        wrong: str | None = None,
        legal: Collection[str | int] = (),
        offset: int | None = None,
        closed: bool = False,
        label: str | None = None,
        fix: Rewrite | None = None,
        certain: bool = True,
        related: tuple[tuple[Path, bool, str], ...] = (),
    ) -> None:
        """Adds an error of the spec to the list, or counts it as left out if the list is full; the
        arguments are the fields of `Fault`."""
        if self.full:
            self.skip()
            return
        told = (code, path, message, hint, key, wrong, legal, offset, closed)
        self._kept.append(Fault(*told, label, fix, certain, related))

    def raise_if_any(self) -> None:
        """Raises InvalidSpec with every fault found, if there is one."""
        if not self._kept:
            return
        placed = sorted(
            ((self._span(fault), fault) for fault in self._kept),
            key=lambda pair: (pair[0].line, pair[0].column),
        )
        listed = [self._diagnostic(fault, span) for span, fault in placed[:MAX_FAULTS]]
        unlisted = self._dropped + len(self._kept) - len(listed)
        if unlisted:
            listed.append(Diagnostic("DPC017", f"{unlisted} more faults are not listed", None))
        raise InvalidSpec(listed, self._source.name, self._source.lines)

    def _span(self, fault: Fault) -> Span:
        """Returns the position of a fault in the file: of the value or key at its path, or of a
        word in it."""
        span = self._source.span(fault.path, fault.key)
        if fault.offset is None or span.line != span.end_line:
            return span
        text = self._text(fault.path)
        # Between quotation marks the text starts one further; with escapes nothing is certain.
        quotes = span.end_column - span.column - len(text)
        if quotes not in {0, 2} or fault.offset >= len(text):
            return span
        column = span.column + quotes // 2 + fault.offset
        end = span.end_column - quotes // 2
        if fault.fix is None and (word := _WORD.match(text, fault.offset)):
            end = column + len(word[0])
        return Span(span.line, column, span.line, end)

    def _stands(self, replacement: Replacement) -> bool:
        """Returns whether the text of a replacement is there already."""
        span = replacement.span
        line = self._source.lines[span.line - 1]
        there = line[span.column - 1 : span.end_column - 1] if span.line == span.end_line else None
        return there == replacement.text

    def _text(self, path: Path) -> str:
        """Returns the text of the scalar at a path; "" for anything else."""
        tree = self._source.at(path)
        return tree if isinstance(tree, str) else ""

    def _diagnostic(self, fault: Fault, span: Span) -> Diagnostic:
        """Returns a fault as a finding with its position, hint and fix."""
        hint, fix, label = fault.hint, self._fix(fault), fault.label
        if fault.wrong is not None:
            offer = _offer(fault.wrong, fault.legal, _WORDS_SHOWN if fault.closed else _NAMES_SHOWN)
            hint = offer if hint is None else f"{offer}; {hint}" if offer else hint
        related = tuple((self._source.span(path, key), label) for path, key, label in fault.related)
        code, message = fault.code, fault.message
        return Diagnostic(code, message, span, hint, "error", label, fix, related)

    def _fix(self, fault: Fault) -> Fix | None:
        """Returns the edit of the file that would correct a fault; None if none is known, or if the
        file has YAML aliases, so that one text stands for several parts of the spec."""
        if self._source.has_aliases:
            return None
        if fault.fix is not None:
            change, *rest = fault.fix
            replacements = change(self._source, *rest)
            same = all(self._stands(each) for each in replacements)
            return None if same else Fix(replacements, fault.certain)
        if fault.wrong is None:
            return None
        best = meant(fault.wrong, map(str, islice(fault.legal, 1000)), fault.closed)
        if best is None or not is_plain(best):
            return None
        if fault.key:
            return Fix(renamed(self._source, fault.path, best))
        text = self._text(fault.path)
        # A reference can have a name before the dot and a block after it.
        if text.startswith(f"{fault.wrong}."):
            best += text[len(fault.wrong) :]
        elif text.endswith(f".{fault.wrong}"):
            best = text[: -len(fault.wrong)] + best
        elif text != fault.wrong:
            return None
        return Fix(rewritten(self._source, fault.path, best)) if is_plain(best) else None


def _offer(wrong: str, legal: Collection[str | int], shown: int) -> str | None:
    """Returns a hint: `did you mean …?` and the first `shown` of the legal names; None if there is
    nothing to offer."""
    if not legal:
        return None
    # A reference with a block is compared as written; the candidates then hold blocks too.
    best = nearest(wrong, map(str, islice(legal, 100_000)))
    names = listing(legal, shown)
    return (
        f"possible: {names}" if best is None else f"did you mean {quoted(best)}? possible: {names}"
    )


def listing(names: Iterable[str | int], shown: int = _NAMES_SHOWN) -> str:
    """Returns the first names between backquotes, and how many more there are."""
    first = [quoted(str(name)) for name in islice(names, shown)]
    text = ", ".join(first)
    more = len(names) - len(first) if isinstance(names, Collection) else 0
    return f"{text} and {more} more" if more > 0 else text


def plural(count: int, noun: str) -> str:
    """Returns a count with its noun: `1 block`, `2 blocks`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
