"""Bounds over blocks against every way of hitting them, with losses of any shape."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
from walks import driven, problem_of, top_of

from dpcompose.core.at_delta.chosen import choose
from dpcompose.core.change.partitions.whereabouts import InOne, InSets, InSome, Whereabouts
from dpcompose.core.loss.algebra import Walk
from dpcompose.core.loss.algebras import Pairs, Scalars, Survival
from dpcompose.core.loss.pattern import UndominatedLosses, one
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.partitions import allocation, blocks_touched, pattern_spread
from dpcompose.core.partitions.blocks_touched import RowsOverBlocks
from dpcompose.core.partitions.placements import SpreadRule, any_blocks
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Response
from dpcompose.curves.routes import Point

F = Fraction


def random_case(rng: random.Random) -> tuple[list[Fraction], list[Fraction], list[int]]:
    """Losses of classes hit once and twice, up to four times as much, and their sizes."""
    classes = rng.randint(1, 3)
    once = [F(rng.randint(0, 6), 2) for _ in range(classes)]
    both = [F(rng.randint(0, 24), 2) if rng.random() < 0.6 else 2 * each for each in once]
    return once, both, [rng.randint(1, 2) for _ in range(classes)]


def ways(where: Whereabouts, sizes: Sequence[int], pair: bool) -> Iterator[list[tuple[int, int]]]:
    """Every way in which a row is in the blocks: for each which ends of it, class by class."""
    places = [i for i, n in enumerate(sizes) for _ in range(n)]
    sets = [frozenset(each) for each in where.sets(places)]
    if isinstance(where, InSets):
        sets = [frozenset(fed) for fed in where.fed]
    for before, after in product(sets, sets if pair else [frozenset()]):
        yield [(int(at in before), int(at in after)) for at in range(len(places))]


def total(
    way: Sequence[tuple[int, int]],
    sizes: Sequence[int],
    once: Sequence[Fraction],
    both: Sequence[Fraction],
    new: Sequence[Fraction],
) -> Fraction:
    places = [i for i, n in enumerate(sizes) for _ in range(n)]
    losses = {(0, 0): [F(0)] * len(once), (1, 0): once, (0, 1): new, (1, 1): both}
    return sum((losses[each][i] for i, each in zip(places, way, strict=True)), F(0))


def whereabouts(rng: random.Random, classes: int) -> Iterator[Whereabouts]:
    yield InOne()
    yield InSome(rng.randint(1, 3))
    fed = [tuple(sorted(rng.sample(range(classes), rng.randint(0, classes)))) for _ in range(3)]
    yield InSets(tuple(fed))


def test_one_row_against_every_way() -> None:
    rng = random.Random(23)
    for _ in range(150):
        once, both, sizes = random_case(rng)
        new = [F(rng.randint(0, int(2 * each)), 2) for each in once]
        for where in whereabouts(rng, len(once)):
            many = [1] * len(sizes) if isinstance(where, InSets) else sizes
            for pair in (False, True):
                rule = SpreadRule(where, pair, many)
                worst = max(total(w, many, once, both, once) for w in ways(where, many, pair))
                assert rule(once, both)[0] == worst, (where, pair, once, both, many)
            rule = SpreadRule(where, True, many)
            worst = max(total(w, many, once, both, new) for w in ways(where, many, True))
            found, _ = rule(once, both, new)
            assert found >= worst, (where, once, both, new, many)
            assert found == worst or isinstance(where, InSome)


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_many_blocks_hit_twice_or_once(most: int) -> None:
    """With larger classes, where every turning point matters."""
    rng = random.Random(most)
    for _ in range(60):
        once = [F(rng.randint(0, 8)) for _ in range(3)]
        both = [F(rng.randint(0, 32)) for _ in range(3)]
        sizes = [rng.randint(1, 6) for _ in range(3)]
        best: dict[int, Fraction] = {0: F(0)}
        for i, n in enumerate(sizes):
            after: dict[int, Fraction] = {}
            for weight, loss in best.items():
                for twice in range(n + 1):
                    for single in range(n - twice + 1):
                        used = weight + single + 2 * twice
                        if used <= 2 * most:
                            here = loss + once[i] * single + both[i] * twice
                            after[used] = max(after.get(used, F(0)), here)
            best = after
        found, _ = allocation.membership_pair(once, both, sizes, most)
        assert found == max(best.values()), (once, both, sizes)


def test_very_many_kinds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    cases = [random_case(rng)[:2] for _ in range(60)]
    kinds = [(0,), (0, 1), (1, 2), (2,)]
    listed = []
    for once, both in cases:
        fed = [tuple(i for i in each if i < len(once)) for each in kinds]
        listed.append(allocation.kinds_pair(once, both, fed)[0])
    monkeypatch.setattr(allocation, "MANY_KINDS", 0)
    for (once, both), exact in zip(cases, listed, strict=True):
        fed = [tuple(i for i in each if i < len(once)) for each in kinds]
        found, _ = allocation.kinds_pair(once, both, fed)
        assert exact <= found
        assert found == exact or both != [2 * each for each in once]


@pytest.mark.parametrize("power", [1, 2])
def test_filling_is_no_less_than_every_spread(power: int) -> None:
    rng = random.Random(power)
    for _ in range(80):
        once = [F(rng.randint(0, 5)) for _ in range(rng.randint(1, 3))]
        sizes = [rng.randint(1, 3) for _ in once]
        rows, per_block, most = rng.randint(1, 9), rng.randint(1, 5), rng.randint(1, 5)
        columns = [[each * t**power for t in range(per_block + 1)] for each in once]
        exact = allocation.worst_distribution(columns, sizes, rows, most)
        places = [i for i, n in enumerate(sizes) for _ in range(n)][:5]
        if len(places) == sum(sizes):
            assert exact == max(
                sum((columns[i][t] for i, t in zip(places, way, strict=True)), F(0))
                for way in product(range(per_block + 1), repeat=len(places))
                if sum(way) <= rows and sum(map(bool, way)) <= most
            )
        found, filled = allocation.fill(once, sizes, rows, per_block, most, power)
        assert found == sum(once[f.where] * f.blocks * f.rows**power for f in filled)
        assert found == exact


def places_of(sizes: Sequence[int]) -> list[Place]:
    lines = "\n".join(f"name: m{i}, reads: p.b{i}, notion: pure, epsilon: {i + 1}" for i in (0, 1))
    names = ", ".join(f"b{i}" for i in range(sum(sizes)))
    datasets = f"people: {{}}\np: {{from: people, partition: {{by: value, blocks: [{names}]}}}}"
    return list(top_of(problem_of(datasets, lines)).blocks[0])


@pytest.mark.parametrize("notion", [Notion.PURE, Notion.ZCDP])
@pytest.mark.parametrize("work", [0, blocks_touched.WORK])
def test_rows_in_a_walk(notion: Notion, work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 rows, at most 200 in each of 9 blocks: two are full and one takes the other 100."""
    monkeypatch.setattr(blocks_touched, "WORK", work)
    power = notion.facts.power or 0

    def holding(rows: int) -> Walk:
        yield from ()
        return [((), F(rows) ** power), ((), 3 * F(rows) ** power)]

    blocks = places_of([1, 8])[:2]
    for rows, expected in ((500, (200, 200, 100)), (20, (20,)), (1800, (200,) * 9)):
        walk = Scalars(notion).spread_rows(RowsOverBlocks(blocks, [1, 8], holding, rows, 200, 9))
        found, _ = driven(walk, lambda *_: F(0))
        costs = [3] * 8 + [1]
        assert found.loss == sum(c * F(t) ** power for c, t in zip(costs, expected, strict=False))


def test_pairs_of_rows_in_a_walk_are_those_at_their_distance() -> None:
    def holding(rows: int) -> Walk:
        yield from ()
        return [((), ((F(1), F(1, 1000)),)), ((), ((F(1, 2), F(1, 10)),))]

    algebra = Pairs()
    walk = algebra.spread_rows(RowsOverBlocks(places_of([1, 1]), [1, 1], holding, 3, 3, 2))
    found, _ = driven(walk, lambda *_: F(0))
    assert found.loss == algebra.chain([(((F(1), F(1, 10)),), 3)]) and found.bounded


def test_a_row_that_moves_between_equal_blocks_takes_any_two_of_their_pairs() -> None:
    once = [((F(1), F(1, 10)), (F(2), F(1, 100)))]
    stays = [((F(2), F(1, 100)),)]
    found, hits = Pairs().worst_blocks(SpreadRule(InOne(), True, [2]), once, stays, None)
    assert found == ((F(2), F(1, 5)), (F(3), F(11, 100)), (F(4), F(1, 50)))
    assert [(hit.blocks, hit.both) for hit in hits] == [(2, False)]
    alone, _ = Pairs().worst_blocks(SpreadRule(InOne(), True, [1]), once, stays, None)
    assert alone == ((F(2), F(1, 100)),)


def test_both_ends_in_a_block_count_as_both_for_pairs() -> None:
    once = [((F(1), F(1, 10)),), ((F(1), F(1, 10)),)]
    both = [((F(5), F(1, 2)),), ((F(1), F(1, 5)),)]
    found, _ = Pairs().worst_blocks(SpreadRule(InOne(), True, [1, 1]), once, both, None)
    assert found == ((F(5), F(1, 2)),)


def test_chances_over_blocks_are_multiplied() -> None:
    algebra = Pairs(survival=True)
    once = [((F(1), Survival(F(2, 5))),), ((F(1), Survival(F(1, 2))),)]
    found, _ = algebra.worst_blocks(any_blocks([1, 1], 2), once, once, None)
    [(epsilon, survival)] = found
    assert epsilon == 2 and F(1, 5) * (1 - F(1, 10**30)) < survival.no_failure <= F(1, 5)


# --- patterns ------------------------------------------------------------------------------------


def loss(*epsilons: Fraction) -> UndominatedLosses:
    """A loss that is one of some ε."""
    return tuple(one(curve_of(Response(each))) for each in epsilons)


def is_covered(found: UndominatedLosses, hit: UndominatedLosses) -> bool:
    """Whether some pattern dominates, or what is told of any of several losses is no less."""
    if pattern_spread.covers(found, hit):
        return True
    for delta in (F(1, 100),):
        told, least = (choose(each, Point(delta=delta)).value for each in (found, hit))
        assert told is not None and least is not None
        if told < least:
            return False
    return True


def pattern_cases() -> Iterator[
    tuple[list[UndominatedLosses], list[UndominatedLosses], list[int], Whereabouts]
]:
    rng = random.Random(31)
    for _ in range(30):
        classes = rng.randint(1, 3)
        sizes = [rng.randint(1, 2) for _ in range(classes)]
        once = [loss(F(rng.randint(1, 6))) for _ in range(classes)]
        both = [
            Patterns().add([each, each]) if rng.random() < 0.5 else loss(F(rng.randint(1, 9)))
            for each in once
        ]
        both = once if rng.random() < 0.25 else both
        for where in whereabouts(rng, classes):
            yield once, both, [1] * classes if isinstance(where, InSets) else sizes, where


@pytest.mark.parametrize("most_ways", [0, pattern_spread.MOST_WAYS])
def test_every_way_is_covered_by_some_pattern(
    most_ways: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not most_ways:
        for name in ("MOST_INTERVALS", "FEW_INTERVALS"):
            monkeypatch.setattr(pattern_spread, name, 1)
    monkeypatch.setattr(pattern_spread, "MOST_WAYS", most_ways)
    algebra = Patterns()
    for once, both, sizes, where in pattern_cases():
        places = [i for i, n in enumerate(sizes) for _ in range(n)]
        for pair in (False, True):
            rule = SpreadRule(where, pair, sizes)
            found = rule.of_patterns(algebra, once, both)
            for way in {tuple(each) for each in ways(where, sizes, pair)}:
                hit = algebra.add(
                    both[i] if ends == (1, 1) else once[i]
                    for i, ends in zip(places, way, strict=True)
                    if any(ends)
                )
                assert is_covered(found, hit), (where, pair, way)


def test_rows_over_blocks_are_covered_by_some_pattern() -> None:
    algebra = Patterns()
    columns = [[F(1), F(2), F(5)], [F(2), F(3), F(3)]]

    def holding(rows: int) -> Walk:
        yield from ()
        return [((), loss(each[rows - 1])) for each in columns]

    for rows, per_block, most in ((3, 3, 3), (4, 2, 3), (3, 2, 2), (5, 3, 3)):
        blocks = places_of([2, 1])[:2]
        walk = algebra.spread_rows(RowsOverBlocks(blocks, [2, 1], holding, rows, per_block, most))
        found, _ = driven(walk, lambda *_: F(0))
        for way in product(range(per_block + 1), repeat=3):
            if sum(way) <= rows and sum(map(bool, way)) <= most:
                taken = zip((columns[0], columns[0], columns[1]), way, strict=True)
                hit = algebra.add(loss(column[t - 1]) for column, t in taken if t)
                assert pattern_spread.covers(found.loss, hit), (way, rows, per_block, most)
