"""The command `total`: what several releases on the same people cost together."""

from __future__ import annotations

import math
from dataclasses import replace

from dpcompose.commands.adding import Gathered, end_without_sum, print_totals, read_all, totals_of
from dpcompose.commands.bounds import TooMuch
from dpcompose.commands.chronicle import history_findings
from dpcompose.commands.exits import BadCall, ExitCode
from dpcompose.commands.inputs import Unreadable
from dpcompose.commands.ledger_audit import LedgerAudit, audit_ledger, is_unnamed
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.core.notions.notion import Notion
from dpcompose.planning.releases import Release
from dpcompose.planning.totals import TotalAsked
from dpcompose.policy.audit import says_something
from dpcompose.policy.settings import BadSettings


def total_of(run: Run) -> ExitCode:
    """Runs the command `total` and returns its exit code. Raises BadCall."""
    asked = TotalAsked(
        run.limit,
        run.asked_deltas,
        run.everything,
        run.apart,
        run.fixed,
        None if run.filter is None else Notion(run.filter.value),
        run.remaining,
        run.over_time,
    )
    if asked.fixed is not None and not says_something(asked.fixed):
        raise BadCall(
            "--fixed: say in some words why all parameters were fixed before the first output, "
            "such as --fixed 'planned together in the protocol of January'"
        )
    if asked.fixed is not None and asked.over_time:
        raise BadCall("--over-time tells how a record grew: --fixed says that all was planned")
    past = None if run.as_of is None else Past(run.as_of, "--as-of")
    found = read_all(run, run.path, past)
    if found.code is not ExitCode.FINE:
        end_without_sum(found.code)
    if not asked.over_time:
        return print_totals(totals_of(found.releases, asked, run.resources), found, run, run.path)
    history = past or Past("HEAD", "--over-time")
    _sort_by_commit(found, history)
    standing = _audit(run, found, history)
    if standing is not None:
        asked = replace(asked, since=history.revision)
    total = totals_of(found.releases, asked, run.resources)
    if standing is None:
        return print_totals(total, found, run, run.path)
    total = replace(total, findings=tuple(standing.findings))
    return max(print_totals(total, found, run, run.path), standing.code)


def _sort_by_commit(found: Gathered, history: Past) -> None:
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


def _audit(run: Run, found: Gathered, history: Past) -> LedgerAudit | None:
    """Returns an audit of the releases since they were added; None: unknown. Raises BadCall."""
    named = [*run.files]
    if run.files_from is not None or any(map(is_unnamed, named)):
        return None
    try:
        named = [each for each in named if history.was_there(each)]
        standing = LedgerAudit()
        if run.as_of is None:  # the files of now are meant
            standing = audit_ledger(run, history, named, found, counted=False)
        for finding in history_findings(run, history, named):
            standing.add_finding(*finding, run.policies)
    except (Unreadable, BadSettings) as error:
        end_without_sum(ExitCode.USAGE, str(error))
    except TooMuch as error:
        end_without_sum(ExitCode.INVALID, f"the history of {', '.join(named)}: {error}")
    return standing
