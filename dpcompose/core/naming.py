"""Which theorem gives a bound: the most specific one that attains it, and how the others compare.

The value is computed by the general theorem. A named theorem is cited when its hypotheses hold and
its own bound, computed from the losses of the blocks, is the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from dpcompose.core import theorems as _theorems  # noqa: F401  (fills the book)
from dpcompose.core.answer import Solution, Solver
from dpcompose.core.derivation import Quantity
from dpcompose.core.guarantee import Notion
from dpcompose.core.loss import Loss, Pairs, Scalars
from dpcompose.core.one_partition import (
    BEST_COMMON,
    BEST_OWN,
    TWO_LARGEST,
    Refused,
    Setting,
    best_common,
    best_own,
    two_largest,
)
from dpcompose.core.problem import Sample
from dpcompose.core.relation import RelationKind
from dpcompose.values import dataclass

P, A, G, Z = Notion.PURE, Notion.APPROX, Notion.GDP, Notion.ZCDP

#: The same theorem for each notion: adaptive, and for pure DP also independent composition.
GENERAL = {P: "V.2", A: "VI.4", Z: "VI.13", G: "VI.21"}
SEQUENTIAL = {P: "V.3", A: "VI.5", Z: "VI.15", G: "VI.23"}
COMMON = {P: "V.5", A: "VI.7", Z: "VI.14", G: "VI.22"}
GROUP = {P: "III.3", A: "VI.3", Z: "VI.12", G: "VI.20"}
INDEPENDENT = {
    "V.2": "IV.1", "V.3": "IV.3", "V.5": "IV.11", "V.4": "IV.6", "V.6": "IV.12",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Compared:
    """A theorem held against the problem.

    `loss` is its bound (None: it does not apply); `why`: the hypothesis that fails, or how it
    compares.
    """

    theorem: str
    loss: Loss | None
    why: str


def compare(solver: Solver, solution: Solution) -> tuple[str, list[Compared]]:
    """The theorem to cite for a solution, and every other one with its bound or what fails.

    The list is ordered from the most specific to the most general theorem.
    """
    notion = solution.notion
    general = numbered(GENERAL[notion], solver)
    if len(solver.tops) != 1:
        sequential = _sequential(solver, solution)
        return general, [sequential] if sequential is not None else []
    setting = Setting(solution, solver.tops[0][1], solver.problem.goal)
    rules: list[tuple[str, Callable[[Setting], Loss]]] = [
        (numbered(BEST_OWN[notion], solver), best_own),
        (numbered(BEST_COMMON[notion], solver), best_common),
        (TWO_LARGEST[notion], two_largest),
    ]
    single = _single_mechanism(setting)
    cited: str | None = None
    compared: list[Compared] = []
    for identifier, rule in rules:
        try:
            loss = rule(setting)
        except Refused as refusal:
            compared.append(Compared(identifier, None, str(refusal)))
            continue
        if cited is None and loss == solution.loss:
            cited = identifier
        else:
            compared.append(Compared(identifier, loss, "applies, but another bound is used"))
    sequential = _sequential(solver, solution)
    whole = _reads_root(setting)
    if cited is None and single is not None:
        cited = single
    if cited is None and whole:
        cited = numbered(SEQUENTIAL[notion], solver)
    elif sequential is not None:
        compared.append(sequential)
    if cited is None and _all_on_root(setting):
        cited = numbered(COMMON[notion], solver)
    if cited is None:
        cited = general
    elif cited != general:
        compared.append(
            Compared(general, solution.loss, "the general theorem, of which this is a case")
        )
    merged: dict[str, Compared] = {}
    for each in compared:
        if each.theorem != cited:
            merged.setdefault(each.theorem, each)
    return cited, list(merged.values())


def numbered(identifier: str, solver: Solver) -> str:
    """The number of a theorem under the adaptivity that the spec asks for."""
    return identifier if solver.problem.adaptive else INDEPENDENT.get(identifier, identifier)


def _reads_root(setting: Setting) -> bool:
    return all(place.depth == 0 for place, _ in setting.statements())


def _all_on_root(setting: Setting) -> bool:
    return all(statement.up == place.depth for place, statement in setting.statements())


def _single_mechanism(setting: Setting) -> str | None:
    """The stability theorem that alone explains one mechanism, if there is just one."""
    found = list(setting.statements())
    if len(found) != 1:
        return None
    place, statement = found[0]
    count = sum(mechanism.count for mechanism, _ in place.mechanisms)
    edges = place.ancestors(place.depth)
    if count != 1 or any(edge.made_by is None for edge in edges):
        return None
    samples = [edge.made_by for edge in edges if isinstance(edge.made_by, Sample)]
    if samples and not statement.up:
        if samples[-1].size is not None:
            return "sample-without-replacement"
        replaced = setting.goal.relation.kind is RelationKind.BOUNDED
        return "poisson-sample-replaced" if replaced and setting.notion is P else "poisson-sample"
    notion = setting.notion
    if statement.guarantee.notion is not notion:
        return None
    if statement.up == place.depth:
        same = statement.relation == setting.goal.relation
        if same and not edges:
            return GROUP[notion] if setting.goal.distance > 1 else None
        return "A.3" if notion is P and not edges else None
    if statement.up or notion is not P:
        return None
    return "III.8" if len(edges) > 1 else "III.6"


def _sequential(solver: Solver, solution: Solution) -> Compared | None:
    """What charging every mechanism in full would give."""
    loss = solver.sequential(solution)
    identifier = numbered(SEQUENTIAL[solution.notion], solver)
    if loss == solution.algebra.none or loss == math.inf:
        why = "some mechanism has no finite bound by itself"
        if isinstance(solution.algebra, Pairs):
            why += ", or all δ's together reach 1"
        return Compared(identifier, None, why)
    if loss == solution.loss:
        return Compared(identifier, loss, "gives the same here")
    return Compared(
        identifier,
        loss,
        "sound but looser: it charges for every block, whatever one change reaches",
    )


def quantity_of(solution: Solution, loss: Loss) -> Quantity | None:
    """A loss of the solution's algebra as a certified bound."""
    algebra = solution.algebra
    if isinstance(algebra, Scalars):
        if loss == math.inf:
            return None
        return Quantity(algebra.notion, loss, Fraction(0), _exact(solution))
    assert isinstance(algebra, Pairs)
    for epsilon, delta in loss:
        if algebra.plain(delta) < 1:
            return Quantity(Notion.APPROX, epsilon, algebra.plain(delta), _exact(solution))
    return None


def _exact(solution: Solution) -> bool:
    return all(quantity.exact for quantity in solution.quantities)
