"""The largest loss of several mechanisms between two neighbouring roots.

What they read together has an exact joint law, given the roots.  Given what they read they are
independent, so that the chance of an outcome is linear in each mechanism: they are improved in
turn, each by the linear program of its own statements (see `polytope`).  For one mechanism, or for
independent tables and one outcome of each, that is the truth of the universe; else a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np

from .pipeline import Copy, Instance, made_from
from .polytope import Side, power
from .tree import Node
from .universe import Law, Universe, Value

MOST_OUTCOMES = 3000
Roots = dict[Node, Value]


class TooLarge(Exception):
    """There are too many outcomes."""


# ---------------------------------------------------------------------------------------------
# The joint law of everything that is read


def joint(
    universe: Universe, copies: Sequence[Copy], roots: Roots
) -> dict[tuple[Value, ...], Fraction]:
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
                made = tuple(pair for pair in (*state, (instance, value)) if last[pair[0]] > n)
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
        """What the event of one copy is worth at each table, given the best test of all."""
        p, q = self.laws(v)
        p, q = (q, p) if turned else (p, q)
        test = (p > grown * q).astype(float).reshape((2,) * len(self.sides))
        size = len(self.sides[n].values)
        total = np.zeros(size)
        for which, factor in ((0, 1.0), (1, -grown)) if not turned else ((1, 1.0), (0, -grown)):
            places = self.places[which]
            value = np.moveaxis(test, n, 0)
            worth = np.broadcast_to((value[0] - value[1])[None], (len(places), *value[0].shape))
            for j in (j for j in range(len(self.sides)) if j != n):
                yes = v[j][places[:, j]]
                shape = (len(places),) + (1,) * (worth.ndim - 2)
                worth = yes.reshape(shape) * worth[:, 0] + (1 - yes).reshape(shape) * worth[:, 1]
            total += factor * np.bincount(places[:, n], self.chances[which] * worth, minlength=size)
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
