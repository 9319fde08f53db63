"""Amplification: losses through a secret random sample, in each algebra (theory, section 7).

Whatever is drawn, two tables with coupled samples differ in the sample by the whole change, by a
part of it, or not at all: a mixture is never worse than its worst part, so the unamplified loss
always holds. For zCDP and GDP nothing better is known in their own terms: they are amplified as
profiles, and pure losses as pure DP (`AlongMap.as_pure`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, islice, product
from typing import Any

from dpcompose.core.loss.algebras import Frontier, Loss, Pairs, Scalars, Survival
from dpcompose.core.loss.pattern_algebra import Algebra, Patterns
from dpcompose.core.notions.notion import Notion, Pair
from dpcompose.curves.rounding import (
    MAX_EXPONENT,
    ONE,
    ZERO,
    added_share_up,
    amplified_added_up,
    amplified_up,
    bits_up,
    capped,
    exchanged_up,
    exp_up,
    log1p_up,
)

#: The most choices of one (ε, δ) for each loss that are tried.
_MOST_WAYS = 64
#: Significant bits of a δ.
_BITS = 160
#: A chance, and the loss in that case.
Chance = tuple[Fraction, Loss]


def unamplified(algebra: Algebra, loss: Loss) -> Loss:
    """Returns the loss as if the sample were public.

    For zCDP and GDP the result is infinite unless the loss is 0: a ρ or a μ that ignores the sample
    is not given, since only the profile of the result is amplified.
    """
    if isinstance(algebra, Scalars) and algebra.notion is not Notion.PURE:
        return algebra.none if loss else loss
    return algebra.from_above(loss) if isinstance(algebra, Patterns) else loss


def amplified(
    algebra: Algebra, loss: Loss, rate: Fraction, replace: bool = False, side: str = "both"
) -> Loss | None:
    """Returns the loss of what reads a secret sample that contains each row with chance `rate`.

    ε becomes ln(1+q(e^ε-1)), δ becomes qδ: the whole profile is amplified (Balle et al. 2018).
    Poisson samples: for one row added or removed; without replacement (`replace`): for one row
    replaced. `side`: the row is "removed" or "added" from the first table to the second; "both":
    the bound holds for either direction. For an added row it is smaller: see `_added`. None for
    zCDP and GDP, and for an infinite loss.
    """
    if side == "added" and not isinstance(algebra, Patterns):
        return _added(algebra, loss, rate)
    match algebra:
        case Patterns():
            return algebra.amplified(loss, rate, replace, side)
        case Pairs():
            return algebra.frontier(
                (amplified_up(epsilon, rate), _thinned(delta, rate)) for epsilon, delta in loss
            )
        case Scalars():
            if algebra.notion is not Notion.PURE or isinstance(loss, float):
                return None
            return amplified_up(loss, rate)


def _added(algebra: Pairs | Scalars, loss: Loss, rate: Fraction) -> Loss | None:
    """Returns the amplified loss of the table without the row against the one with it.

    Theorem `poisson-sample-added`: Q - a·((1-q)Q + q·P) is (1-a(1-q))·(Q - e^u·P) for a =
    1/(1-q+q·e^-u), and 1-a(1-q) = qa·e^-u.
    """
    match algebra:
        case Pairs():
            found = []
            for epsilon, delta in loss:
                share = added_share_up(epsilon, rate)
                plain = bits_up(share * algebra.plain(delta), _BITS)
                found.append((amplified_added_up(epsilon, rate), algebra.delta(plain)))
            return algebra.frontier(found)
        case Scalars():
            if algebra.notion is not Notion.PURE or isinstance(loss, float):
                return None
            return amplified_added_up(loss, rate)


def replaced(algebra: Algebra, once: Loss, both: Loss, rate: Fraction, rounds: int) -> Loss | None:
    """Returns the loss of a replaced row under `rounds` Poisson samples, None if none is known.

    `once`: the loss of one end of the row being present or not; `both`: the loss of the
    replacement. The row is in both samples or in none, which leaves ε and thins δ; or its ends are
    weighed against the rest of the sample, for pure DP ln[(1-q+q·e^u)/(1-q+q·e^(u-b))], for (ε, δ)
    see `_weighed`. At a chosen δ the profile of an exchanged row holds both (`profile.exchange`).
    """
    match algebra:
        case Patterns():
            ways = [algebra.exchanged(once, both, rate, rounds)]
            epsilon = exchanged_up(algebra.pure(once), algebra.pure(both), rate)
            if epsilon is not None:
                ways.append(algebra.one_epsilon(epsilon, rounds, both or once))
            return algebra.best(ways)
        case Pairs():
            found = islice(_weighed(algebra, once, both, rate), _MOST_WAYS)
            best = algebra.best([algebra.frontier(found), coupled(algebra, [(rate, both)])])
            return algebra.times(best, rounds)
        case Scalars():
            if algebra.notion is not Notion.PURE:
                return None
            ends = [None if isinstance(each, float) else each for each in (once, both)]
            epsilon = exchanged_up(ends[0], ends[1], rate)
            return algebra.none if epsilon is None else algebra.times(epsilon, rounds)


def _weighed(
    algebra: Pairs, once: Frontier, both: Frontier, rate: Fraction
) -> Iterator[tuple[Fraction, Any]]:
    """Yields (ε, δ) of a replaced row, from (u, δ) of one end present or not, and (b, δ₂) of both.

    Given the rest of the sample let μ₀ be the law without either row, μ and μ' those with one. Then
    P - a·Q = q·μ - (1-q)(a-1)·μ₀ - qa·μ'. With μ' ≥ e^-u·(μ₀-δ) and μ ≤ e^u·μ₀ + δ this is at most
    qδ(1 + a·e^-u) for a = (1-q+q·e^u)/(1-q+q·e^-u). With μ ≤ e^b·μ' + δ₂ in place of the first, on
    a share of μ, it is at most (1-q)(a-1)e^-u·δ + qa·e^-b·δ₂ for a = (1-q+q·e^u)/(1-q+q·e^(u-b)).
    Both hold on every event, and so for the mixture over the rest of the sample. The first is never
    more than two steps of the amplified loss.
    """

    def pair(grown: Fraction, delta: Fraction) -> tuple[Fraction, Any]:
        return log1p_up(grown - 1), algebra.delta(min(ONE, bits_up(delta, _BITS)))

    for u, told in once:
        if u > MAX_EXPONENT:
            continue
        delta, rise, fall = algebra.plain(told), exp_up(u), exp_up(-u)
        grown = (1 - rate + rate * rise) / (1 - rate + rate / rise)
        yield pair(grown, rate * delta * (1 + grown * fall))
    for (u, told), (b, other) in product(once, both):
        if max(u, b) > MAX_EXPONENT:
            continue
        rise, fall = exp_up(u), exp_up(-u)
        grown = (1 - rate + rate * rise) / (1 - rate + rate / exp_up(b - u))
        share = (1 - rate) * (grown - 1) * fall * algebra.plain(told)
        yield pair(grown, share + rate * grown * exp_up(-b) * algebra.plain(other))


def mixed(
    algebra: Scalars | Pairs,
    more: Sequence[Chance],
    fewer: Sequence[Chance] = (),
    rising: bool = False,
) -> Loss | None:
    """Returns the loss between two mixtures over the parts of a change that a sample may hold.

    `more`: the parts of the rows that one table has and the other has not, as chances that sum to 1
    with the loss of each part against the sample that holds none of these rows; `fewer`: those of
    the other table's rows. Given the rest of the sample let μ₀ be the law where none of these rows
    is drawn. A part of loss (ε, δ) has a law between e^-ε·(μ₀ - δ) and e^ε·μ₀ + δ, so that the
    tables are (ln(Σ w·e^ε / Σ v·e^-ε'), Σ w·δ + Σ w·e^ε · Σ v·e^-ε'·δ' / Σ v·e^-ε')-DP, one to the
    other. None where some part has too large a loss, or every δ reaches 1. `rising`: no part counts
    with a smaller ε than the part before, as for a fixed-size sample (`profile.replaced_rows`).
    """
    ways: Iterable[Sequence[tuple[Any, Fraction]]]
    if isinstance(algebra, Scalars):
        ways = [[(loss, ZERO) for _, loss in (*more, *fewer)]]
    else:
        ways = islice(_ways(algebra, [loss for _, loss in (*more, *fewer)]), _MOST_WAYS)
    chances = [chance for chance, _ in (*more, *fewer)]
    found: list[tuple[Fraction, Any]] = []
    for way in ways:
        if any(epsilon > MAX_EXPONENT for epsilon, _ in way):
            continue
        parts = [(w, *pair) for w, pair in zip(chances, way, strict=True)]
        if rising:
            largest = accumulate((epsilon for _, epsilon, _ in parts), max)
            parts = [(w, e, delta) for e, (w, _, delta) in zip(largest, parts, strict=True)]
        up, down = parts[: len(more)], parts[len(more) :]
        grown = sum((w * (exp_up(epsilon) - 1) for w, epsilon, _ in up), ZERO)
        lost = sum((w * (1 - 1 / exp_up(epsilon)) for w, epsilon, _ in down), ZERO)
        epsilon = log1p_up((grown + lost) / (1 - lost))
        given = sum((w * delta for w, _, delta in up), ZERO)
        other = sum((w * exp_up(-epsilon) * delta for w, epsilon, delta in down), ZERO)
        found.append((epsilon, given + (1 + grown) * other / (1 - lost)))
    if isinstance(algebra, Scalars):
        return found[0][0] if found else None
    pairs = [(epsilon, capped(delta)) for epsilon, delta in found]
    return algebra.frontier((e, algebra.delta(delta)) for e, delta in pairs if delta < 1) or None


def _ways(algebra: Pairs, losses: Sequence[Frontier]) -> Iterator[Sequence[Pair]]:
    """Yields choices of a pair for each loss: all first pairs, all second, …, then every choice.

    Nothing if some loss has no finite bound.
    """
    plain = [[(epsilon, algebra.plain(delta)) for epsilon, delta in loss] for loss in losses]
    if not all(plain):
        return
    for n in range(max(map(len, plain))):
        yield [pairs[min(n, len(pairs) - 1)] for pairs in plain]
    yield from product(*plain)


def coupled(algebra: Algebra, ways: Sequence[Chance]) -> Loss:
    """Returns the loss where the same part of the change, or none, is drawn into both samples.

    `ways`: the chance w and the loss of each part. The result is the largest ε, with δ = Σ w·δ.
    """
    match algebra:
        case Patterns():
            return algebra.coupled(ways)
        case Pairs():
            if not all(loss for _, loss in ways):
                return algebra.none
            least = max(loss[0][0] for _, loss in ways)
            found = []
            for epsilon in {each for _, loss in ways for each, _ in loss if each >= least}:
                delta = ZERO
                for chance, loss in ways:
                    told = next(told for other, told in reversed(loss) if other <= epsilon)
                    delta += chance * algebra.plain(told)
                delta = delta if len(ways) == 1 else bits_up(delta, _BITS)
                if delta < 1:
                    found.append((epsilon, algebra.delta(delta)))
            return algebra.frontier(found)
        case Scalars():
            return unamplified(algebra, algebra.worst_case(loss for _, loss in ways))


def allocated(algebra: Algebra, loss: Loss, steps: int, side: str = "both") -> Loss:
    """Returns the loss of a row that takes part in one of so many steps, drawn uniformly.

    `loss`: in one step. The step may as well be public (profiles are jointly convex, Rényi
    divergences jointly quasi-convex); only Gaussian noise at a chosen δ hides which one it is.
    """
    return algebra.allocated(loss, steps, side) if isinstance(algebra, Patterns) else loss


def cut_off(
    algebra: Algebra, usual: Loss | None, full: Loss | None, chance: tuple[Fraction, Fraction]
) -> Loss | None:
    """Returns the loss of what reads a Poisson sample that is cut to a size.

    `usual`: where the other rows drawn are fewer than that, so that nothing is cut; `full`: else.
    `chance` of the latter: a lower and an upper bound. None where some loss is not known.
    """
    if usual is None or full is None:
        return None
    ways = [(1 - chance[0], usual), (chance[1], full)]
    return algebra.mixture(ways) if isinstance(algebra, Patterns) else coupled(algebra, ways)


def _thinned(delta: Fraction | Survival, rate: Fraction) -> Fraction | Survival:
    """Returns q·δ for the sampling rate q, in the representation of δ."""
    if isinstance(delta, Survival):
        return Survival(1 - rate * (1 - delta.no_failure))
    return delta * rate
