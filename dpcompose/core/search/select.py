"""Well-known theorems beside those that prove a bound: what each gives, or why it does not apply.

`compare` goes through the book from the most special theorem to the most general one, and applies
each to the release.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.core.theorem import Alternative, Refused, Role, Theorem, Use
from dpcompose.core.theorems.applicable import refusal
from dpcompose.core.theorems.book import uses_on
from dpcompose.core.theorems.setting import Setting, finite


def setting_of(solver: Solver, solution: Solution, on_roots: bool = False) -> Setting:
    """Returns a solution as theorems are asked about it.

    `on_roots`: each mechanism is taken together with the maps before it, as one that reads a root.
    """
    return Setting(
        solver.problem,
        solver.tops,
        solution.algebra,
        solution.loss,
        solution.visits,
        partial(losses_of_one_unit, solution),
        on_roots,
    )


def losses_of_one_unit(solution: Solution, kind: Kind) -> dict[int, Loss]:
    """Returns the loss for one unit of change of a kind, by the identity of the dataset's place.

    Datasets that no such unit reaches are left out.
    """
    found: dict[int, Loss] = {}
    algebra = solution.algebra
    for (place, seen), answer in solution.accountant.answers().items():
        leaves = all_leaves(seen)
        if leaves.total() == 1 and next(iter(leaves)).kind is kind:
            old = found.get(place)
            loss = answer.loss if old is None else algebra.worst_case([old, answer.loss])
            found[place] = loss
    return found


def in_use(entry: Theorem, use: Use, setting: Setting) -> Loss | Refused:
    """Returns the bound of a theorem in one of its uses, or the first hypothesis that fails."""
    assert use.run is not None and entry.bound is not None
    why = refusal(entry, use, setting, setting.notion)
    if why is not None:
        return Refused(why)
    try:
        loss = use.run(setting, entry.bound)
        finite(setting.algebra, loss)
    except Refused as refused:
        return refused
    return loss


def compare(solver: Solver, solution: Solution, cited: Collection[str]) -> list[Alternative]:
    """Returns well-known theorems compared with those by which a solution is proved, `cited`.

    A theorem with a smaller bound (none is known) would be among them.
    """
    adaptive, certified = solver.problem.adaptive, solution.loss
    setting = setting_of(solver, solution)
    compared: list[Alternative] = []
    for entry, use in uses_on("release"):
        if entry.notion not in (None, solution.notion) or entry.adaptive not in (None, adaptive):
            continue
        found = in_use(entry, use, setting)
        told, why = use.told and len(solver.tops) == 1, "applies, but another bound is used"
        if use.role is Role.GENERAL:
            told, why = (
                not isinstance(found, Refused),
                "the general theorem, of which this is a case",
            )
        elif use.role is Role.SEQUENTIAL:
            told, why = True, "gives the same here"
            all_blocks = solver.with_rows_in_all_blocks()
            worst = solution if all_blocks is solver else all_blocks.solve(solution.notion)
            found = in_use(entry, use, setting_of(all_blocks, worst, on_roots=True))
            if found != certified:
                why = "sound but looser: it charges for every block, whatever one change reaches"
            else:
                told = entry.id not in cited
        if entry.id in cited and use.role is not Role.SEQUENTIAL:
            told = False
        if isinstance(found, Refused):
            if told and entry.id not in cited:
                compared.append(Alternative(entry.id, None, str(found)))
            continue
        less = _below(solution, found)
        if less is not None:
            told, why = True, "applies, and gives a bound that the search has not found"
        if told:
            quantity = less or solution.quantity(found)
            bound = None if quantity is None else bound_of(quantity)
            compared.append(Alternative(entry.id, bound, why))
    return compared


def _below(solution: Solution, loss: Loss) -> Quantity | None:
    """Returns a bound that a loss stands for and the certified loss of a solution does not; None if
    the loss is nowhere below that."""
    algebra = solution.algebra
    for each in algebra.bounds(loss):
        alone = algebra.of_values([algebra.value_of(each)])
        if algebra.best([alone, solution.loss]) != solution.loss:
            return each
    return None
