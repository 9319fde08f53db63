"""The rules of SARIF output: the meaning of each finding's code, and each theorem cited."""

from __future__ import annotations

from typing import Any

from dpcompose.bridge.registry_check import ENTRY_CODES
from dpcompose.core.theorem import Theorem
from dpcompose.errors import CODES
from dpcompose.faults import SPEC_CODES
from dpcompose.handbook import code_entries, whole_book
from dpcompose.policy.codes import POLICY_CODES
from dpcompose.render.code import in_markdown, in_text
from dpcompose.render.problems import VERDICT_CODES
from dpcompose.render.theorem_text import SOURCES, flowing
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
            "source": SOURCES.get(entry.source, entry.source),
            "place": entry.place,
            "tags": ["theorem"],
        },
    }


def _text(text: str, form: str = "text") -> dict[str, str]:
    """Returns a SARIF message string, with braces escaped, which are placeholders (§3.11.5)."""
    return {form: text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}
