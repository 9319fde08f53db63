"""Certificates of a report's bounds, and what the stand-alone checker says of them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpcompose.core.kernel.certificate import lines, multiset_line, point_line
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import certificate_at_delta, certificate_of
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.errors import Diagnostic, in_order
from dpcompose.report import At, Report
from dpcompose.report.findings import UNCONFIRMED
from dpcompose.report.reasoning import Recheck
from dpcompose.report.wording import number


class Unproved(Exception):
    """A certificate that the checker refuses: a fault of dpcompose, never one of the spec."""


def certificate_lines(
    solver: Solver, solutions: Sequence[Solution], digest: str = "", points: Iterable[At] = ()
) -> tuple[str, ...]:
    """Returns the certificate of finite solutions, a line of JSON each.

    `digest`: the SHA-256 of the spec. `points`: numbers at a chosen δ, of which those are in it
    that follow from a bound in μ or ρ, or from losses that are kept apart.
    """
    proofs = [certificate_of(solver, each) for each in solutions]
    numbers = {each.notion: number for number, each in enumerate(proofs)}
    told: list[dict[str, Any]] = []
    for at in points:
        if at.wanted != "delta" or at.value is None or not at.given:
            continue
        notion = _NOTIONS.get(at.rule, Notion.PROFILE)
        if at.rule == "basic composition":
            notion = Notion.PURE if Notion.PURE in numbers else Notion.APPROX
        if notion is Notion.PROFILE and notion not in numbers:
            kept_apart = certificate_at_delta(solver)
            if kept_apart and None not in map(multiset_line, kept_apart.loss):
                numbers[notion] = len(proofs)
                proofs.append(kept_apart)
        alone = notion in (Notion.ZCDP, Notion.GDP)
        if notion not in numbers or (alone and len(solver.patterns) > 1):
            continue
        loss = proofs[numbers[notion]].loss
        order = _order(float(loss), float(at.given)) if notion is Notion.ZCDP else None
        told.append(point_line(numbers[notion], at.given, at.value, order))
    found = [*lines(solver.problem, digest, proofs), *told]
    return tuple(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in found)


#: From which bound a number at a δ follows, by its route; elsewhere from losses kept apart,
#: whose composition no other route is below.
_NOTIONS = {"exact Gaussian": Notion.GDP, "zCDP conversion": Notion.ZCDP}


def _order(rho: float, delta: float) -> Fraction:
    """Returns the order α at which the Rényi divergence of ρ-zCDP gives the least ε at δ, by
    ternary search."""

    def epsilon(logarithm: float) -> float:
        """Returns the ε at δ of ρ-zCDP by the order α = 1 + exp(`logarithm`)."""
        alpha = 1 + math.exp(logarithm)
        rest = (alpha - 1) * math.log1p(-1 / alpha) - math.log(alpha) - math.log(delta)
        return alpha * rho + rest / (alpha - 1)

    low, high = -20.0, 40.0
    for _ in range(200):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if epsilon(first) < epsilon(second) else (first, high)
    return 1 + Fraction(round(math.exp(low) * 10**9), 10**9)


def recheck(certificate: Sequence[str], text: bytes | None = None) -> Recheck:
    """Returns what the checker says of a certificate, and of the `text` of its spec where given.

    Raises Unproved where it refuses them.
    """
    from dpcompose import checker

    start = time.perf_counter()
    uncompared: tuple[str, ...] = ()
    try:
        found = checker.check(certificate)
        if text is not None:
            uncompared = tuple(sorted(checker.compare(certificate, text).left))
    except checker.Rejected as refused:
        raise Unproved(f"the checker refuses the certificate: {refused}") from refused
    seconds = time.perf_counter() - start
    left = sorted((why, len(places)) for why, places in found.unchecked.items())
    points = tuple((delta, within) for _, delta, within in found.points)
    return Recheck(found.checked, seconds, tuple(left), points, uncompared)


def with_gap(report: Report, held: bool = False) -> Report:
    """Returns a report that the checker has gone through, with an error (DPC214) where it does not
    confirm what is stated.

    `held`: whether only the numbers matter that meet a budget.
    """
    missing = unconfirmed(report, held)
    if not missing:
        return report
    found = report.rechecked
    assert found is not None
    why = [f"it has no rule for {each}" for each, _ in found.unchecked if each != _RESTS]
    why += [f"it does not compare `{each}` of the spec" for each in found.uncompared]
    says = f"the checker does not confirm {', '.join(missing)}"
    says += f": {'; '.join(why)}" if why else ""
    error = Diagnostic(UNCONFIRMED, says, report.place, _HINT)
    return replace(report, findings=in_order((*report.findings, error)))


#: What the checker says of a number where it has no rule for claims, which are told by themselves.
_RESTS = "a number that rests on claims that were not checked"
_HINT = (
    "it rests on the engine alone; settings that a call names accept that for the specs of an "
    'override: severity = {DPC214 = "warning"}'
)


def unconfirmed(report: Report, held: bool = False) -> tuple[str, ...]:
    """Returns the numbers of a report that the checker does not confirm, in words.

    `held`: whether only those matter that meet a budget; otherwise all that are stated do.
    """
    found = report.rechecked
    assert found is not None
    whole = bool(found.claims) and not found.unchecked and not found.uncompared
    points = () if found.uncompared else tuple(delta for delta, _ in found.points)
    missing = [*_held_unconfirmed(report, whole, points)]
    if not held:
        missing += [] if whole or report.bound is None else [_BOUND]
        missing += [
            _epsilon_at(at.given)
            for at in report.at_delta
            if at.value is not None and at.given not in points
        ]
        told = [name for name in report.not_rechecked if name != "at_delta"]
        learnt = report.attributes
        told += ["attributes"] if any(each.at_delta or each.risk for each in learnt) else []
        missing += [_STATED[name] for name in told]
    return tuple(dict.fromkeys(missing))


def _held_unconfirmed(report: Report, whole: bool, points: Sequence[Fraction]) -> Iterator[str]:
    """Yields the numbers that meet a budget and are not confirmed.

    `whole`: whether every claim about the bounds is confirmed; `points`: the δ's at which the ε is.
    """
    verdicts = [each for each in (report.verdict, *report.ceilings) if each is not None and each.ok]
    for verdict in verdicts:
        if verdict.limit.of_risk or verdict.of_adversary:
            yield "a budget in risk or against an adversary"
        elif verdict.at is not None:
            if verdict.at.given not in points:
                yield _epsilon_at(verdict.at.given)
        elif not whole:
            yield _BOUND
    shown = {each.limit for each in verdicts}
    for limit in report.limits:  # a report has one verdict, and further budgets hold as well
        delta = dict(limit.parameters).get("delta")
        if limit not in shown and verdicts and not whole and (limit.of_risk or delta not in points):
            yield _BOUND


def _epsilon_at(delta: Fraction) -> str:
    """Returns what the ε at a δ is called."""
    return f"ε at δ = {number(delta)}"


_BOUND = "the bound"
_STATED = {
    "at_epsilon": "the numbers at a chosen ε",
    "risk": "what an attacker gains",
    "adversary": "what holds against the adversary",
    "attributes": "what is learnt of columns at a δ",
}
