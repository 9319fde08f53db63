"""What a review may want to stop at: what a change of a spec newly assumes, frees or allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from dpcompose.report import Report
from dpcompose.report.declared_assumptions import Vouched, difference, is_new
from dpcompose.report.verdict import implies

Event = Literal[
    "increase",
    "new-assumption",
    "budget-raised",
    "population-changed",
    "removed-spec",
    "settings-changed",
]
EVENTS: tuple[Event, ...] = get_args(Event)

#: The parts of a spec whose assumptions are told by what they declare.
_TOLD_BY_CLAIM = ("mechanisms", "reasons")
_CLAIMED = ("relations", "datasets", "mechanisms", "adaptivity", "filter", "adversary")


def newly_assumed(
    old: Report | None,
    new: Report,
    before: Sequence[Vouched],
    now: Sequence[Vouched],
    gone: bool = False,
) -> tuple[str, ...]:
    """Returns the assumptions of `new` that `old` does not have, as sentences.

    `before` and `now`: the claims of both specs. A claim that follows from an old one is left out:
    a weaker guarantee assumes nothing new. Of mechanisms only claims are listed. `gone`: `new` is
    the former version, so that its assumptions are those no longer made.
    """
    known = {each.says for each in (old.assumptions if old else ())}
    facts = [
        each.says
        for each in new.assumptions
        if each.span is not None and each.says not in known and each.of not in _TOLD_BY_CLAIM
    ]
    claimed = {each.of: each for each in before}
    for each in now:
        known_claim = claimed.get(each.of)
        if each.path[0] in _CLAIMED and is_new(each, known_claim):
            facts.append(difference(each, known_claim, gone)[0])
    return tuple(dict.fromkeys(facts))


def newly_free(before: Sequence[Vouched], now: Sequence[Vouched]) -> tuple[str, ...]:
    """Returns the mechanisms that only post-process released outputs now, and did not before."""
    was = {each.of for each in before if "post_processes" in each.content}
    free = (each.of for each in now if "post_processes" in each.content)
    return tuple(each.removeprefix("mechanism ") for each in free if each not in was)


def budget_raised(old: Report | None, new: Report | None) -> bool:
    """Returns whether the budget of a spec may allow more than before, or was removed."""
    if old is None or new is None or old.verdict is None:
        return False
    was, now = old.verdict, new.verdict
    if now is None or now.of_adversary != was.of_adversary:
        return True
    return not implies(now.limit, was.limit)


def population_changed(old: Report | None, new: Report | None) -> bool:
    """Returns whether two versions of a spec name different populations."""
    return old is not None and new is not None and old.population != new.population
