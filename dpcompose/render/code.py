"""The explanation of a finding's code: meaning, reason, example, level, how to silence it."""

from __future__ import annotations

from collections.abc import Iterator

from dpcompose.errors import printable
from dpcompose.handbook import CodeEntry, code_entries, whole_book
from dpcompose.policy.codes import ADJUSTABLE, IGNORABLE, REMOVABLE
from dpcompose.render.theorem_text import cited


def in_text(code: str) -> str:
    """Returns the explanation of a code as plain text without a heading, for machine formats."""
    entry = code_entries()[code]
    parts = [entry.why]
    for name, lines in snippets(entry):
        parts.append("\n".join([f"{name}:", *(f"    {printable(each)}" for each in lines)]))
    return "\n\n".join([*parts, *_facts(code, entry)])


def in_markdown(code: str) -> str:
    """Returns the explanation of a code as Markdown without a heading."""
    entry = code_entries()[code]
    parts = [entry.why]
    for name, lines in snippets(entry):
        kind = "toml" if name.endswith("settings") else "yaml"
        parts.append("\n".join([f"{name}:", "", f"```{kind}", *map(printable, lines), "```"]))
    return "\n\n".join([*parts, *_facts(code, entry)])


def _facts(code: str, entry: CodeEntry) -> Iterator[str]:
    """Yields sentences on a code's level, on what silences it, and on its theorems."""
    yield f"Level: {level(code)}."
    yield f"Silenced: {silenced(code)}."
    if entry.theorems:
        yield f"Theorems: {'; '.join(cited(whole_book()[each]) for each in entry.theorems)}."


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
