"""The rule engine: which theorem gives the bound of a release, and why each other one does not.

`apply` holds one theorem against a release: its hypotheses run, and its own function computes the
bound. `select` goes through the book from the most special theorem to the most general one.
"""

from __future__ import annotations

from dpcompose.core.answer import Solution, Solver
from dpcompose.core.loss import Loss
from dpcompose.core.theorem import Refused, Role, Theorem, Use
from dpcompose.core.theorems.book import BOOK, general, uses_on
from dpcompose.core.theorems.predicates import finite
from dpcompose.core.theorems.questions import Asked
from dpcompose.core.theorems.setting import Setting, setting_of
from dpcompose.core.theorems.touches import Touch
from dpcompose.values import dataclass


@dataclass(frozen=True, slots=True)
class Compared:
    """A theorem held against the problem.

    `loss` is its bound (None: it does not apply); `why`: the hypothesis that fails, or how it
    compares.
    """

    theorem: str
    loss: Loss | None
    why: str


def apply(theorem: str, setting: Setting) -> Loss | Refused:
    """The bound of a theorem for a release, or why the theorem does not give one.

    Of several uses of the entry the tightest counts; if none holds, the most special one tells.
    """
    entry = BOOK.get(theorem)
    if entry is None:
        return Refused(f"there is no theorem {theorem} in the book")
    uses = [use for use in entry.uses if use.on == "release"]
    if not uses:
        return Refused(f"{entry.place} ({entry.title}) is not one for a whole release")
    found = [in_use(entry, use, setting) for use in uses]
    losses = [each for each in found if not isinstance(each, Refused)]
    if not losses:
        return found[0]
    return setting.algebra.best(losses)


def select(solver: Solver, solution: Solution) -> tuple[str, list[Compared]]:
    """The theorem to cite for a solution, and the others that readers know, special ones first.

    Cited is the most special theorem whose own bound is the one certified, which is the tightest:
    no theorem gives less than the general one, of which the others are cases.
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
            compared.append(_held_against_all(entry, use, setting))
        elif use.told and len(solver.tops) == 1:
            compared.append(_told(entry, found))
    if cited is None:
        cited = general(solution.notion, solver.problem.adaptive).id
    return cited, [each for each in compared if each.theorem != cited]


def in_use(entry: Theorem, use: Use, setting: Setting) -> Loss | Refused:
    """The bound of an entry in one of its uses."""
    assert use.run is not None
    if entry.notion not in (None, setting.notion):
        return Refused(f"it is not about {setting.notion.words}")
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


def _told(entry: Theorem, found: Loss | Refused) -> Compared:
    if isinstance(found, Refused):
        return Compared(entry.id, None, str(found))
    return Compared(entry.id, found, "applies, but another bound is used")


def _held_against_all(entry: Theorem, use: Use, setting: Setting) -> Compared:
    """What charging every mechanism in full would give."""
    charged = setting.charged()
    loss = in_use(entry, use, charged)
    if isinstance(loss, Refused):
        return _told(entry, loss)
    if loss == setting.loss:
        return Compared(entry.id, loss, "gives the same here")
    why = "sound but looser: it charges for every block, whatever one change reaches"
    return Compared(entry.id, loss, why)


def for_touch(touch: Touch) -> str | None:
    """The theorem by which a guarantee covers the change that its mechanism feels.

    None where the change is just what the guarantee is for.
    """
    for entry, use in uses_on("touch"):
        if entry.notion not in (None, touch.notion):
            continue
        if not any(each.refusal(touch) for each in entry.checks(use)):
            return entry.id
    return None


def for_question(asked: Asked) -> str:
    """The id of the most special theorem that gives a bound by the method that found it.

    Raises LookupError if there is none.
    """
    for entry, use in uses_on("question"):
        if asked.found.rule in use.methods and not any(
            each.refusal(asked) for each in entry.checks(use)
        ):
            return entry.id
    raise LookupError(f"no theorem for a bound by {asked.found.rule}")
