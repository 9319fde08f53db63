"""What is assumed of the data between outputs stands in every result that counts the worst block
alone: with open mechanisms, (ε, δ) on each of k blocks is otherwise (ε, 1 - (1 - δ)^k)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import git, run

from dpcompose.pipeline import analyze

HEAD = """\
dpcompose: 1
population: people
protect: unbounded
datasets:
  people: {}
  months: {from: people, partition: {by: value, blocks: [jan, feb, mar]}}
  tags: {from: people, partition: {by: membership, blocks: [a, b], max_blocks: MOST}}
budget: {epsilon: 4, delta: 1e-4}
mechanisms:
"""
STILL = "the data stay the same while {} on blocks is open: no row comes, goes or changes after"
ROWS = "which rows there are does not depend on earlier outputs"
OPEN = (
    "  - {name: ask, reads: months.*, notion: approx, epsilon: 1, delta: 1e-6, interactive: true}\n"
)


def _meanwhile(*mechanisms: str, most: int = 1, more: str = "") -> tuple[str, ...]:
    """Returns what a report assumes of the data between outputs."""
    lines = "".join(f"  - {{name: m{n}, {each}}}\n" for n, each in enumerate(mechanisms))
    report = analyze(more + HEAD.replace("MOST", str(most)) + lines, "t")
    assert report.status == "ok"
    return report.meanwhile


@pytest.mark.parametrize(
    "of, kind",
    [
        ("notion: pure, epsilon: 1, interactive: true", "an interactive mechanism"),
        ("mechanism: tree, steps: 8, sigma: 9, sensitivity: 1", "a tree"),
        ("mechanism: matrix, column_norm: 2, sigma: 9", "a matrix mechanism"),
        (
            "mechanism: sparse-vector, threshold_epsilon: 1/9, answer_epsilon: 1/9, positives: 1",
            "a sparse vector",
        ),
    ],
)
def test_what_stays_open_on_blocks_is_named(of: str, kind: str) -> None:
    still, rows = _meanwhile(f"reads: months.*, {of}")
    assert still.startswith(STILL.format(kind)) and rows == ROWS
    both = _meanwhile(f"reads: months.jan, {of}", "reads: months.feb, notion: pure, epsilon: 1/4")
    assert both == (still, rows)
    # One block alone, or the whole table: no worst block is chosen.
    assert _meanwhile(f"reads: months.jan, {of}") == ()
    assert _meanwhile(f"reads: people, {of}", "reads: months.jan, notion: pure, epsilon: 1") == ()


def test_what_answers_once_assumes_less() -> None:
    closed = "notion: pure, epsilon: 1/4"
    assert _meanwhile(f"reads: months.*, {closed}") == (ROWS,)
    assert _meanwhile(f"reads: months.*, {closed}", more="adaptivity: independent\n") == ()
    assert _meanwhile(f"reads: tags.*, {closed}") == (ROWS,)
    assert _meanwhile(f"reads: tags.*, {closed}", most=2) == ()


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ledger").mkdir()
    text = HEAD.replace("MOST", "1") + OPEN
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(text.replace("epsilon: 1,", "epsilon: 3/2,"))
    (tmp_path / "ledger" / "first.yaml").write_text(text)
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    git("add", "ledger")
    git("commit", "-qm", "first")


@pytest.mark.usefixtures("specs")
@pytest.mark.parametrize(
    "call",
    [
        "analyze a.yaml",
        "analyze a.yaml --brief",
        "analyze a.yaml --full",
        "check a.yaml b.yaml",
        *(
            f"{command} --format {form} a.yaml b.yaml"
            for command in ("analyze", "check")
            for form in "concise csv json jsonl junit markdown html statement label badge".split()
        ),
        "analyze --format sarif a.yaml",
        "analyze --format registry a.yaml",
        "total a.yaml b.yaml",
        "total a.yaml b.yaml --epsilon 9 --delta 1e-4",
        *(
            f"total a.yaml b.yaml --fixed planned_in_January --format {form}"
            for form in "text json markdown html".split()
        ),
        "total ledger --over-time --epsilon 9 --delta 1e-4",
        "check --ledger ledger --epsilon 9 --delta 1e-4 b.yaml",
        *(f"diff a.yaml b.yaml --format {form}" for form in "text json markdown".split()),
        *(f"fit a.yaml --format {form}" for form in "text json".split()),
        *(f"savings a.yaml --format {form}" for form in "text json".split()),
    ],
)
def test_every_result_says_what_the_data_do_meanwhile(call: str) -> None:
    done = run(*(each.replace("_", " ") for each in call.split()))
    told = " ".join((done.stdout + done.stderr).replace("│", " ").split()).lower()
    assert STILL.format("an interactive mechanism") in told
    assert ROWS in told


@pytest.mark.usefixtures("specs")
def test_json_of_plans_lists_it() -> None:
    for call in ("fit a.yaml", "savings a.yaml"):
        found = json.loads(run(*call.split(), "--format", "json").stdout)
        assert found["assumptions"][1] == ROWS
