"""The proof of a bound: every step computed again, and the theorems that are named."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import LIBRARY
from corpus.__main__ import random_specs
from recompute import recomputed
from volume import seeds, thinned

from dpcompose.core.theorems.book import BOOK
from dpcompose.pipeline import analyze
from dpcompose.render.json.proof_shape import PROOF

ACCEPTANCE = sorted((Path(__file__).parent.parent / "acceptance").glob("*.yaml"))
SPECS = [*LIBRARY.values(), *(each for each in ACCEPTANCE if each.stem != "expected")]
RANDOM = random_specs()


def proof(text: str | bytes) -> dict[str, Any] | None:
    """The proof of a spec as JSON."""
    report = analyze(text)
    found: dict[str, Any] | None = PROOF.write(report.proof)
    if found is not None:
        bound = next((x["step"] for x in found["conclusions"] if x["what"] == "bound"), None)
        of_filter = report.record is not None
        assert (bound is None) == (of_filter or report.bound is None or not report.bound.value)
    return None if found is None else json.loads(json.dumps(found))


@pytest.mark.parametrize("path", thinned(SPECS), ids=lambda path: path.stem)
def test_every_step_of_a_shipped_spec_can_be_computed_again(path: Path) -> None:
    found = proof(path.read_bytes())
    if found is not None and found["steps"]:
        without = recomputed(found, BOOK)
        assert all(step["method"] in ("greedy spread", "Rényi orders") for step in without)


@pytest.mark.parametrize("seed", seeds(60, range(len(RANDOM)), quick=20))
def test_every_step_of_a_random_spec_can_be_computed_again(seed: int) -> None:
    found = proof(RANDOM[seed])
    if found is not None and found["steps"]:
        recomputed(found, BOOK)


#: Where the reason was not the one that computes, with the theorems of the headline.
HONEST = {
    "blocks need not cover the table": (
        """
datasets:
  people: {}
  adults: {from: people, map: {kind: filter}}
  district: {from: adults, partition: {by: value, blocks: [east, west, north]}}
protect: bounded
mechanisms:
  - {name: a, reads: district.east, notion: pure, epsilon: 1, stated_on: people}
  - {name: b, reads: district.west, notion: pure, epsilon: 0.7, stated_on: people}
  - {name: c, reads: district.north, notion: pure, epsilon: 0.5, stated_on: people}
""",
        ["IV.13"],
    ),
    "blocks keyed by the user": (
        """
datasets:
  visits: {unit: person}
  of: {from: visits, partition: {by: key, column: person, blocks: [a, b]}}
protect: user
mechanisms:
  - {name: a, reads: of.a, notion: pure, epsilon: 1, relation: user}
  - {name: b, reads: of.b, notion: pure, epsilon: 0.7, relation: user}
""",
        ["V.4"],
    ),
    "a filter on a block": (
        """
datasets:
  people: {}
  district: {from: people, partition: {by: value, blocks: [east, west]}}
  adults: {from: district.east, map: {kind: filter}}
protect: unbounded
mechanisms:
  - {name: a, reads: adults, notion: pure, epsilon: 1}
  - {name: b, reads: district.west, notion: pure, epsilon: 0.7}
""",
        ["V.4"],
    ),
    "disjoint blocks at distance 3": (
        """
datasets:
  people: {}
  district: {from: people, partition: {by: value, blocks: [east, west, north]}}
protect: {relation: unbounded, distance: 3}
mechanisms:
  - {name: a, reads: district.east, notion: pure, epsilon: 1}
  - {name: b, reads: district.west, notion: pure, epsilon: 0.7}
""",
        ["V.4"],
    ),
    "disjoint blocks at distance 3 in Gaussian DP": (
        """
datasets:
  people: {}
  district: {from: people, partition: {by: value, blocks: [east, west]}}
protect: {relation: unbounded, distance: 3}
mechanisms:
  - {name: a, reads: district.east, notion: gdp, mu: 1}
  - {name: b, reads: district.west, notion: gdp, mu: 0.7}
""",
        ["VI.26"],
    ),
    "rows replaced in a Poisson sample": (
        """
datasets:
  people: {}
  drawn: {from: people, map: {kind: sample, poisson: 0.1}}
protect: bounded
mechanisms:
  - {name: a, reads: drawn, notion: pure, epsilon: 1, relation: unbounded}
  - {name: b, reads: drawn, notion: pure, epsilon: 0.7, relation: unbounded}
""",
        ["poisson-sample-replaced", "V.3"],
    ),
    "nothing follows from the sum of the ε": (
        """
datasets: {people: {}}
protect: unbounded
mechanisms:
  - {name: a, reads: people, notion: pure, epsilon: 0.1, count: 100}
report: {delta: 1e-6}
""",
        ["optimal-composition"],
    ),
    "privacy losses on disjoint blocks": (
        """
datasets:
  people: {}
  district: {from: people, partition: {by: value, blocks: [east, west]}}
protect: unbounded
mechanisms:
  - {name: a, reads: district.east, notion: approx, epsilon: 0.1, delta: 1e-4}
  - {name: b, reads: district.west, notion: gdp, mu: 0.3}
report: {delta: 1e-3}
""",
        ["profile-on-disjoint"],
    ),
    "private selection": (
        """
datasets: {people: {}}
protect: unbounded
mechanisms:
  - name: best
    reads: people
    mechanism: select
    of: {notion: pure, epsilon: 0.1}
    runs: {geometric: 10}
""",
        ["private-selection"],
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_the_theorem_that_is_named_is_the_one_that_computes(name: str) -> None:
    text, theorems = HONEST[name]
    found = proof(f"dpcompose: 1{text}")
    assert found is not None
    recomputed(found, BOOK)
    assert found["theorems"] == theorems


def test_a_reading_does_not_replace_what_it_reads() -> None:
    text = """\
dpcompose: 1
datasets: {people: {}}
protect: unbounded
mechanisms:
  - {name: a, reads: people, notion: gdp, mu: 1}
  - {name: b, reads: people, notion: gdp, mu: 2}
report: {delta: 1e-6}
"""
    found = proof(text)
    assert found is not None
    assert (found["theorems"], found["reading"]) == (["VI.23"], "gaussian-curve")
    last = found["steps"][-1]
    assert last["kind"] == "point" and "check" in last
    recomputed(found, BOOK)


def test_the_number_of_a_budget_names_its_theorem() -> None:
    text = """\
dpcompose: 1
datasets: {people: {}}
protect: unbounded
mechanisms:
  - {name: a, reads: people, notion: pure, epsilon: 0.1, count: 100}
budget: {epsilon: 5, delta: 1e-6}
"""
    found = proof(text)
    assert found is not None and found["theorems"] == ["optimal-composition"]
    assert [each["what"] for each in found["conclusions"]].count("headline") == 1
    recomputed(found, BOOK)


def test_many_cases_are_given_by_their_numbers() -> None:
    reads = "".join(
        f"  - {{name: m{n}, reads: d.b{n}, notion: pure, epsilon: {n}/1000}}\n"
        for n in range(1, 201)
    )
    blocks = ", ".join(f"b{n}" for n in range(1, 201))
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets:\n  t: {}\n"
        f"  d: {{from: t, partition: {{by: value, blocks: [{blocks}]}}}}\nmechanisms:\n{reads}"
    )
    found = proof(text)
    assert found is not None
    recomputed(found, BOOK)
    last = found["steps"][-1]
    assert (last["cases"], last["omitted"], len(last["premises"])) == (200, True, 64)
    assert last["value"]["epsilon"] == str(Fraction(1, 5))
