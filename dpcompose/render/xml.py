"""Text within XML: what comes from a spec is text, never markup, in ASCII alone."""

from __future__ import annotations

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def escaped(text: str) -> str:
    """Returns a printable text escaped for XML, as content or as the value of an attribute."""
    safe = text.translate(_ENTITIES).replace("##", "#&#35;")  # no command of a log (see `logs`)
    return safe.encode("ascii", "xmlcharrefreplace").decode("ascii")
