"""The language server: the requests of an editor, answered by what the other commands know."""

from __future__ import annotations

import asyncio
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from dpcompose.commands.batch import FileTask, Outcome
from dpcompose.commands.editor.analyst import Analyst
from dpcompose.commands.editor.open_text import EditorText, OpenText
from dpcompose.commands.editor.replies import (
    as_range,
    completion,
    corrections,
    diagnostic_of,
    fenced,
    hints,
    told_at,
)
from dpcompose.commands.exits import ExitCode, complain
from dpcompose.commands.parallel.pool import cores
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Input, is_yaml, name_of_file
from dpcompose.commands.run import Run
from dpcompose.errors import Diagnostic
from dpcompose.places import version
from dpcompose.planning.corrections import faults_of
from dpcompose.render.words.problems import UNREADABLE, problems

Answer = TypeVar("Answer")

_PAUSE = 0.3  # seconds without a change until a text is looked at
_PATIENCE = 1.0  # seconds after which old problems go, although new ones are not known yet


class SpecServer(LanguageServer):
    """A server of one editor: it answers, a thread reads texts, and processes analyse them."""

    def __init__(self, run: Run) -> None:
        full = lsp.TextDocumentSyncKind.Full
        super().__init__("dpcompose", version(), text_document_sync_kind=full)
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
        """Ends all work; the editor says `exit` next."""
        self._is_shut_down = True
        for each in list(self._open):
            self._forget(each)
        self._end_analysts()

    def _end_analysts(self) -> None:
        """Ends the processes that wait for a text; the others end with their tasks."""
        while self._idle:
            self._idle.pop().kill()

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """Looks at a text that was opened, if it is YAML."""
        given = params.text_document
        path = to_fs_path(given.uri) if given.uri.startswith("file:") else None
        if given.language_id == "yaml" or is_yaml(path or given.uri):
            name = path or name_of_file(STANDARD_INPUT)
            self._forget(given.uri)
            text = self._text(given.text)
            self._open[given.uri] = OpenText(given.uri, name, given.version, text)
            self._start(given.uri, 0)

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """Looks at a text that was changed, once it is not for a moment."""
        uri = params.text_document.uri
        if uri in self._open and params.content_changes:
            self._open[uri].version = params.text_document.version
            self._open[uri].text = self._text(params.content_changes[-1].text)
            self._start(uri, _PAUSE)

    def _saved(self, params: lsp.DidSaveTextDocumentParams) -> None:
        """Analyses a text again, since settings may have changed with it."""
        self._start(params.text_document.uri, 0)

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """Forgets a text, and takes its problems back."""
        if self._forget(params.text_document.uri):
            self._publish(params.text_document.uri, None, [])

    def _forget(self, uri: str) -> bool:
        """Ends all work on a text, and returns whether it was open."""
        found = self._open.pop(uri, None)
        if found is not None and found.work is not None:
            found.work.cancel()
        return found is not None

    def _text(self, text: str) -> EditorText:
        """Returns a text whose columns are counted as was agreed with the editor."""
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
        analysis = asyncio.get_running_loop().create_task(self._analyse(found.name, text))
        try:
            await asyncio.wait({analysis}, timeout=_PATIENCE)
            if not analysis.done() and not faults:
                await self._tell(found, [])
            outcome = await analysis
        finally:
            analysis.cancel()
        found.reports, found.analysed = outcome.reports, text
        listed = faults + [Diagnostic(UNREADABLE, each, None) for each in outcome.complaints]
        for report in outcome.reports:
            if not faults or report.status != "invalid":
                listed += problems(report, checking=report.verdict is not None)
        if outcome.fault is not None:
            self._log(str(outcome.fault))
        if listed != faults or not faults:
            await self._tell(found, listed)

    async def _analyse(self, name: str, text: EditorText) -> Outcome:
        """Returns the outcome of a text; the process is killed where nobody waits any more."""
        async with self._busy:
            analyst = self._idle.pop() if self._idle else Analyst()
            given = Input(name, text.data)
            try:
                outcome = await asyncio.to_thread(analyst.outcome, self._task, given)
            except asyncio.CancelledError:
                analyst.kill()
                raise
            if not self._is_shut_down:
                self._idle.append(analyst)
            return outcome

    async def _tell(self, found: OpenText, listed: list[Diagnostic]) -> None:
        """Shows problems of the present text."""
        told = await self._in_thread(lambda: [diagnostic_of(found, each) for each in listed])
        self._publish(found.uri, found.version, told)

    def _publish(self, uri: str, version: int | None, told: list[lsp.Diagnostic]) -> None:
        """Shows problems in place of those shown before; the version is None for no text."""
        params = lsp.PublishDiagnosticsParams(uri, told, version)
        self.text_document_publish_diagnostics(params)

    # answers

    async def _hover(self, params: lsp.HoverParams) -> lsp.Hover | None:
        """Returns what a mechanism costs, and what `explain` says of the word."""
        found = self._open.get(params.text_document.uri)
        if found is None:
            return None
        parts, word = await self._in_thread(told_at, found, params.position)
        if not parts:
            return None
        about = self.client_capabilities.text_document
        taken = (about.hover.content_format if about and about.hover else None) or ()
        if lsp.MarkupKind.Markdown in taken:
            kind, parts = lsp.MarkupKind.Markdown, [*map(fenced, parts)]
        else:
            kind = lsp.MarkupKind.PlainText
        return lsp.Hover(lsp.MarkupContent(kind, "\n".join(parts)), word and as_range(word))

    async def _actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """Returns the corrections of `--fix` that are about a range, and that of all at once."""
        found = self._open.get(params.text_document.uri)
        return [] if found is None else await self._in_thread(corrections, found, params)

    async def _hints(self, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        """Returns the cost of each mechanism and the bound, as soon as they are known."""
        found = self._open.get(params.text_document.uri)
        while found is not None and found.work is not None and not found.work.done():
            await asyncio.wait({found.work})
        if found is None:
            return []
        first, last = params.range.start.line, params.range.end.line
        known = await self._in_thread(hints, found)
        return [each for each in known if first <= each.position.line <= last]

    async def _words(self, params: lsp.CompletionParams) -> lsp.CompletionList | None:
        """Returns the words that may stand at a place."""
        found = self._open.get(params.text_document.uri)
        return None if found is None else await self._in_thread(completion, found, params.position)
