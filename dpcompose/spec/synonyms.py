"""Words that people write for those of the spec language, and what to write: see `synonyms.yaml`.

Numbers in other notations are in `dpcompose.core.numbers.other_notation`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dpcompose.errors import folded, meant
from dpcompose.source.events import parsed


class Word(NamedTuple):
    """What to write in a spec for a word that is not of its language: `write`, if one word is meant
    for certain, else None; then `says` explains what may be meant."""

    write: str | None
    says: str = ""


@cache
def _tables() -> dict[str, Any]:
    """Returns the content of `synonyms.yaml`: by kind of word (`relations`, `notions`, …) the words
    of the spec language, each with its synonyms as one text."""
    tables: dict[str, Any] = parsed(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    return tables


@cache
def _words(table: str) -> dict[str, Word]:
    """Returns for each synonym in a table of `synonyms.yaml` what to write for it; the key is in
    the spelling of `folded`."""
    written = _tables()[table]
    clear = [(others, Word(word)) for word, others in written["words"].items()]
    unclear = [(each["words"], Word(None, each["says"])) for each in written.get("unclear", ())]
    found: dict[str, Word] = {}
    for others, word in (*unclear, *clear):
        found |= dict.fromkeys(map(folded, others.split()), word)
    return found


@cache
def _inner_keys() -> dict[str, tuple[str, ...]]:
    """Returns for each word, in the spelling of `folded`, all keys inside entries that it may stand
    for, the likeliest first."""
    found: dict[str, tuple[str, ...]] = {}
    for word, others in _tables()["inner_keys"].items():
        for each in map(folded, others.split()):
            found[each] = (*found.get(each, ()), word)
    return found


@cache
def norms() -> dict[str, tuple[str, ...]]:
    """Returns the names for a sensitivity that say in which norm it is, each with the noise
    mechanisms for which that is the norm."""
    written = _tables()["norms"].items()
    return {each: tuple(noise.split()) for noise, others in written for each in others.split()}


def synonyms() -> Iterator[tuple[str, str]]:
    """Yields (synonym, the one word of the spec language that it means)."""
    for table in (
        "relations",
        "notions",
        "mechanisms",
        "maps",
        "partitions",
        "adaptivity",
        "keys",
        "terms",
    ):
        for each, word in _words(table).items():
            if word.write is not None:
                yield each, word.write


def field_word(word: str) -> Word | None:
    """Returns what to write in a spec for a term of differential privacy, such as
    `noise-multiplier`; None if it is unknown."""
    tables = ("terms", "relations", "notions", "mechanisms", "maps")
    return next(filter(None, (meaning(each, word) for each in tables)), None)


def meaning(table: str, word: str) -> Word | None:
    """Returns what to write for a synonym in a table of `synonyms.yaml`, such as `relations`; None
    if it is no synonym."""
    return _words(table).get(folded(word))


def key(
    word: str,
    legal: Collection[str],
    top: bool,
    noise: str | None = None,
    given: object = None,
) -> str | None:
    """Returns the legal key that an unknown key certainly stands for; None if that is not certain.

    `legal`: the keys that may stand there; `top`: it stands at the top of the spec. `noise`: the
    concrete mechanism that it belongs to. `given`: the value at the key.
    """
    name = folded(word)
    same = meant(word, legal, closed=False)
    if same is not None:
        return same
    if top and name == "relation":  # declared ones are mappings
        return "protect" if isinstance(given, str) else "relations"
    if not top and name in norms() and "sensitivity" in legal:
        return "sensitivity" if noise in norms()[name] else None
    word_at_top = _words("keys").get(name) if top else None
    possible = (word_at_top.write,) if word_at_top else _inner_keys().get(name, ())
    found = next((each for each in possible if each in legal), None)
    return found or meant(word, legal, closed=True)
