"""Privacy filters: composition where parameters are chosen after seeing outputs."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems.composition import FRESH
from dpcompose.core.theorems.composition_approx import pairs
from dpcompose.core.theorems.stability import numbers

CHOSEN_FIRST = Hypothesis(
    "chosen first",
    "the budget, and the notion in which it is counted, depend on no output",
    "declared",
)
REFUSED = Hypothesis(
    "refused in time",
    "before each release the sum is computed for every pair of neighbours, and the release is "
    "refused if it would pass the budget for one of them",
    "declared",
)
GIVEN_THE_PAST = Hypothesis(
    "given the past",
    "each loss bounds what its mechanism loses between two inputs, whatever was released before",
    "declared",
)
_RECORD = (CHOSEN_FIRST, REFUSED, GIVEN_THE_PAST, FRESH)
#: Why the tool computes its own sum: the losses are those of the worst change.
_SUM = "the search finds the largest sum of all changes, and holds it against the budget"


theorem(
    "pure-filter",
    title="A filter in ε",
    source="RRUV16",
    place="Privacy filters, basic composition",
    formula="Σ ε_i ≤ ε on every path gives ε-DP  (the bound gives what is left of ε)",
    hypotheses=_RECORD,
    example=Example(
        (numbers("0.5 0.3"), Fraction(1)),
        Fraction("0.2"),
        "Of a budget of 1, releases of 0.5 and 0.3 leave 0.2, whatever decided on the second one.",
    ),
    notion=Notion.PURE,
    uses=(Use(Role.FILTER),),
    for_readers=_SUM,
    statement="""\
    Which mechanism runs next, and with which ε, may depend on all outputs so far. If on every
    path the ε's of the mechanisms that ran add up to at most ε, the whole interaction is ε-DP.

    Proof. The likelihood of a path is the product of those of its steps. Along one path the
    mechanisms are fixed, so that the ratio of the two likelihoods is at most e to the sum of their
    ε's there. This holds path by path, hence also for what several releases make of one secret
    sample.
    """,
)(None)


theorem(
    "approx-filter",
    title="A filter in ε and δ",
    source="RRUV16",
    place="Privacy filters, basic composition",
    formula="Σ ε_i ≤ ε and Σ δ_i ≤ δ on every path give (ε, δ)-DP  (the bound gives what is left)",
    hypotheses=_RECORD,
    example=Example(
        (pairs("0.5,1e-6 0.3,0"), (Fraction(1), Fraction("2e-6"))),
        (Fraction("0.2"), Fraction("1e-6")),
        "Of a budget of (1, 2e-6), (0.5, 1e-6) and a pure 0.3 leave (0.2, 1e-6).",
    ),
    notion=Notion.APPROX,
    uses=(Use(Role.FILTER),),
    for_readers=_SUM,
    statement="""\
    If on every path the ε's add up to at most ε and the δ's to at most δ, the interaction is
    (ε, δ)-DP. Each release has one (ε_i, δ_i), decided on before its output.

    Proof. Two laws that are (ε_i, δ_i)-close are made, by post-processing, from a coin that gives
    all away with chance δ_i and else from randomized response of ε_i (Kairouz, Oh and Viswanath
    2015). Some coin ever gives all away with chance at most δ, the mean of Σ δ_i; where none does,
    the ratio of likelihoods is at most e^ε on every path.

    Neither 1 - Π(1 - δ_i) nor optimal composition of the pairs is a filter: there parameters must
    be fixed in advance.
    """,
)(None)


theorem(
    "zcdp-filter",
    title="A filter in ρ",
    source="FZ21",
    place="Rényi filters",
    formula="Σ ρ_i ≤ ρ on every path gives ρ-zCDP  (the bound gives what is left of ρ)",
    hypotheses=_RECORD,
    example=Example(
        (numbers("0.1 0.25"), Fraction("0.5")),
        Fraction("0.15"),
        "Of ρ = 0.5, releases of 0.1 and 0.25 leave 0.15.",
    ),
    spec="specs/patterns/ledger-year.yaml",
    notion=Notion.ZCDP,
    uses=(Use(Role.FILTER),),
    for_readers=_SUM,
    statement="""\
    If on every path the ρ's of the mechanisms that ran add up to at most ρ, the interaction is
    ρ-zCDP as a whole, so that it may be read at any δ. A pure ε counts as ρ = ε·tanh(ε/2), a μ as
    μ²/2.

    Proof. Take an order α, and after each step the number Π (p_i/q_i)^α · e^(-α(α-1)ρ_i), where p_i
    and q_i are the likelihoods of what step i released. Its mean under the second table, given the
    past, does not grow, since ρ_i was decided on before the output. So at the end it is at most 1,
    and the mean of (P/Q)^α is at most e^(α(α-1)ρ).

    Pure releases on a secret sample count as the ρ of the ε that the sample makes of their sum:
    given the past and what else is drawn, each is pure with what ln(1 + q(e^E - 1)) grows by.

    An (ε, δ) budget is the largest ρ whose conversion at δ is at most ε, found before the start.
    100 releases of ε = 0.1 are ρ = 0.49958, which is ε = 5.219075 at δ = 1e-6; parameters that are
    fixed in advance would give 4.774568.
    """,
)(None)


theorem(
    "gdp-filter",
    title="A filter in μ",
    source="ST22",
    place="Fully adaptive composition for Gaussian DP",
    formula="Σ μ_i² ≤ μ² on every path gives μ-GDP  (the bound takes μ², and gives what is left)",
    hypotheses=_RECORD,
    example=Example(
        (numbers("0.25 0.5"), Fraction(1)),
        Fraction("0.25"),
        "Of μ = 1, releases of μ² = 0.25 and 0.5 leave μ² = 0.25, which is μ = 0.5.",
    ),
    notion=Notion.GDP,
    uses=(Use(Role.FILTER),),
    for_readers=_SUM,
    statement="""\
    If on every path the squares of the μ's add up to at most μ², the whole interaction is μ-GDP
    (Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023).

    Proof. A step of μ_i can be made, by post-processing, from watching a Brownian motion for a time
    μ_i², whose drift is 0 for one table and 1 for the other. All steps together watch it for a time
    of at most μ², whatever decided on how long each would be, and watching it up to μ² is μ-GDP.

    Nothing is lost: Gaussian mechanisms whose parameters are fixed have the same sum.
    """,
)(None)
