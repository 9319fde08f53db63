"""The hypotheses that run on a whole release: each returns, or refuses with the sentence to read.

A declared hypothesis has no predicate, save where the spec says what its author vouches for.
"""

from __future__ import annotations

import math

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebras import Loss, Pairs, Scalars
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Test
from dpcompose.core.theorems.setting import Setting


def in_notion(notion: Notion) -> Test:
    """Returns the test that losses are in a notion."""

    def holds(setting: Setting) -> None:
        if setting.notion is not notion:
            here = setting.notion.facts.words
            raise Refused(f"it is about {notion.facts.words}, and the losses are those of {here}")

    return holds


def independent(setting: Setting) -> None:
    """The spec declares that no mechanism uses an output of another."""
    if setting.problem.adaptive:
        raise Refused("mechanisms may use the outputs of others; `independent` is not declared")


def bounded_each(setting: Setting) -> None:
    """What is reached loses a finite amount."""
    finite(setting.algebra, setting.loss)


def finite(algebra: Scalars | Pairs, loss: Loss) -> None:
    """Refuses what is no finite loss."""
    if loss == algebra.none or loss == math.inf:
        why = "some mechanism has no finite bound by itself"
        if isinstance(algebra, Pairs):
            why += ", or all δ's together reach 1"
        raise Refused(why)


def one_dataset(setting: Setting) -> None:
    """All mechanisms read the root, or are taken as what reads it."""
    if not setting.on_root and any(place.depth for place, _ in setting.statements()):
        raise Refused(f"not every mechanism reads `{setting.top.dataset.name}` itself")


def on_whole_table(setting: Setting) -> None:
    """Every guarantee is stated on the root."""
    name = setting.top.dataset.name
    if any(statement.up != place.depth for place, statement in setting.statements()):
        raise Refused(f"it needs every guarantee stated on the whole table `{name}`")


# ---------------------------------------------------------------------------------------------
# The blocks of one partition


def one_partition(setting: Setting) -> None:
    """All mechanisms read blocks of one partition."""
    setting.only_partition()


def one_step(setting: Setting) -> None:
    """One step is protected, not several."""
    distance = setting.goal.distance
    if distance != 1:
        raise Refused(f"it is stated for one step, and {distance} are protected")


def on_the_blocks(setting: Setting) -> None:
    """Every guarantee is stated on the block that is read."""
    if any(place.depth != 1 or statement.up for place, statement in setting.statements()):
        raise Refused("it needs every guarantee stated on the block that its mechanism reads")


def same_relation(setting: Setting) -> None:
    """Every guarantee is for the relation protected."""
    wanted = setting.goal.relation
    for _, statement in setting.statements():
        if statement.relation != wanted:
            raise Refused(
                f"it needs every guarantee stated for {wanted} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


def bounded_neighbours(setting: Setting) -> None:
    """One replaced row is protected."""
    relation = setting.goal.relation
    if relation.kind is not RelationKind.BOUNDED:
        raise Refused(f"it is about bounded neighbours, not {relation} ones")


def by_value(setting: Setting) -> None:
    """The value of a row decides which of two or more blocks it is in."""
    partition, _ = setting.only_partition()
    if partition.size < 2:
        raise Refused("it needs two or more blocks")
    if not partition.kind.assignment().by_value:
        raise Refused(f"the blocks of `{partition.name}` are no disjoint sets of row values")


def compatible(setting: Setting) -> None:
    """One protected step changes at most one block."""
    partition, _ = setting.only_partition()
    relation = setting.goal.relation
    kind = partition.kind
    if relation.kind is RelationKind.UNBOUNDED:
        if kind.assignment().shifts:
            raise Refused("an added row shifts the positions of all rows after it")
        if kind.where(()).most_blocks > 1:
            raise Refused(f"one row may be in several blocks of `{partition.name}`")
    elif relation.kind is RelationKind.BOUNDED:
        if not kind.where(relation.required_columns(setting.top.traits.columns) or ()).stays:
            raise Refused(
                f"the partition `{partition.name}` is not compatible with bounded neighbours: "
                "a replaced row can leave one block and enter another"
            )
    else:
        raise Refused(f"blocks are not known to be compatible with {relation} neighbours")


def one_pair_a_block(kind: Kind | None = None) -> Test:
    """Returns the test that one (ε, δ) is known of each block, for one unit of a kind.

    Without a kind: for the row that is protected.
    """

    def holds(setting: Setting) -> None:
        algebra = setting.algebra
        losses = setting.of_blocks(kind or protected_row(setting))
        several = any(len(loss) != 1 for loss in losses)
        if isinstance(algebra, Pairs) and (algebra.survival or several):
            raise Refused("it is stated for one (ε, δ) for each block")

    return holds


def protected_row(setting: Setting) -> Kind:
    """Returns the unit of change that is protected: one row replaced, or one added or removed."""
    replaced = setting.goal.relation.kind is RelationKind.BOUNDED
    return Kind.PAIR if replaced else Kind.SINGLE


# ---------------------------------------------------------------------------------------------
# One mechanism


def one_mechanism(setting: Setting) -> None:
    """One guarantee of one mechanism, released once."""
    setting.only_statement()


def own_notion(setting: Setting) -> None:
    """The guarantee is stated in the notion of the losses."""
    _, statement = setting.only_statement()
    stated = statement.guarantee.notion
    if stated is not setting.notion:
        here = setting.notion.facts.words
        raise Refused(f"the losses are those of {here}, and the guarantee is another one")


def reads_the_table(setting: Setting) -> None:
    """The mechanism reads the root."""
    place, _ = setting.only_statement()
    if place.depth:
        raise Refused(f"the mechanism does not read `{setting.top.dataset.name}` itself")


def several_steps(setting: Setting) -> None:
    """More than one step is protected."""
    if setting.goal.distance == 1:
        raise Refused("one step is protected, not several")


def another_relation(setting: Setting) -> None:
    """The guarantee is for another relation than the one protected."""
    _, statement = setting.only_statement()
    if statement.relation == setting.goal.relation:
        raise Refused("the guarantee is for the relation that is protected")


def steps_end(setting: Setting) -> None:
    """The protected change is finitely many stated steps."""
    if setting.steps() is None:
        raise Refused("no number of stated steps covers the change")


def on_what_it_reads(setting: Setting) -> None:
    """The guarantee is stated on the dataset that the mechanism reads."""
    _, statement = setting.only_statement()
    if statement.up:
        raise Refused("the guarantee is not stated on the dataset that the mechanism reads")


def one_map(setting: Setting) -> None:
    """One map leads to what the mechanism reads."""
    if len(setting.edges()) != 1:
        raise Refused("the mechanism does not read what one map makes of the table")


def several_maps(setting: Setting) -> None:
    """Several maps, one after the other, lead to what the mechanism reads."""
    if len(setting.edges()) < 2:
        raise Refused("the mechanism does not read what several maps make of the table")


def no_sample(setting: Setting) -> None:
    """No map on the way draws a secret sample."""
    if any(isinstance(edge.made_by, Sample) for edge in setting.edges()):
        raise Refused("the mechanism reads what is drawn at random")


def poisson(setting: Setting) -> None:
    """The outermost sample on the way is one where each row is drawn by itself."""
    _, sample = setting.first_sample()
    if sample.size is not None:
        raise Refused("the sample is drawn without replacement")


def draws_one_row(setting: Setting) -> None:
    """A map on the way draws one row of each key."""
    setting.random_limit()


def one_row_at_limit(setting: Setting) -> None:
    """What changes above the random limit is one row that comes or goes."""
    edge = setting.random_limit().edge
    above = None if edge is None else setting.visit(edge.parent)
    units = [] if above is None else [leaf.kind for leaf in all_leaves(above.state).elements()]
    if units != [Kind.SINGLE]:
        raise Refused("the change at the limit is not one row added or removed")


def of_public_size(setting: Setting) -> None:
    """The outermost sample on the way has so many of a public number of rows."""
    _, sample = setting.first_sample()
    if sample.size is None:
        raise Refused("the sample has no public size")


def rows_at_sample(setting: Setting) -> None:
    """What changes at the outermost sample are single rows, or a known number of them."""
    leaves = setting.at_sample()
    if setting.notion is Notion.PURE and any(leaf.kind is Kind.PAIR for leaf in leaves):
        raise Refused("a row is replaced, for which pure DP has a sharper bound")
    for leaf in leaves:
        known = leaf.kind is Kind.USER and leaf.size is not None
        if leaf.kind not in (Kind.SINGLE, Kind.PAIR) and not known:
            raise Refused("the change at the sample is not one of a known number of rows")


def replaced_at_sample(setting: Setting) -> None:
    """What changes at the outermost sample are replaced rows."""
    if any(leaf.kind is not Kind.PAIR for leaf in setting.at_sample()):
        raise Refused("the change at the sample is not one of replaced rows")


def known_at_sample(setting: Setting) -> None:
    """What one replaced row in the sample costs is known."""
    place, _ = setting.first_sample()
    if setting.of_one_unit(Kind.PAIR).get(id(place), math.inf) == math.inf:
        raise Refused("the loss for one replaced row in the sample is not known")


def in_epsilon(setting: Setting) -> None:
    """The loss is an ε, or pairs (ε, δ)."""
    if setting.notion not in (Notion.PURE, Notion.APPROX):
        raise Refused("there is no amplified ρ or μ")
