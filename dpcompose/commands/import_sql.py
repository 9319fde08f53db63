"""The command `import` for SQL: a spec of a project, and whether a committed spec is in step."""

from __future__ import annotations

import json
import os

from dpcompose.bridge import Unconvertible
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_lines
from dpcompose.commands.reading.inputs import STANDARD_INPUT, Unreadable, name_of_file, read
from dpcompose.commands.run import Run
from dpcompose.commands.writing.output import deliver
from dpcompose.commands.writing.progress import Progress, waiting_stream
from dpcompose.errors import InvalidSpec, printable
from dpcompose.places import version

#: A file has so many bytes at most, and a manifest.
_MOST_BYTES, _MOST_MANIFEST = 2**20, 128 * 2**20
_MOST_FILES = 20_000
#: Folders in which nothing is written by people.
_LEFT_OUT = frozenset("target dbt_packages dbt_modules logs node_modules venv .venv".split())
_ORIGINS = ("dbt", "bigquery", "sql")
_SQL_JSON = ("dbt_schema_version", "tableReference", "usersNoisePerQuery")


def is_sql(run: Run) -> bool:
    """Returns whether a call is about SQL: by its format, its path, or the start of the file."""
    if run.origin is not None:
        return run.origin.value in _ORIGINS
    if run.file == STANDARD_INPUT:
        return False
    if os.path.isdir(run.file) or run.file.lower().endswith(".sql"):
        return True
    if not run.file.lower().endswith(".json") or not os.path.isfile(run.file):
        return False
    with open(run.file, "rb") as stream:
        start = stream.read(2**16).decode("utf-8", "replace")
    return any(f'"{word}"' in start for word in _SQL_JSON)


def import_sql(run: Run) -> ExitCode:
    """Runs the command `import` on SQL and returns its exit code. Raises BadCall."""
    for option, given in (("relation", run.relation), ("contributions", run.contributions)):
        if given is not None:
            raise BadCall(f"--{option} is not for SQL, of which all rows of a unit are protected")
    try:
        from dpcompose.bridge.sql_answers import Answers
        from dpcompose.bridge.sql_project import RefusedSql, WrittenSpec, read_project, write
    except ModuleNotFoundError as error:
        if error.name != "sqlglot":
            raise
        complain("SQL needs sqlglot: python -m pip install 'dpcompose[sql]'")
        return ExitCode.USAGE
    answers = Answers()
    stream = waiting_stream(prints=run.path is None)
    try:
        with Progress(stream, says="reading SQL") as progress:
            if run.unit is not None:
                answers.say_unit(run.unit, "--unit")
            if run.answers is not None:
                answers.add_file(
                    _text(run.answers, _MOST_BYTES).encode(), path_in_words(run.answers)
                )
            origin = None if run.origin is None else run.origin.value
            project = read_project(_files(run.file), origin, _dialect(run.dialect), answers)
            written: WrittenSpec = write(
                project, run.only, run.deltas, progress.step, run.check is not None
            )
    except (Unreadable, TimeoutError) as error:
        complain(str(error))
        return ExitCode.USAGE
    except RefusedSql as error:
        for each in error.refusals:
            complain_lines(f"dpcompose: {each.about('')}")
        return ExitCode.INVALID
    except Unconvertible as error:
        complain_lines(f"dpcompose: {error.about('' if error.where else path_in_words(run.file))}")
        return ExitCode.INVALID
    if run.check is not None:
        return _check(run, run.check, written)
    deliver([written.text], run.path, raw=run.path is not None)
    for question in written.questions:
        complain(f"open: {question}")
    for note in written.notes:
        complain(f"not counted: {note}")
    return ExitCode.FAILED if written.questions else ExitCode.FINE


def path_in_words(path: str) -> str:
    """Returns a path as messages print it, with slashes on every system."""
    return name_of_file(path).replace("\\", "/")


def _dialect(given: str | None) -> str:
    """Returns a dialect that sqlglot knows, empty where none is given. Raises BadCall."""
    from sqlglot.dialects.dialect import Dialects

    known = sorted(each.value for each in Dialects if each.value)
    if given is not None and given not in (*known, "googlesql"):
        raise BadCall(f"--dialect {given}: known are {', '.join((*known, 'googlesql'))}")
    return given or ""


def _files(path: str) -> dict[str, str]:
    """Returns the texts of the files that a path means, by their names as they are shown. Raises
    Unreadable."""
    if not os.path.isdir(path):
        manifest = path.lower().endswith(".json")
        name = path_in_words(path) if path != STANDARD_INPUT else "<stdin>.sql"
        return {name: _text(path, _MOST_MANIFEST if manifest else _MOST_BYTES)}
    found: dict[str, str] = {}
    manifest_file = os.path.join(path, "target", "manifest.json")
    if os.path.isfile(manifest_file) and os.path.isfile(os.path.join(path, "dbt_project.yml")):
        return {path_in_words(manifest_file): _text(manifest_file, _MOST_MANIFEST)}
    above = os.path.dirname(os.path.abspath(path))
    project = (
        os.path.join(path, os.pardir)
        if os.path.isfile(os.path.join(above, "dbt_project.yml"))
        else None
    )
    folders = (
        [path]
        if project is None
        else [path, *(os.path.join(project, each) for each in ("seeds", "macros"))]
    )
    if project is not None:
        file = os.path.join(project, "dbt_project.yml")
        found["dbt_project.yml"] = _text(file, _MOST_BYTES)
    for folder in folders:
        for here, below, names in os.walk(folder):
            below[:] = sorted(
                each for each in below if each not in _LEFT_OUT and not each.startswith(".")
            )
            for each in sorted(names):
                file = os.path.join(here, each)
                if len(found) > _MOST_FILES:
                    raise Unreadable(f"{path_in_words(path)} has more than {_MOST_FILES} files")
                base = path if project is None else project
                name = path_in_words(
                    os.path.normpath(
                        os.path.join(
                            "" if project is not None else path, os.path.relpath(file, base)
                        )
                    )
                )
                if each.lower().endswith((".sql", ".yml", ".yaml", ".json")) and not each.endswith(
                    ".dp.yaml"
                ):
                    text = _text(file, _MOST_BYTES)
                    if not each.lower().endswith(".json") or any(
                        f'"{word}"' in text for word in _SQL_JSON
                    ):
                        found[name] = text
                elif each.lower().endswith((".csv", ".py")):
                    found[name] = ""
    if not any(name.lower().endswith((".sql", ".json")) for name in found):
        raise Unreadable(f"{path_in_words(path)} has no SQL")
    return found


def _text(path: str, most: int) -> str:
    """Returns the text of a file, with plain line ends. Raises Unreadable, also for one that is too
    large or no UTF-8."""
    if path != STANDARD_INPUT and os.path.exists(path) and not os.path.isfile(path):
        raise Unreadable(f"{path_in_words(path)} is no regular file")
    data = read(path, most)
    if len(data) > most:
        raise Unreadable(f"{path_in_words(path)} is larger than {most // 2**20} MiB")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path_in_words(path)} is not UTF-8 text: byte {error.start}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check(run: Run, spec: str, written: object) -> ExitCode:
    """Compares a spec that was written with a committed one, prints the differences and returns the
    exit code."""
    from dpcompose.bridge.in_step import differences
    from dpcompose.commands.writing.output import print_out
    from dpcompose.source import load

    try:
        source = load(_text(spec, _MOST_BYTES), path_in_words(spec))
    except Unreadable as error:
        complain(str(error))
        return ExitCode.USAGE
    except InvalidSpec as error:
        from dpcompose.commands.exits import complain_of

        complain_of(error)
        return ExitCode.INVALID
    found = differences(written, source)  # type: ignore[arg-type]
    wrong = [each for each in found if not each.note]
    form = str(run.form)
    if form == "json":
        entries = [
            {
                "from": each.where,
                "message": each.says,
                "spec": path_in_words(spec),
                "line": each.line,
                "level": "note" if each.note else "error",
            }
            for each in found
        ]
        tree = {"dpcompose": version(), "in_step": not wrong, "differences": entries}
        print_out(json.dumps(tree, indent=2, ensure_ascii=False) + "\n")
    elif form == "github":
        from dpcompose.render.exports.github import command

        lines = [
            command(
                "notice" if each.note else "error",
                path_in_words(spec),
                each.line,
                "dpcompose import --check",
                _line(each.where, each.says),
            )
            for each in found
        ]
        deliver([f"{each}\n" for each in lines], None, raw=True)
    else:
        print_out(
            "".join(
                f"{printable(('note: ' if each.note else '') + _line(each.where, each.says))}\n"
                for each in found
            )
        )
        if not wrong:
            print_out(f"{printable(path_in_words(spec))} is in step with SQL\n")
    return ExitCode.FAILED if wrong else ExitCode.FINE


def _line(where: str, says: str) -> str:
    """Returns a message after its place."""
    return f"{where}: {says}" if where else says
