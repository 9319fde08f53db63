"""The derivation of a bound: one sequence of steps, and the chain and the tree made from it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.loss import proved
from dpcompose.core.loss.visits import Visit
from dpcompose.core.loss.walk import Choice
from dpcompose.core.model.problem import Partition, Path, Problem
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import (
    amplifying,
    change_at,
    cost_of,
    theorem_of_change,
    unchanged_places,
)
from dpcompose.core.search.solver import ChangeCharge, Solution, Solver
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import behind, in_role
from dpcompose.curves.rounding import plural
from dpcompose.report import At, Bound, Line, Node, NodeKind, SpanOf, TouchCount, wording
from dpcompose.report.explanation import MOST, splits, touched_by
from dpcompose.report.formula_words import in_words
from dpcompose.report.reasoning import Proof, ProofStep

#: The words for a unit that adds up, where its symbol alone would not be understood.
_ADDING = {"μ²": "the squares of μ"}
#: So many different amounts are written out in a sum.
_MOST_TERMS = 6


class Step(NamedTuple):
    """One step of the derivation of a bound: what it is about, by which theorem, what is lost.

    `kind`: that of its line in the tree; also a `block` that changes, and a dataset that is
    `kept` as it is, which have no line of their own there. `says`: the
    sentence of the chain; `shortly`: the words of the line. `bound`: the loss, of a mechanism on
    one of the equal blocks; `total`: that on all of them. `paths`: where the spec states it.
    `visit`: the dataset of the worst change that it belongs to; `partition`: of it, for one that is
    split; `change`: what the change becomes there, in words; `charge`: of a mechanism. `reached`:
    whether some mechanism here or below feels the change.
    """

    kind: NodeKind | Literal["block", "kept"]
    name: str
    says: str
    shortly: str = ""
    theorem: str | None = None
    bound: Bound | None = None
    total: Bound | None = None
    paths: tuple[Path, ...] = ()
    visit: Visit | None = None
    partition: Partition | None = None
    change: str = ""
    charge: ChangeCharge | None = None
    reached: bool = True


# ---------------------------------------------------------------------------------------------
# The steps


def of_solution(solver: Solver, solution: Solution, proof: Proof) -> list[Step]:
    """Returns the derivation of a solution's first bound: the worst change from the roots down with
    the cost of each mechanism, what is free, and how their losses combine by the `proof`."""
    problem = solver.problem
    drawn = {
        (each.dataset, each.change): each.theorem for each in proof.steps if each.kind == "drawn"
    }
    found = [
        each._replace(theorem=drawn.get((each.name, each.change), each.theorem))
        if each.kind == "dataset" and each.theorem is not None
        else each
        for each in _of_change(problem, solution.visits, solution.charges, solution)
    ]
    rest = solution.charges[MOST:]
    if rest:
        lost, short = solution.quantity(solution.added_up(rest)), f"{len(rest)} more"
        says = f"{short} touches of mechanisms, in the same way"
        bound = None if lost is None else bound_of(lost)
        found.append(Step("more", "", says, f"{short}, in the same way", bound=bound))
    free = in_role(Role.POST_PROCESSING).id
    for post in problem.post_processing[:MOST]:
        inputs = wording.listing(post.inputs)
        says = f"`{post.name}` uses only released outputs ({inputs}): free"
        short = f"uses {inputs} alone: costs nothing"
        found.append(Step("free", post.name, says, short, free, paths=(post.path,)))
    found += _concurrent(problem, solution.notion)
    return [*found, *_sums(solution, proof)]


def of_profile(
    problem: Problem,
    visits: Sequence[Visit],
    charges: Sequence[ChangeCharge],
    first: At,
    proof: Proof,
) -> list[Step]:
    """Returns the steps of a result that is finite only at a δ or ε: the worst change at the
    `first`, and what composes. They have no sentences.

    `visits`, `charges`: an example change. Where the worst change is another one, only the
    mechanisms that it reaches are listed.
    """
    same = same_reach(first, charges)
    found = list(_of_change(problem, visits, charges) if same else _steps_by_name(problem, first))
    found += _concurrent(problem, Notion.PROFILE)
    composed = next((each for each in first.chain if each.startswith("what composes")), "")
    says = composed.replace("what composes", "composed as distributions of losses", 1)
    theorem = next(each.theorem for each in proof.steps if each.kind == "combined")
    return [*found, Step("sum", "", "", says or "nothing is lost", theorem)]


def same_reach(at: At, charges: Iterable[ChangeCharge]) -> bool:
    """Returns whether the worst change at a point reaches just what an example change reaches."""
    return touched_by(charges) == Counter(
        {(each.mechanism, each.dataset, each.meets): each.times for each in at.touched}
    )


def _of_change(
    problem: Problem,
    visits: Sequence[Visit],
    charges: Sequence[ChangeCharge],
    solution: Solution | None = None,
) -> Iterator[Step]:
    """Yields the steps of a change: each dataset that it reaches, with its mechanisms, the datasets
    made from it that do not change, and its partitions.

    `solution`: None where mechanisms have no cost of their own. Of a solution `MOST` mechanisms are
    yielded, and so many datasets that do not change.
    """
    by_visit: dict[int, list[ChangeCharge]] = {}
    for charge in charges if solution is None else charges[:MOST]:
        by_visit.setdefault(id(charge.visit), []).append(charge)
    reached = _with_all_above(each.visit for each in charges)
    into = {
        (id(each.above), id(each.place.edge.partition))
        for each in visits
        if each.place.edge is not None and id(each) in reached
    }
    kept: set[int] = set()
    for visit in visits:
        theorem = amplifying(visit) if solution is None else theorem_of_change(visit)
        yield _arrival(visit, theorem)._replace(reached=id(visit) in reached)
        for charge in by_visit.get(id(visit), ()):
            yield stated(charge) if solution is None else _cost_step(problem, solution, charge)
        for below in () if solution is None else unchanged_places(visit):
            if id(below) not in kept and len(kept) < MOST:
                kept.add(id(below))
                name, short = below.dataset.name, wording.unchanged_text(below)
                says, theorem = f"`{name}`: {short}", in_role(Role.KEPT).id
                paths = (below.dataset.path,)
                yield Step("kept", name, says, short, theorem, paths=paths, visit=visit)
        for partition, choice, text in splits(visit):
            how = partition.kind.describe()
            yield Step(
                "partition",
                partition.name,
                f"`{partition.name}` splits `{visit.place.dataset.name}` {how}: {text}",
                _split_words(partition, choice, text),
                paths=(partition.path,),
                visit=visit,
                partition=partition,
                reached=(id(visit), id(partition)) in into,
            )


def _with_all_above(visits: Iterable[Visit]) -> set[int]:
    """Returns the identities of visits and of all visits above them."""
    found: set[int] = set()
    for visit in visits:
        each: Visit | None = visit
        while each is not None and id(each) not in found:
            found.add(id(each))
            each = each.above
    return found


def _arrival(visit: Visit, theorem: str | None) -> Step:
    """Returns the step by which the change comes to a visited dataset; one without words for a
    block."""
    dataset, edge, change = visit.place.dataset, visit.place.edge, wording.change(change_at(visit))
    if edge is not None and edge.made_by is None:
        return Step("block", dataset.name, "", visit=visit, change=change)
    if edge is None or edge.made_by is None:
        says = f"the protected change in `{dataset.name}`: {change}"
        whole = "all rows of one unit"  # the line on what is protected says the rest
        short = whole if visit.state and change.startswith(whole) else change
    else:
        how, short = edge.made_by.describe(), _shorter(change)
        says = f"`{dataset.name}` is {how} of `{edge.parent.dataset.name}`: at worst {change}"
        if visit.place.above is not None and edge.made_by.conduct().random:
            says += "; what is drawn is part of the one release that depends on it"
        if isinstance(edge.made_by, Sample):
            short = f"{how}: {short}"
    if visit.via is not None and visit.via.units > 1:
        short += f", {wording.count_text(visit.via.units)} times"
    paths = (dataset.path,)
    return Step(
        "dataset", dataset.name, says, short, theorem, paths=paths, visit=visit, change=change
    )


def _split_words(partition: Partition, choice: Choice, says: str) -> str:
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


def _cost_step(problem: Problem, solution: Solution, charge: ChangeCharge) -> Step:
    """Returns the step that says what one mechanism loses for the worst change, and why."""
    cost, notion = cost_of(solution, charge), solution.notion
    mechanism, visit, place = charge.mechanism, charge.visit, charge.place
    statement = cost.used[0].statement
    relation, guarantee = statement.relation, statement.guarantee
    stated_on = place.stated_on(statement).dataset.name
    more = f"and {plural(len(cost.used) - 1, 'more guarantee')}"
    read_as = f"read as {notion.facts.words}"
    draws = _draws_of(place)
    says = (
        f"`{mechanism.name}` is {wording.guarantee(guarantee)} for {relation.neighbours} of "
        f"`{stated_on}`"
    )
    if len(cost.used) > 1:
        says += f" ({more})"
    if cost.steps:
        reach = "" if not statement.up else f" that reaches `{place.dataset.name}`"
        says += f"; the change{reach} takes {wording.steps(cost.steps, relation)}"
        if len(cost.used) > 1:
            says += ", or steps of the others in their place"
    if guarantee.notion is not notion:
        says += f"; {read_as}"
    if mechanism.count > 1:
        says += f"; {wording.count_text(mechanism.count)} copies"
    if draws > 1:
        says += f"; in each of {wording.count_text(draws)} draws of the sample"
    if visit.copies > draws:
        says += f"; on each of {wording.count_text(visit.copies // draws)} blocks"
    short = [wording.shortly(guarantee)]
    if cost.steps > 1 and len(cost.used) == 1:
        squared = "²" if notion is guarantee.notion is Notion.ZCDP else ""
        short = [f"{wording.count_text(cost.steps)}{squared} × {short[0]}"]
    if relation != problem.goal.relation and guarantee.noise is None:
        short.append(f"{relation}")
    if statement.up:
        short.append(f"on `{stated_on}`")
    if len(cost.used) > 1:
        short.append(more)
    if guarantee.notion is not notion:
        short.append(read_as)
    total = solution.share(charge)
    if notion is not Notion.APPROX:  # its δ at a distance is rounded too
        total = total._replace(exact=cost.bound is not None and cost.bound.exact)
    return Step(
        "mechanism",
        mechanism.name,
        says,
        _copies(charge) + ", ".join(short),
        cost.theorem,
        None if cost.bound is None else bound_of(cost.bound),
        bound_of(total),
        (statement.path,),
        visit,
        charge=charge,
    )


def stated(charge: ChangeCharge) -> Step:
    """Returns the step that tells the stated guarantee of a mechanism, without a cost."""
    short = _copies(charge) + wording.shortly(charge.placed[0].statement.guarantee)
    return Step("mechanism", charge.mechanism.name, "", short, visit=charge.visit, charge=charge)


def _copies(charge: ChangeCharge) -> str:
    """Returns how many copies and draws one line counts: `3 × ` or `10 draws: `."""
    parts: list[str] = []
    draws = _draws_of(charge.place)
    if charge.mechanism.count > 1:
        parts.append(f"{wording.count_text(charge.mechanism.count)} × ")
    if draws > 1:
        parts.append(f"{wording.count_text(draws)} draws: ")
    return "".join(parts)


def _draws_of(place: Place) -> int:
    """Returns how many independent draws a place stands for: the product of the numbers of draws of
    all samples above it."""
    draws, edge = 1, place.edge
    while edge is not None:
        draws, edge = draws * edge.rounds, edge.parent.edge
    return draws


def _concurrent(problem: Problem, notion: Notion) -> Iterator[Step]:
    """Yields the step on mechanisms that are open at the same time; nothing if all answer once."""
    found = problem.interactive
    if found:
        verb = "answers" if len(found) == 1 else "answer"
        says = f"{wording.listing(found)} {verb} questions in any order, between those to others: "
        says += "the same sum"
        theorem = in_role(Role.CONCURRENT, notion).id
        yield Step("theorem", "", says, says, theorem, paths=tuple(found.values()))


def _steps_by_name(problem: Problem, at: At) -> Iterator[Step]:
    """Yields the datasets and mechanisms that the change at a point reaches, where the path to them
    is not known."""
    mechanisms = {each.name: each.path for each in problem.mechanisms()}
    datasets = {each.name: each.path for each in problem.datasets()}
    by_dataset: dict[tuple[str, str], list[TouchCount]] = {}
    for each in at.touched:
        by_dataset.setdefault((each.dataset, each.meets), []).append(each)
    for (dataset, meets), found in by_dataset.items():
        paths = (datasets[dataset],) if dataset in datasets else ()
        yield Step("dataset", dataset, "", meets, paths=paths)
        for each in found:
            says = "once" if each.times == 1 else f"{wording.count_text(each.times)} times"
            paths = (mechanisms[each.mechanism],)
            yield Step("mechanism", each.mechanism, "", says, paths=paths)


def _sums(solution: Solution, proof: Proof) -> Iterator[Step]:
    """Yields the steps by which the losses of the mechanisms combine into the bound, each with its
    formula: `ε add up: 1 + 7/10 = 17/10`."""
    total = bound_of(solution.quantities[0])
    if not solution.charges:
        nothing = "no mechanism feels the change: nothing is lost"
        yield Step("sum", "", nothing, nothing, bound=total)
        return
    spine = list(_after_copies(proof.spine()))
    if not spine:
        alone = "one mechanism feels the change; no other change is worse"
        yield Step("sum", "", alone, alone, next(iter(proof.of_bound), None), total)
    for step in spine:
        which = _shown(step, solution)
        says = _combined(step, which, proof)
        value = step.quantity(which)
        bound = total if step is spine[-1] else bound_of(value)
        yield Step("sum", "", says, says, step.theorem, bound)


def _after_copies(spine: Sequence[ProofStep]) -> Sequence[ProofStep]:
    """Returns the steps after those that make one mechanism of its copies, which its own line
    shows, if there are any."""
    first = next((n for n, each in enumerate(spine) if len(each.premises) > 1), 0)
    return spine[first:]


def _shown(step: ProofStep, solution: Solution) -> int:
    """Returns the number of the value of a step that is told: that of the bound, or the first."""
    first = solution.quantities[0]
    pair = (Fraction(first.amount), Fraction(first.delta))
    return step.values.index(pair) if pair in step.values else 0


def _combined(step: ProofStep, which: int, proof: Proof) -> str:
    """Returns how a step combines losses, with its numbers."""
    formula, of_delta = step.formulas[which]
    units = step.notion.facts.unit
    units = _ADDING.get(units, units) if step.notion is not Notion.APPROX else "ε"
    if formula is None:
        count = len(step.premises)
        return f"the worst of all ways over blocks, by {step.method}; {count} losses are compared"
    numbers = step.numbers(which, proof.steps)
    epsilon, delta = step.values[which]
    says = f"{units} add up: " if formula in ("sum(x)", "n * x") else f"{units}: "
    if formula.endswith("max(x)") and step.theorem is not None:
        says = f"{units} of the worst block: "
    says += _equation(in_words(formula, numbers), epsilon)
    if of_delta is not None and delta:
        told = {**numbers, "x": numbers.get(proved.delta_name("x"), ()), "epsilon": epsilon}
        told["y"] = numbers.get(proved.delta_name("y"), ())
        alike = formula if proved.of_delta(formula) == of_delta else None
        text = in_words(of_delta, {**numbers, **told}) if alike is None else in_words(alike, told)
        says += f"; δ: {_equation(text, delta)}"
    return says


def _equation(text: str, value: Fraction) -> str:
    """Returns a formula with its value, `1 + 0.7 = 1.7`; the value alone where they read alike."""
    found = wording.number(value)
    return found if text == found else f"{text} = {found}"


# ---------------------------------------------------------------------------------------------
# The views

#: The sort key of a sentence, by the kind of its step; all other kinds come last.
_ORDER = {"dataset": 0, "partition": 0, "kept": 1, "mechanism": 2}


def chain(steps: Iterable[Step], span: SpanOf) -> tuple[Line, ...]:
    """Returns a derivation as numbered sentences, each with its theorem, premises and spec
    positions: the change, each mechanism's cost, the sum, the theorem."""
    lines: list[Line] = []
    told = [each for each in steps if each.kind != "block"]
    # The sum follows from all of them, and what comes after it from the sentence before.
    premises: list[int] = []
    summed_up = False
    for step in sorted(told, key=lambda each: _ORDER.get(each.kind, 3)):
        number, inputs = len(lines) + 1, premises
        if step.visit is not None and step.visit.above is None and step.kind == "dataset":
            inputs, premises = [], [number]
        elif step.kind in ("dataset", "partition", "sum") or summed_up:
            premises = [number]
        else:
            inputs, premises = [], [*premises, number]
        summed_up = summed_up or step.kind == "sum"
        spans = tuple(map(span, step.paths))
        lines.append(Line(number, step.theorem, step.says, tuple(inputs), step.bound, spans))
    return tuple(lines)


def profile_chain(at: At) -> tuple[Line, ...]:
    """Returns the reasoning for a number at a chosen δ or ε, as numbered sentences."""
    lines = [
        Line(number, None, says, (number - 1,) if number > 1 else (), None, ())
        for number, says in enumerate([*at.worst, *at.chain[:-1]], start=1)
    ]
    number = len(lines) + 1
    inputs = tuple(range(1, number))
    return (*lines, Line(number, in_role(Role.PROFILES).id, at.chain[-1], inputs, None, ()))


def tree(
    steps: Sequence[Step], ats: Iterable[At], span: SpanOf, told: At | None = None
) -> tuple[Node, ...]:
    """Returns a derivation as lines: the worst change from the roots down, costs, sum, theorem,
    then the readings.

    A reading is a number at a chosen δ or ε (`ats`); `told`: the one whose worst change is shown
    above already. Each dataset lists its mechanisms first; what no mechanism feels is left out
    below the roots.
    """
    nodes: list[Node] = []

    def add(depth: int, step: Step) -> None:
        """Appends the line of a step at a level below the roots."""
        kind: NodeKind = "dataset" if step.kind == "kept" else step.kind  # type: ignore[assignment]
        paths = step.paths if step.charge is None else (step.charge.mechanism.path,)
        bound, theorem, spans = step.total or step.bound, step.theorem, tuple(map(span, paths))
        says = step.shortly if step.charge is None else _where(step.charge.visit) + step.shortly
        nodes.append(Node(len(nodes) + 1, depth, kind, step.name, says, bound, theorem, spans))

    below = _below(steps)
    # A stack in place of recursion, since specs may be deep; the next item is its last one.
    stack = [(0, number) for number in reversed(below.get(None, []))]
    while stack:
        depth, number = stack.pop()
        add(depth, steps[number])
        inside = sorted(below.get(number, ()), key=lambda n: steps[n].kind not in _LEAVES)
        stack += [(depth + 1, each) for each in reversed(inside)]
    for step in steps:
        if step.visit is None:
            add(int(step.kind == "mechanism"), step)
    for at in ats:
        if at.value is not None:
            add(0, _reading(at, told))
    return tuple(nodes)


#: The kinds of steps with nothing below them.
_LEAVES = ("mechanism", "kept")


def _below(steps: Sequence[Step]) -> dict[int | None, list[int]]:
    """Returns the numbers of the steps to list below each step of the tree, by its number; below
    None the roots.

    What a block has is listed below its partition.
    """
    home: dict[int, int] = {}  # by visit: the step below which what it has is listed
    split: dict[tuple[int, int], int] = {}
    below: dict[int | None, list[int]] = {}
    for number, step in enumerate(steps):
        visit = step.visit
        if visit is None:
            continue
        if step.kind == "block":
            assert visit.place.edge is not None
            home[id(visit)] = split[id(visit.above), id(visit.place.edge.partition)]
            continue
        above = home.get(id(visit.above if step.kind == "dataset" else visit))
        if step.kind == "dataset":
            home[id(visit)] = number
        elif step.partition is not None:
            split[id(visit), id(step.partition)] = number
        if step.reached or above is None:
            below.setdefault(above, []).append(number)
    return below


def _where(visit: Visit) -> str:
    """Returns the words before the cost of a mechanism on a block; nothing on other datasets."""
    edge = visit.place.edge
    if edge is None or edge.partition is None:
        return ""
    if visit.copies > 1:
        return f"{wording.count_text(visit.copies)} blocks of "
    names = edge.partition.classes[edge.block].names
    return f"block {names[0]}: " if len(names) == 1 else ""


def _reading(at: At, told: At | None) -> Step:
    """Returns the step that reads a number at a chosen δ or ε; `told`: as in `tree`."""
    assert at.value is not None
    entry, given = behind(at.rule), wording.number(at.given)
    if at.wanted == "delta":
        given = wording.chance(given)
    says = f"{at.rule} at {'δ' if at.wanted == 'delta' else 'ε'} = {given}"
    if at.worst and (told is None or at.worst != told.worst):
        says += f"; the worst change there: {'; '.join(at.worst)}"
    epsilon, delta = (at.value, at.given) if at.wanted == "delta" else (at.given, at.value)
    bound = Bound(Notion.APPROX, epsilon, delta, False, False)
    return Step("reading", "", "", says, None if entry is None else entry.id, bound)
