"""The commands that read one spec: `fit` and `savings`, which plan a budget, and `graph`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container
from fractions import Fraction

from dpcompose.commands.choices import GraphFormat, PlanFormat
from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.parallel.workers import run_within
from dpcompose.commands.reading.inputs import (
    Complaints,
    name_of_file,
    valid_source,
)
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import (
    deliver,
    refuse_overwrite,
    style_for,
    to_standard_output,
)
from dpcompose.commands.writing.progress import Progress, waiting_stream
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.pipeline import analyze
from dpcompose.planning.edits import number_edits
from dpcompose.planning.fitting import Fitted, Unfit, fit, wanted_accuracy, with_accuracy
from dpcompose.planning.savings import NoBound, Savings, savings_of
from dpcompose.planning.scaling import Unscalable, budget_entry, parameters, with_budget
from dpcompose.policy.settings import Settings
from dpcompose.render.json.plan_documents import fit_json, savings_json
from dpcompose.render.logs import Inert
from dpcompose.render.parts.console import printed
from dpcompose.render.plans import savings_views
from dpcompose.render.plans.fit_views import scale_in_words, table_of_changes
from dpcompose.render.words.headlines import judged, meanwhile_lines
from dpcompose.report import Report
from dpcompose.report.wording import number
from dpcompose.resolve import resolve
from dpcompose.source import documents, load

#: The starting lines of so many documents are listed.
_MOST_LISTED = 6


class Several(Exception):
    """Raised for a file of several documents where one is due; its message says where they are."""


def fit_file(run: Run) -> ExitCode:
    """Runs the command `fit` and returns its exit code. Raises BadCall."""
    return run_on_file(run, _fit)


def savings_of_file(run: Run) -> ExitCode:
    """Runs the command `savings` and returns its exit code. Raises BadCall."""
    refuse_overwrite([run.path], [run.file])
    return run_on_file(run, _savings)


def run_on_file(run: Run, work: Callable[[Run, bytes, str, Settings], ExitCode | None]) -> ExitCode:
    """Returns the exit code of `work` on the file of a run, with what goes wrong reported.

    `work` is given the content of the file, its name in reports and its settings.
    """
    policies, complaints, name = run.policies, Complaints(), name_of_file(run.file)

    def done(_: str, data: bytes) -> ExitCode:
        """Does the work, and returns its exit code."""
        return work(run, data, name, policies.of(name)) or ExitCode.FINE

    try:
        for code in complaints.results([run.file], done):
            return code
    except (Several, Unscalable, Unfit, NoBound) as error:
        over = isinstance(error, NoBound) or (isinstance(error, Unfit) and error.over)
        complaints.worse(ExitCode.FAILED if over else ExitCode.USAGE, f"{name}: {error}")
    return complaints.code


def _progress(run: Run, says: str, unit: str) -> Progress:
    """Returns what shows progress: nothing where a process is forked, which ends threads."""
    stream = None if run.resources.is_limited else waiting_stream(False)
    return Progress(stream, says=says, unit=unit)


def _fit(run: Run, data: bytes, name: str, settings: Settings) -> None:
    """Prints the fitted spec, and on standard error what was changed."""
    limit, wanted = run.limit, [wanted_accuracy(each) for each in run.accuracies]

    def fitting() -> tuple[Fitted, str, str | None, bool]:
        """Returns the fitted spec, its text, a remark on it, and whether settings limit it."""
        source = with_accuracy(valid_source(single_document(data, "fit"), name), wanted)
        names = parameters(source)
        scaled = dict(_weighted(each, names) for each in run.free)
        fixed = {each.mechanism for each in wanted}
        if both := sorted(fixed & scaled.keys()):
            raise BadCall(f"--free and --accuracy both name {', '.join(both)}")
        fitted = min(
            (
                fit(source, limit, scaled, each, progress.step, fixed)
                for each in settings.defaults or (None,)
            ),
            key=lambda each: each.scale,
        )
        written, contradicts = fitted.text, None
        if limit is not None:
            written = with_budget(load(written, name), limit)
            contradicts = _own_budget(written, name, limit)
        by_settings = any(fitted.limit is each for each in settings.defaults)
        return fitted, written, contradicts, by_settings

    with _progress(run, "fitting", "scales tried") as progress:
        fitted, written, contradicts, by_settings = run_within(run.resources, fitting)
    old, new = load(data, name), load(written, name)
    changed = number_edits(old, new)
    remarks = [contradicts] if contradicts else []
    if fitted.doubtful:
        remarks.insert(
            0,
            f"each guarantee of {', '.join(fitted.doubtful)} was scaled by itself: see that the "
            "mechanism still has all of them",
        )
    if run.form == PlanFormat.JSON:
        deliver(fit_json(name, fitted, changed, remarks, written), run.path)
        return
    origin = f" (budget of {settings.origin('budget', 'max-budget')})" if by_settings else ""
    complain(f"{name}: {scale_in_words(fitted, origin)}")
    if changed:
        style = style_for(None, run.look)
        sys.stderr.write(printed(table_of_changes(changed, old, new, style), style))
    remarks += [
        f"the noise of {each.mechanism} is within ±{number(each.within)} with a chance of "
        f"{number(100 * each.level)} %"
        for each in wanted
    ]
    remarks += meanwhile_lines([fitted.meanwhile])
    for says in remarks:
        complain(f"{name}: {says}")
    text = _with_line_ends(written, data)
    printing = to_standard_output(run.path)
    if os.environ.get("GITHUB_ACTIONS") and printing and Inert()(text) != text:
        raise BadCall("the spec has text that a log takes for a command: -o FILE writes it to one")
    deliver([text], run.path, raw=True)


def _savings(run: Run, data: bytes, name: str, settings: Settings) -> None:
    """Prints what halving each mechanism saves."""
    delta = run.asked_deltas[-1] if run.deltas else None
    default = next(iter(settings.defaults), None)

    def halving() -> Savings:
        """Returns what halving each mechanism saves."""
        source = valid_source(single_document(data, "savings"), name)
        return savings_of(source, delta, run.tried, default, settings.delta, progress.step)

    with _progress(run, "halving one at a time", "mechanisms tried") as progress:
        found = run_within(run.resources, halving)
    if run.form == PlanFormat.JSON:
        deliver(savings_json(name, found), run.path)
    else:
        deliver(savings_views.text(name, found, style_for(run.path, run.look)), run.path)


def _own_budget(text: str, name: str, limit: Budget) -> str | None:
    """Returns a remark on a spec that could not be given the budget it was fitted to, else None."""
    if resolve(load(text, name)).budget == limit:
        return None
    says = f"write `budget: {budget_entry(limit)}`: what stands in its place stays as it was"
    report = analyze(text, name)
    if report.verdict is None or report.verdict.ok:
        return says
    word, rest = judged(report, report.verdict)
    return f"{says}, and is not met: {word}: {rest}"


def single_document(data: bytes, command: str) -> bytes:
    """Returns the content of a file if it is a single document. Raises Several."""
    starts = [str(each.lines_before + 1) for each in documents(data)]
    if len(starts) == 1:
        return data
    shown, more = starts[:_MOST_LISTED], len(starts) - _MOST_LISTED
    shown, last = (shown, f"{more} more") if more > 0 else (shown[:-1], shown[-1])
    raise Several(
        f"it holds {len(starts)} documents, from lines {', '.join(shown)} and {last} on, "
        f"and `{command}` takes one spec: put the one that is meant in a file of its own"
    )


def _weighted(text: str, names: Container[str]) -> tuple[str, Fraction]:
    """Returns a mechanism and its weight from `NAME` or `NAME=WEIGHT`. Raises BadCall."""
    name, equals, weight = text.rpartition("=")
    if text in names or not equals:
        return text, Fraction(1)
    try:
        value = parse(weight, {})
    except ExpressionError as error:
        raise BadCall(f"--free {text}: {weight} is not a number: {error.message}") from error
    if value <= 0:
        raise BadCall(f"--free {text}: a weight is above 0")
    return name, value


def _with_line_ends(text: str, data: bytes) -> str:
    """Returns the text with the line ends and the byte order mark of the file."""
    returns = data.count(b"\r\n")
    if returns and returns == data.count(b"\n"):
        text = text.replace("\n", "\r\n")
    return "\ufeff" + text if data.startswith(b"\xef\xbb\xbf") else text


#: The format that the end of a file name stands for.
_ENDS = {
    "svg": GraphFormat.SVG,
    "mmd": GraphFormat.MERMAID,
    "mermaid": GraphFormat.MERMAID,
    "dot": GraphFormat.DOT,
    "gv": GraphFormat.DOT,
}


def graph_of_file(run: Run) -> ExitCode:
    """Runs the command `graph` and returns its exit code. Raises BadCall."""
    refuse_overwrite([run.path], [run.file])
    return run_on_file(run, _graph)


def _graph(run: Run, data: bytes, name: str, settings: Settings) -> ExitCode:
    """Writes the drawing; a spec without a finite bound is drawn too, and fails."""

    def analysed() -> Report:
        """Returns the report of the spec. Raises InvalidSpec."""
        text = single_document(data, "graph")
        valid_source(text, name)
        deltas = run.deltas_under(settings)
        return analyze(text, name, deltas=deltas, default=settings.defaults)

    report = run_within(run.resources, analysed)
    form = GraphFormat(run.form)
    meant = _ENDS.get((run.path or "").rpartition(".")[2].lower(), form)
    if form is GraphFormat.TREE != meant:
        complain(f"{run.path} is written as a tree: --format {meant} writes {meant}")
    deliver([_drawing(report, form, run)], run.path)
    return ExitCode.FINE if report.status == "ok" else ExitCode.FAILED


def _drawing(report: Report, form: GraphFormat, run: Run) -> str:
    """Returns the drawing in a format."""
    from dpcompose.render.pictures.graph_svg import graph_svg
    from dpcompose.render.pictures.graph_text import graph_dot, graph_mermaid, graph_tree

    match form:
        case GraphFormat.TREE:
            return graph_tree(report, style_for(run.path, run.look))
        case GraphFormat.SVG:
            return graph_svg(report)
        case GraphFormat.MERMAID:
            return graph_mermaid(report)
        case GraphFormat.DOT:
            return graph_dot(report)
