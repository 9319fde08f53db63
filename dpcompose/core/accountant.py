"""The search: the worst neighbouring change, and the least loss certified for it.

The value comes from the general composition theorem (GMPS24 IV.1 / V.2, VI.4, VI.13, VI.21):
losses add over the mechanisms that a change reaches, and the worst change is found by following it
down the tree. Each dataset answers for a whole change; answers are remembered, and the walk uses
its own stack, so that deep specs are no problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice, product
from typing import Any, NamedTuple

from dpcompose.core import allocate
from dpcompose.core.allocate import Allocation, Hit
from dpcompose.core.change import (
    ANY,
    NEW_END,
    OLD_END,
    Item,
    Kind,
    Leaf,
    State,
    all_leaves,
    assigned,
    drop_level,
    extremes,
    leaf_item,
    moved,
    occurrences,
    one_below,
    outermost,
    single_units,
    top_level,
)
from dpcompose.core.cost import Coster
from dpcompose.core.exact import exp_up
from dpcompose.core.guarantee import Amount, Notion
from dpcompose.core.layout import STEP, Place
from dpcompose.core.loss import Algebra, Loss, Pairs, Scalars, Survival
from dpcompose.core.problem import Domain, Goal, Partition, PartitionKind, Root
from dpcompose.core.relation import RelationKind

Need = tuple[Place, State]
Walk = Generator[Need, Loss, Any]


class Branch(NamedTuple):
    """What a change becomes in one dataset below, `copies` times (equal blocks)."""

    place: Place
    state: State
    copies: int


class Choice(NamedTuple):
    """The worst thing that may happen along one map or at one partition.

    `loss` is its loss; `bounded`: the loss is bounded from above by a path of single units, not
    searched; `branches` then show one unit, of which there are `units` alike (0: of several sorts).
    """

    loss: Loss
    branches: tuple[Branch, ...]
    bounded: bool = False
    units: int = 1


class Answer(NamedTuple):
    """The loss of a change at a place: of its own mechanisms, and of what hangs below."""

    loss: Loss
    own: tuple[Loss, ...]
    choices: tuple[Choice, ...]


NOTHING = Answer(None, (), ())

#: A partition with several units is searched exhaustively up to this many ways.
WAYS = 20_000
#: And by dynamic programming up to this much work.
WORK = 300_000


@dataclass(slots=True)
class Accountant:
    """Losses of changes in one notion.

    `charge_all`: price every block at its worst, as if every mechanism read the whole table
    (what sequential composition would give).
    """

    algebra: Algebra
    charge_all: bool
    _coster: Coster
    _known: dict[tuple[int, State], Answer]
    _own: dict[tuple[int, State], tuple[Loss, ...]]

    def __init__(self, algebra: Algebra) -> None:
        self.algebra = algebra
        self.charge_all = False
        self._coster = Coster(algebra)
        self._known = {}
        self._own = {}

    def charging_all(self) -> Accountant:
        """An accountant that charges all blocks, and knows the costs that this one has found."""
        other = Accountant(self.algebra)
        other.charge_all = True
        other._coster, other._own = self._coster, self._own
        return other

    def answer(self, place: Place, state: State) -> Answer:
        """The worst loss of everything at and below `place` for the change `state` there."""
        known = self._known
        stack: list[tuple[tuple[int, State], Walk]] = []
        key = (id(place), state)
        if key not in known:
            stack.append((key, self._walk(place, state)))
        sent: Loss = None
        while stack:
            key_now, walk = stack[-1]
            try:
                wanted = walk.send(sent)
            except StopIteration as stop:
                known[key_now] = stop.value
                stack.pop()
                sent = stop.value.loss
                continue
            wanted_key = (id(wanted[0]), wanted[1])
            answered = known.get(wanted_key)
            if answered is None:
                stack.append((wanted_key, self._walk(*wanted)))
                sent = None
            else:
                sent = answered.loss
        return known[key]

    def known(self) -> dict[tuple[int, State], Answer]:
        """Every answer found so far, by the identity of the place and the change there."""
        return self._known

    def _walk(self, place: Place, state: State) -> Walk:
        algebra = self.algebra
        if not state:
            return Answer(algebra.zero, (algebra.zero,) * len(place.mechanisms), ())
        own = self._own.get((id(place), state))
        if own is None:
            cost = self._coster.cost
            own = tuple(cost(mechanism, placed, state) for mechanism, placed in place.mechanisms)
            self._own[id(place), state] = own
        choices: list[Choice] = []
        for below in place.derived:
            choices.append((yield from self._along_map(place, below, state)))
        for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
            choices.append((yield from self._split(place, partition, blocks, state)))
        loss = algebra.add([*own, *(choice.loss for choice in choices)])
        return Answer(loss, own, tuple(choices))

    # -- maps ----------------------------------------------------------------------------------

    def _along_map(self, place: Place, below: Place, state: State) -> Walk:
        assert below.edge is not None and below.edge.made_by is not None
        made_by = below.edge.made_by
        push = place.depth in below.levels
        listed = moved(state, made_by, place.traits, push)
        if listed is not None:
            found: list[Choice] = []
            for after in listed:
                fitted = fit(after, place, below, push)
                loss = yield (below, fitted)
                found.append(Choice(loss, (Branch(below, fitted, 1),)))
            return self._worst(found)
        units = single_units(state)
        if len(units) > 1 or units[0][1] > 1:
            return (yield from self._by_units(units, lambda s: self._along_map(place, below, s)))
        # One unit that becomes too many rows to list: bound it by its rows one by one.
        leaf = next(iter(all_leaves(state)))
        found = []
        for unit, rows in extremes(made_by, leaf, place.traits):
            after = one_below(state, push, _become(unit))
            fitted = fit(after, place, below, push)
            loss = yield (below, fitted)
            grouped = self.algebra.chain([(loss, rows)])
            found.append(Choice(grouped, (Branch(below, fitted, 1),), rows > 1, rows))
        return self._worst(found)

    def _by_units(
        self, units: Sequence[tuple[State, int]], search: Callable[[State], Walk]
    ) -> Walk:
        """A bound for several units from the losses of each alone: a path through them."""
        parts: list[tuple[Loss, int]] = []
        branches: list[Branch] = []
        for unit, count in units:
            choice: Choice = yield from search(unit)
            parts.append((choice.loss, count))
            branches.extend(choice.branches)
        alike = units[0][1] if len(units) == 1 else 0
        return Choice(self.algebra.chain(parts), tuple(branches), True, alike)

    def _worst(self, found: Sequence[Choice]) -> Choice:
        """The worst of several possible changes."""
        if len(found) == 1:
            return found[0]
        if isinstance(self.algebra, Scalars):
            return max(found, key=lambda each: each.loss)
        shown = max(found, key=lambda each: self.algebra.key(each.loss))
        loss = self.algebra.worst(each.loss for each in found)
        return shown._replace(loss=loss, bounded=any(each.bounded for each in found))

    # -- partitions ----------------------------------------------------------------------------

    def _split(
        self, place: Place, partition: Partition, blocks: Sequence[Place], state: State
    ) -> Walk:
        found = all_leaves(state)
        shifts = partition.kind is PartitionKind.POSITION and any(
            leaf.kind is not Kind.PAIR for leaf in found
        )
        if shifts or any(leaf.kind is Kind.ANY for leaf in found):
            return (yield from self._everywhere(place, blocks, state))
        if sum(found.values()) == 1:
            (leaf,) = found
            if leaf.kind is Kind.USER:
                return (yield from self._one_user(place, partition, blocks, state, leaf))
            return (yield from self._one_row(place, partition, blocks, state, leaf))
        return (yield from self._several(place, partition, blocks, state))

    def _losses(
        self,
        place: Place,
        blocks: Sequence[Place],
        state: State,
        become: Callable[[Leaf], Leaf | None],
    ) -> Walk:
        """For each class the change in one of its blocks, if units become that, and its loss."""
        states: dict[tuple[int, ...], State] = {}
        out: list[tuple[State, Loss]] = []
        for block in blocks:
            fitted = states.get(block.levels)
            if fitted is None:
                push = place.depth in block.levels
                after = one_below(state, push, become)
                fitted = states[block.levels] = fit(after, place, block, push)
            loss = yield (block, fitted)
            out.append((fitted, loss))
        return out

    def _everywhere(self, place: Place, blocks: Sequence[Place], state: State) -> Walk:
        """Every block may change in any way: their losses add."""

        losses: list[tuple[State, Loss]] = yield from self._losses(place, blocks, state, _unknown)
        sizes = _sizes(blocks)
        total = self.algebra.add(
            self.algebra.times(loss, n) for (_, loss), n in zip(losses, sizes, strict=True)
        )
        branches = tuple(
            Branch(block, after, n)
            for block, (after, _), n in zip(blocks, losses, sizes, strict=True)
        )
        return Choice(total, branches)

    def _one_row(
        self,
        place: Place,
        partition: Partition,
        blocks: Sequence[Place],
        state: State,
        leaf: Leaf,
    ) -> Walk:
        sizes = _sizes(blocks)
        pair = leaf.kind is Kind.PAIR
        once: list[tuple[State, Loss]] = yield from self._losses(place, blocks, state, _one_end)
        both = once
        if pair:
            stays = Leaf(Kind.PAIR, (0, 1), leaf.kept)
            both = yield from self._losses(place, blocks, state, _become(stays))
        rule = _rule(partition, leaf, sizes)
        if self.charge_all:
            return self._all_blocks(blocks, once, both, pair)
        loss, hits = self._apply(rule, [x for _, x in once], [x for _, x in both])
        branches = tuple(
            Branch(blocks[hit.where], (both if hit.both else once)[hit.where][0], hit.blocks)
            for hit in hits
        )
        return Choice(loss, branches)

    def _all_blocks(
        self,
        blocks: Sequence[Place],
        once: Sequence[tuple[State, Loss]],
        both: Sequence[tuple[State, Loss]],
        pair: bool,
    ) -> Choice:
        sizes = _sizes(blocks)
        losses = [
            self.algebra.worst([a[1], b[1]] if pair else [a[1]])
            for a, b in zip(once, both, strict=True)
        ]
        total = self.algebra.add(
            self.algebra.times(loss, n) for loss, n in zip(losses, sizes, strict=True)
        )
        return Choice(total, ())

    def _apply(
        self,
        rule: Callable[[Sequence[Amount], Sequence[Amount]], Allocation],
        once: Sequence[Loss],
        both: Sequence[Loss],
    ) -> tuple[Loss, tuple[Hit, ...]]:
        """An allocation rule on losses; on pairs it is applied to ε and to δ apart.

        Taking the largest of each coordinate covers every change. Where a block has several
        undominated pairs, one way of choosing them is tried for each end of the frontier.
        """
        algebra = self.algebra
        if isinstance(algebra, Scalars):
            return rule(once, both)
        assert isinstance(algebra, Pairs)
        if any(not loss for loss in (*once, *both)):
            # Some block has no finite bound: find out whether it can be hit.
            marks = [Fraction(0) if loss else math.inf for loss in once]
            double = [Fraction(0) if loss else math.inf for loss in both]
            amount, hits = rule(marks, double)
            if amount == math.inf:
                return algebra.none, hits
        pairs: list[tuple[Fraction, Any]] = []
        shown: tuple[Hit, ...] = ()
        for end in (0, -1):
            one = [loss[end] if loss else algebra.zero[0] for loss in once]
            two = [loss[end] if loss else algebra.zero[0] for loss in both]
            epsilon, hits = rule([x for x, _ in one], [x for x, _ in two])
            shown = shown or hits
            delta, _ = rule(
                [_plain(algebra, x) for _, x in one], [_plain(algebra, x) for _, x in two]
            )
            pairs.append((Fraction(epsilon), _wrapped(algebra, Fraction(delta))))
        return algebra.frontier(pairs), shown

    def _one_user(
        self,
        place: Place,
        partition: Partition,
        blocks: Sequence[Place],
        state: State,
        leaf: Leaf,
    ) -> Walk:
        """All rows of one unit, at most `leaf.size` of them, over the blocks."""
        sizes = _sizes(blocks)
        rows = None if leaf.size is None else int(leaf.size)
        copies = _copies_of_a_row(partition)
        hits = None if rows is None else rows * copies
        most = partition.max_blocks_per_unit or sum(sizes)
        if partition.kind is PartitionKind.KEY and partition.column == place.traits.unit:
            most = 1
        most = min(most, sum(sizes), sum(sizes) if hits is None else hits)
        per_block = _least(rows, partition.max_rows_per_block)
        if self.charge_all:
            most, hits = sum(sizes), None

        def holding(size: int | None) -> Walk:
            here = leaf._replace(tags=(0,), size=size)
            return self._losses(place, blocks, state, _become(here))

        full: list[tuple[State, Loss]] = yield from holding(per_block)
        full_losses = [loss for _, loss in full]
        rule = _numbers(lambda losses: allocate.largest(losses, sizes, most))
        loss, chosen = self._apply(rule, full_losses, full_losses)
        branches = tuple(Branch(blocks[h.where], full[h.where][0], h.blocks) for h in chosen)
        coarse = Choice(loss, branches)
        if per_block is None or hits is None or hits >= most * per_block:
            return coarse
        finer: Choice = yield from self._rows_of_user(blocks, holding, (hits, per_block, most))
        best = self.algebra.best([coarse.loss, finer.loss])
        return coarse if best == coarse.loss else finer._replace(loss=best)

    def _rows_of_user(
        self,
        blocks: Sequence[Place],
        holding: Callable[[int | None], Walk],
        limits: tuple[int, int, int],
    ) -> Walk:
        """The worst spread of `hits` row changes: exact where small, else filled greedily."""
        hits, per_block, most = limits
        sizes = _sizes(blocks)
        each: list[tuple[State, Loss]] = yield from holding(1)
        once = [loss for _, loss in each]
        algebra = self.algebra
        if not isinstance(algebra, Scalars):
            worst, chosen = self._apply(_numbers(allocate.value_single), once, once)
            shown = tuple(Branch(blocks[h.where], each[h.where][0], h.blocks) for h in chosen)
            return Choice(algebra.chain([(worst, hits)]), shown, True)
        power = 1 if algebra.notion is Notion.PURE else 2
        loss, filled = allocate.fill(once, sizes, hits, per_block, most, power)
        work = hits * per_block * most * sum(min(n, most, hits) for n in sizes)
        if work <= WORK and loss != math.inf:
            columns: list[list[Amount]] = [[Fraction(0)] for _ in blocks]
            for size in range(1, per_block + 1):
                found = yield from holding(size)
                for column, (_, amount) in zip(columns, found, strict=True):
                    column.append(amount)
            loss = min(loss, allocate.spread(columns, sizes, hits, most))
        branches: list[Branch] = []
        for index, many, rows in filled:
            found = yield from holding(rows)
            branches.append(Branch(blocks[index], found[index][0], many))
        attained = algebra.add(
            algebra.times(self._known[id(b.place), b.state].loss, b.copies) for b in branches
        )
        return Choice(loss, tuple(branches), attained != loss)

    def _several(
        self, place: Place, partition: Partition, blocks: Sequence[Place], state: State
    ) -> Walk:
        """Several units at once: exhaustively where few, else a path through single units."""
        units = single_units(state)
        bound: Choice = yield from self._by_units(
            units, lambda s: self._split(place, partition, blocks, s)
        )
        if self.charge_all:
            return bound
        capped: Choice | None = yield from self._each_block_full(place, partition, blocks, state)
        exact: Choice | None = yield from self._exhaustive(place, partition, blocks, state)
        found = [choice for choice in (bound, capped, exact) if choice is not None]
        if isinstance(self.algebra, Scalars):
            return min(reversed(found), key=lambda choice: choice.loss)
        best = self.algebra.best(choice.loss for choice in found)
        shown = exact or bound
        return Choice(best, shown.branches, exact is None)

    def _each_block_full(
        self, place: Place, partition: Partition, blocks: Sequence[Place], state: State
    ) -> Walk:
        """At most so many blocks are hit, each as if all units hit it."""
        found = all_leaves(state)
        if any(leaf.kind is Kind.USER for leaf in found):
            return None
        ends = sum(len(leaf.tags) * count for leaf, count in found.items())
        hits = ends * _copies_of_a_row(partition)
        full: list[tuple[State, Loss]] = yield from self._losses(place, blocks, state, _same)
        sizes = _sizes(blocks)
        once = full
        if any(leaf.kind is Kind.PAIR for leaf in found):
            # A replaced row may cost less than one of its ends alone.
            once = yield from self._losses(place, blocks, state, _one_end)
            parts = [
                self.algebra.chain([(a[1], 1), (b[1], 1)]) for a, b in zip(full, once, strict=True)
            ]
        else:
            parts = [loss for _, loss in full]
        rule = _numbers(lambda losses: allocate.largest(losses, sizes, hits))
        loss, chosen = self._apply(rule, parts, parts)
        branches = tuple(Branch(blocks[h.where], once[h.where][0], h.blocks) for h in chosen)
        return Choice(loss, branches, True)

    def _exhaustive(
        self, place: Place, partition: Partition, blocks: Sequence[Place], state: State
    ) -> Walk:
        """Every way of assigning every end to blocks; None if there are too many."""
        units = list(islice(occurrences(state), 9))
        if len(units) > 8 or any(leaf.kind is Kind.USER for leaf in units):
            return None
        ends = sum(len(leaf.tags) for leaf in units)
        copies = _copies_of_a_row(partition)
        sizes = _sizes(blocks)
        instances = [index for index, n in enumerate(sizes) for _ in range(min(n, ends * copies))]
        if len(instances) > 12:
            return None
        options: list[list[tuple[Leaf | None, ...]]] = []
        total = 1
        for leaf in units:
            ways = _placements(partition, leaf, instances, WAYS)
            total *= max(1, len(ways))
            if not ways or total > WAYS:
                return None
            options.append(ways)
        losses: dict[tuple[int, tuple[Leaf | None, ...]], tuple[State, Loss]] = {}
        found: list[Choice] = []
        worst: Choice | None = None
        for ways_taken in product(*options):
            branches: list[Branch] = []
            parts: list[Loss] = []
            for position, index in enumerate(instances):
                here = tuple(way[position] for way in ways_taken)
                if not any(here):
                    continue
                known = losses.get((index, here))
                if known is None:
                    block = blocks[index]
                    push = place.depth in block.levels
                    fitted = fit(assigned(state, iter(here), push), place, block, push)
                    loss = yield (block, fitted)
                    known = losses[(index, here)] = (fitted, loss)
                branches.append(Branch(blocks[index], known[0], 1))
                parts.append(known[1])
            choice = Choice(self.algebra.add(parts), tuple(branches))
            if isinstance(self.algebra, Scalars):
                if worst is None or choice.loss > worst.loss:
                    worst = choice
            else:
                found.append(choice)
        return worst if worst is not None else self._worst(found)


# ---------------------------------------------------------------------------------------------
# Helpers on states


def fit(state: State, above: Place, below: Place, pushed: bool) -> State:
    """Forget the levels that nothing at or below `below` speaks of any more."""
    levels = [*above.levels, above.depth] if pushed else list(above.levels)
    if tuple(levels) == below.levels:
        return state
    for depth in range(len(levels) - 1, -1, -1):
        if levels[depth] not in below.levels:
            state = drop_level(state, depth)
    return top_level(state)


def _one_end(leaf: Leaf) -> Leaf:
    return OLD_END


def _become(unit: Leaf) -> Callable[[Leaf], Leaf]:
    return lambda _: unit


def _same(leaf: Leaf) -> Leaf:
    """The unit itself, one block further down."""
    return leaf._replace(tags=_all(leaf), displaced=False)


def _unknown(leaf: Leaf) -> Leaf:
    return ANY._replace(tags=_all(leaf))


def _all(leaf: Leaf) -> tuple[int, ...]:
    return tuple(range(len(leaf.tags)))


def _placements(
    partition: Partition, leaf: Leaf, instances: Sequence[int], limit: int
) -> list[tuple[Leaf | None, ...]]:
    """Every way in which one unit can be in the blocks: for each block what it is there."""
    count = len(instances)
    stays = Leaf(Kind.PAIR, (0, 1), leaf.kept)
    pair = leaf.kind is Kind.PAIR
    together = partition.kind is PartitionKind.POSITION or (
        partition.kind is PartitionKind.KEY and partition.column in leaf.kept
    )
    if together:
        whole = stays if pair else Leaf(Kind.SINGLE, sign=leaf.sign)
        return [tuple(whole if j == i else None for j in range(count)) for i in range(count)]
    sets = _block_sets(partition, instances, limit)
    if not pair:
        here = Leaf(Kind.SINGLE, sign=leaf.sign)
        return [tuple(here if i in chosen else None for i in range(count)) for chosen in sets]
    if len(sets) ** 2 > limit:
        return []
    ways: list[tuple[Leaf | None, ...]] = []
    for before in sets:
        for after in sets:
            way = tuple(
                stays
                if i in before and i in after
                else OLD_END
                if i in before
                else NEW_END
                if i in after
                else None
                for i in range(count)
            )
            if any(way):
                ways.append(way)
    return ways


def _block_sets(partition: Partition, instances: Sequence[int], limit: int) -> list[frozenset[int]]:
    """The sets of blocks in which one row can be."""
    everywhere = range(len(instances))
    if partition.kind is PartitionKind.KINDS:
        assert partition.kinds is not None
        first = {index: position for position, index in reversed(list(enumerate(instances)))}
        return list({frozenset(first[i] for i in fed): None for fed in partition.kinds.values()})
    most = 1
    if partition.kind is PartitionKind.MEMBERSHIP:
        most = min(partition.max_blocks or 1, len(instances))
    sets = (
        frozenset(chosen) for size in range(most + 1) for chosen in combinations(everywhere, size)
    )
    return list(islice(sets, limit + 1))


def _rule(
    partition: Partition, leaf: Leaf, sizes: Sequence[int]
) -> Callable[[Sequence[Amount], Sequence[Amount]], Allocation]:
    """The allocation rule for one row, added, removed or replaced."""
    pair = leaf.kind is Kind.PAIR
    match partition.kind:
        case PartitionKind.POSITION:
            return lambda _, both: allocate.one_block(both, both=True)
        case PartitionKind.KEY if pair and partition.column in leaf.kept:
            return lambda _, both: allocate.one_block(both, both=True)
        case PartitionKind.VALUE | PartitionKind.KEY:
            if pair:
                return lambda once, both: allocate.value_pair(once, both, sizes)
            return lambda once, _: allocate.value_single(once)
        case PartitionKind.MEMBERSHIP:
            most = partition.max_blocks or 1
            if pair:
                return lambda once, both: allocate.membership_pair(once, both, sizes, most)
            return lambda once, _: allocate.membership_single(once, sizes, most)
        case PartitionKind.KINDS:
            assert partition.kinds is not None
            kinds = list(partition.kinds.values())
            if pair:
                return lambda once, both: allocate.kinds_pair(once, both, kinds)
            return lambda once, _: allocate.kinds_single(once, kinds)


def _numbers(
    rule: Callable[[Sequence[Amount]], Allocation],
) -> Callable[[Sequence[Amount], Sequence[Amount]], Allocation]:
    return lambda once, _: rule(once)


def _copies_of_a_row(partition: Partition) -> int:
    """In how many blocks one row can be at most."""
    if partition.kind is PartitionKind.MEMBERSHIP:
        return min(partition.max_blocks or 1, partition.size)
    if partition.kind is PartitionKind.KINDS and partition.kinds is not None:
        return max((len(fed) for fed in partition.kinds.values()), default=0)
    return 1


def _sizes(blocks: Sequence[Place]) -> list[int]:
    out: list[int] = []
    for block in blocks:
        assert block.edge is not None and block.edge.partition is not None
        out.append(block.edge.partition.classes[block.edge.block].multiplicity)
    return out


def _least(first: int | None, second: int | None) -> int | None:
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


def _plain(algebra: Pairs, delta: Any) -> Fraction:
    """δ as a number that adds up: itself, or -ln(1-δ) rounded up."""
    if not algebra.survival:
        return Fraction(delta)
    from dpcompose.core.exact import log_inverse_up

    return log_inverse_up(delta.stay)


def _wrapped(algebra: Pairs, number: Fraction) -> Any:
    if not algebra.survival:
        return number
    return Survival(1 / exp_up(number)) if number else Survival(Fraction(1))


# ---------------------------------------------------------------------------------------------
# Roots


def initial(root: Root, top: Place, goal: Goal) -> State:
    """The change that `goal` makes in a root."""
    relation = goal.relation
    steps = goal.distance
    name = None
    if relation.kind is RelationKind.DECLARED:
        assert relation.within is not None
        name, inside, relation = relation.name, relation.distance, relation.within
    leaf = _step_leaf(root, relation.kind, tuple(sorted(relation.keeps)))
    if name is None:
        if STEP in top.levels:
            return ((Item(Leaf(Kind.DECLARED), ((leaf_item(leaf), 1),)), steps),)
        return ((leaf_item(leaf), steps),)
    if STEP not in top.levels:
        return ((leaf_item(outermost(leaf)), steps * inside),)
    step = Leaf(Kind.DECLARED, (0,), (name,)) if name else Leaf(Kind.DECLARED)
    tags = (0, 0) if len(leaf.tags) == 2 else (0,)
    return ((Item(step, ((leaf_item(leaf._replace(tags=tags)), inside),)), steps),)


def _step_leaf(root: Root, kind: RelationKind, keeps: tuple[str, ...]) -> Leaf:
    table = root.domain is not Domain.GRAPH
    match kind:
        case RelationKind.UNBOUNDED if table:
            return Leaf(Kind.SINGLE)
        case RelationKind.BOUNDED if table:
            return Leaf(Kind.PAIR, (0, 1), keeps)
        case RelationKind.USER if table and root.unit is not None:
            return Leaf(Kind.USER)
        case RelationKind.EDGE if not table:
            return Leaf(Kind.EDGE)
        case RelationKind.NODE if not table:
            return Leaf(Kind.NODE)
        case RelationKind.NODE_REWIRED if not table:
            return Leaf(Kind.NODE_REWIRED)
        case _:
            return ANY
