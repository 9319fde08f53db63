"""The JSON that `diff`, `total` and `savings` print is what its published schema says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from command import run
from conftest import LIBRARY
from contracts import SCHEMAS, checked, validator
from handmade import REPORTS
from volume import rare

import dpcompose
from dpcompose.commands.choices import SchemaOf
from dpcompose.core.notions.guarantee import Budget
from dpcompose.errors import Diagnostic, Span
from dpcompose.planning.comparison import Change, Invalid, SameTerms, Version, change
from dpcompose.planning.edits import edits
from dpcompose.planning.fitting import fit
from dpcompose.planning.ledger.releases import Release
from dpcompose.planning.ledger.totals import Sum, TotalAsked, add_up
from dpcompose.planning.savings import NoBound, savings_of
from dpcompose.planning.scaling import Unscalable
from dpcompose.policy.accepted import Accepted, updated, written
from dpcompose.render.exports import entry_findings
from dpcompose.render.json import render
from dpcompose.render.json.plan_documents import diff_json, fit_json, savings_json, total_json
from dpcompose.render.json.shapes import in_draft_7
from dpcompose.render.layout import Style
from dpcompose.report.declared_assumptions import claims
from dpcompose.resolve import resolve
from dpcompose.source import load

SPECS = [*LIBRARY.values()]
BAD = sorted((Path(__file__).parents[1] / "bad").rglob("*.yaml"))[::7]
DELTA = Fraction(1, 10**6)
FOUND = Diagnostic("DPC312", "a reason is missing", Span(3, 1, 3, 9), None, "warning")
PLAIN = "dpcompose: 1\nprotect: unbounded\ndatasets: {t: {}}\nmechanisms:\n"


def one(entry: str, **top: str) -> str:
    above = "".join(f"{key}: {value}\n" for key, value in top.items())
    return f"{above}{PLAIN}  - {{name: m, reads: t, {entry}}}\n"


#: Specs of every outcome: a bound in each notion, beyond doubles, a profile, none.
TEXTS = {
    "pure": one("notion: pure, epsilon: 1", title="a title"),
    "third": one("notion: pure, epsilon: 1/3"),
    "approx": one("notion: approx, epsilon: 1, delta: 1e-6"),
    "zcdp": one("notion: zcdp, rho: 1"),
    "gdp": one("notion: gdp, mu: 1") + "  - {name: n, reads: t, notion: gdp, mu: 1}\n",
    "rdp": one("notion: rdp, alpha: 8, epsilon: 1"),
    "huge": one("notion: pure, epsilon: 1e400", budget="{epsilon: 1e-400}"),
    "tiny": one("notion: pure, epsilon: 1e-400"),
    "none": one("notion: pure, epsilon: 1, relation: bounded"),
    "loose": one("notion: zcdp, rho: 1", budget="{epsilon: 1}"),
    "within": one("notion: pure, epsilon: 1", budget="{epsilon: 2, delta: 1e-6}"),
    "profile": one("notion: profile, points: [[1, 1e-3]]", report="{delta: [1e-6, 1/3]}"),
    "laplace": one("mechanism: laplace, scale: 1, sensitivity: 1"),
}


def release(name: str, text: str, limit: Budget | None = None) -> Release:
    return Release(name, resolve(load(text, name)), (limit,) if limit else ())


def added(*releases: Release, **asked: Any) -> Sum:
    return add_up(releases, TotalAsked(**{"everything": True, **asked}))


def budget(**parameters: str) -> Budget:
    return Budget(tuple((name, Fraction(value)) for name, value in parameters.items()))


# --- diff ----------------------------------------------------------------------------------------


def changes() -> Iterator[Change | Invalid]:
    for (was, old), (now, new) in pairwise([*TEXTS.items(), *TEXTS.items()]):
        yield change(Version(was, old), Version(now, new))
        yield change(Version(was, old), Version(now, new, 7, 2), SameTerms((DELTA, Fraction(0))))
    for name, text in TEXTS.items():
        yield change(None, Version(name, text), SameTerms((), (budget(rho="1"),)))
        yield change(Version(f"{name}@HEAD", text, path=name), None, SameTerms((DELTA,)))
        yield change(Version(name, text), Version(name, "x: 1", 0, 1))
        yield change(Version(name, text), Version(name, text))
    for path in BAD:
        yield change(Version("old", path.read_bytes()), Version("new", path.read_bytes()))


@pytest.mark.slow
def test_every_change_is_what_the_schema_says() -> None:
    document = checked("diff", "".join(diff_json(changes())))
    seen = {each["direction"] for each in document["changes"]}
    assert seen == {"same", "decreased", "increased", "incomparable", "invalid"}
    assert any(len(each.get("invalid", ())) == 2 for each in document["changes"])
    numbers = [n for each in document["changes"] for n in each.get("numbers", ())]
    assert any(each["new"] is None for each in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("first", rare(SPECS, 3), ids=lambda path: path.stem)
def test_changes_from_one_example_to_the_next_are_what_the_schema_says(first: Path) -> None:
    second = SPECS[(SPECS.index(first) + 1) % len(SPECS)]
    found = change(Version("old", first.read_bytes()), Version("new", second.read_bytes()))
    checked("diff", "".join(diff_json([found])))


# --- total ---------------------------------------------------------------------------------------

BUDGETS = [
    None, budget(epsilon="1"), budget(epsilon="1e400"), budget(epsilon="1", delta="1/3"),
    budget(epsilon="1e-4200"), budget(rho="1/7"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("limit", BUDGETS, ids=range(len(BUDGETS)))
def test_every_total_is_what_the_schema_says(limit: Budget | None) -> None:
    seen = set()
    for name, text in TEXTS.items():
        for deltas, fixed in product(((), (DELTA, Fraction(0))), (None, "planned before it all")):
            both = release(name, text), release("pure", TEXTS["pure"])
            found = added(*both, limit=limit, deltas=deltas, fixed=fixed, rest=True)
            document = checked("total", "".join(total_json(found)))
            seen |= {each["status"] for each in document["totals"]}
    assert seen == {"ok", "no-guarantee"}


def test_totals_against_a_budget_in_another_notion_are_what_the_schema_says() -> None:
    for name in ("pure", "zcdp", "gdp", "approx"):
        found = added(release(name, TEXTS[name]), limit=budget(mu="3"))
        checked("total", "".join(total_json(found)))


def test_totals_by_population_and_refused_ones_are_what_the_schema_says() -> None:
    named = [release(n, f"population: {n}\n{text}") for n, text in list(TEXTS.items())[:3]]
    found = added(*named, release("unnamed", TEXTS["pure"]), everything=False)
    document = checked("total", "".join(total_json(found)))
    assert [each["population"] for each in document["totals"]] == ["pure", "third", "approx"]
    assert document["without_population"] == ["unnamed"]
    other = TEXTS["pure"].replace("unbounded", "bounded")
    refused = added(release("a", TEXTS["pure"]), release("b", other))
    document = checked("total", "".join(total_json(refused)))
    assert [each["status"] for each in document["totals"]] == ["refused"]
    assert document["totals"][0]["population"] is None


@pytest.mark.slow
@pytest.mark.parametrize("path", rare(SPECS, 3), ids=lambda path: path.stem)
def test_the_total_of_every_example_is_what_the_schema_says(path: Path) -> None:
    found = added(release(path.name, path.read_text(encoding="utf-8")), limit=budget(epsilon="1"))
    checked("total", "".join(total_json(found)))


# --- savings -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_all_savings_are_what_the_schema_says() -> None:
    seen = 0
    for name, text in [
        *TEXTS.items(),
        *((p.name, p.read_text(encoding="utf-8")) for p in SPECS[::3]),
    ]:
        try:
            found = savings_of(load(text, name), None, 1)
        except (NoBound, Unscalable):
            continue
        document = checked("savings", "".join(savings_json(name, found)))
        seen += any(each["saves"] is None for each in document["savings"])
        assert (document["total"] is None) is (name == "huge")
    assert seen


# --- the schemas can fail ------------------------------------------------------------------------


@cache
def examples() -> dict[str, str]:
    """A rich document of each schema."""
    old, new = TEXTS["pure"], TEXTS["within"].replace("epsilon: 1,", "epsilon: 2,")
    found = change(
        Version("old", old),
        Version("new", new.replace("epsilon: 1}", "epsilon: 1.5}"), 7, 2),
        SameTerms((DELTA,), audit=lambda _, report: found_in(report)),
    )
    invalid = change(Version("old", old), Version("new", "x: 1", 0, 2))
    summed = added(
        release("pure", old), release("gdp", TEXTS["gdp"]),
        limit=budget(epsilon="9", delta="1e-6"), deltas=(DELTA,),
    )  # fmt: skip
    halved = savings_of(load(TEXTS["gdp"], "gdp"), None, 1)
    source = load(TEXTS["gdp"], "gdp")
    fitted = fit(source, budget(mu="1"), {})
    numbers = [(each, key) for each in edits(source, load(fitted.text, "gdp")) for key in each.keys]
    return {
        "result": "".join(render(REPORTS.values(), Style(), True)),
        "diff": "".join(diff_json([found, invalid])),
        "total": "".join(total_json(summed)),
        "savings": "".join(savings_json("gdp", halved)),
        "fit": "".join(fit_json("gdp", fitted, numbers, ["look"], fitted.text)),
        "registry": "".join(entry_findings.json([replace(REPORTS["rides"], findings=(FOUND,))])),
        "assumptions": written(
            updated(
                Accepted("lock", "/"),
                {"/a": [(1, claims(resolve(load(old, "a"))))]},
                "Ann",
                "2026-01-02",
            )
        ),
    }


def found_in(report: dpcompose.Report) -> dpcompose.Report:
    return replace(report, findings=(FOUND,)) if report.file == "new" else report


def objects(node: Any, *place: str) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Every object, below its keys, but those with keys of their own: exact numbers, claims."""
    if isinstance(node, dict):
        yield place, node
        for key, value in node.items():
            if key not in ("exact", "claim"):
                yield from objects(value, *place, key)
    elif isinstance(node, list):
        for each in node:
            yield from objects(each, *place)


def one_of_a_kind(document: Any) -> list[dict[str, Any]]:
    """One of the objects that stand in the same place, in whatever list, with the same keys."""
    found: dict[Any, dict[str, Any]] = {}
    for place, each in objects(document):
        kinds = tuple((key, type(value), not value) for key, value in each.items())
        found.setdefault((place, kinds), each)
    return list(found.values())


def only(node: Any, wanted: set[int]) -> Any:
    """What is wanted, by identity, and what it stands in: of each list what holds some of it."""
    if isinstance(node, list):
        return [only(each, wanted) for each in node if holds(each, wanted)] or node[:1]
    if isinstance(node, dict):
        node.update({key: only(value, wanted) for key, value in node.items()})
    return node


def holds(node: Any, wanted: set[int]) -> bool:
    return any(id(each) in wanted for _, each in objects(node))


@pytest.mark.slow
@pytest.mark.parametrize("of", sorted(SCHEMAS))
def test_every_key_that_is_misspelt_or_missing_is_noticed(of: str) -> None:
    document = checked(of, examples()[of])
    optional = {"document", "because", "keeps", "at_epsilon", "ignored", "adversary", "place", "of"}
    optional |= {"label", "fix"}
    tried = 0
    chosen = one_of_a_kind(document)
    document = only(document, {id(each) for each in chosen})
    for each in chosen:
        for key in list(each):
            value = each.pop(key)
            missing_is_fine = key in optional or (key == "at_delta" and "limit" in each)
            # A part of a budget may be missing, as long as there is another one.
            missing_is_fine |= set(each) <= {"epsilon", "delta"} and bool(each)
            if not missing_is_fine:
                assert not validator(of).is_valid(document), f"without {key}"
            each[f"{key}x"] = value
            assert not validator(of).is_valid(document), f"{key}x"
            del each[f"{key}x"]
            each[key] = value
            tried += 1
    assert tried > 5
    validator(of).validate(document)


def test_documents_that_are_wrong_are_refused() -> None:
    rich = {of: json.loads(text) for of, text in examples().items()}
    wrong: list[tuple[str, list[str | int], object]] = [
        ("diff", ["changes", 0, "direction"], "more"),
        ("diff", ["changes", 0, "numbers", 0, "new"], "1"),
        ("diff", ["changes", 0, "file"], None),
        ("diff", ["changes", 0, "edits", 0, "how"], "moved"),
        ("diff", ["changes", 0, "findings", 0, "level"], "fatal"),
        ("diff", ["changes", 0, "document"], 0),
        ("diff", ["changes", 1, "invalid"], None),
        ("diff", ["schema_version"], 2),
        ("total", ["totals", 0, "status"], "invalid"),
        ("total", ["totals", 0, "guarantee"], {"notion": "profile"}),
        ("total", ["totals", 0, "budget", "ok"], None),
        ("total", ["totals", 0, "shares", 0, "line"], -1),
        ("savings", ["savings", 0, "saves"], -1),
        ("savings", ["total"], "1"),
    ]
    for of, path, value in wrong:
        document = deepcopy(rich[of])
        inside: Any = document
        for key in path[:-1]:
            inside = inside[key]
        assert path[-1] in inside or isinstance(path[-1], int)
        inside[path[-1]] = value
        assert not validator(of).is_valid(document), path


def test_unknown_keys_are_for_later_versions() -> None:
    for of, text in examples().items():
        document = {**json.loads(text), "later": 1}
        jsonschema.Draft202012Validator(SCHEMAS[of]()).validate(document)


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize("of", sorted(SCHEMAS))
def test_the_command_prints_the_schema(of: str) -> None:
    result = run("schema", of)
    assert result.exit_code == 0
    assert json.loads(result.stdout) == SCHEMAS[of]()
    assert of in run("schema", "--help").stdout


@pytest.mark.parametrize("of", [*SchemaOf])
def test_the_schema_in_draft_7_says_the_same(of: str) -> None:
    older = json.loads(run("schema", of, "--draft", "7").stdout)
    newest = json.loads(run("schema", of).stdout)
    jsonschema.Draft7Validator.check_schema(older)
    assert older["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert "$defs" not in str(older) and run("schema", of, "--draft", "4").exit_code == 2
    assert json.loads(run("schema", of, "--draft", "2020-12").stdout) == newest
    known = jsonschema.Draft7Validator.META_SCHEMA["properties"]
    assert set(_keywords(older)) <= known.keys()
    assert newest.get("$defs", {}).keys() == older.get("definitions", {}).keys()


def _keywords(schema: Any) -> Iterator[str]:
    """Every keyword of a schema; a reference has none beside it."""
    if isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)
    elif isinstance(schema, dict):
        assert "$ref" not in schema or len(schema) == 1
        for key, value in schema.items():
            yield key
            if key in ("properties", "definitions"):
                for each in value.values():
                    yield from _keywords(each)
            elif key not in ("const", "enum", "default"):
                yield from _keywords(value)


def test_documents_are_judged_alike_in_draft_7() -> None:
    for of, text in examples().items():
        document = json.loads(text)
        older = jsonschema.Draft7Validator(in_draft_7(SCHEMAS[of]()))
        newest = jsonschema.Draft202012Validator(SCHEMAS[of]())
        for each in (document, {**document, "schema_version": 2}, {**document, "file": 1}, {}):
            assert older.is_valid(each) == newest.is_valid(each)
        assert older.is_valid(document) and not older.is_valid({})


def test_what_schemas_there_are() -> None:
    assert {*SCHEMAS, "spec", "certificate"} == set(SchemaOf)
    result = run("schema", "totals")
    assert result.exit_code == 2 and "'total'" in result.stderr


def test_shared_shapes_are_the_same_in_all_schemas() -> None:
    results = SCHEMAS["result"]()["$defs"]
    for of in SCHEMAS:
        for name, shape in SCHEMAS[of]().get("$defs", {}).items():
            assert results.get(name, shape) == shape
    assert set(SCHEMAS["total"]()["$defs"]) == {
        "at_delta",
        "bound",
        "budget",
        "filter",
        "finding",
        "theorem",
    }
    assert "$defs" not in SCHEMAS["savings"]()
