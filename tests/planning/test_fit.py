"""`fit` and `sensitivity`: laws, and that nothing but numbers changes in a text."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from command import run
from conftest import LIBRARY, Golden
from tables import tables
from typer.testing import Result

from dpcompose.core.notions.guarantee import Budget
from dpcompose.pipeline import analyze
from dpcompose.planning.fitting import Fitted, Unfit, fit
from dpcompose.planning.savings import savings_of
from dpcompose.planning.scaling import Parameter, Unscalable, number_text, scaled, written
from dpcompose.source import Source, load

TABLES = tables(__file__)

HEAD = "dpcompose: 1\nprotect: unbounded\ndatasets: {people: {}}\n"


def source(text: str) -> Source:
    return load(text, "spec")


def limit(**parameters: str) -> Budget:
    return Budget(tuple((name, Fraction(value)) for name, value in parameters.items()))


def fitted(text: str, free: dict[str, Fraction] | None = None, **budget: str) -> Fitted:
    return fit(source(text), limit(**budget) if budget else None, free or {})


def one(entry: str) -> str:
    return f"{HEAD}mechanisms:\n  - {{name: a, reads: people, {entry}}}\n"


# --- laws ----------------------------------------------------------------------------------------

LAWS = [
    ("ambulances-districts-bounded", {"epsilon": "1"}, True),
    ("ambulances-districts-bounded", {"epsilon": "1", "delta": "1e-6"}, False),
    ("adults-filter", {"epsilon": "7/3"}, True),
    ("census-2020-redistricting-persons", {"rho": "1"}, True),
    ("districts-gaussian-bounded", {"mu": "1/3"}, True),
    ("districts-gaussian-bounded", {"epsilon": "1", "delta": "1e-6"}, False),
    ("districts-zcdp-bounded", {"epsilon": "2", "delta": "1e-5"}, False),
    ("noisy-sums", {"epsilon": "1", "delta": "1e-6"}, False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "budget", "exact"), LAWS)
def test_a_fitted_spec_meets_its_budget_and_a_larger_scale_does_not(
    name: str, budget: dict[str, str], exact: bool
) -> None:
    asked = limit(**budget)
    original = load(LIBRARY[name].read_bytes(), name)
    found = fit(original, asked, {})
    verdict = analyze(found.text, name, asked).verdict
    assert verdict is not None and verdict.ok and verdict.slack is not None
    assert found.exact is exact and (not exact or verdict.slack == 0)
    assert found.spent <= asked.parameters[0][1]
    larger = scaled(original, {each: found.scale * Fraction(10001, 10000) for each in found.scaled})
    verdict = analyze(larger, name, asked).verdict
    assert verdict is not None and not verdict.ok


@pytest.mark.slow
@pytest.mark.parametrize("path", [*LIBRARY.values()][::3], ids=lambda path: path.stem)
def test_scaling_by_one_changes_no_meaning(path: Path) -> None:
    original = load(path.read_bytes(), path.name)
    before = analyze(path.read_bytes(), path.name)
    names = {share.mechanism: Fraction(1) for share in before.shares}
    after = analyze(scaled(original, names), path.name)
    assert after.bound == before.bound
    assert after.status == before.status
    says = [None if each.worst is None else each.worst.says for each in (before, after)]
    assert says[0] == says[1]


def test_a_mixture_of_free_and_fixed_is_fitted_exactly() -> None:
    spec = HEAD + (
        "mechanisms:\n"
        "  - {name: a, reads: people, notion: pure, epsilon: 1}\n"
        "  - {name: b=2, reads: people, notion: pure, epsilon: 3}\n"
        "  - {name: c, reads: people, notion: pure, epsilon: 1/2}\n"
    )
    found = fitted(spec, {"a": Fraction(1), "b=2": Fraction(1)}, epsilon="1")
    assert (found.scale, found.exact) == (Fraction(1, 8), True)
    assert "epsilon: 0.125}" in found.text and "epsilon: 0.375}" in found.text
    assert "name: c, reads: people, notion: pure, epsilon: 1/2}" in found.text
    weighted = fitted(spec, {"a": Fraction(3), "b=2": Fraction(1)}, epsilon="2")
    assert weighted.scale == Fraction(1, 4)
    assert weighted.spent == 2
    with pytest.raises(Unfit, match="the rest alone is too much") as error:
        fitted(spec, {"a": Fraction(1)}, epsilon="3")
    assert error.value.over


def test_a_kink_of_the_bound_is_found() -> None:
    spec = """\
dpcompose: 1
protect: unbounded
datasets:
  people: {}
  place: {from: people, partition: {by: value, blocks: [x, y]}}
mechanisms:
  - {name: free, reads: place.x, notion: pure, epsilon: 1}
  - {name: fixed, reads: place.y, notion: pure, epsilon: 1}
"""
    assert fitted(spec, {"free": Fraction(1)}, epsilon="7").scale == 7
    with pytest.raises(Unfit):
        fitted(spec, {"free": Fraction(1)}, epsilon="1/2")


@pytest.mark.parametrize("budget", ["1e-200", "1e200"])
def test_extreme_budgets_are_met(budget: str) -> None:
    found = fitted(one("notion: pure, epsilon: 3"), epsilon=budget)
    assert Fraction(budget) * (1 - Fraction(1, 10**5)) < found.spent <= Fraction(budget)


def test_what_costs_nothing_may_grow_without_end() -> None:
    with pytest.raises(Unfit, match="without end") as error:
        fitted(one("notion: pure, epsilon: 0"), epsilon="1")
    assert not error.value.over


def test_no_bound_and_no_budget() -> None:
    with pytest.raises(Unfit, match="no budget"):
        fitted(one("notion: pure, epsilon: 1"))
    with pytest.raises(Unfit):
        fitted(one("notion: pure, epsilon: 1, relation: bounded"), epsilon="1")
    with pytest.raises(Unfit):
        fitted(one("notion: zcdp, rho: 1"), epsilon="1")
    with pytest.raises(Unfit):
        fitted(one("notion: pure, epsilon: 1"), epsilon="0")


# --- the text ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("entry", "after"), TABLES["what is scaled"])
def test_what_is_scaled(entry: str, after: str) -> None:
    assert scaled(source(one(entry)), {"a": Fraction(1, 2)}) == one(after)


def test_comments_layout_anchors_and_expressions_stay() -> None:
    text = """\
# a comment
dpcompose: 1   # the version
protect: unbounded
constants: {total: 4, part: 1/7}
datasets: {people: {}, place: {from: people, partition: {by: value, blocks: [x, "y: z"]}}}

mechanisms:
  - name: one      # first: 1
    reads: people
    notion: pure
    epsilon:   &e total * part # of all
  - {name: two, reads: place.*, notion: pure, epsilon: {x: 0.5, "y: z": *e}}
  - name: three
    reads: people
    notion: pure
    epsilon: >-
      1/2
  - name: four
    post_processes: [one]
"""
    new = scaled(source(text), dict.fromkeys(("one", "two", "three"), Fraction(1, 3)))
    expected = (
        text.replace("total * part #", "(total * part) * 1/3 #")
        .replace("{x: 0.5, ", "{x: 1/6, ")
        .replace("*e}", "(total * part) * 1/3}")
        .replace(">-\n      1/2", "1/6")
    )
    assert new == expected


def test_a_shared_number_is_not_changed_for_others() -> None:
    text = HEAD + (
        "mechanisms:\n"
        "  - {name: a, reads: people, notion: pure, epsilon: &e 1}\n"
        "  - {name: b, reads: people, notion: pure, epsilon: *e}\n"
    )
    with pytest.raises(Unscalable):
        scaled(source(text), {"a": Fraction(1, 2)})
    both = scaled(source(text), {"a": Fraction(1, 2), "b": Fraction(1, 4)})
    assert both.endswith(
        "epsilon: &e 0.5}\n  - {name: b, reads: people, notion: pure, epsilon: 0.25}\n"
    )
    shared = HEAD + (
        "mechanisms:\n"
        "  - {name: a, reads: people, guarantees: &g [{notion: pure, epsilon: 1}]}\n"
        "  - {name: b, reads: people, guarantees: *g}\n"
    )
    with pytest.raises(Unscalable):
        scaled(source(shared), {"a": Fraction(1, 2)})
    with pytest.raises(Unscalable, match="alias"):
        scaled(source(shared), {"a": Fraction(1, 2), "b": Fraction(1, 4)})
    half = Fraction(1, 2)
    assert scaled(source(shared), {"a": half, "b": half}) == shared.replace(
        "epsilon: 1", "epsilon: 0.5"
    )


def test_curves_with_an_epsilon_for_a_key_are_refused() -> None:
    with pytest.raises(Unscalable, match="write a list"):
        scaled(source(one("notion: profile, points: {1: 0.1}")), {"a": Fraction(1, 2)})


def test_numbers_are_rounded_towards_less_loss() -> None:
    long = Fraction(12345678912345679, 98765432198765431)
    assert Fraction(number_text(long, False, True)) < long < Fraction(number_text(long, True, True))
    assert written(Parameter(("x",), "1"), Fraction(1, 3)) == "1/3"
    factor = Fraction("0.7654321")
    noise = Fraction(written(Parameter(("x",), "1", noise=True), factor))
    assert 0 < noise - 1 / factor < Fraction(1, 10**9)


# --- sensitivity ---------------------------------------------------------------------------------


def test_what_halving_saves() -> None:
    path = LIBRARY["ambulances-districts-bounded"]
    found = savings_of(load(path.read_bytes(), path.name), None, 10)
    assert (found.name, found.total) == ("ε", Fraction(17, 10))
    assert [(each.mechanism, each.saves) for each in found.savings] == [
        ("count east", Fraction(1, 2)),
        ("count south", Fraction(1, 5)),  # then north and east are the worst
        ("count north", 0),
    ]
    assert found.savings[2].why == "it is not in the worst change"
    few = savings_of(load(path.read_bytes(), path.name), None, 1)
    assert sum(each.saves is None for each in few.savings) == 1


def test_with_several_pairs_every_mechanism_is_tried() -> None:
    spec = """\
dpcompose: 1
protect: unbounded
datasets:
  people: {}
  place: {from: people, partition: {by: value, blocks: [x, y]}}
mechanisms:
  - {name: a, reads: place.x, notion: approx, epsilon: 1, delta: 1e-9}
  - {name: b, reads: place.y, notion: approx, epsilon: 0.9, delta: 1e-5}
"""
    found = savings_of(source(spec), None, 10)
    total = analyze(spec).bound
    assert total is not None and found.total == total.value
    for each in found.savings:
        half = analyze(scaled(source(spec), {each.mechanism: Fraction(1, 2)})).bound
        assert half is not None and each.saves == found.total - half.value


@pytest.mark.slow
def test_savings_at_a_delta_are_those_of_the_halved_spec() -> None:
    path = LIBRARY["noisy-sums"]
    delta = Fraction(1, 10**6)
    original = load(path.read_bytes(), path.name)
    found = savings_of(original, delta, 2)
    best = found.savings[0]
    half = analyze(scaled(original, {best.mechanism: Fraction(1, 2)}), "", None, [delta])
    value = next(at.value for at in half.at_delta if at.given == delta)
    assert value is not None and best.saves == found.total - value > 0


@pytest.mark.parametrize("width", [80, 120])
def test_screens_of_savings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden, width: int
) -> None:
    """In the unit of the budget; of a bound in ρ alone with a line on how to ask for an ε."""
    monkeypatch.chdir(tmp_path)
    text = LIBRARY["visits-gaussian-cap"].read_text(encoding="utf-8")
    (tmp_path / "visits.yaml").write_text(text, encoding="utf-8")
    found = [run("savings", "visits.yaml", "--width", str(width), *more).stdout
             for more in ([], ["--delta", "1e-6"])]  # fmt: skip
    golden(f"screens/savings-{width}.txt", "".join(found))


# --- accuracy ------------------------------------------------------------------------------------

ACCURATE = """\
dpcompose: 1
protect: unbounded
datasets:
  a: {}
mechanisms:
  - {name: orders by country, reads: a, mechanism: laplace, scale: 2, sensitivity: 1}
  - {name: y, reads: a, mechanism: gaussian, sigma: 2, sensitivity: 1}
  - {name: z, reads: a, mechanism: discrete-gaussian, sigma: 4, sensitivity: 1}
  - {name: stated, reads: a, notion: pure, epsilon: 0.01}
budget: {epsilon: 2, delta: 1e-6}
"""


def fit_with(tmp_path: Path, *asked: str) -> Result:
    spec = tmp_path / "s.dp.yaml"
    spec.write_text(ACCURATE, encoding="utf-8")
    options = [each for text in asked for each in ("--accuracy", text)]
    return run("fit", str(spec), *options)


def test_a_mechanism_gets_the_most_noise_with_an_accuracy_and_the_others_keep_the_budget(
    tmp_path: Path,
) -> None:
    result = fit_with(tmp_path, "orders by country ± 50", "z +- 20 at 99 %")
    assert result.exit_code == 0, result.stderr
    report = analyze(result.stdout, accuracy="95%")
    assert report.verdict is not None and report.verdict.ok
    within = {each.mechanism: each.within for each in report.accuracy}
    assert within["orders by country"] is not None
    assert 0 <= 50 - within["orders by country"] < Fraction(1, 10**7)
    sharper = {e.mechanism: e for e in analyze(result.stdout, accuracy=0.99).accuracy}
    assert sharper["z"].within == 20
    assert sharper["z"].deviation is not None
    assert 20 / float(sharper["z"].deviation) == pytest.approx(2.575829304)
    assert "sigma: 2," not in result.stdout
    assert "within ±20 with a chance of 99 %" in result.stderr
