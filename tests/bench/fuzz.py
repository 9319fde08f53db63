"""Random curves in this checkout and in another one: every number that differs, or is below the
truth.

    python tests/bench/fuzz.py REVISION [--number 200] [--seed 1] [--seconds 8]

Run by hand, not by pytest. REVISION is a commit, or the folder of a checkout. Curves are drawn from
all constructors and operators of `dpcompose.curves`, and asked two ε and two δ in either checkout.
Printed are the numbers that grew or fell by more than 1e-4 (of which there is none, or which took
too long, in one of the two: both are shown), and those of this checkout that are below the truth of
easy curves: Gaussian and Laplace noise and pure losses, some steps apart, repeated, and behind a
sample. Ends with 1 where any is below.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from mpmath import mp, mpf

HERE = Path(__file__).resolve().parents[2]
EASY = {"gaussian": (0.3, 50), "laplace": (0.2, 50), "pure": (0.005, 3)}
#: Kind, size, steps apart, how often, behind a sample of which rate.
Easy = tuple[str, float, int, int, float]


class Draw:
    """Draws curves as expressions in the functions of `dpcompose.curves`."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.choice = self.rng.choice

    def size(self, low: float, high: float) -> float:
        """Returns a number of few digits, one in five times from far beyond the two."""
        if self.rng.random() < 0.2:
            low, high = low * 1e-3, high * 1e3
        value = math.exp(self.rng.uniform(math.log(low), math.log(high)))
        return float(f"{value:.{self.choice([1, 2, 6])}g}")

    def rate(self) -> float:
        return min(self.size(*self.choice([(1e-3, 0.9), (1e-9, 0.1)])), 0.999)

    def easy(self) -> Easy:
        kind = self.choice(list(EASY))
        times = 1 if kind == "laplace" else self.choice([1, 2, 300])
        return kind, self.size(*EASY[kind]), self.choice([1, 3, 20]), times, self.rate()

    def constructor(self) -> str:
        size, choice = self.size, self.choice
        points = sorted({round(size(1e-2, 4), 6) for _ in range(choice([1, 2, 5]))})
        deltas = sorted((size(1e-12, 0.5) % 1 for _ in points), reverse=True)
        return choice(
            [
                f"gaussian({size(0.3, 50)})",
                f"laplace({size(0.2, 50)})",
                f"pure({size(0.005, 3)})",
                f"geometric({size(0.3, 50)}, {choice([1, 2, 7])})",
                f"discrete_gaussian({size(0.4, 20)}, {choice([1, 2, 3])})",
                f"skellam({size(1, 200) + 0.3}, {choice([1, 2, 3])})",
                f"exponential({size(0.01, 3)})",
                f"randomized_response({size(0.01, 4)}, {choice([2, 3, 100])})",
                f"approx({size(0.005, 3)}, {min(size(1e-9, 1e-3), 0.5)})",
                f"zcdp({size(1e-4, 2)})",
                f"gdp({size(0.01, 3)})",
                f"rdp({[(1 + each, each / 9) for each in points]})",
                f"profile({list(zip(points, deltas, strict=True))})",
            ]
        )

    def curve(self, depth: int = 0) -> str:
        choice = self.choice
        if depth == 3 or self.rng.random() < 0.2:
            return self.constructor()
        inner, other = self.curve(depth + 1), self.curve(depth + 1)
        return choice(
            [
                f"{inner}.repeat({choice([2, 10, 1000, int(self.size(1e3, 1e8))])})",
                f"{inner}.sample(poisson={self.rate()})",
                f"{inner}.sample(fixed={self.rate()})",
                f"gaussian({self.size(0.3, 9)}).allocate({choice([2, 5, 50, 1000])})",
                f"{inner}.at_distance({choice([2, 3, 4, 20])})",
                f"compose({inner}, {other})",
                f"maximum({inner}, {other})",
            ]
        )


def truth(easy: Easy, epsilon: Fraction) -> Any:
    """Returns δ at ε of an easy curve, in 60 digits."""
    kind, size, steps, n, rate = easy
    q, one = mpf(str(rate)), steps * (mpf(str(size)) if kind == "pure" else 1 / mpf(str(size)))
    e = mp.log1p(mp.expm1(mpf(epsilon.numerator) / epsilon.denominator) / q)
    if kind == "gaussian":
        mu = one * mp.sqrt(n)
        return q * (mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu))
    if kind == "laplace":
        return q * max(mpf(0), -mp.expm1((e - one) / 2))
    p, losses = 1 / (1 + mp.exp(-one)), [(i, (n - 2 * i) * one) for i in range(n + 1)]
    chances = [(mp.binomial(n, i) * p ** (n - i) * (1 - p) ** i, loss) for i, loss in losses]
    return q * mp.fsum(-mp.expm1(e - loss) * chance for chance, loss in chances if loss > e)


def answer(seconds: float) -> None:
    """Answers the questions of standard input, a line each, with the package that is imported."""
    from dpcompose import curves

    def late(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    for line in sys.stdin:
        text, points = json.loads(line)
        found: list[str | None] = []
        for kind, given in points:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                got = getattr(eval(text, vars(curves)), kind)(**given)  # what `Draw` wrote
                found.append(None if got is None else str(got.upper))
            except (TimeoutError, ValueError) as why:
                found.append(type(why).__name__)
            signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps(found), flush=True)


def answers(root: Path, asked: list[Any], seconds: float) -> Iterator[list[str | None]]:
    """Yields the answers of the package below `root`, as they come."""
    command = [sys.executable, __file__, "--answer", "--seconds", str(seconds)]
    with tempfile.TemporaryFile("w+") as lines:
        lines.writelines(json.dumps(each) + "\n" for each in asked)
        lines.seek(0)
        env = {**os.environ, "PYTHONPATH": str(root)}
        with subprocess.Popen(command, stdin=lines, stdout=subprocess.PIPE, env=env) as run:
            yield from map(json.loads, run.stdout or ())


def number(found: str | None) -> Fraction | None:
    """Returns an answer as a number; None where it is none."""
    return None if found is None or found.endswith("Error") else Fraction(found)


def compare(draws: list[Easy | None], asked: list[Any], *both: Iterator[list[str | None]]) -> int:
    """Prints what differs and what is below the truth; returns how many are below."""
    low = 0
    for easy, (text, points), *found in zip(draws, asked, *both, strict=True):
        for (kind, given), new, old in zip(points, *found, strict=True):
            [at] = given.values()
            now, before = number(new), number(old)
            sizes = [was if x is None else float(x) for x, was in ((before, old), (now, new))]
            if now is None or before is None:
                change = "" if new == old else "other"
            elif abs(now - before) > max(now, before) / 10**4:
                change = "grew" if now > before else "fell"
            else:
                change = ""
            if change:
                print(change, text, kind, "at", at, *sizes, flush=True)
            if easy and now is not None:
                epsilon, delta = (now, Fraction(at)) if kind == "epsilon" else (Fraction(at), now)
                if truth(easy, epsilon) > mpf(delta.numerator) / delta.denominator + mpf(10) ** -40:
                    print("BELOW", text, kind, "at", at, *sizes, flush=True)
                    low += 1
    return low


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("other", nargs="?", default="main")
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        answer(given.seconds)
        return 0
    mp.dps, draw = 60, Draw(given.seed)
    draws = [draw.easy() if n % 3 == 0 else None for n in range(given.number)]
    asked: list[Any] = []
    for easy in draws:
        text = draw.curve()
        if easy is not None:
            text = "{}({}).at_distance({}).repeat({}).sample(poisson={})".format(*easy)
        deltas = [{"delta": str(min(draw.size(1e-9, 1e-2), 0.9))} for _ in range(2)]
        epsilons = [{"epsilon": str(draw.size(1e-2, 5))}, {"epsilon": "0"}]
        points = [*(("epsilon", at) for at in deltas), *(("delta", at) for at in epsilons)]
        asked.append((text, points))
    with tempfile.TemporaryDirectory() as folder:
        other = Path(given.other)
        if not other.is_dir():
            command, other = ["git", "archive", given.other], Path(folder)
            tree = subprocess.run(command, cwd=HERE, check=True, capture_output=True).stdout
            subprocess.run(["tar", "x", "-C", folder], input=tree, check=True)
        found = (answers(root, asked, given.seconds) for root in (HERE, other))
        return min(1, compare(draws, asked, *found))


if __name__ == "__main__":
    sys.exit(main())
