"""The last line of a run over several specs: how many came out how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dpcompose.render.problems import NO_SPEC
from dpcompose.report import LeftOut, Report


class Tally:
    """Counts reports as they pass; `outcome` says in a word or two how one came out."""

    __slots__ = ("_left_out", "_outcome", "_seen")

    def __init__(self, outcome: Callable[[Report], str]) -> None:
        self._outcome = outcome
        self._seen: Counter[str] = Counter()
        self._left_out = LeftOut()

    def counted(self, reports: Iterable[Report]) -> Iterator[Report]:
        """The same reports; what was not read, or left out, is no spec."""
        for report in reports:
            self._left_out = report.left_out or self._left_out
            if report.status not in NO_SPEC:
                self._seen[self._outcome(report)] += 1
            yield report

    def line(self, unchanged: int = 0, always: bool = False, counted: bool = False) -> str | None:
        """`3 specs: 2 certified, 1 invalid; …`; None where there is nothing to sum up.

        `unchanged`: files that were left alone since they are as they were. `always`: whether there
        is something to sum up of a single spec too. `counted`: whether what was printed counts the
        specs, so that only the rest is said.
        """
        count, out = self._seen.total(), self._left_out
        if count + out.unread < 2 and not (out.untold or unchanged or always):
            return None
        parts = [f"{number} {name}" for name, number in self._seen.items()]
        said = (
            [] if counted else [f"{_many(count, 'spec')}{': ' if parts else ''}{', '.join(parts)}"]
        )
        if unchanged:
            said.append(f"{_many(unchanged, 'file')} unchanged")
        if out.summary:
            said.append(out.summary)
        return "; ".join(said) or None

    @property
    def untold(self) -> bool:
        """Whether there is something that the count alone tells of."""
        return self._left_out.untold > 0


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
