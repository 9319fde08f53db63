"""The check that a reason consists of words, and is no placeholder."""

from __future__ import annotations

import re
import unicodedata

#: So many different words are the fewest of a reason.
FEWEST = 3
_LETTERS = re.compile(r"[^\W\d_]+")
#: What is written where a reason is still missing, or is refused.
_PLACEHOLDERS = frozenset(
    "todo tbd tba tbc fixme xxx wip hack placeholder reason because none null nil na nope "
    "lorem ipsum dolor foo bar baz qux asdf".split()
)
#: Scripts without spaces between words, by the first word of the names of their letters.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})


def says_something(reason: str) -> bool:
    """Returns whether a reason has three different words of two letters, other than placeholders.

    Where words have no spaces between them, two letters count as one.
    """
    text = unicodedata.normalize("NFKC", reason).casefold()
    words = {word for run in _LETTERS.findall(text) for word in _words(run)}
    return len({word for word in words if len(set(word)) > 1} - _PLACEHOLDERS) >= FEWEST


def _words(run: str) -> list[str]:
    """Returns the words in a run of letters."""
    if unicodedata.name(run[0], "").partition(" ")[0] in _UNSPACED:
        return [run[i : i + 2] for i in range(0, len(run) - 1, 2)]
    return [run]
