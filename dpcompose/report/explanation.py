"""The worst change with the mechanisms it reaches, and the reasoning as numbered sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from dpcompose.core.model.derivation import Step
from dpcompose.core.model.problem import Derived, Path
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.search.proof import change_at
from dpcompose.core.search.solver import ChangeCharge, Solution, Visit
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import BOOK, in_role
from dpcompose.errors import Span
from dpcompose.report import At, Bound, Line, Touch, WorstChange, wording
from dpcompose.report.descent import descent, splits

#: A report lists so many of the mechanisms that the worst change reaches.
MOST_TOUCHES = 200
SpanOf = Callable[[Path], Span]


# ---------------------------------------------------------------------------------------------
# The worst change


def worst_change(solution: Solution, span: SpanOf) -> WorstChange:
    """Returns the worst change in sentences, with the mechanisms that it reaches and their
    losses."""
    says: list[str] = []
    for visit in solution.visits:
        if visit.place.edge is None:
            says.append(f"in `{visit.place.dataset.name}`: {wording.change(visit.state)}")
        says.extend(descent(visit))
    datasets = [visit.place.dataset.name for visit in solution.visits]
    touches = tuple(_touch(solution, felt, span) for felt in solution.felt[:MOST_TOUCHES])
    return WorstChange(
        tuple(says),
        tuple(dict.fromkeys(datasets)),
        touches,
        max(0, len(solution.felt) - MOST_TOUCHES),
    )


def _touch(solution: Solution, felt: ChangeCharge, span: SpanOf) -> Touch:
    """Returns the entry of one charged mechanism: the loss of one copy, and of all copies and
    blocks."""
    return Touch(
        felt.mechanism.name,
        felt.visit.place.dataset.name,
        felt.visit.copies * felt.mechanism.count,
        bound_of(solution.one_copy(felt)),
        bound_of(solution.share(felt)),
        span(felt.mechanism.path),
    )


def touched_by(felt: Iterable[ChangeCharge]) -> Counter[tuple[str, str, str]]:
    """Returns how often a change reaches each mechanism, by its name, dataset and the change
    there."""
    found: Counter[tuple[str, str, str]] = Counter()
    for each in felt:
        visit = each.visit
        key = (each.mechanism.name, visit.place.dataset.name, wording.change(visit.state))
        found[key] += visit.copies * each.mechanism.count
    return found


# ---------------------------------------------------------------------------------------------
# The reasoning in numbered sentences


def chain(solution: Solution, derivation: Step, span: SpanOf) -> tuple[Line, ...]:
    """Returns the derivation as numbered sentences, each with its theorem, premises and spec
    positions."""
    teller = _Teller(solution, span)
    teller.tell(derivation)
    return tuple(teller.lines)


class _Teller:
    """Writes a derivation as numbered sentences; `lines` holds those written so far."""

    def __init__(self, solution: Solution, span: SpanOf) -> None:
        self.solution = solution
        self.span = span
        self.lines: list[Line] = []

    def add(
        self,
        theorem: str | None,
        says: str,
        inputs: Sequence[int],
        bound: Bound | None,
        paths: Sequence[Path],
    ) -> int:
        """Appends one numbered sentence and returns its number.

        `inputs`: the numbers of the sentences it follows from; `paths`: the parts of the spec it is
        about.
        """
        number = len(self.lines) + 1
        spans = tuple(self.span(path) for path in paths)
        self.lines.append(Line(number, theorem, says, tuple(inputs), bound, spans))
        return number

    def tell(self, cite: Step) -> None:
        """Appends all sentences of a derivation: the change, each mechanism's cost, the sum, the
        theorem."""
        (together,) = cite.inputs
        changes = [step for step in together.inputs if step.rule in ("root", "map", "block")]
        before = self._changes(changes)
        kept = [self._unchanged_index(step) for step in together.inputs if step.rule == "kept"]
        costs = [
            self._cost(step) if step.rule == "cost" else self._rest(step)
            for step in together.inputs
            if step.rule in ("cost", "rest")
        ]
        costs += [self._post(step) for step in together.inputs if step.rule == "post"]
        for step in together.inputs:
            if step.rule == "interactive":
                says = wording.concurrent_text(step.facts["names"])
                costs.append(self.add(step.theorem, says, (), None, step.paths))
        assert together.bound is not None and cite.bound is not None
        total = bound_of(together.bound)
        last = self.add(
            together.theorem, self._sum(together, total), [*before[-1:], *kept, *costs], total, ()
        )
        if cite.theorem is not None and cite.theorem != together.theorem:
            entry = BOOK[cite.theorem]
            says = f"{entry.place} ({entry.title}) gives the same bound: {entry.formula}"
            self.add(cite.theorem, says, [last], bound_of(cite.bound), ())

    def _changes(self, steps: Sequence[Step]) -> list[int]:
        """Appends a sentence on each dataset and partition that the change reaches; returns their
        numbers."""
        numbers: list[int] = []
        for step in steps:
            visit: Visit = step.facts["visit"]
            dataset = visit.place.dataset
            if step.rule == "root":
                says = f"the protected change in `{dataset.name}`: {wording.change(visit.state)}"
                numbers.append(self.add(None, says, (), None, step.paths))
            elif step.rule == "map":
                edge = visit.place.edge
                assert edge is not None and edge.made_by is not None
                says = (
                    f"`{dataset.name}` is {edge.made_by.describe()} of "
                    f"`{edge.parent.dataset.name}`: at worst {wording.change(change_at(visit))}"
                )
                if visit.place.above is not None and edge.made_by.conduct().random:
                    says += "; what is drawn is part of the one release that depends on it"
                numbers.append(self.add(step.theorem, says, numbers[-1:], None, step.paths))
            for partition, _, text in splits(visit):
                how = partition.kind.describe()
                says = f"`{partition.name}` splits `{dataset.name}` {how}: {text}"
                numbers.append(self.add(None, says, numbers[-1:], None, (partition.path,)))
        return numbers

    def _unchanged_index(self, step: Step) -> int:
        """Appends a sentence on a dataset that does not change, and returns its number."""
        says = (
            f"`{step.facts['place'].dataset.name}`: {wording.unchanged_text(step.facts['place'])}"
        )
        return self.add(step.theorem, says, (), None, step.paths)

    def _cost(self, step: Step) -> int:
        """Appends a sentence on what one mechanism loses for the worst change, and returns its
        number."""
        felt: ChangeCharge = step.facts["felt"]
        given = step.inputs[0]
        placed = given.facts["placed"]
        statement = placed.statement
        place = felt.visit.place
        where = place.stated_on(statement)
        says = (
            f"`{felt.mechanism.name}` is {wording.guarantee(statement.guarantee)} for "
            f"{statement.relation.neighbours} of `{where.dataset.name}`"
        )
        if len(step.inputs) > 1:
            says += f" (and {len(step.inputs) - 1} more guarantees)"
        read_as = statement.guarantee.notion is not self.solution.notion
        needed = step.facts["steps"]
        reach = "" if not statement.up else f" that reaches `{place.dataset.name}`"
        if needed:
            says += f"; the change{reach} takes {wording.steps(needed, statement.relation)}"
        if read_as:
            says += f"; read as {self.solution.notion.facts.words}"
        if felt.mechanism.count > 1:
            says += f"; {wording.count_text(felt.mechanism.count)} copies"
        draws = draws_of(place)
        if draws > 1:
            says += f"; in each of {wording.count_text(draws)} draws of the sample"
        if felt.visit.copies > draws:
            says += f"; on each of {wording.count_text(felt.visit.copies // draws)} blocks"
        bound = None if step.bound is None else bound_of(step.bound)
        return self.add(step.theorem, says, (), bound, [given.paths[0]])

    def _rest(self, step: Step) -> int:
        """Appends one sentence for all mechanisms that are not listed one by one, and returns its
        number."""
        says = f"{step.facts['count']} more touches of mechanisms, in the same way"
        bound = None if step.bound is None else bound_of(step.bound)
        return self.add(None, says, (), bound, ())

    def _post(self, step: Step) -> int:
        """Appends a sentence on a post-processing step, which costs nothing, and returns its
        number."""
        post: Derived = step.facts["post"]
        says = f"`{post.name}` uses only released outputs ({wording.listing(post.inputs)}): free"
        return self.add(step.theorem, says, (), None, step.paths)

    def _sum(self, step: Step, total: Bound) -> str:
        """Returns the sentence on how the losses of the mechanisms add up to the bound."""
        units = total.notion.facts.unit
        if not self.solution.felt:
            return "no mechanism feels the change: nothing is lost"
        if step.facts["bounded"]:
            return (
                f"the {units} of the mechanisms that feel the change add up; several units of "
                "change are bounded by group privacy, as a path of single ones"
            )
        says = f"the {units} of the mechanisms that feel the change add up"
        if step.facts["sampled"] and self.solution.loss != self.solution.added_up():
            says += "; what reads one draw of a sample adds up first, and ε becomes "
            says += "ln(1 + q(e^ε - 1)) for each draw"
            if step.facts["displaced"]:
                says += ", with q = 1/2 for a row drawn of its key"
            if step.facts["directed"]:
                says += ", or -ln(1 - q + q·e^-ε) where the row is added"
        return f"{says}; no other change is worse"


def draws_of(place: Place) -> int:
    """Returns how many independent draws of samples a place stands for: the product of those above
    it."""
    draws, edge = 1, place.edge
    while edge is not None:
        draws, edge = draws * edge.rounds, edge.parent.edge
    return draws


def profile_chain(at: At) -> tuple[Line, ...]:
    """Returns the reasoning for a number that is known only at a chosen δ or ε, as numbered
    sentences."""
    lines = [
        Line(number, None, says, (number - 1,) if number > 1 else (), None, ())
        for number, says in enumerate([*at.worst, *at.chain[:-1]], start=1)
    ]
    number = len(lines) + 1
    inputs = tuple(range(1, number))
    return (*lines, Line(number, in_role(Role.PROFILES).id, at.chain[-1], inputs, None, ()))
