"""The last line of a run over several specs: how many had which result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from dpcompose.faults import plural
from dpcompose.render.problems import NO_SPEC
from dpcompose.report import LeftOut, Report


class Tally:
    """Counts reports as they pass; `outcome` gives the result of a report in a word or two."""

    __slots__ = ("_left_out", "_outcome", "_seen")

    def __init__(self, outcome: Callable[[Report], str]) -> None:
        self._outcome = outcome
        self._seen: Counter[str] = Counter()
        self._left_out = LeftOut()

    def counted(self, reports: Iterable[Report]) -> Iterator[Report]:
        """Yields the same reports, and counts them; unread or left-out files are no specs."""
        for report in reports:
            self._left_out = report.left_out or self._left_out
            if report.status not in NO_SPEC:
                self._seen[self._outcome(report)] += 1
            yield report

    def line(self, unchanged: int = 0, always: bool = False, counted: bool = False) -> str | None:
        """Returns `3 specs: 2 certified, 1 invalid; …`; None where there is nothing to sum up.

        `unchanged`: the number of files that were not analysed since they are as they were.
        `always`: whether a single spec is summed up too. `counted`: whether the output counts the
        specs already, so that only the rest is said.
        """
        count, out = self._seen.total(), self._left_out
        if count + out.unread < 2 and not (out.untold or unchanged or always):
            return None
        parts = [f"{number} {name}" for name, number in self._seen.items()]
        said = (
            [] if counted else [f"{plural(count, 'spec')}{': ' if parts else ''}{', '.join(parts)}"]
        )
        if unchanged:
            said.append(f"{plural(unchanged, 'file')} unchanged")
        if out.summary:
            said.append(out.summary)
        return "; ".join(said) or None

    @property
    def untold(self) -> bool:
        """Returns whether something was left out that only the count mentions."""
        return self._left_out.untold > 0
