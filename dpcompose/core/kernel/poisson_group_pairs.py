"""The ε or (ε, δ) of several rows through one Poisson sample, as a mixture over those drawn."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpcompose.core.change.drawn_rows import draws_of, shared_out
from dpcompose.core.change.propagation import as_it_is, become
from dpcompose.core.change.units import (
    OLD_END,
    SINGLE,
    ChangeUnit,
    Kind,
    State,
    all_leaves,
    rows_that_change_alike,
    single_units,
    with_alike,
)
from dpcompose.core.loss.algebras import Loss, Pairs, Scalars
from dpcompose.core.loss.amplification import Chance, mixed
from dpcompose.core.loss.pattern_algebra import Algebra, all_lost
from dpcompose.core.loss.walk import Walk
from dpcompose.core.notions.notion import Notion
from dpcompose.core.theorem import Refused
from dpcompose.curves.rounding import several_exchanged_up

#: Asks for the loss of a drawn part of the change, each unit of which becomes what a function says.
Ask = Callable[[State, Callable[[ChangeUnit], ChangeUnit]], Walk]


def some_drawn(
    algebra: Scalars | Pairs, state: State, rate: Fraction, one_sided: bool, ask: Ask
) -> Walk:
    """Bounds the loss of one draw, by the mixtures over the parts of the change that are drawn.

    `one_sided`: all rows are in the same one of the two tables; else in either. Raises `Refused`
    where a path of single units, or of the rows of one, gives the same.
    """
    if algebra.notion not in (Notion.PURE, Notion.APPROX):
        raise Refused("it is about an ε, or (ε, δ)")
    units = all_leaves(state)
    if not all(
        leaf.kind in (Kind.SINGLE, Kind.PAIR) or (leaf.kind is Kind.USER and leaf.size is not None)
        for leaf in units
    ):
        raise Refused("it is for a known number of rows")
    if units.total() == 1 and all(leaf.kind is not Kind.USER for leaf in units):
        raise Refused("it is for several rows")
    whole = yield from ask(state, as_it_is)
    path: list[tuple[Loss, int]] = []
    for unit, count in single_units(state):
        path.append(((yield from ask(unit, as_it_is)), count))
    if units.total() == 1:
        [leaf] = units
        path = [((yield from ask(state, become(SINGLE))), int(leaf.size or 1))]
    if whole == algebra.chain(path) and (whole or isinstance(algebra, Scalars)):
        raise Refused("a path says the same")
    ways = [(state, ()), ((), state)] if one_sided else shared_out(state)
    if ways is None:
        raise Refused("there are too many ways of sharing out the rows")
    known: dict[State, list[Chance]] = {}
    for part in dict.fromkeys(part for way in ways for part in way):
        listed = draws_of(part, rate)
        if listed is None:
            raise Refused("there is too much that may be drawn")
        known[part] = []
        for some, chance in listed:
            loss = (yield from of_part(algebra, some, ask)) if some else algebra.zero
            known[part].append((chance, loss))
    found = [mixed(algebra, known[more], known[fewer]) for more, fewer in ways]
    if None in found:
        raise Refused("some part of the change loses too much")
    # It also loses no more than all rows that change.
    return algebra.best([algebra.worst_case(found), whole])


def replaced_alike(algebra: Scalars | Pairs, state: State, rate: Fraction, ask: Ask) -> Walk:
    """Bounds the ε of replaced rows of which some are drawn, of each both ends or none.

    Returns `algebra.none` where it is not known.
    """
    ways: list[tuple[Fraction, Fraction, Fraction]] = []
    pairs = all(leaf.kind is Kind.PAIR for leaf in all_leaves(state))
    if algebra.notion is not Notion.PURE or not pairs or (rows_that_change_alike(state) or 0) < 2:
        return algebra.none
    for some, chance in draws_of(state, rate) or ():
        if some:
            once, both = (yield from ask(some, become(OLD_END))), (yield from ask(some, as_it_is))
            if isinstance(once, float) or isinstance(both, float):
                return algebra.none
            ways.append((chance, once, both))
    found = several_exchanged_up(ways)
    return algebra.none if found is None else found


def of_part(
    algebra: Algebra, part: State, ask: Ask, become: Callable[[ChangeUnit], ChangeUnit] = as_it_is
) -> Walk:
    """Bounds the loss of a part of the change that may be drawn.

    δ = 1 where the part is of several rows or users, each with a known loss, and their δ reach 1.
    """
    loss: Loss = yield from ask(part, become)
    if loss != algebra.none:
        return loss
    units = single_units(part)
    if len(units) == 1 and units[0][1] == 1:
        if (rows_that_change_alike(part) or 1) == 1:
            return loss
        units = [(with_alike(part, 1), 1)]
    for unit, _ in units:
        if (yield from ask(unit, become)) == algebra.none:
            return loss
    return all_lost(algebra)
