"""What is asked of an analysis, as it is written: a budget, and what to report."""

from typing import Annotated, TypeVar

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.adversary import AdversaryBudget
from dpcompose.spec.fields import Name, Optional, Probability, Scalar
from dpcompose.spec.models import Model

#: The most δ, or ε, of a report.
MOST_REPORTED = 100
#: The most baselines, or rates of false alarms, of a report.
MOST_RISKS = 20

# --- budget --------------------------------------------------------------------------------------


class PureBudget(Model):
    __doc__ = "A budget in ε."

    what = "a budget in ε"
    epsilon: Scalar = Field(description="The largest ε allowed.")


class ApproxBudget(Model):
    __doc__ = "A budget in (ε, δ)."

    what = "a budget in (ε, δ)"
    epsilon: Scalar = Field(description="The largest ε allowed.")
    delta: Probability = Field(description="The δ at which ε is compared, below 1.")


class ZcdpBudget(Model):
    __doc__ = "A budget in ρ."

    what = "a budget in ρ"
    rho: Scalar = Field(description="The largest ρ allowed.")


class GdpBudget(Model):
    __doc__ = "A budget in μ."

    what = "a budget in μ"
    mu: Scalar = Field(description="The largest μ allowed.")


class AdvantageBudget(Model):
    __doc__ = "A budget in what an attacker gains: hits less false alarms."

    what = "a budget in advantage"
    advantage: Probability = Field(
        description="The most by which a test for which of two neighbouring tables was read may "
        "have more hits than false alarms, below 1."
    )


class SuccessBudget(Model):
    __doc__ = "A budget in what an attacker gains: the chance of success from a baseline."

    what = "a budget in success"
    success: Probability = Field(
        description="The largest chance at which an attack on an attribute or a record may "
        "succeed, below 1."
    )
    baseline: Probability = Field(
        description="The chance at which it would succeed without the person's data, or with "
        "another record in its place, above 0."
    )


def _budget_tag(value: object) -> str | None:
    """Returns the tag of the model for a budget; `?budget` if no model fits, None if it is no
    mapping."""
    if not isinstance(value, dict):
        return None
    for key, tag in _BUDGETS.items():
        if key in value:
            return tag
    return "?budget"


_BUDGETS = {
    "adversary": "<adversary budget>",
    "delta": "<approx budget>",
    "epsilon": "<pure budget>",
    "rho": "<zcdp budget>",
    "mu": "<gdp budget>",
    "advantage": "<advantage budget>",
    "success": "<success budget>",
    "baseline": "<success budget>",
}

WrittenBudget = Annotated[
    Annotated[PureBudget, Tag("<pure budget>")]
    | Annotated[ApproxBudget, Tag("<approx budget>")]
    | Annotated[ZcdpBudget, Tag("<zcdp budget>")]
    | Annotated[GdpBudget, Tag("<gdp budget>")]
    | Annotated[AdvantageBudget, Tag("<advantage budget>")]
    | Annotated[SuccessBudget, Tag("<success budget>")]
    | Annotated[AdversaryBudget, Tag("<adversary budget>")],
    Discriminator(_budget_tag),
]


# --- report --------------------------------------------------------------------------------------


def _several_tag(value: object) -> str:
    return "<several numbers>" if isinstance(value, list) else "<number>"


class WrittenQuestion(Model):
    __doc__ = "A question: what is learnt of some columns of a row whose other columns are known."

    what = "a question"
    name: Name = Field(description="What to call it.")
    changes: Annotated[list[Name], Field(min_length=1)] = Field(
        description="The columns that alone differ."
    )


Number = TypeVar("Number")
Numbers = TypeVar("Numbers")
OneOrSeveral = Annotated[
    Annotated[Number, Tag("<number>")] | Annotated[Numbers, Tag("<several numbers>")],
    Discriminator(_several_tag),
]
Reported = Annotated[list[Number], Field(min_length=1, max_length=MOST_REPORTED)]
Chances = OneOrSeveral[
    Probability, Annotated[list[Probability], Field(min_length=1, max_length=MOST_RISKS)]
]


class WrittenRisk(Model):
    __doc__ = "What an attacker gains."

    what = "a risk"
    baselines: Optional[Chances] = Field(
        default=None,
        description="Chances at which an attack would succeed without a person's data, between 0 "
        "and 1: report the most with them. Without it 1/2, 1/10 and 1/100.",
    )
    false_alarms: Optional[Chances] = Field(
        default=None,
        description="Rates, between 0 and 1, at which a test for whether a person is in the data "
        "may take others for one: report the most hits. Without it 0.01 and 0.05.",
    )


class Reporting(Model):
    __doc__ = "Where to state numbers, beside the bound."

    what = "a report"
    delta: Optional[OneOrSeveral[Probability, Reported[Probability]]] = Field(
        default=None, description="A δ below 1, or a list: report the least ε at each."
    )
    epsilon: Optional[OneOrSeveral[Scalar, Reported[Scalar]]] = Field(
        default=None, description="An ε, or a list: report the least δ at each."
    )
    risk: Optional[WrittenRisk] = Field(
        default=None,
        description="What an attacker gains at most: `{}`, or `{baselines: [1/10], false_alarms: "
        "[0.01]}`.",
    )
    questions: Optional[
        Annotated[list[WrittenQuestion], Field(min_length=1, max_length=MOST_REPORTED)]
    ] = Field(
        default=None,
        description="Who learns what: for each, the bound where one row is replaced in some "
        "columns alone.",
    )
