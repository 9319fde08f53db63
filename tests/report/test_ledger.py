"""Parameters that are chosen along the way: filters, what they refuse, and what is told of them."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest
from command import run
from contracts import checked
from oracle.generate import random_spec
from volume import seeds

from dpcompose.core.notions.notion import Notion
from dpcompose.pipeline import analyze
from dpcompose.report import FilterRecord, Report

HEAD = "dpcompose: 1\nprotect: unbounded\nadaptivity: parameters\n"
ROWS = "datasets: {rows: {}}\n"
TARGET = "budget: {epsilon: 5.22, delta: 1e-6}\n"


def ledger(*mechanisms: str, more: str = TARGET, datasets: str = ROWS) -> Report:
    entries = "".join(f"  - {{{each}}}\n" for each in mechanisms)
    return analyze(f"{HEAD}{datasets}mechanisms:\n{entries}{more}", recheck=True)


def pure(epsilon: object, count: int = 1, name: str = "a", reads: str = "rows") -> str:
    return f"name: {name}, reads: {reads}, notion: pure, epsilon: {epsilon}, count: {count}"


def record(report: Report) -> FilterRecord:
    assert report.record is not None, report.reasons or report.findings
    return report.record


# --- figures -------------------------------------------------------------------------------------


def test_the_guarantee_is_the_budget() -> None:
    report = ledger(pure("0.1", 100))
    assert report.status == "ok" and report.bound is not None
    assert (report.bound.value, report.bound.delta) == (Fraction("5.22"), Fraction("1e-6"))
    assert report.theorem == "zcdp-filter" and report.verdict is not None and report.verdict.ok
    found = record(report)
    ((_, spent),) = found.spent or ()
    assert abs(float(spent) - 10 * math.tanh(0.05)) < 1e-12
    assert found.cost is not None
    _, counted, fixed = found.cost
    assert Fraction("5.219074") < counted < Fraction("5.219076")
    assert Fraction("4.774567") < fixed < Fraction("4.774569")
    assert report.rechecked is not None and report.rechecked.claims > 0


def test_deltas_that_add_up_to_one_or_more_pass_the_budget() -> None:
    two = [f"name: {name}, reads: rows, notion: approx, epsilon: 0.1, delta: 0.6" for name in "ab"]
    more = "filter: approx\nbudget: {epsilon: 5, delta: 1e-6}\npopulation: p\n"
    report = ledger(*two, more=more)
    (why,) = report.reasons
    assert "passes the budget" in why and "add up to 1.2 of 1e-6" in why
    assert report.verdict is not None and not report.verdict.ok and report.verdict.why is None
    assert record(ledger(two[0], more=more)).share > 1  # below 1 the sum itself is told


@pytest.mark.parametrize(
    ("name", "spent"), [("pure", "10"), ("approx", "10"), ("gdp", "1.2530"), ("zcdp", "0.49958")]
)
def test_each_filter_counts_in_its_own_notion(name: str, spent: str) -> None:
    report = ledger(
        pure("0.1", 100), more=f"filter: {name}\nbudget: {{epsilon: 20, delta: 1e-6}}\n"
    )
    assert report.status == "ok"
    found = record(report)
    assert found.notion == name and found.named
    assert abs(float((found.spent or ())[0][1]) / float(spent) - 1) < 1e-4


def test_blocks_keep_their_worth() -> None:
    datasets = "datasets:\n  rows: {}\n  part: {from: rows, partition: {by: value, blocks: 1000}}\n"
    report = ledger(pure("0.1", 100, reads="part.*"), datasets=datasets)
    assert report.status == "ok"
    assert record(report).spent == record(ledger(pure("0.1", 100))).spent


def test_a_record_that_passes_its_budget_has_no_guarantee() -> None:
    report = ledger(pure("0.1", 101))
    assert report.status == "no-guarantee" and report.bound is None and report.theorem is None
    assert "passes the budget" in report.reasons[0] and "refused" in report.reasons[0]
    assert record(report).left == (("rho", Fraction(0)),)
    assert report.verdict is not None and not report.verdict.ok


def test_a_budget_that_is_met_exactly_is_met() -> None:
    report = ledger(pure("0.1", 10), more="budget: {epsilon: 1}\n")
    assert report.status == "ok"
    assert record(report).left == (("epsilon", Fraction(0)),)
    assert report.verdict is not None and report.verdict.slack == 0


def test_without_a_budget_there_is_no_guarantee() -> None:
    report = ledger(pure("0.1"), more="")
    assert report.status == "no-guarantee" and report.record is None
    assert "the realised sum is no guarantee" in report.reasons[0]
    assert [each.code for each in report.findings] == ["DPC222"]


# --- what is no filter ---------------------------------------------------------------------------


def test_chances_add_up_and_do_not_multiply() -> None:
    """1 - Π(1-δ) of two 0.6 is below 0.9; their sum is not."""
    two = "name: a, reads: rows, notion: approx, epsilon: 1, delta: 0.45, count: 2"
    report = ledger(two, more="filter: approx\nbudget: {epsilon: 2, delta: 0.8}\n")
    assert report.status == "no-guarantee"
    assert dict(record(report).spent or ())["delta"] == Fraction("0.9")


def test_stated_deltas_are_refused_by_a_filter_in_rho() -> None:
    report = ledger("name: a, reads: rows, notion: approx, epsilon: 1, delta: 1e-9")
    assert report.status == "no-guarantee" and "filter: approx" in report.reasons[0]
    report = ledger(
        "name: a, reads: rows, notion: approx, epsilon: 1, delta: 1e-9",
        more=f"filter: approx\n{TARGET}",
    )
    assert report.status == "ok"


def test_curves_and_what_is_amplified_as_a_curve_are_refused() -> None:
    datasets = "datasets:\n  rows: {}\n  some: {from: rows, map: {kind: sample, poisson: 0.01}}\n"
    step = "name: a, reads: some, mechanism: gaussian, sigma: 2, sensitivity: 1, count: 9"
    report = ledger(step, datasets=datasets)
    assert report.status == "no-guarantee" and report.bound is None
    curve = "name: a, reads: rows, notion: rdp, points: [{alpha: 2, epsilon: 0.1}]"
    assert ledger(curve).status == "no-guarantee"


def test_a_pure_filter_counts_a_sample_path_by_path() -> None:
    """Two pure 1 on one Poisson 0.1 sample: 0.494029, not twice 0.158565."""
    datasets = "datasets:\n  rows: {}\n  some: {from: rows, map: {kind: sample, poisson: 0.1}}\n"
    two = pure(1, reads="some, draws: one")
    datasets = datasets.replace("0.1}", "0.1, draws: one}")
    two = pure(1, 2, reads="some")
    report = ledger(two, datasets=datasets, more="budget: {epsilon: 1}\n")
    assert report.status == "ok"
    assert abs(float((record(report).spent or ())[0][1]) - 0.494029) < 1e-6


def test_deltas_that_share_a_sample_are_refused() -> None:
    datasets = (
        "datasets:\n  rows: {}\n"
        "  some: {from: rows, map: {kind: sample, poisson: 0.1, draws: one}}\n"
    )
    entry = "reads: some, notion: approx, epsilon: 1, delta: 1e-9"
    more = "filter: approx\nbudget: {epsilon: 9, delta: 1e-6}\n"
    both = ledger(f"name: a, {entry}", f"name: b, {entry}", datasets=datasets, more=more)
    assert both.status == "no-guarantee" and "share the sample" in both.reasons[0]
    alone = ledger(f"name: a, {entry}", datasets=datasets, more=more)
    assert alone.status == "ok"
    assert ledger(f"name: a, {entry}, count: 2", datasets=datasets, more=more).status != "ok"
    limit = datasets.replace(
        "sample, poisson: 0.1, draws: one", "limit, per: k, rows: 1, keep: random"
    )
    both = ledger(f"name: a, {entry}", f"name: b, {entry}", datasets=limit, more=more)
    assert both.status == "no-guarantee" and "share the random limit" in both.reasons[0]
    assert ledger(f"name: a, {entry}", datasets=limit, more=more).status == "ok"
    fresh = datasets.replace(", draws: one", "")  # a draw of its own for each copy
    twice = ledger(f"name: a, {entry}, count: 2", datasets=fresh, more=more)
    assert twice.status == "ok"
    assert (record(twice).spent or ())[0][1] == 2 * (record(alone).spent or ())[0][1]


def rho_of(epsilon: float) -> float:
    return epsilon * math.tanh(epsilon / 2)


def drawn(epsilon: float, rate: float) -> float:
    return math.log1p(rate * math.expm1(epsilon))


def exchanged(u: float, b: float, rate: float) -> float:
    return drawn(u, rate) - math.log1p(rate * math.expm1(u - b))


SAMPLE = "  s: {from: rows, map: {kind: sample, poisson: 0.1}}\n"
UNBOUNDED = ", relation: unbounded"
BOTH = "{notion: pure, epsilon: 1, relation: unbounded}, {notion: pure, epsilon: 1.2}"
OF_TEN = "  rows: {domain: fixed-size-table, size: 10}\n"
OF_TEN += "  s: {from: rows, map: {kind: sample, size: 2, of: 10}}\n"


@pytest.mark.parametrize(
    ("protect", "datasets", "releases", "expected"),
    [
        ("unbounded", SAMPLE, [pure("0.1", 30, reads="s")], 0.00164184),
        (
            "unbounded",
            SAMPLE,
            [pure(1, 1, "a", "s"), pure(0.5, 1, "b", "s")],
            rho_of(drawn(1.5, 0.1)),
        ),
        ("bounded", SAMPLE, [pure(1, 1, "a", "s") + UNBOUNDED], rho_of(exchanged(1, 2, 0.1))),
        (
            "bounded",
            SAMPLE,
            [f"name: a, reads: s, guarantees: [{BOTH}]"],
            rho_of(exchanged(1, 1.2, 0.1)),
        ),
        ("bounded", OF_TEN, [pure(1, 1, "a", "s")], rho_of(drawn(1, 0.2))),
        (
            "unbounded",
            f"{SAMPLE}  t: {{from: s, map: {{kind: sample, poisson: 0.2}}}}\n",
            [pure(1, 1, "a", "s"), pure(0.5, 1, "b", "t")],
            rho_of(drawn(1 + drawn(0.5, 0.2), 0.1)),
        ),
        (
            "unbounded",
            f"{SAMPLE}  t: {{from: s, map: {{kind: flatten, max_rows: 3}}}}\n",
            [pure(0.5, 1, "a", "t")],
            rho_of(drawn(1.5, 0.1)),
        ),
        # A row that moves is added to one sample, which in ρ costs as much as to be removed.
        (
            "bounded",
            "  p: {from: rows, partition: {by: value, blocks: 2}}\n"
            + SAMPLE.replace("from: rows", "from: p.*"),
            [f"name: a, reads: s, guarantees: [{BOTH.replace('1.2', '0.1')}]"],
            2 * rho_of(drawn(1, 0.1)),
        ),
        # So many on one sample cost no more than if it were public.
        (
            "unbounded",
            SAMPLE.replace("0.1}", "0.1, draws: one}"),
            [pure("0.1", 30, reads="s")],
            30 * rho_of(0.1),
        ),
        (
            "unbounded",
            SAMPLE,
            [pure(1, 1, "a", "s"), "name: r, reads: rows, notion: zcdp, rho: 0.1"],
            0.1 + rho_of(drawn(1, 0.1)),
        ),
    ],
)
def test_a_filter_in_rho_counts_pure_releases_of_a_sample(
    protect: str, datasets: str, releases: list[str], expected: float
) -> None:
    rows = "" if "rows: {domain" in datasets else "  rows: {}\n"
    entries = "".join(f"  - {{{each}}}\n" for each in releases)
    head = HEAD.replace("unbounded", protect)
    text = f"{head}datasets:\n{rows}{datasets}mechanisms:\n{entries}"
    report = analyze(f"{text}budget: {{epsilon: 9, delta: 1e-6}}\n", recheck=True)
    assert report.rechecked and report.rechecked.claims
    ((_, spent),) = record(report).spent or ()
    assert expected * (1 - 1e-12) <= spent <= expected * (1 + 3e-6)
    if "zcdp" not in text:
        text += "filter: gdp\nbudget: {epsilon: 20, delta: 1e-6}\n"
        ((_, mu),) = record(analyze(text, recheck=True)).spent or ()
        assert mu**2 / 2 >= expected


def test_several_releases_on_one_sample_of_more_than_one_row_are_refused() -> None:
    two = [pure(1, 1, "a", "s") + UNBOUNDED, pure(1, 1, "b", "s") + UNBOUNDED]
    for protect in ("bounded", "{relation: unbounded, distance: 2}"):
        for releases, status in ((two, "no-guarantee"), (two[:1], "ok")):
            entries = "".join(f"  - {{{each}}}\n" for each in releases)
            head = HEAD.replace("unbounded", protect)
            text = f"{head}datasets:\n  rows: {{}}\n{SAMPLE}mechanisms:\n{entries}"
            report = analyze(f"{text}budget: {{epsilon: 9, delta: 1e-6}}\n")
            assert report.status == status
            assert status == "ok" or "share the sample `s`" in report.reasons[0]


def test_a_guarantee_above_something_random_is_refused_but_by_a_pure_filter() -> None:
    datasets = (
        "datasets:\n  rows: {unit: u}\n"
        "  few: {from: rows, map: {kind: limit, per: u, rows: 2, keep: random}}\n"
    )
    above = "name: a, reads: few, notion: pure, epsilon: 1, stated_on: rows"
    refused = ledger(above, datasets=datasets)
    assert refused.status == "no-guarantee" and "above something random" in refused.reasons[0]
    counted = ledger(above, datasets=datasets, more=f"filter: pure\n{TARGET}")
    assert counted.status == "ok" and (record(counted).spent or ())[0][1] == 1


def test_one_of_several_pairs_must_be_chosen_in_advance() -> None:
    both = (
        "name: a, reads: rows, guarantees: [{notion: approx, epsilon: 1, delta: 1e-9}, "
        "{notion: approx, epsilon: 0.5, delta: 1e-7}]"
    )
    report = ledger(both, more=f"filter: approx\n{TARGET}")
    assert report.status == "no-guarantee" and "several (ε, δ)" in report.reasons[0]


@pytest.mark.parametrize(
    ("name", "budget"),
    [
        ("zcdp", "{epsilon: 1}"),
        ("gdp", "{epsilon: 1, delta: 0}"),
        ("pure", "{rho: 1}"),
        ("zcdp", "{mu: 1}"),
    ],
)
def test_a_filter_that_does_not_give_the_budget_is_refused(name: str, budget: str) -> None:
    report = ledger(pure("0.1"), more=f"filter: {name}\nbudget: {budget}\n")
    assert report.status == "no-guarantee" and "gives the budget" in report.reasons[0]


def test_other_words_for_them_are_corrected() -> None:
    text = f"{HEAD}filter: rho\n{ROWS}mechanisms: [{{{pure('0.1')}}}]\nbudget: {{rho: 1}}\n"
    for word in ("fully-adaptive", "odometer", "privacy filter", "Fully Adaptive"):
        report = analyze(text.replace("parameters", word))
        assert [each.code for each in report.findings] == ["DPC104", "DPC104"]
        fixes = [each.fix.replacements[0].text for each in report.findings if each.fix is not None]
        assert fixes == ["parameters", "zcdp"]


# --- laws ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", seeds(15, range(30), quick=5))
def test_the_filter_is_never_below_what_fixed_parameters_have(seed: int) -> None:
    choose = random.Random(seed)
    parts = [pure(f"{choose.randint(1, 40)}/100", choose.randint(1, 9), f"m{i}") for i in range(3)]
    parts.append(f"name: g, reads: rows, notion: gdp, mu: {choose.randint(1, 50)}/100")
    report = ledger(*parts, more="budget: {epsilon: 30, delta: 1e-6}\n")
    assert report.status == "ok"
    cost = record(report).cost
    assert cost is not None and cost[2] <= cost[1]
    fixed = analyze(
        f"dpcompose: 1\nprotect: unbounded\n{ROWS}mechanisms:\n"
        + "".join(f"  - {{{each}}}\n" for each in parts),
        deltas=[Fraction("1e-6")],
    )
    assert fixed.at_delta[0].value is not None and fixed.at_delta[0].value <= cost[1]
    shuffled = ledger(*reversed(parts), more="budget: {epsilon: 30, delta: 1e-6}\n")
    assert record(shuffled).spent == record(report).spent
    fewer = ledger(*parts[1:], more="budget: {epsilon: 30, delta: 1e-6}\n")
    assert record(fewer).left[0][1] >= record(report).left[0][1]


def tree(choose: random.Random, left: float, steps: int) -> list[tuple[float, float]]:
    """The laws (p, q) of all paths of a random interaction that a filter in ρ admits.

    Each answer decides which randomized response comes next.
    """
    epsilon = choose.choice([0.2, 0.5, 1.0, 1.5])
    rho = epsilon * math.tanh(epsilon / 2)
    if not steps or rho > left or choose.random() < 0.1:
        return [(1.0, 1.0)]
    truth = 1 / (1 + math.exp(-epsilon))
    found: list[tuple[float, float]] = []
    for p, q in ((truth, 1 - truth), (1 - truth, truth)):
        found += [(p * a, q * b) for a, b in tree(choose, left - rho, steps - 1)]
    return found


@pytest.mark.parametrize("seed", seeds(30, range(60), quick=10))
def test_no_interaction_that_a_filter_admits_loses_more_than_the_budget(seed: int) -> None:
    """Enumerated: trees of randomized responses whose ε depends on the answers so far."""
    from dpcompose.core.at_delta.filters import largest_rho

    choose = random.Random(seed)
    epsilon, delta = choose.choice([(1.0, 0.05), (2.0, 0.01), (0.5, 0.1), (1.5, 1e-3)])
    limit = float(largest_rho(Fraction(epsilon), Fraction(delta)))
    paths = tree(choose, limit, 10)
    assert abs(sum(p for p, _ in paths) - 1) < 1e-9
    assert sum(max(0.0, p - math.exp(epsilon) * q) for p, q in paths) <= delta * (1 + 1e-9)
    assert sum(max(0.0, q - math.exp(epsilon) * p) for p, q in paths) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("seed", seeds(20, range(40), quick=7))
def test_a_sum_of_a_random_spec_is_that_of_its_bound_in_the_notion(seed: int) -> None:
    spec = {**random_spec(seed), "adaptivity": "adaptive"}
    spec.pop("budget", None)
    plain = analyze(json.dumps(spec))
    if plain.status != "ok" or plain.bound is None or plain.bound.notion is not Notion.PURE:
        pytest.skip("no pure bound")
    spec |= {"adaptivity": "parameters", "filter": "pure", "budget": {"epsilon": "1000000"}}
    along = analyze(json.dumps(spec))
    ((_, spent),) = record(along).spent or ()
    assert spent == plain.bound.value


# --- what is told --------------------------------------------------------------------------------


def test_json_keeps_to_its_schema(tmp_path: Path) -> None:
    spec = tmp_path / "a.yaml"
    for count, code in ((100, 0), (101, 1)):
        text = f"{HEAD}{ROWS}mechanisms: [{{{pure('0.1', count)}}}]\n{TARGET}"
        spec.write_text(text, encoding="utf-8")
        ran = run("analyze", str(spec), "--format", "json", "--delta", "1e-9", "--at-epsilon", "5")
        assert ran.exit_code == code
        (result,) = checked("result", ran.stdout)["results"]
        assert (result["guarantee"] is None) == bool(code)
        why = [each["why"] for each in result["alternatives"]]
        assert any("fixed before the first output" in each for each in why)


def test_a_filter_that_is_not_named_is_told_where_another_has_more_room() -> None:
    gaussian = "name: g, reads: rows, notion: gdp, mu: 0.1"
    report = ledger(gaussian)
    # Of a ledger the checker confirms the sum, not that a filter may count it.
    found = [(each.code, each.level) for each in report.findings]
    assert found == [("DPC220", "note"), ("DPC214", "error")]
    for told in (ledger(gaussian, more=f"filter: gdp\n{TARGET}"), ledger(gaussian, pure("0.1"))):
        assert [each.code for each in told.findings] == ["DPC214"]


RELEASES = [
    pure("0.01"),
    "name: g, reads: rows, notion: gdp, mu: 0.01",
    "name: n, reads: rows, mechanism: gaussian, sigma: 90, sensitivity: 1",
    "name: r, reads: rows, notion: zcdp, rho: 0.0001",
    "name: d, reads: rows, notion: approx, epsilon: 0.01, delta: 1e-9",
    "name: l, reads: rows, mechanism: laplace, scale: 90, sensitivity: 1",
]
BUDGETS = {
    "epsilon: 2": Notion.PURE,
    "epsilon: 2, delta: 0": Notion.PURE,
    "epsilon: 2, delta: 1e-6": Notion.ZCDP,
    "rho: 1": Notion.ZCDP,
    "mu: 1": Notion.GDP,
    "advantage: 0.2": Notion.ZCDP,
    "success: 0.05, baseline: 0.01": Notion.ZCDP,
}


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS)
def test_no_release_changes_the_filter(budget: str) -> None:
    """Added, replaced, or all of one kind: the next release is chosen after outputs."""
    some = [[one] for one in RELEASES]
    some += [[*RELEASES[:i], *RELEASES[i + 1 :]] for i in range(len(RELEASES))]
    limits = set()
    for releases in some:
        named = [each.replace("name: ", f"name: {i}") for i, each in enumerate(releases)]
        report = ledger(*named, more=f"budget: {{{budget}}}\n")
        if report.record is None:
            sign = BUDGETS[budget].facts.sign
            assert any(f"counts {sign}" in each or "gives no" in each for each in report.reasons)
        else:
            limits.add((report.record.notion, report.record.limit))
    ((notion, _),) = limits
    assert notion is BUDGETS[budget]


@pytest.mark.parametrize("budget", ["advantage: 0.2", "success: 0.05, baseline: 0.01"])
def test_a_budget_in_risk_is_that_of_the_largest_rho_that_meets_it(budget: str) -> None:
    more = f"budget: {{{budget}}}\nreport: {{risk: {{baselines: [0.01], false_alarms: [0.05]}}}}\n"
    report = ledger("name: r, reads: rows, notion: zcdp, rho: 0.05", more=more)
    assert report.status == "ok" and report.risk is not None and report.bound is not None
    assert report.bound.notion is Notion.ZCDP and not report.bound.exact
    reached = report.risk.advantage if "adv" in budget else report.risk.success[0][1]
    limit = 0.2 if "adv" in budget else 0.05
    assert limit * (1 - 1e-6) < reached <= limit
    assert report.verdict is not None and report.verdict.ok
    passed = ledger("name: r, reads: rows, notion: zcdp, rho: 0.5", more=more)
    assert passed.bound is None and "passes the budget" in passed.reasons[0]
    other = ledger("name: r, reads: rows, notion: gdp, mu: 0.4", more=f"filter: gdp\n{more}")
    assert other.status == "ok" and record(other).notion is Notion.GDP


def test_units_of_several_names_are_a_warning() -> None:
    datasets = "datasets:\n  visits: {unit: patient}\n  stays: {unit: hospital}\n"
    mechanisms = pure(1, reads="visits"), pure(1, name="b", reads="stays")
    entries = "".join(f"  - {{{each}}}\n" for each in mechanisms)
    text = f"dpcompose: 1\nprotect: user\n{datasets}mechanisms:\n{entries}"
    assert [each.code for each in analyze(text).findings if each.level == "warning"] == ["DPC221"]
    for other in (text.replace("hospital", "patient"), f"{text}roots: disjoint\n"):
        assert "DPC221" not in {each.code for each in analyze(other).findings}


def geometric_pair(epsilon: float, steps: int) -> tuple[float, float]:
    """The largest D_α/α over many orders, and the μ² at the breaks, of the geometric pair."""
    a, normal = math.exp(-epsilon), NormalDist()
    p = [1 / (1 + a), *(a**j * (1 - a) / (1 + a) for j in range(1, steps)), a**steps / (1 + a)]
    q = p[::-1]
    orders = [1 + 10 ** (x / 10) for x in range(-40, 10)]
    divergences = (
        math.log(math.fsum(x**o * y ** (1 - o) for x, y in zip(p, q, strict=True))) / (o - 1) / o
        for o in orders
    )
    breaks = (-normal.inv_cdf(sum(q[:n])) - normal.inv_cdf(sum(p[n:])) for n in range(1, steps + 1))
    return max(divergences), max(breaks) ** 2


@pytest.mark.parametrize(("epsilon", "steps"), [("1", 2), ("0.1", 5), ("2", 3), ("0.5", 20)])
def test_a_pure_release_at_a_distance_is_the_geometric_pair(epsilon: str, steps: int) -> None:
    head = HEAD.replace("unbounded", f"{{relation: unbounded, distance: {steps}}}")
    text = f"{head}{ROWS}mechanisms: [{{{pure(epsilon)}}}]\n"
    rho, square = geometric_pair(float(epsilon), steps)
    for name, expected in (("zcdp", rho), ("gdp", square)):
        report = analyze(
            f"{text}filter: {name}\nbudget: {{epsilon: 90, delta: 1e-6}}\n", recheck=True
        )
        ((_, spent),) = record(report).spent or ()
        amount = spent if name == "zcdp" else spent**2
        assert expected * (1 - 1e-9) <= amount <= expected * (1 + 1e-3)
    assert abs(geometric_pair(1, 2)[1] - 1.90365**2) < 1e-4
