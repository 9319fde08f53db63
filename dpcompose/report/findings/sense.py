"""Remarks on numbers that are legal but make little sense: δ, ε, noise, samples and caps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.change.maps.cap import Cap
from dpcompose.core.change.maps.kind import Gives
from dpcompose.core.change.maps.limit import RowLimit
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import all_leaves
from dpcompose.core.loss.visits import Visit
from dpcompose.core.model.problem import Mechanism, Path, Problem, Root
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.solver import Solution
from dpcompose.curves.rounding import number
from dpcompose.errors import Diagnostic
from dpcompose.report.findings.remarks import Finding

if TYPE_CHECKING:
    from dpcompose.report import Report


#: The codes of this module with their meanings.
SENSE_CODES = {
    "DPC208": "A δ so large that some row may be published.",
    "DPC209": "An ε so large that next to nothing is promised.",
    "DPC210": "A Poisson sample is read by one release only.",
    "DPC211": "Noise far below its sensitivity.",
    "DPC212": "A cap above which nothing changes.",
    "DPC213": "A budget in risk is met by the whole curve, not by one ε and δ.",
    "DPC214": "The stand-alone checker does not confirm what is stated, or meets the budget.",
}
#: The error of a report that was to be confirmed and is not.
UNCONFIRMED = "DPC214"
#: A δ or an ε above this promises little, whatever the size of the table.
MOST_DELTA, MOST_EPSILON = Fraction(1, 1000), Fraction(20)
#: A row whose effect is this many times the noise is visible in the output.
_FAR = Fraction(10)


def nonsense(
    problem: Problem,
    tops: Sequence[tuple[Root, Place]],
    solution: Solution | None,
    deltas: Sequence[tuple[Fraction, Path]],
    epsilon: Fraction | None,
) -> Iterator[Finding]:
    """Yields remarks on numbers: on δ's, ε's, noise, caps and samples.

    `deltas`: those that the spec asks for, with their paths; `epsilon`: the one that it gets.
    """
    sizes = [root.size for root in problem.roots if root.size is not None]
    stated = [
        (statement.guarantee.delta, (*statement.path, "delta"))
        for mechanism in problem.mechanisms()
        for statement in mechanism.statements
    ]
    for delta, path in (*deltas, *stated):
        yield from _large_delta(delta, path, max(sizes, default=None))
    if epsilon is not None:
        yield from _large_epsilon(epsilon)
    for mechanism in problem.mechanisms():
        yield from _little_noise(mechanism)
    for _, top in tops:
        for each in top.subtree():
            yield from _idle_cap(each)
    for visit in () if solution is None else solution.visits:
        yield from _read_once(solution, visit)


def _large_delta(delta: Fraction, path: Path, size: int | None) -> Iterator[Finding]:
    """Yields a remark (DPC208) if a δ is above 1/n or above 1/1000; `size`: the number of rows n,
    None where unknown."""
    if size is not None and delta * size >= 1:
        why = f"at least 1/n for the {size} rows of the table: a release of one whole row meets it"
    elif delta > MOST_DELTA:
        why = "above 1/1000: so often anything may come out, such as a whole row"
    else:
        return
    hint = "a δ far below 1/n for n rows is usual, such as 1e-6 or less"
    yield Finding("DPC208", f"δ = {number(delta)} is {why}", path, hint)


def _large_epsilon(epsilon: Fraction) -> Iterator[Finding]:
    """Yields a remark (DPC209) if an ε is so large that it promises next to nothing."""
    if epsilon > MOST_EPSILON:
        told = number(epsilon)
        yield Finding(
            "DPC209",
            f"ε = {told} lets the odds of what comes out change by e^{told} for "
            "one change of the table: next to nothing is promised",
            ("protect",),
            "more noise, fewer releases, or fewer rows of one person",
        )


def _little_noise(mechanism: Mechanism) -> Iterator[Finding]:
    """Yields a remark (DPC211) on each statement whose noise is far below its sensitivity."""
    for each in mechanism.statements:
        guarantee = each.guarantee
        if guarantee.noise is None or not guarantee.shift or each.implied:
            continue
        # ε is sensitivity / scale; μ and √(2ρ) are sensitivity / standard deviation.
        loss = guarantee.value**2 if guarantee.notion is not Notion.ZCDP else 2 * guarantee.value
        says = guarantee.noise.describe(guarantee.shift)
        if loss > _FAR**2 and "noise" in says:
            yield Finding(
                "DPC211",
                f"`{mechanism.name}` adds {says}: one row moves it by over {number(_FAR)} times "
                "its noise, and shows",
                each.path,
                "see that the noise and the sensitivity are in the same unit",
            )


def _read_once(solution: Solution | None, visit: Visit) -> Iterator[Finding]:
    """Yields a remark (DPC210) if a Poisson sample is read by one release only.

    It says by how much the sample lowers its loss, and that more noise would do the same.
    """
    place = visit.place
    sample = place.dataset.made_by
    if solution is None or not isinstance(sample, Sample) or sample.size is not None:
        return
    if sample.rate == 1 or not sample.plain or place.above is not None or visit.via is None:
        return
    readers = [mechanism for each in place.subtree() for mechanism in each.dataset.mechanisms]
    if len(readers) != 1 or readers[0].count != 1:
        return
    from dpcompose.core.search.proof import change_at

    if any(leaf.directed and leaf.sign for leaf in all_leaves(change_at(visit))):
        return  # the remark is made for a removed row, which loses more
    whole, drawn = solution.quantity(visit.answer.loss), solution.quantity(visit.via.loss)
    if whole is None or drawn is None or not drawn.amount < whole.amount:
        return
    notion, sign = solution.notion, solution.notion.facts.sign
    before, after = (number(notion.value_of(Fraction(each.amount))[0]) for each in (whole, drawn))
    yield Finding(
        "DPC210",
        f"only `{readers[0].name}` reads the Poisson sample `{place.dataset.name}`, which takes it "
        f"from {sign} = {before} to {after} and leaves out most of the rows",
        (*place.dataset.path, "map"),
        f"the same release of all rows, with noise for {sign} = {after}, promises as much "
        "and has no error of sampling",
    )


def _idle_cap(place: Place) -> Iterator[Finding]:
    """Yields a remark (DPC212) for each cap of rows or blocks that can never be exceeded."""
    made_by, name = place.dataset.made_by, place.dataset.name
    if isinstance(made_by, Cap | RowLimit) and place.edge is not None:
        least = _rows_of_unit(place.edge.parent, made_by)
        if least is not None and made_by.rows >= least:
            yield _idle((*place.dataset.path, "map", "rows"), "rows", made_by.rows, name, least)
    for partition in place.dataset.partitions:
        if partition.max_blocks_per_unit is None and partition.max_rows_per_block is None:
            continue
        rows, size = _rows_of_unit(place, None), partition.size
        blocks = size if rows is None else min(rows, size)
        for key, said, least in (
            ("max_blocks_per_unit", partition.max_blocks_per_unit, blocks),
            ("max_rows_per_block", partition.max_rows_per_block, rows),
        ):
            if said is not None and least is not None and said >= least:
                path = (*partition.path, "partition", key)
                yield _idle(path, key, said, partition.name, least)


#: So many maps further up are searched for a limit on rows.
_FARTHEST = 100


def _rows_of_unit(place: Place, cap: Cap | RowLimit | None) -> int | None:
    """Returns how many rows one unit has at most at a place; None if unknown.

    With a row limit `cap`: how many rows one value of the column of that limit has.
    """
    found = place.traits.most if cap is not None else None
    at: Place | None = place
    for _ in range(_FARTHEST):
        if at is None:
            break
        made_by = at.dataset.made_by
        same = isinstance(made_by, Cap) and not isinstance(cap, RowLimit)
        same = same or (
            isinstance(made_by, RowLimit) and isinstance(cap, RowLimit) and made_by.per == cap.per
        )
        if same:
            assert isinstance(made_by, Cap | RowLimit)
            found = made_by.rows if found is None else min(found, made_by.rows)
        elif made_by is not None and made_by.conduct().gives not in (Gives.ONE,):
            return found
        at = None if at.edge is None else at.edge.parent
    return found


def _idle(path: Path, key: str, said: int, name: str, least: int) -> Finding:
    """Returns the remark (DPC212) that a cap changes nothing: `said` is its number at `key`, and
    without it the number is at most `least` anyway."""
    return Finding(
        "DPC212",
        f"`{key}: {said}` of `{name}` changes nothing: it is at most {least} as it is",
        path,
        f"leave it out, or say less than {least}" if least > 1 else "leave it out",
    )


# ---------------------------------------------------------------------------------------------
# Remarks on ledgers: sums taken for guarantees, filters that are not named, unlike units


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
            f"the unit of `{first.dataset.name}` is `{first.unit}`, and that of "
            f"`{root.dataset.name}` is `{root.unit}`: what is protected is all rows of one of each "
            f"together, which are not all rows of one `{first.unit}` unless the two are the same",
            (*root.dataset.path, "unit"),
            "give the columns the same name if they mean the same, else protect each in a spec of "
            "its own; `roots: disjoint` where nobody is in both",
        )
