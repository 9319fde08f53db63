"""The formats `json` and `jsonl`: the public shape of results, version 1.

It is a contract, not a dump of internal objects. Bounds are rounded up, budgets and what is left of
them down; nothing is NaN or infinite: null replaces numbers that no double can hold. `exact` gives
a fraction as text wherever the bound is rational. Everything is ASCII, so that any text from a spec
can be printed anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpcompose.errors import Diagnostic, Fix, Span
from dpcompose.places import version
from dpcompose.render.headlines import requested_number
from dpcompose.render.layout import Style
from dpcompose.render.numbers import (
    fraction_text,
    number_down,
    number_up,
    other_parameter,
)
from dpcompose.render.problems import NO_BUDGET, problems
from dpcompose.render.theorem_text import book
from dpcompose.report import (
    Advice,
    AgainstAdversary,
    Alternative,
    AnswerNoise,
    Assumption,
    At,
    Bound,
    FilterRecord,
    Ignored,
    Learnt,
    LeftOut,
    Line,
    Node,
    Recheck,
    Report,
    Risk,
    Share,
    Touch,
    Verdict,
    WorstChange,
)

SCHEMA_VERSION = 1

Shape = dict[str, Any]


def render(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one document with all results, each as soon as it is ready."""
    yield dumped(head(), indent=2).removesuffix("\n}\n") + ',\n  "results": ['
    first, out = True, ""
    for report in reports:
        if report.left_out is not None:
            out = ',\n  "left_out": ' + indented(left_out_shape(report.left_out), 2).lstrip()
            continue
        yield ("\n" if first else ",\n") + indented(result(report, checking), 4)
        first = False
    yield ("]" if first else "\n  ]") + out + "\n}\n"


def head() -> Shape:
    """Returns the first keys of every document: the versions."""
    return {"dpcompose": version(), "schema_version": SCHEMA_VERSION}


def render_lines(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Yields one line for each result; the last one counts what was left out of the run."""
    waiting: Shape | None = None
    for report in reports:
        if report.left_out is not None:
            if waiting is not None:
                waiting["left_out"] = left_out_shape(report.left_out)
            continue
        yield "" if waiting is None else dumped(waiting)
        waiting = {"schema_version": SCHEMA_VERSION, **result(report, checking)}
    if waiting is not None:
        yield dumped(waiting)


def render_certificates(reports: Iterable[Report], style: Style, checking: bool) -> Iterator[str]:
    """Returns the certificates of bounds, a line of JSON each, for the stand-alone checker."""
    for report in reports:
        yield "".join(f"{line}\n" for line in report.certificate)


def left_out_shape(found: LeftOut) -> Shape:
    """Returns the counts of what a run met and has no result for as a JSON object."""
    return {
        "unread": found.unread,
        "skipped": found.skipped,
        "dangling": found.dangling,
        "folders": found.folders,
        **({"hidden": found.hidden} if found.hidden else {}),
        **({"absent": found.absent} if found.absent else {}),
        "names": list(found.names),
    }


def dumped(value: object, indent: int | None = None) -> str:
    """Returns a value as JSON text and a newline, free of commands of a log (see `logs`)."""
    return json.dumps(value, indent=indent, allow_nan=False).replace("##", "#\\u0023") + "\n"


def indented(value: object, spaces: int) -> str:
    """Returns a value as JSON text, indented by so many spaces, without a newline at the end."""
    margin = " " * spaces
    return margin + dumped(value, indent=2).rstrip("\n").replace("\n", "\n" + margin)


def result(report: Report, checking: bool = False) -> Shape:
    """Returns one report as a JSON object; with `checking`, a missing budget is a finding."""
    return {
        "file": report.file,
        **({} if report.document is None else {"document": report.document}),
        "title": report.title,
        **({} if report.population is None else {"population": report.population}),
        "status": report.status,
        "protect": _protect(report),
        "headline": _headline(report),
        "guarantee": _guarantee(report),
        "at_delta": [at_shape(each) for each in report.at_delta],
        **(
            {"at_epsilon": [at_shape(each) for each in report.at_epsilon]}
            if report.at_epsilon
            else {}
        ),
        **({} if report.risk is None else {"risk": risk_shape(report.risk)}),
        "theorem": theorem_shape(report.theorem),
        "worst_case": _worst_change_shape(report.worst),
        "derivation": [_step(each) for each in report.chain],
        "tree": [_node(each) for each in report.tree],
        "alternatives": [_alternative(each) for each in report.alternatives],
        "assumptions": [_assumption(each) for each in report.assumptions],
        "reasons": list(report.reasons),
        "shares": [_share(each) for each in report.shares],
        **({"groups": groups} if (groups := _groups(report)) else {}),
        **({"accuracy": list(map(_accuracy, report.accuracy))} if report.accuracy else {}),
        "findings": [finding_shape(each) for each in _findings(report, checking)],
        **({"ignored": [_ignored(each) for each in report.ignored]} if report.ignored else {}),
        "budget": budget_shape(report.verdict, report.bound),
        **({} if report.record is None else {"filter": record_shape(report.record)}),
        **({"attributes": [_learnt(e) for e in report.attributes]} if report.attributes else {}),
        **({} if report.adversary is None else {"adversary": _adversary(report.adversary)}),
        "advice": [_advice(each) for each in report.advice],
        **({"assumed_relations": _assumed_relations(report)} if report.assumed_relations else {}),
        **({} if report.rechecked is None else {"recheck": _recheck(report, report.rechecked)}),
    }


def _assumed_relations(report: Report) -> Shape:
    """Returns how many statements have an assumed relation, and the number by another reading."""
    found: Shape = {"count": len(report.assumed_relations)}
    if report.otherwise is not None:
        name, value = report.otherwise
        found["otherwise"] = {"number": name, "value": None if value is None else number_up(value)}
    return found


def _findings(report: Report, checking: bool) -> list[Diagnostic]:
    """Returns the findings of a report, with the one that a budget is missing."""
    missing = [each for each in problems(report, checking) if each.code == NO_BUDGET]
    return [*missing, *report.findings]


def _protect(report: Report) -> Shape | None:
    """Returns the protected relation as a JSON object; None for an invalid spec."""
    if report.relation is None:
        return None
    keeps = {"keeps": list(report.keeps)} if report.keeps else {}
    changes = {"changes": list(report.changes)} if report.changes else {}
    return {"relation": report.relation, **keeps, **changes, "distance": report.distance}


def _guarantee(report: Report) -> Shape | None:
    """Returns the bound, or a profile if the mechanisms share no notion, as a JSON object."""
    if report.status != "ok":
        return None
    return {"notion": "profile"} if report.bound is None else bound_shape(report.bound)


def _headline(report: Report) -> Shape | None:
    """Returns the number that leads a report: that of the budget, of the first δ asked for, or the
    bound; None where there is none."""
    at, bound = requested_number(report), report.bound
    if report.status != "ok":
        return None
    if at is not None:
        return {
            "number": other_parameter(at),
            "value": _up(at.value),
            "at": number_up(at.given),
        }
    if bound is None:
        return None
    (name, value, _), *rest = bound.parameters
    delta = next((number_up(each) for _, each, _ in rest), None)
    return {"number": name, "value": number_up(value), "at": delta}


def at_shape(at: At) -> Shape:
    """Returns a number at a chosen δ or ε, both rounded up, as a JSON object.

    A bound at some number holds at any larger one.
    """
    found = other_parameter(at)
    exact = fraction_text(at.given)
    return {
        at.wanted: number_up(at.given),
        found: _up(at.value),
        "rule": at.rule,
        "says": at.says,
        f"{found}_lower": None if at.lower is None else number_down(at.lower),
        "others": [
            {"rule": each.name, found: _up(each.value), "why": each.why} for each in at.others
        ],
        "worst_case": list(at.worst),
        "steps": list(at.chain),
        "exact": {} if exact is None else {at.wanted: exact},
    }


def risk_shape(risk: Risk) -> Shape:
    """Returns an attacker's gain as a JSON object, with every rate rounded up."""
    shape: Shape = {
        "advantage": number_up(risk.advantage),
        "membership": number_up(risk.membership),
        "hits": [{"false_alarms": number_up(a), "hits": number_up(b)} for a, b in risk.hits],
        "success": [{"baseline": number_up(a), "success": number_up(b)} for a, b in risk.success],
    }
    if risk.point is not None and risk.from_point is not None:
        epsilon, delta = risk.point
        point = {"epsilon": number_up(epsilon), "delta": number_up(delta)}
        shape["from_point"] = {**point, **risk_shape(risk.from_point)}
    return shape


def _up(value: Fraction | None) -> float | None:
    """Returns a number rounded up to a double; None for None."""
    return None if value is None else number_up(value)


def bound_shape(bound: Bound | None) -> Shape | None:
    """Returns a bound as a JSON object; None for None."""
    if bound is None:
        return None
    shape: Shape = {"notion": bound.notion.value}
    exact: dict[str, str] = {}
    for name, value, is_exact in bound.parameters:
        shape[name] = number_up(value)
        text = fraction_text(value) if is_exact else None
        if text is not None:
            exact[name] = text
    shape["exact"] = exact
    return shape


def theorem_shape(identifier: str | None) -> Shape | None:
    """Returns an entry of the theorem book as a JSON object; None for None."""
    if identifier is None:
        return None

    entry = book().get(identifier)
    if entry is None:
        return {"id": identifier, "title": None, "source": None}
    return {"id": entry.id, "title": entry.title, "source": entry.source, "place": entry.place}


def _worst_change_shape(worst: WorstChange | None) -> Shape | None:
    """Returns the worst change as a JSON object; None for None."""
    if worst is None:
        return None
    return {
        "change": list(worst.says),
        "datasets": list(worst.datasets),
        "mechanisms": [_touch(each) for each in worst.touches],
        "omitted": worst.omitted,
    }


def _advice(advice: Advice) -> Shape:
    """Returns one advice as a JSON object."""
    return {
        "key": advice.key,
        "if": advice.condition,
        "write": [{"says": each.write, "line": each.span.line} for each in advice.places],
        "number": advice.number,
        "before": _up(advice.before),
        "after": number_up(advice.after),
        "saves": None if advice.saves is None else number_down(advice.saves),
    }


def _learnt(learnt: Learnt) -> Shape:
    """Returns the answer to a question about columns as a JSON object."""
    profile = {"notion": "profile"} if learnt.is_finite else None
    return {
        "name": learnt.name,
        "changes": list(learnt.changes),
        "guarantee": profile if learnt.bound is None else bound_shape(learnt.bound),
        "at_delta": [at_shape(each) for each in learnt.at_delta],
        "risk": None if learnt.risk is None else risk_shape(learnt.risk),
        "mechanisms": list(learnt.mechanisms),
        "reasons": list(learnt.reasons),
    }


def _touch(touch: Touch) -> Shape:
    """Returns a mechanism that the worst change reaches as a JSON object."""
    return {
        "name": touch.mechanism,
        "dataset": touch.dataset,
        "copies": touch.copies,
        "each": bound_shape(touch.each),
        "total": bound_shape(touch.total),
        "line": _line(touch.span),
    }


def _step(line: Line) -> Shape:
    """Returns a numbered sentence of the reasoning as a JSON object."""
    return {
        "number": line.number,
        "theorem": line.theorem,
        "says": line.says,
        "inputs": list(line.inputs),
        "bound": bound_shape(line.bound),
        "lines": [each.line for each in line.spans],
    }


def _node(node: Node) -> Shape:
    """Returns a line of the proof tree as a JSON object."""
    return {
        "number": node.number,
        "depth": node.depth,
        "kind": node.kind,
        "name": node.name,
        "says": node.says,
        "bound": bound_shape(node.bound),
        "theorem": node.theorem,
        "lines": [each.line for each in node.spans],
    }


def _alternative(alternative: Alternative) -> Shape:
    """Returns a theorem that was compared as a JSON object."""
    return {
        "theorem": alternative.theorem,
        "bound": bound_shape(alternative.bound),
        "why": alternative.why,
    }


def _assumption(assumption: Assumption) -> Shape:
    """Returns an assumption as a JSON object."""
    shape: Shape = {"says": assumption.says, "line": _line(assumption.span)}
    return shape if assumption.because is None else {**shape, "because": assumption.because}


def _share(share: Share) -> Shape:
    """Returns what one mechanism adds as a JSON object."""
    return {
        "mechanism": share.mechanism,
        "bound": bound_shape(share.bound),
        "line": _line(share.span),
        "share": _up(share.of_whole),
        "epsilon_without": _up(share.without),
        **({} if share.group is None else {"group": share.group}),
    }


def _groups(report: Report) -> list[Shape]:
    """Returns the parts of the sum of groups of mechanisms as JSON objects."""
    return [{"group": name, "share": _up(part)} for name, part in report.group_shares]


def _accuracy(found: AnswerNoise) -> Shape:
    """Returns what noise does to the answers of a mechanism as a JSON object."""
    return {
        "mechanism": found.mechanism,
        "line": _line(found.span),
        "noise": found.noise or None,
        "standard_deviation": _up(found.deviation),
        "level": _up(found.level),
        "within": _up(found.within),
    }


def finding_shape(finding: Diagnostic) -> Shape:
    """Returns a finding as a JSON object, with its position."""
    span = finding.span
    return {
        "level": finding.level,
        "code": finding.code,
        "message": finding.message,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span else None,
        "hint": finding.hint,
        **({} if finding.label is None else {"label": finding.label}),
        **({} if finding.fix is None else {"fix": _fix(finding.fix)}),
    }


def _fix(fix: Fix) -> Shape:
    """Returns a correction as a JSON object: its edits, and whether it is certain."""
    edits = [{**_span(each.span), "text": each.text} for each in fix.replacements]
    return {"certain": fix.certain, "edits": edits}


def _span(span: Span) -> Shape:
    """Returns a stretch of the file as a JSON object."""
    return {
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


def _ignored(ignored: Ignored) -> Shape:
    """Returns a finding that a comment ignores as a JSON object, with the reason."""
    return {**finding_shape(ignored.finding), "reason": ignored.reason}


def budget_shape(verdict: Verdict | None, bound: Bound | None) -> Shape | None:
    """Returns a verdict as a JSON object; `bound`: the report's own bound."""
    if verdict is None:
        return None
    exact = {name: fraction_text(value) for name, value in verdict.limit.parameters}
    if verdict.slack is not None and _is_exact(verdict, bound):
        exact["slack"] = fraction_text(verdict.slack)
    at = verdict.at
    return {
        "limit": {name: number_down(value) for name, value in verdict.limit.parameters},
        "ok": verdict.ok,
        "slack": None if verdict.slack is None else number_down(verdict.slack),
        "exact": exact,
        "why": verdict.why,
        **({} if at is None else {"at_delta": _held(at)}),
        **({"of": "adversary"} if verdict.of_adversary else {}),
    }


def record_shape(record: FilterRecord) -> Shape:
    """Returns a filter's record as a JSON object: limit and rest rounded down, spent rounded up."""

    def down(parameters: Sequence[tuple[str, Fraction]]) -> Shape:
        """Returns parameters rounded down."""
        return {name: number_down(value) for name, value in parameters}

    spent, cost = record.spent, record.cost
    exact = [(name, fraction_text(value)) for name, value in spent or ()] if record.exact else []
    return {
        "notion": record.notion.value,
        "named": record.named,
        "limit": down(record.limit),
        "spent": None if spent is None else {name: number_up(value) for name, value in spent},
        "left": down(record.left),
        "at_delta": [
            {"delta": number_up(delta), "epsilon": number_up(epsilon)}
            for delta, epsilon in record.at_delta
        ],
        "adaptivity": None
        if cost is None
        else {
            "delta": number_up(cost[0]),
            "epsilon": number_up(cost[1]),
            "epsilon_fixed": number_up(cost[2]),
        },
        "exact": {name: text for name, text in exact if text is not None},
    }


def _recheck(report: Report, found: Recheck) -> Shape:
    """Returns what the stand-alone checker went through, the claims that it has no rule for, and
    the keys with numbers that no claim is about."""
    return {
        "claims": found.claims,
        "seconds": round(found.seconds, 3),
        "unchecked": [{"claims": count, "why": why} for why, count in found.unchecked],
        "points": [
            {"delta": number_up(delta), "within": number_up(within)}
            for delta, within in found.points
        ],
        "leaves_out": list(report.not_rechecked),
    }


def _adversary(found: AgainstAdversary) -> Shape:
    """Returns the bound against the adversary as a JSON object; δ is 0 for pure DP."""
    bound = found.bound
    return {
        "label": found.label,
        "hypotheses": list(found.hypotheses),
        "epsilon": None if bound is None else number_up(bound.value),
        "delta": None if bound is None else number_up(bound.delta or Fraction(0)),
        "theorem": theorem_shape(found.theorem),
        "share_of_guarantee": None if found.ratio is None else number_up(found.ratio),
        "why": found.why,
        "derivation": [_step(each) for each in found.chain],
        "alternatives": [_alternative(each) for each in found.alternatives],
        "assumptions": list(found.assumptions),
        "at_delta": [at_shape(each) for each in found.at_delta],
    }


def _held(at: At) -> Shape:
    """Returns the number at a δ that was compared with the budget as a JSON object."""
    return {"delta": number_up(at.given), "epsilon": _up(at.value), "rule": at.rule}


def _is_exact(verdict: Verdict, bound: Bound | None) -> bool:
    """Returns whether the slack is a difference of stated numbers, not rounded or converted."""
    held, main = verdict.by or bound, verdict.limit.parameters[0][0]
    if held is None or verdict.at is not None:
        return False
    return held.exact and held.notion.facts.symbol == main


def _line(span: Span | None) -> int | None:
    """Returns the line of a position; None for None."""
    return span.line if span else None
