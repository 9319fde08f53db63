"""The rules that bound the loss below a map, given a change of the dataset that the map reads.

Each rule returns a walk (`core.loss.algebra.Walk`) whose result is a `Choice`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpcompose.core.change.drawn_rows import DrawnRows, draws_of, how_many_of
from dpcompose.core.change.effects import TooMany
from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.kind import Map, RowSelection, fates
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.propagation import LIMIT, as_it_is, become, one_below, propagate
from dpcompose.core.change.units import (
    ANY,
    OLD_END,
    PAIR,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    all_leaves,
    rows_that_change_alike,
    single_units,
    undirected,
    with_alike,
)
from dpcompose.core.kernel import joint_distance
from dpcompose.core.loss.algebra import AMPLIFIED, Loss, LossAlgebra, Walk
from dpcompose.core.loss.algebras import Scalars
from dpcompose.core.loss.cost import over_steps
from dpcompose.core.loss.walk import (
    Branch,
    Choice,
    How,
    LossRules,
    fit,
    in_pure,
    worst_of,
)
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Role
from dpcompose.curves.rounding import chances, truncated

#: The largest chance that an added row is drawn, where its key has other rows.
HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class AlongMap(LossRules):
    """The rules that bound the loss of a change along one map, with all that is read below it.

    `place`: the dataset that the map reads; `below`: the one that it makes, for a group of equal
    draws of a sample.
    """

    algebra: LossAlgebra
    place: Place
    below: Place

    @property
    def made_by(self) -> Map:
        """Returns the map, that from the dataset of `place` to that of `below`."""
        assert self.below.edge is not None and self.below.edge.made_by is not None
        return self.below.edge.made_by

    @property
    def rounds(self) -> int:
        """Returns the number of equal fresh draws of the sample; 1 for other maps."""
        assert self.below.edge is not None
        return self.below.edge.rounds

    @property
    def sampled(self) -> bool:
        """Returns whether the map is a sample that amplifies: its outcome is taken as given."""
        return isinstance(self.made_by, Sample) and self.below.above is None

    @property
    def by_name(self) -> Mapping[str, Callable[[State], Walk]]:
        """Returns the rules that combine no other rules, by their names in certificates."""
        return {
            "listed": self.every_outcome,
            "extremes": self.extremes,
            "unchanged": self.unchanged,
            "sample": self.sample,
            "coupled": self.coupled,
            "displaced": self.displaced,
            "sampled-rows": self.sampled_rows,
            "unread": self.unread,
            "joint": self.joint,
        }

    def replay(self, how: How, state: State) -> Walk:
        """Bounds the loss of the change `state` by the rule named in `how`; `Refused` where it does
        not apply."""
        if how.rule == "as-pure" and len(how.of) == 1:
            inside = how.of[0]
            return (yield from self.as_pure(state, lambda pure, s: pure.replay(inside, s)))
        if how.rule == "release" and len(how.of) == 1:
            return (yield from self.release(state, how.of[0]))
        return (yield from LossRules.replay(self, how, state))

    def _below(self, state: State, become: Callable[[ChangeUnit], ChangeUnit | None]) -> State:
        """Returns the difference of the two output tables of the map, given that of its input
        tables; each changed unit of the input becomes what `become` returns (None: nothing)."""
        trace_here = self.place.depth in self.below.levels
        return fit(one_below(state, trace_here, become), self.place, self.below, trace_here)

    def _ask(self, state: State, become: Callable[[ChangeUnit], ChangeUnit | None]) -> Walk:
        """Returns, by a request, the loss of the change below, where each unit becomes what
        `become` returns."""
        return (yield (self.below, self._below(state, become)))

    # -- any map -------------------------------------------------------------------------------

    def unread(self, state: State) -> Walk:
        """Bounds the loss by 0: no mechanism reads what the map makes, or anything below it."""
        if self.below.read:
            raise Refused(f"`{self.below.dataset.name}` is read")
        yield from ()
        return Choice(self.algebra.zero, (), how=How("unread"))

    def joint(self, state: State) -> Walk:
        """Bounds the summed loss of all values that move together by at most a joint bound.

        The sum stands at the first of the values, and 0 at the others, so that only the total over
        all is a bound.
        """
        joint, place = joint_distance.joint_of(self.below), self.place
        if joint is None:
            raise Refused("no joint bound covers what the map makes")
        first = next(n for n, x in enumerate(place.derived) if joint_distance.joint_of(x) is joint)
        if place.derived[first] is not self.below:
            return Choice(self.algebra.zero, (), how=How("joint"))
        numbers = next(each for each in joint_distance.groups(place) if first in each)
        found = yield from joint_distance.together(self.algebra, place, numbers, state)
        loss = self.algebra.add(each.loss for each in found)
        return found[0]._replace(loss=loss)

    def every_outcome(self, state: State) -> Walk:
        """Bounds the loss by the largest over all changes of the dataset below that the map may
        make of one."""
        return (yield from self.worst_outcome(self.outcomes(state)))

    def worst_outcome(self, outcomes: list[State]) -> Walk:
        """Bounds the loss by the largest over these changes of the dataset below."""
        found: list[Choice] = []
        for after in outcomes:
            loss = yield (self.below, after)
            lost = any(leaf.kind is Kind.ANY for leaf in all_leaves(after))
            if lost and isinstance(self.made_by, Batches) and loss != self.algebra.zero:
                loss = self.algebra.none  # any number of batches may change
            found.append(Choice(loss, (Branch(self.below, after, 1),)))
        return worst_of(self.algebra, found)._replace(how=How("listed"))

    def outcomes(self, state: State, limit: int = LIMIT) -> list[State]:
        """Returns the changes of the dataset below that the map may make of `state`; `Refused` if
        more than `limit`."""
        if self.sampled:
            raise Refused("a sample is no map that can be listed")
        trace_here = self.place.depth in self.below.levels
        listed = propagate(state, self.made_by, self.place.traits, trace_here, limit)
        if listed is None:
            raise Refused("the map may make too many things of the change")
        return [fit(after, self.place, self.below, trace_here) for after in listed]

    def extremes(self, state: State) -> Walk:
        """Bounds the loss of one unit along a map whose outcomes are too many to list: the largest
        loss over its extreme outcomes, each by group privacy as so many equal rows.

        Raises Refused if the outcomes can be listed.
        """
        if self.sampled or all_leaves(state).total() != 1:
            raise Refused("it is for one unit along a map that is no sample")
        leaf = next(iter(all_leaves(state)))
        many = fates(self.made_by, leaf, self.place.traits)
        if not isinstance(many, TooMany):
            raise Refused("what the map makes of the unit can be listed")
        found: list[Choice] = []
        for unit, rows in many.units:
            after = self._below(state, become(unit))
            loss = yield (self.below, after)
            grouped = self.algebra.chain([(loss, rows)])
            found.append(Choice(grouped, (Branch(self.below, after, 1),), rows > 1, rows))
        return worst_of(self.algebra, found)._replace(how=How("extremes"))

    # -- random maps ---------------------------------------------------------------------------

    def displaced(self, state: State) -> Walk:
        """Bounds the loss where the map keeps one random row of each key (theorem `random-limit`).

        An added row is the only one of its key and is kept, or it is drawn with chance at most 1/2
        and then replaces another. Changes of several keys are a path, each with its own draw.
        Everything that reads the drawn rows is composed first. A guarantee stated above the map
        covers the draw, which is then not amplified, and one about the protected step does not
        cover the tables on a path.
        """
        algebra = self.algebra
        if self.below.above is not None or self.made_by.conduct().picks is not RowSelection.ONE:
            raise Refused("it is for one row of each key, drawn at random and taken as given")
        if algebra.notion not in AMPLIFIED:
            raise Refused("there is no amplified ρ or μ")
        if self.below.levels:
            raise Refused("the change is followed with its history")
        units = all_leaves(state)
        ways = [fates(self.made_by, leaf, self.place.traits) for leaf in units]
        for leaf, found in zip(units, ways, strict=True):
            if leaf.kind not in (Kind.SINGLE, Kind.PAIR, Kind.USER):
                raise Refused("it is for rows that come, go or are replaced")
            if leaf.kind is Kind.PAIR and len(found) == 1:
                raise Refused("a row that is replaced within its key may be the only one of it")
        if units.total() == 1 and isinstance(ways[0], TooMany):
            # Each row of a user is added, or it displaces another one.
            steps: list[Choice] = []
            for unit, rows in ways[0].units:
                after = self._below(state, become(unit))
                step = yield from self._path(after)
                steps.append(step._replace(bounded=True, units=rows))
            shown = worst_of(algebra, steps)
            loss = algebra.chain([(shown.loss, shown.units)])
            return shown._replace(loss=loss, how=How("displaced"))
        choices: list[Choice] = []
        for after in self.outcomes(state):
            choice: Choice = yield from self._path(after)
            if units.total() == 1 and choice.bounded:
                whole = yield (self.below, after)
                choice = choice._replace(loss=algebra.best([choice.loss, whole]))
            choices.append(choice)
        return worst_of(algebra, choices)._replace(how=How("displaced"))

    def _path(self, after: State) -> Walk:
        """Bounds the loss of the change `after` as a path of single rows, replaced ones drawn with
        chance 1/2."""
        parts: list[tuple[Loss, int]] = []
        branches: list[Branch] = []
        for unit, count in single_units(after):
            loss = yield (self.below, unit)
            if any(leaf.kind is Kind.PAIR for leaf in all_leaves(unit)):
                loss = self.algebra.amplified(loss, HALF, role=Role.DISPLACED)
            parts.append((loss, count))
            branches.append(Branch(self.below, unit, 1))
        alike = parts[0][1] if len(parts) == 1 else 0
        loss = parts[0][0] if alike == 1 else self.algebra.chain(parts)
        return Choice(loss, tuple(branches), alike != 1, alike)

    def unchanged(self, state: State) -> Walk:
        """Bounds the loss below a random map that is part of the only release that depends on it:
        what the map reads changes, and guarantees stated there or above cover the map."""
        if self.below.above is None:
            raise Refused("what is drawn is not part of one release")
        after = self._below(state, as_it_is)
        loss = yield (self.below, after)
        return Choice(loss, (Branch(self.below, after, 1),), how=How("unchanged"))

    def release(self, state: State, how: How) -> Walk:
        """Bounds the loss with the random map as a part of the one release that depends on it.

        Guarantees stated above the map hold whatever is drawn, and are not amplified (theory,
        section 7). `how`: the rule for the map as such a part.
        """
        whole = self.below.whole
        if whole is None:
            raise Refused("more than one release depends on what is drawn")
        inside = AlongMap(self.algebra, self.place, whole)
        part: Choice = yield from inside.replay(how, state)
        return self.every_draw(part)

    def every_draw(self, part: Choice) -> Choice:
        """Returns the bound on all equal, independent draws of the sample (`rounds`) composed;
        `part`: on one draw."""
        branches = tuple(each._replace(copies=self.rounds) for each in part.branches)
        loss = self.algebra.times(part.loss, self.rounds)
        return part._replace(loss=loss, branches=branches, how=How("release", (part.how,)))

    def sample(self, state: State) -> Walk:
        """Bounds the loss of one unit of change by amplification by sampling (theory, section 7).

        All that reads one draw is composed first and amplified once. Distances above the sample
        multiply the amplified loss. Independent draws are independent mechanisms, which compose.
        """
        made_by, below = self.made_by, self.below
        if not isinstance(made_by, Sample) or not self.sampled:
            raise Refused("it is for a sample whose outcome is taken as given")
        if all_leaves(state).total() != 1:
            raise Refused("a sample amplifies the loss of one unit")
        algebra, rounds = self.algebra, self.rounds
        leaf = next(iter(all_leaves(state)))

        def inside(unit: ChangeUnit) -> Walk:
            """Returns the change in the sample where each unit becomes `unit`, and its loss
            there."""
            after = self._below(state, become(unit))
            loss = yield (below, after)
            return after, loss

        if isinstance(made_by, Allocate):
            return (yield from self._in_one_step(made_by, leaf, inside))
        if made_by.at_most is not None:
            return (yield from self._cut_to_size(made_by, leaf, inside))
        if made_by.replacement and leaf.kind is Kind.PAIR:
            return (yield from self._drawn_again(made_by, state))
        in_groups = made_by.cycle > 1 and leaf.kind is not Kind.SINGLE  # of several groups, perhaps
        if in_groups or (made_by.size is not None and leaf.kind is not Kind.PAIR):
            # Without replacement the number of rows is public: only replacements are covered.
            after, _ = yield from inside(ANY)
            return Choice(algebra.none, (Branch(below, after, rounds),), how=How("sample"))
        after, loss = yield from inside(as_it_is(leaf))
        found: list[Loss] = []
        if made_by.size is not None:
            found.append(algebra.times(algebra.coupled([(made_by.rate, loss)]), rounds))
            if not below.traits.ordered:
                # The row may also be replaced by any other one, which keeps no column; where rows
                # have positions, that one is at another position.
                _, other = yield from inside(PAIR)
                row = algebra.amplified(other, made_by.rate, replace=True)
                if other != loss:
                    # The row itself loses less than another one in its place: it is compared with
                    # the samples without it.
                    found.append(algebra.exchanged(other, loss, made_by.rate, rounds))
                    row = algebra.from_above(row)
                found.append(algebra.times(row, rounds))
        elif leaf.kind is Kind.SINGLE:
            row = algebra.amplified(loss, made_by.rate, side=_side(leaf))
            found.append(algebra.times(row, rounds))
        elif leaf.kind is Kind.PAIR:
            _, once = yield from inside(OLD_END)
            found.append(algebra.exchanged(once, loss, made_by.rate, rounds))
        elif leaf.kind is Kind.ANY and leaf.size is not None and loss != algebra.zero:
            return (yield from self._all_replaced(leaf, after, loss, inside))
        else:
            found.append(algebra.times(algebra.unamplified(loss), rounds))
            if leaf.size and loss != algebra.zero and algebra.notion is not Notion.PROFILE:
                # Each row of a user is drawn independently; at a δ their mixture says more.
                _, once = yield from inside(SINGLE)
                side = _side(leaf) if leaf.size == 1 else "removed"
                row = algebra.amplified(once, made_by.rate, side=side)
                path = algebra.chain([(row, int(leaf.size))])
                found.append(algebra.times(path, rounds))
        best = algebra.best(found)
        return Choice(best, (Branch(below, after, rounds),), how=How("sample"))

    def _in_one_step(
        self, made_by: Allocate, leaf: ChangeUnit, inside: Callable[[ChangeUnit], Walk]
    ) -> Walk:
        """Bounds the loss of rows that each take part in one random step of an epoch (balls in
        bins).

        All that reads the step is composed first, and epochs compose. Several rows are a path of
        single ones. `leaf`: the unit of change above the map; `inside`: requests the loss of a unit
        in the step.
        """
        algebra, below, rounds = self.algebra, self.below, self.rounds
        rows = 1 if leaf.kind in (Kind.SINGLE, Kind.PAIR) else 0
        if leaf.kind is Kind.USER:
            rows = int(leaf.size or 0)
        if not rows:
            after, _ = yield from inside(ANY)
            return Choice(algebra.none, (Branch(below, after, rounds),), how=How("sample"))
        after, loss = yield from inside(SINGLE if leaf.kind is Kind.USER else as_it_is(leaf))
        found = []
        if leaf.kind is Kind.PAIR:
            # The two rows are in the same step, or one goes and the other one comes.
            both = loss
            found.append(algebra.allocated(both, 1))
            _, loss = yield from inside(OLD_END)
            found.append(algebra.allocated_instead(loss, both, made_by.steps))
            rows = 2
        side = _side(leaf) if leaf.kind is Kind.SINGLE else "both"
        row = algebra.allocated(loss, made_by.steps, side)
        found.append(row if rows == 1 else algebra.chain([(row, rows)]))
        total = algebra.times(algebra.best(found), rounds)
        return Choice(total, (Branch(below, after, rounds),), how=How("sample"))

    def _cut_to_size(
        self, made_by: Sample, leaf: ChangeUnit, inside: Callable[[ChangeUnit], Walk]
    ) -> Walk:
        """Bounds the loss of one row read through a Poisson sample that is cut to a size.

        By theorem `truncated-poisson-sample`. `leaf`: the row that changes; `inside`: requests the
        loss of a unit in the sample.
        """
        algebra, below, rounds = self.algebra, self.below, self.rounds
        assert made_by.at_most is not None and made_by.of is not None
        traits = self.place.traits
        stays = traits.nulls if leaf.kind is Kind.SINGLE else leaf.kind is Kind.PAIR
        if not stays or not (traits.nulls or traits.fixed):
            after, _ = yield from inside(ANY)
            return Choice(algebra.none, (Branch(below, after, rounds),), how=How("sample"))
        after, loss = yield from inside(as_it_is(leaf))
        chance, rate = truncated(made_by.of, made_by.rate, made_by.at_most)
        if leaf.kind is Kind.SINGLE:
            usual = algebra.amplified(loss, made_by.rate, side=_side(leaf))
        else:
            _, once = yield from inside(OLD_END)
            usual = algebra.exchanged(once, loss, made_by.rate, 1)
        full = algebra.coupled([(rate, loss)])
        if not below.traits.ordered:
            # In a full sample the row takes the place of any other one.
            _, instead = yield from inside(PAIR)
            instead = algebra.worst_case([instead, loss])
            full = algebra.exchanged(instead, loss, rate, 1)
        drawn = algebra.mixture([(1 - chance[0], usual), (chance[1], full)], loss)
        total = algebra.times(drawn, rounds)
        return Choice(total, (Branch(below, after, rounds),), how=How("sample"))

    def _all_replaced(
        self, leaf: ChangeUnit, after: State, loss: Loss, inside: Callable[[ChangeUnit], Walk]
    ) -> Walk:
        """Bounds the loss of any change of a table of public size, by a path that replaces each of
        its rows.

        `leaf`: the change (`ANY`); `after`, `loss`: the whole change in the sample, and its loss
        there; `inside`: requests the loss of a unit in the sample.
        """
        algebra, rounds, made_by = self.algebra, self.rounds, self.made_by
        assert isinstance(made_by, Sample) and leaf.size is not None
        whole = algebra.times(algebra.unamplified(loss), rounds)
        shown = Choice(whole, (Branch(self.below, after, rounds),), how=How("sample"))
        pair, both = yield from inside(PAIR)
        _, once = yield from inside(OLD_END)
        row = algebra.exchanged(once, both, made_by.rate, 1)
        if row == algebra.none:
            return shown
        rows = int(leaf.size)
        path = algebra.times(algebra.chain([(row, rows)]), rounds)
        best = algebra.best([whole, path])
        if best == whole:
            return shown
        return Choice(best, (Branch(self.below, pair, rounds),), True, rows, shown.how)

    def as_pure(self, state: State, search: Callable[[AlongMap, State], Walk]) -> Walk:
        """Bounds the ρ or μ² of what reads a sample by its amplified pure ε, converted for each
        draw.

        `search`: bounds the loss of a change in pure DP. The ε must hold for both orders of the
        tables, also for a row that is added. For one row the loss is never more than without a
        secret sample: which other rows are drawn is independent of it, and given these a mixture
        loses no more than its worst part.
        """
        algebra = self.algebra
        if not self.sampled or algebra.notion in AMPLIFIED:
            raise Refused("it is for the ρ or the μ of a sample")
        if isinstance(self.made_by, Allocate):
            raise Refused("no ρ or μ is amplified, and the one of a step is known without that")
        state, pure = undirected(state), replace(self, algebra=Scalars(Notion.PURE))
        found: Choice = yield from in_pure(search(pure, state))
        own: Loss = algebra.none
        for each in found.branches:
            if each.state:
                own = yield (each.place, each.state)  # of the shown change
        if isinstance(found.loss, float):
            loss: Loss = algebra.none
        else:
            # On a path of equal units each step has the same share of the loss.
            steps = max(1, found.units) if found.how.rule in ("units", "outermost") else 1
            loss = algebra.zero
            if found.loss:
                parts = self.rounds * steps
                loss = over_steps(found.loss, steps, algebra.notion, parts=parts)
            if all_leaves(state).total() == 1 and not (_of_user(state) or found.bounded):
                loss = algebra.best([loss, own if found.loss else algebra.zero])
            loss = algebra.times(loss, self.rounds)
        return found._replace(loss=loss, how=How("as-pure", (found.how,)))

    def coupled(self, state: State) -> Walk:
        """Bounds the loss of several rows read through one sample, as if it were public which rows
        are drawn.

        Couple the samples of both tables: common rows are drawn together, and so are both ends of a
        replaced row. The samples then differ by the drawn rows that change, a mixture of changes
        (profiles are jointly convex). A path of single rows, each amplified, may lose more.
        """
        algebra, made_by = self.algebra, self.made_by
        if not isinstance(made_by, Sample) or not self.sampled:
            raise Refused("it is for a sample whose outcome is taken as given")
        if not made_by.plain or made_by.cycle > 1:
            raise Refused("it is for rows that are drawn by themselves, or sets of them alike")
        units = all_leaves(state)
        at_delta = algebra.notion is Notion.PROFILE
        of_users = at_delta and any(leaf.kind is Kind.USER for leaf in units)
        rows = (Kind.SINGLE, Kind.PAIR, *([Kind.USER] if of_users else []))
        if not all(leaf.kind in rows for leaf in units) or (units.total() == 1 and not of_users):
            raise Refused("it is for several rows, those of users at a δ alone")
        listed: DrawnRows | None = None
        if made_by.size is not None and made_by.of is not None:
            replaced = self._replaced(state)
            if not self.below.traits.ordered and not any(leaf.kept for leaf in all_leaves(state)):
                raise Refused("rows that give way to any other ones lose less")
            known = how_many_of(replaced, made_by.size, made_by.of)
            listed = [(with_alike(state, n) if n else (), chance) for n, chance in known]
        else:
            listed = draws_of(state, made_by.rate)
        after = self._below(state, as_it_is)
        loss = yield (self.below, after)
        drawn = algebra.unamplified(loss)
        if listed is not None:
            drawn = yield from algebra.coupled_draws(listed, state, loss, self._ask)
        total = algebra.times(drawn, self.rounds)
        return Choice(total, (Branch(self.below, after, self.rounds),), True, how=How("coupled"))

    def sampled_rows(self, state: State) -> Walk:
        """Bounds the loss of several rows read through one sample, by the mixture over the rows
        drawn."""
        algebra, made_by = self.algebra, self.made_by
        if not isinstance(made_by, Sample) or not self.sampled:
            raise Refused("it is for a sample whose outcome is taken as given")
        if not made_by.plain or made_by.cycle > 1:
            raise Refused("it is for rows that are drawn by themselves, or sets of them alike")
        if made_by.size is not None and made_by.of is not None:
            chances = how_many_of(self._replaced(state), made_by.size, made_by.of)
            return (yield from self._rows_of_size(state, chances))
        # The loss of a part of the rows against none of them is used in both orders of the tables.
        sides = {_side(leaf) for leaf in all_leaves(state)}
        one_sided, state = self._one_sided(state), undirected(state)
        after = self._below(state, as_it_is)
        branch = Branch(self.below, after, self.rounds)
        side = sides.pop() if one_sided and len(sides) == 1 else "both"
        rate, rounds = made_by.rate, self.rounds
        total = yield from algebra.several_rows(state, rate, one_sided, side, rounds, self._ask)
        return Choice(total, (branch,), True, how=How("sampled-rows"))

    def _replaced(self, state: State) -> int:
        """Returns the number of rows, two or more, that are replaced alike; `Refused` for other
        changes."""
        rows = rows_that_change_alike(state) or 0
        if rows < 2 or any(leaf.kind is not Kind.PAIR for leaf in all_leaves(state)):
            raise Refused("it is for several rows that are replaced alike")
        return rows

    def _drawn_again(self, made_by: Sample, state: State) -> Walk:
        """Bounds the loss of one replaced row that a sample with replacement may draw several
        times."""
        size, of = made_by.size, made_by.of
        assert size is not None and of is not None
        numbers = [*self.algebra.numbers_drawn(size, Fraction(1, of)), size]
        known = list(zip([0, *numbers], chances(size, Fraction(1, of), numbers), strict=True))
        try:
            choice = yield from self._rows_of_size(state, known)
            return choice._replace(how=How("sample"))
        except Refused:
            branch = Branch(self.below, self._below(state, become(PAIR)), self.rounds)
            return Choice(self.algebra.none, (branch,), how=How("sample"))

    def _rows_of_size(self, state: State, chances: Sequence[tuple[int, Fraction]]) -> Walk:
        """Bounds the loss of replaced rows, in a sample of fixed size, by how many are drawn.

        `chances`: pairs of a number of rows, from 0 up, and the chance that so many are drawn;
        numbers that are left out count as the next one.
        """
        algebra = self.algebra
        if self.below.traits.ordered:
            raise Refused("a row that gives way to any other one stands elsewhere")
        loss = yield from algebra.rows_of_size(state, chances, self._ask)
        if loss == algebra.none:
            raise Refused("there is no amplified ρ or μ, nor where too much may be lost")
        part = with_alike(state, chances[-1][0])  # all that can be drawn
        branch = Branch(self.below, self._below(part, become(PAIR)), self.rounds)
        total = algebra.times(loss, self.rounds)
        return Choice(total, (branch,), True, how=How("sampled-rows"))

    def _one_sided(self, state: State) -> bool:
        """Returns whether all changed rows are in one and the same of the two tables, as a single
        row is."""
        units = all_leaves(state)
        if any(leaf.kind is Kind.PAIR for leaf in units):
            return False
        directed = all(leaf.directed for leaf in units) and len({leaf.sign for leaf in units}) == 1
        return directed or units.total() == 1


def _of_user(state: State) -> bool:
    """Returns whether the change is of rows of a privacy unit, any number of which may be drawn."""
    return any(leaf.kind is Kind.USER for leaf in all_leaves(state))


def _side(leaf: ChangeUnit) -> str:
    """Returns whether a row is "added" or "removed" in the second table; "both" if not known."""
    return ("added" if leaf.sign else "removed") if leaf.directed else "both"
