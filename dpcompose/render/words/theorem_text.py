"""The theorem book as text and JSON: names of sources, short names, groups, search."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, Theorem
from dpcompose.core.theorems.book import BOOK
from dpcompose.report import Report


def book() -> Mapping[str, Theorem]:
    """Returns the theorems that may be cited by id, in the order of the paper."""
    return BOOK


def entry_of(identifier: str | None) -> Theorem | None:
    """Returns the theorem of an id that may be cited; None without one."""
    return BOOK.get(identifier or "")


def cited(entry: Theorem) -> str:
    """Returns a theorem's citation: `Corollary IV.13 (GMPS24): title`."""
    return f"{entry.place} ({entry.source}): {entry.title}"


_SHORTER = {"Theorem": "Thm", "Corollary": "Cor", "Proposition": "Prop", "Algorithm": "Alg"}


def in_short(identifier: str) -> str:
    """Returns a theorem's name for a narrow column: `VI.20`, `BW18 Thm 8`, or its id."""
    entry = book().get(identifier)
    if entry is None or entry.source in ("GMPS24", "dpcompose"):
        return identifier
    kind, _, number = entry.place.partition(" ")
    return f"{entry.source} {_SHORTER.get(kind, kind)} {number}".strip()


def rests_on(report: Report) -> str:
    """Returns the theorems on which the one of the headline rests, and the one by which its number
    is read at a δ: ` · on V.3`, `, read at δ by CKS20 Cor. 13`."""
    if report.proof is None:
        return ""
    text = "".join(f" · on {in_short(each)}" for each in report.proof.theorems[1:])
    if report.proof.reading is not None:
        text += f", read at δ by {in_short(report.proof.reading)}"
    return text


_ANY, _TWO = "In any notion", "Two hypotheses"
#: The headings of the book.
GROUPS = (_ANY, *(notion.facts.words for notion in Notion), _TWO)


def group_of(entry: Theorem) -> str:
    """Returns the heading under which a theorem is listed."""
    if entry.source == "HBW22":
        return _TWO
    return _ANY if entry.notion is None else entry.notion.facts.words


def matching(filter_: str) -> list[Theorem]:
    """Returns the theorems that contain every word of a filter in their text or roles."""
    from dpcompose.handbook import whole_book

    words = filter_.casefold().split()
    return [
        each
        for each in whole_book().values()
        if all(word in searchable_text(each) for word in words)
    ]


def searchable_text(entry: Theorem) -> str:
    """Returns the text of a theorem that searches look at, in lower case."""
    notion = "" if entry.notion is None else f"{entry.notion} {entry.notion.facts.words}"
    roles = " ".join(use.role for use in entry.uses)
    names = f"{entry.id} {entry.place} {entry.source} {entry.title} {entry.formula}"
    return f"{names} {notion} {roles} {group_of(entry)}".casefold()


def shape(entries: Iterable[Theorem]) -> list[dict[str, object]]:
    """Returns theorems as JSON objects."""
    return [
        {
            "id": entry.id,
            "title": entry.title,
            "source": entry.source,
            "place": entry.place,
            "statement": flowing(entry.statement),
            "formula": entry.formula,
            "hypotheses": [_condition(entry, each) for each in entry.hypotheses],
            "uses": [
                {
                    "role": use.role.value,
                    "hypotheses": [_condition(entry, each) for each in use.hypotheses],
                }
                for use in entry.uses
            ],
            "for_readers": entry.for_readers,
            "example": entry.example.says if entry.example else None,
            "departs": entry.departs,
            "specialises": list(entry.specialises),
            "spec": entry.spec,
        }
        for entry in entries
    ]


def _condition(entry: Theorem, hypothesis: Hypothesis) -> dict[str, str]:
    """Returns a hypothesis as a JSON object."""
    how = entry.how(hypothesis)
    return {"name": hypothesis.name, "says": hypothesis.says, "how": how}


def flowing(statement: str) -> str:
    """Returns a statement with each paragraph on one line."""
    paragraphs = inspect.cleandoc(statement).split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)
