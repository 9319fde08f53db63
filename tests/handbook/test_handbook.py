"""The handbook of codes: its examples give their code and no other, the corrected ones none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
from typer.testing import CliRunner

import dpcompose
from dpcompose.cli import app
from dpcompose.errors import InvalidSpec
from dpcompose.handbook import CodeEntry, code_entries, full_spec, whole_book
from dpcompose.policy.codes import ADJUSTABLE, IGNORABLE, REMOVABLE
from dpcompose.render.help.code_text import codes, in_markdown, in_text, rule, silenced

#: Codes that cannot come alone, with what comes beside them: the faults that are listed, and what
#: the warning is a warning of.
BESIDE = {
    "DPC017": {"DPC103"},
    "DPC201": {"DPC302"},
    "DPC202": {"DPC302"},
    "DPC222": {"DPC302"},
    "DPC310": {"DPC215"},
    "DPC320": {"DPC204"},
}
#: Of which there is no example in a spec: nothing is wrong, or the flags of the run decide, or a
#: revision.
BARE = {"DPC018", "DPC214", "DPC223", "DPC224", "DPC300", "DPC306", "DPC307", "DPC308", "DPC407"}
#: What an entry of the registry has beside the lines of an example.
ENTRY = """
url_slug: x
status: Draft
tier: 3
deployment:
  basic:
    name: x
    data_curators: [x]
    intended_use: x
    data_product_type: Dataset
    data_product_region: x
    description: x
    publication_date: "2020-04-01"
"""


def repeated(lines: str, times: int) -> str:
    """The lines, the last of them so many times."""
    *head, last = lines.split("\n")
    return "\n".join([*head, *[last] * times])


def whole(entry: CodeEntry, lines: str, times: int = 1) -> str:
    """The spec, or the entry of the registry, with the lines of an example."""
    if entry.command == "registry":
        return ENTRY + indent(lines, "  ") + "\n"
    return full_spec(repeated(lines, times))


def given(entry: CodeEntry, text: str, home: Path, settings: str, saved: str) -> dict[str, str]:
    """The codes of what dpcompose finds, with their levels."""
    if entry.command == "python":
        try:
            report = dpcompose.analyze(text, "s.yaml")
            return {each.code: each.level for each in report.findings}
        except InvalidSpec as invalid:
            return {each.code: each.level for each in invalid.diagnostics}
    (home / "dpcompose.toml").write_text(settings, encoding="utf-8")
    more, command = [], [entry.command]
    if entry.command == "registry":
        command = ["registry", "check"]
    if entry.accepted:
        (home / "s.yaml").write_text(full_spec(entry.accepted), encoding="utf-8")
        CliRunner().invoke(app, ["accept", "s.yaml", "-o", "accepted.lock"])
        more = ["--assumptions", "accepted.lock"]
    (home / "s.yaml").write_bytes(text.encode(saved))
    result = CliRunner().invoke(app, [*command, "s.yaml", "--format", "sarif", *more])
    (run,) = json.loads(result.stdout)["runs"]
    standing = [each for each in run["results"] if "suppressions" not in each]
    # The bound itself is a result of level none, by its theorem if it has one.
    standing = [each for each in standing if each["level"] != "none"]
    found = {each["ruleId"]: each["level"] for each in standing}
    return {code: level for code, level in found.items() if code.startswith("DPC")}


def test_every_code_has_an_entry() -> None:
    assert set(code_entries()) == set(codes())


@pytest.mark.slow
@pytest.mark.parametrize("code", sorted(set(code_entries()) - BARE))
def test_the_example_gives_the_code_and_the_corrected_one_does_not(
    code: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = code_entries()[code]
    if code == "DPC009":  # five million values take half a minute
        monkeypatch.setattr("dpcompose.source.reader.MAX_NODES", 1000)
        entry = replace(entry, times=1000)
    found = given(
        entry, whole(entry, entry.example, entry.times), home, entry.settings, entry.saved
    )
    assert found.pop(code) == entry.level
    assert set(found) == BESIDE.get(code, set())
    settings = entry.mended or entry.settings
    assert given(entry, whole(entry, entry.instead), home, settings, "UTF-8") == {}


@pytest.mark.parametrize("code", ["DPC008", "DPC015", "DPC016", "DPC017", "DPC117"])
def test_one_line_less_is_within_the_limit(code: str, home: Path) -> None:
    entry = code_entries()[code]
    assert code not in given(
        entry, full_spec(repeated(entry.example, entry.times - 1)), home, "", "UTF-8"
    )


def test_only_some_codes_have_no_example() -> None:
    assert {code for code, entry in code_entries().items() if not entry.example} == BARE
    assert rule("DPC300")["defaultConfiguration"] == {"level": "none"}


@pytest.mark.parametrize("code", sorted(code_entries()))
def test_an_entry_is_short_and_plain(code: str) -> None:
    entry = code_entries()[code]
    assert entry.why.endswith(".") and not entry.why.startswith(codes()[code])
    assert len(entry.why) <= 300
    for text in (entry.example, entry.instead):
        lines = text.split("\n")
        assert len(lines) <= 20 and max(map(len, lines)) <= 78
    assert set(entry.theorems) <= set(whole_book())


def test_entries_about_privacy_say_why_by_a_theorem() -> None:
    assert [code for code in IGNORABLE if not code_entries()[code].theorems] == []


@pytest.mark.parametrize("code", sorted(code_entries()))
def test_what_silences_a_code_is_what_the_settings_and_comments_take(code: str) -> None:
    says = silenced(code)
    assert (f"ignore[{code}]" in says) == (code in IGNORABLE)
    assert ('"off"' in says) == (code in REMOVABLE)
    assert (f"severity = {{{code} = " in says) == (code in ADJUSTABLE)
    assert says.startswith("by nothing") == (code not in REMOVABLE)


@pytest.mark.parametrize("code", sorted(code_entries()))
def test_rules_tell_the_same(code: str) -> None:
    told = rule(code)
    entry = code_entries()[code]
    assert told["shortDescription"]["text"].replace("{{", "{") == codes()[code]
    assert entry.why.replace("{", "{{").replace("}", "}}") in told["fullDescription"]["text"]
    assert told["help"] == {
        name: form(code).replace("{", "{{").replace("}", "}}").replace("](", "] (")
        for name, form in (("text", in_text), ("markdown", in_markdown))
    }
    assert told["defaultConfiguration"] == {"level": entry.level}
    assert in_markdown(code).count("```") % 2 == 0
