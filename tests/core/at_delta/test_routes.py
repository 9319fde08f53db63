"""The routes to an ε at a δ and back: each by its own formula, and the least of them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import norm

from dpcompose.core.at_delta import chosen
from dpcompose.core.at_delta.chosen import Evaluated, choose, evaluate, of_bound
from dpcompose.core.loss.compositions import compositions
from dpcompose.core.loss.pattern import LossMultiset, one, together
from dpcompose.core.notions.guarantee import Quantity
from dpcompose.core.notions.notion import Notion
from dpcompose.curves import curve_of
from dpcompose.curves.curve import Certified, Concentrated, Curve, Response, Sampled
from dpcompose.curves.families.laplace_loss import LaplaceLoss
from dpcompose.curves.routes import (
    Point,
    RouteName,
    basic_bound,
    compared_routes,
    in_renyi_terms,
    is_stated,
    least_first,
    least_route,
    main_routes,
    quick_bound,
    realised,
    rough_bound,
    upper_of,
)

F = Fraction
DELTA = F(1, 10**5)
AT_DELTA = Point(delta=DELTA)
TEN = Curve(((Response(F(1, 10)), 10),))


def test_what_is_known_of_a_composition() -> None:
    noise = Curve(((LaplaceLoss(F(1)), 1),))
    rho = Curve(((Concentrated(F(1, 10)), 1),))
    assert is_stated(TEN) and not is_stated(noise) and not is_stated(rho)
    assert in_renyi_terms(rho) and not in_renyi_terms(TEN)
    assert realised(TEN) and realised(noise) and not realised(rho)
    assert Point(epsilon=F(1)).chosen_number == 1 == Point(delta=F(1)).chosen_number


def test_basic_composition() -> None:
    assert basic_bound(TEN, AT_DELTA) == 1 and basic_bound(TEN, Point(epsilon=F(1))) == 0
    assert basic_bound(TEN, Point(epsilon=F(1, 2))) is None
    chance = Curve(((Response(F(1)), 1),), no_failure=F(9, 10))
    assert basic_bound(chance, Point(delta=F(1, 10))) == 1 and basic_bound(chance, AT_DELTA) is None
    assert basic_bound(chance, Point(epsilon=F(1))) == F(1, 10)


def test_the_routes_of_stated_guarantees() -> None:
    """The optimal composition is below the advanced bound of ε√(2k·ln(1/δ)) + kε(e^ε-1)."""
    found = {**main_routes(TEN, AT_DELTA), **compared_routes(TEN, AT_DELTA)}
    route, best = least_route(main_routes(TEN, AT_DELTA))
    assert route is RouteName.OPTIMAL and best is not None
    assert upper_of(found[RouteName.BASIC]) == 1
    advanced = 0.1 * math.sqrt(20 * math.log(1e5)) + math.expm1(0.1)
    assert all(best.upper <= each.upper for each in found.values() if each is not None)
    assert float(best.upper) < advanced
    fast = quick_bound(TEN, AT_DELTA)
    assert fast is not None and fast >= best.upper


def test_a_gaussian_is_exact() -> None:
    route, best = least_route(main_routes(Curve((), F(1)), Point(epsilon=F(1))))
    true = norm.cdf(-0.5) - math.e * norm.cdf(-1.5)
    assert route is RouteName.GAUSSIAN
    assert best is not None and float(best.upper) == pytest.approx(true, rel=1e-9)


def test_the_first_of_equal_routes_is_the_least() -> None:
    numbers = {
        RouteName.ZCDP: None,
        RouteName.BASIC: Certified(F(2)),
        RouteName.ADVANCED: Certified(F(1)),
        RouteName.CLOSED: Certified(F(1)),
    }
    assert least_route(numbers) == (RouteName.ADVANCED, Certified(F(1)))
    order = [RouteName.ADVANCED, RouteName.CLOSED, RouteName.BASIC, RouteName.ZCDP]
    assert list(least_first(numbers)) == order


def _read(bound: Quantity, point: Point) -> Fraction | None:
    """The ε or δ that follows from a bound in one notion."""
    return upper_of(of_bound(bound, point)[1])


def test_bounds_in_one_notion_at_a_point() -> None:
    assert _read(Quantity(Notion.PURE, F(2)), AT_DELTA) == 2
    pair = Quantity(Notion.APPROX, F(1), F(1, 10))
    assert _read(pair, Point(delta=F(1, 10))) == 1
    zcdp = _read(Quantity(Notion.ZCDP, F(1, 10)), AT_DELTA)
    usual = 0.1 + 2 * math.sqrt(0.1 * math.log(1e5))  # Bun and Steinke 2016
    assert zcdp is not None and float(zcdp) <= usual
    # What is ρ-zCDP may be a Gaussian with μ² = 2ρ.
    gauss = _read(Quantity(Notion.GDP, F(1, 5)), AT_DELTA)
    assert gauss is not None and gauss <= zcdp


def test_the_worst_pattern_decides() -> None:
    small, large = one(curve_of(Response(F(1)))), one(curve_of(Response(F(2))))
    found = choose((small, large), AT_DELTA)
    assert found.worst.pattern == large and found.patterns == 2
    assert found.value == evaluate(large, AT_DELTA).value
    assert found.lower is not None and found.value is not None and found.lower <= found.value
    # A response of ε at δ: e^ε' = e^ε - δ(1 + e^ε).
    true = math.log(math.exp(2) - 1e-5 * (1 + math.exp(2)))
    assert float(found.value) == pytest.approx(true, abs=1e-12)
    bounded = choose((large,), AT_DELTA, [Quantity(Notion.PURE, F(1))])
    assert bounded.value == 1


def _moved(number: int) -> list[LossMultiset]:
    """A row that moves between blocks, each with a sample and noise of its own."""
    blocks = [(F(i + 1, 20), LaplaceLoss(F(5, i + 3))) for i in range(number)]
    ends = [
        [one(curve_of(Sampled(q, Curve(((noise, 1),)), side=side))) for q, noise in blocks]
        for side in ("removed", "added")
    ]
    return [
        together([ends[0][i], ends[1][j]]) for i in range(number) for j in range(number) if i != j
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [Point(delta=F(1, 10**6)), Point(delta=F(1, 100)), Point(epsilon=F(1, 20))]
)
def test_the_worst_of_many_is_found_without_a_close_look_at_each(
    point: Point, monkeypatch: pytest.MonkeyPatch
) -> None:
    patterns = _moved(5)
    greatest = max(evaluate(each, point).value or 0 for each in patterns)
    looked: list[LossMultiset] = []

    def counted(pattern: LossMultiset, at: Point) -> Evaluated:
        looked.append(pattern)
        return evaluate(pattern, at)

    monkeypatch.setattr(chosen, "evaluate", counted)
    assert choose(tuple(patterns), point).value == greatest
    assert len(looked) <= len(patterns) // 3


def test_a_rough_bound_is_one() -> None:
    for pattern in _moved(3):
        (composition,) = compositions(pattern)
        for point in (AT_DELTA, Point(epsilon=F(1, 2))):
            _, best = least_route(main_routes(composition, point))
            about = rough_bound(composition, point)
            assert best is not None and about is not None
            assert best.upper * (1 - F(1, 10**9)) <= about <= best.upper * F(101, 100)


def test_closed_forms_of_very_many_unlike_losses_are_not_compared() -> None:
    for many, told in ((2048, True), (2049, False)):
        composition = Curve(tuple((Response(F(1, n)), 1) for n in range(9, 9 + many)))
        rules = set(compared_routes(composition, AT_DELTA))
        assert ({RouteName.ADVANCED, RouteName.CLOSED} <= rules) is told


def test_a_bound_in_pairs_says_nothing_at_a_smaller_delta() -> None:
    bound = Quantity(Notion.APPROX, F(1), F(1, 100))
    assert _read(bound, Point(delta=F(1, 100))) == 1
    assert _read(bound, Point(delta=F(1, 101))) is None
    assert _read(bound, Point(epsilon=F(1))) == F(1, 100)
    assert _read(bound, Point(epsilon=F(99, 100))) is None


def test_the_worst_of_several_patterns_decides() -> None:
    many, few = one(curve_of(Response(F(1, 10)))).times(30), one(curve_of(Response(F(2))))
    for epsilon_of in (AT_DELTA, Point(delta=F(1, 10)), Point(epsilon=F(1))):
        each = [choose((pattern,), epsilon_of).value or F(0) for pattern in (many, few)]
        assert each[0] != each[1]
        for patterns in ((many, few), (few, many)):
            assert choose(patterns, epsilon_of).value == max(each)
    assert upper_of(choose((few, many), AT_DELTA).worst.found[RouteName.BASIC]) == 3
