"""Settings: their keys, what values they take, and how layers of them make one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from fractions import Fraction
from typing import Any

from dpcompose.core.exact_expr import ExpressionError, parse
from dpcompose.errors import LEVELS, DpcomposeError, nearest, quoted
from dpcompose.policy.codes import ADJUSTABLE, REMOVABLE
from dpcompose.policy.kinds import OF_ENTRIES, kinds
from dpcompose.report import Limit
from dpcompose.values import dataclass

_OFF = "off"


class BadSettings(DpcomposeError):
    """Settings that make no sense; the message names their place and what is wrong."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Settings of one origin: a file, an override in it, the environment, or flags."""

    origin: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one spec.

    `budget`: of a spec that has none. `total_budget`: of all releases on its population together.
    `relations`: the relations that may be protected (empty: any). `delta`: the largest δ, at which
    ε is stated as well. `because` and `forbid`: kinds of what a spec declares. `fail_on`: the least
    level of a finding that fails. `severity`: the level of findings by code, or `off`. `origins`:
    where each came from, by key.
    """

    budget: Limit | None = None
    total_budget: Limit | None = None
    relations: tuple[str, ...] = ()
    delta: Fraction | None = None
    because: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    fail_on: str = "error"
    severity: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)


DEFAULTS = Settings()

#: Every key with the field of `Settings` that it sets.
FIELDS = {
    "budget": "budget",
    "total-budget": "total_budget",
    "require-relation": "relations",
    "require-delta": "delta",
    "require-because": "because",
    "forbid": "forbid",
    "fail-on": "fail_on",
    "severity": "severity",
}


def merged(layers: Iterable[Layer]) -> Settings:
    """One out of layers, of which the later win; severities are merged code by code."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        for key, value in layer.values.items():
            name = FIELDS[key]
            values[name] = {**values.get(name, {}), **value} if key == "severity" else value
            origins[key] = layer.origin
    return Settings(**values, origins=origins)


# --- reading -------------------------------------------------------------------------------------


def layer(table: Mapping[str, Any], origin: str, where: str) -> Layer:
    """The settings in a table. Raises BadSettings, which says `where` they stand."""
    known(table, FIELDS, where)
    return Layer(
        origin, {key: _READERS[key](value, f"{where}: {key}") for key, value in table.items()}
    )


def known(table: Mapping[str, Any], legal: Collection[str], where: str) -> None:
    """Refuse keys that are none of the legal ones."""
    for key in table:
        if key not in legal:
            raise BadSettings(f"{where}: unknown key {quoted(key)}; {_legal(key, legal)}")


def _legal(wrong: str, legal: Collection[str]) -> str:
    near = nearest(wrong, legal)
    offer = f"did you mean {near}? " if near else ""
    return f"{offer}possible: {', '.join(sorted(legal))}"


def _one_of(value: Any, legal: Collection[str], where: str) -> str:
    if isinstance(value, str) and value in legal:
        return value
    raise BadSettings(f"{where}: {_shown(value)} is none of them; {_legal(str(value), legal)}")


def _number(value: Any, where: str, below_one: bool = False) -> Fraction:
    """An exact number ≥ 0, from a text or from a number that kept its text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadSettings(f"{where}: a number is due, not {_shown(value)}")
    text = str(value) if isinstance(value, str) or abs(value) < 10**18 else "9" * 2000
    try:
        number = parse(text, {})
    except ExpressionError as error:
        raise BadSettings(f"{where}: {_shown(value)} is not a number: {error.message}") from error
    if number < 0 or (below_one and number >= 1):
        due = "a probability below 1" if below_one else "a number ≥ 0"
        raise BadSettings(f"{where}: {due} is due, not {_shown(value)}")
    return number


def _delta(value: Any, where: str) -> Fraction:
    return _number(value, where, below_one=True)


def _budget(value: Any, where: str) -> Limit:
    if not isinstance(value, Mapping) or not value:
        form = 'such as {epsilon = 2} or {epsilon = 2, delta = "1e-6"}'
        raise BadSettings(f"{where}: a table is due, {form}, not {_shown(value)}")
    known(value, ("epsilon", "delta", "rho", "mu"), where)
    if set(value) not in ({"epsilon"}, {"epsilon", "delta"}, {"rho"}, {"mu"}):
        raise BadSettings(f"{where}: a budget is epsilon, epsilon and delta, rho, or mu")
    names = [name for name in ("epsilon", "delta", "rho", "mu") if name in value]
    return Limit(
        tuple((name, _number(value[name], f"{where}.{name}", name == "delta")) for name in names)
    )


def _texts(value: Any, where: str) -> tuple[str, ...]:
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise BadSettings(f"{where}: a text or a list of texts is due, not {_shown(value)}")
    return tuple(found)


def _kinds(value: Any, where: str) -> tuple[str, ...]:
    return tuple(_one_of(each, kinds(), where) for each in _texts(value, where))


def _entries(value: Any, where: str) -> tuple[str, ...]:
    legal = [each for each in kinds() if each.split(".")[0] in OF_ENTRIES]
    return tuple(_one_of(each, legal, where) for each in _texts(value, where))


def _level(value: Any, where: str) -> str:
    return _one_of(value, LEVELS, where)


def _severity(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise BadSettings(f'{where}: a table is due, such as {{DPC204 = "off"}}')
    found = {}
    for code, level in value.items():
        if code not in ADJUSTABLE:
            raise BadSettings(
                f"{where}: the level of {quoted(code)} cannot be set; {_legal(code, ADJUSTABLE)}"
            )
        legal = (*LEVELS, _OFF) if code in REMOVABLE else LEVELS
        found[code] = _one_of(level, legal, f"{where}.{code}")
    return found


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return quoted(str(value).lower()[:100])


_READERS: dict[str, Callable[[Any, str], Any]] = {
    "budget": _budget,
    "total-budget": _budget,
    "require-relation": _texts,
    "require-delta": _delta,
    "require-because": _entries,
    "forbid": _kinds,
    "fail-on": _level,
    "severity": _severity,
}
