"""What a composition is made of: privacy losses that are known as distributions or curves.

Each part stands for a dominating pair (P, Q): its privacy profile
δ(ε) = sup over events S of P(S) - e^ε·Q(S) is at least that of what it stands for, for every real
ε and for both orders of the two tables, so that parts compose (Zhu, Dong and Wang 2022,
Theorem 10). ε and shifts are exact and at least 0; all are dimensionless, in natural logarithms.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.values import dataclass


@dataclass(frozen=True, slots=True)
class Response:
    """Randomized response: loss +ε with chance e^ε/(1+e^ε), else -ε.

    Dominates every ε-DP mechanism (Kairouz, Oh and Viswanath 2015).
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise of scale 1, moved by `shift`."""

    shift: Fraction


@dataclass(frozen=True, slots=True)
class Geometric:
    """Two-sided geometric noise, mass proportional to e^(-|n|/scale), moved by `shift` ≥ 1."""

    shift: int
    scale: Fraction


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """Discrete normal noise, mass proportional to e^(-n²/(2·variance)), moved by `shift` ≥ 1."""

    shift: int
    variance: Fraction


@dataclass(frozen=True, slots=True)
class KaryResponse:
    """Randomized response over `k` ≥ 2 values: loss +ε, -ε, or 0 (another value came out)."""

    k: int
    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class BoundedRange:
    """The log odds between two tables have a range of `epsilon` (exponential mechanism).

    Of all such pairs the profile is largest at δ(ε') = (e^(η/2) - e^(ε'/2))²/(e^η - 1) for
    |ε'| ≤ η (two outcomes, losses t and t-η, with t = (ε'+η)/2).
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Points:
    """A mechanism that is (ε, δ)-DP for each of these pairs, both orders; sorted by ε."""

    points: tuple[tuple[Fraction, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Concentrated:
    """A ρ-zCDP mechanism by its profile (Canonne, Kamath and Steinke 2020, Corollary 13)."""

    rho: Fraction


@dataclass(frozen=True, slots=True)
class Renyi:
    """Rényi DP: a divergence of at most ε at each order α > 1, both orders of the tables.

    `points`: (α, ε) sorted by α; between two orders (α-1)·ε is convex in α, so that it lies below
    the chord. `rho`: a further curve α·ρ that is added to each point (zCDP composed with it).
    """

    points: tuple[tuple[Fraction, Fraction], ...]
    rho: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Sampled:
    """A composition read through a secret random sample, amplified once (theory, section 7).

    `replace`: False, Poisson sampling with chance `rate`, for one row added or removed; True, a
    sample of fixed size without replacement (`rate` = m/n), for one row replaced.
    `side`: with Poisson sampling, "removed" the pair ((1-q)Q+qP, Q), "added" the pair
    (P, (1-q)P+qQ) with P the base's first table, "both" a pair that dominates the two.
    """

    rate: Fraction
    base: Composition
    replace: bool = False
    side: str = "both"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A composition that reads a sample which holds the change with chance `rate`, else none of it.

    Both tables are sampled alike; telling whether the change is drawn makes the loss no smaller, so
    δ becomes rate·δ at every ε ≥ 0.
    """

    rate: Fraction
    base: Composition


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A composition read through a secret Poisson sample of rate `rate`, for one row replaced.

    `once`: what one of the two rows makes of the loss at the sample, there or not there; `both`:
    the other row in its place, None where nothing is known. `exchange` has the curve.
    """

    rate: Fraction
    once: Composition
    both: Composition | None


@dataclass(frozen=True, slots=True)
class Grouped:
    """A composition at group distance `steps` ≥ 2: each (ε, δ) becomes
    (steps·ε, δ·(e^(steps·ε)-1)/(e^ε-1)), and the least is taken."""

    base: Composition
    steps: int


Part = (
    Response
    | Laplace
    | Geometric
    | DiscreteGaussian
    | KaryResponse
    | BoundedRange
    | Points
    | Concentrated
    | Renyi
    | Sampled
    | Drawn
    | Exchanged
    | Grouped
)


@dataclass(frozen=True, slots=True)
class Composition:
    """Independent parts, each with how often it occurs, run on one pair of tables.

    `gaussian`: Σμ² of all Gaussian parts, whose composition is exactly one Gaussian with μ the
    root. `stay`: the chance that no outcome gives everything away, Π(1-δ_i) of the stated δ_i.
    The profile is 1 - stay + stay·(profile of the rest).
    """

    parts: tuple[tuple[Part, int], ...] = ()
    gaussian: Fraction = Fraction(0)
    stay: Fraction = Fraction(1)

    def left(self, delta: Fraction) -> Fraction:
        """What the stated δ's leave of δ for the rest; below 0 where that is less than nothing."""
        return 1 - (1 - delta) / self.stay if self.stay > 0 else Fraction(-1)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A number known to lie between two: `upper` is certified, `lower` None where not known.

    `exact`: no discretisation, `upper` is the least number up to rounding; else `grid` is the
    width of the pessimistic grid used.
    """

    upper: Fraction
    lower: Fraction | None = None
    exact: bool = True
    grid: Fraction | None = None
