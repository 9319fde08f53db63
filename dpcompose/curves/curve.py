"""What a composition is made of: privacy losses that are known as distributions or curves.

Each part stands for a dominating pair (P, Q): its privacy profile
δ(ε) = sup over events S of P(S) - e^ε·Q(S) is at least that of what it stands for, for every real
ε and for both orders of the two tables, so that parts compose (Zhu, Dong and Wang 2022,
Theorem 10). ε and shifts are exact and at least 0; all are dimensionless, in natural logarithms.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from dpcompose.curves.rounding.binomial import chances
from dpcompose.curves.rounding.exact import (
    capped_down,
    float_up,
    gaussian_mean_up,
    power_down,
    sqrt_up,
)
from dpcompose.curves.rounding.written import Number, count_of, number_of

if TYPE_CHECKING:
    from dpcompose.curves.backends.lattice.masses import Masses
    from dpcompose.curves.backends.renyi.cumulants import Cumulant
    from dpcompose.curves.backends.vertical_line.transforms import Transforms


class MechanismLoss(ABC):
    """The loss of a concrete mechanism moved by some distance: a part known by its distribution.

    Both orders of the two tables have the same profile.
    """

    __slots__ = ()

    @abstractmethod
    def masses(self, step: Fraction) -> Masses:
        """Returns a law on multiples of `step` whose curve is at least the profile at every real
        ε."""

    @abstractmethod
    def cumulant(self) -> Cumulant:
        """K without what `quadratic` tells of it."""

    @abstractmethod
    def quadratic(self) -> Fraction:
        """Returns the exact ρ with which K(s) contains ρ·s·(1+s)."""

    @abstractmethod
    def greatest(self) -> Fraction | None:
        """Returns the greatest loss, an ε at δ = 0; None if unbounded."""

    @abstractmethod
    def rho(self) -> Fraction:
        """Returns the least ρ known, rounded up."""

    @abstractmethod
    def mu(self) -> Fraction | None:
        """Returns the least μ known, rounded up; None if none is known."""

    def transforms(self) -> type[Transforms] | None:
        """Returns the kind of transforms that E e^(sL) is one of; None where there is none."""
        return None

    def least_epsilon(self, delta: Fraction) -> Certified | None:
        """Returns the least ε at 0 < δ < 1 of one such loss by itself, where there is a formula."""
        return None

    def least_delta(self, epsilon: Fraction) -> Certified | None:
        """Returns the least δ at ε ≥ 0, less than the greatest loss, likewise."""
        return None

    @abstractmethod
    def natural_step(self) -> Fraction | None:
        """Returns the widest grid through 0 on which all losses lie; None if there is none of
        use."""

    @abstractmethod
    def anchor(self) -> Fraction | None:
        """Returns a number on whose grid the atoms of the loss lie; None if there is none of
        use."""

    @abstractmethod
    def spread(self) -> float:
        """About the standard deviation of the loss; for choosing a grid, not for a bound."""

    @abstractmethod
    def line(self) -> Fraction | None:
        """Its shift, where a loss moved by a+b dominates those moved by a and by b together.

        So it is for noise with monotone likelihood ratios, since the shifts along a path of tables
        add, without loss, to one shift. None where that is not known.
        """

    @abstractmethod
    def with_shift(self, shift: Fraction) -> MechanismLoss:
        """Returns the loss that differs in its shift alone."""

    @abstractmethod
    def coarse(self, bits: int) -> Part:
        """Returns a loss that dominates it and has parameters of so many bits; or its ρ, as
        zCDP."""

    @abstractmethod
    def dominates(self, other: MechanismLoss) -> bool:
        """Whether it is known to be at least as bad as another one that has no `line`."""

    @abstractmethod
    def attained(self) -> bool:
        """Whether the mechanism has just this profile, not one below it."""

    @abstractmethod
    def describe(self) -> str:
        """Returns the loss in a few words."""


@dataclass(frozen=True, slots=True)
class Response:
    """Randomized response: loss +ε with chance e^ε/(1+e^ε), else -ε.

    Dominates every ε-DP mechanism (Kairouz, Oh and Viswanath 2015).
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Points:
    """A mechanism that is (ε, δ)-DP for each of these pairs, both orders; sorted by ε."""

    points: tuple[tuple[Fraction, Fraction], ...]

    def __hash__(self) -> int:
        return hash((len(self.points), self.points[:1], self.points[-1:]))  # they may be very many


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
    base: Curve
    replace: bool = False
    side: str = "both"


@dataclass(frozen=True, slots=True)
class Allocated:
    """Gaussian noise at each of `steps` steps, in one of which, drawn uniformly and in secret, a
    row takes part: the mean of N(μ·e_i, 1) over i against N(0, 1), in as many dimensions as steps.

    `gaussian`: μ². `side`: as for a Poisson sample, the table that has the row. `allocated` in
    `backends.lattice` has the law.
    """

    steps: int
    gaussian: Fraction
    side: str = "both"


@dataclass(frozen=True, slots=True)
class MixtureOfDraws:
    """Mechanisms that read a sample which holds a part of the change, each part with its chance, or
    none of it.

    Both tables are sampled alike; telling which part is drawn makes the loss no smaller, so that δ
    is Σ chance·δ of that part at every ε ≥ 0. `ways`: the chance of each part, and what it loses.
    """

    ways: tuple[tuple[Fraction, Curve], ...]


@dataclass(frozen=True, slots=True)
class PoissonReplaceOne:
    """A composition read through a secret Poisson sample of rate `rate`, for one row replaced.

    `once`: what one of the two rows makes of the loss at the sample, there or not there; `both`:
    the other row in its place, None where nothing is known. `exchange` has the curve.
    """

    rate: Fraction
    once: Curve
    both: Curve | None


@dataclass(frozen=True, slots=True)
class PoissonGroup:
    """A composition read through a secret Poisson sample of rate `rate`, for several rows at once.

    `once`: what one row more in the sample loses, two rows more, …, or so many as `numbers` says,
    all rows last; fewer count as the next of these. `replaced` of the rows are replaced, and the
    others are in one of the two tables: `one_sided`, all in the same one, which is the first where
    `side` is "removed", the second where "added". `both`: one row replaced in the sample, two, …,
    where that is known too. `sampled_rows` has the curve.
    """

    rate: Fraction
    once: tuple[Curve, ...]
    replaced: int = 0
    both: tuple[Curve, ...] = ()
    one_sided: bool = False
    side: str = "both"
    numbers: tuple[int, ...] = ()

    @property
    def counted(self) -> tuple[int, ...]:
        """Returns how many rows each of `once` is of."""
        return self.numbers or tuple(range(1, len(self.once) + 1))

    def splits(self) -> list[tuple[int, int]]:
        """Returns how many rows either of the tables may have that the other one has not.

        Of many rows each number counts as the next that is told apart, so that more rows, or ways
        that are told apart less finely, never lose less.
        """
        most, fewest = self.counted[-1], self.replaced
        if self.one_sided or most == fewest:
            return [(most, fewest)]
        both, fair = most + fewest, (most + fewest + 1) // 2
        # The least number that counts as each one leaves most for the other table.
        firsts = [n + 1 for n in (-1, *_counted_numbers(most))]
        starts = {fair, *firsts, *(both - n for n in firsts)}
        ways = {
            (_counted_as(n, most), _counted_as(both - n, most)) for n in starts if fair <= n <= most
        }
        return sorted(way for way in ways if not any(way != x and _within(way, x) for x in ways))

    def chances(self, rows: int) -> list[Fraction]:
        """Returns the chances that of so many rows none is drawn, and as many as each of `once`
        is of."""
        if not rows:
            return [Fraction(1)]
        numbers = [*(n for n in self.counted if n < rows), rows]
        return chances(rows, min(max(self.rate, _LEAST_RATE), Fraction(1)), numbers)


#: Smaller rates of several rows are raised to this.
_LEAST_RATE = Fraction(1, 10**50)
#: Up to so many rows all ways of sharing them out are told apart.
_ALL_WAYS = 16


def _counted_numbers(most: int) -> Iterator[int]:
    """The numbers of rows that are told apart, up to `most`, which is one of them."""
    number = 0
    while number < most:
        yield number
        number += 1 if number < _ALL_WAYS else number // 4
    yield most


def _counted_as(rows: int, most: int) -> int:
    """Returns the least number that is told apart and not below so many rows."""
    return next(number for number in _counted_numbers(most) if number >= rows)


def _within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] <= other[0] and one[1] <= other[1]


@dataclass(frozen=True, slots=True)
class ReplacedRows:
    """A composition that reads a sample of one public size, for several rows replaced at once.

    `chances` that none of them is drawn, one, …; `once`: what one row replaced in the sample loses,
    two, …. `replaced_rows` has the curve.
    """

    chances: tuple[Fraction, ...]
    once: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A composition at group distance `steps` ≥ 2: each (ε, δ) becomes
    (steps·ε, δ·(e^(steps·ε)-1)/(e^ε-1)), and the least is taken."""

    base: Curve
    steps: int


@dataclass(frozen=True, slots=True)
class Maximum:
    """One of several compositions, whichever: at each ε the greatest of their profiles.

    That is a profile too, as it is convex in e^ε (Zhu, Dong and Wang 2022, Proposition 8).
    """

    options: tuple[Curve, ...]


Part = (
    Response
    | MechanismLoss
    | Points
    | Concentrated
    | Renyi
    | Sampled
    | Allocated
    | MixtureOfDraws
    | PoissonReplaceOne
    | PoissonGroup
    | ReplacedRows
    | Grouped
    | Maximum
)


def leans(part: Part) -> bool:
    """Whether the loss depends on which of the two tables has the rows."""
    match part:
        case Sampled(_, base, replace, side):
            return not replace and (side != "both" or any(leans(each) for each, _ in base.parts))
        case PoissonGroup() | Allocated():
            return part.side != "both"
        case MixtureOfDraws(ways):
            return any(leans(each) for _, base in ways for each, _ in base.parts)
    return False


def direction(curve: Curve) -> str | None:
    """Returns in which table the rows of all one-sided samples are: "removed", the first, or
    "added", the second; None where there is no such sample, or where they differ."""
    sided = (Sampled, PoissonGroup, Allocated)
    found = {part.side for part, _ in curve.parts if isinstance(part, sided)}
    plain = not any(
        leans(inner)
        for part, _ in curve.parts
        for base in (part.once if isinstance(part, PoissonGroup) else _base_of(part))
        for inner, _ in base.parts
    )
    one_sided = found - {"both"}
    return one_sided.pop() if plain and len(one_sided) == 1 else None


def _base_of(part: Part) -> tuple[Curve, ...]:
    match part:
        case Sampled() | Grouped():
            return (part.base,)
        case MixtureOfDraws(ways):
            return tuple(base for _, base in ways)
    return ()


def is_tight(part: Part) -> bool:
    """Whether some pair of tables loses just what a part says, so that it loses none composed."""
    return not isinstance(part, Concentrated) and (
        not isinstance(part, MechanismLoss) or part.attained()
    )


def curve_of(
    part: Part | None,
    gaussian: Fraction = Fraction(0),
    no_failure: Fraction = Fraction(1),
) -> Curve:
    """Returns the curve of one part, or of none."""
    return Curve(() if part is None else ((part, 1),), gaussian, no_failure)


class Backends(Protocol):
    """The functions that answer for curves: `dpcompose.curves.evaluate`."""

    def epsilon_of(self, curve: Curve, delta: Fraction, /) -> Certified | None:
        """Returns the least ε at 0 ≤ δ ≤ 1; None where no finite one is known."""

    def delta_of(self, curve: Curve, epsilon: Fraction, /) -> Certified:
        """Returns the least δ at ε ≥ 0."""

    def rho_of(self, curve: Curve, /) -> Certified | None:
        """Returns the least ρ that is known."""

    def misses_of(self, curve: Curve, rate: Fraction, /) -> Certified:
        """Returns the least rate of misses at a rate of false alarms."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A pair of worst-case output distributions, as independent parts with their numbers.

    `gaussian`: Σμ² of all Gaussian parts, whose composition is exactly one Gaussian with μ the
    root. `stay`: the chance that no outcome gives everything away, Π(1-δ_i) of the stated δ_i.
    The profile is 1 - stay + stay·(profile of the rest).

    Curves are made by the functions of `dpcompose.curves` and combined by the methods below. All
    numbers may be written as `Fraction`, `int`, text (`"256/60000"`) or float, which is read as the
    decimal that it prints as.
    """

    parts: tuple[tuple[Part, int], ...] = ()
    gaussian: Fraction = Fraction(0)
    no_failure: Fraction = Fraction(1)
    #: Set by `dpcompose.curves`: the backends are made of curves, and so cannot be imported here.
    backends: ClassVar[Backends]

    @property
    def part(self) -> Part | None:
        """Returns the only part that is no Gaussian; None if there is none."""
        if not self.parts:
            return None
        ((part, count),) = self.parts
        assert count == 1
        return part

    def left(self, delta: Fraction) -> Fraction:
        """Returns what the stated δ's leave of δ for the rest; below 0 where that is less than
        nothing."""
        return 1 - (1 - delta) / self.no_failure if self.no_failure > 0 else Fraction(-1)

    def compose(self, *others: Curve) -> Curve:
        """Returns the curve of this and other mechanisms on the same data (Zhu, Dong and Wang
        2022, 10)."""
        parts: dict[Part, int] = {}
        for each in (self, *others):
            for part, count in each.parts:
                parts[part] = parts.get(part, 0) + count
        no_failure = capped_down(
            math.prod((each.no_failure for each in others), start=self.no_failure)
        )
        gaussian = sum((each.gaussian for each in others), self.gaussian)
        return Curve(tuple(parts.items()), gaussian, no_failure)

    def repeat(self, times: int) -> Curve:
        """Returns the curve of so many runs of the mechanism, adaptively chosen."""
        times = count_of(times, "times", 0)
        if not times:
            return Curve()
        parts = tuple((part, count * times) for part, count in self.parts)
        return Curve(parts, self.gaussian * times, power_down(self.no_failure, times))

    def sample(self, *, poisson: Number | None = None, fixed: Number | None = None) -> Curve:
        """Returns the curve of the mechanism on a secret random sample of the rows.

        `poisson`: each row is drawn by itself with this chance, for a row added or removed.
        `fixed`: a sample of a public size is drawn without replacement, and this is its share m/n;
        the curve is then that of a row replaced.
        """
        if (poisson is None) == (fixed is None):
            raise ValueError("a sample is either `poisson` or `fixed`")
        given = fixed if poisson is None else poisson
        assert given is not None
        rate = number_of(given, "a sampling rate", 1)
        # The row is in the first table of every step; both orders of the tables are looked at.
        part = Sampled(rate, self, side="removed") if fixed is None else Sampled(rate, self, True)
        return Curve(((part, 1),))

    def allocate(self, steps: int) -> Curve:
        """Returns the curve of so many steps with Gaussian noise in each, in one of which, drawn
        uniformly and in secret, a row that is added or removed takes part (balls in bins).

        Raises ValueError for a curve that is not Gaussian.
        """
        if self.parts or self.no_failure != 1:
            raise ValueError("only Gaussian noise is known where a row is in one of several steps")
        steps = count_of(steps, "steps", 1)
        if steps == 1 or not self.gaussian:
            return self
        return Curve(((Allocated(steps, self.gaussian, "removed"), 1),))

    def at_distance(self, steps: int) -> Curve:
        """Returns the curve for two tables that are `steps` neighbouring steps apart (group
        privacy)."""
        steps = count_of(steps, "steps", 1)
        if steps == 1 or self == Curve():
            return self
        if not self.parts and self.no_failure == 1:
            return Curve((), self.gaussian * steps**2)
        if not self.gaussian and self.no_failure == 1 and len(self.parts) == 1:
            [(part, count)] = self.parts
            if isinstance(part, MechanismLoss) and (line := part.line()) is not None:
                return Curve(((part.with_shift(line * steps), count),))
            if isinstance(part, Response) and count == 1:
                return Curve(((Response(part.epsilon * steps), 1),))
        return Curve(((Grouped(self, steps), 1),))

    def epsilon(self, *, delta: Number) -> Certified | None:
        """Returns the least ε at which this is (ε, δ)-DP; None where no finite ε is known."""
        return self.backends.epsilon_of(self, number_of(delta, "δ", 1))

    def delta(self, *, epsilon: Number) -> Certified:
        """Returns the least δ at which this is (ε, δ)-DP."""
        return self.backends.delta_of(self, number_of(epsilon, "ε"))

    def pure(self) -> Certified | None:
        """Returns the least ε at which this is ε-DP; None where the loss has no bound."""
        return self.epsilon(delta=0)

    def rho(self) -> Certified | None:
        """Returns the least ρ known at which this is ρ-zCDP; None where none is known."""
        return self.backends.rho_of(self)

    def mu(self) -> Certified | None:
        """Returns the least μ known at which this is μ-GDP; None where none is known."""
        square = self.gaussian
        for part, count in self.parts:
            if isinstance(part, Response):
                mu: Fraction | None = gaussian_mean_up(part.epsilon)
            else:
                mu = part.mu() if isinstance(part, MechanismLoss) else None
            if mu is None:
                return None
            square += mu * mu * count
        if self.no_failure != 1:
            return None
        exact = not self.parts
        return Certified(sqrt_up(square), None, exact, how="the squares of μ add up")

    def trade_off(self, alpha: Number) -> Certified:
        """Returns the least rate of misses of a test with a rate `alpha` of false alarms: f(α).

        The other way round from an ε: what is certified is the lower bound, `lower`, which is also
        the number as a float.
        """
        return self.backends.misses_of(self, number_of(alpha, "a rate of false alarms", 1))


class Certified(NamedTuple):
    """A number that lies between two: `upper` is certified, `lower` None where not known.

    `exact`: no discretisation, the certified number is the best one up to rounding; else `grid` is
    the width of the pessimistic grid used, if there was one. `how`: the route to it, in words.
    `floor`: whether `lower` is the certified side, as for a rate of misses.
    """

    upper: Fraction
    lower: Fraction | None = None
    exact: bool = True
    grid: Fraction | None = None
    how: str = ""
    floor: bool = False

    def __repr__(self) -> str:
        by = f", {self.how!r}" if self.how else ""
        return f"Certified({'≥' if self.floor else '≤'} {float(self)!r}{by})"

    def __float__(self) -> float:
        """Returns the certified side, rounded to the safe side."""
        if self.floor:
            return -float_up(-(self.lower or Fraction(0)))
        return float_up(self.upper)


class EvaluationEffort(NamedTuple):
    """The work done for an answer, which is certified in any case.

    `shared`: on grids that many questions about the same parts share. `rough`: on one coarse grid
    alone, to see soon what cannot decide. `side`: of a δ, the one order of the tables that is asked
    for, "removed" as the curve has them, "added" exchanged; None: both.
    """

    shared: bool = False
    rough: bool = False
    side: str | None = None


BEST, SHARED, ROUGH = (
    EvaluationEffort(),
    EvaluationEffort(shared=True),
    EvaluationEffort(rough=True),
)
