"""Values that one unit moves together by no more than a bound in L1."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.curves.rounding import ZERO

BOUNDED_TOGETHER = Hypothesis(
    "joint bound",
    "one row of the root, or all rows of one privacy unit, move all these values together by at "
    "most l1: the sum of the distances, each in L1",
    "declared",
)
PER_UNIT = Hypothesis(
    "per unit of distance",
    "every mechanism that reads one of these values is pure DP, with an ε for each unit of the "
    "distance that it moves",
)


@theorem(
    "joint-l1",
    title="Values with one joint bound in L1",
    source="dpcompose",
    place="Documentation",
    formula="ε = max Σ_i e_i·v_i over 0 ≤ v_i ≤ s_i, Σ_i v_i ≤ l1",
    hypotheses=(BOUNDED_TOGETHER, PER_UNIT),
    specialises=("IV.1",),
    example=Example(
        ([(Fraction(1, scale), Fraction(64000)) for scale in (6400, 6400, 8000)], Fraction(64000)),
        Fraction(10),
        "Contributions of at most 64000 in sum over three reports, with Laplace noise of scale "
        "6400, 6400 and 8000, cost 10, not 10 + 10 + 8.",
    ),
    spec="specs/patterns/browser-summary-reports.yaml",
    uses=(Use(Role.JOINT),),
    for_readers="the search asks for the loss of each value by itself and shares the bound out",
    statement="""\
    Of values x_1, …, x_n let value i be released by mechanisms that together are e_i-DP for
    each unit of the L1 distance that it moves. A change moves value i by v_i ≤ s_i, where s_i
    is its own sensitivity (l1 where none is declared), and Σ v_i ≤ l1. All releases together
    then lose at most the largest Σ e_i·v_i that these bounds allow: the value with the largest
    e_i moves first, as far as it can.

    Proof. By composition the loss is at most Σ e_i·v_i for the v of this change, and a linear
    function under one bound on the sum is largest where the costly values move first. With
    Laplace noise of scales 1/e_i each split attains its sum.

    In other notions all releases together are one mechanism of this ε. Where all of them have
    Laplace noise, they are no worse than Laplace noise moved by ε scales: move one value after
    the other; power functions of neighbouring steps are composed, and those of Laplace noise,
    moved by a and then by b, compose to that of a + b, since its density is log-concave. Where
    the same guarantees are stated of every value, and each may take the whole bound, the worst
    change moves one value alone: the k-th guarantee of all values together, moved by v_1, …,
    v_n, is no worse than the k-th guarantee of one value moved by their sum, in the same way,
    and the k-th ones compose. No other guarantees are covered: a ρ or a μ for each unit of
    distance is not stated.

    A change of m steps moves the values by at most m·l1. Where the root has a privacy unit, l1
    is for all rows of one unit, added or removed; a single row of it, and a row replaced within
    a unit, count as two such steps, and a row replaced by one of another unit as four.
    """,
)
def joint_bound(values: Sequence[tuple[Fraction, Fraction]], l1: Fraction) -> Fraction:
    """Returns the largest Σ e·v over 0 ≤ v ≤ s, Σ v ≤ l1, for pairs (e, s)."""
    moves = worst_moves(values, l1)
    return sum((e * v for (e, _), v in zip(values, moves, strict=True)), ZERO)


def worst_moves(values: Sequence[tuple[Fraction, Fraction]], l1: Fraction) -> list[Fraction]:
    """Returns the distances v of that maximum: the costly values move first."""
    moves, left = [ZERO] * len(values), l1
    for i in sorted(range(len(values)), key=lambda i: values[i][0], reverse=True):
        moves[i] = min(values[i][1], left)
        left -= moves[i]
    return moves
