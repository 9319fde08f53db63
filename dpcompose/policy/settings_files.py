"""Settings files around a spec, what each says for it, and the variables of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from dpcompose.errors import nearest, printable, quoted
from dpcompose.places import is_below, real, some_above, strays
from dpcompose.policy.settings import (
    FIELDS,
    VARIABLES,
    BadSettings,
    Layer,
    Said,
    a_switch,
    layer,
    refuse_unknown_keys,
)

OWN, SHARED = "dpcompose.toml", "pyproject.toml"
_TABLE = "dpcompose"
_LARGEST = 2**20  # bytes
_MOST_DOTS = 300  # of a line
_OVERRIDES, _ROOT = "overrides", "root"


class _Override(NamedTuple):
    """Settings for the specs whose paths match one of some patterns."""

    patterns: tuple[re.Pattern[str], ...]
    layer: Layer


class File(NamedTuple):
    """A settings file: its settings for every spec, and `overrides` for some paths below `folder`.

    `root`: whether the settings of the folders above do not count.
    """

    path: str
    folder: str
    base: Layer
    overrides: tuple[_Override, ...] = ()
    root: bool = False

    def layer(self, spec: str) -> Layer:
        """Returns the settings for a spec; overrides that match replace what stands above them."""
        found = self.base
        inside = os.path.relpath(os.path.abspath(spec), self.folder).replace(os.sep, "/")
        for each in self.overrides:
            if any(pattern.fullmatch(inside) for pattern in each.patterns):
                found = each.layer.over(found)
        return found


def names(spec: str) -> tuple[str, ...]:
    """Returns the absolute paths of a spec: as it is named, and with links followed."""
    return tuple(dict.fromkeys((os.path.abspath(spec), real(spec))))


def layers_around(spec: str, top: str = os.sep) -> list[Layer]:
    """Returns the layers of the settings files around a spec, those of the nearest folder first.

    They stand in its folder and in those above, up to one that says `root = true`; `dpcompose.toml`
    and a `pyproject.toml` with a table `[tool.dpcompose]` count both. `top`: those in this folder
    and below it are meant. Raises BadSettings.
    """
    found: list[Layer] = []
    for name in names(spec):
        folder = os.path.dirname(name)
        for each in (*some_above(folder), folder):
            files = _nearest(each)
        found += [file.layer(name) for file in files if is_below(real(file.folder), top)]
    return found


def named_file(path: str) -> File:
    """Returns the settings file at a path that somebody named; its overrides are below the working
    folder.

    Raises BadSettings, also where there is none.
    """
    if not path:
        raise BadSettings("--settings: the name of the file is empty; is a variable not set?")
    data = _bytes(path)
    found = None if data is None else parse_file(path, data, os.getcwd(), _path_in_messages(path))
    if found is None:
        why = "no file that can be read" if data is None else f"without a table [tool.{_TABLE}]"
        raise BadSettings(f"{_path_in_messages(path)} is {why}")
    return found


def forget() -> None:
    """Forgets the settings files that were read, which may have changed."""
    _nearest.cache_clear()


@lru_cache(maxsize=4096)
def _nearest(folder: str) -> tuple[File, ...]:
    """Returns the settings files in a folder and in those above, up to the root."""
    here, above = tuple(_in(folder)), os.path.dirname(folder)
    if above == folder or any(file.root for file in here):
        return here
    return (*here, *_nearest(above))


def _in(folder: str) -> Iterator[File]:
    """Yields the settings files in a folder. Raises BadSettings."""
    for name in (OWN, SHARED):
        path = os.path.join(folder, name)
        data = _bytes(path)
        if data is None:
            if os.path.lexists(path):
                raise BadSettings(f"{_path_in_messages(path)} is no file that can be read")
            continue
        target = os.path.basename(os.path.realpath(path))
        if name == OWN and target not in (OWN, SHARED):
            # What a link leads to is not told: it may be any file of this machine.
            raise BadSettings(f"{_path_in_messages(path)} is a link to what is no settings file")
        file = parse_file(path, data, folder, _path_in_messages(path))
        if file is not None:
            yield file


def parse_file(path: str, data: bytes, folder: str, shown: str) -> File | None:
    """Returns the settings in a file that is called `path`; None for a pyproject.toml without any.

    `folder`: what the paths of its overrides are below. Raises BadSettings, which calls it `shown`.
    """
    if len(data) > _LARGEST:
        raise BadSettings(f"{shown}: settings are larger than 1 MiB")
    if os.path.basename(path) != SHARED:
        settings = _parsed(data, shown)
        if "tool" in settings:
            raise BadSettings(f"{shown}: settings stand at its top, without [tool.{_TABLE}]")
        return _file(path, folder, settings, shown, shown)
    if _TABLE.encode() not in data:  # most are about something else
        return None
    tools = _parsed(data, shown).get("tool")
    table = tools.get(_TABLE) if isinstance(tools, dict) else None
    if table is None:
        return None
    return _file(path, folder, table, shown, f"{shown}: [tool.{_TABLE}]")


def _path_in_messages(path: str) -> str:
    """Returns a path as messages have it: from the working folder, where it is below that."""
    inside = os.path.relpath(path)
    return printable(path if inside.startswith(os.pardir) else inside)


def _bytes(path: str) -> bytes | None:
    """Returns the content of a file; None where there is none. Raises BadSettings."""
    try:
        if not os.path.isfile(path):
            return None
        if (why := strays(path)) is not None:
            raise BadSettings(f"cannot read {_path_in_messages(path)}: {why}")
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise BadSettings(
            f"cannot read {_path_in_messages(path)}: {error.strerror or error}"
        ) from error
    return data


def _parsed(data: bytes, shown: str) -> dict[str, Any]:
    """Returns the content of a TOML file. Raises BadSettings."""
    import tomllib

    # The time that a key of many parts takes is quadratic in their number.
    if any(line.count(b".") > _MOST_DOTS for line in data.splitlines()):
        raise BadSettings(f"{shown}: a line holds more than {_MOST_DOTS} dots")
    try:
        # A float would not be exact: every number keeps its text.
        return tomllib.loads(data.decode(), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it cannot be parsed"
        raise BadSettings(f"{shown}: not valid TOML: {why}") from error


def _file(path: str, folder: str, table: object, name: str, where: str) -> File:
    """Returns the settings file with a table; messages call it `name`. Raises BadSettings."""
    if not isinstance(table, dict):
        raise BadSettings(f"{where}: a table is due")
    refuse_unknown_keys(table, (*FIELDS, _OVERRIDES, _ROOT), where)
    base = layer({k: v for k, v in table.items() if k in FIELDS}, name, where)
    root = a_switch(table.get(_ROOT, False), f"{where}: {_ROOT}")
    listed = table.get(_OVERRIDES, [])
    if not isinstance(listed, list):
        raise BadSettings(f"{where}: {_OVERRIDES}: tables are due, as in [[{_OVERRIDES}]]")
    overrides = (
        _override(each, f"{name}: {_OVERRIDES}[{number}]", f"{where}: {_OVERRIDES}[{number}]")
        for number, each in enumerate(listed)
    )
    return File(path, folder, base, tuple(overrides), root)


def _override(table: object, origin: str, where: str) -> _Override:
    """Returns the override in a table. Raises BadSettings."""
    if not isinstance(table, Mapping):
        raise BadSettings(f"{where}: a table is due")
    refuse_unknown_keys(table, ("paths", *FIELDS), where)
    paths = table.get("paths")
    if isinstance(paths, str):
        paths = [paths]
    if not isinstance(paths, list) or not paths or not all(isinstance(p, str) for p in paths):
        raise BadSettings(f'{where}: paths are due, such as paths = ["census/**"]')
    values = {key: value for key, value in table.items() if key != "paths"}
    return _Override(_patterns(paths, where), layer(values, origin, where))


def _patterns(paths: Sequence[str], where: str) -> tuple[re.Pattern[str], ...]:
    """Returns the patterns that paths of specs match in full. Raises BadSettings."""
    for path in paths:
        if not path or path.startswith("/") or len(path) > 1000 or path.count("*") > 20:
            raise BadSettings(f"{where}: {path!r} is no path below the folder of the settings")
    return tuple(re.compile(_expression(path), re.DOTALL) for path in paths)


def _expression(path: str) -> str:
    """Returns the regular expression of a pattern of paths.

    `*` and `?` match within a name, `**` across folders; a pattern without `/` in every folder.
    """
    path = path.removeprefix("./")
    if path.endswith("/"):
        path += "**"
    found = "" if "/" in path else "(?:.*/)?"
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", path):
        found += parts.get(part, re.escape(part))
    return found


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
