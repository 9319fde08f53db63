"""ε at δ = 1e-6, time and peak memory side by side with dp-accounting's loss distributions.

    python tests/bench/accounting.py [--repeats 3] [--most 10000] [--cases 'gaussian;laplace']

Run by hand, not by pytest, with nothing else running; needs the extra `compare`. Every measurement
is a fresh process, the best of several: `compute` is the processor time of the answer alone, after
one for fifty mechanisms that has imported what is needed; `process` is the wall time of all of it.
dp-accounting composes equal mechanisms at once, on its default grid of 1e-4. What must hold: never
looser than it beyond 1e-6, at least twice as fast, and stated and Gaussian mechanisms computed at
least ten times faster, without scipy.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

DELTA = Fraction(1, 10**6)
#: What a case is made of: kind, size (1/scale or 1/σ), how many; samples with their rate as well.
Content = list[tuple[Any, ...]]


def _unequal(k: int) -> Content:
    return [("stated", Fraction(1 + n, 100), k // 10) for n in range(10)]


def _mixed(k: int) -> Content:
    return [
        ("laplace", Fraction(1, 20), 2 * k // 5),
        ("gaussian", Fraction(1, 10), 2 * k // 5),
        ("stated", Fraction(1, 20), k // 5),
    ]


def _steps(rate: str, sigma: str, count: int) -> Callable[[int], Content]:
    return lambda _: [("sampled gaussian", 1 / Fraction(sigma), count, Fraction(rate))]


def _phases(many: int) -> Callable[[int], Content]:
    """Unlike phases of DP-SGD."""
    return lambda _: [
        (
            "sampled gaussian",
            1 / (1 + Fraction(i, 20)),
            2000 * (1 + i) // many,
            Fraction(1 + i, 1000),
        )
        for i in range(many)
    ]


def _unlike(*kinds: str) -> Callable[[int], Content]:
    """Mechanisms with noise of unlike sizes, 100 of each kind."""
    return lambda _: [(kind, 1 / Fraction(20 + i), 1) for kind in kinds for i in range(100)]


def _sampled_laplace(count: int) -> Callable[[int], Content]:
    return lambda _: [("sampled laplace", Fraction(1), count, Fraction(1, 100))]


CASES: dict[str, Callable[[int], Content]] = {
    "stated equal": lambda k: [("stated", Fraction(1, 10), k)],
    "stated unequal": _unequal,
    "gaussian": lambda k: [("gaussian", Fraction(1, 10), k)],
    "laplace": lambda k: [("laplace", Fraction(1, 10), k)],
    "mixed": _mixed,
}
#: Those of one size.
FIXED: dict[str, Callable[[int], Content]] = {
    "DP-SGD 0.01 10⁶": _steps("0.01", "1.1", 10**6),
    "DP-SGD 0.001 10⁶": _steps("0.001", "1", 10**6),
    "DP-SGD 1e-4 10⁵": _steps("0.0001", "1", 10**5),
    "20 phases": _phases(20),
    "100 phases": _phases(100),
    "geometrics": _unlike("geometric"),
    "geometrics of 3": _unlike("geometric of 3"),
    "discrete gaussians": _unlike("discrete gaussian"),
    "laplaces": _unlike("laplace"),
    "laplaces, gaussians": _unlike("laplace", "gaussian"),
    "sampled laplace": _sampled_laplace(1),
    "10 sampled laplaces": _sampled_laplace(10),
    "100 sampled laplaces": _sampled_laplace(100),
    "sampled laplaces": _sampled_laplace(1000),
}
#: Those that must be ten times faster.
FAST = ("stated equal", "stated unequal", "gaussian")
TIMES_FASTER, ALWAYS, MOST_ABOVE = 10, 2, 1e-6


@dataclass(frozen=True)
class Measured:
    """ε; seconds of the answer and of the whole process; peak memory in MB; was scipy imported."""

    epsilon: float
    compute: float
    process: float
    megabytes: float
    scipy: bool


def ours(content: Content) -> float:
    """ε by dpcompose."""
    from dpcompose.curves import answers as solve
    from dpcompose.curves.curve import Curve, Part, Response, Sampled
    from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
    from dpcompose.curves.families.geometric_loss import GeometricLoss
    from dpcompose.curves.families.laplace_loss import LaplaceLoss

    make: dict[str, Callable[..., Part]] = {
        "laplace": LaplaceLoss,
        "stated": Response,
        "geometric": lambda size: GeometricLoss(1, 1 / size),
        "geometric of 3": lambda size: GeometricLoss(3, 1 / size),
        "discrete gaussian": lambda size: DiscreteGaussianLoss(1, 1 / size**2),
        "sampled laplace": lambda size, rate: Sampled(
            rate, Curve(((LaplaceLoss(size), 1),)), side="removed"
        ),
        "sampled gaussian": lambda size, rate: Sampled(
            rate, Curve(gaussian=size**2), side="removed"
        ),
    }
    parts: list[tuple[Part, int]] = []
    square = Fraction(0)
    for kind, size, count, *rate in content:
        if kind == "gaussian":
            square += size * size * count
        else:
            parts.append((make[kind](size, *rate), count))
    found = solve.epsilon_at(Curve(tuple(parts), square), DELTA)
    return math.inf if found is None else float(found.upper)


def theirs(content: Content) -> float:
    """ε by dp-accounting."""
    from dp_accounting.pld import common  # type: ignore[import-untyped,unused-ignore]
    from dp_accounting.pld import (  # type: ignore[import-untyped,unused-ignore]
        privacy_loss_distribution as pld,
    )

    make: dict[str, Callable[..., Any]] = {
        "laplace": lambda size: pld.from_laplace_mechanism(1 / size),
        "gaussian": lambda size: pld.from_gaussian_mechanism(1 / size),
        "stated": lambda size: pld.from_privacy_parameters(
            common.DifferentialPrivacyParameters(size, 0.0)
        ),
        "geometric": lambda size: pld.from_discrete_laplace_mechanism(size, 1),
        "geometric of 3": lambda size: pld.from_discrete_laplace_mechanism(size, 3),
        "discrete gaussian": lambda size: pld.from_discrete_gaussian_mechanism(1 / size),
        "sampled laplace": lambda size, rate: pld.from_laplace_mechanism(
            1 / size, sampling_prob=rate
        ),
        "sampled gaussian": lambda size, rate: pld.from_gaussian_mechanism(
            1 / size, sampling_prob=rate
        ),
    }
    total = None
    for kind, size, count, *rate in content:
        one = make[kind](float(size), *map(float, rate)).self_compose(count)
        total = one if total is None else total.compose(one)
    assert total is not None
    return float(total.get_epsilon_for_delta(float(DELTA)))


def answer(whose: str, case: str, k: int) -> None:
    """In the measured process: compute once and print what was found."""
    epsilon_of = ours if whose == "ours" else theirs
    if case in CASES:
        epsilon_of(CASES[case](50))
    else:
        epsilon_of([("laplace", Fraction(1, 10), 10)])
        epsilon_of([("sampled gaussian", Fraction(1), 10, Fraction(1, 10))])
    content = (CASES | FIXED)[case](k)
    start = time.process_time()
    epsilon = epsilon_of(content)
    found = {"epsilon": epsilon, "compute": time.process_time() - start}
    print(json.dumps(found | {"scipy": "scipy" in sys.modules}))


def measure(whose: str, case: str, k: int, repeats: int) -> Measured:
    """The fastest of several fresh processes."""
    runs = []
    command = [sys.executable, __file__, "--answer", whose, case, str(k)]
    for _ in range(repeats):
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command} ended with code {process.returncode}")
        said = json.loads(text)
        runs.append(
            Measured(
                said["epsilon"], said["compute"], seconds, usage.ru_maxrss / 1024, said["scipy"]
            )
        )
    return min(runs, key=lambda each: each.compute)


def rows(cases: list[str], most: int, repeats: int) -> Iterator[tuple[str, Measured, Measured]]:
    """Every case and size, in one run."""
    for case in cases:
        for k in (100, 1_000, 10_000) if case in CASES else (1,):
            if k <= most:
                here, there = (measure(whose, case, k, repeats) for whose in ("ours", "theirs"))
                yield case if case in FIXED else f"{k} {case}", here, there


def complaints(name: str, here: Measured, there: Measured) -> Iterator[str]:
    """What does not hold."""
    if here.epsilon > there.epsilon * (1 + MOST_ABOVE):
        yield f"{name}: looser by {here.epsilon / there.epsilon - 1:.1e}"
    fast = name.partition(" ")[2] in FAST
    if fast and here.scipy:
        yield f"{name}: imports scipy"
    ratio = there.compute / here.compute
    if ratio < (TIMES_FASTER if fast else ALWAYS):
        yield f"{name}: only {ratio:.1f} times faster"


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure dpcompose against dp-accounting.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, default=10_000)
    parser.add_argument("--cases", default=";".join(CASES | FIXED))
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.answer:
        whose, case, k = options.answer
        answer(whose, case, int(k))
        return 0
    print(f"{'':21} {'ε':>16} {'theirs':>16} {'excess':>9} {'compute ms':>18} ", end="")
    print(f"{'process ms':>16} {'peak MB':>11} {'ratio':>6}")
    failed: list[str] = []
    for name, here, there in rows(options.cases.split(";"), options.most, options.repeats):
        print(
            f"{name:21} {here.epsilon:16.12f} {there.epsilon:16.12f} "
            f"{here.epsilon / there.epsilon - 1:9.1e} "
            f"{1e3 * here.compute:9.2f} {1e3 * there.compute:8.1f} "
            f"{1e3 * here.process:8.0f} {1e3 * there.process:7.0f} "
            f"{here.megabytes:5.0f} {there.megabytes:5.0f} {there.compute / here.compute:6.1f}",
            flush=True,
        )
        failed += complaints(name, here, there)
    print("\n".join(f"MISS {each}" for each in failed) or "ok: all that must hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
