"""Seeds of random tests: few in the quick tests, more in all tests, every one with `--long`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def seeds(most: int, among: Iterable[int], quick: int | None = None) -> list[Any]:
    """All seeds `among`: beyond the first `quick` slow ones, beyond `most` for `--long` only."""

    def marked(number: int, seed: int) -> Any:
        if number >= most:
            return pytest.param(seed, marks=pytest.mark.long)
        if quick is not None and number >= quick:
            return pytest.param(seed, marks=pytest.mark.slow)
        return seed

    return [marked(number, seed) for number, seed in enumerate(among)]
