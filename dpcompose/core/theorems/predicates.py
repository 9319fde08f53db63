"""The checks of hypotheses on a whole release: each returns, or raises Refused with the reason.

A declared hypothesis has a check only where the spec contains the declaration.
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
    """Returns the check that the losses are in a notion."""

    def holds(setting: Setting) -> None:
        if setting.notion is not notion:
            here = setting.notion.facts.words
            raise Refused(f"it is about {notion.facts.words}, and the losses are those of {here}")

    return holds


def independent(setting: Setting) -> None:
    """Refuses unless the spec declares that no mechanism uses an output of another."""
    if setting.problem.adaptive:
        raise Refused("mechanisms may use the outputs of others; `independent` is not declared")


def bounded_each(setting: Setting) -> None:
    """Refuses unless the loss of the release is finite."""
    finite(setting.algebra, setting.loss)


def finite(algebra: Scalars | Pairs, loss: Loss) -> None:
    """Refuses a loss that is not finite."""
    if loss == algebra.none or loss == math.inf:
        why = "some mechanism has no finite bound by itself"
        if isinstance(algebra, Pairs):
            why += ", or all δ's together reach 1"
        raise Refused(why)


def one_dataset(setting: Setting) -> None:
    """Refuses unless all mechanisms read the root, or are taken together with their maps."""
    if not setting.on_root and any(place.depth for place, _ in setting.statements()):
        raise Refused(f"not every mechanism reads `{setting.top.dataset.name}` itself")


def on_whole_table(setting: Setting) -> None:
    """Refuses unless every guarantee is stated on the root."""
    name = setting.top.dataset.name
    if any(statement.up != place.depth for place, statement in setting.statements()):
        raise Refused(f"it needs every guarantee stated on the whole table `{name}`")


# ---------------------------------------------------------------------------------------------
# The blocks of one partition


def one_partition(setting: Setting) -> None:
    """Refuses unless all mechanisms read blocks of one partition."""
    setting.only_partition()


def one_step(setting: Setting) -> None:
    """Refuses unless distance 1 is protected."""
    distance = setting.goal.distance
    if distance != 1:
        raise Refused(f"it is stated for one step, and {distance} are protected")


def on_the_blocks(setting: Setting) -> None:
    """Refuses unless every guarantee is stated on the block that its mechanism reads."""
    if any(place.depth != 1 or statement.up for place, statement in setting.statements()):
        raise Refused("it needs every guarantee stated on the block that its mechanism reads")


def same_relation(setting: Setting) -> None:
    """Refuses unless every guarantee is for the protected neighbouring relation."""
    wanted = setting.goal.relation
    for _, statement in setting.statements():
        if statement.relation != wanted:
            raise Refused(
                f"it needs every guarantee stated for {wanted} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


def bounded_neighbours(setting: Setting) -> None:
    """Refuses unless the protected relation is that of one replaced row."""
    relation = setting.goal.relation
    if relation.kind is not RelationKind.BOUNDED:
        raise Refused(f"it is about bounded neighbours, not {relation} ones")


def by_value(setting: Setting) -> None:
    """Refuses unless there are two or more blocks, and the value of a row decides its block."""
    partition, _ = setting.only_partition()
    if partition.size < 2:
        raise Refused("it needs two or more blocks")
    if not partition.kind.assignment().by_value:
        raise Refused(f"the blocks of `{partition.name}` are no disjoint sets of row values")


def compatible(setting: Setting) -> None:
    """Refuses unless one protected step changes at most one block."""
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
    """Returns the check that each block has one (ε, δ), for one unit of change of a kind.

    Without a kind: for the protected row.
    """

    def holds(setting: Setting) -> None:
        algebra = setting.algebra
        losses = setting.of_blocks(kind or protected_row(setting))
        several = any(len(loss) != 1 for loss in losses)
        if isinstance(algebra, Pairs) and (algebra.survival or several):
            raise Refused("it is stated for one (ε, δ) for each block")

    return holds


def protected_row(setting: Setting) -> Kind:
    """Returns the kind of the protected change: one row replaced, or one added or removed."""
    replaced = setting.goal.relation.kind is RelationKind.BOUNDED
    return Kind.PAIR if replaced else Kind.SINGLE


# ---------------------------------------------------------------------------------------------
# One mechanism


def one_mechanism(setting: Setting) -> None:
    """Refuses unless there is one guarantee of one mechanism, released once."""
    setting.only_statement()


def own_notion(setting: Setting) -> None:
    """Refuses unless the guarantee is stated in the notion of the losses."""
    _, statement = setting.only_statement()
    stated = statement.guarantee.notion
    if stated is not setting.notion:
        here = setting.notion.facts.words
        raise Refused(f"the losses are those of {here}, and the guarantee is another one")


def reads_the_table(setting: Setting) -> None:
    """Refuses unless the mechanism reads the root."""
    place, _ = setting.only_statement()
    if place.depth:
        raise Refused(f"the mechanism does not read `{setting.top.dataset.name}` itself")


def several_steps(setting: Setting) -> None:
    """Refuses unless a distance of more than one step is protected."""
    if setting.goal.distance == 1:
        raise Refused("one step is protected, not several")


def another_relation(setting: Setting) -> None:
    """Refuses unless the guarantee is for another relation than the protected one."""
    _, statement = setting.only_statement()
    if statement.relation == setting.goal.relation:
        raise Refused("the guarantee is for the relation that is protected")


def steps_end(setting: Setting) -> None:
    """Refuses unless the change is a finite number of steps of the guarantee's relation."""
    if setting.steps() is None:
        raise Refused("no number of stated steps covers the change")


def on_what_it_reads(setting: Setting) -> None:
    """Refuses unless the guarantee is stated on the dataset that the mechanism reads."""
    _, statement = setting.only_statement()
    if statement.up:
        raise Refused("the guarantee is not stated on the dataset that the mechanism reads")


def one_map(setting: Setting) -> None:
    """Refuses unless one map makes the dataset that the mechanism reads from the root."""
    if len(setting.edges()) != 1:
        raise Refused("the mechanism does not read what one map makes of the table")


def several_maps(setting: Setting) -> None:
    """Refuses unless the mechanism reads what several maps, in sequence, make of the root."""
    if len(setting.edges()) < 2:
        raise Refused("the mechanism does not read what several maps make of the table")


def no_sample(setting: Setting) -> None:
    """Refuses if some map before the mechanism draws a secret sample."""
    if any(isinstance(edge.made_by, Sample) for edge in setting.edges()):
        raise Refused("the mechanism reads what is drawn at random")


def poisson(setting: Setting) -> None:
    """Refuses unless the outermost sample before the mechanism is a Poisson sample."""
    _, sample = setting.first_sample()
    if sample.size is not None:
        raise Refused("the sample is drawn without replacement")


def draws_one_row(setting: Setting) -> None:
    """Refuses unless some map before the mechanism draws one row of each key."""
    setting.random_limit()


def one_row_at_limit(setting: Setting) -> None:
    """Refuses unless the change above the random limit is one row added or removed."""
    edge = setting.random_limit().edge
    above = None if edge is None else setting.visit(edge.parent)
    units = [] if above is None else [leaf.kind for leaf in all_leaves(above.state).elements()]
    if units != [Kind.SINGLE]:
        raise Refused("the change at the limit is not one row added or removed")


def of_public_size(setting: Setting) -> None:
    """Refuses unless the outermost sample has a fixed size, drawn without replacement."""
    _, sample = setting.first_sample()
    if sample.size is None:
        raise Refused("the sample has no public size")


def rows_at_sample(setting: Setting) -> None:
    """Refuses unless the change at the outermost sample is of a known number of rows."""
    leaves = setting.at_sample()
    if setting.notion is Notion.PURE and any(leaf.kind is Kind.PAIR for leaf in leaves):
        raise Refused("a row is replaced, for which pure DP has a sharper bound")
    for leaf in leaves:
        known = leaf.kind is Kind.USER and leaf.size is not None
        if leaf.kind not in (Kind.SINGLE, Kind.PAIR) and not known:
            raise Refused("the change at the sample is not one of a known number of rows")


def replaced_at_sample(setting: Setting) -> None:
    """Refuses unless the change at the outermost sample is of replaced rows only."""
    if any(leaf.kind is not Kind.PAIR for leaf in setting.at_sample()):
        raise Refused("the change at the sample is not one of replaced rows")


def known_at_sample(setting: Setting) -> None:
    """Refuses unless the loss for one replaced row in the sample is known."""
    place, _ = setting.first_sample()
    if setting.of_one_unit(Kind.PAIR).get(id(place), math.inf) == math.inf:
        raise Refused("the loss for one replaced row in the sample is not known")


def in_epsilon(setting: Setting) -> None:
    """Refuses unless the losses are in pure or approximate DP."""
    if setting.notion not in (Notion.PURE, Notion.APPROX):
        raise Refused("there is no amplified ρ or μ")
