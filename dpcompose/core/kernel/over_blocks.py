"""The rules that bound the loss over the blocks of a partition (theory, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from dpcompose.core.change.effects import single
from dpcompose.core.change.propagation import assigned, become, one_below
from dpcompose.core.change.units import (
    ANY,
    NEW_END,
    OLD_END,
    ChangeUnit,
    Kind,
    State,
    all_leaves,
    equal_rows,
    occurrences,
    with_rows,
)
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.loss.walk import Branch, Choice, How, LossRules, fit, worst_of
from dpcompose.core.model.problem import Partition
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.partitions.blocks_touched import RowsOverBlocks
from dpcompose.core.partitions.placements import any_blocks, copies_of_a_row, placements, rule_for
from dpcompose.core.theorem import Refused, Role

#: The most ways of assigning several units to blocks for which the search is exhaustive.
WAYS = 6_000


@dataclass(frozen=True, slots=True)
class OverBlocks(LossRules):
    """The rules that bound the loss of a change over the blocks of one partition.

    `place`: the dataset that is split; `blocks`: a place for each class of equal blocks.
    """

    algebra: LossAlgebra
    place: Place
    partition: Partition
    blocks: Sequence[Place]

    @property
    def sizes(self) -> list[int]:
        """Returns how many blocks each class has."""
        return [each.multiplicity for each in self.partition.classes]

    @property
    def by_name(self) -> Mapping[str, Callable[[State], Walk]]:
        """Returns the rules that combine no other rules, by their names in certificates."""
        return {
            "everywhere": self.everywhere,
            "one row": self.one_row,
            "one unit's rows": self.one_user,
            "all in each block": self.each_block_full,
            "every way": self.exhaustive,
            "so many rows": self.equal_rows,
        }

    def anywhere(self, state: State) -> bool:
        """Returns whether the change of the table may change every block in any way."""
        found = all_leaves(state)
        shifts = self.partition.kind.assignment().shifts and any(
            leaf.kind is not Kind.PAIR for leaf in found
        )
        return shifts or any(leaf.kind is Kind.ANY for leaf in found)

    def few_for(self, state: State) -> bool:
        """Returns whether no more blocks are read than the change has ends of rows."""
        ends = sum(len(leaf.ends) * count for leaf, count in all_leaves(state).items())
        read = (n for block, n in zip(self.blocks, self.sizes, strict=True) if block.read)
        return sum(read) <= ends

    def _one(self, state: State, user: bool) -> ChangeUnit:
        """Returns the only unit of the change; `Refused` if there are others, or of the wrong sort.

        `user`: whether the unit must be all rows of a privacy unit.
        """
        found = all_leaves(state)
        if self.anywhere(state) or found.total() != 1:
            raise Refused("it is for one unit that is followed to its blocks")
        (leaf,) = found
        if (leaf.kind is Kind.USER) is not user:
            raise Refused("it is for another kind of unit")
        return leaf

    def _rows(self, state: State) -> None:
        """Raises `Refused` unless the change is of single rows, each of which is in known
        blocks."""
        if self.anywhere(state) or any(leaf.kind is Kind.USER for leaf in all_leaves(state)):
            raise Refused("it is for rows that are followed to their blocks")

    def _losses(self, state: State, become: Callable[[ChangeUnit], ChangeUnit | None]) -> Walk:
        """Requests the loss of one block of each class, and returns (change of the block, loss) for
        each.

        `become`: returns what a unit of the change is in a block; None: it is not there.
        """
        states: dict[tuple[tuple[int, ...], bool], State] = {}
        out: list[tuple[State, Loss]] = []
        for block in self.blocks:
            alike = block.levels, block.leans
            fitted = states.get(alike)
            if fitted is None:
                trace_here = self.place.depth in block.levels
                after = one_below(state, trace_here, become)
                fitted = states[alike] = fit(after, self.place, block, trace_here)
            loss = yield (block, fitted)
            out.append((fitted, loss))
        return out

    def everywhere(self, state: State) -> Walk:
        """Bounds the loss by the sum over all blocks, each of which may change in any way."""
        losses: list[tuple[State, Loss]] = yield from self._losses(state, _unknown)
        sizes = self.sizes
        total = self.algebra.add(
            self.algebra.times(loss, n, Role.GENERAL)
            for (_, loss), n in zip(losses, sizes, strict=True)
        )
        branches = tuple(
            Branch(block, after, n)
            for block, (after, _), n in zip(self.blocks, losses, sizes, strict=True)
        )
        return Choice(total, branches, how=How("everywhere"))

    def one_row(self, state: State) -> Walk:
        """Bounds the loss of one row added, removed or replaced, by the blocks that it can be in.

        A replaced row is removed from one block and added to another; the two losses are asked for
        separately where they may differ, and both orders of the tables are covered.
        """
        leaf = self._one(state, user=False)
        sizes = self.sizes
        pair = leaf.kind is Kind.PAIR
        end = self._directed(OLD_END) if pair else single(leaf)
        once: list[tuple[State, Loss]] = yield from self._losses(state, become(end))
        both, new = once, None
        if pair:
            if self.place.leans:
                new = yield from self._losses(state, become(self._directed(NEW_END)))
            stays = ChangeUnit(Kind.PAIR, (0, 1), leaf.kept)
            both = yield from self._losses(state, become(stays))
        rule = rule_for(self.partition, leaf, sizes)
        old, whole = [x for _, x in once], [x for _, x in both]
        entered = None if new is None else [x for _, x in new]
        loss, hits = self.algebra.worst_blocks(rule, old, whole, entered)
        branches = []
        for hit in hits:
            found = both if hit.both else new if new is not None and hit.new else once
            branches.append(Branch(self.blocks[hit.where], found[hit.where][0], hit.blocks))
        return Choice(loss, tuple(branches), how=How("one row"))

    def _directed(self, end: ChangeUnit) -> ChangeUnit:
        """Returns an end of a replaced row, with its direction where the loss depends on it."""
        return end._replace(directed=self.place.leans)

    def one_user(self, state: State) -> Walk:
        """Bounds the loss of all rows of one privacy unit over the blocks, given their largest
        number."""
        leaf = self._one(state, user=True)
        sizes = self.sizes
        rows = None if leaf.size is None else int(leaf.size)
        copies = copies_of_a_row(self.partition)
        hits = None if rows is None else rows * copies
        most = self.partition.kind.blocks_of_unit(self.place.traits.unit)
        if most is None:
            most = self.partition.max_blocks_per_unit or sum(sizes)
        most = min(most, sum(sizes), sum(sizes) if hits is None else hits)
        per_block = _smaller_or_other(rows, self.partition.max_rows_per_block)

        def holding(size: int | None) -> Walk:
            here = leaf._replace(ends=(0,), size=size)
            return self._losses(state, become(here))

        full: list[tuple[State, Loss]] = yield from holding(per_block)
        full_losses = [loss for _, loss in full]
        rule = any_blocks(sizes, most)
        loss, chosen = self.algebra.worst_blocks(rule, full_losses, full_losses, None)
        branches = tuple(Branch(self.blocks[h.where], full[h.where][0], h.blocks) for h in chosen)
        coarse = Choice(loss, branches, how=How("one unit's rows"))
        if per_block is None or hits is None or hits >= most * per_block:
            return coarse
        # Not all blocks can be full at once.
        coarse = coarse._replace(loss=self.algebra.from_above(loss))
        rows_here = RowsOverBlocks(self.blocks, sizes, holding, hits, per_block, most)
        finer: Choice = yield from self.algebra.spread_rows(rows_here)
        best = self.algebra.best([coarse.loss, finer.loss])
        return coarse if best == coarse.loss else finer._replace(loss=best, how=coarse.how)

    def equal_rows(self, state: State) -> Walk:
        """Bounds the loss of many rows, all added or all removed, by how many of them are in each
        block."""
        self._rows(state)
        rows = equal_rows(state)
        if rows is None or self.algebra.notion.facts.power is None:
            raise Refused("it is for rows that are all added or all removed, in one number")
        hits = rows * copies_of_a_row(self.partition)
        most = min(hits, self.partition.size)

        def holding(size: int) -> Walk:
            return self._losses(with_rows(state, size), _same)

        rows_here = RowsOverBlocks(self.blocks, self.sizes, holding, hits, rows, most)
        found: Choice = yield from self.algebra.spread_rows(rows_here)
        return found._replace(how=How("so many rows"))

    def each_block_full(self, state: State) -> Walk:
        """Bounds the loss by that of the worst blocks that the rows can be in, each as if all rows
        were in it."""
        self._rows(state)
        found = all_leaves(state)
        ends = sum(len(leaf.ends) * count for leaf, count in found.items())
        hits = ends * copies_of_a_row(self.partition)
        full: list[tuple[State, Loss]] = yield from self._losses(state, _same)
        sizes = self.sizes
        once = full
        mixed = len({leaf.sign for leaf in found if leaf.kind is Kind.SINGLE}) > 1
        if mixed or any(leaf.kind is Kind.PAIR for leaf in found):
            # A replaced row, or one removed and one added, may cost less than one end alone.
            once = yield from self._losses(state, become(OLD_END))
            parts = [
                self.algebra.chain([(a[1], 1), (b[1], 1)]) for a, b in zip(full, once, strict=True)
            ]
        else:
            parts = [loss for _, loss in full]
        rule = any_blocks(sizes, hits)
        loss, chosen = self.algebra.worst_blocks(rule, parts, parts, None)
        branches = tuple(Branch(self.blocks[h.where], once[h.where][0], h.blocks) for h in chosen)
        return Choice(loss, branches, True, how=How("all in each block"))

    def exhaustive(self, state: State, allowed: Callable[[int], bool] | None = None) -> Walk:
        """Bounds the loss of several rows by the largest over all ways of assigning them to blocks.

        `allowed`: returns whether a number of ways may be listed; `Refused` if there are more.
        """
        self._rows(state)
        units = list(islice(occurrences(state), 9))
        if len(units) > 8:
            raise Refused("there are too many ways")
        ends = sum(len(leaf.ends) for leaf in units)
        copies = copies_of_a_row(self.partition)
        sizes = self.sizes
        # A block that nobody reads counts as outside, unless a row is in a set of blocks.
        where = self.partition.kind.where
        whole = where(()).whole
        instances = [
            index
            for index, n in enumerate(sizes)
            if whole or self.blocks[index].read
            for _ in range(min(n, ends * copies))
        ]
        if len(instances) > 12:
            raise Refused("there are too many ways")
        # Rows of unknown direction may go with an end or against it; and with the directions of all
        # rows there would be too many patterns.
        directed = (
            self.place.leans
            and self.algebra.notion is not Notion.PROFILE
            and all(leaf.directed or leaf.kind is not Kind.SINGLE for leaf in units)
        )
        options: list[list[tuple[ChangeUnit | None, ...]]] = []
        total = 1
        for leaf in units:
            ways = placements(where(leaf.kept), leaf, instances, WAYS)
            if directed and leaf.kind is Kind.PAIR:
                ways = [tuple(map(_as_said, way)) for way in ways]
            total *= max(1, len(ways))
            if not ways or total > WAYS:
                raise Refused("there are too many ways")
            options.append(ways)
        if allowed is not None and not allowed(total):
            raise Refused("there are more ways than are looked at")
        losses: dict[tuple[int, tuple[ChangeUnit | None, ...]], tuple[State, Loss]] = {}
        found: list[Choice] = []
        for ways_taken in product(*options):
            branches: list[Branch] = []
            parts: list[Loss] = []
            for position, index in enumerate(instances):
                here = tuple(way[position] for way in ways_taken)
                if not any(here):
                    continue
                known = losses.get((index, here))
                if known is None:
                    block = self.blocks[index]
                    trace_here = self.place.depth in block.levels
                    fitted = fit(
                        assigned(state, iter(here), trace_here), self.place, block, trace_here
                    )
                    loss = yield (block, fitted)
                    known = losses[(index, here)] = (fitted, loss)
                branches.append(Branch(self.blocks[index], known[0], 1))
                parts.append(known[1])
            found.append(Choice(self.algebra.add(parts), tuple(branches)))
        return worst_of(self.algebra, found)._replace(how=How("every way"))


def _as_said(leaf: ChangeUnit | None) -> ChangeUnit | None:
    """Returns the old or the new row of a replacement, if alone in a block, as a row with its
    direction."""
    return leaf._replace(directed=True) if leaf is not None and leaf.kind is Kind.SINGLE else leaf


def _same(leaf: ChangeUnit) -> ChangeUnit:
    """Returns the unit of change as it is in a block."""
    return leaf._replace(ends=_all(leaf), displaced=False)


def _unknown(leaf: ChangeUnit) -> ChangeUnit:
    return ANY._replace(ends=_all(leaf))


def _all(leaf: ChangeUnit) -> tuple[int, ...]:
    return tuple(range(len(leaf.ends)))


def _smaller_or_other(first: int | None, second: int | None) -> int | None:
    """Returns the smaller of two numbers; if one is None (unknown), the other one."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)
