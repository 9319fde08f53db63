"""How the code is laid out: tests beside what they test, and the way of a number."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from .test_layers import statements

ROOT = Path(__file__).parents[2]


@cache
def imported(path: Path) -> set[str]:
    """The modules, and what might be one, that a file imports."""
    found: set[str] = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
    return found


def test_every_module_of_the_core_is_tested_in_its_own_folder() -> None:
    missing = []
    for path in sorted((ROOT / "dpcompose" / "core").rglob("*.py")):
        module = path.relative_to(ROOT).with_suffix("")
        folder = ROOT / "tests" / module.parent.relative_to("dpcompose")
        names = {each for test in folder.rglob("*.py") for each in imported(test)}
        if path.stem != "__init__" and ".".join(module.parts) not in names:
            missing.append(f"{folder.relative_to(ROOT)} has no test of {'.'.join(module.parts)}")
    assert not missing, missing


def test_no_name_of_a_file_or_of_a_class_stands_twice() -> None:
    files: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for path in (ROOT / "dpcompose").rglob("*.py"):
        files[path.stem] += path.stem not in ("__init__", "__main__")
        classes.update({*re.findall(r"^ *class (\w+)", path.read_text("utf-8"), re.MULTILINE)})
    assert not [name for name, times in (files + classes).items() if times > 1]


@pytest.mark.slow
@pytest.mark.parametrize("notion", ["pure", "approx", "zcdp", "gdp"])
def test_a_number_passes_few_modules(notion: str) -> None:
    """From YAML to the screen: whatever is called with it, returns it or holds it. Three of these
    modules are the step that a loss carries, the proof, and its formulas with their numbers."""
    command = [sys.executable, "tests/bench/passes.py", "--notion", notion]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *modules, count = done.stdout.splitlines()
    assert count == f"{len(modules)} modules" and 10 < len(modules) <= 23, done.stdout
