"""Settings of a project, comments that ignore findings, and reasons in a spec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import run
from render.test_formats import schema_of_results
from tables import tables
from typer.testing import Result

from dpcompose.policy import settings_files
from dpcompose.policy.codes import ADJUSTABLE, IGNORABLE, POLICY_CODES

TABLES = tables(__file__)

SPEC = """dpcompose: 1
protect: unbounded
datasets:
  t: {}
  p: {from: t, partition: {by: value, blocks: 2}}
mechanisms:
  - {name: m, reads: t, notion: pure, epsilon: 2}
"""
NOTED = "DPC203"  # no mechanism reads any block of p: a note


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    (home / "s.yaml").write_text(SPEC)
    (home / "in").mkdir()
    (home / "in" / "deep").mkdir()
    (home / "in" / "deep" / "d.yaml").write_text(SPEC)
    return home


def found(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def codes(result: Result) -> list[tuple[str, str]]:
    return [(each["code"], each["level"]) for one in found(result) for each in one["findings"]]


def ask(*arguments: str, **environment: str) -> Result:
    return run("analyze", "s.yaml", "--format", "jsonl", *arguments, **environment)


# --- which file ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://example.org", "https://example.org/"),
        ("https://example.org:8443/a/b%20c//", "https://example.org:8443/a/b%20c/"),
        ("file:///srv/pages/", "file:///srv/pages/"),
        *((each, None) for each in (
            "http://example.org", "javascript:alert(1)", "https://", "https:///x", "file://host/x",
            "https://me@example.org/", "https://example.org/?a", "https://example.org/#a",
            "https://example.org/\\u001b[31m", "https://example.org/ a", "https://example.org/<b>",
            "https://example.org/\\n", "https://ex\u00e4mple.org/", "https://e.org:/", "data:,", "",
            "https://example.org/%zz", "https://e.org/" + "a" * 1000,
        )),
    ],
)  # fmt: skip
def test_a_site_is_an_address(home: Path, written: str, read: str | None) -> None:
    (home / "dpcompose.toml").write_text(f'site = "{written}"\n', encoding="utf-8")
    result = run("check", "s.yaml", "--show-settings")
    assert f'site = "{read}"' in result.stdout if read else result.exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("in/deep/d.yaml", True), ("./in/deep/d.yaml", True), ("in/**", True), ("in/", True),
        ("d.yaml", True), ("*.yaml", True), ("**/d.yaml", True), ("in/*/?.yaml", True),
        ("in/**/d.yaml", True), ("**/deep/*", True),
        ("in/*", False), ("deep/d.yaml", False), ("in/deep/d", False), ("IN/**", False),
        ("in/deep/d.yaml.bak", False), ("in.deep.d.yaml", False), ("[i]n/**", False),
    ],
)  # fmt: skip
def test_overrides_are_for_paths_below_the_file(home: Path, pattern: str, fits: bool) -> None:
    (home / "dpcompose.toml").write_text(
        f'fail-on = "note"\n[[overrides]]\npaths = ["{pattern}"]\nfail-on = "warning"\n'
    )
    shown = run("analyze", "in/deep/d.yaml", "--show-settings").stdout
    assert ('fail-on = "warning"' in shown) is fits
    assert ("overrides[0]" in shown) is fits


@pytest.mark.parametrize("name", ["in/a\nb.yaml", "in/x/a\r.yaml", "in/\n/y.yaml"])
def test_a_pattern_reaches_names_with_line_ends(name: str) -> None:
    (pattern,) = settings_files._patterns(["in/**"], "overrides[0]")
    assert pattern.fullmatch(name)


# --- hostile files -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        *TABLES["bad settings are named and nothing is analysed"],
        ("[[overrides]]\npaths = ['" + "*a" * 30 + "']", "is no path below"),
        ("a = " + "[" * 5000, "not valid TOML"),
        ("\udcff", "not valid TOML"),
        ("#" * 2**20 + "\n", "larger than 1 MiB"),
    ],
)
def test_bad_settings_are_named_and_nothing_is_analysed(home: Path, text: str, says: str) -> None:
    (home / "dpcompose.toml").write_bytes(text.encode(errors="surrogateescape"))
    for command in (["analyze"], ["check", "--epsilon", "9"], ["analyze", "--show-settings"]):
        result = run(*command, "s.yaml", "in")
        assert (result.exit_code, result.stdout) == (2, ""), result.stdout
        assert says in result.stderr
        assert result.stderr.startswith("dpcompose: dpcompose.toml: ")
        assert result.stderr.count("dpcompose.toml") == 1 or "--show" in command[-1]
        assert "\x1b" not in result.stderr and "Traceback" not in result.output
    assert run("analyze", "s.yaml", "--isolated").exit_code == 0


# --- what policies find --------------------------------------------------------------------------


BECAUSE = "because: a row has one value"


def test_no_setting_hides_a_missing_bound_or_a_budget_exceeded(home: Path) -> None:
    quiet = {"DPCOMPOSE_SEVERITY": ",".join(f"{code}=note" for code in sorted(ADJUSTABLE))}
    assert run("check", "s.yaml", "--epsilon", "1", **quiet).exit_code == 1
    (home / "s.yaml").write_text(SPEC.replace("from: t, partition", "from: o, partition").replace(
        "  p:", "  o: {from: t, map: opaque}\n  p:").replace("reads: t", "reads: o"))  # fmt: skip
    assert ask(**quiet).exit_code == 1
    assert not ADJUSTABLE & {"DPC300", "DPC301", "DPC302", "DPC303", "DPC304"}
    assert IGNORABLE.isdisjoint(POLICY_CODES)


# --- comments ------------------------------------------------------------------------------------


def commented(home: Path, text: str) -> dict[str, Any]:
    (home / "s.yaml").write_text(text)
    return found(ask())[0]


P = "  p: {from: t, partition: {by: value, blocks: 2}}"


@pytest.mark.parametrize(
    "text",
    [
        SPEC.replace(P, f"{P}  # dpcompose: ignore[{NOTED}] read next year"),
        SPEC.replace(P, f"  # dpcompose: ignore[{NOTED}] read next year\n{P}"),
        SPEC.replace(P, f"  #dpcompose:ignore[ {NOTED} ]read next year\n  # more\n\n{P}"),
        SPEC.replace(P, f"  p:\n    from: t  # dpcompose: ignore[{NOTED}] read next year\n"
                        "    partition: {by: value, blocks: 2}"),
        SPEC.replace("\n", "\r\n").replace(P, f"{P} # dpcompose: ignore[{NOTED}] read next year"),
    ],
)  # fmt: skip
def test_a_comment_ignores_a_finding_for_a_reason(home: Path, text: str) -> None:
    result = commented(home, text)
    assert result["findings"] == []
    (ignored,) = result["ignored"]
    assert (ignored["code"], ignored["reason"]) == (NOTED, "read next year")
    assert "read next year" in run("analyze", "s.yaml").stdout


@pytest.mark.slow
@pytest.mark.parametrize(("comment", "code"), TABLES["a comment that does not work is a finding"])
def test_a_comment_that_does_not_work_is_a_finding(home: Path, comment: str, code: str) -> None:
    result = commented(home, SPEC.replace(P, f"{P}  {comment}"))
    assert code in {each["code"] for each in result["findings"]}
    partly = f"{NOTED}, " in comment
    assert (NOTED in {each["code"] for each in result["findings"]}) is not partly
    assert ("ignored" in result) is partly


@pytest.mark.parametrize(
    "text",
    [
        SPEC + "title: '# dpcompose: ignore[DPC203] x'\n",
        SPEC + "title: |\n  # dpcompose: ignore\n",
        SPEC + 'title: "a\n  # dpcompose: ignore\n  b"\n',
        SPEC + "title: a#dpcompose:ignore\n",
        "# dpcompose 1.0 or later\n" + SPEC,
        SPEC.replace("{}", "{}  # see dpcompose: the manual"),
    ],
)
def test_what_is_no_comment_to_us(home: Path, text: str) -> None:
    assert [each["code"] for each in commented(home, text)["findings"]] == [NOTED]


def test_no_comment_hides_a_missing_bound_or_a_fault(home: Path) -> None:
    opaque = SPEC.replace(P, "  p: {from: t, map: opaque}").replace("reads: t", "reads: p")
    marked = "".join(
        f"{line}  # dpcompose: ignore[{', '.join(sorted(IGNORABLE))}] all\n"
        for line in opaque.splitlines()
    )
    (home / "s.yaml").write_text(marked)
    assert ask().exit_code == 1
    (home / "s.yaml").write_text(marked.replace("protect:", "protekt:"))
    assert ask().exit_code == 3


# --- reasons -------------------------------------------------------------------------------------


def test_a_reason_is_shown_with_what_it_is_for(home: Path) -> None:
    text = SPEC.replace("reads: t,", "reads: p.*, because: proved in appendix B,").replace(
        "2}}", f"2}}, {BECAUSE}}}"
    )
    result = commented(home, text)
    reasons = {each["says"]: each.get("because") for each in result["assumptions"]}
    assert reasons["the blocks of `p` are disjoint sets of row values"] == "a row has one value"
    assert reasons["`m` is as it is stated"] == "proved in appendix B"
    printed = " ".join(run("analyze", "s.yaml").stdout.split())
    assert ":5 The blocks of `p` are disjoint sets of row values, because: a row has" in printed
    (home / "s.yaml").write_text(text.replace("appendix B", '"\\e[31m"').replace("proved in ", ""))
    assert "\x1b" not in run("analyze", "s.yaml").stdout


def test_json_with_reasons_and_ignored_findings_is_what_its_schema_says(home: Path) -> None:
    entry = P.removesuffix("}") + ", because: so it is}"
    text = SPEC.replace(P, f"  # dpcompose: ignore[{NOTED}] read next year\n{entry}")
    (home / "s.yaml").write_text(f"{text}---\n{SPEC}")
    document = json.loads(run("analyze", "s.yaml", "--format", "json").stdout)
    schema_of_results().validate(document)
    first = document["results"][0]
    assert first["document"] == 1 and first["ignored"]
