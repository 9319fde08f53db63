"""The pipeline of a spec as a forest of nodes, with the path of the worst change on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dpcompose.core.model.problem import (
    BlockClass,
    Dataset,
    Domain,
    Mechanism,
    Partition,
    Path,
    Problem,
    Root,
)
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.search.proof import Proof, change_at
from dpcompose.core.search.solver import ChangeCharge, Visit
from dpcompose.errors import Span
from dpcompose.report import At, PipelineKind, PipelineNode, Share, TouchCount, wording
from dpcompose.report.explanation import splits, with_all_above
from dpcompose.report.proof_tree import (
    Charged,
    charged,
    same_reach,
    split_words,
    stated,
)

SpanOf = Callable[[Path], Span]
#: So many children of one kind are drawn below a node; those that the change reaches come first.
_MOST_CHILDREN = 12
#: From so many nodes on, only what the change reaches is drawn; and so many at most.
_MANY, _MOST = 250, 500
#: Blocks that are alike are named up to so many.
_MOST_NAMED = 3
#: The kinds of roots that are not plain tables.
_DOMAINS = {
    Domain.FIXED_SIZE: "a table of public size",
    Domain.ORDERED: "an ordered table",
    Domain.GRAPH: "a graph",
}


class _Reach(NamedTuple):
    """What the worst change reaches: words for each dataset and partition, charges by mechanism.

    The keys are identities of datasets and partitions. `passed`: datasets on the way. A mechanism
    that is reached may have no charges, where the path of the change is not known. `ranks`: of
    mechanisms by name, those that cost most first.
    """

    passed: frozenset[int] = frozenset()
    changes: Mapping[int, str] = MappingProxyType({})
    charges: Mapping[tuple[int, str], Sequence[ChangeCharge]] = MappingProxyType({})
    ranks: Mapping[str, int] = MappingProxyType({})

    def reaches(self, dataset: Dataset) -> bool:
        """Returns whether the change reaches a dataset."""
        return id(dataset) in self.passed


def of_solution(proof: Proof, shares: Iterable[Share], span: SpanOf) -> tuple[PipelineNode, ...]:
    """Returns the pipeline with the worst change of a solution, and what each mechanism loses.

    `shares`: the costs of mechanisms, the largest first: these are drawn where not all are.
    """
    solution = proof.solution

    def cost(found: Sequence[ChangeCharge]) -> Charged:
        """Returns the cost of a mechanism on a dataset, over all draws of a sample together."""
        first, *others = found
        known = proof.costs.get(id(first))
        told = stated(first) if known is None else charged(proof, known)
        if known is not None and not others:
            return told
        whole: Quantity = solution.share(first)
        for each in others:
            whole = whole.plus(solution.share(each))
        return told._replace(bound=bound_of(whole))

    ranks = {each.mechanism: rank for rank, each in enumerate(shares)}
    reach = _reach(solution.visits, solution.felt)._replace(ranks=ranks)
    return _written(proof.problem, span, reach, cost)


def of_profile(
    problem: Problem,
    shown: tuple[Sequence[Visit], Sequence[ChangeCharge]],
    first: At,
    span: SpanOf,
) -> tuple[PipelineNode, ...]:
    """Returns the pipeline with the worst change at a point; mechanisms have no cost of their own.

    `shown`: an example change. Where the worst change at the `first` point is another one, only
    what it reaches is marked.
    """
    same = same_reach(first, shown[1])
    reach = _reach(*shown) if same else _reach_by_name(problem, first.touched)
    return _written(problem, span, reach, lambda found: stated(found[0]))


def without_change(problem: Problem, span: SpanOf) -> tuple[PipelineNode, ...]:
    """Returns the pipeline alone, where there is no finite bound."""
    return _written(problem, span, _Reach(), lambda found: stated(found[0]))


def _reach_by_name(problem: Problem, touched: Iterable[TouchCount]) -> _Reach:
    """Returns what a change reaches, given the names of mechanisms and datasets alone."""
    above: dict[int, Dataset] = {}
    named: dict[str, Dataset] = {}
    for dataset in problem.datasets():
        named.setdefault(dataset.name, dataset)
        below = [each.dataset for split in dataset.partitions for each in split.classes]
        above.update((id(each), dataset) for each in (*dataset.derived, *below))
    passed: set[int] = set()
    changes: dict[int, str] = {}
    charges: dict[tuple[int, str], Sequence[ChangeCharge]] = {}
    for touch in touched:
        each = named.get(touch.dataset)
        if each is None:
            continue
        changes[id(each)] = touch.meets
        charges[id(each), touch.mechanism] = ()
        while each is not None and id(each) not in passed:
            passed.add(id(each))
            each = above.get(id(each))
    return _Reach(frozenset(passed), changes, charges)


def _reach(visits: Sequence[Visit], felt: Iterable[ChangeCharge]) -> _Reach:
    """Returns what a change reaches, from its visits and the mechanisms that feel it."""
    charges: dict[tuple[int, str], list[ChangeCharge]] = {}
    for charge in felt:
        key = id(charge.visit.place.dataset), charge.mechanism.name
        charges.setdefault(key, []).append(charge)
    on_the_way = with_all_above(each.visit for found in charges.values() for each in found)
    passed: set[int] = set()
    words: dict[int, dict[str, int]] = {}
    says: dict[int, str] = {}
    for visit in visits:
        if id(visit) not in on_the_way:
            continue
        dataset, edge = visit.place.dataset, visit.place.edge
        passed.add(id(dataset))
        told = words.setdefault(id(dataset), {})
        above = 1 if visit.above is None else visit.above.copies
        # In another dataset than a root it is plain whose unit it is.
        text = wording.change(change_at(visit)).replace(" of one unit", "", visit.above is not None)
        if edge is not None and edge.partition is None and visit.via and visit.via.units > 1:
            text += f", {wording.count_text(visit.via.units)} times"
        told[text] = told.get(text, 0) + visit.copies // above
        for each_between in () if edge is None else edge.through:
            passed.add(id(each_between))
            says[id(each_between)] = "followed together with the maps below"
        for partition, choice, sentence in splits(visit):
            says.setdefault(id(partition), split_words(partition, choice, sentence))
    for visit in visits:
        told = words.get(id(visit.place.dataset), {})
        says.setdefault(id(visit.place.dataset), _together(told, visit))
    return _Reach(frozenset(passed), says, charges)


def _together(told: Mapping[str, int], visit: Visit) -> str:
    """Returns the changes of one dataset in words; of equal blocks in how many of them."""
    edge = visit.place.edge
    if edge is None or edge.partition is None:
        return "; ".join(told)
    alike = edge.partition.classes[edge.block].multiplicity
    if alike == 1:
        return "; ".join(told)
    of = wording.count_text(alike)
    return "; ".join(
        f"{text} in {wording.count_text(min(copies, alike))} of {of}"
        for text, copies in told.items()
    )


#: What is to be written: a dataset with its parent, the class of blocks that it stands for, and
#: whether it is a root; or a partition with its parent.
class _Waiting(NamedTuple):
    item: Dataset | Partition | _Left
    above: int | None
    block: BlockClass | None = None
    root: Root | None = None


class _Left(NamedTuple):
    """What is left out below a node: how many of what, and whether the change reaches some."""

    many: int
    noun: str
    reached: bool


def _written(
    problem: Problem, span: SpanOf, reach: _Reach, cost: Callable[[Sequence[ChangeCharge]], Charged]
) -> tuple[PipelineNode, ...]:
    """Returns the nodes of a pipeline, parents first, in the order of the spec."""
    nodes: list[PipelineNode] = []
    by_name: dict[str, int] = {}
    roots = {id(root.dataset): root for root in problem.roots}
    kept, left = _chosen([root.dataset for root in problem.roots], reach.reaches, 0)
    stack = [_Waiting(each, None, None, roots[id(each)]) for each in reversed(kept)]
    if left.many:
        stack.insert(0, _Waiting(left._replace(noun="dataset"), None))
    while stack:
        waiting = stack.pop()
        number, item = len(nodes), waiting.item
        following: list[_Waiting] = []
        if isinstance(item, _Left):
            nodes.append(_left_out(item, waiting.above))
        elif isinstance(item, Partition):
            says = f"{item.kind.describe()}, {wording.plural(item.size, 'block')}"
            nodes.append(
                PipelineNode(
                    "partition",
                    item.name,
                    waiting.above,
                    says=says,
                    reached=any(id(each.dataset) in reach.passed for each in item.classes),
                    change=reach.changes.get(id(item), ""),
                    span=span(item.path),
                )
            )
            classes = {id(each.dataset): each for each in item.classes}
            children = [each.dataset for each in item.classes]
            kept, left = _chosen(children, reach.reaches, len(nodes))
            following += (_Waiting(each, number, classes[id(each)]) for each in kept)
            if left.many:
                shown = {id(each) for each in kept}
                blocks = sum(
                    each.multiplicity for each in item.classes if id(each.dataset) not in shown
                )
                following.append(_Waiting(left._replace(many=blocks, noun="block"), number))
        else:
            nodes.append(_dataset(item, waiting, reach, span))
            for each in _mechanisms(item, number, reach, span, cost, len(nodes)):
                by_name.setdefault(each.name, len(nodes))
                nodes.append(each)
            following += (_Waiting(each, number) for each in item.partitions)
            kept, left = _chosen(item.derived, reach.reaches, len(nodes))
            following += (_Waiting(each, number) for each in kept)
            if left.many:
                following.append(_Waiting(left._replace(noun="dataset"), number))
        stack.extend(reversed(following))
    return (*nodes, *_results(problem, by_name, len(nodes), span))


def _chosen(
    children: Sequence[Dataset], reached: Callable[[Dataset], bool], drawn: int
) -> tuple[list[Dataset], _Left]:
    """Returns the children to draw, in order, and what is left out.

    `drawn`: how many nodes are drawn so far.
    """
    allowed = [each for each in children if reached(each)] if drawn >= _MANY else list(children)
    first = sorted(allowed, key=lambda each: not reached(each))[: _room(len(allowed), drawn)]
    chosen = {id(each) for each in first}
    kept = [each for each in children if id(each) in chosen]
    left = [each for each in children if id(each) not in chosen]
    return kept, _Left(len(left), "", any(map(reached, left)))


def _room(count: int, drawn: int) -> int:
    """Returns how many of so many children to draw; a single one is not left out."""
    if drawn >= _MOST:
        return 0
    return count if count == _MOST_CHILDREN + 1 else _MOST_CHILDREN


def _left_out(left: _Left, above: int | None) -> PipelineNode:
    """Returns the node for what is not drawn."""
    change = "the worst change reaches some of them too" if left.reached else ""
    says = f"{wording.count_text(left.many)} more {left.noun}{'' if left.many == 1 else 's'}"
    return PipelineNode("more", says, above, reached=left.reached, change=change)


def _dataset(dataset: Dataset, waiting: _Waiting, reach: _Reach, span: SpanOf) -> PipelineNode:
    """Returns the node of a dataset, or of equal blocks."""
    kind: PipelineKind = "dataset" if waiting.block is None else "block"
    name = dataset.name if waiting.block is None else _block_name(waiting.block)
    via = "" if dataset.made_by is None else dataset.made_by.describe()
    reached = id(dataset) in reach.passed
    says = "" if waiting.root is None else ", ".join(_root_facts(waiting.root))
    if waiting.block is not None and not (
        dataset.mechanisms or dataset.derived or dataset.partitions
    ):
        says = "read by no mechanism"
    change = reach.changes.get(id(dataset), "") if reached else ""
    return PipelineNode(
        kind, name, waiting.above, via, says, reached, change, span=span(dataset.path)
    )


def _block_name(block: BlockClass) -> str:
    """Returns the name of a block, or how many blocks are alike."""
    names = block.names
    if len(names) == 1 or (len(names) <= _MOST_NAMED and not isinstance(names, range)):
        return ", ".join(str(name) for name in names)
    return f"{wording.count_text(len(names))} alike"


def _root_facts(root: Root) -> Iterator[str]:
    """Yields what is public about a root, in a few words each."""
    if root.domain in _DOMAINS:
        yield _DOMAINS[root.domain]
    if root.unit is not None:
        yield f"rows of each {root.unit}"
    if root.max_rows_per_unit is not None:
        yield f"at most {wording.plural(root.max_rows_per_unit, 'row')} of one"
    if root.size is not None:
        yield wording.plural(root.size, "row")
    if root.max_degree is not None:
        yield f"at most {wording.plural(root.max_degree, 'edge')} a vertex"


def _mechanisms(
    dataset: Dataset,
    above: int,
    reach: _Reach,
    span: SpanOf,
    cost: Callable[[Sequence[ChangeCharge]], Charged],
    drawn: int,
) -> Iterator[PipelineNode]:
    """Yields the mechanisms that read a dataset, then how many are left out."""

    def is_reached(each: Mechanism) -> bool:
        """Returns whether the change reaches a mechanism on the dataset."""
        return (id(dataset), each.name) in reach.charges

    last = len(reach.ranks)
    ranked = sorted(
        dataset.mechanisms,
        key=lambda each: (not is_reached(each), reach.ranks.get(each.name, last)),
    )
    most = _room(len(ranked), drawn)
    chosen = {id(each) for each in ranked[:most]}
    for each in dataset.mechanisms:
        if id(each) not in chosen:
            continue
        found = reach.charges.get((id(dataset), each.name), ())
        told = cost(found) if found else Charged(_guarantee(each))
        yield PipelineNode(
            "mechanism",
            each.name,
            above,
            says=told.says,
            reached=is_reached(each),
            cost=told.bound,
            span=span(each.path),
        )
    left = ranked[most:]
    if left:
        yield _left_out(_Left(len(left), "mechanism", any(map(is_reached, left))), above)


def _guarantee(mechanism: Mechanism) -> str:
    """Returns the stated guarantee of a mechanism, and the number of its copies."""
    text = wording.shortly(mechanism.statements[0].guarantee)
    more = len(mechanism.statements) - 1
    if mechanism.count > 1:
        text = f"{wording.count_text(mechanism.count)} × {text}"
    return f"{text}, and {more} more guarantee{'' if more == 1 else 's'}" if more else text


def _results(
    problem: Problem, by_name: dict[str, int], number: int, span: SpanOf
) -> Iterator[PipelineNode]:
    """Yields what is computed from released outputs, then how many of these are left out."""
    for each in problem.post_processing[:_MOST_CHILDREN]:
        inputs = tuple(by_name[name] for name in each.inputs if name in by_name)
        by_name.setdefault(each.name, number)
        number += 1
        yield PipelineNode(
            "result",
            each.name,
            inputs[0] if inputs else None,
            says=f"uses {wording.listing(each.inputs)} alone: costs nothing",
            inputs=inputs,
            span=span(each.path),
        )
    left = len(problem.post_processing) - _MOST_CHILDREN
    if left > 0:
        yield _left_out(_Left(left, "result", False), None)
