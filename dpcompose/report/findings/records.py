"""Remarks on ledgers: sums that are no guarantee, filters nobody named, units of several names."""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.report.findings.remarks import Finding

#: The codes of this module with their meanings.
RECORD_CODES = {
    "DPC220": "A filter is not named, and follows from what is in the record.",
    "DPC221": "Units that are protected together have different names.",
    "DPC222": "A realised sum is taken for a guarantee.",
    "DPC223": "What was released is gone from its ledger, or says less than it did.",
}
#: The one that only a revision to compare with gives: without it a comment for it is not idle.
REWRITTEN = "DPC223"


def of_record(
    problem: Problem, budget: Budget | None, named: Notion | None, counted: Notion | None
) -> Iterator[Finding]:
    """Remarks on parameters that are chosen along the way.

    `named`: the notion of the filter where the spec names it, `counted`: the one that is used.
    """
    if budget is None:
        yield Finding(
            "DPC222",
            "warning",
            "parameters are chosen along the way, and no budget is given: what has been spent is a "
            "fact about the record, and no guarantee",
            ("adaptivity",),
            "give a budget that was fixed before the first output",
        )
    elif named is not None or "delta" not in dict(budget.parameters):
        return
    elif counted is Notion.GDP:
        yield Finding(
            "DPC220",
            "warning",
            "the budget is counted in μ because every statement is Gaussian; a later release that "
            "is not would change that, and a filter is chosen before the first output",
            ("adaptivity",),
            "write `filter: gdp`, or `filter: zcdp` where others may follow",
        )
    elif counted is Notion.ZCDP and any(Notion.GDP in m.stated_in for m in problem.mechanisms()):
        yield Finding(
            "DPC220",
            "warning",
            "the budget is counted in ρ because not every statement is Gaussian; while all were it "
            "would have been counted in μ, and of two filters the better one afterwards is none",
            ("adaptivity",),
            "write `filter: zcdp` if that was chosen before the first output",
        )


def other_units(problem: Problem) -> Iterator[Finding]:
    """Roots whose units have different names, where one step takes all rows of one unit."""
    relation = problem.goal.relation
    if (relation.within or relation).kind is not RelationKind.USER or problem.roots_disjoint:
        return
    first = next((root for root in problem.roots if root.unit is not None), None)
    for root in problem.roots:
        if first is None or root.unit is None or root.unit == first.unit:
            continue
        yield Finding(
            "DPC221",
            "warning",
            f"the unit of `{first.dataset.name}` is `{first.unit}`, and that of "
            f"`{root.dataset.name}` is `{root.unit}`: what is protected is all rows of one of each "
            f"together, which are not all rows of one `{first.unit}` unless the two are the same",
            (*root.dataset.path, "unit"),
            "give the columns the same name if they mean the same, else protect each in a spec of "
            "its own; `roots: disjoint` where nobody is in both",
        )
