"""The reasons why a problem has no finite bound: what is missing, and the way out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.loss.cost import least_amount
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.loss.visits import Visit
from dpcompose.core.mechanisms import form_of
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Path, Problem, Root
from dpcompose.core.model.protected import initial
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.accountant import Accountant
from dpcompose.core.search.solver import ChangeCharge, Solution, charges_of
from dpcompose.report import At
from dpcompose.report.certify import CertifiedRelease
from dpcompose.report.wording import change, listing, number

_CHOOSE = "write `report: {delta: 1e-6}` in the spec, or `--delta 1e-6` on the command line"


def why_none(found: CertifiedRelease) -> list[str]:
    """Returns the reasons why there is no finite bound, those with one way out in one text."""
    problem, solutions, asked = found.solver.problem, found.solved, found.chosen
    told: list[Reason] = []
    if asked or not solutions:
        told.extend(_at_any_point(problem, found.solver.tops))
    if not told and asked:
        told.extend(_beyond(found.points))
    if not told and solutions:
        told.extend(reasons(solutions[0], asked))
    causes: dict[str, dict[str, None]] = {}
    for says, way_out, _ in told:
        causes.setdefault(way_out, {})[f"{says[:1].upper()}{says[1:]}."] = None
    why = [f"{' '.join(says)} Way out: {way_out}." for way_out, says in causes.items()]
    if not solutions and not asked:
        why.append(missing_notion(problem))
    return why or ["no finite bound is known for the worst change"]


def reasons(solution: Solution, asked: bool = False) -> Iterator[Reason]:
    """Yields a reason for each sample and mechanism that has no finite loss at the worst change.

    `asked`: a δ was asked for, so that choosing one is no way out.
    """
    none = solution.algebra.none
    for visit in solution.visits:
        yield from _sampled(solution, visit, asked)
        yield from _in_steps(solution, visit)
    yield from uncovered(charge for charge in solution.charges if charge.loss == none)


# ---------------------------------------------------------------------------------------------
# Samples


def _sampled(solution: Solution, visit: Visit, asked: bool) -> Iterator[Reason]:
    """Yields the reason why a sample on the path of the worst change has no finite loss, if so;
    `asked`: a δ was asked for."""
    dataset, sample, none = visit.place.dataset, visit.place.dataset.made_by, solution.algebra.none
    if not isinstance(sample, Sample) or visit.via is None or visit.via.loss != none:
        return
    path = (*dataset.path, "map")
    if sample.size is not None and in_public_sample(visit.place, visit.state):
        yield _only_replaced(visit.place), _REPLACE, path
    elif solution.notion in (Notion.GDP, Notion.ZCDP) and visit.answer.loss != none and not asked:
        names = dict.fromkeys(
            charge.mechanism.name
            for charge in solution.charges
            if any(each.dataset is dataset for each in upwards(charge.place))
        )
        verb = "reads" if len(names) == 1 else "read"
        symbol = solution.notion.facts.sign
        says = (
            f"{listing(names)} {verb} the sample `{dataset.name}`, which amplifies an ε and a δ, "
            f"not a {symbol}: the number is known only at a chosen δ"
        )
        yield says, _CHOOSE, path


def _in_steps(solution: Solution, visit: Visit) -> Iterator[Reason]:
    """Yields the reason why batches or steps on the path of the worst change have no finite loss,
    if so: any number of them may change."""
    dataset, none = visit.place.dataset, solution.algebra.none
    if visit.via is None or visit.via.loss != none or visit.answer.loss == none:
        return
    if isinstance(dataset.made_by, Batches | Allocate):
        batches = isinstance(dataset.made_by, Batches)
        one, all_ = ("batch", "batches") if batches else ("step", "steps")
        says = f"the worst change may reach all {all_} of `{dataset.name}`"
        hint = f"protect a change of known rows: a guarantee of one {one} says nothing of all"
        yield says, hint, (*dataset.path, "map")


_REPLACE = "protect `bounded` neighbours, or draw each row by chance (`poisson: q`)"


def _only_replaced(place: Place) -> str:
    """Returns the message that a sample of fixed size is private for one replaced row only."""
    return (
        f"the sample `{place.dataset.name}` has a fixed size, and hides one replaced row; nothing "
        "is known for another change of what is sampled"
    )


# ---------------------------------------------------------------------------------------------
# Numbers at a chosen δ


def _at_any_point(problem: Problem, tops: Sequence[tuple[Root, Place]]) -> Iterator[Reason]:
    """Yields a reason for each mechanism without a finite loss at any δ, and each sample."""
    accountant = Accountant(Patterns())
    none = accountant.algebra.none
    reached: list[ChangeCharge] = []
    for root, top in tops:
        stack = [(top, initial(root, top, problem.goal))]
        while stack:
            place, state = stack.pop()
            answer = accountant.answer(place, state)
            if not state or answer.loss != none:
                continue
            charged = charges_of([Visit(place, state, 1, 1, answer, None)], accountant.algebra)
            reached.extend(each for each in charged if each.loss == none)
            below = []
            for choice in answer.choices:
                for branch in choice.branches if choice.loss == none else ():
                    if in_public_sample(branch.place, branch.state):
                        yield _only_replaced(branch.place), _REPLACE, branch.place.dataset.path
                    below.append((branch.place, branch.state))
            stack.extend(reversed(below))
    yield from uncovered(reached)


def _beyond(found: Sequence[At]) -> Iterator[Reason]:
    """Yields the reason for each point without a number: the δ is too small, or the ε is."""
    for at in found:
        if at.value is not None:
            continue
        given = number(at.given)
        if at.wanted == "epsilon":
            yield f"at ε = {given} no δ below 1 holds", "choose a larger ε", ()
        elif not at.given:
            says = "at δ = 0 no ε is finite: something of what is composed has a δ or is known by "
            yield f"{says}a ρ, a μ or a curve", "choose a δ above 0", ()
        else:
            says = f"at δ = {given} no ε is finite: what is composed gives all away with a greater"
            yield f"{says} chance", "choose a larger δ, or state smaller δ's", ()


def missing_notion(problem: Problem) -> str:
    """Returns why the mechanisms of a spec have no notion in common, and the way out."""
    seen: dict[str, str] = {}
    for mechanism in problem.mechanisms():
        stated = " or ".join(sorted(each.value for each in mechanism.stated_in))
        seen.setdefault(stated, mechanism.name)
    parts = [f"`{name}` is stated as {stated}" for stated, name in list(seen.items())[:4]]
    if len(seen) == 1:
        return f"{parts[0]}, which is a number only at a chosen δ. Way out: {_CHOOSE}"
    return (
        f"{' and '.join(parts)}: these have no notion in common without choosing a δ. "
        "pure converts to approx, to zcdp and to gdp, and gdp to zcdp; nothing else converts "
        f"without a δ. Way out: {_CHOOSE}; or state all of them in one notion"
    )


# ---------------------------------------------------------------------------------------------
# Why the guarantees of one mechanism do not cover a change that reaches it, and the way out


#: A reason: what is missing, the way out, and the path in the spec.
Reason = tuple[str, str, Path]


def uncovered(reached: Iterable[ChangeCharge]) -> Iterator[Reason]:
    """Yields why statements do not cover a change, once for mechanisms with the same reason.

    Nothing below a sample of fixed size, which is a reason itself.
    """
    alike: dict[tuple[str, str], list[ChangeCharge]] = {}
    for each in reached:
        if not in_public_sample(each.place, each.state):
            alike.setdefault((_message(each, ()), _way_out(each)), []).append(each)
    for (_, way_out), group in alike.items():
        yield _message(group[0], group), way_out, group[0].mechanism.path


def _readers(group: Sequence[ChangeCharge]) -> str:
    """Returns which mechanisms read what: "`a`, `b` read `t` and `c` reads `u`"."""
    names: dict[str, list[str]] = {}
    for each in group:
        names.setdefault(each.place.dataset.name, []).append(each.mechanism.name)
    parts = [
        f"{listing(mechanisms)} {'read' if len(mechanisms) > 1 else 'reads'} `{dataset}`"
        for dataset, mechanisms in names.items()
    ]
    more = f" and {len(parts) - _MOST_DATASETS} more datasets are read"
    return ", ".join(parts[:_MOST_DATASETS]) + (more if len(parts) > _MOST_DATASETS else "")


#: So many datasets are named in one sentence.
_MOST_DATASETS = 6


def _message(touched: ChangeCharge, group: Sequence[ChangeCharge]) -> str:
    """Returns the sentence on what mechanisms read, how that changes, and what is covered."""
    reads = _readers(group)
    many = len(group) > 1
    read = "what they read" if many else "what it reads"
    what = change(touched.state)
    # Where a random map is part of the release, statements below it belong to another place.
    most = touched.place.depth if touched.place.above is None else touched.place.above
    seen = [each for each in touched.placed if touched.place.depth - each.statement.up <= most]
    statements = [each.statement for each in seen]
    if all(each.relation.kind is RelationKind.FREE_LUNCH for each in statements):
        return f"{reads}, where nothing covers the change: {what}"
    if _delta_reaches_one(touched):
        return (
            f"{reads}, where the worst change is: {what}; at that "
            "group distance δ reaches 1, which promises nothing"
        )
    stated = {
        f"{each.relation.neighbours} of "
        + (f"`{touched.place.stated_on(each).dataset.name}`" if each.up else read)
        for each in statements
    }
    covers = " and ".join(sorted(stated))
    why = ""
    between = _random_between(touched)
    if between is not None:
        made_by = between.dataset.made_by
        assert made_by is not None
        why = f" (the {made_by.conduct().random} `{between.dataset.name}` lies between, and more "
        why += "than one release depends on what is drawn)"
    elif any(not each.usable for each in seen):
        why = " (too many datasets with statements lie between)"
    elif _other_columns(touched):
        why = ": a row may be replaced there in other columns than these guarantees speak of"
    elif statements and all(each.relation.kind is RelationKind.BOUNDED for each in statements):
        why = ": no number of replacements adds or removes a row (Example II.9, Theorem VII.2)"
    elif any(each.counted is not None for each in seen) and touched.place.top.traits.unit:
        why = (
            "; all rows of the unit there count, for what is drawn or chosen on the way is not "
            "what those that arrive would give alone"
        )
    elif _curve_alone(touched):
        why = "; at that group distance a curve promises nothing"
    holds = "their guarantees are" if many else "its guarantee is"
    return f"{reads}, where the worst change is: {what}; {holds} for {covers}{why}"


def _other_columns(touched: ChangeCharge) -> bool:
    """Returns whether the guarantees are for replaced rows, but not in all columns that change."""
    relations = [each.statement.relation for each in touched.placed]
    narrow = all(
        each.kind is RelationKind.BOUNDED and (each.keeps or each.changes is not None)
        for each in relations
    )
    return narrow and all(leaf.kind is Kind.PAIR for leaf in all_leaves(touched.state))


def _covered(touched: ChangeCharge) -> bool:
    """Returns whether finitely many steps of the statements cover the change, at any loss."""
    placed: list[Placed] = []
    for each in touched.placed:
        bare = Guarantee(Notion.PURE, each.statement.guarantee.value)
        placed.append(each._replace(statement=each.statement._replace(guarantee=bare)))
    return not isinstance(least_amount(placed, touched.state, Notion.PURE), float)


def _delta_reaches_one(touched: ChangeCharge) -> bool:
    """Returns whether the change is covered, but at a group distance at which δ reaches 1."""
    return any(each.statement.guarantee.delta for each in touched.placed) and _covered(touched)


def _curve_alone(touched: ChangeCharge) -> bool:
    """Returns whether the change is covered, but too far away for a Rényi curve or a profile."""
    curves = (Notion.RDP, Notion.PROFILE)
    return any(each.statement.guarantee.notion in curves for each in touched.placed) and _covered(
        touched
    )


def _random_between(touched: ChangeCharge) -> Place | None:
    """Returns the random place below the dataset of an unusable statement, or None."""
    for each in touched.placed:
        home = touched.place.depth - each.statement.up
        if home < touched.place.given:
            above = (edge.parent for edge in touched.place.ancestors(each.statement.up)[1:])
            return next((place for place in above if place.given == place.depth), touched.place)
    return None


def _way_out(touched: ChangeCharge) -> str:
    """Returns what to write in the spec so that the change is covered."""
    if _delta_reaches_one(touched):
        return "state it with a smaller δ, or for neighbours as far apart as those protected"
    found = all_leaves(touched.state)
    place = touched.place
    between = _random_between(touched)
    if between is not None:
        return f"state its guarantee on what is drawn (`stated_on: {between.dataset.name}`)"
    if touched.place.above is None and any(not each.usable for each in touched.placed):
        return "give the guarantee of the mechanism on the dataset that it reads"
    root = place.top
    if any(leaf.kind is Kind.ANY for leaf in found):
        graphs = (each.traits for each in upwards(place) if each is not place)
        if any(each.shape is Shape.GRAPH and each.degree is None for each in graphs):
            return "declare `max_degree` on the graph"
        return (
            "only a free-lunch guarantee, or one stated on a dataset above the map that loses "
            "track of rows, covers this"
        )
    if _other_columns(touched):
        return "give its guarantee for any row replaced (`relation: bounded`), if it is one"
    if any(leaf.kind is Kind.METRIC for leaf in found):
        return "bound how far the value moves: give its sensitivity for this relation or a diameter"
    if any(leaf.kind is Kind.USER for leaf in found):
        name = root.dataset.name
        return f"cap the rows of each unit of `{name}` (`map: {{kind: cap, rows: m, keep: first}}`)"
    if any(leaf.kind in (Kind.NODE, Kind.NODE_REWIRED) for leaf in found):
        return "declare `max_degree` on the graph, or give a guarantee for that relation"
    if _curve_alone(touched):
        return "state it for neighbours as far apart as those protected"
    noises = (each.statement.guarantee.noise for each in touched.placed)
    forms = [form_of(noise) for noise in noises if noise is not None]
    if any(each.sensitivity is not None for each in forms):
        return (
            "say how far one row added or removed moves it (`sensitivity: {unbounded: …}` beside "
            "`bounded`)"
        )
    if place is root or forms:
        return "give its unbounded guarantee (`relation: unbounded`)"
    if any(isinstance(above.dataset.made_by, Sample) for above in upwards(place)):
        # A statement above a sample is not amplified, if it holds at all.
        return "give its unbounded guarantee (`relation: unbounded`)"
    return (
        f"state the guarantee on the whole table (`stated_on: {root.dataset.name}`), or give its "
        "unbounded guarantee (`relation: unbounded`)"
    )


def upwards(place: Place) -> Iterator[Place]:
    """Yields a place and the places above it, up to the root."""
    yield place
    while place.edge is not None:
        place = place.edge.parent
        yield place


def in_public_sample(place: Place, state: State) -> bool:
    """Returns whether the change may be anything, below a sample of fixed size."""
    return any(leaf.kind is Kind.ANY for leaf in all_leaves(state)) and any(
        isinstance(each.dataset.made_by, Sample) and each.dataset.made_by.size is not None
        for each in upwards(place)
    )
