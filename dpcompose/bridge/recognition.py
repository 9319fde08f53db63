"""Which library a file is from, by its content."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Literal

from dpcompose.bridge.dp_events import from_event, is_event
from dpcompose.bridge.opacus import from_opacus, history_of
from dpcompose.bridge.opendp import from_opendp
from dpcompose.bridge.summaries import COLUMNS, from_summary, table_of
from dpcompose.bridge.values import Item, Unconvertible, from_json

#: The formats that are read.
Origin = Literal["event", "opacus", "opendp", "opendp-summary"]
_KNOWN = (
    "known are DpEvents (`class_name`), Opacus histories (`history`), OpenDP measurements "
    "(`__function__`), and tables of OpenDP (columns aggregate and scale)"
)


def spec_of_text(
    text: str,
    origin: Origin | None = None,
    *,
    relation: str | None = None,
    contributions: int | None = None,
    sensitivities: Mapping[str, object] | None = None,
    deltas: Iterable[object] = (),
) -> str:
    """Returns the spec of a file, whose format is recognised where `origin` does not say it.

    The options are those of `from_event`, `from_opendp` and `from_summary`. Raises Unconvertible,
    also for an option that the format does not have.
    """
    if not text.strip():
        raise Unconvertible("", "the file is empty")
    table = text.lstrip()[:1] not in ("[", "{", '"')
    value = table_of(text) if table else from_json(text)
    origin = origin or _origin(value)
    given = {
        "--relation": relation,
        "--contributions": contributions,
        "--sensitivity": sensitivities,
    }
    ways: dict[Origin, tuple[Callable[..., str], tuple[str, ...]]] = {
        "event": (partial(from_event, relation=relation), ("--relation",)),
        "opacus": (partial(from_opacus, relation=relation), ("--relation",)),
        "opendp": (partial(from_opendp, contributions=contributions), ("--contributions",)),
        "opendp-summary": (
            partial(from_summary, contributions=contributions, sensitivities=sensitivities),
            ("--contributions", "--sensitivity"),
        ),
    }
    read, options = ways[origin]
    for option, said in given.items():
        if said and option not in options:
            raise Unconvertible("", f"{option} is not for the format `{origin}`")
    return read(value, deltas=deltas)


def _origin(value: Any) -> Origin:
    """Returns the format of a value."""
    item = Item(value)
    rows = value[:1] if isinstance(value, list) else []
    if is_event(item):
        return "event"
    if rows and isinstance(rows[0], dict) and set(COLUMNS) <= rows[0].keys():
        return "opendp-summary"
    if isinstance(value, dict):
        if history_of(item) is not None:
            return "opacus"
        if "__function__" in value:
            return "opendp"
    raise Unconvertible("", "the format is not recognised", _KNOWN)
