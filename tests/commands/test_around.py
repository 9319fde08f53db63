"""What stands around the program: `init`, completion, the hooks of pre-commit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from command import run
from conftest import LIBRARY
from typer.main import get_command
from typer.testing import CliRunner
from volume import thinned

import dpcompose
from dpcompose.cli import app
from dpcompose.cli.help_pages import COMMON
from dpcompose.cli.help_pages import examples as help_examples
from dpcompose.commands.starter import SCHEMA_FILE, starter
from dpcompose.handbook import full_spec, printed_examples
from dpcompose.places import FOLDERS

ROOT = Path(__file__).parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"


# --- init ----------------------------------------------------------------------------------------


def test_the_starter_meets_its_budget_without_any_finding() -> None:
    report = dpcompose.analyze(starter())
    assert report.status == "ok" and report.bound is not None and report.bound.value == 1
    assert report.verdict is not None and report.verdict.ok and report.verdict.slack == 0
    assert report.findings == ()


@pytest.mark.slow
def test_init_writes_a_spec_and_the_schema_that_its_modeline_names(home: Path) -> None:
    run("init")
    text = (home / "pipeline.dp.yaml").read_text(encoding="utf-8")
    modeline = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert modeline is not None and modeline[1] == SCHEMA_FILE
    schema = json.loads((home / SCHEMA_FILE).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "name",
    thinned([*LIBRARY, *printed_examples()], 20),
)
def test_init_starts_from_a_copy_of_any_example(home: Path, name: str) -> None:
    assert run("init", "a.yaml", "--from", name).exit_code == 0
    text = (home / "a.yaml").read_text(encoding="utf-8")
    assert text.startswith(f"# yaml-language-server: $schema={SCHEMA_FILE}\n#")
    assert (
        "# expect:" not in text and text.endswith("\n") and max(map(len, text.split("\n"))) <= 100
    )
    if name in LIBRARY:
        assert yaml.safe_load(text) == yaml.safe_load(LIBRARY[name].read_text(encoding="utf-8"))
    else:
        example, report = printed_examples()[name], dpcompose.analyze(text)
        assert report.title == example.title
        assert report.bound == dpcompose.analyze(full_spec(example.specs[0].lines)).bound


def test_examples_are_listed_with_their_titles_and_printed(home: Path) -> None:
    listed = run("examples").stdout
    names = re.findall(r"^([\w.-]+) {2,}\S", listed, re.MULTILINE)
    assert sorted(names) == sorted([*LIBRARY, *printed_examples(), *FOLDERS])
    assert names.index("deployments") < names.index("google-mobility") < names.index("patterns")
    assert "Two questions by randomized response" in listed


# --- help and completion -------------------------------------------------------------------------


def commands() -> list[str]:
    group: Any = get_command(app)
    return sorted(name for name, each in group.commands.items() if not each.hidden)


@pytest.mark.parametrize("command", [(), *((each,) for each in commands())])
def test_help_is_complete_and_80_columns_wide(command: tuple[str, ...]) -> None:
    text = CliRunner(env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"}).invoke(
        app, [*command, "--help"]
    )
    assert text.exit_code == 0
    lines = text.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    group: Any = get_command(app)
    for parameter in (group.commands[command[0]] if command else group).params:
        if parameter.param_type_name == "option" and not parameter.hidden:
            assert parameter.help and parameter.help.endswith((".", "…")), parameter.name


@pytest.mark.parametrize("command", [(), *((each,) for each in commands())])
def test_short_help_fits_a_screen_and_shows_how_to_call_the_command(
    command: tuple[str, ...],
) -> None:
    text = CliRunner(env={"COLUMNS": "80"}).invoke(app, [*command, "-h"]).stdout
    lines = text.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert lines[0].startswith("Usage: ")
    for typed in help_examples().get(command[0], ()) if command else ():
        assert typed in text
    for name in COMMON.get(command[0], ()) if command else commands():
        assert re.search(rf"^{name}\b", text, re.MULTILINE), name


def test_help_has_the_commands_in_panels_and_the_exit_codes() -> None:
    lines = run("--help").stdout.splitlines()
    panels = [line.split("─")[1].strip() for line in lines if line.startswith("╭─")]
    assert panels == ["Options", "Analyse", "Plan", "Review", "Learn", "Exit codes"]
    listed = [line.split()[1] for line in lines if re.match(r"│ [a-z]+ +[A-Z]", line)]
    assert sorted(listed) == commands()


@pytest.mark.parametrize("command", commands())
def test_help_pages_with_two_examples_that_the_command_takes(command: str) -> None:
    result = run(command, "--help")
    tail = result.stdout.partition("╭─ Examples ")[2]
    group: Any = get_command(app)
    for typed, says in help_examples()[command].items():
        assert typed in tail and says in " ".join(tail.replace("│", " ").split())
        said = [part.partition(" > ")[0].split()[1:] for part in typed.split(" | ")]
        for name, *arguments in said:
            if name in group.commands:
                group.commands[name].make_context(name, arguments)
            else:
                assert name == "--install-completion"


def test_the_former_name_of_a_command_has_its_help() -> None:
    former, now = (run(name, "--help") for name in ("sensitivity", "savings"))
    assert former.exit_code == 0
    assert former.stdout.replace("sensitivity", "savings").split() == now.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("width", ["40", "80", "120"])
def test_help_fits_a_terminal_that_has_few_characters(width: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": width, "NO_COLOR": "1"}
    for command in ((), ("check",), ("analyze",), ("explain",)):
        done = subprocess.run(
            [sys.executable, "-m", "dpcompose", *command, "--help"],
            env=environment, capture_output=True, check=True,
        )  # fmt: skip
        assert b"\x1b" not in done.stdout and done.stdout.isascii()
        assert max(map(len, done.stdout.splitlines())) <= max(int(width), 80)


def test_nothing_in_a_help_text_is_markup() -> None:
    assert "[FORMAT=]FILE" in run("check", "--help").stdout


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_options_and_theorems(shell: str) -> None:
    """As the script of the shell asks for it, through the environment."""

    @cache
    def offered(*words: str) -> str:
        line = " ".join(["dpcompose", *words])
        asking = {
            "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words))},
            "zsh": {"_TYPER_COMPLETE_ARGS": line},
            "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
        }[shell]
        environment = {**os.environ, "_DPCOMPOSE_COMPLETE": f"complete_{shell}", **asking}
        result = subprocess.run(
            [sys.executable, "-m", "dpcompose"],
            env=environment, capture_output=True, encoding="utf-8", timeout=600, check=False,
        )  # fmt: skip
        assert result.returncode == 0, result.stderr
        return result.stdout

    assert "analyze" in offered("an") and "theorems" not in offered("an")
    if shell == "bash":  # what is offered does not depend on how a shell asks
        assert "--at-epsilon" in offered("analyze", "--at")
        assert "IV.13" in offered("explain", "IV.1")
        assert "stated_on" in offered("explain", "stat")
    assert "savings" in offered("schema", "sa") and "total" in offered("schema", "to")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed_and_one_it_can_read(shell: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "dpcompose", "completion", shell],
        capture_output=True, encoding="utf-8", timeout=600, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert f"_DPCOMPOSE_COMPLETE=complete_{shell}" in result.stdout
    assert result.stdout == run("completion", shell).stdout
    assert "_DPCOMPOSE_COMPLETE" not in os.environ
    if found := shutil.which(shell):
        reading = [found, "-n"] if shell != "fish" else [found, "--no-execute"]
        subprocess.run(reading, input=result.stdout, text=True, check=True, timeout=600)


# --- pre-commit ----------------------------------------------------------------------------------


def test_the_hooks_call_commands_that_exist_on_the_right_files() -> None:
    hooks = yaml.safe_load(HOOKS.read_text(encoding="utf-8"))
    assert [each["id"] for each in hooks] == ["dpcompose-check", "dpcompose-analyze"]
    for hook in hooks:
        program, command, *options, last = hook["entry"].split()
        assert program == "dpcompose" and command in commands() and last == "--"
        assert run(command, *options, "-h").exit_code == 0
        assert hook["language"] == "python"
        files = re.compile(hook["files"])
        assert all(files.search(name) for name in ("pipeline.dp.yaml", "a/b.dp.yml"))
        assert not any(files.search(name) for name in ("a.yaml", "dp.yaml", "a.dp.yaml.orig"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="elsewhere such a folder cannot be removed")
@pytest.mark.parametrize(
    "call",
    [["check", "x.yaml"], ["check"], ["analyze", "--jobs", "2", "."], ["diff", "a", "b"],
     ["diff", "--against", "HEAD", "a"], ["total", "a"], ["accept", "a"], ["fit", "a"]],
)  # fmt: skip
def test_a_removed_working_folder_is_a_bad_call(
    call: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    result = run(*call)
    monkeypatch.chdir(tmp_path)
    assert result.exit_code == 2
    assert result.stderr == (
        "dpcompose: the working folder was removed: change to one that is there\n"
    )
