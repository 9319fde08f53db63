"""dpcompose beside other libraries, in one run: ε, and processor time, of each row as ratios.

    python tests/bench/side_by_side [--peer NAME=PYTHON ...] [--only WORD] [--write]

Run by hand, and read before each landing that touches `curves`. A row is a composition and a δ.
Each library answers each row in a process of its own, after its modules are loaded, with the
settings that it has if nothing is said; its processor time is of the composition and the ε alone.
NAME=PYTHON names the interpreter of an environment in which a library is, where it cannot be
installed beside dpcompose; without it, this interpreter is asked. A library that is missing, or
that has no question for a row, is "not run", with the reason.

`ε` is dpcompose's over the library's: above 1 by more than a millionth it is looser. An answer of a
library that is below the truth, as far as that is known, is marked "below": nothing is compared
with it. `time` is dpcompose's over the library's: above 1 it is slower. `--write` saves the table
beside this file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
#: A row with a library that takes longer is given up, in seconds.
LATEST = 20
NEAR = 1e-6


class Row(NamedTuple):
    """A composition and a δ: of `kind`, `copies` different mechanisms or draws of one, with a rate
    and a size of noise; `lower`: what is known to be no more than the least ε, 0 where nothing
    is."""

    kind: str
    rate: float
    size: float
    copies: int
    delta: float
    lower: float = 0.0

    @property
    def name(self) -> str:
        if self.kind.startswith("unlike"):
            return f"{self.copies} {self.kind} at {self.delta:g}"
        return f"{self.copies} × {self.kind} {self.size:g}, rate {self.rate:g}, at {self.delta:g}"


# Lower ends: a vertical line on the law without its far tail, and theory-additions of the project.
ROWS = (
    Row("gaussian", 1.0, 5.0, 10, 1e-6),
    Row("gaussian", 0.01, 1.0, 1000, 1e-6, 2.12451),
    Row("gaussian", 1e-3, 0.8, 2000, 1e-8, 1.11167),
    Row("gaussian", 1e-4, 1.0, 10**4, 1e-10, 0.079820),
    Row("gaussian", 1e-5, 1.0, 1000, 1e-6, 0.0011182),
    Row("gaussian", 1e-5, 1.0, 10**5, 1e-6, 0.013121),
    Row("gaussian", 1e-6, 1.0, 10**6, 1e-5, 0.0026810),
    Row("gaussian", 1e-6, 1.0, 10**6, 1e-10, 0.0065020),
    Row("gaussian", 1e-7, 0.4, 10**4, 1e-9, 0.17290),
    Row("gaussian", 1e-9, 1.0, 10**6, 1e-6),
    Row("laplace", 1.0, 10.0, 100, 1e-6),
    Row("laplace", 0.01, 1.0, 1000, 1e-6),
    Row("laplace", 1e-5, 1.0, 1000, 1e-6, 0.00069071370),
    Row("unlike laplace", 1.0, 10.0, 100, 1e-6),
    Row("unlike laplace", 1.0, 10.0, 1000, 1e-6),
    Row("unlike pure", 1.0, 0.01, 100, 1e-6),
)


def sizes(row: Row) -> list[str]:
    """Returns the scales or ε of different mechanisms, as exact fractions."""
    if row.kind == "unlike laplace":
        return [f"{70 + n}/7" for n in range(row.copies)]
    return [f"{100 + n}/10000" for n in range(row.copies)]


def number(text: str) -> float:
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom)


class Refused(Exception):
    """The library has no question for the row."""


def dpcompose() -> Callable[[Row], float]:
    from dpcompose import curves

    curves.laplace(scale=2).repeat(3).compose(curves.gaussian(sigma=2)).epsilon(delta="1e-3")

    def ask(row: Row) -> float:
        if row.kind == "unlike laplace":
            whole = curves.compose(*(curves.laplace(scale=each) for each in sizes(row)))
        elif row.kind == "unlike pure":
            whole = curves.compose(*(curves.pure(epsilon=each) for each in sizes(row)))
        else:
            gaussian = row.kind == "gaussian"
            one = curves.gaussian(sigma=row.size) if gaussian else curves.laplace(scale=row.size)
            one = one if row.rate == 1 else one.sample(poisson=row.rate)
            whole = one.repeat(row.copies)
        found = whole.epsilon(delta=row.delta)
        return float("inf") if found is None else float(found)

    return ask


def dp_accounting() -> Callable[[Row], float]:
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    def ask(row: Row) -> float:
        if row.kind == "unlike laplace":
            parts = [pld.from_laplace_mechanism(number(each)) for each in sizes(row)]
        elif row.kind == "unlike pure":
            parts = [
                pld.from_privacy_parameters(common.DifferentialPrivacyParameters(number(each), 0.0))
                for each in sizes(row)
            ]
        else:
            gaussian = row.kind == "gaussian"
            make = pld.from_gaussian_mechanism if gaussian else pld.from_laplace_mechanism
            parts = [make(row.size, sampling_prob=row.rate).self_compose(row.copies)]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.compose(part)
        return float(whole.get_epsilon_for_delta(row.delta))

    return ask


def prv_accountant() -> Callable[[Row], float]:
    import prv_accountant as prv

    def ask(row: Row) -> float:
        if row.kind == "gaussian" and row.rate < 1:
            mechanisms = [prv.PoissonSubsampledGaussianMechanism(row.rate, row.size)]
            counts = [row.copies]
        elif row.kind == "gaussian":
            mechanisms, counts = [prv.GaussianMechanism(row.size)], [row.copies]
        elif row.kind == "laplace" and row.rate == 1:
            mechanisms, counts = [prv.LaplaceMechanism(1 / row.size)], [row.copies]
        elif row.kind == "unlike laplace":
            mechanisms = [prv.LaplaceMechanism(1 / number(each)) for each in sizes(row)]
            counts = [1] * row.copies
        else:
            raise Refused("no such mechanism")
        # It has no settings if nothing is said; those of its README.
        accountant = prv.PRVAccountant(
            mechanisms, eps_error=0.1, delta_error=1e-10, max_self_compositions=counts
        )
        return float(accountant.compute_epsilon(row.delta, counts)[2])

    return ask


def autodp() -> Callable[[Row], float]:
    from autodp import mechanism_zoo as zoo
    from autodp.transformer_zoo import AmplificationBySampling, Composition

    def ask(row: Row) -> float:
        if row.kind == "unlike laplace":
            made, counts = [zoo.LaplaceMechanism(b=number(each)) for each in sizes(row)], None
        elif row.kind == "unlike pure":
            made, counts = [zoo.PureDP_Mechanism(number(each)) for each in sizes(row)], None
        else:
            gaussian = row.kind == "gaussian"
            one = (
                zoo.ExactGaussianMechanism(sigma=row.size)
                if gaussian
                else zoo.LaplaceMechanism(b=row.size)
            )
            if row.rate < 1:
                one.neighboring = "add_remove"
                sample = AmplificationBySampling(PoissonSampling=True)
                one = sample(one, row.rate, improved_bound_flag=True)
            made, counts = [one], [row.copies]
        whole = Composition()(made, counts or [1] * row.copies)
        return float(whole.get_approxDP(row.delta))

    return ask


def opake() -> Callable[[Row], float]:
    import importlib.util as util

    package = util.find_spec("opake")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'opake'")
    # Its compiled module alone: some Pythons cannot import the package around it.
    places = [Path(each) for each in package.submodule_search_locations]
    path = next(each for place in places for each in place.rglob("opake_accounting.abi3.so"))
    found = util.spec_from_file_location("opake_accounting", path)
    assert found is not None and found.loader is not None
    native = util.module_from_spec(found)
    found.loader.exec_module(native)

    def ask(row: Row) -> float:
        settings = native.DiscretizationConfig()
        if row.kind == "unlike pure":
            parts = [native.eps_delta_pld(number(each), 0.0, settings) for each in sizes(row)]
        elif row.kind == "gaussian":
            one = native.gaussian_pld(row.size, settings)
            one = one if row.rate == 1 else native.poisson_pld(one, row.rate)
            parts = [one.self_compose(row.copies)]
        else:
            raise Refused("no such mechanism")
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.compose(part)
        return float(whole.epsilon_at(row.delta))

    return ask


LIBRARIES = {
    "dpcompose": dpcompose,
    "dp_accounting": dp_accounting,
    "prv_accountant": prv_accountant,
    "autodp": autodp,
    "opake": opake,
}


def answer(name: str, at: int) -> None:
    """Prints what a library says of a row, and its processor time, as JSON; or why it says
    nothing."""
    found: Any
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            ask = LIBRARIES[name]()
            start = time.process_time()
            epsilon = ask(ROWS[at])
            found = [epsilon, time.process_time() - start]
    except Refused as why:
        found = str(why)
    except Exception as fault:
        found = f"{type(fault).__name__}: {fault}".splitlines()[0][:60]
    print(json.dumps(found))


def asked(python: str, name: str, at: int) -> tuple[float, float] | str:
    """Returns ε and processor time of a library for a row, or why there is none."""
    command = [python, str(HERE), "--answer", name, str(at)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=LATEST)
    except subprocess.TimeoutExpired:
        return f"more than {LATEST} s"
    if run.returncode or not run.stdout.strip():
        return f"ended with {run.returncode}"
    found = json.loads(run.stdout.splitlines()[-1])
    return found if isinstance(found, str) else (found[0], found[1])


def cell(row: Row, ours: tuple[float, float] | str, theirs: tuple[float, float] | str) -> str:
    """Returns both ratios of a row, with a mark where dpcompose is looser or slower."""
    if isinstance(theirs, str) or isinstance(ours, str):
        return f"not run: {theirs if isinstance(theirs, str) else ours}"
    epsilon, seconds = theirs
    ratio = ours[1] / max(seconds, 1e-4)
    slow = " **slower**" if ratio > 1 else ""
    if epsilon < row.lower:
        return f"below ({epsilon:.6g}); time {ratio:.2g}{slow}"
    tight = ours[0] / epsilon if epsilon else 1.0 if not ours[0] else float("inf")
    loose = " **looser**" if tight > 1 + NEAR else ""
    return f"ε {tight:.7g}{loose}; time {ratio:.2g}{slow}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--answer", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        answer(given.answer[0], int(given.answer[1]))
        return 0
    pythons = dict(each.split("=", 1) for each in given.peer)
    peers = [name for name in LIBRARIES if name != "dpcompose"]
    lines = ["| row | dpcompose | " + " | ".join(peers) + " |", "|---" * (len(peers) + 2) + "|"]
    for at, row in enumerate(ROWS):
        if given.only not in row.name:
            continue
        ours = asked(sys.executable, "dpcompose", at)
        others = [asked(pythons.get(name, sys.executable), name, at) for name in peers]
        own = ours if isinstance(ours, str) else f"{ours[0]:.9g}, {ours[1]:.2f} s"
        line = [row.name, own, *(cell(row, ours, each) for each in others)]
        lines.append("| " + " | ".join(line) + " |")
        print(lines[-1], flush=True)
        if given.write:
            write(lines)
    return 0


def write(lines: list[str]) -> None:
    """Saves the table, as far as it has come."""
    text = "# dpcompose beside other libraries\n\nWritten by `python tests/bench/side_by_side`:"
    text += " of each library dpcompose's ε and processor time over its own.\n\n"
    (HERE / "table.md").write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
