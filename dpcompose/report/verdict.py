"""Whether certified bounds meet a budget, and which of several budgets are the strictest."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING

from dpcompose.core.notions.guarantee import Budget, Quantity
from dpcompose.core.notions.notion import CONVERTS, Notion, convert
from dpcompose.report import At, Bound, Verdict

if TYPE_CHECKING:
    from dpcompose.curves import TradeOff

#: A number at a δ that is better by less than this (relative) does not replace the verdict.
NEARLY = Fraction(1, 10**6)


def verdict(limit: Budget, bounds: Iterable[Bound]) -> Verdict:
    """Returns the verdict on a budget by bounds that all hold (none: there is no finite bound).

    A bound is converted to the budget's parameters where possible; the one that leaves most slack
    decides. Budgets in risk are for `of_risk`.
    """
    asked = dict(limit.parameters)
    held = list(bounds)
    found = [(_slack(asked, bound), bound) for bound in held]
    if not found:
        return Verdict(limit, False, None, "there is no finite bound")
    comparable = [(each, bound) for each, bound in found if not isinstance(each, str)]
    if not comparable:
        return Verdict(limit, False, None, next(each for each, _ in found if isinstance(each, str)))
    (slack, fits), best = max(comparable, key=lambda each: (each[0][1], each[0][0]))
    by = None if best is held[0] else best
    if slack >= 0 and not fits:
        return Verdict(limit, False, slack, "δ is above the budget's δ", by)
    return Verdict(limit, slack >= 0 and fits, slack, None, by)


def of_risk(limit: Budget, curve: TradeOff | None) -> Verdict:
    """Returns the verdict on a budget in risk by a trade-off curve (None: no finite bound)."""
    if curve is None:
        return Verdict(limit, False, None, "there is no finite bound")
    from dpcompose.core.at_delta.worst_trade_off import amount_of_risk

    slack = limit.parameters[0][1] - amount_of_risk(curve, limit)
    return Verdict(limit, slack >= 0, slack)


def _slack(asked: dict[str, Fraction], bound: Bound) -> tuple[Fraction, bool] | str:
    """Returns (slack in the main parameter, whether δ fits), or why the two cannot be compared."""
    notion = bound.notion
    if "epsilon" in asked:
        return _epsilon_slack(asked["epsilon"], asked.get("delta"), bound)
    name, wanted = ("rho", Notion.ZCDP) if "rho" in asked else ("mu", Notion.GDP)
    if wanted not in CONVERTS[notion]:
        return (
            f"{notion.facts.words} gives no {name} without a δ; "
            f"a budget in {'ρ' if notion is Notion.ZCDP else 'ε and δ'} would be comparable"
        )
    if notion is wanted:
        return asked[name] - bound.value, True
    value, _ = wanted.value_of(Fraction(convert(_amount(bound), notion, wanted)))
    return asked[name] - value, True


def _epsilon_slack(
    epsilon: Fraction, delta: Fraction | None, bound: Bound
) -> tuple[Fraction, bool] | str:
    """Returns (slack in ε, whether δ fits) for a budget in ε, or why they cannot be compared."""
    notion = bound.notion
    if notion is Notion.PURE:
        return epsilon - bound.value, True
    if notion is Notion.APPROX:
        allowed = delta if delta is not None else Fraction(0)
        if delta is None and bound.delta:
            return "the bound has a δ; a budget with epsilon and delta would be comparable"
        return epsilon - bound.value, (bound.delta or Fraction(0)) <= allowed
    if not delta:
        return (
            f"{notion.facts.words} gives an ε only at a δ; "
            f"a budget with {notion.facts.symbol}, "
            "or with epsilon and a positive delta, would be comparable"
        )
    from dpcompose.core.at_delta.chosen import of_bound
    from dpcompose.curves import Point

    _, spent = of_bound(Quantity(notion, _amount(bound)), Point(delta=delta))
    if spent is None:
        return f"no ε of {notion.facts.words} is known at so small a δ"
    return epsilon - spent.upper, True


def _amount(bound: Bound) -> Fraction:
    """Returns a bound in the unit in which its notion adds up: μ² for GDP, else its parameter."""
    return bound.notion.amount_of(bound.value)


def implies(one: Budget, other: Budget) -> bool:
    """Returns whether whatever meets budget `one` meets `other`: the same unit, and no larger.

    A budget in ε without a δ allows no δ; one in success holds for all smaller baselines.
    """
    small, large = dict(one.parameters), dict(other.parameters)
    if "baseline" in small and "baseline" in large:
        return small["success"] <= large["success"] and small["baseline"] >= large["baseline"]
    if "epsilon" not in small or "epsilon" not in large:
        return small.keys() == large.keys() and all(small[key] <= large[key] for key in small)
    none = Fraction(0)
    return small["epsilon"] <= large["epsilon"] and small.get("delta", none) <= large.get(
        "delta", none
    )


def strictest_limits(limits: Iterable[Budget]) -> tuple[Budget, ...]:
    """Returns the budgets that no other one implies, in order; if these are met, all are."""
    kept: list[Budget] = []
    for each in limits:
        if not any(implies(known, each) for known in kept):
            kept = [known for known in kept if not implies(each, known)] + [each]
    return tuple(kept)


def deltas_of(asked: Budget | None) -> list[Fraction]:
    """Returns the δ that a budget names, as a list of one, or an empty list."""
    return [] if asked is None else [value for name, value in asked.parameters if name == "delta"]


def sharper(decision: Verdict, ats: Iterable[At]) -> Verdict:
    """Returns the verdict by the ε at the budget's δ (out of `ats`) if that leaves more of the
    budget, else the given one."""
    asked = dict(decision.limit.parameters)
    at = next((at for at in ats if at.given == asked.get("delta")), None)
    if at is None or at.value is None or "epsilon" not in asked:
        return decision
    slack = asked["epsilon"] - at.value
    if decision.ok and decision.slack is not None:
        held = asked["epsilon"] - decision.slack
        if at.value >= held * (1 - NEARLY):
            return decision
    if not decision.ok and decision.why is None and decision.slack is not None:
        slack = max(slack, decision.slack)
    return Verdict(decision.limit, slack >= 0, slack, at=at)
