"""What a theorem is: an id, where it is printed, its hypotheses, its bound.

A theorem is one decorated function. The function computes the bound from plain numbers; its
docstring is the statement that `dpcompose explain` prints. The book (`BOOK`) is filled when
`dpcompose.core.theorems` is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from dpcompose.values import dataclass

Number = TypeVar("Number")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A condition of a theorem: `checked` from the spec, or `declared` by its author."""

    name: str
    says: str
    how: Literal["checked", "declared"] = "checked"


@dataclass(frozen=True, slots=True)
class Example:
    """A worked example: the arguments of the bound, the result, and the same in words."""

    arguments: tuple[Any, ...]
    result: Any
    says: str


@dataclass(frozen=True, slots=True)
class Theorem:
    """An entry of the theorem book.

    `place` is how the source names it ("Corollary IV.13"), `source` its short name ("GMPS24").
    `formula` is the bound in one line. `spec` is an example spec that uses it, or None.
    `departs` says where the entry departs from the print, and why. `specialises` lists the
    theorems that it is a case of.
    """

    id: str
    title: str
    source: str
    place: str
    statement: str
    formula: str
    hypotheses: tuple[Hypothesis, ...]
    bound: Callable[..., Any]
    example: Example | None
    spec: str | None
    departs: str | None
    specialises: tuple[str, ...]


#: Every theorem by id, in the order of the paper.
BOOK: dict[str, Theorem] = {}

_Bound = TypeVar("_Bound", bound=Callable[..., Any])


def theorem(
    identifier: str,
    *,
    title: str,
    place: str,
    formula: str,
    hypotheses: tuple[Hypothesis, ...] = (),
    source: str = "GMPS24",
    example: Example | None = None,
    spec: str | None = None,
    departs: str | None = None,
    specialises: tuple[str, ...] = (),
) -> Callable[[_Bound], _Bound]:
    """Enter the decorated function into the book; its docstring is the statement.

    Raises ValueError if the id is taken or there is no statement.
    """

    def enter(bound: _Bound) -> _Bound:
        if identifier in BOOK:
            raise ValueError(f"theorem {identifier} is entered twice")
        if not bound.__doc__:
            raise ValueError(f"theorem {identifier} has no statement")
        BOOK[identifier] = Theorem(
            id=identifier,
            title=title,
            source=source,
            place=place,
            statement=bound.__doc__,
            formula=formula,
            hypotheses=hypotheses,
            bound=bound,
            example=example,
            spec=spec,
            departs=departs,
            specialises=specialises,
        )
        return bound

    return enter
