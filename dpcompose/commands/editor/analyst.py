"""A process that analyses the specs of an editor one at a time, and may be killed at any moment.

Run as a module it is that process: it reads tasks from standard input and writes their outcomes to
standard output, pickled.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from threading import Thread

from dpcompose.commands.batch import FileTask, Outcome, examine_for_sending, outcome_of_ended
from dpcompose.commands.reading.inputs import Input

_PAUSE = 1.0  # seconds between two looks at the parent


class Analyst:
    """A process for analyses; it starts with the first one, and again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def outcome(self, task: FileTask, given: Input) -> Outcome:
        """Returns the outcome of a file; of a process that was killed, one that says so."""
        if self._process is None:
            command = [sys.executable, *_isolation(), "-m", __name__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        try:
            pickle.dump((task, given), process.stdin)
            process.stdin.flush()
            found: Outcome = pickle.load(process.stdout)
            return found
        except (OSError, EOFError, pickle.UnpicklingError):
            self.kill()
            return outcome_of_ended(task.run.resources, given, "its process was ended")

    def kill(self) -> None:
        """Ends the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()


def _isolation() -> list[str]:
    """Returns the flags with which a Python is isolated as this one is, and at least from the
    working folder, which belongs to the spec's author."""
    flags = sys.flags
    asked = {"-I": flags.isolated, "-E": flags.ignore_environment, "-s": flags.no_user_site}
    return ["-P", *(flag for flag, is_set in asked.items() if is_set)]


def _end_with_parent(parent: int) -> None:
    """Ends this process soon after its parent, which may be killed during a long analysis."""
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    os._exit(0)


def main() -> None:
    """Analyses specs until standard input ends, or the process that asked for it."""
    from dpcompose.commands.parallel.bounds import Most, warm_up
    from dpcompose.commands.parallel.interrupts import settle_worker
    from dpcompose.memory import settle
    from dpcompose.policy.settings_files import forget

    settle_worker()
    settle()
    Thread(target=_end_with_parent, args=[os.getppid()], daemon=True).start()
    tasks, outcomes = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing else may be written among the outcomes
    warm_up(Most())
    while True:
        try:
            task, given = pickle.load(tasks)
        except EOFError:
            return
        forget()
        pickle.dump(examine_for_sending(task, given), outcomes)
        outcomes.flush()


if __name__ == "__main__":
    main()
