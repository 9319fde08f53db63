"""What settings ask of each spec that a command reads: of flags, the environment and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpcompose.commands.exits import BadCall
from dpcompose.commands.inputs import STANDARD_INPUT, shown
from dpcompose.values import dataclass

if TYPE_CHECKING:
    from dpcompose.policy.settings import Layer, Settings
    from dpcompose.report import Report
    from dpcompose.source import Source


@dataclass(frozen=True, slots=True)
class Policies:
    """Where settings come from.

    `isolated`: whether settings files are left alone. `over`: the settings that beat theirs, the
    strongest last.
    """

    isolated: bool = False
    over: tuple[Layer, ...] = ()

    def of(self, file: str) -> Settings:
        """What holds for a file. Raises BadSettings."""
        from dpcompose.policy.files import nearest_file
        from dpcompose.policy.settings import DEFAULTS, merged

        layers = list(self.over)
        if not self.isolated:
            name = file if file != shown(STANDARD_INPUT) else os.curdir + os.sep + "-"
            found = nearest_file(name)
            layers = [*(found.layers(name) if found else ()), *layers]
        return merged(layers) if layers else DEFAULTS


def policies_of(isolated: bool, flags: Mapping[str, object] | None = None) -> Policies:
    """The policies of a call: `flags`, by the key that they set, beat the environment.

    Raises BadCall.
    """
    given = flags or {}
    variables = {key: value for key, value in os.environ.items() if key.startswith("DPCOMPOSE")}
    if not given and not variables:
        return Policies(isolated)
    from dpcompose.policy.environment import from_environment
    from dpcompose.policy.settings import BadSettings, layer

    try:
        found = [from_environment(variables)]
        found += [layer({key: value}, f"--{key}", "--") for key, value in given.items()]
    except BadSettings as error:
        raise BadCall(str(error).replace("--: ", "--")) from error
    return Policies(isolated, tuple(each for each in found if each is not None))


def audited(settings: Settings, source: Source, report: Report) -> Report:
    """The report of a valid spec as its settings and its comments want it."""
    from dpcompose.policy import MENTION
    from dpcompose.policy.settings import DEFAULTS

    if settings is DEFAULTS and not MENTION.search(source.lines.text):
        return report
    from dpcompose.policy.audit import audit

    return audit(source, report, settings)
