"""What is wrong with a spec, where, and what to write instead, in words that harm no terminal."""

import difflib
import itertools
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

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


class Span(NamedTuple):
    """A stretch of text: lines and columns count from 1, columns in code points, end excluded."""

    line: int
    column: int
    end_line: int
    end_column: int


class Replacement(NamedTuple):
    """A stretch of a file, and the text that takes its place; one of no length is an insertion."""

    span: Span
    text: str


class Fix(NamedTuple):
    """What to write instead.

    ``certain``: it means what the author meant, and nothing else; else it is only an example of the
    form, which nobody but the author applies.
    """

    replacements: tuple[Replacement, ...]
    certain: bool = True


class Diagnostic(NamedTuple):
    """One fault or remark; ``span`` is None where it concerns the file as a whole.

    ``label``: a few words on what stands at ``span``. ``related``: further places that it speaks
    of, each with a label or an empty text.
    """

    code: str
    message: str
    span: Span | None
    hint: str | None = None
    level: Level = "error"
    label: str | None = None
    fix: Fix | None = None
    related: tuple[tuple[Span, str], ...] = ()


class DpcomposeError(Exception):
    """Base of every error that dpcompose raises for a reason its user can mend."""


class InvalidSpec(DpcomposeError):
    """A spec was refused.

    ``diagnostics`` are all the faults found, in the order of their positions (those without a
    position last); ``file`` and ``lines`` are the source they speak of.
    """

    def __init__(
        self, diagnostics: Iterable[Diagnostic], file: str = "", lines: Sequence[str] = ()
    ) -> None:
        self.diagnostics = in_order(diagnostics)
        self.file = file
        self.lines = lines
        super().__init__(self.diagnostics, file)

    def __str__(self) -> str:
        return "\n".join(render(each, self.file) for each in self.diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Returns findings by position, those about a file as a whole last."""
    return tuple(sorted(diagnostics, key=_position))


def _position(diagnostic: Diagnostic) -> tuple[int, int, str]:
    """Returns the key by which findings are sorted."""
    span = diagnostic.span
    return (span.line, span.column, diagnostic.code) if span else (sys.maxsize, 0, diagnostic.code)


# --- text from strangers -------------------------------------------------------------------------


def printable(text: str) -> str:
    r"""Returns ``text`` with every control, invisible or bidirectional character escaped, as
    ``\x1b`` or ``\u202e``.

    What comes out holds no line break, no tab and nothing that a terminal acts upon.
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def quoted(text: str, limit: int = 60) -> str:
    """Returns ``text`` between backquotes for a message: printable, and cut in the middle when
    longer than ``limit``."""
    if len(text) > limit:
        half = limit // 2
        text = f"{text[:half]}...{text[-half:]}"
    return f"`{printable(text)}`"


def _visible(char: str) -> str:
    """Returns a character as itself or, if it cannot be seen, as its escape."""
    return char if char.isprintable() else char.encode("unicode_escape").decode()


def width(text: str) -> int:
    """Returns how many columns printable ``text`` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


# --- one line ------------------------------------------------------------------------------------


def render(diagnostic: Diagnostic, file: str) -> str:
    """Returns a finding as ``file:line:column: message [CODE]``, with the hint on a line of its
    own.

    The message of a warning or a note starts with its level. Nothing in the result can act upon a
    terminal.
    """
    span = diagnostic.span
    out = [headline(diagnostic, f"{file}:{span.line}:{span.column}" if span else file)]
    if diagnostic.hint:
        out.append(f"    hint: {printable(diagnostic.hint)}")
    return "\n".join(out)


def headline(diagnostic: Diagnostic, place: str) -> str:
    """Returns ``place: message [CODE]``; the message of a warning or a note starts with its
    level."""
    prefix = "" if diagnostic.level == "error" else f"{diagnostic.level}: "
    return f"{printable(place)}: {prefix}{printable(diagnostic.message)} [{diagnostic.code}]"


# --- did you mean --------------------------------------------------------------------------------

_LONGEST_WORD = 100
_MOST_CANDIDATES = 2000


def folded(word: str) -> str:
    """Returns a word in lower case with `-` in place of `_`, `/` and blanks, for comparison."""
    return re.sub(r"[\s_/-]+", "-", word.casefold())


def meant(word: str, candidates: Iterable[str], closed: bool) -> str | None:
    """Returns the one candidate that ``word`` certainly stands for; None where that is not certain.

    It differs in case or in the sign between words. ``closed``: there are no words but the
    candidates; then one letter may be wrong, missing, too many or swapped with its neighbour, where
    no other candidate is as near. A sign or a letter before a word, as in ``_budget``, may be there
    to put it out of use.
    """
    if not 0 < len(word) <= _LONGEST_WORD:
        return None
    few = list(candidates)
    same = [each for each in few if folded(each) == folded(word)]
    if not same and closed:
        same = [each for each in few if max(len(each), len(word)) > 3 and _slip(each, word)]
    return same[0] if len(same) == 1 and same[0] != word[1:] else None


def _slip(one: str, other: str) -> bool:
    """Returns whether two words differ by one letter, or by two neighbouring letters in the other
    order."""
    if abs(len(one) - len(other)) > 1:
        return False
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    start = sum(1 for _ in pairs)
    rest, others = one[start:], other[start:]
    if len(rest) != len(others):
        return rest[1:] == others or others[1:] == rest
    swapped = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return rest[1:] == others[1:] or swapped


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Returns the candidate most like ``word``, or None where none is like it.

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
