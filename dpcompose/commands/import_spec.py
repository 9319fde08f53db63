"""The command `import`, which writes a spec of what another library says of a release."""

from __future__ import annotations

from typing import cast

from dpcompose.bridge import Unconvertible, spec_of_text
from dpcompose.bridge.recognition import Origin
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_lines
from dpcompose.commands.import_sql import import_sql, is_sql
from dpcompose.commands.reading.inputs import Unreadable, name_of_file, read
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import deliver, refuse_overwrite

#: Trees of events have some hundred bytes; JSON takes many times the room of its text.
_MOST_BYTES = 8 * 2**20
#: The options that SQL alone has.
_OF_SQL = ("dialect", "unit", "answers", "only", "check")


def import_file(run: Run) -> ExitCode:
    """Runs the command `import` and returns its exit code. Raises BadCall."""
    refuse_overwrite([run.path], [run.file])
    if is_sql(run):
        refuse_overwrite(
            [run.path], [run.answers] if run.answers is not None else [], "the answers"
        )
        return import_sql(run)
    for option in _OF_SQL:
        if getattr(run, option):
            raise BadCall(f"--{option} is for SQL: {name_of_file(run.file)} is none")
    file = name_of_file(run.file)
    try:
        data = read(run.file)
    except Unreadable as error:
        complain(str(error))
        return ExitCode.USAGE
    try:
        if len(data) > _MOST_BYTES:
            raise Unconvertible("", f"the file is larger than {_MOST_BYTES // 2**20} MiB")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise Unconvertible("", f"the file is not UTF-8 text: byte {error.start}") from None
        _ = run.asked_deltas
        spec = spec_of_text(
            text,
            cast(Origin | None, None if run.origin is None else run.origin.value),
            relation=run.relation,
            deltas=run.deltas,
            contributions=run.contributions,
            sensitivities=dict(_by_name(each) for each in run.sensitivities),
        )
    except Unconvertible as error:
        complain_lines(f"dpcompose: {error.about(file)}")
        return ExitCode.INVALID
    deliver([spec], run.path, raw=run.path is not None)
    return ExitCode.FINE


def _by_name(given: str) -> tuple[str, str]:
    """Returns the name and the number of `NAME=NUMBER`. Raises BadCall."""
    name, equals, number = given.rpartition("=")
    if not equals or not name or not number:
        raise BadCall(f"--sensitivity {given}: NAME=NUMBER is due, such as age=100")
    return name, number
