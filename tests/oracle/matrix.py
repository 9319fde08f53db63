"""The matrix of pairs: how many random specs with two features the oracle has judged.

`python -m tests.oracle.matrix` judges until every pair that is possible has its due, prints the
matrix and the pairs that are impossible with the reasons; `--plan` writes the seeds of the quick
tests to `plan.txt`.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random

from .cases import Invalid, Spec, claims, together
from .features import FEATURES, never, used
from .judge import Breach, judge
from .shapes import draft
from .tree import Unsupported

PLAN = Path(__file__).parent / "plan.txt"
#: In how many judged specs a pair is due, in all and in the quick tests.
DUE = 20
QUICK = 2
#: How many specs are tried for one pair that stays empty.
TRIES = 60
#: How many features are asked for at once.
MOST_WANTED = 5
#: What takes more seconds of a processor is no quick test, and no test at all.
SLOW, STUCK = 1.2, 20.0

Pair = tuple[str, str]
#: The seed of a spec, and the features it must have.
Entry = tuple[int, tuple[str, ...]]


def pairs() -> list[Pair]:
    """All pairs that are possible."""
    return [pair for pair in combinations(FEATURES, 2) if never(*pair) is None]


def pairs_of(specs: Iterable[Spec]) -> Iterator[Pair]:
    """The pairs of features of a spec, or of several that are added up."""
    found = used(list(specs))
    return combinations([each for each in FEATURES if each in found], 2)


@dataclass
class Tried:
    """What became of one random spec."""

    specs: list[Spec]
    outcome: str
    breach: Breach | None = None

    @property
    def judged(self) -> bool:
        """Whether there was a finite bound, and universes to hold it against."""
        return self.outcome == "judged"


def attempt(entry: Entry) -> Tried:
    """Draw a spec, certify it, and hold it against the truth."""
    seed, wanted = entry
    specs = draft(seed, wanted)
    if not specs:
        return Tried([], "no such spec")
    try:
        found = claims(specs)
    except Invalid as invalid:
        return Tried(specs, f"invalid: {invalid}")
    if not found:
        return Tried(specs, "refused")
    try:
        verdict = judge(together(specs), found, seed)
    except Unsupported as unsupported:
        return Tried(specs, f"unsupported: {unsupported}")
    if not verdict.pairs:
        return Tried(specs, "no small universe")
    return Tried(specs, "judged", verdict.breach)


@dataclass
class Matrix:
    """Counts of judged specs for every pair of features."""

    counts: dict[Pair, int] = field(default_factory=lambda: dict.fromkeys(pairs(), 0))
    judged: int = 0
    breaches: list[tuple[Entry, Tried]] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    last: Entry = (0, ())

    def add(self, entry: Entry, tried: Tried) -> bool:
        """Count a spec, and say whether it filled a pair that was not yet full."""
        self.outcomes[tried.outcome] = self.outcomes.get(tried.outcome, 0) + 1
        if not tried.judged:
            return False
        self.judged += 1
        self.entries.append(entry)
        if tried.breach is not None:
            self.breaches.append((entry, tried))
        for pair in pairs_of(tried.specs):
            if pair in self.counts:
                self.counts[pair] += 1
        return True

    def short(self, due: int) -> list[Pair]:
        """The pairs that have not got their due, the emptiest first."""
        return sorted((p for p, n in self.counts.items() if n < due), key=self.counts.__getitem__)

    def told(self, due: int) -> str:
        """The matrix as a text: counts below the diagonal, `-` where impossible."""
        width = max(map(len, FEATURES))
        lines = [" " * (width + 4) + "".join(f"{n:>4}" for n in range(len(FEATURES)))]
        for n, row in enumerate(FEATURES):
            cells = []
            for column in FEATURES[:n]:
                count = self.counts.get((column, row))
                cells.append("   -" if count is None else f"{min(count, 999):>4}")
            lines.append(f"{n:>3} {row:<{width}}" + "".join(cells))
        reasons: dict[str, list[str]] = {}
        for one, other in combinations(FEATURES, 2):
            why = never(one, other)
            if why is not None:
                reasons.setdefault(why, []).append(f"{one} × {other}")
        lines += ["", "Impossible (-):"]
        lines += [f"  {why}: {', '.join(both)}" for why, both in reasons.items()]
        short = self.short(due)
        lines += ["", f"{self.judged} specs judged; pairs with fewer than {due}: {len(short)}"]
        lines += [f"  {self.counts[pair]} {pair[0]} × {pair[1]}" for pair in short]
        return "\n".join(lines)


def fill(matrix: Matrix, due: int, tries: int = TRIES, slow: float = STUCK) -> Iterator[Tried]:
    """Judge specs until every pair has its due, or has been tried often enough.

    What takes more than `slow` seconds is not counted.
    """
    asked: dict[Pair, int] = {}
    while True:
        short = [pair for pair in matrix.short(due) if asked.get(pair, 0) < tries]
        if not short:
            return
        pair = short[0]
        seed = asked[pair] = asked.get(pair, 0) + 1
        wanted = set(pair)
        rng = Random(f"{seed} {pair}")
        # More that is short, at first: fewer specs fill more pairs.
        for other in rng.sample(short, min(len(short), 12)) if seed < tries // 3 else ():
            both = wanted | set(other)
            if len(both) > MOST_WANTED:
                continue
            if all(never(*each) is None for each in combinations(both, 2)):
                wanted = both
        entry = (seed, tuple(each for each in FEATURES if each in wanted))
        matrix.last = entry
        with patience(slow):
            tried = Tried([], "slow")
            tried = attempt(entry)
        matrix.add(entry, tried)
        yield tried


class Slow(Exception):
    """It has taken too long."""


@contextmanager
def patience(seconds: float) -> Iterator[None]:
    """End what takes more seconds of a processor."""

    def stop(*_: object) -> None:
        raise Slow

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        with suppress(Slow):
            yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def plan() -> list[Entry]:
    """The seeds of the quick tests."""
    entries: list[Entry] = []
    for line in PLAN.read_text(encoding="utf-8").splitlines():
        seed, _, wanted = line.partition(":")
        entries.append((int(seed), tuple(each.strip() for each in wanted.split(","))))
    return entries


def main() -> int:
    """Fill the matrix, and print it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--due", type=int, default=DUE)
    parser.add_argument("--plan", action="store_true", help="write the seeds of the quick tests")
    asked = parser.parse_args()
    matrix = Matrix()
    due = QUICK if asked.plan else asked.due
    slow = SLOW if asked.plan else STUCK
    for n, tried in enumerate(fill(matrix, due, slow=slow), 1):
        if tried.outcome == "slow":
            print("slow:", matrix.last, file=sys.stderr, flush=True)
        if n % 50 == 0:
            print(f"{n} specs, {len(matrix.short(due))} pairs short", file=sys.stderr)
        if tried.breach is not None:
            print(f"BELOW THE TRUTH: {tried.specs} {tried.breach}", file=sys.stderr, flush=True)
    print(matrix.told(due))
    print(sorted(matrix.outcomes.items(), key=lambda each: -each[1])[:12])
    if asked.plan:
        lines = [f"{seed}: {', '.join(wanted)}" for seed, wanted in matrix.entries]
        PLAN.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if matrix.breaches or matrix.short(due) else 0


if __name__ == "__main__":
    sys.exit(main())
