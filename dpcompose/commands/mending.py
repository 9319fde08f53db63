"""The option `--fix`: shows the certain corrections of specs, and writes them if agreed."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from dpcompose.commands.exits import (
    BadCall,
    ExitCode,
    complain,
    complain_lines,
    for_complaints,
    is_terminal,
)
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Unreadable, read
from dpcompose.commands.run import Run
from dpcompose.commands.writing.replace import Unwritable, replaced
from dpcompose.curves.rounding import plural
from dpcompose.errors import Fix
from dpcompose.planning.corrections import Corrected, changed_lines, corrected
from dpcompose.render.parts.diagnostics import difference

if TYPE_CHECKING:
    from dpcompose.commands.repository.revision import Past


def mend(run: Run, past: Past | None) -> ExitCode:
    """Shows what the certain corrections change, writes them if agreed, returns the exit code.

    With --yes nobody is asked. Without a terminal to ask on nothing is written. `past`: files that
    are as they were in it are left alone. Raises BadCall.
    """
    if STANDARD_INPUT in (*run.files, run.files_from):
        raise BadCall("--fix takes files: standard input (-) cannot be written to, nor read twice")
    found: dict[str, tuple[bytes, Corrected]] = {}
    for item in run.gathering().items():
        with suppress(Unreadable):  # the analysis reports it
            data = read(item)
            assert isinstance(item, str)
            if past is not None and past.has(item, data):
                continue
            change = corrected(data)
            if change is not None and change.refused is not None:
                complain(f"{item}: nothing is corrected: {change.refused}")
            elif change is not None and change.count:
                found[item] = data, change
    if not found:
        return ExitCode.FINE
    style = for_complaints()
    for index, (item, (_, change)) in enumerate(found.items()):
        if index:
            complain_lines("")
        lines, replacements = changed_lines(change)
        complain_lines(difference(item, lines, Fix(replacements), style))
    count = sum(change.count for _, change in found.values())
    what = f"{plural(count, 'correction')} in {plural(len(found), 'file')}"
    if not run.yes and not _agreed(what):
        return ExitCode.FINE
    return _write(found, what)


def _agreed(what: str) -> bool:
    """Returns whether a person at the terminal agrees to write the corrections."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        complain(f"nothing is written: --fix --yes makes the {what}")
        return False
    sys.stderr.write(f"Make the {what}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().casefold() in {"y", "yes"}:
        return True
    complain("nothing is written")
    return False


def _write(found: dict[str, tuple[bytes, Corrected]], what: str) -> ExitCode:
    """Writes the corrected files, unless one changed meanwhile, and returns the exit code."""
    try:
        changed = [item for item, (data, _) in found.items() if read(item) != data]
        if changed:
            complain(f"nothing is written: {', '.join(changed)} has changed meanwhile")
            return ExitCode.USAGE
        with replaced(list(found)) as writers:
            for write, (_, change) in zip(writers, found.values(), strict=True):
                write(change.after)
    except (Unreadable, Unwritable) as error:
        complain(f"nothing is written: {error}")
        return ExitCode.USAGE
    complain(f"made the {what}")
    return ExitCode.FINE
