"""Computes every step of a proof again, from the JSON alone: nothing of the package is used."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf

#: Methods by which a number without a formula may be found.
METHODS = {
    "privacy loss distribution",
    "vertical line",
    "Rényi orders",
    "optimal composition",
    "linear program",
    "greedy spread",
}
_REFERENCE = re.compile(r"@(\d+)(?:#(\d+))?(\.delta)?")


def _flat(values: Any) -> list[Any]:
    return [x for each in values for x in (_flat(each) if isinstance(each, list) else [each])]


def _each(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: [*map(_each(function), x)] if isinstance(x, list) else function(x)


def _largest(x: list[Any], most: Any, counts: list[Any] | None = None) -> Any:
    total, left = mpf(0), int(most)
    for value, count in sorted(zip(x, counts or [1] * len(x), strict=True), reverse=True):
        taken = min(left, int(count))
        total, left = total + taken * value, left - taken
    return total


def _rising(x: list[Any]) -> list[Any]:
    return [max(x[: n + 1]) for n in range(len(x))]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": sum,
    "max": lambda *x: max(_flat(x)),
    "min": lambda *x: min(_flat(x)),
    "largest": _largest,
    "rising": _rising,
    "any": lambda d: 1 - mp.fprod(1 - each for each in d),
    "prod": mp.fprod,
    "dot": lambda w, x: sum(a * b for a, b in zip(w, x, strict=True)),
    "exp": _each(mp.exp),
    "ln": _each(mp.log),
    "sqrt": _each(mp.sqrt),
    "tanh": _each(mp.tanh),
    "sinh": _each(mp.sinh),
    "normal_cdf": _each(mp.ncdf),
    "normal_quantile": _each(lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1)),
}
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def _both(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if isinstance(a, list) and isinstance(b, list):
        return [function(x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, list):
        return [function(x, b) for x in a]
    return [function(a, y) for y in b] if isinstance(b, list) else function(a, b)


def value_of(node: Any, names: dict[str, Any]) -> Any:
    """The value of a formula."""
    match node:
        case ast.Constant(value):
            return mpf(value)
        case ast.Name(name):
            return names[name]
        case ast.UnaryOp(ast.USub(), inner):
            return _each(operator.neg)(value_of(inner, names))
        case ast.BinOp(left, sign, right):
            function = _OPERATIONS[type(sign)]
            return _both(function, value_of(left, names), value_of(right, names))
        case ast.Call(ast.Name(name), inner):
            return FUNCTIONS[name](*(value_of(each, names) for each in inner))
    raise ValueError(ast.dump(node))


def number(text: str) -> Any:
    """A fraction as a number of many digits."""
    value = Fraction(text)
    return mpf(value.numerator) / value.denominator


def amounts(value: dict[str, str]) -> tuple[Any, Any]:
    """The amount that adds up, and δ."""
    keys = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu_squared"}
    return number(value[keys[value["notion"]]]), number(value.get("delta", "0"))


def found(step: dict[str, Any]) -> list[dict[str, str]]:
    """The values of a step."""
    return step["values"] if "values" in step else [step["value"]]


def recomputed(proof: dict[str, Any], book: Any) -> list[dict[str, Any]]:
    """Checks the laws of a proof; returns the steps without a formula."""
    with mp.workdps(60):
        return _recomputed(proof, book)


def _recomputed(proof: dict[str, Any], book: Any) -> list[dict[str, Any]]:
    steps = {each["id"]: each for each in proof["steps"]}
    assert [*steps] == list(range(1, len(steps) + 1))
    assert all(each in book for each in [*proof["theorems"], proof.get("reading", "V.3")])
    led = {each["step"] for each in proof["conclusions"]}
    without = []

    def one(text: str) -> Any:
        reference = _REFERENCE.fullmatch(text)
        if reference is None:
            return number(text)
        step = steps[int(reference[1])]
        return amounts(found(step)[int(reference[2] or 0)])[bool(reference[3])]

    for step in reversed(proof["steps"]):
        assert step["id"] in led, step
        led.update(step["premises"])
        assert all(0 < each < step["id"] for each in step["premises"])
        assert step["theorem"] is None or step["theorem"] in book
        named = set(map(int, re.findall(r'"@(\d+)', str(step.get("given")).replace("'", '"'))))
        assert named == set(step["premises"]), step
        if step.get("formula") is None:
            law = "value" in step and step["value"]["notion"] == "profile"
            assert law or step.get("method") in METHODS, step
            without += [] if law or step["kind"] == "point" else [step]
        _compared(step, one)
    return without


def _compared(step: dict[str, Any], one: Callable[[str], Any]) -> None:
    many = "values" in step
    for n, value in enumerate(found(step)):
        if not any(step.get(key) for key in ("formula", "formula_delta", "check")):
            continue
        given = step["given"][n] if many else step["given"]
        names = {
            name: [*map(one, told)] if isinstance(told, list) else one(told)
            for name, told in given.items()
        }
        amount, delta = amounts(value)
        for key, stated in (("formula", amount), ("formula_delta", delta)):
            formula = step.get(key)
            formula = formula[n] if isinstance(formula, list) else formula
            if formula is not None:
                result = value_of(ast.parse(formula, mode="eval").body, names)
                assert result <= stated * (1 + mpf(10) ** -30) + mpf(10) ** -50, (formula, step)
                assert stated <= result * (1 + mpf(10) ** -9), (formula, step)
            names["epsilon"] = amount
        if "check" in step:
            result = value_of(ast.parse(step["check"], mode="eval").body, names)
            assert result <= delta * (1 + mpf(10) ** -30), step
