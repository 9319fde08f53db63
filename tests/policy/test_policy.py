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
from dpcompose.policy.settings import FIELDS

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


def test_the_nearest_file_counts_and_its_own_name_first(home: Path) -> None:
    def relation(file: str) -> str:
        lines = run("analyze", file, "--show-settings").stdout.splitlines()
        return next(line for line in lines if "require-relation" in line)

    assert "[]" in relation("in/deep/d.yaml")
    (home / "pyproject.toml").write_text('[tool.dpcompose]\nrequire-relation = "user"\n')
    assert '["user"]' in relation("in/deep/d.yaml") and "# pyproject.toml" in relation("s.yaml")
    (home / "in" / "pyproject.toml").write_text('[project]\nname = "dpcompose-specs"\n')
    assert '["user"]' in relation("in/deep/d.yaml")  # without the table it is passed over
    (home / "in" / "dpcompose.toml").write_text('require-relation = ["edge", "node"]\n')
    (home / "in" / "pyproject.toml").write_text('[tool.dpcompose]\nrequire-relation = "user"\n')
    assert '["edge", "node"]' in relation("in/deep/d.yaml")
    assert '["user"]' in relation("s.yaml")
    piped = run("analyze", "-", "--stdin-filename", "in/x.yaml", "--show-settings", stdin=SPEC)
    assert '["edge", "node"]' in piped.stdout
    assert '["user"]' in run("analyze", "-", "--show-settings", stdin=SPEC).stdout
    assert "[]" in run("analyze", "s.yaml", "--show-settings", "--isolated").stdout.split("req")[1]


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


def test_sarif_leads_to_the_site_that_is_set(home: Path) -> None:
    def start(*files: str, **environment: str) -> str:
        log = json.loads(run("analyze", *files, "--format", "sarif", **environment).stdout)
        address = str(log["runs"][0]["tool"]["driver"]["rules"][0].get("helpUri", ""))
        return address.partition("/codes/")[0].partition("/theorems/")[0]

    (home / "in" / "dpcompose.toml").write_text('site = "https://in.example"\n')
    (home / "pyproject.toml").write_text('[tool.dpcompose]\nsite = "https://top.example"\n')
    assert start("in") == start("in/deep/d.yaml") == "https://in.example"
    assert (
        start() == start(".") == start("s.yaml") == start("s.yaml", "in") == "https://top.example"
    )
    assert start("in", DPCOMPOSE_SITE="https://here.example") == "https://here.example"
    assert start("in", "--isolated") == ""
    (home / "in" / "dpcompose.toml").write_text('site = "http://in.example"\n')
    assert "in/dpcompose.toml: site: an address is due" in run("analyze", "in").stderr


def test_of_flags_the_environment_and_files_the_strictest_counts(home: Path) -> None:
    (home / "dpcompose.toml").write_text(
        'require-relation = "user"\nfail-on = "note"\nrequire-delta = 1e-3\nbudget = {epsilon = 9}'
    )
    environment = {"DPCOMPOSE_REQUIRE_RELATION": "bounded, edge", "DPCOMPOSE_FAIL_ON": "warning"}
    shown = run(
        "check", "s.yaml", "--show-settings", "--fail-on", "error", "--epsilon", "1", **environment
    ).stdout
    lines = {line.split(" = ")[0].strip(): line for line in shown.splitlines()[1:]}
    assert lines.keys() == FIELDS.keys()
    assert "# dpcompose.toml" in lines["fail-on"] and '"note"' in lines["fail-on"]
    relations = [line for line in shown.splitlines() if "require-relation" in line]
    assert '["bounded", "edge"]' in relations[0] and "# the environment" in relations[0]
    assert '["user"]' in relations[1] and "# dpcompose.toml" in relations[1]
    assert '"0.001"' in lines["require-delta"] and "# dpcompose.toml" in lines["require-delta"]
    assert '{epsilon = "1"}' in lines["budget"] and "flags" in lines["budget"]


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


def test_settings_that_cannot_be_read_are_no_missing_ones(home: Path) -> None:
    (home / "dpcompose.toml").mkdir()
    result = run("analyze", "s.yaml")
    assert result.exit_code == 2 and "dpcompose.toml is no file" in result.stderr
    (home / "dpcompose.toml").rmdir()
    (home / "dpcompose.toml").symlink_to("nowhere")
    assert run("analyze", "s.yaml").exit_code == 2


def test_a_key_that_stands_twice_in_a_variable_is_refused() -> None:
    result = run("check", "s.yaml", DPCOMPOSE_BUDGET="epsilon=1,epsilon=2")
    assert result.exit_code == 2
    assert "DPCOMPOSE_BUDGET: `epsilon` stands there twice" in result.stderr


def test_bad_settings_of_one_folder_hide_no_spec_elsewhere(home: Path) -> None:
    (home / "in" / "dpcompose.toml").write_text("x = 1")
    result = run("analyze", "in", "s.yaml", "--format", "jsonl")
    assert [each["file"] for each in found(result)] == ["s.yaml"]
    assert result.exit_code == 2


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("DPCOMPOSE_REQUIRE_RELATOIN", "user", "did you mean DPCOMPOSE_REQUIRE_RELATION?"),
        ("DPCOMPOSE_BUDGET", "2", "DPCOMPOSE_BUDGET: budget: unknown key `2`"),
        ("DPCOMPOSE_FAIL_ON", "never", "fail-on: `never` is none of them"),
        ("DPCOMPOSE_SEVERITY", "DPC204=loud", "`loud` is none of them"),
    ],
)
def test_bad_settings_in_the_environment(name: str, value: str, says: str) -> None:
    result = ask(**{name: value})
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_other_variables_are_nothing_to_us() -> None:
    assert ask(DPCOMPOSE_VERSION="1", DPCOMPOSE_HOME="/", DPCOMPOSE_JOBS="1").exit_code == 0


@pytest.mark.parametrize("flags", [["--require-delta", "2"], ["--require-delta", "x"]])
def test_bad_flags(flags: list[str]) -> None:
    result = ask(*flags)
    assert result.exit_code == 2
    assert result.stderr.startswith("dpcompose: --require-delta: ")


# --- what policies find --------------------------------------------------------------------------


def test_a_default_budget_is_for_specs_without_one(home: Path) -> None:
    (home / "dpcompose.toml").write_text(
        "budget = {epsilon = 1.9999999999999999999}\n"
        "[[overrides]]\npaths = ['in/**']\nbudget = {epsilon = 2}"
    )
    assert run("check", "s.yaml").exit_code == 1
    assert run("check", "in").exit_code == 0
    assert run("check", "s.yaml", "--isolated").exit_code == 2
    assert run("check", "s.yaml", "--epsilon", "2").exit_code == 0
    assert run("check", "s.yaml", DPCOMPOSE_BUDGET="epsilon=2, delta=1e-6").exit_code == 1
    assert run("check", "in", DPCOMPOSE_BUDGET="epsilon=2, delta=1e-6").exit_code == 0
    assert run("check", "in", DPCOMPOSE_BUDGET="epsilon=1").exit_code == 1
    (home / "s.yaml").write_text(SPEC + "budget: {epsilon: 5}\n")
    assert run("check", "s.yaml").exit_code == 0
    assert run("analyze", "in").exit_code == 0


def test_a_required_relation(home: Path) -> None:
    assert codes(ask("--require-relation", "unbounded")) == [(NOTED, "note")]
    result = ask("--require-relation", "bounded", "--require-relation", "user")
    assert codes(result)[0] == ("DPC310", "error")
    assert result.exit_code == 1
    assert found(result)[0]["findings"][0]["line"] == 2
    keeping = SPEC.replace("protect: unbounded", "protect: {relation: bounded, keeps: [zip]}")
    (home / "s.yaml").write_text(keeping)
    assert ask("--require-relation", "bounded").exit_code == 1
    assert ask("--require-relation", "bounded keeping zip").exit_code == 0


def test_a_required_delta_is_stated_and_not_exceeded(home: Path) -> None:
    result = ask("--require-delta", "1e-6")
    assert result.exit_code == 0
    assert [each["exact"]["delta"] for each in found(result)[0]["at_delta"]] == ["1/1000000"]
    (home / "s.yaml").write_text(SPEC + "budget: {epsilon: 3, delta: 1e-5}\n")
    assert codes(ask("--require-delta", "1e-6"))[-1] == ("DPC311", "error")
    assert ask("--require-delta", "1e-5").exit_code == 0
    approx = SPEC.replace("notion: pure, epsilon: 2", "notion: approx, epsilon: 2, delta: 1e-5")
    (home / "s.yaml").write_text(approx)
    assert ("DPC311", "error") in codes(ask("--require-delta", "1e-6"))
    assert ask("--require-delta", "1e-5").exit_code == 0


BECAUSE = "because: a row has one value"


def test_a_required_reason(home: Path) -> None:
    (home / "dpcompose.toml").write_text("require-because = ['partition.value', 'notion.*']")
    result = ask()
    assert [each["code"] for each in found(result)[0]["findings"]].count("DPC312") == 2
    assert [each["line"] for each in found(result)[0]["findings"]] == [5, 5, 7]
    inside = SPEC.replace("blocks: 2}", f"blocks: 2, {BECAUSE}}}").replace(
        "m,", "m, because: proved in the appendix,"
    )
    (home / "s.yaml").write_text(inside)
    assert ask().exit_code == 0
    (home / "s.yaml").write_text(inside.replace("because: proved in the appendix", "because: ' '"))
    assert codes(ask()) == [(NOTED, "note"), ("DPC312", "error")]


def test_what_is_forbidden(home: Path) -> None:
    text = SPEC.replace("protect:", "roots: disjoint\nprotect:").replace("2}}", "2, drops: true}}")
    (home / "s.yaml").write_text(text)
    for kind, line in (("roots.disjoint", 2), ("drops", 6), ("partition.*", 6), ("notion.pure", 8)):
        result = ask(DPCOMPOSE_FORBID=kind)
        (finding,) = [each for each in found(result)[0]["findings"] if each["code"] == "DPC313"]
        assert (finding["line"], kind.rstrip("*") in finding["message"]) == (line, True)
        assert result.exit_code == 1
    assert ask(DPCOMPOSE_FORBID="map.*,mechanism.laplace,keeps,graph").exit_code == 0


def test_levels_of_findings(home: Path) -> None:
    for level, code in (("error", 1), ("warning", 0), ("off", 0)):
        (home / "dpcompose.toml").write_text(f'severity = {{{NOTED} = "{level}"}}')
        result = ask()
        assert result.exit_code == code
        assert codes(result) == ([] if level == "off" else [(NOTED, level)])
    (home / "dpcompose.toml").write_text('require-relation = "user"')
    result = ask(DPCOMPOSE_SEVERITY="DPC310=warning")
    assert (result.exit_code, codes(result)[0]) == (0, ("DPC310", "warning"))
    result = ask("--require-relation", "user", DPCOMPOSE_SEVERITY="DPC310=warning")
    assert (result.exit_code, codes(result)[0]) == (1, ("DPC310", "error"))


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


def test_sarif_shows_what_is_ignored_as_suppressed(home: Path) -> None:
    (home / "s.yaml").write_text(SPEC.replace(P, f"{P}  # dpcompose: ignore[{NOTED}] next year"))
    document = json.loads(run("check", "s.yaml", "--epsilon", "2", "--format", "sarif").stdout)
    (result,) = document["runs"][0]["results"]
    assert result["suppressions"] == [{"kind": "inSource", "justification": "next year"}]
