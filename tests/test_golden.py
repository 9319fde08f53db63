"""Every example spec gives the text and the JSON that are kept in tests/golden."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import GOLDEN, Golden

from dpcompose.analyze import analyze
from dpcompose.render import RENDERERS
from dpcompose.render.json import result
from dpcompose.render.layout import Style
from dpcompose.report import Report

SPECS = sorted((Path(__file__).parent.parent / "specs").glob("*.yaml"))


@pytest.fixture(params=SPECS, ids=lambda path: path.stem)
def report(request: pytest.FixtureRequest) -> Report:
    path: Path = request.param
    return analyze(path.read_bytes(), f"specs/{path.name}")


def test_text(report: Report, golden: Golden) -> None:
    name = Path(report.file).stem
    golden(f"specs/{name}.txt", "".join(RENDERERS["text"]([report], Style())))


def test_json(report: Report, golden: Golden) -> None:
    name = Path(report.file).stem
    golden(f"specs/{name}.json", json.dumps(result(report), indent=2) + "\n")


def test_no_golden_file_has_lost_its_spec() -> None:
    kept = {path.stem for path in (GOLDEN / "specs").glob("*.*")}
    assert kept == {path.stem for path in SPECS}
