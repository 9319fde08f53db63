"""What is wrong with a spec, where, and how to say so without letting its text harm a terminal."""

import difflib
import itertools
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Path = tuple[str | int, ...]
"""The address of a place in a spec, for example ``("mechanisms", 3, "epsilon")``."""

Level = Literal["error", "warning", "note"]
#: From the least on.
LEVELS: tuple[Level, ...] = ("note", "warning", "error")

CODES: Mapping[str, str] = MappingProxyType(
    {
        # DPC0xx: the file and its YAML
        "DPC001": "The file is larger than the limit.",
        "DPC002": "The file is not UTF-8 text.",
        "DPC003": "The file holds a character that YAML forbids, or that misleads its readers.",
        "DPC004": "The file, or one of its documents, is empty or holds only comments.",
        "DPC005": "The file holds several documents where one is due.",
        "DPC006": "The file is not valid YAML.",
        "DPC007": "A tab is used for indentation.",
        "DPC008": "Lists and mappings are nested too deep.",
        "DPC009": "The file holds more values than the limit.",
        "DPC010": "A key is given twice in one mapping.",
        "DPC011": "A key is missing, or is not plain text.",
        "DPC012": "A merge key `<<` is used.",
        "DPC013": "A tag is unknown, or does not fit its value.",
        "DPC014": "An alias is undefined, contains itself, or expands to too much.",
        "DPC015": "A key or an unquoted text is longer than the limit.",
        "DPC016": "The file holds too many %TAG directives.",
        "DPC017": "There are more faults than are listed.",
        "DPC018": "The spec takes more time or memory than the run allows.",
    }
)
"""The codes of files and YAML with their meanings; DPC1xx are in faults, DPC2xx in findings."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text: lines and columns count from 1, columns in code points, end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault or remark; ``span`` is None where it concerns the file as a whole."""

    code: str
    message: str
    span: Span | None
    hint: str | None = None
    level: Level = "error"


class DpcomposeError(Exception):
    """Base of every error that dpcompose raises for a reason its user can mend."""


class InvalidSpec(DpcomposeError):
    """A spec was refused.

    ``diagnostics`` are all the faults found, in the order of their positions (those without a
    position last); ``file`` and ``lines`` are the source they speak of, as ``render`` wants it.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], file: str = "", lines: Sequence[str] = ()
    ) -> None:
        self.diagnostics = tuple(sorted(diagnostics, key=_position))
        self.file = file
        self.lines = lines
        super().__init__(self.diagnostics, file)

    def __str__(self) -> str:
        return "\n".join(render(each, self.file, self.lines) for each in self.diagnostics)


def _position(diagnostic: Diagnostic) -> tuple[int, int, str]:
    span = diagnostic.span
    return (span.line, span.column, diagnostic.code) if span else (sys.maxsize, 0, diagnostic.code)


# --- text from strangers -------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""``text`` with every control, invisible or bidirectional character as ``\x1b``, ``\u202e``.

    What comes out holds no line break, no tab and nothing that a terminal acts upon.
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def quoted(text: str, limit: int = 60) -> str:
    """``text`` between backquotes for a message: printable, and cut in the middle when long."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}...{text[-half:]}"
    return f"`{printable(text)}`"


def _visible(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def width(text: str) -> int:
    """Columns that printable ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# --- rendering -----------------------------------------------------------------------------------

_ROOM = 80  # columns of source shown on either side of the start of a fault


def render(diagnostic: Diagnostic, file: str, lines: Sequence[str]) -> str:
    """``file:line:column: message [CODE]``, the line with a caret below it, and the hint.

    ``lines`` are those of the file, without their line ends. The message of a warning or a note
    starts with its level. Nothing in the result can act upon a terminal.
    """
    span = diagnostic.span
    out = [headline(diagnostic, f"{file}:{span.line}:{span.column}" if span else file)]
    if span and span.line <= len(lines):
        out += _excerpt(lines[span.line - 1], span)
    if diagnostic.hint:
        out.append(f"    hint: {printable(diagnostic.hint)}")
    return "\n".join(out)


def headline(diagnostic: Diagnostic, place: str) -> str:
    """``place: message [CODE]``, the message of a warning or a note starting with its level."""
    prefix = "" if diagnostic.level == "error" else f"{diagnostic.level}: "
    return f"{printable(place)}: {prefix}{printable(diagnostic.message)} [{diagnostic.code}]"


def _excerpt(line: str, span: Span) -> list[str]:
    start = span.column - 1
    end = span.end_column - 1 if span.end_line == span.line else len(line)
    before, left_cut = _fitting(reversed(line[max(0, start - _ROOM) : start]))
    after, right_cut = _fitting(line[start : start + _ROOM])
    left = "".join(reversed(before))
    if left_cut or start > _ROOM:
        left = "..." + left
    right = "".join(after)
    marked = width("".join(after[: max(1, end - start)]))
    if right_cut or len(line) > start + _ROOM:
        right += "..."
    number = f"{span.line:5} | "
    gutter = " " * (len(number) - 2) + "| "
    return [
        (number + left + right).rstrip(),
        gutter + " " * width(left) + "^" * max(1, marked),
    ]


def _fitting(chars: Iterable[str]) -> tuple[list[str], bool]:
    """The printable forms of leading ``chars`` that fit the room, and whether some did not."""
    shown: list[str] = []
    room = _ROOM
    for char in chars:
        form = _visible(char)
        room -= width(form)
        if room < 0:
            return shown, True
        shown.append(form)
    return shown, False


# --- did you mean --------------------------------------------------------------------------------

_LONGEST_WORD = 100
_MOST_CANDIDATES = 2000


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like ``word``, or None where none is like it.

    The work is bounded: only the first 2000 candidates of a similar length are compared, and a word
    of more than 100 characters is like nothing. Even so, call it only for faults that are shown.
    """
    if not 0 < len(word) <= _LONGEST_WORD:
        return None
    slack = max(2, len(word) // 2)
    alike = (each for each in candidates if abs(len(each) - len(word)) <= slack)
    few = list(itertools.islice(alike, _MOST_CANDIDATES))
    folded = word.casefold()
    same = next((each for each in few if each.casefold() == folded), None)
    return same or next(iter(difflib.get_close_matches(word, few, n=1)), None)
