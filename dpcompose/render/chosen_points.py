"""What holds at a chosen δ or ε, for people: the number, the routes compared, the bookkeeping."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpcompose.core.notions.notion import SIGNS
from dpcompose.render.layout import Style, columns, sentence, wrapped
from dpcompose.render.numbers import (
    excess_over,
    found_text,
    given_text,
    left_text,
    other_parameter,
    route_text,
)
from dpcompose.report import At, Report, Route

_MOST_ROUTES = 8  # listed on a terminal; JSON has them all
_MOST_STEPS = 12
_VISIBLE = Fraction(1, 10**5)  # a smaller relative gap does not show in six digits


def sections(found: Sequence[At], style: Style) -> list[list[str]]:
    """One number in full; several as a table, and the first of them in full."""
    if not found:
        return []
    if len(found) == 1:
        return [_in_full(found[0], _heading(found[0]), style)]
    name = f"At a chosen {SIGNS[found[0].wanted]}"
    table = [style.paint(style.plain(name), "strong"), *rows(found, style), *_worst(found, style)]
    first = _in_full(found[0], f"At {given_text(found[0])} in detail", style, alone=False)
    return [table, first] if len(first) > 1 else [table]


def tables(report: Report, style: Style) -> list[list[str]]:
    """The numbers of a report as tables, without the one that its budget speaks of."""
    said = report.verdict.at if report.verdict else None
    tables = []
    for found in (report.at_delta, report.at_epsilon):
        left = [each for each in found if each != said]
        if left:
            name = style.plain(f"At a chosen {SIGNS[left[0].wanted]}")
            tables.append([style.paint(name, "strong"), *rows(left, style)])
    return tables


def rows(found: Sequence[At], style: Style) -> list[str]:
    """A line for each number: what holds there, by which route, and the next best route."""
    return columns([(given_text(each), found_text(each), _outlook(each)) for each in found], style)


def _outlook(at: At) -> str:
    words = [f"by {at.rule}" if at.rule and at.value is not None else at.says]
    least = _visible_lower(at)
    if least is not None:
        words.append(f"at least {left_text(least)}")
    following = next((each for each in _others(at) if each.value is not None), None)
    if following is not None and following.value is not None and at.value is not None:
        more = excess_over(following.value, at.value)
        words.append(f"next: {following.name}{', ' if more else ''}{more}")
    return "; ".join(filter(None, words))


def _heading(at: At) -> str:
    by = f" by {at.rule}" if at.rule and at.value is not None else ""
    return f"At {given_text(at)}: {found_text(at)}{by}"


def _in_full(at: At, heading: str, style: Style, alone: bool = True) -> list[str]:
    """Everything about one number; `alone`: no table above says where the worst change differs."""
    lines = [style.paint(each, "strong") for each in wrapped(heading, style)]
    if at.says:
        lines += wrapped(sentence(at.says), style, "  ")
    least = _visible_lower(at)
    if least is not None:
        symbol = SIGNS[other_parameter(at)]
        lines += wrapped(f"The true {symbol} is at least {left_text(least)}", style, "  ")
    if alone:
        lines += _worst([at], style)
    for step in at.chain[:_MOST_STEPS]:
        lines += wrapped(sentence(step), style, "  - ")
    lines += _more(len(at.chain) - _MOST_STEPS, "  ", style)
    return lines + _routes(at, style)


def _routes(at: At, style: Style) -> list[str]:
    others = _others(at)
    if not others:
        return []
    table = [_route(each, at.value) for each in others[:_MOST_ROUTES]]
    return [
        "  Other routes",
        *columns(table, style, indent=4),
        *_more(len(others) - _MOST_ROUTES, "    ", style),
    ]


def _route(route: Route, least: Fraction | None) -> tuple[str, str, str]:
    says = ": ".join(filter(None, (route.name, route.why)))
    if route.value is None:
        return "none", "", says
    return route_text(route.value), "" if least is None else excess_over(route.value, least), says


def _others(at: At) -> list[Route]:
    """The routes beside the winner."""
    return [each for each in at.others if each.name != at.rule]


def _visible_lower(at: At) -> Fraction | None:
    """The lower bound, where it is seen to differ from the number that holds."""
    if at.value is None or not at.lower or at.value - at.lower <= _VISIBLE * at.value:
        return None
    return at.lower


def _worst(found: Sequence[At], style: Style) -> list[str]:
    """Where the worst change is not that of the whole report: what it is, each change once."""
    places: dict[tuple[str, ...], list[str]] = {}
    for each in found:
        if each.worst:
            places.setdefault(each.worst, []).append(given_text(each))
    lines: list[str] = []
    for change, given in places.items():
        where = f" at {', '.join(given)}" if len(found) > 1 else " here"
        lines += wrapped(f"Worst change{where}: {'; '.join(change)}", style, "  ", "    ")
    return lines


def _more(omitted: int, indent: str, style: Style) -> list[str]:
    return [style.plain(f"{indent}… and {omitted} more")] if omitted > 0 else []
