"""Amplification by sampling: bounds for mechanisms that read a secret random sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from dpcompose.core.change.drawn_rows import any_drawn, how_many_of
from dpcompose.core.change.units import Kind, all_leaves
from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.amplification import mixed
from dpcompose.core.model.tree import Place
from dpcompose.core.notions.notion import Notion, Pair
from dpcompose.core.theorem import Hypothesis, Refused, Role, Use, checked, theorem
from dpcompose.core.theorems.composition import in_notion
from dpcompose.core.theorems.one_mechanism import ON_WHAT_IS_READ, ONE_MECHANISM
from dpcompose.core.theorems.setting import Bound, Setting
from dpcompose.curves.rounding import amplified_up, exchanged_up

# --- what is checked ------------------------------------------------------------------------------


def _poisson(setting: Setting) -> None:
    """Raises `Refused` unless the first sample is one that each row is drawn into by itself."""
    if not setting.first_sample()[1].plain:
        raise Refused("rows are not drawn into the sample each by itself")
    if setting.first_sample()[1].size is not None:
        raise Refused("the sample is drawn without replacement")


def _one_row_at_limit(setting: Setting) -> None:
    """Raises `Refused` unless the change above the random limit is one row added or removed."""
    edge = setting.random_limit().edge
    above = None if edge is None else setting.visit(edge.parent)
    units = [] if above is None else [leaf.kind for leaf in all_leaves(above.state).elements()]
    if units != [Kind.SINGLE]:
        raise Refused("the change at the limit is not one row added or removed")


def _of_public_size(setting: Setting) -> None:
    """Raises `Refused` unless the first sample has a public size and is drawn without
    replacement."""
    if not setting.first_sample()[1].plain:
        raise Refused("the sample is not drawn without replacement")
    if setting.first_sample()[1].size is None:
        raise Refused("the sample has no public size")


def _rows_at_sample(setting: Setting) -> None:
    """Raises `Refused` unless the change of the table first sampled is of a known number of
    rows."""
    leaves = setting.at_sample()
    if setting.notion is Notion.PURE and any(leaf.kind is Kind.PAIR for leaf in leaves):
        raise Refused("a row is replaced, for which pure DP has a sharper bound")
    for leaf in leaves:
        known = leaf.kind is Kind.USER and leaf.size is not None
        if leaf.kind not in (Kind.SINGLE, Kind.PAIR) and not known:
            raise Refused("the change at the sample is not one of a known number of rows")


def _known_at_sample(setting: Setting) -> None:
    """Raises `Refused` unless the loss for one replaced row in the sample is known."""
    place, _ = setting.first_sample()
    if setting.of_one_unit(Kind.PAIR).get(id(place), math.inf) == math.inf:
        raise Refused("the loss for one replaced row in the sample is not known")


POISSON = Hypothesis(
    "Poisson sampling", "each row is drawn by itself, with the same chance q", "declared", _poisson
)
ONCE = ONE_MECHANISM._replace(
    name="amplified once",
    says="all that reads one sample, or what is made from it, is composed before",
)
ON_SAMPLE = ON_WHAT_IS_READ._replace(
    name="stated on the sample",
    says="the guarantee is for neighbouring samples, or for what is made of them; one stated above "
    "contains what is drawn already, and is not amplified",
)
IN_EPSILON = checked(
    Setting,
    "an amplified loss",
    "the loss is an ε, or an (ε, δ): a ρ or a μ is not amplified",
    lambda it: it.notion in (Notion.PURE, Notion.APPROX),
    "there is no amplified ρ or μ",
)
REPLACED = checked(
    Setting,
    "one row replaced",
    "bounded neighbours, for the sample and for the table",
    lambda it: all(leaf.kind is Kind.PAIR for leaf in it.at_sample()),
    "the change at the sample is not one of replaced rows",
)
PUBLIC_SIZE = Hypothesis(
    "public size",
    "the table has a public number n of rows, or a public lower bound of it",
    test=_of_public_size,
)

# --- the bound of a release -----------------------------------------------------------------------


def through_sample(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the release, with the loss of one row in the sample amplified by `bound`.

    Several rows are charged as that many steps of the amplified loss; the rows of one user also as
    one step, in which some of them are drawn. Repeated draws compose.
    """
    algebra = setting.algebra
    place, sample = setting.first_sample()
    units = setting.at_sample()
    if sample.size is not None:
        inside = _loss_of_one_unit(setting, place, Kind.PAIR)
        row = _apply_bound(setting, bound, inside, sample.size, sample.of)
        [*counts] = units.values()
        if len(counts) > 1 or counts[0] == 1 or sample.of is None:
            return _release_loss(setting, place, [(row, n) for n in counts])
        known = [
            (chance, algebra.chain([(inside, n)]))
            for n, chance in how_many_of(counts[0], sample.size, sample.of)
        ]
        rows = mixed(algebra, known, rising=True)
        return _release_loss(setting, place, [(rows, 1)])
    row = _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.SINGLE), sample.rate)
    rows = {Kind.SINGLE: 1, Kind.PAIR: 2}
    each: list[tuple[Loss, int]] = []
    for leaf, n in units.items():
        size = rows.get(leaf.kind) or int(leaf.size or 0)
        ways = [algebra.chain([(row, size)])]
        if leaf.kind is Kind.USER:
            some = any_drawn(size, sample.rate)
            ways.append(
                _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.USER), some)
            )
        each.append((algebra.best(ways), n))
    return _release_loss(setting, place, each)


def replaced_through_sample(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the release for replaced rows, by `bound` for one such row of the table.

    `bound` takes the loss in the sample of one row added or removed, that of one row replaced, and
    the rate.
    """
    place, sample = setting.first_sample()
    once = _loss_of_one_unit(setting, place, Kind.SINGLE)
    both = _loss_of_one_unit(setting, place, Kind.PAIR)
    row = bound(None if once == math.inf else once, both, sample.rate)
    return _release_loss(setting, place, [(row, n) for n in setting.at_sample().values()])


def through_limit(setting: Setting, bound: Bound) -> Loss:
    """Returns the loss of the release for a row added above a limit that draws one row of each key.

    `bound`: the loss of an added row that displaces another one, from that of one row replaced
    below.
    """
    place = setting.random_limit()
    comes = _loss_of_one_unit(setting, place, Kind.SINGLE)
    displaces = _apply_bound(setting, bound, _loss_of_one_unit(setting, place, Kind.PAIR))
    return _release_loss(setting, place, [(setting.algebra.worst_case([comes, displaces]), 1)])


def _loss_of_one_unit(setting: Setting, place: Place, kind: Kind) -> Loss:
    """Returns the loss for one unit of a kind at a place; raises `Refused` if it is not known."""
    found = setting.of_one_unit(kind).get(id(place))
    if found is None:
        raise Refused("the loss at the sample is not one for single rows")
    return found


def _apply_bound(setting: Setting, bound: Bound, loss: Loss, *rate: Any) -> Loss:
    """Returns the loss for which `bound` of each (ε, δ) of `loss` holds; `rate`: further arguments
    of `bound`."""
    algebra = setting.algebra
    return algebra.of_pairs(bound(pair, *rate) for pair in algebra.pairs(loss))


def _release_loss(setting: Setting, place: Place, units: Sequence[tuple[Loss, int]]) -> Loss:
    """Returns the loss of the release, composed over the draws of the sample and along the change
    above it.

    `place`: the sample; `units`: (amplified loss of a unit of the change above it, number of such
    units).
    """
    assert place.edge is not None
    algebra = setting.algebra
    above = setting.visit(place.edge.parent)
    if above is None:
        return algebra.zero
    each = [(algebra.times(loss, place.edge.rounds), n * above.distance) for loss, n in units]
    return each[0][0] if [n for _, n in each] == [1] else algebra.chain(each)


def amplified(pair: Pair, rate: Fraction) -> Pair:
    """Returns the (ε, δ) for one row of the table, given those for one row in its sample (`pair`).

    `rate` q: the chance that a row is drawn; ε becomes ln(1 + q(e^ε - 1)), δ becomes qδ.
    """
    epsilon, delta = pair
    return amplified_up(epsilon, rate), rate * delta


# --- the theorems ---------------------------------------------------------------------------------

theorem(
    "poisson-sample",
    title="Poisson sampling",
    source="BBG18",
    place="Theorem 8",
    formula="δ'(ln(1 + q(e^ε - 1))) = q · δ(ε)",
    hypotheses=(
        ONCE,
        POISSON,
        ON_SAMPLE,
        Hypothesis(
            "one row added or removed",
            "unbounded neighbours of the sample; for the table too, or what is protected is a few "
            "such rows, one after the other, or all rows of a unit, of which at most so many can "
            "be drawn",
            test=_rows_at_sample,
        ),
        IN_EPSILON,
    ),
    uses=(Use(Role.SAMPLE, "release", run=through_sample),),
)(amplified)


theorem(
    "poisson-sample-added",
    title="Poisson sampling and a row added",
    source="dpcompose",
    place="Documentation",
    formula="δ'(-ln(1 - q + q·e^-ε)) = q·e^(ε' - ε) · δ(ε)",
    hypotheses=(ONCE, POISSON, ON_SAMPLE, IN_EPSILON),
    uses=(Use(Role.SAMPLE_ADDED),),
)(None)


@theorem(
    "poisson-sample-replaced",
    title="Poisson sampling and a replaced row",
    source="dpcompose",
    place="Documentation",
    formula="ε' = ln( (1 - q + q·e^u)/(1 - q + q·e^(u-b)) ),  b ≤ 2u",
    hypotheses=(
        in_notion(Notion.PURE, "the losses at the sample are u and b, without a δ"),
        ONCE,
        POISSON,
        ON_SAMPLE,
        REPLACED,
        Hypothesis(
            "u and b",
            "the loss at the sample is u for one row added or removed (or unknown), and b for one "
            "replaced",
            test=_known_at_sample,
        ),
    ),
    notion=Notion.PURE,
    uses=(Use(Role.SAMPLE_REPLACED, "release", run=replaced_through_sample),),
)
def poisson_replaced(single: Fraction | None, replaced: Fraction, rate: Fraction) -> Fraction:
    """Returns the ε for one replaced row of the table, rounded up; read through a Poisson sample of
    `rate`.

    `single`: the ε in the sample for one row added or removed, None if not known; `replaced`: for
    one row replaced.
    """
    found = exchanged_up(single, replaced, rate)
    assert found is not None
    return found


@theorem(
    "sample-without-replacement",
    title="Sampling without replacement",
    source="BBG18",
    place="Theorem 9",
    formula="δ'(ln(1 + q(e^ε - 1))) = q · δ(ε),  q = m/n",
    hypotheses=(ONCE, PUBLIC_SIZE, ON_SAMPLE, REPLACED, IN_EPSILON),
    uses=(Use(Role.SAMPLE_OF_SIZE, "release", run=through_sample),),
)
def sample_without_replacement(pair: Pair, size: int, of: int) -> Pair:
    return amplified(pair, Fraction(size, of))


theorem(
    "truncated-poisson-sample",
    title="Poisson sampling cut to a size",
    source="dpcompose",
    place="Theorem",
    formula="δ ≤ (1-p)·δ_q(ε) + p·δ_r(ε)",
    hypotheses=(ONCE, ON_SAMPLE),
    uses=(Use(Role.CUT_OFF),),
)(None)
theorem(
    "sample-with-replacement",
    title="Sampling with replacement",
    source="dpcompose",
    place="Theorem",
    formula="δ'(ln Σ w_j·e^ε_j) = Σ w_j·δ_j,  w_j = P(Bin(m, 1/n) = j)",
    hypotheses=(ONCE, PUBLIC_SIZE, ON_SAMPLE, REPLACED),
    uses=(Use(Role.DRAWN_AGAIN),),
)(None)
theorem(
    "random-allocation",
    title="Random allocation (balls in bins)",
    source="dpcompose",
    place="Theorem",
    formula="δ(ε) = E(L-e^ε)₊ or E(1-e^ε·L)₊,  L = (X_1+…+X_t)/t,  X_i = e^(μZ_i-μ²/2)",
    hypotheses=(ON_SAMPLE,),
    uses=(Use(Role.ALLOCATED),),
)(None)


@theorem(
    "random-limit",
    title="One row of each key, drawn at random",
    source="dpcompose",
    place="Documentation",
    formula="δ'(ε) = max( δ_u(ε), δ_b(ln(2e^ε - 1))/2 ),  for pure DP ε' = max(u, ln((1+e^b)/2))",
    hypotheses=(
        ONCE,
        Hypothesis(
            "one row of each key",
            "a limit or a cap draws one row of each key, every row of the key with the same chance "
            "and each key by itself",
            "declared",
            Setting.random_limit,
        ),
        ON_SAMPLE,
        Hypothesis(
            "one row added or removed",
            "one row comes or goes above the limit; several rows are a path of such steps",
            test=_one_row_at_limit,
        ),
        IN_EPSILON,
    ),
    uses=(Use(Role.DISPLACED, "release", run=through_limit),),
)
def displaced_row(pair: Pair) -> Pair:
    return amplified(pair, Fraction(1, 2))
