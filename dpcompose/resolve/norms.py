"""Sensitivities in one norm or another: what is said, in the norm that the noise is for.

In L1 the moves of all coordinates add up, in L2 their squares do. A bound in L1 is one in L2. The
other way it takes √d for d coordinates; of whole numbers L1 is at most the square of L2, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Literal, NamedTuple

from dpcompose.core.mechanisms.discrete_gaussian import DiscreteGaussian
from dpcompose.core.mechanisms.family import FamilyForm
from dpcompose.core.mechanisms.gaussian import Gaussian
from dpcompose.core.mechanisms.matrix import Matrix, Tree
from dpcompose.core.mechanisms.one_hot import OneHot
from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.numbers.form_keys import NUMBER, STEPS, WHOLE_L2, Need
from dpcompose.curves.rounding import ZERO, is_square, sqrt_up
from dpcompose.errors import Path
from dpcompose.faults import Faults
from dpcompose.spec.mechanisms import Normed

#: "one-hot": a distance in L1 of which half is what a row takes away, and half what it adds.
Norm = Literal["L1", "L2", "one-hot"]
_ONE = Fraction(1)
_WHOLE = STEPS._replace(
    hint="this noise is for whole numbers: what one row adds to one is whole, and so are "
    "the squares",
)
_SOME_L2 = Need(
    "0, or at least 1",
    "DPC115",
    "this noise is for whole numbers: what moves one of them moves it by 1 at least",
    lambda value: not value or value >= 1,
)
#: A number as it is written at a place.
Read = Callable[[str, Path, Need], Fraction | None]


class Moves(NamedTuple):
    """A sensitivity in a norm (L1 or L2).

    `unit`: the square of the unit of a distance in L2; `each`: how far one row moves one
    coordinate, where that is known for all rows (0: not known). `most`: the most steps of whole
    numbers for each unit of a distance in L2, their L1 norm (0: not known).
    """

    norm: Norm | None
    distance: Fraction
    unit: Fraction = _ONE
    each: Fraction = ZERO
    most: Fraction = ZERO

    def family(self, made: Family) -> Family:
        """Returns the mechanism, with its shifts in this norm and this unit."""
        if self.norm == "one-hot":
            return OneHot(made, self.each)
        if isinstance(made, DiscreteGaussian) and self.norm is not None:
            return DiscreteGaussian(made.sigma, self.norm, self.unit, self.most)
        return replace(made, unit=self.unit) if isinstance(made, Gaussian | Tree | Matrix) else made

    def inside(self, unit: Fraction) -> Moves:
        """Returns the sensitivity in L2 and in another unit, rounded up.

        A distance in L1 is at least that in L2, so that it is a bound there.
        """
        inside = sqrt_up(self.distance**2 * self.unit / unit)
        return Moves("L2", inside, unit).taking(self.steps)

    @property
    def steps(self) -> Fraction:
        """Returns how many steps of whole numbers it is: the L1 norm."""
        return self.distance if self.norm == "L1" else self.distance * self.most

    def taking(self, steps: Fraction) -> Moves:
        """Returns the sensitivity in L2 with this L1 norm."""
        return self._replace(most=steps / self.distance) if self.distance else self


def read_norms(
    given: Normed,
    at: Path,
    form: FamilyForm,
    read: Read,
    faults: Faults,
    replaced: bool,
    alone: bool,
) -> list[Moves] | None:
    """Returns a sensitivity with named norms, in each norm of use for this noise; None after an
    error.

    `replaced`: it is for a row replaced, not for one added or removed; `alone`: no other
    sensitivity is given.
    """
    assert form.sensitivity is not None
    if form.norm is None:
        says = f"the sensitivity of `mechanism: {form.name}` is of a score, which has no norm"
        faults.add("DPC158", at, says, "write a number")
        return None
    values = {
        key: read(text, (*at, key), _need(form, key))
        for key in ("l1", "l2", "l2_squared")
        if (text := getattr(given, key)) is not None
    }
    if given.one_hot is not None:
        if values:
            says = f"`one_hot` and `{next(iter(values))}` exclude each other"
            faults.add("DPC105", (*at, "one_hot"), says, "`one_hot` says all norms", key=True)
            return None
        most = read(given.one_hot, (*at, "one_hot"), _need(form, "one_hot"))
        return None if most is None else _one_hot(form, most, replaced, alone)
    if not values:
        faults.add(
            "DPC102", at, "a sensitivity in a norm needs `l1`, `l2` or `l2_squared`", key=True
        )
    known = {key: value for key, value in values.items() if value is not None}
    if not values or len(known) < len(values):
        return None
    found = _in_norm(form, known, given.dimension)
    if found is None:
        says = f"`mechanism: {form.name}` needs a sensitivity in L1, and L2 says nothing of it"
        faults.add("DPC158", at, says, "give `l1`, or how many coordinates there are: `dimension`")
    return found


def _one_hot(form: FamilyForm, most: Fraction, replaced: bool, alone: bool) -> list[Moves] | None:
    """Returns the sensitivities of a vector of which each row adds a number from 0 to `most` to one
    coordinate; None where the noise has no use for them.

    `replaced`: for a row replaced; `alone`: no other sensitivity is given. A row replaced leaves
    one coordinate and enters another, by `most` each at most; or it moves one of them by the
    difference, which is no more than `most`. Gaussian noise is as good in L2.
    """
    times = 2 if replaced else 1
    found = _in_norm(form, {"l1": times * most, "l2_squared": times * most**2}, None)
    if found is None or not (form.whole or form.norm == "L1"):
        return found
    return [*found, Moves("one-hot", 2 * most, each=most if alone else ZERO)]


def _need(form: FamilyForm, key: str) -> Need:
    """Returns the requirement on a sensitivity in a norm: of noise on whole numbers, a possible
    value."""
    if not form.whole:
        return NUMBER
    if key == "l2":
        return WHOLE_L2 if form.norm == "L2" else _SOME_L2
    return STEPS if key == "l1" else _WHOLE


def plain(form: FamilyForm, given: Fraction) -> list[Moves]:
    """Returns a sensitivity without a named norm in the default norm of the noise."""
    if form.norm == "L2" and form.whole:
        one = Moves("L1", given)
        return [one if given <= 1 else Moves("L2", given).taking(given * given)]
    return [Moves(form.norm, given)]


def _in_norm(
    form: FamilyForm, known: dict[str, Fraction], dimension: int | None
) -> list[Moves] | None:
    """Returns the least sensitivity in each norm of use for the noise, out of those in `known` (by
    norm); None if there is none.

    `dimension`: the number of coordinates, None where unknown.
    """
    one, squares = _least_norms(form, known, dimension)
    if form.norm == "L1":
        return None if one is None else [Moves("L1", one)]
    if not form.whole:
        return [_squared(squares)]
    # A curve is known in L1, ρ in both; where they are the same the curve says all.
    found = [] if one is None or ("l1" not in known and one * one > squares) else [Moves("L1", one)]
    if one is None or one * one > squares:
        found.append(_squared(squares).taking(one or squares))
    return found


def _squared(square: Fraction) -> Moves:
    """Returns the sensitivity in L2 with this square, in a unit in which it is exact."""
    return Moves("L2", sqrt_up(square)) if is_square(square) else Moves("L2", _ONE, square)


def in_one_norm(known: list[list[Moves]]) -> list[list[Moves]]:
    """Returns the sensitivities of a mechanism, for several neighbouring relations, in one common
    norm: where norms or units differ, each relation gets its sensitivity in L2 too.

    Along a path only sensitivities in one norm and unit add up, of which each takes the steps that
    one of them takes at most.
    """
    every = {(own.norm, own.unit) for moves in known for own in moves if own.norm != "one-hot"}
    found = known
    if len(every) > 1:
        unit = max((unit for _, unit in every if unit != _ONE), default=_ONE)
        found = [
            moves
            if any((own.norm, own.unit) == ("L2", unit) for own in moves)
            else [*moves, [own for own in moves if own.norm != "one-hot"][-1].inside(unit)]
            for moves in known
        ]
    most: dict[tuple[Norm | None, Fraction], Fraction] = {}
    for own in chain(*found):
        most[own.norm, own.unit] = max(own.most, most.get((own.norm, own.unit), ZERO))
    return [[own._replace(most=most[own.norm, own.unit]) for own in moves] for moves in found]


def _least_norms(
    form: FamilyForm, known: dict[str, Fraction], dimension: int | None
) -> tuple[Fraction | None, Fraction]:
    """Returns the least L1 norm (None: unknown), and the least square of the L2 norm, that follow
    from the norms in `known`.

    `dimension`: the number of coordinates, None where unknown.
    """
    ones = [known["l1"]] if "l1" in known else []
    squares = [each**2 for key, each in known.items() if key in ("l1", "l2")]
    squares += [known["l2_squared"]] if "l2_squared" in known else []
    least = min(squares)
    if form.whole:  # sums of the squares of whole numbers are whole
        least = Fraction(math.floor(least))
        ones.append(least)
        if dimension is not None:
            ones.append(Fraction(math.isqrt(int(least * dimension))))
    elif dimension is not None:
        ones.append(sqrt_up(least * dimension))
    return min(ones, default=None), least
