"""The rule for values that move together by no more than a joint bound (theorem `joint-l1`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpcompose.core.change.maps.value import Joint, Value
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.propagation import propagate
from dpcompose.core.change.units import Kind, State, all_leaves, state_of, top_level
from dpcompose.core.loss import proved
from dpcompose.core.loss.algebra import Loss, LossAlgebra, Walk
from dpcompose.core.loss.cost import distance_moved
from dpcompose.core.loss.walk import Branch, Choice, How, PureNeed, fit
from dpcompose.core.mechanisms.geometric import Geometric
from dpcompose.core.mechanisms.laplace import Laplace
from dpcompose.core.model.problem import Statement
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Role
from dpcompose.core.theorems.one_mechanism import worst_moves
from dpcompose.curves.rounding import ZERO, summed

#: The rule, as certificates name it.
RULE = How("joint")


def joint_of(place: Place) -> Joint | None:
    """Returns the joint bound on distances that covers what is lost at a value; None if none does.

    Only losses in proportion to the distance count: ε for each unit of it.
    """
    made_by = None if place.edge is None else place.edge.made_by
    if not isinstance(made_by, Value) or made_by.joint is None or not place.mechanisms:
        return None
    per_unit = all(
        each.relation.kind is RelationKind.EUCLIDEAN and each.guarantee.notion is Notion.PURE
        for each in _statements([place])
    )
    return made_by.joint if per_unit else None


def groups(place: Place) -> Iterator[tuple[int, ...]]:
    """Yields for each joint bound the numbers of the datasets made from that of `place` that it
    covers."""
    found: dict[Joint, list[int]] = {}
    for number, below in enumerate(place.derived):
        joint = joint_of(below)
        if joint is not None:
            found.setdefault(joint, []).append(number)
    yield from (tuple(each) for each in found.values() if len(each) > 1)


def together(algebra: LossAlgebra, place: Place, numbers: Sequence[int], state: State) -> Walk:
    """Bounds the losses at the values of a joint bound, one `Choice` for each: only their sum is a
    bound.

    `numbers`: of the values among the datasets made from that of `place`; `state`: its change. The
    worst case in pure DP moves the values where a unit of distance costs most, each as far as it
    can by itself. In other notions all releases together count as one of that ε, or, where the
    values are released alike and each may take the whole bound, as if one of them did.
    """
    values = [place.derived[number] for number in numbers]
    joint = joint_of(values[0])
    assert joint is not None
    moved = [(joint.moves(leaf, place.traits), n) for leaf, n in all_leaves(state).items()]
    steps = [each * n for each, n in moved if each is not None]
    if len(steps) < len(moved):
        raise Refused("the joint bound says nothing of this change")
    budget = summed(steps)
    changes = [_change(place, each, state) for each in values]
    reach = [
        distance_moved(change, value.traits.diameter) or ZERO
        for change, value in zip(changes, values, strict=True)
    ]
    pure = algebra.notion is Notion.PURE
    if not pure and all(each == budget for each in reach) and _are_alike(values):
        first = yield (values[0], changes[0])
        branch = Branch(values[0], changes[0], 1)
        nothing = [Choice(algebra.zero, (), how=RULE)] * (len(values) - 1)
        return [Choice(first, (branch,), how=RULE), *nothing]
    need = (lambda *asked: asked) if pure else PureNeed
    losses: list[Fraction] = []
    for value, change in zip(values, changes, strict=True):
        losses.append((yield need(value, change)))
    # Losses are in proportion to the distance.
    rates = [loss / far if far else ZERO for loss, far in zip(losses, reach, strict=True)]
    moves = worst_moves(list(zip(rates, reach, strict=True)), budget)
    found: list[Choice] = []
    for value, change, rate, far, move in zip(values, changes, rates, reach, moves, strict=True):
        branches = (Branch(value, _scaled(change, move / far), 1),) if rate * move else ()
        given = {"x": losses[len(found)], "v": move, "s": far}
        part = proved.number(rate * move, Role.JOINT, "x * v / s", given, notion=Notion.PURE)
        found.append(Choice(part, branches, how=RULE))
    if pure:
        return found
    total = proved.number(
        summed(each.loss for each in found),
        Role.JOINT,
        "sum(x)",
        {"x": [each.loss for each in found]},
        notion=Notion.PURE,
    )
    largest = max(range(len(found)), key=lambda i: found[i].loss)
    whole = _as_one(algebra, total, values)
    return [
        each._replace(loss=whole if i == largest else algebra.zero, bounded=True)
        for i, each in enumerate(found)
    ]


def better(
    algebra: LossAlgebra, parts: Sequence[Choice], alone: Sequence[Loss]
) -> Sequence[Choice]:
    """Returns the parts of a joint bound where it is below the losses of the values apart, else
    none.

    `parts`: the bound on each value under the joint bound; `alone`: what each value loses by
    itself. At a δ both bounds may count: which is less depends on the δ, unless the joint one is
    what one value loses.
    """
    whole: Any = algebra.add(each.loss for each in parts)
    apart: Any = algebra.add(alone)
    both = algebra.best([algebra.from_above(whole), algebra.from_above(apart)])
    if whole in alone or both in (whole, apart):
        return parts if algebra.key(whole) < algebra.key(apart) else ()
    return [each if each.loss == algebra.zero else each._replace(loss=both) for each in parts]


def _change(place: Place, value: Place, state: State) -> State:
    """Returns the only change of the dataset `value` that a change of the table of `place` may
    make."""
    assert value.edge is not None and value.edge.made_by is not None
    trace_here = place.depth in value.levels
    listed = propagate(state, value.edge.made_by, place.traits, trace_here)
    if listed is None or len(listed) != 1:
        raise Refused("the change of a value is not known")
    return fit(listed[0], place, value, trace_here)


def _are_alike(values: Sequence[Place]) -> bool:
    """Returns whether what is released of each value has the same guarantees, and a distance may be
    split.

    That is, splits of a distance among the values are known to lose no more than the whole.
    """
    noises = {type(said.guarantee.noise) for said in _statements(values)}
    if not noises <= {type(None), Laplace, Geometric}:
        return False
    first, *others = (
        Counter(
            (tuple(each.guarantee for each in mechanism.statements), mechanism.count)
            for mechanism, _ in value.mechanisms
        )
        for value in values
    )
    return all(each == first for each in others)


def _statements(values: Sequence[Place]) -> list[Statement]:
    return [
        s for value in values for mechanism, _ in value.mechanisms for s in mechanism.statements
    ]


def _scaled(state: State, share: Fraction) -> State:
    """Returns a change of a value with all its distances multiplied by a share."""
    items = []
    for item, count in state:
        leaf = item.leaf
        if leaf.kind is Kind.METRIC and leaf.size is not None:
            leaf = leaf._replace(size=leaf.size * share)
        items.append((item._replace(leaf=leaf, below=_scaled(item.below, share)), count))
    return top_level(state_of(items))


def _as_one(algebra: LossAlgebra, epsilon: Fraction, values: Sequence[Place]) -> Loss:
    """Returns the loss of all releases together, as of one release with this ε.

    Where all have Laplace noise, as of one with that noise.
    """
    if not epsilon:
        return algebra.zero
    laplace = all(isinstance(each.guarantee.noise, Laplace) for each in _statements(values))
    return algebra.of_epsilon(epsilon, Laplace(Fraction(1)) if laplace else None)
