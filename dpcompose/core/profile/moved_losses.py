"""Losses of few values beside a law: each value moves the ε that is asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpcompose.core.numbers.exact import ZERO
from dpcompose.core.profile.law import LogDelta
from dpcompose.core.profile.loss_distribution import masses
from dpcompose.core.profile.masses import EPS
from dpcompose.core.profile.parts import Composition, MechanismLoss, Part, Response
from dpcompose.core.profile.rounding import float_of

#: So many values of a loss, and of all that is moved, are few.
_FEW_VALUES, _FEW_SUMS = 4, 16


def moves(more: Composition) -> tuple[list[tuple[Fraction, float]], Composition]:
    """The sums of what has few values, with logarithms of their chances, and what has not."""
    sums: dict[Fraction, float] = {ZERO: 1.0}
    rest: list[tuple[Part, int]] = []
    for part, count in more.parts:
        values = _values(part)
        if values is None or len(sums) * len(values) ** min(count, 4) > _FEW_SUMS:
            rest.append((part, count))
            continue
        for _ in range(count):
            before, sums = sums, {}
            for loss, chance in before.items():
                for value, share in values:
                    sums[loss + value] = sums.get(loss + value, 0.0) + chance * share * (1 + EPS)
    moved = [(loss, math.log(chance * (1 + 4 * EPS))) for loss, chance in sums.items() if chance]
    return moved, Composition(tuple(rest))


def _values(part: Part) -> list[tuple[Fraction, float]] | None:
    """The losses of a part that has few, with chances rounded up."""
    if isinstance(part, Response):
        up = 1 / (1 + math.exp(-float_of(part.epsilon)))
        down = math.exp(-float_of(part.epsilon)) * up
        return [(part.epsilon, up * (1 + 4 * EPS)), (-part.epsilon, down * (1 + 4 * EPS))]
    step = part.natural_step() if isinstance(part, MechanismLoss) else None
    if step is None:
        return None
    law = masses(part, step)
    places = np.flatnonzero(law.p)
    if law.infinite or len(places) > _FEW_VALUES:
        return None
    return [((law.first + i) * step, float(law.p[i])) for i in places.tolist()]


def mixed(told: Sequence[tuple[float, LogDelta]]) -> LogDelta:
    """The same where the loss is moved, by chance."""
    if len(told) == 1:
        return told[0][1]
    logs = [log + each.log_upper for log, each in told]
    most = max(logs)
    shares = [math.exp(log - most) for log in logs]
    total = sum(shares)
    slope = sum(share * each.slope for share, (_, each) in zip(shares, told, strict=True)) / total
    upper = most + math.log(total) + 8 * EPS * (1 + abs(most))
    return LogDelta(min(upper, 0.0), -math.inf, slope)
