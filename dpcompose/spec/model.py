"""A whole spec as it is written."""

from typing import Annotated, Literal

from pydantic import Field

from dpcompose.source import Number
from dpcompose.spec.adversary import Adversary, AdversaryBudget, Sets
from dpcompose.spec.asked import (
    AdvantageBudget,
    ApproxBudget,
    GdpBudget,
    PureBudget,
    Reporting,
    SuccessBudget,
    WrittenBudget,
    ZcdpBudget,
)
from dpcompose.spec.concrete import CONCRETE, RUNS_OF, Normed, Sensitivities
from dpcompose.spec.datasets import Dataset, Graph, Mapped, Split, Table
from dpcompose.spec.fields import Name, Optional, ReadBy, Scalar, expected
from dpcompose.spec.guarantees import NOTIONS, ProfilePoint, RdpPoint
from dpcompose.spec.kind_models import Sensitivity
from dpcompose.spec.maps import MAP_KINDS
from dpcompose.spec.mechanisms import (
    ApproxMechanism,
    GdpMechanism,
    Mechanism,
    PostProcessing,
    ProfileMechanism,
    PureMechanism,
    RdpMechanism,
    SeveralMechanism,
    ZcdpMechanism,
)
from dpcompose.spec.models import Model
from dpcompose.spec.partitions import PARTITION_KINDS
from dpcompose.spec.relations import RELATIONS, Declared, LongRelation, Protect, Protected


def _version(value: object) -> int:
    """Returns the version of the spec language, 1; raises the error of the field for any other
    value."""
    if isinstance(value, Number) and value == "1":
        return 1
    write = "1" if isinstance(value, str) and value in {"1", "1.0", "v1"} else None
    what = "`1`, the only version of the spec language"
    raise expected(what, "write `dpcompose: 1`", "DPC107", write)


class Spec(Model):
    __doc__ = "What is computed from sensitive data, and what it must protect."

    what = "a spec"
    dpcompose: Annotated[int, ReadBy(_version, {"const": 1})] = Field(
        description="The version of the spec language: 1."
    )
    title: Name = Field(default="", description="What the release is.")
    population: Optional[Name] = Field(
        default=None,
        description="Whose data it is, such as `patients-2026`: releases on the same people add "
        "up (`dpcompose total`), and names of datasets mean the same in all of their specs.",
    )
    protect: Protect = Field(
        description="The neighbouring relation of the final guarantee: "
        + "".join(
            f"`{name}` ({says}), "
            for name, says in RELATIONS.items()
            if name not in ("euclidean", "l1")
        )
        + "or one declared under `relations`."
    )
    adaptivity: Literal["adaptive", "independent", "parameters"] = Field(
        default="adaptive",
        description="Whether a mechanism may use earlier outputs, and whether its parameters may "
        "be chosen after seeing them (`parameters`).",
    )
    filter: Optional[Literal["pure", "approx", "zcdp", "gdp"]] = Field(
        default=None,
        description="With `adaptivity: parameters`: the notion in which the budget is counted, "
        "chosen before the first output. Left out: that of the budget; `zcdp` for (ε, δ) and "
        "for a budget in risk. It never depends on the releases.",
    )
    because: Optional[Name] = Field(
        default=None,
        description="Beside `adaptivity: adaptive`: why all parameters were fixed before the first "
        "output, in a ledger of several specs.",
    )
    roots: Optional[Literal["disjoint"]] = Field(
        default=None, description="`disjoint`: nobody is in two roots."
    )
    relations: dict[str, Declared] = Field(default={}, description="Relations of your own.")
    constants: dict[str, Scalar] = Field(default={}, description="Numbers for use in expressions.")
    datasets: dict[str, Dataset] = Field(
        description="Roots hold sensitive data; the others are made from them.",
        json_schema_extra={"minProperties": 1, "propertyNames": {"pattern": "^[^.]+$"}},
    )
    mechanisms: list[Mechanism] = Field(
        description="What is released.", json_schema_extra={"minItems": 1}
    )
    budget: Optional[WrittenBudget] = Field(default=None, description="What `check` compares with.")
    report: Optional[Reporting] = Field(
        default=None,
        description="What to state beside the bound: `{delta: [1e-6, 1e-9], risk: {}}`.",
    )
    adversary: Optional[Adversary] = Field(
        default=None,
        description="Two hypotheses about one person, for a bound that is weaker than DP: "
        "`{hypotheses: none-vs-uniform}`.",
    )


#: The model that each tag of a union stands for.
TAGS: dict[str, type[Model]] = {
    "<long relation>": LongRelation,
    "<protected>": Protected,
    "<sensitivity>": Sensitivity,
    **{f"<{kind}>": model for kind, model in MAP_KINDS.items()},
    **{f"<by {kind}>": model for kind, model in PARTITION_KINDS.items()},
    "<table>": Table,
    "<graph>": Graph,
    "<mapped>": Mapped,
    "<split>": Split,
    **{f"<{notion}>": model for notion, model in NOTIONS.items()},
    "<rdp point>": RdpPoint,
    "<profile point>": ProfilePoint,
    "<pure mechanism>": PureMechanism,
    "<approx mechanism>": ApproxMechanism,
    "<zcdp mechanism>": ZcdpMechanism,
    "<gdp mechanism>": GdpMechanism,
    "<rdp mechanism>": RdpMechanism,
    "<profile mechanism>": ProfileMechanism,
    **{f"<{kind} noise>": model for kind, model in CONCRETE.items()},
    **{f"<run of {kind}>": model for kind, model in RUNS_OF.items()},
    "<sensitivities>": Sensitivities,
    "<normed>": Normed,
    "<several>": SeveralMechanism,
    "<post-processing>": PostProcessing,
    "<pure budget>": PureBudget,
    "<approx budget>": ApproxBudget,
    "<zcdp budget>": ZcdpBudget,
    "<gdp budget>": GdpBudget,
    "<advantage budget>": AdvantageBudget,
    "<success budget>": SuccessBudget,
    "<adversary budget>": AdversaryBudget,
    "<sets>": Sets,
}
#: Tags of the members that are no models.
PLAIN_TAGS = frozenset(
    {
        "<number>",
        "<several numbers>",
        "<by block>",
        "<relation>",
        "<names>",
        "<count>",
        "<points>",
        "<curve>",
        "<pair>",
        "<pair of hypotheses>",
        "<hypotheses>",
        "<hypothesis>",
        "<mixture>",
        "<run>",
        "<runs>",
    }
)
