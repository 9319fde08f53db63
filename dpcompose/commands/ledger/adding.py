"""Reads the releases of several specs, adds them up, and prints the totals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

from dpcompose.commands.choices import TotalFormat
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_of
from dpcompose.commands.parallel.bounds import Most, TooMuch, limit_error, reach
from dpcompose.commands.parallel.workers import WorkWithin, run_within
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Complaints, Input, NoFile, Unreadable
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import deliver, refuse_overwrite, style_for
from dpcompose.errors import Diagnostic, InvalidSpec
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import Sum, TotalAsked, add_up
from dpcompose.policy.audit import of_population, says_something
from dpcompose.policy.settings import Settings
from dpcompose.render.json.plan_documents import total_json
from dpcompose.render.parts.inline import within_summary
from dpcompose.render.plans import total_views
from dpcompose.report.verdict import deltas_of
from dpcompose.resolve import resolve
from dpcompose.source import Document, Source, documents, load


@dataclass(slots=True)
class Gathered(Complaints):
    """The releases that were read, and the problems met.

    `wrong`: findings by which settings reject populations. `asking`: a spec whose settings ask for
    something, but set no total budget. `held`: the content of each file.
    """

    releases: list[Release] = field(default_factory=list)
    wrong: list[tuple[Source, Diagnostic]] = field(default_factory=list)
    asking: str | None = None
    held: dict[str, bytes] = field(default_factory=dict)


def end_without_sum(code: ExitCode, why: str | None = None) -> NoReturn:
    """Ends the run, since a sum without one of its terms would be too small.

    `why`: the reason, where it was not printed already.
    """
    if why is not None:
        complain(why)
    complain("nothing was added up, since not every spec could be read")
    raise SystemExit(code)


def read_all(
    run: Run, output: str | None, past: Past | None = None, before: Gathered | None = None
) -> Gathered:
    """Returns all selected specs, as they are or as they were. Raises BadCall.

    `output`: where the sum is written. `past`: the revision whose files are meant, None for the
    files of now. `before`: what was read before, about which nothing is printed again.
    """
    found, gathering = Gathered(said=set() if before is None else before.said), run.gathering()

    def add(file: str, data: bytes) -> None:
        """Adds the releases of a file. Raises Unreadable, BadSettings, InvalidSpec, TooMuch."""
        name = run.name(file)
        reach(name)
        if run.is_over:
            told = found.code is ExitCode.INVALID
            end_without_sum(
                ExitCode.INVALID, None if told else str(limit_error(run.resources, None))
            )
        refuse_overwrite([output], [file])
        found.held[file_of(name)] = data
        settings = run.policies.of(name)
        for release in reading((data, name, settings)):
            found.releases.append(release)
            source = release.resolved.source
            wrong = of_population(source, release.resolved.population, settings)
            found.wrong += [(source, each) for each in wrong]
        if settings.asks and not settings.total_budgets:
            found.asking = found.asking or name

    items = gathering.items() if past is None else _specs_of_revision(run, past)
    with closing(WorkWithin(lambda: run.resources, _releases_of)) as reading:
        for _ in found.results(items, add, run.name):
            pass
    if past is None and (out := gathering.left_out).untold:
        found.worse(
            ExitCode.USAGE if run.strict else ExitCode.FINE,
            out.summary + (f": {', '.join(out.names)}" if run.strict else ""),
        )
    return found


def _releases_of(given: tuple[bytes, str, Settings]) -> list[Release]:
    """Returns the releases of a file from its content, its name and its settings. Raises
    InvalidSpec."""
    data, name, settings = given
    return [release_of(each, name, settings) for each in documents(data)]


def releases_within(run: Run) -> WorkWithin[tuple[Document, str, Settings, str], Release]:
    """Returns `release_of`, of all its arguments in one, held to the limits of a run."""
    return WorkWithin(lambda: run.resources, _release_of)


def _release_of(given: tuple[Document, str, Settings, str]) -> Release:
    """Returns one spec of a file, from the arguments of `release_of`. Raises InvalidSpec."""
    return release_of(*given)


def _specs_of_revision(run: Run, past: Past) -> Iterator[Input | NoFile]:
    """Yields the selected specs of a revision with their content. Raises BadCall."""
    if run.files_from is not None or STANDARD_INPUT in run.files:
        raise BadCall("--as-of takes files and folders by name")
    past.verify()
    none = True
    for file in run.files:
        try:
            for each in past.specs(file):
                none = False
                yield Input(*each)
        except Unreadable as error:
            yield NoFile(file, f"cannot read {file} in {past.revision}: {error}")
            none = False
    if none:
        says = f"there was no spec in {past.revision}"
        yield NoFile(past.revision, f"{', '.join(run.files)}: {says}")


def totals_of(releases: Sequence[Release], asked: TotalAsked, most: Most) -> Sum:
    """Returns the total of each population; ends the run where limits are exceeded."""
    try:
        reach("the sum of all releases")
        return run_within(most, partial(add_up, releases, asked))
    except TooMuch as error:
        complain(f"nothing was added up: {error}")
        raise SystemExit(ExitCode.INVALID) from error


def print_totals(found: Sum, gathered: Gathered, run: Run, output: str | None) -> ExitCode:
    """Prints the totals and returns the exit code. Raises BadCall."""
    code = ExitCode.FINE
    if not found.totals:
        raise BadCall("no spec names its `population:`; --all adds everything up")
    match TotalFormat(run.form):
        case TotalFormat.TEXT:
            pieces = total_views.text(found, style_for(output, run.look))
        case TotalFormat.MARKDOWN:
            pieces = within_summary(total_views.markdown(found, style_for(output, run.look)))
        case TotalFormat.HTML:
            from dpcompose.render.html.page import page_of_totals

            pieces = iter([page_of_totals(found)])
        case TotalFormat.JSON:
            pieces = total_json(found)
    deliver(pieces, output)
    for source, diagnostic in gathered.wrong:
        complain_of(InvalidSpec([diagnostic], source.name, source.lines))
        code = max(code, ExitCode.FAILED)
    unheld = [each for each in found.totals if each.verdict is None and each.refused is None]
    if unheld and gathered.asking is not None:
        complain(
            f"nothing to check against: the settings of {gathered.asking} ask for something, and "
            "for no `total-budget`: set one, or pass --epsilon, --rho or --mu"
        )
        code = max(code, ExitCode.USAGE)
    for each in found.totals:
        over = each.verdict is not None and not each.verdict.ok
        if each.refused is not None:
            complain(f"not added up: {each.refused}")
            code = max(code, ExitCode.USAGE)
        elif over or not each.finite:
            code = max(code, ExitCode.FAILED)
    return code


def file_of(name: str) -> str:
    """Returns the identity of a file: its absolute path."""
    return os.path.abspath(name)


def release_of(part: Document, name: str, settings: Settings, when: str = "") -> Release:
    """Returns one spec of a file, with what settings ask of it. Raises InvalidSpec.

    `when`: follows the name of the file, to name a revision.
    """
    resolved = resolve(load(part.data, name + when, part.lines_before))
    if resolved.planned is not None and not says_something(resolved.planned):
        resolved = resolved._replace(planned=None)  # the given text is no reason
    required = () if settings.delta is None else (settings.delta,)
    own = resolved.budget or resolved.adversary_budget
    default = [delta for each in settings.defaults for delta in deltas_of(each) if own is None]
    number = "" if part.number is None else f" (document {part.number})"
    return Release(
        name + when + number,
        resolved,
        settings.total_budgets,
        (*required, *default),
        file=file_of(name),
    )
