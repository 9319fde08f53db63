"""Interactive mechanisms that are open at the same time: every way to question two of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role

#: A mechanism that answers two questions: the chance of "yes" by its input, the question and the
#: first question with its answer (None: it is the first).
Answers = dict[tuple[int, int, tuple[int, int] | None], Fraction]


def of_seed(seed: int) -> Answers:
    found: Answers = {}
    pasts: list[tuple[int, int] | None] = [None, (0, 0), (0, 1), (1, 0), (1, 1)]
    for n, (table, asked, past) in enumerate(product((0, 1), (0, 1), pasts)):
        found[table, asked, past] = Fraction(3 + (seed * (n + 2) * 7919 + n * n) % 5, 11)
    return found


def chance(
    of: Answers, table: int, asked: int, past: tuple[int, int] | None, told: int
) -> Fraction:
    yes = of[table, asked, past]
    return yes if told else 1 - yes


def alone(of: Answers) -> Fraction:
    """The largest ratio of likelihoods that one analyst of this mechanism can see."""
    return max(
        chance(of, t, first, None, a)
        * chance(of, t, second, (first, a), b)
        / (chance(of, 1 - t, first, None, a) * chance(of, 1 - t, second, (first, a), b))
        for t, first, second, a, b in product((0, 1), repeat=5)
    )


def interleaved(one: Answers, two: Answers) -> Iterator[Fraction]:
    """The ratios for every order in which two mechanisms are asked twice each, whatever is asked:
    an analyst who decides by the answers sees one of these conversations."""
    orders = {"1122", "1212", "1221", "2112", "2121", "2211"}
    for order, asked, told in product(orders, product((0, 1), repeat=4), product((0, 1), repeat=4)):
        ratio = Fraction(1)
        past: dict[str, tuple[int, int] | None] = {"1": None, "2": None}
        for who, question, answer in zip(order, asked, told, strict=True):
            of = one if who == "1" else two
            ratio *= chance(of, 0, question, past[who], answer)
            ratio /= chance(of, 1, question, past[who], answer)
            past[who] = question, answer
        yield ratio


@pytest.mark.parametrize("seed", range(4))
def test_in_every_order_the_losses_of_pure_mechanisms_add_up(seed: int) -> None:
    one, two = of_seed(seed), of_seed(seed + 10)
    whole = max(max(ratio, 1 / ratio) for ratio in interleaved(one, two))
    assert whole <= alone(one) * alone(two)


@pytest.mark.parametrize(
    "notion, entry",
    [
        (Notion.PURE, "concurrent-pure"),
        (Notion.APPROX, "concurrent-approx"),
        (Notion.ZCDP, "concurrent-zcdp"),
        (Notion.GDP, "concurrent"),
        (Notion.PROFILE, "concurrent"),
    ],
)
def test_each_notion_has_its_theorem(notion: Notion, entry: str) -> None:
    assert in_role(Role.CONCURRENT, notion).id == entry
    assert in_role(Role.CONCURRENT_FILTER).id == "concurrent-filter"
