"""Remarks on ledgers: sums taken for guarantees, filters that are not named, unlike units."""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.report.findings.remarks import Finding

#: The codes of this module with their meanings.
RECORD_CODES = {
    "DPC220": "A filter is not named, and one in μ would have more room.",
    "DPC221": "Units that are protected together have different names.",
    "DPC222": "A realised sum is taken for a guarantee.",
    "DPC223": "What was released is gone from its ledger, or says less than it did.",
}
#: This code needs a revision to compare with: without one, a comment that ignores it is not unused.
REWRITTEN = "DPC223"


def of_record(problem: Problem, budget: Budget | None, named: Notion | None) -> Iterator[Finding]:
    """Yields the remark on a ledger without a budget, or on a filter in ρ where μ has more room.

    `named`: the notion of the filter where the spec names it.
    """
    from dpcompose.core.at_delta.filters import default_notion

    if budget is None:
        yield Finding(
            "DPC222",
            "warning",
            "parameters are chosen along the way, and no budget is given: what has been spent is a "
            "fact about the record, and no guarantee",
            ("adaptivity",),
            "give a budget that was fixed before the first output",
        )
    elif (
        named is None
        and default_notion(budget) is Notion.ZCDP
        and all(Notion.GDP in each.stated_in for each in problem.mechanisms())
    ):
        yield Finding(
            "DPC220",
            "note",
            "no filter is named, so that the budget is counted in ρ whatever is released; where "
            "every release is Gaussian, a filter in μ has more room",
            ("adaptivity",),
            "name the filter before the first output: `gdp`, or `zcdp` where others may follow",
        )


def other_units(problem: Problem) -> Iterator[Finding]:
    """Yields a remark (DPC221) for each root whose unit has another name than the first root's.

    Only where all rows of one unit are protected together.
    """
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
