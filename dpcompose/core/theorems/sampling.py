"""Amplification by sampling: bounds for mechanisms that read a secret random sample."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Notion, Pair
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems.runs import (
    replaced_through_sample,
    through_limit,
    through_sample,
)
from dpcompose.curves.rounding import amplified_up, exchanged_up

SECRET = Hypothesis(
    "secret sample", "nobody learns which rows were drawn, except through the outputs", "declared"
)
POISSON = Hypothesis(
    "Poisson sampling",
    "each row is drawn by itself, with the same chance q",
    "declared",
    holds.poisson,
)
WITHOUT = Hypothesis(
    "without replacement",
    "every set of m rows is drawn with the same chance",
    "declared",
)
ONCE = Hypothesis(
    "amplified once",
    "all that reads one sample, or what is made from it, is composed before",
    test=holds.one_mechanism,
)
ON_SAMPLE = Hypothesis(
    "stated on the sample",
    "the guarantee is for neighbouring samples, or for what is made of them; one stated above "
    "contains what is drawn already, and is not amplified",
    test=holds.on_what_it_reads,
)
ONE_ROW = Hypothesis(
    "one row added or removed",
    "unbounded neighbours of the sample; for the table too, or what is protected is a few such "
    "rows, one after the other, or all rows of a unit, of which at most so many can be drawn",
    test=holds.rows_at_sample,
)
IN_EPSILON = Hypothesis(
    "an amplified loss",
    "the loss is an ε, or an (ε, δ): a ρ or a μ is not amplified",
    test=holds.in_epsilon,
)
REPLACED = Hypothesis(
    "one row replaced",
    "bounded neighbours, for the sample and for the table",
    test=holds.replaced_at_sample,
)
BOTH_STATED = Hypothesis(
    "u and b",
    "the loss at the sample is u for one row added or removed (or unknown), and b for one replaced",
    test=holds.known_at_sample,
)
PUBLIC_SIZE = Hypothesis(
    "public size",
    "the table has a public number n of rows, or a public lower bound of it",
    test=holds.of_public_size,
)


def amplified(pair: Pair, rate: Fraction) -> Pair:
    """Returns the (ε, δ) for one row of a sample of this rate, given that at the sample."""
    epsilon, delta = pair
    return amplified_up(epsilon, rate), rate * delta


theorem(
    "poisson-sample",
    title="Poisson sampling",
    source="BBG18",
    place="Theorem 8",
    formula="δ'(ln(1 + q(e^ε - 1))) = q · δ(ε)",
    hypotheses=(ONCE, POISSON, SECRET, ON_SAMPLE, ONE_ROW, IN_EPSILON),
    example=Example(
        ((Fraction("6.8"), Fraction("4.08e-8")), Fraction("0.124")),
        (Fraction("4.72036377561"), Fraction("5.0592e-9")),
        "(6.8, 4.08e-8) on a sample of 12.4 % of the customers is (4.7203638, 5.0592e-9); 12.4 % "
        "of the ε would be 0.8432, which is not true.",
        digits=12,
    ),
    departs="Printed for one mechanism. Whatever reads the sample is one mechanism, so it is "
    "composed first and amplified once: two of ε = 1 on one sample of rate 0.1 cost "
    "ln(1 + 0.1(e^2 - 1)) = 0.4941, not two times 0.1586.",
    uses=(Use(Role.SAMPLE, "release", run=through_sample),),
    statement="""\
    Each row is drawn into a secret sample with chance q, and a mechanism that is (ε, δ)-DP for
    one row added or removed reads the sample. For one row of the table added or removed the release
    is (ln(1 + q(e^ε - 1)), qδ)-DP. The whole profile moves, at every ε ≥ 0.

    Proof. Fix which other rows are drawn. Without the row the output has a law P; with it the law
    is (1 - q)P + qP', where P' is the law if the row is drawn, and P and P' satisfy the
    inequalities of the mechanism. With e^ε' = 1 + q(e^ε - 1), (1 - q)P + qP' - e^ε'·P is
    q(P' - e^ε·P); and where P - e^ε'·((1 - q)P + qP') is positive, P' is below P, and it is at most
    q(P - e^ε·P').

    The same for all rows of a unit, at most m, where ε is for any number of them in the sample:
    some row is drawn with chance 1 - (1 - q)^m, which takes the place of q.

    Of several rows the release is a mixture: n rows are drawn j at a time with the binomial chances
    w_j. If j rows more in the sample lose ε_j, the release loses ln Σ w_j·e^ε_j where all are in
    the same table, and ln(Σ w_i·e^ε_i / Σ w_j·e^-ε_j) where some are in one and some in the other.
    With δ_j beside, for all in one table: Σ w_j·δ_j, or Σ w_j·e^-ε_j·δ_j / Σ w_j·e^-ε_j where that
    is more. At a chosen δ a test of level x without the rows has at most the power Σ w_j·β_j(x)
    with them, where β_j is that for j rows more in the sample.

    There is no amplified ρ or μ: at high orders the divergence of the release is nearly that of the
    mechanism, however small q is. At a chosen δ the profile gives a number. What is pure is
    amplified as that, and then read as ρ or μ.
    """,
)(amplified)


theorem(
    "poisson-sample-added",
    title="Poisson sampling and a row added",
    source="dpcompose",
    place="Documentation",
    formula="δ'(-ln(1 - q + q·e^-ε)) = q·e^(ε' - ε) · δ(ε)",
    hypotheses=(
        ONCE,
        POISSON,
        SECRET,
        ON_SAMPLE,
        Hypothesis(
            "one way round",
            "the table without the row is weighed against the table with it, and not the other way",
        ),
        IN_EPSILON,
    ),
    example=Example(
        ((Fraction(1), Fraction(0)), Fraction("0.1")),
        (Fraction("0.0652983359989"), Fraction(0)),
        "ε = 1 on a sample of rate 0.1 is 0.0653 for a row added, where it is 0.1586 for one "
        "removed: a row that moves from one sampled block to another costs 0.2239, not 0.3172.",
        digits=12,
    ),
    uses=(Use(Role.SAMPLE_ADDED),),
    for_readers="it bounds what a replaced row does in the block that it is put in, one way round, "
    "and never a release by itself, of which both ways are asked",
    statement="""\
    Each row is drawn into a secret sample with chance q, and a mechanism that is (ε, δ)-DP for
    one row added or removed reads the sample. Then Q, the law of the release without some row, is
    at most e^ε'·P + δ' on every event, where P is that with the row and ε' = -ln(1 - q + q·e^-ε),
    δ' = q·e^(ε'-ε)·δ. This is less than `poisson-sample` says of P against Q, and never more than
    -ln(1 - q): each outcome without the row is as likely with it, but for the chance to draw it.

    Proof. With P_1 the law if the row is drawn P is (1-q)Q + q·P_1. For a = e^ε' the difference
    Q - a·P is (1 - a(1-q))·Q - aq·P_1 = aq·e^-ε·(Q - e^ε·P_1), as 1 = a(1-q) + aq·e^-ε.

    Where samples are drawn from each block by itself, a replaced row that leaves one block and
    enters another is removed from the sample of the one and added to that of the other. These are
    drawn apart, so that the two losses add up: with U = ln(1 + q(e^ε-1)) for the block that is left
    and this ε' for the one that is entered, U + ε'; and, since either table may be the first, the
    worst of both ways round. With one ε and one q that is ln[(1-q+q·e^ε)/(1-q+q·e^-ε)], as if the
    sample were drawn before the table is partitioned (`poisson-sample-replaced`).
    """,
)(None)


@theorem(
    "poisson-sample-replaced",
    title="Poisson sampling and a replaced row",
    source="dpcompose",
    place="Documentation",
    formula="ε' = ln( (1 - q + q·e^u)/(1 - q + q·e^(u-b)) ),  b ≤ 2u",
    hypotheses=(
        Hypothesis(
            "pure DP",
            "the losses at the sample are u and b, without a δ",
            test=holds.in_notion(Notion.PURE),
        ),
        ONCE,
        POISSON,
        SECRET,
        ON_SAMPLE,
        REPLACED,
        BOTH_STATED,
    ),
    example=Example(
        (Fraction(1), Fraction(2), Fraction("0.1")),
        Fraction("0.22386341474"),
        "u = 1 and b = 2 on a sample of rate 0.1 are 0.2239; two steps of the amplified loss would "
        "be 0.3172.",
        digits=12,
    ),
    notion=Notion.PURE,
    uses=(Use(Role.SAMPLE_REPLACED, "release", run=replaced_through_sample),),
    statement="""\
    Each row is drawn into a secret sample with chance q, and what reads the sample loses at most
    u for one row added or removed there and at most b for one row replaced. Then for one row of the
    table replaced the release loses at most the ε' of the formula.

    Proof. For fixed other rows drawn let P be the law of the output without the row, P_1 with it
    and P_2 with its replacement. The ratio to bound is that of (1 - q) + q·P_1/P to
    (1 - q) + q·P_2/P, where P_1/P is at most e^u and P_2/P at least e^-b·P_1/P. It grows with
    P_1/P, so that both are attained at e^u and e^(u-b).

    With q = 1 it is b. For (u, δ) per row added or removed the same ε', with b = 2u, has δ' =
    qδ(1 + e^(ε'-u)): P_1 is at most e^u·P + δ on any event, and P_2 at least e^-u·(P - δ). With
    (b, δ₂) per row replaced ε' has δ' = (1-q)(e^ε'-1)e^-u·δ + q·e^(ε'-b)·δ₂. A guarantee for
    replaced rows alone keeps its ε, since both rows may be drawn; its δ becomes qδ. Of several rows
    j are drawn with the chance w_j: drawn alike from both tables, they lose Σ w_j·δ_j at every ε,
    where δ_j is that of j rows replaced.

    At a chosen δ the tool composes the whole profile of the replaced row. Let δ₁ be the profile of
    one row added or removed, δ₂ that of one replaced, A = (1-q)(e^ε - 1) and B = q·e^ε. Since
    (1-q)P + q·P_1 - e^ε((1-q)P + q·P_2) is q·P_1 - A·P - B·P_2, the replaced row has at ε no more
    than q·δ₁(ln((A + B·s)/q)) + B·s·δ₁(ln(1/s)) for any s ≥ 0, from -B·P_2 = -B·s·P + B(s·P - P_2),
    and no more than t·q·δ₁(ln(A/(t·q))) + (1-t)·q·δ₂(ln(B/((1-t)·q))) for any t from 0 to 1.
    """,
)
def poisson_replaced(single: Fraction | None, replaced: Fraction, rate: Fraction) -> Fraction:
    """Returns the ε of one replaced row of the whole table, rounded up."""
    found = exchanged_up(single, replaced, rate)
    assert found is not None
    return found


@theorem(
    "sample-without-replacement",
    title="Sampling without replacement",
    source="BBG18",
    place="Theorem 9",
    formula="δ'(ln(1 + q(e^ε - 1))) = q · δ(ε),  q = m/n",
    hypotheses=(ONCE, WITHOUT, PUBLIC_SIZE, SECRET, ON_SAMPLE, REPLACED, IN_EPSILON),
    example=Example(
        ((Fraction(2), Fraction(0)), 10, 100),
        (Fraction("0.494028708045"), Fraction(0)),
        "ε = 2 on 10 of 100 rows is ln(1 + 0.1(e^2 - 1)) = 0.4940.",
        digits=12,
    ),
    departs="Printed for a known n. The formula grows with q, so a lower bound of n will do. A "
    "guarantee for added and removed rows of the sample first becomes one for replaced rows, at "
    "distance 2.",
    uses=(Use(Role.SAMPLE_OF_SIZE, "release", run=through_sample),),
    statement="""\
    A secret set of m of the n rows of a table is drawn, and a mechanism that is (ε, δ)-DP for
    one row of the sample replaced reads it. For one row of the table replaced the release is
    (ln(1 + q(e^ε - 1)), qδ)-DP with q = m/n. The whole profile moves, at every ε ≥ 0.

    Proof. Where the row is not drawn the output has a law P for both tables; where it is drawn the
    laws are P_1 and P_2. Put any other row in its place: the samples so made are those without the
    row, each equally often, so that P is a mixture of laws that are one replacement from P_1 and
    from P_2. The inequality of the mechanism for P_1 against P_2 and against P, weighted such that
    the parts of P cancel, gives the bound.

    Of several rows replaced j are drawn with hypergeometric chances w_j. Where j rows replaced in
    the sample lose (ε_j, δ_j), and ε_j does not fall with j, the release is
    (ln Σ w_j·e^ε_j, Σ w_j·δ_j)-DP, which is less than as many steps of one row. At a chosen δ it
    has at ε the least Σ w_j·δ_j(ln(X_j/w_j)) for what of the laws with new rows is left to those
    with old ones.

    It says nothing about rows added or removed: those change the number of rows, and with it the
    chance of every other row to be drawn.
    """,
)
def sample_without_replacement(pair: Pair, size: int, of: int) -> Pair:
    return amplified(pair, Fraction(size, of))


theorem(
    "truncated-poisson-sample",
    title="Poisson sampling cut to a size",
    source="dpcompose",
    place="Theorem",
    formula="δ ≤ (1-p)·δ_q(ε) + p·δ_r(ε)",
    hypotheses=(
        ONCE,
        Hypothesis(
            "Poisson sampling cut at random",
            "each of the n rows, nulls among them, is drawn by itself with the same chance q; of "
            "more than B drawn, B are kept, every set of them with the same chance",
            "declared",
        ),
        Hypothesis(
            "every row has a place",
            "n is public: a row is replaced, or becomes a null, which is drawn and kept as any row",
        ),
        SECRET,
        ON_SAMPLE,
    ),
    example=Example(
        (Fraction(1, 50), Fraction(1, 1000), Fraction(1, 100)),
        Fraction(59, 50_000),
        "With chance 0.02 the other rows drawn are as many as are kept, and δ is 0.01, else 0.001: "
        "in all 0.00118.",
    ),
    uses=(Use(Role.CUT_OFF),),
    for_readers="the kernel weighs whole losses by these chances, not the δ of one ε",
    statement="""\
    Each of n rows is drawn with chance q, by itself; if more than B are drawn, a uniform set of B
    of them is kept. One row is replaced or becomes a null. Let N be how many of the other rows are
    drawn, p = P(N ≥ B), δ_q the profile of a Poisson sample of rate q, and δ_r that of a row that
    is in the sample with chance r = P(Bin(n,q) > B)·B/(n·p), and there in the place of another one.

    Proof. N does not depend on the row, and telling whether N ≥ B makes no loss smaller. Given N <
    B nothing is cut: the sample is a Poisson sample. Given N ≥ B let S be a uniform set of B of the
    others drawn, which is a uniform set of B of all others, whatever N is. The row is drawn with
    chance q, is kept with chance B/(N+1), and then stands in the place of a uniform row of S: its
    chance is the mean of q·B/(N+1), which is r, and does not depend on S. For given S and place let
    P_0 be the law of what is released from S, and P_1 and P_2 those with the old and the new row
    (or null) in that place. The laws are mixtures of (1-r)·P_0 + r·P_1 and of (1-r)·P_0 + r·P_2,
    where P_1 and P_2 are one protected step apart, and each is one row replaced from P_0. That is
    at most r·δ(ε) of the step, and all that `poisson-sample-replaced` says of a rate r. ∎

    Where rows come and go without nulls, how often a sample is cut changes, and nothing is proved
    here; nor where the rows that are drawn last are cut, instead of a random set.
    """,
)(None)


theorem(
    "sample-with-replacement",
    title="Sampling with replacement",
    source="dpcompose",
    place="Theorem",
    formula="δ'(ln Σ w_j·e^ε_j) = Σ w_j·δ_j,  w_j = P(Bin(m, 1/n) = j)",
    hypotheses=(
        ONCE,
        Hypothesis(
            "with replacement",
            "m rows are drawn one after the other, each time every one of n rows with the same "
            "chance, so that a row may be drawn several times",
            "declared",
        ),
        PUBLIC_SIZE,
        SECRET,
        ON_SAMPLE,
        REPLACED,
    ),
    example=Example(
        ([Fraction(9, 10), Fraction(1, 10)], [Fraction(0), Fraction(2)]),
        Fraction("0.494028708045"),
        "A row that is drawn with chance 0.1, and then once, loses ln(1 + 0.1(e^2 - 1)) = 0.4940 "
        "where ε = 2 in the sample.",
        digits=12,
    ),
    uses=(Use(Role.DRAWN_AGAIN),),
    for_readers="the kernel weighs whole losses by these chances, as for several rows drawn",
    statement="""\
    Of n rows one is replaced, and m are drawn one after the other, each time uniformly of all n.
    Where j rows replaced in the sample lose (ε_j, δ_j), ε_0 = 0, and ε_j does not fall with j, the
    release is (ln Σ w_j·e^ε_j, Σ w_j·δ_j)-DP. At a chosen δ whole profiles are compared as for
    several rows of a sample without replacement, with these w_j.

    Proof. The row is drawn K times, K ~ Bin(m, 1/n), at uniform places. Draw a row for every place
    from the other n-1, and an order of the places; then the row, old or new, takes the first K
    places of this order. K does not depend on what was drawn, and given that let P_j and Q_j be the
    laws of what is released where the old and the new row take j places; P_0 = Q_0. P_j is j rows
    replaced from each Q_i with i ≤ j, so that P_j ≤ e^ε_j·Q_i + δ_j on every event. For a = Σ
    w_j·e^ε_j and each k, Σ w_j·e^ε_j over j ≤ k is at most a·Σ w_j over j ≤ k, as ε_j does not
    fall: so a·Σ w_i·Q_i can be shared out such that each w_j·P_j gets w_j·e^ε_j of Q_i with i ≤ j.
    A larger n makes K smaller, for which P_j stays that near. ∎

    Numbers that are hardly told apart count as the next larger one. A row that comes or goes
    changes the chance of every other row to be drawn: nothing is said of that.
    """,
)(None)


theorem(
    "random-allocation",
    title="Random allocation (balls in bins)",
    source="dpcompose",
    place="Theorem",
    formula="δ(ε) = E(L-e^ε)₊ or E(1-e^ε·L)₊,  L = (X_1+…+X_t)/t,  X_i = e^(μZ_i-μ²/2)",
    hypotheses=(
        Hypothesis(
            "balls in bins",
            "each row takes part in one of t steps of an epoch, drawn uniformly, in secret and "
            "independently of all other rows",
            "declared",
        ),
        Hypothesis(
            "one row comes or goes",
            "for one row added or removed, or a row that becomes a null, as if absent; several "
            "rows, and a row replaced, are a path of such steps",
        ),
        Hypothesis(
            "Gaussian noise",
            "what is released in a step is Gaussian DP with μ, all of a step together; of anything "
            "else the step counts as known",
        ),
        ON_SAMPLE,
    ),
    example=Example(
        (Fraction(1), 2, Fraction(1, 2)),
        Fraction("0.14918"),
        "With two steps and μ = 1 in each δ(1/2) is 0.1491775; 0.1491799 is certified. With one "
        "step it is 0.2384.",
        digits=5,
    ),
    uses=(Use(Role.ALLOCATED),),
    for_readers="the law of L is put on a grid, and answers many questions",
    statement="""\
    Each row takes part in one of t steps, drawn uniformly, in secret and independently of the
    others; what is released in a step, with all that was seen before as its parameters, is μ-GDP
    for one row. For one row added or removed all t steps together are dominated by P = mean of
    N(μ·e_i, I) over i = 1…t against Q = N(0, I). Epochs with fresh bins compose; with the same bins
    each step has μ·√E.

    Proof. Fix the steps of the other rows. By Blackwell's theorem a μ-GDP step is some channel of
    one number, N(μ, 1) if the row takes part and N(0, 1) if not, which may depend on the past. So
    if z is drawn from P or from Q, the channels applied to z_1, …, z_t one after the other give the
    law of all steps with the row in a uniform one, or without it. Bins of others do not depend on
    the row, and profiles are jointly convex. ∎

    L = dP/dQ is the mean of t independent log-normal X_i under Q. Both (L-e^ε)₊ and (1-e^ε·L)₊ are
    convex in L. So a number whose mass is moved to the two grid points around it with the same mean
    has larger δ in both orders, and so has a sum of independent numbers each moved so (convex
    order); the result is the likelihood ratio of a pair that dominates, and composes. What is cut
    off above M adds at most E(X_i-M)₊ to δ one way and nothing the other way. No number is drawn at
    random.

    Batches of a fixed size by shuffling are another law: there rows are not independent, and
    `map: {kind: batches}` counts a step as known. For what is not Gaussian the step counts as known
    too: given it one step differs, and a mixture is no worse than its worst part. Theorem and pair:
    Chua et al. 2025, Feldman and Shenfeld 2025, of which the abstracts were read.
    """,
)(None)


@theorem(
    "random-limit",
    title="One row of each key, drawn at random",
    source="dpcompose",
    place="Documentation",
    formula="δ'(ε) = max( δ_u(ε), δ_b(ln(2e^ε - 1))/2 ),  for pure DP ε' = max(u, ln((1+e^b)/2))",
    hypotheses=(
        ONCE,
        Hypothesis(
            "one row of each key",
            "a limit or a cap draws one row of each key, every row of the key with the same chance "
            "and each key by itself",
            "declared",
            holds.draws_one_row,
        ),
        SECRET,
        ON_SAMPLE,
        Hypothesis(
            "one row added or removed",
            "one row comes or goes above the limit; several rows are a path of such steps",
            test=holds.one_row_at_limit,
        ),
        IN_EPSILON,
    ),
    example=Example(
        ((Fraction(2), Fraction(0)),),
        (Fraction("1.43378083049"), Fraction(0)),
        "ε = 1 for a row added or removed below the limit is 2 for one replaced there, and "
        "ln((1+e^2)/2) = 1.4338 for a row of the table, not 2.",
        digits=12,
    ),
    uses=(Use(Role.DISPLACED, "release", run=through_limit),),
    statement="""\
    A limit draws one row of each key, uniformly and each key by itself. All that reads the
    result together has the profile δ_u for one row added or removed there, and δ_b for one row
    replaced by another one of its key. For one row of the table added or removed the release has at
    every ε ≥ 0 at most the larger one of δ_u(ε) and δ_b(ln(2e^ε - 1))/2.

    Proof. If the key of the row has n other rows, the row is drawn with chance p = 1/(n+1). For
    n = 0 it comes, which is one row added: δ_u. For n ≥ 1 let y be one of the n others, each with
    the same chance, and c what is drawn of all other keys, both as without the row. Given c, let
    Q_y be the law of the output with y in the result, and R that with the new row in its place.
    Given that the new row is not drawn, each of the others is drawn with the same chance as
    without it. So the laws without and with the row are mixtures of Q_y and of (1-p)Q_y + p·R with
    the same weights over c and y. Profiles are jointly convex: a bound for each such pair holds for
    the mixtures, also beside other releases on the table. With e^ε = 1 + p(e^x - 1) the difference
    (1-p)Q_y + p·R - e^ε·Q_y is p(R - e^x·Q_y), and where Q_y - e^ε((1-p)Q_y + p·R) is positive it
    is at most p(Q_y - e^x·R), as for a Poisson sample of rate p (`poisson-sample`). As p ≤ 1/2, the
    law for p is a mixture of Q_y and the law for p = 1/2, which by convexity is the worst.

    All that reads one draw is composed first. Several rows, and a row that leaves one key for
    another one, are a path of single rows; of each key another row is drawn by itself. A row
    replaced within its key may be the only one of it, and nothing is gained. A guarantee stated
    above the limit covers the draw already. There is no amplified ρ or μ.
    """,
)
def displaced_row(pair: Pair) -> Pair:
    return amplified(pair, Fraction(1, 2))
