"""The rule engine: what it cites, what it refuses, and that nothing else decides about theorems."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import LIBRARY
from oracle.generate import random_spec
from tables import tables
from wide import wide_spec

from dpcompose.core.loss.algebra import Loss
from dpcompose.core.loss.algebras import Pairs
from dpcompose.core.mechanisms import FORMS
from dpcompose.core.notions.guarantee import bound_of
from dpcompose.core.notions.notion import Notion
from dpcompose.core.search.select import compare, in_use, setting_of
from dpcompose.core.search.solver import Solution, Solver, notions
from dpcompose.core.theorem import Hypothesis, Refused, Role, Theorem
from dpcompose.core.theorems.book import BOOK, in_role, uses_on
from dpcompose.core.theorems.setting import Setting
from dpcompose.errors import InvalidSpec
from dpcompose.handbook import whole_book
from dpcompose.pipeline import analyze
from dpcompose.report.proof_steps import proof_of
from dpcompose.resolve import resolve
from dpcompose.source import load

TABLES = tables(__file__)

ROOT = Path(__file__).parents[3]
ADAPTIVITY = ("adaptive", "independent")


def solved(text: str) -> list[tuple[Solver, Solution]]:
    """A spec in each notion with a finite bound; else in each at all."""
    problem = resolve(load(text, "spec")).problem
    solver = Solver(problem)
    found = [(solver, solver.solve(notion)) for notion in notions(problem)]
    return [each for each in found if each[1].finite] or found


def named(solver: Solver, solution: Solution) -> tuple[str, ...]:
    """The theorems that give a bound, the last one first."""
    return proof_of(solver, solution).theorems


def setting(text: str) -> Setting:
    """A spec as the theorems see it."""
    return setting_of(*solved(text)[0])


def apply(theorem: str, one: Setting) -> Loss | Refused:
    """The least bound of the uses of a theorem for a release, or why the first one gives none."""
    entry = BOOK[theorem]
    found = [in_use(entry, use, one) for use in entry.uses if use.on == "release"]
    losses = [each for each in found if not isinstance(each, Refused)]
    if losses:
        return one.algebra.best(losses)
    return found[0] if found else Refused("it is not one for a whole release")


def spec(
    read: str,
    *mechanisms: str,
    protect: str = "unbounded",
    datasets: str = "",
    adaptivity: str = "adaptive",
    domain: str = "table",
) -> str:
    """Mechanisms that all read what `read` says, unless they say more."""
    released = [f"  - {{name: m{n}, reads: {read}, {each}}}" for n, each in enumerate(mechanisms)]
    return "\n".join(
        [
            "dpcompose: 1",
            f"protect: {protect}",
            f"adaptivity: {adaptivity}",
            "datasets:",
            f"  t: {{domain: {domain}}}",
            *(f"  {each}" for each in datasets.split("; ") if each),
            "mechanisms:",
            *released,
            "",
        ]
    )


BLOCKS = "b: {from: t, partition: {by: value, blocks: [x, y, z]}}"
PURE = "notion: pure, epsilon: 1"
RUN = "{notion: approx, epsilon: 1, delta: 1e-7}"
LOSSES = {
    Notion.PURE: ("epsilon: 0.5", "epsilon: 0.7", "epsilon: 1"),
    Notion.APPROX: (
        "epsilon: 0.5, delta: 1e-7",
        "epsilon: 0.7, delta: 1e-6",
        "epsilon: 1, delta: 0",
    ),
    Notion.ZCDP: ("rho: 0.1", "rho: 0.25", "rho: 0.2"),
    Notion.GDP: ("mu: 0.1", "mu: 0.4", "mu: 0.3"),
}


def on_blocks(
    notion: Notion, protect: str, by: str, said: str, adaptivity: str = "adaptive"
) -> str:
    """Three blocks with a loss each, and what else every guarantee says."""
    domain = "ordered-table" if by == "position" else "table"
    text = spec("t", protect=protect, adaptivity=adaptivity, domain=domain)
    text = text.replace(
        "mechanisms:",
        f"  b: {{from: t, partition: {{by: {by}, blocks: [x, y, z]}}}}\nmechanisms:",
    )
    lines = [
        f"  - {{name: m{block}, reads: b.{block}, notion: {notion.value}, {loss}{said}}}"
        for block, loss in zip("xyz", LOSSES[notion], strict=True)
    ]
    return text + "\n".join(lines) + "\n"


# --- one home ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_ids_of_theorems_stand_in_their_entries_alone() -> None:
    """Texts for people may send their readers to an entry: the handbook does nothing else."""
    ids = {*whole_book()} - {*FORMS}  # the name of a mechanism is a word of specs, too
    found = [
        (str(path.relative_to(ROOT)), node.lineno, node.value)
        for path in (ROOT / "dpcompose").rglob("*.py")
        if not {"theorems", "mechanisms", "handbook"} & set(path.relative_to(ROOT).parts)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in ids
    ]
    assert found == []


def test_the_engine_names_no_theorem() -> None:
    """Inside the package, too, ids stand in the decorators and in what an entry is a case of."""
    for name in ("theorems/book", "theorems/applicable", "theorems/setting", "search/select"):
        tree = ast.parse((ROOT / f"dpcompose/core/{name}.py").read_text(encoding="utf-8"))
        assert not [
            n.value
            for n in ast.walk(tree)
            if isinstance(n, ast.Constant) and n.value in whole_book()
        ]


@pytest.mark.parametrize("entry", whole_book().values(), ids=whole_book())
def test_an_entry_is_run_or_says_that_it_is_for_readers(entry: Theorem) -> None:
    runs = [use for use in entry.uses if use.run is not None or use.role is Role.FAMILY]
    assert bool(runs) != (entry.for_readers is not None)
    if entry.for_readers is not None:
        assert not entry.for_readers.endswith(".")


@pytest.mark.parametrize("entry", whole_book().values(), ids=whole_book())
def test_what_is_called_checked_is_checked(entry: Theorem) -> None:
    for use in entry.uses:
        if use.on is not None:
            for each in (*entry.hypotheses, *use.hypotheses):
                assert entry.how(each) == "declared" or each.test is not None, each.name
    if not entry.uses:
        assert "checked" not in {entry.how(each) for each in entry.hypotheses}


def test_roles_find_one_entry_each() -> None:
    for notion in LOSSES:
        for adaptive in (True, False):
            for role in (Role.GENERAL, Role.SEQUENTIAL, Role.COMMON, Role.GROUP, Role.WORST_BLOCK):
                entry = in_role(role, notion, adaptive)
                assert entry.notion is notion and entry.adaptive in (None, adaptive)
                others = [
                    each.id
                    for each in BOOK.values()
                    if (each.notion, each.adaptive) == (entry.notion, entry.adaptive)
                    and any(use.role is role for use in each.uses)
                ]
                assert others == [entry.id]
    with pytest.raises(LookupError, match="no theorem for group privacy"):
        in_role(Role.GROUP, Notion.RDP)
    concurrent = {
        Notion.PURE: "concurrent-pure",
        Notion.APPROX: "concurrent-approx",
        Notion.ZCDP: "concurrent-zcdp",
        Notion.GDP: "concurrent",
        Notion.PROFILE: "concurrent",
    }
    assert {each: in_role(Role.CONCURRENT, each).id for each in concurrent} == concurrent
    assert in_role(Role.CONCURRENT_FILTER).id == "concurrent-filter"
    assert in_role(Role.JOINT).id == "joint-l1"
    assert in_role(Role.KEPT).id == "kept-columns"
    assert BOOK["kept-columns"].specialises == ("IV.10",)


# --- production runs every bound that it is said to run ------------------------------------------


FAMILIES = (
    "mechanism: laplace, scale: 4, sensitivity: {bounded: 1}",
    "mechanism: geometric, scale: 4, sensitivity: {bounded: 1}",
    "mechanism: exponential, epsilon: 0.1, sensitivity: {bounded: 1}",
    "mechanism: randomized-response, k: 3, epsilon: 0.1",
    "mechanism: skellam, variance: 100, sensitivity: {bounded: 1}",
)
RUNS: list[str] = [
    *(
        on_blocks(notion, protect, by, said, adaptivity)
        for notion in LOSSES
        for adaptivity in ADAPTIVITY
        for protect, by, said in (
            ("unbounded", "value", ""),
            ("bounded", "position", ", stated_on: t"),
            ("bounded", "value", ", stated_on: t"),
        )
    ),
    *(
        spec("t", f"notion: {notion.value}, {loss}", protect="{relation: unbounded, distance: 2}")
        for notion, (loss, *_) in LOSSES.items()
    ),
    spec("t", "notion: pure, epsilon: 1, relation: unbounded", protect="bounded"),
    spec("f", PURE, datasets="f: {from: t, map: {kind: flatten, max_rows: 3}}"),
    spec(
        "g",
        PURE,
        datasets="f: {from: t, map: {kind: flatten, max_rows: 3}}; "
        "g: {from: f, map: {kind: stable, stability: 2}}",
    ),
    spec("s", PURE, datasets="s: {from: t, map: {kind: sample, poisson: 0.1}}"),
    spec(
        "s",
        "notion: pure, epsilon: 1, relation: unbounded",
        protect="bounded",
        datasets="s: {from: t, map: {kind: sample, poisson: 0.1}}",
    ),
    spec(
        "s",
        "notion: pure, epsilon: 2",
        protect="bounded",
        datasets="s: {from: t, map: {kind: sample, size: 10, of: 100}}",
        domain="fixed-size-table",
    ),
    spec("s", PURE, datasets="s: {from: t, map: {kind: limit, per: k, rows: 1, keep: random}}"),
    spec("t", "mechanism: noisy-max, epsilon: 1"),
    spec("t", "mechanism: tree, steps: 7, sigma: 3, sensitivity: 1"),
    spec("t", "mechanism: key-selection, epsilon: 1, delta: 1e-6, max_keys: 1"),
    spec(
        "t",
        "mechanism: select, of: {notion: approx, epsilon: 1, delta: 1e-7}, runs: {geometric: 9}",
    ),
    spec(
        "s",
        "mechanism: randomized-response, epsilon: 5/7",
        protect="bounded",
        datasets="s: {from: t, map: {kind: shuffle, reports: 77}}",
    )
    + "report: {delta: 1e-6}\n",
    spec("t", "mechanism: sparse-vector, threshold_epsilon: 1, answer_epsilon: 1, positives: 1"),
    *(
        spec("t", noise, f"notion: {notion.value}, {LOSSES[notion][0]}", protect="bounded")
        for noise in FAMILIES
        for notion in (Notion.ZCDP, Notion.GDP)
        if "skellam" not in noise or notion is Notion.ZCDP
    ),
]


def test_production_computes_every_bound_that_is_not_for_readers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: set[str] = set()

    def counted(identifier: str, bound: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            called.add(identifier)
            return bound(*arguments)

        return run

    for identifier, entry in list(BOOK.items()):
        if entry.bound is None:
            continue
        bound = counted(identifier, entry.bound)
        monkeypatch.setitem(BOOK, identifier, entry._replace(bound=bound))
        if any(use.role is Role.FAMILY for use in entry.uses):  # its family runs it by its name
            monkeypatch.setattr(f"{entry.bound.__module__}.{entry.bound.__name__}", bound)
    uses_on.cache_clear()
    try:
        proofs = [analyze(text, "spec").proof for text in RUNS]
        cited = {each for proof in proofs if proof is not None for each in proof.of_bound}
    finally:
        monkeypatch.undo()
        uses_on.cache_clear()
    computed = {each for each in BOOK if whole_book()[each].for_readers is None}
    assert called == computed
    of_families = {
        each.id for each in BOOK.values() if any(use.role is Role.FAMILY for use in each.uses)
    }
    assert computed - cited <= of_families | {"V.3", "IV.3", "VI.5", "VI.15", "VI.23"} | {
        in_role(role, notion, adaptive).id
        for role in (Role.GENERAL, Role.COMMON)
        for notion in LOSSES
        for adaptive in (True, False)
    }


# --- the order, and the choice -------------------------------------------------------------------


def above(entry: Theorem) -> Iterator[str]:
    for each in entry.specialises:
        yield each
        yield from above(BOOK[each])


@pytest.mark.parametrize("subject", ["release", "touch", "question"])
def test_a_case_of_a_theorem_comes_before_it(subject: Any) -> None:
    seen: list[tuple[Theorem, str]] = []
    for entry, use in uses_on(subject):
        for earlier, role in seen:
            # Of two entries for different releases (one map, no map) neither is tried before.
            apart = {role, use.role.value} == {Role.MAP.value, Role.RELATION.value}
            two_uses = len(earlier.uses) > 1
            assert apart or two_uses or earlier.id not in above(entry), (entry.id, earlier.id)
        seen.append((entry, use.role.value))


def laws(long: bool) -> list[tuple[str, Solver, Solution]]:
    """Every spec of the library, random ones, and those above, solved."""
    texts = [(name, path.read_text(encoding="utf-8")) for name, path in LIBRARY.items()]
    texts += [
        (f"random {seed}", json.dumps(random_spec(seed))) for seed in range(60 if long else 25)
    ]
    texts += [(f"wide {seed}", json.dumps(wide_spec(seed))) for seed in range(60 if long else 25)]
    texts += [(f"run {n}", text) for n, text in enumerate(RUNS)]
    found: list[tuple[str, Solver, Solution]] = []
    for name, text in texts:
        with suppress(InvalidSpec):
            found += [(name, *each) for each in solved(text)]
    return found


def covered(found: Any, by: Any, one: Setting) -> bool:
    """Whether a loss is nowhere below another."""
    algebra = one.algebra
    if not isinstance(algebra, Pairs):
        return bool(found >= by)
    return all(any(pair[0] >= e and not pair[1] < d for e, d in by) for pair in found)


@pytest.mark.slow
def test_no_theorem_gives_less_than_what_is_certified(long: bool) -> None:
    for name, solver, solution in laws(long):
        one = setting_of(solver, solution)
        cited = named(solver, solution) if solution.finite else ()
        compared = compare(solver, solution, cited)
        assert all(each in BOOK for each in cited)
        assert len({each.theorem for each in compared}) == len(compared)
        if not solution.finite:
            assert all(each.bound is None for each in compared), name
            continue
        for entry, _ in uses_on("release"):
            found = apply(entry.id, one)
            assert isinstance(found, Refused) or covered(found, one.loss, one), (name, entry.id)
        for each in compared:
            assert each.theorem is not None
            said = apply(each.theorem, one)
            if each.bound is None and isinstance(said, Refused):
                roles = {use.role for use in BOOK[each.theorem].uses}
                assert Role.SEQUENTIAL in roles or str(said) == each.why, (name, each)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (on_blocks(Notion.PURE, "unbounded", "value", ""), "V.4"),
        (on_blocks(Notion.PURE, "unbounded", "value", "", "independent"), "IV.6"),
        (on_blocks(Notion.PURE, "bounded", "value", ", stated_on: t"), "IV.13"),
        (on_blocks(Notion.PURE, "bounded", "value", ", stated_on: t", "independent"), "IV.13"),
        (on_blocks(Notion.PURE, "bounded", "position", ", stated_on: t"), "V.6"),
        (on_blocks(Notion.APPROX, "bounded", "value", ", stated_on: t"), "VI.7"),
        (on_blocks(Notion.ZCDP, "bounded", "value", ", stated_on: t"), "VI.14"),
        (on_blocks(Notion.GDP, "bounded", "value", ", stated_on: t"), "A.18"),
        (spec("t", PURE, protect="{relation: unbounded, distance: 2}"), "III.3"),
        (spec("t", PURE, PURE, protect="{relation: unbounded, distance: 2}"), "V.3"),
        (spec("t", PURE + ", relation: unbounded", protect="bounded"), "A.3"),
        (spec("t", PURE + ", relation: free-lunch"), "A.3"),
        (spec("t", PURE, protect="{relation: free-lunch, distance: 2}"), None),
    ],
)
def test_a_release_and_the_theorem_that_gives_its_bound(text: str, cited: str | None) -> None:
    assert named(*solved(text)[0])[:1] == (() if cited is None else (cited,))


@pytest.mark.parametrize("notion", LOSSES)
def test_a_theorem_that_gives_less_than_the_search_is_told(notion: Notion) -> None:
    """Planted: the search charges twice as much as the theorem on the worst block."""
    solver, solution = solved(on_blocks(notion, "unbounded", "value", ""))[0]
    (cited,) = named(solver, solution)
    least = solution.loss
    solution.loss = solution.algebra.times(least, 2)
    compared = compare(solver, solution, named(solver, solution))
    found = next(each for each in compared if each.theorem == cited)
    assert found.bound == bound_of(next(solution.algebra.bounds(least)))
    assert found.why == "applies, and gives a bound that the search has not found"


def test_two_equal_blocks_may_take_unlike_guarantees() -> None:
    """A replaced row is in both blocks `q`: (1, 1/100) for one, (2, 1/1000) for the other."""
    text = spec(
        "c.q",
        "guarantees: [{notion: approx, epsilon: 2, delta: 1e-3, stated_on: t, relation: bounded}, "
        "{notion: approx, epsilon: 1, delta: 1e-2, stated_on: t, relation: bounded}]",
        protect="bounded",
        datasets="b: {from: t, partition: {by: value, blocks: [p, q], drops: true}}; "
        "c: {from: b.*, partition: {by: value, blocks: [p, q]}}",
    )
    solver, solution = solved(text)[0]
    mixed = (3, Fraction("0.011"))
    assert solution.loss == ((2, Fraction("0.02")), mixed, (4, Fraction("0.002")))
    assert all("has not found" not in each.why for each in compare(solver, solution, ()))


def test_two_blocks_of_pairs_are_the_two_largest_of_each() -> None:
    one = setting(on_blocks(Notion.APPROX, "bounded", "value", ", stated_on: t"))
    # ε of the second and third block, δ of the first two.
    assert apply("VI.7", one) == ((Fraction("1.7"), Fraction("1.1e-6")),)


# --- apply ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theorem", "why"), TABLES["a theorem that does not give the bound says why"]
)
def test_a_theorem_that_does_not_give_the_bound_says_why(theorem: str, why: str) -> None:
    found = apply(theorem, setting(on_blocks(Notion.PURE, "unbounded", "value", "")))
    assert isinstance(found, Refused)
    assert str(found) == why


@pytest.mark.parametrize("notion", LOSSES)
def test_group_privacy_of_another_notion_is_refused(notion: Notion) -> None:
    loss = LOSSES[notion][0]
    protect = "{relation: unbounded, distance: 2}"
    one = setting(spec("t", f"notion: {notion.value}, {loss}", protect=protect))
    held = {
        each
        for each in ("III.3", "VI.3", "VI.12", "VI.20")
        if not isinstance(apply(each, one), Refused)
    }
    assert held == {in_role(Role.GROUP, one.notion).id}


def test_a_theorem_holds_of_what_it_is_a_case_of() -> None:
    one = setting(on_blocks(Notion.PURE, "unbounded", "value", ""))
    assert apply("V.4", one) == apply("V.2", one) == Fraction(1)


def test_a_hypothesis_without_a_test_is_never_refused() -> None:
    assert Hypothesis("declared", "so it is", "declared").refusal(object()) is None
