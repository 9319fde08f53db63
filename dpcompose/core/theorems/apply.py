"""The bound that one theorem gives for a release, if its hypotheses hold."""

from __future__ import annotations

from dpcompose.core.loss.algebras import Loss
from dpcompose.core.theorem import Refused, Theorem, Use
from dpcompose.core.theorems.book import BOOK
from dpcompose.core.theorems.predicates import finite
from dpcompose.core.theorems.setting import Setting


def apply(theorem: str, setting: Setting) -> Loss | Refused:
    """Returns the bound of a theorem for a release, or why the theorem does not give one.

    Of several uses of the entry the one with the least bound counts; if none holds, the refusal is
    that of the most special one.
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


def in_use(entry: Theorem, use: Use, setting: Setting) -> Loss | Refused:
    """Returns the bound of an entry in one of its uses, or the first hypothesis that fails."""
    assert use.run is not None
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
