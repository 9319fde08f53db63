"""Tables of `query.summarize()`, of OpenDP with Polars, as specs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from dpcompose.bridge.opendp import rows_of
from dpcompose.bridge.values import Item, Unconvertible, from_json
from dpcompose.bridge.writer import SpecText
from dpcompose.errors import quoted
from dpcompose.source.scalars import Number

#: The mechanism of each distribution, and the key of its scale.
_NOISE = {
    "Integer Laplace": ("geometric", "scale"),
    "Float Laplace": ("laplace", "scale"),
    "Integer Gaussian": ("discrete-gaussian", "sigma"),
    "Float Gaussian": ("gaussian", "sigma"),
}
_COUNTS = ("Frame Length", "Length")
#: Columns that every table has.
COLUMNS = ("column", "aggregate", "distribution", "scale")


def from_summary(
    rows: Any,
    contributions: int | None = None,
    sensitivities: Mapping[str, object] | None = None,
    deltas: Iterable[object] = (),
) -> str:
    """Returns the spec of the tables of `query.summarize()`.

    `rows`: the rows as a list of mappings (`to_dicts()`), the data frame, or the text of a file in
    JSON or CSV. `contributions`: how many rows a person has at most, as in `unit_of`.
    `sensitivities`: how far one row moves the aggregate of a column that is no count, such as the
    larger absolute bound of a sum. `deltas`: where to state the ε. Raises Unconvertible.
    """
    if isinstance(rows, str):
        rows = table_of(rows)
    elif callable(getattr(rows, "to_dicts", None)):
        rows = rows.to_dicts()
    person = contributions is not None
    spec = SpecText("OpenDP summaries", "user" if person else "unbounded", "the unit of privacy")
    reads = rows_of(spec, {}, contributions)
    given = (sensitivities or {}).items()
    known = {key: Item(Number(str(value)), key).number() for key, value in given}
    for row in Item(rows).items():
        column, aggregate = row.at("column").text(), row.at("aggregate").text()
        distribution = row.at("distribution").text()
        if distribution not in _NOISE:
            row.at("distribution").fail(
                f"the noise {quoted(distribution)} is not known here",
                "write its mechanism by hand: a quantile is `mechanism: noisy-max`",
            )
        kind, key = _NOISE[distribution]
        scale = row.at("scale").positive("without noise nothing is private")
        origin = f"from {row.path}: {aggregate} of {column}, {distribution} {scale}"
        threshold = row.find("threshold")
        values = {"reads": reads, "mechanism": kind, key: scale}
        if threshold is not None and threshold.value is not None:
            if kind == "discrete-gaussian":
                threshold.fail("whole-number Gaussian noise with a threshold has no word in specs")
            values |= {"mechanism": "noisy-histogram", "noise": kind}
            values |= {"threshold": threshold.number(), "max_keys": "1", "max_per_key": "1"}
            values |= {"relation": "unbounded"} if person else {}
        elif aggregate in _COUNTS:
            values["sensitivity"] = "1"
        elif column in known:
            values["sensitivity"] = known[column]
        else:
            row.fail(
                f"the table does not say how far one row moves the {aggregate} of {quoted(column)}",
                f"--sensitivity {column}=… says it: the larger absolute bound of a sum",
            )
        spec.mechanism(f"{aggregate} of {column}", values, origin)
    return spec.text(deltas)


def table_of(text: str) -> Any:
    """Returns the rows of a table in JSON or CSV, numbers being their texts."""
    if text.lstrip()[:1] in ("[", "{"):
        return from_json(text)
    try:
        lines: list[Any] = list(csv.DictReader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise Unconvertible("", f"this is no CSV: {error}") from None
    for line in lines:
        for key in ("scale", "accuracy", "threshold"):
            if key in line:
                line[key] = Number(line[key].strip()) if (line[key] or "").strip() else None
    return lines
