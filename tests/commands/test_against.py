"""`diff --against`: since a revision of a real git repository."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from command import git
from planning.test_diff import BASE, run
from typer.testing import Result

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two commits: BASE, tagged `first`, and one with a larger ε."""
    root = tmp_path / "repository"
    (root / "specs").mkdir(parents=True)
    monkeypatch.chdir(root)
    for key in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    git("init", "-q", "-b", "main")
    odd = root / "specs" / "-odd: $(touch x) 'é.yaml"
    for path in (root / "specs" / "rides.yaml", odd):
        path.write_text(BASE)
    git("add", ".")
    git("commit", "-q", "-m", "First")
    git("tag", "first")
    (root / "specs" / "rides.yaml").write_text(BASE.replace("epsilon: 1,", "epsilon: 1.5,"))
    git("commit", "-q", "-a", "-m", "Second")
    (root / "specs" / "new.yaml").write_text(BASE)
    return root


@needs_git
def test_against_a_revision(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("--against", "first", "specs/rides.yaml", "--fail-on-increase")
    assert result.exit_code == 1 and "ε  1.7 → 2.2  +29 %" in result.stdout
    assert run("--against", "HEAD", "specs/rides.yaml", "--fail-on-increase").exit_code == 0
    Path("specs/dpcompose.toml").write_text("budget = {epsilon = 2}\nrequire-relation = 'user'")
    shown = run("--against", "first", "specs/rides.yaml").stdout
    assert "over budget ε = 2 by 0.2" in shown and "DPC310" not in shown  # it was so before
    result = run("--against", "first", "--allow-new", "specs/new.yaml")
    assert "DPC310" in result.stdout and result.exit_code == 1
    Path("specs/dpcompose.toml").write_text("x = 1")
    result = run("--against", "first", "--allow-new", "specs")
    assert (result.exit_code, result.stderr.count("unknown key")) == (2, 1)
    Path("specs/dpcompose.toml").unlink()
    assert run("--against", "HEAD~1", str(repository / "specs" / "rides.yaml")).exit_code == 0
    monkeypatch.chdir(repository / "specs")
    assert "▲" in run("--against", "first", "rides.yaml").stdout
    monkeypatch.setenv("GIT_DIR", ".git")  # as a hook has it
    assert "▲" in run("--against", "first", "rides.yaml").stdout


@needs_git
def test_hostile_names_and_revisions(repository: Path) -> None:
    odd = "specs/-odd: $(touch x) 'é.yaml"
    result = run("--against", "first", odd)
    assert result.exit_code == 0 and "unchanged" in result.stdout
    assert not (repository / "x").exists()
    for revision, words in {
        "-h": "does not start with a hyphen",
        "--output=x": "does not start with a hyphen",
        "": "--against: the revision is empty; is a variable not set?",
        " ": "the revision is empty",
        "a\0b": "no revision has a null byte",
        "no such": "git knows no such revision\n",
        "first:specs/rides.yaml": "git knows no such revision\n",
        "a\nb": "git knows no such revision\n",
    }.items():
        result = run(f"--against={revision}", "specs/rides.yaml")
        assert result.exit_code == 2 and "Traceback" not in result.output, revision
        assert words in result.stderr
    assert not (repository / "x").exists()


@needs_git
def test_a_new_file(repository: Path) -> None:
    result = run("--against", "first", "specs/new.yaml", "specs/rides.yaml")
    assert result.exit_code == 2
    assert "specs/new.yaml is not in first" in result.stderr
    assert "▲" in result.stdout
    result = run("--against", "first", "--allow-new", "--fail-on-increase", "specs/new.yaml")
    assert result.exit_code == 1 and "new spec: ε = 1.7" in result.stdout
    for found in ("specs", "specs/*"):  # what is found there may be new
        folder = run("--against", "first", found, "--fail-on-increase")
        assert (folder.exit_code, folder.stderr) == (1, "")
        assert folder.stdout.count("▲ ") == 2 and folder.stdout.endswith("\n1 unchanged\n")
        whole = run("--against", "first", found, "--all")
        assert whole.stdout.count("unchanged at") == 1 and "unchanged\n" not in whole.stdout
    listed = repository / "list"
    listed.write_text("specs/rides.yaml\n")
    assert "▲" in run("--against", "first", "--files-from", str(listed)).stdout
    shown = run("--against", "first", "--allow-new", "--format", "markdown", "specs/new.yaml")
    assert (
        shown.exit_code == 0
        and "### ▲ <code>specs/new.yaml</code>: new spec: ε = 1.7 " in shown.stdout
    )


@needs_git
def test_outside_of_a_repository_and_without_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.yaml").write_text(BASE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    result = run("--against", "HEAD", "a.yaml")
    assert result.exit_code == 2 and "in no git repository" in result.stderr
    monkeypatch.setenv("PATH", str(tmp_path))
    result = run("--against", "HEAD", "a.yaml")
    assert result.exit_code == 2 and "git is not installed" in result.stderr
    assert run("--against", "HEAD", "-").exit_code == 2
    assert run("--against", "HEAD", "none/a.yaml").exit_code == 2


# --- renamed and removed -------------------------------------------------------------------------


def told(result: Result) -> list[tuple[str | None, str | None, str]]:
    assert "Traceback" not in result.output
    changes = json.loads(result.stdout)["changes"]
    return [(each["old_file"], each["new_file"], each["direction"]) for each in changes]


def since(*arguments: str) -> Result:
    return run("--against", "HEAD", *arguments, "--fail-on-increase", "--format", "json")


ODD = "specs/-odd: $(touch x) 'é.yaml"
HOSTILE = "specs/--output=x\n\t\x1b[31m*?[a] → ü.yaml"


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize("found", ["specs", "specs/*", ".", "**/*.yaml"])
def test_renamed_and_removed_specs_are_told(repository: Path, found: str) -> None:
    Path("specs/values.yaml").write_text("a: 1\n")
    Path(ODD).write_text("dpcompose: 1\nprotect: user\ndatasets: {}\nmechanisms: []\n")
    Path("specs/new.yaml").unlink()
    git("add", ".")
    git("commit", "-q", "-m", "Values")
    git("rm", "-q", "specs/values.yaml")  # was no spec
    git("mv", "specs/rides.yaml", HOSTILE)
    Path(ODD).unlink()  # without git
    result = since(found)
    assert (told(result), result.exit_code, result.stderr) == (
        [("specs/rides.yaml", HOSTILE, "same"), (ODD, None, "decreased")], 0, "",
    )  # fmt: skip
    Path(HOSTILE).write_text(BASE.replace("epsilon: 1,", "epsilon: 3,"))
    result = since(found)
    assert told(result)[0] == ("specs/rides.yaml", HOSTILE, "increased")
    assert result.exit_code == 1
    shown = run("--against", "HEAD", found)
    assert "specs/rides.yaml → specs/--output=x\\n\\t\\x1b[31m" in shown.stdout
    assert "\n▼ specs/-odd: $(touch x) 'é.yaml: removed spec: it was invalid\n" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert not Path("x").exists() and not Path("specs/x").exists()


@pytest.mark.slow
@needs_git
def test_names_of_before_and_of_now_mean_the_same_spec_once(repository: Path) -> None:
    git("add", ".")
    git("commit", "-q", "-m", "All")
    (repository / "other").mkdir()
    git("mv", "specs/rides.yaml", "other/trips.yaml")
    Path(ODD).unlink()
    pair, removed = ("specs/rides.yaml", "other/trips.yaml", "same"), (ODD, None, "decreased")
    for arguments, expected in {
        ("specs/rides.yaml", "other/trips.yaml"): [pair],
        ("other", "specs/rides.yaml", ODD): [pair, removed],
        ("specs", "other", ODD): [("specs/new.yaml",) * 2 + ("same",), removed, pair],
        ("specs/r*.yaml",): [pair],
        ("specs/[a-r]*.yaml", "--files-from=list"): [
            ("specs/new.yaml",) * 2 + ("same",), pair, removed,
        ],
    }.items():  # fmt: skip
        Path("list").write_text(f"other\n{ODD}\n")
        assert told(since(*arguments)) == expected, arguments
    root = str(repository)
    assert told(since(f"{root}/specs/rides.yaml")) == [
        (f"{root}/specs/rides.yaml", f"{root}/other/trips.yaml", "same")
    ]


@pytest.mark.slow
@needs_git
def test_a_folder_that_is_gone_is_no_error(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git("clean", "-fq")
    git("rm", "-qr", "specs")
    expected = [(ODD, None, "decreased"), ("specs/rides.yaml", None, "decreased")]
    for found in ("specs", "specs/", ".", "spec?", "**/*.yaml"):
        result = since(found)
        assert (told(result), result.exit_code, result.stderr) == (expected, 0, ""), found
    (repository / "specs").mkdir()
    assert told(since("specs")) == expected
    assert told(since("specs/[a-z]*.yaml")) == expected[1:]
    result = since("specs/none.yaml", "no*", "nothing", "a\0b/c")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 4
    monkeypatch.chdir("specs")
    assert told(since("rides.yaml")) == [("rides.yaml", None, "decreased")]
    assert told(since("*", "../specs"))[-1] == ("rides.yaml", None, "decreased")


@needs_git
def test_a_name_with_wildcards_is_a_name_where_it_was_one(repository: Path) -> None:
    Path("specs/a[1].yaml").write_text(BASE)
    git("add", ".")
    git("commit", "-q", "-m", "Odd")
    git("rm", "-q", "specs/a[1].yaml")
    assert told(since("specs/a[1].yaml")) == [("specs/a[1].yaml", None, "decreased")]


@needs_git
def test_names_that_git_could_read_something_into(repository: Path) -> None:
    for name in (":(top)x", "-x.yaml", ":!y.yaml", "--", "*.yaml"):
        Path(name).write_text(BASE)
        git("--literal-pathspecs", "add", "--", name)
    git("commit", "-q", "-m", "Odd")
    for name in (":(top)x", "./-x.yaml", ":!y.yaml"):
        assert told(run("--against", "HEAD", "--format", "json", "--", name)) == [
            (name, name, "same")
        ]


@pytest.mark.slow
@needs_git
@pytest.mark.parametrize("literal", ["specs/*.yaml", "specs/[r]ides.yaml", "specs/*"])
def test_a_file_that_is_called_like_a_pattern_takes_nothing_from_it(
    repository: Path, literal: str
) -> None:
    """In the change alone, in the revision too, or as a folder."""
    Path("specs/rides.yaml").write_text(BASE.replace("epsilon: 1,", "epsilon: 3,"))
    wanted = ("specs/rides.yaml", "specs/rides.yaml", "increased")
    Path(literal).write_text(BASE)
    assert wanted in told(since(literal))
    git("--literal-pathspecs", "add", "--", literal)
    git("commit", "-q", "-m", "Odd")
    assert wanted in told(since(literal))
    git("rm", "-q", "--cached", "--", literal)
    Path(literal).unlink()
    Path(literal).mkdir()
    assert wanted in told(since(literal))


# --- links ---------------------------------------------------------------------------------------


@pytest.mark.slow
@needs_git
def test_links_are_followed_in_the_revision_itself(repository: Path) -> None:
    for name, target in {
        "specs/link.yaml": "rides.yaml", "again.yaml": "folder/../specs/./link.yaml",
        "folder": "specs", "through.yaml": "folder/rides.yaml",
    }.items():  # fmt: skip
        Path(name).symlink_to(target)
    git("add", ".")
    git("commit", "-q", "-m", "Links")
    Path("specs/rides.yaml").write_text(BASE.replace("epsilon: 1,", "epsilon: 3,"))
    for name in ("specs/link.yaml", "again.yaml", "through.yaml", "folder/rides.yaml"):
        assert told(since(name)) == [(name, name, "increased")]
    names = {new for _, new, _ in told(since("specs"))}
    assert {"specs/link.yaml", "specs/rides.yaml"} <= names  # as git: two files
    Path("specs/link.yaml").unlink()
    Path("specs/link.yaml").symlink_to("new.yaml")  # hides no change of what it led to
    assert ("specs/rides.yaml", "specs/rides.yaml", "increased") in told(since("specs"))
    git("rm", "-q", "again.yaml")
    assert told(since("again.yaml"))[0][1] is None
    Path("fresh.yaml").symlink_to("specs/rides.yaml")
    assert told(since("fresh.yaml")) == [("specs/rides.yaml", "fresh.yaml", "increased")]


@pytest.mark.slow
@needs_git
def test_links_lead_nowhere_else(repository: Path) -> None:
    secret = repository.parent / "secret.yaml"
    secret.write_text(BASE)
    out, circle = "leads out of the repository", "leads round in a circle, or too far"
    nowhere = "leads to no file of the repository"
    links = {
        "../secret.yaml": out, "specs/../../repository/specs/rides.yaml": out,
        str(secret): out, "/etc/passwd": out, "c": circle, ".git/config": nowhere,
        "specs": nowhere, "no.yaml": nowhere, "specs/rides.yaml/x": nowhere,
    }  # fmt: skip
    names = [f"{number}.yaml" for number in range(len(links))]
    for name, target in zip(names, links, strict=True):
        Path(name).symlink_to(name if target == "c" else target)
    for number in range(45):
        Path(f"chain{number}").symlink_to(f"chain{number + 1}")
    Path("chain45").write_text(BASE)
    links, names = {**links, "chain": circle}, [*names, "chain0"]
    git("add", ".")
    git("commit", "-q", "-m", "Links")
    for name, says in zip(names, links.values(), strict=True):
        Path(name).unlink()
        Path(name).write_text(BASE)
        result = since(name)
        assert result.exit_code == 2 and "Traceback" not in result.output
        assert f"cannot read {name} in HEAD: it was a link that {says}\n" in result.stderr


# --- clones --------------------------------------------------------------------------------------


@needs_git
def test_a_shallow_clone_is_called_so(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git("clone", "-q", "--depth", "1", repository.as_uri(), "../clone")
    monkeypatch.chdir("../clone")
    assert run("--against", "HEAD", "specs").exit_code == 0
    result = run("--against", "HEAD~1", "specs")
    assert result.exit_code == 2
    assert "no such revision; the clone is shallow" in result.stderr
    assert "`fetch-depth: 0`" in result.stderr and "`git fetch --deepen" in result.stderr
