"""Group privacy: the loss between tables several steps apart, from a guarantee for one step."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Amount, Notion, Pair, at_distance, chain_pairs
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems import touches
from dpcompose.core.theorems.runs import at_distance as at_protected_distance
from dpcompose.curves.rounding import geometric_up

PATH = Hypothesis(
    "path inside the domain",
    "the steps that lead from one table to the other pass only through tables for which the "
    "guarantee is claimed",
    "declared",
)
ONE_MECHANISM = Hypothesis(
    "one mechanism", "one guarantee of one mechanism, released once", test=holds.one_mechanism
)
OWN_NOTION = Hypothesis(
    "the notion asked for",
    "the guarantee is stated in the notion of the loss",
    test=holds.own_notion,
)
ON_THE_TABLE = Hypothesis(
    "on the table", "the mechanism reads the table itself", test=holds.reads_the_table
)
FOR_THE_RELATION = Hypothesis(
    "the relation protected", "the guarantee is for it", test=holds.same_relation
)
SEVERAL_STEPS = Hypothesis(
    "several steps", "more than one step is protected", test=holds.several_steps
)
TAKES_STEPS = Hypothesis(
    "more than a step", "the change is several steps of the guarantee", test=touches.several_steps
)


def _group(notion: Notion) -> tuple[Use, ...]:
    """Returns the uses of group privacy of a notion: for a release, and for one mechanism."""
    loss = Hypothesis(
        "the notion of the loss",
        "the loss is asked for in the notion of the theorem",
        test=touches.in_notion(notion),
    )
    conditions = (ONE_MECHANISM, OWN_NOTION, ON_THE_TABLE, FOR_THE_RELATION, SEVERAL_STEPS)
    return (
        Use(Role.GROUP, "release", conditions, at_protected_distance),
        Use(Role.GROUP, "touch", (loss, TAKES_STEPS)),
    )


@theorem(
    "III.3",
    title="Group privacy",
    formula="ε(D, D') = ε · d(D, D')",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.4"), 3), Fraction("1.2"), "0.4 for one step is 1.2 for tables 3 steps apart."
    ),
    notion=Notion.PURE,
    uses=_group(Notion.PURE),
    statement="""\
    A mechanism is ε-DP for a neighbouring relation exactly when, for every two tables, its loss
    is at most ε times the number of steps of the relation that lead from one to the other.

    The steps are counted inside the domain of the guarantee. Where no path exists the distance is
    infinite and nothing is promised.
    """,
)
def group_privacy(epsilon: Fraction, distance: int) -> Amount:
    return at_distance(epsilon, Notion.PURE, distance)


@theorem(
    "VI.3",
    title="Group privacy of approximate DP",
    formula="(ε, δ) at distance t = (t·ε, δ·(e^(tε) - 1)/(e^ε - 1)), and (0, t·δ) for ε = 0",
    hypotheses=(PATH,),
    example=Example(
        ((Fraction("0.5"), Fraction("1e-6")), 3),
        (Fraction("1.5"), Fraction("1e-6") * geometric_up(Fraction(1, 2), 3)),
        "(0.5, 1e-6) at distance 3 is (1.5, (1 + e^0.5 + e) * 1e-6), about (1.5, 5.37e-6).",
    ),
    departs="At ε = 0 the fraction is read as its limit, t. In the figures printed after it, 13 "
    "changed rows are already without a guarantee, not only more than 13.",
    notion=Notion.APPROX,
    uses=_group(Notion.APPROX),
    statement="""\
    A mechanism is (ε, δ)-DP for a neighbouring relation exactly when two tables t steps apart
    satisfy the inequality with t times ε and with the sum δ(1 + e^ε + … + e^((t-1)ε)).

    That sum can reach 1; from there on nothing is promised (None).
    """,
)
def approximate_group(pair: Pair, distance: int) -> Pair | None:
    return chain_pairs([(pair, distance)])


@theorem(
    "VI.12",
    title="Group privacy of zCDP",
    formula="ρ at distance t = t² · ρ",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.01"), 6), Fraction("0.36"), "0.01 for one person is 0.36 for a household of 6."
    ),
    spec="specs/patterns/households-declared.yaml",
    notion=Notion.ZCDP,
    uses=_group(Notion.ZCDP),
    statement="""\
    A mechanism is ρ-zCDP for a neighbouring relation exactly when its Rényi divergence of order
    α, for two tables t steps apart, is at most t²ρα for all orders α > 1.

    The loss grows with the square of the distance: ten steps cost a hundred times as much.
    """,
)
def concentrated_group(rho: Fraction, distance: int) -> Amount:
    return at_distance(rho, Notion.ZCDP, distance)


@theorem(
    "VI.20",
    title="Group privacy of Gaussian DP",
    formula="μ at distance t = t · μ  (as squares: μ² at distance t = t² · μ²)",
    hypotheses=(PATH,),
    example=Example(
        (Fraction("0.01"), 5),
        Fraction("0.25"),
        "μ = 0.1 for one row is μ = 0.5 for 5 rows: the square grows from 0.01 to 0.25.",
    ),
    spec="specs/patterns/visits-gaussian-cap.yaml",
    notion=Notion.GDP,
    uses=_group(Notion.GDP),
    statement="""\
    A mechanism is μ-GDP for a neighbouring relation exactly when, for two tables t steps apart,
    telling them by its output is at least as hard as telling two normal laws of variance 1 whose
    means differ by tμ.

    The tool keeps μ², which adds up under composition, so the bound takes and gives squares.
    """,
)
def gaussian_group(mu_squared: Fraction, distance: int) -> Amount:
    return at_distance(mu_squared, Notion.GDP, distance)
