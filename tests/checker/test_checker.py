"""The stand-alone checker: it confirms what the search proves, and refuses what is forged."""

from __future__ import annotations

import ast
import copy
import hashlib
import json
import math
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, cast

import jsonschema
import pytest
from asked import spec
from conftest import LIBRARY
from typer.testing import CliRunner
from volume import thinned

import dpcompose
from dpcompose import checker, curves
from dpcompose.cli import app

ROOT = Path(__file__).parents[2]
FILE = ROOT / "dpcompose/checker.py"
CORPUS = ROOT / "tests/corpus/random.yaml"
#: Training, of which each number at a δ takes seconds: `core/kernel/test_recheck` checks them.
TRAINED = {"deepmind-cifar10", "deepmind-cifar100", "dp-sgd", "vip-imagenet", "vip-laion"}
KEPT = [
    *(path for name, path in LIBRARY.items() if name not in TRAINED),
    *(ROOT / "tests/golden/handmade").rglob("*.yaml"),
]
#: So many random specs are a part: the quick tests forge certificates of the first.
PART = 20
PARTS = thinned(range(3))

Line = dict[str, Any]


def certificate_of(text: str | bytes) -> list[Line]:
    """The lines of the certificate of a spec; none where it has no bound."""
    report = dpcompose.analyze(text, "spec.yaml", certificate=True, extent="bound")
    return [json.loads(line) for line in report.certificate]


def verdict(lines: list[Line]) -> str:
    """What the checker says: `yes`, or why not."""
    try:
        found = checker.check([json.dumps(line) for line in lines])
    except checker.Rejected as refused:
        return str(refused)
    return "yes" if not found.unchecked else f"partly: {found.unchecked}"


@cache
def random_specs() -> list[str]:
    return CORPUS.read_text(encoding="utf-8").split("---\n")


@cache
def random_certificates(part: int = 0) -> list[list[Line]]:
    """The certificates of a part of the random specs, those that have a bound."""
    found = map(certificate_of, random_specs()[part * PART : (part + 1) * PART])
    return [lines for lines in found if lines]


def claims(lines: list[Line]) -> Iterator[tuple[int, Line]]:
    for at, line in enumerate(lines):
        if line["line"] == "claim":
            yield at, line


# --- what holds ----------------------------------------------------------------------------------


def test_it_imports_nothing_but_the_standard_library() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"))
    modules = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else
                     [each.name for each in node.names])
    }  # fmt: skip
    assert modules <= {*sys.stdlib_module_names, "yaml"}


def test_it_runs_by_itself(tmp_path: Path) -> None:
    """Copied out of the package, where nothing of dpcompose can be imported."""
    alone, file = tmp_path / "checker.py", tmp_path / "proof.jsonl"
    alone.write_bytes(FILE.read_bytes())
    spec = LIBRARY["medical-practices"]
    result = CliRunner().invoke(app, ["analyze", str(spec), "--certificate", str(file)])
    assert result.exit_code == 0
    run = subprocess.run(
        [sys.executable, "-I", str(alone), str(file)],
        capture_output=True, check=False, encoding="utf-8", cwd=tmp_path,
    )  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "yes: 2 of 2 claims follow\n")
    file.write_text(file.read_text().replace('"6/5"', '"5/5"'))
    run = subprocess.run(
        [sys.executable, "-I", str(alone), str(file)],
        capture_output=True, check=False, encoding="utf-8", cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 1
    assert run.stdout == ("no: line 7 (claim 1): the change loses more than is claimed: 1.2\n")


@pytest.mark.slow
def test_kept_and_random_specs_are_confirmed() -> None:
    """At most one claim in twenty is of a kind that it has no rule for.

    Of the specs that are kept every third: `core/kernel/test_recheck` checks each of them.
    """
    kept = (certificate_of(path.read_bytes()) for path in KEPT[::3])
    found = [
        checker.check([json.dumps(line) for line in lines])
        for lines in [*kept, *random_certificates(), *random_certificates(1)]
        if lines
    ]
    checked = sum(each.checked for each in found)
    left = sum(len(places) for each in found for places in each.unchecked.values())
    assert checked > 300 and left <= checked / 20


#: Mechanisms, and a parameter of their noise that the checker must read, made weaker.
_SELECTIONS = [
    ("noisy-max, epsilon: 1/2", "range_epsilon", "3/5"),
    ("permute-and-flip, epsilon: 1/2", "range_epsilon", "3/5"),
    ("top-k, k: 3, noise: gumbel, epsilon: 1/2", "k", 4),
    ("top-k, k: 3, epsilon: 1/2, peeling: true", "range_epsilon", "3/5"),
    ("sparse-vector, threshold_epsilon: 1, answer_epsilon: 1, positives: 2", "answer_epsilon", "2"),
    ("matrix, sigma: 2, column_norm: 3/2", "column_norm", "2"),
    ("matrix, sigma: 2, column_norm: 1, participations: 3", "participations", 4),
    (
        "matrix, sigma: 2, column_norm: 1, participations: 3, min_separation: 4, bands: 4",
        "min_separation",
        3,
    ),
    (
        "matrix, sigma: 2, column_norm: 1, participations: 3, min_separation: 4, bands: 4",
        "bands",
        None,
    ),
]


@pytest.mark.parametrize(("mechanism", "key", "weaker"), _SELECTIONS)
@pytest.mark.parametrize("protect", ["unbounded", "{relation: unbounded, distance: 2}"])
def test_selections_and_matrices_give_what_they_say(
    mechanism: str, key: str, weaker: str | int | None, protect: str
) -> None:
    lines = certificate_of(spec(f"mechanism: {mechanism}", protect=protect))
    assert verdict(lines) == "yes"
    forged = json.dumps(lines)
    (kind,) = re.findall(r'"noise": (\{[^}]*\})', forged)
    noise = {**json.loads(kind), key: weaker}
    assert verdict(json.loads(forged.replace(kind, json.dumps(noise)))) != "yes"


def test_each_line_is_what_its_schema_says() -> None:
    schema = json.loads(CliRunner().invoke(app, ["schema", "certificate"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for lines in random_certificates():
        for line in lines:
            validator.validate(line)
    claim = next(line for _, line in claims(random_certificates()[0]))
    for key in ("line", "loss", "premises"):
        assert not validator.is_valid({k: v for k, v in claim.items() if k != key})
    assert not validator.is_valid({**claim, "loss": 1.5})


# --- numbers at a chosen δ -----------------------------------------------------------------------


def at_delta(*mechanisms: str, protect: str = "unbounded") -> str:
    return spec(*mechanisms, protect=protect, more="report: {delta: [1e-6, 1e-9]}")


#: Releases with their ε at 10^-6, from the contract (section 6) and from closed forms.
POINTS = {
    "a hundred stated": (at_delta("notion: pure, epsilon: 0.1, count: 100"), 4.774568),
    "with a δ": (at_delta("notion: approx, epsilon: 0.1, delta: 1e-9, count: 100"), None),
    "unlike": (at_delta("notion: pure, epsilon: 0.1", "notion: pure, epsilon: 0.7"), None),
    "Gaussian": (at_delta("mechanism: gaussian, sigma: 1, sensitivity: 1"), 4.887),
    "two Gaussians": (at_delta("notion: gdp, mu: 0.6", "notion: gdp, mu: 0.8"), 4.887),
    "zCDP": (at_delta("notion: zcdp, rho: 0.5"), None),
    "discrete": (at_delta("mechanism: discrete-gaussian, sigma: 3, sensitivity: 1"), None),
    # Two coordinates moved by one: √2 times as far, about as Gaussian noise.
    "discrete in L2": (
        at_delta("mechanism: discrete-gaussian, sigma: 10, sensitivity: {l2_squared: 2}"),
        0.5752,
    ),
    "discrete in two norms": (
        at_delta("mechanism: discrete-gaussian, sigma: 3, sensitivity: {l1: 3, l2_squared: 3}"),
        None,
    ),
}


@pytest.mark.parametrize("name", POINTS)
def test_numbers_at_a_delta_are_confirmed(name: str) -> None:
    text, known = POINTS[name]
    report = dpcompose.analyze(text, "spec.yaml", recheck=True, certificate=True)
    assert report.rechecked is not None and report.not_rechecked == ()
    known_at = [at.given for at in report.at_delta if at.value is not None]
    assert [delta for delta, _ in report.rechecked.points] == known_at and known_at
    assert max(within for _, within in report.rechecked.points) <= Fraction(1, 20_000)
    value = report.at_delta[0].value
    assert value is not None and (known is None or abs(float(value) - known) < 1e-3)
    lines = [json.loads(line) for line in report.certificate]
    for line in lines:
        if line["line"] == "point":
            changed = copy.deepcopy(lines)
            forged = next(each for each in changed if each == line)
            forged["epsilon"] = str(Fraction(line["epsilon"]) * Fraction(9_999, 10_000))
            assert "δ may be" in verdict(changed)


def test_what_is_no_point_is_refused() -> None:
    lines = certificate_of(POINTS["zCDP"][0])
    point = next(line for line in lines if line["line"] == "point")
    for key, value, says in (
        ("order", "1", "an order is above 1"), ("proof", 7, "malformed"),
        ("delta", "1e-6", "is not a number"), ("order", "3/2", "δ may be"),
    ):  # fmt: skip
        changed = [{**line, key: value} if line == point else line for line in lines]
        assert says in verdict(changed)


def test_randomized_responses_are_composed_exactly() -> None:
    """Against sums over all outcomes, in doubles."""
    for counts in ({0.5: 3}, {0.25: 5, 1.0: 2}, {0.1: 30}, {2.0: 1, 0.5: 4}):
        outcomes = {0.0: 1.0}
        for epsilon, count in counts.items():
            for _ in range(count):
                up, found = math.exp(epsilon) / (1 + math.exp(epsilon)), dict[float, float]()
                for loss, mass in outcomes.items():
                    for more, chance in ((epsilon, up), (-epsilon, 1 - up)):
                        at = round(loss + more, 9)
                        found[at] = found.get(at, 0) + mass * chance
                outcomes = found
        losses = tuple((("Response", Fraction(str(e))), n) for e, n in counts.items())
        for epsilon in (0.0, 0.3, 1.1):
            truth = sum(m * -math.expm1(epsilon - x) for x, m in outcomes.items() if x > epsilon)
            assert delta_of(losses, epsilon) == pytest.approx(truth, rel=1e-9)


def delta_of(losses: checker.Multiset, epsilon: float, added: bool = False) -> float:
    """Returns δ at ε on the finest grid of the checker."""
    *_, step = checker._grids(losses)[1]
    law = checker._sum_of(losses, step, added)
    return float(checker._delta_of_law(law, step, Fraction(str(epsilon))))


def divergence(first: dict[int, float], second: dict[int, float], epsilon: float) -> float:
    """Returns δ at ε of two distributions of whole numbers."""
    return sum(max(0, p - math.exp(epsilon) * second.get(n, 0)) for n, p in first.items())


def noise(weight: Callable[[int], float], shift: int = 0) -> dict[int, float]:
    """Returns noise on whole numbers with these weights, moved."""
    total = sum(map(weight, range(-400, 401)))
    return {n: weight(n - shift) / total for n in range(-400, 401)}


@pytest.mark.parametrize(
    ("item", "weight"),
    [
        (("Geometric", Fraction(3), Fraction(2)), lambda n: math.exp(-abs(n) / 3)),
        (("Geometric", Fraction(2), Fraction(7)), lambda n: math.exp(-abs(n) / 2)),
    ],
)
def test_noise_on_whole_numbers_by_enumeration(
    item: checker.Item, weight: Callable[[int], float]
) -> None:
    plain, moved = noise(weight), noise(weight, int(item[2]))
    rate = Fraction(1, 5)
    mixed = {n: 0.8 * plain[n] + 0.2 * moved[n] for n in plain}
    removed = ("Poisson", rate, Fraction(0), ((item, 1),))
    for epsilon in (-0.7, -0.1, 0.0, 0.2, 0.55, 1.3):
        at = Fraction(str(epsilon))
        for each, order, pair in (
            (item, False, (moved, plain)), (item, True, (plain, moved)),
            (removed, False, (mixed, plain)), (removed, True, (plain, mixed)),
        ):  # fmt: skip
            truth = divergence(*pair, epsilon)
            found = float(checker.curve_of(each, order).delta(at))
            assert truth - 1e-12 <= found <= truth + 1e-9


@pytest.mark.parametrize(("square", "shift"), [(0.25, 1), (1.0, 3), (9.0, 4), (100.0, 1)])
def test_discrete_gaussian_noise_by_enumeration(square: float, shift: int) -> None:
    """One coordinate, and two of them, on the grid that holds the losses."""
    item: checker.Item = ("DiscreteGaussian", Fraction(str(square)), Fraction(shift))

    def weight(n: int) -> float:
        return math.exp(-n * n / (2 * square))

    plain, moved = noise(weight), noise(weight, shift)
    two = dict[int, float]()
    for n, p in plain.items():
        for m, q in plain.items():
            if p * q > 1e-30:
                two[n + m] = two.get(n + m, 0) + p * q
    for epsilon in (-0.7, -0.1, 0.0, 0.2, 0.55, 1.3, 4.0):
        truth = divergence(plain, moved, epsilon)
        for order in (False, True):
            found = float(checker.curve_of(item, order).delta(Fraction(str(epsilon))))
            assert truth - 1e-12 <= found <= truth + 1e-9
        losses = {n: (shift * shift - shift * n) / square for n in two}
        truth = sum(p * max(0, -math.expm1(epsilon - losses[n])) for n, p in two.items())
        if epsilon >= 0:
            assert truth - 1e-12 <= delta_of(((item, 2),), epsilon) <= truth + 1e-9


@pytest.mark.parametrize(
    ("item", "epsilon", "truth"),
    [
        # 1 - e^((ε-a)/2), and Φ(μ/2-ε/μ) - e^ε·Φ(-μ/2-ε/μ) (Balle and Wang 2018).
        (("Laplace", Fraction(1)), 0.25, 0.3127107),
        (("Gaussian", Fraction(1)), 1.0, 0.1269367),
        (("Gaussian", Fraction(1, 4)), 0.5, 0.0524403),
    ],
)
def test_curves_of_noise_by_their_formulas(
    item: checker.Item, epsilon: float, truth: float
) -> None:
    assert float(checker.curve_of(item, False).delta(Fraction(str(epsilon)))) == pytest.approx(
        truth, abs=1e-7
    )


def test_compositions_of_noise_at_a_delta() -> None:
    """100 Laplace mechanisms of ε = 0.1 at 1e-6: 4.692667 (the engine, and other accountants)."""
    laplace: checker.Multiset = ((("Laplace", Fraction(1, 10)), 100),)
    million = Fraction(1, 10**6)
    assert checker.tolerance_of(laplace, Fraction("4.692668"), million) == Fraction(1, 20_000)


@pytest.mark.slow
def test_compositions_of_noise_on_the_finest_grid() -> None:
    """What is below the truth is refused, and a sample is near it."""
    laplace: checker.Multiset = ((("Laplace", Fraction(1, 10)), 100),)
    million = Fraction(1, 10**6)
    with pytest.raises(checker.Rejected, match="δ may be"):
        checker.tolerance_of(laplace, Fraction("4.6"), million)
    sampled: checker.Multiset = (
        (("Poisson", Fraction(1, 100), Fraction(0), ((("Gaussian", Fraction(1)), 1),)), 10),
    )
    epsilon = curves.gaussian(sigma=1).sample(poisson="1/100").repeat(10).epsilon(delta=1e-6)
    assert epsilon is not None
    assert checker.tolerance_of(sampled, epsilon.upper, million) <= Fraction(1, 100)


# --- the spec ------------------------------------------------------------------------------------


SPEC = """\
dpcompose: 1
protect: bounded
datasets:
  people: {unit: person}
  capped: {from: people, map: {kind: cap, rows: 3, keep: first}}
  part: {from: people, partition: {by: value, blocks: [x, y]}}
mechanisms:
  - {name: a, reads: part.x, notion: pure, epsilon: 0.5, relation: unbounded}
  - {name: b, reads: part.y, notion: approx, epsilon: 1, delta: 1e-6, relation: unbounded, count: 2}
  - {name: c, reads: capped, notion: pure, epsilon: 1/4, relation: unbounded}
"""


def compared(text: str, lines: list[Line]) -> str:
    try:
        found = checker.compare([json.dumps(line) for line in lines], text.encode())
    except checker.Rejected as why:
        return str(why)
    return f"{found.compared} fields" if not found.left else f"not {sorted(found.left)}"


def test_a_certificate_is_compared_with_its_spec() -> None:
    lines = certificate_of(SPEC)
    assert compared(SPEC, lines).endswith(" fields")
    assert "another text" in compared(SPEC + "\n", lines)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("epsilon: 0.5", "epsilon: 0.6", "a.epsilon is 3/5 in the spec, 1/2 here"),
        ("count: 2", "count: 3", "b.count is 3 in the spec, 2 here"),
        ("rows: 3", "rows: 4", "capped.map.rows is 4 in the spec, 3 here"),
        ("kind: cap", "kind: limit", "capped.map.kind is limit in the spec, cap here"),
        ("by: value", "by: position", "part.by is position in the spec, value here"),
        ("protect: bounded", "protect: unbounded", "protect.relation is unbounded in the spec"),
        ("unit: person", "unit: user", "people.unit is user in the spec, person here"),
        ("name: a", "name: d", "other mechanisms read `part.x` in the spec"),
        ("part: {", "piece: {", "`people` is split in other ways in the spec"),
        (
            "people: {unit: person}",
            "people: {from: x}",
            "the spec says otherwise whether `people` is a root",
        ),
    ],
)
def test_another_spec_is_noticed(old: str, new: str, says: str) -> None:
    lines = certificate_of(SPEC)
    text = SPEC.replace(old, new, 1)
    lines[0]["spec"] = hashlib.sha256(text.encode()).hexdigest()
    assert says in compared(text, lines)


def test_a_histogram_of_replaced_rows_is_declined_by_name() -> None:
    """Stated for rows that come or go, it is known for a row replaced: no other relation than the
    spec's, and no noise that the checker knows."""
    text = """dpcompose: 1
protect: bounded
datasets: {rows: {}}
mechanisms:
  - {name: a, reads: rows, mechanism: noisy-histogram, relation: unbounded, scale: 1, threshold: 15,
     max_keys: 1, max_per_key: 1}
"""
    assert compared(text, certificate_of(text)) == "not ['a']"


def test_the_command_compares(tmp_path: Path) -> None:
    spec, file = tmp_path / "spec.yaml", tmp_path / "proof.jsonl"
    spec.write_text(SPEC, encoding="utf-8")
    file.write_text("".join(f"{json.dumps(line)}\n" for line in certificate_of(SPEC)))
    command = [sys.executable, "-m", "dpcompose.checker", str(file), "--spec", str(spec)]
    run = subprocess.run(command, capture_output=True, check=False, encoding="utf-8")
    assert run.returncode == 0
    assert "the spec says the same in" in run.stdout
    assert checker.main([str(file), "--spec", str(tmp_path / "none")]) == 2
    assert checker.main([]) == 2 and checker.main([str(file), "--what", str(spec)]) == 2
    spec.write_text("- no\n", encoding="utf-8")
    assert checker.main([str(file), "--spec", str(spec)]) == 1


# --- what is forged ------------------------------------------------------------------------------


def smaller(value: Any) -> Any:
    """A loss of a certificate, a little smaller."""
    if isinstance(value, list):
        return [[smaller(pair[0]), pair[1]] for pair in value]
    return str(Fraction(value) * Fraction(999_999, 1_000_000))


def has_loss(line: Line) -> bool:
    """Whether a claim is about a change that loses something, in one way."""
    loss = line["loss"]
    if isinstance(loss, list):
        return len(loss) == 1 and Fraction(loss[0][0]) > 0 and bool(line["change"])
    return loss is not None and Fraction(loss) > 0 and bool(line["change"])


def is_checked(lines: list[Line]) -> set[int]:
    """The places of the claims for which the checker has all rules."""
    found = checker.check([json.dumps(line) for line in lines])
    left = {n - 1 for places in found.unchecked.values() for n in places}
    return {at for at, _ in claims(lines)} - left


@pytest.mark.parametrize("part", PARTS)
def test_a_loss_a_little_smaller_is_refused_where_it_is_claimed(part: int) -> None:
    """Each claim in turn, or the one that rests on it."""
    forged = 0
    for lines in random_certificates(part):
        rests = {p for _, line in claims(lines) for p in line["premises"]}
        for at in is_checked(lines):
            line = lines[at]
            if not has_loss(line):
                continue
            changed = copy.deepcopy(lines)
            changed[at]["loss"] = smaller(line["loss"])
            said = verdict(changed)
            assert said != "yes", line
            if said.startswith("partly"):
                continue  # irrational on the way, so that less would do
            assert f"(claim {line['id']})" in said or line["id"] in rests, (line, said)
            forged += 1
    assert forged > 60


#: Random specs with rules that the first ones do not need.
FURTHER = (110, 125, 251, 255)
#: Every rule for maps and partitions that bounds something.
RULES = sorted(
    name.split("_", 1)[1]
    for name in vars(checker.ClaimRules)
    if name.startswith(("map_", "split_")) and name != "map_unread"
)


def rules_of(line: Line) -> set[str]:
    """The rules of a claim, with those that they combine, as the checker names its methods."""
    found: set[str] = set()
    rest = [*line["rules"]]
    while rest:
        rule = rest.pop()
        if isinstance(rule, str):
            found.add(re.sub(r"\W", "_", rule))
        else:
            rest += rule
    return found


#: The ρ of pure DP that a sample amplifies.
MIXED = spec(
    "notion: pure, epsilon: 1",
    "reads: rows, notion: zcdp, rho: 1",
    datasets="batch: {from: rows, map: {kind: sample, poisson: 1/10}}",
)


#: Values under one joint bound.
JOINT = spec(
    "reads: a, notion: pure, epsilon: 1, relation: l1",
    "reads: b, notion: pure, epsilon: 2, relation: l1",
    root="{joint: {datasets: [a, b], l1: 3}}",
    datasets="""a: {from: rows, map: {kind: value, metric: l1}}
    b: {from: rows, map: {kind: value, metric: l1, sensitivity: 2}}""",
)


def test_values_under_a_joint_bound_are_not_checked() -> None:
    """One value is charged for all, which proves nothing alone: the checker has no rule for it."""
    lines = certificate_of(JOINT)
    at = next(at for at, line in claims(lines) if line["rules"] == ["joint", "joint"])
    assert verdict(lines).startswith("partly")
    for forged in (["joint", "listed"], ["listed", "joint"], ["listed", "listed"]):
        lines[at]["rules"] = forged
        assert verdict(lines).startswith("partly")


@cache
def further_certificates() -> list[list[Line]]:
    """Those of specs with rules that the first random specs do not need."""
    further = (random_specs()[n] for n in FURTHER)
    return [certificate_of(text) for text in (MIXED, JOINT, *further)]


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_says_no(rule: str) -> None:
    """To a smaller loss in a claim that uses it, in some certificate."""
    for lines in (*random_certificates(), *further_certificates()):
        for at, line in claims(lines):
            if rule in rules_of(line) and isinstance(line["loss"], str) and line["loss"] != "0":
                changed = copy.deepcopy(lines)
                changed[at]["loss"] = str(Fraction(line["loss"]) * Fraction(999, 1000))
                if f"(claim {line['id']}): the change loses more" in verdict(changed):
                    return
    pytest.fail(f"no certificate uses {rule}")


@pytest.mark.slow
def test_a_charge_a_little_smaller_is_refused() -> None:
    forged = 0
    for lines in (*random_certificates(), *random_certificates(1)):
        for at in is_checked(lines):
            line = lines[at]
            for place, charge in enumerate(line["charges"] if has_loss(line) else ()):
                if not isinstance(charge, str) or Fraction(charge) == 0:
                    continue
                changed = copy.deepcopy(lines)
                changed[at]["charges"][place] = smaller(charge)
                said = verdict(changed)
                if "partly" in said:
                    continue  # of statements that take turns more may be known
                assert "loses more than is claimed" in said, (line, said)
                forged += 1
    assert forged > 100


def test_a_charge_is_refused_beside_one_without_a_rule() -> None:
    """Of a pure ε over three rows more may be known in zCDP: the charge of the other is checked."""
    lines = certificate_of(
        spec(
            "reads: rows, notion: pure, epsilon: 1",
            "reads: rows, notion: zcdp, rho: 1",
            protect="{relation: unbounded, distance: 3}",
        )
    )
    assert "of pure statements over several steps" in verdict(lines)
    at, line = next((at, line) for at, line in claims(lines) if "9" in line["charges"])
    lines[at]["charges"] = ["8" if each == "9" else each for each in line["charges"]]
    assert "loses more than is claimed: 9" in verdict(lines)


def test_a_smaller_bound_is_refused() -> None:
    for lines in random_certificates():
        changed = copy.deepcopy(lines)
        for line in changed:
            if line["line"] == "bound" and has_loss({**line, "change": [1]}):
                line["loss"] = smaller(line["loss"])
                assert "the protected change loses more" in verdict(changed)
                break


def about(lines: list[Line], number: int) -> tuple[int, checker.Change]:
    """The dataset and the change that a claim is about, in the one form that the checker has."""
    line = next(line for _, line in claims(lines) if line["id"] == number)
    return line["dataset"], checker.parse_change(line["change"])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("how", ["dropped", "added", "twice", "turned", "itself", "later"])
def test_premises_are_those_that_are_needed(how: str, part: int) -> None:
    rng, forged = random.Random(how), 0
    for lines in random_certificates(part):
        places = [at for at in is_checked(lines) if lines[at]["premises"] and has_loss(lines[at])]
        if not places:
            continue
        changed = copy.deepcopy(lines)
        line = changed[rng.choice(sorted(places))]
        premises: list[int] = line["premises"]
        match how:
            case "dropped":
                gone = premises.pop(rng.randrange(len(premises)))
                if about(lines, gone) in [about(lines, each) for each in premises]:
                    continue  # the same change, written in two ways
            case "added":
                others = sorted({*range(line["id"])} - {*premises})
                if not others:
                    continue
                line["premises"] = sorted([*premises, rng.choice(others)])
            case "twice":
                premises.append(premises[-1])
            case "turned":
                if len(premises) == 1:
                    continue
                premises.reverse()
            case "itself":
                premises.append(line["id"])
            case "later":
                premises.append(line["id"] + 1)
        said = verdict(changed)
        assert said != "yes" and f"(claim {line['id']})" in said, (line, said)
        forged += 1
    assert forged > 3


@pytest.mark.parametrize("part", PARTS)
def test_what_changes_is_followed_everywhere(part: int) -> None:
    """A rule, a mechanism or a block that is left out is missed."""
    for key, says in (("rules", "one rule for each thing"), ("charges", "is charged")):
        forged = 0
        for lines in random_certificates(part):
            for at in is_checked(lines):
                if lines[at][key] and has_loss(lines[at]):
                    changed = copy.deepcopy(lines)
                    changed[at][key].pop()
                    assert says in verdict(changed)
                    forged += 1
                    break
        assert forged > 6


CASES: dict[str, tuple[str, str]] = {
    "no header": ("del lines[0]", "no line 'dataset' is due here"),
    "two headers": ("lines.insert(1, lines[0])", "no line 'header' is due here"),
    "another version": ("lines[0]['version'] = 2", "version is 2"),
    "an unknown line": ("lines.insert(2, {'line': 'theorem'})", "no line 'theorem'"),
    "no bound": ("lines.pop()", "ends without a bound"),
    "no root": ("lines[-1]['roots'] = []", "the protected change in each root"),
    "another root": ("lines[-1]['roots'] = [0]", "the protected change in each root"),
    "a float": ("claim['loss'] = 1.2", "is not a number of the form"),
    "NaN": ("claim['loss'] = float('nan')", "is not a number of the form"),
    "infinity": ("claim['loss'] = float('inf')", "is not a number of the form"),
    "below 0": ("claim['loss'] = '-1'", "is not a number of the form"),
    "a denominator of 0": ("claim['loss'] = '1/0'", "is not a number of the form"),
    "a huge number": ("claim['loss'] = '9' * 30_000", "is not a number of the form"),
    "digits of another script": ("claim['loss'] = '\u0661'", "is not a number of the form"),
    "another loss": ("claim['loss'] = {}", "is not a number of the form"),
    "a change that is none": ("claim['change'] = 5", "malformed"),
    "no unit": ("claim['change'][0][0]['kind'] = 'nobody'", "no such unit"),
    "half a unit": ("claim['change'][0][1] = 0", "whole number of at least 1"),
    "an unknown dataset": ("claim['dataset'] = 99", "malformed"),
    "a dataset before the first": ("claim['dataset'] = -1", "whole number of at least 0"),
    "true as a number": ("claim['dataset'] = True", "whole number of at least 0"),
    "a dataset twice": ("lines.insert(2, lines[1])", "numbered in order"),
    "datasets after claims": ("lines.insert(-1, lines[1])", "numbered in order"),
    "a block less": ("lines = [l for l in lines if l.get('class') != 0]", "is missing"),
    "a claim twice": ("lines.insert(-1, claim)", "numbered in order"),
    "a change within itself": (
        "deep = claim['change']\nfor _ in range(400): deep = [[{'kind': 'single'}, 1, deep]]\n"
        "claim['change'] = deep", "no such unit",
    ),
    "a rule that does not exist": (
        "next(l for l in lines if l.get('rules'))['rules'] = ['none']", "there is no rule 'none'",
    ),
    "another notion": (
        "next(l for l in lines if l['line'] == 'proof')['notion'] = 'best'", "no notion 'best'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_malformed_certificates_are_refused(case: str) -> None:
    code, says = CASES[case]
    lines = certificate_of(LIBRARY["medical-practices"].read_bytes())
    given = {"lines": lines, "claim": next(line for _, line in claims(lines))}
    exec(code, given)
    assert says in verdict(cast("list[dict[str, Any]]", given["lines"]))


def test_text_that_is_no_certificate_is_refused() -> None:
    for text in ("", "{", "[]", "1", '"x"', "null", "[" * 100_000, '{"line": ["header"]}', "\x00"):
        with pytest.raises(checker.Rejected):
            checker.check(text.splitlines())


def test_what_is_too_much_is_refused_at_once() -> None:
    lines = certificate_of(LIBRARY["medical-practices"].read_bytes())
    text = [json.dumps(line) for line in lines]
    with pytest.raises(checker.Rejected, match="more than 200000 lines"):
        checker.check([*text, *([text[-2]] * 1_000_000)])
    _, claim = next(claims(lines))
    claim["change"][0][1] = 10**18
    assert "nothing is claimed" in verdict(lines) or "loses more" in verdict(lines)


ATTACKS = [
    json.loads(line)
    for line in Path(__file__).with_name("attacks.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(
            attack,
            id=attack["name"],
            marks=[pytest.mark.slow] if attack["name"] == "fourth-k-listed" else [],
        )
        for attack in ATTACKS
    ],
)
def test_certificates_of_an_attacker_are_not_confirmed(attack: dict[str, Any]) -> None:
    """Bounds below the truth that a reader of the checker wrote, each against one of its rules."""
    said = verdict(attack["lines"])
    if said != "yes":
        return
    lines = [json.dumps(line) for line in attack["lines"]]
    with pytest.raises(checker.Rejected, match="spec"):
        checker.compare(lines, attack["spec"].encode())


@pytest.mark.parametrize("name", ["a`\x1b[2K\ryes: 9 of 9 claims follow\nyes", "x\ud800"])
def test_a_name_cannot_print_a_verdict(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: list[Any] = json.loads(json.dumps(ATTACKS[0]["lines"]))
    lines[1]["name"] = name
    lines[1]["mechanisms"] = [{"name": name, "count": 1, "statements": []}]
    file = tmp_path / "c.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    assert checker.main([str(file)]) == 1
    told = capsys.readouterr().out
    assert told.count("\n") == 1 and told.startswith("no: ") and told.isascii()
    assert "\x1b" not in told


#: Mechanisms as they may be written.
WRITTEN = [
    "laplace, scale: 2, sensitivity: {l1: 1}",
    "gaussian, sigma: 2, sensitivity: {l2: 1}",
    "gaussian, noise_multiplier: 2, sensitivity: 3",
    "gaussian, sigma: 2, sensitivity: {unbounded: {l2_squared: 2}}",
    "laplace, epsilon: 1, sensitivity: 3",
    "laplace, scale: sqrt(2), sensitivity: 1",
    "geometric, alpha: 1/2, sensitivity: 1",
    "geometric, epsilon: 1, sensitivity: 2",
    "exponential, epsilon: 1, sensitivity: 1",
    "noisy-max, scale: 2, sensitivity: 1",
    "top-k, k: 3, epsilon: 1",
    "discrete-gaussian, sigma: 3, sensitivity: {l2: 1, dimension: 4}",
    "skellam, variance: 30, sensitivity: 1",
    "discrete-gaussian, sigma: 3, sensitivity: 2",
    "exponential, epsilon: 1, sensitivity: 2",
    "permute-and-flip, epsilon: 1/2, monotone: true",
    "randomized-response, epsilon: 1, k: 4",
    "sparse-vector, threshold_epsilon: 1, answer_epsilon: 1, positives: 2",
    "matrix, sigma: 2, column_norm: 1, participations: 3, min_separation: 4, bands: 4",
]


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", WRITTEN)
def test_no_way_to_write_a_mechanism_is_refused(mechanism: str) -> None:
    """The comparison with a spec must not fail on what says the same."""
    for protect in ("unbounded", "bounded", "user", "zero-out", "{relation: bounded, distance: 2}"):
        for made in ("filter", "{kind: sample, poisson: 1/3}"):
            below = f"s: {{from: rows, map: {made}}}"
            said = f"mechanism: {mechanism}, count: 2"
            text = spec(said, protect=protect, root="{unit: u}", datasets=below)
            dpcompose.analyze(text, recheck=True)


#: Specs whose certificates the checker took for forged once, or was slow with.
HONEST = {
    "discrete noise": at_delta("mechanism: discrete-gaussian, sigma: 3, sensitivity: 1"),
    "a sample of a sample": spec(
        "notion: pure, epsilon: 1",
        datasets="""a: {from: rows, map: {kind: sample, poisson: 1/10}}
        b: {from: a, map: {kind: sample, poisson: 1/10}}""",
        more="report: {delta: 1e-6}",
    ),
    "blocks within blocks": "dpcompose: 1\nprotect: unbounded\ndatasets:\n  rows: {}\n"
    + "".join(
        f"  p{n}: {{from: {'rows' if not n else f'p{n - 1}.*'}, "
        f"partition: {{by: value, blocks: [{', '.join('abcdefghij')}]}}}}\n"
        for n in range(7)
    )
    + "mechanisms:\n"
    + "".join(
        f"  - {{name: m{n}, reads: p{n}.*, notion: pure, "
        f"epsilon: {{{', '.join(f'{x}: 1' for x in 'abcdefghij')}}}}}\n"
        for n in range(7)
    ),
    "unlike blocks with two pairs each": "dpcompose: 1\nprotect: bounded\ndatasets:\n  rows: {}\n"
    "  p: {from: rows, partition: {by: value, blocks: [a, b, c, d]}}\nmechanisms:\n"
    + "".join(
        f"  - {{name: m{n}, reads: p.{block}, guarantees: ["
        f"{{notion: approx, relation: unbounded, epsilon: 1.{n}, delta: 1.{n}e-6}}, "
        f"{{notion: approx, relation: unbounded, epsilon: 0.5{n}, delta: 1.{n}e-3}}, "
        "{notion: approx, relation: bounded, epsilon: 0.5, delta: 1e-9}]}\n"
        for n, block in enumerate("abcd")
    ),
    "losses of more than 200": at_delta(
        "mechanism: discrete-gaussian, sigma: 0.5, sensitivity: {l1: 8}"
    ),
    "a mapping by block, of what is made of them": spec(
        "notion: pure, epsilon: {a: 1, b: 2}",
        datasets="""p: {from: rows, partition: {by: value, blocks: [a, b]}}
        n: {from: p.*, map: filter}""",
    ),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name == "blocks within blocks" else name
        for name in HONEST
    ],
)
def test_honest_certificates_are_not_refused(name: str) -> None:
    dpcompose.analyze(HONEST[name], "spec.yaml", recheck=True, extent="bound")


def test_a_mapping_by_block_is_compared() -> None:
    text = HONEST["a mapping by block, of what is made of them"]
    lines = certificate_of(text)
    assert compared(text, lines).endswith(" fields")
    other = text.replace("b: 2", "b: 3")
    lines[0]["spec"] = hashlib.sha256(other.encode()).hexdigest()
    assert "m0.epsilon is 3 in the spec, 2 here" in compared(other, lines)


@pytest.mark.parametrize(
    ("mechanism", "key"),
    [
        ("randomized-response, k: 2, lie: 1/3", "odds"),
        ("noisy-max, scale: 2, sensitivity: ln(3)", "range_epsilon"),
        ("matrix, sigma: 2, column_norm: sqrt(2)", "column_norm"),
    ],
)
def test_a_number_of_noise_that_follows_from_others_is_compared(mechanism: str, key: str) -> None:
    text = at_delta(f"mechanism: {mechanism}", protect="bounded")
    lines = certificate_of(text)
    assert compared(text, lines).endswith(" fields")
    forged = json.dumps(lines)
    for old in {*re.findall(f'"{key}": "[^"]*"', forged)}:
        forged = forged.replace(old, f'"{key}": "1/1000"')
    assert f"m0.{key} is" in compared(text, json.loads(forged))


def test_numbers_of_any_size_in_a_spec_take_no_time() -> None:
    """They are no numbers of a spec."""
    lines = certificate_of(SPEC)
    for old, huge in (("count: 2", "count: 1e99999999"), ("epsilon: 0.5", "epsilon: 1e99999999")):
        text = SPEC.replace(old, huge)
        lines[0]["spec"] = hashlib.sha256(text.encode()).hexdigest()
        assert "the spec" in compared(text, lines)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".5", "1/2"), ("+7", "7"), ("1 / 2", "1/2"), ("(1)", "1"), ("1.5/0.5", "3"), ("5.", "5"),
        ("2*(c - 1)/-4", "-1"), ("1e-3", "1/1000"), ("--1", "1"), ("exp(0)", "1"),
        ("1+exp(1 - 1)*sqrt(0)+ln(1)", "1"),
        ("sqrt(9/4)", "3/2"), ("1_000", None), ("0x1", None), ("", None), ("1 2", None),
        ("(1", None),
        ("1)", None), ("1e2000", None), ("2**9", None), ("d", None), ("exp(2000)", None),
        ("(" * 60 + "1" + ")" * 60, None), ("1+" * 900 + "1", None), ("\u0661", None),
        ("1e999*" * 100 + "1", None), ("ln(0)", None), ("1/0", None), ("ln 2", None),
    ],
)  # fmt: skip
def test_expressions_of_a_spec_are_evaluated(text: str, value: str | None) -> None:
    constants = {"c": (Fraction(3), False)}
    try:
        found = str(checker.evaluate(text, constants))
    except (checker.Rejected, *checker.MALFORMED):
        found = None
    assert found == value


def test_functions_of_a_spec_are_evaluated_upwards() -> None:
    for text, known in (
        ("ln(3)", math.log(3)),
        ("ln(1/3)", -math.log(3)),
        ("exp(-2)", math.exp(-2)),
    ):
        assert float(checker.evaluate(text, {})) == pytest.approx(known, rel=1e-15)


def with_columns(*mechanisms: str, datasets: str = "", **other: str) -> str:
    return spec(*mechanisms, root="{columns: [a, b]}", datasets=datasets, **other)


_CHANGES = "{{notion: {}, relation: {{relation: bounded, changes: [{}]}}}}"
#: Specs of which all is compared: ways of writing that the comparison refused, or did not read.
COMPARED = {
    "a sample of all rows": with_columns(
        "notion: pure, epsilon: 1",
        datasets="s: {from: rows, map: {kind: sample, poisson: 1, draws: one}}\n",
    ),
    "a flag in capitals": with_columns(
        "mechanism: noisy-max, epsilon: 1, monotone: TRUE, relation: unbounded"
    ),
    "blocks in blocks": with_columns(
        "reads: e.a, notion: pure, epsilon: {a: 1, b: 200}",
        datasets="d: {from: rows, partition: {by: value, blocks: [a, b]}}\n"
        "e: {from: d.*, partition: {by: value, blocks: [a, b]}}",
    ),
    "nulls that nothing uses": with_columns(
        "notion: pure, epsilon: 1",
        more="relations: {hh: {within: zero-out, distance: 2}}\n",
    ),
    "plain relations": with_columns(
        "mechanism: laplace, scale: 1, sensitivity: {unbounded: 1, bounded: 2}",
        protect="{relation: bounded, keeps: [a]}",
    ),
    "columns in turn": with_columns(
        "guarantees: ["
        + ", ".join(_CHANGES.format(f"{{}}, {x}", y) for x, y in (("rho: 1", "a"), ("rho: 2", "b")))
        .replace("{}", "zcdp")
        + "]",
        protect="bounded",
    ),
    "a profile": with_columns("notion: profile, points: {1: 1/100, 2: 0}"),
    "Renyi": with_columns(
        "guarantees: [{notion: rdp, points: [{alpha: 2, epsilon: 3}]}, "
        "{notion: pure, epsilon: 4}]"
    ),
    "columns of a mechanism": with_columns(
        "uses: [b, a], notion: pure, epsilon: 1",
        "uses: [], notion: pure, epsilon: 2",
        protect="bounded",
    ),
    "several runs": with_columns(
        "count: 2, mechanism: select, runs: {fixed: 3}, of: {notion: pure, epsilon: 1}"
    ),
    "names as numbers": with_columns(
        'reads: "01", notion: pure, epsilon: 1, stated_on: "01"',
        datasets='"1": {from: rows, map: row}\n"01": {from: "1", map: row}',
    ),
    "a scale by block": with_columns(
        "reads: d.*, mechanism: laplace, scale: {x: 1, y: 2}, sensitivity: 1",
        datasets="d: {from: rows, partition: {by: value, blocks: [x, y]}}\n",
    ),
    **{
        f"groups in turn, {own}": with_columns(
            own,
            datasets="s: {from: rows, map: {kind: sample, poisson: 1/10, cycle: 5}}",
            more="report: {delta: 1e-6}",
        )
        for own in (
            "notion: pure, epsilon: 1, count: 11",
            "mechanism: matrix, sigma: 1, column_norm: 1, bands: 4",
            "mechanism: matrix, sigma: 1, column_norm: 1, bands: 4, participations: 3, count: 2",
        )
    },
    "expressions": with_columns(
        "notion: pure, epsilon: e/3 + .5*(ln(2) - 1/10)",
        more="constants: {c: 3, e: sqrt(2)*c}\n",
    ),
    **{
        f"{norm} of {noise}": with_columns(f"mechanism: {noise}, sensitivity: {norm}")
        for noise, norm in (
            ("laplace, scale: 2", "{l1: 3}"), ("laplace, scale: 2", "{l2: 1, dimension: 3}"),
            ("gaussian, sigma: 2", "{unbounded: {l2_squared: 2}, bounded: {l1: 5/3}}"),
            ("geometric, scale: 2", "{l2_squared: 7, dimension: 3}"),
            ("discrete-gaussian, sigma: 2", "{l2_squared: 3, dimension: 5}"),
            ("exponential, epsilon: 1", "{unbounded: 2, bounded: 3}"),
            ("gaussian, sigma: 2", "{one_hot: 3}"),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("name", COMPARED)
def test_all_that_is_written_is_compared(name: str) -> None:
    text = COMPARED[name]
    lines = certificate_of(text)
    assert lines and compared(text, lines).endswith(" fields")
    assert "yes" in verdict(lines) or "partly" in verdict(lines)


def test_a_smaller_sensitivity_is_noticed_in_every_norm() -> None:
    for name, text in COMPARED.items():
        forged = certificate_of(text)
        said = [x for line in forged for m in line.get("mechanisms", ()) for x in m["statements"]]
        for each in (each for each in said if "noise" in each):
            each["shift"] = str(Fraction(each["shift"]) * Fraction(999, 1000))
        if any("noise" in each for each in said):
            assert "in the spec" in compared(text, forged), name


def test_fewer_steps_of_a_vector_are_noticed() -> None:
    text = at_delta("mechanism: discrete-gaussian, sigma: 2, sensitivity: {l2_squared: 3}")
    lines = certificate_of(text)
    assert compared(text, lines).endswith(" fields")
    [said] = lines[1]["mechanisms"][0]["statements"]
    assert said["noise"]["most"] == "3"
    said["noise"]["most"] = "2"
    assert "m0 takes more steps in the spec" in compared(text, lines)


def test_noise_of_another_kind_is_noticed() -> None:
    text = at_delta("mechanism: laplace, scale: 2, sensitivity: 1")
    forged = json.dumps(certificate_of(text)).replace('"kind": "Laplace"', '"kind": "Geometric"')
    assert "m0 is laplace in the spec" in compared(text, json.loads(forged))


def test_what_is_implied_must_follow() -> None:
    for name, key in (("columns in turn", "value"), ("a profile", "value")):
        lines = certificate_of(COMPARED[name])
        said = [x for line in lines for m in line.get("mechanisms", ()) for x in m["statements"]]
        implied = next(each for each in said if each.get("implied"))
        implied[key] = str(Fraction(implied[key]) * Fraction(99, 100))
        assert "a statement implies loses more" in verdict(lines)


def test_sums_of_very_many_digits_take_no_time() -> None:
    statement = {"relation": {"kind": "unbounded"}, "up": 0, "notion": "pure"}
    values = [f"1/{'9' * 4000}{n:04}" for n in range(300)]
    lines = json.loads(json.dumps(ATTACKS[0]["lines"][:2]))
    lines[1]["mechanisms"] = [
        {"name": f"m{n}", "count": 1, "statements": [{**statement, "value": value}]}
        for n, value in enumerate(values)
    ]
    claim = {"id": 0, "dataset": 0, "change": [[{"kind": "single"}, 1]], "loss": "1"}
    lines += [
        {"line": "proof", "id": 0, "notion": "pure", "multiplied": False},
        {"line": "claim", **claim, "charges": values, "rules": [], "premises": []},
        {"line": "bound", "id": 0, "roots": [0], "loss": "1"},
    ]
    assert "very many digits" in verdict(lines)


def test_many_unlike_losses_take_seconds() -> None:
    unlike = tuple((("Laplace", Fraction(n + 20, 1_000)), 1) for n in range(60))
    million = Fraction(1, 10**6)
    assert checker.tolerance_of(unlike, Fraction(2), million) <= Fraction(1, 1_000)


def test_a_key_that_is_there_twice_is_refused() -> None:
    lines = [json.dumps(line) for line in ATTACKS[0]["lines"]]
    lines[0] = lines[0].replace('"version": 1', '"version": 2, "version": 1')
    with pytest.raises(checker.Rejected, match="a key is there twice"):
        checker.check(lines)


def test_numbers_of_any_size_are_printed() -> None:
    assert checker.digits(Fraction(10) ** 400 / 3) == "3.33333333e+399"
    assert checker.digits(Fraction(1, 10**400)) == "1e-400"


def test_a_certificate_says_nothing_that_its_spec_leaves_out() -> None:
    """Each key of a map, a partition, a root or a statement that is added or changed is refused."""
    text = """\
dpcompose: 1
protect: {relation: bounded, keeps: [a]}
datasets:
  rows: {columns: [a, b]}
  kept: {from: rows, map: {kind: filter}}
  part: {from: kept, partition: {by: value, blocks: 3}}
mechanisms:
  - {name: m, reads: part.*, notion: pure, epsilon: 1, relation: unbounded}
  - {name: n, reads: rows, notion: pure, epsilon: 1, relation: {relation: bounded, keeps: [a]}}
"""
    lines = certificate_of(text)
    assert checker.compare([json.dumps(each) for each in lines], text.encode()).compared > 8
    forged: list[tuple[int, Callable[[Line], object]]] = [
        (0, lambda line: line["protect"].pop("keeps")),
        (1, lambda line: line["root"].update(size=1)),
        (1, lambda line: line["root"].update(columns=["a"])),
        (1, lambda line: line["mechanisms"][0].update(name="other")),
        (1, lambda line: line["mechanisms"][0]["statements"][0]["relation"].pop("keeps")),
        (2, lambda line: line["map"].update(uses=["a"])),
        (2, lambda line: line["map"].update(drops=True)),
        (3, lambda line: line["by"].update(uses=["a"])),
        (3, lambda line: line.update(max_blocks_per_unit=1)),
        (3, lambda line: line.update(name="rows")),
        (4, lambda line: line["mechanisms"][0]["statements"][0]["relation"].update(kind="user")),
        (4, lambda line: line.update(name="kept.0")),
    ]
    for at, change in forged:
        other = copy.deepcopy(lines)
        change(other[at])
        with pytest.raises(checker.Rejected):
            checker.compare([json.dumps(each) for each in other], text.encode())


# --- a step by one statement, a step by another --------------------------------------------------

HALVES = """dpcompose: 1
protect: {relation: bounded, keeps: [v]}
datasets:
  rows: {columns: [k, v, w]}
  made: {from: rows, map: {kind: group, by: w}}
mechanisms:
  - name: m
    reads: made
    guarantees:
      - {stated_on: rows, relation: unbounded, notion: pure, epsilon: "0.3"}
      - {relation: bounded, notion: pure, epsilon: "0.2"}
"""
GROUP = "{kind: group, by: w}"


def test_the_ends_of_a_replaced_row_are_covered_apart() -> None:
    lines = certificate_of(HALVES)
    assert lines[-1]["loss"] == "1/2" and verdict(lines) == "yes"
    for less in ("499/1000", "2/5", "3/10"):
        forged = json.loads(json.dumps(lines).replace('"1/2"', f'"{less}"'))
        assert verdict(forged) != "yes"


@pytest.mark.parametrize(
    "made",
    [
        "{kind: flatten, max_rows: 2}",
        "{kind: limit, per: w, rows: 1, keep: random}",
        "{kind: stable, stability: 1}",
        "{kind: opaque}",
    ],
)
def test_ends_that_do_not_act_apart_are_covered_together(made: str) -> None:
    """By a flatten, an old and a new row make a replaced row: no part of that is between the two
    tables. What is drawn, or not known, may depend on both rows."""
    lines = certificate_of(HALVES.replace(GROUP, made))
    assert lines[-1]["loss"] == "3/5" and verdict(lines) == "yes"
    text = json.dumps(lines).replace('"3/5"', '"1/2"')
    assert verdict(json.loads(text)) != "yes"
    for other in ("[0, 0]", "[1, 1]"):
        assert verdict(json.loads(text.replace("[0, 1]", other))) != "yes"
    # Nor do they where another map is said to have made the table.
    if "random" in made:
        first = certificate_of(HALVES.replace(GROUP, made.replace("random", "first")))
        assert first[-1]["loss"] == "1/2" and verdict(first) == "yes"
        forged = json.dumps(first).replace('"first"', '"random"')
        assert verdict(json.loads(forged)) != "yes"


def test_there_is_a_table_between_only_where_rows_come_and_go() -> None:
    text = json.dumps(certificate_of(HALVES))
    forged = text.replace('"domain": "table"', '"domain": "fixed-size-table"')
    assert forged != text and verdict(json.loads(forged)) != "yes"
