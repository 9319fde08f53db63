"""Entries of OpenDP's registry of DP deployments: their fields, and how they are read and written.

The registry is young and renames its fields, so that one version of its schema is named here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction
from functools import cache
from pathlib import Path as File
from typing import Any, NamedTuple

from dpcompose.curves.rounding import chance, decimal_up
from dpcompose.errors import Path, quoted
from dpcompose.faults import Faults, listing
from dpcompose.source import Number, Source, Value, load


class SchemaVersion(NamedTuple):
    """A version of the registry's schema: its commit, and the SHA-256 of the file published there
    and of `registry_fields.yaml`, which has the same fields."""

    commit: str
    published: str
    fields: str


SCHEMA = SchemaVersion(
    commit="3e9c812",
    published="9d607ad7e587fd440f5164d407e7a77089b46b8caa016f5d8c7d127cfc1d5291",
    fields="0c3bef5c9c03b7d9d6e6ee1b0d456983f01ba90f010944fb02eb39c224e24b13",
)

#: What stands where an author has to write something.
TODO = "TODO"
#: The line above all that dpcompose writes into a text; what stands above it is the author's.
OURS = "Computed by dpcompose from the spec:"
#: The numbers of the YAML reader of the registry: 1e-7 is text there, and 1.0e-7 a number.
_THEIR_NUMBER = re.compile(r"[-+]?(\d[\d_]*(\.[\d_]*([eE][-+]\d+)?)?|\.\d[\d_]*([eE][-+]\d+)?)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@cache
def fields() -> dict[str, Any]:
    """Returns the fields of an entry by name, as `registry_fields.yaml` has them."""
    file = File(__file__).with_name("registry_fields.yaml")
    found = load(file.read_bytes(), file.name).value
    assert isinstance(found, dict)
    return found


def reads_as_number(text: Value) -> bool:
    """Returns whether the registry's own reader takes a value for a number."""
    return isinstance(text, Number) and _THEIR_NUMBER.fullmatch(text) is not None


# --- reading -------------------------------------------------------------------------------------


def read_entry(data: bytes | str, name: str) -> Source:
    """Returns an entry of the registry as a tree with positions; `name`: the name of its file.
    Raises InvalidSpec with all its faults."""
    source = load(data, name)
    faults = Faults(source)
    if isinstance(source.value, dict):
        _check_mapping(faults, source, (), source.value, fields())
    else:
        faults.add("DPC103", (), "an entry is a mapping that starts with `url_slug`")
    faults.raise_if_any()
    return source


def _check_mapping(
    faults: Faults, source: Source, path: Path, value: dict[str, Value], known: Mapping[str, Any]
) -> None:
    """Adds the faults of a mapping and of all that it holds."""
    kinds = {name.rstrip("!"): kind for name, kind in known.items()}
    home = f"`{path[-1]}`" if path else "an entry"
    for key, each in value.items():
        if key in kinds:
            _check_value(faults, source, (*path, key), each, kinds[key])
        else:
            says = f"unknown field {quoted(key)} in {home}"
            faults.add("DPC101", (*path, key), says, key=True, wrong=key, legal=kinds, closed=True)
    for name, kind in known.items():
        if name.endswith("!") and name[:-1] not in value:
            hint = f"possible: {listing(kind)}" if isinstance(kind, list) else _write(kind)
            faults.add("DPC102", path, f"{home} needs the field `{name[:-1]}`", hint, key=True)


def _check_value(faults: Faults, source: Source, path: Path, value: Value, kind: Any) -> None:
    """Reports a value of a registry entry that is not what the schema allows in its field."""
    name = path[-1]
    if isinstance(kind, dict) and isinstance(value, dict):
        _check_mapping(faults, source, path, value, kind)
    elif isinstance(kind, dict):
        known = listing(each.rstrip("!") for each in kind)
        faults.add("DPC103", path, f"`{name}` holds fields of its own", f"possible: {known}")
    elif isinstance(kind, list):
        if value not in kind or type(value) is not type(kind[0]):
            wrong, says = value if isinstance(value, str) else "", "none of the registry's words"
            faults.add("DPC104", path, f"`{name}` is {says}", wrong=wrong, legal=kind, closed=True)
    elif not _fits(source, path, value, kind):
        must = _KINDS[kind][0]
        faults.add("DPC103", path, f"`{name}` must be {must}", _write(kind))


#: What a field of each kind must be, and how it is written.
_KINDS = {
    "text": ("a text", "put it in quotation marks"),
    "texts": ("a list of texts, one at least", "write each on a line after `- `"),
    "date": ("a day in quotation marks", "write it as '2020-04-01'"),
    "number": ("a number", "the registry's reader wants a point before an exponent: 1.0e-7"),
    "number or text": ("a number", "write it as 1.0e-7"),
}


def _write(kind: object) -> str | None:
    """Returns how a field of a kind is written."""
    return _KINDS.get(str(kind), ("", None))[1]


def _fits(source: Source, path: Path, value: Value, kind: str) -> bool:
    """Returns whether a value is of a kind, as the registry's own reader reads it."""
    match kind:
        case "text":
            return isinstance(value, str) and not isinstance(value, Number)
        case "texts":
            return bool(value) and isinstance(value, list) and all(type(e) is str for e in value)
        case "date":
            span = source.span(path)
            is_quoted = source.lines[span.line - 1][span.column - 1 : span.column] in ("'", '"')
            return is_quoted and isinstance(value, str) and _is_date(value)
        case "number":
            return reads_as_number(value)
        case "number or text":
            return isinstance(value, str)
    return True


def _is_date(text: str) -> bool:
    """Returns whether a text is a day of the calendar such as 2020-04-01."""
    try:
        return _DATE.fullmatch(text) is not None and bool(date.fromisoformat(text))
    except ValueError:
        return False


# --- writing -------------------------------------------------------------------------------------


def number_in_yaml(value: Fraction, digits: int = 4) -> str:
    """Returns a number ≥ 0 rounded up, in a form that the registry's reader takes for one."""
    mantissa, e, exponent = chance(decimal_up(value, digits)).partition("e")
    mantissa += "" if "." in mantissa else ".0"
    sign = "" if exponent.startswith("-") else "+"
    return f"{mantissa}e{sign}{exponent}" if e else mantissa


def kept_text(old: Value) -> str:
    """Returns the author's part of a text of an entry; empty where there is none."""
    text = old if isinstance(old, str) else ""
    own = text.partition(OURS)[0].strip("\n").rstrip()
    return "" if own.lstrip().startswith(TODO) else own


def written(tree: Mapping[str, Any], remarks: Mapping[Path, str]) -> str:
    """Returns an entry as YAML: text, numbers as they are (`Number`), lists and mappings.

    `remarks`: comments beside fields, and in the place of fields that the tree does not have.
    """
    return "".join(_lines(tree, fields(), remarks, ()))


def _lines(
    tree: Mapping[str, Any], known: Mapping[str, Any], remarks: Mapping[Path, str], path: Path
) -> Iterator[str]:
    """Yields the lines of a mapping, in the order of the fields."""
    margin = "  " * len(path)
    for name, kind in ((name.rstrip("!"), kind) for name, kind in known.items()):
        at = (*path, name)
        value, remark = tree.get(name), remarks.get(at, "")
        beside = f"  # {remark}" if remark else ""
        if value is None:
            if remark:
                yield f"{margin}# {name}: {remark}\n"
        elif isinstance(value, Mapping):
            yield f"{margin}{name}:{beside}\n"
            yield from _lines(value, kind, remarks, at)
        elif isinstance(value, list):
            yield f"{margin}{name}:{beside}\n"
            yield from (f"{margin}  - {_scalar(each, margin)}\n" for each in value)
        else:
            text = value if isinstance(kind, list) else _scalar(value, margin)
            yield f"{margin}{name}: {text}{beside}\n"


def _scalar(value: str, margin: str) -> str:
    """Returns a number as it is, and a text in quotation marks, one of several lines as a block:
    the registry wants every line of it to stay one."""
    if isinstance(value, Number):
        return value
    lines = value.rstrip("\n").split("\n")
    if "\n" in value and all(map(str.isprintable, lines)) and not value[:1].isspace():
        return "|\n" + "\n".join(f"{margin}  {line}" if line else "" for line in lines)
    body = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in body)
