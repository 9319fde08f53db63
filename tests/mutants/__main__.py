"""Plant each fault in a copy of the tree, and print whether the quick tests notice it.

    python -m tests.mutants [-k WORD] [--jobs N] [--own-room]

First the tests of the fault's own room run (with the sessions, where the room is shown by those),
then all other quick tests. The tree itself is never changed. The exit code is 1 if fewer than
nineteen of twenty faults are noticed, or if one that is not has no reason.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from .planted import ROOT, Fault, faults

#: What of the tree the tests need.
PARTS = (
    *("dpcompose", "tests", "specs", ".ci", ".github", "pyproject.toml"),
    *("README.md", "CHANGELOG.md", "LICENSE", ".gitignore", ".pre-commit-hooks.yaml"),
)
#: So long may the quick tests take, in seconds: a fault may make them hang.
PATIENCE = 1_200
#: The rooms of which `tests/sessions` shows most.
IN_SESSIONS = {
    f"tests/{each}" for each in ("bridge", "commands", "planning", "policy", "render", "report")
}
OWN, WHOLE, SURVIVED = "own room", "whole", "survived"


def copy_tree(to: Path) -> Path:
    """A copy of the tree, as a repository of its own."""
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.exists():
            shutil.copy2(source, to / name)
    subprocess.run(["git", "init", "-q", "."], cwd=to, check=True)
    subprocess.run(["git", "add", "-A"], cwd=to, check=True)
    return to


def passes(copy: Path, *arguments: str) -> bool:
    """Whether the quick tests that the arguments select pass in a copy; a hang is no pass."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    environment = kept | {"PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(
            [*command, "-m", "not slow", *arguments],
            cwd=copy,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return False
    if done.returncode not in (0, 1, 2, 5):
        raise RuntimeError(f"pytest {' '.join(arguments)} ends in {done.returncode}")
    return done.returncode in (0, 5)  # 2: not even collected; 5: none selected


def stages(fault: Fault, own_only: bool) -> Iterator[tuple[str, list[str]]]:
    """Which tests run one after the other, until some fail, and what it is called if they do."""
    inside = fault.tests.startswith(fault.room)
    if fault.tests and inside:
        yield OWN, [fault.tests]
    yield OWN, [fault.room, *(["tests/sessions"] if fault.room in IN_SESSIONS else [])]
    if own_only:
        return
    if fault.tests and not inside:
        yield WHOLE, [fault.tests]
    # Snippets no longer apply where they are planted.
    yield WHOLE, ["tests", f"--ignore={fault.room}", "--ignore=tests/mutants"]


def notice(fault: Fault, copies: Queue[Path], own_only: bool) -> tuple[Fault, str, float]:
    """Who notices the fault, and after how many seconds."""
    copy = copies.get()
    start = time.monotonic()
    path = copy / "dpcompose" / fault.file
    try:
        fault.plant(copy)
        found = (name for name, tests in stages(fault, own_only) if not passes(copy, *tests))
        return fault, next(found, SURVIVED), time.monotonic() - start
    finally:
        shutil.copyfile(ROOT / "dpcompose" / fault.file, path)
        copies.put(copy)


def selected(words: list[str]) -> list[Fault]:
    """The faults of some numbers (`7`, `7-20`), or whose file or text holds a word; else all."""

    def meant(fault: Fault, word: str) -> bool:
        first, _, last = word.partition("-")
        if first.isdecimal():
            return int(first) <= fault.number <= int(last or first)
        return word in fault.file or word in fault.breaks

    return [each for each in faults() if not words or any(meant(each, word) for word in words)]


def main() -> int:
    """Print a table of all faults and a summary; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("-k", action="append", default=[], metavar="WORD", dest="words")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--own-room", action="store_true", help="run the tests of its room alone")
    options = parser.parse_args()
    chosen = selected(options.words)
    unfit = [why for fault in chosen if (why := fault.unfit()) is not None]
    if unfit or not chosen:
        print("\n".join(unfit) or "no fault is selected")
        return 2
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # what is compiled is known by size and second
    counts: Counter[str] = Counter()
    unexplained = 0
    with tempfile.TemporaryDirectory() as folder:
        copies: Queue[Path] = Queue()
        for n in range(options.jobs):
            copies.put(copy_tree(Path(folder) / str(n)))
        with ThreadPoolExecutor(options.jobs) as pool:
            for fault, by, seconds in pool.map(
                lambda each: notice(each, copies, options.own_room), chosen
            ):
                counts[by] += 1
                unexplained += by == SURVIVED and not fault.survives
                told = f"{fault.number:4} {by:9} {seconds:5.0f} s  {fault.file}: {fault.breaks}"
                reason = f" ({fault.survives})" if by == SURVIVED and fault.survives else ""
                print(told + reason, flush=True)
    noticed = counts[OWN] + counts[WHOLE]
    print(
        f"{noticed} of {len(chosen)} noticed ({noticed / len(chosen):.1%}): {counts[OWN]} by their "
        f"own room, {counts[WHOLE]} by the whole; {counts[SURVIVED]} survived, "
        f"{unexplained} of them without a reason"
    )
    return int(20 * noticed < 19 * len(chosen) or unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
