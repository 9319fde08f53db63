"""The text of a spec, line by line, each with a comment that says where it comes from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping

from dpcompose.bridge.values import Unconvertible
from dpcompose.errors import InvalidSpec, printable, quoted
from dpcompose.resolve import resolve
from dpcompose.source import load
from dpcompose.source.rewriting import is_plain

#: A spec has so many datasets at most, and so many mechanisms.
MOST_LINES = 10_000
#: Where the ε is stated if the call does not say it.
DELTA = "1e-6"
#: A comment has so many characters at most.
_LONGEST = 300


def name(text: str) -> str:
    """Returns a text as YAML holds it, in quotation marks where it needs them."""
    return text if is_plain(text) else json.dumps(printable(text), ensure_ascii=False)


def entry(values: Mapping[str, str]) -> str:
    """Returns a mapping on one line; the values are YAML already."""
    return f"{{{', '.join(f'{key}: {value}' for key, value in values.items())}}}"


def places(origins: list[str]) -> str:
    """Returns where a line comes from: the first places, and how many more."""
    more = f" and {len(origins) - 3} more" if len(origins) > 3 else ""
    return f"{', '.join(origins[:3])}{more}"


class SpecText:
    """A spec that is being written.

    `title`: what it is; `protect`: the relation, with the origin of both.
    """

    def __init__(self, title: str, protect: str, origin: str) -> None:
        self._head = [
            ("dpcompose: 1", f"written by `dpcompose import` from {title}"),
            (f"title: {name(title)}", ""),
            (f"protect: {protect}", origin),
        ]
        self._datasets: dict[str, tuple[str, str]] = {}
        self._mechanisms: dict[str, tuple[str, str]] = {}
        self._numbers = Counter[str]()

    def dataset(self, title: str, values: Mapping[str, str], origin: str) -> str:
        """Adds a dataset and returns its name: the title, with a number where it is taken.
        `origin`: where it comes from, for a comment."""
        called = self._free(title, self._datasets, "_")
        self._datasets[called] = (f"{name(called)}: {entry(values)}", origin)
        return called

    def mechanism(self, title: str, values: Mapping[str, str], origin: str) -> None:
        """Adds a mechanism, named by its title, with a number where that is taken. `origin`: where
        it comes from, for a comment."""
        called = self._free(title, self._mechanisms, " ")
        self._mechanisms[called] = (f"- {entry({'name': name(called), **values})}", origin)

    def _free(self, title: str, taken: Mapping[str, object], sign: str) -> str:
        """Returns a name that is not taken yet: `title`, or with `sign` and a number after it."""
        if len(taken) >= MOST_LINES:
            raise Unconvertible("", f"the spec would have more than {MOST_LINES} entries of a kind")
        called = title
        while called in taken:
            self._numbers[title] += 1
            called = f"{title}{sign}{self._numbers[title] + 1}"
        return called

    def text(self, deltas: Iterable[object] = ()) -> str:
        """Returns the spec, which states its ε at these δ's, or at a usual one.

        Raises Unconvertible if it is invalid.
        """
        if not self._mechanisms:
            raise Unconvertible("", "nothing is released: there is no mechanism to write a spec of")
        lines = [comment(each, origin) for each, origin in self._head]
        for key, entries in (("datasets", self._datasets), ("mechanisms", self._mechanisms)):
            lines += ["", f"{key}:", *(f"  {comment(*each)}" for each in entries.values())]
        asked = [str(each) for each in deltas]
        delta = f"[{', '.join(asked)}]" if len(asked) > 1 else (asked or [DELTA])[0]
        origin = "as the call asks" if asked else "a usual δ: --delta asks for another"
        lines += ["", comment(f"report: {{delta: {delta}}}", origin)]
        text = "\n".join([*lines, ""])
        refuse_invalid(text)
        return text


def refuse_invalid(text: str) -> None:
    """Raises Unconvertible if a written spec is invalid, with the place that its line is from."""
    try:
        resolve(load(text, "<import>"))
    except InvalidSpec as error:
        first = error.diagnostics[0]
        line = text.split("\n")[first.span.line - 1] if first.span else ""
        where = line.rpartition("  # from ")[2] if "  # from " in line else ""
        says = f"the spec language refuses this: {first.message}"
        raise Unconvertible(where, says, first.hint) from None


def comment(text: str, origin: str) -> str:
    """Returns a line with the comment `origin`, in which no text of strangers begins a comment of
    its own, such as `# dpcompose: ignore[…]`."""
    says = printable(origin).replace("#", "")
    says = says if len(says) <= _LONGEST else f"{says[:_LONGEST]}…"
    return f"{text}  # {says}" if says else text


def known_relation(given: str, known: Mapping[str, str], path: str = "") -> str:
    """Returns the name in specs of a relation that a caller or a file gives by its name in specs,
    which is returned as it is, or in the other format; raises Unconvertible for another word.

    `known`: the name in specs by the name in the other format; `path`: where the word stands in the
    file.
    """
    if given in known.values():
        return given
    if given not in known:
        words = ", ".join(dict.fromkeys((*known.values(), *known)))
        raise Unconvertible(path, f"{quoted(given)} is no relation here: {words}")
    return known[given]
