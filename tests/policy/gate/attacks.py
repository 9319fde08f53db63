"""What the attacks have in common: a repository, specs, and calls of the program as users make."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app
from dpcompose.policy import settings_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

Done = subprocess.CompletedProcess[str]


def spec(epsilon: object = 1, title: str = "Trips", budget: object = 2) -> str:
    """A spec that costs `epsilon`."""
    return (
        f"dpcompose: 1\ntitle: {json.dumps(title)}\nprotect: unbounded\ndatasets: {{trips: {{}}}}\n"
        f"mechanisms:\n  - {{name: total, reads: trips, notion: pure, epsilon: {epsilon}}}\n"
        f"budget: {{epsilon: {budget}}}\n"
    )


def git(*arguments: str, folder: Path | str = ".", code: int | None = 0) -> Done:
    """Call git as the maintainer, or the attacker, of a repository does."""
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    local = ["-c", "protocol.file.allow=always"]
    done = subprocess.run(
        ["git", *identity, *local, *arguments],
        cwd=folder, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert code is None or done.returncode == code, done.stderr
    return done


def commit(message: str = "More", folder: Path | str = ".") -> None:
    """Commit all files as they are."""
    git("add", "-A", folder=folder)
    git("commit", "-q", "--no-verify", "-m", message, folder=folder)


def call(*arguments: str, folder: Path | str = ".", **environment: str) -> Done:
    """Run the program by itself; it never ends by a traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "dpcompose", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", errors="surrogateescape",
        env={**os.environ, **environment}, timeout=300, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def called(*arguments: str) -> Done:
    """The same in this process, for what depends on neither streams nor the environment."""
    settings_files._nearest.cache_clear()
    result = CliRunner().invoke(app, list(arguments))
    assert "Traceback" not in result.output, result.output
    return Done(arguments, result.exit_code, result.stdout, result.stderr)


def since(revision: str, *arguments: str, folder: Path | str = ".", **more: str) -> Done:
    """`diff --against`, failing where a bound grew."""
    flags = (f"--against={revision}", "--fail-on-increase", "--format=json")
    return call("diff", *flags, *arguments, folder=folder, **more)


def directions(done: Done) -> dict[str, str]:
    """What became of each file."""
    return {each["file"]: each["direction"] for each in json.loads(done.stdout)["changes"]}


def make_repository(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose first commit, `base`, has specs of ε = 1; the second one is to come."""
    root = home / "repository"
    (root / "specs").mkdir(parents=True)
    monkeypatch.chdir(root)
    for key in [key for key in os.environ if key.startswith(("GIT_", "DPCOMPOSE"))]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git("init", "-q", "-b", "main")
    for name in ("a", "b"):
        (root / "specs" / f"{name}.yaml").write_text(spec())
    commit("Base")
    git("tag", "base")
    return root
