"""From concrete mechanisms as written to statements: one for each change with a sensitivity.

A sensitivity speaks of the dataset that is read, and nothing is said of its ancestors.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import BOUNDED, UNBOUNDED, Relation, RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.model.problem import Goal, Path, Statement
from dpcompose.core.notions.guarantee import Guarantee, guaranteed
from dpcompose.core.notions.notion import Notion
from dpcompose.curves.rounding import ZERO
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.forest import SpecPlace
from dpcompose.resolve.norms import Moves, in_one_norm, plain, read_norms
from dpcompose.resolve.parameters import Context
from dpcompose.spec import mechanisms as written

_ONE = Fraction(1)
#: A sensitivity as it is written, with its path, and whether it is for a row replaced.
WrittenSensitivity = tuple[written.AnyMoved, Path, bool]
#: The values of the keys of a mechanism, by their names.
Values = dict[str, object]
#: With these protected, nothing says what a sensitivity on a graph is for.
_NOT_OF_GRAPHS = frozenset({RelationKind.FREE_LUNCH, RelationKind.DECLARED})
_ROWS_COME_AND_GO = frozenset({RelationKind.UNBOUNDED, RelationKind.USER})


# --- what a mechanism guarantees ------------------------------------------------------------------


def _guarantee(
    form: FamilyForm, notion: str, values: Values, moves: Moves | None, others: Sequence[Moves]
) -> Guarantee:
    """Returns the guarantee of a mechanism in one notion.

    `moves`: its sensitivity; None if it has none. `others`: where shifts are relative, all of its
    sensitivities.
    """
    mechanism, shift = form.made(values), _ONE
    if moves is not None:
        mechanism = moves.family(mechanism)
        # The spec does not say which of two sensitivities is the unit: the smaller one is safe.
        shift = moves.distance / min((each.distance for each in others), default=_ONE)
    return guaranteed(Notion(notion), mechanism, shift)


# --- statements ----------------------------------------------------------------------------------


class _Moved(NamedTuple):
    """The relation for which a sensitivity is given, whether the spec names that relation, and the
    path for its errors."""

    relation: Relation
    given: bool
    at: Path


def family_statements(
    mechanism: written.AnyConcrete, path: Path, place: SpecPlace | None, context: Context
) -> list[Statement] | None:
    """Returns what the noise of the concrete mechanism at `path` guarantees: a statement for each
    kind of change and each notion; None after an error."""
    form = FORMS[mechanism.mechanism]
    values = _values(form, mechanism, path, place, context)
    if not isinstance(mechanism, written.Concrete):
        return _without_sensitivity(form, mechanism, path, place, values, context)
    sensitivities: list[list[Moves] | None] = []
    texts = _texts(mechanism, path, place)
    for given, where, replaced in texts:
        if replaced and _is_one_hot(given) and sensitivities == [None]:
            return None  # reported once
        alone = not isinstance(mechanism.sensitivity, written.Sensitivities)
        found = _moves(form, given, where, place, replaced, alone, context)
        sensitivities.append(found)
    moved = None if place is None else _bound_sensitivities(mechanism, texts, path, place, context)
    if place is None or moved is None:
        return None
    fine = True
    drawn = (each for each in place.dealt if isinstance(each.made_by, Sample))
    if form.over_steps and (sample := next(drawn, None)) is not None:
        fine = _amplifies_steps(form, mechanism, sample, path, context.faults)
        if values is not None:  # they are copies, each on a sample of its own
            values |= {"participations": 1}
    for each in moved:
        fine &= context.relations.hold(each.relation, place, each.at, each.given, movable=False)
    euclidean = moved[0].relation.kind is RelationKind.EUCLIDEAN
    if euclidean and form.states[0] != "pure":
        message = f"`relation: euclidean` does not go with `mechanism: {mechanism.mechanism}`"
        hint = "only a loss ε per unit of distance can be followed: `laplace` has one"
        context.faults.add("DPC150", (*path, "relation"), message, hint)
        fine = False
    known = [each for each in sensitivities if each is not None]
    if not fine or values is None or len(known) < len(sensitivities):
        return None
    others = [own for [own] in known] if form.relative else []
    states = form.states[:1] if euclidean else form.states
    return [
        Statement(
            each.relation,
            0,
            _guarantee(form, notion, values, own, others),
            path,
            each.given,
            i > 0,
        )
        for each, moves in zip(moved, in_one_norm(known), strict=True)
        for own in moves
        for i, notion in enumerate(states)
    ]


def _amplifies_steps(
    form: FamilyForm,
    mechanism: written.AnyConcrete,
    drawn: SpecPlace,
    path: Path,
    faults: Faults,
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
        faults.add("DPC105", (*path, "bands"), message, hint)
        return False
    faults.add(
        "DPC105",
        (*path, "reads"),
        f"`mechanism: {form.name}` reads {quoted(drawn.name)}, one sample for all of its steps",
        "where each step draws rows anew, the noise of the steps must be independent for a "
        f"sample to amplify: let `{form.name}` read the rows that the samples are drawn from",
    )
    return False


def _values(
    form: FamilyForm,
    mechanism: written.AnyConcrete,
    path: Path,
    place: SpecPlace | None,
    context: Context,
) -> Values | None:
    """Returns the values of the keys of a mechanism by their names, 0 for numbers left out; None
    after an error."""
    found: Values = {}
    for key in form.keys:
        value = getattr(mechanism, key.name)
        if key in form.numbers:
            at = (*path, key.name)
            read = context.read(value, at, place, key.need, key.safe) if value is not None else ZERO
            if read is None:
                continue
            value = read
        found[key.name] = value
    return found if len(found) == len(form.keys) else None


def _moves(
    form: FamilyForm,
    given: written.AnyMoved,
    at: Path,
    place: SpecPlace | None,
    replaced: bool,
    alone: bool,
    context: Context,
) -> list[Moves] | None:
    """Returns one sensitivity, in each norm in which it is of use for the noise; None after an
    error.

    `replaced`: it is for a row replaced; `alone`: no other sensitivity is given.
    """
    assert form.sensitivity is not None
    if not isinstance(given, written.Normed):
        found = context.read(given, at, place, form.sensitivity)
        return None if found is None else plain(form, found)
    read = partial(context.numbers.parameter, safe="up")
    return read_norms(given, at, form, read, context.faults, replaced, alone)


# --- the changes that sensitivities are for -------------------------------------------------------


def _bound_sensitivities(
    mechanism: written.Concrete,
    texts: Sequence[WrittenSensitivity],
    path: Path,
    place: SpecPlace,
    context: Context,
) -> list[_Moved] | None:
    """Returns for each sensitivity of the mechanism the relation that it is for; None after an
    error."""
    given, at, faults = mechanism.sensitivity, (*path, "sensitivity"), context.faults
    if isinstance(given, written.Sensitivities) or _is_one_hot(given):
        if mechanism.relation is not None:
            message = "`relation` and a sensitivity for each relation exclude each other"
            hint = "with `relation`, the sensitivity is a number"
            faults.add("DPC105", (*path, "relation"), message, hint, key=True)
            return None
        found = [
            _Moved(BOUNDED if replaced else UNBOUNDED, True, where) for _, where, replaced in texts
        ]
        if not found:
            message = "a sensitivity needs `unbounded` or `bounded`"
            faults.add("DPC102", at, message, "or both", key=True)
        return found or None
    if mechanism.relation is not None:
        where = (*path, "relation")
        relation = context.relations.relation(mechanism.relation, where)
        return None if relation is None else [_Moved(relation, True, where)]
    assumed = _without_relation(path, place, "`sensitivity: {bounded: …}`", context)
    return None if assumed is None else [assumed]


def _without_relation(
    path: Path, place: SpecPlace, replaced: str, context: Context
) -> _Moved | None:
    """Returns the relation that a sensitivity is for that names none: one row added or removed on a
    table, and the protected relation on a graph; None where that has no meaning, which is reported.

    `replaced`: what to write for one row replaced.
    """
    shape, goal = place.traits.shape, context.relations.goal
    at, reads = (*path, "sensitivity"), (*path, "reads")
    if not place.sound or (shape is Shape.TABLE and not place.traits.fixed):
        return _Moved(UNBOUNDED, True, reads)
    name = quoted(place.name)
    if shape is Shape.TABLE:
        message = f"this sensitivity is for one row added or removed, and the size of {name} is"
        hint = f"write {replaced}: how far one row replaced moves it"
        context.faults.add("DPC140", at, f"{message} public (Example III.4)", hint)
        return None
    if goal is None:
        return None
    if shape is Shape.GRAPH and goal.relation.kind not in _NOT_OF_GRAPHS:
        return _Moved(goal.relation, False, reads)
    hint = "write `relation: euclidean`, for one unit of distance"
    if shape is Shape.GRAPH:
        hint = "write `relation: edge`, `node` or `node-rewired`"
    message = f"{name} is {shape}: for what change is the sensitivity?"
    context.faults.add("DPC153", at, message, hint)
    return None


# --- without a sensitivity ------------------------------------------------------------------------


def _without_sensitivity(
    form: FamilyForm,
    mechanism: written.ByRows | written.BySteps,
    path: Path,
    place: SpecPlace | None,
    values: Values | None,
    context: Context,
) -> list[Statement] | None:
    """Returns the guarantees of a concrete mechanism that is not stated by a sensitivity alone, for
    one step of a relation, one in each notion that it has; None after an error.

    A mechanism in which each row answers by itself has its guarantee for one row replaced. Of one
    for steps, what its ε says is for the protected relation where no other is named, as of any
    stated guarantee, and a sensitivity is for one row.
    """
    relation, given, states = BOUNDED, True, form.states[:1]
    if isinstance(mechanism, written.BySteps):
        given, states, at = mechanism.relation is not None, form.states, (*path, "relation")
        known = context.relations.relation(mechanism.relation, at)
        if place is None or known is None:
            return None
        moved: _Moved | None = _Moved(known, given, at if given else (*path, "reads"))
        of_a_row = not given and getattr(mechanism, "sensitivity", None) is not None
        if of_a_row:
            moved = _without_relation(path, place, "`relation: bounded`", context)
        if moved is None:
            return None
        relation, given, where = moved
        fine = context.relations.hold(relation, place, where, given, movable=not of_a_row)
    elif place is None:
        return None
    else:
        fine = answers_every_row(place, path, "mechanism", context)
    if values is None:
        return None
    why = None if form.refusal is None else form.refusal(values, relation.kind.value)
    if why is not None:
        key, message, hint = why
        context.faults.add("DPC105", (*path, key), message, hint)
    if why is not None or not fine:
        return None
    found = [
        Statement(relation, 0, _guarantee(form, notion, values, None, ()), path, given, i > 0)
        for i, notion in enumerate(states)
    ]
    other = form.made(values).for_replaced_row() if relation == UNBOUNDED else None
    if other is not None:
        told = guaranteed(Notion(states[0]), other, _ONE)
        found.append(Statement(BOUNDED, 0, told, path, given))
    return found


def answers_every_row(place: SpecPlace, path: Path, key: str, context: Context) -> bool:
    """Returns whether every row of a place may give an answer, for one row replaced; reports an
    error at `key` if not."""
    relations = context.relations
    goal = relations.goal
    if not relations.hold(BOUNDED, place, (*path, "reads"), given=True, movable=False):
        return False
    if not _counts_rows(place, goal):
        return True
    relation = quoted(str(goal.relation)) if goal else ""
    reveals = (
        "which rows are nulls" if goal and goal.relation.leaves_nulls else "how many rows there are"
    )
    message = (
        f"an answer for every row of {quoted(place.name)} reveals {reveals}, "
        f"and {relation} neighbours differ in that"
    )
    hint = "protect `bounded` neighbours, or release noisy counts instead"
    context.faults.add("DPC154", (*path, key), message, hint)
    return False


def _counts_rows(place: SpecPlace, goal: Goal | None) -> bool:
    """Returns whether protected neighbours may differ in the number of rows of a place."""
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
) -> list[WrittenSensitivity]:
    """Returns the sensitivities of a mechanism as they are written."""
    given, at = mechanism.sensitivity, (*path, "sensitivity")
    if isinstance(given, written.Sensitivities):
        pairs = ((getattr(given, key), key) for key in written.ROW_CHANGES)
        return [(text, (*at, key), key == "bounded") for text, key in pairs if text is not None]
    if not _is_one_hot(given):
        return [(given, at, False)]
    traits = None if place is None else place.traits
    if traits is not None and traits.shape is not Shape.TABLE:
        return [(given, at, False)]
    comes_and_goes = traits is None or not traits.fixed
    return [(given, at, replaced) for replaced in (False, True) if replaced or comes_and_goes]
