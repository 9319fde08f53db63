"""What there is to know about a code, beside what it means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """One code: `why` it matters, an `example` that gives it, and what to write `instead`.

    Both are lines of a spec; of the four keys that every spec has, those that they leave out are as
    in `REST`. `level`: the one that it has by default; `but`: where it has another one. `command`:
    what finds it. `times`: how often the last line of the example stands, where one would be too
    few. `saved`: the encoding of the example. `settings`: a line of `dpcompose.toml` that both
    need; `accepted`: the spec that `accept` was given before. `mended`: the
    settings to write instead, where they are what is wrong. `theorems`: ids of the theorem book
    that say why.
    """

    why: str
    example: str
    instead: str
    level: Literal["none", "note", "warning", "error"] = "error"
    but: str = ""
    command: Literal["analyze", "check", "python"] = "analyze"
    times: int = 1
    saved: str = "UTF-8"
    settings: str = ""
    accepted: str = ""
    mended: str = ""
    theorems: tuple[str, ...] = ()


#: The keys that every spec has, as examples have them that leave them out.
REST = {
    "dpcompose": "dpcompose: 1\n",
    "protect": "protect: unbounded\n",
    "datasets": "datasets: {trips: {}}\n",
    "mechanisms": "mechanisms: [{name: total, reads: trips, notion: pure, epsilon: 1}]\n",
}
