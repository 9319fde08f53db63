"""The choice of the theorem to cite for a bound, and why each other theorem does not give it.

`select` goes through the book from the most special theorem to the most general one, and applies
each to the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcompose.core.loss.algebra import Loss
from dpcompose.core.notions.guarantee import Quantity, bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Alternative, Refused, Role, Theorem, Use
from dpcompose.core.theorems.book import in_role, uses_on
from dpcompose.core.theorems.setting import Asked, ChargedStep, Setting, finite

if TYPE_CHECKING:
    from dpcompose.core.search.solver import Solution, Solver


def refusal(entry: Theorem, use: Use, subject: Any, notion: Notion | None = None) -> str | None:
    """Returns why a theorem does not apply to a subject in one of its uses; None where it does.

    `notion`: that of the losses; None where it does not matter.
    """
    if notion is not None and entry.notion not in (None, notion):
        return f"it is not about {notion.facts.words}"
    reasons = (each.refusal(subject) for each in entry.checks(use))
    return next((why for why in reasons if why is not None), None)


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


def select(solver: Solver, solution: Solution) -> tuple[str, list[Alternative]]:
    """Returns the id of the theorem to cite for a solution, and other well-known ones compared with
    it.

    Cited is the most special theorem whose bound is the certified loss, or else the general one. A
    theorem with a smaller bound (none is known) would be among those compared.
    """
    adaptive, certified = solver.problem.adaptive, solution.loss
    setting = Setting(solver, solution)
    cited: str | None = None
    compared: list[Alternative] = []
    for entry, use in uses_on("release"):
        if entry.notion not in (None, solution.notion) or entry.adaptive not in (None, adaptive):
            continue
        found = in_use(entry, use, setting)
        if cited is None and found == certified:
            cited = entry.id
            continue
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
            found = in_use(entry, use, Setting(all_blocks, worst, on_roots=True))
            if found != certified:
                why = "sound but looser: it charges for every block, whatever one change reaches"
        if isinstance(found, Refused):
            if told:
                compared.append(Alternative(entry.id, None, str(found)))
            continue
        less = _below(solution, found)
        if less is not None:
            told, why = True, "applies, and gives a bound that the search has not found"
        if told:
            quantity = less or solution.quantity(found)
            bound = None if quantity is None else bound_of(quantity)
            compared.append(Alternative(entry.id, bound, why))
    if cited is None:
        cited = in_role(Role.GENERAL, solution.notion, adaptive).id
    return cited, [each for each in compared if each.theorem != cited]


def _below(solution: Solution, loss: Loss) -> Quantity | None:
    """Returns a bound that a loss stands for and the certified loss of a solution does not; None if
    the loss is nowhere below that."""
    algebra = solution.algebra
    for each in algebra.bounds(loss):
        alone = algebra.of_values([algebra.value_of(each)])
        if algebra.best([alone, solution.loss]) != solution.loss:
            return each
    return None


def for_touch(touch: ChargedStep) -> str | None:
    """Returns the id of the theorem by which a guarantee covers the change of the dataset that is
    read.

    None where the change is the very one that the guarantee is for.
    """
    for entry, use in uses_on("touch"):
        if refusal(entry, use, touch, touch.notion) is None:
            return entry.id
    return None


def for_question(asked: Asked) -> str:
    """Returns the id of the most special theorem behind a bound against an adversary, by its
    method.

    Raises LookupError if there is none.
    """
    for entry, use in uses_on("question"):
        if asked.found.rule in use.methods and refusal(entry, use, asked) is None:
            return entry.id
    raise LookupError(f"no theorem for a bound by {asked.found.rule}")
