"""Documents of a file in another order are the same specs, and no order hides an increase."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as some

from dpcompose.planning.pairing import pairs


class Doc(NamedTuple):
    """A release of one mechanism, in short."""

    dataset: str
    mechanism: str
    epsilon: int
    title: str = ""
    population: str = "p"

    @property
    def text(self) -> str:
        title = f"title: {self.title}\n" if self.title else ""
        return (
            f"---\n{title}dpcompose: 1\npopulation: {self.population}\nprotect: unbounded\n"
            f"datasets: {{{self.dataset}: {{}}}}\nmechanisms:\n  - {{name: {self.mechanism}, "
            f"reads: {self.dataset}, notion: pure, epsilon: {self.epsilon}}}\n"
        )


def paired(old: str, new: str) -> list[tuple[int | None, int | None]]:
    """Pairs of documents, each `DATASET.MECHANISM=EPSILON`, with `/TITLE` after it or not."""

    def read(text: str) -> list[str]:
        found = []
        for each in text.split():
            body, _, title = each.partition("/")
            names, _, epsilon = body.partition("=")
            dataset, mechanism = names.split(".")
            found.append(Doc(dataset, mechanism, int(epsilon), title).text)
        return found

    return pairs(read(old), read(new))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("a.m=1 b.m=2", "b.m=2 a.m=1", [(1, 0), (0, 1)]),
        ("a.m=1 b.m=2 c.m=3", "c.m=3 b.m=4 a.m=1", [(2, 0), (1, 1), (0, 2)]),
        ("a.m=1 b.m=2", "b.m=3 a.m=4", [(1, 0), (0, 1)]),  # reordered and changed
        ("a.m=1 b.m=2", "b.n=3 a.m=4", [(1, 0), (0, 1)]),  # another mechanism of the dataset
        ("a.m=1 a.n=2", "a.n=3 a.m=4", [(1, 0), (0, 1)]),  # mechanisms tell them apart
        ("a.m=1/x a.m=2/y", "a.m=3/y a.m=4/x", [(1, 0), (0, 1)]),  # so do titles
        ("a.m=1 b.m=2", "b.m=2", [(1, 0), (0, None)]),  # the first one is gone
        ("a.m=1", "b.m=2 a.m=1", [(None, 0), (0, 1)]),  # a new one above
        ("a.m=1 a.m=1 b.m=2", "b.m=2 a.m=1 a.m=1", [(2, 0), (1, 1), (0, 2)]),  # twice the same
        # What no name tells apart keeps its position.
        ("a.m=1 a.m=2", "a.m=3 a.m=4", [(0, 0), (1, 1)]),
        ("a.m=1 b.m=2", "c.m=1 d.m=2", [(0, 0), (1, 1)]),
        ("a.m=1/x a.n=2/y", "a.n=4/x a.m=1/y", [(1, 0), (0, 1)]),
        # An increase is a new release where the rest seems to have moved.
        ("a.m=1 b.m=5", "a.m=4 a.m=1", [(None, 0), (0, 1), (1, None)]),
        ("a.m=1 b.m=5", "c.m=4 a.m=1", [(None, 0), (0, 1), (1, None)]),
        ("a.m=1 b.m=5 c.m=3", "c.m=3 a.m=4 a.m=1", [(2, 0), (None, 1), (0, 2), (1, None)]),
    ],
)
def test_documents_are_paired_by_what_they_are(
    old: str, new: str, found: list[tuple[int | None, int | None]]
) -> None:
    assert paired(old, new) == found


def test_what_is_no_spec_is_paired_by_its_text_or_its_position() -> None:
    spec = Doc("a", "m", 1).text
    assert pairs([spec, "x: ["], ["x: [", spec]) == [(1, 0), (0, 1)]
    assert pairs([spec, "x: ["], [spec, "y: ["]) == [(0, 0), (1, 1)]
    assert pairs([b"\xff\xfe---", "- 1"], ["- 1", b"\xff\xfe---"]) == [(1, 0), (0, 1)]
    assert pairs([], [spec]) == [(None, 0)] and pairs([spec], []) == [(0, None)]


DOCS = some.lists(
    some.builds(
        Doc,
        some.sampled_from("ab"),
        some.sampled_from("mn"),
        some.integers(1, 4),
        some.sampled_from(["", "x", "y"]),
        some.sampled_from("pq"),
    ),
    max_size=4,
)


@given(DOCS, DOCS)
def test_no_order_hides_an_increase(old: list[Doc], new: list[Doc]) -> None:
    """Where no pair grows, all that is spent on a dataset has not grown, or the documents stand in
    the order in which they would be compared anyway."""
    found = pairs([each.text for each in old], [each.text for each in new])
    assert sorted(at for _, at in found if at is not None) == [*range(len(new))]
    assert sorted(at for at, _ in found if at is not None) == [*range(len(old))]
    if found == [(was, now) for was, now in zip_longest(range(len(old)), range(len(new)))]:
        return
    assert all(
        was == now
        or (old[was].dataset, old[was].population) == (new[now].dataset, new[now].population)
        for was, now in found
        if was is not None and now is not None
    )
    grows = any(
        now is not None and (was is None or new[now].epsilon > old[was].epsilon)
        for was, now in found
    )
    spent = [Counter[tuple[str, str]](), Counter[tuple[str, str]]()]
    for total, side in zip(spent, (old, new), strict=True):
        for each in side:
            total[each.dataset, each.population] += each.epsilon
    assert grows or spent[1] <= spent[0]


@given(some.permutations([Doc("a", "m", 1), Doc("a", "m", 1), Doc("b", "m", 2), Doc("b", "n", 3)]))
def test_another_order_alone_is_no_change(new: list[Doc]) -> None:
    old = [Doc("a", "m", 1), Doc("a", "m", 1), Doc("b", "m", 2), Doc("b", "n", 3)]
    found = pairs([each.text for each in old], [each.text for each in new])
    assert all(was is not None and now is not None and old[was] == new[now] for was, now in found)
