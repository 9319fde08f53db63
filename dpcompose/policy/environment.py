"""Settings in environment variables: `DPCOMPOSE_REQUIRE_RELATION=unbounded,user` and the like."""

from __future__ import annotations

from collections.abc import Mapping

from dpcompose.errors import nearest, printable, quoted
from dpcompose.policy.setting_values import BadSettings
from dpcompose.policy.settings import FIELDS, VARIABLES, Layer, Said, layer

_PREFIX = "DPCOMPOSE_"
_TABLES = ("budget", "max-budget", "total-budget", "severity")
_ONE = ("require-delta", "require-population", "fail-on", "advise", "site")
#: Variables that are no settings of a spec.
_OTHERS = ("jobs", "isolated")


def from_environment(environment: Mapping[str, str]) -> Layer | None:
    """Returns the settings in the environment, None without any. Raises BadSettings.

    Lists are written `a,b`, tables `epsilon=2,delta=1e-6`; an empty variable counts as none.
    """
    said: dict[str, Said] = {}
    for name in sorted(environment):
        text = environment[name].strip()
        if not name.startswith(_PREFIX) or not text:
            continue
        key = name.removeprefix(_PREFIX).lower().replace("_", "-")
        if key in FIELDS:
            value, shown = _value(key, text, printable(name)), printable(name)
            said.update(layer({key: value}, "the environment", shown).said)
        elif key not in _OTHERS and (near := nearest(key, FIELDS)) is not None:
            meant = _PREFIX + near.upper().replace("-", "_")
            raise BadSettings(f"{printable(name)}: unknown setting; did you mean {meant}?")
    return Layer(said, VARIABLES) if said else None


def _value(key: str, text: str, variable: str) -> object:
    """Returns the value of a variable: a text, a list or a table. Raises BadSettings."""
    if key in _ONE:
        return text
    parts = [each.strip() for each in text.split(",") if each.strip()]
    if key not in _TABLES:
        return parts
    table: dict[str, str] = {}
    for each in parts:
        name, _, value = (part.strip() for part in each.partition("="))
        if name in table:
            raise BadSettings(f"{variable}: {quoted(name)} stands there twice")
        table[name] = value
    return table
