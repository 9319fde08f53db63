"""What a reviewer of specs from strangers has at hand: a repository with a base, and a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import command
from command import git
from typer.testing import Result

SPEC = """\
dpcompose: 1
protect: unbounded
population: riders-2026
datasets:
  t: {}
  p: {from: t, partition: {by: value, blocks: 2}}
mechanisms:
  - {name: m, reads: t, notion: pure, epsilon: 2}
  - {name: l, reads: p.*, mechanism: laplace, scale: 10, sensitivity: 1}
budget: {epsilon: 3}
"""
#: A person in several blocks, for adversaries.
OVERLAPPING = """\
dpcompose: 1
protect: unbounded
datasets:
  t: {}
  p: {from: t, partition: {by: membership, blocks: [a, b, c], max_blocks: 3}}
mechanisms:
  - {name: m, reads: p.*, notion: pure, epsilon: 1}
"""


def write(path: str, text: str) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def run(*arguments: str, stdin: str | None = None, **environment: str) -> Result:
    result = command.run(*arguments, stdin=stdin, **environment)
    assert "Traceback" not in result.output
    return result


def codes(*arguments: str, **environment: str) -> tuple[int, list[str]]:
    """The exit code, and the codes of all findings of level error."""
    result = run(*arguments, "--format", "jsonl", **environment)
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    errors = [f["code"] for one in lines for f in one["findings"] if f["level"] == "error"]
    return int(result.exit_code), errors


def changes(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(result.stdout)["changes"]
    return found


def commit() -> None:
    if not Path(".git").exists():
        git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-q", "-m", "base")
