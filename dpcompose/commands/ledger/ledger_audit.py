"""Whether the releases of a ledger are what they were in a revision of git, and in each commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from dpcompose.commands.exits import BadCall, ExitCode
from dpcompose.commands.ledger.adding import Gathered, end_without_sum, file_of, releases_within
from dpcompose.commands.parallel.bounds import TooMuch, reach, within
from dpcompose.commands.parallel.workers import WorkWithin
from dpcompose.commands.reading.gather import is_pattern
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Unreadable
from dpcompose.commands.reading.policies import Policies
from dpcompose.commands.repository.git import AddedIn, FileChange
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import LEVELS, Diagnostic, InvalidSpec, Path
from dpcompose.planning.ledger.releases import Release, amounts
from dpcompose.planning.ledger.rewrites import RecordCheck, Recorded, content, less, since
from dpcompose.policy.settings import BadSettings, Settings
from dpcompose.render.words.numbers import bound_text
from dpcompose.report.certify import certify
from dpcompose.report.findings import REWRITTEN
from dpcompose.report.verdict import implies, strictest_limits
from dpcompose.source import Document, Source, documents

#: A file, its lines, and a finding on it.
_About = tuple[str, Sequence[str], Diagnostic]


@dataclass(slots=True)
class LedgerAudit:
    """The comparison of a ledger's releases with those that it had in a revision.

    `entries`: each of those, then and now. `findings`: those that were removed or weakened.
    `limits`: by file, the budgets of the revision that settings raise now. `code`: the exit code by
    the findings.
    """

    revision: str = ""
    entries: list[Recorded] = field(default_factory=list)
    findings: list[_About] = field(default_factory=list)
    limits: dict[str, tuple[Budget, ...]] = field(default_factory=dict)
    code: ExitCode = ExitCode.FINE

    @property
    def rewritten(self) -> list[Release]:
        """Returns the releases that were removed or declare less now, as they were."""
        return [each.old for each in self.entries if each.counted is each.old and not each.same]

    def counted(self, releases: Sequence[Release]) -> list[Release]:
        """Returns the releases of now, with those that are gone or declare less as they were."""
        was = {id(each.new): each.counted for each in self.entries if each.new is not None}
        gone = [each.old for each in self.entries if each.new is None]
        return [*(was.get(id(each), each) for each in releases), *gone]

    def limited(self, release: Release) -> Release:
        """Returns a release with its former budget added, where settings raise that."""
        was = self.limits.get(release.file, ())
        return (
            replace(release, limits=strictest_limits((*was, *release.limits))) if was else release
        )

    def check_of(self, population: str | None) -> RecordCheck | None:
        """Returns the comparison for one population; None where nothing was compared."""
        if not self.revision:
            return None
        its = [each for each in self.entries if each.old.resolved.population == population]
        return RecordCheck(
            self.revision,
            len(its),
            tuple(e.new.label for e in its if e.new is not None and not e.same and not e.less),
            tuple(e.old.label for e in its if e.counted is e.old and not e.same),
        )

    def add_finding(
        self, file: str, source: Source | None, finding: Diagnostic, policies: Policies
    ) -> None:
        """Adds a finding at the level that settings give it; no comment in a spec lowers that.

        The name of a file that is gone may be followed by `@` and a revision. Raises BadSettings.
        """
        settings = policies.of(file if os.path.lexists(file) else file.rpartition("@")[0] or file)
        level = settings.level(finding.code, finding.level)
        if level not in LEVELS:
            return
        finding = finding._replace(level=level)
        if settings.fails(finding.level):
            self.code = max(self.code, ExitCode.FAILED)
        self.findings.append((file, () if source is None else source.lines, finding))


def is_unnamed(file: str) -> bool:
    """Returns whether an argument is standard input or a pattern, which no revision has by name."""
    return file == STANDARD_INPUT or is_pattern(file)


def refuse_unknown_ledger(past: Past, ledger: str) -> None:
    """Raises BadCall unless a folder exists now or in a revision."""
    if is_unnamed(ledger):
        raise BadCall("--ledger with --changed-since takes a folder by its name")
    try:
        there = past.was_there(ledger)
    except Unreadable as error:
        raise BadCall(f"--ledger {ledger}: {error}") from error
    if not there and not os.path.lexists(ledger):
        raise BadCall(f"--ledger {ledger}: it is neither here nor in {past.revision}")


def audit_ledger(
    run: Run, past: Past, names: Sequence[str], known: Gathered, counted: bool = True
) -> LedgerAudit:
    """Returns the comparison of a ledger's releases with a revision. Raises BadCall, SystemExit.

    `names`: the files and folders of the ledger; `known`: its releases of now. `counted`: whether
    what is gone or declares less is counted as it was, with the budgets of the revision. The
    settings that decide the levels of findings are those of the revision.
    """
    limit, now, before = run.limit, run.policies, run.as_before(past.revision).policies
    found = LedgerAudit(past.revision)
    same: set[str] = set()
    old: list[Release] = []
    invalid: list[tuple[str, str]] = []
    when = f"@{past.revision}"
    try:
        there = [each for each in names if past.was_there(each)]
        specs = (spec for each in there for spec in past.specs(each, links=False))
        with closing(releases_within(run)) as reading:
            for file, data in specs:
                if known.held.get(file_of(file)) == data:
                    same.add(file_of(file))
                    continue
                settings = now.of(file)
                for part in documents(data):
                    try:
                        old.append(reading((part, file, settings, when)))
                    except InvalidSpec:
                        number = "" if part.number is None else f" (document {part.number})"
                        invalid.append((file, file + when + number))
        found.entries = [Recorded(e, e, True) for e in known.releases if e.file in same]
        rest = [each for each in known.releases if each.file not in same]
        with within(run.resources):
            found.entries += since(old, rest, limit)
            told = [*_rewrite_findings(found, counted), *_invalid(found, invalid, rest)]
        if counted and limit is None:
            told += _raised_budgets(found, known, now, before)
        for file, source, finding in told:
            found.add_finding(file, source, finding, before)
    except Unreadable as error:
        why = f"cannot read {', '.join(names)} in {past.revision}: {error}"
        end_without_sum(ExitCode.USAGE, why)
    except BadSettings as error:
        end_without_sum(ExitCode.USAGE, str(error))
    except TooMuch as error:
        end_without_sum(ExitCode.INVALID, f"{', '.join(names)} in {past.revision}: {error}")
    return found


#: A file, its source where there is one, and a finding on it.
Found = tuple[str, Source | None, Diagnostic]


def _rewrite_findings(found: LedgerAudit, counted: bool) -> Iterator[Found]:
    """Yields a finding for each release that is gone, or declares less than in the revision.

    `counted`: whether it is counted as it was there.
    """
    revision = found.revision
    as_it_was = ", and is counted as it was there" if counted else ""
    for each in found.entries:
        if each.new is None:
            yield gone_finding(
                each.old,
                f"is gone since {revision}{as_it_was}",
                f"as in {revision} (merge that if it is newer)",
            )
            continue
        for says, path in each.less:
            says = f"has changed since {revision}{as_it_was}: {says}"
            yield changed_finding(each.new, says, path)


def gone_finding(release: Release, says: str, restore: str) -> Found:
    """Returns the finding that a release no longer exists; `restore`: how to bring it back."""
    source = release.resolved.source
    bounds = certify(release.resolved.problem).bounds
    spent = f" that spent {bound_text(bounds[0])}" if bounds else ""
    hint = (
        f"bring the file back {restore}; a release that never took place is withdrawn by an "
        f'override for its path in the settings, `severity = {{{REWRITTEN} = "note"}}`'
    )
    place = source.span(("mechanisms",), True)
    return source.name, source, Diagnostic(REWRITTEN, f"a release{spent} {says}", place, hint)


def changed_finding(release: Release, says: str, path: Path) -> Found:
    """Returns the finding that a release is no longer as it was."""
    source = release.resolved.source
    hint = (
        "what was released stays as it was, or is corrected upwards; a correction that lowers it "
        f'needs an override for its path in the settings, `severity = {{{REWRITTEN} = "note"}}`'
    )
    finding = Diagnostic(REWRITTEN, f"a release {says}", source.span(path, True), hint)
    return source.name, source, finding


def _invalid(
    found: LedgerAudit, invalid: Sequence[tuple[str, str]], now: Sequence[Release]
) -> Iterator[Found]:
    """Yields a finding for each file that was no valid spec in the revision.

    If there is a spec in its place now, it cannot be compared with the former one.
    """
    taken = {id(each.new) for each in found.entries}
    left = [each for each in now if id(each) not in taken]
    for file, label in invalid:
        there = next((each for each in left if each.file == file_of(file)), None)
        if there is None:
            says, hint = "it was no valid spec there, and is gone", "mend it where it stood"
            yield label, None, Diagnostic(REWRITTEN, says, None, hint)
            continue
        left.remove(there)
        source = there.resolved.source
        says = f"{label} was no valid spec: what it says now cannot be compared"
        hint = "see that it says what was released"
        yield source.name, source, Diagnostic(REWRITTEN, says, None, hint, "warning")


def _raised_budgets(
    found: LedgerAudit, known: Gathered, now: Policies, before: Policies
) -> Iterator[Found]:
    """Yields a finding for each budget of the settings that was smaller then, and still holds."""
    told: set[str] = set()
    for file in known.held:
        settings = now.of(file)
        was, limits = before.of(file).total_budgets, settings.total_budgets
        if all(any(implies(each, limit) for each in limits) for limit in was):
            continue
        found.limits[file] = was
        is_now = amounts(limits) if limits else "none"
        says = f"`total-budget` is {is_now}, and was {amounts(was)} in {found.revision}"
        if says not in told:
            told.add(says)
            hint = "a budget is fixed before the first output, and holds here as it was"
            name = settings.origin("total-budget")
            yield name, None, Diagnostic(REWRITTEN, says, None, hint)


@dataclass(slots=True, eq=False)
class _Life:
    """One release through history: its versions, each with the commit that made it.

    `out`: the commit that removed it, None while it exists.
    """

    versions: list[tuple[Release, AddedIn]]
    out: AddedIn | None = None

    @property
    def last(self) -> Release:
        """Returns the last version of the release."""
        return self.versions[-1][0]


@dataclass(slots=True)
class _Chronicle:
    """The releases of a ledger, followed from commit to commit.

    `blobs`: the files that were not changed since they were added, as blob and commit. `lives`: the
    releases of the other files. `lost`: the releases that were removed. `reading`: what reads them
    within the limits of the run.
    """

    run: Run
    past: Past
    reading: WorkWithin[tuple[Document, str, Settings, str], Release]
    blobs: dict[str, tuple[str, AddedIn]] = field(default_factory=dict)
    lives: dict[str, list[_Life]] = field(default_factory=dict)
    lost: list[_Life] = field(default_factory=list)

    def apply(self, commit: AddedIn, changes: Sequence[tuple[str, FileChange]]) -> None:
        """Applies one more commit. Raises Unreadable, BadSettings, TooMuch."""
        before = [*(life for name, _ in changes for life in self._take_releases(name)), *self.lost]
        came = [(name, each.new) for name, each in changes if each.new is not None]
        if not before:
            self.blobs.update((file_of(name), (blob, commit)) for name, blob in came)
            return
        now = [each for name, blob in came for each in self._read(name, blob)]
        with within(self.run.resources):
            became = since([each.last for each in before], now, self.run.limit)
        self.lost = []
        known: set[int] = set()
        for life, each in zip(before, became, strict=True):
            if each.new is None:
                life.out = life.out or commit
                self.lost.append(life)
                continue
            known.add(id(each.new))
            life.out = None
            if each.same:
                life.versions[-1] = each.new, life.versions[-1][1]
            else:
                life.versions.append((each.new, commit))
            self.lives.setdefault(each.new.file, []).append(life)
        for fresh in now:
            if id(fresh) not in known:
                self.lives.setdefault(fresh.file, []).append(_Life([(fresh, commit)]))

    def _take_releases(self, name: str) -> list[_Life]:
        """Removes and returns the releases of a file, which changes in this commit."""
        file = file_of(name)
        if file not in self.blobs:
            return self.lives.pop(file, [])
        blob, commit = self.blobs.pop(file)
        return [_Life([(each, commit)]) for each in self._read(name, blob)]

    def _read(self, name: str, blob: str) -> list[Release]:
        """Returns the releases in a blob of a file; invalid specs are left out."""
        data = self.past.spec(blob)
        found: list[Release] = []
        settings = self.run.policies.of(name)
        for part in documents(data) if data is not None else ():
            with suppress(InvalidSpec):
                found.append(self.reading((part, name, settings, "")))
        return found

    def releases_now(self) -> list[Release]:
        """Returns the releases after the last commit."""
        kept = [life.last for lives in self.lives.values() for life in lives]
        untouched = self.blobs.items()
        return kept + [each for name, (blob, _) in untouched for each in self._read(name, blob)]

    def merge_findings(
        self, merges: Iterable[tuple[AddedIn, Sequence[tuple[str, FileChange]]]]
    ) -> Iterator[Found]:
        """Yields a finding for each release of a merge's parent that is gone or weaker now.

        A branch that keeps its own side of a merge removes what the other side released: its
        first-parent history never had that.
        """
        known = {(life.last.file, content(life.last)) for life in self.lost}
        now = self.releases_now()
        for commit, changes in merges:
            for name, change in changes:
                for release in () if change.old is None else self._read(name, change.old):
                    if (key := (release.file, content(release))) in known:
                        continue
                    known.add(key)
                    [became] = since([release], now, self.run.limit)
                    if became.new is None:
                        says = f"was taken out by the merge {_commit_and_day(commit)}"
                        _, source, finding = gone_finding(release, says, "as it was")
                        yield f"{release.label}@{commit.commit[:9]}", source, finding
                    elif became.less:
                        says, path = became.less[0]
                        says = f"was changed by the merge {_commit_and_day(commit)}: {says}"
                        yield changed_finding(became.new, says, path)

    def findings(self) -> Iterator[Found]:
        """Yields a finding for each release that was removed, or weakened by some commit."""
        for life in self.lost:
            release, commit = life.versions[-1]
            assert life.out is not None
            says = f"was taken out by {_commit_and_day(life.out)}"
            _, source, finding = gone_finding(release, says, "as it was")
            yield f"{release.label}@{commit.commit[:9]}", source, finding
        for life in (each for lives in self.lives.values() for each in lives):
            for (old, _), (_, commit) in pairwise(life.versions):
                first = next(less(old, life.last, self.run.limit), None)
                if first is not None:
                    says = f"was changed by {_commit_and_day(commit)}: {first[0]}"
                    yield changed_finding(life.last, says, first[1])
                    break


def _commit_and_day(commit: AddedIn) -> str:
    """Returns a commit in words: its short hash and date."""
    return f"{commit.commit[:9]} of {commit.date}"


def history_findings(run: Run, past: Past, folders: Sequence[str]) -> list[Found]:
    """Returns findings for releases in folders that commits up to a revision removed or weakened.

    Raises BadCall, Unreadable, BadSettings, TooMuch.
    """
    with closing(releases_within(run)) as reading:
        found = _Chronicle(run, past, reading)
        for commit, changes in past.changes(folders):
            for name, _ in changes:
                reach(f"{name} in the commit {_commit_and_day(commit)}")
            found.apply(commit, changes)
        merges = past.changes(folders, merges=True)
        with within(run.resources):
            return [*found.findings(), *found.merge_findings(merges)]
