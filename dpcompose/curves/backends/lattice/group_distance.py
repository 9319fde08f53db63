"""Laws of a composition at a group distance: its power function, put into itself (`powers`).

At each of the tables on the way the power of a test is at most β of that at the table before, where
β is the power that the composition allows, so that at the last table it is at most β(β(…(x)))
(Dong, Roth and Su 2022, Theorem 2.14). Beyond so many steps (n·ε, δ(ε)·(e^(nε)-1)/(e^ε-1)) is taken
for each ε, which is a line above the same curve.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpcompose.curves.backends.lattice.discrete import stated
from dpcompose.curves.backends.lattice.exchange import curve_of
from dpcompose.curves.backends.lattice.masses import MAX_POINTS, Masses, spread
from dpcompose.curves.backends.lattice.powers import Power, law_above, path, symmetric
from dpcompose.curves.backends.lattice.profiles import from_profile, upward
from dpcompose.curves.backends.lattice.sampled_laws import FINE, BaseLaw, both_orders
from dpcompose.curves.backends.lattice.sizes import composed_scale
from dpcompose.curves.curve import Grouped
from dpcompose.curves.rounding.doubles import EPS

#: More steps are not followed one by one.
MOST_STEPS = 1024


def grouped(part: Grouped, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns a privacy loss distribution on multiples of `step` that dominates a composition for
    two tables several steps apart.

    `side`: the order of the tables; `base_law`: makes the distribution for one step.
    """
    if part.steps > MOST_STEPS:
        return _by_formula(part, step, side, base_law)
    return law_above((_power(part, base_law),), step)


def delta_of_steps(part: Grouped, epsilon: float, base_law: BaseLaw) -> float:
    """Returns a δ at `epsilon` for at most `MOST_STEPS` steps, rounded up, directly by the lines
    above the power function."""
    return float(_power(part, base_law).at(np.array([epsilon]))[0])


@lru_cache(maxsize=8)  # one question is answered on several grids
def _power(part: Grouped, base_law: BaseLaw) -> Power:
    """Returns the power function of a test between the two tables at the ends of the path."""
    curve = curve_of(part.base, base_law)
    once = symmetric(float(curve.step), curve.heights)
    found = once
    for bit in bin(part.steps)[3:]:
        found = path(found, found)
        if bit == "1":
            found = path(once, found)
    return found


def _by_formula(part: Grouped, step: Fraction, side: str, base_law: BaseLaw) -> Masses:
    """Returns a law that has δ(ε)·(e^(nε)-1)/(e^ε-1) at n·ε for every ε ≥ 0 on the grid, and the
    convex curve below."""
    finest = composed_scale(part.base) / FINE * part.steps
    times = max(1, math.ceil(finest / float(step)))
    # A path may remove a row and add another: what is one-sided is taken from both sides.
    orders = both_orders(part.base, side)
    laws = [base_law(part.base, step * times / part.steps, each) for each in orders]
    top = max(law.first + len(law.p) for law in laws)
    if top > MAX_POINTS:
        # All of the curve is too far out: (n·greatest loss, 0), or nothing if that is infinite.
        return stated(
            ((top * step * times, Fraction(math.ceil(max(law.infinite for law in laws)))),), step
        )
    size = max(top, 2)
    delta = np.maximum.reduce([upward(law, size) for law in laws])
    far = np.arange(size, dtype=np.float64) * float(step * times)
    near = far / part.steps
    near[0] = far[0] = 1.0
    with np.errstate(divide="ignore"):
        factor = far - near + np.log(np.expm1(-far) / np.expm1(-near))
        factor[0] = math.log(part.steps)
        size_of = np.log(delta) + factor
    slack = (64 + 4 * far) * EPS
    return spread(from_profile(step * times, np.exp(np.minimum(size_of + slack, 0.0))), times)
