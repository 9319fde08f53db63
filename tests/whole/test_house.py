"""The tests of the core mirror it: each module is imported by tests of its own folder."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def imported(path: Path) -> set[str]:
    """The modules, and what might be one, that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
