"""A change of a spec that its author might make, as a change of its tree and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpcompose.core.model.problem import Mechanism, Problem
from dpcompose.errors import Path
from dpcompose.planning.what_if import Put
from dpcompose.report.wording import listing
from dpcompose.source import Value

#: What stands at a key of a spec.
Tree = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Entry:
    """A text to write at the entry of a spec at `path`, and the values that it changes.

    `of`: the name for which `Candidate.condition` has a placeholder; empty where it needs none.
    """

    path: Path
    write: str
    puts: tuple[Put, ...]
    of: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Entries of one kind that the author could write, if a condition is true.

    `condition`: a sentence, with `{}` for the names of the entries.
    """

    key: str
    condition: str
    entries: Sequence[Entry]

    @property
    def puts(self) -> tuple[Put, ...]:
        """Returns the values that all entries change."""
        return tuple(put for entry in self.entries for put in entry.puts)

    @property
    def sentence(self) -> str:
        """Returns the condition as a sentence, with the names of the entries."""
        return self.condition.replace("{}", listing(each.of for each in self.entries))


class SpecParts:
    """The parts of a spec from which candidates are made."""

    def __init__(self, tree: Tree, problem: Problem) -> None:
        self.tree, self.problem = tree, problem
        datasets, mechanisms = tree.get("datasets"), tree.get("mechanisms")
        assert isinstance(datasets, dict) and isinstance(mechanisms, list)
        self.datasets: dict[str, Tree] = {
            name: each if isinstance(each, dict) else {} for name, each in datasets.items()
        }
        self.mechanisms: list[tuple[int, Tree]] = [
            (at, each)
            for at, each in enumerate(mechanisms)
            if isinstance(each, dict) and isinstance(each.get("reads"), str)
        ]
        self._taken = {*self.datasets}
        goal = problem.goal.relation
        self.kind = (goal.within or goal).kind
        self.meant: dict[str, Mechanism] = {each.name: each for each in problem.mechanisms()}

    def above(self, reference: str) -> Iterator[str]:
        """Yields the name of the dataset that `reference` names and those of its ancestors, nearest
        first."""
        name: Value = reference
        while isinstance(name, str):
            name = name.split(".")[0]
            if name not in self.datasets:
                return
            yield name
            name = self.datasets[name].get("from")

    def free(self, name: str) -> str:
        """Returns a name for a new dataset, similar to `name` and not used in the spec."""
        name = re.sub(r"\W+", "_", name).strip("_")
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def part(self, name: str, key: str) -> Tree:
        """Returns the map or the partition of a dataset, as a mapping; empty where it has none."""
        found = self.datasets[name].get(key)
        if isinstance(found, str):
            return {"kind" if key == "map" else "by": found}
        return found if isinstance(found, dict) else {}


def inside(spec: SpecParts, name: str, key: str, says: Mapping[str, Value], write: str) -> Entry:
    """Returns the entry that adds the keys `says` to the map or the partition (`key`) of a dataset.

    `write`: the text that the author would write.
    """
    put = Put(("datasets", name, key), {**spec.part(name, key), **says})
    return Entry(("datasets", name), write, (put,), name)


def at_mechanism(
    at: int, mechanism: Tree, says: Mapping[str, Value], write: str, puts: Sequence[Put] = ()
) -> Entry:
    """Returns the entry that adds the keys `says` to the mechanism number `at`, after the changes
    `puts`.

    `write`: the text that the author would write.
    """
    own = (Put(("mechanisms", at, key), value) for key, value in says.items())
    return Entry(("mechanisms", at), write, (*puts, *own), str(mechanism["name"]))
