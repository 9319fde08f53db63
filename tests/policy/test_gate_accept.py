"""`accept` and `check --assumptions`: a spec assumes nothing that nobody has vouched for."""

from __future__ import annotations

import json
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from contracts import checked
from tables import tables

from dpcompose.report.declared_assumptions import Vouched, claims, is_new
from dpcompose.resolve import resolve
from dpcompose.source import load

from .reviewer import SPEC, codes, run, write

TABLES = tables(__file__)

LOCK = "assumptions.lock"


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    write("s.yaml", SPEC)
    return home


def accept(*arguments: str, by: str = "Ann", on: str = "2026-01-02") -> list[dict[str, Any]]:
    result = run("accept", *arguments, "--by", by, "--on", on)
    assert (result.exit_code, result.stdout) == (0, "")
    text = Path(LOCK).read_text(encoding="utf-8")
    checked("assumptions", text)
    found: list[dict[str, Any]] = json.loads(text)["accepted"]
    return found


def check(*arguments: str) -> tuple[int, list[str]]:
    return codes("check", *arguments, "--assumptions", LOCK)


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("kind: flatten, max_rows: 2", "kind: flatten, max_rows: 3", False),
        ("kind: flatten, max_rows: 2", "kind: flatten, max_rows: 1", True),
        (
            "kind: flatten, max_rows: 2, exact: true",
            "kind: flatten, max_rows: 3, exact: true",
            True,
        ),
        ("kind: join-public, max_rows: 2, exact: true", "kind: join-public, max_rows: 2", True),
    ],
)
def test_how_many_rows_a_row_gives(before: str, after: str, new: bool) -> None:
    def claim(made_by: str) -> Vouched:
        text = (
            "dpcompose: 1\nprotect: bounded\n"
            f"datasets: {{t: {{}}, f: {{from: t, map: {{{made_by}}}}}}}\n"
            "mechanisms: [{name: m, reads: f, notion: pure, epsilon: 1, relation: unbounded}]\n"
        )
        return next(
            each for each in claims(resolve(load(text, "s.yaml"))) if each.of == "dataset f"
        )

    assert is_new(claim(after), claim(before)) == new


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "place"), TABLES["anything new is named with its place"])
def test_anything_new_is_named_with_its_place(old: str, new: str, place: str) -> None:
    accept("s.yaml")
    assert old in SPEC
    text = SPEC.replace(old, new)
    if "from: q" in text:
        text = text.replace("  t: {}", "  t: {}\n  q: {from: t, map: filter}")
        place = "7:7"
    write("s.yaml", text)
    result = run("check", "s.yaml", "--assumptions", LOCK, "--format", "concise")
    assert result.exit_code in (1, 3)
    if result.exit_code == 1:
        assert f"s.yaml:{place}: nobody has accepted " in result.stdout
        assert "DPC316" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("epsilon: 2}", "epsilon: 4/2}"),
        ("epsilon: 2}", "epsilon: 2, because: it was proved in an appendix}"),
        ("dpcompose: 1\n", "# moved\n\ndpcompose: 1\ntitle: other\n"),
        ("{name: m, reads: t, notion: pure", "{notion: pure, name: m, reads: t"),
        ("budget: {epsilon: 3}", "budget: {epsilon: 4}"),
        ("  t: {}\n", "  't': {}\n"),
        ("  p: {from: t, partition: {by: value, blocks: 2}}",
         "  p:\n    from: t\n    partition:\n      blocks: 2\n      by: value"),
    ],
)  # fmt: skip
def test_what_is_no_assumption_is_not_in_the_hash(old: str, new: str) -> None:
    accept("s.yaml")
    assert old in SPEC
    write("s.yaml", SPEC.replace(old, new))
    assert check("s.yaml") == (0, [])


def test_another_file_or_document_is_another_spec() -> None:
    accept("s.yaml")
    write("in/s.yaml", SPEC)
    assert check("in/s.yaml")[1] == ["DPC316"] * 4
    write("s.yaml", f"{SPEC}---\n{SPEC}")
    assert check("s.yaml")[1] == ["DPC316"] * 4  # those of the second
    accept("s.yaml", "in")
    assert check("s.yaml", "in") == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text.replace('"epsilon": "2"', '"epsilon": "1"'), "the hash is not that of"),
        (lambda text: text.replace('"spec": "s.yaml"', '"spec": "t.yaml"', 1), "the hash is not"),
        (lambda text: text.replace('"document": 1', '"document": true'), "no accepted assumption"),
        (lambda text: text.replace('"by": "Ann"', '"by": 1'), "accepted[0] is no accepted"),
        (lambda text: text.replace('"dpcompose_assumptions": 1', '"dpcompose_assumptions": 2'),
         "no assumptions of version 1 are there"),
        (lambda text: text[:-20], "it is no JSON"),
        (lambda text: "[" * 100000, "it is no JSON"),
        (lambda text: "[]", "no assumptions of version 1"),
        (lambda text: "", "it is no JSON"),
    ],
)  # fmt: skip
def test_a_file_that_was_tampered_with_is_refused(change: Any, says: str) -> None:
    accept("s.yaml")
    write(LOCK, change(Path(LOCK).read_text(encoding="utf-8")))
    result = run("check", "s.yaml", "--assumptions", LOCK)
    assert (result.exit_code, result.stdout) == (2, "") and says in result.stderr
    result = run("accept", "s.yaml")
    assert result.exit_code == 2 and says in result.stderr  # nothing is overwritten


@pytest.mark.skipif(sys.platform != "linux", reason="needs locks of folders")
def test_several_at_once_lose_nothing() -> None:
    names = [f"s{number}.yaml" for number in range(6)]
    for name in names:
        write(name, SPEC)
    context = get_context("fork")
    calls = [context.Process(target=accept, args=(name, "-o", LOCK)) for name in names]
    for each in calls:
        each.start()
    for each in calls:
        each.join()
    assert {each["spec"] for each in accept("s.yaml", "-o", LOCK)} == {"s.yaml", *names}
