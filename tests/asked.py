"""Small specs that tests write, and the numbers of their reports."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import dpcompose


def written(datasets: str, *mechanisms: str, protect: str = "unbounded", more: str = "") -> str:
    """Returns a spec of datasets, one a line, and of mechanisms: `m0`, `m1`, … unless named.

    `more` are other sections.
    """
    lines = "".join(f"  {each.strip()}\n" for each in datasets.strip().splitlines())
    released = "".join(
        f"  - {{{each if 'name: ' in each else f'name: m{n}, {each}'}}}\n"
        for n, each in enumerate(map(str.strip, mechanisms))
    )
    head = f"dpcompose: 1\nprotect: {protect}\ndatasets:\n{lines}"
    return f"{head}mechanisms:\n{released}{more}\n"


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
    listed = f"rows: {root}\n{datasets}".strip()
    last = listed.splitlines()[-1].strip().partition(":")[0]
    read = (each if "reads: " in each else f"reads: {last}, {each}" for each in mechanisms)
    return written(listed, *read, protect=protect, more=more)


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
