"""The two hypotheses of an adversary: what they say of the blocks of one partition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpcompose.core.change.maps.kind import Gives
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.hypotheses.beliefs import Belief, equal
from dpcompose.core.model.problem import Dataset, Goal, Partition, Path, Problem
from dpcompose.core.notions.notion import CONVERTS, Notion
from dpcompose.errors import quoted
from dpcompose.faults import Faults, listing
from dpcompose.resolve.bind_hypotheses import Hypotheses
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec.adversary import Adversary as Written
from dpcompose.spec.adversary import Hypothesis

_AT: Path = ("adversary",)
_HYPOTHESES: Path = ("adversary", "hypotheses")


@dataclass(frozen=True, slots=True)
class Opponent:
    """Two beliefs about which blocks of `partition` contain data of one person.

    `classes`: for each class of blocks that the beliefs distinguish, the index of its class in the
    partition and its number of blocks. `where`: the datasets from the root down to the one that is
    partitioned. `first`, `second`: the hypotheses in words.
    """

    partition: Partition
    where: tuple[Dataset, ...]
    classes: tuple[tuple[int, int], ...]
    beliefs: tuple[Belief, Belief]
    words: tuple[str, str]


def resolve_adversary(
    written: Written, problem: Problem, numbers: Numbers, faults: Faults
) -> Opponent | None:
    """Returns the adversary of a spec; None after an error."""
    fine = _protects_rows(problem.goal, faults)
    fine = _has_stated_guarantees(problem, faults) and fine
    found = _partition(problem, faults)
    if found is None or not fine:
        return None
    partition, way = found
    if isinstance(written.hypotheses, str):
        pair: list[Hypothesis] = ["none", "uniform"]
        paths = [_HYPOTHESES, _HYPOTHESES]
    else:
        pair = list(written.hypotheses)
        paths = [(*_HYPOTHESES, i) for i in range(len(pair))]
    if len(pair) != 2:
        message = f"there are {len(pair)} hypotheses, not two"
        hint = "an adversary tells two hypotheses apart: `[none, {at_least: 2}]`"
        faults.add("DPC163", _HYPOTHESES, message, hint, key=True)
        return None
    hypotheses = Hypotheses(partition, numbers, faults)
    one, other = (hypotheses.belief(each, at) for each, at in zip(pair, paths, strict=True))
    if one is None or other is None:
        return None
    if equal(one[0], other[0], partition.size):
        message = f"the two hypotheses are the same ({one[1]}): nothing is told apart, at no cost"
        hint = "an adversary is given two hypotheses that differ: `[none, uniform]`"
        faults.add("DPC166", _HYPOTHESES, message, hint)
        return None
    classes = tuple(hypotheses.classes())
    return Opponent(partition, way, classes, (one[0], other[0]), (one[1], other[1]))


def _protects_rows(goal: Goal, faults: Faults) -> bool:
    """Returns whether one row added or removed is protected, as hypotheses need it; else reports an
    error."""
    if goal.relation.kind is RelationKind.UNBOUNDED and goal.distance == 1:
        return True
    shown = str(goal.relation) if goal.distance == 1 else f"{goal.distance} steps"
    faults.add(
        "DPC160",
        _AT,
        f"hypotheses are about one row added or removed, and {quoted(shown)} is protected",
        "write `protect: unbounded`, or remove `adversary`",
        key=True,
    )
    return False


def _has_stated_guarantees(problem: Problem, faults: Faults) -> bool:
    """Returns whether every mechanism has a pure or an approximate guarantee; if not, reports an
    error."""
    for mechanism in problem.mechanisms():
        notions = mechanism.stated_in
        if not any({Notion.PURE, Notion.APPROX} & set(CONVERTS[each]) for each in notions):
            faults.add(
                "DPC162",
                mechanism.path,
                f"{quoted(mechanism.name)} is neither pure nor approximate: no bound against an "
                "adversary with hypotheses is known for it",
                "state a guarantee with `epsilon`, or with `epsilon` and `delta`",
            )
            return False
    return True


def _partition(problem: Problem, faults: Faults) -> tuple[Partition, tuple[Dataset, ...]] | None:
    """Returns the partition that hypotheses are about, and the datasets from its root down to it.

    None after an error: they need the one partition whose blocks may contain data of one person
    together.
    """
    found = [
        (partition, way)
        for way in _ways(problem)
        for partition in way[-1].partitions
        if partition.kind.where(()).overlap
    ]
    if not found:
        faults.add(
            "DPC161",
            _AT,
            "there are no blocks that one person may be in several of",
            "hypotheses are about a partition `by: membership` or `by: kinds`",
            key=True,
        )
        return None
    if len(found) > 1:
        names = listing([partition.name for partition, _ in found])
        faults.add(
            "DPC161",
            _AT,
            f"it is not clear which blocks are meant: of {names}",
            "keep one partition by membership or kinds",
            key=True,
        )
        return None
    partition, way = found[0]
    beyond = [each for each in way[1:] if not _one_each(each)]
    if beyond:
        faults.add(
            "DPC161",
            _AT,
            f"one person is not one row where {quoted(partition.name)} is made: "
            f"{quoted(beyond[0].name)} lies between",
            "between the root and the partition there may be filters and row maps",
            key=True,
        )
        return None
    return partition, way


def _one_each(dataset: Dataset) -> bool:
    """Returns whether a dataset is made by a map that makes at most one row of each row, by
    itself."""
    return dataset.made_by is not None and dataset.made_by.conduct().gives is Gives.ONE


def _ways(problem: Problem) -> Iterator[tuple[Dataset, ...]]:
    """Yields for each dataset the path of datasets from its root down to it."""
    stack: list[tuple[Dataset, ...]] = [(root.dataset,) for root in reversed(problem.roots)]
    while stack:
        way = stack.pop()
        yield way
        stack.extend((*way, each) for each in way[-1].derived)
        for partition in way[-1].partitions:
            stack.extend((*way, each.dataset) for each in partition.classes)
