"""Analyses many files independently; the largest exit code wins."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TextIO, cast

from dpcompose.commands.choices import By
from dpcompose.commands.exits import ExitCode, complain_of_fault
from dpcompose.commands.parallel.bounds import (
    Most,
    TooMuch,
    limit_error,
    limit_report,
    warm_up,
    within,
)
from dpcompose.commands.reading.gather import Gathering
from dpcompose.commands.reading.inputs import (
    STANDARD_INPUT,
    Complaints,
    Input,
    NoFile,
    Unreadable,
    name_of_file,
    read,
    without_quotes,
)
from dpcompose.commands.reading.policies import audited
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import refuse_overwrite
from dpcompose.commands.writing.progress import Progress
from dpcompose.core.notions.guarantee import AskedRisk
from dpcompose.errors import LEVELS, Diagnostic, Level, in_order
from dpcompose.memory import settle
from dpcompose.policy.settings import OFF, BadSettings, Settings
from dpcompose.render.words.problems import UNREADABLE, counted
from dpcompose.report import Extent, Report
from dpcompose.report.findings import UNCONFIRMED, BudgetsSeen
from dpcompose.source import Document, documents

if TYPE_CHECKING:
    from dpcompose.commands.repository.revision import Past


#: So many findings of a valid spec are listed; the code of the finding that counts the others.
MAX_LISTED, MORE = 1_000, "DPC017"


#: The chance at which a page states the accuracy of answers.
_USUAL_LEVEL = Fraction(95, 100)


class FileTask(NamedTuple):
    """What to do with every file of a run.

    `checking`: whether the budget decides the exit code. `certificate`: whether reports carry their
    certificates. `extent`: how much of the report is filled in for one spec, `of_many`: for each of
    several. `advisable`: whether the output shows statements that would make a bound less, `drawn`:
    what pictures need. `paged`: whether a page is written, which states the accuracy of answers.
    `unseen`: whether what is printed has no findings.
    """

    run: Run
    checking: bool = False
    certificate: bool = False
    extent: Extent = "all"
    of_many: Extent = "all"
    advisable: bool = False
    drawn: bool = False
    paged: bool = False
    unseen: bool = False


@dataclass(slots=True)
class Outcome:
    """The result of one file: reports, lines for standard error, and its worst exit code.

    `name`: its name where there is no report. `fault`: an internal error of dpcompose.
    """

    reports: list[Report] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    code: ExitCode = ExitCode.FINE
    fault: Exception | None = None
    name: str = ""

    def worse(self, code: ExitCode, complaint: str | None = None) -> None:
        """Records an exit code, and a line for standard error."""
        self.code = max(self.code, code)
        if complaint is not None:
            self.complaints.append(complaint)


class Faulty(Exception):
    """An internal error of dpcompose in another process; the message is its traceback."""


@dataclass(slots=True)
class Batch:
    """Analyses files; `unread` counts those without a report.

    `jobs`: the number of processes. `written`: files that the results go to, which must not be
    among those that are read. `watched`: the stream where progress is shown. `past`: files that are
    as they were in this revision are counted as `unchanged`.
    """

    task: FileTask
    jobs: int
    written: Sequence[str | None]
    watched: TextIO | None
    past: Past | None
    unchanged: int = field(default=0, init=False)
    complaints: Complaints = field(default_factory=Complaints, init=False)
    unread: int = field(default=0, init=False)
    _fault: Exception | None = field(default=None, init=False)
    _budgets: BudgetsSeen = field(default_factory=BudgetsSeen, init=False)

    def reports(self, gathering: Gathering) -> Generator[Report]:
        """Yields a report for every document of every file, in order; unread files have one too,
        files that are as they were in `past` have none.

        The last report counts what was left out, if anything was. Raises BadCall.
        """
        items: Iterable[str | NoFile] = (
            each for each in gathering.items() if not self._is_as_before(each)
        )
        total = 0
        if self.watched is not None:  # the bar needs the number of files
            items = list(items)
            total = len(items)
        alone = gathering.single
        # With limits processes are forked, and no thread may draw.
        unseen = alone and self.task.run.resources.is_limited
        stream = None if unseen else self.watched
        progress = (
            Progress(stream, says="analysing") if alone else Progress(stream, total, unit="specs")
        )
        with closing(self._outcomes(items)) as outcomes, progress:
            for done, outcome in enumerate(outcomes):
                if done == 1:  # a single spec ends before there is much garbage
                    settle()
                progress.step()
                if alone or outcome.complaints or outcome.fault:
                    progress.clear()
                self.complaints.worse(outcome.code)
                for each in outcome.complaints:
                    self.complaints.worse(outcome.code, each)
                self._fault = self._fault or outcome.fault
                yield from map(self._beside_others, outcome.reports)
                if not outcome.reports:
                    yield self._unread_report(outcome)
        found = gathering.left_out._replace(unread=self.unread)
        if self.task.run.strict and found.untold:
            self.complaints.worse(ExitCode.USAGE)
        if found.summary:
            yield counted(found, self.task.run.strict)

    def _is_as_before(self, item: str | NoFile) -> bool:
        """Returns whether a file is as it was in the past revision, and counts it as unchanged."""
        if self.past is None or isinstance(item, NoFile) or item == STANDARD_INPUT:
            return False
        try:
            same = self.past.has(item, read(item))
        except Unreadable:
            return False
        self.unchanged += same
        return same

    def _beside_others(self, report: Report) -> Report:
        """Returns a report with a finding on people whom an earlier spec counts apart, if any."""
        found = self._budgets.remark(report)
        if found is None:
            return report
        settings = self.task.run.policies.of(report.file)
        level = settings.level(found.code, found.level)
        if level == OFF:
            return report
        found = found._replace(level=cast(Level, level))
        if settings.fails(found.level):
            self.complaints.worse(ExitCode.FAILED)
        return replace(report, findings=(*report.findings, found))

    def _unread_report(self, outcome: Outcome) -> Report:
        """Returns the report of a file that could not be read, and counts it."""
        self.unread += 1
        says = " ".join(outcome.complaints)
        finding = Diagnostic(UNREADABLE, says, None)
        return Report(outcome.name, "", "unreadable", findings=(finding,))

    def finish(self) -> ExitCode:
        """Returns the exit code. Raises the first internal error of dpcompose, if there was one."""
        if isinstance(self._fault, Faulty):
            return complain_of_fault(str(self._fault))
        if self._fault is not None:
            raise self._fault
        return self.complaints.code

    def _outcomes(self, items: Iterable[str | NoFile]) -> Generator[Outcome]:
        """Yields the result of each file, by one process or several."""
        inputs = (self._input_of(item) for item in items)
        specs, task = 0, self.task
        if task.run.resources.is_limited:
            warm_up(task.run.resources)
        while specs < 2:  # a single readable spec is reported in full
            given = next(inputs, None)
            if given is None:
                return
            for outcome in self._results(task, [given], 1):
                specs += len(outcome.reports)
                yield outcome
        yield from self._results(task._replace(extent=task.of_many), inputs, self.jobs)

    def _results(
        self, task: FileTask, inputs: Iterable[Input | Outcome], jobs: int
    ) -> Iterator[Outcome]:
        """Yields the outcome of each input, in the order of the inputs: by up to `jobs` processes,
        by processes of their own where limits are set, and in this process for a single job without
        limits."""
        most, work = task.run.resources, partial(examine_for_sending, task)
        if most.is_limited:
            from dpcompose.commands.parallel.pool import AT_HAND
            from dpcompose.commands.parallel.workers import Ending, results_of_workers

            ending = Ending(most.patience, partial(outcome_of_ended, most))
            return results_of_workers(inputs, work, jobs, ending, AT_HAND)
        if jobs == 1:
            return (_examine_file(task, each) for each in inputs)
        from dpcompose.commands.parallel.pool import spread

        return spread(inputs, work, jobs)

    def _input_of(self, item: str | NoFile) -> Input | Outcome:
        """Returns what a process is to read: standard input is read here. Raises BadCall."""
        if isinstance(item, NoFile):
            return Outcome([], [item.says], ExitCode.USAGE, name=item.name)
        if item != STANDARD_INPUT:
            refuse_overwrite(self.written, [item])
            return Input(item)
        try:
            return Input(self.task.run.name(item), read(item))
        except Unreadable as error:
            return Outcome([], [str(error)], ExitCode.USAGE, name=name_of_file(item))


def outcome_of_ended(most: Most, given: Input | Outcome, how: str | None) -> Outcome:
    """Returns the result of a file whose process was killed or ended."""
    if isinstance(given, Outcome):
        return given
    report = limit_report(given.file, limit_error(most, how))
    return Outcome([report], code=ExitCode.INVALID, name=given.file)


def _examine_file(task: FileTask, given: Input | Outcome) -> Outcome:
    """Returns the result of one file; whatever goes wrong with it does not end the run."""
    if isinstance(given, Outcome):
        return given

    outcome = Outcome(name=given.file)
    try:
        data = given.data if given.data is not None else read(given.file)
        # The time limits each document, the memory the whole file.
        with within(Most(None, task.run.resources.megabytes)):
            _examine_documents(task, given.file, data, outcome)
    except TooMuch as error:
        outcome.reports = [limit_report(given.file, error)]
        outcome.worse(ExitCode.INVALID)
    except (Unreadable, BadSettings) as error:
        outcome.worse(ExitCode.USAGE, str(error))
    except Exception as error:
        outcome.worse(ExitCode.FAULT, f"{given.file}: a fault of dpcompose, its traceback is below")
        outcome.fault = error
    return outcome


def examine_for_sending(task: FileTask, given: Input | Outcome) -> Outcome:
    """Returns the result of one file in a form that can be sent to another process.

    A fault is text, and reports without findings have no source lines unless they need them.
    """
    outcome = _examine_file(task, given)
    outcome.reports = [
        each if each.findings or task.extent == "all" else replace(each, lines=())
        for each in outcome.reports
    ]
    if outcome.fault is not None:
        outcome.fault = Faulty("".join(traceback.format_exception(outcome.fault)).rstrip())
    return outcome


def _examine_documents(task: FileTask, file: str, data: bytes, outcome: Outcome) -> None:
    """Adds the reports of a file's documents and their exit codes to an outcome."""
    from dpcompose.pipeline import analyze

    run = task.run
    settings = run.policies.of(file)
    accepted = run.policies.accepted
    for document in documents(data):
        work = partial(
            analyze,
            document.data,
            file,
            run.limit,
            run.deltas_under(settings),
            tuple(dict.fromkeys(run.asked_epsilons)),
            risk=AskedRisk() if run.risk else None,
            drawn=task.drawn,
            accuracy=run.level or (_USUAL_LEVEL if task.paged else None),
            default=settings.defaults,
            ceilings=settings.ceilings,
            audit=partial(audited, settings, accepted=accepted, document=document.number),
            lines_above=document.lines_before,
            recheck=run.recheck,
            held=task.checking,
            certificate=task.certificate,
            extent=task.extent if document.number is None else task.of_many,
            by_attribute=run.by is By.ATTRIBUTE,
            vouched=accepted is not None,
        )
        if task.advisable and (settings.advise if run.advise is None else run.advise):
            work = partial(_with_advice, work, document, file, task)
        try:
            with within(run.resources):
                report = work()
        except TooMuch as error:
            report = limit_report(file, error)
        listed = _findings_to_list(report.findings)
        report = replace(report, findings=listed, again=None, vouched=())
        if document.number is not None:
            report = replace(report, document=document.number)
        outcome.reports.append(report)
        outcome.worse(*_exit_code(task, settings, report))
    outcome.reports = without_quotes(outcome.reports, data)


def _findings_to_list(findings: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Returns the findings to list, the highest levels first, and a count of the rest."""
    unlisted = len(findings) - MAX_LISTED
    if unlisted <= 0:
        return findings
    ranked = sorted(findings, key=lambda each: -LEVELS.index(each.level))
    # The count has the worst level of the findings that it replaces, and fails a run as they would.
    level = ranked[MAX_LISTED].level
    rest = Diagnostic(MORE, f"{unlisted} more findings are not listed", None, level=level)
    return (*in_order(ranked[:MAX_LISTED]), rest)


def _with_advice(
    work: Callable[[], Report], document: Document, file: str, task: FileTask
) -> Report:
    """Returns the report that `work` makes, with statements that would make its bound less.

    Where the budget decides, only for a budget that is not met.
    """
    from dpcompose.planning.advising import advised

    report = work()
    if task.checking and (report.verdict is None or report.verdict.ok):
        return report
    everything = task.run.advise is True
    # In a check the δ of the budget counts.
    delta = None if task.checking else next(iter(task.run.asked_deltas), None)
    return advised(report, document.data, file, document.lines_before, everything, delta)


def _exit_code(task: FileTask, settings: Settings, report: Report) -> tuple[ExitCode, str | None]:
    """Returns the exit code for a report, and a line for standard error if no finding says it."""
    if report.status == "invalid":
        return ExitCode.INVALID, None
    if task.checking and report.verdict is None:
        return ExitCode.USAGE, (
            f"{report.label}: nothing to check against: give the spec a `budget:`, "
            "or pass --epsilon, --rho or --mu"
        )
    if report.status == "no-guarantee":
        return ExitCode.FAILED, None
    if task.checking and report.verdict is not None and not report.verdict.ok:
        return ExitCode.FAILED, None

    failing = [each for each in report.findings if settings.fails(each.level)]
    told = [each.message for each in failing if each.code == UNCONFIRMED and task.unseen]
    says = f"{report.label}: {told[0]}" if told else None
    return ExitCode.FAILED if failing else ExitCode.FINE, says
