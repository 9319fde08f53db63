"""Group privacy, other relations, maps before a mechanism, and guarantees stated above."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.cost import units_at
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion, Pair, at_distance, chain_pairs
from dpcompose.core.theorem import Hypothesis, Refused, Role, Use, checked, theorem
from dpcompose.core.theorems.composition import same_relation
from dpcompose.core.theorems.setting import Bound, ChargedStep, Setting
from dpcompose.curves.rounding import ZERO

# --- what is checked ------------------------------------------------------------------------------

ONE_MECHANISM = Hypothesis(
    "one mechanism", "one guarantee of one mechanism, released once", test=Setting.only_statement
)
OWN_NOTION = checked(
    Setting,
    "the notion asked for",
    "the guarantee is stated in the notion of the loss",
    lambda it: it.only_statement()[1].guarantee.notion is it.notion,
    "the losses are those of {0.notion.facts.words}, and the guarantee is another one",
)
ON_THE_TABLE = checked(
    Setting,
    "on the table",
    "the mechanism reads the table itself",
    lambda it: not it.only_statement()[0].depth,
    "the mechanism does not read `{0.top.dataset.name}` itself",
)
ON_WHAT_IS_READ = checked(
    Setting,
    "on what is read",
    "the guarantee is stated on the dataset that the mechanism reads",
    lambda it: not it.only_statement()[1].up,
    "the guarantee is not stated on the dataset that the mechanism reads",
)
SENSITIVITY = checked(
    Setting,
    "finite sensitivity",
    "one step at the parent is at most Δf steps (or units of distance) at the dataset read",
    lambda it: it.steps() is not None,
    "no number of stated steps covers the change",
)
STATED_ABOVE = checked(
    ChargedStep,
    "stated above",
    "the guarantee is stated on what the input is made from",
    lambda it: it.first.statement.up,
    "the guarantee is stated on the dataset that the mechanism reads",
)

#: The hypotheses of group privacy of a release, and those of theorems on one mechanism behind maps.
_OVER_STEPS = (
    ONE_MECHANISM,
    OWN_NOTION,
    ON_THE_TABLE,
    Hypothesis("the relation protected", "the guarantee is for it", test=same_relation),
    checked(
        Setting,
        "several steps",
        "more than one step is protected",
        lambda it: it.goal.distance != 1,
        "one step is protected, not several",
    ),
)
_BEHIND_MAPS = (
    ONE_MECHANISM,
    OWN_NOTION,
    ON_WHAT_IS_READ,
    checked(
        Setting,
        "nothing drawn",
        "no map on the way draws a secret sample",
        lambda it: not any(isinstance(edge.made_by, Sample) for edge in it.edges()),
        "the mechanism reads what is drawn at random",
    ),
    SENSITIVITY,
)


def _rows_come_or_go(touch: ChargedStep) -> None:
    """Raises `Refused` if all units of change of the table on which the guarantee is stated are
    replaced rows."""
    level = touch.first.level
    units = (inner for item, _ in touch.state for inner, _ in units_at(item, level))
    if all(inner.leaf.kind is Kind.PAIR for inner in units):
        raise Refused("all rows that change are replaced ones")


# --- the bound of a release -----------------------------------------------------------------------


def over_distance(setting: Setting, bound: Bound) -> Loss:
    """Returns the result of `bound` (group privacy) on the one guarantee, at the protected
    distance."""
    _, statement = setting.only_statement()
    stated = setting.algebra.value_of(statement.guarantee)
    found = bound(stated, setting.goal.distance)
    return setting.algebra.of_values(() if found is None else (found,))


def by_steps(setting: Setting, bound: Bound) -> Loss:
    """Returns the result of `bound` (group privacy) on the one guarantee, for its steps in the
    worst change."""
    _, statement = setting.only_statement()
    steps = setting.steps()
    return math.inf if steps is None else bound(statement.guarantee.amount, steps)


def by_each_map(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the one guarantee, times the result of `bound` on the sensitivities of
    the maps.

    A map's sensitivity is the ratio of the units of the worst change after it and before it.
    """
    place, statement = setting.only_statement()
    steps = setting.steps()
    if steps is None:
        return math.inf
    counts = [_units(setting, place.up(up)) for up in range(place.depth, 0, -1)] + [steps]
    factors = [after / before if before else ZERO for before, after in pairwise(counts)]
    return statement.guarantee.amount * counts[0] * bound(factors)


def _units(setting: Setting, place: Place) -> Fraction:
    """Returns the number of units of the worst change of the dataset of a place."""
    visit = setting.visit(place)
    if visit is None:
        return ZERO
    return Fraction(all_leaves(visit.state).total() * visit.distance)


# --- the theorems ---------------------------------------------------------------------------------


def _group(notion: Notion) -> tuple[Use, ...]:
    """Returns the uses of group privacy of a notion: for a release, and for one mechanism."""
    loss = checked(
        ChargedStep,
        "the notion of the loss",
        "the loss is asked for in the notion of the theorem",
        lambda it: it.notion is notion,
        "the loss is one of {0.notion.value}",
    )
    steps = checked(
        ChargedStep,
        "more than a step",
        "the change is several steps of the guarantee",
        lambda it: any(steps and steps > 1 for steps in it.steps),
        "the change is one step of the guarantee",
    )
    return (
        Use(Role.GROUP, "release", _OVER_STEPS, over_distance),
        Use(Role.GROUP, "touch", (loss, steps)),
    )


def _at_distance(notion: Notion) -> Bound:
    """Returns the function of group privacy: from a loss in a notion and a distance to the loss at
    it."""
    return lambda amount, steps: at_distance(amount, notion, steps)


def approximate_group(pair: Pair, distance: int) -> Pair | None:
    """Returns the (ε, δ) of an (ε, δ)-DP mechanism at group distance `distance`; None where δ
    reaches 1."""
    return chain_pairs([(pair, distance)])


theorem(
    "III.3",
    title="Group privacy",
    formula="ε(D, D') = ε · d(D, D')",
    notion=Notion.PURE,
    uses=_group(Notion.PURE),
)(_at_distance(Notion.PURE))
theorem(
    "VI.3",
    title="Group privacy of approximate DP",
    formula="(ε, δ) at distance t = (t·ε, δ·(e^(tε) - 1)/(e^ε - 1)), and (0, t·δ) for ε = 0",
    notion=Notion.APPROX,
    uses=_group(Notion.APPROX),
)(approximate_group)
theorem(
    "VI.12",
    title="Group privacy of zCDP",
    formula="ρ at distance t = t² · ρ",
    notion=Notion.ZCDP,
    uses=_group(Notion.ZCDP),
)(_at_distance(Notion.ZCDP))
theorem(
    "VI.20",
    title="Group privacy of Gaussian DP",
    formula="μ at distance t = t · μ  (as squares: μ² at distance t = t² · μ²)",
    notion=Notion.GDP,
    uses=_group(Notion.GDP),
)(_at_distance(Notion.GDP))


@theorem(
    "III.6",
    title="Preprocessing",
    place="Proposition III.6",
    formula="ε = Δf · ε'",
    notion=Notion.PURE,
    uses=(
        Use(
            Role.MAP,
            "release",
            (
                *_BEHIND_MAPS,
                checked(
                    Setting,
                    "one map",
                    "one map makes what is read of the table",
                    lambda it: len(it.edges()) == 1,
                    "the mechanism does not read what one map makes of the table",
                ),
            ),
            by_steps,
        ),
        Use(
            Role.MAP,
            "touch",
            (
                checked(
                    ChargedStep,
                    "per distance",
                    "the guarantee is per unit of distance",
                    lambda it: it.first.statement.relation.kind is RelationKind.EUCLIDEAN,
                    "the guarantee is for one step, not for a unit of distance",
                ),
            ),
        ),
    ),
)
def preprocessing(epsilon: Fraction, sensitivity: Fraction) -> Fraction:
    return epsilon * sensitivity


@theorem(
    "III.8",
    title="Stabilities multiply",
    place="Proposition III.8",
    formula="Δ(g after f) = Δf · Δg",
    hypotheses=(
        checked(
            Setting,
            "chain of maps",
            "each map reads what the one before it has made",
            lambda it: len(it.edges()) > 1,
            "the mechanism does not read what several maps make of the table",
        ),
    ),
    notion=Notion.PURE,
    uses=(Use(Role.CHAIN, "release", _BEHIND_MAPS, by_each_map),),
)
def chained(sensitivities: Sequence[Fraction]) -> Fraction:
    return math.prod(sensitivities, start=Fraction(1))


theorem(
    "A.3",
    title="Change of relation",
    place="Proposition A.3",
    formula="ε for G2 = k · ε for G1,  k = the most G1-steps that one G2-step takes",
    hypotheses=(
        SENSITIVITY._replace(
            name="finite distance",
            says="a step of the relation protected is at most k stated steps",
        ),
    ),
    specialises=("III.6",),
    notion=Notion.PURE,
    uses=(
        Use(
            Role.RELATION,
            "release",
            (
                ONE_MECHANISM,
                OWN_NOTION,
                ON_THE_TABLE,
                checked(
                    Setting,
                    "another relation",
                    "the guarantee is for another relation than the one protected",
                    lambda it: it.only_statement()[1].relation != it.goal.relation,
                    "the guarantee is for the relation that is protected",
                ),
            ),
            by_steps,
        ),
    ),
)(_at_distance(Notion.PURE))
theorem(
    "IV.10",
    title="Minimum privacy",
    place="Proposition IV.10",
    formula="ε(D, D') = ε · min d(E, E') over E, E' with f(E) = f(D), f(E') = f(D')",
    hypotheses=(STATED_ABOVE,),
    uses=(Use(Role.CLOSEST, "touch"),),
)(None)
theorem(
    "IV.15",
    title="A bounded guarantee of a mechanism that sees some rows only (padding)",
    place="Corollary IV.15",
    formula="ε(D, D') = ε · min( d_B(D, D'), max(rows removed, rows added) in f(D) )",
    hypotheses=(
        checked(
            ChargedStep,
            "bounded statement",
            "the guarantee is for one replaced row of the whole table",
            lambda it: it.first.statement.relation.kind is RelationKind.BOUNDED,
            "the guarantee is not for replaced rows",
        ),
        checked(
            ChargedStep,
            "rows picked by value",
            "the input is the rows with a value in a given set",
            lambda it: it.first.padded,
            "what is read is not the rows with certain values, others being dropped",
        ),
    ),
    specialises=("IV.10",),
    uses=(
        Use(
            Role.PADDING,
            "touch",
            (
                STATED_ABOVE,
                Hypothesis(
                    "rows come or go",
                    "some row of the table is added or removed, not replaced",
                    test=_rows_come_or_go,
                ),
            ),
        ),
    ),
)(None)
theorem(
    "kept-columns",
    title="What depends on columns that are kept",
    source="GKMS23",
    place="partial DP",
    formula="loss = 0 where U ∩ S = ∅, for rows replaced in the columns S and what uses U",
    specialises=("IV.10",),
    uses=(Use(Role.KEPT),),
)(None)
theorem(
    "joint-l1",
    title="Values with one joint bound in L1",
    source="dpcompose",
    place="Documentation",
    formula="ε = max Σ_i e_i·v_i over 0 ≤ v_i ≤ s_i, Σ_i v_i ≤ l1",
    specialises=("IV.1",),
    uses=(Use(Role.JOINT),),
)(None)


def worst_moves(values: Sequence[tuple[Fraction, Fraction]], l1: Fraction) -> list[Fraction]:
    """Returns the distances v that maximise Σ e·v over 0 ≤ v ≤ s, Σ v ≤ `l1`.

    `values`: pairs (e, s), an ε for each unit of distance and the largest distance. The values with
    the largest e move first.
    """
    moves, left = [ZERO] * len(values), l1
    for i in sorted(range(len(values)), key=lambda i: values[i][0], reverse=True):
        moves[i] = min(values[i][1], left)
        left -= moves[i]
    return moves
