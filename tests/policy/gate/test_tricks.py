"""What a pull request may try so that a check passes that should not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .attacks import called, commit, directions, git, needs_git, since, spec

pytestmark = needs_git


def release(name: str, epsilon: str, population: str = "people") -> str:
    return (
        f"dpcompose: 1\npopulation: {population}\nprotect: unbounded\ndatasets: {{trips: {{}}}}\n"
        f"mechanisms: [{{name: {name}, reads: trips, notion: pure, epsilon: {epsilon}}}]\n"
    )


# --- lists of names -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["specs/c\nd.yaml", " specs.yaml", "specs/e.yaml ", "f\r.yaml"])
def test_names_in_lists_are_taken_as_they_are(root: Path, name: str) -> None:
    Path(name).write_text(spec(9))
    listed = root.parent / "listed"
    listed.write_bytes(name.encode() + b"\0specs/a.yaml\0")
    done = called("check", "--files-from", str(listed), "--format", "json")
    found = {each["file"]: each["budget"]["ok"] for each in json.loads(done.stdout)["results"]}
    assert found == {name: False, "specs/a.yaml": True}
    if "\n" not in name:
        listed.write_bytes(name.encode() + b"\nspecs/a.yaml\r\n")
        done = called("check", "--files-from", str(listed), "--format", "json")
        assert {each["file"] for each in json.loads(done.stdout)["results"]} == {*found}


def test_a_name_that_is_too_long_is_no_two_names(root: Path) -> None:
    listed = root.parent / "listed"
    listed.write_text("x" * 2**16 + "specs/a.yaml\n")
    done = called("check", "--files-from", str(listed))
    assert done.returncode == 2 and "a name has more than 65536 bytes" in done.stderr


# --- what a comparison is made at -----------------------------------------------------------------

ZCDP = spec().replace("notion: pure, epsilon: 1", "notion: zcdp, rho: 0.4")


def test_the_new_version_does_not_choose_where_it_is_compared(root: Path) -> None:
    """Incomparable notions, and a δ at which the new one seems to spend less."""
    path = root / "specs" / "a.yaml"
    path.write_text(ZCDP.replace("budget: {epsilon: 2}", "report: {delta: 0.4}"))
    done = since("base", "specs/a.yaml")
    assert (done.returncode, directions(done)) == (1, {"specs/a.yaml": "incomparable"})
    # Where the base asks for an ε at a δ, that decides, with those at the other δ's that are looked
    # at: ρ 0.4 is ε 4.9 at 1e-6 and 7.0 at 1e-12.
    for epsilon, code, direction in ((8, 0, "decreased"), (6, 1, "increased")):
        path.write_text(spec(epsilon).replace("budget: {epsilon: 2}", "report: {delta: 1e-6}"))
        commit()
        path.write_text(ZCDP.replace("budget: {epsilon: 2}", "report: {delta: 0.4}"))
        done = since("HEAD", "specs/a.yaml")
        assert (done.returncode, directions(done)) == (code, {"specs/a.yaml": direction})


def test_a_comparison_names_what_does_not_follow(root: Path) -> None:
    """Beside noise that got smaller, which assumes nothing, the smaller sensitivity is new."""
    path = root / "specs" / "a.yaml"
    text = spec().replace("notion: pure, epsilon: 1", "mechanism: laplace, NOISE")
    path.write_text(text.replace("NOISE", "scale: 10, sensitivity: 5"))
    commit()
    path.write_text(text.replace("NOISE", "scale: 8, sensitivity: 3"))
    (found,) = json.loads(since("HEAD", "specs/a.yaml").stdout)["changes"]
    assert found["assumed"] == ["`mechanism total`: sensitivity is `3` and was `5`"]


# --- revisions ------------------------------------------------------------------------------------


def test_a_name_that_means_several_revisions_is_refused(root: Path) -> None:
    git("config", "core.warnAmbiguousRefs", "false")
    (root / "specs" / "a.yaml").write_text(spec(2))
    commit()
    git("branch", "base")  # there is a tag of this name
    assert "git knows several" in since("base").stderr
    assert since("refs/tags/base", "specs").returncode == 1
    git("update-ref", "refs/remotes/origin/main", "refs/tags/base")
    assert since("origin/main", "specs").returncode == 1
    git("branch", "origin/main")
    assert "git knows several" in since("origin/main").stderr
    whole = git("rev-parse", "refs/tags/base").stdout.strip()
    for name in (whole, whole[:8]):
        assert since(name, "specs").returncode == 1
        git("update-ref", f"refs/heads/{name}", "HEAD")
        assert "git knows several" in since(name).stderr
    assert "does not start with a hyphen" in since("-x").stderr


# --- ledgers --------------------------------------------------------------------------------------


def test_new_people_open_no_budget_of_their_own(root: Path) -> None:
    folder = root / "ledger"
    folder.mkdir()
    (folder / "old.yaml").write_text(release("old", "1"))
    commit()
    git("tag", "main-then")
    (folder / "new.yaml").write_text(release("new", "1.5", "people-2"))
    call = ("check", "--ledger", "ledger", "--changed-since", "main-then", "--epsilon", "2")
    done = called(*call, "--delta", "0")
    assert done.returncode == 1 and "error[DPC315]: no release of main-then is on" in done.stderr
    settings = root / "dpcompose.toml"
    settings.write_text('populations = ["people", "people-2"]\n')
    assert called(*call, "--delta", "0").returncode == 1  # the change does not list them
    (folder / "new.yaml").unlink()
    commit("Settings")
    git("tag", "-f", "main-then")
    (folder / "new.yaml").write_text(release("new", "1.5", "people-2"))
    assert called(*call, "--delta", "0").returncode == 0


# --- what was accepted ----------------------------------------------------------------------------


def test_the_file_of_assumptions_is_as_it_is_written(root: Path) -> None:
    called("accept", "specs", "-o", "a.lock", "--by", "Ada", "--on", "2026-03-31")
    lock = root / "a.lock"
    text = lock.read_text(encoding="utf-8")
    check = ("check", "specs", "--assumptions", "a.lock")
    assert called(*check).returncode == 0
    lock.write_bytes(text.encode().replace(b"\n", b"\r\n"))
    assert called(*check).returncode == 0
    for old, new, why in (
        ('"by": "Ada"', '"by": "Eve",\n   "by": "Ada"', "is not as"),
        ('"by": "Ada",', '"by": "Ada",' + " " * 200 + '"on": "2020-01-01",', "is not as"),
        ('"by": "Ada"', '"by": "Ada\u202e"', "is not as"),
        ('"by": "Ada"', f'"by": "{"A" * 2000}"', "more than 1000 characters"),
        ("\n ]", "\n  ]", "is not as"),
    ):
        assert old in text
        lock.write_text(text.replace(old, new, 1), encoding="utf-8")
        done = called(*check)
        assert done.returncode == 2 and why in done.stderr, (old, done.stderr)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("--on", each) for each in ("2026-02-30", "20260331", "2026-W01-1", "today", "")),
        *(("--by", each) for each in ("", " ", "Ada\nEve", "Ada\u202e", " Ada", "A" * 201)),
    ],
)
def test_who_and_when_are_a_name_and_a_day(root: Path, option: str, value: str) -> None:
    done = called("accept", "specs", "-o", "a.lock", option, value)
    assert done.returncode == 2 and "is due" in done.stderr
    assert not (root / "a.lock").exists()
