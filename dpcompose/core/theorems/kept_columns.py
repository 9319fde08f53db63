"""Changes of some columns only: data that use other columns do not change (theory, section 12)."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem

KEEPS_OTHERS = Hypothesis(
    "these columns alone",
    "a row and the one in its place agree in all columns but those that change, and no column "
    "says what those do",
    "declared",
)
DEPENDS = Hypothesis(
    "uses",
    "the dataset depends on no other columns of the rows than those that it uses",
    "declared",
)


theorem(
    "kept-columns",
    title="What depends on columns that are kept",
    source="GKMS23",
    place="partial DP",
    formula="loss = 0 where U ∩ S = ∅, for rows replaced in the columns S and what uses U",
    hypotheses=(KEEPS_OTHERS, DEPENDS),
    specialises=("IV.10",),
    example=Example(
        (Fraction(2), ("state", "race"), ("block",)),
        Fraction(0),
        "Counts of race by state cost 2 for any record replaced, and nothing for one that moves to "
        "another block of its state.",
    ),
    departs="The source follows each mechanism to the columns that it depends on, as a number for "
    "each column; here the replaced row is followed through all maps, of which each says what it "
    "uses. Census semantics are the same question (Kifer et al. 2022, arXiv 2209.03310).",
    spec="specs/deployments/census-2020-who-learns-what.yaml",
    uses=(Use(Role.KEPT),),
    for_readers="the tool carries the columns that a replaced row keeps along every map, and what "
    "is made of kept columns alone is no change at all",
    statement="""\
    Two tables differ in one row, in the columns S alone. A map that makes each row of the
    columns U alone gives the same rows of both, where U and S have no column in common: what reads
    its result loses nothing. For the same reason a filter that looks at U alone lets both ends of
    the replaced row pass or neither, and a partition by the values of U keeps the row in its block.

    Proof. The two ends agree in U, so that the map makes the same of both; all other rows are the
    same in both tables. Several replaced rows are several such steps.
    """,
)(None)
