"""What beginners write, and the whole text of what they are told: a spec and a text each."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from conftest import GOLDEN, Golden
from contracts import checked
from volume import thinned

from dpcompose import analyze
from dpcompose.render import json as json_renderer
from dpcompose.render.exports import sarif
from dpcompose.render.layout import Style
from dpcompose.render.parts.console import printed
from dpcompose.render.parts.diagnostics import findings_of
from dpcompose.report import Report

SPECS = sorted((GOLDEN / "mistakes").glob("*.dp.yaml"))
SARIF = Path(__file__).parents[1] / "schemas" / "sarif-2.1.0-reduced.json"

every_mistake = pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name.partition(".")[0])


def report(path: Path) -> Report:
    return analyze(path.read_text(encoding="utf-8"), path.name[3:])


@every_mistake
def test_a_mistake_is_told(path: Path, golden: Golden) -> None:
    style = Style()
    name = path.name.partition(".")[0]
    golden(f"mistakes/{name}.txt", printed(findings_of(report(path), style), style))


@pytest.mark.parametrize("path", thinned(SPECS), ids=lambda path: path.name.partition(".")[0])
def test_a_mistake_fits_every_page(path: Path) -> None:
    for width in (40, 60, 120):
        for encoding in ("utf-8", "ascii"):
            style = Style(width, False, encoding)
            shown = printed(findings_of(report(path), style), style)
            assert shown.isascii() or encoding == "utf-8"
            assert max(map(len, shown.splitlines())) <= width


@every_mistake
def test_machines_are_told_the_same(path: Path) -> None:
    found = report(path)
    text = "".join(json_renderer.render([found], Style(), True))
    told = checked("result", text)["results"][0]["findings"]
    log = json.loads("".join(sarif.render([found], Style(), True)))
    jsonschema.Draft202012Validator(json.loads(SARIF.read_text(encoding="utf-8"))).validate(log)
    results = log["runs"][0]["results"]
    by_place = {(each.code, each.span and each.span.line): each for each in found.findings}
    assert len(by_place) <= len(told)
    certain = [each for each in told if each.get("fix", {}).get("certain")]
    fixed = [each for each in results if "fixes" in each]
    assert len(certain) == len(fixed)
    for one, other in zip(certain, fixed, strict=True):
        (change,) = other["fixes"][0]["artifactChanges"]
        regions = [each["deletedRegion"] for each in change["replacements"]]
        assert [each["startLine"] for each in regions] == [
            each["line"] for each in one["fix"]["edits"]
        ]
