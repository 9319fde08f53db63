"""Amounts of privacy loss: stated guarantees, certified bounds, and budgets."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from dpcompose.core.notions.concrete_mechanism import Family
from dpcompose.core.notions.notion import SIGNS, Amount, Notion
from dpcompose.curves.rounding import ZERO


class Guarantee(NamedTuple):
    """A guarantee for one step of a neighbouring relation.

    `value` is ε (pure, approx), ρ (zcdp) or μ (gdp). `delta` is δ for approx and 0 otherwise.
    `points` are the (α, ε) of Rényi DP, or the (ε, δ) of a profile, sorted; `value` is then 0.
    `noise`: the concrete mechanism whose guarantee this is, for a `shift` in the units of its
    sensitivities.
    """

    notion: Notion
    value: Fraction
    delta: Fraction = ZERO
    points: tuple[tuple[Fraction, Fraction], ...] = ()
    noise: Family | None = None
    shift: Fraction = ZERO

    @property
    def amount(self) -> Fraction:
        """Returns the value in the unit that adds up: ε, ρ or μ²."""
        if self.noise is not None and self.notion is Notion.GDP:
            square = self.noise.mu_squared(self.shift)
            assert square is not None
            return square
        return self.notion.amount_of(self.value)


def guaranteed(notion: Notion, noise: Family, shift: Fraction) -> Guarantee:
    """Returns the guarantee, in a notion that it has, of a concrete mechanism at a shift."""
    if notion is Notion.APPROX:
        pair = noise.pair()
        assert pair is not None
        return Guarantee(notion, *pair, noise=noise, shift=shift)
    numbers = {Notion.PURE: noise.epsilon, Notion.ZCDP: noise.rho, Notion.GDP: noise.mu}
    value = numbers[notion](shift)
    assert value is not None
    return Guarantee(notion, value, noise=noise, shift=shift)


class Quantity(NamedTuple):
    """A certified loss: `amount` in the unit that adds up (ε, ρ, μ²), with δ for approximate DP.

    `exact`: whether both are the bound itself, not a value rounded up from it.
    """

    notion: Notion
    amount: Amount
    delta: Amount = Fraction(0)
    exact: bool = True

    def plus(self, other: Quantity) -> Quantity:
        """Returns the sum of two losses in one notion: basic composition."""
        return Quantity(
            self.notion,
            self.amount + other.amount,
            self.delta + other.delta,
            self.exact and other.exact,
        )


class Bound(NamedTuple):
    """A certified bound as it is reported: `value` is ε, ρ or μ, rounded up.

    `delta`: δ for approximate DP. `exact` and `delta_exact`: whether the fraction is the bound
    itself, not a value rounded up from it.
    """

    notion: Notion
    value: Fraction
    delta: Fraction | None = None
    exact: bool = True
    delta_exact: bool = True

    @property
    def parameters(self) -> tuple[tuple[str, Fraction, bool], ...]:
        """Returns the parameters of the bound, as (name in specs, value, whether the value is
        exact)."""
        main = (self.notion.facts.symbol, self.value, self.exact)
        return (main,) if self.delta is None else (main, ("delta", self.delta, self.delta_exact))


def bound_of(quantity: Quantity) -> Bound:
    """Returns a certified loss as a bound in the notion's own parameter."""
    value, exact = quantity.notion.value_of(Fraction(quantity.amount))
    if quantity.notion is not Notion.APPROX:
        return Bound(quantity.notion, value, None, exact and quantity.exact)
    return Bound(quantity.notion, value, Fraction(quantity.delta), True, quantity.exact)


#: The keys of budgets in risk (theory, section 11).
RISKS = ("advantage", "success", "baseline")
#: The signs of all quantities that a budget can limit, by their keys in specs.
LIMITS = {**SIGNS, **{name: name for name in RISKS}}
#: The keys of each form of a budget.
FORMS = (
    ("epsilon",),
    ("epsilon", "delta"),
    ("rho",),
    ("mu",),
    ("advantage",),
    ("success", "baseline"),
)


class Budget(NamedTuple):
    """The largest loss that a result may have, as the spec or a user states it.

    `parameters`: ε, ε and δ, ρ, μ, an advantage, or a chance of success and its baseline, by their
    keys in specs.
    """

    parameters: tuple[tuple[str, Fraction], ...]

    @property
    def of_risk(self) -> bool:
        """Returns whether the budget limits an attacker's gain instead of a privacy parameter."""
        return self.parameters[0][0] in RISKS


class AskedRisk(NamedTuple):
    """The points at which an attacker's gain is reported (theory, section 11), each in (0, 1).

    `baselines`: chances at which an attack succeeds against the other table: without the person's
    data, or with another record in its place. `false_alarms`: rates at which a test takes the other
    table for the table read.
    """

    baselines: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
    false_alarms: tuple[Fraction, ...] = (Fraction(1, 100), Fraction(5, 100))
