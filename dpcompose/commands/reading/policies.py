"""The settings that apply to each spec of a command: from flags, the environment and files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcompose.commands.exits import BadCall, ExitCode, complain
from dpcompose.commands.reading.inputs import STANDARD_INPUT, NoFile, Unreadable, name_of_file, read
from dpcompose.commands.writing.output import print_out
from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import printable
from dpcompose.policy import MENTION
from dpcompose.policy.codes import RECHECKED
from dpcompose.policy.settings import (
    DEFAULTS,
    FIELDS,
    NAMED,
    BadSettings,
    Layer,
    Said,
    Settings,
    layer,
    merge,
)
from dpcompose.policy.settings_files import (
    OWN,
    SHARED,
    File,
    from_environment,
    layers_around,
    named_file,
    names,
    parse_file,
)
from dpcompose.report.wording import number

if TYPE_CHECKING:
    from dpcompose.commands.repository.revision import Past
    from dpcompose.commands.run import Run
    from dpcompose.policy.accepted import Accepted
    from dpcompose.report import Report
    from dpcompose.source import Source


@dataclass(slots=True)
class Revision:
    """The settings files of a git revision, read by git alone."""

    past: Past
    _around: dict[str, tuple[File, ...]] = field(default_factory=dict, init=False)

    def layers(self, file: str) -> list[Layer]:
        """Returns the settings that files around each path of a file had. Raises BadSettings."""
        try:
            return [each.layer(name) for name in names(file) for each in self._files(name)]
        except (BadCall, Unreadable) as error:
            raise BadSettings(str(error)) from error

    def now(self, file: str) -> Settings:
        """Returns the settings that the files of the repository around a file have now. Raises
        BadSettings."""
        return merge(layers_around(_path(file), self.past.root))

    def _files(self, name: str) -> tuple[File, ...]:
        """Returns the settings files in the folder of a file and above, up to the root."""
        folder = os.path.dirname(name)
        if folder not in self._around:
            found: list[File] = []
            for path, data in self.past.above(name, (OWN, SHARED)):
                at = os.path.dirname(path)
                if any(each.root and each.folder != at for each in found):
                    break
                shown = f"{os.path.relpath(path)}@{self.past.revision}"
                file = parse_file(path, data, at, printable(shown))
                found += [] if file is None else [file]
            self._around[folder] = tuple(found)
        return self._around[folder]


class Policies(NamedTuple):
    """All sources of settings of a command; each of them can only tighten the others.

    `isolated`: whether settings files that nobody names are ignored. `over`: the settings of the
    environment and of flags. `named`: settings files that are named. `revision`: those of a git
    revision. `accepted`: the accepted assumptions, where these are checked.
    """

    isolated: bool = False
    over: tuple[Layer, ...] = ()
    named: tuple[File, ...] = ()
    revision: Revision | None = None
    accepted: Accepted | None = None

    def of(self, file: str) -> Settings:
        """Returns the settings that apply to a file. Raises BadSettings."""
        name = _path(file)
        named = [each.layer(name) for each in self.named]
        if self.revision is not None:
            named += self.revision.layers(name)
        named = [each._replace(strength=NAMED) for each in named]
        return merge([*named, *self.over, *self._layers_of_files(name)])

    def settings_of(self, file: str) -> Settings:
        """Returns the settings of the files around a file that nobody named. Raises BadSettings."""
        return merge(self._layers_of_files(_path(file)))

    def _layers_of_files(self, name: str) -> list[Layer]:
        """Returns the layers of the settings files around a file; none if isolated."""
        return [] if self.isolated else layers_around(name)


def _path(file: str) -> str:
    """Returns a file; for standard input, a file in the working folder."""
    return file if file != name_of_file(STANDARD_INPUT) else os.curdir + os.sep + "-"


def policies_of(run: Run) -> Policies:
    """Returns the sources of settings of a run, those of its flags first. Raises BadCall."""
    flags = {
        "fail-on": None if run.fail_on is None else run.fail_on.value,
        "require-relation": list(run.require_relation) or None,
        "require-delta": run.require_delta,
    }
    given = {key: value for key, value in flags.items() if value is not None}
    variables = {key: value for key, value in os.environ.items() if key.startswith("DPCOMPOSE")}
    try:
        found = [from_environment(variables)]
        found += [layer({key: value}, f"--{key}", "--", NAMED) for key, value in given.items()]
        named = tuple(named_file(each) for each in run.settings)
        # As strong as a file around a spec: no such file takes it back, what a call names can.
        found += [Layer({RECHECKED: Said(True, RECHECKED)})] if run.recheck else []
    except BadSettings as error:
        raise BadCall(str(error).replace("--: ", "--")) from error
    revision = None
    if run.settings_from is not None:
        from dpcompose.commands.repository.revision import Past

        revision = Revision(Past(run.settings_from, "--settings-from"))
    over = tuple(each for each in found if each is not None)
    accepted = None if run.assumptions is None else accepted_in(run.assumptions)
    return Policies(run.isolated, over, named, revision, accepted)


def audited(
    settings: Settings,
    source: Source,
    report: Report,
    accepted: Accepted | None = None,
    document: int | None = None,
) -> Report:
    """Returns the report of a valid spec, changed as its settings and comments ask.

    `accepted`: the only claims that the spec may make. `document`: its number in its file.
    """
    quiet = settings is DEFAULTS and accepted is None
    if quiet and not MENTION.search(source.lines.text):
        return report
    from dpcompose.policy.audit import audit

    return audit(source, report, settings, accepted, document or 1)


def accepted_in(path: str) -> Accepted:
    """Returns the accepted assumptions in a file. Raises BadCall, also if it does not exist."""
    from dpcompose.policy.accepted import accepted

    if path in ("", STANDARD_INPUT):
        raise BadCall("--assumptions takes the name of the file that `dpcompose accept` writes")
    try:
        return accepted(path, read(path))
    except (Unreadable, BadSettings) as error:
        raise BadCall(str(error)) from error


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
