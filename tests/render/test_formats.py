"""The formats of machines and reviews: golden outputs, their grammars, and texts from strangers."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import jsonschema
import pytest
from conftest import GOLDEN, LIBRARY, Golden
from contracts import validator
from handmade import CHOSEN, INVALID, REPORTS, RIDES, TRAP, span
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcompose
from dpcompose.commands.writing.output import rendered
from dpcompose.core.change.neighbouring import UNBOUNDED
from dpcompose.core.model.problem import Goal
from dpcompose.errors import Diagnostic, printable
from dpcompose.render import Format, renderer
from dpcompose.render.help.code_text import codes
from dpcompose.render.json import dumped
from dpcompose.render.json.result_schema import result_schema
from dpcompose.render.layout import Style
from dpcompose.render.parts.inline import code
from dpcompose.render.words.problems import problems
from dpcompose.render.words.theorem_text import book
from dpcompose.report import Report

HERE = Path(__file__).parents[1]
SPECS = HERE.parent / "specs"
FORMS = {
    "concise": "txt",
    "csv": "csv",
    "sarif": "sarif",
    "github": "github.txt",
    "junit": "junit.xml",
    "markdown": "md",
    "statement": "statement.txt",
    "label": "label.svg",
    "badge": "badge.svg",
    "registry": "registry.yaml",
}
EXAMPLES = (
    "ambulances-districts-bounded",
    "parallel-trap",
    "census-2020-redistricting-persons",
    "dp-sgd",
    "noisy-sums",
    "office-suite",
)
ALL = {**REPORTS, **CHOSEN}

#: Names that want to be something else.
NASTY = (
    "\n::error file=x::gotcha",
    "a\r\n##[error]b%0A%25",
    "]]></failure><![CDATA[",
    "a|b\\|c\\\\|d",
    "`` ``` x `",
    "<img src=x onerror=1>&amp;",
    "</code></summary><script>",
    "@team https://evil.example www.evil.example #1 GH-1",
    "[click](http://evil.example) {0} {{1}",
    "\x00\x1b[31m\x07\x85\u2028\u2029",
    "\u202e\u2066txet\ufeff",
    "\ud800\udc80\U000e0001\ufffe",
    "-->%%''\"\"",
    "~~~\n```\n# h\n- [ ] x\n",
)


def shown(form: str, *reports: Report, checking: bool = False, style: Style | None = None) -> str:
    render = renderer(form, checking)
    return "".join(render(reports, style or Style()))


def nasty(text: str) -> tuple[Report, ...]:
    """Reports in which everything that comes from a spec, or from its name, is `text`."""
    finding = Diagnostic("DPC204", text, span(3), text, "warning")
    assert RIDES.worst is not None and RIDES.verdict is not None
    touch = RIDES.worst.touches[0]._replace(mechanism=text, dataset=text)
    common = replace(
        RIDES,
        file=text,
        title=text,
        goal=Goal(UNBOUNDED._replace(name=text, keeps=frozenset({text}))),
        worst=RIDES.worst._replace(says=(text,), datasets=(text,), touches=(touch,)),
        chain=tuple(each._replace(says=text) for each in RIDES.chain),
        findings=(finding, finding._replace(level="error", span=None)),
        shares=tuple(each._replace(mechanism=text) for each in RIDES.shares),
        lines=(text,) * 20,
        verdict=RIDES.verdict._replace(ok=False, why=text),
    )
    return (
        common,
        replace(common, status="no-guarantee", bound=None, reasons=(text,), verdict=None),
        replace(INVALID, file=text, findings=(finding, finding._replace(level="error"))),
    )


# --- golden --------------------------------------------------------------------------------------


def versionless(text: str) -> str:
    text = text.replace(f"dpcompose {dpcompose.__version__}", "dpcompose VERSION")
    return text.replace(f'"version": "{dpcompose.__version__}"', '"version": "VERSION"')


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
@pytest.mark.parametrize("form", FORMS)
def test_handmade_reports_are_golden(form: str, checking: bool, golden: Golden) -> None:
    name = f"formats/handmade.{'check' if checking else 'analyze'}.{FORMS[form]}"
    golden(name, versionless(shown(form, *ALL.values(), checking=checking)))


@cache
@cache
def example(name: str) -> Report:
    return dpcompose.analyze(LIBRARY[name].read_bytes(), f"specs/{name}.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_examples_are_golden(form: str, golden: Golden) -> None:
    reports = [example(name) for name in EXAMPLES]
    golden(f"formats/specs.check.{FORMS[form]}", versionless(shown(form, *reports, checking=True)))
    if form != "sarif":  # each with its whole derivation
        golden(f"formats/specs.analyze.{FORMS[form]}", versionless(shown(form, *reports)))


def test_every_golden_file_is_made_by_a_format() -> None:
    kept = {path.name for path in (HERE / "golden" / "formats").glob("*")}
    made = {
        f"{what}.{how}.{end}"
        for what in ("handmade", "specs")
        for how in ("analyze", "check")
        for end in FORMS.values()
    }
    assert kept == made - {"specs.analyze.sarif"}


# --- the same in every format --------------------------------------------------------------------


def errors_in(form: str, text: str) -> int:
    """How many errors an output has."""
    if form == "sarif":
        return sum(each["level"] == "error" for each in json.loads(text)["runs"][0]["results"])
    if form == "github":
        return len(re.findall("^::error ", text, re.MULTILINE))
    root = ElementTree.fromstring(text)
    return len([*root.iter("failure"), *root.iter("error")])


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
@pytest.mark.parametrize("form", ["sarif", "github", "junit"])
@pytest.mark.parametrize("name", ALL)
def test_there_is_an_error_exactly_where_the_exit_code_says_so(
    name: str, form: str, checking: bool
) -> None:
    for report in (ALL[name], replace(ALL[name], verdict=None)):
        fine = report.status == "ok"
        if checking:
            fine = fine and report.verdict is not None and report.verdict.ok
        assert (errors_in(form, shown(form, report, checking=checking)) == 0) == fine


def test_a_budget_that_is_not_met_is_a_warning_where_it_does_not_decide() -> None:
    over = REPORTS["census"]
    assert [each.level for each in problems(over, True)] == ["error"]
    assert [each.level for each in problems(over, False)] == ["warning"]
    assert problems(over, True)[0].code == "DPC301"
    assert problems(TRAP, False)[0].code == "DPC302"
    assert problems(REPORTS["mixed"], True)[0].code == "DPC303"
    assert problems(replace(over, verdict=None), True)[0].code == "DPC304"


@pytest.mark.parametrize("form", [*FORMS, "json", "jsonl", "text"])
def test_no_reports_at_all_are_well_formed_too(form: str) -> None:
    text = shown(form)
    if form in ("json", "sarif"):
        json.loads(text)
    elif form == "junit":
        assert checked_junit(text) == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_poor_encodings_can_carry_every_format(form: str, encoding: str) -> None:
    text = shown(form, *ALL.values(), style=Style(encoding=encoding))
    text.encode(encoding)


def test_json_comes_out_as_before_it_was_streamed() -> None:
    text = shown("json", *ALL.values())
    assert text == json.dumps(json.loads(text), indent=2) + "\n"
    assert shown("json") == json.dumps(json.loads(shown("json")), indent=2) + "\n"


@pytest.mark.parametrize("form", ["text", "json", "jsonl", *FORMS])
@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_every_renderer_gives_a_piece_before_it_takes_a_second_report(
    form: str, checking: bool
) -> None:
    taken = 0

    def counted() -> Iterator[Report]:
        nonlocal taken
        for each in [*ALL.values()] * 3:
            taken += 1
            yield each

    before = 0
    for _ in renderer(form, checking)(counted(), Style()):
        assert taken <= before + 1
        before = taken
    assert taken == 3 * len(ALL)


def test_several_renderings_share_one_pass_and_keep_no_reports() -> None:
    waiting, most = 0, 0

    def made() -> Iterator[Report]:
        nonlocal waiting, most
        for _ in range(300):
            waiting += 1
            most = max(most, waiting)
            yield RIDES

    def slow(reports: Any) -> Iterator[str]:
        nonlocal waiting
        for _ in reports:
            yield "a"
            yield "b"
            waiting -= 1
            yield "c"

    def fast(reports: Any) -> Iterator[str]:
        for _ in reports:
            yield "x"

    pieces = list(rendered(made(), [fast, slow]))
    assert "".join(piece for number, piece in pieces if number == 0) == "x" * 300
    assert "".join(piece for number, piece in pieces if number == 1) == "abc" * 300
    assert most <= 3


# --- SARIF ---------------------------------------------------------------------------------------


@cache
def sarif_schemas() -> list[Any]:
    """The reduced schema, and the published one where its path is in SARIF_SCHEMA."""
    paths = [HERE / "schemas" / "sarif-2.1.0-reduced.json"]
    if "SARIF_SCHEMA" in os.environ:
        paths.append(Path(os.environ["SARIF_SCHEMA"]))
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    return [jsonschema.validators.validator_for(each)(each) for each in schemas]


def checked_sarif(text: str) -> list[dict[str, Any]]:
    """The results of a log that is valid by the schema and by the rules that no schema can say."""
    assert text.isascii()
    log = json.loads(text)
    for schema in sarif_schemas():
        schema.validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert (result["level"] == "none") == (result["kind"] != "fail")
        assert result["locations"]
        for flow in result.get("codeFlows", ()):
            steps = flow["threadFlows"][0]["locations"]
            orders = [step["executionOrder"] for step in steps]
            assert orders == sorted(orders)
            cited = {step["properties"]["theorem"] for step in steps} - {None}
            assert cited <= {rule["id"] for rule in rules}
    for message in messages(run):
        assert not re.search(r"\{\d|\]\(", message.replace("{{", "").replace("}}", ""))
        assert all(printable(line) == line for line in message.split("\n"))
    for uri in uris(run):
        assert re.fullmatch(r"(?:file:///)?(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*", uri)
    results: list[dict[str, Any]] = run["results"]
    return results


def messages(node: Any) -> Iterator[str]:
    """Every text of a message in a log, rules included; property bags left out."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key in ("text", "markdown"):
            yield value
        elif isinstance(value, (dict, list)) and key != "properties":
            yield from messages(value)


def uris(node: Any) -> Iterator[str]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key == "uri":
            yield value
        elif isinstance(value, (dict, list)):
            yield from uris(value)


@pytest.mark.slow
@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_sarif_is_valid(checking: bool) -> None:
    checked_sarif(shown("sarif", *ALL.values(), checking=checking))
    checked_sarif(shown("sarif", *map(example, EXAMPLES), checking=checking))
    for text in NASTY:
        checked_sarif(shown("sarif", *nasty(text), checking=checking))


def test_the_derivation_is_a_code_flow() -> None:
    report = example("ambulances-districts-bounded")
    (result,) = [
        each for each in checked_sarif(shown("sarif", report)) if each["ruleId"] == report.theorem
    ]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert len(steps) == len(report.chain)
    for step, line in zip(steps, report.chain, strict=True):
        assert step["properties"] == {"theorem": line.theorem, "inputs": list(line.inputs)}
        if line.spans:
            where = step["location"]["physicalLocation"]["region"]
            assert where["startLine"] == line.spans[0].line
    assert (result["kind"], result["level"]) == ("pass", "none")
    assert result["properties"]["guarantee"]["exact"] == {"epsilon": "17/10"}


def test_check_lists_problems_only_since_code_scanning_takes_a_pass_for_an_alert() -> None:
    assert {
        each["kind"] for each in checked_sarif(shown("sarif", *ALL.values(), checking=True))
    } == {"fail"}
    (over,) = checked_sarif(shown("sarif", REPORTS["census"], checking=True))
    assert (over["ruleId"], over["level"]) == ("DPC301", "error")


def test_rules_tell_what_codes_and_theorems_mean() -> None:
    log = json.loads(shown("sarif", *ALL.values(), example("ambulances-districts-bounded")))
    rules = {rule["id"]: rule for rule in log["runs"][0]["tool"]["driver"]["rules"]}
    assert rules["DPC204"]["shortDescription"]["text"] == codes()["DPC204"]
    theorem = rules["IV.13"]
    assert theorem["shortDescription"]["text"] == book()["IV.13"].title
    assert book()["IV.13"].formula in theorem["help"]["text"]
    assert all(rule.keys() > {"id"} for rule in rules.values())


def test_files_are_named_by_uris_that_lead_back_to_them() -> None:
    for name in ["a b/c%d.yaml", "病院.yaml", "x:y#z?.yaml", "odd \udc80.yaml"]:
        (uri,) = set(uris(json.loads(shown("sarif", replace(REPORTS["census"], file=name)))))
        assert unquote_to_bytes(uri) == os.fsencode(name)
    (uri,) = set(uris(json.loads(shown("sarif", replace(REPORTS["census"], file="/a b.yaml")))))
    assert uri == "file:///a%20b.yaml"


# --- JUnit ---------------------------------------------------------------------------------------

#: Element: the attributes that it must have, those that it may have, and its children in order.
JUNIT: dict[str, tuple[set[str], set[str], str]] = {
    "testsuites": ({"name"}, set(), "(testsuite )*"),
    "testsuite": (
        {"name", "tests", "failures", "errors", "skipped"},
        set(),
        "(testcase )*(system-out )?",
    ),
    "testcase": ({"name", "classname"}, {"file", "line"}, "((failure|error) )?"),
    "failure": ({"message", "type"}, set(), ""),
    "error": ({"message", "type"}, set(), ""),
    "system-out": (set(), set(), ""),
}


def checked_junit(text: str) -> list[ElementTree.Element]:
    """The suites of a document that keeps to the grammar, with true counts."""
    assert text.isascii()
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        must, may, children = JUNIT[element.tag]
        assert must <= set(element.keys()) <= must | may
        assert re.fullmatch(children, "".join(f"{each.tag} " for each in element))
        assert children == "" or not (element.text or "").strip()
        for content in [*element.attrib.values(), element.text or ""]:
            assert all(printable(line) == line for line in content.split("\n"))
        assert all("\n" not in value for value in element.attrib.values())
    suites = root.findall("testsuite")
    for suite in suites:
        for tag, key in (("testcase", "tests"), ("failure", "failures"), ("error", "errors")):
            assert suite.get(key) == str(len([*suite.iter(tag)]))
    return suites


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_junit_keeps_to_its_grammar(checking: bool) -> None:
    suites = checked_junit(shown("junit", *ALL.values(), checking=checking))
    assert [suite.get("name") for suite in suites] == [printable(r.file) for r in ALL.values()]
    for text in NASTY:
        for suite, report in zip(
            checked_junit(shown("junit", *nasty(text), checking=checking)), nasty(text), strict=True
        ):
            assert suite.get("name") == printable(report.file)


def test_a_suite_has_a_case_for_what_must_hold() -> None:
    def cases(report: Report, checking: bool) -> dict[str | None, str | None]:
        (suite,) = checked_junit(shown("junit", report, checking=checking))
        return {
            case.get("name"): next((each.get("type") for each in case), None)
            for case in suite.findall("testcase")
        }

    assert cases(RIDES, True) == {"finite bound": None, "budget": None}
    assert cases(RIDES, False) == {"finite bound": None}
    assert cases(REPORTS["census"], True) == {"finite bound": None, "budget": "DPC301"}
    assert cases(REPORTS["census"], False) == {"finite bound": None}
    assert cases(TRAP, True) == {"finite bound": "DPC302"}
    assert cases(INVALID, True) == {"DPC004": "DPC004", "DPC101 at 2:3": "DPC101"}


# --- GitHub --------------------------------------------------------------------------------------


def commands(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """What a runner of GitHub Actions reads: the command, its properties, its message."""
    for line in text.splitlines():
        found = re.fullmatch(r"::(\w+) ([^:]*)::(.*)", line)
        assert found, line
        pairs = (pair.split("=", 1) for pair in found[2].split(","))
        yield found[1], {key: unescaped(value) for key, value in pairs}, unescaped(found[3])


def unescaped(text: str) -> str:
    for escape, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(escape, char)
    return text


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_annotations_say_what_is_wrong_and_where(checking: bool) -> None:
    reports = [*ALL.values(), *(each for text in NASTY for each in nasty(text))]
    for report in reports:
        found = list(commands(shown("github", report, checking=checking)))
        expected = problems(report, checking)
        assert len(found) == len(expected)
        for (command, properties, message), problem in zip(found, expected, strict=True):
            assert command == problem.level.replace("note", "notice")
            assert properties["file"] == printable(report.file)
            assert properties["title"].endswith(problem.code)
            assert message.split("\n")[0] == printable(problem.message)
            where = problem.span and str(problem.span.line)
            assert properties.get("line") == where


def test_a_spec_without_problems_is_quiet() -> None:
    assert shown("github", REPORTS["gauss"], checking=True) == ""


# --- Markdown ------------------------------------------------------------------------------------

TAGS = re.compile(r"</?(?:code|details|summary)>|<br>")


def checked_markdown(text: str) -> list[list[str]]:
    """The cells of the table; nothing from a spec is markup anywhere."""
    rows: list[list[str]] = []
    fence = None
    for line in text.split("\n"):
        assert printable(line) == line
        if fence is not None:
            fence = None if line == fence else fence
        elif found := re.fullmatch(r"(`{3,})text", line):
            fence = found[1]
        elif line.startswith("|"):
            cells = line.split("|")
            assert len(cells) == 8, line
            rows.append([each.strip() for each in cells[1:-1]])
        if fence is None and not line.startswith("```"):
            bare = TAGS.sub("", line)
            assert not set(bare) & set("<>`@[\\"), line
            assert "://" not in bare and "www." not in bare.lower()
    assert fence is None
    assert text.count("<details>") == text.count("</details>")
    return rows[2:]


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_markdown_is_a_table_and_no_text_is_markup(checking: bool) -> None:
    rows = checked_markdown(shown("markdown", *ALL.values(), checking=checking))
    assert len(rows) == len(ALL)
    for text in NASTY:
        rows = checked_markdown(shown("markdown", *nasty(text), checking=checking))
        for row in rows:
            assert html.unescape(row[0]) == f"<code>{printable(text)}</code>"


def test_markdown_has_the_bound_the_budget_and_what_is_left() -> None:
    (row,) = checked_markdown(shown("markdown", RIDES, checking=True))
    assert row[1:] == [
        "within budget", "ε = 17/10 (1.7) pure DP", "ε = 2", "0.3", "Corollary IV.13 (GMPS24)",
    ]  # fmt: skip
    (row,) = checked_markdown(shown("markdown", REPORTS["census"], checking=True))
    assert row[1] == "**over budget**" and row[4].startswith("−0.0562")
    (row,) = checked_markdown(shown("markdown", TRAP))
    assert row[1:3] == ["**without a finite bound**", "–"]


def test_markdown_folds_the_reports_with_problems_and_not_too_many() -> None:
    assert "<details>" not in shown("markdown", RIDES, checking=True)
    text = shown("markdown", *[REPORTS["census"]] * 30, checking=True)
    assert text.count("<details>") == 20
    assert text.endswith("\n10 more with problems are in the log.\n")
    long = replace(INVALID, findings=INVALID.findings * 1000)
    assert len(shown("markdown", long)) < 10_000


# --- concise -------------------------------------------------------------------------------------


@pytest.mark.parametrize("checking", [False, True], ids=["analyze", "check"])
def test_concise_has_a_place_on_every_finding_and_a_line_for_every_result(checking: bool) -> None:
    reports = [*ALL.values(), *(each for text in NASTY for each in nasty(text))]
    for report in reports:
        *found, last = shown("concise", report, checking=checking).split("\n")[:-1]
        name = re.escape(printable(report.file))
        assert len(found) >= len(report.findings)
        for line in found:
            assert re.fullmatch(rf"{name}:\d+:\d+: .* \[DPC\d{{3}}\]", line)
        over = re.fullmatch(rf"{name}:\d+:\d+: .* \[DPC30[13]\]", last)
        assert over or last.startswith(f"{printable(report.file)}: ")
        assert printable(last) == last


# --- anything at all -----------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_keeps_every_format_well_formed(text: str) -> None:
    reports = nasty(text)
    checked_sarif(shown("sarif", *reports))
    checked_junit(shown("junit", *reports))
    checked_markdown(shown("markdown", *reports))
    list(commands(shown("github", *reports)))
    assert html.unescape(code(text)) == f"<code>{printable(text)}</code>"


def test_documents_of_one_file_are_told_apart() -> None:
    two = [replace(REPORTS["census"], document=number) for number in (1, 2)]
    names = [suite.get("name") for suite in checked_junit(shown("junit", *two))]
    assert names == ["census.yaml (document 1)", "census.yaml (document 2)"]
    rows = checked_markdown(shown("markdown", *two))
    assert [html.unescape(row[0]) for row in rows] == [f"<code>{name}</code>" for name in names]
    assert set(uris(json.loads(shown("sarif", *two)))) == {"census.yaml"}
    schema_of_results().validate(json.loads(shown("json", *two)))


@pytest.mark.slow
@pytest.mark.parametrize("text", NASTY)
def test_hostile_specs_keep_every_format_well_formed(text: str) -> None:
    name = json.dumps(text)
    spec = (
        f"dpcompose: 1\ntitle: {name}\nprotect: unbounded\n"
        f"datasets: {{{name}: {{}}}}\nbudget: {{epsilon: 1/2}}\n"
        f"mechanisms: [{{name: {name}, reads: {name}, notion: pure, epsilon: 1, {name}: 1}}]\n"
    )
    usable = spec.replace(f", {name}: 1}}", "}").replace(f"{{{name}:", "{t:")
    reports = [
        dpcompose.analyze(each, text)
        for each in (spec, usable.replace(f"reads: {name}", "reads: t"))
    ]
    assert reports[0].status == "invalid"
    for checking in (False, True):
        checked_sarif(shown("sarif", *reports, checking=checking))
        checked_junit(shown("junit", *reports, checking=checking))
        checked_markdown(shown("markdown", *reports, checking=checking))
        assert list(commands(shown("github", *reports, checking=checking)))
    schema_of_results().validate(json.loads(shown("json", *reports)))


# --- the schema of results -----------------------------------------------------------------------


def schema_of_results() -> Any:
    return validator("result")


def test_json_is_what_its_schema_says() -> None:
    schema_of_results().validate(json.loads(shown("json", *ALL.values())))
    for text in NASTY:
        schema_of_results().validate(json.loads(shown("json", *nasty(text))))


def bad_specs() -> list[Path]:
    return sorted((HERE / "bad").rglob("*.yaml"))


@pytest.mark.parametrize("name", LIBRARY)
def test_json_of_every_example_is_what_its_schema_says(name: str) -> None:
    """By what is kept of each: `whole/test_golden` holds it to be what is printed."""
    kept = (GOLDEN / "specs" / f"{name}.json").read_text(encoding="utf-8")
    document = json.loads(shown("json"))
    assert document["results"] == []
    schema_of_results().validate({**document, "results": [json.loads(kept)]})


def test_json_of_invalid_specs_is_what_its_schema_says() -> None:
    reports = [dpcompose.analyze(path.read_bytes(), path.name) for path in bad_specs()]
    assert reports
    schema_of_results().validate(json.loads(shown("json", *reports)))


def test_lines_of_json_are_what_the_schema_says() -> None:
    validator = jsonschema.Draft202012Validator(result_schema())
    for line in shown("jsonl", *ALL.values()).splitlines():
        validator.validate(json.loads(line))
        alone = json.loads(line)
        del alone["schema_version"]
        assert not validator.is_valid(alone)


def test_the_schema_of_results_can_fail() -> None:
    document = json.loads(shown("json", RIDES))
    for change in ({"status": "fine"}, {"guarantee": {"notion": "pure"}}, {"extra": 1}):
        changed = {**document, "results": [{**document["results"][0], **change}]}
        assert not schema_of_results().is_valid(changed)


def test_the_schema_of_results_beside_the_specs_is_the_one_that_is_printed() -> None:
    # Made by `dpcompose schema result > specs/result.schema.json`.
    kept = (SPECS / "result.schema.json").read_text(encoding="utf-8")
    assert kept == dumped(result_schema(), indent=2)


# --- csv -----------------------------------------------------------------------------------------


def test_csv_is_read_as_it_was_written() -> None:
    every = [*ALL.values(), *nasty('a "quoted",\nname')]
    rows = list(csv.DictReader(io.StringIO(shown("csv", *every))))
    assert len(rows) == sum(len(each.shares) or 1 for each in every)
    assert all(None not in each and each["status"] for each in rows)
    assert {each["file"].lstrip("'") for each in rows} == {printable(each.file) for each in every}
    for each in rows:
        numbers = [float(each[key]) for key in ("cost", "delta", "share") if each[key]]
        assert all(0 <= number < math.inf for number in numbers)


@pytest.mark.parametrize(
    "name",
    ["=1+1", "+x", "-x", "@x", '"=x', "a,b\n=c", "＝1+1", "＋x", "－x", "＠x", "﹦x", "−x", "–x"],
)
def test_no_cell_of_csv_is_a_formula(name: str) -> None:
    written = json.dumps(name)
    report = dpcompose.analyze(
        "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\n"
        f"mechanisms: [{{name: {written}, reads: t, notion: pure, epsilon: 1}}]\n"
    )
    (row,) = csv.DictReader(io.StringIO(shown("csv", report)))
    assert row["name"].lstrip("'") == printable(name) and row["name"][0] not in "=+-@＝＋－＠﹦−"
    assert shown("csv", report).count("\n") == 2
    (row,) = csv.DictReader(io.StringIO("".join(renderer(Format.CSV, False)([report], ASCII))))
    assert row["name"][0] not in "=+-@"


ASCII = Style(encoding="ascii")


def test_groups_of_mechanisms_are_summed() -> None:
    text = """dpcompose: 1
protect: unbounded
datasets: {people: {}, adults: {from: people, partition: {by: value, blocks: [a, b]}}}
mechanisms:
  - {name: x, reads: people, notion: zcdp, rho: 0.1, group: census}
  - {name: y, reads: adults.*, notion: zcdp, rho: {a: 0.3, b: 0.2}, group: census}
  - {name: z, reads: people, notion: zcdp, rho: 0.5, count: 2, group: survey}
  - {name: w, reads: people, notion: zcdp, rho: 0.2}
report: {delta: 1e-6}
"""
    report = dpcompose.analyze(text)
    assert report.group_shares == [("survey", Fraction(1, 16) * 10), ("census", Fraction(1, 4))]
    found = report.to_dict()
    assert found["groups"] == [
        {"group": "survey", "share": 0.625},
        {"group": "census", "share": 0.25},
    ]
    assert [each.get("group") for each in found["shares"]] == ["survey", "census", None, "census"]
    assert "group survey</th>" in report.to_html()


def test_tags_are_another_word_for_a_group() -> None:
    text = """dpcompose: 1
protect: unbounded
datasets: {people: {}}
mechanisms: [{name: x, reads: people, notion: pure, epsilon: 1, tags: census}]
"""
    assert dpcompose.analyze(text).group_shares == [("census", Fraction(1))]
    both = dpcompose.analyze(text.replace("tags: census", "tags: census, group: survey"))
    assert [each.code for each in both.findings] == ["DPC105"]
