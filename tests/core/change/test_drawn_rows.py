"""What a sample holds of a change, against listing every draw of every row."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import pytest

from dpcompose.core.change.drawn_rows import any_drawn, draws_of, how_many, how_many_of, shared_out
from dpcompose.core.change.units import (
    NEW_END,
    OLD_END,
    PAIR,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    TracedUnit,
    leaf_item,
    state_of,
    top_level,
)

F = Fraction


def user(size: int) -> ChangeUnit:
    return ChangeUnit(Kind.USER, size=size)


def of(*leaves: ChangeUnit) -> State:
    return state_of((leaf_item(leaf), 1) for leaf in leaves)


def by_listing(leaves: list[ChangeUnit], rate: F) -> dict[State, F]:
    rows = [int(leaf.size or 1) for leaf in leaves]
    found: Counter[State] = Counter()
    for taken in product((0, 1), repeat=sum(rows)):
        left, chance = list(taken), F(1)
        for one in taken:
            chance *= rate if one else 1 - rate
        held = []
        for leaf, n in zip(leaves, rows, strict=True):
            here, left = sum(left[:n]), left[n:]
            if here:
                held.append(leaf._replace(size=here) if leaf.kind is Kind.USER else leaf)
        found[of(*held)] += chance  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


@pytest.mark.parametrize("rate", [F(1, 10), F(7, 10), F(1)])
@pytest.mark.parametrize(
    "leaves",
    [[SINGLE], [SINGLE] * 4, [user(3)], [user(2), user(2)], [user(3), user(1), SINGLE, SINGLE]],
)
def test_parts_have_the_chances_of_all_draws(leaves: list[ChangeUnit], rate: F) -> None:
    listed = draws_of(of(*leaves), rate)
    assert listed is not None and len({part for part, _ in listed}) == len(listed)
    found = {part: chance for part, chance in listed if chance}
    assert found == {part: chance for part, chance in by_listing(leaves, rate).items() if chance}


def test_units_inside_others_are_drawn_by_themselves() -> None:
    household = TracedUnit(ChangeUnit(Kind.DECLARED), ((leaf_item(SINGLE), 2),))
    found = dict(draws_of(((household, 2),), F(1, 10)) or ())
    assert sum(found.values()) == 1 and found[()] == F(9, 10) ** 4
    one = TracedUnit(ChangeUnit(Kind.DECLARED), ((leaf_item(SINGLE), 1),))
    assert found[((one, 1),)] == 4 * F(1, 10) * F(9, 10) ** 3
    assert found[((one, 2),)] == 4 * F(1, 10) ** 2 * F(9, 10) ** 2


@pytest.mark.parametrize("rows", [1, 7, 8, 9, 40, 1000])
def test_some_numbers_are_told_as_larger_ones(rows: int) -> None:
    rate = F(3, 100)
    found = how_many(rows, rate)
    ends, chances = zip(*found, strict=True)
    assert ends[0] == 0 and ends[-1] == rows and sum(chances) == 1 and len(found) < 18
    assert ends == tuple(sorted(set(ends)))
    assert chances[0] == (1 - rate) ** rows == 1 - any_drawn(rows, rate)
    assert chances[1] == rows * rate * (1 - rate) ** (rows - 1)


def test_of_very_many_rows_no_more_than_some_are_hardly_ever_drawn() -> None:
    rate = F(1, 10**7)
    found = how_many(10**6, rate)
    (_, none), *_, (rows, _) = found
    assert rows == 10**6 and sum(chance for _, chance in found) == 1
    assert none <= (1 - float(rate)) ** 10**6 == pytest.approx(float(none), rel=1e-9)
    assert any_drawn(10**9, F(1)) == any_drawn(10**9, F(1, 2)) == 1


def test_rows_are_in_one_table_or_in_the_other() -> None:
    two = shared_out(of(SINGLE, SINGLE))
    assert two == [(of(SINGLE, SINGLE), ()), (of(SINGLE), of(SINGLE)), ((), of(SINGLE, SINGLE))]
    assert shared_out(of(user(5))) == [(of(user(5)), ()), ((), of(user(5)))]
    one = shared_out(of(PAIR))
    assert one is not None and {tuple(map(top_level, way)) for way in one} == {
        (of(SINGLE), of(SINGLE))
    }
    assert set(one) == {(of(OLD_END), of(NEW_END)), (of(NEW_END), of(OLD_END))}


def test_of_a_user_with_any_number_of_rows_some_are_drawn_with_any_chance() -> None:
    unknown = ChangeUnit(Kind.USER)
    assert draws_of(of(unknown), F(1, 4)) is None
    assert draws_of(of(unknown, SINGLE), F(1, 4)) is None


def test_too_much_is_not_listed() -> None:
    many = of(*(user(8) for _ in range(30)))
    whole = dict(draws_of(many, F(1, 2)) or ())
    assert 2 < len(whole) < 20 and sum(whole.values()) == 1  # all of a user, or nothing
    unlike = of(*(user(n) for n in range(1, 9)))
    assert draws_of(unlike, F(1, 2)) is None
    assert shared_out(of(*(user(n) for n in range(1, 9)))) is None


@pytest.mark.parametrize(("rows", "size", "of"), [(2, 3, 6), (3, 2, 5), (3, 4, 5), (1, 1, 4)])
def test_so_many_of_some_rows_are_drawn_without_replacement(rows: int, size: int, of: int) -> None:
    found: Counter[int] = Counter(
        sum(row < rows for row in chosen) for chosen in combinations(range(of), size)
    )
    whole = sum(found.values())
    listed = how_many_of(rows, size, of)
    assert {n: w for n, w in listed if w} == {n: F(count, whole) for n, count in found.items()}


def test_of_more_rows_no_more_of_some_are_drawn() -> None:
    def at_least(n: int, of: int) -> F:
        return sum((w for rows, w in how_many_of(4, 6, of) if rows >= n), F(0))

    for n in range(5):
        chances = [at_least(n, of) for of in (3, 6, 10, 11, 40)]
        assert chances == sorted(chances, reverse=True)
    # Of many the larger numbers stand for the smaller ones, and of very many all do.
    assert [n for n, _ in how_many_of(40, 100, 1000)] == [*range(9), 16, 32, 40]
    assert how_many_of(5000, 6000, 10**6) == [(0, F(0)), (5000, F(1))]
