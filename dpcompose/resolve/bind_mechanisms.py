"""From mechanisms as written to those of a problem, each at the place that it reads."""

from __future__ import annotations

import math
from functools import partial
from itertools import islice
from typing import Any

from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.sample import Sample
from dpcompose.core.change.maps.shuffle import Shuffle
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.shuffled_reports import shuffled
from dpcompose.core.model.problem import Derived, Goal, Mechanism, Path
from dpcompose.curves.rounding import plural
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.applicable import Meanings
from dpcompose.resolve.bind_concrete import ConcreteMechanisms
from dpcompose.resolve.bind_relations import Relations
from dpcompose.resolve.bind_selections import SELECT, selections
from dpcompose.resolve.facts import facts_after_map
from dpcompose.resolve.forest import Names, SpecPlace, lineage, sample_of
from dpcompose.resolve.named_columns import has_column
from dpcompose.resolve.parameters import Numbers
from dpcompose.resolve.stated import StatedGuarantees, in_turn
from dpcompose.resolve.statements import Draft, Varied, varying
from dpcompose.spec import mechanisms as written
from dpcompose.spec.fields import Model
from dpcompose.spec.guarantees import Approx, Gdp, Profile, Pure, Rdp, Zcdp
from dpcompose.spec.mechanisms import AnyConcrete, ReadingEntry


class Mechanisms:
    """Adds each mechanism to the place that it reads, and reports the errors in it."""

    def __init__(
        self,
        names: Names,
        relations: Relations,
        numbers: Numbers,
        goal: Goal | None,
        faults: Faults,
    ) -> None:
        """Sets up the binding; `goal` is None if it has errors: defaults that depend on it are not
        reported."""
        self.post_processing: list[Derived] = []
        #: The selections of columns that mechanisms use, in place of maps.
        self.selected: list[SpecPlace] = []
        self._names = names
        self._faults = faults
        self._numbers = numbers
        self._goal = goal
        meanings = Meanings(relations, goal, faults)
        self._stated = StatedGuarantees(names, meanings, numbers, faults)
        self._concrete = ConcreteMechanisms(meanings, numbers, faults)
        self._first: dict[str, Path] = {}
        self._places: dict[str, SpecPlace | None] = {}

    def add(self, index: int, mechanism: written.Mechanism) -> None:
        """Adds the mechanism with number `index` in the spec to the place that it reads."""
        path: Path = ("mechanisms", index)
        self._name(mechanism.name, path)
        if isinstance(mechanism, written.PostProcessing):
            inputs = tuple(mechanism.post_processes)
            self.post_processing.append(Derived(mechanism.name, inputs, path))
            return
        place = self._read(mechanism.reads, path)
        if mechanism.interactive:
            self._check_interactive(mechanism, path, place)
        drafts = self._drafts(mechanism, path, place)
        if place is not None and drafts is not None:
            refused = (
                self._over_batches(drafts, place)
                or self._of_other_groups(place, path)
                or self._counts_steps(mechanism, place, path)
                or self._of_other_draws(mechanism, place, path)
            )
            drafts = None if refused else drafts
        if place is not None and drafts is not None and mechanism.uses is not None:
            place = self._columns_of(place, mechanism.uses, path)
            drafts = [each._replace(up=each.up + 1) for each in drafts]
        if place is not None and drafts is not None:
            self._put(place, index, mechanism, drafts, path)

    def look_at(self, index: int, tree: Any) -> None:
        """Reports errors in the name and the reference of a mechanism that has errors elsewhere."""
        path: Path = ("mechanisms", index)
        entry = tree["mechanisms"][index]
        if not isinstance(entry, dict):
            return
        if isinstance(name := entry.get("name"), str):
            self._name(name, path)
        if isinstance(reads := entry.get("reads"), str):
            self._read(reads, path)

    def _drafts(self, mechanism: Model, path: Path, place: SpecPlace | None) -> list[Draft] | None:
        """Returns the guarantees of a mechanism, as drafts; None after an error."""
        if place is not None and isinstance(place.made_by, Shuffle):
            return self._shuffled(mechanism, path, place, place.made_by.reports)
        if getattr(mechanism, "local", False):
            message = "`local: true` is for what reads shuffled reports"
            hint = "each row's report by itself is stated for one row replaced: `relation: bounded`"
            self._faults.add("DPC105", (*path, "local"), message, hint, key=True)
            return None
        if isinstance(mechanism, SELECT):
            drafts = partial(self._drafts, place=place)
            return selections(mechanism, path, drafts, self._numbers, self._faults)
        if not isinstance(mechanism, written.SeveralMechanism):
            if isinstance(mechanism, Pure | Approx | Zcdp | Gdp | Rdp | Profile):
                return self._stated.drafts(mechanism, path, place)
            assert isinstance(mechanism, AnyConcrete)
            return self._concrete.drafts(mechanism, path, place)
        listed = [
            self._stated.drafts(each, (*path, "guarantees", i), place)
            for i, each in enumerate(mechanism.guarantees)
        ]
        found = [draft for drafts in listed for draft in drafts or ()]
        if None in listed or place is None:
            return None
        return [*found, *in_turn(found, place)]

    def _over_batches(self, drafts: list[Draft], place: SpecPlace) -> bool:
        """Returns whether a guarantee is stated above batches, which is reported: it is released on
        all of them."""
        for draft in drafts:
            for each in islice(lineage(place), draft.up):
                if isinstance(each.made_by, Batches | Allocate):
                    every = (
                        "in each step" if isinstance(each.made_by, Allocate) else "on each batch"
                    )
                    message = f"what reads {quoted(place.name)} is released {every}"
                    hint = f"state it for one of them: `stated_on: {each.name}`"
                    self._faults.add("DPC128", (*draft.path, "stated_on"), message, hint)
                    return True
        return False

    def _counts_steps(self, mechanism: ReadingEntry, place: SpecPlace, path: Path) -> bool:
        """Returns whether copies are given of what is released in each step anyway, which is
        reported."""
        key: Path = ("count",)
        count = mechanism.count
        if isinstance(mechanism, SELECT) and (mechanism.runs.fixed or 1) > 1:
            count, key = mechanism.runs.fixed, ("runs", "fixed")
        for each in lineage(place):
            if isinstance(each.made_by, Allocate) and count > 1:
                steps = plural(each.made_by.steps * each.made_by.epochs, "step")
                message = f"what reads {quoted(each.name)} is released in each of its {steps}"
                hint = "leave `count` out; a second release in each step has an entry of its own"
                self._faults.add("DPC105", (*path, *key), message, hint, key=True)
                return True
        return False

    def _of_other_groups(self, place: SpecPlace, path: Path) -> bool:
        """Returns whether a place is drawn from groups in turn while rows of several groups may
        change, which is reported."""
        goal = self._goal
        alone = goal is None or (
            goal.relation.kind is RelationKind.UNBOUNDED and goal.distance == 1
        )
        for each in lineage(place):
            if isinstance(each.made_by, Sample) and each.made_by.cycle > 1 and not alone:
                message = f"{quoted(each.name)} draws from groups in turn, for one row of one group"
                hint = "protect one row: `unbounded` (it comes or goes) or `zero-out`"
                self._faults.add("DPC105", (*path, "reads"), message, hint)
                return True
        return False

    def _of_other_draws(self, mechanism: Model, place: SpecPlace, path: Path) -> bool:
        """Returns whether a fixed number of runs, which read one draw of a sample, would be counted
        as copies that read one each, which is reported."""
        if not isinstance(mechanism, SELECT) or (mechanism.runs.fixed or 1) == 1:
            return False
        for each in lineage(place):
            if isinstance(each.made_by, Sample) and not each.made_by.shared:
                message = f"all runs of a selection read one draw of {quoted(each.name)}"
                hint = (
                    f"write `draws: one` at {quoted(each.name)}; where each run has a draw of its "
                    "own, give the mechanism `count` in place of `select`"
                )
                self._faults.add("DPC156", (*path, "runs", "fixed"), message, hint, key=True)
                return True
        return False

    def _shuffled(
        self, mechanism: Model, path: Path, place: SpecPlace, reports: int
    ) -> list[Draft] | None:
        """Returns the guarantees on the rows of what reads them shuffled; None after an error."""
        response = getattr(mechanism, "mechanism", None) == "randomized-response"
        if not response and not getattr(mechanism, "local", False):
            message = f"{quoted(place.name)} is shuffled reports, one that each row randomizes"
            hint = (
                "`mechanism: randomized-response`, or `notion: pure` with `local: true`, reads it; "
                "what a curator computes reads the rows themselves"
            )
            self._faults.add("DPC105", (*path, "reads"), message, hint)
            return None
        rows = place.parent
        assert rows is not None
        found: list[Draft] | None
        if response:
            assert isinstance(mechanism, AnyConcrete)
            found = self._concrete.drafts(mechanism, path, rows)
        else:
            assert isinstance(mechanism, Pure)
            found = self._stated.drafts(mechanism, path, rows)
            if found is not None and not self._concrete.answers_every_row(rows, path, "local"):
                return None
        drawn = [each.made_by for each in lineage(rows) if isinstance(each.made_by, Sample)]
        if any(each.size is None for each in drawn):
            message = f"{quoted(rows.name)} is of random size, and so is the number of reports"
            hint = "`reports` holds for every draw: shuffle the rows, or a sample of fixed size"
            self._faults.add("DPC105", (*path, "reads"), message, hint)
            return None
        if found is None:
            return None
        if any(each.relation.kind is not RelationKind.BOUNDED or each.up for each in found):
            message = "shuffled reports are for one row replaced"
            hint = "state the mechanism for it: `relation: bounded`"
            self._faults.add(
                "DPC105", (*path, "mechanism" if response else "notion"), message, hint
            )
            return None
        return [
            each._replace(up=1, make=partial(shuffled, each.make, reports, response))
            for each in found
        ]

    def _name(self, name: str, path: Path) -> None:
        """Reports a name that is blank or has been given to another mechanism."""
        at = (*path, "name")
        if not name.strip():
            self._faults.add("DPC109", at, "a mechanism needs a name that can be seen")
        elif self._first.setdefault(name, path) is not path:
            message = f"the mechanism {quoted(name)} is named twice"
            hint = "names are unique: several copies are one mechanism with `count`"
            related = (((*self._first[name], "name"), False, "named here first"),)
            self._faults.add("DPC120", at, message, hint, related=related)

    def _read(self, reads: str, path: Path) -> SpecPlace | None:
        """Returns the place that `reads` names; None after an error."""
        place = self._places.get(reads)
        if place is None:
            # What refers to nothing is looked up again, so that every use is reported.
            place = self._places[reads] = self._names.place(reads, (*path, "reads"))
        return place

    def _check_interactive(
        self, mechanism: ReadingEntry, path: Path, place: SpecPlace | None
    ) -> None:
        """Reports an interactive mechanism whose guarantee is known for one output alone."""
        kind = getattr(mechanism, "mechanism", None)
        hint = "state what it guarantees against every analyst: `notion: pure`, and so on"
        if kind not in (None, "sparse-vector"):
            message = f"{quoted(str(kind))} gives all its output at once"
        elif place is not None and isinstance(place.made_by, Shuffle):
            message = f"{quoted(place.name)} is shuffled reports, one for each row"
            hint = "no theorem is known for interactive reports: leave `interactive` out"
        else:
            return
        self._faults.add("DPC105", (*path, "interactive"), message, hint, key=True)

    def _columns_of(self, place: SpecPlace, uses: list[str], path: Path) -> SpecPlace | None:
        """Returns the place of the columns of a dataset that a mechanism uses; None after an
        error."""
        at = (*path, "uses")
        if place.facts.traits.shape is not Shape.TABLE or isinstance(place.made_by, Shuffle):
            shuffled_ = isinstance(place.made_by, Shuffle)
            what = "shuffled reports" if shuffled_ else place.facts.traits.shape
            message = f"{quoted(place.name)} is {what}: it has no columns to name"
            self._faults.add("DPC105", at, message, "leave `uses` out", key=True)
            return None
        missing = [
            name
            for i, name in enumerate(uses)
            if not has_column(name, (*at, i), place, self._faults)
        ]
        if missing:
            return None
        name = f"{place.name} ({', '.join(sorted(set(uses)))})"
        known = next((each for each in self.selected if each.name == name), None)
        if known is None:
            made_by = Columns(frozenset(uses))
            facts = facts_after_map(name, made_by, place.facts)
            index = len(self._names.nodes) + len(self.selected)
            known = SpecPlace(name, at, index, place, place.depth + 1, facts, place.scope, made_by)
            place.children.append(known)
            self.selected.append(known)
        return known

    def _put(
        self,
        place: SpecPlace,
        index: int,
        mechanism: ReadingEntry,
        drafts: list[Draft],
        path: Path,
    ) -> None:
        """Adds the mechanism to the dataset that it reads; if its parameters vary by block, also to
        its partition's scope."""
        name, count = mechanism.name, mechanism.count
        group = mechanism.tags if mechanism.group is None else mechanism.group
        if mechanism.tags is not None and mechanism.group is not None:
            message = "`tags` and `group` are two words for one thing"
            self._faults.add("DPC105", (*path, "tags"), message, "keep one of them", key=True)
        if isinstance(mechanism, SELECT):
            count *= mechanism.runs.fixed or 1
        made = (each.made_by for each in lineage(place))
        count *= math.prod(each.epochs for each in made if isinstance(each, Batches | Allocate))
        sample = sample_of(place)
        if sample is not None and sample[1].cycle > 1:
            # A row is in one group; the steps of a matrix in which it takes part are given.
            steps = getattr(mechanism, "participations", None)
            count = -(-count // sample[1].cycle) if steps is None else count * steps
        if varying(drafts):
            assert place.scope is not None
            each = Varied(name, drafts, count, path, group, mechanism.interactive)
            place.scope.varied.append(each)
            place.mechanisms.append((index, each))
            return
        statements = tuple(draft.on(None) for draft in drafts)
        of_spec = path, group, mechanism.interactive
        made_here = Mechanism(name, statements, count, *of_spec)
        place.mechanisms.append((index, made_here))
