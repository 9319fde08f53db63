"""Remarks on ledgers: sums taken for guarantees, filters that are not named, unlike units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Problem
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import number
from dpcompose.errors import Diagnostic
from dpcompose.report.findings.remarks import Finding

if TYPE_CHECKING:
    from dpcompose.report import Report

#: The codes of this module with their meanings.
RECORD_CODES = {
    "DPC220": "A filter is not named, and one in μ would have more room.",
    "DPC221": "Units that are protected together have different names.",
    "DPC222": "A realised sum is taken for a guarantee.",
    "DPC223": "What was released is gone from its ledger, or says less than it did.",
    "DPC224": "The same people are counted against two budgets, each by itself.",
}
#: This code needs a revision to compare with: without one, a comment that ignores it is not unused.
REWRITTEN = "DPC223"
#: This code needs several specs in one call: a comment that ignores it would be unused in another.
APART = "DPC224"


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


class BudgetsSeen:
    """The people of the specs of a call whose parameters are chosen along the way, and against
    which budget each spec counts them."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, Budget]] = {}
        self._told: set[str] = set()

    def remark(self, report: Report) -> Diagnostic | None:
        """Returns the remark (DPC224) on a spec that counts people apart from an earlier one, or
        None.

        Of budgets that are the same, as for the parts of one ledger, one remark for all.
        """
        if report.record is None or report.verdict is None or report.verdict.limit is None:
            return None
        budget, named = report.verdict.limit, report.population
        keys = [f"the population `{named}`"] if named is not None else report.people
        for key in keys:
            first, other = self._first.setdefault(key, (report.label, budget))
            alike = other == budget
            if first == report.label or (key in self._told and (alike or named is None)):
                continue
            self._told.add(key)
            ours, theirs = _limits(budget), _limits(other)
            amounts = f"{ours} each" if alike else f"{ours} here and {theirs} there"
            return Diagnostic(
                APART,
                f"{key} is counted against a budget of its own here and in {first} ({amounts}): "
                "what is released here may depend on what was released there, so that neither "
                "budget is a guarantee by itself, and their sum is",
                None,
                "count them together: `dpcompose total` with one budget for all",
                "note" if alike or named is None else "warning",
            )
        return None


def _limits(budget: Budget) -> str:
    return ", ".join(f"{name}: {number(value)}" for name, value in budget.parameters)


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
