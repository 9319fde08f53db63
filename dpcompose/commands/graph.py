"""The command `graph`: the pipeline of a spec, and where the worst change goes."""

from __future__ import annotations

from dpcompose.commands.exits import ExitCode, complain
from dpcompose.commands.fit import run_on_file, single_document
from dpcompose.commands.inputs import valid_source
from dpcompose.commands.output import deliver, refuse_overwrite, style_for
from dpcompose.commands.outputs import GraphFormat
from dpcompose.commands.parallel.workers import run_within
from dpcompose.commands.run import Run
from dpcompose.pipeline import analyze
from dpcompose.policy.settings import Settings
from dpcompose.report import Report

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
    wanted = () if settings.delta is None else (settings.delta,)

    def analysed() -> Report:
        """Returns the report of the spec. Raises InvalidSpec."""
        text = single_document(data, "graph")
        valid_source(text, name)
        deltas = tuple(dict.fromkeys((*run.asked_deltas, *wanted)))
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
    from dpcompose.render.graph_svg import graph_svg
    from dpcompose.render.graph_text import graph_dot, graph_mermaid, graph_tree

    match form:
        case GraphFormat.TREE:
            return graph_tree(report, style_for(run.path, run.look))
        case GraphFormat.SVG:
            return graph_svg(report)
        case GraphFormat.MERMAID:
            return graph_mermaid(report)
        case GraphFormat.DOT:
            return graph_dot(report)
