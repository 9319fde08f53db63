"""Equal blocks lose as much, whether one entry of the spec is for all of them or one for each."""

from __future__ import annotations

import pytest

from dpcompose import analyze
from dpcompose.core.model.tree import lay_out
from dpcompose.resolve import load_resolved

BLOCKS = ("north", "east", "south", "west")
STATED = [
    "notion: pure, relation: unbounded, epsilon: 1/3",
    "notion: pure, stated_on: people, epsilon: 1/3, count: 2",
    "notion: approx, relation: unbounded, epsilon: 1/3, delta: 1e-7",
    "notion: zcdp, relation: unbounded, rho: 1/8",
    "mechanism: gaussian, relation: unbounded, sigma: 3, sensitivity: {l2: 1}",
]


def spec(protect: str, partition: str, entries: list[str]) -> str:
    head = f"dpcompose: 1\nprotect: {protect}\ndatasets:\n  people: {{}}\n"
    split = (
        f"  region: {{from: people, partition: {{{partition}, blocks: [{', '.join(BLOCKS)}]}}}}\n"
    )
    return head + split + "mechanisms:\n" + "".join(f"  - {{{each}}}\n" for each in entries)


def of_each(stated: str, blocks: tuple[str, ...] = BLOCKS) -> list[str]:
    return [f"name: in {each}, reads: region.{each}, {stated}" for each in blocks]


@pytest.mark.parametrize("stated", STATED)
@pytest.mark.parametrize("partition", ["by: value", "by: membership, max_blocks: 2"])
@pytest.mark.parametrize("protect", ["unbounded", "bounded"])
def test_one_entry_for_each_block_is_one_for_all(protect: str, partition: str, stated: str) -> None:
    together = spec(protect, partition, [f"name: in each, reads: region.*, {stated}"])
    apart = spec(protect, partition, of_each(stated))
    one, other = (analyze(text, deltas=["1e-6", "0.01"]) for text in (together, apart))
    assert one.status == other.status == "ok" and one.bound == other.bound
    assert [each.value for each in one.at_delta] == [each.value for each in other.at_delta]


@pytest.mark.parametrize("partition", ["by: value", "by: membership, max_blocks: 2"])
@pytest.mark.parametrize(
    "odd",
    [
        "notion: pure, relation: unbounded, epsilon: 2",
        "notion: pure, relation: unbounded, epsilon: 1/3, count: 6",
        "notion: pure, relation: unbounded, epsilon: 1/3, stated_on: people, count: 6",
    ],
)
def test_one_block_that_loses_more_is_the_worst(partition: str, odd: str) -> None:
    """Whichever it is: the others may not stand in for it."""
    usual = "notion: pure, relation: unbounded, epsilon: 1/3"
    found = set()
    for place in range(len(BLOCKS)):
        others = of_each(usual, (*BLOCKS[:place], *BLOCKS[place + 1 :]))
        entry = of_each(odd, BLOCKS[place : place + 1])
        report = analyze(spec("unbounded", partition, [*others, *entry]))
        assert report.bound is not None and report.worst is not None
        assert f"in {BLOCKS[place]}" in {each.mechanism for each in report.shares}
        found.add(report.bound)
    assert len(found) == 1 and found.pop().value >= 2


def test_blocks_are_alike_by_what_is_stated() -> None:
    usual = "notion: pure, relation: unbounded, epsilon: 1/3"
    entries = [*of_each(usual, BLOCKS[:3]), *of_each(usual + ", count: 2", BLOCKS[3:])]
    _, resolved = load_resolved(spec("unbounded", "by: value", entries).encode(), "")
    ((_, top),) = lay_out(resolved.problem)
    (blocks,) = top.blocks
    assert [each.like.dataset.name for each in blocks] == [
        "region.north",
        "region.north",
        "region.north",
        "region.west",
    ]
