"""Reading specs from files and standard input, as bytes, never more than can be analysed, and what
goes wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dpcompose.commands.exits import ExitCode, complain, complain_of
from dpcompose.commands.parallel.bounds import TooMuch
from dpcompose.errors import Diagnostic, InvalidSpec
from dpcompose.places import strays
from dpcompose.policy.settings import BadSettings
from dpcompose.source import MAX_BYTES, Source, is_spec, load

if TYPE_CHECKING:
    from dpcompose.report import Report

_Result = TypeVar("_Result")

#: The argument that means standard input.
STANDARD_INPUT = "-"
#: Codes of faults that quote nothing of the file: too large or too deep, no text, empty.
_QUOTING_NOTHING = ("DPC001", "DPC002", "DPC003", "DPC004", "DPC008", "DPC009", "DPC016")


class Unreadable(Exception):
    """A file cannot be read; the message names it and the reason."""


class NoFile(NamedTuple):
    """An argument that gives no file, and why."""

    name: str
    says: str


class Input(NamedTuple):
    """A file to read, or one with the content that was read already."""

    file: str
    data: bytes | None = None


def is_yaml(name: str) -> bool:
    """Returns whether a file name ends in `.yaml` or `.yml`, in upper or lower case."""
    return name.lower().endswith((".yaml", ".yml"))


def name_of_file(file: str) -> str:
    """Returns the name of a file in reports; `<stdin>` for standard input."""
    return "<stdin>" if file == STANDARD_INPUT else file


def read(file: str | NoFile, most: int = MAX_BYTES) -> bytes:
    """Returns the bytes of a file, at most one more than the limit, by which the size is refused.

    Raises Unreadable, also for an argument that gives no file.
    """
    if isinstance(file, NoFile):
        raise Unreadable(file.says)
    try:
        if file != STANDARD_INPUT:
            if (why := strays(file)) is not None:
                raise Unreadable(f"cannot read {file}: {why}")
            with open(file, "rb") as stream:
                return stream.read(most + 1)
        if sys.stdin is None:
            raise Unreadable("cannot read standard input: it is closed")
        return sys.stdin.buffer.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        why = getattr(error, "strerror", None) or str(error)
        raise Unreadable(f"cannot read {name_of_file(file)}: {why}") from error


def valid_source(data: bytes | str, name: str, lines_above: int = 0) -> Source:
    """Returns the source of a valid spec. Raises InvalidSpec."""
    from dpcompose.resolve import resolve

    source = load(data, name, lines_above)
    resolve(source)
    return source


def without_quotes(reports: Sequence[Report], data: bytes) -> list[Report]:
    """Returns the reports on a file, without any of its text if the file is no spec.

    Such a file may be anything that a link, or an argument by mistake, leads to.
    """
    bad = next((each for each in reports if each.status == "invalid"), None)
    if bad is None or is_spec(data):
        return list(reports)
    return [replace(bad, findings=_unquoted(bad.findings), lines=(), document=None)]


def fault_without_quotes(error: InvalidSpec, data: bytes) -> InvalidSpec:
    """Returns the fault of a file, without any of its text if the file is no spec."""
    return error if is_spec(data) else InvalidSpec(_unquoted(error.diagnostics), error.file)


def _unquoted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Returns the findings that quote nothing, or the finding that the file is no spec."""
    says = "no spec: no document of the file has the key `dpcompose` at its top"
    hint = "a spec starts with `dpcompose: 1`; nothing is shown of other files"
    told = (
        Diagnostic(each.code, each.message, None, each.hint, each.level)
        for each in findings
        if each.code in _QUOTING_NOTHING
    )
    return tuple(dict.fromkeys(told)) or (Diagnostic("DPC102", says, None, hint),)


@dataclass(slots=True)
class Complaints:
    """What goes wrong with the files of a command: it is printed, and gives the exit code.

    `code`: the worst one so far. `unread`: how many complaints there were. `said`: what was printed
    already, and is not again.
    """

    code: ExitCode = ExitCode.FINE
    unread: int = 0
    said: set[str] = field(default_factory=set)

    def worse(self, code: ExitCode, says: str | None = None) -> None:
        """Records an exit code, and prints why, once: many specs can have the same settings."""
        self.code = max(self.code, code)
        if says is not None and says not in self.said:
            self.said.add(says)
            self.unread += 1
            complain(says)

    def results(
        self,
        items: Iterable[str | NoFile | Input],
        work: Callable[[str, bytes], _Result],
        name: Callable[[str], str] = name_of_file,
    ) -> Iterator[_Result]:
        """Yields what `work` makes of each file and its content, where it can.

        `name`: what a file is called in messages.
        """
        for item in items:
            file, data = item if isinstance(item, Input) else (item, None)
            try:
                data = read(file) if data is None else data
                assert isinstance(file, str)
                result = work(file, data)
            except (Unreadable, BadSettings) as error:
                self.worse(ExitCode.USAGE, str(error))
            except InvalidSpec as error:
                complain_of(fault_without_quotes(error, data or b""))
                self.worse(ExitCode.INVALID)
            except TooMuch as error:
                self.worse(ExitCode.INVALID, f"{name(str(file))}: {error}")
            else:
                yield result
