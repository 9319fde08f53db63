"""Populations: names that only look the same, are missing, or are held to no budget."""

from __future__ import annotations

import pytest
from tables import tables

from dpcompose.resolve.population import Misleading, canonical

from .reviewer import SPEC, codes, run, write

pytestmark = pytest.mark.usefixtures("home")

TABLES = tables(__file__)

NAME = "riders-2026"


def named(name: str) -> str:
    return SPEC.replace(NAME, f'"{name}"')


@pytest.mark.slow
@pytest.mark.parametrize(("name", "says"), TABLES["a name that misleads is refused"])
def test_a_name_that_misleads_is_refused(name: str, says: str) -> None:
    write("s.yaml", named(name))
    for command in ("analyze", "check", "total"):
        result = run(command, "s.yaml")
        output = result.stdout + result.stderr
        # What YAML itself refuses is refused there.
        assert result.exit_code == 3 and (says in " ".join(output.split()) or "DPC003" in output)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NAME, " riders-2026 "), ("caf\u00e9", "cafe\u0301"), ("a b", "a  b"),
        ("\u212bngstr\u00f6m", "\u00c5ngstro\u0308m"), ("患者 patients", "患者  patients"),
    ],
)  # fmt: skip
def test_names_that_look_the_same_are_the_same(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    write("a.yaml", SPEC.replace(NAME, f"'{one}'"))
    write("b.yaml", SPEC.replace(NAME, f"'{other}'"))
    assert run("total", "a.yaml", "b.yaml", "--epsilon", "4.2").exit_code == 0
    assert run("total", "a.yaml", "b.yaml", "--epsilon", "4.1").exit_code == 1


@pytest.mark.parametrize("name", ["пациенты-2026", "患者2026", "müller", "ασθενείς", "한국 2026"])
def test_names_of_one_script_are_fine(name: str) -> None:
    assert canonical(name) == name
    with pytest.raises(Misleading):
        canonical(f"{name}\u200d")


@pytest.mark.parametrize("other", ["riders-2025", "Riders-2026", "r1ders-2026", "riders_2026"])
def test_the_list_of_populations_is_closed(other: str) -> None:
    write("dpcompose.toml", f"populations = [' {NAME}', 'others']\n")
    write("s.yaml", SPEC)
    assert codes("check", "s.yaml") == (0, [])
    write("s.yaml", SPEC.replace(NAME, other))
    assert codes("check", "s.yaml") == (1, ["DPC315"])
    result = run("check", "s.yaml", "--format", "concise")
    says = f"s.yaml:3:13: the population `{other}` is none of those that are listed"
    assert says in result.stdout
    total = run("total", "s.yaml", "--epsilon", "9")
    assert total.exit_code == 1 and "[DPC315]" in total.stderr


@pytest.mark.parametrize("policy", ["require-population = true", f"populations = ['{NAME}']"])
def test_a_spec_without_a_population_is_in_no_sum(policy: str) -> None:
    write("dpcompose.toml", policy)
    write("a.yaml", SPEC)
    write("b.yaml", SPEC.replace(f"population: {NAME}\n", ""))
    assert codes("check", "a.yaml", "b.yaml") == (1, ["DPC315"])
    result = run("total", "a.yaml", "b.yaml", "--epsilon", "9")
    assert result.exit_code == 1 and "no population is named" in result.stderr
    assert run("total", "a.yaml", "--epsilon", "9").exit_code == 0
    flag = {"DPCOMPOSE_REQUIRE_POPULATION": "true"}
    assert codes("check", "b.yaml", "--isolated", **flag) == (1, ["DPC315"])


@pytest.mark.parametrize(
    ("policy", "code"),
    TABLES["total without a budget fails where anything is required"],
)
def test_total_without_a_budget_fails_where_anything_is_required(policy: str, code: int) -> None:
    write("dpcompose.toml", policy)
    write("s.yaml", SPEC)
    result = run("total", "s.yaml", "--fixed", "planned together before the first output")
    assert result.exit_code == code
    assert ("nothing to check against: the settings of s.yaml" in result.stderr) is (code == 2)
    along = run("total", "s.yaml")  # where a realised sum is no guarantee either
    assert along.exit_code == (code if "total-budget" in policy else max(code, 1))
    assert run("total", "s.yaml", "--epsilon", "3").exit_code == 0


def test_total_budgets_of_layers_hold_together() -> None:
    write("dpcompose.toml", "total-budget = {epsilon = 3}\n")
    write("in/dpcompose.toml", "total-budget = {epsilon = 30}\n")
    write("in/s.yaml", SPEC)
    assert run("total", "in/s.yaml").exit_code == 0
    write("dpcompose.toml", "total-budget = {epsilon = 2}\n")
    assert run("total", "in/s.yaml").exit_code == 1
    write("in/dpcompose.toml", "total-budget = {rho = 9}\n")
    assert run("total", "in/s.yaml").exit_code == 1
    write("dpcompose.toml", "")
    assert run("total", "in/s.yaml").exit_code == 0
