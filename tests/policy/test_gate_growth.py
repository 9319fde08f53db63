"""`diff --fail-on increase`: what grows is told wherever it does, though the bound is less."""

from __future__ import annotations

from typing import Any

import pytest
from tables import tables

from dpcompose.planning import comparison
from dpcompose.planning.growth import growth as growth_of

from .reviewer import changes, commit, run, write

pytestmark = pytest.mark.usefixtures("home")

TABLES = tables(__file__)
Edits = list[tuple[str, str]]


def edited(spec: str, edits: Edits) -> tuple[str, str]:
    old = new = TABLES["specs"][spec]
    for before, after in edits:
        assert before in new
        new = new.replace(before, after)
    return old, new


def grown(old: str, new: str, *more: str) -> tuple[int, list[str], dict[str, Any]]:
    write("old.yaml", old)
    write("new.yaml", new)
    call = ("diff", "old.yaml", "new.yaml", "--fail-on", "increase", *more)
    result = run(*call, "--format", "json")
    (found,) = changes(result)
    names = [each["name"] for each in found["numbers"] if each["direction"] == "increased"]
    if names:  # people see it as well
        assert names[0] in " ".join(run(*call).stdout.split())
        assert run(*call, "--format", "github").stdout.startswith("::error ")
    return int(result.exit_code), names, found


def told(spec: str, edits: Edits, name: str) -> None:
    old, new = edited(spec, edits)
    code, names, found = grown(old, new)
    if not name:
        assert (code, names) == (0, []) and found["direction"] in ("decreased", "same")
        return
    assert code == 1 and name in names
    assert found["direction"] == "increased" and "increase" in found["events"]


@pytest.mark.parametrize(("spec", "edits", "name"), TABLES["quick"])
def test_a_number_that_grows_below_a_smaller_bound(spec: str, edits: Edits, name: str) -> None:
    told(spec, edits, name)


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "edits", "name"), TABLES["slow"])
def test_further_numbers_that_grow(spec: str, edits: Edits, name: str) -> None:
    told(spec, edits, name)


def test_the_lead_is_what_is_infinite_now() -> None:
    """ε at the δ of the report fell from 6.2 to 3.1 where it is still finite."""
    old, new = edited("count", [("count: 100", "count: 50"), ("1e-12", "9e-9")])
    assert "ε at δ = 1e-9  5.97044 → none" in run_of(old, new)


def run_of(old: str, new: str) -> str:
    write("old.yaml", old)
    write("new.yaml", new)
    return run("diff", "old.yaml", "new.yaml").stdout


def test_what_hides_behind_a_small_increase_is_told_too() -> None:
    old, new = edited("mixed", [("rho: 0.01", "rho: 0.0101"), ("1e-12", "9e-9")])
    code, names, _ = grown(old, new)
    assert code == 1
    assert names == ["ε at δ = 1e-5", "chance that all is given away"]


def test_many_specs_that_did_not_change_are_not_compared_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []
    real = growth_of

    def growth(*given: Any) -> Any:
        seen.append(given[1].file)
        return real(*given)

    monkeypatch.setattr(comparison, "growth", growth)
    for number in range(20):
        write(f"specs/{number}.yaml", TABLES["specs"]["laplace"])
    commit()
    write("specs/7.yaml", TABLES["specs"]["laplace"].replace("scale: 4", "scale: 5"))
    write("specs/8.yaml", TABLES["specs"]["laplace"] + "title: another\n")
    write("specs/9.yaml", "# a comment\n" + TABLES["specs"]["laplace"])
    assert run("diff", "--against", "HEAD", "specs", "--fail-on", "increase").exit_code == 0
    assert seen == ["specs/7.yaml"]


def test_a_moved_spec_and_the_second_document_of_a_stream_are_compared() -> None:
    old, new = edited("count", [("count: 100", "count: 50"), ("1e-12", "9e-9")])
    write("specs/a.yaml", old + "title: one\n---\n" + old)
    commit()
    write("specs/a.yaml", old + "title: one\n---\n" + new)
    call = ("diff", "--against", "HEAD", "specs", "--fail-on", "increase", "--format", "json")
    result = run(*call)
    assert result.exit_code == 1
    assert [each["direction"] for each in changes(result)] == ["same", "increased"]
