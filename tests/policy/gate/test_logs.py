"""No text of a spec, or of a name, is a command where GitHub reads what is printed."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcompose.render.logs import Inert

from .attacks import FORMATS, call, called, commit, needs_git, spec

#: As the runner reads a line: a command after blanks, or the older form anywhere.
COMMAND = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
#: What the format `github` means as one.
MEANT = re.compile(r"^::(error|warning|notice) (file=\S|title=dpcompose DPC)", re.MULTILINE)

pytestmark = [needs_git, pytest.mark.slow]


def commands(text: str) -> list[str]:
    return [
        line for line in re.split(r"[\r\n]", text) if COMMAND.search(line) and not MEANT.match(line)
    ]


def wrapping(word: str) -> str:
    """A text in which the word comes to stand at the start of a line, at whatever width."""
    return " ".join(f"{'x' * length} {word}" for length in range(1, 90))


@pytest.fixture
def hostile(root: Path) -> list[str]:
    """Specs whose every text is a command; the names of their files too."""
    bad = "::add-mask::x ##[error]y ##vso[task]z"
    name = json.dumps(bad)
    texts = {
        "::stop-commands::x.yaml": spec(5, title=bad),
        "##[group]x.yaml": spec(1, title=wrapping("::error::x")),
        "a\n::error::x.yaml": spec(1, title="\u2003::x \ufeff::y\\n::z\\r::u"),
        "b\r::error::x.yaml": spec("::x"),
        "named.yaml": spec().replace("trips", name).replace("name: total", f"name: {name}"),
        "because.yaml": spec().replace(
            "{trips: {}}", f"{{trips: {{}}, t: {{from: trips, map: filter, because: {name}}}}}"
        ),
        "broken.yaml": "dpcompose: 1\n::error::x: [\n##[error]\n",
        "unknown.yaml": f"{spec()}::add-mask::x: 1\n'##[x]': 2\n{json.dumps(wrapping('::x'))}: 3\n",
        "wide.yaml": spec().replace("name: total", f"name: {json.dumps(wrapping('::x')[:2000])}"),
    }
    for path, text in texts.items():
        Path(path).write_text(text)
    return list(texts)


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_prints_commands(hostile: list[str], form: str) -> None:
    for command in ("analyze", "check"):
        # The streams of a real process, for the format that means some lines as commands.
        run = call if (command, form) == ("check", "github") else called
        for flags in ([], ["--color=always"]):
            done = run(command, *hostile, "::no.yaml", "##[no]", "--format", form, *flags)
            assert commands(done.stdout) == [] and commands(done.stderr) == []
            assert done.returncode == 3
            if form == "json":
                titles = {each["title"] for each in json.loads(done.stdout)["results"]}
                assert "::add-mask::x ##[error]y ##vso[task]z" in titles
            elif form == "jsonl":
                assert all(map(json.loads, done.stdout.splitlines()))
            elif form == "junit":
                names = {each.get("name") for each in ElementTree.fromstring(done.stdout)}
                assert "##[group]x.yaml" in names


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_no_comparison_and_no_sum_prints_commands(hostile: list[str], form: str) -> None:
    commit()
    for name in hostile:
        Path(name).write_text(Path(name).read_text().replace("epsilon: 1", "epsilon: 2"))
    for arguments in (
        ["diff", "--against=base", "."], ["diff", "--against=HEAD", "."],
        ["diff", "--against=::x", "."], ["diff", "--against=##[x]", "."],
        ["total", "--all", "."], ["total", "--all", hostile[0], hostile[1]],
    ):  # fmt: skip
        done = called(*arguments, "--format", form)
        assert commands(done.stdout) == [] and commands(done.stderr) == [], arguments


def test_errors_print_no_commands(hostile: list[str]) -> None:
    for arguments in (
        ["::add-mask::x"], ["check", "--\n::add-mask::x"], ["check", "--format", "::x"],
        ["check", "--fail-on", "x\n::error::y"], ["explain", "::x"], ["explain", "##[x]"],
        ["check", "--epsilon", "::x"], ["check", "-o", "::x/y", "specs"],
        ["check", "-o", "x\n::y/z", "specs"], ["fit", "::no"], ["fit", hostile[0]],
        ["fit", "broken.yaml"], ["savings", "named.yaml"],
        ["analyze", "-q", *hostile], ["check", "--show-settings", *hostile],
    ):  # fmt: skip
        run = call if "broken.yaml" in arguments or "--\n::add-mask::x" in arguments else called
        done = run(*arguments, GITHUB_ACTIONS="true")
        assert commands(done.stdout) == [] and commands(done.stderr) == [], arguments


def test_settings_print_no_commands(root: Path) -> None:
    for text in ("'::x' = 1", "a = '''\n::x'''", "fail-on = '::x'", "forbid = ['##[x]']"):
        Path("dpcompose.toml").write_text(f"{text}\n")
        done = called("check", "specs")
        assert done.returncode == 2
        assert commands(done.stdout) == [] and commands(done.stderr) == []


def test_a_planned_spec_is_data_that_no_log_reads(root: Path) -> None:
    text = spec() + "# ##[error]x\n"
    Path("a.yaml").write_text(text)
    planned = text.replace("epsilon: 1}", "epsilon: 2}")
    assert called("fit", "a.yaml", GITHUB_ACTIONS="").stdout == planned
    done = called("fit", "a.yaml", GITHUB_ACTIONS="true")
    assert (done.returncode, done.stdout) == (2, "")
    assert "text that a log takes for a command" in done.stderr
    assert called("fit", "a.yaml", "-o", "out.yaml", GITHUB_ACTIONS="true").returncode == 0
    assert Path("out.yaml").read_text() == planned


@given(st.lists(st.text(alphabet=":#[ \n\rxv\u2003\x1b", max_size=12), max_size=12))
def test_however_text_is_cut_into_pieces_it_has_no_commands(pieces: list[str]) -> None:
    inert = Inert()
    out = "".join(map(inert, pieces))
    assert not COMMAND.search(out.replace("\r", "\n")), out
    assert out.replace("\\", "") == "".join(pieces)


def test_text_without_commands_stays_as_it_is() -> None:
    for text in ("a::b\n", "a ## [x]\n", "#[x] # [y]\n", "std::cout\n  a ::b\n", "", "::"):
        assert Inert()(text) == text or text == "::"
    meant = "::error file=a.yaml::x ##[y]\n"
    assert Inert(commands=True)(meant) == "::error file=a.yaml::x ##\\[y]\n"
