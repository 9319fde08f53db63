"""Which theorem of the book applies: to a release, to the charge of one mechanism, to two
hypotheses."""

from __future__ import annotations

from typing import Any

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Theorem, Use
from dpcompose.core.theorems.book import uses_on
from dpcompose.core.theorems.setting import Asked, ChargedStep


def refusal(entry: Theorem, use: Use, subject: Any, notion: Notion | None = None) -> str | None:
    """Returns why a theorem does not apply to a subject in one of its uses; None where it does.

    `notion`: that of the losses; None where it does not matter.
    """
    if notion is not None and entry.notion not in (None, notion):
        return f"it is not about {notion.facts.words}"
    reasons = (each.refusal(subject) for each in entry.checks(use))
    return next((why for why in reasons if why is not None), None)


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
