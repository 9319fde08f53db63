"""The pipeline: bytes in, a report out. Prints nothing; a bad spec gives a report as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from hashlib import sha256
from numbers import Rational, Real
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING

from dpcompose.core.notions.guarantee import FORMS, RISKS, AskedRisk, Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.errors import Diagnostic, InvalidSpec, in_order, quoted
from dpcompose.faults import listing
from dpcompose.report import Extent, Report
from dpcompose.report.declared_assumptions import claims
from dpcompose.resolve import load_resolved
from dpcompose.source import Source

if TYPE_CHECKING:
    from dpcompose.report.outcomes import Case

#: A number as callers give it: a float stands for the decimal by which Python shows it.
Number = Fraction | Decimal | int | float | str
#: A budget as callers give it: also by its keys in a spec, `{"epsilon": 1, "delta": 1e-6}`.
Limit = Budget | Mapping[str, Number]


def analyze(
    data: bytes | str | PathLike[str],
    name: str | None = None,
    limit: Limit | None = None,
    deltas: Iterable[Number] = (),
    epsilons: Iterable[Number] = (),
    *,
    risk: AskedRisk | None = None,
    default: Sequence[Budget] = (),
    ceilings: Sequence[Budget] = (),
    audit: Callable[[Source, Report], Report] | None = None,
    lines_above: int = 0,
    recheck: bool = False,
    held: bool = False,
    certificate: bool = False,
    extent: Extent = "all",
    by_attribute: bool = False,
    drawn: bool = False,
    accuracy: Number | None = None,
    vouched: bool = False,
) -> Report:
    """Returns the report on one spec: its certified bound, with the reasoning, or why there is
    none.

    `data` is the text of the spec, or the `Path` of its file; `name` is what to call it in
    messages, `limit` a budget to use in place of the spec's own. `deltas`, each in [0, 1), asks for
    the least ε at each of them, and `epsilons`, each ≥ 0, for the least δ, beside what the spec
    asks for. `risk`: where to state what an attacker gains, for a spec that does not say. `default`
    are the budgets of a spec that has none for differential privacy, all of which hold; `ceilings`
    are held against the bound whatever budget there is. `audit` returns the report of a valid spec
    as settings change it. `lines_above` counts the lines above the spec in a stream. The report's
    status says whether there is a bound. `recheck` has the stand-alone checker go through the
    certificate of the bounds; if it refuses one, which is a fault of dpcompose, there is no report.
    What it does not confirm is an error of the report (DPC214); `held`: only where a budget is met.
    `certificate`: whether the report carries that certificate. `extent`: how much the report says.
    `by_attribute`: whether to say what is learnt of each column that a root lists, by itself.
    `drawn`: whether the report has what pictures of its curves need. `accuracy`: the chance, such
    as 0.95, at which to say how far from the true answers the noise is at most.
    `vouched`: whether the report has what each entry of the spec declares.

    Raises Unproved where a recheck fails, OSError where a file cannot be read, and TypeError or
    ValueError where an argument is none of these.
    """
    data, name = text_of(data, name)
    text = data if isinstance(data, bytes) else data.encode("utf-8", "replace")
    digest = sha256(text).hexdigest()
    limit = budget_of(limit)
    deltas, epsilons = numbers_of("deltas", deltas, below=1), numbers_of("epsilons", epsilons)
    try:
        source, resolved = load_resolved(data, name, lines_above)
        declared = tuple(claims(resolved)) if vouched else ()
    except InvalidSpec as invalid:
        return Report(
            file=name,
            title="",
            status="invalid",
            findings=_of_a_path(data) or invalid.diagnostics,
            lines=invalid.lines,
            digest=digest,
        )
    # Imported here: an invalid spec needs neither.
    from dpcompose.core.search.solver import Solver
    from dpcompose.report.outcomes import Case

    asked = limit if limit is not None else resolved.budget
    case = Case(
        source,
        resolved,
        name,
        text,
        Solver(resolved.problem),
        limits=tuple(default) if asked is None else (asked,),
        ceilings=tuple(ceilings),
        against=resolved.adversary_budget if limit is None else None,
        deltas=(*deltas, *resolved.deltas),
        epsilons=(*epsilons, *resolved.epsilons),
        risk=resolved.risk or risk,
        certificate=certificate,
        recheck=recheck,
        extent=extent,
        drawn=drawn,
    )
    again = partial(analyze, text, name, limit)
    report = replace(_report_of(case), again=again, vouched=declared)
    if extent == "all" and (resolved.questions or by_attribute):
        from dpcompose.report.learnt import with_attributes

        report = with_attributes(report, case, by_attribute)
    if accuracy is not None:
        from dpcompose.report.shares import noise_of_answers

        found = noise_of_answers(resolved.problem, level_of(accuracy), source.span)
        report = replace(report, accuracy=found)
    if report.rechecked is not None:
        from dpcompose.report.recheck import with_gap

        report = with_gap(report, held)
    return report if audit is None else audit(source, report)


def _report_of(case: Case) -> Report:
    """Returns the report of a valid spec. Raises Unproved."""
    from dpcompose.report import outcomes
    from dpcompose.report.certify import certify

    resolved = case.resolved
    if resolved.ledger:
        from dpcompose.report.ledger import of_ledger

        return of_ledger(case)
    of_adversary = () if resolved.adversary_budget is None else (resolved.adversary_budget,)
    found = certify(
        case.problem,
        (*case.limits, *case.ceilings, *of_adversary),
        case.deltas,
        case.epsilons,
        case.risk,
        solver=case.solver,
        drawn=case.drawn,
    )
    if found.solutions:
        report = outcomes.of_bound(case, found)
    elif any(at.value is not None for at in found.points):
        report = outcomes.of_profile(case, found)
    else:
        report = outcomes.without_guarantee(case, found)
    if report.status == "ok" and report.verdict is not None and report.verdict.limit.of_risk:
        from dpcompose.report.risk import met_by_curve_alone

        bounds = found.solutions[0].quantities if found.solutions else ()
        told = met_by_curve_alone(report.verdict, report.at_delta, bounds)
        if told is not None:
            remark = Diagnostic("DPC213", told[0], report.place, told[1], "note")
            report = replace(report, findings=in_order((*report.findings, remark)))
    if resolved.adversary is None:
        return report
    from dpcompose.report.adversary_told import with_adversary

    return with_adversary(report, case, found.solutions)


_PATH = re.compile(r"[^\n:#{}]{1,500}\.(yaml|yml)", re.IGNORECASE)


def _of_a_path(data: bytes | str) -> tuple[Diagnostic, ...]:
    """Returns the finding that a text is no spec but the path of one; nothing for any other
    text."""
    if not isinstance(data, str) or not (_PATH.fullmatch(data) or isfile(data)):
        return ()
    says = f"a spec is due, and {quoted(data)} is the path of one"
    hint = "`dpcompose.analyze_file` takes a path, `dpcompose.analyze` the text or a `Path`"
    return (Diagnostic("DPC103", says, None, hint),)


def text_of(data: bytes | str | PathLike[str], name: str | None) -> tuple[bytes | str, str]:
    """Returns the text of a spec and its name; a `str` is always a text, never read as a path."""
    if isinstance(data, PathLike):
        return Path(data).read_bytes(), str(data) if name is None else name
    if not isinstance(data, bytes | str):
        raise TypeError(f"the text of a spec or a Path is due, not {type(data).__name__}")
    return data, "<spec>" if name is None else name


def numbers_of(
    name: str, given: Iterable[Number], below: int | None = None
) -> tuple[Fraction, ...]:
    """Returns the numbers that a caller gives as fractions; raises ValueError, with `name`, unless
    each is ≥ 0 and below `below`."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise TypeError(f"{name}: a list of numbers is due, not {given!r}")
    return tuple(_number(name, each, below) for each in given)


def _number(name: str, given: Number, below: int | None = None) -> Fraction:
    """Returns a number that a caller gives as a fraction; raises TypeError or ValueError, with
    `name`, unless it is ≥ 0 and below `below`."""
    if isinstance(given, bool) or not isinstance(given, Real | Decimal | str):
        raise TypeError(f"{name}: a number is due, not {given!r}")
    try:
        value = Fraction(given) if isinstance(given, Rational) else parse(str(given), {})
    except ExpressionError as error:
        raise ValueError(f"{name}: {given!r} is not a number ≥ 0: {error.message}") from None
    if value < 0 or (below is not None and value >= below):
        end = "≥ 0" if below is None else f"in [0, {below})"
        raise ValueError(f"{name}: a number {end} is due, not {given!r}")
    return value


def level_of(given: Number) -> Fraction:
    """Returns the level of an interval as a fraction, from a chance or a text in per cent such as
    `95%`."""
    from dpcompose.core.mechanisms.accuracy import HIGHEST

    text = str(given).strip()
    share = text.endswith("%")
    value = _number("accuracy", text.removesuffix("%").strip() if share else given)
    value = value / 100 if share else value
    if not 0 < value <= HIGHEST:
        raise ValueError(
            f"accuracy: a chance above 0 and below 1 is due, such as 0.95, not {given!r}"
        )
    return value


def budget_of(limit: Limit | None) -> Budget | None:
    """Returns the budget that a caller gives as a mapping or as a `Budget`; None for None."""
    if limit is None or isinstance(limit, Budget):
        return limit
    if not isinstance(limit, Mapping):
        raise TypeError(f"limit: a mapping such as {{'epsilon': 1}} is due, not {limit!r}")
    form = next((each for each in FORMS if set(each) == set(limit)), None)
    if form is None:
        forms = listing(" and ".join(each) for each in FORMS)
        raise ValueError(f"limit: a budget is {forms}, not {limit!r}")
    chances = ("delta", *RISKS)
    found = {key: _number(key, limit[key], 1 if key in chances else None) for key in form}
    if "baseline" in found and not 0 < found["baseline"] <= found["success"]:
        raise ValueError("limit: the baseline is above 0, and not above the success")
    return Budget(tuple(found.items()))


def analyze_file(
    path: str | PathLike[str],
    limit: Limit | None = None,
    deltas: Iterable[Number] = (),
    epsilons: Iterable[Number] = (),
    *,
    recheck: bool = False,
    by_attribute: bool = False,
) -> Report:
    """Returns the report on the spec in a file; the rest is that of `analyze`.

    Raises OSError where the file cannot be read, and Unproved where a recheck fails.
    """
    return analyze(
        Path(path), str(path), limit, deltas, epsilons, recheck=recheck, by_attribute=by_attribute
    )


def check(
    data: bytes | str | PathLike[str],
    name: str | None = None,
    limit: Limit | None = None,
    *,
    recheck: bool = False,
) -> bool:
    """Returns whether a spec is valid, has a bound, and meets `limit` (default: its own budget).

    `data` and `limit` are those of `analyze`. `recheck`: see there; what the checker does not
    confirm does not meet a budget. Raises ValueError where there is no budget to check against, or
    where the text is a path, and Unproved where a recheck fails.
    """
    report = analyze(data, name, limit, recheck=recheck, held=True, extent="bound")
    if isinstance(data, str) and report.status == "invalid" and _of_a_path(data):
        raise ValueError(f"the text of a spec is due, and {data!r} is a path: pass Path({data!r})")
    if report.verdict is None:
        if report.status == "invalid":
            return False
        raise ValueError("the spec has no budget, and none was given")
    return report.verdict.ok and not any(each.code == "DPC214" for each in report.findings)
