"""Claims: what a change of a dataset loses at most, each made from others by one application.

`Kernel.apply` is the only maker of claims that hold. It is given what a claim says it is made of,
and does the step itself: the costs of the mechanisms from the problem, the outcomes of every map
and every partition from their rules. A claim that leaves one of them out cannot be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from dpcompose.core.change.units import State
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebras import Loss
from dpcompose.core.loss.cost import Coster
from dpcompose.core.loss.pattern import TracedCharge, UndominatedLosses
from dpcompose.core.loss.pattern_algebra import Algebra, Patterns
from dpcompose.core.loss.walk import Answer, Choice, How, Need, PureNeed, Walk
from dpcompose.core.model.problem import Mechanism, Path, Problem, Root
from dpcompose.core.model.tree import Place, lay_out
from dpcompose.core.theorem import Refused

#: The number of a dataset, the change there, and whether its loss is one in pure DP.
Subject = tuple[int, State, bool]


class Charge(NamedTuple):
    """The loss of all copies of one mechanism for a change, with the statements used."""

    mechanism: str
    copies: int
    statements: tuple[Path, ...]
    loss: Loss


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """A change of a dataset loses at most `loss`, with everything that is made from the dataset.

    `place`: the number of the dataset, in the order in which a problem is laid out. `charges`: what
    the mechanisms that read it lose; `hows`: by which rule everything below each map and each
    partition is bounded; `premises`: the claims that these rules ask for, each once, in order.
    `pure`: the loss is one in pure DP, for a bound in another notion.
    """

    place: int
    state: State
    loss: Loss
    charges: tuple[Charge, ...]
    hows: tuple[How, ...]
    premises: tuple[Claim, ...]
    pure: bool = False


class Kernel:
    """Makes claims about one problem in one algebra.

    `pure`: its claims are those in pure DP that a bound in another notion needs.
    """

    def __init__(self, problem: Problem, algebra: Algebra, pure: bool = False) -> None:
        self.problem = problem
        self.algebra = algebra
        self.pure = pure
        self.tops: list[tuple[Root, Place]] = lay_out(problem)
        self.places: list[Place] = [each for _, top in self.tops for each in top.subtree()]
        self.numbers = {id(place): number for number, place in enumerate(self.places)}
        self.answers: dict[tuple[int, State], Answer] = {}
        self._coster = Coster(algebra)

    def apply(
        self,
        number: int,
        state: State,
        statements: Sequence[Sequence[Path]],
        hows: Sequence[How],
        premises: Sequence[Claim],
    ) -> Claim:
        """Returns the claim about a change that its premises prove.

        `statements`: those to use for each mechanism. Raises `Refused` if a rule does not apply, or
        if a premise is missing, about something else, or not needed.
        """
        if not 0 <= number < len(self.places):
            raise Refused(f"there is no dataset number {number}")
        charges = tuple(self._charges(self.places[number], state, statements))
        answer: Answer = self.met(self._walk(number, state, charges, hows), premises)
        self.answers[number, state] = answer
        used = tuple(hows), tuple(premises)
        return Claim(number, state, answer.loss, charges, *used, self.pure)

    def walk(
        self, number: int, state: State, statements: Sequence[Sequence[Path]], hows: Sequence[How]
    ) -> Walk:
        """Yields the premises that `apply` asks for, one after the other."""
        charges = tuple(self._charges(self.places[number], state, statements))
        return self._walk(number, state, charges, hows)

    def subject(self, need: Need) -> Subject:
        """Returns what a claim that meets a need must be about."""
        return self.numbers[id(need[0])], need[1], self.pure or isinstance(need, PureNeed)

    def met(self, walk: Walk, premises: Sequence[Claim]) -> Any:
        """Returns the result of a walk whose needs the premises meet, each once, in order."""
        rest = iter(premises)
        met: dict[Subject, Loss] = {}
        sent: Loss = None
        while True:
            try:
                need = walk.send(sent)
            except StopIteration as stop:
                if next(rest, None) is not None:
                    raise Refused("a premise is not needed") from None
                return stop.value
            subject, name = self.subject(need), need[0].dataset.name
            if subject not in met:
                premise = next(rest, None)
                if premise is None:
                    raise Refused(f"nothing is claimed of a change in `{name}`")
                if (premise.place, premise.state, premise.pure) != subject:
                    raise Refused(f"a premise is not about the change in `{name}`")
                met[subject] = premise.loss
            sent = met[subject]

    def _charges(
        self, place: Place, state: State, statements: Sequence[Sequence[Path]]
    ) -> Iterator[Charge]:
        if len(statements) != len(place.mechanisms):
            raise Refused(f"not every mechanism that reads `{place.dataset.name}` is charged")
        for (mechanism, placed), used in zip(place.mechanisms, statements, strict=True):
            chosen = tuple(each for each in placed if each.statement.path in used)
            if {each.statement.path for each in chosen} != set(used):
                raise Refused(f"`{mechanism.name}` does not state that")
            loss: Loss = self.algebra.zero
            if state:
                loss = self._coster.cost_of(mechanism.count, chosen, state)
            if isinstance(self.algebra, Patterns):
                loss = charged_by(mechanism, place, state, loss)
            yield Charge(mechanism.name, mechanism.count, tuple(used), loss)

    def _walk(
        self, number: int, state: State, charges: Sequence[Charge], hows: Sequence[How]
    ) -> Walk:
        """The general composition theorem: losses add over all that the change reaches."""
        place, own = self.places[number], [each.loss for each in charges]
        if not state:
            if hows:
                raise Refused("nothing follows from no change")
            return Answer(self.algebra.zero, tuple(own), ())
        choices: list[Choice] = []
        rest = iter(hows)
        for rules in rules_of(self.algebra, place):
            how = next(rest, None)
            if how is None:
                raise Refused(f"something made from `{place.dataset.name}` is left out")
            choices.append((yield from rules.replay(how, state)))
        if next(rest, None) is not None:
            raise Refused(f"nothing more is made from `{place.dataset.name}`")
        loss = self.algebra.add([*own, *(choice.loss for choice in choices)])
        return Answer(loss, tuple(own), tuple(choices))


def charged_by(
    mechanism: Mechanism, place: Place, state: State, loss: UndominatedLosses
) -> UndominatedLosses:
    """Returns a loss with where it comes from."""
    felt = ((TracedCharge(mechanism.name, place.dataset.name, state), mechanism.count),)
    return tuple(replace(each, trace=felt) if each.atoms else each for each in loss)


def rules_of(algebra: Algebra, place: Place) -> Iterator[AlongMap | OverBlocks]:
    """The rules for everything that is made from a dataset."""
    for below in place.derived:
        yield AlongMap(algebra, place, below)
    for partition, blocks in zip(place.dataset.partitions, place.blocks, strict=True):
        yield OverBlocks(algebra, False, place, partition, blocks)


def needs(claim: Claim) -> Iterator[Claim]:
    """A claim with all that it rests on, premises first, each once."""
    seen: set[int] = set()
    stack: list[tuple[Claim, bool]] = [(claim, False)]
    while stack:
        each, done = stack.pop()
        if done:
            yield each
        elif id(each) not in seen:
            seen.add(id(each))
            stack.append((each, True))
            stack.extend((premise, False) for premise in each.premises)
