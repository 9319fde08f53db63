"""The command `total` and the option `check --ledger`: releases on the same people, added up."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpcompose.commands.choices import TotalFormat
from dpcompose.commands.exits import BadCall, ExitCode
from dpcompose.commands.ledger.adding import (
    Gathered,
    end_without_sum,
    print_totals,
    read_all,
    totals_of,
)
from dpcompose.commands.ledger.ledger_audit import (
    LedgerAudit,
    audit_ledger,
    history_findings,
    is_unnamed,
    refuse_unknown_ledger,
)
from dpcompose.commands.parallel.bounds import TooMuch, reach
from dpcompose.commands.reading.inputs import Unreadable
from dpcompose.commands.repository.revision import Past
from dpcompose.commands.run import Run
from dpcompose.core.notions.notion import Notion
from dpcompose.errors import Diagnostic, quoted
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import Sum, Total, TotalAsked
from dpcompose.policy.audit import says_something
from dpcompose.policy.codes import POPULATION
from dpcompose.policy.settings import BadSettings
from dpcompose.source import Source


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
    if asked.over_time:
        run, asked = run.with_one_clock(), replace(asked, reached=reach)
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


#: Options of `check` that concern single specs.
_OF_ONE = (
    "at_epsilon risk fail_on require_relation require_delta assumptions show_settings recheck "
    "certificate fix exit_zero"
)


def join_ledger(run: Run, ledger: str) -> ExitCode:
    """Runs `check --ledger` and returns its exit code. Raises BadCall.

    Only the populations of the new releases are looked at. With a revision, releases are new if the
    folder did not have them there, and what it had is compared with what it has.
    """
    unused = [f"--{name.replace('_', '-')}" for name in _OF_ONE.split() if getattr(run, name)]
    if unused:
        raise BadCall(f"{', '.join(unused)}: of single specs, which --ledger does not check")
    if run.form not in [*TotalFormat] or len(run.output) > 1 or "=" in "".join(run.output):
        raise BadCall("--ledger prints one output, as text, json, markdown or html")
    output = next(iter(run.output), None)
    asked = TotalAsked(run.limit, run.asked_deltas, since=run.changed_since)
    found, known, standing = Gathered(), Gathered(), LedgerAudit()
    past = run.past()
    if past is not None:
        refuse_unknown_ledger(past, ledger)
    all_of_it = past is not None and not run.files and run.files_from is None
    if not all_of_it:
        found = read_all(run, output)
    if past is None or os.path.lexists(ledger):
        empty = run.allow_empty or past is not None
        folder = replace(run, files=[ledger], files_from=None, stdin_filename=None)
        known = read_all(replace(folder, allow_empty=empty), output, None, found)
    code = max(found.code, known.code)
    if code is not ExitCode.FINE:
        end_without_sum(code)
    if past is not None:
        standing = audit_ledger(run, past, [ledger], known)
    there = {os.path.realpath(each.file): each for each in known.releases}
    names = {os.path.realpath(each.file) for each in found.releases}
    outside = [each for each in found.releases if os.path.realpath(each.file) not in there]
    meant = [e for e in known.releases if all_of_it or os.path.realpath(e.file) in names]
    old = {id(each.new) for each in standing.entries}
    new = [each for each in [*meant, *outside] if past is None or id(each) not in old]
    if any(each.resolved.population is None for each in new):
        raise BadCall(
            "--ledger: a new release names no `population:`, and releases on the same people add "
            "up by it"
        )
    found.wrong += _new_populations(run, new, standing)
    is_new = {id(each) for each in new}
    about = {each.resolved.population for each in [*meant, *outside, *standing.rewritten]}

    def of(releases: Sequence[Release]) -> list[Release]:
        """Returns the releases to add up, the new ones last and marked as such."""
        before = [standing.limited(each) for each in releases if id(each) not in is_new]
        kept = [each for each in before if each.resolved.population in about]
        return [*kept, *(standing.limited(replace(each, new=True)) for each in new)]

    found.wrong += known.wrong
    found.asking = found.asking or known.asking
    total = totals_of(of(known.releases), asked, run.resources)
    if standing.rewritten:  # also with the record as it was: the worse total counts
        as_it_was = totals_of(of(standing.counted(known.releases)), asked, run.resources)
        total = _worse_totals(total, as_it_was)
    totals = tuple(replace(e, checked=standing.check_of(e.population)) for e in total.totals)
    total = replace(total, totals=totals, findings=tuple(standing.findings))
    return max(print_totals(total, found, run, output), standing.code)


def _new_populations(
    run: Run, new: Sequence[Release], standing: LedgerAudit
) -> Iterator[tuple[Source, Diagnostic]]:
    """Yields a finding for each new release on people of whom the ledger had none.

    Such a release opens a fresh budget. It is fine if the settings of the revision list the
    population, or if the ledger was empty.
    """
    known = {each.old.resolved.population for each in standing.entries}
    if not known:
        return
    policies = run.as_before(standing.revision).policies
    for each in new:
        name, source = each.resolved.population, each.resolved.source
        listed = policies.of(source.name).populations
        if name in known or (listed and all(name in some for some in listed)):
            continue
        says = (
            f"no release of {standing.revision} is on the people {quoted(name or '')}: this one "
            "opens a budget of its own"
        )
        hint = f"list them in `populations` of the settings in {standing.revision} first"
        yield source, Diagnostic(POPULATION, says, source.span(("population",)), hint)


def _worse_totals(one: Sum, other: Sum) -> Sum:
    """Returns for each population the worse of its totals in two sums."""
    found: dict[str | None, Total] = {}
    for each in (*other.totals, *one.totals):
        found[each.population] = max(found.get(each.population, each), each, key=_badness)
    return Sum(tuple(found.values()), tuple(dict.fromkeys((*one.unnamed, *other.unnamed))))


def _badness(total: Total) -> tuple[bool, bool, bool, object]:
    """Returns a key by which a worse total is larger."""
    over = total.verdict is not None and not total.verdict.ok
    spent = 0 if total.record is None else total.record.share
    return total.refused is not None, not total.finite, over, spent
