"""The theorem book as text and JSON: names of sources, short names, groups, search."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping

from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Hypothesis, Theorem
from dpcompose.core.theorems.book import BOOK

#: The full reference for the short name of each source.
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
    "DRS22": "Dong, Roth and Su: Gaussian Differential Privacy, JRSS B 84 (2022), "
    "arXiv 1905.02383; the two lines of an (ε, δ) are of Wasserman and Zhou 2010",
    "KGK25": "Kulynych, Gomez, Kaissis, Hayes, Balle, Calmon and Raisaro: Unifying "
    "Re-Identification, Attribute Inference, and Data Reconstruction Risks in Differential "
    "Privacy, NeurIPS 2025, arXiv 2507.06969",
    "RRUV16": "Rogers, Roth, Ullman and Vadhan: Privacy Odometers and Filters, NeurIPS 2016, "
    "arXiv 1605.08294",
    "FZ21": "Feldman and Zrnic: Individual Privacy Accounting via a Rényi Filter, NeurIPS 2021, "
    "arXiv 2008.11193",
    "WRRW23": "Whitehouse, Ramdas, Rogers and Wu: Fully-Adaptive Composition in Differential "
    "Privacy, ICML 2023, arXiv 2203.05481",
    "ST22": "Smith and Thakurta: Fully Adaptive Composition for Gaussian Differential Privacy, "
    "arXiv 2210.17520; Koskela, Tobaben and Honkela: Individual Privacy Accounting with Gaussian "
    "Differential Privacy, ICLR 2023, arXiv 2209.15596",
    "VW21": "Vadhan and Wang: Concurrent Composition of Differential Privacy, TCC 2021, "
    "arXiv 2105.14427",
    "L22": "Lyu: Composition Theorems for Interactive Differential Privacy, NeurIPS 2022, "
    "arXiv 2207.09397",
    "VZ23": "Vadhan and Zhang: Concurrent Composition Theorems for Differential Privacy, "
    "STOC 2023, arXiv 2207.08335",
    "HST23": "Haney, Shoemate, Tian, Vadhan, Vyrros, Xu and Zhang: Concurrent Composition for "
    "Interactive Differential Privacy with Adaptive Privacy-Loss Parameters, CCS 2023, "
    "arXiv 2309.05901",
    "GKMS23": "Ghazi, Kumar, Manurangsi and Steinke: Algorithms with More Granular Differential "
    "Privacy Guarantees, ITCS 2023, arXiv 2209.04053",
    "ZDW22": "Zhu, Dong and Wang: Optimal Accounting of Differential Privacy via Characteristic "
    "Function, AISTATS 2022",
}


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
