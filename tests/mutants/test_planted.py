"""The planted faults still apply, and there are enough of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .planted import ROOT, Fault, faults


def test_every_snippet_still_applies() -> None:
    unfit = [why for fault in faults() if (why := fault.unfit()) is not None]
    assert not unfit, "\n".join(unfit)


def test_there_are_many_faults_and_each_has_its_room() -> None:
    every = faults()
    assert len(every) >= 140
    assert len({(each.file, each.old, each.new) for each in every}) == len(every)
    assert all((ROOT / each.room).is_dir() for each in every)
    assert all((ROOT / each.tests).exists() for each in every if each.tests)
    assert all(each.breaks and len(each.breaks) < 100 for each in every)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("x = 1", "x = 2", None),
        ("y", "z", "fault 7 (it breaks): snippet not found in dpcompose/a/b.py"),
        ("x", "z", "fault 7 (it breaks): snippet found 2 times in dpcompose/a/b.py"),
        ("x = 1", "x = 1", "fault 7 (it breaks): snippet unchanged in dpcompose/a/b.py"),
    ],
)
def test_what_is_planted(tmp_path: Path, old: str, new: str, says: str | None) -> None:
    path = tmp_path / "dpcompose" / "a" / "b.py"
    path.parent.mkdir(parents=True)
    path.write_text("x = 1\nprint(x)\n", encoding="utf-8")
    fault = Fault(7, "a/b.py", old, new, "it breaks")
    assert fault.unfit(tmp_path) == says
    if says is None:
        fault.plant(tmp_path)
        assert path.read_text(encoding="utf-8") == "x = 2\nprint(x)\n"
