"""The pipeline of a spec as a forest of nodes, with the path of the worst change on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from dpcompose.core.loss.visits import Visit
from dpcompose.core.model.problem import (
    BlockClass,
    Dataset,
    Domain,
    Mechanism,
    Partition,
    Problem,
    Root,
)
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.search.solver import ChangeCharge, Solution
from dpcompose.report import At, PipelineKind, PipelineNode, Share, SpanOf, TouchCount, wording
from dpcompose.report.derivation import Step, same_reach, stated

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


def of_solution(
    problem: Problem,
    solution: Solution,
    steps: Sequence[Step],
    shares: Iterable[Share],
    span: SpanOf,
) -> tuple[PipelineNode, ...]:
    """Returns the nodes of the pipeline, with the worst change of a solution and what each
    mechanism loses for it.

    `steps`: the derivation; `shares`: the costs of mechanisms, the largest first: these are drawn
    where not all are. `span`: gives the position of a path in the file.
    """
    told = {id(each.charge): each for each in steps if each.charge is not None}

    def cost(found: Sequence[ChangeCharge]) -> Step:
        """Returns the cost of a mechanism on a dataset, over all draws of a sample together."""
        first, *others = found
        known = told.get(id(first))
        if known is not None and not others:
            return known
        whole: Quantity = solution.share(first)
        for each in others:
            whole = whole.plus(solution.share(each))
        return (known or stated(first))._replace(total=bound_of(whole))

    drawing = _Drawing(problem, span, cost)
    drawing.ranks = {each.mechanism: rank for rank, each in enumerate(shares)}
    drawing.follow(steps, solution.charges)
    return drawing.nodes()


def of_profile(
    problem: Problem,
    steps: Sequence[Step],
    charges: Sequence[ChangeCharge],
    first: At,
    span: SpanOf,
) -> tuple[PipelineNode, ...]:
    """Returns the nodes of the pipeline with the worst change at a chosen δ or ε; mechanisms have
    no cost of their own.

    `steps`: the derivation, of an example change with its `charges`. Where the worst change at the
    `first` point is another one, only what it reaches is marked. `span`: gives the position of a
    path in the file.
    """
    drawing = _Drawing(problem, span)
    if same_reach(first, charges):
        drawing.follow(steps, charges)
    else:
        drawing.follow_by_name(first.touched)
    return drawing.nodes()


def without_change(problem: Problem, span: SpanOf) -> tuple[PipelineNode, ...]:
    """Returns the nodes of the pipeline alone, where there is no finite bound."""
    return _Drawing(problem, span).nodes()


def _together(told: Mapping[str, int], visit: Visit) -> str:
    """Returns in words how a dataset changes, or in how many of several equal blocks.

    `told`: the number of blocks by the words for their change.
    """
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


#: A dataset, a partition, or the node for what is left out, with the number of its parent.
_Waiting = tuple[Dataset | Partition | PipelineNode, int | None]


class _Drawing:
    """Draws a pipeline as nodes, parents first, in the order of the spec.

    What the worst change reaches is kept by the identities of datasets and partitions: `passed`,
    the datasets that it passes, the words for each change, and the losses of each mechanism on a
    dataset, of which there are none where the path of the change is not known. `ranks`: of
    mechanisms by name, those that cost most first.
    """

    def __init__(
        self,
        problem: Problem,
        span: SpanOf,
        cost: Callable[[Sequence[ChangeCharge]], Step] = lambda found: stated(found[0]),
    ) -> None:
        self.ranks: Mapping[str, int] = {}
        self._problem, self._span, self._cost = problem, span, cost
        self._nodes: list[PipelineNode] = []
        self._passed: set[int] = set()
        self._changes: dict[int, str] = {}
        self._charges: dict[tuple[int, str], list[ChangeCharge]] = {}
        self._roots = {id(root.dataset): root for root in problem.roots}
        self._blocks: dict[int, BlockClass] = {}
        self._by_name: dict[str, int] = {}

    def follow(self, steps: Sequence[Step], charges: Iterable[ChangeCharge]) -> None:
        """Marks what a change reaches, by the steps of its derivation and the losses of
        mechanisms."""
        for charge in charges:
            key = id(charge.place.dataset), charge.mechanism.name
            self._charges.setdefault(key, []).append(charge)
        on_the_way: set[int] = set()
        words: dict[int, tuple[Visit, dict[str, int]]] = {}
        for step in steps:
            visit = step.visit
            if visit is None:
                continue
            if step.partition is not None and id(visit) in on_the_way:
                self._changes.setdefault(id(step.partition), step.shortly)
            elif step.kind in ("dataset", "block") and step.reached:
                on_the_way.add(id(visit))
                self._pass(visit, step.change, words)
        for key_, (visit, told) in words.items():
            self._changes.setdefault(key_, _together(told, visit))

    def _pass(
        self, visit: Visit, change: str, words: dict[int, tuple[Visit, dict[str, int]]]
    ) -> None:
        """Marks a dataset that the change reaches, and adds what the `change` is there to the words
        of all visits of it."""
        dataset, edge = visit.place.dataset, visit.place.edge
        self._passed.add(id(dataset))
        _, told = words.setdefault(id(dataset), (visit, {}))
        above = 1 if visit.above is None else visit.above.copies
        # `of one unit` is omitted below the root.
        text = change.replace(" of one unit", "", visit.above is not None)
        if edge is not None and edge.partition is None and visit.via and visit.via.units > 1:
            text += f", {wording.count_text(visit.via.units)} times"
        told[text] = told.get(text, 0) + visit.copies // above
        for each_between in () if edge is None else edge.through:
            self._passed.add(id(each_between))
            self._changes[id(each_between)] = "followed together with the maps below"

    def follow_by_name(self, touched: Iterable[TouchCount]) -> None:
        """Marks what a change reaches where its path is not known: `touched` names only the
        mechanisms and the datasets they read. Datasets above those count as reached too."""
        above: dict[int, Dataset] = {}
        named: dict[str, Dataset] = {}
        for dataset in self._problem.datasets():
            named.setdefault(dataset.name, dataset)
            below = [each.dataset for split in dataset.partitions for each in split.classes]
            above.update((id(each), dataset) for each in (*dataset.derived, *below))
        for touch in touched:
            each = named.get(touch.dataset)
            if each is None:
                continue
            self._changes[id(each)] = touch.meets
            self._charges[id(each), touch.mechanism] = []
            while each is not None and id(each) not in self._passed:
                self._passed.add(id(each))
                each = above.get(id(each))

    def nodes(self) -> tuple[PipelineNode, ...]:
        """Returns the nodes of the pipeline, with what was marked."""
        # A stack in place of recursion, since specs may be deep; the next item is its last one.
        stack = self._children([root.dataset for root in self._problem.roots], None)[::-1]
        while stack:
            item, above = stack.pop()
            if isinstance(item, PipelineNode):
                self._nodes.append(item)
            elif isinstance(item, Partition):
                stack += reversed(self._partition(item, above))
            else:
                stack += reversed(self._dataset(item, above))
        self._results()
        return tuple(self._nodes)

    def _reaches(self, dataset: Dataset) -> bool:
        """Returns whether the change reaches a dataset."""
        return id(dataset) in self._passed

    def _children(self, children: Sequence[Dataset], above: int | None) -> list[_Waiting]:
        """Returns the datasets to draw below node `above`, in order, then a node for those left
        out."""
        drawn, reaches = len(self._nodes), self._reaches
        allowed = [each for each in children if drawn < _MANY or reaches(each)]
        first = sorted(allowed, key=lambda each: not reaches(each))[: _room(len(allowed), drawn)]
        chosen = {id(each) for each in first}
        found: list[_Waiting] = [(each, above) for each in children if id(each) in chosen]
        left = [each for each in children if id(each) not in chosen]
        if left:
            blocks = [self._blocks[id(each)] for each in left if id(each) in self._blocks]
            many = sum(each.multiplicity for each in blocks) if blocks else len(left)
            reached = any(map(reaches, left))
            found.append((_left_out(many, "block" if blocks else "dataset", reached, above), above))
        return found

    def _partition(self, partition: Partition, above: int | None) -> list[_Waiting]:
        """Appends the node of a partition below the node `above`; returns its blocks."""
        number, blocks = len(self._nodes), [each.dataset for each in partition.classes]
        self._blocks.update((id(each.dataset), each) for each in partition.classes)
        self._nodes.append(
            PipelineNode(
                "partition",
                partition.name,
                above,
                says=f"{partition.kind.describe()}, {wording.plural(partition.size, 'block')}",
                reached=any(map(self._reaches, blocks)),
                change=self._changes.get(id(partition), ""),
                span=self._span(partition.path),
            )
        )
        return self._children(blocks, number)

    def _dataset(self, dataset: Dataset, above: int | None) -> list[_Waiting]:
        """Appends a dataset or equal blocks below the node `above`, and its mechanisms; returns
        what is made of it."""
        number, reached = len(self._nodes), self._reaches(dataset)
        root, block = self._roots.get(id(dataset)), self._blocks.get(id(dataset))
        kind: PipelineKind = "dataset"
        name, says = dataset.name, "" if root is None else ", ".join(_root_facts(root))
        if block is not None:
            kind, names = "block", block.names
            named = len(names) == 1 or (len(names) <= _MOST_NAMED and not isinstance(names, range))
            alike = f"{wording.count_text(len(names))} alike"
            name = ", ".join(str(each) for each in names) if named else alike
            if not (dataset.mechanisms or dataset.derived or dataset.partitions):
                says = "read by no mechanism"
        via = "" if dataset.made_by is None else dataset.made_by.describe()
        change = self._changes.get(id(dataset), "") if reached else ""
        span = self._span(dataset.path)
        self._nodes.append(PipelineNode(kind, name, above, via, says, reached, change, span=span))
        self._mechanisms(dataset, number)
        splits: list[_Waiting] = [(each, number) for each in dataset.partitions]
        return splits + self._children(dataset.derived, number)

    def _mechanisms(self, dataset: Dataset, above: int) -> None:
        """Appends the mechanisms that read the dataset of node `above`, then how many are left
        out."""
        last = len(self.ranks)
        names = [each.name for each in dataset.mechanisms]
        reached = {name: (id(dataset), name) in self._charges for name in names}
        ranked = sorted(
            dataset.mechanisms,
            key=lambda each: (not reached[each.name], self.ranks.get(each.name, last)),
        )
        most = _room(len(ranked), len(self._nodes))
        chosen = {id(each) for each in ranked[:most]}
        for each in dataset.mechanisms:
            if id(each) not in chosen:
                continue
            found = self._charges.get((id(dataset), each.name), ())
            told = self._cost(found) if found else None
            self._by_name.setdefault(each.name, len(self._nodes))
            self._nodes.append(
                PipelineNode(
                    "mechanism",
                    each.name,
                    above,
                    says=_guarantee(each) if told is None else told.shortly,
                    reached=reached[each.name],
                    cost=None if told is None else told.total,
                    span=self._span(each.path),
                )
            )
        left = ranked[most:]
        if left:
            some = any(reached[each.name] for each in left)
            self._nodes.append(_left_out(len(left), "mechanism", some, above))

    def _results(self) -> None:
        """Appends what is computed from released outputs, then how many of these are left out."""
        for each in self._problem.post_processing[:_MOST_CHILDREN]:
            inputs = tuple(self._by_name[name] for name in each.inputs if name in self._by_name)
            self._by_name.setdefault(each.name, len(self._nodes))
            self._nodes.append(
                PipelineNode(
                    "result",
                    each.name,
                    inputs[0] if inputs else None,
                    says=f"uses {wording.listing(each.inputs)} alone: costs nothing",
                    inputs=inputs,
                    span=self._span(each.path),
                )
            )
        left = len(self._problem.post_processing) - _MOST_CHILDREN
        if left > 0:
            self._nodes.append(_left_out(left, "result", False, None))


def _room(count: int, drawn: int) -> int:
    """Returns how many of `count` children to draw where `drawn` is the most; a single one more is
    not left out."""
    if drawn >= _MOST:
        return 0
    return count if count == _MOST_CHILDREN + 1 else _MOST_CHILDREN


def _left_out(many: int, noun: str, reached: bool, above: int | None) -> PipelineNode:
    """Returns the node that stands for `many` things that are not drawn; `reached`: whether the
    worst change reaches some of them."""
    change = "the worst change reaches some of them too" if reached else ""
    says = f"{wording.count_text(many)} more {noun}{'' if many == 1 else 's'}"
    return PipelineNode("more", says, above, reached=reached, change=change)


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


def _guarantee(mechanism: Mechanism) -> str:
    """Returns the stated guarantee of a mechanism, and the number of its copies."""
    text = wording.shortly(mechanism.statements[0].guarantee)
    more = len(mechanism.statements) - 1
    if mechanism.count > 1:
        text = f"{wording.count_text(mechanism.count)} × {text}"
    return f"{text}, and {more} more guarantee{'' if more == 1 else 's'}" if more else text
