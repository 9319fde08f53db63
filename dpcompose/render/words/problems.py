"""The problems of a report, from findings and verdict, which formats for machines list.

There is a problem of level `error` exactly where the exit code is not 0, in every format.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from dpcompose.errors import Diagnostic, Level
from dpcompose.render.layout import sentence
from dpcompose.report import LeftOut, Report

BOUND = "DPC300"
OVER_BUDGET, NO_BOUND, NOT_COMPARABLE, NO_BUDGET = "DPC301", "DPC302", "DPC303", "DPC304"
UNREADABLE, LEFT_OUT, MOVED, EVENT = "DPC305", "DPC306", "DPC307", "DPC308"
#: The statuses of reports on specs that could not be analysed.
BROKEN = ("invalid", "unreadable")
#: The statuses of reports that belong to no spec.
NO_SPEC = ("unreadable", "left-out")

#: The codes of verdicts with their meanings.
VERDICT_CODES = MappingProxyType(
    {
        "DPC300": "The certified bound, where no one theorem gives it.",
        "DPC301": "The bound is above the budget.",
        "DPC302": "There is no finite bound.",
        "DPC303": "The bound cannot be compared with the budget.",
        "DPC304": "There is no budget to check against.",
        "DPC305": "The file, or its settings, cannot be read.",
        "DPC306": "Files were left out.",
        "DPC307": "A change of a spec moved its bound.",
        "DPC308": "A change of a spec is one that reviews look at.",
    }
)


def problems(report: Report, checking: bool) -> tuple[Diagnostic, ...]:
    """Returns the problems of a report: the verdict, if it is one, then the findings.

    `checking`: whether the budget decides the exit code; elsewhere an unmet budget is a warning.
    """
    return (*_verdict(report, checking), *report.findings)


def _verdict(report: Report, checking: bool) -> Iterator[Diagnostic]:
    """Yields the problem that the verdict is, if any: no bound, no budget, or an unmet budget."""
    place, verdict = report.place, report.verdict
    if report.status == "no-guarantee":
        why = " ".join(sentence(each) for each in report.reasons)
        message = f"no finite guarantee. {why}" if why else "no finite guarantee"
        yield Diagnostic(NO_BOUND, message, place)
    if report.status in (*BROKEN, *NO_SPEC):  # their findings say what is wrong
        return
    if verdict is None:
        if checking:
            hint = "give the spec a `budget:`, or pass --epsilon, --rho or --mu"
            yield Diagnostic(NO_BUDGET, "nothing to check against", place, hint)
        return
    if not verdict.ok and report.status == "ok":
        # Imported here: most callers only count.
        from dpcompose.render.words.headlines import judged

        word, rest = judged(report, verdict)
        code = NOT_COMPARABLE if word == "not comparable" else OVER_BUDGET
        level: Level = "error" if checking else "warning"
        yield Diagnostic(code, f"{word}: {rest}", place, _hint(report), level)


def _hint(report: Report) -> str | None:
    """Returns why the verdict is what it is: the reason given, or the worst change."""
    verdict, worst = report.verdict, report.worst
    if verdict is not None and verdict.why:
        return sentence(verdict.why)
    changes = (verdict.at.worst if verdict and verdict.at else ()) or (worst.says if worst else ())
    return f"worst change: {'; '.join(changes)}" if changes else None


def counted(found: LeftOut, strict: bool) -> Report:
    """Returns a report that counts everything left out; an error if `strict`, else a note."""
    names = f": {', '.join(found.names)}" if found.names else ""
    more = found.untold - len(found.names)
    names += f" and {more} more" if more > 0 else ""
    hint = "a folder stands for its YAML files with the key `dpcompose`, links to them included"
    level: Level = "error" if strict and found.untold else "note"
    finding = Diagnostic(LEFT_OUT, found.summary + names, None, hint, level)
    return Report("", "", "left-out", findings=(finding,), left_out=found)


def from_root(file: str) -> str:
    """Returns a file name without `./` at its start, as services want it which show findings in a
    repository: relative to the folder dpcompose runs in."""
    while file.startswith("./"):
        file = file[2:].lstrip("/")
    return file or "."
