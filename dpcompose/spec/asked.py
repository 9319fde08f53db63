"""What is asked of an analysis, as it is written: what to protect and from whom, a budget, and what
to report."""

from typing import Annotated, Literal, TypeVar

from pydantic import Field, WithJsonSchema

from dpcompose.core.change.neighbouring import RelationKind
from dpcompose.spec.fields import Model, Name, OneOf, Optional, Probability, Scalar, Whole, by_shape

#: The most δ, or ε, of a report.
MOST_REPORTED = 100
#: The most baselines, or rates of false alarms, of a report.
MOST_RISKS = 20
#: The most sets of blocks, or other parts, of one hypothesis.
MOST_PARTS = 400

# --- neighbouring relations ----------------------------------------------------------------------

#: What one step of each built-in relation is.
RELATIONS: dict[str, str] = {
    RelationKind.UNBOUNDED: "one row is added or removed",
    RelationKind.BOUNDED: "one row is replaced",
    "zero-out": "one row becomes a null, which counts for nothing; the number of rows is public",
    RelationKind.USER: "all rows of one privacy unit are added or removed",
    RelationKind.EDGE: "one edge of a graph is added or removed",
    RelationKind.NODE: "all edges of one vertex are added or removed, the vertices being public",
    RelationKind.NODE_REWIRED: "the edges of one vertex become any others",
    RelationKind.FREE_LUNCH: "everything may change",
    RelationKind.EUCLIDEAN: "a value moves; ε is for each unit of the distance",
    "l1": "a value of metric `l1` moves; ε is for each unit of the distance in L1",
}
RelationName = Annotated[
    str,
    WithJsonSchema({"anyOf": [{"enum": [*map(str, RELATIONS)]}, {"type": ["string", "number"]}]}),
]


class LongRelation(Model):
    __doc__ = (
        "A relation, and the columns that a replacement keeps, or those that alone it changes."
    )

    what = "a relation"
    relation: RelationName = Field(description="The name of a neighbouring relation.")
    keeps: list[Name] = Field(
        default=[],
        description="With `bounded`: columns that a replacement leaves as they are (public).",
    )
    changes: Optional[Annotated[list[Name], Field(min_length=1)]] = Field(
        default=None,
        description="With `bounded`: the only columns that a replacement may change, of a root "
        "that names its `columns`; excludes `keeps`.",
    )


class Protected(LongRelation):
    __doc__ = "The relation to protect, for groups and for replacements that keep columns."

    what = "the relation to protect"
    distance: Whole = Field(default=1, description="Protect this many steps at once.")


class Declared(Model):
    __doc__ = (
        "A relation of your own: its neighbours are at most `distance` steps of `within` apart."
    )

    what = "a declared relation"
    within: RelationName = Field(description="A built-in relation.")
    distance: Whole = Field(description="How many steps of it at most.")


Relation = Annotated[RelationName | LongRelation, by_shape(str, dict)]
Protect = Annotated[RelationName | Protected, by_shape(str, dict)]


# --- an adversary with two hypotheses -------------------------------------------------------------


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


Hypothesis = Annotated[
    Literal["none", "uniform"]
    | Sets
    | Annotated[list[Sets], Field(min_length=1, max_length=MOST_PARTS)],
    by_shape(str, dict, list),
]


class Adversary(Model):
    __doc__ = "What an adversary thinks possible of one person."

    what = "an adversary"
    hypotheses: Annotated[Literal["none-vs-uniform"] | list[Hypothesis], by_shape(str, list)] = (
        Field(description="`none-vs-uniform`, or a list of the two hypotheses that are told apart.")
    )


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


#: The model of a budget by the first of these keys that it has.
_BUDGETS: dict[str, type[Model]] = {
    "adversary": AdversaryBudget,
    "delta": ApproxBudget,
    "epsilon": PureBudget,
    "rho": ZcdpBudget,
    "mu": GdpBudget,
    "advantage": AdvantageBudget,
    "success": SuccessBudget,
    "baseline": SuccessBudget,
}


def _budget(value: object) -> type[Model] | str | None:
    """Returns the model for a budget; `?budget` if no model fits, None if it is no
    mapping."""
    if not isinstance(value, dict):
        return None
    return next((model for key, model in _BUDGETS.items() if key in value), "?budget")


#: The models of budgets for differential privacy.
DP_BUDGETS = (PureBudget, ApproxBudget, ZcdpBudget, GdpBudget, AdvantageBudget, SuccessBudget)
WrittenBudget = Annotated[
    PureBudget
    | ApproxBudget
    | ZcdpBudget
    | GdpBudget
    | AdvantageBudget
    | SuccessBudget
    | AdversaryBudget,
    OneOf(_budget, *DP_BUDGETS, AdversaryBudget),
]


# --- report --------------------------------------------------------------------------------------


class WrittenQuestion(Model):
    __doc__ = "A question: what is learnt of some columns of a row whose other columns are known."

    what = "a question"
    name: Name = Field(description="What to call it.")
    changes: Annotated[list[Name], Field(min_length=1)] = Field(
        description="The columns that alone differ."
    )


Number = TypeVar("Number")
Numbers = TypeVar("Numbers")
OneOrSeveral = Annotated[Number | Numbers, by_shape(object, list)]
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
