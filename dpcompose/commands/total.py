"""`total`: what several releases on the same people cost together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpcompose.commands.analysis import Selection
from dpcompose.commands.bounds import TooMuch, within
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_lines
from dpcompose.commands.formats import Told
from dpcompose.commands.gather import Problem
from dpcompose.commands.inputs import STANDARD_INPUT, Unreadable, read, shown
from dpcompose.commands.output import Color, deliver, style_for, would_overwrite
from dpcompose.commands.policies import policies_of
from dpcompose.errors import InvalidSpec

if TYPE_CHECKING:
    from dpcompose.policy.settings import Settings
    from dpcompose.totals import Release


def total_of(
    selection: Selection,
    asked: object,
    isolated: bool,
    form: Told,
    output: str | None,
    color: Color,
) -> ExitCode:
    """The command `total`; `asked` is a totals.Asked. Raises BadCall."""
    from dpcompose.policy.settings import BadSettings
    from dpcompose.render import total as render
    from dpcompose.totals import Asked, add_up

    assert isinstance(asked, Asked)
    policies = policies_of(isolated)
    releases: list[Release] = []
    said: set[str] = set()
    code = ExitCode.FINE
    for item in selection.gathering().items():
        if isinstance(item, Problem):
            complain(item.says)
            code = max(code, ExitCode.USAGE)
            continue
        if would_overwrite(output, [item]):
            raise BadCall(f"--output {output} would overwrite a spec")
        name = shown(item)
        if item == STANDARD_INPUT and selection.stdin_filename is not None:
            name = selection.stdin_filename
        try:
            data, settings = read(item), policies.of(name)
            with within(selection.most):
                releases += _releases(name, data, settings)
        except (Unreadable, BadSettings) as error:
            if str(error) not in said:  # many specs can have the same settings
                complain(str(error))
                said.add(str(error))
            code = max(code, ExitCode.USAGE)
        except InvalidSpec as error:
            complain_lines(str(error))
            code = max(code, ExitCode.INVALID)
        except TooMuch as error:
            complain(f"{name}: {error}")
            code = max(code, ExitCode.INVALID)
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
    style = style_for(output, color)
    match form:
        case Told.TEXT:
            pieces = render.text(found, style)
        case Told.MARKDOWN:
            pieces = render.markdown(found)
        case Told.JSON:
            pieces = render.json(found)
    deliver(pieces, output)
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
    from dpcompose.budget import deltas_of
    from dpcompose.resolve import resolve
    from dpcompose.source import documents, load
    from dpcompose.totals import Release

    required = () if settings.delta is None else (settings.delta,)
    for part in documents(data):
        resolved = resolve(load(part.data, name, part.lines_before))
        default = deltas_of(settings.budget if resolved.budget is None else None)
        label = name if part.number is None else f"{name} (document {part.number})"
        yield Release(label, resolved, settings.total_budget, (*required, *default))
