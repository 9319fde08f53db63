"""`fit` and `sensitivity`: laws, and that nothing but numbers changes in a text."""

from __future__ import annotations

import json
import re
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


# --- the commands --------------------------------------------------------------------------------


def test_fit_prints_a_spec_and_says_what_it_did(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_bytes(one("notion: pure, epsilon: 1").replace("\n", "\r\n").encode())
    result = run("fit", str(path), "--epsilon", "1/3")
    assert result.exit_code == 0 and "scaled by 1/3" in result.stderr
    assert result.stdout_bytes == (
        path.read_bytes().replace(b"epsilon: 1}", b"epsilon: 1/3}") + b"budget: {epsilon: 1/3}\r\n"
    )
    assert run("fit", str(path), "--epsilon", "2", "-o", str(path)).exit_code == 0
    assert b"epsilon: 2}\r\n" in path.read_bytes()
    result = run("fit", "-", "--mu", "1", "--free", "a=2", stdin=one("notion: gdp, mu: 3"))
    assert result.stdout == one("notion: gdp, mu: 1") + "budget: {mu: 1}\n"
    assert "scaled by 1/6" in result.stderr


def test_fit_as_json_has_the_spec_and_each_number_that_changed() -> None:
    text = one("notion: pure, epsilon: 1") + "budget: {epsilon: 1/2}  # kept\n"
    result = run("fit", "-", "--format", "json", stdin=text)
    document = json.loads(result.stdout)
    assert (result.exit_code, result.stderr) == (0, "")
    assert document["spec"] == text.replace("epsilon: 1}", "epsilon: 0.5}")
    assert document["changes"] == [
        {"entry": "a", "key": "epsilon", "old": "1", "new": "0.5", "line": 5}
    ]
    assert (document["number"], document["spent"], document["limit"]) == ("ε", 0.5, 0.5)
    assert (document["scale"], document["exact"], document["mechanisms"]) == ("1/2", True, ["a"])


@pytest.mark.slow
def test_exit_codes(tmp_path: Path) -> None:
    spec, bad = tmp_path / "spec.yaml", tmp_path / "bad.yaml"
    spec.write_text(
        one("notion: pure, epsilon: 1") + "  - {name: b, reads: people, notion: pure, epsilon: 1}\n"
    )
    bad.write_text("dpcompose: 1\n")
    calls = {
        ("fit", str(spec)): 2,
        ("fit", str(spec), "--epsilon", "1"): 0,
        ("fit", str(spec), "--epsilon", "1", "--free", "a"): 1,
        ("fit", str(spec), "--epsilon", "1", "--free", "none"): 2,
        ("fit", str(spec), "--epsilon", "1", "--free", "a=x"): 2,
        ("fit", str(spec), "--epsilon", "1", "--free", "a=0"): 2,
        ("fit", str(spec), "--rho", "1", "--mu", "1"): 2,
        ("fit", str(bad), "--epsilon", "1"): 3,
        ("fit", str(tmp_path / "none"), "--epsilon", "1"): 2,
        ("savings", str(spec)): 0,
        ("savings", str(spec), "--delta", "1e-6"): 0,
        ("savings", str(spec), "--format", "json"): 0,
        ("savings", str(spec), "--delta", "1"): 2,
        ("savings", str(spec), "-o", str(spec)): 2,
        ("savings", str(bad)): 3,
        ("savings", str(tmp_path / "none")): 2,
    }
    for arguments, expected in calls.items():
        result = run(*arguments)
        assert result.exit_code == expected, (arguments, result.output)
    loose = one("notion: pure, epsilon: 1, relation: bounded")
    assert run("savings", "-", stdin=loose).exit_code == 1
    assert run("fit", "-", "--epsilon", "1", stdin=loose).exit_code == 1


@pytest.mark.parametrize("command", ["fit", "savings"])
def test_several_documents_are_refused_with_their_lines(tmp_path: Path, command: str) -> None:
    budget = ["--epsilon", "1"] if command == "fit" else []
    spec = one("notion: pure, epsilon: 1")  # of five lines
    path = tmp_path / "many.yaml"
    for text, where in (
        (f"{spec}---\n{spec}", "2 documents, from lines 1 and 6 on"),
        (f"{spec}---\nnot: [a spec\n---\n", "3 documents, from lines 1, 6 and 8 on"),
        (f"{spec}---\n" * 9, "10 documents, from lines 1, 6, 12, 18, 24, 30 and 4 more on"),
    ):
        path.write_text(text)
        result = run(command, str(path), *budget)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            f"dpcompose: {path}: it holds {where}, and `{command}` takes one spec: "
            "put the one that is meant in a file of its own\n"
        )
    assert run(command, "-", *budget, stdin=f"{spec}---\n{spec}").stderr.startswith(
        "dpcompose: <stdin>: it holds 2 documents"
    )
    assert run(command, "-", *budget, stdin=f"---\n{spec}...\n# the end\n").exit_code == 0


# --- settings ------------------------------------------------------------------------------------


def test_the_budget_of_settings_is_fitted_where_there_is_no_other(home: Path) -> None:
    spec = one("notion: pure, epsilon: 1")
    Path("s.yaml").write_text(spec)
    Path("dpcompose.toml").write_text(
        "budget = {epsilon = 1/3}\n".replace("1/3", "'1/3'")
        + "[[overrides]]\npaths = ['in/**']\nbudget = {epsilon = 5}\n"
    )
    result = run("fit", "s.yaml")
    assert (result.exit_code, result.stdout) == (0, one("notion: pure, epsilon: 1/3"))
    assert "ε = 1/3, of ε = 1/3 (budget of dpcompose.toml): losses of 1 mechanism" in result.stderr
    Path("in").mkdir()
    Path("in/s.yaml").write_text(spec)
    result = run("fit", "in/s.yaml")
    assert "epsilon: 5}" in result.stdout
    assert "(budget of dpcompose.toml: overrides[0])" in result.stderr
    assert "epsilon: 1/3}" in run("fit", "-", stdin=spec).stdout
    assert run("fit", "s.yaml", "--isolated").exit_code == 2
    result = run("fit", "s.yaml", DPCOMPOSE_BUDGET="epsilon=0.25")
    assert "epsilon: 0.25}" in result.stdout and "(budget of the environment)" in result.stderr
    result = run("fit", "s.yaml", "--epsilon", "8", DPCOMPOSE_BUDGET="epsilon=0.25")
    assert "epsilon: 8}" in result.stdout and "budget of" not in result.stderr
    result = run("fit", "-", stdin=spec + "budget: {epsilon: 9}\n")
    assert "epsilon: 9}" in result.stdout and "budget of" not in result.stderr
    Path("s.yaml").write_text(run("fit", "s.yaml").stdout)
    assert run("check", "s.yaml").exit_code == 0


def test_a_budget_against_an_adversary_is_not_fitted(home: Path) -> None:
    Path("dpcompose.toml").write_text("budget = {epsilon = 1}\n")
    spec = """\
dpcompose: 1
protect: unbounded
datasets:
  people: {}
  app: {from: people, partition: {by: membership, max_blocks: 3, blocks: [a, b, c]}}
mechanisms:
  - {name: m, reads: app.*, notion: pure, epsilon: 1}
adversary: {hypotheses: none-vs-uniform}
budget: {adversary: {epsilon: 2.5}}
"""
    result = run("fit", "-", stdin=spec)
    assert result.exit_code == 2 and "against the adversary alone" in result.stderr
    assert run("fit", "-", "--epsilon", "1", stdin=spec).exit_code == 0


@pytest.mark.slow
def test_sensitivity_looks_at_the_delta_of_settings_where_there_is_no_bound(home: Path) -> None:
    spec = one("mechanism: gaussian, sigma: 2, sensitivity: 1").replace(
        "mechanisms:\n", "mechanisms:\n  - {name: b, reads: people, notion: profile,"
        " points: [[1, 1e-9]]}\n",
    )  # fmt: skip
    Path("s.yaml").write_text(spec)

    def number(*arguments: str, **environment: str) -> str:
        result = run("savings", "s.yaml", "--format", "json", *arguments, **environment)
        found: str = json.loads(result.stdout)["number"] if result.stdout else result.stderr
        return found

    assert "there is no finite bound; with --delta there may be an ε" in number()
    Path("dpcompose.toml").write_text("require-delta = 1e-4\n")
    assert number() == "ε at δ = 1e-4"
    Path("dpcompose.toml").write_text(
        "require-delta = 1e-4\nbudget = {epsilon = 3, delta = 1e-3}\n"
    )
    assert number() == "ε at δ = 0.001"
    assert number(DPCOMPOSE_BUDGET="epsilon=2,delta=1e-5") == "ε at δ = 1e-5"
    assert number("--delta", "0.1") == "ε at δ = 0.1"
    assert "no finite bound" in number("--isolated")
    Path("s.yaml").write_text(spec + "budget: {epsilon: 9}\n")
    assert number() == "ε at δ = 1e-4"
    Path("s.yaml").write_text(spec + "report: {delta: 0.2}\n")
    assert number() == "ε at δ = 0.2"


@pytest.mark.parametrize("command", ["fit", "savings"])
def test_bad_settings_stop_planning(home: Path, command: str) -> None:
    Path("s.yaml").write_text(one("notion: pure, epsilon: 1") + "budget: {epsilon: 2}\n")
    Path("dpcompose.toml").write_text("budget = 2")
    result = run(command, "s.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == run("analyze", "-q", "s.yaml").stderr
    assert run(command, "s.yaml", "--isolated").exit_code == 0
    Path("dpcompose.toml").unlink()
    result = run(command, "s.yaml", DPCOMPOSE_BUDGET="2")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("dpcompose: DPCOMPOSE_BUDGET: budget: ")


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


def test_the_json_of_savings() -> None:
    result = run("savings", str(LIBRARY["adults-filter"]), "--format", "json")
    document = json.loads(result.stdout)
    assert document["total"] == 0.4
    assert document["savings"] == [{"mechanism": "income", "saves": 0.2, "why": None, "line": 23}]


@pytest.mark.parametrize(
    ("own", "flags", "becomes"),
    [
        ("", "--epsilon 3", "budget: {epsilon: 3}\n"),
        ("", "--epsilon 1 --delta 1e-6", "budget: {epsilon: 1, delta: 1e-6}\n"),
        ("budget: {epsilon: 1/10}  # agreed\n", "--epsilon 3", "budget: {epsilon: 3}  # agreed\n"),
        ("budget: {epsilon: 5}\n", "--epsilon 1/3", "budget: {epsilon: 1/3}\n"),
        ("budget:\n  epsilon: 5  # agreed\n", "--epsilon 3", "budget:\n  epsilon: 3  # agreed\n"),
        ("budget:\n  rho: 5\n# end\n", "--epsilon 3", "budget: {epsilon: 3}\n# end\n"),
        ("budget: {rho: 5}\n", "--epsilon 1 --delta 1e-20", "budget: {epsilon: 1, delta: 1e-20}\n"),
        ("", "--success 0.2 --baseline 0.1", "budget: {success: 0.2, baseline: 0.1}\n"),
    ],
)
def test_the_budget_that_was_asked_for_is_written(own: str, flags: str, becomes: str) -> None:
    spec = one("notion: pure, epsilon: 1") + own
    result = run("fit", "-", *flags.split(), stdin=spec)
    assert result.exit_code == 0 and result.stdout.endswith(becomes)
    assert "stays as it was" not in result.stderr
    assert run("check", "-", stdin=result.stdout).exit_code == 0


def test_a_budget_against_an_adversary_stays_and_is_told() -> None:
    spec = LIBRARY["subsidiaries"].read_text()
    result = run("fit", "-", "--epsilon", "3", "--delta", "0.1", stdin=spec)
    assert result.exit_code == 0
    assert (
        "budget: {adversary" in result.stdout
        and "`budget: {epsilon: 3, delta: 0.1}`" in result.stderr
    )


def test_a_budget_of_nothing_has_no_scale() -> None:
    spec = one("notion: pure, epsilon: 1")
    assert (
        "no scale of `a` keeps a budget of 0"
        in run("fit", "-", "--epsilon", "0", stdin=spec).stderr
    )


def test_the_former_name_of_savings_says_so() -> None:
    spec = str(LIBRARY["adults-filter"])
    old, new = run("sensitivity", spec), run("savings", spec)
    assert old.stdout == new.stdout and old.exit_code == new.exit_code == 0
    assert "is called `savings` now" in old.stderr and not new.stderr
    assert "sensitivity" not in run("--help").stdout


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


CONSTANTS = """\
dpcompose: 1
protect: unbounded
constants: {noise: 20, share: 1/2}
datasets: {t: {}}
mechanisms:
- {name: a, reads: t, mechanism: gaussian, sigma: noise, sensitivity: 1}
- {name: b, reads: t, mechanism: gaussian, sigma: noise, sensitivity: 2}
- {name: c, reads: t, notion: zcdp, rho: share * 0.1}
budget: {rho: 0.01}
"""


def test_a_constant_is_scaled_where_it_stands_for_parameters_alone() -> None:
    result = run("fit", "-", stdin=CONSTANTS)
    assert result.exit_code == 0 and "sigma: noise, sensitivity: 2}" in result.stdout
    assert "constants: {noise: 102.440491039, share: 0.09761765}" in result.stdout
    assert "rho: share * 0.1}" in result.stdout, "a product has its constant scaled"
    assert ["noise", "20", "→", "102.441"] in [line.split() for line in result.stderr.splitlines()]
    for other in ("sigma: noise + 1,", "sigma: 2 / (noise),", "sigma: noise, because: noise,"):
        used = CONSTANTS.replace("sigma: noise,", other, 1)
        assert "noise: 20," in run("fit", "-", stdin=used).stdout
    assert "noise: 20," in run("fit", "-", "--free", "a", "--rho", "1", stdin=CONSTANTS).stdout


def test_what_was_changed_is_told() -> None:
    result = run("fit", "-", "--color", "never", stdin=CONSTANTS)
    assert "ρ ≤ 0.01, of ρ = 0.01: losses of 3 mechanisms scaled by" in result.stderr
    assert ["share", "0.5", "→", "0.0976177"] in [x.split() for x in result.stderr.splitlines()]
    sums = CONSTANTS.replace("share * 0.1", "share * 0.1 + 0.01")
    assert "c      ρ 0.06 → 0.00983217" in run("fit", "-", stdin=sums).stderr


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


def test_an_accuracy_that_costs_more_than_the_budget_is_refused(tmp_path: Path) -> None:
    result = fit_with(tmp_path, "y ± 0.1")
    assert result.exit_code == 1
    assert "the rest alone is too much" in result.stderr


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("orders by cuntry ± 50", "did you mean `orders by country`?"),
        ("y", "`NAME ± 50`, or `NAME ± 50 at 99%`, is due"),
        ("y ± 0", "a half-width above 0"),
        ("y ± 5 at 100%", "a chance below 1"),
        ("y ± five", "`five` is no known constant"),
        ("stated ± 5", "adds no noise to a number that is known here"),
    ],
)
def test_accuracies_that_mean_nothing_are_refused(asked: str, says: str, tmp_path: Path) -> None:
    result = fit_with(tmp_path, asked)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr


def test_all_mechanisms_may_have_an_accuracy(tmp_path: Path) -> None:
    asked = ["orders by country ± 100", "y ± 40", "z ± 40"]
    result = fit_with(tmp_path, *asked, "stated ± 1")
    assert result.exit_code == 2
    spec = tmp_path / "t.dp.yaml"
    spec.write_text(re.sub(".*stated.*\n", "", ACCURATE), encoding="utf-8")
    options = [each for text in asked for each in ("--accuracy", text)]
    found = run("fit", str(spec), *options)
    assert found.exit_code == 0, found.stderr
    assert "no other mechanism is scaled" in found.stderr
    both = run("fit", str(spec), *options, "--free", "y")
    assert both.exit_code == 2
    assert "--free and --accuracy both name y" in both.stderr


def test_the_number_comes_before_what_was_changed() -> None:
    spec = (
        "dpcompose: 1\nprotect: unbounded\ndatasets: {people: {}}\nmechanisms:\n"
        "  - {name: counts, reads: people, notion: pure, epsilon: 2}\n"
    )
    said = run("fit", "-", "--epsilon", "1", stdin=spec).stderr.splitlines()
    assert said[0].startswith("dpcompose: <stdin>: ε = 1, of ε = 1: losses of 1 mechanism scaled")
    assert said[1].split() == ["counts", "ε", "2", "→", "1"]
