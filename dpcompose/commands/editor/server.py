"""The language server: the requests of an editor, answered by what the other commands know."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

import dpcompose
from dpcompose.commands.batch import FileTask, Input, Outcome
from dpcompose.commands.editor.analyst import Analyst
from dpcompose.commands.editor.text_positions import EditorText, Stretch
from dpcompose.commands.exits import ExitCode, complain
from dpcompose.commands.explain import page_of
from dpcompose.commands.inputs import STANDARD_INPUT, is_yaml, name_of_file
from dpcompose.commands.parallel.pool import cores
from dpcompose.commands.run import Run
from dpcompose.errors import Diagnostic, Fix, InvalidSpec, Replacement
from dpcompose.planning.corrections import changed_lines, corrected, faults_of
from dpcompose.render.headlines import number_in_short
from dpcompose.render.layout import Style
from dpcompose.render.numbers import short_amounts, short_text
from dpcompose.render.panel import share_text
from dpcompose.render.problems import UNREADABLE, problems
from dpcompose.report import Report, Share
from dpcompose.source import Document, Source, Value, documents, is_spec, load
from dpcompose.source.cursor import cursor_at
from dpcompose.source.rewriting import is_plain
from dpcompose.spec.allowed import allowed_keys, allowed_values, references

Answer = TypeVar("Answer")

_PAUSE = 0.3  # seconds without a change until a text is looked at
_PATIENCE = 1.0  # seconds after which old problems go, although new ones are not known yet
_MOST_OFFERED = 200  # words of a completion
_WIDTH = 80  # columns of a page
_SPEC = (".dp.yaml", ".dp.yml")
_CODE = re.compile(r"DPC\d{3}")
_WORD = re.compile(r"[\w*-][\w.*-]*")
_WORD_BEFORE = re.compile(r"[\w.*-]*\Z")
_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}


@dataclass(slots=True, eq=False)
class OpenText:
    """A text that is open in the editor: its name in messages, and what is known of it.

    `reports`: those of `analysed`, an earlier or the present text. `work`: what finds them.
    """

    uri: str
    name: str
    version: int
    text: EditorText
    reports: list[Report] = field(default_factory=list)
    analysed: EditorText | None = None
    work: asyncio.Task[None] | None = None

    @property
    def known(self) -> list[Report]:
        """Returns the reports of the present text, as far as they are known."""
        return self.reports if self.analysed is self.text else []

    @property
    def is_spec(self) -> bool:
        """Returns whether the text is meant as a spec."""
        return self.uri.lower().endswith(_SPEC) or is_spec(self.text.data)

    def sources(self) -> Iterator[Source | None]:
        """Yields the documents of the text; None for one that cannot be read."""
        return map(self._source, documents(self.text.data))

    def tree(self, line: int) -> Value:
        """Returns the content of the document at a line, if need be without that line; None where
        it cannot be read."""
        for text in (self.text, self.text.without_line(line)):
            above = [each for each in documents(text.data) if each.lines_before <= line]
            source = self._source(above[-1]) if above else None
            if source is not None:
                return source.value
        return None

    def _source(self, document: Document) -> Source | None:
        with suppress(InvalidSpec):
            return load(document.data, self.name, document.lines_before)
        return None


class SpecServer(LanguageServer):
    """A server of one editor: it answers, a thread reads texts, and processes analyse them."""

    def __init__(self, run: Run) -> None:
        full = lsp.TextDocumentSyncKind.Full
        super().__init__("dpcompose", dpcompose.__version__, text_document_sync_kind=full)
        self._task = FileTask(run, extent="costs", of_many="costs")
        self._open: dict[str, OpenText] = {}
        self._reader = ThreadPoolExecutor(1)
        self._idle: list[Analyst] = []
        self._busy = asyncio.Semaphore(cores())
        self._is_shut_down = False
        for name, answer, options in self._answers():
            self.feature(name, options)(partial(answer))  # a method takes no attributes

    def talk(self) -> ExitCode:
        """Answers an editor on the standard streams until it ends."""
        output, sys.stdout = sys.stdout, sys.stderr  # nothing else may be written there
        if sys.stdin.isatty():
            complain("an editor starts this; it waits for one on standard input, Ctrl-C ends it")
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # else the thread that reads would be awaited
        try:
            self.start_io(sys.stdin.buffer, output.buffer)
        finally:
            self._end_analysts()
        return ExitCode.FINE if self._is_shut_down else ExitCode.FAILED

    def _answers(self) -> list[tuple[str, Callable[..., Any], Any]]:
        """Returns the functions that answer, each with its request and options."""
        kinds = [lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.SourceFixAll]
        return [
            (lsp.SHUTDOWN, self._shut_down, None),
            (lsp.TEXT_DOCUMENT_DID_OPEN, self._opened, None),
            (lsp.TEXT_DOCUMENT_DID_CHANGE, self._changed, None),
            (lsp.TEXT_DOCUMENT_DID_SAVE, self._saved, None),
            (lsp.TEXT_DOCUMENT_DID_CLOSE, self._closed, None),
            (lsp.TEXT_DOCUMENT_HOVER, self._hover, None),
            (lsp.TEXT_DOCUMENT_CODE_ACTION, self._actions, lsp.CodeActionOptions(kinds)),
            (lsp.TEXT_DOCUMENT_INLAY_HINT, self._hints, None),
            (
                lsp.TEXT_DOCUMENT_COMPLETION,
                self._words,
                lsp.CompletionOptions([" ", ".", "{", "["]),
            ),
        ]

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Shows a fault on standard error: the editor may not read any more."""
        complain(f"the language server: {error}")

    # texts

    def _shut_down(self, _: None) -> None:
        self._is_shut_down = True
        for each in list(self._open):
            self._forget(each)
        self._end_analysts()

    def _end_analysts(self) -> None:
        """Ends the processes that wait for a text; the others end with their tasks."""
        while self._idle:
            self._idle.pop().kill()

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        given = params.text_document
        path = to_fs_path(given.uri) if given.uri.startswith("file:") else None
        if given.language_id == "yaml" or is_yaml(path or given.uri):
            name = path or name_of_file(STANDARD_INPUT)
            self._forget(given.uri)
            text = self._text(given.text)
            self._open[given.uri] = OpenText(given.uri, name, given.version, text)
            self._start(given.uri, 0)

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if uri in self._open and params.content_changes:
            self._open[uri].version = params.text_document.version
            self._open[uri].text = self._text(params.content_changes[-1].text)
            self._start(uri, _PAUSE)

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Analyses a text again, since settings may have changed with it."""
        self._start(params.text_document.uri, 0)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        if self._forget(params.text_document.uri):
            self._publish(params.text_document.uri, None, [])

    def _forget(self, uri: str) -> bool:
        """Ends all work on a text, and returns whether it was open."""
        found = self._open.pop(uri, None)
        if found is not None and found.work is not None:
            found.work.cancel()
        return found is not None

    def _text(self, text: str) -> EditorText:
        encoding = self.workspace.position_encoding
        return EditorText(text, str(getattr(encoding, "value", encoding)))

    async def _in_thread(self, function: Callable[..., Answer], *given: Any) -> Answer:
        """Returns what a function returns that may take a while."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, function, *given)

    # problems

    def _start(self, uri: str, pause: float) -> None:
        """Starts to look at a text, instead of at what it was before."""
        found = self._open.get(uri)
        if found is not None:
            if found.work is not None:
                found.work.cancel()
            found.work = asyncio.get_running_loop().create_task(self._look_at(found, pause))

    async def _look_at(self, found: OpenText, pause: float) -> None:
        """Finds what is wrong with a text after a pause, and logs an internal fault."""
        await asyncio.sleep(pause)
        try:
            await self._find_problems(found)
        except Exception:
            self._log(traceback.format_exc())

    def _log(self, says: str) -> None:
        """Shows a fault of dpcompose in the log of the editor."""
        params = lsp.LogMessageParams(lsp.MessageType.Error, f"a fault of dpcompose: {says}")
        self.window_log_message(params)

    async def _find_problems(self, found: OpenText) -> None:
        """Finds what is wrong with a text: first what needs no analysis, then the rest."""
        text = found.text
        if not await self._in_thread(lambda: found.is_spec):
            found.reports, found.analysed = [], text
            self._publish(found.uri, found.version, [])
            return
        faults = await self._in_thread(faults_of, text.data)
        if faults:
            await self._tell(found, faults)
        analysis = asyncio.get_running_loop().create_task(self._analyse(found))
        try:
            await asyncio.wait({analysis}, timeout=_PATIENCE)
            if not analysis.done() and not faults:
                await self._tell(found, [])
            outcome = await analysis
        finally:
            analysis.cancel()
        found.reports, found.analysed = outcome.reports, text
        told = faults + [Diagnostic(UNREADABLE, each, None) for each in outcome.complaints]
        for report in outcome.reports:
            if not faults or report.status != "invalid":
                told += problems(report, checking=report.verdict is not None)
        if outcome.fault is not None:
            self._log(str(outcome.fault))
        if told != faults or not faults:
            await self._tell(found, told)

    async def _analyse(self, found: OpenText) -> Outcome:
        """Returns the outcome of a text; the process is killed where nobody waits any more."""
        async with self._busy:
            analyst = self._idle.pop() if self._idle else Analyst()
            given = Input(found.name, found.text.data)
            try:
                outcome = await asyncio.to_thread(analyst.outcome, self._task, given)
            except asyncio.CancelledError:
                analyst.kill()
                raise
            if not self._is_shut_down:
                self._idle.append(analyst)
            return outcome

    async def _tell(self, found: OpenText, problems: list[Diagnostic]) -> None:
        """Shows problems of the present text."""
        shown = await self._in_thread(lambda: [_shown(found, each) for each in problems])
        self._publish(found.uri, found.version, shown)

    def _publish(self, uri: str, version: int | None, shown: list[lsp.Diagnostic]) -> None:
        params = lsp.PublishDiagnosticsParams(uri, shown, version)
        self.text_document_publish_diagnostics(params)

    # answers

    async def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """Returns what a mechanism costs, and what `explain` says of the word."""
        found = self._open.get(params.text_document.uri)
        if found is None:
            return None
        parts, word = await self._in_thread(_told, found, params.position)
        if not parts:
            return None
        about = self.client_capabilities.text_document
        taken = (about.hover.content_format if about and about.hover else None) or ()
        if lsp.MarkupKind.Markdown in taken:
            kind, parts = lsp.MarkupKind.Markdown, [*map(_fenced, parts)]
        else:
            kind = lsp.MarkupKind.PlainText
        return lsp.Hover(lsp.MarkupContent(kind, "\n".join(parts)), word and _range(word))

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Returns the corrections of `--fix` that are about a range, and that of all at once."""
        found = self._open.get(params.text_document.uri)
        return [] if found is None else await self._in_thread(_corrections, found, params)

    async def _hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        """Returns the cost of each mechanism and the bound, as soon as they are known."""
        found = self._open.get(params.text_document.uri)
        while found is not None and found.work is not None and not found.work.done():
            await asyncio.wait({found.work})
        if found is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        hints = await self._in_thread(lambda: [*_costs(found), *_bounds(found)])
        return [each for each in hints if first <= each.position.line <= last]

    async def _words(self, params: lsp.CompletionParams) -> lsp.CompletionList | None:
        """Returns the words that may stand at a place."""
        found = self._open.get(params.text_document.uri)
        return None if found is None else await self._in_thread(_completion, found, params.position)


# --- what is shown -------------------------------------------------------------------------------


def _range(stretch: Stretch) -> lsp.Range:
    """Returns a stretch in the form of the protocol."""
    return lsp.Range(*(lsp.Position(line, column) for line, column in stretch))


def _shown(found: OpenText, problem: Diagnostic) -> lsp.Diagnostic:
    """Returns a problem in the form of the protocol."""
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(found.uri, _range(found.text.stretch(span))), label or "see here"
        )
        for span, label in problem.related
    ]
    return lsp.Diagnostic(
        range=_range(found.text.stretch(problem.span)),
        message="\nhelp: ".join(filter(None, (problem.message, problem.hint))),
        severity=_SEVERITY[problem.level],
        code=problem.code,
        source="dpcompose",
        related_information=related or None,
    )


def _told(found: OpenText, at: lsp.Position) -> tuple[list[str], Stretch | None]:
    """Returns the texts about a place, and the word that the last of them is about."""
    line, column = found.text.line(at.line), found.text.column(at.line, at.character)
    says = [_cost_in_words(*each) for each in _shares(found) if _line(each[1]) == at.line]
    for pattern in (_CODE, _WORD):
        for word in pattern.finditer(line):
            if word.start() <= column <= word.end() and found.is_spec:
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


def _fenced(page: str) -> str:
    """Returns a page as a block of code, so that nothing in it is markup."""
    fence = "`" * (1 + max([2, *(len(each) for each in re.findall("`+", page))]))
    return f"{fence}text\n{page.rstrip()}\n{fence}"


def _shares(found: OpenText) -> Iterator[tuple[Report, Share]]:
    """Yields the cost of each mechanism, with the report that tells it."""
    for report in found.known:
        yield from ((report, share) for share in report.shares if share.span is not None)


def _line(share: Share) -> int:
    """Returns the line of a mechanism, counted from 0."""
    return -1 if share.span is None else share.span.line - 1


def _cost(report: Report, share: Share) -> str:
    """Returns what a mechanism costs in short: `μ 0.5 · 50 %`."""
    if report.bound is None and report.record is None:
        cost = f"ε {short_amounts(share.bound, alone=True)} alone"
    else:
        cost = short_text(share.bound).replace(" = ", " ")
    return cost if share.of_whole is None else f"{cost} · {share_text(share.of_whole)}"


def _cost_in_words(report: Report, share: Share) -> str:
    """Returns what a mechanism costs, as a line of text."""
    return f"{Style().plain(share.mechanism)} costs {_cost(report, share)}"


def _costs(found: OpenText) -> Iterator[lsp.InlayHint]:
    """Yields the cost of each mechanism at the end of its line."""
    for report, share in _shares(found):
        yield _hint(found, _line(share), _cost(report, share))


def _bounds(found: OpenText) -> Iterator[lsp.InlayHint]:
    """Yields the bound of each spec beside what it protects."""
    for report, source in zip(found.known, found.sources(), strict=False):
        valid = report.status in ("ok", "no-guarantee")
        if valid and source is not None and source.at(("protect",)) is not None:
            line = source.span(("protect",), key=True).line - 1
            yield _hint(found, line, number_in_short(report))


def _hint(found: OpenText, line: int, says: str) -> lsp.InlayHint:
    place = lsp.Position(*found.text.end_of_line(line))
    return lsp.InlayHint(place, says, padding_left=True)


# --- what is written -----------------------------------------------------------------------------


def _corrections(found: OpenText, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    """Returns the actions for the faults in a range, then the one for all of them."""
    if not found.is_spec:
        return []
    wanted, actions = params.context.only, []
    first, last = params.range.start.line, params.range.end.line
    faults = [each for each in faults_of(found.text.data) if each.fix and each.fix.certain]
    if _asked(lsp.CodeActionKind.QuickFix, wanted):
        for fault in faults:
            shown = _shown(found, fault)
            if shown.range.start.line <= last and shown.range.end.line >= first and fault.fix:
                title = _title(fault.fix, fault)
                actions.append(_action(found, title, fault.fix.replacements, [shown]))
    change = corrected(found.text.data) if faults else None
    if change is not None and change.count and _asked(lsp.CodeActionKind.SourceFixAll, wanted):
        title = "dpcompose: make all corrections that are certain"
        whole = _action(found, title, changed_lines(change)[1])
        whole.kind = lsp.CodeActionKind.SourceFixAll
        actions.append(whole)
    return actions


def _asked(kind: lsp.CodeActionKind, wanted: Iterable[lsp.CodeActionKind | str] | None) -> bool:
    """Returns whether an editor asks for a kind of actions."""
    if wanted is None:
        return True
    return any(f"{kind.value}.".startswith(f"{getattr(each, 'value', each)}.") for each in wanted)


def _title(fix: Fix, fault: Diagnostic) -> str:
    """Returns what a correction does: what it writes, or what the fault is where that is long."""
    texts = [each.text.strip() for each in fix.replacements if each.text.strip()]
    if len(texts) == 1 and "\n" not in texts[0]:
        return f"Write `{texts[0]}`"
    return f"Correct: {fault.message}"


def _action(
    found: OpenText,
    title: str,
    replacements: Iterable[Replacement],
    shown: list[lsp.Diagnostic] | None = None,
) -> lsp.CodeAction:
    """Returns the action that makes replacements in a text."""
    made = (found.text.edit(each) for each in replacements)
    edits = [lsp.TextEdit(_range(stretch), text) for stretch, text in made]
    return lsp.CodeAction(
        title,
        kind=lsp.CodeActionKind.QuickFix,
        diagnostics=shown,
        is_preferred=shown is not None,
        edit=lsp.WorkspaceEdit(changes={found.uri: edits}),
    )


def _completion(found: OpenText, at: lsp.Position) -> lsp.CompletionList | None:
    """Returns the words that may stand at a place."""
    column = found.text.column(at.line, at.character)
    begun = _WORD_BEFORE.search(found.text.line(at.line)[:column])
    assert begun is not None
    cursor = cursor_at(found.text.before(at.line, begun.start())) if found.is_spec else None
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
    offered += [(name, _quoted(name), "", kinds.Reference) for name in names]
    start = found.text.place(at.line, begun.start())
    stretch = _range((start, (at.line, at.character)))
    fitting = [each for each in offered if begun[0].casefold() in each[0].casefold()]
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


def _quoted(name: str) -> str:
    """Returns a name as it is written in a spec, in quotation marks if it must be."""
    return name if is_plain(name) else json.dumps(name, ensure_ascii=False)
