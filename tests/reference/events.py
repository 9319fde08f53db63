"""The worst mechanism that keeps to its statements, by linear programs.

A mechanism gives one event a chance on each table that it may read. A step `(a, b, ε, δ)` says that
the chances on a and b, and those of the complement, are (ε, δ) apart in both directions. That is
all that statements say, so that the optimum is the truth.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

Number = float | Fraction
Step = tuple[Hashable, Hashable, Number, Number]
Law = Mapping[Any, float]
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def _sides(laws: tuple[Law, Law], steps: list[Step]) -> tuple[Any, Any, Any, Any]:
    """Returns both laws as vectors, and the rows and ends of `chance(a) - e^ε·chance(b) <= δ`."""
    tables = dict.fromkeys([*laws[0], *laws[1], *(each for a, b, *_ in steps for each in (a, b))])
    unit = dict(zip(tables, np.eye(len(tables)), strict=True))
    first, second = (sum(chance * unit[table] for table, chance in law.items()) for law in laws)
    both = [*steps, *((b, a, epsilon, delta) for a, b, epsilon, delta in steps)]
    rows = [unit[a] - math.exp(epsilon) * unit[b] for a, b, epsilon, _ in both]
    deltas = [float(delta) for *_, delta in both]
    return first, second, np.array(rows).reshape(-1, len(tables)), np.array(deltas)


def largest_gain(first: Law, second: Law, steps: Iterable[Step], epsilon: Number) -> float:
    """Returns the largest P(E) - e^ε·Q(E) of all mechanisms, for the laws of what is read."""
    known = list(steps)
    p, q, rows, deltas = _sides((first, second), known)
    rises = np.array([math.expm1(each[2]) for each in known] * 2)
    found = linprog(
        math.exp(epsilon) * q - p,
        np.concatenate([rows, -rows]),
        np.concatenate([deltas, deltas + rises]),
        bounds=(0, 1),
        options=_EXACT,
    )
    assert found.status == 0
    return -float(found.fun)


def largest_ratio(first: Law, second: Law, steps: Iterable[Step]) -> float:
    """Returns the largest P(E)/Q(E) of all mechanisms that are pure at each step."""
    p, q, rows, deltas = _sides((first, second), list(steps))
    assert not deltas.any()
    found = linprog(-p, rows, deltas, q[None, :], [1.0], options=_EXACT)
    assert found.status == 0
    return -float(found.fun)
