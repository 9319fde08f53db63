"""What the attacks have in common: a repository, specs, and calls of the program as users make."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from dpcompose import places
from dpcompose.cli import app
from dpcompose.commands.writing.output import guard
from dpcompose.policy import settings_files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

Done = subprocess.CompletedProcess[str]

FORMATS = (
    *("text", "concise", "csv", "json", "jsonl", "sarif", "github", "junit", "markdown"),
    *("statement", "label", "badge", "registry"),
)


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
        cwd=folder, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert code is None or done.returncode == code, done.stderr
    return done


def commit(message: str = "More", folder: Path | str = ".") -> None:
    """Commit all files as they are."""
    git("add", "-A", folder=folder)
    git("commit", "-q", "--no-verify", "-m", message, folder=folder)


def call(*arguments: str, folder: Path | str = ".", **environment: str) -> Done:
    """Run the program by itself; it never ends by a traceback.

    For what a process of its own has: its environment, arguments that are no text, a `PATH`.
    """
    done = subprocess.run(
        [sys.executable, "-m", "dpcompose", *arguments],
        cwd=folder, capture_output=True, encoding="utf-8", errors="surrogateescape",
        env={**os.environ, **environment}, timeout=600, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done


def called(*arguments: str, folder: Path | str = ".", **environment: str) -> Done:
    """The same in this process, which is many times faster: as `cli.run` does."""
    for known in (settings_files._nearest, places._work_tree):  # that a process learns once
        known.cache_clear()
    out, err = BytesIO(), BytesIO()
    streams: dict[str, Any] = {
        "stdin": TextIOWrapper(BytesIO()),
        "stdout": TextIOWrapper(out, "utf-8"),
        "stderr": TextIOWrapper(err, "utf-8"),
    }
    with chdir(folder), patch.dict(os.environ, environment), patch.multiple(sys, **streams):
        guard()
        try:
            app(list(arguments), prog_name="dpcompose")
        except SystemExit as end:
            code = int(end.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        stdout, stderr = (each.getvalue().decode("utf-8") for each in (out, err))
    assert "Traceback" not in stderr, stderr
    return Done(arguments, code, stdout, stderr)


def since(
    revision: str,
    *arguments: str,
    folder: Path | str = ".",
    run: Callable[..., Done] = called,
    **more: str,
) -> Done:
    """`diff --against`, failing where a bound grew."""
    flags = (f"--against={revision}", "--fail-on-increase", "--format=json")
    return run("diff", *flags, *arguments, folder=folder, **more)


def directions(done: Done) -> dict[str, str]:
    """What became of each file."""
    return {each["file"]: each["direction"] for each in json.loads(done.stdout)["changes"]}


def make_repository(root: Path) -> None:
    """A repository whose first commit, `base`, has specs of ε = 1; the second one is to come."""
    (root / "specs").mkdir(parents=True)
    git("init", "-q", "-b", "main", folder=root)
    for name in ("a", "b"):
        (root / "specs" / f"{name}.yaml").write_text(spec())
    commit("Base", folder=root)
    git("tag", "base", folder=root)


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let git and the program know of nothing that the machine has set up."""
    for key in [key for key in os.environ if key.startswith(("GIT_", "DPCOMPOSE"))]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
