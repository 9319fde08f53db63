"""The file format: what is read, what the JSON Schema accepts, and that both agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import LIBRARY
from jsonschema import Draft7Validator, Draft202012Validator
from tables import tables

import dpcompose
from dpcompose.errors import InvalidSpec
from dpcompose.faults import Faults
from dpcompose.render.json.shapes import in_draft_7
from dpcompose.source import Number, Value, load
from dpcompose.spec import Spec, json_schema, read

TABLES = tables(__file__)

TESTS = Path(__file__).parents[1]
BAD = sorted((TESTS / "bad").glob("*.yaml"))
SPECS = [*LIBRARY.values()]
VALIDATOR = Draft202012Validator(json_schema())
OLDER = Draft7Validator(in_draft_7(json_schema()))

#: One spec with every part of the language in it.
EVERYTHING = """
dpcompose: 1
title: 2026
protect: {relation: bounded, distance: 3, keeps: [user_id, 7]}
adaptivity: independent
roots: disjoint
relations: {household: {within: unbounded, distance: 6}}
constants: {total: 293764/114921, part: total * 1440/4099}
report: {delta: [1e-6, total / 1e9, 0], epsilon: 1}
datasets:
  visits: {domain: ordered-table, unit: user_id, size: 100}
  sizes: {domain: fixed-size-table, size: 5}
  social: {domain: graph, max_degree: 50}
  adults: {from: visits, map: {kind: filter, drops: true}}
  clean: {from: adults, map: {kind: row, keeps: [user_id]}}
  words: {from: clean, map: {kind: flatten, max_rows: 3, exact: false, keeps: [user_id]}}
  few: {from: words, map: {kind: limit, per: city, rows: 2, keep: first, order: date}}
  capped: {from: few, map: {kind: cap, rows: 3, keep: random}}
  users: {from: capped, map: {kind: group, by: user_id}}
  joined: {from: users, map: {kind: stable, stability: 2}}
  mean: {from: joined, map: {kind: value, metric: euclidean, sensitivity: 1/2, diameter: 3}}
  place: {from: users, map: {kind: value, sensitivity: {unbounded: 1, bounded: 1.5}}}
  e: {from: social, map: edges}
  n: {from: social, map: {kind: nodes}}
  odd: {from: n, map: opaque}
  batch: {from: clean, map: {kind: sample, poisson: 256/60000}}
  drawn: {from: sizes, map: {kind: sample, size: 2, of: 5, draws: one}}
  district: {from: adults, partition: {by: value, blocks: [north, 2], drops: true}}
  person: {from: district.*, partition: {by: key, column: user_id, blocks: 10}}
  fold: {from: visits, partition: {by: position, blocks: 3}}
  clinic:
    from: capped
    partition:
      {by: membership, blocks: 12, max_blocks: 3, max_blocks_per_unit: 2, max_rows_per_block: 1}
  feature: {from: clean, partition: {by: kinds, kinds: {free: [common, ads], other: []}}}
mechanisms:
  - {name: a, reads: visits, notion: pure, epsilon: 0.5}
  - {name: b, reads: district.*, notion: approx, epsilon: {north: 1, 2: total}, delta: 1e-6}
  - {name: c, reads: district.2, notion: zcdp, rho: part / 2, stated_on: visits, count: 3}
  - {name: d, reads: person.7, notion: gdp, mu: 1e-400, relation: bounded}
  - name: several
    reads: feature.common
    guarantees:
      - {notion: pure, epsilon: 1, relation: {relation: bounded, keeps: [user_id]}}
      - {notion: zcdp, rho: 0.1, relation: unbounded, stated_on: clean}
  - {name: f, reads: mean, notion: pure, epsilon: 1, relation: euclidean}
  - {name: g, post_processes: [a, several]}
  - {name: h, reads: batch, mechanism: gaussian, sigma: 1.1, sensitivity: 1, count: 14062}
  - {name: i, reads: district.*, mechanism: laplace, scale: {north: 1, 2: 2}, sensitivity: 1/2}
  - {name: j, reads: visits, mechanism: geometric, scale: part, sensitivity: {unbounded: 1}}
  - name: k
    reads: district.*
    mechanism: discrete-gaussian
    sigma: 3
    sensitivity: {unbounded: {north: 1, 2: 2}, bounded: 2}
  - {name: l, reads: visits, mechanism: exponential, epsilon: 1, sensitivity: 1, relation: bounded}
  - {name: m, reads: visits, mechanism: randomized-response, epsilon: ln3, k: 4}
  - {name: n, reads: visits, notion: rdp, alpha: 8, epsilon: 0.1}
  - {name: o, reads: visits, notion: rdp, points: [[2, 0.1], {alpha: 4, epsilon: part}]}
  - {name: p, reads: visits, notion: rdp, points: {2: 0.1, 4.5: 0.2}}
  - {name: q, reads: visits, notion: profile, points: [[0, 0.1], {epsilon: 1, delta: 1e-6}]}
  - name: r
    reads: visits
    guarantees:
      - {notion: rdp, points: [[2, 0.1]], stated_on: visits}
      - {notion: profile, points: [[1, 0.1]], relation: bounded}
budget: {epsilon: 1, delta: 1e-6}
"""


def reading(text: str) -> Spec:
    source = load(text, "spec.yaml")
    faults = Faults(source)
    result = read(source, faults)
    faults.raise_if_any()
    assert result is not None
    return result[0]


def plain(tree: Value) -> Any:
    """The tree as other YAML 1.2 tools see it."""
    match tree:
        case Number():
            try:
                return int(tree)
            except ValueError:
                return float(tree.replace(".i", "i").replace(".n", "n"))
        case dict():
            return {key: plain(value) for key, value in tree.items()}
        case list():
            return [plain(value) for value in tree]
        case _:
            return tree


def accepted(text: str) -> bool:
    """Whether the JSON Schema accepts a spec."""
    return VALIDATOR.is_valid(plain(load(text, "spec.yaml").value))


def test_everything_is_read() -> None:
    spec = reading(EVERYTHING)
    assert isinstance(spec, Spec)
    assert spec.title == "2026"
    assert len(spec.datasets) == 22
    assert len(spec.mechanisms) == 18


def test_numbers_keep_their_text() -> None:
    mechanisms = reading(EVERYTHING).mechanisms
    assert mechanisms[3].model_dump()["mu"] == "1e-400"
    assert mechanisms[1].model_dump()["epsilon"] == {"north": "1", "2": "total"}


@pytest.mark.slow
def test_the_schema_is_valid_and_accepts_everything() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert json_schema()["$schema"].endswith("2020-12/schema")
    errors = [each.message for each in VALIDATOR.iter_errors(plain(load(EVERYTHING, "x").value))]
    assert not errors


@pytest.mark.slow
@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_schema_accepts_the_example_specs(path: Path) -> None:
    assert accepted(path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_schema_and_reader_agree_on_bad_specs(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    codes = {line.split()[2] for line in text.splitlines() if line.startswith("# ")}
    try:
        reading(text)
    except InvalidSpec:
        # An open question differs from a name by its missing quotes, which a schema does not see.
        assert accepted(text) == (codes == {"DPC119"})
    else:
        # What is wrong is then a matter of meaning, which may show in the form: a dot, a sign.
        assert accepted(text) or codes & {"DPC108", "DPC109", "DPC110", "DPC111", "DPC112"}


@pytest.mark.slow
@pytest.mark.parametrize("path", [*SPECS, *BAD], ids=lambda path: path.stem)
def test_the_schema_in_draft_7_judges_alike(path: Path) -> None:
    document = plain(load(path.read_text(encoding="utf-8"), "x").value)
    assert OLDER.is_valid(document) == VALIDATOR.is_valid(document)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), TABLES["schema and reader refuse the same"])
def test_schema_and_reader_refuse_the_same(old: str, new: str) -> None:
    assert EVERYTHING.count(old) >= 1
    text = EVERYTHING.replace(old, new, 1)
    with pytest.raises(InvalidSpec):
        reading(text)
    assert not accepted(text)


def test_every_object_of_the_schema_is_described_and_closed() -> None:
    schema = json_schema()
    for name, each in [("Spec", schema), *schema["$defs"].items()]:
        assert each["additionalProperties"] is False, name
        assert each["description"] and each["title"], name
        for key, field in each["properties"].items():
            constant = "const" in field
            assert constant or field.get("description"), f"{name}.{key}"
    assert '"null"' not in str(schema).replace("'", '"')


def test_what_is_faulty_is_left_out_and_the_rest_is_read() -> None:
    source = load(EVERYTHING.replace("notion: gdp", "notion: gpd").replace("title", "titel"), "x")
    result = read(source, Faults(source))
    assert result is not None
    spec, broken = result
    assert broken == {("mechanisms", 3), ("titel",)}
    whole = reading(EVERYTHING).mechanisms
    assert [each.name for each in spec.mechanisms] == [
        each.name for i, each in enumerate(whole) if i != 3
    ]


@pytest.mark.slow
@pytest.mark.parametrize("number", [20_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_very_many_mechanisms_are_read(number: int) -> None:
    head = "dpcompose: 1\nprotect: bounded\ndatasets: {rows: {}}\nmechanisms:\n"
    entry = "  - {{name: m{}, reads: rows, notion: approx, epsilon: 0.1, delta: 1e-6}}\n"
    source = load(head + "".join(entry.format(i) for i in range(number)), "x")
    result = read(source, Faults(source))
    assert result is not None and len(result[0].mechanisms) == number


def test_a_whole_number_may_be_a_product() -> None:
    text = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\nmechanisms:\n- {name: a, reads: t, "
    )
    found, known = (
        dpcompose.analyze(f"{text}notion: pure, epsilon: 1/1000, count: {count}}}")
        for count in ("30 * 2350", "70500")
    )
    assert found.bound == known.bound and found.bound is not None
    for wrong in ("2 * 1000000000", "2 * -3", "2 * 0", "2 ** 3", "2 * x"):
        assert (
            dpcompose.analyze(f"{text}notion: pure, epsilon: 1, count: {wrong}}}").status
            == "invalid"
        )
