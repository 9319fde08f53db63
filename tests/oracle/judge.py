"""Whether a certified bound is below the truth of a small universe.

For some universes of a spec and some pairs of neighbouring roots the worst mechanisms are looked
for (see `worst`).  Where they lose more than a claim allows, they are made rational, all of their
statements are verified exactly, and only then the claim is said to be below the truth.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from mpmath import mp, mpf

from .pipeline import Pipeline, Said, read
from .polytope import Declared, Side, as_pure, power
from .tree import Node
from .universe import Poor, Universe, Value
from .worst import Contest, Found, Roots, TooLarge

PAIRS = 3
UNIVERSES = 2
STARTS = 2
NEAR = 1e-7


@dataclass(frozen=True)
class Claim:
    """What a report certifies: ε (with δ), ρ or μ."""

    notion: str
    value: Fraction
    delta: Fraction = Fraction(0)


@dataclass
class Breach:
    """A claim below the truth: what is attained, and by what."""

    claim: Claim
    attained: float
    roots: tuple[list[Any], list[Any]]
    witness: list[str]


@dataclass
class Verdict:
    """What was judged: the number of pairs of roots, the largest loss, and the breaches."""

    pairs: int = 0
    attained: float = 0.0
    breach: Breach | None = None


def pairs(universe: Universe, rng: Random, most: int) -> Iterator[tuple[Roots, Roots, Declared]]:
    """Neighbouring roots, small and random ones, with what a declared relation is there."""
    pipeline = universe.pipeline
    steps = {
        root: [table for table in universe.domain(root) if _fits(universe, root, table)]
        for root in pipeline.roots
    }
    seen: set[tuple[tuple[Value, ...], tuple[Value, ...]]] = set()
    for n in range(most * 4):
        if len(seen) >= most:
            return
        first: Roots = {}
        second: Roots = {}
        declared: dict[tuple[str, Node], list[tuple[Value, Value]]] = {}
        moving = _moving(pipeline, rng)
        for root in pipeline.roots:
            start = min(steps[root], key=len) if n % 3 == 0 else rng.choice(steps[root])
            path = [start]
            if moving[root] != (0, 0):
                path = _walk(universe, root, start, set(steps[root]), rng, moving[root])
            first[root], second[root] = path[0], path[-1]
            if pipeline.relation in pipeline.declared:
                hops = pairwise(path)
                declared[pipeline.relation, root] = [(a, b) for a, b in hops if a != b]
        if rng.random() < 0.5:
            first, second = second, first
        key = (tuple(first.values()), tuple(second.values()))
        if first == second or key in seen:
            continue
        seen.add(key)
        yield first, second, declared


def _moving(pipeline: Pipeline, rng: Random) -> dict[Node, tuple[int, int]]:
    """How many steps change each root, and how many inner ones each of those is made of.

    All of them change every root, but those of roots of which nobody is in two are shared out.
    """
    _, inner = pipeline.declared.get(pipeline.relation, (pipeline.relation, 1))
    every = (pipeline.distance, inner)
    moving = dict.fromkeys(pipeline.roots, every)
    for group in pipeline.disjoint:
        roots = [root for root in pipeline.roots if root.name in group]
        rng.shuffle(roots)
        by_inner = pipeline.distance == 1
        left = inner if by_inner else pipeline.distance
        for n, root in enumerate(roots):
            taken = left if n == len(roots) - 1 else rng.choice([0, left, rng.randint(0, left)])
            left -= taken
            here = (1, taken) if by_inner else (taken, inner)
            moving[root] = min(moving[root], here) if taken else (0, 0)
    return moving


def _fits(universe: Universe, root: Node, table: Value) -> bool:
    return root.said.get("domain") == "graph" or len(table) <= universe.largest[root]


def _walk(
    universe: Universe,
    root: Node,
    start: Value,
    allowed: set[Value],
    rng: Random,
    steps: tuple[int, int],
) -> list[Value]:
    """Steps of the relation protected, the last one as far from the start as may be."""
    pipeline = universe.pipeline
    path = [start]
    for _ in range(steps[0]):
        within, _ = pipeline.declared.get(pipeline.relation, (pipeline.relation, 1))
        here = path[-1]
        for _ in range(steps[1]):
            keeps = pipeline.keeps
            near = [
                t
                for t in universe.neighbours(root, within, keeps, here)
                if t in allowed and t not in path
            ]
            if not near:
                break
            here = max(rng.sample(near, min(len(near), 3)), key=lambda t: apart(path[0], t))
        if here != path[-1]:
            path.append(here)
    return path


def apart(a: Value, b: Value) -> int:
    """How many rows two tables do not share."""
    left = list(b)
    for row in a:
        if row in left:
            left.remove(row)
    return len(left) + len(a) - (len(b) - len(left))


def universes(
    pipeline: Pipeline, rng: Random, count: int, most: int | None = None, margin: int = 1
) -> Iterator[Universe]:
    """Some universes that have all the rows they must have."""
    made = 0
    for attempt in range(40):
        if made == count:
            return
        kinds = 2 + min(attempt // 8, 2) if attempt % 3 else 3
        rows = most or (1 if attempt > 25 else 2)
        try:
            universe = Universe(pipeline, rng, kinds, rows, margin)
            for copy in pipeline.copies:
                for said in copy.said:
                    universe.domain(said.node)
        except Poor:
            continue
        made += 1
        yield universe


def judge(
    spec: Mapping[str, Any],
    claimed: Sequence[Claim],
    seed: int,
    counts: tuple[int, int] = (UNIVERSES, PAIRS),
    most: int | None = None,
    margin: int = 1,
) -> Verdict:
    """Look for mechanisms that lose more than is claimed."""
    pipeline = read(spec)
    rng = Random(seed)
    verdict = Verdict()
    for universe in universes(pipeline, rng, counts[0], most, margin):
        sides: list[Side] | None = None
        for first, second, declared in pairs(universe, rng, counts[1]):
            try:
                if sides is None or declared:
                    sides = _sides(universe, pipeline, declared)
                contest = Contest(universe, first, second, pipeline.copies, sides)
            except TooLarge:
                continue
            verdict.pairs += 1
            if contest.same:
                continue
            for claim in claimed:
                for turned in (False, True):
                    breach = against(contest, claim, turned, rng, verdict)
                    if breach is not None:
                        breach.roots = (shown(universe, first), shown(universe, second))
                        verdict.breach = breach
                        return verdict
    return verdict


def _sides(universe: Universe, pipeline: Pipeline, declared: Declared) -> list[Side]:
    """What each copy may do; copies of one mechanism on one table may do the same."""
    made: dict[tuple[tuple[Said, ...], Node], Side] = {}
    for copy in pipeline.copies:
        key = (tuple(copy.said), copy.reads[0])
        if key not in made:
            made[key] = Side(universe, copy, declared)
    return [made[tuple(copy.said), copy.reads[0]] for copy in pipeline.copies]


def shown(universe: Universe, roots: Roots) -> list[Any]:
    """Tables for people to read."""
    return [(node.name, list(value)) for node, value in roots.items()]


def against(
    contest: Contest, claim: Claim, turned: bool, rng: Random, verdict: Verdict
) -> Breach | None:
    """A breach of one claim, if one is found and holds exactly."""
    with_delta = claim.delta > 0 or any(side.delta for side in contest.sides)
    if claim.notion == "pure" and not with_delta:
        found = contest.loss(turned, rng, STARTS, float(claim.value))
        verdict.attained = max(verdict.attained, found.worth)
        if math.isinf(found.worth):
            return Breach(claim, math.inf, ([], []), [])
        if found.worth <= float(claim.value) * (1 + NEAR) + NEAR or not found.v:
            return None
        sums = contest.exact_loss(found, turned)
        if sums is None or sums[0] <= power(claim.value, True) * sums[1]:
            return None
        lost = float(
            mp.log(
                mpf(sums[0].numerator)
                * sums[1].denominator
                / (mpf(sums[0].denominator) * sums[1].numerator)
            )
        )
        return Breach(claim, lost, ([], []), witness(contest, found))
    if claim.notion in ("pure", "approx"):
        found = contest.leak(float(claim.value), turned, rng, STARTS, float(claim.delta))
        verdict.attained = max(verdict.attained, found.worth)
        if found.worth <= float(claim.delta) * (1 + NEAR) + NEAR / 10:
            return None
        leak = contest.exact_leak(found, claim.value, turned)
        if leak is None or leak <= claim.delta:
            return None
        return Breach(claim, float(leak), ([], []), witness(contest, found))
    return _concentrated(contest, claim, turned, rng, verdict)


def _concentrated(
    contest: Contest, claim: Claim, turned: bool, rng: Random, verdict: Verdict
) -> Breach | None:
    """The same for ρ and μ: at some ε, the curve of the notion for the laws that were found."""
    epsilon, value = float(as_pure(claim.notion, claim.value)), float(claim.value)
    excess = _excess_gdp if claim.notion == "gdp" else _excess_zcdp
    for at in (0.0, epsilon / 2):
        found = contest.leak(at, turned, rng, 1, math.inf)
        verdict.attained = max(verdict.attained, found.worth)
        if not found.v or excess(*contest.laws(found.v), value) < 1e-6:
            continue
        exact = [side.rational(x, True) for side, x in zip(contest.sides, found.v, strict=True)]
        v = [np.array([float(x) for x in each]) for each in exact if each is not None]
        if len(v) == len(exact) and (lost := excess(*contest.laws(v), value)) > 1e-6:
            return Breach(claim, lost, ([], []), witness(contest, found))
    return None


def _excess_gdp(p: Any, q: Any, mu: float) -> float:
    """By how much δ(ε) is above the Gaussian curve, at the worst ε of some."""
    worst = 0.0
    for epsilon in np.linspace(0, mu * mu / 2 + 2 * mu + 0.1, 12):
        grown = math.exp(min(epsilon, 600.0))
        left = max(float(np.clip(a - grown * b, 0, None).sum()) for a, b in ((p, q), (q, p)))
        if mu:
            near = math.erfc((epsilon / mu - mu / 2) / 2**0.5) / 2
            far = math.erfc((epsilon / mu + mu / 2) / 2**0.5) / 2
            left -= near - grown * far
        worst = max(worst, left)
    return worst


def _excess_zcdp(p: Any, q: Any, rho: float) -> float:
    """By how much a Rényi divergence is above α·ρ, at the worst α of some."""
    worst = 0.0
    keep = (p > 1e-300) & (q > 1e-300)
    for a, b in ((p[keep], q[keep]), (q[keep], p[keep])):
        for alpha in (1.01, 1.5, 2.0, 4.0, 16.0):
            total = float((b * (a / b) ** alpha).sum())
            worst = max(worst, math.log(total) / (alpha - 1) / alpha - rho)
    return worst


def witness(contest: Contest, found: Found) -> list[str]:
    """The mechanisms of a breach, for people to read."""
    told = []
    for side, v in zip(contest.sides, found.v, strict=True):
        parts = [f"{list(value)}: {v[n]:.6g}" for value, n in side.values.items()]
        told.append(f"{side.name} on {side.reads}: " + "; ".join(parts))
    return told
