"""What a spec costs with an engine and without it: its numbers, and the time of a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import dpcompose
from dpcompose.core.notions.guarantee import AskedRisk
from dpcompose.render.json import result

from .engines import ENGINES, Engine

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))
numbers = import_module("corpus.__main__").numbers
#: Analyses the spec of an engine, without it where anything follows its number. A process of its
#: own, as answers are remembered.
RUN = """
import json, sys
from contextlib import nullcontext
from tests.why.engines import ENGINES
from tests.why.measure import analyzed
engine = ENGINES[int(sys.argv[1])]
with engine.switched_off() if sys.argv[2:] else nullcontext():
    print(json.dumps(analyzed(engine)))
"""


class Cost(NamedTuple):
    """The numbers of a spec by their paths in JSON, and the seconds that they took."""

    numbers: dict[str, float]
    seconds: float


def analyzed(engine: Engine) -> dict[str, float]:
    """The numbers of its spec, at a δ, at an ε, and in risk."""
    text = engine.spec
    if "\n" not in text:
        text = (ROOT / text).read_text(encoding="utf-8")
    risk = AskedRisk((Fraction(1, 100),), (Fraction(1, 10),))
    report = dpcompose.analyze(text, deltas=[Fraction(1, 10**6)], epsilons=[Fraction(1)], risk=risk)
    found: dict[str, Any] = numbers(result(report))
    status = found.pop("status")
    assert status in ("ok", "over-budget"), status
    return found


def cost(engine: Engine, off: bool = False) -> Cost:
    """What the spec of an engine costs with it, or without it."""
    command = [sys.executable, "-c", RUN, str(ENGINES.index(engine)), *(["off"] if off else [])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "tests")))}
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return Cost(json.loads(done.stdout), time.perf_counter() - start)


def growth(best: Cost, worse: Cost) -> float:
    """The largest growth of a number, as a share."""
    shared = [key for key in best.numbers.keys() & worse.numbers.keys() if best.numbers[key]]
    return max((worse.numbers[key] / best.numbers[key] - 1 for key in shared), default=0.0)
