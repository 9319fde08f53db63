"""From concrete mechanisms as written to statements: one for each change with a sensitivity.

A sensitivity speaks of the dataset that is read, and nothing is said of its ancestors.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import BOUNDED, UNBOUNDED, Relation, RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.model.problem import Path
from dpcompose.core.notions.guarantee import Guarantee, guaranteed
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.bind_relations import Relations
from dpcompose.resolve.forest import Draft, Parameter, SpecPlace
from dpcompose.resolve.norms import Moves, in_one_norm, plain, read_norms
from dpcompose.resolve.parameters import Numbers
from dpcompose.spec import mechanisms as written

_ZERO, _ONE = Fraction(0), Fraction(1)
#: The values of keys that are no numbers, by their names.
Values = Mapping[str, object]
#: With these protected, nothing says what a sensitivity on a graph is for.
_NOT_OF_GRAPHS = frozenset({RelationKind.FREE_LUNCH, RelationKind.DECLARED})
_ROW_CHANGES = ("unbounded", "bounded")
_ROWS_COME_AND_GO = frozenset({RelationKind.UNBOUNDED, RelationKind.USER})


# --- what a mechanism guarantees ------------------------------------------------------------------


def _guarantee(
    form: FamilyForm, notion: str, other: Values, moves: Moves | None, *given: Fraction
) -> Guarantee:
    """Returns the guarantee of a mechanism in one notion.

    `other`: the values of the keys that are no numbers. `given`: the numbers, in the order of the
    form's keys, then the sensitivity, if there is one; after it, where shifts are relative, all
    sensitivities. `moves`: the norm of the sensitivity.
    """
    numbers, moved = given[: len(form.numbers)], given[len(form.numbers) :]
    values = {key.name: value for key, value in zip(form.numbers, numbers, strict=True)}
    mechanism = form.made({**other, **values})
    if moves is not None:
        mechanism = moves.family(mechanism)
    # Which of two sensitivities is the unit remains unsaid: the smaller one is the safe reading.
    shift = moved[0] / min(moved[1:], default=_ONE) if moved else _ONE
    return guaranteed(Notion(notion), mechanism, shift)


# --- statements ----------------------------------------------------------------------------------


class _Moved(NamedTuple):
    """The relation for which a sensitivity is given, whether the spec names that relation, and the
    path for its errors."""

    relation: Relation
    given: bool
    at: Path


class ConcreteMechanisms:
    """Reads concrete mechanisms."""

    def __init__(self, relations: Relations, numbers: Numbers, faults: Faults) -> None:
        self._relations = relations
        self._numbers = numbers
        self._faults = faults

    def drafts(
        self, mechanism: written.AnyConcrete, path: Path, place: SpecPlace | None
    ) -> list[Draft] | None:
        """Returns a draft of each guarantee of the concrete mechanism at `path`; None after an
        error."""
        form = FORMS[mechanism.mechanism]
        parameters = self._parameters(form, mechanism, path, place)
        other = {
            key.name: getattr(mechanism, key.name) for key in form.keys if key not in form.numbers
        }
        if not isinstance(mechanism, written.Concrete):
            return self._without_sensitivity(form, mechanism, path, place, parameters, other)
        sensitivities: list[list[Moves] | None] = []
        for given, where, replaced in _texts(mechanism, path, place):
            if replaced and _is_one_hot(given) and sensitivities == [None]:
                return None  # reported once
            alone = not isinstance(mechanism.sensitivity, written.Sensitivities)
            sensitivities.append(self._moves(form, given, where, place, replaced, alone))
        moved = None if place is None else self._bound_sensitivities(mechanism, path, place)
        if place is None or moved is None:
            return None
        fine = True
        drawn = (each for each in place.dealt if isinstance(each.made_by, Sample))
        if form.over_steps and (sample := next(drawn, None)) is not None:
            fine = self._amplified(form, mechanism, sample, path)
            other |= {"participations": 1}  # they are copies, each on a sample of its own
        for each in moved:
            fine &= self._relations.hold(each.relation, place, each.at, each.given, movable=False)
        euclidean = moved[0].relation.kind is RelationKind.EUCLIDEAN
        if euclidean and form.states[0] != "pure":
            message = f"`relation: euclidean` does not go with `mechanism: {mechanism.mechanism}`"
            hint = "only a loss ε per unit of distance can be followed: `laplace` has one"
            self._faults.add("DPC150", (*path, "relation"), message, hint)
            fine = False
        known = [each for each in sensitivities if each is not None]
        if not fine or parameters is None or len(known) < len(sensitivities):
            return None
        others = [own.distance for [own] in known] if form.relative else []
        states = form.states[:1] if euclidean else form.states
        return [
            Draft(
                each.relation,
                0,
                (*parameters, own.distance, *others),
                partial(_guarantee, form, notion, other, own),
                path,
                each.given,
                i > 0,
            )
            for each, moves in zip(moved, in_one_norm(known), strict=True)
            for own in moves
            for i, notion in enumerate(states)
        ]

    def _amplified(
        self, form: FamilyForm, mechanism: written.AnyConcrete, drawn: SpecPlace, path: Path
    ) -> bool:
        """Returns whether a sample amplifies each step of a mechanism over steps: one row's steps
        must have noise of their own; reports an error if not."""
        bands = getattr(mechanism, "bands", None)
        assert isinstance(drawn.made_by, Sample)
        cycle = drawn.made_by.cycle
        if cycle > 1 and bands is not None:
            if bands <= cycle:
                return True
            groups = f"the {cycle} groups of {quoted(drawn.name)}"
            hint = f"the steps of one row share noise then: at most `bands: {cycle}`"
            message = f"`bands` is {bands}, more than {groups}"
            self._faults.add("DPC105", (*path, "bands"), message, hint)
            return False
        self._faults.add(
            "DPC105",
            (*path, "reads"),
            f"`mechanism: {form.name}` reads {quoted(drawn.name)}, one sample for all of its steps",
            "where each step draws rows anew, the noise of the steps must be independent for a "
            f"sample to amplify: let `{form.name}` read the rows that the samples are drawn from",
        )
        return False

    def _parameters(
        self, form: FamilyForm, mechanism: written.AnyConcrete, path: Path, place: SpecPlace | None
    ) -> list[Parameter] | None:
        """Returns the parameters of the noise, 0 for those left out; None after an error."""
        found: list[Parameter] = []
        for key in form.numbers:
            text, at = getattr(mechanism, key.name), (*path, key.name)
            value: Parameter | None = _ZERO
            if text is not None:
                value = self._numbers.read(text, at, place, key.need, key.safe)
            found += [] if value is None else [value]
        return found if len(found) == len(form.numbers) else None

    def _moves(
        self,
        form: FamilyForm,
        given: written.AnyMoved,
        at: Path,
        place: SpecPlace | None,
        replaced: bool,
        alone: bool,
    ) -> list[Moves] | None:
        """Returns one sensitivity, in each norm in which it is of use for the noise; None after an
        error.

        `replaced`: it is for a row replaced; `alone`: no other sensitivity is given.
        """
        assert form.sensitivity is not None
        if not isinstance(given, written.Normed):
            found = self._numbers.read(given, at, place, form.sensitivity)
            return None if found is None else plain(form, found)
        read = partial(self._numbers.parameter, safe="up")
        return read_norms(given, at, form, read, self._faults, replaced, alone)

    # sensitivities

    def _bound_sensitivities(
        self, mechanism: written.Concrete, path: Path, place: SpecPlace
    ) -> list[_Moved] | None:
        """Returns for each sensitivity of the mechanism the relation that it is for; None after an
        error."""
        given, at = mechanism.sensitivity, (*path, "sensitivity")
        if isinstance(given, written.Sensitivities) or _is_one_hot(given):
            if mechanism.relation is not None:
                message = "`relation` and a sensitivity for each relation exclude each other"
                hint = "with `relation`, the sensitivity is a number"
                self._faults.add("DPC105", (*path, "relation"), message, hint, key=True)
                return None
            found = [
                _Moved(BOUNDED if replaced else UNBOUNDED, True, where)
                for _, where, replaced in _texts(mechanism, path, place)
            ]
            if not found:
                message = "a sensitivity needs `unbounded` or `bounded`"
                self._faults.add("DPC102", at, message, "or both", key=True)
            return found or None
        if mechanism.relation is not None:
            where = (*path, "relation")
            relation = self._relations.relation(mechanism.relation, where)
            return None if relation is None else [_Moved(relation, True, where)]
        # One row added or removed on a table, and the protected relation on a graph.
        shape, goal = place.traits.shape, self._relations.goal
        reads = (*path, "reads")
        if not place.sound or (shape is Shape.TABLE and not place.traits.fixed):
            return [_Moved(UNBOUNDED, True, reads)]
        name = quoted(place.name)
        if shape is Shape.TABLE:
            message = f"this sensitivity is for one row added or removed, and the size of {name} is"
            hint = "write `sensitivity: {bounded: …}`: how far one row replaced moves it"
            self._faults.add("DPC140", at, f"{message} public (Example III.4)", hint)
            return None
        if goal is None:
            return None
        if shape is Shape.GRAPH and goal.relation.kind not in _NOT_OF_GRAPHS:
            return [_Moved(goal.relation, False, reads)]
        hint = "write `relation: euclidean`, for one unit of distance"
        if shape is Shape.GRAPH:
            hint = "write `relation: edge`, `node` or `node-rewired`"
        message = f"{name} is {shape}: for what change is the sensitivity?"
        self._faults.add("DPC153", at, message, hint)
        return None

    def _fit(
        self,
        form: FamilyForm,
        parameters: list[Parameter] | None,
        other: Values,
        relation: Relation,
        path: Path,
    ) -> bool:
        """Returns whether the values of a mechanism fit each other and a relation; reports if not.

        A number that differs between blocks is known as None.
        """
        if form.refusal is None or parameters is None:
            return True
        numbers = {
            key.name: value if isinstance(value, Fraction) else None
            for key, value in zip(form.numbers, parameters, strict=True)
        }
        why = form.refusal({**other, **numbers}, relation.kind.value)
        if why is None:
            return True
        key, message, hint = why
        self._faults.add("DPC105", (*path, key), message, hint)
        return False

    # without a sensitivity

    def _without_sensitivity(
        self,
        form: FamilyForm,
        mechanism: written.ByRows | written.BySteps,
        path: Path,
        place: SpecPlace | None,
        parameters: list[Parameter] | None,
        other: Values,
    ) -> list[Draft] | None:
        """Returns a draft for each notion in which a mechanism without a sensitivity has a
        guarantee for one step of a relation; None after an error.

        A mechanism in which each row answers by itself has its guarantee for one row replaced.
        """
        relation, given, states = BOUNDED, True, form.states[:1]
        if isinstance(mechanism, written.BySteps):
            given, states, at = mechanism.relation is not None, form.states, (*path, "relation")
            known = self._relations.relation(mechanism.relation, at)
            if place is None or known is None:
                return None
            relation = known
            where = at if given else (*path, "reads")
            fine = self._relations.hold(relation, place, where, given)
        elif place is None:
            return None
        else:
            fine = self.answers_every_row(place, path, "mechanism")
        fits = self._fit(form, parameters, other, relation, path)
        if not fine or not fits or parameters is None:
            return None
        makers = [partial(_guarantee, form, notion, other, None) for notion in states]
        return [
            Draft(relation, 0, tuple(parameters), make, path, given, i > 0)
            for i, make in enumerate(makers)
        ]

    def answers_every_row(self, place: SpecPlace, path: Path, key: str) -> bool:
        """Returns whether every row of a place may give an answer, for one row replaced; reports an
        error at `key` if not."""
        fine = self._relations.hold(BOUNDED, place, (*path, "reads"), given=True, movable=False)
        if not fine or not self._counts_rows(place):
            return fine
        goal = self._relations.goal
        relation = quoted(str(goal.relation)) if goal else ""
        reveals = (
            "which rows are nulls"
            if goal and goal.relation.leaves_nulls
            else "how many rows there are"
        )
        message = (
            f"an answer for every row of {quoted(place.name)} reveals {reveals}, "
            f"and {relation} neighbours differ in that"
        )
        hint = "protect `bounded` neighbours, or release noisy counts instead"
        self._faults.add("DPC154", (*path, key), message, hint)
        return False

    def _counts_rows(self, place: SpecPlace) -> bool:
        """Returns whether protected neighbours may differ in the number of rows of a place."""
        goal = self._relations.goal
        if goal is None or not place.sound or place.traits.fixed:
            return False
        steps = goal.relation.within or goal.relation
        return steps.kind in _ROWS_COME_AND_GO


def _is_one_hot(given: written.AnyMoved | written.Sensitivities) -> bool:
    """Returns whether a sensitivity is `one_hot`, which bounds every kind of row change by
    itself."""
    return isinstance(given, written.Normed) and given.one_hot is not None


def _texts(
    mechanism: written.Concrete, path: Path, place: SpecPlace | None
) -> list[tuple[written.AnyMoved, Path, bool]]:
    """Returns each sensitivity as written, with its path, and whether it is for a row replaced."""
    given, at = mechanism.sensitivity, (*path, "sensitivity")
    if isinstance(given, written.Sensitivities):
        pairs = ((getattr(given, key), key) for key in _ROW_CHANGES)
        return [(text, (*at, key), key == "bounded") for text, key in pairs if text is not None]
    if not _is_one_hot(given):
        return [(given, at, False)]
    traits = None if place is None else place.traits
    if traits is not None and traits.shape is not Shape.TABLE:
        return [(given, at, False)]
    comes_and_goes = traits is None or not traits.fixed
    return [(given, at, replaced) for replaced in (False, True) if replaced or comes_and_goes]
