"""The problems of several specs made one: what is the same in all of them is there once.

Within a population names mean the same: a root with the same name and the same declaration in two
specs is one root, and so is what is made from it, where its name and declaration are the same and
nothing about it is random. All else is there once for each spec. Nothing recurses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.model.problem import Problem, Root
from dpcompose.planning.releases import Release
from dpcompose.planning.trees import Names, copied, join


@dataclass(slots=True, eq=False)
class Island:
    """Roots that specs share, so that facts about them hold together.

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
    """Returns for each part the new name of every mechanism: of equal names, with the spec's name
    before."""
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
    """Returns an island and its root with the declaration of `root` and the population `world`, or
    None."""
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
