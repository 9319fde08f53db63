"""A spec with open questions: a TODO stands where an answer belongs, and its line asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from dpcompose.bridge.values import Unconvertible
from dpcompose.bridge.writer import MOST_LINES, comment, entry, name, refuse_invalid
from dpcompose.errors import Path
from dpcompose.spec.reading import OPEN as TODO

#: How the reason begins that says what a count counts.
COUNTED = "counted are "
#: A value of a spec as YAML, or a mapping of such values.
Value: TypeAlias = "str | Mapping[str, Value]"


@dataclass
class OpenSpec:
    """A spec that is being written. `functions`: those that are believed to look at one row.
    `questions`: those behind its TODOs, each with its place.

    `places`: where each part comes from.
    """

    unit_from: str = ""
    functions: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    places: dict[Path, str] = field(default_factory=dict)
    datasets: dict[str, tuple[Mapping[str, Value], str, str, Mapping[str, str]]] = field(
        default_factory=dict
    )
    mechanisms: dict[str, tuple[Mapping[str, Value], str, str, Mapping[str, str]]] = field(
        default_factory=dict
    )
    budget: tuple[Mapping[str, Value], str, str, Mapping[str, str]] | None = None

    def relation(
        self, title: str, values: Mapping[str, Value], says: str, where: str,
        questions: Mapping[str, str],
    ) -> None:  # fmt: skip
        """Adds a dataset. `says`: its comment; `where`: the file and line that it comes from;
        `questions`: those behind its TODOs, by the key."""
        known = self.datasets.setdefault(title, (values, says, where, questions))
        if known[0] != values:
            raise Unconvertible(where, f"the dataset {title} would be made in two ways")

    def release(
        self, title: str, values: Mapping[str, Value], says: str, where: str,
        questions: Mapping[str, str],
    ) -> None:  # fmt: skip
        """Adds a mechanism; a second one of its name gets a number."""
        called, number = title, 1
        while called in self.mechanisms:
            number += 1
            called = f"{title} {number}"
        self.mechanisms[called] = (values, says, where, questions)

    def blocks(self, groups: object) -> Value:
        """Returns the blocks of a partition: names, a number, or a TODO."""
        if isinstance(groups, list):
            return f"[{', '.join(name(str(each)) for each in groups)}]"
        return TODO if groups is None else str(groups)

    def forget_schemas(self, tables: Mapping[str, str]) -> None:
        """Gives tables that no mechanism reads their plain name, which several may share: they say
        only what a root of its own is made of. `tables`: the plain names of tables."""
        read = {
            one for each in self.mechanisms.values() for one in self.below(str(each[0]["reads"]))
        }
        for called, plain in tables.items():
            same = plain in self.datasets and self.datasets[plain][0] == self.datasets[called][0]
            if called != plain and same and not {called, plain} & read:
                del self.datasets[called]
                for key, (values, *rest) in self.datasets.items():
                    if values.get("from") == called:
                        self.datasets[key] = ({**values, "from": plain}, *rest)  # type: ignore[assignment]

    def below(self, read: str) -> set[str]:
        """Returns the names of a dataset that is read and of all that it is made from."""
        found: set[str] = set()
        while (read := read.removesuffix(".*")) not in found:
            found.add(read)
            values = self.datasets[read][0] if read in self.datasets else {}
            read = str(values.get("from", read))
        return found

    def text(self, deltas: Iterable[object] = ()) -> str:
        """Returns the spec. Raises Unconvertible if it is invalid, but for its open questions."""
        if not self.mechanisms:
            raise Unconvertible("", "nothing is released: there is no mechanism to write a spec of")
        if max(len(self.datasets), len(self.mechanisms)) > MOST_LINES:
            raise Unconvertible("", f"the spec would have more than {MOST_LINES} entries of a kind")
        lines = ["dpcompose: 1  # written by `dpcompose import` from SQL", "title: from SQL"]
        lines += [f"protect: user  # {self.unit_from}"]
        if self.functions:
            says = f"assumed: these look at one row alone: {', '.join(self.functions)}"
            lines.append(comment("", says).strip())
        lines += ["", "datasets:"]
        for key, (values, says, where, asks) in self.datasets.items():
            self.places["datasets", key] = where
            lines += self._entry(f"  {name(key)}:", "    ", values, says, where, asks)
        lines += ["", "mechanisms:"]
        for at, (key, (values, says, where, asks)) in enumerate(self.mechanisms.items()):
            self.places["mechanisms", at] = where
            lines += self._entry("-", "  ", {"name": name(key), **values}, says, where, asks)
        if self.budget is not None:
            values, says, where, asks = self.budget
            self.places["budget",] = where
            lines += ["", *self._entry("budget:", "  ", values, says, where, asks)]
        asked = [str(each) for each in deltas]
        if asked:
            lines += ["", f"report: {{delta: [{', '.join(asked)}]}}  # as the call asks"]
        text = "\n".join([*lines, ""])
        if not self.questions:
            refuse_invalid(text)
        return text

    def _entry(
        self, head: str, margin: str, values: Mapping[str, Value], says: str, where: str,
        asks: Mapping[str, str],
    ) -> Iterator[str]:  # fmt: skip
        """Yields the lines of an entry: one, or one for each key where something is asked."""
        if not asks:
            yield comment(f"{head} {_flow(values)}", says)
            return
        yield comment(f"{head}" if head != "-" else "-", says)
        for depth, key, value in _rows(values, 0):
            says = f"from {where}"
            if value == TODO:
                says = f"TODO {where}: {asks[key]}"
                self.questions.append(f"{where}: {key}: {asks[key]}")
            yield comment(f"{margin}{'  ' * depth}{key}: {value}".rstrip(), says)


def _flow(values: Mapping[str, Value]) -> str:
    """Returns a mapping on one line."""
    flat = {key: each if isinstance(each, str) else _flow(each) for key, each in values.items()}
    return entry(flat)


def _rows(values: Mapping[str, Value], depth: int) -> Iterator[tuple[int, str, str]]:
    """Yields the depth, the key and the value of each line of a mapping."""
    for key, each in values.items():
        yield depth, key, each if isinstance(each, str) else ""
        if not isinstance(each, str):
            yield from _rows(each, depth + 1)
