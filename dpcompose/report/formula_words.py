"""Formulas of a proof with their numbers put in, in the words of a line."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

from dpcompose.report import wording
from dpcompose.report.reasoning import Value

#: So many different numbers are written out.
_MOST_TERMS = 6
#: How strongly an operation binds.
_STRENGTH = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.Pow: 4}
_SIGNS = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: "·", ast.Div: "/"}
_FUNCTIONS = {"normal_quantile": "Φ⁻¹", "normal_cdf": "Φ"}
_ATOM = 5


def in_words(formula: str, given: Mapping[str, Value]) -> str:
    """Returns a formula with its numbers, in words where it is one of a few sums: `two largest of
    1, 0.7, 0.5: 1 + 0.7`."""
    usual = _USUAL.get(formula)
    if usual is not None:
        return usual(given)
    many = re.fullmatch(r"max\((sum\(\w+\)(, )?)+\)", formula)
    if many is not None:
        sums = dict.fromkeys(
            _sum(_listed(given[name])) for name in re.findall(r"sum\((\w+)\)", formula)
        )
        return f"the largest of {_some(sums, '; ')}"
    return _written(ast.parse(formula, mode="eval").body, given)[0]


def _listed(value: Value) -> list[Fraction]:
    """Returns the numbers of a value."""
    return [value] if isinstance(value, Fraction | int) else list(value)


def _some(texts: Iterable[str], between: str = ", ") -> str:
    """Returns the first texts, and how many more there are."""
    listed = list(texts)
    if len(listed) <= _MOST_TERMS:
        return between.join(listed)
    return f"{between.join(listed[:_MOST_TERMS])} and {len(listed) - _MOST_TERMS} more"


def _sum(values: Iterable[Fraction] | Mapping[Fraction, int]) -> str:
    """Returns a sum with equal terms counted: `2 × 0.5 + 0.3`; of a mapping, the counts are
    known."""
    counted = sorted(Counter(values).items(), key=lambda each: (-each[0], each[1]))
    return _some(
        (
            (f"{wording.count_text(n)} × " if n > 1 else "") + wording.number(value)
            for value, n in counted
        ),
        " + ",
    )


def _numbers(values: Iterable[Fraction]) -> str:
    """Returns the different losses above zero as text, the largest first, at most six of them."""
    return _some(map(wording.number, sorted({*values} - {0}, reverse=True)))


def _largest(given: Mapping[str, Value]) -> str:
    """Returns the largest of some losses."""
    values = _listed(given["x"])
    if len({*values} - {0}) == 1:
        return wording.number(max(values))
    return f"the largest of {_numbers(values)}"


def _grown(given: Mapping[str, Value], power: str) -> str:
    """Returns the largest of some losses at a distance."""
    [k] = _listed(given["k"])
    inner = _largest(given)
    return f"{wording.number(k)}{power} × {inner}"


def _taken(given: Mapping[str, Value], most: int) -> Counter[Fraction]:
    """Returns the largest losses, so many in all, with how often each is taken."""
    losses = _listed(given["x"])
    counts = _listed(given["n"]) if "n" in given else [Fraction(1)] * len(losses)
    found: Counter[Fraction] = Counter()
    for value, count in sorted(zip(losses, counts, strict=True), reverse=True):
        if value and most:
            found[value] += min(int(count), most)
            most -= min(int(count), most)
    return found


def _two_largest(given: Mapping[str, Value]) -> str:
    """Returns the two largest of the losses of blocks, or the largest of a row replaced in one."""
    two, one = _taken(given, 2), max(_listed(given["y"]), default=Fraction(0))
    if one > sum(value * n for value, n in two.items()):
        return f"the largest of {_numbers(_listed(given['y']))}"
    if len(_listed(given["x"])) < 3:
        return _sum(two)
    return f"two largest of {_numbers(_listed(given['x']))}: {_sum(two)}"


def _several_largest(given: Mapping[str, Value], factor: str = "", times: int = 1) -> str:
    """Returns the sum of the largest losses of blocks, so many as a row may be in."""
    [m] = _listed(given["m"])
    taken = _taken(given, int(m) * times)
    text = _sum(taken)
    if len(set(_listed(given["x"]))) > 1 and taken.total() < sum(map(int, _listed(given["n"]))):
        many = wording.count_text(taken.total())
        text = f"the {many} largest of {_numbers(_listed(given['x']))}: {text}"
    return f"{factor}({text})" if factor and "+" in text else factor + text


def _copies(given: Mapping[str, Value]) -> str:
    """Returns so many times a loss."""
    [n], [x] = _listed(given["n"]), _listed(given["x"])
    return f"{wording.count_text(int(n))} × {wording.number(x)}"


_USUAL: dict[str, Callable[[Mapping[str, Value]], str]] = {
    "sum(x)": lambda given: _sum(_listed(given["x"])),
    "max(x)": _largest,
    "n * x": _copies,
    "k * max(x)": lambda given: _grown(given, ""),
    "k ** 2 * max(x)": lambda given: _grown(given, "²"),
    "max(largest(x, 2, n), max(y))": _two_largest,
    "largest(x, m, n)": _several_largest,
    "2 * largest(x, m, n)": lambda given: _several_largest(given, "2 × "),
    "largest(x, 2 * m, n)": lambda given: _several_largest(given, "", 2),
}


def _written(node: ast.expr, given: Mapping[str, Value]) -> tuple[str, int]:
    """Returns an expression as text, and how strongly its last operation binds."""
    match node:
        case ast.Constant(value):
            return str(value), _ATOM
        case ast.Name(name):
            one = given[name]
            if isinstance(one, Fraction | int):
                text = wording.number(Fraction(one))
                return text, _ATOM if re.fullmatch(r"[\d.]+", text) else 2
            return f"({_some(map(wording.number, one))})", _ATOM
        case ast.UnaryOp(operand=inner):
            return f"-{_inside(inner, given, 3)}", 1
        case ast.BinOp(left, ast.Pow(), ast.Constant(2)):
            return f"{_inside(left, given, _ATOM)}²", 4
        case ast.BinOp(left, ast.Pow(), right):
            return f"{_inside(left, given, _ATOM)}^{_inside(right, given, _ATOM)}", 4
        case ast.BinOp(left, operation, right):
            strength = _STRENGTH[type(operation)]
            beside = strength + isinstance(operation, ast.Sub | ast.Div)
            sign = _SIGNS[type(operation)]
            first, second = _inside(left, given, strength), _inside(right, given, beside)
            return f"{first}{sign}{second}", strength
        case ast.Call(ast.Name("exp"), [inner]):
            return f"e^{_inside(inner, given, _ATOM)}", 4
        case ast.Call(ast.Name("sqrt"), [inner]):
            return f"√{_inside(inner, given, _ATOM)}", 4
        case ast.Call(ast.Name(name), inner):
            told = ", ".join(_written(each, given)[0] for each in inner)
            return f"{_FUNCTIONS.get(name, name)}({told})", _ATOM
    raise ValueError(f"no part of a formula: {ast.dump(node)}")


def _inside(node: ast.expr, given: Mapping[str, Value], least: int) -> str:
    """Returns an expression as text, in parentheses if it binds less strongly than `least`."""
    text, strength = _written(node, given)
    return text if strength >= least else f"({text})"
