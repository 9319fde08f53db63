"""Small specs that tests write, and the numbers of their reports."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import dpcompose


def spec(
    *mechanisms: str,
    protect: str = "unbounded",
    root: str = "{}",
    datasets: str = "",
    more: str = "",
) -> str:
    """Returns a spec of mechanisms `m0`, `m1`, … that read the last dataset, unless they say more.

    `datasets` are those beside the root `rows`, one a line; `more` are other sections.
    """
    lines = [each.strip() for each in datasets.strip().splitlines()]
    last = lines[-1].partition(":")[0] if lines else "rows"
    below = "".join(f"  {each}\n" for each in lines)
    released = "".join(
        f"  - {{name: m{n}, {'' if 'reads: ' in each else f'reads: {last}, '}{each}}}\n"
        for n, each in enumerate(mechanisms)
    )
    head = f"dpcompose: 1\nprotect: {protect}\ndatasets:\n  rows: {root}\n"
    return f"{head}{below}mechanisms:\n{released}{more}\n"


@lru_cache(maxsize=32)
def report(text: str, **asked: Any) -> dpcompose.Report:
    """Returns the report of a spec that has some bound."""
    found = dpcompose.analyze(text, **asked)
    assert found.status == "ok", [each.message for each in found.findings] or found.reasons
    return found


def bound(text: str) -> Fraction:
    """Returns the value of the bound of a spec."""
    found = report(text).bound
    assert found is not None
    return found.value


def numbers(text: str) -> list[Fraction]:
    """Returns what the report of a spec says at each δ and each ε that it asks for."""
    found = report(text)
    values = [each.value for each in (*found.at_delta, *found.at_epsilon)]
    known = [each for each in values if each is not None]
    assert known and len(known) == len(values)
    return known
