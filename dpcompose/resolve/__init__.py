"""From a source to a problem: names bound, defaults filled in, meanings checked.

`resolve` reports every fault of a spec at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.model.problem import ColumnQuestion, Goal, Path, Problem
from dpcompose.core.notions.guarantee import LIMITS, AskedRisk, Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NUMBER, Need, Safe
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.memory import without_garbage_collection
from dpcompose.resolve.bind_datasets import Datasets
from dpcompose.resolve.bind_mechanisms import Mechanisms
from dpcompose.resolve.bind_relations import Relations, meaningless
from dpcompose.resolve.blocks import fill, fits
from dpcompose.resolve.forest import Names, SpecPlace, named_by_roots
from dpcompose.resolve.parameters import ADVANTAGE, CHANCE, DELTA, Numbers
from dpcompose.resolve.population import Misleading, canonical
from dpcompose.source import Source, load
from dpcompose.source.rewriting import with_entry
from dpcompose.spec.asked import AdversaryBudget, Protected, WrittenBudget, WrittenQuestion
from dpcompose.spec.asked import Reporting as WrittenReport
from dpcompose.spec.datasets import Table
from dpcompose.spec.model import Spec
from dpcompose.spec.reading import Broken, read

if TYPE_CHECKING:
    from dpcompose.resolve.bind_adversary import Opponent

__all__ = ["Resolved", "resolve"]


class Resolved(NamedTuple):
    """A spec with its meaning.

    `title` is empty where the spec has none. `source` gives the place in the file of every path.
    `budget` speaks of DP, `adversary_budget` of the adversary: a spec has one of them at most.
    `deltas`: where to state the least ε, `epsilons`: where to state the least δ,
    `risk`: where to state what an attacker gains.
    `population`: whose data it is, None where that is not said. `questions`: of which columns to
    say what is learnt, each by itself. `ledger`: parameters are chosen along the way, so that the
    budget is a filter, in the notion `filter` where that is named. `planned`: the reason given for
    `adaptivity: adaptive`, with parameters that are fixed. `numbers`: evaluates a number of the
    spec, each text once.
    """

    problem: Problem
    title: str
    budget: Budget | None
    adversary_budget: Budget | None
    source: Source
    numbers: Numbers
    deltas: tuple[Fraction, ...] = ()
    epsilons: tuple[Fraction, ...] = ()
    risk: AskedRisk | None = None
    adversary: Opponent | None = None
    population: str | None = None
    questions: tuple[ColumnQuestion, ...] = ()
    ledger: bool = False
    filter: Notion | None = None
    planned: str | None = None


def resolve(source: Source) -> Resolved:
    """Returns the resolved spec: its problem, its budget, and what its report is to state.

    Raises InvalidSpec with every fault that was found, in the order of their positions.
    """
    faults = Faults(source)
    with without_garbage_collection():
        found = read(source, faults)
        resolved = None if found is None else _resolved(source, *found, faults)
    faults.raise_if_any()
    assert resolved is not None
    return resolved


@lru_cache(maxsize=1)
def load_resolved(data: bytes | str, name: str, lines_above: int = 0) -> tuple[Source, Resolved]:
    """Returns the one spec in `data`, as it is written and resolved. Raises InvalidSpec.

    `name`, `lines_above`: see `load`. The last one is kept, since advice asks for it again.
    """
    source = load(data, name, lines_above)
    return source, resolve(source)


def _resolved(source: Source, spec: Spec, broken: Broken, faults: Faults) -> Resolved | None:
    """Returns the resolved spec, as far as it could be read; None after an error."""
    constants = [str(path[1]) for path in broken if path[0] == "constants" and len(path) == 2]
    numbers = Numbers(spec.constants, constants, faults)
    relations = Relations(spec.relations, broken, faults)
    budget = None if spec.budget is None else _budget(spec.budget, numbers, faults)
    of_adversary = isinstance(spec.budget, AdversaryBudget)
    asked = None if spec.report is None else _report(spec.report, numbers, faults)
    deltas, epsilons, risk = asked or ((), (), None)
    population = None if spec.population is None else _population(spec.population, faults)
    goal = None if ("protect",) in broken else relations.protected(spec.protect)
    declared = source.at(("datasets",))
    names = Names(declared if isinstance(declared, dict) and declared else None, faults)
    nulls = goal is not None and goal.relation.leaves_nulls
    datasets = Datasets(spec, names, numbers, faults, nulls)
    datasets.build()
    if not spec.datasets or not spec.mechanisms:
        _not_empty(spec, broken, faults)
    roots = [place for place, _ in datasets.roots]
    if goal is not None and not _protects(goal, roots, spec, broken, faults):
        goal = None
    if goal is not None and not isinstance(spec.protect, str):
        goal = goal if _has_columns_of(spec.protect, roots, faults) else None
    listed = None if spec.report is None else spec.report.questions
    questions = () if listed is None else _questions(listed, goal, roots, faults)
    relations.goal = goal
    mechanisms = Mechanisms(names, relations, numbers, faults)
    entries, readable = source.at(("mechanisms",)), iter(spec.mechanisms)
    if isinstance(entries, list) and ("mechanisms",) not in broken:
        for index, entry in enumerate(entries):
            if ("mechanisms", index) in broken:
                mechanisms.look_at(index, entry)
            else:
                mechanisms.add(index, next(readable))
        if mechanisms.post_processing:
            mechanisms.check_post_processing(entries)
    if faults or goal is None or not fits([*datasets.order, *mechanisms.selected], faults):
        return None
    everyone = frozenset(range(len(datasets.roots)))
    for place, root in datasets.roots:
        fill(root.dataset, place)
    problem = Problem(
        goal=goal,
        roots=[root for _, root in datasets.roots],
        adaptive=spec.adaptivity != "independent",
        apart=(everyone,) if spec.roots == "disjoint" else (),
        post_processing=tuple(mechanisms.post_processing),
    )
    _check_ledger(spec, broken, faults)
    _check_interactive(problem, spec, faults)
    adversary = None
    if spec.adversary is not None:
        from dpcompose.resolve.bind_adversary import resolve_adversary

        adversary = resolve_adversary(spec.adversary, problem, numbers, faults)
    elif of_adversary and ("adversary",) not in broken:
        hint = "say what it thinks possible: `adversary: {hypotheses: none-vs-uniform}`"
        message = "the budget speaks of an adversary, and the spec has none"
        faults.add("DPC165", ("budget", "adversary"), message, hint, key=True)
    reason = (spec.because or "") if spec.adaptivity != "parameters" else ""
    return Resolved(
        problem,
        spec.title,
        None if of_adversary else budget,
        budget if of_adversary else None,
        source,
        numbers,
        deltas,
        epsilons,
        risk,
        adversary,
        population,
        questions,
        spec.adaptivity == "parameters",
        None if spec.filter is None else Notion(spec.filter),
        reason if reason.strip() else None,
    )


def _check_ledger(spec: Spec, broken: Broken, faults: Faults) -> None:
    """Reports keys that contradict, or are missing for, parameters that are chosen along
    the way."""
    ledger = spec.adaptivity == "parameters" or ("adaptivity",) in broken
    if spec.filter is not None and not ledger:
        message = "a filter is a budget for parameters that are chosen along the way"
        hint = "add `adaptivity: parameters`, or leave `filter` out"
        faults.add("DPC105", ("filter",), message, hint, key=True)
    if spec.because is not None and "adaptivity" not in spec.model_fields_set:
        message = "a reason is given, and not what for"
        hint = "it says why parameters were fixed: add `adaptivity: adaptive`"
        faults.add("DPC105", ("because",), message, hint, key=True)
    if spec.adversary is not None and spec.adaptivity == "parameters":
        message = (
            "what holds against an adversary with two hypotheses needs parameters that are "
            "fixed before the first output"
        )
        hint = "leave `adversary` out, or `adaptivity: parameters`"
        faults.add("DPC105", ("adversary",), message, hint, key=True)


def _check_interactive(problem: Problem, spec: Spec, faults: Faults) -> None:
    """Reports interactive mechanisms where no theorem holds for them."""
    open_ = next(iter(problem.interactive.values()), None)
    if open_ is None:
        return
    at, hint = (*open_, "interactive"), "leave `interactive` out, or "
    if spec.adaptivity == "independent":
        message = "the questions to an interactive mechanism depend on what was answered"
        hint += "`adaptivity: independent`"
        faults.add("DPC105", at, message, hint, key=True)
    elif spec.adversary is not None:
        message = (
            "what holds against an adversary with two hypotheses is known for mechanisms that "
            "answer once"
        )
        faults.add("DPC105", at, message, f"{hint}`adversary`", key=True)


def _not_empty(spec: Spec, broken: Broken, faults: Faults) -> None:
    """Reports a spec without datasets, or without mechanisms."""
    for key, hint in (
        ("datasets", "name at least the table of sensitive rows: `people: {}`"),
        (
            "mechanisms",
            "say what is released: `{name: count, reads: people, notion: pure, epsilon: 1}`",
        ),
    ):
        if not getattr(spec, key) and all(path[0] != key for path in broken):
            faults.add("DPC108", (key,), f"there are no {key}", hint, key=True)


# --- what is asked --------------------------------------------------------------------------------


def _protects(
    goal: Goal, roots: list[SpecPlace], spec: Spec, broken: Broken, faults: Faults
) -> bool:
    """Returns whether the relation to protect has a meaning on the roots; if not, reports an
    error."""
    found = [(root.name, meaningless(goal.relation, root)) for root in roots]
    silent = next((each for each in found if each[1] and each[1].code == "DPC140"), None)
    complete = all(path[0] != "datasets" for path in broken)
    everywhere = complete and all(reason for _, reason in found)
    name, reason = silent or (found[0] if found and everywhere else ("", None))
    if reason is None:
        return True
    relation = quoted(str(goal.relation))
    message = f"protecting {relation} has no meaning on {quoted(name)}: {reason.says}"
    path: Path = ("datasets", name)
    lacks_unit = reason.code == "DPC147" and isinstance(spec.datasets.get(name), Table)
    faults.add(
        reason.code,
        ("protect",),
        message,
        reason.hint,
        fix=(with_entry, path, "unit: user_id") if lacks_unit else None,
        certain=False,
        related=((path, True, ""),),
    )
    return False


def _has_columns_of(protect: Protected, roots: list[SpecPlace], faults: Faults) -> bool:
    """Returns whether each column that the protected relation keeps or changes is one of some
    root, as far as roots name their columns; if not, reports an error."""
    key = "keeps" if protect.changes is None else "changes"
    names = getattr(protect, key) or []
    return named_by_roots(names, ("protect", key), roots, key == "changes", faults)


def _questions(
    asked: list[WrittenQuestion], goal: Goal | None, roots: list[SpecPlace], faults: Faults
) -> tuple[ColumnQuestion, ...]:
    """Returns the questions about columns that the report asks; those with errors are
    reported."""
    found: dict[str, ColumnQuestion] = {}
    for i, each in enumerate(asked):
        path: Path = ("report", "questions", i)
        if not each.name.strip():
            faults.add("DPC109", (*path, "name"), "a question needs a name", None)
        if each.name in found:
            message = f"the question {quoted(each.name)} is asked twice"
            faults.add("DPC120", (*path, "name"), message, "remove one of them")
        at = (*path, "changes")
        if named_by_roots(each.changes, at, roots, True, faults):
            found[each.name] = ColumnQuestion(each.name, tuple(dict.fromkeys(each.changes)))
    if goal is not None and any(each.goal(goal) is None for each in found.values()):
        message = f"a question is about replaced rows, and {quoted(str(goal.relation))} has none"
        hint = "questions go with `protect: bounded` or `unbounded`"
        faults.add("DPC159", ("report", "questions"), message, hint, key=True)
    return tuple(found.values())


def _budget(written: WrittenBudget, numbers: Numbers, faults: Faults) -> Budget | None:
    """Returns the budget, with the limits whose numbers have no error; None, after an error,
    for a chance of success below its baseline."""
    whole = isinstance(written, AdversaryBudget)
    path: Path = ("budget", "adversary") if whole else ("budget",)
    asked = written.adversary if isinstance(written, AdversaryBudget) else written
    found: dict[str, Fraction | None] = {
        name: numbers.parameter(
            text,
            (*path, name),
            _NEEDS.get(name, NUMBER),
            safe=None if name == "baseline" else "down",
        )
        for name, text in asked
        if text is not None
    }
    if "baseline" in found and not _can_be_met(found, faults):
        return None
    named = ((name, found.get(name)) for name in LIMITS)
    return Budget(tuple((name, value) for name, value in named if value is not None))


def _can_be_met(found: Mapping[str, Fraction | None], faults: Faults) -> bool:
    """Returns whether the largest chance of a right guess that a budget allows (`success`) is at
    least the chance without the data (`baseline`), both being given; reports a smaller one."""
    success, baseline = found["success"], found["baseline"]
    if success is None or baseline is None:
        return False
    if success < baseline:
        message = "a chance of success below its baseline is met by no release"
        hint = "`baseline` is what an attack reaches without the data, `success` what it may"
        faults.add("DPC114", ("budget", "success"), message, hint)
    return success >= baseline


def _population(written: str, faults: Faults) -> str | None:
    """Returns the canonical name of the population; None after an error."""
    try:
        return canonical(written)
    except Misleading as error:
        message = f"the name of the population misleads: {error}"
        hint = "releases on the same people add up by it: write it as the other specs do"
        faults.add("DPC118", ("population",), message, hint)
        return None


def _report(
    written: WrittenReport, numbers: Numbers, faults: Faults
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...], AskedRisk | None]:
    """Returns the δ's at which to state ε, the ε's at which to state δ, and the points at which
    to state an attacker's gain, with defaults filled in."""
    asked = (written.delta, written.epsilon, written.risk, written.questions)
    if not any(each is not None for each in asked):
        hint = "at which δ to state ε, such as `{delta: 1e-6}`"
        message = "a report needs `delta`, `epsilon`, `risk` or `questions`"
        faults.add("DPC102", ("report",), message, hint, key=True)
    deltas = _list_of_numbers(written.delta, ("report", "delta"), numbers, DELTA)
    epsilons = _list_of_numbers(written.epsilon, ("report", "epsilon"), numbers, NUMBER)
    if written.risk is None:
        return deltas, epsilons, None
    chances = (
        _list_of_numbers(given, ("report", "risk", key), numbers, CHANCE, None)
        or getattr(AskedRisk(), key)
        for key, given in written.risk
    )
    return deltas, epsilons, AskedRisk(*chances)


#: What numbers of a budget must be.
_NEEDS = {
    "delta": DELTA,
    "advantage": ADVANTAGE,
    "success": CHANCE,
    "baseline": CHANCE,
}


def _list_of_numbers(
    written: str | list[str] | None,
    path: Path,
    numbers: Numbers,
    need: Need,
    safe: Safe | None = "down",
) -> tuple[Fraction, ...]:
    """Returns the numbers of a list, or one number as a tuple, without duplicates; reports
    errors."""
    if written is None:
        return ()
    several = isinstance(written, list)
    texts = written if isinstance(written, list) else [written]
    listed = [(text, (*path, i) if several else path) for i, text in enumerate(texts)]
    found = [numbers.parameter(text, at, need, safe=safe) for text, at in listed]
    return tuple(dict.fromkeys(value for value in found if value is not None))
