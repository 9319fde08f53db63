"""Limits on the time and memory of one spec; a spec that exceeds them does not end the run."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

from dpcompose.commands.exits import BadCall
from dpcompose.errors import Diagnostic, DpcomposeError

if TYPE_CHECKING:
    from dpcompose.report import Report

#: The code of a spec that exceeds its limits.
TOO_MUCH = "DPC018"
_HINT = "ask for less in it, split it, or allow more"
_LONGEST = 10**8  # seconds; timers overflow somewhere above
_AGAIN = 1.0  # seconds between repeated interruptions
_GRACE = 2.0  # seconds that a process has to stop by itself
_MEGABYTE = 2**20
_SIZES = "/proc/self/statm"


class TooMuch(DpcomposeError):
    """Something exceeded its time or memory; the message says which."""


class _Late(BaseException):
    """The time is over; a BaseException, so that no `except Exception` on the way catches it."""


class Most(NamedTuple):
    """The limits on the analysis of a spec; None: no limit.

    `seconds` by the clock; `megabytes` of memory beside what the program takes by itself. `whole`:
    the seconds that a whole run has, of which `seconds` are left.
    """

    seconds: float | None = None
    megabytes: int | None = None
    whole: float | None = None

    @property
    def is_limited(self) -> bool:
        """Returns whether there is a limit at all."""
        return self.seconds is not None or self.megabytes is not None

    @property
    def patience(self) -> float | None:
        """Returns after how many silent seconds a process is killed from outside; None: never."""
        return None if self.seconds is None else self.seconds + _GRACE


def limits_of(seconds: float | None, megabytes: int | None) -> Most:
    """Returns the limits that the flags --max-seconds and --max-memory set. Raises BadCall."""
    if seconds is not None:
        if not 0 < seconds <= _LONGEST:
            raise BadCall(f"--max-seconds: a number of seconds above 0, to {_LONGEST}, is due")
        if not hasattr(signal, "setitimer"):
            raise BadCall("--max-seconds: this system has no timer that interrupts a process")
    if megabytes is not None:
        if not 0 < megabytes <= _LONGEST:
            raise BadCall(f"--max-memory: a whole number of MB above 0, to {_LONGEST}, is due")
        if not os.path.exists(_SIZES):
            raise BadCall("--max-memory: this system cannot limit the memory of a process")
    return Most(seconds, megabytes)


@contextmanager
def within(most: Most) -> Iterator[None]:
    """Holds the block to the limits, as far as it can be interrupted. Raises TooMuch.

    A process that works for another one tells it where the block starts and ends.
    """
    try:
        with _time(most.seconds), _memory(most.megabytes):
            _beat()
            yield
        return
    except _Late:
        error = limit_error(most, None)
    except MemoryError:
        if most.megabytes is None:
            raise
        error = TooMuch(
            f"not analysed: it needs more memory than the {most.megabytes} MB of --max-memory"
        )
    finally:
        _beat()
    gc.collect()
    raise error


def limit_error(most: Most, how: str | None) -> TooMuch:
    """Returns the error for a spec whose time was over, or whose process ended as `how` says."""
    if how is not None:
        return TooMuch(f"not analysed: {how}")
    if most.whole is not None:
        reached = f", and {_reached} was reached" if _reached else ""
        allowed = f"the {most.whole:g} s of --max-seconds"
        return TooMuch(f"not analysed: all of it takes longer than {allowed}{reached}")
    return TooMuch(f"not analysed: it takes longer than the {most.seconds:g} s of --max-seconds")


_reached = ""


def reach(what: str) -> None:
    """Keeps what a run has come to, for the error where the time of the whole run is over."""
    global _reached
    _reached = what


def reached() -> str:
    """Returns what the run has come to."""
    return _reached


def set_beat(beat: Callable[[], None]) -> None:
    """Sets the function by which this process tells its parent that another clock starts."""
    global _beat
    _beat = beat


def _beat() -> None:
    """Does nothing: the default where no parent listens."""


def warm_up(most: Most) -> None:
    """Does here what every analysis within the limits needs, before processes are forked that would
    each do so: imports modules and, where memory is limited, builds models."""
    import dpcompose.pipeline
    import dpcompose.report.certify
    import dpcompose.report.derivation
    import dpcompose.report.outcomes
    import dpcompose.report.shares  # noqa: F401
    from dpcompose.curves import preload

    preload()
    if most.megabytes is not None:
        _build_models()


@cache
def _build_models() -> None:
    """Builds the models of the whole language, once for each process.

    They are not the spec's; and where memory ends while models are built, pydantic ends the
    process.
    """
    from dpcompose.spec.model import models

    for model in models():
        model.model_rebuild()


@contextmanager
def _time(seconds: float | None) -> Iterator[None]:
    """Raises _Late in the block after so many seconds; only in the main thread."""
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    running = True

    def interrupt(_: int, __: FrameType | None) -> None:
        """Raises _Late while the block runs."""
        if running:
            raise _Late

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        # The signal is repeated, since an exception raised in a destructor is lost.
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
        yield
    finally:
        running = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _memory(megabytes: int | None) -> Iterator[None]:
    """Raises MemoryError in the block if the address space grows by more than so much."""
    if megabytes is None:
        yield
        return
    import resource

    from dpcompose.curves import preload

    # What numpy's threads and the models of the language take is not the spec's.
    preload()
    _build_models()
    with open(_SIZES, encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before, highest = resource.getrlimit(resource.RLIMIT_AS)
    limit = now + megabytes * _MEGABYTE
    for each in (before, highest):
        if each != resource.RLIM_INFINITY:
            limit = min(limit, each)
    resource.setrlimit(resource.RLIMIT_AS, (limit, highest))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, highest))


def limit_report(name: str, error: TooMuch) -> Report:
    """Returns the report on a spec that exceeds its limits."""
    from dpcompose.report import Report  # imported here, since every start imports this file

    return Report(name, "", "invalid", findings=(limit_finding(error),))


def limit_finding(error: TooMuch) -> Diagnostic:
    """Returns the finding on a spec that exceeds its limits."""
    return Diagnostic(TOO_MUCH, str(error), None, _HINT)
