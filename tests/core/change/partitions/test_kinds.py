"""What every kind of partition says: where a row can be (theory, section 5), nothing left out."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpcompose.core.change import partitions
from dpcompose.core.change.partitions.by_key import ByKey
from dpcompose.core.change.partitions.by_kinds import ByKinds
from dpcompose.core.change.partitions.by_membership import ByMembership
from dpcompose.core.change.partitions.by_position import ByPosition
from dpcompose.core.change.partitions.by_value import ByValue
from dpcompose.core.change.partitions.partition_kind import PartitionKind, Undivided
from dpcompose.core.change.partitions.whereabouts import Fixed, InOne, InSets, InSome, Whereabouts
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE, ChangeUnit, Kind
from dpcompose.core.numbers.form_keys import Sort
from dpcompose.core.partitions.placements import SpreadRule, placements

FOLDER = Path(partitions.__file__).parent
PACKAGE = FOLDER.parent.parent.parent
SHARED = {"__init__", "partition_kind", "whereabouts"}
KINDS = ByKinds({"x": (0, 1), "y": (1, 2), "other": ()})


@pytest.mark.parametrize(
    ("kind", "kept", "where"),
    [
        (ByValue(), (), InOne()),
        (ByValue(), ("id",), InOne()),
        (ByKey("id"), (), InOne()),
        (ByKey("id"), ("city",), InOne()),
        (ByKey("id"), ("city", "id"), Fixed()),
        (ByPosition(), (), Fixed()),
        (ByMembership(2), ("id",), InSome(2)),
        (KINDS, ("id",), InSets(((0, 1), (1, 2), ()))),
    ],
)
def test_where_a_row_can_be(kind: PartitionKind, kept: tuple[str, ...], where: Whereabouts) -> None:
    assert kind.where(kept) == where


@pytest.mark.parametrize(
    ("where", "sets"),
    [
        (Fixed(), [{0}, {1}, {2}]),
        (InOne(), [set(), {0}, {1}, {2}]),
        (InSome(2), [set(), {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}]),
        (InSome(1), [set(), {0}, {1}, {2}]),
        (InSets(((0, 1), (2,), (1, 0), ())), [{0, 1}, {2}, set()]),
    ],
)
def test_the_sets_of_blocks_of_a_row(where: Whereabouts, sets: list[set[int]]) -> None:
    assert [set(each) for each in where.sets(range(3))] == sets
    assert where.most_blocks == max(map(len, sets))


#: What a block loses that a row enters or leaves, and one in which a row is replaced.
LOSSES = [
    ([5, 3, 2], [7, 6, 1]),
    ([1, 1, 1], [2, 2, 2]),
    ([4, 1, 0], [1, 9, 3]),
    ([2, 3, 5], [3, 4, 6]),
]


@pytest.mark.parametrize(
    "where", [Fixed(), InOne(), InSome(1), InSome(2), InSome(3), InSets(((0, 1), (1, 2), ()))]
)
@pytest.mark.parametrize(("once", "both"), LOSSES)
@pytest.mark.parametrize("leaf", [SINGLE, PAIR])
def test_the_rule_gives_the_worst_of_all_ways(
    where: Whereabouts, once: list[int], both: list[int], leaf: ChangeUnit
) -> None:
    """The two ways in which the blocks of a row are used agree: one by one, and the worst."""
    pair = leaf.kind is Kind.PAIR
    one = [Fraction(loss) for loss in once]
    two = [Fraction(loss) for loss in both] if pair else one
    ways = placements(where, leaf, range(3), 1000)
    worst = max(
        sum((two if end.kind is Kind.PAIR else one)[i] for i, end in enumerate(way) if end)
        for way in ways
    )
    found, hits = SpreadRule(where, pair, [1, 1, 1])(one, two)
    assert found == worst
    assert sum((two if hit.both else one)[hit.where] * hit.blocks for hit in hits) == worst


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [(ByValue(), True), (ByKey("id"), False), (ByPosition(), False), (ByMembership(1), False)],
)
def test_what_blocks_leave_out(kind: PartitionKind, left_out: bool) -> None:
    assert kind.leaves_out(0, 2) is left_out
    assert kind.leaves_out(0, 1) is False


def test_a_block_leaves_out_the_kinds_that_do_not_feed_it() -> None:
    every = ByKinds({"x": (0, 1), "y": (1,)})
    assert [every.leaves_out(block, 2) for block in range(2)] == [True, False]


def test_the_blocks_of_a_unit() -> None:
    assert ByKey("id").blocks_of_unit("id") == 1
    for kind in (ByKey("city"), ByValue(), ByPosition(), ByMembership(1), KINDS):
        assert kind.blocks_of_unit("id") is None
    assert ByKey("id").blocks_of_unit(None) is None


PUBLIC = Traits(unit="id", ordered=True, fixed=True, size=9, most=9)


@pytest.mark.parametrize("kind", [ByValue(), ByKey("id"), ByMembership(2), KINDS])
def test_the_size_of_a_block_is_not_public(kind: PartitionKind) -> None:
    assert kind.traits_of_blocks(3, PUBLIC) == Traits(unit="id", ordered=True, most=9)
    assert kind.rows_needed([(4, 2), (1, 1)]) == 0


def test_every_block_of_positions_has_a_row() -> None:
    kind = ByPosition()
    of_three = Traits(unit="id", ordered=True, fixed=True, most=7)
    assert kind.traits_of_blocks(3, PUBLIC) == of_three
    assert kind.traits_of_blocks(1, PUBLIC) == PUBLIC
    assert kind.traits_of_blocks(20, PUBLIC).most == 1
    assert kind.rows_needed([(4, 2), (0, 3)]) == 11


def _undivided(**changed: object) -> Undivided:
    given: dict[str, Any] = {
        "traits": Traits(),
        "no_positions": lambda: ("rows of `t` have no positions", "order them"),
        "blocks": ("a", "b", "c"),
        "quoted": lambda name: f"`{name}`",
        "drops": False,
        "max_blocks_per_unit": None,
        **changed,
    }
    return Undivided(**given)


def test_what_has_no_meaning() -> None:
    (unordered,) = ByPosition().refused(_undivided())
    assert unordered == ("DPC141", ("by",), "rows of `t` have no positions", "order them")
    assert not list(ByPosition().refused(_undivided(traits=Traits(ordered=True))))
    every = ByKinds({"x": (0, 1), "y": (2, 1, 0)})
    first, second = every.refused(_undivided(drops=True, max_blocks_per_unit=2))
    assert first.says == "every kind feeds `a`, so that no row gives nothing to it"
    assert second.says == "a row of kind `y` is in 3 blocks, more than its unit may be in"
    assert not list(KINDS.refused(_undivided(drops=True, max_blocks_per_unit=2)))


# ---------------------------------------------------------------------------------------------
# One file a kind, and nothing left out


def test_one_file_for_each_kind() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - SHARED
    assert files == {f"by_{name}" for name in partitions.PARTITIONS}
    for name, form in partitions.PARTITIONS.items():
        assert form.kind.__module__.rpartition(".")[2] == f"by_{name}"


@pytest.mark.parametrize("part", sorted(PartitionKind.__abstractmethods__))
def test_a_kind_without_a_part_cannot_be_made(part: str) -> None:
    parts: dict[str, Callable[..., Any]] = {
        name: method
        for name, method in inspect.getmembers(ByPosition, inspect.isfunction)
        if name in PartitionKind.__abstractmethods__ and name != part
    }
    with pytest.raises(TypeError, match=part):
        type("Forgetful", (PartitionKind,), parts)()


def test_nothing_else_knows_the_kinds_apart() -> None:
    """Whoever needs to know something of a partition asks its kind."""
    inside = f"dpcompose.core.change.{FOLDER.name}"
    kinds = {f"{inside}.by_{name}" for name in partitions.PARTITIONS}
    for path in PACKAGE.rglob("*.py"):
        if path.parent == FOLDER:
            continue
        text = path.read_text(encoding="utf-8")
        if FOLDER.name not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                imported = {f"{node.module}.{each.name}" for each in node.names}
                assert not kinds & {*imported, str(node.module)}, path
            elif isinstance(node, ast.Import):
                assert not kinds & {each.name for each in node.names}, path


@pytest.mark.parametrize("name", partitions.PARTITIONS)
def test_a_kind_is_made_of_its_keys(name: str) -> None:
    form = partitions.PARTITIONS[name]
    examples: dict[Sort, object] = {
        Sort.WHOLE: 3,
        Sort.COLUMN: "city",
        Sort.COLUMNS: frozenset({"city"}),
        Sort.FEEDS: {"x": (0, 1), "y": ()},
    }
    given = [examples[key.sort] for key in form.keys if key.sort is not Sort.BLOCKS]
    made = form.made(*given)
    assert type(made) is form.kind
    assert made == form.made(*given)
    assert hash(made) == hash(form.made(*given))
    assert made.describe() == f"by {name}"
    assert made.declares("p")[0].count("`p`") == 1
