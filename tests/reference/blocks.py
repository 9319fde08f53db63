"""The worst pattern of hits on a membership partition, by trying all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from mpmath import mpf

from . import powers
from .lattice import Law, responses

#: For each block the ε of its mechanisms under one row less or more, and under a replaced row.
Block = tuple[Sequence[Fraction], Sequence[Fraction]]


def patterns(blocks: int, most: int, bounded: bool) -> Iterator[tuple[int, ...]]:
    """How often each block is hit: once by a row that comes or goes, twice by a replaced row."""
    for hits in product(range(3 if bounded else 2), repeat=blocks):
        # Before and after, one row is in at most `most` blocks: one end in each block hit once.
        if sum(hits) <= (2 * most if bounded else most):
            yield hits


def replaced(u: Fraction, b: Fraction) -> Law:
    """The worst of a mechanism that is u-DP for a row more or less, b-DP for a replaced one."""
    return powers.least(powers.path([powers.step(u)] * 2), powers.step(b)).law()


def worst_epsilon(
    blocks: Sequence[Block], most: int, bounded: bool, delta: Fraction, plain: bool = False
) -> tuple[Any, tuple[int, ...]]:
    """The largest ε at δ over all patterns, and the pattern.

    `plain`: as if a replaced row met randomized responses of the lesser of b and 2u.
    """
    best: tuple[Any, tuple[int, ...]] = (mpf(-1), ())
    known: dict[tuple[tuple[Fraction, ...], ...], Any] = {}
    for hits in patterns(len(blocks), most, bounded):
        losses: list[tuple[Fraction, ...]] = []
        for block, hit in zip(blocks, hits, strict=True):
            if hit == 1:
                losses += [(u,) for u in block[0]]
            elif hit == 2:
                pairs = zip(*block, strict=True)
                losses += [(min(b, 2 * u),) if plain else (u, b) for u, b in pairs]
        key = tuple(sorted(losses))
        if key not in known:
            law = Law()
            for each in sorted(set(losses)):
                count = losses.count(each)
                law = law * (
                    responses(each[0], count) if len(each) == 1 else replaced(*each) ** count
                )
            known[key] = law.epsilon(delta)
        if known[key] > best[0]:
            best = known[key], hits
    return best
