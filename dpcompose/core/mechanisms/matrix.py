"""Gaussian noise that is correlated over steps: tree aggregation and matrix mechanisms."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import product
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import (
    FamilyForm,
    drawn_by,
    family_theorem,
    noise_key,
)
from dpcompose.core.mechanisms.gaussian import OneGaussian
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import NUMBER, FormKey, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves.rounding import number, plural, sqrt_up

#: Up to so many participations the worst steps are searched; beyond, their sum is bounded.
_MOST_SEARCHED = 200
#: In up to so many trees, of so many participations in all, the steps between two participations in
#: two trees are counted.
_MOST_JOINED, _MOST_APART = 16, 50
#: About so many places of participations in a tree are told apart: in one of few steps, all.
_MOST_PLACES = 512

#: μ² and ρ of noise over steps: m is the square of how far a row moves what the noise is added to.
_OVER_STEPS = {
    Notion.GDP: "(s / sigma) ** 2 * u * m",
    Notion.ZCDP: "(s / sigma) ** 2 * u * m / 2",
}


@dataclass(frozen=True, slots=True)
class Tree(OneGaussian):
    """Adds Gaussian noise of standard deviation `sigma` to the sum at each node of a binary tree.

    A row adds a vector to at most `participations` steps, at least `min_separation` apart; a shift
    is the L2 norm of one such vector, in units of the root of `unit`. The tree has `steps` leaves
    and is begun anew `restarts` times.
    """

    stays_open: ClassVar[str | None] = "a tree"
    FORMULAS: ClassVar[dict[Notion, str]] = _OVER_STEPS
    sigma: Fraction
    steps: int
    participations: int = 1
    min_separation: int = 1
    restarts: int = 0
    unit: Fraction = Fraction(1)

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"sigma": self.sigma, "u": self.unit, "m": self._squares}

    def mu_squared(self, shift: Fraction) -> Fraction:
        return correlated_noise((shift / self.sigma) ** 2 * self.unit, Fraction(self._squares))

    def describe(self, shift: Fraction) -> str:
        norm = number(sqrt_up(shift * shift * self.unit * self._squares))
        tree = f"tree of {plural(self.steps, 'step')}"
        return f"{tree}, Gaussian noise of σ = {number(self.sigma)}, sensitivity {norm} in all"

    @property
    def _squares(self) -> int:
        """Returns the largest sum, over the nodes of the tree, of the square of a row's
        participations below."""
        return squares_in_tree(
            self.steps, self.participations, self.min_separation, self.restarts + 1
        )


@dataclass(frozen=True, slots=True)
class Matrix(OneGaussian):
    """Releases C·x plus Gaussian noise of standard deviation `sigma`, C lower triangular.

    x has a row for each step. A table row adds a vector to at most `participations` of them, at
    least `min_separation` apart; a shift is the L2 norm of one such vector, in units of the root of
    `unit`. C has `bands` bands (None: any number) and columns of norm at most `column_norm`.
    """

    stays_open: ClassVar[str | None] = "a matrix mechanism"
    FORMULAS: ClassVar[dict[Notion, str]] = _OVER_STEPS
    sigma: Fraction
    column_norm: Fraction
    participations: int = 1
    min_separation: int = 1
    bands: int | None = None
    unit: Fraction = Fraction(1)

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"sigma": self.sigma, "u": self.unit, "m": self._squares}

    def mu_squared(self, shift: Fraction) -> Fraction:
        return correlated_noise((shift / self.sigma) ** 2 * self.unit, self._squares)

    def describe(self, shift: Fraction) -> str:
        norm = number(sqrt_up(shift * shift * self.unit * self._squares))
        noise = f"matrix mechanism, Gaussian noise of σ = {number(self.sigma)}"
        return f"{noise}, sensitivity {norm} in all"

    @property
    def _squares(self) -> Fraction:
        """Returns the square of how far one row moves C·x, for vectors of norm 1."""
        apart = self.bands is not None and self.bands <= self.min_separation
        times = self.participations if apart else self.participations**2
        return times * self.column_norm**2


@family_theorem(
    "correlated-noise",
    title="Tree aggregation and matrix mechanisms as one Gaussian",
    formula="μ² = Δ²·s²/σ²",
    notion=Notion.GDP,
    given=drawn_by("noise over steps", Tree, Matrix),
)
def correlated_noise(each: Fraction, moved: Fraction) -> Fraction:
    """Returns μ² = (Δ/σ)²·s² of correlated Gaussian noise.

    `each`: (Δ/σ)²; `moved`: s², how far a row with vectors of norm 1 moves what the noise is added
    to, squared.
    """
    return each * moved


@lru_cache(maxsize=256)
def squares_in_tree(steps: int, participations: int, separation: int, trees: int) -> int:
    """Returns the largest sum, over the nodes of binary trees, of the square of a row's
    participations below.

    `steps`: leaves of each of the `trees`, one after the other. `participations`: the most of a
    row, at least `separation` steps apart. Of the steps of one tree, and of all trees in a row, so
    many are so far apart at most as are multiples of the separation. In more than a few trees how
    they fall into each is left open, so that the sum is at least that of every way of taking part.
    """
    in_one = min(participations, -(-steps // separation))
    participations = min(participations, trees * in_one, -(-trees * steps // separation))
    heights = range(steps.bit_length())
    caps = [min(in_one, -((-1 << height) // separation)) for height in heights]
    if participations > _MOST_SEARCHED:
        # At each height so many nodes are complete, with at most `cap` participations each.
        return sum(
            _most_squares(participations, cap, trees * (steps >> height))
            for height, cap in zip(heights, caps, strict=True)
        )
    # Below this height a node has one participation at most, as if at both of its ends at once.
    whole = min(max(separation * in_one // _MOST_PLACES, 1).bit_length(), separation.bit_length())
    below: list[_Ways] = []
    for height, cap in enumerate(caps):
        if height < whole:
            size = 1 << height
            below.append([[(size, size, 0)], [(size - 1, size - 1, height + 1)]])
            continue
        two = _join(below[-1], below[-1], separation - 1, cap)
        below.append([[(a, b, most + n * n) for a, b, most in two[n]] for n in range(len(two))])
    roots = [below[height] for height in reversed(heights) if steps >> height & 1]
    ways = reduce(lambda one, other: _join(one, other, separation - 1, in_one), roots)
    if trees <= _MOST_JOINED and participations <= _MOST_APART:
        ways = reduce(
            lambda one, other: _join(one, other, separation - 1, participations), [ways] * trees
        )
        return max(most for each in ways for _, _, most in each)
    tree = [max(most for _, _, most in each) for each in ways if each]
    found = [0]
    while trees:
        if trees & 1:
            found = _together(found, tree, participations)
        tree = _together(tree, tree, participations)
        trees >>= 1
    return max(found)


def _most_squares(participations: int, cap: int, nodes: int) -> int:
    """Returns the largest sum of squares of so many participations over `nodes` nodes with at most
    `cap` each."""
    full, rest = divmod(participations, cap)
    return cap**2 * min(full, nodes) + (rest**2 if full < nodes else 0)


#: By the number of participations below a node those ways that are no worse than another one: the
#: free steps before the first and after the last participation, and the sum over nodes.
_Ways = list[list[tuple[int, int, int]]]


def _join(one: _Ways, other: _Ways, between: int, most: int) -> _Ways:
    """Returns the ways of distributing participations over two neighbouring parts of a tree
    together.

    `between`: the least number of free steps between two participations; `most`: of participations
    in all.
    """
    found: list[set[tuple[int, int, int]]] = [
        set() for _ in range(min(most, len(one) + len(other) - 2) + 1)
    ]
    for n, first in enumerate(one):
        for m, second in enumerate(other[: most - n + 1]):
            for (before, end, here), (start, after, there) in product(first, second):
                if not n or not m or end + start >= between:
                    free = before if n else before + start, after if m else end + after
                    found[n + m].add((min(free[0], between), min(free[1], between), here + there))
    return [_no_worse(each) for each in found]


def _no_worse(ways: set[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Returns those ways that leave more steps free, or have a larger sum, than each other one."""
    kept: list[tuple[int, int, int]] = []
    # Of those kept: the steps free after each, in order, and beside it the sum of the best one
    # that leaves as many; fewer steps have larger sums.
    afters: list[int] = []
    sums: list[int] = []
    for way in sorted(ways, reverse=True):
        _, after, most = way
        end = bisect_left(afters, after)
        if end < len(sums) and sums[end] >= most:
            continue
        kept.append(way)
        if end < len(afters) and afters[end] == after:
            end += 1
        begin = end
        while begin and sums[begin - 1] <= most:
            begin -= 1
        afters[begin:end], sums[begin:end] = [after], [most]
    return kept


def _together(one: list[int], other: list[int], most: int) -> list[int]:
    """Returns, by the number of participations in all, the largest sum over two parts of a tree.

    `one`, `other`: the same of each part; `most`: of participations in all.
    """
    return [
        max(
            one[count] + other[both - count]
            for count in range(max(0, both - len(other) + 1), min(both, len(one) - 1) + 1)
        )
        for both in range(min(most, len(one) + len(other) - 2) + 1)
    ]


_SIGMA = noise_key("sigma", "The standard deviation of the noise.")
_PARTICIPATIONS = FormKey("participations", Sort.WHOLE, "In how many steps one row is at most.", 1)
_SEPARATION = FormKey(
    "min_separation", Sort.WHOLE, "How many steps later a row takes part again, at least.", 1
)
_TRUSTED = Assumption(
    "{}: rows take part in steps as stated, and the noise is drawn from exactly the law stated",
    shortly="noise and participations as stated",
)

FORM = FamilyForm(
    name="tree",
    family=Tree,
    about="Gaussian noise on the nodes of a binary tree over steps, for all running sums.",
    keys=(
        _SIGMA,
        FormKey("steps", Sort.WHOLE, "How many steps a tree has."),
        _PARTICIPATIONS,
        _SEPARATION,
        FormKey("restarts", Sort.WHOLE, "How many times a new tree of as many steps begins.", None),
    ),
    sensitivity=NUMBER,
    norm="L2",
    states=("gdp",),
    trusted=_TRUSTED,
    over_steps=True,
    make=lambda sigma, steps, participations, min_separation, restarts: Tree(
        sigma, steps, participations, min_separation, restarts or 0
    ),
)
MATRIX = FORM._replace(
    name="matrix",
    family=Matrix,
    about="Gaussian noise on C·x, for a lower triangular matrix C and a row of x for each step.",
    keys=(
        _SIGMA,
        FormKey("column_norm", Sort.NUMBER, "The largest L2 norm of a column of C.", fact=True),
        _PARTICIPATIONS,
        _SEPARATION,
        FormKey("bands", Sort.WHOLE, "How many diagonals of C are not 0.", None),
    ),
    moved="1",
    make=None,
)
