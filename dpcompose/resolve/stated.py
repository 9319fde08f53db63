"""From stated guarantees as written to statements."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, islice

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.model.problem import Path, Statement
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.core.notions.notion import Notion, Pair, chain, chain_pairs
from dpcompose.core.numbers.form_keys import NUMBER, Need, Safe
from dpcompose.curves.rounding import ZERO
from dpcompose.errors import quoted
from dpcompose.faults import Faults, listing
from dpcompose.resolve.forest import SpecPlace, Splitting
from dpcompose.resolve.parameters import DELTA, ORDER, Context, Numbers
from dpcompose.spec import guarantees as written

_ANCESTORS_LISTED = 10

#: Pairs of numbers: (α, ε), or (ε, δ).
Points = tuple[tuple[Fraction, Fraction], ...]


def guarantee_statements(
    stated: written.Guarantee, path: Path, place: SpecPlace | None, context: Context
) -> list[Statement] | None:
    """Returns what the guarantee at `path` states for a mechanism that reads `place`, with what
    follows from it; None after an error."""
    made = _guarantee(stated, path, place, context)
    given = stated.relation is not None
    relations = context.relations
    relation = relations.relation(stated.relation, (*path, "relation"))
    domain = place
    if stated.stated_on is not None:
        domain = _domain(stated.stated_on, place, path, context)
    if place is None or domain is None or relation is None:
        return None
    # A guarantee in a list has no `reads` of its own: the list item is marked then.
    at = "relation" if given else "stated_on" if stated.stated_on is not None else "reads"
    fine = relations.hold(relation, domain, (*path, at), given)
    if relation.kind is RelationKind.EUCLIDEAN and not isinstance(stated, written.Pure):
        message = f"`relation: {relation}` goes with `notion: pure`, not `{stated.notion}`"
        hint = "only a loss ε per unit of distance can be followed"
        context.faults.add("DPC150", (*path, "notion"), message, hint)
        fine = False
    if not fine or made is None:
        return None
    statement = Statement(relation, place.depth - domain.depth, made, path, given)
    if not isinstance(stated, written.Profile):
        return [statement]
    points = [
        Guarantee(Notion.APPROX if delta else Notion.PURE, epsilon, delta)
        for epsilon, delta in made.points
    ]
    return [statement, *(statement._replace(guarantee=each, implied=True) for each in points)]


def _guarantee(
    stated: written.Guarantee, path: Path, place: SpecPlace | None, context: Context
) -> Guarantee | None:
    """Returns a stated guarantee; None after an error."""
    if isinstance(stated, written.Rdp):
        return _rdp(stated, path, place, context)
    notion = Notion(stated.notion)
    if isinstance(stated, written.Profile):
        points = _profile(stated, (*path, "points"), context.numbers)
        return None if points is None else Guarantee(notion, ZERO, points=points)
    found: list[Fraction] = []
    for key in notion.facts.parameters:
        need = DELTA if key == "delta" else NUMBER
        value = context.read(getattr(stated, key), (*path, key), place, need)
        found += [] if value is None else [value]
    if len(found) < len(notion.facts.parameters):
        return None
    return Guarantee(notion, found[0], found[1] if len(found) > 1 else ZERO)


# --- several numbers ------------------------------------------------------------------------------


def _rdp(
    stated: written.Rdp, path: Path, place: SpecPlace | None, context: Context
) -> Guarantee | None:
    """Returns a Rényi guarantee at one order, or at several; None after an error."""
    faults = context.faults
    if stated.points is not None:
        extra = next((key for key in ("alpha", "epsilon") if getattr(stated, key)), None)
        if extra is not None:
            message = f"`points` and `{extra}` exclude each other"
            hint = "one order has `alpha` and `epsilon`; several are `points: [[α, ε], …]`"
            faults.add("DPC105", (*path, extra), message, hint, key=True)
        points = _points(
            stated.points,
            (*path, "points"),
            ("α", ORDER, None),
            ("ε", NUMBER, "up"),
            context.numbers,
        )
        if (
            points is None
            or extra is not None
            or _has_order_twice(points, path, stated.points, faults)
        ):
            return None
        return Guarantee(Notion.RDP, ZERO, points=tuple(sorted(points)))
    if stated.alpha is None or stated.epsilon is None:
        missing = [key for key in ("alpha", "epsilon") if getattr(stated, key) is None]
        needs = f"`{missing[0]}`" if len(missing) == 1 else "`points`, or `alpha` and `epsilon`"
        hint = "`points: [[α, ε], …]`, or one order: `alpha` and `epsilon`"
        message = f"a guarantee of notion `rdp` needs {needs}"
        faults.add("DPC102", path, message, hint, key=True)
        return None
    alpha = context.read(stated.alpha, (*path, "alpha"), place, ORDER, None)
    epsilon = context.read(stated.epsilon, (*path, "epsilon"), place)
    if alpha is None or epsilon is None:
        return None
    return Guarantee(Notion.RDP, ZERO, points=((alpha, epsilon),))


def _has_order_twice(points: Points, path: Path, given: object, faults: Faults) -> bool:
    """Returns whether some order of a Rényi curve is given twice, which is then reported;
    `given`: the points as they stand in the spec."""
    first: dict[Fraction, int] = {}
    for i, (alpha, _) in enumerate(points):
        if first.setdefault(alpha, i) != i:
            step: str | int = list(given)[i] if isinstance(given, dict) else i
            message = f"the order {alpha} is given twice"
            at = (*path, "points", step)
            faults.add("DPC116", at, message, "keep the smaller ε", key=True)
            return True
    return False


def _profile(stated: written.Profile, path: Path, numbers: Numbers) -> Points | None:
    """Returns the (ε, δ) of a profile, sorted by ε, without dominated ones; None after an
    error."""
    points = _points(stated.points, path, ("ε", NUMBER, "up"), ("δ", DELTA, "up"), numbers)
    if points is None:
        return None
    kept: list[tuple[Fraction, Fraction]] = []
    for point in sorted(points):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return tuple(kept)


def _points(
    given: Collection[written.AnyPoint] | dict[str, str],
    path: Path,
    first: tuple[str, Need, Safe | None],
    second: tuple[str, Need, Safe | None],
    numbers: Numbers,
) -> Points | None:
    """Returns pairs of numbers; None after an error.

    `first`, `second`: what messages call each of the two numbers, its requirement, and the
    direction in which it may be rounded.
    """
    found, fine = [], True
    for where, (one, one_at, is_key), (other, other_at) in _written_points(given, path):
        name, need, safe = first
        left = numbers.parameter(one, one_at, need, f"{name} of {where}", is_key, safe)
        name, need, safe = second
        right = numbers.parameter(other, other_at, need, f"{name} of {where}", safe=safe)
        if left is None or right is None:
            fine = False
        else:
            found.append((left, right))
    return tuple(found) if fine else None


# --- the dataset that is meant --------------------------------------------------------------------


def _domain(
    stated_on: str, place: SpecPlace | None, path: Path, context: Context
) -> SpecPlace | None:
    """Returns the dataset that a statement is about (`stated_on`); None after an error."""
    at = (*path, "stated_on")
    node = context.names.find(stated_on, at)
    if node is None or place is None:
        return None
    split = node if isinstance(node, Splitting) else node.split
    depth = node.depth if isinstance(node, SpecPlace) else node.star.depth
    above = next(islice(place.lineage(), max(place.depth - depth, 0), None))
    if split is not None and node in (split, split.star):
        # Of the blocks of a partition, the one that each copy is made from.
        if above.split is split:
            return split.star
    elif isinstance(node, SpecPlace) and above is node:
        return node
    message = f"{quoted(stated_on)} is neither {quoted(place.name)} nor what it is made from"
    names = [each.name for each in islice(place.lineage(), _ANCESTORS_LISTED)]
    hint = f"possible: {listing(names)}"
    if split is not None and above is split.star:
        message = f"{quoted(place.name)} is not made from {quoted(stated_on)} alone"
        hint = f"write `stated_on: {split.name}.*` for the block that each copy is made from"
    context.faults.add("DPC128", at, message, hint)
    return None


def _written_points(
    given: Collection[written.AnyPoint] | dict[str, str], path: Path
) -> Iterator[tuple[str, tuple[str, Path, bool], tuple[str, Path]]]:
    """Yields for each point its name, (first text, path, whether it is a key), and (second text,
    path)."""
    if isinstance(given, dict):
        for key, value in given.items():
            yield "`points`", (key, (*path, key), True), (value, (*path, key))
        return
    for i, point in enumerate(given):
        at, where = (*path, i), f"item {i + 1} of `points`"
        if isinstance(point, tuple):
            yield where, (point[0], (*at, 0), False), (point[1], (*at, 1))
        elif isinstance(point, written.RdpPoint):
            one = (point.alpha, (*at, "alpha"), False)
            yield where, one, (point.epsilon, (*at, "epsilon"))
        else:
            one = (point.epsilon, (*at, "epsilon"), False)
            yield where, one, (point.delta, (*at, "delta"))


#: Of so many statements for changes of some columns each choice is looked at.
_MOST_IN_TURN = 4


def in_turn(statements: Sequence[Statement], place: SpecPlace) -> Iterator[Statement]:
    """Yields statements for changes of all columns that follow from `statements`, which are for
    changes of some columns each.

    A replaced row is changed in some columns first and in the others then (a path of two steps):
    the table in between has a row with some old and some new values, which any table of the root
    may have.
    """
    traits = place.root.traits
    columns = traits.columns
    if columns is None or traits.unit is not None:
        return  # how many rows a unit has in a block may be declared
    notions = (Notion.PURE, Notion.APPROX, Notion.ZCDP, Notion.GDP)
    alike: dict[Notion, list[tuple[frozenset[str], Pair, Statement]]] = {}
    for each in statements:
        if each.relation.kind is not RelationKind.BOUNDED or each.up != place.depth or each.implied:
            continue
        said = each.guarantee
        if said.notion in notions and said.noise is None:
            pair = said.value, said.delta
            changes = columns - (each.relation.required_columns(columns) or frozenset())
            alike.setdefault(said.notion, []).append((changes, pair, each))
    for notion, stated in alike.items():
        for count in range(2, min(len(stated), _MOST_IN_TURN) + 1):
            for some in combinations(stated[:_MOST_IN_TURN], count):
                first = some[0][2]
                together = frozenset().union(*(changes for changes, *_ in some))
                made = _guarantee_of_path(notion, [pair for _, pair, _ in some])
                if made is not None and all(together > changes for changes, *_ in some):
                    relation = first.relation._replace(keeps=frozenset(), changes=together)
                    yield first._replace(relation=relation, guarantee=made, implied=True)


def _guarantee_of_path(notion: Notion, steps: Sequence[Pair]) -> Guarantee | None:
    """Returns the guarantee of a path of steps that may be taken in any order; None if it has
    none."""
    if notion is Notion.APPROX:
        pair = chain_pairs([(each, 1) for each in steps], free=True)
        return None if pair is None else Guarantee(notion, *pair)
    parts = [(value, 1) for value, _ in steps]
    return Guarantee(
        notion, Fraction(chain(parts, Notion.PURE if notion is Notion.GDP else notion))
    )
