"""The commands `analyze` and `check`: every file is reported, and the largest exit code wins."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

from dpcompose.commands.batch import Batch, FileTask
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_lines, is_terminal
from dpcompose.commands.reading.policies import show_settings
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import (
    Output,
    Rendering,
    outputs_of,
    style_for,
    to_standard_output,
    write_outputs,
)
from dpcompose.commands.writing.progress import waiting_stream
from dpcompose.faults import plural
from dpcompose.render import Format, renderer
from dpcompose.render.layout import Style
from dpcompose.render.words.headlines import outcome
from dpcompose.render.words.problems import NO_SPEC
from dpcompose.report import Extent, LeftOut, Report

#: Formats for readers who do not see standard error, which so contain unread files.
_FOR_CI = (Format.SARIF, Format.GITHUB, Format.JUNIT, Format.MARKDOWN)
#: Formats that need a report's bound, verdict and findings only, or its claims.
_BOUNDS = frozenset({Format.CONCISE, Format.CERTIFICATE, Format.BADGE})
#: Formats that need a report's costs as well.
_COSTS = frozenset({Format.GITHUB, Format.JUNIT})
#: Formats that show advice.
_ADVISING = frozenset({Format.TEXT, Format.JSON, Format.JSONL, Format.MARKDOWN, Format.HTML})
#: Formats that do not say what is wrong with an invalid spec: standard error does.
_WITHOUT_FAULTS = (
    Format.STATEMENT,
    Format.LABEL,
    Format.BADGE,
    Format.EVENT,
    Format.REGISTRY,
)
#: Formats that count files without a result.
_COUNTING = (Format.JSON, Format.JSONL)


def analyze_files(run: Run, checking: bool = False) -> ExitCode:
    """Runs `analyze`, or `check`, and returns its exit code. Raises BadCall."""
    quiet, outputs = run.quiet or run.bare, _outputs(run)
    if not run.files and run.files_from is None:
        run = replace(run, files=["."])
    gathering, accepted = run.gathering(), run.policies.accepted
    if run.registry_from is not None and Format.REGISTRY not in {each.form for each in outputs}:
        raise BadCall("--registry-from goes with --format registry")
    if run.yes and not run.fix:
        raise BadCall("--yes agrees to what --fix writes: add --fix")
    if run.show_settings:
        return show_settings(run)
    past, mended = run.past(), ExitCode.FINE
    if run.fix:
        from dpcompose.commands.mending import mend

        mended = mend(run, past)

    forms = {each.form for each in outputs[quiet:]}
    task = FileTask(
        run,
        checking,
        certificate=Format.CERTIFICATE in forms,
        extent=_extent(forms, run, single=True),
        of_many=_extent(forms, run, single=False),
        advisable=_is_advisable(forms, run, gathering.single),
        paged=Format.HTML in forms,
        unseen=quiet or outputs[0].form in (*_WITHOUT_FAULTS, Format.CERTIFICATE),
        drawn=run.plot or bool(forms & {Format.HTML, Format.LABEL}),
    )
    printed = any(to_standard_output(each.path) for each in outputs)
    batch = Batch(
        task,
        run.processes(gathering),
        [each.path for each in outputs],
        waiting_stream(printed and not gathering.single),
        past,
    )
    if accepted is not None:
        for each in accepted.gone():
            complain(f"{accepted.name}: what was accepted of {each} is stale: the spec is gone")
    renderings = [_rendering(each, run, checking, each is outputs[0]) for each in outputs]
    if quiet:
        style, named = style_for(outputs[0].path, run.look), not gathering.single
        renderings[0] = lambda reports: _bounds(reports, style, named, run)
    tally = Tally(checking)
    with closing(batch.reports(gathering)) as reports:
        write_outputs(tally.counted(reports), outputs, renderings)

    form = outputs[0].form
    # The table of many specs contains the counts itself.
    counted = form is Format.TEXT and not quiet and not run.full
    summary = tally.line(batch.unchanged, form is Format.GITHUB, counted)
    told = not quiet and form in (Format.TEXT, Format.GITHUB)
    if summary is not None and (told or tally.untold or batch.unchanged):
        complain_lines(summary)
    code = max(mended, batch.finish())
    return ExitCode.FINE if run.exit_zero and code is ExitCode.FAILED else code


def write_page(run: Run) -> ExitCode:
    """Runs `report`, and returns its exit code. Raises BadCall."""
    run = replace(run, form=Format.HTML)
    if is_terminal(sys.stdout) and to_standard_output(_outputs(run)[0].path):
        raise BadCall("a page is for a browser: name its file, as in -o report.html")
    return analyze_files(run)


def _outputs(run: Run) -> tuple[Output[Format], ...]:
    """Returns the outputs of the run, the main one first. Raises BadCall."""
    if run.bare and len(run.asked_deltas) + len(run.asked_epsilons) > 1:
        raise BadCall("--bare prints one number: ask for one δ or one ε")
    if run.bare and run.risk:
        raise BadCall("--bare prints one number, and a risk is several: use --quiet")
    if (run.quiet or run.bare) and run.form != Format.TEXT:
        raise BadCall(f"--quiet prints the bound alone: it cannot go with --format {run.form}")
    certificates = [] if run.certificate is None else [f"certificate={run.certificate}"]
    return outputs_of([*run.output, *certificates], Format(run.form))


def _extent(forms: set[Format], run: Run, single: bool) -> Extent:
    """Returns how much of a report the formats need; `single`: of one spec, else of several."""
    if not single and not run.full and Format.TEXT in forms:
        forms = forms - {Format.TEXT} | _COSTS  # several specs are printed as a table
    if forms <= _BOUNDS:
        return "bound"
    return "costs" if forms <= _BOUNDS | _COSTS else "all"


def _is_advisable(forms: set[Format], run: Run, single: bool) -> bool:
    """Returns whether the output shows advice; `single`: of one spec, else of several."""
    if run.brief or (not run.full and not single):
        forms = forms - {Format.TEXT}  # a panel or a table, which show no advice
    return bool(forms & _ADVISING)


def _rendering(output: Output[Format], run: Run, checking: bool, main: bool) -> Rendering[Report]:
    """Returns the function that renders the reports for one output; `main`: for the first one."""
    render = renderer(output.form, checking)
    style = style_for(output.path, run.look, run.site)
    if output.form is Format.LABEL:
        style = style._replace(day=run.date)
    if output.form is Format.REGISTRY and run.registry_from is not None:
        from dpcompose.commands.check_entries import with_prose_of

        render = with_prose_of(run.registry_from)

    def is_shown(report: Report) -> bool:
        """Returns whether the format shows a report, or the count of what was left out."""
        if output.form in _FOR_CI:
            return report.left_out is None or report.left_out.untold > 0
        hidden = ("unreadable",) if output.form in _COUNTING else NO_SPEC
        return report.status not in hidden

    if output.form in _WITHOUT_FAULTS and main:
        return lambda reports: render(filter(is_shown, _complaining(reports, style)), style)

    def with_what_is_asked(report: Report) -> Report:
        """Returns a report without the accuracy that was computed for a page beside it."""
        asked = run.level is not None or output.form is Format.HTML
        return report if asked or not report.accuracy else replace(report, accuracy=())

    return lambda reports: render(map(with_what_is_asked, filter(is_shown, reports)), style)


def _complaining(reports: Iterable[Report], style: Style) -> Iterator[Report]:
    """Yields the reports, and prints the faults of invalid specs on standard error."""
    for report in reports:
        if report.status == "invalid":
            from dpcompose.render.parts.console import printed
            from dpcompose.render.parts.diagnostics import findings_of

            complain_lines(printed(findings_of(report, style), style).rstrip("\n"))
        yield report


def _bounds(reports: Iterable[Report], style: Style, named: bool, run: Run) -> Iterator[str]:
    """Yields the numbers alone; faults of invalid specs are printed on standard error."""
    from dpcompose.render.text.quiet import NoNumber, render

    specs = (each for each in _complaining(reports, style) if each.status not in NO_SPEC)
    try:
        asked = run.asked_deltas, run.asked_epsilons
        yield from render(specs, style, named, *asked, run.bare, run.risk)
    except NoNumber as error:
        raise BadCall(str(error)) from error


@dataclass(slots=True)
class Tally:
    """Counts reports as they pass by how they end; `checking`: a spec needs a budget."""

    checking: bool
    _seen: Counter[str] = field(default_factory=Counter, init=False)
    _left_out: LeftOut = field(default_factory=LeftOut, init=False)

    def counted(self, reports: Iterable[Report]) -> Iterator[Report]:
        """Yields the same reports, and counts them; unread or left-out files are no specs."""
        for report in reports:
            self._left_out = report.left_out or self._left_out
            if report.status not in NO_SPEC:
                self._seen[outcome(report, self.checking)] += 1
            yield report

    def line(self, unchanged: int = 0, always: bool = False, counted: bool = False) -> str | None:
        """Returns `3 specs: 2 certified, 1 invalid; …`; None where there is nothing to sum up.

        `unchanged`: the number of files that were not analysed since they are as they were.
        `always`: whether a single spec is summed up too. `counted`: whether the output counts the
        specs already, so that only the rest is said.
        """
        count, out = self._seen.total(), self._left_out
        if count + out.unread < 2 and not (out.untold or unchanged or always):
            return None
        parts = [f"{number} {name}" for name, number in self._seen.items()]
        said = (
            [] if counted else [f"{plural(count, 'spec')}{': ' if parts else ''}{', '.join(parts)}"]
        )
        if unchanged:
            said.append(f"{plural(unchanged, 'file')} unchanged")
        if out.summary:
            said.append(out.summary)
        return "; ".join(said) or None

    @property
    def untold(self) -> bool:
        """Returns whether something was left out that only the count mentions."""
        return self._left_out.untold > 0
