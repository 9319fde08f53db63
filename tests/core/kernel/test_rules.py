"""The rules of the kernel for maps, partitions and roots, on small cases with losses by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product

import pytest
from walks import driven, kinds, problem_of, top_of

from dpcompose.core.change.propagation import as_it_is
from dpcompose.core.change.units import (
    ANY,
    PAIR,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    all_leaves,
    leaf_item,
    state_of,
    top_level,
)
from dpcompose.core.kernel.along_map import AlongMap
from dpcompose.core.kernel.compose_roots import MOST_SHARED, joint
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.loss.walk import How, PureNeed
from dpcompose.core.model.tree import Place, lay_out
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused

PURE, ZCDP = Scalars(Notion.PURE), Scalars(Notion.ZCDP)
F = Fraction


def of(leaf: ChangeUnit, count: int = 1) -> State:
    """A change of so many units."""
    return state_of([(leaf_item(leaf), count)])


def units(_: Place, state: State) -> Loss:
    """One for each unit that is left."""
    return F(all_leaves(state).total())


# --- maps ----------------------------------------------------------------------------------------


def along(
    made: str, algebra: Scalars | Pairs = PURE, stated: str = "", size: int | None = None
) -> AlongMap:
    """The rules for a map that one mechanism reads through."""
    table = "" if size is None else f"domain: fixed-size-table, size: {size}"
    problem = problem_of(
        f"people: {{{table}}}\nmade: {{from: people, map: {made}}}",
        f"name: a, reads: made, notion: pure, epsilon: 1{stated}",
        "unbounded" if size is None else "bounded",
    )
    top = top_of(problem)
    return AlongMap(algebra, top, top.derived[0])


def test_a_row_map_keeps_a_row() -> None:
    rules = along("{kind: row}")
    found, asked = driven(rules.every_outcome(of(SINGLE)), units)
    assert found.loss == 1 and [name for name, _ in asked] == ["made"]
    assert all(kinds(state) == {"single": 1} for _, state in asked)


def test_a_filter_keeps_both_ends_of_a_replaced_row_or_one_or_none() -> None:
    rules = along("{kind: filter}")
    found, asked = driven(
        rules.every_outcome(of(PAIR)), lambda _, state: F(7) if "pair" in kinds(state) else F(9)
    )
    assert [kinds(state) for _, state in asked].count({"pair": 1}) == 1
    # The worst is a row that is left out before or after, since that is said to cost more.
    assert found.loss == 9 and {"single": 1} in [kinds(state) for _, state in asked]


def test_flatten_multiplies_rows_and_too_many_are_a_path() -> None:
    few = along("{kind: flatten, max_rows: 3}")
    found, asked = driven(few.every_outcome(of(SINGLE)), units)
    assert found.loss == 3 == max(sum(kinds(state).values()) for _, state in asked)
    with pytest.raises(Refused, match="can be listed"):
        driven(few.extremes(of(SINGLE)), units)
    # Rows for the two ends of a replaced row are not listed one by one where they are many: ε
    # grows with their number, ρ with its square.
    for algebra, power in ((PURE, 1), (ZCDP, 2)):
        many = along("{kind: flatten, max_rows: 1000000}", algebra)
        with pytest.raises(Refused, match="too many things"):
            driven(many.every_outcome(of(PAIR)), units)
        grouped, asked = driven(many.extremes(of(PAIR)), lambda *_: F(1, 2))
        assert grouped.loss == F(1, 2) * 10 ** (6 * power) and grouped.units == 10**6
        assert [kinds(state) for _, state in asked] == [{"pair": 1}, {"single": 1}]


def test_several_units_are_a_path_of_single_ones() -> None:
    rules = along("{kind: row}", ZCDP)
    found, _ = driven(rules.units(of(SINGLE, 3), rules.every_outcome), lambda *_: F(2))
    assert found.loss == 2 * 3**2 and found.bounded and found.how == How("units", (How("listed"),))
    with pytest.raises(Refused, match="no path"):
        driven(rules.units(of(SINGLE), rules.every_outcome), units)


ONE_OF_EACH = "{kind: limit, per: k, rows: 1, keep: random}"


def comes_or_replaces(_: Place, state: State) -> Loss:
    """1 for a row that comes, 2 for one replaced: added up, but for a row replaced anywhere 1."""
    kind = kinds(state)
    ends = kind == {"single": 2}
    return F(1) if ends else F(kind.get("single", 0) + 2 * kind.get("pair", 0))


def test_a_row_that_takes_the_place_of_another_is_drawn_with_chance_one_half() -> None:
    half = pytest.approx(math.log((1 + math.exp(2)) / 2), rel=1e-12)
    rules = along(ONE_OF_EACH)
    found, asked = driven(rules.displaced(of(SINGLE)), comes_or_replaces)
    assert [kinds(state) for _, state in asked] == [{"single": 1}, {"pair": 1}]
    assert found.loss == half
    assert found.how == How("displaced") and rules.replay(found.how, of(SINGLE)) is not None
    # What one row in place of another loses may be less than what one row more does.
    alone, _ = driven(rules.displaced(of(SINGLE)), lambda *_: F(1))
    assert alone.loss == 1
    # Two keys of a replaced row have each a draw of their own; so have several rows.
    for state in (of(PAIR), of(SINGLE, 2)):
        two, _ = driven(rules.displaced(state), comes_or_replaces)
        assert two.loss / 2 == half
    # Many rows of a user, of which some come and some take the place of others.
    for size in (3, 40):
        user = ChangeUnit(Kind.USER, size=size)
        rows, _ = driven(rules.displaced(of(user)), comes_or_replaces)
        assert rows.loss / size == half
    pairs = along(ONE_OF_EACH, Pairs())
    two, _ = driven(
        pairs.displaced(of(SINGLE)),
        lambda _, state: ((F(2), F(1, 5)),) if "pair" in kinds(state) else ((F(1), F(1, 10)),),
    )
    ((epsilon, delta),) = two.loss
    assert epsilon == half and delta == F(1, 10)


@pytest.mark.parametrize(
    ("made", "algebra", "state", "why"),
    [
        (ONE_OF_EACH, ZCDP, of(SINGLE), "no amplified"),
        ("{kind: limit, per: k, rows: 2, keep: random}", PURE, of(SINGLE), "one row of each key"),
        ("{kind: limit, per: k, rows: 1, keep: first}", PURE, of(SINGLE), "one row of each key"),
        (ONE_OF_EACH, PURE, of(PAIR._replace(kept=("k",))), "the only one"),
        (ONE_OF_EACH, PURE, of(ANY), "come, go or are replaced"),
    ],
)
def test_no_other_row_is_drawn_with_chance_one_half(
    made: str, algebra: Scalars, state: State, why: str
) -> None:
    with pytest.raises(Refused, match=why):
        driven(along(made, algebra).displaced(state), comes_or_replaces)


def test_a_statement_above_a_random_limit_covers_the_draw() -> None:
    rules = along(ONE_OF_EACH, stated=", stated_on: people")
    whole = rules.below.whole
    assert whole is not None
    with pytest.raises(Refused, match="taken as given"):
        driven(AlongMap(PURE, rules.place, whole).displaced(of(SINGLE)), comes_or_replaces)


def test_a_poisson_sample_amplifies_one_row() -> None:
    rules = along("{kind: sample, poisson: 1/4}")
    assert rules.sampled and rules.rounds == 1
    found, _ = driven(rules.sample(of(SINGLE)), lambda *_: F(1))
    # ln(1 + (e - 1)/4) = 0.357374…
    assert float(found.loss) == pytest.approx(0.35737402, abs=1e-8)
    with pytest.raises(Refused, match="one unit"):
        driven(rules.sample(of(SINGLE, 2)), units)
    with pytest.raises(Refused, match="can be listed"):
        driven(rules.every_outcome(of(SINGLE)), units)
    assert driven(rules.coupled(of(SINGLE, 2)), units)[0].loss == 2
    with pytest.raises(Refused, match="for several rows"):
        driven(rules.coupled(of(ChangeUnit(Kind.USER, size=2))), units)


def divergences(p: Sequence[float], q: Sequence[float]) -> float:
    """The largest D_α/α, both orders, at some α."""
    orders = (1.001, 1.1, 1.5, 2, 4, 16)
    return max(
        math.log(sum(x**o * y ** (1 - o) for x, y in zip(a, b, strict=True))) / (o - 1) / o
        for a, b in ((p, q), (q, p))
        for o in orders
    )


@pytest.mark.parametrize("rate", ["1/4", "9/10"])
@pytest.mark.parametrize("epsilon", [F(1, 10), F(1), F(4)])
def test_what_is_pure_below_a_sample_is_read_as_rho_after_it(rate: str, epsilon: Fraction) -> None:
    """Against laws of two answers, without a row, with it, and with another one."""
    q, e = float(F(rate)), math.exp(epsilon)
    rules = along(f"{{kind: sample, poisson: {rate}}}", ZCDP)

    def found(leaf: ChangeUnit) -> Fraction:
        walk = rules.as_pure(of(leaf), lambda pure, state: pure.sample(state))
        sent: Loss = None
        try:
            while True:
                need = walk.send(sent)
                twice = any(each.kind is Kind.PAIR for each in all_leaves(need[1]))
                # What is asked for in ρ is no ε.
                sent = epsilon * (2 if twice else 1) if isinstance(need, PureNeed) else F(1000)
        except StopIteration as stop:
            loss: Fraction = stop.value.loss
            return loss

    def drawn(one: float, without: float) -> list[float]:
        chance = (1 - q) * without + q * one
        return [chance, 1 - chance]

    truth, single = drawn(e / (1 + e), 1 / (1 + e)), drawn(1 / (1 + e), 1 / (1 + e))
    for leaf in (SINGLE, SINGLE._replace(sign=1, directed=True)):
        assert divergences(truth, single) <= found(leaf) * (1 + F(1, 10**12))
    ratio = math.log(1 + q * (e - 1))
    assert float(found(SINGLE)) == pytest.approx(ratio * math.tanh(ratio / 2), rel=1e-12)
    rare = 1 / (2 * e)  # each row makes one of two equal answers so rare
    assert divergences(drawn(rare, 0.5), drawn(1 - rare, 0.5)) <= found(PAIR) * (1 + F(1, 10**12))


def test_a_sample_without_replacement_covers_replaced_rows_alone() -> None:
    rules = along("{kind: sample, size: 10, of: 40}", size=40)
    found, _ = driven(rules.sample(of(PAIR)), lambda *_: F(1))
    assert float(found.loss) == pytest.approx(0.35737402, abs=1e-8)  # a quarter of the rows
    assert driven(rules.sample(of(SINGLE)), units)[0].loss == PURE.none


def test_of_a_sample_of_one_size_some_rows_are_drawn() -> None:
    rules = along("{kind: sample, size: 10, of: 40}", size=40)
    found, asked = driven(rules.sampled_rows(of(PAIR, 2)), units)
    none, one, two = F(30 * 29, 40 * 39), F(2 * 10 * 30, 40 * 39), F(10 * 9, 40 * 39)
    assert float(found.loss) == pytest.approx(math.log(none + one * math.e + two * math.e**2))
    assert [kinds(state) for _, state in asked] == [{"pair": 1}, {"pair": 2}]
    # Two rows that lose less than one count as one.
    less, _ = driven(rules.sampled_rows(of(PAIR, 2)), lambda _, state: 2 - units(_, state))
    assert float(less.loss) == pytest.approx(math.log(none + (one + two) * math.e))
    for state, why in ((of(PAIR), "several rows"), (of(SINGLE, 2), "several rows")):
        with pytest.raises(Refused, match=why):
            driven(rules.sampled_rows(state), units)
    with pytest.raises(Refused, match="give way"):
        driven(rules.coupled(of(PAIR, 2)), units)
    rules = along("{kind: sample, size: 10, of: 40}", ZCDP, size=40)
    with pytest.raises(Refused, match="no amplified ρ"):
        driven(rules.sampled_rows(of(PAIR, 2)), units)


def test_one_release_may_take_its_sample_as_part_of_itself() -> None:
    rules = along("{kind: sample, poisson: 1/4}", stated=", stated_on: people")
    assert rules.below.whole is not None
    found, asked = driven(rules.release(of(SINGLE), How("unchanged")), lambda *_: F(1))
    assert found.loss == 1 and found.how == How("release", (How("unchanged"),))
    assert [name for name, _ in asked] == ["made"]
    with pytest.raises(Refused, match="not part of one release"):
        driven(rules.unchanged(of(SINGLE)), units)


def test_what_nobody_reads_costs_nothing() -> None:
    problem = problem_of(
        "people: {}\nread: {from: people, map: row}\nidle: {from: people, map: row}",
        "name: a, reads: read, notion: pure, epsilon: 1",
    )
    top = top_of(problem)
    read, idle = (AlongMap(PURE, top, each) for each in top.derived)
    found, asked = driven(idle.unread(of(SINGLE)), units)
    assert found.loss == 0 and not asked
    with pytest.raises(Refused, match="`read` is read"):
        driven(read.unread(of(SINGLE)), units)


def test_rules_are_replayed_by_name() -> None:
    rules = along("{kind: flatten, max_rows: 2}")
    both = How("best", (How("listed"), How("listed")))
    assert driven(rules.replay(both, of(SINGLE)), units)[0].loss == 2
    path = How("units", (How("listed"),))
    assert driven(rules.replay(path, of(SINGLE, 2)), units)[0].loss == 4
    for how in (How("nonsense"), How("listed", (How("listed"),)), How("best"), How("release")):
        with pytest.raises(Refused, match="no rule"):
            driven(rules.replay(how, of(SINGLE)), units)
    with pytest.raises(Refused, match="left out"):
        driven(rules.replay(How("units"), of(SINGLE, 2)), units)


def test_a_unit_that_stays_is_no_longer_displaced() -> None:
    assert as_it_is(PAIR._replace(ends=(1, 0), displaced=True)) == PAIR


# --- partitions ----------------------------------------------------------------------------------


def over(partition: str, algebra: Scalars | Pairs = PURE, table: str = "{}") -> OverBlocks:
    """The rules for a partition whose blocks are `x`, `y` and `z`, each read by a mechanism."""
    problem = problem_of(
        f"people: {table}\nparts: {{from: people, partition: {partition}}}",
        "\n".join(
            f"name: on {each}, reads: parts.{each}, notion: pure, epsilon: {cost}"
            for each, cost in (("x", 1), ("y", 2), ("z", 4))
        ),
    )
    top = top_of(problem)
    return OverBlocks(algebra, top, top.dataset.partitions[0], top.blocks[0])


COSTS = {"x": F(1), "y": F(2), "z": F(4)}


def by_block(rules: OverBlocks) -> Callable[[Place, State], Loss]:
    """Each block has its cost for every unit of change; a replaced row costs as one end."""
    names = {
        id(block): str(rules.partition.classes[i].names[0]) for i, block in enumerate(rules.blocks)
    }
    return lambda place, state: COSTS[names[id(place)]] * all_leaves(state).total()


def lost(rules: OverBlocks, rule: str, state: State) -> Loss:
    return driven(getattr(rules, rule)(state), by_block(rules))[0].loss


VALUE = "{by: value, blocks: [x, y, z]}"
MEMBERS = "{by: membership, blocks: [x, y, z], max_blocks: 2}"


def test_one_row_is_in_the_worst_block_it_can_be_in() -> None:
    assert lost(over(VALUE), "one_row", of(SINGLE)) == 4
    assert lost(over(VALUE), "one_row", of(PAIR)) == 2 + 4  # out of one, into another
    assert lost(over(MEMBERS), "one_row", of(SINGLE)) == 2 + 4
    assert lost(over(MEMBERS), "one_row", of(PAIR)) == 1 + 2 + 4  # two before, two after: all


def sampled(*more: str) -> OverBlocks:
    """The rules for a partition into `x`, `y` and `z`, of which the first two are sampled."""
    problem = problem_of(
        f"people: {{}}\nparts: {{from: people, partition: {VALUE}}}\n"
        "sx: {from: parts.x, map: {kind: sample, poisson: 1/4}}\n"
        "sy: {from: parts.y, map: {kind: sample, poisson: 1/2}}",
        "\n".join(
            f"name: on {each}, reads: {each}, notion: pure, epsilon: 1"
            for each in ("sx", "sy", "parts.z", *more)
        ),
        "bounded",
    )
    top = top_of(problem)
    return OverBlocks(PURE, top, top.dataset.partitions[0], top.blocks[0])


def one_way(rules: OverBlocks) -> Callable[[Place, State], Loss]:
    """Costs of a row removed, or added, and of one that may be either or is replaced."""
    names = {id(each): name for each, name in zip(rules.blocks, "xyz", strict=True)}
    costs = {"x": (F(5), F(1)), "y": (F(4), F(2)), "z": (F(3), F(3))}

    def cost(place: Place, state: State) -> Loss:
        removed, added = costs[names[id(place)]]
        leaves = all_leaves(state)
        assert all(leaf.directed is (names[id(place)] != "z") for leaf in leaves if not leaf.kept)
        return (
            sum((n * (added if leaf.sign else removed) for leaf, n in leaves.items()), F(0))
            if all(leaf.kind is Kind.SINGLE for leaf in leaves)
            else F(0)
        )

    return cost


@pytest.mark.parametrize("rule", ["one_row", "exhaustive"])
def test_a_row_that_moves_is_removed_in_one_block_and_added_in_another(rule: str) -> None:
    rules = sampled()
    stays = of(PAIR._replace(kept=("day",)))
    found, asked = driven(getattr(rules, rule)(stays), one_way(rules))
    assert found.loss == 5 + 3  # out of `x` into `z`; into `y` it would be 5 + 2
    shown = {branch.place.dataset.name: all_leaves(branch.state) for branch in found.branches}
    assert [leaf.directed for leaf in shown["parts.x"]] == [True]
    assert {leaf.sign for _, state in asked for leaf in all_leaves(state)} == {0, 1}


def test_nothing_has_a_direction_where_no_sample_is_read() -> None:
    rules = over(VALUE)
    _, asked = driven(rules.one_row(of(PAIR)), by_block(rules))
    assert not any(leaf.directed for _, state in asked for leaf in all_leaves(state))


def test_a_direction_that_is_not_known_of_all_is_dropped() -> None:
    """A row that comes or goes beside a replaced one may go with its old end or with its new."""
    rules = sampled()
    mixed = state_of([(leaf_item(PAIR), 1), (leaf_item(SINGLE), 1)])
    _, asked = driven(rules.exhaustive(mixed), units)
    assert not any(leaf.directed for _, state in asked for leaf in all_leaves(state))
    gone = SINGLE._replace(directed=True)
    both = top_level(state_of([(leaf_item(gone), 1), (leaf_item(SINGLE._replace(sign=1)), 1)]))
    assert not any(leaf.directed for leaf in all_leaves(both))


def test_a_sample_amplifies_a_row_added_less_than_one_removed() -> None:
    rules = along("{kind: sample, poisson: 1/4}")
    for sign, truth in ((0, math.log(0.75 + 0.25 * math.e)), (1, -math.log(0.75 + 0.25 / math.e))):
        row = of(SINGLE._replace(sign=sign, directed=True))
        found, asked = driven(rules.sample(row), lambda *_: F(1))
        assert float(found.loss) == pytest.approx(truth, rel=1e-12)
        assert asked == [("made", of(SINGLE))]


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_every_way_is_the_worst_of_all_assignments(rows: int) -> None:
    """Each added row is in one of the blocks: by enumeration of these."""
    worst = max(sum(COSTS[each] for each in way) for way in product("xyz", repeat=rows))
    assert lost(over(VALUE), "exhaustive", of(SINGLE, rows)) == worst
    assert lost(over(VALUE), "equal_rows", of(SINGLE, rows)) == worst
    # As if every row were in each of the blocks that are hit.
    full = sum(sorted(COSTS.values())[-rows:]) * rows
    assert lost(over(VALUE), "each_block_full", of(SINGLE, rows)) == full


def test_what_may_be_anything_is_charged_everywhere() -> None:
    rules = over(VALUE)
    assert rules.anywhere(of(ANY)) and not rules.anywhere(of(SINGLE))
    assert lost(rules, "everywhere", of(SINGLE)) == 7
    for rule in ("one_row", "each_block_full", "exhaustive", "equal_rows"):
        with pytest.raises(Refused):
            lost(rules, rule, of(ANY))


def test_the_rows_of_a_unit_are_spread_by_their_number() -> None:
    unit = of(ChangeUnit(Kind.USER, size=2))
    rules = over("{by: value, blocks: [x, y, z]}", table="{unit: person}")
    # Rows of a unit weigh by their number here: both are in the dearest block.
    weigh = by_block(rules)

    def cost(place: Place, state: State) -> Loss:
        (leaf,) = all_leaves(state)
        return weigh(place, of(SINGLE, int(leaf.size or 0)))

    assert driven(rules.one_user(unit), cost)[0].loss == 8
    with pytest.raises(Refused, match="another kind"):
        driven(rules.one_row(unit), cost)
    with pytest.raises(Refused, match="another kind"):
        driven(rules.one_user(of(SINGLE)), cost)


def test_too_many_ways_are_not_listed() -> None:
    with pytest.raises(Refused, match="too many ways"):
        lost(over(VALUE), "exhaustive", of(SINGLE, 9))
    with pytest.raises(Refused, match="more ways"):
        driven(over(VALUE).exhaustive(of(SINGLE, 2), lambda _: False), units)
    with pytest.raises(Refused, match="in one number"):
        lost(over(VALUE), "equal_rows", of(PAIR, 2))


def test_rules_of_partitions_are_replayed_by_name() -> None:
    rules = over(VALUE)
    how = How("best", (How("one row"), How("everywhere")))
    assert driven(rules.replay(how, of(SINGLE)), by_block(rules))[0].loss == 4
    path = How("units", (How("one row"),))
    assert driven(rules.replay(path, of(SINGLE, 3)), by_block(rules))[0].loss == 12
    with pytest.raises(Refused, match="no rule"):
        driven(rules.replay(How("one row", (How("one row"),)), of(SINGLE)), by_block(rules))


def test_pairs_take_the_largest_of_each_coordinate() -> None:
    rules = over(VALUE, Pairs())
    names = {id(block): i for i, block in enumerate(rules.blocks)}
    pairs = ((F(1), F(1, 10)), (F(2), F(1, 20)), (F(3), F(0)))
    found, _ = driven(rules.one_row(of(SINGLE)), lambda place, _: (pairs[names[id(place)]],))
    assert found.loss == ((F(3), F(1, 10)),)


# --- roots ---------------------------------------------------------------------------------------


def shared(distance: int, apart: bool) -> tuple[Loss, int]:
    """The joint loss over two tables whose k rows cost 3k and k², and in how many it is shown."""
    problem = problem_of(
        "one: {}\nother: {}",
        "name: a, reads: one, notion: pure, epsilon: 1\n"
        "name: b, reads: other, notion: pure, epsilon: 1",
        f"{{relation: unbounded, distance: {distance}}}",
        "roots: disjoint\n" if apart else "",
    )

    def cost(place: Place, state: State) -> Loss:
        rows = all_leaves(state).total()
        return F(3 * rows if place.dataset.name == "one" else rows * rows)

    (loss, shown), _ = driven(joint(problem, lay_out(problem), PURE), cost)
    return loss, len(shown)


@pytest.mark.parametrize("distance", [1, 2, 5])
def test_several_steps_are_shared_out_over_tables_that_are_apart(distance: int) -> None:
    worst = max(3 * k + (distance - k) ** 2 for k in range(distance + 1))
    assert shared(distance, True)[0] == worst
    assert shared(distance, False) == (3 * distance + distance**2, 2)


def test_very_many_steps_are_charged_to_each_table() -> None:
    many = MOST_SHARED + 1
    assert shared(many, True) == (3 * many + many**2, 2)
