"""Every example spec gives the text and the JSON that are kept in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import GOLDEN, LIBRARY, Golden

from dpcompose.pipeline import analyze
from dpcompose.render import renderer
from dpcompose.render.json import dumped, result
from dpcompose.render.layout import Style
from dpcompose.report import Report
from dpcompose.spec import json_schema

SPECS = [*LIBRARY.values()]


@pytest.fixture(scope="module", params=SPECS, ids=lambda path: path.stem)
def report(request: pytest.FixtureRequest) -> Report:
    path: Path = request.param
    return analyze(path.read_bytes(), f"specs/{path.parent.name}/{path.name}")


@pytest.mark.slow
def test_text(report: Report, golden: Golden) -> None:
    name = Path(report.file).stem
    golden(f"specs/{name}.txt", "".join(renderer("text")([report], Style())))


@pytest.mark.slow
def test_json(report: Report, golden: Golden) -> None:
    name = Path(report.file).stem
    golden(f"specs/{name}.json", json.dumps(result(report), indent=2) + "\n")


def test_no_golden_file_has_lost_its_spec() -> None:
    kept = {path.stem for path in (GOLDEN / "specs").glob("*.*")}
    assert kept == {path.stem for path in SPECS}


def test_the_schema_beside_the_specs_is_the_one_that_is_printed() -> None:
    # Made by `dpcompose schema > specs/spec.schema.json`.
    kept = (SPECS[0].parents[1] / "spec.schema.json").read_text(encoding="utf-8")
    assert kept == dumped(json_schema(), indent=2)
