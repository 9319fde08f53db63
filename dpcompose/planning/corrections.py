"""A file with its certain corrections made: several passes, comments and layout kept.

Only what a fault says for certain is written. A file that one of them would make unreadable is
left as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from dpcompose.errors import CODES, Diagnostic, Fix, InvalidSpec, Replacement, Span
from dpcompose.resolve import resolve
from dpcompose.source import documents, is_spec, load
from dpcompose.source.rewriting import LINE_END, replaced

_MOST_PASSES = 20


@dataclass(frozen=True, slots=True)
class Corrected:
    """The text of a file before and after `count` corrections.

    `refused`: why nothing was changed, although there were corrections; None otherwise.
    """

    before: str
    after: str
    count: int = 0
    refused: str | None = None


def corrected(data: bytes) -> Corrected | None:
    """Returns the corrections of a file that holds specs; None if it holds none, or is no text."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if not is_spec(data):
        return None
    before, count, seen = text, 0, {text}
    for _ in range(_MOST_PASSES):
        found = faults_of(text.encode())
        fixes = _disjoint_fixes(
            each.fix for each in found if each.fix is not None and each.fix.certain
        )
        if not fixes:
            break
        changed = replaced(text, (each for fix in fixes for each in fix.replacements))
        if changed in seen:
            break
        worse = _unreadable(faults_of(changed.encode())) - _unreadable(found)
        if worse:
            why = f"a correction would make it unreadable ({', '.join(sorted(worse))})"
            return Corrected(before, before, 0, why)
        text, count = changed, count + len(fixes)
        seen.add(text)
    return Corrected(before, text, count)


def faults_of(data: bytes) -> list[Diagnostic]:
    """Returns the faults of all documents, by their places in the whole file."""
    found: list[Diagnostic] = []
    for document in documents(data):
        try:
            resolve(load(document.data, "", document.lines_before))
        except InvalidSpec as error:
            found += error.diagnostics
    return found


def _unreadable(faults: Iterable[Diagnostic]) -> set[str]:
    """Returns the codes of faults of a file, or of its YAML."""
    return {each.code for each in faults if each.code in CODES}


def _disjoint_fixes(fixes: Iterable[Fix]) -> list[Fix]:
    """Returns the first fixes whose places do not touch; the next pass applies the others."""
    taken: list[Fix] = []
    places: list[Span] = []
    for fix in fixes:
        if fix in taken:
            continue
        spans = [each.span for each in fix.replacements]
        if not any(
            one[1] >= other[0] and other[1] >= one[0]
            for one in map(_ends, spans)
            for other in map(_ends, places)
        ):
            taken.append(fix)
            places += spans
    return taken


def _ends(span: Span) -> tuple[tuple[int, int], tuple[int, int]]:
    """Returns where a place starts and ends."""
    return (span.line, span.column), (span.end_line, span.end_column)


def changed_lines(found: Corrected) -> tuple[list[str], tuple[Replacement, ...]]:
    """Returns the lines of a file before its corrections, and what replaces some of them."""
    old, new = LINE_END.split(found.before), LINE_END.split(found.after)
    head = next((i for i, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    blocks = SequenceMatcher(None, old[head:], new[head:], autojunk=len(old) > 5000)
    replacements = [
        _stretch(old, new, head + a, head + b, head + c, head + d)
        for how, a, b, c, d in blocks.get_opcodes()
        if how != "equal"
    ]
    return old, tuple(replacements)


def _stretch(old: list[str], new: list[str], a: int, b: int, c: int, d: int) -> Replacement:
    """Returns the replacement of the old lines `a` to `b`, excluded, by the new `c` to `d`."""
    texts = new[c:d]
    if a == b:  # inserted below the line before
        if a == 0:
            return Replacement(Span(1, 1, 1, 1), "".join(f"{each}\n" for each in texts))
        end = len(old[a - 1]) + 1
        return Replacement(Span(a, end, a, end), "".join(f"\n{each}" for each in texts))
    if not texts:
        return Replacement(Span(a + 1, 1, b + 1, 1), "")
    return Replacement(Span(a + 1, 1, b, len(old[b - 1]) + 1), "\n".join(texts))
