"""The enumeration against truths worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
import yaml
from tables import filled, tables
from volume import seeds

from . import generate
from . import truth as truth_module
from .exact import doubts, exact
from .generate import random_spec
from .tree import Unsupported, read
from .truth import search, truth


def spec(text: str) -> dict[str, Any]:
    """A spec from YAML, with what every test shares filled in."""
    made: dict[str, Any] = yaml.safe_load(text)
    for number, mechanism in enumerate(made["mechanisms"]):
        mechanism.setdefault("name", f"m{number}")
        if not {"notion", "guarantees"} & set(mechanism):
            mechanism["notion"] = "pure"
        for said in mechanism.get("guarantees", ()):
            said.setdefault("notion", "pure")
    return made


NOTIONS = {"pure", "zcdp", "gdp"}


@pytest.mark.parametrize(("text", "row"), filled(tables(__file__)))
def test_a_truth_worked_out_by_hand(text: str, row: dict[str, Any]) -> None:
    found = truth(spec(text))
    assert set(found) == NOTIONS & set(row)
    for notion, value in found.items():
        if notion == "pure" and row[notion] != math.inf:
            assert value == Fraction(str(row[notion]))
        else:
            assert value == pytest.approx(row[notion])


def test_two_datasets_in_turn() -> None:
    # From one word to two that pass: own 1 + 2.  On the words a replaced one costs 1.2, but
    # there their number changes.  One step of each: 1 + 1.2; two replaced words: 2.4.
    one = spec(
        """
        protect: bounded
        datasets:
          r: {}
          words: {from: r, map: {kind: flatten, max_rows: 2}}
          some: {from: words, map: filter}
        mechanisms:
          - reads: some
            guarantees:
              - {epsilon: 1, relation: unbounded}
              - {epsilon: 1.2, relation: bounded, stated_on: words}
        """
    )
    assert search(one)[0] == 3
    assert search(one, mixed=True)[0] == Fraction("2.4")
    assert not exact(one)


def agree(first: Fraction | float, second: Fraction | float) -> bool:
    """Whether two results are the same up to the rounding of square roots."""
    return first == second or math.isclose(first, second, rel_tol=1e-9)


def scaled(body: Any, factor: int) -> Any:
    """A spec with all its parameters multiplied."""
    if isinstance(body, Mapping):
        return {
            key: _times(value, factor) if key in ("epsilon", "rho", "mu") else scaled(value, factor)
            for key, value in body.items()
        }
    return [scaled(each, factor) for each in body] if isinstance(body, list) else body


def _times(value: Any, factor: int) -> Any:
    if isinstance(value, Mapping):
        return {key: _times(each, factor) for key, each in value.items()}
    return str(Fraction(str(value)) * factor)


class TestRandomSpecs:
    """The enumeration on random specs: it must not depend on how it is done."""

    def test_seeds_are_stable(self) -> None:
        once = [random_spec(seed) for seed in range(20)]
        generate._first_small.cache_clear()
        assert once == [random_spec(seed) for seed in range(20)]

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", range(0, 40, 2))
    def test_parameters_scale(self, seed: int) -> None:
        one = random_spec(seed)
        ((notion, value),) = truth(one).items()
        assert agree(truth(scaled(one, 4))[notion], 4 * value)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", seeds(10, range(1, 40, 2)))
    def test_whole_spaces_agree(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """Small spaces between two tables give the same as one space of all tables."""
        one = random_spec(seed)
        value, _ = search(one)
        monkeypatch.setattr(truth_module, "ALWAYS_WHOLE", True)
        monkeypatch.setattr(truth_module, "MOST_TABLES", 3000)
        whole, notes = search(one)
        assert agree(value, whole) or (notes.cut and whole < value)

    @pytest.mark.slow
    def test_doubts(self) -> None:
        one = spec(
            """
            protect: unbounded
            datasets: {r: {}, d: {from: r, map: {kind: stable, stability: 2}}}
            mechanisms: [{reads: d, epsilon: 1, stated_on: r}]
            """
        )
        assert doubts(one) == ["a statement above a map of which only the stability is known"]

    @pytest.mark.parametrize(
        "body",
        [
            # A user without a cap.
            "protect: user\ndatasets: {visits: {unit: user_id}}\n"
            "mechanisms: [{reads: visits, epsilon: 1, relation: unbounded}]",
            "protect: node\ndatasets: {r: {}}\nmechanisms: [{reads: r, epsilon: 1}]",
            "protect: bounded\ndatasets: {r: {}, d: {from: r, map: opaque}}\n"
            "mechanisms: [{reads: d, epsilon: 1}]",
            "protect: unbounded\ndatasets: {r: {domain: fixed-size-table}}\n"
            "mechanisms: [{reads: r, epsilon: 1}]",
        ],
    )
    def test_unsupported(self, body: str) -> None:
        with pytest.raises(Unsupported):
            read(spec(body))
