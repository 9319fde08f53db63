"""Compares every number of the corpus with those that were frozen.

    python -m tests.corpus            what grew, what fell, what is new; exit 1 if a number grew
    python -m tests.corpus --write    freezes the numbers of now
    python -m tests.corpus -k user    only the specs whose name holds `user`

The corpus is all examples, acceptance and golden specs, those of the benchmarks at a small size,
and 500 random ones (`random.yaml`, made once by the generators of `tests/oracle`). Each is asked
for its bound, ε at 1e-6, δ at 1 and the risk, with the command that people use.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TESTS = HERE.parent
FROZEN, RANDOM = HERE / "numbers.json", HERE / "random.yaml"
ASKED = ("--delta", "1e-6", "--at-epsilon", "1", "--risk", "--no-advise")
#: Seconds for one spec. A new one that takes longer is left out when the numbers are frozen.
FREEZING, COMPARING = 8, 120
#: Of a benchmark that is asked for a size.
SIZE = 40
#: A number that grew by no more than this share is the same.
SAME = 1e-9
#: The parts of a result that hold numbers.
LEFT_OUT = ("others", "derivation", "lines", "line", "from_point", "epsilon_lower", "delta_lower")
PARTS = ("guarantee", "at_delta", "at_epsilon", "risk", "adversary", "attributes", "questions")


def specs() -> Iterator[tuple[str, str]]:
    """The name and the text of each spec, but for the random ones."""
    folders = TESTS.parent / "specs", TESTS / "acceptance", TESTS / "golden" / "handmade"
    for folder in folders:
        for file in sorted(folder.rglob("*.yaml")):
            text = file.read_text(encoding="utf-8")
            if text.startswith("dpcompose:") or "\ndpcompose:" in text:
                yield str(file.relative_to(TESTS.parent)), text
    sys.path.insert(0, str(TESTS / "bench"))
    hostile = import_module("hostile_families").FAMILIES
    measured = import_module("specs").FAMILIES
    for name, make in measured.items():
        yield f"bench/{name}", make(SIZE)
    for name, (command, make) in hostile.items():
        if command[0] == "analyze":
            yield f"hostile/{name}", make()


def random_specs() -> list[str]:
    """The texts of the random specs."""
    return RANDOM.read_text(encoding="utf-8").split("---\n")


def flat(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The upper bounds in a piece of JSON, each with its path and with what it was asked at."""
    if isinstance(value, Mapping):
        inputs = {"false_alarms", "baseline"} & {*value}
        if "rule" in value:
            inputs = {"delta"} if "epsilon_lower" in value else {"epsilon"}
        for key, each in value.items():
            if key not in {*LEFT_OUT, *inputs}:
                at = "".join(f"@{value[name]:g}" for name in inputs)
                yield from flat(each, f"{path}.{key}{at}" if path else key)
    elif isinstance(value, list):
        for n, each in enumerate(value):
            yield from flat(each, f"{path}[{n}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def analyzed(seconds: int, *files: Path) -> Iterator[dict[str, Any]]:
    """The results of some files within `seconds` each, by the command that people use."""
    command = (sys.executable, "-m", "dpcompose", "analyze", *map(str, files), *ASKED)
    limits = ("--max-seconds", str(seconds), "--format", "jsonl", "--jobs", "2")
    done = subprocess.run((*command, *limits), capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        yield json.loads(line)


def numbers(result: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers of one result, or its status where there are none."""
    found = {part: dict(flat(result[part], part)) for part in PARTS if result.get(part)}
    return {"status": result["status"]} | {k: v for part in found.values() for k, v in part.items()}


def of_all(chosen: Callable[[str], bool], seconds: int) -> dict[str, dict[str, Any]]:
    """The numbers of each spec whose name is `chosen`, within `seconds` each."""
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        texts = [*specs(), *((f"random/{n:03}", each) for n, each in enumerate(random_specs()))]
        for n, (name, text) in enumerate(texts):
            if chosen(name):
                files[path := Path(folder) / f"{n:04}.dp.yaml"] = name
                path.write_text(text, encoding="utf-8")
        for result in analyzed(seconds, *files) if files else ():
            if result["status"] != "invalid":
                name = files[Path(folder) / Path(result["file"].partition("#")[0]).name]
                found[name] = found.get(name, {}) | numbers(result)
    return found


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """What differs between two sets of numbers: the growth as a share, and a line that says it."""
    for name in sorted({*old, *new}):
        if name not in old or name not in new:
            yield 0.0, f"{name}: {'new' if name in new else 'gone'}"
            continue
        was, now = old[name], new[name]
        if was["status"] != now["status"]:
            yield 1.0, f"{name}: {was['status']} -> {now['status']}"
        for key in sorted({*was, *now} - {"status"}):
            if key not in was or key not in now:
                yield 0.0, f"{name}: {key} {'new' if key in now else 'gone'}"
            elif abs(now[key] - was[key]) > SAME * max(abs(was[key]), abs(now[key]), 1e-300):
                growth = now[key] / was[key] - 1 if was[key] else 1.0
                yield growth, f"{name}: {key} {was[key]:.12g} -> {now[key]:.12g} ({growth:+.2e})"


def main() -> int:
    """Runs the command, and returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("--write", action="store_true", help="freeze the numbers of now")
    parser.add_argument("-k", default="", metavar="TEXT", help="only specs whose name holds TEXT")
    asked = parser.parse_args()
    if asked.write:
        known = json.loads(FROZEN.read_text(encoding="utf-8"))
        now = of_all(lambda name: asked.k in name and name in known, COMPARING)
        now |= of_all(lambda name: asked.k in name and name not in known, FREEZING)
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(now[name])}" for name in sorted(now))
        FROZEN.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
        print(f"{len(now)} specs, {sum(len(each) - 1 for each in now.values())} numbers")
        return 0
    frozen = json.loads(FROZEN.read_text(encoding="utf-8"))
    frozen = {name: each for name, each in frozen.items() if asked.k in name}
    now = of_all(frozen.__contains__, COMPARING)
    found = sorted(differences(frozen, now))
    for _, line in found:
        print(line)
    grown = sum(growth > 0 for growth, _ in found)
    print(f"{len(now)} specs: {grown} numbers grew, {sum(g < 0 for g, _ in found)} fell")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
