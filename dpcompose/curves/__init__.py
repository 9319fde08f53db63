"""Curves of privacy loss: worst-case pairs of output distributions, and certified numbers of them.

    from dpcompose import curves

    c = curves.gaussian(sigma=1.1).sample(poisson="256/60000").repeat(14062)
    float(c.epsilon(delta=1e-5).upper), c.delta(epsilon=1), c.trade_off(0.01)

Every number is a `Certified`: exact fractions, rounded to the safe side. This is the only door of
the folder; nothing in it imports from the rest of the package.

To read it: `curve` says what a curve is, `constructors` and `families` which ones there are,
`answers` has the table of the backends that evaluate them, and `routes` the numbers of a curve with
the well-known bounds beside them. `trade_off` and `both_hold` are made of these numbers.
"""

from dpcompose.curves import routes
from dpcompose.curves.backends.closed_forms.max_loss import pure_instead
from dpcompose.curves.backends.lattice.fewer_losses import is_merged
from dpcompose.curves.backends.renyi.renyi_curves import curve as renyi_divergence
from dpcompose.curves.both_hold import least_curve, of_several_kinds, over_steps
from dpcompose.curves.by_points import by_points
from dpcompose.curves.constructors import (
    approx,
    compose,
    discrete_gaussian,
    exponential,
    gaussian,
    gdp,
    geometric,
    laplace,
    maximum,
    profile,
    pure,
    randomized_response,
    rdp,
    skellam,
    zcdp,
)
from dpcompose.curves.curve import (
    Allocated,
    Certified,
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    Renyi,
    ReplacedRows,
    Response,
    Sampled,
    TwoAnswersPoints,
    curve_of,
    direction,
    is_tight,
    leans,
)
from dpcompose.curves.order import rank
from dpcompose.curves.routes import (
    COMPARED,
    Point,
    RouteName,
    RouteNumbers,
    attained_by_samples,
    basic_bound,
    compared_routes,
    in_renyi_terms,
    least_first,
    least_route,
    main_routes,
    not_exact,
    preload,
    quick_bound,
    realised,
    rough_bound,
    upper_of,
)
from dpcompose.curves.trade_off import TradeOff

Curve.backends = routes

__all__ = [
    "COMPARED",
    "Allocated",
    "Certified",
    "Concentrated",
    "Curve",
    "Grouped",
    "Maximum",
    "MechanismLoss",
    "MixtureOfDraws",
    "Part",
    "Point",
    "Points",
    "PoissonGroup",
    "PoissonReplaceOne",
    "Renyi",
    "ReplacedRows",
    "Response",
    "RouteName",
    "RouteNumbers",
    "Sampled",
    "TradeOff",
    "TwoAnswersPoints",
    "approx",
    "attained_by_samples",
    "basic_bound",
    "by_points",
    "compared_routes",
    "compose",
    "curve_of",
    "direction",
    "discrete_gaussian",
    "exponential",
    "gaussian",
    "gdp",
    "geometric",
    "in_renyi_terms",
    "is_merged",
    "is_tight",
    "laplace",
    "leans",
    "least_curve",
    "least_first",
    "least_route",
    "main_routes",
    "maximum",
    "not_exact",
    "of_several_kinds",
    "over_steps",
    "preload",
    "profile",
    "pure",
    "pure_instead",
    "quick_bound",
    "randomized_response",
    "rank",
    "rdp",
    "realised",
    "renyi_divergence",
    "rough_bound",
    "skellam",
    "upper_of",
    "zcdp",
]
