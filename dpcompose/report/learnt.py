"""Who learns what: bounds for the same release where a row is replaced in some columns only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from dpcompose.core.change.maps.kind import Readers
from dpcompose.core.model.problem import ColumnQuestion, Dataset, Problem
from dpcompose.errors import in_order
from dpcompose.report import Learnt, Report
from dpcompose.report.certify import CertifiedRelease, certify
from dpcompose.report.findings.reasons import why_none
from dpcompose.report.findings.remarks import Finding
from dpcompose.report.outcomes import Case
from dpcompose.report.recheck import certificate_lines
from dpcompose.report.recheck import recheck as checked

#: Questions about single columns are asked of so many columns at most, the first ones of a spec.
MOST_ASKED = 200


def unanswered(problem: Problem, questions: Sequence[ColumnQuestion]) -> Iterator[Finding]:
    """Yields at most one remark (DPC230): why questions about columns have no answer, or no useful
    one.

    The reasons: no columns are listed, no rows are protected, too many columns, or no map or
    partition says which columns it uses.
    """
    goal, root = problem.goal, problem.roots[0].dataset
    columns = frozenset(name for each in problem.roots for name in each.columns or ())
    alike = all(frozenset(each.columns or ()) == columns for each in problem.roots)
    if not questions:
        says = f"`{root.name}` does not list its columns, so that there is none to ask about"
        hint = f"list all that a row has: `{root.name}: {{columns: […]}}`"
        yield Finding("DPC230", says, root.path, hint)
    elif questions[0].goal(goal) is None:
        says = f"{goal.relation} neighbours are protected: what is learnt of a column is about rows"
        yield Finding("DPC230", says, ("protect",), "ask it of a spec that protects rows")
    elif len(columns) > MOST_ASKED and len(questions) >= MOST_ASKED:
        says = f"there are {len(columns)} columns, of which the first {MOST_ASKED} are asked about"
        hint = "ask about others by `report: {questions: …}`, several columns at once if need be"
        yield Finding("DPC230", says, root.path, hint)
    elif alike and not any(_uses_columns(each, columns) for each in problem.datasets()):
        says = "no map and no partition says which columns it uses, so that all answers are alike"
        hint = "write `uses: […]` where it is true, or select columns: `map: {kind: columns, …}`"
        yield Finding("DPC230", says, root.path, hint)


def _uses_columns(dataset: Dataset, columns: frozenset[str]) -> bool:
    """Returns whether a map or partition of a dataset is declared to use some columns."""
    for partition in dataset.partitions:
        if partition.kind.where(columns).stays and not partition.kind.where(()).stays:
            return True
    made = (each.made_by for each in dataset.derived if each.made_by is not None)
    said = (at for each in made for _, at in each.declares("", Readers((), 0)))
    return any(at in _SAID_AT for at in said)


#: The keys of a map that declare on which columns it depends.
_SAID_AT = (("uses",), ("only",), ("column",))


#: Why a ledger answers no question: its filter was set for the protected change, and none for a
#: change of some columns.
_ALONG_THE_WAY = (
    "Parameters are chosen along the way: what was spent so far is no guarantee, for changes of "
    "some columns neither. Way out: a ledger that protects these changes, with a budget of its "
    "own; or `adaptivity: adaptive` where all was planned together."
)


def with_attributes(report: Report, case: Case, by_attribute: bool) -> Report:
    """Returns the report with the answers to the questions of its spec; `by_attribute`: also about
    each of its columns. Raises Unproved where a recheck fails.

    Each answer is the bound of the same release when a row changes in these columns only; the
    stated guarantees stay those of the protected relation (theory, section 12). Questions are left
    out where something else than rows is protected.
    """
    problem, questions = case.problem, [*case.resolved.questions]
    if by_attribute:
        names = dict.fromkeys(name for root in problem.roots for name in root.columns or ())
        questions += [ColumnQuestion(name, (name,)) for name in islice(names, MOST_ASKED)]
    if case.resolved.ledger:
        why = (_ALONG_THE_WAY,)
        none = (Learnt(each.name, each.changes, None, reasons=why) for each in questions)
        return replace(report, attributes=tuple(none))
    answers: list[Learnt] = []
    rechecked = report.rechecked
    for each in questions:
        goal = each.goal(problem.goal)
        if goal is None:
            continue
        found = certify(
            replace(problem, goal=goal), case.limits, case.deltas, risk=case.risk, compared=False
        )
        answers.append(_learnt(each, found))
        if case.recheck:
            claims = checked(certificate_lines(found.solver, found.solutions))
            rechecked = None if rechecked is None else rechecked.plus(claims)
    remarks = (each.at(case.source) for each in unanswered(problem, questions))
    findings = in_order((*report.findings, *remarks))
    return replace(report, attributes=tuple(answers), rechecked=rechecked, findings=findings)


def _learnt(question: ColumnQuestion, found: CertifiedRelease) -> Learnt:
    """Returns the answer to a question by what is certified for a change of its columns alone."""
    first = next(iter(found.solutions), None)
    known = first is not None or any(at.value is not None for at in found.at_delta)
    _, felt = found.solver.profile.example_change() if first is None else ((), first.felt)
    return Learnt(
        question.name,
        question.changes,
        next(iter(found.bounds), None),
        found.at_delta,
        found.risk,
        tuple(dict.fromkeys(each.mechanism.name for each in felt)) if known else (),
        () if known else tuple(why_none(found)),
    )
