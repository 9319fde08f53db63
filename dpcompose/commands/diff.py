"""`diff`: what a change of specs does to their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

from dpcompose.commands.analysis import Selection
from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.formats import Told
from dpcompose.commands.gather import Gathering, Problem
from dpcompose.commands.inputs import STANDARD_INPUT, Unreadable, read, shown, unquoting
from dpcompose.commands.output import Color, deliver, style_for, would_overwrite
from dpcompose.commands.past import Past
from dpcompose.commands.policies import Policies, audited, policies_of
from dpcompose.report import LeftOut
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.changes import Change, Invalid, Terms, Version
    from dpcompose.policy.settings import Settings


@dataclass(slots=True)
class Comparison:
    """Compares versions one after the other; `code` is the worst so far.

    `deltas`: where to compare ε, beside where specs and settings ask for it. `failing`: whether a
    bound that grew is a failure. `strict`: whether what is left out is one. `left_out`: counts it,
    once all is compared.
    """

    policies: Policies
    deltas: tuple[Fraction, ...]
    failing: bool
    strict: bool = False
    code: ExitCode = field(default=ExitCode.FINE, init=False)
    left_out: LeftOut = field(default_factory=LeftOut, init=False)
    _unread: int = field(default=0, init=False)
    _said: set[str] = field(default_factory=set, init=False)

    def of_two(self, old: str, new: str) -> Iterator[Change | Invalid]:
        """The change from one file to another."""
        try:
            before, after = read(old), read(new)
        except Unreadable as error:
            self._unreadable(error)
        else:
            yield from self._changes((shown(old), before), (shown(new), after))
        self.left_out = LeftOut(self._unread)

    def since(
        self, past: Past, gathering: Gathering, allow_new: bool, output: str | None
    ) -> Iterator[Change | Invalid]:
        """The change of each file since a revision; of a renamed one once, at its first name."""
        from dpcompose.source import is_spec

        told: set[str] = set()
        for file in gathering.items():
            if isinstance(file, Problem):
                self._unreadable(file.says)
                continue
            if would_overwrite(output, [file]):
                raise BadCall(f"--output {output} would overwrite a spec")
            try:
                pair = past.pair(file)
                if pair.key is not None:
                    if pair.key in told:
                        continue
                    told.add(pair.key)
                after = None if pair.new is None else (pair.new, read(pair.new))
            except Unreadable as error:
                self._unreadable(error)
                continue
            if pair.old is None and gathering.named and not allow_new:
                hint = "--allow-new compares it with nothing"
                self._unreadable(f"{file} is not in {past.revision} ({hint})")
                continue
            before = None if pair.old is None else (pair.old, pair.data or b"")
            if before is not None and after is not None and not is_spec(before[1]):
                before = None  # it was there, but was no spec
            yield from self._changes(before, after, f"@{past.revision}")
        self.left_out = replace(gathering.left_out, unread=self._unread)
        if self.strict and self.left_out.untold:
            self.code = max(self.code, ExitCode.USAGE)

    def _changes(
        self, old: tuple[str, bytes] | None, new: tuple[str, bytes] | None, when: str = ""
    ) -> Iterator[Change | Invalid]:
        """The change of each document of a file, told by their order.

        The settings are those of the new file, for both. `when` follows the name of the old one.
        """
        from dpcompose.changes import Invalid
        from dpcompose.policy.settings import BadSettings

        given = new or old
        assert given is not None
        try:
            settings = self.policies.of(given[0])
        except BadSettings as error:
            if str(error) not in self._said:  # many specs can have the same settings
                self._unreadable(error)
                self._said.add(str(error))
            return
        terms = _terms(settings, self.deltas)
        before = [] if old is None else _versions(*old, when)
        after = [] if new is None else _versions(*new)
        held = {each[0] + end: each[1] for each, end in ((old, when), (new, "")) if each}
        for was, now in zip_longest(before, after):
            found = self._change(was, now, terms, settings)
            yield _unquoting(found, held) if isinstance(found, Invalid) else found

    def _change(
        self, old: Version | None, new: Version | None, terms: Terms, settings: Settings
    ) -> Change | Invalid:
        from dpcompose.changes import Invalid, change
        from dpcompose.errors import LEVELS

        found = change(old, new, terms)
        if isinstance(found, Invalid):
            self.code = max(self.code, ExitCode.INVALID)
            return found
        least = LEVELS.index(settings.fail_on)
        broken = any(LEVELS.index(each.level) >= least for each in found.findings)
        unbounded = found.new is not None and found.new.status == "no-guarantee"
        if broken or unbounded or (self.failing and found.raises):
            self.code = max(self.code, ExitCode.FAILED)
        return found

    def _unreadable(self, message: object) -> None:
        complain(str(message))
        self._unread += 1
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


def _unquoting(found: Invalid, held: dict[str, bytes]) -> Invalid:
    """What is wrong with a spec, without the text of files that are none.

    `held`: what each file holds.
    """
    shown = (unquoting([report], held[report.file]) for report in found.reports)
    return replace(found, reports=tuple(each for reports in shown for each in reports))


def _versions(name: str, data: bytes, when: str = "") -> list[Version]:
    """The documents of a file; `when` says of which revision it is."""
    from dpcompose.changes import Version
    from dpcompose.source import documents

    return [
        Version(name + when, each.data, each.lines_before, each.number, name)
        for each in documents(data)
    ]


def diff_files(
    selection: Selection,
    against: str | None,
    deltas: tuple[Fraction, ...],
    failing: bool,
    allow_new: bool,
    isolated: bool,
    strict: bool,
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
    run = Comparison(policies_of(isolated), deltas, failing, strict)
    style = style_for(output, color)
    with ExitStack() as stack:
        if against is None:
            found = run.of_two(files[0], files[1])
        else:
            past = stack.enter_context(closing(Past(against)))
            past.verify()
            found = run.since(past, selection.gathering(past), allow_new, output)
        match form:
            case Told.TEXT:
                pieces = render.text(found, style)
            case Told.MARKDOWN:
                pieces = markdown(found, lambda: run.left_out)
            case Told.JSON:
                pieces = diff_json.json(found, lambda: run.left_out)
        deliver(pieces, output)
    if run.left_out.untold:
        names = f": {', '.join(run.left_out.names)}" if strict else ""
        complain(run.left_out.says + names)
    return run.code
