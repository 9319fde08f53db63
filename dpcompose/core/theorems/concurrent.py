"""Interactive mechanisms that an analyst questions at the same time, in any order."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems.composition import FIXED, FRESH, THREE, total
from dpcompose.core.theorems.composition_approx import pairs, total_pairs
from dpcompose.core.theorems.filtering import CHOSEN_FIRST, REFUSED
from dpcompose.core.theorems.stability import numbers

ANY_ANALYST = Hypothesis(
    "private while it answers",
    "each guarantee holds against an analyst who chooses every question to the mechanism after all "
    "of its answers so far",
    "declared",
)
STATIC = Hypothesis(
    "the data stay",
    "what the mechanisms read does not change while they answer",
    "declared",
)
_OPEN = (ANY_ANALYST, STATIC, FRESH, FIXED)
_SAME = "the search adds losses up for each change, in the same way whoever asks first"

theorem(
    "concurrent-pure",
    title="Interactive mechanisms at the same time, pure DP",
    source="VW21",
    place="Concurrent composition of pure DP",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D')), whoever is asked first",
    hypotheses=_OPEN,
    specialises=("concurrent-approx",),
    example=THREE,
    notion=Notion.PURE,
    uses=(Use(Role.CONCURRENT),),
    for_readers=_SAME,
    statement="""\
    Several interactive mechanisms are open at once. The analyst may ask each of them in turn,
    and choose a question to one by the answers of all. If each is ε_i-DP against every analyst
    of its own, all answers together are as private as if the mechanisms had run one after the
    other.

    Proof. For two tables fixed, let p and q be the chances of an answer, given the questions
    and answers of its mechanism so far. The likelihood of all that was said is the product of
    these, and grouped by mechanism each product is the likelihood of a conversation with that
    mechanism alone, by the analyst who asks what was asked. So it changes by at most e^ε_i
    between the tables, where the mechanism reads what changes, and not at all where it does
    not.
    """,
)(total)

theorem(
    "concurrent-approx",
    title="Interactive mechanisms at the same time, (ε, δ)",
    source="L22",
    place="Concurrent composition of approximate DP",
    formula="as for mechanisms that answer once: Σ ε_i, Σ δ_i, or the optimal composition",
    hypotheses=_OPEN,
    example=Example(
        (pairs("0.1,1e-6 0.2,1e-6"),),
        total_pairs(pairs("0.1,1e-6 0.2,1e-6")),
        "Two open mechanisms of (0.1, 1e-6) and (0.2, 1e-6) cost together what they cost in turn.",
    ),
    notion=Notion.APPROX,
    uses=(Use(Role.CONCURRENT),),
    for_readers=_SAME,
    statement="""\
    For two tables fixed, an interactive mechanism that is (ε, δ)-DP against every analyst is
    made by an interactive post-processing of one output: a coin that gives all away with chance
    δ, and else randomized response of ε (Lyu 2022; Vadhan and Zhang 2023). All such outputs can
    be drawn before the first question. So every bound for mechanisms that answer once holds for
    those that are open at the same time, optimal composition among them, and over blocks as
    well: a mechanism whose input does not change says nothing of which table it is. (Over
    blocks: Henzinger, Safavi and Vadhan, arXiv 2411.03299, for data that do not change.)

    A secret sample that several of them read is part of one interactive mechanism. Against each
    analyst the law of its answers is a mixture over what is drawn, as for mechanisms that
    answer once, so that it is amplified as they are.
    """,
)(total_pairs)

theorem(
    "concurrent-zcdp",
    title="Interactive mechanisms at the same time, ρ",
    source="L22",
    place="Concurrent composition of Rényi DP",
    formula="ρ = Σ ρ_i, and Rényi divergences add up at every order",
    hypotheses=_OPEN,
    example=Example(
        (numbers("0.1 0.2 0.3"),), Fraction("0.6"), "Open mechanisms of 0.1, 0.2 and 0.3 cost 0.6."
    ),
    notion=Notion.ZCDP,
    uses=(Use(Role.CONCURRENT),),
    for_readers=_SAME,
    statement="""\
    At every order the Rényi divergence of all answers is at most the sum of those of the
    mechanisms (Lyu 2022, with a simpler proof by Vadhan and Zhang 2023). So ρ adds up for
    interactive mechanisms that are open at the same time, for each two tables.
    """,
)(total)

theorem(
    "concurrent",
    title="Interactive mechanisms at the same time, trade-off functions",
    source="VZ23",
    place="Concurrent composition of f-DP",
    formula="f = f_1 ⊗ … ⊗ f_n, as for mechanisms that answer once;  μ² = Σ μ_i²",
    hypotheses=_OPEN,
    example=Example(
        (numbers("0.09 0.16"),), Fraction("0.25"), "Open mechanisms of μ = 0.3 and 0.4 are 0.5-GDP."
    ),
    uses=(Use(Role.CONCURRENT),),
    for_readers=_SAME,
    statement="""\
    For two tables fixed, an interactive mechanism whose trade-off function against every
    analyst is at least f is made by an interactive post-processing of one output with the
    trade-off function f. Those outputs compose as for mechanisms that answer once, whatever the
    order of the questions. A μ, and a profile of several (ε, δ), are such functions.
    """,
)(total)

theorem(
    "concurrent-filter",
    title="Interactive mechanisms under a filter",
    source="HST23",
    place="Filters and odometers for concurrent composition",
    formula="the sums of pure-filter, approx-filter, zcdp-filter and gdp-filter, in any order",
    hypotheses=(ANY_ANALYST, STATIC, CHOSEN_FIRST, REFUSED, FRESH),
    example=Example(
        (numbers("0.5 0.3"),), Fraction("0.8"), "Opening mechanisms of 0.5 and 0.3 spends 0.8 of ε."
    ),
    uses=(Use(Role.CONCURRENT_FILTER),),
    for_readers=_SAME,
    statement="""\
    Interactive mechanisms may be opened along the way, with parameters that depend on all
    answers so far, and those that are open may be asked on. Each counts in full when it is
    opened. Every filter for mechanisms that answer once is one for these, in (ε, δ), in trade-
    off functions and in Rényi divergence of one order (Haney, Shoemate, Tian, Vadhan, Vyrros,
    Xu and Zhang 2023).

    A filter in ρ is one at every order, with the budget αρ at the order α. What reads a random
    choice together with others is not covered by it here.
    """,
)(total)
