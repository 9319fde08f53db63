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


def told(result: Result) -> list[tuple[str | None, str | None, str]]:
    assert "Traceback" not in result.output
    changes = json.loads(result.stdout)["changes"]
    return [(each["old_file"], each["new_file"], each["direction"]) for each in changes]


def since(*arguments: str) -> Result:
    return run("--against", "HEAD", *arguments, "--fail-on-increase", "--format", "json")


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
