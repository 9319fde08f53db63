"""The bound of an absent person against the uniform belief, by samples of one half (corrected).

HBW22, Theorem 3. Under the uniform belief over all sets, the empty one too, each block has the
person independently with chance 1/2: its output is that of a Poisson sample of rate 1/2. Let R be
that law and P that of an absent person; the belief over the N = 2^k - 1 other sets is
Q = (2^k·R - P)/N. So, with δ_XY(ε) the least δ in X(S) ≤ e^ε Y(S) + δ,
    δ_QP(ε) = 2^k/N · δ_RP(ln c),        c = (1 + N·e^ε)/2^k,
    δ_PQ(ε) = (1 + e^ε/N) · δ_PR(ln c'), c' = 2^k·e^ε/(N + e^ε).
Both are exact, and both right-hand sides are compositions of sampled blocks.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.hypotheses.beliefs import Block
from dpcompose.core.hypotheses.interval import ONE, exactly, exponential, logarithm_up
from dpcompose.curves import Curve, Response, Sampled

_HALF = Fraction(1, 2)


def least_epsilon(blocks: tuple[Block, ...], delta: Fraction, most: Fraction) -> Fraction | None:
    """Returns an ε at `delta` that holds in both directions; None if none up to `most` is found."""
    size = sum(block.count for block in blocks)
    whole, others = exactly(2**size), exactly(2**size - 1)
    there = _sampled(blocks, "removed", delta * Fraction(2**size - 1, 2**size))
    left = exactly(delta) / (ONE + exponential(most) / others)
    back = _sampled(blocks, "added", Fraction(left.low))
    if there is None or back is None:
        return None
    first = logarithm_up((exponential(there) * whole).less_one() / others)
    rest = (whole / exponential(back)).less_one()
    if rest.low <= 0:
        return None
    found = max(first, logarithm_up(others / rest))
    return found if found <= most else None


def _sampled(blocks: tuple[Block, ...], side: str, delta: Fraction) -> Fraction | None:
    """Returns the ε at `delta` of all blocks through samples of one half, None if none is finite.

    `side`: whether the row is "removed" or "added" from the first table to the second.
    """
    parts = tuple(
        (
            Sampled(
                _HALF,
                Curve(((Response(block.epsilon), 1),), no_failure=1 - block.delta),
                side=side,
            ),
            block.count,
        )
        for block in blocks
        if block.epsilon or block.delta
    )
    bracket = Curve(parts).epsilon(delta=delta)
    return None if bracket is None else bracket.upper
