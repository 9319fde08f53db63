"""The privacy losses of concrete mechanisms, one file each."""

from dpcompose.curves.families.clones import (
    MOST_COUNTED,
    profile_of_clones,
    profile_of_two_answers,
)
from dpcompose.curves.families.discrete_gaussian_loss import DiscreteGaussianLoss
from dpcompose.curves.families.exponential_loss import (
    BoundedRange,
    bounded_range_mu,
    bounded_range_rho,
)
from dpcompose.curves.families.geometric_loss import GeometricLoss, geometric_mu, geometric_rho
from dpcompose.curves.families.histogram_loss import HistogramLoss
from dpcompose.curves.families.laplace_loss import LaplaceLoss, laplace_mu, laplace_rho
from dpcompose.curves.families.pure_steps import (
    PureSteps,
    as_responses,
    equal_steps,
    least_of,
)
from dpcompose.curves.families.randomized_response_loss import (
    KaryResponse,
    kary_mu,
    kary_rho,
    two_answers_mu,
    two_answers_rho,
)
from dpcompose.curves.families.skellam_loss import LEAST_VARIANCE, SkellamLoss, skellam_rho
from dpcompose.curves.rounding.doubles import OUTSIDE

__all__ = [
    "LEAST_VARIANCE",
    "MOST_COUNTED",
    "OUTSIDE",
    "BoundedRange",
    "DiscreteGaussianLoss",
    "GeometricLoss",
    "HistogramLoss",
    "KaryResponse",
    "LaplaceLoss",
    "PureSteps",
    "SkellamLoss",
    "as_responses",
    "bounded_range_mu",
    "bounded_range_rho",
    "equal_steps",
    "geometric_mu",
    "geometric_rho",
    "kary_mu",
    "kary_rho",
    "laplace_mu",
    "laplace_rho",
    "least_of",
    "profile_of_clones",
    "profile_of_two_answers",
    "skellam_rho",
    "two_answers_mu",
    "two_answers_rho",
]
