"""Solves a problem: the bound, the worst change, and what each mechanism adds to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product

from dpcompose.core.change.maps.kind import RowByRow
from dpcompose.core.change.units import State, all_leaves, undirected
from dpcompose.core.kernel.compose_roots import joint
from dpcompose.core.loss.algebra import Loss, LossAlgebra
from dpcompose.core.loss.algebras import algebra_of
from dpcompose.core.loss.amplification import NumberAlgebra
from dpcompose.core.loss.pattern import UndominatedLosses
from dpcompose.core.loss.pattern_algebra import Patterns, either
from dpcompose.core.loss.visits import Visit
from dpcompose.core.loss.walk import Answer
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import Mechanism, Problem, Root
from dpcompose.core.model.tree import Place, lay_out
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import CONVERTS, Notion
from dpcompose.core.search.accountant import Accountant, Costs
from dpcompose.curves.rounding import MOST_LAWS, RoundingWatch

#: From the strongest notion to the weakest; the answer is given in the first that is finite.
ORDER = (Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP)

#: The most combinations of a pattern without and one with curves of paths.
MOST_TOGETHER = 36


@dataclass(frozen=True, slots=True, eq=False)
class ChangeCharge:
    """The loss of one mechanism on one dataset that the worst change reaches.

    `placed`: its guarantees; `loss`: of all `count` copies of the mechanism, on one of the equal
    blocks.
    """

    mechanism: Mechanism
    placed: tuple[Placed, ...]
    visit: Visit
    loss: Loss

    @property
    def place(self) -> Place:
        """Returns the place of the dataset that the mechanism reads."""
        return self.visit.place

    @property
    def state(self) -> State:
        """Returns the change of the dataset that the mechanism reads."""
        return self.visit.state


#: A root with the worst change of its dataset, and the answer there.
RootAnswer = tuple[Place, State, Answer]


@dataclass(eq=False)
class Solution:
    """The worst change of the protected relation, and its loss, in one notion.

    `loss` is a loss of the algebra of the `accountant`, which has found it; `roots` says what the
    worst change is in each root, or an example of one where no change is the worst at every δ.
    Everything else is read off these.
    """

    accountant: Accountant
    loss: Loss
    roots: Sequence[RootAnswer]

    @property
    def algebra(self) -> NumberAlgebra:
        """Returns the algebra of the losses, which must not be patterns."""
        algebra = self.accountant.algebra
        assert isinstance(algebra, NumberAlgebra)
        return algebra

    @property
    def notion(self) -> Notion:
        """Returns the notion of the loss."""
        return self.accountant.algebra.notion

    @cached_property
    def visits(self) -> tuple[Visit, ...]:
        """Returns the datasets that the worst change reaches, from the roots down."""
        return tuple(_visits(self.accountant, self.roots))

    @cached_property
    def charges(self) -> tuple[ChangeCharge, ...]:
        """Returns the charges of the mechanisms that read these datasets."""
        return tuple(charges_of(self.visits, self.accountant.algebra))

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Returns the certified bounds that the loss stands for: several undominated ones for
        approximate DP, none if it is not finite."""
        bounds = tuple(self.algebra.bounds(self.loss))
        exact = bool(bounds) and not self._is_rounded()
        return tuple(each._replace(exact=exact) for each in bounds)

    def _is_rounded(self) -> bool:
        """Returns whether some number that the loss consists of is rounded up."""
        # Survival over blocks goes through logarithms, which are rounded.
        split = self.algebra.survival and any(visit.place.blocks for visit in self.visits)
        if split or self.sampled:
            return True
        with RoundingWatch() as watch:
            for each in self.charges:
                if each.visit.distance > 1:
                    self.algebra.chain([(each.loss, each.visit.distance)])
        rounded = self.accountant.rounded
        return watch.rounded or any(
            rounded(each.mechanism, each.placed, each.state) for each in self.charges
        )

    @property
    def bounded(self) -> bool:
        """Returns whether some loss is bounded by a path of single units, so that perhaps no change
        attains it."""
        return any(choice.bounded for visit in self.visits for choice in visit.answer.choices)

    @property
    def sampled(self) -> bool:
        """Returns whether the worst change passes a sample, or a random limit of one row, that
        amplifies."""
        return any(
            visit.place.amplifies
            or any(each.how.uses("displaced") for each in visit.answer.choices)
            for visit in self.visits
        )

    def example_change(self) -> tuple[tuple[Visit, ...], tuple[ChangeCharge, ...]]:
        """Returns the change as visits from the roots down, whichever table is the first, and its
        charges."""
        visits = _either_way(self.visits)
        return visits, tuple(charges_of(visits, self.accountant.algebra))

    def quantity(self, loss: Loss) -> Quantity | None:
        """Returns a loss of the algebra as a certified bound (ε, (ε, δ), ρ or μ²); None if it is
        not finite."""
        exact = all(quantity.exact for quantity in self.quantities)
        return next((each._replace(exact=exact) for each in self.algebra.bounds(loss)), None)

    def part(self, loss: Loss) -> Quantity:
        """Returns the loss of a part of the release as a certified bound; (0, 1) if it is not
        finite.

        The whole may be finite all the same, since what reads a secret sample is not always read.
        """
        found = self.quantity(loss)
        if found is None:
            assert self.notion is Notion.APPROX
            return Quantity(Notion.APPROX, Fraction(0), Fraction(1))
        return found

    def one_copy(self, charge: ChangeCharge) -> Quantity:
        """Returns the loss of one copy of a mechanism for the worst change, on one of the equal
        blocks, as a bound."""
        return self.part(self.algebra.charge(charge.placed, charge.state))

    def share(self, charge: ChangeCharge) -> Quantity:
        """Returns the loss of one mechanism for the worst change, as a bound: all its copies, on
        all equal blocks."""
        return self.part(self._of_all_copies(charge))

    def added_up(self, charges: Sequence[ChangeCharge] | None = None) -> Loss:
        """Returns the composed loss of some charges; None: of all mechanisms for the worst
        change."""
        return self.algebra.add(
            map(self._of_all_copies, self.charges if charges is None else charges)
        )

    def _of_all_copies(self, charge: ChangeCharge) -> Loss:
        """Returns the loss of a charge on all equal blocks together, at the group distance."""
        copies = self.algebra.times(charge.loss, charge.visit.copies)
        return self.algebra.chain([(copies, charge.visit.distance)])

    @property
    def finite(self) -> bool:
        """Returns whether there is a finite bound."""
        return bool(self.quantities)


def notions(problem: Problem) -> list[Notion]:
    """Returns the notions in which every mechanism has a guarantee, or one that converts, strongest
    first."""
    common = set(ORDER)
    for mechanism in problem.mechanisms():
        readable: set[Notion] = set()
        for statement in mechanism.statements:
            readable.update(CONVERTS[statement.guarantee.notion])
        common &= readable
        if not common:
            break
    return [notion for notion in ORDER if notion in common]


def pure_alone(problem: Problem) -> bool:
    """Returns whether there is no bound in any notion where there is none in pure DP.

    So it is where every guarantee is an ε without a law of noise, and tables are made row by row:
    then no δ can pay for a change that no guarantee covers, as that of a sample can.
    """
    stated = all(
        statement.guarantee.notion is Notion.PURE and statement.guarantee.noise is None
        for mechanism in problem.mechanisms()
        for statement in mechanism.statements
    )
    return stated and all(
        each.made_by is None or isinstance(each.made_by, RowByRow) for each in problem.datasets()
    )


class Solver:
    """Finds the largest loss of a problem, in one notion or another, and the change that has it.

    `like`: a solver of a problem that shares mechanisms with this one; its costs are reused.
    """

    def __init__(self, problem: Problem, like: Solver | None = None) -> None:
        self.problem = problem
        self._costs: dict[LossAlgebra, Costs] = {} if like is None else like._costs
        self.tops: list[tuple[Root, Place]] = lay_out(problem)

    def with_rows_in_all_blocks(self) -> Solver:
        """Returns a solver of the problem in which a row may be in every block of a partition: this
        one where there are no partitions."""
        if not any(dataset.partitions for dataset in self.problem.datasets()):
            return self
        return Solver(self.problem.with_rows_in_all_blocks(), like=self)

    def _solve(self, algebra: LossAlgebra) -> Solution:
        """Returns the worst change in the algebra, with its loss."""
        accountant = Accountant(algebra, self._costs.setdefault(algebra, {}))
        return Solution(accountant, *self._joint(accountant))

    def _joint(self, accountant: Accountant) -> tuple[Loss, list[RootAnswer]]:
        """Returns the largest loss of the protected change over all roots together.

        Also the place, the change and the answer of each root at the worst.
        """
        loss, shown = accountant.follow(joint(self.problem, self.tops, accountant.algebra))
        return loss, [(top, state, accountant.answer(top, state)) for top, state, _ in shown]

    def solve(self, notion: Notion) -> Solution:
        """Returns the worst change of the protected relation, with its certified loss, in a
        notion."""
        solution = self._solve(algebra_of(notion))
        if notion is Notion.APPROX and not solution.finite:
            # Σδ reaches 1; the chance that no failure happens may still be positive.
            solution = self._solve(algebra_of(notion, survival=True))
        return solution

    def least_bound(self, notion: Notion) -> Quantity | None:
        """Returns the certified bound in a notion of one number, as `solve` does, without the worst
        change."""
        algebra = algebra_of(notion)
        return next(algebra.bounds(self._solve(algebra).loss), None)

    def summed(self, notion: Notion) -> Solution:
        """Returns the worst change in a notion with δ summed, never 1-Π(1-δ), as a privacy filter
        counts."""
        return self._solve(algebra_of(notion))

    @cached_property
    def profile(self) -> Solution:
        """Returns the solution whose loss is all patterns that may be the worst at some δ, without
        curves of paths, and an example of the change."""
        return self._solve(Patterns())

    @cached_property
    def patterns(self) -> UndominatedLosses:
        """Returns the multisets of losses (patterns) of all mechanisms that may be the worst at
        some δ.

        Each is for one change. Empty if some mechanism has no finite bound.
        """
        return self._with_curves(tuple(self.profile.loss))

    def _with_curves(self, patterned: UndominatedLosses) -> UndominatedLosses:
        """Returns the patterns, with privacy curves of paths of unlike or (ε, δ) steps as further
        bounds.

        Patterns with curves dominate fewer others, so that there may be more of them. Patterns of
        either sort bound every change; a pair of them has the lesser loss of the two.
        """
        if not self._of_several_steps():
            return patterned
        if all(each.attained and not each.loose for each in patterned):
            return patterned
        finer: UndominatedLosses = tuple(self._solve(Patterns(curves=True)).loss)
        small = all(len(each.atoms) <= MOST_LAWS for each in finer)
        if not finer or finer == patterned or not small:
            return patterned
        if len(finer) * len(patterned) > MOST_TOGETHER:
            return patterned
        return tuple(
            found
            for plain, curved in product(patterned, finer)
            for found in ((plain,) if plain == curved else either((plain, curved)))
        )

    def _of_several_steps(self) -> bool:
        """Returns whether curves of paths may help: guarantees are unlike, of (ε, δ), or in several
        notions.

        Only if there are not too many different ones.
        """
        stated: set[tuple[Notion, Fraction, Fraction]] = set()
        several = False
        for each in self.problem.mechanisms():
            said = [s.guarantee for s in each.statements if s.guarantee.noise is None]
            several = several or len({one.notion for one in said}) > 1
            stated.update((one.notion, one.value, one.delta) for one in said)
        pairs = {each for each in stated if each[0] in (Notion.PURE, Notion.APPROX)}
        unlike = len(pairs) > 1 or any(each[0] is Notion.APPROX for each in pairs)
        return (unlike or several) and len(stated) <= MOST_LAWS


def _visits(accountant: Accountant, answers: Sequence[RootAnswer]) -> Iterator[Visit]:
    """Yields the datasets that the worst change reaches, parents before children.

    `answers`: the place, the change and the answer of each root.
    """
    stack = [Visit(place, state, 1, 1, answer, None) for place, state, answer in reversed(answers)]
    while stack:
        visit = stack.pop()
        yield visit
        below: list[Visit] = []
        for choice in visit.answer.choices:
            distance = visit.distance * max(1, choice.units)
            for branch in choice.branches:
                if branch.state:
                    place, state = branch.place, branch.state
                    answer, copies = accountant.answer(place, state), visit.copies * branch.copies
                    below.append(Visit(place, state, copies, distance, answer, choice, visit))
        stack.extend(reversed(below))


def _either_way(visits: Sequence[Visit]) -> tuple[Visit, ...]:
    """Returns the visits with undirected changes: either table may be the first."""
    shown: dict[int, Visit] = {}
    for visit in visits:
        above = None if visit.above is None else shown[id(visit.above)]
        one_way = above is None and any(leaf.directed for leaf in all_leaves(visit.state))
        if one_way or above is not visit.above:
            shown[id(visit)] = replace(visit, state=undirected(visit.state), above=above)
        else:
            shown[id(visit)] = visit
    return tuple(shown.values())


def charges_of(visits: Sequence[Visit], algebra: LossAlgebra) -> Iterator[ChangeCharge]:
    """Yields the charge of each mechanism that reads a visited dataset and loses anything."""
    for visit in visits:
        for (mechanism, placed), loss in zip(visit.place.mechanisms, visit.answer.own, strict=True):
            if loss != algebra.zero and visit.state:
                yield ChangeCharge(mechanism, placed, visit, loss)
