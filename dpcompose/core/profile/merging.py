"""Very many different losses as fewer: parameters rounded up, which dominates.

A larger parameter is the same mechanism before a further randomisation: of Laplace and geometric
noise by more noise of its kind (their generating functions divide with coefficients ≥ 0), of a
response by one more response, of Gaussian noise by more of it. A bounded range lies in every wider
one. Discrete Gaussian noise is read as zCDP, of which all is one. A sample of rate q is a mixture
of none and of the sample of a rate q' ≥ q, and so, by joint convexity, no worse than the latter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpcompose.core.profile.cumulants import quadratic
from dpcompose.core.profile.parts import (
    BoundedRange,
    Concentrated,
    DiscreteGaussian,
    Geometric,
    KaryResponse,
    Laplace,
    Part,
    Response,
    Sampled,
)

ZERO = Fraction(0)
Parts = Sequence[tuple[Part, int]]

#: So many different losses of a kind are kept as they are; samples take longer, responses less.
MOST, MOST_SAMPLES, MOST_RESPONSES = 256, 128, 8192
#: Significant bits that are kept, the most that leave few enough; of responses the first.
_BITS = tuple(range(12, 1, -1))


def merged(parts: Parts) -> Parts:
    """The same parts, or fewer that dominate them where some kind has very many."""
    kinds: dict[type, dict[Part, int]] = {}
    for part, count in parts:
        if count > 0:
            same = kinds.setdefault(type(part), {})
            same[part] = same.get(part, 0) + count
    found: list[tuple[Part, int]] = []
    for kind, same in kinds.items():
        found += (same if len(same) <= _most(kind) else _fewer(kind, same)).items()
    return found


def is_merged(parts: Parts) -> bool:
    """Whether `merged` rounds any of these parts, no two of which are equal."""
    kinds = Counter(type(part) for part, _ in parts)
    many = {kind for kind, n in kinds.items() if n > _most(kind)}
    return DiscreteGaussian in many or any(
        type(part) in many and rounded(part, _BITS[0]) != part for part, _ in parts
    )


def _most(kind: type) -> int:
    return {Response: MOST_RESPONSES, Sampled: MOST_SAMPLES}.get(kind, MOST)


def _fewer(kind: type, parts: dict[Part, int]) -> dict[Part, int]:
    if kind is DiscreteGaussian:
        return {Concentrated(sum((quadratic(part) * n for part, n in parts.items()), ZERO)): 1}
    found: dict[Part, int] = {}
    for bits in _BITS[:1] if kind is Response else _BITS:
        found = {}
        for part, count in parts.items():
            up = rounded(part, bits)
            found[up] = found.get(up, 0) + count
        if len(found) <= _most(kind):
            break
    return found


def rounded(part: Part, bits: int) -> Part:
    """A part of the same kind that dominates it and has parameters of few bits, or the part."""
    match part:
        case Response(epsilon):
            return Response(up(epsilon, bits))
        case Laplace(shift):
            return Laplace(up(shift, bits))
        case BoundedRange(epsilon):
            return BoundedRange(up(epsilon, bits))
        case KaryResponse(k, epsilon):
            return KaryResponse(k, up(epsilon, bits))
        case Geometric(shift, scale):
            return Geometric(shift, 1 / up(1 / scale, bits))
        case Sampled(rate, base) if not base.parts:
            gaussian = replace(base, gaussian=up(base.gaussian, bits))
            return replace(part, rate=min(Fraction(1), up(rate, bits)), base=gaussian)
        case _:
            return part


def up(x: Fraction, bits: int) -> Fraction:
    """The least number of so many significant bits that is at least `x` ≥ 0."""
    top, bottom = x.numerator, x.denominator
    if not top:
        return x
    shift = bits - top.bit_length() + bottom.bit_length()
    whole = -((-top << shift) // bottom) if shift >= 0 else -(-top // (bottom << -shift))
    return Fraction(whole) / Fraction(2) ** shift


