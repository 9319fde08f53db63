"""The commands `fit` and `savings`, which plan a budget."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import TextIO

from dpcompose.commands.bounds import Most, TooMuch
from dpcompose.commands.exits import BadCall, ExitCode, complain, complain_of
from dpcompose.commands.inputs import Unreadable, name_of_file, read, unquoting_fault
from dpcompose.commands.output import Look, deliver, style_for, to_standard_output, would_overwrite
from dpcompose.commands.outputs import Told
from dpcompose.commands.parallel.workers import alone
from dpcompose.commands.progress import Waiting, waiting_stream
from dpcompose.commands.run import Run
from dpcompose.core.notions.guarantee import LIMITS, Budget
from dpcompose.core.notions.notion import SIGNS
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import InvalidSpec
from dpcompose.pipeline import analyze
from dpcompose.planning.edits import edits
from dpcompose.planning.fitting import Fitted, Unfit, fit
from dpcompose.planning.savings import NoBound, Savings, savings_of
from dpcompose.planning.scaling import Unscalable, budget_entry, parameters, with_budget
from dpcompose.policy.settings import BadSettings
from dpcompose.render import savings_table
from dpcompose.render.console import grid, printed
from dpcompose.render.headlines import judged
from dpcompose.render.logs import Inert
from dpcompose.report.wording import number, plural
from dpcompose.resolve import resolve
from dpcompose.source import Source, documents, load

#: The starting lines of so many documents are listed.
_MOST_LISTED = 6


def _watched(most: Most) -> TextIO | None:
    """Returns the stream for progress; None where a process is forked, which ends threads."""
    return None if most.is_limited else waiting_stream(False)


class Several(Exception):
    """Raised for a file of several documents where one is due; its message says where they are."""


def fit_file(run: Run) -> ExitCode:
    """Runs the command `fit` and returns its exit code. Raises BadCall."""
    limit, most, look, policies = run.limit, run.most, run.look, run.policies
    file, output = run.file, run.path
    try:
        data = read(file)
        settings = policies.of(name_of_file(file))

        def fitting() -> tuple[Fitted, str, str | None, bool]:
            """Returns the fitted spec, its text, a remark on it, and whether settings limit it."""
            source = _valid(_one(data, "fit"), name_of_file(file))
            names = parameters(source)
            scaled = dict(_free(each, names) for each in run.free)
            fitted = min(
                (
                    fit(source, limit, scaled, each, waiting.step)
                    for each in settings.defaults or (None,)
                ),
                key=lambda each: each.scale,
            )
            written, contradicts = fitted.text, None
            if limit is not None:
                written = with_budget(load(written, name_of_file(file)), limit)
                contradicts = _own_budget(written, name_of_file(file), limit)
            by_settings = any(fitted.limit is each for each in settings.defaults)
            return fitted, written, contradicts, by_settings

        with Waiting("fitting", _watched(most), "scales tried") as waiting:
            fitted, written, contradicts, by_settings = alone(most, fitting)
    except (Unreadable, BadSettings) as error:
        complain(str(error))
        return ExitCode.USAGE
    except (InvalidSpec, Several, Unscalable, TooMuch) as error:
        return _refused(name_of_file(file), error, data)
    except Unfit as error:
        complain(f"{name_of_file(file)}: {error}")
        return ExitCode.FAILED if error.over else ExitCode.USAGE
    _tell(_change_rows(load(data, name_of_file(file)), load(written, name_of_file(file))), look)
    origin = f" (budget of {settings.origin('budget', 'max-budget')})" if by_settings else ""
    complain(f"{name_of_file(file)}: {_scale_in_words(fitted, origin)}")
    if fitted.doubtful:
        complain(
            f"{name_of_file(file)}: each guarantee of {', '.join(fitted.doubtful)} was scaled by "
            "itself: see that the mechanism still has all of them"
        )
    if contradicts:
        complain(f"{name_of_file(file)}: {contradicts}")
    text = _as_it_was(written, data)
    if os.environ.get("GITHUB_ACTIONS") and to_standard_output(output) and Inert()(text) != text:
        raise BadCall("the spec has text that a log takes for a command: -o FILE writes it to one")
    deliver([text], output, raw=True)
    return ExitCode.FINE


#: So many changed parameters are listed.
_MOST_CHANGED = 20
_SIGNS = {**SIGNS, "sigma": "σ"}


def _change_rows(old: Source, new: Source) -> list[tuple[str, str]]:
    """Returns each number that was changed, as rows: `gradients`, `σ 1.1 → 1.2253`."""
    rows = [
        (each.name or "budget", _changed_number(key.name, key.old, key.new))
        for each in edits(old, new)
        for key in each.keys
        if each.kind in ("mechanism", "constant")
    ]
    more = len(rows) - _MOST_CHANGED
    return [*rows[:_MOST_CHANGED], (f"and {more} more", "")] if more > 0 else rows


def _changed_number(key: str, old: str | None, new: str | None) -> str:
    """Returns a number before and now, each with six digits."""
    last = key.rpartition(".")[2]
    sign = _SIGNS.get(last, last)
    return f"{sign} {_six_digits(old)} → {_six_digits(new)}".strip()


def _six_digits(text: str | None) -> str:
    """Returns a number with six digits, rounded up; another text as it is."""
    try:
        return decimal_up(parse(text or "", {}), 6)
    except ExpressionError:
        return text or "nothing"


def _tell(rows: Sequence[tuple[str, str]], look: Look) -> None:
    """Prints rows on standard error."""
    if rows:
        style = style_for(None, look)
        text = printed(grid([(style.plain(a), style.plain(b)) for a, b in rows], style), style)
        sys.stderr.write(text)


def _own_budget(text: str, name: str, limit: Budget) -> str | None:
    """Returns a remark on a spec that could not be given the budget it was fitted to, else None."""
    if resolve(load(text, name)).budget == limit:
        return None
    says = f"write `budget: {budget_entry(limit)}`: what stands in its place stays as it was"
    report = analyze(text, name)
    if report.verdict is None or report.verdict.ok:
        return says
    word, rest = judged(report, report.verdict)
    return f"{says}, and is not met: {word}: {rest}"


def _refused(name: str, error: Exception, data: bytes) -> ExitCode:
    """Reports why a file is no valid spec or cannot be scaled, and returns the exit code."""
    if isinstance(error, InvalidSpec):
        complain_of(unquoting_fault(error, data))
        return ExitCode.INVALID
    complain(f"{name}: {error}")
    return ExitCode.INVALID if isinstance(error, TooMuch) else ExitCode.USAGE


def _one(data: bytes, command: str) -> bytes:
    """Returns the content of a file if it is a single document. Raises Several."""
    starts = [str(each.lines_before + 1) for each in documents(data)]
    if len(starts) == 1:
        return data
    shown, more = starts[:_MOST_LISTED], len(starts) - _MOST_LISTED
    shown, last = (shown, f"{more} more") if more > 0 else (shown[:-1], shown[-1])
    raise Several(
        f"it holds {len(starts)} documents, from lines {', '.join(shown)} and {last} on, "
        f"and `{command}` takes one spec: put the one that is meant in a file of its own"
    )


def _valid(data: bytes, name: str) -> Source:
    """Returns the source of a valid spec. Raises InvalidSpec."""
    source = load(data, name)
    resolve(source)
    return source


def _free(text: str, names: object) -> tuple[str, Fraction]:
    """Returns a mechanism and its weight from `NAME` or `NAME=WEIGHT`. Raises BadCall."""
    assert isinstance(names, dict)
    name, equals, weight = text.rpartition("=")
    if text in names or not equals:
        return text, Fraction(1)
    try:
        value = parse(weight, {})
    except ExpressionError as error:
        raise BadCall(f"--free {text}: {weight} is not a number: {error.message}") from error
    if value <= 0:
        raise BadCall(f"--free {text}: a weight is above 0")
    return name, value


def _scale_in_words(fitted: Fitted, origin: str) -> str:
    """Returns the sentence on what is spent of the budget, and the scale that was found."""
    main, most = fitted.limit.parameters[0]
    symbol = LIMITS[main]
    at = "".join(
        f" at {LIMITS[name]} = {number(value)}" for name, value in fitted.limit.parameters[1:]
    )
    spent = number(fitted.spent) if fitted.exact else decimal_up(fitted.spent, 6)
    scale = fitted.scale
    factor = number(scale) if scale.denominator < 100 else f"{float(scale):.6g}"
    relation = "=" if Fraction(spent) == fitted.spent else "≤"
    end = "" if fitted.exact else ", within a few millionths of the largest scale"
    return (
        f"{symbol} {relation} {spent}{at}, of {symbol} = {number(most)}{origin}: "
        f"{plural(len(fitted.scaled), 'mechanism')} scaled by {factor}{end}"
    )


def _as_it_was(text: str, data: bytes) -> str:
    """Returns the text with the line ends and the byte order mark of the file."""
    returns = data.count(b"\r\n")
    if returns and returns == data.count(b"\n"):
        text = text.replace("\n", "\r\n")
    return "\ufeff" + text if data.startswith(b"\xef\xbb\xbf") else text


def savings_of_file(run: Run) -> ExitCode:
    """Runs the command `savings` and returns its exit code. Raises BadCall."""
    file, output, most = run.file, run.path, run.most
    delta = run.points.deltas[-1] if run.deltas else None
    if run.form == Told.MARKDOWN:
        raise BadCall("savings are printed as text or json")
    if would_overwrite(output, [file]):
        raise BadCall(f"--output {output} would overwrite a spec")
    name, policies = name_of_file(file), run.policies
    try:
        data = read(file)
        settings = policies.of(name)
        default = next(iter(settings.defaults), None)

        def halving() -> Savings:
            """Returns what halving each mechanism saves."""
            source = _valid(_one(data, "savings"), name)
            return savings_of(source, delta, run.tried, default, settings.delta, waiting.step)

        with Waiting("halving one at a time", _watched(most), "mechanisms tried") as waiting:
            found = alone(most, halving)
    except (Unreadable, BadSettings) as error:
        complain(str(error))
        return ExitCode.USAGE
    except (InvalidSpec, Several, Unscalable, TooMuch) as error:
        return _refused(name, error, data)
    except NoBound as error:
        complain(f"{name}: {error}")
        return ExitCode.FAILED
    if run.form == Told.JSON:
        deliver(savings_table.json(name, found), output)
    else:
        deliver(savings_table.text(name, found, style_for(output, run.look)), output)
    return ExitCode.FINE
