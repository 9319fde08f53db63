"""The command `accept`: writes what the authors of specs vouch for to a file for `check`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from getpass import getuser

from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.parallel.workers import WorkWithin
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Complaints
from dpcompose.commands.reading.policies import accepted_in
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import deliver, refuse_overwrite, to_standard_output
from dpcompose.curves.rounding import plural
from dpcompose.errors import printable, quoted
from dpcompose.policy.accepted import LONGEST_LINE, Accepted, updated, written
from dpcompose.report.declared_assumptions import Vouched, claims
from dpcompose.resolve import resolve
from dpcompose.source import Document, documents, load

#: The most characters of the name of a person who accepts.
_LONGEST_NAME = 200


def accept_files(run: Run) -> ExitCode:
    """Runs the command `accept` and returns its exit code. Raises BadCall."""
    output = run.path or ""
    if STANDARD_INPUT in run.files:
        raise BadCall("accept takes files: standard input (-) has no name to accept it by")

    def declared(file: str, data: bytes) -> tuple[str, list[tuple[int, list[Vouched]]]]:
        """Returns a file with the claims of its specs by their numbers. Raises InvalidSpec,
        TooMuch."""
        refuse_overwrite([output], [file])
        return file, [(part.number or 1, claims_within((part, file))) for part in documents(data)]

    complaints = Complaints()
    with closing(WorkWithin(lambda: run.resources, _claims_of)) as claims_within:
        specs = dict(complaints.results(run.gathering().items(), declared))
    if not specs:
        complain("nothing was accepted, since no spec could be read")
        return complaints.code
    today = datetime.now(UTC).date().isoformat()
    by, on = _person(run.person), run.date or today
    with _by_turns(output):
        accepted = updated(_old(output), specs, by, on)
        text = written(accepted)
        if max(map(len, text.split("\n"))) > LONGEST_LINE:
            raise BadCall(f"an assumption is longer than {LONGEST_LINE} characters: shorten it")
        deliver([text], output)
    if not to_standard_output(output):
        found = plural(len(accepted.entries), "claim")
        complain(f"wrote {output}: {found} of {plural(len(specs), 'spec')}")
    if complaints.code is not ExitCode.FINE:
        complain("not every spec could be read: of those, what was accepted before stays")
    return complaints.code


def _claims_of(given: tuple[Document, str]) -> list[Vouched]:
    """Returns the claims of one spec of a file. Raises InvalidSpec."""
    part, file = given
    return claims(resolve(load(part.data, file, part.lines_before)))


@contextmanager
def _by_turns(output: str) -> Iterator[None]:
    """Holds a lock on the folder of a file during the block, where the system has such locks.

    So two processes do not update the file at once. The file itself is replaced, so that its folder
    is what is locked.
    """
    with ExitStack() as stack:
        with suppress(ImportError, OSError, ValueError):  # writing will report what is wrong
            import fcntl

            if not to_standard_output(output):
                handle = os.open(os.path.dirname(os.path.abspath(output)), os.O_RDONLY)
                stack.callback(os.close, handle)
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _old(output: str) -> Accepted:
    """Returns the assumptions accepted so far. Raises BadCall if the file holds something else."""
    if to_standard_output(output):
        return Accepted("<stdout>", os.getcwd())
    if not os.path.lexists(output):
        return Accepted(output, os.path.dirname(os.path.abspath(output)))
    return accepted_in(output)


def _person(by: str | None) -> str:
    """Returns who accepts: the person named, or else the user of this process. Raises BadCall."""
    if by is None:
        try:
            return printable(getuser())
        except (KeyError, OSError) as error:
            raise BadCall("nobody is known to this machine: --by says who accepts") from error
    if not by.strip() or by != by.strip() or len(by) > _LONGEST_NAME or not by.isprintable():
        raise BadCall(
            f"--by {quoted(by)}: a name is due, on one line, of at most {_LONGEST_NAME} characters "
            "that can be seen, without blanks around it"
        )
    return by
