"""The command `diff`: how a change of specs moves their bounds."""

from __future__ import annotations

import os
import traceback
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from dpcompose.commands.choices import DiffFormat, FailOn
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_of_fault
from dpcompose.commands.parallel.bounds import Most, TooMuch, limit_finding
from dpcompose.commands.parallel.workers import run_each_within, run_within
from dpcompose.commands.reading.gather import Gathering
from dpcompose.commands.reading.inputs import (
    STANDARD_INPUT,
    Complaints,
    NoFile,
    Unreadable,
    name_of_file,
    read,
    without_quotes,
)
from dpcompose.commands.reading.policies import Policies, Revision, audited, toml
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import (
    Output,
    Rendering,
    outputs_of,
    refuse_overwrite,
    style_for,
    write_outputs,
)
from dpcompose.errors import LEVELS, Diagnostic, nearest
from dpcompose.planning.comparison import (
    EVENTS,
    Change,
    Event,
    Invalid,
    SameTerms,
    Version,
    change,
    refused,
)
from dpcompose.planning.pairing import pairs
from dpcompose.policy.settings import FIELDS, BadSettings, Settings, is_stricter, lowered, merge
from dpcompose.render.exports import github, sarif
from dpcompose.render.json.plan_documents import diff_json
from dpcompose.render.parts.inline import within_summary
from dpcompose.render.plans import diff_views, review
from dpcompose.render.words.problems import UNREADABLE
from dpcompose.report import LeftOut
from dpcompose.source import documents, is_spec


class _Told(NamedTuple):
    """What settings say now and did not, a sentence each; and whether they still ask for all that
    they did."""

    says: tuple[str, ...] = ()
    stricter: bool = False


@dataclass(slots=True, kw_only=True)
class Comparison(Complaints):
    """Compares two versions of specs one after the other.

    `policies`: the settings that apply to each spec. `failing`: the events that are failures.
    `before`: the settings files of the revision. `left_out`: counts what is left out, once all is
    compared. `fault`: the traceback of the first internal error of dpcompose.
    """

    run: Run
    policies: Policies
    failing: Container[Event]
    before: Revision | None = None
    left_out: LeftOut = field(default_factory=LeftOut, init=False)
    fault: str | None = field(default=None, init=False)

    def of_two(self, old: str, new: str) -> Iterator[Change | Invalid]:
        """Yields the changes from one file to another."""
        try:
            before, after = read(old), read(new)
        except Unreadable as error:
            self.worse(ExitCode.USAGE, str(error))
        else:
            yield from self._changes((name_of_file(old), before), (name_of_file(new), after))
        self.left_out = LeftOut(self.unread)

    def since(
        self, past: Past, gathering: Gathering, written: Sequence[str | None]
    ) -> Iterator[Change | Invalid]:
        """Yields the changes of each file since a revision; of a renamed one once.

        `written`: the outputs, which must overwrite no spec. Raises BadCall.
        """
        told: set[str] = set()
        files = list(gathering.items())
        chosen = {os.path.realpath(each) for each in files if isinstance(each, str)}
        for file in files:
            if isinstance(file, NoFile):
                self.worse(ExitCode.USAGE, file.says)
                continue
            refuse_overwrite(written, [file])
            try:
                pair = past.pair(file)
                if pair.key is not None:
                    if pair.key in told:
                        continue
                    told.add(pair.key)
                # Where nobody looks at its new place, a spec is gone.
                gone = pair.new is None or os.path.realpath(pair.new) not in chosen
                after = None if gone or pair.new is None else (pair.new, read(pair.new))
            except Unreadable as error:
                self.worse(ExitCode.USAGE, str(error))
                continue
            if pair.old is None and gathering.named and not self.run.allow_new:
                hint = "--allow-new compares it with nothing"
                self.worse(ExitCode.USAGE, f"{file} is not in {past.revision} ({hint})")
                continue
            before = None if pair.old is None else (pair.old, pair.data or b"")
            if before is not None and after is not None and not is_spec(before[1]):
                before = None  # it was there, but was no spec
            yield from self._changes(before, after, f"@{past.revision}", pair.new)
        self.left_out = gathering.left_out._replace(unread=self.unread)
        if self.run.strict and self.left_out.untold:
            self.worse(ExitCode.USAGE)

    def _changes(
        self,
        old: tuple[str, bytes] | None,
        new: tuple[str, bytes] | None,
        when: str = "",
        place: str | None = None,
    ) -> Iterator[Change | Invalid]:
        """Yields the change of each document of a file, paired by what they are.

        The settings are those of the new file, for both. `when` follows the name of the old one.
        `place`: where the file is now, also if nobody looks at it there.
        """
        given = new or old
        assert given is not None
        try:
            settings = self.policies.of(given[0])
            told = self._settings((old or given)[0], place or given[0])
        except BadSettings as error:
            self.worse(ExitCode.USAGE, str(error))
            return
        terms = SameTerms(
            self.run.deltas_under(settings),
            settings.defaults,
            settings.ceilings,
            partial(audited, settings),
            "note" if settings.fail_on == "note" else "warning",
        )
        before = [] if old is None else _versions(*old, when)
        after = [] if new is None else _versions(*new)
        held = {each[0] + end: each[1] for each, end in ((old, when), (new, "")) if each}
        paired = _paired(before, after, self.run.resources)
        work = partial(_compared, terms)
        changes = run_each_within(self.run.resources, paired, lambda pair: work(*pair))
        for (was, now), made in zip(paired, changes, strict=True):
            if isinstance(made, TooMuch):
                made = refused(was, now, limit_finding(made))
            if isinstance(made, str):  # the other specs have their results
                self.fault = self.fault or made
                says = "a fault of dpcompose, its traceback is on standard error"
                made = refused(was, now, Diagnostic(UNREADABLE, says, None))
            found = self._with_events(made, settings, told)
            if isinstance(found, Invalid):  # without the text of files that are no specs
                shown = (without_quotes([each], held[each.file]) for each in found.reports)
                found = replace(found, reports=tuple(each for some in shown for each in some))
            yield found

    def _settings(self, old: str, new: str) -> _Told:
        """Returns what the settings files around a spec say that they did not. Raises BadSettings.

        Whether they count makes no difference to what a revision is compared with: once the change
        is merged, they are the policy of the next one. For two files none do where all are ignored.
        """
        if self.before is None and self.policies.isolated:
            return _Told()
        try:
            now = self.policies.settings_of(new) if self.before is None else self.before.now(new)
        except BadSettings as error:
            if not self.policies.isolated:
                raise
            return _Told((f"the settings cannot be read: {error}",))
        if self.before is None:
            was = self.policies.settings_of(old)
        else:
            try:
                was = merge(self.before.layers(old))
            except BadSettings as error:
                return _Told((f"the settings as they were cannot be read: {error}",))
        found: list[str] = []
        stricter = True
        for key in FIELDS:
            values = [tuple(each.value for each in one.said.get(key, ())) for one in (was, now)]
            if values[0] != values[1]:
                before, after = (" and ".join(map(toml, each)) or "not set" for each in values)
                kept = is_stricter(key, was, now)
                stricter &= kept
                more = ": stricter" if kept else ""
                found.append(f"`{key}` of the settings is {after}, and was {before}{more}")
        fallen = [] if found and not stricter else [*lowered(was, now)]
        if fallen:
            stricter = False
            codes = ", ".join(fallen)
            says = (
                f"{codes} may be of a lower level than before, or ignored, by which file says what"
            )
            found.append(says)
        return _Told(tuple(found), stricter)

    def _with_events(
        self, found: Change | Invalid, settings: Settings, told: _Told
    ) -> Change | Invalid:
        """Returns a change with its settings and failing events, and updates the exit code."""
        if isinstance(found, Invalid):
            self.worse(ExitCode.INVALID)
            return found
        found = replace(found, settings=told.says, stricter=told.stricter)
        found = replace(found, failing=tuple(e for e in found.events if e in self.failing))
        broken = any(settings.fails(each.level) for each in found.findings)
        unbounded = found.new is not None and found.new.status == "no-guarantee"
        if broken or unbounded or found.failing:
            self.worse(ExitCode.FAILED)
        return found


def _compared(terms: SameTerms, old: Version | None, new: Version | None) -> Change | Invalid | str:
    """Returns the change of a spec, or the traceback of an internal error of dpcompose."""
    try:
        return change(old, new, terms)
    except MemoryError:  # the spec exceeds its limit
        raise
    except Exception as error:
        return "".join(traceback.format_exception(error)).rstrip()


def _paired(
    old: Sequence[Version], new: Sequence[Version], most: Most
) -> list[tuple[Version | None, Version | None]]:
    """Returns the documents of two versions of a file in pairs; by their order where it takes too
    much to read them twice."""
    if len(old) < 2 and len(new) < 2:
        return [*zip_longest(old, new)]
    try:
        found = run_within(most, lambda: pairs([e.data for e in old], [e.data for e in new]))
    except TooMuch:
        return [*zip_longest(old, new)]
    return [
        (None if was is None else old[was], None if now is None else new[now]) for was, now in found
    ]


def _versions(name: str, data: bytes, when: str = "") -> list[Version]:
    """Returns the documents of a file as versions; `when` names the revision."""
    return [
        Version(name + when, each.data, each.lines_before, each.number, name)
        for each in documents(data)
    ]


def _failing(names: Sequence[str]) -> tuple[tuple[Event, ...], FailOn | None]:
    """Returns the events that fail, and the least level of findings that does. Raises BadCall."""
    given = [each.strip() for name in names for each in name.split(",")]
    levels = [each for each in LEVELS if each in given]
    for each in given:
        if each not in EVENTS and each not in LEVELS:
            near = nearest(each, (*EVENTS, *LEVELS))
            offer = f"did you mean {near}? " if near else ""
            legal = ", ".join((*EVENTS, *LEVELS))
            raise BadCall(f"--fail-on {each}: it is none of them; {offer}possible: {legal}")
    events = tuple(each for each in EVENTS if each in given)
    return events, FailOn(levels[0]) if levels else None


def diff_files(run: Run) -> ExitCode:
    """Runs the command `diff` and returns its exit code. Raises BadCall."""
    outputs = outputs_of(run.output, DiffFormat(run.form))
    files, against = run.files, run.against
    if against is None and (len(files) != 2 or run.files_from is not None):
        raise BadCall("diff takes two files, OLD and NEW, or --against REV and files")
    if against is None and run.allow_new:
        raise BadCall("--allow-new goes with --against")
    if against is not None and STANDARD_INPUT in files:
        raise BadCall("--against compares files: standard input (-) is in no revision")
    if files.count(STANDARD_INPUT) > 1:
        raise BadCall("standard input (-) can be read only once")
    written = [each.path for each in outputs]
    if against is None:
        refuse_overwrite(written, files)
    increase = ["increase"] if run.fail_on_increase else []
    events, level = _failing([*run.events, *increase])
    comparison = Comparison(run=run, policies=replace(run, fail_on=level).policies, failing=events)
    if against is None:
        found = comparison.of_two(files[0], files[1])
    else:
        past = Past(against)
        past.verify()
        comparison.before = Revision(past)
        found = comparison.since(past, run.gathering(past), written)
    write_outputs(found, outputs, [_rendering(each, comparison) for each in outputs])
    if comparison.left_out.untold:
        names = f": {', '.join(comparison.left_out.names)}" if run.strict else ""
        complain(comparison.left_out.summary + names)
    return comparison.code if comparison.fault is None else complain_of_fault(comparison.fault)


def _rendering(output: Output[DiffFormat], comparison: Comparison) -> Rendering[Change | Invalid]:
    """Returns the function that renders the changes for one output."""
    style = style_for(output.path, comparison.run.look, comparison.run.site)
    match output.form:
        case DiffFormat.TEXT:
            return lambda found: diff_views.text(found, style)
        case DiffFormat.MARKDOWN:
            return lambda found: within_summary(
                diff_views.markdown(found, style, lambda: comparison.left_out)
            )
        case DiffFormat.JSON:
            return lambda found: diff_json(found, lambda: comparison.left_out)
        case DiffFormat.GITHUB:
            return lambda found: github.render(review.problems_of(found), style, False)
        case DiffFormat.SARIF:
            return lambda found: sarif.render(review.problems_of(found), style, False)
