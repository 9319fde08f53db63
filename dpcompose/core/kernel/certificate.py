"""Certificates: the claims that prove a bound, from the statements up to the protected change.

A claim bounds the loss of a change of one dataset. It names the rules by which it follows from
earlier claims; `dpcompose.checker`, which shares no code with this, repeats every step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dpcompose.core.change.units import State
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.kernel.compose_roots import joint
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebra import Algebra, Loss, Walk
from dpcompose.core.loss.algebras import Scalars
from dpcompose.core.loss.walk import Answer, How, PureNeed
from dpcompose.core.model.problem import Problem, Root
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion

#: Answers of the search, by the identity of the place and the change there.
Answers = Mapping[tuple[int, State], Answer]


class Claim(NamedTuple):
    """A change of a dataset loses at most `loss`, with everything that is made from the dataset.

    `place`: the number of the dataset, in the order of the problem's tree. `charges`: the losses of
    the mechanisms that read it; `rules`: the rules that bound the losses below its maps and
    partitions; `premises`: the numbers of the earlier claims that these rules ask for. `pure`: the
    loss is one in pure DP, for a bound in another notion.
    """

    place: int
    state: State
    pure: bool
    loss: Loss
    charges: tuple[Loss, ...]
    rules: tuple[How, ...]
    premises: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that a problem loses at most `loss`.

    `notion`: that of the loss; `profile` where the loss is the patterns for a bound at a δ.
    `survival`: the 1 - δ_i are multiplied, instead of adding the δ_i. `claims`: premises first;
    `roots`: the numbers of those about the protected change in each root.
    """

    notion: Notion
    survival: bool
    loss: Loss
    claims: tuple[Claim, ...]
    roots: tuple[int, ...]


class _Open(NamedTuple):
    """A claim whose premises are being collected: those still asked for, and those found."""

    key: tuple[int, State, bool]
    answer: Answer
    needs: Iterator[tuple[int, State, bool]]
    premises: dict[tuple[int, State, bool], None]


def certificate(
    problem: Problem,
    tops: Sequence[tuple[Root, Place]],
    answers: Answers,
    pure: Answers,
    algebra: Algebra,
    loss: Loss,
) -> Certificate:
    """Returns the certificate of a search: every answer on which its loss depends, as a claim.

    `answers`: those in the algebra of the loss; `pure`: those in pure DP that they need. Never
    recurses, since specs may be deep.
    """
    places = [each for _, top in tops for each in top.subtree()]
    numbers = {id(place): number for number, place in enumerate(places)}
    algebras: dict[bool, Algebra] = {False: algebra, True: Scalars(Notion.PURE)}
    claims: list[Claim] = []
    known: dict[tuple[int, State, bool], int] = {}

    def answer_of(key: tuple[int, State, bool]) -> Answer:
        """Returns the answer of a key: the number of a place, the change there, and whether in pure
        DP."""
        return (pure if key[2] else answers)[id(places[key[0]]), key[1]]

    def needs(walk: Walk, of_pure: bool) -> Iterator[tuple[int, State, bool]]:
        """Yields the key of each answer that a walk asks for, and sends the walk its loss."""
        sent: Loss = None
        while True:
            try:
                need = walk.send(sent)
            except StopIteration:
                return
            key = numbers[id(need[0])], need[1], of_pure or isinstance(need, PureNeed)
            sent = answer_of(key).loss
            yield key

    def opened(key: tuple[int, State, bool]) -> _Open:
        """Returns the claim of a key, with none of its premises collected yet."""
        answer = answer_of(key)
        walk = _rules_again(algebras[key[2]], places[key[0]], key[1], answer)
        return _Open(key, answer, needs(walk, key[2]), {})

    roots = [*dict.fromkeys(needs(joint(problem, tops, algebras[False]), False))]
    stack = [opened(key) for key in reversed(roots)]
    while stack:
        key, answer, rest, premises = stack[-1]
        need = next(rest, None)
        if need is not None:
            premises[need] = None
            if need not in known:
                stack.append(opened(need))
            continue
        stack.pop()
        if key not in known:
            rules = tuple(choice.how for choice in answer.choices)
            numbered = tuple(sorted({known[each] for each in premises}))
            known[key] = len(claims)
            claims.append(Claim(*key, answer.loss, answer.own, rules, numbered))
    numbers_of_roots = tuple(known[each] for each in roots)
    return Certificate(algebra.notion, algebra.survival, loss, tuple(claims), numbers_of_roots)


def _rules_again(algebra: Algebra, place: Place, state: State, answer: Answer) -> Walk:
    """Applies the rules of an answer again: yields the requests for losses that they make, without
    result."""
    if state:
        for rules, choice in zip(rules_of(algebra, place), answer.choices, strict=True):
            yield from rules.replay(choice.how, state)


def rules_of(algebra: Algebra, place: Place) -> Iterator[AlongMap | OverBlocks]:
    """Yields the rules for each map and each partition of a dataset."""
    for below in place.derived:
        yield AlongMap(algebra, place, below)
    for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
        yield OverBlocks(algebra, False, place, partition, blocks)
