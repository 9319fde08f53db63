"""What beginners write, and the whole text of what they are told: a spec and a text each."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, Golden

from dpcompose import analyze
from dpcompose.render.console import printed
from dpcompose.render.diagnostics import diagnostics
from dpcompose.render.layout import Style

SPECS = sorted((GOLDEN / "mistakes").glob("*.dp.yaml"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name.partition(".")[0])
def test_a_mistake_is_told(path: Path, golden: Golden) -> None:
    name = path.name.partition(".")[0]
    style = Style()
    report = analyze(path.read_text(encoding="utf-8"), f"{name[3:]}.dp.yaml")
    golden(f"mistakes/{name}.txt", printed(diagnostics(report, style), style))
