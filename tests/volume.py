"""Seeds of random tests: few in the quick tests, more in all tests, every one with `--long`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest


def seeds(most: int, among: Iterable[int], quick: int | None = None) -> Iterator[Any]:
    """All seeds `among`: beyond the first `quick` slow ones, beyond `most` for `--long` only."""
    for number, seed in enumerate(among):
        if number >= most:
            yield pytest.param(seed, marks=pytest.mark.long)
        elif quick is not None and number >= quick:
            yield pytest.param(seed, marks=pytest.mark.slow)
        else:
            yield seed
