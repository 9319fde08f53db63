"""The greatest privacy loss there can be: an ε at δ = 0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from dpcompose.curves.backends.closed_forms.behind_sample import amplified
from dpcompose.curves.curve import (
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    ReplacedRows,
    Response,
    Sampled,
)
from dpcompose.curves.rounding.doubles import MAX_BITS, shorten
from dpcompose.curves.rounding.exact import (
    MAX_EXPONENT,
    ONE,
    ZERO,
    exchanged_up,
    exp_up,
    log1p_up,
)


def greatest_sum(composition: Curve) -> Fraction | None:
    """Returns the sum of the greatest losses of all parts, which is an ε at δ = 0 but for total
    failure (`no_failure`); None if it is unbounded or not known."""
    if composition.gaussian:
        return None
    total = Fraction(0)
    for part, count in composition.parts:
        if count <= 0:
            continue
        one = greatest_loss(part)
        if one is None:
            return None
        total += one * count
        if total.denominator.bit_length() > MAX_BITS:
            total = shorten(total, up=True)
    return total


def pure_instead(over: Curve, under: Curve) -> bool:
    """Returns whether `over` differs from `under` only by pure-DP losses that are as large as the
    greatest loss of the parts they replace.

    Its profile is then no less, since such a loss dominates every part that never loses more.
    """
    if over.gaussian != under.gaussian or over.no_failure > under.no_failure:
        return False
    ours, theirs = dict(over.parts), dict(under.parts)
    more = [(part, n - theirs.get(part, 0)) for part, n in over.parts]
    less = [(part, n - ours.get(part, 0)) for part, n in under.parts]
    if not all(isinstance(part, Response) for part, n in more if n > 0):
        return False
    free, needed = (
        [(greatest_loss(part), n) for part, n in each if n > 0] for each in (more, less)
    )
    if any(epsilon is None for epsilon, _ in needed):
        return False
    # As many of each size or more.
    sizes = {epsilon for epsilon, _ in needed if epsilon is not None}
    return all(
        sum(n for epsilon, n in free if epsilon is not None and epsilon >= size)
        >= sum(n for epsilon, n in needed if epsilon is not None and epsilon >= size)
        for size in sizes
    )


def greatest_loss(part: Part) -> Fraction | None:
    """Returns the greatest loss of one part, rounded up; None if unbounded or not known."""
    match part:
        case Response(epsilon):
            return epsilon
        case MechanismLoss():
            return part.greatest()
        case Points(points):
            return min((epsilon for epsilon, delta in points if delta == 0), default=None)
        case Sampled(rate, base):
            one = greatest_sum(base) if base.no_failure == 1 else None
            return None if one is None else amplified(one, rate)
        case MixtureOfDraws(ways):
            return _greatest_of([base for _, base in ways])
        case PoissonReplaceOne(rate, once, both):
            ends = [
                None if x is None or x.no_failure < 1 else greatest_sum(x) for x in (once, both)
            ]
            return exchanged_up(ends[0], ends[1], rate)
        case PoissonGroup():
            return sampled_rows_greatest(part)
        case ReplacedRows(chances, once):
            return _replaced_rows_greatest(chances, once)
        case Grouped(base, steps):
            one = greatest_sum(base) if base.no_failure == 1 else None
            return None if one is None else one * steps
        case Maximum(options):
            return _greatest_of(options)
    return None


def _greatest_of(options: Sequence[Curve]) -> Fraction | None:
    """Returns the greatest loss of any of the curves; None if one is unbounded or not known."""
    every = [greatest_sum(each) if each.no_failure == 1 else None for each in options]
    known = [each for each in every if each is not None]
    return max(known) if len(known) == len(every) else None


def sampled_rows_greatest(part: PoissonGroup) -> Fraction | None:
    """Returns ln[Σ w_j·e^u_j / Σ w_i·e^-u_i], the greatest loss of rows that a Poisson sample draws
    one by one, rounded up; None if it is not known.

    w_j: the chance that j of the first table's rows are drawn, w_i that i of the second table's
    are; u: the greatest loss of so many rows.
    """
    found = [greatest_sum(each) if each.no_failure == 1 else None for each in part.once]
    each = [one for one in found if one is not None]
    if len(each) < len(found) or max(each) > MAX_EXPONENT:
        return None

    def mean(rows: int, values: Sequence[Fraction]) -> Fraction:
        known = zip(part.chances(rows), (ONE, *values), strict=False)
        return sum((w * x for w, x in known), ZERO)

    ups = [exp_up(one) for one in each]
    downs = [1 / up for up in ups]
    worst = max(
        mean(here, ups) / mean(there, downs)
        for split in part.splits()
        for here, there in (split, split[::-1])
    )
    return log1p_up(worst - 1)


def _replaced_rows_greatest(chances: Sequence[Fraction], once: Sequence[Curve]) -> Fraction | None:
    """Returns ln Σ w_j·e^u_j, the greatest loss of replaced rows in a sample of fixed size, rounded
    up.

    `chances`: the w_j; `once`: for each j ≥ 1 the curve of j replaced rows, of which u_j is the
    greatest loss.
    """
    found = [
        ZERO,
        *(greatest_sum(each) if each.no_failure == 1 else None for each in once),
    ]
    each = list(accumulate((one for one in found if one is not None), max))
    if len(each) < len(found) or each[-1] > MAX_EXPONENT:
        return None
    grown = (w * (exp_up(one) - 1) for w, one in zip(chances, each, strict=True))
    return log1p_up(sum(grown, ZERO))
