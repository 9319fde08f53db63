"""The decoding of bytes to text, and the characters that no text may hold."""

import re
from itertools import islice

from dpcompose.errors import Diagnostic, InvalidSpec, Span
from dpcompose.source.events import has_libyaml
from dpcompose.source.file_faults import NO_TAGS, FileFaults
from dpcompose.source.limits import MAX_BYTES, MAX_BYTES_WITHOUT_LIBYAML, MAX_TAG_DIRECTIVES
from dpcompose.source.positions import Lines


def decode(data: bytes | str, name: str) -> str:
    """Returns the text of a file with newlines as line ends. Raises InvalidSpec."""
    limit = MAX_BYTES if has_libyaml() else MAX_BYTES_WITHOUT_LIBYAML
    if len(data) > limit:
        message = f"the file is larger than {limit / 2**20:g} MiB"
        hint = "say `count: n` or `reads: name.*` for repeated mechanisms"
        raise InvalidSpec([Diagnostic("DPC001", message, None, hint)], name)
    try:
        text = data.decode() if isinstance(data, bytes) else str(data)
    except UnicodeDecodeError as error:
        lines = Lines(_normal(str(error.object, errors="replace")))
        raise InvalidSpec([_not_utf8(error)], name, lines) from None
    if "\r" in text and (alone := re.search("\r(?!\n)", text)) is not None:
        lines, at = Lines(_normal(text)), len(_normal(text[: alone.start()]))
        span = lines.span(at, at)
        raise InvalidSpec([Diagnostic("DPC003", _LONE, span, _ENDS)], name, lines)
    return _normal(text)


_LONE = "the character U+000D without U+000A lets a file look like another"
_ENDS = "end lines with LF or CRLF: YAML ends one here, where editors and reviews show none"


def _normal(text: str) -> str:
    """Returns `text` without a byte order mark and with newlines as line ends."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_SAVE = "save the file as UTF-8"


def _not_utf8(error: UnicodeDecodeError) -> Diagnostic:
    """Returns the finding that a file is not UTF-8."""
    data = error.object
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Diagnostic("DPC002", "the file is UTF-16", Span(1, 1, 1, 1), _SAVE)
    before = _normal(data[: error.start].decode())
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    message = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
    return Diagnostic("DPC002", message, Span(line, column, line, column + 1), _SAVE)


# --- characters ----------------------------------------------------------------------------------

# Compiled when a text is not plain ASCII: it takes as long as reading a small spec.
_FORBIDDEN = (
    "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
    "\U00010000-\U0010ffff]"
)
# YAML would allow these: line ends of YAML 1.1 only, byte order marks, and what reorders the text
# that people see.
_MISLEADING = re.compile("[\x85\u2028-\u202e\u2066-\u2069\ufeff]")
_MOST_CHARACTERS = 10  # forbidden ones that are listed: a binary file has too many
_ALLOWED_ASCII = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


def check_text(text: str, faults: FileFaults) -> bool:
    """Returns whether a text has no fault; records misleading characters and too many tags."""
    if not (text.isascii() and not text.encode().translate(None, _ALLOWED_ASCII)):
        for match in islice(re.finditer(_FORBIDDEN, text), _MOST_CHARACTERS):
            misleads = _MISLEADING.match(match[0])
            why = "lets a file look like another" if misleads else "is not allowed in YAML"
            faults.add("DPC003", f"the character U+{ord(match[0]):04X} {why}", match.span())
    if text.count("%TAG") > MAX_TAG_DIRECTIVES:
        message = f"more than {MAX_TAG_DIRECTIVES} %TAG directives"
        at = text.index("%TAG")
        faults.add("DPC016", message, (at, at + 4), NO_TAGS)
    return not faults
