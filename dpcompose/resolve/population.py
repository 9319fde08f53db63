"""Whose data it is: names that look the same are the same, or are refused."""

from __future__ import annotations

import unicodedata

#: Scripts that are written together; any other two in one name make it look like another one.
_TOGETHER = frozenset({"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"})
_FORM = "letters of one script, digits, spaces and ASCII punctuation"


class Misleading(ValueError):
    """A name that reads as another one, or as none; the message says why."""


def canonical(name: str) -> str:
    """Returns the name as names of populations are compared: NFC, blanks around it and runs of them
    gone.

    Raises Misleading for a name that is empty, holds what cannot be seen, or mixes scripts.
    """
    text = unicodedata.normalize("NFC", name)
    scripts: dict[str, str] = {}
    for char in text:
        if char.isascii():
            if not char.isprintable():
                raise Misleading(f"{_character_name(char)} cannot be seen")
            if char.isalpha():
                scripts.setdefault("LATIN", char)
            continue
        kind = unicodedata.category(char)
        if kind in _UNSEEN or char in _BLANKS or unicodedata.name(char, "") in _UNSEEN_NAMES:
            raise Misleading(f"{_character_name(char)} cannot be seen")
        if unicodedata.normalize("NFKC", char) != char or kind[0] not in "LMN" or kind == "No":
            raise Misleading(f"{_character_name(char)} looks like another character: write {_FORM}")
        if kind[0] != "M":
            scripts.setdefault(_script(char), char)
    if len(scripts) > 1 and not _TOGETHER.issuperset(scripts):
        some = " and ".join(map(_character_name, list(scripts.values())[:2]))
        raise Misleading(f"it mixes scripts, which may look alike: {some}")
    name = " ".join(text.split())
    if not name:
        raise Misleading("it is empty")
    return name


#: Categories of what has no form of its own, or breaks lines.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
#: Letters and signs that are drawn as nothing.
_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_UNSEEN_NAMES = frozenset(
    {
        *(f"VARIATION SELECTOR-{number}" for number in range(1, 257)),
        *(f"MONGOLIAN FREE VARIATION SELECTOR {word}" for word in ("ONE", "TWO", "THREE", "FOUR")),
    }
)


def _script(char: str) -> str:
    """Returns the script of a letter or a digit, by the first word of its name."""
    return unicodedata.name(char, "UNKNOWN").partition(" ")[0].partition("-")[0]


def _character_name(char: str) -> str:
    """Returns the code point and the Unicode name of a character: `U+0430 CYRILLIC SMALL LETTER
    A`."""
    name = unicodedata.name(char, "")
    return f"U+{ord(char):04X}{' ' if name else ''}{name}"
