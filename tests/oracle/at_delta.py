"""The true ε of a small spec at a chosen δ, by exhaustive enumeration and to 50 digits.

Which neighbouring pair is worst depends on δ, so that the losses of the mechanisms are kept apart:
for every pair of neighbouring roots, the shortest path of each mechanism in its own statement's
graph (see `truth`).  Then each mechanism is replaced by the worst one at that distance, these are
composed, and the largest ε at δ over all pairs is taken.  Two numbers come out:

* `attained`: with mechanisms that satisfy every statement, so that no bound may be below it;
* `ceiling`: with the group step taken in the notion, ε = d at distance d, and then randomized
  response; but for a pure mechanism with one guarantee, the power function of its steps.  For GDP,
  for such a mechanism and for single steps of pure and approximate DP the two are equal.

They differ because randomized response with ε = d is no worst case of a path of several steps:
with two steps of u, no event is more than 1 - e^-u likelier at one end than at the other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

from mpmath import mp, mpf
from reference.curves import Profile, epsilon_of, tail
from reference.lattice import DIGITS, ONE, Law, exact, finite, response, responses
from reference.powers import path, step

from .exact import MIXED, doubts
from .tree import Node, Statement, read
from .truth import (
    Notes,
    _chosen,
    _Meter,
    _Reader,
    _Roots,
    _sizes,
    _Unit,
    path_to,
    rows_needed,
    shifting,
)
from .world import World

#: Patterns this close in floating point are worked out to 50 digits.
NEARLY = 1e-5


@dataclass(frozen=True, order=True)
class Kind:
    """What is known of a mechanism.

    `notion`: pure, gdp, zcdp or approx.  `weights`: the positive lengths of single steps, in the
    units of ε or μ; for zcdp as a Gaussian, ρ = μ²/2; for approx every step has length 1, and
    `epsilon` and `delta` are what one step costs.
    """

    notion: str
    weights: tuple[Fraction, ...] = ()
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)


#: How often each mechanism is moved by which distance, without those that are not moved.
Change = tuple[tuple[Kind, Fraction, int], ...]


@dataclass(frozen=True)
class Found:
    """ε at δ: what is attained, what group privacy in the notion gives, and by which changes."""

    delta: Fraction
    attained: Any
    ceiling: Any
    change: Change


# ---------------------------------------------------------------------------------------------
# Which changes there are


def changes(
    spec: Mapping[str, Any], notions: Mapping[str, Kind], mixed: bool = False
) -> tuple[list[Change], bool]:
    """All changes of a spec, and whether one has no finite loss.

    The spec is in pure DP; `notions` says what its mechanisms really are, by name.
    """
    tree = read(spec)
    unit = _Unit(tree)
    notes = Notes()
    found: dict[Change, None] = {}
    for chosen in _chosen(tree, notes):
        roots = _Roots(World(tree, chosen, _sizes(tree)))
        for change in _of_universe(roots, unit, notes, notions, mixed):
            if change is None:
                return [], True
            found[change] = None
    return undominated(found), False


def _of_universe(
    roots: _Roots, unit: _Unit, notes: Notes, notions: Mapping[str, Kind], mixed: bool
) -> Iterator[Change | None]:
    """The changes of one universe; nothing in place of one without a finite loss."""
    world, tree = roots.world, roots.world.tree
    if roots.size < rows_needed(tree) or any(shifting(tree, op) for op in world.tied):
        notes.cut.add("the universe is too small")
    if not roots.rows:
        return
    readers: dict[Node, _Reader] = {}
    kinds: dict[Node, list[Kind]] = {}
    for mechanism in tree.mechanisms:
        node = mechanism.reads
        reader = readers.setdefault(node, _Reader(node, mixed))
        groups: dict[Node, list[Statement]] = {}
        for said in mechanism.statements:
            groups.setdefault(said.node, []).append(said)
        meters = [
            _Meter(world, mechanism, above, group, unit, notes, _largest(roots, above))
            for above, group in groups.items()
        ]
        reader.meters.append((mechanism.count, meters))
        weights = sorted({said.weight for said in mechanism.statements if said.weight})
        plain = Kind("pure", tuple(weights))
        known = notions.get(mechanism.name, plain)
        kinds.setdefault(node, []).append(
            Kind(known.notion, plain.weights, known.epsilon, known.delta)
        )
    for reader in readers.values():
        reader.see(world, roots)
    views = list(readers.items())
    cases: set[tuple[tuple[int, int, int], ...]] = set()
    for first, second in roots.pairs():
        moved = []
        for n, (_, reader) in enumerate(views):
            a, b = reader.tables[first], reader.tables[second]
            if a != b:
                moved.append((n, min(a, b), max(a, b)))
        cases.add(tuple(moved))
    known_parts: dict[tuple[int, int, int], list[tuple[Kind, Fraction, int]] | None] = {}
    for case in cases:
        total: dict[tuple[Kind, Fraction], int] = {}
        for where in case:
            if where not in known_parts:
                node, reader = views[where[0]]
                known_parts[where] = _parts(reader, kinds[node], unit, where[1:])
            parts = known_parts[where]
            if parts is None:
                yield None
                return
            for kind, distance, count in parts:
                total[kind, distance] = total.get((kind, distance), 0) + count
        yield tuple(sorted((kind, d, n) for (kind, d), n in total.items()))


def _largest(roots: _Roots, node: Node) -> int:
    return max(len(roots.world.along(path_to(node), table)) for table in roots.tables)


def _parts(
    reader: _Reader, kinds: Sequence[Kind], unit: _Unit, ends: tuple[int, ...]
) -> list[tuple[Kind, Fraction, int]] | None:
    """How far the mechanisms that read one dataset are moved; nothing if one is lost."""
    start, end = (reader.distinct[n] for n in ends)
    parts = []
    for kind, (count, meters) in zip(kinds, reader.meters, strict=True):
        distance = reader.distance(meters, start, end)
        if math.isinf(distance):
            return None
        if distance:
            parts.append((kind, Fraction(int(distance), unit.scale), count))
    return parts


def undominated(found: Iterable[Change]) -> list[Change]:
    """Without changes that move every kind of mechanism less often or less far than another."""
    kept: list[tuple[Change, dict[Kind, list[Fraction]]]] = []
    for change in found:
        mine = _by_kind(change)
        if not any(_below(mine, other) for _, other in kept):
            kept = [each for each in kept if not _below(each[1], mine)]
            kept.append((change, mine))
    return [change for change, _ in kept]


def _by_kind(change: Change) -> dict[Kind, list[Fraction]]:
    made: dict[Kind, list[Fraction]] = {}
    for kind, distance, count in change:
        made.setdefault(kind, []).extend([distance] * count)
    return {kind: sorted(distances, reverse=True) for kind, distances in made.items()}


def _below(low: dict[Kind, list[Fraction]], high: dict[Kind, list[Fraction]]) -> bool:
    return all(
        len(distances) <= len(high.get(kind, ()))
        and all(a <= b for a, b in zip(distances, high[kind], strict=False))
        for kind, distances in low.items()
    )


# ---------------------------------------------------------------------------------------------
# The worst mechanism at a distance


@cache
def worst(kind: Kind, distance: Fraction, ceiling: bool) -> Law:
    """The loss of the worst mechanism, other than a Gaussian, at a distance."""
    if kind.notion == "approx":
        steps = int(distance)
        if not ceiling and steps > 1:
            return path([step(kind.epsilon, kind.delta)] * steps).law()
        factor = Fraction(steps)
        if kind.epsilon and steps > 1:
            with mp.workdps(DIGITS):
                e = exact(kind.epsilon)
                grown = mp.expm1(steps * e) / mp.expm1(e)
                factor = Fraction(int(mp.floor(grown * mpf(10) ** 100)), 10**100)
        leak = min(Fraction(1), kind.delta * factor)
        return response(kind.epsilon * steps, leak)
    if distance <= kind.weights[0]:
        return response(distance)
    if ceiling:
        [each] = kind.weights
        assert (distance / each).denominator == 1
        return chain([each] * int(distance / each))
    if distance <= 2 * kind.weights[0]:
        return three(kind.weights[0], distance)
    return chain(_gaps(kind.weights, distance))


def several(kind: Kind) -> bool:
    """Whether steps of a path may be unlike."""
    return len(kind.weights) > 1


def three(step: Fraction, distance: Fraction) -> Law:
    """Both ends, and all other tables as one, which are at least a `step` from either end.

    An event of chance p has at most e^d·p at the other end, and at most p + 1 - e^-step.
    """
    with mp.workdps(DIGITS + 20):
        reach, d = -mp.expm1(-exact(step)), exact(distance)
        if mp.tanh(d / 2) <= reach:
            return response(distance)
        low = reach / mp.expm1(d)
        high = low * mp.exp(d)
        return finite([(distance, high), (Fraction(0), 1 - high - low), (-distance, low)])


def _gaps(weights: Sequence[Fraction], distance: Fraction) -> list[Fraction]:
    """The gaps between all sums of steps up to a distance: no path has more or smaller ones."""
    sums, new = {Fraction(0)}, {Fraction(0)}
    while new:
        new = {s + w for s in new for w in weights if s + w < distance} - sums
        sums |= new
    at = [*sorted(sums), distance]
    return [b - a for a, b in pairwise(at)]


def chain(steps: Sequence[Fraction]) -> Law:
    """The worst mechanism on points of a line, from the first to the last.

    The largest chance at one end of an event of chance p at the other is h(…h(p)), where h takes p
    to the lesser of e^w·p and 1 - e^-w·(1-p).  In pieces: the loss, and the chance at the end that
    p belongs to.
    """
    with mp.workdps(DIGITS + 20):
        pieces: list[tuple[Fraction, Any]] = [(Fraction(0), mpf(1))]
        for step in steps:
            bend = 1 / (1 + mp.exp(exact(step)))
            made: list[tuple[Fraction, Any]] = []
            reached = mpf(0)
            for loss, length in pieces:
                rise = mp.exp(exact(loss))
                before = min(max((bend - reached) / rise, mpf(0)), length)
                if before > 0:
                    made.append((loss + step, before))
                if length > before:
                    made.append((loss - step, length - before))
                reached += rise * length
            pieces = made
        return finite((loss, length * mp.exp(exact(loss))) for loss, length in pieces)


# ---------------------------------------------------------------------------------------------
# ε at δ


def composed(change: Change, ceiling: bool) -> tuple[Law, Fraction]:
    """The law of all that is not Gaussian, and the Σμ² of what is."""
    law, variance = Law(), Fraction(0)
    for kind, distance, count in change:
        if kind.notion in ("gdp", "zcdp"):
            variance += count * distance**2
        elif kind.notion == "pure" and (distance <= kind.weights[0] or (ceiling and several(kind))):
            law = law * responses(distance, count)
        else:
            law = law * worst(kind, distance, ceiling) ** count
    return law, variance


def epsilon_at(law: Law, variance: Fraction, delta: Fraction) -> Any:
    """The least ε at δ; to 20 digits if something is Gaussian."""
    if not variance:
        return law.epsilon(delta)
    if law.infinite >= delta:
        return mp.inf
    return epsilon_of(smooth(law, variance), delta, 20)


def smooth(law: Law, variance: Fraction) -> Profile:
    """δ(ε) of a law with finitely many atoms and a Gaussian, independent of each other."""

    def delta(epsilon: Any) -> Any:
        with mp.workdps(45):
            mu, leak = mp.sqrt(exact(variance)), exact(law.infinite)
            total = mpf(0)
            for loss, mass in law.atoms.items():
                left = epsilon - exact(loss)
                near, far = tail(left / mu - mu / 2), tail(left / mu + mu / 2)
                total += mass * (near - mp.exp(left) * far)
            return leak + (1 - leak) * total / ONE

    return delta


def roughly(law: Law, variance: Fraction, delta: Fraction) -> float:
    """The same in floating point."""
    left = float((delta - law.infinite) / (1 - law.infinite)) if law.infinite < 1 else -1.0
    if left < 0:
        return math.inf
    atoms = [(float(loss), mass / ONE) for loss, mass in law.atoms.items()]
    if not variance:
        a = b = 0.0
        atoms.sort(reverse=True)
        for n, (loss, mass) in enumerate(atoms):
            a, b = a + mass, b + mass * math.exp(-loss)
            if n + 1 == len(atoms) or a - b * math.exp(atoms[n + 1][0]) > left:
                return max(0.0, math.log((a - left) / b)) if a > left else 0.0
    mu = math.sqrt(variance)
    low, high = 0.0, max(loss for loss, _ in atoms) + mu * mu / 2 + 40 * mu
    while high - low > 1e-8 * high:
        middle = (low + high) / 2
        total = 0.0
        for loss, mass in atoms:
            x = (middle - loss) / mu
            near, far = math.erfc((x - mu / 2) / 2**0.5), math.erfc((x + mu / 2) / 2**0.5)
            total += mass * (near - math.exp(middle - loss) * far) / 2
        low, high = (middle, high) if total > left else (low, middle)
    return high


def worst_at(found: Sequence[Change], delta: Fraction, ceiling: bool) -> tuple[Any, Change]:
    """The largest ε at δ over all changes, and the change."""
    laws: dict[object, tuple[Law, Fraction, Change]] = {}
    for change in found:
        law, variance = composed(change, ceiling)
        key = (frozenset(law.atoms.items()), law.infinite, variance)
        laws.setdefault(key, (law, variance, change))
    rough = [roughly(law, variance, delta) for law, variance, _ in laws.values()]
    best: tuple[Any, Change] = (mpf(0), ())
    for (law, variance, change), near in zip(laws.values(), rough, strict=True):
        if near >= max(rough) * (1 - NEARLY):
            value = epsilon_at(law, variance, delta)
            if value > best[0]:
                best = value, change
    return best


def truth_at(
    spec: Mapping[str, Any],
    deltas: Iterable[Fraction],
    notions: Mapping[str, Kind] | None = None,
    uncertain: Sequence[str] | None = None,
) -> list[Found]:
    """The largest ε at each δ over all neighbouring roots; infinite if some loss is.

    `uncertain`: the doubts about the spec, where they are known already.
    """
    if uncertain is None:
        uncertain = doubts(spec)
    found, lost = changes(spec, notions or {}, MIXED in uncertain)
    results = []
    for delta in deltas:
        if lost:
            results.append(Found(delta, mp.inf, mp.inf, ()))
            continue
        ceiling, _ = worst_at(found, delta, True)
        attained, change = worst_at(found, delta, False)
        results.append(Found(delta, attained, ceiling, change))
    return results
