"""Laplace losses of which few lie between their atoms, in closed form; the others are smooth.

With z = 1/(1+2s), a Laplace loss moved by a has M(s) = (e^(sa)·(1+z) + e^(-(1+s)a)·(1-z))/2
(Mironov 2017, Proposition 6), where z marks that the loss lies between its two atoms. In the
product of N of them, and of responses, what has z^j tells the outcomes with j losses between:
Σ w·K_j(k)·e^(sx)·z^j over all sums x of atoms, with weights w, with k Laplace losses at the lower
atom, K_j(k) the factor of z^j in (1+z)^(N-k)·(1-z)^k. Since z is the transform of e^(-x/2)/2 on
x > 0, e^(sx)·z^j has the share f_j(x-ε) in δ(ε), with f_j(y) = 2e^(-y/2)·Σ_i (y/2)^m/m! over
m = j+1+2i; so f_0(y) = 1-e^-y, and f_j' = (f_(j-1)-f_j)/2 with f_(-1)(y) = 1+e^-y. The outcomes
with more than J losses between have a transform that falls as t^-(J+1).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcompose.curves.backends.lattice.masses import Floats
from dpcompose.curves.backends.vertical_line.transforms import (
    UNIT,
    LaplaceTransforms,
    ResponseTransforms,
)

#: So many sums of atoms are listed; so many losses between are told at most.
_MOST_SUMS, _MOST_BETWEEN = 1 << 14, 12
#: Losses that may be more than this in all are left to others.
_GREATEST = 600.0
#: Up to here f_j is a series; beyond, it is what some first terms leave of all.
_NEAR = 40.0
#: Roundings of a term of δ: of its weight, of a series, of what is added up.
_ROUNDINGS = 2048 * UNIT


@dataclass(frozen=True, slots=True)
class DeltaShare:
    """The share of some outcomes in δ, its error, and their share in -dδ/dε; all over a factor."""

    delta: float
    error: float
    slope: float


class FewBetween:
    """Independent Laplace losses and responses, each kind with a count, for outcomes in which at
    most `most` Laplace losses lie between their atoms."""

    def __init__(self, laplaces: LaplaceTransforms, responses: ResponseTransforms | None) -> None:
        self.shifts, self.counts = laplaces.shifts, laplaces.counts
        self.eps = np.zeros(0) if responses is None else responses.eps
        self.more = np.zeros(0) if responses is None else responses.counts
        self.many = float(self.counts.sum())
        self.top = float(self.counts @ self.shifts + self.more @ self.eps)
        self._known: dict[int, Floats] = {}

    def is_listed(self) -> bool:
        """Whether the sums of atoms are few enough."""
        sums = math.prod((np.concatenate([self.counts, self.more]) + 1).tolist())
        return sums <= _MOST_SUMS and self.top < _GREATEST

    def is_whole(self) -> bool:
        """Whether all losses between may be told."""
        return self.many <= _MOST_BETWEEN

    def choices(self) -> range:
        """Returns the numbers of losses between that may be told."""
        return range(int(min(self.many, _MOST_BETWEEN)) + 1)

    def share(self, most: int, epsilon: float, log_factor: float) -> DeltaShare:
        """Returns the share of the outcomes in δ(ε), over e^`log_factor`, no less than Chernoff's
        bound."""
        sums, logs, _ = self._sums
        slips = 8 * UNIT * (len(self.shifts) + len(self.eps) + 4) * (self.top + abs(epsilon))
        above = sums - epsilon
        seen = above > -slips
        above = np.maximum(above[seen], 0.0)
        each = np.exp(logs[seen] - log_factor) * self._marks(most)[:, seen]
        size, curves = np.abs(each), _curves(most, above)
        error = _ROUNDINGS * float((size * curves[1:]).sum())
        error += slips * float((size * (curves[1:] + curves[:-1])).sum())
        slope = float((each * (curves[:-1] - curves[1:])).sum()) / 2
        return DeltaShare(float((each * curves[1:]).sum()), error, slope)

    def on_line(self, most: int, theta: float, t: Floats) -> tuple[Any, Floats]:
        """Returns the part of these outcomes in M(θ+it)/M(θ) of the Laplace losses, and its
        error."""
        both = 1 + 2 * theta
        z = 1 / (both + 2j * t)
        total: list[Any] = [np.ones(1)]
        sizes: list[Any] = [np.ones(1)]
        error = np.full(len(t), _ROUNDINGS)
        for a, count in zip(self.shifts.tolist(), self.counts.tolist(), strict=True):
            more, less = 1 + math.exp(-both * a), -math.expm1(-both * a)
            whole = more + less / both
            cos, sin = np.cos(a * t), np.sin(a * t)
            atoms, between = more * cos + 1j * less * sin, less * cos + 1j * more * sin
            total = _times(total, _power(atoms / whole, between * z / whole, count, most))
            # No less than these, and hardly more where a·t is small.
            between = (less + more * np.minimum(a * t, 1.0)) * np.abs(z)
            sizes = _times(sizes, _power(np.full(1, more / whole), between / whole, count, most))
            error += 16 * UNIT * count * (4 + a * t)
        return sum(total[: most + 1]), sum(sizes[: most + 1]) * error

    def beyond(self, most: int, theta: float, t: Floats) -> Floats:
        """ln of an upper bound of what all other outcomes have in |M(θ+iu)/M(θ)| of the Laplace
        losses, for all u beyond each t: Σ_{j>J} C(N,j)·|z|^j is at most the first term times
        (1+|z|)^(N-J-1)."""
        both, j = 1 + 2 * theta, most + 1
        if j > self.many:
            return np.full(len(t), -math.inf)
        more, less = 1 + np.exp(-both * self.shifts), -np.expm1(-both * self.shifts)
        atoms = float(self.counts @ np.log(more / (more + less / both)))
        z = 1 / np.hypot(both, 2 * t)
        first = math.log(math.comb(int(self.many), j)) + j * np.log(z)
        bound: Floats = atoms + first + (self.many - j) * np.log1p(z) + 1e-9
        return bound

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """Returns the sums of atoms, ln of their weights, and how many Laplace losses are at the
        lower."""
        below, logs, lower = np.zeros(1), np.zeros(1), np.zeros(1)
        sizes = zip(self.shifts.tolist(), self.counts.tolist(), strict=True)
        kinds = [(a, n, math.log(2), 1) for a, n in sizes]
        for e, n in zip(self.eps.tolist(), self.more.tolist(), strict=True):
            kinds.append((e, n, math.log1p(math.exp(-e)), 0))
        for size, count, each, marked in kinds:
            k = np.arange(int(count) + 1, dtype=np.float64)
            ways = _log_ways(int(count))
            below = np.add.outer(below, 2 * size * k).ravel()
            logs = np.add.outer(logs, ways - count * each - k * size).ravel()
            lower = np.add.outer(lower, marked * k).ravel()
        return self.top - below, logs, lower

    def _marks(self, most: int) -> Floats:
        """K_j(k) of each sum, a row for each j: (j+1)K_(j+1) = (N-2k)K_j - (N-j+1)K_(j-1)."""
        if most not in self._known:
            n = int(self.many)
            k = np.arange(n + 1).astype(object)
            rows, before = [k * 0 + 1], k * 0
            for j in range(most):
                rows.append(((n - 2 * k) * rows[j] - (n - j + 1) * before) // (j + 1))
                before = rows[j]
            lower = self._sums[2].astype(np.int64)
            self._known[most] = np.array([row.astype(np.float64)[lower] for row in rows])
        return self._known[most]


def _log_ways(count: int) -> Floats:
    """ln C(count, k) for all k."""
    logs, ways = [], 1
    for k in range(count + 1):
        logs.append(math.log(ways))
        ways = ways * (count - k) // (k + 1)
    return np.array(logs)


def _curves(most: int, x: Floats) -> Floats:
    """f_j(x), a row for each j from -1 to `most`."""
    y = x / 2
    found = np.empty((most + 2, len(x)))
    near = y <= _NEAR
    some = y[near]
    if len(some):
        greatest = float(some.max())
        last = int(greatest + 12 * math.sqrt(greatest) + 2 * most + 40)
        terms = np.empty((last + 1, len(some)))
        terms[0] = np.exp(-some)
        terms[1:] = some / np.arange(1, last + 1)[:, None]
        np.cumprod(terms, axis=0, out=terms)
        for m in range(most + 2):
            found[m, near] = 2 * terms[m::2].sum(axis=0)
    rest = y[~near]
    if len(rest):
        left = [1 + np.exp(-2 * rest), 1 - np.exp(-2 * rest)]
        term = 2 * np.exp(-rest)
        for m in range(most + 2):
            found[m, ~near] = left[m % 2]
            left[m % 2] = left[m % 2] - term
            term = term * rest / (m + 1)
    return found


def _power(atoms: Any, between: Any, count: float, most: int) -> list[Any]:
    """Returns the coefficients of (atoms + between·x)^count up to x^most."""
    return [
        math.comb(int(count), j) * np.power(atoms, count - j) * between**j
        for j in range(int(min(count, most)) + 1)
    ]


def _times(one: list[Any], other: list[Any]) -> list[Any]:
    """Returns the product of two polynomials."""
    found: list[Any] = [0.0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] = found[i + j] + a * b
    return found
