"""Settings: their keys and values, and how layers make one, in which each can only tighten.

Whatever a layer asks for holds, and nothing that another one says takes it back; a stronger one can
only say that a finding which a weaker one asks for is of a lower level. What an override in a file
says replaces what that file says, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from dpcompose.core.notions.guarantee import FORMS, LIMITS, RISKS, Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import LEVELS, DpcomposeError, Level, nearest, quoted
from dpcompose.policy.codes import ADJUSTABLE, REMOVABLE, REQUIRED_BY
from dpcompose.policy.kinds import OF_ENTRIES, kinds
from dpcompose.report.verdict import strictest_limits
from dpcompose.resolve.population import Misleading, canonical

OFF = "off"


class BadSettings(DpcomposeError):
    """Settings, or accepted assumptions, that make no sense; the message names their place and what
    is wrong."""


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


def _one_of(value: Any, where: str, legal: Collection[str]) -> str:
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


def _kinds(value: Any, where: str, of: Collection[str] | None = None) -> tuple[str, ...]:
    """Returns kinds of what a spec declares; `of`: only kinds whose first word is one of these."""
    legal = [each for each in kinds() if of is None or each.split(".")[0] in of]
    return tuple(_one_of(each, where, legal) for each in texts(value, where))


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
        found[code] = _one_of(level, f"{where}.{code}", legal)
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


class Said(NamedTuple):
    """A value of a key, and its origin: a file, an override in it, a variable, or a flag."""

    value: Any
    origin: str


class Layer(NamedTuple):
    """The settings of one origin for a spec, by key.

    A layer can lower levels of findings that layers of a smaller `strength` ask for.
    """

    said: Mapping[str, Said]
    strength: int = 0

    def over(self, other: Layer) -> Layer:
        """Returns `other` with the keys of this layer replaced; levels of findings code by code."""
        said = {**other.said, **self.said}
        if "severity" in self.said and "severity" in other.said:
            levels = {**other.said["severity"].value, **self.said["severity"].value}
            said["severity"] = Said(levels, self.said["severity"].origin)
        return Layer(said, self.strength)


# --- how layers make one -------------------------------------------------------------------------

_Merge = Callable[[Sequence[Said]], Sequence[Said]]


def _least_budgets(said: Sequence[Said]) -> Sequence[Said]:
    """Returns the strictest budgets, each said by the first layer that has it."""
    first = {each.value: each for each in reversed(said)}
    return [first[limit] for limit in strictest_limits(each.value for each in said)]


def _all(said: Sequence[Said]) -> Sequence[Said]:
    """Returns every value that is not empty, each said by the first layer that has it."""
    first = {each.value: each for each in reversed(said) if each.value}
    return [each for each in said if first.get(each.value) is each]


def _union(said: Sequence[Said]) -> Sequence[Said]:
    """Returns every name that some layer has, each said by the first of them."""
    kept, seen = [], set[str]()
    for each in said:
        fresh = tuple(name for name in each.value if name not in seen)
        seen.update(fresh)
        kept += [Said(fresh, each.origin)] if fresh else []
    return kept


def _fewer(rank: Callable[[Any], Any]) -> _Merge:
    """Returns the merge that keeps the first value of the least rank."""
    return lambda said: [min(said, key=lambda each: rank(each.value))]


class SettingKey(NamedTuple):
    """A key of settings: a function that reads a value, the merge of several, and that in words.

    `tightens`: whether what the merge keeps asks for all that each of its values asks for, whoever
    reads it: a ledger takes names that are listed as allowed.
    """

    read: Callable[[Any, str], Any]
    merge: _Merge
    says: str
    tightens: bool = True


_LEAST = "the least of each unit; those in other units hold as well"
#: Every key, and what several layers that have it make of it.
FIELDS = {
    "budget": SettingKey(a_budget, _least_budgets, _LEAST),
    "max-budget": SettingKey(a_budget, _least_budgets, _LEAST),
    "total-budget": SettingKey(a_budget, _least_budgets, _LEAST),
    "require-relation": SettingKey(
        texts, _all, "every list holds: the relation is in each of them"
    ),
    "require-delta": SettingKey(partial(_number, below_one=True), _fewer(Fraction), "the smallest"),
    "require-because": SettingKey(partial(_kinds, of=OF_ENTRIES), _union, "all of them"),
    "require-population": SettingKey(a_switch, _all, "true where one layer says so"),
    "populations": SettingKey(
        populations, _all, "every list holds: the name is in each of them", False
    ),
    "forbid": SettingKey(_kinds, _union, "all of them"),
    "advise": SettingKey(a_switch, _fewer(bool), "false where one layer says so", False),
    "site": SettingKey(
        an_address, lambda said: said[:1], "the first: named, variable, nearest file", False
    ),
    "fail-on": SettingKey(partial(_one_of, legal=LEVELS), _fewer(LEVELS.index), "the least level"),
    "severity": SettingKey(
        levels,
        lambda said: [each for each in said if each.value],
        "the highest level of each code; below its own only where no layer as strong requires it",
        False,
    ),
}
#: Keys by which no spec fails a requirement: they change what is reported, or are defaults.
_REQUIRE_NOTHING = frozenset({"fail-on", "severity", "budget", "advise", "site"})


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings that hold for one spec: `said` by key, merged from all `layers`."""

    said: Mapping[str, Sequence[Said]] = field(default_factory=dict)
    layers: tuple[Layer, ...] = ()

    def _values(self, key: str) -> tuple[Any, ...]:
        """Returns the values of a key that count."""
        return tuple(each.value for each in self.said.get(key, ()))

    @property
    def ceilings(self) -> tuple[Budget, ...]:
        """Returns the budgets that no bound may exceed."""
        return self._values("max-budget")

    @property
    def defaults(self) -> tuple[Budget, ...]:
        """Returns the budgets that a spec without one is compared with."""
        return strictest_limits((*self._values("budget"), *self.ceilings))

    @property
    def total_budgets(self) -> tuple[Budget, ...]:
        """Returns the budgets of all releases on one population together."""
        return self._values("total-budget")

    @property
    def relations(self) -> tuple[tuple[str, ...], ...]:
        """Returns lists of relations; a spec protects one of each list."""
        return self._values("require-relation")

    @property
    def populations(self) -> tuple[tuple[str, ...], ...]:
        """Returns lists of populations; that of a spec is in each list."""
        return self._values("populations")

    @property
    def require_population(self) -> bool:
        """Returns whether a spec must name its population."""
        return any(self._values("require-population"))

    @property
    def delta(self) -> Fraction | None:
        """Returns the largest δ that is allowed; None: any."""
        return next(iter(self._values("require-delta")), None)

    @property
    def because(self) -> tuple[str, ...]:
        """Returns the kinds of entries that need a reason, `because:`."""
        return sum(self._values("require-because"), ())

    @property
    def forbid(self) -> tuple[str, ...]:
        """Returns the kinds that no spec may declare."""
        return sum(self._values("forbid"), ())

    @property
    def advise(self) -> bool:
        """Returns whether reports say what would make a bound less."""
        return all(self._values("advise"))

    @property
    def site(self) -> str:
        """Returns the address that the pages of the documentation are below; empty without one."""
        return next(iter(self._values("site")), "")

    @property
    def fail_on(self) -> Level:
        """Returns the least level of a finding that makes a run fail."""
        return next(iter(self._values("fail-on")), "error")

    def fails(self, level: Level) -> bool:
        """Returns whether a finding of a level makes a run fail."""
        return LEVELS.index(level) >= LEVELS.index(self.fail_on)

    @property
    def asks(self) -> bool:
        """Returns whether anything is required of specs."""
        return any(self.said.get(key) for key in FIELDS.keys() - _REQUIRE_NOTHING)

    def origin(self, *keys: str) -> str:
        """Returns the origins of the values of these keys that count."""
        found = dict.fromkeys(each.origin for key in keys for each in self.said.get(key, ()))
        return " and ".join(found) or "the settings"

    def level(self, code: str, own: Level) -> str:
        """Returns the level of a finding whose own one is `own`, or `off`.

        A layer can lower it only where no other one that is as strong requires the finding.
        """
        counted = [
            level
            for layer in self.layers
            if (level := _level_in(layer, code)) is not None
            and (
                _rank(level) >= _rank(own)
                or not any(
                    _requires(each, code, own)
                    for each in self.layers
                    if each is not layer and each.strength >= layer.strength
                )
            )
        ]
        return max(counted, key=_rank, default=own)

    def failing_setting(self, code: str, own: Level) -> str | None:
        """Returns the setting by which a finding fails, so that no comment ignores it, or None."""
        level = self.level(code, own)
        if _rank(level) > _rank(own):
            return f"`severity` of {self.origin('severity')}"
        if "fail-on" in self.said and _rank(level) >= _rank(self.fail_on):
            return f"`fail-on` of {self.origin('fail-on')}"
        return None


def _rank(level: str) -> int:
    """Returns a larger number for a more severe level."""
    return 0 if level == OFF else 1 + [*LEVELS].index(level)  # type: ignore[arg-type]


def _level_in(layer: Layer, code: str) -> str | None:
    """Returns the level that a layer gives to a code, or None."""
    said = layer.said.get("severity")
    return None if said is None else said.value.get(code)


def _requires(layer: Layer, code: str, own: Level) -> bool:
    """Returns whether a layer asks for findings of this code, or fails on those of level `own`."""
    keys = REQUIRED_BY.get(code)
    if keys is not None:
        return any(key in layer.said for key in keys)
    said = layer.said.get("fail-on")
    return said is not None and _rank(own) >= _rank(said.value)


# --- what became of settings ----------------------------------------------------------------------


def is_stricter(name: str, was: Settings, now: Settings) -> bool:
    """Returns whether settings ask by a key for all that others did: what both together ask for is
    what they ask for alone.

    Of `severity` that holds where no finding is of a lower level, or can be ignored. Of a budget it
    does not where there was none: `check` and `total` fail where there is nothing to hold against.
    """
    if name == "severity":
        return next(lowered(was, now), None) is None
    key, before, after = FIELDS[name], was.said.get(name, ()), now.said.get(name, ())
    if key.merge is _least_budgets and not before:
        return False
    both = [*after, *before]
    return key.tightens and {e.value for e in key.merge(both)} == {e.value for e in after}


def lowered(was: Settings, now: Settings) -> Iterator[str]:
    """Yields the codes whose findings may be of a lower level than by other settings, or be ignored
    by comments where they could not."""
    kept = [[(each.strength, _values_of(each)) for each in one.layers] for one in (was, now)]
    if kept[0] == kept[1]:
        return
    for code in sorted(ADJUSTABLE):
        for own in LEVELS:
            levels = [_rank(each.level(code, own)) for each in (was, now)]
            failing = [each.failing_setting(code, own) is not None for each in (was, now)]
            if levels[1] < levels[0] or failing[1] < failing[0]:
                yield code
                break


def _values_of(layer: Layer) -> dict[str, Any]:
    """Returns the values of a layer, by key."""
    return {key: each.value for key, each in layer.said.items()}


#: The strengths of layers: of settings files, of the environment, and of what a call names.
FOUND, VARIABLES, NAMED = 0, 1, 2

DEFAULTS = Settings()


def merge(layers: Iterable[Layer]) -> Settings:
    """Returns the settings of all layers; their order changes nothing but the order of origins."""
    found = tuple(each for each in layers if each.said)
    said: dict[str, Sequence[Said]] = {}
    for name, key in FIELDS.items():
        values = [each.said[name] for each in found if name in each.said]
        if values:
            said[name] = key.merge(values)
    return Settings(said, found) if found else DEFAULTS


def layer(table: Mapping[str, Any], origin: str, where: str, strength: int = FOUND) -> Layer:
    """Returns the settings in a table. Raises BadSettings with the place `where`."""
    refuse_unknown_keys(table, FIELDS, where)
    return Layer(
        {
            key: Said(FIELDS[key].read(value, f"{where}: {key}"), origin)
            for key, value in table.items()
        },
        strength,
    )
