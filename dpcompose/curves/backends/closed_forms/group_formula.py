"""Group privacy by its formula: (ε, δ) becomes (nε, δ·(e^(nε)-1)/(e^ε-1)) for tables n steps apart.

It is a line above the power function of a test between the two tables (`lattice/several_rows.py`),
needs no grid, and is exact for a stated pair.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcompose.curves.curve import Certified, Curve, Grouped
from dpcompose.curves.rounding.doubles import shorten
from dpcompose.curves.rounding.exact import MAX_EXPONENT, ZERO, geometric_up

#: For more steps of a path this formula is taken; fewer are followed one by one.
MOST_STEPS = 1024
#: An ε is raised by this share so as to land on the sure side.
_RAISED = Fraction(1, 10**9)


def group_epsilon(
    part: Grouped, delta: Fraction, epsilon_at: Callable[[Curve, Fraction], Certified | None]
) -> Certified | None:
    """Returns n·ε for an ε close to the least with δ(ε)·(e^(nε)-1)/(e^ε-1) ≤ δ, n = `part.steps`;
    None where none is found soon.

    What follows from ε, the least ε' at δ over the growth at ε, grows with ε, so that from 0 on it
    stays below the least fixed point. Only an ε that is at least what follows from it is returned.
    """
    here = ZERO
    for _ in range(500):
        if here * (part.steps - 1) > MAX_EXPONENT:
            return None
        share = shorten(delta / geometric_up(here, part.steps), up=False)
        following = epsilon_at(part.base, share)
        if following is None:
            return None
        if following.upper <= here:
            return Certified(here * part.steps, None, False)
        here = shorten(following.upper * (1 + _RAISED), up=True)
    return None


def group_delta(
    part: Grouped, epsilon: Fraction, delta_at: Callable[[Curve, Fraction], Certified]
) -> Certified | None:
    """Returns δ(ε/n)·(e^ε-1)/(e^(ε/n)-1), n = `part.steps`; None where the growth is beyond all
    δ."""
    if epsilon > MAX_EXPONENT:
        return None
    each = epsilon / part.steps
    upper = delta_at(part.base, each).upper * geometric_up(each, part.steps)
    return Certified(upper, None, False)
