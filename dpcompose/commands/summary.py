"""The last line of a run over several specs: how many came out how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dpcompose.report import Report


class Tally:
    """Counts reports as they pass; `outcome` says in a word or two how one came out."""

    __slots__ = ("_outcome", "_seen")

    def __init__(self, outcome: Callable[[Report], str]) -> None:
        self._outcome = outcome
        self._seen: Counter[str] = Counter()

    def counted(self, reports: Iterable[Report]) -> Iterator[Report]:
        """The same reports; what was not read is no spec."""
        for report in reports:
            if report.status != "unreadable":
                self._seen[self._outcome(report)] += 1
            yield report

    def line(self, unread: int, skipped: int) -> str | None:
        """`3 specs: 2 certified, 1 invalid; …`; None where there is nothing to sum up.

        `unread`: files that gave no result. `skipped`: YAML files in folders that are no specs.
        """
        count = self._seen.total()
        if count + unread < 2 and not skipped:
            return None
        parts = [f"{number} {name}" for name, number in self._seen.items()]
        line = f"{_many(count, 'spec')}{': ' if parts else ''}{', '.join(parts)}"
        if unread:
            line += f"; {_many(unread, 'file')} without a result"
        if skipped:
            line += f"; {_many(skipped, 'other YAML file')} skipped"
        return line


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
