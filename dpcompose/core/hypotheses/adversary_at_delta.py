"""The least ε against an adversary at a chosen δ, by optimal composition of the blocks."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.hypotheses import halves
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Found, Question, Rule
from dpcompose.core.hypotheses.interval import exactly
from dpcompose.core.hypotheses.outcome_kinds import least_epsilon, outcomes
from dpcompose.core.hypotheses.sums import MOST_BLOCKS

#: The most kinds of blocks of which samples are composed: more take long.
MOST_KINDS = 200


def at_delta(
    question: Question, delta: Fraction, known: list[Found], by_dp: Fraction | None
) -> list[Found]:
    """Returns every known (ε, δ) bound at `delta`, the least ε first.

    `known`: bounds with a δ of their own. `by_dp`: the ε of differential privacy at `delta`, which
    covers every hypothesis against the empty set (HBW22, Theorem 1).
    """
    found = [
        Found(each.rule, each.epsilon, delta, pairs=each.pairs)
        for each in known
        if each.delta <= delta
    ]
    if not _someone(question):
        if by_dp is not None:
            found.append(Found("differential privacy", by_dp, delta))
        most = min((each.epsilon for each in found), default=None)
        found += _composed(question, delta, most)
    return sorted(found, key=lambda each: each.epsilon)


def sharper(question: Question, found: Found) -> Found | None:
    """Returns the least δ at the ε of `found` as a bound; None if unknown or no better.

    It is known where one of the two beliefs is that of an absent person.
    """
    if found.rule != "point mass" or not found.delta or _someone(question):
        return None
    every = outcomes(question.blocks, _belief(question))
    if every is None:
        return None
    more, spent = question.beside
    delta = Fraction(every.delta(exactly(found.epsilon - more).low)) + spent
    return Found("every outcome", found.epsilon, delta) if delta < found.delta else None


def _someone(question: Question) -> bool:
    """Returns whether both beliefs allow that the person is present."""
    return question.first.present and question.second.present


def _belief(question: Question) -> Belief:
    """Returns the belief of the two that is not that of an absent person."""
    return question.second if not question.first.present else question.first


def _composed(question: Question, delta: Fraction, most: Fraction | None) -> list[Found]:
    """Returns the bound at `delta` of an absent person against a belief, by optimal composition.

    `most`: the least ε known so far. Empty if no bound is found or it takes too long.
    """
    belief = _belief(question)
    more, spent = question.beside
    left = delta - spent
    if left <= 0 or belief == NONE:
        return []
    rule: Rule = "every outcome"
    every = outcomes(question.blocks, belief)
    if every is not None:
        epsilon = least_epsilon(every, left)
    elif (
        most is not None
        and [part for part, _ in belief.parts] == [Between(1, question.size)]
        and len(question.blocks) <= MOST_KINDS
        and question.size <= MOST_BLOCKS
    ):
        rule, epsilon = "samples of one half", halves.least_epsilon(question.blocks, left, most)
    else:
        return []
    return [] if epsilon is None else [Found(rule, epsilon + more, delta)]
