"""Comments that ignore findings: `# dpcompose: ignore[DPC204] kept for next year`."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from dpcompose.errors import Diagnostic, Span, quoted
from dpcompose.policy import MENTION
from dpcompose.policy.codes import IGNORABLE, NO_REASON, NOT_IGNORABLE, UNUSED
from dpcompose.report import Ignored
from dpcompose.source import Source

_COMMENT = re.compile(f"{MENTION.pattern}(?P<rest>[^\n]*)", re.MULTILINE)
_IGNORE = re.compile(r"[ \t]*ignore[ \t]*\[(?P<codes>[^\[\]]*)\](?P<reason>.*)")
_WORDS = re.compile(r"\w")
_FORM = "write `# dpcompose: ignore[DPC204] reason`"


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment to ignore `codes` for a `reason`, about the lines from `first` to `last`."""

    codes: tuple[str, ...]
    reason: str
    span: Span
    first: int
    last: int


def apply_ignores(
    findings: Iterable[Diagnostic],
    source: Source,
    failing_setting: Callable[[Diagnostic], str | None] = lambda _: None,
) -> tuple[list[Diagnostic], list[Ignored]]:
    """Returns the findings that stay, with those about comments; and those that are ignored.

    `failing_setting`: the setting by which no comment can ignore a finding; None: there is none.
    """
    found_here = list(findings)
    ignored: list[Ignored] = []
    about: list[Diagnostic] = []
    comments: list[_Comment] = []
    for each in _comments(source):
        if isinstance(each, Diagnostic):
            about.append(each)
        else:
            comments.append(each)
    gone: set[int] = set()
    for comment, found in zip(comments, _findings_by_comment(found_here, comments), strict=True):
        for finding in found:
            setting = failing_setting(finding)
            if setting is None:
                ignored.append(Ignored(finding, comment.reason))
                gone.add(id(finding))
                continue
            says = f"{finding.code} cannot be ignored here: {setting} asks for it"
            hint = "`severity` in those settings can turn it off"
            about.append(Diagnostic(NOT_IGNORABLE, says, comment.span, hint))
        used = {finding.code for finding in found}
        unused = [code for code in comment.codes if code not in used]
        if unused:
            says = f"nothing to ignore here: there is no {', '.join(unused)}"
            about.append(Diagnostic(UNUSED, says, comment.span, "remove it", "warning"))
    kept = [finding for finding in found_here if id(finding) not in gone]
    return [*kept, *about], ignored


def _findings_by_comment(
    findings: Iterable[Diagnostic], comments: Sequence[_Comment]
) -> list[list[Diagnostic]]:
    """Returns for each comment the findings that it is the first about.

    A comment is about a finding of its codes if it stands within the lines of it, or alone above
    the first of them.
    """
    by_code: defaultdict[str, list[int]] = defaultdict(list)
    for number, comment in enumerate(comments):
        for code in comment.codes:
            by_code[code].append(number)
    taken: list[list[Diagnostic]] = [[] for _ in comments]
    for finding in findings:
        span, numbers = finding.span, by_code.get(finding.code, ())
        if span is not None and numbers:
            # Comments stand in the order of the text: their `first` and `last` never decrease.
            place = bisect_left(numbers, span.line, key=lambda number: comments[number].last)
            if place < len(numbers) and comments[numbers[place]].first <= span.end_line:
                taken[numbers[place]].append(finding)
    return taken


def _comments(source: Source) -> Iterator[_Comment | Diagnostic]:
    """Yields the comments to ignore findings, and a finding for each that is not understood."""
    text = source.lines.text
    filled: list[int] | None = None  # the lines with more than a comment
    for found in _COMMENT.finditer(text):
        start, end = found.span()
        if source.within_scalar(start):
            continue
        span = source.lines.span(start, end)
        ignore = _IGNORE.fullmatch(found["rest"])
        if ignore is None:
            yield Diagnostic(NOT_IGNORABLE, "this comment is not understood", span, _FORM)
            continue
        codes = tuple(dict.fromkeys(each.strip() for each in ignore["codes"].split(",")))
        wrong = [code for code in codes if code not in IGNORABLE]
        reason = ignore["reason"].strip()
        if wrong:
            says = f"{', '.join(map(quoted, wrong))} cannot be ignored"
            hint = "remarks can: " + ", ".join(sorted(IGNORABLE))
            yield Diagnostic(NOT_IGNORABLE, says, span, hint)
        elif not _WORDS.search(reason):
            hint = "say after the bracket why this is fine"
            yield Diagnostic(NO_REASON, "a reason is missing, nothing is ignored", span, hint)
        else:
            alone = not text[text.rfind("\n", 0, start) + 1 : start].strip()
            last = span.line
            if alone:
                if filled is None:
                    rows = text.split("\n")
                    first = len(source.lines) - len(rows) + 1  # of a part of a longer text
                    stripped = enumerate(map(str.strip, rows), first)
                    filled = [line for line, row in stripped if row and row[0] != "#"]
                following = bisect_right(filled, span.line)
                last = filled[following] if following < len(filled) else last
            yield _Comment(codes, reason, span, span.line, last)
