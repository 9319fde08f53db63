"""Words for changes, guarantees and numbers that all reports share: plain text, no layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import ChangeUnit, Kind, State, all_leaves
from dpcompose.core.mechanisms import form_of
from dpcompose.core.model.problem import Goal
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.guarantee import Guarantee
from dpcompose.curves.rounding import NAMES as NAMES
from dpcompose.curves.rounding import chance as chance
from dpcompose.curves.rounding import count_text as count_text
from dpcompose.curves.rounding import listing as listing
from dpcompose.curves.rounding import number as number
from dpcompose.curves.rounding import plural as plural
from dpcompose.curves.rounding import sqrt_up


def guarantee(stated: Guarantee) -> str:
    """Returns a guarantee in words with its noise: `0.7-DP`, `(1, 0.00001)-DP`, `0.1-zCDP`."""
    text = stated.notion.facts.describe(stated)
    return text if stated.noise is None else f"{text} ({stated.noise.describe(stated.shift)})"


def shortly(stated: Guarantee) -> str:
    """Returns a guarantee in as few words as fit a table: `0.05-GDP (σ 20, Δ 1)`."""
    text = stated.notion.facts.describe(stated)
    if stated.noise is None:
        return text
    form = form_of(stated.noise)
    if form.sensitivity is None or len(form.keys) > 1:
        return guarantee(stated)
    parameter = getattr(stated.noise, form.key.name, None)
    if not isinstance(parameter, Fraction):
        return guarantee(stated)
    key = form.key.name.replace("sigma", "σ")
    unit = getattr(stated.noise, "unit", Fraction(1))  # the square of a unit of sensitivity
    moved = stated.shift if unit == 1 else sqrt_up(stated.shift * stated.shift * unit)
    return f"{text} ({key} {number(parameter)}, Δ {number(moved)})"


def steps(count: int, which: Relation) -> str:
    """Returns a number of steps of a relation in words: `1 bounded step`."""
    if which.kind is RelationKind.EUCLIDEAN:
        return "the distance moved"
    name = which.kind.value if which.changes is not None else which
    return f"{count_text(count)} {name} step" + ("" if count == 1 else "s")


def neighbours_text(goal: Goal) -> str:
    """Returns what is protected in words: `bounded neighbours at distance 2`, of a declared
    relation also what it is: `house (at most 4 unbounded steps) neighbours`."""
    relation = goal.relation
    within = ""
    if relation.within is not None:
        within = f" (at most {relation.distance} {relation.within} steps)"
    distance = f" at distance {goal.distance}" if goal.distance > 1 else ""
    return f"{relation}{within} neighbours{distance}"


def unchanged_text(place: Place) -> str:
    """Returns the sentence that a dataset does not change: it is made of columns that are kept."""
    assert place.edge is not None and place.edge.made_by is not None
    return f"nothing changes in {place.edge.made_by.describe()}"


def _leaf(leaf: ChangeUnit, count: int) -> str:
    """Returns `count` equal units of a change in words: `2 rows replaced`."""
    match leaf.kind:
        case Kind.SINGLE:
            way = "added or removed" if not leaf.directed else "added" if leaf.sign else "removed"
            return f"{plural(count, 'row')} {way}"
        case Kind.PAIR:
            return f"{plural(count, 'row')} replaced"
        case Kind.USER:
            rows = "all rows" if leaf.size is None else f"at most {plural(int(leaf.size), 'row')}"
            who = "one unit" if count == 1 else f"each of {count_text(count)} units"
            return f"{rows} of {who} added or removed"
        case Kind.EDGE:
            return f"{plural(count, 'edge')} added or removed"
        case Kind.NODE:
            return "all edges of one vertex" + _times(count)
        case Kind.NODE_REWIRED:
            return "the edges of one vertex replaced" + _times(count)
        case Kind.DECLARED:
            return "one step" + _times(count)
        case Kind.METRIC:
            if leaf.size is None:
                return "a value that may move without bound"
            return f"the value moved by at most {number(Fraction(leaf.size))}" + _times(count)
        case Kind.ANY:
            return "changed in any way"


def _times(count: int) -> str:
    """Returns `, 3 times` for a count above one, else nothing."""
    return "" if count == 1 else f", {count_text(count)} times"


def change(state: State) -> str:
    """Returns the change of a dataset in words: `1 row added or removed`."""
    found: Counter[tuple[object, ...]] = Counter()
    example: dict[tuple[object, ...], ChangeUnit] = {}
    for leaf, count in all_leaves(state).items():
        if leaf.kind is Kind.ANY:
            return "changed in any way"
        key = leaf.kind, leaf.size, leaf.directed and leaf.sign, leaf.directed
        found[key] += count
        example[key] = leaf
    if not found:
        return "unchanged"
    return " and ".join(_leaf(example[key], count) for key, count in found.items())


def blocks(names: Sequence[str | int], taken: int) -> str:
    """Returns a choice of `taken` out of equal blocks in words: `south`, or `365 of 5000 equal
    blocks`."""
    if taken == len(names) and taken <= NAMES:
        return listing(str(name) for name in names)
    if taken == len(names):
        return f"all {taken} blocks that are alike"
    if taken == 1:
        return f"any one of {len(names)} equal blocks"
    return f"{taken} of {len(names)} equal blocks"
