"""Settings files: the nearest one above a spec, and what it says for that spec."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dpcompose.errors import printable
from dpcompose.places import strays
from dpcompose.policy.settings import FIELDS, BadSettings, Layer, known, layer
from dpcompose.values import dataclass

OWN, SHARED = "dpcompose.toml", "pyproject.toml"
_TABLE = "dpcompose"
_LARGEST = 2**20  # bytes
_OVERRIDES = "overrides"


@dataclass(frozen=True, slots=True)
class _Override:
    patterns: tuple[re.Pattern[str], ...]
    layer: Layer


@dataclass(frozen=True, slots=True)
class File:
    """A settings file: what it says for every spec, and for those at some paths below `folder`."""

    path: str
    folder: str
    base: Layer
    overrides: tuple[_Override, ...] = ()

    def layers(self, spec: str) -> Iterator[Layer]:
        """What holds for a spec, the more particular settings later."""
        yield self.base
        inside = os.path.relpath(os.path.abspath(spec), self.folder).replace(os.sep, "/")
        for each in self.overrides:
            if any(pattern.fullmatch(inside) for pattern in each.patterns):
                yield each.layer


def nearest_file(spec: str) -> File | None:
    """The settings file in the folder of a spec, or in the nearest folder above that has one.

    `dpcompose.toml` counts before `pyproject.toml`, which counts only with a table
    `[tool.dpcompose]`. Raises BadSettings.
    """
    return _nearest(os.path.dirname(os.path.abspath(spec)))


@lru_cache(maxsize=4096)
def _nearest(folder: str) -> File | None:
    found = _in(folder)
    above = os.path.dirname(folder)
    return found if found is not None or above == folder else _nearest(above)


def _in(folder: str) -> File | None:
    own = os.path.join(folder, OWN)
    data = _bytes(own)
    if data is not None:
        settings = _parsed(data, own)
        if "tool" in settings:
            raise BadSettings(f"{_shown(own)}: settings stand at its top, without [tool.{_TABLE}]")
        return _file(own, folder, settings, _shown(own))
    if os.path.lexists(own):
        raise BadSettings(f"{_shown(own)} is no file that can be read")
    shared = os.path.join(folder, SHARED)
    data = _bytes(shared)
    if data is None or _TABLE.encode() not in data:  # most are about something else
        return None
    tools = _parsed(data, shared).get("tool")
    table = tools.get(_TABLE) if isinstance(tools, dict) else None
    if table is None:
        return None
    return _file(shared, folder, table, f"{_shown(shared)}: [tool.{_TABLE}]")


def _shown(path: str) -> str:
    """A path as messages have it: from the working folder, where it is below that."""
    inside = os.path.relpath(path)
    return printable(path if inside.startswith(os.pardir) else inside)


def _bytes(path: str) -> bytes | None:
    """What a file holds; None where there is none."""
    try:
        if not os.path.isfile(path):
            return None
        if (why := strays(path)) is not None:
            raise BadSettings(f"cannot read {_shown(path)}: {why}")
        with open(path, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except OSError as error:
        raise BadSettings(f"cannot read {_shown(path)}: {error.strerror or error}") from error
    if len(data) > _LARGEST:
        raise BadSettings(f"{_shown(path)}: settings are larger than 1 MiB")
    return data


def _parsed(data: bytes, path: str) -> dict[str, Any]:
    import tomllib

    try:
        # A float would not be exact: every number keeps its text.
        return tomllib.loads(data.decode(), parse_float=str)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, ValueError) as error:
        why = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it cannot be parsed"
        raise BadSettings(f"{_shown(path)}: not valid TOML: {why}") from error


def _file(path: str, folder: str, table: object, where: str) -> File:
    if not isinstance(table, dict):
        raise BadSettings(f"{where}: a table is due")
    known(table, (*FIELDS, _OVERRIDES), where)
    name = os.path.basename(path)
    base = layer({k: v for k, v in table.items() if k != _OVERRIDES}, name, where)
    listed = table.get(_OVERRIDES, [])
    if not isinstance(listed, list):
        raise BadSettings(f"{where}: {_OVERRIDES}: tables are due, as in [[{_OVERRIDES}]]")
    overrides = (
        _override(each, f"{name}: {_OVERRIDES}[{number}]", f"{where}: {_OVERRIDES}[{number}]")
        for number, each in enumerate(listed)
    )
    return File(path, folder, base, tuple(overrides))


def _override(table: object, origin: str, where: str) -> _Override:
    if not isinstance(table, Mapping):
        raise BadSettings(f"{where}: a table is due")
    known(table, ("paths", *FIELDS), where)
    paths = table.get("paths")
    if isinstance(paths, str):
        paths = [paths]
    if not isinstance(paths, list) or not paths or not all(isinstance(p, str) for p in paths):
        raise BadSettings(f'{where}: paths are due, such as paths = ["census/**"]')
    values = {key: value for key, value in table.items() if key != "paths"}
    return _Override(_patterns(paths, where), layer(values, origin, where))


def _patterns(paths: Sequence[str], where: str) -> tuple[re.Pattern[str], ...]:
    for path in paths:
        if not path or path.startswith("/") or len(path) > 1000 or path.count("*") > 20:
            raise BadSettings(f"{where}: {path!r} is no path below the folder of the settings")
    return tuple(re.compile(_expression(path)) for path in paths)


def _expression(path: str) -> str:
    """`*` and `?` stay within a name, `**` crosses folders; without a `/` any folder will do."""
    path = path.removeprefix("./")
    if path.endswith("/"):
        path += "**"
    found = "" if "/" in path else "(?:.*/)?"
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", path):
        found += parts.get(part, re.escape(part))
    return found
