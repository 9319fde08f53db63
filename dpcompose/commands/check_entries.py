"""The command `registry check`: entries of the registry of DP deployments, and their spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from dpcompose.bridge.registry_check import RegistryEntry, asked_deltas, check_entry, compare
from dpcompose.bridge.registry_entries import read_entry
from dpcompose.commands.choices import FailOn, RegistryFormat
from dpcompose.commands.exits import BadCall, ExitCode, complain_of
from dpcompose.commands.one_spec import run_on_file, single_document
from dpcompose.commands.parallel.workers import run_within
from dpcompose.commands.reading.inputs import (
    STANDARD_INPUT,
    Complaints,
    Unreadable,
    name_of_file,
    read,
    valid_source,
)
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import (
    Output,
    Rendering,
    outputs_of,
    refuse_overwrite,
    style_for,
    write_outputs,
)
from dpcompose.errors import LEVELS, Diagnostic, InvalidSpec, in_order
from dpcompose.pipeline import analyze
from dpcompose.policy.settings import Settings
from dpcompose.render import Renderer
from dpcompose.render.exports import entry_findings, github, sarif
from dpcompose.render.exports.registry import entries
from dpcompose.render.layout import Style
from dpcompose.report import Report
from dpcompose.source import Source

#: Fields of every entry. A file without them is none, and nothing of it is quoted.
_FIELDS = (b"url_slug", b"deployment")


def registry_check(run: Run) -> ExitCode:
    """Runs the command `registry check` and returns its exit code. Raises BadCall."""
    given = [*run.files, *([] if run.spec is None else [run.spec])]
    if given.count(STANDARD_INPUT) > 1:
        raise BadCall("standard input (-) can be read only once")
    if run.spec is None:
        return _check(run, None)
    return run_on_file(replace(run, file=run.spec), _check_with_spec)


def _check_with_spec(run: Run, data: bytes, name: str, settings: Settings) -> ExitCode:
    """Checks the entries of a run against a spec, and returns the exit code. Raises InvalidSpec,
    Several and TooMuch for a bad spec."""
    text = single_document(data, "registry check")
    valid_source(text, name)

    def analysed(deltas: Iterable[Fraction]) -> Report:
        """Returns the report of the spec, with an ε at each δ."""
        return run_within(run.resources, lambda: analyze(text, name, deltas=deltas))

    return _check(run, analysed)


def _check(run: Run, analysed: Callable[[Iterable[Fraction]], Report] | None) -> ExitCode:
    """Checks the entries of a run, prints what is found, and returns the exit code.

    `analysed`: returns the report of their spec, with an ε at each δ that it is given.
    """
    outputs = outputs_of(run.output, RegistryFormat(run.form))
    written = [each.path for each in outputs]
    refuse_overwrite(written, run.files, "an entry")
    refuse_overwrite(written, [] if run.spec is None else [run.spec])

    def found_in(file: str, data: bytes) -> RegistryEntry | InvalidSpec:
        """Returns an entry with what was found about it, or its faults."""
        try:
            return check_entry(_source(data, run.name(file)))
        except InvalidSpec as error:
            complaints.worse(ExitCode.INVALID)
            return error

    complaints = Complaints()
    found = list(complaints.results(run.files, found_in))
    checked = [each for each in found if isinstance(each, RegistryEntry)]
    if analysed is not None and checked:
        spec = analysed(list(dict.fromkeys(asked_deltas(checked))))
        for entry in checked:
            compare(entry, spec, spec.file)
    least = LEVELS.index((run.fail_on or FailOn.ERROR).value)
    if any(LEVELS.index(each.level) >= least for entry in checked for each in entry.found):
        complaints.worse(ExitCode.FAILED)
    renderings = [_rendering(each, run) for each in outputs]
    write_outputs(map(_report, found), outputs, renderings)
    code = complaints.code
    return ExitCode.FINE if run.exit_zero and code is ExitCode.FAILED else code


def _source(data: bytes, name: str) -> Source:
    """Returns an entry that has the fields of one. Raises InvalidSpec, which quotes nothing of what
    is no entry."""
    try:
        return read_entry(data, name)
    except InvalidSpec as error:
        if all(each in data for each in _FIELDS):
            raise
        says = "no entry of the registry: it has no `url_slug` and no `deployment`"
        hint = "`dpcompose analyze --format registry` writes one"
        raise InvalidSpec([Diagnostic("DPC102", says, None, hint)], name) from error


def _report(found: RegistryEntry | InvalidSpec) -> Report:
    """Returns the findings about an entry as a report, as the formats for machines take them."""
    if isinstance(found, InvalidSpec):
        # `--fix` corrects specs alone.
        faults = tuple(
            each._replace(fix=each.fix and each.fix._replace(certain=False))
            for each in found.diagnostics
        )
        return Report(found.file, "", "unreadable", findings=faults, lines=found.lines)
    lines = found.source.lines
    return Report(found.source.name, "", "invalid", findings=in_order(found.found), lines=lines)


def _rendering(output: Output[RegistryFormat], run: Run) -> Rendering[Report]:
    """Returns the function that renders the findings for one output."""
    style = style_for(output.path, run.look, run.site)
    match output.form:
        case RegistryFormat.TEXT:
            return lambda reports: entry_findings.text(reports, style)
        case RegistryFormat.JSON:
            return entry_findings.json
        case RegistryFormat.GITHUB:
            return lambda reports: github.render(reports, style, False)
        case RegistryFormat.SARIF:
            return lambda reports: sarif.render(reports, style, False)


def with_prose_of(file: str) -> Renderer:
    """Returns a renderer of entries that keep the prose of the one in a file. Raises BadCall."""
    try:
        old = _source(read(file), name_of_file(file)).value
    except Unreadable as error:
        raise BadCall(str(error)) from error
    except InvalidSpec as error:
        complain_of(error)
        raise BadCall(f"{file} is no entry whose prose can be kept") from error

    assert isinstance(old, dict)

    def render(reports: Iterable[Report], style: Style) -> Iterator[str]:
        """Yields the entry of the one report. Raises BadCall for several."""
        for number, report in enumerate(reports):
            if number:
                raise BadCall("--registry-from has the prose of one entry: name one spec")
            yield from entries([report], style, old)

    return render
