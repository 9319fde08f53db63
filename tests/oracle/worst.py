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
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from .pipeline import Copy, Instance, Pipeline, Said, drawn, made_from
from .tree import Node, Unsupported
from .universe import Law, Universe, Value

MOST_OUTCOMES = 3000
#: For each declared relation and root: the pairs of neighbours.
Declared = Mapping[tuple[str, Node], Sequence[tuple[Value, Value]]]
Roots = dict[Node, Value]


class TooLarge(Exception):
    """There are too many outcomes."""


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


# ---------------------------------------------------------------------------------------------
# The joint law of everything that is read


def joint(universe: Universe, copies: Sequence[Copy], roots: Roots) -> dict[tuple[Value, ...], Fraction]:
    """The law of what all copies read together."""
    wanted = [copy.reads for copy in copies]
    needed: dict[Instance, None] = {}

    def need(instance: Instance) -> None:
        if instance not in needed:
            if instance[0].made_by is not None:
                need(made_from(instance))
            needed[instance] = None

    for instance in wanted:
        need(instance)
    order = list(needed)
    last = {instance: n for n, instance in enumerate(order)}
    for n, instance in enumerate(order):
        if instance[0].made_by is not None:
            parent = made_from(instance)
            last[parent] = max(last[parent], n)
    for instance in wanted:
        last[instance] = len(order)
    states: dict[tuple[tuple[Instance, Value], ...], Fraction] = {(): Fraction(1)}
    for n, instance in enumerate(order):
        after: dict[tuple[tuple[Instance, Value], ...], Fraction] = {}
        node = instance[0]
        for state, chance in states.items():
            if node.made_by is None:
                law: Law = {roots[node]: Fraction(1)}
            else:
                above = dict(state)[made_from(instance)]
                law = universe.law(node.made_by, node.index, above)
            for value, each in law.items():
                made = tuple(
                    pair for pair in (*state, (instance, value)) if last[pair[0]] > n
                )
                after[made] = after.get(made, Fraction(0)) + chance * each
        if len(after) > MOST_OUTCOMES:
            raise TooLarge
        states = after
    law_of_all: dict[tuple[Value, ...], Fraction] = {}
    for state, chance in states.items():
        at = dict(state)
        key = tuple(at[instance] for instance in wanted)
        law_of_all[key] = law_of_all.get(key, Fraction(0)) + chance
    return law_of_all


def _hopeless(before: float, now: float, goal: float) -> bool:
    """Whether another round of improvements is not worth its while."""
    return now - before <= 1e-9 + 0.03 * max(0.0, goal - now)


def _independent(law: Sequence[tuple[tuple[int, ...], Fraction]]) -> bool:
    """Whether what the copies read is independent."""
    alone: list[dict[int, Fraction]] = [{} for _ in law[0][0]]
    for at, chance in law:
        for each, place in zip(alone, at, strict=True):
            each[place] = each.get(place, Fraction(0)) + chance
    return len(law) == math.prod(map(len, alone)) and all(
        chance == math.prod(each[place] for each, place in zip(alone, at, strict=True))
        for at, chance in law
    )


# ---------------------------------------------------------------------------------------------
# Two neighbouring roots


@dataclass
class Found:
    """Mechanisms, as a number for each table, and the loss or the δ that they attain."""

    worth: float
    v: list[Any] = field(default_factory=list)


class Contest:
    """All mechanisms of a pipeline on two neighbouring roots."""

    def __init__(
        self,
        universe: Universe,
        first: Roots,
        second: Roots,
        copies: Sequence[Copy],
        sides: Sequence[Side],
    ) -> None:
        """One side for each copy."""
        self.sides = sides
        laws = [joint(universe, copies, roots) for roots in (first, second)]
        self.same = laws[0] == laws[1]
        self.exact = [
            [
                (tuple(side.at(x) for side, x in zip(sides, key, strict=True)), chance)
                for key, chance in law.items()
            ]
            for law in laws
        ]
        self.chances = [np.array([float(p) for _, p in law]) for law in self.exact]
        self.places = [np.array([at for at, _ in law]) for law in self.exact]
        self.independent = all(map(_independent, self.exact))

    # One outcome of each: the largest ratio.

    def _weights(self, n: int, which: int, v: Sequence[Any]) -> Any:
        """What each table of one copy counts, given one outcome of all others."""
        weight = self.chances[which].copy()
        for j in range(len(self.sides)):
            if j != n:
                weight *= v[j][self.places[which][:, j]]
        size = len(self.sides[n].values)
        return np.bincount(self.places[which][:, n], weight, minlength=size)

    def loss(self, turned: bool, rng: Random, starts: int, goal: float) -> Found:
        """The largest log-ratio that is found, where no statement has a δ.

        The search ends where the `goal` is out of sight.
        """
        up, down = (1, 0) if turned else (0, 1)
        best = Found(0.0)
        for start in range(1 if self.independent else starts):
            v = [self._start(n, start, rng) for n in range(len(self.sides))]
            known = 0.0
            for _ in range(1 if self.independent else 5):
                worth = 0.0
                for n, side in enumerate(self.sides):
                    top, bottom = (self._weights(n, which, v) for which in (up, down))
                    scale = bottom.sum()
                    if scale <= 0 or not top.sum():
                        break
                    ratio, made = side.ratio(top / scale, bottom / scale)
                    if math.isinf(ratio):
                        return Found(math.inf)
                    if made is None:
                        break
                    v[n] = np.clip(made, 0, None) / max(made.max(), 1e-300)
                    worth = math.log(ratio) if ratio > 0 else 0.0
                if worth > best.worth + 1e-9:
                    best = Found(worth, list(v))
                if _hopeless(known, worth, goal):
                    break
                known = worth
        return best

    def _start(self, n: int, start: int, rng: Random) -> Any:
        size = len(self.sides[n].values)
        if start == 0:
            return np.ones(size)
        gain = np.array([rng.random() - 0.5 for _ in range(size)])
        made = np.clip(self.sides[n].event(gain), 1e-9, None)
        return made / made.max()

    def exact_loss(self, found: Found, turned: bool) -> tuple[Fraction, Fraction] | None:
        """P and Q of the outcome, for rational mechanisms that keep to all statements."""
        v = [side.rational(x, False) for side, x in zip(self.sides, found.v, strict=True)]
        if any(each is None for each in v):
            return None
        p, q = (self._sum(which, v) for which in (0, 1))
        return (q, p) if turned else (p, q)

    def _sum(self, which: int, v: Sequence[Any]) -> Fraction:
        total = Fraction(0)
        for at, chance in self.exact[which]:
            for each, place in zip(v, at, strict=True):
                chance = chance * each[place]
            total += chance
        return total

    # Two outcomes of each: the largest P(T) - e^ε·Q(T).

    def laws(self, v: Sequence[Any]) -> tuple[Any, Any]:
        """The laws of all outcomes: yes or no of each mechanism."""
        made = []
        for which in (0, 1):
            law = self.chances[which][:, None]
            for n in range(len(self.sides)):
                yes = v[n][self.places[which][:, n]]
                both = np.stack([yes, 1 - yes], axis=1)
                law = (law[:, :, None] * both[:, None, :]).reshape(len(law), -1)
            made.append(law.sum(axis=0))
        return made[0], made[1]

    def leak(self, epsilon: float, turned: bool, rng: Random, starts: int, goal: float) -> Found:
        """The largest δ at ε that is found; the search ends where the `goal` is out of sight."""
        grown = math.exp(min(epsilon, 600.0))
        best = Found(0.0)
        for start in range(starts if len(self.sides) > 1 else 1):
            v = [self._first(n, start, grown, turned, rng) for n in range(len(self.sides))]
            known = self._leak(v, grown, turned)
            for _ in range(6):
                if known > best.worth + 1e-12:
                    best = Found(known, list(v))
                if len(self.sides) == 1:
                    break
                for n in range(len(self.sides)):
                    v[n] = self.sides[n].event(self._gain(n, v, grown, turned))
                worth = self._leak(v, grown, turned)
                if _hopeless(known, worth, goal):
                    known = max(known, worth)
                    break
                known = worth
            if known > best.worth + 1e-12:
                best = Found(known, list(v))
        return best

    def _first(self, n: int, start: int, grown: float, turned: bool, rng: Random) -> Any:
        side = self.sides[n]
        size = len(side.values)
        if len(self.sides) > 1 and start:
            power_ = 1.0 if start == 1 else grown ** rng.random()
            grown = power_
        law = [
            np.bincount(self.places[which][:, n], self.chances[which], minlength=size)
            for which in (0, 1)
        ]
        up, down = (law[1], law[0]) if turned else (law[0], law[1])
        gain = up - grown * down
        if start > 1:
            gain = gain * np.array([rng.random() for _ in range(size)])
        if not (gain > 0).any():
            gain = up - down
        return side.event(gain)

    def _leak(self, v: Sequence[Any], grown: float, turned: bool) -> float:
        p, q = self.laws(v)
        p, q = (q, p) if turned else (p, q)
        return float(np.clip(p - grown * q, 0, None).sum())

    def _gain(self, n: int, v: Sequence[Any], grown: float, turned: bool) -> Any:
        """What the event of one copy is worth at each table, given the best test of all outcomes."""
        p, q = self.laws(v)
        p, q = (q, p) if turned else (p, q)
        test = (p > grown * q).astype(float).reshape((2,) * len(self.sides))
        size = len(self.sides[n].values)
        total = np.zeros(size)
        for which, factor in ((0, 1.0), (1, -grown)) if not turned else ((1, 1.0), (0, -grown)):
            places = self.places[which]
            value = np.moveaxis(test, n, 0)
            worth = np.broadcast_to(
                (value[0] - value[1])[None], (len(places), *value[0].shape)
            )
            for j in (j for j in range(len(self.sides)) if j != n):
                yes = v[j][places[:, j]]
                shape = (len(places),) + (1,) * (worth.ndim - 2)
                worth = yes.reshape(shape) * worth[:, 0] + (1 - yes).reshape(shape) * worth[:, 1]
            total += factor * np.bincount(
                places[:, n], self.chances[which] * worth, minlength=size
            )
        return total

    def exact_leak(self, found: Found, epsilon: Fraction, turned: bool) -> Fraction | None:
        """P(T) - e^ε·Q(T) at least, for rational mechanisms that keep to all statements."""
        v = [side.rational(x, True) for side, x in zip(self.sides, found.v, strict=True)]
        if any(each is None for each in v):
            return None
        grown = power(epsilon, up=True)
        total = Fraction(0)
        for answers in product((True, False), repeat=len(v)):
            chosen = [
                [x if yes else 1 - x for x in each or ()]
                for each, yes in zip(v, answers, strict=True)
            ]
            p, q = (self._sum(which, chosen) for which in (0, 1))
            p, q = (q, p) if turned else (p, q)
            total += max(p - grown * q, Fraction(0))
        return total
