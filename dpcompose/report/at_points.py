"""Numbers at a chosen δ or ε for the report: the winning route, the others, the worst change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from itertools import islice

from dpcompose.core.at_delta.chosen import Chosen, choose
from dpcompose.core.loss.pattern import Trace, TracedCharge
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.curves import (
    Allocated,
    Certified,
    Concentrated,
    Curve,
    Grouped,
    Maximum,
    MechanismLoss,
    MixtureOfDraws,
    Part,
    Point,
    Points,
    PoissonGroup,
    PoissonReplaceOne,
    Renyi,
    ReplacedRows,
    Response,
    RouteName,
    Sampled,
    is_merged,
    upper_of,
)
from dpcompose.curves.rounding import sqrt_up
from dpcompose.report import At, Route, TouchCount, wording
from dpcompose.report.explanation import touched_by

#: So many kinds of losses, and so many mechanisms that a change reaches, are listed.
MOST_LISTED = 12
#: Above so many points the numbers share their grids.
MOST_APART = 16

#: How each route bounds a number, and in short.
_ROUTES = {
    RouteName.OPTIMAL: (
        "each stated (ε, δ) is at worst a randomized response, and these are composed exactly "
        "(Kairouz, Oh and Viswanath 2015, Theorem 3.3; Murtagh and Vadhan 2016)",
        "Kairouz, Oh and Viswanath 2015",
    ),
    RouteName.GAUSSIAN: (
        "Gaussian mechanisms compose to one, whose curve is known exactly (Balle and Wang 2018, "
        "Theorem 8)",
        "Balle and Wang 2018",
    ),
    RouteName.LOSSES: (
        "the distributions of the privacy losses are composed (Zhu, Dong and Wang 2022, Theorem "
        "10)",
        "Zhu, Dong and Wang 2022",
    ),
    RouteName.ZCDP: (
        "all are read as zCDP, and Σρ is converted at the best order (Canonne, Kamath and Steinke "
        "2020, Corollary 13)",
        "Canonne, Kamath and Steinke 2020",
    ),
    RouteName.RENYI: (
        "the Rényi divergences add at every order, and the best one is converted (Canonne, Kamath "
        "and Steinke 2020, Proposition 12)",
        "Canonne, Kamath and Steinke 2020",
    ),
    RouteName.BASIC: (
        "the ε's add up, and so do the δ's (GMPS24 V.3, VI.5)",
        "the ε's add up, and the δ's",
    ),
    RouteName.ADVANCED: (
        "advanced composition (Dwork, Rothblum and Vadhan 2010, III.3)",
        "Dwork, Rothblum and Vadhan 2010",
    ),
    RouteName.CLOSED: (
        "the closed form of Kairouz, Oh and Viswanath 2015, Theorem 3.5",
        "Kairouz, Oh and Viswanath 2015",
    ),
}


def at_points(
    solver: Solver,
    deltas: Iterable[Fraction],
    epsilons: Iterable[Fraction],
    solution: Solution | None,
    compared: bool = True,
) -> tuple[tuple[At, ...], tuple[At, ...]]:
    """Returns the ε at each chosen δ, and the δ at each chosen ε, each point once.

    Both are empty where some change has no finite bound. `solution`: the worst change that the
    report shows, None if it shows none. `compared`: whether routes are also tried that are there
    for comparison.
    """
    wanted = tuple(dict.fromkeys(deltas)), tuple(dict.fromkeys(epsilons))
    many = sum(map(len, wanted)) > MOST_APART
    asked = [
        [Point(delta=each, many=many) for each in wanted[0]],
        [Point(epsilon=each, many=many) for each in wanted[1]],
    ]
    patterned = solver.patterns if any(asked) else ()
    if not patterned:
        return (), ()
    told = None if solution is None else touched_by(solution.charges)
    bounds = () if solution is None else solution.quantities
    at_delta, at_epsilon = (
        # Points next to each other share most of the work.
        {
            point: _at_point(choose(patterned, point, bounds, compared), told)
            for point in sorted(points, key=lambda point: point.chosen_number)
        }
        for points in asked
    )
    return tuple(at_delta[each] for each in asked[0]), tuple(at_epsilon[each] for each in asked[1])


def _at_point(chosen: Chosen, told: Counter[tuple[str, str, str]] | None) -> At:
    """Returns the number at one chosen δ or ε for the report.

    `told`: how often the worst change that the report shows reaches each mechanism; the worst
    change at the point is described only where it differs. None: nothing is shown.
    """
    (route, best), *others = chosen.worst.found.items()
    flat = _flat(chosen.worst.pattern.trace)
    reached: Counter[tuple[str, str, str]] = Counter()
    for charge, n in flat.items():
        reached[charge.mechanism, charge.dataset, wording.change(charge.state)] += n
    return At(
        wanted="delta" if chosen.point.delta is not None else "epsilon",
        given=chosen.point.chosen_number,
        value=chosen.value,
        lower=chosen.lower,
        rule=str(route),
        says=_explanation(chosen, route, best),
        others=tuple(Route(str(name), upper_of(o), _ROUTES[name][1]) for name, o in others),
        worst=() if told == reached else tuple(_worst_change_lines(flat)),
        chain=tuple(_chain(chosen)),
        datasets=tuple(dict.fromkeys(charge.dataset for charge in flat)),
        touched=tuple(
            TouchCount(charge.mechanism, charge.dataset, wording.change(charge.state), times)
            for charge, times in flat.items()
        ),
    )


def _explanation(chosen: Chosen, route: RouteName, best: Certified | None) -> str:
    """Returns the sentence on how the best route bounds the number, or why none is finite."""
    if best is not None:
        text = _ROUTES[route][0]
        if best.grid is not None:
            text += f"; on a grid of width {wording.number(best.grid)}, towards more loss"
        return text
    leak = 1 - chosen.worst.composition.no_failure
    if leak > chosen.point.chosen_number:
        return f"the stated δ's give all away with chance up to {wording.number(leak)}"
    return "no ε is known to hold at so small a δ"


# ---------------------------------------------------------------------------------------------
# The worst change


def _flat(trace: Trace) -> Counter[TracedCharge]:
    """Returns how often a change reaches each mechanism (by name, dataset and change), from its
    nested trace."""
    found: Counter[TracedCharge] = Counter()
    stack: list[tuple[Trace, int]] = [(trace, 1)]
    while stack:
        inner, times = stack.pop()
        for each, n in inner:
            if isinstance(each, TracedCharge):
                found[each] += n * times
            else:
                stack.append((each, n * times))
    return found


def _worst_change_lines(flat: Counter[TracedCharge]) -> Iterable[str]:
    """Yields one phrase for each mechanism that a change reaches, the most frequent ones first."""
    for charge, n in flat.most_common(MOST_LISTED):
        times = "" if n == 1 else f"{wording.count_text(n)} × "
        yield f"{times}`{charge.mechanism}` on `{charge.dataset}`: {wording.change(charge.state)}"
    if len(flat) > MOST_LISTED:
        yield f"and {len(flat) - MOST_LISTED} more mechanisms"


# ---------------------------------------------------------------------------------------------
# The reasoning, line by line


def _chain(chosen: Chosen) -> Iterable[str]:
    """Yields the reasoning at a point: the change, what composes, the δ used, the number."""
    composition = chosen.worst.composition
    kinds = list(islice(_losses(composition), MOST_LISTED))
    if chosen.worst.pattern.loose:
        yield "the changes are bounded together, by one that is at least as bad as each of them"
    elif chosen.patterns > 1:
        changes = wording.count_text(chosen.patterns)
        yield f"the worst of {changes} changes none of which covers another"
    more = len(composition.parts) + bool(composition.gaussian) - MOST_LISTED
    listed = "; ".join(kinds) + (f"; {more} more" if more > 0 else "")
    yield f"what composes: {listed}" if kinds else "nothing is lost"
    if is_merged(composition.parts):
        yield (
            "that is very many different losses: their parameters are rounded up to fewer, and "
            "the bound is a little larger than it need be"
        )
    given = chosen.point.chosen_number
    leak = 1 - composition.no_failure
    if leak:
        text = f"the stated δ's give all away with chance at most {wording.number(leak)}"
        if chosen.point.delta is None:
            yield f"{text}, which is part of the δ found"
        elif leak > given:
            yield f"{text}, which is more than δ = {wording.number(given)}: no ε is finite"
        else:
            left = composition.left(given)
            yield (
                f"{text}; of δ = {wording.number(given)} that leaves {wording.number(left)} "
                "for the rest"
            )
    route, best = next(iter(chosen.worst.found.items()))
    if best is not None:
        symbol = "ε" if chosen.point.delta is not None else "δ"
        yield f"{symbol} = {wording.number(best.upper)} by {route}"


def _losses(composition: Curve) -> Iterable[str]:
    """Yields the parts of a dominating pair in words, each with how often it occurs."""
    for part, n in composition.parts:
        yield (f"{wording.count_text(n)} × " if n > 1 else "") + part_text(part)
    if composition.gaussian:
        yield f"Gaussian with μ = {wording.number(sqrt_up(composition.gaussian))} in all"


def part_text(part: Part) -> str:
    """Returns one part of a dominating pair in a few words, such as `ε = 1/2`."""
    number = wording.number
    match part:
        case Response(epsilon):
            return f"ε = {number(epsilon)}"
        case MechanismLoss():
            return part.describe()
        case Points(points):
            return f"a profile of {wording.plural(len(points), 'point')}"
        case Concentrated(rho):
            return f"ρ = {number(rho)}"
        case Renyi(points):
            return f"a Rényi curve of {wording.plural(len(points), 'order')}"
        case Sampled(rate, base, replace):
            how = "without replacement" if replace else "Poisson"
            inside = _listing(_losses(base))
            return f"a sample of rate {number(rate)} ({how}) of ({inside})"
        case Allocated(steps, gaussian):
            mu = number(sqrt_up(gaussian))
            return f"a row in one of {wording.count_text(steps)} steps with μ = {mu} each"
        case MixtureOfDraws(ways):
            told = [f"with chance {number(q)} ({_listing(_losses(w))})" for q, w in ways]
            rest = ", else nothing" if sum(q for q, _ in ways) < 1 else ""
            return f"{_listing(told)}{rest}"
        case PoissonReplaceOne(rate, once, both):
            inside = _listing(_losses(once if both is None else both))
            return f"one row replaced in a sample of rate {number(rate)} (Poisson) of ({inside})"
        case PoissonGroup(rate, once, replaced):
            rows = wording.plural(part.counted[-1], "row")
            how = f"{rows} replaced" if replaced else rows
            inside = _listing(_losses(once[-1]))
            return f"{how} through a sample of rate {number(rate)} (Poisson) of ({inside})"
        case ReplacedRows(_, once):
            inside = _listing(_losses(once[-1]))
            return (
                f"rows replaced, up to {len(once)} of them in a sample of one size, of ({inside})"
            )
        case Grouped(base, steps):
            return f"a path of {wording.count_text(steps)} steps of ({_listing(_losses(base))})"
        case Maximum(options):
            return f"any of ({_listing([' and '.join(_losses(each)) for each in options])})"


def _listing(phrases: Iterable[str]) -> str:
    """Returns the first three phrases joined by semicolons, and how many more there are: `a; b; c;
    and 2 more`."""
    kinds = list(phrases)
    more = len(kinds) - 3
    return "; ".join(kinds[:3]) + (f"; {more} more" if more > 0 else "")
