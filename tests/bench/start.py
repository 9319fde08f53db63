"""The time of one cold start, of a thousand small specs, of ten thousand, and of large specs.

    python tests/bench/start.py [--repeats 20] [--specs 1000] [--many 10000] [--profile]
                                [--mechanisms 100000]

Run by hand, with nothing else running. Cold starts are processes that take turns, so that a busy
machine slows all of them alike, and processor time is compared besides wall time. What must hold:

* one small spec: at most 1.35 times `minimal.py`;
* small specs in one process: at most 3 ms each over the start;
* small specs in two processes: at most 0.7 times the wall time of one (where there are two cores);
* memory for ten thousand specs: at most 1.5 times that for a tenth of them;
* a hundred thousand stated mechanisms over 5 000 blocks: at most 3 times the processor time of
  `yaml.compose` with the C loader, and 12 times that of a tenth of them;
* 5 000 equal blocks written as a number: at most 1.2 times the processor time of five.

`--profile` prints where the time of a cold start goes instead: modules by the time of their own,
and the functions that take longest. Compiled modules are kept in a folder of their own.
"""

from __future__ import annotations

import argparse
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specs import FAMILIES, equal_blocks

HERE = Path(__file__).parent
SPEC = HERE.parent.parent / "specs" / "paper/ambulances-districts-bounded.yaml"
MOST_OF_MINIMAL, MOST_MILLISECONDS, MOST_GROWTH, MOST_OF_ONE = 1.35, 3, 1.5, 0.7
MOST_OF_COMPOSE, MOST_OF_A_TENTH, MOST_OF_FIVE = 3, 12, 1.2
COMPOSE = "import sys, yaml; yaml.compose(open(sys.argv[1]), Loader=yaml.CSafeLoader)"
OURS = [sys.executable, "-m", "dpcompose", "analyze", "--quiet"]


@dataclass(frozen=True)
class Measured:
    """Seconds on the wall and of the processor, and peak memory in MB."""

    wall: float
    cpu: float
    megabytes: float


def measure(command: Sequence[str], folder: str) -> Measured:
    """One fresh process."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with code {process.returncode}")
    return Measured(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def cold(folder: str, repeats: int) -> tuple[float, float]:
    """Our time over that of the yardstick: the best of the processor, the median of the wall."""
    commands = {
        "minimal": [sys.executable, str(HERE / "minimal.py"), "analyze", str(SPEC)],
        "version": [sys.executable, "-m", "dpcompose", "--version"],
        "small spec": [*OURS, str(SPEC)],
        "full report": [*OURS[:-1], str(SPEC)],
    }
    runs: dict[str, list[Measured]] = {name: [] for name in commands}
    for turn in range(repeats + 1):
        for name, command in commands.items():
            found = measure(command, folder)
            if turn:  # the first one compiles
                runs[name].append(found)
    print(f"{'cold start':12} {'cpu ms':>8} {'wall ms':>8}   (best, median)")
    best = {name: min(each.cpu for each in found) for name, found in runs.items()}
    median = {name: statistics.median(e.wall for e in found) for name, found in runs.items()}
    for name in commands:
        print(f"{name:12} {1e3 * best[name]:8.0f} {1e3 * median[name]:8.0f}")
    return (
        best["small spec"] / best["minimal"],
        median["small spec"] / median["minimal"],
    )


def files(folder: str, number: int) -> list[str]:
    """Copies of the small spec, each with numbers of its own."""
    text = SPEC.read_text(encoding="utf-8")
    paths = []
    for n in range(number):
        path = Path(folder) / f"{n:05}.yaml"
        path.write_text(text.replace("0.7", f"0.7{n:05}"), encoding="utf-8")
        paths.append(str(path))
    return paths


def large(folder: str, mechanisms: int) -> list[tuple[str, float, float]]:
    """What is found of large specs: what it says, the value, and the most that it may be."""
    file = Path(folder) / "large.yaml"

    def least(command: Sequence[str], text: str) -> float:
        file.write_text(text, encoding="utf-8")
        return min(measure([*command, str(file)], folder).cpu for _ in range(3))

    found: list[tuple[str, float, float]] = []
    for name, text in FAMILIES.items():
        tenth, whole = least(OURS, text(mechanisms // 10)), least(OURS, text(mechanisms))
        composed = least([sys.executable, "-c", COMPOSE], text(mechanisms))
        print(f"{mechanisms} mechanisms ({name}): {whole:.2f} s, yaml.compose {composed:.2f} s")
        found.append((f"{name}: times yaml.compose", whole / composed, MOST_OF_COMPOSE))
        found.append((f"{name}: times a tenth of it", whole / tenth, MOST_OF_A_TENTH))
    five, many = least(OURS, equal_blocks(5)), least(OURS, equal_blocks(5000))
    found.append(("5000 equal blocks, times five", many / five, MOST_OF_FIVE))
    return found


def profile(folder: str) -> None:
    """Print where the time of a cold start goes."""
    measure([*OURS, str(SPEC)], folder)
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": f"{folder}/compiled"}
    said = subprocess.run(
        [sys.executable, "-X", "importtime", *OURS[1:], str(SPEC)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    rows = [line.removeprefix("import time:").split("|") for line in said.splitlines()[1:]]
    modules = sorted(((int(own), name.strip()) for own, _, name in rows), reverse=True)
    print("\n".join(f"{own / 1e3:8.1f} ms  {name}" for own, name in modules[:25]))
    found = f"{folder}/profile"
    measure([sys.executable, "-m", "cProfile", "-o", found, *OURS[1:], str(SPEC)], folder)
    pstats.Stats(found).sort_stats("tottime").print_stats(25)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure the time of small things.")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--specs", type=int, default=1_000)
    parser.add_argument("--many", type=int, default=10_000)
    parser.add_argument("--mechanisms", type=int, default=100_000)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.profile:
            profile(folder)
            return 0
        cpu, wall = cold(folder, options.repeats)
        kept = [
            ("small spec: processor, times the yardstick", cpu, MOST_OF_MINIMAL),
            ("small spec: wall, times the yardstick", wall, MOST_OF_MINIMAL),
        ]
        paths = files(folder, options.many)
        few, some, all_of_them = (
            measure([*OURS, "--jobs", "1", *paths[:n]], folder)
            for n in (1, options.specs, options.many)
        )
        one, two = (
            min(measure([*OURS, "--jobs", number, *paths], folder).wall for _ in range(3))
            for number in "12"
        )
        print(f"{options.many} specs: {one:.2f} s by one process, {two:.2f} s by two")
        kept.append(("two processes, wall, times one", two / one, MOST_OF_ONE))
        each = 1e3 * (some.cpu - few.cpu) / (options.specs - 1)
        print(
            f"{options.specs} specs: {some.wall:.2f} s, {some.megabytes:.0f} MB; "
            f"{options.many}: {all_of_them.wall:.2f} s, {all_of_them.megabytes:.0f} MB"
        )
        kept.append(("milliseconds a spec", each, MOST_MILLISECONDS))
        kept.append(("memory, many over some", all_of_them.megabytes / some.megabytes, MOST_GROWTH))
        kept += large(folder, options.mechanisms)
    failed = False
    for says, value, most in kept:
        failed |= value > most
        print(f"{'MISS' if value > most else 'ok  '} {says}: {value:.2f} (at most {most:g})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
