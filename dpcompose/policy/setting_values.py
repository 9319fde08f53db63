"""The values of settings: functions that read each of them, and raise BadSettings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

from dpcompose.core.notions.guarantee import FORMS, LIMITS, RISKS, Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import LEVELS, DpcomposeError, nearest, quoted
from dpcompose.policy.codes import ADJUSTABLE, REMOVABLE
from dpcompose.policy.kinds import OF_ENTRIES, kinds
from dpcompose.resolve.population import Misleading, canonical

OFF = "off"


class BadSettings(DpcomposeError):
    """Settings that make no sense; the message names their place and what is wrong."""


def refuse_unknown_keys(table: Mapping[str, Any], legal: Collection[str], where: str) -> None:
    """Raises BadSettings for a key that is not legal."""
    for key in table:
        if key not in legal:
            raise BadSettings(f"{where}: unknown key {quoted(key)}; {_legal(key, legal)}")


def _legal(wrong: str, legal: Collection[str]) -> str:
    """Returns the legal words as a hint, with the nearest to a wrong one first."""
    near = nearest(wrong, legal)
    offer = f"did you mean {near}? " if near else ""
    return f"{offer}possible: {', '.join(sorted(legal))}"


def _one_of(value: Any, legal: Collection[str], where: str) -> str:
    """Returns a value that is one of the legal words."""
    if isinstance(value, str) and value in legal:
        return value
    raise BadSettings(
        f"{where}: {_quoted_value(value)} is none of them; {_legal(str(value), legal)}"
    )


def _number(value: Any, where: str, below_one: bool = False) -> Fraction:
    """Returns an exact number ≥ 0, from a text or from a number that kept its text."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise BadSettings(f"{where}: a number is due, not {_quoted_value(value)}")
    text = str(value) if isinstance(value, str) or abs(value) < 10**18 else "9" * 2000
    try:
        number = parse(text, {})
    except ExpressionError as error:
        raise BadSettings(
            f"{where}: {_quoted_value(value)} is not a number: {error.message}"
        ) from error
    if number < 0 or (below_one and number >= 1):
        due = "a probability below 1" if below_one else "a number ≥ 0"
        raise BadSettings(f"{where}: {due} is due, not {_quoted_value(value)}")
    return number


def a_probability(value: Any, where: str) -> Fraction:
    """Returns a number below 1."""
    return _number(value, where, below_one=True)


def a_budget(value: Any, where: str) -> Budget:
    """Returns a budget: ε, (ε, δ), ρ, μ, an advantage, or a success and its baseline."""
    if not isinstance(value, Mapping) or not value:
        form = 'such as {epsilon = 2} or {epsilon = 2, delta = "1e-6"}'
        raise BadSettings(f"{where}: a table is due, {form}, not {_quoted_value(value)}")
    refuse_unknown_keys(value, tuple(LIMITS), where)
    if set(value) not in map(set, FORMS):
        raise BadSettings(
            f"{where}: a budget is epsilon, epsilon and delta, rho, mu, advantage, or success and "
            "baseline"
        )
    names = [name for name in LIMITS if name in value]
    chances = ("delta", *RISKS)
    given = {name: _number(value[name], f"{where}.{name}", name in chances) for name in names}
    if "baseline" in given and not 0 < given["baseline"] <= given["success"]:
        raise BadSettings(f"{where}: the baseline is above 0 and not above the success")
    return Budget(tuple(given.items()))


def texts(value: Any, where: str) -> tuple[str, ...]:
    """Returns one or several texts as a tuple."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
        raise BadSettings(f"{where}: a text or a list of texts is due, not {_quoted_value(value)}")
    return tuple(found)


def kinds_of_anything(value: Any, where: str) -> tuple[str, ...]:
    """Returns kinds of what a spec declares."""
    return tuple(_one_of(each, kinds(), where) for each in texts(value, where))


def kinds_of_entries(value: Any, where: str) -> tuple[str, ...]:
    """Returns kinds of entries, which can have a reason."""
    legal = [each for each in kinds() if each.split(".")[0] in OF_ENTRIES]
    return tuple(_one_of(each, legal, where) for each in texts(value, where))


def populations(value: Any, where: str) -> tuple[str, ...]:
    """Returns the names of at least one population, in the form in which they are compared."""
    named = texts(value, where)
    if not named:
        raise BadSettings(f"{where}: at least one name is due")
    try:
        return tuple(dict.fromkeys(map(canonical, named)))
    except Misleading as error:
        raise BadSettings(f"{where}: a name misleads: {error}") from error


def a_switch(value: Any, where: str) -> bool:
    """Returns whether the value is true, also as a text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise BadSettings(f"{where}: true or false is due, not {_quoted_value(value)}")


def a_level(value: Any, where: str) -> str:
    """Returns a level of findings."""
    return _one_of(value, LEVELS, where)


def levels(value: Any, where: str) -> dict[str, str]:
    """Returns levels, or `off`, by code."""
    if not isinstance(value, Mapping):
        raise BadSettings(f'{where}: a table is due, such as {{DPC204 = "off"}}')
    found = {}
    for code, level in value.items():
        if code not in ADJUSTABLE:
            raise BadSettings(
                f"{where}: the level of {quoted(code)} cannot be set; {_legal(code, ADJUSTABLE)}"
            )
        legal = (*LEVELS, OFF) if code in REMOVABLE else LEVELS
        found[code] = _one_of(level, legal, f"{where}.{code}")
    return found


def an_address(value: Any, where: str) -> str:
    """Returns an address that pages are below, with a slash at its end.

    It is in ASCII, without anything that a terminal acts upon, a user, a query or a fragment.
    """
    if isinstance(value, str) and len(value) <= _LONGEST_ADDRESS and _ADDRESS.fullmatch(value):
        return value.rstrip("/") + "/"
    raise BadSettings(
        f"{where}: an address is due, such as https://example.org/dpcompose or file:///srv/pages, "
        f"not {_quoted_value(value)}"
    )


_ADDRESS = re.compile(
    r"(?:https://[A-Za-z0-9.-]+(?::[0-9]{1,5})?(?=/|\Z)|file://(?=/))"
    r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
)
_LONGEST_ADDRESS = 1000


def _quoted_value(value: Any) -> str:
    """Returns a value as messages quote it."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    return quoted(str(value).lower()[:100])
