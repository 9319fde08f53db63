"""What one mechanism loses for one change: steps of its statements, by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from walks import driven, of, problem_of, top_of

from dpcompose.core.at_delta.chosen import choose
from dpcompose.core.change.neighbouring import Relation, RelationKind
from dpcompose.core.change.units import (
    PAIR,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    TracedUnit,
    leaf_item,
    state_of,
    wrap,
)
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.loss.algebra import Walk
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.compositions import in_notion, total, total_pair, worst_total
from dpcompose.core.loss.cost import len_levels, needed, rejoined, units_at
from dpcompose.core.loss.dominance import as_pure, covering, least_size, packs
from dpcompose.core.loss.loss_bounds import NO_LOSS, known_losses, over_several_steps
from dpcompose.core.loss.pair_cost import Way, all_ways, along, in_any_order
from dpcompose.core.loss.pattern import MechanismLossOptions, one
from dpcompose.core.loss.pattern_algebra import Patterns, either
from dpcompose.core.loss.walk import (
    Answer,
    Choice,
    Effort,
    How,
    best_of,
    fit,
    worst_of,
)
from dpcompose.core.model.placed import Placed
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused
from dpcompose.curves import curve_of
from dpcompose.curves.both_hold import least_curve, of_several_kinds
from dpcompose.curves.curve import Points, Renyi, Response
from dpcompose.curves.families.pure_steps import PureSteps
from dpcompose.curves.routes import Point

F = Fraction
PURE, ZCDP, GDP = Scalars(Notion.PURE), Scalars(Notion.ZCDP), Scalars(Notion.GDP)
NEW = ChangeUnit(Kind.SINGLE, sign=1)


def placed(*stated: str, protect: str = "unbounded") -> list[Placed]:
    """The statements of a mechanism on the only table."""
    listed = ", ".join(f"{{{each}}}" for each in stated)
    problem = problem_of("people: {}", f"name: a, reads: people, guarantees: [{listed}]", protect)
    ((_, found),) = top_of(problem).mechanisms
    return list(found)


@pytest.mark.slow
def test_a_curve_over_steps_counts_all_steps_of_a_change() -> None:
    # A replaced row is two steps and each of three added rows one: five steps, as of five rows.
    stated = placed(
        "notion: pure, epsilon: 1, relation: unbounded",
        "notion: approx, epsilon: 1/2, delta: 1/100, relation: unbounded",
    )
    mixture = state_of([(leaf_item(PAIR), 1), (leaf_item(SINGLE), 3)])
    found = [over_several_steps(stated, each) for each in (mixture, of(SINGLE, 5))]
    assert found[0] is not None and found[0] == found[1] and found[0][1] == 5
    curve, fewer = (Patterns()._least_curve(found[0][0], steps) for steps in (5, 3))
    assert curve is not None and fewer is not None and fewer != curve
    assert over_several_steps(stated, of(SINGLE, 3)) == (found[0][0], 3)


def test_a_renyi_curve_over_two_steps_by_the_weak_triangle_inequality() -> None:
    stated = placed("notion: rdp, points: [[4, 1/10], [8, 1/5]]")
    (curve,) = [
        each.part.points
        for each in known_losses(stated, of(SINGLE, 2))
        if isinstance(each.part, Renyi)
    ]
    # Of order 2: 1.5·D_4 + D_3, where D_3 ≤ D_4. Of order 4: 3.5/3·D_8 + D_7, and 6·D_7 lies below
    # the chord of 3·D_4 and 7·D_8.
    chord = (F(1, 4) * 3 * F(1, 10) + F(3, 4) * 7 * F(1, 5)) / 6
    assert curve == (
        (F(2), F(3, 2) * F(1, 10) + F(1, 10)),
        (F(4), F(7, 6) * F(1, 5) + chord),
    )


def test_the_points_of_a_profile_over_three_steps() -> None:
    stated = placed("notion: profile, points: [[1, 1/1000], [2, 1/10000]]")
    curve, *single = [
        each.part.points
        for each in known_losses(stated, of(SINGLE, 3))
        if isinstance(each.part, Points)
    ]
    for (epsilon, delta), once, least in zip(curve, (1, 2), (F(1, 1000), F(1, 10000)), strict=True):
        grown = 1 + math.exp(once) + math.exp(2 * once)
        assert epsilon == 3 * once and float(delta) == pytest.approx(least * grown, rel=1e-12)
        assert float(delta) >= least * grown * (1 - 1e-15)
    assert len(single) in (0, 2)


# --- one number ----------------------------------------------------------------------------------


def test_losses_grow_with_the_steps_of_a_statement() -> None:
    pure = placed("notion: pure, epsilon: 1/2")
    assert PURE.charge(pure, of(SINGLE)) == F(1, 2)
    assert PURE.times(PURE.charge(pure, of(SINGLE)), 3) == F(3, 2)
    assert PURE.charge(pure, of(PAIR)) == 1  # one row out and one in
    assert PURE.charge(pure, of(SINGLE, 4)) == 2
    # ρ grows with the square of the distance, and ε = 1/2 is ρ = ε·tanh(ε/2).
    assert ZCDP.charge(placed("notion: zcdp, rho: 1/8"), of(SINGLE, 3)) == F(9, 8)
    rho = ZCDP.charge(pure, of(SINGLE))
    assert float(rho) == pytest.approx(0.5 * math.tanh(0.25), abs=1e-15)


def test_of_several_statements_the_least_counts() -> None:
    both = placed("notion: pure, epsilon: 3, relation: bounded", "notion: pure, epsilon: 2")
    assert PURE.charge(both, of(PAIR)) == 3  # one step of the first, two of the second
    assert PURE.charge(both, of(SINGLE)) == 2
    # A row removed and one added are a replaced one.
    swapped = state_of([(leaf_item(SINGLE), 1), (leaf_item(NEW), 1)])
    assert rejoined(swapped) == of(PAIR) and rejoined(of(SINGLE, 2)) is None
    assert PURE.charge(both, swapped) == 3


def test_a_statement_that_covers_nothing_gives_no_bound() -> None:
    stated = placed("notion: pure, epsilon: 1, relation: bounded", protect="bounded")
    assert PURE.charge(stated, of(SINGLE)) == math.inf
    assert Pairs().charge(stated, of(SINGLE)) == ()


def test_everything_at_once_costs_a_free_lunch() -> None:
    stated = placed("notion: pure, epsilon: 5, relation: free-lunch", "notion: pure, epsilon: 2")
    assert PURE.charge(stated, of(SINGLE, 2)) == 4
    assert PURE.charge(stated, of(SINGLE, 9)) == 5


def test_units_are_counted_level_by_level() -> None:
    inner = ((leaf_item(SINGLE), 2),)
    item = wrap(ChangeUnit(Kind.USER, size=5), inner)
    assert units_at(item, 0) == [(item, 1)]
    assert units_at(item, 1) == [(TracedUnit(SINGLE, ()), 2)]
    assert (len_levels(((item, 1),)), len_levels(of(SINGLE))) == (1, 0)


# --- pairs ---------------------------------------------------------------------------------------


def test_pairs_along_a_path_by_their_formula() -> None:
    """Two steps of (ε, δ) are (2ε, δ(1 + e^ε))."""
    stated = placed("notion: approx, epsilon: 1, delta: 1/100")
    ((epsilon, delta),) = Pairs().charge(stated, of(SINGLE, 2))
    assert epsilon == 2 and float(delta) == pytest.approx((1 + math.e) / 100, abs=1e-12)
    ways = all_ways(stated, of(SINGLE, 2))
    assert [way.levels for way in ways] == [{0: [((F(1), F(1, 100)), 2)]}]
    assert along(ways[0]) == (epsilon, delta)
    assert in_any_order(ways[0]) == [((F(1), F(1, 100)), 2)]
    at_once = placed(
        "notion: approx, epsilon: 1, delta: 1/100",
        "notion: approx, epsilon: 1, delta: 0, relation: free-lunch",
    )
    assert Pairs().charge(at_once, of(SINGLE, 2)) == ((F(1), F(0)),)


def test_each_step_of_one_relation_by_any_of_its_statements() -> None:
    """A replaced row is two steps, each of the last two, or one of the first."""
    stated = placed(
        "notion: approx, epsilon: 3/4, delta: 1/10, relation: bounded",
        "notion: approx, epsilon: 1, delta: 1/1000, relation: unbounded",
        "notion: approx, epsilon: 1/2, delta: 1/100, relation: unbounded",
        protect="bounded",
    )
    found = [float(epsilon) for epsilon, _ in Pairs().charge(stated, of(PAIR))]
    assert found == [0.75, 1, 1.5, 2]
    least = {sum(way) for way in product((0.75, 0.5 + 0.5, 0.5 + 1, 1 + 1), repeat=2)}
    found = [float(epsilon) for epsilon, _ in Pairs().charge(stated, of(PAIR, 2))]
    assert {*found} <= least and found[0] == 1.5


def test_paths_in_which_the_order_matters() -> None:
    first, second = (F(1), F(0)), (F(0), F(1, 100))
    way = Way({0: [(first, 1), (second, 1)]}, {0: False}, False)
    # δ counts e^ε times where it comes after, in one of the two directions.
    pair = along(way)
    assert pair is not None and float(pair[1]) == pytest.approx(math.e / 100, abs=1e-12)
    assert in_any_order(way) is None
    assert in_any_order(way._replace(free={0: True})) == [(first, 1), (second, 1)]
    assert in_any_order(Way({0: [], 1: []}, {0: True, 1: True}, True)) is None
    assert along(Way({0: [((F(0), F(3, 5)), 2)]}, {0: False}, False)) is None  # δ reaches 1


def test_two_statements_share_the_units_of_a_change() -> None:
    stated = placed(
        "notion: approx, epsilon: 1, delta: 0", "notion: approx, epsilon: 1/2, delta: 1/100"
    )
    first, second = (F(1), F(0)), (F(1, 2), F(1, 100))
    ways = all_ways(stated, of(SINGLE, 2))
    assert [way.levels for way in ways] == [
        {0: [(second, 2)]},
        {0: [(first, 2)]},
        {0: [(second, 1), (first, 1)]},
    ]


def test_only_rows_that_come_and_go_alone_change_in_any_order() -> None:
    stated = placed("notion: pure, epsilon: 1")
    for leaf, free in ((SINGLE, True), (PAIR, True), (SINGLE._replace(displaced=True), False)):
        (way,) = all_ways(stated, of(leaf, 2))
        assert way.free == {0: free} and way.all_free is free


def test_the_order_matters_between_tables_of_two_levels() -> None:
    way = Way({0: [((F(1), F(0)), 1)], 1: [((F(0), F(1, 100)), 1)]}, {0: True, 1: True}, False)
    later, sooner = along(way), along(way._replace(all_free=True))
    assert later is not None and float(later[1]) == pytest.approx(math.e / 100, abs=1e-12)
    assert sooner is not None and sooner[1] == F(1, 100)


# --- what is known as distributions --------------------------------------------------------------


def test_all_that_is_known_of_a_loss() -> None:
    stated = placed("notion: pure, epsilon: 1", "notion: approx, epsilon: 1/2, delta: 1/10")
    found = known_losses(stated, of(SINGLE))
    assert (
        curve_of(Response(F(1))) in found and curve_of(Response(F(1, 2)), F(0), F(9, 10)) in found
    )
    assert known_losses(placed("notion: pure, epsilon: 0"), of(SINGLE)) == [NO_LOSS]
    (curve,) = [each.part for each in found if isinstance(each.part, Points)]
    assert curve.points == ((F(1, 2), F(1, 10)), (F(1), F(0)))
    assert of_several_kinds([curve_of(Response(F(1))), curve_of(None, F(1))])
    assert not of_several_kinds([curve_of(Response(F(1))), curve_of(Response(F(2)))])


def test_the_least_curve_is_below_each_option() -> None:
    """At ε the profile of pure ε₀ is (e^ε₀ - e^ε)/(1 + e^ε₀), that of (ε₁, δ₁) at most δ₁."""
    options = [curve_of(Response(F(1))), curve_of(Response(F(1, 2)), F(0), F(99, 100))]
    found = least_curve(options)
    assert found is not None and isinstance(found.part, Points)
    for epsilon, delta in found.part.points:
        pure = (math.e - math.exp(epsilon)) / (1 + math.e)
        inner = (math.exp(0.5) - math.exp(epsilon)) / (1 + math.exp(0.5))
        pair = 0.01 + 0.99 * max(0.0, inner)
        assert float(delta) == pytest.approx(min(max(0.0, pure), pair), abs=1e-9)
        assert float(delta) >= min(max(0.0, pure), pair) - 1e-15


def test_pure_losses_are_packed_into_larger_ones() -> None:
    def way(epsilon: int, steps: int = 1) -> tuple[tuple[Fraction, int], ...]:
        return ((F(epsilon), steps),)

    assert least_size(((F(2), 2), (F(3), 1))) == 3
    assert packs({way(3): 1}, {way(1): 3}) and not packs({way(3): 1}, {way(1): 4})
    assert packs({way(3): 2}, {way(2): 2, way(1): 2}) and not packs({way(3): 2}, {way(2): 3})
    # Two steps of 2: a step of 2 each, or of less, but no 3.
    assert packs({way(2, 2): 1}, {way(2): 2}) and packs({way(2, 2): 1}, {way(1): 2})
    assert not packs({way(2, 2): 1}, {way(3): 1})
    assert as_pure(MechanismLossOptions((curve_of(Response(F(2))),))) == way(2)
    assert as_pure(MechanismLossOptions((curve_of(PureSteps(3, F(1, 2))),))) == way(2, 3)
    assert as_pure(MechanismLossOptions((curve_of(None, F(1)),))) is None


def test_patterns_compose_in_each_notion() -> None:
    pure, gauss = one(curve_of(Response(F(1)))), one(curve_of(None, F(4)))
    algebra = Patterns()
    ((both),) = algebra.add([(pure.times(2),), (gauss,)])
    assert total(pure.times(2), Notion.PURE) == 2 and total(both, Notion.PURE) is None
    # ρ = ε·tanh(ε/2) twice, and μ²/2.
    rho = total(both, Notion.ZCDP)
    assert rho is not None and float(rho) == pytest.approx(2 * math.tanh(0.5) + 2, abs=1e-12)
    assert in_notion(curve_of(None, F(4)), Notion.GDP) == 4
    assert in_notion(curve_of(Response(F(1)), F(0), F(1, 2)), Notion.PURE) is None
    assert worst_total((pure, pure.times(3)), Notion.PURE) == 3
    assert worst_total((pure, gauss), Notion.PURE) is None
    chance = one(curve_of(Response(F(1)), F(0), F(9, 10)))
    assert total_pair(chance.times(2)) == (F(2), 1 - F(81, 100))
    # Either of two bounds may be used; one that covers both is no better than the worse.
    (least,) = either((pure, pure.times(3)))
    assert total(least, Notion.PURE) == 1
    assert total(covering([pure, pure.times(3)]), Notion.PURE) == 3


# --- walks ---------------------------------------------------------------------------------------


def test_the_best_and_the_worst_of_choices() -> None:
    one_, two = Choice(F(1), (), how=How("a")), Choice(F(2), (), True, how=How("b"))
    assert worst_of(PURE, [one_, two]) == two and best_of(PURE, [one_, two], two).loss == 1
    assert best_of(PURE, [one_, two], two).how == How("a")
    # The least of both coordinates is attained by neither: by the rules together.
    left, right = (((F(1), F(1, 10)),), ((F(2), F(1, 20)),))
    found = best_of(Pairs(), [one_._replace(loss=left), two._replace(loss=right)], one_)
    assert found.loss == (*left, *right) and found.how == How("best", (How("a"), How("b")))
    worst = worst_of(Pairs(), [one_._replace(loss=left), two._replace(loss=right)])
    assert worst.loss == ((F(2), F(1, 10)),) and worst.bounded


def test_effort_ends() -> None:
    effort = Effort(10)
    assert effort.allows(6) and not effort.allows(6) and effort.left == -2


def test_units_one_by_one_in_any_order() -> None:
    top = top_of(
        problem_of(
            "people: {}\nb: {from: people, map: {kind: row}}",
            "name: a, reads: b, notion: pure, epsilon: 1",
        )
    )
    rules = AlongMap(ZCDP, top, top.derived[0])

    def search(state: State) -> Walk:
        loss = yield (top, state)
        return Choice(loss, (), how=How("here"))

    mixed = state_of([(leaf_item(SINGLE), 2), (leaf_item(PAIR), 1)])
    found, asked = driven(rules.units(mixed, search), lambda *_: F(1))
    assert found.loss == 9 and found.bounded and len(asked) == 2  # (1 + 1 + 1)²
    with pytest.raises(Refused, match="no path"):
        driven(rules.units(of(SINGLE), search), lambda *_: F(1))
    assert fit(of(SINGLE), top, top, False) == of(SINGLE)
    assert Answer(F(1), (), ()).loss == 1


@pytest.mark.parametrize(
    ("says", "protect", "state"),
    [
        ("epsilon: 1/3, relation: unbounded", "unbounded", of(SINGLE)),
        ("epsilon: 1/3, relation: bounded", "bounded", of(PAIR)),
        ("epsilon: 1/3, relation: unbounded", "bounded", of(PAIR)),
        ("epsilon: 1/3, relation: unbounded", "unbounded", of(SINGLE, 2)),
        ("epsilon: 0, relation: unbounded", "unbounded", of(SINGLE)),
    ],
)
def test_one_statement_is_told_at_once_as_what_is_known_of_it(
    says: str, protect: str, state: State
) -> None:
    top = top_of(problem_of("r: {}", f"name: m, reads: r, notion: pure, {says}", protect))
    [(_, placed)] = top.mechanisms
    known = known_losses(placed, state)
    found = Patterns().charge(placed, state)
    if known == [NO_LOSS]:
        assert found == Patterns().zero
        return
    [pattern] = found
    [(atom, count)] = pattern.atoms.items()
    assert list(atom.options) == known and count == 1
    # A statement that is used over two steps may not be attained.
    assert pattern.attained is isinstance(known[0].part, Response)


def test_steps_are_known_by_the_columns_that_a_relation_keeps() -> None:
    [plain] = placed("notion: pure, epsilon: 1, relation: bounded", protect="bounded")
    relation = Relation(RelationKind.BOUNDED, frozenset({"c"}))
    keeping = plain._replace(statement=plain.statement._replace(relation=relation))
    for _ in range(2):
        assert needed(plain, leaf_item(PAIR)) == [(1, 1)]
        assert needed(keeping, leaf_item(PAIR)) == [(None, 1)]


@pytest.mark.slow
def test_equal_units_count_by_their_number_in_a_curve_over_steps() -> None:
    """(1, 0) and (0.2, 0.1) of one row, for three: no less than what both say of three steps."""
    stated = placed("notion: pure, epsilon: 1", "notion: approx, epsilon: 0.2, delta: 0.1")
    curves = Patterns(curves=True)
    one, three = (curves.charge(stated, of(SINGLE, n)) for n in (1, 3))
    told = [
        choose(each, Point(delta=F(1, 100))).value or F(0)
        for each in (one, three, curves.charge(stated[:1], of(SINGLE, 3)))
    ]
    assert told[0] * 2 < told[1] <= told[2]


def test_rows_that_are_left_when_others_are_joined_count() -> None:
    some = state_of([(leaf_item(SINGLE), 3), (leaf_item(NEW), 1)])
    assert rejoined(some) == state_of([(leaf_item(PAIR), 1), (leaf_item(SINGLE), 2)])
    both = placed("notion: pure, epsilon: 3, relation: bounded", "notion: pure, epsilon: 2")
    assert PURE.charge(both, some) == 7
