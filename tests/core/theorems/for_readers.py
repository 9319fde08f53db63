"""The bounds of the theorems that are data of the handbook, by which their examples are checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dpcompose import curves
from dpcompose.core.at_delta.worst_trade_off import of_quantity
from dpcompose.core.hypotheses.adversary_bounds import against_point, coupled, in_order, tell_apart
from dpcompose.core.hypotheses.beliefs import NONE, Belief, Between, Block, Exactly, Question
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Amount, Notion, Pair, at_distance, convert
from dpcompose.core.theorems.composition import largest, total, total_pairs
from dpcompose.core.theorems.one_mechanism import worst_moves
from dpcompose.curves import Concentrated, Curve, Renyi
from dpcompose.curves.rounding import (
    ONE,
    ZERO,
    added_share_up,
    amplified_added_up,
    decimal_up,
    exp_up,
    log1p_up,
)
from dpcompose.curves.trade_off import TradeOff

F = Fraction
#: The chances of one outcome under two tables.
Outcome = tuple[Fraction, Fraction]


def rounded(value: Fraction) -> Fraction:
    """An irrational bound in 12 digits, rounded up."""
    return Fraction(decimal_up(value, 12))


def over_blocks(mus_squared: Sequence[Fraction], distances: Sequence[int]) -> Fraction:
    """Returns the μ² of mechanisms on blocks at distances d_i: Σ μ_i²·d_i²."""
    moved: list[Amount] = [
        at_distance(mu_squared, Notion.GDP, distance)
        for mu_squared, distance in zip(mus_squared, distances, strict=True)
    ]
    return total(Fraction(each) for each in moved)


def attacks(pairs: Sequence[Pair]) -> list[TradeOff]:
    """Returns the trade-off curves of (ε, δ), each of which holds."""
    return [of_quantity(Quantity(Notion.APPROX, *pair)) for pair in pairs]


def trade_off(pairs: Sequence[Pair], rate: Fraction) -> Fraction:
    return rounded(min(each.power(rate) for each in attacks(pairs)))


def advantage(pairs: Sequence[Pair]) -> Fraction:
    return rounded(min(each.advantage for each in attacks(pairs)))


def profile_on_disjoint(profiles: Sequence[Sequence[Pair]]) -> tuple[Pair, ...]:
    at = sorted({epsilon for points in profiles for epsilon, _ in points})
    found: list[Pair] = []
    for epsilon in at:
        worst = max(
            min((delta for e, delta in points if e <= epsilon), default=ONE) for points in profiles
        )
        if worst < (found[-1][1] if found else ONE):
            found.append((epsilon, worst))
    return tuple(found)


def bounded_range(eta: Fraction) -> Fraction:
    return eta * eta / 8


def left(losses: Sequence[Fraction], limit: Fraction) -> Fraction | None:
    """Returns the limit minus the sum of the losses; None if that is negative."""
    rest = limit - sum(losses, Fraction(0))
    return rest if rest >= 0 else None


def _pair(question: Question) -> Pair:
    found = against_point(question)
    if found is None:
        raise ValueError("δ reaches 1")
    return rounded(found.epsilon), rounded(found.delta) if found.delta else found.delta


def uniform(pairs: Sequence[Pair], count: int = 1) -> Pair:
    """Returns (ε, δ) of nobody against the uniform hypothesis, with `count` blocks of each pair."""
    blocks = tuple(Block(epsilon, delta, count) for epsilon, delta in pairs)
    everyone = Between(1, count * len(blocks))
    return _pair(Question(blocks, NONE, Belief(((everyone, F(1)),))))


def same(value: Any) -> Any:
    return value


def minimum_privacy(epsilon: Fraction, distances: Sequence[int]) -> Amount:
    return at_distance(epsilon, Notion.PURE, min(distances))


def padding(epsilon: Fraction, whole: int | float, removed: int, added: int) -> Amount:
    return at_distance(epsilon, Notion.PURE, int(min(whole, max(removed, added))))


def gaussian_curve(mu_squared: Fraction, delta: Fraction) -> Fraction | None:
    found = Curve((), mu_squared).epsilon(delta=delta)
    return None if found is None else rounded(found.upper)


def zcdp_at_delta(rho: Fraction, delta: Fraction) -> Fraction | None:
    if rho == 0:
        return ZERO
    found = Curve(((Concentrated(rho), 1),)).epsilon(delta=delta)
    return None if found is None else rounded(found.upper)


def renyi_at_delta(points: Sequence[Sequence[Fraction]], delta: Fraction) -> Fraction | None:
    curve = Renyi(tuple(sorted((alpha, epsilon) for alpha, epsilon in points)))
    found = Curve(((curve, 1),)).epsilon(delta=delta)
    return None if found is None else rounded(found.upper)


def dominating_pairs(parts: Sequence[Sequence[Outcome]], factor: Fraction) -> Fraction:
    joint: Mapping[Outcome, int] = Counter({(ONE, ONE): 1})
    for part in parts:
        extended: Counter[Outcome] = Counter()
        for (first, second), times in joint.items():
            for p, q in part:
                extended[first * p, second * q] += times
        joint = extended
    above = (times * (p - factor * q) for (p, q), times in joint.items() if p > factor * q)
    return sum(above, ZERO)


def optimal_composition(stated: Sequence[Pair], delta: Fraction) -> Fraction | None:
    found = curves.compose(*(curves.approx(*pair) for pair in stated)).epsilon(delta=delta)
    return None if found is None else rounded(found.upper)


def approx_filter(losses: Sequence[Pair], limit: Pair) -> Pair | None:
    epsilon = left([each for each, _ in losses], limit[0])
    delta = left([each for _, each in losses], limit[1])
    return None if epsilon is None or delta is None else (epsilon, delta)


def kept_columns(epsilon: Fraction, uses: Collection[str], changes: Collection[str]) -> Fraction:
    return epsilon if set(uses) & set(changes) else Fraction(0)


def joint_bound(values: Sequence[tuple[Fraction, Fraction]], l1: Fraction) -> Fraction:
    """Returns the largest Σ e·v over 0 ≤ v ≤ s, Σ v ≤ l1, for pairs (e, s)."""
    moves = worst_moves(values, l1)
    return sum((e * v for (e, _), v in zip(values, moves, strict=True)), ZERO)


def truncated_poisson(full: Fraction, usual: Fraction, cut: Fraction) -> Fraction:
    """Returns the δ at some ε, from the chance that a sample is full without the row, and the δ
    where it is not and where it is."""
    return (1 - full) * usual + full * cut


def sample_with_replacement(chances: list[Fraction], losses: list[Fraction]) -> Fraction:
    """Returns the ε of one row replaced, from the chances that it is drawn never, once, …, and the
    ε of so many rows replaced in the sample."""
    grown = (w * (exp_up(epsilon) - 1) for w, epsilon in zip(chances, losses, strict=True))
    return log1p_up(sum(grown, Fraction(0)))


def random_allocation(mu: Fraction, steps: int, epsilon: Fraction) -> Fraction:
    """Returns the δ at ε of one epoch of so many steps, each μ-GDP."""
    return curves.gdp(mu).allocate(steps).delta(epsilon=epsilon).upper


def poisson_added(pair: Pair, rate: Fraction) -> Pair:
    epsilon, delta = pair
    return amplified_added_up(epsilon, rate), added_share_up(epsilon, rate) * delta


def mixture(cases: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Pair:
    blocks = tuple(Block(epsilon, delta) for _, epsilon, delta in cases)
    parts = tuple((Exactly(frozenset({i})), case[0]) for i, case in enumerate(cases))
    return _pair(Question(blocks, NONE, Belief(parts)))


def halves(composed: Sequence[Pair]) -> Pair:
    k = len(composed)
    cases = [
        (F(2 ** (k - i), 2**k - 1), epsilon, delta)
        for i, (epsilon, delta) in enumerate(composed, 1)
    ]
    return mixture(cases)


def coupling(pairs: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Pair:
    found = coupled(
        [(i, 0, weight) for i, (weight, _, _) in enumerate(pairs)],
        lambda i, _: (pairs[i][1], pairs[i][2]),
    )
    return found.loss, found.delta


def refine_tuples(
    first: Sequence[Fraction], second: Sequence[Fraction]
) -> tuple[tuple[int, int, Fraction], ...]:
    return in_order(first, second, lambda i, j: (F(0), F(0))).pairs


def likelihoods(
    epsilons: Sequence[Fraction],
    first: Sequence[tuple[Sequence[int], Fraction]],
    second: Sequence[tuple[Sequence[int], Fraction]],
) -> Fraction:
    sides = [
        Belief(tuple((Exactly(frozenset(members)), weight) for members, weight in side))
        for side in (first, second)
    ]
    blocks = tuple(Block(epsilon) for epsilon in epsilons)
    return rounded(tell_apart(Question(blocks, sides[0], sides[1]))[0].epsilon)


#: The bound of each theorem, by its id.
BOUNDS: Mapping[str, Callable[..., Any]] = {
    "II.5": lambda epsilon, times: epsilon * times,
    "II.6": total,
    "II.7": total,
    "II.8": largest,
    "II.9": lambda epsilons: None,
    "III.4": lambda: None,
    "VI.24": over_blocks,
    "VI.25": lambda distances: over_blocks([ONE] * len(distances), distances),
    "VII.3": same,
    "trade-off": trade_off,
    "total-variation": advantage,
    "success-from-baseline": trade_off,
    "profile-on-disjoint": profile_on_disjoint,
    "bounded-range": bounded_range,
    "zcdp-filter-aside": approx_filter,
    "IV.10": minimum_privacy,
    "IV.15": padding,
    "VII.1": same,
    "VII.2": same,
    "gaussian-curve": gaussian_curve,
    "zcdp-at-delta": zcdp_at_delta,
    "renyi-at-delta": renyi_at_delta,
    "dominating-pairs": dominating_pairs,
    "optimal-composition": optimal_composition,
    "pure-to-zcdp": lambda epsilon: convert(epsilon, Notion.PURE, Notion.ZCDP),
    "pure-to-gdp": lambda epsilon: convert(epsilon, Notion.PURE, Notion.GDP),
    "gdp-to-zcdp": lambda mu_squared: convert(mu_squared, Notion.GDP, Notion.ZCDP),
    "pure-filter": left,
    "approx-filter": approx_filter,
    "zcdp-filter": left,
    "gdp-filter": left,
    "kept-columns": kept_columns,
    "joint-l1": joint_bound,
    "concurrent-pure": total,
    "concurrent-approx": total_pairs,
    "concurrent-zcdp": total,
    "concurrent": total,
    "concurrent-filter": total,
    "poisson-sample-added": poisson_added,
    "truncated-poisson-sample": truncated_poisson,
    "sample-with-replacement": sample_with_replacement,
    "random-allocation": random_allocation,
    "HBW.1": same,
    "HBW.mixture": mixture,
    "HBW.3": halves,
    "HBW.6": uniform,
    "HBW.7": lambda epsilon, delta, blocks: uniform([(epsilon, delta)], blocks),
    "HBW.coupling": coupling,
    "HBW.A3": refine_tuples,
    "HBW.likelihoods": likelihoods,
}
