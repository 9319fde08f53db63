"""The option `--show-settings`: the settings of each spec, and where each is set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dpcompose.commands.exits import ExitCode, complain
from dpcompose.commands.gather import NoFile
from dpcompose.commands.output import print_out
from dpcompose.commands.run import Run
from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import printable
from dpcompose.policy.settings import DEFAULTS, FIELDS, BadSettings, Said, Settings
from dpcompose.report.wording import number


def show_settings(run: Run) -> ExitCode:
    """Prints the settings of every spec, without an analysis, and returns the exit code."""
    code, before = ExitCode.FINE, ""
    for item in run.gathering().items():
        if isinstance(item, NoFile):
            complain(item.says)
            code = ExitCode.USAGE
            continue
        name = run.name(item)
        try:
            settings = run.policies.of(name)
        except BadSettings as error:
            complain(str(error))
            code = ExitCode.USAGE
            continue
        print_out(before + "\n".join([printable(name), *_lines(settings, run.limit)]) + "\n")
        before = "\n"
    return code


#: The value shown for a key that nothing sets; for other keys an empty text.
_UNSET: dict[str, Any] = {
    "require-relation": (),
    "require-because": (),
    "require-population": False,
    "populations": (),
    "forbid": (),
    "advise": True,
    "fail-on": DEFAULTS.fail_on,
    "severity": {},
}


def _lines(settings: Settings, limit: Budget | None) -> Iterator[str]:
    """Yields `key = value # origin` for every key, as it would stand in a settings file.

    A key that several layers set, all of which count, has a line for each of them.
    """
    rows = []
    for key in FIELDS:
        said = settings.said.get(key) or [Said(_UNSET.get(key), "default")]
        if key == "budget" and limit is not None:
            said = [Said(limit, "flags, also in place of the spec's own")]
        rows += [(f"  {key} = {toml(each.value)}", each.origin) for each in said]
    wide = max(len(row) for row, _ in rows)
    for row, origin in rows:
        yield f"{row.ljust(wide)}  # {printable(origin)}"


def toml(value: Any) -> str:
    """Returns the value of a setting as it would stand in a settings file."""
    if isinstance(value, Budget):
        value = {name: number(amount) for name, amount in value.parameters}
    if value is None:
        return '""'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    text = value if isinstance(value, str) else number(value)
    return '"' + printable(text).replace("\\", "\\\\").replace('"', '\\"') + '"'
