"""The same people counted against two budgets in one call: what is told, and how loudly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import run

pytestmark = pytest.mark.usefixtures("home")

SPEC = """\
dpcompose: 1
{population}adaptivity: {adaptivity}
protect: user
datasets: {{{root}: {{unit: patient}}}}
mechanisms: [{{name: {name}, reads: {root}, notion: pure, epsilon: 0.4}}]
budget: {{epsilon: {budget}}}
"""


def write(
    name: str,
    *,
    budget: int = 1,
    population: str | None = "p",
    adaptivity: str = "parameters",
    root: str = "visits",
) -> None:
    whose = "" if population is None else f"population: {population}\n"
    given = {"adaptivity": adaptivity, "root": root, "budget": budget}
    Path(f"{name}.yaml").write_text(SPEC.format(population=whose, name=name, **given))


def told(*more: str, command: str = "check") -> tuple[list[tuple[str, str]], int]:
    """The files that have the remark with its level, and the exit code."""
    files = sorted(map(str, Path().glob("*.yaml")))
    done = run(command, *files, "--format", "json", *more)
    found = [
        (each["file"], finding["level"])
        for each in json.loads(done.stdout)["results"]
        for finding in each["findings"]
        if finding["code"] == "DPC224"
    ]
    return found, done.exit_code


def test_without_a_population_a_root_and_its_unit_are_a_hint() -> None:
    write("a", population=None)
    write("b", population=None, budget=2)
    write("c", population=None, budget=3, root="trips")
    assert told() == ([("b.yaml", "note")], 0)


@pytest.mark.parametrize(
    "second",
    [
        {"population": "q", "budget": 2},
        {"adaptivity": "adaptive", "budget": 2},
        {"population": None, "root": "trips"},
    ],
)
def test_other_people_and_fixed_parameters_are_not_told(second: dict[str, object]) -> None:
    write("a")
    write("b", **second)  # type: ignore[arg-type]
    assert told() == ([], 0)


def test_a_total_counts_them_together_and_says_nothing_of_it() -> None:
    write("a")
    write("b")
    done = run("total", "a.yaml", "b.yaml")
    assert done.exit_code == 0 and "0.2 left" in done.output and "DPC224" not in done.output
    write("b", budget=2)
    assert run("total", "a.yaml", "b.yaml").exit_code != 0
