"""`dpcompose` and `python -m dpcompose`: run the command line; the last resort for faults."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_INTERRUPTED = 130

#: Seconds until a lost interrupt is repeated.
_SOON = 0.01

#: How many objects more than are freed make a collection due. Python's own number makes dozens of
#: them while modules load, and they find nothing.
_MANY_OBJECTS = 100_000

#: Plugins of pydantic have no part in this, and to look for them is to read about every package.
_NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")


def main() -> None:
    """Runs the command line and exits with its code; 70 for an internal fault, with its
    traceback."""
    try:
        sys.unraisablehook = _repeat_lost_interrupt
        gc.set_threshold(_MANY_OBJECTS)
        os.environ.setdefault(*_NO_PLUGINS)
        from dpcompose.cli import run

        run()
    except KeyboardInterrupt:
        _end_interrupted()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            _end_interrupted()
        raise
    except Exception:
        import traceback

        if sys.stderr is not None:
            traceback.print_exc()
            sys.stderr.write("dpcompose: this is a fault of dpcompose, not of the spec\n")
        sys.exit(70)
    finally:
        _end_undisturbed()
        gc.freeze()  # or the end of the program looks at everything that is left, several times


def _repeat_lost_interrupt(lost: UnraisableHookArgs) -> None:
    """Sends SIGINT or SIGTERM again where Python dropped the exception that its handler raised.

    It does so in callbacks, such as those of objects that are freed. A thread sends the signal,
    after the callback has ended.
    """
    again = {KeyboardInterrupt: signal.SIGINT, SystemExit: signal.SIGTERM}.get(lost.exc_type)
    if again is None:
        sys.__unraisablehook__(lost)
    elif hasattr(signal, "pthread_kill"):  # handlers run in the main thread, which is this one
        threading.Timer(_SOON, signal.pthread_kill, [threading.get_ident(), again]).start()
    else:  # on Windows
        threading.Timer(_SOON, signal.raise_signal, [again]).start()


def _end_interrupted() -> None:
    """Ends the process with exit code 130 after writing out both streams.

    Where Ctrl-C came while code made from text ran, as it does for named tuples, Python itself
    would end by the signal instead.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(_INTERRUPTED)


def _end_undisturbed() -> None:
    """Registers at the exit of Python that Ctrl-C is ignored: there it would print a traceback."""
    import atexit

    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)  # registered last, called first


if __name__ == "__main__":
    main()
