"""The option `--watch`: runs a command again whenever a file that it reads is saved."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from dpcompose.commands.exits import BadCall, ExitCode, complain, is_terminal
from dpcompose.commands.reading.gather import is_entered, is_pattern, split
from dpcompose.commands.reading.inputs import STANDARD_INPUT, is_yaml
from dpcompose.commands.run import Run
from dpcompose.curves.rounding import plural
from dpcompose.policy.settings_files import OWN, SHARED, forget

_PAUSE = 0.3  # seconds between two looks at the files
_SETTLED = 0.1  # seconds without a change after which a file is taken as saved
_PATIENCE = 1.0  # seconds for which a file that is replaced may be missing
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"

#: For each file that is there what changes when it is saved: its time, its size, its identity.
Stamps = dict[str, tuple[int, int, int]]


def watch(run: Run, command: Callable[[Run], int]) -> ExitCode:
    """Runs a command now and after each change of a file, until Ctrl-C.

    A bad call ends it at once; later ones are told, since a settings file may be half written.
    Raises BadCall, KeyboardInterrupt.
    """
    if run.fix:
        raise BadCall("--watch and --fix: one of them, since --fix asks and writes")
    if STANDARD_INPUT in (*run.files, run.files_from):
        raise BadCall("--watch takes files: standard input (-) is read only once")
    once, seen = replace(run, watch=False), _stamps(run)
    _clear_terminal()
    command(once)
    while True:
        complain(f"watching {plural(len(seen), 'file')} for changes; Ctrl-C ends")
        seen = _changed(run, seen)
        forget()
        _clear_terminal()
        try:
            command(replace(once))  # without what the last run has read of the settings
        except BadCall as error:
            complain(str(error))


def _clear_terminal() -> None:
    """Clears the terminal; what goes elsewhere is kept."""
    stream = sys.stdout
    if is_terminal(stream) and os.environ.get("TERM") != "dumb":
        stream.write(_CLEAR)
        stream.flush()


def _changed(run: Run, seen: Stamps) -> Stamps:
    """Returns the files as they are after the next change, once they stay so for a moment."""
    while True:
        time.sleep(_PAUSE)
        found, patience = _stamps(run), time.monotonic() + _PATIENCE
        while found != seen and time.monotonic() < patience:
            time.sleep(_SETTLED)
            now = _stamps(run)
            if now == found and seen.keys() <= now.keys():
                break
            found = now
        if found != seen:
            return found


def _stamps(run: Run) -> Stamps:
    """Returns the files that a run may read, each with what changes when it is saved."""
    found: Stamps = {}
    for name in _names(run):
        try:
            told = os.stat(name)
        except (OSError, ValueError):  # it is missing, or no name of a file
            continue
        found[name] = told.st_mtime_ns, told.st_size, told.st_ino
    return found


def _names(run: Run) -> Iterator[str]:
    """Yields the names of files that a run may read, some of which may not be there."""
    named = [run.files_from, run.assumptions, run.ledger, *run.settings]
    given = [each for each in (*run.files, *named) if each is not None]
    if run.files_from is not None:
        given += [each for each in run.gathering().items() if isinstance(each, str)]
    elif not run.files and run.ledger is None:
        given.append(os.curdir)
    for each in given:
        top = split(each)[0] or os.curdir if is_pattern(each) else each
        for folder in Path(os.path.abspath(top)).parents:
            yield from (str(folder / OWN), str(folder / SHARED))
        if not os.path.isdir(top):
            yield top
            continue
        for folder_name, folders, files in os.walk(top):
            folders[:] = filter(is_entered, folders)
            wanted = (file for file in files if is_yaml(file) or file in (OWN, SHARED))
            yield from (os.path.join(folder_name, file) for file in wanted)
