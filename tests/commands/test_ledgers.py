"""Ledgers under version control: `total --as-of`, `--over-time`, `check --ledger`, and whether
their releases still stand."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from command import git, run
from contracts import checked
from tables import tables
from volume import seeds

from dpcompose.commands.parallel import workers
from dpcompose.planning.ledger import totals as ledger_totals
from dpcompose.policy import settings_files

TABLES = tables(__file__)

pytestmark = pytest.mark.slow

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


def spec(name: str, rho: str, population: str = "p") -> str:
    return (
        f"dpcompose: 1\npopulation: {population}\nprotect: unbounded\ndatasets: {{people: {{}}}}\n"
        f"mechanisms: [{{name: {name}, reads: people, notion: zcdp, rho: {rho}}}]\n"
    )


def totals(*arguments: str) -> list[dict[str, object]]:
    document = checked("total", run(*arguments, "--format", "json").stdout)
    found: list[dict[str, object]] = document["totals"]
    return found


@pytest.fixture
def ledger(home: Path) -> Path:
    """Three commits: in March `z.yaml`, in June `b.yaml`; then `z.yaml` is called `a.yaml`."""
    git("init", "-q", ".")
    folder = home / "ledger"
    folder.mkdir()
    (folder / "z.yaml").write_text(spec("counts", "0.02"))
    git("add", ".")
    git("commit", "-qm", "March", date="2026-03-01T12:00:00Z")
    (folder / "b.yaml").write_text(spec("ages", "0.05"))
    (folder / "notes.yaml").write_text("no: spec\n")
    git("add", ".")
    git("commit", "-qm", "June", date="2026-06-01T12:00:00Z")
    git("mv", "ledger/z.yaml", "ledger/a.yaml")
    git("commit", "-qm", "a new name", date="2026-07-01T12:00:00Z")
    return folder


def test_names_with_line_breaks_and_merges_keep_their_commits(ledger: Path) -> None:
    git("checkout", "-qb", "side", "HEAD~1")
    (ledger / "odd\nname.yaml").write_text(spec("odd", "0.001"))
    git("add", ".")
    git("commit", "-qm", "side", date="2026-08-01T12:00:00Z")
    git("checkout", "-q", "-")
    git("merge", "-q", "--no-edit", "side", date="2026-09-01T12:00:00Z")
    (found,) = totals("total", "ledger", *BUDGET, "--over-time")
    steps: list[dict[str, object]] = found["over_time"]  # type: ignore[assignment]
    came = {str(each["file"]): str(each["came"]).split()[0] for each in steps}
    assert sorted(came.values()) == ["2026-03-01", "2026-06-01", "2026-08-01"]


# --- check --ledger ------------------------------------------------------------------------------


def test_the_document_is_what_its_schema_says(ledger: Path) -> None:
    Path("new.yaml").write_text(spec("more", "0.01"))
    result = run("check", "new.yaml", "--ledger", "ledger", *BUDGET, "--format", "json")
    assert json.loads(result.stdout) == checked("total", result.stdout)


# --- whether the releases of a revision still stand ----------------------------------------------

SINCE = ("check", "--ledger", "ledger", "--changed-since", "HEAD", *BUDGET)


def since(code: int, *arguments: str) -> tuple[dict[str, object], list[str]]:
    """The total of p, and what is found of the record, each `file: message`."""
    settings_files._nearest.cache_clear()
    result = run(*SINCE, *arguments, "--format", "json")
    assert result.exit_code == code, result.output
    document = checked("total", result.stdout)
    told = [f"{each['file']}: {each['finding']['message']}" for each in document["findings"]]
    codes = {each["finding"]["code"] for each in document["findings"]}
    assert codes <= {"DPC223"}
    return next(each for each in document["totals"] if each["population"] == "p"), told


def spent(total: dict[str, object]) -> float:
    amount: float = total["filter"]["spent"]["rho"]  # type: ignore[index]
    return amount


def test_a_release_that_is_taken_out_is_counted(ledger: Path) -> None:
    (ledger / "b.yaml").unlink()
    (ledger / "new.yaml").write_text(spec("more", "0.03"))  # there is room for 0.0181
    found, told = since(1)
    assert told == [
        "ledger/b.yaml@HEAD: a release that spent ρ = 1/20 (0.05) is gone since HEAD, and is "
        "counted as it was there"
    ]
    assert spent(found) == pytest.approx(0.1) and found["status"] == "no-guarantee"
    assert found["record"]["rewritten"] == ["ledger/b.yaml@HEAD"]  # type: ignore[index]
    assert "may not be released" in str(found["reasons"])
    assert run("check", "ledger/new.yaml", "--ledger", "ledger", *BUDGET).exit_code == 0  # quietly


def test_a_folder_that_is_taken_out_is_counted(ledger: Path) -> None:
    for each in ledger.iterdir():
        each.unlink()
    found, told = since(1)
    assert len(told) == 2 and spent(found) == pytest.approx(0.07)
    ledger.rmdir()
    assert since(1) == (found, told)


@pytest.mark.parametrize(("old", "new", "says"), TABLES["what says less is counted as it was"])
def test_what_says_less_is_counted_as_it_was(
    ledger: Path, old: str, new: str, says: str | None
) -> None:
    text = (ledger / "b.yaml").read_text()
    if "folk" in new:
        text = text.replace("reads: people", "reads: folk")
    (ledger / "b.yaml").write_text(text.replace(old, new))
    if says is None:
        found, told = since(0)
        assert told == [] and spent(found) >= 0.07 * (1 - 1e-12)
        return
    found, told = since(1)
    assert says in " ".join(told)
    assert spent(found) == pytest.approx(0.07)
    assert found["record"]["rewritten"] == ["ledger/b.yaml@HEAD"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("protect: bounded", "bounded neighbours are protected, and unbounded neighbours were"),
        ("protect: unbounded\nadaptivity: parameters\nfilter: gdp", "`filter` is `gdp`"),
    ],
)
def test_what_cannot_be_added_up_any_more_is_found_too(ledger: Path, new: str, says: str) -> None:
    text = (ledger / "b.yaml").read_text()
    (ledger / "b.yaml").write_text(text.replace("protect: unbounded", new))
    found, told = since(2)
    assert says in told[0] and found["status"] == "refused"


def test_what_hides_a_release_takes_it_out(ledger: Path) -> None:
    text = (ledger / "b.yaml").read_text()
    for hidden in (".b.yaml/b.yaml", "node_modules/b.yaml", "b.txt", "../b.yaml"):
        (ledger / hidden).parent.mkdir(exist_ok=True)
        (ledger / "b.yaml").rename(ledger / hidden)
        assert len(since(1)[1]) == 1, hidden
        (ledger / hidden).rename(ledger / "b.yaml")
    (ledger / "b.yaml").unlink()
    (ledger / "b.yaml").symlink_to("a.yaml")
    assert len(since(1)[1]) == 1  # it is a.yaml, once
    (ledger / "b.yaml").unlink()
    (ledger.parent / "b.txt").write_text(text)
    (ledger / "b.yaml").symlink_to("../b.txt")
    assert since(0)[1] == []


def test_links_and_hidden_files_of_the_revision_count_once(ledger: Path) -> None:
    (ledger / "c.yaml").symlink_to("a.yaml")
    (ledger / ".kept").mkdir()
    (ledger / ".kept" / "d.yaml").write_text(spec("hidden", "0.04"))
    git("add", ".")
    git("commit", "-qm", "a link")
    assert spent(since(0)[0]) == pytest.approx(0.07)
    (found,) = totals("total", "ledger", *BUDGET, "--as-of", "HEAD")
    assert spent(found) == pytest.approx(0.07)
    ledger.rename(ledger.parent / "real")
    ledger.symlink_to("real")
    assert since(0)[1] == []
    git("add", ".")
    git("commit", "-qm", "a linked folder")
    assert spent(since(0)[0]) == pytest.approx(0.07)
    ledger.unlink()
    ledger.mkdir()
    (ledger / "a.yaml").write_text(spec("counts", "0.02"))
    assert len(since(1)[1]) == 1


def test_no_comment_in_a_spec_withdraws_its_release(ledger: Path) -> None:
    """Not in one change, and not in two: first the comment, then the release goes."""
    comment = "  # dpcompose: ignore[DPC223] the noise was more\n"
    (ledger / "b.yaml").write_text(spec("ages", "0.01").rstrip() + comment)
    assert "rho is `1/100` and was `1/20`" in since(1)[1][0]
    result = run("check", "ledger/b.yaml", "--rho", "1")
    assert result.exit_code == 1 and "`DPC223` cannot be ignored" in result.output
    (ledger / "b.yaml").write_text(spec("ages", "0.05").rstrip() + comment)
    git("commit", "-qam", "a comment")
    (ledger / "b.yaml").unlink()
    found, told = since(1)
    assert "is gone since" in told[0] and spent(found) == pytest.approx(0.07)


def test_documents_that_are_corrected_upwards_may_stand_in_another_order(ledger: Path) -> None:
    (ledger / "a.yaml").unlink()
    (ledger / "b.yaml").write_text(f"{spec('counts', '0.02')}---\n{spec('ages', '0.05')}")
    git("commit", "-qam", "one file")
    (ledger / "b.yaml").write_text(f"{spec('ages', '0.055')}---\n{spec('counts', '0.025')}")
    found, told = since(0)
    assert told == [] and spent(found) == pytest.approx(0.08)
    (ledger / "b.yaml").write_text(f"{spec('ages', '0.04')}---\n{spec('counts', '0.03')}")
    found, told = since(1)
    assert "rho is `1/25` and was `1/20`" in told[0] and spent(found) == pytest.approx(0.08)


def test_the_budget_of_a_release_is_of_the_record_where_its_filter_counts_in_it(
    ledger: Path,
) -> None:
    own, filtered = "budget: {rho: 1}\n", "budget: {rho: 1}\nadaptivity: parameters\nfilter: zcdp\n"
    for more, wanted in ((own, 0), (filtered, 1)):
        for file, name, rho in (("a.yaml", "counts", "0.02"), ("b.yaml", "ages", "0.05")):
            (ledger / file).write_text(spec(name, rho) + more)
        git("commit", "-qam", "a budget")
        (ledger / "b.yaml").write_text(spec("ages", "0.05") + more.replace("rho: 1", "rho: 2"))
        told = since(wanted)[1]
        assert [*map(bool, told)] == [True] * wanted
        assert all("the budget is ρ = 2, and was ρ = 1" in says for says in told)


def test_settings_of_the_revision_say_how_bad_it_is(ledger: Path) -> None:
    (ledger / "b.yaml").unlink()
    settings = Path("dpcompose.toml")
    settings.write_text('severity = {DPC223 = "off"}\n')
    assert len(since(1)[1]) == 1  # the change does not say it
    git("add", "dpcompose.toml")
    git("commit", "-qm", "settings")
    found, told = since(0)
    assert told == [] and spent(found) == pytest.approx(0.07)
    settings.write_text('severity = {DPC223 = "warning"}\n')
    git("commit", "-qm", "settings", "dpcompose.toml")
    assert run(*SINCE).exit_code == 0
    settings.write_text('fail-on = "error"\n')
    git("commit", "-qm", "settings", "dpcompose.toml")
    (ledger / "a.yaml").write_text(
        spec("counts", "0.01").rstrip() + "  # dpcompose: ignore[DPC223] it was less\n"
    )
    assert len(since(1)[1]) == 2


def test_a_budget_that_settings_raise_holds_as_it_was(ledger: Path) -> None:
    settings = Path("dpcompose.toml")
    settings.write_text("total-budget = {rho = 0.08}\n")
    git("add", "dpcompose.toml")
    git("commit", "-qm", "settings")
    (ledger / "new.yaml").write_text(spec("more", "0.02"))
    call = SINCE[: -len(BUDGET)]
    for now, why in (
        ("total-budget = {rho = 9}", "ledger/new.yaml` may not be released"),
        ("total-budget = {mu = 9}", "no guarantee of 3 releases"),
        ("", "ledger/new.yaml` may not be released"),
    ):
        settings.write_text(now)
        result = run(*call)
        assert result.exit_code == 1 and "`total-budget` is" in result.stdout
        assert why in " ".join(result.stdout.split())
    settings.write_text("total-budget = {rho = 0.09}\n")
    assert run(*call, "--settings-from", "HEAD").exit_code == 1
    assert run(*call, "--rho", "0.09").exit_code == 0  # flags are not of the change
    settings.write_text("total-budget = {rho = 0.08}\n")
    (ledger / "new.yaml").write_text(spec("more", "0.01"))
    assert run(*call).exit_code == 0


def test_names_that_are_no_text_stand_too(ledger: Path) -> None:
    name = os.fsdecode(b"ledger/\xff\x1b[31m\n.yaml")
    Path(name).write_text(spec("odd", "0.001"))
    git("add", ".")
    git("commit", "-qm", "odd")
    assert since(0)[1] == []
    Path(name).unlink()
    assert len(since(1)[1]) == 1
    for form in ("text", "markdown"):
        result = run(*SINCE, "--format", form)
        assert result.exit_code == 1 and "\x1b" not in result.stdout


# --- what the history of a branch did -------------------------------------------------------------


def looked_through(code: int, *arguments: str) -> list[str]:
    """What is found of the ledger in history, each `file: message`."""
    settings_files._nearest.cache_clear()
    result = run("total", "ledger", *BUDGET, "--over-time", *arguments, "--format", "json")
    assert result.exit_code == code, result.output
    document = checked("total", result.stdout)
    assert {each["finding"]["code"] for each in document["findings"]} <= {"DPC223"}
    return [f"{each['file']}: {each['finding']['message']}" for each in document["findings"]]


def test_streams_links_and_what_is_no_spec_in_history(ledger: Path) -> None:
    (ledger / "s.yaml").write_text(spec("x", "0.001") + "---\n" + spec("y", "0.001"))
    (ledger / "bad.yaml").write_text("dpcompose: 1\n")
    (ledger / "notes.yaml").unlink()
    (ledger / "odd\n:1.yaml").write_text(spec("odd", "0.001"))
    git("add", ".")
    git("commit", "-qm", "more")
    (ledger / "s.yaml").write_text(spec("y", "0.001"))
    (ledger / "bad.yaml").unlink()
    (ledger / "odd\n:1.yaml").unlink()
    (ledger / "odd\n:1.yaml").symlink_to("a.yaml")
    git("add", ".")
    git("commit", "-qm", "less")
    told = looked_through(1)
    assert len(told) == 2 and any("ledger/s.yaml" in each for each in told)


def test_many_releases_and_commits_take_few_calls_of_git(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (ledger / f"{number}.yaml").write_text(spec(f"m{number}", "0.0001"))
        git("add", ".")
        git("commit", "-qm", str(number))
    calls: list[object] = []
    run_it, open_it = subprocess.run, subprocess.Popen

    class Counted(open_it):  # type: ignore[misc, valid-type]
        def __init__(self, *args: object, **kwargs: object) -> None:
            calls.append(args)
            super().__init__(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    assert subprocess.run is run_it
    assert looked_through(0) == [] and len(calls) <= 12
    calls.clear()
    assert since(0)[1] == [] and len(calls) <= 8


# --- random changes -------------------------------------------------------------------------------


def change(folder: Path, rng: random.Random) -> None:
    """One change of a ledger, such as a pull request may bring."""
    files = sorted(each for each in folder.rglob("*") if each.is_file() and "bad" not in each.name)
    if not files:
        return
    one, other = rng.choice(files), rng.choice(files)
    text = one.read_text()
    match rng.randrange(10):
        case 0:
            one.unlink()
        case 1:
            one.rename(one.with_name(f"r{rng.random()}.yml"))
        case 2:
            (folder / ".hidden").mkdir(exist_ok=True)
            one.rename(folder / ".hidden" / one.name)
        case 3:
            one.write_text(text.replace("rho: 0.01", f"rho: {rng.choice(['0.005', '0.02'])}"))
        case 4:
            one.write_text(text.replace("count: 2", f"count: {rng.choice(['1', '3'])}"))
        case 5:
            was, now = rng.choice([("people", "by.a"), ("by.a", "by.b"), ("by.a", "people")])
            one.write_text(text.replace(f"reads: {was}", f"reads: {now}"))
        case 6:
            one.write_text(text.replace("population: p", "population: q"))
        case 7:
            one.write_text(other.read_text())
            other.write_text(text)
        case 8 if one != other:
            one.write_text(text + "---\n" + other.read_text())
            other.unlink()
        case 9 if one != other:
            one.unlink()
            one.symlink_to(os.path.relpath(other, one.parent))


@pytest.fixture
def six(home: Path) -> Path:
    """A ledger of six releases, of the whole and of blocks: ρ = 0.08."""
    git("init", "-q", "-b", "main", ".")
    folder = home / "ledger"
    folder.mkdir()
    split = "{people: {}, by: {from: people, partition: {by: value, blocks: [a, b]}}}"
    for number in range(6):
        text = spec(f"m{number}", "0.01, count: 2").replace("{people: {}}", split)
        reads = ("people", "by.a", "by.b")[number % 3]
        (folder / f"{number}.yaml").write_text(text.replace("reads: people", f"reads: {reads}"))
    git("add", ".")
    git("commit", "-qm", "six")
    return folder


@pytest.mark.parametrize("seed", seeds(24, range(60)))
def test_no_change_makes_room(six: Path, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(rng.randrange(1, 5)):
        change(six, rng)
    found = run("check", "--ledger", "ledger", "--changed-since", "main", "--rho", "9",
                "--format", "json")  # fmt: skip
    document = checked("total", found.stdout)
    (total,) = (each for each in document["totals"] if each["population"] == "p")
    assert spent(total) >= 0.08 * (1 - 1e-12)
    assert found.exit_code == (1 if document["findings"] else 0)


@pytest.mark.parametrize("seed", seeds(8, range(20)))
def test_no_history_makes_room_unseen(six: Path, seed: int) -> None:
    rng, most = random.Random(seed), 0.08
    (six / "bad.yaml").write_text(spec("last", "0"))  # something is always left of p
    for number in range(5):
        change(six, rng)
        git("add", "-A")
        git("commit", "-q", "--allow-empty", "-m", str(number))
        found = run("total", "ledger", "--rho", "9", "--over-time", "--format", "json")
        document = checked("total", found.stdout)
        (total,) = (each for each in document["totals"] if each["population"] == "p")
        most = max(most, spent(total))
        assert document["findings"] or spent(total) >= most * (1 - 1e-12)
        assert found.exit_code == (1 if document["findings"] else 0)


@pytest.mark.parametrize("nested", [False, True])
def test_a_merge_that_keeps_its_own_side_takes_a_release_out(ledger: Path, nested: bool) -> None:
    """The own side comes first, so that the branch that is followed never had the release."""
    git("checkout", "-qb", "own")
    git("commit", "-q", "--allow-empty", "-m", "of its own")
    git("checkout", "-q", "-")
    (ledger / "late.yaml").write_text(spec("late", "0.001"))
    git("add", ".")
    git("commit", "-qm", "a release")
    git("branch", "base")
    if nested:
        git("checkout", "-q", "own")
        git("checkout", "-qb", "between")
        git("commit", "-q", "--allow-empty", "-m", "between")
        git("merge", "-q", "-s", "ours", "-m", "keeps its side", "base")
        git("checkout", "-q", "own")
        git("commit", "-q", "--allow-empty", "-m", "goes on")
        git("merge", "-q", "--no-ff", "-m", "and again", "between")
    else:
        git("checkout", "-q", "own")
        git("merge", "-q", "-s", "ours", "-m", "keeps its side", "base")
    (found,) = looked_through(1)
    assert "ledger/late.yaml@" in found and "was taken out by the merge" in found
    git("checkout", "base", "--", "ledger/late.yaml")
    git("commit", "-qm", "brought back")
    assert looked_through(0) == []


@pytest.mark.slow
def test_one_clock_for_all_of_it_says_which_release_was_reached(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ledger_totals._total

    def slow(population: str | None, releases: Any, asked: Any) -> Any:
        if asked.part and len(releases) == 2:
            time.sleep(600)
        return real(population, releases, asked)

    monkeypatch.setattr(ledger_totals, "_total", slow)
    call = ("total", "ledger", *BUDGET, "--over-time", "--max-seconds")
    result = run(*call, "15")
    assert result.exit_code == 3 and not result.stdout
    assert result.stderr.endswith(
        "dpcompose: nothing was added up: not analysed: all of it takes longer than the 15 s of "
        "--max-seconds, and ledger/b.yaml, release 2 of 2, was reached\n"
    )


def test_one_process_reads_the_history_within_the_limits(
    ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rho in range(6, 12):
        (ledger / "b.yaml").write_text(spec("ages", f"{rho}/200"))
        git("commit", "-qam", f"upwards, to {rho}/200")
    started: list[object] = []
    real = workers._start

    def counted(*given: Any) -> None:
        started.append(given)
        real(*given)

    monkeypatch.setattr(workers, "_start", counted)
    for limits in ((), ("--max-seconds", "600"), ("--max-seconds", "600", "--max-memory", "500")):
        started.clear()
        assert run("total", "ledger", "--over-time", "--rho", "9", *limits).exit_code == 0
        # What reads the files, what reads history, and the sum.
        assert len(started) == (3 if limits else 0)


def test_a_clock_that_is_over_at_once_ends_at_the_first_release(ledger: Path) -> None:
    result = run("total", "ledger", *BUDGET, "--over-time", "--max-seconds", "0.001")
    assert result.exit_code == 3 and not result.stdout
    assert "the 0.001 s of --max-seconds, and ledger/a.yaml was reached" in result.stderr
    assert run("total", "ledger", *BUDGET, "--over-time", "--max-seconds", "600").exit_code == 0
