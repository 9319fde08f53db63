"""The worst mechanisms that keep to all of their statements, by linear programs.

A mechanism, cut down to one outcome y, is a number v[x] = M(y | x) for each table x of the dataset
that it reads.  A statement with ε on a dataset A, for neighbours a and a', says

    Σ K(x | a)·v[x]  ≤  e^ε · Σ K(x | a')·v[x]  + δ        (and the reverse)

where K is the exact law of the maps from A down to the dataset read: linear in v.

Without a δ the inequalities are homogeneous, so v may be scaled.  A mechanism with the two
outcomes y and "not y" must keep to the statements for 1 - v too: it does once v is small.  Take
v = t·w with 0 < w ≤ 1.  If K·w ≠ K'·w then ε > 0, and 1 - t·K·w ≤ 1 ≤ e^ε·(1 - t) for
t ≤ 1 - e^-ε.  So the largest loss at y is the linear-fractional programme: maximise P·v with
Q·v = 1, where P and Q are the laws of x on two neighbouring roots.

With a δ, v[x] = M(E | x) lies in [0, 1] and both E and its complement are constrained; the largest
P·v - e^ε'·Q·v is the least δ' at ε'.  For one mechanism both programmes decide the truth of the
universe.  Several mechanisms are independent given what they read; P is then linear in each of
them, and they are improved in turn: what comes out is a lower bound of the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from .pipeline import Copy, Said
from .tree import Node
from .universe import Law, Universe, Value

#: For each declared relation and root: the pairs of neighbours.
Declared = Mapping[tuple[str, Node], Sequence[tuple[Value, Value]]]


# ---------------------------------------------------------------------------------------------
# ε of a statement, for the two outcomes of a mechanism


@cache
def as_pure(notion: str, value: Fraction) -> Fraction:
    """An ε whose pure mechanisms keep to a statement of a notion (theory, section 6)."""
    if notion in ("pure", "approx"):
        return value

    def enough(epsilon: Any) -> bool:
        if notion == "zcdp":
            return bool(epsilon * mp.tanh(epsilon / 2) <= wanted)
        odds = mp.exp(epsilon) / (1 + mp.exp(epsilon))
        return bool(mp.sqrt(2) * 2 * mp.erfinv(2 * odds - 1) <= wanted)

    with mp.workdps(30):
        wanted = mpf(value.numerator) / value.denominator
        low, high = mpf(0), mpf(50)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if enough(middle) else (low, middle)
        return Fraction(int(low * 10**12), 10**12)


@cache
def power(epsilon: Fraction, up: bool) -> Fraction:
    """A rational a little above or below e^ε."""
    with mp.workdps(60):
        scale = 10**40
        found = mp.exp(mpf(epsilon.numerator) / epsilon.denominator) * scale
        return Fraction(int(mp.ceil(found)) + 1 if up else int(mp.floor(found)) - 1, scale)


# ---------------------------------------------------------------------------------------------
# What one mechanism may do


@dataclass(frozen=True)
class Bound:
    """Σ first·v ≤ e^ε·Σ second·v + δ, and the reverse."""

    first: tuple[tuple[int, Fraction], ...]
    second: tuple[tuple[int, Fraction], ...]
    epsilon: Fraction
    delta: Fraction


class Side:
    """The variables and inequalities of a mechanism; its copies share them."""

    def __init__(self, universe: Universe, copy: Copy, declared: Declared) -> None:
        self.name = copy.name
        self.reads = copy.reads[0].name
        self.values: dict[Value, int] = {}
        found: dict[Bound, None] = {}
        for said in copy.said:
            epsilon = as_pure(said.notion, said.value)
            path = copy.path(said.node)
            for a, b, weight in neighbours(universe, said, declared):
                first, second = universe.along(path, a), universe.along(path, b)
                if first != second:
                    bound = Bound(
                        self._known(first), self._known(second), epsilon * weight, said.delta
                    )
                    found[bound] = None
        self.bounds = list(found)
        self.delta = any(bound.delta for bound in self.bounds)
        self._matrix: tuple[int, Any, Any, Any] | None = None
        self._both: Any = None
        self._solved: dict[tuple[str, bytes], Any] = {}

    def at(self, value: Value) -> int:
        """The number of a table."""
        return self.values.setdefault(value, len(self.values))

    def _known(self, law: Law) -> tuple[tuple[int, Fraction], ...]:
        return tuple(sorted((self.at(value), chance) for value, chance in law.items()))

    def _inequalities(self) -> tuple[Any, Any, Any]:
        """A, and the right sides for an event and for its complement: A·v ≤ right."""
        if self._matrix is None or self._matrix[0] != len(self.values):
            places, columns, entries = [], [], []
            event, rest = [], []
            n = 0
            for bound in self.bounds:
                grown = math.exp(bound.epsilon)
                for one, other in ((bound.first, bound.second), (bound.second, bound.first)):
                    row: dict[int, float] = {}
                    for at, chance in one:
                        row[at] = row.get(at, 0.0) + float(chance)
                    for at, chance in other:
                        row[at] = row.get(at, 0.0) - grown * float(chance)
                    for at, entry in row.items():
                        places.append(n)
                        columns.append(at)
                        entries.append(entry)
                    event.append(float(bound.delta))
                    rest.append(grown - 1 + float(bound.delta))
                    n += 1
            shape = (n, len(self.values))
            matrix = csr_matrix((entries, (places, columns)), shape=shape)
            self._matrix = (len(self.values), matrix, np.array(event), np.array(rest))
        return self._matrix[1:]

    def ratio(self, top: Any, bottom: Any) -> tuple[float, Any]:
        """The largest top·v / bottom·v for one outcome, and the v."""
        key = ("ratio", np.round([top, bottom], 13).tobytes())
        if key not in self._solved:
            self._solved[key] = self._ratio(top, bottom)
        worth, v = self._solved[key]
        return worth, v

    def _ratio(self, top: Any, bottom: Any) -> tuple[float, Any]:
        matrix, event, _ = self._inequalities()
        limits = (matrix, event * 0) if matrix.shape[0] else (None, None)
        made = linprog(-top, *limits, A_eq=bottom[None, :], b_eq=[1.0], bounds=(0, None))
        if made.status == 3:
            return math.inf, None
        if made.status != 0:
            free = linprog(-top, *limits, A_eq=bottom[None, :], b_eq=[0.0], bounds=(0, 1))
            if free.status == 0 and -free.fun > 1e-7:
                return math.inf, None
            return 0.0, None
        return -made.fun, made.x

    def event(self, gain: Any) -> Any:
        """The chances of an event with the largest sum of gains."""
        key = ("event", np.round(gain, 13).tobytes())
        if key not in self._solved:
            self._solved[key] = self._event(gain)
        return self._solved[key]

    def _event(self, gain: Any) -> Any:
        matrix, event, rest = self._inequalities()
        if not matrix.shape[0]:
            return (gain > 0).astype(float)
        if self._both is None or self._both.shape != (2 * matrix.shape[0], matrix.shape[1]):
            self._both = vstack([matrix, -matrix], format="csr")
        made = linprog(-gain, self._both, np.concatenate([event, rest]), bounds=(0, 1))
        return made.x if made.status == 0 else np.full(len(gain), 0.5)

    # Exactly.

    def keeps_to(self, v: Sequence[Fraction], both: bool) -> bool:
        """Whether all inequalities hold for rational chances, with e^ε rounded down."""
        for bound in self.bounds:
            grown = power(bound.epsilon, up=False)
            for one, other in ((bound.first, bound.second), (bound.second, bound.first)):
                here = sum((chance * v[at] for at, chance in one), Fraction(0))
                there = sum((chance * v[at] for at, chance in other), Fraction(0))
                if here > grown * there + bound.delta:
                    return False
                if both and 1 - here > grown * (1 - there) + bound.delta:
                    return False
        return True

    def rational(self, v: Any, both: bool) -> list[Fraction] | None:
        """Chances close to these that keep to all statements exactly."""
        top = max(float(v.max()), 1e-300)
        plain = [Fraction(max(float(x), 0.0)) for x in v]
        centre = Fraction(1, 2) if both else Fraction(top)
        for digits in range(12, 2, -1):
            share = Fraction(1, 10**digits)
            made = [
                (1 - share) * (min(x, Fraction(1)) if both else x) + share * centre for x in plain
            ]
            if self.keeps_to(made, both):
                return made
        return None


def neighbours(
    universe: Universe, said: Said, declared: Declared
) -> Iterator[tuple[Value, Value, Fraction]]:
    """The pairs that a statement speaks of."""
    if said.relation in universe.pipeline.declared:
        pairs = declared.get((said.relation, said.node), ())
        yield from ((a, b, Fraction(1)) for a, b in pairs)
    else:
        yield from universe.steps(said)
