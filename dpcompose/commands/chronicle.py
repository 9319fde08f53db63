"""The history of a ledger's releases, commit by commit: none may be removed or weakened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

from dpcompose.commands.adding import file_of, release_of
from dpcompose.commands.bounds import within
from dpcompose.commands.ledger_audit import Found, changed_finding, gone_finding
from dpcompose.commands.parallel.workers import run_within
from dpcompose.commands.repository.git import AddedIn, FileChange
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.errors import InvalidSpec
from dpcompose.planning.releases import Release
from dpcompose.planning.rewrites import content, less, since
from dpcompose.source import documents


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
    releases of the other files. `lost`: the releases that were removed.
    """

    run: Run
    past: Past
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
                found.append(
                    run_within(self.run.resources, partial(release_of, part, name, settings))
                )
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
    found = _Chronicle(run, past)
    for commit, changes in past.changes(folders):
        found.apply(commit, changes)
    merges = past.changes(folders, merges=True)
    with within(run.resources):
        return [*found.findings(), *found.merge_findings(merges)]
