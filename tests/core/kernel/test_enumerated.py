"""The rules for partitions and samples against enumeration: many rows, several blocks, each kind.

Where rows can be is listed here anew, and what blocks lose is made up: a number of its own for each
block, in ε by the number of rows and in ρ by its square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from random import Random

import pytest
from reference.events import Step, largest_gain
from tables import tables
from volume import thinned
from walks import driven, problem_of, top_of

from dpcompose.core.change.units import PAIR, SINGLE, ChangeUnit, Kind, State, all_leaves, leaf_item
from dpcompose.core.kernel.over_blocks import OverBlocks
from dpcompose.core.loss import amplification
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs, Scalars
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused
from dpcompose.pipeline import analyze

TABLES = tables(__file__)

F = Fraction
PURE, ZCDP = Scalars(Notion.PURE), Scalars(Notion.ZCDP)
NAMES = ["v", "w", "x", "y", "z"]
LISTED = ", ".join(NAMES)
EVERY = range(len(NAMES))
COSTS = [F(3), F(1), F(5), F(2), F(4)]
FEEDS = {"one": (0, 1, 3), "two": (2,), "three": (0, 4), "none": ()}


def up_to(most: int) -> list[frozenset[int]]:
    return [frozenset(each) for n in range(most + 1) for each in combinations(EVERY, n)]


#: How a partition is written, and the sets of blocks in which one row can be.
KINDS: dict[str, tuple[str, list[frozenset[int]]]] = {
    "value": (f"{{by: value, blocks: [{LISTED}]}}", up_to(1)),
    "key": (f"{{by: key, column: id, blocks: [{LISTED}]}}", up_to(1)),
    "members of 2": (f"{{by: membership, blocks: [{LISTED}], max_blocks: 2}}", up_to(2)),
    "members of 3": (f"{{by: membership, blocks: [{LISTED}], max_blocks: 3}}", up_to(3)),
    "kinds": (
        "{by: kinds, kinds: {"
        + ", ".join(f"{k}: [{', '.join(NAMES[i] for i in fed)}]" for k, fed in FEEDS.items())
        + "}}",
        [frozenset(fed) for fed in FEEDS.values()],
    ),
}


def order_of(rules: OverBlocks) -> list[int]:
    """The number in `NAMES` of the only block of each class."""
    return [NAMES.index(str(each.names[0])) for each in rules.partition.classes]


def rules_for(partition: str, algebra: Scalars | Pairs, table: str = "{}") -> OverBlocks:
    """The rules for a partition into five blocks, each with a mechanism of its own."""
    problem = problem_of(
        f"people: {table}\nparts: {{from: people, partition: {partition}}}",
        "\n".join(
            f"name: on {each}, reads: parts.{each}, notion: pure, epsilon: {cost}"
            for each, cost in zip(NAMES, COSTS, strict=True)
        ),
    )
    top = top_of(problem)
    return OverBlocks(algebra, top, top.dataset.partitions[0], top.blocks[0])


def loss_of(block: int, rows: int, ends: int, power: int) -> Fraction:
    """Of a block with so many rows replaced, and so many that come or go: no sum of the two."""
    times: int = (ends + rows + (rows if block % 2 else 0)) ** power
    return COSTS[block] * times


def cost(rules: OverBlocks, power: int) -> Callable[[Place, State], Loss]:
    order, numbers = order_of(rules), {id(block): i for i, block in enumerate(rules.blocks)}

    def found(place: Place, state: State) -> Loss:
        kinds: Counter[Kind] = Counter()
        for leaf, count in all_leaves(state).items():
            users = int(leaf.size or 0) if leaf.kind is Kind.USER else 1
            kinds[Kind.SINGLE if leaf.kind is Kind.USER else leaf.kind] += count * users
        assert set(kinds) <= {Kind.SINGLE, Kind.PAIR}
        return loss_of(order[numbers[id(place)]], kinds[Kind.PAIR], kinds[Kind.SINGLE], power)

    return found


def worst(sets: Sequence[frozenset[int]], singles: int, pairs: int, power: int) -> Fraction:
    """The worst of all ways of placing rows that come or go, and both ends of replaced ones."""
    moves = list(combinations_with_replacement(sets, 2))
    ways = product(
        combinations_with_replacement(sets, singles), combinations_with_replacement(moves, pairs)
    )
    return max(
        sum(
            (
                loss_of(
                    i,
                    sum(i in old and i in new for old, new in ends),
                    sum(i in each for each in alone)
                    + sum((i in old) != (i in new) for old, new in ends),
                    power,
                )
                for i in EVERY
            ),
            F(0),
        )
        for alone, ends in ways
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("algebra", "power"), [(PURE, 1), (ZCDP, 2)])
@pytest.mark.parametrize(
    ("singles", "pairs"), thinned([(1, 0), (2, 0), (3, 0), (50, 0), (0, 1), (1, 1), (0, 2)])
)
def test_rows_over_five_blocks(
    kind: str, algebra: Scalars, power: int, singles: int, pairs: int
) -> None:
    """No rule is below the worst of all ways, and those that say that they list them reach it."""
    how, sets = KINDS[kind]
    rules = rules_for(how, algebra)
    if singles > 2:
        # All rows alike is the worst way, since losses are convex in the number of rows.
        truth = singles**power * worst(sets, 1, 0, power)
    elif len(sets) > 6 and singles + 2 * pairs > 2:
        rng = Random(f"{kind} {singles} {pairs}")
        truth = max(worst(rng.sample(sets, 5), singles, pairs, power) for _ in range(3))
    else:
        truth = worst(sets, singles, pairs, power)
    state = tuple((leaf_item(leaf), n) for leaf, n in ((PAIR, pairs), (SINGLE, singles)) if n)
    told: dict[str, Fraction] = {}
    for rule in ("one_row", "equal_rows", "each_block_full", "exhaustive"):
        try:
            told[rule] = driven(getattr(rules, rule)(state), cost(rules, power))[0].loss
        except Refused:
            continue
        if rule == "each_block_full" and pairs:
            del told[rule]  # it takes an end to lose no more than a row replaced, and chains of all
            continue
        assert told[rule] >= truth, (rule, told[rule], truth)
    if singles + pairs == 1:
        assert told["one_row"] == told.get("exhaustive", truth) == truth
    if not pairs and kind != "kinds":
        # A kind's blocks may be no more than these; of any others each row picks the dearest.
        assert told["equal_rows"] == truth


@pytest.mark.parametrize(("algebra", "power"), [(PURE, 1), (ZCDP, 2)])
@pytest.mark.parametrize("per_block", [None, 1, 2, 3])
@pytest.mark.parametrize("blocks", [None, 2, 4])
def test_rows_of_a_unit_over_five_blocks(
    algebra: Scalars, power: int, per_block: int | None, blocks: int | None
) -> None:
    """All rows of a unit of 4, in so many blocks and so many in each, in every way."""
    more = "" if per_block is None else f", max_rows_per_block: {per_block}"
    more += "" if blocks is None else f", max_blocks_per_unit: {blocks}"
    rules = rules_for(f"{{by: value, blocks: [{LISTED}]{more}}}", algebra, table="{unit: person}")
    truth = max(
        sum((loss_of(i, 0, n, power) for i, n in enumerate(way)), F(0))
        for way in product(range(5), repeat=5)
        if sum(way) <= 4 and max(way) <= (per_block or 4) and sum(map(bool, way)) <= (blocks or 5)
    )
    state = ((leaf_item(ChangeUnit(Kind.USER, size=4)), 1),)
    found = driven(rules.one_user(state), cost(rules, power))[0].loss
    assert found == truth if per_block else found >= truth


def printed(text: str) -> tuple[Fraction, Fraction]:
    """The bound of a spec, with its δ."""
    report = analyze("dpcompose: 1\n" + text)
    assert report.bound is not None
    return report.bound.value, report.bound.delta or F(0)


@pytest.mark.parametrize(
    ("text", "epsilon", "delta"),
    [
        # A row of a person who has others: one group less and another one more.
        (
            "protect: unbounded\ndatasets:\n  t: {unit: id}\n"
            "  g: {from: t, map: {kind: group, by: id}}\n"
            "mechanisms: [{name: m, reads: g, notion: pure, epsilon: 1}]",
            2,
            0,
        ),
        # The row that comes first moves all others from block to block.
        (
            "protect: unbounded\ndatasets:\n  t: {domain: ordered-table}\n"
            "  b: {from: t, partition: {by: position, blocks: 9}}\n"
            "mechanisms: [{name: m, reads: b.*, notion: pure, epsilon: 1, relation: free-lunch}]",
            9,
            0,
        ),
        # 50 rows, each of which is in 3 blocks.
        (
            "protect: {relation: unbounded, distance: 50}\ndatasets:\n  t: {}\n"
            "  b: {from: t, partition: {by: membership, blocks: 4, max_blocks: 3}}\n"
            "mechanisms: [{name: m, reads: b.*, notion: zcdp, rho: 1}]",
            7500,
            0,
        ),
        # 50 rows of a user, all of which may be in one block or in three.
        (
            "protect: user\ndatasets:\n  t: {unit: id}\n"
            "  c: {from: t, map: {kind: cap, rows: 50, keep: first}}\n"
            "  b: {from: c, partition: {by: value, blocks: 3, max_rows_per_block: 25}}\n"
            "mechanisms: [{name: m, reads: b.*, notion: approx, epsilon: 0.01, delta: 1e-9,"
            " relation: unbounded}]",
            F(1, 2),
            None,
        ),
        # 2800 rows, 100 in each of 28 blocks: 28·100².
        (
            "protect: user\ndatasets:\n  t: {unit: id}\n"
            "  c: {from: t, map: {kind: cap, rows: 2800, keep: first}}\n"
            "  b: {from: c, partition: {by: value, blocks: 40, max_rows_per_block: 100}}\n"
            "mechanisms: [{name: m, reads: b.*, notion: zcdp, rho: 1, relation: unbounded}]",
            280_000,
            0,
        ),
    ],
)
def test_many_rows_in_several_blocks_of_a_whole_spec(
    text: str, epsilon: Fraction, delta: Fraction | None
) -> None:
    found = printed(text)
    assert found[0] == epsilon and (delta is None or found[1] == delta)


# --- samples -------------------------------------------------------------------------------------


def guarantees(rng: Random) -> Iterator[tuple[Fraction, Fraction]]:
    while True:
        yield F(rng.randint(5, 120), 100), F(rng.randint(1, 40), 1000)


def test_mixtures_of_what_is_drawn_against_linear_programs() -> None:
    """Nothing drawn is table 0; some parts of either table are drawn with chances of their own."""
    rng, nearest = Random(3), 0.0
    for _ in range(40):
        more, fewer = rng.randint(1, 3), rng.randint(0, 2)
        said = [pair for pair, _ in zip(guarantees(rng), range(more + fewer), strict=False)]
        steps: list[Step] = []
        chances: list[list[tuple[Fraction, Loss]]] = []
        laws: list[dict[int, float]] = []
        for side in (range(1, more + 1), range(more + 1, more + fewer + 1)):
            shares = [F(rng.randint(1, 5)) for _ in range(len(side) + 1)]
            shares = [each / sum(shares) for each in shares]
            law = {0: float(shares[0])}
            found: list[tuple[Fraction, Loss]] = [(shares[0], ((F(0), F(0)),))]
            for table, share in zip(side, shares[1:], strict=True):
                steps.append((0, table, *said[table - 1]))
                law[table] = float(share)
                found.append((share, (said[table - 1],)))
            chances.append(found)
            laws.append(law)
        for one, other in ((0, 1), (1, 0)):
            ((epsilon, delta),) = amplification.mixed(Pairs(), chances[one], chances[other])
            true = largest_gain(laws[one], laws[other], steps, epsilon)
            assert true <= delta + F(1, 10**7)
            nearest = max(nearest, true / float(delta))
    assert nearest > 0.999


def test_a_row_replaced_below_a_sample_against_linear_programs() -> None:
    """Without either row is table 0; statements on rows that come or go, and on rows replaced."""
    rng, nearest = Random(5), [0.0, 0.0]
    for _ in range(40):
        rate = F(rng.randint(1, 9), 10)
        (u, d), (b, e) = (pair for pair, _ in zip(guarantees(rng), range(2), strict=False))
        steps: list[Step] = [(0, 1, u, d), (0, 2, u, d)]
        q = float(rate)
        old, new, none = {0: 1 - q, 1: q}, {0: 1 - q, 2: q}, {0: 1.0}
        for epsilon, delta, _ in amplification.weighed(((u, d),), ((b, e),), rate):
            true = largest_gain(old, new, [*steps, (1, 2, b, e)], epsilon)
            assert true <= delta + F(1, 10**7)
        for n, (side, laws) in enumerate((("removed", (old, none)), ("added", (none, old)))):
            ((epsilon, delta),) = Pairs().amplified(((u, d),), rate, False, side)
            true = largest_gain(*laws, steps, epsilon)
            assert true <= delta + F(1, 10**7)
            nearest[n] = max(nearest[n], true / float(delta))
    assert min(nearest) > 0.999


ROWS_OF_KEYS = """protect: {relation: bounded, changes: [v]}
datasets:
  t: {columns: [k, v]}
  l: {from: t, map: {kind: limit, per: k, rows: 1, keep: first}}
mechanisms:
  - {name: m, reads: l, notion: pure, epsilon: 1, relation: unbounded, stated_on: t}
"""


@pytest.mark.parametrize(
    ("old", "new", "epsilon"), TABLES["a row that comes first hides the one that it replaces"]
)
def test_a_row_that_comes_first_hides_the_one_that_it_replaces(
    old: str, new: str, epsilon: int
) -> None:
    """Add the row that comes first, or remove it: the other one may be there too."""
    text = ROWS_OF_KEYS.replace(old, new) if old else ROWS_OF_KEYS
    assert printed(text)[0] == epsilon


@pytest.mark.parametrize(
    ("one", "other", "protected", "bound"),
    [
        ("pure, epsilon: 2", "pure, epsilon: 3", "[a, b]", (5, 0)),
        ("gdp, mu: 2", "gdp, mu: 3", "[a, b]", (5, 0)),
        ("zcdp, rho: 1", "zcdp, rho: 4", "[a, b]", (9, 0)),
        # The step of ratio δ/(e^ε - 1) = ∞ goes last in both directions.
        ("approx, epsilon: 0, delta: 0.1", "approx, epsilon: 3, delta: 0", "[a, b]", (3, F(1, 10))),
        ("pure, epsilon: 2", "pure, epsilon: 3", "[a]", (2, 0)),
        ("pure, epsilon: 2", "pure, epsilon: 3", "[a, b, c]", None),
    ],
)
def test_columns_that_change_one_after_the_other(
    one: str, other: str, protected: str, bound: tuple[Fraction, Fraction] | None
) -> None:
    """From (0, 0) to (1, 1) by way of (1, 0): one step of each statement, on the root's tables."""
    said = "\n".join(
        f"    - {{notion: {each}, relation: {{relation: bounded, {which}}}}}"
        for each, which in ((one, "changes: [a]"), (other, "keeps: [a, c]"))
    )
    text = (
        f"protect: {{relation: bounded, changes: {protected}}}\n"
        "datasets:\n  t: {columns: [a, b, c]}\n"
        f"mechanisms:\n- name: m\n  reads: t\n  guarantees:\n{said}\n"
    )
    if bound is None:
        assert analyze("dpcompose: 1\n" + text).bound is None
    else:
        assert printed(text) == bound
    # How many rows a person may have in a block is not known to leave room for that.
    owned = analyze("dpcompose: 1\n" + text.replace("[a, b, c]}", "[a, b, c], unit: c}"))
    assert (owned.bound is None) is (protected != "[a]")


GROUPED = """protect: unbounded
datasets:
  t: {columns: [k, v]}
  f: {from: t, map: {kind: flatten, max_rows: 5, keeps: [k]}}
  g: {from: f, map: {kind: group, by: k}}
mechanisms:
  - {name: m, reads: g, guarantees: [{notion: pure, epsilon: 2, relation: unbounded},
     {notion: pure, epsilon: 3, relation: bounded}]}
"""


@pytest.mark.parametrize(
    ("changed", "epsilon"), TABLES["results of one row with its key are one change"]
)
def test_results_of_one_row_with_its_key_are_one_change(
    changed: dict[str, str], epsilon: int
) -> None:
    """A group or a first row of a key comes, goes or is replaced, whatever one row becomes."""
    text = GROUPED
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    assert printed(text)[0] == epsilon
