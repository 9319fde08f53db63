"""The command as a user calls it, run in this process, and git as its author does."""

from __future__ import annotations

import os
import subprocess

from contracts import checked
from typer.testing import CliRunner, Result

from dpcompose.cli import app
from dpcompose.policy import settings_files

#: Commands whose every JSON document is held against its schema.
HELD = {"diff", "fit", "savings", "total"}
PLAIN = {"NO_COLOR": "", "FORCE_COLOR": "", "TERM": "xterm"}


def run(*arguments: str, stdin: str | bytes | None = None, **environment: str) -> Result:
    """What the command says and its exit code, on a terminal of no special wishes."""
    settings_files._nearest.cache_clear()
    call = list(arguments)
    result = CliRunner(env={**PLAIN, **environment}).invoke(app, call, input=stdin)
    if HELD & {*arguments[:1]} and "json" in arguments and result.stdout:
        checked(arguments[0], result.stdout)
    return result


def git(*arguments: str, date: str = "2026-01-01T12:00:00Z") -> None:
    """Call git as somebody without settings, at a time of choice."""
    identity = ("user.name=a", "user.email=a@example.org", "commit.gpgsign=false")
    who = [part for each in identity for part in ("-c", each)]
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_COMMITTER_DATE": date,
        "GIT_AUTHOR_DATE": date,
    }
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True, env=environment)
