"""The proof as a tree of lines: the worst change from the roots down, the costs, and their sum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.loss.walk import Choice
from dpcompose.core.model.problem import Partition, Path, Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import MOST, Cost, Proof, amplifying, change_at
from dpcompose.core.search.solver import ChangeCharge, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.curves.rounding import summed
from dpcompose.errors import Span
from dpcompose.report import At, Bound, Node, NodeKind, TouchCount, wording
from dpcompose.report.explanation import (
    amplified_too,
    concurrent,
    draws_of,
    splits,
    touched_by,
    with_all_above,
)

SpanOf = Callable[[Path], Span]
#: The words for a unit that adds up, where its symbol alone would not be understood.
_ADDING = {"μ²": "the squares of μ"}
#: So many different amounts are written out in a sum.
_MOST_TERMS = 6


class Charged(NamedTuple):
    """The loss of a mechanism on a dataset in words, with its bound and theorem where known."""

    says: str
    bound: Bound | None = None
    theorem: str | None = None


def of_solution(proof: Proof, ats: Sequence[At], span: SpanOf) -> tuple[Node, ...]:
    """Returns the proof of a bound as lines: worst change, costs, sum, theorem, then the readings.

    A reading is a number at a chosen δ or ε (`ats`).
    """
    problem, solution = proof.problem, proof.solution
    told = {key: charged(proof, cost) for key, cost in proof.costs.items()}
    writer = _Writer(span, told, proof.theorems, proof.unchanged)
    writer.write(solution.visits, solution.felt)
    if proof.left:
        bound = None if proof.rest is None else bound_of(proof.rest)
        writer.add(0, "more", "", f"{proof.left} more, in the same way", bound)
    for post in problem.post_processing[:MOST]:
        says = f"uses {wording.listing(post.inputs)} alone: costs nothing"
        costless = in_role(Role.POST_PROCESSING).id
        writer.add(0, "free", post.name, says, None, costless, (post.path,))
    writer.write_concurrent(problem, solution.notion)
    # The theorem of the whole release gives the same bound as that of the sum, which it is a case
    # of: one line shows both.
    total = bound_of(solution.quantities[0])
    writer.add(0, "sum", "", _sum(proof, total), total, proof.cited)
    writer.read(ats)
    return tuple(writer.nodes)


def with_readings(tree: Sequence[Node], ats: Iterable[At], span: SpanOf) -> tuple[Node, ...]:
    """Returns a proof with the readings at the chosen δ's and ε's appended."""
    writer = _Writer(span, {}, {})
    writer.nodes += tree
    writer.read(ats)
    return tuple(writer.nodes)


def of_profile(
    problem: Problem,
    shown: tuple[Sequence[Visit], Sequence[ChangeCharge]],
    ats: Sequence[At],
    span: SpanOf,
) -> tuple[Node, ...]:
    """Returns the proof of a result that is finite only at a δ or ε: the worst change at the first.

    `shown`: an example change with the path from the roots down. Where the worst change is another
    one, only the mechanisms that it reaches are listed.
    """
    visits, felt = shown
    first = next(at for at in ats if at.value is not None)
    samples = {id(each): amplifying(each) for each in visits}
    writer = _Writer(span, {id(each): stated(each) for each in felt}, samples)
    if same_reach(first, felt):
        writer.write(visits, felt)
    else:
        writer.list(first.touched, problem)
    writer.write_concurrent(problem, Notion.PROFILE)
    composed = next((each for each in first.chain if each.startswith("what composes")), "")
    says = composed.replace("what composes", "composed as distributions of losses", 1)
    writer.add(0, "sum", "", says or "nothing is lost", None, in_role(Role.PROFILES).id)
    writer.read(ats, first)
    return tuple(writer.nodes)


def same_reach(at: At, felt: Iterable[ChangeCharge]) -> bool:
    """Returns whether the worst change at a point reaches just what an example change reaches."""
    return touched_by(felt) == Counter(
        {(each.mechanism, each.dataset, each.meets): each.times for each in at.touched}
    )


#: What to write next, with its depth: a visit, or a partition with the blocks that are reached.
_Next = tuple[int, Visit | tuple[Partition, Choice, str, list[Visit]]]


class _Writer:
    """Writes the lines of the proof in reading order into `nodes`.

    `costs`: by the identity of a charge; `theorems`, `unchanged`: as in a proof.
    """

    def __init__(
        self,
        span: SpanOf,
        costs: Mapping[int, Charged],
        theorems: Mapping[int, str | None],
        unchanged: Mapping[int, Sequence[Place]] | None = None,
    ) -> None:
        self.nodes: list[Node] = []
        self._span, self._costs, self._theorems = span, costs, theorems
        self._unchanged = unchanged or {}

    def add(
        self,
        depth: int,
        kind: NodeKind,
        name: str,
        says: str,
        bound: Bound | None = None,
        theorem: str | None = None,
        paths: Sequence[Path] = (),
    ) -> None:
        """Appends one line of the proof: its level, what it is about, the name of that, the
        sentence, and the bound with its theorem."""
        spans = tuple(self._span(path) for path in paths)
        number = len(self.nodes) + 1
        self.nodes.append(Node(number, depth, kind, name, says, bound, theorem, spans))

    def write(self, visits: Sequence[Visit], felt: Iterable[ChangeCharge]) -> None:
        """Appends the change from the roots down; each dataset lists its mechanisms first."""
        below: dict[int | None, list[Visit]] = {}
        for visit in visits:
            below.setdefault(None if visit.above is None else id(visit.above), []).append(visit)
        feeling: dict[int, list[ChangeCharge]] = {}
        for each in felt:
            feeling.setdefault(id(each.visit), []).append(each)
        self._below, self._feeling = below, feeling
        self._speaking = with_all_above(each[0].visit for each in feeling.values())
        # A stack in place of recursion, since specs may be deep; the next item is its last one.
        stack: list[_Next] = [(0, visit) for visit in reversed(below.get(None, []))]
        while stack:
            depth, item = stack.pop()
            if isinstance(item, Visit):
                following = self._dataset(depth, item)
            else:
                following = self._partition(depth, *item)
            stack.extend(reversed(following))

    def _dataset(self, depth: int, visit: Visit) -> list[_Next]:
        """Appends the line of a dataset with its mechanisms; returns what comes below it."""
        place = visit.place
        edge = place.edge
        says = wording.change(change_at(visit))
        if edge is not None:
            says = _shorter(says)
        elif visit.state and says.startswith("all rows of one unit"):
            says = "all rows of one unit"  # the line on what is protected says the rest
        if edge is not None and isinstance(edge.made_by, Sample):
            says = f"{edge.made_by.describe()}: {says}"
        if visit.via is not None and visit.via.units > 1:
            says += f", {wording.count_text(visit.via.units)} times"
        theorem = self._theorems.get(id(visit))
        self.add(depth, "dataset", place.dataset.name, says, None, theorem, (place.dataset.path,))
        self._below_visit(depth + 1, visit, "")
        return self._following(depth + 1, visit)

    def _below_visit(self, depth: int, visit: Visit, where: str) -> None:
        """Appends the mechanisms that read a visited dataset, then the datasets below it that do
        not change; `where`: words before the cost.

        Mechanisms that one line counts together have none of their own.
        """
        for charge in self._feeling.get(id(visit), ()):
            cost = self._costs.get(id(charge))
            if cost is not None:
                says = f"{where} {cost.says}" if where else cost.says
                name, path = charge.mechanism.name, charge.mechanism.path
                self.add(depth, "mechanism", name, says, cost.bound, cost.theorem, (path,))
        for place in self._unchanged.get(id(visit), ()):
            says, path = wording.unchanged_text(place), place.dataset.path
            self.add(
                depth, "dataset", place.dataset.name, says, None, in_role(Role.KEPT).id, (path,)
            )

    def _following(self, depth: int, visit: Visit) -> list[_Next]:
        """Returns what the change reaches one edge below, for lines at the level `depth`: first
        partitions, then the results of maps."""
        children = self._below.get(id(visit), [])
        found: list[_Next] = []
        for partition, choice, says in splits(visit):
            blocks = [
                each
                for each in children
                if each.place.edge is not None and each.place.edge.partition is partition
            ]
            if any(id(each) in self._speaking for each in blocks):
                found.append((depth, (partition, choice, says, blocks)))
        for each in children:
            edge = each.place.edge
            if edge is not None and edge.partition is None and id(each) in self._speaking:
                found.append((depth, each))
        return found

    def _partition(
        self, depth: int, partition: Partition, choice: Choice, says: str, blocks: list[Visit]
    ) -> list[_Next]:
        """Appends the line of a partition and its blocks' mechanisms; returns what is below."""
        told = split_words(partition, choice, says)
        self.add(depth, "partition", partition.name, told, None, None, (partition.path,))
        following: list[_Next] = []
        for block in blocks:
            following += self._following(depth + 1, block)
            names = partition.classes[block.place.edge.block].names if block.place.edge else ()
            where = f"block {names[0]}:" if len(names) == 1 else ""
            if block.copies > 1:
                where = f"{wording.count_text(block.copies)} blocks of"
            self._below_visit(depth + 1, block, where)
        return following

    def write_concurrent(self, problem: Problem, notion: Notion) -> None:
        """Appends the line on mechanisms that are open at the same time, if any."""
        for says, theorem, paths in concurrent(problem, notion):
            self.add(0, "theorem", "", says, None, theorem, paths)

    def list(self, touched: Sequence[TouchCount], problem: Problem) -> None:
        """Appends the datasets and mechanisms that a change reaches, where the path to them is not
        known."""
        mechanisms = {each.name: each.path for each in problem.mechanisms()}
        datasets = {each.name: each.path for each in problem.datasets()}
        by_dataset: dict[tuple[str, str], list[TouchCount]] = {}
        for each in touched:
            by_dataset.setdefault((each.dataset, each.meets), []).append(each)
        for (dataset, meets), found in by_dataset.items():
            paths = (datasets[dataset],) if dataset in datasets else ()
            self.add(0, "dataset", dataset, meets, None, None, paths)
            for each in found:
                says = "once" if each.times == 1 else f"{wording.count_text(each.times)} times"
                path = mechanisms[each.mechanism]
                self.add(1, "mechanism", each.mechanism, says, None, None, (path,))

    def read(self, ats: Iterable[At], told: At | None = None) -> None:
        """Appends the numbers at chosen δ's and ε's; `told`: the one whose worst change is shown
        above already."""
        for at in ats:
            if at.value is None:
                continue
            entry = behind(at.rule)
            given = wording.number(at.given)
            if at.wanted == "delta":
                given = wording.chance(given)
            says = f"{at.rule} at {'δ' if at.wanted == 'delta' else 'ε'} = {given}"
            if at.worst and (told is None or at.worst != told.worst):
                says += f"; the worst change there: {'; '.join(at.worst)}"
            epsilon, delta = (at.value, at.given) if at.wanted == "delta" else (at.given, at.value)
            bound = Bound(Notion.APPROX, epsilon, delta, False, False)
            self.add(0, "reading", "", says, bound, None if entry is None else entry.id)


def split_words(partition: Partition, choice: Choice, says: str) -> str:
    """Returns what a change becomes in the blocks of a partition, in the words of its line.

    `says`: the sentence on it, from `splits`.
    """
    says = says.removeprefix(f"in `{partition.name}`, ").removesuffix(f" of `{partition.name}`")
    if choice.units <= 1:
        return _shorter(says)
    return f"{_shorter(says)}, for each of {wording.count_text(choice.units)} such units"


def _shorter(says: str) -> str:
    """Returns the words for a change below a root, without who is added or removed."""
    says = says.replace(" of one unit", "").replace(" added or removed", "")
    alike = re.fullmatch("([^:`]+ blocks): ([^:;]+)", says)
    return says if alike is None else f"{alike[2]} in {alike[1].replace(' equal', '')}"


def charged(proof: Proof, cost: Cost) -> Charged:
    """Returns the cost of one mechanism for the worst change: words, bound and theorem."""
    solution, place = proof.solution, cost.charge.visit.place
    statement = cost.used[0].statement
    says = wording.shortly(statement.guarantee)
    if cost.steps > 1:
        squared = solution.notion is Notion.ZCDP and statement.guarantee.notion is Notion.ZCDP
        says = f"{wording.count_text(cost.steps)}{'²' if squared else ''} × {says}"
    notes: list[str] = []
    if statement.relation != proof.problem.goal.relation and statement.guarantee.noise is None:
        notes.append(f"{statement.relation}")
    if statement.up:
        notes.append(f"on `{place.stated_on(statement).dataset.name}`")
    if len(cost.used) > 1:
        notes.append(f"and {len(cost.used) - 1} more guarantees")
    if statement.guarantee.notion is not solution.notion:
        notes.append(f"read as {solution.notion.facts.words}")
    whole = solution.share(cost.charge)
    if solution.notion is not Notion.APPROX:  # its δ at a distance is rounded too
        whole = whole._replace(exact=cost.bound is not None and cost.bound.exact)
    return Charged(_copies(cost.charge) + ", ".join([says, *notes]), bound_of(whole), cost.theorem)


def stated(charge: ChangeCharge) -> Charged:
    """Returns the stated guarantee of a mechanism in words, without a cost."""
    statement = charge.placed[0].statement
    return Charged(_copies(charge) + wording.shortly(statement.guarantee))


def _copies(felt: ChangeCharge) -> str:
    """Returns how many copies and draws one line counts: `3 × ` or `10 draws: `."""
    parts: list[str] = []
    draws = draws_of(felt.visit.place)
    if felt.mechanism.count > 1:
        parts.append(f"{wording.count_text(felt.mechanism.count)} × ")
    if draws > 1:
        parts.append(f"{wording.count_text(draws)} draws: ")
    return "".join(parts)


def _sum(proof: Proof, total: Bound) -> str:
    """Returns the sentence on how the costs add up to the bound: `ε add up: 1 + 7/10 = 17/10`."""
    solution, units = proof.solution, total.notion.facts.unit
    if not solution.felt:
        return "no mechanism feels the change: nothing is lost"
    says = f"{_ADDING.get(units, units)} add up"
    if len(solution.felt) == 1 and not solution.bounded:
        return "one mechanism feels the change; no other change is worse"
    if solution.sampled and solution.loss != solution.added_up():
        amplified = f"ε to ln(1 + q(e^ε - 1)){amplified_too(proof, 'to ')}"
        return f"{says}, and what reads one draw of a sample is amplified together: {amplified}"
    if solution.bounded:
        return f"{says}; several units of change as a path of single ones"
    if total.notion is not Notion.APPROX:
        amounts = Counter(Fraction(solution.share(felt).amount) for felt in solution.felt)
        whole = summed(amount * n for amount, n in amounts.items())
        if len(amounts) <= _MOST_TERMS and sum(amounts.values()) > 1:
            terms = [
                (f"{n} × " if n > 1 else "") + wording.number(amount)
                for amount, n in sorted(amounts.items(), key=lambda each: (-each[0], each[1]))
            ]
            if whole == solution.quantities[0].amount:
                return f"{says}: {' + '.join(terms)} = {wording.number(whole)}"
    return f"{says}; no other change is worse"
