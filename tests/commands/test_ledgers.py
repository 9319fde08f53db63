"""Ledgers under version control: `total --as-of`, `--over-time`, `check --ledger`, and whether
their releases still stand."""

from __future__ import annotations

import json
import os
import random
import subprocess
from pathlib import Path

import pytest
from command import git, run
from contracts import checked
from tables import tables

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


def test_what_is_left_out_of_a_ledger_fails_where_that_is_asked(ledger: Path) -> None:
    Path("new.yaml").write_text(spec("more", "0.001"))
    for more in ((), ("--changed-since", "HEAD")):
        call = ("check", "new.yaml", "--ledger", "ledger", *BUDGET, *more)
        assert run(*call).exit_code == 0
        assert run(*call, "--strict").exit_code == 2  # notes.yaml is no spec
    (ledger / "notes.yaml").unlink()
    assert run(*call, "--strict").exit_code == 0


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
        (spec("a", "0"), ("--format", "sarif"), 2, "text, json, markdown or html"),
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


def test_a_record_that_stands_is_told_with_its_revision(ledger: Path) -> None:
    found, told = since(0)
    assert found["record"] == {
        "revision": "HEAD", "releases": 2, "corrected": [], "rewritten": [],
    }  # fmt: skip
    assert told == [] and spent(found) == pytest.approx(0.07) and found["before"] is None
    text = run(*SINCE).stdout
    assert "2 releases of HEAD, as before" in text and "stood in HEAD as it was made" in text
    # A new one, in the folder or to be put there, is the only one that is new.
    Path("new.yaml").write_text(spec("more", "0.01"))
    outside, _ = since(0, "new.yaml")
    Path("new.yaml").rename(ledger / "new.yaml")
    for arguments in ((), ("ledger",), ("ledger/new.yaml",)):
        found, _ = since(0, *arguments)
        assert found["filter"] == outside["filter"] and spent(found) == pytest.approx(0.08)
        assert found["before"]["spent"]["rho"] == pytest.approx(0.07)  # type: ignore[index]
    # Without a revision it says what would look.
    says = " ".join(run("check", "new.yaml", "--ledger", "ledger", *BUDGET).stdout.split())
    assert says == "" or "--changed-since REV" in says
    assert "--changed-since REV" in " ".join(run("total", "ledger", *BUDGET).stdout.split())


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


def test_fewer_copies_and_fewer_mechanisms(ledger: Path) -> None:
    two = spec("ages", "0.02, count: 2").replace(
        "]\n", ", {name: b, reads: people, notion: zcdp, rho: 0.01}]\n"
    )
    (ledger / "b.yaml").write_text(two)
    git("commit", "-qam", "more")
    (ledger / "b.yaml").write_text(two.replace(", count: 2", ""))
    assert "is released 1 times, and was 2 times" in str(since(1)[1])
    (ledger / "b.yaml").write_text(spec("ages", "0.02, count: 3"))
    found, told = since(1)
    assert "`mechanism b` is gone" in str(told)
    assert spent(found) == pytest.approx(0.08)  # more than either is by itself


def test_corrections_upwards_are_told_and_counted(ledger: Path) -> None:
    (ledger / "b.yaml").write_text(spec("ages", "0.06"))
    found, told = since(0)
    assert told == [] and spent(found) == pytest.approx(0.08)
    assert found["record"]["corrected"] == ["ledger/b.yaml"]  # type: ignore[index]
    assert "1 corrected upwards (`ledger/b.yaml`)" in " ".join(run(*SINCE).stdout.split())


def test_of_several_changes_the_larger_sum_counts(ledger: Path) -> None:
    (ledger / "a.yaml").write_text(spec("counts", "0.03"))
    (ledger / "b.yaml").write_text(spec("ages", "0.01"))
    found, told = since(1)
    assert len(told) == 1 and spent(found) == pytest.approx(0.08)


def test_names_orders_and_documents_do_not_matter(ledger: Path) -> None:
    both = [(ledger / each).read_text() for each in ("a.yaml", "b.yaml")]
    (ledger / "a.yaml").unlink()
    (ledger / "b.yaml").unlink()
    (ledger / "deep").mkdir()
    (ledger / "deep" / "all.yml").write_text("---\n".join(reversed(both)))
    found, told = since(0)
    assert told == [] and found["before"] is None and spent(found) == pytest.approx(0.07)
    git("add", ".")
    git("commit", "-qm", "one file")
    (ledger / "deep" / "all.yml").write_text(both[0])
    found, told = since(1)
    assert told[0].startswith("ledger/deep/all.yml@HEAD: a release that spent")
    assert found["record"]["rewritten"] == ["ledger/deep/all.yml@HEAD (document 1)"]  # type: ignore[index]
    # Two releases that are alike are two.
    (ledger / "deep" / "all.yml").write_text("---\n".join([*both, both[0]]))
    git("commit", "-qam", "another one")
    (ledger / "deep" / "all.yml").write_text("---\n".join(both))
    assert len(since(1)[1]) == 1


def test_a_new_name_and_another_content_are_another_release(ledger: Path) -> None:
    (ledger / "b.yaml").unlink()
    (ledger / "c.yaml").write_text(spec("ages", "0.06"))  # more, but who knows
    found, told = since(1)
    assert "is gone" in told[0] and spent(found) == pytest.approx(0.13)


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


def test_a_link_to_nothing_was_no_release(ledger: Path) -> None:
    (ledger / "c.yaml").symlink_to("nothing.yaml")
    git("add", ".")
    git("commit", "-qm", "a link to nothing")
    assert since(0)[1] == [] and looked_through(0) == []
    (ledger / "c.yaml").unlink()
    assert since(0)[1] == []


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


def test_the_budget_and_the_filter_of_the_specs_stay(ledger: Path) -> None:
    more = "adaptivity: parameters\nfilter: zcdp\nbudget: {rho: 0.08}\nprotect:"
    for each in ("a.yaml", "b.yaml"):
        (ledger / each).write_text((ledger / each).read_text().replace("protect:", more))
    git("commit", "-qam", "one budget")
    call = SINCE[: -len(BUDGET)]
    assert run(*call).exit_code == 0
    for each in ("a.yaml", "b.yaml"):
        (ledger / each).write_text((ledger / each).read_text().replace("rho: 0.08", "rho: 9"))
    result = run(*call)
    says = " ".join(result.stdout.split())
    assert result.exit_code == 1 and "the budget is ρ = 9, and was ρ = 0.08" in says


def test_a_spec_that_was_invalid_is_compared_with_nothing(ledger: Path) -> None:
    (ledger / "bad.yaml").write_text("dpcompose: 1\n")
    git("add", ".")
    git("commit", "-qm", "a bad one")
    (ledger / "bad.yaml").write_text(spec("mended", "0.001"))
    result = run(*SINCE)
    assert result.exit_code == 0 and "warning[DPC223]" in result.stdout
    (ledger / "bad.yaml").unlink()
    assert "it was no valid spec there, and is gone" in str(since(1)[1])


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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--ledger", "ledger", "--changed-since", "nothing"), "git knows no such revision"),
        (("--ledger", "ledger", "--changed-since", ""), "the revision is empty"),
        (("--ledger", "led*", "--changed-since", "HEAD"), "a folder by its name"),
        (("--ledger", "-", "--changed-since", "HEAD"), "a folder by its name"),
        (("--ledger", "nowhere", "--changed-since", "HEAD"), "neither here nor in HEAD"),
        (("--ledger", "/tmp", "--changed-since", "HEAD"), "not in the repository"),
        (("--ledger", "ledger"), "no FILE is given"),
    ],
)
def test_what_cannot_be_looked_up(ledger: Path, arguments: tuple[str, ...], says: str) -> None:
    result = run("check", *arguments, *BUDGET, stdin="")
    assert result.exit_code == 2 and result.stdout == ""
    assert says in " ".join(result.stderr.split())


def test_a_ledger_that_the_revision_did_not_have(ledger: Path) -> None:
    ledger.rename(ledger.parent / "another")
    ledger.mkdir()
    (ledger / "first.yaml").write_text(spec("first", "0.01"))
    assert len(since(1)[1]) == 2  # they are in another folder
    result = run("check", "--ledger", "another", "--changed-since", "HEAD", *BUDGET)
    assert result.exit_code == 0 and "nothing was released in HEAD" in result.stdout


def test_a_revision_that_a_shallow_clone_lacks(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("clone", "-q", "--depth", "1", f"file://{tmp_path}", "clone")
    monkeypatch.chdir(tmp_path / "clone")
    result = run("check", "--ledger", "ledger", "--changed-since", "HEAD~1", *BUDGET)
    assert result.exit_code == 2 and "shallow" in result.stderr
    assert run("check", "--ledger", "ledger", "--changed-since", "HEAD", *BUDGET).exit_code == 0


def test_another_repository_in_the_ledger_is_refused(ledger: Path, tmp_path: Path) -> None:
    git("init", "-q", "-b", "main", "ledger/sub")
    (ledger / "sub" / "c.yaml").write_text(spec("sub", "0.001"))
    git("-C", "ledger/sub", "add", ".")
    git("-C", "ledger/sub", "commit", "-qm", "sub")
    git("add", ".")
    git("commit", "-qm", "a repository")
    result = run(*SINCE)
    assert result.exit_code == 2 and "another repository" in " ".join(result.stderr.split())


# --- what the history of a branch did -------------------------------------------------------------


def looked_through(code: int, *arguments: str) -> list[str]:
    """What is found of the ledger in history, each `file: message`."""
    settings_files._nearest.cache_clear()
    result = run("total", "ledger", *BUDGET, "--over-time", *arguments, "--format", "json")
    assert result.exit_code == code, result.output
    document = checked("total", result.stdout)
    assert {each["finding"]["code"] for each in document["findings"]} <= {"DPC223"}
    return [f"{each['file']}: {each['finding']['message']}" for each in document["findings"]]


def test_a_history_in_which_every_release_stands(ledger: Path) -> None:
    assert looked_through(0) == []
    (ledger / "b.yaml").write_text("# corrected\n" + spec("ages", "0.051"))
    git("commit", "-qam", "upwards")
    assert looked_through(0) == [] and looked_through(0, "--as-of", "HEAD~1") == []
    text = " ".join(run("total", "ledger", *BUDGET, "--over-time").stdout.split())
    assert "came into the history of HEAD as it was made" in text
    assert "--changed-since" not in text
    # Of patterns nothing is known that a commit had.
    text = " ".join(run("total", "ledger/[ab].yaml", *BUDGET, "--over-time").stdout.split())
    assert "none was changed or taken out afterwards" in text


def test_what_commits_took_out_or_made_less(ledger: Path) -> None:
    (ledger / "b.yaml").write_text(spec("ages", "0.01"))
    git("commit", "-qam", "less", date="2026-08-01T12:00:00Z")
    (ledger / "a.yaml").unlink()
    (ledger / "c.yaml").write_text(spec("other", "0.001"))
    git("add", ".")
    git("commit", "-qam", "gone", date="2026-09-01T12:00:00Z")
    gone, less = looked_through(1)
    assert gone.startswith("ledger/a.yaml@") and "spent ρ = 1/50 (0.02) was taken out by" in gone
    assert "of 2026-09-01" in gone and "of 2026-08-01" in less
    assert less.startswith("ledger/b.yaml:") and "rho is `1/100` and was `1/20`" in less
    assert looked_through(0, "--as-of", "HEAD~2") == []
    assert len(looked_through(1, "--as-of", "HEAD~1")) == 1
    # What is brought back, in any file and by however many commits, is no fault any more.
    (ledger / "old.yml").write_text(spec("counts", "0.02"))
    (ledger / "b.yaml").write_text(spec("ages", "0.05"))
    git("add", ".")
    git("commit", "-qam", "back")
    assert looked_through(0) == []


def test_what_is_not_committed_is_held_against_the_last_commit(ledger: Path) -> None:
    (ledger / "b.yaml").write_text(spec("ages", "0.01"))
    assert "has changed since HEAD" in looked_through(1)[0]
    (ledger / "b.yaml").unlink()
    assert "is gone since HEAD" in looked_through(1)[0]
    git("checkout", "-q", "ledger")
    (ledger / "b.yaml").rename(ledger / "d.yaml")
    assert looked_through(0) == []


def test_a_release_that_never_was_is_withdrawn_in_the_settings(ledger: Path) -> None:
    git("rm", "-q", "ledger/b.yaml")
    Path("dpcompose.toml").write_text(
        "[[overrides]]  # June was called off, see the minutes of 3 July\n"
        'paths = ["ledger/b.yaml"]\nseverity = {DPC223 = "note"}\n'
    )
    git("add", ".")
    git("commit", "-qm", "withdrawn")
    (told,) = looked_through(0)
    assert "was taken out" in told
    git("rm", "-q", "ledger/a.yaml")
    (ledger / "c.yaml").write_text(spec("other", "0.001"))
    git("add", ".")
    git("commit", "-qm", "another")
    assert len(looked_through(1)) == 2


def test_drafts_on_a_branch_that_was_merged_are_no_releases(ledger: Path) -> None:
    git("checkout", "-qb", "side")
    for rho in ("0.5", "0.01"):
        (ledger / "draft.yaml").write_text(spec("draft", rho))
        git("add", ".")
        git("commit", "-qm", rho)
    git("checkout", "-q", "-")
    git("merge", "-q", "--no-ff", "-m", "side", "side")
    assert looked_through(0) == []
    git("checkout", "-q", "side")
    assert len(looked_through(1)) == 1  # on the branch itself they were made less


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


@pytest.mark.parametrize("seed", range(60))
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


@pytest.mark.parametrize("seed", range(20))
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
