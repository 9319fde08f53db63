"""The command `total`: what several releases on the same people cost together."""

from __future__ import annotations

import math
from contextlib import ExitStack, closing
from dataclasses import replace

from dpcompose.commands.adding import Gathered, added_up, nothing_added, read_all, tell
from dpcompose.commands.analysis import Selection
from dpcompose.commands.bounds import TooMuch
from dpcompose.commands.chronicle import looked_through
from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.formats import Told
from dpcompose.commands.inputs import Unreadable
from dpcompose.commands.ledger_audit import LedgerAudit, is_unnamed, looked_up
from dpcompose.commands.output import Look
from dpcompose.commands.policies import Sources, policies_of
from dpcompose.commands.repository.revision import Past
from dpcompose.core.notions.guarantee import Budget
from dpcompose.planning.releases import Release
from dpcompose.planning.totals import TotalAsked
from dpcompose.policy.real_reasons import says_something
from dpcompose.policy.settings import BadSettings


def total_of(
    selection: Selection,
    asked: object,
    sources: Sources,
    strict: bool,
    form: Told,
    output: str | None,
    look: Look,
    as_of: str | None = None,
) -> ExitCode:
    """Runs the command `total` and returns its exit code; `asked` is a TotalAsked. Raises BadCall.

    `as_of`: a revision of git whose files are added up.
    """
    assert isinstance(asked, TotalAsked)
    if asked.fixed is not None and not says_something(asked.fixed):
        raise BadCall(
            "--fixed: say in some words why all parameters were fixed before the first output, "
            "such as --fixed 'planned together in the protocol of January'"
        )
    if asked.fixed is not None and asked.over_time:
        raise BadCall("--over-time tells how a record grew: --fixed says that all was planned")
    found = Gathered()
    with ExitStack() as stack:
        past = None if as_of is None else stack.enter_context(closing(Past(as_of, "--as-of")))
        read_all(found, selection, sources, strict, output, past)
        if found.code is not ExitCode.FINE:
            return nothing_added(found.code)
        if not asked.over_time:
            return tell(added_up(found.releases, asked, selection), found, form, output, look)
        history = past or stack.enter_context(closing(Past("HEAD", "--over-time")))
        _in_order(found, history)
        standing, code = _stand(found, history, past is None, selection, asked.limit, sources)
    if code is not ExitCode.FINE:
        return nothing_added(code)
    if standing is not None:
        asked = replace(asked, since=history.revision)
    total = added_up(found.releases, asked, selection)
    if total is not None and standing is not None:
        total = replace(total, findings=tuple(standing.findings))
    code = ExitCode.FINE if standing is None else standing.code
    return max(tell(total, found, form, output, look), code)


def _in_order(found: Gathered, history: Past) -> None:
    """Sorts the releases by the commits that added them. Raises BadCall."""
    placed: list[tuple[float, Release]] = []
    for each in found.releases:
        try:
            came = history.added(each.resolved.source.name)
        except Unreadable:
            came = None
        words = "not committed" if came is None else f"{came.date} {came.commit[:9]}"
        order = math.inf if came is None else came.order
        placed.append((order, replace(each, came=words)))
    found.releases = [each for _, each in sorted(placed, key=lambda each: each[0])]


def _stand(
    found: Gathered,
    history: Past,
    present: bool,
    selection: Selection,
    limit: Budget | None,
    sources: Sources,
) -> tuple[LedgerAudit | None, ExitCode]:
    """Returns an audit of the releases since they were added (None: unknown), and an exit code.

    `present`: whether the files of now are meant, not those of a revision. Raises BadCall.
    """
    named = [*selection.files]
    if selection.files_from is not None or any(map(is_unnamed, named)):
        return None, ExitCode.FINE
    try:
        named = [each for each in named if history.was_there(each)]
        standing, code = LedgerAudit(), ExitCode.FINE
        if present:
            then = selection._replace(files=named)
            standing, code = looked_up(history, then, found, limit, sources, counted=False)
        policies = policies_of(sources)
        for finding in looked_through(history, named, policies, selection.most, limit):
            standing.note(*finding, policies)
    except (Unreadable, BadSettings) as error:
        complain(str(error))
        return None, ExitCode.USAGE
    except TooMuch as error:
        complain(f"the history of {', '.join(named)}: {error}")
        return None, ExitCode.INVALID
    return standing, code
