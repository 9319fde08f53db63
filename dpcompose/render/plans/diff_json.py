"""The result of `diff` as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dpcompose.planning.comparison import Change, Invalid
from dpcompose.render.json import dumped
from dpcompose.render.json.schemas import CHANGES
from dpcompose.report import LeftOut


def json(
    found: Iterable[Change | Invalid], left_out: Callable[[], LeftOut] = LeftOut
) -> Iterator[str]:
    """Yields one document with all changes; `left_out` counts files without a result at the end."""
    changes = list(found)
    out = left_out()
    told = {"changes": changes, "left_out": out if out.summary else None}
    yield dumped(CHANGES.write(told), indent=2)
