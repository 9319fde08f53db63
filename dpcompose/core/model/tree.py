"""The tree of datasets of a problem: its nodes (places), and where each stated guarantee
applies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dpcompose.core.change.maps.kind import AtOneKey, Gives, Map, MapTraits, RowByRow, RowSelection
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape, Traits
from dpcompose.core.model.draws import Releases, draws
from dpcompose.core.model.placed import Placed
from dpcompose.core.model.problem import (
    Dataset,
    Mechanism,
    Partition,
    Problem,
    Root,
    Statement,
    traits_of_root,
)

#: The level of the protected step itself, for a declared relation (other levels are depths).
STEP = -1
#: A change is followed with its history at this many levels at most; statements on further
#: ancestors are then not used, which is sound.
MOST_LEVELS = 8
#: Up to so many maps of one kind in a row are followed one by one; more are merged into one.
MOST_IN_A_ROW = 2


class Edge(NamedTuple):
    """How a dataset comes from its parent in the tree: by a map, or as a block of a partition.

    `conduct`: the traits of the map `made_by` (None: a block); `block`: the number of the class of
    blocks in `partition`. `rounds`: for a sample, the number of fresh draws that all mechanisms
    below this place read. `through`: datasets between the two, whose maps are merged with the last
    one (`_merge_maps`).
    """

    parent: Place
    made_by: Map | None
    conduct: MapTraits | None = None
    partition: Partition | None = None
    block: int = 0
    rounds: int = 1
    through: tuple[Dataset, ...] = ()

    @property
    def local(self) -> bool:
        """Whether a row has an effect on what is made of its own row, or key, alone, by a fixed
        rule."""
        if self.conduct is not None:
            return self.conduct.local
        return self.partition is not None and not self.partition.kind.assignment().shifts


@dataclass(slots=True, eq=False)
class Place:
    """A node of the tree of datasets under a root: one dataset, with what the tree says of it.

    `depth`: how many maps and blocks lie above it; `edge`: how it comes from its parent. `levels`:
    the depths of the ancestors on which guarantees of mechanisms here or below are stated,
    outermost first (`STEP` for the protected step); a change here is kept with its history at
    those. `mechanisms`: those that read it, with their guarantees as they apply here; `derived`:
    the datasets made from it by maps; `blocks`: for each partition of it the classes of equal
    blocks. `round`: below a sample that is drawn afresh for each copy, the number of the draw: only
    mechanisms with at least so many copies read it, each with one copy. Else None. `read`: whether
    some mechanism reads this or something below it. `leans`: whether a Poisson sample is read
    below, so that it matters which of the two tables has the additional row. `top`: the place of
    the root. `like`: the first block of the same partition that loses as much for every change,
    whatever its name; the place itself where none before it does.

    A guarantee on an ancestor holds over everything random between that ancestor and the dataset
    read, so that it can be used in one of two ways (theory, section 7). `given`: the outcomes of
    all random maps down to this depth are taken as given, and only guarantees on datasets at this
    depth or further down say something. `above`: a random map is part of the one release that
    depends on it; this is the depth of the dataset that the map reads, and only guarantees there or
    further up say something. `whole`: the place of the same dataset, seen in this second way.
    """

    dataset: Dataset
    depth: int
    traits: Traits
    edge: Edge | None
    levels: tuple[int, ...] = ()
    mechanisms: list[tuple[Mechanism, tuple[Placed, ...]]] = field(default_factory=list)
    derived: list[Place] = field(default_factory=list)
    blocks: list[list[Place]] = field(default_factory=list)
    round: int | None = None
    read: bool = False
    leans: bool = False
    given: int = 0
    whole: Place | None = None
    above: int | None = None
    top: Place = field(init=False, repr=False)
    like: Place = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.top = self if self.edge is None else self.edge.parent.top
        self.like = self

    @property
    def amplifies(self) -> bool:
        """Returns whether the dataset is a secret sample that amplifies: its outcome is taken as
        given."""
        return isinstance(self.dataset.made_by, Sample) and self.above is None

    @property
    def below(self) -> Iterator[Place]:
        """Yields the places of the datasets made directly from this one, by maps or as blocks."""
        for place in self.derived:
            yield place
            if place.whole is not None:
                yield place.whole
        for blocks in self.blocks:
            yield from blocks

    def subtree(self) -> Iterator[Place]:
        """Yields this place and all places below it, parents first."""
        stack = [self]
        while stack:
            place = stack.pop()
            yield place
            stack.extend(reversed(list(place.below)))

    def ancestors(self, up: int) -> list[Edge]:
        """Returns the edges from the place `up` levels above down to this one, outermost first."""
        edges: list[Edge] = []
        place = self
        for _ in range(up):
            assert place.edge is not None
            edges.append(place.edge)
            place = place.edge.parent
        return edges[::-1]

    def admits(self, statement: Statement) -> bool:
        """Returns whether a guarantee of a mechanism here applies, given the random maps above."""
        home = self.depth - statement.up
        return self.given <= home and (self.above is None or home <= self.above)

    def up(self, edges: int) -> Place:
        """Returns the place `edges` levels further up in the tree."""
        return self.ancestors(edges)[0].parent if edges else self

    def stated_on(self, statement: Statement) -> Place:
        """Returns the place of the dataset on which a guarantee of a mechanism here is stated."""
        return self.up(statement.up)


def lay_out(problem: Problem) -> list[tuple[Root, Place]]:
    """Returns every root with the place (node of the tree of datasets) of its table, all places
    below filled in.

    Never recurses, since specs may be deep.
    """
    return [(root, _lay_out_root(root)) for root in problem.roots]


def _lay_out_root(root: Root) -> Place:
    """Returns the place of a root dataset, with the places of all datasets below it filled in."""
    public = (root.size, root.columns, root.nulls)
    traits = traits_of_root(root.domain, root.unit, root.max_degree, *public)
    top = Place(root.dataset, 0, traits, None)
    order, releases = [top], Releases()
    for place in order:
        for child in place.dataset.derived:
            order.extend(_places_below(place, child, releases))
        for partition in place.dataset.partitions:
            traits = partition.kind.traits_of_blocks(partition.size, place.traits)
            blocks = []
            for index, each in enumerate(partition.classes):
                edge = Edge(place, None, None, partition, index)
                block = Place(each.dataset, place.depth + 1, traits, edge, round=place.round)
                block.given, block.above = place.given, place.above
                blocks.append(block)
            place.blocks.append(blocks)
            order.extend(blocks)
    for place in reversed(order):
        _set_levels(place)
    for place in order:
        if place.edge is not None:  # levels that its parent has not are not known
            parent = place.edge.parent
            known = (*parent.levels, parent.depth)
            place.levels = tuple(level for level in place.levels if level in known)
        _place_statements(place)
    for place in order:
        for blocks in place.blocks:
            _find_alike(blocks)
    return top


def _find_alike(blocks: Sequence[Place]) -> None:
    """Sets `like` of the blocks of a partition from which nothing is made.

    Equal blocks are one class unless the spec names what reads each of them; then their mechanisms
    have the same guarantees, and differ in their names and places in the spec alone.
    """
    first: dict[object, Place] = {}
    for block in blocks:
        if not (block.derived or block.blocks):
            stated = tuple(
                (mechanism.count, tuple((*each.statement.content, *each[1:]) for each in placed))
                for mechanism, placed in block.mechanisms
            )
            block.like = first.setdefault((block.levels, block.leans, stated), block)


def _places_below(place: Place, child: Dataset, releases: Releases) -> Iterator[Place]:
    """Yields the places of `child`, the dataset that a map makes: one for each group of draws of a
    sample.

    They become children of `place`. If only one release depends on a random map, a second place
    (`whole`) follows, for the map as a part of that release.
    """
    (*through, child), made_by = _merge_maps(child, releases)
    traits, conduct = made_by.traits_after(place.traits), made_by.conduct()
    drawn = draws(child, place.round) if isinstance(made_by, Sample) else [(place.round, 1)]
    for draw, rounds in drawn:
        edge = Edge(place, made_by, conduct, rounds=rounds, through=tuple(through))
        below = Place(child, place.depth + 1, traits, edge, round=draw)
        below.given, below.above = place.given, place.above
        if place.above is None and conduct.random is not None:
            below.given = below.depth
            if releases.read_once(child, draw):
                below.whole = Place(child, below.depth, traits, edge, round=draw)
                below.whole.given, below.whole.above = place.given, place.depth
        place.derived.append(below)
        yield below
        if below.whole is not None:
            yield below.whole


def _merge_maps(child: Dataset, releases: Releases) -> tuple[list[Dataset], Map]:
    """Returns the datasets made by a chain of maps from `child` on, and one map in place of the
    chain.

    The chain is as long as maps can be merged: nothing else reads the datasets between, and no
    guarantee at or below the last one is stated above it. A short chain is not merged, since maps
    followed one by one may give a sharper bound for a replaced row.
    """
    alone = made_by = child.made_by
    assert alone is not None and made_by is not None
    at_one_key = _at_one_key(child, releases)
    if at_one_key is not None:
        return at_one_key
    row = [child]
    while len(row[-1].derived) == 1 and not (row[-1].mechanisms or row[-1].partitions):
        after = row[-1].derived[0]
        further = None if after.made_by is None else made_by.then(after.made_by)
        if further is None:
            break
        row.append(after)
        made_by = further
    if len(row) <= MOST_IN_A_ROW or releases.furthest(row[-1]):
        return [child], alone
    return row, made_by


def _at_one_key(child: Dataset, releases: Releases) -> tuple[list[Dataset], Map] | None:
    """Returns the datasets made by a chain of maps that ends with one row per key, and one map in
    place of the chain.

    Some map of the chain makes several rows of one. None where the chain cannot be merged.
    """
    row, maps = [child], [child.made_by]
    while isinstance(maps[-1], RowByRow) and len(row) < MOST_LEVELS:
        above = row[-1]
        if len(above.derived) != 1 or above.mechanisms or above.partitions:
            return None
        row.append(above.derived[0])
        maps.append(row[-1].made_by)
    *before, last = [each for each in maps if each is not None]
    column = last.single_key()
    if column is None or not all(each.keeps_column(column) for each in before):
        return None
    if releases.furthest(row[-1]) or not any(each.conduct().several for each in before):
        return None
    return row, AtOneKey(tuple(before), last)


def _set_levels(place: Place) -> None:
    """Sets `read`, `leans` and the `levels` of a place, given those of all places below it."""
    wanted: set[int] = set()
    place.read = bool(place.dataset.mechanisms)
    for below in place.below:
        place.read = place.read or below.read
        place.leans = place.leans or below.leans or (below.read and _is_poisson(below))
        wanted.update(level for level in below.levels if level < place.depth)
    ups: set[int] = set()
    for mechanism in place.dataset.mechanisms:
        for statement in mechanism.statements:
            if not place.admits(statement):
                continue
            if statement.relation.kind is RelationKind.DECLARED:
                wanted.add(STEP)
            elif statement.up:
                ups.add(statement.up)
    for up in ups:
        home = place.depth - up
        wanted |= {home, home + alone(place.ancestors(up))[0]} - {place.depth}
    place.levels = tuple(sorted(wanted)[:MOST_LEVELS])


def _is_poisson(place: Place) -> bool:
    """Returns whether a place is a Poisson sample that amplifies: its outcome is taken as given."""
    made_by = None if place.edge is None else place.edge.made_by
    return isinstance(made_by, Sample) and made_by.size is None and place.above is None


def _place_statements(place: Place) -> None:
    """Appends to `place.mechanisms` each mechanism that reads the dataset, with the number of its
    copies here and its guarantees as `Placed`."""
    index = {depth: i for i, depth in enumerate(place.levels)}
    known: dict[int, Placed] = {}
    own = len(place.levels)
    for mechanism in place.dataset.mechanisms:
        if place.round is not None and mechanism.count < place.round:
            continue
        one_copy = place.round is None or mechanism.count == 1
        released = mechanism if one_copy else replace(mechanism, count=1)
        placed: list[Placed] = []
        for statement in mechanism.statements:
            up = statement.up
            if up not in known:
                known[up] = _place_guarantee(place, statement, index)
            here, admitted = known[up]._replace(statement=statement), place.admits(statement)
            if statement.relation.kind is RelationKind.DECLARED:
                here = here._replace(level=index.get(STEP, own), usable=STEP in index)
            elif admitted and not here.usable and _same_below(statement, place.ancestors(up)):
                here = Placed(statement, own, place.traits)
            placed.append(here._replace(usable=here.usable and admitted))
        place.mechanisms.append((released, tuple(placed)))


def _place_guarantee(place: Place, statement: Statement, index: Mapping[int, int]) -> Placed:
    """Returns a guarantee as it applies at a place; unusable if its dataset's level is unknown.

    `index`: for each depth in `place.levels` its position there.
    """
    own = len(index)
    if not statement.up:
        return Placed(statement, own, place.traits)
    edges, home = place.ancestors(statement.up), place.depth - statement.up
    level = index.get(home)
    reached, one_end = alone(edges)
    counted = None if reached == len(edges) else index.get(home + reached, level)
    return Placed(
        statement,
        own if level is None else level,
        edges[0].parent.traits,
        bool(dropping_edges(edges)),  # the padding lemma (GMPS24 IV.15, extended)
        level is not None,
        _to_edges(edges[0]) and counted is None,
        counted,
        one_end,
        not (edges[0].parent.traits.fixed or edges[0].parent.traits.nulls)
        and all(edge.local for edge in edges),
    )


def alone(edges: Sequence[Edge]) -> tuple[int, bool]:
    """Returns for a path of edges (reached, one end): how many edges from the start rows that are
    lost may be ignored, and whether one end of a replaced row may be ignored if it is lost.

    `reached`: after so many edges the rows of one privacy unit that have not arrived may be
    ignored, since the output has the same distribution without them. The count ends
    before a sample, which drops some of the rows that arrive; and, once a row may give several,
    before a random choice of several rows, whose distribution depends on their number, or a second
    choice, whose order may differ. `one end`: the old or the new row of a replacement may be
    ignored if it does not arrive; a sample draws both or neither.
    """
    reached: int | None = None
    several, chosen, one_end = False, False, True
    for n, edge in enumerate(edges):
        conduct = edge.conduct
        if conduct is None:
            continue
        several = several or conduct.several
        picks = conduct.picks
        if picks is None or not (several or picks is RowSelection.SAMPLE):
            continue
        if reached is None and (chosen or picks in (RowSelection.SAMPLE, RowSelection.RANDOM)):
            reached = n
        if picks is not RowSelection.SAMPLE:
            one_end = one_end and not chosen
            chosen = True
    return len(edges) if reached is None else reached, one_end


def _same_below(statement: Statement, edges: Sequence[Edge]) -> bool:
    """Returns whether a guarantee on an ancestor for unbounded neighbours is also one on the
    dataset read (theory, section 4).

    `edges`: from the ancestor down to the dataset read.
    """
    if statement.relation.kind is not RelationKind.UNBOUNDED:
        return False
    return all(
        (edge.conduct is not None and edge.conduct.gives is Gives.ONE)
        or (edge.partition is not None and not edge.partition.kind.assignment().shifts)
        for edge in edges
    )


def _to_edges(edge: Edge) -> bool:
    """Returns whether an edge of the tree leads from a graph to the table of its edges."""
    if edge.made_by is None or edge.parent.traits.shape is not Shape.GRAPH:
        return False
    return edge.made_by.traits_after(edge.parent.traits).edge_rows


def dropping_edges(edges: Sequence[Edge]) -> list[Edge]:
    """Returns the edges of a path that are known to drop some row of the dataset where the path
    starts.

    An edge counts while all edges before it are maps that treat each row by itself, or blocks that
    any row may be left out of. After a map that makes several rows of one no edge counts, since the
    row may survive by its other results.
    """
    found: list[Edge] = []
    for edge in edges:
        conduct = edge.conduct
        if conduct is None:
            partition = edge.partition
            assert partition is not None
            if not partition.kind.assignment().padding:
                return found
            dropping = partition.drops or partition.kind.leaves_out(edge.block, partition.size)
        else:
            if conduct.gives is Gives.DEPENDS:
                return found
            if conduct.gives is Gives.SEVERAL:
                return [*found, edge] if conduct.drops else found
            dropping = conduct.drops
        if dropping:
            found.append(edge)
    return found
