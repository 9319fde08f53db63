"""The worst change with the mechanisms it reaches, and the reasoning as numbered sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from dpcompose.core.change.partitions.whereabouts import InOne
from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.loss.walk import Choice
from dpcompose.core.model.problem import Partition, Path, Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import MOST, Cost, Proof, change_at
from dpcompose.core.search.solver import ChangeCharge, Solution, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import BOOK, in_role
from dpcompose.errors import Span
from dpcompose.report import At, Bound, Line, Touch, WorstChange, wording

SpanOf = Callable[[Path], Span]


# ---------------------------------------------------------------------------------------------
# The worst change


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
            charge.visit.place.dataset.name,
            charge.visit.copies * charge.mechanism.count,
            bound_of(solution.one_copy(charge)),
            bound_of(solution.share(charge)),
            span(charge.mechanism.path),
        )
        for charge in solution.felt[:MOST]
    )
    datasets = dict.fromkeys(visit.place.dataset.name for visit in solution.visits)
    return WorstChange(tuple(says), tuple(datasets), touches, max(0, len(solution.felt) - MOST))


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


def touched_by(felt: Iterable[ChangeCharge]) -> Counter[tuple[str, str, str]]:
    """Returns how often a change reaches each mechanism, by name, dataset and change."""
    found: Counter[tuple[str, str, str]] = Counter()
    for each in felt:
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


# ---------------------------------------------------------------------------------------------
# The reasoning in numbered sentences


def chain(proof: Proof, span: SpanOf) -> tuple[Line, ...]:
    """Returns a proof as numbered sentences, each with its theorem, premises and spec positions:
    the change, each mechanism's cost, the sum, the theorem."""
    problem, solution = proof.problem, proof.solution
    lines: list[Line] = []

    def add(
        theorem: str | None,
        says: str,
        inputs: Sequence[int] = (),
        bound: Bound | None = None,
        paths: Sequence[Path] = (),
    ) -> int:
        """Appends one sentence with its theorem; returns its number. `inputs`: the numbers of the
        sentences that it follows from."""
        number = len(lines) + 1
        lines.append(Line(number, theorem, says, tuple(inputs), bound, tuple(map(span, paths))))
        return number

    last: list[int] = []
    for visit in solution.visits:
        theorem, place = proof.theorems[id(visit)], visit.place
        says = _arrival(visit)
        if says is not None:
            above = last if place.edge is not None else []
            last = [add(theorem, says, above, None, [place.dataset.path])]
        for partition, _, text in splits(visit):
            how = partition.kind.describe()
            says = f"`{partition.name}` splits `{place.dataset.name}` {how}: {text}"
            last = [add(None, says, last, None, [partition.path])]
    premises = [*last]
    for below in (each for places in proof.unchanged.values() for each in places):
        says = f"`{below.dataset.name}`: {wording.unchanged_text(below)}"
        premises.append(add(in_role(Role.KEPT).id, says, (), None, [below.dataset.path]))
    for cost in proof.costs.values():
        bound = None if cost.bound is None else bound_of(cost.bound)
        path = cost.used[0].statement.path
        premises.append(add(cost.theorem, _cost(proof, cost), (), bound, [path]))
    if proof.left:
        says = f"{proof.left} more touches of mechanisms, in the same way"
        bound = None if proof.rest is None else bound_of(proof.rest)
        premises.append(add(None, says, (), bound))
    for post in problem.post_processing[:MOST]:
        says = f"`{post.name}` uses only released outputs ({wording.listing(post.inputs)}): free"
        premises.append(add(in_role(Role.POST_PROCESSING).id, says, (), None, [post.path]))
    for says, theorem, paths in concurrent(problem, solution.notion):
        premises.append(add(theorem, says, (), None, paths))
    total = bound_of(solution.quantities[0])
    whole = add(proof.composed, _sum(proof, total.notion.facts.unit), premises, total)
    if proof.cited != proof.composed:
        entry = BOOK[proof.cited]
        says = f"{entry.place} ({entry.title}) gives the same bound: {entry.formula}"
        add(proof.cited, says, [whole], total)
    return tuple(lines)


def concurrent(problem: Problem, notion: Notion) -> Iterator[tuple[str, str, tuple[Path, ...]]]:
    """Yields the sentence on mechanisms that are open at the same time, its theorem, and their
    paths; nothing if all answer once."""
    found = problem.interactive
    if found:
        verb = "answers" if len(found) == 1 else "answer"
        says = f"{wording.listing(found)} {verb} questions in any order, between those to others"
        yield f"{says}: the same sum", in_role(Role.CONCURRENT, notion).id, tuple(found.values())


def _arrival(visit: Visit) -> str | None:
    """Returns the sentence on the change of a root, or of what a map makes; None for a block."""
    dataset, edge = visit.place.dataset, visit.place.edge
    if edge is None:
        return f"the protected change in `{dataset.name}`: {wording.change(visit.state)}"
    if edge.made_by is None:
        return None
    says = f"`{dataset.name}` is {edge.made_by.describe()} of `{edge.parent.dataset.name}`"
    says += f": at worst {wording.change(change_at(visit))}"
    if visit.place.above is not None and edge.made_by.conduct().random:
        says += "; what is drawn is part of the one release that depends on it"
    return says


def _cost(proof: Proof, cost: Cost) -> str:
    """Returns the sentence on what one mechanism loses for the worst change, and by which
    theorem."""
    notion, mechanism, visit = proof.solution.notion, cost.charge.mechanism, cost.charge.visit
    statement, place = cost.used[0].statement, visit.place
    says = (
        f"`{mechanism.name}` is {wording.guarantee(statement.guarantee)} for "
        f"{statement.relation.neighbours} of `{place.stated_on(statement).dataset.name}`"
    )
    if len(cost.used) > 1:
        says += f" (and {len(cost.used) - 1} more guarantees)"
    if cost.steps:
        reach = "" if not statement.up else f" that reaches `{place.dataset.name}`"
        says += f"; the change{reach} takes {wording.steps(cost.steps, statement.relation)}"
    if statement.guarantee.notion is not notion:
        says += f"; read as {notion.facts.words}"
    if mechanism.count > 1:
        says += f"; {wording.count_text(mechanism.count)} copies"
    draws = draws_of(place)
    if draws > 1:
        says += f"; in each of {wording.count_text(draws)} draws of the sample"
    if visit.copies > draws:
        says += f"; on each of {wording.count_text(visit.copies // draws)} blocks"
    return says


def _sum(proof: Proof, units: str) -> str:
    """Returns the sentence on how the losses of the mechanisms add up to the bound; `units`: words
    for what they are counted in."""
    solution = proof.solution
    if not solution.felt:
        return "no mechanism feels the change: nothing is lost"
    says = f"the {units} of the mechanisms that feel the change add up"
    if solution.bounded:
        return (
            f"{says}; several units of change are bounded by group privacy, as a path of single "
            "ones"
        )
    if solution.sampled and solution.loss != solution.added_up():
        says += "; what reads one draw of a sample adds up first, and ε becomes "
        says += f"ln(1 + q(e^ε - 1)) for each draw{amplified_too(proof, '')}"
    return f"{says}; no other change is worse"


def amplified_too(proof: Proof, to: str) -> str:
    """Returns the words after the ε of a sample, where `to` is the ε for some of its rows."""
    says = ", with q = 1/2 for a row drawn of its key" if proof.cites(Role.DISPLACED) else ""
    if proof.cites(Role.SAMPLE_ADDED):
        says += f", or {to}-ln(1 - q + q·e^-ε) where the row is added"
    return says


def with_all_above(visits: Iterable[Visit]) -> set[int]:
    """Returns the identities of visits and of all visits above them."""
    found: set[int] = set()
    for visit in visits:
        each: Visit | None = visit
        while each is not None and id(each) not in found:
            found.add(id(each))
            each = each.above
    return found


def draws_of(place: Place) -> int:
    """Returns how many independent draws a place stands for: the product of the numbers of draws of
    all samples above it."""
    draws, edge = 1, place.edge
    while edge is not None:
        draws, edge = draws * edge.rounds, edge.parent.edge
    return draws


def profile_chain(at: At) -> tuple[Line, ...]:
    """Returns the reasoning for a number at a chosen δ or ε, as numbered sentences."""
    lines = [
        Line(number, None, says, (number - 1,) if number > 1 else (), None, ())
        for number, says in enumerate([*at.worst, *at.chain[:-1]], start=1)
    ]
    number = len(lines) + 1
    inputs = tuple(range(1, number))
    return (*lines, Line(number, in_role(Role.PROFILES).id, at.chain[-1], inputs, None, ()))
