"""The output of `--quiet`: the numbers alone, one line for each file, for shell scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dpcompose.curves.rounding import chance, decimal_up
from dpcompose.render.layout import Style
from dpcompose.render.words.headlines import requested_number
from dpcompose.report import At, Report, Risk

_DIGITS = 15
#: A name (empty for `inf` and `invalid`) and a number as text.
_Named = tuple[str, str]


class NoNumber(Exception):
    """Raised where one bare number is due and there are two, or numbers of different notions."""


def line(
    report: Report,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    risk: bool = False,
) -> str:
    """Returns the numbers of a report as one line: `epsilon=1.7`, `inf`, or `invalid`.

    The number of the budget, or the first one that the spec asks for, leads: `epsilon=2.4
    delta=1e-5`. Without a finite bound it is `inf`. With `deltas` or `epsilons`: in its place the ε
    at each of them, then the δ (`delta=3e-7 at_epsilon=1`); `inf` where no ε is finite, `1` where
    no δ below 1 holds. With `risk`: the advantage, then hits and success,
    each with its rate. Numbers are decimals of at most 15 digits, rounded up.
    """
    return " ".join(
        f"{name}={text}" if name else text
        for name, text in _named_numbers(report, deltas, epsilons, risk)
    )


def _named_numbers(
    report: Report, deltas: Sequence[Fraction], epsilons: Sequence[Fraction], risk: bool
) -> Iterator[_Named]:
    """Yields the numbers of a report with their names."""
    if report.status == "invalid":
        yield "", "invalid"
        return
    for given in deltas:
        yield "epsilon", _at(report.at_delta, given, "inf")
        yield "delta", _text(given)
    for given in epsilons:
        yield "delta", _at(report.at_epsilon, given, "1")
        yield "at_epsilon", _text(given)
    if risk:
        yield from _risk(report.risk)
    if deltas or epsilons or risk:
        return
    first = requested_number(report)
    if first is not None and first.wanted == "delta" and first.value is not None:
        yield from (("epsilon", _text(first.value)), ("delta", _text(first.given)))
        return
    if report.bound is not None:
        yield from ((name, _text(value)) for name, value, _ in report.bound.parameters)
        return
    yield "", "inf"


def _risk(risk: Risk | None) -> Iterator[_Named]:
    """Yields an attacker's gain with names; an advantage of 1 where nothing is known."""
    if risk is None:
        yield "advantage", "1"
        return
    yield "advantage", _text(risk.advantage)
    for rate, found in risk.hits:
        yield from (("hits", _text(found)), ("false_alarms", _text(rate)))
    for rate, found in risk.success:
        yield from (("success", _text(found)), ("baseline", _text(rate)))


def _at(found: Sequence[At], given: Fraction, missing: str) -> str:
    """Returns the number at a chosen point as text; `missing` where there is none."""
    value = next((each.value for each in found if each.given == given), None)
    return missing if value is None else _text(value)


def _text(value: Fraction) -> str:
    """Returns a number as a decimal, rounded up."""
    text = decimal_up(value, _DIGITS)
    return chance(text)


def render(
    reports: Iterable[Report],
    style: Style,
    named: bool,
    deltas: Sequence[Fraction] = (),
    epsilons: Sequence[Fraction] = (),
    bare: bool = False,
    risk: bool = False,
) -> Iterator[str]:
    """Yields a line for each report; `named`: starting with `FILE: `; `bare`: one number only; the
    other parameters are those of `line`.

    Raises NoNumber where a bare number would hide what it is.
    """
    notions: dict[str, str] = {}
    for report in reports:
        several = named or report.document is not None
        prefix = f"{style.plain(report.label)}: " if several else ""
        if not bare:
            yield f"{prefix}{line(report, deltas, epsilons, risk)}\n"
            continue
        [(name, text), *more] = _named_numbers(report, deltas, epsilons, False)
        if more and requested_number(report) is not None and not (deltas or epsilons):
            name = f"{name} at delta={more[0][1]}"  # of another δ it is another number
        elif more and not (deltas or epsilons):
            raise NoNumber(
                f"{report.label}: --bare prints one number, and the bound is "
                f"`{line(report)}`: ask for an ε with --delta"
            )
        if name:
            notions.setdefault(name, report.label)
        if len(notions) > 1:
            (one, first), (other, second) = notions.items()
            raise NoNumber(
                f"--bare prints numbers of one sort: {first} has {one}, and {second} has {other}"
            )
        yield f"{prefix}{text}\n"
