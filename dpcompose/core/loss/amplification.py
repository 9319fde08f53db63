"""What a secret random sample makes of a loss below it, in each algebra (theory, section 7).

Whatever is drawn, two tables with coupled samples differ in the sample by what they differ in, or
not at all: a mixture is never worse than its worst part, so the loss itself always holds. For zCDP
and GDP nothing better is known in their own terms; as profiles they are amplified.
"""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.loss.algebras import Loss, Pairs, Scalars, Survival
from dpcompose.core.loss.pattern_algebra import Algebra, Patterns
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.exact import amplified_up, exchanged_up


def unamplified(algebra: Algebra, loss: Loss) -> Loss:
    """The loss as if the sample were public.

    A ρ or a μ that forgets the sample says nothing of what is released (a profile does), so that
    none is given.
    """
    if isinstance(algebra, Scalars) and algebra.notion is not Notion.PURE:
        return algebra.none if loss else loss
    return algebra.from_above(loss) if isinstance(algebra, Patterns) else loss


def amplified(
    algebra: Algebra, loss: Loss, rate: Fraction, replace: bool = False, side: str = "both"
) -> Loss | None:
    """ε becomes ln(1+q(e^ε-1)), δ becomes qδ: the whole profile moves (Balle et al. 2018).

    Poisson: for one row added or removed; without replacement: for one row replaced.
    """
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


def stepwise(algebra: Algebra, row: Loss | None, steps: int, rounds: int) -> Loss | None:
    """`rounds` draws under several rows one by one, from the amplified loss of one row and draw.

    Each draw at its group distance, or the composition of all draws at its own.
    """
    if row is None:
        return None
    each = algebra.times(algebra.chain([(row, steps)]), rounds)
    if not isinstance(algebra, Patterns) or rounds == 1:
        return each
    return algebra.best([each, algebra.chain([(algebra.times(row, rounds), steps)])])


def replaced(algebra: Algebra, once: Loss, both: Loss, rate: Fraction, rounds: int) -> Loss | None:
    """A replaced row under `rounds` Poisson samples, from the losses of one end and of both.

    Two steps of the amplified loss; or the row is in both samples or in none, which keeps ε and
    thins δ; for pure DP ln[(1-q+q·e^u)/(1-q+q·e^(u-b))] covers both, as the profile of an exchanged
    row does (`profile.exchange`).
    """
    match algebra:
        case Patterns():
            ways = [algebra.exchanged(once, both, rate, rounds)]
            epsilon = exchanged_up(algebra.pure(once), algebra.pure(both), rate)
            if epsilon is not None:
                ways.append(algebra.one_epsilon(epsilon, rounds, both or once))
            return algebra.best(ways)
        case Pairs():
            steps = algebra.chain([(amplified(algebra, once, rate), 2)])
            best = algebra.best([steps, thinned(algebra, both, rate)])
            return algebra.times(best, rounds)
        case Scalars():
            if algebra.notion is not Notion.PURE:
                return None
            ends = [None if isinstance(each, float) else each for each in (once, both)]
            epsilon = exchanged_up(ends[0], ends[1], rate)
            return algebra.none if epsilon is None else algebra.times(epsilon, rounds)


def thinned(algebra: Algebra, loss: Loss, rate: Fraction) -> Loss:
    """The row is drawn into both samples or into none: ε stays, δ is multiplied by the rate."""
    match algebra:
        case Patterns():
            return algebra.coupled(loss, rate)
        case Pairs():
            return algebra.frontier((epsilon, _thinned(delta, rate)) for epsilon, delta in loss)
        case Scalars():
            return unamplified(algebra, loss)


def _thinned(delta: Fraction | Survival, rate: Fraction) -> Fraction | Survival:
    if isinstance(delta, Survival):
        return Survival(1 - rate * (1 - delta.stay))
    return delta * rate
