"""The keys of forms in a spec: their names, the sorts of their values, and what numbers must be."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Literal, NamedTuple

#: The direction in which a parameter is rounded so that no bound falls below the truth.
Safe = Literal["up", "down"]
#: A change of a value after which a spec claims no more than before: a larger number, a smaller
#: one, or none at all.
Weaker = Literal["larger", "smaller", "absent"]


class Need(NamedTuple):
    """A requirement on a number in a spec: `says` names it; `code` and `hint` are reported if it is
    violated.

    `fits`: returns whether a number satisfies it; None if any number of at least 0 does. `signed`:
    numbers below 0 may satisfy it.
    """

    says: str
    code: str
    hint: str | None
    fits: Callable[[Fraction], bool] | None = None
    signed: bool = False


NUMBER = Need("0 or more", "DPC111", None)
POSITIVE = Need("above 0", "DPC111", None, lambda value: value > 0)
NOISE = Need("above 0", "DPC114", "without noise nothing is protected", lambda value: value > 0)
STEPS = Need(
    "a whole number",
    "DPC115",
    "this noise is for whole numbers: say by how many whole steps one row moves them "
    "(of a vector, in all coordinates together: L1)",
    lambda value: value.denominator == 1,
)
WHOLE_L2 = STEPS._replace(
    hint="this noise is for whole numbers: say how far one row moves them in L2 (of a vector, "
    "`{l2_squared: …}` is the sum of the squares)"
)


class Sort(Enum):
    """The type of the value at a key."""

    WHOLE = "a whole number"
    SEVERAL = "a whole number from 2 on"
    NAME = "a name"
    COLUMN = "a column"
    COLUMNS = "a list of columns"
    FLAG = "true or false"
    CHOICE = "one of some words"
    NUMBER = "a number"
    MOVES = "a number, or one for rows added and one for rows replaced"
    BLOCKS = "a number of blocks, or their names"
    FEEDS = "for each kind of row the names of blocks"
    RUN = "a mechanism, or a list of mechanisms, without names"
    RUNS = "a law of a number of runs"


#: The default of a key that must be given.
REQUIRED = object()


class FormKey(NamedTuple):
    """A key of a family in a spec: its name, the type of its value, and its meaning.

    `default`: REQUIRED, or the value where the key is left out. `choices`: the words of a choice.
    `need`: the requirement on numbers. `noise`: a larger value is more noise, so that the value is
    divided where losses are scaled up. `fact`: a limit of the data, or a δ, which is never scaled.
    `exactly`: it must be rational, as neither direction is known to be safe. `weaker`: what claims
    less of the data than the value does; any other change is a new claim.
    """

    name: str
    sort: Sort
    says: str
    default: object = REQUIRED
    choices: tuple[str, ...] = ()
    need: Need = NUMBER
    noise: bool = False
    fact: bool = False
    exactly: bool = False
    weaker: tuple[Weaker, ...] = ()

    @property
    def safe(self) -> Safe | None:
        """Returns the direction in which its value may be rounded; None if in neither."""
        return None if self.exactly else "down" if self.noise else "up"
