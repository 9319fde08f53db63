"""Ledgers under version control: `total --as-of`, `--over-time`, and `check --ledger`."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from contracts import checked
from typer.testing import CliRunner, Result

from dpcompose.cli import app
from dpcompose.policy import settings_files

BUDGET = ("--epsilon", "2", "--delta", "1e-6")


def spec(name: str, rho: str, population: str = "p") -> str:
    return (
        f"dpcompose: 1\npopulation: {population}\nprotect: unbounded\ndatasets: {{people: {{}}}}\n"
        f"mechanisms: [{{name: {name}, reads: people, notion: zcdp, rho: {rho}}}]\n"
    )


def run(*arguments: str, stdin: str | None = None) -> Result:
    settings_files._nearest.cache_clear()
    return CliRunner().invoke(app, list(arguments), input=stdin)


def totals(*arguments: str) -> list[dict[str, object]]:
    document = checked("total", run(*arguments, "--format", "json").stdout)
    found: list[dict[str, object]] = document["totals"]
    return found


def git(*arguments: str, date: str = "2026-01-01T12:00:00Z") -> None:
    settings = ("user.name=a", "user.email=a@b", "commit.gpgSign=false")
    who = [part for each in settings for part in ("-c", each)]
    environment = {"GIT_COMMITTER_DATE": date, "GIT_AUTHOR_DATE": date, "PATH": "/usr/bin:/bin"}
    subprocess.run(["git", *who, *arguments], check=True, env=environment, capture_output=True)


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three commits: in March `z.yaml`, in June `b.yaml`; then `z.yaml` is called `a.yaml`."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q", ".")
    folder = tmp_path / "ledger"
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


def test_a_ledger_as_it_was(ledger: Path) -> None:
    for revision, files, spent in (
        ("HEAD~2", ["ledger/z.yaml"], 0.02),
        ("HEAD~1", ["ledger/b.yaml", "ledger/z.yaml"], 0.07),
        ("HEAD", ["ledger/a.yaml", "ledger/b.yaml"], 0.07),
    ):
        (found,) = totals("total", "ledger", *BUDGET, "--as-of", revision)
        assert found["files"] == files
        assert found["filter"]["spent"]["rho"] == pytest.approx(spent)  # type: ignore[index]
    (ledger / "a.yaml").unlink()  # whatever is there now
    (found,) = totals("total", "ledger/z.yaml", *BUDGET, "--as-of", "HEAD~2")
    assert found["files"] == ["ledger/z.yaml"]
    (found,) = totals("total", ".", *BUDGET, "--as-of", "HEAD~1")
    assert len(found["files"]) == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("ledger", "--as-of", "nothing"), "git knows no such revision"),
        (("ledger", "--as-of", "-x"), "does not start with a hyphen"),
        (("ledger", "--as-of", ""), "the revision is empty"),
        (("ledger/none.yaml", "--as-of", "HEAD"), "was not there in HEAD"),
        (("ledger/none", "--as-of", "HEAD"), "was not there in HEAD"),
        (("-", "--as-of", "HEAD"), "by name"),
        (("/tmp", "--as-of", "HEAD"), "not in the repository"),
        (("ledger", "--over-time", "--fixed", "planned in the protocol"), "--over-time"),
    ],
)
def test_calls_that_are_refused(ledger: Path, arguments: tuple[str, ...], says: str) -> None:
    result = run("total", *arguments, *BUDGET, stdin="")
    assert result.exit_code == 2 and result.stdout == ""
    assert says in " ".join(result.stderr.split())


def test_a_sum_as_it_was_needs_all_of_its_terms(ledger: Path) -> None:
    (ledger / "c.yaml").write_text("dpcompose: 1\n")
    git("add", ".")
    git("commit", "-qm", "a bad one")
    result = run("total", "ledger", *BUDGET, "--as-of", "HEAD")
    assert result.exit_code == 3 and "nothing was added up" in result.stderr


def test_releases_over_time_come_in_the_order_of_their_commits(ledger: Path) -> None:
    (ledger / "0.yaml").write_text(spec("more", "0.01"))  # not committed: the last one
    (found,) = totals("total", "ledger", *BUDGET, "--over-time")
    steps: list[dict[str, object]] = found["over_time"]  # type: ignore[assignment]
    assert [each["file"] for each in steps] == ["ledger/a.yaml", "ledger/b.yaml", "ledger/0.yaml"]
    came = [str(each["came"]).split()[0] for each in steps]
    assert came == ["2026-03-01", "2026-06-01", "not"]  # a new name is no new release
    spent = [each["filter"]["spent"]["rho"] for each in steps]  # type: ignore[index]
    left = [each["filter"]["left"]["rho"] for each in steps]  # type: ignore[index]
    assert spent == pytest.approx([0.02, 0.07, 0.08]) and left == sorted(left, reverse=True)
    text = run("total", "ledger", *BUDGET, "--over-time").stdout
    assert "Over time" in text and "2026-06-01" in text
    assert (
        "| 2026-06-01"
        in run("total", "ledger", *BUDGET, "--over-time", "--format", "markdown").stdout
    )


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


def test_a_shallow_clone_does_not_know_when_releases_came(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("clone", "-q", "--depth", "1", f"file://{tmp_path}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    result = run("total", "ledger", *BUDGET, "--over-time")
    assert result.exit_code == 2 and "shallow" in result.stderr
    assert run("total", "ledger", *BUDGET).exit_code == 0


def test_outside_a_repository_only_the_order_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(spec("a", "0.02"))
    assert run("total", "a.yaml", *BUDGET).exit_code == 0
    result = run("total", "a.yaml", *BUDGET, "--over-time")
    assert result.exit_code == 2 and "no git repository" in " ".join(result.stderr.split())


# --- check --ledger ------------------------------------------------------------------------------


@pytest.mark.parametrize(("rho", "code"), [("0.018", 0), ("0.019", 1)])
def test_a_release_that_would_pass_the_budget_is_refused(ledger: Path, rho: str, code: int) -> None:
    new = Path("new.yaml")
    new.write_text(spec("more", rho))
    result = run("check", "new.yaml", "--ledger", "ledger", *BUDGET)
    assert result.exit_code == code, result.output
    text = " ".join(result.stdout.split())
    assert "before ρ = 7/100 (0.07) of 0.0881526 spent, 0.0181526 left" in text
    assert ("may not be released" in text) == bool(code)
    (found,) = totals("check", "new.yaml", "--ledger", "ledger", *BUDGET)
    before, after = found["before"], found["filter"]
    assert before["spent"]["rho"] == pytest.approx(0.07)  # type: ignore[index]
    assert after["spent"]["rho"] == pytest.approx(0.07 + float(rho))  # type: ignore[index]
    assert (found["guarantee"] is None) == bool(code)
    new.rename(ledger / "new.yaml")  # in the folder already, as in a pull request
    assert totals("check", "ledger/new.yaml", "--ledger", "ledger", *BUDGET)[0]["filter"] == after


def test_other_populations_and_settings_of_a_ledger(ledger: Path) -> None:
    Path("new.yaml").write_text(spec("other", "0.08", "q"))
    (found,) = totals("check", "new.yaml", "--ledger", "ledger", *BUDGET)
    assert found["population"] == "q" and found["before"] is None
    Path("new.yaml").write_text(spec("more", "0.08"))
    assert run("check", "new.yaml", "--ledger", "ledger", "--rho", "0.2").exit_code == 0
    assert run("check", "new.yaml", "--ledger", "ledger").exit_code == 1  # no budget
    Path("dpcompose.toml").write_text("total-budget = {rho = 0.1}\n")
    assert run("check", "new.yaml", "--ledger", "ledger").exit_code == 1
    Path("dpcompose.toml").write_text("total-budget = {rho = 0.2}\n")
    assert run("check", "new.yaml", "--ledger", "ledger").exit_code == 0


@pytest.mark.parametrize(
    ("text", "more", "code", "says"),
    [
        (spec("a", "1").replace("population: p\n", ""), (), 2, "names no `population:`"),
        ("dpcompose: 1\n", (), 3, "nothing was added up"),
        (spec("a", "0"), ("--recheck",), 2, "--recheck: of single specs"),
        (spec("a", "0"), ("--format", "sarif"), 2, "text, json or markdown"),
        (spec("a", "0").replace("unbounded", "bounded"), (), 2, "not added up"),
    ],
)
def test_what_cannot_be_checked_against_a_ledger(
    ledger: Path, text: str, more: tuple[str, ...], code: int, says: str
) -> None:
    Path("new.yaml").write_text(text)
    result = run("check", "new.yaml", "--ledger", "ledger", *BUDGET, *more)
    assert result.exit_code == code
    assert says in " ".join(result.stderr.split())
    assert run("check", "new.yaml", "--ledger", "nowhere", *BUDGET).exit_code >= 2


def test_the_document_is_what_its_schema_says(ledger: Path) -> None:
    Path("new.yaml").write_text(spec("more", "0.01"))
    result = run("check", "new.yaml", "--ledger", "ledger", *BUDGET, "--format", "json")
    assert json.loads(result.stdout) == checked("total", result.stdout)
