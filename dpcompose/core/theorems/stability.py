"""Changes of the neighbouring relation, and sensitivities of maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.notions.notion import Amount, Notion, at_distance
from dpcompose.core.theorem import Example, Hypothesis, Role, Use, theorem
from dpcompose.core.theorems import predicates as holds
from dpcompose.core.theorems import touches
from dpcompose.core.theorems.group_privacy import ON_THE_TABLE, ONE_MECHANISM, OWN_NOTION, PATH
from dpcompose.core.theorems.runs import by_each_map, by_steps

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
NO_SAMPLE = Hypothesis(
    "nothing drawn", "no map on the way draws a secret sample", test=holds.no_sample
)
ON_WHAT_IS_READ = Hypothesis(
    "on what is read",
    "the guarantee is stated on the dataset that the mechanism reads",
    test=holds.on_what_it_reads,
)
OTHER_RELATION = Hypothesis(
    "another relation",
    "the guarantee is for another relation than the one protected",
    test=holds.another_relation,
)
SENSITIVITY = Hypothesis(
    "finite sensitivity",
    "one step at the parent is at most Δf steps (or units of distance) at the dataset read",
    test=holds.steps_end,
)
ONE_MAP = Hypothesis("one map", "one map makes what is read of the table", test=holds.one_map)
SEVERAL_MAPS = Hypothesis(
    "chain of maps",
    "each map reads what the one before it has made",
    test=holds.several_maps,
)
PER_DISTANCE = Hypothesis(
    "per distance", "the guarantee is per unit of distance", test=touches.per_distance
)


#: Hypotheses of the theorems on one mechanism behind maps.
_BEHIND_MAPS = (ONE_MECHANISM, OWN_NOTION, ON_WHAT_IS_READ, NO_SAMPLE, SENSITIVITY)


def numbers(text: str) -> tuple[Fraction, ...]:
    """Returns the numbers written in a worked example, with blanks between them."""
    return tuple(Fraction(each) for each in text.split())


@theorem(
    "III.6",
    title="Preprocessing",
    place="Proposition III.6",
    formula="ε = Δf · ε'",
    hypotheses=(DETERMINISTIC,),
    example=Example(
        (Fraction("0.1"), Fraction(5)),
        Fraction("0.5"),
        "A document gives at most 5 rows; 0.1 for one row is 0.5 for one document.",
    ),
    spec="specs/patterns/documents-words.yaml",
    notion=Notion.PURE,
    uses=(
        Use(Role.MAP, "release", (*_BEHIND_MAPS, ONE_MAP), by_steps),
        Use(Role.MAP, "touch", (PER_DISTANCE,)),
    ),
    statement="""\
    A mechanism reads not a table but what a map makes of it. If one step at the table moves the
    result of the map by at most Δf, the loss for one step at the table is at most Δf times the loss
    for one step, or one unit of distance, at the result.

    The converse fails: a map can shield a mechanism that is not private by itself.
    """,
)
def preprocessing(epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    return epsilon * sensitivity


@theorem(
    "III.8",
    title="Stabilities multiply",
    place="Proposition III.8",
    formula="Δ(g after f) = Δf · Δg",
    hypotheses=(SEVERAL_MAPS,),
    example=Example(
        (numbers("3 2"),), Fraction(6), "3 words of a document, 2 rows for each: 6 for a document."
    ),
    spec="specs/patterns/documents-words.yaml",
    notion=Notion.PURE,
    uses=(Use(Role.CHAIN, "release", _BEHIND_MAPS, by_each_map),),
    statement="""\
    The sensitivity of several maps, one after the other, is at most the product of their
    sensitivities.
    """,
)
def chained(sensitivities: Sequence[Fraction]) -> Fraction:
    return math.prod(sensitivities, start=Fraction(1))


@theorem(
    "A.3",
    title="Change of relation",
    place="Proposition A.3",
    formula="ε for G2 = k · ε for G1,  k = the most G1-steps that one G2-step takes",
    hypotheses=(
        Hypothesis(
            "finite distance",
            "a step of the relation protected is at most k stated steps",
            test=holds.steps_end,
        ),
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
    spec="specs/patterns/households-declared.yaml",
    notion=Notion.PURE,
    uses=(
        Use(
            Role.RELATION,
            "release",
            (ONE_MECHANISM, OWN_NOTION, ON_THE_TABLE, OTHER_RELATION),
            by_steps,
        ),
    ),
    statement="""\
    If one step of the relation G2 can always be walked in at most k steps of the relation G1,
    distances in G1 are at most k times distances in G2, and a guarantee for G1 gives one for G2 at
    group distance k.

    Removing and adding one row makes one replacement, so k = 2 from unbounded to bounded; no number
    of replacements adds a row, so there is no k from bounded to unbounded.
    """,
)
def change_of_relation(epsilon: Fraction, steps: int) -> Amount:
    return at_distance(epsilon, Notion.PURE, steps)
