"""Certificates of a report's bounds, and what the stand-alone checker says of them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dpcompose.core.kernel.certificate_lines import lines
from dpcompose.core.search.proof import certificate_of
from dpcompose.core.search.solver import Solution, Solver
from dpcompose.report.reasoning import Recheck


class Unproved(Exception):
    """A certificate that the checker refuses: a fault of dpcompose, never one of the spec."""


def certificate_lines(
    solver: Solver, solutions: Iterable[Solution], digest: str = ""
) -> tuple[str, ...]:
    """Returns the certificate of finite solutions, a line of JSON each; `digest`: the SHA-256 of
    the spec."""
    proofs = [certificate_of(solver, each) for each in solutions]
    found = lines(solver.problem, digest, proofs)
    return tuple(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in found)


def recheck(certificate: Sequence[str]) -> Recheck:
    """Returns what the checker says of a certificate; raises Unproved where it refuses it."""
    from dpcompose import checker

    start = time.perf_counter()
    try:
        found = checker.check(certificate)
    except checker.Rejected as refused:
        raise Unproved(f"the checker refuses the certificate: {refused}") from refused
    seconds = time.perf_counter() - start
    left = sorted((why, len(places)) for why, places in found.unchecked.items())
    return Recheck(found.checked, seconds, tuple(left))


@dataclass(frozen=True, slots=True)
class Proving:
    """Whether a report comes with its certificate, and whether the checker goes through it.

    `digest`: the SHA-256 of the spec.
    """

    certificate: bool = False
    recheck: bool = False
    digest: str = ""

    def of(
        self, solver: Solver, solutions: Iterable[Solution]
    ) -> tuple[tuple[str, ...], Recheck | None]:
        """Returns the certificate of finite solutions, and what the checker says of it, each if it
        is wanted; raises Unproved."""
        if not (self.certificate or self.recheck):
            return (), None
        found = certificate_lines(solver, solutions, self.digest)
        checked = recheck(found) if self.recheck else None
        return (found if self.certificate else ()), checked
