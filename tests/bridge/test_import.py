"""The command `import`: what is recognised, written and refused, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import run
from volume import thinned

import dpcompose
from bridge.record import RECORDED
from dpcompose.bridge import spec_of_text
from dpcompose.source import load

pytestmark = pytest.mark.usefixtures("home")

GAUSS = '{"class_name": "GaussianDpEvent", "noise_multiplier": 1.0}'


@pytest.mark.parametrize("file", thinned(sorted(path.name for path in RECORDED.iterdir())))
def test_recorded_files_are_recognised(file: str) -> None:
    options = {
        "essential.summary.csv": ["--contributions", "36"],
        "groups.summary.json": ["--contributions", "36", "--sensitivity", "age=100"],
    }.get(file, [])
    result = run("import", str(RECORDED / file), *options, "-o", "x.dp.yaml")
    if file == "mean.opendp.json":
        assert result.exit_code == 3 and "map(1)" in result.stderr
        return
    assert (result.exit_code, result.output) == (0, "")
    assert dpcompose.analyze_file("x.dp.yaml").status == "ok"
    assert run("analyze", "x.dp.yaml", "--delta", "1e-6").exit_code == 0


def test_the_format_may_be_said() -> None:
    result = run("import", "-", "--from", "opacus", stdin=GAUSS)
    assert result.exit_code == 3
    assert result.stderr == (
        "dpcompose: <stdin>: `history` is missing\n    hint: `accountant.state_dict()` has it\n"
    )


def test_deltas_are_asked_of_the_spec() -> None:
    result = run("import", "-", "--delta", "1e-5", "--delta", "1/1000", stdin=GAUSS)
    assert result.stdout.endswith("report: {delta: [1e-5, 1/1000]}  # as the call asks\n")
    assert run("import", "-", "--delta", "2", stdin=GAUSS).exit_code == 2


def test_relations_are_asked_of_events_alone() -> None:
    result = run("import", "-", "--relation", "bounded", stdin=GAUSS)
    assert "protect: bounded  # as the call says\n" in result.stdout
    composition = str(RECORDED / "composition.opendp.json")
    result = run("import", composition, "--relation", "bounded")
    assert result.exit_code == 3 and "--relation is not for the format `opendp`" in result.stderr


def test_an_input_is_not_overwritten() -> None:
    Path("event.json").write_text(GAUSS)
    assert run("import", "event.json", "-o", "event.json").exit_code == 2
    assert Path("event.json").read_text() == GAUSS
    assert run("import", "missing.json").exit_code == 2
    assert run("import", ".").exit_code == 2
    assert run("import", "event.json", "--sensitivity", "age").exit_code == 2


#: A file, and what is said of it.
HOSTILE: list[tuple[str | bytes, str]] = [
    ("", "the file is empty"),
    (" \n", "the file is empty"),
    ("[" + "[]," * (3 * 2**20) + "[]]", "the file is larger than 8 MiB"),
    (b"\xff\xfe{", "not UTF-8 text: byte 0"),
    ("{", "line 1, column 2: this is no JSON"),
    ('{"history": [[1.5,\n 0.04 2250]]}', "line 2, column 7: this is no JSON: Expecting ','"),
    ("[" * 100_000, "nested too deep"),
    ('{"class_name":"SelfComposedDpEvent","count":1,"event":' * 3000 + GAUSS + "}" * 3000, "deep"),
    ('{"class_name":"SelfComposedDpEvent","count":1,"event":' * 101 + GAUSS + "}" * 101,
     "event.event.event"),
    ("{}", "the format is not recognised"),
    ("[]", "the format is not recognised"),
    ("3", "the format is not recognised"),
    ("true story\n", "the format is not recognised"),
    ('"text"', "the format is not recognised"),
    ('[{"column": "a"}]', "the format is not recognised"),
    ('{"history": [], "history": []}', "the key `history` is given twice"),
    ('{"history": [[NaN, 0.1, 1]]}', "history[0][0]: a finite number is due, not NaN"),
    ('{"history": [[1e999999999999, 0.1, 1]]}', "is no number that can be used"),
    ('{"history": [[' + "9" * 5000 + ", 0.1, 1]]}", "is no number that can be used"),
    ('{"history": [[1, 0.1, -3]]}', "history[0][2]: a number of at least 0"),
    ('{"class_name": "Evil\\u001b[2JDpEvent"}', "`Evil\\x1b[2JDpEvent` is not known"),
    ('{"class_name": 7}', "class_name: a text is due, not the number `7`"),
    ('{"class_name": null}', "class_name: a text is due, not null"),
    ('{"dp_event": {}}', "dp_event: `class_name` is missing"),
    ('{"__function__": "make_chain_mt"}', "`measurement1` is missing"),
    ("column,aggregate,distribution,scale\nage,Sum,Integer Laplace,\n", "not null"),
    ('column,aggregate,distribution,scale\nage,"Su', "this is no CSV"),
    ("column,aggregate,distribution,scale\nage,Length,Integer Laplace,x\n", "is no number"),
]  # fmt: skip


#: This takes a second.
LONG = '{"history": ' + "[" + "[1,1,1]," * 100_001 + "[1,1,1]]}"


@pytest.mark.parametrize(
    ("content", "says"),
    [*HOSTILE, pytest.param(LONG, "longer than 100000", marks=pytest.mark.slow)],
)
def test_hostile_files_are_refused_in_plain_words(content: str | bytes, says: str) -> None:
    result = run("import", "-", stdin=content)
    assert result.exit_code == 3, result.output
    assert says in result.stderr
    assert result.stderr.startswith("dpcompose: <stdin>: ") and result.stderr.isascii() is not None
    assert result.stdout == "" and "\x1b" not in result.stderr and len(result.stderr) < 2000


NAMES = [
    "a: b", "- x", "#1", "{x}", '"', "'", "\\", "yes", "1e3", "a\nb: c", "\t", "\u202e", "é", "🙂",
    "[red]x[/red]", "::error::x", "*", "&a", "!!x", "%", "@", "`", "a" * 500, "\x00", "- {name: x}",
    "<<", "=", "~", "null", "a # b",
]  # fmt: skip


@pytest.mark.parametrize("called", NAMES)
def test_names_of_strangers_are_quoted(called: str) -> None:
    row = {"column": called, "aggregate": "Length", "distribution": "Float Laplace", "scale": 2}
    other: dict[str, Any] = {**row, "scale": 4}
    spec = spec_of_text(json.dumps([row, other]))
    assert dpcompose.analyze(spec).status == "ok"
    tree: Any = load(spec, "x").value
    names = [each["name"] for each in tree["mechanisms"]]
    assert len(set(names)) == 2 and all(each.startswith("Length of ") for each in names)


def test_comments_cannot_break_out() -> None:
    content = json.dumps({"history": [[1, 0.1, 1]], "mechanism": "gdp\nmechanisms: []\n#"})
    result = run("import", "-", stdin=content)
    assert result.exit_code == 0 and "\nmechanisms: []" not in result.stdout


def test_comments_ignore_no_findings() -> None:
    called = "x # dpcompose: ignore[DPC204] is fine"
    row = {"column": called, "aggregate": "Length", "distribution": "Float Laplace", "scale": 2}
    spec = spec_of_text(json.dumps([row]))
    comments = [line.partition("  # ")[2] for line in spec.splitlines()]
    assert not any("#" in each for each in comments)


@pytest.mark.slow
def test_many_keys_given_twice_are_quick() -> None:
    pairs = ",".join(f'"{number}": 1' for number in range(200_000))
    result = run("import", "-", stdin=f'{{{pairs}, "199999": 2}}')
    assert result.exit_code == 3 and "the key `199999` is given twice" in result.stderr


def test_many_events_are_quick() -> None:
    events = [json.loads(GAUSS) | {"noise_multiplier": 1 + i % 7} for i in range(20_000)]
    content = json.dumps({"class_name": "ComposedDpEvent", "events": events})
    result = run("import", "-", stdin=content)
    assert result.exit_code == 0 and result.stdout.count("mechanism: gaussian") == 7
    assert "and 2855 more" in result.stdout
