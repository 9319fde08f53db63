"""What GitHub shows of a run: as much of a summary and as many annotations as it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app
from dpcompose.render.parts.inline import within_summary

BAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {r: {}}\nmechanisms: []\nbudget: {epsilon: 2}\n"


def test_a_summary_holds_whole_lines_and_says_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [piece for _ in range(10) for piece in ("| a ", "| é |\n")]
    pieces = ["## Head\n", *rows, "\n10 rows\n", "x" * 70 + "\n", "last\n"]
    assert "".join(within_summary(pieces)) == "".join(pieces)
    monkeypatch.setattr("dpcompose.render.parts.inline._MOST_BYTES", 100)
    *kept, note = within_summary(pieces)
    assert "".join(kept) == "## Head\n" + "| a | é |\n" * 3 + "\n10 rows\n"
    assert note.startswith("\n**7 rows and 2 parts left out: ")


@pytest.mark.parametrize("form", ["markdown", "github"])
def test_nothing_is_longer_than_github_shows(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpcompose.render.parts.inline._MOST_BYTES", 2_000)
    (tmp_path / "s.yaml").write_text("---\n".join([BAD] * 30), encoding="utf-8")
    out = CliRunner().invoke(app, ["check", "s.yaml", "--format", form]).stdout
    if form == "markdown":
        assert len(out.encode()) < 2_500 and "30 specs: 30 invalid" in out and "left out" in out
        return
    lines = out.splitlines()
    assert [line.startswith("::error ") for line in lines] == [True] * 10 + [False] * 21
    assert lines[10].startswith("dpcompose: s.yaml:") and "[DPC108]" in lines[10]
    assert lines[-1].startswith("dpcompose: 20 errors more than the 10 annotations of a level")
