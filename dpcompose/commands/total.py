"""`total`: what several releases on the same people cost together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpcompose.commands.analysis import Selection
from dpcompose.commands.bounds import TooMuch, within
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_of
from dpcompose.commands.formats import Told
from dpcompose.commands.gather import NoFile
from dpcompose.commands.inputs import STANDARD_INPUT, Unreadable, read, shown, unquoting_fault
from dpcompose.commands.output import Look, deliver, style_for, would_overwrite
from dpcompose.commands.policies import Sources, policies_of
from dpcompose.errors import Diagnostic, InvalidSpec
from dpcompose.planning.totals import Release, TotalAsked, add_up
from dpcompose.policy.audit import of_population
from dpcompose.policy.real_reasons import says_something
from dpcompose.policy.settings import BadSettings, Settings
from dpcompose.render import total_views as render
from dpcompose.report.verdict import deltas_of
from dpcompose.resolve import resolve
from dpcompose.source import Source, documents, load


def total_of(
    selection: Selection,
    asked: object,
    sources: Sources,
    strict: bool,
    form: Told,
    output: str | None,
    look: Look,
) -> ExitCode:
    """The command `total`; `asked` is a totals.Asked. Raises BadCall."""
    assert isinstance(asked, TotalAsked)
    if asked.fixed is not None and not says_something(asked.fixed):
        raise BadCall(
            "--fixed: say in some words why all parameters were fixed before the first output, "
            "such as --fixed 'planned together in the protocol of January'"
        )
    policies = policies_of(sources)
    releases: list[Release] = []
    found_wrong: list[tuple[Source, Diagnostic]] = []
    asking: str | None = None
    said: set[str] = set()
    code = ExitCode.FINE
    gathering = selection.gathering()
    for item in gathering.items():
        if isinstance(item, NoFile):
            complain(item.says)
            code = max(code, ExitCode.USAGE)
            continue
        if would_overwrite(output, [item]):
            raise BadCall(f"--output {output} would overwrite a spec")
        name = shown(item)
        if item == STANDARD_INPUT and selection.stdin_filename is not None:
            name = selection.stdin_filename
        try:
            data = read(item)
            settings = policies.of(name)
            with within(selection.most):
                read_here = list(_releases(name, data, settings))
            for release in read_here:
                releases.append(release)
                source = release.resolved.source
                wrong = of_population(source, release.resolved.population, settings)
                found_wrong += [(source, each) for each in wrong]
            if settings.asks and not settings.total_budgets:
                asking = asking or name
        except (Unreadable, BadSettings) as error:
            if str(error) not in said:  # many specs can have the same settings
                complain(str(error))
                said.add(str(error))
            code = max(code, ExitCode.USAGE)
        except InvalidSpec as error:
            complain_of(unquoting_fault(error, data))
            code = max(code, ExitCode.INVALID)
        except TooMuch as error:
            complain(f"{name}: {error}")
            code = max(code, ExitCode.INVALID)
    if (out := gathering.left_out).untold:
        complain(out.says + (f": {', '.join(out.names)}" if strict else ""))
        code = max(code, ExitCode.USAGE if strict else ExitCode.FINE)
    if code is not ExitCode.FINE:
        # A sum without one of its terms would promise too much.
        complain("nothing was added up, since not every spec could be read")
        return code
    try:
        with within(selection.most):
            found = add_up(releases, asked)
    except TooMuch as error:
        complain(f"nothing was added up: {error}")
        return ExitCode.INVALID
    if not found.totals:
        raise BadCall("no spec names its `population:`; --all adds everything up")
    style = style_for(output, look)
    match form:
        case Told.TEXT:
            pieces = render.text(found, style)
        case Told.MARKDOWN:
            pieces = render.markdown(found)
        case Told.JSON:
            pieces = render.json(found)
    deliver(pieces, output)
    for source, diagnostic in found_wrong:
        complain_of(InvalidSpec([diagnostic], source.name, source.lines))
        code = max(code, ExitCode.FAILED)
    unheld = [each for each in found.totals if each.verdict is None and each.refused is None]
    if unheld and asking is not None:
        complain(
            f"nothing to check against: the settings of {asking} ask for something, and for no "
            "`total-budget`: set one, or pass --epsilon, --rho or --mu"
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


def _releases(name: str, data: bytes, settings: Settings) -> Iterator[Release]:
    """The specs of a file with what settings ask of them. Raises InvalidSpec."""
    required = () if settings.delta is None else (settings.delta,)
    for part in documents(data):
        resolved = resolve(load(part.data, name, part.lines_before))
        if resolved.planned is not None and not says_something(resolved.planned):
            resolved = replace(resolved, planned=None)  # which is no reason
        own = resolved.budget or resolved.adversary_budget
        default = [delta for each in settings.defaults for delta in deltas_of(each) if own is None]
        label = name if part.number is None else f"{name} (document {part.number})"
        yield Release(label, resolved, settings.total_budgets, (*required, *default))
