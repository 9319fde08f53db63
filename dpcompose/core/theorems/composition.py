"""Composition of all mechanisms: at the worst change, on one dataset, or on disjoint blocks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from heapq import nlargest

from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import Kind
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.model.problem import Partition
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion, Pair
from dpcompose.core.theorem import Hypothesis, Refused, Role, Use, checked, theorem
from dpcompose.core.theorems.setting import Asked, Bound, Setting, finite
from dpcompose.curves.rounding import ZERO, summed

# --- what is checked ------------------------------------------------------------------------------


def in_notion(notion: Notion, says: str) -> Hypothesis:
    """Returns the hypothesis that the losses are in a notion; `says`: what that means, in words."""

    def holds(setting: Setting) -> None:
        """Raises `Refused` if the losses are in another notion."""
        if setting.notion is not notion:
            here = setting.notion.facts.words
            raise Refused(f"it is about {notion.facts.words}, and the losses are those of {here}")

    return Hypothesis(notion.facts.words, says, test=holds)


PURE = in_notion(Notion.PURE, "every loss is an ε, without a δ")
APPROX = in_notion(Notion.APPROX, "every loss is a pair (ε, δ), with δ = 0 for pure DP")
ZCDP = in_notion(Notion.ZCDP, "every loss is a ρ, or a pure ε or a μ that was converted to one")
GDP = in_notion(Notion.GDP, "every loss is a μ, or a pure ε that was converted to one")

INDEPENDENT = checked(
    Setting,
    "independent",
    "no mechanism uses an output of another (`adaptivity: independent`)",
    lambda it: not it.problem.adaptive,
    "mechanisms may use the outputs of others; `independent` is not declared",
    how="declared",
)
ONE_DATASET = checked(
    Setting,
    "one dataset",
    "all mechanisms read the same dataset",
    lambda it: it.on_roots or not any(place.depth for place, _ in it.statements()),
    "not every mechanism reads `{0.top.dataset.name}` itself",
)
BOUNDED_EACH = Hypothesis(
    "a loss for each input",
    "the guarantees bound what each mechanism loses between its two inputs, whether stated on the "
    "dataset that it reads, or above it and brought down (IV.10)",
    test=lambda setting: finite(setting.algebra, setting.loss),
)
COMMON_DOMAIN = checked(
    Setting,
    "common domain",
    "every guarantee is stated on one common table (`stated_on`), from which the inputs are made",
    lambda it: all(statement.up == place.depth for place, statement in it.statements()),
    "it needs every guarantee stated on the whole table `{0.top.dataset.name}`",
)
SEES_ONLY_INPUT = Hypothesis(
    "sees only its input",
    "the output depends on the table of the statement only through the dataset read",
    "declared",
)

# --- what is checked of the blocks of one partition -----------------------------------------------


def same_relation(setting: Setting) -> None:
    """Raises `Refused` unless every guarantee is for the protected neighbouring relation."""
    wanted = setting.goal.relation
    for _, statement in setting.statements():
        if statement.relation != wanted:
            raise Refused(
                f"it needs every guarantee stated for {wanted} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


def _by_value(setting: Setting) -> None:
    """Raises `Refused` unless there are two or more blocks, and the value of a row decides its
    block."""
    partition, _ = setting.only_partition()
    if partition.size < 2:
        raise Refused("it needs two or more blocks")
    if not partition.kind.assignment().by_value:
        raise Refused(f"the blocks of `{partition.name}` are no disjoint sets of row values")


def _compatible(setting: Setting) -> None:
    """Raises `Refused` unless one protected step changes at most one block."""
    partition, _ = setting.only_partition()
    changes_one_block(setting.goal.relation, setting.top, partition)


def changes_one_block(relation: Relation, place: Place, partition: Partition) -> None:
    """Raises `Refused` unless one step of a relation changes at most one block of a partition of
    the dataset of a place."""
    kind = partition.kind
    if relation.kind is RelationKind.UNBOUNDED:
        if kind.assignment().shifts:
            raise Refused("an added row shifts the positions of all rows after it")
        if kind.where(()).most_blocks > 1:
            raise Refused(f"one row may be in several blocks of `{partition.name}`")
    elif relation.kind is RelationKind.BOUNDED:
        if not kind.where(relation.required_columns(place.traits.columns) or ()).stays:
            raise Refused(
                f"the partition `{partition.name}` is not compatible with bounded neighbours: "
                "a replaced row can leave one block and enter another"
            )
    else:
        raise Refused(f"blocks are not known to be compatible with {relation} neighbours")


def _one_pair(kind: Kind | None = None) -> Hypothesis:
    """Returns the hypothesis that each block has one (ε, δ), for one unit of change of a kind.

    `kind` None: for the protected row.
    """

    def holds(setting: Setting) -> None:
        """Raises `Refused` if a block has several pairs (ε, δ), or the 1 - δ are multiplied."""
        losses = map(setting.algebra.values, setting.of_blocks(kind or _protected_row(setting)))
        if setting.algebra.survival or any(len(values) != 1 for values in losses):
            raise Refused("it is stated for one (ε, δ) for each block")

    says = "what is known of each block is one (ε, δ)"
    return Hypothesis("one pair each", says, test=holds)


def _protected_row(setting: Setting) -> Kind:
    """Returns the kind of the protected change: one row replaced, or one added or removed."""
    replaced = setting.goal.relation.kind is RelationKind.BOUNDED
    return Kind.PAIR if replaced else Kind.SINGLE


ONE_EACH = Hypothesis(
    "one block each",
    "every mechanism reads one block; those on the same block count as one",
    test=Setting.only_partition,
)
DISJOINT = Hypothesis("disjoint blocks", "no row is in two blocks", "declared")
ONE_STEP = checked(
    Setting,
    "one step",
    "one step of the relation is protected, not several",
    lambda it: it.goal.distance == 1,
    "it is stated for one step, and {0.goal.distance} are protected",
)
COMPATIBLE = Hypothesis(
    "compatible partition",
    "one step of the relation protected changes at most one block",
    test=_compatible,
)
SAME_RELATION = Hypothesis(
    "same relation", "every guarantee is for the relation protected", test=same_relation
)

BLOCKS = (
    ONE_EACH,
    DISJOINT,
    ONE_STEP._replace(
        name="one step stays one step",
        says="one step is protected, and it is at most one step of the same relation at the block "
        "that changes",
    ),
    COMPATIBLE,
    checked(
        Setting,
        "stated on the input",
        "every guarantee is stated on the dataset that its mechanism reads",
        lambda it: all(p.depth == 1 and not statement.up for p, statement in it.statements()),
        "it needs every guarantee stated on the block that its mechanism reads",
    ),
    SAME_RELATION,
)
COMMON_BLOCKS = (ONE_EACH, DISJOINT, ONE_STEP, COMPATIBLE, COMMON_DOMAIN, SAME_RELATION)
BOUNDED_BLOCKS = (
    ONE_EACH,
    DISJOINT,
    ONE_STEP,
    checked(
        Setting,
        "one row replaced",
        "bounded neighbours are protected",
        lambda it: it.goal.relation.kind is RelationKind.BOUNDED,
        "it is about bounded neighbours, not {0.goal.relation} ones",
    ),
    Hypothesis(
        "blocks by value", "the value of a row alone decides which block it is in", test=_by_value
    ),
    COMMON_DOMAIN,
    SAME_RELATION,
    SEES_ONLY_INPUT,
)

# --- the bound of a release -----------------------------------------------------------------------


def whole_release(setting: Setting, bound: Bound) -> Loss:
    """Returns the certified loss, if `bound` of the losses of all mechanisms for the worst change
    is no larger.

    `bound`: the function of the theorem. The bound of many losses at once is rounded less than the
    sum of the search, so that the larger value is the certified one. Raises Refused where the bound
    is larger.
    """
    algebra = setting.algebra
    parts = [
        part
        for answer in setting.answers
        for part in (*answer.own, *(choice.loss for choice in answer.choices))
    ]
    values, most = [algebra.values(part) for part in parts], algebra.values(setting.loss)
    if all(values) and most:
        for end in (0, -1):  # the pairs with the least ε, and those with the least δ
            if algebra.exceeds(bound([each[end] for each in values]), most[end]):
                raise Refused("the losses of the parts add up to more")
    return setting.loss


def worst_block(setting: Setting, bound: Bound) -> Loss:
    """Returns the result of the theorem's `bound` on the losses of all blocks, each for the
    protected row."""
    return _of_blocks(setting, _protected_row(setting), bound)


def every_block(setting: Setting, bound: Bound) -> Loss:
    """Returns the result of the theorem's `bound` on the losses of all blocks, each for a row added
    or removed."""
    return _of_blocks(setting, Kind.SINGLE, bound)


def _of_blocks(setting: Setting, kind: Kind, bound: Bound) -> Loss:
    """Returns the result of the theorem's `bound` on the losses of all blocks, each for one unit of
    a kind."""
    values = [setting.algebra.values(loss) for loss in setting.of_blocks(kind)]
    return setting.algebra.of_values([bound([each[0] for each in values])] if all(values) else ())


def two_blocks(setting: Setting, bound: Bound) -> Loss:
    """Returns the result of the theorem's `bound` on the losses of the two worst blocks.

    One replaced row may reach both.
    """
    algebra = setting.algebra
    values = [algebra.values(loss) for loss in setting.of_blocks(Kind.SINGLE)]
    if not all(values):
        return algebra.none
    first = [each[0] for each in values]
    # The two with the largest ε are one change, the two with the largest δ may be another.
    ways = (bound(nlargest(2, first, key=order)) for order in algebra.orders)
    return algebra.worst_case(algebra.of_values([value]) for value in ways)


def total(losses: Iterable[Fraction]) -> Fraction:
    """Returns the sum of the losses of several mechanisms on the same change."""
    added: Fraction = summed(losses)
    return added


def largest(losses: Sequence[Fraction]) -> Fraction:
    """Returns the largest loss; 0 if there is none."""
    return max(losses, default=ZERO)


def two_largest(losses: Sequence[Fraction]) -> Fraction:
    """Returns the sum of the two largest losses, or the only loss."""
    return total(nlargest(2, losses))


def total_pairs(pairs: Sequence[Pair]) -> Pair:
    """Returns the sum of (ε, δ) on the same change, with δ = 1 - Π (1 - δ_i) where Σ δ_i reaches
    1."""
    epsilon = total(pair[0] for pair in pairs)
    delta = total(pair[1] for pair in pairs)
    if delta >= 1:
        delta = 1 - math.prod((1 - pair[1] for pair in pairs), start=Fraction(1))
    return epsilon, delta


def largest_pair(pairs: Sequence[Pair]) -> Pair:
    """Returns the largest ε together with the largest δ of these (ε, δ)."""
    return largest([pair[0] for pair in pairs]), largest([pair[1] for pair in pairs])


# --- the theorems ---------------------------------------------------------------------------------

#: How the theorems of every notion are used: on a release, on one dataset, on guarantees for the
#: whole table, on the blocks of one partition, on such blocks by guarantees for the whole table,
#: and where one replaced row leaves a block and enters another.
OF_ALL = (Use(Role.GENERAL, "release", run=whole_release),)
OF_ONE_DATASET = (Use(Role.SEQUENTIAL, "release", run=whole_release, told=True),)
OF_COMMON_DOMAIN = (Use(Role.COMMON, "release", run=whole_release),)
OF_BLOCKS = (Use(Role.WORST_BLOCK, "release", run=worst_block, told=True),)
OF_BLOCKS_COMMON = (Use(Role.WORST_BLOCK_COMMON, "release", run=worst_block, told=True),)
OF_TWO_BLOCKS = (Use(Role.TWO_BLOCKS, "release", run=every_block, told=True),)

theorem(
    "IV.1",
    title="Independent composition (IC)",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, BOUNDED_EACH, INDEPENDENT),
    specialises=("V.2",),
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_ALL,
)(total)
theorem(
    "IV.3",
    title="Independent sequential composition, any relation",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET, INDEPENDENT),
    specialises=("IV.1", "V.3"),
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_ONE_DATASET,
)(total)
theorem(
    "IV.6",
    title="Independent best bound on disjoint blocks",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS, INDEPENDENT),
    specialises=("IV.1", "V.4"),
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_BLOCKS,
)(largest)
theorem(
    "IV.11",
    title="Independent composition, common domain",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN, INDEPENDENT),
    specialises=("V.5",),
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_COMMON_DOMAIN,
)(total)
theorem(
    "IV.12",
    title="Independent best bound on disjoint blocks, common domain",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS, INDEPENDENT),
    specialises=("IV.11", "V.6"),
    notion=Notion.PURE,
    adaptive=False,
    uses=OF_BLOCKS_COMMON,
)(largest)
theorem(
    "IV.13",
    title="Bounded neighbours on disjoint blocks",
    place="Corollary IV.13",
    formula="ε = max of ε_i + ε_j over i ≠ j",
    hypotheses=(PURE, *BOUNDED_BLOCKS),
    specialises=("V.5",),
    notion=Notion.PURE,
    uses=OF_TWO_BLOCKS,
)(two_largest)
theorem(
    "V.2",
    title="Adaptive composition (AC)",
    formula="ε = max over neighbours D, D' of Σ d_i(f_i(D), f_i(D'))",
    hypotheses=(PURE, BOUNDED_EACH),
    specialises=("VI.4",),
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_ALL,
)(total)
theorem(
    "V.3",
    title="Adaptive sequential composition, any relation",
    formula="ε = Σ ε_i",
    hypotheses=(PURE, ONE_DATASET),
    specialises=("V.2",),
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_ONE_DATASET,
)(total)
theorem(
    "V.4",
    title="Adaptive best bound on disjoint blocks",
    formula="ε = max ε_i",
    hypotheses=(PURE, *BLOCKS),
    specialises=("V.2",),
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_BLOCKS,
)(largest)
theorem(
    "V.5",
    title="Adaptive composition, common domain",
    formula="ε = max over neighbours D, D' of Σ ε_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(PURE, COMMON_DOMAIN),
    specialises=("VI.7",),
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_COMMON_DOMAIN,
)(total)
theorem(
    "V.6",
    title="Adaptive best bound on disjoint blocks, common domain",
    formula="ε = max ε_i",
    hypotheses=(PURE, *COMMON_BLOCKS),
    specialises=("V.5",),
    notion=Notion.PURE,
    adaptive=True,
    uses=OF_BLOCKS_COMMON,
)(largest)
theorem(
    "VI.4",
    title="Adaptive composition of approximate DP",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i), of the changes of the inputs, at the worst neighbours",
    hypotheses=(APPROX, BOUNDED_EACH),
    notion=Notion.APPROX,
    uses=OF_ALL,
)(total_pairs)
theorem(
    "VI.5",
    title="Sequential composition of approximate DP",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i)",
    hypotheses=(APPROX, ONE_DATASET),
    specialises=("VI.4",),
    notion=Notion.APPROX,
    uses=OF_ONE_DATASET,
    routes=("basic composition",),
)(total_pairs)
theorem(
    "VI.6",
    title="Best bound on disjoint blocks, approximate DP",
    formula="(ε, δ) = (max ε_i, max δ_i)",
    hypotheses=(APPROX, *BLOCKS, _one_pair()),
    specialises=("VI.4",),
    notion=Notion.APPROX,
    uses=OF_BLOCKS,
)(largest_pair)
theorem(
    "VI.7",
    title="Adaptive composition of approximate DP, common domain",
    formula="(ε, δ) = (Σ ε_i, Σ δ_i) over the i with f_i(D) ≠ f_i(D'), at the worst neighbours",
    hypotheses=(APPROX, COMMON_DOMAIN),
    notion=Notion.APPROX,
    uses=(
        Use(
            Role.TWO_BLOCKS,
            "release",
            (*BOUNDED_BLOCKS, _one_pair(Kind.SINGLE)),
            two_blocks,
            told=True,
        ),
        *OF_COMMON_DOMAIN,
    ),
)(total_pairs)
theorem(
    "A.13",
    title="Best bound on disjoint blocks, approximate DP, common domain",
    formula="(ε, δ) = (max ε_i, max δ_i)",
    hypotheses=(APPROX, *COMMON_BLOCKS, _one_pair()),
    specialises=("VI.7",),
    notion=Notion.APPROX,
    uses=OF_BLOCKS_COMMON,
)(largest_pair)
theorem(
    "VI.13",
    title="Adaptive composition of zCDP",
    formula="ρ = max over neighbours D, D' of Σ ρ_i(f_i(D), f_i(D'))",
    hypotheses=(ZCDP, BOUNDED_EACH),
    notion=Notion.ZCDP,
    uses=OF_ALL,
)(total)
theorem(
    "VI.14",
    title="Adaptive composition of zCDP, common domain",
    formula="ρ = max over neighbours D, D' of Σ ρ_i over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(ZCDP, COMMON_DOMAIN),
    notion=Notion.ZCDP,
    uses=(
        Use(Role.TWO_BLOCKS, "release", BOUNDED_BLOCKS, two_blocks, told=True),
        *OF_COMMON_DOMAIN,
    ),
)(total)
theorem(
    "VI.15",
    title="Sequential composition of zCDP",
    formula="ρ = Σ ρ_i",
    hypotheses=(ZCDP, ONE_DATASET),
    specialises=("VI.13",),
    notion=Notion.ZCDP,
    uses=OF_ONE_DATASET,
)(total)
theorem(
    "VI.16",
    title="Best bound on disjoint blocks, zCDP",
    formula="ρ = max ρ_i",
    hypotheses=(ZCDP, *BLOCKS),
    specialises=("VI.13",),
    notion=Notion.ZCDP,
    uses=OF_BLOCKS,
)(largest)
theorem(
    "A.15",
    title="Best bound on disjoint blocks, zCDP, common domain",
    formula="ρ = max ρ_i",
    hypotheses=(ZCDP, *COMMON_BLOCKS),
    specialises=("VI.14",),
    notion=Notion.ZCDP,
    uses=OF_BLOCKS_COMMON,
)(largest)
theorem(
    "VI.21",
    title="Adaptive composition of Gaussian DP",
    formula="μ² = max over neighbours D, D' of Σ μ_i(f_i(D), f_i(D'))²",
    hypotheses=(GDP, BOUNDED_EACH),
    notion=Notion.GDP,
    uses=OF_ALL,
)(total)
theorem(
    "VI.22",
    title="Adaptive composition of Gaussian DP, common domain",
    formula="μ² = max over neighbours D, D' of Σ μ_i² over the i with f_i(D) ≠ f_i(D')",
    hypotheses=(GDP, COMMON_DOMAIN),
    notion=Notion.GDP,
    uses=OF_COMMON_DOMAIN,
)(total)
theorem(
    "VI.23",
    title="Sequential composition of Gaussian DP",
    formula="μ² = Σ μ_i²",
    hypotheses=(GDP, ONE_DATASET),
    specialises=("VI.21",),
    notion=Notion.GDP,
    uses=OF_ONE_DATASET,
)(total)
theorem(
    "VI.26",
    title="Best bound on disjoint blocks, Gaussian DP",
    formula="μ² = max μ_i²",
    hypotheses=(GDP, *BLOCKS),
    specialises=("VI.21",),
    notion=Notion.GDP,
    uses=OF_BLOCKS,
)(largest)
theorem(
    "A.17",
    title="Best bound on disjoint blocks, Gaussian DP, common domain",
    formula="μ² = max μ_i²",
    hypotheses=(GDP, *COMMON_BLOCKS),
    specialises=("VI.22",),
    notion=Notion.GDP,
    uses=OF_BLOCKS_COMMON,
)(largest)
theorem(
    "A.18",
    title="Bounded neighbours on disjoint blocks, Gaussian DP",
    place="Corollary A.18",
    formula="μ² = max of μ_i² + μ_j² over i ≠ j",
    hypotheses=(GDP, *BOUNDED_BLOCKS),
    specialises=("VI.22",),
    notion=Notion.GDP,
    uses=OF_TWO_BLOCKS,
)(two_largest)

# --- profiles -------------------------------------------------------------------------------------

theorem(
    "dominating-pairs",
    title="Dominating pairs compose",
    source="ZDW22",
    place="Theorem 10",
    formula="δ(ε) = largest P_1×…×P_k(S) - e^ε · Q_1×…×Q_k(S) over the sets S of outcomes",
    uses=(Use(Role.PROFILES),),
    routes=("loss distributions",),
)(None)
theorem(
    "optimal-composition",
    title="Optimal composition of stated (ε, δ)",
    source="KOV15",
    place="Theorem 3.3",
    formula="ε = largest ln((P(S) - δ')/Q(S)) over the sets S of outcomes, "
    "δ' = 1 - (1 - δ)/Π (1 - δ_i)",
    hypotheses=(
        checked(
            Asked,
            APPROX.name,
            APPROX.says,
            lambda it: all(block.delta < 1 for block in it.question.blocks),
            "some block may give everything away",
        ),
        Hypothesis(
            "one change",
            "the pairs of the mechanisms are for one and the same neighbouring change",
            test=Asked.protects_a_row,
        ),
    ),
    specialises=("dominating-pairs",),
    uses=(Use(Role.HYPOTHESES, "question", methods=("every outcome",)),),
    routes=("optimal composition",),
)(None)
theorem(
    "profile-on-disjoint",
    title="Privacy losses on disjoint blocks",
    source="f-DP parallel",
    place="Lemma 10",
    formula="δ(ε) = max δ_i(ε)",
    specialises=("dominating-pairs",),
    uses=(Use(Role.PROFILES_ON_BLOCKS),),
)(None)
