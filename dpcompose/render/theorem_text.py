"""The theorem book for people: the table, and one entry in full."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence

from dpcompose.core.theorem import Hypothesis, Subject, Theorem
from dpcompose.core.theorems.book import BOOK
from dpcompose.render.layout import Style, columns, wrapped

#: What the short name of a source stands for.
SOURCES: Mapping[str, str] = {
    "GMPS24": "Composition in Differential Privacy for General Granularity Notions, "
    "CSF 2024, arXiv 2308.14649 (long version)",
    "HBW22": "On the Choice of Databases in Differential Privacy Composition",
    "KOV15": "Kairouz, Oh and Viswanath: The Composition Theorem for Differential Privacy, "
    "ICML 2015",
    "BW18": "Balle and Wang: Improving the Gaussian Mechanism for Differential Privacy, ICML 2018",
    "BBG18": "Balle, Barthe and Gaboardi: Privacy Amplification by Subsampling, NeurIPS 2018, "
    "arXiv 1807.01647",
    "CKS20": "Canonne, Kamath and Steinke: The Discrete Gaussian for Differential Privacy, "
    "NeurIPS 2020",
    "CR21": "Cesar and Rogers: Bounding, Concentrating, and Truncating, ALT 2021, arXiv 2004.07223",
    "ZDW22": "Zhu, Dong and Wang: Optimal Accounting of Differential Privacy via Characteristic "
    "Function, AISTATS 2022",
}

_USED: Mapping[Subject, str] = {
    "release": "for a whole release",
    "touch": "for one step of a derivation",
    "question": "against an adversary",
}


def book() -> Mapping[str, Theorem]:
    """Every theorem by id, in the order of the paper."""
    return BOOK


def cited(entry: Theorem) -> str:
    """`Corollary IV.13 (GMPS24): title`."""
    return f"{entry.place} ({entry.source}): {entry.title}"


_SHORTER = {"Theorem": "Thm", "Corollary": "Cor", "Proposition": "Prop", "Algorithm": "Alg"}


def in_short(identifier: str) -> str:
    """What a narrow column has room for: `VI.20`, `BW18 Thm 8`; the id of what is our own."""
    entry = book().get(identifier)
    if entry is None or entry.source in ("GMPS24", "dpcompose"):
        return identifier
    kind, _, number = entry.place.partition(" ")
    return f"{entry.source} {_SHORTER.get(kind, kind)} {number}".strip()


def table(style: Style) -> str:
    """The whole book: id, title and bound of each entry."""
    lines: list[str] = []
    for entry in book().values():
        lines += columns([(entry.id.ljust(6), entry.title)], style, indent=0)
        lines += wrapped(entry.formula, style, " " * 8)
    return "\n".join(lines) + "\n"


def shape() -> list[dict[str, object]]:
    """The book for machines."""
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
        for entry in book().values()
    ]


def _condition(entry: Theorem, hypothesis: Hypothesis) -> dict[str, str]:
    how = entry.how(hypothesis)
    return {"name": hypothesis.name, "says": hypothesis.says, "how": how}


def explained(entry: Theorem, style: Style) -> str:
    """One entry in full."""
    heading = style.paint(style.plain(f"{entry.id}  {entry.title}"), "strong")
    source = SOURCES.get(entry.source)
    cited_in = f"{entry.place} of {entry.source}" + (f": {source}" if source else "")
    parts = [[heading, *wrapped(cited_in, style)]]
    for name, lines in _sections(entry, style):
        if lines:
            parts.append([style.paint(name, "strong"), *lines])
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _sections(entry: Theorem, style: Style) -> Iterator[tuple[str, list[str]]]:
    yield "Statement", _paragraphs(entry.statement, style)
    yield "Bound", wrapped(entry.formula, style, "  ")
    yield "Hypotheses", _conditions(entry, entry.hypotheses, style)
    for use in entry.uses:
        if use.on is not None:
            further = [each for each in use.hypotheses if each not in entry.hypotheses]
            heading = f"Used {_USED[use.on]} as {use.role.value}, where also"
            yield heading, _conditions(entry, further, style)
    if entry.for_readers is not None:
        yield "Not computed", wrapped(f"{entry.for_readers}.", style, "  ")
    yield "Example", wrapped(entry.example.says, style, "  ") if entry.example else []
    yield "Departs from the print", wrapped(entry.departs, style, "  ") if entry.departs else []
    yield "A case of", columns([(each, _title(each)) for each in entry.specialises], style)
    yield "See it at work", [f"  dpcompose analyze {style.plain(entry.spec)}"] if entry.spec else []


def _conditions(entry: Theorem, hypotheses: Sequence[Hypothesis], style: Style) -> list[str]:
    return columns([(entry.how(each), each.name, each.says) for each in hypotheses], style)


def _title(identifier: str) -> str:
    entry = book().get(identifier)
    return entry.title if entry else ""


def flowing(statement: str) -> str:
    """A docstring with its paragraphs on one line each."""
    paragraphs = inspect.cleandoc(statement).split("\n\n")
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def _paragraphs(statement: str, style: Style) -> list[str]:
    lines: list[str] = []
    for paragraph in flowing(statement).split("\n\n"):
        lines += ([""] if lines else []) + wrapped(paragraph, style, "  ")
    return lines
