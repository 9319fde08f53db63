"""Composition under pure DP: all mechanisms on one dataset, or on whatever is made from it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems.runs import whole_release
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT, numbers
from dpcompose.curves.rounding import summed

FRESH = Hypothesis(
    "fresh noise",
    "each mechanism draws its randomness anew, independently of all but its declared inputs",
    "declared",
)
FIXED = Hypothesis(
    "fixed in advance",
    "maps, partitions, parameters and the number of mechanisms depend on no output",
    "declared",
)
INDEPENDENT = Hypothesis(
    "independent",
    "no mechanism uses an output of another (`adaptivity: independent`)",
    "declared",
    holds.independent,
)
PURE = Hypothesis("pure DP", "every loss is an ε, without a δ", test=holds.in_notion(Notion.PURE))
ONE_DATASET = Hypothesis(
    "one dataset", "all mechanisms read the same dataset", test=holds.one_dataset
)
BOUNDED_EACH = Hypothesis(
    "a loss for each input",
    "the guarantees bound what each mechanism loses between its two inputs, whether stated on the "
    "dataset that it reads, or above it and brought down (IV.10)",
    test=holds.bounded_each,
)
ON_INPUT = Hypothesis(
    "stated on the input",
    "every guarantee is stated on the dataset that its mechanism reads",
    test=holds.on_the_blocks,
)
COMMON_DOMAIN = Hypothesis(
    "common domain",
    "every guarantee is stated on one common table (`stated_on`), from which the inputs are made",
    test=holds.on_whole_table,
)


#: How the composition theorems of every notion are used.
OF_ALL = (Use(Role.GENERAL, "release", run=whole_release),)
OF_ONE_DATASET = (Use(Role.SEQUENTIAL, "release", run=whole_release, told=True),)
OF_COMMON_DOMAIN = Use(Role.COMMON, "release", run=whole_release)


def total(losses: Iterable[Fraction]) -> Fraction:
    """Returns the sum of losses on the same change."""
    added: Fraction = summed(losses)
    return added


THREE = Example(
    (numbers("0.1 0.2 0.3"),), Fraction("0.6"), "Queries of 0.1, 0.2 and 0.3 on one table cost 0.6."
)
_COUNT_AND_PLACE = Example(
    (numbers("1 3 0 0"),),
    Fraction(4),
    "One ambulance more in the north: its count loses 1, its nearest place (3 km across) loses 3, "
    "the south loses nothing; together 4.",
)
_TWO_OFTHREE = Example(
    (numbers("0.7 1"),),
    Fraction("1.7"),
    "A row moves from the block of 0.7 to the block of 1; the block of 0.5 sees nothing: 1.7.",
)


theorem(
    "IV.1",
    title="Independent composition (IC)",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, BOUNDED_EACH, INDEPENDENT, FRESH),
    specialises=("V.2",),
    example=_COUNT_AND_PLACE,
    departs="Example IV.2 ends at d + 2L. One added or removed row touches one district only, so "
    "the tool certifies 1 + L. In Example IV.5 read that an ambulance has at most three hospitals. "
    "The printed proof compares product sets only; V.2 covers every set of outputs.",
    spec="specs/paper/ambulances-count-and-nearest.yaml",
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_ALL,
    statement="""\
    Mechanisms that do not see each other's outputs read datasets that are made, each in its own
    way, from one table. Between two tables the release of all outputs loses the sum of what each
    mechanism loses between the two inputs that it gets from them.

    What is certified is that sum at the worst neighbouring tables, not the sum of everybody's
    worst: a mechanism whose input does not change adds nothing. The argument lists the losses of
    the mechanisms for one and the same change.
    """,
)(total)


theorem(
    "IV.3",
    title="Independent sequential composition, any relation",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, INDEPENDENT, FRESH),
    specialises=("IV.1", "V.3"),
    example=THREE,
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_ONE_DATASET,
    statement="""\
    Mechanisms that read the same dataset, and do not see each other's outputs, cost the sum of
    their losses, whatever the neighbouring relation, and even if their guarantees are for
    different relations.
    """,
)(total)


theorem(
    "IV.11",
    title="Independent composition, common domain",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN, SEES_ONLY_INPUT, INDEPENDENT, FRESH),
    specialises=("V.5",),
    example=_TWO_OFTHREE,
    notion=Notion.PURE,
    adaptive=False,
    uses=(OF_COMMON_DOMAIN,),
    statement="""\
    Every mechanism is stated on one and the same table, but sees only a part of it, or something
    made from it; none sees the outputs of the others. For two neighbouring tables only the
    mechanisms whose inputs differ lose anything, each at most its stated loss, and these losses add
    up.

    By IV.10 a mechanism may lose even less. The argument lists the losses of the mechanisms that
    the change reaches.
    """,
)(total)


theorem(
    "V.2",
    title="Adaptive composition (AC)",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, BOUNDED_EACH, FRESH, FIXED),
    specialises=("VI.4",),
    example=_COUNT_AND_PLACE,
    departs="The printed proof of lemma A.10 compares an integral with the measure of the whole "
    "set, which fails for negative measures. The lemma holds all the same: the integral of g ≥ 0 "
    "against a measure that is positive nowhere is not positive.",
    spec="specs/paper/ambulances-hospitals.yaml",
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_ALL,
    statement="""\
    Mechanisms read datasets that are made, each in its own way, from one table, and may use all
    outputs before theirs. Between two tables the release of all outputs loses the sum of what each
    mechanism loses between its two inputs: using earlier outputs costs nothing extra.

    This is the general theorem of pure DP; sequential and parallel composition and all that lies
    between are cases of it. The argument lists the losses of the mechanisms for one and the same
    change.
    """,
)(total)


theorem(
    "V.3",
    title="Adaptive sequential composition, any relation",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, FRESH, FIXED),
    specialises=("V.2",),
    example=THREE,
    spec="specs/patterns/sequential-budget.yaml",
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_ONE_DATASET,
    statement="""\
    Mechanisms that read the same dataset cost the sum of their losses, even if each uses the
    outputs before it, whatever the neighbouring relation.
    """,
)(total)


theorem(
    "V.5",
    title="Adaptive composition, common domain",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN, SEES_ONLY_INPUT, FRESH, FIXED),
    specialises=("VI.7",),
    example=_TWO_OFTHREE,
    spec="specs/patterns/software-features-bounded.yaml",
    notion=Notion.PURE,
    adaptive=True,
    uses=(OF_COMMON_DOMAIN,),
    statement="""\
    Every mechanism is stated on one and the same table, sees only a part of it or something made
    from it, and may use the outputs before its own. For two neighbouring tables only the mechanisms
    whose inputs differ lose anything, each at most its stated loss, and these losses add up.

    Since the guarantees are stated on the common table, what a part becomes under a change does not
    matter, which saves bounded neighbours from Example II.9.
    """,
)(total)
