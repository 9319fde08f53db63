"""What the README prints is what the program prints, and its picture of the code is true."""

from __future__ import annotations

import ast
import os
import pickle
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcompose.cli import app
from dpcompose.core.kernel.certificate import Certificate
from dpcompose.core.model.problem import Problem
from dpcompose.core.search.proof import certificate_of
from dpcompose.core.search.solver import Solver, notions
from dpcompose.core.theorems.select import select
from dpcompose.resolve import resolve
from dpcompose.source import load

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
MODULES = re.compile(r"(```text\n)(dpcompose/\n.*?)(```\n)", re.DOTALL)
KERNEL = re.compile(r"(<!-- files of the kernel -->\n```text\n)(.*?)(```\n)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output of: dpcompose ([^\n]*) -->\n```text\n)(.*?)(```\n)", re.DOTALL)


def keep_true(part: re.Pattern[str], now: Callable[[re.Match[str]], str], rewriting: bool) -> None:
    """Compare every such part of the README with what it should be now, or rewrite it."""
    text = README.read_text(encoding="utf-8")
    true = part.sub(now, text)
    if rewriting:
        README.write_text(true, encoding="utf-8", newline="\n")
    else:
        assert text == true, "run pytest --rewrite-golden"
    assert part.search(text)


def test_outputs_are_those_of_the_program(rewriting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    def printed(found: re.Match[str]) -> str:
        arguments = shlex.split(found[2])
        return found[1] + CliRunner().invoke(app, arguments).stdout + found[4]

    keep_true(OUTPUT, printed, rewriting)


def test_the_picture_of_the_code_is_true(rewriting: bool) -> None:
    keep_true(MODULES, lambda found: found[1] + picture() + found[3], rewriting)


def picture() -> str:
    """Every room, and every module beside them, with the first sentence of its docstring."""
    lines = ["dpcompose/"]
    top = ROOT / "dpcompose"
    modules = [path for path in top.glob("*.py") if path.name != "__init__.py"]
    rooms = [path for path in top.rglob("__init__.py") if path.parent != top]
    for path in sorted([*modules, *rooms], key=_shown_order):
        depth = len(path.relative_to(ROOT).parts) - 1
        folder = path.name == "__init__.py"
        name = f"{path.parent.name}/" if folder else path.name
        head = f"{'  ' * (depth - 1 if folder else depth)}{name}".ljust(22)
        lines += textwrap.wrap(_says(path), 98, initial_indent=head, subsequent_indent=" " * 22)
    return "\n".join(lines) + "\n"


#: The parts of the kernel: what each is, and the folders or files of `core` that it is.
RULES_REST_ON = "what the rules rest on: maps, partitions, distances, costs, numbers"
PARTS: dict[str, tuple[str, ...]] = {
    "the rules, the claims and their recheck": ("kernel",),
    RULES_REST_ON: (),
    "the families of concrete mechanisms": ("mechanisms", "profile"),
    "the theorems, with their hypotheses and bounds": ("theorems", "theorem", "hypotheses"),
}


@pytest.mark.slow
def test_the_kernel_is_as_large_as_the_readme_says(rewriting: bool) -> None:
    keep_true(KERNEL, lambda found: found[1] + kernel() + found[3], rewriting)


RECHECKS = """
import pickle, sys
from dpcompose.core.kernel.certificate import recheck
loaded = set(sys.modules)
proved = pickle.load(sys.stdin.buffer)
given = set(sys.modules)
for certificate, problem in proved:
    recheck(certificate, problem)
print(*sorted(set(sys.modules) - (given - loaded)))
"""


def proved() -> Iterator[tuple[Certificate, Problem]]:
    """The certificates of all example specs."""
    for path in sorted((ROOT / "specs").glob("*.yaml")):
        solver = Solver(resolve(load(path.read_bytes(), path.name)).problem)
        for notion in notions(solver.problem):
            solution = solver.solve(notion)
            if solution.finite:
                cited, _ = select(solver, solution)
                yield certificate_of(solver, solution, cited), solver.problem


def kernel() -> str:
    """The files that rechecks load, in a process that does nothing else, and how long they are."""
    command, given = [sys.executable, "-c", RECHECKS], pickle.dumps(list(proved()))
    run = subprocess.run(command, input=given, capture_output=True, check=True, timeout=120)
    files: dict[str, set[Path]] = {says: set() for says in PARTS}
    for module in run.stdout.decode().split():
        if module.startswith("dpcompose."):
            path = ROOT / module.replace(".", "/")
            part = (*module.split("."), "")[2]
            says = next((says for says, names in PARTS.items() if part in names), RULES_REST_ON)
            files[says].add(path / "__init__.py" if path.is_dir() else path.with_suffix(".py"))
    lines = []
    for says, paths in files.items():
        count = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
        lines.append(f"{count:5} lines in {len(paths):2} files: {says}")
        names = ", ".join(sorted({_named(path, paths) for path in paths}))
        lines += textwrap.wrap(names, 92, initial_indent=" " * 6, subsequent_indent=" " * 6)
    return "\n".join(lines) + "\n"


def _named(path: Path, among: set[Path]) -> str:
    """A file below `core`, or its folder where nearly all of that is among the files."""
    core = ROOT / "dpcompose" / "core"
    rest = sorted(each.name for each in path.parent.glob("*.py") if each not in among)
    if path.parent == core or len(rest) > 2:
        return os.path.relpath(path, core)
    folder = os.path.relpath(path.parent, core)
    return f"{folder}/" + (f" without {' and '.join(rest)}" if rest else "")


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


def test_references_to_the_theory_lead_to_its_sections() -> None:
    package = ROOT / "dpcompose"
    theory = (package / "core" / "THEORY.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (\d+)\. ", theory, re.MULTILINE))
    assert sections == set("123456789")
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for said in re.findall(r"[Tt]heory,\s+sections?\s+([\d, and]+)", text):
            assert set(re.findall(r"\d+", said)) <= sections, path
        assert not re.search(r"[Tt]heory, \d", text), path
