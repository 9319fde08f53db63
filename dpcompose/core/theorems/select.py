"""The choice of the theorem to cite for a bound, and why each other theorem does not give it.

`select` goes through the book from the most special theorem to the most general one, and applies
each to the release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dpcompose.core.loss.algebra import Loss
from dpcompose.core.theorem import Refused, Role, Theorem, Use
from dpcompose.core.theorems.book import general, uses_on
from dpcompose.core.theorems.setting import Asked, ChargedStep, Reach, Setting, finite

if TYPE_CHECKING:
    from dpcompose.core.search.solver import Solution, Solver


class Compared(NamedTuple):
    """The bound that a theorem gives for the problem, compared with the certified one.

    `loss`: None where the theorem does not apply; `why`: the hypothesis that fails, or how the
    bound compares.
    """

    theorem: str
    loss: Loss | None
    why: str


def in_use(entry: Theorem, use: Use, setting: Setting) -> Loss | Refused:
    """Returns the bound of a theorem in one of its uses, or the first hypothesis that fails."""
    assert use.run is not None and entry.bound is not None
    if entry.notion not in (None, setting.notion):
        return Refused(f"it is not about {setting.notion.facts.words}")
    for hypothesis in entry.checks(use):
        refusal = hypothesis.refusal(setting)
        if refusal is not None:
            return Refused(refusal)
    try:
        loss = use.run(setting, entry.bound)
        finite(setting.algebra, loss)
    except Refused as refused:
        return refused
    return loss


def setting_of(solver: Solver, solution: Solution) -> Setting:
    """Returns the problem with the losses of a solution, as theorems are asked about it."""
    return Setting(
        solver.problem,
        solver.tops,
        solution.algebra,
        solution.loss,
        tuple(each.answer for each in solution.visits if each.via is None),
        solution.accountant.answers(),
        [Reach(each.place, each.state, each.distance) for each in solution.visits],
    )


def _charged(setting: Setting, solver: Solver, solution: Solution) -> Setting:
    """Returns the setting in which every mechanism is charged in full, as if it read the root."""
    answers = solver.charged(solution)
    loss = setting.algebra.add(answer.loss for answer in answers)
    return setting._replace(answers=answers, loss=loss, on_root=True)


def select(solver: Solver, solution: Solution) -> tuple[str, list[Compared]]:
    """Returns the id of the theorem to cite for a solution, and other well-known ones compared with
    it.

    Cited is the most special theorem whose bound is the certified loss, or else the general one: no
    theorem gives less than the general one, of which the others are cases.
    """
    setting = setting_of(solver, solution)
    cited: str | None = None
    compared: list[Compared] = []
    for entry, use in uses_on("release"):
        if entry.notion not in (None, solution.notion):
            continue
        if entry.adaptive not in (None, solver.problem.adaptive):
            continue
        found = in_use(entry, use, setting)
        if cited is None and not isinstance(found, Refused) and found == solution.loss:
            cited = entry.id
        elif use.role is Role.GENERAL:
            if not isinstance(found, Refused):
                why = "the general theorem, of which this is a case"
                compared.append(Compared(entry.id, found, why))
        elif use.role is Role.SEQUENTIAL:
            charged = _charged(setting, solver, solution)
            compared.append(_held_against_all(entry, use, setting, charged))
        elif use.told and len(solver.tops) == 1:
            compared.append(_compared_entry(entry, found))
    if cited is None:
        cited = general(solution.notion, solver.problem.adaptive).id
    return cited, [each for each in compared if each.theorem != cited]


def _compared_entry(entry: Theorem, found: Loss | Refused) -> Compared:
    """Returns the comparison of a theorem with the certified bound; `found`: its bound, or what
    fails."""
    if isinstance(found, Refused):
        return Compared(entry.id, None, str(found))
    return Compared(entry.id, found, "applies, but another bound is used")


def _held_against_all(entry: Theorem, use: Use, setting: Setting, charged: Setting) -> Compared:
    """Returns the comparison with a theorem that charges every mechanism in full, in the setting
    `charged`."""
    loss = in_use(entry, use, charged)
    if isinstance(loss, Refused):
        return _compared_entry(entry, loss)
    if loss == setting.loss:
        return Compared(entry.id, loss, "gives the same here")
    why = "sound but looser: it charges for every block, whatever one change reaches"
    return Compared(entry.id, loss, why)


def for_touch(touch: ChargedStep) -> str | None:
    """Returns the id of the theorem by which a guarantee covers the change of its input.

    None where the change is the very one that the guarantee is for.
    """
    for entry, use in uses_on("touch"):
        if entry.notion not in (None, touch.notion):
            continue
        if not any(each.refusal(touch) for each in entry.checks(use)):
            return entry.id
    return None


def for_question(asked: Asked) -> str:
    """Returns the id of the most special theorem that gives a bound by the method that found it.

    Raises LookupError if there is none.
    """
    for entry, use in uses_on("question"):
        if asked.found.rule in use.methods and not any(
            each.refusal(asked) for each in entry.checks(use)
        ):
            return entry.id
    raise LookupError(f"no theorem for a bound by {asked.found.rule}")
