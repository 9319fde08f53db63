"""Batches of epochs, and rows that become nulls: against all orders of a few rows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from asked import bound, numbers, report, spec
from reference.finite_laws import worse

import dpcompose
from dpcompose.core.change.maps.batches import Batches
from dpcompose.core.change.maps.kind import Readers
from dpcompose.core.change.row_facts import Traits
from dpcompose.core.change.units import PAIR, SINGLE, Kind

Law = dict[tuple[int, ...], float]
AT = ("0", "1/4", "1/2", "1", "3/2")


def batches(
    mechanism: str,
    protect: str = "zero-out",
    epochs: int = 2,
    root: str = "{domain: fixed-size-table, size: 100}",
    more: str = "",
) -> str:
    """A mechanism on shuffled batches."""
    made = f"batch: {{from: rows, map: {{kind: batches, epochs: {epochs}}}}}"
    return spec(mechanism, protect=protect, root=root, datasets=made, more=more)


# --- numbers by the exact formula of a Gaussian ---------------------------------------------------


@pytest.mark.parametrize(
    ("protect", "sigma", "sensitivity", "epochs", "epsilon"),
    [
        ("zero-out", "0.5", "1", 1, 10.9971512142),
        ("zero-out", "0.4", "1", 1, 14.4507769660),
        ("zero-out", "5", "1", 10, 2.92160059043),
        ("bounded", "0.5", "{bounded: 2}", 1, 26.3569639253),
        ("bounded", "0.5", "1", 1, 26.3569639253),
    ],
)
def test_gaussian_sums_of_batches(
    protect: str, sigma: str, sensitivity: str, epochs: int, epsilon: float
) -> None:
    mechanism = f"mechanism: gaussian, sigma: {sigma}, sensitivity: {sensitivity}"
    root = "{}" if sensitivity == "1" else "{domain: fixed-size-table}"
    text = batches(mechanism, protect, epochs, root, "report: {delta: 1e-6}\n")
    [found] = numbers(text)
    assert epsilon <= float(found) * (1 + 1e-11) <= epsilon * (1 + 1e-9)


# --- all orders -----------------------------------------------------------------------------------


def released(rows: tuple[int, ...], law: dict[int, tuple[float, float]], epochs: int) -> Law:
    """The law of one random bit for each batch of one row, each epoch in a random order."""
    orders = list(itertools.permutations(rows))
    found: Law = {(): 1.0}
    for _ in range(epochs):
        longer: Law = {}
        for before, chance in found.items():
            for order in orders:
                for bits in itertools.product((0, 1), repeat=len(rows)):
                    likely = math.prod(law[row][bit] for row, bit in zip(order, bits, strict=True))
                    key = (*before, *bits)
                    longer[key] = longer.get(key, 0.0) + chance * likely / len(orders)
        found = longer
    return found


@pytest.mark.parametrize("protect", ["bounded", "zero-out"])
def test_no_bound_is_below_shuffled_batches(protect: str) -> None:
    """Each batch tells one randomized bit of its row, with odds of e; a null has even odds."""
    odds = math.e
    high, low = odds / (1 + odds), 1 / (1 + odds)
    law = {0: (high, low), 1: (low, high), 2: (0.5, 0.5)}
    step = "1" if protect == "bounded" else "0.6201145069582775"  # ln(2e/(1+e)), rounded up
    mechanism = f"notion: pure, epsilon: {step}, relation: {protect}"
    text = batches(mechanism, protect, more=f"report: {{epsilon: [{', '.join(AT)}]}}\n")
    bounds = dict(zip(AT, numbers(text), strict=True))
    other = 1 if protect == "bounded" else 2
    for rest in itertools.product((0, 1), repeat=2):
        one = released((0, *rest), law, 2)
        two = released((other, *rest), law, 2)
        p, q = (np.array([law[key] for key in one]) for law in (one, two))
        for at, delta in bounds.items():
            assert worse(p, q, float(Fraction(at))) <= float(delta) * (1 + 1e-9) + 1e-12


# --- the map --------------------------------------------------------------------------------------


def test_what_a_row_becomes() -> None:
    three, nulls = Batches(3), Traits(nulls=True)
    assert three.becomes(PAIR, Traits())[0].units[0][0].kind is Kind.PAIR
    assert three.becomes(SINGLE, nulls)[0].units[0][0].kind is Kind.SINGLE
    assert three.becomes(SINGLE, Traits())[0].units[0][0].kind is Kind.ANY
    displaced = SINGLE._replace(displaced=True)
    assert three.becomes(displaced, nulls)[0].units[0][0].kind is Kind.ANY
    assert three.traits_after(nulls).nulls and three.describe() == "shuffled batches of 3 epochs"
    ((said, at),) = Batches(1, "fixed").declares("b", Readers(("a",), 1))
    assert "each of 1 epoch, in one order" in said and at == ("epochs",)


def test_every_epoch_counts_and_every_copy() -> None:
    once = bound(batches("notion: zcdp, rho: 1/10", epochs=1))
    assert bound(batches("notion: zcdp, rho: 1/10, count: 2", epochs=5)) == 10 * once


def test_a_row_that_comes_or_goes_moves_the_others() -> None:
    found = dpcompose.analyze(batches("notion: pure, epsilon: 1", "unbounded", root="{}"))
    assert found.status == "no-guarantee"
    filtered = batches("notion: pure, epsilon: 1").replace(
        "  batch: {from: rows", "  some: {from: rows, map: filter}\n  batch: {from: some"
    )
    assert dpcompose.analyze(filtered).status == "no-guarantee"


def test_zero_out_is_as_one_row_more_where_nulls_are_ignored() -> None:
    """A Poisson sample and sums: the same laws, with and without nulls."""
    zero, plain = (
        report(
            spec(
                "mechanism: gaussian, sigma: 2, sensitivity: 1, count: 30",
                protect=each,
                datasets="s: {from: rows, map: {kind: sample, poisson: 1/10}}",
                more="report: {delta: 1e-6}",
            )
        )
        for each in ("zero-out", "unbounded")
    )
    assert zero.at_delta[0].value == plain.at_delta[0].value
    assert zero.relation == "zero-out"


def test_a_row_map_makes_a_null_of_a_null() -> None:
    gaussian = "mechanism: gaussian, sigma: 3, sensitivity: 1"
    direct = bound(batches(gaussian, "zero-out", root="{}"))
    text = batches(gaussian, "zero-out", root="{}").replace(
        "  batch: {from: rows", "  scaled: {from: rows, map: row}\n  batch: {from: scaled"
    )
    assert bound(text) == direct
