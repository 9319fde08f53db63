"""What a record says no longer: whatever is not told of a change makes no release cost less."""

from __future__ import annotations

import copy
import random
from fractions import Fraction
from typing import Any

import pytest
import yaml
from tables import tables
from volume import seeds

from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import InvalidSpec
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.rewrites import less, since
from dpcompose.planning.ledger.totals import TotalAsked, add_up
from dpcompose.resolve import resolve
from dpcompose.source import load

TABLES = tables(__file__)

BASE = TABLES["base"]  # fmt: skip
NUMBERS = ("rho", "epsilon", "mu", "sigma", "scale", "sensitivity", "count")
LIMIT = Budget((("rho", Fraction(100)),))


def release(tree: dict[str, Any], file: str) -> Release:
    text = yaml.safe_dump(tree, sort_keys=False).replace("'", "")
    return Release(file, resolve(load(text, file)), file=file)


def spent(*releases: Release) -> Fraction:
    (total,) = add_up(releases, TotalAsked(LIMIT, filter=Notion.ZCDP)).totals
    assert total.record is not None and total.record.spent is not None, total
    return total.record.spent[0][1]


def edited(tree: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The tree with one entry changed: a number, what is read, a key, an entry."""
    tree = copy.deepcopy(tree)
    mechanism = rng.choice(tree["mechanisms"])
    match rng.randrange(8):
        case 0 | 1:
            key = rng.choice([key for key in NUMBERS if key in mechanism])
            mechanism[key] = rng.choice(["1", "2", "4"] if key == "count" else ["0.5", "2", "9"])
        case 2:
            mechanism["reads"] = rng.choice(["people", "by.a", "by.b", "by.*", "adults", "twice"])
        case 3:
            tree["mechanisms"].remove(mechanism)
        case 4:
            tree["mechanisms"].append({**mechanism, "name": "new", "reads": "by.b"})
        case 5:
            tree["datasets"]["twice"]["map"]["max_rows"] = rng.choice(["1", "2", "5"])
        case 6:
            tree["constants"]["rho"] = rng.choice(["0.01", "0.02", "0.05"])
        case 7:
            key, value = rng.choice([("roots", "disjoint"), ("adaptivity", "independent")])
            if rng.random() < 0.5:
                tree[key] = value
            else:
                tree["datasets"][rng.choice(["other", "people"])] = {"columns": ["age"]}
    return tree


@pytest.mark.parametrize("seed", seeds(30, range(60), quick=10))
def test_what_is_not_told_costs_no_less(seed: int) -> None:
    rng = random.Random(seed)
    old, new, context = BASE, BASE, BASE
    try:
        for _ in range(rng.randrange(3)):
            old = edited(old, rng)
        new = old
        for _ in range(rng.randrange(1, 4)):
            new = edited(new, rng)
        for _ in range(rng.randrange(3)):
            context = edited(context, rng)
        was, now, beside = release(old, "a"), release(new, "a"), release(context, "b")
    except InvalidSpec:
        return
    (found,) = since([was], [now], LIMIT)
    assert found.less == tuple(less(was, now, LIMIT))
    if spent(now) < spent(was) or spent(now, beside) < spent(was, beside):
        assert found.less and found.counted is was
    else:
        assert found.counted is (was if found.less else now)


def test_most_changes_are_judged_both_ways() -> None:
    """The test above is no empty one: many changes are told, and many are not."""
    whole = release(BASE, "a")
    told = [any(less(whole, release(edited(BASE, random.Random(seed)), "a"))) for seed in range(60)]
    assert 10 <= sum(told) <= 50
