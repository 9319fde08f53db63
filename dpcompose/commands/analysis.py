"""The commands `analyze` and `check`: every file is reported, and the largest exit code wins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.commands.bounds import Most
from dpcompose.commands.exits import BadCall, ExitCode, FailOn, complain, complain_lines
from dpcompose.commands.gather import Gathering, Gone
from dpcompose.commands.goals import AskedPoints
from dpcompose.commands.inputs import STANDARD_INPUT
from dpcompose.commands.output import Look, deliver_all, style_for, to_standard_output
from dpcompose.commands.outputs import Format, Output, Rendering, outputs_of, rendered
from dpcompose.commands.policies import Policies, Sources, accepted_in, policies_of
from dpcompose.commands.progress import waiting_stream
from dpcompose.commands.run import FileTask, Run
from dpcompose.commands.show_settings import show_settings
from dpcompose.commands.summary import Tally
from dpcompose.core.notions.guarantee import Budget
from dpcompose.render import CHECKERS, RENDERERS, Renderer
from dpcompose.render.headlines import outcome
from dpcompose.render.layout import Style
from dpcompose.render.problems import NO_SPEC
from dpcompose.report import Extent, Report

if TYPE_CHECKING:
    from dpcompose.commands.repository.revision import Past


class Selection(NamedTuple):
    """The specs that are selected, the number of processes, and the limits of each spec.

    `jobs`: None for as many as can run at once. `changed_since`: a revision of git; files that are
    as they were in it are left alone. `fix`: whether certain corrections are made first, `agreed`:
    without asking.
    """

    files: Sequence[str]
    files_from: str | None = None
    stdin_filename: str | None = None
    allow_empty: bool = False
    jobs: int | None = None
    changed_since: str | None = None
    most: Most = Most()
    fix: bool = False
    agreed: bool = False

    def or_here(self) -> Selection:
        """Returns the selection, of the specs of the working folder where no file is given."""
        given = self.files or self.files_from is not None
        return self if given else self._replace(files=["."])

    def gathering(self, gone: Gone | None = None) -> Gathering:
        """Returns the selected files as a Gathering; `gone`: former files to select. Raises
        BadCall."""
        files = tuple(self.files or ())
        if not files and self.files_from is None:
            raise BadCall("no FILE is given: a spec, a folder, - for standard input")
        if (*files, self.files_from).count(STANDARD_INPUT) > 1:
            raise BadCall("standard input (-) can be read only once")
        if self.stdin_filename is not None and STANDARD_INPUT not in files:
            raise BadCall("--stdin-filename names standard input, which is not read: add -")
        return Gathering(files, self.files_from, self.allow_empty, gone, self.most)

    def past(self) -> Past | None:
        """Returns the revision that files are compared with, None without one. Raises BadCall."""
        if self.changed_since is None:
            return None
        from dpcompose.commands.repository.revision import Past

        past = Past(self.changed_since, "--changed-since")
        past.verify()
        return past

    def processes(self, gathering: Gathering) -> int:
        """Returns the number of processes to use. Raises BadCall."""
        if self.jobs is not None and self.jobs < 0:
            raise BadCall("--jobs: a whole number from 0 is due")
        if gathering.single:
            return 1
        if self.jobs:
            return self.jobs
        from dpcompose.commands.parallel.pool import cores

        return cores()


class Strictness(NamedTuple):
    """What makes a run fail beside a missing bound and an unmet budget.

    `sources`: the sources of settings beside the environment. `show_settings`: whether the settings
    of each spec are printed, and nothing is analysed. `assumptions`: a file of the only assumptions
    that are accepted. `strict`: whether what is left out is a failure. `recheck`: whether the
    stand-alone checker goes through every certificate.
    """

    fail_on: FailOn | None = None
    exit_zero: bool = False
    require_relation: Sequence[str] | None = None
    require_delta: str | None = None
    sources: Sources = Sources()
    show_settings: bool = False
    assumptions: str | None = None
    strict: bool = False
    recheck: bool = False

    def policies(self) -> Policies:
        """Returns the sources of settings, those of the flags first. Raises BadCall."""
        flags = {
            "fail-on": self.fail_on.value if self.fail_on is not None else None,
            "require-relation": list(self.require_relation or ()) or None,
            "require-delta": self.require_delta,
        }
        given = {key: value for key, value in flags.items() if value is not None}
        policies = policies_of(self.sources, given)
        if self.assumptions is None:
            return policies
        return policies._replace(accepted=accepted_in(self.assumptions))


def analyze_files(
    selection: Selection,
    strictness: Strictness,
    points: AskedPoints,
    form: Format,
    output: Sequence[str] | None,
    quiet: bool,
    look: Look,
    advise: bool | None = None,
    bare: bool = False,
) -> ExitCode:
    """Runs the command `analyze` and returns its exit code. Raises BadCall.

    `advise`: whether to look for statements that would make the bound less; None for the default.
    """
    quiet = quiet or bare
    if bare and len(points.deltas) + len(points.epsilons) > 1:
        raise BadCall("--bare prints one number: ask for one δ or one ε")
    if bare and points.risk is not None:
        raise BadCall("--bare prints one number, and a risk is several: use --quiet")
    if quiet and form is not Format.TEXT:
        raise BadCall(f"--quiet prints the bound alone: it cannot go with --format {form}")
    outputs = outputs_of(output, form)
    task = FileTask(points=points, advise=advise)
    return _run(task, selection.or_here(), strictness, outputs, look, quiet, bare)


def check_files(
    selection: Selection,
    strictness: Strictness,
    limit: Budget | None,
    points: AskedPoints,
    form: Format,
    output: Sequence[str] | None,
    look: Look,
) -> ExitCode:
    """Runs the command `check` and returns its exit code. Raises BadCall."""
    outputs = outputs_of(output, form)
    task = FileTask(limit, points, checking=True)
    return _run(task, selection.or_here(), strictness, outputs, look)


def _extent(forms: set[Format], look: Look, single: bool) -> Extent:
    """Returns how much of a report the formats need; `single`: of one spec, else of several."""
    if not single and look.detail != "full" and Format.TEXT in forms:
        forms = forms - {Format.TEXT} | _COSTS  # several specs are printed as a table
    if forms <= _BOUNDS:
        return "bound"
    return "costs" if forms <= _BOUNDS | _COSTS else "all"


def _is_advisable(forms: set[Format], look: Look, single: bool) -> bool:
    """Returns whether the output shows advice; `single`: of one spec, else of several."""
    if look.detail == "brief" or (look.detail != "full" and not single):
        forms = forms - {Format.TEXT}  # a panel or a table, which show no advice
    return bool(forms & _ADVISING)


def _run(
    task: FileTask,
    selection: Selection,
    strictness: Strictness,
    outputs: Sequence[Output[Format]],
    look: Look,
    quiet: bool = False,
    bare: bool = False,
) -> ExitCode:
    """Runs `analyze` or `check` with its outputs and returns the exit code."""
    gathering = selection.gathering()
    task = task._replace(
        stdin_name=selection.stdin_filename,
        policies=strictness.policies(),
        most=selection.most,
        recheck=strictness.recheck,
    )
    if selection.agreed and not selection.fix:
        raise BadCall("--yes agrees to what --fix writes: add --fix")
    if strictness.show_settings:
        return show_settings(task, gathering)
    past = selection.past()
    mended = ExitCode.FINE
    if selection.fix:
        from dpcompose.commands.mending import mend

        mended = mend(selection.gathering(), selection.agreed, past)
    forms = {each.form for each in outputs[quiet:]}
    task = task._replace(
        certificate=Format.CERTIFICATE in forms,
        extent=_extent(forms, look, single=True),
        of_many=_extent(forms, look, single=False),
        advisable=_is_advisable(forms, look, gathering.single),
    )
    printed = any(to_standard_output(each.path) for each in outputs)
    run = Run(
        task,
        selection.processes(gathering),
        waiting_stream(printed and not gathering.single),
        [str(each.path) for each in outputs if not to_standard_output(each.path)],
        strictness.strict,
        past,
    )
    if (accepted := task.policies.accepted) is not None:
        for each in accepted.gone():
            complain(f"{accepted.name}: what was accepted of {each} is stale: the spec is gone")
    renderers = CHECKERS if task.checking else RENDERERS
    renderings = [_rendering(renderers, each, look) for each in outputs]
    if quiet:
        style, named = style_for(outputs[0].path, look), not gathering.single
        renderings[0] = lambda reports: _bounds(reports, style, named, task.points, bare)
    tally = Tally(_outcome(task.checking))
    with _closing(past), closing(run.reports(gathering)) as reports:
        pieces = rendered(tally.counted(reports), renderings)
        github = [at for at, each in enumerate(outputs) if each.form is Format.GITHUB]
        deliver_all(pieces, [each.path for each in outputs], github)
    form = outputs[0].form
    # The table of many specs contains the counts itself.
    counted = form is Format.TEXT and not quiet and look.detail != "full"
    summary = tally.line(run.unchanged, form is Format.GITHUB, counted)
    told = not quiet and form in (Format.TEXT, Format.GITHUB)
    if summary is not None and (told or tally.untold or run.unchanged):
        complain_lines(summary)
    code = max(mended, run.finish())
    return ExitCode.FINE if strictness.exit_zero and code is ExitCode.FAILED else code


def _closing(past: Past | None) -> AbstractContextManager[object]:
    """Returns a context that closes a revision at its end, if there is one."""
    return nullcontext() if past is None else closing(past)


#: Formats for readers who do not see standard error, which so contain unread files.
_FOR_CI = (Format.SARIF, Format.GITHUB, Format.JUNIT, Format.MARKDOWN)
#: Formats that need a report's bound, verdict and findings only, or its claims.
_BOUNDS = frozenset({Format.CONCISE, Format.CERTIFICATE})
#: Formats that need a report's costs as well.
_COSTS = frozenset({Format.GITHUB, Format.JUNIT})
#: Formats that show advice.
_ADVISING = frozenset({Format.TEXT, Format.JSON, Format.JSONL, Format.MARKDOWN})
#: Formats that count files without a result.
_COUNTING = (Format.JSON, Format.JSONL)


def _outcome(checking: bool) -> Callable[[Report], str]:
    """Returns the function that gives a report's result in words."""

    def of(report: Report) -> str:
        """Returns the result of a report in words."""
        return outcome(report, checking)

    return of


def _rendering(
    renderers: Mapping[str, Renderer], output: Output[Format], look: Look
) -> Rendering[Report]:
    """Returns the function that renders the reports for one output."""
    renderer, style = renderers[output.form], style_for(output.path, look)
    if output.form in _FOR_CI:
        return lambda reports: renderer((each for each in reports if _is_told(each)), style)
    if output.form in _COUNTING:
        return lambda reports: renderer(
            (each for each in reports if each.status != "unreadable"), style
        )
    return lambda reports: renderer(_read(reports), style)


def _is_told(report: Report) -> bool:
    """Returns whether formats for CI show a report: one of a file, or of files left out."""
    return report.left_out is None or report.left_out.untold > 0


def _read(reports: Iterable[Report]) -> Iterator[Report]:
    """Returns the reports of specs, without unread files, which standard error mentions."""
    return (report for report in reports if report.status not in NO_SPEC)


def _bounds(
    reports: Iterable[Report], style: Style, named: bool, points: AskedPoints, bare: bool
) -> Iterator[str]:
    """Yields the numbers alone; faults of invalid specs are printed on standard error."""
    from dpcompose.render.quiet import NoNumber, render

    def complaining() -> Iterator[Report]:
        """Yields the reports of specs, and prints the faults of invalid ones."""
        for report in _read(reports):
            if report.status == "invalid":
                from dpcompose.render.console import printed
                from dpcompose.render.diagnostics import diagnostics

                complain_lines(printed(diagnostics(report, style), style).rstrip("\n"))
            yield report

    try:
        yield from render(
            complaining(),
            style,
            named,
            points.deltas,
            points.epsilons,
            bare,
            points.risk is not None,
        )
    except NoNumber as error:
        raise BadCall(str(error)) from error
