"""Seeds of random tests: few in the quick tests, more in all tests, every one with `--long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def seeds(most: int, among: Iterable[Any], quick: int | None = None) -> list[Any]:
    """All seeds `among`: beyond the first `quick` slow ones, beyond `most` for `--long` only."""

    def marked(number: int, seed: Any) -> Any:
        if number >= most:
            return pytest.param(seed, marks=pytest.mark.long)
        if quick is not None and number >= quick:
            return pytest.param(seed, marks=pytest.mark.slow)
        return seed

    return [marked(number, seed) for number, seed in enumerate(among)]


def rare(cases: Iterable[Any], every: int) -> list[Any]:
    """All cases: all but one in so many are for `--long` only."""
    return [
        case if number % every == 0 else pytest.param(case, marks=pytest.mark.long)
        for number, case in enumerate(cases)
    ]


def thinned(cases: Iterable[Any], every: int = 3) -> list[Any]:
    """All cases: each third one, or so, is among the quick tests, the others are slow."""

    def marked(number: int, case: Any) -> Any:
        if number % every == 0:
            return case
        if isinstance(case, type(pytest.param())):
            return case._replace(marks=[*case.marks, pytest.mark.slow])
        return pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.slow)

    return [marked(number, case) for number, case in enumerate(cases)]
