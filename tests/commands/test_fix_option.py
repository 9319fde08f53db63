"""`--fix`: what is certain is shown and written, and nothing else."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from command import run
from conftest import GOLDEN, LIBRARY
from tables import tables
from volume import thinned

from dpcompose.commands import mending
from dpcompose.errors import InvalidSpec
from dpcompose.planning.corrections import corrected
from dpcompose.resolve import resolve
from dpcompose.source import load

TABLES = tables(__file__)

WRONG = (
    "dpcompose: 1\nprotect: add-remove  # one row\ndatasets:\n  people:\n  # the adults\n"
    "  adults: {from: people, mapp: filter}\nqueries:\n"
    "  - {name: count, reads: adults, notion: pur, eps: 50%} # half\n"
)
RIGHT = (
    "dpcompose: 1\nprotect: unbounded  # one row\ndatasets:\n  people: {}\n  # the adults\n"
    "  adults: {from: people, map: filter}\nmechanisms:\n"
    "  - {name: count, reads: adults, notion: pure, epsilon: 0.5} # half\n"
)
MISTAKES = sorted((GOLDEN / "mistakes").glob("*.dp.yaml"))


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.dp.yaml"
    path.write_text(WRONG, encoding="utf-8", newline="")
    return path


def test_line_ends_a_mark_and_further_documents_stay(spec: Path) -> None:
    text = "\ufeff" + (WRONG + "---\n" + WRONG).replace("\n", "\r\n")
    spec.write_bytes(text.encode())
    assert run("analyze", "--fix", "--yes", spec.name).exit_code == 0
    right = "\ufeff" + (RIGHT + "---\n" + RIGHT).replace("\n", "\r\n")
    assert spec.read_bytes() == right.encode()


def test_somebody_at_a_terminal_is_asked(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    for answer, text in ((False, WRONG), (True, RIGHT)):

        def agreed(what: str, answer: bool = answer) -> bool:
            asked.append(what)
            return answer

        monkeypatch.setattr(mending, "_agreed", agreed)
        run("analyze", "--fix", spec.name)
        assert spec.read_text(encoding="utf-8") == text
    assert asked == ["7 corrections in 1 file"] * 2


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("", False)],
)
def test_the_question(answer: str, agreed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Terminal()
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    monkeypatch.setattr("sys.stderr", said)
    assert mending._agreed("2 corrections in 1 file") is agreed
    assert said.getvalue().startswith("Make the 2 corrections in 1 file? [y/N] ")
    assert ("nothing is written" in said.getvalue()) is not agreed


@pytest.mark.parametrize(
    "text",
    [
        # a text that stands for several parts
        WRONG.replace("add-remove ", "&a add-remove ").replace("name: count", "name: *a"),
        # names of the author, which may be others that are not there
        RIGHT.replace("reads: adults", "reads: adult"),
        RIGHT.replace("from: people", "from: peple"),
        # several readings
        RIGHT.replace("0.5", "1,500"),
        RIGHT.replace("0.5", "010"),
        RIGHT.replace("unbounded", "nbounded"),
        RIGHT.replace("unbounded", "event-level"),
        RIGHT.replace("map: filter", "map: cap, rows: 5"),
        RIGHT.replace("notion: pure", "mechanism: laplace"),
        RIGHT.replace("epsilon: 0.5", "epsilon: 0.5, eps: 1"),
        RIGHT + "_budget: {epsilon: 1}\n",
        RIGHT + "xbudget: {epsilon: 1}\n",
        RIGHT.replace(
            "protect:", "relations: {b: {within: bounded, distance: 2}}\nprotect: bounde #"
        ),
    ],
)
def test_what_could_mean_something_else_stays(text: str) -> None:
    with pytest.raises(InvalidSpec):
        resolve(load(text, "a"))
    found = corrected(text.encode())
    assert found is not None
    assert found.after == text


def faults(text: str) -> int:
    try:
        resolve(load(text, "a"))
    except InvalidSpec as error:
        return len(error.diagnostics)
    return 0


@pytest.mark.parametrize("path", MISTAKES, ids=lambda path: path.name.partition(".")[0])
def test_corrections_lead_to_fewer_faults_and_to_an_end(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    once = corrected(text.encode())
    if once is None:
        assert "version-left-out" in path.name  # without it a file is no spec
        return
    assert once.refused is None
    if once.count:
        hidden = "comma-list" in path.name  # what is wrong in a partition of no known kind
        assert faults(once.after) < faults(text) + hidden
    again = corrected(once.after.encode())
    assert again is not None and again.count == 0


def test_a_correction_that_breaks_the_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcompose.planning.corrections.replaced", lambda *_: "dpcompose: 1\na: ]")
    found = corrected(WRONG.encode())
    assert found is not None
    assert found.after == WRONG
    assert found.refused == "a correction would make it unreadable (DPC006)"


#: How people write what the specs of this repository say.
OTHERWISE = TABLES["otherwise"]
SPECS = [*LIBRARY.values()]


@pytest.mark.parametrize("path", thinned(SPECS), ids=lambda path: path.stem)
def test_what_people_write_becomes_what_was_meant(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    body = "\n".join(line for line in text.splitlines() if "#" not in line) + "\n"
    for right, wrong in OTHERWISE:
        written = body.replace(right, wrong)
        found = corrected(written.encode())
        assert found is not None
        assert found.after == body, f"{wrong!r} for {right!r}"


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("relation: bounded", "protect: bounded"),
        ("relation: {house: {within: bounded, distance: 2}}\nprotect: house", None),
    ],
)
def test_one_word_for_two_keys(wrong: str, right: str | None) -> None:
    rest = "\ndatasets: {t: {}}\nmechanisms: [{name: m, reads: t, notion: pure, epsilon: 1}]\n"
    found = corrected(f"dpcompose: 1\n{wrong}{rest}".encode())
    assert found is not None
    right = right or wrong.replace("relation:", "relations:")
    assert found.after == f"dpcompose: 1\n{right}{rest}"
