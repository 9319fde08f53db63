"""What the documents print is what the program prints, and what they name is there."""

from __future__ import annotations

import ast
import os
import re
import shlex
import textwrap
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import LIBRARY
from typer.main import get_command
from typer.testing import CliRunner

import dpcompose
from dpcompose.cli import app
from dpcompose.commands.explain import identifiers
from dpcompose.render.views import as_svg

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PACKAGE = ROOT / "dpcompose"
ARCHITECTURE, IN_CI = PACKAGE / "ARCHITECTURE.md", PACKAGE / "policy" / "IN_CI.md"
DOCUMENTS = (README, ARCHITECTURE, IN_CI, PACKAGE / "commands" / "USAGE.md")
PICTURE = ROOT / "specs" / "report.svg"
MODULES = re.compile(r"(```text\n)(dpcompose/\n.*?)(```\n)", re.DOTALL)
OUTPUT = re.compile(r"(<!-- output of: dpcompose ([^\n]*) -->\n```text\n)(.*?)(```\n)", re.DOTALL)


def keep_true(
    document: Path, part: re.Pattern[str], now: Callable[[re.Match[str]], str], rewriting: bool
) -> None:
    """Compare every such part of a document with what it should be now, or rewrite it."""
    text = document.read_text(encoding="utf-8")
    true = part.sub(now, text)
    if rewriting:
        document.write_text(true, encoding="utf-8", newline="\n")
    else:
        assert text == true, "run pytest --rewrite-golden"
    assert part.search(text)


def test_outputs_are_those_of_the_program(rewriting: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    def printed(found: re.Match[str]) -> str:
        arguments = shlex.split(found[2])
        return found[1] + CliRunner().invoke(app, arguments).stdout + found[4]

    for document in (README, PACKAGE / "commands" / "USAGE.md"):
        keep_true(document, OUTPUT, printed, rewriting)


def test_the_picture_of_the_code_is_true(rewriting: bool) -> None:
    keep_true(ARCHITECTURE, MODULES, lambda found: found[1] + picture() + found[3], rewriting)


def test_the_glossary_speaks_of_names_that_there_are() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*) \| [^|]* \|[^|]*\|$", text.partition("## Glossary")[2], re.M)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    code = "\n".join(each.read_text(encoding="utf-8") for each in PACKAGE.rglob("*.py"))
    defined = set(re.findall(r"^\s*(?:class |def )?(\w+)\b(?=[(:]| =| *: )", code, re.M))
    assert len(rows) >= 40 and len(named) >= 50 and named <= defined, named - defined


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


def _shown_order(path: Path) -> tuple[tuple[bool, str], ...]:
    """Modules before the folders beside them, and a folder before what it holds."""
    parts = path.relative_to(ROOT).parts
    folders = tuple((True, part) for part in parts[:-1])
    return folders if parts[-1] == "__init__.py" else (*folders, (False, parts[-1]))


def _says(path: Path) -> str:
    says = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return re.split(r"(?<=[.])\s", " ".join(says.split("\n\n")[0].split()), maxsplit=1)[0]


def own_spec() -> tuple[str, str]:
    """The first spec in the README, and the bound that it is said to have."""
    text = README.read_text(encoding="utf-8")
    found = re.search(
        r"<!-- the spec of the picture: (.*?) -->\n```yaml\n(.*?)```", text, re.DOTALL
    )
    assert found is not None
    return found[2], found[1]


def test_the_picture_is_the_report_of_the_spec_in_the_readme(rewriting: bool) -> None:
    spec, bound = own_spec()
    report = dpcompose.analyze(spec, "shop.dp.yaml")
    assert report.verdict is not None and report.verdict.ok and not report.findings
    assert f"{bound} at δ = " in repr(report)
    shown = as_svg(report, "dpcompose analyze shop.dp.yaml", 100)
    if rewriting:
        PICTURE.write_text(shown, encoding="utf-8", newline="\n")
    kept = PICTURE.read_text(encoding="utf-8")
    # Versions of rich end it with a line more or less.
    told, now = (re.findall(r">([^<>]*[^<>\s][^<>]*)</text>", each) for each in (kept, shown))
    assert told == now and len(now) > 50, "run pytest --rewrite-golden"
    assert "font-face" not in kept and "<script" not in kept


#: What `.ci/run` does as well.
QUICK_START = (
    "python3 -m venv .venv && .venv/bin/pip install . && "
    ".venv/bin/dpcompose analyze specs/paper/ambulances-districts-bounded.yaml",
    "python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && "
    ".venv/bin/pytest -n auto -m 'not slow'",
)


def test_the_readme_is_a_page_to_land_on() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 250
    assert [line for line in lines if line in QUICK_START] == [*QUICK_START]


def test_commands_in_the_documents_name_files_that_exist() -> None:
    for document in (*DOCUMENTS, ROOT / ".ci" / "run"):
        for spec in re.findall(r"\bspecs/[\w./-]+\.yaml", document.read_text(encoding="utf-8")):
            assert (ROOT / spec).exists(), spec
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]*(?:#[^)]*)?)\)", text):
        name, _, anchor = target.partition("#")
        assert not name.startswith("http")
        found = document.parent / name if name else document
        assert found.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [
                re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings
            ]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_the_documents_are_taken(document: Path) -> None:
    """Every call in a block of commands has a command and options that there are."""
    group: Any = get_command(app)
    text = document.read_text(encoding="utf-8")
    calls = [
        line.partition("  #")[0]
        for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
        for line in block.splitlines()
        if line.startswith(("dpcompose ", "python -I -m dpcompose "))
    ]
    for call in calls:
        name, *arguments = shlex.split(call.partition("dpcompose ")[2])
        group.commands[name].make_context(name, arguments)
    for word in re.findall(r"`dpcompose\s+explain\s+([^`\s]+)`", text):
        if word != "WORD":
            assert word in dict(identifiers("")), word


HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\n"
_GROUPS = """\
dpcompose: 1
protect: PROTECT
datasets:
  t: {}
  g: {from: t, partition: {by: membership, blocks: 12, max_blocks: 3}}
mechanisms: [{name: m, reads: g.*, notion: pure, epsilon: 1, relation: unbounded}]
"""
#: The specs of the comparison: the number in the last column, the spec, and the δ of the number.
COMPARED = (
    ("1.7, by IV.13", LIBRARY["ambulances-districts-bounded"], ()),
    ("3, and 6 for", _GROUPS.replace("PROTECT", "unbounded"), ()),
    ("6 for a replaced row", _GROUPS.replace("PROTECT", "bounded"), ()),
    ("0.790113", LIBRARY["hospitals-365-nights"], ("1e-6",)),
    (
        "4.69267",
        HEAD + "mechanisms:\n"
        "  - {name: m, reads: t, mechanism: laplace, scale: 10, sensitivity: 1, count: 100}\n",
        ("1e-6",),
    ),
)


@pytest.mark.parametrize(("says", "spec", "deltas"), COMPARED, ids=[each[0] for each in COMPARED])
def test_our_numbers_in_the_comparison_are_ours(
    says: str, spec: str | Path, deltas: tuple[str, ...]
) -> None:
    table = README.read_text(encoding="utf-8").partition("| the other library |")[2]
    cells = [row.split("|")[3].strip() for row in table.splitlines() if row.count("|") == 4]
    assert any(says in cell for cell in cells)
    text = spec.read_text(encoding="utf-8") if isinstance(spec, Path) else spec
    report = dpcompose.analyze(text, deltas=[Fraction(each) for each in deltas])
    assert report.bound is not None
    value = report.at_delta[0].value if deltas else report.bound.value
    assert value is not None
    number = says.partition(",")[0].split()[0]
    digits = len(number.partition(".")[2])
    assert Fraction(number) - Fraction(1, 10**digits) < value <= Fraction(number)


def test_every_attack_in_the_table_has_its_test() -> None:
    table = IN_CI.read_text(encoding="utf-8").partition("| the change brings |")[2]
    named = re.findall(r"`(test_\w+)`", table.partition("\n\n")[0])
    there = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_*.py"))
    assert len(named) > 30 and [each for each in named if f"def {each}(" not in there] == []


def test_references_to_the_theory_lead_to_its_sections() -> None:
    package = ROOT / "dpcompose"
    theory = (package / "core" / "THEORY.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^## (\d+)\. ", theory, re.MULTILINE))
    assert sections >= set("123456789")
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for said in re.findall(r"[Tt]heory,\s+sections?\s+([\d, and]+)", text):
            assert set(re.findall(r"\d+", said)) <= sections, path
        assert not re.search(r"[Tt]heory, \d", text), path
