"""Tables of cases that stand in the YAML file beside a test file."""

from __future__ import annotations

import math
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml


def tables(test_file: str) -> dict[str, Any]:
    """The tables of a test file, by name."""
    found: dict[str, Any] = yaml.safe_load(Path(test_file).with_suffix(".yaml").read_text("utf-8"))
    return found


def value(formula: object) -> float:
    """The value of a number, or of a formula in the functions of `math`."""
    return float(eval(str(formula), vars(math)))


def filled(cases: dict[str, dict[str, Any]]) -> list[Any]:
    """Parameters `text` and `row` of the cases: each row is put into the text of its case.

    A case has a `spec`, in which `$key` stands for what the row has there, `rows` (or the keys of
    the only one beside `spec`), and `slow: true` where its tests are not among the quick ones.
    """
    found = []
    for name, case in cases.items():
        marks = [pytest.mark.slow] if case.get("slow") else []
        only = {key: value for key, value in case.items() if key not in ("spec", "slow", "rows")}
        for row in case.get("rows", [only]):
            text = Template(case["spec"]).substitute(row)
            found.append(pytest.param(text, {**only, **row}, id=name, marks=marks))
    return found
