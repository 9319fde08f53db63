"""Randomized response: every row reports one of k values independently, mostly the true one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcompose.core.mechanisms.family import FamilyForm, Why, drawn_by, family_theorem
from dpcompose.core.notions.concrete_mechanism import EqualLosses
from dpcompose.core.notions.notion import Notion
from dpcompose.core.numbers.form_keys import POSITIVE, FormKey, Need, Sort
from dpcompose.core.theorem import Assumption
from dpcompose.curves import Curve, TwoAnswersPoints
from dpcompose.curves.families import (
    KaryResponse,
    kary_mu,
    kary_rho,
    two_answers_mu,
    two_answers_rho,
)
from dpcompose.curves.rounding import ZERO, log_inverse_up, plural, sqrt_up


@dataclass(frozen=True, slots=True)
class RandomizedResponse(EqualLosses):
    """Reports one of `k` values, the true one with odds e^ε to 1 against each other value.

    `odds` is this ε; a shift is a number of rows.
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {
        Notion.PURE: "n * e",
        Notion.ZCDP: "n * min(e * tanh(e / 2), e * (exp(e) - 1) / (exp(e) + k - 1))",
        Notion.GDP: "n * (normal_quantile(exp(e) / (exp(e) + k - 1))"
        " - normal_quantile(1 / (exp(e) + k - 1))) ** 2",
    }
    k: int
    odds: Fraction

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the formula of the least ε, ρ or μ²; None for ρ over many values, where it is
        the largest of many Rényi divergences."""
        formula, given = EqualLosses.told(self, shift, notion)
        many = (self.k - 2) ** 2 > 4 * (1 + self.odds + self.odds**2 / 2 + self.odds**3 / 6)
        return (None, {}) if notion is Notion.ZCDP and many else (formula, given)

    def parameters(self, shift: Fraction) -> dict[str, Any]:
        return {"k": self.k, "e": self.odds, "n": self.times(shift)}

    def part(self, shift: Fraction) -> KaryResponse:
        return KaryResponse(self.k, self.odds)

    def times(self, shift: Fraction) -> int:
        """Returns the number of rows, whose answers are independent."""
        return math.ceil(shift)

    def describe(self, shift: Fraction) -> str:
        return f"randomized response over {plural(self.k, 'value')}"


@dataclass(frozen=True, slots=True)
class TwoAnswers(RandomizedResponse):
    """Randomized response over two values whose answers have chances of their own.

    Their odds are at most e^ε. `high`, `low`: the chance of one answer, for the value that gives it
    more often and for the other.
    """

    FORMULAS: ClassVar[dict[Notion, str]] = {Notion.PURE: "n * e"}
    high: Fraction
    low: Fraction

    def told(self, shift: Fraction, notion: Notion) -> tuple[str | None, dict[str, Any]]:
        """Returns the formula of ε; that of ρ and μ is a search over orders."""
        return EqualLosses.told(self, shift, notion) if notion is Notion.PURE else (None, {})

    def rho(self, shift: Fraction) -> Fraction:
        return two_answers_rho(self.high, self.low) * self.times(shift)

    def mu(self, shift: Fraction) -> Fraction:
        return two_answers_mu(self.high, self.low) * sqrt_up(Fraction(self.times(shift)))

    def loss(self, shift: Fraction) -> Curve:
        """Returns the composition of one independent answer for each row.

        The hockey-sticks of both answers are lines from `high` - `low` on; the greater one ends at
        ε.
        """
        lines = ((ZERO, self.high - self.low), (self.odds, ZERO))
        points = TwoAnswersPoints(lines, self.high, self.low)
        return Curve(((points, self.times(shift)),))


ODDS = drawn_by("the odds", RandomizedResponse)


family_theorem(
    "randomized-response-zcdp",
    title="Randomized response as zCDP",
    formula="ρ = max D_α/α = ε(e^ε-1)/(e^ε+k-1) for k ≤ 2 + 2e^(ε/2)",
    notion=Notion.ZCDP,
    given=ODDS,
)(kary_rho)


family_theorem(
    "randomized-response-gdp",
    title="Randomized response as Gaussian DP",
    formula="μ = Φ⁻¹(p) - Φ⁻¹(q), p = e^ε·q, q = 1/(e^ε+k-1)",
    notion=Notion.GDP,
    given=ODDS,
)(kary_mu)


def _odds(epsilon: Fraction, lie: Fraction, k: int) -> Fraction:
    """Returns the ε of one randomized answer among k values, rounded up.

    `epsilon`: as given, or else `lie`: the chance to lie. A number that a spec leaves out is 0.
    """
    return log_inverse_up(lie / (lie + k * (1 - lie))) if lie else epsilon


def _refusal(values: Mapping[str, object], relation: str) -> Why | None:
    """Returns why randomized response cannot be used with these parameters, as (key, message,
    hint), or None.

    `values`: those of its keys in the spec. It needs `epsilon`, or `lie`, or `p` and `q`.
    """
    given = [each for each in ("epsilon", "lie", "p", "q") if values[each] != ZERO]
    if given == ["lie"] and values["k"] is None:
        return "lie", "`lie` needs `k`: how many values there are", "the more, the larger ε"
    if given in (["epsilon"], ["lie"]):
        return None
    if given == ["p", "q"]:
        if values["k"] in (None, 2):
            return None
        hint = "one of k values has `epsilon` or `lie`"
        return "k", "`p` and `q` are for two values: `k: 2`", hint
    if len(given) > 1:
        message = f"`{given[-1]}` and `{given[0]}` exclude each other"
        return given[-1], message, "either gives the other"
    if given:
        message = f"`{given[0]}` needs `{'q' if given == ['p'] else 'p'}`"
        return given[0], message, "the chances of one answer, for either value"
    message = "`mechanism: randomized-response` needs `epsilon`, `lie`, or `p` and `q`"
    return "mechanism", message, "without lies nothing is protected"


def _response(
    epsilon: Fraction, lie: Fraction, k: int | None, p: Fraction, q: Fraction
) -> RandomizedResponse:
    """Returns randomized response with these parameters of a spec; one that is left out is 0.

    `lie`: the chance to lie; `k`: the number of values, None where it is not given: two values lose
    most at an ε. `p`, `q`: the chances of one of two answers, for each of the two values.
    """
    k = 2 if k is None else k
    if epsilon or lie:
        return RandomizedResponse(k, _odds(epsilon, lie, k))
    low, high = sorted((p, q))
    odds = max(log_inverse_up(low / high), log_inverse_up((1 - high) / (1 - low)))
    if low + high == 1:
        return RandomizedResponse(k, odds)
    return TwoAnswers(k, odds, high, low)


_CHANCE = Need(
    "above 0 and below 1",
    "DPC111",
    "an answer that one value never gives tells the other",
    lambda value: 0 < value < 1,
)
FORM = FamilyForm(
    name="randomized-response",
    family=RandomizedResponse,
    about="Every row answers by itself, with one of k values, mostly the true one.",
    keys=(
        FormKey(
            "epsilon",
            Sort.NUMBER,
            "The odds of the true value to each other are e^epsilon.",
            default=None,
            need=POSITIVE,
        ),
        FormKey(
            "lie",
            Sort.NUMBER,
            "In place of `epsilon`: with this chance one of the k values is drawn uniformly.",
            default=None,
            noise=True,
            need=Need(
                "above 0 and at most 1",
                "DPC111",
                "without lies nothing is protected",
                lambda value: 0 < value <= 1,
            ),
            fact=True,
        ),
        FormKey(
            "k",
            Sort.SEVERAL,
            "How many values there are; left out with `epsilon`: two, which lose most.",
            default=None,
        ),
        FormKey(
            "p",
            Sort.NUMBER,
            "With `q`, of two values: the chance of the first answer where the first is true.",
            default=None,
            need=_CHANCE,
            fact=True,
            exactly=True,
        ),
        FormKey(
            "q",
            Sort.NUMBER,
            "With `p`: the chance of the first answer where the second is true.",
            default=None,
            need=_CHANCE,
            fact=True,
            exactly=True,
        ),
    ),
    make=_response,
    states=("pure",),
    trusted=Assumption("{}: each row is answered by itself, with exactly the odds stated"),
    refusal=_refusal,
)
