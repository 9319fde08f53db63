"""Time and peak memory of hostile specs under 1 MB, each in a process of its own.

    python tests/bench/hostile.py [PATTERN] [--seconds 60]

Run by hand, not by pytest, with nothing else running. What must hold: every one ends within 10
seconds of the processor and 500 MB; those that do not are marked.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from hostile_families import FAMILIES

MOST_SECONDS, MOST_MEGABYTES = 10, 500


def measured(command: tuple[str, ...], text: str, seconds: int) -> tuple[float, float, int]:
    """Seconds of the processor, megabytes and the exit code of one run, which may be cut off."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "spec.dp.yaml"
        file.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "dpcompose", *command, str(file)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pattern", nargs="?", default="")
    parser.add_argument("--seconds", type=int, default=60, help="when a run is cut off")
    given = parser.parse_args()
    print(f"{'family':48} {'kB':>5} {'s':>6} {'MB':>6} {'code':>5}")
    for name, (command, make) in FAMILIES.items():
        if not re.search(given.pattern, name):
            continue
        text = make()
        seconds, megabytes, code = measured(command, text, given.seconds)
        fine = seconds <= MOST_SECONDS and megabytes <= MOST_MEGABYTES and code in (0, 1, 3)
        print(
            f"{name:48} {len(text) / 1000:5.0f} {seconds:6.1f} {megabytes:6.0f} {code:5}"
            f"{'' if fine else '  TOO MUCH'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
