"""What the README prints is what the program prints, and its picture of the code is true."""

from __future__ import annotations

import ast
import os
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
MODULES = re.compile(r"(```text\n)(dpcompose/\n.*?)(```\n)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output of: dpcompose ([^\n]*) -->\n```text\n)(.*?)(```\n)", re.DOTALL)


def test_outputs_are_those_of_the_program(rewriting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = README.read_text(encoding="utf-8")

    def printed(found: re.Match[str]) -> str:
        arguments = shlex.split(found[2])
        return found[1] + CliRunner().invoke(app, arguments).stdout + found[4]

    now = OUTPUT.sub(printed, text)
    if rewriting:
        README.write_text(now, encoding="utf-8", newline="\n")
    else:
        assert text == now, "run pytest --rewrite-golden"
    assert OUTPUT.search(text)


def test_the_picture_of_the_code_is_true(rewriting: bool) -> None:
    text = README.read_text(encoding="utf-8")
    now = MODULES.sub(lambda found: found[1] + picture() + found[3], text)
    if rewriting:
        README.write_text(now, encoding="utf-8", newline="\n")
    else:
        assert text == now, "run pytest --rewrite-golden"
    assert MODULES.search(text)


def picture() -> str:
    """Every module with the first sentence of its docstring."""
    lines = ["dpcompose/"]
    for path in sorted((ROOT / "dpcompose").rglob("*.py"), key=_shown_order):
        depth = len(path.relative_to(ROOT).parts) - 1
        folder = path.name == "__init__.py"
        name = f"{path.parent.name}/" if folder else path.name
        indent = "  " * (depth - 1 if folder else depth)
        if depth > 1 or not folder:
            head = f"{indent}{name}".ljust(28)
            lines += textwrap.wrap(_says(path), 98, initial_indent=head, subsequent_indent=" " * 28)
    return "\n".join(lines) + "\n"


def _shown_order(path: Path) -> tuple[tuple[bool, str], ...]:
    """Modules before the folders beside them, and a folder before what it holds."""
    parts = path.relative_to(ROOT).parts
    folders = tuple((True, part) for part in parts[:-1])
    return folders if parts[-1] == "__init__.py" else (*folders, (False, parts[-1]))


def _says(path: Path) -> str:
    says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.])\s", " ".join(says.split("\n\n")[0].split()), maxsplit=1)[0]


def test_the_spec_in_the_readme_gives_what_it_says() -> None:
    spec = README.read_text(encoding="utf-8").split("```yaml\n")[1].split("```")[0]
    result = CliRunner().invoke(app, ["analyze", "-", "--quiet"], input=spec)
    assert (result.exit_code, result.stdout) == (0, "1.7\n")


def test_commands_in_the_readme_name_files_that_exist() -> None:
    text = README.read_text(encoding="utf-8") + (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for spec in re.findall(r"\bspecs/[\w.-]+\.yaml", text):
        assert (ROOT / spec).exists(), spec
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_attack_in_the_table_has_its_test() -> None:
    table = README.read_text(encoding="utf-8").partition("| the change brings |")[2]
    named = re.findall(r"`(test_\w+)`", table.partition("\n\n")[0])
    there = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    assert len(named) > 30 and [each for each in named if f"def {each}(" not in there] == []
