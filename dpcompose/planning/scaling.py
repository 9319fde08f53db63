"""The parameters of a spec made larger or smaller in its text, where comments and layout stay.

Scaled are ε, ρ and μ of stated guarantees (the ε of every point of a curve, never a δ or an α), and
the parameters of concrete mechanisms: noise is divided by the factor. Written numbers are rounded
towards less loss where they have no short form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, ROUND_UP, Context, Decimal
from fractions import Fraction

from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.guarantee import Budget
from dpcompose.core.numbers.expressions import ExpressionError, parse
from dpcompose.curves.rounding import decimal_up
from dpcompose.errors import DpcomposeError, InvalidSpec, Path, Replacement, Span, quoted
from dpcompose.planning.what_if import Put, edited
from dpcompose.source import Source, Value, load
from dpcompose.source.rewriting import replaced, rewritten, with_entry

#: Digits of a written number that has no short form.
DIGITS = 12
#: A longer fraction is written as a decimal.
_LONGEST_FRACTION = 24
#: A fraction with a larger denominator reads no better than a decimal.
_LARGE_DENOMINATOR = 1000
#: So many numbers are tried where the largest one is looked for.
_MOST_TRIES = 60
_LOSSES = ("epsilon", "rho", "mu")


class Unscalable(DpcomposeError):
    """A spec whose parameters cannot be scaled in its text; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a mechanism that can be scaled, with its text and the `path` at which it stands;
    `noise`: it is an amount of noise, which scaling divides."""

    path: Path
    text: str
    noise: bool = False


def parameters(source: Source) -> dict[str, tuple[Parameter, ...]]:
    """Returns the parameters of each mechanism of a valid spec that reads data, by its name."""
    tree = source.value
    assert isinstance(tree, dict) and isinstance(tree["mechanisms"], list)
    found: dict[str, tuple[Parameter, ...]] = {}
    for index, each in enumerate(tree["mechanisms"]):
        if isinstance(each, dict) and "post_processes" not in each:
            found[str(each["name"])] = tuple(_of_mechanism(each, ("mechanisms", index)))
    return found


def _of_mechanism(entry: dict[str, Value], path: Path) -> Iterator[Parameter]:
    """Yields the parameters of all guarantees of a mechanism; `entry`: its mapping in the spec,
    which stands at `path`."""
    several = entry.get("guarantees")
    if isinstance(several, list):
        for index, each in enumerate(several):
            if isinstance(each, dict):
                yield from _stated(each, (*path, "guarantees", index))
    else:
        yield from _stated(entry, path)


def _stated(entry: dict[str, Value], path: Path) -> Iterator[Parameter]:
    """Yields the parameters of one guarantee: of its noise, or its losses and points."""
    form = FORMS.get(str(entry.get("mechanism")))
    runs = entry.get("of") if form is not None and form.name == "select" else None
    for i, run in enumerate(runs) if isinstance(runs, list) else ():
        if isinstance(run, dict):
            yield from _stated(run, (*path, "of", i))
    if isinstance(runs, dict):
        yield from _stated(runs, (*path, "of"))
    if form is not None:
        for each in (key for key in form.numbers if not key.fact):
            yield from _scalars(entry.get(each.name), (*path, each.name), each.noise)
        return
    for key in _LOSSES:
        yield from _scalars(entry.get(key), (*path, key), False)
    points, curve = entry.get("points"), entry.get("notion")
    place = 1 if curve == "rdp" else 0  # of ε in a pair
    at = (*path, "points")
    if isinstance(points, dict):
        if curve != "rdp":
            message = "points written as `{ε: δ}` have ε for a key, which is not rewritten"
            raise Unscalable(f"{quoted(str(entry.get('name', 'points')))}: {message}; write a list")
        yield from _scalars(points, at, False)
    elif isinstance(points, list):
        for index, point in enumerate(points):
            if isinstance(point, dict):
                yield from _scalars(point.get("epsilon"), (*at, index, "epsilon"), False)
            elif isinstance(point, list):
                yield from _scalars(point[place], (*at, index, place), False)


def _scalars(value: Value, path: Path, noise: bool) -> Iterator[Parameter]:
    """Yields the parameter at `path`: one number, or one for each block or order of a mapping or
    list; `noise`: it is an amount of noise."""
    if isinstance(value, str):
        yield Parameter(path, value, noise)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _scalars(each, (*path, key), noise)


# ---------------------------------------------------------------------------------------------
# Writing


def scaled_values(
    source: Source, factors: Mapping[str, Fraction]
) -> Iterator[tuple[str, Parameter, str]]:
    """Yields (mechanism, parameter, its scaled text) for each parameter of the mechanisms in
    `factors`.

    The parameter is a constant where that is scaled in the place of those that it stands for; it
    may come several times. Factors are above 0.
    """
    known = parameters(source)
    in_place = _constants(source, {name: known[name] for name in factors}, factors)
    for name, factor in factors.items():
        for parameter in known[name]:
            each = in_place.get(_factor_of(parameter.text), parameter)
            yield name, each, written(each, factor)


def scaled(source: Source, factors: Mapping[str, Fraction]) -> str:
    """Returns the text of a valid spec with the parameters of the named mechanisms scaled.

    Raises Unscalable where the text does not have a place for each number.
    """
    changes: dict[Span, str] = {}
    puts: list[Put] = []
    for name, each, new in scaled_values(source, factors):
        span = source.span(each.path)
        old = source.lines[span.line - 1][span.column - 1 :]
        whole = f"{old.split()[0]} {new}" if old.startswith("&") else new  # its anchor stays
        if changes.setdefault(span, whole) != whole:
            raise Unscalable(
                f"the number {quoted(each.text)} of {quoted(name)} stands for other parameters as "
                "well, by an alias: write it out"
            )
        puts.append(Put(each.path, new))
    result = replaced(source.lines.text, (Replacement(*each) for each in changes.items()))
    try:
        same = load(result, source.name).value == edited(source.value, puts)
    except InvalidSpec:
        same = False
    if not same:
        raise Unscalable(
            "the parameters cannot be rewritten in place: an alias, a tag or a block of text "
            "stands in the way; write the numbers out"
        )
    return result


def _constants(
    source: Source,
    scaled_: Mapping[str, tuple[Parameter, ...]],
    factors: Mapping[str, Fraction],
) -> dict[str, Parameter]:
    """Returns the constants to scale in place of the parameters that they stand for, as parameters.

    Such a constant is used in scaled parameters only, all of noise or none of it, and with one
    factor.
    """
    tree = source.value
    constants = tree.get("constants") if isinstance(tree, dict) else None
    if not isinstance(tree, dict) or not isinstance(constants, dict):
        return {}
    words = [re.findall(r"[A-Za-z_]\w*", text) for text in _texts([*tree.values()])]
    used = Counter(word for each in words for word in each)
    found: dict[str, Parameter] = {}
    for constant, text in constants.items():
        uses = [
            (factors[name], each.noise)
            for name, listed in scaled_.items()
            for each in listed
            if _factor_of(each.text) == constant
        ]
        if not uses or len(set(uses)) > 1 or used[constant] != len(uses):
            continue
        factor, noise = uses[0]
        parameter = Parameter(("constants", constant), str(text), noise)
        alone = all(
            each.text.strip() == constant
            for listed in scaled_.values()
            for each in listed
            if _factor_of(each.text) == constant
        )
        if alone or _is_exact(parameter, factor):
            found[constant] = parameter
    return found


#: A constant, alone or in a product or a quotient with numbers, above the line.
_PRODUCT = re.compile(r"(?:[\d./]+\s*\*\s*)*([A-Za-z_]\w*)(?:\s*[*/]\s*[\d.]+)*")


def _factor_of(text: str) -> str:
    """Returns the name of the constant that a parameter is proportional to; "" if there is none."""
    found = _PRODUCT.fullmatch(text.strip())
    return found[1] if found else ""


def _is_exact(parameter: Parameter, factor: Fraction) -> bool:
    """Returns whether a scaled number is written exactly; False for one with names."""
    try:
        value = parse(parameter.text, {}) * (1 / factor if parameter.noise else factor)
        return parse(written(parameter, factor), {}) == value
    except ExpressionError:
        return False


def _texts(value: Value) -> Iterator[str]:
    """Yields the texts of a tree, keys left out; never recurses."""
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            rest += each.values()
        elif isinstance(each, list):
            rest += each
        elif isinstance(each, str):
            yield each


def with_budget(source: Source, limit: Budget) -> str:
    """Returns the text of a valid spec with its budget for differential privacy set to `limit`.

    Unchanged if the layout of the text does not allow it, or if the spec has a budget against an
    adversary, which is not replaced.
    """
    tree = source.value
    assert isinstance(tree, dict)
    own, root = tree.get("budget"), source.span(())
    as_json = source.lines[root.line - 1][root.column - 1 :].startswith("{")
    entry = budget_entry(limit, as_json)
    new = {name: _exactly(value) for name, value in limit.parameters}
    if "budget" not in tree:
        changes = with_entry(source, (), f'"budget": {entry}' if as_json else f"budget: {entry}")
    elif isinstance(own, dict) and own.keys() == new.keys():
        changes = tuple(
            each for name in new for each in rewritten(source, ("budget", name), new[name])
        )
    elif isinstance(own, dict) and "adversary" not in own:
        key, value = source.span(("budget",), key=True), source.span(("budget",))
        whole = Span(key.end_line, key.end_column, value.end_line, value.end_column)
        changes = (Replacement(whole, f": {entry}"),)
    else:
        changes = ()
    result = replaced(source.lines.text, changes)
    try:
        same = load(result, source.name).value == {**tree, "budget": new}
    except InvalidSpec:
        same = False
    return result if same else source.lines.text


def budget_entry(limit: Budget, as_json: bool = False) -> str:
    """Returns a budget as it stands in a spec: `{epsilon: 1, delta: 1e-6}`."""
    given = {name: _exactly(value) for name, value in limit.parameters}
    if as_json:
        given = {f'"{name}"': f'"{text}"' if "/" in text else text for name, text in given.items()}
    return f"{{{', '.join(f'{name}: {text}' for name, text in given.items())}}}"


def _exactly(value: Fraction) -> str:
    """Returns a number exactly: as a decimal where that ends, else as a fraction."""
    if not _terminates(value):
        return str(value)
    small = 0 < value < Fraction(1, 1000)
    return f"{Decimal(_decimal(value, False)).normalize():e}" if small else _decimal(value, False)


def written(parameter: Parameter, factor: Fraction) -> str:
    """Returns the text of a scaled parameter: a number where it was one, else an expression."""
    times = 1 / factor if parameter.noise else factor
    exactly = not _terminates(factor)
    try:
        value = parse(parameter.text, {})
    except ExpressionError:  # it uses constants
        inner = " ".join(parameter.text.split())
        return f"({inner}) * {number_text(times, parameter.noise, exactly)}"
    return number_text(value * times, parameter.noise, exactly)


def number_text(value: Fraction, up: bool, exactly: bool) -> str:
    """Returns a number exactly where that is short, else rounded `up` or down to DIGITS digits.

    `exactly`: a longer fraction counts as short as well.
    """
    short = _decimal(value, up)
    if Fraction(short) == value:
        return short
    if value.denominator >= _LARGE_DENOMINATOR and not exactly:
        return short
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits <= 80 and len(str(value)) <= _LONGEST_FRACTION else short


def _terminates(value: Fraction) -> bool:
    """Returns whether a number is a decimal of at most DIGITS digits."""
    return Fraction(_decimal(value, False)) == value


def rounded_down(value: Fraction, digits: int) -> Fraction:
    """Returns the largest number of at most `digits` digits that is not above `value`."""
    return Fraction(_decimal(value, False, digits))


def _decimal(value: Fraction, up: bool, digits: int = DIGITS) -> str:
    """Returns a number as a decimal of `digits` significant digits, rounded up or down."""
    rounding = ROUND_UP if up else ROUND_DOWN
    context = Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
    # The quotient of rounded parts could end on the wrong side: the parts are taken exactly.
    exact = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    plain = context.normalize(exact)
    if -7 <= plain.adjusted() <= DIGITS:
        return format(plain, "f")
    return str(plain).replace("E", "e").replace("e+", "e")


def largest(
    holds: Callable[[Fraction], bool], most: Fraction, close: Fraction = Fraction(1, 10**9)
) -> Fraction:
    """Returns nearly the largest number up to `most` for which `holds` is true; 0 if it is for
    none.

    `holds` must be true below each number for which it is true; it was tested at the number
    returned, which is relatively as `close` to the largest, or one of many tries. A number of few
    digits is preferred where one is as close: 0.3, not 0.29999999977.
    """
    if holds(most):
        return most
    low, high = Fraction(0), most
    for _ in range(_MOST_TRIES):
        middle = (low + high) / 2 if low else high / 2**10
        if holds(middle):
            low = middle
        else:
            high = middle
        if high - low <= low * close:
            break
    short = Fraction(decimal_up(low, 6))
    return short if low < short < high and holds(short) else low
