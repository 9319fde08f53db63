"""Time and peak memory of `dpcompose analyze --quiet` against `yaml.compose` on the same files.

    python tests/bench/run.py [--repeats 3] [--mechanisms 100000]

Run by hand, not by pytest, with nothing else running. Every measurement is a fresh process, the
best of three; both commands are charged for starting Python. What must hold:

* 100 000 stated mechanisms over 5 000 blocks: at most 3 times the time of `yaml.compose` with the
  C loader;
* from 10 000 to 100 000 mechanisms: at most 12 times the time;
* 5 000 identical blocks written as a number: the time of a spec of ten lines.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specs import FAMILIES, equal_blocks

COMPOSE = "import sys, yaml; yaml.compose(open(sys.argv[1]), Loader=yaml.CSafeLoader)"
MOST_OF_COMPOSE, MOST_GROWTH, MOST_OF_TEN_LINES = 3, 12, 1.2


@dataclass(frozen=True)
class Measured:
    """The best of several runs: wall time in seconds, peak memory in MB."""

    seconds: float
    megabytes: float


def measure(command: Sequence[str], repeats: int) -> Measured:
    """Run a command in fresh processes and take the fastest."""
    runs = []
    for _ in range(repeats):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} ended with code {process.returncode}")
        runs.append(Measured(seconds, usage.ru_maxrss / 1024))
    return min(runs, key=lambda each: each.seconds)


def analyze(file: Path, repeats: int) -> Measured:
    """The command under test."""
    return measure([sys.executable, "-m", "dpcompose", "analyze", "--quiet", str(file)], repeats)


def compose(file: Path, repeats: int) -> Measured:
    """The yardstick."""
    return measure([sys.executable, "-c", COMPOSE, str(file)], repeats)


def row(name: str, file: Path, ours: Measured, theirs: Measured) -> None:
    """One line of the table."""
    size = file.stat().st_size / 1e6
    ratio = ours.seconds / theirs.seconds
    print(
        f"{name:34} {size:6.2f} {ours.seconds:8.2f} {theirs.seconds:8.2f} {ratio:7.2f} "
        f"{ours.megabytes:8.0f} {theirs.megabytes:8.0f}",
        flush=True,
    )


def verdict(says: str, value: float, most: float) -> bool:
    """Print whether a contract holds."""
    kept = value <= most
    print(f"{'ok  ' if kept else 'MISS'} {says}: {value:.2f} (at most {most:g})")
    return kept


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure dpcompose against yaml.compose.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--mechanisms", type=int, default=100_000)
    options = parser.parse_args()
    kept: list[tuple[str, float, float]] = []
    print(
        f"{'':34} {'MB':>6} {'here':>8} {'compose':>8} {'ratio':>7} {'peak MB':>8} {'compose':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:

        def measured(name: str, text: str) -> tuple[float, float]:
            file = Path(folder) / "spec.yaml"
            file.write_text(text, encoding="utf-8")
            ours, theirs = analyze(file, options.repeats), compose(file, options.repeats)
            row(name, file, ours, theirs)
            return ours.seconds, theirs.seconds

        large, small = options.mechanisms, options.mechanisms // 10
        for family, text in FAMILIES.items():
            before, _ = measured(f"{small} mechanisms ({family})", text(small))
            after, yardstick = measured(f"{large} mechanisms ({family})", text(large))
            kept.append((f"{family}: times yaml.compose", after / yardstick, MOST_OF_COMPOSE))
            kept.append((f"{family}: growth", after / before, MOST_GROWTH))
        few, _ = measured("ten lines, 5 blocks", equal_blocks(5))
        many, _ = measured("ten lines, 5000 equal blocks", equal_blocks(5000))
        kept.append(("equal blocks: times ten lines", many / few, MOST_OF_TEN_LINES))
    print()
    failed = [each for each in kept if not verdict(*each)]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
