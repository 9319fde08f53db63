"""Which theorem gives a bound: the most specific one that attains it, and how the others compare.

The value is computed by the general theorem. A named theorem is cited when its hypotheses hold and
its own bound, computed from the losses of the blocks, is the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

from dpcompose.core import theorems as _theorems  # noqa: F401  (fills the book)
from dpcompose.core.answer import Solution, Solver
from dpcompose.core.change import Kind, all_leaves
from dpcompose.core.derivation import Quantity
from dpcompose.core.guarantee import Notion
from dpcompose.core.layout import Place
from dpcompose.core.loss import Loss, Pairs, Scalars
from dpcompose.core.problem import Goal, Partition, PartitionKind, Sample, Statement
from dpcompose.core.relation import Relation, RelationKind
from dpcompose.core.theorem import BOOK
from dpcompose.values import dataclass

P, A, G, Z = Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP

#: The same theorem for each notion: adaptive, and for pure DP also independent composition.
GENERAL = {P: "V.2", A: "VI.4", Z: "VI.13", G: "VI.21"}
SEQUENTIAL = {P: "V.3", A: "VI.5", Z: "VI.15", G: "VI.23"}
COMMON = {P: "V.5", A: "VI.7", Z: "VI.14", G: "VI.22"}
BEST_OWN = {P: "V.4", A: "VI.6", Z: "VI.16", G: "VI.26"}
BEST_COMMON = {P: "V.6", A: "A.13", Z: "A.15", G: "A.17"}
TWO_LARGEST = {P: "IV.13", A: "VI.7", Z: "VI.14", G: "A.18"}
GROUP = {P: "III.3", A: "VI.3", Z: "VI.12", G: "VI.20"}
INDEPENDENT = {
    "V.2": "IV.1", "V.3": "IV.3", "V.5": "IV.11", "V.4": "IV.6", "V.6": "IV.12",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """A theorem held against the problem.

    `loss` is its bound (None: it does not apply); `why`: the hypothesis that fails, or how it
    compares.
    """

    theorem: str
    loss: Loss | None
    why: str


class Refused(Exception):
    """A hypothesis does not hold; the message says which and why."""


@dataclass(slots=True)
class _Setting:
    """What the named theorems ask about a problem."""

    solver: Solver
    solution: Solution
    top: Place
    goal: Goal

    @property
    def notion(self) -> Notion:
        return self.solution.notion

    def statements(self) -> Iterator[tuple[Place, Statement]]:
        """Every statement with the place where its mechanism reads."""
        stack = [self.top]
        while stack:
            place = stack.pop()
            for mechanism, _ in place.mechanisms:
                for statement in mechanism.statements:
                    yield place, statement
            stack.extend(place.derived)
            for blocks in place.blocks:
                stack.extend(blocks)

    def only_partition(self) -> tuple[Partition, list[Place]]:
        """The one partition whose blocks all mechanisms read."""
        if self.top.mechanisms:
            raise Refused("not every mechanism reads a block of one partition")
        if self.top.derived:
            raise Refused(
                f"some mechanism reads a dataset made from `{self.top.dataset.name}` by a map, "
                "not a block of it"
            )
        if len(self.top.blocks) != 1:
            raise Refused("the mechanisms read more than one partition")
        blocks = self.top.blocks[0]
        if any(block.derived or block.blocks for block in blocks):
            raise Refused("some mechanism reads a dataset made from a block, not the block itself")
        return self.top.dataset.partitions[0], blocks


def compare(solver: Solver, solution: Solution) -> tuple[str, list[Compared]]:
    """The theorem to cite for a solution, and every other one with its bound or what fails.

    The list is ordered from the most specific to the most general theorem.
    """
    notion = solution.notion
    general = _numbered(GENERAL[notion], solver)
    if len(solver.tops) != 1:
        sequential = _sequential(solver, solution)
        return general, [sequential] if sequential is not None else []
    setting = _Setting(solver, solution, solver.tops[0][1], solver.problem.goal)
    rules: list[tuple[str, Callable[[_Setting], Loss]]] = [
        (_numbered(BEST_OWN[notion], solver), _best_own),
        (_numbered(BEST_COMMON[notion], solver), _best_common),
        (TWO_LARGEST[notion], _two_largest),
    ]
    single = _single_mechanism(setting)
    cited: str | None = None
    compared: list[Compared] = []
    for identifier, rule in rules:
        try:
            loss = rule(setting)
        except Refused as refusal:
            compared.append(Compared(identifier, None, str(refusal)))
            continue
        if cited is None and loss == solution.loss:
            cited = identifier
        else:
            compared.append(Compared(identifier, loss, "applies, but another bound is used"))
    sequential = _sequential(solver, solution)
    whole = _reads_root(setting)
    if cited is None and single is not None:
        cited = single
    if cited is None and whole:
        cited = _numbered(SEQUENTIAL[notion], solver)
    elif sequential is not None:
        compared.append(sequential)
    if cited is None and _all_on_root(setting):
        cited = _numbered(COMMON[notion], solver)
    if cited is None:
        cited = general
    elif cited != general:
        compared.append(
            Compared(general, solution.loss, "the general theorem, of which this is a case")
        )
    merged: dict[str, Compared] = {}
    for each in compared:
        if each.theorem != cited:
            merged.setdefault(each.theorem, each)
    return cited, list(merged.values())


def _numbered(identifier: str, solver: Solver) -> str:
    """The number under the adaptivity that the spec asks for."""
    return identifier if solver.problem.adaptive else INDEPENDENT.get(identifier, identifier)


def _same(first: Relation, second: Relation) -> bool:
    return first == second


def _one_step(setting: _Setting) -> None:
    if setting.goal.distance != 1:
        raise Refused(f"it is stated for one step, and {setting.goal.distance} are protected")


def _stated(setting: _Setting, up: int, where: str) -> None:
    for place, statement in setting.statements():
        if place.depth != 1 or statement.up != up:
            raise Refused(f"it needs every guarantee stated on {where}")
        if not _same(statement.relation, setting.goal.relation):
            raise Refused(
                f"it needs every guarantee stated for {setting.goal.relation} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


def _compatible(setting: _Setting, partition: Partition) -> None:
    """Whether one protected step changes at most one block, by at most one step there."""
    relation = setting.goal.relation
    kind = partition.kind
    if relation.kind is RelationKind.UNBOUNDED:
        if kind in (PartitionKind.VALUE, PartitionKind.KEY):
            return
        if kind is PartitionKind.MEMBERSHIP and (partition.max_blocks or 1) == 1:
            return
        if (
            kind is PartitionKind.KINDS
            and partition.kinds is not None
            and all(len(fed) <= 1 for fed in partition.kinds.values())
        ):
            return
        if kind is PartitionKind.POSITION:
            raise Refused("an added row shifts the positions of all rows after it")
        raise Refused(f"one row may be in several blocks of `{partition.name}`")
    if relation.kind is RelationKind.BOUNDED:
        if kind is PartitionKind.POSITION:
            return
        if kind is PartitionKind.KEY and partition.column in relation.keeps:
            return
        raise Refused(
            f"the partition `{partition.name}` is not compatible with bounded neighbours: "
            "a replaced row can leave one block and enter another"
        )
    raise Refused(f"blocks are not known to be compatible with {relation} neighbours")


def _block_losses(setting: _Setting, blocks: list[Place], both: bool) -> list[tuple[Loss, int]]:
    """The composed loss of every class of blocks for one row in it, with the class's size."""
    wanted = Kind.PAIR if both else Kind.SINGLE
    found: dict[int, Loss] = {}
    for (place_id, seen), known in setting.solution.accountant.known().items():
        leaves = all_leaves(seen)
        if sum(leaves.values()) == 1 and next(iter(leaves)).kind is wanted:
            found[place_id] = known.loss
    out = []
    for block in blocks:
        edge = block.edge
        assert edge is not None and edge.partition is not None
        size = edge.partition.classes[edge.block].multiplicity
        out.append((found.get(id(block), setting.solution.algebra.zero), size))
    return out


def _from_book(setting: _Setting, identifier: str, losses: list[tuple[Loss, int]]) -> Loss:
    """The bound of a theorem of the book on the losses of the blocks."""
    bound: Callable[..., Any] = BOOK[identifier].bound
    algebra = setting.solution.algebra
    if isinstance(algebra, Scalars):
        numbers = [loss for loss, size in losses for _ in range(min(size, 2))]
        if math.inf in numbers:
            return math.inf
        return bound(numbers)
    assert isinstance(algebra, Pairs)
    if algebra.survival or any(len(loss) != 1 for loss, _ in losses):
        raise Refused("it is stated for one (ε, δ) for each block")
    return (bound([loss[0] for loss, size in losses for _ in range(min(size, 2))]),)


def _best_own(setting: _Setting) -> Loss:
    partition, blocks = setting.only_partition()
    _one_step(setting)
    _compatible(setting, partition)
    _stated(setting, 0, "the block that its mechanism reads")
    both = setting.goal.relation.kind is RelationKind.BOUNDED
    losses = _block_losses(setting, blocks, both)
    return _from_book(setting, BEST_OWN[setting.notion], losses)


def _best_common(setting: _Setting) -> Loss:
    partition, blocks = setting.only_partition()
    _one_step(setting)
    _compatible(setting, partition)
    _stated(setting, 1, f"the whole table `{setting.top.dataset.name}`")
    both = setting.goal.relation.kind is RelationKind.BOUNDED
    losses = _block_losses(setting, blocks, both)
    return _from_book(setting, BEST_COMMON[setting.notion], losses)


def _two_largest(setting: _Setting) -> Loss:
    partition, blocks = setting.only_partition()
    _one_step(setting)
    if setting.goal.relation.kind is not RelationKind.BOUNDED:
        raise Refused(f"it is about bounded neighbours, not {setting.goal.relation} ones")
    if partition.kind is not PartitionKind.VALUE or partition.size < 2:
        raise Refused("it needs two or more disjoint blocks by value")
    _stated(setting, 1, f"the whole table `{setting.top.dataset.name}`")
    losses = _block_losses(setting, blocks, both=False)
    algebra = setting.solution.algebra
    if isinstance(algebra, Pairs):
        return _two_largest_pairs(algebra, losses)
    identifier = "A.18" if setting.notion is G else "IV.13"
    return _from_book(setting, identifier, losses)


def _two_largest_pairs(algebra: Pairs, losses: list[tuple[Loss, int]]) -> Loss:
    if algebra.survival or any(len(loss) != 1 for loss, _ in losses):
        raise Refused("it is stated for one (ε, δ) for each block")
    flat = [loss[0] for loss, size in losses for _ in range(min(size, 2))]
    epsilons = sorted((pair[0] for pair in flat), reverse=True)
    deltas = sorted((pair[1] for pair in flat), reverse=True)
    return ((sum(epsilons[:2], Fraction(0)), sum(deltas[:2], Fraction(0))),)


def _reads_root(setting: _Setting) -> bool:
    return all(place.depth == 0 for place, _ in setting.statements())


def _all_on_root(setting: _Setting) -> bool:
    return all(statement.up == place.depth for place, statement in setting.statements())


def _single_mechanism(setting: _Setting) -> str | None:
    """The stability theorem that alone explains one mechanism, if there is just one."""
    found = list(setting.statements())
    if len(found) != 1:
        return None
    place, statement = found[0]
    count = sum(mechanism.count for mechanism, _ in place.mechanisms)
    edges = place.ancestors(place.depth)
    if count != 1 or any(edge.made_by is None for edge in edges):
        return None
    samples = [edge.made_by for edge in edges if isinstance(edge.made_by, Sample)]
    if samples and not statement.up:
        if samples[-1].size is not None:
            return "sample-without-replacement"
        replaced = setting.goal.relation.kind is RelationKind.BOUNDED
        return "poisson-sample-replaced" if replaced and setting.notion is P else "poisson-sample"
    notion = setting.notion
    if statement.guarantee.notion is not notion:
        return None
    if statement.up == place.depth:
        same = _same(statement.relation, setting.goal.relation)
        if same and not edges:
            return GROUP[notion] if setting.goal.distance > 1 else None
        return "A.3" if notion is P and not edges else None
    if statement.up or notion is not P:
        return None
    return "III.8" if len(edges) > 1 else "III.6"


def _sequential(solver: Solver, solution: Solution) -> Compared | None:
    """What charging every mechanism in full would give."""
    loss = solver.sequential(solution)
    identifier = _numbered(SEQUENTIAL[solution.notion], solver)
    if loss == solution.algebra.none or loss == math.inf:
        return Compared(identifier, None, "some mechanism has no finite bound by itself")
    if loss == solution.loss:
        return Compared(identifier, loss, "gives the same here")
    return Compared(
        identifier,
        loss,
        "sound but looser: it charges for every block, whatever one change reaches",
    )


def quantity_of(solution: Solution, loss: Loss) -> Quantity | None:
    """A loss of the solution's algebra as a certified bound."""
    algebra = solution.algebra
    if isinstance(algebra, Scalars):
        if loss == math.inf:
            return None
        return Quantity(algebra.notion, loss, Fraction(0), _exact(solution))
    assert isinstance(algebra, Pairs)
    for epsilon, delta in loss:
        if algebra.plain(delta) < 1:
            return Quantity(Notion.APPROX, epsilon, algebra.plain(delta), _exact(solution))
    return None


def _exact(solution: Solution) -> bool:
    return all(quantity.exact for quantity in solution.quantities)
