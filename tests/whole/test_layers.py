"""The layers of the code: who may import whom, and the one home of each third-party package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "dpcompose"

#: From the bottom up; rooms on one line do not import each other.
LAYERS = """
curves checker errors
core
memory places
source
faults
spec
resolve
report bridge
pipeline
bridge
planning
policy functions
handbook
render
commands
cli
__main__
"""

#: The same inside core.
CORE = """
numbers
notions
theorem
mechanisms
change
model
loss
partitions at_delta
hypotheses
theorems
kernel
search
"""

#: And inside render.
RENDER = """
layout logs
words
parts
text
plans pictures
json help
exports html
views
"""

#: The modules or the folders of modules that may import a third-party package.
HOMES: dict[str, list[tuple[str, ...]]] = {
    "typer": [("cli",)],
    "pydantic": [("spec",)],
    "pydantic_core": [("spec",)],
    "yaml": [("source", "events"), ("checker",)],
    "sqlglot": [("bridge",), ("commands", "import_sql")],
    "rich": [("render",), ("commands", "writing", "progress")],
    "pygls": [("commands", "editor")],
    "lsprotocol": [("commands", "editor")],
    "mpmath": [("curves",)],
    "numpy": [("curves",)],
    "jinja2": [("render", "html")],
    "markupsafe": [("render", "html")],
}


#: Imports for types alone by which files still import each other. The list only shrinks.
CIRCLES = {
    ("curves.curve", "curves.backends.renyi.cumulants"),
    ("curves.curve", "curves.backends.vertical_line.transforms"),
    ("commands.reading.gather", "commands.repository.revision"),
    ("commands.reading.policies", "commands.run"),
}


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """All statements of a module, those that stand there for types alone among them."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for each in ast.iter_child_nodes(node):
            if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case):
                waiting.append(each)


@cache
def imports() -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every import in the package: the parts of the importing module, those of the imported."""
    found: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
    for path in ROOT.rglob("*.py"):
        importing = path.relative_to(ROOT).with_suffix("").parts
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found += [(importing, tuple(each.name.split("."))) for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: imports are absolute"
                base = tuple((node.module or "").split("."))
                found += [(importing, (*base, each.name)) for each in node.names]
    return found


def ranks(layers: str) -> dict[str, int]:
    rows = enumerate(layers.strip().splitlines())
    return {name: rank for rank, row in rows for name in row.split()}


def names(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*") if path.suffix == ".py" or path.is_dir()} - {
        "__init__",
        "__pycache__",
    }


def test_rooms_import_only_from_the_layers_below() -> None:
    rank, inside = ranks(LAYERS), {"core": ranks(CORE), "render": ranks(RENDER)}
    for importing, (first, *rest) in imports():
        if first == "dpcompose" and rest and importing != ("__init__",):
            here, there = importing[0], rest[0]
            assert here == there or rank[there] < rank[here], f"{importing} imports {rest}"
            ranked = inside.get(here, {}) if here == there else {}
            if importing[1:] and rest[1:] and {importing[1], rest[1]} <= ranked.keys():
                same = importing[1] == rest[1]
                assert same or ranked[rest[1]] < ranked[importing[1]], f"{importing} imports {rest}"


def test_the_curves_have_one_door() -> None:
    """Outside of `curves` nothing is imported from it but what a package in it offers."""
    doors = {("curves",), ("curves", "rounding"), ("curves", "families")}
    for importing, (first, *rest) in imports():
        if first == "dpcompose" and rest[:1] == ["curves"] and importing[0] != "curves":
            assert tuple(rest[:-1]) in doors or tuple(rest) in doors, f"{importing} imports {rest}"


def test_every_room_has_a_layer() -> None:
    assert names(ROOT) == set(ranks(LAYERS))
    assert names(ROOT / "core") == set(ranks(CORE))
    assert names(ROOT / "render") == set(ranks(RENDER))


def graph() -> dict[str, set[str]]:
    """The files of the package by their names with dots, and those that each imports."""
    found: dict[str, set[str]] = {}
    files = {path.relative_to(ROOT).with_suffix("").parts for path in ROOT.rglob("*.py")}
    for importing, (first, *rest) in imports():
        if first != "dpcompose" or importing == ("__init__",):
            continue
        module = tuple(rest)
        for file in (module, module[:-1], (*module, "__init__"), (*module[:-1], "__init__")):
            if file in files and file != importing:
                found.setdefault(".".join(importing), set()).add(".".join(file))
                break
    return found


def is_circular(files: dict[str, set[str]]) -> bool:
    try:
        TopologicalSorter(files).prepare()
    except CycleError:
        return True
    return False


def test_files_do_not_import_each_other_in_circles() -> None:
    found = graph()
    for importing, imported in CIRCLES:
        found[importing].remove(imported)
    assert not is_circular(found)


@pytest.mark.parametrize(("importing", "imported"), sorted(CIRCLES))
def test_a_listed_circle_is_still_one(importing: str, imported: str) -> None:
    found = graph()
    for pair in CIRCLES - {(importing, imported)}:
        found[pair[0]].discard(pair[1])
    assert is_circular(found)


def test_each_third_party_package_has_one_home() -> None:
    for importing, (first, *_) in imports():
        if first in HOMES:
            allowed = any(importing[: len(home)] == home for home in HOMES[first])
            assert allowed, f"{importing} imports {first}"
