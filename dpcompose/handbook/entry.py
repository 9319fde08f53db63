"""What there is to know about a code, beside what it means."""

from __future__ import annotations

import re
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


@dataclass(frozen=True, slots=True)
class Topic:
    """Words of the spec language that belong together, and what to know beside their meanings.

    The first word names it. `about`: what a reader should know; `example`: lines of a spec, as
    those of a code; `theorems`: ids of the theorem book that it rests on, beside those that the
    example leads to; `see`: words of other topics.
    """

    words: tuple[str, ...]
    about: str
    example: str
    theorems: tuple[str, ...] = ()
    see: tuple[str, ...] = ()


def whole(lines: str, times: int = 1) -> str:
    """A spec of the lines of an example: the keys that it leaves out come first, as in `REST`.

    Without any of them it is left alone: it is no part of a spec. `times`: how often the last line
    stands.
    """
    head, _, last = f"\n{lines}".rpartition("\n")
    text = f"{head}\n".removeprefix("\n") + f"{last}\n" * times
    keys = set(re.findall(r"^(\w+):", lines, re.MULTILINE))
    return "".join(REST[key] for key in REST if keys and key not in keys) + text
