"""Exact optimal couplings of two weighted lists: least greatest loss, then least mean δ.

A coupling is a transport problem. Whether a greatest loss is feasible is a maximum flow along the
pairs within it; the least mean δ is then a flow of minimum cost, computed by shortest augmenting
paths in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpcompose.curves.rounding import ZERO

#: Returns the (loss, δ) between an item of the first list and one of the second, by index.
Cost = Callable[[int, int], tuple[Fraction, Fraction]]


@dataclass(frozen=True, slots=True)
class Coupling:
    """A coupling: pairs (i, j, weight matched), with their greatest loss and their mean δ."""

    pairs: tuple[tuple[int, int, Fraction], ...]
    loss: Fraction
    delta: Fraction


def coupled(pairs: Sequence[tuple[int, int, Fraction]], cost: Cost) -> Coupling:
    """Returns the coupling of the pairs with a positive weight, with its loss and δ."""
    used = [(i, j, weight) for i, j, weight in pairs if weight]
    loss = max((cost(i, j)[0] for i, j, _ in used), default=ZERO)
    delta = sum((weight * cost(i, j)[1] for i, j, weight in used), ZERO)
    return Coupling(tuple(used), loss, delta)


def in_order(first: Sequence[Fraction], second: Sequence[Fraction], cost: Cost) -> Coupling:
    """Returns the coupling by Algorithm 3 of HBW22.

    It matches the next items of both lists, and splits the heavier one. The weights of both lists
    must have one sum.
    """
    pairs: list[tuple[int, int, Fraction]] = []
    i = j = 0
    left, right = first[0], second[0]
    while True:
        taken = min(left, right)
        pairs.append((i, j, taken))
        left, right = left - taken, right - taken
        if not left:
            i += 1
            if i == len(first):
                break
            left = first[i]
        if not right:
            j += 1
            if j == len(second):
                break
            right = second[j]
    return coupled(pairs, cost)


def best(first: Sequence[Fraction], second: Sequence[Fraction], cost: Cost) -> Coupling:
    """Returns the coupling with the least greatest loss and, of those, the least mean δ."""
    known = {(i, j): cost(i, j) for i in range(len(first)) for j in range(len(second))}
    losses = sorted({loss for loss, _ in known.values()})
    unit = math.lcm(*(weight.denominator for weight in (*first, *second)))
    price = math.lcm(*(delta.denominator for _, delta in known.values()))
    left, right = ([int(weight * unit) for weight in each] for each in (first, second))
    low, high = 0, len(losses) - 1
    while low < high:
        middle = (low + high) // 2
        within = {pair: 0 for pair, each in known.items() if each[0] <= losses[middle]}
        if _flow(left, right, within) is None:
            low = middle + 1
        else:
            high = middle
    within = {pair: int(each[1] * price) for pair, each in known.items() if each[0] <= losses[low]}
    found = _flow(left, right, within)
    assert found is not None  # the greatest loss of all pairs is always enough
    return coupled([(i, j, Fraction(amount, unit)) for (i, j), amount in found.items()], cost)


def _flow(
    first: Sequence[int], second: Sequence[int], cost: dict[tuple[int, int], int]
) -> dict[tuple[int, int], int] | None:
    """Returns a flow of least cost that moves all mass along the given pairs; None if none does."""
    left, right = list(first), list(second)
    moved = dict.fromkeys(cost, 0)
    while any(left):
        path = _cheapest(left, right, cost, moved)
        if path is None:
            return None
        start, end = path[0][0], path[-1][1]
        amount = min(left[start], right[end])
        for step, (i, j) in enumerate(path):
            if step % 2:
                amount = min(amount, moved[i, j])
        for step, (i, j) in enumerate(path):
            moved[i, j] += -amount if step % 2 else amount
        left[start] -= amount
        right[end] -= amount
    return moved


def _cheapest(
    left: Sequence[int],
    right: Sequence[int],
    cost: dict[tuple[int, int], int],
    moved: dict[tuple[int, int], int],
) -> list[tuple[int, int]] | None:
    """Returns the cheapest augmenting path, None if there is none.

    It leads from an item of the first list with mass left to one of the second with room left.
    Pairs alternate: mass is added to the first, third, … and taken back from the others.
    """
    at: dict[tuple[bool, int], int] = {(True, i): 0 for i, each in enumerate(left) if each}
    came: dict[tuple[bool, int], tuple[int, int]] = {}
    changed = True
    while changed:
        changed = False
        for (i, j), price in cost.items():
            here, there = at.get((True, i)), at.get((False, j))
            if here is not None and (there is None or here + price < there):
                at[False, j], came[False, j] = here + price, (i, j)
                there, changed = here + price, True
            if moved[i, j] and there is not None and (here is None or there - price < here):
                at[True, i], came[True, i] = there - price, (i, j)
                changed = True
    ends = [(at[False, j], j) for j, room in enumerate(right) if room and (False, j) in at]
    if not ends:
        return None
    node: tuple[bool, int] = (False, min(ends)[1])
    path: list[tuple[int, int]] = []
    while node in came:
        pair = came[node]
        path.append(pair)
        node = (True, pair[0]) if not node[0] else (False, pair[1])
    return path[::-1]
