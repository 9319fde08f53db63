"""Concrete mechanisms as they are written: what is drawn, and how far one row moves it."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from dpcompose.spec.entry import Reading
from dpcompose.spec.fields import Optional, Parameter, Scalar, Several
from dpcompose.spec.models import Model
from dpcompose.spec.relations import Relation


class Sensitivities(Model):
    """How far one row moves what is released, for each kind of row change."""

    what = "a sensitivity"
    unbounded: Optional[Parameter] = Field(
        default=None, description="For one row added or removed."
    )
    bounded: Optional[Parameter] = Field(default=None, description="For one row replaced.")


def _sensitivity_tag(value: object) -> str:
    return "<sensitivities>" if isinstance(value, dict) else "<number>"


Sensitivity = Annotated[
    Annotated[Scalar, Tag("<number>")] | Annotated[Sensitivities, Tag("<sensitivities>")],
    Discriminator(_sensitivity_tag),
]


class Concrete(Reading):
    """What every concrete mechanism with a sensitivity says."""

    mechanism: str
    sensitivity: Sensitivity = Field(
        description="How far one row moves it: a number (for one row added or removed, "
        "where rows come and go), or `{unbounded: …, bounded: …}`."
    )
    relation: Optional[Relation] = Field(
        default=None, description="With a number for sensitivity: the change that it is for."
    )


class Laplace(Concrete):
    """Laplace noise on numbers."""

    what = "`mechanism: laplace`"
    mechanism: Literal["laplace"]
    scale: Parameter = Field(description="The noise has density e^(-|x|/scale)/(2·scale).")


class Gaussian(Concrete):
    """Normal noise on numbers."""

    what = "`mechanism: gaussian`"
    mechanism: Literal["gaussian"]
    sigma: Parameter = Field(description="The standard deviation of the noise.")


class Geometric(Concrete):
    """Two-sided geometric noise on whole numbers."""

    what = "`mechanism: geometric`"
    mechanism: Literal["geometric"]
    scale: Parameter = Field(description="The noise n has a mass proportional to e^(-|n|/scale).")


class DiscreteGaussian(Concrete):
    """Discrete normal noise on whole numbers."""

    what = "`mechanism: discrete-gaussian`"
    mechanism: Literal["discrete-gaussian"]
    sigma: Parameter = Field(
        description="The noise n has a mass proportional to e^(-n²/(2·sigma²))."
    )


class Exponential(Concrete):
    """A choice with weights that grow with a score."""

    what = "`mechanism: exponential`"
    mechanism: Literal["exponential"]
    epsilon: Parameter = Field(description="Its range: weights e^(epsilon·score/(2·sensitivity)).")


class RandomizedResponse(Reading):
    """Every row answers by itself, with one of k values, mostly the true one."""

    what = "`mechanism: randomized-response`"
    mechanism: Literal["randomized-response"]
    epsilon: Parameter = Field(
        description="The odds of the true value to each other are e^epsilon."
    )
    k: Several = Field(default=2, description="How many values there are.")


AnyConcrete = Laplace | Gaussian | Geometric | DiscreteGaussian | Exponential | RandomizedResponse

CONCRETE: dict[str, type[Reading]] = {
    "laplace": Laplace,
    "gaussian": Gaussian,
    "geometric": Geometric,
    "discrete-gaussian": DiscreteGaussian,
    "exponential": Exponential,
    "randomized-response": RandomizedResponse,
}
#: Keys that only concrete mechanisms have.
NOISE_KEYS = frozenset({"scale", "sigma", "sensitivity", "k"})
