"""What an editor is told of a text and its places, in the form of the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from lsprotocol import types as lsp

from dpcompose.commands.editor.open_text import OpenText, Stretch
from dpcompose.commands.explain import page_of
from dpcompose.errors import Diagnostic, Fix, Replacement, quoted
from dpcompose.planning.corrections import changed_lines, corrected, faults_of
from dpcompose.render.layout import Style
from dpcompose.render.words.headlines import in_few_words
from dpcompose.render.words.numbers import decimal_text, share_text, short_text
from dpcompose.report import Report, Share
from dpcompose.source.cursor import cursor_at
from dpcompose.source.rewriting import is_plain
from dpcompose.spec.allowed import allowed_keys, allowed_values, references

_MOST_OFFERED = 200  # words of a completion
_WIDTH = 80  # columns of a page
_CODE = re.compile(r"DPC\d{3}")
_WORD = re.compile(r"[\w*-][\w.*-]*")
_LETTERS = re.compile(r"[\w.*-]*")
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}

# --- what is shown -------------------------------------------------------------------------------


def as_range(stretch: Stretch) -> lsp.Range:
    """Returns a stretch in the form of the protocol."""
    return lsp.Range(*(lsp.Position(line, column) for line, column in stretch))


def diagnostic_of(found: OpenText, problem: Diagnostic) -> lsp.Diagnostic:
    """Returns a problem in the form of the protocol."""
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(found.uri, as_range(found.text.stretch(span))), label or "see here"
        )
        for span, label in problem.related
    ]
    return lsp.Diagnostic(
        range=as_range(found.text.stretch(problem.span)),
        message="\nhelp: ".join(filter(None, (problem.message, problem.hint))),
        severity=_SEVERITY[problem.level],
        code=problem.code,
        source="dpcompose",
        related_information=related or None,
    )


def told_at(found: OpenText, at: lsp.Position) -> tuple[list[str], Stretch | None]:
    """Returns the texts about a place, and the word that the last of them is about."""
    line, column = found.text.line(at.line), found.text.column(at.line, at.character)
    shares = ((report, share) for report, share in _shares(found) if at.line in _lines(share))
    says = [_cost_in_words(*each) for each in shares]
    for pattern in (_CODE, _WORD) if found.is_spec else ():
        for word in pattern.finditer(line):
            if word.start() <= column <= word.end():
                identifier = _identifier(found, at.line, word)
                page = identifier and _page(identifier)
                if page:
                    start, end = (found.text.place(at.line, each) for each in word.span())
                    return [*says, page], (start, end)
    return says, None


def _identifier(found: OpenText, line: int, word: re.Match[str]) -> str | None:
    """Returns what `explain` calls a word of a line; None for a word that is a name."""
    if _CODE.fullmatch(word[0]):
        return f"code:{word[0]}"
    cursor = cursor_at(found.text.before(line, word.start()))
    if cursor is None or word[0] not in {**allowed_keys(cursor), **allowed_values(cursor)}:
        return None
    return f"word:{word[0]}"


@lru_cache(maxsize=256)
def _page(identifier: str) -> str | None:
    """Returns the page of a word or of a code."""
    return page_of(identifier, Style(_WIDTH))


def fenced(page: str) -> str:
    """Returns a page as a block of code, so that nothing in it is markup."""
    fence = "`" * (1 + max([2, *(len(each) for each in re.findall("`+", page))]))
    return f"{fence}text\n{page.rstrip()}\n{fence}"


def _shares(found: OpenText) -> Iterator[tuple[Report, Share]]:
    """Yields the cost of each mechanism, with the report that tells it."""
    for report in found.reports_of_text:
        yield from ((report, share) for share in report.shares if share.span is not None)


def _lines(share: Share) -> range:
    """Returns the lines of a mechanism, counted from 0."""
    return range(0) if share.span is None else range(share.span.line - 1, share.span.end_line)


def _cost(report: Report, share: Share) -> str:
    """Returns what a mechanism costs in short: `μ 0.5 · 50 %`."""
    if report.bound is None and report.record is None:
        cost = f"ε {decimal_text(share.bound.value)} alone"
    else:
        cost = short_text(share.bound).replace(" = ", " ")
    return cost if share.of_whole is None else f"{cost} · {share_text(share.of_whole)}"


def _cost_in_words(report: Report, share: Share) -> str:
    """Returns what a mechanism costs, as a line of text."""
    return f"{Style().plain(share.mechanism)} costs {_cost(report, share)}"


def hints(found: OpenText) -> list[lsp.InlayHint]:
    """Returns the cost of each mechanism at the end of its line, and the bound of each spec beside
    what it protects."""
    shares = _shares(found)
    costs = [_hint(found, _lines(share)[0], _cost(report, share)) for report, share in shares]
    return [*costs, *_bounds(found)]


def _bounds(found: OpenText) -> Iterator[lsp.InlayHint]:
    """Yields the bound of each spec beside what it protects."""
    for report, source in zip(found.reports_of_text, found.sources(), strict=False):
        valid = report.status in ("ok", "no-guarantee")
        if valid and source is not None and source.at(("protect",)) is not None:
            line = source.span(("protect",), key=True).line - 1
            yield _hint(found, line, in_few_words(report))


def _hint(found: OpenText, line: int, says: str) -> lsp.InlayHint:
    """Returns a hint at the end of a line."""
    place = lsp.Position(*found.text.end_of_line(line))
    return lsp.InlayHint(place, says, padding_left=True)


# --- what is written -----------------------------------------------------------------------------


def corrections(found: OpenText, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Returns the actions for the faults in a range, then the one for all of them."""
    if not found.is_spec:
        return []
    wanted, actions = params.context.only, []
    first, last = params.range.start.line, params.range.end.line
    faults = [each for each in faults_of(found.text.data) if each.fix and each.fix.certain]
    if _is_wanted(lsp.CodeActionKind.QuickFix, wanted):
        for fault in faults:
            problem = diagnostic_of(found, fault)
            if problem.range.start.line <= last and problem.range.end.line >= first and fault.fix:
                title = _title(fault.fix, fault)
                actions.append(_action(found, title, fault.fix.replacements, [problem]))
    change = corrected(found.text.data) if faults else None
    if change is not None and change.count and _is_wanted(lsp.CodeActionKind.SourceFixAll, wanted):
        title = "dpcompose: make all corrections that are certain"
        whole = _action(found, title, changed_lines(change)[1])
        whole.kind = lsp.CodeActionKind.SourceFixAll
        actions.append(whole)
    return actions


def _is_wanted(kind: lsp.CodeActionKind, wanted: Iterable[lsp.CodeActionKind | str] | None) -> bool:
    """Returns whether an editor asks for a kind of actions."""
    if wanted is None:
        return True
    return any(f"{kind.value}.".startswith(f"{getattr(each, 'value', each)}.") for each in wanted)


def _title(fix: Fix, fault: Diagnostic) -> str:
    """Returns what a correction does: the one text that it writes, or else what the fault is."""
    texts = [each.text.strip() for each in fix.replacements if each.text.strip()]
    return f"Write {quoted(texts[0])}" if len(texts) == 1 else f"Correct: {fault.message}"


def _action(
    found: OpenText,
    title: str,
    replacements: Iterable[Replacement],
    problems: list[lsp.Diagnostic] | None = None,
) -> lsp.CodeAction:
    """Returns the action that makes replacements in a text."""
    made = (found.text.edit(each) for each in replacements)
    edits = [lsp.TextEdit(as_range(stretch), text) for stretch, text in made]
    return lsp.CodeAction(
        title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=problems,
        is_preferred=problems is not None,
        edit=lsp.WorkspaceEdit(changes={found.uri: edits}),
    )


def completion(found: OpenText, at: lsp.Position) -> lsp.CompletionList | None:
    """Returns the words that may stand at a place."""
    head = found.text.line(at.line)[: found.text.column(at.line, at.character)]
    back = _LETTERS.match(head[::-1])  # a search to the end could take quadratic time
    column = len(head) - (back.end() if back else 0)
    cursor = cursor_at(found.text.before(at.line, column)) if found.is_spec else None
    if cursor is None:
        return None
    kinds = lsp.CompletionItemKind
    offered = [
        (word, f"{word}: ", says, kinds.Property) for word, says in allowed_keys(cursor).items()
    ]
    offered += [
        (word, word, says, kinds.EnumMember) for word, says in allowed_values(cursor).items()
    ]
    names = dict.fromkeys(references(cursor, found.tree(at.line)))
    offered += [(name, _written(name), "", kinds.Reference) for name in names]
    stretch = as_range((found.text.place(at.line, column), (at.line, at.character)))
    begun = head[column:].casefold()
    fitting = [each for each in offered if begun in each[0].casefold()]
    items = [
        lsp.CompletionItem(
            word,
            kind=kind,
            documentation=says or None,
            sort_text=f"{number:04}",
            filter_text=word,
            text_edit=lsp.TextEdit(stretch, text),
        )
        for number, (word, text, says, kind) in enumerate(fitting[:_MOST_OFFERED])
    ]
    return lsp.CompletionList(is_incomplete=len(fitting) > len(items), items=items)


def _written(name: str) -> str:
    """Returns a name as it is written in a spec, in quotation marks if it must be."""
    return name if is_plain(name) else json.dumps(name, ensure_ascii=False)
