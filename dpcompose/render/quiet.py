"""The numbers alone, one line a file, for shell scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dpcompose.core.numbers.exact import decimal_up
from dpcompose.render.layout import Style
from dpcompose.render.numbers import parameters
from dpcompose.report import At, Report

_DIGITS = 15


def line(report: Report, deltas: Sequence[Fraction] = (), epsilons: Sequence[Fraction] = ()) -> str:
    """`1.7`; `6 0.00006` for (ε,δ); `inf` without a finite bound; `invalid` for an invalid spec.

    With `deltas` or `epsilons`: the ε at each of them, then the δ, in place of the bound, so that
    every line has as many numbers as were asked for, whatever the spec says; `inf` where no ε is
    finite, `1` where no δ is below it. Numbers are decimals in at most 15 digits, rounded up.
    """
    if report.status == "invalid":
        return "invalid"
    if deltas or epsilons:
        found = [_at(report.at_delta, each, "inf") for each in deltas]
        found += [_at(report.at_epsilon, each, "1") for each in epsilons]
        return " ".join(found)
    if report.bound is not None:
        return _texts(*(value for _, value, _ in parameters(report.bound)))
    if report.status == "ok":  # a profile: one point of it is a pair (ε,δ) as well
        for at in report.at_delta:
            if at.value is not None:
                return _texts(at.value, at.given)
    return "inf"


def _at(found: Sequence[At], given: Fraction, missing: str) -> str:
    value = next((each.value for each in found if each.given == given), None)
    return missing if value is None else _texts(value)


def _texts(*values: Fraction) -> str:
    return " ".join(decimal_up(value, _DIGITS) for value in values)


def render(
    reports: Iterable[Report],
    style: Style,
    named: bool,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
) -> Iterator[str]:
    """A line for each report; `named`: with `FILE: ` before it."""
    for report in reports:
        several = named or report.document is not None
        prefix = f"{style.plain(report.label)}: " if several else ""
        yield f"{prefix}{line(report, deltas, epsilons)}\n"
