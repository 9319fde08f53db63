"""The codes of findings explained: in text, in Markdown, and as rules of SARIF, as theorems are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from dpcompose.bridge.registry_check import ENTRY_CODES
from dpcompose.core.theorem import Theorem
from dpcompose.errors import CODES, printable
from dpcompose.faults import SPEC_CODES
from dpcompose.handbook import CodeEntry, code_entries, sources, whole_book
from dpcompose.policy.codes import ADJUSTABLE, IGNORABLE, POLICY_CODES, REMOVABLE
from dpcompose.render.words.problems import VERDICT_CODES
from dpcompose.render.words.theorem_text import cited, flowing
from dpcompose.report.findings import FINDING_CODES

#: The subject of the codes that start so.
KINDS = {
    "DPC0": "file",
    "DPC1": "spec",
    "DPC2": "remark",
    "DPC3": "verdict",
    "DPC4": "entry",
}
#: GitHub's names for the levels that are named differently there.
_SEVERITY = {"note": "recommendation"}


def codes() -> dict[str, str]:
    """Returns every code of a finding or a verdict with its meaning."""
    return {**CODES, **SPEC_CODES, **FINDING_CODES, **VERDICT_CODES, **POLICY_CODES, **ENTRY_CODES}


def rule(identifier: str) -> dict[str, Any]:
    """Returns the SARIF reporting descriptor of a code or of a theorem's id."""
    meaning = codes().get(identifier)
    if meaning is not None:
        return _code(identifier, meaning)
    entry = whole_book().get(identifier)
    return {"id": identifier} if entry is None else _theorem(entry)


def _code(identifier: str, meaning: str) -> dict[str, Any]:
    """Returns the reporting descriptor of a code."""
    entry = code_entries()[identifier]
    properties: dict[str, Any] = {"tags": [KINDS[identifier[:4]]]}
    if entry.level != "none":
        properties["problem.severity"] = _SEVERITY.get(entry.level, entry.level)
    return {
        "id": identifier,
        "shortDescription": _text(meaning),
        "fullDescription": _text(f"{meaning} {entry.why}"),
        "help": _text(in_text(identifier)) | _text(in_markdown(identifier), "markdown"),
        "defaultConfiguration": {"level": entry.level},
        "properties": properties,
    }


def _theorem(entry: Theorem) -> dict[str, Any]:
    """Returns the reporting descriptor of a theorem."""
    hypotheses = [f"- {each.name} ({entry.how(each)}): {each.says}" for each in entry.hypotheses]
    parts = [
        f"Bound: {entry.formula}",
        "\n".join(["Hypotheses:", *hypotheses]) if hypotheses else "",
        f"Departs from the print: {entry.departs}" if entry.departs else "",
        f"See `dpcompose explain {entry.id}`.",
    ]
    return {
        "id": entry.id,
        "shortDescription": _text(entry.title),
        "fullDescription": _text(flowing(entry.statement)),
        "help": _text("\n\n".join(filter(None, parts))),
        "defaultConfiguration": {"level": "none"},
        "properties": {
            "source": sources().get(entry.source, entry.source),
            "place": entry.place,
            "tags": ["theorem"],
        },
    }


def _text(text: str, form: str = "text") -> dict[str, str]:
    """Returns a SARIF message string, with braces escaped, which are placeholders (§3.11.5)."""
    return {form: text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


# --- explanations --------------------------------------------------------------------------------


def in_text(code: str) -> str:
    """Returns the explanation of a code as plain text without a heading, for machine formats."""
    return _explained(code, lambda name, lines: [f"{name}:", *(f"    {each}" for each in lines)])


def in_markdown(code: str) -> str:
    """Returns the explanation of a code as Markdown without a heading."""

    def fenced(name: str, lines: list[str]) -> list[str]:
        """Returns lines of an example below their heading."""
        kind = "toml" if name.endswith("settings") else "yaml"
        return [f"{name}:", "", f"```{kind}", *lines, "```"]

    return _explained(code, fenced)


def _explained(code: str, shown: Callable[[str, list[str]], list[str]]) -> str:
    """Returns the explanation of a code; `shown`: returns the lines of an example with its
    heading."""
    entry = code_entries()[code]
    parts = [entry.why]
    for name, lines in snippets(entry):
        parts.append("\n".join(shown(name, [*map(printable, lines)])))
    parts += [f"Level: {level(code)}.", f"Silenced: {silenced(code)}."]
    if entry.theorems:
        parts.append(f"Theorems: {'; '.join(cited(whole_book()[e]) for e in entry.theorems)}.")
    return "\n\n".join(parts)


def snippets(entry: CodeEntry) -> Iterator[tuple[str, list[str]]]:
    """Yields the example lines of a code with headings: what gives it, what to write instead."""
    found = {
        "analyze": "Gives it",
        "check": "Gives it, with `check`",
        "python": "Gives it, in Python",
        "registry": "Gives it, with `registry check`",
    }
    if entry.mended:
        yield "Gives it, in the settings", [entry.settings]
        yield "Instead, in the settings", [entry.mended]
        return
    if entry.settings:
        yield "With the settings", [entry.settings]
    if entry.accepted:
        yield "Accepted, for `check --assumptions`", entry.accepted.split("\n")
    if entry.example:
        lines = entry.example.split("\n")
        if entry.times > 1:
            lines.append(f"# … the last line {entry.times} times in all")
        saved = f", saved as {entry.saved}" if entry.saved != "UTF-8" else ""
        yield f"{found[entry.command]}{saved}", lines
    if entry.instead:
        saved = ", saved as UTF-8" if entry.saved != "UTF-8" else ""
        yield f"Instead{saved}", entry.instead.split("\n")


def level(code: str) -> str:
    """Returns the level of a code, in words."""
    entry = code_entries()[code]
    return f"{entry.level}; {entry.but}" if entry.but else entry.level


def silenced(code: str) -> str:
    """Returns what may silence a code, in words."""
    if code in IGNORABLE:
        return (
            f"by a comment, `# dpcompose: ignore[{code}] reason`, unless settings fail on it. "
            f'There `severity = {{{code} = "off"}}` turns it off, and another level changes it'
        )
    if code in REMOVABLE:
        return (
            f'by no comment. In the settings `severity = {{{code} = "off"}}` turns it off, and '
            "another level changes it"
        )
    if code in ADJUSTABLE:
        return (
            f'by nothing. `severity = {{{code} = "warning"}}` in the settings changes its level, '
            "and no comment does"
        )
    return "by nothing, neither a comment nor a setting"
