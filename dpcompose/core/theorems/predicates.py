"""The checks of hypotheses on a whole release: each raises Refused, with the reason, if it fails.

A declared hypothesis has a check only where the spec contains the declaration.
"""

from __future__ import annotations

import math

from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused, Test, check
from dpcompose.core.theorems.setting import Setting


def in_notion(notion: Notion) -> Test:
    """Returns the check that the losses are in a notion."""

    def holds(setting: Setting) -> None:
        """Raises `Refused` if the losses are in another notion."""
        if setting.notion is not notion:
            here = setting.notion.facts.words
            raise Refused(f"it is about {notion.facts.words}, and the losses are those of {here}")

    return holds


independent = check(
    Setting,
    lambda it: not it.problem.adaptive,
    "mechanisms may use the outputs of others; `independent` is not declared",
)


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


one_dataset = check(
    Setting,
    lambda it: it.on_root or not any(place.depth for place, _ in it.statements()),
    "not every mechanism reads `{0.top.dataset.name}` itself",
)
on_whole_table = check(
    Setting,
    lambda it: all(statement.up == place.depth for place, statement in it.statements()),
    "it needs every guarantee stated on the whole table `{0.top.dataset.name}`",
)

# ---------------------------------------------------------------------------------------------
# The blocks of one partition


one_partition = Setting.only_partition
one_step = check(
    Setting,
    lambda it: it.goal.distance == 1,
    "it is stated for one step, and {0.goal.distance} are protected",
)
on_the_blocks = check(
    Setting,
    lambda it: all(p.depth == 1 and not statement.up for p, statement in it.statements()),
    "it needs every guarantee stated on the block that its mechanism reads",
)


def same_relation(setting: Setting) -> None:
    """Refuses unless every guarantee is for the protected neighbouring relation."""
    wanted = setting.goal.relation
    for _, statement in setting.statements():
        if statement.relation != wanted:
            raise Refused(
                f"it needs every guarantee stated for {wanted} neighbours, "
                f"one is for {statement.relation} neighbours"
            )


bounded_neighbours = check(
    Setting,
    lambda it: it.goal.relation.kind is RelationKind.BOUNDED,
    "it is about bounded neighbours, not {0.goal.relation} ones",
)


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
        """Raises `Refused` if a block has several pairs (ε, δ), or the 1 - δ are multiplied."""
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


one_mechanism = Setting.only_statement
own_notion = check(
    Setting,
    lambda it: it.only_statement()[1].guarantee.notion is it.notion,
    "the losses are those of {0.notion.facts.words}, and the guarantee is another one",
)
reads_the_table = check(
    Setting,
    lambda it: not it.only_statement()[0].depth,
    "the mechanism does not read `{0.top.dataset.name}` itself",
)
several_steps = check(
    Setting, lambda it: it.goal.distance != 1, "one step is protected, not several"
)
another_relation = check(
    Setting,
    lambda it: it.only_statement()[1].relation != it.goal.relation,
    "the guarantee is for the relation that is protected",
)
steps_end = check(
    Setting, lambda it: it.steps() is not None, "no number of stated steps covers the change"
)
on_what_it_reads = check(
    Setting,
    lambda it: not it.only_statement()[1].up,
    "the guarantee is not stated on the dataset that the mechanism reads",
)
one_map = check(
    Setting,
    lambda it: len(it.edges()) == 1,
    "the mechanism does not read what one map makes of the table",
)
several_maps = check(
    Setting,
    lambda it: len(it.edges()) > 1,
    "the mechanism does not read what several maps make of the table",
)
no_sample = check(
    Setting,
    lambda it: not any(isinstance(edge.made_by, Sample) for edge in it.edges()),
    "the mechanism reads what is drawn at random",
)


def poisson(setting: Setting) -> None:
    """Refuses unless the first sample is one that each row is drawn into by itself."""
    if not setting.first_sample()[1].plain:
        raise Refused("rows are not drawn into the sample each by itself")
    if setting.first_sample()[1].size is not None:
        raise Refused("the sample is drawn without replacement")


draws_one_row = Setting.random_limit


def one_row_at_limit(setting: Setting) -> None:
    """Refuses unless the change above the random limit is one row added or removed."""
    edge = setting.random_limit().edge
    above = None if edge is None else setting.visit(edge.parent)
    units = [] if above is None else [leaf.kind for leaf in all_leaves(above.state).elements()]
    if units != [Kind.SINGLE]:
        raise Refused("the change at the limit is not one row added or removed")


def of_public_size(setting: Setting) -> None:
    """Refuses unless the first sample has a public size and is drawn without replacement."""
    if not setting.first_sample()[1].plain:
        raise Refused("the sample is not drawn without replacement")
    if setting.first_sample()[1].size is None:
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


replaced_at_sample = check(
    Setting,
    lambda it: all(leaf.kind is Kind.PAIR for leaf in it.at_sample()),
    "the change at the sample is not one of replaced rows",
)


def known_at_sample(setting: Setting) -> None:
    """Refuses unless the loss for one replaced row in the sample is known."""
    place, _ = setting.first_sample()
    if setting.of_one_unit(Kind.PAIR).get(id(place), math.inf) == math.inf:
        raise Refused("the loss for one replaced row in the sample is not known")


in_epsilon = check(
    Setting,
    lambda it: it.notion in (Notion.PURE, Notion.APPROX),
    "there is no amplified ρ or μ",
)
