"""The search for the best bound on what a change does to the blocks of a partition."""

from __future__ import annotations

from dpcompose.core.change.units import Kind, State, all_leaves
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebra import Walk
from dpcompose.core.loss.walk import Choice, Effort, best_of
from dpcompose.core.theorem import Refused


def split(rules: OverBlocks, state: State, effort: Effort) -> Walk:
    """Returns the best bound that the rules for a partition give on the loss of `state` below
    it."""
    if rules.anywhere(state):
        return (yield from rules.everywhere(state))
    found = all_leaves(state)
    if sum(found.values()) == 1:
        (leaf,) = found
        if leaf.kind is Kind.USER:
            return (yield from rules.one_user(state))
        return (yield from rules.one_row(state))
    return (yield from _several_units(rules, state, effort))


def _several_units(rules: OverBlocks, state: State, effort: Effort) -> Walk:
    """Returns the best bound for several units: exhaustively if few, else by a path of single
    units."""
    bound: Choice = yield from rules.units(state, lambda each: split(rules, each, effort))
    if rules.charge_all:
        return bound
    # All that one unit further up has become may lose less than its parts by themselves.
    coarser = yield from tried(
        rules.units(state, lambda each: split(rules, each, effort), outermost=True)
    )
    capped = yield from tried(rules.each_block_full(state))
    exact: Choice | None = None
    if effort.left > 0:
        exact = yield from tried(rules.exhaustive(state, effort.allows))
    if exact is None:
        exact = yield from tried(rules.equal_rows(state))
    found = [each for each in (coarser, bound, capped, exact) if each is not None]
    best = rules.algebra.best(choice.loss for choice in found)
    attaining = next((choice for choice in reversed(found) if choice.loss == best), None)
    return attaining or best_of(rules.algebra, found, exact or bound)


def tried(rule: Walk) -> Walk:
    """Returns the bound (Choice) of a rule; None if the rule is refused."""
    try:
        return (yield from rule)
    except Refused:
        return None
