"""The specs in tests/acceptance give the answers listed in expected.yaml beside them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from dpcompose.cli import app

FOLDER = Path(__file__).parents[1] / "acceptance"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "expected.yaml").read_text())

#: A more special theorem that gives the number is as good as one of these.
GENERAL = ("IV.1", "V.2", "V.5", "VI.4", "VI.7", "VI.13", "VI.14", "VI.21", "VI.22")


def run(command: str, name: str, *options: str) -> Result:
    return CliRunner().invoke(app, [command, str(FOLDER / f"{name}.yaml"), *options])


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPECTED)
def test_analyze(name: str) -> None:
    expected = EXPECTED[name]
    ran = run("analyze", name, "--format", "jsonl")
    result = json.loads(ran.stdout)
    assert result["status"] == expected["status"]
    assert ran.exit_code == expected.get("exit", 0)
    if expected["status"] != "ok":
        return
    guarantee = result["guarantee"]
    assert guarantee["notion"] == expected["notion"]
    for key, value in expected.get("exact", {}).items():
        assert Fraction(guarantee["exact"][key]) == Fraction(str(value))
    for key in {"epsilon", "delta", "rho", "mu"} & set(expected):
        assert expected[key] * (1 - 1e-9) <= guarantee[key] <= expected[key] * (1 + 1e-6)
    found = {each["delta"]: each["epsilon"] for each in result.get("at_delta", [])}
    for delta, value in expected.get("at_delta", {}).items():
        assert value * (1 - 1e-9) <= found[float(delta)] <= value * (1 + 1e-9)
    for key, value in expected.get("adversary", {}).items():
        assert value * (1 - 1e-9) <= result["adversary"][key] <= value * (1 + 1e-6)
    risk = expected.get("risk", {})
    hits = {each["false_alarms"]: each["hits"] for each in result.get("risk", {}).get("hits", [])}
    pairs = [(value, hits[rate]) for rate, value in risk.get("hits", {}).items()]
    if risk:
        pairs.append((risk["advantage"], result["risk"]["advantage"]))
    assert all(value * (1 - 2e-6) <= given <= value * (1 + 2e-5) for value, given in pairs)
    assert expected["theorem"] in (None, *GENERAL, *result["proof"]["theorems"])
    worst = json.dumps(result["worst_case"])
    assert all(f'"{touched}"' in worst for touched in expected.get("touches", []))
    assert result["proof"]["steps"]


@pytest.mark.parametrize("name", [name for name in EXPECTED if "check_exit" in EXPECTED[name]])
def test_check(name: str) -> None:
    assert run("check", name).exit_code == EXPECTED[name]["check_exit"]


def test_every_spec_has_an_expectation() -> None:
    assert {path.stem for path in FOLDER.glob("*.yaml")} == {*EXPECTED, "expected"}
