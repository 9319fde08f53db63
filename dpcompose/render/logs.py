"""Escapes for logs in which lines can be commands, such as those of GitHub Actions.

A line that starts with `::`, after blanks, is a command there, and so is `##[` anywhere. Output
contains texts of strangers: titles, names, file names. So the text is escaped as it leaves, after
it was wrapped and put together. JSON and XML write `##` with an escape of their own instead, and
keep their meaning.
"""

from __future__ import annotations

import re

_BLANK = r"(?:[^\S\n\r]|[\u180e\u200b-\u200f\u2060\ufeff]|\x1b\[[0-9;]*m)*"
#: Where a backslash is put: before `::` at the start of a line, and before the bracket of `##[`.
_COMMAND = re.compile(rf"(?:\A|(?<=[\n\r])){_BLANK}(?=::)|##\w*(?=\[)")
_BRACKETS = re.compile(r"##\w*(?=\[)")
_LONGEST = 2**16  # characters of the last line that are kept


class Inert:
    r"""Turns commands in the output into text, piece by piece: `\::`, `##\[`.

    `commands`: whether lines that start with `::` are meant as commands, and were escaped before.
    """

    __slots__ = ("_line", "_pattern")

    def __init__(self, commands: bool = False) -> None:
        self._line = ""  # the last line, as far as it was written
        self._pattern = _BRACKETS if commands else _COMMAND

    def __call__(self, piece: str) -> str:
        """Returns a piece of output with its commands escaped, given what was written before."""
        written = len(self._line)
        whole = self._line + piece
        out: list[str] = []
        at = written
        suspect = "::" in whole or "##" in whole  # most output is neither
        for found in self._pattern.finditer(whole) if suspect else ():
            end = found.end()
            if end + (1 if whole[end] == "[" else 2) > written:  # else it was escaped before
                end = max(end, written)  # between two colons if the first was written before
                out += whole[at:end], "\\"
                at = end
        out.append(whole[at:])
        start = max(whole.rfind("\n"), whole.rfind("\r")) + 1
        self._line = whole[start:][-_LONGEST:]
        return "".join(out)
