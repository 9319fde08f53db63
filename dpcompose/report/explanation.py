"""The worst change in sentences, with the mechanisms that it reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from dpcompose.core.change.partitions.whereabouts import InOne
from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.loss.visits import Visit
from dpcompose.core.loss.walk import Choice
from dpcompose.core.model.problem import Partition
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.search.solver import ChangeCharge, Solution
from dpcompose.report import SpanOf, Touch, WorstChange, wording

#: So many mechanisms are written out; the others are counted together.
MOST = 200


def worst_change(solution: Solution, span: SpanOf) -> WorstChange:
    """Returns the worst change as sentences, with the mechanisms that it reaches and their losses:
    of one copy, and of all copies and blocks.

    `span`: gives the position of a path in the file.
    """
    says: list[str] = []
    for visit in solution.visits:
        if visit.place.edge is None:
            says.append(f"in `{visit.place.dataset.name}`: {wording.change(visit.state)}")
        says.extend(_descent(visit))
    touches = tuple(
        Touch(
            charge.mechanism.name,
            charge.place.dataset.name,
            charge.visit.copies * charge.mechanism.count,
            bound_of(solution.one_copy(charge)),
            bound_of(solution.share(charge)),
            span(charge.mechanism.path),
        )
        for charge in solution.charges[:MOST]
    )
    datasets = dict.fromkeys(visit.place.dataset.name for visit in solution.visits)
    return WorstChange(tuple(says), tuple(datasets), touches, max(0, len(solution.charges) - MOST))


def _descent(visit: Visit) -> Iterator[str]:
    """Yields one sentence for each map and each partition below a dataset through which its change
    passes."""
    for choice in visit.answer.choices[: len(visit.place.derived)]:
        after = next((branch for branch in choice.branches if branch.state), None)
        if after is not None:
            units = f" (at most {wording.count_text(choice.units)} such units)"
            yield f"in `{after.place.dataset.name}`: {wording.change(after.state)}" + (
                units if choice.units > 1 else ""
            )
    for _, choice, says in splits(visit):
        units = f" (for each of {wording.count_text(choice.units)} such units)"
        yield says + (units if choice.units > 1 else "")


def touched_by(charges: Iterable[ChangeCharge]) -> Counter[tuple[str, str, str]]:
    """Returns how often a change reaches each mechanism, by name, dataset and change."""
    found: Counter[tuple[str, str, str]] = Counter()
    for each in charges:
        visit = each.visit
        key = (each.mechanism.name, visit.place.dataset.name, wording.change(visit.state))
        found[key] += visit.copies * each.mechanism.count
    return found


def splits(visit: Visit) -> Iterator[tuple[Partition, Choice, str]]:
    """Yields for each partition of a changed dataset the worst choice of blocks, and a sentence on
    it."""
    place = visit.place
    choices = visit.answer.choices[len(place.derived) :]
    for partition, choice in zip(place.dataset.partitions, choices, strict=False):
        reached = [(b.place, b.state, b.copies) for b in choice.branches if b.state]
        if reached:
            yield partition, choice, _partition_change(partition, visit.state, reached)


def _partition_change(
    partition: Partition, before: State, reached: Sequence[tuple[Place, State, int]]
) -> str:
    """Returns a sentence on what one change of a dataset does to the blocks of its partition.

    `before`: the change of the dataset; `reached`: the changed blocks, each with its change and how
    many equal blocks it stands for.
    """
    found = all_leaves(before)
    alone = sum(found.values()) == 1
    kind = next(iter(found)).kind
    moves: list[tuple[Place, int, Kind | None]] = []  # the kind is that of exactly one unit
    for place, state, copies in reached:
        units = all_leaves(state)
        one = next(iter(units)).kind if sum(units.values()) == 1 else None
        moves.append((place, copies, one))
    if alone and kind is Kind.PAIR and all(what is not None for _, _, what in moves):
        return _replaced_row(partition, moves)
    if alone and kind is Kind.SINGLE and all(what is Kind.SINGLE for _, _, what in moves):
        names = _names(moves)
        return f"the row is in {names} of `{partition.name}`"
    parts = [
        f"{_one_name(place, copies)}: {wording.change(state)}"
        for place, state, copies in reached[: wording.NAMES]
    ]
    more = len(reached) - len(parts)
    return f"in `{partition.name}`, " + "; ".join(parts) + (f"; {more} more" if more else "")


def _replaced_row(partition: Partition, moves: Sequence[tuple[Place, int, Kind | None]]) -> str:
    """Returns a sentence on where a replaced row goes: it stays, moves between blocks, enters or
    leaves.

    `moves`: for each block its place, the number of equal blocks, and the kind of change there.
    """
    stays = [(place, copies, what) for place, copies, what in moves if what is Kind.PAIR]
    ends = [(place, copies, what) for place, copies, what in moves if what is Kind.SINGLE]
    name = f"`{partition.name}`"
    if not ends:
        return f"the row is replaced within {_names(stays)} of {name}"
    if len(ends) == 2 and ends[0][0] is ends[1][0]:
        ends = [(ends[0][0], ends[0][1] + ends[1][1], Kind.SINGLE)]
    disjoint = isinstance(partition.kind.where(()), InOne)
    if disjoint and sum(copies for _, copies, _ in ends) == 2 and not stays:
        if len(ends) == 2:
            first, second = (_one_name(place, copies) for place, copies, _ in ends)
            return f"the row moves from {first} to {second} of {name}"
        return f"the row moves from one block to another: {_names(ends)} of {name}"
    if disjoint and not stays:
        return f"the row moves between {_names(ends)} of {name} and outside the blocks"
    text = f"the row enters or leaves {_names(ends)} of {name}"
    return text + (f", and is in {_names(stays)} before and after" if stays else "")


def _names(moves: Sequence[tuple[Place, int, Kind | None]]) -> str:
    """Returns the names of blocks as a phrase: `block south and 3 of 40 equal blocks`."""
    parts: list[str] = []
    single: list[str] = []
    for place, copies, _ in moves:
        edge = place.edge
        assert edge is not None and edge.partition is not None
        names = edge.partition.classes[edge.block].names
        if len(names) == copies and copies == 1:
            single.append(str(names[0]))
        else:
            parts.append(wording.blocks(names, copies))
    if single:
        parts.insert(0, ("block " if len(single) == 1 else "blocks ") + wording.listing(single))
    return " and ".join(parts)


def _one_name(place: Place, copies: int) -> str:
    """Returns the name of one block; where it stands for equal blocks, the phrase for `copies` of
    them."""
    return _names([(place, copies, None)])
