"""From mechanisms as written to those of a problem, each at the place that it reads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from dpcompose.core.change.maps.allocate import Allocate
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.columns import Columns
from dpcompose.core.change.maps.sample import Sample, fresh_sample
from dpcompose.core.change.maps.shuffle import Shuffle
from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.core.change.row_facts import Shape
from dpcompose.core.mechanisms.shuffled_reports import shuffled
from dpcompose.core.model.problem import Derived, Mechanism, Path, Statement
from dpcompose.curves.rounding import plural
from dpcompose.errors import quoted
from dpcompose.faults import Faults
from dpcompose.resolve.bind_concrete import answers_every_row, family_statements
from dpcompose.resolve.bind_relations import Relations
from dpcompose.resolve.forest import Block, Names, SpecPlace, cycles, has_column
from dpcompose.resolve.parameters import Context, Numbers
from dpcompose.resolve.selections import selection_statements
from dpcompose.resolve.stated import guarantee_statements, in_turn
from dpcompose.source import Value
from dpcompose.spec import mechanisms as written
from dpcompose.spec.fields import Model
from dpcompose.spec.guarantees import Approx, Gdp, Profile, Pure, Rdp, Zcdp
from dpcompose.spec.mechanisms import AnyConcrete, ReadingEntry, Selection


class Mechanisms:
    """Adds each mechanism to the place that it reads, and reports the errors in it."""

    def __init__(
        self,
        names: Names,
        relations: Relations,
        numbers: Numbers,
        faults: Faults,
    ) -> None:
        self.post_processing: list[Derived] = []
        #: The selections of columns that mechanisms use, in place of maps.
        self.selected: list[SpecPlace] = []
        self._context = Context(names, relations, numbers, faults)
        self._faults = faults
        self._first: dict[str, Path] = {}

    def add(self, index: int, mechanism: written.Mechanism) -> None:
        """Adds the mechanism with number `index` in the spec to the place that it reads."""
        path: Path = ("mechanisms", index)
        self._name(mechanism.name, path)
        if isinstance(mechanism, written.PostProcessing):
            inputs = tuple(mechanism.post_processes)
            self.post_processing.append(Derived(mechanism.name, inputs, path))
            return
        place = self._context.names.place(mechanism.reads, (*path, "reads"))
        if mechanism.interactive:
            self._check_interactive(mechanism, path, place)
        found = self._statements(mechanism, path, place, self._context)
        if place is None or found is None:
            return
        if place.dealt and self._is_miscounted(mechanism, found, place, path):
            return
        read: SpecPlace | None = place
        if mechanism.uses is not None:
            read = self._columns_of(place, mechanism.uses, path)
        if read is None:
            return
        columns = read.depth - place.depth
        made = self._mechanism(read, mechanism, path, _from_columns(found, columns))
        varied = list(_by_block(mechanism)) if read.scope is not None else []
        if not varied:
            read.mechanisms.append((index, made))
            return
        assert read.scope is not None
        on: dict[Block, Mechanism] = {}
        #: The mechanism by the texts of its parameters, and by what it states.
        by_texts: dict[tuple[str, ...], Mechanism] = {}
        alike: dict[Mechanism, Mechanism] = {}
        for block in read.scope.blocks:
            texts = tuple(each[str(block)] for each in varied)
            if texts not in by_texts:
                context = self._context._replace(block=block)
                found = self._statements(mechanism, path, place, context)
                if found is None:
                    return
                stating = replace(made, statements=_from_columns(found, columns))
                by_texts[texts] = alike.setdefault(stating, stating)
            on[block] = by_texts[texts]
        read.scope.varied.append(on)
        read.mechanisms.append((index, on))

    def look_at(self, index: int, entry: Value) -> None:
        """Reports errors in the name and the reference of a mechanism whose other keys could not be
        read."""
        path: Path = ("mechanisms", index)
        if not isinstance(entry, dict):
            return
        if isinstance(name := entry.get("name"), str):
            self._name(name, path)
        if isinstance(reads := entry.get("reads"), str):
            self._context.names.place(reads, (*path, "reads"))

    def _statements(
        self, mechanism: Model, path: Path, place: SpecPlace | None, context: Context
    ) -> list[Statement] | None:
        """Returns the guarantees of a mechanism; None after an error."""
        if place is not None and isinstance(place.made_by, Shuffle):
            return self._statements_of_reports(mechanism, path, place, context)
        if isinstance(mechanism, written.PureMechanism) and mechanism.local:
            message = "`local: true` is for what reads shuffled reports"
            hint = "each row's report by itself is stated for one row replaced: `relation: bounded`"
            self._faults.add("DPC105", (*path, "local"), message, hint, key=True)
            return None
        if isinstance(mechanism, Selection):
            statements = partial(self._statements, place=place, context=context)
            return selection_statements(mechanism, path, statements, context)
        if not isinstance(mechanism, written.SeveralMechanism):
            if isinstance(mechanism, Pure | Approx | Zcdp | Gdp | Rdp | Profile):
                return guarantee_statements(mechanism, path, place, context)
            assert isinstance(mechanism, AnyConcrete)
            return family_statements(mechanism, path, place, context)
        listed = [
            guarantee_statements(each, (*path, "guarantees", i), place, context)
            for i, each in enumerate(mechanism.guarantees)
        ]
        found = [each for statements in listed for each in statements or ()]
        if None in listed or place is None:
            return None
        return [*found, *in_turn(found, place)]

    def _is_miscounted(
        self, mechanism: ReadingEntry, stated: list[Statement], place: SpecPlace, path: Path
    ) -> bool:
        """Returns whether the draws, batches or steps above a place are not those that a mechanism
        is stated or counted for, which is reported."""
        for statement in stated:
            for each in place.dealt:
                below = each.depth > place.depth - statement.up
                if below and isinstance(each.made_by, Batches | Allocate):
                    of_steps = isinstance(each.made_by, Allocate)
                    released = "in each step" if of_steps else "on each batch"
                    message = f"what reads {quoted(place.name)} is released {released}"
                    hint = f"state it for one of them: `stated_on: {each.name}`"
                    self._faults.add("DPC128", (*statement.path, "stated_on"), message, hint)
                    return True
        goal = self._context.relations.goal
        one_row = goal is None or (
            goal.relation.kind is RelationKind.UNBOUNDED and goal.distance == 1
        )
        for each in place.dealt:
            if isinstance(each.made_by, Sample) and each.made_by.cycle > 1 and not one_row:
                message = f"{quoted(each.name)} draws from groups in turn, for one row of one group"
                hint = "protect one row: `unbounded` (it comes or goes) or `zero-out`"
                self._faults.add("DPC105", (*path, "reads"), message, hint)
                return True
        runs = _fixed_runs(mechanism)
        counted = ("runs", "fixed") if runs > 1 else ("count",)
        for each in place.dealt:
            if isinstance(each.made_by, Allocate) and (runs if runs > 1 else mechanism.count) > 1:
                steps = plural(each.made_by.steps * each.made_by.epochs, "step")
                message = f"what reads {quoted(each.name)} is released in each of its {steps}"
                hint = "leave `count` out; a second release in each step has an entry of its own"
                self._faults.add("DPC105", (*path, *counted), message, hint, key=True)
                return True
        # Runs read one draw of a sample, and would be counted as copies that read one each.
        above = ((quoted(each.name), each.made_by) for each in place.dealt)
        drawn = fresh_sample(above) if runs > 1 else None
        if drawn is not None:
            message = f"all runs of a selection read one draw of {drawn}"
            hint = (
                f"write `draws: one` at {drawn}; where each run has a draw of its own, give the "
                "mechanism `count` in place of `select`"
            )
            self._faults.add("DPC156", (*path, *counted), message, hint, key=True)
        return drawn is not None

    def _statements_of_reports(
        self, mechanism: Model, path: Path, place: SpecPlace, context: Context
    ) -> list[Statement] | None:
        """Returns the guarantees of a mechanism that reads shuffled reports, for the rows that
        report; None after an error."""
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
        assert rows is not None and isinstance(place.made_by, Shuffle)
        reports = place.made_by.reports
        found: list[Statement] | None
        if response:
            assert isinstance(mechanism, AnyConcrete)
            found = family_statements(mechanism, path, rows, context)
        else:
            assert isinstance(mechanism, Pure)
            found = guarantee_statements(mechanism, path, rows, context)
            if found is not None and not answers_every_row(rows, path, "local", context):
                return None
        drawn = [each.made_by for each in rows.dealt if isinstance(each.made_by, Sample)]
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
            each._replace(up=1, guarantee=shuffled(each.guarantee, reports, response))
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
        if place.traits.shape is not Shape.TABLE or isinstance(place.made_by, Shuffle):
            shuffled_ = isinstance(place.made_by, Shuffle)
            what = "shuffled reports" if shuffled_ else place.traits.shape
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
            traits = made_by.traits_after(place.traits)
            index = len(self._context.names.nodes) + len(self.selected)
            known = SpecPlace(name, at, index, place, traits, place.sound, place.scope, made_by)
            place.children.append(known)
            self.selected.append(known)
        return known

    def _mechanism(
        self,
        place: SpecPlace,
        mechanism: ReadingEntry,
        path: Path,
        statements: tuple[Statement, ...],
    ) -> Mechanism:
        """Returns a mechanism that reads a place, with its guarantees and its number of copies."""
        count = mechanism.count
        group = mechanism.tags if mechanism.group is None else mechanism.group
        if mechanism.tags is not None and mechanism.group is not None:
            message = "`tags` and `group` are two words for one thing"
            self._faults.add("DPC105", (*path, "tags"), message, "keep one of them", key=True)
        count *= _fixed_runs(mechanism)
        made = [each.made_by for each in place.dealt]
        count *= math.prod(each.epochs for each in made if isinstance(each, Batches | Allocate))
        sample = next((each for each in made if isinstance(each, Sample)), None)
        if sample is not None and sample.cycle > 1:
            # A row is in one group; the steps of a matrix in which it takes part are given.
            steps = getattr(mechanism, "participations", None)
            count = -(-count // sample.cycle) if steps is None else count * steps
        return Mechanism(mechanism.name, statements, count, path, group, mechanism.interactive)

    # what is computed from released outputs alone

    def check_post_processing(self, listed: list[Value]) -> None:
        """Reports inputs that are no mechanisms, and post-processing that uses its own output.

        `listed`: all mechanisms as they are written.
        """
        names = (each.get("name") for each in listed if isinstance(each, dict))
        known = dict.fromkeys(name for name in names if isinstance(name, str))
        for entry in self.post_processing:
            for i, name in enumerate(entry.inputs):
                if name not in known:
                    at = (*entry.path, "post_processes", i)
                    message = f"unknown mechanism {quoted(name)}"
                    self._faults.add("DPC130", at, message, wrong=name, legal=known)
        by_name = {entry.name: entry for entry in self.post_processing}
        for cycle in cycles({name: entry.inputs for name, entry in by_name.items()}):
            around = " uses ".join(map(quoted, [*cycle, cycle[0]]))
            path = (*by_name[cycle[0]].path, "post_processes")
            message = f"{quoted(cycle[0])} uses its own output: {around}"
            self._faults.add("DPC124", path, message, "outputs are used after they are released")


def _from_columns(statements: list[Statement], columns: int) -> tuple[Statement, ...]:
    """Returns guarantees as seen from the dataset read; `columns`: 1 if the mechanism reads the
    columns that it uses, one step below the dataset that they are stated from, else 0."""
    if not columns:
        return tuple(statements)
    return tuple(each._replace(up=each.up + columns) for each in statements)


def _by_block(given: Model) -> Iterator[dict[str, str]]:
    """Yields the mappings from blocks to values in a mechanism as it is written."""
    for key, value in given:
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, Model):
                yield from _by_block(part)
            elif isinstance(part, dict) and key != "points":
                yield part


def _fixed_runs(mechanism: ReadingEntry) -> int:
    """Returns the number of runs of a selection that has a fixed one; 1 for other mechanisms."""
    law = getattr(mechanism, "runs", None) if isinstance(mechanism, Selection) else None
    return 1 if law is None else law.fixed or 1
