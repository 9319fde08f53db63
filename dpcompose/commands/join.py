"""The option `check --ledger`: whether new releases may join those of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpcompose.commands.adding import Gathered, end_without_sum, print_totals, read_all, totals_of
from dpcompose.commands.exits import BadCall, ExitCode
from dpcompose.commands.ledger_audit import LedgerAudit, audit_ledger, refuse_unknown_ledger
from dpcompose.commands.outputs import TotalFormat
from dpcompose.commands.run import Run
from dpcompose.errors import Diagnostic, quoted
from dpcompose.planning.releases import Release
from dpcompose.planning.totals import Sum, Total, TotalAsked
from dpcompose.policy.codes import POPULATION
from dpcompose.source import Source

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
        known = read_all(replace(folder, allow_empty=empty), output)
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
