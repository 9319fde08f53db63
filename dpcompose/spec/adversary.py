"""An adversary with two hypotheses about one person, as it is written."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.fields import Name, Optional, Probability, Scalar, Whole
from dpcompose.spec.models import Model

#: The most sets of blocks, or other parts, of one hypothesis.
MOST_PARTS = 400


class Sets(Model):
    __doc__ = "One set of blocks, or all sets of some sizes, equally likely; one of these keys."

    what = "a hypothesis"
    blocks: Optional[list[Name]] = Field(
        default=None, description="The blocks that hold data of the person; `[]` for none."
    )
    exactly: Optional[Whole] = Field(
        default=None, description="Some set of just so many blocks, all equally likely."
    )
    at_least: Optional[Whole] = Field(
        default=None, description="Some set of so many blocks or more, all equally likely."
    )
    at_most: Optional[Whole] = Field(
        default=None,
        description="Some set of so many blocks or fewer, the empty one too, all equally likely.",
    )
    weight: Optional[Scalar] = Field(
        default=None, description="How likely it is, in a list; the weights of a list sum to 1."
    )


def _hypothesis_tag(value: object) -> str | None:
    """Returns the tag of the model for one hypothesis; None for a value of a wrong type."""
    if isinstance(value, str):
        return "<hypothesis>"
    if isinstance(value, list):
        return "<mixture>"
    return "<sets>" if isinstance(value, dict) else None


Hypothesis = Annotated[
    Annotated[Literal["none", "uniform"], Tag("<hypothesis>")]
    | Annotated[Sets, Tag("<sets>")]
    | Annotated[list[Sets], Tag("<mixture>"), Field(min_length=1, max_length=MOST_PARTS)],
    Discriminator(_hypothesis_tag),
]


def _hypotheses_tag(value: object) -> str | None:
    """Returns the tag of the model for the hypotheses; None for a value of a wrong type."""
    if isinstance(value, str):
        return "<pair of hypotheses>"
    return "<hypotheses>" if isinstance(value, list) else None


class Adversary(Model):
    __doc__ = "What an adversary thinks possible of one person."

    what = "an adversary"
    hypotheses: Annotated[
        Annotated[Literal["none-vs-uniform"], Tag("<pair of hypotheses>")]
        | Annotated[list[Hypothesis], Tag("<hypotheses>")],
        Discriminator(_hypotheses_tag),
    ] = Field(description="`none-vs-uniform`, or a list of the two hypotheses that are told apart.")


class AdversaryLimit(Model):
    __doc__ = "The numbers of a budget against an adversary."

    what = "a budget against an adversary"
    epsilon: Scalar = Field(description="The largest ε allowed.")
    delta: Optional[Probability] = Field(default=None, description="The largest δ, else 0.")


class AdversaryBudget(Model):
    __doc__ = (
        "A budget that speaks of the adversary alone, in place of one for differential privacy."
    )

    what = "a budget against an adversary"
    adversary: AdversaryLimit = Field(
        description="What `check` compares with the result against the adversary, not with DP."
    )
