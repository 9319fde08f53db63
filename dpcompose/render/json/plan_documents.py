"""The results of `diff`, `total`, `savings` and `fit` as JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from dpcompose.core.notions.guarantee import LIMITS
from dpcompose.curves.rounding import chance
from dpcompose.planning.comparison import Change, Invalid
from dpcompose.planning.edits import Edit, KeyEdit
from dpcompose.planning.fitting import Fitted
from dpcompose.planning.ledger.totals import Sum
from dpcompose.planning.savings import Savings
from dpcompose.render.json import dumped
from dpcompose.render.json.schemas import CHANGES, FIT, SAVINGS, TOTALS
from dpcompose.report import LeftOut
from dpcompose.report.wording import number


def diff_json(
    found: Iterable[Change | Invalid], left_out: Callable[[], LeftOut] = LeftOut
) -> Iterator[str]:
    """Yields one document with all changes; `left_out` counts files without a result at the end."""
    changes = list(found)
    out = left_out()
    told = {"changes": changes, "left_out": out if out.summary else None}
    yield dumped(CHANGES.write(told), indent=2)


def total_json(found: Sum) -> Iterator[str]:
    """Yields the totals as one JSON document."""
    yield dumped(TOTALS.write(found), indent=2)


def savings_json(file: str, found: Savings) -> Iterator[str]:
    """Yields the savings as one JSON document."""
    told = {
        "file": file,
        "number": found.name,
        "total": found.total,
        "savings": found.savings,
        "assumptions": found.meanwhile,
    }
    yield dumped(SAVINGS.write(told), indent=2)


def fit_json(
    file: str,
    fitted: Fitted,
    changed: Sequence[tuple[Edit, KeyEdit]],
    remarks: Sequence[str],
    text: str,
) -> Iterator[str]:
    """Yields a fitted spec and what was changed in it as one JSON document."""
    main, most = fitted.limit.parameters[0]
    at = [
        f"{LIMITS[name]} = {chance(number(value))}" for name, value in fitted.limit.parameters[1:]
    ]
    told = {
        "file": file,
        "number": " at ".join([LIMITS[main], *at]),
        "spent": fitted.spent,
        "limit": most,
        "exact": fitted.exact,
        "scale": fitted.scale,
        "mechanisms": fitted.scaled,
        "changes": changed,
        "assumptions": fitted.meanwhile,
        "remarks": remarks,
        "spec": text,
    }
    yield dumped(FIT.write(told), indent=2)
