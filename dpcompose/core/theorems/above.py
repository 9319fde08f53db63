"""Guarantees that are stated on what the dataset read is made from."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import touches
from dpcompose.core.theorems.stability import SEES_ONLY_INPUT

STATED_ABOVE = Hypothesis(
    "stated above",
    "the guarantee is stated on what the input is made from",
    test=touches.stated_above,
)
ROWS_COME_OR_GO = Hypothesis(
    "rows come or go",
    "some row of the table is added or removed, not replaced",
    test=touches.rows_come_or_go,
)
FOLLOWED = (
    "the tool follows each change with the rows that it stems from, and counts the steps between "
    "the closest tables on the way"
)


theorem(
    "IV.10",
    title="Minimum privacy",
    place="Proposition IV.10",
    formula="ε(D, D') = ε · min d(E, E') over E, E' with f(E) = f(D), f(E') = f(D')",
    hypotheses=(
        STATED_ABOVE,
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
    uses=(Use(Role.CLOSEST, "touch"),),
    for_readers=FOLLOWED,
    statement="""\
    A guarantee is stated on a table, but the mechanism sees only what a map f makes of it. Then
    two tables are as hard to tell apart as the closest two tables that f maps to the same inputs.

    In particular the loss is 0 between tables that give the same input.
    """,
)(None)


theorem(
    "IV.15",
    title="A bounded guarantee of a mechanism that sees some rows only (padding)",
    place="Corollary IV.15",
    formula="ε(D, D') = ε · min( d_B(D, D'), max(rows removed, rows added) in f(D) )",
    hypotheses=(
        Hypothesis(
            "bounded statement",
            "the guarantee is for one replaced row of the whole table",
            test=touches.for_replaced_rows,
        ),
        Hypothesis(
            "rows picked by value",
            "the input is the rows with a value in a given set",
            test=touches.picks_rows,
        ),
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
    spec="specs/patterns/adults-filter.yaml",
    uses=(Use(Role.PADDING, "touch", (STATED_ABOVE, ROWS_COME_OR_GO)),),
    for_readers=FOLLOWED,
    statement="""\
    A mechanism is ε-DP for replacing one row of a table, and sees only the rows whose value lies
    in a given set that is not everything. Then adding or removing one of those rows costs it no
    more than ε as well, although its guarantee is about replacements.

    Between two tables it loses at most ε times the number of replacements that lead from one to the
    other (infinite if their sizes differ), and at most ε times the number of rows that its input
    loses or that it gains, whichever is larger.
    """,
)(None)
