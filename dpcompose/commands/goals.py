"""Numbers on the command line: budgets, and the δ's and ε's to state bounds at; all exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dpcompose.commands.exits import BadCall
from dpcompose.core.notions.guarantee import FORMS, RISKS, AskedRisk, Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse


class AskedPoints(NamedTuple):
    """The points to state an ε at (`deltas`, each in [0, 1)) and a δ at (`epsilons`, each ≥ 0).

    `risk`: the rates for an attacker's gain, for specs that give none.
    """

    deltas: tuple[Fraction, ...] = ()
    epsilons: tuple[Fraction, ...] = ()
    risk: AskedRisk | None = None


def points_of(
    flag: str, deltas: Sequence[str], epsilons: Sequence[str] = (), risk: bool = False
) -> AskedPoints:
    """Returns what the flags --`flag`, --at-epsilon and --risk ask for. Raises BadCall."""
    return AskedPoints(
        tuple(_probability(flag, text) for text in deltas),
        tuple(_number("at-epsilon", text) for text in epsilons),
        AskedRisk() if risk else None,
    )


def limit_of(texts: Mapping[str, str | None]) -> Budget | None:
    """Returns the budget that the flags give by their names, None without any. Raises BadCall."""
    given = {
        name: (_probability if name in ("delta", *RISKS) else _number)(name, text)
        for name, text in texts.items()
        if text is not None
    }
    if not given:
        return None
    names = " and ".join(f"--{name}" for name in given)
    if list(given) == ["delta"]:
        raise BadCall(
            "--delta is the budget's δ and needs --epsilon (to state ε at a δ: --at-delta)"
        )
    if len({"success", "baseline"} & given.keys()) == 1 and len(given) == 1:
        raise BadCall("--success is a chance from a --baseline: a budget needs both")
    if tuple(given) not in FORMS:
        raise BadCall(f"{names} are budgets in different notions: give one of them")
    if "baseline" in given and not 0 < given["baseline"] <= given["success"]:
        raise BadCall("--baseline is above 0, and not above --success")
    return Budget(tuple(given.items()))


def _number(name: str, text: str) -> Fraction:
    """Returns the number ≥ 0 that a flag gives. Raises BadCall."""
    try:
        value = parse(text, {})
    except ExpressionError as error:
        raise BadCall(f"--{name} {text}: not a number: {error.message}") from error
    if value < 0:
        raise BadCall(f"--{name} {text}: a number ≥ 0 is due")
    return value


def _probability(name: str, text: str) -> Fraction:
    """Returns the number in [0, 1) that a flag gives. Raises BadCall."""
    value = _number(name, text)
    if value >= 1:
        raise BadCall(f"--{name} {text}: a probability below 1 is due")
    return value
