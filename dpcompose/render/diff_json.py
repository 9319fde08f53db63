"""The result of `diff` as JSON, in a versioned shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dpcompose.planning.comparison import Change, Invalid, NumberChange
from dpcompose.render.diff_text import headline
from dpcompose.render.json import (
    Shape,
    bound_shape,
    dumped,
    finding_shape,
    head,
    left_out_shape,
    result,
)
from dpcompose.render.numbers import fraction_text, number_up
from dpcompose.report import LeftOut, Report


def json(
    found: Iterable[Change | Invalid], left_out: Callable[[], LeftOut] = LeftOut
) -> Iterator[str]:
    """Yields one document with all changes; `left_out` counts files without a result at the end."""
    shapes = [_invalid(each) if isinstance(each, Invalid) else _change(each) for each in found]
    out = {"left_out": left_out_shape(left_out())} if left_out().summary else {}
    yield dumped({**head(), "changes": shapes, **out}, indent=2)


def _file(found: Change | Invalid, report: Report) -> Shape:
    """Returns the keys that name a spec: its document, and its file now and before."""
    old, new = found.files
    return {
        "file": new or old,
        **({} if report.document is None else {"document": report.document}),
        "old_file": old,
        "new_file": new,
    }


def _invalid(found: Invalid) -> Shape:
    """Returns a spec of which a version is invalid as a JSON object."""
    return {
        **_file(found, found.reports[-1]),
        "direction": "invalid",
        "invalid": [result(each) for each in found.reports],
    }


def _change(change: Change) -> Shape:
    """Returns a spec before and now as a JSON object."""
    return {
        **_file(change, change.source_to_show),
        "direction": change.direction,
        "says": headline(change),
        "why": change.why,
        "because": list(change.because),
        "numbers": [_number(each, change) for each in change.numbers],
        "mechanisms": [
            {
                "mechanism": each.mechanism,
                "old": None if each.old is None else bound_shape(each.old.bound),
                "new": None if each.new is None else bound_shape(each.new.bound),
                "line": each.new.span.line if each.new and each.new.span else None,
            }
            for each in change.moved
        ],
        "edits": [
            {
                "kind": each.kind,
                "name": each.name,
                "how": each.how,
                "keys": [{"key": key.name, "old": key.old, "new": key.new} for key in each.keys],
                "line": each.span.line,
            }
            for each in change.edits
        ],
        "assumed": list(change.assumed),
        "no_longer_assumed": list(change.no_longer_assumed),
        "free": list(change.free),
        "settings": list(change.settings),
        "events": list(change.events),
        "failing": list(change.failing),
        "findings": [finding_shape(each) for each in change.findings],
        "old": None if change.old is None else result(change.old),
        "new": None if change.new is None else result(change.new),
    }


def _number(each: NumberChange, change: Change) -> Shape:
    """Returns one number before and now as a JSON object."""
    versions = (("old", each.old, change.old), ("new", each.new, change.new))
    return {
        "name": each.name,
        "old": None if each.old is None else number_up(each.old),
        "new": None if each.new is None else number_up(each.new),
        "direction": each.direction,
        "exact": {
            key: fraction_text(value)
            for key, value, report in versions
            if value is not None and _is_exact(each.name, report)
        },
    }


def _is_exact(name: str, report: Report | None) -> bool:
    """Returns whether a number is the exact bound, not rounded up; numbers at a δ are not."""
    if report is None or report.bound is None or " at " in name:
        return False
    return report.bound.delta_exact if name == "δ" else report.bound.exact
