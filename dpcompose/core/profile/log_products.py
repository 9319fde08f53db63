"""Products of transforms on a grid (`lattice`) as logarithms, from which a factor may be taken.

Taken out are the very numbers that were put in, so that the others are left as they were.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dpcompose.core.profile.components import UNIT
from dpcompose.core.profile.lattice import (
    FAINT,
    Pieces,
    Product,
    characteristic,
    multiply,
    transforms_of,
    variances_of,
    width_of,
)

#: A law of so few places, and so few copies, is summed.
_FEW_PLACES, _FEW_COPIES = 8, 1000
#: A smaller chance is none, but for far less than a rounding.
_NONE = 1e-200
Factor = Callable[[Any, int], tuple[Product, float]]


def factors(pieces: Pieces) -> list[Factor]:
    """Of each loss, the widest first, the logarithms of the transform, as often as it occurs, at
    some frequencies of so many points, and the norm of its error."""

    def of_law(spread: tuple[int, Any, int], k: Any, points: int) -> tuple[Product, float]:
        [(power, rest, copies)], lost = transforms_of((spread,), points)
        row = Product(k, *(np.zeros(len(k)) for _ in range(3)))
        multiply(power[k], rest, copies, row.log, row.phase, row.error)
        return row, lost

    def of_response(i: int, k: Any, points: int) -> tuple[Product, float]:
        some = slice(i, i + 1)
        [value] = characteristic(pieces.steps[:, some], pieces.chances[:, some], k, points)
        return _powers(k, value, float(pieces.counts[i])), 0.0

    def of_few(spread: tuple[int, Any, int], k: Any, points: int) -> tuple[Product, float]:
        first, chances, count = spread
        places = np.flatnonzero(chances > _NONE)
        steps, each = first + places[:, None], chances[places, None]
        [value] = characteristic(steps, each, k, points)
        return _powers(k, value, float(count)), 0.0

    laws = sorted(pieces.spreads, key=width_of, reverse=True)
    order = np.argsort(-variances_of(pieces))
    return [
        *(partial(of_few if _is_few(spread) else of_law, spread) for spread in laws),
        *(partial(of_response, i) for i in order.tolist()),
    ]


def _is_few(spread: tuple[int, Any, int]) -> bool:
    """Whether a law has few places, and few copies."""
    _, chances, count = spread
    return count <= _FEW_COPIES and int(np.count_nonzero(chances > _NONE)) <= _FEW_PLACES


def _powers(k: Any, value: Any, count: float) -> Product:
    """Powers of sums of a few terms, each within some roundings."""
    size, angle = np.maximum(np.abs(value), 16 * UNIT), np.angle(value)
    error = count * UNIT * (16 / size + 8 * np.abs(angle) + 4)
    return Product(k, count * np.log(size), count * angle, error)


def plus(logs: Product, row: Product, sign: int) -> Product:
    """With a factor more, or, with `sign` -1, with one less."""
    size = np.abs(logs.log) + np.abs(logs.phase) + np.abs(row.log) + np.abs(row.phase)
    return Product(
        logs.k,
        logs.log + sign * row.log,
        logs.phase + sign * row.phase,
        logs.error + row.error + 4 * UNIT * size,
    )


def spared(pieces: Pieces, points: int, fall: float) -> tuple[Product, float]:
    """The logarithms of the transform where e^(-`fall`·k²) of it is not faint without any one
    loss."""
    k = np.arange(points // 2 + 1, dtype=np.int64)
    k = k[fall * k**2 < FAINT]
    logs, least, noise = Product(k, *(np.zeros(len(k)) for _ in range(3))), np.zeros(len(k)), 0.0
    for row in factors(pieces):
        told, lost = row(logs.k, points)
        logs, noise = plus(logs, told, 1), noise + lost
        least = np.minimum(least, told.log)
        seen = logs.log - least - fall * logs.k**2 > -FAINT
        if not seen.all():
            logs = Product(logs.k[seen], logs.log[seen], logs.phase[seen], logs.error[seen])
            least = least[seen]
    return logs, noise
