"""The worst spread of rows over blocks, against enumeration of every way."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product

import pytest
from walks import driven, problem_of, top_of

from dpcompose.core.at_delta.chosen import choose
from dpcompose.core.change.partitions.whereabouts import Fixed, InOne, InSets, InSome, Whereabouts
from dpcompose.core.change.units import NEW_END, OLD_END, PAIR, SINGLE, State
from dpcompose.core.loss.algebra import Loss, Walk
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.dominance import covering
from dpcompose.core.loss.pattern import UndominatedLosses, one, size
from dpcompose.core.loss.pattern_algebra import Patterns
from dpcompose.core.notions.notion import Notion
from dpcompose.core.partitions import allocation, pattern_spread
from dpcompose.core.partitions.blocks_touched import RowsOverBlocks
from dpcompose.core.partitions.placements import (
    SpreadRule,
    any_blocks,
    copies_of_a_row,
    placements,
    rule_for,
)
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Concentrated, Curve, Response, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.routes import Point

F = Fraction
PURE = Scalars(Notion.PURE)


def cases(number: int) -> Iterator[tuple[list[Fraction], list[Fraction], list[int]]]:
    """Classes of blocks with a loss for one end and for both, up to twice of it, and sizes."""
    rng = random.Random(7)
    for _ in range(number):
        classes = rng.randint(1, 3)
        once = [F(rng.randint(0, 6)) for _ in range(classes)]
        both = [loss + F(rng.randint(0, int(loss))) for loss in once]
        yield once, both, [rng.randint(1, 2) for _ in range(classes)]


def blocks(sizes: Sequence[int]) -> list[int]:
    """The class of every block."""
    return [i for i, n in enumerate(sizes) for _ in range(n)]


def subsets(count: int, most: int) -> list[set[int]]:
    return [set(each) for n in range(most + 1) for each in combinations(range(count), n)]


def of_move(
    before: set[int],
    after: set[int],
    where: list[int],
    losses: tuple[list[Fraction], list[Fraction], list[Fraction]],
) -> Fraction:
    """The loss of a row in the blocks `before`, then in those `after`: to enter may cost less."""
    once, new, both = ([each[i] for i in where] for each in losses)
    left = sum((once[i] for i in before - after), F(0))
    entered = sum((new[i] for i in after - before), F(0))
    return left + entered + sum((both[i] for i in before & after), F(0))


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_row_that_enters_a_block_may_cost_less_than_one_that_leaves_it(most: int) -> None:
    rng = random.Random(11)
    exact = tried = 0
    for once, _, sizes in cases(80):
        new = [F(rng.randint(0, int(loss))) for loss in once]
        both = [max(a, b) + F(rng.randint(0, int(b))) for a, b in zip(once, new, strict=True)]
        where = blocks(sizes)
        sets = subsets(len(where), most)
        truth = max(of_move(a, b, where, (once, new, both)) for a in sets for b in sets)
        found, hits = SpreadRule(InSome(most), True, sizes)(once, both, new)
        told = ((both if h.both else new if h.new else once)[h.where] * h.blocks for h in hits)
        worse = [max(pair) for pair in zip(once, new, strict=True)]
        assert truth <= found <= allocation.membership_pair(worse, both, sizes, most)[0]
        assert sum(told, F(0)) <= found
        tried, exact = tried + 1, exact + (found == truth)
        if most == 1:
            assert SpreadRule(InOne(), True, sizes)(once, both, new)[0] == truth
    assert exact > tried / 2
    # Of many equal blocks as many are left as are entered.
    assert allocation.membership_pair([F(5)], [F(6)], [9], most, [F(2)])[0] == 7 * most


def test_a_row_that_keeps_its_block() -> None:
    assert SpreadRule(Fixed(), True, [1, 1])([F(1), F(9)], [F(5), F(2)])[0] == 5
    assert allocation.one_block([F(1), F(3)], both=False) == (3, (allocation.Hit(1, 1, False),))


def test_rows_spread_in_a_walk_are_the_worst_in_all() -> None:
    problem = problem_of(
        "people: {}\nparts: {from: people, partition: {by: value, blocks: [x, y]}}",
        "name: a, reads: parts.x, notion: pure, epsilon: 1\n"
        "name: b, reads: parts.y, notion: pure, epsilon: 2",
    )
    places = top_of(problem).blocks[0]

    def holding(rows: int) -> Walk:
        """Two rows in `x` cost no more than one, in `y` as much as two."""
        found: list[tuple[State, Fraction]] = []
        for place, cost in zip(places, (F(1), F(2) * rows), strict=True):
            loss = yield (place, ())
            found.append(((), cost + loss))
        return found

    for per_block, worst in ((1, 3), (2, 5), (3, 6)):
        rows = RowsOverBlocks(places, [1, 1], holding, 3, per_block, 2)
        found, _ = driven(PURE.spread_rows(rows), lambda *_: F(0))
        assert (
            found.loss
            == worst
            == max(
                (1 if x else 0) + 2 * y
                for x, y in product(range(per_block + 1), repeat=2)
                if x + y <= 3
            )
        )


def test_rules_on_pairs_take_each_coordinate_by_itself() -> None:
    pairs = [((F(1), F(1, 10)),), ((F(3), F(1, 100)),)]
    rule = any_blocks([1, 1], 2)
    assert Pairs().worst_blocks(rule, pairs, pairs, None)[0] == ((F(4), F(11, 100)),)
    assert Pairs().worst_blocks(any_blocks([1, 1], 1), pairs, pairs, None)[0] == ((F(3), F(1, 10)),)
    # A block without a bound, where it can be hit.
    assert Pairs().worst_blocks(rule, [pairs[0], ()], [pairs[0], ()], None)[0] == Pairs().none


def test_every_way_of_choosing_pairs_for_blocks_is_tried() -> None:
    """Two blocks that are both hit: all four sums of their pairs hold, and none covers another."""
    one: Loss = ((F(1), F(3)), (F(2), F(1)))
    other: Loss = ((F(10), F(30)), (F(40), F(10)))
    found, _ = Pairs().worst_blocks(any_blocks([1, 1], 2), [one, other], [one, other], None)
    assert found == ((F(11), F(33)), (F(12), F(31)), (F(41), F(13)), (F(42), F(11)))


def test_ways_of_one_row_are_listed() -> None:
    single = set(placements(InOne(), SINGLE, [0, 1], 100))
    assert single == {(SINGLE, None), (None, SINGLE), (None, None)}
    ways = placements(InOne(), PAIR, [0, 1], 100)
    assert (PAIR, None) in ways and (OLD_END, NEW_END) in ways and (NEW_END, OLD_END) in ways
    assert (None, None) not in ways and len(ways) == 3 * 3 - 1
    assert set(placements(Fixed(), PAIR, [0, 1], 100)) == {(PAIR, None), (None, PAIR)}
    assert placements(InSome(2), PAIR, list(range(9)), 10) == []  # too many


def test_how_often_a_row_is_in_a_partition() -> None:
    def partition(how: str):  # type: ignore[no-untyped-def]
        problem = problem_of(
            f"people: {{}}\nparts: {{from: people, partition: {how}}}",
            "name: a, reads: parts.*, notion: pure, epsilon: 1",
        )
        return top_of(problem).dataset.partitions[0]

    disjoint = partition("{by: value, blocks: 5}")
    members = partition("{by: membership, blocks: 5, max_blocks: 3}")
    assert (copies_of_a_row(disjoint), copies_of_a_row(members)) == (1, 3)
    once, both = [F(2)], [F(3)]
    assert rule_for(disjoint, SINGLE, [5])(once, both)[0] == 2
    assert rule_for(disjoint, PAIR, [5])(once, both)[0] == 4
    assert rule_for(members, SINGLE, [5])(once, both)[0] == 6


def test_patterns_of_ordered_losses_are_those_of_the_largest() -> None:
    algebra = Patterns()

    def loss(epsilon: int) -> UndominatedLosses:
        return (one(curve_of(Response(F(epsilon)))),)

    losses = [loss(1), loss(3), loss(2)]
    (found,) = any_blocks([1, 1, 1], 2).of_patterns(algebra, losses, losses)
    assert size(found) == size(algebra.add([loss(3), loss(2)])[0])
    assert pattern_spread.covers(loss(3), loss(2)) and not pattern_spread.covers(loss(2), loss(3))


def test_the_two_worst_blocks_count_where_a_row_moves() -> None:
    """Neither two losses of 5 and 4 nor one of 7 covers the other."""
    algebra = Patterns()
    once, both = (
        [(one(curve_of(Response(F(epsilon)))),) for epsilon in losses]
        for losses in ((5, 4, 3), (7, 6, 5))
    )
    for sizes in ([1, 1, 1], [1, 2, 1]):
        found = SpreadRule(InOne(), True, sizes).of_patterns(algebra, once, both)
        assert found == (*algebra.add(once[:2]), *both[0])
    found = SpreadRule(InOne(), True, [2, 1, 1]).of_patterns(algebra, once, both)
    assert found == (*algebra.times(once[0], 2), *both[0])


def unlike(number: int, seed: int) -> tuple[list[UndominatedLosses], list[UndominatedLosses]]:
    """What is lost in blocks that one end of a row reaches, and that both reach: Laplace noise, a
    Gaussian, a ρ, an ε with a δ in turn, of any sizes."""
    rng = random.Random(seed)
    once: list[UndominatedLosses] = []
    both: list[UndominatedLosses] = []
    for i in range(number):
        size = F(rng.randrange(20, 99), 100)
        for losses, times in ((once, 1), (both, 2)):
            known = (
                curve_of(LaplaceLoss(size * times)),
                curve_of(None, (size * times) ** 2 / 3),
                curve_of(Concentrated(size**2 * times / 4)),
                curve_of(Response(size * times), F(0), 1 - F(times * i, 10**9)),
            )[i % 4]
            losses.append((one(known),))
    return once, both


def epsilon_of(loss: UndominatedLosses) -> Fraction:
    value = choose(loss, Point(delta=F(1, 10**6)), compared=False).value
    assert value is not None
    return value


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, 1, 3])
def test_no_choice_of_blocks_is_worse_than_what_covers_them_all(kind: int | None) -> None:
    """Of unlike blocks, and of those with ε and δ in no order alone; choices at random."""
    algebra, most, number = Patterns(), 4, 36
    once, both = unlike(number, 3)
    if kind is not None:
        once, both = once[kind::4], both[kind::4]
    sizes = [1] * len(once)
    rng = random.Random(5)
    rules = (SpreadRule(InSome(most), pair, sizes) for pair in (False, True))
    single, pair = (epsilon_of(rule.of_patterns(algebra, once, both)) for rule in rules)
    singles, pairs = [], []
    largest = pattern_spread._by_size(once)
    of_each = [[i for i in largest if i % 4 == each][:most] for each in range(4)]
    ways = [largest[:most], *of_each, *(rng.sample(largest, most) for _ in range(4))]
    for before, after in [*zip(ways, ways, strict=True), *pairwise(ways)]:
        hits = [both[i] if i in before and i in after else once[i] for i in {*before, *after}]
        singles.append(epsilon_of(algebra.add(once[i] for i in before)))
        pairs.append(epsilon_of(algebra.add(hits)))
    assert max(singles) <= single <= max(singles) * F(3, 2)
    assert max(pairs) <= pair <= max(pairs) * F(3, 2)


def labelled(which: str, block: int) -> UndominatedLosses:
    """A loss that no other one dominates."""
    base = Curve(((Response(F(1)), 1),))
    rate = F(1, 2 + block)
    side = {"left": "removed", "entered": "added", "kept": "both"}[which]
    return (one(curve_of(Sampled(rate, base, side=side))),)


@pytest.mark.parametrize("where", [InOne(), InSome(2), InSets(((0, 1), (1, 2), ()))])
def test_patterns_of_a_row_that_moves_are_all_its_ways(where: Whereabouts) -> None:
    """Every way is one of the patterns or less than one; every pattern is a way."""
    blocks, algebra = range(3), Patterns()
    once, new, both = (
        [labelled(which, i) for i in blocks] for which in ("left", "entered", "kept")
    )
    found = SpreadRule(where, True, [1, 1, 1]).of_patterns(algebra, once, both, new)
    told = {frozenset(each.atoms.items()) for each in found}
    ways = set()
    for before, after in product(where.sets(list(blocks)), repeat=2):
        parts = [
            (both if i in before and i in after else once if i in before else new)[i]
            for i in sorted(before | after)
        ]
        ways.add(frozenset(algebra.add(parts)[0].atoms.items()))
    assert told <= ways
    assert all(any(way <= other for other in told) for way in ways)


def test_what_is_read_in_both_orders_covers_what_is_read_in_one() -> None:
    """So many losses as one pattern has, not as many of each order as some have."""
    algebra = Patterns()
    first = algebra.add([labelled("left", 0), labelled("entered", 1)])
    second = algebra.add([labelled("left", 1), labelled("entered", 0)])
    third = algebra.add([labelled("left", 0), labelled("left", 0)])
    found = covering([*first, *second])
    assert found.atoms == covering([*labelled("kept", 0), *labelled("kept", 0)]).atoms | {
        next(iter(labelled("kept", 1)[0].atoms)): 1
    }
    assert covering([*first, *third]).atoms == {
        next(iter(labelled("left", 0)[0].atoms)): 2,
        next(iter(labelled("entered", 1)[0].atoms)): 1,
    }


def test_full_spreads_are_all_of_them() -> None:
    """Two classes of one and two blocks; three rows, at most two in a block."""
    found = pattern_spread.spreads([1, 2], 3, 2, 3)
    assert found is not None
    ways = {
        (x, tuple(sorted((y, z), reverse=True)))
        for x, y, z in product(range(3), repeat=3)
        if x + y + z == 3
    }
    told = set()
    for way in found:
        rows: dict[int, list[int]] = {0: [], 1: []}
        for (index, count), blocks_hit in way:
            rows[index] += [count] * blocks_hit
        told.add((sum(rows[0]), tuple([*sorted(rows[1], reverse=True), 0, 0][:2])))
    assert told == ways
