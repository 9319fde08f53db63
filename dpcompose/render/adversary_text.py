"""The part of a report on an adversary with two hypotheses, for people."""

from __future__ import annotations

from dpcompose.core.numbers.exact import decimal_up
from dpcompose.core.theorem import Role
from dpcompose.core.theorems.book import in_role
from dpcompose.render.layout import Style, columns, sentence, wrapped
from dpcompose.render.numbers import bound_text, found_text, given_text
from dpcompose.render.theorem_text import book, cited
from dpcompose.report import AgainstAdversary, Line, Report

_MOST_STEPS = 14


def sections(report: Report, style: Style, steps: bool = True) -> list[list[str]]:
    """The bound with its label, and the steps to it; nothing where there is no adversary."""
    found = report.adversary
    if found is None:
        return []
    head = [style.paint("Against an adversary with two hypotheses", "strong")]
    if found.bound is None:
        head += wrapped(f"No bound: {found.why}", style, "  ")
        return [[*head, *wrapped(sentence(found.label), style, "  ")]]
    head += wrapped(f"{bound_text(found.bound)}, {found.label}", style, "  ")
    if found.ratio is not None and report.bound is not None:
        share = decimal_up(found.ratio, 4)
        dp = bound_text(report.bound)
        head += wrapped(f"That is {share} times the ε of differential privacy, {dp}", style, "  ")
    entry = book().get(found.theorem) if found.theorem else None
    if entry is not None:
        head += wrapped(cited(entry), style, "  ")
    head += columns([_at(found, i) for i in range(len(found.at_delta))], style)
    if not steps:
        return [head]
    for line in found.chain[:_MOST_STEPS]:
        head += wrapped(_step(line), style, "  - ")
    of_dp = in_role(Role.ALL_HYPOTHESES).id  # which is said already
    for each in found.alternatives:
        if each.bound is not None and each.theorem != of_dp:
            head += wrapped(f"Also: {bound_text(each.bound)}, by {each.why}", style, "  - ")
    for text in found.assumptions:
        head += wrapped(f"Assumed: {text}", style, "  - ")
    return [head]


def _at(found: AgainstAdversary, index: int) -> tuple[str, str, str]:
    at = found.at_delta[index]
    return given_text(at), found_text(at), at.says


def _step(line: Line) -> str:
    bound = "" if line.bound is None else f": {bound_text(line.bound)}"
    return sentence(f"{line.says}{bound}")
