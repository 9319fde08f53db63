"""What the tests of the kernel share: releases with certificates that hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from oracle.generate import random_spec
from yaml import safe_dump

from dpcompose.core.kernel.certificate import Certificate
from dpcompose.core.model.problem import Problem
from dpcompose.core.search.proof import certificate_of
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.core.theorems.select import select
from dpcompose.resolve import resolve
from dpcompose.source import load

ROOT = Path(__file__).parents[3]
SPECS = sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "tests/golden/handmade").glob("*.yaml")])


#: A replaced row is removed from one sample and added to another.
SAMPLED_BLOCKS = """
dpcompose: 1
protect: bounded
datasets:
  people: {}
  part: {from: people, partition: {by: value, blocks: [x, y, z]}}
  sx: {from: part.x, map: {kind: sample, poisson: 1/4}}
  sy: {from: part.y, map: {kind: sample, poisson: 1/2}}
mechanisms:
  - {name: a, reads: sx, notion: pure, epsilon: 1, relation: unbounded}
  - {name: b, reads: sy, notion: pure, epsilon: 2, relation: unbounded}
  - {name: c, reads: part.z, notion: pure, epsilon: 0.5, relation: unbounded}
"""


#: A row takes the place of another of its key, or it is the only one of it.
ONE_OF_EACH_KEY = """
dpcompose: 1
protect: {relation: unbounded, distance: 2}
datasets:
  people: {}
  one: {from: people, map: {kind: limit, per: k, rows: 1, keep: random}}
  some: {from: one, map: {kind: filter}}
mechanisms:
  - {name: a, reads: one, notion: pure, epsilon: 1}
  - {name: b, reads: some, notion: pure, epsilon: 0.5}
"""


class Proved(NamedTuple):
    """A release in one notion, as the search leaves it, and the certificate of its bound."""

    name: str
    solver: Solver
    solution: Solution
    certificate: Certificate

    @property
    def problem(self) -> Problem:
        """What the certificate is held against."""
        return self.solver.problem


def problems(randoms: int) -> Iterator[tuple[str, Problem]]:
    """Every example spec, and so many random ones."""
    yield "sampled blocks", resolve(load(SAMPLED_BLOCKS, "sampled blocks")).problem
    yield "one of each key", resolve(load(ONE_OF_EACH_KEY, "one of each key")).problem
    for path in SPECS:
        yield path.stem, resolve(load(path.read_bytes(), path.name)).problem
    for seed in range(randoms):
        text = safe_dump(random_spec(seed), sort_keys=False)
        yield f"random {seed}", resolve(load(text, "random")).problem


@pytest.fixture(scope="session")
def proved(long: bool) -> list[Proved]:
    """The releases that are forged: in the strongest notion that is finite, or (long) in all."""
    found = []
    for name, problem in problems(40 if long else 8):
        solver = Solver(problem)
        for notion in notions(problem):
            solution = solver.solve(notion)
            if solution.finite:
                cited, _ = select(solver, solution)
                certificate = certificate_of(solver, solution, cited)
                found.append(Proved(f"{name} {notion}", solver, solution, certificate))
                if not long:
                    break
    return found
