"""`diff`: what a change of specs does to their bounds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from dpcompose.commands import git
from dpcompose.commands.analysis import Selection
from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.formats import Told
from dpcompose.commands.gather import Problem
from dpcompose.commands.inputs import STANDARD_INPUT, Unreadable, read, shown
from dpcompose.commands.output import Color, deliver, style_for, would_overwrite
from dpcompose.commands.policies import Policies, audited, policies_of
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.changes import Change, Invalid, Terms, Version
    from dpcompose.policy.settings import Settings


@dataclass(slots=True)
class Comparison:
    """Compares versions one after the other; `code` is the worst so far.

    `deltas`: where to compare ε, beside where specs and settings ask for it. `failing`: whether a
    bound that grew is a failure.
    """

    policies: Policies
    deltas: tuple[Fraction, ...]
    failing: bool
    code: ExitCode = field(default=ExitCode.FINE, init=False)
    _said: set[str] = field(default_factory=set, init=False)

    def of_two(self, old: str, new: str) -> Iterator[Change | Invalid]:
        """The change from one file to another."""
        try:
            before, after = read(old), read(new)
        except Unreadable as error:
            self._unreadable(error)
            return
        yield from self._changes((shown(old), before), (shown(new), after))

    def since(
        self, revision: str, items: Iterable[str | Problem], allow_new: bool, output: str | None
    ) -> Iterator[Change | Invalid]:
        """The change of each file since a revision."""
        commits: dict[str, str] = {}
        for file in items:
            if isinstance(file, Problem):
                self._unreadable(file.says)
                continue
            if would_overwrite(output, [file]):
                raise BadCall(f"--output {output} would overwrite a spec")
            folder = os.path.dirname(file)
            if folder not in commits:
                commits[folder] = git.commit(revision, folder)
            try:
                after = read(file)
                before = git.content(commits[folder], file)
            except Unreadable as error:
                self._unreadable(error)
                continue
            if before is None and not allow_new:
                hint = "--allow-new compares it with nothing"
                self._unreadable(f"{file} is not in {revision} ({hint})")
                continue
            old = None if before is None else (f"{file}@{revision}", before)
            yield from self._changes(old, (file, after))

    def _changes(
        self, old: tuple[str, bytes] | None, new: tuple[str, bytes]
    ) -> Iterator[Change | Invalid]:
        """The change of each document of a file, told by their order.

        The settings are those of the new file, for both.
        """
        from dpcompose.policy.settings import BadSettings

        try:
            settings = self.policies.of(new[0])
        except BadSettings as error:
            if str(error) not in self._said:  # many specs can have the same settings
                self._unreadable(error)
                self._said.add(str(error))
            return
        terms = _terms(settings, self.deltas)
        before, after = [] if old is None else _versions(*old), _versions(*new)
        for index, version in enumerate(after):
            was = before[index] if index < len(before) else None
            yield self._change(was, version, terms, settings)
        if len(before) > len(after):
            complain(f"{new[0]}: specs that it no longer has: {len(before) - len(after)}")

    def _change(
        self, old: Version | None, new: Version, terms: Terms, settings: Settings
    ) -> Change | Invalid:
        from dpcompose.changes import Invalid, change
        from dpcompose.policy.settings import LEVELS

        found = change(old, new, terms)
        if isinstance(found, Invalid):
            self.code = max(self.code, ExitCode.INVALID)
            return found
        least = LEVELS.index(settings.fail_on)
        broken = any(LEVELS.index(each.level) >= least for each in found.findings)
        if broken or found.new.status == "no-guarantee" or (self.failing and found.raises):
            self.code = max(self.code, ExitCode.FAILED)
        return found

    def _unreadable(self, message: object) -> None:
        complain(str(message))
        self.code = max(self.code, ExitCode.USAGE)


def _terms(settings: Settings, deltas: tuple[Fraction, ...]) -> Terms:
    """What settings ask of both versions, with the δ of flags first."""
    from dpcompose.changes import Terms

    wanted = () if settings.delta is None else (settings.delta,)
    return Terms(
        tuple(dict.fromkeys((*deltas, *wanted))),
        settings.budget,
        partial(audited, settings),
        "note" if settings.fail_on == "note" else "warning",
    )


def _versions(name: str, data: bytes) -> list[Version]:
    """The documents of a file."""
    from dpcompose.changes import Version
    from dpcompose.source import documents

    return [Version(name, each.data, each.lines_before, each.number) for each in documents(data)]


def diff_files(
    selection: Selection,
    against: str | None,
    deltas: tuple[Fraction, ...],
    failing: bool,
    allow_new: bool,
    isolated: bool,
    form: Told,
    output: str | None,
    color: Color,
) -> ExitCode:
    """The command `diff`. Raises BadCall."""
    from dpcompose.render import diff as render
    from dpcompose.render import diff_json
    from dpcompose.render.review import markdown

    files = selection.files
    if against is None and (len(files) != 2 or selection.files_from is not None):
        raise BadCall("diff takes two files, OLD and NEW, or --against REV and files")
    if against is None and allow_new:
        raise BadCall("--allow-new goes with --against")
    if against is not None and STANDARD_INPUT in files:
        raise BadCall("--against compares files: standard input (-) is in no revision")
    if files.count(STANDARD_INPUT) > 1:
        raise BadCall("standard input (-) can be read only once")
    if against is None and would_overwrite(output, files):
        raise BadCall(f"--output {output} would overwrite a spec")
    run = Comparison(policies_of(isolated), deltas, failing)
    if against is None:
        found = run.of_two(files[0], files[1])
    else:
        found = run.since(against, selection.gathering().items(), allow_new, output)
    style = style_for(output, color)
    match form:
        case Told.TEXT:
            pieces = render.text(found, style)
        case Told.MARKDOWN:
            pieces = markdown(found)
        case Told.JSON:
            pieces = diff_json.json(found)
    deliver(pieces, output)
    return run.code
