"""Bounds on attacks from (ε, δ) pairs: trade-off function, advantage, chance of success."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, theorem
from dpcompose.core.theorems.composition_profile import rounded
from dpcompose.core.theorems.stability import numbers
from dpcompose.curves.rounding import ONE, ZERO, exp_up

PAIRS = Hypothesis(
    "pairs (ε, δ)",
    "the release is (ε, δ)-DP for each of the pairs, whichever table comes first",
)
ONE_UNIT = Hypothesis(
    "neighbours",
    "the tables that are told apart are neighbours of the relation that is protected",
)
WITHOUT = Hypothesis(
    "the baseline",
    "without the person's data, or with another record in its place, fixed or drawn independently, "
    "the same attack succeeds with at most this chance",
    "declared",
)
SEARCH = "the search for the best ε computes it, of the whole profile of what is composed"
_ONE_PAIR = (numbers("1 0"),)


@theorem(
    "trade-off",
    title="Hits at a rate of false alarms",
    source="DRS22",
    place="Section 2",
    formula="hits ≤ 1 - f(α) = min over (ε, δ) of min(1, δ + e^ε·α, 1 - e^-ε·(1 - δ - α))",
    hypotheses=(PAIRS, ONE_UNIT),
    example=Example(
        (_ONE_PAIR, Fraction(1, 100)),
        Fraction("0.0271828182846"),
        "A test of what is 1-DP that takes 1 of 100 others for one whose data are in finds at "
        "most 2.7183 of 100 of those who are.",
    ),
    for_readers=SEARCH,
    statement="""\
    Whoever tells from a release which of two neighbouring tables was read, and is wrong of the
    one with chance α, is right of the other with chance at most 1 - f(α). The more pairs (ε, δ) are
    known the better: all of them, the whole privacy profile, give the trade-off curve f itself.

    Proof. Let S be the outcomes at which the test says "in", with chance α under Q. For each pair
    P(S) ≤ δ + e^ε·Q(S) = δ + e^ε·α. With the tables in the other order, and what is not in S,
    1 - α ≤ δ + e^ε·(1 - P(S)), so that P(S) ≤ 1 - e^-ε·(1 - δ - α).

    Several changes may be the worst at different ε. The greatest δ of them at each ε then gives the
    lower convex hull of their curves, which holds as well where false alarms and hits are counted
    over many people, who need not meet the same change.
    """,
)
def trade_off(pairs: Sequence[Sequence[Fraction]], rate: Fraction) -> Fraction:
    found = (_by_pair(epsilon, delta, rate) for epsilon, delta in pairs)
    return rounded(max(rate, min((ONE, *found))))


def _by_pair(epsilon: Fraction, delta: Fraction, rate: Fraction) -> Fraction:
    factor = exp_up(epsilon)
    return min(delta + factor * rate, 1 - (1 - delta - rate) / factor)


@theorem(
    "total-variation",
    title="Advantage",
    source="DRS22",
    place="Section 2",
    formula="hits - false alarms ≤ δ(0) ≤ min over (ε, δ) of (e^ε - 1 + 2δ)/(e^ε + 1)",
    hypotheses=(PAIRS, ONE_UNIT),
    specialises=("trade-off",),
    example=Example(
        (_ONE_PAIR,),
        Fraction("0.462117157261"),
        "Of what is 1-DP the advantage is at most tanh(1/2) = 0.4622: who tells of people, half "
        "of whom are in the data, whether they are, is right of at most 73.2 in 100.",
    ),
    for_readers=SEARCH,
    statement="""\
    The hits of a test are above its false alarms by at most δ(0), the total variation of the two
    laws, and some test attains that. A guess between two tables that are equally likely is right
    with chance at most (1 + δ(0))/2.

    Proof. P(S) - Q(S) ≤ δ(0) by definition. From one pair (ε, δ) the largest P(S) - Q(S) within the
    two lines of f is where they meet, at Q(S) = (1 - δ)/(1 + e^ε).
    """,
)
def advantage(pairs: Iterable[Sequence[Fraction]]) -> Fraction:
    found = []
    for epsilon, delta in pairs:
        factor = exp_up(epsilon)
        found.append(1 - 2 * (1 - delta) / (factor + 1))
    return rounded(max(ZERO, min((ONE, *found))))


@theorem(
    "success-from-baseline",
    title="Success of an attack, from what it is against the other table",
    source="KGK25",
    place="Section 3",
    formula="success ≤ 1 - f(κ)  (f as in `trade-off`)",
    hypotheses=(PAIRS, ONE_UNIT, WITHOUT),
    specialises=("trade-off",),
    example=Example(
        (_ONE_PAIR, Fraction(1, 10)),
        Fraction("0.271828182846"),
        "One of ten equally likely values is guessed with chance 1/10; from a release that is "
        "1-DP with chance at most 0.2719.",
    ),
    for_readers=SEARCH,
    statement="""\
    An attack that succeeds with chance κ against M' succeeds with chance at most 1 - f(κ) against
    the release, if it is after a value of a person's record, or most of it. M' is one law, a
    protected step from the release under each secret: the person's data are absent (rows added or
    removed), or another record is in its place, fixed or drawn independently (rows replaced), with
    other values in the columns that may change. One of two equally likely values has κ = 1/2.

    Proof. Let the secret be s with chance π(s), and let the attack win on the outcomes W_s. Let Q
    be the law of M', P_s that with the secret s. As a test, W_s has the
    false alarms Q(W_s), so that P_s(W_s) ≤ h(Q(W_s)) with h = 1 - f. Since h is concave and does
    not fall, Σ π(s)·P_s(W_s) ≤ h(Σ π(s)·Q(W_s)) = h(κ).

    The secrets may be different changes: h is then that of the lower convex hull. Whether a person
    is in the data is another question: with prior 1/2 the answer is right with chance at most
    (1 + δ(0))/2, by the advantage, which is less than 1 - f(1/2). Of Gaussian noise with μ = 1 that
    is 0.6915, and of one of two values 0.8413.
    """,
)
def success(pairs: Sequence[Sequence[Fraction]], baseline: Fraction) -> Fraction:
    return trade_off(pairs, baseline)
