"""The proof as a tree of lines: the worst change from the roots down, the costs, and their sum."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.loss.walk import Choice
from dpcompose.core.model.derivation import Step
from dpcompose.core.model.problem import Partition, Path, Problem
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import amplifying, change_at, interactive_steps
from dpcompose.core.search.solver import ChangeCharge, Solution, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.curves.rounding import summed
from dpcompose.errors import Span
from dpcompose.report import At, Bound, Node, NodeKind, TouchCount, wording
from dpcompose.report.descent import splits
from dpcompose.report.explanation import draws_of, touched_by

SpanOf = Callable[[Path], Span]
#: The words for a unit that adds up, where its symbol alone would not be understood.
_ADDING = {"μ²": "the squares of μ"}
#: So many different amounts are written out in a sum.
_MOST_TERMS = 6


class Cost(NamedTuple):
    """The cost of a mechanism on a dataset in words, with its bound and theorem where known."""

    says: str
    bound: Bound | None = None
    theorem: str | None = None


def of_solution(
    problem: Problem, solution: Solution, derivation: Step, ats: Sequence[At], span: SpanOf
) -> tuple[Node, ...]:
    """Returns the proof of a bound as lines: worst change, costs, sum, theorem, then the readings.

    A reading is a number at a chosen δ or ε (`ats`).
    """
    (together,) = derivation.inputs
    costs = {id(step.facts["felt"]): step for step in together.inputs if step.rule == "cost"}
    told = {key: cost_of(problem, solution, step) for key, step in costs.items()}
    changes = {id(step.facts["visit"]): step.theorem for step in together.inputs if _moves(step)}
    writer = _Writer(span, told, changes)
    for step in together.inputs:
        if step.rule == "kept":
            writer.kept.setdefault(id(step.facts["visit"]), []).append(step)
    writer.write(solution.visits, solution.felt)
    for step in together.inputs:
        if step.rule == "rest":
            bound = None if step.bound is None else bound_of(step.bound)
            writer.add(0, "more", "", f"{step.facts['count']} more, in the same way", bound)
    for step in together.inputs:
        if step.rule == "post":
            post = step.facts["post"]
            says = f"uses {wording.listing(post.inputs)} alone: costs nothing"
            writer.add(0, "free", post.name, says, None, step.theorem, step.paths)
    for step in together.inputs:
        if step.rule == "interactive":
            _write_concurrent(writer, step)
    assert together.bound is not None
    # The theorem of the whole release gives the same bound as that of the sum, which it is a case
    # of: one line shows both.
    total = bound_of(together.bound)
    theorem = derivation.theorem or together.theorem
    writer.add(0, "sum", "", _sum(solution, together, total), total, theorem)
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
    paths = {each.name: each.path for each in problem.mechanisms()}
    samples = {id(each): amplifying(each) for each in visits}
    writer = _Writer(span, {id(each): stated(each) for each in felt}, samples)
    if same_reach(first, felt):
        writer.write(visits, felt)
    else:
        writer.list(first.touched, paths, {each.name: each.path for each in problem.datasets()})
    for step in interactive_steps(problem, Notion.PROFILE):
        _write_concurrent(writer, step)
    composed = next((each for each in first.chain if each.startswith("what composes")), "")
    theorem = in_role(Role.PROFILES).id
    says = composed.replace("what composes", "composed as distributions of losses", 1)
    writer.add(0, "sum", "", says or "nothing is lost", None, theorem)
    writer.read(ats, first)
    return tuple(writer.nodes)


def _write_concurrent(writer: _Writer, step: Step) -> None:
    """Writes the line on mechanisms that are open at the same time."""
    says = wording.concurrent_text(step.facts["names"])
    writer.add(0, "theorem", "", says, None, step.theorem, step.paths)


def same_reach(at: At, felt: Iterable[ChangeCharge]) -> bool:
    """Returns whether the worst change at a point reaches just what an example change reaches."""
    return touched_by(felt) == Counter(
        {(each.mechanism, each.dataset, each.meets): each.times for each in at.touched}
    )


def _moves(step: Step) -> bool:
    """Returns whether a step of the derivation propagates the change."""
    return step.rule in ("root", "map", "block")


#: What to write next, with its depth: a visit, or a partition with the blocks that are reached.
_Next = tuple[int, Visit | tuple[Partition, Choice, str, list[Visit]]]


class _Writer:
    """Writes the lines of the proof in reading order into `nodes`.

    `kept`: for each visit, by its identity, the datasets below it that do not change since they are
    made of columns that a replacement keeps.
    """

    def __init__(
        self, span: SpanOf, costs: Mapping[int, Cost], theorems: Mapping[int, str | None]
    ) -> None:
        self.nodes: list[Node] = []
        self.kept: dict[int, list[Step]] = {}
        self._span = span
        self._costs = costs
        self._theorems = theorems

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
        """Appends one line."""
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
        self._speaking = _with_all_above(each[0].visit for each in feeling.values())
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
        for felt in self._feeling.get(id(visit), ()):
            self._mechanism(depth + 1, felt, "")
        self._unchanged(depth + 1, visit)
        return self._following(depth + 1, visit)

    def _unchanged(self, depth: int, visit: Visit) -> None:
        """Appends a line for each dataset below a visit that does not change."""
        for step in self.kept.get(id(visit), ()):
            place = step.facts["place"]
            says = wording.unchanged_text(place)
            self.add(depth, "dataset", place.dataset.name, says, None, step.theorem, step.paths)

    def _following(self, depth: int, visit: Visit) -> list[_Next]:
        """Returns what the change reaches one edge below: first partitions, then maps' results."""
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
            deeper = self._following(depth + 1, block)
            for felt in self._feeling.get(id(block), ()):
                self._mechanism(depth + 1, felt, _which(block))
            self._unchanged(depth + 1, block)
            following += deeper
        return following

    def _mechanism(self, depth: int, felt: ChangeCharge, where: str) -> None:
        """Appends the line of a mechanism's cost; nothing if one line counts several together."""
        cost = self._costs.get(id(felt))
        if cost is None:  # one of those counted in one line together
            return
        says = f"{where} {cost.says}" if where else cost.says
        path = felt.mechanism.path
        self.add(depth, "mechanism", felt.mechanism.name, says, cost.bound, cost.theorem, (path,))

    def list(
        self,
        touched: Sequence[TouchCount],
        mechanisms: Mapping[str, Path],
        datasets: Mapping[str, Path],
    ) -> None:
        """Appends the datasets and mechanisms that a change reaches, without the path to them."""
        by_dataset: dict[tuple[str, str], list[TouchCount]] = {}
        for each in touched:
            by_dataset.setdefault((each.dataset, each.meets), []).append(each)
        for (dataset, meets), found in by_dataset.items():
            path = datasets.get(dataset)
            self.add(0, "dataset", dataset, meets, None, None, () if path is None else (path,))
            for each in found:
                says = "once" if each.times == 1 else f"{wording.count_text(each.times)} times"
                self.add(
                    1, "mechanism", each.mechanism, says, None, None, (mechanisms[each.mechanism],)
                )

    def read(self, ats: Iterable[At], told: At | None = None) -> None:
        """Appends the numbers at chosen δ's and ε's; `told`: one whose worst change is above."""
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


def _with_all_above(visits: Iterable[Visit]) -> set[int]:
    """Returns the identities of visits and of all visits above them."""
    found: set[int] = set()
    for visit in visits:
        each: Visit | None = visit
        while each is not None and id(each) not in found:
            found.add(id(each))
            each = each.above
    return found


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


def _which(block: Visit) -> str:
    """Returns `5 blocks of`, or `block south:` where one block is reached."""
    edge = block.place.edge
    assert edge is not None and edge.partition is not None
    if block.copies > 1:
        return f"{wording.count_text(block.copies)} blocks of"
    names = edge.partition.classes[edge.block].names
    return f"block {names[0]}:" if len(names) == 1 else ""


def cost_of(problem: Problem, solution: Solution, step: Step) -> Cost:
    """Returns the cost of one mechanism for the worst change: words, bound and theorem."""
    felt: ChangeCharge = step.facts["felt"]
    given = step.inputs[0]
    placed = given.facts["placed"]
    statement, place = placed.statement, felt.visit.place
    says = wording.shortly(statement.guarantee)
    needed = step.facts["steps"]
    if needed and needed > 1:
        squared = solution.notion is Notion.ZCDP and statement.guarantee.notion is Notion.ZCDP
        says = f"{wording.count_text(needed)}{'²' if squared else ''} × {says}"
    notes: list[str] = []
    if statement.relation != problem.goal.relation and statement.guarantee.noise is None:
        notes.append(f"{statement.relation}")
    if statement.up:
        notes.append(f"on `{place.stated_on(statement).dataset.name}`")
    if len(step.inputs) > 1:
        notes.append(f"and {len(step.inputs) - 1} more guarantees")
    if statement.guarantee.notion is not solution.notion:
        notes.append(f"read as {solution.notion.facts.words}")
    if notes:
        says += f", {', '.join(notes)}"
    whole = solution.share(felt)
    if solution.notion is not Notion.APPROX:  # its δ at a distance is rounded too
        whole = whole._replace(exact=step.bound is not None and step.bound.exact)
    return Cost(_copies(felt) + says, bound_of(whole), step.theorem)


def stated(felt: ChangeCharge) -> Cost:
    """Returns the stated guarantee of a mechanism in words, without a cost."""
    statement = felt.placed[0].statement
    return Cost(_copies(felt) + wording.shortly(statement.guarantee))


def _copies(felt: ChangeCharge) -> str:
    """Returns how many copies and draws one line counts: `3 × ` or `10 draws: `."""
    parts: list[str] = []
    draws = draws_of(felt.visit.place)
    if felt.mechanism.count > 1:
        parts.append(f"{wording.count_text(felt.mechanism.count)} × ")
    if draws > 1:
        parts.append(f"{wording.count_text(draws)} draws: ")
    return "".join(parts)


def _sum(solution: Solution, step: Step, total: Bound) -> str:
    """Returns the sentence on how the costs add up to the bound: `ε add up: 1 + 7/10 = 17/10`."""
    units = total.notion.facts.unit
    if not solution.felt:
        return "no mechanism feels the change: nothing is lost"
    says = f"{_ADDING.get(units, units)} add up"
    if len(solution.felt) == 1 and not step.facts["bounded"]:
        return "one mechanism feels the change; no other change is worse"
    if step.facts["sampled"] and solution.loss != solution.added_up():
        amplified = "ε to ln(1 + q(e^ε - 1))"
        if step.facts["displaced"]:
            amplified += ", with q = 1/2 for a row drawn of its key"
        if step.facts["directed"]:
            amplified += ", or to -ln(1 - q + q·e^-ε) where the row is added"
        return f"{says}, and what reads one draw of a sample is amplified together: {amplified}"
    if step.facts["bounded"]:
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
