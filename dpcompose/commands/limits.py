"""The budget flags of `check`: exact numbers as in a spec, in combinations that make sense."""

from __future__ import annotations

from fractions import Fraction

from dpcompose.commands.exits import BadCall
from dpcompose.core.exact_expr import ExpressionError, parse
from dpcompose.report import Limit


def limit_of(
    epsilon: str | None, delta: str | None, rho: str | None, mu: str | None
) -> Limit | None:
    """The budget that the flags give, None without any. Raises BadCall."""
    texts = {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu}
    given = {name: _number(name, text) for name, text in texts.items() if text is not None}
    if not given:
        return None
    names = " and ".join(f"--{name}" for name in given)
    if list(given) == ["delta"]:
        raise BadCall("--delta needs --epsilon")
    if len(given) > 1 and list(given) != ["epsilon", "delta"]:
        raise BadCall(f"{names} are budgets in different notions: give one of them")
    if given.get("delta", Fraction(0)) >= 1:
        raise BadCall(f"--delta {delta}: a probability below 1 is due")
    return Limit(tuple(given.items()))


def _number(name: str, text: str) -> Fraction:
    try:
        value = parse(text, {})
    except ExpressionError as error:
        raise BadCall(f"--{name} {text}: not a number: {error.message}") from error
    if value < 0:
        raise BadCall(f"--{name} {text}: a number ≥ 0 is due")
    return value
