"""Distances: group privacy, changes of relation, preprocessing, and what a mechanism depends on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.exact import geometric_up
from dpcompose.core.guarantee import Amount, Notion, Pair, at_distance, chain_pairs
from dpcompose.core.theorem import Example, Hypothesis, theorem

PATH = Hypothesis(
    "path inside the domain",
    "the steps that lead from one table to the other pass only through tables for which the "
    "guarantee is claimed",
    "declared",
)
DETERMINISTIC = Hypothesis(
    "a function of its parent",
    "the map uses nothing but the dataset that it is made from",
    "declared",
)
SEES_ONLY_INPUT = Hypothesis(
    "sees only its input",
    "the output depends on the table of the statement only through the dataset read",
    "declared",
)


def numbers(text: str) -> tuple[Fraction, ...]:
    """The numbers of a worked example, written with blanks between them."""
    return tuple(Fraction(each) for each in text.split())


@theorem(
    "III.3",
    title="Group privacy",
    place="Theorem III.3",
    formula="ε(D, D') = ε · d(D, D')",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.4"), 3), Fraction("1.2"), "0.4 for one step is 1.2 for tables 3 steps apart."
    ),
)
def group_privacy(epsilon: Fraction, distance: int) -> Amount:
    """A mechanism is ε-DP for a neighbouring relation exactly when, for every two tables, its loss
    is at most ε times the number of steps of the relation that lead from one to the other.

    The steps are counted inside the domain of the guarantee. Where no path exists the distance is
    infinite and nothing is promised.
    """
    return at_distance(epsilon, Notion.PURE, distance)


@theorem(
    "III.4",
    title="Relations without neighbours promise nothing",
    place="Example III.4",
    formula="no bound: the guarantee is vacuous",
    hypotheses=(
        Hypothesis("fixed size", "all tables of the domain have the same, public number of rows"),
        Hypothesis("one row added or removed", "the guarantee is for unbounded neighbours"),
    ),
    example=Example(
        (), None, "On tables of 100 rows, printing the table itself is unbounded 0-DP."
    ),
)
def no_neighbours() -> None:
    """Among tables of one public size nobody can add or remove a single row, so there are no
    unbounded neighbours and every mechanism, even one that prints the table, satisfies the
    definition with ε = 0.

    Such a statement says nothing. It is reported as an error, never as a loss of 0, and never
    carried over to bounded neighbours.
    """


@theorem(
    "III.6",
    title="Preprocessing",
    place="Proposition III.6",
    formula="ε = Δf · ε'",
    hypotheses=(
        Hypothesis(
            "finite sensitivity",
            "one step at the parent is at most Δf steps (or units of distance) at the dataset read",
        ),
        DETERMINISTIC,
    ),
    example=Example(
        (Fraction("0.1"), Fraction(5)),
        Fraction("0.5"),
        "A document gives at most 5 rows; 0.1 for one row is 0.5 for one document.",
    ),
    spec="specs/documents-words.yaml",
)
def preprocessing(epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    """A mechanism reads not a table but what a map makes of it. If one step at the table moves the
    result of the map by at most Δf, the loss for one step at the table is at most Δf times the loss
    for one step, or one unit of distance, at the result.

    The converse fails: a map can shield a mechanism that is not private by itself.
    """
    return epsilon * sensitivity


@theorem(
    "III.8",
    title="Stabilities multiply",
    place="Proposition III.8",
    formula="Δ(g after f) = Δf · Δg",
    hypotheses=(Hypothesis("chain of maps", "each map reads what the one before it has made"),),
    example=Example(
        (numbers("3 2"),), Fraction(6), "3 words of a document, 2 rows for each: 6 for a document."
    ),
    spec="specs/documents-words.yaml",
)
def chained(sensitivities: Sequence[Fraction]) -> Fraction:
    """The sensitivity of several maps, one after the other, is at most the product of their
    sensitivities.
    """
    return math.prod(sensitivities, start=Fraction(1))


@theorem(
    "A.3",
    title="Change of relation",
    place="Proposition A.3",
    formula="ε for G2 = k · ε for G1,  k = the most G1-steps that one G2-step takes",
    hypotheses=(
        Hypothesis("finite distance", "a step of the relation protected is at most k stated steps"),
        PATH,
    ),
    specialises=("III.6",),
    example=Example(
        (Fraction("0.4"), 2),
        Fraction("0.8"),
        "Replacing a row is removing one and adding one: unbounded 0.4 is bounded 0.8.",
    ),
    departs="Printed for metrics and pure DP. The tool uses it for every notion: the k steps are "
    "charged by the group privacy of the notion (III.3, VI.3, VI.12, VI.20).",
    spec="specs/households-declared.yaml",
)
def change_of_relation(epsilon: Fraction, steps: int) -> Amount:
    """If one step of the relation G2 can always be walked in at most k steps of the relation G1,
    distances in G1 are at most k times distances in G2, and a guarantee for G1 gives one for G2 at
    group distance k.

    Removing and adding one row makes one replacement, so k = 2 from unbounded to bounded; no number
    of replacements adds a row, so there is no k from bounded to unbounded.
    """
    return at_distance(epsilon, Notion.PURE, steps)


@theorem(
    "IV.10",
    title="Minimum privacy",
    place="Proposition IV.10",
    formula="ε(D, D') = ε · min d(E, E') over E, E' with f(E) = f(D), f(E') = f(D')",
    hypotheses=(
        Hypothesis("stated above", "the guarantee is stated on what the input is made from"),
        SEES_ONLY_INPUT,
    ),
    example=Example(
        (Fraction(1), (4, 1, 2)),
        Fraction(1),
        "The tables are 4 steps apart, but others that look the same to the mechanism only 1.",
    ),
    departs="Proved with pure DP; A.12, A.14 and the proof of VI.22 are its like for the other "
    "notions. A.12 and A.14 ask in addition that the input is a part of the table, which no proof "
    "uses. The result need not obey the triangle inequality, so it must not be chained.",
)
def minimum_privacy(epsilon: Fraction, distances: Sequence[int]) -> Amount:
    """A guarantee is stated on a table, but the mechanism sees only what a map f makes of it. Then
    two tables are as hard to tell apart as the closest two tables that f maps to the same inputs.

    In particular the loss is 0 between tables that give the same input.
    """
    return at_distance(epsilon, Notion.PURE, min(distances))


@theorem(
    "IV.15",
    title="A bounded guarantee of a mechanism that sees some rows only (padding)",
    place="Corollary IV.15",
    formula="ε(D, D') = ε · min( d_B(D, D'), max(rows removed, rows added) in f(D) )",
    hypotheses=(
        Hypothesis("bounded statement", "the guarantee is for one replaced row of the whole table"),
        Hypothesis("rows picked by value", "the input is the rows with a value in a given set"),
        Hypothesis(
            "a row that is dropped",
            "some row value of the table never reaches the input (`drops: true`, another block)",
            "declared",
        ),
        SEES_ONLY_INPUT,
    ),
    specialises=("IV.10",),
    example=Example(
        (Fraction("0.4"), 3, 1, 0),
        Fraction("0.4"),
        "The tables are 3 replacements apart, but their adults differ by one row only: 0.4.",
    ),
    departs="The print counts removed + added rows. Padding does better: fill the smaller table up "
    "with rows that are dropped, then each replacement removes one row and adds one, so the larger "
    "of the two numbers is enough. The print also claims that its minimum is attained; only the "
    "inequality holds (removed 1, added 1, tables of different size: 1 is attained, not 2).",
    spec="specs/adults-filter.yaml",
)
def padding(epsilon: Fraction, whole: int | float, removed: int, added: int) -> Amount:
    """A mechanism is ε-DP for replacing one row of a table, and sees only the rows whose value lies
    in a given set that is not everything. Then adding or removing one of those rows costs it no
    more than ε as well, although its guarantee is about replacements.

    Between two tables it loses at most ε times the number of replacements that lead from one to the
    other (infinite if their sizes differ), and at most ε times the number of rows that its input
    loses or that it gains, whichever is larger.
    """
    return at_distance(epsilon, Notion.PURE, int(min(whole, max(removed, added))))


@theorem(
    "VI.3",
    title="Group privacy of approximate DP",
    place="Theorem VI.3",
    formula="(ε, δ) at distance t = (t·ε, δ·(e^(tε) - 1)/(e^ε - 1)), and (0, t·δ) for ε = 0",
    hypotheses=(PATH,),
    example=Example(
        ((Fraction("0.5"), Fraction("1e-6")), 3),
        (Fraction("1.5"), Fraction("1e-6") * geometric_up(Fraction(1, 2), 3)),
        "(0.5, 1e-6) at distance 3 is (1.5, (1 + e^0.5 + e) * 1e-6), about (1.5, 5.37e-6).",
    ),
    departs="At ε = 0 the fraction is read as its limit, t. In the figures printed after it, 13 "
    "changed rows are already without a guarantee, not only more than 13.",
)
def approximate_group(pair: Pair, distance: int) -> Pair | None:
    """A mechanism is (ε, δ)-DP for a neighbouring relation exactly when two tables t steps apart
    satisfy the inequality with t times ε and with the sum δ(1 + e^ε + … + e^((t-1)ε)).

    That sum can reach 1; from there on nothing is promised (None).
    """
    return chain_pairs([(pair, distance)])


@theorem(
    "VI.12",
    title="Group privacy of zCDP",
    place="Theorem VI.12",
    formula="ρ at distance t = t² · ρ",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.01"), 6), Fraction("0.36"), "0.01 for one person is 0.36 for a household of 6."
    ),
    spec="specs/households-declared.yaml",
)
def concentrated_group(rho: Fraction, distance: int) -> Amount:
    """A mechanism is ρ-zCDP for a neighbouring relation exactly when its Rényi divergence of order
    α, for two tables t steps apart, is at most t²ρα for all orders α > 1.

    The loss grows with the square of the distance: ten steps cost a hundred times as much.
    """
    return at_distance(rho, Notion.ZCDP, distance)


@theorem(
    "VI.20",
    title="Group privacy of Gaussian DP",
    place="Theorem VI.20",
    formula="μ at distance t = t · μ  (as squares: μ² at distance t = t² · μ²)",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.01"), 5),
        Fraction("0.25"),
        "μ = 0.1 for one row is μ = 0.5 for 5 rows: the square grows from 0.01 to 0.25.",
    ),
    spec="specs/visits-gaussian-cap.yaml",
)
def gaussian_group(mu_squared: Fraction, distance: int) -> Amount:
    """A mechanism is μ-GDP for a neighbouring relation exactly when, for two tables t steps apart,
    telling them by its output is at least as hard as telling two normal laws of variance 1 whose
    means differ by tμ.

    The tool keeps μ², which adds up under composition, so the bound takes and gives squares.
    """
    return at_distance(mu_squared, Notion.GDP, distance)
