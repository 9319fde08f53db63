"""From mechanisms as written to those of a problem, each at the place that it reads."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from itertools import islice

from dpcompose.core.guarantee import Notion
from dpcompose.core.problem import Goal, Mechanism, Path, PostProcessing
from dpcompose.core.relation import Relation, RelationKind
from dpcompose.errors import quoted
from dpcompose.faults import Faults, listing
from dpcompose.resolve.forest import Names, Place, Split, ancestors, is_above, no_block
from dpcompose.resolve.numbers import Numbers
from dpcompose.resolve.relations import Relations, Where, meaningless
from dpcompose.resolve.statements import Block, Draft, Parameter, Varied
from dpcompose.spec import mechanisms as written

_ZERO = Fraction(0)
_ANCESTORS_LISTED = 10
_BLOCKS_LISTED = 10

_MAIN: dict[type[object], tuple[Notion, str]] = {
    written.Pure: (Notion.PURE, "epsilon"),
    written.PureMechanism: (Notion.PURE, "epsilon"),
    written.Approx: (Notion.APPROX, "epsilon"),
    written.ApproxMechanism: (Notion.APPROX, "epsilon"),
    written.Zcdp: (Notion.ZCDP, "rho"),
    written.ZcdpMechanism: (Notion.ZCDP, "rho"),
    written.Gdp: (Notion.GDP, "mu"),
    written.GdpMechanism: (Notion.GDP, "mu"),
}


class Mechanisms:
    """Puts every mechanism where it reads, and reports what is wrong with it."""

    def __init__(
        self,
        names: Names,
        relations: Relations,
        numbers: Numbers,
        goal: Goal | None,
        faults: Faults,
    ) -> None:
        """`goal`: None if it is faulty; nothing is then said of what it would mean by default."""
        self.post_processing: list[PostProcessing] = []
        self._names = names
        self._relations = relations
        self._numbers = numbers
        self._goal = goal
        self._faults = faults
        self._first: dict[str, Path] = {}
        self._places: dict[str, Place | None] = {}
        self._fine: set[tuple[Relation, int, bool]] = set()
        self._simple: dict[str, Relation] = {}

    def add(self, index: int, mechanism: written.Mechanism) -> None:
        """Add the mechanism at `index` of the spec."""
        path: Path = ("mechanisms", index)
        self._name(mechanism.name, path)
        if isinstance(mechanism, written.PostProcessing):
            inputs = tuple(mechanism.post_processes)
            self.post_processing.append(PostProcessing(mechanism.name, inputs, path))
            return
        place = self._read(mechanism.reads, path)
        stated: list[tuple[written.Guarantee, Path]]
        if isinstance(mechanism, written.SeveralMechanism):
            stated = [
                (each, (*path, "guarantees", i)) for i, each in enumerate(mechanism.guarantees)
            ]
        else:
            stated = [(mechanism, path)]
        drafts = [self._draft(guarantee, at, place) for guarantee, at in stated]
        fine = [draft for draft in drafts if draft is not None]
        if place is not None and len(fine) == len(drafts):
            self._put(place, index, mechanism, fine, path)

    def _name(self, name: str, path: Path) -> None:
        at = (*path, "name")
        if not name.strip():
            self._faults.add("DPC109", at, "a mechanism needs a name that can be seen")
        elif self._first.setdefault(name, path) is not path:
            message = f"the mechanism {quoted(name)} is named twice"
            hint = "names are unique: several copies are one mechanism with `count`"
            self._faults.add("DPC120", at, message, hint)

    def _read(self, reads: str, path: Path) -> Place | None:
        place = self._places.get(reads)
        if place is None:
            # What refers to nothing is looked up again, so that every use is reported.
            place = self._places[reads] = self._names.place(reads, (*path, "reads"))
        return place

    def _put(
        self,
        place: Place,
        index: int,
        mechanism: written.Reading,
        drafts: list[Draft],
        path: Path,
    ) -> None:
        name, count = mechanism.name, mechanism.count
        varied = any(
            isinstance(each.value, dict) or isinstance(each.delta, dict) for each in drafts
        )
        if varied:
            assert place.scope is not None
            each = Varied(name, drafts, count, path)
            place.scope.varied.append(each)
            place.mechanisms.append((index, each))
            return
        statements = tuple(draft.on(None) for draft in drafts)
        place.mechanisms.append((index, Mechanism(name, statements, count, path)))

    # statements

    def _draft(self, stated: written.Guarantee, path: Path, place: Place | None) -> Draft | None:
        notion, key = _MAIN[type(stated)]
        value = self._parameter(getattr(stated, key), (*path, key), place)
        delta: Parameter | None = _ZERO
        if isinstance(stated, written.Approx):
            delta = self._parameter(stated.delta, (*path, "delta"), place, below_one=True)
        relation = self._relation(stated.relation, path)
        domain = place if stated.stated_on is None else self._domain(stated.stated_on, place, path)
        if place is None or domain is None or relation is None:
            return None
        fine = self._has_meaning(relation, domain, stated, path)
        if relation.kind is RelationKind.EUCLIDEAN and notion is not Notion.PURE:
            message = f"`relation: euclidean` goes with `notion: pure`, not `{notion}`"
            hint = "only a loss ε per unit of distance can be followed"
            self._faults.add("DPC150", (*path, "notion"), message, hint)
            fine = False
        if not fine or value is None or delta is None:
            return None
        up = place.depth - domain.depth
        return Draft(relation, up, notion, value, delta, path, stated.relation is not None)

    def _relation(self, relation: str | written.LongRelation | None, path: Path) -> Relation | None:
        """The relation of a statement; None if it is faulty, which is then reported."""
        if relation is None:
            return None if self._goal is None else self._goal.relation
        if not isinstance(relation, str):
            return self._relations.stated(relation, (*path, "relation"))
        known = self._simple.get(relation)
        if known is None:
            known = self._relations.stated(relation, (*path, "relation"))
            if known is not None:
                self._simple[relation] = known
        return known

    def _domain(self, stated_on: str, place: Place | None, path: Path) -> Place | None:
        """The dataset that a statement speaks of; None if it cannot, which is then reported."""
        at = (*path, "stated_on")
        reference = self._names.find(stated_on, at)
        if reference is None or place is None:
            return None
        node: Place | Split | None = reference.node
        if isinstance(reference.node, Split) and reference.block is not None:
            node = reference.node.named.get(reference.block)
        if node is not None and is_above(node, place):
            return node.star if isinstance(node, Split) else node
        self._not_above(stated_on, reference.node, place, at)
        return None

    def _not_above(self, stated_on: str, node: Place | Split, place: Place, at: Path) -> None:
        message = f"{quoted(stated_on)} is neither {quoted(place.name)} nor what it is made from"
        hint = f"possible: {listing(list(islice(ancestors(place), _ANCESTORS_LISTED)))}"
        if isinstance(node, Split) and is_above(node.star, place):
            message = f"{quoted(place.name)} is not made from {quoted(stated_on)} alone"
            hint = f"write `stated_on: {node.name}.*` for the block that each copy is made from"
        self._faults.add("DPC128", at, message, hint)

    def _has_meaning(
        self, relation: Relation, domain: Place, stated: written.Guarantee, path: Path
    ) -> bool:
        """Whether a relation has a meaning on a dataset; if not, that is reported."""
        key = (relation, id(domain.facts), domain.parent is None)
        if key in self._fine:
            return True
        above = None if domain.parent is None else domain.parent.name
        why = meaningless(relation, Where(domain.name, domain.facts, above))
        if why is None:
            self._fine.add(key)
            return True
        name, given = quoted(str(relation)), stated.relation is not None
        subject = name if given else f"the relation protected, {name},"
        message = f"{subject} has no meaning on {quoted(domain.name)}: {why.why}"
        at = "relation" if given else "stated_on" if stated.stated_on is not None else "reads"
        # A guarantee in a list has no `reads` of its own: the list item is marked then.
        self._faults.add(why.code, (*path, at), message, why.hint)
        return False

    # parameters

    def _parameter(
        self,
        given: str | dict[str, str],
        path: Path,
        place: Place | None,
        below_one: bool = False,
    ) -> Parameter | None:
        if isinstance(given, str):
            return self._numbers.parameter(given, path, below_one)
        values = {
            name: self._numbers.parameter(text, (*path, name), below_one)
            for name, text in given.items()
        }
        if place is None or not self._covers(values, path, place):
            return None
        assert place.scope is not None
        by_block: dict[Block, Fraction] = {}
        for name, value in values.items():
            block = place.scope.blocks.find(name)
            if value is None or block is None:
                return None
            by_block[block] = value
        return by_block

    def _covers(self, given: Collection[str], path: Path, place: Place) -> bool:
        """Whether a mapping by block names exactly the blocks; what is wrong is reported."""
        split = place.scope
        if split is None:
            message = f"{quoted(place.name)} is one dataset, without a copy for each block"
            hint = "write one number; a mapping by block goes with `reads: name.*`"
            self._faults.add("DPC127", path, message, hint)
            return False
        blocks = split.blocks
        unknown = [name for name in given if blocks.find(name) is None]
        for name in unknown:
            no_block(split, name, (*path, name), self._faults, key=True)
        missing = len(blocks) - (len(given) - len(unknown))
        if missing:
            first = list(islice((x for x in blocks.names if str(x) not in given), _BLOCKS_LISTED))
            more = f" and {missing - len(first)} more" if missing > len(first) else ""
            what = "the block" if missing == 1 else "the blocks"
            message = f"no value for {what} {listing(first)}{more} of {quoted(split.name)}"
            self._faults.add("DPC126", path, message, "give every block a value", key=True)
        return not unknown and not missing
