"""Upper bounds of compositions of thousands of different mechanisms: like mechanisms are merged by
rounding their parameters (ε, μ, a shift, a rate) up.

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

from dpcompose.curves.backends.lattice.tuning import FEW
from dpcompose.curves.curve import Concentrated, MechanismLoss, Part, Response, Sampled
from dpcompose.curves.rounding.exact import ZERO, bits_up

Parts = Sequence[tuple[Part, int]]

#: Of more than FEW different losses of all kinds so many of a kind are kept, and never more
#: samples, whose laws take longest.
_MOST_OF_A_KIND = 128
#: Significant bits that are kept of a parameter; fewer where these do not leave few enough.
_BITS = 12


def merged(parts: Parts) -> Parts:
    """Returns the parts, or fewer that dominate them where there are very many different ones of a
    kind."""
    kinds: dict[type, dict[Part, int]] = {}
    for part, count in parts:
        if count > 0:
            same = kinds.setdefault(type(part), {})
            same[part] = same.get(part, 0) + count
    found: list[tuple[Part, int]] = []
    for kind, same in kinds.items():
        most = _most_of_kind(kind, len(parts))
        found += (same if len(same) <= most else _fewer(kind, same, most)).items()
    return found


def is_merged(parts: Parts) -> bool:
    """Returns whether `merged` would replace any of these parts, no two of which are equal."""
    kinds = Counter(type(part) for part, _ in parts)
    many = {kind for kind, n in kinds.items() if n > _most_of_kind(kind, len(parts))}
    return any(type(part) in many and rounded(part, _BITS) != part for part, _ in parts)


def _most_of_kind(kind: type, in_all: int) -> int:
    """Returns how many different parts of a kind are kept, of `in_all` parts."""
    if kind is Response:
        return FEW
    return _MOST_OF_A_KIND if kind is Sampled or in_all > FEW else FEW


def _fewer(kind: type, parts: dict[Part, int], most: int) -> dict[Part, int]:
    """Returns fewer parts of one kind that dominate the given ones, by rounding parameters up: no
    more than `most` where few bits bring that about."""
    found: dict[Part, int] = {}
    for bits in range(_BITS, 1, -1):
        found = {}
        rho = ZERO
        for part, count in parts.items():
            match rounded(part, bits):
                case Concentrated(value):
                    rho += value * count
                case coarse:
                    found[coarse] = found.get(coarse, 0) + count
        if rho:
            found[Concentrated(rho)] = 1
        # Responses take little time, however many.
        if len(found) <= most or kind is Response:
            break
    return found


def rounded(part: Part, bits: int) -> Part:
    """Returns a part of the same kind that dominates this one and has parameters of at most `bits`
    bits, or the part itself."""
    match part:
        case Response(epsilon):
            return Response(bits_up(epsilon, bits))
        case MechanismLoss():
            return part.coarse(bits)
        case Sampled(rate, base) if not base.parts:
            gaussian = replace(base, gaussian=bits_up(base.gaussian, bits))
            return replace(part, rate=min(Fraction(1), bits_up(rate, bits)), base=gaussian)
        case _:
            return part
