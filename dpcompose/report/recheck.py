"""Certificates of a report's bounds, and what the stand-alone checker says of them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpcompose.core.kernel.certificate import lines, multiset_line, point_line
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.proof import certificate_at_delta, certificate_of
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.errors import Diagnostic, in_order
from dpcompose.report import At, Report
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
    try:
        found = checker.check(certificate)
        if text is not None:
            checker.compare(certificate, text)
    except checker.Rejected as refused:
        raise Unproved(f"the checker refuses the certificate: {refused}") from refused
    seconds = time.perf_counter() - start
    left = sorted((why, len(places)) for why, places in found.unchecked.items())
    points = tuple((delta, within) for _, delta, within in found.points)
    return Recheck(found.checked, seconds, tuple(left), points)


def with_gap(report: Report) -> Report:
    """Returns the report, with a remark where the checker does not confirm its verdict."""
    why = unconfirmed(report)
    if why is None:
        return report
    hint = "`--fail-on warning` fails where a number rests on the engine alone"
    remark = Diagnostic("DPC214", why, report.place, hint, "warning")
    return replace(report, findings=in_order((*report.findings, remark)))


def unconfirmed(report: Report) -> str | None:
    """Returns why the number that meets the budget is not confirmed, None where it is."""
    found, verdict = report.rechecked, report.verdict
    assert found is not None and verdict is not None
    if verdict.at is not None and verdict.at.wanted == "delta":
        if verdict.at.given in dict(found.points):
            return None
        says = f"ε at δ = {number(verdict.at.given)}"
    elif report.risk is not None or verdict.limit.of_risk or verdict.of_adversary:
        says = "a budget in risk or against an adversary"
    elif found.claims and not found.unchecked:
        return None
    else:
        says = "the bound"
    missing = [why for why, _ in found.unchecked]
    rules = f": it has no rule for {', '.join(missing)}" if missing else ""
    return f"the checker does not confirm {says}{rules}"
