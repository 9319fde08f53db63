"""The problems of several specs made one: what is the same in all of them is there once.

Within a population names mean the same: a root with the same name and the same declaration in two
specs is one root, and so is what is made from it, where its name and declaration are the same and
nothing about it is random. All else is there once for each spec. Nothing recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.units import State
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.problem import BlockClass, Dataset, Partition, Problem, Root
from dpcompose.core.model.tree import Place
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import Solver
from dpcompose.planning.ledger.releases import Release
from dpcompose.report.wording import listing


@dataclass(slots=True, eq=False)
class Island:
    """Roots (datasets that are given, not made) that several specs share, so that facts about them
    hold together.

    `apart`: what parts declare of their roots, by their places in `roots`. `contested`: the parts
    whose declaration another part that reads one of these roots does not make, so that it is not
    used.
    """

    roots: list[Root] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    apart: dict[int, frozenset[int]] = field(default_factory=dict)
    contested: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """One problem of all parts, in which every root may change at once, and its islands.

    Paths start with the number of the part. `names`: what the mechanisms of each part are called.
    `same`: the names of what several parts have in common, each with the numbers of the parts.
    `apart`: the parts whose word that nobody is in two of their roots is used for all, with the
    names of these roots; `contested`: those whose word is not, since others do not give it.
    """

    problem: Problem
    islands: tuple[Problem, ...]
    names: tuple[Names, ...]
    same: tuple[tuple[str, tuple[int, ...]], ...]
    apart: tuple[tuple[int, tuple[str, ...]], ...] = ()
    contested: tuple[int, ...] = ()


class MergedSolver(Solver):
    """Solves a merged problem: the losses of its islands add up."""

    def __init__(self, merged: Merged) -> None:
        super().__init__(merged.problem)
        self.names = [list(names.values()) for names in merged.names]
        self._islands: list[Solver] = []
        tops = {id(root): (root, top) for root, top in self.tops}
        for problem in merged.islands:
            island = Solver.__new__(Solver)
            island.problem = problem
            island.tops = [tops[id(root)] for root in problem.roots]
            self._islands.append(island)

    def _joint(self, accountant: Accountant) -> tuple[Loss, list[tuple[Place, State, Answer]]]:
        """Returns the summed worst losses of all islands, and for each root its place, its worst
        change and the bound there."""
        found = [island._joint(accountant) for island in self._islands]
        loss = accountant.algebra.add(each for each, _ in found)
        return loss, [answer for _, answers in found for answer in answers]


def merge(parts: Sequence[Release], shared_names: bool) -> Merged:
    """Returns one problem of all releases, which must protect the same change (at least one
    release).

    `shared_names`: equal names in parts of one population mean the same; else each part has names
    of its own.
    """
    names = _names(parts)
    shared: dict[tuple[str, tuple[int, ...]], None] = {}
    islands: list[Island] = []
    taken: set[str] = set()
    problems = [each.resolved.problem for each in parts]
    for index, part in enumerate(parts):
        here = Island(parts=[index])
        joined: list[Island] = []
        for root in part.resolved.problem.roots:
            copy = replace(root, dataset=copied(root.dataset, (index,), names[index], ""))
            world = part.resolved.population if shared_names else None
            found = _same_root(root, world, islands, parts) if world else None
            if found is None:
                if root.dataset.name in taken:
                    prefix = f"{part.label}: "
                    copy = replace(
                        root, dataset=copied(root.dataset, (index,), names[index], prefix)
                    )
                taken.add(copy.dataset.name)
                here.roots.append(copy)
                continue
            island, known = found
            shared.update(dict.fromkeys(join(known.dataset, copy.dataset)))
            if island not in joined:
                joined.append(island)
        islands = [each for each in islands if each not in joined]
        islands.append(_one_island([*joined, here]))
    for island in islands:
        _take_apart(island, problems)
    goal = problems[0].goal
    problem = Problem(goal, [root for each in islands for root in each.roots])
    return Merged(
        problem,
        tuple(
            Problem(goal, each.roots, True, tuple(dict.fromkeys(each.apart.values())))
            for each in islands
        ),
        tuple(names),
        _names_once(shared),
        tuple(
            (part, tuple(each.roots[i].dataset.name for i in sorted(roots)))
            for each in islands
            for part, roots in each.apart.items()
        ),
        tuple(sorted(part for each in islands for part in each.contested)),
    )


def _names(parts: Sequence[Release]) -> list[Names]:
    """Returns the new names of each part's mechanisms: with the spec's where several share."""
    listed = [
        list(dict.fromkeys(m.name for m in part.resolved.problem.mechanisms())) for part in parts
    ]
    often = Counter(name for found in listed for name in found)
    taken = {name for name, times in often.items() if times == 1}
    result: list[Names] = []
    for part, found in zip(parts, listed, strict=True):
        names: Names = {}
        for name in found:
            new = name
            if often[name] > 1:
                numbers = chain([""], (f" ({n})" for n in count(2)))
                tries = (f"{part.label}{each}: {name}" for each in numbers)
                new = next(each for each in tries if each not in taken)
                taken.add(new)
            names[name] = new
        result.append(names)
    return result


def _same_root(
    root: Root, world: str, islands: Sequence[Island], parts: Sequence[Release]
) -> tuple[Island, Root] | None:
    """Returns an island and its root declared as `root` in the population `world`, or None."""
    for island in islands:
        for known in island.roots:
            same = _declaration_of_root(known) == _declaration_of_root(root)
            if same and parts[int(known.dataset.path[0])].resolved.population == world:
                return island, known
    return None


def _declaration_of_root(root: Root) -> tuple[object, ...]:
    """Returns the name of a root with all that a spec declares of it, for comparison."""
    columns = None if root.columns is None else frozenset(root.columns)
    unit = root.unit, root.max_rows_per_unit
    return root.dataset.path[-1], root.domain, unit, root.max_degree, root.size, columns


def _one_island(islands: Sequence[Island]) -> Island:
    """Returns the union of several islands that share a spec."""
    whole = Island()
    for each in islands:
        whole.roots += each.roots
        whole.parts += each.parts
    return whole


def _take_apart(island: Island, problems: Sequence[Problem]) -> None:
    """Sets the roots of which nobody is in two: every part that reads one of them declares it.

    A declaration counts for what its spec releases itself.
    """
    place = {_declaration_of_root(root): i for i, root in enumerate(island.roots)}
    of_part = {
        part: frozenset(place[_declaration_of_root(root)] for root in problems[part].roots)
        for part in island.parts
    }
    contested: list[int] = []
    for part, roots in of_part.items():
        if not problems[part].roots_disjoint or len(roots) < 2:
            continue
        readers = [other for other, theirs in of_part.items() if roots & theirs]
        if all(problems[r].roots_disjoint and roots <= of_part[r] for r in readers):
            island.apart[part] = roots
        else:
            contested.append(part)
    island.contested = tuple(contested)


def drawn_apart(merged: Merged) -> tuple[str, tuple[int, ...]] | None:
    """Returns a sample drawn once (`draws: one`) that several parts declare differently, or None.

    It is the name of the sample, with the numbers of the parts: one draw cannot be shared under
    different declarations, or below a sample that each part draws afresh.
    """
    found: dict[str, dict[int, None]] = {}
    for dataset in merged.problem.datasets():
        if isinstance(dataset.made_by, Sample) and dataset.made_by.shared:
            found.setdefault(str(dataset.path[-1]), {})[int(dataset.path[0])] = None
    apart = ((name, tuple(sorted(parts))) for name, parts in found.items() if len(parts) > 1)
    return next(apart, None)


def _names_once(
    shared: dict[tuple[str, tuple[int, ...]], None],
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Returns each name with the numbers of all parts that have it in common."""
    found: dict[str, dict[int, None]] = {}
    for name, parts in shared:
        found.setdefault(name, {}).update(dict.fromkeys(parts))
    return tuple((name, tuple(sorted(parts))) for name, parts in found.items())


def name_assumptions(merged: Merged, labels: Sequence[str], world: bool) -> Iterator[str]:
    """Yields the assumptions that follow from equal names, in sentences.

    `world`: whether equal names mean the same in all specs.
    """
    if len(labels) < 2:
        return
    about = "all of these specs are about the same people"
    if not merged.apart:
        yield f"{about}, each of whom may be in every root"
    else:
        yield f"{about}, each of whom may be in every root but for what the specs say:"
    told: dict[tuple[str, ...], list[str]] = {}
    for part, names in merged.apart:
        told.setdefault(names, []).append(labels[part])
    for names, said in told.items():
        yield f"nobody is in two of {listing(names)} (`roots: disjoint` in {listing(said)})"
    for part in merged.contested:
        yield (
            f"that nobody is in two roots of {labels[part]} is used for it alone, if at all: "
            "another spec reads some of these roots and does not say so"
        )
    fresh = (
        "each release draws fresh noise, and samples, random limits and caps of its own, whatever "
        "they are called"
    )
    once = "; but a sample with `draws: one` is one draw wherever it has the same name"
    yield fresh + once if world else fresh
    for name, parts in merged.same:
        yield f"`{name}` is one and the same in {listing(labels[part] for part in parts)}"


# ---------------------------------------------------------------------------------------------
# Trees of datasets copied, and joined: what is the same in two of them is there once
#
# Two datasets are the same if their names and declarations are, and nothing about them is random,
# but for a sample that is drawn once.
# Nothing recurses.


#: Partitions of more blocks, where specs tell them apart, stay apart.
MOST_BLOCKS = 100_000
#: And those whose blocks fall into more classes.
MOST_CLASSES = 10_000

#: What the mechanisms of a tree are called, by the names that they had.
Names = dict[str, str]


def copied(top: Dataset, place: tuple[int, ...], names: Names | None, prefix: str) -> Dataset:
    """Returns a copy of a dataset with everything below it; mechanisms are copied only where
    `names` renames them.

    `place` is put before the paths of datasets and of renamed mechanisms, `prefix` before every
    name of a dataset; `names`: new names of mechanisms, None to keep them.
    """
    new = _copy_without_children(top, place, names, prefix)
    stack = [(top, new)]
    while stack:
        old, copy = stack.pop()
        for child in old.derived:
            below = _copy_without_children(child, place, names, prefix)
            copy.derived.append(below)
            stack.append((child, below))
        for partition in old.partitions:
            classes: list[BlockClass] = []
            for each in partition.classes:
                below = _copy_without_children(each.dataset, place, names, prefix)
                classes.append(BlockClass(each.names, below))
                stack.append((each.dataset, below))
            copy.partitions.append(_split(partition, classes, place, prefix))
    return new


def _copy_without_children(
    old: Dataset, place: tuple[int, ...], names: Names | None, prefix: str
) -> Dataset:
    """Returns a copy of a dataset with its mechanisms, without what is made from it; the other
    parameters are those of `copied`."""
    mechanisms = [*old.mechanisms]
    if names is not None:
        mechanisms = [
            replace(
                each,
                name=names[each.name],
                statements=tuple(
                    said._replace(path=(*place, *said.path)) for said in each.statements
                ),
                path=(*place, *each.path),
            )
            for each in old.mechanisms
        ]
    return Dataset(prefix + old.name, (*place, *old.path), old.made_by, mechanisms)


def _split(
    old: Partition, classes: list[BlockClass], place: tuple[int, ...] = (), prefix: str = ""
) -> Partition:
    """Returns a partition with other classes of blocks; `place` and `prefix` as in `copied`."""
    return Partition(
        prefix + old.name,
        (*place, *old.path),
        old.kind,
        classes,
        old.drops,
        old.max_blocks_per_unit,
        old.max_rows_per_block,
    )


# ---------------------------------------------------------------------------------------------
# Joining


def join(known: Dataset, other: Dataset) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Moves everything below `other` to `known`, and yields the datasets that both have in common.

    Each is the name of a dataset with the numbers of the two parts that declare it.
    """
    stack = [(known, other)]
    while stack:
        into, new = stack.pop()
        if isinstance(into.path[-1], str) and len(into.path) == 3:
            yield str(into.path[-1]), (int(into.path[0]), int(new.path[0]))
        into.mechanisms.extend(new.mechanisms)
        for child in new.derived:
            same = next((each for each in into.derived if _same_map(each, child)), None)
            if same is None:
                into.derived.append(child)
            else:
                stack.append((same, child))
        for partition in new.partitions:
            place = _same_split(into.partitions, partition)
            pairs = None if place is None else _common_refinement(into.partitions[place], partition)
            if place is None or pairs is None:
                into.partitions.append(partition)
                continue
            old = into.partitions[place]
            into.partitions[place] = _split(old, [each for each, _ in pairs])
            stack.extend((each.dataset, below) for each, below in pairs)


def _same_map(one: Dataset, other: Dataset) -> bool:
    """Returns whether two datasets have one name and are made by one map without randomness."""
    same = one.path[-1] == other.path[-1] and one.made_by == other.made_by
    return same and one.made_by is not None and one.made_by.conduct().determined


def _same_split(known: Sequence[Partition], other: Partition) -> int | None:
    """Returns the index of the partition with the name and declaration of `other`, or None."""
    if not other.kind.assignment().determined:
        return None
    for place, each in enumerate(known):
        if each.size == other.size and _declaration(each) == _declaration(other):
            return place
    return None


def _declaration(each: Partition) -> tuple[object, ...]:
    """Returns the name of a partition with all that a spec declares of it, for comparison."""
    return (
        each.path[-1],
        # A kind that numbers its blocks has each in a class of its own.
        each.kind.by_names([str(alike.names[0]) for alike in each.classes]),
        each.drops,
        each.max_blocks_per_unit,
        each.max_rows_per_block,
    )


def _common_refinement(one: Partition, other: Partition) -> list[tuple[BlockClass, Dataset]] | None:
    """Returns the common refinement of the classes of blocks of two partitions.

    Each class comes with the content by `one`, and with the dataset of its content by `other`. None
    if the blocks differ, or are too many.
    """
    if len(one.classes) == len(other.classes) == 1:
        known, new = one.classes[0], other.classes[0]
        if known.names == new.names:
            return [(known, new.dataset)]
    if one.size > MOST_BLOCKS:
        return None
    of_other = {name: i for i, each in enumerate(other.classes) for name in each.names}
    groups: dict[tuple[int, int], list[str | int]] = {}
    for i, each in enumerate(one.classes):
        for name in each.names:
            if name not in of_other:
                return None
            groups.setdefault((i, of_other[name]), []).append(name)
    if len(groups) > MOST_CLASSES:
        return None
    found: list[tuple[BlockClass, Dataset]] = []
    for (i, j), names in groups.items():
        content = copied(one.classes[i].dataset, (), None, "")
        block = f"{one.name}.{names[0]}" if len(names) == 1 else f"{one.name}.*"
        content.name = block
        below = copied(other.classes[j].dataset, (), None, "")
        found.append((BlockClass(tuple(names), content), below))
    return found
