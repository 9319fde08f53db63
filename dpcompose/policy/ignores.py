"""Comments that ignore findings: `# dpcompose: ignore[DPC204] kept for next year`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from dpcompose.errors import Diagnostic, Span, quoted
from dpcompose.policy import MENTION
from dpcompose.policy.codes import IGNORABLE, NO_REASON, NOT_IGNORABLE, UNUSED
from dpcompose.report import Ignored
from dpcompose.source import Source
from dpcompose.values import dataclass

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

    def is_about(self, finding: Diagnostic) -> bool:
        """Whether it stands within the lines of a finding, or alone above the first of them."""
        span = finding.span
        if span is None or finding.code not in self.codes:
            return False
        return span.line <= self.last and self.first <= span.end_line


def ignoring(
    findings: Iterable[Diagnostic],
    source: Source,
    held_up: Callable[[Diagnostic], str | None] = lambda _: None,
) -> tuple[list[Diagnostic], list[Ignored]]:
    """The findings that stay, with those about comments; and those that are ignored.

    `held_up`: the setting by which no comment can ignore a finding; None: there is none.
    """
    kept: list[Diagnostic] = list(findings)
    ignored: list[Ignored] = []
    about: list[Diagnostic] = []
    comments: list[_Comment] = []
    for each in _comments(source):
        if isinstance(each, Diagnostic):
            about.append(each)
        else:
            comments.append(each)
    for comment in comments:
        used: set[str] = set()
        staying = []
        for finding in kept:
            if not comment.is_about(finding):
                staying.append(finding)
                continue
            used.add(finding.code)
            setting = held_up(finding)
            if setting is not None:
                staying.append(finding)
                says = f"{finding.code} cannot be ignored here: {setting} asks for it"
                hint = "`severity` in those settings can turn it off"
                about.append(Diagnostic(NOT_IGNORABLE, says, comment.span, hint))
            else:
                ignored.append(Ignored(finding, comment.reason))
        kept = staying
        unused = [code for code in comment.codes if code not in used]
        if unused:
            says = f"nothing to ignore here: there is no {', '.join(unused)}"
            about.append(Diagnostic(UNUSED, says, comment.span, "remove it", "warning"))
    return [*kept, *about], ignored


def _comments(source: Source) -> Iterator[_Comment | Diagnostic]:
    text = source.lines.text
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
            last = _next_line(source, span.line) if alone else span.line
            yield _Comment(codes, reason, span, span.line, last)


def _next_line(source: Source, line: int) -> int:
    """The number of the next line that holds more than a comment."""
    lines = source.lines
    for number in range(line, len(lines)):
        text = lines[number].strip()
        if text and not text.startswith("#"):
            return number + 1
    return line
