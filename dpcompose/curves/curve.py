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
from dpcompose.curves.rounding.doubles import LEAST
from dpcompose.curves.rounding.exact import (
    MOST_LAWS,
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
    """The privacy loss of a concrete mechanism, such as Laplace noise, whose output moves by some
    distance: a part known by its distribution.

    Both orders of the two tables have the same profile.
    """

    __slots__ = ()

    @abstractmethod
    def masses(self, step: Fraction) -> Masses:
        """Returns a privacy loss distribution on multiples of `step` whose curve is at least the
        profile at every real ε."""

    @abstractmethod
    def cumulant(self) -> Cumulant:
        """Returns K(s) = s·D_(1+s), with D the Rényi divergence, without the term that `quadratic`
        gives."""

    def quadratic(self) -> Fraction:
        """Returns the exact ρ for which K(s) contains the term ρ·s·(1+s)."""
        return Fraction(0)

    @abstractmethod
    def greatest(self) -> Fraction | None:
        """Returns the greatest loss, an ε at δ = 0; None if unbounded."""

    @abstractmethod
    def rho(self) -> Fraction:
        """Returns the least ρ known for which the mechanism is ρ-zCDP, rounded up."""

    def mu(self) -> Fraction | None:
        """Returns the least μ known for which the mechanism is μ-GDP, rounded up; None if none is
        known."""
        return None

    def transforms(self) -> type[Transforms] | None:
        """Returns the class that computes the moment generating function E e^(sL) of such losses;
        None where there is none."""
        return None

    def least_epsilon(self, delta: Fraction) -> Certified | None:
        """Returns the least ε at 0 < δ < 1 of this mechanism run once, by a formula; None where
        there is no formula."""
        return None

    def least_delta(self, epsilon: Fraction) -> Certified | None:
        """Returns the least δ at ε ≥ 0, less than the greatest loss, of this mechanism run once, by
        a formula; None where there is no formula."""
        return None

    def natural_step(self) -> Fraction | None:
        """Returns the step of the widest grid through 0 on which all losses lie; None if there is
        none of use."""
        return None

    def anchor(self) -> Fraction | None:
        """Returns a number of which the single losses with a chance above 0 are multiples; None if
        there is none of use."""
        return self.natural_step()

    @abstractmethod
    def spread(self) -> float:
        """Returns about the standard deviation of the loss; for choosing a grid, not for a
        bound."""

    def line(self) -> Fraction | None:
        """Returns the distance by which the output moves, where a move by a+b dominates the moves
        by a and by b together; None where that is not known.

        So it is for noise with monotone likelihood ratios, since the moves along a path of tables
        add, without loss, to one move.
        """
        return None

    @abstractmethod
    def with_shift(self, shift: Fraction) -> MechanismLoss:
        """Returns the loss of the same mechanism whose output moves by `shift`."""

    @abstractmethod
    def coarse(self, bits: int) -> Part:
        """Returns a loss that dominates this one and has parameters of at most `bits` bits; or its
        ρ, as zCDP."""

    def dominates(self, other: MechanismLoss) -> bool:
        """Returns whether this loss is known to be at least as bad as `other`, which has no
        `line`."""
        return False

    def attained(self) -> bool:
        """Returns whether the mechanism has just this profile, not one below it."""
        return True

    @abstractmethod
    def describe(self) -> str:
        """Returns the loss in a few words, for reports."""


@dataclass(frozen=True, slots=True)
class Response:
    """Randomized response: loss +ε with chance e^ε/(1+e^ε), else -ε.

    Dominates every ε-DP mechanism (Kairouz, Oh and Viswanath 2015).
    """

    epsilon: Fraction


@dataclass(frozen=True, slots=True)
class Points:
    """A mechanism that is (ε, δ)-DP for each of these pairs, in both orders of the tables; sorted
    by ε."""

    points: tuple[tuple[Fraction, Fraction], ...]

    def __hash__(self) -> int:
        return hash((len(self.points), self.points[:1], self.points[-1:]))  # they may be very many


@dataclass(frozen=True, slots=True)
class TwoAnswersPoints(Points):
    """An answer that has the chance `high` for one value of a row and `low` for the other, by the
    `points` of both orders of the two values; which order is worse differs from ε to ε."""

    high: Fraction
    low: Fraction


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
    """A composition behind a secret random sample: privacy amplification, applied once to all that
    reads the sample (theory, section 7).

    `replace`: False, Poisson sampling with chance `rate`, for one row added or removed; True, a
    sample of fixed size without replacement (`rate` = m/n), for one row replaced. `side`: with
    Poisson sampling, "removed" the pair ((1-q)Q+qP, Q), "added" the pair (P, (1-q)P+qQ) with P the
    base's first table, "both" a pair that dominates the two.
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
    """Mechanisms that read a sample which holds some part of the change, or none of it, at random.

    Both tables are sampled alike; telling which part is drawn makes the loss no smaller, so that δ
    is Σ chance·δ of that part at every ε ≥ 0. `ways`: for each part its chance, and the curve of
    what it loses.
    """

    ways: tuple[tuple[Fraction, Curve], ...]


@dataclass(frozen=True, slots=True)
class PoissonReplaceOne:
    """A composition behind a secret Poisson sample of rate `rate`, for one row replaced.

    `once`: the curve at the sample for one row there or not there; `both`: for one row replaced by
    the other, None where nothing is known. `backends.lattice.samples` has the formulas.
    """

    rate: Fraction
    once: Curve
    both: Curve | None


@dataclass(frozen=True, slots=True)
class PoissonGroup:
    """A composition behind a secret Poisson sample of rate `rate`, for several rows at once.

    `once`: the curve at the sample for one row more, two rows more, …, or for the numbers of rows
    in `numbers`, the last of which is all rows; other numbers count as the next greater of these.
    `replaced` of the rows are replaced, and the others are in one of the two tables: `one_sided`,
    all in the same one, which is the first where `side` is "removed", the second where "added".
    `both`: the curves for one row replaced in the sample, two, …, where they are known too.
    `backends.lattice.several_rows` has the formulas.
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
        """Returns for each curve of `once` for how many rows it holds."""
        return self.numbers or tuple(range(1, len(self.once) + 1))

    def splits(self) -> list[tuple[int, int]]:
        """Returns the pairs (rows only in the first table, rows only in the second) that have to be
        looked at.

        Of many rows each number counts as the next one of a short list, so that more rows, or a
        shorter list, never lose less.
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
        """Returns the chances that, of `rows` rows, none is drawn, and as many as each curve of
        `once` holds for."""
        if not rows:
            return [Fraction(1)]
        numbers = [*(n for n in self.counted if n < rows), rows]
        return chances(rows, min(max(self.rate, Fraction(LEAST)), Fraction(1)), numbers)


def _counted_numbers(most: int) -> Iterator[int]:
    """Yields, ascending, the numbers of rows up to `most` that have curves of their own: each
    number up to MOST_LAWS, then numbers that grow by a quarter each, and `most` itself."""
    number = 0
    while number < most:
        yield number
        number += 1 if number < MOST_LAWS else number // 4
    yield most


def _counted_as(rows: int, most: int) -> int:
    """Returns the least number of `_counted_numbers(most)` that is at least `rows`."""
    return next(number for number in _counted_numbers(most) if number >= rows)


def _within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Returns whether both numbers of `one` are at most those of `other`."""
    return one[0] <= other[0] and one[1] <= other[1]


@dataclass(frozen=True, slots=True)
class ReplacedRows:
    """A composition behind a sample of fixed, public size, for several rows replaced at once.

    `chances`: that none of the rows is drawn, one, …; `once`: the curves for one row replaced in
    the sample, two, …. `backends.lattice.several_rows` has the formulas.
    """

    chances: tuple[Fraction, ...]
    once: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class Grouped:
    """A composition for tables that are `steps` ≥ 2 steps apart (group privacy): each (ε, δ) of the
    base becomes (steps·ε, δ·(e^(steps·ε)-1)/(e^ε-1)), and the least is taken."""

    base: Curve
    steps: int


@dataclass(frozen=True, slots=True)
class Maximum:
    """The worst case over several compositions: at each ε the greatest of their profiles.

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
    """Returns whether the profile of a part may differ between the two orders of the tables."""
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
    """Returns the curves inside a part, such as that of what is sampled; none for a plain part."""
    match part:
        case Sampled() | Grouped():
            return (part.base,)
        case MixtureOfDraws(ways):
            return tuple(base for _, base in ways)
    return ()


def is_tight(part: Part) -> bool:
    """Returns whether composing a part by its profile is taken to lose nothing: so for all but
    zCDP, and mechanisms whose profile here is above their own."""
    return not isinstance(part, Concentrated) and (
        not isinstance(part, MechanismLoss) or part.attained()
    )


def curve_of(
    part: Part | None,
    gaussian: Fraction = Fraction(0),
    no_failure: Fraction = Fraction(1),
) -> Curve:
    """Returns the curve of one part, or of none, with a Gaussian of Σμ² = `gaussian`;
    `no_failure`: the chance that no mechanism fails completely, which is 1-δ for a stated δ."""
    return Curve(() if part is None else ((part, 1),), gaussian, no_failure)


class Backends(Protocol):
    """The functions that compute the numbers of a curve: `dpcompose.curves.routes`."""

    def epsilon_of(self, curve: Curve, delta: Fraction, /) -> Certified | None:
        """Returns the least ε at δ, 0 ≤ δ ≤ 1; None where no finite one is known."""

    def delta_of(self, curve: Curve, epsilon: Fraction, /) -> Certified:
        """Returns the least δ at ε ≥ 0."""

    def rho_of(self, curve: Curve, /) -> Certified | None:
        """Returns the least ρ known for which the curve is ρ-zCDP; None where none is known."""

    def misses_of(self, curve: Curve, rate: Fraction, /) -> Certified:
        """Returns the least rate of misses (type II errors) of a test with a `rate` of false alarms
        (type I errors)."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A dominating pair of output distributions, as independent parts with their counts.

    `gaussian`: Σμ² of all Gaussian parts, whose composition is exactly one Gaussian with μ the
    root. `no_failure`: the chance that no outcome gives everything away, Π(1-δ_i) of the stated
    δ_i. The profile is 1 - no_failure + no_failure·(profile of the rest).

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
        """Returns the only part that is not Gaussian; None if there is none."""
        if not self.parts:
            return None
        ((part, count),) = self.parts
        assert count == 1
        return part

    def left(self, delta: Fraction) -> Fraction:
        """Returns what the stated δ_i leave of `delta` for the rest; below 0 where they exceed
        it."""
        return 1 - (1 - delta) / self.no_failure if self.no_failure > 0 else Fraction(-1)

    def compose(self, *others: Curve) -> Curve:
        """Returns the curve of this mechanism and others on the same data, adaptively chosen (Zhu,
        Dong and Wang 2022, Theorem 10)."""
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
        """Returns the curve of `times` runs of the mechanism, adaptively chosen."""
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
        """Returns the curve of `steps` steps with Gaussian noise in each, in one of which, drawn
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
        """Returns the least rate of misses (type II errors) of any test with a rate `alpha` of
        false alarms (type I errors): f(α).

        The other way round from an ε: what is certified is the lower bound, `lower`, which is also
        the number as a float.
        """
        return self.backends.misses_of(self, number_of(alpha, "a rate of false alarms", 1))


class Certified(NamedTuple):
    """A number between two bounds: `upper` is certified, `lower` None where not known.

    `exact`: whether the certified number is the best one up to rounding, without any
    discretisation; else `grid` is the width of the pessimistic grid used, if there was one. `how`:
    the route to it, in words. `floor`: whether `lower` is the certified side, as for a rate of
    misses.
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
        """Returns the certified bound, rounded to the safe side."""
        if self.floor:
            return -float_up(-(self.lower or Fraction(0)))
        return float_up(self.upper)


class EvaluationEffort(NamedTuple):
    """How much work may be done for a number, which is certified in any case.

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
